//! Kills processes that use a store.

use record::RunKind;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};
use store::{Filter, RunStore};
use units::random::Random;

use crate::cases::cases;
use crate::common::{add, sample};

/// Adds, lists and removes runs until it is killed, and reports each step. The test below starts it.
#[test]
fn works_until_it_is_killed() {
    let Some(root) = std::env::var_os("STORE_TEST_KILLED") else { return };
    let store = RunStore::open(root).unwrap();
    let mut out = std::io::stdout();
    for at in 0.. {
        let id = add(&store, RunKind::Run, "killed", &sample(at)).unwrap();
        writeln!(out, "\nadded {id}").unwrap();
        store.list(&Filter::default()).unwrap();
        if at % 2 == 1 {
            writeln!(out, "\nremoving {id}").unwrap();
            store.remove(&[&id]).unwrap();
            writeln!(out, "\nremoved {id}").unwrap();
        }
    }
}

fn leftovers(root: &Path) -> Vec<String> {
    let names = root.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".writing-") || name.starts_with(".removing-")).collect()
}

/// Kills a worker some time after it has written some lines, and returns its output.
fn killed_after(root: &Path, line_count: usize, while_us: u64) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crashes::works_until_it_is_killed", "--nocapture"])
        .env("STORE_TEST_KILLED", root)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut lines: Vec<String> = output.by_ref().take(line_count).collect();
    std::thread::sleep(Duration::from_micros(while_us));
    child.kill().unwrap();
    lines.extend(output);
    child.wait().unwrap();
    lines
}

#[test]
fn nothing_is_lost_when_processes_are_killed_at_random() {
    let seed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos();
    println!("seed {seed}");
    let mut random = Random::new(seed.into(), 0);
    let home = tempfile::tempdir().unwrap();
    let mut expected: BTreeSet<String> = BTreeSet::new();
    let (mut added, mut swept) = (0, 0);
    for round in 0..cases(40) {
        let mut uncertain = None;
        // It writes some lines before the first of the store. Some rounds end before it has opened that.
        let (line_count, while_us) = (random.below(40) as usize, random.below(5_000));
        for line in killed_after(home.path(), line_count, while_us) {
            match line.split_once(' ') {
                Some(("added", id)) => {
                    added += 1;
                    expected.insert(id.to_owned());
                }
                Some(("removing", id)) => uncertain = Some(id.to_owned()),
                Some(("removed", id)) => {
                    expected.remove(id);
                    uncertain = None;
                }
                _ => {}
            }
        }
        swept += leftovers(home.path()).len();
        let store = RunStore::open(home.path()).unwrap();
        assert_eq!(leftovers(home.path()), Vec::<String>::new(), "round {round}, seed {seed}");
        let listing = store.list(&Filter::default()).unwrap();
        assert!(listing.skipped.is_empty(), "round {round}, seed {seed}: {:?}", listing.skipped);
        let found: BTreeSet<String> = listing.entries.into_iter().map(|entry| entry.id).collect();
        let lost: Vec<_> = expected.difference(&found).filter(|id| Some(*id) != uncertain.as_ref()).collect();
        assert!(lost.is_empty(), "round {round}, seed {seed}: {lost:?}");
        // It may have been killed after an addition and before its report.
        assert!(found.difference(&expected).count() <= 1, "round {round}, seed {seed}");
        expected = found;
    }
    for id in &expected {
        RunStore::open(home.path()).unwrap().load(id).unwrap();
    }
    println!("{added} runs added, {swept} leftovers removed");
    assert!(added > 0 && swept > 0, "seed {seed}: {added} added, {swept} removed");
}

#[test]
fn the_folder_of_a_live_writer_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let mut writer = store.begin(RunKind::Run, "alive").unwrap();
    writer.event("{}").unwrap();
    RunStore::open(home.path()).unwrap();
    assert_eq!(leftovers(home.path()).len(), 1);
    assert!(store.list(&Filter::default()).unwrap().skipped.is_empty(), "it is not taken for a run");
    let id = writer.finish(&sample(0)).unwrap();
    assert_eq!(store.load(&id).unwrap().events().unwrap().count(), 1);
    drop(store.begin(RunKind::Run, "dropped").unwrap());
    assert_eq!(leftovers(home.path()), Vec::<String>::new());
}

#[test]
fn leftovers_without_a_live_writer_are_removed() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let id = add(&store, RunKind::Run, "whole", &sample(0)).unwrap();
    for name in [".writing-1-0", ".writing-1-1", &format!(".removing-{id}")] {
        std::fs::create_dir(home.path().join(name)).unwrap();
        std::fs::copy(home.path().join(&id).join("run.json"), home.path().join(name).join("run.json")).unwrap();
    }
    // One process was killed while it held its lock, the other after it removed the lock.
    std::fs::write(home.path().join(".writing-1-0/.lock"), "").unwrap();
    RunStore::open(home.path()).unwrap();
    assert_eq!(leftovers(home.path()), Vec::<String>::new());
    assert_eq!(store.list(&Filter::default()).unwrap().entries.len(), 1);
}

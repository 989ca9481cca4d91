//! Saved runs, and `fathom runs`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::common::devices::{LoopDevice, Mount, tool};
use crate::common::host::{timed, within};
use crate::common::json::Json;
use crate::common::{
    Outcome, Running, SAVED_TOO_LATE, Scratch, fathom, flat, require, run, run_saved, run_with_input, wait_for,
    with_more_time, words,
};

/// A scratch directory with its own store.
struct Home(Scratch);

impl Home {
    fn new() -> Self {
        Self(Scratch::new())
    }

    /// Returns a command for Fathom that saves its runs below `home`.
    fn fathom(&self, line: &str) -> Command {
        let mut command = fathom(words(line));
        command.current_dir(&self.0).env_remove("FATHOM_NO_RECORD").env("FATHOM_HOME", self.0.path("home"));
        command
    }

    #[track_caller]
    fn run(&self, line: &str) -> Outcome {
        expect_measured(run_saved(&mut self.fathom(line)))
    }

    fn store(&self) -> PathBuf {
        self.0.path("home/runs")
    }

    /// Returns the document of `fathom runs list`.
    #[track_caller]
    fn list(&self, filters: &str) -> Json {
        let line = format!("runs list --format json {filters}");
        Json::read(&run(&mut self.fathom(&line)).expect_clean().stdout)
    }

    #[track_caller]
    fn ids(&self, filters: &str) -> Vec<String> {
        self.list(filters).items("runs").iter().map(|run| run.text("id").to_owned()).collect()
    }

    fn read(&self, id: &str, file: &str) -> String {
        let path = self.store().join(id).join(file);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// Checks that a job was measured; the result of so short a job may be untrustworthy.
#[track_caller]
fn expect_measured(outcome: Outcome) -> Outcome {
    assert!(matches!(outcome.code(), Some(0 | 4)), "{outcome:#?}");
    outcome
}

const NULL: &str = "run --name=reads --ioengine=null --rw=randread --size=1m --bs=4k";
const ENDLESS: &str =
    "run --name=long --ioengine=null --rw=randread --size=1m --rate_iops=1000 --time_based --runtime=3000";
const SIM: &str = "sim --on custom,iops=5000,latency=1ms --name=reads --rw=randread --iodepth=4 --runtime=2";

#[test]
fn each_command_saves_one_run() {
    let home = Home::new();
    let lines = [
        (NULL.to_owned(), "run", "reads"),
        (SIM.to_owned(), "sim", "reads"),
        (format!("{SIM} --vary iodepth=1,8"), "sweep", "reads"),
        ("sweep --on custom,iops=5000,latency=1ms --depth-max 64".to_owned(), "sweep", "custom,iops=5000,latency=1ms"),
        ("suite run gcp-pd --on gcp/pd-ssd,size=100GiB --scale 0.001 --state state".to_owned(), "suite", "gcp-pd"),
    ];
    for (done, (line, kind, name)) in (1..).zip(&lines) {
        let printed = home.run(line).stderr;
        let listed = home.list("");
        let runs = listed.items("runs");
        assert_eq!((runs.len(), listed.items("skipped").len()), (done, 0), "{line}: {printed}");
        let kept = runs.iter().find(|run| printed.contains(run.text("id")));
        let kept = kept.unwrap_or_else(|| panic!("{line}: {printed}"));
        assert_eq!((kept.text("kind"), kept.text("name"), kept.text("outcome")), (*kind, *name, "completed"));
        assert!(kept.whole("iops") > 0 && kept.whole("p99_ns") > 0 || *kind == "run", "{kept:?}");
        for file in ["run.json", "events.jsonl.zst", "resolved.json", "environment.json", "manifest.json"] {
            assert!(home.store().join(kept.text("id")).join(file).is_file(), "{line}: {file}");
        }
        let environment = Json::read(&home.read(kept.text("id"), "environment.json"));
        assert_eq!(environment.items("command_line")[1], Json::Text(words(line)[0].clone()));
        assert!(environment.whole("host/cpus") > 0 && !environment.text("host/kernel").is_empty(), "{line}");
        assert_eq!(environment.text("directory"), home.0.as_ref().to_str().unwrap());
        let record = Json::read(&home.read(kept.text("id"), "run.json"));
        assert_eq!(record.whole("schema"), 1);
        assert!(!record.items("jobs").is_empty() && record.items("jobs").len() == record.items("asked").len());
    }
}

#[test]
fn parts_are_results_with_names_next_to_their_document() {
    let home = Home::new();
    home.run(&format!("{SIM} --vary iodepth=1,8"));
    home.run("sweep --on custom,iops=5000,latency=1ms --depth-max 64");
    let [grid, sweep] = &home.ids("--kind sweep")[..] else { panic!("two") };
    let record = Json::read(&home.read(grid, "run.json"));
    let names: Vec<&str> = record.items("jobs").iter().map(|job| job.text("name")).collect();
    assert_eq!(names, ["iodepth=1", "iodepth=8"]);
    assert!(home.read(grid, "grid.json").contains("iodepth"));
    let record = Json::read(&home.read(sweep, "run.json"));
    assert_eq!(record.text("jobs/0/name"), "depth=1");
    let document = Json::read(&home.read(sweep, "sweep.json"));
    assert_eq!(document.items("sweeps/0/probes").len(), record.items("jobs").len());
    let shown = run(&mut home.fathom("runs show last")).expect_clean().stdout;
    assert!(shown.starts_with(&home.read(sweep, "report.txt")), "{shown}");
}

#[test]
fn saving_a_run_does_not_change_its_output() {
    let home = Home::new();
    for format in ["text", "json", "fio", "fio-json"] {
        let kept = home.run(&format!("{SIM} --format {format}"));
        let unkept = home.run(&format!("{SIM} --format {format} --no-record"));
        let without_words = |text: String| text.replace(",\n    \"--no-record\"", "");
        assert_eq!(without_words(kept.stdout), without_words(unkept.stdout));
        assert!(kept.stderr.starts_with("saved as ") && kept.stderr.lines().count() == 1, "{}", kept.stderr);
        assert_eq!(unkept.stderr, "");
    }
    assert_eq!(home.ids("").len(), 4);
}

#[test]
fn nothing_is_saved_on_request_or_if_nothing_ran() {
    let home = Home::new();
    for line in ["--no-record", "--dry-run", "--show-jobs"] {
        for command in [NULL, SIM, "sweep --on custom,iops=5000,latency=1ms"] {
            home.run(&format!("{command} {line}"));
        }
    }
    run(&mut home.fathom(NULL.replace("run ", "fio ").as_str())).expect_code(0);
    run(&mut home.fathom("run --name=a --rw=raed")).expect_code(2);
    assert_eq!(run_measured(home.fathom(NULL).env("FATHOM_NO_RECORD", "1")).stderr, "");
    let listed = run(&mut home.fathom("runs")).expect_clean().stdout;
    assert!(listed.contains("no runs in "), "{listed}");
    assert!(!home.0.path("home").exists(), "not even its directory exists");
}

#[test]
fn jobs_are_saved_as_written() {
    let home = Home::new();
    let text = "; by hand\n[reads]\nioengine=null\nrw=randread ; comment\nsize=1m\n";
    home.0.write("mine.fio", text);
    home.run("run mine.fio");
    let from_file = home.ids("").pop().expect("one");
    assert!(from_file.contains("-run-mine-"), "{from_file}");
    assert_eq!(home.read(&from_file, "job.fio"), text);
    expect_measured(run_with_input(&mut home.fathom("run - --direct=1"), text));
    let piped = home.ids("").pop().expect("two");
    // Options next to the file apply to its jobs; they used to precede the jobs, which overrode them.
    assert_eq!(home.read(&piped, "job.fio"), format!("{text}direct=1\n"));
    home.run(NULL);
    let from_words = home.ids("").pop().expect("three");
    assert_eq!(home.read(&from_words, "job.fio"), "[reads]\nioengine=null\nrw=randread\nsize=1m\nbs=4k\n");
}

#[test]
fn events_are_saved_as_written() {
    let home = Home::new();
    home.run(&format!("{NULL} --rate_iops=1000 --time_based --runtime=4 --events told.jsonl"));
    let kept = store::RunStore::open(home.store()).and_then(|store| store.load("last")).expect("it exists");
    let kept: String = kept.events().expect("they are").map(|line| line.expect("it is whole") + "\n").collect();
    let events = home.0.read("told.jsonl");
    assert!(events.lines().count() >= 3, "{events}");
    assert_eq!(kept, events);
}

/// Checks that the run was measured and printed, and that one line says why it was not saved.
#[track_caller]
fn expect_warning(outcome: &Outcome, reason: &str) {
    let printed = &outcome.stderr;
    assert!(outcome.stdout.contains("reads"), "{outcome:#?}");
    let one = printed.matches("warning[").count() == 1
        && printed.lines().next().is_some_and(|line| line.contains("]: this run is not saved: "));
    assert!(one && printed.contains(reason), "{reason}: {printed}");
}

#[test]
fn a_run_that_cannot_be_saved_is_one_warning() {
    let home = Home::new();
    let mut homeless = home.fathom(NULL);
    homeless.env_remove("FATHOM_HOME").env_remove("HOME").env_remove("XDG_DATA_HOME");
    expect_warning(&run_measured(&mut homeless), "FATHOM_HOME");
    let file = home.0.write("file", "");
    expect_warning(&run_measured(home.fathom(NULL).env("FATHOM_HOME", &file)), "create the directory");
    expect_warning(&run_measured(home.fathom(NULL).env("FATHOM_HOME", "/proc/nowhere")), "create the directory");
    home.run(NULL);
    let version = home.store().join("store.json");
    let before = std::fs::read(&version).expect("it was claimed");
    std::fs::write(&version, "{\"format\":9}").expect("it can be written");
    expect_warning(&run_measured(&mut home.fathom(NULL)), "use a newer fathom");
    std::fs::write(&version, "garbage").expect("it can be written");
    expect_warning(&run_measured(&mut home.fathom(NULL)), "damaged");
    std::fs::write(&version, before).expect("it can be written");
    home.run(NULL);
    assert_eq!(home.ids("").len(), 2);
}

#[track_caller]
fn run_measured(command: &mut Command) -> Outcome {
    expect_measured(run(command))
}

#[test]
fn a_locked_store_does_not_delay_a_run() {
    let home = Home::new();
    home.run(NULL);
    let held = std::fs::File::open(home.store().join("lock")).expect("there is one");
    held.lock().expect("no other process holds it");
    timed("kept_runs::a_locked_store_does_not_delay_a_run", || {
        let outcome = home.run(NULL);
        expect_warning(&outcome, "another process has held the store's lock");
        within(outcome.took, Duration::from_secs(5))
    });
    drop(held);
    home.run(NULL);
    assert_eq!(home.ids("").len(), 2);
}

#[test]
fn full_and_read_only_disks_lose_only_the_record() {
    require!(Root);
    let home = Home::new();
    std::fs::create_dir(home.0.path("home")).expect("the scratch directory can be written to");
    let at = home.0.path("home");
    let at = at.to_str().unwrap();
    tool("mount", &["-t", "tmpfs", "-o", "size=256k", "tmpfs", at]);
    let mount = Mount { at: at.into() };
    home.run(NULL);
    let filler = vec![0; 1 << 20];
    let _ = std::fs::write(home.0.path("home/filler"), &filler);
    expect_warning(&home.run(NULL), "No space left");
    std::fs::remove_file(home.0.path("home/filler")).expect("it was created");
    tool("mount", &["-o", "remount,ro", at]);
    expect_warning(&home.run(NULL), "Read-only");
    let shown = run(&mut home.fathom("runs show last")).expect_clean().stdout;
    assert!(shown.contains("reads"), "{shown}");
    assert_eq!(home.ids("").len(), 1);
    drop(mount);
}

#[test]
fn a_directory_without_permission_loses_only_the_record() {
    require!(Root);
    let home = Home::new();
    std::fs::create_dir(home.0.path("home")).expect("the scratch directory can be written to");
    let closed = std::os::unix::fs::PermissionsExt::from_mode(0o500);
    std::fs::set_permissions(home.0.path("home"), closed).expect("it is ours");
    // Root can write anywhere unless it drops the capability.
    let mut command = Command::new("setpriv");
    let with_fathom = std::iter::once(env!("CARGO_BIN_EXE_fathom").to_owned()).chain(words(NULL));
    command.args(["--bounding-set=-dac_override,-dac_read_search", "--"]).args(with_fathom).current_dir(&home.0);
    command.env("FATHOM_HOME", home.0.path("home")).env("NO_COLOR", "1");
    expect_warning(&run_measured(&mut command), "Permission denied");
}

#[test]
fn an_interrupted_run_is_saved_as_interrupted() {
    for name in ["INT", "TERM"] {
        timed(&format!("kept_runs::an_interrupted_run_is_saved_as_interrupted, SIG{name}"), || {
            let home = Home::new();
            let mut running = Running::start(&mut home.fathom(&format!("{ENDLESS} --events told.jsonl")));
            running.wait_for_operations(home.0.path("told.jsonl"));
            running.signal(name);
            let outcome = running.end().expect_code(if name == "INT" { 130 } else { 143 });
            if outcome.stderr.contains(SAVED_TOO_LATE) {
                return Err(outcome.stderr);
            }
            assert!(outcome.stderr.contains("saved as "), "{}", outcome.stderr);
            assert_eq!(home.list("").text("runs/0/outcome"), "interrupted");
            let listed = run(&mut home.fathom("runs")).expect_clean().stdout;
            assert!(listed.contains("interrupted"), "{listed}");
            Ok(())
        });
    }
}

#[test]
fn an_interrupted_suite_is_completed_from_its_saved_state() {
    let (home, line) = with_more_time(|factor| {
        let home = Home::new();
        let scale = 0.3 * f64::from(factor.min(16));
        let line = format!("suite run gcp-pd --on gcp/pd-ssd,size=100GiB --scale {scale} --state state");
        let running = Running::start(&mut home.fathom(&line));
        let has_step = || std::fs::read_to_string(home.0.path("state")).is_ok_and(|text| text.contains("\"round\""));
        wait_for("the first step", has_step);
        running.signal("INT");
        let outcome = running.end();
        let is_interrupted = outcome.code() == Some(130) && !outcome.stderr.contains(SAVED_TOO_LATE);
        if is_interrupted { Ok((home, line)) } else { Err(format!("the suite was not interrupted: {outcome:#?}")) }
    });
    home.run(&line);
    let [begun, completed] = &home.ids("--kind suite")[..] else { panic!("{:?}", home.ids("")) };
    let jobs = |id: &str| Json::read(&home.read(id, "run.json")).items("jobs").len();
    let steps = Json::read(&home.read(completed, "suite.json")).items("steps").len();
    assert!(jobs(begun) > 0 && jobs(begun) < steps, "{} of {steps}", jobs(begun));
    assert_eq!(jobs(completed), steps, "including those before the interruption");
    assert_eq!(home.list("").text("runs/0/outcome"), "interrupted");
    assert_eq!(home.list("").text("runs/1/outcome"), "completed");
}

#[test]
fn other_entries_in_the_store_are_named_and_left_alone() {
    let home = Home::new();
    for _ in 0..3 {
        home.run(NULL);
    }
    let ids = home.ids("");
    std::fs::create_dir(home.store().join("photographs")).expect("it can be created");
    std::fs::write(home.store().join("notes.txt"), "mine").expect("it can be written");
    let manifest = home.store().join(&ids[0]).join("manifest.json");
    let text = std::fs::read(&manifest).expect("it exists");
    std::fs::write(&manifest, &text[..text.len() / 2]).expect("it can be written");
    std::fs::write(home.store().join(&ids[1]).join("manifest.json"), "{\"format\":7}").expect("it can be written");
    assert_eq!(home.ids(""), [&*ids[2]]);
    let listed = run(&mut home.fathom("runs")).expect_clean().stdout;
    let listed = flat(&listed);
    for named in ["4 entries are skipped", "photographs", "notes.txt", &*ids[0], &*ids[1], "use a newer fathom"] {
        assert!(listed.contains(named), "{named}: {listed}");
    }
    let refused = run(&mut home.fathom(&format!("runs show {}", ids[0])));
    assert!(refused.code() != Some(0) && refused.stderr.contains("manifest.json"), "{refused:#?}");
    run(&mut home.fathom("runs rm photographs")).expect_code(2);
    run(&mut home.fathom(&format!("runs rm {}", ids[0]))).expect_code(0);
    home.run(NULL);
    assert_eq!(home.ids("").len(), 2);
    assert!(home.store().join("photographs").is_dir());
}

#[test]
fn the_store_may_be_a_link_or_in_a_data_directory() {
    let home = Home::new();
    std::fs::create_dir_all(home.0.path("home")).expect("it can be created");
    std::fs::create_dir_all(home.0.path("disk")).expect("it can be created");
    std::os::unix::fs::symlink(home.0.path("disk"), home.store()).expect("the name is free");
    home.run(NULL);
    assert_eq!(home.ids("").len(), 1);
    assert!(home.0.path("disk").join(&home.ids("")[0]).is_dir());
    let mut usual = home.fathom(NULL);
    usual.env_remove("FATHOM_HOME").env_remove("XDG_DATA_HOME").env("HOME", home.0.path("user"));
    expect_measured(run_saved(&mut usual));
    assert!(home.0.path("user/.local/share/fathom/runs/store.json").is_file());
    expect_measured(run_saved(usual.env("XDG_DATA_HOME", home.0.path("data"))));
    assert!(home.0.path("data/fathom/runs/store.json").is_file());
}

#[test]
fn runs_are_listed_by_filters() {
    let home = Home::new();
    home.run(NULL);
    home.run(SIM);
    home.run(&NULL.replace("reads", "other"));
    let [reads, simulated, other] = &home.ids("")[..] else { panic!("three") };
    for (filters, expected) in [
        ("--kind run", vec![reads, other]),
        ("--name other", vec![other]),
        ("--name re*", vec![reads, simulated]),
        ("--target custom*", vec![simulated]),
        ("--tool fio*", vec![]),
        ("--since 1h", vec![reads, simulated, other]),
        ("--until 2020-01-01", vec![]),
        ("--kind run OTHER", vec![other]),
    ] {
        assert_eq!(home.ids(filters).iter().collect::<Vec<_>>(), expected, "{filters}");
    }
    run(&mut home.fathom("runs list --since soon")).expect_code(2);
    let table = run(&mut home.fathom("runs")).expect_clean().stdout;
    assert_eq!(table.lines().count(), 5, "{table}");
    let last = table.lines().nth(3).expect("the latest is the last");
    assert!(last.contains("other") && last.contains(&other[other.len() - 4..]), "{table}");
    for width in ["40", "80", "200"] {
        let narrow = run(home.fathom("runs").env("COLUMNS", width)).expect_clean().stdout;
        let max = width.parse::<usize>().expect("a number").max(80);
        assert!(narrow.lines().take(4).all(|line| line.chars().count() <= max), "{narrow}");
    }
}

#[test]
fn a_run_is_shown_as_printed_with_job_and_environment() {
    let home = Home::new();
    let printed = home.run(&format!("{NULL} --seed 5 --details")).stdout;
    let id = home.ids("").remove(0);
    for which in [id.as_str(), "last", &id[id.len() - 4..], &id[..20], home.store().join(&id).to_str().unwrap()] {
        let shown = run(&mut home.fathom(&format!("runs show {which}"))).expect_clean().stdout;
        assert!(shown.starts_with(&printed), "{which}: {shown}");
        for part in [id.as_str(), "fathom run --name=reads", "Job as written", "rw=randread", "Linux "] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
    let document = Json::read(&run(&mut home.fathom("runs show last --format json")).expect_clean().stdout);
    assert_eq!((document.text("entry/id"), document.whole("run/seed")), (id.as_str(), 5));
    let refused = run(&mut home.fathom("runs show nothing")).expect_code(2);
    assert!(
        refused.stderr.contains("fathom runs list") && refused.stderr.matches("error[").count() == 1,
        "{}",
        refused.stderr
    );
}

#[test]
fn runs_are_imported_kept_pruned_and_removed() {
    let home = Home::new();
    let fio = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/data/fio.json");
    let imported = run(&mut home.fathom(&format!("runs import {}", fio.display()))).expect_clean().stdout;
    assert!(imported.starts_with("imported "), "{imported}");
    assert_eq!(home.ids("--tool fio*").len(), 1);
    run(&mut home.fathom("runs import nothing.json")).expect_code(2);
    for _ in 0..3 {
        home.run(NULL);
    }
    let ids = home.ids("--kind run --tool fathom");
    let kept = run(&mut home.fathom(&format!("runs keep {}", ids[0]))).expect_clean().stdout;
    assert!(kept.contains(&ids[0]), "{kept}");
    let dry = run(&mut home.fathom("runs prune --larger-than 1 --dry-run")).expect_clean().stdout;
    assert!(dry.contains("3 runs would be removed"), "{dry}");
    assert_eq!(home.ids("").len(), 4);
    run(&mut home.fathom("runs prune --larger-than 1")).expect_clean();
    assert_eq!(home.ids(""), [&*ids[0]]);
    run(&mut home.fathom(&format!("runs keep --release {}", ids[0]))).expect_clean();
    let removed = run(&mut home.fathom("runs rm last")).expect_clean().stdout;
    assert_eq!(removed, format!("removed {}\n", ids[0]));
    run(&mut home.fathom("runs rm last")).expect_code(2);
    run(&mut home.fathom("runs prune --older-than soon")).expect_code(2);
}

#[test]
fn old_runs_are_pruned_automatically_except_the_latest() {
    let home = Home::new();
    for _ in 0..3 {
        expect_measured(run_saved(home.fathom(NULL).env("FATHOM_KEEP_SIZE", "1")));
    }
    assert_eq!(home.ids("").len(), 1);
    let outcome = expect_measured(run_saved(home.fathom(NULL).env("FATHOM_KEEP_FOR", "ages")));
    assert!(
        outcome.stderr.contains("FATHOM_KEEP_FOR=ages") && outcome.stderr.contains("saved as"),
        "{}",
        outcome.stderr
    );
    assert_eq!(home.ids("").len(), 2);
}

/// Revision 5b7d257b looked at the storage under each file anew, and after 2 s it gave up saving.
#[test]
fn a_run_with_thousands_of_files_was_not_saved() {
    timed("kept_runs::a_run_with_thousands_of_files_was_not_saved", || {
        let home = Home::new();
        let line = "run --name=f --nrfiles=8000 --openfiles=10 --filesize=512 --bs=512 --rw=write --ioengine=psync \
                    --create_fsync=0";
        let outcome = run_measured(&mut home.fathom(line));
        if outcome.stderr.contains(SAVED_TOO_LATE) {
            return Err(outcome.stderr);
        }
        assert!(outcome.stderr.contains("saved as"), "{}", outcome.stderr);
        let environment = Json::read(&home.read(&home.ids("")[0], "environment.json"));
        let listed = ["targets", "grounds"].map(|name| environment.items(name).len());
        assert_eq!(listed, [8000, 1], "files, and what is under them");
        Ok(())
    });
}

#[test]
fn the_environment_describes_devices() {
    require!(Root);
    let home = Home::new();
    home.0.sparse("backing", 64 << 20);
    let device = LoopDevice::over(&home.0.path("backing"));
    tool("mkfs.ext4", &["-q", &device.path]);
    let mount = Mount::new(&device.path, home.0.path("mnt"));
    home.run("run --name=reads --filename=mnt/a:mnt/data:other --size=3m --rw=randread --ioengine=psync");
    let environment = Json::read(&home.read(&home.ids("")[0], "environment.json"));
    assert_eq!(environment.text("grounds/0/filesystem/kind"), "ext4");
    assert_eq!(environment.text("grounds/0/devices/0/kind"), "loop");
    assert!(environment.text("grounds/0/devices/0/backing_file").ends_with("backing"));
    assert_eq!(environment.whole("grounds/0/devices/0/bytes"), 64 << 20);
    assert!(!environment.text("grounds/0/devices/0/scheduler").is_empty());
    let grounds = environment.items("grounds").iter().map(|ground| ground.text("path"));
    assert_eq!(grounds.collect::<Vec<_>>(), ["mnt/a", "other"], "the first file of each mount");
    drop(mount);
}

#[test]
fn repeats_are_interleaved_and_saved_separately() {
    let home = Home::new();
    for name in ["a", "b"] {
        home.0.write(&format!("{name}.fio"), "[reads]\nioengine=null\nrw=randread\nsize=1m\n");
    }
    let outcome = home.run("run a.fio b.fio --repeat 2 --seed 7");
    for part in ["2 repeats", "median", "read IOPS", "Verdict:", "-series-a-", "-series-b-"] {
        assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
    }
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    let listed = home.list("");
    let runs: Vec<_> = listed
        .items("runs")
        .iter()
        .map(|run| (run.text("name"), run.whole("repeat/number"), run.whole("repeat/of")))
        .collect();
    let mut sorted = runs.clone();
    sorted.sort_by_key(|(name, number, _)| (*number, *name));
    assert_eq!(sorted, [("a", 1, 2), ("b", 1, 2), ("a", 2, 2), ("b", 2, 2)]);
    let started: Vec<u64> = sorted
        .iter()
        .map(|expected| {
            let at = runs.iter().position(|one| one == expected).expect("the same");
            listed.items("runs")[at].whole("started_unix_ms")
        })
        .collect();
    assert!(started.is_sorted(), "A, B, A, B: {started:?}");
    let series = listed.items("runs").iter().find(|run| run.text("name") == "a").expect("one").text("repeat/series");
    let shown = run(&mut home.fathom(&format!("runs show {series} --format json"))).expect_clean().stdout;
    assert_eq!(Json::read(&shown).items("runs").len(), 2);
    let text = run(&mut home.fathom(&format!("runs show {series}"))).expect_clean().stdout;
    assert!(text.contains("1 of 2") && text.contains("2 of 2") && text.contains("--seed 7"), "{text}");
    run(&mut home.fathom(&format!("runs rm {series}"))).expect_code(0);
    assert_eq!(home.ids("").len(), 2, "a series is removed by its name");
}

#[test]
fn repeats_are_one_document_and_differ_in_virtual_time() {
    let home = Home::new();
    let outcome = home.run(&format!("{SIM} --repeat 3 --format json -o r.csv -o r.md -o r.json"));
    let document = Json::read(&outcome.stdout);
    assert_eq!((document.items("series").len(), document.items("series/0/runs").len()), (1, 3));
    let seeds: Vec<u64> = document.items("series/0/runs").iter().map(|run| run.whole("seed")).collect();
    assert_eq!(seeds, [seeds[0], seeds[0] + 1, seeds[0] + 2]);
    let figure = document.at("series/0/jobs/0/figures/0");
    assert_eq!(figure.text("figure"), "read.iops");
    assert!(figure.number("min") <= figure.number("median") && figure.number("median") <= figure.number("max"));
    let csv = home.0.read("r.csv");
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert_eq!(home.0.read("r.json"), outcome.stdout);
    run(&mut home.fathom(&format!("{SIM} --repeat 3 --format fio-json"))).expect_code(2);
    run(&mut home.fathom(&format!("{SIM} --repeat 3 --vary iodepth=1,2"))).expect_code(2);
    run(&mut home.fathom("run a.fio b.fio --repeat 2 --name=c --rw=read")).expect_code(2);
    run(&mut home.fathom(&format!("{SIM} --repeat 0"))).expect_code(2);
}

#[test]
fn an_interruption_ends_all_repeats() {
    // The signal has to arrive during the second one.
    with_more_time(|factor| {
        let home = Home::new();
        let line = format!("{ENDLESS} --repeat 3").replace("--runtime=3000", &format!("--runtime={factor}"));
        let mut running = Running::start(&mut home.fathom(&line));
        let is_saved = || {
            let mut entries = std::fs::read_dir(home.store()).into_iter().flatten().flatten();
            let is_whole = |entry: std::fs::DirEntry| {
                !entry.file_name().to_string_lossy().starts_with('.') && entry.path().join("manifest.json").exists()
            };
            entries.any(is_whole)
        };
        wait_for("the second repeat", || is_saved() && running.has_worker("long") || running.has_ended());
        if running.has_ended() {
            return Err("all repeats have ended".to_owned());
        }
        running.signal("INT");
        let outcome = running.end();
        let listed = home.list("");
        let outcomes: Vec<&str> = listed.items("runs").iter().map(|run| run.text("outcome")).collect();
        let is_second = outcome.stdout.contains("2 of 3 repeats") && outcomes == ["completed", "interrupted"];
        if is_second && outcome.code() == Some(130) { Ok(()) } else { Err(format!("{outcomes:?}: {outcome:#?}")) }
    });
}

#[test]
fn saved_runs_are_explained_by_name() {
    let home = Home::new();
    home.run(SIM);
    let explained = run(&mut home.fathom("explain last --details")).expect_clean().stdout;
    assert!(explained.contains("reads"), "{explained}");
}

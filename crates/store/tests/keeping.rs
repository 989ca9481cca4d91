//! Adding, listing and removing runs.

use record::{DirectionResult, EnvironmentRecord, LatencyStats, Run, RunKind};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};
use store::{Filter, Retention, RunStore};
use units::ProblemCode;

use crate::common::{EVENTS, JOB, STARTED_MS, add, sample};

fn ids(store: &RunStore, filter: &Filter) -> Vec<String> {
    let listing = store.list(filter).unwrap();
    assert!(listing.skipped.is_empty(), "{:?}", listing.skipped);
    listing.entries.into_iter().map(|entry| entry.id).collect()
}

#[test]
fn a_loaded_run_equals_the_saved_one() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("a path/mit Größe/日本");
    let store = RunStore::open(&root).unwrap();
    assert_eq!(root.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let run = sample(0);
    let id = add(&store, RunKind::Run, "HyperDisk", &run).unwrap();
    assert!(id.starts_with("2026-11-21T20-53-04-run-hyperdisk-"), "{id}");
    let loaded = store.load(&id).unwrap();
    assert_eq!(loaded.run, run);
    assert_eq!(loaded.job().unwrap().as_deref(), Some(JOB));
    assert_eq!(loaded.events().unwrap().map(Result::unwrap).collect::<Vec<_>>(), EVENTS);
    assert_eq!(loaded.file("table.csv").unwrap(), b"depth,iops\n1,1000\n");
    let environment: serde_json::Value = serde_json::from_slice(&loaded.file("environment.json").unwrap()).unwrap();
    assert_eq!(environment["host"]["kernel"], "6.12.0");
    assert_eq!((&environment["seed"], &environment["targets"][0]["path"]), (&42.into(), &"/dev/vdb".into()));
    let resolved: serde_json::Value = serde_json::from_slice(&loaded.file("resolved.json").unwrap()).unwrap();
    assert_eq!(resolved["jobs"][0]["name"], "reads");
    for pass in ["read", "from the index"] {
        assert_eq!(ids(&store, &Filter::default()), [&*id], "{pass}");
    }
}

#[test]
fn a_run_without_job_and_events_has_none() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    store.begin(RunKind::Sim, "bare").unwrap().finish(&sample(0)).unwrap();
    let loaded = store.load("last").unwrap();
    assert_eq!(loaded.job().unwrap(), None);
    assert_eq!(loaded.events().unwrap().count(), 0);
}

#[test]
fn filters_select_matching_runs() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let run = add(&store, RunKind::Run, "gold", &sample(0)).unwrap();
    let mut other = sample(10);
    other.host.hostname = "bellows".to_owned();
    other.jobs[0].evidence.targets[0].path = "/dev/nvme0n1".to_owned();
    let sweep = add(&store, RunKind::Sweep, "silver", &other).unwrap();
    let all = Filter::default();
    for (filter, expected) in [
        (all.clone(), vec![&run, &sweep]),
        (Filter { kind: Some(RunKind::Sweep), ..all.clone() }, vec![&sweep]),
        (Filter { name: Some("g*d".to_owned()), ..all.clone() }, vec![&run]),
        (Filter { name: Some("rea??".to_owned()), ..all.clone() }, vec![&run, &sweep]),
        (Filter { name: Some("rea".to_owned()), ..all.clone() }, vec![]),
        (Filter { host: Some("bell*".to_owned()), ..all.clone() }, vec![&sweep]),
        (Filter { device: Some("vdb".to_owned()), ..all.clone() }, vec![&run]),
        (Filter { device: Some("/dev/nvme*".to_owned()), ..all.clone() }, vec![&sweep]),
        (Filter { since_unix_ms: Some(STARTED_MS + 10_000), ..all.clone() }, vec![&sweep]),
        (Filter { until_unix_ms: Some(STARTED_MS + 10_000), ..all.clone() }, vec![&run]),
        (Filter { tool: Some("fathom".to_owned()), ..all.clone() }, vec![&run, &sweep]),
        (Filter { tool: Some("fathom-0.?.*".to_owned()), ..all.clone() }, vec![&run, &sweep]),
        (Filter { tool: Some("fio*".to_owned()), ..all.clone() }, vec![]),
        (Filter { text: Some("GRÖSSE".to_owned()), ..all.clone() }, vec![]),
        (Filter { text: Some("GRÖßE".to_owned()), ..all.clone() }, vec![&run, &sweep]),
        (Filter { text: Some("Bellows".to_owned()), kind: Some(RunKind::Run), ..all }, vec![]),
    ] {
        assert_eq!(ids(&store, &filter).iter().collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

#[test]
fn runs_are_found_by_prefix_and_as_the_last() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    assert!((store.load("last").unwrap_err().problem.code == ProblemCode::SavedRun));
    let later = add(&store, RunKind::Run, "a", &sample(100)).unwrap();
    let first = add(&store, RunKind::Run, "a", &sample(0)).unwrap();
    assert_eq!(store.resolve("last").unwrap(), later, "by start time");
    assert_eq!(store.resolve("2026-11-21T20-53").unwrap(), first);
    let error = store.load("2026-11").unwrap_err();
    assert!(error.problem.what.contains(&format!("{first}, {later}")), "{error}");
    assert!(error.to_string().ends_with("; use a longer part of the id"), "{error}");
    for none in ["2027", "", "..", "../x", "/", "lock", "store.json", ".", "index.json"] {
        let error = store.load(none).unwrap_err();
        assert!((error.problem.code == ProblemCode::SavedRun), "{none}: {error}");
    }
}

#[test]
fn the_four_digits_at_the_end_of_an_id_suffice() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let id = add(&store, RunKind::Run, "a", &sample(0)).unwrap();
    assert_eq!(store.resolve(&id[id.len() - 4..]).unwrap(), id);
    assert!(store.resolve(&id[id.len() - 3..]).is_err());
}

#[test]
fn repeats_are_found_by_their_series() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let names = ["a", "b"].map(|name| store::series_name(name, STARTED_MS, 0x1_0000));
    assert_eq!(names[0], "2026-11-21T20-53-04-series-a-0000");
    let mut ids = Vec::new();
    for number in [2, 1] {
        for series in &names {
            let repeat = Some(record::Repeat { series: series.clone(), number, of: 2 });
            ids.push(add(&store, RunKind::Run, "a", &Run { repeat, ..sample(u64::from(number)) }).unwrap());
        }
    }
    let found =
        |which: &str| store.series(which).map(|found| found.into_iter().map(|entry| entry.id).collect::<Vec<_>>());
    assert_eq!(found(&names[0]).unwrap(), [&*ids[2], &*ids[0]], "ordered by number");
    assert_eq!(found(&names[1][..names[1].len() - 4]).unwrap(), [&*ids[3], &*ids[1]]);
    assert!(found("2026-11-21T20-53-04-series-").unwrap_err().problem.what.contains("is ambiguous"));
    assert_eq!((found("2026").unwrap(), found("x-series-y").unwrap()), (Vec::new(), Vec::new()));
}

#[test]
fn the_manifest_summarizes_the_record() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let mut run = sample(0);
    run.jobs[0].result.read = DirectionResult {
        ios: 500,
        runtime_ns: 2_000_000_000,
        service: LatencyStats { count: 500, min_ns: 5, max_ns: 5, buckets: vec![(5, 500)], ..LatencyStats::default() },
        ..DirectionResult::default()
    };
    let mut other = run.jobs[0].clone();
    other.group = 1;
    other.result.read.ios = 400;
    run.jobs.push(other);
    let mut writer = store.begin(RunKind::Sim, "a").unwrap();
    writer.verdict("queue_too_shallow");
    writer.added_at(7);
    let virtual_time = EnvironmentRecord { started_unix_ms: STARTED_MS + 1, ..EnvironmentRecord::of(&run) };
    let id = writer.finish_in(&run, &virtual_time).unwrap();
    let entry = store.load(&id).unwrap().entry;
    assert_eq!((entry.iops, entry.p99_ns, entry.added_unix_ms), (250, Some(5), 7), "of concurrent jobs");
    assert_eq!((entry.verdict.as_deref(), entry.started_unix_ms), (Some("queue_too_shallow"), STARTED_MS + 1));
    assert_eq!(store.load(&id).unwrap().environment().unwrap(), virtual_time);
}

#[test]
fn imported_runs_age_from_their_import() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let now = STARTED_MS + 1_000_000;
    let id = store.import("old.json", record::to_json(&sample(0)).as_bytes(), None, now).unwrap();
    let by_age = Retention { max_age_ms: Some(10_000), ..Retention::default() };
    assert_eq!(store.retain(by_age, now + 10_000).unwrap(), Vec::<String>::new());
    assert_eq!(store.retain(by_age, now + 10_001).unwrap(), [id]);
}

#[test]
fn waiting_for_a_lock_times_out() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap().with_patience(Duration::from_millis(20));
    let held = std::fs::File::create(home.path().join("lock")).unwrap();
    held.lock().unwrap();
    let begun = Instant::now();
    let error = add(&store, RunKind::Run, "a", &sample(0)).unwrap_err();
    // By itself the store waits for a minute.
    assert!(error.problem.what.starts_with("another process") && begun.elapsed() < Duration::from_secs(60), "{error}");
    drop(held);
    add(&store, RunKind::Run, "a", &sample(0)).unwrap();
}

/// 692e655 followed the link and created its target.
#[test]
fn a_lock_that_is_a_link_is_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let _ = std::fs::remove_file(home.path().join("lock"));
    let elsewhere = home.path().join("elsewhere");
    std::os::unix::fs::symlink(&elsewhere, home.path().join("lock")).unwrap();
    let error = add(&store, RunKind::Run, "a", &sample(0)).unwrap_err().to_string();
    assert!(error.contains("is a symbolic link") && error.contains("remove the link"), "{error}");
    assert!(!elsewhere.exists());
}

#[test]
fn removes_the_named_runs_or_nothing_if_a_name_is_wrong() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let run_ids: Vec<String> = (0..4).map(|at| add(&store, RunKind::Run, "a", &sample(at)).unwrap()).collect();
    let errors = store.remove(&[&run_ids[0], "nothing", "2026", ".."]).unwrap_err();
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert_eq!(ids(&store, &Filter::default()), run_ids);
    std::fs::create_dir(home.path().join("photographs")).unwrap();
    assert!((store.remove(&["photographs"]).unwrap_err()[0].problem.code == ProblemCode::SavedRun));
    std::fs::write(home.path().join(&run_ids[1]).join("run.json"), "damaged").unwrap();
    let removed = store.remove(&[&run_ids[1], "last", "last"]).unwrap();
    assert_eq!(removed, [&*run_ids[1], &*run_ids[3]], "damaged ones too, by ID");
    let left = store.list(&Filter::default()).unwrap();
    assert_eq!(left.entries.iter().map(|entry| &entry.id).collect::<Vec<_>>(), [&run_ids[0], &run_ids[2]]);
    assert_eq!(left.skipped.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["photographs"]);
}

/// 5aa1e091 removed whatever had the name of a run, and all that lay beside its files.
#[test]
fn files_of_the_user_were_removed_with_a_run() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let id = add(&store, RunKind::Run, "gold", &sample(0)).unwrap();
    let (folder, elsewhere) = (store.root().join(&id), home.path().join("elsewhere"));
    let refused = |what: &str| {
        let error = store.remove(&[&id]).unwrap_err().remove(0);
        assert!((error.problem.code == ProblemCode::SavedRun), "{what}: {error}");
        assert_eq!(store.retain(Retention { max_bytes: Some(0), ..Retention::default() }, 0).unwrap(), [""; 0]);
        assert!(folder.symlink_metadata().is_ok(), "{what}");
    };
    let own = [folder.join("thesis.txt"), folder.join("notes")];
    std::fs::write(&own[0], "mine").unwrap();
    refused("a file beside the run");
    std::fs::remove_file(&own[0]).unwrap();
    std::fs::create_dir(&own[1]).unwrap();
    refused("a folder beside the run");
    std::fs::remove_dir(&own[1]).unwrap();
    std::fs::rename(&folder, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &folder).unwrap();
    refused("a link");
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(&own[0], "mine").unwrap();
    refused("no run at all");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::rename(&elsewhere, &folder).unwrap();
    assert_eq!(store.remove(&[&id]).unwrap(), [id]);
}

#[test]
fn retention_removes_the_oldest_but_never_marked_runs() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let run_ids: Vec<String> = (0..6).map(|at| add(&store, RunKind::Run, "a", &sample(at)).unwrap()).collect();
    let each = store.list(&Filter::default()).unwrap().entries[0].bytes();
    store.keep(&run_ids[0], true).unwrap();
    store.keep(&run_ids[1], true).unwrap();
    store.keep(&run_ids[1], false).unwrap();
    assert!(store.list(&Filter::default()).unwrap().entries[0].kept);
    assert_eq!(store.retain(Retention::default(), STARTED_MS * 2).unwrap(), Vec::<String>::new());
    let by_age = Retention { max_age_ms: Some(10_000), ..Retention::default() };
    assert_eq!(store.retain(by_age, STARTED_MS + 12_000).unwrap(), [&*run_ids[1]]);
    let by_size = Retention { max_bytes: Some(each * 3 + each / 2), ..Retention::default() };
    let spared = Retention { latest: 3, ..by_size };
    assert_eq!(store.retain(spared, STARTED_MS).unwrap(), [&*run_ids[2]]);
    assert_eq!(store.surplus(by_size, STARTED_MS).unwrap()[0].id, run_ids[3]);
    assert_eq!(store.retain(by_size, STARTED_MS).unwrap(), [&*run_ids[3]]);
    let nothing = Retention { max_age_ms: Some(0), max_bytes: Some(0), ..Retention::default() };
    assert_eq!(store.retain(nothing, STARTED_MS * 2).unwrap(), [&*run_ids[4], &*run_ids[5]]);
    assert_eq!(ids(&store, &Filter::default()), [&*run_ids[0]]);
}

#[test]
fn output_of_fio_is_imported_with_its_text() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let text = include_bytes!("../../record/tests/data/fio.json");
    let id = store.import("/some/where/Nightly run.json", text, None, STARTED_MS).unwrap();
    assert!(id.contains("-run-nightly-run-"), "{id}");
    let loaded = store.load(&id).unwrap();
    assert_eq!(loaded.entry.tool.name, "fio");
    assert_eq!(loaded.file("imported").unwrap(), text);
    let iostat = include_bytes!("../../record/tests/data/iostat12.txt");
    for (name, bytes) in [("empty.json", &b""[..]), ("cut.json", &text[..400]), ("iostat.txt", iostat)] {
        let error = store.import(name, bytes, None, STARTED_MS).unwrap_err();
        assert!((error.problem.code == ProblemCode::SavedRun) && error.to_string().starts_with(name), "{error}");
        assert!(error.problem.help.is_some());
    }
    assert_eq!(ids(&store, &Filter::default()), [id], "refused imports leave nothing");
}

#[test]
fn records_of_fathom_are_imported_with_their_kind() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let model = record::ModelRecord { virtual_time: true, ..record::ModelRecord::default() };
    for (run, kind) in [(sample(0), RunKind::Run), (record::Run { model: Some(model), ..sample(1) }, RunKind::Sim)] {
        let id = store.import("copied.json", record::to_json(&run).as_bytes(), None, STARTED_MS).unwrap();
        let loaded = store.load(&id).unwrap();
        assert_eq!((loaded.run, loaded.entry.kind), (run, kind));
    }
}

#[test]
fn names_of_attached_files_are_validated() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let mut writer = store.begin(RunKind::Suite, "s").unwrap();
    writer.attach("mine", b"1").unwrap();
    for name in ["", ".", "..", "a/b", "/etc/x", "run.json", "manifest.json", "kept", ".lock", "mine"] {
        assert!((writer.attach(name, b"2").unwrap_err().problem.code == ProblemCode::SavedRun), "{name}");
    }
}

#[test]
fn later_versions_are_reported_and_never_changed() {
    let home = tempfile::tempdir().unwrap();
    let store = RunStore::open(home.path()).unwrap();
    let id = add(&store, RunKind::Run, "a", &sample(0)).unwrap();
    let mut later = sample(1);
    later.schema += 1;
    let later = add(&store, RunKind::Run, "b", &later).unwrap();
    for pass in ["read", "from the index"] {
        let listing = store.list(&Filter::default()).unwrap();
        assert_eq!(listing.entries.iter().map(|entry| &entry.id).collect::<Vec<_>>(), [&id], "{pass}");
        let [(name, error)] = &listing.skipped[..] else { panic!("{pass}: {listing:?}") };
        assert!(*name == later && error.problem.what.starts_with("version 2 is not supported"), "{pass}: {error}");
    }
    assert!(store.load(&later).unwrap_err().problem.what.starts_with("version 2 is not supported"));
    // A later layout may be sealed differently.
    std::fs::write(home.path().join(&later).join("manifest.json"), r#"{"format":2,"seal":"x"}"#).unwrap();
    let skipped = store.list(&Filter::default()).unwrap().skipped;
    assert!(skipped[0].1.problem.what.starts_with("version 2 is not supported"), "{skipped:?}");

    let version = home.path().join("store.json");
    std::fs::write(&version, r#"{"format":2}"#).unwrap();
    let before = std::fs::read(home.path().join("index.json")).unwrap();
    let store = RunStore::open(home.path()).unwrap();
    assert!(
        add(&store, RunKind::Run, "c", &sample(2)).unwrap_err().problem.what.starts_with("version 2 is not supported")
    );
    assert!(store.remove(&[&id]).unwrap_err()[0].problem.what.starts_with("version 2 is not supported"));
    assert!(store.keep(&id, true).is_err() && store.retain(Retention::default(), 0).is_err());
    std::fs::remove_dir_all(home.path().join(&later)).unwrap();
    assert_eq!(ids(&store, &Filter::default()), [&*id]);
    assert_eq!(std::fs::read(home.path().join("index.json")).unwrap(), before);

    std::fs::write(&version, "{").unwrap();
    let error = add(&store, RunKind::Run, "c", &sample(2)).unwrap_err();
    assert!(error.to_string().contains("store.json: damaged: "), "{error}");
    assert!(error.problem.help.as_deref().unwrap_or_default().contains("remove this file"), "{error}");
    std::fs::remove_file(&version).unwrap();
    add(&store, RunKind::Run, "c", &sample(2)).unwrap();
}

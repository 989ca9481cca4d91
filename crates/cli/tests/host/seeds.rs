//! Every job file of `examples/` has the same operations, output and data as under fio.
//!
//! Each runs with three engines, once for a tenth of a second or, on a busy host, longer, when the documents must have the
//! same keys of the same types in the same order; and without a runtime, when the operations must be the same. One start of
//! a program runs the jobs with all engines, each engine in groups of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::cases::at_night;
use crate::common::devices::LoopDevice;
use crate::common::json::Json;
use crate::common::{
    Outcome, Running, Scratch, blocks_with_data, fathom, fio_with_exactly, require, run, with_more_time,
};

const ENGINES: [&str; 3] = ["io_uring", "libaio", "psync"];
/// Total size of the targets: a multiple of 1 MiB and of five blocks.
const FILE_BYTES: u64 = 5 << 20;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Returns a job file with some keys changed and some removed.
fn rewritten(name: &str, changed: &[(&str, &str)], removed: &[&str]) -> String {
    let text = std::fs::read_to_string(examples().join(name)).expect("the example exists");
    let line = |line: &str| {
        let key = line.split('=').next().unwrap_or_default().trim().to_owned();
        let change = changed.iter().find(|(changed, _)| *changed == key);
        match change {
            _ if removed.contains(&key.as_str()) => String::new(),
            Some((key, value)) if line.contains('=') => format!("{key}={value}\n"),
            _ => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

/// Returns a job file with its jobs once for each engine. Jobs that write have targets of their own for each.
fn with_each_engine(text: &str) -> String {
    let writes = writes(text);
    let lines: Vec<&str> = text.lines().collect();
    let is_job = |line: &&str| line.starts_with('[') && *line != "[global]";
    let (global, jobs) = lines.split_at(lines.iter().position(is_job).expect("a job"));
    let mut all = format!("{}\n", global.join("\n"));
    for engine in ENGINES {
        let mut group = "new_group\n";
        for line in jobs.iter().filter(|line| !line.starts_with("ioengine=")) {
            let line = match line.strip_suffix(']') {
                Some(name) => format!("{name}-{engine}]\nioengine={engine}\n{}", std::mem::take(&mut group)),
                None if writes && line.starts_with("filename=") => format!("{line}-{engine}\n"),
                None => format!("{line}\n"),
            };
            all.push_str(&line);
        }
    }
    all
}

/// Reports whether a job file changes its targets.
fn writes(text: &str) -> bool {
    ["\nrw=write", "\nrw=randwrite", "\nrw=randrw"].iter().any(|direction| text.contains(direction))
}

/// Targets of the jobs: `target`, `target0` to `target11` for the example with twelve disks, or one for each engine.
struct Targets {
    scratch: Scratch,
    names: Vec<String>,
    /// Size of each.
    bytes: u64,
    /// Loop devices that the names link to, if any.
    devices: Vec<LoopDevice>,
}

impl Targets {
    fn files(example: &str) -> Self {
        let scratch = Scratch::new();
        let names = target_names(example);
        for name in &names {
            scratch.sparse(name, target_bytes(example));
        }
        Self { scratch, names, bytes: target_bytes(example), devices: Vec::new() }
    }

    fn loop_devices(example: &str) -> Self {
        let mut targets = Self::files(example);
        for name in &targets.names {
            let backing = targets.scratch.path(&format!("{name}.backing"));
            std::fs::rename(targets.scratch.path(name), &backing).expect("the file exists");
            let device = LoopDevice::over(&backing);
            std::os::unix::fs::symlink(&device.path, targets.scratch.path(name)).expect("the name is free");
            targets.devices.push(device);
        }
        targets
    }

    /// Sets the environment variables of the job files.
    fn point<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let last = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) - 1;
        command
            .current_dir(&self.scratch)
            .env("TARGET", "target")
            .env("SIZE", self.bytes.to_string())
            .env("RUNTIME", "100ms")
            .env("CPUS", format!("0-{}", last.min(1)))
    }

    /// Counts the blocks with data of each target.
    fn blocks(&self) -> Vec<u64> {
        let backing = |name: &String| if self.devices.is_empty() { name.clone() } else { format!("{name}.backing") };
        self.names.iter().map(|name| blocks_with_data(&self.scratch.path(&backing(name)))).collect()
    }
}

fn target_names(example: &str) -> Vec<String> {
    match example {
        "nutanix-2m-iops.fio" => (0..12).map(|number| format!("target{number}")).collect(),
        _ if writes(&rewritten(example, &[], &[])) => ENGINES.iter().map(|engine| format!("target-{engine}")).collect(),
        _ => vec!["target".to_owned()],
    }
}

/// Returns the size of each target: the examples with several read twelve disks, or write with each engine.
fn target_bytes(example: &str) -> u64 {
    if example == "nutanix-2m-iops.fio" { FILE_BYTES / 12 / 4096 * 4096 } else { FILE_BYTES }
}

/// The documents of both programs.
struct Documents {
    ours: Json,
    theirs: Json,
}

/// Runs a job file with both programs concurrently, each on its own targets.
fn both(text: &str, ours: &Targets, theirs: &Targets) -> Documents {
    let command = |targets: &Targets, mut command: Command| {
        targets.scratch.write("job.fio", text);
        Running::start(targets.point(&mut command))
    };
    let words = ["fio", "--output-format=json+", "job.fio"];
    let (ours, theirs) = (command(ours, fathom(words)), command(theirs, fio_with_exactly(&words[1..])));
    let (ours, theirs) = (ours.end().expect_clean(), theirs.end().expect_code(0));
    Documents { ours: Json::read(&ours.stdout), theirs: Json::read_after_notes(&theirs.stdout) }
}

/// Compares the shapes of the documents of a short time.
fn documents_are_shaped_as_fios(example: &str) {
    let both = with_more_time(|factor| {
        let runtime = format!("{}ms", 100 * factor);
        let changes = [("runtime", runtime.as_str()), ("filename", target_key(example))];
        let text = with_each_engine(&rewritten(example, &changes_for(example, &changes), &["ramp_time"]));
        let both = both(&text, &Targets::files(example), &Targets::files(example));
        // A kind without operations has fewer keys, and in a short time a busy host may complete none.
        let measured = [&both.ours, &both.theirs].map(measured_kinds);
        if measured[0] == measured[1] { Ok(both) } else { Err(format!("{example}: {measured:?}")) }
    });
    // The paths of all jobs are the same, so the shape of each job is compared too.
    let shape = |document: &Json| -> Vec<String> {
        // Fathom's notes are in the document; fio prints notes before it.
        let whole = document.shape().into_iter().filter(|line| !line.starts_with("/fathom notes"));
        whole.chain(document.items("jobs").iter().flat_map(Json::shape)).collect()
    };
    let (ours, theirs) = (shape(&both.ours), shape(&both.theirs));
    let first = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
    let first = first.unwrap_or(ours.len().min(theirs.len()));
    let (ours, theirs) = (ours.get(first), theirs.get(first));
    assert_eq!(ours, theirs, "{example}: the first place where the documents differ");
    assert_same_jobs(&both, example);
}

/// Returns which kinds of operations each job has completed.
fn measured_kinds(document: &Json) -> Vec<[bool; 3]> {
    let of = |job: &Json| ["read", "write", "trim"].map(|kind| job.whole(&format!("{kind}/total_ios")) > 0);
    document.items("jobs").iter().map(of).collect()
}

/// Adds the size, or removes the file name: only the first-try example sets its own. By day there are fewer workers of the
/// examples with the most.
fn changes_for<'a>(example: &str, changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut changes = changes.to_vec();
    if example == "first-try.fio" {
        changes.push(("size", "${SIZE}"));
    } else {
        changes.retain(|(key, _)| *key != "filename");
    }
    match example {
        _ if at_night() => {}
        "nutanix-2m-iops.fio" | "persistent-disk-2-write-bandwidth.fio" | "persistent-disk-5-read-bandwidth.fio" => {
            changes.push(("numjobs", "3"));
        }
        "vultr-block.fio" => changes.push(("numjobs", "4")),
        _ => {}
    }
    changes
}

fn target_key(example: &str) -> &'static str {
    if example == "first-try.fio" { "${TARGET}" } else { "" }
}

/// Checks that names, groups and echoed options are the same.
fn assert_same_jobs(both: &Documents, example: &str) {
    assert_eq!(both.ours.find("global options"), both.theirs.find("global options"), "{example}");
    let (ours, theirs) = (both.ours.items("jobs"), both.theirs.items("jobs"));
    assert_eq!(ours.len(), theirs.len(), "{example}");
    for (ours, theirs) in ours.iter().zip(theirs) {
        for key in ["jobname", "groupid", "error", "job options"] {
            assert_eq!(ours.at(key), theirs.at(key), "{example}: {key}");
        }
    }
}

/// Checks that the same operations are done without a runtime.
fn does_what_fio_does(example: &str, targets: impl Fn(&str) -> Targets) {
    let changes = changes_for(example, &[("filename", target_key(example))]);
    let text = with_each_engine(&rewritten(example, &changes, &["ramp_time", "runtime", "time_based"]));
    let (ours, theirs) = (targets(example), targets(example));
    let both = both(&text, &ours, &theirs);
    assert_same_jobs(&both, example);
    let mixed = text.contains("rwmixread");
    for (ours, theirs) in both.ours.items("jobs").iter().zip(both.theirs.items("jobs")) {
        assert_same_operations(ours, theirs, mixed, &format!("{example}: {}", ours.text("jobname")));
    }
    for (name, (ours, theirs)) in ours.names.iter().zip(ours.blocks().into_iter().zip(theirs.blocks())) {
        let blocks = (FILE_BYTES / 4096) as f64;
        // A block is written unless each of four workers reads it: 1 - 0.7^4.
        let allowed = if mixed { tolerance(blocks, 0.76) } else { 0.0 };
        let difference = ours.abs_diff(theirs) as f64;
        assert!(difference <= allowed, "{example}: {ours} blocks of {name} hold data, with fio {theirs}");
    }
}

fn assert_same_operations(ours: &Json, theirs: &Json, mixed: bool, context: &str) {
    let sum = |job: &Json, key: &str| -> u64 {
        ["read", "write", "trim"].iter().map(|kind| job.whole(&format!("{kind}/{key}"))).sum()
    };
    for key in ["total_ios", "io_bytes", "short_ios", "drop_ios"] {
        assert_eq!(sum(ours, key), sum(theirs, key), "{context}: {key}");
    }
    for kind in ["read", "write", "trim"] {
        let ios = |job: &Json| job.whole(&format!("{kind}/total_ios"));
        let bytes = |job: &Json| job.whole(&format!("{kind}/io_bytes"));
        let allowed = if mixed { tolerance(sum(ours, "total_ios") as f64, 0.7) } else { 0.0 };
        let difference = ios(ours).abs_diff(ios(theirs)) as f64;
        assert!(difference <= allowed, "{context}: {kind}s {}, with fio {}", ios(ours), ios(theirs));
        assert_eq!(bytes(ours) * ios(theirs), bytes(theirs) * ios(ours), "{context}: the size of {kind}s");
    }
}

/// Returns four standard deviations of the difference of two binomial counts.
fn tolerance(count: f64, probability: f64) -> f64 {
    4.0 * (2.0 * count * probability * (1.0 - probability)).sqrt()
}

/// One of each direction, and those with several devices and sections.
const ON_DEVICES_BY_DAY: [&str; 5] = [
    "hyperdisk-2-random-read.fio",
    "hyperdisk-4-mixed.fio",
    "local-ssd-1-write.fio",
    "nutanix-2m-iops.fio",
    "vultr-block.fio",
];

macro_rules! examples {
    ($($test:ident: $file:literal),+ $(,)?) => {
        $(mod $test {
            use super::*;

            #[test]
            fn prints_a_document_shaped_as_fios() {
                require!(Fio);
                documents_are_shaped_as_fios($file);
            }

            #[test]
            fn does_the_operations_of_fio_on_files() {
                require!(Fio);
                does_what_fio_does($file, Targets::files);
            }

            #[test]
            fn does_the_operations_of_fio_on_loop_devices() {
                require!(Fio, Root);
                if at_night() || ON_DEVICES_BY_DAY.contains(&$file) {
                    does_what_fio_does($file, Targets::loop_devices);
                }
            }
        })+

        const ALL: &[&str] = &[$($file),+];
    };
}

examples! {
    first_try: "first-try.fio",
    hyperdisk_1: "hyperdisk-1-first-try.fio",
    hyperdisk_2: "hyperdisk-2-random-read.fio",
    hyperdisk_3: "hyperdisk-3-sequential-read.fio",
    hyperdisk_4: "hyperdisk-4-mixed.fio",
    local_ssd_1: "local-ssd-1-write.fio",
    local_ssd_2: "local-ssd-2-random-read.fio",
    local_ssd_3: "local-ssd-3-random-write.fio",
    nutanix: "nutanix-2m-iops.fio",
    persistent_disk_1: "persistent-disk-1-fill.fio",
    persistent_disk_2: "persistent-disk-2-write-bandwidth.fio",
    persistent_disk_3: "persistent-disk-3-write-iops.fio",
    persistent_disk_4: "persistent-disk-4-write-latency.fio",
    persistent_disk_5: "persistent-disk-5-read-bandwidth.fio",
    persistent_disk_6: "persistent-disk-6-read-iops.fio",
    persistent_disk_7: "persistent-disk-7-read-latency.fio",
    persistent_disk_8: "persistent-disk-8-sequential-read.fio",
    persistent_disk_9: "persistent-disk-9-sequential-write.fio",
    vultr: "vultr-block.fio",
}

#[test]
fn every_example_is_tested() {
    let entries = std::fs::read_dir(examples()).expect("there are examples");
    for entry in entries {
        let name = entry.expect("it can be read").file_name().to_string_lossy().into_owned();
        assert!(!name.ends_with(".fio") || ALL.contains(&name.as_str()), "{name} is not tested");
    }
}

#[test]
fn every_example_is_valid_for_run() {
    for example in ALL {
        let targets = Targets::files(example);
        let file = examples().join(example);
        let text = rewritten(example, &changes_for(example, &[("filename", target_key(example))]), &[]);
        let file = if *example == "first-try.fio" { targets.scratch.write("job.fio", text).into() } else { file };
        let mut command = fathom(["run", "--show-jobs"]);
        let Outcome { stdout, .. } = run(targets.point(command.arg(file))).expect_clean();
        assert!(!stdout.is_empty(), "{example}");
    }
}

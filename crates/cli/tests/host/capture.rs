//! `fathom capture` as a whole program: signals, `kill -9`, warnings and errors, sampled counters. Needs root.

use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use trace::{TraceEnd, TraceReader, TraceStep};

use crate::common;
use crate::common::host::timed;
use crate::common::schema::expect_result;
use crate::common::{Need, Running, Scratch, fathom, flat, met, run, wait_for, waits_of};

/// A loop device over a file in memory, and a tracefs to look for instances.
struct Setup {
    file: PathBuf,
    device: String,
    is_attached: bool,
    tracefs: tempfile::TempDir,
}

impl Setup {
    fn new(name: &str) -> Option<Self> {
        if !met(Need::Root) || !met(Need::Fio) {
            return None;
        }
        let file = PathBuf::from(format!("/dev/shm/fathom-cli-capture-{}-{name}", std::process::id()));
        std::fs::File::create(&file).unwrap().set_len(64 << 20).unwrap();
        let output = Command::new("losetup").args(["--find", "--show"]).arg(&file).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let device = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        let tracefs = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount").args(["-t", "tracefs", "tracefs"]).arg(tracefs.path()).status().unwrap();
        assert!(mounted.success());
        Some(Self { file, device, is_attached: true, tracefs })
    }

    fn load(&self, words: &str) -> Running {
        let common = format!("--name=a --direct=1 --ioengine=libaio --filename={}", self.device);
        Running::start(&mut common::fio(common.split(' ').chain(words.split(' '))))
    }

    /// Starts a capture by a source and waits until it records.
    fn capture<const N: usize>(&self, source: &str, words: [&str; N]) -> Running {
        let words = ["capture", &self.device, "--source", source].into_iter().chain(words);
        let mut capture = Running::start(&mut fathom(words));
        let process = capture.pid();
        wait_for("a capture", || {
            assert!(!capture.has_ended(), "the capture ended early: {}", capture.messages());
            self.has_instance(process) || bpf_links(process) == 5
        });
        // The programs record a moment after the last one is attached, and before the capture waits for requests.
        let waits = waits_of(process);
        wait_for("a capture that waits for requests", || capture.has_ended() || waits_of(process) >= waits + 5);
        capture
    }

    fn has_instance(&self, process: u32) -> bool {
        // It is switched on once all events are enabled.
        let is_on = |file: &str| {
            std::fs::read_to_string(self.instance(process).join(file)).is_ok_and(|text| text.starts_with('1'))
        };
        is_on("events/block/block_rq_complete/enable") && is_on("tracing_on")
    }

    fn instance(&self, process: u32) -> PathBuf {
        self.tracefs.path().join(format!("instances/fathom-{process}"))
    }

    /// Detaches the device, once: its number may be another test's afterwards.
    fn detach(&mut self) {
        if std::mem::take(&mut self.is_attached) {
            let status = Command::new("losetup").args(["--detach", &self.device]).status();
            assert!(std::thread::panicking() || status.unwrap().success());
        }
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        self.detach();
        let _ = Command::new("umount").arg("--lazy").arg(self.tracefs.path()).status();
        let _ = std::fs::remove_file(&self.file);
    }
}

/// Returns the number of programs in the kernel that a process has attached.
fn bpf_links(process: u32) -> usize {
    let files = std::fs::read_dir(format!("/proc/{process}/fdinfo")).into_iter().flatten().flatten();
    let is_link = |text: &String| text.contains("link_type:");
    files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).filter(is_link).count()
}

/// Returns the command for a user without any capability.
fn unprivileged<'a>(words: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set", "-all", "--inh-caps", "-all", "--reuid", "65534", "--clear-groups"]);
    command.arg(env!("CARGO_BIN_EXE_fathom")).args(words);
    command
}

/// Returns the number of requests in a trace, and how it ends.
fn read(path: &Path) -> (usize, TraceEnd) {
    let mut reader = TraceReader::new();
    reader.feed(&std::fs::read(path).unwrap());
    reader.end_input();
    let mut requests = Vec::new();
    loop {
        match reader.next(&mut requests) {
            Ok(TraceStep::End(end)) => return (requests.len(), end),
            Ok(TraceStep::Requests) => {}
            step => panic!("{step:?}"),
        }
    }
}

#[test]
fn every_signal_ends_a_capture_with_its_results_and_without_an_instance() {
    let Some(setup) = Setup::new("signals") else { return };
    let scratch = Scratch::new();
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let file = scratch.text("a.trace");
        let capture = setup.capture("tracefs", ["-o", &file, "--format", "json", "--progress", "off"]);
        let instance = setup.instance(capture.pid());
        setup.load("--rw=randread --bs=4k --iodepth=8 --number_ios=2000 --size=64m").end().expect_code(0);
        capture.signal(signal);
        let outcome = capture.end().expect_code(code);
        expect_result("capture", &outcome.stdout);
        let result: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(result["ended"], "by a signal");
        assert!(result["requests"].as_u64().unwrap() >= 1990, "{result:#}");
        assert_eq!((&result["lost_events"], &result["is_trustworthy"]), (&0.into(), &true.into()), "{result:#}");
        assert_eq!(read(&scratch.path("a.trace")), (result["requests"].as_u64().unwrap() as usize, TraceEnd::Complete));
        assert!(!instance.exists(), "{signal}");
    }
}

#[test]
fn a_killed_capture_leaves_a_readable_file_and_the_next_one_removes_its_instance() {
    let Some(setup) = Setup::new("killed") else { return };
    let scratch = Scratch::new();
    for source in ["bpf", "tracefs"] {
        a_killed_capture_leaves(&setup, &scratch, source);
    }
}

fn a_killed_capture_leaves(setup: &Setup, scratch: &Scratch, source: &str) {
    let file = scratch.text("a.trace");
    let capture = setup.capture(source, ["-o", &file, "--progress", "off"]);
    let instance = setup.instance(capture.pid());
    // A busy host writes them late, and leaves out calls of programs.
    wait_for("blocks of the trace", || {
        setup.load("--rw=randread --bs=4k --iodepth=8 --number_ios=4000 --size=64m").end().expect_code(0);
        scratch.path("a.trace").metadata().is_ok_and(|file| file.len() > 4096)
            && read(&scratch.path("a.trace")).0 >= 3900
    });
    capture.signal("KILL");
    assert_eq!(capture.end().code(), None);
    let (requests, end) = read(&scratch.path("a.trace"));
    assert!(requests >= 3900, "{requests}");
    assert_eq!(end, TraceEnd::Unfinished);
    assert_eq!(instance.exists(), source == "tracefs", "the kernel keeps the instance of a killed process");
    let next = ["capture", &setup.device, "--summary-only", "--for", "100ms", "--source", source];
    let outcome = run(&mut fathom(next)).expect_code(0);
    assert!(outcome.stdout.contains("ended after the requested duration"), "{}", outcome.stdout);
    assert!(!instance.exists());
}

/// Programs cannot be loaded without the kernel's types, which a mount hides here.
#[test]
fn where_programs_cannot_be_loaded_events_are_captured() {
    let Some(setup) = Setup::new("types") else { return };
    let capture = |words: &str| {
        let program = env!("CARGO_BIN_EXE_fathom");
        let capture = format!("{program} capture {} --summary-only --for 200ms --progress off {words}", setup.device);
        let script = format!("mount -t tmpfs none /sys/kernel/btf && exec {capture}");
        run(Command::new("unshare").args(["--mount", "sh", "-c", &script]))
    };
    let outcome = capture("").expect_code(0);
    assert!(flat(&outcome.stdout).contains("captured with tracefs events: BPF: read the kernel's BTF types: "));
    let outcome = capture("--format json").expect_code(0);
    let result: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(result["source"], "tracefs", "{result:#}");
    let refused = capture("--source bpf").expect_code(3);
    assert!(flat(&refused.stderr).contains("help: capture with --source tracefs"), "{}", refused.stderr);
}

#[test]
fn a_full_disk_ends_a_capture_and_names_the_part_before() {
    let Some(setup) = Setup::new("full") else { return };
    timed("capture::a_full_disk_ends_a_capture", || fill_disk(&setup));
}

/// Fills the disk of a capture. A busy host may check too late whether a part is complete.
fn fill_disk(setup: &Setup) -> Result<(), String> {
    let scratch = Scratch::new();
    let (folder, program) = (scratch.text("small"), env!("CARGO_BIN_EXE_fathom"));
    std::fs::create_dir(&folder).unwrap();
    let capture =
        format!("{program} capture {} -o {folder}/a.trace --keep-last 300KiB --for 900s --progress off", setup.device);
    // The filesystem ends with the process.
    let script = format!("mount -t tmpfs -o size=256k none {folder} && exec {capture}");
    let mut capture = Running::start(Command::new("unshare").args(["--mount", "sh", "-c", &script]));
    wait_for("a capture", || {
        assert!(!capture.has_ended(), "the capture ended early: {}", capture.messages());
        bpf_links(capture.pid()) == 5
    });
    // A second of this load is smaller than the space beside a complete part, which is checked for each second.
    let load = "--rw=randread --bs=4k --iodepth=8 --number_ios=150000 --io_size=600m --rate_iops=25000";
    setup.load(load).end().expect_code(0);
    let outcome = capture.end().expect_code(3);
    let said = flat(&outcome.stderr);
    assert!(said.contains("No space left on device"), "{said}");
    if said.contains("; the previous part is in ") && said.contains("small/a.trace.before") {
        Ok(())
    } else {
        Err(said)
    }
}

#[test]
fn a_known_job_of_fathom_comes_back() {
    let Some(setup) = Setup::new("round") else { return };
    let capture = setup.capture("tracefs", ["--summary-only", "--format", "json", "--progress", "off"]);
    let job = format!(
        "run --name=a --filename={0} --allow-destroy {0} --ioengine=libaio --direct=1 --rw=randrw --rwmixread=75 --bs=8k,16k --iodepth=4 --norandommap=1 \
         --rate_iops=1500,500 --runtime=5 --time_based --format json --progress off",
        setup.device
    );
    let ran = run(&mut fathom(job.split_whitespace())).expect_one_of(&[0, 4]);
    capture.signal("INT");
    let captured = capture.end().expect_code(130);
    let captured: Value = serde_json::from_str(&captured.stdout).unwrap();
    let job: Value = serde_json::from_str(&ran.stdout).unwrap();
    let job = &job["jobs"][0]["result"];
    for (kind, size) in [("read", 8192), ("write", 16_384)] {
        let operations = job[kind]["ios"].as_f64().unwrap();
        let found = &captured["operations"][kind]["frequent_sizes"][0];
        assert_eq!(found["bytes"], size, "{captured:#}");
        let requests = found["requests"].as_f64().unwrap();
        assert!((requests / operations - 1.0).abs() < 0.01, "{kind}: {requests} requests, {operations} operations");
    }
    assert_eq!(captured["is_trustworthy"], true, "{captured:#}");
}

#[test]
fn errors_name_the_remedy_and_touch_nothing() {
    let Some(setup) = Setup::new("errors") else { return };
    let scratch = Scratch::new();
    let other = scratch.write("notes.txt", "not a trace");
    for (words, code, message) in [
        (vec!["capture", "/dev/no-such-device", "--summary-only"], 2, "no such block device"),
        (vec!["capture", "/proc", "--summary-only"], 2, "not on a block device"),
        (vec!["capture", &setup.device, "-o", &other], 2, "exists and is not a Fathom trace"),
        (vec!["capture", &setup.device, "--summary-only", "--pid", "4194305"], 2, "no such process"),
        (vec!["capture", &setup.device], 2, "--output <FILE>"),
        (vec!["capture", &setup.device, "-o", "x", "--max-size", "7 parsec"], 2, "64MiB or 2GiB"),
    ] {
        let outcome = run(&mut fathom(&words)).expect_code(code);
        assert!(outcome.stderr.contains(message) && outcome.stderr.contains("help: "), "{words:?}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
    }
    assert_eq!(scratch.read("notes.txt"), "not a trace");
    assert_eq!(scratch.names(), ["notes.txt"]);
}

#[test]
fn without_privileges_the_capability_is_named() {
    let Some(setup) = Setup::new("user") else { return };
    let words = ["capture", &setup.device, "--summary-only", "--for", "100ms"];
    let outcome = run(&mut unprivileged(words)).expect_code(3);
    let offer = format!("sample counters (means only): fathom capture {} --sample", setup.device);
    assert!(outcome.stderr.contains("CAP_SYS_ADMIN") && outcome.stderr.contains(&offer), "{}", outcome.stderr);
}

#[test]
fn without_privileges_counters_are_sampled_for_explain_and_plan() {
    timed("capture::without_privileges_counters_are_sampled", || {
        Setup::new("sample").map_or(Ok(()), |setup| sample_counters(&setup))
    });
}

/// Samples a load whose rate a busy host may miss.
fn sample_counters(setup: &Setup) -> Result<(), String> {
    let scratch = Scratch::new();
    std::fs::set_permissions(scratch.as_ref(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let file = scratch.text("db.counters");
    let load = setup.load("--rw=randrw --bs=8k --iodepth=4 --rate_iops=900,300 --time_based --runtime=7 --size=64m");
    std::thread::sleep(Duration::from_millis(1500));
    let mut iostat = Command::new("iostat");
    iostat.args(["-x", "-y", "-d", "-o", "JSON", &setup.device, "4", "1"]).env("LC_ALL", "C");
    let iostat = Running::start(&mut iostat);
    let sampled = ["capture", &setup.device, "--sample", "100ms", "--for", "4s", "-o", &file, "--format", "json"];
    let outcome = run(&mut unprivileged(sampled)).expect_code(0);
    let printed: Value = serde_json::from_str(&iostat.end().expect_code(0).stdout).unwrap();
    load.end().expect_code(0);
    expect_result("capture-sample", &outcome.stdout);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((&report["ended"], &report["confidence"]), (&"after the requested duration".into(), &"low".into()));
    let taken = |key: &str| report[key].as_u64().unwrap();
    if taken("intervals") + taken("missed_samples") != 40 {
        return Err(format!("not 40 intervals: {report:#}"));
    }
    let columns = &printed["sysstat"]["hosts"][0]["statistics"][0]["disk"][0];
    for (kind, column, rate) in [("read", "r/s", 900.0), ("write", "w/s", 300.0)] {
        let found = report["kinds"][kind]["iops"]["mean"].as_f64().unwrap();
        let by_iostat = columns[column].as_f64().unwrap();
        if (found / rate - 1.0).abs() >= 0.1 || (found / by_iostat - 1.0).abs() >= 0.1 {
            return Err(format!("{found} {kind} a second, {by_iostat} by iostat"));
        }
        // The kernel counts an operation and its bytes one after the other.
        let mean_bytes = report["kinds"][kind]["mean_bytes"].as_u64().unwrap();
        assert!(mean_bytes.abs_diff(8192) <= 40, "{mean_bytes}");
    }
    let outcome = run(&mut fathom(["explain", &file, "--format", "json"])).expect_code(0);
    let explained: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let input = &explained["inputs"][0];
    assert_eq!(input["kind"], "diskstats");
    let note = input["subjects"][0]["notes"][0].as_str().unwrap();
    assert!(note.starts_with("low confidence: kernel counters have only means over intervals of "), "{note}");
    if !note.contains(" over intervals of 1") {
        return Err(note.to_owned());
    }
    let iops = &input["subjects"][0]["figures"][0];
    assert_eq!((&iops["quantity"], &iops["source"]), (&"iops".into(), &"disk_counters".into()));
    if (iops["value"].as_f64().unwrap() / 1200.0 - 1.0).abs() >= 0.1 {
        return Err(format!("{iops} instead of 1200"));
    }
    let plan = flat(&run(&mut fathom(["plan", "--from", &file, "--provider", "aws"])).expect_code(0).stdout);
    assert!(plan.contains("reads of 8 KiB") && plan.contains("low confidence: kernel counters"), "{plan}");
    Ok(())
}

#[test]
fn a_signal_or_a_lost_device_ends_sampling_with_its_results() {
    let Some(mut setup) = Setup::new("sampled-end") else { return };
    let scratch = Scratch::new();
    let file = scratch.text("a.counters");
    let start = || {
        let sampling = Running::start(&mut fathom(["capture", &setup.device, "--sample", "50ms", "-o", &file]));
        wait_for("samples", || scratch.path("a.counters").metadata().is_ok_and(|file| file.len() > 1000));
        sampling
    };
    let sampling = start();
    sampling.signal("INT");
    let outcome = sampling.end().expect_code(130);
    assert!(
        outcome.stdout.contains("ended by a signal") && outcome.stdout.contains("not measured"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains(&format!("fathom plan --from {file}")) || !outcome.stdout.contains("IOPS over"));
    std::fs::remove_file(&file).unwrap();
    let sampling = start();
    setup.detach();
    let outcome = sampling.end().expect_code(3);
    assert!(flat(&outcome.stdout).contains("ended because the device disappeared"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("/stat: the device was detached") && outcome.stderr.contains("help: "));
    let name = setup.device.trim_start_matches("/dev/");
    let outcome = run(&mut fathom(["capture", "--sample", name])).expect_code(2);
    assert!(outcome.stderr.contains("write DEVICE before --sample"), "{}", outcome.stderr);
    let outcome = run(&mut fathom(["capture", &setup.device, "--sample", "--pid", "1"])).expect_code(2);
    assert!(outcome.stderr.contains("--pid cannot be used with --sample: "), "{}", outcome.stderr);
}

//! How commands end on signals, on failures, and when a target never answers.
//!
//! Each test names the behaviour of the release build of f52613e.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common;
use crate::common::cases::cases;
use crate::common::host::{Miss, timed, within};
use crate::common::json::Json;
use crate::common::{
    Outcome, Running, Scratch, at_once, blocks_with_data, fathom, happens, has_worker, require, run, wait_for,
    with_more_time, words,
};

/// A job without a device that runs until it is stopped.
const ENDLESS: &str = "--name=n --ioengine=null --rw=randread --bs=4k --size=1g --iodepth=8 --time_based --runtime=600";

/// The same with 500 operations per second: for tests that do not depend on the load of the processors.
fn slowly() -> String {
    format!("{ENDLESS} --rate_iops=500")
}

fn command(line: &str) -> Command {
    fathom(words(line))
}

fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// Returns a command for a run that writes its events to the file `events` of a directory.
fn watched(line: &str, directory: &Scratch) -> Command {
    // Those of an earlier run would be taken for those of this one.
    let _ = std::fs::remove_file(directory.path("events"));
    command(&format!("{line} --events {}", directory.text("events")))
}

/// Waits until a run completes no more operations, by its events.
fn wait_for_silence(directory: &Scratch) {
    wait_for("silence", || {
        let text = directory.read("events");
        let ios: Vec<&str> = text.split("\"ios\":").skip(1).filter_map(|rest| rest.split(',').next()).collect();
        matches!(ios.as_slice(), [.., before, now] if before == now)
    });
}

/// Reports whether a run was measured to its end: a busy host stops its target too late.
fn is_measured(outcome: &Outcome) -> bool {
    matches!(outcome.code(), Some(0 | 4))
}

const TOO_LATE: &str = "the run had ended when its target stopped";

/// Reports whether a process is a zombie: it has exited, although the kernel may still hold one of its threads.
fn has_exited(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z'))
}

/// A directory for sockets, whose paths must be short, and for servers.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::Builder::new().prefix("fathom-").tempdir().expect("a temporary directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn serve(&self, line: &str) -> Command {
        let mut command = command(&format!("serve custom,size=64MiB,iops=100000,latency=50us {line}"));
        command.env("XDG_RUNTIME_DIR", self.0.path());
        command
    }

    /// Starts a server at the socket `s`. Returns it with the address of its export.
    #[track_caller]
    fn export(&self) -> (Running, String) {
        let socket = self.path("s");
        let server = Running::serve(self.serve("").arg("--socket").arg(&socket), &socket);
        (server, format!("nbd+unix:///?socket={}", socket.display()))
    }

    /// Starts a server with a block device. Returns it with the device.
    #[track_caller]
    fn device(&self) -> (Running, String) {
        let server = Running::start(&mut self.serve("--device"));
        wait_for("a device", || !self.loops().is_empty());
        let device = self.loops().remove(0);
        (server, device)
    }

    fn loops(&self) -> Vec<String> {
        let output = Command::new("losetup").args(["--list", "--noheadings", "--output", "NAME,BACK-FILE"]).output();
        let table = String::from_utf8_lossy(&output.expect("losetup is installed").stdout).into_owned();
        let ours = table.lines().filter(|line| line.contains(&self.0.path().display().to_string()));
        ours.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
    }

    /// Returns the sockets, mounts and devices that servers of this directory have left.
    fn left(&self) -> Vec<String> {
        let place = self.0.path().display().to_string();
        let mounts = std::fs::read_to_string("/proc/self/mounts").expect("there is /proc");
        let mut left: Vec<String> = mounts.lines().filter(|line| line.contains(&place)).map(str::to_owned).collect();
        for directory in [self.0.path().to_owned(), self.path("fathom")] {
            let names = std::fs::read_dir(directory).into_iter().flatten().flatten();
            left.extend(names.map(|entry| entry.path().display().to_string()));
        }
        left.retain(|name| *name != self.path("fathom").display().to_string());
        left.extend(self.loops());
        left
    }
}

/// f52613e killed the process at the second signal: nothing was printed and the file of `-o` stayed empty.
#[test]
fn a_second_signal_lost_all_results() {
    for (first, second, gap_ms, code) in [("INT", "INT", 0, 130), ("INT", "INT", 100, 130), ("TERM", "HUP", 30, 143)] {
        let scratch = Scratch::new();
        let line = format!("run {} --numjobs=2 --format json -o out.json", slowly());
        let mut running = Running::start(watched(&line, &scratch).current_dir(&scratch));
        running.wait_for_operations(scratch.path("events"));
        running.signal(first);
        pause(gap_ms);
        running.signal(second);
        let outcome = running.end().expect_code(code);
        let file = Json::read(&scratch.read("out.json"));
        for document in [Json::read(&outcome.stdout), file] {
            assert_eq!(document.text("outcome"), "interrupted");
            assert!(document.whole("jobs/0/result/read/ios") > 0, "{first} {second}: {}", outcome.stdout);
            assert_eq!(document.find("stuck").map(|_| ()), None, "nothing was stuck");
        }
        let events = scratch.read("events");
        assert!(events.lines().last().unwrap_or_default().contains("interrupted"), "{events}");
    }
}

/// f52613e knew no SIGHUP: closing the terminal killed it and its results.
#[test]
fn a_closed_terminal_lost_all_results() {
    let scratch = Scratch::new();
    let line = format!("run {ENDLESS} --format json -o out.json");
    let mut running = Running::start(watched(&line, &scratch).current_dir(&scratch));
    running.wait_for_operations(scratch.path("events"));
    running.signal("HUP");
    let outcome = running.end().expect_code(129);
    assert_eq!(Json::read(&outcome.stdout).text("outcome"), "interrupted");
    assert!(std::fs::metadata(scratch.path("out.json")).unwrap().len() > 100);
}

/// SIGHUP stays ignored under `nohup`, as with f52613e: the first signal that counts is the next one.
#[test]
fn nohup_still_works() {
    let shell = format!("trap '' HUP; exec {} run {ENDLESS} --format json", env!("CARGO_BIN_EXE_fathom"));
    let running = Running::start(Command::new("sh").args(["-c", &shell]).env("FATHOM_NO_RECORD", "1"));
    wait_for("its worker", || running.has_worker("n"));
    running.signal("HUP");
    running.signal("INT");
    let outcome = running.end().expect_code(130);
    assert_eq!(Json::read(&outcome.stdout).text("outcome"), "interrupted");
}

/// Two signals to each command that measures or computes. f52613e died at the second one without output.
#[test]
fn each_command_ends_soon_after_two_signals() {
    let on = "--on custom,size=1GiB,iops=20000,latency=100us";
    let jobs = "--name=n --rw=randread --bs=4k --iodepth=8 --time_based --runtime=100000";
    for (line, code) in [
        (format!("sim {on} {jobs} --format json"), 130),
        (format!("run {on} {jobs} --format json"), 130),
        (format!("run {ENDLESS} --repeat 3 --format json"), 130),
        ("sweep --ioengine=null --rw=randread --size=1g --format json".to_owned(), 130),
        (format!("fio {ENDLESS} --output-format=json"), 128),
    ] {
        let scratch = Scratch::new();
        let running = Running::start(command(&line).current_dir(&scratch));
        wait_for("its handlers", || running.handles_signals());
        pause(200);
        running.signal("INT");
        pause(50);
        running.signal("INT");
        // None of them would end by itself within the time limit of programs, except for the sweep.
        let outcome = running.end().expect_code(code);
        let text = outcome.stdout.replace("fio: terminating on signal 2\n", "");
        if !text.is_empty() {
            Json::read_after_notes(&text);
        }
        assert!(!text.is_empty() || line.starts_with("sweep"), "{line}: {outcome:?}");
    }
}

/// A model with one operation per second and 4096 in flight: f52613e waited an hour for all of them.
#[test]
fn a_signal_waited_for_a_slow_model() {
    let scratch = Scratch::new();
    let line = "run --on custom,size=1GiB,iops=1,latency=1ms --name=n --rw=randread --iodepth=4096 --time_based \
                --runtime=600 --grace 200ms --format json";
    let running = Running::start(&mut watched(line, &scratch));
    wait_for("its progress", || {
        scratch.path("events").exists() && scratch.read("events").contains("\"event\":\"progress\"")
    });
    running.signal("INT");
    let outcome = running.end().expect_code(130);
    assert_eq!(Json::read(&outcome.stdout).text("outcome"), "interrupted");
}

/// Signals in every phase of a run: before its first operation, in its ramp, in a later stage.
#[test]
fn a_signal_in_any_phase_ends_the_run() {
    let first = ENDLESS.replace("--time_based --runtime=600", "--number_ios=1000");
    let slowly = slowly();
    for (line, worker, ios) in [
        (format!("{slowly} --startdelay=3000"), "n", Some(false)),
        (format!("{slowly} --ramp_time=3000"), "n", None),
        (format!("{first} --name=second {} --stonewall", &slowly[8..]), "second", Some(true)),
    ] {
        let running = Running::start(&mut command(&format!("run {line} --format json")));
        wait_for("its worker", || running.has_worker(worker));
        pause(300);
        running.signal("TERM");
        let outcome = running.end().expect_code(143);
        let document = Json::read(&outcome.stdout);
        assert_eq!(document.text("outcome"), "interrupted");
        let measured = document.whole("jobs/0/result/read/ios") > 0;
        assert!(ios.is_none_or(|ios| ios == measured), "{line}: {}", outcome.stdout);
    }
}

/// Checks the exit code, the outcome and the stuck operations of a run on an unresponsive target, in JSON and on
/// standard error.
#[track_caller]
fn expect_stuck(outcome: &Outcome, file: &str, kinds: &[&str]) {
    assert_eq!(outcome.code(), Some(3), "{outcome:#?}");
    let document = Json::read(&outcome.stdout);
    assert_eq!(document.text("outcome"), "interrupted");
    assert!(document.whole("jobs/0/result/read/ios") + document.whole("jobs/0/result/write/ios") > 0);
    let stuck = document.items("stuck");
    assert!(!stuck.is_empty());
    for one in stuck {
        assert_eq!((one.text("job"), one.text("file")), ("x", file));
        assert!(kinds.contains(&one.text("kind")), "{}", one.text("kind"));
        assert!(one.whole("waited_ns") >= 400_000_000 && one.whole("offset") % 4096 == 0, "{one:?}");
    }
    let line = format!("of {file} has not completed after");
    assert!(outcome.stderr.contains(&line) && outcome.stderr.contains("--grace"), "{}", outcome.stderr);
}

/// f52613e waited forever: a run on an export whose server was stopped had to be killed, and its results were lost.
#[test]
fn a_run_on_an_export_that_never_answers_did_not_end() {
    let (place, scratch) = (Place::new(), Scratch::new());
    let (server, uri) = place.export();
    let start = |seconds: u32| {
        let line = format!(
            "run --name=x --ioengine=nbd --uri={uri} --rw=randread --bs=4k --iodepth=4 --time_based --runtime={seconds} \
             --grace 500ms --format json"
        );
        let mut running = Running::start(watched(&line, &scratch).current_dir(place.0.path()));
        running.wait_for_operations(scratch.path("events"));
        server.signal("STOP");
        running
    };
    with_more_time(|factor| {
        let outcome = start(2 * factor).end();
        server.signal("CONT");
        if is_measured(&outcome) {
            return Err(TOO_LATE.to_owned());
        }
        expect_stuck(&outcome, &uri, &["read"]);
        Ok(())
    });
    // The grace period applies after a signal, too.
    let running = start(600);
    wait_for_silence(&scratch);
    running.signal("INT");
    let outcome = running.end().expect_code(130);
    server.signal("CONT");
    assert_eq!(Json::read(&outcome.stdout).items("stuck").len(), 4, "{}", outcome.stderr);
}

/// A kernel loop device over a FUSE file whose server is stopped, so that threads hang in the kernel, some of them
/// uninterruptibly. f52613e waited forever with every engine; killed, it left no results.
#[test]
fn a_run_on_a_device_that_never_answers_did_not_end() {
    require!(Root, Fuse, NoKernelNbd);
    let cases = [
        ("psync", 0, ["read", "close"]),
        ("psync", 1, ["read", "close"]),
        ("libaio", 1, ["read", "close"]),
        ("io_uring", 1, ["read", "close"]),
        ("psync --io_submit_mode=offload --iodepth=4", 0, ["read", "close"]),
    ];
    at_once(&cases, |(engine, direct, kinds)| {
        let place = Place::new();
        let (server, device) = place.device();
        with_more_time(|factor| {
            let scratch = Scratch::new();
            let line = format!(
                "run --name=x --filename={device} --rw=randread --bs=4k --ioengine={engine} --direct={direct} --time_based \
                 --runtime={} --grace 500ms --format json -o {}",
                2 * factor,
                scratch.text("out.json")
            );
            let mut running = Running::start(&mut watched(&line, &scratch));
            running.wait_for_operations(scratch.path("events"));
            server.signal("STOP");
            let saved = || std::fs::read_to_string(scratch.path("out.json")).unwrap_or_default();
            let is_saved = happens(|| saved().ends_with("}\n"));
            // A process cannot exit before its io_uring operations have completed.
            let (exited, file) = (*engine == "io_uring" || exits(&running), saved());
            server.signal("CONT");
            let outcome = running.end();
            if is_measured(&outcome) {
                return Err(TOO_LATE.to_owned());
            }
            assert!(is_saved && exited, "{engine} did not end: {outcome:#?}");
            expect_stuck(&outcome, &device, kinds);
            let stuck = |text: &str| Json::read(text).items("stuck").len();
            assert_eq!(stuck(&file), stuck(&outcome.stdout));
            Ok(())
        });
        end(server, &place);
    });
}

/// Returns the exit code and the kind of the first stuck operation of a run on a stopped server.
fn stuck_first(outcome: &Outcome) -> (Option<i32>, String) {
    let document = Json::read(&outcome.stdout);
    (outcome.code(), document.items("stuck").first().map_or("", |one| one.text("kind")).to_owned())
}

/// Ends a server, which removes its devices.
#[track_caller]
fn end(server: Running, place: &Place) {
    server.signal("TERM");
    server.end().expect_code(0);
    assert_eq!(place.left(), [""; 0]);
}

/// Reports whether a process exits although its target is unresponsive. The kernel may keep the process, but not its
/// results.
fn exits(running: &Running) -> bool {
    happens(|| has_exited(running.pid()))
}

/// An `fsync` of the job, and the one before verification reads, which was reported as unknown.
#[test]
fn a_stuck_sync_is_named() {
    require!(Root, Fuse, NoKernelNbd);
    let cases = [
        ("--fsync=1 --time_based --runtime=", "fsync"),
        ("--size=1m --verify=crc32c --runtime=1 --startdelay=", "fdatasync"),
    ];
    at_once(&cases, |(options, kind)| {
        let place = Place::new();
        let (server, device) = place.device();
        with_more_time(|factor| {
            let line = format!(
                "run --no-record --allow-destroy={device} --name=x --filename={device} --rw=write --bs=4k \
                 --ioengine=psync {options}{factor} --grace 500ms --format json"
            );
            let running = Running::start(&mut command(&line));
            wait_for("its worker", || running.has_worker("x"));
            // Time to open the device. If it is too long or too short, more is taken.
            pause(500 * u64::from(factor));
            server.signal("STOP");
            let exited = exits(&running);
            server.signal("CONT");
            let outcome = running.end();
            assert!(exited, "{options}: {outcome:#?}");
            if is_measured(&outcome) {
                return Err(format!("{options}: {TOO_LATE}"));
            }
            let (code, stuck) = stuck_first(&outcome);
            if stuck == "open" {
                return Err(format!("{options}: the device was not open when the server stopped"));
            }
            assert_eq!((code, stuck.as_str()), (Some(3), *kind), "{options}: {}", outcome.stderr);
            Ok(())
        });
        end(server, &place);
    });
}

/// A later stage opens a file whose server is unresponsive.
#[test]
fn a_stuck_open_is_named() {
    require!(Root, Fuse, NoKernelNbd);
    let place = Place::new();
    let (server, _) = place.device();
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("there is /proc");
    let mut files = mounts.lines().filter_map(|line| line.split(' ').nth(1));
    let file =
        files.find(|file| Path::new(file).starts_with(place.0.path())).expect("the server has a mount").to_owned();
    with_more_time(|factor| {
        let line = format!(
            "run --no-record {} --name=x --stonewall --ioengine=psync --filename={file} --rw=read --bs=4k --size=1m \
             --runtime=1 --time_based --grace 500ms --format json",
            slowly().replace("600", &format!("{}ms", 1500 * factor))
        );
        let mut running = Running::start(&mut command(&line));
        wait_for("its worker", || running.has_worker("n") || running.has_ended());
        server.signal("STOP");
        let is_first_stage = running.has_worker("n");
        let outcome = running.end();
        server.signal("CONT");
        if !is_first_stage {
            return Err(TOO_LATE.to_owned());
        }
        assert_eq!(stuck_first(&outcome), (Some(3), "open".to_owned()), "{}", outcome.stderr);
        assert!(Json::read(&outcome.stdout).whole("jobs/0/result/read/ios") > 0, "the first stage has its results");
        Ok(())
    });
    end(server, &place);
}

/// Files are written before a run, on a filesystem whose device is unresponsive.
#[test]
fn a_stuck_layout_ends_with_a_signal() {
    require!(Root, Fuse, NoKernelNbd);
    let place = Place::new();
    let (server, device) = place.device();
    common::devices::tool("mkfs.ext4", &["-q", "-E", "nodiscard", &device]);
    let directory = place.path("m").display().to_string();
    std::fs::create_dir(&directory).expect("a directory");
    common::devices::tool("mount", &[&device, &directory]);
    // Brings into memory what the checks before the run read.
    std::fs::write(place.path("m/other"), "x").expect("a file");
    common::devices::tool("sync", &["-f", &directory]);
    server.signal("STOP");
    let line = format!("run --no-record --name=x --directory={directory} --size=32m --rw=read --grace 500ms");
    let running = Running::start(&mut command(&line));
    wait_for("its handlers", || running.handles_signals());
    pause(1000);
    running.signal("INT");
    let exited = exits(&running);
    server.signal("CONT");
    let outcome = running.end();
    common::devices::tool("umount", &[&directory]);
    std::fs::remove_dir(&directory).expect("it is empty");
    assert!(exited, "{outcome:#?}");
    assert_eq!(outcome.code(), Some(130), "{outcome:#?}");
    assert!(outcome.stderr.contains("not respond") || outcome.stderr.contains("without results"), "{}", outcome.stderr);
    end(server, &place);
}

/// The result states the blocks checked so far, and that others were not checked.
#[test]
fn a_signal_during_verification_keeps_the_checked_blocks() {
    at_once(&[("INT", 130), ("TERM", 143)], |(signal, code)| {
        let place = Place::new();
        let socket = place.path("s").display().to_string();
        // Reading 2048 blocks back takes ten seconds.
        let serve = format!("serve custom,size=16MiB,read_iops=200,latency=50us --socket {socket}");
        let _server = Running::serve(command(&serve).env("XDG_RUNTIME_DIR", place.0.path()), &socket);
        let done = |kind: &str| {
            // Each look is a start of the program.
            pause(50);
            let stats = run(&mut fathom(["serve", "--format", "json", "--stats", &socket])).expect_clean().stdout;
            let stats = Json::read(&stats);
            let of = stats.items("exports/0/kinds").iter().find(|one| one.text("kind") == kind);
            of.map_or(0, |of| of.whole("operations"))
        };
        let line = format!(
            "run --no-record --name=x --ioengine=nbd --uri=nbd+unix:///?socket={socket} --rw=write --bs=4k --size=8m \
             --verify=crc32c --format json"
        );
        let running = Running::start(command(&line).current_dir(place.0.path()));
        wait_for("the last write", || done("write") == 2048);
        // What is on the export is read before the run, too.
        let before = done("read");
        wait_for("verification", || done("read") > before);
        running.signal(signal);
        let outcome = running.end().expect_code(*code);
        let document = Json::read(&outcome.stdout);
        let checked = document.whole("jobs/0/verified/checked");
        assert!((1..2048).contains(&checked), "{checked} of 2048: {}", outcome.stdout);
        assert!(document.find("jobs/0/verified/unchecked").is_some(), "{}", outcome.stdout);
    });
}

/// Results from before the target was stuck are kept, and the suite can be resumed.
#[test]
fn a_stuck_suite_ends() {
    require!(Root, Fuse, NoKernelNbd);
    let place = Place::new();
    let (server, device) = place.device();
    with_more_time(|factor| {
        let (scratch, scale) = (Scratch::new(), (0.05 * f64::from(factor)).min(1.0));
        let state = scratch.text("state");
        let line = format!(
            "suite run ai-inference --target {device} --size 32m --scale {scale} --grace 500ms --state {state} \
             --format json"
        );
        let mut running = Running::start(&mut command(&line));
        wait_for("its state", || scratch.path("state").exists() || running.has_ended());
        pause(1000);
        server.signal("STOP");
        let exited = exits(&running);
        server.signal("CONT");
        let outcome = running.end();
        assert!(exited, "{outcome:#?}");
        if is_measured(&outcome) {
            return Err(TOO_LATE.to_owned());
        }
        assert_eq!(outcome.code(), Some(3), "{outcome:#?}");
        assert!(outcome.stderr.contains("has not completed after"), "{}", outcome.stderr);
        Ok(())
    });
    end(server, &place);
}

/// f52613e: `sweep` and `suite` waited forever, too.
#[test]
fn a_sweep_on_an_export_that_never_answers_did_not_end() {
    let place = Place::new();
    let (server, uri) = place.export();
    with_more_time(|factor| {
        let line = format!(
            "sweep --ioengine=nbd --uri={uri} --rw=randread --time-limit {}s --grace 300ms --format json",
            20 * factor
        );
        let running = Running::start(command(&line).current_dir(place.0.path()));
        wait_for("its handlers", || running.handles_signals());
        pause(1000 * u64::from(factor));
        server.signal("STOP");
        let outcome = running.end();
        server.signal("CONT");
        // Earlier results are kept.
        let has_results = !outcome.stdout.is_empty() && !Json::read(&outcome.stdout).items("sweeps").is_empty();
        if is_measured(&outcome) || !has_results {
            return Err(format!("the server did not stop within the sweep: {outcome:#?}"));
        }
        let outcome = outcome.expect_code(3);
        assert!(outcome.stderr.contains("has not completed after"), "{}", outcome.stderr);
        Ok(())
    });
}

/// f52613e died of SIGBUS and lost the results of all workers.
#[test]
fn a_file_cut_short_under_a_mapping_killed_the_process() {
    at_once(&["randread", "randwrite"], |rw| {
        with_more_time(|factor| {
            let scratch = Scratch::new();
            std::fs::write(scratch.path("data"), vec![7; 8 << 20]).unwrap();
            let line = format!(
                "run --allow-overwrite data --name=mapped --filename=data --size=8m --rw={rw} --ioengine=mmap --time_based \
                 --runtime=600 --name=other {} --format json",
                &slowly().replace("600", "1")[8..]
            );
            let running = Running::start(command(&line).current_dir(&scratch));
            wait_for("its worker", || running.has_worker("mapped"));
            pause(400 * u64::from(factor));
            std::fs::File::options().write(true).open(scratch.path("data")).unwrap().set_len(4096).unwrap();
            let outcome = running.end();
            assert!(outcome.code().is_some(), "{outcome:#?}");
            let document = Json::read(&outcome.stdout);
            let measured = |job: &Json| job.whole("result/read/ios") + job.whole("result/write/ios") > 0;
            if outcome.code() != Some(3) || !document.items("jobs").iter().all(measured) {
                return Err(format!("the file was cut short before the jobs had results: {outcome:#?}"));
            }
            assert!(outcome.stderr.contains("of data failed: Input/output error"), "{}", outcome.stderr);
            assert_eq!(document.text("outcome"), "failed");
            Ok(())
        });
    });
}

/// As with f52613e, the operation fails at the end of its file.
#[test]
fn a_file_cut_short_under_other_engines_is_an_error_with_its_place() {
    for engine in ["psync", "libaio", "io_uring"] {
        let scratch = Scratch::new();
        std::fs::write(scratch.path("data"), vec![7; 8 << 20]).unwrap();
        let line = format!(
            "run --name=reads --filename=data --size=8m --rw=randread --ioengine={engine} --time_based --runtime=600 \
             --format json"
        );
        let mut running = Running::start(watched(&line, &scratch).current_dir(&scratch));
        running.wait_for_operations(scratch.path("events"));
        std::fs::File::options().write(true).open(scratch.path("data")).unwrap().set_len(4096).unwrap();
        let outcome = running.end().expect_code(3);
        assert!(outcome.stderr.contains("of data failed: the offset is at or beyond the end"), "{}", outcome.stderr);
        assert!(Json::read(&outcome.stdout).whole("jobs/0/result/read/ios") > 0);
    }
}

/// Not tried on f52613e, which cannot be made to panic at a given place. By its code, a panic of the main thread waited
/// for all workers, lost their results and exited with 101.
#[test]
fn panics_keep_results_and_request_a_report() {
    let one = ENDLESS.replace("600", "300ms");
    let line = format!("run {one} --name=broken {} --format json", &one[8..]);
    for place in ["worker broken", "overseer", "main"] {
        let outcome = run(command(&line).env("fathom_panic_at", place)).expect_code(3);
        assert!(outcome.stderr.contains("please report it with the message above"), "{place}: {}", outcome.stderr);
        if place == "main" {
            assert_eq!(outcome.stdout, "");
            continue;
        }
        let document = Json::read(&outcome.stdout);
        assert_eq!((document.text("jobs/0/name"), document.items("jobs").len()), ("n", 2));
        assert!(document.whole("jobs/0/result/read/ios") > 0, "{place}: {}", outcome.stdout);
    }
}

/// Not tried on f52613e, which cannot be made to panic at a given place. By its code, the devices stayed.
#[test]
fn a_panicking_server_leaves_nothing() {
    let place = Place::new();
    let socket = place.path("s");
    let outcome = run(place.serve("").arg("--socket").arg(&socket).env("fathom_panic_at", "server")).expect_code(3);
    assert!(outcome.stderr.contains("please report it"), "{}", outcome.stderr);
    assert_eq!(place.left(), [""; 0]);
}

/// f52613e: SIGHUP killed the server; the socket, the mount and the loop device stayed.
#[test]
fn a_server_whose_terminal_closed_left_its_devices() {
    require!(Root, Fuse, NoKernelNbd);
    for signals in [&["HUP"][..], &["INT", "INT"], &["TERM", "TERM", "TERM"]] {
        let place = Place::new();
        let (server, _) = place.device();
        for signal in signals {
            if has_exited(server.pid()) {
                break;
            }
            let _ = Command::new("kill").args([&format!("-{signal}"), &server.pid().to_string()]).output();
            pause(5);
        }
        server.end();
        assert_eq!(place.left(), [""; 0], "{signals:?}");
    }
}

/// Time after which a server kills its command, unless a second signal arrives.
const COMMAND_GRACE: Duration = Duration::from_secs(5);

/// f52613e died at the second signal, leaving its socket and its command.
#[test]
fn a_server_whose_command_ignores_signals_left_its_socket() {
    for count in [2, 3] {
        timed(&format!("endings::a_server_whose_command_ignores_signals, {count} signals"), || ends_at_once(count));
    }
}

fn ends_at_once(count: u32) -> Result<(), Miss> {
    let place = Place::new();
    let began = Instant::now();
    run(place.serve("--run").arg("true")).expect_code(0);
    let plain = began.elapsed();
    let shell = format!("trap '' TERM; echo $$ > {}; while :; do sleep 0.1; done", place.path("pid").display());
    let server = Running::start(place.serve("--run").arg(shell));
    wait_for("its command", || std::fs::read_to_string(place.path("pid")).is_ok_and(|pid| pid.ends_with('\n')));
    let child: u32 = std::fs::read_to_string(place.path("pid")).unwrap().trim().parse().unwrap();
    let asked = Instant::now();
    for _ in 0..count {
        let _ = Command::new("kill").args(["-INT", &server.pid().to_string()]).output();
        pause(100);
    }
    server.end();
    let took = asked.elapsed();
    wait_for("the end of its command", || has_exited(child));
    std::fs::remove_file(place.path("pid")).unwrap();
    assert_eq!(place.left(), [""; 0], "{count} signals");
    within(took, COMMAND_GRACE).map_err(|failure| match plain > COMMAND_GRACE / 5 {
        true => Miss::Host(format!("a server without signals takes {plain:?}")),
        false => Miss::Failed(failure),
    })
}

/// f52613e printed before it saved: while the reader of its output paused, the file of `-o` stayed empty.
#[test]
fn a_paused_reader_kept_results_from_being_saved() {
    let scratch = Scratch::new();
    let line = format!("run {} --numjobs=60 --format json -o out.json", slowly().replace("600", "500ms"));
    let mut child = command(&line)
        .current_dir(&scratch)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let saved = || std::fs::read_to_string(scratch.path("out.json")).unwrap_or_default();
    wait_for("the results", || {
        assert!(child.try_wait().unwrap().is_none(), "nothing is saved");
        saved().ends_with("}\n")
    });
    assert!(saved().len() > 1 << 17, "the pipe would hold all of it");
    assert!(child.try_wait().unwrap().is_none(), "it prints to a pipe that is full");
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(matches!(child.wait().unwrap().code(), Some(0 | 4)));
    assert_eq!((text.len(), Json::read(&text).text("outcome")), (saved().len(), "completed"));
}

/// As with f52613e, a reader that exits early (`| head -1`) is no error, and files are complete.
#[test]
fn a_reader_that_exits_early_is_no_error() {
    let scratch = Scratch::new();
    let shell = format!(
        "{{ {} run {} --numjobs=60 --format json -o out.json 2>errors; echo $? > code; }} | head -1",
        env!("CARGO_BIN_EXE_fathom"),
        slowly().replace("600", "500ms")
    );
    let outcome = run(Command::new("sh").args(["-c", &shell]).current_dir(&scratch).env("FATHOM_NO_RECORD", "1"));
    assert_eq!(outcome.stdout, "{\n");
    assert!(["0\n", "4\n"].contains(&scratch.read("code").as_str()));
    assert_eq!(Json::read(&scratch.read("out.json")).text("outcome"), "completed");
    assert!(!scratch.read("errors").contains("panicked"));
}

/// Standard output is one complete document or empty, and servers leave nothing. With f52613e a second signal printed
/// nothing, and SIGHUP left sockets.
#[test]
fn signals_at_random_times_leave_complete_documents_and_no_sockets() {
    let mut state = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
    println!("seed {state}");
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..cases(6) {
        let place = Place::new();
        let serves = random(2) == 0;
        let mut command = match serves {
            true => {
                let mut serve = place.serve("--format json --socket");
                serve.arg(place.path("s"));
                serve
            }
            false => command(&format!("run {} --numjobs=3 --format json", ENDLESS.replace("600", "300ms"))),
        };
        let running = Running::start(command.current_dir(place.0.path()));
        pause(random(500));
        // Before this it has neither printed nor created anything.
        let had_begun = if serves { place.path("s.stats").exists() } else { has_worker(running.pid(), "n") };
        for _ in 0..=random(2) {
            let signal = ["-INT", "-TERM", "-HUP"][random(3) as usize];
            let _ = Command::new("kill").args([signal, &running.pid().to_string()]).output();
            pause(random(100));
        }
        let outcome = running.end();
        assert!(outcome.code().is_some() || !had_begun && outcome.stdout.is_empty(), "{outcome:?}");
        assert!(!had_begun || !outcome.stdout.is_empty(), "{outcome:?}");
        if !outcome.stdout.is_empty() {
            Json::read(&outcome.stdout);
        }
        if had_begun {
            assert_eq!(place.left(), [""; 0], "{outcome:?}");
        }
    }
}

#[test]
fn a_grace_period_needs_a_known_unit() {
    for (text, message) in [("10x", "is not a unit of time"), ("x", "not a unit"), ("-1s", "write a number and a unit")]
    {
        let outcome = run(&mut command(&format!("run {ENDLESS} --grace={text}"))).expect_code(2);
        assert!(outcome.stderr.contains(message), "{text}: {}", outcome.stderr);
    }
}

/// A second signal cuts no write short.
#[test]
fn blocks_are_complete_after_two_signals() {
    let scratch = Scratch::new();
    let line = "run --name=w --filename=data --size=4m --bs=64k --rw=write --ioengine=psync --verify=crc32c";
    let options = "--time_based --runtime=600 --do_verify=0 --format json";
    let running = Running::start(command(&format!("{line} {options}")).current_dir(&scratch));
    let file = scratch.path("data");
    wait_for("each block", || file.exists() && blocks_with_data(&file) == 1024);
    running.signal("INT");
    running.signal("INT");
    let interrupted = running.end().expect_code(130);
    let nonce = Json::read(&interrupted.stdout).whole("jobs/0/verified/nonces/0");
    let check = |nonce| run(command(&format!("{line} --verify_only --verify_nonce={nonce}")).current_dir(&scratch));
    let blocks = "64 blocks checked, 0 mismatches";
    let checked = check(nonce).expect_code(0);
    assert!(checked.stdout.contains(blocks), "{}", checked.stdout);
    check(nonce ^ 1).expect_code(1);
}

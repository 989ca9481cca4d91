//! `fathom run`: errors, files and exit codes.

use std::os::unix::fs::FileExt;
use std::process::Command;

use crate::common::devices::{LoopDevice, Mount, tool};
use crate::common::json::Json;
use crate::common::{Outcome, Running, Scratch, counter, fathom, fio, require, run, wait_for, words};

/// Returns a command for `fathom run` in a scratch directory.
fn measure(scratch: &Scratch, line: &str) -> Command {
    let mut command = fathom(["run"]);
    command.args(words(line)).current_dir(scratch);
    command
}

/// A small valid job.
const WRITES: &str = "--name=writes --filename=data --size=1m --bs=4k --rw=randwrite --ioengine=psync --end_fsync=1";
/// A job that runs until it is stopped.
const READS: &str = "--name=reads --filename=data --size=1m --rw=randread --ioengine=psync --time_based --runtime=3000";

/// Checks that a job was measured; the result of so short a job may be untrustworthy.
#[track_caller]
fn expect_measured(outcome: Outcome) -> Outcome {
    assert!(matches!(outcome.code(), Some(0 | 4)), "{outcome:#?}");
    outcome
}

#[test]
fn five_errors_are_five_diagnostics_with_their_places() {
    let scratch = Scratch::new();
    let text = "[global]\nsize=1m\n[one]\nrw=raed\nbs=4q\niodpth=3\nrwmixread=170\nruntime=10 sec\n";
    scratch.write("bad.fio", text);
    let outcome = run(&mut measure(&scratch, "bad.fio")).expect_code(2);
    for place in ["bad.fio:4:4", "bad.fio:5:5", "bad.fio:6:1", "bad.fio:7:11", "bad.fio:8:11"] {
        assert!(outcome.stderr.contains(place), "{place} is not named: {}", outcome.stderr);
    }
    assert_eq!(outcome.stderr.matches("error[").count(), 5, "{}", outcome.stderr);
    assert!(outcome.stderr.ends_with("fathom: 5 errors; nothing was touched\n"), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    assert_eq!(scratch.names(), ["bad.fio"]);
}

#[test]
fn explain_and_dry_run_touch_nothing() {
    for word in ["--show-jobs", "--dry-run"] {
        let scratch = Scratch::new();
        let outcome = run(&mut measure(&scratch, &format!("{WRITES} {word} -o result.json"))).expect_clean();
        assert!(outcome.stdout.contains("writes"), "{}", outcome.stdout);
        assert_eq!(scratch.names(), [""; 0], "{word}");
    }
}

#[test]
fn every_format_is_one_document() {
    for (format, starts) in [
        ("text", "ANSWER    "),
        ("json", "{\n"),
        ("fio", "writes: (g=0): "),
        ("fio-json", "{\n"),
        ("fio-json+", "{\n"),
        ("fio-terse", "3;fio-3.33;writes;"),
    ] {
        let scratch = Scratch::new();
        let outcome = expect_measured(run(&mut measure(&scratch, &format!("{WRITES} --format={format}"))));
        assert!(outcome.stdout.starts_with(starts), "{format}: {}", outcome.stdout);
        assert!(outcome.stdout.ends_with('\n'), "{format}");
        // A file that the run created and left was not reported.
        assert_eq!(outcome.stderr, "left behind: 1 MiB; remove it with: rm data\n", "{format}");
        if format.contains("json") {
            Json::read(&outcome.stdout);
        }
    }
}

/// Options next to a job file were defaults that the file silently overrode.
#[test]
fn options_next_to_a_job_file_apply_to_all_its_jobs() {
    let scratch = Scratch::new();
    let job = "[global]\nioengine=null\nsize=64k\n[a]\nrw=read\n[b]\nrw=write\nbs=4k\nstonewall\n";
    scratch.write("s.fio", job);
    let outcome = expect_measured(run(fathom(words("run s.fio --bs=16k --format json")).current_dir(&scratch)));
    let document = Json::read(&outcome.stdout);
    for place in ["jobs/0/result/read/ios", "jobs/1/result/write/ios"] {
        assert_eq!(document.whole(place), 4, "{place}");
    }
    assert!(
        outcome.stderr.starts_with("note[replaced]: `--bs=16k` replaces `bs=4k` of s.fio:8\n"),
        "{}",
        outcome.stderr
    );
    // fio treats them as defaults.
    let fio = run(fathom(words("fio s.fio --bs=16k --output-format=json")).current_dir(&scratch)).expect_code(0);
    assert_eq!(Json::read(&fio.stdout).whole("jobs/1/write/total_ios"), 16);
}

#[test]
fn outputs_are_written_by_file_extension() {
    let scratch = Scratch::new();
    let files = ["a.json", "a.fio.json", "a.csv", "a.md", "a.txt", "a.prom"];
    let outputs: String = files.iter().map(|file| format!(" -o {file}")).collect();
    expect_measured(run(&mut measure(&scratch, &format!("{WRITES}{outputs}"))));
    assert_eq!(Json::read(&scratch.read("a.json")).whole("schema"), 1);
    assert_eq!(Json::read(&scratch.read("a.fio.json")).whole("jobs/0/write/total_ios"), 256);
    assert!(scratch.read("a.csv").lines().nth(1).is_some_and(|row| row.starts_with("writes,0,1,write,256,")));
    assert!(scratch.read("a.md").starts_with("| job |"));
    assert!(scratch.read("a.txt").starts_with("ANSWER    "));
    assert!(scratch.read("a.prom").ends_with("# EOF\n"));
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_run() {
    for output in ["a.odt", "missing/a.json"] {
        let scratch = Scratch::new();
        let outcome = run(&mut measure(&scratch, &format!("{WRITES} -o {output}"))).expect_code(2);
        assert!(outcome.stderr.contains(output), "{}", outcome.stderr);
        assert_eq!(scratch.names(), [""; 0]);
    }
}

#[test]
fn files_that_do_not_fit_are_refused_before_writing() {
    let scratch = Scratch::new();
    let line = "--name=huge --filename=data --size=100t --rw=write --ioengine=psync";
    let outcome = run(&mut measure(&scratch, line)).expect_code(2);
    assert!(outcome.stderr.contains("100 TiB") && outcome.stderr.contains("free"), "{}", outcome.stderr);
    assert_eq!(scratch.names(), [""; 0]);
}

#[test]
fn a_full_filesystem_is_left_unchanged() {
    require!(Root);
    let scratch = Scratch::new();
    scratch.sparse("backing", 16 << 20);
    let device = LoopDevice::over(&scratch.path("backing"));
    tool("mkfs.ext4", &["-q", &device.path]);
    let mount = Mount::new(&device.path, scratch.path("small"));
    for rw in ["write", "read"] {
        let line = format!("--name=x --directory=small --size=64m --rw={rw} --ioengine=psync");
        run(&mut measure(&scratch, &line)).expect_code(2);
        let left: Vec<_> = std::fs::read_dir(&mount.at).expect("it is mounted").flatten().collect();
        assert!(left.iter().all(|entry| entry.file_name() == "lost+found"), "{rw}: {left:?}");
    }
}

/// Checks that a prepared device is refused, and written to with permission.
fn check_device_guard(prepare: impl Fn(&LoopDevice), named: &str) {
    let scratch = Scratch::new();
    scratch.sparse("backing", 16 << 20);
    let device = LoopDevice::over(&scratch.path("backing"));
    prepare(&device);
    let before = std::fs::read(&device.path).expect("root can open it");
    let line = format!("--name=x --filename={} --rw=write --size=1m --ioengine=psync", device.path);
    let outcome = run(&mut measure(&scratch, &line)).expect_code(2);
    assert!(outcome.stderr.contains(named), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(&format!("--allow-destroy={}", device.path)), "{}", outcome.stderr);
    run(&mut measure(&scratch, &format!("{line} --dry-run"))).expect_code(2);
    assert!(std::fs::read(&device.path).expect("root can open it") == before, "the device was written to");
    expect_measured(run(&mut measure(&scratch, &line.replace("=write", "=read"))));
    expect_measured(run(&mut measure(&scratch, &format!("{line} --allow-destroy={}", device.path))));
    assert!(std::fs::read(&device.path).expect("root can open it") != before, "nothing was written");
}

#[test]
fn a_filesystem_is_protected() {
    require!(Root);
    check_device_guard(|device| drop(tool("mkfs.ext4", &["-q", &device.path])), "ext");
}

#[test]
fn swap_space_is_protected() {
    require!(Root);
    check_device_guard(|device| drop(tool("mkswap", &[&device.path])), "swap");
}

#[test]
fn a_partition_table_is_protected() {
    require!(Root);
    check_device_guard(
        |device| {
            let file = std::fs::OpenOptions::new().write(true).open(&device.path).expect("root can open it");
            file.write_all_at(b"EFI PART\0\0\x01\0\x5c\0\0\0", 512).expect("it has room");
            file.sync_all().expect("it can be written");
        },
        "GPT",
    );
}

#[test]
fn an_empty_device_needs_no_permission() {
    require!(Root);
    let scratch = Scratch::new();
    scratch.sparse("backing", 4 << 20);
    let device = LoopDevice::over(&scratch.path("backing"));
    let line = format!("--name=x --filename={} --rw=write --size=1m --ioengine=psync", device.path);
    expect_measured(run(&mut measure(&scratch, &line)));
}

/// Neither the runtime nor the grace period is waited for: each is longer than a program of these tests may take.
#[test]
fn control_c_prints_what_was_measured_and_exits_130() {
    let scratch = Scratch::new();
    let line = format!("{READS} --grace=3000s --format=json --events=events");
    let mut running = Running::start(&mut measure(&scratch, &line));
    running.wait_for_operations(scratch.path("events"));
    running.signal("INT");
    let outcome = running.end().expect_code(130);
    let document = Json::read(&outcome.stdout);
    assert_eq!(document.text("outcome"), "interrupted");
    assert!(document.items("jobs").len() == 1);
    assert!(document.whole("jobs/0/result/read/ios") > 0, "{}", outcome.stdout);
}

#[test]
fn control_c_during_layout_removes_the_file() {
    let scratch = Scratch::new();
    let line = "--name=reads --filename=data --size=2g --rw=read --ioengine=psync";
    let mut running = Running::start(&mut measure(&scratch, line));
    wait_for("the file", || scratch.path("data").exists() || running.has_ended());
    let io = format!("/proc/{}/io", running.pid());
    let before = counter(&io, "wchar");
    running.signal("INT");
    let mut after = before;
    wait_for("the end", || {
        after = after.max(counter(&io, "wchar"));
        running.has_ended()
    });
    let outcome = running.end();
    assert!(after - before < 1 << 30, "{} bytes were written after the signal", after - before);
    assert_eq!(outcome.code(), Some(130), "{outcome:?}");
    assert_eq!(scratch.names(), [""; 0]);
}

#[test]
fn kill_leaves_no_process_and_no_other_file() {
    let scratch = Scratch::new();
    let running = Running::start(measure(&scratch, &format!("{READS} --numjobs=4")).env("TMPDIR", scratch.as_ref()));
    wait_for("its workers", || running.has_worker("reads"));
    let pid = running.pid();
    running.signal("KILL");
    let outcome = running.end();
    assert_eq!(outcome.code(), None);
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    let marker = scratch.as_ref().as_os_str().as_encoded_bytes().to_vec();
    for entry in std::fs::read_dir("/proc").expect("Linux").flatten() {
        let place = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        assert!(!place.as_os_str().as_encoded_bytes().starts_with(&marker), "{} still runs", entry.path().display());
    }
    assert_eq!(scratch.names(), ["data"]);
}

#[test]
fn a_failing_worker_keeps_the_results_of_others() {
    let scratch = Scratch::new();
    let common = "--format=json --ioengine=psync --size=64k --rw=write";
    scratch.write("file", "not a directory");
    let line = format!("{common} --name=bad --filename=file/x --name=good --filename=data");
    let outcome = run(&mut measure(&scratch, &line)).expect_code(3);
    assert!(outcome.stderr.contains("bad: ") && outcome.stderr.contains("file/x"), "{}", outcome.stderr);
    let document = Json::read(&outcome.stdout);
    assert_eq!(document.text("outcome"), "failed");
    assert_eq!(document.items("jobs").len(), 2);
    assert_eq!(std::fs::metadata(scratch.path("data")).expect("it was written").len(), 65536);
}

#[test]
fn a_flipped_byte_is_found() {
    for method in ["crc32c", "pattern"] {
        let scratch = Scratch::new();
        let pattern = if method == "pattern" { "--verify_pattern=0xdeadbeef" } else { "" };
        let line = format!("{WRITES} --randrepeat=1 --verify={method} {pattern}");
        expect_measured(run(&mut measure(&scratch, &format!("{line} --do_verify=0"))));
        expect_measured(run(&mut measure(&scratch, &format!("{line} --verify_only"))));
        flip_a_byte(&scratch, 20_480 + 3000);
        let outcome = run(&mut measure(&scratch, &format!("{line} --verify_only"))).expect_code(1);
        let message = &outcome.stderr;
        let place = if method == "pattern" { "23480" } else { "20480" };
        assert!(["data", place, "expected", "found"].iter().all(|word| message.contains(word)), "{method}: {message}");
    }
}

fn flip_a_byte(scratch: &Scratch, at: u64) {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(scratch.path("data")).expect("it was written");
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).expect("it is long enough");
    file.write_all_at(&[!byte[0]], at).expect("it can be written");
}

#[test]
fn logs_have_fios_names_and_columns() {
    require!(Fio);
    let line = "--name=x --filename=data --size=64k --bs=4k --rw=randrw --ioengine=psync --write_lat_log=l \
                --write_bw_log=l --write_iops_log=l --log_offset=1";
    for line in [line.to_owned(), line.replace("psync", "libaio"), format!("{line} --per_job_logs=0")] {
        let shape = |mut command: Command| {
            let scratch = Scratch::new();
            expect_measured(run(command.args(words(&line)).current_dir(&scratch)));
            let names = scratch.names().into_iter().filter(|name| name.ends_with(".log"));
            names.map(|name| columns(&scratch, name)).collect::<Vec<_>>()
        };
        let ours = shape(fathom(["fio"]));
        assert_eq!(ours, shape(fio([""; 0])), "{line}");
        assert_eq!(ours.len(), 5, "{ours:?}");
    }
}

/// Returns the name of a log, the number of its lines, and their distinct numbers of columns.
fn columns(scratch: &Scratch, name: String) -> (String, usize, Vec<usize>) {
    let text = scratch.read(&name);
    let mut columns: Vec<usize> = text.lines().map(|line| line.split(", ").count()).collect();
    let lines = columns.len();
    columns.dedup();
    (name, lines, columns)
}

#[test]
fn the_same_seed_writes_the_same_data() {
    let content = |seed: &str| {
        let scratch = Scratch::new();
        expect_measured(run(&mut measure(&scratch, &format!("{WRITES} --seed={seed}"))));
        std::fs::read(scratch.path("data")).expect("it was written")
    };
    let first = content("7");
    assert!(first == content("7"), "the same seed, other data");
    assert!(first != content("8"), "another seed, the same data");
}

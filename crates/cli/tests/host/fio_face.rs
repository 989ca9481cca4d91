//! `fathom fio` has fio's output, exit codes and errors.

use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::Duration;

use crate::common;
use crate::common::devices::{LoopDevice, Mount, tool};
use crate::common::host::timed;
use crate::common::json::Json;
use crate::common::pair::{ours, theirs};
use crate::common::{
    Running, Scratch, fathom, reads_of_worker, require, run, run_with_input, wait_for, with_more_time,
};

/// Returns the exit codes of both programs, each in its own directory.
fn codes(line: &str) -> (Option<i32>, Option<i32>) {
    let code = |command: fn(&Scratch, &str) -> Command| run(&mut command(&Scratch::new(), line)).code();
    (code(ours), code(theirs))
}

const READS: &str = "--name=reads --size=1m --rw=randread --ioengine=psync --time_based --runtime=20";

/// Starts a job of [`READS`], and waits until it has completed many reads, or has ended.
fn reading(scratch: &Scratch, options: &str) -> Running {
    let mut running = Running::start(&mut ours(scratch, &format!("{READS} {options}")));
    wait_for("reads", || reads_of_worker(running.pid(), "reads") >= 1000 || running.has_ended());
    running
}

/// Five jobs in three groups.
const GROUPS: &str = "\
[global]
ioengine=psync
size=64k
[one]
rw=write
filename=x1
runtime=10s
[two]
stonewall
rw=randread
filename=x2
numjobs=3
group_reporting
[three]
new_group
rw=read
filename=x3
numjobs=2
description=some words
[four]
rw=read
filename=x4
startdelay=10ms
[five]
stonewall
numjobs=2
bs=8k
rw=write
";

#[test]
fn exit_codes_are_fios() {
    require!(Fio);
    for (line, code) in [
        ("--name=x --size=64k --rw=write", 0),
        ("--name=x --size=64k --rw=wirte", 1),
        ("--name=x --size=64k --bs=banana", 1),
        ("--nosuch=1 --name=x", 1),
        ("missing.fio", 1),
        ("", 1),
        ("--name=x --size=64k --rw=write --readonly", 1),
        ("--name=x --size=64k --rw=randwrite --ioengine=null --readonly", 1),
        ("--readonly --name=x --size=64k --rw=randtrim --ioengine=null", 1),
        ("--readonly --name=x --size=64k --rw=randread --ioengine=null", 0),
        ("--name=x --size=64k --rw=write --directory=missing", 1),
        ("--name=x --size=64k --rw=write --filename=/dev/null/x --numjobs=3", 3),
        ("--name=a --filename=/dev/null/x --rw=read --size=4k --name=b --size=64k --rw=write", 1),
        ("--name=x --size=64k --rw=write --parse-only", 0),
        ("--version", 0),
        ("-v", 0),
        ("--help", 0),
    ] {
        assert_eq!(codes(line), (Some(code), Some(code)), "{line}");
    }
}

#[test]
fn the_exit_code_for_many_failures_is_255() {
    let line = "--name=x --size=64k --rw=write --filename=/dev/null/x --numjobs=300 --output-format=json";
    let outcome = run(&mut ours(&Scratch::new(), line)).expect_code(255);
    assert_eq!(Json::read(&outcome.stdout).items("jobs").len(), 300);
}

#[test]
fn a_job_that_cannot_start_keeps_the_results_of_others() {
    let line = "--output-format=json --size=64k --rw=write --name=a --filename=/dev/null/x --name=b";
    let outcome = run(&mut ours(&Scratch::new(), line)).expect_code(1);
    let document = Json::read(&outcome.stdout);
    assert_eq!(document.whole("jobs/0/error"), 20, "ENOTDIR");
    assert_eq!(document.whole("jobs/1/error"), 0);
    assert_eq!(document.whole("jobs/1/write/total_ios"), 16);
    assert!(outcome.stderr.contains("/dev/null/x"), "{}", outcome.stderr);
}

#[test]
fn a_missing_directory_is_refused_and_not_created() {
    for words in [["fio", "--ioengine=psync"], ["run", "--ioengine=psync"]] {
        let scratch = Scratch::new();
        let mut command = fathom(words);
        command.args(["--name=x", "--size=64k", "--rw=write", "--directory=missing"]).current_dir(&scratch);
        let outcome = run(&mut command).expect_code(if words[0] == "fio" { 1 } else { 2 });
        assert!(outcome.stderr.contains("missing is not a directory"), "{}", outcome.stderr);
        assert_eq!(scratch.names(), [""; 0]);
    }
}

#[test]
fn options_that_only_parse_jobs_touch_nothing() {
    for line in ["--readonly", "--parse-only", "--parse-only --showcmd"] {
        let scratch = Scratch::new();
        run(&mut ours(&scratch, &format!("--name=x --size=64k --rw=write {line}")));
        assert_eq!(scratch.names(), [""; 0], "{line}");
    }
}

#[test]
fn readonly_permits_reads() {
    let scratch = Scratch::new();
    scratch.write("data", vec![1; 65536]);
    let line = "--readonly --name=x --filename=data --rw=read --output-format=json";
    let outcome = run(&mut ours(&scratch, line)).expect_clean();
    assert_eq!(Json::read(&outcome.stdout).whole("jobs/0/read/total_ios"), 16);
}

#[test]
fn interrupted_runs_print_their_results_and_exit_with_128() {
    for signal in ["INT", "TERM"] {
        let scratch = Scratch::new();
        let running = reading(&scratch, "--runtime=3000 --output-format=json+");
        running.signal(signal);
        let outcome = running.end().expect_code(128);
        let document = Json::read(&outcome.stdout);
        assert!(document.whole("jobs/0/read/total_ios") > 0, "SIG{signal}");
        assert!(document.find("jobs/0/read/clat_ns/percentile").is_some(), "SIG{signal}");
    }
}

#[test]
fn sigusr1_prints_results_so_far_and_continues() {
    with_more_time(|factor| {
        let scratch = Scratch::new();
        let mut running = reading(&scratch, &format!("--runtime={} --output-format=json", 2 * factor));
        // Results of less than half a second have no samples of the bandwidth.
        std::thread::sleep(Duration::from_millis(700));
        if running.has_ended() {
            return Err("the run ended before the signal".to_owned());
        }
        running.signal("USR1");
        let outcome = running.end().expect_clean();
        let documents = Json::read_all(&outcome.stdout);
        let ios: Vec<u64> = documents.iter().map(|document| document.whole("jobs/0/read/total_ios")).collect();
        if ios.len() == 1 {
            return Err("one document only".to_owned());
        }
        assert!(ios.len() == 2 && 0 < ios[0] && ios[0] < ios[1], "{ios:?}");
        assert_eq!(documents[0].shape(), documents[1].shape());
        Ok(())
    });
}

#[test]
fn status_interval_prints_one_document_after_another() {
    timed("fio_face::status_interval_prints_one_document_after_another", || {
        let line = format!("{READS} --runtime=2 --output-format=json --status-interval=500ms");
        let outcome = run(&mut ours(&Scratch::new(), &line)).expect_clean();
        let documents = Json::read_all(&outcome.stdout).len();
        if (3..=5).contains(&documents) { Ok(()) } else { Err(format!("{documents} documents")) }
    });
}

#[test]
fn the_opening_lines_come_before_any_results() {
    let line = format!("{READS} --runtime=2 --status-interval=500ms");
    let outcome = run(&mut ours(&Scratch::new(), &line)).expect_clean();
    assert!(outcome.stdout.starts_with("reads: (g=0): rw=randread, "), "{}", outcome.stdout);
    assert_eq!(outcome.stdout.matches("Starting 1 process\n").count(), 1);
}

#[test]
fn formats_are_written_to_the_file_in_fios_order() {
    require!(Fio);
    let line = "--name=x --size=64k --rw=write --output-format=normal,json,terse --output=results";
    let landmarks = |command: fn(&Scratch, &str) -> Command| {
        let scratch = Scratch::new();
        let outcome = run(&mut command(&scratch, line)).expect_clean();
        assert_eq!(outcome.stdout, "");
        let text = scratch.read("results");
        let marks = ["x: (g=0)", "Starting", "3;fio-3.33;x;", "{", "}", "x: (groupid=0", "Run status", "Disk stats"];
        let mark = |line: &str| marks.iter().find(|mark| line.starts_with(*mark)).map(ToString::to_string);
        text.lines().filter_map(mark).collect::<Vec<_>>()
    };
    let ours = landmarks(ours);
    assert_eq!(ours, landmarks(theirs));
    // A memory filesystem has no disk statistics.
    assert!(ours.len() >= 7, "{ours:?}");
}

#[test]
fn terse_lines_have_as_many_fields_as_fios() {
    require!(Fio);
    for version in 2..=5 {
        let line = format!("--name=x --size=64k --rw=randrw --minimal --terse-version={version}");
        let fields = |command: fn(&Scratch, &str) -> Command| {
            let outcome = run(&mut command(&Scratch::new(), &line)).expect_clean();
            let lines: Vec<usize> = outcome.stdout.lines().map(|line| line.split(';').count()).collect();
            lines
        };
        assert_eq!(fields(ours), fields(theirs), "version {version}");
    }
}

#[test]
fn showcmd_prints_fios_line() {
    require!(Fio);
    let scratch = Scratch::new();
    scratch.write("groups.fio", GROUPS);
    let ours = run(&mut ours(&scratch, "groups.fio --showcmd")).expect_clean();
    let theirs = run(&mut theirs(&scratch, "groups.fio --showcmd")).expect_clean();
    assert_eq!(ours.stdout, theirs.stdout);
    assert_eq!(scratch.names(), ["groups.fio"]);
}

#[test]
fn version_is_that_of_the_emulated_fio() {
    let outcome = run(&mut ours(&Scratch::new(), "--version")).expect_clean();
    assert_eq!(outcome.stdout, "fio-3.33\n");
}

#[test]
fn a_program_named_fio_behaves_as_fio() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fathom"), scratch.path("fio")).expect("the name is free");
    let outcome = run(Command::new(scratch.path("fio")).arg("--version")).expect_clean();
    assert_eq!(outcome.stdout, "fio-3.33\n");
}

/// Outlines a document: name, group, options and operations of each job.
fn outline(document: &Json) -> Vec<String> {
    let mut lines = vec![format!("{:?}", document.find("global options"))];
    for job in document.items("jobs") {
        let ios: u64 = ["read", "write"].iter().map(|kind| job.whole(&format!("{kind}/total_ios"))).sum();
        let echo = job.find("job options");
        lines.push(format!("{} {} {ios} {echo:?}", job.text("jobname"), job.whole("groupid")));
    }
    lines
}

/// Runs a command line with both programs on the same files and compares the outlines.
#[track_caller]
fn same_outline(line: &str, files: &[(&str, &str)], input: &str) {
    let outline_of = |command: fn(&Scratch, &str) -> Command| {
        let scratch = Scratch::new();
        for (name, text) in files {
            scratch.write(name, text);
        }
        let command = &mut command(&scratch, &format!("--output-format=json {line}"));
        let outcome = run_with_input(command.stdin(std::process::Stdio::piped()), input).expect_clean();
        outline(&Json::read_after_notes(&outcome.stdout))
    };
    let ours = outline_of(ours);
    assert_eq!(ours, outline_of(theirs), "{line}");
    assert!(ours.len() > 1, "{line}: no jobs");
}

#[test]
fn jobs_are_grouped_and_echoed_as_fio_does() {
    require!(Fio);
    let every_entry = GROUPS.replace("group_reporting\n", "");
    same_outline("groups.fio", &[("groups.fio", GROUPS)], "");
    same_outline("groups.fio", &[("groups.fio", &every_entry)], "");
    same_outline("groups.fio --section=three --section=one", &[("groups.fio", GROUPS)], "");
}

#[test]
fn job_files_are_found_as_fio_finds_them() {
    require!(Fio);
    let included = ("more.fio", "size=32k\nfilename=x9\n");
    let including = ("main.fio", "[global]\nioengine=psync\ninclude more.fio\n[z]\nrw=read\nbs=2k\n");
    same_outline("main.fio", &[included, including], "");
    same_outline("groups.fio second.fio", &[("groups.fio", GROUPS), ("second.fio", "[z]\nsize=8k\nrw=write\n")], "");
    same_outline("-", &[], "[in]\nsize=64k\nrw=write\n");
    same_outline("--name=a --size=8k --rw=write --bs=2k --name=b --stonewall --size=16k --rw=read", &[], "");
}

#[test]
fn clones_with_files_of_different_sizes_are_reported_as_by_fio() {
    require!(Fio);
    let sizes = [("x.0.0", "a".repeat(4096)), ("x.1.0", "b".repeat(8192)), ("x.2.0", "c".repeat(16384))];
    let files: Vec<(&str, &str)> = sizes.iter().map(|(name, content)| (*name, content.as_str())).collect();
    same_outline("--name=x --numjobs=3 --rw=read --bs=4k", &files, "");
}

#[test]
fn offsets_and_sizes_bound_the_same_regions_as_fios() {
    require!(Fio);
    let head = "--name=x --filename=x --rw=write --bs=64k --ioengine=psync";
    for line in [
        "--size=1m --offset=512k",
        "--filesize=1m --offset=512k",
        "--size=1m --filesize=2m --offset=1536k",
        "--size=50% --filesize=2m",
        "--filesize=1m --numjobs=4 --offset_increment=20%",
        "--size=1m --numjobs=3 --offset_increment=20%",
        "--size=1m --io_size=3m --filesize=2m",
        "--filesize=1m --io_size=512k --offset=256k",
    ] {
        let after = |command: fn(&Scratch, &str) -> Command| {
            let scratch = Scratch::new();
            // fio warns on standard error if a disk disappears meanwhile, such as a loop device of another test.
            let outcome = run(&mut command(&scratch, &format!("{head} --output-format=json {line}"))).expect_code(0);
            let size = std::fs::metadata(scratch.path("x")).expect("it was written").len();
            (outline(&Json::read_after_notes(&outcome.stdout)), size)
        };
        assert_eq!(after(ours), after(theirs), "{line}");
    }
}

#[test]
fn engines_that_do_not_queue_have_no_submission_latency() {
    let line = "--name=x --size=64k --rw=write --ioengine=psync --output-format=json";
    let outcome = run(&mut ours(&Scratch::new(), line)).expect_clean();
    let document = Json::read(&outcome.stdout);
    assert_eq!(document.whole("jobs/0/write/slat_ns/N"), 0);
    assert_eq!(document.whole("jobs/0/write/clat_ns/N"), 16);
}

#[test]
fn a_mounted_device_is_not_written_to() {
    require!(Root);
    let scratch = Scratch::new();
    scratch.sparse("backing", 16 << 20);
    let device = LoopDevice::over(&scratch.path("backing"));
    // The kernel writes nothing on its own after this sync.
    tool("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", &device.path]);
    let mount = Mount::new(&device.path, scratch.path("mounted"));
    tool("sync", &["-f", &scratch.text("mounted")]);
    let before = std::fs::read(&device.path).expect("root can read it");
    let line = format!("--name=x --filename={} --rw=write --size=1m", device.path);
    let outcome = run(&mut ours(&scratch, &line)).expect_code(1);
    assert!(outcome.stderr.contains("mounted"), "{}", outcome.stderr);
    assert!(std::fs::read(&device.path).expect("root can read it") == before, "the device was written to");
    drop(mount);
    run(&mut ours(&scratch, &line)).expect_clean();
}

#[test]
fn trims_of_regular_files_succeeded_although_fio_refuses_them() {
    require!(Fio);
    for rest in ["--rw=trim --ioengine=psync", "--rw=randtrim --ioengine=io_uring", "--rw=trimwrite --ioengine=mmap"] {
        let line = format!("--name=t --size=64k --filename=t {rest}");
        let (ours, theirs) = codes(&line);
        assert_eq!((ours, theirs), (Some(1), Some(1)), "{line}");
        let scratch = Scratch::new();
        let outcome = run(&mut self::ours(&scratch, &line));
        assert!(outcome.stderr.contains("Inappropriate ioctl"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("use a block device"), "{}", outcome.stderr);
        let allocated = std::fs::metadata(scratch.path("t")).expect("it was laid out").blocks() * 512;
        assert_eq!(allocated, 64 << 10, "a hole was punched: {line}");
    }
}

#[test]
fn sequences_run_backwards_as_in_fio() {
    require!(Fio);
    for line in [
        "--rw=read:-4k --offset=32k --size=64k",
        "--rw=read:-2k --offset=32k --size=64k",
        "--rw=read:-8k --offset=16k --size=64k --loops=2",
        "--rw=read:-8k --offset=60k --size=64k",
        "--rw=read:-8k --offset=64k --size=64k",
        "--rw=read:-8k --offset=128k --size=64k --io_size=160k",
        "--rw=read:-8k --size=64k --io_size=160k",
    ] {
        let offsets = |command: fn(&Scratch, &str) -> Command| {
            let scratch = Scratch::new();
            let line = format!("--name=x --filename=x --bs=4k --write_lat_log=x --log_offset=1 {line}");
            run(&mut command(&scratch, &line)).expect_clean();
            let log = scratch.read("x_lat.1.log");
            let offset = |line: &str| line.split(',').nth(4).map(|text| text.trim().to_owned());
            log.lines().map(offset).collect::<Vec<_>>()
        };
        assert_eq!(offsets(ours), offsets(theirs), "{line}");
    }
}

#[test]
fn without_a_job_the_usage_is_printed_where_fio_prints_it() {
    require!(Fio);
    let files = [("empty.fio", ""), ("global.fio", "[global]\nbs=4k\n")];
    for line in
        ["", "--bs=4k", "empty.fio", "--name=global", "--parse-only", "--parse-only empty.fio", "--showcmd global.fio"]
    {
        let outcome = |command: fn(&Scratch, &str) -> Command| {
            let scratch = Scratch::new();
            files.iter().for_each(|(name, text)| drop(scratch.write(name, text)));
            let outcome = run(&mut command(&scratch, line));
            let first = outcome.stdout.lines().next().map(|line| line.trim_end().to_owned());
            (outcome.code(), first, outcome.stdout.lines().count() > 5, outcome.stderr.is_empty())
        };
        assert_eq!(outcome(ours), outcome(theirs), "{line}");
    }
}

#[test]
fn negative_sizes_and_lists_are_read_as_fio_reads_them() {
    require!(Fio);
    for options in [
        "--size=-64k",
        "--size=64k --offset=-4k",
        "--size=64k --io_size=-4k",
        "--size=64k,32k",
        "--size=64k --ioengine=linuxaio",
        "--size=64k --ioengine=aiolib",
        "--size=64k --number_ios=3,5",
        "--size=64k --bs=8k,,1k --rw=write",
    ] {
        let jobs = |command: fn(&Scratch, &str) -> Command| {
            let scratch = Scratch::new();
            let outcome =
                run(&mut command(&scratch, &format!("--name=x --output-format=json {options}"))).expect_code(0);
            let size = std::fs::metadata(scratch.path("x.0.0")).expect("it was laid out").len();
            (outline(&Json::read_after_notes(&outcome.stdout)), size)
        };
        assert_eq!(jobs(ours), jobs(theirs), "{options}");
    }
}

#[test]
fn options_that_make_fio_fail_make_fathom_fail() {
    require!(Fio);
    for (options, code) in [
        ("--cpus_allowed=1-0", 1),
        ("--bssplit=", 1),
        ("--warnings-fatal --time_based", 1),
        ("--warnings-fatal --time_based --runtime=1ms", 0),
        ("--enghelp=nosuch", 1),
        ("--cpus_allowed=0,99", 1),
        ("--cpus_allowed=99", 1),
        ("--rw=write --verify_only", 0),
        ("--ioengine=psync,x", 1),
        ("--ioengine=null:x", 0),
    ] {
        let line = format!("--name=x --ioengine=null --size=64k {options}");
        assert_eq!(codes(&line), (Some(code), Some(code)), "{options}");
    }
}

#[test]
fn the_bandwidth_of_all_jobs_is_logged_for_each_kind() {
    require!(Fio);
    let line =
        "--bandwidth-log --eta=always --name=x --ioengine=null --size=1g --rw=rw --rate=40m --time_based --runtime=2";
    let logs = |command: fn(&Scratch, &str) -> Command| {
        let scratch = Scratch::new();
        run(&mut command(&scratch, line)).expect_code(0);
        ["read", "write", "trim"].map(|kind| scratch.read(&format!("agg-{kind}_bw.log")))
    };
    // The mean rate, and the columns after it; nothing if the log is empty.
    let summary = |log: String| {
        let numbers = |line: &str| line.split(", ").map(|text| text.parse().expect("a number")).collect::<Vec<u64>>();
        let lines: Vec<_> = log.lines().map(numbers).collect();
        let rate = lines.iter().map(|line| line[1]).sum::<u64>().checked_div(lines.len() as u64)?;
        Some((rate, lines[0][2..].to_vec()))
    };
    timed("fio_face::the_bandwidth_of_all_jobs_is_logged_for_each_kind", || {
        for both in logs(ours).map(summary).into_iter().zip(logs(theirs).map(summary)) {
            let (Some(ours), Some(theirs)) = both else { return Err("an empty log".to_owned()) };
            assert_eq!(ours.1, theirs.1);
            if ours.0.abs_diff(theirs.0) > theirs.0 / 3 {
                return Err(format!("{ours:?} {theirs:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn files_named_twice_add_up_as_in_fio() {
    require!(Fio);
    for line in [
        "--name=x --filename=f --filename=g",
        "--filename=f --name=x --filename=g:h",
        "--name=x --filename=f:g:h --nrfiles=2",
        "--name=x --nrfiles=2 --filename=f:g:h",
        "--filename=f --name=x --nrfiles=3",
    ] {
        let sizes = |command: fn(&Scratch, &str) -> Command| {
            let scratch = Scratch::new();
            run(&mut command(&scratch, &format!("{line} --size=96k"))).expect_clean();
            let size = |name: String| std::fs::metadata(scratch.path(&name)).map(|data| (name, data.len())).ok();
            scratch.names().into_iter().map(size).collect::<Vec<_>>()
        };
        assert_eq!(sizes(ours), sizes(theirs), "{line}");
    }
}

#[test]
fn layout_messages_were_missing() {
    require!(Fio);
    let messages = |outcome: common::Outcome| {
        let lines = outcome.stdout.lines().filter(|line| line.contains("Laying out"));
        (lines.map(str::to_owned).collect::<Vec<_>>(), outcome.stderr.contains("Laying out"))
    };
    for rest in [
        "--size=16m --nrfiles=3",
        "--size=16m --numjobs=2",
        "--size=16m --numjobs=2 --output-format=json",
        "--size=1m --create_on_open=1 --rw=write",
        "--size=1m --name=b --size=2500k --rw=write --filename=y",
    ] {
        let line = format!("--name=a --rw=read --ioengine=psync {rest}");
        let theirs = messages(run(&mut theirs(&Scratch::new(), &line)));
        assert_eq!(messages(run(&mut ours(&Scratch::new(), &line))), theirs, "{line}");
    }
}

#[test]
fn polling_for_a_file_that_cannot_be_polled_fails_as_in_fio() {
    require!(Fio, Root);
    let backing = Scratch::new();
    backing.sparse("backing", 1 << 20);
    let device = LoopDevice::over(&backing.path("backing"));
    for direct in [0, 1] {
        let file = &device.path;
        let line = format!("--name=a --ioengine=io_uring --hipri=1 --filename={file} --rw=read --direct={direct}");
        let (ours, theirs) = (run(&mut ours(&backing, &line)), run(&mut theirs(&backing, &line)));
        assert_eq!((ours.code(), theirs.code()), (Some(1), Some(1)), "{line}");
        for outcome in [&ours, &theirs] {
            assert!(outcome.stdout.contains("err=95"), "{outcome:#?}");
        }
        assert!(ours.stderr.contains("remove hipri=1"), "{}", ours.stderr);
    }
}

#[test]
fn progress_counted_writes_as_reads_and_left_rests_of_longer_lines() {
    timed("fio_face::progress_counted_writes_as_reads", || {
        let line =
            "--name=a --size=1m --rw=randrw --ioengine=psync --time_based --runtime=2 --rate_iops=150 --eta=always";
        let outcome = run(&mut ours(&Scratch::new(), line)).expect_clean();
        let lines: Vec<&str> = outcome.stdout.split('\r').filter(|line| line.starts_with("Jobs: ")).collect();
        let covers = |pair: &[&str]| pair[1].len() >= pair[0].trim_end().len();
        assert!(lines.windows(2).all(covers), "{lines:?}");
        let rates = |line: &str| {
            line.split_once("][eta").and_then(|(head, _)| head.rsplit_once('[')).map(|(_, rates)| rates.to_owned())
        };
        let iops: Vec<String> = lines.iter().filter_map(|line| rates(line)).collect();
        let has_both = iops.iter().any(|iops| iops.starts_with("r=") && iops.contains(",w="));
        if has_both && lines.len() > 2 { Ok(()) } else { Err(format!("{lines:?}")) }
    });
}

#[test]
fn absurd_sizes_end_without_a_panic() {
    for options in [
        "--rw=write --offset=8000000000000000000 --size=64k --numjobs=3",
        "--rw=read --offset_increment=8000000000000000000 --size=64k --numjobs=5",
        "--rw=write --filesize=9223372036854775807 --nrfiles=3",
        "--rw=write --size=64k --io_size=8000000000000000000 --numjobs=3 --runtime=100ms",
        "--rw=randwrite --ioengine=null --size=8000000000000000000 --numjobs=5 --runtime=100ms",
    ] {
        let scratch = Scratch::new();
        let outcome = run(&mut ours(&scratch, &format!("--name=x --bs=4k {options}")));
        assert!(!outcome.stderr.contains("panicked"), "{options}: {}", outcome.stderr);
        // The number of failed jobs: the kernel refuses files of this size.
        assert!(matches!(outcome.code(), Some(0..=5)), "{options}: {:?}", outcome.code());
    }
}

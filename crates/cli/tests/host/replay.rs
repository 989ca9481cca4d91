//! Replay of traces on files, exports and models, by the commands that users write.

use record::Run;
use std::fmt::Write;
use units::random::Random;

use crate::common;
use crate::common::json::Json;
use crate::common::{Scratch, fathom, fio, require, run, words};

/// Returns an iolog of reads, and of writes and syncs where asked, every 200 us.
fn iolog(requests: u64, writes: bool) -> String {
    let (mut text, mut random) = ("fio version 3 iolog\n0 data add\n0 data open\n".to_owned(), Random::new(9, 9));
    for index in 0..requests {
        let (at, offset) = (index * 200, random.below(1000) * 4096);
        let action = if writes { ["read", "write", "write", "sync"][random.below(4) as usize] } else { "read" };
        let length = if action == "sync" { 0 } else { 4096 << random.below(3) };
        let _ = writeln!(text, "{at} data {action} {offset} {length}");
    }
    text
}

/// Runs a command that prints a record, which may be marked as disturbed by other load of the host.
#[track_caller]
fn recorded(words: impl IntoIterator<Item = impl AsRef<std::ffi::OsStr>>) -> Run {
    let outcome = run(fathom(words).args(["--format", "json"])).expect_one_of(&[0, 4]);
    record::from_json(&outcome.stdout).expect("a record")
}

#[test]
fn a_trace_is_replayed_on_a_file() {
    let scratch = Scratch::new();
    let (trace, target) = (scratch.write("t.iolog", iolog(2_000, true)), scratch.text("target"));
    let run = recorded(["run", "--replay", &trace, "--filename", &target]);
    let (job, replay) = (&run.jobs[0], run.jobs[0].replay.as_ref().expect("a replay"));
    assert_eq!((replay.issued, replay.requests, replay.speed), (2_000, 2_000, Some(1.0)));
    assert_eq!(job.result.ios() + job.result.sync.count, 2_000);
    assert_eq!((job.error, job.result.errors), (0, 0));
    // As large as the last request needs, and no larger.
    let bytes = std::fs::metadata(&target).expect("the target").len();
    assert!((4_000_000..=4_112_384).contains(&bytes), "{bytes}");
    // The last request is intended 399.8 ms after the first.
    assert!(job.result.runtime_ns >= 399_800_000, "{}", job.result.runtime_ns);
    let fast = recorded(["run", "--replay", &trace, "--filename", &target, "--speed", "max"]);
    assert_eq!(fast.jobs[0].replay.as_ref().map(|replay| replay.speed), Some(None));
}

/// What a trace contains decides whether its target may be written to.
#[test]
fn only_a_trace_with_writes_needs_permission() {
    let scratch = Scratch::new();
    let foreign = scratch.write("foreign", vec![b'x'; 5_000_000]);
    let (reads, writes) = (scratch.write("r.iolog", iolog(50, false)), scratch.write("w.iolog", iolog(50, true)));
    recorded(["run", "--replay", &reads, "--filename", &foreign]);
    let refused = run(&mut fathom(["run", "--replay", &writes, "--filename", &foreign])).expect_code(2);
    assert!(refused.stderr.contains("would be overwritten"), "{}", refused.stderr);
    assert!(scratch.read("foreign").bytes().all(|byte| byte == b'x'), "nothing was written");
    let preview = run(&mut fathom(["run", "--replay", &reads, "--filename", &foreign, "--dry-run"])).expect_code(0);
    assert!(preview.stdout.contains("reads ") && preview.stdout.contains("50 requests"), "{}", preview.stdout);
    // Skipping all writes and syncs leaves a replay that only reads.
    let skipping = ["run", "--replay", &writes, "--filename", &foreign, "--replay_skip=write,trim,sync"];
    let run_of_rest = recorded(skipping);
    assert!(
        run_of_rest.jobs[0].replay.as_ref().is_some_and(|replay| replay.notes[0].contains("skipped by `replay_skip`"))
    );
}

#[test]
fn the_trace_itself_is_no_target() {
    let scratch = Scratch::new();
    let trace = scratch.write("t.iolog", iolog(50, true));
    let words = ["run", "--replay", &trace, "--filename", &trace, "--allow-overwrite", &trace];
    let refused = run(&mut fathom(words)).expect_code(2);
    assert!(refused.stderr.contains("would overwrite the trace it replays"), "{}", refused.stderr);
    assert!(scratch.read("t.iolog").starts_with("fio version 3"));
}

#[test]
fn what_cannot_be_replayed_is_refused_with_its_place() {
    let scratch = Scratch::new();
    let bad = scratch.write("bad.iolog", "fio version 3 iolog\n1 f read 0 4096\n2 f read x 4096\n");
    for (words, expected) in [
        (format!("sim --on aws/gp3 --replay {bad}"), "bad.iolog:3:10"),
        (format!("run --filename=x --replay {bad}"), "bad.iolog:3:10"),
        ("sim --on aws/gp3 --replay nowhere".to_owned(), "nowhere cannot be opened"),
        ("sim --on aws/gp3 --replay /dev/zero".to_owned(), "/dev/zero is not a file"),
        ("run --replay nowhere".to_owned(), "a replay needs a target"),
    ] {
        let refused = run(&mut fathom(common::words(&words))).expect_code(2);
        assert!(refused.stderr.contains(expected), "{words}: {}", refused.stderr);
        assert!(refused.stderr.contains("help: "), "{words}: {}", refused.stderr);
    }
}

/// fio and `fathom fio` carry out the same operations of an iolog, on the file that it names.
#[test]
fn fio_replays_the_same_operations() {
    require!(Fio);
    let scratch = Scratch::new();
    scratch.write("t.iolog", iolog(3_000, true));
    scratch.write("data", vec![0; 5_000_000]);
    let options = words("--name=a --read_iolog=t.iolog --replay_no_stall=1 --write_lat_log=l --log_offset=1");
    let operations = |mut command: std::process::Command| {
        let directory = scratch.path("");
        let outcome = run(command.args(&options).args(words("--output-format=json")).current_dir(&directory));
        let found = Json::read_after_notes(&outcome.expect_code(0).stdout);
        let counts = ["read", "write", "trim", "sync"].map(|kind| found.whole(&format!("jobs/0/{kind}/total_ios")));
        let log = scratch.read("l_clat.1.log");
        std::fs::remove_file(scratch.path("l_clat.1.log")).expect("the log is removed");
        // Direction, length and offset; times differ.
        let fields = |line: &str| line.split(", ").skip(2).take(3).map(str::to_owned).collect::<Vec<_>>();
        (counts, log.lines().map(fields).collect::<Vec<_>>())
    };
    let (by_fio, by_fathom) = (operations(fio([""; 0])), operations(fathom(["fio"])));
    assert_eq!(by_fio.0, by_fathom.0);
    assert!(by_fio.1.len() > 2_000);
    assert_eq!(by_fio.1, by_fathom.1);
}

/// The table of a grid had service times, although the requests of a replay wait for a place in the queue too.
#[test]
fn a_grid_of_replays_counts_the_wait_for_a_slot() {
    let scratch = Scratch::new();
    let trace = scratch.write("t.iolog", iolog(1_000, false));
    let volume = "custom,size=1GiB,latency=1ms";
    let words = ["sim", "--no-record", "--replay", &trace, "--on", volume, "--vary", "iodepth=1,64"];
    let table = run(&mut fathom(words)).expect_code(0).stdout;
    // 5,000 requests per second, of which one is served in each millisecond.
    let lines = table.lines().skip_while(|line| !line.trim_start().starts_with("iodepth "));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        (rows[1][0], &rows[1][4..6], rows[2][0], &rows[2][4..6]),
        ("1", &["401", "ms"][..], "64", &["1.00", "ms"][..])
    );
}

/// fio 3.33 merges nothing (`iolog short read`), but replays what Fathom has merged.
#[test]
fn merged_traces_are_written_and_replayed_by_both_programs() {
    require!(Fio);
    let scratch = Scratch::new();
    scratch.write("a.iolog", iolog(300, true));
    scratch.write("b.iolog", iolog(500, false));
    scratch.write("data", vec![0; 5_000_000]);
    let inside = |words: Vec<String>| {
        let mut command = fathom(["fio"]);
        command.args(words).current_dir(scratch.path(""));
        run(&mut command)
    };
    let merge = "--name=a --read_iolog=a.iolog:b.iolog --merge_blktrace_file=m.bin --replay_redirect=data";
    inside(words(&format!("{merge} --merge-blktrace-only --merge_blktrace_iters=2:1"))).expect_code(0);
    let counts = |found: &Json| ["read", "write"].map(|kind| found.whole(&format!("jobs/0/{kind}/total_ios")));
    let replay = words("--name=a --read_iolog=m.bin --replay_redirect=data --replay_no_stall=1 --output-format=json");
    let by_fio = run(fio([""; 0]).args(&replay).current_dir(scratch.path(""))).expect_code(0);
    let by_fathom = inside(replay.clone()).expect_code(0);
    let (theirs, ours) = (Json::read_after_notes(&by_fio.stdout), Json::read_after_notes(&by_fathom.stdout));
    assert_eq!(counts(&theirs), counts(&ours));
    let data = iolog(300, true).lines().filter(|line| line.contains(" read ") || line.contains(" write ")).count();
    assert_eq!(counts(&ours).iter().sum::<u64>(), 2 * data as u64 + 500);

    // Merged and replayed at once.
    let at_once = inside(words(&format!("{merge} --replay_no_stall=1 --output-format=json"))).expect_code(0);
    assert_eq!(counts(&Json::read_after_notes(&at_once.stdout)).iter().sum::<u64>(), data as u64 + 500);

    for (options, message) in [
        ("--merge_blktrace_scalars=50", "1 values for 2 traces"),
        ("--merge_blktrace_iters=1:2:3", "3 values for 2 traces"),
        ("--merge_blktrace_iters=1.5:1", "not a whole number of iterations"),
        ("--merge_blktrace_iters=0:1", "`0` is outside the range 1 to"),
        ("--merge_blktrace_file=a.iolog", "a.iolog"),
    ] {
        let refused = inside(words(&format!("{merge} {options}"))).expect_code(1);
        assert!(refused.stderr.contains(message), "{options}: {}", refused.stderr);
    }
    assert_eq!(scratch.read("a.iolog"), iolog(300, true), "an input is never written to");
}

/// A preview creates no merged file; a run does, on devices and on models.
#[test]
fn merged_traces_are_written_by_runs_only() {
    let scratch = Scratch::new();
    scratch.write("a.iolog", iolog(300, false));
    scratch.write("b.iolog", iolog(200, false));
    let inside = |line: &str| run(fathom(words(line)).current_dir(scratch.path(""))).expect_one_of(&[0, 4]);
    let merge = "--name=a --read_iolog=a.iolog:b.iolog --replay_speed=max --no-record --merge_blktrace_file";
    inside(&format!("run --filename=target --dry-run {merge}=dry.bin"));
    assert!(!scratch.path("dry.bin").exists());
    inside(&format!("run --filename=target {merge}=device.bin"));
    inside(&format!("sim --on aws/gp3 {merge}=model.bin"));
    let bytes = ["device.bin", "model.bin"].map(|name| std::fs::read(scratch.path(name)).expect("a merged trace"));
    assert!(bytes[0] == bytes[1] && bytes[0].len() > 500 * 48);
}

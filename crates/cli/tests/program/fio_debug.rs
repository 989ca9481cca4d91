//! `--debug` prints what happens, on standard error.

use crate::common::json::Json;
use crate::common::{Outcome, Scratch, fathom, run, words};

fn debug(scratch: &Scratch, line: &str) -> Outcome {
    run(fathom(words(&format!("fio {line}"))).current_dir(scratch))
}

/// Returns the lines about a subject, without its name and the times in them.
fn lines(outcome: &Outcome, subject: &str) -> Vec<String> {
    let of_subject = outcome.stderr.lines().filter_map(|line| line.strip_prefix(&format!("{subject:<8} ")));
    of_subject.map(|line| line.rsplit_once(", ").map_or(line, |(line, _)| line).to_owned()).collect()
}

#[test]
fn operations_are_printed_as_they_are_issued_and_complete() {
    let scratch = Scratch::new();
    let job = "--name=a --filename=f --rw=write --bs=4k --size=8k --fsync=1 --verify=crc32c --output-format=json";
    let outcome = debug(&scratch, &format!("--debug=io,verify {job}"));
    assert_eq!(outcome.code(), Some(0), "{}", outcome.stderr);
    let expected = [
        "a (0): issues a write of 4096 bytes at 0 of f",
        "a (0): write of 4096 bytes at 0 of f transferred 4096 bytes",
        "a (0): issues a fsync of f",
        "a (0): fsync of f completed",
        "a (0): issues a write of 4096 bytes at 4096 of f",
        "a (0): write of 4096 bytes at 4096 of f transferred 4096 bytes",
        "a (0): issues a read of 4096 bytes at 0 of f",
        "a (0): read of 4096 bytes at 0 of f transferred 4096 bytes",
        "a (0): issues a read of 4096 bytes at 4096 of f",
        "a (0): read of 4096 bytes at 4096 of f transferred 4096 bytes",
    ];
    assert_eq!(lines(&outcome, "io"), expected);
    assert_eq!(lines(&outcome, "verify").len(), 3, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("wrote 2 blocks, compared 2, 0 differ"), "{}", outcome.stderr);
    // The result stays readable, and counts as without the lines.
    assert_eq!(Json::read(&outcome.stdout).whole("jobs/0/write/total_ios"), 2);
}

#[test]
fn failed_operations_are_printed_with_their_reason() {
    let scratch = Scratch::new();
    let outcome = debug(&scratch, "--debug=io,process --name=a --filename=/dev/full --rw=write --size=4k");
    assert_eq!(
        lines(&outcome, "io"),
        [
            "a (0): issues a write of 4096 bytes at 0 of /dev/full",
            "a (0): write of 4096 bytes at 0 of /dev/full failed: No space left on device (os error 28)",
        ]
    );
    assert_eq!(lines(&outcome, "process").last().map(String::as_str), Some("a (0): ended: an operation failed"));
}

#[test]
fn options_files_and_rates_are_printed() {
    let scratch = Scratch::new();
    let job = "--name=a --filename=f --size=8k --bs=4k --rate_iops=1000";
    let outcome = debug(&scratch, &format!("--debug=parse,file,rate --bs=512 {job}"));
    let parsed = lines(&outcome, "parse");
    let only_parsed = debug(&scratch, &format!("--debug=parse --parse-only --bs=512 {job}"));
    assert_eq!(lines(&only_parsed, "parse"), parsed);
    assert!(parsed.contains(&"all jobs: bs=512".to_owned()), "{parsed:?}");
    assert!(parsed.contains(&"a: rate_iops=1000".to_owned()), "{parsed:?}");
    assert_eq!(lines(&outcome, "file"), ["a (0): uses 8192 bytes at offset 0 of f"]);
    assert_eq!(lines(&outcome, "rate").len(), 2);
}

#[test]
fn lines_of_one_worker_are_those_of_its_number() {
    let scratch = Scratch::new();
    let job = "--name=a --ioengine=null --size=4k --numjobs=3";
    for (number, expected) in [("1", 1), ("7", 0)] {
        let outcome = debug(&scratch, &format!("--debug=process,job:{number} {job}"));
        let started = format!("a ({number}): thread");
        assert_eq!(lines(&outcome, "process").iter().filter(|line| line.starts_with(&started)).count(), expected);
        assert_eq!(lines(&outcome, "process").len(), 2 * expected);
    }
}

#[test]
fn subjects_are_listed_and_checked() {
    let scratch = Scratch::new();
    let outcome = debug(&scratch, "--debug=help");
    assert_eq!(outcome.code(), Some(0), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "fio: dumping debug options:process,file,io,verify,parse,rate,job:N,all\n");
    let outcome = debug(&scratch, "--debug=io,jobs --name=a --ioengine=null --size=4k");
    assert_eq!(outcome.code(), Some(0), "as in fio, the jobs run");
    assert!(outcome.stderr.contains("--debug=jobs prints nothing; available: process,file"), "{}", outcome.stderr);
    let outcome = debug(&scratch, "--debug=job --name=a --ioengine=null --size=4k");
    assert!(outcome.stderr.contains("--debug=job prints nothing"), "{}", outcome.stderr);
    // Of subjects of fio's internals there is nothing to print, and the run is the same.
    let outcome = debug(&scratch, "--debug=mem --name=a --ioengine=null --size=4k");
    assert_eq!(outcome.code(), Some(0));
    assert!(outcome.stderr.contains("--debug=mem prints nothing"), "{}", outcome.stderr);
}

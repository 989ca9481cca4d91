//! Result files never replace inputs or targets, and are complete or unchanged.

use std::fs;
use std::path::Path;

use crate::common;
use crate::common::{Running, Scratch, fathom, require, run, wait_for, words};

const JOB: &str = "[a]\nioengine=null\nsize=64k\nbs=4k\n";

fn call(scratch: &Scratch, line: &str) -> common::Outcome {
    run(fathom(words(line)).current_dir(scratch.as_ref() as &Path))
}

#[test]
fn results_replaced_an_input_or_target() {
    let scratch = Scratch::new();
    let fio = include_str!("../../../record/tests/data/fio.json");
    fs::create_dir(scratch.path("links")).expect("a folder");
    let data = "x".repeat(1 << 20);
    for output in ["v.json", "links/v.json"] {
        for (line, content) in [
            ("run --name=a --rw=read --bs=4k --size=1m --filename=v.json -o OUT", data.as_str()),
            ("run --name=a --rw=read --bs=4k --size=1m --filename=v.json --events OUT", data.as_str()),
            ("fio --name=a --rw=read --bs=4k --size=1m --filename=v.json --output=OUT", data.as_str()),
            ("serve --backing copy:v.json --run true -o OUT", data.as_str()),
            ("explain v.json -o OUT", fio),
            ("report v.json -o OUT", fio),
            ("plan --from v.json -o OUT", fio),
            ("compare v.json v.json -o OUT", fio),
            ("run v.json -o OUT", JOB),
        ] {
            scratch.write("v.json", content);
            let _ = fs::remove_file(scratch.path("links/v.json"));
            fs::hard_link(scratch.path("v.json"), scratch.path("links/v.json")).expect("a link");
            let outcome = call(&scratch, &line.replace("OUT", output));
            assert!(outcome.code() != Some(0), "{line} {output}: {}", outcome.stdout);
            assert!(fs::read(scratch.path("v.json")).expect("the file") == content.as_bytes(), "{line} {output} wrote");
        }
    }
    scratch.write("a_bw.1.log", &data);
    call(&scratch, "run --name=a --rw=read --bs=4k --size=1m --filename=a_bw.1.log --write_bw_log=a");
    assert!(fs::read(scratch.path("a_bw.1.log")).expect("the file") == data.as_bytes(), "the log replaced the data");
}

#[test]
fn unwritable_results_left_half_a_document() {
    let scratch = Scratch::new();
    scratch.write("job.fio", JOB);
    scratch.write("r.json", "before");
    // At most 1 KiB per file.
    let line = format!("ulimit -f 1; exec {} run job.fio -o r.json", env!("CARGO_BIN_EXE_fathom"));
    let outcome = run(std::process::Command::new("sh").args(["-c", &line]).current_dir(&scratch));
    assert_eq!(outcome.code(), Some(3), "{}", outcome.stderr);
    assert_eq!(fs::read(scratch.path("r.json")).expect("the file"), b"before");
    assert!(scratch.names().iter().all(|name| !name.starts_with('.')), "{:?}", scratch.names());
}

#[test]
fn a_run_ended_early_left_empty_results() {
    let scratch = Scratch::new();
    let line = "run --name=a --ioengine=null --size=4k --bs=4k --startdelay=3000 -o r.json --events e.jsonl";
    let mut running = Running::start(fathom(words(line)).current_dir(scratch.as_ref() as &Path));
    wait_for("a program that handles signals", || running.handles_signals() || running.has_ended());
    for _ in 0..3 {
        if !running.has_ended() {
            running.signal("INT");
        }
    }
    let outcome = running.end();
    let left = fs::read(scratch.path("r.json")).ok();
    let whole = left.as_ref().is_none_or(|bytes| serde_json::from_slice::<serde_json::Value>(bytes).is_ok());
    assert!(whole, "{:?}: {left:?}", outcome.code());
}

#[test]
fn two_exports_wrote_to_one_file_by_two_names() {
    require!(Root);
    let scratch = Scratch::new();
    scratch.sparse("one.img", 1 << 24);
    fs::hard_link(scratch.path("one.img"), scratch.path("two.img")).expect("a link");
    let line = "serve --export a= --export b= --backing a=file:one.img --backing b=file:two.img --socket s --run true";
    let outcome = call(&scratch, line).expect_code(2);
    assert!(outcome.stderr.contains("would write to the same file"), "{}", outcome.stderr);
}

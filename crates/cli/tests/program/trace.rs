//! `fathom trace`: every format, copies, and files that are no traces or damaged ones.

use serde_json::Value;
use std::path::PathBuf;
use trace::{TraceExport, TraceFormat, TraceRequest, TraceWriterOptions};

use crate::common::{Scratch, fathom, flat, run, run_with_input};
use crate::traces;

/// Returns the bytes of a trace in a format.
fn exported(requests: &[TraceRequest], format: TraceFormat) -> Vec<u8> {
    let mut export = TraceExport::new(format, &traces::info());
    let mut bytes = Vec::new();
    requests.iter().for_each(|request| export.push(request, &traces::info(), &mut bytes));
    export.finish(&traces::info(), &mut bytes);
    bytes
}

fn written(scratch: &Scratch, name: &str, bytes: &[u8]) -> PathBuf {
    let path = scratch.path(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).expect("one JSON document")
}

/// Returns the sum over the operations of a field of the totals.
fn total(document: &Value, field: &str) -> u64 {
    document["totals"][field].as_object().unwrap().values().filter_map(Value::as_u64).sum()
}

#[test]
fn traces_are_read_from_files_and_pipes() {
    let scratch = Scratch::new();
    let requests = traces::database(2_000, 9);
    let bytes_expected: u64 = requests.iter().map(|request| u64::from(request.length)).sum();
    let read = |format: TraceFormat| {
        let path = written(&scratch, "file", &exported(&requests, format));
        let words = ["trace".as_ref(), path.as_os_str(), "--format".as_ref(), "json".as_ref()];
        let found = document(&run(&mut fathom(words)).expect_clean().stdout);
        assert_eq!(found["source"]["format"], format.name());
        assert_eq!(found["is_incomplete"], false);
        assert_eq!(total(&found, "bytes"), bytes_expected, "{}", format.name());
        found
    };
    read(TraceFormat::Fathom);
    let found = read(TraceFormat::Msr);
    let text = String::from_utf8(exported(&requests, TraceFormat::Msr)).unwrap();
    let piped = run_with_input(&mut fathom(["trace", "-", "--format", "json"]), &text).expect_clean();
    assert_eq!(document(&piped.stdout)["totals"], found["totals"]);
}

#[test]
fn copies_have_all_that_their_format_can_express() {
    let scratch = Scratch::new();
    let requests = traces::database(2_000, 10);
    let original = written(&scratch, "db.trace", &traces::write(&requests, TraceWriterOptions::default()));
    for format in [TraceFormat::Fathom, TraceFormat::Blktrace, TraceFormat::Alibaba] {
        let copy = scratch.path(if format == TraceFormat::Fathom { "copy.trace" } else { "copy.log" });
        let words = ["trace", original.to_str().unwrap(), "--export", format.name(), "--format", "json", "-o"];
        let mut command = fathom(words);
        let report = document(&run(command.arg(&copy)).expect_clean().stdout);
        let written = &report["copies"][0];
        assert_eq!(written["bytes"], std::fs::metadata(&copy).unwrap().len());
        let omitted = written["requests_omitted"].as_u64().unwrap();
        assert_eq!(written["requests"].as_u64().unwrap() + omitted, 2_000);
        let again = run(&mut fathom(["trace", copy.to_str().unwrap(), "--format", "json"])).expect_clean();
        let again = document(&again.stdout);
        assert_eq!(total(&again, "requests"), 2_000 - omitted, "{}", format.name());
        assert_eq!(total(&again, "bytes"), total(&report, "bytes"), "{}", format.name());
        std::fs::remove_file(&copy).unwrap();
    }
    let names: Vec<_> = std::fs::read_dir(scratch.path("")).unwrap().collect();
    assert_eq!(names.len(), 1, "temporary files are removed: {names:?}");
}

#[test]
fn a_window_and_reports_are_written_together() {
    let scratch = Scratch::new();
    let requests = traces::database(30_000, 11);
    let original = written(&scratch, "db.trace", &traces::write(&requests, TraceWriterOptions::default()));
    let [part, page, json] = ["part.trace", "part.html", "part.json"].map(|name| scratch.path(name));
    let mut command = fathom(["trace", original.to_str().unwrap(), "--from", "2s", "--for", "1s"]);
    for output in [&part, &page, &json] {
        command.arg("-o").arg(output);
    }
    let text = run(&mut command).expect_clean().stdout;
    assert!(flat(&text).contains("window from 2.00 s to 3.00 s"), "{text}");
    let inside = requests.iter().filter(|request| (2_000_000_000..3_000_000_000).contains(&request.issued_ns)).count();
    let again = run(&mut fathom(["trace", part.to_str().unwrap(), "--format", "json"])).expect_clean();
    // Times are rounded to ticks of 500 ns.
    assert!(total(&document(&again.stdout), "requests").abs_diff(inside as u64) <= 1);
    assert!(std::fs::read_to_string(&page).unwrap().starts_with("<!DOCTYPE html>"));
    assert_eq!(document(&std::fs::read_to_string(&json).unwrap())["window"]["end_ns"], 3_000_000_000_u64);
}

#[test]
fn the_files_of_processors_are_one_trace() {
    let scratch = Scratch::new();
    let requests = traces::database(10_000, 12);
    let (one, other): (Vec<_>, Vec<_>) = requests.iter().partition(|request| request.process < 3);
    written(&scratch, "sda.blktrace.0", &exported(&one, TraceFormat::Blktrace));
    written(&scratch, "sda.blktrace.1", &exported(&other, TraceFormat::Blktrace));
    let base = scratch.path("sda");
    let words = ["trace".as_ref(), base.as_os_str(), "--format".as_ref(), "json".as_ref()];
    let found = document(&run(&mut fathom(words)).expect_clean().stdout);
    assert_eq!(total(&found, "requests"), 10_000);
    let csv = written(&scratch, "a.csv", &exported(&requests, TraceFormat::Msr));
    let first = scratch.path("sda.blktrace.0");
    let outcome = run(&mut fathom(["trace".as_ref(), first.as_os_str(), csv.as_os_str()]));
    assert_eq!(outcome.code(), Some(2));
    assert!(flat(&outcome.stderr).contains("only blktrace splits a trace into several files"), "{}", outcome.stderr);
}

#[test]
fn damaged_and_truncated_traces_say_what_is_missing() {
    let scratch = Scratch::new();
    let options = TraceWriterOptions { block_requests: 1_000, ..TraceWriterOptions::default() };
    let whole = traces::write(&traces::database(20_000, 13), options);
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x10;
    let cut = &whole[..whole.len() - 2_000];
    for (name, bytes, why) in [
        ("damaged.trace", damaged.as_slice(), "block checksum mismatch"),
        ("cut.trace", cut, "bytes of a block or an event"),
    ] {
        let path = written(&scratch, name, bytes);
        let copy = scratch.path("copy.trace");
        let mut command = fathom(["trace".as_ref(), path.as_os_str(), "-o".as_ref(), copy.as_os_str()]);
        let outcome = run(&mut command);
        assert_eq!(outcome.code(), Some(4), "{name}: {}", outcome.stderr);
        let text = flat(&outcome.stdout);
        assert!(text.contains(why) && text.contains("byte "), "{text}");
        assert!(outcome.stderr.contains("requests are missing"), "{}", outcome.stderr);
        if name == "damaged.trace" {
            assert!(text.contains("1,000 requests missing"), "{text}");
            // The copy does not hide it.
            let again = run(&mut fathom(["trace".as_ref(), copy.as_os_str()]));
            assert_eq!(again.code(), Some(4));
            assert!(flat(&again.stdout).contains("1,000 requests lost"), "{}", again.stdout);
        }
    }
    // A writer that was killed leaves complete blocks without an end.
    let open = &whole[..whole.len() - trace::TRACE_HEADER_BYTES];
    let path = written(&scratch, "open.trace", open);
    let outcome = run(&mut fathom(["trace".as_ref(), path.as_os_str()]));
    assert_eq!(outcome.code(), Some(0), "{}", outcome.stderr);
    assert!(flat(&outcome.stdout).contains("the trace is incomplete"), "{}", outcome.stdout);
}

#[test]
fn files_that_are_no_traces_are_refused_and_nothing_is_written() {
    let scratch = Scratch::new();
    let whole = traces::write(&traces::database(2_000, 14), TraceWriterOptions::default());
    let copy = written(&scratch, "copy.trace", b"before");
    let words = "TIMESTAMP,a,b,c,d,e,f,g,h\n1,2,3,4,5,6,7,8,9\n";
    let msr = "128166372003061629,hm,0,Read,bad,4096,100\n".repeat(200);
    for (name, bytes, why) in [
        ("columns.csv", words.as_bytes(), "unknown format"),
        ("begun.trace", &whole[..100], "the file ends within its first block"),
        ("bad.csv", msr.as_bytes(), "bad.csv:1:30"),
    ] {
        let path = written(&scratch, name, bytes);
        let outcome = run(&mut fathom(["trace".as_ref(), path.as_os_str(), "-o".as_ref(), copy.as_os_str()]));
        assert_eq!(outcome.code(), Some(2), "{name}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(why) && outcome.stdout.is_empty(), "{name}: {}", outcome.stderr);
        assert_eq!(std::fs::read(&copy).unwrap(), b"before");
    }
    let msr = scratch.path("bad.csv");
    let outcome = run(&mut fathom(["trace".as_ref(), msr.as_os_str(), "--export".as_ref(), "msr".as_ref()]));
    assert!(outcome.stderr.contains("no output file for it"), "{}", outcome.stderr);
    let mut lost = fathom(["trace".as_ref(), scratch.path("nothing").as_os_str()]);
    assert_eq!(run(&mut lost).code(), Some(2));
    let good = written(&scratch, "good.trace", &whole);
    let full =
        ["trace".as_ref(), good.as_os_str(), "--export".as_ref(), "msr".as_ref(), "-o".as_ref(), "/dev/full".as_ref()];
    assert_eq!(run(&mut fathom::<&std::ffi::OsStr>(full)).code(), Some(3));
    let onto_itself = run(&mut fathom(["trace".as_ref(), good.as_os_str(), "-o".as_ref(), good.as_os_str()]));
    assert_eq!(onto_itself.code(), Some(2));
    assert_eq!(std::fs::read(&good).unwrap(), whole);
}

#[test]
fn the_job_of_a_trace_is_written_and_compared() {
    let scratch = Scratch::new();
    let path = written(&scratch, "db.trace", &exported(&traces::database(20_000, 3), TraceFormat::Fathom));
    let job = scratch.path("db.fio");
    let words = ["trace".as_ref(), path.as_os_str(), "--to-job".as_ref(), job.as_os_str()];
    let found = run(fathom(words).args(["--format", "json"])).expect_clean();
    let document = document(&found.stdout);
    let differences = document["job"]["differences"].as_array().unwrap();
    let rate = differences.iter().find(|difference| difference["dimension"] == "rate").unwrap();
    assert!(rate["difference"].as_f64().unwrap().abs() < 0.03, "{rate}");
    assert_eq!(document["job"]["volumes"].as_array().unwrap().len(), 3);
    let simulated = run(fathom(["sim".as_ref(), job.as_os_str()]).args(["--on", "custom,latency=100us,size=1TiB"]));
    simulated.expect_clean();
    // A pipe can be read only once, so there is nothing to replay.
    let text = String::from_utf8(exported(&traces::database(2_000, 3), TraceFormat::Msr)).unwrap();
    let mut piped = fathom(["trace", "-", "--to-job"]);
    let found = run_with_input(piped.arg(&job), &text).expect_clean();
    assert!(flat(&found.stdout).contains("not compared: the trace can be read only once"), "{}", found.stdout);
}

/// A trace of PostgreSQL, with bursts of written back pages at irregular instants.
#[test]
fn the_job_of_a_database_matches_on_all_volumes() {
    let scratch = Scratch::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/pgbench.trace");
    let job = scratch.path("pgbench.fio");
    let words = ["trace".as_ref(), path.as_ref(), "--to-job".as_ref(), job.as_os_str()];
    let found = run(fathom(words).args(["--format", "json"])).expect_clean();
    let document = document(&found.stdout);
    for volume in document["job"]["volumes"].as_array().unwrap() {
        assert_eq!(volume["is_matched"], true, "{volume}");
    }
}

#[test]
fn a_trace_of_flushes_has_no_job() {
    let scratch = Scratch::new();
    let flush = |number: u64| TraceRequest {
        operation: trace::TraceOperation::Flush,
        issued_ns: number * 1_000_000,
        ..TraceRequest::default()
    };
    let flushes: Vec<TraceRequest> = (0..100).map(flush).collect();
    let path = written(&scratch, "flushes.trace", &exported(&flushes, TraceFormat::Fathom));
    let job = scratch.path("none.fio");
    let words = ["trace".as_ref(), path.as_os_str(), "--to-job".as_ref(), job.as_os_str()];
    let found = run(&mut fathom(words));
    assert_eq!(found.code(), Some(2));
    assert!(found.stderr.contains("cannot create a job from this trace"), "{}", found.stderr);
    assert!(!job.exists(), "a job was written");
}

//! Verification: how many written blocks are checked, and that unchecked blocks never count as verified.

use std::io::Read;

use crate::common;
use crate::common::json::Json;
use crate::common::{Outcome, Running, Scratch, fathom, fio, flat, require, run, wait_for, with_more_time, words};

const EXPORT: &str = "16MiB";

/// A disk server with injected faults.
struct Server {
    _program: Running,
    uri: String,
}

impl Server {
    fn start(scratch: &Scratch, options: &str) -> Self {
        let socket = scratch.text("socket");
        let _ = std::fs::remove_file(&socket);
        let mut command = fathom(words(&format!("serve --size {EXPORT} --socket {socket} {options}")));
        let program = Running::serve(command.current_dir(scratch), &socket);
        Self { _program: program, uri: format!("nbd+unix:///?socket={socket}") }
    }

    fn run(&self, scratch: &Scratch, face: &str, line: &str) -> Outcome {
        ours(scratch, face, &format!("--ioengine=nbd --uri={} {line}", self.uri))
    }
}

fn ours(scratch: &Scratch, face: &str, line: &str) -> Outcome {
    let mut command = fathom([face, "--name=x", "--bs=4k", "--verify=crc32c"]);
    if face == "run" {
        command.args(["--no-record", "--progress=off"]);
    }
    run(command.args(words(line)).current_dir(scratch))
}

/// Returns the written and checked blocks and the mismatches of a job.
fn counts(document: &Json, job: usize) -> [u64; 3] {
    ["written", "checked", "mismatches"].map(|key| document.whole(&format!("jobs/{job}/verified/{key}")))
}

fn nonce(document: &Json) -> u64 {
    document.whole("jobs/0/verified/nonces/0")
}

/// Returns a line with a longer runtime, if it has one in milliseconds: a busy host writes little in a short time.
fn lengthened(line: &str, factor: u32) -> String {
    let Some((before, rest)) = line.split_once("--runtime=") else { return line.to_owned() };
    let (ms, after) = rest.split_once("ms").expect("a runtime in milliseconds");
    let ms = ms.parse::<u32>().expect("a number of milliseconds");
    format!("{before}--runtime={}ms{after}", ms * factor)
}

/// Jobs that write all or a part of the export.
const WRITES: [&str; 8] = [
    "--rw=write",
    "--rw=randwrite --iodepth=8",
    "--rw=rw --iodepth=8",
    "--rw=write --loops=2 --iodepth=8",
    "--rw=randwrite --time_based --runtime=700ms --iodepth=8",
    "--rw=randwrite --time_based --runtime=300ms --iodepth=8 --norandommap",
    "--rw=write --runtime=150ms --rate_iops=2000",
    "--rw=randwrite --size=4m --numjobs=4 --offset_increment=4m --group_reporting --time_based --runtime=500ms",
];

/// f52613e passed the time_based ones, which overwrote blocks before they were checked.
#[test]
fn a_server_that_drops_all_writes_passed() {
    let scratch = Scratch::new();
    let honest = Server::start(&scratch, "");
    for line in WRITES {
        // A busy host may miss the rate.
        let codes: &[i32] = if line.contains("rate") { &[0, 4] } else { &[0] };
        let [written, checked, mismatches] = counts_of_many(&honest, &scratch, line, codes);
        assert!(checked == written && mismatches == 0, "{line}: {written}, {checked}, {mismatches}");
    }
    drop(honest);
    let lossy = Server::start(&scratch, "--faults lost=100%");
    for line in WRITES {
        let [written, checked, mismatches] = counts_of_many(&lossy, &scratch, line, &[1]);
        assert!(checked == written && mismatches == written, "{line}: {written}, {checked}");
    }
}

/// Runs a job, which ends with one of these codes, until it writes more than a hundred blocks.
fn counts_of_many(server: &Server, scratch: &Scratch, line: &str, codes: &[i32]) -> [u64; 3] {
    with_more_time(|factor| {
        let line = format!("{} --format=json", lengthened(line, factor));
        let outcome = server.run(scratch, "run", &line);
        let counted = counts(&Json::read(&outcome.stdout), 0);
        if counted[0] > 100 {
            outcome.expect_one_of(codes);
            return Ok(counted);
        }
        Err(format!("{line}: {} written blocks", counted[0]))
    })
}

/// 2 % of writes, at different places.
#[test]
fn a_few_lost_writes_are_counted() {
    let scratch = Scratch::new();
    let lossy = Server::start(&scratch, "--faults lost=2% --seed 3");
    let line = "--rw=randwrite --iodepth=8 --runtime=600s --format=json";
    let document = Json::read(&lossy.run(&scratch, "run", line).expect_code(1).stdout);
    let [written, checked, mismatches] = counts(&document, 0);
    assert_eq!((written, checked), (4096, 4096));
    assert!((40..140).contains(&mismatches), "{mismatches} of 4096");
}

/// fio exits with 0 if it verified nothing, and so does `fathom fio`; both find the same losses.
#[test]
fn fathom_fio_finds_the_lost_writes_that_fio_finds() {
    require!(Fio);
    let scratch = Scratch::new();
    let lossy = Server::start(&scratch, "--faults lost=100%");
    for line in [
        "--rw=write",
        "--rw=randwrite --iodepth=8",
        "--rw=randwrite --time_based --runtime=1000ms",
        "--rw=write --runtime=150ms --rate_iops=2000 --time_based --do_verify=0",
        "--rw=write --runtime=150ms --rate_iops=2000",
    ] {
        // One of them may write nothing in a short time.
        with_more_time(|factor| {
            let line = lengthened(line, factor);
            let theirs = format!("--name=x --bs=4k --verify=crc32c --ioengine=nbd --uri={} {line}", lossy.uri);
            let theirs = run(fio(words(&theirs)).current_dir(&scratch)).code();
            let ours = lossy.run(&scratch, "fio", &line).code();
            if ours == theirs { Ok(()) } else { Err(format!("{line}: {ours:?}, and {theirs:?} of fio")) }
        });
    }
}

/// f52613e accepted the data of the first run, because both runs wrote the same bytes.
#[test]
fn an_identical_run_whose_writes_were_all_lost_passed() {
    let scratch = Scratch::new();
    let store = "--backing file:disk";
    for line in
        ["--rw=write", "--rw=randwrite --iodepth=8 --seed=7", "--rw=randwrite --size=1m --runtime=500ms --time_based"]
    {
        // Both runs have to write the same blocks.
        with_more_time(|factor| {
            let line = lengthened(line, factor);
            let first = Server::start(&scratch, store).run(&scratch, "run", &line);
            let lossy = Server::start(&scratch, &format!("{store} --faults lost=100%"));
            let again = lossy.run(&scratch, "run", &line);
            drop(lossy);
            std::fs::remove_file(scratch.path("disk")).expect("it was created");
            let is_found = again.stderr.contains("stale block of a different run");
            let is_expected = (first.code(), again.code(), is_found) == (Some(0), Some(1), true);
            if is_expected { Ok(()) } else { Err(format!("{line}: {first:#?} {again:#?}")) }
        });
    }
}

/// `verify_nonce=0` writes the same bytes each time, as fio does.
#[test]
fn bytes_are_identical_on_request() {
    let scratch = Scratch::new();
    let bytes = |face: &str, options: &str| {
        let line = format!("--filename=x --size=256k --rw=randwrite {options}");
        ours(&scratch, face, &line).expect_code(0);
        let bytes = std::fs::read(scratch.path("x")).expect("it was written");
        std::fs::remove_file(scratch.path("x")).expect("the file exists");
        bytes
    };
    assert!(bytes("fio", "") == bytes("fio", ""));
    assert!(bytes("fio", "") == bytes("run", "--verify_nonce=0 --verify_format=fio"));
    assert!(bytes("run", "--verify_nonce=7") == bytes("run", "--verify_nonce=7"));
    assert!(bytes("run", "--verify_nonce=7") != bytes("run", "--verify_nonce=8"));
    assert!(bytes("run", "--seed=5") != bytes("run", "--seed=5"), "a seed makes stale data pass");
    let pattern = "--verify=pattern --verify_pattern=0xabcd";
    assert!(bytes("run", pattern) == bytes("fio", pattern));
}

#[test]
fn data_of_an_earlier_run_are_checked_by_its_nonce() {
    let scratch = Scratch::new();
    let line = "--filename=x --size=1m --rw=write --do_verify=0 --format=json";
    let write = || nonce(&Json::read(&ours(&scratch, "run", line).expect_code(0).stdout));
    let check = |options: &str| ours(&scratch, "run", &format!("--filename=x --size=1m --format=json {options}"));
    let first = write();
    let stale = std::fs::read(scratch.path("x")).expect("it was written");
    let second = write();
    assert_ne!(first, second);
    let fresh = std::fs::read(scratch.path("x")).expect("it was written");
    for options in ["--rw=write --verify_only", "--rw=read", "--rw=randread"] {
        let document = Json::read(&check(options).expect_code(0).stdout);
        assert_eq!((counts(&document, 0), nonce(&document)), ([0, 256, 0], second), "{options}");
        let given = |nonce: u64| format!("{options} --verify_nonce={nonce}");
        check(&given(second)).expect_code(0);
        let document = Json::read(&check(&given(first)).expect_code(1).stdout);
        assert_eq!(counts(&document, 0), [0, 256, 256], "{options}");

        // 25 % of the second run's writes are lost.
        let mixed = [&fresh[..768 << 10], &stale[768 << 10..]].concat();
        scratch.write("x", mixed);
        let outcome = check(&given(second)).expect_code(1);
        assert_eq!(counts(&Json::read(&outcome.stdout), 0), [0, 256, 64], "{options}");
        let outcome = check(options).expect_code(1);
        assert!(outcome.stderr.contains("stale block of a different run"), "{}", outcome.stderr);
        scratch.write("x", &fresh);
    }
}

/// Each worker finds blocks of only one run.
#[test]
fn data_of_different_runs_in_one_job_are_not_trusted() {
    let scratch = Scratch::new();
    let write = "--size=256k --rw=write --numjobs=2";
    let nonces = [write, "--size=256k --rw=write"].map(|line| {
        let line = format!("{line} --filename_format=f.$jobnum --format=json");
        nonce(&Json::read(&ours(&scratch, "run", &line).expect_code(0).stdout))
    });
    for reporting in ["", "--group_reporting"] {
        let line = format!("--filename_format=f.$jobnum {write} --verify_only {reporting}");
        let outcome = ours(&scratch, "run", &line).expect_code(4);
        let text = flat(&outcome.stdout);
        assert!(text.contains("The verified blocks were written by 2 runs: some are stale"), "{text}");
    }
    let line = format!("--filename_format=f.$jobnum {write} --verify_only --verify_nonce={}", nonces[0]);
    ours(&scratch, "run", &line).expect_code(1);
}

#[test]
fn verification_counts_are_in_every_format() {
    let scratch = Scratch::new();
    let line = "--filename=x --size=64k --rw=write --direct=1 -o x.md -o x.html -o x.json --verify_nonce=99";
    let outcome = ours(&scratch, "run", line).expect_code(0);
    let counted = "16 of 16 written blocks checked, 0 mismatches (verify_nonce=99)";
    for text in [outcome.stdout, scratch.read("x.md"), scratch.read("x.html")] {
        assert!(text.contains(counted), "{text}");
    }
    assert_eq!(counts(&Json::read(&scratch.read("x.json")), 0), [16, 16, 0]);
    let fios = ours(&scratch, "run", "--filename=x --size=64k --rw=write --format=fio-json").expect_code(0);
    assert!(Json::read(&fios.stdout).find("jobs/0/verified").is_none(), "fio output has only fio's keys");
    for (options, reason) in [
        ("--do_verify=0", "not verified: do_verify=0; 0 of 16 written blocks checked"),
        ("--verify=null", "not verified: verify=null compares nothing; 0 of 16 written"),
        ("--verify=meta", "16 of 16 written blocks checked by their headers alone, 0 mismatches"),
        ("--ioengine=null", "not verified: ioengine=null keeps no data; 0 of 16 written"),
    ] {
        let outcome = ours(&scratch, "run", &format!("--filename=x --size=64k --rw=write {options}")).expect_code(0);
        assert!(outcome.stdout.contains(reason), "{}", outcome.stdout);
    }
}

/// f52613e exited with 0.
#[test]
fn a_job_stopped_by_another_is_not_verified() {
    let scratch = Scratch::new();
    let line = "--filename=x --size=64m --rw=write --rate_iops=50 --name=y --filename=y --size=64k --rw=write \
                --rate_iops=20 --exitall --bs=4k --verify=crc32c";
    let outcome = ours(&scratch, "run", line).expect_code(4);
    assert!(flat(&outcome.stdout).contains("Nothing was verified: the job was stopped"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("16 of 16 written blocks checked"), "{}", outcome.stdout);
}

#[test]
fn an_interrupted_job_is_reported_as_unverified() {
    let scratch = Scratch::new();
    let mut command = fathom(words("run --no-record --name=x --bs=4k --verify=crc32c --filename=x --size=64m"));
    command.args(words("--rw=write --rate_iops=50")).current_dir(&scratch);
    let mut running = Running::start(&mut command);
    let mut block = [0; 4096];
    wait_for("a block", || {
        let read = std::fs::File::open(scratch.path("x")).and_then(|mut file| file.read_exact(&mut block));
        read.is_ok() && block.iter().any(|&byte| byte != 0) || running.has_ended()
    });
    running.signal("INT");
    let outcome = running.end().expect_code(130);
    assert!(outcome.stdout.contains("not verified: the job was stopped; 0 of "), "{}", outcome.stdout);
}

/// Each method, engine and layout: a byte of the header and of either end of the payload is changed.
#[test]
fn blocks_with_a_changed_byte_were_called_good() {
    let scratch = Scratch::new();
    let methods = job::VerifyMethod::ALL.map(job::VerifyMethod::name);
    let engines = ["psync", "libaio", "io_uring", "mmap"];
    let cases: Vec<_> = methods
        .into_iter()
        .flat_map(|method| engines.map(|engine| (method, engine)))
        .flat_map(|(method, engine)| ["fathom", "fio"].map(|format| (method, engine, format)))
        .collect();
    let check = |command: &str| {
        let mut line = String::from("run --no-record --progress=off --format=json");
        for (index, (method, engine, format)) in cases.iter().enumerate() {
            let pattern = if method.starts_with("pattern") { "--verify_pattern=0xab%o" } else { "" };
            line.push_str(&format!(
                " --name=x{index} --filename=x{index} --size=16k --bs=4k --ioengine={engine} --verify={method} \
                 --verify_format={format} {pattern} {command}"
            ));
        }
        run(fathom(words(&line)).current_dir(&scratch))
    };
    check("--rw=write --do_verify=0").expect_code(0);
    for index in 0..cases.len() {
        let mut bytes = std::fs::read(scratch.path(&format!("x{index}"))).expect("it was written");
        // The largest header is 168 bytes long.
        [4096 + 20, 8192 + 200, 12288 + 4095].into_iter().for_each(|at| bytes[at] ^= 0x10);
        scratch.write(&format!("x{index}"), bytes);
    }
    for command in ["--rw=read", "--rw=write --verify_only"] {
        let document = Json::read(&check(command).expect_code(1).stdout);
        for (index, case) in cases.iter().enumerate() {
            let verified = format!("jobs/{index}/verified");
            let expected = match case.0 {
                "null" => ([0, 0, 0], 0),
                "meta" => ([0, 4, 1], 3),
                _ => ([0, 4, 3], 0),
            };
            let found = (counts(&document, index), document.whole(&format!("{verified}/headers_only")));
            assert_eq!(found, expected, "{case:?} {command}");
            assert_eq!(case.0 == "null", document.find(&format!("{verified}/unchecked")).is_some(), "{case:?}");
        }
    }
}

/// fio 3.33 calls them good.
#[test]
fn payloads_that_sha512_of_fio_does_not_cover_are_not_verified() {
    let scratch = Scratch::new();
    let line = "--filename=x --size=64k --verify=sha512 --verify_format=fio";
    ours(&scratch, "run", &format!("{line} --rw=write --verify_pattern=0xabc")).expect_code(0);
    let outcome = ours(&scratch, "run", &format!("{line} --rw=read")).expect_code(4);
    let text = flat(&outcome.stdout);
    for part in ["not verified: the checksum covers no payload; 16 blocks checked by their headers alone", "crc32c"] {
        assert!(text.contains(part), "{text}");
    }
    let outcome = ours(&scratch, "fio", "--filename=x --size=64k --verify=sha512 --rw=read").expect_code(0);
    assert!(outcome.stderr.contains("the payload of some blocks was not compared"), "{}", outcome.stderr);
}

const ENGINES: [&str; 6] = [
    "--ioengine=psync",
    "--ioengine=psync --direct=1",
    "--ioengine=mmap",
    "--ioengine=mmap --norandommap",
    "--ioengine=io_uring --iodepth=8 --norandommap",
    "--ioengine=libaio --iodepth=8 --direct=1 --numjobs=4 --size=1m --offset_increment=1m --group_reporting",
];

/// Checks that jobs on a block device that drops all writes find mismatches only, each with exit code 1. `prepare`
/// returns the options of the server.
fn expect_losses(file: &str, before: &str, after: &str, prepare: impl Fn(&Scratch) -> &'static str) {
    with_more_time(|factor| {
        let scratch = Scratch::new();
        let options = prepare(&scratch);
        let codes = on_a_lossy_device(&scratch, options, file, [before, after], 300 * factor);
        // A job that wrote nothing ends with exit code 4.
        if codes.iter().any(|code| code.starts_with('4')) {
            return Err(format!("{codes:?}"));
        }
        assert_eq!(codes, ["1 0"; ENGINES.len()]);
        Ok(())
    });
}

/// Runs jobs on a block device that drops all writes, in a directory of the test. Returns their exit codes.
fn on_a_lossy_device(scratch: &Scratch, options: &str, file: &str, around: [&str; 2], runtime_ms: u32) -> Vec<String> {
    let job = format!("{} run --no-record --progress=off --name=x --bs=4k", env!("CARGO_BIN_EXE_fathom"));
    let jobs = ENGINES.map(|engine| {
        format!(
            "{job} --filename={file} --size=4m --rw=randwrite --verify=crc32c --runtime={runtime_ms}ms --time_based \
             {engine} > out; echo $? $(grep -c ' 0 mismatches' out) >> codes; cat out"
        )
    });
    let [before, after] = around;
    let script = format!("cd {}; {before}\n{}\n{after}", scratch.text(""), jobs.join("\n"));
    let mut command = fathom(words(&format!("serve {options} --faults lost=100% --device --run")));
    run(command.arg(script).current_dir(scratch));
    scratch.read("codes").lines().map(str::to_owned).collect()
}

/// f52613e passed all of them; without time_based it passed mmap, which read its own mapping back.
#[test]
fn a_device_that_drops_all_writes_passed() {
    require!(Root, Fuse);
    expect_losses("$device", "", "", |_| "--size 16MiB");
}

/// f52613e found the loss partly or not at all, because it read the page cache.
#[test]
fn a_file_on_a_device_that_drops_all_writes_was_verified_from_the_page_cache() {
    require!(Root, Fuse);
    expect_losses("m/x", "mkdir m; mount $device m", "umount m", |scratch| {
        let disk = scratch.sparse("disk", 64 << 20);
        common::devices::tool("mkfs.ext4", &["-q", "-O", "^has_journal", &disk]);
        "--backing file:disk"
    });
}

/// Returns how much of a file a process has mapped in memory.
fn mapped_kib(pid: u32, file: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps")).unwrap_or_default();
    let (mut is_in_file, mut kib) = (false, 0);
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("Rss:") {
            let of_mapping = rest.split_whitespace().next().and_then(|found| found.parse::<u64>().ok()).unwrap_or(0);
            kib += if is_in_file { of_mapping } else { 0 };
        } else if line.split_whitespace().next().is_some_and(|first| first.contains('-')) {
            is_in_file = line.ends_with(file);
        }
    }
    kib
}

/// Another program maps the pages, so the kernel keeps them in the page cache.
#[test]
fn blocks_read_from_the_page_cache_counted_as_verified() {
    let scratch = Scratch::new();
    let line = "--filename=x --size=4m --rw=randwrite --ioengine=psync";
    ours(&scratch, "run", line).expect_code(0);
    let mut reader = fathom(words("run --no-record --progress=off --name=r --filename=x --size=4m --rw=read --bs=64k"));
    let mut reader = Running::start(
        reader.args(words("--ioengine=mmap --invalidate=0 --time_based --runtime=3000")).current_dir(&scratch),
    );
    wait_for("a mapped file", || {
        assert!(!reader.has_ended(), "{}", reader.messages());
        mapped_kib(reader.pid(), "/x") >= 4096
    });
    let cached = flat(&ours(&scratch, "run", line).expect_code(4).stdout);
    for part in
        ["1,024 of 1,024 written blocks checked, 0 mismatches", "the page cache could not be emptied", "direct=1"]
    {
        assert!(cached.contains(part), "{part}: {cached}");
    }
    let direct = ours(&scratch, "run", &format!("{line} --direct=1")).expect_code(0);
    assert!(!direct.stdout.contains("not verified"), "{}", direct.stdout);
    drop(reader);
    ours(&scratch, "run", line).expect_code(0);
    let fio = ours(&scratch, "fio", line).expect_code(0);
    assert!(!fio.stdout.contains("page cache"), "fio verifies from the page cache, too");
}

/// Blocks written several times, of several sizes, after trims, in several files.
#[test]
fn written_blocks_are_all_checked() {
    let scratch = Scratch::new();
    for (line, blocks) in [
        ("--rw=randwrite --loops=3", Some(3 * 256)),
        ("--rw=randwrite --bsrange=4k-64k", None),
        ("--rw=write --bs=64k --verify_interval=4k", Some(16)),
        ("--rw=randtrimwrite", Some(256)),
        ("--rw=write --io_size=5m", Some(768)),
        ("--rw=randwrite --nrfiles=4", Some(256)),
        ("--rw=write --number_ios=100", Some(100)),
        ("--rw=randwrite --direct=1 --ioengine=io_uring --iodepth=8 --fsync=16", Some(256)),
        ("--rw=randwrite --ioengine=mmap --time_based --runtime=100ms", None),
    ] {
        let outcome = with_more_time(|factor| {
            let line = lengthened(line, factor);
            let outcome = ours(&scratch, "run", &format!("--size=1m {line} --format=json"));
            // Nothing was written.
            if outcome.code() == Some(4) { Err(format!("{line}: {outcome:#?}")) } else { Ok(outcome.expect_code(0)) }
        });
        let document = Json::read(&outcome.stdout);
        let [written, checked, mismatches] = counts(&document, 0);
        assert!(written == checked && mismatches == 0, "{line}: {checked} of {written}, {mismatches} mismatches");
        assert_eq!(written, document.whole("jobs/0/result/write/ios"), "{line}");
        assert!(blocks.is_none_or(|blocks| written == blocks), "{line}: {written}");
    }
}

/// 692e655 accepted blocks of any pass and any clone, so it found no losses.
#[test]
fn lost_writes_of_workers_that_share_a_file_passed() {
    let scratch = Scratch::new();
    let lossy = Server::start(&scratch, "--faults lost=50%");
    for line in ["--rw=randwrite --time_based --runtime=600ms", "--rw=write --loops=9", "--rw=randwrite --norandommap"]
    {
        let outcome = with_more_time(|factor| {
            let line = lengthened(line, factor);
            let line = format!("{line} --size=1m --bs=16k --numjobs=2 --group_reporting --format=json");
            let outcome = lossy.run(&scratch, "run", &line);
            // Of few writes none may be lost.
            if outcome.code() == Some(1) { Ok(outcome) } else { Err(format!("{line}: {outcome:#?}")) }
        });
        let document = Json::read(&outcome.stdout);
        let [written, checked, mismatches] = counts(&document, 0);
        assert!(mismatches > 0 && mismatches <= checked && checked <= written, "{line}: {document:?}");
    }
}

/// A block overwritten by another worker cannot be distinguished from a lost write.
#[test]
fn blocks_written_by_several_workers_are_not_verified() {
    let scratch = Scratch::new();
    let honest = Server::start(&scratch, "");
    let file = |line: &str| ours(&scratch, "run", &format!("--filename=x {line}"));
    let export = |line: &str| honest.run(&scratch, "run", line);
    for run in [&file as &dyn Fn(&str) -> Outcome, &export] {
        for line in [
            "--rw=randwrite --numjobs=2 --time_based --runtime=500ms",
            "--rw=randwrite --numjobs=2 --time_based --runtime=500ms --norandommap",
            "--rw=randwrite --numjobs=3 --loops=20 --verify_nonce=0",
        ] {
            // In a short time perhaps only one of them writes.
            with_more_time(|factor| {
                let line = lengthened(line, factor);
                let outcome = run(&format!("{line} --size=1m --bs=16k --group_reporting"));
                assert!(!outcome.stdout.contains("information mismatch"), "{line}: {}", outcome.stdout);
                let parts = ["other workers write the same blocks", "offset_increment"];
                let is_said = parts.iter().all(|part| flat(&outcome.stdout).contains(part));
                if is_said && outcome.code() == Some(4) { Ok(()) } else { Err(format!("{line}: {outcome:#?}")) }
            });
        }
        // Separate regions and separate stages are verified.
        let separate =
            run("--size=1m --rw=randwrite --numjobs=3 --offset_increment=1m --group_reporting --format=json");
        assert_eq!(counts(&Json::read(&separate.expect_code(0).stdout), 0), [768, 768, 0]);
    }
    let line = "--filename=x --size=1m --rw=randwrite --name=y --stonewall --filename=./x --size=1m --rw=randwrite \
                --bs=4k --verify=crc32c --format=json";
    let document = Json::read(&ours(&scratch, "run", line).expect_code(0).stdout);
    assert_eq!([counts(&document, 0), counts(&document, 1)], [[256, 256, 0]; 2]);
}

/// 692e655 wrote the same bytes each time, and counted a block once per write.
#[test]
fn lost_writes_to_previously_written_blocks_passed() {
    let line = "--rw=randwrite --norandommap --size=1m --io_size=64m --bs=16k --iodepth=8 --format=json";
    let scratch = Scratch::new();
    let honest = Server::start(&scratch, "");
    let document = Json::read(&honest.run(&scratch, "run", line).expect_code(0).stdout);
    assert_eq!((counts(&document, 0), document.whole("jobs/0/result/write/ios")), ([64, 64, 0], 4096));
    assert_eq!(document.whole("jobs/0/result/read/ios"), 64, "each block is read back once");
    drop(honest);
    let lossy = Server::start(&scratch, "--faults lost=50%");
    for line in [line.to_owned(), line.replace("randwrite", "randrw"), line.replace("randwrite", "randtrimwrite")] {
        let document = Json::read(&lossy.run(&scratch, "run", &line).expect_code(1).stdout);
        let [written, checked, mismatches] = counts(&document, 0);
        assert_eq!((written, checked), (64, 64), "{line}");
        assert!((10..55).contains(&mismatches), "{line}: {mismatches} of 64");
    }
}

/// Blocks of 692e655 did not identify their file.
#[test]
fn swapped_files_passed() {
    let scratch = Scratch::new();
    let one = "--filename=a:b --size=2m --rw=randwrite";
    let two =
        "--filename=a --size=1m --rw=randwrite --name=y --bs=4k --verify=crc32c --filename=b --size=1m --rw=write";
    for line in [one, two] {
        let check = |options: &str| ours(&scratch, "run", &format!("{options} {line} {options}"));
        check("--do_verify=0").expect_code(0);
        check("--verify_only").expect_code(0);
        for (from, to) in [("a", "c"), ("b", "a"), ("c", "b")] {
            std::fs::rename(scratch.path(from), scratch.path(to)).expect("the file exists");
        }
        if line == one {
            let outcome = check("--verify_only").expect_code(1);
            assert!(outcome.stderr.contains("block of a different file"), "{}", outcome.stderr);
        }
        // A renamed file is accepted.
        std::fs::rename(scratch.path("a"), scratch.path("d")).expect("the file exists");
        ours(&scratch, "run", "--filename=d --size=1m --rw=read").expect_code(0);
        std::fs::rename(scratch.path("d"), scratch.path("a")).expect("the file exists");
    }
}

/// 692e655 exited with 0 and without a message.
#[test]
fn verifying_jobs_without_writes_passed() {
    let scratch = Scratch::new();
    scratch.write("x", vec![0; 1 << 20]);
    for line in ["--rw=randrw --rwmixread=100", "--rw=trim", "--rw=rw --rwmixread=100 --time_based --runtime=100ms"] {
        let outcome = ours(&scratch, "run", &format!("--filename=x --size=1m {line} --allow-overwrite x"));
        let outcome = outcome.expect_code(4);
        let text = flat(&outcome.stdout);
        assert!(text.contains("not verified: the job wrote no block"), "{line}: {text}");
        assert!(text.contains("verify the data of an earlier run with rw=read"), "{line}: {text}");
    }
}

/// 692e655 exited with 4.
#[test]
fn a_tolerated_verification_error_is_a_failure() {
    // Data of `fathom fio` do not count as Fathom's own, so each has its own server.
    let (scratch, other) = (Scratch::new(), Scratch::new());
    let (lossy, of_fio) = (Server::start(&scratch, "--faults lost=5%"), Server::start(&other, "--faults lost=5%"));
    for tolerated in ["verify", "all"] {
        for line in ["--rw=write", "--rw=randwrite --verify_fatal=1"] {
            let line = format!("{line} --size=1m --continue_on_error={tolerated}");
            lossy.run(&scratch, "run", &line).expect_code(1);
            of_fio.run(&other, "fio", &line).expect_code(0);
        }
    }
}

/// 692e655 accepted them and failed during the run.
#[test]
fn blocks_without_room_for_a_header_are_refused_before_anything_is_touched() {
    let scratch = Scratch::new();
    for (options, option, header) in [
        ("--bs=64", "bs", 112),
        ("--bs=64 --verify_interval=4k", "bs", 112),
        ("--bs=4k --verify_interval=104", "verify_interval", 112),
        ("--bs=4k --verify_interval=96", "verify_interval", 112),
        ("--bs=4k --verify_interval=72", "verify_interval", 80),
        ("--bs=64 --verify_nonce=0", "bs", 104),
        ("--bsrange=64-4k", "bsrange", 112),
        ("--bssplit=64/50:4k/50", "bssplit", 112),
    ] {
        let outcome = ours(&scratch, "run", &format!("--filename=x --size=64k --rw=write {options}")).expect_code(2);
        let error = &outcome.stderr;
        assert!(error.contains(option) && error.contains(&header.to_string()) && error.contains("header"), "{error}");
        assert!(error.contains("help: ") || error.contains("write `") || error.contains("write a number"), "{error}");
        assert!(!scratch.path("x").exists(), "{options}");
    }
    for options in ["--bs=112", "--bs=104 --verify_nonce=0", "--bs=64 --verify=pattern --verify_pattern=0xab"] {
        ours(&scratch, "run", &format!("--filename=x --size=8k --rw=write {options}")).expect_code(0);
    }
    let reference = include_str!("../../../../docs/options.md");
    assert!(reference.contains("| `verify_interval` | number, at least 80 |"));
}

/// 692e655 counted the mismatches of the ramp in the line above the verdict, but not in the verdict.
#[test]
fn mismatches_of_a_ramp_are_counted_once() {
    let scratch = Scratch::new();
    let lossy = Server::start(&scratch, "--faults lost=100%");
    let outcome = with_more_time(|factor| {
        let ms = 300 * factor;
        let line = format!("--rw=randwrite --size=1m --time_based --ramp_time={ms}ms --runtime={ms}ms --format=json");
        let outcome = lossy.run(&scratch, "run", &line);
        // Nothing was written.
        if outcome.code() == Some(4) { Err(format!("{outcome:#?}")) } else { Ok(outcome.expect_code(1)) }
    });
    let document = Json::read(&outcome.stdout);
    let [written, _, mismatches] = counts(&document, 0);
    assert_eq!((mismatches, document.whole("jobs/0/result/errors")), (written, written));
}

#[test]
fn runs_on_models_are_reported_as_unverified() {
    let scratch = Scratch::new();
    let volume = "gcp/hyperdisk-balanced,size=1TiB,iops=160000,throughput=2400MiB/s";
    let line = "--no-record --name=x --bs=4k --size=1m --rw=randwrite --verify=crc32c";
    let mut command = fathom(words(&format!("sim --on {volume} {line}")));
    let outcome = run(command.current_dir(&scratch));
    let reason = "not verified: a modelled volume keeps no data; 0 of 256 written blocks checked";
    assert!(outcome.stdout.contains(reason), "{}", outcome.stdout);
}

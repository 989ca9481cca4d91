//! Verified data in fio's layout: blocks of fio 3.33 and of Fathom, checked by each other.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use crate::common::{Outcome, Running, Scratch, fathom, fio, require, run, wait_for, words};

/// The methods of fio 3.33 that write a header.
const METHODS: [&str; 16] = [
    "md5",
    "crc64",
    "crc32",
    "crc32c",
    "crc32c-intel",
    "crc16",
    "crc7",
    "sha1",
    "sha256",
    "sha512",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "xxhash",
    "meta",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Fio,
    Fathom,
    /// `fathom run` in fio's layout.
    Strict,
}

fn command_of(program: Program, line: &str) -> Command {
    command_of_jobs(program, [(String::from("x"), line)])
}

/// One program with several jobs at the same time, each on the file of its name: a start of fio takes longer than its jobs.
fn command_of_jobs<L: AsRef<str>>(program: Program, jobs: impl IntoIterator<Item = (String, L)>) -> Command {
    let job = |(name, line): (String, L)| format!("--name={name} --filename={name} --size=64k {} ", line.as_ref());
    let lines: String = jobs.into_iter().map(job).collect();
    match program {
        Program::Fio => fio(words(&lines)),
        Program::Fathom => fathom(words(&format!("fio {lines}"))),
        Program::Strict => fathom(words(&format!("run --no-record --progress=off --verify_format=fio {lines}"))),
    }
}

fn start(scratch: &Scratch, program: Program, line: &str) -> Outcome {
    run(command_of(program, line).current_dir(scratch))
}

fn start_jobs<L: AsRef<str>>(scratch: &Scratch, program: Program, lines: impl IntoIterator<Item = L>) -> Outcome {
    let jobs = lines.into_iter().enumerate().map(|(index, line)| (format!("x{index}"), line));
    run(command_of_jobs(program, jobs).current_dir(scratch))
}

/// Writes with one program and reads with the other, in both directions: each write with its read, and the options of both.
fn exchange<O: AsRef<str>>(cases: &[(&str, &str, O)]) {
    let scratch = Scratch::new();
    let writes = || cases.iter().map(|(write, _, options)| format!("{write} --do_verify=0 {}", options.as_ref()));
    let reads = || cases.iter().map(|(_, read, options)| format!("{read} {}", options.as_ref()));
    for (writer, readers) in [
        (Program::Fio, &[Program::Fathom, Program::Strict][..]),
        (Program::Fathom, &[Program::Fio]),
        (Program::Strict, &[Program::Fio]),
    ] {
        start_jobs(&scratch, writer, writes()).expect_code(0);
        for &reader in readers {
            let outcome = start_jobs(&scratch, reader, reads()).expect_code(0);
            // fio 3.33 exits with 0 if a pattern behind a header differs.
            let all = format!("{}{}", outcome.stdout, outcome.stderr);
            assert!(!all.contains("verify failed"), "{writer:?}, {reader:?}: {all}");
            assert!(counts_of_reads(&outcome).iter().all(|&reads| reads > 0), "{writer:?}, {reader:?}: {all}");
        }
        for index in 0..cases.len() {
            std::fs::remove_file(scratch.path(&format!("x{index}"))).expect("it was written");
        }
    }
}

#[test]
fn blocks_of_every_method_are_exchanged_with_fio() {
    require!(Fio);
    let mut cases = Vec::new();
    for method in METHODS {
        cases.push(("--rw=write", "--rw=read", format!("--verify={method} --bs=1000")));
        cases.push(("--rw=write", "--rw=write --verify_only=1", format!("--verify={method} --bs=4k")));
        for option in ["--verify_interval=1k", "--verify_offset=1000"] {
            cases.push(("--rw=randwrite", "--rw=randread", format!("--verify={method} --bs=4k {option}")));
        }
    }
    exchange(&cases);
}

/// fio ignores an interval that does not divide the block sizes.
#[test]
fn headers_are_where_fio_expects_them() {
    require!(Fio);
    let together = [
        "--bsrange=1k-8k",
        "--bsrange=4k-8k --verify_interval=3k",
        "--bs=5000 --verify_interval=2k",
        "--bs=4k --verify_interval=80",
        "--bs=4k --verify_interval=8k",
    ];
    // The sizes that a job draws differ from fio's, and the last 2 KiB are written if the rest allows it: so here of the first job.
    let alone = ["--bssplit=4k/50:6k/50", "--bssplit=4k/50:6k/50 --verify_interval=4k"];
    for options in [&together[..], &alone[..1], &alone[1..]] {
        let case = |options: &&str| ("--rw=write", "--rw=read", format!("--verify=crc32c {options}"));
        exchange(&options.iter().map(case).collect::<Vec<_>>());
    }
}

#[test]
fn patterns_are_exchanged_with_fio() {
    require!(Fio);
    let mut cases = Vec::new();
    for pattern in ["%o", "\"abcdefg\"%o0xff", "-12%o\"x\"0xabc", "0xdeadbeef", "%o%o7"] {
        for options in [
            "--bs=4k",
            "--verify=pattern --bs=4000 --verify_interval=1000",
            "--verify=crc32c --bs=4000 --verify_interval=1000",
        ] {
            cases.push(("--rw=write", "--rw=read", format!("{options} --verify_pattern={pattern}")));
        }
    }
    exchange(&cases);
}

/// Files, strings and numbers in one pattern write the same bytes as in fio.
#[test]
fn files_in_patterns_are_read_as_by_fio() {
    require!(Fio);
    let scratch = Scratch::new();
    scratch.write("part", "content of a file");
    scratch.write("long", (0..500).map(|n| (n % 251) as u8).collect::<Vec<_>>());
    for options in [
        "--verify=pattern --verify_pattern='part'",
        "--verify=pattern --verify_pattern='part'%o",
        "--verify=pattern --verify_pattern=0x1'part'\"z\"5%o'part'-3",
        "--verify=pattern --verify_pattern='long'",
        "--verify=pattern --verify_pattern=%o'long'",
        "--buffer_pattern='part'",
        "--buffer_pattern=\"a\"'part'17",
    ] {
        let write = format!("--rw=write --bs=4k {options}");
        let bytes = [Program::Fio, Program::Fathom].map(|program| {
            start(&scratch, program, &write).expect_code(0);
            let bytes = std::fs::read(scratch.path("x")).expect("it was written");
            std::fs::remove_file(scratch.path("x")).expect("it was written");
            bytes
        });
        assert!(bytes[0] == bytes[1], "{options}");
    }
    // fio 3.33 cuts the pattern after 512 bytes, newer versions do not.
    let whole: Vec<u8> = (0..700).map(|n| (n % 251) as u8).collect();
    scratch.write("longer", &whole);
    start(&scratch, Program::Fathom, "--rw=write --bs=7000 --buffer_pattern='longer'").expect_code(0);
    let written = std::fs::read(scratch.path("x")).expect("it was written");
    assert!(written.chunks_exact(7000).all(|block| block == whole.repeat(10)));
    std::fs::remove_file(scratch.path("x")).expect("it was written");
    let missing = "--rw=write --bs=4k --verify=pattern --verify_pattern='missing'";
    start(&scratch, Program::Fio, missing).expect_code(1);
    let outcome = start(&scratch, Program::Fathom, missing).expect_code(1);
    assert!(outcome.stderr.contains("cannot read missing"), "{}", outcome.stderr);
    assert!(!scratch.path("x").exists());
}

/// fio stores the working memory of SHA-256 and SHA-512, so that it finds no changes in the middle of blocks by SHA-512.
/// Fathom compares these.
#[test]
fn damage_that_fio_finds_is_found() {
    require!(Fio);
    let scratch = Scratch::new();
    let options = |method| format!("--bs=4k --verify={method}");
    for writer in [Program::Fio, Program::Fathom] {
        let writes = METHODS.map(|method| format!("--rw=write --do_verify=0 {}", options(method)));
        start_jobs(&scratch, writer, writes).expect_code(0);
        let whole: Vec<_> = (0..METHODS.len())
            .map(|index| std::fs::read(scratch.path(&format!("x{index}"))).expect("it was written"))
            .collect();
        let mut damages = Vec::new();
        for (method, whole) in METHODS.into_iter().zip(whole) {
            let header: &[usize] = if method == "crc32c" { &[0, 3, 5, 9, 17, 25, 33, 35, 37] } else { &[] };
            for &at in header.iter().chain(&[40, 8192 + 2000]) {
                let mut damaged = whole.clone();
                damaged[at] ^= 0x10;
                scratch.write(&format!("x{}", damages.len()), damaged);
                damages.push((method, at));
            }
        }
        let [theirs, ours] = [Program::Fio, Program::Fathom].map(|reader| {
            let reads = damages.iter().map(|(method, _)| format!("--rw=read {}", options(method)));
            failures(&start_jobs(&scratch, reader, reads), damages.len())
        });
        for ((damage, ours), theirs) in damages.iter().zip(ours).zip(theirs) {
            let is_missed = damage == &("sha512", 8192 + 2000);
            assert_eq!(ours, theirs || is_missed, "{damage:?}, written by {writer:?}");
            assert!(!is_missed || !theirs, "fio finds {damage:?} now");
        }
    }
}

/// Reports of each job whether it failed.
fn failures(outcome: &Outcome, jobs: usize) -> Vec<bool> {
    let of_job = |index| {
        let result = outcome.stdout.split(&format!("x{index}: (groupid=")).nth(1).expect("the result of a job");
        let code = result.split("err=").nth(1).and_then(|rest| rest.split(['(', ':']).next()).expect("an error code");
        code.trim() != "0"
    };
    (0..jobs).map(of_job).collect()
}

#[test]
fn pattern_headers_and_sequence_options_are_accepted_as_by_newer_versions_of_fio() {
    let scratch = Scratch::new();
    for options in [
        "--verify=pattern_hdr --verify_pattern=0xab%o",
        "--verify=pattern --verify_pattern=0xab%o --verify_pattern_interval=512",
        "--verify=crc32c --verify_header_seed=0 --verify_write_sequence=0",
    ] {
        for program in [Program::Fathom, Program::Strict] {
            start(&scratch, program, &format!("--rw=write --bs=4k {options}")).expect_code(0);
            start(&scratch, program, &format!("--rw=read --bs=4k {options}")).expect_code(0);
            let mut bytes = std::fs::read(scratch.path("x")).expect("it was written");
            if options.contains("interval") {
                assert_eq!(bytes[4096 + 512..][..9], [0xab, 0, 0x12, 0, 0, 0, 0, 0, 0]);
            }
            bytes[3000] ^= 1;
            scratch.write("x", bytes);
            start(&scratch, program, &format!("--rw=read --bs=4k {options}")).expect_code(1);
            std::fs::remove_file(scratch.path("x")).expect("it was written");
        }
    }
}

/// fio 3.33 writes such a header, and then fails to verify it.
#[test]
fn an_offset_within_the_header_or_beyond_the_block_is_refused() {
    let scratch = Scratch::new();
    for (offset, problem) in [(40, "is within the verification header of 44 bytes"), (4090, "is too small")] {
        let line = format!("--rw=write --bs=4k --verify=crc32c --verify_offset={offset}");
        let outcome = start(&scratch, Program::Fathom, &line).expect_code(1);
        assert!(outcome.stderr.contains(problem), "{}", outcome.stderr);
        assert!(!scratch.path("x").exists());
    }
}

/// Returns the reads that each job issued.
fn counts_of_reads(outcome: &Outcome) -> Vec<u64> {
    let counts = outcome.stdout.split("issued rwts: total=").skip(1);
    counts
        .map(|total| total.split(',').next().and_then(|reads| reads.parse().ok()).expect("a number of reads"))
        .collect()
}

/// Returns the reads that the only job issued.
fn reads(outcome: &Outcome) -> u64 {
    counts_of_reads(outcome)[0]
}

const STATE: &str = "local-x-0-verify.state";

/// Each program checks as many blocks as the other had written, also after SIGINT.
#[test]
fn states_of_writes_are_exchanged_with_fio() {
    require!(Fio);
    let all = "--bs=4k --verify=crc32c --size=64m";
    for writer in [Program::Fio, Program::Fathom] {
        for write in ["--number_ios=20", "--number_ios=3 --ioengine=libaio --iodepth=8", "--rate_iops=200"] {
            let scratch = Scratch::new();
            let line = format!("--rw=write --do_verify=0 {all} {write}");
            if write.starts_with("--rate") {
                let mut command = command_of(writer, &line);
                let running = Running::start(command.current_dir(&scratch));
                wait_for("20 blocks", || has_blocks(&scratch.path("x"), 20));
                running.signal("INT");
                running.end().expect_code(128);
            } else {
                start(&scratch, writer, &line).expect_code(0);
            }
            let state = std::fs::read(scratch.path(STATE)).expect("the state was saved");
            let mut counts = Vec::new();
            for reader in [Program::Fio, Program::Fathom] {
                for read in ["--rw=read", "--rw=write --verify_only=1 --verify_state_save=0"] {
                    let outcome = start(&scratch, reader, &format!("{all} {read} --verify_state_load=1"));
                    counts.push(reads(&outcome.expect_code(0)));
                }
            }
            assert!(counts[0] >= 3 && counts.iter().all(|&count| count == counts[0]), "{writer:?} {write} {counts:?}");
            assert_eq!(std::fs::read(scratch.path(STATE)).expect("the state is there"), state);
        }
    }
}

#[test]
fn a_state_is_saved_where_fio_saves_it() {
    require!(Fio);
    let names = |program: Program, line: &str| {
        let scratch = Scratch::new();
        std::fs::create_dir(scratch.path("aux")).expect("a new directory");
        start(&scratch, program, &format!("--bs=4k --aux-path=aux {line}")).expect_code(0);
        let list = std::fs::read_dir(scratch.path("aux")).expect("it exists");
        let mut names: Vec<_> = list.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    for line in [
        "--rw=write --verify=md5 --numjobs=2 --name=y --rw=write --size=8k --filename=y --verify=md5",
        "--rw=write --verify=md5 --verify_state_save=0",
        "--rw=write",
        "--rw=randrw --verify=crc32c",
    ] {
        assert_eq!(names(Program::Fathom, line), names(Program::Fio, line), "{line}");
    }
    let scratch = Scratch::new();
    start(&scratch, Program::Strict, "--rw=write --bs=4k --verify=crc32c").expect_code(0);
    assert!(!scratch.path(STATE).exists(), "`fathom run` saves it on request");
    start(&scratch, Program::Strict, "--rw=write --bs=4k --verify=crc32c --verify_state_save=1").expect_code(0);
    start(&scratch, Program::Strict, "--rw=read --bs=4k --verify=crc32c --verify_state_load=1").expect_code(0);
}

#[test]
fn a_missing_or_damaged_state_is_an_error() {
    require!(Fio);
    let scratch = Scratch::new();
    let line = "--rw=read --bs=4k --verify=crc32c --verify_state_load=1";
    start(&scratch, Program::Fathom, "--rw=write --bs=4k --verify=crc32c").expect_code(0);
    let state = std::fs::read(scratch.path(STATE)).expect("the state was saved");
    let both = |problem: &str| {
        start(&scratch, Program::Fio, line).expect_code(1);
        let outcome = start(&scratch, Program::Fathom, line).expect_code(1);
        assert!(outcome.stderr.contains(problem) && outcome.stderr.contains(STATE), "{}", outcome.stderr);
    };
    scratch.write(STATE, &state[..100]);
    both("shorter");
    let mut damaged = state;
    damaged[44] ^= 1;
    scratch.write(STATE, damaged);
    both("checksum");
    std::fs::remove_file(scratch.path(STATE)).expect("it was written");
    both("No such file");
}

/// fio accepts blocks of any write; a state of Fathom says which write each block must be of.
#[test]
fn stale_blocks_are_found_by_the_saved_state() {
    let scratch = Scratch::new();
    for (program, rw) in [(Program::Fathom, "randwrite"), (Program::Strict, "randwrite --norandommap")] {
        let line = format!("--rw={rw} --bs=4k --verify=crc32c --do_verify=0 --verify_state_save=1 --verify_nonce=7");
        let line = if program == Program::Fathom { line.replace(" --verify_nonce=7", "") } else { line };
        start(&scratch, program, &format!("{line} --io_size=64k")).expect_code(0);
        let stale = std::fs::read(scratch.path("x")).expect("it was written");
        start(&scratch, program, &format!("{line} --io_size=320k")).expect_code(0);
        let check = format!("{line} --io_size=320k --verify_only=1 --verify_state_load=1");
        start(&scratch, program, &check).expect_code(0);
        scratch.write("x", stale);
        let outcome = start(&scratch, program, &check).expect_code(1);
        let texts = ["block of a different pass", "block of an earlier write", "no verification header"];
        assert!(texts.iter().any(|text| outcome.stderr.contains(text)), "{}", outcome.stderr);
        std::fs::remove_file(scratch.path("x")).expect("it was written");
    }
}

/// Reports whether the file has as many verified blocks of 4 KiB.
fn has_blocks(path: &Path, count: usize) -> bool {
    let mut bytes = vec![0; count * 4096];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
    read.is_ok() && bytes.chunks(4096).all(|block| block[..2] == [0xca, 0xac])
}

/// What was written before SIGKILL is checked by each program, whatever the checksum.
#[test]
fn data_of_a_killed_program_are_checked_by_the_other() {
    require!(Fio);
    let options = METHODS.map(|method| format!("--bs=4k --verify={method} --size=64m"));
    let names = || (0..METHODS.len()).map(|index| format!("x{index}"));
    for writer in [Program::Fio, Program::Fathom] {
        let scratch = Scratch::new();
        // `thread`, because fio's jobs are processes of their own otherwise.
        let writes = options.each_ref().map(|line| format!("--thread --rw=write --do_verify=0 --rate_iops=40 {line}"));
        let running = Running::start(command_of_jobs(writer, names().zip(writes)).current_dir(&scratch));
        for name in names() {
            wait_for("20 blocks", || has_blocks(&scratch.path(&name), 20));
        }
        running.signal("KILL");
        drop(running.end());
        assert!(names().all(|name| !has_blocks(&scratch.path(&name), 16_384)), "{writer:?} had ended");
        for reader in [Program::Fio, Program::Fathom] {
            let reads = options.each_ref().map(|line| format!("--rw=read {line} --number_ios=20"));
            let outcome = start_jobs(&scratch, reader, reads).expect_code(0);
            assert_eq!(counts_of_reads(&outcome), [20; METHODS.len()], "{writer:?}, {reader:?}");
        }
        let files = std::fs::read_dir(scratch.path(".")).expect("it exists");
        let states =
            files.filter(|file| file.as_ref().expect("an entry").path().extension().is_some_and(|end| end == "state"));
        assert_eq!(states.count(), 0, "a killed program saves no state");
    }
}

/// fio 3.33 has no such option: the documentation of a later version is the reference.
#[test]
fn writes_after_the_last_sync_are_checked_on_request_only() {
    let read_lines = ["--rw=read", "--rw=write --verify_only=1 --verify_state_save=0"];
    for (engine, program) in
        [("psync", Program::Fathom), ("libaio --iodepth=4", Program::Fathom), ("io_uring --iodepth=4", Program::Strict)]
    {
        let scratch = Scratch::new();
        let all = format!("--bs=4k --verify=crc32c --ioengine={engine}");
        // The last sync follows 15 of 16 writes.
        let write = format!("--rw=write --do_verify=0 --fsync=5 --verify_state_save=1 {all}");
        start(&scratch, program, &write).expect_code(0);
        let sound = std::fs::read(scratch.path("x")).expect("it was written");
        for (damaged, policy, code) in [
            (None, "fsynced", 0),
            (None, "completed", 0),
            (Some(15), "fsynced", 0),
            (Some(15), "completed", 1),
            (Some(2), "fsynced", 1),
        ] {
            let mut bytes = sound.clone();
            if let Some(block) = damaged {
                bytes[block * 4096 + 2000] ^= 1;
            }
            scratch.write("x", bytes);
            for read in read_lines {
                let line = format!("{all} {read} --verify_state_load=1 --verify_policy={policy}");
                let outcome = start(&scratch, program, &line);
                assert_eq!(outcome.code(), Some(code), "{damaged:?} {line}\n{}", outcome.stderr);
                // Writes that were in flight when a sync began are not covered by it.
                if program == Program::Fathom && code == 0 {
                    let (found, most) = (reads(&outcome), if policy == "fsynced" { 15 } else { 16 });
                    let least = if engine == "psync" || policy == "completed" { most } else { 11 };
                    assert!((least..=most).contains(&found), "{found} reads of {line}");
                }
            }
        }
    }
}

#[test]
fn without_a_sync_nothing_is_known_to_be_stored() {
    require!(Fio);
    let scratch = Scratch::new();
    let read = "--rw=read --bs=4k --verify=crc32c --verify_state_load=1 --verify_policy=fsynced";
    start(&scratch, Program::Fathom, "--rw=write --bs=4k --verify=crc32c --do_verify=0").expect_code(0);
    assert_eq!(reads(&start(&scratch, Program::Fathom, read).expect_code(0)), 0);
    start(&scratch, Program::Fio, "--rw=write --bs=4k --verify=crc32c --do_verify=0 --fsync=1").expect_code(0);
    let outcome = start(&scratch, Program::Fathom, read).expect_code(1);
    assert!(outcome.stderr.contains("does not record which writes were synced"), "{}", outcome.stderr);
}

/// A state with the writes that were in flight at a sync is longer, which fio 3.33 accepts.
#[test]
fn fio_reads_a_state_with_syncs() {
    require!(Fio);
    let scratch = Scratch::new();
    let all = "--bs=4k --verify=crc32c --ioengine=libaio --iodepth=8";
    start(&scratch, Program::Fathom, &format!("--rw=write --do_verify=0 --fsync=3 {all}")).expect_code(0);
    let read = format!("--rw=read {all} --verify_state_load=1");
    let counts = [Program::Fio, Program::Fathom].map(|reader| reads(&start(&scratch, reader, &read).expect_code(0)));
    assert_eq!(counts, [16, 16]);
}

//! Protection of existing files. Each test is named after the defect that it guards against.

use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use crate::common::{Scratch, fathom, run, words};

fn command(scratch: &Scratch, face: &str, line: &str) -> Command {
    let mut command = fathom([face]);
    command.args(words(line)).current_dir(scratch);
    command
}

#[test]
fn readonly_created_and_extended_files() {
    let scratch = Scratch::new();
    scratch.write("short", "x");
    let line = "--readonly --name=a --rw=read --size=1m --output-format=json --filename=";
    for name in ["short", "missing"] {
        let outcome = run(&mut command(&scratch, "fio", &format!("{line}{name}"))).expect_code(1);
        assert!(outcome.stderr.contains("which --readonly forbids"), "{}", outcome.stderr);
    }
    assert_eq!(scratch.names(), ["short"]);
    assert_eq!(scratch.read("short"), "x");
}

#[test]
fn run_extended_a_file_that_its_job_only_reads() {
    let scratch = Scratch::new();
    scratch.write("letter.txt", "dear reader");
    let line = "--name=a --rw=read --size=1m --filename=letter.txt";
    let outcome = run(&mut command(&scratch, "run", line)).expect_code(2);
    assert!(outcome.stderr.contains("letter.txt would grow from 11 B to 1 MiB"), "{}", outcome.stderr);
    let dry = run(&mut command(&scratch, "run", &format!("{line} --dry-run"))).expect_code(2);
    assert!(dry.stdout.contains("before the run: letter.txt would grow"), "{}", dry.stdout);
    assert_eq!(scratch.read("letter.txt"), "dear reader");
    let permitted = run(&mut command(&scratch, "run", &format!("{line} --allow-destroy letter.txt")));
    assert!(matches!(permitted.code(), Some(0 | 4)), "{permitted:#?}");
}

#[test]
fn run_created_a_file_for_a_mistyped_device() {
    let scratch = Scratch::new();
    let line = "--name=a --rw=write --size=1m --filename=/dev/no-such-device";
    let outcome = run(&mut command(&scratch, "run", line)).expect_code(2);
    assert!(outcome.stderr.contains("no such device: /dev/no-such-device"), "{}", outcome.stderr);
    assert!(!std::path::Path::new("/dev/no-such-device").exists());
}

#[test]
fn allow_file_create_was_ignored() {
    for (face, code) in [("fio", 1), ("run", 2)] {
        let scratch = Scratch::new();
        let line = "--name=a --rw=read --size=1m --allow_file_create=0";
        let outcome = run(&mut command(&scratch, face, line)).expect_code(code);
        assert!(outcome.stderr.contains("allow_file_create=0"), "{}", outcome.stderr);
        assert!(scratch.names().is_empty());
    }
}

/// Revision 33a84f5e refused only to create files, as the name says; fio refuses to extend them too.
#[test]
fn allow_file_create_let_files_be_extended() {
    for (face, code) in [("fio", 1), ("run", 2)] {
        for rest in ["--rw=write", "--rw=randread", "--rw=read --offset=1m"] {
            let scratch = Scratch::new();
            scratch.write("short", [7; 4096]);
            let line = format!("--name=a --filename=short --size=1m --allow_file_create=0 {rest}");
            let outcome = run(&mut command(&scratch, face, &line)).expect_code(code);
            assert!(outcome.stderr.contains("forbids extending it"), "{}", outcome.stderr);
            assert_eq!(std::fs::read(scratch.path("short")).expect("it is left"), [7; 4096]);
        }
    }
}

#[test]
fn results_lost_on_a_full_output_exited_with_0() {
    let scratch = Scratch::new();
    let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has /dev/full");
    let mut command = command(&scratch, "run", "--name=a --ioengine=null --rw=read --size=1m");
    let status = command.stdout(Stdio::from(full)).stderr(Stdio::null()).status().expect("fathom runs");
    assert_eq!(status.code(), Some(3));
}

#[test]
fn help_and_commands_lost_on_a_full_output_exited_with_0() {
    let scratch = Scratch::new();
    scratch.write("job.fio", "[a]\nioengine=null\nrw=read\nsize=1m\n");
    for (line, code) in [
        ("--help", 3),
        ("--version", 3),
        ("run --help", 3),
        ("help run", 3),
        ("run job.fio --show-jobs", 3),
        ("fio --help", 1),
        ("fio --version", 1),
        ("fio --showcmd job.fio", 1),
        ("fio --parse-only --showcmd job.fio", 1),
        // It prints nothing.
        ("fio --parse-only job.fio", 0),
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has /dev/full");
        let output = fathom(words(line)).current_dir(&scratch).stdout(Stdio::from(full)).output().expect("fathom runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {errors}");
        assert_eq!(errors.contains("standard output: No space left"), code != 0, "{line}: {errors}");
    }
}

#[test]
fn verification_failed_with_the_null_engine() {
    let scratch = Scratch::new();
    let line = "--name=a --ioengine=null --rw=write --size=1m --verify=crc32c";
    run(&mut command(&scratch, "fio", line)).expect_code(0);
}

#[test]
fn a_file_that_does_not_fit_passed_the_checks() {
    let scratch = Scratch::new();
    let line = "--name=a --rw=write --size=100t --bs=4k --ioengine=psync";
    let dry = run(&mut command(&scratch, "run", &format!("{line} --dry-run"))).expect_code(2);
    let outcome = run(&mut command(&scratch, "run", line)).expect_code(2);
    for text in [dry.stdout, outcome.stderr] {
        for part in ["100 TiB needed", " free, ", "use a smaller size", "nothing was touched"] {
            assert!(text.contains(part), "`{part}` is missing from {text}");
        }
    }
    let outcome = run(&mut command(&scratch, "fio", line)).expect_code(1);
    assert!(outcome.stderr.contains(" free, "), "{}", outcome.stderr);
    assert!(scratch.names().is_empty());
}

#[test]
fn unneeded_space_was_required_for_bounded_jobs() {
    for bound in ["--number_ios=10", "--io_size=40k", "--rw=randwrite --number_ios=10"] {
        let scratch = Scratch::new();
        let line = format!("--name=a --filename=a --rw=write --size=1t --bs=4k --ioengine=psync {bound}");
        let outcome = run(&mut command(&scratch, "fio", &line)).expect_code(0);
        assert!(outcome.stdout.contains("total=0,10,0,0"), "{}", outcome.stdout);
        let allocated = std::fs::metadata(scratch.path("a")).expect("the file was created").blocks() * 512;
        assert!(allocated < 1 << 20, "{allocated} bytes are taken");
    }
}

#[test]
fn openfiles_was_accepted_without_effect() {
    for rest in [
        "--rw=read --ioengine=psync",
        "--rw=randwrite --ioengine=io_uring --iodepth=8 --verify=crc32c --end_fsync=1",
        "--rw=write --ioengine=libaio --iodepth=8 --verify=crc32c --io_size=100k --file_service_type=random",
        "--rw=randrw --ioengine=mmap --fsync=3 --loops=2",
    ] {
        let scratch = Scratch::new();
        let line = format!("--name=a --nrfiles=60 --openfiles=2 --size=480k --bs=4k {rest}");
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -n 24 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_fathom"), "fio"]);
        let outcome = run(limited.args(words(&line)).current_dir(&scratch)).expect_code(0);
        assert!(outcome.stdout.contains("err= 0"), "{}", outcome.stdout);
    }
}

#[test]
fn waiting_for_a_pipe_could_not_be_interrupted() {
    let scratch = Scratch::new();
    assert!(Command::new("mkfifo").arg(scratch.path("pipe")).status().is_ok_and(|status| status.success()));
    std::fs::create_dir(scratch.path("directory")).expect("the scratch directory can be written to");
    for name in ["pipe", "directory"] {
        for (face, code) in [("fio", 1), ("run", 2)] {
            let line = format!("--name=a --rw=read --size=1m --filename={name}");
            let outcome = run(&mut command(&scratch, face, &line)).expect_code(code);
            assert!(outcome.stderr.contains("neither a file nor a device"), "{}", outcome.stderr);
        }
    }
}

/// 5aa1e091 waited for ever for a writer.
#[test]
fn inputs_that_are_pipes_without_a_writer_are_refused() {
    let scratch = Scratch::new();
    for pipe in ["pipe", "local-a-0-verify.state"] {
        assert!(Command::new("mkfifo").arg(scratch.path(pipe)).status().is_ok_and(|status| status.success()));
    }
    scratch.write("data", [0; 4096]);
    let job = "--name=a --filename=data --size=4k --bs=4k";
    for line in [
        "--inflate-log=pipe".to_owned(),
        format!("{job} --rw=write --verify_pattern='pipe'"),
        format!("{job} --rw=write --buffer_pattern='pipe'"),
        format!("{job} --rw=read --verify=crc32c --verify_state_load=1"),
        format!("{job} --read_iolog=pipe"),
        "pipe".to_owned(),
    ] {
        let outcome = run(&mut command(&scratch, "fio", &line)).expect_code(1);
        let reasons = ["no program writes to this pipe", "pipe is not a file"];
        assert!(reasons.iter().any(|reason| outcome.stderr.contains(reason)), "{line}: {}", outcome.stderr);
    }
}

#[test]
fn a_full_standard_error_caused_a_panic() {
    for (face, code) in [("fio", 1), ("run", 2)] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has /dev/full");
        let mut command = fathom([face, "--bogus"]);
        let status = command.stdout(Stdio::null()).stderr(Stdio::from(full)).status().expect("fathom runs");
        assert_eq!(status.code(), Some(code), "{face}");
    }
}

#[test]
fn the_file_size_limit_killed_the_run() {
    for (face, code) in [("fio", 1), ("run", 3)] {
        for rest in ["--rw=write", "--rw=read", "--rw=write --fallocate=none"] {
            let scratch = Scratch::new();
            let mut limited = Command::new("sh");
            limited.args(["-c", "ulimit -f 512 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_fathom"), face]);
            let line = format!("--name=a --filename=big --size=2m --ioengine=psync {rest}");
            limited.env("FATHOM_NO_RECORD", "1");
            let outcome = run(limited.args(words(&line)).current_dir(&scratch)).expect_code(code);
            assert!(outcome.stderr.contains("raise the file size limit (ulimit -f)"), "{}", outcome.stderr);
        }
    }
}

#[test]
fn errors_named_no_remedy() {
    let scratch = Scratch::new();
    scratch.write("data", [0; 4096]);
    std::os::unix::fs::symlink("nowhere/x", scratch.path("link")).expect("the scratch directory can be written to");
    let job = "--name=a --rw=read --size=4k --ioengine=psync";
    for (line, remedy) in [
        (format!("{job} --filename=link"), "the target of the link"),
        (format!("{job} --filename=data/x"), "one of its components is a file"),
        (format!("{job} --filename=data --write_lat_log=missing/x"), "create its directory"),
        ("--name=a --rw=read --ioengine=psync --filename=/dev/zero".to_owned(), "as in size=1g"),
        ("missing.fio".to_owned(), "correct the path"),
        (format!("{job} --filename=data -o missing/x.json"), "create its directory"),
    ] {
        let outcome = run(&mut command(&scratch, "run", &line));
        assert!(matches!(outcome.code(), Some(2 | 3)), "{outcome:#?}");
        assert!(outcome.stderr.contains(remedy), "`{remedy}` is missing from {}", outcome.stderr);
    }
}

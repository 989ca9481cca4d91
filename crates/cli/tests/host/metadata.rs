//! Engines that measure metadata: they do what fio's do, count as fio counts, and delete only what they may.

use std::fs;

use crate::common;
use crate::common::pair::{expect_same, pair, pair_in};
use crate::common::{Scratch, fathom, flat, require, run, words};

const FILES: &str = "--name=j --filesize=4k --nrfiles=20";

/// Creates the files that the job of [`FILES`] generates, and one that it does not.
fn with_files(scratch: &Scratch) {
    for number in 0..21 {
        scratch.write(&format!("j.0.{number}"), [7; 4096]);
    }
}

#[test]
fn files_are_created_looked_up_and_deleted_as_by_fio() {
    require!(Fio);
    for line in [
        "--ioengine=filecreate",
        "--ioengine=filecreate --rw=randwrite",
        "--ioengine=filecreate --loops=3",
        "--ioengine=filecreate --number_ios=5",
        "--ioengine=filecreate --io_size=4k",
        "--ioengine=filecreate --openfiles=2",
        "--ioengine=filecreate --numjobs=2",
        "--ioengine=filestat",
        "--ioengine=filestat --stat_type=lstat --loops=2",
        "--ioengine=filestat --stat_type=statx --rw=write",
        "--ioengine=filedelete",
        "--ioengine=filedelete --rw=write",
    ] {
        let line = format!("{FILES} {line}");
        expect_same(&pair(&line), 0, &line);
    }
}

/// fio counts each block, but makes one call per pass over a file.
#[test]
fn several_blocks_per_file_share_one_call() {
    require!(Fio);
    for line in [
        "--ioengine=filecreate --bs=1k",
        "--ioengine=filecreate --bs=1k --loops=2",
        "--ioengine=filecreate --bs=3k",
        "--ioengine=filestat --bs=2k",
        "--ioengine=filedelete --bs=512",
    ] {
        let line = format!("{FILES} {line}");
        let runs = pair(&line);
        expect_same(&runs, 0, &line);
        let [operations, _, calls, _] = runs[0].counts(0)[0];
        assert!(line.contains("3k") || operations > calls, "{line}: {operations} operations, {calls} calls");
    }
}

#[test]
fn failures_are_fios() {
    require!(Fio);
    for line in [
        "--ioengine=filestat --create_on_open=1",
        "--ioengine=filedelete --create_on_open=1",
        "--ioengine=filedelete --loops=2",
        "--ioengine=ftruncate --rw=read --nrfiles=1",
    ] {
        let line = format!("{FILES} {line}");
        let [ours, theirs] = pair(&line);
        assert_eq!((ours.outcome.code(), theirs.outcome.code()), (Some(1), Some(1)), "{line}");
        let error = |run: &common::pair::PairedRun| run.json().whole("jobs/0/error");
        assert_eq!(error(&ours), error(&theirs), "{line}");
        assert_eq!(ours.left(), theirs.left(), "{line}");
    }
}

#[test]
fn existing_files_are_used_and_others_are_left_alone() {
    require!(Fio);
    for engine in ["filecreate", "filestat", "filedelete"] {
        let line = format!("{FILES} --ioengine={engine}");
        let runs = pair_in(&line, with_files);
        expect_same(&runs, 0, &line);
        let kept = if engine == "filedelete" { 1 } else { 21 };
        assert_eq!(runs[0].scratch.names().len(), kept, "{line}");
    }
}

#[test]
fn sizes_and_allocation_change_as_by_fio() {
    require!(Fio);
    for line in [
        "--ioengine=ftruncate --rw=write",
        "--ioengine=ftruncate --rw=write --bs=16k",
        "--ioengine=falloc --rw=read",
        "--ioengine=falloc --rw=write --fallocate=none",
        "--ioengine=falloc --rw=trim --overwrite=1",
        "--ioengine=falloc --rw=randwrite --size=1m --bs=64k",
    ] {
        let line = format!("--name=j --size=64k {line}");
        expect_same(&pair(&line), 0, &line);
    }
}

/// fio 3.33 has no engines of directories: these do what its later HOWTO says.
#[test]
fn directories_are_created_looked_up_and_deleted() {
    let scratch = Scratch::new();
    let directories = || scratch.names().into_iter().filter(|name| scratch.path(name).is_dir()).count();
    let job = |engine: &str, code: i32| {
        let mut command = fathom(["run"]);
        command.args(words(FILES)).arg(format!("--ioengine={engine}")).current_dir(&scratch);
        let outcome = run(&mut command);
        assert_eq!(outcome.code(), Some(code), "{engine}: {outcome:?}");
        outcome.stderr
    };
    job("dircreate", 0);
    assert_eq!(directories(), 20);
    job("dirstat", 0);
    assert!(job("dircreate", 3).contains("creation of j.0.0 failed: File exists"));
    job("dirdelete", 0);
    assert_eq!(directories(), 0, "they were empty");
    job("dirstat", 0);
    assert_eq!(directories(), 20, "it creates what is missing");
    fs::write(scratch.path("j.0.3/precious"), "data").expect("it can be written");
    let refusal = job("dirdelete", 2);
    assert!(refusal.contains("cannot create or delete j.0.3: it is a directory that is not empty"));
    assert_eq!(directories(), 20, "nothing was deleted");
}

#[test]
fn the_gate_guards_what_would_be_deleted() {
    let scratch = Scratch::new();
    scratch.write("letter", "not Fathom's");
    fs::create_dir(scratch.path("folder")).expect("it can be created");
    std::os::unix::fs::symlink("letter", scratch.path("link")).expect("it can be created");
    let refused = |name: &str| {
        let mut command = fathom(["run", "--name=j", "--ioengine=filedelete", "--size=4k", "--bs=4k"]);
        command.arg(format!("--filename={name}")).current_dir(&scratch);
        flat(&run(&mut command).expect_code(2).stderr)
    };
    assert!(refused("letter").contains("it holds 12 B (text) that Fathom did not write"), "{}", refused("letter"));
    assert!(refused("link").contains("it is a symbolic link"), "{}", refused("link"));
    assert!(refused("/dev/null").contains("it is not a regular file"), "{}", refused("/dev/null"));
    assert!(refused("folder").contains("neither a file nor a device"), "{}", refused("folder"));
    assert_eq!(scratch.names(), ["folder", "letter", "link"]);
    let mut command = fathom(["run", "--name=j", "--ioengine=filedelete", "--size=12", "--bs=12"]);
    command.args(["--filename=letter", "--allow-overwrite=letter"]).current_dir(&scratch);
    run(&mut command).expect_code(0);
    assert_eq!(scratch.names(), ["folder", "link"]);
}

/// fio deletes and creates files despite `--readonly`.
#[test]
fn readonly_forbids_creation_and_deletion() {
    for engine in ["filecreate", "filedelete", "dircreate", "dirdelete", "falloc"] {
        let scratch = Scratch::new();
        with_files(&scratch);
        let mut command = fathom(["fio", "--readonly"]);
        command.args(words(FILES)).arg(format!("--ioengine={engine}")).current_dir(&scratch);
        let outcome = run(&mut command).expect_code(1);
        assert!(outcome.stderr.contains("--readonly"), "{engine}: {}", outcome.stderr);
        assert_eq!(scratch.names().len(), 21, "{engine}");
    }
}

#[test]
fn models_and_traces_refuse_engines_of_metadata() {
    let refused = |line: &str| flat(&run(&mut fathom(words(line))).expect_code(2).stderr);
    let on_model = refused("sim --on aws/gp3 --name=j --ioengine=filestat --size=4k");
    assert!(on_model.contains("engine filestat measures a filesystem"), "{on_model}");
    let verified = refused("run --name=j --ioengine=falloc --rw=write --size=4k --verify=crc32c");
    assert!(verified.contains("the engine `falloc` transfers no data"), "{verified}");
    let reads = refused("run --name=j --ioengine=ftruncate --rw=read --size=4k");
    assert!(reads.contains("supports writes only"), "{reads}");
}

#[test]
fn engines_that_fathom_lacks_are_explained() {
    for (engine, reason, remedy) in [
        ("rbd", "needs the Ceph libraries", "rbd map"),
        ("rdma", "needs an RDMA adapter", "its block device"),
        ("windowsaio", "to another operating system", "ioengine=io_uring"),
    ] {
        let outcome = run(&mut fathom(["run", "--name=j", "--size=4k", &format!("--ioengine={engine}")]));
        let text = flat(&outcome.expect_code(2).stderr);
        assert!(text.contains(&format!("fio's engine `{engine}` is not supported: it")), "{text}");
        assert!(text.contains(reason) && text.contains(remedy), "{text}");
    }
}

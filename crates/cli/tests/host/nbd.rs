//! `ioengine=nbd` against nbdkit and QEMU: operations, errors and lost connections.

use std::process::Command;

use crate::common::host::timed;
use crate::common::json::Json;
use crate::common::{Outcome, Running, Scratch, fathom, fio, flat, require, run, words};

/// A running server, killed on drop.
struct Server {
    program: Running,
    uri: String,
    scratch: Scratch,
}

impl Server {
    /// Starts nbdkit; its arguments may name an image `disk` of 16 MiB.
    fn nbdkit(line: &str) -> Self {
        Self::start(|scratch| {
            scratch.sparse("disk", 16 << 20);
            let mut command = Command::new("nbdkit");
            command.args(["-f", "-U", &scratch.text("s")]).args(words(line)).current_dir(scratch);
            (command, String::new())
        })
    }

    /// Starts qemu-storage-daemon with a raw image of 16 MiB.
    fn qemu(writable: &str) -> Self {
        Self::start(|scratch| {
            let disk = scratch.sparse("disk", 16 << 20);
            let mut command = Command::new("qemu-storage-daemon");
            command.args(["--blockdev", &format!("driver=file,node-name=d,filename={disk},discard=unmap")]);
            command.args(["--nbd-server", &format!("addr.type=unix,addr.path={}", scratch.text("s"))]);
            command.args(["--export", &format!("type=nbd,id=e,node-name=d,name=disk,writable={writable}")]);
            (command, "disk".to_owned())
        })
    }

    fn start(prepare: impl FnOnce(&Scratch) -> (Command, String)) -> Self {
        let scratch = Scratch::new();
        let (mut command, export) = prepare(&scratch);
        let program = Running::serve(&mut command, scratch.path("s"));
        let uri = format!("nbd+unix:///{export}?socket={}", scratch.text("s"));
        Self { program, uri, scratch }
    }

    /// Returns the options of a job on the export.
    fn job(&self, line: &str) -> Vec<String> {
        let mut all = words(&format!("--name=a --ioengine=nbd --uri={}", self.uri));
        all.extend(words(line));
        all
    }

    /// Returns a command that runs a job on the export.
    fn ours(&self, face: &str, line: &str) -> Command {
        let mut command = fathom([face]);
        command.args(self.job(line)).current_dir(&self.scratch);
        command
    }

    fn run(&self, line: &str) -> Outcome {
        run(&mut self.ours("run", line))
    }
}

/// Checks that a job was measured, whether or not its result is trustworthy.
#[track_caller]
fn measured(outcome: Outcome) -> Outcome {
    assert!(matches!(outcome.code(), Some(0 | 4)), "{outcome:#?}");
    outcome
}

#[track_caller]
fn expect(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(text.contains(part), "`{part}` is missing from {text}"));
}

const VERIFIED: &str = "--bs=4k --iodepth=16 --verify=crc32c --format=fio-json";

#[test]
fn writes_are_verified_on_every_server() {
    require!(Nbdkit, Qemu);
    for server in [Server::nbdkit("memory 16m"), Server::nbdkit("file disk"), Server::qemu("on")] {
        for rw in ["randwrite", "write --bs=1m --iodepth=4", "randrw --bsrange=4k-64k --fsync=16"] {
            let outcome = measured(server.run(&format!("{VERIFIED} --rw={rw}")));
            let document = Json::read(&outcome.stdout);
            assert_eq!(document.whole("jobs/0/error"), 0);
            assert!(document.whole("jobs/0/read/io_bytes") >= 8 << 20, "read back: {}", outcome.stdout);
        }
        let trimmed = measured(server.run("--rw=randtrim --bs=64k --iodepth=8 --format=fio-json"));
        assert_eq!(Json::read(&trimmed.stdout).whole("jobs/0/trim/total_ios"), 256);
        measured(server.run("--rw=write --bs=64k --iodepth=8 --sync=1 --numjobs=3 --end_fsync=1"));
    }
}

#[test]
fn options_and_exit_codes_are_fios() {
    require!(Fio, Nbdkit);
    let server = Server::nbdkit("memory 16m");
    let limited = Server::nbdkit("-r memory 16m");
    for (server, line, code) in [
        (&server, "--rw=randread --iodepth=32", 0),
        (&server, "--rw=randwrite --verify=crc32c --iodepth=8 --fsync=8", 0),
        (&server, "--rw=read --size=64m --numjobs=2 --group_reporting", 0),
        (&server, "--rw=randtrim --bs=64k", 0),
        (&server, "--rw=read --filename=/no/such/file --size=1m", 0),
        (&limited, "--rw=randwrite", 1),
        (&limited, "--rw=randread", 0),
    ] {
        let line = format!("{line} --output-format=json");
        let theirs = run(fio(server.job(&line)).current_dir(&server.scratch)).expect_code(code);
        let ours = run(&mut server.ours("fio", &line)).expect_code(code);
        if code == 0 {
            // fio prints a greeting on standard output or standard error.
            let theirs = Json::read(&theirs.stdout[theirs.stdout.find('{').expect("a document")..]);
            let ours = Json::read(&ours.stdout);
            for path in ["jobs/0/read/total_ios", "jobs/0/write/total_ios", "jobs/0/trim/total_ios", "jobs/0/error"] {
                assert_eq!(ours.whole(path), theirs.whole(path), "{path} with {line}");
            }
        }
    }
    for line in ["--name=a --ioengine=nbd --rw=read", "--name=a --ioengine=nbd --uri=foo --rw=read"] {
        run(&mut fio(words(line))).expect_code(1);
        run(&mut fathom(["fio"].into_iter().map(str::to_owned).chain(words(line)))).expect_code(1);
    }
}

#[test]
fn impossible_jobs_are_refused_before_the_run() {
    require!(Nbdkit, Qemu);
    let server = Server::nbdkit("memory 16m");
    for (line, parts) in [
        ("--rw=read --size=32m", &["size", "has 16,777,216 bytes, but the job needs 33,554,432", "size=16777216"][..]),
        ("--rw=read --size=1m --offset=16m", &["has 16,777,216 bytes", "at offset 16,777,216"]),
        ("--rw=read --bs=64m", &["at most 33554432 bytes, but the block size is 67108864"]),
        ("--rw=read --filename=x", &["`filename` has no effect", "`uri` names the export"]),
        ("--rw=read --directory=/tmp", &["`directory` has no effect"]),
    ] {
        let outcome = server.run(line).expect_code(2);
        expect(&outcome.stderr, parts);
        expect(&outcome.stderr, &["nothing was touched"]);
    }
    let server = Server::qemu("off");
    expect(&server.run("--rw=randwrite").expect_code(2).stderr, &["is read-only, but the job writes", "rw=randread"]);
    measured(server.run("--rw=randread --iodepth=8"));
}

#[test]
fn invalid_addresses_are_reported_with_their_place() {
    let refused = |line: &str| run(&mut fathom(words(&format!("run --name=a --rw=read {line}")))).expect_code(2).stderr;
    expect(&refused("--ioengine=nbd"), &["needs the URI of an export", "uri=nbd"]);
    expect(&refused("--ioengine=nbd --uri=http://x/"), &["not an NBD address", "--uri=http://x/"]);
    expect(
        &refused("--ioengine=nbd --uri=nbd://127.0.0.1:1/"),
        &["cannot connect to nbd://127.0.0.1:1/", "start the server"],
    );
    let doctor = run(&mut fathom(["doctor", "nbd://h/"])).expect_code(2);
    expect(&doctor.stderr, &["cannot be examined from this host", "NBD server's host"]);
}

#[test]
fn data_on_an_export_is_protected() {
    require!(Nbdkit);
    let server = Server::nbdkit("file disk");
    let mut disk = std::fs::read(server.scratch.path("disk")).expect("the image");
    disk[1080..1082].copy_from_slice(b"\x53\xef");
    server.scratch.write("disk", &disk);
    let refused = server.run("--rw=randwrite").expect_code(2);
    expect(&refused.stderr, &[&server.uri, "would be overwritten: it holds data", "filesystem", "--allow-destroy="]);
    let dry = server.run("--rw=randwrite --dry-run").expect_code(2);
    expect(&dry.stdout, &["a.0: WRITES nbd+unix://", "(NBD export), bytes 0 to 16,777,216", "refused: "]);
    assert_eq!(std::fs::read(server.scratch.path("disk")).expect("the image"), disk, "it was touched");
    measured(server.run("--rw=randread"));
    measured(server.run(&format!("--rw=randwrite --allow-destroy={}", server.uri)));
}

#[test]
fn jobs_and_results_name_the_export_and_no_file() {
    require!(Nbdkit);
    let server = Server::nbdkit("memory 16m");
    let explained = server.run("--rw=randread --show-jobs").expect_clean().stdout;
    expect(&explained, &["uri              nbd+unix://", "direct           yes"]);
    assert!(!explained.contains("filename"), "{explained}");
    let document = Json::read(&measured(server.run("--rw=randread --iodepth=8 --format=json")).stdout);
    assert_eq!(document.text("jobs/0/evidence/targets/0/path"), server.uri);
    assert_eq!(document.text("jobs/0/evidence/targets/0/kind"), "other");
    assert_eq!(document.whole("jobs/0/evidence/targets/0/size"), 16 << 20);
    assert_eq!(document.items("disks").len(), 0);
}

#[test]
fn an_export_is_swept() {
    require!(Nbdkit);
    let server = Server::nbdkit("--filter=delay memory 16m rdelay=2ms");
    let outcome = measured(run(&mut server.ours("sweep", "--time-limit=3s --depth-max=8")));
    expect(&flat(&outcome.stdout), &[&server.uri, "randread 4 KiB by nbd"]);
}

#[test]
fn errors_of_the_server_end_the_job_or_are_counted() {
    require!(Nbdkit);
    let server = Server::nbdkit("--filter=error memory 16m error=EIO error-pread-rate=10%");
    let outcome = server.run("--rw=randread --iodepth=8").expect_code(3);
    expect(&outcome.stderr, &["read of 4096 bytes at", "Input/output error", "see the server log"]);
    let line = "--rw=randread --iodepth=8 --continue_on_error=read --format=fio-json";
    let document = Json::read(&measured(server.run(line)).stdout);
    let errors = document.whole("jobs/0/total_err");
    assert!((200..700).contains(&errors), "{errors} of 4096 reads failed where a tenth should");
}

#[test]
fn a_server_that_dies_ends_the_job() {
    require!(Nbdkit);
    let lost = "check that the server is running";
    let cases = [("randread", "KILL", lost), ("randwrite --bs=256k", "KILL", lost), ("randread", "TERM", "the server")];
    for (rw, signal, message) in cases {
        let server = Server::nbdkit("memory 16m");
        let line = format!("--rw={rw} --iodepth=16 --numjobs=2 --time_based --runtime=3000 --format=json");
        let mut measuring = Running::start(&mut server.ours("run", &format!("{line} --events events")));
        measuring.wait_for_operations(server.scratch.path("events"));
        server.program.signal(signal);
        let outcome = measuring.end().expect_code(3);
        expect(&outcome.stderr, &[message]);
        assert_eq!(Json::read(&outcome.stdout).text("outcome"), "failed");
    }
}

/// With a full queue, the verdict named both the depth and the device as possible limits.
#[test]
fn a_probe_tells_depth_limits_from_device_limits() {
    let depth =
        ("custom,size=1GiB,latency=3ms", "depth_bound", "The depth is the limit, not the device: iodepth=8 gives ");
    let device = (
        "custom,size=1GiB,latency=3ms,iops=800",
        "device_bound",
        "The device is the limit, not the depth: iodepth=8 gives ",
    );
    // Wrong verdicts are deterministic, so repeating a disturbed probe cannot make one pass.
    for (volume, code, sentence) in [depth, device] {
        timed(&format!("nbd::a_probe_tells_depth_limits_from_device_limits, {code}"), || {
            let server =
                Server::start(|scratch| (fathom(["serve", volume, "--socket", &scratch.text("s")]), String::new()));
            let job = "--rw=randread --bs=4k --iodepth=4 --time_based --runtime=1 --probe";
            let outcome = server.run(&format!("{job} --format json"));
            let document = Json::read(&measured(outcome).stdout);
            assert_eq!(document.whole("jobs/0/probe/iodepth"), 8);
            let probed_ns = document.whole("jobs/0/probe/runtime_ns");
            if !(900_000_000..3_000_000_000).contains(&probed_ns) {
                return Err(format!("it probed for {probed_ns} ns"));
            }
            let headline = document.text("verdicts/0/headline/code");
            let text = measured(server.run(job)).stdout;
            let shown = headline == code && flat(&text).contains(sentence);
            if shown { Ok(()) } else { Err(format!("{headline}: {text}")) }
        });
    }
    timed("nbd::a_probe_tells_depth_limits_from_device_limits, without a probe", || {
        let server =
            Server::start(|scratch| (fathom(["serve", depth.0, "--socket", &scratch.text("s")]), String::new()));
        let open = measured(server.run("--rw=randread --bs=4k --iodepth=4 --time_based --runtime=1")).stdout;
        let shown = flat(&open).contains("Run again with iodepth=8: if IOPS double");
        if shown { Ok(()) } else { Err(open) }
    });
}

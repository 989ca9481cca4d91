//! The example jobs that are distributed with fio are read and run, except for those listed here with the reason.
//!
//! `FATHOM_TEST_EXAMPLES` names another directory than that of the installed examples, such as `examples` of fio's
//! repository.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::common::cases::at_night;
use crate::common::json::Json;
use crate::common::{Scratch, fathom, require, run};

/// Where Debian's package `fio-examples` has them.
const INSTALLED: &str = "/usr/share/doc/fio/examples";

/// Job files that are refused, and words of the diagnostic.
const REFUSED: &[(&str, &str)] = &[
    ("cpp_null.fio", "an example engine in C++"),
    ("dev-dax.fio", "Persistent Memory Development Kit"),
    ("dfs.fio", "DAOS libraries"),
    ("gfapi.fio", "Gluster library"),
    ("gpudirect-rdmaio-client.fio", "RDMA adapter"),
    ("gpudirect-rdmaio-server.fio", "RDMA adapter"),
    ("ime.fio", "Infinite Memory Engine"),
    ("libblkio-io_uring.fio", "user-space driver library"),
    ("libblkio-virtio-blk-vfio-pci.fio", "user-space driver library"),
    ("libcufile-cufile.fio", "a GPU"),
    ("libcufile-posix.fio", "a GPU"),
    ("libhdfs.fio", "Hadoop's Java library"),
    ("libhipfile-hipfile.fio", "a GPU"),
    ("libhipfile-posix.fio", "a GPU"),
    ("libiscsi.fio", "iSCSI client"),
    ("libpmem.fio", "Persistent Memory Development Kit"),
    ("libzbc-rand-write.fio", "zoned devices"),
    ("libzbc-seq-read.fio", "zoned devices"),
    ("librpma_apm-client.fio", "persistent memory, an RDMA adapter"),
    ("librpma_apm-server.fio", "persistent memory, an RDMA adapter"),
    ("librpma_gpspm-client.fio", "persistent memory, an RDMA adapter"),
    ("librpma_gpspm-server.fio", "persistent memory, an RDMA adapter"),
    ("mtd.fio", "raw flash"),
    ("nfs.fio", "NFS client"),
    ("page_fault.fio", "loads the processor or the memory"),
    ("pmemblk.fio", "Persistent Memory Development Kit"),
    ("rados.fio", "Ceph libraries"),
    ("rbd.fio", "Ceph libraries"),
    ("rdmaio-client.fio", "RDMA adapter"),
    ("rdmaio-server.fio", "RDMA adapter"),
    ("uring-cmd-bsg.fio", "cmd_type=bsg is not supported"),
    ("uring-cmd-zoned-append.fio", "is not supported"),
    ("xnvme-fdp.fio", "`fdp`"),
    ("xnvme-pi.fio", "`md_per_io_size`"),
];

/// Job files that are read but cannot run here, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("atomic-verify.fio", "the filesystem has no atomic writes"),
    ("e4defrag2.fio", "its jobs verify a file that others write: fio 3.33 fails too"),
    ("enospc-pressure.fio", "it trims a regular file: fio 3.33 fails too"),
    ("exec.fio", "it needs turbostat"),
    ("http-s3-crypto.fio", "it needs a store: `cli/tests/object_stores.rs` has some"),
    ("http-s3-storage-class.fio", "it needs a store: `cli/tests/object_stores.rs` has some"),
    ("http-s3.fio", "it needs a store: `cli/tests/object_stores.rs` has some"),
    ("http-swift.fio", "it needs a store: `cli/tests/object_stores.rs` has some"),
    ("http-webdav.fio", "it needs a store: `cli/tests/object_stores.rs` has some"),
    ("nbd.fio", "it needs a server: `cli/tests/nbd` has one"),
    ("netio_vsock.fio", "it needs the module vsock_loopback: the guest has it"),
    ("netio_vsock_receiver.fio", "it needs a sender"),
    ("netio_vsock_sender.fio", "it needs a receiver"),
    ("numa.fio", "it needs two NUMA nodes"),
    ("sg_verify-fail.fio", "it needs a SCSI disk: the guest has some"),
    ("sg_verify.fio", "it needs a SCSI disk: the guest has some"),
    ("sg_write_same_ndob.fio", "it needs a SCSI disk: the guest has some"),
    ("uring-cmd-fdp.fio", "its device must exist"),
    ("uring-cmd-ng.fio", "its device must exist: the guest has one"),
    ("uring-cmd-pi-ext.fio", "its device must exist: the guest has one"),
    ("uring-cmd-pi-sb.fio", "its device must exist: the guest has one"),
    ("uring-cmd-trim-multi-range.fio", "its device must exist"),
    ("uring-cmd-write-mode.fio", "its device must exist"),
    ("uring-cmd-zoned.fio", "its device must be zoned: the guest has one"),
    ("xnvme-compare.fio", "its device must exist"),
    ("xnvme-zoned.fio", "its device must be zoned: the guest has some"),
    ("zbd-rand-write-trim-gc.fio", "its device must be zoned: the guest has some"),
    ("zbd-rand-write-zone-reset-gc.fio", "its device must be zoned: the guest has some"),
];

/// What examples read from the environment.
const VARIABLES: [(&str, &str); 9] = [
    ("FIO_BS", "4k"),
    ("FIO_RW", "read"),
    ("FIO_IODEPTH", "4"),
    ("uri", "nbd+unix:///?socket=/run/nbd"),
    ("S3_KEY", "secret"),
    ("S3_ID", "id"),
    ("SSE_KEY", "01234567890123456789012345678901"),
    ("STORAGE_CLASS", "STANDARD"),
    ("SWIFT_id", "token"),
];

fn examples() -> Vec<PathBuf> {
    let directory = std::env::var_os("FATHOM_TEST_EXAMPLES").map_or_else(|| PathBuf::from(INSTALLED), PathBuf::from);
    let entries = std::fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "fio"));
    files.sort_unstable();
    assert!(files.len() > 50, "{} has {} job files", directory.display(), files.len());
    files
}

fn name_of(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn reason_in(list: &[(&str, &'static str)], path: &Path) -> Option<&'static str> {
    list.iter().find(|(name, _)| *name == name_of(path)).map(|(_, reason)| *reason)
}

fn fathom_fio<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = fathom(std::iter::once("fio").chain(arguments));
    command.envs(VARIABLES);
    command
}

#[test]
fn example_jobs_are_read_except_those_listed() {
    require!(FioExamples);
    let mut wrong = Vec::new();
    for path in examples() {
        let outcome = run(fathom_fio(["--parse-only", path.to_str().unwrap()]).current_dir("/tmp"));
        match (reason_in(REFUSED, &path), outcome.code()) {
            (None, Some(0)) => {}
            (Some(reason), Some(1)) if outcome.stderr.contains(reason) => {}
            (_, code) => wrong.push(format!("{}: {code:?} {}", name_of(&path), outcome.stderr)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns a job file that does the same on 1 MiB, or for a fifth of a second, on files in its directory.
fn shortened(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
        let Some((key, value)) = line.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
            lines.push(line.to_owned());
            continue;
        };
        match key {
            "ramp_time" | "startdelay" | "offset" => {}
            "directory" => lines.push("directory=.".to_owned()),
            "filename" => lines.push(format!("filename={}", value.trim_start_matches('/').replace('/', "_"))),
            "filesize" if value.contains('-') => lines.push("filesize=64k-128k".to_owned()),
            "size" | "filesize" | "io_size" if !value.contains('%') => lines.push(format!("{key}=1m")),
            "runtime" | "timeout" => lines.push(format!("{key}=200ms")),
            "loops" => lines.push("loops=1".to_owned()),
            "nrfiles" if value.len() > 2 && !at_night() => lines.push("nrfiles=50".to_owned()),
            "zonesize" => lines.push("zonesize=512k".to_owned()),
            "number_ios" => lines.push("number_ios=50".to_owned()),
            _ => lines.push(line.to_owned()),
        }
    }
    let has = |keys: &[&str]| lines.iter().any(|line| keys.iter().any(|key| line.starts_with(key)));
    // Their size ends the others, however busy the host is.
    let runtime = match (has(&["runtime=", "timeout="]), has(&["time_based"])) {
        (true, _) => "",
        (_, true) => "runtime=200ms\n",
        _ => "runtime=10s\n",
    };
    let size = if has(&["size=", "filesize=", "nrfiles="]) { "" } else { "size=1m\n" };
    format!("[global]\n{runtime}{size}{}\n", lines.join("\n"))
}

fn is_on_ext4(scratch: &Scratch) -> bool {
    let kind = Command::new("stat").args(["--file-system", "--format=%T", "."]).current_dir(scratch).output();
    kind.is_ok_and(|kind| String::from_utf8_lossy(&kind.stdout).starts_with("ext"))
}

/// Runs a shortened example; returns what is wrong with it.
fn fault_of(path: &Path) -> Option<String> {
    let scratch = Scratch::new();
    // It exchanges extents, which only ext4 does.
    if name_of(path) == "e4defrag.fio" && !is_on_ext4(&scratch) {
        return None;
    }
    scratch.write("job.fio", shortened(&std::fs::read_to_string(path).unwrap()));
    let outcome = run(fathom_fio(["--output-format=json", "job.fio"]).current_dir(&scratch));
    match (reason_in(NOT_RUN, path), outcome.code()) {
        (Some(_), Some(0)) => Some("it runs: take it off the list".to_owned()),
        (Some(_), _) => None,
        (None, Some(0)) => {
            let json = Json::read_after_notes(&outcome.stdout);
            let has_failed = |job: &Json| job.whole("error") != 0;
            json.items("jobs").iter().any(has_failed).then_some(outcome.stdout)
        }
        (None, code) => Some(format!("{code:?} {}", outcome.stderr)),
    }
}

#[test]
fn example_jobs_run_except_those_listed() {
    require!(FioExamples);
    let waiting = Mutex::new(examples());
    let wrong = Mutex::new(Vec::new());
    // They wait more than they compute.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(path) = waiting.lock().unwrap().pop() else { break };
                    let fault = reason_in(REFUSED, &path).is_none().then(|| fault_of(&path)).flatten();
                    wrong.lock().unwrap().extend(fault.map(|fault| format!("{}: {fault}", name_of(&path))));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

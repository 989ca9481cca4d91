//! Describes failed operations, with remedies.

use drive::{FailureCause, OperationFailure};
use job::{EngineKind, NameAction, NameCall};
use runner::WorkerPlan;
use rustix::io::Errno;
use units::{CallKind, OpKind, Problem, ProblemCode};
use workload::Decision;

use crate::device_state;

/// Describes a failed operation.
#[must_use]
pub fn failure(failure: &OperationFailure, worker: &WorkerPlan, engine: EngineKind) -> Problem {
    if let Some(detail) = &failure.detail {
        return detail.clone();
    }
    let decision = &failure.decision;
    let path = worker.files.files.get(decision.file as usize).map_or("the target", |file| file.path.as_str());
    let place = place(decision, path, engine);
    let problem = |what: String| Problem::error(ProblemCode::Operation, what);
    let is_of_device = !engine.is_remote() && engine.name_call().is_none();
    if matches!(failure.cause, FailureCause::Errno(_) | FailureCause::EndOfFile)
        && is_of_device
        && device_state::is_removed(path)
    {
        return problem(format!("{place} failed: the device is gone")).help("see the kernel log (dmesg)");
    }
    match &failure.cause {
        FailureCause::Errno(errno) => {
            let error = std::io::Error::from_raw_os_error(*errno);
            let errno = Errno::from_raw_os_error(*errno);
            if engine == EngineKind::IoUringCmd && errno == Errno::ILSEQ {
                return problem(format!("{place} failed: the device found data or protection information that differ"))
                    .help("see verify_pattern (with verify_mode=compare), pi_chk and apptag");
            }
            let known = match engine {
                EngineKind::Nbd => remedy_of_export(errno),
                EngineKind::Http => None,
                _ if let Some(call) = engine.name_call() => remedy_of_name(call, errno),
                EngineKind::IoUringCmd => remedy_of_command(errno).or_else(|| remedy(decision.kind, errno)),
                _ if engine.is_of_network() => remedy_of_connection(errno),
                EngineKind::E4defrag => remedy_of_exchange(errno),
                _ if decision.kind == OpKind::Write && device_state::is_zoned(path) => Some(
                    "set zonemode=zbd: a zoned device accepts writes only at a zone's write pointer (reset zones with \
                     `blkzone reset`)",
                ),
                _ => remedy(decision.kind, errno),
            };
            problem(format!("{place} failed: {error}")).maybe_help(known.map(str::to_owned))
        }
        FailureCause::EndOfFile => {
            problem(format!("{place} failed: the offset is at or beyond the end")).help("use a smaller size or offset")
        }
        FailureCause::Mismatch(mismatch) => problem(format!("verification of {path} failed: {mismatch}")),
        FailureCause::TooSlow { latency, most } => {
            problem(format!("{place} took {latency}, more than max_latency={most}"))
        }
        FailureCause::BelowRate { floor, measured, is_bytes } => {
            let (option, unit) = if *is_bytes { ("rate_min", "B/s") } else { ("rate_iops_min", "IOPS") };
            let kind = decision.kind.data_kind().name();
            problem(format!("{kind}s fell to {measured} {unit}, below {option}={floor} {unit}"))
        }
    }
}

/// Describes an operation that failed for a reason that a SCSI disk gives.
pub(crate) fn of_disk(failure: &OperationFailure, worker: &WorkerPlan, engine: EngineKind, reason: &str) -> Problem {
    let decision = &failure.decision;
    let path = worker.files.files.get(decision.file as usize).map_or("the target", |file| file.path.as_str());
    let place = place(decision, path, engine);
    Problem::error(ProblemCode::Operation, format!("{place} failed: {reason}"))
        .help("see the kernel log (dmesg) and the device's log pages (sg_logs)")
}

/// Returns the remedy for an NVMe command that failed.
fn remedy_of_command(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::OPNOTSUPP => "the device does not support this command: see the field oncs of `nvme id-ctrl`",
        Errno::NODATA => "the blocks are unreadable: they may be unwritten, or marked bad with write_mode=uncor",
        Errno::ACCESS => "run as root: the kernel allows this command only to root",
        Errno::INVAL => "see the kernel log (dmesg) and `nvme id-ns`: the device or the kernel rejected the command",
        _ => return None,
    })
}

/// Names an operation and where it is.
pub(crate) fn place(decision: &Decision, path: &str, engine: EngineKind) -> String {
    if let Some(call) = engine.name_call() {
        let what = match call.action {
            NameAction::Create => "creation",
            NameAction::Stat => "look-up",
            NameAction::Delete => "deletion",
        };
        return format!("{what} of {path}");
    }
    let what = match engine {
        EngineKind::Ftruncate if decision.kind.moves_data() => "ftruncate",
        EngineKind::Falloc if decision.kind.moves_data() => "fallocate",
        EngineKind::E4defrag if decision.kind.moves_data() => "extent exchange",
        _ => CallKind::Operation(decision.kind).name(),
    };
    match decision.length {
        0 => format!("{what} of {path}"),
        bytes => format!("{what} of {bytes} bytes at {} of {path}", decision.offset),
    }
}

/// Remedy of a failed call on a name, by error number.
fn remedy_of_name(call: NameCall, errno: Errno) -> Option<&'static str> {
    Some(match (errno, call.action) {
        (Errno::NOENT, NameAction::Delete) => {
            "omit loops and time_based: each file can be deleted only once, and missing files are created only \
             before the run"
        }
        (Errno::NOENT, NameAction::Stat) => "omit create_on_open, so that missing files are created before the run",
        (Errno::NOENT, NameAction::Create) => "create the parent directory first",
        (Errno::EXIST, _) => "delete the directories first, and omit loops and time_based",
        (Errno::STALE, _) => "run the job again: the path now refers to a different file than when it was checked",
        (Errno::NOTEMPTY, _) => "use an empty directory",
        (Errno::NOSPC | Errno::DQUOT, _) => "use fewer files, or a filesystem with more free inodes (see df -i)",
        _ => return None,
    })
}

/// Remedy of a failed operation on an export, by error number.
fn remedy_of_export(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::IO | Errno::NOSPC => "see the server log: the server reported the error",
        Errno::NOTCONN => "check that the server is running, and see its log: the connection was lost",
        Errno::SHUTDOWN => "restart the server: it is shutting down",
        Errno::PROTO => {
            "use a newer or different server: this one violated the protocol, and the connection was closed"
        }
        Errno::PERM => "check the server's options: the export is read-only, or the operation is not permitted",
        Errno::OPNOTSUPP => "the server did not offer this command",
        Errno::INVAL => "use a bs that is a multiple of the export's minimum block size (see nbdinfo)",
        _ => return None,
    })
}

/// Remedy of a failed exchange of extents, by error number.
fn remedy_of_exchange(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::NODATA => "write the whole file and its donor first: one of them has unallocated blocks",
        Errno::OPNOTSUPP | Errno::NOTTY => "use an ext4 filesystem with extents, and without data=journal or bigalloc",
        Errno::INVAL => "use another donor: this one is also a file of the job, or is on another filesystem",
        Errno::BUSY | Errno::TXTBSY => "stop the program that uses the file or the donor (see fuser)",
        Errno::NOSPC => {
            "use a smaller size, or a filesystem with more free space: the donor needs as much space as the file"
        }
        _ => return None,
    })
}

/// Remedy of a failed transfer over a connection, by error number.
fn remedy_of_connection(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::PIPE | Errno::CONNRESET => {
            "use the same size and runtime for both jobs: the peer closed the connection early"
        }
        Errno::MSGSIZE => "use a bs of at most 65507 bytes: each block is one datagram",
        _ => return None,
    })
}

/// Remedy of a failed operation, by error number.
fn remedy(kind: OpKind, errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::IO => "see the kernel log (dmesg): the device reported the error",
        Errno::NODEV | Errno::NXIO => "see the kernel log (dmesg): the device is gone",
        Errno::FBIG => "raise the file size limit (ulimit -f), or use a smaller size",
        Errno::NOSPC => "use a smaller size, or a filesystem with more free space",
        Errno::PERM => "run as root (CAP_SYS_ADMIN), or omit cmdprio_class=1: the real-time class requires root",
        Errno::AGAIN => "omit nowait=1, or read only cached data: the operation would have blocked",
        Errno::OPNOTSUPP if matches!(kind, OpKind::Read | OpKind::Write) => {
            "omit uncached, nowait, atomic and hipri: the kernel or the filesystem does not support one of them"
        }
        Errno::INVAL => "with direct=1 use a bs that is a multiple of the device's logical block size",
        Errno::NOTTY | Errno::OPNOTSUPP if kind == OpKind::Trim => {
            "use a block device that supports discard (see lsblk --discard); `fathom run` also trims regular files \
             by punching holes"
        }
        _ => return None,
    })
}

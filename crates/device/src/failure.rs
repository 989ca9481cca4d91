//! Describes failed operations, with remedies.

use drive::{FailureCause, OperationFailure};
use job::Engine;
use runner::{WorkerError, WorkerPlan};
use rustix::io::Errno;
use units::OpKind;

use crate::device_state;

/// Describes a failed operation.
#[must_use]
pub fn failure(failure: &OperationFailure, worker: &WorkerPlan, engine: Engine) -> String {
    let decision = &failure.decision;
    let path = worker.files.files.get(decision.file as usize).map_or("the target", |file| file.path.as_str());
    let what = match decision.kind {
        OpKind::Read => "read",
        OpKind::Write => "write",
        OpKind::Trim => "trim",
        OpKind::Sync => "fsync",
        OpKind::DataSync => "fdatasync",
    };
    let place = match decision.length {
        0 => format!("{what} of {path}"),
        bytes => format!("{what} of {bytes} bytes at {} of {path}", decision.offset),
    };
    match &failure.cause {
        FailureCause::Errno(errno) => {
            let reason = std::io::Error::from_raw_os_error(*errno);
            let errno = Errno::from_raw_os_error(*errno);
            let known = match engine {
                Engine::Nbd => remedy_of_export(errno),
                _ => device_state::remedy(path, decision.kind).or_else(|| remedy(decision.kind, errno)),
            };
            let remedy = known.map(|remedy| format!("\nhelp: {remedy}"));
            format!("{place} failed: {reason}{}", remedy.unwrap_or_default())
        }
        FailureCause::EndOfFile => {
            let state = if engine == Engine::Nbd { None } else { device_state::remedy(path, decision.kind) };
            let remedy = state.unwrap_or("use a smaller size or offset");
            format!("{place} failed: it lies at or beyond the end\nhelp: {remedy}")
        }
        FailureCause::Mismatch(mismatch) => format!("verification of {path} failed: {mismatch}"),
        FailureCause::TooSlow { latency, most } => {
            format!("{place} took {latency}, and max_latency is {most}")
        }
        FailureCause::BelowRate { floor, measured, is_bytes } => {
            let (option, unit) = if *is_bytes { ("rate_min", "B/s") } else { ("rate_iops_min", "IOPS") };
            format!("{what}s fell to {measured} {unit}, and {option} is {floor} {unit}")
        }
    }
}

/// Remedy of a failed operation on an export, by error number.
fn remedy_of_export(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::IO | Errno::NOSPC => "see the log of the server, which reported the error",
        Errno::NOTCONN => "check that the server still runs, and see its log: the connection was lost",
        Errno::SHUTDOWN => "start the server again: it is shutting down",
        Errno::PROTO => "use a newer or another server: this one violated the protocol, and the connection was closed",
        Errno::PERM => "check how the server was started: the export is read-only, or the server forbids the operation",
        Errno::OPNOTSUPP => "the server has not offered to do that",
        Errno::INVAL => "use a bs that is a multiple of the export's least block size (see nbdinfo)",
        _ => return None,
    })
}

/// Remedy of a failed operation, by error number.
fn remedy(kind: OpKind, errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::IO => "see the kernel's log (dmesg): the device reported the error",
        Errno::NODEV | Errno::NXIO => "see the kernel's log (dmesg): the device has gone",
        Errno::FBIG => "raise the limit of file sizes (ulimit -f), or use a smaller size",
        Errno::NOSPC => "use a smaller size, or a filesystem with more room",
        Errno::INVAL => "with direct=1 use a bs that is a multiple of the device's logical block size",
        Errno::NOTTY | Errno::OPNOTSUPP if kind == OpKind::Trim => {
            "name a block device that can discard (see lsblk --discard); `fathom run` trims regular files too, by \
             punching holes"
        }
        _ => return None,
    })
}

/// Converts an error of the engine into that of a worker.
pub(crate) fn worker_error(error: &engine::Error) -> WorkerError {
    WorkerError::with_errno(error.to_string(), error.errno)
}

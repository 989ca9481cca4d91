//! Describes failed operations, with remedies.

use drive::{FailureCause, OperationFailure};
use job::Engine;
use runner::WorkerPlan;
use units::OpKind;

use crate::device_state;

/// Error numbers of Linux.
const EPERM: i32 = 1;
const EIO: i32 = 5;
const ENXIO: i32 = 6;
const ENODEV: i32 = 19;
const EINVAL: i32 = 22;
const ENOTTY: i32 = 25;
const EFBIG: i32 = 27;
const ENOSPC: i32 = 28;
const EPROTO: i32 = 71;
const EOPNOTSUPP: i32 = 95;
const ENOTCONN: i32 = 107;
const ESHUTDOWN: i32 = 108;

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
            let known = match engine {
                Engine::Nbd => remedy_of_export(*errno),
                _ => device_state::remedy(path, decision.kind).or_else(|| remedy(decision.kind, *errno)),
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
    }
}

/// Remedy of a failed operation on an export, by error number.
fn remedy_of_export(errno: i32) -> Option<&'static str> {
    Some(match errno {
        EIO | ENOSPC => "see the log of the server, which reported the error",
        ENOTCONN => "check that the server still runs, and see its log: the connection was lost",
        ESHUTDOWN => "start the server again: it is shutting down",
        EPROTO => "use a newer or another server: this one violated the protocol, and the connection was closed",
        EPERM => "check how the server was started: the export is read-only, or the server forbids the operation",
        EOPNOTSUPP => "the server has not offered to do that",
        EINVAL => "use a bs that is a multiple of the export's least block size (see nbdinfo)",
        _ => return None,
    })
}

/// Remedy of a failed operation, by error number.
fn remedy(kind: OpKind, errno: i32) -> Option<&'static str> {
    Some(match errno {
        EIO => "see the kernel's log (dmesg): the device reported the error",
        ENODEV | ENXIO => "see the kernel's log (dmesg): the device has gone",
        EFBIG => "raise the limit of file sizes (ulimit -f), or use a smaller size",
        ENOSPC => "use a smaller size, or a filesystem with more room",
        EINVAL => "with direct=1 use a bs that is a multiple of the device's logical block size",
        ENOTTY | EOPNOTSUPP if kind == OpKind::Trim => {
            "name a block device that can discard (see lsblk --discard); `fathom run` trims regular files too, by \
             punching holes"
        }
        _ => return None,
    })
}

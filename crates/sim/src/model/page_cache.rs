//! Which jobs use the page cache of their machine.

use job::{EngineKind, Job, OpenSync};
use volume::pagecache::AccessAdvice;

use crate::Buffered;

/// Returns how a job uses the page cache of its machine; `None` if it bypasses the cache.
pub(super) fn buffered(job: &Job) -> Option<Buffered> {
    let engine = job.engine.kind;
    let past =
        matches!(engine, EngineKind::Model | EngineKind::Null) || job.engine.direct && engine != EngineKind::Mmap;
    (!past).then(|| Buffered {
        // A call blocks its helper thread only.
        blocking: !job.engine.offloads
            && !matches!(engine, EngineKind::IoUring | EngineKind::IoUringCmd | EngineKind::Posixaio),
        durable: job.files.open_sync != OpenSync::None,
        advice: if job.pattern.random { AccessAdvice::Random } else { AccessAdvice::Sequential },
    })
}

//! Which jobs use the page cache of their machine.

use job::{Engine, Job, OpenSync};
use volume::pagecache::AccessAdvice;

use crate::Buffered;

/// Returns how a job uses the page cache of its machine; `None` if it bypasses the cache.
pub(super) fn buffered(job: &Job) -> Option<Buffered> {
    let engine = job.engine.engine;
    let past = matches!(engine, Engine::Model | Engine::Null) || job.engine.direct && engine != Engine::Mmap;
    (!past).then(|| Buffered {
        // A call blocks its helper thread only.
        blocking: !job.engine.offloads && !matches!(engine, Engine::IoUring | Engine::IoUringCmd | Engine::Posixaio),
        durable: job.files.open_sync != OpenSync::None,
        advice: if job.pattern.random { AccessAdvice::Random } else { AccessAdvice::Sequential },
    })
}

//! Workers of a world, and their use of page caches.

use job::{EngineKind, Job, OpenSync};
use volume::pagecache::AccessAdvice;

/// Position of a worker's file on a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientPlace {
    /// Index of the attachment that leads to it.
    pub route: usize,
    /// Offset on the volume, in bytes.
    pub base: u64,
    /// Length, in bytes.
    pub bytes: u64,
}

/// A worker of a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelClient {
    /// Maximum operations in flight.
    pub depth: u32,
    /// Positions of its files.
    pub files: Vec<ClientPlace>,
    /// Use of its machine's page cache; `None` if it bypasses the cache.
    pub buffered: Option<Buffered>,
}

/// Use of the page cache by a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffered {
    /// Whether its operations are served one after another.
    pub blocking: bool,
    /// Whether its writes complete only once they are durable (`O_SYNC`, `O_DSYNC`).
    pub durable: bool,
    /// Access pattern that it has announced to the kernel.
    pub advice: AccessAdvice,
}

impl Buffered {
    /// Returns how a job uses the page cache of its machine; `None` if it bypasses the cache.
    pub(crate) fn of_job(job: &Job) -> Option<Self> {
        let engine = job.engine.kind;
        let past =
            matches!(engine, EngineKind::Model | EngineKind::Null) || job.engine.direct && engine != EngineKind::Mmap;
        (!past).then(|| Self {
            // A call blocks its helper thread only.
            blocking: !job.engine.offloads
                && !matches!(engine, EngineKind::IoUring | EngineKind::IoUringCmd | EngineKind::Posixaio),
            durable: job.files.open_sync != OpenSync::None,
            advice: if job.pattern.random { AccessAdvice::Random } else { AccessAdvice::Sequential },
        })
    }
}

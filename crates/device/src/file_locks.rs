//! Locks of files between the workers of a run (`lockfile`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use drive::{FileLock, FileLocks};
use engine::gate::FileIdentity;
use job::{FileLocking, Job};
use runner::WorkerPlan;

/// The locks of all files of a run.
#[derive(Debug, Default)]
pub(crate) struct SharedLocks(Mutex<BTreeMap<LockedFile, Arc<FileLock>>>);

/// A file by what it is, so that two names of one file have one lock; by its name if it is none.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LockedFile {
    Identified(FileIdentity),
    Named(String),
}

impl SharedLocks {
    /// Returns the locks of a worker, if its job has some. Its files have been opened.
    pub(crate) fn of_worker(&self, worker: &WorkerPlan, job: &Job) -> Option<FileLocks> {
        let shares_reads = match job.files.locking {
            FileLocking::None => return None,
            FileLocking::Exclusive => false,
            FileLocking::ReadWrite => true,
        };
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lock = |path: &str| {
            let file = match FileIdentity::at(Path::new(path)) {
                Some(identity) => LockedFile::Identified(identity),
                None => LockedFile::Named(path.to_owned()),
            };
            Arc::clone(locks.entry(file).or_default())
        };
        Some(FileLocks { files: worker.files.files.iter().map(|file| lock(&file.path)).collect(), shares_reads })
    }
}

//! The objects of a worker, and what its requests leave for other threads.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use units::{OpKind, Problem};

#[derive(Clone, Debug)]
pub struct ObjectsOfWorker {
    /// The objects of each file.
    pub objects: Vec<StoredObjects>,
    /// Where failures and reports go.
    pub journal: Arc<RequestJournal>,
}

/// The objects of one file.
#[derive(Clone, Debug)]
pub struct StoredObjects {
    /// URL, without the number and the length of a block.
    pub url: String,
    /// The path in it, which is not encoded.
    pub path: String,
    /// The permission to write and delete them.
    pub permit: Option<ObjectPermit>,
}

impl StoredObjects {
    /// Reports whether the objects may be written and deleted.
    pub(crate) fn is_writable(&self) -> bool {
        self.permit.as_ref().is_some_and(|permit| permit.covers(&self.url))
    }
}

/// The permission to write and delete the objects whose names begin with a URL. Only the gate makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPermit {
    url: String,
}

impl ObjectPermit {
    /// Creates the permission that the gate has given.
    pub(crate) fn new(url: &str) -> Self {
        Self { url: url.to_owned() }
    }

    /// Reports whether it permits the objects of this URL.
    pub(crate) fn covers(&self, url: &str) -> bool {
        self.url == url
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRequest {
    /// Kind of the operation.
    pub kind: OpKind,
    /// Index of the file.
    pub file: u32,
    /// Offset of the block.
    pub offset: u64,
    /// Method, URL, reason and remedy.
    pub problem: Problem,
}

/// Failures and reports of the requests of one worker.
#[derive(Default)]
pub struct RequestJournal {
    entries: Mutex<JournalEntries>,
}

#[derive(Default)]
struct JournalEntries {
    failures: Vec<FailedRequest>,
    lines: Vec<String>,
    lost_lines: u64,
}

/// Maximum number of failures kept in full.
const FAILURES_MAX: usize = 16;
/// Maximum number of lines that wait for the thread that prints them.
const LINES_MAX: usize = 4096;

impl RequestJournal {
    fn entries(&self) -> MutexGuard<'_, JournalEntries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_failure(&self, failure: FailedRequest) {
        let failures = &mut self.entries().failures;
        if failures.len() < FAILURES_MAX {
            failures.push(failure);
        }
    }

    pub(crate) fn add_line(&self, line: String) {
        let mut entries = self.entries();
        if entries.lines.len() < LINES_MAX {
            entries.lines.push(line);
        } else {
            entries.lost_lines += 1;
        }
    }

    /// Returns the first failures, and forgets them.
    #[must_use]
    pub fn take_failures(&self) -> Vec<FailedRequest> {
        std::mem::take(&mut self.entries().failures)
    }

    /// Returns the lines of reports since the last call.
    #[must_use]
    pub fn take_lines(&self) -> Vec<String> {
        let mut entries = self.entries();
        let mut lines = std::mem::take(&mut entries.lines);
        let lost = std::mem::take(&mut entries.lost_lines);
        if lost > 0 {
            lines.push(format!("{lost} more requests"));
        }
        lines
    }
}

impl fmt::Debug for RequestJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestJournal")
    }
}

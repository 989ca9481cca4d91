//! Registers the files that this process reads as input or measures, which results never replace, and those that it writes
//! results to, which no job writes, under any name.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::identity::FileIdentity;

/// A file with its creation time, if the filesystem records it: inode numbers are reused.
type Registered = (FileIdentity, Option<SystemTime>);

static INPUTS: Mutex<BTreeSet<Registered>> = Mutex::new(BTreeSet::new());
static RESULTS: Mutex<BTreeSet<Registered>> = Mutex::new(BTreeSet::new());

/// Registers a file that results must not replace. Only regular files have content to lose.
pub fn note_input(metadata: &Metadata) {
    if metadata.is_file() {
        INPUTS.lock().unwrap_or_else(PoisonError::into_inner).insert(registered(metadata));
    }
}

pub(super) fn is_input(metadata: &Metadata) -> bool {
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner).contains(&registered(metadata))
}

/// Registers a file that jobs must not write to, because it has or gets results.
pub(super) fn note_result(metadata: &Metadata) {
    if metadata.is_file() {
        RESULTS.lock().unwrap_or_else(PoisonError::into_inner).insert(registered(metadata));
    }
}

pub(super) fn is_result(metadata: &Metadata) -> bool {
    RESULTS.lock().unwrap_or_else(PoisonError::into_inner).contains(&registered(metadata))
}

fn registered(metadata: &Metadata) -> Registered {
    (FileIdentity::of(metadata), metadata.created().ok())
}

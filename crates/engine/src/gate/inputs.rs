//! The files that this process reads as input or measures: results never go into them, whatever name they have.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::sync::{Mutex, PoisonError};

use super::identity::Identity;

static INPUTS: Mutex<BTreeSet<Identity>> = Mutex::new(BTreeSet::new());

/// Notes a file as one that must outlive the results. Other than regular files keep nothing that results could replace.
pub fn note_input(metadata: &Metadata) {
    if let identity @ Identity::File { .. } = Identity::of(metadata) {
        INPUTS.lock().unwrap_or_else(PoisonError::into_inner).insert(identity);
    }
}

pub(super) fn contain(identity: Identity) -> bool {
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner).contains(&identity)
}

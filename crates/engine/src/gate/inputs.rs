//! Registers the files that this process reads as input or measures. Results never replace them, under any name.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::identity::FileIdentity;

/// An input with its creation time, if the filesystem records it: inode numbers are reused.
type Input = (FileIdentity, Option<SystemTime>);

static INPUTS: Mutex<BTreeSet<Input>> = Mutex::new(BTreeSet::new());

/// Registers a file that results must not replace. Only regular files have content to lose.
pub fn note_input(metadata: &Metadata) {
    if metadata.is_file() {
        INPUTS.lock().unwrap_or_else(PoisonError::into_inner).insert(input(metadata));
    }
}

pub(super) fn contain(metadata: &Metadata) -> bool {
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner).contains(&input(metadata))
}

fn input(metadata: &Metadata) -> Input {
    (FileIdentity::of(metadata), metadata.created().ok())
}

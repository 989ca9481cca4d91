//! Opens the target of a setup.

use crate::engines::{self, Visitor};
use crate::error::Error;
use crate::files::File;
use crate::offload::Offload;
use crate::opening::Opening;

/// Creates the target that `setup` describes over `files` and passes it to `visitor`. Operations refer to files by
/// index. `mmap` needs files open for reading even if it only writes. `null`, `net`, `http` and engines of names use no
/// files, and file 0 of `nbd` is the export.
///
/// The target belongs to the calling thread, so each worker calls this on its own thread.
///
/// # Errors
/// Fails, without calling the visitor, if the engine is unavailable, its buffers cannot be allocated or its helper threads
/// cannot be started.
pub fn with_target<V: Visitor>(setup: &Opening, files: Vec<File>, visitor: V) -> Result<V::Output, Error> {
    if setup.spec.offloads {
        Offload::new(setup, files).map(|target| visitor.visit(target))
    } else {
        engines::with_engine(setup, files, visitor)
    }
}

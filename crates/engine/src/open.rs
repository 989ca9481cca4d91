//! Opens the target of a setup with its concrete type.

use target::Target;

use crate::aio::Aio;
use crate::at_once::AtOnce;
use crate::blocking::{Blocking, Call, Pread, Preadv, Preadv2, SeekIo, SeekVector};
use crate::error::Error;
use crate::exports::Nbd;
use crate::files::File;
use crate::mmap::Mmap;
use crate::null::Null;
use crate::setup::{EngineKind, Setup};
use crate::uring::Uring;

/// What is to be done with a target, whatever its type: compiled once for each engine, so that the loop over it
/// calls nothing through a table.
pub trait Visitor {
    /// What comes back.
    type Output;

    /// Uses the target, on the thread that made it.
    fn visit<T: Target>(self, target: T) -> Self::Output;
}

/// Makes the target that `setup` describes over `files` and shows it to `visitor`. Operations name files by
/// their places in the list. `mmap` needs them open for reads even where it only writes; `null` uses none, and file 0 of `nbd` is
/// the export.
///
/// The target belongs to the calling thread: call this on the worker's own.
///
/// # Errors
///
/// When the engine or the memory for its buffers cannot be had; the visitor is then not called.
pub fn with_target<V: Visitor>(setup: &Setup, files: Vec<File>, visitor: V) -> Result<V::Output, Error> {
    match setup.engine {
        EngineKind::IoUring => Uring::new(setup, files).map(|target| visitor.visit(target)),
        EngineKind::Libaio => Aio::new(setup, files).map(|target| visitor.visit(target)),
        EngineKind::Mmap => AtOnce::new(setup, Mmap::new(files)?).map(|target| visitor.visit(target)),
        EngineKind::Psync => blocking(Pread, setup, files, visitor),
        EngineKind::Sync => blocking(SeekIo, setup, files, visitor),
        EngineKind::Vsync => blocking(SeekVector, setup, files, visitor),
        EngineKind::Pvsync => blocking(Preadv, setup, files, visitor),
        EngineKind::Pvsync2 => blocking(Preadv2::new(setup.hipri), setup, files, visitor),
        EngineKind::Nbd => Nbd::new(setup).map(|target| visitor.visit(target)),
        EngineKind::Null => Null::new(setup).map(|target| visitor.visit(target)),
    }
}

fn blocking<C: Call, V: Visitor>(call: C, setup: &Setup, files: Vec<File>, visitor: V) -> Result<V::Output, Error> {
    AtOnce::new(setup, Blocking { call, files }).map(|target| visitor.visit(target))
}

//! Opens the target of a setup as its concrete type.

use target::Target;

use crate::aio::Aio;
use crate::allocation::{Allocation, AllocationCall};
use crate::blocking::{Blocking, Call, Pread, Preadv, Preadv2, SeekIo, SeekVector};
use crate::defragment::Defragment;
use crate::error::Error;
use crate::exports::Nbd;
use crate::files::File;
use crate::mmap::Mmap;
use crate::names::Names;
use crate::network::Network;
use crate::null::Null;
use crate::nvme::Passthrough;
use crate::objects::Objects;
use crate::processor::Processor;
use crate::program::Program;
use crate::scsi::Scsi;
use crate::setup::{EngineKind, Setup};
use crate::splice::Splice;
use crate::sync_target::SyncTarget;
use crate::uring::Uring;

/// A function generic over the target, compiled once per engine so that the loop in it makes no dynamic calls.
pub trait Visitor {
    /// The result of the visit.
    type Output;

    /// Uses the target on the thread that created it.
    fn visit<T: Target>(self, target: T) -> Self::Output;
}

/// Creates the target that `setup` describes over `files` and passes it to `visitor`. Operations refer to files by
/// index. `mmap` needs files open for reading even if it only writes. `null`, `net`, `http` and engines of names use no files, and file
/// 0 of `nbd` is the export.
///
/// The target belongs to the calling thread, so each worker calls this on its own thread.
///
/// # Errors
/// Fails, without calling the visitor, if the engine is unavailable or its buffers cannot be allocated.
pub fn with_target<V: Visitor>(setup: &Setup, files: Vec<File>, visitor: V) -> Result<V::Output, Error> {
    match setup.engine {
        EngineKind::IoUring => Uring::new(setup, files).map(|target| visitor.visit(target)),
        EngineKind::IoUringCmd => Passthrough::new(setup, files).map(|target| visitor.visit(target)),
        EngineKind::Libaio => Aio::new(setup, files).map(|target| visitor.visit(target)),
        EngineKind::Mmap => SyncTarget::new(setup, Mmap::new(files, setup.thp)?).map(|target| visitor.visit(target)),
        EngineKind::Psync => blocking(Pread, setup, files, visitor),
        EngineKind::Sync => blocking(SeekIo, setup, files, visitor),
        EngineKind::Vsync => blocking(SeekVector, setup, files, visitor),
        EngineKind::Pvsync => blocking(Preadv, setup, files, visitor),
        EngineKind::Pvsync2 => blocking(Preadv2::new(setup), setup, files, visitor),
        EngineKind::Splice => blocking(Splice::new()?, setup, files, visitor),
        EngineKind::Scsi => Scsi::new(setup).map(|target| visitor.visit(target)),
        EngineKind::Nbd => Nbd::new(setup).map(|target| visitor.visit(target)),
        EngineKind::Network => SyncTarget::new(setup, Network::new(setup)?).map(|target| visitor.visit(target)),
        EngineKind::Objects => SyncTarget::new(setup, Objects::new(setup)?).map(|target| visitor.visit(target)),
        EngineKind::Processor => SyncTarget::new(setup, Processor::new(setup)).map(|target| visitor.visit(target)),
        EngineKind::Program => SyncTarget::new(setup, Program::new(setup)).map(|target| visitor.visit(target)),
        EngineKind::Null => Null::new(setup).map(|target| visitor.visit(target)),
        EngineKind::Names(call) => Ok(visitor.visit(Names::new(call, setup))),
        EngineKind::Ftruncate => allocation(AllocationCall::Truncate, setup, files, visitor),
        EngineKind::Defragment { in_place } => {
            SyncTarget::new(setup, Defragment::new(files, in_place)?).map(|target| visitor.visit(target))
        }
        EngineKind::Falloc => allocation(AllocationCall::Allocate, setup, files, visitor),
    }
}

fn blocking<C: Call, V: Visitor>(call: C, setup: &Setup, files: Vec<File>, visitor: V) -> Result<V::Output, Error> {
    SyncTarget::new(setup, Blocking { call, files }).map(|target| visitor.visit(target))
}

fn allocation<V: Visitor>(
    call: AllocationCall,
    setup: &Setup,
    files: Vec<File>,
    visitor: V,
) -> Result<V::Output, Error> {
    SyncTarget::new(setup, Allocation { call, files }).map(|target| visitor.visit(target))
}

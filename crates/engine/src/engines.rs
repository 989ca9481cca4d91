//! Creates the target of an engine as its concrete type.

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

/// Creates the target of the engine itself; see [`crate::with_target`].
pub(crate) fn with_engine<V: Visitor>(setup: &Setup, files: Vec<File>, visitor: V) -> Result<V::Output, Error> {
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

//! Creates the target of an engine as its concrete type.

mod offload;

use target::Target;
use target::spec::EngineKind;

use crate::aio::Aio;
use crate::allocation::{Allocation, AllocationCall};
use crate::blocking::{Blocking, Call, Pread, Preadv, Preadv2, SeekIo, SeekVector};
use crate::error::Error;
use crate::files::File;
use crate::mmap::Mmap;
use crate::more::cpuio::Processor;
use crate::more::e4defrag::Defragment;
use crate::more::exec::Program;
use crate::more::http::Objects;
use crate::more::net::Network;
use crate::more::sg::Scsi;
use crate::names::Names;
use crate::nbd_target::Nbd;
use crate::null::Null;
use crate::nvme::Passthrough;

use crate::opening::Opening;
use crate::splice::Splice;
use crate::sync_target::{Perform, SyncTarget};
use crate::uring::Uring;
use offload::Offload;

/// A function generic over the target, compiled once per engine so that the loop in it makes no dynamic calls.
pub trait Visitor {
    /// The result of the visit.
    type Output;

    /// Uses the target on the thread that created it.
    fn visit<T: Target>(self, target: T) -> Self::Output;
}

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
        Offload::target(setup, files).map(|target| visitor.visit(target))
    } else {
        with_engine(setup, files, visitor)
    }
}

/// Creates the target of the engine itself; see [`with_target`].
pub(crate) fn with_engine<V: Visitor>(setup: &Opening, files: Vec<File>, visitor: V) -> Result<V::Output, Error> {
    match setup.spec.kind {
        EngineKind::IoUring | EngineKind::Posixaio => Uring::target(setup, files).map(|target| visitor.visit(target)),
        EngineKind::IoUringCmd => Passthrough::target(setup, files).map(|target| visitor.visit(target)),
        EngineKind::Libaio => Aio::target(setup, files).map(|target| visitor.visit(target)),
        EngineKind::Mmap => synchronous(Mmap::new(files, setup.spec.thp)?, setup, visitor),
        EngineKind::Psync => blocking(Pread, setup, files, visitor),
        EngineKind::Sync => blocking(SeekIo, setup, files, visitor),
        EngineKind::Vsync => blocking(SeekVector, setup, files, visitor),
        EngineKind::Pvsync => blocking(Preadv, setup, files, visitor),
        EngineKind::Pvsync2 => blocking(Preadv2::new(setup), setup, files, visitor),
        EngineKind::Splice => blocking(Splice::new()?, setup, files, visitor),
        EngineKind::Sg => Scsi::target(setup).map(|target| visitor.visit(target)),
        EngineKind::Nbd => Nbd::target(setup).map(|target| visitor.visit(target)),
        EngineKind::Net | EngineKind::Netsplice => synchronous(Network::new(setup)?, setup, visitor),
        EngineKind::Http => synchronous(Objects::new(setup)?, setup, visitor),
        EngineKind::Cpuio => synchronous(Processor::new(setup), setup, visitor),
        EngineKind::Exec => synchronous(Program::new(setup), setup, visitor),
        // Modelled volumes have targets of their own.
        EngineKind::Null | EngineKind::Model => Null::new(setup).map(|target| visitor.visit(target)),
        EngineKind::Filecreate
        | EngineKind::Filestat
        | EngineKind::Filedelete
        | EngineKind::Dircreate
        | EngineKind::Dirstat
        | EngineKind::Dirdelete => synchronous(Names::new(setup), &setup.without_buffers(), visitor),
        EngineKind::Ftruncate => synchronous(Allocation { call: AllocationCall::Truncate, files }, setup, visitor),
        EngineKind::Falloc => synchronous(Allocation { call: AllocationCall::Allocate, files }, setup, visitor),
        EngineKind::E4defrag => synchronous(Defragment::new(files, setup.spec.defragment.in_place)?, setup, visitor),
    }
}

fn synchronous<P: Perform, V: Visitor>(perform: P, setup: &Opening, visitor: V) -> Result<V::Output, Error> {
    SyncTarget::new(setup, perform).map(|target| visitor.visit(target))
}

fn blocking<C: Call, V: Visitor>(call: C, setup: &Opening, files: Vec<File>, visitor: V) -> Result<V::Output, Error> {
    synchronous(Blocking { call, files }, setup, visitor)
}

//! Stores with the data of exports.
//!
//! A store takes operations under numbers, called slots, and reports their completion immediately or later. It never
//! blocks for long: device I/O runs elsewhere and is announced by [`Store::signal`].

mod blocks;
pub mod conformance;
mod extents;
pub mod faults;
mod memory;
mod overlay;
mod pattern;
mod pieces;
mod pool;
mod scratch;
mod sparse;

use std::ops::Range;
use std::os::fd::BorrowedFd;

use nbd_wire::{Errno, Extent};

pub use extents::Extents;
pub use faults::{Fault, FaultKind, Faults, FaultyStore, InjectedFaults};
pub use memory::MemoryStore;
pub use overlay::Overlay;
pub use pattern::{Content, PatternStore};
pub use pieces::Pieces;
pub use pool::Pool;

/// A store operation. The caller has checked that its range is within the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<D> {
    /// Reads; [`Store::lend`] returns the data after completion.
    Read {
        /// First byte.
        offset: u64,
        /// Length in bytes.
        length: u32,
    },
    /// Writes data.
    Write {
        /// First byte.
        offset: u64,
        /// Data; a store keeps none of it after the call.
        data: D,
        /// Whether it completes only when the data would survive a power loss (FUA).
        durable: bool,
    },
    /// Zeroes a range.
    Zero {
        /// First byte.
        offset: u64,
        /// Length in bytes.
        length: u64,
        /// Whether it completes only when the zeroes would survive a power loss.
        durable: bool,
        /// Whether the range must stay allocated (`NO_HOLE`).
        allocated: bool,
        /// Whether to fail with [`Errno::NotSupported`] if it is no faster than writing zeroes.
        fast: bool,
    },
    /// Discards a range: its content becomes undefined.
    Trim {
        /// First byte.
        offset: u64,
        /// Length in bytes.
        length: u64,
        /// Whether it completes only when the discard would survive a power loss.
        durable: bool,
    },
    /// Makes the effects of completed operations survive a power loss.
    Flush,
    /// Announces that a range will be read soon.
    Cache {
        /// First byte.
        offset: u64,
        /// Length in bytes.
        length: u64,
    },
}

impl<D> Operation<D> {
    /// Reports whether the content of the range may change.
    #[must_use]
    pub const fn changes(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Zero { .. } | Self::Trim { .. })
    }

    /// Reports whether it completes only when its effect would survive a power loss.
    #[must_use]
    pub const fn is_durable(&self) -> bool {
        matches!(
            self,
            Self::Write { durable: true, .. } | Self::Zero { durable: true, .. } | Self::Trim { durable: true, .. }
        )
    }

    /// Returns the same operation with other data.
    pub fn map<'a, E>(&'a self, convert: impl FnOnce(&'a D) -> E) -> Operation<E> {
        match *self {
            Self::Read { offset, length } => Operation::Read { offset, length },
            Self::Write { offset, ref data, durable } => Operation::Write { offset, data: convert(data), durable },
            Self::Zero { offset, length, durable, allocated, fast } => {
                Operation::Zero { offset, length, durable, allocated, fast }
            }
            Self::Trim { offset, length, durable } => Operation::Trim { offset, length, durable },
            Self::Flush => Operation::Flush,
            Self::Cache { offset, length } => Operation::Cache { offset, length },
        }
    }
}

impl<D: AsRef<[u8]>> Operation<D> {
    /// Returns the range in bytes; empty for a flush.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        let (offset, length) = match self {
            Self::Read { offset, length } => (*offset, u64::from(*length)),
            Self::Write { offset, data, .. } => (*offset, data.as_ref().len() as u64),
            Self::Zero { offset, length, .. } | Self::Trim { offset, length, .. } | Self::Cache { offset, length } => {
                (*offset, *length)
            }
            Self::Flush => (0, 0),
        };
        offset..offset + length
    }
}

/// Progress of an operation when [`Store::start`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreProgress {
    /// The operation has ended.
    Ended(Result<(), Errno>),
    /// [`Store::collect`] will report its end.
    Pending,
}

/// The end of an operation that was [`StoreProgress::Pending`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreEnd {
    /// Slot of the operation.
    pub slot: u32,
    /// Result of the operation.
    pub result: Result<(), Errno>,
}

/// Capabilities of a store beyond reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreCapabilities {
    /// Whether it is writable; the others require this.
    pub write: bool,
    /// Whether ranges can be discarded.
    pub trim: bool,
    /// Whether zeroing is faster than writing zeroes.
    pub fast_zero: bool,
}

/// Memory of operations in flight in a store, besides what the store's own limit covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Whether the store holds the data of a read until [`Store::release`], and that of a write until it ends.
    pub copies: bool,
    /// Additional bytes of a write.
    pub write_bytes: u64,
    /// Bytes of [`Operation::Zero`].
    pub zero_bytes: u64,
}

/// Data of an export.
///
/// A store belongs to one thread. Concurrent operations have different slots and no defined order.
pub trait Store {
    /// Returns the size in bytes.
    fn size(&self) -> u64;

    fn abilities(&self) -> StoreCapabilities;

    /// Returns the memory that operations take while they are in flight.
    fn footprint(&self) -> Footprint {
        Footprint::default()
    }

    /// Limits by `pool` the buffers that the store keeps for later operations, including the unneeded part of buffers
    /// in use.
    fn keep_within(&mut self, _pool: &Pool) {}

    /// Starts an operation in `slot`, which is in use until it ends or, for reads, until [`Store::release`].
    fn start(&mut self, slot: u32, operation: Operation<&[u8]>) -> StoreProgress;

    /// Submits operations that [`Store::start`] has queued for one system call; called once per group of operations.
    fn submit(&mut self) {}

    /// Appends operations that have ended since the last call, without waiting.
    fn collect(&mut self, _ended: &mut Vec<StoreEnd>) {}

    /// Returns a descriptor that is readable when [`Store::collect`] has results; `None` if nothing is ever pending.
    fn signal(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Lends the data of a successful read, from byte `from` on, in as many pieces as `pieces` can hold; callers repeat
    /// the call with a larger `from` for the rest. A `length` below the read's leaves out its end.
    fn lend<'a>(&'a self, slot: u32, offset: u64, length: u32, from: u32, pieces: &mut Pieces<'_, 'a>);

    /// Releases the data of a successful read.
    fn release(&mut self, _slot: u32) {}

    /// Returns at most `most` adjacent extents that begin at `offset` and cover at least its first byte.
    ///
    /// # Errors
    /// When the store cannot determine them.
    fn extents(&mut self, offset: u64, length: u64, most: usize) -> Result<Vec<Extent>, Errno>;

    /// Changes the injected faults from the next operation on. Only [`FaultyStore`] has faults.
    fn set_faults(&mut self, _rates: faults::FaultRates) {}

    /// Returns the counts of injected faults.
    fn injected(&self) -> InjectedFaults {
        InjectedFaults::default()
    }
}

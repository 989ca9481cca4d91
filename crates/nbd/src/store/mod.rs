//! Where the bytes of an export are.
//!
//! A store takes operations under numbers, called slots, and tells later or at once that they have ended. It never blocks
//! for long: what waits for a device does so elsewhere and is heard of through [`Store::signal`].

mod blocks;
pub mod conformance;
mod extents;
pub mod faults;
mod memory;
mod overlay;
mod parts;
mod pattern;
mod pieces;
mod pool;
mod scratch;
mod slab;
mod sparse;

use std::os::fd::BorrowedFd;

use nbd_wire::{Errno, Extent};

pub use extents::Extents;
pub use faults::{Fault, FaultKind, Faults, FaultyStore, InjectedFaults};
pub use memory::MemoryStore;
pub use overlay::Overlay;
pub use pattern::{Content, PatternStore};
pub use pieces::Pieces;
pub use pool::Pool;

/// An operation of a store. The caller has checked that its range is within the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Reads; the bytes are had from [`Store::lend`] once it has ended.
    Read {
        /// The first byte.
        offset: u64,
        /// How many.
        length: u32,
    },
    /// Writes.
    Write {
        /// The first byte.
        offset: u64,
        /// What to write; not kept after the call.
        data: &'a [u8],
        /// Whether it ends only when the bytes would survive the loss of power (FUA).
        durable: bool,
    },
    /// Makes a range read as zeroes.
    Zero {
        /// The first byte.
        offset: u64,
        /// How many.
        length: u64,
        /// Whether it ends only when it would survive the loss of power.
        durable: bool,
        /// Whether the range must stay allocated (`NO_HOLE`).
        allocated: bool,
        /// Whether to refuse, with [`Errno::NotSupported`], what is no faster than writing zeroes.
        fast: bool,
    },
    /// Gives a range up: what it holds from then on is not defined.
    Trim {
        /// The first byte.
        offset: u64,
        /// How many.
        length: u64,
        /// Whether it ends only when it would survive the loss of power.
        durable: bool,
    },
    /// What was read or written before by operations that have ended survives the loss of power.
    Flush,
    /// A range will be read soon.
    Cache {
        /// The first byte.
        offset: u64,
        /// How many.
        length: u64,
    },
}

/// Progress of an operation when [`Store::start`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreProgress {
    /// It has ended.
    Ended(Result<(), Errno>),
    /// [`Store::collect`] will tell.
    Pending,
}

/// The end of an operation that was [`StoreProgress::Pending`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreEnd {
    /// Its slot.
    pub slot: u32,
    /// How it went.
    pub result: Result<(), Errno>,
}

/// Capabilities of a store beyond reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Writing at all; without it none of the others.
    pub write: bool,
    /// Giving ranges up.
    pub trim: bool,
    /// Making ranges zero faster than by writing zeroes.
    pub fast_zero: bool,
}

/// Memory that operations take in a store while they are in flight, besides what the store's own limit covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Whether the store holds the bytes of a read until [`Store::release`], and those of a write until it has ended.
    pub copies: bool,
    /// Bytes that a write takes besides.
    pub write_bytes: u64,
    /// Bytes that [`Operation::Zero`] takes.
    pub zero_bytes: u64,
}

/// Bytes behind an export.
///
/// Used by one thread. Operations under way at the same time have different slots; no order holds between them.
pub trait Store {
    /// How many bytes it has.
    fn size(&self) -> u64;

    /// What it can do.
    fn abilities(&self) -> Abilities;

    /// What operations take while they are in flight.
    fn footprint(&self) -> Footprint {
        Footprint::default()
    }

    /// Counts buffers in `pool` that the store keeps for later operations, and what those in use have beyond what is
    /// needed of them; keeps no more than fit.
    fn keep_within(&mut self, pool: &Pool) {
        let _ = pool;
    }

    /// Takes an operation. `slot` names it until it has ended, and reads until [`Store::release`].
    fn start(&mut self, slot: u32, operation: Operation<'_>) -> StoreProgress;

    /// Hands over what [`Store::start`] has held back for one system call; to be called once after each group of operations.
    fn submit(&mut self) {}

    /// Appends what has ended since the last call, without waiting.
    fn collect(&mut self, ended: &mut Vec<StoreEnd>) {
        let _ = ended;
    }

    /// Readable when [`Store::collect`] has something to tell; `None` where nothing is ever pending.
    fn signal(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// The bytes of a read that has ended well, from its `from`-th byte on, in as many pieces as fit into `pieces`.
    /// What is not whole yet is asked for again with a larger `from`. A `length` that is less than the read's leaves out
    /// its end.
    fn lend<'a>(&'a self, slot: u32, offset: u64, length: u32, from: u32, pieces: &mut Pieces<'_, 'a>);

    /// The bytes of a read that has ended well are no longer needed.
    fn release(&mut self, slot: u32) {
        let _ = slot;
    }

    /// What is allocated of a range: neighbouring extents that begin at `offset` and cover at least its first byte, at most
    /// `most` of them.
    ///
    /// # Errors
    /// Where the store cannot find out.
    fn extents(&mut self, offset: u64, length: u64, most: usize) -> Result<Vec<Extent>, Errno>;

    /// Changes what goes wrong on purpose, from the next operation on; stores other than [`FaultyStore`] have no faults.
    fn set_faults(&mut self, rates: faults::FaultRates) {
        let _ = rates;
    }

    /// What went wrong on purpose.
    fn injected(&self) -> InjectedFaults {
        InjectedFaults::default()
    }
}

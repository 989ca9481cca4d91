//! The interface between the loop that issues operations and the implementations that execute them.
//!
//! [`Target`] has two separate families of implementations: `engine` (real devices, real time) and `sim` (modelled
//! volumes, virtual time). The loop in `drive` is generic over it and compiled once for each.
//! **The target owns the clock**: nothing else in Fathom reads a clock.
//!
//! [`RecordingTarget`] reports what is done on another target.
//!
//! [`spec`] has the engines and all their settings.
//!
//! [`conformance`] is the test suite for implementations; [`testing`] has targets for tests.
//!
//! What is *not* here: implementations for production, statistics, and any knowledge of jobs.

pub mod conformance;
mod recording;
pub mod spec;
pub mod testing;

pub use recording::{ExecutedOp, OpRecorder, RecordingTarget};

use units::{Nanos, OpKind, ZoneCommand};

/// Error number of targets without zones.
const EOPNOTSUPP: i32 = 95;

/// Identifies a slot for an operation in flight.
///
/// A tag is in use from [`Target::submit`] until its [`Completion`] is returned. Each tag has a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u32);

impl Tag {
    /// Returns the tag as an index into per-tag tables.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An operation, as the loop submits it to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Slot of the operation, which determines its buffer.
    pub tag: Tag,
    /// Kind of operation.
    pub kind: OpKind,
    /// Index of the file in the worker's list of files.
    pub file: u32,
    /// Offset in the file in bytes.
    pub offset: u64,
    /// Length in bytes; zero for syncs of whole files, and for [`OpKind::SyncRange`] to the end of the file.
    pub length: u32,
    /// Offset in the tag's buffer in bytes: positive when the rest of a short transfer is submitted again.
    pub skip: u32,
}

/// A completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The tag, which is free again.
    pub tag: Tag,
    /// Instant at which the operation was handed to the device.
    pub submitted: Nanos,
    /// Instant at which the target saw its completion.
    pub completed: Nanos,
    /// Bytes transferred, or a negated Linux error number: `-5` is `EIO`. [`Completion::WITHOUT_CALL`] for an operation
    /// that counts but needed no call.
    pub result: i32,
}

impl Completion {
    /// Result of an operation that counts but needed no call, so that it has no latency.
    pub const WITHOUT_CALL: i32 = i32::MIN;
    /// Result of an operation whose source has ended: it does not count, and its worker ends.
    pub const ENDED: i32 = i32::MIN + 1;
    /// Result of an operation that still waits for its peer: it is submitted again, unless its worker has ended.
    pub const IDLE: i32 = i32::MIN + 2;
    /// Result of an operation that counts, with its latency, and moves no data by its nature.
    pub const WITHOUT_DATA: i32 = i32::MIN + 3;
}

/// Source of reads after a write-back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteBackSource {
    Stored,
    /// In part a cache that could not be emptied.
    Cached,
}

/// Executes operations.
///
/// A target is used by one thread. After [`Target::submit`] it may queue operations, so that many reach the kernel in
/// one call, but only until the next [`Target::wait`].
pub trait Target {
    /// Returns the time on this target's clock, which never runs backwards.
    fn now(&mut self) -> Nanos;

    /// Sets the I/O priority of the operation that is submitted next, as the kernel encodes it. Targets without
    /// priorities ignore it.
    fn prioritize(&mut self, priority: u16) {
        let _ = priority;
    }

    /// Makes the read that is submitted next a comparison: it fails with `EILSEQ` unless the device holds what is in the
    /// tag's buffer. Targets without comparisons read.
    fn compare(&mut self) {}

    /// Divides the trim that is submitted next under this tag into ranges of offset and length. Its own length is that of
    /// all ranges, and it has them still if it is submitted again. Targets without trims of several ranges ignore it.
    fn divide(&mut self, tag: Tag, ranges: &[(u64, u32)]) {
        let _ = (tag, ranges);
    }

    /// Takes an operation whose tag is free. Errors are reported by its completion.
    fn submit(&mut self, op: Op);

    /// Submits queued operations, then appends completions to `done` until there are at least `min` of them or `until`
    /// is reached. If `min` is zero, it only collects what has already completed.
    ///
    /// Returns at `until` at the latest (a real target as close to it as the kernel allows). If nothing is in flight
    /// and `min` is positive, it returns earlier only if `until` is [`Nanos::MAX`], because it would otherwise wait
    /// forever. A virtual target advances its clock to the instant at which it returns. A signal may end the wait
    /// early.
    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<Completion>);

    /// Selects the files that [`Target::invalidate`] concerns from now on: those of the worker with this tag. Targets
    /// for a single worker ignore it.
    fn turn_to(&mut self, tag: Tag) {
        let _ = tag;
    }

    /// Reports that the results of the worker with this tag count from now on (`begins`, after its ramp), or no longer
    /// (after its end). For targets that record statistics of their own.
    fn measure(&mut self, tag: Tag, begins: bool) {
        let _ = (tag, begins);
    }

    /// Lets a target that records its own course take a sample, because an observer reads the run. Called at most a few
    /// times per second of the target's time, and never between two operations of the same instant.
    fn note(&mut self) {}

    /// Drops the cached data of `length` bytes of a file from `offset` on (zero: to its end), so that later reads come
    /// from the storage. Data that were not written back stay cached, and so do all data if there is no cache or it
    /// cannot be controlled. Operations in flight continue; the target's clock may advance.
    fn invalidate(&mut self, file: u32, offset: u64, length: u64);

    /// Writes cached data back and then does the same as [`Target::invalidate`], so that later reads come from the
    /// storage. Data of operations in flight may stay cached.
    ///
    /// # Errors
    ///
    /// Returns the error number of the write-back; the written data are not stored.
    fn settle(&mut self, file: u32, offset: u64, length: u64) -> Result<WriteBackSource, i32> {
        self.invalidate(file, offset, length);
        Ok(WriteBackSource::Stored)
    }

    /// Sends a command to the zone of `length` bytes at `offset`, and returns its write pointer afterwards. Operations in
    /// flight continue; the target's clock may advance.
    ///
    /// # Errors
    ///
    /// Returns the error number; targets without zones return `EOPNOTSUPP`.
    fn command_zone(&mut self, file: u32, command: ZoneCommand, offset: u64, length: u64) -> Result<u64, i32> {
        let _ = (file, command, offset, length);
        Err(EOPNOTSUPP)
    }

    /// Reports that nothing will be submitted to this file for now, so that its resources can be released until it is
    /// used again. Operations in flight on it complete.
    fn close(&mut self, file: u32) {
        let _ = file;
    }

    /// Keeps the CPU busy for this many of its cycles. Operations in flight continue. Virtual targets, which have no
    /// CPU, do nothing.
    fn spin(&mut self, cycles: u32) {
        let _ = cycles;
    }

    /// Removes a file for whose name later operations create a new one, if they write. Nothing is in flight on it. Targets
    /// without names do nothing.
    ///
    /// # Errors
    ///
    /// Returns the error number of the removal or of the creation.
    fn renew(&mut self, file: u32) -> Result<(), i32> {
        let _ = file;
        Ok(())
    }

    /// Returns the whole buffer of a tag that is not in flight; `None` if the target keeps no bytes.
    fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]>;
}

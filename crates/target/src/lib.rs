//! The seam between the loop that issues operations and whatever carries them out.
//!
//! [`Target`] has two families of implementers that never meet: `engine` (real devices, real time) and `sim`
//! (modelled volumes, virtual time). The loop in `drive` is generic over it and compiled once for each.
//! **The target owns the clock**: nothing else in Fathom reads a clock.
//!
//! [`conformance`] is the suite that every implementation passes; [`testing`] has targets for tests.
//!
//! What is *not* here: any implementation for production, any statistics, any knowledge of jobs.

pub mod conformance;
pub mod testing;

use units::Nanos;
use units::OpKind;

/// Names one of the slots in which an operation can be in flight.
///
/// A tag is in use from [`Target::submit`] until its [`Completion`] has been handed out; there is one buffer
/// per tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u32);

impl Tag {
    /// The tag as an index into per-tag tables.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One operation, as the loop hands it to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// The slot it occupies, and so the buffer it uses.
    pub tag: Tag,
    /// What it does.
    pub kind: OpKind,
    /// Which of the worker's files, by its place in the list the target was opened with.
    pub file: u32,
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// How many bytes it transfers; zero for [`OpKind::Sync`] and [`OpKind::DataSync`].
    pub length: u32,
    /// Where in the tag's buffer it begins: more than zero when the rest of a short transfer is submitted again.
    pub skip: u32,
}

/// A completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The tag, free again from now on.
    pub tag: Tag,
    /// When the operation was handed to the device.
    pub submitted: Nanos,
    /// When the target saw that it was done.
    pub completed: Nanos,
    /// Bytes transferred, or an error number as Linux counts them, negated: `-5` is `EIO`.
    pub result: i32,
}

/// Where reads come from after a write-back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// From where it is stored.
    Stored,
    /// In part from a cache that could not be emptied.
    Cached,
}

/// Executes operations.
///
/// A target is used by one thread. It may hold operations back after [`Target::submit`] so that many go to the
/// kernel in one call, but no longer than until the next [`Target::wait`].
pub trait Target {
    /// The time on this target's clock. It never runs backwards.
    fn now(&mut self) -> Nanos;

    /// Takes an operation whose tag is free. Whatever goes wrong is told by its completion.
    fn submit(&mut self, op: Op);

    /// Hands over what was submitted, then appends completions to `done` until there are at least `min` of
    /// them or `until` has come. With `min` zero it only collects what is done already.
    ///
    /// Returns at `until` at the latest (a real target as near to it as the kernel allows), and earlier when
    /// nothing is in flight and `min` is more than zero only if `until` is [`Nanos::MAX`]: waiting for nothing
    /// forever has no meaning. A virtual target moves its clock to the instant at which it returns. A signal
    /// may make it return early with fewer.
    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<Completion>);

    /// Says whose files [`Target::invalidate`] means from now on: those of the worker that has this tag. Targets of one
    /// worker need not know.
    fn turn_to(&mut self, tag: Tag) {
        let _ = tag;
    }

    /// The results of the worker that has this tag count from now on (`begins`), or no longer: its ramp is over, it has
    /// ended. For targets that account for what they did.
    fn measure(&mut self, tag: Tag, begins: bool) {
        let _ = (tag, begins);
    }

    /// An observer reads the run: a target that keeps an account of its course writes it down. Asked a few times a second
    /// of its own time at most, never between two operations of one instant.
    fn note(&mut self) {}

    /// Forgets what a cache holds of `length` bytes of a file from `offset` on (zero: to its end), so that later
    /// reads come from below it. What has not been written back stays; so does all of it where there is no cache,
    /// or none that listens. Operations in flight go on; the target's clock may move.
    fn invalidate(&mut self, file: u32, offset: u64, length: u64);

    /// Like [`Target::invalidate`], after what was written has been written back: later reads bring what is stored and not
    /// what is cached. With operations in flight, what they write may stay cached.
    ///
    /// # Errors
    ///
    /// The error number of the write-back: what was written is not stored.
    fn settle(&mut self, file: u32, offset: u64, length: u64) -> Result<Settled, i32> {
        self.invalidate(file, offset, length);
        Ok(Settled::Stored)
    }

    /// Nothing is submitted to this file for now: what it holds can go, and is had again when it is needed. What is
    /// in flight there completes. Targets without anything to give back do nothing.
    fn close(&mut self, file: u32) {
        let _ = file;
    }

    /// The buffer of a tag that is not in flight, whole; `None` where the target keeps no bytes.
    fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]>;
}

//! A target in memory with a virtual clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Nanos;
use units::random::Random;

use crate::{Completion, Op, OpKind, Tag, Target};

/// Settings of a [`MemoryTarget`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryModel {
    /// Size of each file in bytes; files are initially zero.
    pub files: Vec<u64>,
    /// Number of tags and buffers.
    pub depth: u32,
    /// Size of each buffer in bytes.
    pub buffer_bytes: u32,
    /// Minimum duration of an operation.
    pub latency: Nanos,
    /// Maximum additional duration, uniformly distributed; if positive, completions may be out of order.
    pub jitter: Nanos,
    /// Seed of the jitter.
    pub seed: u64,
}

impl Default for MemoryModel {
    /// One file of 1 MiB, 32 buffers of 4 KiB, 100 µs per operation.
    fn default() -> Self {
        Self {
            files: vec![1 << 20],
            depth: 32,
            buffer_bytes: 4096,
            latency: Nanos::from_micros(100),
            jitter: Nanos::ZERO,
            seed: 0,
        }
    }
}

/// A target that keeps bytes. Time passes only during waits.
///
/// Operations take effect when they are submitted, and proceed concurrently without a queue. Files do not grow: writes
/// across the end are cut short, writes beyond it fail with `ENOSPC` (28).
#[derive(Clone, Debug)]
pub struct MemoryTarget {
    files: Vec<Vec<u8>>,
    buffers: Vec<Vec<u8>>,
    pending: BinaryHeap<Reverse<PendingOp>>,
    submissions: u64,
    invalidated: Vec<Invalidated>,
    latency: Nanos,
    jitter: Nanos,
    random: Random,
    now: Nanos,
}

/// A call of [`Target::invalidate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalidated {
    /// Number of operations submitted before the call.
    pub submissions: u64,
    /// Index of the file.
    pub file: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes; zero for all to the end.
    pub length: u64,
}

/// An operation in flight, ordered by completion time and then by submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PendingOp {
    completed: Nanos,
    submission: u64,
    submitted: Nanos,
    tag: Tag,
    result: i32,
}

impl MemoryTarget {
    /// Returns a target with files of zeros and its clock at zero.
    #[must_use]
    pub fn new(model: &MemoryModel) -> Self {
        Self {
            files: model.files.iter().map(|&bytes| vec![0; bytes as usize]).collect(),
            buffers: vec![vec![0; model.buffer_bytes as usize]; model.depth as usize],
            pending: BinaryHeap::new(),
            submissions: 0,
            invalidated: Vec::new(),
            latency: model.latency,
            jitter: model.jitter,
            random: Random::new(model.seed, 0),
            now: Nanos::ZERO,
        }
    }

    /// Returns the bytes of a file, to inspect or change them; empty if there is no such file.
    pub fn file(&mut self, index: usize) -> &mut [u8] {
        self.files.get_mut(index).map_or(&mut [], Vec::as_mut_slice)
    }

    /// Returns the number of submitted operations.
    #[must_use]
    pub fn submissions(&self) -> u64 {
        self.submissions
    }

    /// Returns all calls of [`Target::invalidate`], in order. They have no effect, because there is no cache.
    #[must_use]
    pub fn invalidated(&self) -> &[Invalidated] {
        &self.invalidated
    }

    fn perform(&mut self, op: &Op) -> i32 {
        const EBADF: i32 = 9;
        const EINVAL: i32 = 22;
        const ENOSPC: i32 = 28;
        let Some(file) = self.files.get_mut(op.file as usize) else {
            return -EBADF;
        };
        let start = usize::try_from(op.offset).unwrap_or(usize::MAX).min(file.len());
        let place = start..start.saturating_add(op.length as usize).min(file.len());
        let length = place.len();
        let buffer = self.buffers.get_mut(op.tag.index());
        let span = op.skip as usize..op.skip as usize + length;
        match (op.kind, buffer.and_then(|buffer| buffer.get_mut(span))) {
            (OpKind::Sync | OpKind::DataSync | OpKind::SyncRange | OpKind::SyncFilesystem, _) => return 0,
            (OpKind::Trim, _) => file[place].fill(0),
            (OpKind::Write, _) if length == 0 && op.length > 0 => return -ENOSPC,
            (OpKind::Read, Some(span)) => span.copy_from_slice(&file[place]),
            (OpKind::Write, Some(span)) => file[place].copy_from_slice(span),
            (OpKind::Read | OpKind::Write, None) => return -EINVAL,
        }
        length as i32
    }

    /// Returns the completions up to now.
    fn collect(&mut self, done: &mut Vec<Completion>) {
        while let Some(Reverse(next)) = self.pending.peek().copied() {
            if next.completed > self.now {
                return;
            }
            self.pending.pop();
            let PendingOp { completed, submitted, tag, result, .. } = next;
            done.push(Completion { tag, submitted, completed, result });
        }
    }
}

impl Target for MemoryTarget {
    fn now(&mut self) -> Nanos {
        self.now
    }

    fn submit(&mut self, op: Op) {
        let result = self.perform(&op);
        let took = self.latency + Nanos::new(self.random.below(self.jitter.get().saturating_add(1)));
        let pending = PendingOp {
            completed: self.now + took,
            submission: self.submissions,
            submitted: self.now,
            tag: op.tag,
            result,
        };
        self.pending.push(Reverse(pending));
        self.submissions += 1;
    }

    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<Completion>) {
        let enough = done.len() + min as usize;
        self.collect(done);
        while done.len() < enough {
            let next = self.pending.peek().map_or(Nanos::MAX, |Reverse(next)| next.completed);
            let stop = next.min(until);
            if stop == Nanos::MAX {
                return;
            }
            self.now = self.now.max(stop);
            self.collect(done);
            if stop == until {
                return;
            }
        }
    }

    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        self.invalidated.push(Invalidated { submissions: self.submissions, file, offset, length });
    }

    fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]> {
        self.buffers.get_mut(tag.index()).map(Vec::as_mut_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{TestedTarget, check};

    #[test]
    fn conforms_in_order_and_out_of_order() {
        for (seed, jitter) in [(0, 0), (1, 50), (2, 5_000)] {
            let model = MemoryModel { jitter: Nanos::from_micros(jitter), seed, ..MemoryModel::default() };
            check(&mut MemoryTarget::new(&model), &TestedTarget::default());
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_completions() {
        let run = |seed| {
            let model = MemoryModel { jitter: Nanos::from_micros(100), seed, ..MemoryModel::default() };
            let (mut memory, mut done) = (MemoryTarget::new(&model), Vec::new());
            for tag in 0..32 {
                memory.submit(Op { tag: Tag(tag), kind: OpKind::Read, file: 0, offset: 0, length: 512, skip: 0 });
            }
            memory.wait(32, Nanos::MAX, &mut done);
            done
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }

    #[test]
    fn changes_to_a_file_are_visible_to_reads() {
        let mut memory = MemoryTarget::new(&MemoryModel::default());
        memory.file(0)[7] = 9;
        memory.submit(Op { tag: Tag(0), kind: OpKind::Read, file: 0, offset: 0, length: 512, skip: 0 });
        memory.wait(1, Nanos::MAX, &mut Vec::new());
        assert_eq!(memory.buffer(Tag(0)).unwrap()[7], 9);
        assert_eq!(memory.now(), Nanos::from_micros(100));
        assert!(memory.file(1).is_empty());
    }
}

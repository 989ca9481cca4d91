//! Random operations.

use std::ops::Range;

use units::random::Random;

use crate::store::Operation;

/// An operation that owns its data.
#[derive(Clone, Debug)]
pub(super) struct TestedWork {
    pub(super) kind: WorkKind,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) durable: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WorkKind {
    Read,
    Write(Vec<u8>),
    Zero { allocated: bool, fast: bool },
    Trim,
    Flush,
    Cache,
}

const LARGEST: u64 = 200_000;

impl TestedWork {
    /// Returns a random operation on a store of `size` bytes.
    pub(super) fn any(random: &mut Random, size: u64) -> Self {
        let Range { start, end } = range(random, size);
        let (length, durable) = (end - start, random.below(4) == 0);
        let kind = match random.below(16) {
            0..6 => WorkKind::Read,
            6..12 => WorkKind::Write(written(random, length)),
            12 => WorkKind::Zero { allocated: random.below(2) == 0, fast: random.below(2) == 0 },
            13 => WorkKind::Trim,
            14 => WorkKind::Flush,
            _ => WorkKind::Cache,
        };
        Self { kind, offset: start, length, durable }
    }

    /// Returns two to four changes, each overlapping the first; all must succeed.
    pub(super) fn contest(random: &mut Random, size: u64) -> Vec<Self> {
        let first = range(random, size);
        let count = 2 + random.below(3) as usize;
        let mut works = vec![Self::change(random, first.clone())];
        while works.len() < count {
            let other = range(random, size);
            let apart = other.end <= first.start || other.start >= first.end;
            let head = first.start..first.start + 1 + random.below(first.end - first.start);
            works.push(Self::change(random, if apart { head } else { other }));
        }
        works.rotate_left(random.below(count as u64) as usize);
        works
    }

    fn change(random: &mut Random, Range { start, end }: Range<u64>) -> Self {
        let kind = match random.below(4) {
            0 => WorkKind::Zero { allocated: random.below(2) == 0, fast: false },
            _ => WorkKind::Write(written(random, end - start)),
        };
        Self { kind, offset: start, length: end - start, durable: random.below(4) == 0 }
    }

    /// Returns the byte that it leaves at an offset of the store, if any.
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        let inside = at.checked_sub(self.offset as usize).filter(|&inside| inside < self.length as usize)?;
        match &self.kind {
            WorkKind::Write(data) => Some(data[inside]),
            WorkKind::Zero { .. } => Some(0),
            _ => None,
        }
    }

    pub(super) fn operation(&self) -> Operation<'_> {
        let Self { offset, length, durable, .. } = *self;
        match self.kind {
            WorkKind::Read => Operation::Read { offset, length: length as u32 },
            WorkKind::Write(ref data) => Operation::Write { offset, data, durable },
            WorkKind::Zero { allocated, fast } => Operation::Zero { offset, length, durable, allocated, fast },
            WorkKind::Trim => Operation::Trim { offset, length, durable },
            WorkKind::Flush => Operation::Flush,
            WorkKind::Cache => Operation::Cache { offset, length },
        }
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.length) as usize
    }

    pub(super) fn changes(&self) -> bool {
        matches!(self.kind, WorkKind::Write(_) | WorkKind::Zero { .. } | WorkKind::Trim)
    }

    /// Reports whether the result of one depends on the other.
    pub(super) fn disturbs(&self, other: &Self) -> bool {
        let bytes = |work: &Self| !matches!(work.kind, WorkKind::Flush | WorkKind::Cache);
        let apart = self.offset + self.length <= other.offset || other.offset + other.length <= self.offset;
        !apart && bytes(self) && bytes(other) && (self.changes() || other.changes())
    }
}

/// Returns a random range, often aligned to sectors, pages or blocks.
fn range(random: &mut Random, size: u64) -> Range<u64> {
    let border = [1, 1, 512, 4096, 4096, 65536][random.below(6) as usize];
    let longest = [16, 512, 5000, 70_000, LARGEST][random.below(5) as usize].min(size);
    let start = random.below(size) / border * border;
    let length = (1 + random.below(longest)).next_multiple_of(border).min(size - start);
    start..start + length
}

fn written(random: &mut Random, length: u64) -> Vec<u8> {
    let mut data = vec![0; length as usize];
    if random.below(8) > 0 {
        random.fill(&mut data);
    }
    data
}

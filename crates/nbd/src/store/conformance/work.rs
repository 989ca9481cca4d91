//! Random operations.

use std::ops::Range;

use units::random::Random;

use crate::store::Operation;

/// An operation that owns its data.
pub(super) type TestedWork = Operation<Vec<u8>>;

const LARGEST: u64 = 200_000;

impl TestedWork {
    /// Returns a random operation on a store of `size` bytes.
    pub(super) fn any(random: &mut Random, size: u64) -> Self {
        let Range { start: offset, end } = range(random, size);
        let (length, durable) = (end - offset, random.below(4) == 0);
        match random.below(16) {
            0..6 => Self::Read { offset, length: length as u32 },
            6..12 => Self::Write { offset, data: written(random, length), durable },
            12 => {
                let (allocated, fast) = (random.below(2) == 0, random.below(2) == 0);
                Self::Zero { offset, length, durable, allocated, fast }
            }
            13 => Self::Trim { offset, length, durable },
            14 => Self::Flush,
            _ => Self::Cache { offset, length },
        }
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

    fn change(random: &mut Random, Range { start: offset, end }: Range<u64>) -> Self {
        let (length, durable) = (end - offset, random.below(4) == 0);
        match random.below(4) {
            0 => Self::Zero { offset, length, durable, allocated: random.below(2) == 0, fast: false },
            _ => Self::Write { offset, data: written(random, length), durable },
        }
    }

    /// Returns the byte that it leaves at an offset of the store, if any.
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        let bytes = self.bytes();
        match self {
            Self::Write { data, .. } if bytes.contains(&at) => Some(data[at - bytes.start]),
            Self::Zero { .. } if bytes.contains(&at) => Some(0),
            _ => None,
        }
    }

    /// Returns the range as indices.
    pub(super) fn bytes(&self) -> Range<usize> {
        let Range { start, end } = self.range();
        start as usize..end as usize
    }

    /// Reports whether the result of one depends on the other.
    pub(super) fn disturbs(&self, other: &Self) -> bool {
        let uses = |work: &Self| work.changes() || matches!(work, Self::Read { .. });
        let (range, others) = (self.range(), other.range());
        let apart = range.end <= others.start || others.end <= range.start;
        !apart && uses(self) && uses(other) && (self.changes() || other.changes())
    }
}

/// Returns a range as a read.
pub(super) fn read_of(range: &Range<u64>) -> Operation<Vec<u8>> {
    Operation::Read { offset: range.start, length: (range.end - range.start) as u32 }
}

/// Returns a random range, often aligned to sectors, pages or blocks.
pub(super) fn range(random: &mut Random, size: u64) -> Range<u64> {
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

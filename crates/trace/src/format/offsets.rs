//! Offsets: most follow from earlier ones, and the others are relative to the lowest of their class.

use super::bits::BlockFields;
use super::classes::{Classes, RequestClass};
use super::column::{ColumnReader, ColumnWriter, SplitReader, SplitWriter, unzigzag, zigzag};
use super::rans;

/// How an offset is given.
const SEQUENTIAL: u8 = 0;
const NEAR: u8 = 1;
const REPEATED: u8 = 2;
const LITERAL: u8 = 3;

/// Classes with their own distribution of these; all others share one.
const KIND_CONTEXTS: usize = 16;

/// Number of bits of the index of a repeated offset.
const RECENT_BITS: u32 = 12;

fn kind_context(class: u32) -> usize {
    (class as usize).min(KIND_CONTEXTS - 1)
}

/// What is known of earlier requests of the block.
struct OffsetHistory {
    /// End of the latest request of each stream.
    ends: Vec<u64>,
    /// Offsets by their hash.
    recent: Vec<u64>,
}

impl OffsetHistory {
    fn new(streams: usize) -> Self {
        Self { ends: vec![0; streams], recent: vec![u64::MAX; 1 << RECENT_BITS] }
    }

    #[inline]
    fn end(&mut self, class: &RequestClass) -> &mut u64 {
        &mut self.ends[class.stream as usize]
    }

    #[inline]
    fn slot(offset: u64) -> usize {
        ((offset >> 9).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - RECENT_BITS)) as usize
    }
}

/// Writes the offsets of a block.
pub(super) struct OffsetWriter {
    history: OffsetHistory,
    kinds: [Vec<u8>; KIND_CONTEXTS],
    near: ColumnWriter<2>,
    repeated: SplitWriter,
    literal: SplitWriter,
}

impl OffsetWriter {
    pub(super) fn new(classes: &Classes) -> Self {
        Self {
            history: OffsetHistory::new(classes.streams),
            kinds: Default::default(),
            near: ColumnWriter::default(),
            repeated: SplitWriter::default(),
            literal: SplitWriter::default(),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, id: u32, class: &RequestClass, offset: u64, length: u32) {
        let end = std::mem::replace(self.history.end(class), offset.wrapping_add(u64::from(length)));
        let kind = if offset == end { SEQUENTIAL } else { self.elsewhere(class, offset, end) };
        self.kinds[kind_context(id)].push(kind);
    }

    #[inline]
    fn elsewhere(&mut self, class: &RequestClass, offset: u64, end: u64) -> u8 {
        let slot = OffsetHistory::slot(offset);
        let is_repeated = std::mem::replace(&mut self.history.recent[slot], offset) == offset;
        let distance = offset.wrapping_sub(end);
        let near = zigzag(distance as i64 >> class.shift);
        // A distance costs its own bits and about two for their number.
        let near_bits = u64::BITS - near.leading_zeros() + 2;
        let is_near = distance.trailing_zeros() >= class.shift && near_bits < class.width;
        if is_near && !(is_repeated && RECENT_BITS < near_bits) {
            self.near.push(near);
            NEAR
        } else if is_repeated && RECENT_BITS < class.width {
            self.repeated.push(slot as u64, RECENT_BITS);
            REPEATED
        } else {
            if class.width > 0 {
                self.literal.push(class.relative(offset), class.width);
            }
            LITERAL
        }
    }

    pub(super) fn finish(self, bytes: &mut Vec<u8>) {
        self.kinds.iter().for_each(|kinds| rans::encode(kinds, bytes));
        self.near.finish(bytes);
        self.repeated.finish(bytes);
        self.literal.finish(bytes);
    }
}

/// Reads the offsets of a block.
pub(super) struct OffsetReader<'a> {
    history: OffsetHistory,
    kinds: [std::vec::IntoIter<u8>; KIND_CONTEXTS],
    near: ColumnReader<'a, 2>,
    repeated: SplitReader<'a>,
    literal: SplitReader<'a>,
}

impl<'a> OffsetReader<'a> {
    /// `ids` are the classes of the requests. `None` means that the content is not valid.
    pub(super) fn new(fields: &mut BlockFields<'a>, classes: &Classes, ids: &[u32]) -> Option<Self> {
        let mut counts = [0; KIND_CONTEXTS];
        ids.iter().for_each(|id| counts[kind_context(*id)] += 1);
        let mut kinds: [Vec<u8>; KIND_CONTEXTS] = Default::default();
        for (kinds, count) in kinds.iter_mut().zip(counts) {
            rans::decode(fields, count, kinds)?;
        }
        let count = |kind| kinds.iter().flatten().filter(|given| **given == kind).count();
        let near = ColumnReader::new(fields, count(NEAR))?;
        let repeated = SplitReader::new(fields, count(REPEATED))?;
        let literal = SplitReader::new(fields, literals(&kinds, classes, ids))?;
        Some(Self {
            history: OffsetHistory::new(classes.streams),
            kinds: kinds.map(Vec::into_iter),
            near,
            repeated,
            literal,
        })
    }

    #[inline]
    pub(super) fn next(&mut self, id: u32, class: &RequestClass, length: u32) -> u64 {
        let end = *self.history.end(class);
        let kind = self.kinds[kind_context(id)].next().unwrap_or(LITERAL);
        let offset = match kind {
            SEQUENTIAL => end,
            NEAR => end.wrapping_add((unzigzag(self.near.next()) << class.shift) as u64),
            REPEATED => self.history.recent[self.repeated.next(RECENT_BITS) as usize % (1 << RECENT_BITS)],
            _ if class.width == 0 => class.absolute(0),
            _ => class.absolute(self.literal.next(class.width)),
        };
        if kind != SEQUENTIAL {
            self.history.recent[OffsetHistory::slot(offset)] = offset;
        }
        *self.history.end(class) = offset.wrapping_add(u64::from(length));
        offset
    }
}

/// Returns how many literal offsets have bits.
fn literals(kinds: &[Vec<u8>; KIND_CONTEXTS], classes: &Classes, ids: &[u32]) -> usize {
    let mut next = [0; KIND_CONTEXTS];
    let mut count = 0;
    for id in ids {
        let context = kind_context(*id);
        count += usize::from(kinds[context][next[context]] >= LITERAL && classes.classes[*id as usize].width > 0);
        next[context] += 1;
    }
    count
}

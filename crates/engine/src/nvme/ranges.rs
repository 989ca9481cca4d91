//! Ranges of trims, which a command names by their address.

use target::{Op, Tag};

use super::command::{self, RANGE_BYTES};

/// The ranges of the trims of all tags.
pub(super) struct TrimRanges {
    /// Ranges as the device reads them, as many for each tag as a trim can have.
    encoded: Vec<[u8; RANGE_BYTES]>,
    divided: Vec<DividedTrim>,
    most: usize,
}

/// The ranges of a trim under a tag, which has them still when it is submitted again.
#[derive(Clone, Debug, Default)]
struct DividedTrim {
    /// Offset and length of each, in bytes.
    ranges: Vec<(u64, u32)>,
}

impl DividedTrim {
    /// Reports whether these are the ranges of an operation.
    fn is_of(&self, op: &Op) -> bool {
        let total = self.ranges.iter().map(|(_, length)| u64::from(*length)).sum::<u64>();
        self.ranges.first().is_some_and(|(offset, _)| *offset == op.offset) && total == u64::from(op.length)
    }
}

impl TrimRanges {
    pub(super) fn new(depth: usize, most: usize) -> Self {
        let most = most.max(1);
        Self { encoded: vec![[0; RANGE_BYTES]; depth * most], divided: vec![DividedTrim::default(); depth], most }
    }

    /// Divides the next trim of a tag.
    pub(super) fn divide(&mut self, tag: Tag, ranges: &[(u64, u32)]) {
        if let Some(divided) = self.divided.get_mut(tag.index()) {
            divided.ranges.clear();
            divided.ranges.extend_from_slice(ranges);
        }
    }

    /// Encodes the ranges of a trim in blocks of `unit` bytes, and returns their address and number. `None` for ranges that
    /// are not of whole blocks.
    pub(super) fn command(&mut self, op: &Op, unit: u32) -> Option<(u64, u32)> {
        let divided = self.divided.get(op.tag.index())?;
        let whole = [(op.offset, op.length)];
        let ranges = match divided.ranges.as_slice() {
            // As long as all of them, it would trim blocks that are in none.
            ranges if !ranges.is_empty() && !divided.is_of(op) => return None,
            [] => &whole[..],
            ranges => ranges,
        };
        let slots = self.encoded.get_mut(op.tag.index() * self.most..)?.get_mut(..ranges.len().min(self.most))?;
        if slots.len() != ranges.len() {
            return None;
        }
        for (slot, (offset, length)) in slots.iter_mut().zip(ranges) {
            let blocks = length / unit;
            if !offset.is_multiple_of(u64::from(unit)) || !length.is_multiple_of(unit) || blocks == 0 {
                return None;
            }
            *slot = command::range(offset / u64::from(unit), blocks);
        }
        Some((slots.as_ptr() as u64, ranges.len() as u32))
    }
}

#[cfg(test)]
mod tests {
    use units::OpKind;

    use super::*;

    fn trim(tag: u32, offset: u64, length: u32) -> Op {
        Op { tag: Tag(tag), kind: OpKind::Trim, file: 0, offset, length, skip: 0 }
    }

    #[test]
    fn a_trim_has_one_range_or_those_it_was_divided_into() {
        let mut ranges = TrimRanges::new(2, 3);
        let (_, count) = ranges.command(&trim(1, 4096, 8192), 512).unwrap();
        assert_eq!((count, ranges.encoded[3]), (1, command::range(8, 16)));
        ranges.divide(Tag(1), &[(8192, 512), (0, 1024), (4096, 512)]);
        let divided = trim(1, 8192, 2048);
        for _ in 0..2 {
            let (addr, count) = ranges.command(&divided, 512).unwrap();
            assert_eq!((count, addr), (3, ranges.encoded[3..].as_ptr() as u64));
            assert_eq!(ranges.encoded[3..], [command::range(16, 1), command::range(0, 2), command::range(8, 1)]);
        }
    }

    /// Otherwise blocks would be trimmed that the job does not name.
    #[test]
    fn a_trim_with_the_ranges_of_another_is_refused() {
        let mut ranges = TrimRanges::new(1, 2);
        ranges.divide(Tag(0), &[(0, 512), (4096, 512)]);
        for other in [trim(0, 512, 1024), trim(0, 0, 512), trim(0, 0, 4096), trim(7, 0, 1024)] {
            assert_eq!(ranges.command(&other, 512), None, "{other:?}");
        }
        assert!(ranges.command(&trim(0, 0, 1024), 512).is_some());
        ranges.divide(Tag(0), &[(0, 512), (4096, 512), (8192, 512)]);
        assert_eq!(ranges.command(&trim(0, 0, 1536), 512), None, "more than there is room for");
    }

    #[test]
    fn parts_of_blocks_are_refused() {
        let mut ranges = TrimRanges::new(1, 1);
        for (offset, length) in [(100, 512), (0, 100), (0, 0), (512, 513)] {
            assert_eq!(ranges.command(&trim(0, offset, length), 512), None, "{offset} {length}");
        }
    }
}

//! Trims of several ranges (`num_range`).

use units::OpKind;

use super::Pattern;

/// The ranges of a trim.
#[derive(Clone, Debug)]
pub(in crate::issuer) struct TrimRanges {
    /// Maximum number of them.
    most: usize,
    /// Those of the last trim.
    pub(in crate::issuer) last: Vec<(u64, u32)>,
}

impl TrimRanges {
    /// Returns `None` if trims have one range.
    pub(in crate::issuer) fn new(most: usize) -> Option<Self> {
        (most > 1).then_some(Self { most, last: Vec::new() })
    }
}

impl Pattern {
    /// Adds further ranges of the same file to a trim, and returns the bytes of all of them. There are fewer at the end of
    /// a pass.
    #[cold]
    pub(in crate::issuer) fn add_ranges(&mut self, file: u32, offset: u64, length: u32) -> u32 {
        let Some(ranges) = self.parts.as_mut().and_then(|parts| parts.ranges.as_mut()) else { return length };
        ranges.last.clear();
        ranges.last.push((offset, length));
        let mut total = length;
        while ranges.last.len() < ranges.most {
            let cursor = &mut self.files[file as usize];
            if cursor.is_done() {
                break;
            }
            let Some((offset, length)) = cursor.next(&self.rules, OpKind::Trim, &mut self.streams.places) else {
                break;
            };
            ranges.last.push((offset, length));
            total += length;
        }
        total
    }
}

//! Trims of several ranges (`num_range`).

use units::OpKind;

use super::Issuer;

impl Issuer {
    /// Adds further ranges of the same file to a trim, and returns the bytes of all of them. There are fewer at the end of
    /// a pass.
    #[cold]
    pub(super) fn add_ranges(&mut self, file: u32, offset: u64, length: u32) -> u32 {
        self.ranges.clear();
        self.ranges.push((offset, length));
        let mut total = length;
        while self.ranges.len() < self.most_ranges {
            let cursor = &mut self.files[file as usize];
            if cursor.is_done() {
                break;
            }
            let Some((offset, length)) = cursor.next(&self.rules, OpKind::Trim, &mut self.streams.places) else {
                break;
            };
            self.ranges.push((offset, length));
            total += length;
        }
        total
    }

    /// Returns offset and length of each range of the trim that was decided last, whose length is that of all of them;
    /// none if trims have one range.
    #[inline]
    #[must_use]
    pub fn trim_ranges(&self) -> &[(u64, u32)] {
        &self.ranges
    }
}

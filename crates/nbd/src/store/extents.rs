use nbd_wire::Extent;

/// Collects adjacent extents, merging those of the same kind.
#[derive(Debug)]
pub struct Extents {
    found: Vec<Extent>,
    most: usize,
    left: u64,
}

impl Extents {
    /// Starts a list that covers `length` bytes with at most `most` extents.
    #[must_use]
    pub fn new(length: u64, most: usize) -> Self {
        Self { found: Vec::new(), most: most.max(1), left: length }
    }

    /// Returns the number of bytes not covered yet; zero once the list is full.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Appends an extent, clipped to the bytes left.
    pub fn push(&mut self, extent: Extent) {
        let extent = Extent { length: extent.length.min(self.left), ..extent };
        let full = self.found.len() == self.most;
        match self.found.last_mut() {
            Some(last) if (last.hole, last.zero) == (extent.hole, extent.zero) => last.length += extent.length,
            _ if full => return self.left = 0,
            _ => self.found.push(extent),
        }
        self.left -= extent.length;
    }

    /// Returns the list.
    #[must_use]
    pub fn into_vec(self) -> Vec<Extent> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_extents_of_one_kind_are_merged() {
        let hole = |length| Extent { length, hole: true, zero: true };
        let data = |length| Extent { length, hole: false, zero: false };
        let mut extents = Extents::new(100, 3);
        for extent in [hole(10), hole(5), data(20), hole(1), hole(30), data(5)] {
            extents.push(extent);
        }
        assert_eq!(extents.left(), 0, "the list is full");
        assert_eq!(extents.into_vec(), [hole(15), data(20), hole(31)]);
        let mut extents = Extents::new(12, 3);
        extents.push(data(50));
        assert_eq!((extents.left(), extents.into_vec()), (0, vec![data(12)]));
    }
}

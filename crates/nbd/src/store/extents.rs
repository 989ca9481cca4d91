//! Lists of extents.

use nbd_wire::Extent;

/// Neighbouring extents while they are found; those of one kind become one.
#[derive(Debug)]
pub struct Extents {
    found: Vec<Extent>,
    most: usize,
    left: u64,
}

impl Extents {
    /// None yet of `length` bytes, of which at most `most` extents are wanted.
    #[must_use]
    pub fn new(length: u64, most: usize) -> Self {
        Self { found: Vec::new(), most: most.max(1), left: length }
    }

    /// Bytes of which nothing is known yet; zero also when no more is wanted.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The extent that follows; what is longer than what is left is cut.
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

    /// What was found.
    #[must_use]
    pub fn into_vec(self) -> Vec<Extent> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_kind_are_one_extent() {
        let hole = |length| Extent { length, hole: true, zero: true };
        let data = |length| Extent { length, hole: false, zero: false };
        let mut extents = Extents::new(100, 3);
        for extent in [hole(10), hole(5), data(20), hole(1), hole(30), data(5)] {
            extents.push(extent);
        }
        assert_eq!(extents.left(), 0, "no fourth is wanted");
        assert_eq!(extents.into_vec(), [hole(15), data(20), hole(31)]);
        let mut extents = Extents::new(12, 3);
        extents.push(data(50));
        assert_eq!((extents.left(), extents.into_vec()), (0, vec![data(12)]));
    }
}

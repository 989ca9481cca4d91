//! `SEEK_DATA` and `SEEK_HOLE`.

use rustix::io::Errno;

use super::reply::{FuseReply, system};
use nbd_wire::{self as wire, Extent};

/// A search for the next allocated byte or the next hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeekFilesystem {
    pub(super) unique: u64,
    pub(super) from: u64,
    pub(super) size: u64,
    pub(super) hole: bool,
}

impl SeekFilesystem {
    /// Searches with `extents`, which takes offset and length like [`Store::extents`]. The end of the file counts as a
    /// hole.
    ///
    /// [`Store::extents`]: crate::store::Store::extents
    pub fn answer(self, extents: impl FnMut(u64, u64) -> Result<Vec<Extent>, wire::Errno>) -> FuseReply {
        match self.place(extents) {
            Ok(place) => FuseReply::position(self.unique, place),
            Err(errno) => FuseReply::failed(self.unique, errno),
        }
    }

    fn place(self, mut extents: impl FnMut(u64, u64) -> Result<Vec<Extent>, wire::Errno>) -> Result<u64, Errno> {
        let mut at = self.from;
        while at < self.size {
            let before = at;
            for extent in extents(at, self.size - at).map_err(system)? {
                if extent.hole == self.hole && at < self.size {
                    return Ok(at);
                }
                at = at.saturating_add(extent.length);
            }
            if at == before {
                return Err(Errno::IO);
            }
        }
        // No data follows the last hole.
        if self.hole && self.from < self.size { Ok(self.size) } else { Err(Errno::NXIO) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Alternates 4096 bytes of data and of hole; returns at most two extents.
    fn stripes(from: u64, length: u64) -> Result<Vec<Extent>, wire::Errno> {
        let first = 4096 - from % 4096;
        let hole = from / 4096 % 2 == 1;
        let extents = [Extent { length: first, hole, zero: hole }, Extent { length: 4096, hole: !hole, zero: !hole }];
        Ok(extents[..if length > first { 2 } else { 1 }].to_vec())
    }

    fn place(from: u64, hole: bool) -> Result<u64, Errno> {
        SeekFilesystem { unique: 1, from, size: 16384, hole }.place(stripes)
    }

    #[test]
    fn finds_the_next_data_and_the_next_hole() {
        assert_eq!(
            [place(0, false), place(1, false), place(4096, false), place(5000, false)].map(Result::unwrap),
            [0, 1, 8192, 8192]
        );
        assert_eq!(
            [place(0, true), place(4095, true), place(5000, true), place(8192, true)].map(Result::unwrap),
            [4096, 4096, 5000, 12288]
        );
    }

    #[test]
    fn the_end_is_a_hole_and_no_data_follows_it() {
        assert_eq!(place(12288, false), Err(Errno::NXIO));
        assert_eq!(place(16384, true), Err(Errno::NXIO));
        let full = |_, length| Ok(vec![Extent { length, hole: false, zero: false }]);
        assert_eq!(SeekFilesystem { unique: 1, from: 5, size: 16384, hole: true }.place(full), Ok(16384));
    }

    #[test]
    fn a_store_without_extents_fails_the_seek_instead_of_looping() {
        assert_eq!(
            SeekFilesystem { unique: 1, from: 0, size: 10, hole: true }.place(|_, _| Ok(Vec::new())),
            Err(Errno::IO)
        );
        let unknown = |_, _| Err(wire::Errno::NotSupported);
        assert_eq!(SeekFilesystem { unique: 1, from: 0, size: 10, hole: true }.place(unknown), Err(Errno::OPNOTSUPP));
    }
}

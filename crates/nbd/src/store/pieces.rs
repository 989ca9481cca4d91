//! Bytes borrowed for one system call.

use std::io::IoSlice;

/// Zeroes to lend, of which nothing is in memory but one page.
static ZEROES: [u8; 1 << 20] = [0; 1 << 20];

/// A row of byte slices for one system call, which never grows beyond its room.
#[derive(Debug)]
pub struct Pieces<'r, 'a> {
    room: &'r mut [IoSlice<'a>],
    used: usize,
    bytes: usize,
}

impl<'r, 'a> Pieces<'r, 'a> {
    /// An empty row.
    pub fn new(room: &'r mut [IoSlice<'a>]) -> Self {
        Self { room, used: 0, bytes: 0 }
    }

    /// Appends a slice; `false` when there is no room for it.
    #[inline]
    pub fn push(&mut self, slice: &'a [u8]) -> bool {
        if self.used == self.room.len() {
            return false;
        }
        self.room[self.used] = IoSlice::new(slice);
        self.used += 1;
        self.bytes += slice.len();
        true
    }

    /// Whether no more fits.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.used == self.room.len()
    }

    /// How many bytes it holds.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What it holds.
    #[inline]
    #[must_use]
    pub fn slices(&self) -> &[IoSlice<'a>] {
        &self.room[..self.used]
    }

    /// Appends zeroes, in as few slices as can be; returns how many of them found room.
    #[inline]
    pub fn push_zeroes(&mut self, length: u64) -> u64 {
        let mut pushed = 0;
        while pushed < length {
            let slice = (length - pushed).min(ZEROES.len() as u64);
            if !self.push(&ZEROES[..slice as usize]) {
                break;
            }
            pushed += slice;
        }
        pushed
    }
}

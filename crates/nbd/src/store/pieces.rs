//! Data lent for one system call.

use std::io::IoSlice;

/// Zeroes to lend. Read-only and zero, so they take no memory but one page.
static ZEROES: [u8; 1 << 20] = [0; 1 << 20];

/// A list of slices for one system call, with fixed capacity.
#[derive(Debug)]
pub struct Pieces<'r, 'a> {
    slices: &'r mut [IoSlice<'a>],
    used: usize,
    bytes: usize,
}

impl<'r, 'a> Pieces<'r, 'a> {
    /// Creates an empty list.
    pub fn new(slices: &'r mut [IoSlice<'a>]) -> Self {
        Self { slices, used: 0, bytes: 0 }
    }

    /// Appends a slice; returns `false` if the list is full.
    #[inline]
    pub fn push(&mut self, slice: &'a [u8]) -> bool {
        if self.used == self.slices.len() {
            return false;
        }
        self.slices[self.used] = IoSlice::new(slice);
        self.used += 1;
        self.bytes += slice.len();
        true
    }

    /// Reports whether the list is full.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.used == self.slices.len()
    }

    /// Returns the total length in bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    #[inline]
    #[must_use]
    pub fn slices(&self) -> &[IoSlice<'a>] {
        &self.slices[..self.used]
    }

    /// Appends zeroes in as few slices as possible; returns how many fitted.
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

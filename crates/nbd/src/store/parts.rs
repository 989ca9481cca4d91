//! Splits byte ranges into blocks.

use std::ops::Range;

use super::blocks::BLOCK_BYTES;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) number: u64,
    /// Offset in the store.
    pub(super) at: u64,
    pub(super) length: u64,
}

impl Part {
    pub(super) fn inside(&self) -> Range<usize> {
        let from = (self.at % BLOCK_BYTES) as usize;
        from..from + self.length as usize
    }
}

pub(super) fn parts(offset: u64, length: u64) -> impl Iterator<Item = Part> {
    let end = offset + length;
    let mut at = offset;
    std::iter::from_fn(move || {
        let length = (BLOCK_BYTES - at % BLOCK_BYTES).min(end - at);
        let part = Part { number: at / BLOCK_BYTES, at, length };
        at += length;
        (length > 0).then_some(part)
    })
}

/// Splits a range in a store of `size` bytes into partial blocks at its ends and the whole blocks between them.
pub(super) fn split(offset: u64, length: u64, size: u64) -> ([Option<Part>; 2], Range<u64>) {
    let end = offset + length;
    let first = offset.div_ceil(BLOCK_BYTES);
    // The end of the store may cut the last block, which counts as whole.
    let last = if end == size { end.div_ceil(BLOCK_BYTES) } else { end / BLOCK_BYTES };
    let part =
        |from: u64, to: u64| (from < to).then(|| Part { number: from / BLOCK_BYTES, at: from, length: to - from });
    if first > last {
        return ([part(offset, end), None], 0..0);
    }
    ([part(offset, end.min(first * BLOCK_BYTES)), part(offset.max(last * BLOCK_BYTES), end)], first..last)
}

//! The parts of a device that are read to examine it.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

/// Read at the start: two ZFS labels, followed by a possible secondary LUKS2 header.
const HEAD_BYTES: u64 = (512 << 10) + BLOCK_BYTES;
/// Read at the end: two ZFS labels, and the metadata of firmware RAID.
const TAIL_BYTES: u64 = 512 << 10;
/// Size and alignment of a ZFS label.
const LABEL_BYTES: u64 = 256 << 10;
/// Size of an isolated block.
const BLOCK_BYTES: u64 = 4096;
/// Isolated blocks: VMFS and LUKS2 at 1 and 2 MiB, bcachefs at 2 MiB, LUKS2 at 4 MiB. Most first partitions start at
/// 1 MiB, with a superblock there or 64 KiB later.
const BLOCK_OFFSETS: [u64; 4] = [1 << 20, (1 << 20) + (64 << 10), 2 << 20, 4 << 20];
/// The largest distance of Promise metadata from the end.
const FARTHEST_PROMISE_BYTES: u64 = 3087 * 512;
/// Distance of a bcachefs superblock copy from the end.
const LAST_MEGABYTE: u64 = 1 << 20;
/// Number of evenly spaced sample blocks.
const SAMPLES: u64 = 16;

/// Parts of a device in memory, in ascending order and without overlap.
pub(super) struct Windows {
    /// Size of the whole device.
    pub(super) bytes: u64,
    pieces: Vec<WindowPiece>,
}

struct WindowPiece {
    start: u64,
    data: Vec<u8>,
}

impl Windows {
    /// Reads the parts that hold signatures, and the sample blocks.
    pub(super) fn read<R: Read + Seek>(device: &mut R, bytes: u64) -> io::Result<Self> {
        let pieces = plan(bytes).into_iter().map(|range| WindowPiece::read(device, range));
        Ok(Self { bytes, pieces: pieces.collect::<io::Result<_>>()? })
    }

    /// Returns `length` bytes at `offset`, or `None` if they were not read.
    pub(super) fn at(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let next = self.pieces.partition_point(|piece| piece.start <= offset);
        let piece = &self.pieces[next.checked_sub(1)?];
        let start = usize::try_from(offset - piece.start).ok()?;
        piece.data.get(start..start.checked_add(length)?)
    }

    /// Returns whether `magic` is at `offset`.
    pub(super) fn has(&self, offset: u64, magic: &[u8]) -> bool {
        self.at(offset, magic.len()) == Some(magic)
    }

    fn array<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        self.at(offset, N)?.try_into().ok()
    }

    pub(super) fn le16(&self, offset: u64) -> Option<u16> {
        self.array(offset).map(u16::from_le_bytes)
    }

    pub(super) fn be16(&self, offset: u64) -> Option<u16> {
        self.array(offset).map(u16::from_be_bytes)
    }

    pub(super) fn le32(&self, offset: u64) -> Option<u32> {
        self.array(offset).map(u32::from_le_bytes)
    }

    pub(super) fn be32(&self, offset: u64) -> Option<u32> {
        self.array(offset).map(u32::from_be_bytes)
    }

    /// Returns the offset of the first non-zero byte.
    pub(super) fn first_data(&self) -> Option<u64> {
        let data = |piece: &WindowPiece| Some(piece.start + first_nonzero(&piece.data)? as u64);
        self.pieces.iter().find_map(data)
    }

    /// Returns a hash of the size, all parts and their offsets. It is not cryptographic.
    pub(super) fn fingerprint(&self) -> u128 {
        let mut hash = Hash::new();
        hash.absorb(&self.bytes.to_le_bytes());
        for piece in &self.pieces {
            hash.absorb(&piece.start.to_le_bytes());
            hash.absorb(&(piece.data.len() as u64).to_le_bytes());
            hash.absorb(&piece.data);
        }
        hash.finish()
    }
}

impl WindowPiece {
    fn read<R: Read + Seek>(device: &mut R, range: Range<u64>) -> io::Result<Self> {
        let length = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
        let mut data = vec![0; length];
        device.seek(SeekFrom::Start(range.start))?;
        device.read_exact(&mut data)?;
        Ok(Self { start: range.start, data })
    }
}

/// Returns the ranges to read of a device of `bytes` bytes.
fn plan(bytes: u64) -> Vec<Range<u64>> {
    let aligned = bytes & !(LABEL_BYTES - 1);
    let block = |start: u64| start..start.saturating_add(BLOCK_BYTES);
    let mut ranges = vec![0..HEAD_BYTES, aligned.saturating_sub(TAIL_BYTES)..bytes];
    ranges.extend(BLOCK_OFFSETS.map(block));
    let from_end = [FARTHEST_PROMISE_BYTES, LAST_MEGABYTE].map(|distance| bytes.checked_sub(distance));
    ranges.extend(from_end.into_iter().flatten().map(|start| block(start & !(BLOCK_BYTES - 1))));
    let step = (bytes / (SAMPLES + 1)) & !(BLOCK_BYTES - 1);
    ranges.extend((1..=SAMPLES).map(|sample| block(sample * step)));
    for range in &mut ranges {
        range.end = range.end.min(bytes);
    }
    ranges.retain(|range| range.start < range.end);
    ranges.sort_by_key(|range| range.start);
    merged(ranges)
}

/// Joins overlapping and adjacent ranges, which are in ascending order.
fn merged(ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn first_nonzero(data: &[u8]) -> Option<usize> {
    // Skip whole zero blocks first: the compiler vectorizes the fold.
    const BLOCK: usize = 256;
    let zero = |block: &[u8]| block.iter().fold(0, |all, byte| all | byte) == 0;
    let skipped = data.chunks(BLOCK).take_while(|block| zero(block)).count() * BLOCK;
    let rest = data.get(skipped..)?;
    rest.iter().position(|byte| *byte != 0).map(|position| skipped + position)
}

/// Four lanes of multiplication and rotation. Each step is a bijection, so a changed word always changes its lane.
struct Hash {
    lanes: [u64; 4],
    words: u64,
}

impl Hash {
    /// Odd multipliers: the initial values of SHA-512, fractional parts of square roots of primes.
    const FACTORS: [u64; 4] =
        [0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1];

    fn new() -> Self {
        Self { lanes: Self::FACTORS, words: 0 }
    }

    fn absorb(&mut self, data: &[u8]) {
        let mut blocks = data.chunks_exact(32);
        for block in &mut blocks {
            self.block(block);
        }
        let rest = blocks.remainder();
        if !rest.is_empty() {
            let mut block = [0; 32];
            block[..rest.len()].copy_from_slice(rest);
            self.block(&block);
        }
    }

    #[inline]
    fn block(&mut self, block: &[u8]) {
        for ((lane, word), factor) in self.lanes.iter_mut().zip(block.chunks_exact(8)).zip(Self::FACTORS) {
            let word = u64::from_le_bytes([word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7]]);
            *lane = (*lane ^ word).wrapping_mul(factor).rotate_left(31);
        }
        self.words += 4;
    }

    fn finish(&self) -> u128 {
        let [a, b, c, d] = self.lanes;
        let mix = |x: u64, y: u64| units::random::mix(x, y.wrapping_add(self.words));
        let (left, right) = (mix(mix(a, b), mix(c, d)), mix(mix(d, a), mix(b, c)));
        (u128::from(left) << 64) | u128::from(right)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use units::random::Random;

    use super::*;

    #[test]
    fn reads_little_and_never_past_the_end() {
        for bytes in [0, 1, 511, 4096, 70_000, 1 << 20, (1 << 20) + 513, 3 << 20, (1 << 30) + 777, 1 << 44, u64::MAX] {
            let ranges = plan(bytes);
            let total: u64 = ranges.iter().map(|range| range.end - range.start).sum();
            assert!(total <= HEAD_BYTES + TAIL_BYTES + LABEL_BYTES + 24 * BLOCK_BYTES, "{bytes}: {total}");
            assert!(ranges.iter().all(|range| range.end <= bytes), "{bytes}: {ranges:?}");
            assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{bytes}: {ranges:?}");
        }
    }

    #[test]
    fn a_device_that_ends_before_its_size_is_an_error() {
        let error = Windows::read(&mut Cursor::new(vec![0; 1000]), 1001).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn every_changed_byte_of_a_window_changes_the_fingerprint_and_is_data() {
        let bytes = 12 << 20;
        let mut image = Cursor::new(vec![0; bytes as usize]);
        let blank = Windows::read(&mut image, bytes).unwrap();
        assert_eq!(blank.first_data(), None);
        let mut random = Random::new(17, 0);
        let mut seen = std::collections::HashSet::from([blank.fingerprint()]);
        let places: Vec<u64> =
            blank.pieces.iter().map(|piece| piece.start + random.below(piece.data.len() as u64)).collect();
        assert!(places.len() > 10, "{places:?}");
        for (value, place) in (1..=255).cycle().zip(places) {
            image.get_mut()[place as usize] = value;
            let windows = Windows::read(&mut image, bytes).unwrap();
            assert_eq!(windows.first_data(), Some(place), "seed 17");
            assert!(seen.insert(windows.fingerprint()), "seed 17, place {place}");
            image.get_mut()[place as usize] = 0;
        }
        assert_eq!(Windows::read(&mut image, bytes).unwrap().fingerprint(), blank.fingerprint());
    }

    #[test]
    fn fingerprints_of_blank_devices_differ_with_their_size() {
        let fingerprint =
            |bytes| Windows::read(&mut Cursor::new(vec![0; bytes as usize]), bytes).unwrap().fingerprint();
        assert_ne!(fingerprint(4 << 20), fingerprint(5 << 20));
        assert_ne!(fingerprint(0), fingerprint(1));
    }

    #[test]
    fn the_first_nonzero_byte_is_found_anywhere() {
        for place in [0, 1, 255, 256, 1000, 1022, 1023] {
            let mut data = vec![0; 1024];
            data[place] = 1;
            assert_eq!(first_nonzero(&data), Some(place));
        }
        assert_eq!(first_nonzero(&[0; 1023]), None);
        assert_eq!(first_nonzero(&[]), None);
    }
}

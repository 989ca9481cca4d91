//! Bits and variable-length integers.

/// A sequence of bits, the lowest first.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    pending: u64,
    used: u32,
}

impl BitWriter {
    /// Appends the low `bits` bits of `value`; the others are zero.
    #[inline]
    pub(super) fn push(&mut self, value: u64, bits: u32) {
        debug_assert!(bits == 64 || value >> bits == 0);
        if bits > 32 {
            self.push_short(value & 0xffff_ffff, 32);
            self.push_short(value >> 32, bits - 32);
        } else {
            self.push_short(value, bits);
        }
    }

    /// Up to 32 bits, so that they fit with up to 31 that are pending.
    #[inline]
    fn push_short(&mut self, value: u64, bits: u32) {
        self.pending |= value << self.used;
        self.used += bits;
        if self.used >= 32 {
            self.bytes.extend_from_slice(&(self.pending as u32).to_le_bytes());
            self.pending >>= 32;
            self.used -= 32;
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let bytes = self.used.div_ceil(8) as usize;
        self.bytes.extend_from_slice(&self.pending.to_le_bytes()[..bytes]);
        self.bytes
    }
}

/// Bits of a [`BitWriter`]. Past the end there are zeroes: a checksum has already excluded truncation.
#[derive(Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    next: usize,
    pending: u64,
    available: u32,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: 0, pending: 0, available: 0 }
    }

    #[inline]
    pub(super) fn take(&mut self, bits: u32) -> u64 {
        if bits > 32 {
            let low = self.take_short(32);
            return low | self.take_short(bits - 32) << 32;
        }
        self.take_short(bits)
    }

    #[inline]
    fn take_short(&mut self, bits: u32) -> u64 {
        if self.available < bits {
            self.refill();
        }
        let value = self.pending & ((1 << bits) - 1);
        self.pending >>= bits;
        self.available = self.available.saturating_sub(bits);
        value
    }

    #[inline]
    fn refill(&mut self) {
        if let Some(word) = self.bytes.get(self.next..self.next + 4) {
            let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            self.pending |= u64::from(word) << self.available;
            self.next += 4;
        } else {
            for (index, byte) in self.bytes.get(self.next..).unwrap_or_default().iter().enumerate() {
                self.pending |= u64::from(*byte) << (self.available + 8 * index as u32);
            }
            self.next = self.bytes.len();
        }
        self.available += 32;
    }
}

/// Appends seven bits a byte, the lowest first.
pub(super) fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Appends a length and the bytes.
pub(super) fn push_bytes(bytes: &mut Vec<u8>, content: &[u8]) {
    push_varint(bytes, content.len() as u64);
    bytes.extend_from_slice(content);
}

/// Reads what the functions above wrote. `None` means that the content is not valid.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockFields<'a>(pub(super) &'a [u8]);

impl<'a> BlockFields<'a> {
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub(super) fn slice(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        self.slice(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_varints_survive() {
        let values: Vec<(u64, u32)> =
            (0..=64u32).map(|bits| (u64::MAX.checked_shr(64 - bits).unwrap_or(0), bits)).collect();
        let mut writer = BitWriter::default();
        values.iter().for_each(|(value, bits)| writer.push(*value, *bits));
        let bytes = writer.finish();
        let mut reader = BitReader::new(&bytes);
        for (value, bits) in values {
            assert_eq!(reader.take(bits), value, "{bits} bits");
            let mut field = Vec::new();
            push_varint(&mut field, value);
            assert_eq!(BlockFields(&field).varint(), Some(value));
            assert_eq!(BlockFields(&field[..field.len() - 1]).varint(), None);
        }
        assert_eq!(reader.take(64), 0, "past the end");
        assert_eq!(BlockFields(&[0xff; 10]).varint(), None);
    }
}

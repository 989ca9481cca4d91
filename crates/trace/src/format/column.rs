//! Columns of integers: an entropy-coded size class for each value, and its remaining bits as they are.

use super::bits::{BitReader, BitWriter, BlockFields, push_bytes};
use super::rans;

/// A column that is being filled: `MANTISSA` bits below the highest set one belong to the size class.
///
/// More of them follow the distribution closer, but need a longer table; 2 suit all values of 64 bits, 4 those up to
/// 18 bits: there are 256 classes.
#[derive(Debug, Default)]
pub(super) struct ColumnWriter<const MANTISSA: u32> {
    symbols: Vec<u8>,
    rest: BitWriter,
}

impl<const MANTISSA: u32> ColumnWriter<MANTISSA> {
    #[inline]
    pub(super) fn push(&mut self, value: u64) {
        if value < 2 << MANTISSA {
            self.symbols.push(value as u8);
            return;
        }
        let bits = value.ilog2() - MANTISSA;
        self.symbols.push(((u64::from(bits) << MANTISSA) + (value >> bits)) as u8);
        self.rest.push(value & ((1 << bits) - 1), bits);
    }

    pub(super) fn finish(self, bytes: &mut Vec<u8>) {
        rans::encode(&self.symbols, bytes);
        if !self.symbols.is_empty() {
            push_bytes(bytes, &self.rest.finish());
        }
    }
}

/// A column that is being read.
#[derive(Debug)]
pub(super) struct ColumnReader<'a, const MANTISSA: u32> {
    symbols: std::vec::IntoIter<u8>,
    rest: BitReader<'a>,
}

impl<'a, const MANTISSA: u32> ColumnReader<'a, MANTISSA> {
    pub(super) fn new(fields: &mut BlockFields<'a>, count: usize) -> Option<Self> {
        let mut symbols = Vec::new();
        rans::decode(fields, count, &mut symbols)?;
        let rest = if count > 0 { fields.bytes()? } else { &[] };
        Some(Self { symbols: symbols.into_iter(), rest: BitReader::new(rest) })
    }

    /// Returns the next value; zero after the last one.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        let symbol = u64::from(self.symbols.next().unwrap_or(0));
        if symbol < 2 << MANTISSA {
            return symbol;
        }
        let bits = (symbol >> MANTISSA) as u32 - 1;
        let high = symbol - (u64::from(bits) << MANTISSA);
        high.checked_shl(bits).unwrap_or(0) | self.rest.take(bits.min(64))
    }
}

/// A column of values of known width: the eight highest bits are entropy-coded, the others are kept as they are.
#[derive(Debug, Default)]
pub(super) struct SplitWriter(ColumnWriter<2>);

impl SplitWriter {
    #[inline]
    pub(super) fn push(&mut self, value: u64, width: u32) {
        let low = width.saturating_sub(8);
        self.0.symbols.push((value >> low) as u8);
        self.0.rest.push(value & ((1 << low) - 1), low);
    }

    pub(super) fn finish(self, bytes: &mut Vec<u8>) {
        self.0.finish(bytes);
    }
}

/// A column of a [`SplitWriter`].
#[derive(Debug)]
pub(super) struct SplitReader<'a>(ColumnReader<'a, 2>);

impl<'a> SplitReader<'a> {
    pub(super) fn new(fields: &mut BlockFields<'a>, count: usize) -> Option<Self> {
        ColumnReader::new(fields, count).map(Self)
    }

    #[inline]
    pub(super) fn next(&mut self, width: u32) -> u64 {
        let low = width.saturating_sub(8);
        u64::from(self.0.symbols.next().unwrap_or(0)) << low | self.0.rest.take(low)
    }
}

/// Maps small numbers of either sign to small ones.
#[inline]
pub(super) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

#[inline]
pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const MANTISSA: u32>(values: &[u64]) {
        let mut writer = ColumnWriter::<MANTISSA>::default();
        values.iter().for_each(|value| writer.push(*value));
        let mut bytes = Vec::new();
        writer.finish(&mut bytes);
        let mut fields = BlockFields(&bytes);
        let mut reader = ColumnReader::<MANTISSA>::new(&mut fields, values.len()).unwrap();
        values.iter().for_each(|value| assert_eq!(reader.next(), *value));
        assert!(fields.0.is_empty());
    }

    #[test]
    fn powers_and_their_neighbours_survive() {
        let values: Vec<u64> = (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]).collect();
        check::<2>(&[&values[..], &[u64::MAX, u64::MAX - 1]].concat());
        check::<4>(&(0..=1 << 18).step_by(7).collect::<Vec<u64>>());
        check::<4>(&[65_535, 65_536]);
        check::<2>(&[]);
        for value in [0, 1, -1, i64::MAX, i64::MIN] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
    }

    #[test]
    fn split_values_survive() {
        let values: Vec<(u64, u32)> =
            (0..=64).map(|width| (u64::MAX.checked_shr(64 - width).unwrap_or(0), width)).collect();
        let mut writer = SplitWriter::default();
        values.iter().for_each(|(value, width)| writer.push(*value, *width));
        let mut bytes = Vec::new();
        writer.finish(&mut bytes);
        let mut reader = SplitReader::new(&mut BlockFields(&bytes), values.len()).unwrap();
        values.iter().for_each(|(value, width)| assert_eq!(reader.next(*width), *value));
    }
}

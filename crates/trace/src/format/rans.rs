//! Entropy coding of bytes: range asymmetric numeral systems (rANS) with the frequencies of one block.
//!
//! Two interleaved states of 32 bits with 16-bit words: at most one word enters or leaves a state for each symbol, and
//! the CPU works on both at once.

use super::bits::{BlockFields, push_varint};

const PROBABILITY_BITS: u32 = 12;
const PROBABILITIES: u32 = 1 << PROBABILITY_BITS;
const STATE_MIN: u32 = 1 << 16;

/// Appends `symbols` with the frequencies that decode them; nothing if there are none.
pub(super) fn encode(symbols: &[u8], bytes: &mut Vec<u8>) {
    if symbols.is_empty() {
        return;
    }
    let frequencies = frequencies_of(symbols);
    let used = frequencies.iter().filter(|count| **count > 0).count();
    push_varint(bytes, used as u64);
    let mut starts = [0u32; 256];
    let mut start = 0;
    let mut previous = 0;
    for (symbol, frequency) in frequencies.iter().enumerate().filter(|(_, frequency)| **frequency > 0) {
        bytes.push((symbol - previous) as u8);
        if used > 1 {
            push_varint(bytes, u64::from(*frequency));
        }
        previous = symbol;
        starts[symbol] = start;
        start += frequency;
    }
    if used > 1 {
        encode_words(symbols, &frequencies, &starts, bytes);
    }
}

fn encode_words(symbols: &[u8], frequencies: &[u32; 256], starts: &[u32; 256], bytes: &mut Vec<u8>) {
    let mut words: Vec<u16> = Vec::with_capacity(symbols.len() / 2 + 4);
    let mut states = [STATE_MIN; 2];
    for (index, symbol) in symbols.iter().enumerate().rev() {
        let state = &mut states[index & 1];
        let (frequency, start) = (frequencies[usize::from(*symbol)], starts[usize::from(*symbol)]);
        if u64::from(*state) >= u64::from(frequency) << (32 - PROBABILITY_BITS) {
            words.push(*state as u16);
            *state >>= 16;
        }
        *state = (*state / frequency) << PROBABILITY_BITS | (*state % frequency + start);
    }
    push_varint(bytes, words.len() as u64);
    states.iter().for_each(|state| bytes.extend_from_slice(&state.to_le_bytes()));
    words.iter().rev().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
}

/// Returns frequencies whose sum is [`PROBABILITIES`], at least one for each symbol that occurs.
fn frequencies_of(symbols: &[u8]) -> [u32; 256] {
    // Four tables, because increments of one counter wait for each other.
    let mut counts = [[0u32; 256]; 4];
    for four in symbols.chunks(4) {
        four.iter().zip(&mut counts).for_each(|(symbol, counts)| counts[usize::from(*symbol)] += 1);
    }
    let mut scaled: [u32; 256] = std::array::from_fn(|symbol| counts.iter().map(|counts| counts[symbol]).sum());
    let total = symbols.len() as u64;
    for count in scaled.iter_mut().filter(|count| **count > 0) {
        *count = ((u64::from(*count) * u64::from(PROBABILITIES) + total / 2) / total).max(1) as u32;
    }
    // Rounding errors go to the most frequent symbols, which change least by them.
    loop {
        let sum: u32 = scaled.iter().sum();
        let most = (0..256).max_by_key(|symbol| scaled[*symbol]).unwrap_or(0);
        if sum > PROBABILITIES {
            scaled[most] -= (sum - PROBABILITIES).min(scaled[most] / 4 + 1);
        } else {
            scaled[most] += PROBABILITIES - sum;
            return scaled;
        }
    }
}

/// Appends `count` symbols to `symbols`. `None` means that the content is not valid.
pub(super) fn decode(fields: &mut BlockFields, count: usize, symbols: &mut Vec<u8>) -> Option<()> {
    if count == 0 {
        return Some(());
    }
    let used = fields.varint()?;
    if used == 1 {
        symbols.resize(symbols.len() + count, fields.byte()?);
        return Some(());
    }
    let table = DecodeTable::read(fields, used)?;
    let words = usize::try_from(fields.varint()?).ok()?;
    let states = fields.slice(8)?;
    let mut words =
        fields.slice(words.checked_mul(2)?)?.chunks_exact(2).map(|word| u16::from_le_bytes([word[0], word[1]]));
    let mut first = u32::from_le_bytes([states[0], states[1], states[2], states[3]]);
    let mut second = u32::from_le_bytes([states[4], states[5], states[6], states[7]]);
    symbols.reserve(count);
    for _ in 0..count / 2 {
        symbols.push(table.next(&mut first, &mut words));
        symbols.push(table.next(&mut second, &mut words));
    }
    if count % 2 == 1 {
        symbols.push(table.next(&mut first, &mut words));
    }
    Some(())
}

/// For each of the [`PROBABILITIES`] values: its symbol (8 bits), frequency less one (12 bits) and distance from the
/// start of the symbol (12 bits).
struct DecodeTable(Box<[u32; PROBABILITIES as usize]>);

impl DecodeTable {
    fn read(fields: &mut BlockFields, used: u64) -> Option<Self> {
        let mut table = Box::new([0; PROBABILITIES as usize]);
        let (mut start, mut symbol) = (0usize, 0u8);
        for _ in 0..used {
            symbol = symbol.checked_add(fields.byte()?)?;
            let frequency = usize::try_from(fields.varint()?).ok().filter(|frequency| *frequency > 0)?;
            let slots = table.get_mut(start..start.checked_add(frequency)?)?;
            for (distance, slot) in slots.iter_mut().enumerate() {
                *slot = u32::from(symbol) << 24 | (frequency as u32 - 1) << 12 | distance as u32;
            }
            start += frequency;
        }
        (start == PROBABILITIES as usize).then_some(Self(table))
    }

    #[inline]
    fn next(&self, state: &mut u32, words: &mut impl Iterator<Item = u16>) -> u8 {
        let entry = self.0[(*state % PROBABILITIES) as usize];
        // Less than 2^12 * 2^20: it does not overflow.
        *state = ((entry >> 12 & 0xfff) + 1) * (*state >> PROBABILITY_BITS) + (entry & 0xfff);
        if *state < STATE_MIN {
            *state = *state << 16 | u32::from(words.next().unwrap_or(0));
        }
        (entry >> 24) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::random::Random;

    fn check(symbols: &[u8]) -> usize {
        let mut bytes = Vec::new();
        encode(symbols, &mut bytes);
        let (mut fields, mut read) = (BlockFields(&bytes), Vec::new());
        decode(&mut fields, symbols.len(), &mut read).unwrap();
        assert!(fields.0.is_empty());
        assert_eq!(read, symbols);
        bytes.len()
    }

    #[test]
    fn every_distribution_survives_close_to_its_entropy() {
        let mut random = Random::new(11, 0);
        for length in [0, 1, 2, 3, 5, 255, 256, 1000, 65_536] {
            for bound in [1, 2, 3, 17, 256] {
                let symbols: Vec<u8> = (0..length).map(|_| random.below(bound) as u8).collect();
                let size = check(&symbols);
                let entropy = length as f64 * (bound as f64).log2() / 8.0;
                assert!(size as f64 <= entropy * 1.01 + 3.0 * bound as f64 + 16.0, "{length} of {bound}: {size} bytes");
            }
        }
        // One frequent symbol and all others once, and skewed counts that rounding would drop.
        let mut symbols: Vec<u8> = (0..=255).collect();
        symbols.resize(60_000, 7);
        assert!(check(&symbols) < 1_600);
        check(&(0..50_000).map(|_| (random.unit().powi(9) * 256.0) as u8).collect::<Vec<u8>>());
    }

    #[test]
    fn any_content_decodes_or_is_refused() {
        let mut random = Random::new(12, 0);
        for _ in 0..2_000 {
            let mut bytes = vec![0; random.below(40) as usize];
            random.fill(&mut bytes);
            if let Some(first) = bytes.first_mut() {
                *first &= 3;
            }
            let mut read = Vec::new();
            let _ = decode(&mut BlockFields(&bytes), 100, &mut read);
            assert!(read.len() <= 100);
        }
    }
}

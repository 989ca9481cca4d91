//! Block sizes of operations.

use job::{BlockSizes, Pattern};
use units::PerKind;
use units::random::Random;

/// Draws block sizes of one kind of operation.
#[derive(Clone, Debug)]
pub(crate) enum Sizer {
    /// One size.
    Fixed(u32),
    /// Multiples of `step` up to `max`: `count` values from `min`.
    Range { min: u32, max: u32, step: u32, count: u64 },
    /// Sizes by percentage, with running totals.
    Split { totals: Vec<(u32, u32)>, sum: u64 },
}

impl Sizer {
    pub(crate) fn new(sizes: &BlockSizes, unaligned: bool) -> Self {
        match sizes {
            BlockSizes::Fixed(size) => Self::Fixed((*size).max(1)),
            BlockSizes::Range(min, max) if min >= max => Self::Fixed((*min).max(1)),
            BlockSizes::Range(min, max) => {
                let min = (*min).max(1);
                let step = if unaligned { 1 } else { min };
                Self::Range { min, max: *max, step, count: u64::from((max - min).div_ceil(step)) + 1 }
            }
            BlockSizes::Split(parts) => Self::split(parts),
        }
    }

    fn split(parts: &[(u32, u32)]) -> Self {
        let mut total = 0;
        let totals: Vec<_> = parts
            .iter()
            .filter(|(_, share)| *share > 0)
            .map(|(size, share)| {
                total += share;
                (total, (*size).max(1))
            })
            .collect();
        match totals.as_slice() {
            [] => Self::Fixed(parts.iter().map(|part| part.0).min().unwrap_or(1).max(1)),
            [(_, size)] => Self::Fixed(*size),
            _ => Self::Split { totals, sum: u64::from(total) },
        }
    }

    /// Returns the minimum size in bytes.
    pub(crate) fn min(&self) -> u32 {
        match self {
            Self::Fixed(size) | Self::Range { min: size, .. } => *size,
            Self::Split { totals, .. } => totals.iter().map(|part| part.1).min().unwrap_or(1),
        }
    }

    /// Returns the size if there is only one.
    pub(crate) fn fixed(&self) -> Option<u32> {
        match self {
            Self::Fixed(size) => Some(*size),
            Self::Range { .. } | Self::Split { .. } => None,
        }
    }

    /// Reports whether every size is a multiple of `unit` bytes.
    pub(crate) fn multiple_of(&self, unit: u32) -> bool {
        match self {
            Self::Fixed(size) => size.is_multiple_of(unit),
            Self::Range { min, max, step, .. } => [min, step, max].into_iter().all(|size| size.is_multiple_of(unit)),
            Self::Split { totals, .. } => totals.iter().all(|part| part.1.is_multiple_of(unit)),
        }
    }

    /// Draws the next size in bytes.
    #[inline(always)]
    pub(crate) fn draw(&self, random: &mut Random) -> u32 {
        if let Self::Fixed(size) = self { *size } else { self.draw_varying(random) }
    }

    /// Draws one of several sizes. Inlined, it would save registers also where there is one size.
    #[inline(never)]
    fn draw_varying(&self, random: &mut Random) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Range { min, max, step, count } => {
                let size = u64::from(*min) + u64::from(*step) * random.below(*count);
                u32::try_from(size).unwrap_or(*max).min(*max)
            }
            Self::Split { totals, sum } => {
                let point = random.below(*sum) as u32;
                totals.iter().find(|part| point < part.0).map_or(totals[0].1, |part| part.1)
            }
        }
    }
}

/// Returns what `map` makes of the values of reads, writes and trims.
pub(crate) fn three<T, U>(values: &PerKind<T>, map: impl Fn(&T) -> U) -> [U; 3] {
    [map(&values.read), map(&values.write), map(&values.trim)]
}

/// Returns the block sizes of each kind, and whether they depend on the order of each operation: with `bs_is_seq_rand`
/// they do unless all operations are sequential or all are random.
pub(crate) fn sizes_by_order(pattern: &Pattern) -> (PerKind<BlockSizes>, bool) {
    let sizes = &pattern.block_sizes;
    let all = |sizes: &BlockSizes| (PerKind::from_slots(|_| sizes.clone()), false);
    let is_always_random = pattern.modifier <= 1 && three(&pattern.percentage_random, |&share| share) == [100; 3];
    match (pattern.sizes_by_order, pattern.random) {
        (false, _) => (sizes.clone(), false),
        (true, false) => all(&sizes.read),
        (true, true) if is_always_random => all(&sizes.write),
        (true, true) => (sizes.clone(), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(sizer: &Sizer, draws: u32) -> std::collections::BTreeMap<u32, u32> {
        let mut random = Random::new(11, 0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..draws {
            *counts.entry(sizer.draw(&mut random)).or_default() += 1;
        }
        counts
    }

    #[test]
    fn ranges_are_multiples_of_the_minimum() {
        let sizer = Sizer::new(&BlockSizes::Range(4096, 16384), false);
        let counts = counts(&sizer, 8000);
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [4096, 8192, 12288, 16384]);
        assert!(counts.values().all(|&n| (1800..2200).contains(&n)), "{counts:?}");
    }

    #[test]
    fn unaligned_ranges_reach_both_ends() {
        let sizer = Sizer::new(&BlockSizes::Range(10, 13), true);
        assert_eq!(counts(&sizer, 1000).keys().copied().collect::<Vec<_>>(), [10, 11, 12, 13]);
        assert!(!sizer.multiple_of(2));
    }

    #[test]
    fn a_range_includes_a_maximum_that_is_no_multiple() {
        let sizer = Sizer::new(&BlockSizes::Range(4000, 9000), false);
        assert_eq!(counts(&sizer, 1000).keys().copied().collect::<Vec<_>>(), [4000, 8000, 9000]);
    }

    #[test]
    fn splits_have_their_percentages() {
        let sizer = Sizer::new(&BlockSizes::Split(vec![(4096, 10), (65536, 50), (32768, 40), (512, 0)]), false);
        let counts = counts(&sizer, 10_000);
        assert!((900..1100).contains(&counts[&4096]), "{counts:?}");
        assert!((4800..5200).contains(&counts[&65536]), "{counts:?}");
        assert!(!counts.contains_key(&512));
        assert_eq!(sizer.min(), 4096);
    }
}

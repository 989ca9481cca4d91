//! Offset and length of the next operation on a file.

mod coverage;
mod distribution;
mod permutation;

pub(crate) use distribution::Draw;
pub(crate) use permutation::Permutation;

use job::{Distribution, Generator, Job};
use units::PerKind;
use units::random::{Random, mix};

use crate::extent::FileExtent;
use crate::sizes::Sizer;
use coverage::Coverage;
use units::OpKind;

/// The most blocks that a map is made for: 1 PiB of 4 KiB, at half a gigabyte before anything is touched.
const MOST_MAPPED: u64 = 1 << 38;

/// Offset rules of all files of a job.
#[derive(Clone, Debug)]
pub(crate) struct OffsetRules {
    /// Block sizes: read, write, trim.
    pub(crate) sizes: [Sizer; 3],
    /// Random offsets rather than one after the other.
    random: bool,
    /// Operations in a row for each random offset.
    run: u64,
    /// Bytes left out after each operation in sequence.
    skip: i64,
    /// Share of random offsets in per cent: read, write, trim.
    random_share: [u32; 3],
    /// How random offsets are found.
    method: Method,
    /// Unit of random offsets in bytes: read, write, trim.
    align: [u32; 3],
    distribution: [Distribution; 3],
    unaligned: bool,
    key: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// Each block of this many bytes once.
    Permuted(u32),
    /// As above for offsets alone, while lengths vary: blocks may overlap, as with fio's `lfsr`.
    PermutedStarts(u32),
    /// Each block of this many bytes once, several to an operation.
    Covered(u32),
    /// Independent of one another.
    Drawn,
}

fn three<T, U>(values: &PerKind<T>, map: impl Fn(&T) -> U) -> [U; 3] {
    [map(&values.read), map(&values.write), map(&values.trim)]
}

impl OffsetRules {
    pub(crate) fn new(job: &Job, used: [bool; 3], key: u64) -> Self {
        let pattern = &job.pattern;
        let sizes = three(&pattern.block_sizes, |sizes| Sizer::new(sizes, pattern.bs_unaligned));
        let align = match &pattern.blockalign {
            Some(align) => three(align, |&align| align.max(1)),
            None => [sizes[0].min(), sizes[1].min(), sizes[2].min()],
        };
        let modifier = pattern.modifier;
        Self {
            method: method(job, &sizes, used),
            random: pattern.random,
            run: if pattern.random { u64::try_from(modifier).unwrap_or(1).max(1) } else { 1 },
            skip: if pattern.random { 0 } else { modifier },
            random_share: three(&pattern.percentage_random, |&share| share.min(100)),
            distribution: three(&pattern.distribution, Clone::clone),
            unaligned: pattern.bs_unaligned,
            sizes,
            align,
            key,
        }
    }

    /// The one length of operations of `kind` whose offsets need no more than [`Cursor::next_plain`].
    pub(crate) fn plain_length(&self, kind: OpKind) -> Option<u32> {
        let kind = kind.index();
        let plain = if self.random {
            self.run == 1
                && self.random_share[kind] == 100
                && matches!(self.method, Method::Permuted(_) | Method::Drawn)
        } else {
            self.skip == 0
        };
        self.sizes[kind].fixed().filter(|_| plain)
    }

    /// Whether one pass touches every block of a file.
    pub(crate) fn covers(&self) -> bool {
        let whole = self.run == 1 && self.skip == 0 && self.random_share == [100; 3];
        whole && (!self.random || matches!(self.method, Method::Permuted(_) | Method::Covered(_)))
    }

    /// Whether one can be through with a file: where each offset is drawn by itself, all are possible at any time.
    pub(crate) fn has_passes(&self) -> bool {
        !self.random || self.method != Method::Drawn
    }

    /// Whether a region of `bytes` has more blocks than a map can be made for.
    pub(crate) fn is_too_large(&self, bytes: u64) -> bool {
        let blocks = match self.method {
            Method::Covered(unit) if self.random => bytes / u64::from(unit),
            _ => 0,
        };
        blocks > MOST_MAPPED
    }

    /// Bytes of memory that the map of a region of `bytes` takes before anything is used.
    pub(crate) fn map_bytes(&self, bytes: u64) -> u64 {
        match self.method {
            Method::Covered(unit) if self.random => coverage::bytes_of(bytes / u64::from(unit)),
            _ => 0,
        }
    }

    /// Whether an operation may overlap an earlier one of the same pass.
    pub(crate) fn may_overlap(&self) -> bool {
        !self.covers()
    }

    /// Whether every operation begins and ends on a multiple of `unit` bytes from the start of its region.
    pub(crate) fn keeps_to(&self, unit: u32, used: [bool; 3]) -> bool {
        let kinds = (0..3).filter(|&kind| used[kind]);
        let skip_fits = self.skip.unsigned_abs().is_multiple_of(u64::from(unit));
        skip_fits
            && kinds.into_iter().all(|kind| self.sizes[kind].multiple_of(unit) && self.align[kind].is_multiple_of(unit))
    }
}

fn method(job: &Job, sizes: &[Sizer; 3], used: [bool; 3]) -> Method {
    let pattern = &job.pattern;
    let in_use: Vec<usize> = (0..3).filter(|&kind| used[kind]).collect();
    let uniform = three(&pattern.distribution, |shape| *shape == Distribution::Uniform);
    let free = pattern.norandommap || pattern.blockalign.is_some();
    let least = in_use.iter().map(|&kind| sizes[kind].min()).min().unwrap_or(1);
    let same = in_use.iter().all(|&kind| sizes[kind].fixed() == Some(least));
    if free || !in_use.iter().all(|&kind| uniform[kind]) {
        Method::Drawn
    } else if same {
        Method::Permuted(least)
    } else if pattern.generator == Generator::Lfsr {
        Method::PermutedStarts(least)
    } else {
        Method::Covered(least)
    }
}

/// Start of a sequence, from the start of the region.
///
/// Backwards and behind an `offset`, fio begins as far into the file as the region is long, as if the region began with
/// the file; where that lies before the region, at its end.
fn first_head(skip: i64, extent: FileExtent) -> i64 {
    if skip >= 0 || extent.start == 0 || extent.start == extent.length {
        return 0;
    }
    (extent.length as i64).saturating_sub_unsigned(extent.start).saturating_add(skip)
}

/// Position in one file.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    start: u64,
    /// Usable bytes from `start` on.
    length: u64,
    /// A skip that lands exactly on the end goes on from the start within the same pass. As in fio, that takes a region
    /// from the start of the file that ends with a whole block.
    wraps: bool,
    /// Bytes left in this pass.
    left: u64,
    /// Where each kind goes on in sequence, from `start`; negative or beyond the end where a skip led there.
    heads: [i64; 3],
    source: OffsetSource,
    /// Operations left of the current run.
    run_left: u64,
    /// Passes completed.
    pub(crate) pass: u32,
    key: u64,
    least: u32,
}

#[derive(Clone, Debug)]
enum OffsetSource {
    InOrder,
    Permuted { order: Permutation, unit: u64 },
    Covered { map: Coverage, unit: u64 },
    Drawn(Box<[Draw; 3]>),
}

impl Cursor {
    pub(crate) fn new(rules: &OffsetRules, extent: FileExtent, index: usize, used: [bool; 3]) -> Self {
        let least = (0..3).filter(|&kind| used[kind]).map(|kind| rules.sizes[kind].min()).min().unwrap_or(1);
        let unit = u64::from(least);
        // Heads are signed, since a skip may lead to before the start.
        let most = extent.length.min((i64::MAX as u64).saturating_sub(extent.start));
        let length = if rules.unaligned { most } else { most / unit * unit };
        let mut cursor = Self {
            start: extent.start,
            length,
            wraps: extent.start == 0 && length == extent.length,
            left: 0,
            heads: [0; 3],
            source: OffsetSource::InOrder,
            run_left: 0,
            pass: 0,
            key: mix(rules.key, index as u64),
            least,
        };
        if let Method::Drawn = rules.method
            && rules.random
        {
            cursor.source = cursor.drawn(rules);
        }
        cursor.heads = [first_head(rules.skip, extent); 3];
        cursor.begin_pass(rules);
        cursor
    }

    /// Usable bytes of the region.
    pub(crate) const fn length(&self) -> u64 {
        self.length
    }

    /// Nothing is left to do in this pass.
    pub(crate) const fn is_done(&self) -> bool {
        self.left < self.least as u64
    }

    /// Begins the next pass: everything is free again, and random orders differ from those before.
    pub(crate) fn next_pass(&mut self, rules: &OffsetRules) {
        self.pass = self.pass.wrapping_add(1);
        self.begin_pass(rules);
    }

    fn begin_pass(&mut self, rules: &OffsetRules) {
        self.left = self.length;
        // Backwards, passes follow one another without a seam.
        if rules.skip >= 0 {
            self.heads = [0; 3];
        }
        self.run_left = 0;
        if !rules.random {
            return;
        }
        let key = mix(self.key, u64::from(self.pass));
        match rules.method {
            Method::Permuted(unit) | Method::PermutedStarts(unit) => {
                let unit = u64::from(unit);
                self.source = OffsetSource::Permuted { order: Permutation::new(self.length / unit, key), unit };
            }
            Method::Covered(unit) => {
                let unit = u64::from(unit);
                self.source = OffsetSource::Covered { map: Coverage::new(self.length / unit), unit };
            }
            Method::Drawn => {}
        }
    }

    fn drawn(&self, rules: &OffsetRules) -> OffsetSource {
        OffsetSource::Drawn(Box::new([0, 1, 2].map(|kind| {
            let align = u64::from(rules.align[kind]);
            let count = self.length.saturating_sub(u64::from(rules.sizes[kind].min())) / align + 1;
            Draw::new(&rules.distribution[kind], count, align, self.key)
        })))
    }

    /// The next place for an operation of `kind`: absolute offset and length in bytes. `None` when this pass
    /// over the file has come to its end.
    #[inline]
    pub(crate) fn next(&mut self, rules: &OffsetRules, kind: OpKind, random: &mut Random) -> Option<(u64, u32)> {
        let kind = kind.index();
        let length = rules.sizes[kind].draw(random);
        let (at, length) = if rules.random {
            self.at_random(rules, kind, length, random)
        } else {
            self.in_sequence(rules, kind, length)
        }
        .or_else(|| self.exhausted())?;
        self.heads[kind] = (at as i64 + i64::from(length)).saturating_add(rules.skip);
        self.left = self.left.saturating_sub(u64::from(length));
        Some((self.start + at, length))
    }

    /// How many operations of this plain length are left in this pass before an end is met.
    pub(crate) fn plain_left(&self, kind: OpKind, length: u32) -> u64 {
        let head = u64::try_from(self.heads[kind.index()]).unwrap_or(self.length);
        let room = match self.source {
            OffsetSource::InOrder => self.left.min(self.length.saturating_sub(head)),
            OffsetSource::Permuted { .. } | OffsetSource::Covered { .. } | OffsetSource::Drawn(_) => self.left,
        };
        room / u64::from(length.max(1))
    }

    /// The next offset among those counted by [`Cursor::plain_left`]; [`Cursor::account`] has to follow.
    #[inline(always)]
    pub(crate) fn next_plain(&mut self, rules: &OffsetRules, kind: OpKind, length: u32, random: &mut Random) -> u64 {
        let kind = kind.index();
        let at = match &mut self.source {
            OffsetSource::InOrder => {
                let at = self.heads[kind];
                self.heads[kind] = at + i64::from(length);
                at as u64
            }
            OffsetSource::Permuted { order, unit } => order.next().unwrap_or(0) * *unit,
            OffsetSource::Covered { map, unit } => {
                map.take(random.below(map.blocks()), 1).map_or(0, |taken| taken.0 * *unit)
            }
            OffsetSource::Drawn(draws) => draws[kind].draw(random) * u64::from(rules.align[kind]),
        };
        self.start + at
    }

    /// Counts plain operations that were issued.
    pub(crate) fn account(&mut self, operations: u64, length: u32) {
        self.left = self.left.saturating_sub(operations * u64::from(length));
    }

    #[cold]
    fn exhausted<T>(&mut self) -> Option<T> {
        self.left = 0;
        None
    }

    #[inline]
    fn in_sequence(&mut self, rules: &OffsetRules, kind: usize, length: u32) -> Option<(u64, u32)> {
        let head = self.heads[kind];
        if let Ok(at) = u64::try_from(head)
            && at + u64::from(length) <= self.length
        {
            return Some((at, length));
        }
        self.turn_round(rules, kind, length, head)
    }

    /// Near an end: cuts the operation short, or goes on from the other end.
    ///
    /// As in fio, a skip that lands exactly on the end may wrap round, and one that leads beyond it (or leaves too
    /// little for a block) ends the pass.
    #[cold]
    fn turn_round(&mut self, rules: &OffsetRules, kind: usize, length: u32, head: i64) -> Option<(u64, u32)> {
        let (end, least) = (self.length as i64, i64::from(rules.sizes[kind].min()));
        let at = if head < 0 {
            end.saturating_add(rules.skip)
        } else if end - head >= least {
            head
        } else if rules.skip <= 0 || (self.wraps && head == end) {
            0
        } else {
            return None;
        };
        self.fit(rules, kind, u64::try_from(at).ok()?, length)
    }

    #[inline]
    fn at_random(&mut self, rules: &OffsetRules, kind: usize, length: u32, random: &mut Random) -> Option<(u64, u32)> {
        if self.goes_on(rules, kind, random)
            && let Some(place) = u64::try_from(self.heads[kind]).ok().and_then(|at| self.fit(rules, kind, at, length))
        {
            return Some(place);
        }
        self.run_left = rules.run - 1;
        match &mut self.source {
            OffsetSource::Permuted { order, unit } => {
                let unit = *unit;
                let Some(block) = order.next() else { return self.start_again(rules, kind, length) };
                if u64::from(length) == unit {
                    return Some((block * unit, length));
                }
                self.fit(rules, kind, block * unit, length)
            }
            OffsetSource::Covered { map, unit } => {
                let from = random.below(map.blocks());
                let (first, taken) = map.take(from, u64::from(length).div_ceil(*unit))?;
                Some((first * *unit, length.min(u32::try_from(taken * *unit).unwrap_or(u32::MAX))))
            }
            OffsetSource::Drawn(draws) => {
                let at = draws[kind].draw(random) * u64::from(rules.align[kind]);
                self.fit(rules, kind, at, length)
            }
            OffsetSource::InOrder => self.in_sequence(rules, kind, length),
        }
    }

    /// Whether this operation follows the one before it instead of taking a random place.
    #[inline]
    fn goes_on(&mut self, rules: &OffsetRules, kind: usize, random: &mut Random) -> bool {
        if self.run_left > 0 {
            self.run_left -= 1;
            return true;
        }
        let share = rules.random_share[kind];
        share < 100 && random.below(100) >= u64::from(share)
    }

    /// All offsets of the order have been given while bytes are left, which happens when some operations were
    /// not placed by it or were cut short: a new order begins.
    #[cold]
    fn start_again(&mut self, rules: &OffsetRules, kind: usize, length: u32) -> Option<(u64, u32)> {
        self.key = mix(self.key, 1);
        let OffsetSource::Permuted { order, unit } = &mut self.source else { return None };
        *order = Permutation::new(self.length / *unit, self.key);
        let at = order.next()? * *unit;
        self.fit(rules, kind, at, length)
    }

    /// What fits of `length` bytes at `at`: the rest of the region in whole least blocks, or nothing.
    fn fit(&self, rules: &OffsetRules, kind: usize, at: u64, length: u32) -> Option<(u64, u32)> {
        let rest = self.length.checked_sub(at)?;
        if u64::from(length) <= rest {
            return Some((at, length));
        }
        let least = u64::from(if rules.unaligned { rules.sizes[kind].min() } else { self.least });
        let whole = if rules.unaligned { rest } else { rest / least * least };
        (whole >= least).then_some((at, whole as u32))
    }
}

//! Offset and length of the next operation on a file.

mod coverage;
mod distribution;
mod permutation;
mod preconditioning;
mod strides;

pub(crate) use distribution::Draw;
pub(crate) use permutation::Permutation;

use job::{Distribution, Generator, Job, Preconditioning, StridedZones};
use units::random::{Random, mix};
use units::{OpKind, Problem};

use crate::decision::FileExtent;
use crate::sizes::{Sizer, sizes_by_order, three};
use coverage::Coverage;
use preconditioning::{PreconditioningPass, RegionPlan};
use strides::Strides;

/// Maximum number of blocks in a map: 1 PiB of 4 KiB, which takes half a gigabyte before first use.
const MAPPED_BLOCKS_MAX: u64 = 1 << 38;

/// Rules for the offsets in all files of a job.
#[derive(Clone, Debug)]
pub(crate) struct OffsetRules {
    /// Block sizes: read, write, trim.
    pub(crate) sizes: [Sizer; 3],
    /// Whether offsets are random rather than sequential.
    random: bool,
    /// Sequential operations from each random offset.
    run: u64,
    /// Bytes to skip after each sequential operation.
    skip: i64,
    /// Percentage of random offsets: read, write, trim.
    random_share: [u32; 3],
    /// Method that chooses random offsets.
    method: Method,
    /// Alignment of random offsets in bytes: read, write, trim.
    align: [u32; 3],
    distribution: [Distribution; 3],
    unaligned: bool,
    /// Whether sequential operations have the sizes of reads and random ones those of writes.
    sizes_by_order: bool,
    /// Whether operations between two random offsets repeat the offset.
    repeats_offset: bool,
    zones: Option<StridedZones>,
    /// Whether each pass begins in the first zone.
    restarts_zones: bool,
    preconditioning: Option<Preconditioning>,
    /// Whether reads and writes are each in a sequence of their own.
    has_two_sequences: bool,
    key: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// Each block of this size once.
    Permuted(u32),
    /// Each offset that is a multiple of this once, with varying lengths: blocks may overlap, as with fio's `lfsr`.
    PermutedStarts(u32),
    /// Each block of this size once, several per operation.
    Covered(u32),
    /// The writes of `sprandom`, of blocks of this size.
    Preconditioning(u32),
    /// Independent draws.
    Drawn,
}

impl OffsetRules {
    pub(crate) fn new(job: &Job, used: [bool; 3], key: u64) -> Self {
        let pattern = &job.pattern;
        let (block_sizes, sizes_by_order) = sizes_by_order(pattern);
        let sizes = three(&block_sizes, |sizes| Sizer::new(sizes, pattern.bs_unaligned));
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
            sizes_by_order,
            repeats_offset: pattern.repeats_offset && pattern.random,
            zones: pattern.zones,
            restarts_zones: job.is_queued(),
            preconditioning: pattern.preconditioning,
            has_two_sequences: !pattern.random && used[0] && used[1] && !pattern.sizes_by_order,
            sizes,
            align,
            key,
        }
    }

    /// Returns the length of operations of `kind` if [`Cursor::next_plain`] can place them.
    pub(crate) fn plain_length(&self, kind: OpKind) -> Option<u32> {
        if self.zones.is_some() || self.sizes_by_order {
            return None;
        }
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

    /// Reports whether a pass touches every block of a file.
    pub(crate) fn covers(&self) -> bool {
        let whole = self.run == 1 && self.skip == 0 && self.random_share == [100; 3] && self.zones.is_none();
        whole && (!self.random || matches!(self.method, Method::Permuted(_) | Method::Covered(_)))
    }

    /// Reports whether offsets are random.
    pub(crate) const fn is_random(&self) -> bool {
        self.random
    }

    /// Reports whether a sequence skips bytes after each operation.
    pub(crate) const fn has_skip(&self) -> bool {
        self.skip != 0
    }

    /// Reports whether a pass over a file ends. It does not if offsets are drawn independently.
    pub(crate) fn has_passes(&self) -> bool {
        !self.random || self.method != Method::Drawn || self.zones.is_some()
    }

    /// Reports whether a pass ends with the first whole block that reaches the size of the region, as in fio, instead of
    /// the last one that fits.
    fn ends_with_whole_block(&self) -> bool {
        !self.has_passes() || self.has_two_sequences || self.zones.is_some()
    }

    /// Reports whether a region of `bytes` has too many blocks for a map.
    pub(crate) fn is_too_large(&self, bytes: u64) -> bool {
        self.mapped_blocks(bytes) > MAPPED_BLOCKS_MAX
    }

    /// Returns the memory in bytes of the map of an unused region of `bytes`, or of the blocks that `sprandom`
    /// remembers.
    pub(crate) fn map_bytes(&self, bytes: u64) -> u64 {
        match self.regions(bytes) {
            Some(Ok(plan)) => plan.remembered().saturating_mul(size_of::<u64>() as u64),
            _ => coverage::bytes_of(self.mapped_blocks(bytes)),
        }
    }

    /// Returns how `sprandom` divides the pass over a region of `bytes`; `None` for other jobs.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be divided.
    pub(crate) fn regions(&self, bytes: u64) -> Option<Result<RegionPlan, Problem>> {
        let (Method::Preconditioning(unit), Some(options)) = (self.method, &self.preconditioning) else { return None };
        Some(RegionPlan::new(options, bytes / u64::from(unit), unit.into()))
    }

    fn mapped_blocks(&self, bytes: u64) -> u64 {
        match self.method {
            Method::Covered(unit) if self.random => bytes / u64::from(unit),
            _ => 0,
        }
    }

    /// Reports whether an operation may overlap an earlier one of the same pass.
    pub(crate) fn may_overlap(&self) -> bool {
        !self.covers()
    }

    /// Reports whether every operation begins and ends on a multiple of `unit` bytes from the start of its region.
    pub(crate) fn keeps_to(&self, unit: u32, used: [bool; 3]) -> bool {
        let fits = |kind: usize| self.sizes[kind].multiple_of(unit) && self.align[kind].is_multiple_of(unit);
        self.skip.unsigned_abs().is_multiple_of(u64::from(unit)) && (0..3).all(|kind| !used[kind] || fits(kind))
    }
}

/// Returns the minimum block size of the used kinds.
pub(crate) fn min_size(sizes: &[Sizer; 3], used: [bool; 3]) -> u32 {
    sizes.iter().zip(used).filter(|(_, used)| *used).map(|(sizes, _)| sizes.min()).min().unwrap_or(1)
}

fn method(job: &Job, sizes: &[Sizer; 3], used: [bool; 3]) -> Method {
    let pattern = &job.pattern;
    if pattern.preconditioning.is_some() {
        return Method::Preconditioning(min_size(sizes, used));
    }
    let uniform = three(&pattern.distribution, |shape| *shape == Distribution::Uniform);
    // `lfsr` needs no map to reach each offset once.
    let is_drawn = pattern.norandommap && pattern.generator != Generator::Lfsr;
    let free = is_drawn || pattern.blockalign.is_some();
    let least = min_size(sizes, used);
    let same = (0..3).all(|kind| !used[kind] || sizes[kind].fixed() == Some(least));
    if free || (0..3).any(|kind| used[kind] && !uniform[kind]) {
        Method::Drawn
    } else if same {
        Method::Permuted(least)
    } else if pattern.generator == Generator::Lfsr {
        Method::PermutedStarts(least)
    } else {
        Method::Covered(least)
    }
}

/// Returns the start of a sequence, relative to the region.
///
/// If a job with an `offset` reads backwards, fio starts as far into the file as the region is long, as if the region
/// began with the file, or at the end of the region if that lies before it.
fn first_head(skip: i64, extent: FileExtent) -> i64 {
    if skip >= 0 || extent.start == 0 || extent.start == extent.length {
        return 0;
    }
    (extent.length as i64).saturating_sub_unsigned(extent.start).saturating_add(skip)
}

/// The position in one file.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    start: u64,
    /// Usable bytes from `start`.
    pub(crate) length: u64,
    /// Whether a skip that lands exactly on the end continues at the start within the same pass. As in fio, this
    /// requires a region that starts at the start of the file and ends with a whole block.
    wraps: bool,
    /// Bytes that end the job or a pass over the file ([`OffsetRules::ends_with_whole_block`]).
    pass_bytes: u64,
    /// Bytes left in this pass.
    left: u64,
    /// Next sequential position of each kind, from `start`; negative or beyond the end if a skip led there.
    heads: [i64; 3],
    source: OffsetSource,
    /// Operations left in the current run.
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
    Preconditioning { pass: Box<PreconditioningPass>, unit: u64 },
    Strided(Box<Strides>),
}

impl Cursor {
    pub(crate) fn new(rules: &OffsetRules, extent: FileExtent, index: usize, used: [bool; 3]) -> Self {
        let least = min_size(&rules.sizes, used);
        let unit = u64::from(least);
        // Heads are signed, since a skip may lead to before the start.
        let most = extent.length.min((i64::MAX as u64).saturating_sub(extent.start));
        let length = if rules.unaligned { most } else { most / unit * unit };
        let mut cursor = Self {
            start: extent.start,
            length,
            wraps: extent.start == 0 && length == extent.length,
            pass_bytes: if rules.ends_with_whole_block() { most } else { length },
            left: 0,
            heads: [0; 3],
            source: OffsetSource::InOrder,
            run_left: 0,
            pass: 0,
            key: mix(rules.key, index as u64),
            least,
        };
        if let Some(Ok(plan)) = rules.regions(cursor.length) {
            cursor.pass_bytes = plan.writes().saturating_mul(unit);
        }
        if let Method::Drawn = rules.method
            && rules.random
            && rules.zones.is_none()
        {
            cursor.source = cursor.drawn(rules);
        }
        cursor.heads = [first_head(rules.skip, extent); 3];
        cursor.begin_pass(rules);
        cursor
    }

    /// Returns the bytes of a pass over the file.
    pub(crate) const fn pass_bytes(&self) -> u64 {
        self.pass_bytes
    }

    /// Returns the smallest block, in bytes.
    pub(crate) const fn least(&self) -> u32 {
        self.least
    }

    /// Reports whether the pass has ended.
    pub(crate) const fn is_done(&self) -> bool {
        self.left < self.least as u64
    }

    /// Returns the offset at which a sequence of this kind continues.
    pub(crate) fn position(&self, kind: OpKind) -> u64 {
        self.start.saturating_add_signed(self.heads[kind.index()])
    }

    /// Returns the end of the region.
    pub(crate) const fn end(&self) -> u64 {
        self.start + self.length
    }

    /// Continues the sequence of this kind at an offset, after `lost` bytes that the pass leaves out.
    pub(crate) fn continue_at(&mut self, kind: OpKind, offset: u64, lost: u64) {
        self.heads[kind.index()] = offset as i64 - self.start as i64;
        self.left = self.left.saturating_sub(lost);
    }

    /// Returns bytes to the pass, of an operation that was shortened.
    pub(crate) fn give_back(&mut self, bytes: u32) {
        self.left = self.left.saturating_add(bytes.into());
    }

    pub(crate) const fn end_pass(&mut self) {
        self.left = 0;
    }

    /// Begins the next pass, in which all blocks are unused and random orders are new.
    pub(crate) fn next_pass(&mut self, rules: &OffsetRules) {
        self.pass = self.pass.wrapping_add(1);
        self.begin_pass(rules);
    }

    fn begin_pass(&mut self, rules: &OffsetRules) {
        // Where offsets are drawn, only the job's amount of data ends.
        self.left = if !rules.has_passes() {
            u64::MAX
        } else if rules.ends_with_whole_block() {
            self.pass_bytes.next_multiple_of(self.least.into())
        } else {
            self.pass_bytes
        };
        // Backwards, each pass continues where the previous one ended.
        if rules.skip >= 0 {
            self.heads = [0; 3];
        }
        self.run_left = 0;
        let key = mix(self.key, u64::from(self.pass));
        if let OffsetSource::Strided(strides) = &mut self.source {
            strides.next_pass(rules.random, rules.restarts_zones, self.least, key);
            return;
        }
        if let Some(zones) = rules.zones {
            // The bytes of a last, partial block count: a zone that begins there ends the pass.
            self.source = OffsetSource::Strided(Box::new(Strides::new(zones, self.pass_bytes, key)));
            return;
        }
        if !rules.random {
            return;
        }
        match rules.method {
            Method::Permuted(unit) | Method::PermutedStarts(unit) => {
                let unit = u64::from(unit);
                self.source = OffsetSource::Permuted { order: Permutation::new(self.length / unit, key), unit };
            }
            Method::Covered(unit) => {
                let unit = u64::from(unit);
                self.source = OffsetSource::Covered { map: Coverage::new(self.length / unit), unit };
            }
            Method::Preconditioning(unit) => {
                if let Some(Ok(plan)) = rules.regions(self.length) {
                    let pass = Box::new(PreconditioningPass::new(&plan, key));
                    self.source = OffsetSource::Preconditioning { pass, unit: unit.into() };
                }
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

    /// Returns absolute offset and length in bytes of the next operation of `kind`; `None` at the end of the pass over
    /// the file.
    #[inline(always)]
    pub(crate) fn next(&mut self, rules: &OffsetRules, kind: OpKind, random: &mut Random) -> Option<(u64, u32)> {
        let kind = kind.index();
        if rules.sizes_by_order {
            return self.next_by_order(rules, kind, random);
        }
        let length = rules.sizes[kind].draw(random);
        let (at, length) = if rules.random {
            let continues = self.continues_run(rules, kind, random);
            self.at_random(rules, kind, (length, continues), random)
        } else {
            self.in_sequence(rules, kind, length)
        }
        .or_else(|| self.exhausted())?;
        Some(self.take(rules, kind, at, length))
    }

    /// Returns the next operation of a job whose sizes depend on whether it is sequential (`bs_is_seq_rand`).
    #[cold]
    fn next_by_order(&mut self, rules: &OffsetRules, kind: usize, random: &mut Random) -> Option<(u64, u32)> {
        let continues = !rules.random || self.continues_run(rules, kind, random);
        let length = rules.sizes[usize::from(!continues)].draw(random);
        let place = if rules.random {
            self.at_random(rules, kind, (length, continues), random)
        } else {
            self.in_sequence(rules, kind, length)
        };
        let (at, length) = place.or_else(|| self.exhausted())?;
        Some(self.take(rules, kind, at, length))
    }

    /// Counts an operation. Returns its absolute offset and its length.
    #[inline(always)]
    fn take(&mut self, rules: &OffsetRules, kind: usize, at: u64, length: u32) -> (u64, u32) {
        let moved = if rules.repeats_offset { 0 } else { i64::from(length) };
        self.heads[kind] = (at as i64 + moved).saturating_add(rules.skip);
        self.left = self.left.saturating_sub(u64::from(length));
        (self.start + at, length)
    }

    /// Returns the number of operations of this plain length up to the end of the region or the pass.
    pub(crate) fn plain_left(&self, kind: OpKind, length: u32) -> u64 {
        let head = u64::try_from(self.heads[kind.index()]).unwrap_or(self.length);
        let room = match self.source {
            OffsetSource::InOrder => self.left.min(self.length.saturating_sub(head)),
            OffsetSource::Permuted { .. } | OffsetSource::Covered { .. } | OffsetSource::Drawn(_) => self.left,
            // Never on the fast path.
            OffsetSource::Strided(_) | OffsetSource::Preconditioning { .. } => 0,
        };
        room / u64::from(length.max(1))
    }

    /// Returns the next of the offsets counted by [`Cursor::plain_left`]; a call of [`Cursor::account`] must follow.
    #[inline(always)]
    pub(crate) fn next_plain(&mut self, rules: &OffsetRules, kind: OpKind, length: u32, random: &mut Random) -> u64 {
        let at = match &mut self.source {
            OffsetSource::InOrder => {
                let head = &mut self.heads[kind.index()];
                let at = *head;
                *head += i64::from(length);
                at as u64
            }
            OffsetSource::Permuted { order, unit } => order.next().unwrap_or(0) * *unit,
            OffsetSource::Covered { map, unit } => {
                map.take(random.below(map.blocks), 1).map_or(0, |taken| taken.0 * *unit)
            }
            OffsetSource::Drawn(draws) => {
                let kind = kind.index();
                draws[kind].draw(random) * u64::from(rules.align[kind])
            }
            OffsetSource::Strided(_) | OffsetSource::Preconditioning { .. } => 0,
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
        if rules.zones.is_some() {
            return self.in_zone(false, length, &mut Random::new(0, 0));
        }
        let head = self.heads[kind];
        if let Ok(at) = u64::try_from(head)
            && at + u64::from(length) <= self.length
        {
            return Some((at, length));
        }
        self.wrap_around(rules, kind, length, head)
    }

    /// Near an end, shortens the operation or continues from the other end.
    ///
    /// As in fio, a skip that lands exactly on the end may wrap around, and one that leads beyond it (or leaves less
    /// than a block) ends the pass.
    #[cold]
    fn wrap_around(&mut self, rules: &OffsetRules, kind: usize, length: u32, head: i64) -> Option<(u64, u32)> {
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

    #[inline(always)]
    fn at_random(
        &mut self,
        rules: &OffsetRules,
        kind: usize,
        (length, continues): (u32, bool),
        random: &mut Random,
    ) -> Option<(u64, u32)> {
        if rules.zones.is_some() {
            return self.in_zone(!continues, length, random);
        }
        if continues
            && let Some(place) = u64::try_from(self.heads[kind]).ok().and_then(|at| self.fit(rules, kind, at, length))
        {
            return Some(place);
        }
        self.run_left = rules.run - 1;
        match &mut self.source {
            OffsetSource::Permuted { order, unit } => {
                let unit = *unit;
                let Some(block) = order.next() else { return self.renew_order(rules, kind, length) };
                if u64::from(length) == unit {
                    return Some((block * unit, length));
                }
                self.fit(rules, kind, block * unit, length)
            }
            OffsetSource::Covered { map, unit } => {
                let from = random.below(map.blocks);
                let (first, taken) = map.take(from, u64::from(length).div_ceil(*unit))?;
                Some((first * *unit, length.min(u32::try_from(taken * *unit).unwrap_or(u32::MAX))))
            }
            OffsetSource::Drawn(draws) => {
                let at = draws[kind].draw(random) * u64::from(rules.align[kind]);
                self.fit(rules, kind, at, length)
            }
            OffsetSource::InOrder => self.in_sequence(rules, kind, length),
            OffsetSource::Preconditioning { pass, unit } => Some((pass.next()? * *unit, length)),
            OffsetSource::Strided(_) => None,
        }
    }

    /// Returns the next operation in strided zones.
    #[cold]
    fn in_zone(&mut self, is_random: bool, length: u32, random: &mut Random) -> Option<(u64, u32)> {
        let (least, left) = (self.least, self.left);
        let OffsetSource::Strided(strides) = &mut self.source else { return None };
        if left < u64::from(least) { None } else { strides.next(is_random, length, least, random) }
    }

    /// Reports whether this operation follows the previous one instead of taking a random offset.
    #[inline]
    fn continues_run(&mut self, rules: &OffsetRules, kind: usize, random: &mut Random) -> bool {
        if self.run_left > 0 {
            self.run_left -= 1;
            return true;
        }
        let share = rules.random_share[kind];
        share < 100 && random.below(100) >= u64::from(share)
    }

    /// Begins a new order if the old one is used up while bytes are left, because some operations did not take their
    /// offset from it or were shortened.
    #[cold]
    fn renew_order(&mut self, rules: &OffsetRules, kind: usize, length: u32) -> Option<(u64, u32)> {
        self.key = mix(self.key, 1);
        let OffsetSource::Permuted { order, unit } = &mut self.source else { return None };
        *order = Permutation::new(self.length / *unit, self.key);
        let at = order.next()? * *unit;
        self.fit(rules, kind, at, length)
    }

    /// Shortens an operation at `at` to what fits into the region, in whole minimum blocks; `None` if nothing fits.
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

//! The writes that precondition a flash device in one pass (`sprandom`).
//!
//! A device that is written to at random for long has blocks of every age, and the older a block is, the more of its
//! pages were written again elsewhere. With the overprovisioning `o`, a device that reclaims its oldest block first keeps
//! the fraction `exp(-k a)` of the pages of age `a` valid, where age 1 is that of the oldest and the mean is `1/(1+o)`
//! (Desnoyers, "Analytic Models of SSD Write Performance", 2014). This state arises in one pass: each block of the
//! region is written once in a random order, and the pass is divided into regions of equal size; of the writes of each
//! region, a number that depends on its age is repeated in the next one.

use units::random::{Random, mix};
use units::{Problem, ProblemCode};

use super::permutation::Permutation;

/// How the pass over a file is divided.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RegionPlan {
    /// Blocks of the file.
    logical: u64,
    /// Writes of the pass.
    physical: u64,
    regions: u64,
    /// Logarithm of the ratio of valid writes of one region to those of the next; negative.
    decay: f64,
    /// Whether a region repeats writes after its own instead of before.
    defers: bool,
}

impl RegionPlan {
    /// Plans the pass over a file of `logical` blocks of `unit` bytes on a device with this overprovisioning.
    ///
    /// # Errors
    ///
    /// Returns a message with a remedy if there are too few regions or too many.
    pub(crate) fn new(options: &job::Preconditioning, logical: u64, unit: u64) -> Result<Self, Problem> {
        let (extra, regions) = (options.overprovisioning, u64::from(options.regions));
        let physical = (logical as f64 * (1.0 + extra)).round().max(logical as f64) as u64;
        let region = physical / regions.max(1);
        if extra >= regions as f64 - 1.0 {
            let least = extra.floor() as u64 + 2;
            let what = format!("{regions} regions are too few for overprovisioning of {extra}");
            return Err(Problem::error(ProblemCode::Unfit, what).help(format!("write at least {least}")));
        }
        let cache = options.cache_bytes.div_ceil(unit.max(1));
        if cache > region {
            let remedy = match physical / cache {
                most @ 2.. => format!("write `spr_num_regions={most}` or less"),
                _ => "reduce `spr_cs`".to_owned(),
            };
            let what = format!("a region has {region} blocks, less than the cache of {cache} blocks");
            return Err(Problem::error(ProblemCode::Unfit, what).help(remedy));
        }
        let plan = Self { logical, physical, regions, decay: decay(extra, regions), defers: cache > 0 };
        if plan.valid(0) * (region as f64) < 1.0 {
            let what =
                format!("{regions} regions are too many: the oldest would keep none of its {region} blocks valid");
            return Err(Problem::error(ProblemCode::Unfit, what).help("reduce `spr_num_regions`"));
        }
        Ok(plan)
    }

    /// Returns the writes of the pass.
    pub(crate) const fn writes(&self) -> u64 {
        self.physical
    }

    /// Returns the maximum number of blocks that are remembered.
    pub(crate) fn remembered(&self) -> u64 {
        self.repeated(0).saturating_mul(2)
    }

    /// Returns the fraction of the writes of a region that stay valid.
    fn valid(&self, region: u64) -> f64 {
        (self.decay * (self.regions - 1 - region) as f64).exp()
    }

    /// Returns the number of the first write of a region.
    fn start(&self, region: u64) -> u64 {
        let product = u128::from(self.physical) * u128::from(region.min(self.regions));
        (product / u128::from(self.regions)) as u64
    }

    /// Returns how many writes of the regions before this one are repeated.
    fn repeated_before(&self, region: u64) -> u64 {
        let extra = self.physical - self.logical;
        // Nothing follows the last region.
        if region + 1 >= self.regions {
            return extra;
        }
        // The sum of a geometric series; `exp_m1` keeps its digits where regions are many.
        let steps = self.decay * (self.regions - region) as f64;
        let valid = if self.decay == 0.0 {
            region as f64
        } else {
            steps.exp() * (self.decay * region as f64).exp_m1() / self.decay.exp_m1()
        };
        let repeated = self.physical as f64 / self.regions as f64 * (region as f64 - valid);
        (repeated.round().max(0.0) as u64).min(extra)
    }

    /// Returns how many writes of a region are repeated in the next one.
    fn repeated(&self, region: u64) -> u64 {
        self.repeated_before(region + 1).saturating_sub(self.repeated_before(region))
    }
}

/// Returns the logarithm `d` for which the mean of `exp(d i)` over `regions` values of `i` from 0 is `1/(1+extra)`.
fn decay(extra: f64, regions: u64) -> f64 {
    let count = regions as f64;
    let mean = |decay: f64| if decay == 0.0 { 1.0 } else { (decay * count).exp_m1() / decay.exp_m1() / count };
    let (mut low, mut high) = (-64.0, 0.0);
    // Each step halves the interval: 64 / 2^80 is below the resolution of a double.
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if mean(middle) < 1.0 / (1.0 + extra) { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The writes of one pass, in blocks.
#[derive(Clone, Debug)]
pub(crate) struct PreconditioningPass {
    plan: RegionPlan,
    /// The blocks in the order in which they are written first.
    order: Permutation,
    random: Random,
    region: u64,
    /// Writes of the region so far, and in total.
    done: u64,
    length: u64,
    /// Writes that are still chosen from the region.
    wanted: u64,
    chosen: Vec<u64>,
    /// The blocks chosen from the region before; the next one at `next`.
    repeats: Vec<u64>,
    next: usize,
}

impl PreconditioningPass {
    pub(crate) fn new(plan: &RegionPlan, key: u64) -> Self {
        let mut pass = Self {
            plan: plan.clone(),
            order: Permutation::new(plan.logical, key),
            random: Random::new(mix(key, 1), 0),
            region: 0,
            done: 0,
            length: 0,
            wanted: 0,
            chosen: Vec::new(),
            repeats: Vec::new(),
            next: 0,
        };
        pass.begin();
        pass
    }

    fn begin(&mut self) {
        self.done = 0;
        self.length = self.plan.start(self.region + 1) - self.plan.start(self.region);
        self.wanted = self.plan.repeated(self.region);
    }

    /// Returns the next block; `None` at the end of the pass.
    pub(crate) fn next(&mut self) -> Option<u64> {
        while self.done == self.length {
            self.region += 1;
            if self.region >= self.plan.regions {
                return None;
            }
            std::mem::swap(&mut self.repeats, &mut self.chosen);
            self.chosen.clear();
            self.next = 0;
            self.begin();
        }
        let left = (self.repeats.len() - self.next) as u64;
        let repeats = if self.plan.defers { self.length - self.done <= left } else { left > 0 };
        let block = if repeats {
            self.next += 1;
            self.repeats[self.next - 1]
        } else {
            self.order.next()?
        };
        // Every write of the region is chosen with the same probability, and exactly as many as wanted.
        if self.wanted > 0 && self.random.below(self.length - self.done) < self.wanted {
            self.wanted -= 1;
            self.chosen.push(block);
        }
        self.done += 1;
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn plan(extra: f64, regions: u32, cache_bytes: u64, logical: u64) -> Result<RegionPlan, Problem> {
        let options = job::Preconditioning { overprovisioning: extra, regions, cache_bytes };
        RegionPlan::new(&options, logical, 4096)
    }

    /// Returns the blocks of a pass.
    fn pass(plan: &RegionPlan) -> Vec<u64> {
        let mut pass = PreconditioningPass::new(plan, 7);
        std::iter::from_fn(|| pass.next()).collect()
    }

    #[test]
    fn every_block_is_written_and_the_total_is_exact() {
        for (extra, regions, logical) in
            [(0.15, 100, 100_000), (0.07, 10, 4_001), (0.28, 333, 77_777), (2.5, 20, 5_000)]
        {
            for cache_bytes in [0, 4096 * 3] {
                let plan = plan(extra, regions, cache_bytes, logical).unwrap();
                let blocks = pass(&plan);
                assert_eq!(blocks.len() as f64, (logical as f64 * (1.0 + extra)).round());
                let mut seen = vec![false; logical as usize];
                blocks.iter().for_each(|block| seen[*block as usize] = true);
                assert!(seen.iter().all(|seen| *seen), "{extra} {regions}");
            }
        }
    }

    /// Counts what is valid of each region at the end.
    #[test]
    fn regions_keep_what_their_age_says() {
        for cache_bytes in [0, 4096] {
            let plan = plan(0.25, 50, cache_bytes, 400_000).unwrap();
            let blocks = pass(&plan);
            let last: BTreeMap<u64, usize> = blocks.iter().enumerate().map(|(at, block)| (*block, at)).collect();
            assert_eq!(last.len(), 400_000);
            let mut valid = vec![0_u64; 50];
            let region_of = |at: usize| (0..50).rev().find(|region| plan.start(*region) <= at as u64).unwrap();
            last.values().for_each(|at| valid[region_of(*at) as usize] += 1);
            for region in 0..50 {
                let length = plan.start(region + 1) - plan.start(region);
                assert_eq!(length, 10_000);
                assert_eq!(valid[region as usize], length - plan.repeated(region), "region {region}");
                let expected = (plan.decay * (49 - region) as f64).exp() * length as f64;
                assert!((valid[region as usize] as f64 - expected).abs() <= 1.0, "region {region}");
            }
            assert_eq!(valid[49], 10_000, "nothing follows the last region");
            assert!(valid.is_sorted(), "the oldest region has the fewest valid blocks");
            assert_eq!(valid.iter().sum::<u64>(), 400_000);
        }
    }

    #[test]
    fn repeats_precede_or_follow_the_new_writes_of_a_region() {
        let positions = |cache_bytes: u64| {
            let plan = plan(0.25, 50, cache_bytes, 40_000).unwrap();
            let blocks = pass(&plan);
            let mut seen = vec![false; 40_000];
            let is_repeat: Vec<bool> =
                blocks.iter().map(|block| std::mem::replace(&mut seen[*block as usize], true)).collect();
            let (start, end) = (plan.start(1) as usize, plan.start(2) as usize);
            let repeats = plan.repeated(0) as usize;
            assert!(is_repeat[..start].iter().all(|repeat| !repeat));
            (is_repeat[start..start + repeats].iter().all(|it| *it), is_repeat[end - repeats..end].iter().all(|it| *it))
        };
        assert_eq!(positions(0), (true, false));
        assert_eq!(positions(4096), (false, true));
    }

    #[test]
    fn the_decay_has_the_mean_of_the_overprovisioning() {
        for (extra, regions) in [(0.01, 2), (0.15, 100), (0.28, 1_000), (5.0, 40), (0.07, 1_000_000)] {
            let decay = decay(extra, regions);
            let mean = (0..regions).map(|region| (decay * region as f64).exp()).sum::<f64>() / regions as f64;
            assert!((mean - 1.0 / (1.0 + extra)).abs() < 1e-9, "{extra} {regions}: {mean}");
        }
    }

    #[test]
    fn too_many_and_too_few_regions_are_refused_with_the_number_that_is_possible() {
        assert!(plan(0.15, 1, 0, 1_000).unwrap_err().to_string().contains("at least 2"));
        assert!(plan(3.0, 4, 0, 100_000).unwrap_err().to_string().contains("at least 5"));
        assert!(plan(0.15, 100_000, 0, 1_000).unwrap_err().to_string().contains("too many"));
        // 115,000 blocks in 100 regions of 1,150.
        assert!(plan(0.15, 100, 1_150 * 4096, 100_000).is_ok());
        assert!(plan(0.15, 100, 1_151 * 4096, 100_000).unwrap_err().to_string().contains("spr_num_regions=99"));
        assert!(plan(0.15, 100, 60_000 * 4096, 100_000).unwrap_err().to_string().contains("reduce `spr_cs`"));
    }
}

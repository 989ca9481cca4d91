//! The search for the schedule of bursts whose waits are those of the trace.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::random::Random;

use super::backlog::{Backlog, BacklogCounts, MeanRates};
use super::bursts::{IN_A_ROW, SUBMITTED_TOGETHER};
use super::episodes::BurstPlan;
use super::open::{OpenLoad, OpenSections, sections_at_once};
use super::section::{JobSection, SectionPace};

/// Greatest number of requests of all schedules that are compared: some ten seconds.
const COMPARED_MAX: u64 = 40_000_000;
/// Difference of waits that ends the search, as a logarithm.
const DIFFERENCE_MAX: f64 = 0.08;
/// The same for sections without bursts that leave out no phase.
const PLAIN_MAX: f64 = 0.12;
/// Least improvement, as a logarithm, for which a plan with as many sections again is taken.
const IMPROVEMENT_MIN: f64 = 0.1;
/// Multiples of the mean rate, parts for the largest bursts, sizes of the others and intervals, with few sections first.
const PLANS: [(f64, usize, usize, usize); 14] = [
    (4.0, 24, 2, 4),
    (8.0, 24, 2, 4),
    (4.0, 24, 4, 2),
    (8.0, 24, 4, 2),
    (4.0, 40, 2, 4),
    (8.0, 40, 2, 4),
    (16.0, 40, 2, 4),
    (4.0, 40, 1, 12),
    (16.0, 40, 1, 12),
    (4.0, 64, 2, 4),
    (8.0, 64, 2, 4),
    (8.0, 64, 1, 12),
    (8.0, 96, 2, 4),
    (16.0, 96, 1, 8),
];
const PHASES: [f64; 3] = [0.5, 0.2, 0.8];

/// Returns sections without bursts if these leave out no phase and have the waits of the trace; otherwise, those of which
/// the waits differ least.
pub(super) fn sections(load: &OpenLoad<'_>) -> OpenSections {
    if load.runtime_ns == 0 {
        return sections_at_once(load.classes, load.regions).into();
    }
    let (plain, mean) = (load.sections(), load.mean_rates());
    let mut best = (score(load, &plain, mean, f64::INFINITY), plain);
    let is_good = |best: &(f64, OpenSections)| best.0 <= if best.1.averaged == 0 { PLAIN_MAX } else { DIFFERENCE_MAX };
    if is_good(&best) {
        return best.1;
    }
    let mut compared = 0;
    for rule in [SUBMITTED_TOGETHER, IN_A_ROW] {
        let Some(bursty) = load.bursty(rule) else { continue };
        for (multiple, placed_parts, groups, intervals) in PLANS {
            for phase in PHASES {
                let plan = BurstPlan { multiple, placed_parts, groups, intervals, phase };
                let sections = load.with_bursts(&bursty, &plan);
                let more = sections.sections.len() as f64 / best.1.sections.len().max(1) as f64 - 1.0;
                let most = best.0 - IMPROVEMENT_MIN * more.max(0.0);
                let found = score(load, &sections, mean, most);
                if found < most {
                    best = (found, sections);
                }
                compared += load.requests();
                if best.0 <= DIFFERENCE_MAX || compared >= COMPARED_MAX {
                    return best.1;
                }
            }
        }
    }
    best.1
}

/// Returns how far the waits of sections are from those of the trace, for the worse of two seeds. One is enough if it is
/// beyond `most`.
fn score(load: &OpenLoad<'_>, sections: &OpenSections, mean: MeanRates, most: f64) -> f64 {
    let of_seed = |seed| difference(load.waits, &section_waits(&sections.sections, seed), mean);
    let first = of_seed(1);
    if first >= most { first } else { first.max(of_seed(2)) }
}

/// Returns the mean of the greatest difference of waits and of the root of their mean square, as logarithms.
fn difference(trace: &[Backlog], job: &[Backlog], mean: MeanRates) -> f64 {
    let known = trace.iter().zip(job).filter(|(trace, _)| trace.is_above(mean));
    let ratios: Vec<f64> = known.map(|(trace, job)| trace.log_ratio(job).abs()).collect();
    let squares = ratios.iter().map(|ratio| ratio * ratio).sum::<f64>() / ratios.len().max(1) as f64;
    f64::midpoint(ratios.iter().copied().fold(0.0, f64::max), squares.sqrt())
}

/// Returns the waits of the requests of sections with a schedule.
fn section_waits(sections: &[JobSection], seed: u64) -> Vec<Backlog> {
    let arrivals = |(number, section)| SectionArrivals::new(section, Random::new(seed, number as u64));
    let mut sections: Vec<SectionArrivals<'_>> = sections.iter().enumerate().map(arrivals).collect();
    let mut next: BinaryHeap<Reverse<(u64, u32, usize)>> = BinaryHeap::new();
    for (number, section) in sections.iter_mut().enumerate() {
        next.extend(section.next().map(|(at, bytes)| Reverse((at, bytes, number))));
    }
    let mut counts = BacklogCounts::new();
    while let Some(Reverse((at, bytes, number))) = next.pop() {
        counts.add(at, bytes);
        next.extend(sections[number].next().map(|(at, bytes)| Reverse((at, bytes, number))));
    }
    counts.finish()
}

/// Instants in nanoseconds and sizes in bytes of the requests of a section with a schedule.
struct SectionArrivals<'a> {
    section: &'a JobSection,
    random: Random,
    at_ns: f64,
    count: u64,
}

impl<'a> SectionArrivals<'a> {
    fn new(section: &'a JobSection, random: Random) -> Self {
        Self { section, random, at_ns: section.start_ns as f64, count: 0 }
    }
}

impl Iterator for SectionArrivals<'_> {
    type Item = (u64, u32);

    fn next(&mut self) -> Option<(u64, u32)> {
        let (section, at) = (self.section, self.at_ns as u64);
        let (SectionPace::Rate { requests_max, .. } | SectionPace::Batches { requests_max, .. }) = section.pace else {
            return None;
        };
        let end_ns = section.start_ns.saturating_add(section.runtime_ns);
        if requests_max.map_or(at >= end_ns, |most| self.count >= most) {
            return None;
        }
        let bytes = draw_size(section, &mut self.random);
        self.at_ns += match section.pace {
            SectionPace::Rate { per_s, is_poisson, .. } => {
                let gap_ns = 1e9 / per_s.iter().sum::<f64>().max(1e-9);
                if is_poisson { -(1.0 - self.random.unit()).ln() * gap_ns } else { gap_ns }
            }
            SectionPace::Batches { requests, interval_ns, .. }
                if (self.count + 1).is_multiple_of(u64::from(requests.max(1))) =>
            {
                interval_ns.max(1) as f64
            }
            _ => 0.0,
        };
        self.count += 1;
        Some((at, bytes))
    }
}

/// Draws a size: where a section reads and writes, of each in proportion to its rate.
fn draw_size(section: &JobSection, random: &mut Random) -> u32 {
    let rates = match section.pace {
        SectionPace::Rate { per_s, .. } => per_s,
        _ => [1.0; 3],
    };
    let used = |kind: &usize| !section.sizes[*kind].is_empty();
    let mut at = random.unit() * (0..3).filter(used).map(|kind| rates[kind]).sum::<f64>();
    let kind = (0..3).filter(used).find(|kind| {
        at -= rates[*kind];
        at < 0.0
    });
    let mut left = random.below(100) as u32;
    let found = kind.and_then(|kind| {
        section.sizes[kind].iter().find(|(_, percent)| {
            let is_there = left < *percent;
            left = left.saturating_sub(*percent);
            is_there
        })
    });
    found.map_or(0, |size| size.0)
}

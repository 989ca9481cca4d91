//! The search for the schedule of bursts whose waits are those of the trace.

use units::random::Random;

use super::backlog::{Backlog, BacklogCounts, MeanRates};
use super::bursts::{IN_A_ROW, SUBMITTED_TOGETHER};
use super::episodes::BurstPlan;
use super::open::{OpenLoad, OpenSections, sections_at_once};
use super::section::{JobSection, SectionPace};

/// Greatest number of requests for which schedules are compared.
const REQUESTS_MAX: u64 = 4_000_000;
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
    if load.requests() > REQUESTS_MAX {
        return plain;
    }
    let mut best = (score(load, &plain, mean, f64::INFINITY), plain);
    let is_good = |best: &(f64, OpenSections)| best.0 <= if best.1.averaged == 0 { PLAIN_MAX } else { DIFFERENCE_MAX };
    if is_good(&best) {
        return best.1;
    }
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
                if best.0 <= DIFFERENCE_MAX {
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
    let mut instants = Vec::new();
    for (number, section) in sections.iter().enumerate() {
        add_instants(&mut instants, section, &mut Random::new(seed, number as u64));
    }
    instants.sort_unstable();
    let mut counts = BacklogCounts::new();
    instants.into_iter().for_each(|(at, bytes)| counts.add(at, bytes));
    counts.finish()
}

fn add_instants(instants: &mut Vec<(u64, u32)>, section: &JobSection, random: &mut Random) {
    let end = section.start_ns.saturating_add(section.runtime_ns);
    let ends = |at: u64, count: u64, most: Option<u64>| most.map_or(at >= end, |most| count >= most);
    let (mut at, mut count) = (section.start_ns as f64, 0u64);
    match section.pace {
        SectionPace::Rate { per_s, is_poisson, requests_max } => {
            let gap_ns = 1e9 / per_s.iter().sum::<f64>().max(1e-9);
            while !ends(at as u64, count, requests_max) {
                instants.push((at as u64, draw_size(section, random)));
                at += if is_poisson { -(1.0 - random.unit()).ln() * gap_ns } else { gap_ns };
                count += 1;
            }
        }
        SectionPace::Batches { requests, interval_ns, requests_max } => {
            while !ends(at as u64, count, requests_max) {
                let batch = requests_max.map_or(u64::from(requests), |most| (most - count).min(u64::from(requests)));
                (0..batch).for_each(|_| instants.push((at as u64, draw_size(section, random))));
                at += interval_ns.max(1) as f64;
                count += batch.max(1);
            }
        }
        SectionPace::Think { .. } | SectionPace::Count { .. } => {}
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

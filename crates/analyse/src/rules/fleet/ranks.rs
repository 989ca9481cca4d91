//! Rules for ranks that get less than others.

use std::collections::BTreeMap;

use record::{FleetRecord, RankRecord, Run};

use super::{mean_and_variance, median, named, shared};
use crate::{Code, EvidenceSource, Finding, Quantity, Remedy, Severity};

/// Fraction of the median below which a rank is slow at least. Smaller differences are noise.
const SLOW: f64 = 0.8;

/// Standard deviations below the median that make a rank slow: among a thousand ranks with normally distributed rates,
/// none is by chance.
const DEVIATIONS: f64 = 5.0;

/// Standard deviation of a normal distribution over its median absolute deviation.
const NORMAL: f64 = 1.4826;

/// Minimum number of ranks with a meaningful median.
const GROUP_MIN: usize = 3;

/// Ranks with the same number of workers.
type Group<'a> = Vec<&'a RankRecord>;

fn groups(fleet: &FleetRecord) -> impl Iterator<Item = Group<'_>> {
    let mut groups: BTreeMap<u32, Group<'_>> = BTreeMap::new();
    let usable = |member: &&RankRecord| member.workers > 0 && member.iops.is_finite() && member.iops >= 0.0;
    for member in fleet.members.iter().filter(usable) {
        groups.entry(member.workers).or_default().push(member);
    }
    groups.into_values()
}

/// Returns the slow ranks of a group, slowest first, and the median rate.
fn slow<'a>(group: &Group<'a>) -> Option<(Group<'a>, f64)> {
    let middle = median(group.iter().map(|member| member.iops)).filter(|middle| *middle > 0.0)?;
    let deviation = NORMAL * median(group.iter().map(|member| (member.iops - middle).abs()))?;
    let limit = (SLOW * middle).min(middle - DEVIATIONS * deviation);
    let mut slow: Group<'a> = group.iter().copied().filter(|member| member.iops < limit).collect();
    slow.sort_by(|a, b| a.iops.total_cmp(&b.iops).then(a.rank.cmp(&b.rank)));
    // More than a quarter are no exceptions.
    let few = !slow.is_empty() && slow.len() <= (group.len() / 4).max(1);
    (group.len() >= GROUP_MIN && few).then_some((slow, middle))
}

/// Checks for single ranks that are far slower than the median of those that run the same work.
pub(super) fn straggler(fleet: &FleetRecord) -> Option<Finding> {
    let found = groups(fleet).filter_map(|group| slow(&group).map(|(slow, middle)| (group, slow, middle)));
    let worst = found.min_by(|a, b| (a.1[0].iops / a.2).total_cmp(&(b.1[0].iops / b.2)));
    let (group, slow, middle) = worst?;
    let slowest = slow[0];
    let mut by_number = slow.clone();
    by_number.sort_by_key(|member| member.rank);
    let finding = Finding::new(Code::RankStraggler, Severity::Warning)
        .about(&named(&by_number))
        .with(Quantity::RankIops, slowest.iops, EvidenceSource::Counters)
        .with(Quantity::MedianRankIops, middle, EvidenceSource::Counters)
        .with(Quantity::SlowRanks, slow.len() as f64, EvidenceSource::Counters)
        .with(Quantity::Ranks, group.len() as f64, EvidenceSource::Counters)
        .remedy(Remedy::CompareHosts);
    Some(distinguished(finding, slowest, &group))
}

/// Adds what distinguishes a rank from the others of its group.
fn distinguished(finding: Finding, slowest: &RankRecord, group: &Group<'_>) -> Finding {
    /// Fraction of a CPU from which a worker's CPU is busy, and below which that of others is not.
    const CPU: (f64, f64) = (0.9, 0.8);
    const P99: f64 = 1.5;
    const LASTED: f64 = 0.9;
    /// Fraction of the run, and nanoseconds, by which a rank must start later.
    const LATE: (f64, f64) = (0.01, 1e7);
    let of_group = |value: &dyn Fn(&RankRecord) -> f64| median(group.iter().map(|member| value(member))).unwrap_or(0.0);
    let p99 = |member: &RankRecord| member.latency_ns.map_or(0.0, |[_, p99, _]| p99 as f64);
    let delay = |member: &RankRecord| member.start_delay_ns.map_or(0.0, |delay| delay as f64);
    let (cpu, others_cpu) = (slowest.cpu_share, of_group(&|member| member.cpu_share));
    let (slow_p99, others_p99) = (p99(slowest), of_group(&p99));
    let (lasted, others_lasted) = (slowest.lasted_ns(), of_group(&RankRecord::lasted_ns));
    let late = delay(slowest) - of_group(&delay);
    let is_busy = cpu >= CPU.0 && others_cpu < CPU.1;
    let has_tail = others_p99 > 0.0 && slow_p99 >= P99 * others_p99;
    let is_short = lasted > 0.0 && lasted < LASTED * others_lasted;
    let is_late = late >= LATE.1 && late >= LATE.0 * others_lasted;
    let has_errors = slowest.errors > 0 && of_group(&|member| member.errors as f64) == 0.0;
    finding
        .with(Quantity::RankCpuShare, is_busy.then_some(cpu), EvidenceSource::ProcessorTime)
        .with(Quantity::MedianRankCpuShare, is_busy.then_some(others_cpu), EvidenceSource::ProcessorTime)
        .with(Quantity::RankP99, has_tail.then_some(slow_p99), EvidenceSource::Histogram)
        .with(Quantity::MedianRankP99, has_tail.then_some(others_p99), EvidenceSource::Histogram)
        .with(Quantity::RankLate, is_late.then_some(late), EvidenceSource::Counters)
        .with(Quantity::RankErrors, has_errors.then_some(slowest.errors as f64), EvidenceSource::Counters)
        .with(Quantity::RankLasted, is_short.then_some(lasted), EvidenceSource::Intervals)
        .with(Quantity::MedianRankLasted, is_short.then_some(others_lasted), EvidenceSource::Intervals)
}

/// Checks for shares that differ among many ranks. Of a thousand equal ranks whose rates vary by 8 %, the fastest gets
/// more than 1.5 times the slowest by chance, but their coefficient of variation is 8 %; so both have to be large.
pub(super) fn unequal(run: &Run, fleet: &FleetRecord) -> Option<Finding> {
    const RATIO: f64 = 1.5;
    const VARIATION: f64 = 0.15;
    // Ranks that reach their rates get what they ask for.
    if shared::TotalRate::of(run, fleet).is_some_and(|rate| !rate.is_missed()) {
        return None;
    }
    let group = groups(fleet).max_by_key(Vec::len).filter(|group| group.len() > 1)?;
    let rates: Vec<f64> = group.iter().map(|member| member.iops).collect();
    let (mean, variance) = mean_and_variance(&rates);
    let slowest = group.iter().min_by(|a, b| a.iops.total_cmp(&b.iops))?;
    let fastest = group.iter().max_by(|a, b| a.iops.total_cmp(&b.iops))?;
    let variation = variance.sqrt() / mean;
    let unequal = mean > 0.0 && variation.is_finite() && variation >= VARIATION;
    if !unequal || fastest.iops < RATIO * slowest.iops {
        return None;
    }
    let finding = Finding::new(Code::RankSharesUnequal, Severity::Advice);
    let finding = match by_host(&group, variance) {
        Some(hosts) => {
            let [slow, fast] = hosts.ends;
            finding
                .about(&format!("{} against {}", slow.0, fast.0))
                .with(Quantity::SlowestRankIops, slow.1, EvidenceSource::Counters)
                .with(Quantity::FastestRankIops, fast.1, EvidenceSource::Counters)
                .with(Quantity::WithinHostVariation, hosts.within.sqrt() / mean, EvidenceSource::Counters)
        }
        None => finding
            .about(&format!("{} against {}", slowest.label(), fastest.label()))
            .with(Quantity::SlowestRankIops, slowest.iops, EvidenceSource::Counters)
            .with(Quantity::FastestRankIops, fastest.iops, EvidenceSource::Counters),
    };
    let finding = finding
        .with(Quantity::RankVariation, variation, EvidenceSource::Counters)
        .with(Quantity::Ranks, group.len() as f64, EvidenceSource::Counters)
        .remedy(Remedy::CompareHosts);
    Some(finding)
}

/// Hosts whose ranks are alike.
struct AlikeHosts<'a> {
    /// The slowest and the fastest host with the mean rate of their ranks.
    ends: [(&'a str, f64); 2],
    /// Mean variance within a host.
    within: f64,
}

/// Returns the slowest and the fastest host, if ranks of one host are alike: differences between hosts make up at least
/// four fifths of the variance.
fn by_host<'a>(group: &Group<'a>, variance: f64) -> Option<AlikeHosts<'a>> {
    const WITHIN: f64 = 0.2;
    let mut hosts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    group.iter().for_each(|member| hosts.entry(&member.hostname).or_default().push(member.iops));
    if hosts.len() < 2 || hosts.len() == group.len() || hosts.contains_key("") {
        return None;
    }
    let squares = |rates: &Vec<f64>| mean_and_variance(rates).1 * (rates.len() - 1) as f64;
    let free = (group.len() - 1) as f64;
    let within = hosts.values().map(squares).sum::<f64>() / free;
    let mean = |(name, rates): (&&'a str, &Vec<f64>)| (*name, mean_and_variance(rates).0);
    let slowest = hosts.iter().map(mean).min_by(|a, b| a.1.total_cmp(&b.1))?;
    let fastest = hosts.iter().map(mean).max_by(|a, b| a.1.total_cmp(&b.1))?;
    (within <= WITHIN * variance).then_some(AlikeHosts { ends: [slowest, fastest], within })
}

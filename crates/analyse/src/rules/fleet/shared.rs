//! Rules for a limit that all ranks share.
//!
//! That all ranks get less than they ask for proves nothing: each may be at a limit of its own. What proves a shared
//! limit is that one rank gets what another one leaves: the sum stays when ranks end, or it is steadier than ranks whose
//! rates vary independently of each other can make it.

use std::collections::{BTreeMap, BTreeSet};

use record::{AlignedSeries, FleetRecord, Run};

use super::mean_and_variance;
use crate::{Code, EvidenceSource, Finding, Quantity, Remedy, Severity};

/// Fraction of a rate from which it counts as reached.
const REACHED: f64 = 0.99;

/// Rates of all ranks and jobs together.
pub(super) struct TotalRate {
    asked: f64,
    reached: f64,
    in_bytes: bool,
    /// Ranks that got less than their part.
    short: usize,
    ranks: usize,
}

impl TotalRate {
    /// Returns the rates; `None` unless all jobs have one of the same unit.
    pub(super) fn of(run: &Run, fleet: &FleetRecord) -> Option<Self> {
        let of_all = |in_bytes: bool| -> Option<f64> {
            let asked = run.jobs.iter().map(|job| {
                let declared = &job.declared;
                let rate = if in_bytes { declared.rate_bytes.sum() } else { declared.rate_iops.sum() };
                rate.map(|rate| rate as f64)
            });
            asked.sum::<Option<f64>>().filter(|asked| *asked > 0.0)
        };
        let (asked, in_bytes) = of_all(false).map(|asked| (asked, false)).or_else(|| Some((of_all(true)?, true)))?;
        let rates = fleet.members.iter().map(|member| if in_bytes { member.bytes_per_second } else { member.iops });
        let rates: Vec<f64> = rates.filter(|rate| rate.is_finite()).collect();
        let each = asked / fleet.members.len().max(1) as f64;
        let (reached, short) = (rates.iter().sum(), rates.iter().filter(|rate| **rate < REACHED * each).count());
        let same = fleet.members.iter().all(|member| member.workers == fleet.members[0].workers);
        same.then_some(Self { asked, reached, in_bytes, short, ranks: rates.len() })
    }

    pub(super) fn is_missed(&self) -> bool {
        self.reached < REACHED * self.asked
    }

    /// Returns the number of ranks that would give as much at the rate of each, if nearly all got clearly less.
    fn enough(&self) -> Option<f64> {
        /// Fraction of the rate of all that counts as clearly less.
        const CLEARLY: f64 = 0.95;
        /// Fraction of the ranks that get less, if not some of them are slow.
        const NEARLY_ALL: f64 = 0.9;
        let less = self.reached > 0.0 && self.reached < CLEARLY * self.asked;
        let all = self.short as f64 >= NEARLY_ALL * self.ranks as f64;
        let enough = (self.reached / self.asked * self.ranks as f64).round().max(1.0);
        (less && all && enough < self.ranks as f64).then_some(enough)
    }

    fn evidence(&self, finding: Finding, enough: f64) -> Finding {
        let (asked, reached) = if self.in_bytes {
            (Quantity::ByteRateAsked, Quantity::ByteRateReached)
        } else {
            (Quantity::RateAsked, Quantity::RateReached)
        };
        finding
            .with(asked, self.asked, EvidenceSource::Job)
            .with(reached, self.reached, EvidenceSource::Counters)
            .with(Quantity::Ranks, self.ranks as f64, EvidenceSource::Counters)
            .with(Quantity::RanksEnough, enough, EvidenceSource::Counters)
    }
}

/// Checks for a limit that the ranks share.
pub(super) fn limit(run: &Run, fleet: &FleetRecord) -> Option<Finding> {
    let series = fleet.aligned()?;
    let finding = |severity, over_hosts: bool| {
        let hosts = fleet.hosts() as f64;
        let sharing = if over_hosts { hosts } else { 1.0 };
        Finding::new(Code::SharedLimit, severity).with(Quantity::Hosts, hosts, EvidenceSource::Host).with(
            Quantity::HostsSharing,
            sharing,
            EvidenceSource::Intervals,
        )
    };
    if let Some(after) = after_end(fleet, &series) {
        let finding = finding(Severity::Info, after.over_hosts)
            .with(Quantity::Ranks, after.ranks as f64, EvidenceSource::Intervals)
            .with(Quantity::RanksEnough, after.remaining as f64, EvidenceSource::Intervals)
            .with(Quantity::AllIops, after.all, EvidenceSource::Intervals)
            .with(Quantity::RemainingIopsBefore, after.before, EvidenceSource::Intervals)
            .with(Quantity::RemainingIops, after.after, EvidenceSource::Intervals)
            .remedy(Remedy::FewerRanks { ranks: after.remaining as u64 });
        return Some(finding);
    }
    let rate = TotalRate::of(run, fleet)?;
    let enough = rate.enough()?;
    let Compensation { ratio, over_hosts } = compensation(fleet, &series)?;
    let finding = rate
        .evidence(finding(Severity::Warning, over_hosts), enough)
        .with(Quantity::VarianceRatio, ratio, EvidenceSource::Intervals)
        .remedy(Remedy::FewerRanks { ranks: enough as u64 });
    Some(finding)
}

/// Checks for a rate that nearly all ranks missed. Whether they share a limit is then open.
pub(super) fn missed_rate(run: &Run, fleet: &FleetRecord) -> Option<Finding> {
    let rate = TotalRate::of(run, fleet)?;
    let enough = rate.enough()?;
    let half = (rate.ranks as u64 / 2).max(1);
    let finding = Finding::new(Code::RanksMissedRate, Severity::Advice);
    Some(rate.evidence(finding, enough).remedy(Remedy::CompareRanks { ranks: half }))
}

/// Operations per second before and after ranks ended.
struct RemainingRanks {
    ranks: usize,
    remaining: usize,
    /// Of all ranks, before.
    all: f64,
    /// Of the remaining ranks, before.
    before: f64,
    /// Of the remaining ranks, after.
    after: f64,
    /// Whether ranks took what those of other hosts left. Otherwise each host may have a limit of its own.
    over_hosts: bool,
}

/// Minimum number of columns on each side.
const COLUMNS_MIN: usize = 3;

/// Checks whether the sum stays when ranks end.
fn after_end(fleet: &FleetRecord, series: &AlignedSeries) -> Option<RemainingRanks> {
    /// Columns on each side that are compared at most, so that a slow drift is no change.
    const COMPARED: usize = 20;
    /// Fraction of the sum of all that remains.
    const STAYS: f64 = 0.9;
    /// Maximum part of the sum that the remaining ranks had before.
    const PART: f64 = 0.8;
    /// Part of what the others left that the remaining ranks took.
    const TAKEN: f64 = 0.7;
    const DEVIATIONS: f64 = 4.0;
    let ranks: Vec<usize> =
        (0..series.rates.len()).filter(|&rank| series.rates[rank].iter().any(Option::is_some)).collect();
    let active: Vec<Vec<usize>> = (0..series.columns).map(|column| series.active(column).collect()).collect();
    let before: Vec<usize> = (0..series.columns).filter(|&column| active[column] == ranks).collect();
    let last_before = *before.last()?;
    let (first, length) = longest_rest(&active, last_before + 1)?;
    let remaining = &active[first];
    // The first column of each side may be one in which ranks begin or end.
    let before = &before[(before.len() - 1).min(1)..];
    let before = &before[before.len().saturating_sub(COMPARED)..];
    let after: Vec<usize> = (first..first + length.min(COMPARED)).skip(usize::from(length > COLUMNS_MIN)).collect();
    if before.len() < COLUMNS_MIN || after.len() < COLUMNS_MIN || remaining.len() * 4 > ranks.len() * 3 {
        return None;
    }
    let sums =
        |of: &[usize], columns: &[usize]| columns.iter().map(|&column| series.sum(of, column)).collect::<Vec<_>>();
    let (own_before, own_after) = (sums(remaining, before), sums(remaining, &after));
    let ((own, own_variance), (later, later_variance)) =
        (mean_and_variance(&own_before), mean_and_variance(&own_after));
    let (all, _) = mean_and_variance(&sums(&ranks, before));
    let error = (own_variance / own_before.len() as f64 + later_variance / own_after.len() as f64).sqrt();
    let known = all.is_finite() && later.is_finite() && error.is_finite() && all > 0.0;
    let stays = later >= STAYS * all && own <= PART * all;
    let taken = later - own >= (TAKEN * (all - own)).max(DEVIATIONS * error);
    let host = |rank: &usize| fleet.members[*rank].hostname.as_str();
    let ended: BTreeSet<&str> = ranks.iter().filter(|rank| !remaining.contains(rank)).map(host).collect();
    let elsewhere: Vec<usize> = remaining.iter().copied().filter(|rank| !ended.contains(host(rank))).collect();
    let mean = |columns: &[usize]| mean_and_variance(&sums(&elsewhere, columns)).0;
    // Half of the mean gain is no gain of their own hosts.
    let over_hosts = !elsewhere.is_empty() && 2.0 * (mean(&after) / mean(before) - 1.0) >= later / own - 1.0;
    (known && stays && taken && !drifts(&own_before)).then_some(RemainingRanks {
        over_hosts,
        ranks: ranks.len(),
        remaining: remaining.len(),
        all,
        before: own,
        after: later,
    })
}

/// Returns the start and the length of the longest interval from `from` on in which the same ranks are active, and at
/// least one.
fn longest_rest(active: &[Vec<usize>], from: usize) -> Option<(usize, usize)> {
    let mut longest: Option<(usize, usize)> = None;
    let mut at = from;
    for part in active.get(from..)?.chunk_by(|a, b| a == b) {
        if !part[0].is_empty() && longest.is_none_or(|(_, length)| part.len() > length) {
            longest = Some((at, part.len()));
        }
        at += part.len();
    }
    longest
}

/// Reports whether rates rose by more than a tenth before any rank ended, which then explains a rise after it.
fn drifts(rates: &[f64]) -> bool {
    const TENTH: f64 = 1.1;
    let (early, late) = rates.split_at(rates.len() / 2);
    mean_and_variance(late).0 > TENTH * mean_and_variance(early).0
}

/// A sum that is steadier than its parts.
struct Compensation {
    /// Variance of the sum over the sum of the variances of all ranks.
    ratio: f64,
    /// Whether hosts took what other hosts left. Otherwise each host may have a limit of its own.
    over_hosts: bool,
}

/// Checks whether the variance of the sum is so small that ranks must have taken what others left. For independent ranks
/// it is that of all ranks added up; that it is below a quarter of this over twenty intervals has a probability of less
/// than a thousandth.
fn compensation(fleet: &FleetRecord, series: &AlignedSeries) -> Option<Compensation> {
    const INTERVALS_MIN: usize = 20;
    const RATIO: f64 = 0.25;
    /// Median coefficient of variation of a rank, below which rounding may look like compensation.
    const VARIES: f64 = 0.05;
    /// Part of the variance of the ranks that those of hosts have at least, if they vary too.
    const OF_HOSTS: f64 = 0.1;
    let ranks: Vec<usize> = (0..series.rates.len()).collect();
    let all_active = |column: &usize| series.active(*column).count() == ranks.len();
    let columns: Vec<usize> = (0..series.columns).filter(all_active).collect();
    // The last column is incomplete, the first one may be.
    let columns = columns.get(1..columns.len().saturating_sub(1)).filter(|inner| inner.len() >= INTERVALS_MIN)?;
    let of = |ranks: &[usize]| {
        mean_and_variance(&columns.iter().map(|&column| series.sum(ranks, column)).collect::<Vec<_>>())
    };
    let each: Vec<(f64, f64)> = ranks.iter().map(|rank| of(&[*rank])).collect();
    let variations = each.iter().filter(|(mean, _)| *mean > 0.0).map(|(mean, variance)| variance.sqrt() / mean);
    let varies = super::median(variations).is_some_and(|variation| variation >= VARIES);
    let (together, apart) = (of(&ranks).1, each.iter().map(|(_, variance)| variance).sum::<f64>());
    let ratio = together / apart;
    let mut hosts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    ranks.iter().for_each(|&rank| hosts.entry(&fleet.members[rank].hostname).or_default().push(rank));
    let of_hosts: f64 = hosts.values().map(|ranks| of(ranks).1).sum();
    let over_hosts = hosts.len() > 1 && together <= RATIO * of_hosts && of_hosts >= OF_HOSTS * apart;
    let found = ranks.len() > 1 && varies && ratio.is_finite() && ratio <= RATIO;
    found.then_some(Compensation { ratio, over_hosts })
}

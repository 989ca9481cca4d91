//! When classes issue requests: phases with rates, and batches.

use super::phases::{Phase, PhaseSeries};

/// Greatest rate of phases that are joined to a base, relative to the rate that a quarter of the time has at most.
const LOW_MAX: f64 = 1.5;
/// Greatest fraction of the time that may be far below the base.
const BELOW_MAX: f64 = 0.02;
/// Greatest number of requests of a batch.
pub(super) const BATCH_MAX: f64 = 256.0;

/// When a class issues requests.
pub(super) struct Schedule {
    pub(super) parts: Vec<SchedulePart>,
    /// Number of phases that are averaged with others.
    pub(super) averaged: u64,
}

/// An interval with requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchedulePart {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    /// Requests per second of the trace.
    pub(super) rate: f64,
    /// Whether the gaps are equal, whatever those of the class are.
    pub(super) is_even: bool,
    /// Number of requests after which it ends; `None` for those of its rate.
    pub(super) requests: Option<u64>,
    /// Mean size in bytes; `None` for that of the class.
    pub(super) size: Option<f64>,
    /// Batches instead of a rate: requests, and the time from one to the next in nanoseconds.
    pub(super) batches: Option<(u32, u64)>,
}

impl SchedulePart {
    fn new(begin_ns: u64, end_ns: u64, rate: f64) -> Self {
        Self { begin_ns, end_ns, rate, is_even: false, requests: None, size: None, batches: None }
    }

    pub(super) fn duration_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.begin_ns)
    }

    pub(super) fn requests(&self) -> f64 {
        self.requests.map_or(self.rate * (self.duration_ns() as f64 / 1e9), |requests| requests as f64)
    }
}

impl Schedule {
    /// Returns the schedule of requests in at most `parts_max` parts.
    pub(super) fn new(series: &PhaseSeries, runtime_ns: u64, parts_max: usize) -> Self {
        let mut phases_max = 4 * parts_max + 1;
        let mut is_first = true;
        loop {
            let (phases, averaged) = series.phases(runtime_ns, phases_max);
            let mut parts = parts(&phases, runtime_ns);
            let has_base = parts.len() > 1 && parts[0].end_ns == runtime_ns && parts[1].begin_ns < runtime_ns;
            if parts.len() > parts_max && has_base {
                join_adjacent(&mut parts);
            }
            if parts.len() <= parts_max && averaged == 0 {
                return Self { parts, averaged };
            }
            // Bursts at equal intervals need no part each.
            if std::mem::take(&mut is_first)
                && let Some(parts) = periodic(&series.phases(runtime_ns, usize::MAX).0, runtime_ns)
                && parts.len() <= parts_max
            {
                return Self { parts, averaged: 0 };
            }
            if parts.len() <= parts_max || phases_max <= 1 {
                return Self { parts, averaged };
            }
            phases_max = phases_max.min(phases.len()) * 15 / 16;
        }
    }
}

/// Joins parts of which one begins where the other ends, except a base that spans them.
fn join_adjacent(parts: &mut Vec<SchedulePart>) {
    parts.dedup_by(|part, before| {
        let is_adjacent = part.begin_ns == before.end_ns;
        if is_adjacent {
            let requests = before.requests() + part.requests();
            before.end_ns = part.end_ns;
            before.rate = requests / (before.end_ns.saturating_sub(before.begin_ns).max(1) as f64 / 1e9);
        }
        is_adjacent
    });
}

/// Returns a part for each phase, or a base with parts for what is above it where these are fewer.
fn parts(phases: &[Phase], runtime_ns: u64) -> Vec<SchedulePart> {
    let each = |phases: &[&Phase], base: f64| -> Vec<SchedulePart> {
        let part = |phase: &&Phase| SchedulePart::new(phase.begin_ns, phase.end_ns, phase.rate_per_s() - base);
        phases.iter().map(part).collect()
    };
    let used: Vec<&Phase> = phases.iter().filter(|phase| phase.requests > 0).collect();
    if used.len() <= 3 {
        return each(&used, 0.0);
    }
    let quantile = low_rate(phases);
    let (low, high): (Vec<&Phase>, Vec<&Phase>) =
        phases.iter().partition(|phase| phase.rate_per_s() <= LOW_MAX * quantile);
    let time = |phases: &[&Phase]| phases.iter().map(|phase| phase.end_ns - phase.begin_ns).sum::<u64>() as f64;
    // Phases that are far below the base would get too many requests.
    let below: Vec<&Phase> = low.iter().copied().filter(|phase| phase.rate_per_s() < quantile / LOW_MAX).collect();
    let requests = low.iter().map(|phase| phase.requests).sum::<u64>() as f64;
    if requests == 0.0 || high.len() + 1 >= used.len() || time(&below) > BELOW_MAX * runtime_ns as f64 {
        return each(&used, 0.0);
    }
    let base = requests / (time(&low).max(1.0) / 1e9);
    std::iter::once(SchedulePart::new(0, runtime_ns, base)).chain(each(&high, base)).collect()
}

/// Returns the rate that a quarter of the time has at most.
fn low_rate(phases: &[Phase]) -> f64 {
    let mut rates: Vec<(f64, u64)> =
        phases.iter().map(|phase| (phase.rate_per_s(), phase.end_ns - phase.begin_ns)).collect();
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut left = rates.iter().map(|rate| rate.1).sum::<u64>() / 4;
    let at = rates.iter().find(|rate| {
        let is_there = rate.1 > left;
        left = left.saturating_sub(rate.1);
        is_there
    });
    at.map_or(0.0, |rate| rate.0)
}

/// Returns a base and batches if phases are bursts of one kind at equal intervals.
///
/// Each burst is made of several batches, each of which a section of its own repeats.
fn periodic(phases: &[Phase], runtime_ns: u64) -> Option<Vec<SchedulePart>> {
    /// Least number of bursts, and greatest coefficient of variation of their intervals.
    const BURSTS_MIN: usize = 8;
    const VARIATION_MAX: f64 = 0.1;
    /// Batches of a burst, and the time from one to the next in nanoseconds.
    const BATCHES_MAX: u64 = 8;
    const BATCH_NS: u64 = 5_000_000;
    let requests: u64 = phases.iter().map(|phase| phase.requests).sum();
    let mean = requests as f64 / (runtime_ns as f64 / 1e9);
    let (high, low): (Vec<&Phase>, Vec<&Phase>) = phases.iter().partition(|phase| phase.rate_per_s() > 1.5 * mean);
    if high.len() < BURSTS_MIN {
        return None;
    }
    let low_time: u64 = low.iter().map(|phase| phase.end_ns - phase.begin_ns).sum();
    let base = low.iter().map(|phase| phase.requests).sum::<u64>() as f64 / (low_time.max(1) as f64 / 1e9);
    let middle = |phase: &&Phase| u64::midpoint(phase.begin_ns, phase.end_ns) as f64;
    let intervals: Vec<f64> = high.windows(2).map(|pair| middle(&pair[1]) - middle(&pair[0])).collect();
    let interval = intervals.iter().sum::<f64>() / intervals.len() as f64;
    let variance = intervals.iter().map(|other| (other - interval).powi(2)).sum::<f64>() / intervals.len() as f64;
    if variance.sqrt() > VARIATION_MAX * interval {
        return None;
    }
    let time: u64 = high.iter().map(|phase| phase.end_ns - phase.begin_ns).sum();
    let duration = time as f64 / high.len() as f64;
    let in_bursts = high.iter().map(|phase| phase.requests).sum::<u64>() as f64 - base * time as f64 / 1e9;
    let of_burst = in_bursts / high.len() as f64;
    let batches = ((duration as u64).div_ceil(BATCH_NS)).clamp(1, BATCHES_MAX).min(of_burst as u64);
    let of_batch = (of_burst / batches.max(1) as f64).round() as u32;
    if batches == 0 || of_batch == 0 || f64::from(of_batch) > BATCH_MAX {
        return None;
    }
    let first = high[0].begin_ns as f64;
    let batch = |number: u64| SchedulePart {
        begin_ns: (first + duration * (number as f64 + 0.5) / batches as f64) as u64,
        end_ns: runtime_ns,
        rate: f64::from(of_batch) * 1e9 / interval,
        is_even: true,
        requests: None,
        size: None,
        batches: Some((of_batch, interval as u64)),
    };
    let base_part = (base > 0.0).then(|| SchedulePart::new(0, runtime_ns, base));
    Some(base_part.into_iter().chain((0..batches).map(batch)).collect())
}

//! Search for the knee: a state machine without target and clock that chooses the depth and duration of the next probe.
//!
//! A few short probes come first, each four times as deep as the previous one, until more depth gives no more. Longer
//! probes follow at the estimated knee, half of it and twice of it, each where the least time has been spent, until the
//! interval of the knee is narrow enough or the time is used up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fit::{Curve, Fit, Point, contradict, fit};
use super::steady::SteadyStep;

/// Settings of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KneeSettings {
    /// Number of workers, of which all depths are multiples.
    pub step: u32,
    /// Maximum depth.
    pub most: u32,
    /// Target precision of the knee (relative half-width of its interval).
    pub precision: f64,
    /// Total duration of all probes, in seconds.
    pub budget_s: f64,
    /// Minimum duration of a probe, in seconds.
    pub short_s: f64,
    /// Maximum duration of a probe that only locates the bend, in seconds.
    pub rung_s: f64,
    /// Maximum duration of a probe, in seconds.
    pub long_s: f64,
    /// Number of operations that a probe aims for.
    pub operations: f64,
    /// Maximum number of operations of a probe if IOPS grow with the depth: simulations take time for each of them.
    pub operations_max: f64,
    /// Warm-up before each measurement, in seconds.
    pub warm_up_s: f64,
    /// Seed of the bootstrap for the intervals.
    pub seed: u64,
}

/// A requested measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KneeProbe {
    /// Operations in flight over all workers.
    pub depth: u32,
    /// Warm-up in seconds, which is not measured.
    pub warm_up_s: f64,
    /// Measured duration in seconds.
    pub seconds: f64,
}

impl KneeProbe {
    fn total_s(&self) -> f64 {
        self.warm_up_s + self.seconds
    }
}

/// The result of a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeReading {
    /// Operations per second, after warm-up and step.
    pub iops: f64,
    /// Mean latency of the same operations, in nanoseconds.
    pub latency_ns: f64,
    /// Relative standard error of `iops`.
    pub error: f64,
    /// A sudden change of throughput; only the part after it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<SteadyStep>,
    /// Relative change over the part that counts, if it is statistically significant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
}

/// A completed measurement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeResult {
    /// Requested measurement.
    #[serde(flatten)]
    pub probe: KneeProbe,
    /// Result of the measurement.
    #[serde(flatten)]
    pub reading: ProbeReading,
    /// Whether it was made at a level that has ended since, for example on burst credits. It is not part of the curve.
    pub burst: bool,
    /// Whether another load interfered: it was slower than earlier and later measurements.
    pub disturbed: bool,
    /// Whether it saw too few operations, or ended before a full queue could complete. It only tells how long the next
    /// probe has to be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub short: bool,
}

impl ProbeResult {
    /// Reports whether it is part of the curve.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.burst && !self.disturbed && !self.short
    }

    /// Classifies a measurement by itself. Steps and drifts within a short one are chance.
    fn of(probe: KneeProbe, reading: ProbeReading) -> Self {
        let operations = reading.iops * probe.seconds;
        // Time of a full queue, by Little's law.
        let round_s = f64::from(probe.depth) / reading.iops.max(1e-9);
        let short = operations < OPERATIONS_LEAST || probe.total_s() < round_s;
        let reading = match short {
            true => ProbeReading {
                error: reading.error.max(operations.max(1.0).sqrt().recip()),
                step: None,
                drift: None,
                ..reading
            },
            false => reading,
        };
        Self { probe, reading, burst: false, disturbed: false, short }
    }

    /// Reports whether it gave more per operation in flight than a shallower one, which no device does.
    fn outdoes(&self, other: &Self) -> bool {
        let each = |result: &Self| result.reading.iops / f64::from(result.probe.depth);
        let margin = 1.0 + significant_ratio(&self.reading, &other.reading);
        self.probe.depth >= other.probe.depth && other.reading.iops > 0.0 && each(self) > each(other) * margin
    }

    /// Reports whether it gave more operations per second than another, beyond chance.
    fn exceeds(&self, other: &Self) -> bool {
        self.reading.iops > other.reading.iops * (1.0 + significant_ratio(&self.reading, &other.reading))
    }

    /// Returns the level after a step down.
    fn fell_to(&self) -> Option<f64> {
        self.reading.step.filter(|step| step.ratio() < 1.0).map(|step| step.after)
    }
}

/// Reason for the end of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The interval is as narrow as requested.
    Precise,
    /// The curve has no knee, and more probes would not find one.
    NoKnee,
    /// The curve still rises at the maximum depth.
    Deepest,
    /// The time is used up.
    Budget,
    /// More probes would not narrow the interval.
    Enough,
}

#[derive(Clone, Debug)]
pub struct KneeSearch {
    settings: KneeSettings,
    results: Vec<ProbeResult>,
    outstanding: Vec<KneeProbe>,
    /// Next depth of the initial climb; `None` once it is over.
    rung: Option<u32>,
    end: Option<End>,
}

/// Factor between successive depths of the initial climb.
const RUNG: u32 = 4;
/// Relative gain below which a step of the climb counts as flat.
const FLAT: f64 = 0.15;
/// Depths to probe relative to the knee, most informative first.
const KNEE_FACTORS: [f64; 7] = [1.0, 0.5, 2.0, 0.7, 1.4, 0.25, 3.0];
/// Logarithmic distance below which depths count as one.
const NEAR: f64 = 0.13;
/// Maximum number of probes.
const PROBES_MAX: usize = 48;
/// Drift above which a depth is measured again, for longer.
const DRIFT: f64 = 0.1;
/// Minimum number of operations: the mean of fewer is off by a fifth by chance alone.
const OPERATIONS_LEAST: f64 = 30.0;
/// After a step down, measurements that exceed the new level by more than this fraction were made on burst credits.
const ABOVE: f64 = 0.05;

impl KneeSearch {
    /// Creates a search.
    #[must_use]
    pub fn new(settings: KneeSettings) -> Self {
        let step = settings.step.max(1);
        let settings = KneeSettings { step, most: (settings.most / step * step).max(step), ..settings };
        Self { settings, results: Vec::new(), outstanding: Vec::new(), rung: Some(step), end: None }
    }

    /// Returns the next probe. Several may be outstanding at once. `None` means that the search is over, or that it
    /// first needs the results of outstanding probes.
    pub fn next_probe(&mut self) -> Option<KneeProbe> {
        if self.end.is_some() {
            return None;
        }
        let probe = match self.rung {
            Some(depth) => {
                let most = self.settings.most;
                self.rung = (depth < most).then(|| depth.saturating_mul(RUNG).min(most));
                let probe = self.probe(depth);
                Some(KneeProbe { seconds: probe.seconds.min(self.settings.rung_s), ..probe })
            }
            None if self.outstanding.is_empty() || !self.results.is_empty() => self.refine(),
            None => None,
        }?;
        let spent = self.spent_s() + self.outstanding.iter().map(KneeProbe::total_s).sum::<f64>();
        let left = self.settings.budget_s - spent;
        // A probe cut to less than half is useless, except for the first three.
        if self.results.len() + self.outstanding.len() >= 3 && left < 0.5 * probe.total_s() {
            self.end = self.end.or(self.outstanding.is_empty().then_some(End::Budget));
            return None;
        }
        let over = (probe.total_s() - left).clamp(0.0, probe.seconds / 2.0);
        let probe = KneeProbe { seconds: probe.seconds - over, ..probe };
        self.outstanding.push(probe);
        Some(probe)
    }

    /// Records the result of a probe.
    pub fn observe(&mut self, probe: &KneeProbe, reading: ProbeReading) {
        if let Some(at) = self.outstanding.iter().position(|known| known == probe) {
            self.outstanding.remove(at);
        }
        self.results.push(ProbeResult::of(*probe, reading));
        self.classify();
        // Short probes suffice to end the climb.
        if is_flat_at(probe.depth, self.lasting()) {
            self.rung = None;
        }
    }

    /// Returns all measurements in chronological order.
    #[must_use]
    pub fn taken(&self) -> &[ProbeResult] {
        &self.results
    }

    /// Returns the seconds spent on all measurements.
    #[must_use]
    pub fn spent_s(&self) -> f64 {
        self.results.iter().map(|result| result.probe.total_s()).sum()
    }

    /// Returns why the search ended; `None` while it continues.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Returns one point for each depth, averaged over its measurements, without those on burst credits.
    #[must_use]
    pub fn points(&self) -> Vec<Point> {
        let mut depths: Vec<u32> = self.valid().map(|result| result.probe.depth).collect();
        depths.sort_unstable();
        depths.dedup();
        let average = |depth: u32| {
            let of_depth = || self.valid().filter(move |result| result.probe.depth == depth);
            let weight = |result: &ProbeResult| result.probe.seconds;
            let whole: f64 = of_depth().map(weight).sum();
            let mean = |of: &dyn Fn(&ProbeResult) -> f64| {
                of_depth().map(|result| weight(result) * of(result)).sum::<f64>() / whole
            };
            let squares: f64 = of_depth().map(|result| (weight(result) * result.reading.error / whole).powi(2)).sum();
            let iops = mean(&|result| result.reading.iops);
            // Differences between measurements of one depth count, whatever their own errors.
            let count = of_depth().count() as f64;
            let off = |result: &ProbeResult| (weight(result) / whole * (result.reading.iops / iops - 1.0)).powi(2);
            let apart = if count > 1.0 { of_depth().map(off).sum::<f64>() * count / (count - 1.0) } else { 0.0 };
            let error = squares.max(apart).sqrt();
            Point { depth, iops, latency_ns: mean(&|result| result.reading.latency_ns), error }
        };
        depths.into_iter().map(average).filter(|point| point.iops > 0.0).collect()
    }

    /// Fits a curve to all measurements. Points that contradict its knee leave no curve.
    #[must_use]
    pub fn conclusion(&self) -> Fit {
        let fit = self.fit();
        match &fit.curve {
            Curve::Knee(knee) if contradict(&self.points(), knee, fit.retrograde.as_ref()) => {
                Fit { curve: Curve::Unknown, retrograde: None, ..fit }
            }
            _ => fit,
        }
    }

    /// Fits a curve to the measurements so far.
    #[must_use]
    pub fn fit(&self) -> Fit {
        fit(&self.points(), self.settings.seed)
    }

    fn valid(&self) -> impl Iterator<Item = &ProbeResult> {
        self.results.iter().filter(|result| result.counts())
    }

    /// Iterates over measurements of the sustained level, including short ones.
    fn lasting(&self) -> impl Iterator<Item = &ProbeResult> {
        self.results.iter().filter(|result| !result.burst && !result.disturbed)
    }

    /// Returns a probe that is long enough by what is known of the depth.
    fn probe(&self, depth: u32) -> KneeProbe {
        let KneeSettings { short_s, long_s, operations, warm_up_s, .. } = self.settings;
        // A short probe still indicates how long the next one has to be.
        let known = self.lasting().filter(|result| result.reading.iops > 0.0);
        let nearest = known.min_by_key(|result| result.probe.depth.abs_diff(depth));
        let ratio = |result: &ProbeResult| f64::from(depth) / f64::from(result.probe.depth);
        let iops = nearest.map(|result| result.reading.iops * ratio(result).min(1.0));
        let seconds = iops.map_or(short_s, |iops| operations / iops);
        // Time of a full queue.
        let round_s = iops.map_or(0.0, |iops| f64::from(depth) / iops);
        let warm_up_s = warm_up_s.max(2.0 * round_s).min(warm_up_s.max(long_s / 2.0));
        let grown = nearest.map(|result| result.reading.iops * ratio(result).max(1.0));
        let most_s = grown.map_or(f64::INFINITY, |iops| self.settings.operations_max / iops);
        let seconds = seconds.max(10.0 * round_s).clamp(short_s, long_s);
        KneeProbe { depth, warm_up_s: warm_up_s.min(most_s), seconds: seconds.min(most_s) }
    }

    /// Returns a longer probe of a depth than before.
    fn longer_probe(&self, depth: u32) -> KneeProbe {
        let longest = self.lasting().filter(|result| result.probe.depth == depth).map(|result| result.probe.seconds);
        let longest = longest.fold(0.0, f64::max);
        let probe = self.probe(depth);
        KneeProbe { seconds: probe.seconds.max(1.5 * longest).min(self.settings.long_s), ..probe }
    }

    /// Returns the most informative probe; ends the search if none would help.
    fn refine(&mut self) -> Option<KneeProbe> {
        if self.results.len() + self.outstanding.len() >= PROBES_MAX {
            return self.finish(End::Enough);
        }
        if let Some(depth) = self.undersampled_depth().or_else(|| self.contradicted_depth()) {
            return Some(self.longer_probe(depth));
        }
        let found = self.fit();
        match found.curve {
            Curve::Knee(knee) => {
                let probed = |factor| self.seconds_near(self.nearest_depth(factor * knee.depth.value)) > 0.0;
                // More probes reduce the error by chance, but not the error by the form of the curve.
                if KNEE_FACTORS[..3].iter().all(probed) && knee.chance <= self.settings.precision {
                    return self.finish(End::Precise);
                }
                self.probe_around(&KNEE_FACTORS, knee.depth.value)
            }
            Curve::Flat { depth, xmax, .. } => {
                let twice = self.nearest_depth(2.0 * f64::from(depth));
                if self.seconds_near(twice) > 0.0 && xmax.half_width() <= self.settings.precision {
                    return self.finish(End::Precise);
                }
                self.probe_around(&[1.0, 2.0, 4.0], f64::from(depth))
            }
            Curve::Unsaturated { depth, r0_ns, .. } if depth >= self.settings.most => {
                if r0_ns.half_width() <= self.settings.precision {
                    return self.finish(End::Deepest);
                }
                self.probe_around(&[1.0, 0.25, 0.0625], f64::from(depth))
            }
            // The climb ended early because its last step was flat by chance.
            Curve::Unsaturated { depth, .. } => Some(self.probe(self.nearest_depth(2.0 * f64::from(depth)))),
            Curve::PowerLaw { flat_from, .. } => {
                // A power law up to the maximum depth has no knee; a greater depth within the range may have one.
                let deepest = self.deepest();
                match flat_from.is_some() || deepest >= self.settings.most || is_flat_at(deepest, self.valid()) {
                    true => self.finish(End::NoKnee),
                    false => Some(self.probe(self.nearest_depth(2.0 * f64::from(deepest)))),
                }
            }
            Curve::Unknown => {
                let deepest = self.deepest();
                let middle = self.nearest_depth(f64::from(deepest) / 2.0);
                match self.seconds_near(middle) > 0.0 {
                    true if deepest >= self.settings.most => self.finish(End::Enough),
                    true => Some(self.probe(self.nearest_depth(2.0 * f64::from(deepest)))),
                    false => Some(self.probe(middle)),
                }
            }
        }
    }

    /// Returns the greatest depth of the curve.
    fn deepest(&self) -> u32 {
        self.valid().map(|result| result.probe.depth).max().unwrap_or(self.settings.step)
    }

    fn finish(&mut self, end: End) -> Option<KneeProbe> {
        // Outstanding probes may still change the answer.
        if self.outstanding.is_empty() {
            self.end = Some(end);
        }
        None
    }

    /// Returns a depth that needs a longer measurement: its throughput was unknown when it was probed, or it drifted.
    fn undersampled_depth(&self) -> Option<u32> {
        let KneeSettings { operations, long_s, .. } = self.settings;
        let seen = |depth: u32| -> (f64, f64) {
            let of_depth = self.lasting().filter(|result| result.probe.depth == depth);
            of_depth.fold((0.0, 0.0), |(ios, seconds), result| {
                (ios + result.reading.iops * result.probe.seconds, seconds + result.probe.seconds)
            })
        };
        let evident = |depth: u32| self.valid().any(|result| result.probe.depth == depth);
        let mut depths = self.lasting().map(|result| result.probe.depth);
        depths.find(|&depth| {
            let (ios, seconds) = seen(depth);
            let short = (ios < operations / 10.0 || !evident(depth)) && seconds < 0.9 * long_s;
            (short || self.is_drifting(depth)) && !self.is_outstanding(depth)
        })
    }

    fn is_outstanding(&self, depth: u32) -> bool {
        self.outstanding.iter().any(|probe| probe.depth == depth)
    }

    /// Reports whether the only measurement of a depth drifted.
    fn is_drifting(&self, depth: u32) -> bool {
        let mut of_depth = self.valid().filter(|result| result.probe.depth == depth);
        let first = of_depth.next();
        let drifts = |result: &ProbeResult| result.reading.drift.is_some_and(|drift| drift.abs() > DRIFT);
        of_depth.next().is_none() && first.is_some_and(drifts)
    }

    /// Marks burst and disturbed measurements. A burst is contradicted by two later measurements. A disturbed
    /// measurement is slower than earlier and later ones, or than a later one of the same depth.
    fn classify(&mut self) {
        let results = self.results.clone();
        let disturbed = |at: usize| {
            let slower_than = |other: &ProbeResult| !other.short && !results[at].short && other.outdoes(&results[at]);
            let again = |other: &ProbeResult| other.probe.depth == results[at].probe.depth && slower_than(other);
            let (before, after) = (&results[..at], &results[at + 1..]);
            after.iter().any(again) || before.iter().any(slower_than) && after.iter().any(slower_than)
        };
        let disturbed: Vec<bool> = (0..results.len()).map(disturbed).collect();
        for at in 0..results.len() {
            let later = (at + 1..results.len()).filter(|&later| !disturbed[later] && !results[later].short);
            let contradictions = later.filter(|&later| contradicts(&results, later, at)).count();
            self.results[at].disturbed = disturbed[at];
            self.results[at].burst = !disturbed[at] && !results[at].short && contradictions >= 2;
        }
    }

    /// Returns a depth to measure again because measurements contradict each other: more depth gave less, a level has
    /// ended, or another load interfered.
    fn contradicted_depth(&self) -> Option<u32> {
        let results = &self.results;
        let open = |at: usize| {
            let depth = results[at].probe.depth;
            let again = results[at + 1..].iter().any(|other| other.probe.depth == depth);
            results[at].counts() && !again && !self.is_outstanding(depth)
        };
        let first = |contradicted: &dyn Fn(usize) -> bool| (0..results.len()).find(|&at| open(at) && contradicted(at));
        let first_by_later = |contradicts: &dyn Fn(&ProbeResult, &ProbeResult) -> bool| {
            first(&|at| results[at + 1..].iter().any(|later| contradicts(later, &results[at])))
        };
        first(&|at| (0..at).any(|before| results[before].counts() && contradicts(results, at, before)))
            .or_else(|| first_by_later(&|later, result| !later.short && later.outdoes(result)))
            .or_else(|| {
                first_by_later(&|later, result| {
                    later.counts() && later.probe.depth > result.probe.depth && result.exceeds(later)
                })
            })
            // Less depth gave more later, so this measurement may have been disturbed.
            .or_else(|| {
                first_by_later(&|later, result| {
                    later.counts() && later.probe.depth < result.probe.depth && later.exceeds(result)
                })
            })
            .map(|at| results[at].probe.depth)
    }

    /// Returns the allowed depth nearest to `wanted`.
    fn nearest_depth(&self, wanted: f64) -> u32 {
        let KneeSettings { step, most, .. } = self.settings;
        let steps = (wanted / f64::from(step)).round().clamp(1.0, f64::from(most / step));
        steps as u32 * step
    }

    /// Probes the depth with the least measured time among those at these factors of `centre`. Ends the search if all
    /// were measured for long.
    fn probe_around(&mut self, factors: &[f64], centre: f64) -> Option<KneeProbe> {
        let mut best: Option<(f64, u32)> = None;
        for factor in factors {
            let depth = self.nearest_depth(factor * centre);
            let spent = self.seconds_near(depth);
            if best.is_none_or(|(least, _)| spent < 0.99 * least) {
                best = Some((spent, depth));
            }
        }
        let (spent, depth) = best?;
        if spent > 3.0 * self.settings.long_s {
            return self.finish(End::Enough);
        }
        // Wait for the results of outstanding probes at these depths.
        if spent > 0.0 && !self.outstanding.is_empty() {
            return None;
        }
        Some(self.longer_probe(depth))
    }

    fn seconds_near(&self, depth: u32) -> f64 {
        let near = |other: u32| (f64::from(other) / f64::from(depth)).ln().abs() < NEAR;
        let measured = self.valid().filter(|result| near(result.probe.depth)).map(|result| result.probe.seconds);
        let outstanding = self.outstanding.iter().filter(|probe| near(probe.depth)).map(|probe| probe.seconds);
        measured.sum::<f64>() + outstanding.sum::<f64>()
    }
}

/// Reports whether `depth` gives hardly more than depths one step of the climb below it.
fn is_flat_at<'a>(depth: u32, results: impl Iterator<Item = &'a ProbeResult>) -> bool {
    let (mut before, mut here) = (None::<f64>, None::<f64>);
    for ProbeResult { probe, reading, .. } in results {
        if probe.depth <= depth / 3 {
            before = Some(before.map_or(reading.iops, |most| most.max(reading.iops)));
        } else if probe.depth == depth {
            here = Some(here.map_or(reading.iops, |most| most.max(reading.iops)));
        }
    }
    before.zip(here).is_some_and(|(before, here)| here < before * (1.0 + FLAT))
}

/// Reports whether a later measurement shows a lower level than an earlier one.
fn contradicts(results: &[ProbeResult], later: usize, earlier: usize) -> bool {
    let (low, high) = (&results[later], &results[earlier]);
    // A step reveals the new level for later measurements of similar depth.
    let clear = 1.0 + ABOVE.max(4.0 * scatter(results));
    let stepped = (earlier + 1..later).any(|at| {
        lasting_fall(results, at).is_some_and(|after| {
            high.reading.iops > after * clear
                && low.probe.depth >= results[at].probe.depth.max(high.probe.depth / 2)
                && low.reading.iops <= after * (1.0 + 2.0 * ABOVE)
        })
    });
    high.outdoes(low) || stepped
}

/// Returns the relative standard deviation between measurements of one depth; zero if none was repeated. It is
/// estimated by the median difference of successive measurements, which disturbed ones do not affect.
fn scatter(results: &[ProbeResult]) -> f64 {
    /// Median difference of two normal values of standard deviation 1.
    const MEDIAN: f64 = 0.954;
    let differs = |at: usize| {
        let (before, this) = (&results[..at], &results[at]);
        let last = before.iter().rfind(|other| other.probe.depth == this.probe.depth)?;
        Some((this.reading.iops / last.reading.iops.max(1e-9)).max(1e-9).ln().abs())
    };
    let mut all: Vec<f64> = (0..results.len()).filter_map(differs).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).map_or(0.0, |median| median / MEDIAN)
}

/// Returns the level after a step down if it is a limit, which no later measurement exceeds. A device whose throughput
/// varies recovers.
fn lasting_fall(results: &[ProbeResult], at: usize) -> Option<f64> {
    let after = results[at].fell_to()?;
    let above = |later: &ProbeResult| later.reading.iops > after * (1.0 + 3.0 * ABOVE);
    (!results[at + 1..].iter().any(above)).then_some(after)
}

/// Returns the relative difference from which two readings are significantly different.
fn significant_ratio(a: &ProbeReading, b: &ProbeReading) -> f64 {
    (4.0 * a.error.hypot(b.error)).clamp(0.15, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knee::fit::normal;
    use units::random::Random;

    /// Settings for a device with a budget of one minute.
    const DEVICE: KneeSettings = KneeSettings {
        step: 1,
        most: 4096,
        precision: 0.05,
        budget_s: 60.0,
        short_s: 1.0,
        rung_s: 2.0,
        long_s: 6.0,
        operations: 5_000.0,
        operations_max: f64::INFINITY,
        warm_up_s: 0.25,
        seed: 1,
    };

    #[test]
    fn probes_stay_within_the_operations_of_a_simulation() {
        let settings = KneeSettings { short_s: 0.05, warm_up_s: 0.03, operations_max: 4e6, ..DEVICE };
        let mut search = KneeSearch::new(settings);
        while let Some(probe) = search.next_probe() {
            let iops = 1e6 * f64::from(probe.depth);
            assert!(probe.total_s() * iops < 2.1 * 4e6, "{probe:?}");
            search.observe(&probe, ProbeReading { iops, latency_ns: 1e3, error: 1e-3, ..ProbeReading::default() });
        }
        assert_eq!(search.end(), Some(End::Deepest));
    }

    /// Searches on a device that gives `iops(depth, elapsed seconds)` with 2 % of noise per second.
    fn searched(settings: KneeSettings, seed: u64, iops: impl Fn(u32, f64) -> f64) -> KneeSearch {
        let mut random = Random::new(seed, 3);
        let mut search = KneeSearch::new(settings);
        while let Some(probe) = search.next_probe() {
            let now = search.spent_s();
            let error = 0.02 / probe.seconds.sqrt();
            let (before, after) = (iops(probe.depth, now), iops(probe.depth, now + probe.total_s()));
            let step = (after < 0.9 * before).then_some(SteadyStep { at: 3, before, after });
            let value = after * (error * normal(&mut random)).exp();
            let latency_ns = f64::from(probe.depth) / value * 1e9;
            search.observe(&probe, ProbeReading { iops: value, latency_ns, error, step, drift: None });
        }
        assert!(search.end().is_some() && search.spent_s() <= settings.budget_s * 1.01, "{search:?}");
        search
    }

    fn limiter(r0_s: f64, xmax: f64) -> impl Fn(u32, f64) -> f64 {
        move |depth, _| (f64::from(depth) / r0_s).min(xmax)
    }

    /// Depth, operations per second and `counts` of each measurement.
    fn summary(search: &KneeSearch) -> Vec<(u32, u64, bool)> {
        let each = |taken: &ProbeResult| (taken.probe.depth, taken.reading.iops as u64, taken.counts());
        search.taken().iter().map(each).collect()
    }

    #[track_caller]
    fn assert_knee(search: &KneeSearch, wanted: f64, share: f64) {
        let Curve::Knee(knee) = search.fit().curve else { panic!("no knee: {:?}", summary(search)) };
        assert!((knee.depth.value / wanted - 1.0).abs() < share, "{knee:?} for {wanted}: {:?}", summary(search));
    }

    #[test]
    fn limiters_of_any_depth_take_a_tenth_of_a_grid() {
        let seed = 31;
        for (r0_s, xmax) in
            [(1.3e-3, 160_000.0), (1e-3, 3_000.0), (0.5e-3, 16_000.0), (80e-6, 500_000.0), (2e-3, 900.0)]
        {
            for trial in 0..5 {
                let search = searched(DEVICE, seed + trial, limiter(r0_s, xmax));
                assert_knee(&search, r0_s * xmax, 0.05);
                assert!(search.spent_s() <= 60.0, "{}", search.spent_s());
            }
        }
    }

    /// A step down at depth 1 was mistaken for the end of credits, and all greater depths for burst.
    #[test]
    fn varying_device_keeps_its_knee() {
        for seed in 40..60 {
            let mut random = Random::new(seed, 7);
            // A virtual disk with a soft knee at 11 in flight whose throughput varies by up to an eighth each second.
            let soft = |depth: f64| ((depth / 60e-6).powf(-1.3) + 185_000_f64.powf(-1.3)).powf(-1.0 / 1.3);
            let mut search = KneeSearch::new(KneeSettings { most: 1024, ..DEVICE });
            while let Some(probe) = search.next_probe() {
                let mut level = || soft(f64::from(probe.depth)) * (1.0 + 0.25 * (random.unit() - 0.5));
                let (before, after) = (level(), level());
                let step = ((after / before - 1.0).abs() > 0.1).then_some(SteadyStep { at: 20, before, after });
                let latency_ns = f64::from(probe.depth) / after * 1e9;
                search.observe(&probe, ProbeReading { iops: after, latency_ns, error: 0.02, step, drift: None });
            }
            let deepest = search.points().last().map(|point| point.depth);
            assert!(deepest >= Some(64), "seed {seed}: {:?}", summary(&search));
            let Curve::Knee(knee) = search.fit().curve else {
                panic!("seed {seed}: {:?} of {:?}", search.fit(), summary(&search));
            };
            assert!((5.0..25.0).contains(&knee.depth.value), "seed {seed}: {knee:?}");
        }
    }

    /// Nine operations of a drive in 50 ms, fewer than were in flight, gave "IOPS changed by -86 %", and one probe at
    /// depth 1 was reported as disturbed.
    #[test]
    fn too_short_probe_is_not_evidence() {
        let settings =
            KneeSettings { short_s: 0.05, rung_s: 7200.0, long_s: 7200.0, budget_s: f64::INFINITY, ..DEVICE };
        let mut search = KneeSearch::new(KneeSettings { warm_up_s: 0.03, ..settings });
        // Few operations appear to show steps and drifts, and half of the throughput.
        let read = |probe: &KneeProbe| {
            let (whole, short) = (80.0 * f64::from(probe.depth.min(64)).powf(0.2), probe.seconds < 1.0);
            ProbeReading {
                iops: if short { 0.5 * whole } else { whole },
                latency_ns: f64::from(probe.depth) / whole * 1e9,
                error: if short { 0.1 } else { 0.002 },
                step: short.then_some(SteadyStep { at: 3, before: 2.0 * whole, after: 0.2 * whole }),
                drift: short.then_some(-0.86),
            }
        };
        // In parallel, as in virtual time: the first probes are requested without any knowledge of the device.
        loop {
            let probes: Vec<KneeProbe> = std::iter::from_fn(|| search.next_probe()).take(4).collect();
            if probes.is_empty() {
                break;
            }
            probes.iter().for_each(|probe| search.observe(probe, read(probe)));
        }
        let short = |taken: &&ProbeResult| taken.short;
        assert!(search.taken().iter().filter(short).count() >= 3, "{:?}", summary(&search));
        for taken in search.taken() {
            assert!(!taken.disturbed && !taken.burst, "{taken:?}");
            assert!(!taken.short || taken.reading.drift.is_none() && taken.reading.step.is_none(), "{taken:?}");
            assert_eq!(taken.short, taken.probe.seconds < 1.0, "{taken:?}");
        }
        assert!(search.points().iter().all(|point| point.error < 0.01), "{:?}", search.points());
        assert!(matches!(search.fit().curve, Curve::PowerLaw { .. }), "{:?}", search.fit());
    }

    #[test]
    fn most_time_is_spent_near_the_bend() {
        let search = searched(DEVICE, 32, limiter(1.3e-3, 160_000.0));
        let near = |taken: &&ProbeResult| (60..=700).contains(&taken.probe.depth);
        let bent: f64 = search.taken().iter().filter(near).map(|taken| taken.probe.total_s()).sum();
        assert!(bent > 0.4 * search.spent_s(), "{:?}", search.taken());
        assert!(search.taken().iter().all(|taken| taken.probe.depth <= 1024), "{:?}", search.taken());
    }

    #[test]
    fn flat_curve_takes_few_probes() {
        let search = searched(DEVICE, 33, |_, _| 500.0);
        assert!(matches!(search.fit().curve, Curve::Flat { depth: 1, .. }), "{:?}", search.fit());
        assert!(search.taken().len() <= 8 && search.taken().iter().all(|taken| taken.probe.depth <= 4));
    }

    #[test]
    fn mechanical_drive_has_no_knee() {
        let settings = KneeSettings { most: 1024, ..DEVICE };
        let search = searched(settings, 34, |depth, _| 80.0 * f64::from(depth).powf(0.234));
        assert!(matches!(search.fit().curve, Curve::PowerLaw { .. }), "{:?}", search.fit());
        assert_eq!(search.end(), Some(End::NoKnee));
    }

    #[test]
    fn search_stays_within_the_maximum_depth() {
        let search = searched(KneeSettings { most: 64, ..DEVICE }, 35, limiter(1.3e-3, 160_000.0));
        assert!(matches!(search.fit().curve, Curve::Unsaturated { depth: 64, .. }), "{:?}", search.fit());
        assert_eq!(search.end(), Some(End::Deepest));
    }

    #[test]
    fn level_after_credits_run_out_is_found() {
        let burst = |depth: u32, now: f64| (f64::from(depth) / 1e-3).min(if now < 9.0 { 15_000.0 } else { 10_000.0 });
        let search = searched(DEVICE, 36, burst);
        assert_knee(&search, 10.0, 0.05);
        assert!(search.taken().iter().any(|taken| taken.burst), "{:?}", search.taken());
    }

    #[test]
    fn temporary_disturbance_is_ignored() {
        for (from, to) in [(0.0, 4.0), (8.0, 14.0), (16.0, 21.0)] {
            let calm = limiter(1.3e-3, 160_000.0);
            let disturbed = |depth: u32, now: f64| calm(depth, now) * if (from..to).contains(&now) { 0.3 } else { 1.0 };
            for seed in 40..44 {
                let search = searched(DEVICE, seed, disturbed);
                assert_knee(&search, 208.0, 0.1);
            }
        }
    }

    #[test]
    fn drifting_depth_is_measured_for_longer() {
        let mut search = KneeSearch::new(DEVICE);
        let mut seconds = Vec::new();
        while let Some(probe) = search.next_probe() {
            let iops = limiter(1e-3, 10_000.0)(probe.depth, 0.0);
            let drift = (probe.depth == 16 && seconds.is_empty()).then_some(0.3);
            seconds.extend((probe.depth == 16).then_some(probe.seconds));
            search.observe(&probe, ProbeReading { iops, latency_ns: 1.0, error: 0.001, step: None, drift });
        }
        assert!(seconds.len() >= 2 && seconds[1] >= 1.5 * seconds[0], "{seconds:?}");
    }

    #[test]
    fn depths_are_multiples_of_the_workers() {
        let search = searched(KneeSettings { step: 6, ..DEVICE }, 37, limiter(1e-3, 50_000.0));
        assert!(search.taken().iter().all(|taken| taken.probe.depth % 6 == 0), "{:?}", search.taken());
        assert_knee(&search, 50.0, 0.06);
    }

    #[test]
    fn several_probes_may_be_outstanding() {
        let mut search = KneeSearch::new(KneeSettings { budget_s: 1e6, ..DEVICE });
        let device = limiter(1.3e-3, 160_000.0);
        for _ in 0..40 {
            let probes: Vec<KneeProbe> = std::iter::from_fn(|| search.next_probe()).take(4).collect();
            if probes.is_empty() {
                break;
            }
            for probe in probes {
                let iops = device(probe.depth, 0.0);
                search.observe(&probe, ProbeReading { iops, latency_ns: 1.0, error: 0.001, ..ProbeReading::default() });
            }
        }
        assert_eq!(search.end(), Some(End::Precise));
        assert_knee(&search, 208.0, 0.01);
    }

    #[test]
    fn arbitrary_readings_end_the_search() {
        let seed = 38;
        let mut random = Random::new(seed, 0);
        for _ in 0..60 {
            let settings =
                KneeSettings { most: 1 + random.below(5000) as u32, step: 1 + random.below(9) as u32, ..DEVICE };
            let mut search = KneeSearch::new(settings);
            for _ in 0..100 {
                let Some(probe) = search.next_probe() else { break };
                let iops = (random.unit() * 20.0).exp() * f64::from(random.below(6) > 0);
                search.observe(
                    &probe,
                    ProbeReading { iops, latency_ns: 1.0, error: random.unit(), ..ProbeReading::default() },
                );
            }
            assert!(search.end().is_some(), "seed {seed}: {settings:?} {:?}", search.taken());
        }
    }
}

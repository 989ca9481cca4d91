//! Decides which depth is probed next, and for how long: a state machine without target and clock.
//!
//! A few short probes first, each four times as deep as the one before, until more depth gives no more. Then longer ones
//! around the estimated knee, half and twice of it, wherever the least time has been spent so far, until the interval of
//! the knee is narrow enough or the time is used up.

use serde::{Deserialize, Serialize};

use super::fit::{Curve, Fit, Point, fit};
use super::steady::SteadyStep;

/// Settings of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KneeSettings {
    /// Depths are multiples of this: the number of workers.
    pub step: u32,
    /// The deepest.
    pub most: u32,
    /// Half the interval of the knee that is narrow enough, as a share.
    pub precision: f64,
    /// Seconds that all probes may take together.
    pub budget_s: f64,
    /// The least seconds of a probe.
    pub short_s: f64,
    /// The most seconds of a probe that only looks where the curve bends.
    pub rung_s: f64,
    /// The most seconds of a probe.
    pub long_s: f64,
    /// Operations that a probe is meant to see.
    pub operations: f64,
    /// The most operations of a probe, should IOPS have grown with the depth: a simulation takes its time for each.
    pub operations_max: f64,
    /// Seconds before each measurement that do not count.
    pub warm_up_s: f64,
    /// For the intervals.
    pub seed: u64,
}

/// One measurement that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KneeProbe {
    /// Operations in flight, all workers together.
    pub depth: u32,
    /// Seconds that do not count.
    pub warm_up_s: f64,
    /// Seconds that do.
    pub seconds: f64,
}

impl KneeProbe {
    fn whole_s(&self) -> f64 {
        self.warm_up_s + self.seconds
    }
}

/// The result of a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeReading {
    /// Operations a second, of the part that counts.
    pub iops: f64,
    /// Mean latency in nanoseconds, of the same part.
    pub latency_ns: f64,
    /// Standard error of `iops` as a share of it.
    pub error: f64,
    /// A change of level on the way: the part after it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<SteadyStep>,
    /// The change over the part that counts, as a share, where it is more than chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
}

/// One measurement that was made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeResult {
    /// What was asked for.
    #[serde(flatten)]
    pub probe: KneeProbe,
    /// What it brought.
    #[serde(flatten)]
    pub reading: ProbeReading,
    /// Whether it was made on a level that has gone since, as when credits run out: no part of the curve.
    pub burst: bool,
    /// Whether something else was busy: it was slower than what came before and what came after.
    pub disturbed: bool,
    /// Whether it saw too few operations, or ended before all that were in flight came round: it says how long the next
    /// one has to be, and nothing of the device.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub short: bool,
}

impl ProbeResult {
    /// Whether it is part of the curve.
    #[must_use]
    pub fn counts(&self) -> bool {
        !self.burst && !self.disturbed && !self.short
    }

    /// A measurement that nothing else is known of. What a short one seems to show of steps and drifts is chance.
    fn of(probe: KneeProbe, reading: ProbeReading) -> Self {
        let operations = reading.iops * probe.seconds;
        // By Little's law this long for each of those in flight.
        let round_s = f64::from(probe.depth) / reading.iops.max(1e-9);
        let short = operations < OPERATIONS_LEAST || probe.whole_s() < round_s;
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

    /// Whether it gave more for each operation in flight than a shallower one, which no device does.
    fn outdoes(&self, other: &Self) -> bool {
        let each = |taken: &Self| taken.reading.iops / f64::from(taken.probe.depth);
        let more = 1.0 + apart(&self.reading, &other.reading);
        self.probe.depth >= other.probe.depth && other.reading.iops > 0.0 && each(self) > each(other) * more
    }

    /// The level after a step down.
    fn fell_to(&self) -> Option<f64> {
        self.reading.step.filter(|step| step.ratio() < 1.0).map(|step| step.after)
    }
}

/// Reason for the end of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The interval is as narrow as asked for.
    Precise,
    /// The curve has no knee, and more probes would not give it one.
    NoKnee,
    /// The deepest depth allowed is still on the rising line.
    Deepest,
    /// The time is used up.
    Budget,
    /// More probes do not make it narrower.
    Enough,
}

/// A search for the knee.
#[derive(Clone, Debug)]
pub struct KneeSearch {
    settings: KneeSettings,
    taken: Vec<ProbeResult>,
    outstanding: Vec<KneeProbe>,
    /// The next depth to climb to; `None` at the top.
    rung: Option<u32>,
    end: Option<End>,
}

/// Each rung of the ladder is so many times as deep as the one before.
const RUNG: u32 = 4;
/// A rung that gives less than this share more than the one before is flat.
const FLAT: f64 = 0.15;
/// Depths around the knee, as shares of it, the most telling first.
const AROUND: [f64; 7] = [1.0, 0.5, 2.0, 0.7, 1.4, 0.25, 3.0];
/// Depths closer than this share are one.
const NEAR: f64 = 0.13;
/// More probes than this are not made.
const PROBES_MAX: usize = 48;
/// A measurement that changes by more than this share on the way is made once more, for longer.
const DRIFT: f64 = 0.1;
/// A mean of fewer operations is off by a fifth by chance alone.
const OPERATIONS_LEAST: f64 = 30.0;
/// After a step down, what was above the new level by more than this share was burst.
const ABOVE: f64 = 0.05;

impl KneeSearch {
    /// A search that has not begun.
    #[must_use]
    pub fn new(settings: KneeSettings) -> Self {
        let step = settings.step.max(1);
        let settings = KneeSettings { step, most: (settings.most / step * step).max(step), ..settings };
        Self { settings, taken: Vec::new(), outstanding: Vec::new(), rung: Some(step), end: None }
    }

    /// The next measurement. `None` once it is over, or where it has to be told of what is outstanding first; several may
    /// be outstanding at once.
    pub fn next_probe(&mut self) -> Option<KneeProbe> {
        if self.end.is_some() {
            return None;
        }
        let probe = match self.rung {
            Some(depth) => {
                self.rung = self.rung_after(depth);
                let probe = self.probe(depth);
                Some(KneeProbe { seconds: probe.seconds.min(self.settings.rung_s), ..probe })
            }
            None if self.outstanding.is_empty() || !self.taken.is_empty() => self.refine(),
            None => None,
        }?;
        let spent = self.spent_s() + self.outstanding.iter().map(KneeProbe::whole_s).sum::<f64>();
        let left = self.settings.budget_s - spent;
        // A probe that is cut to less than half tells little; the first three are made all the same.
        if self.taken.len() + self.outstanding.len() >= 3 && left < 0.5 * probe.whole_s() {
            self.end = self.end.or(self.outstanding.is_empty().then_some(End::Budget));
            return None;
        }
        let over = (probe.whole_s() - left).clamp(0.0, probe.seconds / 2.0);
        let probe = KneeProbe { seconds: probe.seconds - over, ..probe };
        self.outstanding.push(probe);
        Some(probe)
    }

    /// What a measurement brought.
    pub fn observe(&mut self, probe: &KneeProbe, reading: ProbeReading) {
        if let Some(at) = self.outstanding.iter().position(|known| known == probe) {
            self.outstanding.remove(at);
        }
        self.taken.push(ProbeResult::of(*probe, reading));
        self.settle();
        // Where to stop climbing is no statement on the device: short probes will do.
        if is_flat_at(probe.depth, self.lasting()) {
            self.rung = None;
        }
    }

    /// Everything that was measured, in the order of time.
    #[must_use]
    pub fn taken(&self) -> &[ProbeResult] {
        &self.taken
    }

    /// Seconds that were spent on it.
    #[must_use]
    pub fn spent_s(&self) -> f64 {
        self.taken.iter().map(|taken| taken.probe.whole_s()).sum()
    }

    /// Why it ended; `None` as long as it goes on.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// A point for each depth, measurements of the same depth taken together, without those made on credits.
    #[must_use]
    pub fn points(&self) -> Vec<Point> {
        let mut depths: Vec<u32> = self.valid().map(|taken| taken.probe.depth).collect();
        depths.sort_unstable();
        depths.dedup();
        let together = |depth: u32| {
            let of_depth = || self.valid().filter(move |taken| taken.probe.depth == depth);
            let weight = |taken: &ProbeResult| taken.probe.seconds;
            let whole: f64 = of_depth().map(weight).sum();
            let mean = |of: &dyn Fn(&ProbeResult) -> f64| {
                of_depth().map(|taken| weight(taken) * of(taken)).sum::<f64>() / whole
            };
            let squares: f64 = of_depth().map(|taken| (weight(taken) * taken.reading.error / whole).powi(2)).sum();
            let iops = mean(&|taken| taken.reading.iops);
            // What two measurements of one depth differ by counts, whatever each says of itself.
            let count = of_depth().count() as f64;
            let off = |taken: &ProbeResult| (weight(taken) / whole * (taken.reading.iops / iops - 1.0)).powi(2);
            let apart = if count > 1.0 { of_depth().map(off).sum::<f64>() * count / (count - 1.0) } else { 0.0 };
            let error = squares.max(apart).sqrt();
            Point { depth, iops, latency_ns: mean(&|taken| taken.reading.latency_ns), error }
        };
        depths.into_iter().map(together).filter(|point| point.iops > 0.0).collect()
    }

    /// The curve through what was measured so far.
    #[must_use]
    pub fn fit(&self) -> Fit {
        fit(&self.points(), self.settings.seed)
    }

    fn valid(&self) -> impl Iterator<Item = &ProbeResult> {
        self.taken.iter().filter(|taken| taken.counts())
    }

    /// Those on the level that lasts, long enough or not.
    fn lasting(&self) -> impl Iterator<Item = &ProbeResult> {
        self.taken.iter().filter(|taken| !taken.burst && !taken.disturbed)
    }

    fn rung_after(&self, depth: u32) -> Option<u32> {
        let most = self.settings.most;
        (depth < most).then(|| depth.saturating_mul(RUNG).min(most))
    }

    /// A probe that is long enough for what is known of the depth.
    fn probe(&self, depth: u32) -> KneeProbe {
        let KneeSettings { short_s, long_s, operations, warm_up_s, .. } = self.settings;
        // A short probe is no evidence, but the first idea of how long the next one has to be.
        let known = self.lasting().filter(|taken| taken.reading.iops > 0.0);
        let nearest = known.min_by_key(|taken| taken.probe.depth.abs_diff(depth));
        let iops = nearest.map(|taken| {
            let share = f64::from(depth) / f64::from(taken.probe.depth);
            taken.reading.iops * share.min(1.0)
        });
        let seconds = iops.map_or(short_s, |iops| operations / iops);
        // Until all that are in flight have come round.
        let round_s = iops.map_or(0.0, |iops| f64::from(depth) / iops);
        let warm_up_s = warm_up_s.max(2.0 * round_s).min(warm_up_s.max(long_s / 2.0));
        let grown = nearest.map(|taken| {
            let share = f64::from(depth) / f64::from(taken.probe.depth);
            taken.reading.iops * share.max(1.0)
        });
        let most_s = grown.map_or(f64::INFINITY, |iops| self.settings.operations_max / iops);
        let seconds = seconds.max(10.0 * round_s).clamp(short_s, long_s);
        KneeProbe { depth, warm_up_s: warm_up_s.min(most_s), seconds: seconds.min(most_s) }
    }

    /// A longer look at a depth.
    fn again(&self, depth: u32) -> KneeProbe {
        let longest = self.lasting().filter(|taken| taken.probe.depth == depth).map(|taken| taken.probe.seconds);
        let longest = longest.fold(0.0, f64::max);
        let probe = self.probe(depth);
        KneeProbe { seconds: probe.seconds.max(1.5 * longest).min(self.settings.long_s), ..probe }
    }

    /// What would narrow the answer most; ends the search where nothing would.
    fn refine(&mut self) -> Option<KneeProbe> {
        if self.taken.len() + self.outstanding.len() >= PROBES_MAX {
            return self.finish(End::Enough);
        }
        if let Some(depth) = self.too_short() {
            return Some(self.again(depth));
        }
        if let Some(depth) = self.doubtful() {
            return Some(self.again(depth));
        }
        let found = self.fit();
        match found.curve {
            Curve::Knee(knee) => {
                let seen = AROUND[..3].iter().all(|share| self.seconds_near(self.at(share * knee.depth.value)) > 0.0);
                // More probes narrow what chance leaves open, not whether the device is of this form.
                if seen && knee.chance <= self.settings.precision {
                    return self.finish(End::Precise);
                }
                self.around(&AROUND, knee.depth.value)
            }
            Curve::Flat { depth, xmax, .. } => {
                let twice = self.at(2.0 * f64::from(depth));
                if self.seconds_near(twice) > 0.0 && xmax.half_width() <= self.settings.precision {
                    return self.finish(End::Precise);
                }
                self.around(&[1.0, 2.0, 4.0], f64::from(depth))
            }
            Curve::Unsaturated { depth, r0_ns, .. } if depth >= self.settings.most => {
                if r0_ns.half_width() <= self.settings.precision {
                    return self.finish(End::Deepest);
                }
                self.around(&[1.0, 0.25, 0.0625], f64::from(depth))
            }
            // The ladder ended early: its last rung was flat by chance.
            Curve::Unsaturated { depth, .. } => Some(self.probe(self.at(2.0 * f64::from(depth)))),
            Curve::PowerLaw { flat_from, .. } => {
                // What rises like this to the end of the range has no knee; what was not looked at may have one.
                let deepest = self.deepest();
                match flat_from.is_some() || deepest >= self.settings.most || is_flat_at(deepest, self.valid()) {
                    true => self.finish(End::NoKnee),
                    false => Some(self.probe(self.at(2.0 * f64::from(deepest)))),
                }
            }
            Curve::Unknown => {
                let deepest = self.deepest();
                let middle = self.at(f64::from(deepest) / 2.0);
                match self.seconds_near(middle) > 0.0 {
                    true if deepest >= self.settings.most => self.finish(End::Enough),
                    true => Some(self.probe(self.at(2.0 * f64::from(deepest)))),
                    false => Some(self.probe(middle)),
                }
            }
        }
    }

    /// The deepest depth that counts.
    fn deepest(&self) -> u32 {
        self.valid().map(|taken| taken.probe.depth).max().unwrap_or(self.settings.step)
    }

    fn finish(&mut self, end: End) -> Option<KneeProbe> {
        // What is under way may still change the answer.
        if self.outstanding.is_empty() {
            self.end = Some(end);
        }
        None
    }

    /// A depth that was measured for much less than it takes: nothing was known of its pace then, or it was on the move.
    fn too_short(&self) -> Option<u32> {
        let KneeSettings { operations, long_s, .. } = self.settings;
        let seen = |depth: u32| -> (f64, f64) {
            let of_depth = self.lasting().filter(|taken| taken.probe.depth == depth);
            of_depth.fold((0.0, 0.0), |(ios, seconds), taken| {
                (ios + taken.reading.iops * taken.probe.seconds, seconds + taken.probe.seconds)
            })
        };
        let waiting = |depth: u32| self.outstanding.iter().any(|probe| probe.depth == depth);
        let evident = |depth: u32| self.valid().any(|taken| taken.probe.depth == depth);
        let mut depths = self.lasting().map(|taken| taken.probe.depth);
        depths.find(|&depth| {
            let (ios, seconds) = seen(depth);
            let short = (ios < operations / 10.0 || !evident(depth)) && seconds < 0.9 * long_s;
            (short || self.is_moving(depth)) && !waiting(depth)
        })
    }

    /// Whether the one measurement of a depth drifted.
    fn is_moving(&self, depth: u32) -> bool {
        let mut of_depth = self.valid().filter(|taken| taken.probe.depth == depth);
        let first = of_depth.next();
        let drifts = |taken: &ProbeResult| taken.reading.drift.is_some_and(|drift| drift.abs() > DRIFT);
        of_depth.next().is_none() && first.is_some_and(drifts)
    }

    /// Tells what lasts from what has gone: a measurement is of a level that has gone if two later ones deny it. One that
    /// was slower than earlier ones and than later ones, or than the same depth later, was disturbed.
    fn settle(&mut self) {
        let taken = self.taken.clone();
        let disturbed = |at: usize| {
            let slower_than = |other: &ProbeResult| !other.short && !taken[at].short && other.outdoes(&taken[at]);
            let again = |other: &ProbeResult| other.probe.depth == taken[at].probe.depth && slower_than(other);
            let (before, after) = (&taken[..at], &taken[at + 1..]);
            after.iter().any(again) || before.iter().any(slower_than) && after.iter().any(slower_than)
        };
        let disturbed: Vec<bool> = (0..taken.len()).map(disturbed).collect();
        for at in 0..taken.len() {
            let later = (at + 1..taken.len()).filter(|&later| !disturbed[later] && !taken[later].short);
            let denied = later.filter(|&later| denies(&taken, later, at)).count();
            self.taken[at].disturbed = disturbed[at];
            self.taken[at].burst = !disturbed[at] && !taken[at].short && denied >= 2;
        }
    }

    /// A depth to measure once more because measurements deny one another: more depth gives less, a level has gone, or
    /// something else was busy. Once more will tell.
    fn doubtful(&self) -> Option<u32> {
        let waiting = |depth: u32| self.outstanding.iter().any(|probe| probe.depth == depth);
        let again =
            |at: usize| self.taken[at + 1..].iter().any(|other| other.probe.depth == self.taken[at].probe.depth);
        let open = |at: &usize| self.taken[*at].counts() && !again(*at) && !waiting(self.taken[*at].probe.depth);
        let less = |at: usize, later: usize| {
            let (taken, later) = (&self.taken[at], &self.taken[later]);
            later.counts()
                && later.probe.depth > taken.probe.depth
                && taken.reading.iops > later.reading.iops * (1.0 + apart(&taken.reading, &later.reading))
        };
        let all = 0..self.taken.len();
        let alone = all.clone().find(|at| {
            open(at) && (0..*at).any(|before| self.taken[before].counts() && denies(&self.taken, *at, before))
        });
        let fallen = || all.clone().find(|at| open(at) && (at + 1..self.taken.len()).any(|later| less(*at, later)));
        let slow = || {
            let outdone =
                |at: usize| self.taken[at + 1..].iter().any(|later| !later.short && later.outdoes(&self.taken[at]));
            all.clone().find(|at| open(at) && outdone(*at))
        };
        // Less depth has given more since: what was measured here may have been disturbed.
        let sunk = || {
            let above = |at: usize, later: usize| {
                let (taken, later) = (&self.taken[at], &self.taken[later]);
                later.counts()
                    && later.probe.depth < taken.probe.depth
                    && later.reading.iops > taken.reading.iops * (1.0 + apart(&taken.reading, &later.reading))
            };
            all.clone().find(|at| open(at) && (at + 1..self.taken.len()).any(|later| above(*at, later)))
        };
        alone.or_else(slow).or_else(fallen).or_else(sunk).map(|at| self.taken[at].probe.depth)
    }

    /// The depth that is nearest to `wish`.
    fn at(&self, wish: f64) -> u32 {
        let KneeSettings { step, most, .. } = self.settings;
        let steps = (wish / f64::from(step)).round().clamp(1.0, f64::from(most / step));
        steps as u32 * step
    }

    /// Of the depths at these shares of `centre` the one on which the least time was spent.
    /// Ends the search where all of them were looked at for long.
    fn around(&mut self, shares: &[f64], centre: f64) -> Option<KneeProbe> {
        let mut best: Option<(f64, u32)> = None;
        for share in shares {
            let depth = self.at(share * centre);
            let spent = self.seconds_near(depth);
            if best.is_none_or(|(least, _)| spent < 0.99 * least) {
                best = Some((spent, depth));
            }
        }
        let (spent, depth) = best?;
        if spent > 3.0 * self.settings.long_s {
            return self.finish(End::Enough);
        }
        // On depths that were just handed out there is nothing more to learn before they are told.
        if spent > 0.0 && !self.outstanding.is_empty() {
            return None;
        }
        Some(self.again(depth))
    }

    fn seconds_near(&self, depth: u32) -> f64 {
        let near = |other: u32| (f64::from(other) / f64::from(depth)).ln().abs() < NEAR;
        let taken = self.valid().filter(|taken| near(taken.probe.depth)).map(|taken| taken.probe.seconds);
        let waiting = self.outstanding.iter().filter(|probe| near(probe.depth)).map(|probe| probe.seconds);
        taken.sum::<f64>() + waiting.sum::<f64>()
    }
}

/// Whether `depth` gives hardly more than what is shallower by a rung.
fn is_flat_at<'a>(depth: u32, taken: impl Iterator<Item = &'a ProbeResult>) -> bool {
    let (mut before, mut here) = (None::<f64>, None::<f64>);
    for ProbeResult { probe, reading, .. } in taken {
        if probe.depth <= depth / 3 {
            before = Some(before.map_or(reading.iops, |most| most.max(reading.iops)));
        } else if probe.depth == depth {
            here = Some(here.map_or(reading.iops, |most| most.max(reading.iops)));
        }
    }
    before.zip(here).is_some_and(|(before, here)| here < before * (1.0 + FLAT))
}

/// Whether a later measurement is of a lower level than an earlier one.
fn denies(taken: &[ProbeResult], later: usize, earlier: usize) -> bool {
    let (low, high) = (&taken[later], &taken[earlier]);
    // A step says where the new level is, for all that comes after it and lies about as deep.
    let clear = 1.0 + ABOVE.max(4.0 * scatter(taken));
    let stepped = (earlier + 1..later).any(|at| {
        lasting_fall(taken, at).is_some_and(|after| {
            high.reading.iops > after * clear
                && low.probe.depth >= taken[at].probe.depth.max(high.probe.depth / 2)
                && low.reading.iops <= after * (1.0 + 2.0 * ABOVE)
        })
    });
    high.outdoes(low) || stepped
}

/// How much measurements of one depth differ from each other, as a share (a standard deviation, by the median of what
/// neighbours in time differ by, so that what was disturbed does not count); zero where none was made twice.
fn scatter(taken: &[ProbeResult]) -> f64 {
    /// The median of the differences of two normal values of deviation 1.
    const MEDIAN: f64 = 0.954;
    let differs = |at: usize| {
        let (before, this) = (&taken[..at], &taken[at]);
        let last = before.iter().rfind(|other| other.probe.depth == this.probe.depth)?;
        Some((this.reading.iops / last.reading.iops.max(1e-9)).max(1e-9).ln().abs())
    };
    let mut all: Vec<f64> = (0..taken.len()).filter_map(differs).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).map_or(0.0, |median| median / MEDIAN)
}

/// The level after a step down, if it is that of a limit: then nothing that comes after it lies above. A device whose
/// pace just varies does better again.
fn lasting_fall(taken: &[ProbeResult], at: usize) -> Option<f64> {
    let after = taken[at].fell_to()?;
    let above = |later: &ProbeResult| later.reading.iops > after * (1.0 + 3.0 * ABOVE);
    (!taken[at + 1..].iter().any(above)).then_some(after)
}

/// By how much two readings must differ to be of two levels, as a share.
fn apart(a: &ProbeReading, b: &ProbeReading) -> f64 {
    (4.0 * a.error.hypot(b.error)).clamp(0.15, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knee::fit::normal;
    use units::random::Random;

    /// A device on probation for a minute.
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
    fn no_probe_takes_more_operations_than_a_simulation_can() {
        let settings = KneeSettings { short_s: 0.05, warm_up_s: 0.03, operations_max: 4e6, ..DEVICE };
        let mut search = KneeSearch::new(settings);
        while let Some(probe) = search.next_probe() {
            let iops = 1e6 * f64::from(probe.depth);
            assert!(probe.whole_s() * iops < 2.1 * 4e6, "{probe:?}");
            search.observe(&probe, ProbeReading { iops, latency_ns: 1e3, error: 1e-3, ..ProbeReading::default() });
        }
        assert_eq!(search.end(), Some(End::Deepest));
    }

    /// Searches on a device that gives `iops(depth, seconds so far)` with 2 % of noise in each second.
    fn searched(settings: KneeSettings, seed: u64, iops: impl Fn(u32, f64) -> f64) -> KneeSearch {
        let mut random = Random::new(seed, 3);
        let mut search = KneeSearch::new(settings);
        while let Some(probe) = search.next_probe() {
            let now = search.spent_s();
            let error = 0.02 / probe.seconds.sqrt();
            let (before, after) = (iops(probe.depth, now), iops(probe.depth, now + probe.whole_s()));
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

    /// Depths, what they gave, and whether that counts.
    fn told(search: &KneeSearch) -> Vec<(u32, u64, bool)> {
        let each = |taken: &ProbeResult| (taken.probe.depth, taken.reading.iops as u64, taken.counts());
        search.taken().iter().map(each).collect()
    }

    #[track_caller]
    fn assert_knee(search: &KneeSearch, wanted: f64, share: f64) {
        let Curve::Knee(knee) = search.fit().curve else { panic!("no knee: {:?}", told(search)) };
        assert!((knee.depth.value / wanted - 1.0).abs() < share, "{knee:?} for {wanted}: {:?}", told(search));
    }

    #[test]
    fn limiters_of_any_depth_are_found_in_a_tenth_of_a_grid() {
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

    /// A step down at depth 1 was taken for the end of credits, and all that was deeper for burst.
    #[test]
    fn a_device_whose_pace_varies_keeps_its_knee() {
        for seed in 40..60 {
            let mut random = Random::new(seed, 7);
            // A virtual disk: a soft knee at 11 in flight, each second up to an eighth above or below.
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
            assert!(deepest >= Some(64), "seed {seed}: {:?}", told(&search));
            let Curve::Knee(knee) = search.fit().curve else {
                panic!("seed {seed}: {:?} of {:?}", search.fit(), told(&search));
            };
            assert!((5.0..25.0).contains(&knee.depth.value), "seed {seed}: {knee:?}");
        }
    }

    /// Nine operations of a drive in 50 ms, fewer than were in flight: "IOPS changed by -86 %", and one probe at depth 1 was
    /// said to have been disturbed.
    #[test]
    fn a_probe_too_short_for_the_device_is_no_evidence() {
        let settings =
            KneeSettings { short_s: 0.05, rung_s: 7200.0, long_s: 7200.0, budget_s: f64::INFINITY, ..DEVICE };
        let mut search = KneeSearch::new(KneeSettings { warm_up_s: 0.03, ..settings });
        // What few operations show of steps and drifts, and half of the operations.
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
        // Side by side, as in virtual time: nothing is known of the device when the first ones are asked for.
        loop {
            let probes: Vec<KneeProbe> = std::iter::from_fn(|| search.next_probe()).take(4).collect();
            if probes.is_empty() {
                break;
            }
            probes.iter().for_each(|probe| search.observe(probe, read(probe)));
        }
        let short = |taken: &&ProbeResult| taken.short;
        assert!(search.taken().iter().filter(short).count() >= 3, "{:?}", told(&search));
        for taken in search.taken() {
            assert!(!taken.disturbed && !taken.burst, "{taken:?}");
            assert!(!taken.short || taken.reading.drift.is_none() && taken.reading.step.is_none(), "{taken:?}");
            assert_eq!(taken.short, taken.probe.seconds < 1.0, "{taken:?}");
        }
        assert!(search.points().iter().all(|point| point.error < 0.01), "{:?}", search.points());
        assert!(matches!(search.fit().curve, Curve::PowerLaw { .. }), "{:?}", search.fit());
    }

    #[test]
    fn time_is_spent_where_the_curve_bends() {
        let search = searched(DEVICE, 32, limiter(1.3e-3, 160_000.0));
        let near = |taken: &&ProbeResult| (60..=700).contains(&taken.probe.depth);
        let bent: f64 = search.taken().iter().filter(near).map(|taken| taken.probe.whole_s()).sum();
        assert!(bent > 0.4 * search.spent_s(), "{:?}", search.taken());
        assert!(search.taken().iter().all(|taken| taken.probe.depth <= 1024), "{:?}", search.taken());
    }

    #[test]
    fn what_is_flat_from_the_start_takes_few_probes() {
        let search = searched(DEVICE, 33, |_, _| 500.0);
        assert!(matches!(search.fit().curve, Curve::Flat { depth: 1, .. }), "{:?}", search.fit());
        assert!(search.taken().len() <= 8 && search.taken().iter().all(|taken| taken.probe.depth <= 4));
    }

    #[test]
    fn a_drive_has_no_knee() {
        let settings = KneeSettings { most: 1024, ..DEVICE };
        let search = searched(settings, 34, |depth, _| 80.0 * f64::from(depth).powf(0.234));
        assert!(matches!(search.fit().curve, Curve::PowerLaw { .. }), "{:?}", search.fit());
        assert_eq!(search.end(), Some(End::NoKnee));
    }

    #[test]
    fn the_range_ends_where_it_is_told_to() {
        let search = searched(KneeSettings { most: 64, ..DEVICE }, 35, limiter(1.3e-3, 160_000.0));
        assert!(matches!(search.fit().curve, Curve::Unsaturated { depth: 64, .. }), "{:?}", search.fit());
        assert_eq!(search.end(), Some(End::Deepest));
    }

    #[test]
    fn credits_that_run_out_leave_the_lasting_level() {
        let burst = |depth: u32, now: f64| (f64::from(depth) / 1e-3).min(if now < 9.0 { 15_000.0 } else { 10_000.0 });
        let search = searched(DEVICE, 36, burst);
        assert_knee(&search, 10.0, 0.05);
        assert!(search.taken().iter().any(|taken| taken.burst), "{:?}", search.taken());
    }

    #[test]
    fn what_disturbs_for_a_while_is_no_lasting_level() {
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
    fn a_depth_that_drifts_is_looked_at_for_longer() {
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
    fn any_readings_come_to_an_end() {
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

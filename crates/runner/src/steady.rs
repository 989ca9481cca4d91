//! Ends jobs whose rate has become steady (`steadystate`).

use std::collections::VecDeque;

use job::{Plan, SteadyMeasure, SteadyState};
use record::SteadyRecord;
use units::Nanos;

use crate::counters::CountedWork;
use crate::{RunCounters, WorkerCounters, WorkerPlan};

/// The jobs of a run that end in a steady state, each with the workers whose results merge.
#[derive(Debug, Default)]
pub struct SteadyStates {
    groups: Vec<SteadyGroup>,
}

/// Workers whose rates together become steady.
#[derive(Debug)]
struct SteadyGroup {
    workers: Vec<usize>,
    options: SteadyState,
    /// The intervals, the latest last.
    samples: VecDeque<SteadySample>,
    /// The counts of each worker at the last sample.
    last: Vec<CountedWork>,
    /// Instant of the next sample; `None` before the workers run.
    next: Option<Nanos>,
    is_attained: bool,
}

/// Rates and latency in one interval.
#[derive(Clone, Copy, Debug, Default)]
struct SteadySample {
    /// Operations per second.
    iops: f64,
    /// Bytes per second.
    bytes_per_second: f64,
    /// Mean completion latency in nanoseconds; zero if nothing completed.
    latency_ns: f64,
}

impl SteadySample {
    /// Returns the sample of workers that have counted this before and after an interval.
    fn between(before: &[CountedWork], after: &[CountedWork]) -> Self {
        let mut sample = Self::default();
        let (mut service_ns, mut completed) = (0.0, 0);
        for (before, after) in before.iter().zip(after) {
            let seconds = after.at.since(before.at).secs_f64();
            let operations = after.operations.saturating_sub(before.operations);
            if seconds > 0.0 {
                sample.iops += operations as f64 / seconds;
                sample.bytes_per_second += after.bytes.saturating_sub(before.bytes) as f64 / seconds;
                service_ns += after.service_ns.wrapping_sub(before.service_ns) as f64;
                completed += operations;
            }
        }
        sample.latency_ns = if completed > 0 { service_ns / completed as f64 } else { 0.0 };
        sample
    }
}

impl SteadyStates {
    /// Returns the jobs of a plan with a steady state. Workers of one reporting group are judged together.
    #[must_use]
    pub fn of(plan: &Plan, workers: &[WorkerPlan]) -> Self {
        let job = |worker: &WorkerPlan| &plan.jobs[worker.job];
        let together = |a: &WorkerPlan, b: &WorkerPlan| {
            job(b).grouping.group_reporting && (a.group, a.stage) == (b.group, b.stage)
        };
        let group = |workers: &[WorkerPlan]| {
            let options = workers.iter().find_map(|worker| job(worker).extent.steady)?;
            Some(SteadyGroup {
                workers: workers.iter().map(|worker| worker.number).collect(),
                options,
                samples: VecDeque::new(),
                last: Vec::new(),
                next: None,
                is_attained: false,
            })
        };
        Self { groups: workers.chunk_by(together).filter_map(group).collect() }
    }

    /// Returns the instant of the next sample; [`Nanos::MAX`] for none.
    #[must_use]
    pub fn next_due(&self) -> Nanos {
        let waiting = self.groups.iter().filter(|group| !group.is_attained);
        waiting.map(|group| group.next.unwrap_or(Nanos::ZERO)).min().unwrap_or(Nanos::MAX)
    }

    /// Takes the samples that are due at `now`. Returns the workers that end because their rate is steady.
    pub fn update(&mut self, now: Nanos, counters: &RunCounters) -> Vec<usize> {
        let mut ended = Vec::new();
        for group in self.groups.iter_mut().filter(|group| !group.is_attained) {
            if group.sample(now, counters) {
                ended.extend_from_slice(&group.workers);
            }
        }
        ended
    }

    /// Returns the outcome of the group that begins with this worker.
    #[must_use]
    pub fn record(&self, worker: usize) -> Option<SteadyRecord> {
        self.groups.iter().find(|group| group.workers[0] == worker).map(SteadyGroup::record)
    }
}

impl SteadyGroup {
    /// Takes a sample if it is due. Returns whether the rate has become steady.
    fn sample(&mut self, now: Nanos, counters: &RunCounters) -> bool {
        let all = self.workers.iter().map(|&number| counters.worker(number));
        let Some(next) = self.next else {
            if all.clone().all(WorkerCounters::is_running) {
                self.next = Some(now + self.options.ramp + self.options.interval);
                self.last = all.map(WorkerCounters::counted).collect();
            }
            return false;
        };
        if now < next {
            return false;
        }
        self.next = Some(next.max(now.since(self.options.interval)) + self.options.interval);
        let counted: Vec<_> = all.map(WorkerCounters::counted).collect();
        let before = std::mem::replace(&mut self.last, counted);
        self.samples.push_back(SteadySample::between(&before, &self.last));
        while self.samples.len() > self.window() {
            self.samples.pop_front();
        }
        // Without completions there is no latency that could be steady.
        let is_known = self.options.measure != SteadyMeasure::Latency || self.samples.iter().all(|one| one.iops > 0.0);
        let is_full = self.samples.len() == self.window();
        self.is_attained = is_full && is_known && self.criterion() < self.options.limit;
        self.is_attained
    }

    /// Returns the number of samples that are judged together.
    fn window(&self) -> usize {
        let SteadyState { duration, interval, .. } = self.options;
        (duration.get() / interval.get().max(1)).max(1) as usize
    }

    fn values(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        let measure = self.options.measure;
        self.samples.iter().map(move |sample| match measure {
            SteadyMeasure::Iops => sample.iops,
            SteadyMeasure::Bandwidth => sample.bytes_per_second,
            SteadyMeasure::Latency => sample.latency_ns,
        })
    }

    /// Returns what is compared with the limit: a deviation or a slope, absolute or in per cent of the mean.
    fn criterion(&self) -> f64 {
        let mean = mean(self.values());
        let value = if self.options.is_slope { slope(self.values()).abs() } else { max_deviation(self.values(), mean) };
        match self.options.is_percent {
            true if mean > 0.0 => 100.0 * value / mean,
            true => 0.0,
            false => value,
        }
    }

    fn record(&self) -> SteadyRecord {
        let SteadyState { measure, is_slope, is_percent, limit, duration, .. } = self.options;
        let values = mean(self.values());
        SteadyRecord {
            measure: match measure {
                SteadyMeasure::Iops => "iops",
                SteadyMeasure::Bandwidth => "bw",
                SteadyMeasure::Latency => "lat",
            }
            .to_owned(),
            is_slope,
            is_percent,
            limit,
            duration_ns: duration.get(),
            is_attained: self.is_attained,
            criterion: self.criterion(),
            max_deviation: if is_slope { 0.0 } else { max_deviation(self.values(), values) },
            slope: if is_slope { slope(self.values()) } else { 0.0 },
            iops: self.samples.iter().map(|sample| sample.iops).collect(),
            bytes_per_second: self.samples.iter().map(|sample| sample.bytes_per_second).collect(),
            latencies_ns: match measure {
                SteadyMeasure::Latency => self.samples.iter().map(|sample| sample.latency_ns).collect(),
                _ => Vec::new(),
            },
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

fn max_deviation(values: impl Iterator<Item = f64>, mean: f64) -> f64 {
    values.map(|value| (value - mean).abs()).fold(0.0, f64::max)
}

/// Returns the slope of the least-squares line, per sample.
fn slope(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let mean_value = mean(values.clone());
    let mean_place = mean(values.clone().enumerate().map(|(place, _)| place as f64));
    let (mut above, mut below) = (0.0, 0.0);
    for (place, value) in values.enumerate() {
        let distance = place as f64 - mean_place;
        above += distance * (value - mean_value);
        below += distance * distance;
    }
    if below > 0.0 { above / below } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(is_slope: bool, is_percent: bool, values: &[f64]) -> SteadyGroup {
        let options = SteadyState { is_slope, is_percent, ..SteadyState::default() };
        let samples = values.iter().map(|value| SteadySample { iops: *value, ..SteadySample::default() }).collect();
        SteadyGroup { workers: vec![0], options, samples, last: Vec::new(), next: None, is_attained: false }
    }

    #[test]
    fn criteria_are_those_of_the_definition() {
        let values = [100.0, 110.0, 120.0, 130.0];
        assert_eq!(group(true, false, &values).criterion(), 10.0);
        assert!((group(true, true, &values).criterion() - 1000.0 / 115.0).abs() < 1e-9);
        assert_eq!(group(false, false, &values).criterion(), 15.0);
        assert!((group(false, true, &values).criterion() - 1500.0 / 115.0).abs() < 1e-9);
        assert_eq!(group(true, false, &[130.0, 120.0, 110.0]).criterion(), 10.0, "a falling rate is not steady");
        assert_eq!(group(false, true, &[0.0, 0.0]).criterion(), 0.0);
    }

    #[test]
    fn the_latency_of_an_interval_is_the_mean_over_all_workers() {
        let counted = |ms: u64, operations: u64, service_ns: u64| CountedWork {
            at: Nanos::from_millis(ms),
            operations,
            bytes: 0,
            service_ns,
        };
        let before = [counted(0, 10, u64::MAX - 99), counted(0, 0, 0)];
        let after = [counted(1_000, 13, 2_900), counted(500, 1, 5_000)];
        let sample = SteadySample::between(&before, &after);
        assert_eq!(sample.latency_ns, 2_000.0);
        assert_eq!(sample.iops, 5.0);
        assert_eq!(SteadySample::between(&after, &after).latency_ns, 0.0);
    }
}

//! Instants of issue: gaps, counts per window at several time scales, peaks and bursts.

use super::histogram::WideHistogram;
use super::hurst::WaveletCascade;
use super::profile::{ArrivalProfile, BurstProfile, WindowProfile};

/// Widths of the windows in nanoseconds, with the number of steps in which a window slides to find its peak. A step is as
/// wide as the window before.
const WINDOWS: [(u64, u64); 6] = [
    (1_000_000, 10),
    (10_000_000, 10),
    (100_000_000, 10),
    (1_000_000_000, 10),
    (10_000_000_000, 10),
    (60_000_000_000, 6),
];
/// Resolutions of times that are recognized, in nanoseconds.
const RESOLUTIONS_NS: [u64; 4] = [1_000_000_000, 1_000_000, 1_000, 1];
/// Width of the steps of the narrowest window in nanoseconds.
const STEP_NS: u64 = 100_000;
/// Index of the windows in which bursts are found: 10 ms.
const BURST_WINDOW: usize = 1;
/// Least rate of a burst, as a multiple of the mean so far.
const BURST_RATIO: f64 = 2.0;
/// Least distance of a burst's count from the mean so far, in standard deviations of Poisson arrivals, and in requests
/// for small means: less than one of 10^7 Poisson counts is as large.
const BURST_DEVIATIONS: f64 = 5.0;
const BURST_REQUESTS: f64 = 5.0;
/// Number of windows before the mean is trusted.
const BURST_WINDOWS_MIN: u64 = 100;
/// Maximum number of windows without a high rate in a burst.
const BURST_LULL: u64 = 1;

/// Requests of a window.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    requests: u64,
    bytes: u64,
    writes: u64,
}

impl Count {
    #[inline]
    fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.writes += other.writes;
    }
}

/// Windows of one width.
#[derive(Clone, Debug, Default)]
struct WindowScale {
    /// Number of the last step.
    step: u64,
    ring: [Count; 10],
    /// Number of the current window, and its requests.
    window: u64,
    count: Count,
    sum: u64,
    squares: f64,
    requests_max: u64,
    bytes_max: u64,
}

impl WindowScale {
    /// Adds the requests of a step, and finds the window with the most among those that end with it.
    #[inline]
    fn slide(&mut self, step: u64, steps: u64, count: Count) {
        let skipped = (step - self.step).min(steps);
        for back in 0..skipped {
            self.ring[((step - back) % steps) as usize] = Count::default();
        }
        self.step = step;
        self.ring[(step % steps) as usize].add(count);
        let sum = self.ring[..steps as usize].iter().fold(Count::default(), |mut sum, count| {
            sum.add(*count);
            sum
        });
        self.requests_max = self.requests_max.max(sum.requests);
        self.bytes_max = self.bytes_max.max(sum.bytes);
    }

    fn close(&mut self) -> (u64, Count) {
        self.sum += self.count.requests;
        self.squares += self.count.requests as f64 * self.count.requests as f64;
        (self.window, std::mem::take(&mut self.count))
    }
}

/// ArrivalCounts of all requests. Memory: 64 KiB.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrivalCounts {
    gaps: WideHistogram,
    last: Option<u64>,
    step: u64,
    step_begin: u64,
    count: Count,
    scales: [WindowScale; 6],
    bursts: Bursts,
    wavelet: WaveletCascade,
    requests: u64,
    /// Index of the coarsest resolution of which all instants are multiples.
    resolution: usize,
}

impl ArrivalCounts {
    /// Adds a request that is issued at `at`, in nanoseconds since the first one.
    #[inline]
    pub(super) fn add(&mut self, at: u64, bytes: u64, is_write: bool) {
        if let Some(last) = self.last {
            self.gaps.add(at - last, 1);
        }
        self.last = Some(at);
        self.requests += 1;
        self.wavelet.add(at);
        while self.resolution < RESOLUTIONS_NS.len() - 1 && !at.is_multiple_of(RESOLUTIONS_NS[self.resolution]) {
            self.resolution += 1;
        }
        if at - self.step_begin >= STEP_NS {
            self.close_step();
            self.step = at / STEP_NS;
            self.step_begin = self.step * STEP_NS;
        }
        self.count.add(Count { requests: 1, bytes, writes: u64::from(is_write) });
    }

    fn close_step(&mut self) {
        let count = std::mem::take(&mut self.count);
        self.push(0, self.step, count);
    }

    /// Adds the requests of a step of the windows of index `first`, and of wider ones as far as windows end.
    fn push(&mut self, first: usize, mut step: u64, mut count: Count) {
        for (index, (_, steps)) in WINDOWS.iter().enumerate().skip(first) {
            let scale = &mut self.scales[index];
            scale.slide(step, *steps, count);
            let window = step / steps;
            if window == scale.window {
                scale.count.add(count);
                return;
            }
            let closed = scale.close();
            scale.window = window;
            scale.count = count;
            if index == BURST_WINDOW {
                self.bursts.window(closed.0, closed.1);
            }
            (step, count) = closed;
        }
    }

    /// Slides all windows to the last request, without closing the incomplete ones.
    fn finish_windows(&mut self) {
        self.close_step();
        for index in 0..WINDOWS.len() - 1 {
            let (step, count) = (self.scales[index].window, self.scales[index].count);
            self.push(index + 1, step, count);
        }
        self.bursts.end();
    }

    pub(super) fn finish(mut self) -> ArrivalProfile {
        self.finish_windows();
        let duration_ns = self.last.unwrap_or(0);
        let per_s = |count: u64| (duration_ns > 0).then(|| count as f64 / (duration_ns as f64 / 1e9));
        let rate_per_s = per_s(self.requests.saturating_sub(1));
        // Narrower windows show how times were rounded.
        let resolution_ns = RESOLUTIONS_NS[self.resolution];
        let windows = WINDOWS.iter().zip(&self.scales);
        let windows = windows.filter(|((width, _), _)| (resolution_ns..=duration_ns).contains(width));
        let windows = windows.map(|((width_ns, _), scale)| {
            let mean = rate_per_s.unwrap_or(0.0) * *width_ns as f64 / 1e9;
            WindowProfile {
                width_ns: *width_ns,
                requests_max: scale.requests_max,
                bytes_max: scale.bytes_max,
                peak_to_mean: if mean > 0.0 { scale.requests_max as f64 / mean } else { 0.0 },
                index_of_dispersion: scale.index_of_dispersion(duration_ns / width_ns),
            }
        });
        let windows = windows.collect();
        ArrivalProfile {
            rate_per_s,
            gap_ns: self.gaps.distribution(),
            windows,
            hurst: self.wavelet.finish().filter(|hurst| hurst.scale_ns_min >= resolution_ns as f64),
            bursts: self
                .bursts
                .profile(self.requests, duration_ns)
                .filter(|_| WINDOWS[BURST_WINDOW].0 >= resolution_ns),
        }
    }
}

impl WindowScale {
    /// Returns the variance of the counts of complete windows over their mean; `None` for fewer than two windows.
    fn index_of_dispersion(&self, windows: u64) -> Option<f64> {
        if windows < 2 || self.sum == 0 {
            return None;
        }
        let windows = windows as f64;
        let mean = self.sum as f64 / windows;
        Some((self.squares / windows - mean * mean).max(0.0) * windows / (windows - 1.0) / mean)
    }
}

/// Finds intervals of high rates.
#[derive(Clone, Debug, Default)]
struct Bursts {
    /// Requests of all windows so far.
    requests: u64,
    current: Option<BurstWindows>,
    last_begin: Option<u64>,
    durations: WideHistogram,
    intervals: WideHistogram,
    requests_in: u64,
    bytes_in: u64,
    writes_in: u64,
}

#[derive(Clone, Copy, Debug)]
struct BurstWindows {
    first: u64,
    last: u64,
    count: Count,
}

impl Bursts {
    #[inline]
    fn window(&mut self, window: u64, count: Count) {
        let mean = self.requests as f64 / window.max(1) as f64;
        self.requests += count.requests;
        let least = (BURST_RATIO * mean).max(mean + BURST_DEVIATIONS * mean.sqrt() + BURST_REQUESTS);
        if window < BURST_WINDOWS_MIN || count.requests as f64 <= least {
            return;
        }
        match &mut self.current {
            Some(burst) if window - burst.last <= 1 + BURST_LULL => {
                burst.last = window;
                burst.count.add(count);
            }
            _ => {
                self.end();
                self.current = Some(BurstWindows { first: window, last: window, count });
            }
        }
    }

    fn end(&mut self) {
        let Some(burst) = self.current.take() else { return };
        let width_ns = WINDOWS[BURST_WINDOW].0;
        self.durations.add((burst.last - burst.first + 1) * width_ns, 1);
        if let Some(last) = self.last_begin {
            self.intervals.add((burst.first - last) * width_ns, 1);
        }
        self.last_begin = Some(burst.first);
        self.requests_in += burst.count.requests;
        self.bytes_in = self.bytes_in.saturating_add(burst.count.bytes);
        self.writes_in += burst.count.writes;
    }

    fn profile(&self, requests: u64, duration_ns: u64) -> Option<BurstProfile> {
        let duration_of_each = self.durations.distribution()?;
        let time = self.durations.sum() as f64;
        let requests_fraction = self.requests_in as f64 / requests.max(1) as f64;
        let time_fraction = time / duration_ns.max(1) as f64;
        Some(BurstProfile {
            bursts: self.durations.total(),
            duration_ns: duration_of_each,
            interval_ns: self.intervals.distribution(),
            requests_fraction,
            time_fraction,
            rate_to_mean: requests_fraction / time_fraction.max(f64::MIN_POSITIVE),
            bytes: self.bytes_in,
            writes_fraction: self.writes_in as f64 / self.requests_in.max(1) as f64,
        })
    }
}

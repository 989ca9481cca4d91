//! Requests over time, and the rate at which a limit serves them in time.

/// Numbers of requests in intervals of equal width.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadCurve {
    /// Width of the intervals in nanoseconds.
    pub width_ns: u64,
    /// Requests of each interval.
    pub requests: Vec<u32>,
}

impl LoadCurve {
    /// Returns the number of requests.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.requests.iter().map(|count| u64::from(*count)).sum()
    }

    /// Returns the duration in seconds.
    #[must_use]
    pub fn secs(&self) -> f64 {
        self.requests.len() as f64 * self.width_ns as f64 / 1e9
    }

    /// Returns the lowest rate, in requests per second, at which at most the fraction `late` of the requests waits
    /// longer than `wait_secs` in a queue with that rate. Requests of an interval count as evenly spread, so bursts
    /// within one are not seen.
    #[must_use]
    pub fn sufficient_rate(&self, wait_secs: f64, late: f64) -> f64 {
        let total = self.total();
        if total == 0 || self.width_ns == 0 {
            return 0.0;
        }
        let width_secs = self.width_ns as f64 / 1e9;
        let mut low = total as f64 / self.secs();
        let mut high = self.requests.iter().map(|count| f64::from(*count)).fold(0.0, f64::max) / width_secs;
        let allowed = late * total as f64;
        // Below the mean rate the queue grows, but few requests may be late in a short trace.
        if self.late_requests(low, wait_secs) <= allowed {
            return low;
        }
        while high > low * 1.002 {
            let middle = low.midpoint(high);
            if self.late_requests(middle, wait_secs) <= allowed { high = middle } else { low = middle }
        }
        high
    }

    /// Returns how many requests wait longer than `wait_secs` for a limit of `rate`.
    fn late_requests(&self, rate: f64, wait_secs: f64) -> f64 {
        let served = rate * self.width_ns as f64 / 1e9;
        let bearable = rate * wait_secs;
        let (mut backlog, mut late) = (0.0_f64, 0.0);
        for count in &self.requests {
            let count = f64::from(*count);
            backlog = (backlog + count - served).max(0.0);
            if backlog > bearable {
                late += count;
            }
        }
        late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_load_needs_its_rate_and_bursts_need_more() {
        let steady = LoadCurve { width_ns: 10_000_000, requests: vec![100; 1_000] };
        assert!((steady.sufficient_rate(0.001, 0.01) / 10_000.0 - 1.0).abs() < 0.01);
        // A tenth of the time has twice the mean of the rest.
        let mut bursts = steady.clone();
        bursts.requests.iter_mut().step_by(10).for_each(|count| *count = 1_000);
        let exact = bursts.sufficient_rate(0.0, 0.0);
        assert!((exact / 100_000.0 - 1.0).abs() < 0.01, "{exact}");
        let patient = bursts.sufficient_rate(0.05, 0.0);
        assert!((19_000.0..25_000.0).contains(&patient), "{patient}");
        // If the requests of bursts may be late, a rate that ends their backlog before half of the others is enough.
        let half = bursts.sufficient_rate(0.0, 0.53 + 0.47 / 2.0);
        assert!(half > 19_000.0 && half < 0.4 * exact, "{half}");
    }

    #[test]
    fn an_empty_curve_needs_nothing() {
        assert_eq!(LoadCurve::default().sufficient_rate(0.0, 0.0), 0.0);
        assert_eq!(LoadCurve { width_ns: 1, requests: vec![0; 3] }.sufficient_rate(0.0, 0.0), 0.0);
    }
}

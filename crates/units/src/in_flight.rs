//! Little's law in whole requests.

/// Returns how many requests must be in flight for a mean number (rate × latency): the next whole number, and at least one.
/// What three significant figures do not show is inexact anyway, so 16.04 are 16; from 100 on every one counts.
#[must_use]
pub fn requests_in_flight(mean: f64) -> u64 {
    let shown = if mean < 100.0 { super::significant(mean, 3).parse().unwrap_or(mean) } else { mean - 1e-3 };
    shown.ceil().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::requests_in_flight;

    #[test]
    fn a_mean_is_rounded_up_to_what_is_shown() {
        let cases = [(0.0, 1), (0.2, 1), (9.5, 10), (16.0, 16), (16.04, 16), (16.06, 17), (99.96, 100)];
        for (mean, requests) in
            cases.into_iter().chain([(209.6, 210), (210.0, 210), (209.2, 210), (1e9, 1_000_000_000)])
        {
            assert_eq!(requests_in_flight(mean), requests, "{mean}");
        }
    }
}

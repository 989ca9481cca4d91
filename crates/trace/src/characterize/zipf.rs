//! The zipf distribution that has the same probability of two equal draws and the same number of distinct units.
//!
//! Ranks by observed count are biased: among equally likely units some are drawn more often by chance. The probability
//! that two draws are of the same unit needs no ranks, and its estimate from counts is unbiased.

/// Ranks that are summed one by one; the others in groups.
const RANKS_SINGLE: usize = 64;
/// Growth of the groups of ranks.
const GROUP_GROWTH: f64 = 1.1;
/// Greatest exponent.
const THETA_MAX: f64 = 4.0;
/// Greatest number of units, as a multiple of the distinct ones: most of a steep distribution's units are never drawn.
const UNITS_MAX: f64 = 64.0;
/// Least number of draws and of distinct units for a fit.
const DRAWS_MIN: f64 = 1000.0;
const DISTINCT_MIN: f64 = 10.0;

/// Groups of ranks of a zipf distribution: number of ranks and the probability of each.
fn groups(theta: f64, units: f64) -> Vec<(f64, f64)> {
    let single = (units.floor() as usize).clamp(1, RANKS_SINGLE);
    let mut groups: Vec<(f64, f64)> = (1..=single).map(|rank| (1.0, (rank as f64).powf(-theta))).collect();
    let mut first = single as f64 + 0.5;
    let end = units + 0.5;
    while first < end {
        let last = (first * GROUP_GROWTH).min(end);
        let count = last - first;
        // The mean of rank^-theta over the group: its integral.
        let sum = if (theta - 1.0).abs() < 1e-6 {
            (last / first).ln()
        } else {
            (last.powf(1.0 - theta) - first.powf(1.0 - theta)) / (1.0 - theta)
        };
        groups.push((count, sum / count));
        first = last;
    }
    let all: f64 = groups.iter().map(|(count, part)| count * part).sum();
    groups.iter_mut().for_each(|(_, part)| *part /= all);
    groups
}

/// Returns the expected number of distinct units in some draws.
fn distinct(theta: f64, units: f64, draws: f64) -> f64 {
    groups(theta, units).iter().map(|(count, part)| -count * (-draws * part).exp_m1()).sum()
}

/// Returns the probability that two draws are equal.
fn collision(theta: f64, units: f64) -> f64 {
    groups(theta, units).iter().map(|(count, part)| count * part * part).sum()
}

/// Returns the middle of an interval in which a rising function reaches a value.
fn solve(mut low: f64, mut high: f64, wanted: f64, of: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if of(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Returns the exponent and the number of units; `None` with too few draws.
pub(super) fn fit(draws: f64, distinct_units: f64, collision_found: f64) -> Option<(f64, f64)> {
    if !(draws >= DRAWS_MIN && distinct_units >= DISTINCT_MIN && collision_found.is_finite()) {
        return None;
    }
    let (mut theta, mut units) = (0.0, distinct_units);
    for _ in 0..12 {
        theta = solve(0.0, THETA_MAX, collision_found, |theta| collision(theta, units));
        let log = solve(distinct_units.ln(), (distinct_units * UNITS_MAX).ln(), distinct_units, |log| {
            distinct(theta, log.exp(), draws)
        });
        let before = std::mem::replace(&mut units, log.exp());
        if (units / before - 1.0).abs() < 1e-4 {
            break;
        }
    }
    Some((theta, units))
}

/// Returns the expected counts of units with their numbers, the greatest count first, without units that are not drawn.
pub(super) fn expected_counts(theta: f64, units: f64, draws: f64) -> Vec<(f64, f64)> {
    /// Above this mean, the Poisson distribution of counts is taken as its mean.
    const MEAN_MAX: f64 = 100.0;
    let mut few = vec![0.0; 200];
    let mut counts = Vec::new();
    for (count, part) in groups(theta, units) {
        let mean = draws * part;
        if mean > MEAN_MAX {
            counts.push((mean, count));
            continue;
        }
        let mut probability = (-mean).exp();
        for (times, number) in few.iter_mut().enumerate() {
            *number += count * probability;
            probability *= mean / (times + 1) as f64;
        }
    }
    counts.extend(few.into_iter().enumerate().skip(1).map(|(times, number)| (times as f64, number)));
    counts.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_returns_the_parameters_of_the_moments() {
        for (theta, units, draws) in [(0.0, 5e4, 1e6), (0.6, 1e5, 1e6), (0.99, 1e6, 1e7), (1.2, 1e5, 1e7)] {
            let found = fit(draws, distinct(theta, units, draws), collision(theta, units)).unwrap();
            assert!((found.0 - theta).abs() < 0.01, "{theta}: {found:?}");
            assert!((found.1 / units - 1.0).abs() < 0.05, "{units}: {found:?}");
        }
        assert_eq!(fit(10.0, 10.0, 0.1), None);
    }

    #[test]
    fn expected_counts_add_up_to_the_draws() {
        let counts = expected_counts(0.9, 1e5, 1e6);
        let sum: f64 = counts.iter().map(|(times, number)| times * number).sum();
        assert!((sum / 1e6 - 1.0).abs() < 1e-6, "{sum}");
    }
}

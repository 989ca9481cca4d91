//! The lowest value at which something succeeds.

/// Bisects the values between two bounds for the lowest at which `find` succeeds, and returns its result.
pub(crate) fn bisect<T>(mut low: u64, mut high: u64, mut find: impl FnMut(u64) -> Option<T>) -> Option<T> {
    let mut lowest = None;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match find(middle) {
            Some(found) => (high, lowest) = (middle, Some(found)),
            None => low = middle,
        }
    }
    lowest
}

/// Returns the result of `find` for the lowest value above `low` at which it succeeds, as [`bisect`], which it equals
/// without a value `near` it. Otherwise it begins there and takes growing steps, so that few values are tried. The value
/// is at most the fraction `resolution` above the lowest one.
pub(crate) fn lowest<T>(
    mut low: u64,
    high: u64,
    near: Option<u64>,
    resolution: f64,
    mut find: impl FnMut(u64) -> Option<T>,
) -> Option<T> {
    let Some(near) = near else { return bisect(low, high, find) };
    if high <= low + 1 {
        return None;
    }
    let mut at = near.clamp(low + 1, high - 1);
    let mut step = (at / 50).max(1);
    let mut passed: Option<(u64, T)> = None;
    let mut goes_up = false;
    loop {
        match find(at) {
            Some(found) => {
                passed = Some((at, found));
                if goes_up || at == low + 1 {
                    break;
                }
                at = at.saturating_sub(step).max(low + 1);
            }
            None => {
                low = at;
                if passed.is_some() || at == high - 1 {
                    break;
                }
                goes_up = true;
                at = at.saturating_add(step).min(high - 1);
            }
        }
        step = step.saturating_mul(3);
    }
    let (mut best, mut found) = passed?;
    while best - low > 1.max((best as f64 * resolution) as u64) {
        let middle = low + (best - low) / 2;
        match find(middle) {
            Some(better) => (best, found) = (middle, better),
            None => low = middle,
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_value_is_found_from_anywhere() {
        for threshold in [1_u64, 2, 17, 999, 1_000] {
            for near in [None, Some(0), Some(1), Some(16), Some(400), Some(998), Some(5_000)] {
                let mut tried = 0;
                let found = lowest(0, 1_000, near, 0.0, |value| {
                    tried += 1;
                    (value >= threshold).then_some(value)
                });
                assert_eq!(found, (threshold < 1_000).then_some(threshold), "{threshold} from {near:?}");
                assert!(tried <= 24, "{tried} values for {threshold} from {near:?}");
            }
        }
    }

    #[test]
    fn few_values_are_tried_near_the_answer() {
        let (mut failed, mut passed) = (0, 0);
        let found = lowest(3_000, 160_000, Some(20_000), 0.005, |value| {
            let enough = value >= 20_300;
            if enough {
                passed += 1;
            } else {
                failed += 1;
            }
            enough.then_some(value)
        });
        let found = found.unwrap();
        assert!((20_300..=20_402).contains(&found), "{found}");
        assert!(passed <= 3 && failed <= 3, "{passed} and {failed}");
    }
}

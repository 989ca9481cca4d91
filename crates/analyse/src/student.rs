//! Student's distribution.

/// Degrees of freedom from which the expansion is exact to four figures.
const MANY: f64 = 20.0;

/// Returns the 97.5 % quantile of Student's distribution with `free` degrees of freedom, at least one.
pub(crate) fn student(free: f64) -> f64 {
    let free = free.max(1.0);
    if free < MANY { by_integration(free) } else { by_expansion(free) }
}

/// The Cornish-Fisher expansion about the normal quantile.
fn by_expansion(v: f64) -> f64 {
    let z: f64 = 1.959_964;
    let terms = [
        z,
        (z.powi(3) + z) / (4.0 * v),
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v * v),
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * v.powi(3)),
    ];
    terms.iter().sum()
}

/// Numerical integration. With `t = √v tan θ` the density is that of `cos^(v-1) θ`, which is smooth on a bounded
/// interval; the quantile is where 95 % of one side are reached.
fn by_integration(v: f64) -> f64 {
    const STEPS: usize = 1000;
    let width = std::f64::consts::FRAC_PI_2 / STEPS as f64;
    let density = |step: f64| (step * width).cos().max(0.0).powf(v - 1.0);
    // Simpson's rule for each step.
    let area = |step: usize| {
        let from = step as f64;
        (density(from) + 4.0 * density(from + 0.5) + density(from + 1.0)) / 6.0
    };
    let wanted = 0.95 * (0..STEPS).map(area).sum::<f64>();
    let (mut step, mut passed) = (0, 0.0);
    while passed + area(step) < wanted {
        passed += area(step);
        step += 1;
    }
    let angle = (step as f64 + (wanted - passed) / area(step)) * width;
    v.sqrt() * angle.tan()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_the_tables() {
        let table = [
            (1.0, 12.7062),
            (2.0, 4.302_65),
            (3.0, 3.182_45),
            (5.0, 2.570_58),
            (10.0, 2.228_14),
            (20.0, 2.085_96),
            (30.0, 2.042_27),
            (1e9, 1.959_96),
        ];
        for (free, quantile) in table {
            assert!((student(free) / quantile - 1.0).abs() < 5e-5, "{free}: {}", student(free));
        }
        assert_eq!(student(f64::NAN), student(1.0));
        assert!((by_integration(MANY) - by_expansion(MANY)).abs() < 1e-4);
    }
}

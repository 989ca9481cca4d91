//! The smooth minimum of two lines, and its least-squares fit.

/// A measured point in logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurveSample {
    pub(super) ln_depth: f64,
    pub(super) ln_iops: f64,
    /// Standard error of `ln_iops`.
    pub(super) error: f64,
}

/// `X(N) = ((N / R0)^-m + Xmax^-m)^(-1/m)`, in logarithms; `R0` in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Smooth {
    pub(super) ln_r0: f64,
    pub(super) ln_xmax: f64,
    pub(super) ln_m: f64,
}

/// Bounds of the sharpness. Beyond the upper one the corner looks perfectly sharp to any measurement.
const SHARPNESS: (f64, f64) = (0.2, 60.0);
/// Start values of the search for the sharpness.
const STARTS: [f64; 4] = [1.5, 4.0, 15.0, 60.0];

impl Smooth {
    pub(super) fn ln_iops(self, ln_depth: f64) -> f64 {
        let (rising, flat) = (ln_depth - self.ln_r0, self.ln_xmax);
        let m = self.ln_m.exp();
        rising.min(flat) - (-m * (rising - flat).abs()).exp().ln_1p() / m
    }

    /// Returns the partial derivatives by `ln_r0`, `ln_xmax` and `ln_m`.
    fn gradient(self, ln_depth: f64) -> [f64; 3] {
        let (rising, flat) = (ln_depth - self.ln_r0, self.ln_xmax);
        let m = self.ln_m.exp();
        let weight = 1.0 / (1.0 + (m * (rising - flat)).exp());
        let by_m = rising * weight + flat * (1.0 - weight) - self.ln_iops(ln_depth);
        [-weight, 1.0 - weight, by_m]
    }

    /// Returns the sum of squared residuals, each in units of its standard error.
    pub(super) fn chi_squared(self, samples: &[CurveSample]) -> f64 {
        samples.iter().map(|s| ((s.ln_iops - self.ln_iops(s.ln_depth)) / s.error).powi(2)).sum()
    }

    fn stepped(self, step: [f64; 3]) -> Self {
        let (least, most) = (SHARPNESS.0.ln(), SHARPNESS.1.ln());
        Self {
            ln_r0: self.ln_r0 + step[0],
            ln_xmax: self.ln_xmax + step[1],
            ln_m: (self.ln_m + step[2]).clamp(least, most),
        }
    }

    /// Fits the curve from several start values of the sharpness, because the corner may lie between two points.
    pub(super) fn best(samples: &[CurveSample]) -> Self {
        let (ln_r0, ln_xmax) = bounds(samples);
        let from = |m: f64| Self { ln_r0, ln_xmax, ln_m: m.ln() }.descend(samples);
        let better = |a: Self, b: Self| if b.chi_squared(samples) < a.chi_squared(samples) { b } else { a };
        STARTS[1..].iter().map(|&m| from(m)).fold(from(STARTS[0]), better)
    }

    /// Minimizes chi squared from here (Levenberg-Marquardt).
    pub(super) fn descend(self, samples: &[CurveSample]) -> Self {
        let (ln_r0, ln_xmax) = bounds(samples);
        // The asymptotes stay plausible, even if the samples do not determine them.
        let plausible = |curve: Self| Self {
            ln_r0: curve.ln_r0.clamp(ln_r0 - BEYOND, ln_r0 + BEYOND),
            ln_xmax: curve.ln_xmax.clamp(ln_xmax - BEYOND, ln_xmax + BEYOND),
            ..curve
        };
        let (mut here, mut damping) = (self, 1e-3);
        let mut chi = here.chi_squared(samples);
        for _ in 0..60 {
            let (normal, right) = here.normal_equations(samples);
            let Some(step) = solve(normal, right, damping) else { break };
            let there = plausible(here.stepped(step));
            let found = there.chi_squared(samples);
            if found < chi {
                let converged = chi - found < 1e-9 * chi.max(1e-9);
                (here, chi, damping) = (there, found, damping / 8.0);
                if converged {
                    break;
                }
            } else {
                damping *= 8.0;
                if damping > 1e9 {
                    break;
                }
            }
        }
        here
    }

    fn normal_equations(self, samples: &[CurveSample]) -> ([[f64; 3]; 3], [f64; 3]) {
        let (mut normal, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
        for sample in samples {
            let gradient = self.gradient(sample.ln_depth);
            let weight = sample.error.powi(-2);
            let residual = sample.ln_iops - self.ln_iops(sample.ln_depth);
            for row in 0..3 {
                right[row] += weight * gradient[row] * residual;
                for column in 0..3 {
                    normal[row][column] += weight * gradient[row] * gradient[column];
                }
            }
        }
        (normal, right)
    }
}

/// Returns the tightest asymptotes that no sample exceeds.
fn bounds(samples: &[CurveSample]) -> (f64, f64) {
    let ln_r0 = samples.iter().map(|s| s.ln_depth - s.ln_iops).fold(f64::INFINITY, f64::min);
    let ln_xmax = samples.iter().map(|s| s.ln_iops).fold(f64::NEG_INFINITY, f64::max);
    (ln_r0, ln_xmax)
}

/// Maximum distance of fitted asymptotes from those bounds, in logarithms: a factor of 20.
const BEYOND: f64 = 3.0;

/// Solves three equations whose diagonal is raised by a fraction; `None` if they are singular.
fn solve(mut a: [[f64; 3]; 3], mut b: [f64; 3], damping: f64) -> Option<[f64; 3]> {
    for (index, row) in a.iter_mut().enumerate() {
        row[index] += damping * row[index] + 1e-12;
    }
    for pivot in 0..3 {
        let best = (pivot..3).max_by(|&i, &j| a[i][pivot].abs().total_cmp(&a[j][pivot].abs()))?;
        a.swap(pivot, best);
        b.swap(pivot, best);
        let (lead, lead_right) = (a[pivot], b[pivot]);
        if lead[pivot].abs() < 1e-300 {
            return None;
        }
        for (row, right) in a.iter_mut().zip(&mut b).skip(pivot + 1) {
            let factor = row[pivot] / lead[pivot];
            row.iter_mut().zip(lead).for_each(|(cell, above)| *cell -= factor * above);
            *right -= factor * lead_right;
        }
    }
    let mut x = [0.0; 3];
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3).map(|column| a[row][column] * x[column]).sum();
        x[row] = (b[row] - known) / a[row][row];
    }
    x.iter().all(|value| value.is_finite()).then_some(x)
}

/// `X = a × N^b` in logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Power {
    pub(super) ln_scale: f64,
    pub(super) exponent: f64,
    pub(super) exponent_error: f64,
}

impl Power {
    pub(super) fn ln_iops(self, ln_depth: f64) -> f64 {
        self.ln_scale + self.exponent * ln_depth
    }

    /// Fits a straight line in logarithms with equal weights, to see whether all samples lie on it.
    pub(super) fn best(samples: &[CurveSample]) -> Self {
        let n = samples.len() as f64;
        let mean = |of: &dyn Fn(&CurveSample) -> f64| samples.iter().map(of).sum::<f64>() / n;
        let (mean_x, mean_y) = (mean(&|s| s.ln_depth), mean(&|s| s.ln_iops));
        let spread: f64 = samples.iter().map(|s| (s.ln_depth - mean_x).powi(2)).sum();
        let covariance: f64 = samples.iter().map(|s| (s.ln_depth - mean_x) * (s.ln_iops - mean_y)).sum();
        let exponent = covariance / spread.max(1e-12);
        let mut line = Self { ln_scale: mean_y - exponent * mean_x, exponent, exponent_error: 0.0 };
        let squares = squared_residuals(samples, |ln_depth| line.ln_iops(ln_depth));
        line.exponent_error = (squares / (n - 2.0).max(1.0) / spread.max(1e-12)).sqrt();
        line
    }
}

/// Returns the sum of squared residuals from a curve.
fn squared_residuals(samples: &[CurveSample], ln_iops: impl Fn(f64) -> f64) -> f64 {
    samples.iter().map(|s| (s.ln_iops - ln_iops(s.ln_depth)).powi(2)).sum()
}

/// Returns the root mean square of the residuals from a curve.
pub(super) fn rms(samples: &[CurveSample], ln_iops: impl Fn(f64) -> f64) -> f64 {
    (squared_residuals(samples, ln_iops) / samples.len().max(1) as f64).sqrt()
}

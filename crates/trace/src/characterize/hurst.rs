//! Long-range dependence of counts, by the wavelet method.
//!
//! Abry and Veitch, "Wavelet analysis of long-range-dependent traffic", IEEE Transactions on Information Theory 44(1),
//! 1998: the energy of the detail coefficients at octave j grows as `2^(j (2H - 1))`. The wavelet is Haar's, which
//! needs no memory of the past but does not cancel linear trends.

use super::profile::HurstEstimate;

/// Binary logarithm of the width of the narrowest windows in nanoseconds: 131 µs.
const BASE_BITS: u32 = 17;
/// Number of octaves: more than 64-bit instants have.
const OCTAVES: usize = 47;
/// Least number of coefficients of an octave that is used.
const COEFFICIENTS_MIN: u64 = 8;
/// Least number of octaves of a fit.
const OCTAVES_MIN: usize = 4;
/// Greatest weighted sum of squared residuals per degree of freedom of a good fit.
const GOOD_FIT: f64 = 1.5;
/// Number of octaves by which the start of the fit is moved to find how much the exponent depends on it.
const MOVED: usize = 2;

/// Two halves of one window of the next octave.
#[derive(Clone, Copy, Debug, Default)]
struct Octave {
    parent: u64,
    halves: [u64; 2],
    /// Sums of the squares and fourth powers of the coefficients.
    squares: f64,
    fourths: f64,
}

/// Energies of the detail coefficients per octave, in one pass.
#[derive(Clone, Debug)]
pub(super) struct WaveletCascade {
    window: u64,
    count: u64,
    octaves: [Octave; OCTAVES],
}

impl Default for WaveletCascade {
    fn default() -> Self {
        Self { window: 0, count: 0, octaves: [Octave::default(); OCTAVES] }
    }
}

/// Logarithm of the energy of an octave, with its variance.
#[derive(Clone, Copy, Debug)]
struct Energy {
    octave: f64,
    log2: f64,
    variance: f64,
}

impl WaveletCascade {
    /// Counts an arrival; instants do not decrease.
    #[inline]
    pub(super) fn add(&mut self, at: u64) {
        let window = at >> BASE_BITS;
        if window != self.window {
            self.close(window);
        }
        self.count += 1;
    }

    fn close(&mut self, next: u64) {
        let (window, count) = (self.window, self.count);
        (self.window, self.count) = (next, 0);
        self.push(0, window, count);
    }

    /// Adds the count of a window to the octaves from `first` on.
    fn push(&mut self, first: usize, mut window: u64, mut count: u64) {
        for octave in &mut self.octaves[first..] {
            let parent = window >> 1;
            let side = (window & 1) as usize;
            if parent == octave.parent {
                octave.halves[side] += count;
                return;
            }
            let carried = (octave.parent, octave.halves[0] + octave.halves[1]);
            octave.end();
            octave.parent = parent;
            octave.halves[side] = count;
            (window, count) = carried;
        }
    }

    /// Ends the windows that are complete although no later request has closed them.
    fn settle(&mut self) {
        for index in 0..OCTAVES - 1 {
            let octave = &mut self.octaves[index];
            if octave.parent < self.window >> (index + 1) {
                let (window, count) = (octave.parent, octave.halves[0] + octave.halves[1]);
                octave.end();
                self.push(index + 1, window, count);
            }
        }
    }

    /// Estimates the Hurst exponent; `None` if there are too few windows or counts do not vary.
    pub(super) fn finish(mut self) -> Option<HurstEstimate> {
        let windows = self.window;
        self.settle();
        let mut energies = Vec::new();
        for (index, octave) in self.octaves.iter().enumerate() {
            let coefficients = windows >> (index + 1);
            if coefficients < COEFFICIENTS_MIN || octave.squares <= 0.0 {
                break;
            }
            energies.push(octave.energy(index, coefficients as f64));
        }
        let fits = (0..energies.len().saturating_sub(OCTAVES_MIN - 1)).map(|from| fit(&energies[from..]));
        let fits: Vec<HurstEstimate> = fits.flatten().collect();
        // The finest octaves have the structure of the device and not of the load: the fit begins where it becomes good.
        let least = || (0..fits.len()).min_by(|a, b| fits[*a].residual.total_cmp(&fits[*b].residual));
        let start = fits.iter().position(|fit| fit.residual <= GOOD_FIT).or_else(least)?;
        // Counts of a stationary load have an exponent between 0 and 1; a single burst, for example, has none.
        let fit = Some(fits[start]).filter(|fit| fit.exponent > 0.0 && fit.exponent < 1.0)?;
        let moved = fits[(start + MOVED).min(fits.len() - 1)].exponent - fit.exponent;
        Some(HurstEstimate { standard_error: fit.standard_error.hypot(moved / 2.0), ..fit })
    }
}

impl Octave {
    #[inline]
    fn end(&mut self) {
        let difference = self.halves[0] as f64 - self.halves[1] as f64;
        let square = difference * difference;
        self.squares += square;
        self.fourths += square * square;
        self.halves = [0; 2];
    }

    fn energy(&self, index: usize, coefficients: f64) -> Energy {
        // The energy of the normalized Haar coefficient of octave j is the squared difference over 2^j.
        let octave = (index + 1) as f64;
        let mean = self.squares / coefficients;
        // Of chi-square variables: Abry and Veitch, section IV; the logarithm of a mean is biased by -1 / n ln 2.
        let bias = -1.0 / (coefficients * std::f64::consts::LN_2);
        let spread = (self.fourths / coefficients / (mean * mean) - 1.0).max(2.0);
        Energy {
            octave,
            log2: mean.log2() - octave - bias,
            variance: spread / coefficients / (std::f64::consts::LN_2 * std::f64::consts::LN_2),
        }
    }
}

/// Fits a line by weighted least squares.
fn fit(energies: &[Energy]) -> Option<HurstEstimate> {
    let sum = |of: &dyn Fn(&Energy) -> f64| energies.iter().map(|energy| of(energy) / energy.variance).sum::<f64>();
    let (s, sx, sxx) = (sum(&|_| 1.0), sum(&|e| e.octave), sum(&|e| e.octave * e.octave));
    let (sy, sxy) = (sum(&|e| e.log2), sum(&|e| e.octave * e.log2));
    let determinant = s * sxx - sx * sx;
    if !(determinant > 0.0 && determinant.is_finite()) {
        return None;
    }
    let slope = (s * sxy - sx * sy) / determinant;
    let intercept = (sy - slope * sx) / s;
    let residual = sum(&|e| (e.log2 - intercept - slope * e.octave).powi(2)) / (energies.len() - 2) as f64;
    let width = |energy: &Energy| 2f64.powf(energy.octave + f64::from(BASE_BITS));
    let exponent = f64::midpoint(slope, 1.0);
    exponent.is_finite().then(|| HurstEstimate {
        exponent,
        standard_error: (s / determinant).sqrt() / 2.0 * residual.max(1.0).sqrt(),
        residual,
        scale_ns_min: width(&energies[0]),
        scale_ns_max: width(&energies[energies.len() - 1]),
    })
}

//! Axes of charts: a scale with labelled ticks.

use super::scale::{Scale, round_step};

/// A scale with labelled ticks and a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) scale: Scale,
    /// Values and labels of the ticks.
    pub(crate) ticks: Vec<(f64, String)>,
    /// Name; empty if the labels are sufficient.
    pub(crate) name: String,
}

/// Distances in seconds between ticks on an axis of time.
const STEPS_S: [f64; 24] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0,
    1_200.0, 1_800.0, 3_600.0, 7_200.0, 14_400.0,
];
/// Maximum number of tick distances on an axis of time; the fraction allows for a rest after the last tick.
const TIME_STEPS: f64 = 6.3;
/// Position of the median on an axis of nines.
const MEDIAN: f64 = std::f64::consts::LOG10_2;

impl Axis {
    /// Returns an axis with about `most` ticks at round values.
    pub(crate) fn new(scale: Scale, most: usize, label: impl Fn(f64) -> String) -> Self {
        let ticks = scale.ticks(most).into_iter().map(|value| (value, label(value))).collect();
        Self { scale, ticks, name: String::new() }
    }

    pub(crate) fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Replaces the labels of the ticks above zero.
    pub(crate) fn relabelled(self, label: impl Fn(f64) -> String) -> Self {
        let ticks = self.ticks.into_iter();
        let ticks = ticks.map(|(value, zero)| (value, if value == 0.0 { zero } else { label(value) })).collect();
        Self { ticks, ..self }
    }

    /// Returns a linear axis from zero to a round multiple of `unit` that is at least `most`.
    pub(crate) fn from_zero(most: f64, unit: f64, label: impl Fn(f64) -> String) -> Self {
        let step = round_step(most / unit / 4.0) * unit;
        let top = if most > 0.0 { (most / step - 1e-6).ceil() * step } else { unit };
        let scale = Scale::linear(0.0, top);
        let label = |value: f64| if value == 0.0 { "0".to_owned() } else { label(value) };
        Self {
            scale,
            ticks: scale.steps(step).into_iter().map(|value| (value, label(value))).collect(),
            name: String::new(),
        }
    }

    /// Returns an axis of bytes per second from zero, with ticks at round numbers of a binary unit.
    pub(crate) fn bytes_from_zero(most: f64) -> Self {
        Self::from_zero(most, unit_of_bytes(most), bytes_per_second)
    }

    /// Returns an axis of time from zero to `end_ns`.
    pub(crate) fn time_to(end_ns: f64) -> Self {
        let end_s = end_ns.max(1.0) / 1e9;
        let fitting = STEPS_S.into_iter().find(|step| end_s / step <= TIME_STEPS);
        let step = fitting.unwrap_or_else(|| round_step(end_s / TIME_STEPS / 3_600.0) * 3_600.0);
        // All labels use the unit of the step: 20 s, 40 s, 60 s rather than 1 min.
        let unit =
            [(3_600.0, "h"), (60.0, "min"), (1.0, "s")].into_iter().find(|(unit, _)| step >= *unit || *unit <= 1.0);
        let (unit, name) = unit.filter(|_| end_s >= 1.0).unwrap_or((1e-3, "ms"));
        let scale = Scale::linear(0.0, end_ns.max(1.0));
        let label = |ns: f64| format!("{} {name}", (ns / 1e9 / unit * 1e6).round() / 1e6);
        Self {
            scale,
            ticks: scale.steps(step * 1e9).into_iter().map(|ns| (ns, label(ns))).collect(),
            name: String::new(),
        }
    }

    /// Returns an axis of percentiles by their nines, 90 % at 1 and 99 % at 2, which spreads out the slowest
    /// operations.
    pub(crate) fn nines_to(most: f64) -> Self {
        let most = most.clamp(1.0, 12.0);
        let every = if most > 6.0 { 2 } else { 1 };
        let mut ticks = vec![(MEDIAN, "50%".to_owned())];
        ticks.extend((1..=most.floor() as usize).step_by(every).map(|nines| (nines as f64, share_of(nines))));
        Self { scale: Scale::linear(0.0, most), ticks, name: String::new() }
    }
}

/// Formats a number of nines: `90%`, `99%`, `99.9%`.
fn share_of(nines: usize) -> String {
    match nines {
        1 => "90%".to_owned(),
        2 => "99%".to_owned(),
        more => format!("99.{}%", "9".repeat(more - 2)),
    }
}

const TIMES: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
const COUNTS: [(f64, &str); 4] = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
const SIZES: [(f64, &str); 4] = [(1_073_741_824.0, "GiB/s"), (1_048_576.0, "MiB/s"), (1024.0, "KiB/s"), (1.0, "B/s")];
const SPANS: [(f64, &str); 3] = [(3_600e9, "h"), (60e9, "min"), (1e9, "s")];

/// Returns the value in the largest unit that does not exceed it, and the unit.
fn scaled(value: f64, units: &[(f64, &'static str)]) -> (String, &'static str) {
    let fitting = units.iter().find(|(unit, _)| value.abs() >= unit * 0.9995).or(units.last());
    let (unit, name) = fitting.copied().unwrap_or((1.0, ""));
    (plain(value / unit), name)
}

/// Formats up to three significant digits, without trailing zeros.
fn plain(value: f64) -> String {
    let text = units::significant(value, 3);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn spaced((number, unit): (String, &str)) -> String {
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

/// Formats a latency: `1.3 ms`, `20 µs`.
pub(crate) fn time(ns: f64) -> String {
    spaced(scaled(ns, &TIMES))
}

/// Formats a latency in few ASCII characters: `1.3ms`, `20us`.
pub(crate) fn short_time(ns: f64) -> String {
    let (number, unit) = scaled(ns, &TIMES);
    format!("{number}{}", unit.replace('µ', "u"))
}

/// Formats a count: `160k`, `5`.
pub(crate) fn short_count(value: f64) -> String {
    let (number, unit) = scaled(value, &COUNTS);
    format!("{number}{unit}")
}

/// Formats a throughput: `200 MiB/s`.
pub(crate) fn bytes_per_second(value: f64) -> String {
    spaced(scaled(value, &SIZES))
}

/// Formats the time since a start: `30 s`, `5 min`, `2 h`.
pub(crate) fn elapsed(ns: f64) -> String {
    if ns > 0.0 && ns < 0.9995e9 { time(ns) } else { spaced(scaled(ns, &SPANS)) }
}

/// Formats a fraction as a percentage: `25%`, `0.4%`.
pub(crate) fn share(value: f64) -> String {
    format!("{}%", plain(value * 100.0))
}

/// Returns the binary unit in which values up to `most` are labelled.
fn unit_of_bytes(most: f64) -> f64 {
    SIZES.iter().find(|(unit, _)| most >= *unit).map_or(1.0, |(unit, _)| *unit)
}

#[cfg(test)]
mod tests {
    use super::super::nines;
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn axes_from_zero_end_at_a_tick_above_the_greatest_value() {
        let axis = Axis::from_zero(24_100.0, 1.0, short_count);
        assert_eq!((labels(&axis), axis.scale.high), (vec!["0", "10k", "20k", "30k"], 30_000.0));
        let bytes = Axis::bytes_from_zero(98.7e6);
        assert_eq!(labels(&bytes), ["0", "50 MiB/s", "100 MiB/s"]);
        assert_eq!(Axis::from_zero(0.0, 1.0, short_count).scale.high, 1.0);
    }

    #[test]
    fn time_ticks_are_at_round_times_in_one_unit() {
        assert_eq!(labels(&Axis::time_to(3e9)), ["0 s", "0.5 s", "1 s", "1.5 s", "2 s", "2.5 s", "3 s"]);
        assert_eq!(labels(&Axis::time_to(36_000e9)), ["0 h", "2 h", "4 h", "6 h", "8 h", "10 h"]);
        assert_eq!(labels(&Axis::time_to(300e9)), ["0 min", "1 min", "2 min", "3 min", "4 min", "5 min"]);
        assert_eq!(labels(&Axis::time_to(120.4e9)), ["0 s", "20 s", "40 s", "60 s", "80 s", "100 s", "120 s"]);
        assert_eq!(labels(&Axis::time_to(2e7)), ["0 ms", "5 ms", "10 ms", "15 ms", "20 ms"]);
        assert!(Axis::time_to(1e16).ticks.len() < 8);
    }

    #[test]
    fn nines_are_evenly_spaced() {
        assert_eq!(labels(&Axis::nines_to(4.2)), ["50%", "90%", "99%", "99.9%", "99.99%"]);
        assert_eq!(labels(&Axis::nines_to(7.0)), ["50%", "90%", "99.9%", "99.999%", "99.99999%"]);
        assert!((nines(0.999) - 3.0).abs() < 1e-9 && nines(0.0) == 0.0 && nines(1.0).is_finite());
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([20e3, 1.3e6, 500.0, 2e9].map(short_time), ["20us", "1.3ms", "500ns", "2s"]);
        assert_eq!([20e3, 1.3e6, 0.0].map(time), ["20 µs", "1.3 ms", "0 ns"]);
        assert_eq!([5.0, 160e3, 2e6, 999.9].map(short_count), ["5", "160k", "2M", "1k"]);
        assert_eq!([0.0, 1_048_576.0, 314_572_800.0].map(bytes_per_second), ["0 B/s", "1 MiB/s", "300 MiB/s"]);
        assert_eq!([0.0, 30e9, 300e9, 5_400e9, 2.5e8].map(elapsed), ["0 s", "30 s", "5 min", "1.5 h", "250 ms"]);
        assert_eq!([0.25, 0.004].map(share), ["25%", "0.4%"]);
    }
}

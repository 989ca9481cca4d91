//! Short labels for values.

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

/// Formats a fraction as a percentage: `25 %`, `0.4 %`.
pub(crate) fn share(value: f64) -> String {
    format!("{} %", plain(value * 100.0))
}

/// Returns the binary unit in which values up to `most` are labelled.
pub(super) fn unit_of_bytes(most: f64) -> f64 {
    SIZES.iter().find(|(unit, _)| most >= *unit).map_or(1.0, |(unit, _)| *unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short() {
        assert_eq!([20e3, 1.3e6, 500.0, 2e9].map(short_time), ["20us", "1.3ms", "500ns", "2s"]);
        assert_eq!([20e3, 1.3e6, 0.0].map(time), ["20 µs", "1.3 ms", "0 ns"]);
        assert_eq!([5.0, 160e3, 2e6, 999.9].map(short_count), ["5", "160k", "2M", "1k"]);
        assert_eq!([0.0, 1_048_576.0, 314_572_800.0].map(bytes_per_second), ["0 B/s", "1 MiB/s", "300 MiB/s"]);
        assert_eq!([0.0, 30e9, 300e9, 5_400e9, 2.5e8].map(elapsed), ["0 s", "30 s", "5 min", "1.5 h", "250 ms"]);
        assert_eq!([0.25, 0.004].map(share), ["25 %", "0.4 %"]);
    }
}

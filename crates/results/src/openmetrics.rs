//! A writer of OpenMetrics text:
//! <https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md>.

use std::fmt::Write as _;

use units::{is_hidden, push_printable};

/// Type of a metric family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A value that only grows; its samples end in `_total`.
    Counter,
    /// A value that grows and shrinks.
    Gauge,
    /// Quantiles, sum and count.
    Summary,
    /// Cumulative counts up to each bound, sum and count.
    Histogram,
    /// Facts as labels; its samples end in `_info`.
    Info,
}

impl MetricKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Summary => "summary",
            Self::Histogram => "histogram",
            Self::Info => "info",
        }
    }

    const fn suffix(self) -> &'static str {
        match self {
            Self::Counter => "_total",
            Self::Info => "_info",
            _ => "",
        }
    }
}

/// A metric family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    name: &'static str,
    kind: MetricKind,
    help: &'static str,
}

impl Metric {
    /// Returns a family; `help` is a sentence.
    #[must_use]
    pub const fn new(name: &'static str, kind: MetricKind, help: &'static str) -> Self {
        Self { name, kind, help }
    }
}

/// Metric families of live and finished runs.
pub mod of_runs {
    use super::Metric;
    use super::MetricKind::{Counter, Gauge, Summary};

    /// Percentiles of summaries.
    pub const PERCENTILES: [f64; 5] = [50.0, 95.0, 99.0, 99.9, 99.99];
    pub const OPERATIONS: Metric = Metric::new("fathom_operations", Counter, "Completed operations.");
    pub const BYTES: Metric = Metric::new("fathom_bytes", Counter, "Transferred bytes.");
    pub const IOPS: Metric = Metric::new("fathom_iops", Gauge, "Operations per second over the run.");
    pub const BANDWIDTH: Metric =
        Metric::new("fathom_bandwidth_bytes_per_second", Gauge, "Bytes per second over the run.");
    pub const SERVICE: Metric = Metric::new("fathom_service_seconds", Summary, "Time from submission to completion.");
    /// Response times.
    pub const RESPONSE: Metric =
        Metric::new("fathom_response_seconds", Summary, "Time from the scheduled start to completion, under a rate.");
    pub const ERRORS: Metric = Metric::new("fathom_errors", Counter, "Failed operations.");
}

/// Units at the end of metric names, the longer before the shorter.
const UNITS: [&str; 4] = ["bytes_per_second", "seconds", "bytes", "ratio"];

/// An exposition under construction: each family is followed by its samples.
#[derive(Debug, Default)]
pub struct OpenMetrics {
    text: String,
    family: &'static str,
    suffix: &'static str,
}

impl OpenMetrics {
    /// Begins a family, with a `UNIT` line if its name ends in a unit.
    pub fn family(&mut self, metric: Metric) {
        let Metric { name, kind, help } = metric;
        (self.family, self.suffix) = (name, kind.suffix());
        let _ = writeln!(self.text, "# TYPE {name} {}", kind.name());
        if let Some(unit) = UNITS.iter().find(|unit| name.ends_with(*unit)) {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.text, "# HELP {name} {help}");
    }

    /// Appends a sample. `labels` are results of [`label`], separated by commas.
    pub fn sample(&mut self, labels: &str, value: f64) {
        self.line(self.suffix, labels, value);
    }

    /// Appends the samples of a summary: values by percentile, sum and count.
    pub fn summary(&mut self, labels: &str, quantiles: impl IntoIterator<Item = (f64, f64)>, sum: f64, count: u64) {
        self.quantiles(labels, quantiles);
        self.line("_sum", labels, sum);
        self.line("_count", labels, count as f64);
    }

    /// Appends the samples of a summary whose sum or count is not known.
    pub fn quantiles(&mut self, labels: &str, quantiles: impl IntoIterator<Item = (f64, f64)>) {
        for (percent, value) in quantiles {
            // Rounded as text, because 99.9 / 100 is not 0.999 in binary.
            let quantile = format!("{:.6}", percent / 100.0);
            self.line("", &with(labels, "quantile", quantile.trim_end_matches('0')), value);
        }
    }

    /// Appends the samples of a histogram: for each bound the number of values up to it, then sum and count.
    pub fn histogram(&mut self, labels: &str, bounds: impl IntoIterator<Item = (f64, u64)>, sum: f64, count: u64) {
        for (bound, below) in bounds {
            self.line("_bucket", &with(labels, "le", &whole_with_point(bound)), below as f64);
        }
        self.line("_bucket", &with(labels, "le", "+Inf"), count as f64);
        self.line("_sum", labels, sum);
        self.line("_count", labels, count as f64);
    }

    /// Returns the complete exposition.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }

    fn line(&mut self, suffix: &str, labels: &str, value: f64) {
        let (open, close) = if labels.is_empty() { ("", "") } else { ("{", "}") };
        let _ = writeln!(self.text, "{}{suffix}{open}{labels}{close} {value}", self.family);
    }
}

/// Formats a label.
#[must_use]
pub fn label(name: &str, value: &str) -> String {
    format!("{name}=\"{}\"", escaped(value))
}

/// Escapes the value of a label, without the quotes.
fn escaped(text: &str) -> String {
    let kept = |letter: char| letter == '\n' || !is_hidden(letter);
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if kept(letter) { shown.push(letter) } else { push_printable(&mut shown, letter) }
    }
    shown.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn with(labels: &str, name: &str, value: &str) -> String {
    let comma = if labels.is_empty() { "" } else { "," };
    format!("{labels}{comma}{}", label(name, value))
}

/// Formats a bound as a floating-point number, which the specification requires: `1.0`, not `1`.
fn whole_with_point(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.1}") } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_have_units_and_labels_are_escaped() {
        let mut metrics = OpenMetrics::default();
        metrics.family(of_runs::BYTES);
        metrics.sample(&label("job", "a\"b\\c\nd"), 4096.0);
        metrics.family(Metric::new("fathom_latency_seconds", MetricKind::Histogram, "Latency."));
        metrics.histogram("", [(0.000_001, 1), (1.0, 2)], 1.5, 3);
        let text = metrics.finish();
        assert!(text.starts_with("# TYPE fathom_bytes counter\n# UNIT fathom_bytes bytes\n# HELP "), "{text}");
        assert!(text.contains("fathom_bytes_total{job=\"a\\\"b\\\\c\\nd\"} 4096\n"), "{text}");
        assert!(text.contains("_bucket{le=\"0.000001\"} 1\nfathom_latency_seconds_bucket{le=\"1.0\"} 2\n"), "{text}");
        assert!(
            text.ends_with(
                "_bucket{le=\"+Inf\"} 3\nfathom_latency_seconds_sum 1.5\nfathom_latency_seconds_count 3\n# EOF\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn quantiles_are_exact_decimals() {
        let mut metrics = OpenMetrics::default();
        metrics.family(Metric::new("x_seconds", MetricKind::Summary, "X."));
        metrics.summary("a=\"b\"", [(50.0, 1.0), (99.9, 2.0)], 3.0, 2);
        assert!(metrics.finish().contains("{a=\"b\",quantile=\"0.5\"} 1\nx_seconds{a=\"b\",quantile=\"0.999\"} 2\n"));
    }
}

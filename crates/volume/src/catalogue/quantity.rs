//! Numbers with units: `2048GB`, `2400MiB/s`, `1.5ms`, `50%`.

use units::{Problem, ProblemCode};

use super::rule::number;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct QuantityUnit {
    /// Suffix after a number.
    pub name: &'static str,
    pub measure: QuantityKind,
    /// Bytes, bytes per second, nanoseconds or ones per unit.
    pub factor: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityKind {
    /// Bytes: `2TiB`.
    Size,
    /// Bytes per second: `400MB/s`.
    Throughput,
    /// Nanoseconds: `1.5ms`.
    Duration,
    /// A percentage, stored as a fraction.
    Share,
    /// Operations per second and counted things: a bare number.
    Count,
}

const KIB: f64 = 1024.0;

const fn unit(name: &'static str, measure: QuantityKind, factor: f64) -> QuantityUnit {
    QuantityUnit { name, measure, factor }
}

/// All named units but the percent sign.
const UNITS: [QuantityUnit; 23] = [
    unit("KiB", QuantityKind::Size, KIB),
    unit("MiB", QuantityKind::Size, KIB * KIB),
    unit("GiB", QuantityKind::Size, KIB * KIB * KIB),
    unit("TiB", QuantityKind::Size, KIB * KIB * KIB * KIB),
    unit("PiB", QuantityKind::Size, KIB * KIB * KIB * KIB * KIB),
    unit("kB", QuantityKind::Size, 1e3),
    unit("KB", QuantityKind::Size, 1e3),
    unit("MB", QuantityKind::Size, 1e6),
    unit("GB", QuantityKind::Size, 1e9),
    unit("TB", QuantityKind::Size, 1e12),
    unit("PB", QuantityKind::Size, 1e15),
    unit("KiB/s", QuantityKind::Throughput, KIB),
    unit("MiB/s", QuantityKind::Throughput, KIB * KIB),
    unit("GiB/s", QuantityKind::Throughput, KIB * KIB * KIB),
    unit("kB/s", QuantityKind::Throughput, 1e3),
    unit("MB/s", QuantityKind::Throughput, 1e6),
    unit("GB/s", QuantityKind::Throughput, 1e9),
    unit("ns", QuantityKind::Duration, 1.0),
    unit("us", QuantityKind::Duration, 1e3),
    unit("ms", QuantityKind::Duration, 1e6),
    unit("s", QuantityKind::Duration, 1e9),
    unit("min", QuantityKind::Duration, 60e9),
    unit("h", QuantityKind::Duration, 3600e9),
];

pub(super) const PERCENT: QuantityUnit = unit("%", QuantityKind::Share, 0.01);

impl QuantityUnit {
    /// Returns the unit of this name; `None` for words for counted things.
    pub(super) fn of(name: &str) -> Option<Self> {
        if name == PERCENT.name {
            return Some(PERCENT);
        }
        UNITS.into_iter().find(|unit| unit.name == name)
    }

    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        UNITS.iter().map(|unit| unit.name).chain([PERCENT.name])
    }

    pub(super) fn of_measure(measure: QuantityKind) -> Vec<&'static str> {
        UNITS.iter().filter(|unit| unit.measure == measure).map(|unit| unit.name).collect()
    }

    /// Formats a value in base units in this unit.
    pub(super) fn show(&self, base: f64) -> String {
        let value = number(base / self.factor);
        match self.measure {
            QuantityKind::Count => value,
            QuantityKind::Share => format!("{value}%"),
            _ => format!("{value} {}", self.name),
        }
    }
}

impl QuantityKind {
    fn wanted(self) -> &'static str {
        match self {
            Self::Size => "a size such as 500GiB, 2TiB or 500GB",
            Self::Throughput => "a throughput such as 250MiB/s or 400MB/s",
            Self::Duration => "a time such as 500us, 1.5ms or 60s",
            Self::Share => "a percentage such as 50%",
            Self::Count => "a number such as 16000 or 16_000",
        }
    }
}

/// Parses a quantity into base units: bytes, bytes per second, nanoseconds, ones.
///
/// # Errors
///
/// Returns what is expected instead.
pub fn read(text: &str, measure: QuantityKind) -> Result<f64, Problem> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '_' | '.'))).unwrap_or(text.len());
    let (digits, suffix) = (text[..end].replace('_', ""), text[end..].trim());
    let wanted = || Problem::error(ProblemCode::Volume, format!("`{text}` is not {}", measure.wanted()));
    let value: f64 = digits.parse().map_err(|_| wanted())?;
    let base = match measure {
        QuantityKind::Count => match suffix {
            "" => value,
            "k" => value * 1e3,
            "M" => value * 1e6,
            _ => return Err(wanted()),
        },
        QuantityKind::Share => match suffix {
            "%" => value / 100.0,
            _ => return Err(wanted()),
        },
        _ if suffix.is_empty() => {
            return Err(Problem::error(ProblemCode::Volume, format!("`{text}` has no unit"))
                .help(format!("give {}", measure.wanted())));
        }
        _ => {
            // Providers write both `MiB/s` and `MiBps`, and networks have bits.
            let per_second = suffix.strip_suffix("Bps").map(|prefix| format!("{prefix}B/s"));
            let bits = [("Gbit/s", 1e9 / 8.0), ("Mbit/s", 1e6 / 8.0)].into_iter().find(|(name, _)| *name == suffix);
            match bits.filter(|_| measure == QuantityKind::Throughput) {
                Some((_, factor)) => value * factor,
                None => {
                    let unit = QuantityUnit::of(per_second.as_deref().unwrap_or(suffix));
                    value * unit.filter(|unit| unit.measure == measure).ok_or_else(wanted)?.factor
                }
            }
        }
    };
    if base.is_finite() && base <= 1e19 {
        Ok(base)
    } else {
        Err(Problem::error(ProblemCode::Volume, format!("`{text}` is too large")))
    }
}

/// Rounds down to whole units; tolerates rounding errors just below a whole number.
pub(super) fn whole(value: f64) -> u64 {
    (value.max(0.0) * (1.0 + 1e-12) + 1e-9) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_binary_and_decimal_units() {
        let cases = [
            ("2048GB", QuantityKind::Size, 2_048_000_000_000.0),
            ("500 GB", QuantityKind::Size, 500_000_000_000.0),
            ("1TiB", QuantityKind::Size, 1_099_511_627_776.0),
            ("1PiB", QuantityKind::Size, 1_125_899_906_842_624.0),
            ("2400MiB/s", QuantityKind::Throughput, 2_516_582_400.0),
            ("0.4GB/s", QuantityKind::Throughput, 400_000_000.0),
            ("1.5ms", QuantityKind::Duration, 1_500_000.0),
            ("160_000", QuantityKind::Count, 160_000.0),
            ("160k", QuantityKind::Count, 160_000.0),
            ("50%", QuantityKind::Share, 0.5),
        ];
        for (text, measure, base) in cases {
            assert_eq!(read(text, measure), Ok(base), "{text}");
        }
        let refused = [
            ("500", QuantityKind::Size, "has no unit"),
            ("500G", QuantityKind::Size, "is not a size"),
            ("400MB", QuantityKind::Throughput, "is not a throughput"),
            ("1.2.3GB", QuantityKind::Size, "is not a size"),
            ("", QuantityKind::Count, "is not a number"),
            ("-5", QuantityKind::Count, "is not a number"),
            ("99999999999999999999TiB", QuantityKind::Size, "too large"),
        ];
        for (text, measure, message) in refused {
            assert!(read(text, measure).unwrap_err().what.contains(message), "{text}");
        }
    }
}

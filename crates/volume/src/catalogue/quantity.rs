//! Numbers with units: `2048GB`, `2400MiB/s`, `1.5ms`, `50%`.

use super::rule::number;

/// Quantity and unit of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct QuantityUnit {
    /// How it is written after a number.
    pub name: &'static str,
    /// What kind of quantity it is.
    pub measure: QuantityKind,
    /// How many bytes, bytes a second, nanoseconds or ones it is.
    pub factor: f64,
}

/// Quantities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityKind {
    /// Bytes: `2TiB`.
    Size,
    /// Bytes a second: `400MB/s`.
    Throughput,
    /// Nanoseconds: `1.5ms`.
    Duration,
    /// Parts of a hundred, kept as parts of one.
    Share,
    /// Operations a second and things that are counted: a bare number.
    Count,
}

const KIB: f64 = 1024.0;

const fn unit(name: &'static str, measure: QuantityKind, factor: f64) -> QuantityUnit {
    QuantityUnit { name, measure, factor }
}

/// All units with a name of their own.
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

/// Shares are given with a percent sign.
pub(super) const PERCENT: QuantityUnit = unit("%", QuantityKind::Share, 0.01);

impl QuantityUnit {
    /// The unit of this name; any other name is that of things that are counted.
    pub(super) fn of(name: &str) -> Option<Self> {
        if name == PERCENT.name {
            return Some(PERCENT);
        }
        UNITS.into_iter().find(|unit| unit.name == name)
    }

    /// The names of all units.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        UNITS.iter().map(|unit| unit.name).chain([PERCENT.name])
    }

    /// The names of the units of one measure.
    pub(super) fn of_measure(measure: QuantityKind) -> Vec<&'static str> {
        UNITS.iter().filter(|unit| unit.measure == measure).map(|unit| unit.name).collect()
    }

    /// A value in base units, in this unit, for people.
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
            Self::Size => "a size like 500GiB, 2TiB or 500GB",
            Self::Throughput => "a throughput like 250MiB/s or 400MB/s",
            Self::Duration => "a time like 500us, 1.5ms or 60s",
            Self::Share => "a share like 50%",
            Self::Count => "a number like 16000 or 16_000",
        }
    }
}

/// Reads a quantity of this measure; the result is in base units: bytes, bytes a second, nanoseconds, ones.
///
/// # Errors
///
/// What is wanted instead.
pub fn read(text: &str, measure: QuantityKind) -> Result<f64, String> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '_' | '.'))).unwrap_or(text.len());
    let (digits, suffix) = (text[..end].replace('_', ""), text[end..].trim());
    let wanted = || format!("`{text}` is not {}", measure.wanted());
    let value: f64 = digits.parse().map_err(|_| wanted())?;
    let base = match measure {
        QuantityKind::Count => match suffix {
            "" => value,
            "k" => value * 1e3,
            _ => return Err(wanted()),
        },
        QuantityKind::Share => match suffix {
            "%" => value / 100.0,
            _ => return Err(wanted()),
        },
        _ if suffix.is_empty() => return Err(format!("`{text}` has no unit\nhelp: give {}", measure.wanted())),
        _ => {
            let unit = QuantityUnit::of(suffix).filter(|unit| unit.measure == measure);
            value * unit.ok_or_else(wanted)?.factor
        }
    };
    if base.is_finite() && base <= 1e19 { Ok(base) } else { Err(format!("`{text}` is too large")) }
}

/// Rounded down to whole units; a hair below a whole number is taken for it.
pub(super) fn whole(value: f64) -> u64 {
    (value.max(0.0) * (1.0 + 1e-12) + 1e-9) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_in_both_families_of_units() {
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
            assert!(read(text, measure).unwrap_err().contains(message), "{text}");
        }
    }
}

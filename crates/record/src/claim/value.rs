//! Values of claims: numbers with units, ranges, approximations.

use super::keys::{ClaimDomain, ClaimForm, ClaimKey, ClaimUnits};
use super::{Claimed, problem};
use units::Problem;

use crate::FigureQuantity;

/// A parsed value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ClaimValue {
    Number(Claimed),
    Word(&'static str),
}

/// fio's names of `rw`.
const RW: [&str; 9] = ["read", "write", "randread", "randwrite", "rw", "readwrite", "randrw", "trim", "randtrim"];

/// A unit by its factor, and whether it is binary.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ClaimUnit {
    factor: f64,
    binary: bool,
}

const fn decimal(factor: f64) -> ClaimUnit {
    ClaimUnit { factor, binary: false }
}

const fn binary(power: u32) -> ClaimUnit {
    ClaimUnit { factor: 1024_u64.pow(power) as f64, binary: true }
}

/// Units, each with its names.
type UnitNames = (&'static [&'static str], ClaimUnit);

const COUNT: &[UnitNames] =
    &[(&[""], decimal(1.0)), (&["k", "K"], decimal(1e3)), (&["M"], decimal(1e6)), (&["G"], decimal(1e9))];
const TIME: &[UnitNames] = &[
    (&["ns", "nsec"], decimal(1.0)),
    (&["us", "µs", "μs", "usec"], decimal(1e3)),
    (&["ms", "msec"], decimal(1e6)),
    (&["s", "sec"], decimal(1e9)),
    (&["min", "m"], decimal(60e9)),
    (&["h"], decimal(3600e9)),
];
/// Block sizes as in fio: `4k` is 4096, however it is written.
const BLOCK: &[UnitNames] = &[
    (&["", "B"], decimal(1.0)),
    (&["k", "K", "kB", "KB", "kb", "KiB", "kiB"], binary(1)),
    (&["m", "M", "MB", "MiB"], binary(2)),
    (&["g", "G", "GiB"], binary(3)),
];
const BANDWIDTH: &[UnitNames] = &[
    (&["B"], decimal(1.0)),
    (&["kB", "KB"], decimal(1e3)),
    (&["MB"], decimal(1e6)),
    (&["GB"], decimal(1e9)),
    (&["TB"], decimal(1e12)),
    (&["KiB"], binary(1)),
    (&["MiB"], binary(2)),
    (&["GiB"], binary(3)),
    (&["TiB"], binary(4)),
    (&["kbit"], decimal(1e3 / 8.0)),
    (&["Mbit"], decimal(1e6 / 8.0)),
    (&["Gbit"], decimal(1e9 / 8.0)),
];
const SHARE: &[UnitNames] = &[(&["%"], decimal(0.01)), (&[""], decimal(1.0))];
/// The kernel's sectors have 512 bytes.
const REQUEST: &[UnitNames] =
    &[(&["B"], decimal(1.0)), (&["sectors"], decimal(512.0)), (&["kB", "k", "KiB"], binary(1)), (&["MiB"], binary(2))];

impl ClaimUnits {
    fn all(self) -> &'static [UnitNames] {
        match self {
            Self::Count => COUNT,
            Self::Time => &TIME[..4],
            Self::LongTime => &TIME[2..],
            Self::Block => BLOCK,
            Self::Bandwidth => BANDWIDTH,
            Self::Share => SHARE,
            Self::Percent => &SHARE[..1],
            Self::Plain => &SHARE[1..],
            Self::Request => REQUEST,
        }
    }
}

/// Parses the value of a key, in a unit if it has none; `span` is its column and length.
pub(super) fn read(key: ClaimKey, unit: Option<&str>, text: &str, span: (usize, usize)) -> Result<ClaimValue, Problem> {
    if matches!(key, ClaimKey::Rw) {
        let known = RW.into_iter().find(|name| *name == text.to_ascii_lowercase());
        let value = known.map(|name| ClaimValue::Word(if name == "readwrite" { "rw" } else { name }));
        return value.ok_or_else(|| {
            let remedy = units::suggestion(text, RW.into_iter(), || "write `read`, `randread`, `randrw`, …".to_owned());
            problem(format!("`{text}` is not an I/O pattern"), remedy)
        });
    }
    let form = key.form();
    let (approximate, body) = text.strip_prefix('~').map_or((false, text), |rest| (true, rest.trim_start()));
    let (min, max) = range(key, unit, body)?;
    if min.value > max.value {
        return Err(problem(format!("the range `{text}` is reversed"), "write the smaller value first"));
    }
    check(key, text, min, max)?;
    let exact = matches!(form.domain, ClaimDomain::Exact | ClaimDomain::Whole) && !approximate;
    let step = if exact { 0.0 } else { min.step.max(max.step) };
    let tolerance = if approximate { f64::midpoint(min.value, max.value) / 5.0 } else { 0.0 };
    Ok(ClaimValue::Number(Claimed {
        min: min.value,
        max: max.value,
        step: step.max(tolerance),
        binary: max.binary,
        column: span.0,
        length: span.1,
    }))
}

/// A number with its unit applied.
#[derive(Clone, Copy, Debug)]
struct ClaimNumber {
    value: f64,
    step: f64,
    binary: bool,
}

/// Parses a value, or two separated by `-` or `..`; the unit of the second also applies to a first without one.
fn range(key: ClaimKey, bare: Option<&str>, text: &str) -> Result<(ClaimNumber, ClaimNumber), Problem> {
    let parts = text.split_once("..").or_else(|| text.split_once(['-', '–']));
    let Some((first, second)) = parts.map(|(first, second)| (first.trim(), second.trim())) else {
        return number(key, bare, text, text).map(|number| (number, number));
    };
    let unit = second.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start();
    let has_none = first.ends_with(|c: char| c.is_ascii_digit());
    let first = if has_none && !unit.is_empty() { format!("{first}{unit}") } else { first.to_owned() };
    Ok((number(key, bare, &first, text)?, number(key, bare, second, text)?))
}

fn number(key: ClaimKey, bare: Option<&str>, text: &str, whole: &str) -> Result<ClaimNumber, Problem> {
    let ClaimForm { units, domain, example } = key.form();
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | '_')).unwrap_or(text.len());
    let (digits, unit) = (&text[..end].replace('_', ""), text[end..].trim());
    let digits = &match digits.split_once(',') {
        // Rates have no decimals of this kind, and latencies no thousands.
        Some((_, rest)) if rest.len() == 3 && (units, domain) == (ClaimUnits::Count, ClaimDomain::Positive) => {
            digits.replace(',', "")
        }
        Some((whole, rest)) if rest.len() != 3 => format!("{whole}.{rest}"),
        Some(_) => {
            let remedy = "write numbers without commas: `10000`, `2.7ms`";
            return Err(problem(format!("`{whole}` is ambiguous: a decimal comma or a thousands separator"), remedy));
        }
        None => digits.clone(),
    };
    let readable = digits.starts_with(|c: char| c.is_ascii_digit()) && !digits.ends_with('.');
    let value: Option<f64> = digits.parse().ok().filter(|value: &f64| readable && *value < 1e15);
    let Some(value) = value else {
        return Err(problem(format!("`{whole}` is not a number"), format!("write it as `{example}`")));
    };
    let own = match units {
        ClaimUnits::Bandwidth => unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps")).unwrap_or(unit),
        _ => unit,
    };
    let own = if own.is_empty() { bare.unwrap_or(own) } else { own };
    let Some((_, unit)) = units.all().iter().find(|(names, _)| names.contains(&own)) else {
        return Err(unknown_unit(key, digits, unit));
    };
    let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let step = 0.1_f64.powi(decimals.min(300) as i32) * unit.factor;
    // Dividing percentages is exact, unlike multiplying by a factor that is not a binary fraction.
    let value = if unit.factor < 1.0 { value / (1.0 / unit.factor).round() } else { value * unit.factor };
    Ok(ClaimNumber { value, step, binary: unit.binary })
}

fn unknown_unit(key: ClaimKey, digits: &str, unit: &str) -> Problem {
    let ClaimForm { units, domain, example } = key.form();
    let message = if unit.is_empty() {
        format!("`{digits}` has no unit")
    } else {
        format!("`{unit}` is not a unit of `{}`", key.name())
    };
    let remedy = match (units, unit) {
        // Columns of iostat have units of their own.
        _ if domain != ClaimDomain::Positive => format!("write it as `{example}`"),
        (ClaimUnits::Bandwidth, "k" | "K" | "M" | "G" | "m" | "g") => {
            let letter = unit.to_ascii_uppercase();
            format!("write `{digits}{letter}iB/s` for powers of 1024, or `{digits}{letter}B/s` for powers of 1000")
        }
        (ClaimUnits::Bandwidth, "Mb" | "Gb" | "Mb/s" | "Gb/s" | "Mbps" | "Gbps") => {
            format!("write `{digits}{}bit/s` for bits", &unit[..1])
        }
        (ClaimUnits::Time, "") => format!("write `{digits}ms` or `{digits}us`"),
        _ => format!("write it as `{example}`"),
    };
    problem(message, remedy)
}

/// Rejects impossible values.
fn check(key: ClaimKey, text: &str, min: ClaimNumber, max: ClaimNumber) -> Result<(), Problem> {
    let domain = key.form().domain;
    if min.value <= 0.0 && !matches!(domain, ClaimDomain::FromZero | ClaimDomain::FromZeroToOne) {
        return Err(problem(format!("`{}` must be greater than 0", key.name()), "omit it"));
    }
    if domain == ClaimDomain::FromZeroToOne && max.value > 1.0 {
        return Err(problem(format!("`{text}` exceeds 100%"), "write a fraction as `70%` or `0.7`"));
    }
    if domain == ClaimDomain::Whole && (min.value.fract() != 0.0 || max.value.fract() != 0.0) {
        return Err(problem(
            format!("`{text}` is not a whole number"),
            format!("`{}` is a count: write a whole number", key.name()),
        ));
    }
    Ok(())
}

impl FigureQuantity {
    /// Returns the units of its values without `/s`: name and factor to the base unit.
    #[must_use]
    pub fn units(self) -> Vec<(&'static str, f64)> {
        let table = match self {
            Self::Iops => COUNT,
            Self::BytesPerSecond => BANDWIDTH,
            _ => TIME,
        };
        table.iter().flat_map(|(names, unit)| names.iter().map(|name| (*name, unit.factor))).collect()
    }
}

//! Values of claims: numbers with units, ranges, approximations.

use super::keys::{ClaimColumn, NamedKey};
use super::{ClaimKey, Claimed};
use units::{Problem, ProblemCode};

use crate::FigureQuantity;

/// A parsed value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ClaimValue {
    Number(Claimed),
    Word(&'static str),
}

/// fio's names of `rw`.
const RW: &[(&str, &str)] = &[
    ("read", "read"),
    ("write", "write"),
    ("randread", "randread"),
    ("randwrite", "randwrite"),
    ("rw", "rw"),
    ("readwrite", "rw"),
    ("randrw", "randrw"),
    ("trim", "trim"),
    ("randtrim", "randtrim"),
];

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

const COUNT: &[(&str, ClaimUnit)] =
    &[("", decimal(1.0)), ("k", decimal(1e3)), ("K", decimal(1e3)), ("M", decimal(1e6)), ("G", decimal(1e9))];
const TIME: &[(&str, ClaimUnit)] = &[
    ("ns", decimal(1.0)),
    ("nsec", decimal(1.0)),
    ("us", decimal(1e3)),
    ("µs", decimal(1e3)),
    ("μs", decimal(1e3)),
    ("usec", decimal(1e3)),
    ("ms", decimal(1e6)),
    ("msec", decimal(1e6)),
    ("s", decimal(1e9)),
    ("sec", decimal(1e9)),
    ("min", decimal(60e9)),
    ("m", decimal(60e9)),
    ("h", decimal(3600e9)),
];
/// Block sizes as in fio: `4k` is 4096, however it is written.
const BLOCK: &[(&str, ClaimUnit)] = &[
    ("", decimal(1.0)),
    ("B", decimal(1.0)),
    ("k", binary(1)),
    ("K", binary(1)),
    ("kB", binary(1)),
    ("KB", binary(1)),
    ("kb", binary(1)),
    ("KiB", binary(1)),
    ("kiB", binary(1)),
    ("m", binary(2)),
    ("M", binary(2)),
    ("MB", binary(2)),
    ("MiB", binary(2)),
    ("g", binary(3)),
    ("G", binary(3)),
    ("GiB", binary(3)),
];
const BANDWIDTH: &[(&str, ClaimUnit)] = &[
    ("B", decimal(1.0)),
    ("kB", decimal(1e3)),
    ("KB", decimal(1e3)),
    ("MB", decimal(1e6)),
    ("GB", decimal(1e9)),
    ("TB", decimal(1e12)),
    ("KiB", binary(1)),
    ("MiB", binary(2)),
    ("GiB", binary(3)),
    ("TiB", binary(4)),
    ("kbit", decimal(1e3 / 8.0)),
    ("Mbit", decimal(1e6 / 8.0)),
    ("Gbit", decimal(1e9 / 8.0)),
];
const SHARE: &[(&str, ClaimUnit)] = &[("%", decimal(0.01)), ("", decimal(1.0))];
const PLAIN: &[(&str, ClaimUnit)] = &[("", decimal(1.0))];
const PERCENT: &[(&str, ClaimUnit)] = &[("%", decimal(0.01))];
/// Request sizes as seen by a device; the kernel's sectors have 512 bytes.
const REQUEST: &[(&str, ClaimUnit)] = &[
    ("B", decimal(1.0)),
    ("sectors", decimal(512.0)),
    ("kB", binary(1)),
    ("k", binary(1)),
    ("KiB", binary(1)),
    ("MiB", binary(2)),
];

/// Parses the value of a key; `span` is its column and length.
pub(super) fn read(named: NamedKey, text: &str, span: (usize, usize)) -> Result<ClaimValue, Problem> {
    let key = named.key;
    if key == ClaimKey::Rw {
        let known = RW.iter().find(|(name, _)| *name == text.to_ascii_lowercase());
        return known.map(|(_, name)| ClaimValue::Word(name)).ok_or_else(|| {
            let near = units::closest(text, RW.iter().map(|(name, _)| *name));
            let remedy = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "write `read`, `randread`, `randrw`, …".to_owned(),
            };
            Problem::error(ProblemCode::Claim, format!("`{text}` is no pattern of fio's")).help(remedy)
        });
    }
    let (approximate, body) = text.strip_prefix('~').map_or((false, text), |rest| (true, rest.trim_start()));
    let (min, max) = range(named, body)?;
    if min.value > max.value {
        return Err(Problem::error(ProblemCode::Claim, format!("the range `{text}` ends before it begins"))
            .help("write the lesser value first"));
    }
    check(key, text, min, max)?;
    let exact = matches!(key, ClaimKey::Depth | ClaimKey::Jobs | ClaimKey::BlockSize | ClaimKey::Vcpus) && !approximate;
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
fn range(named: NamedKey, text: &str) -> Result<(ClaimNumber, ClaimNumber), Problem> {
    let parts = text.split_once("..").or_else(|| text.split_once(['-', '–']));
    let Some((first, second)) = parts.map(|(first, second)| (first.trim(), second.trim())) else {
        return number(named, text, text).map(|number| (number, number));
    };
    let unit = second.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start();
    let bare = first.ends_with(|c: char| c.is_ascii_digit());
    let first = if bare && !unit.is_empty() { format!("{first}{unit}") } else { first.to_owned() };
    Ok((number(named, &first, text)?, number(named, second, text)?))
}

fn number(named: NamedKey, text: &str, whole: &str) -> Result<ClaimNumber, Problem> {
    let key = named.key;
    let (units, example) = units_of(key);
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | '_')).unwrap_or(text.len());
    let (digits, unit) = (&text[..end].replace('_', ""), text[end..].trim());
    let digits = &match digits.split_once(',') {
        // Rates have no decimals of this kind, and latencies no thousands.
        Some((_, rest)) if rest.len() == 3 && matches!(key, ClaimKey::Iops) => digits.replace(',', ""),
        Some((whole, rest)) if rest.len() != 3 => format!("{whole}.{rest}"),
        Some(_) => {
            let remedy = "write numbers without commas in them: `10000`, `2.7ms`";
            return Err(Problem::error(
                ProblemCode::Claim,
                format!("`{whole}` may be a decimal number, or one of thousands"),
            )
            .help(remedy));
        }
        None => digits.clone(),
    };
    let readable = digits.starts_with(|c: char| c.is_ascii_digit()) && !digits.ends_with('.');
    let value: Option<f64> = digits.parse().ok().filter(|value: &f64| readable && *value < 1e15);
    let Some(value) = value else {
        return Err(Problem::error(ProblemCode::Claim, format!("`{whole}` is not a number"))
            .help(format!("write it as `{example}`")));
    };
    let bare = match key {
        ClaimKey::Bandwidth | ClaimKey::Column(ClaimColumn::ReadBytes | ClaimColumn::WriteBytes) => {
            unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps")).unwrap_or(unit)
        }
        _ => unit,
    };
    let bare = if bare.is_empty() { named.bare.unwrap_or(bare) } else { bare };
    let Some((_, unit)) = units.iter().find(|(name, _)| *name == bare) else {
        return Err(unknown_unit(key, digits, unit, example));
    };
    let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let step = 0.1_f64.powi(decimals.min(300) as i32) * unit.factor;
    // Dividing percentages is exact, unlike multiplying by a factor that is not a binary fraction.
    let value = if unit.factor < 1.0 { value / (1.0 / unit.factor).round() } else { value * unit.factor };
    Ok(ClaimNumber { value, step, binary: unit.binary })
}

fn units_of(key: ClaimKey) -> (&'static [(&'static str, ClaimUnit)], &'static str) {
    match key {
        ClaimKey::Iops => (COUNT, "10k"),
        ClaimKey::Latency | ClaimKey::Percentile(_) => (&TIME[..10], "2.7ms"),
        ClaimKey::Time => (&TIME[6..], "60s"),
        ClaimKey::BlockSize => (BLOCK, "4k"),
        ClaimKey::Bandwidth => (BANDWIDTH, "40MiB/s"),
        ClaimKey::ReadShare => (SHARE, "70%"),
        ClaimKey::Depth | ClaimKey::Jobs | ClaimKey::Cpus | ClaimKey::Vcpus | ClaimKey::Rw => (PLAIN, "4"),
        ClaimKey::Column(ClaimColumn::ReadRate | ClaimColumn::WriteRate) => (COUNT, "3500"),
        ClaimKey::Column(ClaimColumn::ReadBytes | ClaimColumn::WriteBytes) => (BANDWIDTH, "28000"),
        ClaimKey::Column(ClaimColumn::ReadWait | ClaimColumn::WriteWait | ClaimColumn::ServiceTime) => {
            (&TIME[..10], "1.25")
        }
        ClaimKey::Column(ClaimColumn::ReadSize | ClaimColumn::WriteSize | ClaimColumn::Size) => (REQUEST, "8.00"),
        ClaimKey::Column(ClaimColumn::InFlight) => (PLAIN, "3.5"),
        ClaimKey::Column(ClaimColumn::Busy) => (PERCENT, "42.5"),
    }
}

fn unknown_unit(key: ClaimKey, digits: &str, unit: &str, example: &str) -> Problem {
    let message = if unit.is_empty() {
        format!("`{digits}` has no unit")
    } else {
        format!("`{unit}` is no unit of `{}`", key.name())
    };
    let remedy = match (key, unit) {
        (ClaimKey::Bandwidth, "k" | "K" | "M" | "G" | "m" | "g") => {
            let letter = unit.to_ascii_uppercase();
            format!("write `{digits}{letter}iB/s` for powers of 1024, or `{digits}{letter}B/s` for powers of 1000")
        }
        (ClaimKey::Bandwidth, "Mb" | "Gb" | "Mb/s" | "Gb/s" | "Mbps" | "Gbps") => {
            format!("write `{digits}{}bit/s` for bits", &unit[..1])
        }
        (ClaimKey::Latency | ClaimKey::Percentile(_), "") => format!("write `{digits}ms` or `{digits}us`"),
        _ => format!("write it as `{example}`"),
    };
    Problem::error(ProblemCode::Claim, message).help(remedy)
}

/// Rejects impossible values.
fn check(key: ClaimKey, text: &str, min: ClaimNumber, max: ClaimNumber) -> Result<(), Problem> {
    let whole = matches!(key, ClaimKey::Jobs | ClaimKey::Vcpus | ClaimKey::BlockSize);
    // Columns of iostat are zero for kinds of requests that did not occur.
    let may_be_zero = key == ClaimKey::ReadShare || matches!(key, ClaimKey::Column(_));
    if min.value <= 0.0 && !may_be_zero {
        return Err(Problem::error(ProblemCode::Claim, format!("`{}` of nothing says nothing", key.name()))
            .help("leave it out"));
    }
    if key == ClaimKey::ReadShare && max.value > 1.0 {
        return Err(Problem::error(ProblemCode::Claim, format!("`{text}` is more than all of it"))
            .help("write a share as `70%` or `0.7`"));
    }
    if whole && (min.value.fract() != 0.0 || max.value.fract() != 0.0) {
        return Err(Problem::error(ProblemCode::Claim, format!("`{text}` is not whole"))
            .help(format!("`{}` counts: write a whole number", key.name())));
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
        table.iter().map(|(name, unit)| (*name, unit.factor)).collect()
    }
}

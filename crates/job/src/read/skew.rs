//! Distributions: `zipf:1.2`, `pareto:0.3:0.5`, `zoned:60/10:40/90`.

use units::Bytes;

use super::Findings;
use super::lists::split;
use super::number::{self, Unit};
use crate::model::Distribution;

/// The words of `random_distribution` that Fathom knows.
pub(crate) const WORDS: &[&str] = &["random", "zipf", "pareto", "normal", "zoned", "zoned_abs", "sequence"];

/// Reads the distribution for one kind of operation.
pub(crate) fn read(word: &str, argument: Option<&str>, findings: &mut Findings) -> Option<Distribution> {
    let argument = argument.unwrap_or("");
    match word {
        "random" => Some(Distribution::Uniform),
        "zipf" => shape(argument, exponent, findings).map(|(theta, center)| Distribution::Zipf { theta, center }),
        "pareto" => shape(argument, power, findings).map(|(h, center)| Distribution::Pareto { h, center }),
        "normal" => {
            shape(argument, deviation, findings).map(|(deviation, center)| Distribution::Normal { deviation, center })
        }
        "zoned" => {
            zones(argument, findings, |text, _| text.parse().ok().filter(|p| *p <= 100)).map(Distribution::Zoned)
        }
        "zoned_abs" => zones(argument, findings, bytes).map(Distribution::ZonedAbs),
        _ => {
            findings.fault(0..word.len(), "not-supported", format!("fio's distribution `{word}` is not supported yet"));
            None
        }
    }
}

/// The exponent of a Zipf distribution: anything but 1, where the sum behind it diverges; 1.1 where `text` is empty.
pub(crate) fn exponent(text: &str, findings: &mut Findings) -> Option<f64> {
    let theta = if text.is_empty() { 1.1 } else { float(text, findings)? };
    within(theta, theta != 1.0, "a Zipf exponent must not be 1", findings)?;
    if theta <= 0.0 {
        findings
            .quirk(0..0, "distribution", format!("a Zipf exponent of {theta} skews nothing"))
            .write("write one above 0");
    }
    Some(theta)
}

/// The power of a Pareto distribution; 0.2 where `text` is empty.
pub(crate) fn power(text: &str, findings: &mut Findings) -> Option<f64> {
    let h = if text.is_empty() { 0.2 } else { float(text, findings)? };
    within(h, h > 0.0 && h < 1.0, "a Pareto power lies between 0 and 1", findings)?;
    Some(h)
}

/// The deviation of a normal distribution in per cent; 0 where `text` is empty.
pub(crate) fn deviation(text: &str, findings: &mut Findings) -> Option<f64> {
    let deviation = if text.is_empty() { 0.0 } else { float(text, findings)? };
    within(deviation, (0.0..100.0).contains(&deviation), "a deviation is from 0 up to 100 per cent", findings)?;
    Some(deviation)
}

fn within(value: f64, good: bool, rule: &str, findings: &mut Findings) -> Option<()> {
    if !good {
        findings.fault(0..0, "out-of-range", format!("{rule}, not {value}"));
    }
    good.then_some(())
}

/// `value[:center]`, the value read by `read`.
fn shape(
    argument: &str,
    read: fn(&str, &mut Findings) -> Option<f64>,
    findings: &mut Findings,
) -> Option<(f64, Option<f64>)> {
    let (value, center) = argument.split_once(':').map_or((argument, None), |(value, center)| (value, Some(center)));
    let value = read(value, findings)?;
    let Some(center) = center else { return Some((value, None)) };
    let center = float(center, findings)?;
    within(center, (0.0..=1.0).contains(&center), "a center is a share from 0 to 1", findings)?;
    Some((value, Some(center)))
}

fn float(text: &str, findings: &mut Findings) -> Option<f64> {
    let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    if value.is_none() {
        findings.fault(0..0, "not-a-number", format!("`{text}` is not a number"));
    }
    value
}

fn bytes(text: &str, findings: &mut Findings) -> Option<Bytes> {
    number::read(text, Unit::Count { kb_base: 1024 }, findings).map(|n| Bytes::new(n as u64))
}

/// `share/width:share/width…`; the shares add up to 100.
fn zones<T>(
    argument: &str,
    findings: &mut Findings,
    mut width: impl FnMut(&str, &mut Findings) -> Option<T>,
) -> Option<Vec<(u32, T)>> {
    let mut zones = Vec::new();
    for (_, part) in split(argument, ':') {
        let entry = part.split_once('/').and_then(|(share, rest)| {
            Some((share.parse::<u32>().ok().filter(|share| *share <= 100)?, width(rest, findings)?))
        });
        let Some(entry) = entry else {
            findings
                .fault(0..0, "distribution", format!("`{part}` is not a zone"))
                .write("a zone is `share of operations/share of the file`");
            return None;
        };
        zones.push(entry);
    }
    let sum: u32 = zones.iter().map(|zone| zone.0).sum();
    if sum != 100 {
        findings.fault(0..0, "distribution", format!("the zones' shares of operations add up to {sum} %, not to 100"));
        return None;
    }
    Some(zones)
}

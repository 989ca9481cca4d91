//! Parses distributions: `zipf:1.2`, `pareto:0.3:0.5`, `zoned:60/10:40/90`.

use units::{Bytes, ProblemCode};

use super::Findings;
use super::lists::split;
use super::number::{self, NumberUnit};
use crate::model::Distribution;

/// The values of `random_distribution` that Fathom supports.
pub(crate) const WORDS: &[&str] = &["random", "zipf", "pareto", "normal", "zoned", "zoned_abs", "sequence"];

/// Parses the distribution of one kind of operation.
pub(crate) fn read(word: &str, argument: Option<&str>, findings: &mut Findings) -> Option<Distribution> {
    if argument == Some("") && matches!(word, "zipf" | "pareto" | "normal") {
        findings.fault(0..word.len(), ProblemCode::NotANumber, "a number is missing after `:`");
        return None;
    }
    if argument.is_none() && matches!(word, "zoned" | "zoned_abs") {
        findings.fault(0..word.len(), ProblemCode::Distribution, format!("`{word}` needs zones")).help(ZONES);
        return None;
    }
    let argument = argument.unwrap_or("");
    match word {
        "random" => Some(Distribution::Uniform),
        "zipf" => shape(argument, exponent, findings).map(|(theta, center)| Distribution::Zipf { theta, center }),
        "pareto" => shape(argument, power, findings).map(|(h, center)| Distribution::Pareto { h, center }),
        "normal" => {
            shape(argument, deviation, findings).map(|(deviation, center)| Distribution::Normal { deviation, center })
        }
        "zoned" => {
            let zones = zones(argument, findings, |text, _| text.parse().ok().filter(|share| *share <= 100))?;
            shares_of_file(zones, findings)
        }
        "zoned_abs" => zones(argument, findings, bytes).and_then(|zones| bytes_of_file(zones, findings)),
        _ => {
            findings
                .fault(0..word.len(), ProblemCode::UnknownValue, format!("`{word}` is not a random distribution"))
                .help(format!("one of {}", WORDS.join(", ")));
            None
        }
    }
}

/// Maximum number of blocks of a sequence, as in fio.
const SEQUENCE_MAX: usize = 64;

/// Parses the indices of a sequence of blocks, which is that of all kinds of operation.
pub(crate) fn sequence(argument: Option<&str>, findings: &mut Findings) -> Option<Distribution> {
    let parts = split(argument.unwrap_or(""), ',');
    let blocks: Option<Vec<u64>> = parts.iter().map(|(_, part)| part.trim().parse().ok()).collect();
    let Some(blocks) = blocks.filter(|blocks| blocks.len() <= SEQUENCE_MAX) else {
        findings
            .fault(0..0, ProblemCode::Distribution, format!("`sequence` needs 1 to {SEQUENCE_MAX} block indices"))
            .help("write for example `random_distribution=sequence:2,0,1`");
        return None;
    };
    Some(Distribution::Sequence { blocks, strided: false })
}

/// Parses the exponent of a Zipf distribution, by default 1.1. It must not be 1, where the underlying sum diverges.
pub(crate) fn exponent(text: &str, findings: &mut Findings) -> Option<f64> {
    let theta = if text.is_empty() { 1.1 } else { float(text, findings)? };
    within(theta, theta != 1.0, "a Zipf exponent must not be 1", findings)?;
    if theta <= 0.0 {
        findings
            .quirk(0..0, ProblemCode::Distribution, format!("a Zipf exponent of {theta} has no effect"))
            .help("write one above 0");
    }
    Some(theta)
}

/// Parses the power of a Pareto distribution, by default 0.2.
pub(crate) fn power(text: &str, findings: &mut Findings) -> Option<f64> {
    let h = if text.is_empty() { 0.2 } else { float(text, findings)? };
    within(h, h > 0.0 && h < 1.0, "a Pareto power must be between 0 and 1", findings)?;
    Some(h)
}

/// Parses the deviation of a normal distribution in per cent, by default 0.
pub(crate) fn deviation(text: &str, findings: &mut Findings) -> Option<f64> {
    let deviation = if text.is_empty() { 0.0 } else { float(text, findings)? };
    within(deviation, (0.0..100.0).contains(&deviation), "a deviation must be between 0% and 100%", findings)?;
    Some(deviation)
}

fn within(value: f64, good: bool, rule: &str, findings: &mut Findings) -> Option<()> {
    if !good {
        findings.fault(0..0, ProblemCode::OutOfRange, format!("{rule}, not {value}"));
    }
    good.then_some(())
}

/// Parses `value[:center]`, the value by `read`.
fn shape(
    argument: &str,
    read: fn(&str, &mut Findings) -> Option<f64>,
    findings: &mut Findings,
) -> Option<(f64, Option<f64>)> {
    let (value, center) = argument.split_once(':').map_or((argument, None), |(value, center)| (value, Some(center)));
    let value = read(value, findings)?;
    let Some(center) = center else { return Some((value, None)) };
    let center = float(center, findings)?;
    within(center, (0.0..=1.0).contains(&center), "a center must be between 0 and 1", findings)?;
    Some((value, Some(center)))
}

/// Parses the longest prefix that is a number.
fn float(text: &str, findings: &mut Findings) -> Option<f64> {
    let body = text.trim_start();
    let read = |end| body.get(..end)?.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| (value, end));
    let Some((value, end)) = (1..=body.len()).rev().find_map(read) else {
        findings.fault(0..0, ProblemCode::NotANumber, format!("`{text}` is not a number"));
        return None;
    };
    if end < body.len() {
        findings
            .quirk(0..0, ProblemCode::TrailingText, format!("unexpected `{}` after the number", &body[end..]))
            .note("fio ignores everything from there on");
    }
    Some(value)
}

fn bytes(text: &str, findings: &mut Findings) -> Option<Bytes> {
    number::read(text, NumberUnit::Count { kb_base: 1024 }, findings).map(|n| Bytes::new(n as u64))
}

const ZONES: &str = "a zone is `percentage of operations/percentage of the file`";

/// The percentage of operations of a zone and its width, where given.
type Zone<T> = (Option<u32>, Option<T>);

/// Parses `share/width:share/width…`; absent shares divide what the others leave.
fn zones<T>(
    argument: &str,
    findings: &mut Findings,
    mut width: impl FnMut(&str, &mut Findings) -> Option<T>,
) -> Option<Vec<(u32, Option<T>)>> {
    let mut zones: Vec<Zone<T>> = Vec::new();
    for (_, part) in split(argument, ':') {
        let Some(zone) = zone(part, findings, &mut width) else {
            findings.fault(0..0, ProblemCode::Distribution, format!("`{part}` is not a zone")).help(ZONES);
            return None;
        };
        zones.push(zone);
    }
    let shares = complete(zones.iter().map(|zone| zone.0));
    let sum: u32 = shares.iter().sum();
    if sum != 100 {
        findings.fault(
            0..0,
            ProblemCode::Distribution,
            format!("the zones' percentages of operations add up to {sum}%, not 100%"),
        );
        return None;
    }
    Some(shares.into_iter().zip(zones.into_iter().map(|zone| zone.1)).collect())
}

fn zone<T>(
    part: &str,
    findings: &mut Findings,
    width: &mut impl FnMut(&str, &mut Findings) -> Option<T>,
) -> Option<Zone<T>> {
    let (share, rest) = part.split_once('/').unwrap_or((part, ""));
    let share = if share.is_empty() { None } else { Some(share.parse().ok().filter(|share| *share <= 100)?) };
    let rest = if rest.is_empty() { None } else { Some(width(rest, findings)?) };
    Some((share, rest))
}

/// Divides the rest of 100 equally among the absent shares.
fn complete(shares: impl Iterator<Item = Option<u32>> + Clone) -> Vec<u32> {
    let given: u32 = shares.clone().flatten().sum();
    let open = shares.clone().filter(Option::is_none).count() as u32;
    let each = 100_u32.saturating_sub(given).checked_div(open).unwrap_or(0);
    shares.map(|share| share.unwrap_or(each)).collect()
}

fn shares_of_file(zones: Vec<(u32, Option<u32>)>, findings: &mut Findings) -> Option<Distribution> {
    let widths = complete(zones.iter().map(|zone| zone.1));
    let sum: u32 = widths.iter().sum();
    if sum > 100 {
        findings.fault(
            0..0,
            ProblemCode::Distribution,
            format!("the zones' percentages of the file add up to {sum}%, more than 100%"),
        );
        return None;
    }
    if sum != 100 {
        findings
            .quirk(0..0, ProblemCode::Distribution, format!("the zones' percentages of the file add up to {sum}%"))
            .help("make them add up to 100, with `0/…` for an unused part");
    }
    Some(Distribution::Zoned(zones.into_iter().map(|zone| zone.0).zip(widths).collect()))
}

fn bytes_of_file(zones: Vec<(u32, Option<Bytes>)>, findings: &mut Findings) -> Option<Distribution> {
    let zones: Option<Vec<_>> = zones.into_iter().map(|(share, width)| Some((share, width?))).collect();
    if zones.is_none() {
        findings
            .fault(0..0, ProblemCode::Distribution, "every zone needs a size")
            .help("write `percentage/size:percentage/size`");
    }
    zones.map(Distribution::ZonedAbs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(text: &str) -> Option<Distribution> {
        let (word, argument) = text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest)));
        read(word, argument, &mut Findings::default())
    }

    #[test]
    fn distributions_are_parsed() {
        assert_eq!(read_one("zipf"), Some(Distribution::Zipf { theta: 1.1, center: None }));
        assert_eq!(read_one("pareto:0.3:0.5"), Some(Distribution::Pareto { h: 0.3, center: Some(0.5) }));
        assert_eq!(read_one("zoned:60/10:40/90"), Some(Distribution::Zoned(vec![(60, 10), (40, 90)])));
        assert_eq!(read_one("zoned:50/5:30/15:20/"), Some(Distribution::Zoned(vec![(50, 5), (30, 15), (20, 80)])));
        let absolute = vec![(60, Bytes::new(4096)), (40, Bytes::new(8192))];
        assert_eq!(read_one("zoned_abs:60/4k:40/8k"), Some(Distribution::ZonedAbs(absolute)));
    }

    #[test]
    fn sequences_are_parsed() {
        let read = |text| sequence(Some(text), &mut Findings::default());
        assert_eq!(read("2, 0,1"), Some(Distribution::Sequence { blocks: vec![2, 0, 1], strided: false }));
        let ones = |count| vec!["1"; count].join(",");
        assert!(sequence(Some(&ones(64)), &mut Findings::default()).is_some());
        assert_eq!(sequence(Some(&ones(65)), &mut Findings::default()), None);
        for text in ["", "x", "1,", "-1", "1:2"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(sequence(None, &mut Findings::default()), None);
    }

    #[test]
    fn invalid_distributions_are_refused() {
        let zones = ["zoned:60/10", "zoned:x/1", "zoned:50/60:50/60"];
        for text in ["zipf:1", "zipf:x", "zipf:1.1:2", "pareto:2", "normal:200", "sequence:1"].iter().chain(&zones) {
            assert_eq!(read_one(text), None, "{text}");
        }
    }
}

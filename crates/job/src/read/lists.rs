//! Parses lists: values per kind of operation, ranges, splits, decimals, CPUs.

use super::Findings;
use super::number::{self, NumberUnit};
use units::ProblemCode;

use crate::model::NumaNodes;

/// A part of a list with its offset in the text.
pub(crate) type Part<'a> = (usize, &'a str);

/// Splits `text` at every `separator`.
pub(crate) fn split(text: &str, separator: char) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for part in text.split(separator) {
        parts.push((start, part));
        start += part.len() + separator.len_utf8();
    }
    parts
}

/// Parses a list of numbers as fio does and passes to `set` the slot of each, whether it is the last, and its value.
///
/// fio splits at the first comma ahead, else at the first colon, else at the first dash, which may also be a sign:
/// `-4k` is read as -4k, then as 4k. The last element also fills later slots. fio ignores an invalid element if another
/// one is valid.
pub(crate) fn numbers(text: &str, unit: NumberUnit, findings: &mut Findings, mut set: impl FnMut(usize, bool, i64)) {
    let (mut start, mut slot, mut any) = (0, 0, false);
    let mut unread = Vec::new();
    loop {
        let rest = &text[start..];
        let next = separator(rest);
        let mut scratch = Findings::default();
        let value = number::read(rest, unit, &mut scratch);
        report_element(rest, next, value.is_some(), start, &mut scratch, findings);
        match value {
            Some(value) => {
                any = true;
                set(slot, next.is_none(), value);
            }
            None => unread.push(start..start + next.unwrap_or(rest.len())),
        }
        let Some(next) = next else { break };
        start += next + 1;
        slot += 1;
    }
    report_unread(text, any, &unread, findings);
}

fn separator(rest: &str) -> Option<usize> {
    [',', ':', '-'].iter().find_map(|&c| rest.find(c))
}

fn report_element(
    rest: &str,
    next: Option<usize>,
    readable: bool,
    start: usize,
    scratch: &mut Findings,
    findings: &mut Findings,
) {
    if !readable {
        return;
    }
    // The caller reports signs: it knows what a negative value means.
    let odd = next.filter(|&at| at > 0 && !rest[at..].starts_with(','));
    // fio's search for a suffix continues past a colon or a dash; its findings are due to the separator reported below.
    scratch.items.retain(|item| odd.is_none_or(|at| item.at.end <= at));
    for mut item in scratch.items.drain(..) {
        item.at = item.at.start + start..item.at.end + start;
        findings.within(0, |f| f.take(item));
    }
    let reported = findings.items.iter().any(|item| item.code == ProblemCode::ListSeparator);
    if let Some(at) = odd.filter(|_| !reported) {
        findings
            .quirk(
                start..start + rest.len(),
                ProblemCode::ListSeparator,
                format!("unexpected separator `{}`", &rest[at..=at]),
            )
            .note(format!("fio starts another value there, as after a `,`: `{rest}` is a list"))
            .help("separate the values for reads, writes and trims by `,`; a range is `bsrange=`");
    }
}

fn report_unread(text: &str, any: bool, unread: &[std::ops::Range<usize>], findings: &mut Findings) {
    if !any {
        number::refuse(text, findings);
        return;
    }
    for range in unread.iter().filter(|range| !text[(*range).clone()].is_empty()) {
        findings
            .quirk(range.clone(), ProblemCode::ListElement, format!("`{}` is not a number", &text[range.clone()]))
            .note("fio skips it because another element of the list is valid");
    }
}

/// Parses `low-high` or a single number, as fio parses a list of two.
pub(crate) fn interval(text: &str, unit: NumberUnit, findings: &mut Findings, mut set: impl FnMut(usize, bool, i64)) {
    let mut scratch = Findings::default();
    numbers(text, unit, &mut scratch, &mut set);
    for item in scratch.items.into_iter().filter(|item| item.code != ProblemCode::ListSeparator) {
        findings.take(item);
    }
}

/// Parses the count after the colon of a word; 0 if there is none.
pub(crate) fn leading_count(text: &str, findings: &mut Findings) -> u32 {
    if text.is_empty() {
        return 0;
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if digits < text.len() {
        findings
            .quirk(
                digits..text.len(),
                ProblemCode::TrailingText,
                format!("`{}` is not part of a number", &text[digits..]),
            )
            .note("fio drops it");
    }
    text[..digits].parse().unwrap_or(0)
}

/// Parses ranges `low-high` and passes to `set` the slot of each, whether it is the last, and its ends in order.
pub(crate) fn ranges(
    text: &str,
    unit: NumberUnit,
    findings: &mut Findings,
    mut set: impl FnMut(usize, bool, i64, i64),
) {
    let parts = split(text, ',');
    let mut any = false;
    for (slot, &(start, part)) in parts.iter().enumerate() {
        let last = slot + 1 == parts.len();
        match findings.within(start, |f| range(part, unit, f)) {
            Some((low, high)) => {
                any = true;
                set(slot, last, low.min(high), low.max(high));
            }
            None if part.is_empty() => {}
            None => {
                findings
                    .quirk(start..start + part.len(), ProblemCode::ListElement, format!("`{part}` is not a range"))
                    .note("fio skips it if another range of the list is valid")
                    .help("a range is `low-high`, for example `4k-64k`");
            }
        }
    }
    if !any {
        findings
            .fault(0..text.len(), ProblemCode::ListElement, format!("`{text}` is not a range"))
            .help("a range is `low-high`, for example `4k-64k`");
    }
}

/// Parses one range. Its upper end follows the first dash, or else the first colon.
fn range(part: &str, unit: NumberUnit, findings: &mut Findings) -> Option<(i64, i64)> {
    let at = part.find('-').or_else(|| part.find(':'))?;
    let (low_text, high_text) = (&part[..at], &part[at + 1..]);
    let mut scratch = Findings::default();
    let low = number::read(low_text, unit, &mut scratch);
    let high = scratch.within(at + 1, |f| number::read(high_text, unit, f));
    let both = low.zip(high)?;
    scratch.items.into_iter().for_each(|item| findings.take(item));
    Some(both)
}

/// Parses `size/percent:size/percent…` for one kind of operation; the percentages returned add up to 100.
///
/// As in fio, entries whose percentage is absent, zero or above 100 divide what the others leave. Entries are sorted by
/// percentage, and the last one gets the rest.
pub(crate) fn block_split(text: &str, kb_base: u32, findings: &mut Findings) -> Option<Vec<(i64, u32)>> {
    let mut entries = Vec::new();
    // fio stops at the first empty element.
    for (start, part) in split(text, ':').into_iter().take_while(|(_, part)| !part.is_empty()) {
        entries.push(findings.within(start, |f| split_entry(part, kb_base, f))?);
    }
    let given: u32 = entries.iter().filter_map(|entry| entry.1).sum();
    let open = entries.iter().filter(|entry| entry.1.is_none()).count() as u32;
    if given > 100 || (open == 0 && given < 100 && !entries.is_empty()) {
        findings
            .quirk(0..text.len(), ProblemCode::Percent, format!("the percentages add up to {given}%"))
            .note("fio sorts the entries by percentage, cuts them off at 100% and assigns the rest to the last one")
            .help("make the percentages add up to 100");
    }
    let each = 100_u32.saturating_sub(given).checked_div(open).unwrap_or(0);
    let mut shares: Vec<(i64, u32)> = entries.into_iter().map(|(size, share)| (size, share.unwrap_or(each))).collect();
    shares.sort_by_key(|entry| entry.1);
    cut_off(&mut shares);
    (!shares.is_empty()).then_some(shares)
}

fn split_entry(part: &str, kb_base: u32, findings: &mut Findings) -> Option<(i64, Option<u32>)> {
    let (size_text, share_text) = part.split_once('/').map_or((part, None), |(size, share)| (size, Some(share)));
    let size = number::read(size_text, NumberUnit::Count { kb_base }, findings)?;
    let share = share_text.filter(|text| !text.is_empty()).and_then(|text| {
        let read = text.parse::<u32>().ok().filter(|share| (1..=100).contains(share));
        if read.is_none() {
            let start = size_text.len() + 1;
            findings
                .quirk(
                    start..part.len(),
                    ProblemCode::Percent,
                    format!("`{text}` is not a whole percentage from 1 to 100"),
                )
                .note("fio gives the entry an equal share of the rest, or reads only its leading digits");
        }
        read.or_else(|| leading_share(text))
    });
    Some((size, share))
}

fn leading_share(text: &str) -> Option<u32> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().ok().filter(|share| (1..=100).contains(share))
}

fn cut_off(shares: &mut Vec<(i64, u32)>) {
    let mut left = 100;
    let last = shares.len().saturating_sub(1);
    for (index, entry) in shares.iter_mut().enumerate() {
        entry.1 = if index == last { left } else { entry.1.min(left) };
        left -= entry.1;
    }
    shares.retain(|entry| entry.1 > 0);
}

/// Parses decimal numbers separated by `:`, of which the first `most` count.
pub(crate) fn floats(text: &str, most: usize, range: (f64, f64), findings: &mut Findings) -> Option<Vec<f64>> {
    let mut values = Vec::new();
    for (start, part) in split(text, ':') {
        let value = findings.within(start, |f| float(part, range, f))?;
        values.push(value);
    }
    if values.len() > most {
        findings
            .quirk(
                0..text.len(),
                ProblemCode::ListLength,
                format!("{} values, but at most {most} are allowed", values.len()),
            )
            .note(format!("fio uses the first {most}"));
        values.truncate(most);
    }
    Some(values)
}

fn float(part: &str, (least, most): (f64, f64), findings: &mut Findings) -> Option<f64> {
    let length = part.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(part.len());
    let Some(value) = (0..=length).rev().find_map(|end| part.get(..end)?.parse::<f64>().ok()) else {
        findings.fault(0..part.len(), ProblemCode::NotANumber, format!("`{part}` is not a number"));
        return None;
    };
    if !(least..=most).contains(&value) {
        findings.fault(
            0..part.len(),
            ProblemCode::OutOfRange,
            format!("`{part}` is outside the range {least} to {most}"),
        );
        return None;
    }
    if length < part.len() {
        findings
            .quirk(
                length..part.len(),
                ProblemCode::TrailingText,
                format!("unexpected `{}` after the number", &part[length..]),
            )
            .note("fio ignores everything from there on")
            .help("separate the values by `:`");
    }
    Some(value)
}

/// Parses a list of CPUs such as `0-3,5`.
pub(crate) fn processors(text: &str, findings: &mut Findings) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    // fio stops at the first empty element.
    for (start, part) in split(text, ',').into_iter().take_while(|(_, part)| !part.is_empty()) {
        findings.within(start, |f| processor_range(part, &mut cpus, f))?;
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// Highest number of a NUMA node (`MAX_NUMNODES` of the largest kernel configuration).
const NODE_MAX: u32 = 1023;

/// Reads NUMA nodes: `all`, or numbers and ranges separated by commas.
pub(crate) fn numa_nodes(text: &str, findings: &mut Findings) -> Option<NumaNodes> {
    if text == "all" {
        return Some(NumaNodes::All);
    }
    let mut nodes = Vec::new();
    for (start, part) in split(text, ',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        match (low.parse::<u32>(), high.parse::<u32>()) {
            (Ok(low), Ok(high)) if low <= high && high <= NODE_MAX => nodes.extend(low..=high),
            _ => {
                let problem = format!("`{part}` is neither a NUMA node nor a range of nodes");
                findings
                    .fault(start..start + part.len(), ProblemCode::ListElement, problem)
                    .help("write for example `0-1,3`, or `all`; see numactl --hardware");
                return None;
            }
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    Some(NumaNodes::Only(nodes))
}

/// Highest CPU number in an affinity mask.
const CPU_MAX: u32 = 8191;

fn processor_range(part: &str, cpus: &mut Vec<u32>, findings: &mut Findings) -> Option<()> {
    let (low, high) = part.split_once(['-', ':']).unwrap_or((part, part));
    let read = |text: &str| text.trim().parse::<u32>().ok();
    let (Some(low), Some(high)) = (read(low), read(high)) else {
        findings
            .quirk(0..part.len(), ProblemCode::ListElement, format!("`{part}` is neither a CPU nor a range of CPUs"))
            .note("fio reads it as CPU 0")
            .help("write for example `0-3,5`");
        cpus.push(0);
        return Some(());
    };
    if high > CPU_MAX {
        findings.fault(0..part.len(), ProblemCode::OutOfRange, format!("CPU {high} does not exist"));
        return None;
    }
    if low > high {
        findings
            .quirk(0..part.len(), ProblemCode::ListElement, format!("the range `{part}` is empty"))
            .note("fio adds no CPU, and fails when the job starts")
            .help(format!("write `{high}-{low}`"));
    }
    cpus.extend(low..=high);
    Some(())
}

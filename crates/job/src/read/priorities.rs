//! `cmdprio_bssplit`: percentages of operations with a priority, for each block size.

use super::Findings;
use super::lists::{self, Part};
use super::number::{self, NumberUnit};
use units::ProblemCode;

use crate::model::{IoPriority, PriorityShare};

/// Parses `size/percent[/class/level[/hint]]:…` for one kind of operation. A size without a percentage gets none.
pub(crate) fn shares(text: &str, kb_base: u32, findings: &mut Findings) -> Option<Vec<PriorityShare>> {
    let mut all: Vec<PriorityShare> = Vec::new();
    for (start, entry) in lists::split(text, ':') {
        let share = findings.within(start, |findings| share(entry, kb_base, findings))?;
        all.push(share);
        let total: u32 = all.iter().filter(|one| one.bytes == share.bytes).map(|one| one.percentage).sum();
        if total > 100 {
            findings
                .fault(
                    start..start + entry.len(),
                    ProblemCode::Percent,
                    format!("the percentages for blocks of {} bytes add up to {total}%", share.bytes),
                )
                .help("make the percentages of each block size add up to at most 100");
            return None;
        }
    }
    Some(all)
}

fn share(entry: &str, kb_base: u32, findings: &mut Findings) -> Option<PriorityShare> {
    let parts = lists::split(entry, '/');
    let limits = [100, 3, 7, 1023];
    let mut numbers = [0; 4];
    if !matches!(parts.len(), 1 | 2 | 4 | 5) {
        findings
            .fault(
                0..entry.len(),
                ProblemCode::UnknownValue,
                format!("`{entry}` is neither SIZE/PERCENT nor SIZE/PERCENT/CLASS/LEVEL"),
            )
            .help("write, for example, `4k/50` or `4k/50/1/0`");
        return None;
    }
    let unit = NumberUnit::Count { kb_base };
    let bytes = findings.within(parts[0].0, |findings| number::read(parts[0].1, unit, findings))?;
    for ((number, most), &(at, text)) in numbers.iter_mut().zip(limits).zip(&parts[1..]) {
        *number = findings.within(at, |findings| at_most(text, most, findings))?;
    }
    let [percentage, class, level, hint] = numbers;
    if parts.len() > 2 && class == 0 {
        let (at, text): Part<'_> = parts[2];
        findings.fault(at..at + text.len(), ProblemCode::OutOfRange, "a class must be from 1 to 3");
        return None;
    }
    let priority =
        (parts.len() > 2).then_some(IoPriority { class: class as u8, level: level as u8, hint: hint as u16 });
    Some(PriorityShare { bytes: bytes as u64, percentage, priority })
}

fn at_most(text: &str, most: u32, findings: &mut Findings) -> Option<u32> {
    match text.parse::<u32>() {
        Ok(number) if number <= most => Some(number),
        _ => {
            findings
                .fault(0..text.len(), ProblemCode::OutOfRange, format!("`{text}` is not a number up to {most}"))
                .help(format!("write a number from 0 to {most}"));
            None
        }
    }
}

//! Figures of fio's normal output without the lines that begin its results: `read: IOPS=4282, BW=268MiB/s …` alone.

use super::block::{NormalBlock, ResultWorkers};
use super::figures::NormalLine;
use super::{GROUP, NormalReader, closing, is_header, is_result};
use crate::input::Problem;
use crate::input::is_of_result;
use crate::input::text::InputText;
use crate::{Note, Run};

/// Reports whether a line begins as one with the rates of a kind.
pub(super) fn is_rates(text: &str) -> bool {
    let begins = |kind: &str| text.strip_prefix(kind).is_some_and(|rest| rest.trim_start().starts_with(':'));
    ["read", "write", "trim", "mixed"].into_iter().any(begins)
}

/// Names the lines with rates that belong to no result of a text, and are not printed twice.
pub(in crate::input) fn outside(text: &InputText) -> Option<String> {
    let (mut found, mut known): (Vec<usize>, Option<Vec<&str>>) = (Vec::new(), None);
    let mut begun = false;
    for index in 0..text.len() {
        let line = text.line(index).trim();
        begun |= is_header(line) || is_result(line);
        if is_header(line) || is_result(line) {
            known = Some(Vec::new());
        } else if !begun && closing::is_rates_of_group(NormalLine::of(text, index)) {
            found.push(index);
        } else if line.starts_with(GROUP) {
            known = None;
        } else if begin(NormalLine::of(text, index)).is_some() {
            let kind = line.split([' ', ':']).next().unwrap_or_default();
            match &mut known {
                Some(known) if !known.contains(&kind) => known.push(kind),
                _ => found.push(index),
            }
        }
    }
    found.retain(|&index| text.lines().filter(|line| line.trim() == text.line(index).trim()).count() == 1);
    let lines: Vec<String> = found.iter().map(|index| (index + 1).to_string()).collect();
    let (last, others) = lines.split_last()?;
    Some(match others.is_empty() {
        true => format!("ignored: the rates on line {last}, whose job is missing"),
        false => format!("ignored: the rates on lines {} and {last}, whose jobs are missing", others.join(", ")),
    })
}

/// Returns a result with the rates on a line; `None` if there are none.
fn begin(line: NormalLine<'_>) -> Option<NormalBlock> {
    let mut block = NormalBlock::default();
    block.begins = line.index;
    block.result.workers = 1;
    (is_rates(line.text) && block.line(line).is_ok() && block.has_transfers()).then_some(block)
}

/// Reports whether a text has such figures, and no line that begins a result.
pub(in crate::input) fn is_in(text: &InputText) -> bool {
    let is_rates = |index| !text.may_be_cut(index) && begin(NormalLine::of(text, index)).is_some();
    !text.lines().any(is_result) && (0..text.len()).any(is_rates)
}

/// Reads them: kinds that follow each other and ran equally long are of one result.
pub(in crate::input) fn read(text: &InputText) -> Result<Run, Problem> {
    let mut blocks: Vec<NormalBlock> = Vec::new();
    let mut is_open = false;
    for index in (0..text.len()).filter(|&index| !text.may_be_cut(index)) {
        let line = NormalLine::of(text, index);
        if let Some(block) = begin(line) {
            match blocks.last_mut().filter(|last| is_open && ran_together(last, &block)) {
                Some(last) => last.line(line)?,
                None => blocks.push(block),
            }
            is_open = true;
        } else if let Some(last) = blocks.last_mut().filter(|_| is_open && is_of_result(line.text)) {
            // Lines that were damaged by hand say nothing else of interest.
            let _ = last.line(line);
        } else {
            is_open &= line.text.is_empty();
        }
    }
    let several = blocks.len() > 1;
    for (number, block) in (0_u32..).zip(&mut blocks) {
        block.result.name = if several { format!("result {}", number + 1) } else { "result".to_owned() };
        // Whether they ran at the same time is not known.
        block.result.group = number;
        block.estimate_workers();
    }
    let note = "the names, options and number of the jobs are missing from this text";
    let mut notes = vec![Note::of_run(note)];
    for (number, block) in (0_u32..).zip(&blocks) {
        let workers = block.result.workers;
        if block.workers == ResultWorkers::Estimated && workers > 1 {
            let text =
                format!("the number of jobs ({workers}) is estimated from their samples or percentages (`per=`)");
            notes.push(Note::of_result(&block.result.name, number, text));
        }
    }
    NormalReader { blocks, notes, ..NormalReader::default() }.run(text)
}

/// Reports whether another kind ran as long as those of a result.
fn ran_together(result: &NormalBlock, other: &NormalBlock) -> bool {
    const EQUAL: f64 = 0.01;
    let runtime_ns =
        |block: &NormalBlock| block.measured().kinds().map(|(_, kind)| kind.runtime_ns).max().unwrap_or(0) as f64;
    let are_apart = result
        .measured()
        .kinds()
        .zip(other.measured().kinds())
        .all(|((_, a), (_, b))| a.runtime_ns == 0 || b.runtime_ns == 0);
    are_apart && (runtime_ns(result) - runtime_ns(other)).abs() <= EQUAL * runtime_ns(result)
}

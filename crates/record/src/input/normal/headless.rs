//! Figures of fio's normal output without the lines that begin its results: `read: IOPS=4282, BW=268MiB/s …` alone.

use super::block::NormalBlock;
use super::figures::NormalLine;
use super::{NormalReader, is_result};
use crate::Note;
use crate::input::is_of_result;
use crate::input::text::InputText;
use crate::input::{Input, InputError, of_run};

/// Returns a result with the rates on a line; `None` if there are none.
fn begin(line: NormalLine<'_>) -> Option<NormalBlock> {
    let mut block = NormalBlock::default();
    block.begins = line.index;
    block.result.workers = 1;
    let is_rates = ["read", "write", "trim", "mixed"].iter().any(|kind| line.text.starts_with(kind));
    (is_rates && block.line(line).is_ok() && block.has_transfers()).then_some(block)
}

/// Reports whether a text has such figures, and no line that begins a result.
pub(in crate::input) fn is_in(text: &InputText) -> bool {
    let is_rates = |index| !text.may_be_cut(index) && begin(NormalLine::of(text, index)).is_some();
    !text.lines().any(is_result) && (0..text.len()).any(is_rates)
}

/// Reads them: kinds that follow each other and ran equally long are of one result.
pub(in crate::input) fn read(text: &InputText) -> Result<Input, InputError> {
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
    }
    let note = "these figures stand without the names, the options and the number of the jobs that they belong to";
    let notes = vec![Note { job: None, text: note.to_owned() }];
    NormalReader { blocks, notes, ..NormalReader::default() }.run(text).map(of_run)
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

//! Syncs of fio's normal output without the result they belong to.

use super::block::NormalBlock;
use super::figures::NormalLine;
use crate::input::stated::{StatedLoad, input, result};
use crate::input::text::InputText;
use crate::input::{Input, Problem};

/// Heading of the latencies of syncs in a result.
const HEADING: &str = "fsync/fdatasync/sync_file_range:";

/// Reports whether a text has latencies of syncs, and none of transfers.
pub(in crate::input) fn is_in(text: &InputText) -> bool {
    let is_transfer = |line: &str| line.contains("IOPS=") || line.contains("iops=");
    let has_latency = |index: usize| text.line(index).trim() == HEADING && is_latency(text, index + 1);
    (1..text.len()).any(|next| has_latency(next - 1)) && !text.lines().any(is_transfer)
}

fn is_latency(text: &InputText, index: usize) -> bool {
    let line = text.line(index).trim();
    line.starts_with("sync (") && line.contains("min=")
}

pub(in crate::input) fn read(text: &InputText) -> Result<Input, Problem> {
    let mut blocks: Vec<NormalBlock> = Vec::new();
    for index in 0..text.len() {
        let line = NormalLine::of(text, index);
        if line.text == HEADING {
            blocks.push(NormalBlock::default());
        } else if let Some(block) = blocks.last_mut() {
            block.line(line)?;
        }
    }
    let job = |(number, mut block): (usize, NormalBlock)| {
        let name = if number == 0 { "syncs".to_owned() } else { format!("syncs {}", number + 1) };
        let mut job = result(&name, 0, number, &StatedLoad::default());
        job.result.sync = std::mem::take(&mut block.result.result.sync);
        job.declared.percentiles = job.result.sync.quoted_percents();
        job.declared.syncs = true;
        job
    };
    let jobs = blocks.into_iter().filter(|block| block.measured().sync.count > 0).enumerate().map(job).collect();
    let note = "these are the syncs of a result without its other figures: their number and duration are unknown";
    Ok(input("fio", jobs, &[note.to_owned()]))
}

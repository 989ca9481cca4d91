//! What a trace contains of what a job replays.
//!
//! A trace is read twice: here before anything is opened, because the write gate, the size of files, the buffers and
//! the queue depth follow from its content ([`ReplayFacts`]). Until then a job counts as one that reads, writes and
//! trims.

use job::{ReplayFacts, ReplayOptions};
use trace::TraceEnd;
use units::{Nanos, OpKind, Problem, ProblemCode, counted};

use super::feed::{DATA_BYTES_MAX, FedRequest, TraceFeed};
use crate::TraceBytes;

/// Reads a trace once and returns what a job replays of it.
///
/// # Errors
///
/// Fails if the trace cannot be read, is of no known format or is damaged, unless it is one of Fathom: what is damaged
/// there is left out, and a note says so. Fails also if nothing is left to replay.
pub fn scan_trace(options: &ReplayOptions, bytes: Box<dyn TraceBytes>) -> Result<ReplayFacts, Problem> {
    let mut feed = TraceFeed::new(options, bytes);
    let mut facts = ReplayFacts::default();
    let (mut multiples, mut spans) = (1 << 20, Vec::new());
    let mut first = None;
    while let Some(request) = feed.next() {
        first.get_or_insert(request.at);
        add(&mut facts, &mut multiples, &mut spans, &request);
        facts.last = Nanos::new(request.at.saturating_add(options.start.get()));
    }
    if let Some(error) = feed.error {
        return Err(error);
    }
    let Some(first) = first else {
        let notes: String = described(&feed).iter().map(|note| format!(", {note}")).collect();
        let what = format!("{}: nothing to replay{notes}", options.trace);
        return Err(Problem::error(ProblemCode::Trace, what).help("choose another part of it, or another trace"));
    };
    facts.first = Nanos::new(first.saturating_add(options.start.get()));
    facts.unit = 1 << u64::trailing_zeros(multiples);
    facts.has_completions = feed.has_completions();
    facts.devices = names(&feed, spans);
    facts.notes = described(&feed);
    Ok(facts)
}

fn add(facts: &mut ReplayFacts, multiples: &mut u64, spans: &mut Vec<u64>, request: &FedRequest) {
    facts.syncs += u64::from(request.syncs_before) + u64::from(request.syncs_after);
    let device = usize::from(request.device);
    if spans.len() <= device {
        spans.resize(device + 1, 0);
    }
    let slot = match request.kind {
        OpKind::Read => 0,
        OpKind::Write => 1,
        OpKind::Trim => 2,
        OpKind::Sync | OpKind::DataSync | OpKind::SyncRange | OpKind::SyncFilesystem => {
            facts.syncs += 1;
            return;
        }
    };
    *facts.operations.slot(slot) += 1;
    facts.bytes = facts.bytes.saturating_add(request.length.into());
    let (least, most) = facts.lengths.slot(slot);
    *least = if *most == 0 { request.length } else { request.length.min(*least) };
    *most = request.length.max(*most);
    *multiples |= request.offset | u64::from(request.length);
    spans[device] = spans[device].max(request.offset + u64::from(request.length));
}

/// Returns the names of the devices with their spans.
fn names(feed: &TraceFeed, spans: Vec<u64>) -> Vec<(String, u64)> {
    let known = feed.info().map_or(&[][..], |info| info.devices.as_slice());
    let name = |device: usize| known.get(device).map(|(name, _)| name.clone());
    let spans = spans.into_iter().enumerate();
    spans.map(|(device, span)| (name(device).unwrap_or_else(|| format!("device {device}")), span)).collect()
}

/// Describes what was left out or changed, one phrase each.
fn described(feed: &TraceFeed) -> Vec<String> {
    let counts = &feed.counts;
    let lost = feed.info().and_then(|info| info.lost).unwrap_or(0);
    let most = DATA_BYTES_MAX >> 20;
    let mut notes: Vec<String> = [
        (counts.others, "skipped: neither read, write, discard nor flush".to_owned()),
        (counts.empty, "skipped: without a length".to_owned()),
        (counts.beyond, "skipped: beyond the largest offset of a device".to_owned()),
        (counts.skipped, "skipped by `replay_skip`".to_owned()),
        (counts.divided, format!("split: longer than {most} MiB, or trims longer than 1 GiB")),
        (counts.late, "replayed later than recorded: the trace is out of order".to_owned()),
        (feed.early(), "replayed at the start: far out of order; sort the trace".to_owned()),
        (feed.missing(), "missing: parts of the trace are damaged or incomplete".to_owned()),
        (lost, "lost when the trace was captured".to_owned()),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{} {what}", counted(count, "request")))
    .collect();
    if let Some(what) = &counts.first_damage {
        notes.push(format!("damaged parts of the trace: {}, the first at {what}", counts.damaged));
    }
    match counts.end {
        Some(TraceEnd::Unfinished) => notes.push("the trace is incomplete: its capture did not finish".to_owned()),
        Some(TraceEnd::Truncated { position, bytes }) => {
            notes.push(format!("the trace is truncated: its last block, at byte {position}, has only {bytes} bytes"));
        }
        Some(TraceEnd::Complete) | None => {}
    }
    notes
}

//! Reconciles the settings of a job that depend on each other.

use units::Nanos;
use units::PerKind;

use crate::diagnostic::Diagnostic;
use crate::draft::JobDraft;
use crate::model::*;
use crate::strict::StrictContext;

/// The job that a draft amounts to, and what makes it impossible.
pub(crate) fn settle(draft: JobDraft, context: &StrictContext<'_>) -> (Job, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let block_sizes = block_sizes(&draft, context, &mut problems);
    let blockalign = block_align(&draft);
    let mut job = draft.job;
    job.pattern.block_sizes = block_sizes;
    job.pattern.blockalign = blockalign;
    settle_map(&mut job.pattern);
    settle_engine(&mut job.engine);
    // Without an end to run up to, a job ends where its data does.
    job.extent.time_based &= job.extent.runtime > Nanos::ZERO;
    if job.grouping.numjobs == 0 {
        problems.push(
            context
                .error("numjobs", "numjobs", "a job without workers has no effect")
                .note("fio clones it until it runs out of job slots, and fails")
                .remedy("write `numjobs=1`, or leave the job out"),
        );
    }
    if has_two_rates(&job.pace) {
        problems.push(
            context
                .error("two-rates", "rate_iops", "`rate` and `rate_iops` exclude each other")
                .note("fio refuses a job that gives both")
                .remedy("keep one of them"),
        );
    }
    if !job.files.filenames.is_empty() {
        // Of more names than `nrfiles`, given after them, fio uses the first.
        job.files.filenames.truncate(job.files.nrfiles as usize);
        job.files.nrfiles = job.files.filenames.len() as u32;
    }
    (job, problems)
}

/// Whether one kind of operation is to follow two schedules.
fn has_two_rates(pace: &JobPace) -> bool {
    let (bytes, iops) = (&pace.rate, &pace.rate_iops);
    let pairs = [(bytes.read, iops.read), (bytes.write, iops.write), (bytes.trim, iops.trim)];
    pairs.iter().any(|(bytes, iops)| bytes.is_some() && iops.is_some())
}

fn block_sizes(draft: &JobDraft, context: &StrictContext<'_>, problems: &mut Vec<Diagnostic>) -> PerKind<BlockSizes> {
    PerKind::from_slots(|slot| {
        let (sizes, option) = match (&draft.splits[slot], draft.ranges[slot]) {
            (Some(split), _) => (split.iter().map(|&(size, share)| (narrow(size), share)).collect(), "bssplit"),
            (None, Some((low, high))) => (vec![(narrow(low), 0), (narrow(high), 0)], "bsrange"),
            (None, None) => (vec![(narrow(draft.bs[slot]), 100)], "bs"),
        };
        if sizes.iter().any(|(size, _)| !(1..=BLOCK_MAX_BYTES).contains(size)) {
            let message = format!("block sizes range from 1 byte to {} MiB", BLOCK_MAX_BYTES >> 20);
            problems.push(context.error("block-size", option, &message));
        }
        match (sizes.as_slice(), option) {
            ([(low, _), (high, _)], "bsrange") if low != high => BlockSizes::Range(*low, *high),
            (_, "bssplit") if sizes.len() > 1 => BlockSizes::Split(sizes),
            _ => BlockSizes::Fixed(sizes[0].0),
        }
    })
}

/// The largest block: more would not fit into one request on Linux.
const BLOCK_MAX_BYTES: u32 = 1 << 30;

/// Saturates, so that what does not fit is found too large.
fn narrow(size: u64) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

fn block_align(draft: &JobDraft) -> Option<PerKind<u32>> {
    let [read, write, trim] = draft.align;
    if read.is_none() && write.is_none() && trim.is_none() {
        return None;
    }
    let least = |slot: usize| {
        let range = draft.ranges[slot].map(|range| range.0);
        let split = draft.splits[slot].as_ref().and_then(|split| split.iter().map(|entry| entry.0).min());
        split.or(range).unwrap_or(draft.bs[slot])
    };
    Some(PerKind::from_slots(|slot| narrow(draft.align[slot].unwrap_or_else(|| least(slot)))))
}

/// A map of blocks makes no sense where some blocks are meant to come more often, or where blocks may overlap.
fn settle_map(pattern: &mut Pattern) {
    let distributions = [&pattern.distribution.read, &pattern.distribution.write, &pattern.distribution.trim];
    let skewed = distributions.iter().any(|distribution| **distribution != Distribution::Uniform);
    pattern.norandommap |= skewed || pattern.blockalign.is_some();
}

/// Forgets what another engine was told.
fn settle_engine(options: &mut EngineOptions) {
    let ring = options.engine == Engine::IoUring;
    // An export, like a modelled volume, has no page cache of this host before it; other engines on a modelled one have, as
    // on a real one.
    options.direct |= matches!(options.engine, Engine::Model | Engine::Nbd);
    options.uri = options.uri.take().filter(|_| options.engine == Engine::Nbd);
    options.hipri &= ring || options.engine == Engine::Pvsync2;
    options.fixedbufs &= ring;
    options.registerfiles &= ring;
    options.sqthread_poll &= ring;
    options.sqthread_poll_cpu = options.sqthread_poll_cpu.filter(|_| ring);
}

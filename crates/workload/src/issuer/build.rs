//! Creates the issuer of a job.

use std::collections::BTreeSet;
use std::sync::Arc;

use job::{BlockSizes, Direction, Job, VerifyFormat};
use units::random::{Random, mix};

use super::data::{Data, IssuerInputs};
use super::pattern::{BacklogTrims, Parts, Pattern, PendingTrims, Phase, Streams, TrimRanges, UnverifiedWrites};
use crate::decision::{Decision, FileExtent, WorkerIndex};
use crate::files::JobLayout;
use crate::limits::Limits;
use crate::mix::Mix;
use crate::offsets::{Cursor, OffsetRules, min_size};
use crate::pace::Pace;
use crate::payload::Payload;
use crate::picker::Picker;
use crate::priorities::Priorities;
use crate::sizes::three;
use crate::syncs::SyncSchedule;
use crate::think::Think;
use crate::verify::Verifier;
use units::{OpKind, Problem};

impl Pattern {
    pub(super) fn new(job: &Job, worker: WorkerIndex, layout: &JobLayout, seed: u64) -> Result<Self, Problem> {
        let seed = job.pattern.randseed.unwrap_or(seed);
        let own = mix(seed, u64::from(worker.index));
        let mix = Mix::new(job);
        let used = used_kinds(job, mix);
        let rules = OffsetRules::new(job, used, own);
        let files = cursors(job, &rules, layout, used)?;
        let pace = Pace::new(job, mix, own);
        let mut verifier = verifier(job, &rules, &pace, used, (seed, worker, layout))?;
        let order = numbers_writes(job, &rules, verifier.as_ref());
        verifier.iter_mut().for_each(|verifier| verifier.numbered = order);
        let usable = files.iter().map(Cursor::pass_bytes).fold(0, u64::saturating_add);
        let reads_back = reads_back(job);
        let pairs = (job.pattern.direction == Direction::TrimWrite).then(PendingTrims::default);
        // The writes of pairs follow their trims, and are read back at the end of the pass.
        let backlog = job.verify.backlog.filter(|_| pairs.is_none()).unwrap_or(u64::MAX);
        let unverified =
            UnverifiedWrites { backlog, full_at: backlog, failed: BTreeSet::new(), start: None, listed: None };
        let parts = Parts {
            syncs: SyncSchedule::new(job, files.len()),
            think: Think::new(job),
            priorities: Priorities::new(job, own),
            ranges: TrimRanges::new(job.engine.nvme.ranges as usize),
            pairs,
            trims: backlog_trims(job, &rules, verifier.as_ref(), own)?,
            order: order.then(Default::default),
            written: None,
        };
        Ok(Self {
            phase: Phase::Load,
            mix,
            pace,
            limits: Limits::new(job, layout, usable, rules.has_passes(), reads_back),
            picker: Picker::new(job.files.service, job.files.openfiles, files.len(), own),
            files,
            streams: Streams { kinds: Random::new(own, 1), places: Random::new(own, 2), files: Random::new(own, 3) },
            sequence: 0,
            completed: 0,
            writes: 0,
            loop_start: 0,
            within_pass: false,
            invalidates: job.files.invalidate && !job.engine.direct && rules.has_passes(),
            checks_reads: verifier.is_some() && job.pattern.direction == Direction::Read,
            rules,
            parts: parts.boxed(),
            unverified: reads_back.then(|| Box::new(unverified)),
            data: Data {
                payload: Payload::new(job, own, usable / u64::from(job.pattern.block_sizes.write.min().max(1))),
                verifier,
                inputs: Arc::new(IssuerInputs { job: job.clone(), worker, layout: layout.clone(), seed }),
            },
        })
    }

    /// Returns what the operations have in common, if each is a block of one size in one file and nothing but the phase
    /// has to be looked at before it.
    pub(super) fn uniform_operation(&self) -> Option<Decision> {
        let Mix::Only(kind) = self.mix else { return None };
        let is_uniform = self.parts.is_none() && self.files.len() == 1 && matches!(self.pace, Pace::Closed);
        let length = self.rules.plain_length(kind).filter(|_| is_uniform)?;
        Some(Decision { checked: self.checks_reads, ..Decision::of(kind, length) })
    }
}

/// Reports whether headers show the number of the write.
fn numbers_writes(job: &Job, rules: &OffsetRules, verifier: Option<&Verifier>) -> bool {
    let writes = job.pattern.direction.writes() && !job.verify.only;
    writes && rules.may_overlap() && verifier.is_some_and(Verifier::shows_writes)
}

/// Reports whether writes are read back before anything overwrites them.
fn reads_back(job: &Job) -> bool {
    job.verify.reads_back() && job.pattern.direction.writes()
}

/// Creates the trims of a job that trims what it has written.
fn backlog_trims(
    job: &Job,
    rules: &OffsetRules,
    verifier: Option<&Verifier>,
    own: u64,
) -> Result<Option<BacklogTrims>, Problem> {
    let writes = verifier.is_some() && job.pattern.direction.writes();
    let refused = |why: &str, help: &str| {
        let message = format!("blocks cannot be trimmed before they are verified: {why}");
        Err(job.unfit("trim_percentage", message).help(help))
    };
    if job.verify.only && writes && job.verify.trims.is_any() {
        return refused("`verify_only` has no record of blocks that the earlier run trimmed", "verify in the same run");
    }
    if !job.trims_written() {
        return Ok(None);
    }
    if rules.may_overlap() {
        return refused(
            "a pass writes blocks more than once, so a trim may precede or follow the last write",
            "leave out `norandommap` and skewed distributions",
        );
    }
    if verifier.is_some_and(Verifier::shares_regions) {
        return refused(
            "other workers write to the same region and trim blocks of this one",
            "give each worker its own file or region",
        );
    }
    Ok(Some(BacklogTrims::new(job.verify.trims, own)))
}

fn used_kinds(job: &Job, mix: Mix) -> [bool; 3] {
    let pairs = job.pattern.direction == Direction::TrimWrite;
    // Sizes of reads and writes are then those of sequential and random operations of any kind.
    let both = job.pattern.sizes_by_order;
    [mix.includes(OpKind::Read) || both, (mix.includes(OpKind::Write) && !pairs) || both, mix.includes(OpKind::Trim)]
}

/// Returns the maximum length of an operation.
pub(super) fn most_bytes(job: &Job) -> u32 {
    let used = used_kinds(job, Mix::new(job));
    let most = three(&job.pattern.block_sizes, BlockSizes::max);
    most.into_iter().zip(used).filter_map(|(most, used)| used.then_some(most)).max().unwrap_or(0)
}

/// Returns the memory in bytes that a worker's block maps take at the start of the job.
///
/// # Errors
///
/// Fails if a region has too many blocks for a map.
pub fn map_bytes(job: &Job, layout: &JobLayout) -> Result<u64, Problem> {
    let rules = OffsetRules::new(job, used_kinds(job, Mix::new(job)), 0);
    layout.files.iter().enumerate().try_fold(0_u64, |sum, (index, extent)| {
        check_map(job, &rules, index, extent.length)?;
        Ok(sum.saturating_add(rules.map_bytes(extent.length)))
    })
}

fn check_map(job: &Job, rules: &OffsetRules, index: usize, length: u64) -> Result<(), Problem> {
    if let Some(Err(problem)) = rules.regions(length) {
        return Err(job.unfit_because("spr_num_regions", problem));
    }
    if rules.is_too_large(length) {
        let (name, number) = (&job.name, index + 1);
        let message = format!("file {number} of job {name} has too many blocks for a map");
        return Err(job.unfit("size", message).help("set norandommap"));
    }
    Ok(())
}

fn cursors(job: &Job, rules: &OffsetRules, layout: &JobLayout, used: [bool; 3]) -> Result<Vec<Cursor>, Problem> {
    if layout.files.is_empty() {
        return Err(job.unfit("filename", "the job has no file"));
    }
    let least = u64::from(min_size(&rules.sizes, used));
    let greatest = (0..3).filter(|&kind| used[kind]).map(|kind| rules.sizes[kind].min()).max().unwrap_or(1);
    let cursor = |(index, extent): (usize, &FileExtent)| {
        let (name, number, length) = (&job.name, index + 1, extent.length);
        // A region too small for any kind does nothing. One that is large enough for some kinds only would loop
        // forever.
        if (least..u64::from(greatest)).contains(&length) {
            let message = format!("file {number} of job {name} has {length} bytes, less than a block of {greatest}");
            return Err(job.unfit("size", message));
        }
        check_map(job, rules, index, length)?;
        Ok(Cursor::new(rules, *extent, index, used))
    };
    layout.files.iter().enumerate().map(cursor).collect()
}

/// Creates the verifier of a job that verifies.
///
/// Without `verify_interval`, blocks have the minimum block size. So where writes of different sizes overlap
/// (`norandommap`, skewed distributions), each block is whole, whichever write was the last.
fn verifier(
    job: &Job,
    rules: &OffsetRules,
    pace: &Pace,
    used: [bool; 3],
    (seed, worker, layout): (u64, WorkerIndex, &JobLayout),
) -> Result<Option<Verifier>, Problem> {
    let Some(method) = job.verify.method else { return Ok(None) };
    let interval = match job.verify.format {
        VerifyFormat::Fathom => {
            let given = job.verify.interval.filter(|&interval| interval > 0);
            given.unwrap_or_else(|| min_size(&rules.sizes, used))
        }
        VerifyFormat::Fio => job.fio_verify_interval(),
    };
    if let Some(small) = job.small_block(false) {
        return Err(job.unfit(small.option, small.message()).help(small.help()));
    }
    let writes = job.pattern.direction.writes();
    if writes && rules.may_overlap() && !rules.keeps_to(interval, used) {
        let message = format!(
            "writes may overlap without being aligned to {interval} bytes, so intact blocks could look corrupt"
        );
        return Err(job.unfit("verify", message).help("choose sizes that are multiples of that"));
    }
    if writes && pace.order_depends_on_time() {
        let message = "with a rate for reads or writes only, the order of operations depends on the device and \
                       cannot be repeated for verification";
        return Err(job.unfit("verify", message).help("set a rate for both, or for neither"));
    }
    let nonce = if writes && !job.verify.only { Some(job.verify.nonce.unwrap_or(0)) } else { job.verify.nonce };
    Ok(Some(Verifier::new(method, &job.verify, interval, seed, nonce, worker.index, layout)))
}

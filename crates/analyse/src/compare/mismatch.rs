//! Whether runs are comparable: differences in conditions.

use record::{DataKind, DeclaredSizes, JobResult, Run, RunOutcome, TargetKind};
use serde::Serialize;

/// Runs that differ in length by more than this factor are told apart, and by more than the second are not comparable.
const RUNTIME: (f64, f64) = (1.25, 2.0);

/// Something in which two runs differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConditionMismatch {
    /// What differs.
    pub aspect: Aspect,
    /// The job, by its name in the baseline; `None` where it is the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// What the baseline has.
    pub baseline: MismatchValue,
    /// What the candidate has.
    pub candidate: MismatchValue,
    /// Whether figures mean nothing beside each other.
    pub blocking: bool,
}

/// A condition in which two runs may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Aspect {
    /// The job is in one of them only.
    Job,
    /// Simulated, or measured.
    Simulated,
    /// The modelled volumes.
    Volume,
    /// The block devices.
    Device,
    /// Regular files, block devices, files in memory.
    TargetKind,
    /// `rw`.
    Rw,
    /// Block sizes of one kind.
    BlockSize(DataKind),
    /// `ioengine`.
    Engine,
    /// `iodepth` of each worker.
    Depth,
    /// How many workers.
    Workers,
    /// `direct`.
    Direct,
    /// Whether writes are made durable.
    Syncs,
    /// Bytes of the region.
    Size,
    /// Operations per second asked for, over all kinds.
    RateIops,
    /// Bytes per second asked for, over all kinds.
    RateBytes,
    /// Idle time between blocks of operations.
    Thinktime,
    /// Whether written blocks are read back.
    Verify,
    /// How long was measured.
    Runtime,
    /// How it ended.
    Outcome,
    /// The name of the machine.
    Host,
    /// Its processors.
    Cpus,
    /// Its kernel.
    Kernel,
    /// What measured, with its version.
    Tool,
}

impl Aspect {
    /// Whether a difference makes the figures mean nothing beside each other. The name of a machine tells nothing of
    /// its storage: those of containers change with every start.
    const fn blocks(self) -> bool {
        !matches!(self, Self::Outcome | Self::Host | Self::Cpus | Self::Kernel | Self::Tool)
    }
}

/// The value of one side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MismatchValue {
    /// Nothing of the kind.
    Nothing,
    /// A word.
    Word(String),
    /// Yes or no.
    Yes(bool),
    /// A number of things, or of things per second.
    Count(u64),
    /// Bytes, or bytes per second.
    Bytes(u64),
    /// The least and the greatest size in bytes.
    BytesRange(u64, u64),
    /// A time in nanoseconds.
    Nanoseconds(u64),
}

impl MismatchValue {
    fn count(value: Option<u64>) -> Self {
        value.map_or(Self::Nothing, Self::Count)
    }

    fn bytes(value: Option<u64>) -> Self {
        value.map_or(Self::Nothing, Self::Bytes)
    }

    fn words<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut words: Vec<&str> = words.collect();
        words.sort_unstable();
        words.dedup();
        if words.is_empty() { Self::Nothing } else { Self::Word(words.join(", ")) }
    }
}

/// A condition and its value in a run or job; `None` where its record lacks it.
type Trait = (Aspect, Option<MismatchValue>);

/// Everything in which two runs differ, jobs by the places of their pairs.
#[must_use]
pub fn mismatches(baseline: &Run, candidate: &Run, pairs: &[(usize, usize)]) -> Vec<ConditionMismatch> {
    let mut found = differences(None, of_run(baseline), of_run(candidate));
    for &(a, b) in pairs {
        let (a, b) = (&baseline.jobs[a], &candidate.jobs[b]);
        found.extend(differences(Some(&a.name), of_job(a), of_job(b)));
        found.extend(runtimes(a, b));
    }
    found.extend(lonely(baseline, &pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), true));
    found.extend(lonely(candidate, &pairs.iter().map(|pair| pair.1).collect::<Vec<_>>(), false));
    found
}

fn differences(job: Option<&str>, baseline: Vec<Trait>, candidate: Vec<Trait>) -> Vec<ConditionMismatch> {
    let both = baseline.into_iter().zip(candidate).filter_map(|((aspect, a), (_, b))| Some((aspect, a?, b?)));
    both.filter(|(_, a, b)| a != b)
        .map(|(aspect, baseline, candidate)| ConditionMismatch {
            aspect,
            job: job.map(str::to_owned),
            baseline,
            candidate,
            blocking: aspect.blocks(),
        })
        .collect()
}

/// Jobs without a partner.
fn lonely(run: &Run, paired: &[usize], of_baseline: bool) -> Vec<ConditionMismatch> {
    let alone = run.jobs.iter().enumerate().filter(|(index, _)| !paired.contains(index));
    alone
        .map(|(_, job)| {
            let here = MismatchValue::Word(job.name.clone());
            let (baseline, candidate) =
                if of_baseline { (here, MismatchValue::Nothing) } else { (MismatchValue::Nothing, here) };
            ConditionMismatch { aspect: Aspect::Job, job: Some(job.name.clone()), baseline, candidate, blocking: true }
        })
        .collect()
}

fn of_run(run: &Run) -> Vec<Trait> {
    let simulated = run.model.as_ref().is_some_and(|model| model.virtual_time);
    // In virtual time the machine has no part in it, and some records do not know theirs.
    let known = |known: bool, told: MismatchValue| (!simulated && known).then_some(told);
    let word = |word: &str| known(!word.is_empty(), MismatchValue::Word(word.to_owned()));
    let host = &run.host;
    vec![
        (Aspect::Simulated, Some(MismatchValue::Yes(run.model.is_some()))),
        (
            Aspect::Volume,
            run.model.as_ref().map(|model| MismatchValue::words(model.volumes.iter().map(|v| v.name.as_str()))),
        ),
        (Aspect::Device, devices(run)),
        (Aspect::Outcome, Some(MismatchValue::Word(outcome(run.outcome).to_owned()))),
        (Aspect::Host, word(&host.hostname)),
        (Aspect::Cpus, known(host.cpus > 0, MismatchValue::Count(host.cpus.into()))),
        (Aspect::Kernel, word(&host.kernel)),
        (Aspect::Tool, Some(MismatchValue::Word(format!("{} {}", run.tool.name, run.tool.version)))),
    ]
}

const fn outcome(outcome: RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Completed => "completed",
        RunOutcome::Interrupted => "interrupted",
        RunOutcome::Failed => "failed",
        RunOutcome::Running => "running",
    }
}

/// The devices under the jobs' files, and those that are named themselves.
fn devices(run: &Run) -> Option<MismatchValue> {
    let counted = run.disks.iter().map(|disk| disk.name.as_str());
    let targets = run.jobs.iter().flat_map(|job| &job.evidence.targets);
    let named = targets.filter(|target| target.kind == TargetKind::Block).map(|target| target.path.as_str());
    let told = if run.disks.is_empty() { MismatchValue::words(named) } else { MismatchValue::words(counted) };
    (told != MismatchValue::Nothing).then_some(told)
}

fn of_job(job: &JobResult) -> Vec<Trait> {
    let declared = &job.declared;
    let mut traits = vec![
        (Aspect::Rw, Some(MismatchValue::Word(declared.rw.clone()))),
        (Aspect::Engine, Some(MismatchValue::Word(declared.engine.clone()))),
        (Aspect::Depth, Some(MismatchValue::Count(declared.iodepth.into()))),
        (Aspect::Workers, Some(MismatchValue::Count(job.workers.max(1).into()))),
        (Aspect::TargetKind, target_kinds(job)),
    ];
    traits.extend(DataKind::ALL.map(|kind| (Aspect::BlockSize(kind), block_sizes(job, kind))));
    // Text for people leaves out the other options.
    let known = |told: MismatchValue| (!declared.header_only).then_some(told);
    traits.extend([
        (Aspect::Direct, declared.known_direct().map(MismatchValue::Yes)),
        (Aspect::Syncs, known(MismatchValue::Yes(declared.syncs))),
        (Aspect::Size, known(MismatchValue::bytes(region(job)))),
        (Aspect::RateIops, known(MismatchValue::count(declared.rate_iops.sum()))),
        (Aspect::RateBytes, known(MismatchValue::bytes(declared.rate_bytes.sum()))),
        (Aspect::Thinktime, known(MismatchValue::Nanoseconds(declared.thinktime_ns))),
        (Aspect::Verify, known(MismatchValue::Yes(declared.verify))),
    ]);
    traits
}

/// As it was given; else that of its files.
fn region(job: &JobResult) -> Option<u64> {
    let targets = &job.evidence.targets;
    let whole = || (!targets.is_empty()).then(|| targets.iter().map(|target| target.size).sum());
    job.declared.size.or_else(whole)
}

fn target_kinds(job: &JobResult) -> Option<MismatchValue> {
    let name = |kind| match kind {
        TargetKind::Regular => "file",
        TargetKind::Block => "block device",
        TargetKind::Memory => "file in memory",
        TargetKind::Other => "other",
    };
    let told = MismatchValue::words(job.evidence.targets.iter().map(|target| name(target.kind)));
    (told != MismatchValue::Nothing).then_some(told)
}

/// Of kinds that were used.
fn block_sizes(job: &JobResult, kind: DataKind) -> Option<MismatchValue> {
    let DeclaredSizes { min, max } = job.declared.sizes(kind);
    (job.result.kind(kind).ios > 0 && max > 0).then_some(MismatchValue::BytesRange(min.into(), max.into()))
}

fn runtimes(baseline: &JobResult, candidate: &JobResult) -> Option<ConditionMismatch> {
    let (a, b) = (baseline.result.wall_ns(), candidate.result.wall_ns());
    let factor = a.max(b) / a.min(b);
    (factor > RUNTIME.0).then(|| ConditionMismatch {
        aspect: Aspect::Runtime,
        job: Some(baseline.name.clone()),
        baseline: MismatchValue::Nanoseconds(a as u64),
        candidate: MismatchValue::Nanoseconds(b as u64),
        blocking: factor > RUNTIME.1,
    })
}

/// Which job of one run is which of another, by their places: by name, the first of a name with the first; where no name
/// is in both and there are as many, by order.
#[must_use]
pub fn pairs(baseline: &Run, candidate: &Run) -> Vec<(usize, usize)> {
    let mut free: Vec<usize> = (0..candidate.jobs.len()).collect();
    let mut found = Vec::new();
    for (index, job) in baseline.jobs.iter().enumerate() {
        if let Some(at) = free.iter().position(|&other| candidate.jobs[other].name == job.name) {
            found.push((index, free.remove(at)));
        }
    }
    if found.is_empty() && baseline.jobs.len() == candidate.jobs.len() {
        found = (0..baseline.jobs.len()).map(|index| (index, index)).collect();
    }
    found
}

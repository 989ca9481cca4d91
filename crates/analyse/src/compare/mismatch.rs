//! Differences in conditions that make runs incomparable.

use record::{DataKind, DeclaredSizes, JobResult, Run, RunOutcome, TargetKind};
use schemars::JsonSchema;
use serde::Serialize;

/// Factors between run times from which a difference is reported, and from which runs are not comparable.
const RUNTIME: (f64, f64) = (1.25, 2.0);

/// A condition in which two runs differ.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ConditionMismatch {
    /// The differing condition.
    pub aspect: Aspect,
    /// Name of the job in the baseline; `None` if the condition belongs to the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    pub baseline: MismatchValue,
    pub candidate: MismatchValue,
    /// Whether the difference makes the figures incomparable.
    pub blocking: bool,
}

/// A condition in which two runs may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Aspect {
    /// The job exists in only one run.
    Job,
    /// Whether the run is simulated.
    Simulated,
    /// Modelled volumes.
    Volume,
    /// Block devices.
    Device,
    /// Regular files, block devices or files in memory.
    TargetKind,
    /// `rw`.
    Rw,
    BlockSize(DataKind),
    /// `ioengine`.
    Engine,
    /// `iodepth` of each worker.
    Depth,
    Workers,
    /// `direct`.
    Direct,
    /// Whether the job syncs its writes.
    Syncs,
    /// Size of the region in bytes.
    Size,
    /// Requested operations per second over all kinds.
    RateIops,
    /// Requested bytes per second over all kinds.
    RateBytes,
    /// Idle time between blocks of operations.
    Thinktime,
    /// Whether written blocks are read back.
    Verify,
    /// Measured time.
    Runtime,
    /// Outcome of the run.
    Outcome,
    Host,
    /// CPUs of the host.
    Cpus,
    /// Kernel release of the host.
    Kernel,
    /// Measuring program with its version.
    Tool,
}

impl ConditionMismatch {
    /// Reports whether the runs differ in what stores their data: two volumes under one load are what comparisons are for.
    #[must_use]
    pub fn is_of_storage(&self) -> bool {
        self.aspect.is_of_storage()
    }
}

impl Aspect {
    const fn is_of_storage(self) -> bool {
        matches!(self, Self::Volume | Self::Device)
    }

    /// Reports whether a difference makes the figures incomparable. Host names do not: containers get a new one with
    /// every start.
    const fn blocks(self) -> bool {
        !matches!(self, Self::Outcome | Self::Host | Self::Cpus | Self::Kernel | Self::Tool)
    }
}

/// The value of one side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MismatchValue {
    /// No value.
    Nothing,
    Word(String),
    Yes(bool),
    /// A count, or a count per second.
    Count(u64),
    /// Bytes, or bytes per second.
    Bytes(u64),
    /// Minimum and maximum in bytes.
    BytesRange(u64, u64),
    /// A duration in nanoseconds.
    Nanoseconds(u64),
}

impl MismatchValue {
    fn of(value: Option<u64>, to_value: fn(u64) -> Self) -> Self {
        value.map_or(Self::Nothing, to_value)
    }

    fn words<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut words: Vec<&str> = words.collect();
        words.sort_unstable();
        words.dedup();
        if words.is_empty() { Self::Nothing } else { Self::Word(words.join(", ")) }
    }
}

/// A condition and its value in a run or job; `None` if the record lacks it.
type ConditionValue = (Aspect, Option<MismatchValue>);

/// Returns all differences in conditions between two runs; `pairs` are indices of corresponding jobs.
#[must_use]
pub fn mismatches(baseline: &Run, candidate: &Run, pairs: &[(usize, usize)]) -> Vec<ConditionMismatch> {
    let mut found = differences(None, of_run(baseline), of_run(candidate));
    for &(a, b) in pairs {
        let (a, b) = (&baseline.jobs[a], &candidate.jobs[b]);
        found.extend(differences(Some(&a.name), of_job(a), of_job(b)));
        found.extend(runtimes(a, b));
    }
    let (in_baseline, in_candidate): (Vec<usize>, Vec<usize>) = pairs.iter().copied().unzip();
    found.extend(unpaired(baseline, &in_baseline, true));
    found.extend(unpaired(candidate, &in_candidate, false));
    // Without `size`, a region is as large as what stores it.
    if found.iter().any(ConditionMismatch::is_of_storage) {
        let follows = |job: &Option<String>| {
            let named =
                |run: &Run| run.jobs.iter().any(|one| Some(&one.name) == job.as_ref() && one.declared.size.is_some());
            !named(baseline) && !named(candidate)
        };
        found.retain(|one| one.aspect != Aspect::Size || !follows(&one.job));
    }
    found
}

/// Returns the conditions in which some of the runs differ, each with its value in every run: what stores the data, then
/// the load of the jobs, then the host. Jobs are paired with those of the first run.
#[must_use]
pub fn differing(runs: &[&Run]) -> Vec<(Aspect, Vec<MismatchValue>)> {
    let Some((first, _)) = runs.split_first() else { return Vec::new() };
    let paired: Vec<_> = runs.iter().map(|run| pairs(first, run)).collect();
    let of_jobs = (0..first.jobs.len()).filter_map(|index| {
        let own = runs.iter().zip(&paired).map(|(run, pairs)| {
            pairs.iter().find(|(one, _)| *one == index).map(|(_, other)| of_job(&run.jobs[*other]))
        });
        own.collect::<Option<Vec<_>>>()
    });
    let of_runs: Vec<Vec<ConditionValue>> = runs.iter().map(|run| of_run(run)).collect();
    let mut found: Vec<(Aspect, Vec<MismatchValue>)> = Vec::new();
    for conditions in of_jobs.chain([of_runs]) {
        for (at, (aspect, _)) in conditions[0].iter().enumerate() {
            let values: Option<Vec<MismatchValue>> = conditions.iter().map(|own| own[at].1.clone()).collect();
            let is_new = found.iter().all(|(known, _)| known != aspect);
            found.extend(
                values
                    .filter(|values| is_new && values.iter().any(|value| *value != values[0]))
                    .map(|all| (*aspect, all)),
            );
        }
    }
    found.sort_by_key(|(aspect, _)| !aspect.is_of_storage());
    found
}

fn differences(
    job: Option<&str>,
    baseline: Vec<ConditionValue>,
    candidate: Vec<ConditionValue>,
) -> Vec<ConditionMismatch> {
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

/// Lists jobs without a counterpart in the other run.
fn unpaired(run: &Run, paired: &[usize], of_baseline: bool) -> Vec<ConditionMismatch> {
    let jobs = run.jobs.iter().enumerate().filter(|(index, _)| !paired.contains(index));
    let mismatch = |(_, job): (usize, &JobResult)| {
        let (name, none) = (MismatchValue::Word(job.name.clone()), MismatchValue::Nothing);
        let (baseline, candidate) = if of_baseline { (name, none) } else { (none, name) };
        ConditionMismatch { aspect: Aspect::Job, job: Some(job.name.clone()), baseline, candidate, blocking: true }
    };
    jobs.map(mismatch).collect()
}

fn of_run(run: &Run) -> Vec<ConditionValue> {
    let simulated = run.model.as_ref().is_some_and(|model| model.virtual_time);
    // In virtual time the host does not matter, and some records do not know their host.
    let known = |known: bool, value: MismatchValue| (!simulated && known).then_some(value);
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

/// Returns the devices under the jobs' files or, without any, the block devices named as targets.
fn devices(run: &Run) -> Option<MismatchValue> {
    let counted = run.disks.iter().map(|disk| disk.name.as_str());
    let targets = run.jobs.iter().flat_map(|job| &job.evidence.targets);
    let named = targets.filter(|target| target.kind == TargetKind::Block).map(|target| target.path.as_str());
    let devices = if run.disks.is_empty() { MismatchValue::words(named) } else { MismatchValue::words(counted) };
    (devices != MismatchValue::Nothing).then_some(devices)
}

fn of_job(job: &JobResult) -> Vec<ConditionValue> {
    let declared = &job.declared;
    let word = |word: &str| (!word.is_empty()).then(|| MismatchValue::Word(word.to_owned()));
    // Without options, depth and workers are estimates.
    let of_queue = |count: u32| declared.in_flight_possible.map(|_| MismatchValue::Count(count.into()));
    let mut conditions = vec![
        (Aspect::Rw, word(&declared.rw)),
        (Aspect::Engine, word(&declared.engine)),
        (Aspect::Depth, of_queue(declared.iodepth)),
        (Aspect::Workers, of_queue(job.workers.max(1))),
        (Aspect::TargetKind, target_kinds(job)),
    ];
    conditions.extend(DataKind::ALL.map(|kind| (Aspect::BlockSize(kind), block_sizes(job, kind))));
    // Text output for people omits the other options.
    let known = |value: MismatchValue| (!declared.header_only).then_some(value);
    conditions.extend([
        (Aspect::Direct, declared.known_direct().map(MismatchValue::Yes)),
        (Aspect::Syncs, known(MismatchValue::Yes(declared.syncs))),
        (Aspect::Size, known(MismatchValue::of(region(job), MismatchValue::Bytes))),
        (Aspect::RateIops, known(MismatchValue::of(declared.rate_iops.sum(), MismatchValue::Count))),
        (Aspect::RateBytes, known(MismatchValue::of(declared.rate_bytes.sum(), MismatchValue::Bytes))),
        (Aspect::Thinktime, known(MismatchValue::Nanoseconds(declared.thinktime_ns))),
        (Aspect::Verify, known(MismatchValue::Yes(declared.verify))),
    ]);
    conditions
}

/// Returns the declared size, or else the total size of the files.
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
    let kinds = MismatchValue::words(job.evidence.targets.iter().map(|target| name(target.kind)));
    (kinds != MismatchValue::Nothing).then_some(kinds)
}

/// Returns `None` for kinds without operations.
fn block_sizes(job: &JobResult, kind: DataKind) -> Option<MismatchValue> {
    let DeclaredSizes { min, max } = job.declared.sizes(kind);
    (job.result.kind(kind).ios > 0 && max > 0).then_some(MismatchValue::BytesRange(min.into(), max.into()))
}

fn runtimes(baseline: &JobResult, candidate: &JobResult) -> Option<ConditionMismatch> {
    let (a, b) = (baseline.result.elapsed_ns() as f64, candidate.result.elapsed_ns() as f64);
    let factor = a.max(b) / a.min(b);
    let are_known = !baseline.untimed && !candidate.untimed && a.min(b) > 0.0;
    // The time of jobs that did the same work is their result.
    let bytes = |job: &JobResult| DataKind::ALL.map(|kind| job.result.kind(kind).bytes);
    let did_the_same = bytes(baseline) == bytes(candidate) && bytes(baseline).iter().any(|bytes| *bytes > 0);
    (are_known && !did_the_same && factor > RUNTIME.0).then(|| ConditionMismatch {
        aspect: Aspect::Runtime,
        job: Some(baseline.name.clone()),
        baseline: MismatchValue::Nanoseconds(a as u64),
        candidate: MismatchValue::Nanoseconds(b as u64),
        blocking: factor > RUNTIME.1,
    })
}

/// Pairs jobs of two runs by their indices: by name, equal names in order; if no name matches and the numbers of jobs
/// are equal, by order.
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

//! Runs plans on all ranks together.

use std::sync::Arc;
use std::time::Instant;

use job::{Plan, RankTable, SplitKind};
use record::{ClockRecord, FleetRecord, RankFailure, RankRecord, Run};
use runner::{
    CompletedRun, Observer, PreparedRun, Preview, RemoteFailure, RunControl, RunOptions, Runner, Seeds, WorkerFailure,
    WorkerPlan,
};
use serde::{Deserialize, Serialize};
use units::{Problem, ProblemCode};

use crate::clock::ClockOffset;
use crate::control::FleetControl;
use crate::fleet::Fleet;
use crate::leaving::label_of_all;
use crate::results::{RankResults, RecordMerge, read};

/// Runs plans on all ranks together, each on its own runner.
pub struct FleetRunner<'a> {
    inner: Box<dyn Runner>,
    fleet: &'a Fleet,
    host: RankHost,
    split: Option<SplitKind>,
}

impl std::fmt::Debug for FleetRunner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FleetRunner").field("fleet", self.fleet).finish_non_exhaustive()
    }
}

/// Writes a record.
pub type SaveRecord = Arc<dyn Fn(&Run) -> Result<(), Problem> + Send + Sync>;

/// Services of the program on this host.
#[derive(Clone)]
pub struct RankHost {
    /// Writes the record of this rank's own run, before it is merged.
    pub save: SaveRecord,
    /// Describes what went wrong in this rank's own run.
    pub failures: fn(&dyn PreparedRun, &CompletedRun) -> Vec<Problem>,
    /// Returns the worst failure of this rank's own run.
    pub worst: fn(&dyn PreparedRun, &CompletedRun) -> Option<WorkerFailure>,
    /// Returns the speed of the network link to the targets of a run in bytes per second; `None` if they are not reached
    /// over the network, or if it is unknown.
    pub link: fn(&Run) -> Option<u64>,
}

impl<'a> FleetRunner<'a> {
    /// Creates a runner that runs the part of this rank on `inner`.
    #[must_use]
    pub fn new(inner: Box<dyn Runner>, fleet: &'a Fleet, host: RankHost) -> Self {
        Self { inner, fleet, host, split: None }
    }

    /// Divides the work of each job among the ranks that run it.
    #[must_use]
    pub fn with_split(self, split: Option<SplitKind>) -> Self {
        Self { split, ..self }
    }

    /// Prepares this rank's part of a plan, and agrees with the others whether to run.
    fn prepare_with<'r>(
        &'r self,
        plan: &Plan,
        prepare: impl FnOnce(&'r dyn Runner, &Plan) -> Result<Box<dyn PreparedRun + 'r>, Vec<Problem>>,
    ) -> Result<Box<dyn PreparedRun + 'r>, Vec<Problem>> {
        let mut ranks = RankTable::of_fleet(self.fleet.hosts(), self.split);
        let part = plan.of_rank(self.fleet.rank(), &mut ranks).map_err(|problem| vec![problem]);
        let own = part.and_then(|part| prepare(&*self.inner, &part.plan));
        let mut part = Preparation::default();
        match &own {
            Ok(prepared) => {
                part.refusals = self.own_problems(prepared.refusals());
                part.stages = prepared.workers().last().map_or(0, |worker| worker.stage + 1);
            }
            Err(problems) => part.problems = self.own_problems(problems),
        }
        let agreed = self.fleet.agree(&part, Preparation::all);
        let inner = own?;
        let whole = agreed.map_err(|broken| vec![Problem::error(ProblemCode::Fleet, broken.to_string())])?;
        if !whole.problems.is_empty() {
            return Err(self.labelled(whole.problems));
        }
        let refusals = self.labelled(whole.refusals);
        Ok(Box::new(FleetRun { runner: self, inner, refusals, stages: whole.stages }))
    }

    fn own_problems(&self, problems: &[Problem]) -> Vec<RankProblem> {
        let ranks = vec![self.fleet.rank()];
        let own = |Problem { what, help, .. }: &Problem| (what.clone(), help.clone());
        problems.iter().map(own).map(|(what, help)| RankProblem { what, help, ranks: ranks.clone() }).collect()
    }

    fn labelled(&self, problems: Vec<RankProblem>) -> Vec<Problem> {
        let labelled = |RankProblem { what, help, ranks }: RankProblem| {
            let label = label_of_all(&ranks, |rank| self.fleet.label(rank));
            Problem::error(ProblemCode::Fleet, what).of(label).maybe_help(help)
        };
        problems.into_iter().map(labelled).collect()
    }
}

impl Runner for FleetRunner<'_> {
    fn prepare(&self, plan: &Plan, seeds: Seeds) -> Result<Box<dyn PreparedRun + '_>, Vec<Problem>> {
        let seeds = seeds.of_rank(self.fleet.rank());
        self.prepare_with(plan, |inner, plan| inner.prepare(plan, seeds))
    }

    fn prepare_later(&self, plan: &Plan, seeds: Seeds) -> Result<Box<dyn PreparedRun + '_>, Vec<Problem>> {
        let seeds = seeds.of_rank(self.fleet.rank());
        self.prepare_with(plan, |inner, plan| inner.prepare_later(plan, seeds))
    }
}

/// What ranks tell each other of their checks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Preparation {
    problems: Vec<RankProblem>,
    refusals: Vec<RankProblem>,
    stages: usize,
}

/// A problem and the ranks that have it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RankProblem {
    what: String,
    help: Option<String>,
    ranks: Vec<u32>,
}

/// Adds problems, each once.
fn add_problems(known: &mut Vec<RankProblem>, others: Vec<RankProblem>) {
    for other in others {
        match known.iter_mut().find(|one| one.what == other.what) {
            Some(one) => one.ranks.extend(other.ranks),
            None => known.push(other),
        }
    }
}

impl Preparation {
    fn all(mut parts: Vec<Self>) -> Self {
        let first =
            |part: &Self| part.problems.iter().chain(&part.refusals).flat_map(|line| line.ranks.first()).min().copied();
        parts.sort_by_key(first);
        parts.into_iter().fold(Self::default(), |mut all, part| {
            add_problems(&mut all.problems, part.problems);
            add_problems(&mut all.refusals, part.refusals);
            all.stages = all.stages.max(part.stages);
            all
        })
    }
}

/// A plan that is ready to run on all ranks.
struct FleetRun<'a> {
    runner: &'a FleetRunner<'a>,
    inner: Box<dyn PreparedRun + 'a>,
    refusals: Vec<Problem>,
    /// Number of stages of the rank that has most.
    stages: usize,
}

impl PreparedRun for FleetRun<'_> {
    fn plan(&self) -> &Plan {
        self.inner.plan()
    }

    fn workers(&self) -> &[WorkerPlan] {
        self.inner.workers()
    }

    fn refusals(&self) -> &[Problem] {
        &self.refusals
    }

    fn preview(&self) -> Preview<'_> {
        self.inner.preview()
    }

    /// Runs the part of this rank together with the others, and returns the merged record.
    fn run(
        &self,
        options: &RunOptions,
        control: &dyn RunControl,
        observer: &mut dyn Observer,
    ) -> Result<CompletedRun, Problem> {
        let fleet = self.runner.fleet;
        let (id, before) = (fleet.next_run(), fleet.measure_clock());
        let fleet_control = FleetControl::new(fleet, &id, control);
        let own = self.inner.run(options, &fleet_control, observer);
        if let Some(problem) = fleet_control.complete(self.stages, own.as_ref().err()) {
            return own.and(Err(problem));
        }
        let mut completed = own?;
        let own = self.own_record(&id, &completed, before);
        let saved = (self.runner.host.save)(&own);
        self.merge(&mut completed, own, before, saved.err(), control.end().is_some())?;
        Ok(completed)
    }
}

impl FleetRun<'_> {
    /// Returns the record of this rank alone.
    fn own_record(&self, id: &str, completed: &CompletedRun, clock: Option<ClockOffset>) -> Run {
        let (fleet, host) = (self.runner.fleet, &self.runner.host);
        let mut run = completed.run.clone();
        run.name_disks_by_host();
        let delays = completed.workers.iter().filter_map(|worker| worker.start_delay);
        let rank = RankRecord {
            link_bytes_per_second: (host.link)(&run),
            clock: clock.map(|clock| clock_record(clock, None)),
            start_delay_ns: delays.max().map(units::Nanos::get),
            failures: (host.failures)(&*self.inner, completed).iter().map(Problem::to_string).collect(),
            failure: (host.worst)(&*self.inner, completed).map(|failure| match failure {
                WorkerFailure::Verification => RankFailure::Verification,
                WorkerFailure::Environment => RankFailure::Environment,
            }),
            memory_bytes: memory_bytes(),
            ..RankRecord::of(fleet.rank(), &run)
        };
        run.fleet = Some(FleetRecord::of_rank(id.to_owned(), fleet.ranks(), rank));
        run
    }

    /// Replaces the record of this rank by that of all ranks.
    fn merge(
        &self,
        completed: &mut CompletedRun,
        mut own: Run,
        before: Option<ClockOffset>,
        unsaved: Option<Problem>,
        is_interrupted: bool,
    ) -> Result<(), Problem> {
        let fleet = self.runner.fleet;
        // All ranks end before results travel, so that the cost of merging is no wait for the slowest.
        let lost_before = fleet.lost_ranks();
        fleet.agree(&(), |_| ())?;
        let started = Instant::now();
        // After a signal, launchers allow a second.
        let after = if is_interrupted { None } else { fleet.measure_clock() };
        let measured = started.elapsed();
        if let Some(member) = own.fleet.as_mut().and_then(|record| record.members.first_mut()) {
            let elapsed_ns = own.taken_unix_ms.saturating_sub(own.started_unix_ms).saturating_mul(1_000_000);
            member.clock = before.map(|clock| clock_record(clock, drift_ppb(clock, after, elapsed_ns)));
            member.sent_bytes = fleet.exchange.look(|arrivals| arrivals.sent_bytes);
            member.failures.extend(unsaved.map(|why| format!("its own result was not saved: {why}")));
        }
        let mut merge = RecordMerge::new(started, measured);
        let whole = fleet.complete(&mut fleet.begin(RankResults::of(own).encode()), &mut merge);
        let unreadable = || Problem::error(ProblemCode::Connection, "cannot decode the merged result");
        completed.run = read(&whole?.body).ok_or_else(unreadable)?;
        let merged = completed.run.fleet.clone().unwrap_or_default();
        let label = |rank| fleet.label(rank);
        for member in merged.members.iter().filter(|member| member.rank != fleet.rank()) {
            let failure = member.failure.map(|failure| match failure {
                RankFailure::Verification => WorkerFailure::Verification,
                RankFailure::Environment => WorkerFailure::Environment,
            });
            let labelled = |line: &String| Problem::error(ProblemCode::Operation, line).of(label(member.rank));
            let problems = member.failures.iter().map(labelled).collect();
            completed.elsewhere.push(RemoteFailure { failure, problems });
        }
        let missing = merged.missing();
        for (rank, reason) in missing.iter().flat_map(|one| one.ranks.clone().map(|rank| (rank, &one.reason))) {
            let known = lost_before.iter().any(|(lost, _)| *lost == rank);
            let when = if known { "has no result of this run" } else { "is lost" };
            let what = format!("{} {when}: {reason}", label(rank));
            let problems = vec![Problem::error(ProblemCode::Connection, what)];
            completed.elsewhere.push(RemoteFailure { failure: Some(WorkerFailure::Environment), problems });
        }
        completed.elsewhere.retain(|one| !one.problems.is_empty() || one.failure.is_some());
        Ok(())
    }
}

fn clock_record(clock: ClockOffset, drift_ppb: Option<i64>) -> ClockRecord {
    let ClockOffset { offset_ns, error_ns, wall_offset_ns } = clock;
    ClockRecord { offset_ns, error_ns, drift_ppb, wall_offset_ns }
}

/// Returns the change of an offset in parts per billion. A change within the errors of both is none.
fn drift_ppb(before: ClockOffset, after: Option<ClockOffset>, elapsed_ns: u64) -> Option<i64> {
    let (after, elapsed_ns) = (after?, i128::from(elapsed_ns));
    let change_ns = i128::from(after.offset_ns) - i128::from(before.offset_ns);
    let error_ns = i128::from(after.error_ns) + i128::from(before.error_ns);
    let change_ns = if change_ns.abs() <= error_ns { 0 } else { change_ns };
    i64::try_from((change_ns * 1_000_000_000).checked_div(elapsed_ns)?).ok()
}

/// Returns the maximum memory of this process in bytes: `VmHWM` of `/proc/self/status`, `proc(5)`; zero if unknown.
fn memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: Option<u64> = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    kib.unwrap_or(0) * 1024
}

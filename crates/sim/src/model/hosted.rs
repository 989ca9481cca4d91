//! Workers of all simulated hosts, and the merged record of their runs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use job::{Dialect, Job, Plan, PlanHosts, RankPart, RankTable, limits};
use meter::Summary;
use record::{FleetRecord, RankFailure, RankRecord, Run};
use runner::{
    Environment, RunContext, RunCounters, RunState, Seeds, WorkerFailure, WorkerPlan, WorkerResult, assemble,
};
use units::Problem;

/// Maximum number of intervals in the series of all hosts together.
const INTERVALS_MAX: usize = 30_000;

/// Maximum number of results by job of all hosts together.
const HOST_JOBS_MAX: usize = 1_000;

/// Name of the run in its record. Results in virtual time differ by nothing but the input.
const RUN_NAME: &str = "simulated";

/// A worker of one of several hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HostedWorker {
    /// Host, from zero.
    pub(super) host: u32,
    /// Number among the workers of its host.
    pub(super) number: usize,
}

/// Place of a worker among those of all hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct WorkerOrder {
    stage: usize,
    /// Index among the jobs from which all hosts select.
    job: usize,
    /// Number among the workers of the job on its host.
    ordinal: usize,
    host: u32,
}

/// A run without simulated hosts.
const ONE_HOST: PlanHosts = PlanHosts { count: 1, split: None, own_jobs: Vec::new() };

pub(super) struct HostedWorkers {
    /// Workers: by stage, job, number in the job and host. So the workers of one job are consecutive.
    pub(super) plans: Vec<WorkerPlan>,
    /// Host of each, and number there.
    pub(super) hosted: Vec<HostedWorker>,
    /// Kind of each host: hosts of one kind run the same jobs.
    pub(super) kinds: Vec<usize>,
}

impl HostedWorkers {
    /// Expands the jobs of each host into workers, with random numbers of its own.
    pub(super) fn new(plan: &Plan, seeds: Seeds, environment: &dyn Environment) -> Result<Self, Vec<Problem>> {
        let mut ranks = plan.hosts.as_ref().unwrap_or(&ONE_HOST).ranks();
        let exceeded = exceeded_together(plan, &mut ranks, environment)?;
        if !exceeded.is_empty() {
            return Err(exceeded);
        }
        let mut all: Vec<(WorkerOrder, HostedWorker, WorkerPlan)> = Vec::new();
        let (mut kinds, mut known) = (Vec::new(), BTreeMap::new());
        for (host, jobs) in (0..).zip(plan.jobs_by_host()) {
            let own = of_host(plan, jobs.clone());
            // Without hosts, jobs for some ranks only are refused later.
            let part = match plan.hosts {
                Some(_) => own.of_rank(host, &mut ranks).map_err(|problem| vec![problem])?,
                None => RankPart { jobs: (0..own.jobs.len()).collect(), plan: Cow::Borrowed(&*own) },
            };
            let (workers, unrunnable) =
                runner::plan_workers(&part.plan, Dialect::Strict, seeds.of_rank(host), environment);
            if !unrunnable.is_empty() {
                return Err(unrunnable);
            }
            for of_job in workers.chunk_by(|a, b| a.job == b.job) {
                for (ordinal, worker) in of_job.iter().enumerate() {
                    let job = part.jobs[worker.job];
                    let hosted = HostedWorker { host, number: worker.number };
                    let order = WorkerOrder { stage: worker.stage, job, ordinal, host };
                    all.push((order, hosted, worker.clone().renumbered(hosted.number, jobs.start + job)));
                }
            }
            let next = known.len();
            kinds.push(*known.entry(part.jobs).or_insert(next));
        }
        all.sort_by_key(|(order, ..)| *order);
        let numbered = all.into_iter().enumerate().map(|(number, (_, hosted, worker))| {
            let job = worker.job;
            (hosted, worker.renumbered(number, job))
        });
        let (hosted, plans) = numbered.unzip();
        Ok(Self { plans, hosted, kinds })
    }

    /// Returns the numbers of the workers of each host, in the order of its own numbers.
    fn by_host(&self, hosts: u32) -> Vec<Vec<usize>> {
        let mut numbers = vec![Vec::new(); hosts as usize];
        let mut order: Vec<(HostedWorker, usize)> = self.hosted.iter().copied().zip(0..).collect();
        order.sort_unstable();
        order.into_iter().for_each(|(hosted, number)| numbers[hosted.host as usize].push(number));
        numbers
    }

    /// Assembles the record of all hosts, as ranks do: each host's own, merged one after another. The results of
    /// workers keep no histograms.
    pub(super) fn assemble(
        &self,
        hosts: &PlanHosts,
        context: &RunContext<'_>,
        finished: &mut [WorkerResult],
        state: RunState,
    ) -> Run {
        let most = INTERVALS_MAX / (hosts.count as usize).max(1);
        let (mut merged, mut members): (Option<Run>, Vec<RankRecord>) = Default::default();
        let jobs_by_host = context.plan.jobs_by_host();
        for ((host, numbers), jobs) in (0..).zip(self.by_host(hosts.count)).zip(jobs_by_host) {
            let own = of_host(context.plan, jobs.clone());
            let workers: Vec<WorkerPlan> = numbers.iter().map(|&number| self.on_its_host(number, jobs.start)).collect();
            let mut results = taken(finished, &numbers);
            let seeds = context.seeds.of_rank(host);
            let context = RunContext { plan: &own, workers: &workers, seeds, ..*context };
            let mut run = assemble(&context, &RunCounters::new(workers.len()), &results, state);
            let failures = results.iter().filter_map(|result| result.failure(&own.jobs[workers[result.number].job]));
            let mut member = RankRecord {
                hostname: PlanHosts::name(host),
                failure: failures.max().map(|failure| match failure {
                    WorkerFailure::Verification => RankFailure::Verification,
                    WorkerFailure::Environment => RankFailure::Environment,
                }),
                ..RankRecord::of(host, &run)
            };
            member.shorten_series(most);
            if member.jobs.len() * hosts.count as usize > HOST_JOBS_MAX {
                member.jobs.clear();
            }
            members.push(member);
            put_back(finished, &numbers, &mut results);
            run.jobs.iter_mut().for_each(|job| job.number = numbers[job.number as usize] as u32);
            match &mut merged {
                None => merged = Some(run),
                Some(merged) => merged.add_rank(run),
            }
        }
        // The first hosts may lack jobs that others run before theirs.
        merged.iter_mut().for_each(|run| run.jobs.sort_by_key(|job| job.number));
        let fleet = FleetRecord { id: RUN_NAME.to_owned(), ranks: hosts.count, members, ..FleetRecord::default() };
        Run { fleet: Some(fleet), ..merged.unwrap_or_default() }
    }

    /// Returns a worker with the numbers that it has on its host.
    pub(super) fn on_its_host(&self, number: usize, first_job: usize) -> WorkerPlan {
        let worker = &self.plans[number];
        worker.clone().renumbered(self.hosted[number].number, worker.job - first_job)
    }
}

/// Takes the results of some workers, numbered as on their host.
fn taken(finished: &mut [WorkerResult], numbers: &[usize]) -> Vec<WorkerResult> {
    let mut results = Vec::with_capacity(numbers.len());
    for (own, number) in numbers.iter().enumerate() {
        if let Ok(index) = finished.binary_search_by_key(number, |one| one.number) {
            let left = WorkerResult { number: *number, ..WorkerResult::default() };
            results.push(WorkerResult { number: own, ..std::mem::replace(&mut finished[index], left) });
        }
    }
    results
}

/// Puts the results of workers back without their histograms.
fn put_back(finished: &mut [WorkerResult], numbers: &[usize], results: &mut Vec<WorkerResult>) {
    for result in results.drain(..) {
        let number = numbers[result.number];
        if let Ok(index) = finished.binary_search_by_key(&number, |one| one.number) {
            let Summary { errors, first_error, workers, .. } = result.summary;
            let summary = Summary { errors, first_error, workers, ..Summary::default() };
            finished[index] = WorkerResult { number, summary, ..result };
        }
    }
}

fn of_host(plan: &Plan, jobs: std::ops::Range<usize>) -> Cow<'_, Plan> {
    if jobs.len() == plan.jobs.len() { Cow::Borrowed(plan) } else { Cow::Owned(plan.part(jobs)) }
}

/// Returns the limits that all hosts together exceed, which run in one process here. Fails if no host runs some job.
fn exceeded_together(
    plan: &Plan,
    ranks: &mut RankTable,
    environment: &dyn Environment,
) -> Result<Vec<Problem>, Vec<Problem>> {
    let Some(hosts) = &plan.hosts else { return Ok(Vec::new()) };
    let running = |job: &Job, ranks: &mut RankTable| ranks.ranks_of(job).map_err(|problem| vec![problem]);
    let mut all = Cow::Borrowed(plan);
    if hosts.own_jobs.is_empty() {
        for job in &mut all.to_mut().jobs {
            let count = running(job, ranks)?.len() as u32;
            job.grouping.numjobs = job.grouping.numjobs.saturating_mul(count);
        }
    } else if plan.jobs.iter().any(|job| job.ranks.selects()) {
        let mut jobs = Vec::new();
        for (host, own) in (0..).zip(plan.jobs_by_host()) {
            for job in &plan.jobs[own] {
                let runs = running(job, ranks)?.binary_search(&host).is_ok();
                jobs.extend(runs.then(|| job.clone()));
            }
        }
        all = Cow::Owned(Plan { jobs, ..Plan::default() });
    }
    if hosts.count == 1 {
        return Ok(Vec::new());
    }
    let exceeded = limits::check(&all, &environment.capacity());
    let described = exceeded.into_iter().map(|excess| {
        let remedy = excess.help.clone().unwrap_or_default();
        let note = format!("numjobs is the total of all {} simulated hosts", hosts.count);
        excess.note(note).help(format!("simulate fewer hosts, or {remedy}"))
    });
    Ok(described.collect())
}

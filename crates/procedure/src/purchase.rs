//! Plans a purchase: derives the need from a measurement or a job, simulates the candidates, looks for the next step.
//!
//! `plan` searches the catalogue; this module runs the simulations.

use std::collections::BTreeMap;

use analyse::{ActiveIntervals, Code, Observation};
use job::{Arrivals, BlockSizes, Direction, EngineKind, HostSource, Job, Plan};
use plan::workload::{Derived, LoadDoubt};
use plan::{Candidate, LatencyCache, Need, PlanTrial, PlannedMachine, Ranking, TrialOutcome};
use record::{Declared, Input, Iostat, IostatDevice, LatencyStats, Run, Shard};
use results::plan::PlanResult;
use runner::{CreditPolicy, NullObserver, RunControl, RunOptions, Runner, Seeds};
use serde::{Deserialize, Serialize};
use sim::model::with_key;
use units::{Nanos, PerKind, Problem, ProblemCode, Rate, requests_in_flight};

use crate::explanation::{counted_with, means_only, other_requests, verification};
use crate::host::{Parallel, map};
use crate::jobs::{VariedJobs, VariedPlace, around};

/// This many operations settle a mean to a hundredth.
const OPERATIONS: f64 = 12_000.0;
/// Minimum duration, so that the jitter of limits at the start has no effect.
const DURATION_MIN_S: f64 = 0.1;
const DEPTH_MAX: f64 = 4096.0;

/// Maximum machines per simulation; beyond that, one represents several.
const MACHINES_MAX: u32 = 256;

/// Simulates a trial without burst credits; `None` if it cannot be simulated.
pub fn simulate(runner: &dyn Runner, trial: &PlanTrial, seed: u64, control: &dyn RunControl) -> Option<TrialOutcome> {
    let prepared = runner.prepare(&plan(trial), Seeds::fixed(seed)).ok()?;
    let options = RunOptions { credits: CreditPolicy::Spent, ..RunOptions::default() };
    let run = prepared.run(&options, control, &mut NullObserver).ok()?.run;
    outcome(&run, trial)
}

/// Returns the jobs of a trial: one per machine, on a volume attached to all of them.
fn plan(trial: &PlanTrial) -> Plan {
    let machines = trial.machines.clamp(1, MACHINES_MAX);
    let of_one = f64::from(trial.machines.max(1)) / f64::from(machines);
    let one = job(&PlanTrial {
        rate: trial.rate * of_one,
        closed_rate: trial.closed_rate * of_one,
        in_flight: trial.in_flight * of_one,
        ..trial.clone()
    });
    // A machine limit would bound the machine that represents several; the closed form has checked it.
    let is_kept = |pair: &&str| of_one <= 1.0 || !pair.starts_with("machine=");
    let volume = trial.volume.split(',').filter(is_kept).collect::<Vec<_>>().join(",");
    let on = |machine: u32| {
        let volume = match machines {
            1 => volume.clone(),
            _ => with_key(&volume, "host", &format!("machine-{machine}")),
        };
        let mut job = one.clone();
        job.engine.volume = Some(volume);
        job
    };
    Plan { jobs: (1..=machines).map(on).collect(), ..Plan::default() }
}

fn job(trial: &PlanTrial) -> Job {
    let rate = if trial.timed.is_some() { trial.rate } else { trial.closed_rate };
    let seconds =
        (trial.longer * OPERATIONS / (rate * f64::from(trial.machines.clamp(1, MACHINES_MAX)))).max(DURATION_MIN_S);
    let depth = match trial.timed {
        // Enough that random arrivals never wait for a free slot.
        Some(_) => (8.0 * trial.in_flight).max(256.0),
        None => requests_in_flight(trial.in_flight) as f64,
    };
    let workers = (depth / DEPTH_MAX).ceil().max(1.0);
    let warm_up_s = trial.longer * (4.0 * trial.in_flight / rate).max(0.02);
    let mut job = Job { name: "plan".to_owned(), ..Job::default() };
    (job.engine.kind, job.engine.direct) = (EngineKind::Model, true);
    job.pattern.random = !trial.sequential;
    job.pattern.direction = match trial.read_share {
        1.0 => Direction::Read,
        0.0 => Direction::Write,
        _ => Direction::ReadWrite,
    };
    job.pattern.set_read_fraction(trial.read_share);
    job.pattern.block_sizes = PerKind::same(BlockSizes::Fixed(trial.block));
    job.pace.iodepth = (depth / workers).ceil() as u32;
    (job.grouping.numjobs, job.grouping.group_reporting) = (workers as u32, true);
    job.extent.time_based = true;
    (job.extent.ramp_time, job.extent.runtime) = (Nanos::from_secs_f64(warm_up_s), Nanos::from_secs_f64(seconds));
    if trial.timed.is_some() {
        let rate = |fraction: f64| {
            let rate = Rate::per_sec((trial.rate * fraction / workers).round().max(1.0) as u64);
            (fraction > 0.0).then_some(rate)
        };
        job.pace.rate_iops = PerKind { read: rate(trial.read_share), write: rate(1.0 - trial.read_share), trim: None };
        job.pace.process = Arrivals::Poisson;
    }
    job
}

fn outcome(run: &Run, trial: &PlanTrial) -> Option<TrialOutcome> {
    let result = &run.jobs.first()?.result;
    let sides: Vec<&LatencyStats> = [&result.read, &result.write]
        .into_iter()
        .filter(|side| side.ios > 0)
        .map(|side| if side.response.count > 0 { &side.response } else { &side.service })
        .collect();
    let count: u64 = sides.iter().map(|stats| stats.count).sum();
    let sum: f64 = sides.iter().map(|stats| stats.sum_ns()).sum();
    // The combined percentile is at most the greater of the two.
    let percentile = sides.iter().filter_map(|stats| stats.percentile_ns(100.0 * trial.timed.unwrap_or(0.99))).max()?;
    Some(TrialOutcome {
        iops: result.iops() / f64::from(trial.machines.max(1)),
        mean_secs: sum / count.max(1) as f64 / 1e9,
        percentile_secs: percentile as f64 / 1e9,
    })
}

/// Outcomes of trials, by what is simulated: IOPS, mean latency and percentile in seconds; `None` where a trial cannot be
/// simulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialOutcomes(BTreeMap<String, Option<[f64; 3]>>);

impl TrialOutcomes {
    /// Returns the outcome of a trial, which is simulated unless its outcome is known.
    fn of(&mut self, trial: &PlanTrial, simulate: impl FnOnce() -> Option<TrialOutcome>) -> Option<TrialOutcome> {
        let simulated = || {
            let TrialOutcome { iops, mean_secs, percentile_secs } = simulate()?;
            Some([iops, mean_secs, percentile_secs])
        };
        // The text has all fields, each with all of its digits.
        let known = self.0.entry(format!("{trial:?}")).or_insert_with(simulated);
        known.map(|[iops, mean_secs, percentile_secs]| TrialOutcome { iops, mean_secs, percentile_secs })
    }

    /// Adds outcomes of other volumes.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }
}

/// The search for the volumes that meet a need.
pub struct PurchaseSearch<'a> {
    pub need: Derived,
    /// Runs the simulations; without it nothing is simulated.
    pub runner: Option<&'a dyn Runner>,
    /// Seed of the simulations.
    pub seed: u64,
    /// Ends the search early.
    pub control: &'a dyn RunControl,
}

impl PurchaseSearch<'_> {
    /// Simulates the candidates among a shard of the volumes in parallel. Each rank does this for its own volumes and
    /// gives the outcomes to rank 0, which plans as without ranks and simulates what is missing.
    #[must_use]
    pub fn simulate_shard(&self, shard: Shard, parallel: Parallel) -> TrialOutcomes {
        if self.runner.is_none() {
            return TrialOutcomes::default();
        }
        let volumes = shard.of(plan::named(&self.need.need).unwrap_or_default());
        let outcomes = map(parallel, &volumes, |(listed, keys)| {
            let volume = if keys.is_empty() { listed.name.clone() } else { format!("{},{keys}", listed.name) };
            let need = Need { volumes: vec![volume], ..self.need.need.clone() };
            let mut outcomes = TrialOutcomes::default();
            self.simulated(&need, &mut LatencyCache::default(), &mut outcomes);
            outcomes
        });
        outcomes.into_iter().fold(TrialOutcomes::default(), |mut all, one| {
            all.extend(one);
            all
        })
    }

    fn simulate(&self, trial: &PlanTrial, outcomes: &mut TrialOutcomes) -> Option<TrialOutcome> {
        let runner = self.runner.filter(|_| self.control.end().is_none())?;
        outcomes.of(trial, || simulate(runner, trial, self.seed, self.control))
    }

    /// Returns the candidates for a need, with their simulated figures, and their ranking.
    fn simulated(
        &self,
        need: &Need,
        laws: &mut LatencyCache,
        outcomes: &mut TrialOutcomes,
    ) -> (Vec<Candidate>, Ranking) {
        let mut simulate = |trial: &PlanTrial| self.simulate(trial, outcomes);
        let (mut candidates, ranking) = plan::plan(need, laws, &mut simulate);
        for index in ranking.meeting.iter().chain(&ranking.may_meet) {
            plan::simulate_jitter(need, &mut candidates[*index], &mut simulate);
        }
        (candidates, ranking)
    }

    /// Ranks all volumes for the need, and looks for the next step. Trials without a known outcome are simulated.
    #[must_use]
    pub fn conclude(self, mut outcomes: TrialOutcomes) -> PlanResult {
        let (need, mut laws) = (self.need.need.clone(), LatencyCache::default());
        let (candidates, ranking) = self.simulated(&need, &mut laws, &mut outcomes);
        let mut simulate = |trial: &PlanTrial| self.simulate(trial, &mut outcomes);
        let has_answer = ranking.chosen().is_some();
        let next_step = (!need.demands().is_empty() && has_answer).then(|| {
            // The budget applies to the current need only.
            let twice = Need { budget: None, ..need.times(2.0) };
            plan::best(&twice, &mut laws, &mut simulate)
        });
        let without_headroom = (!has_answer && need.headroom > 0.0).then(|| {
            let tight = Need { headroom: 0.0, ..need.clone() };
            plan::best(&tight, &mut laws, &mut simulate)
        });
        let best = ranking.chosen();
        let lift = best.and_then(|best| plan::lifted(&need, &candidates[best], &mut laws, &mut simulate));
        let mut years = Vec::new();
        for year in 2..=need.years.min(if best.is_some() { need.years } else { 0 }) {
            let grown = Need { budget: None, ..need.after(year) };
            years.push(plan::best(&grown, &mut laws, &mut simulate));
        }
        let described = [best, ranking.fastest];
        let mut machines: Vec<(usize, Vec<PlannedMachine>)> = Vec::new();
        for index in described.into_iter().flatten() {
            if !machines.iter().any(|(known, _)| *known == index) {
                machines.push((index, plan::machines(&candidates[index], &need, &mut laws)));
            }
        }
        PlanResult {
            need,
            derivation: self.need.lines,
            doubt: self.need.doubt,
            candidates,
            ranking,
            next_step: next_step.flatten(),
            lift,
            years,
            without_headroom: without_headroom.flatten(),
            machines,
            seed: self.seed,
            is_simulated: self.runner.is_some(),
            today: None,
        }
    }
}

/// Returns the need of a measurement or a job file: `bytes` are the content of the file `name`; `number` selects one of
/// several results, `device` one of several devices. Included job files are read through `source`.
///
/// # Errors
///
/// Returns why the input cannot be read.
pub fn need_of(
    name: &str,
    bytes: &[u8],
    (number, device): (Option<usize>, Option<&str>),
    source: &dyn HostSource,
) -> Result<Derived, Vec<Problem>> {
    match record::read_input(name, bytes, number) {
        Err(_) if is_job_file(&String::from_utf8_lossy(bytes)) => of_job(name, source),
        Ok(Input::Run(run)) if run.jobs.iter().all(|job| job.result.elapsed_ns() == 0) && !run.jobs.is_empty() => {
            let error = Problem::error(ProblemCode::NoResults, format!("{name} has no rates: {}", times_missing(&run)));
            Err(vec![error.help("set the rate with --iops 10k")])
        }
        Ok(Input::Run(run)) => {
            of_run(name, &run).ok_or_else(|| vec![Problem::error(ProblemCode::Plan, format!("{name} has no results"))])
        }
        Ok(Input::Iostat(iostat)) => of_counters(name, &iostat, device),
        Err(unreadable) => Err(vec![unreadable]),
    }
}

/// Reports whether a text that is no measurement is a job file: a section precedes everything else.
fn is_job_file(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    lines.next().is_some_and(|line| line.starts_with('[') && line.contains(']') && !line.contains(['{', '"']))
}

/// Says why a run has no rates.
fn times_missing(run: &Run) -> String {
    let only_syncs = run.jobs.iter().any(|job| job.result.sync.mean_ns > 0.0);
    if only_syncs {
        return "it timed only sequential syncs".to_owned();
    }
    run.notes.first().map_or_else(|| "no job ran for a measurable time".to_owned(), |note| note.text.clone())
}

/// Returns the need of a device of counters: the one that is named, or the busiest disk.
fn of_counters(name: &str, iostat: &Iostat, device: Option<&str>) -> Result<Derived, Vec<Problem>> {
    let disks = iostat.disks();
    let known = iostat.reports.iter().flat_map(|report| &report.devices).any(|known| device == Some(&known.name));
    let names: Vec<&str> = disks.iter().map(|disk| disk.name.as_str()).collect();
    if let Some(device) = device.filter(|_| !known) {
        let error = Problem::error(ProblemCode::NoSuchDevice, format!("--device {device}: no such device in {name}"));
        return Err(vec![error.help(format!("choose one of {}", names.join(", ")))]);
    }
    let Some(chosen) = device.or_else(|| names.first().copied()) else {
        return Err(vec![Problem::error(
            ProblemCode::Plan,
            format!("{name}: no device had I/O, so there is no load to plan for"),
        )]);
    };
    let seen = Observation::of_device(iostat, chosen);
    let mut derived = of_observation(name, &seen);
    let others: Vec<&str> = names.iter().copied().filter(|other| *other != chosen).collect();
    if !others.is_empty() {
        /// Maximum number of names.
        const NAMED: usize = 8;
        let more = others.len().saturating_sub(NAMED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let others = format!("{}{rest}", others[..others.len() - more].join(", "));
        derived.lines.push(format!("load of {chosen}, without {others} (select with `--device`)"));
    }
    derived.lines.extend(counted_with(iostat, &disks, chosen));
    let ceiling = at_limit(&seen, &[]).or_else(|| at_limit_in_bursts(iostat, chosen)).map(LoadDoubt::Ceiling);
    derived.doubt = if seen.since_boot { Some(LoadDoubt::SinceBoot) } else { ceiling };
    if !seen.since_boot {
        raise_to_busiest(&mut derived.need, iostat, chosen);
    }
    derived.lines.extend(busiest(&seen, &derived.need));
    derived.lines.extend(other_requests(iostat, chosen));
    derived.lines.push(means_only(iostat));
    derived.lines.extend(iostat.notes.iter().cloned());
    Ok(derived)
}

/// Raises the rate of a need to that of the busiest interval: a volume for the mean is too small for it, and more
/// intervals never lower it.
fn raise_to_busiest(need: &mut Need, iostat: &Iostat, name: &str) {
    let devices = || iostat.intervals().flat_map(|report| &report.devices).filter(|device| device.name == name);
    let iops = devices().map(IostatDevice::iops).fold(0.0, f64::max);
    let bytes = devices().map(IostatDevice::bytes_per_second).fold(0.0, f64::max);
    match (&mut need.iops, need.block) {
        // Requests of the mean size that move as many bytes.
        (Some(rate), Some(block)) => *rate = rate.max(iops).max(bytes / f64::from(block)),
        (Some(rate), None) => *rate = rate.max(iops),
        (None, _) => need.bytes_per_sec = need.bytes_per_sec.map(|rate| rate.max(bytes)),
    }
}

/// Returns which mean was measured, and the rate of the busiest interval, for which the plan is.
fn busiest(seen: &Observation, need: &Need) -> Option<String> {
    /// Factor from which on the rates differ.
    const DIFFERS: f64 = 1.005;
    let mean = seen.iops?;
    let most = need.iops.filter(|most| *most > DIFFERS * mean.value());
    let of = seen.active.map(|ActiveIntervals { active, all, .. }| {
        let over_all = units::count(seen.over_all(mean).value());
        format!(" over the {active} of {all} intervals with requests; over all intervals it is {over_all}")
    });
    if of.is_none() && most.is_none() {
        return None;
    }
    let of = of.unwrap_or_else(|| " over all intervals".to_owned());
    let most = most.map(|most| {
        let (most, mean) = (units::count(most), units::count(mean.value()));
        format!("; planned for the busiest interval, {most} IOPS (plan for the mean with --iops {mean})")
    });
    Some(format!("{} IOPS is the mean{of}{}", units::count(mean.value()), most.unwrap_or_default()))
}

/// Returns the need of the results that ran together with the most operations per second; `None` without results.
fn of_run(name: &str, run: &Run) -> Option<Derived> {
    let phases: Vec<(Vec<usize>, Observation)> = run
        .phases()
        .into_iter()
        .map(|phase| {
            let seen = Observation::of(run, &run.together(&phase));
            (phase, seen)
        })
        .collect();
    let iops = |seen: &Observation| seen.iops.map_or(0.0, |iops| iops.value());
    let bytes = |seen: &Observation| seen.bytes_per_second.map_or(0.0, |bytes| bytes.value());
    let order =
        |a: &Observation, b: &Observation| iops(a).total_cmp(&iops(b)).then_with(|| bytes(a).total_cmp(&bytes(b)));
    let (most, seen) = phases.iter().max_by(|a, b| order(&a.1, &b.1))?;
    let mut derived = of_observation(name, seen);
    derived.need.capacity = run.region_bytes(most);
    let ceiling = paced(run, most).or_else(|| limited(run, most)).or_else(|| at_limit(seen, &sampled(run, most)));
    derived.doubt = ceiling.map(LoadDoubt::Ceiling);
    let names = |phase: &[usize]| {
        let mut names: Vec<&str> = phase.iter().map(|&job| run.jobs[job].name.as_str()).collect();
        names.dedup();
        names.join(", ")
    };
    derived.lines.extend(most.iter().filter_map(|&job| verification(&run.jobs[job])));
    if most.len() > 1 {
        derived.lines.push(format!("{} concurrent results: {}", most.len(), names(most)));
    }
    for (phase, seen) in phases.iter().filter(|(phase, seen)| phase != most && iops(seen) + bytes(seen) > 0.0) {
        let rate = rate_words(seen);
        derived.lines.push(format!("not added (not known to be concurrent): {}, {rate}", names(phase)));
    }
    Some(derived)
}

/// Describes the rate to which options held a load.
fn paced(run: &Run, jobs: &[usize]) -> Option<String> {
    let declared = || jobs.iter().map(|&job| &run.jobs[job].declared);
    let sum = |of: fn(&Declared) -> Option<u64>| declared().filter_map(of).reduce(u64::saturating_add);
    let iops = sum(|declared| declared.rate_iops.sum()).map(|rate| format!("{} IOPS", units::count(rate as f64)));
    let bytes = sum(|declared| declared.rate_bytes.sum()).map(|rate| format!("{}/s", units::Bytes::new(rate)));
    let rate = iops.or(bytes)?;
    Some(format!("an option of the job capped it at {rate}"))
}

/// Describes the limit that the figures of a run show.
fn limited(run: &Run, jobs: &[usize]) -> Option<String> {
    let verdicts = analyse::analyse(run);
    let of_jobs = verdicts.iter().filter(|verdict| jobs.contains(&verdict.job));
    let mut findings = of_jobs.flat_map(analyse::Verdict::findings);
    findings.find_map(|finding| match (finding.code, &finding.subject) {
        (
            Code::VolumeIopsCap
            | Code::VolumeThroughputCap
            | Code::StationCap
            | Code::MachineCap
            | Code::EgressCap
            | Code::CgroupThrottle
            | Code::ModelHeldBack
            | Code::BurstUsedUp
            | Code::SharedLimit
            | Code::RateNotReached,
            Some(limit),
        ) => Some(format!("{limit} limited it")),
        (Code::RateNotReached, None) => Some("it missed its requested rate".to_owned()),
        (Code::Throttled, _) => Some("it was throttled: a few operations took far longer than the rest".to_owned()),
        _ => None,
    })
}

/// Returns the variation of the throughput of each job of another program, from its samples.
fn sampled(run: &Run, jobs: &[usize]) -> Vec<f64> {
    let samples = jobs.iter().flat_map(|&job| run.jobs[job].result.kinds()).map(|(_, kind)| kind.iops_samples);
    samples.filter(|samples| samples.count >= 5 && samples.mean > 0.0).map(|of| of.stddev / of.mean).collect()
}

/// Describes a load that ran at a limit: requests queued, and throughput did not vary. `variations` are those of its parts,
/// if the course is unknown.
fn at_limit(seen: &Observation, variations: &[f64]) -> Option<String> {
    const EVEN: f64 = 0.01;
    const QUEUED: f64 = 1.5;
    const INTERVALS: usize = 5;
    let mean = seen.paces.iter().sum::<f64>() / seen.paces.len().max(1) as f64;
    let spread = seen.paces.iter().map(|pace| (pace - mean).powi(2)).sum::<f64>() / seen.paces.len().max(1) as f64;
    let even = match seen.paces.len() >= INTERVALS {
        true => spread.sqrt() <= EVEN * mean,
        false => !variations.is_empty() && variations.iter().all(|variation| *variation <= EVEN),
    };
    let queued = seen.in_flight()?.value() >= QUEUED;
    let iops = seen.iops.filter(|_| even && queued)?.value();
    Some(format!("it ran at a limit of {} IOPS (steady rate with queueing)", units::count(iops)))
}

/// Describes a load whose busiest intervals ran at a limit of operations or of bytes.
fn at_limit_in_bursts(iostat: &Iostat, name: &str) -> Option<String> {
    let devices: Vec<&IostatDevice> =
        iostat.intervals().flat_map(|report| &report.devices).filter(|device| device.name == name).collect();
    let of = |rate: fn(&IostatDevice) -> f64| {
        let (count, most) = evenly_limited(devices.iter().map(|device| (rate(device), device.in_flight)))?;
        Some((format!("{count} of {} intervals ran at a limit of", devices.len()), most))
    };
    let limited = of(IostatDevice::iops).map(|(text, most)| format!("{text} {} IOPS", units::count(most)));
    let limited = limited.or_else(|| {
        let (text, most) = of(IostatDevice::bytes_per_second)?;
        Some(format!("{text} {}/s", units::Bytes::new(most as u64)))
    });
    limited.map(|text| text + " (the same rate, with queueing)")
}

/// Returns how many intervals had the greatest rate, and that rate, if a limit seems to have set it: these are many and far
/// above the others, and requests queued in all of them.
fn evenly_limited(intervals: impl Iterator<Item = (f64, Option<f64>)>) -> Option<(usize, f64)> {
    const EVEN: f64 = 0.01;
    const QUEUED: f64 = 1.5;
    const INTERVALS: usize = 5;
    /// Factor by which these intervals exceed the mean of the others.
    const APART: f64 = 1.5;
    let all: Vec<(f64, Option<f64>)> = intervals.collect();
    let most = all.iter().map(|(rate, _)| *rate).reduce(f64::max).filter(|most| *most > 0.0)?;
    let (top, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(rate, _)| *rate >= (1.0 - EVEN) * most);
    let mean = |part: &[(f64, Option<f64>)]| part.iter().map(|(rate, _)| *rate).sum::<f64>() / part.len().max(1) as f64;
    let has_queue = |(_, in_flight): &(f64, Option<f64>)| in_flight.is_some_and(|count| count >= QUEUED);
    let is_limited = top.len() >= INTERVALS && top.iter().all(has_queue) && mean(&top) >= APART * mean(&rest);
    is_limited.then_some((top.len(), most))
}

/// Returns the rate of a load, in bytes where its operations are not counted.
fn rate_words(seen: &Observation) -> String {
    match (seen.iops, seen.bytes_per_second) {
        (None, Some(bytes)) => format!("{}/s", units::Bytes::new(bytes.value() as u64)),
        (iops, _) => format!("{} IOPS", units::count(iops.map_or(0.0, |iops| iops.value()))),
    }
}

fn of_observation(name: &str, seen: &Observation) -> Derived {
    let iops = seen.iops.map(|known| known.value());
    let block = seen.block_bytes.or_else(|| seen.mean_bytes()).map(|known| known.value());
    let bytes_per_sec = seen.bytes_per_second.map(|known| known.value()).filter(|_| iops.is_none());
    let need = Need {
        iops,
        bytes_per_sec,
        block: block.map(|bytes| (bytes / 512.0).round().max(1.0) as u32 * 512),
        read_share: seen.read_share.unwrap_or(1.0),
        sequential: seen.random == Some(false),
        capacity: seen.region_bytes,
        ..Need::default()
    };
    let mut lines = vec![format!("{name}: measured {}", rate_words(seen))];
    if block.is_none() {
        let size = if bytes_per_sec.is_some() { "1 MiB" } else { "4 KiB" };
        lines.push(format!("operation size unknown: assuming {size} (set with --bs)"));
    }
    if seen.read_share.is_none() {
        lines.push("read percentage unknown: assuming 100% (set with --read)".to_owned());
    }
    if seen.random.is_none() {
        lines.push("access pattern unknown: assuming random (set with --pattern)".to_owned());
    }
    Derived { need, lines, doubt: None }
}

fn of_job(name: &str, source: &dyn HostSource) -> Result<Derived, Vec<Problem>> {
    let words = [name.to_owned()];
    let around = around(Some("custom,size=1PiB"));
    let plan =
        VariedJobs { jobs: &words, sections: &[], around, outside: source, place: VariedPlace::OneProcess }.with(&[])?;
    let Some(job) = plan.jobs.first() else {
        return Err(vec![Problem::error(ProblemCode::Plan, format!("{name} has no jobs"))]);
    };
    let (pattern, pace) = (&job.pattern, &job.pace);
    let reads = match (pattern.direction.reads(), pattern.direction.writes()) {
        (true, true) => pattern.read_fraction(),
        (true, false) => 1.0,
        _ => 0.0,
    };
    let jobs = f64::from(job.grouping.numjobs.max(1));
    // A rate applies to both kinds, whichever the job has.
    let has = [pattern.direction.reads(), pattern.direction.writes()];
    let sum = |rates: [Option<units::Rate>; 2]| {
        let used = rates.into_iter().zip(has).filter(|(_, has)| *has);
        let given: Vec<f64> = used.filter_map(|(rate, _)| Some(rate?.get() as f64)).collect();
        (!given.is_empty()).then(|| given.iter().sum::<f64>() * jobs)
    };
    let sizes = if reads > 0.0 { &pattern.block_sizes.read } else { &pattern.block_sizes.write };
    let need = Need {
        iops: sum([pace.rate_iops.read, pace.rate_iops.write]),
        bytes_per_sec: sum([pace.rate.read, pace.rate.write]),
        block: Some((sizes.min() / 2 + sizes.max() / 2).max(512)),
        read_share: reads,
        sequential: !pattern.random,
        ..Need::default()
    };
    let lines = vec![format!("{name}: the pattern of job `{}`", job.name)];
    Ok(Derived { need, lines, doubt: None })
}

//! Runs the probes of a sweep: on a modelled volume in virtual time and in parallel, or on a device one after the
//! other.

use analyse::knee::search::{KneeProbe, KneeSearch, KneeSettings, ProbeReading};
use analyse::knee::{Curve, Fit, steady};
use analyse::{Code, Finding, Severity};
use job::{Job, Plan};
use meter::IntervalWidths;
use record::{IntervalRecord, Run};
use results::sweep::{Sweep, SweepBurst};
use runner::{CreditPolicy, NullObserver, Observer, PreparedRun, Preview, RunControl, RunOptions, RunPlace, Runner};
use units::{Bytes, Nanos, Problem, ProblemCode};

use super::advice;
use super::question::{self, SweepQuestion};
use crate::host::{ProcedureObserver, map};

/// One search with its jobs and the runner of its probes.
pub struct PreparedSweep<'a> {
    question: &'a SweepQuestion<'a>,
    settings: Vec<(String, String)>,
    plan: Plan,
    place: RunPlace,
    runner: Box<dyn Runner>,
    /// Runs of completed probes, with their depths.
    completed: Vec<(u32, Run)>,
}

impl std::fmt::Debug for PreparedSweep<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreparedSweep")
            .field("settings", &self.settings)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// Number of parallel simulations: a constant, so that results do not depend on the host.
const PARALLEL_PROBES: usize = 4;
const INTERVALS: f64 = 40.0;

impl<'q> PreparedSweep<'q> {
    /// Checks everything that can be checked before a device is touched.
    pub fn set(question: &'q SweepQuestion<'q>, settings: Vec<(String, String)>) -> Result<Self, Vec<Problem>> {
        let plan = question.plan(&settings)?;
        question::only_job(&plan)?;
        let place = match (question::is_modelled(&plan), question.request.real_time) {
            (true, true) => RunPlace::Paced,
            (true, false) => RunPlace::Virtual,
            (false, _) => RunPlace::Device,
        };
        let runner = (question.host.runner)(place);
        let sweep = Self { question, settings, plan, place, runner, completed: Vec::new() };
        let deepest = sweep.settings().most / sweep.workers() * sweep.workers();
        // Synchronous engines use a worker per operation in flight, which may need a file of its own.
        for depth in [sweep.workers(), deepest.max(sweep.workers())] {
            let prepared = sweep.prepare(&sweep.plan_of(&KneeProbe { depth, warm_up_s: 0.0, seconds: 1.0 }));
            let prepared = prepared?;
            if !prepared.refusals().is_empty() {
                return Err(prepared.refusals().to_vec());
            }
        }
        Ok(sweep)
    }

    /// Returns the jobs.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    fn job(&self) -> &Job {
        &self.plan.jobs[0]
    }

    pub(crate) fn settings(&self) -> KneeSettings {
        self.question.settings(&self.plan, self.is_virtual())
    }

    /// Reports whether probes are simulated in virtual time.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        self.place == RunPlace::Virtual
    }

    /// Reports whether the volume is a model, in virtual or real time.
    #[must_use]
    pub fn is_modelled(&self) -> bool {
        self.place != RunPlace::Device
    }

    /// Returns the number of which depths are multiples.
    pub(crate) fn workers(&self) -> u32 {
        if self.job().has_queue() { self.job().grouping.numjobs.max(1) } else { 1 }
    }

    pub(crate) fn parallel_probes(&self) -> usize {
        if self.is_virtual() { PARALLEL_PROBES } else { 1 }
    }

    /// Returns the jobs of one probe. Synchronous engines have one operation in flight per worker.
    fn plan_of(&self, probe: &KneeProbe) -> Plan {
        let mut plan = self.plan.clone();
        for job in &mut plan.jobs {
            (job.pace.iodepth, job.grouping.numjobs) = advice::split(self.job(), probe.depth);
            let extent = &mut job.extent;
            extent.time_based = true;
            extent.ramp_time = Nanos::from_secs_f64(probe.warm_up_s);
            extent.ramp_size = Bytes::ZERO;
            extent.runtime = Nanos::from_secs_f64(probe.seconds).max(Nanos::new(1));
        }
        plan
    }

    fn prepare(&self, plan: &Plan) -> Result<Box<dyn PreparedRun + '_>, Vec<Problem>> {
        self.runner.prepare(plan, self.question.request.seeds)
    }

    /// Describes what the sweep would touch.
    pub fn told(&self) -> String {
        let settings: Vec<String> = self.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let with = if settings.is_empty() { String::new() } else { format!("with {}: ", settings.join(" ")) };
        let search = self.settings();
        let time = if search.budget_s.is_finite() {
            format!("at most {}", Nanos::from_secs_f64(search.budget_s))
        } else {
            "virtual time".to_owned()
        };
        let whole = format!("{with}depths from {} to {}, {time}\n", self.workers(), search.most);
        let described =
            self.prepare(&self.plan).map(|prepared| (self.question.host.preview)(&*prepared)).unwrap_or_default();
        // The duration of each probe is stated above.
        let duration = format!("{}: until", self.job().name);
        let touched: String =
            described.lines().filter(|line| !line.starts_with(&duration)).map(|line| format!("{line}\n")).collect();
        format!("{whole}{touched}")
    }

    /// Runs probes, in parallel in virtual time.
    pub(crate) fn measure(
        &mut self,
        probes: &[KneeProbe],
        control: &dyn RunControl,
        observer: &mut dyn ProcedureObserver,
    ) -> Result<Vec<ProbeReading>, Vec<Problem>> {
        // Models are measured without burst credits. `burst_of_model` measures the burst by one probe with full
        // buckets.
        let runs: Vec<Run> = if self.is_virtual() {
            let one = |probe: &KneeProbe| self.run(probe, CreditPolicy::Spent, control, &mut NullObserver);
            map(self.question.host.parallel, probes, one).into_iter().collect::<Result<_, _>>()?
        } else {
            let mut one =
                |probe: &KneeProbe| self.run(probe, CreditPolicy::AsDefined, control, &mut *observer.layout_only());
            probes.iter().map(&mut one).collect::<Result<_, _>>()?
        };
        let readings = runs.iter().map(reading).collect();
        self.completed.extend(probes.iter().map(|probe| probe.depth).zip(runs));
        Ok(readings)
    }

    /// Returns the last `count` probes with their names.
    pub(crate) fn latest(&self, count: usize) -> impl Iterator<Item = (String, &Run)> {
        let settings: String = self.settings.iter().map(|(key, value)| format!("{key}={value} ")).collect();
        let latest = &self.completed[self.completed.len().saturating_sub(count)..];
        latest.iter().map(move |(depth, run)| (format!("{settings}depth={depth}"), run))
    }

    /// Returns all probes with their names.
    pub fn parts(&self) -> impl Iterator<Item = (String, Run)> {
        self.latest(self.completed.len()).map(|(name, run)| (name, run.clone()))
    }

    fn run(
        &self,
        probe: &KneeProbe,
        credits: CreditPolicy,
        control: &dyn RunControl,
        observer: &mut dyn Observer,
    ) -> Result<Run, Vec<Problem>> {
        let prepared = self.prepare(&self.plan_of(probe))?;
        if let refusals @ [_, ..] = prepared.refusals() {
            return Err(refusals.to_vec());
        }
        let intervals = interval(probe.seconds, self.is_virtual());
        let options = RunOptions { intervals, credits, ..RunOptions::default() };
        let completed = prepared.run(&options, control, observer)?;
        if self.is_virtual() {
            return Ok(completed.run);
        }
        let failures = (self.question.host.failures)(&*prepared, &completed);
        if !failures.is_empty() && self.place == RunPlace::Device {
            return Err(failures);
        }
        match completed.run.jobs.iter().find(|job| job.result.ios() == 0) {
            Some(job) if control.end().is_none() => {
                let what = format!("{}: no operation completed at depth {}", job.name, probe.depth);
                Err(Problem::error(ProblemCode::Operation, what).into())
            }
            _ => Ok(completed.run),
        }
    }

    /// Returns the result of the search, with advice and findings.
    pub(crate) fn conclude(&mut self, search: &KneeSearch, control: &dyn RunControl) -> Result<Sweep, Vec<Problem>> {
        let fit = search.conclusion();
        let job = self.job();
        let burst = match self.place {
            RunPlace::Virtual if control.end().is_none() => self.burst_of_model(search, &fit, control)?,
            _ => burst_seen(search),
        };
        Ok(Sweep {
            settings: self.settings.clone(),
            target: job.target(),
            load: record::Declared::load_of(job),
            engine: job.engine.kind.name().to_owned(),
            direct: job.engine.direct,
            virtual_time: self.is_virtual(),
            spent_s: search.spent_s(),
            end: search.end(),
            limit: self.limit(),
            advice: advice::advice(&self.plan, &fit, self.cpu_per_io_ns(), &self.question.combinations().len()),
            findings: self.findings(),
            points: search.points(),
            probes: search.taken().to_vec(),
            burst,
            fit,
        })
    }

    fn deepest(&self) -> Option<&Run> {
        self.completed.iter().max_by_key(|(depth, _)| *depth).map(|(_, run)| run)
    }

    /// Returns warnings about the load or the device. The search itself detects short probes and changes of pace.
    fn findings(&self) -> Vec<Finding> {
        let verdict = self.deepest().map(|run| analyse::analyse(run).into_iter().next());
        let of_search =
            |code| matches!(code, Code::ShortRun | Code::BurstOrDrift | Code::Interrupted | Code::QueueTooShallow);
        let found = verdict.flatten().map(|verdict| verdict.findings().cloned().collect::<Vec<_>>());
        let mut findings = found.unwrap_or_default();
        findings.retain(|finding| finding.severity >= Severity::Warning && !of_search(finding.code));
        findings
    }

    /// Returns the bottleneck of the deepest probe.
    fn limit(&self) -> Option<String> {
        let stages = &self.deepest()?.model.as_ref()?.stages;
        let most = stages.iter().max_by_key(|stage| stage.decided.max(stage.delayed.min(stage.delay_ns)))?;
        (most.decided * 4 > most.requests || most.utilisation > 0.9).then(|| most.name.clone())
    }

    fn cpu_per_io_ns(&self) -> Option<f64> {
        let run = self.deepest().filter(|_| self.place == RunPlace::Device)?;
        let busy: u64 = run.jobs.iter().map(|job| job.result.cpu.busy_ns()).sum();
        let ios: u64 = run.jobs.iter().map(|job| job.result.ios()).sum();
        (ios > 0).then(|| busy as f64 / ios as f64)
    }

    /// Returns the rate while credits last, and how long a full bucket lasts at that rate.
    fn burst_of_model(
        &self,
        search: &KneeSearch,
        fit: &Fit,
        control: &dyn RunControl,
    ) -> Result<Option<SweepBurst>, Vec<Problem>> {
        let deepest = search.points().last().map_or(1, |point| point.depth);
        let lasting = match &fit.curve {
            Curve::Knee(knee) => knee.xmax.value,
            Curve::Flat { xmax, .. } => xmax.value,
            _ => return Ok(None),
        };
        let probe = KneeProbe { depth: deepest, warm_up_s: 0.05, seconds: 5.0 };
        let prepared = self.prepare(&self.plan)?;
        let Preview::Model { volumes, .. } = prepared.preview() else { return Ok(None) };
        if !volumes.iter().any(|volume| volume.has_credits) {
            return Ok(None);
        }
        // The knee of the burst lies higher.
        let depth = deepest.max(self.workers() * 64);
        let run = self.run(&KneeProbe { depth, ..probe }, CreditPolicy::AsDefined, control, &mut NullObserver)?;
        let found = reading(&run);
        let credits = run.model.iter().flat_map(|model| &model.stages).filter_map(|stage| stage.credits);
        let lasts =
            credits.filter(|credits| credits.spent_per_sec > 0.0).map(|credits| credits.left / credits.spent_per_sec);
        let elapsed_s = run.model.as_ref().map_or(0.0, |model| model.elapsed_ns as f64 / 1e9);
        let seconds = lasts.fold(f64::INFINITY, f64::min) + elapsed_s;
        let burst = SweepBurst { iops: found.iops, seconds: seconds.is_finite().then_some(seconds) };
        Ok((found.iops > 1.03 * lasting).then_some(burst))
    }
}

/// Returns a burst that ended during the measurement: a level above all sustained ones.
fn burst_seen(search: &KneeSearch) -> Option<SweepBurst> {
    const ABOVE: f64 = 1.05;
    let lasting = search.points().iter().map(|point| point.iops).fold(0.0, f64::max);
    let before = |taken: &analyse::knee::search::ProbeResult| {
        let step = taken.reading.step.filter(|step| step.ratio() < 1.0).map(|step| step.before);
        step.filter(|_| !taken.disturbed).or(taken.burst.then_some(taken.reading.iops))
    };
    let (mut now, mut last, mut iops) = (0.0, None, 0.0_f64);
    for taken in search.taken() {
        now += taken.probe.warm_up_s + taken.probe.seconds;
        if let Some(level) = before(taken) {
            iops = iops.max(level);
            last = Some(now);
        }
    }
    last.filter(|_| iops > ABOVE * lasting).map(|seconds| SweepBurst { iops, seconds: Some(seconds) })
}

/// Returns interval widths that divide a probe into equal parts; on hosts at least the resolution of timers.
fn interval(seconds: f64, virtual_time: bool) -> IntervalWidths {
    let least = if virtual_time { 1_000 } else { 20_000_000 };
    IntervalWidths::of(Nanos::new(Nanos::from_secs_f64(seconds / INTERVALS).get().max(least)))
}

/// Combines the results of all jobs of a run into one reading.
fn reading(run: &Run) -> ProbeReading {
    let width_ns = run.jobs.iter().map(|job| job.result.series.width_ns).max().unwrap_or(1);
    let length = run.jobs.iter().map(|job| job.result.series.intervals.len()).max().unwrap_or(0);
    let mut whole = vec![IntervalRecord::default(); length];
    for (all, one) in run.jobs.iter().flat_map(|job| (0..).zip(&job.result.series.intervals)) {
        let sum: &mut IntervalRecord = &mut whole[all];
        (0..3).for_each(|kind| sum.ios[kind] += one.ios[kind]);
        sum.service_ns += one.service_ns;
    }
    // The last interval may be incomplete.
    if length > 4 {
        whole.pop();
    }
    let ios = |interval: &IntervalRecord| interval.ios.iter().sum::<u64>() as f64;
    let per_second: Vec<f64> = whole.iter().map(|interval| ios(interval) * 1e9 / width_ns.max(1) as f64).collect();
    let judged = steady::judge(&per_second);
    let kept = &whole[judged.from..];
    let kept_ios: f64 = kept.iter().map(ios).sum();
    let service_ns: f64 = kept.iter().map(|interval| interval.service_ns as f64).sum();
    ProbeReading {
        iops: judged.mean.value,
        latency_ns: service_ns / kept_ios.max(1.0),
        // The error is at least that of the number of operations.
        error: (judged.mean.error / judged.mean.value.max(1e-9)).max(0.5 / kept_ios.max(1.0)),
        step: judged.step,
        drift: judged.drift.map(|drift| drift.change),
    }
}

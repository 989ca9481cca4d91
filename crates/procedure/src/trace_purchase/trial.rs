//! Replays of a trace on candidates.

use job::{EngineKind, Job, Plan, ReplayFacts, ReplayLoop, ReplayOptions};
use plan::replay::{ReplayResult, ReplayTrial};
use record::Run;
use runner::{NullObserver, RunControl, RunOptions, Runner, Seeds};
use units::PerKind;
use volume::catalogue;

use super::TraceHistory;
use super::early_stop::EarlyStop;
use super::outcome::outcome;

/// Replays the chosen part of a trace on modelled volumes.
pub struct TraceReplayer<'a> {
    /// Runs the replays.
    pub runner: &'a dyn Runner,
    /// What is replayed; its facts are known.
    pub options: ReplayOptions,
    /// Load before the replayed part, which determines the burst credits at its start.
    pub history: TraceHistory,
    /// Seed of all replays.
    pub seed: u64,
    /// Ends all replays.
    pub control: &'a dyn RunControl,
}

impl TraceReplayer<'_> {
    /// Replays a trial. `None` if it cannot be replayed, or if all replays were ended.
    #[must_use]
    pub fn replay(&self, trial: &ReplayTrial) -> Option<ReplayResult> {
        self.run(trial).map(|(_, result)| result)
    }

    /// Replays a trial and returns its record too.
    pub(super) fn run(&self, trial: &ReplayTrial) -> Option<(Run, ReplayResult)> {
        if self.control.end().is_some() {
            return None;
        }
        let spec = catalogue::resolve_all(&[&trial.volume], &catalogue::no_files).ok()?.remove(0).spec;
        let facts = self.options.facts.as_ref()?;
        let prepared = self.runner.prepare(&self.plan(trial), Seeds::fixed(self.seed)).ok()?;
        let credits = self.history.credits_of(&spec, trial.speed);
        let options = RunOptions { credits, ..RunOptions::default() };
        let planned = planned(facts);
        let stop = EarlyStop::new(self.control, trial.until_missed.as_ref(), planned);
        let run = match stop.observer() {
            Some(mut observer) => prepared.run(&options, &stop, &mut observer),
            None => prepared.run(&options, &stop, &mut NullObserver),
        };
        let completed = run.ok()?;
        let has_failed = completed.workers.iter().any(|worker| worker.error.is_some());
        if has_failed || self.control.end().is_some() {
            return None;
        }
        let is_open = self.options.dependence == ReplayLoop::Open;
        let intended_secs = is_open.then(|| facts.last.since(self.options.start).secs_f64() / trial.speed);
        let result = outcome(&completed.run, planned, intended_secs, stop.has_missed())?;
        Some((completed.run, result))
    }

    fn plan(&self, trial: &ReplayTrial) -> Plan {
        let mut job = Job { name: "replay".to_owned(), ..Job::default() };
        (job.engine.kind, job.engine.direct) = (EngineKind::Model, true);
        job.engine.volume = Some(trial.volume.clone());
        let speed_ppm = Some((trial.speed * ReplayOptions::ORIGINAL_SPEED as f64).round().max(1.0) as u64);
        job.replay = Some(ReplayOptions { speed_ppm, chooses_depth: true, ..self.options.clone() });
        Plan { jobs: vec![job], ..Plan::default() }
    }
}

/// Returns the reads, writes and trims of a replay.
fn planned(facts: &ReplayFacts) -> u64 {
    let PerKind { read, write, trim } = facts.operations;
    read.saturating_add(write).saturating_add(trim)
}

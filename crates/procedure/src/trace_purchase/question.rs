//! A purchase for a trace, from its file to the report.

use std::sync::Arc;

use job::{ReplayFacts, ReplayLoop, ReplayOptions};
use plan::Need;
use plan::replay::{ReplayBounds, ReplayResult, ReplayTrial};
use results::plan::{PlannedPart, PlannedTrace, TracePlanResult};
use runner::{RunControl, Runner, TraceFiles};
use units::{Bytes, Nanos, Problem, ProblemCode};
use workload::scan_trace;

use super::{ReadTrace, TraceHistory, TraceLoad, TracePart, TracePurchase, TraceReplayer, TraceWindow, read_trace};
use crate::host::Parallel;

/// What is asked of a trace.
#[derive(Clone, Debug)]
pub struct TraceQuestion {
    /// Requirements beside latencies, without rates. Without a capacity, that which the trace uses is required.
    pub need: Need,
    /// Bounds on latencies.
    pub bounds: ReplayBounds,
    /// Seed of the replays.
    pub seed: u64,
    /// Provisioned values are at most this fraction above the smallest sufficient ones.
    pub resolution: f64,
}

/// A trace that has been read, with the part to be replayed.
#[derive(Clone, Debug)]
pub struct PreparedTrace {
    read: ReadTrace,
    part: Arc<TracePart>,
    load: TraceLoad,
    options: ReplayOptions,
    history: TraceHistory,
}

impl PreparedTrace {
    /// Reads a trace and chooses the replayed part: all of it if `is_full`, otherwise its busiest hour. `on_piece` is called with the number of requests so far, and ends
    /// the reading by `false`; the result is then `None`.
    ///
    /// # Errors
    ///
    /// Fails if the trace cannot be read or has nothing to replay. Errors have a line with the remedy.
    pub fn read(
        name: &str,
        (is_full, dependence): (bool, ReplayLoop),
        traces: Arc<dyn TraceFiles>,
        on_piece: impl FnMut(u64) -> bool,
    ) -> Result<Option<Self>, Problem> {
        let Some(read) = read_trace(name, &*traces, on_piece)? else { return Ok(None) };
        let (series, first_ns) = (&read.profile.series, read.profile.totals.first_issue_ns);
        let busiest = (!is_full).then(|| TraceWindow::busiest(series, first_ns, TraceWindow::HOUR_NS)).flatten();
        let window = busiest.unwrap_or(TraceWindow::WHOLE);
        let history = TraceHistory::before(window, series, first_ns);
        let (part, load) = TracePart::read(name, window, traces)?;
        // The part begins at its own zero; a trace that is too large for memory is replayed from its file.
        let placed = if part.is_in_memory() { TraceWindow::WHOLE } else { window };
        let length = placed.end_ns.checked_sub(placed.start_ns).filter(|_| placed.end_ns < u64::MAX);
        let mut options = ReplayOptions {
            trace: part.name().to_owned(),
            dependence,
            start: Nanos::new(placed.start_ns),
            length: Nanos::new(length.unwrap_or(0)),
            ..ReplayOptions::default()
        };
        // The part in memory has neither the damage nor the end of the trace.
        let explained = |problem: Problem| match read.notes.as_slice() {
            [] => problem,
            notes => Problem { what: format!("{}, {}", problem.what, notes.join(", ")), ..problem },
        };
        let facts = scan_trace(&options, part.open(part.name())?).map_err(explained)?;
        if dependence == ReplayLoop::Closed && !read.format.has_service_times() {
            let what = format!("{name}: a closed loop requires completions, which this format does not record");
            return Err(Problem::error(ProblemCode::Trace, what).help("replay it as an open loop"));
        }
        options.facts = Some(facts);
        Ok(Some(Self { read, part: Arc::new(part), load, options, history }))
    }

    /// Returns what opens the replayed part, for the runner.
    #[must_use]
    pub fn traces(&self) -> Arc<dyn TraceFiles> {
        Arc::clone(&self.part) as Arc<dyn TraceFiles>
    }

    /// Returns the bytes up to the last one that the trace uses, of all its devices together.
    fn used_bytes(&self) -> u64 {
        self.read.profile.devices.iter().fold(0, |sum, device| sum.saturating_add(device.end_offset))
    }

    /// Returns what replays the part; `runner` opens traces by [`Self::traces`].
    #[must_use]
    pub fn replayer<'a>(&self, runner: &'a dyn Runner, seed: u64, control: &'a dyn RunControl) -> TraceReplayer<'a> {
        TraceReplayer { runner, options: self.options.clone(), history: self.history.clone(), seed, control }
    }

    /// Searches the volumes that answer a question about the trace.
    #[must_use]
    pub fn plan(
        &self,
        question: TraceQuestion,
        runner: &dyn Runner,
        control: &dyn RunControl,
        (parallel, on_progress): (Parallel, &(dyn Fn(usize, usize) + Sync)),
    ) -> TracePlanResult {
        let TraceQuestion { mut need, bounds, seed, resolution } = question;
        need.capacity = need.capacity.or(Some(self.used_bytes()));
        let replayer = self.replayer(runner, seed, control);
        let replay = |trial: &ReplayTrial| -> Option<ReplayResult> { replayer.replay(trial) };
        let sequential = &self.read.profile.sequential;
        let directions = [&sequential.reads, &sequential.writes];
        let continuing: f64 = directions.iter().map(|runs| runs.continuing_fraction() * runs.requests as f64).sum();
        let is_sequential = 2.0 * continuing > directions.iter().map(|runs| runs.requests as f64).sum();
        let (load, replay) = (&self.load, &replay);
        let purchase = TracePurchase { need, bounds, load, is_sequential, resolution, replay, parallel, on_progress };
        purchase.conclude(self.described(), seed)
    }

    /// Describes the trace and its part.
    #[must_use]
    pub fn described(&self) -> PlannedTrace {
        let (read, load) = (&self.read, &self.load);
        let window = load.window;
        let totals = &read.profile.totals;
        let secs = |ns: u64| ns.saturating_sub(totals.first_issue_ns) as f64 / 1e9;
        let is_part = window != TraceWindow::WHOLE;
        let duration = load.secs().max(1e-9);
        PlannedTrace {
            name: self.part.original().to_owned(),
            source: read.info.source.clone(),
            requests: totals.requests.total(),
            secs: totals.issue_duration_ns as f64 / 1e9,
            replayed: PlannedPart {
                secs: is_part.then(|| (secs(window.start_ns), secs(window.end_ns))),
                requests: load.requests,
                iops: load.mean_iops(),
                bytes_per_sec: load.bytes as f64 / duration,
                read_share: load.read_share(),
            },
            is_closed: self.options.dependence == ReplayLoop::Closed,
            is_derived: false,
            service_secs: load.service_secs(),
            notes: self.notes(),
        }
    }

    /// Lists what is missing, left out or assumed.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.read.notes.clone();
        let facts: Option<&ReplayFacts> = self.options.facts.as_ref();
        for note in facts.into_iter().flat_map(|facts| &facts.notes) {
            // The part in memory repeats neither the losses nor the end of the trace.
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        for (name, size) in &self.read.info.devices {
            let Some(size) = size else { continue };
            notes.push(format!(
                "{name} has {}, the trace uses the first {}; require more with --capacity",
                Bytes::new(*size),
                Bytes::new(self.used_bytes())
            ));
        }
        notes
    }
}

//! Saves runs in the store.
//!
//! It is done beside the printing, on a thread of its own, which delays the exit by at most [`PATIENCE`]: the store may
//! be locked by a stopped process, or its disk be slow. What cannot be kept is one warning and fails nothing.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use analyse::Verdict;
use record::{EnvironmentRecord, Run};
use report::Event;
use store::{Retention, RunKind, RunStore};

use crate::argv::command_line;
use crate::{diagnostics, home, retention, terminal};

/// Maximum delay of the exit for saving.
const PATIENCE: Duration = Duration::from_secs(2);
/// Part of that for acquiring a lock.
const PATIENCE_WITH_LOCKS: Duration = Duration::from_millis(1500);

/// The text that was printed of a sweep, a grid or a suite.
pub(crate) const TEXT: &str = "report.txt";
/// The documents of what has many parts, beside the record of the parts.
pub(crate) const SWEEP: &str = "sweep.json";
pub(crate) const GRID: &str = "grid.json";
pub(crate) const SUITE: &str = "suite.json";

/// Data of a run to be saved.
#[derive(Debug)]
pub(crate) struct RunToSave {
    pub(crate) kind: RunKind,
    /// What it is about.
    pub(crate) name: String,
    pub(crate) run: Run,
    /// When it began, also where time was virtual.
    pub(crate) began_unix_ms: u64,
    /// The jobs as they were written.
    pub(crate) job: String,
    /// What was told while it went on, JSON lines.
    pub(crate) events: String,
    /// What was found, in a word.
    pub(crate) verdict: Option<String>,
    /// Files of other names.
    pub(crate) attached: Vec<(&'static str, String)>,
}

impl RunToSave {
    /// A run with nothing beside it yet.
    pub(crate) fn of(kind: RunKind, name: &str, run: Run, began_unix_ms: u64) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            run,
            began_unix_ms,
            job: String::new(),
            events: String::new(),
            verdict: None,
            attached: Vec::new(),
        }
    }

    /// Begins to keep it where the user's runs are.
    pub(crate) fn keep(self) -> PendingSave {
        let place = match home::runs() {
            Ok(place) => place,
            Err(problem) => return PendingSave::failed(PathBuf::new(), problem),
        };
        let (sender, outcome) = mpsc::channel();
        let root = place.clone();
        let keep = move || {
            // The receiver is gone where it took too long.
            let _ = sender.send(self.put(root));
        };
        match thread::Builder::new().name("keep".to_owned()).spawn(keep) {
            Ok(_) => PendingSave { place, state: SaveState::Going(outcome) },
            Err(error) => PendingSave::failed(place, format!("cannot start a thread: {error}")),
        }
    }

    fn put(self, root: PathBuf) -> Result<StoredEntry, String> {
        let told = |error: store::Error| error.to_string();
        let store = RunStore::open(root).map_err(told)?.with_patience(PATIENCE_WITH_LOCKS);
        let id = self.write(&store).map_err(told)?;
        // What cannot be removed now is there for the next run to remove.
        let problem = retention::from_environment()
            .map(|retention| store.retain(Retention { latest: 1, ..retention }, device::unix_ms()))
            .err();
        Ok(StoredEntry { id, problem })
    }

    fn write(&self, store: &RunStore) -> Result<String, store::Error> {
        let mut writer = store.begin(self.kind, &self.name)?;
        if !self.job.is_empty() {
            writer.job(&self.job)?;
        }
        for line in self.events.lines() {
            writer.event(line)?;
        }
        for (name, text) in &self.attached {
            writer.attach(name, text.as_bytes())?;
        }
        if let Some(verdict) = &self.verdict {
            writer.verdict(verdict);
        }
        writer.added_at(device::unix_ms());
        writer.finish_in(&self.run, &environment(&self.run, self.began_unix_ms))
    }
}

/// Something that is in the store.
#[derive(Debug)]
pub(crate) struct StoredEntry {
    pub(crate) id: String,
    /// What is wrong with the settings of retention.
    problem: Option<String>,
}

/// Something that is being kept.
pub(crate) struct PendingSave {
    place: PathBuf,
    state: SaveState,
}

enum SaveState {
    Going(Receiver<Outcome>),
    Done(Outcome),
}

/// The result of saving; the reason of a failure, on one line.
type Outcome = Result<StoredEntry, String>;

impl PendingSave {
    fn failed(place: PathBuf, problem: String) -> Self {
        Self { place, state: SaveState::Done(Err(problem)) }
    }

    /// Waits until it is kept, but not long.
    pub(crate) fn settle(self) -> Self {
        let Self { place, state } = self;
        let outcome = match state {
            SaveState::Done(outcome) => outcome,
            SaveState::Going(outcome) => {
                outcome.recv_timeout(PATIENCE).unwrap_or_else(|error| Err(late(&place, error)))
            }
        };
        Self { place, state: SaveState::Done(outcome) }
    }

    fn end(self) -> Outcome {
        match self.settle().state {
            SaveState::Done(outcome) => outcome,
            SaveState::Going(_) => Err(BROKEN.to_owned()),
        }
    }
}

const BROKEN: &str = "the thread that saves it failed\nhelp: please report this bug with the message above";

fn late(place: &Path, error: RecvTimeoutError) -> String {
    match error {
        RecvTimeoutError::Disconnected => BROKEN.to_owned(),
        RecvTimeoutError::Timeout => {
            let waited_s = PATIENCE.as_secs();
            format!("{}: not done after {waited_s} s\nhelp: look at its disk, or {}", place.display(), home::ELSEWHERE)
        }
    }
}

/// The most severe headline, as one word.
pub(crate) fn verdict(verdicts: &[Verdict]) -> Option<String> {
    let headlines = verdicts.iter().map(|verdict| &verdict.headline);
    headlines.max_by_key(|finding| finding.severity).map(|finding| finding.code.name().to_owned())
}

/// One record of many parts, each with its name.
pub(crate) fn of_parts(parts: Vec<(String, Run)>, words: &[String], seed: Option<u64>) -> Run {
    Run {
        schema: record::SCHEMA,
        tool: record::Tool::this(),
        command_line: command_line(words),
        seed,
        ..Run::of_parts(parts)
    }
}

/// Reconstructs events of parts that ran in parallel.
pub(crate) fn events_of(run: &Run, began_unix_ms: u64) -> String {
    let begun = Event::Start { unix_ms: began_unix_ms, command_line: run.command_line.clone() };
    begun.line() + &Event::end(run).line()
}

/// Tells on standard error under which name it is kept, or why it is not. Returns its id.
pub(crate) fn report_saved(pending_save: Option<PendingSave>) -> Option<String> {
    let id = report_problems(pending_save)?;
    terminal::write_stderr_dimmed(&format!("saved as {id}; see: fathom report last"));
    Some(id)
}

/// The same of the runs of several series.
pub(crate) fn report_saved_series(all: impl IntoIterator<Item = PendingSave>, names: &[String]) {
    if report_problems(all).is_some() {
        let names = names.join(" ");
        let then = if names.contains(' ') { "compare" } else { "report" };
        terminal::write_stderr_dimmed(&format!("saved as {names}; see: fathom {then} {names}"));
    }
}

/// Tells in one line what went wrong first, if anything did. Returns the id of the last that is kept.
fn report_problems(all: impl IntoIterator<Item = PendingSave>) -> Option<String> {
    let (mut last, mut problem) = (None, None);
    for pending_save in all {
        let (id, wrong) = match pending_save.end() {
            Ok(kept) => (Some(kept.id), kept.problem),
            Err(reason) => (None, Some(format!("this run is not saved: {reason}"))),
        };
        last = id.or(last);
        problem = problem.or(wrong);
    }
    if let Some(problem) = problem {
        diagnostics::warning(&problem);
    }
    last
}

/// The environment of a run that began at this time.
fn environment(run: &Run, began_unix_ms: u64) -> EnvironmentRecord {
    EnvironmentRecord {
        directory: std::env::current_dir().map_or_else(|_| String::new(), |path| path.to_string_lossy().into_owned()),
        started_unix_ms: began_unix_ms,
        utc_offset_s: jiff::Zoned::now().offset().seconds(),
        ..device::environment_record(run)
    }
}

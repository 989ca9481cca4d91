//! Saves runs in the store.
//!
//! A thread saves the run while the main thread prints results. It delays the exit by at most [`SAVE_TIMEOUT`]: a
//! stopped process may hold the lock of the store, or the disk may be slow. A failed save causes a warning, never a
//! failed command.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use analyse::Verdict;
use record::{EnvironmentRecord, Run};
use report::Event;
use store::{Retention, RunKind, RunStore};

use crate::argv::command_line;
use crate::{diagnostics, home, terminal};

/// Maximum delay of the exit for saving.
const SAVE_TIMEOUT: Duration = Duration::from_secs(2);
/// Part of [`SAVE_TIMEOUT`] for acquiring a lock of the store.
const LOCK_TIMEOUT: Duration = Duration::from_millis(1500);

/// Attached file with the printed text of a sweep, a grid or a suite.
pub(crate) const TEXT: &str = "report.txt";
/// Attached documents of sweeps, grids and suites, beside the record of their parts.
pub(crate) const SWEEP: &str = "sweep.json";
pub(crate) const GRID: &str = "grid.json";
pub(crate) const SUITE: &str = "suite.json";

/// Data of a run to be saved.
#[derive(Debug)]
pub(crate) struct RunToSave {
    pub(crate) kind: RunKind,
    /// Name of the job or of the suite.
    pub(crate) name: String,
    pub(crate) run: Run,
    /// Start by the wall clock, even if the run was in virtual time.
    pub(crate) started_unix_ms: u64,
    /// The jobs as written.
    pub(crate) job: String,
    /// Events, in JSON lines.
    pub(crate) events: String,
    /// The most severe finding, in one word.
    pub(crate) verdict: Option<String>,
    /// Other files: name and content.
    pub(crate) attached: Vec<(&'static str, String)>,
}

impl RunToSave {
    /// Returns a run with no other data.
    pub(crate) fn of(kind: RunKind, name: &str, run: Run, started_unix_ms: u64) -> Self {
        let name = name.to_owned();
        let (job, events, verdict, attached) = Default::default();
        Self { kind, name, run, started_unix_ms, job, events, verdict, attached }
    }

    /// Starts saving the run in the user's store.
    pub(crate) fn start(self) -> PendingSave {
        let root = match home::runs() {
            Ok(root) => root,
            Err(problem) => return PendingSave::Done(Err(problem)),
        };
        let (sender, outcome) = mpsc::channel();
        let store = root.clone();
        // The receiver is gone if saving took too long.
        let save = move || drop(sender.send(self.save(store)));
        match thread::Builder::new().name("save".to_owned()).spawn(save) {
            Ok(_) => PendingSave::Running { root, outcome },
            Err(error) => PendingSave::Done(Err(format!("cannot start a thread: {error}"))),
        }
    }

    fn save(self, root: PathBuf) -> Outcome {
        let text = |error: store::Error| error.to_string();
        let store = RunStore::open(root).map_err(text)?.with_patience(LOCK_TIMEOUT);
        let id = self.write(&store).map_err(text)?;
        // Runs that cannot be removed now are left to the next command.
        let retention_error = home::retention()
            .map(|retention| store.retain(Retention { latest: 1, ..retention }, device::unix_ms()))
            .err();
        Ok(StoredEntry { id, retention_error })
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
        writer.finish_in(&self.run, &environment(&self.run, self.started_unix_ms))
    }
}

/// A run that is saved.
#[derive(Debug)]
pub(crate) struct StoredEntry {
    id: String,
    /// Error in the settings of retention.
    retention_error: Option<String>,
}

/// The result of saving, or why it failed.
type Outcome = Result<StoredEntry, String>;

/// A save that is running or done.
pub(crate) enum PendingSave {
    Running { root: PathBuf, outcome: Receiver<Outcome> },
    Done(Outcome),
}

impl PendingSave {
    /// Waits for the save to end, at most [`SAVE_TIMEOUT`].
    pub(crate) fn settle(self) -> Self {
        Self::Done(self.outcome())
    }

    fn outcome(self) -> Outcome {
        let (root, outcome) = match self {
            Self::Done(outcome) => return outcome,
            Self::Running { root, outcome } => (root, outcome),
        };
        outcome.recv_timeout(SAVE_TIMEOUT).unwrap_or_else(|error| match error {
            RecvTimeoutError::Disconnected => {
                Err("the thread that saves it failed\nhelp: please report this bug with the message above".to_owned())
            }
            RecvTimeoutError::Timeout => {
                let waited_s = SAVE_TIMEOUT.as_secs();
                let place = root.display();
                Err(format!("{place}: not finished after {waited_s} s\nhelp: check its disk, {}", home::ELSEWHERE))
            }
        })
    }
}

/// Returns the code of the most severe headline.
pub(crate) fn verdict(verdicts: &[Verdict]) -> Option<String> {
    let headlines = verdicts.iter().map(|verdict| &verdict.headline);
    headlines.max_by_key(|finding| finding.severity).map(|finding| finding.code.name().to_owned())
}

/// Returns one record of named parts.
pub(crate) fn of_parts(parts: Vec<(String, Run)>, words: &[String], seed: Option<u64>) -> Run {
    Run {
        schema: record::SCHEMA,
        tool: record::Tool::this(),
        command_line: command_line(words),
        seed,
        ..Run::of_parts(parts)
    }
}

/// Returns the events of a run whose parts ran in parallel: its start and its end.
pub(crate) fn events_of(run: &Run, started_unix_ms: u64) -> String {
    let start = Event::Start { unix_ms: started_unix_ms, command_line: run.command_line.clone() };
    start.line() + &Event::end(run).line()
}

/// Prints the ID of a saved run on standard error, or why the run is not saved. Returns the ID.
pub(crate) fn report_saved(pending_save: Option<PendingSave>) -> Option<String> {
    let id = report_problems(pending_save)?;
    terminal::write_stderr_dimmed(&format!("saved as {id}; see: fathom report last"));
    Some(id)
}

/// Prints the names of saved series on standard error, or why a run is not saved.
pub(crate) fn report_saved_series(saves: impl IntoIterator<Item = PendingSave>, names: &[String]) {
    if report_problems(saves).is_some() {
        let names = names.join(" ");
        let command = if names.contains(' ') { "compare" } else { "report" };
        terminal::write_stderr_dimmed(&format!("saved as {names}; see: fathom {command} {names}"));
    }
}

/// Prints the first problem as a warning. Returns the ID of the last saved run.
fn report_problems(saves: impl IntoIterator<Item = PendingSave>) -> Option<String> {
    let (mut last, mut problem) = (None, None);
    for pending_save in saves {
        let (id, error) = match pending_save.outcome() {
            Ok(stored) => (Some(stored.id), stored.retention_error),
            Err(reason) => (None, Some(format!("this run is not saved: {reason}"))),
        };
        last = id.or(last);
        problem = problem.or(error);
    }
    if let Some(problem) = problem {
        diagnostics::warning(&problem);
    }
    last
}

/// Returns the environment of a run.
fn environment(run: &Run, started_unix_ms: u64) -> EnvironmentRecord {
    EnvironmentRecord {
        directory: std::env::current_dir().map_or_else(|_| String::new(), |path| path.to_string_lossy().into_owned()),
        started_unix_ms,
        utc_offset_s: jiff::Zoned::now().offset().seconds(),
        ..device::environment_record(run)
    }
}

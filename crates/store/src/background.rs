//! Saving on a thread of its own.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::error::Result;
use crate::{Retention, RunStore};
use record::{EnvironmentRecord, Run, RunKind};
use units::{Problem, ProblemCode};

/// Maximum time to wait for the end of a save: a stopped process may hold the lock of the store, or the disk may be slow.
const SAVE_TIMEOUT: Duration = Duration::from_secs(2);
/// Part of [`SAVE_TIMEOUT`] for acquiring a lock of the store.
const LOCK_TIMEOUT: Duration = Duration::from_millis(1500);

/// Data of a run to be saved.
#[derive(Debug)]
pub struct RunToSave {
    /// Kind of the command.
    pub kind: RunKind,
    /// Name of the job or of the suite.
    pub name: String,
    /// Record of the run.
    pub run: Run,
    /// Start by the wall clock, even if the run was in virtual time, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// The jobs as written.
    pub job: String,
    /// Events, in JSON lines.
    pub events: String,
    /// The most severe finding, in one word.
    pub verdict: Option<String>,
    /// Other files: name and content.
    pub attached: Vec<(&'static str, String)>,
}

/// Where and how runs are saved.
#[derive(Clone, Copy, Debug)]
pub struct SavePolicy {
    /// Returns the folder of the store.
    pub root: fn() -> std::result::Result<PathBuf, Problem>,
    /// Returns which runs are kept.
    pub retention: fn() -> std::result::Result<Retention, Problem>,
    /// Returns the environment of a run that started at a time in milliseconds since 1970.
    pub environment: fn(&Run, u64) -> EnvironmentRecord,
    /// Returns the current time in milliseconds since 1970.
    pub now_unix_ms: fn() -> u64,
    /// Advice if the folder cannot be written to.
    pub elsewhere: &'static str,
}

impl RunToSave {
    /// Returns a run with no other data.
    #[must_use]
    pub fn of(kind: RunKind, name: &str, run: Run, started_unix_ms: u64) -> Self {
        let name = name.to_owned();
        let (job, events, verdict, attached) = Default::default();
        Self { kind, name, run, started_unix_ms, job, events, verdict, attached }
    }

    /// Starts saving the run.
    #[must_use]
    pub fn start(self, policy: SavePolicy) -> PendingSave {
        let root = match (policy.root)() {
            Ok(root) => root,
            Err(problem) => return PendingSave::Done(Err(problem)),
        };
        let (sender, outcome) = mpsc::channel();
        let folder = root.clone();
        // The receiver is gone if saving took too long.
        let save = move || drop(sender.send(self.save(folder, policy)));
        match thread::Builder::new().name("save".to_owned()).spawn(save) {
            Ok(_) => PendingSave::Running { root, outcome, elsewhere: policy.elsewhere },
            Err(error) => {
                let problem = Problem::error(ProblemCode::Store, format!("cannot start a thread: {error}"));
                PendingSave::Done(Err(problem))
            }
        }
    }

    fn save(self, root: PathBuf, policy: SavePolicy) -> SaveOutcome {
        let store = RunStore::open(root)?.with_patience(LOCK_TIMEOUT);
        let id = self.write(&store, policy)?;
        // Runs that cannot be removed now are left to the next command.
        let retention_error = (policy.retention)()
            .map(|retention| store.retain(Retention { latest: 1, ..retention }, (policy.now_unix_ms)()))
            .err();
        Ok(StoredEntry { id, retention_error })
    }

    fn write(&self, store: &RunStore, policy: SavePolicy) -> Result<String> {
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
        writer.added_at((policy.now_unix_ms)());
        writer.finish_in(&self.run, &(policy.environment)(&self.run, self.started_unix_ms))
    }
}

/// A run that is saved.
#[derive(Debug)]
pub struct StoredEntry {
    pub id: String,
    /// Error in the settings of retention.
    pub retention_error: Option<Problem>,
}

/// The result of saving, or why it failed.
pub type SaveOutcome = std::result::Result<StoredEntry, Problem>;

/// A save that is running or done.
#[derive(Debug)]
pub enum PendingSave {
    /// A thread saves.
    Running {
        /// Folder of the store.
        root: PathBuf,
        outcome: Receiver<SaveOutcome>,
        /// Advice if the folder cannot be written to.
        elsewhere: &'static str,
    },
    /// The save has ended.
    Done(SaveOutcome),
}

impl PendingSave {
    /// Waits at most two seconds for the save to end.
    #[must_use]
    pub fn settle(self) -> Self {
        Self::Done(self.outcome())
    }

    /// Waits at most two seconds for the save to end.
    ///
    /// # Errors
    ///
    /// Returns why the run is not saved.
    pub fn outcome(self) -> SaveOutcome {
        let (root, outcome, elsewhere) = match self {
            Self::Done(outcome) => return outcome,
            Self::Running { root, outcome, elsewhere } => (root, outcome, elsewhere),
        };
        outcome.recv_timeout(SAVE_TIMEOUT).unwrap_or_else(|error| match error {
            RecvTimeoutError::Disconnected => Err(Problem::error(ProblemCode::Store, "the saving thread failed")
                .help("please report this bug with the message above")),
            RecvTimeoutError::Timeout => {
                let (waited_s, place) = (SAVE_TIMEOUT.as_secs(), root.display());
                Err(Problem::error(ProblemCode::Store, format!("{place}: not finished after {waited_s} s"))
                    .help(format!("check its disk, {elsewhere}")))
            }
        })
    }
}

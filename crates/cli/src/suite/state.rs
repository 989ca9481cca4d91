//! What is done of a suite, kept in a file so that an interrupted run goes on.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use engine::gate::{Existing, create_output};
use report::suite::SuiteOutcome;
use serde::{Deserialize, Serialize};

use super::ask::SuiteQuestion;
use engine::describe;

/// The version of the file's layout.
const SCHEMA: u32 = 2;

/// What is done of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SuiteState {
    fathom_suite_state: u32,
    /// What was asked for.
    asked: Vec<(String, String)>,
    /// What everything random derives from.
    pub(super) seed: u64,
    taken: Vec<TakenStep>,
    /// Under which id an earlier command has kept the records of its steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<String>,
}

/// A step that is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TakenStep {
    pub(super) step: String,
    /// Zero for what comes before the rounds.
    pub(super) round: usize,
    pub(super) measured: Option<SuiteOutcome>,
    pub(super) modelled: Option<SuiteOutcome>,
    /// What it left of the model's credits.
    #[serde(default, skip_serializing_if = "Credits::is_empty")]
    pub(super) credits: Credits,
}

/// How full the buckets of a model's limits are, by their names, in billionths: whole numbers are read back as they were.
pub(super) type Credits = BTreeMap<String, u64>;

impl SuiteState {
    pub(super) fn new(question: &SuiteQuestion, seed: u64) -> Self {
        Self { fathom_suite_state: SCHEMA, asked: asked(question), seed, taken: Vec::new(), kept: None }
    }

    /// What is kept at a path, if anything is.
    ///
    /// # Errors
    ///
    /// What cannot be read, or was asked otherwise.
    pub(super) fn load(path: &Path, question: &SuiteQuestion, seed: Option<u64>) -> Result<Option<Self>, String> {
        let remedy = "give another file with --state, or begin anew with --restart";
        let text = match crate::input::read_text(path, crate::input::STATE) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(format!("the state {} cannot be read: {}; {remedy}", path.display(), describe(&error)));
            }
        };
        let state: Self = serde_json::from_str(&text)
            .map_err(|error| format!("{} holds no state of a suite: {error}; {remedy}", path.display()))?;
        if state.fathom_suite_state != SCHEMA {
            return Err(format!("{} is of another version of fathom; {remedy}", path.display()));
        }
        let wanted = asked(question);
        let mut differing: Vec<String> = Vec::new();
        for (name, value) in &wanted {
            let before = state.asked.iter().find(|(known, _)| known == name).map_or("nothing", |(_, value)| value);
            if before != value {
                differing.push(match name.as_str() {
                    "procedure" => "the steps of the suite have changed".to_owned(),
                    name => format!("{name} was {before} and is now {value}"),
                });
            }
        }
        if let Some(seed) = seed.filter(|seed| *seed != state.seed) {
            differing.push(format!("--seed was {} and is now {seed}", state.seed));
        }
        if differing.is_empty() {
            return Ok(Some(state));
        }
        Err(format!(
            "the state {} is of another run: {}. Repeat the command as it was, {remedy}",
            path.display(),
            differing.join(", ")
        ))
    }

    pub(super) fn add(&mut self, taken: TakenStep) {
        self.taken.push(taken);
    }

    /// What the last step left of the model's credits.
    pub(super) fn credits(&self) -> Credits {
        self.taken.last().map(|taken| taken.credits.clone()).unwrap_or_default()
    }

    /// What a step brought in one round.
    pub(super) fn of(&self, step: &str, round: usize) -> Option<&TakenStep> {
        self.taken.iter().find(|taken| taken.step == step && taken.round == round)
    }

    /// Whether anything is done.
    pub(super) fn done(&self) -> usize {
        self.taken.len()
    }

    /// Replaces what was kept, all at once: a reader sees the whole of one or the other.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub(super) fn save(&self, path: &Path) -> Result<(), String> {
        let beside = beside(path, "new");
        let text = serde_json::to_string(self).unwrap_or_default();
        let write = || {
            let mut file = create_output(&beside, Existing::Replace)?;
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            std::fs::rename(&beside, path)
        };
        write().map_err(|error| {
            format!(
                "the state {} cannot be written: {}; give another file with --state",
                path.display(),
                describe(&error)
            )
        })
    }
}

/// Keeps others from the same state for as long as this lives.
pub(super) struct SuiteLock {
    path: PathBuf,
    _file: File,
}

impl SuiteLock {
    /// Takes the state at a path.
    ///
    /// # Errors
    ///
    /// Another process has it, or the system refuses.
    pub(super) fn take(state: &Path) -> Result<Self, String> {
        let path = beside(state, "lock");
        let cannot = |error: &std::io::Error| {
            format!(
                "the state {} cannot be locked: {}; give another file with --state",
                state.display(),
                describe(error)
            )
        };
        let file = create_output(&path, Existing::Replace);
        let file = file.map_err(|denied| cannot(&denied.into()))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { path, _file: file }),
            Err(TryLockError::WouldBlock) => Err(format!(
                "another fathom is carrying out this suite and keeps what is done in {}: wait for it, or give another \
                 file with --state",
                state.display()
            )),
            Err(TryLockError::Error(error)) => Err(cannot(&error)),
        }
    }
}

impl Drop for SuiteLock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A hidden file beside a state.
fn beside(state: &Path, ending: &str) -> PathBuf {
    let name = state.file_name().map_or_else(|| "state".into(), |name| name.to_string_lossy().into_owned());
    state.with_file_name(format!(".{name}.{ending}"))
}

/// All that has to be the same for a run to go on.
fn asked(question: &SuiteQuestion) -> Vec<(String, String)> {
    let suite = &question.suite;
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "nothing".to_owned());
    let pairs = [
        ("the suite", suite.name.clone()),
        ("procedure", format!("{:016x}", hash(&suite.text.text))),
        ("--target", or_none(question.target.as_deref().map(absolute))),
        ("--on", or_none(question.on.clone())),
        ("--scale", question.scale.to_string()),
        ("the size used of the target in bytes", or_none(question.target_bytes.map(|bytes| bytes.to_string()))),
        ("the size used of the volume in bytes", or_none(question.volume_bytes.map(|bytes| bytes.to_string()))),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

/// The default place of the state of a run: one file for each suite, target and volume.
///
/// # Errors
///
/// Where there is no home for it.
pub(super) fn usual_path(question: &SuiteQuestion) -> Result<PathBuf, String> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // As the XDG base directory specification says, what is not absolute counts for nothing.
    let base = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let base = base.or_else(|| set("HOME").map(|home| home.join(".local/state")));
    let Some(base) = base else {
        return Err(
            "there is no place for the state, as neither XDG_STATE_HOME nor HOME is set: give --state FILE".to_owned()
        );
    };
    let directory = base.join("fathom").join("suites");
    std::fs::create_dir_all(&directory).map_err(|error| {
        format!("the directory {} cannot be made: {}; give --state FILE", directory.display(), describe(&error))
    })?;
    let target = question.target.as_deref().map(absolute).unwrap_or_default();
    let of = hash(&format!("{target}\n{}", question.on.as_deref().unwrap_or_default()));
    Ok(directory.join(format!("{}-{:08x}.json", question.suite.name, of as u32)))
}

/// FNV-1a, which is the same in every version.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

//! This process as one of the ranks of `fathom-fleet`; in `fathom`, as the only one.
//!
//! All ranks execute the same command. Rank 0 prints, writes files and saves runs; the others record what they would
//! have printed on standard error, and hand it over at their end.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use units::{Problem, ProblemCode};

use fleet::{Fleet, messages_elsewhere};
use job::SplitKind;
use record::Shard;

/// This rank, in `fathom-fleet`.
static FLEET: OnceLock<JoinedRank> = OnceLock::new();

/// What this rank has printed on standard error, or would have.
static MESSAGES: Mutex<String> = Mutex::new(String::new());

/// Maximum length of [`MESSAGES`] in bytes.
const MESSAGES_BYTES_MAX: usize = 64 << 10;

struct JoinedRank {
    fleet: Fleet,
    split: Option<SplitKind>,
    records: Option<PathBuf>,
    has_variables: bool,
}

/// Sets this rank, how work is divided, and the directory for the records of ranks if one is given. `has_variables` is
/// false if the job language must not know the rank, because the result must not depend on it.
pub(crate) fn set(fleet: Fleet, split: Option<SplitKind>, records: Option<PathBuf>, has_variables: bool) {
    // The program joins once.
    let _ = FLEET.set(JoinedRank { fleet, split, records, has_variables });
}

/// Reports whether the job language knows the variables of this rank.
pub(crate) fn has_variables() -> bool {
    FLEET.get().is_some_and(|joined| joined.has_variables)
}

/// Returns why ranks do not run a load on a modelled volume.
pub(crate) fn own_volume() -> Problem {
    Problem::error(ProblemCode::Ranks, "each rank would have its own modelled volume")
        .help("serve one volume with `fathom serve` and measure it with ioengine=nbd, or write `fathom sim --hosts N`")
}

/// Returns the value of a variable that ranks have.
pub(crate) fn variable(name: &str) -> Option<String> {
    FLEET.get().filter(|joined| joined.has_variables)?.fleet.variable(name)
}

/// Returns this rank, in `fathom-fleet`.
pub(crate) fn joined() -> Option<&'static Fleet> {
    FLEET.get().map(|joined| &joined.fleet)
}

/// Returns the part of divided points that this process has.
pub(crate) fn shard() -> Shard {
    joined().map_or(Shard::WHOLE, |fleet| Shard { number: fleet.rank() + 1, count: fleet.ranks() })
}

/// Reports whether another rank prints and saves instead of this one.
pub(crate) fn is_silent() -> bool {
    joined().is_some_and(|fleet| fleet.rank() != 0)
}

/// Records text for standard error. Reports whether rank 0 prints it instead.
pub(crate) fn record_stderr(text: &str) -> bool {
    if joined().is_none() {
        return false;
    }
    let mut messages = MESSAGES.lock().unwrap_or_else(PoisonError::into_inner);
    if messages.len() + text.len() <= MESSAGES_BYTES_MAX {
        messages.push_str(text);
    }
    is_silent()
}

/// Returns the directory for the records of ranks, if one is given.
pub(crate) fn records() -> Option<&'static Path> {
    FLEET.get()?.records.as_deref()
}

/// Returns what is divided among ranks, if anything is.
pub(crate) fn split() -> Option<SplitKind> {
    FLEET.get()?.split
}

/// How a rank ends.
pub(crate) struct RankEnd {
    /// Messages of other ranks only, for rank 0 to print.
    pub(crate) messages_elsewhere: String,
    /// The greatest exit code of any rank; for other ranks than 0 zero, because the exit code of rank 0 counts.
    pub(crate) code: u8,
}

/// Ends this rank together with the others, in `fathom-fleet`.
pub(crate) fn leave(code: u8) -> Option<RankEnd> {
    let fleet = joined()?;
    let messages = std::mem::take(&mut *MESSAGES.lock().unwrap_or_else(PoisonError::into_inner));
    let all = fleet.leave(code, &messages);
    let worst = all.iter().map(|leaving| leaving.code).max().unwrap_or(code);
    Some(match fleet.rank() {
        0 => RankEnd { messages_elsewhere: messages_elsewhere(&all, &messages, |rank| fleet.label(rank)), code: worst },
        _ if all.iter().any(|leaving| leaving.rank == 0) => RankEnd { messages_elsewhere: String::new(), code: 0 },
        _ => RankEnd { messages_elsewhere: String::new(), code },
    })
}

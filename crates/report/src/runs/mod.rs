//! Saved runs: the list, and the details of one run.
//!
//! The data of a saved run come in as plain values, because this crate does not know the store.

mod list;
mod show;

pub use list::{saved_runs_json, saved_runs_text};
use record::{Repeat, RunOutcome};
use serde::Serialize;
pub use show::{RunDetails, run_details_json, run_details_text};

use crate::civil;

/// A saved run. `M` is the type of its manifest, which JSON documents contain unchanged.
#[derive(Clone, Debug)]
pub struct SavedRun<'a, M> {
    pub manifest: &'a M,
    /// Identifier: the name of its directory.
    pub id: &'a str,
    /// Command: `run`, `sim`, `sweep`, `suite`.
    pub kind: String,
    /// Name given by the user.
    pub name: &'a str,
    /// Position in a series of repeats.
    pub repeat: Option<&'a Repeat>,
    /// Files, devices and volumes that it used.
    pub targets: &'a [String],
    /// Beginning in milliseconds since the Unix epoch.
    pub started_unix_ms: u64,
    /// Offset of local time from UTC at the beginning, in seconds; `None` if the time is out of range.
    pub utc_offset_s: Option<i32>,
    /// IOPS over all jobs.
    pub iops: u64,
    /// 99th percentile of response times in nanoseconds.
    pub p99_ns: Option<u64>,
    /// How it ended.
    pub outcome: RunOutcome,
    /// Main finding.
    pub verdict: Option<&'a str>,
    /// Names and sizes of its files.
    pub files: Vec<(&'a str, u64)>,
    /// Whether retention never removes it.
    pub is_kept: bool,
}

/// An entry of the store that is not a readable run.
#[derive(Clone, Debug)]
pub struct SkippedRun {
    /// Name in the store.
    pub name: String,
    /// Path of the file with the problem.
    pub path: String,
    /// The problem and its remedy.
    pub problem: String,
}

/// A saved run in a JSON document.
#[derive(Serialize)]
struct SavedRunDocument<'a, M> {
    #[serde(flatten)]
    manifest: &'a M,
    kept: bool,
    bytes: u64,
}

impl<'a, M> SavedRun<'a, M> {
    /// Returns the total size of its files in bytes.
    fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Returns the local date and time of the beginning, to the minute.
    fn begun(&self, with_year: bool) -> String {
        let Some(offset) = self.utc_offset_s else { return "-".to_owned() };
        let full = civil::iso(civil::local(self.started_unix_ms, offset));
        let range = if with_year { 0..16 } else { 5..16 };
        full.get(range).unwrap_or(&full).to_owned()
    }

    fn document(&self) -> SavedRunDocument<'a, M> {
        SavedRunDocument { manifest: self.manifest, kept: self.is_kept, bytes: self.bytes() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_in_local_time() {
        let run = SavedRun {
            manifest: &(),
            id: "",
            kind: "run".to_owned(),
            name: "",
            repeat: None,
            targets: &[],
            started_unix_ms: 1_795_257_536_410,
            utc_offset_s: Some(3600),
            iops: 0,
            p99_ns: None,
            outcome: RunOutcome::Completed,
            verdict: None,
            files: Vec::new(),
            is_kept: false,
        };
        assert_eq!([run.begun(true), run.begun(false)], ["2026-11-21 11:38", "11-21 11:38"]);
        assert_eq!(SavedRun { utc_offset_s: None, ..run }.begun(true), "-");
    }
}

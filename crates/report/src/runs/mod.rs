//! Saved runs: the list, and everything saved of one run.
//!
//! What the store knows of a run comes in as plain data, because this crate does not know the store.

mod list;
mod show;

pub use list::{saved_runs_json, saved_runs_text};
use record::{Repeat, RunOutcome};
use serde::Serialize;
pub use show::{RunDetails, run_details_json, run_details_text};

use crate::civil;

/// A saved run. `M` is its manifest, which JSON documents contain as it is.
#[derive(Clone, Debug)]
pub struct SavedRun<'a, M> {
    /// The manifest.
    pub manifest: &'a M,
    /// The name of its folder.
    pub id: &'a str,
    /// What was run: `run`, `sim`, `sweep`, `suite`.
    pub kind: String,
    /// What the user called it.
    pub name: &'a str,
    /// Which repeat of a series it is.
    pub repeat: Option<&'a Repeat>,
    /// Files, devices and volumes that it used.
    pub targets: &'a [String],
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Seconds by which local time was ahead of UTC when it began; `None` where the time is out of range.
    pub utc_offset_s: Option<i32>,
    /// IOPS of all jobs together.
    pub iops: u64,
    /// The 99th percentile of its response times.
    pub p99_ns: Option<u64>,
    /// How it ended.
    pub outcome: RunOutcome,
    /// Its main finding.
    pub verdict: Option<&'a str>,
    /// Names and sizes of its files.
    pub files: Vec<(&'a str, u64)>,
    /// Whether retention never removes it.
    pub is_kept: bool,
}

/// An entry of the store that is not a readable run.
#[derive(Clone, Debug)]
pub struct SkippedRun {
    /// Its name in the store.
    pub name: String,
    /// The file with the problem.
    pub path: String,
    /// What is wrong, and the remedy.
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
    /// Bytes in its files.
    fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Local date and time of its beginning, to the minute.
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
    fn beginnings_are_local_times() {
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

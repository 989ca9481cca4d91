//! fio's output formats, exact enough for programs that parse fio's output.
//!
//! The layout is that of fio 3.33 unless another version is selected. Notes are part of the document: lines at the end
//! of the normal output, and the key "fathom notes" at the end of a JSON document; terse lines have no notes.

mod json;
mod normal;
mod number;
mod terse;
mod writer;

use job::OutputFormat;
use record::{IdlenessRecord, RequestedRun, Run};

use normal::banner;

pub(crate) use json::note_text;
pub(crate) use number::{binary_size as short_size, count as short_count, error_text};

/// The fio version whose layout is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FioVersion {
    /// fio 3.33, which Debian 12 installs.
    #[default]
    V3_33,
    /// fio 3.42.
    V3_42,
}

impl FioVersion {
    /// Returns the version string that this fio prints.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V3_33 => "fio-3.33",
            Self::V3_42 => "fio-3.42",
        }
    }
}

/// Version of the terse layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Terse {
    /// Reads, writes and trims, without the version at the start of the line.
    V2,
    /// Reads and writes.
    #[default]
    V3,
    /// V3 with trims.
    V4,
    /// V4 with more statistics of bandwidth and IOPS.
    V5,
}

/// Settings of fio's formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FioOptions {
    /// fio version of the layout.
    pub version: FioVersion,
    /// Version of terse lines.
    pub terse: Terse,
}

/// Returns fio's complete output for a run: for [`OutputFormat::Normal`] the lines before the run, then the results.
#[must_use]
pub fn document(run: &Run, formats: &[OutputFormat], options: FioOptions) -> String {
    opening(&run.asked, formats, options) + &results(run, formats, options)
}

/// Returns fio's output before a run.
#[must_use]
pub fn opening(jobs: &[RequestedRun], formats: &[OutputFormat], options: FioOptions) -> String {
    let mut out = String::new();
    if formats.contains(&OutputFormat::Normal) {
        banner(&mut out, jobs, options);
    }
    out
}

/// Returns fio's line about the creation of a worker's files: number and total size in whole mebibytes.
#[must_use]
pub fn laying_out(job: &str, files: usize, bytes: u64, formats: &[OutputFormat]) -> String {
    let mib = bytes >> 20;
    match files {
        _ if !formats.contains(&OutputFormat::Normal) => String::new(),
        1 => format!("{job}: Laying out IO file (1 file / {mib}MiB)\n"),
        _ => format!("{job}: Laying out IO files ({files} files / total {mib}MiB)\n"),
    }
}

/// Returns the results alone, as for `--status-interval`: terse, JSON, normal, in this order whatever order is
/// requested.
#[must_use]
pub fn results(run: &Run, formats: &[OutputFormat], options: FioOptions) -> String {
    let mut out = String::new();
    if formats.contains(&OutputFormat::Terse) {
        terse::lines(&mut out, run, options);
    }
    let bins = formats.contains(&OutputFormat::JsonPlus);
    if bins || formats.contains(&OutputFormat::Json) {
        json::document(&mut out, run, bins, options);
    }
    if formats.contains(&OutputFormat::Normal) {
        normal::results(&mut out, run, options);
    }
    out
}

/// Returns the lines of `--idle-prof=calibrate`.
#[must_use]
pub fn calibration(idleness: &IdlenessRecord) -> String {
    normal::idle_processors(idleness)
}

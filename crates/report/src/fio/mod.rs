//! fio's output formats, so exactly that programs which parse fio's output accept these.
//!
//! The layout is that of a version of fio, [`FioVersion::V3_33`] unless another is asked for. Notes go inside: as lines
//! at the end of the normal output, and as `fathom notes` at the end of a JSON document that has any; terse lines
//! carry none.

mod json;
mod normal;
mod number;
mod terse;
mod writer;

use record::{RequestedRun, Run};

use normal::banner;

pub(crate) use number::{binary_size as short_size, count as short_count, error_text};

/// Which version's layout is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FioVersion {
    /// fio 3.33, which Debian 12 installs.
    #[default]
    V3_33,
    /// fio 3.42.
    V3_42,
}

impl FioVersion {
    /// What fio of this version calls itself.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V3_33 => "fio-3.33",
            Self::V3_42 => "fio-3.42",
        }
    }
}

/// One of fio's formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioFormat {
    /// For people.
    Normal,
    /// JSON.
    Json,
    /// JSON with histograms.
    JsonPlus,
    /// A line for each result.
    Terse,
}

/// The layout of terse lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Terse {
    /// Reads, writes and trims, without versions in the line.
    V2,
    /// Reads and writes.
    #[default]
    V3,
    /// With trims.
    V4,
    /// With more about bandwidth and IOPS.
    V5,
}

/// Settings of fio's formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FioOptions {
    /// Whose layout.
    pub version: FioVersion,
    /// Which layout of terse lines.
    pub terse: Terse,
}

/// Everything that fio prints for a run: with [`FioFormat::Normal`] what it prints before the run, then the results.
#[must_use]
pub fn document(run: &Run, formats: &[FioFormat], options: FioOptions) -> String {
    opening(&run.asked, formats, options) + &results(run, formats, options)
}

/// fio's output before a run.
#[must_use]
pub fn opening(jobs: &[RequestedRun], formats: &[FioFormat], options: FioOptions) -> String {
    let mut out = String::new();
    if formats.contains(&FioFormat::Normal) {
        banner(&mut out, jobs, options);
    }
    out
}

/// fio's lines about the creation of a worker's files: count and total size in whole mebibytes.
#[must_use]
pub fn laying_out(job: &str, files: usize, bytes: u64, formats: &[FioFormat]) -> String {
    let mib = bytes >> 20;
    match files {
        _ if !formats.contains(&FioFormat::Normal) => String::new(),
        1 => format!("{job}: Laying out IO file (1 file / {mib}MiB)\n"),
        _ => format!("{job}: Laying out IO files ({files} files / total {mib}MiB)\n"),
    }
}

/// The results alone, as for `--status-interval`: terse, then JSON, then normal, in whichever order they are asked for.
#[must_use]
pub fn results(run: &Run, formats: &[FioFormat], options: FioOptions) -> String {
    let mut out = String::new();
    if formats.contains(&FioFormat::Terse) {
        terse::lines(&mut out, run, options);
    }
    let bins = formats.contains(&FioFormat::JsonPlus);
    if bins || formats.contains(&FioFormat::Json) {
        json::document(&mut out, run, bins, options);
    }
    if formats.contains(&FioFormat::Normal) {
        normal::results(&mut out, run, options);
    }
    out
}

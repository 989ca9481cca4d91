//! A run as the subject of a report.

use analyse::Verdict;
use record::Run;

/// A run with the context that its record lacks.
#[derive(Clone, Copy, Debug)]
pub struct ReportedRun<'a> {
    /// Name, to distinguish the run from others.
    pub name: &'a str,
    /// Record of the run.
    pub run: &'a Run,
    /// Findings about the run.
    pub verdicts: &'a [Verdict],
    /// Text of the job file, if it was saved.
    pub written: Option<&'a str>,
}

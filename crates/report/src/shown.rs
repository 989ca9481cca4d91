//! A run with what a report says beside its record.

use analyse::Verdict;
use record::Run;

/// A run and what is told of it beside its record.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// What it is called beside others.
    pub name: &'a str,
    /// The record.
    pub run: &'a Run,
    /// What was found in it.
    pub verdicts: &'a [Verdict],
    /// The job file as it was written, where it was kept.
    pub written: Option<&'a str>,
}

//! Characteristics of a trace as text, Markdown, JSON and an HTML page.

mod figures;
mod headline;
mod json;
mod markdown;
mod meanings;
mod sentences;
mod tables;
mod text;
mod warnings;

use trace::{TraceCondition, TraceCopy, TraceFinding, TraceOperation, TraceProfile, TraceWindow};

pub(crate) use figures::figures;
pub(crate) use headline::{rates, summary};
pub(crate) use json::json;
pub(crate) use markdown::markdown;
pub(crate) use meanings::trace_findings_markdown;
pub(crate) use sentences::{advice, severity, statement};
pub(crate) use tables::{TraceTable, tables};
pub(crate) use text::{copied, facts, text};
pub(crate) use warnings::warnings;

/// What is known of a trace.
#[derive(Clone, Debug)]
pub struct TraceReport {
    /// Name of the trace.
    pub name: String,
    /// Part of the trace that was examined.
    pub window: TraceWindow,
    /// How the trace was read.
    pub condition: TraceCondition,
    /// Characteristics.
    pub profile: TraceProfile,
    /// Findings.
    pub findings: Vec<TraceFinding>,
    /// Copies in other formats.
    pub copies: Vec<TraceCopy>,
}

/// All operations with their names.
const OPERATIONS: [(TraceOperation, &str); 6] = [
    (TraceOperation::Read, "read"),
    (TraceOperation::Write, "write"),
    (TraceOperation::Flush, "flush"),
    (TraceOperation::Discard, "discard"),
    (TraceOperation::WriteZeroes, "write zeroes"),
    (TraceOperation::Other, "other"),
];

impl TraceReport {
    /// Returns the operations that occur, with their names.
    pub(crate) fn operations(&self) -> impl Iterator<Item = (TraceOperation, &'static str)> + Clone {
        let requests = self.profile.totals.requests;
        OPERATIONS.into_iter().filter(move |(operation, _)| *requests.get(*operation) > 0)
    }

    /// Returns the duration in seconds, at least one nanosecond.
    pub(crate) fn seconds(&self) -> f64 {
        self.profile.totals.issue_duration_ns.max(1) as f64 / 1e9
    }

    /// Returns the name of a process or a device, or words for one without a name.
    pub(crate) fn process(&self, index: u16) -> String {
        let name = self.condition.info.processes.get(usize::from(index));
        name.filter(|name| !name.is_empty()).map_or_else(|| format!("process {index}"), |name| plain(name))
    }

    pub(crate) fn device(&self, index: u16) -> String {
        let device = self.condition.info.devices.get(usize::from(index));
        device.filter(|(name, _)| !name.is_empty()).map_or_else(|| format!("device {index}"), |(name, _)| plain(name))
    }
}

/// Most characters of a name.
const NAME_MAX: usize = 32;

/// Returns a name of a trace without control characters, cut if it is long.
fn plain(name: &str) -> String {
    let name = units::printable(name);
    if name.chars().count() <= NAME_MAX {
        return name.into_owned();
    }
    let start: String = name.chars().take(NAME_MAX - 3).collect();
    format!("{start}...")
}

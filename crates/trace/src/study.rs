//! Everything that one pass over a trace shows.

use crate::{JobComparison, TraceCondition, TraceCopy, TraceFinding, TraceOperation, TraceProfile, TraceWindow};

/// Most characters of a name.
const NAME_MAX: usize = 32;

/// What is known of a trace.
#[derive(Clone, Debug)]
pub struct TraceStudy {
    /// Name of the trace.
    pub name: String,
    /// Part of the trace that was examined.
    pub window: TraceWindow,
    /// How the trace was read.
    pub condition: TraceCondition,
    /// Characteristics.
    pub profile: TraceProfile,
    pub findings: Vec<TraceFinding>,
    /// Copies in other formats.
    pub copies: Vec<TraceCopy>,
    /// The job that was made for it.
    pub job: Option<Box<JobComparison>>,
}

impl TraceStudy {
    /// Returns the operations that occur, with their names.
    pub fn operations(&self) -> impl Iterator<Item = (TraceOperation, &'static str)> + Clone {
        let requests = self.profile.totals.requests;
        let occurring = TraceOperation::ALL.into_iter().filter(move |operation| *requests.get(*operation) > 0);
        occurring.map(|operation| (operation, operation.name()))
    }

    /// Returns how many there are per second from the first to the last issue; `None` if no time passes.
    #[must_use]
    pub fn per_second(&self, number: u64) -> Option<f64> {
        let duration_ns = self.profile.totals.issue_duration_ns;
        (duration_ns > 0).then(|| number as f64 / (duration_ns as f64 / 1e9))
    }

    /// Returns the name of a process without control characters, cut if it is long; or its number.
    #[must_use]
    pub fn process_name(&self, index: u16) -> String {
        let name = self.condition.info.processes.get(usize::from(index));
        name.filter(|name| !name.is_empty()).map_or_else(|| format!("process {index}"), |name| plain(name))
    }

    /// Returns the name of a device in the same form.
    #[must_use]
    pub fn device_name(&self, index: u16) -> String {
        let device = self.condition.info.devices.get(usize::from(index));
        device.filter(|(name, _)| !name.is_empty()).map_or_else(|| format!("device {index}"), |(name, _)| plain(name))
    }
}

fn plain(name: &str) -> String {
    let name = units::printable(name);
    if name.chars().count() <= NAME_MAX {
        return name.into_owned();
    }
    let start: String = name.chars().take(NAME_MAX - 3).collect();
    format!("{start}...")
}

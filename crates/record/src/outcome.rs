//! Outcomes of runs.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunOutcome {
    /// The run is complete.
    #[default]
    Completed,
    /// The run was stopped; results cover the time until then.
    Interrupted,
    /// At least one worker failed; results of the others are complete.
    Failed,
    /// The run was in progress when the record was made.
    Running,
}

impl RunOutcome {
    /// Returns the outcome of two runs together.
    #[must_use]
    pub(crate) fn worse(self, other: Self) -> Self {
        let order = [Self::Interrupted, Self::Running, Self::Failed, Self::Completed];
        order.into_iter().find(|outcome| [self, other].contains(outcome)).unwrap_or_default()
    }
}

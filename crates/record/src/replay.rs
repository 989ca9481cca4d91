//! What was replayed of a trace.

use serde::{Deserialize, Serialize};

/// The replay of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayRecord {
    /// Path of the trace.
    pub trace: String,
    /// Operations of the replayed part, with syncs.
    pub requests: u64,
    /// Operations issued.
    pub issued: u64,
    /// Instants of the first and last request of the replayed part, in nanoseconds since the start of the trace.
    pub first_ns: u64,
    /// Instant of the last request of the replayed part, in nanoseconds since the start of the trace.
    pub last_ns: u64,
    /// Time from the start of the replay to the intended instant of the last request that was issued, in nanoseconds;
    /// `None` if it keeps no instants (closed loop, speed `max`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_last_ns: Option<u64>,
    /// Speed as a multiple of the original; `None` if the instants of the trace were ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// Whether requests waited for the completions that their processes waited for (closed loop).
    pub closed_loop: bool,
    /// Longest time by which an operation was issued after its intended instant, in nanoseconds. It includes waits for
    /// a free slot of the queue.
    pub behind_max_ns: u64,
    /// That of the last operation, in nanoseconds.
    pub behind_last_ns: u64,
    /// Maximum number of operations in flight of one worker.
    pub in_flight_max: u64,
    /// Queue depth of each worker, which bounds that number.
    pub depth: u32,
    /// What was left out or changed, one phrase each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl ReplayRecord {
    /// Adds the replay of another worker of the same result.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.issued = self.issued.saturating_add(other.issued);
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
        self.due_last_ns = self.due_last_ns.max(other.due_last_ns);
        self.behind_max_ns = self.behind_max_ns.max(other.behind_max_ns);
        self.behind_last_ns = self.behind_last_ns.max(other.behind_last_ns);
        self.in_flight_max = self.in_flight_max.max(other.in_flight_max);
        for note in &other.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
    }

    /// Returns whether the queue depth was reached, so that requests may have waited for a free slot.
    #[must_use]
    pub fn has_reached_depth(&self) -> bool {
        self.in_flight_max >= u64::from(self.depth)
    }
}

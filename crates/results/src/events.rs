//! Events of a run as JSON lines, for programs that follow it.

use record::{JobResult, Run, RunOutcome};
use schemars::JsonSchema;
use serde::Serialize;

/// An event of a run. Times are in seconds since the run began, unless their name contains another unit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// The run begins.
    Start {
        /// Milliseconds since the Unix epoch.
        unix_ms: u64,
        /// Command line, one argument per element.
        command_line: Vec<String>,
    },
    /// Progress, about once a second.
    Progress {
        /// Seconds since the first job began.
        elapsed_s: f64,
        /// Completed fraction; `null` if the end is unknown.
        fraction: Option<f64>,
        /// Seconds to the end; `null` if unknown.
        eta_s: Option<f64>,
        /// Operations completed since the start.
        ios: u64,
        /// Operations per second since the last event.
        iops: f64,
        /// Bytes per second since the last event: reads, writes, trims.
        bytes_per_second: [f64; 3],
        /// Failed operations since the start.
        errors: u64,
    },
    /// A part has ended: a probe of a sweep, a point of a grid, a step of a suite.
    Part {
        /// Seconds since the first part began.
        elapsed_s: f64,
        /// Result of the part.
        #[serde(flatten)]
        result: JobEnd,
    },
    /// The run has ended.
    End {
        /// Milliseconds since the Unix epoch.
        unix_ms: u64,
        /// How the run ended.
        outcome: RunOutcome,
        /// One entry per result.
        jobs: Vec<JobEnd>,
    },
}

/// The result of a job, in short.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobEnd {
    /// Name of the job.
    pub name: String,
    /// Operations per second over all kinds.
    pub iops: f64,
    /// Bytes per second over all kinds.
    pub bytes_per_second: f64,
    /// Mean service time in nanoseconds; `null` if latencies were not recorded.
    pub service_mean_ns: Option<f64>,
    /// Error number that ended the job; zero if none did.
    pub error: i32,
}

impl Event {
    /// Returns the event for the end of `run`.
    #[must_use]
    pub fn end(run: &Run) -> Self {
        Self::End {
            unix_ms: run.taken_unix_ms,
            outcome: run.outcome,
            jobs: run.jobs.iter().map(JobEnd::from).collect(),
        }
    }

    /// Returns one event per result of the part `name`.
    pub fn parts<'a>(name: &'a str, run: &'a Run, elapsed_s: f64) -> impl Iterator<Item = Self> + 'a {
        let named = move |job| JobEnd { name: name.to_owned(), ..JobEnd::from(job) };
        run.jobs.iter().map(move |job| Self::Part { elapsed_s, result: named(job) })
    }

    /// Returns the event as one line of JSON with a line feed.
    #[must_use]
    pub fn line(&self) -> String {
        // Strings, numbers and lists always serialize; numbers that are not finite become null.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

impl From<&JobResult> for JobEnd {
    fn from(job: &JobResult) -> Self {
        Self {
            name: job.name.clone(),
            iops: job.result.iops(),
            bytes_per_second: job.result.bytes_per_second(),
            service_mean_ns: job.result.service_mean_ns(),
            error: job.error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_one_line_with_its_name() {
        let start = Event::Start { unix_ms: 7, command_line: vec!["fathom".to_owned(), "a\nb".to_owned()] };
        assert_eq!(start.line(), "{\"event\":\"start\",\"unix_ms\":7,\"command_line\":[\"fathom\",\"a\\nb\"]}\n");
        assert!(
            Event::end(&Run::default())
                .line()
                .starts_with("{\"event\":\"end\",\"unix_ms\":0,\"outcome\":\"completed\"")
        );
    }
}

//! What happens during a run, as JSON lines: for programs that follow it while it goes on.

use record::{JobResult, Run, RunOutcome};
use serde::Serialize;

/// Something that happened. Times are in seconds since the run began unless their name says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// The run begins.
    Start {
        /// Milliseconds since 1970.
        unix_ms: u64,
        /// The command line, a word each.
        command_line: Vec<String>,
    },
    /// How far the run is; about once a second.
    Progress {
        /// Time since the first job started.
        elapsed_s: f64,
        /// How much is done, from 0 to 1; `null` where the end is not known.
        fraction: Option<f64>,
        /// Seconds to the end; `null` where it is not known.
        eta_s: Option<f64>,
        /// Operations completed since the start.
        ios: u64,
        /// Operations per second since the last event.
        iops: f64,
        /// Bytes per second since the last event: reads, writes, trims.
        bytes_per_second: [f64; 3],
        /// Operations that failed so far.
        errors: u64,
    },
    /// One of many is done: a probe of a sweep, a point of a grid, a step of a suite.
    Part {
        /// Since the first one began.
        elapsed_s: f64,
        /// What it brought.
        #[serde(flatten)]
        result: JobEnd,
    },
    /// The run has ended.
    End {
        /// Milliseconds since 1970.
        unix_ms: u64,
        /// How.
        outcome: RunOutcome,
        /// A line for each result.
        jobs: Vec<JobEnd>,
    },
}

/// The end of one result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobEnd {
    /// The job's name.
    pub name: String,
    /// Operations per second of all kinds.
    pub iops: f64,
    /// Bytes per second of all kinds.
    pub bytes_per_second: f64,
    /// Mean service time in nanoseconds; `null` where none was kept.
    pub service_mean_ns: Option<f64>,
    /// The error number that ended it, zero for none.
    pub error: i32,
}

impl Event {
    /// The end of `run`.
    #[must_use]
    pub fn end(run: &Run) -> Self {
        Self::End {
            unix_ms: run.taken_unix_ms,
            outcome: run.outcome,
            jobs: run.jobs.iter().map(JobEnd::from).collect(),
        }
    }

    /// The end of each result of a part called `name`.
    pub fn parts<'a>(name: &'a str, run: &'a Run, elapsed_s: f64) -> impl Iterator<Item = Self> + 'a {
        let named = move |job| JobEnd { name: name.to_owned(), ..JobEnd::from(job) };
        run.jobs.iter().map(move |job| Self::Part { elapsed_s, result: named(job) })
    }

    /// One line of JSON with its line feed.
    #[must_use]
    pub fn line(&self) -> String {
        // Strings, numbers and lists: nothing can fail; numbers that are not finite become null.
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
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
    fn each_event_is_one_line_that_names_itself() {
        let start = Event::Start { unix_ms: 7, command_line: vec!["fathom".to_owned(), "a\nb".to_owned()] };
        assert_eq!(start.line(), "{\"event\":\"start\",\"unix_ms\":7,\"command_line\":[\"fathom\",\"a\\nb\"]}\n");
        assert!(
            Event::end(&Run::default())
                .line()
                .starts_with("{\"event\":\"end\",\"unix_ms\":0,\"outcome\":\"completed\"")
        );
    }
}

//! fio's `--bandwidth-log`: the bandwidth of all jobs, every half second.

use std::fs::File;
use std::io::{Error, Write};
use std::time::Duration;

use engine::gate::Existing;
use units::{Problem, ProblemCode};

use crate::logs::create_log;

/// Minimum time between two lines.
const INTERVAL: Duration = Duration::from_millis(500);

/// One log for each kind of operation.
#[derive(Debug)]
pub struct AggregateLog {
    files: [File; 3],
    /// Elapsed time and transferred bytes at the last lines.
    last: (Duration, [u64; 3]),
    /// The first write error.
    failure: Option<Error>,
}

impl AggregateLog {
    /// Returns the paths `PREFIX-read_bw.log`, `PREFIX-write_bw.log` and `PREFIX-trim_bw.log`.
    #[must_use]
    pub fn paths(prefix: &str) -> [String; 3] {
        ["read", "write", "trim"].map(|kind| format!("{prefix}-{kind}_bw.log"))
    }

    /// Creates the logs.
    ///
    /// # Errors
    ///
    /// The file that cannot be created, and why.
    pub fn create(prefix: &str) -> Result<Self, Problem> {
        let [read, write, trim] = Self::paths(prefix).map(|path| create_log(&path, Existing::Replace));
        let files = [read?, write?, trim?];
        Ok(Self { files, last: (Duration::ZERO, [0; 3]), failure: None })
    }

    /// Adds a line to each log, in fio's columns: time in milliseconds, KiB/s, kind, and two zeroes.
    pub fn see(&mut self, elapsed: Duration, bytes: [u64; 3]) {
        let (last_elapsed, last_bytes) = self.last;
        let span = elapsed.saturating_sub(last_elapsed);
        if span < INTERVAL {
            return;
        }
        self.last = (elapsed, bytes);
        for (kind, file) in self.files.iter_mut().enumerate() {
            let transferred = bytes[kind].saturating_sub(last_bytes[kind]) as f64;
            let rate = (transferred / 1024.0 / span.as_secs_f64()) as u64;
            // One call, so that no line is in part in the file.
            let written = file.write_all(format!("{}, {rate}, {kind}, 0, 0\n", elapsed.as_millis()).as_bytes());
            self.failure = self.failure.take().or(written.err());
        }
    }

    /// Closes the logs.
    ///
    /// # Errors
    ///
    /// The first write error of the logs.
    pub fn finish(self) -> Result<(), Problem> {
        let incomplete =
            |error| Err(Problem::error(ProblemCode::File, format!("a log of --bandwidth-log is incomplete: {error}")));
        self.failure.map_or(Ok(()), incomplete)
    }
}

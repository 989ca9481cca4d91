//! Events of a run as JSON lines: for `--events` and for the saved run.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use engine::gate::{Existing, create_output};
use results::events::Event;
use runner::RunProgress;
use units::{Nanos, Problem, ProblemCode};

/// Minimum time between two progress events.
const INTERVAL: Duration = Duration::from_millis(900);

/// Events of a run, and the file of `--events`.
#[derive(Debug, Default)]
pub struct EventLog {
    file: Option<File>,
    /// Lines since the last [`EventLog::take`].
    lines: String,
    last_progress: Option<Instant>,
    problem: Option<Problem>,
}

impl EventLog {
    /// Creates the file, if a path is given.
    ///
    /// # Errors
    ///
    /// Why the file cannot be created.
    pub fn open(path: Option<&Path>) -> Result<Self, Problem> {
        let open = |path: &Path| {
            create_output(path, Existing::Replace)
                .map_err(|denied| denied.of_output(format_args!("--events {}", path.display())))
        };
        Ok(Self { file: path.map(open).transpose()?, ..Self::none() })
    }

    /// Returns a log for the saved run, without a file.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Writes one event. A write error does not end the run; [`EventLog::problem`] returns it.
    pub fn tell(&mut self, event: &Event) {
        let line = event.line();
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(line.as_bytes())
        {
            self.problem
                .get_or_insert_with(|| engine::io_problem(ProblemCode::File, "the events are incomplete", &error));
        }
        self.lines.push_str(&line);
    }

    /// Takes the lines written since the last call.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.lines)
    }

    /// Writes a progress event, about once per second.
    pub fn progress(&mut self, progress: &RunProgress) {
        if self.last_progress.is_some_and(|last| last.elapsed() < INTERVAL) {
            return;
        }
        self.last_progress = Some(Instant::now());
        self.tell(&Event::Progress {
            elapsed_s: progress.elapsed.secs_f64(),
            fraction: progress.fraction,
            eta_s: progress.eta.map(Nanos::secs_f64),
            ios: progress.totals.ios.iter().sum(),
            iops: progress.iops.iter().sum(),
            bytes_per_second: progress.bytes_per_second,
            errors: progress.errors,
        });
    }

    /// Takes the first write error.
    pub fn problem(&mut self) -> Option<Problem> {
        self.problem.take()
    }
}

//! Events of a run as JSON lines: for `--events` and for the saved run.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use engine::gate::{Existing, create_output};
use report::Event;
use runner::RunProgress;

use units::Nanos;

use engine::describe;

/// Interval of progress reports.
const EVERY: Duration = Duration::from_millis(900);

/// Events of a run, and the file of `--events`.
#[derive(Debug)]
pub struct EventLog {
    file: Option<File>,
    told: String,
    last: Option<Instant>,
    problem: Option<String>,
}

impl EventLog {
    /// Opens the file, before the run.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub fn open(path: Option<&Path>) -> Result<Self, String> {
        let open = |path: &Path| {
            create_output(path, Existing::Replace).map_err(|denied| format!("--events {}: {denied}", path.display()))
        };
        Ok(Self { file: path.map(open).transpose()?, ..Self::none() })
    }

    /// Keeps events for the saved run alone.
    #[must_use]
    pub fn none() -> Self {
        Self { file: None, told: String::new(), last: None, problem: None }
    }

    /// Writes one event. What cannot be written must not end the run: [`EventLog::problem`] tells at its end.
    pub fn tell(&mut self, event: &Event) {
        let line = event.line();
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(line.as_bytes())
        {
            self.problem.get_or_insert_with(|| format!("the events are incomplete: {}", describe(&error)));
        }
        self.told.push_str(&line);
    }

    /// All that was told since the last call.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.told)
    }

    /// Tells how far the run is, about once a second.
    pub fn progress(&mut self, progress: &RunProgress) {
        if self.last.is_some_and(|last| last.elapsed() < EVERY) {
            return;
        }
        self.last = Some(Instant::now());
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

    /// What went wrong while events were written.
    pub fn problem(&mut self) -> Option<String> {
        self.problem.take()
    }
}

//! fio's `--bandwidth-log`: the bandwidth of all jobs, every half second.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use engine::gate::{Existing, create_output};

/// The least time between two lines.
const EVERY: Duration = Duration::from_millis(500);

/// One log for each kind of operation.
#[derive(Debug)]
pub struct AggregateLog {
    files: [BufWriter<File>; 3],
    /// When the last lines were written, and the bytes transferred by then.
    last: (Duration, [u64; 3]),
    failure: Option<String>,
}

impl AggregateLog {
    /// Makes `agg-read_bw.log`, `agg-write_bw.log` and `agg-trim_bw.log` in the working directory.
    ///
    /// # Errors
    ///
    /// The file that cannot be made, and why.
    pub fn create() -> Result<Self, String> {
        let make = |kind: &str| {
            let path = format!("agg-{kind}_bw.log");
            let file = create_output(Path::new(&path), Existing::Replace);
            let file = file.map_err(|denied| format!("cannot make the log file {path}: {denied}"))?;
            Ok::<_, String>(BufWriter::new(file))
        };
        let files = [make("read")?, make("write")?, make("trim")?];
        Ok(Self { files, last: (Duration::ZERO, [0; 3]), failure: None })
    }

    /// Adds a line to each log, in fio's columns: time in milliseconds, KiB/s, kind, and two zeroes.
    pub fn see(&mut self, elapsed: Duration, bytes: [u64; 3]) {
        let (then, before) = self.last;
        let span = elapsed.saturating_sub(then);
        if span < EVERY {
            return;
        }
        self.last = (elapsed, bytes);
        for (kind, file) in self.files.iter_mut().enumerate() {
            let transferred = bytes[kind].saturating_sub(before[kind]) as f64;
            let rate = (transferred / 1024.0 / span.as_secs_f64()) as u64;
            if let Err(error) = writeln!(file, "{}, {rate}, {kind}, 0, 0", elapsed.as_millis()) {
                self.failure.get_or_insert_with(|| incomplete(&error));
            }
        }
    }

    /// Ends the logs.
    ///
    /// # Errors
    ///
    /// What went wrong while they were written.
    pub fn finish(mut self) -> Result<(), String> {
        for file in &mut self.files {
            if let Err(error) = file.flush() {
                self.failure.get_or_insert_with(|| incomplete(&error));
            }
        }
        self.failure.map_or(Ok(()), Err)
    }
}

fn incomplete(error: &std::io::Error) -> String {
    format!("a log of --bandwidth-log is incomplete: {error}")
}

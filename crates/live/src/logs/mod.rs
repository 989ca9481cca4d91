//! fio's log files: bandwidth, IOPS, latencies and histograms, written during the run.
//!
//! Workers hand over chunks of entries; threads of their own format and write them. Each chunk reaches its file at once,
//! so that the files of a killed run are complete up to the last chunk, which workers hand over several times per second.
//! The number of chunks is bounded: a worker that logs faster than its thread writes waits, because no entry may be lost.

mod compressed;
mod file;
mod lines;
mod writer;

use std::fs::File;
use std::path::Path;

use engine::gate::{Existing, create_output};
use meter::WorkerLog;
use runner::{LogPlan, LogSink};

pub use compressed::inflate;
use file::OpenLogs;
use units::Problem;
use writer::LogWriters;

/// Creates log files through the write gate, and writes them on its own threads.
#[derive(Debug, Default)]
pub struct LogFiles {
    writers: LogWriters,
}

impl LogSink for LogFiles {
    fn create(&self, plan: &LogPlan) -> Result<Box<dyn WorkerLog>, Problem> {
        let logs = OpenLogs::create(plan)?;
        Ok(Box::new(self.writers.begin(logs, &plan.cpus)?))
    }
}

/// Creates a log file through the write gate.
pub(crate) fn create_log(path: &str, existing: Existing) -> Result<File, Problem> {
    create_output(Path::new(path), existing)
        .map_err(|denied| Problem::from(denied).of(format_args!("cannot create the log file {path}")))
}

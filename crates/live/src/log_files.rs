//! fio's log files: bandwidth, IOPS and latencies, written during the run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Error, Write};
use std::path::Path;

use engine::describe;
use engine::gate::{Existing, create_output};
use job::StatOptions;
use meter::{LogEntry, LogKind};
use runner::{LogSink, WorkerLog};

/// Creates log files through the write gate.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogFiles;

/// The log files of one worker.
#[derive(Debug)]
struct OpenLogs {
    files: BTreeMap<LogKind, BufWriter<File>>,
    offsets: bool,
    /// The first write error.
    failure: Option<Error>,
}

impl LogSink for LogFiles {
    fn create(&self, options: &StatOptions, number: usize) -> Result<Option<Box<dyn WorkerLog>>, String> {
        let mut files = BTreeMap::new();
        for (kind, path) in paths(options, number) {
            // Workers that share a log append to it; the first one truncates it.
            let shared = !options.per_job_logs && number > 0;
            let existing = if shared { Existing::Append } else { Existing::Replace };
            files.insert(kind, create_log(&path, existing)?);
        }
        if files.is_empty() {
            return Ok(None);
        }
        Ok(Some(Box::new(OpenLogs { files, offsets: options.log_offset, failure: None })))
    }
}

impl WorkerLog for OpenLogs {
    fn write(&mut self, entries: &[LogEntry]) {
        for entry in entries {
            if let Some(file) = self.files.get_mut(&entry.kind) {
                let line = report::log(&[entry.into()], report::LogRendering { offset: self.offsets });
                self.failure = self.failure.take().or(file.write_all(line.as_bytes()).err());
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Result<(), String> {
        for file in self.files.values_mut() {
            self.failure = self.failure.take().or(file.flush().err());
        }
        self.failure.map_or(Ok(()), |error| Err(format!("a log file is incomplete: {}", describe(&error))))
    }
}

/// Creates a log file through the write gate.
pub(crate) fn create_log(path: &str, existing: Existing) -> Result<BufWriter<File>, String> {
    let file = create_output(Path::new(path), existing);
    file.map(BufWriter::new).map_err(|denied| format!("cannot make the log file {path}: {denied}"))
}

/// Returns the requested logs and their paths, such as `PREFIX_lat.3.log` for the third worker.
fn paths(options: &StatOptions, number: usize) -> Vec<(LogKind, String)> {
    let logs = [
        (&options.write_lat_log, LogKind::Submission, "slat"),
        (&options.write_lat_log, LogKind::Service, "clat"),
        (&options.write_lat_log, LogKind::Latency, "lat"),
        (&options.write_bw_log, LogKind::Bandwidth, "bw"),
        (&options.write_iops_log, LogKind::Iops, "iops"),
    ];
    let ending = if options.per_job_logs { format!(".{}.log", number + 1) } else { ".log".to_owned() };
    logs.into_iter()
        .filter_map(|(prefix, kind, name)| Some((kind, format!("{}_{name}{ending}", prefix.as_ref()?))))
        .collect()
}

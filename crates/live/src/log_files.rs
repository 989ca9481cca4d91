//! fio's log files: bandwidth, IOPS and latencies, written while the run goes on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use engine::gate::{Existing, create_output};
use job::StatOptions;
use meter::{LogEntry, LogKind};
use runner::{LogSink, WorkerLog};

use engine::describe;

/// Creates log files through the write gate.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogFiles;

/// The log files of one worker.
#[derive(Debug)]
struct OpenLogs {
    files: BTreeMap<LogKind, BufWriter<File>>,
    offsets: bool,
    failure: Option<String>,
}

impl LogSink for LogFiles {
    fn create(&self, options: &StatOptions, number: usize) -> Result<Option<Box<dyn WorkerLog>>, String> {
        let mut files = BTreeMap::new();
        for (kind, path) in paths(options, number) {
            // Workers that share a log append to it; the first one begins it anew.
            let shared = !options.per_job_logs && number > 0;
            let existing = if shared { Existing::Append } else { Existing::Replace };
            let file = create_output(Path::new(&path), existing);
            let file = file.map_err(|denied| format!("cannot make the log file {path}: {denied}"))?;
            files.insert(kind, BufWriter::new(file));
        }
        if files.is_empty() {
            return Ok(None);
        }
        Ok(Some(Box::new(OpenLogs { files, offsets: options.log_offset, failure: None })))
    }
}

impl OpenLogs {
    fn fail(&mut self, error: &std::io::Error) {
        self.failure.get_or_insert_with(|| format!("a log file is incomplete: {}", describe(error)));
    }
}

impl WorkerLog for OpenLogs {
    fn write(&mut self, entries: &[LogEntry]) {
        for entry in entries {
            if let Some(file) = self.files.get_mut(&entry.kind) {
                let line = report::log(&[entry.into()], report::LogRendering { offset: self.offsets });
                if let Err(error) = file.write_all(line.as_bytes()) {
                    self.fail(&error);
                }
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Result<(), String> {
        let failed = self.files.values_mut().filter_map(|file| file.flush().err()).next();
        failed.into_iter().for_each(|error| self.fail(&error));
        self.failure.map_or(Ok(()), Err)
    }
}

/// Returns which logs are wanted, and where they go: `PREFIX_lat.3.log` for the third worker.
fn paths(options: &StatOptions, number: usize) -> Vec<(LogKind, String)> {
    let wanted = [
        (&options.write_lat_log, LogKind::Submission, "slat"),
        (&options.write_lat_log, LogKind::Service, "clat"),
        (&options.write_lat_log, LogKind::Latency, "lat"),
        (&options.write_bw_log, LogKind::Bandwidth, "bw"),
        (&options.write_iops_log, LogKind::Iops, "iops"),
    ];
    let ending = if options.per_job_logs { format!(".{}.log", number + 1) } else { ".log".to_owned() };
    wanted
        .into_iter()
        .filter_map(|(prefix, kind, name)| Some((kind, format!("{}_{name}{ending}", prefix.as_ref()?))))
        .collect()
}

//! fio's log files: bandwidth, IOPS and latencies, written while the run goes on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use engine::gate::{Existing, create_output};
use job::StatOptions;
use meter::{LogEntry, LogKind};

use crate::terminal::why;

/// The log files of one worker.
#[derive(Debug)]
pub(crate) struct LogFiles {
    files: BTreeMap<LogKind, BufWriter<File>>,
    offsets: bool,
    failure: Option<String>,
}

/// Whether a job asks for any.
pub(crate) fn are_wanted(options: &StatOptions) -> bool {
    !paths(options, 0).is_empty()
}

impl LogFiles {
    /// Makes the files that a job asks for; `None` where it asks for none. `number` counts workers from zero.
    ///
    /// # Errors
    ///
    /// The file that cannot be made, and why.
    pub(crate) fn create(options: &StatOptions, number: usize) -> Result<Option<Self>, String> {
        let mut files = BTreeMap::new();
        for (kind, path) in paths(options, number) {
            // Workers that share a log add to it; the first one begins it anew.
            let shared = !options.per_job_logs && number > 0;
            let existing = if shared { Existing::Append } else { Existing::Replace };
            let file = create_output(Path::new(&path), existing);
            let file = file.map_err(|denied| format!("cannot make the log file {path}: {denied}"))?;
            files.insert(kind, BufWriter::new(file));
        }
        let logs = Self { files, offsets: options.log_offset, failure: None };
        Ok((!logs.files.is_empty()).then_some(logs))
    }

    /// Adds entries. A log that cannot be written is given up, and [`LogFiles::finish`] says so: it must not end
    /// the run.
    pub(crate) fn write(&mut self, entries: &[LogEntry]) {
        for entry in entries {
            if let Some(file) = self.files.get_mut(&entry.kind) {
                let line = report::log(&[entry.into()], report::LogOptions { offset: self.offsets });
                if let Err(error) = file.write_all(line.as_bytes()) {
                    self.failure.get_or_insert_with(|| format!("a log file is incomplete: {}", why(&error)));
                }
            }
        }
    }

    /// Ends the logs.
    ///
    /// # Errors
    ///
    /// What went wrong while they were written.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        for file in self.files.values_mut() {
            if let Err(error) = file.flush() {
                self.failure.get_or_insert_with(|| format!("a log file is incomplete: {}", why(&error)));
            }
        }
        self.failure.map_or(Ok(()), Err)
    }
}

/// Which logs are wanted, and where they go: `PREFIX_lat.3.log` for the third worker.
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

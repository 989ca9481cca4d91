//! The open log files of one worker.

use std::fs::File;
use std::io::Write;

use engine::gate::Existing;
use meter::{LogChunk, LogKind};
use runner::{LogPlan, PlannedLog};
use units::{Problem, ProblemCode};

use super::compressed::{compress, push_sample};
use super::create_log;
use super::lines::{LineFormat, LogFields};

/// Open log files and the format of their entries.
#[derive(Debug)]
pub(super) struct OpenLogs {
    files: Vec<OpenLog>,
    format: LineFormat,
    compressed: bool,
    /// The first write error.
    failure: Option<Problem>,
}

#[derive(Debug)]
struct OpenLog {
    plan: PlannedLog,
    file: File,
    /// Formatted entries of a chunk, empty between chunks.
    text: Vec<u8>,
}

impl OpenLogs {
    /// Creates the files of a plan.
    ///
    /// # Errors
    /// Returns the file that cannot be created and the reason.
    pub(super) fn create(plan: &LogPlan) -> Result<Self, Problem> {
        let existing = if plan.shared { Existing::Append } else { Existing::Replace };
        let open = |plan: &PlannedLog| {
            Ok(OpenLog { file: create_log(&plan.path, existing)?, plan: plan.clone(), text: Vec::new() })
        };
        let files: Result<Vec<OpenLog>, Problem> = plan.files.iter().map(open).collect();
        let format =
            LineFormat::new(plan.columns, plan.epoch, plan.coarseness).with_priorities(plan.priorities.clone());
        Ok(Self { files: files?, format, compressed: plan.compressed, failure: None })
    }

    /// Writes the entries of a chunk, unless an earlier one could not be written.
    pub(super) fn write(&mut self, chunk: &LogChunk) {
        if self.failure.is_some() {
            return;
        }
        for log in &mut self.files {
            log.format(chunk, &mut self.format, self.compressed);
            if log.text.is_empty() {
                continue;
            }
            let written = match self.compressed {
                true => log.file.write_all(&compress(&log.text)),
                false => log.file.write_all(&log.text),
            };
            log.text.clear();
            if let Err(error) = written {
                let subject = format_args!("the log file {} is incomplete", log.plan.path);
                self.failure = Some(engine::io_problem(ProblemCode::File, subject, &error));
                return;
            }
        }
    }

    /// Returns the first write error.
    pub(super) fn failure(&self) -> Option<&Problem> {
        self.failure.as_ref()
    }
}

impl OpenLog {
    fn format(&mut self, chunk: &LogChunk, format: &mut LineFormat, compressed: bool) {
        let (kind, begun, text) = (self.plan.kind, chunk.begun, &mut self.text);
        let mut push = |format: &mut LineFormat, entry: &LogFields| {
            if compressed {
                push_sample(text, entry, format.columns());
            } else {
                format.push(text, entry);
            }
        };
        if self.plan.operations {
            for operation in &chunk.operations {
                let entry = format.of_operation(kind, operation, begun);
                push(format, &entry);
            }
        }
        for average in chunk.averages.iter().filter(|average| average.kind == kind) {
            let entry = format.of_average(average, begun);
            push(format, &entry);
        }
        if kind == LogKind::Histogram {
            chunk.histograms.iter().for_each(|histogram| format.push_histogram(&mut self.text, histogram, begun));
        }
    }
}

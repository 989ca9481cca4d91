//! Logs of all operations of a worker in fio's format (`write_iolog`).

use std::fs::File;
use std::io::Write;
use std::path::Path;

use drive::OperationRecorder;
use engine::gate::{Existing, create_output};
use job::Job;
use runner::WorkerPlan;
use trace::{TraceExport, TraceFormat, TraceInfo, TraceRequest};
use units::{Nanos, Problem, ProblemCode};
use workload::Decision;

/// Bytes that are collected before they are written.
const CHUNK_BYTES: usize = 256 << 10;

/// A log under construction.
pub(crate) struct OperationLog {
    path: String,
    file: File,
    export: TraceExport,
    info: TraceInfo,
    output: Vec<u8>,
    first: Option<Nanos>,
    failed: Option<std::io::Error>,
}

/// Returns the path of a worker's log; `None` if its job has none. Clones have a log of their own each.
pub(crate) fn path(worker_plan: &WorkerPlan, job: &Job) -> Option<String> {
    let path = job.stats.write_iolog.as_ref()?;
    Some(match worker_plan.clone {
        0 => path.clone(),
        clone => format!("{path}.{clone}"),
    })
}

impl OperationLog {
    /// Creates the log of a worker; `None` if its job has none.
    pub(crate) fn create(worker_plan: &WorkerPlan, job: &Job) -> Result<Option<Box<Self>>, Problem> {
        let Some(path) = path(worker_plan, job) else { return Ok(None) };
        let file = create_output(Path::new(&path), Existing::Replace)
            .map_err(|denied| Problem::from(denied).of("write_iolog"))?;
        // As in fio: paths as they are given, and objects without their host.
        let is_of_objects = job.engine.kind.is_of_objects();
        let name = |path: &str| if is_of_objects { job.engine.objects.path(path).to_owned() } else { path.to_owned() };
        let files = worker_plan.files.files.iter();
        let info = TraceInfo {
            source: "fathom".to_owned(),
            devices: files.map(|file| (name(&file.path), Some(file.needed))).collect(),
            names_are_paths: true,
            ..TraceInfo::default()
        };
        let export = TraceExport::new(TraceFormat::FioIolog3, &info);
        Ok(Some(Box::new(Self { path, file, export, info, output: Vec::new(), first: None, failed: None })))
    }

    fn write(&mut self) {
        if self.failed.is_none() {
            self.failed = self.file.write_all(&self.output).err();
        }
        self.output.clear();
    }
}

impl OperationRecorder for OperationLog {
    fn issued(&mut self, decision: &Decision, now: Nanos) {
        let first = *self.first.get_or_insert(now);
        let request = TraceRequest {
            issued_ns: now.since(first).get(),
            offset: decision.offset,
            length: decision.length,
            operation: decision.kind.into(),
            device: u16::try_from(decision.file).unwrap_or(u16::MAX),
            ..TraceRequest::default()
        };
        self.export.push(&request, &self.info, &mut self.output);
        if self.output.len() >= CHUNK_BYTES {
            self.write();
        }
    }

    fn finish(mut self: Box<Self>) -> Result<(), Problem> {
        let export = std::mem::replace(&mut self.export, TraceExport::new(TraceFormat::FioIolog3, &self.info));
        export.finish(&self.info, &mut self.output);
        self.write();
        match self.failed {
            None => Ok(()),
            Some(error) => Err(Problem::error(ProblemCode::File, format!("write {}: {error}", self.path))
                .help("free space there, or use another file")),
        }
    }
}

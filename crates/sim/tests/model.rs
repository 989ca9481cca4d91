//! Models in virtual time, with traces in memory and without logs.

use std::collections::BTreeMap;
use std::sync::Arc;
use units::{Problem, ProblemCode};

use runner::{LogPlan, LogSink, TraceFiles, WorkerLog};
use sim::model::ModelRunner;
use workload::TraceBytes;

pub(crate) fn model() -> ModelRunner {
    ModelRunner::in_virtual_time(Default::default(), volume::catalogue::no_files, Arc::new(NoLogs))
}

/// A sink without logs.
struct NoLogs;

impl LogSink for NoLogs {
    fn create(&self, _: &LogPlan) -> Result<Box<dyn WorkerLog>, Problem> {
        Err(Problem::error(ProblemCode::File, "there are no logs"))
    }
}

/// Traces in memory, by path.
#[derive(Debug, Default)]
pub(crate) struct MemoryTraces(pub(crate) BTreeMap<String, Arc<[u8]>>);

#[derive(Debug)]
struct MemoryTrace(Arc<[u8]>, usize);

impl TraceFiles for MemoryTraces {
    fn open(&self, path: &str) -> Result<Box<dyn TraceBytes>, Problem> {
        let bytes = self.0.get(path);
        let bytes =
            bytes.ok_or_else(|| Problem::error(ProblemCode::Trace, format!("{path}: there is no such file")))?;
        Ok(Box::new(MemoryTrace(Arc::clone(bytes), 0)))
    }
}

impl TraceBytes for MemoryTrace {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Problem> {
        let rest = &self.0[self.1..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.1 += count;
        Ok(count)
    }
}

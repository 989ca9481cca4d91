//! Traces in files of this host.

use std::fs::{File, Metadata};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use engine::gate::ResultFile;
use job::{Plan, ReplayOptions, TraceMerge};
use runner::{TraceFiles, WorkerPlan};
use units::{Problem, ProblemCode};
use workload::{Operations, TraceBytes};

/// Traces in files of this host.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostTraces;

/// An open trace.
#[derive(Debug)]
struct HostTrace {
    path: String,
    file: File,
}

impl TraceFiles for HostTraces {
    /// Opens a regular file: a pipe could be read only once, and a trace is read before the run too.
    fn open(&self, path: &str) -> Result<Box<dyn TraceBytes>, Problem> {
        let cannot = |error: std::io::Error| {
            engine::io_problem(ProblemCode::Trace, format_args!("{path} cannot be opened"), &error)
        };
        let found = std::fs::metadata(path).map_err(cannot)?;
        if !found.is_file() {
            return Err(Problem::error(ProblemCode::Trace, format!("{path} is not a file"))
                .help("use a trace file, such as one written by `fathom capture`"));
        }
        let file = File::open(path).map_err(cannot)?;
        engine::gate::note_input(&file.metadata().map_err(cannot)?);
        Ok(Box::new(HostTrace { path: path.to_owned(), file }))
    }

    fn write(&self, path: &str, trace: &mut dyn TraceBytes) -> Result<(), Problem> {
        let file = ResultFile::open(Path::new(path))?;
        let cannot = |error: std::io::Error| {
            engine::io_problem(ProblemCode::File, format_args!("{path} cannot be written"), &error)
                .also_help("free space there, or use another file")
        };
        let mut stream = file.stream().map_err(cannot)?;
        let mut buffer = vec![0; PIECE_BYTES];
        loop {
            match trace.read(&mut buffer)? {
                0 => return stream.finish().map_err(cannot),
                count => stream.write_all(&buffer[..count]).map_err(cannot)?,
            }
        }
    }
}

/// Size of the pieces in which a trace is written, in bytes.
const PIECE_BYTES: usize = 256 << 10;

/// Writes the merged traces of a plan to their files, and does nothing else (`--merge-blktrace-only`).
///
/// # Errors
///
/// Returns why one of them cannot be read or written.
pub fn merge_only(plan: &Plan) -> Result<(), Problem> {
    runner::write_merged_traces(plan, &HostTraces)
}

impl HostTrace {
    fn failed(&self, what: &str, error: &std::io::Error) -> Problem {
        engine::io_problem(ProblemCode::Trace, format_args!("{} {what}", self.path), error)
    }
}

impl TraceBytes for HostTrace {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Problem> {
        loop {
            match self.file.read(buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                read => return read.map_err(|error| self.failed("cannot be read", &error)),
            }
        }
    }

    fn rewind(&mut self) -> Result<(), Problem> {
        self.file.rewind().map_err(|error| self.failed("cannot be read again", &error))
    }
}

/// Returns a refusal for each trace that the run would overwrite.
pub(crate) fn overwritten(plan: &Plan, workers: &[WorkerPlan]) -> Vec<Problem> {
    let identity = |found: Metadata| (found.dev(), found.ino());
    let identity = |path: &str| std::fs::metadata(path).ok().map(identity);
    let replays = plan.jobs.iter().filter_map(|job| job.replay.as_ref());
    let inputs = |merge: &TraceMerge| merge.inputs.iter().map(|input| input.trace.clone()).collect::<Vec<_>>();
    let inputs_of = |replay: &ReplayOptions| replay.merge.as_ref().map(inputs).unwrap_or_default();
    let traces: Vec<_> = replays.flat_map(|replay| [vec![replay.trace.clone()], inputs_of(replay)].concat()).collect();
    if traces.is_empty() {
        return Vec::new();
    }
    let writing = workers.iter().filter(|worker| Operations::of(&plan.jobs[worker.job]).changes_data());
    let written: Vec<_> =
        writing.flat_map(|worker| &worker.files.files).filter_map(|file| identity(&file.path)).collect();
    let is_written = |trace: &&String| identity(trace).is_some_and(|trace| written.contains(&trace));
    let refusal = |trace: &String| {
        Problem::error(ProblemCode::Overwrite, format!("{trace}: the run would overwrite the trace it replays"))
            .help("replay it to another file")
    };
    traces.iter().filter(is_written).map(refusal).collect()
}

//! The threads that write log files.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use meter::{LogChunk, WorkerLog};
use units::{Problem, ProblemCode};

use super::file::OpenLogs;

/// Chunks of each worker: one that it fills, and others that wait or are being written.
const CHUNKS: usize = 6;
/// Processors per thread: formatting an entry costs a fraction of the operation that it describes.
const CPUS_PER_THREAD: usize = 4;
/// Stack size of a thread, in bytes: enough for the counts of a histogram.
const STACK_BYTES: usize = 256 * 1024;
/// Maximum number of threads for the same CPUs.
const THREADS_MAX: usize = 8;

/// Threads that write log files, started when they are needed. They end with this object.
#[derive(Debug, Default)]
pub(super) struct LogWriters {
    threads: Mutex<WriterThreads>,
}

#[derive(Debug, Default)]
struct WriterThreads {
    /// Threads and the CPUs that they may use.
    threads: Vec<(Vec<u32>, Sender<FilledChunk>)>,
    /// Number of logs begun so far.
    logs: usize,
}

/// A chunk on its way to its files.
#[derive(Debug)]
struct FilledChunk {
    logs: Arc<Mutex<OpenLogs>>,
    chunk: LogChunk,
    /// Takes the empty chunk back.
    empty: Sender<LogChunk>,
}

impl LogWriters {
    /// Begins to write the logs of a worker on a thread that may use `cpus`, or all if none are named.
    pub(super) fn begin(&self, logs: OpenLogs, cpus: &[u32]) -> Result<QueuedLogs, Problem> {
        let filled = self.threads.lock().unwrap_or_else(PoisonError::into_inner).next(cpus)?;
        let (recycle, empty) = mpsc::channel();
        Ok(QueuedLogs { logs: Arc::new(Mutex::new(logs)), filled, recycle, empty, lent: 0 })
    }
}

impl WriterThreads {
    /// Returns the queue of a thread: a new one until there are enough.
    fn next(&mut self, cpus: &[u32]) -> Result<Sender<FilledChunk>, Problem> {
        let available = thread::available_parallelism().map_or(1, usize::from);
        let most = if cpus.is_empty() { available.div_ceil(CPUS_PER_THREAD) } else { cpus.len() };
        let same: Vec<&Sender<FilledChunk>> =
            self.threads.iter().filter(|(known, _)| known == cpus).map(|(_, queue)| queue).collect();
        self.logs += 1;
        if same.len() >= most.min(THREADS_MAX) {
            return Ok(same[self.logs % same.len()].clone());
        }
        let queue = start(cpus)?;
        self.threads.push((cpus.to_vec(), queue.clone()));
        Ok(queue)
    }
}

fn start(cpus: &[u32]) -> Result<Sender<FilledChunk>, Problem> {
    let (queue, filled) = mpsc::channel();
    let (ready, is_ready) = mpsc::channel();
    let pinned = cpus.to_vec();
    let run = move || {
        let pinned = engine::thread::pin(&pinned)
            .map_err(|error| Problem::error(ProblemCode::File, format!("log_compression_cpus: {error}")));
        let fails = pinned.is_err();
        // The receiver waits for this message.
        let _ = ready.send(pinned);
        if !fails {
            write_all(&filled);
        }
    };
    let started = thread::Builder::new().name("logs".to_owned()).stack_size(STACK_BYTES).spawn(run);
    started
        .map_err(|error| Problem::error(ProblemCode::File, format!("cannot start the log writer thread: {error}")))?;
    is_ready.recv().unwrap_or_else(|_| Err(Problem::error(ProblemCode::File, "the log writer thread exited")))?;
    Ok(queue)
}

/// Writes chunks until no worker is left.
fn write_all(queue: &Receiver<FilledChunk>) {
    for filled in queue {
        // After a panic, `finish` reports that entries are missing.
        if let Ok(mut logs) = filled.logs.lock() {
            logs.write(&filled.chunk);
        }
    }
}

/// Returns the chunk, whether it was written or its thread has ended.
impl Drop for FilledChunk {
    fn drop(&mut self) {
        self.chunk.clear();
        // A worker that was abandoned needs no chunk.
        let _ = self.empty.send(std::mem::take(&mut self.chunk));
    }
}

/// The logs of one worker, in front of the thread that writes them.
#[derive(Debug)]
pub(super) struct QueuedLogs {
    logs: Arc<Mutex<OpenLogs>>,
    filled: Sender<FilledChunk>,
    recycle: Sender<LogChunk>,
    empty: Receiver<LogChunk>,
    /// Chunks that have not come back.
    lent: usize,
}

impl QueuedLogs {
    /// Waits for a chunk that was written.
    fn returned(&mut self) -> LogChunk {
        self.lent -= 1;
        // This object holds a sender, so that the channel is never closed.
        self.empty.recv().unwrap_or_default()
    }
}

impl WorkerLog for QueuedLogs {
    fn exchange(&mut self, filled: LogChunk) -> LogChunk {
        let (logs, empty) = (Arc::clone(&self.logs), self.recycle.clone());
        self.lent += 1;
        // If the thread has ended, the chunk comes back at once, and `finish` reports it.
        let _ = self.filled.send(FilledChunk { logs, chunk: filled, empty });
        match self.empty.try_recv() {
            Ok(chunk) => {
                self.lent -= 1;
                chunk
            }
            Err(_) if self.lent < CHUNKS => LogChunk::default(),
            Err(_) => self.returned(),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<(), Problem> {
        while self.lent > 0 {
            self.returned();
        }
        match self.logs.lock() {
            Ok(logs) => logs.failure().map_or(Ok(()), |failure| Err(failure.clone())),
            Err(_) => Err(Problem::error(ProblemCode::File, "the logs are incomplete: the log writer thread failed")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::time::Duration;

    use meter::{LogKind, LoggedOperation};
    use runner::{LogColumns, LogPlan, LogSink, PlannedLog};
    use units::{DataKind, Nanos};

    use super::*;
    use crate::LogFiles;

    fn log(path: &Path) -> Box<dyn WorkerLog> {
        let path = path.to_str().expect("it is text").to_owned();
        let plan = LogPlan {
            files: vec![PlannedLog { path, kind: LogKind::Iops, operations: true }],
            columns: LogColumns::default(),
            coarseness: 0,
            shared: false,
            compressed: false,
            cpus: Vec::new(),
            epoch: None,
            priorities: Vec::new(),
        };
        LogFiles::default().create(&plan).expect("it can be created")
    }

    fn scratch(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("fathom-logs-{}-{name}", std::process::id()))
    }

    /// Hands over full chunks whose entries are numbered by their milliseconds.
    fn fill(mut log: Box<dyn WorkerLog>, chunks: u64) -> Result<(), Problem> {
        let mut chunk = LogChunk::default();
        for at_ms in 0..chunks * LogChunk::ENTRIES_MAX as u64 {
            chunk.operations.push(LoggedOperation {
                at: Nanos::from_millis(at_ms),
                submission: Nanos::ZERO,
                service: Nanos::ZERO,
                offset: 0,
                block_size: 512,
                direction: DataKind::Read,
                priority: 0,
            });
            if chunk.operations.len() == LogChunk::ENTRIES_MAX {
                chunk = log.exchange(chunk);
                assert!(chunk.is_empty());
            }
        }
        log.finish()
    }

    fn expected(chunks: u64) -> String {
        (0..chunks * LogChunk::ENTRIES_MAX as u64).map(|at_ms| format!("{at_ms}, 1, 0, 512, 0\n")).collect()
    }

    #[test]
    fn a_worker_waits_for_its_writer_and_loses_no_entry() {
        let path = scratch("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().expect("coreutils are installed").success());
        let (open, chunks) = (path.clone(), 3 * CHUNKS as u64);
        // Opening a pipe waits for its other end.
        let reader = thread::spawn(move || std::fs::File::open(open).expect("it exists"));
        let log = log(&path);
        let mut reader = reader.join().expect("it has opened the pipe");
        let worker = thread::spawn(move || fill(log, chunks));
        thread::sleep(Duration::from_millis(300));
        assert!(!worker.is_finished(), "more entries than a worker may have are waiting somewhere");
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("it is text");
        assert_eq!(worker.join().expect("it has written all"), Ok(()));
        assert!(text == expected(chunks), "{} bytes", text.len());
        std::fs::remove_file(path).expect("it was made");
    }

    #[test]
    fn chunks_are_in_the_file_before_the_log_ends() {
        let path = scratch("soon");
        let mut log = log(&path);
        let at = Nanos::from_millis(7);
        let (direction, zero) = (DataKind::Trim, Nanos::ZERO);
        let (submission, service, offset, block_size) = (zero, zero, 0, 4096);
        let operation = LoggedOperation { at, submission, service, offset, block_size, direction, priority: 0 };
        log.exchange(LogChunk { operations: vec![operation], ..LogChunk::default() });
        let text = || std::fs::read_to_string(&path).expect("it exists");
        for _ in 0..30_000 {
            if !text().is_empty() {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(text(), "7, 1, 2, 4096, 0\n");
        assert_eq!(log.finish(), Ok(()));
        std::fs::remove_file(path).expect("it was made");
    }

    #[test]
    fn a_full_disk_is_reported_at_the_end() {
        let failure = fill(log(Path::new("/dev/full")), 20).expect_err("nothing was written");
        assert!(failure.what.starts_with("the log file /dev/full is incomplete: "), "{failure}");
    }
}

//! A capture from its beginning to its end.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use results::capture::{CaptureProgress, CaptureResult, CaptureSource, SampleProgress};
use trace::{TraceInfo, TraceOperation, TraceRequest, WaitingProcesses, kernel_thread};
use units::{Problem, ProblemCode};

use crate::anonymous::RegionPermutation;
use crate::bpf::BpfSource;
use crate::clock::now_ns;
use crate::counters::{CompletionCounts, CounterReading, DeviceCounters};
use crate::error;
use crate::events::EventSource;
use crate::names::ProcessNames;
use crate::sink::{KeptPart, RequestSink, TraceFile};
use crate::source::{RequestBatch, RequestSource};
use crate::target::CaptureTarget;

/// What to capture, and how.
#[derive(Clone, Debug, Default)]
pub struct CaptureOptions {
    /// Block device, file or directory.
    pub asked: String,
    /// File of the trace; `None` for the summary only.
    pub output: Option<PathBuf>,
    /// How long; `None` until a signal.
    pub duration: Option<Duration>,
    /// Ends once the file has this many bytes.
    pub bytes_max: Option<u64>,
    /// Keeps only the last part.
    pub kept: Option<KeptPart>,
    /// Drops names of processes and scrambles positions.
    pub anonymize: bool,
    /// Captures only requests of this process.
    pub process: Option<u32>,
    /// Size of the kernel's buffer for each CPU, in bytes.
    pub buffer_bytes: Option<u64>,
    /// Where the requests come from; `None` for programs in the kernel, or events where these cannot be loaded.
    pub source: Option<CaptureSource>,
}

/// What a capture needs from the program around it.
pub trait CaptureHost {
    fn is_ended(&self) -> bool;

    /// Shows the progress, once per second.
    fn progress(&mut self, progress: &CaptureProgress);

    /// Shows the progress of sampling, at most once per second.
    fn sampled(&mut self, progress: &SampleProgress);

    /// Notes that the device is no longer captured, and that only results are left to be made.
    fn concluding(&mut self);

    /// Prints a warning.
    fn warn(&mut self, warning: &Problem);
}

/// Interval of progress, blocks and checks.
const TICK_NS: u64 = 1_000_000_000;
/// Captures the requests of a device until the time is over or the host ends it.
///
/// # Errors
/// Fails if there is no such device, tracing is not available or not permitted, or the file cannot be written.
pub fn capture(options: &CaptureOptions, host: &mut dyn CaptureHost) -> Result<CaptureResult, Problem> {
    let root = Path::new("/");
    let target = CaptureTarget::find(root, &options.asked)?;
    if let Some(process) = options.process.filter(|process| !Path::new(&format!("/proc/{process}")).exists()) {
        return Err(error::usage(format!("--pid {process}: no such process"), "list processes with ps -e"));
    }
    if let Some(output) = options.output.as_deref().filter(|output| target.has_file(root, output)) {
        let what = format!("{} is on {}, so the capture also records its own writes", output.display(), target.name);
        let help = "write it to another device, or use --summary-only";
        host.warn(&Problem::warning(ProblemCode::CaptureRequest, what).help(help));
    }
    let begun = CaptureSession::begin(options, target);
    let mut session = begun.map_err(|error| error::naming(error, &options.asked))?;
    session.run(host)?;
    session.finish(host)
}

/// Opens the file, with the metadata of the trace at the start.
fn trace_file(options: &CaptureOptions, target: &CaptureTarget) -> Result<Option<TraceFile>, Problem> {
    let Some(path) = &options.output else { return Ok(None) };
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let device = if options.anonymize { "device".to_owned() } else { target.name.clone() };
    let info = TraceInfo {
        source: format!("fathom capture {}", env!("CARGO_PKG_VERSION")),
        started_unix_ms: u64::try_from(started.as_millis()).ok(),
        devices: vec![(device, Some(target.bytes))],
        lost: Some(0),
        is_anonymous: options.anonymize,
        ..TraceInfo::default()
    };
    TraceFile::create(path, options.kept, info).map(Some)
}

/// Begins to record. Notes why there are events instead of programs, unless the device has no requests.
fn begin_source(options: &CaptureOptions, target: &mut CaptureTarget) -> Result<Box<dyn RequestSource>, Problem> {
    if options.source != Some(CaptureSource::Tracefs) {
        match BpfSource::begin(target, options.buffer_bytes) {
            Ok(source) => return Ok(Box::new(source)),
            Err(error) if options.source.is_some() => return Err(error),
            Err(_) if target.takes_bios => {}
            Err(error) => target.notes.push(format!("captured with tracefs events: {}", error.what)),
        }
    }
    Ok(Box::new(EventSource::begin(target, options.buffer_bytes)?))
}

struct CaptureSession<'a> {
    options: &'a CaptureOptions,
    target: CaptureTarget,
    source: Box<dyn RequestSource>,
    batch: RequestBatch,
    waiting: WaitingProcesses,
    sink: RequestSink,
    selection: RequestSelection,
    lost: u64,
    start_ns: u64,
    last_tick: Tick,
}

/// State at the last progress.
#[derive(Clone, Copy, Debug, Default)]
struct Tick {
    at_ns: u64,
    requests: u64,
    bytes: u64,
}

impl<'a> CaptureSession<'a> {
    fn begin(options: &'a CaptureOptions, mut target: CaptureTarget) -> Result<Self, Problem> {
        let source = begin_source(options, &mut target)?;
        let start_ns = source.start_ns();
        // The file is touched only once everything else is possible.
        let file = trace_file(options, &target)?;
        let first = (!target.takes_bios).then(|| counters(&target)).flatten();
        let completions = first.map(|first| (CompletionCounts::new(&first), first));
        Ok(Self {
            options,
            selection: RequestSelection::new(options, &target, start_ns),
            target,
            source,
            batch: RequestBatch { completions, ..RequestBatch::default() },
            waiting: WaitingProcesses::default(),
            sink: RequestSink::new(file),
            lost: 0,
            start_ns,
            last_tick: Tick { at_ns: start_ns, ..Tick::default() },
        })
    }

    fn run(&mut self, host: &mut dyn CaptureHost) -> Result<(), Problem> {
        while self.ending(host).is_none() {
            self.source.wait();
            self.source.read(&mut self.batch, self.last_tick.at_ns + TICK_NS)?;
            self.deliver()?;
            if now_ns() >= self.last_tick.at_ns + TICK_NS {
                self.tick(host)?;
            }
        }
        Ok(())
    }

    /// Returns why the capture ends, if it does.
    fn ending(&self, host: &dyn CaptureHost) -> Option<&'static str> {
        let elapsed = Duration::from_nanos(now_ns() - self.start_ns);
        let bytes = self.sink.file.as_ref().map_or(0, TraceFile::bytes);
        match () {
            () if host.is_ended() => Some("by a signal"),
            () if self.options.duration.is_some_and(|duration| elapsed >= duration) => {
                Some("after the requested duration")
            }
            () if self.selection.has_ended() => Some("because the process exited"),
            () if self.options.bytes_max.is_some_and(|most| bytes >= most) => Some("at the size limit (--max-size)"),
            () => None,
        }
    }

    /// Hands requests over.
    fn deliver(&mut self) -> Result<(), Problem> {
        let names = self.source.names();
        self.selection.learn(names);
        if let Some(file) = &mut self.sink.file {
            let known = file.info().processes.len();
            let named = names.names().iter().enumerate().skip(known);
            let name = |(index, name): (usize, &String)| self.selection.name(index, name);
            file.info().processes.extend(named.map(name));
        }
        for request in &mut self.batch.requests {
            self.waiting.set(request, names.names());
            if self.selection.apply(request) {
                self.sink.add(request);
            }
        }
        self.batch.requests.clear();
        self.sink.file.as_mut().map_or(Ok(()), TraceFile::write)
    }

    fn tick(&mut self, host: &mut dyn CaptureHost) -> Result<(), Problem> {
        let (now_ns, (requests, bytes)) = (now_ns(), self.sink.totals());
        self.count_lost()?;
        if let Some(file) = &mut self.sink.file {
            file.flush(now_ns.saturating_sub(self.start_ns))?;
        }
        self.selection.refresh();
        let secs = (now_ns - self.last_tick.at_ns).max(1) as f64 / 1e9;
        let elapsed_ns = now_ns - self.start_ns;
        host.progress(&CaptureProgress {
            elapsed_ns,
            remaining_ns: self.options.duration.map(|all| (all.as_nanos() as u64).saturating_sub(elapsed_ns)),
            requests,
            iops: (requests - self.last_tick.requests) as f64 / secs,
            bytes_per_second: (bytes - self.last_tick.bytes) as f64 / secs,
            lost_events: self.lost,
        });
        self.last_tick = Tick { at_ns: now_ns, requests, bytes };
        Ok(())
    }

    /// Updates the number of lost events.
    fn count_lost(&mut self) -> Result<(), Problem> {
        self.lost = self.lost.max(self.source.lost()?);
        if let Some(file) = &mut self.sink.file {
            file.info().lost = Some(self.lost);
        }
        Ok(())
    }

    fn finish(mut self, host: &mut dyn CaptureHost) -> Result<CaptureResult, Problem> {
        let ended = self.ending(host).unwrap_or("at its end");
        let second = self.batch.completions.as_ref().and_then(|_| counters(&self.target));
        let duration_ns = now_ns() - self.start_ns;
        self.source.finish(&mut self.batch)?;
        self.count_lost()?;
        self.deliver()?;
        let Self { target, source, batch, sink, selection, lost, options, .. } = self;
        host.concluding();
        let counters = batch
            .completions
            .zip(second)
            .filter(|_| lost == 0)
            .map(|((counts, first), second)| counts.compare(&first, &second, target.sectors.is_none()));
        let (profile, file) = sink.finish()?;
        let names = source.names().names().iter().enumerate().map(|(index, name)| selection.name(index, name));
        let counts = source.counts();
        let mut notes = target.notes;
        notes.extend(selection.notes());
        Ok(CaptureResult {
            asked: options.asked.clone(),
            device: target.name,
            device_bytes: target.bytes,
            takes_bios: target.takes_bios,
            source: source.kind(),
            process: options.process,
            notes,
            duration_ns,
            ended,
            profile,
            processes: names.collect(),
            lost_events: lost,
            in_flight_at_start: if options.process.is_some() { 0 } else { counts.unmatched },
            untimed: counts.untimed,
            requeued: counts.requeued,
            flush_waits: counts.flush_waits,
            counters: counters.unwrap_or_default(),
            file,
        })
    }
}

fn counters(target: &CaptureTarget) -> Option<CounterReading> {
    let from_ns = now_ns();
    let counters = DeviceCounters::read(Path::new("/"), target.number)?;
    Some(CounterReading { counters, from_ns, to_ns: now_ns() })
}

/// Which requests are kept, and how they are changed.
#[derive(Debug)]
struct RequestSelection {
    start_ns: u64,
    start_bytes: u64,
    permutation: Option<RegionPermutation>,
    process: Option<ProcessThreads>,
}

/// Threads of the process that is captured.
#[derive(Debug)]
struct ProcessThreads {
    id: u32,
    threads: BTreeSet<u32>,
    /// Whether each known process is one of them.
    are_members: Vec<bool>,
}

impl ProcessThreads {
    fn refresh(&mut self) {
        let entries = std::fs::read_dir(format!("/proc/{}/task", self.id)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        self.threads.extend(names.filter_map(|name| name.parse::<u32>().ok()));
    }
}

impl RequestSelection {
    fn new(options: &CaptureOptions, target: &CaptureTarget, start_ns: u64) -> Self {
        let key = || std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0_u64);
        let process = options.process.map(|id| {
            let mut process = ProcessThreads { id, threads: BTreeSet::new(), are_members: Vec::new() };
            process.refresh();
            process
        });
        Self {
            start_ns,
            start_bytes: target.start_bytes(),
            permutation: options.anonymize.then(|| RegionPermutation::new(target.bytes, key())),
            process,
        }
    }

    /// Reports whether the process that is captured has ended.
    fn has_ended(&self) -> bool {
        self.process.as_ref().is_some_and(|process| !Path::new(&format!("/proc/{}", process.id)).exists())
    }

    /// Finds out which new processes are threads of the process that is captured.
    fn learn(&mut self, names: &ProcessNames) {
        let Some(process) = &mut self.process else { return };
        for id in names.ids().iter().skip(process.are_members.len()) {
            let path = format!("/proc/{}/task/{id}", process.id);
            process.are_members.push(process.threads.contains(id) || Path::new(&path).exists());
        }
    }

    /// Looks for new threads.
    fn refresh(&mut self) {
        if let Some(process) = &mut self.process {
            process.refresh();
        }
    }

    /// Returns the name of a process in the results.
    fn name(&self, index: usize, name: &str) -> String {
        match kernel_thread(name) {
            _ if self.permutation.is_none() => name.to_owned(),
            Some(thread) => thread.to_owned(),
            None => format!("process-{}", index + 1),
        }
    }

    /// Makes times and positions relative, and reports whether the request is kept.
    #[inline]
    fn apply(&self, request: &mut TraceRequest) -> bool {
        let is_foreign = |process: &ProcessThreads| {
            process.are_members.get(usize::from(request.owner())).is_none_or(|is_member| !is_member)
        };
        if self.process.as_ref().is_some_and(is_foreign) {
            return false;
        }
        request.issued_ns = request.issued_ns.saturating_sub(self.start_ns);
        if request.length > 0 && request.operation != TraceOperation::Flush {
            request.offset = request.offset.saturating_sub(self.start_bytes);
        }
        if let Some(permutation) = &self.permutation {
            permutation.apply(request);
        }
        true
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.process.is_some() {
            notes.push("excludes writeback, which kernel threads issue".to_owned());
        }
        if self.permutation.is_some() {
            notes.push(
                "anonymized: names are removed, offsets are scrambled in 1 MiB regions with a discarded key".to_owned(),
            );
        }
        notes
    }
}

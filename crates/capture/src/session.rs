//! A capture from its beginning to its end.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use report::capture::{CaptureProgress, CaptureReport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};
use trace::{TraceInfo, TraceOperation, TraceRequest};

use crate::anonymous::RegionPermutation;
use crate::counters::{CompletionCounts, CounterReading, DeviceCounters};
use crate::error::CaptureError;
use crate::event::{BIO_EVENTS, EventDecoder, EventName, REQUEST_EVENTS};
use crate::layout::PageLayout;
use crate::merge::{CpuEvents, merge};
use crate::names::ProcessNames;
use crate::page::RingPage;
use crate::pairing::RequestPairing;
use crate::sink::{KeptPart, RequestSink, TraceFile};
use crate::target::CaptureTarget;
use crate::tracefs::{InstanceSetup, TraceFs, TraceInstance, read_page};

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
    /// Size of the kernel's buffer of each processor, in bytes.
    pub buffer_bytes: Option<u64>,
}

/// What a capture needs from the program around it.
pub trait CaptureHost {
    /// Reports whether the capture is to end.
    fn is_ended(&self) -> bool;

    /// Shows the progress, once per second.
    fn progress(&mut self, progress: &CaptureProgress);

    /// Notes that the device is no longer captured, and that only results are left to be made.
    fn concluding(&mut self);

    /// Prints a warning, whose second line may be `help: ` and a remedy.
    fn warn(&mut self, text: &str);
}

/// Interval of progress, blocks and checks.
const TICK_NS: u64 = 1_000_000_000;
/// Maximum time between readings of the buffers.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// Length of a page that is read. The kernel returns less if its pages are smaller.
const PAGE_BYTES: usize = 1 << 16;
/// Maximum number of pages that are read from a processor at a time, and of events that wait for other processors.
const PAGES_MAX: usize = 256;
const EVENTS_MAX: usize = 1 << 17;
/// Age at which an event is certainly written, whichever processor does so.
const SETTLED_NS: u64 = 10_000_000;
/// Memory of all kernel buffers, and limits of that of one processor, in bytes.
const BUFFERS_BYTES: u64 = 256 << 20;
const BUFFER_BYTES: std::ops::RangeInclusive<u64> = 1 << 20..=16 << 20;

/// Captures the requests of a device until the time is over or the host ends it.
///
/// # Errors
/// Fails if there is no such device, tracing is not available or not permitted, or the file cannot be written.
pub fn capture(options: &CaptureOptions, host: &mut dyn CaptureHost) -> Result<CaptureReport, CaptureError> {
    let root = Path::new("/");
    let target = CaptureTarget::find(root, &options.asked)?;
    if let Some(process) = options.process.filter(|process| !Path::new(&format!("/proc/{process}")).exists()) {
        return Err(CaptureError::usage(format!("--pid {process}: there is no such process"), "see ps -e"));
    }
    if let Some(output) = options.output.as_deref().filter(|output| target.has_file(root, output)) {
        host.warn(&format!(
            "{} is on {}, so the capture records its own writes\nhelp: write it to another device, or use --summary-only",
            output.display(),
            target.name
        ));
    }
    let fs = TraceFs::find()?;
    fs.remove_leftovers();
    let mut session = CaptureSession::begin(options, target, &fs)?;
    session.run(host)?;
    session.finish(host)
}

/// Opens the file, with what the trace says of itself at the start.
fn trace_file(options: &CaptureOptions, target: &CaptureTarget) -> Result<Option<TraceFile>, CaptureError> {
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

struct CaptureSession<'a> {
    options: &'a CaptureOptions,
    target: CaptureTarget,
    events: Vec<EventName>,
    instance: TraceInstance,
    reader: PageReader,
    pairing: RequestPairing,
    /// Completions, and the first reading of the counters, where they can be compared.
    completions: Option<(CompletionCounts, CounterReading)>,
    sink: RequestSink,
    selection: RequestSelection,
    requests: Vec<TraceRequest>,
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
    fn begin(options: &'a CaptureOptions, target: CaptureTarget, fs: &TraceFs) -> Result<Self, CaptureError> {
        let known = if target.takes_bios { BIO_EVENTS.as_slice() } else { REQUEST_EVENTS.as_slice() };
        let exists = |event: &&EventName| event.is_needed || fs.file(&format!("events/block/{}", event.name)).exists();
        let events: Vec<EventName> = known.iter().filter(exists).copied().collect();
        let format = |event: &EventName| Ok((*event, fs.read(&format!("events/block/{}/format", event.name))?));
        let formats = events.iter().map(format).collect::<Result<Vec<_>, CaptureError>>()?;
        let unknown = |what: String| {
            CaptureError::host(format!("events/block/{what}"), "report it with the release of the kernel (uname -r)")
        };
        let decoder = EventDecoder::new(&formats).map_err(unknown)?;
        let layout = PageLayout::parse(&fs.read("events/header_page")?)
            .map_err(|why| unknown(format!("../header_page: {why}")))?;
        let buffer_bytes = options.buffer_bytes.unwrap_or_else(|| buffer_bytes(cpus(fs)));
        let setup = InstanceSetup { events: &events, filter: target.filter(), buffer_bytes };
        let instance = TraceInstance::create(fs, &setup)?;
        // The file is touched only once everything else is possible.
        let file = trace_file(options, &target)?;
        let cpus = (0..instance.cpus()).map(|_| CpuEvents::default()).collect();
        let start_ns = now_ns();
        instance.enable(&events, true)?;
        let completions = (!target.takes_bios).then(|| counters(&target)).flatten();
        Ok(Self {
            options,
            selection: RequestSelection::new(options, &target, start_ns),
            reader: PageReader {
                decoder,
                layout,
                cpus,
                names: ProcessNames::default(),
                page: vec![0; PAGE_BYTES],
                missed: 0,
            },
            target,
            events,
            instance,
            pairing: RequestPairing::default(),
            completions: completions.map(|first| (CompletionCounts::new(&first), first)),
            sink: RequestSink::new(file),
            requests: Vec::new(),
            lost: 0,
            start_ns,
            last_tick: Tick { at_ns: start_ns, ..Tick::default() },
        })
    }

    fn run(&mut self, host: &mut dyn CaptureHost) -> Result<(), CaptureError> {
        while self.ending(host).is_none() {
            self.wait();
            self.read()?;
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
            () if self.options.duration.is_some_and(|duration| elapsed >= duration) => Some("after the requested time"),
            () if self.options.bytes_max.is_some_and(|most| bytes >= most) => Some("at the size limit (--max-size)"),
            () => None,
        }
    }

    /// Waits until a buffer is filled to the watermark, but not for long.
    fn wait(&self) {
        let pipes = self.instance.pipes();
        let mut fds: Vec<PollFd<'_>> = pipes.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
        let _ = poll(&mut fds, Some(&WAIT));
    }

    /// Reads what the buffers have, and takes the requests of all events that are certain to be complete.
    fn read(&mut self) -> Result<(), CaptureError> {
        loop {
            let read_ns = now_ns();
            let has_more = self.reader.read_all(&self.instance)?;
            self.take(read_ns.saturating_sub(SETTLED_NS))?;
            if !has_more || read_ns >= self.last_tick.at_ns + TICK_NS {
                return Ok(());
            }
        }
    }

    /// Takes the events up to an instant.
    fn take(&mut self, until_ns: u64) -> Result<(), CaptureError> {
        let (pairing, requests) = (&mut self.pairing, &mut self.requests);
        let completions = &mut self.completions;
        merge(&mut self.reader.cpus, until_ns, |event| {
            if pairing.add(event, requests)
                && let Some((counts, _)) = completions
            {
                counts.add(event.time_ns, event.request.operation);
            }
        });
        self.deliver()
    }

    /// Hands requests over.
    fn deliver(&mut self) -> Result<(), CaptureError> {
        self.selection.learn(&self.reader.names);
        if let Some(file) = &mut self.sink.file {
            let (known, names) = (file.info().processes.len(), self.reader.names.names());
            let named = names.iter().enumerate().skip(known);
            let name = |(index, name): (usize, &String)| self.selection.name(index, name);
            file.info().processes.extend(named.map(name));
        }
        for request in &mut self.requests {
            if self.selection.apply(request) {
                self.sink.add(request);
            }
        }
        self.requests.clear();
        self.sink.file.as_mut().map_or(Ok(()), TraceFile::write)
    }

    fn tick(&mut self, host: &mut dyn CaptureHost) -> Result<(), CaptureError> {
        let (now_ns, (requests, bytes)) = (now_ns(), self.sink.totals());
        self.count_lost();
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

    /// Updates the number of lost events. Pages and counters tell of the same ones, so the greater number counts.
    fn count_lost(&mut self) {
        self.lost = self.lost.max(self.instance.lost()).max(self.reader.missed);
        if let Some(file) = &mut self.sink.file {
            file.info().lost = Some(self.lost);
        }
    }

    fn finish(mut self, host: &mut dyn CaptureHost) -> Result<CaptureReport, CaptureError> {
        let ended = self.ending(host).unwrap_or("at its end");
        let second = self.completions.as_ref().and_then(|_| counters(&self.target));
        let duration_ns = now_ns() - self.start_ns;
        // All events end at once: a completion without its issue would count as in flight at the start.
        self.instance.stop()?;
        self.instance.enable(&self.events, false)?;
        while self.reader.read_all(&self.instance)? {
            self.take(u64::MAX)?;
        }
        self.take(u64::MAX)?;
        self.count_lost();
        self.pairing.finish(&mut self.requests);
        self.deliver()?;
        let Self { target, instance, completions, pairing, sink, selection, reader, lost, options, .. } = self;
        instance.remove();
        host.concluding();
        let counters = completions
            .zip(second)
            .filter(|_| lost == 0)
            .map(|((counts, first), second)| counts.compare(&first, &second, target.sectors.is_none()));
        let (profile, file) = sink.finish()?;
        let names = reader.names.names().iter().enumerate().map(|(index, name)| selection.name(index, name));
        let counts = pairing.counts();
        let mut notes = target.notes;
        notes.extend(selection.notes());
        Ok(CaptureReport {
            asked: options.asked.clone(),
            device: target.name,
            device_bytes: target.bytes,
            takes_bios: target.takes_bios,
            process: options.process,
            notes,
            duration_ns,
            ended,
            profile,
            processes: names.collect(),
            lost_events: lost,
            in_flight_at_start: if options.process.is_some() { 0 } else { counts.unmatched },
            requeued: counts.requeued,
            flush_waits: counts.flush_waits,
            counters: counters.unwrap_or_default(),
            file,
        })
    }
}

/// Returns the time on the clock of the events.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

fn counters(target: &CaptureTarget) -> Option<CounterReading> {
    let from_ns = now_ns();
    let counters = DeviceCounters::read(Path::new("/"), target.number)?;
    Some(CounterReading { counters, from_ns, to_ns: now_ns() })
}

/// Returns the number of processors for which the kernel has buffers.
fn cpus(fs: &TraceFs) -> u64 {
    std::fs::read_dir(fs.file("per_cpu")).map_or(1, |cpus| cpus.count().max(1)) as u64
}

/// Returns the size of the buffer of one processor: 16 MiB hold a second of 200,000 events per second.
fn buffer_bytes(cpus: u64) -> u64 {
    (BUFFERS_BYTES / cpus).clamp(*BUFFER_BYTES.start(), *BUFFER_BYTES.end())
}

/// Reads events out of the buffers.
#[derive(Debug)]
struct PageReader {
    decoder: EventDecoder,
    layout: PageLayout,
    cpus: Vec<CpuEvents>,
    names: ProcessNames,
    page: Vec<u8>,
    /// Number of events that were overwritten or are in damaged pages.
    missed: u64,
}

impl PageReader {
    /// Reads the buffers of all processors. Returns whether some have more.
    fn read_all(&mut self, instance: &TraceInstance) -> Result<bool, CaptureError> {
        let mut has_more = false;
        let pipes = instance.pipes();
        for (index, pipe) in pipes.iter().enumerate() {
            let Some(cpu) = self.cpus.get_mut(index) else { continue };
            cpu.set_drained(false);
            for _ in 0..PAGES_MAX {
                if cpu.len() > EVENTS_MAX {
                    break;
                }
                let read = read_page(pipe, &mut self.page)
                    .map_err(|error| CaptureError::tracefs("read", &instance.fs().file("trace_pipe_raw"), &error))?;
                let Some(bytes) = self.page.get(..read).filter(|bytes| !bytes.is_empty()) else {
                    cpu.set_drained(true);
                    break;
                };
                let mut page = RingPage::new(&self.layout, bytes);
                self.missed = self.missed.saturating_add(page.missed().unwrap_or(0));
                for event in page.by_ref() {
                    if let Some(event) = self.decoder.decode(event.time_ns, event.bytes, &mut self.names) {
                        cpu.push(event);
                    }
                }
                self.missed = self.missed.saturating_add(page.is_damaged().into());
            }
            has_more |= !cpu.is_drained();
        }
        Ok(has_more)
    }
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
        if self.permutation.is_some() { format!("process-{}", index + 1) } else { name.to_owned() }
    }

    /// Makes times and positions relative, and reports whether the request is kept.
    #[inline]
    fn apply(&self, request: &mut TraceRequest) -> bool {
        let is_foreign = |process: &ProcessThreads| {
            process.are_members.get(usize::from(request.process)).is_none_or(|is_member| !is_member)
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
            notes.push("writeback and flushes are requests of threads of the kernel, not of the process".to_owned());
        }
        if self.permutation.is_some() {
            notes.push(
                "names are dropped; positions are scrambled in regions of 1 MiB by a key that is not kept".to_owned(),
            );
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_bounded() {
        assert_eq!(buffer_bytes(2), 16 << 20);
        assert_eq!(buffer_bytes(64), 4 << 20);
        assert_eq!(buffer_bytes(4096), 1 << 20);
    }
}

//! Requests out of the events of a tracefs instance.

use results::capture::CaptureSource;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use units::Problem;

use crate::clock::now_ns;
use crate::error;
use crate::event::{BIO_EVENTS, EventDecoder, EventName, REQUEST_EVENTS};
use crate::layout::PageLayout;
use crate::merge::{CpuEvents, merge};
use crate::names::ProcessNames;
use crate::page::RingPage;
use crate::pairing::{PairingCounts, RequestPairing};
use crate::source::{RequestBatch, RequestSource};
use crate::target::CaptureTarget;
use crate::tracefs::{InstanceSetup, TraceFs, TraceInstance, read_page};

/// Maximum time between readings of the buffers.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// Length of a page that is read. The kernel returns less if its pages are smaller.
const PAGE_BYTES: usize = 1 << 16;
/// Maximum number of pages that are read from a CPU at a time, and of events that wait for other CPUs.
const PAGES_MAX: usize = 256;
const EVENTS_MAX: usize = 1 << 17;
/// Age at which an event is certainly written, whichever CPU does so.
const SETTLED_NS: u64 = 10_000_000;
/// Memory of all kernel buffers, and limits of that of one CPU, in bytes.
const BUFFERS_BYTES: u64 = 256 << 20;
const BUFFER_BYTES: std::ops::RangeInclusive<u64> = 1 << 20..=16 << 20;

/// Events of a private instance, read and paired.
pub(crate) struct EventSource {
    events: Vec<EventName>,
    instance: Option<TraceInstance>,
    reader: PageReader,
    pairing: RequestPairing,
    start_ns: u64,
    lost: u64,
}

impl EventSource {
    /// Creates an instance and begins. `buffer_bytes` is the size of the buffer of each CPU.
    pub(crate) fn begin(target: &CaptureTarget, buffer_bytes: Option<u64>) -> Result<Self, Problem> {
        let fs = TraceFs::find()?;
        fs.remove_leftovers();
        let known = if target.takes_bios { BIO_EVENTS.as_slice() } else { REQUEST_EVENTS.as_slice() };
        let exists = |event: &&EventName| event.is_needed || fs.file(&format!("events/block/{}", event.name)).exists();
        let events: Vec<EventName> = known.iter().filter(exists).copied().collect();
        let format = |event: &EventName| Ok((*event, fs.read(&format!("events/block/{}/format", event.name))?));
        let formats = events.iter().map(format).collect::<Result<Vec<_>, Problem>>()?;
        let unknown = |problem: Problem| {
            let what = format!("events/block/{}", problem.what);
            error::host(what, "report this bug with the kernel release (uname -r)")
        };
        let decoder = EventDecoder::new(&formats).map_err(unknown)?;
        let layout = PageLayout::parse(&fs.read("events/header_page")?)
            .map_err(|problem| unknown(problem.of("../header_page")))?;
        let buffer_bytes = buffer_bytes.unwrap_or_else(|| default_buffer_bytes(cpus(&fs)));
        let setup = InstanceSetup { events: &events, filter: target.filter(), buffer_bytes };
        let instance = TraceInstance::create(&fs, &setup)?;
        let cpus = (0..instance.cpus()).map(|_| CpuEvents::default()).collect();
        let start_ns = now_ns();
        instance.start()?;
        let reader =
            PageReader { decoder, layout, cpus, names: ProcessNames::default(), page: vec![0; PAGE_BYTES], missed: 0 };
        Ok(Self { events, instance: Some(instance), reader, pairing: RequestPairing::default(), start_ns, lost: 0 })
    }

    /// Takes the events up to an instant.
    fn take(&mut self, batch: &mut RequestBatch, until_ns: u64) {
        let pairing = &mut self.pairing;
        let mut requests = std::mem::take(&mut batch.requests);
        merge(&mut self.reader.cpus, until_ns, |event| {
            if pairing.add(event, &mut requests) {
                batch.count(event.time_ns, &event.request);
            }
        });
        batch.requests = requests;
    }
}

impl RequestSource for EventSource {
    /// Waits until a buffer is filled to the watermark.
    fn wait(&self) {
        let Some(instance) = &self.instance else { return };
        let pipes = instance.pipes();
        let mut fds: Vec<PollFd<'_>> = pipes.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
        let _ = poll(&mut fds, Some(&WAIT));
    }

    /// Reads what the buffers have, and takes the requests of all events that are certain to be complete.
    fn read(&mut self, batch: &mut RequestBatch, until_ns: u64) -> Result<(), Problem> {
        loop {
            let Some(instance) = &self.instance else { return Ok(()) };
            let read_ns = now_ns();
            let has_more = self.reader.read_all(instance)?;
            self.take(batch, read_ns.saturating_sub(SETTLED_NS));
            if !has_more || read_ns >= until_ns {
                return Ok(());
            }
        }
    }

    fn names(&self) -> &ProcessNames {
        &self.reader.names
    }

    /// Pages and counters tell of the same events, so the greater number counts.
    fn lost(&mut self) -> Result<u64, Problem> {
        let counted = self.instance.as_ref().map_or(Ok(0), TraceInstance::lost)?;
        self.lost = self.lost.max(counted).max(self.reader.missed);
        Ok(self.lost)
    }

    fn finish(&mut self, batch: &mut RequestBatch) -> Result<(), Problem> {
        let Some(instance) = self.instance.take() else { return Ok(()) };
        // All events end at once: a completion without its issue would count as in flight at the start.
        instance.stop()?;
        instance.enable(&self.events, false)?;
        while self.reader.read_all(&instance)? {
            self.take(batch, u64::MAX);
        }
        self.take(batch, u64::MAX);
        self.lost = self.lost.max(instance.lost()?);
        instance.remove();
        self.pairing.finish(&mut batch.requests);
        Ok(())
    }

    fn counts(&self) -> PairingCounts {
        self.pairing.counts()
    }

    fn start_ns(&self) -> u64 {
        self.start_ns
    }

    fn kind(&self) -> CaptureSource {
        CaptureSource::Tracefs
    }
}

/// Returns the number of CPUs for which the kernel has buffers.
fn cpus(fs: &TraceFs) -> u64 {
    std::fs::read_dir(fs.file("per_cpu")).map_or(1, |cpus| cpus.count().max(1)) as u64
}

/// Returns the size of the buffer of one CPU: 16 MiB hold a second of 200,000 events per second.
fn default_buffer_bytes(cpus: u64) -> u64 {
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
    /// Reads the buffers of all CPUs. Returns whether some have more.
    fn read_all(&mut self, instance: &TraceInstance) -> Result<bool, Problem> {
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
                    .map_err(|error| error::tracefs("read", &instance.fs().file("trace_pipe_raw"), &error))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_bounded() {
        assert_eq!(default_buffer_bytes(2), 16 << 20);
        assert_eq!(default_buffer_bytes(64), 4 << 20);
        assert_eq!(default_buffer_bytes(4096), 1 << 20);
    }
}

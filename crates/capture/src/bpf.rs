//! Requests out of programs in the kernel: `bpf/requests.bpf.c`.
//!
//! The kernel calls them for the requests of all devices; they write one record for each completed request of this
//! device, so that the load loses less time than by events of tracefs (docs/capture.md). Some kernels leave out calls
//! of programs without counting them: a request whose completion was left out has no service time, and one whose issue
//! was left out counts as lost. The first shows when the tag is used again, the second when a request completes that is
//! younger than the capture. A second program at each tracepoint for calls within calls cost 2 to 5 % of the IOPS and
//! found nothing. The object has been compiled; offsets in structures of the kernel are found when it is loaded, in
//! `/sys/kernel/btf/vmlinux`.

use std::path::Path;

use aya::maps::{Array, MapData, RingBuf};
use aya::programs::BtfTracePoint;
use aya::{Btf, Ebpf, EbpfLoader};
use results::capture::CaptureSource;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{Timespec, nanosleep};
use trace::TraceRequest;
use units::Problem;

use crate::bpf_record::{RECORD_WORDS, RecordStatus, RequestRecord};
use crate::clock::now_ns;
use crate::error::{self, PERMISSION};
use crate::names::ProcessNames;
use crate::order::IssueOrder;
use crate::pairing::PairingCounts;
use crate::source::{RequestBatch, RequestSource};
use crate::target::{CaptureTarget, SECTOR_BYTES};

static OBJECT: &[u8] = aya::include_bytes_aligned!("../bpf/requests.bpf.o");

/// Time between readings of the buffer: it holds the records of more time at any rate of requests.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// Number of records after which the time is looked at.
const RECORDS_MAX: usize = 1 << 14;
/// Size of the buffer for each CPU, and limits of the whole buffer, in bytes. 16 MiB hold 230,000 requests.
const CPU_BYTES: u64 = 2 << 20;
const BUFFER_BYTES: std::ops::RangeInclusive<u64> = 16 << 20..=256 << 20;
/// Limits of the kernel for a buffer of a requested size, in bytes.
const ASKED_BYTES: std::ops::RangeInclusive<u64> = 1 << 16..=1 << 30;
/// Maximum number of requests that a device has in flight or in queues of its scheduler.
const SLOTS_MAX: u32 = 1 << 20;
/// Time in which programs that run end.
const SETTLED: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// Programs and their tracepoints.
const PROGRAMS: [(&str, &str); 5] = [
    ("block_rq_insert", "block_rq_insert"),
    ("block_rq_merge", "block_rq_merge"),
    ("block_rq_requeue", "block_rq_requeue"),
    ("block_rq_complete", "block_rq_complete"),
    ("block_rq_issue", "block_rq_issue"),
];

/// Records of programs in the kernel.
pub(crate) struct BpfSource {
    /// Keeps the programs loaded.
    _programs: Ebpf,
    records: RingBuf<MapData>,
    slots: Array<MapData, [u64; RECORD_WORDS]>,
    /// Lost records, issued requests, and those in queues.
    counters: Array<MapData, [u64; 3]>,
    /// Completions whose issue was missed.
    lost_issues: u64,
    is_recording: Array<MapData, u32>,
    names: ProcessNames,
    order: IssueOrder,
    counts: PairingCounts,
    start_ns: u64,
    /// Time at which the programs certainly recorded.
    recording_ns: u64,
}

impl BpfSource {
    /// Loads the programs and begins. `cpu_bytes` is the size of the buffer for each CPU.
    pub(crate) fn begin(target: &CaptureTarget, cpu_bytes: Option<u64>) -> Result<Self, Problem> {
        if target.takes_bios {
            let message = format!("BPF: {} does not queue requests itself", target.name);
            return Err(error::host(message, "capture it with --source tracefs"));
        }
        let (major, minor) = target.events_of;
        let queues = QueueSlots::of(Path::new("/"), target)?;
        // Kernels before 5.11 count the memory of maps as locked.
        let _ = setrlimit(Resource::Memlock, Rlimit { current: None, maximum: None });
        let btf = Btf::from_sys_fs().map_err(|error| failed("read the kernel's BTF types", &error))?;
        let (first_sector, end_sector) = target.sectors.unwrap_or((0, 0));
        let mut programs = EbpfLoader::new()
            .btf(Some(&btf))
            .set_global("device_major", &major, true)
            .set_global("device_minor", &minor, true)
            .set_global("queue_slots", &queues.slots, true)
            .set_global("first_sector", &first_sector, true)
            .set_global("end_sector", &end_sector, true)
            .set_max_entries("records", buffer_bytes(cpus(), cpu_bytes))
            .set_max_entries("slots", queues.slots * queues.queues)
            .load(OBJECT)
            .map_err(|error| failed("load", &error))?;
        for (name, tracepoint) in PROGRAMS {
            let program = programs.program_mut(name).ok_or_else(|| missing(name))?;
            let program: &mut BtfTracePoint = program.try_into().map_err(|error| failed(name, &error))?;
            program.load(tracepoint, &btf).map_err(|error| failed(name, &error))?;
            program.attach().map_err(|error| failed(name, &error))?;
        }
        let mut map = |name: &str| programs.take_map(name).ok_or_else(|| missing(name));
        let mut source = Self {
            records: map("records")?.try_into().map_err(|error| failed("records", &error))?,
            slots: map("slots")?.try_into().map_err(|error| failed("slots", &error))?,
            counters: map(".bss")?.try_into().map_err(|error| failed("counters", &error))?,
            is_recording: map(".data")?.try_into().map_err(|error| failed("state", &error))?,
            lost_issues: 0,
            _programs: programs,
            names: ProcessNames::default(),
            order: IssueOrder::default(),
            counts: PairingCounts::default(),
            start_ns: 0,
            recording_ns: 0,
        };
        source.start_ns = now_ns();
        source.record(true)?;
        source.recording_ns = now_ns();
        Ok(source)
    }

    fn record(&mut self, is_recording: bool) -> Result<(), Problem> {
        let state = u32::from(is_recording);
        self.is_recording.set(0, state, 0).map_err(|error| failed("set the state", &error))
    }

    #[inline]
    fn add(&mut self, record: &RequestRecord, now_ns: u64, batch: &mut RequestBatch) {
        match record.status() {
            RecordStatus::Finished => {
                self.counts.completed += 1;
                let request = record.completed(&mut self.names);
                self.add_completed(record, request, now_ns, batch);
            }
            RecordStatus::Requeued => {
                self.counts.requeued += 1;
                self.order.add(record.number, None, now_ns, &mut batch.requests);
            }
            RecordStatus::Unmatched => self.add_unmatched(record, batch),
            RecordStatus::Untimed => {
                self.counts.untimed += 1;
                let request = record.request(&mut self.names);
                self.add_completed(record, request, now_ns, batch);
            }
        }
    }

    #[inline]
    fn add_completed(&mut self, record: &RequestRecord, request: TraceRequest, now_ns: u64, batch: &mut RequestBatch) {
        self.counts.issued += 1;
        batch.count(record.key, &request);
        self.order.add(record.number, Some(request), now_ns, &mut batch.requests);
    }

    /// Adds a completion whose issue was not seen: one in flight at the start, or a request that waited for flushes. The
    /// flushes and its data had completions of their own.
    fn add_unmatched(&mut self, record: &RequestRecord, batch: &mut RequestBatch) {
        let operation = record.operation();
        if operation == trace::TraceOperation::Write && record.length == 0 {
            if record.sector != 0 {
                return;
            }
            self.counts.flush_waits += 1;
        } else if record.queued_at_ns > self.recording_ns && !record.has_failed() {
            // One that failed may never have been issued.
            self.lost_issues += 1;
        } else {
            self.counts.unmatched += 1;
        }
        let (offset, length) = (record.sector.saturating_mul(SECTOR_BYTES), record.length);
        batch.count(record.key, &TraceRequest { operation, offset, length, ..TraceRequest::default() });
    }

    /// Reads some records. Returns whether there may be more.
    fn read_some(&mut self, now_ns: u64, batch: &mut RequestBatch) -> bool {
        for _ in 0..RECORDS_MAX {
            let Some(record) = self.records.next().and_then(|bytes| RequestRecord::of_bytes(&bytes)) else {
                return false;
            };
            self.add(&record, now_ns, batch);
        }
        true
    }
}

impl RequestSource for BpfSource {
    fn wait(&self) {
        let _ = nanosleep(&WAIT);
    }

    fn read(&mut self, batch: &mut RequestBatch, until_ns: u64) -> Result<(), Problem> {
        loop {
            let now_ns = now_ns();
            if !self.read_some(now_ns, batch) || now_ns >= until_ns {
                return Ok(());
            }
        }
    }

    fn names(&self) -> &ProcessNames {
        &self.names
    }

    fn lost(&mut self) -> Result<u64, Problem> {
        let [lost, ..] = self.counters.get(&0, 0).map_err(|error| failed("read the counters", &error))?;
        Ok(self.lost_issues + lost)
    }

    fn finish(&mut self, batch: &mut RequestBatch) -> Result<(), Problem> {
        let end_ns = now_ns();
        self.record(false)?;
        let _ = nanosleep(&SETTLED);
        self.read(batch, u64::MAX)?;
        let now_ns = now_ns();
        for words in self.slots.iter() {
            let record = RequestRecord::new(words.map_err(|error| failed("read the requests in flight", &error))?);
            if record.key != 0 {
                self.counts.issued += 1;
                let request = record.request(&mut self.names);
                // Its completion may have been missed, so the counters may have it.
                batch.count(end_ns, &request);
                self.order.add(record.number, Some(request), now_ns, &mut batch.requests);
            }
        }
        self.order.finish(&mut batch.requests);
        Ok(())
    }

    fn counts(&self) -> PairingCounts {
        self.counts
    }

    fn start_ns(&self) -> u64 {
        self.start_ns
    }

    fn kind(&self) -> CaptureSource {
        CaptureSource::Bpf
    }
}

/// Sizes of the queues of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct QueueSlots {
    queues: u32,
    /// Number of requests that a hardware queue and its scheduler may have.
    slots: u32,
}

impl QueueSlots {
    fn of(root: &Path, target: &CaptureTarget) -> Result<Self, Problem> {
        let (major, minor) = target.events_of;
        let device = format!("sys/dev/block/{major}:{minor}");
        let number = |path: String| probe::reading::line(root, &path).ok()?.trim().parse::<u32>().ok();
        let names = probe::reading::names(root, &format!("{device}/mq")).unwrap_or_default();
        let queues: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
        let tags = queues.iter().filter_map(|queue| number(format!("{device}/mq/{queue}/nr_tags"))).max();
        let scheduler = number(format!("{device}/queue/nr_requests"));
        let slots = tags.max(scheduler).filter(|slots| *slots > 0);
        let count = queues.iter().max().map(|last| last.saturating_add(1));
        let found = count.zip(slots).map(|(queues, slots)| Self { queues, slots });
        found.filter(|found| found.queues.checked_mul(found.slots).is_some_and(|all| all <= SLOTS_MAX)).ok_or_else(
            || {
                let message = format!("BPF: {} has {count:?} queues of {slots:?} requests", target.name);
                error::host(message, "capture it with --source tracefs")
            },
        )
    }
}

fn cpus() -> u64 {
    std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64)
}

/// Returns the size of the whole buffer, a power of two.
fn buffer_bytes(cpus: u64, cpu_bytes: Option<u64>) -> u32 {
    let limits = if cpu_bytes.is_some() { ASKED_BYTES } else { BUFFER_BYTES };
    let bytes = cpus.saturating_mul(cpu_bytes.unwrap_or(CPU_BYTES)).min(*limits.end());
    bytes.next_power_of_two().clamp(*limits.start(), *limits.end()) as u32
}

fn failed(what: &str, error: &dyn std::error::Error) -> Problem {
    let mut message = format!("BPF: {what}: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        message.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    let is_denied = message.contains("os error 1)") || message.contains("os error 13)");
    error::host(message, if is_denied { PERMISSION } else { "capture with --source tracefs" })
}

fn missing(name: &str) -> Problem {
    error::host(format!("BPF: the object has no {name}"), "report this bug; capture with --source tracefs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_powers_of_two_within_limits() {
        assert_eq!(buffer_bytes(2, None), 16 << 20);
        assert_eq!(buffer_bytes(48, None), 128 << 20);
        assert_eq!(buffer_bytes(4096, None), 256 << 20);
        assert_eq!(buffer_bytes(2, Some(1 << 20)), 2 << 20);
        assert_eq!(buffer_bytes(3, Some(16 << 20)), 64 << 20);
        assert_eq!(buffer_bytes(1, Some(1)), 1 << 16);
        assert_eq!(buffer_bytes(2, Some(u64::MAX)), 1 << 30);
    }
}

//! Result of a capture: what was recorded of a live device.

mod sample;

use serde_json::{Map, Value, json};
use trace::{PerOperation, TraceDistribution, TraceProfile, TraceTotals};
use units::{Bytes, Nanos, count, grouped, percent, significant};

use crate::{Sheet, SheetStyle, Tone};

pub use sample::{IntervalRates, SampleFile, SampleProgress, SampleReport, SampledKind};

/// What was captured.
#[derive(Clone, Debug, Default)]
pub struct CaptureReport {
    /// What the user named.
    pub asked: String,
    pub device: String,
    /// Its size in bytes.
    pub device_bytes: u64,
    /// Whether bios were captured, because the device has no requests of its own.
    pub takes_bios: bool,
    /// Where the requests came from.
    pub source: CaptureSource,
    /// Process to which the capture was restricted.
    pub process: Option<u32>,
    /// What the user should know, a sentence each.
    pub notes: Vec<String>,
    /// Duration in nanoseconds.
    pub duration_ns: u64,
    /// Why it ended, such as `after the requested time`.
    pub ended: &'static str,
    /// What kind of load it is.
    pub profile: TraceProfile,
    /// Names of processes.
    pub processes: Vec<String>,
    /// Number of events that the kernel could not record: as many requests may be missing or incomplete.
    pub lost_events: u64,
    /// Requests that were completed, and when was not seen.
    pub untimed: u64,
    /// Requests that were in flight when the capture began; they are not recorded.
    pub in_flight_at_start: u64,
    /// Requests that the driver gave back and that were issued again.
    pub requeued: u64,
    /// Calls that waited for a flush of the device; several may wait for one. The kernel counts each as a write.
    pub flush_waits: u64,
    /// Comparison with the counters of the kernel; empty if there is none.
    pub counters: Vec<CounterComparison>,
    /// The file, if one was written.
    pub file: Option<CaptureFile>,
}

/// Where captured requests come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaptureSource {
    /// Programs in the kernel.
    #[default]
    Bpf,
    /// Events of tracefs.
    Tracefs,
}

impl CaptureSource {
    /// Returns the word of the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bpf => "bpf",
            Self::Tracefs => "tracefs",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureFile {
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    pub requests: u64,
}

/// Completed requests as the kernel counts them and as they were captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterComparison {
    /// Name of the operation, in the plural.
    pub name: &'static str,
    /// Increase of the kernel's counter.
    pub counted: u64,
    /// Number of captured completions: without and with those that happened while the counters were read.
    pub captured: [u64; 2],
}

impl CounterComparison {
    /// Reports whether the numbers agree.
    #[must_use]
    pub fn agrees(&self) -> bool {
        (self.captured[0]..=self.captured[1]).contains(&self.counted)
    }
}

impl CaptureReport {
    /// Reports whether all requests were recorded, as far as events and counters show.
    #[must_use]
    pub fn is_trustworthy(&self) -> bool {
        self.lost_events == 0 && self.counters.iter().all(CounterComparison::agrees)
    }

    /// Returns how many recorded requests were not completed.
    #[must_use]
    pub fn in_flight_at_end(&self) -> u64 {
        self.profile.totals.incomplete_requests.saturating_sub(self.untimed)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CaptureProgress {
    /// Time since the start, in nanoseconds.
    pub elapsed_ns: u64,
    /// Time to the end, in nanoseconds; `None` if it is unknown.
    pub remaining_ns: Option<u64>,
    /// Number of requests so far.
    pub requests: u64,
    /// Requests per second in the last interval.
    pub iops: f64,
    /// Bytes per second in the last interval.
    pub bytes_per_second: f64,
    pub lost_events: u64,
}

impl CaptureProgress {
    /// Returns the progress line: `24.1k IOPS  94.1 MiB/s  160,000 requests  0 lost  0:13 left`.
    #[must_use]
    pub fn line(&self) -> String {
        let time = match self.remaining_ns {
            Some(remaining) => format!("{} left", crate::progress::clock(units::Nanos::new(remaining))),
            None => format!("{} so far", crate::progress::clock(units::Nanos::new(self.elapsed_ns))),
        };
        format!(
            "{} IOPS  {}/s  {} requests  {} lost  {time}",
            units::count(self.iops),
            units::Bytes::new(self.bytes_per_second as u64),
            units::grouped(self.requests),
            units::grouped(self.lost_events)
        )
    }
}

/// Version of the document.
const VERSION: u32 = 1;

impl CaptureReport {
    /// Returns the result as JSON: keys end with their units.
    #[must_use]
    pub fn json(&self) -> String {
        let totals = &self.profile.totals;
        let comparison = |one: &CounterComparison| {
            json!({ "operation": one.name, "counted": one.counted, "captured_min": one.captured[0],
                "captured_max": one.captured[1], "agrees": one.agrees() })
        };
        let processes = self.profile.processes.iter().map(|process| {
            json!({ "name": self.processes.get(usize::from(process.process)),
                "requests": process.requests.total(), "bytes": process.bytes.total() })
        });
        let depth = self.profile.depth.map(|depth| {
            json!({ "mean": depth.depth.map(|depth| depth.mean), "at_issue": distribution(&depth.depth_at_issue),
                "busy_fraction": depth.busy_time_fraction })
        });
        let document = json!({
            "fathom_capture": VERSION,
            "asked": self.asked,
            "device": self.device,
            "device_bytes": self.device_bytes,
            "events": if self.takes_bios { "bios" } else { "requests" },
            "source": self.source.name(),
            "process": self.process,
            "notes": self.notes,
            "duration_ns": self.duration_ns,
            "ended": self.ended,
            "requests": totals.requests.total(),
            "operations": operations(self),
            "sync_requests": totals.sync_requests,
            "meta_requests": totals.meta_requests,
            "fua_requests": totals.fua_requests,
            "preflush_requests": totals.preflush_requests,
            "readahead_requests": totals.readahead_requests,
            "failed_requests": totals.failed_requests,
            "in_flight_at_start": self.in_flight_at_start,
            "in_flight_at_end": self.in_flight_at_end(),
            "untimed_requests": self.untimed,
            "flush_waits": self.flush_waits,
            "requeued": self.requeued,
            "queue_depth": depth,
            "processes": processes.collect::<Vec<_>>(),
            "lost_events": self.lost_events,
            "kernel_counters": self.counters.iter().map(comparison).collect::<Vec<_>>(),
            "is_trustworthy": self.is_trustworthy(),
            "file": self.file.as_ref().map(|file| {
                json!({ "path": file.path, "bytes": file.bytes, "requests": file.requests })
            }),
        });
        format!("{document:#}\n")
    }
}

fn operations(report: &CaptureReport) -> Value {
    let names = ["read", "write", "flush", "discard", "write_zeroes", "other"];
    let totals = &report.profile.totals;
    let (requests, bytes) = (totals.requests.all(), totals.bytes.all());
    let service: &PerOperation<Option<TraceDistribution>> = &report.profile.service_ns;
    let (service, queued, sizes) = (service.all(), report.profile.queued_ns.all(), report.profile.sizes.all());
    let mut all = Map::new();
    for (index, name) in names.into_iter().enumerate().filter(|(index, _)| *requests[*index] > 0) {
        let frequent: Vec<Value> = sizes[index]
            .frequent
            .iter()
            .map(|size| json!({ "bytes": size.bytes, "requests": size.requests }))
            .collect();
        let value = json!({
            "requests": requests[index],
            "bytes": bytes[index],
            "service_ns": service[index].as_ref().map(distribution),
            "queued_ns": queued[index].as_ref().map(distribution),
            "frequent_sizes": frequent,
        });
        all.insert(name.to_owned(), value);
    }
    all.into()
}

fn distribution(of: &TraceDistribution) -> Value {
    json!({ "min": of.min, "mean": of.mean, "p50": of.p50, "p90": of.p90, "p99": of.p99, "p99_9": of.p99_9, "max": of.max })
}

/// Column of the values.
const INDENT: usize = 17;
/// Number of processes in the text.
const PROCESSES: usize = 4;

/// Number and bytes of the requests of one operation.
struct Row {
    name: &'static str,
    requests: u64,
    bytes: u64,
    service: Option<TraceDistribution>,
}

impl CaptureReport {
    /// Returns the result as text: what was captured, the load, and whether it is complete.
    #[must_use]
    pub fn text(&self, style: SheetStyle) -> String {
        let mut sheet = Sheet::new(style.readable(), INDENT);
        let total = self.profile.totals.requests.total();
        let what = match (self.takes_bios, total) {
            (true, 1) => "bio",
            (true, _) => "bios",
            (false, 1) => "request",
            (false, _) => "requests",
        };
        let whose = self.process.map_or_else(String::new, |id| format!(" of process {id}"));
        let lead = format!("{} {what}{whose}", grouped(total));
        let duration = Nanos::new(self.duration_ns);
        let rest = format!(" of {} ({}) in {duration}", self.device, Bytes::new(self.device_bytes));
        let ended = format!("ended {}", self.ended);
        let lead = sheet.strong(&lead);
        sheet.line(&format!("{lead}{rest}; {ended}"));
        self.notes.iter().for_each(|note| sheet.aside(2, note));
        if total > 0 {
            sheet.gap();
            self.load(&mut sheet);
        }
        sheet.gap();
        self.completeness(&mut sheet);
        if let Some(file) = &self.file {
            sheet.field("file", &file_text(file));
            sheet.gap();
            sheet.line(&format!("Next: fathom trace {}", file.path));
        }
        sheet.finish()
    }

    fn load(&self, sheet: &mut Sheet) {
        let secs = (self.duration_ns as f64 / 1e9).max(1e-9);
        sheet.line(&format!(
            "{:<13}{:>12}{:>11}{:>12}{:>11}{:>11}{:>11}",
            "", "requests", "IOPS", "per second", "mean size", "p50", "p99"
        ));
        for row in self.rows() {
            let time = |pick: fn(&TraceDistribution) -> u64| {
                row.service.as_ref().map_or("-".to_owned(), |service| Nanos::new(pick(service)).to_string())
            };
            sheet.line(&format!(
                "{:<13}{:>12}{:>11}{:>12}{:>11}{:>11}{:>11}",
                row.name,
                grouped(row.requests),
                count(row.requests as f64 / secs),
                Bytes::new((row.bytes as f64 / secs) as u64).to_string(),
                Bytes::new(row.bytes / row.requests.max(1)).to_string(),
                time(|service| service.p50),
                time(|service| service.p99)
            ));
        }
        sheet.gap();
        if let Some(depth) = &self.profile.depth {
            let mean = depth.depth.map_or(0.0, |depth| depth.mean);
            let busy = percent(depth.busy_time_fraction);
            let (p99, max) = (depth.depth_at_issue.p99, depth.depth_at_issue.max);
            let text =
                format!("{} on average, p99 {p99}, maximum {max}; busy {busy} of the time", significant(mean, 3));
            sheet.field("queue depth", &text);
        }
        sheet.field("flags", &flags(&self.profile.totals));
        let total = self.profile.totals.requests.total().max(1);
        let of_process = |process: &trace::ProcessProfile| {
            let name = self.processes.get(usize::from(process.process)).map_or("unknown", String::as_str);
            format!("{name} {}", percent(process.requests.total() as f64 / total as f64))
        };
        let mut processes: Vec<String> = self.profile.processes.iter().take(PROCESSES).map(of_process).collect();
        if self.profile.processes.len() > PROCESSES {
            processes.push(format!("{} others", self.profile.processes.len() - PROCESSES));
        }
        sheet.field("processes", &processes.join(", "));
    }

    fn rows(&self) -> Vec<Row> {
        let names = ["read", "write", "flush", "discard", "write zeroes", "other"];
        let TraceTotals { requests, bytes, .. } = &self.profile.totals;
        let service = self.profile.service_ns.all();
        let counts = requests.all().into_iter().zip(bytes.all()).zip(service).zip(names);
        let rows = counts.map(|(((requests, bytes), service), name)| Row {
            name,
            requests: *requests,
            bytes: *bytes,
            service: *service,
        });
        rows.filter(|row| row.requests > 0).collect()
    }

    fn completeness(&self, sheet: &mut Sheet) {
        match self.lost_events {
            0 => sheet.field("lost", "0 events"),
            lost => {
                let text = format!(
                    "{} events: as many requests may be missing or have no service time; \
                     give the kernel larger buffers (--buffer) or this program more processor time",
                    grouped(lost)
                );
                sheet.toned_field("lost", &text, Some(Tone::Bad));
            }
        }
        if !self.counters.is_empty() {
            let agrees = self.counters.iter().all(CounterComparison::agrees);
            let tone = (!agrees).then_some(Tone::Bad);
            sheet.toned_field("kernel counts", &counters_text(&self.counters), tone);
        }
        let totals = &self.profile.totals;
        let mut edges = Vec::new();
        let mut add = |number: u64, what: &str| {
            if number > 0 {
                edges.push(format!("{} {what}", grouped(number)));
            }
        };
        add(self.in_flight_at_start, "in flight at the start (not recorded)");
        add(self.in_flight_at_end(), "in flight at the end (recorded without service time)");
        add(self.untimed, "completed unseen (recorded without service time; --source tracefs sees them)");
        add(self.flush_waits, "calls waited for a flush (the kernel counts each as a write)");
        add(self.requeued, "issued again after the driver gave them back");
        add(totals.failed_requests, "failed");
        if !edges.is_empty() {
            sheet.field("requests", &edges.join(", "));
        }
    }
}

fn flags(totals: &TraceTotals) -> String {
    let all = totals.requests.total().max(1) as f64;
    let parts = [
        ("sync", totals.sync_requests),
        ("metadata", totals.meta_requests),
        ("FUA", totals.fua_requests),
        ("flush first", totals.preflush_requests),
        ("read ahead", totals.readahead_requests),
    ];
    let used = parts.iter().filter(|(_, number)| *number > 0);
    let texts: Vec<String> = used.map(|(name, number)| format!("{name} {}", percent(*number as f64 / all))).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}

fn file_text(file: &CaptureFile) -> String {
    let each = file.bytes as f64 / file.requests.max(1) as f64;
    let requests = grouped(file.requests);
    format!("{}, {} for {requests} requests, {} bytes each", file.path, Bytes::new(file.bytes), significant(each, 3))
}

/// Returns the comparison, such as `agree: 1,000 reads, 20 writes`.
fn counters_text(counters: &[CounterComparison]) -> String {
    let differing: Vec<String> = counters
        .iter()
        .filter(|comparison| !comparison.agrees())
        .map(|CounterComparison { name, counted, captured: [least, most] }| {
            let captured =
                if least == most { grouped(*least) } else { format!("{} to {}", grouped(*least), grouped(*most)) };
            format!("{name}: {} counted, {captured} captured", grouped(*counted))
        })
        .collect();
    if !differing.is_empty() {
        return format!("differ: {}", differing.join("; "));
    }
    let used = counters.iter().filter(|comparison| comparison.counted > 0);
    let texts: Vec<String> = used.map(|used| format!("{} {}", grouped(used.counted), used.name)).collect();
    if texts.is_empty() { "agree: no requests".to_owned() } else { format!("agree: {}", texts.join(", ")) }
}

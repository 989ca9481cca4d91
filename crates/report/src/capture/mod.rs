//! Result of a capture: what was recorded of a live device.

mod sample;

use results::answer::{Action, Answer, Outcome};
use results::capture::{CaptureFile, CaptureProgress, CaptureResult, CounterComparison};
pub use sample::{progress_line as sample_progress_line, text as sample_text};
use trace::{TraceDistribution, TraceTotals};
use units::{Bytes, Nanos, count, counted, grouped, percent, significant};

use crate::answer::AnswerText;
use crate::{Sheet, SheetStyle, Tone};

/// Returns the progress line: `24.1k IOPS  94.1 MiB/s  160,000 requests  0 lost  0:13 left`.
#[must_use]
pub fn progress_line(progress: &CaptureProgress) -> String {
    let time = match progress.remaining_ns {
        Some(remaining) => format!("{} left", crate::progress::clock(units::Nanos::new(remaining))),
        None => format!("{} so far", crate::progress::clock(units::Nanos::new(progress.elapsed_ns))),
    };
    format!(
        "{} IOPS  {}/s  {} requests  {} lost  {time}",
        units::count(progress.iops),
        units::Bytes::new(progress.bytes_per_second as u64),
        units::grouped(progress.requests),
        units::grouped(progress.lost_events)
    )
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

/// Returns the result as text: what was captured, the load, and whether it is complete.
#[must_use]
pub fn text(captured: &CaptureResult, style: SheetStyle) -> String {
    let mut sheet = Sheet::new(style.readable(), INDENT);
    let total = captured.profile.totals.requests.total();
    let what = match (captured.takes_bios, total) {
        (true, 1) => "bio",
        (true, _) => "bios",
        (false, 1) => "request",
        (false, _) => "requests",
    };
    answer(captured, what).write(&mut sheet);
    if total > 0 {
        sheet.gap();
        load(captured, &mut sheet);
    }
    sheet.gap();
    completeness(captured, &mut sheet);
    if let Some(file) = &captured.file {
        sheet.field("file", &file_text(file));
    }
    sheet.finish()
}

/// Says what was captured, and whether it is complete.
fn answer(captured: &CaptureResult, what: &str) -> Answer {
    let total = captured.profile.totals.requests.total();
    let secs = (captured.duration_ns as f64 / 1e9).max(1e-9);
    let whose = captured.process.map_or_else(String::new, |id| format!(" of process {id}"));
    let bytes = Bytes::new((captured.profile.totals.bytes.total() as f64 / secs) as u64);
    let agrees = captured.counters.iter().all(|comparison| comparison.agrees);
    let (outcome, complete) = match (captured.lost_events, agrees) {
        (0, true) if captured.counters.is_empty() => (Outcome::Good, "complete".to_owned()),
        (0, true) => (Outcome::Good, "complete: the kernel's counters agree".to_owned()),
        (0, false) => (Outcome::Unknown, "the kernel's counters differ".to_owned()),
        (lost, _) => (Outcome::Bad, format!("incomplete: {} lost", counted(lost, "event"))),
    };
    let verdict = format!(
        "Captured {} {what}{whose} of {} in {}, {} IOPS and {bytes}/s; {complete}.",
        grouped(total),
        captured.device,
        Nanos::new(captured.duration_ns),
        count(total as f64 / secs)
    );
    let lost = (captured.lost_events > 0).then(|| {
        Action::from("Capture again with larger kernel buffers (--buffer) or on a less busy host.".to_owned())
    });
    let next = captured.file.as_ref().map(|file| Action {
        what: "Describe the load:".to_owned(),
        command: Some(format!("fathom trace {}", crate::escape::shell(&file.path))),
    });
    let device = format!("{} of {}, ended {}", captured.device, Bytes::new(captured.device_bytes), captured.ended);
    let basis = std::iter::once(device).chain(captured.notes.iter().cloned()).collect();
    Answer { outcome, verdict, actions: lost.into_iter().chain(next).collect(), basis }
}

fn load(captured: &CaptureResult, sheet: &mut Sheet) {
    let secs = (captured.duration_ns as f64 / 1e9).max(1e-9);
    sheet.line(&format!(
        "{:<13}{:>12}{:>11}{:>12}{:>11}{:>11}{:>11}",
        "", "requests", "IOPS", "per second", "mean size", "p50", "p99"
    ));
    for row in rows(captured) {
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
    if let Some(depth) = &captured.profile.depth {
        let mean = depth.depth.map_or(0.0, |depth| depth.mean);
        let busy = percent(depth.busy_time_fraction);
        let (p99, max) = (depth.depth_at_issue.p99, depth.depth_at_issue.max);
        let text = format!("{} on average, p99 {p99}, maximum {max}; busy {busy} of the time", significant(mean, 3));
        sheet.field("queue depth", &text);
    }
    sheet.field("flags", &flags(&captured.profile.totals));
    let total = captured.profile.totals.requests.total().max(1);
    let of_process = |process: &trace::ProcessProfile| {
        let name = captured.processes.get(usize::from(process.process)).map_or("unknown", String::as_str);
        format!("{name} {}", percent(process.requests.total() as f64 / total as f64))
    };
    let mut processes: Vec<String> = captured.profile.processes.iter().take(PROCESSES).map(of_process).collect();
    if captured.profile.processes.len() > PROCESSES {
        processes.push(format!("{} others", captured.profile.processes.len() - PROCESSES));
    }
    sheet.field("processes", &processes.join(", "));
}

fn rows(captured: &CaptureResult) -> Vec<Row> {
    let names = ["read", "write", "flush", "discard", "write zeroes", "other"];
    let TraceTotals { requests, bytes, .. } = &captured.profile.totals;
    let service = captured.profile.service_ns.all();
    let counts = requests.all().into_iter().zip(bytes.all()).zip(service).zip(names);
    let rows = counts.map(|(((requests, bytes), service), name)| Row {
        name,
        requests: *requests,
        bytes: *bytes,
        service: *service,
    });
    rows.filter(|row| row.requests > 0).collect()
}

fn completeness(captured: &CaptureResult, sheet: &mut Sheet) {
    match captured.lost_events {
        0 => sheet.field("lost", "0 events"),
        lost => {
            let text = format!(
                "{}: as many requests may be missing or lack a service time; use larger kernel buffers (--buffer) or a \
                 less busy host",
                counted(lost, "event")
            );
            sheet.toned_field("lost", &text, Some(Tone::Bad));
        }
    }
    if !captured.counters.is_empty() {
        let agrees = captured.counters.iter().all(|comparison| comparison.agrees);
        let tone = (!agrees).then_some(Tone::Bad);
        sheet.toned_field("kernel counts", &counters_text(&captured.counters), tone);
    }
    let totals = &captured.profile.totals;
    let mut edges = Vec::new();
    let mut add = |number: u64, what: &str| {
        if number > 0 {
            edges.push(format!("{} {what}", grouped(number)));
        }
    };
    add(captured.in_flight_at_start, "in flight at the start (not recorded)");
    add(captured.in_flight_at_end(), "in flight at the end (recorded without service time)");
    add(captured.untimed, "completed unseen (recorded without service time; --source tracefs sees them)");
    add(captured.flush_waits, "calls that waited for a flush (the kernel counts each as a write)");
    add(captured.requeued, "requeued by the driver");
    add(totals.failed_requests, "failed");
    if !edges.is_empty() {
        sheet.field("requests", &edges.join(", "));
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
        .filter(|comparison| !comparison.agrees)
        .map(|CounterComparison { name, counted, captured_min: least, captured_max: most, .. }| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_events_are_followed_by_what_to_do() {
        let captured = CaptureResult { lost_events: 3, ..CaptureResult::default() };
        let text = text(&captured, SheetStyle { width: 80, ..SheetStyle::default() });
        assert!(text.contains("larger kernel buffers (--buffer)"), "{text}");
    }
}

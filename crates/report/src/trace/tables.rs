//! Tables of a trace's figures, for text, Markdown and pages.

use trace::{PerOperation, ProcessProfile, RunProfile, TraceDistribution, TraceOperation, TraceProfile, WindowProfile};
use units::{Bytes, Nanos, count, percent, significant};

use trace::TraceStudy;

/// Most processes and devices in a table.
const ROWS_MAX: usize = 12;

/// A table of words on the left and figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceTable {
    /// Name of what the rows are.
    pub(crate) name: &'static str,
    /// What the figures are.
    pub(crate) note: &'static str,
    pub(crate) head: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// Returns the tables of the load that have rows.
pub(super) fn load_tables(report: &TraceStudy) -> Vec<TraceTable> {
    let all = [
        operations(report),
        windows(report),
        service(report),
        working_sets(&report.profile),
        caches(&report.profile),
        processes(report),
        devices(report),
    ];
    all.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn size(bytes: f64) -> String {
    // Estimates have no more than three digits.
    Bytes::new(bytes.max(0.0).round() as u64).to_string()
}

fn or_dash(value: Option<String>) -> String {
    value.unwrap_or_else(|| "-".to_owned())
}

/// Returns a number per second.
fn rate(report: &TraceStudy, number: u64) -> String {
    or_dash(report.per_second(number).map(count))
}

/// Returns bytes per second.
fn throughput(report: &TraceStudy, bytes: u64) -> String {
    or_dash(report.per_second(bytes).map(|rate| format!("{}/s", size(rate))))
}

fn operations(report: &TraceStudy) -> TraceTable {
    let profile = &report.profile;
    let totals = &profile.totals;
    let row = |(operation, name): (TraceOperation, &str)| {
        let (requests, bytes) = (*totals.requests.get(operation), *totals.bytes.get(operation));
        let sizes = profile.sizes.get(operation);
        let runs: Option<&RunProfile> = match operation {
            TraceOperation::Read => Some(&profile.sequential.reads),
            TraceOperation::Write => Some(&profile.sequential.writes),
            _ => None,
        };
        let with_data = |text: String| if bytes == 0 { "-".to_owned() } else { text };
        vec![
            name.to_owned(),
            count(requests as f64),
            percent(requests as f64 / totals.requests.total().max(1) as f64),
            rate(report, requests),
            with_data(throughput(report, bytes)),
            with_data(size(bytes as f64 / requests.max(1) as f64)),
            with_data(or_dash(sizes.quantile(0.5).map(|bytes| size(bytes as f64)))),
            with_data(or_dash(runs.map(|runs| percent(runs.continuing_fraction())))),
        ]
    };
    TraceTable {
        name: "Operations",
        note: "Sequential requests start where an earlier one of their kind ended.",
        head: vec!["operation", "requests", "share", "IOPS", "throughput", "mean size", "p50 size", "sequential"],
        rows: report.operations().map(row).collect(),
    }
}

fn windows(report: &TraceStudy) -> TraceTable {
    // Narrower windows show how the format rounds times.
    let resolution_ns = report.condition.format.resolution_ns();
    let windows = report.profile.arrivals.windows.iter().filter(|window| window.width_ns >= resolution_ns);
    let row = |window: &WindowProfile| {
        let seconds = window.width_ns as f64 / 1e9;
        vec![
            Nanos::new(window.width_ns).to_string().replace(".00 ", " ").replace(".0 ", " "),
            count(window.requests_max as f64 / seconds),
            significant(window.peak_to_mean, 3),
            format!("{}/s", size(window.bytes_max as f64 / seconds)),
            or_dash(window.index_of_dispersion.map(count)),
        ]
    };
    TraceTable {
        name: "Peaks",
        note: "The busiest window of each width. Dispersion is variance over mean of counts: 1 for random arrivals.",
        head: vec!["peaks in", "IOPS", "peak/mean", "throughput", "dispersion"],
        rows: windows.map(row).collect(),
    }
}

fn service(report: &TraceStudy) -> TraceTable {
    let profile = &report.profile;
    let time = |ns: u64| Nanos::new(ns).to_string();
    let row = |name: String, times: &TraceDistribution| {
        let mean = Nanos::new(times.mean.round() as u64).to_string();
        let parts = [times.p50, times.p90, times.p99, times.p99_9, times.max].map(time);
        [name, mean].into_iter().chain(parts).collect()
    };
    let of = |kinds: &PerOperation<Option<TraceDistribution>>, what: &str| {
        let rows = report.operations().filter_map(|(operation, name)| {
            kinds.get(operation).as_ref().map(|times| row(format!("{name}{what}"), times))
        });
        rows.collect::<Vec<Vec<String>>>()
    };
    let mut rows = of(&profile.service_ns, "");
    rows.extend(of(&profile.queued_ns, ", queued"));
    TraceTable {
        name: "Latency",
        note: "From issue to completion; queued is the time in the scheduler before that.",
        head: vec!["latency", "mean", "p50", "p90", "p99", "p99.9", "max"],
        rows,
    }
}

fn working_sets(profile: &TraceProfile) -> TraceTable {
    let windows = profile.reuse.iter().flat_map(|reuse| &reuse.windows);
    let rows = windows.map(|window| {
        let width = Nanos::new(window.width_ns).to_string().replace(".00 ", " ").replace(".0 ", " ");
        let sizes = [
            window.bytes_mean,
            window.bytes_max,
            window.read_bytes_mean,
            window.read_bytes_max,
            window.written_bytes_mean,
            window.written_bytes_max,
        ];
        std::iter::once(width).chain(sizes.map(size)).collect()
    });
    let mut rows: Vec<Vec<String>> = rows.collect();
    rows.extend(profile.reuse.iter().map(|reuse| {
        let sizes = [reuse.footprint_bytes, reuse.read_footprint_bytes, reuse.written_footprint_bytes];
        let pairs = sizes.into_iter().flat_map(|bytes| [size(bytes), String::new()]);
        std::iter::once("whole trace".to_owned()).chain(pairs).collect()
    }));
    TraceTable {
        name: "Working set",
        note: "Blocks of 4 KiB used within a window: mean and maximum over all windows.",
        head: vec!["used within", "blocks", "max", "read", "max", "written", "max"],
        rows,
    }
}

fn caches(profile: &TraceProfile) -> TraceTable {
    let points = profile.reuse.iter().flat_map(|reuse| &reuse.miss_ratios);
    // From 1 MiB, each fourth size, and the one that has everything.
    let points: Vec<_> = points.filter(|point| point.cache_bytes.is_power_of_two()).collect();
    let chosen = points.iter().rev().step_by(2).take(6).rev();
    let row = |point: &&trace::MissRatioPoint| {
        vec![size(point.cache_bytes as f64), percent(point.miss_ratio), percent(point.read_miss_ratio)]
    };
    TraceTable {
        name: "Cache",
        note: "Misses of an LRU cache filled by reads and writes; first accesses always miss.",
        head: vec!["cache size", "misses", "reads that miss"],
        rows: chosen.map(row).collect(),
    }
}

fn processes(report: &TraceStudy) -> TraceTable {
    let profile = &report.profile;
    let has_names = report.condition.info.processes.iter().any(|name| !name.is_empty());
    let shown = if profile.processes.len() > 1 || has_names { profile.processes.as_slice() } else { &[] };
    let row = |process: &ProcessProfile| {
        let requests = process.requests.total();
        vec![
            report.process_name(process.process),
            rate(report, requests),
            percent(process.requests.read as f64 / requests.max(1) as f64),
            size(process.bytes.total() as f64 / requests.max(1) as f64),
            percent(process.sync_requests as f64 / requests.max(1) as f64),
            or_dash(process.depth_mean.map(|depth| significant(depth, 2))),
            or_dash(process.think_ns_mean.map(|ns| Nanos::new(ns.round() as u64).to_string())),
            or_dash(process.closed_loop_score.map(|score| format!("{score:.2}"))),
        ]
    };
    let mut rows: Vec<Vec<String>> = shown.iter().take(ROWS_MAX).map(row).collect();
    if let Some(others) = shown.get(ROWS_MAX..).filter(|others| !others.is_empty()) {
        let sum: u64 = others.iter().map(|process| process.requests.total()).sum();
        let name = format!("{} others", others.len());
        let mut last = vec![name, rate(report, sum)];
        last.resize(8, "-".to_owned());
        rows.push(last);
    }
    TraceTable {
        name: "Processes",
        note: "Think time is from a process's last completion to its next issue; loop is 1 if it waits for \
               completions, 0 if not.",
        head: vec!["process", "IOPS", "reads", "mean size", "sync", "in flight", "think time", "loop"],
        rows,
    }
}

fn devices(report: &TraceStudy) -> TraceTable {
    let profile = &report.profile;
    let row = |device: &trace::DeviceProfile| {
        let known = report.condition.info.devices.get(usize::from(device.device)).and_then(|(_, bytes)| *bytes);
        vec![
            report.device_name(device.device),
            or_dash(known.map(|bytes| size(bytes as f64))),
            size(device.end_offset as f64),
            rate(report, device.requests),
            throughput(report, device.bytes),
        ]
    };
    let mut rows: Vec<Vec<String>> = profile.devices.iter().take(ROWS_MAX).map(row).collect();
    if profile.devices.len() > ROWS_MAX {
        let mut last = vec![format!("{} others", profile.devices.len() - ROWS_MAX)];
        last.resize(5, "-".to_owned());
        rows.push(last);
    }
    TraceTable {
        name: "Devices",
        note: "The highest end of a request is the minimum size of a volume that can hold the data.",
        head: vec!["device", "size", "used up to", "IOPS", "throughput"],
        rows,
    }
}

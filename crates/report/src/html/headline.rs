//! Headline figures of a job.

use record::{DataKind, DirectionResult, JobResult, LatencyStats};
use units::{Bytes, Nanos, count, grouped, percent, significant};

use super::findings::micro;
use super::markup::Markup;
use super::part::Member;
use super::table::HtmlTable;
use crate::chart::isolated;
use crate::text::latencies;
use crate::words::{LARGE_BYTES, modelled_percentile};

const PERCENTILES: [(f64, &str); 6] =
    [(50.0, "p50"), (90.0, "p90"), (95.0, "p95"), (99.0, "p99"), (99.9, "p99.9"), (99.99, "p99.99")];

/// Formats a time for the page.
pub(super) fn time(ns: f64) -> String {
    micro(&Nanos::new(ns.round() as u64).to_string())
}

/// Formats bytes per second in binary units.
pub(super) fn rate(bytes_per_second: f64) -> String {
    format!("{}/s", Bytes::new(bytes_per_second as u64))
}

/// Returns `60.4k IOPS at 448 µs on data.bin`; `None` if no rate is known.
pub(super) fn result(member: &Member<'_>) -> Option<String> {
    let each = member.job.result.service_mean_ns().map_or_else(String::new, |ns| format!(" at {}", time(ns)));
    Some(format!("{}{each}{}", pace(member)?, target(member)))
}

/// Returns `60.4k IOPS`, or bytes per second of large operations; `None` if neither is known.
pub(super) fn pace(member: &Member<'_>) -> Option<String> {
    let (iops, bytes_per_second) = member
        .kinds()
        .fold((0.0, 0.0), |(iops, bytes), (_, kind)| (iops + kind.iops(), bytes + kind.bytes_per_second()));
    let is_large = bytes_per_second >= LARGE_BYTES * iops;
    match iops.max(bytes_per_second) > 0.0 {
        true if is_large => Some(rate(bytes_per_second)),
        true => Some(format!("{} IOPS", count(iops))),
        false => None,
    }
}

/// Returns ` on data.bin` or ` on gcp/pd-ssd,size=500GiB`.
fn target(member: &Member<'_>) -> String {
    let of_model = member.run.model.as_ref().map(|model| model.volumes.iter().map(|volume| volume.name.as_str()));
    let names: Vec<&str> = match of_model {
        Some(volumes) => volumes.collect(),
        None => member.job.evidence.targets.iter().map(|target| target.path.as_str()).collect(),
    };
    match names.as_slice() {
        [] => String::new(),
        [one] => format!(" on {}", isolated(one)),
        several => format!(" on {} targets", several.len()),
    }
}

/// Writes a row of tiles per kind of operation, then tiles about all kinds; a single kind shares its row with them.
pub(super) fn tiles(out: &mut Markup, job: &JobResult, is_assumed: bool) {
    let used: Vec<_> = job.result.used_kinds().collect();
    let rest = of_all(job);
    let write_rest = |out: &mut Markup| rest.iter().for_each(|(name, value, more)| tile(out, name, value, more));
    if let [(kind, result)] = used.as_slice() {
        out.class("dl", "tiles", |out| {
            of_kind(out, job, (*kind, result), is_assumed);
            write_rest(out);
        });
        return;
    }
    used.iter()
        .for_each(|(kind, result)| out.class("dl", "tiles", |out| of_kind(out, job, (*kind, result), is_assumed)));
    if !rest.is_empty() {
        out.class("dl", "tiles", write_rest);
    }
}

fn of_kind(out: &mut Markup, job: &JobResult, (kind, result): (DataKind, &DirectionResult), is_assumed: bool) {
    let (name, known) = (kind.name(), job.known_transfers(result));
    if let Some(iops) = known.iops {
        let done = known.ios.zip(known.runtime_ns);
        let done = done.map_or_else(String::new, |(ios, ns)| format!("{} in {}", count(ios as f64), time(ns as f64)));
        tile(out, &format!("{name} IOPS"), &count(iops), &done);
    } else if let Some(ios) = known.ios {
        tile(out, &format!("{name} operations"), &count(ios as f64), "");
    }
    if let Some(bytes_per_second) = known.bytes_per_second {
        let decimal = format!("{}/s", Bytes::new(bytes_per_second as u64).decimal());
        let of = if known.iops.is_some() { String::new() } else { format!("{name} ") };
        tile(out, &format!("{of}throughput"), &rate(bytes_per_second), &decimal);
    } else if let Some(bytes) = known.bytes {
        tile(out, &format!("{name} bytes"), &Bytes::new(bytes).to_string(), "");
    }
    // With a schedule, users wait from the due time on.
    let (name, latency) =
        if result.response.count > 0 { ("response", &result.response) } else { ("latency", result.with_percentiles()) };
    if latency.count == 0 {
        return;
    }
    let known = job.known_latency(latency);
    if let Some(mean_ns) = known.mean_ns {
        let deviation = known.stddev_ns.map_or_else(String::new, |ns| format!("± {}", time(ns)));
        tile(out, &format!("mean {name}"), &time(mean_ns), &deviation);
    }
    for (percent, label) in [(50.0, "p50"), (99.0, "p99"), (99.9, "p99.9")] {
        if let Some(percentile) = latency.percentile(percent) {
            let value = micro(&modelled_percentile(percent, Some(percentile), is_assumed));
            let more = if value.starts_with('~') { "from an assumed distribution" } else { "" };
            tile(out, &format!("{label} {name}"), &value, more);
        }
    }
    if let Some(ns) = known.max_ns {
        let (mark, more) = if is_assumed { ("~", "from an assumed distribution") } else { ("", "") };
        tile(out, "slowest", &format!("{mark}{}", time(ns as f64)), more);
    }
}

fn of_all(job: &JobResult) -> Vec<(&'static str, String, String)> {
    let (declared, result) = (&job.declared, &job.result);
    let mut tiles = Vec::new();
    if let Some(in_flight) = result.in_flight() {
        let how = if declared.estimated.is_none() { "requested" } else { "(estimated)" };
        let asked = declared.in_flight_asked.map_or_else(String::new, |asked| format!("of {asked} {how}"));
        tiles.push(("in flight, mean", significant(in_flight, 3), asked));
    }
    if let Some(ns) = result.cpu_per_io_ns().filter(|ns| *ns > 0.0) {
        tiles.push(("CPU per operation", time(ns), format!("{} of a CPU", percent(result.cpu_share()))));
    }
    if result.lateness.count > 0 {
        let late = &result.lateness;
        tiles.push(("generator late by", time(late.mean_ns), format!("at most {}", time(late.max_ns as f64))));
    }
    if result.errors > 0 {
        tiles.push(("errors", grouped(result.errors), crate::fio::error_text(result.first_error)));
    }
    if let Some(replay) = &job.replay {
        let more = std::iter::once(crate::words::replay(replay)).chain(crate::words::replay_notes(replay));
        tiles.push(("requests replayed", grouped(replay.issued), more.collect::<Vec<_>>().join("; ")));
    }
    if let Some(verified) = &job.verified {
        tiles.push(("blocks checked", grouped(verified.checked), crate::words::verified(verified)));
    }
    tiles
}

pub(super) fn tile(out: &mut Markup, name: &str, value: &str, more: &str) {
    out.inside("div", &[], |out| {
        out.leaf("dt", "", name);
        out.inside("dd", &[], |out| {
            out.text(value);
            if !more.is_empty() {
                out.leaf("small", "", more);
            }
        });
    });
}

/// Returns a table of all recorded latencies: service and response of each kind, and syncs.
pub(super) fn latency_table(job: &JobResult, is_assumed: bool) -> Option<HtmlTable> {
    let names = PERCENTILES.iter().map(|(_, name)| *name);
    let head: Vec<&str> = ["latency", "mean", "deviation"].into_iter().chain(names).chain(["slowest"]).collect();
    let assumed = if is_assumed { " ~: from an assumed distribution." } else { "" };
    let caption = format!("Service counts from submission, response from the due time of an operation.{assumed}");
    let mut table = HtmlTable::new(caption, &head, 1);
    let row = |(label, latency)| latency_row(label, latency, job, is_assumed);
    table.rows = latencies(&job.result).into_iter().map(row).collect();
    (!table.rows.is_empty()).then_some(table)
}

fn latency_row(label: String, latency: &LatencyStats, job: &JobResult, is_assumed: bool) -> Vec<String> {
    let known = job.known_latency(latency);
    let time_or_dash = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), time);
    let mut row = vec![label, time_or_dash(known.mean_ns), time_or_dash(known.stddev_ns)];
    let value = |percent| micro(&modelled_percentile(percent, latency.percentile(percent), is_assumed));
    row.extend(PERCENTILES.iter().map(|(percent, _)| value(*percent)));
    let mark = if is_assumed && known.max_ns.is_some() { "~" } else { "" };
    row.push(format!("{mark}{}", time_or_dash(known.max_ns.map(|ns| ns as f64))));
    row
}

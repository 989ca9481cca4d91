//! The sentences of findings about a trace.

use analyse::Severity;
use trace::{PerOperation, RunProfile, SizeProfile, TraceFinding, TraceStudy};
use units::{Bytes, Nanos, count, percent, significant};

use super::requests;

fn time(ns: f64) -> Nanos {
    Nanos::new(ns.max(0.0).round() as u64)
}

fn size(bytes: f64) -> Bytes {
    Bytes::new(bytes.max(0.0).round() as u64)
}

/// Returns how important a finding is.
pub(crate) const fn severity(finding: &TraceFinding) -> Severity {
    match finding {
        TraceFinding::Failures { .. } | TraceFinding::LateRequests { .. } => Severity::Warning,
        TraceFinding::BurstyWrites { .. }
        | TraceFinding::RatePeak { .. }
        | TraceFinding::LongRangeDependence { .. }
        | TraceFinding::FrequentFlushes { .. }
        | TraceFinding::ReadsFitInMemory { .. }
        | TraceFinding::DepthOne { .. }
        | TraceFinding::QueuedLonger { .. } => Severity::Advice,
        TraceFinding::LogWrites { .. }
        | TraceFinding::ReadsDoNotRepeat { .. }
        | TraceFinding::ClosedLoop { .. }
        | TraceFinding::OpenLoop { .. }
        | TraceFinding::FewLargeRequests { .. }
        | TraceFinding::HotSpot { .. } => Severity::Info,
    }
}

/// Returns what was found, in one sentence with a full stop.
pub(crate) fn statement(finding: &TraceFinding) -> String {
    match *finding {
        TraceFinding::BurstyWrites { .. }
        | TraceFinding::RatePeak { .. }
        | TraceFinding::LongRangeDependence { .. }
        | TraceFinding::ClosedLoop { .. }
        | TraceFinding::OpenLoop { .. }
        | TraceFinding::LateRequests { .. } => arrivals(finding),
        TraceFinding::LogWrites { continuing_fraction, streams_p50, sync_fraction, flushes_per_write } => {
            let streams = if streams_p50 <= 1 { "one stream".to_owned() } else { format!("{streams_p50} streams") };
            format!(
                "The writes are log writes: {} of them continue {streams}, a process waits for {}, and there are {} \
                 flushes per write.",
                percent(continuing_fraction),
                percent(sync_fraction),
                significant(flushes_per_write, 2)
            )
        }
        TraceFinding::FrequentFlushes { flushes_per_s, flushes_per_write } => format!(
            "There are {} flushes and forced writes per second, {} per write.",
            count(flushes_per_s),
            significant(flushes_per_write, 2)
        ),
        TraceFinding::ReadsFitInMemory { cache_bytes, read_hit_ratio, read_footprint_bytes, .. } => format!(
            "A cache of {} would serve {} of the reads, which are small and random and use {} of blocks.",
            Bytes::new(cache_bytes),
            percent(read_hit_ratio),
            size(read_footprint_bytes)
        ),
        TraceFinding::ReadsDoNotRepeat { read_miss_ratio } => {
            format!("A cache as large as all blocks in use would still miss {} of the reads.", percent(read_miss_ratio))
        }
        TraceFinding::DepthOne { busy_time_fraction, service_ns_mean } => format!(
            "At most one request is in flight, for {} of the time; it takes {} on average.",
            percent(busy_time_fraction),
            time(service_ns_mean)
        ),
        TraceFinding::FewLargeRequests { bytes_min, requests_fraction, bytes_fraction } => format!(
            "{} of the requests have {} or more and transfer {} of the bytes.",
            percent(requests_fraction),
            Bytes::new(bytes_min),
            percent(bytes_fraction)
        ),
        TraceFinding::HotSpot { blocks_percent, accesses_fraction, zipf_theta } => {
            let fit = zipf_theta.map(|theta| format!("; zipf:{} fits", format_args!("{theta:.2}"))).unwrap_or_default();
            format!("{blocks_percent}% of the blocks in use get {} of the accesses{fit}.", percent(accesses_fraction))
        }
        TraceFinding::QueuedLonger { queued_ns_mean, service_ns_mean } => format!(
            "Requests wait {} in the scheduler queue, then take {} at the device (means).",
            time(queued_ns_mean),
            time(service_ns_mean)
        ),
        TraceFinding::Failures { requests: number } => {
            format!("The device reported errors for {}.", requests(number))
        }
    }
}

/// Returns the sentence of a finding about the instants of issue.
fn arrivals(finding: &TraceFinding) -> String {
    match *finding {
        TraceFinding::BurstyWrites { bursts, duration_ns_p50, interval_ns_p50, rate_to_mean, requests_fraction } => {
            format!(
                "Bursts of {} every {} (medians of {}), most of them writes, need {} times the mean IOPS and contain \
                 {} of all requests.",
                Nanos::new(duration_ns_p50),
                Nanos::new(interval_ns_p50),
                count(bursts as f64),
                significant(rate_to_mean, 2),
                percent(requests_fraction)
            )
        }
        TraceFinding::RatePeak { width_ns, peak_to_mean, rate_per_s_max } => format!(
            "The busiest {} needs {} IOPS, {} times the mean.",
            Nanos::new(width_ns),
            count(rate_per_s_max),
            significant(peak_to_mean, 2)
        ),
        TraceFinding::LongRangeDependence { hurst, standard_error } => format!(
            "The rate is correlated over long times: Hurst exponent {} +- {} (independent arrivals: 0.5).",
            significant(hurst, 2),
            significant(standard_error, 1)
        ),
        TraceFinding::ClosedLoop { score, think_ns_p50 } => format!(
            "Requests are issued when others complete (score {score:.2} of 1), after a median of {}.",
            Nanos::new(think_ns_p50)
        ),
        TraceFinding::OpenLoop { score } => {
            format!("Requests are issued whether or not others complete (score {score:.2} of 1).")
        }
        TraceFinding::LateRequests { requests: number, late_ns_max } => format!(
            "{} of the trace are out of order by up to {}: they count as issued with the requests before them.",
            requests(number),
            Nanos::new(late_ns_max)
        ),
        _ => String::new(),
    }
}

/// Returns what follows from a finding for the choice of a volume or for the application.
pub(crate) const fn advice(finding: &TraceFinding) -> &'static str {
    match finding {
        TraceFinding::BurstyWrites { .. } => {
            "A volume with the mean IOPS only queues them, reads included. Provision for the bursts, or spread the \
             writes: checkpoints, write-back, compaction."
        }
        TraceFinding::RatePeak { .. } => "Provision for this window, unless the application can wait.",
        TraceFinding::LongRangeDependence { .. } => {
            "Averages understate the need. Test with a replay of the trace instead of a constant rate."
        }
        TraceFinding::LogWrites { .. } => {
            "Commits wait for these writes: compare volumes by the latency of one write in flight."
        }
        TraceFinding::FrequentFlushes { .. } => {
            "Their latency limits commits. Group commits, or use a volume with a protected write cache."
        }
        TraceFinding::ReadsFitInMemory { .. } => "More memory may cost less than more IOPS.",
        TraceFinding::ReadsDoNotRepeat { .. } => "More memory does not save reads: the volume must serve them.",
        TraceFinding::DepthOne { .. } => {
            "Lower latency or more concurrency makes this load faster; more provisioned IOPS do not."
        }
        TraceFinding::ClosedLoop { .. } => {
            "A faster volume gets more requests than the trace contains, a slower one fewer."
        }
        TraceFinding::OpenLoop { .. } => "A slower volume gets the same requests and a longer queue.",
        TraceFinding::FewLargeRequests { .. } => {
            "Check the throughput limit too: these requests reach it long before the IOPS limit."
        }
        TraceFinding::HotSpot { .. } => "A small cache or a fast tier for these blocks has a large effect.",
        TraceFinding::QueuedLonger { .. } => {
            "The device accepts fewer concurrent requests than the load issues: raise its queue depth, or its limits \
             if it is throttled."
        }
        TraceFinding::Failures { .. } => "See the kernel log for the cause: `dmesg`.",
        TraceFinding::LateRequests { .. } => "Arrivals and depth are approximate.",
    }
}

/// Fraction that counts as nearly all.
const NEARLY_ALL: f64 = 0.95;
/// Least mean size in bytes of requests that are called large.
const LARGE_BYTES: f64 = 65_536.0;

/// Returns the kind of load: `a transactional database: random reads of 8 KiB (65.0%), …`.
pub(crate) fn summary(report: &TraceStudy) -> String {
    let totals = &report.profile.totals;
    if totals.requests.total() == 0 {
        return "no requests".to_owned();
    }
    let (reads, writes) = (totals.requests.read, totals.requests.write);
    let of_data = (reads + writes).max(1) as f64;
    let (sizes, sequential) = (&report.profile.sizes, &report.profile.sequential);
    let sides =
        [("reads", reads, &sizes.read, &sequential.reads), ("writes", writes, &sizes.write, &sequential.writes)];
    let mut parts: Vec<String> = sides
        .into_iter()
        .filter(|(_, requests, ..)| *requests as f64 / of_data > 1.0 - NEARLY_ALL)
        .map(|(name, requests, sizes, runs)| side(report, name, requests, (sizes, runs)))
        .collect();
    let PerOperation { flush, discard, write_zeroes, other, .. } = totals.requests;
    for (name, requests) in [("flushes", flush), ("discards", discard), ("zeroing", write_zeroes), ("others", other)] {
        let fraction = requests as f64 / totals.requests.total() as f64;
        if fraction >= 0.01 {
            parts.push(format!("{name} ({})", percent(fraction)));
        }
    }
    let parts = joined(&parts);
    match class(report) {
        Some(class) => format!("like {class}: {parts}"),
        None => parts,
    }
}

/// Describes reads or writes: `random reads of 8 KiB (65.0%)`.
fn side(report: &TraceStudy, name: &str, requests: u64, (sizes, runs): (&SizeProfile, &RunProfile)) -> String {
    let order = match runs.continuing_fraction() {
        fraction if fraction >= 0.8 => "sequential",
        fraction if fraction <= 0.2 => "random",
        _ => "partly sequential",
    };
    let (low, high) = (sizes.quantile(0.1).unwrap_or(0), sizes.quantile(0.9).unwrap_or(0));
    let size =
        if low == high { Bytes::new(low).to_string() } else { format!("{} to {}", Bytes::new(low), Bytes::new(high)) };
    let fraction = requests as f64 / report.profile.totals.requests.total() as f64;
    format!("{order} {name} of {size} ({})", percent(fraction))
}

/// Joins parts with commas and a last "and".
fn joined(parts: &[String]) -> String {
    match parts {
        [] => "no reads and writes".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns the kind of program that has such a load, if one is typical.
fn class(report: &TraceStudy) -> Option<&'static str> {
    let profile = &report.profile;
    let has_log = report.findings.iter().any(|finding| matches!(finding, TraceFinding::LogWrites { .. }));
    let (reads, writes) = (&profile.sequential.reads, &profile.sequential.writes);
    let mean = |runs: &RunProfile| runs.bytes as f64 / runs.requests.max(1) as f64;
    let (read_bytes, all) = (reads.bytes as f64, (reads.bytes + writes.bytes).max(1) as f64);
    let is_random =
        |runs: &RunProfile| runs.requests >= 100 && runs.continuing_fraction() <= 0.3 && mean(runs) < LARGE_BYTES;
    let is_stream = |runs: &RunProfile| {
        runs.requests >= 100 && runs.continuing_bytes as f64 >= 0.8 * runs.bytes as f64 && mean(runs) >= LARGE_BYTES
    };
    match () {
        () if is_stream(reads) && read_bytes >= 0.8 * all => Some("a scan or a backup"),
        () if is_stream(writes) && read_bytes <= 0.2 * all && !has_log => Some("an ingest or a restore"),
        () if is_random(reads) && is_stream(writes) => Some("a log-structured store"),
        () if has_log && (is_random(reads) || writes.continuing_fraction() < 0.95) => Some("a transactional database"),
        () => None,
    }
}

/// Returns the rates: `20.0k IOPS and 211 MiB/s for 15.0 s, up to 1.0 times that in a second, 1.9 in flight`.
pub(crate) fn rates(report: &TraceStudy) -> String {
    let profile = &report.profile;
    let (number, bytes) = (profile.totals.requests.total(), profile.totals.bytes.total());
    let time = Nanos::new(profile.totals.issue_duration_ns);
    let (Some(iops), Some(bytes_per_second)) = (report.per_second(number), report.per_second(bytes)) else {
        let place = if number > 1 { " at one instant" } else { "" };
        return format!("{}{place}", requests(number));
    };
    let mut text = format!("{} IOPS and {}/s for {time}", count(iops), Bytes::new(bytes_per_second as u64));
    let peak = profile.arrivals.windows.iter().find(|window| window.width_ns == 1_000_000_000);
    if let Some(window) = peak {
        text += &format!("; up to {} IOPS in a second", count(window.requests_max as f64));
    }
    if let Some(depth) = profile.depth.and_then(|depth| depth.depth) {
        text += &format!("; {} in flight on average", significant(depth.mean, 2));
    }
    text
}

/// Returns the part of the trace that was read, if it is not all of it: `window from 2.00 s to 3.00 s`.
pub(crate) fn window_words(report: &TraceStudy) -> Option<String> {
    let window = report.window;
    let end = Some(window.end_ns).filter(|end| *end < u64::MAX);
    let end = end.map_or_else(|| "its end".to_owned(), |end| Nanos::new(end).to_string());
    (window != trace::TraceWindow::ALL).then(|| format!("window from {} to {end}", Nanos::new(window.from_ns)))
}

/// A figure with its name, which ends with the unit as in JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TraceFigure {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    kind: FigureKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FigureKind {
    Count,
    Time,
    Bytes,
    Fraction,
    Percentage,
    Rate,
    Number,
}

impl TraceFigure {
    /// Returns the name in words: `rate to mean`, `duration p50`.
    pub(crate) fn words(&self) -> String {
        let name = self.name.replace("_ns", "").replace("_bytes", "").replace("_per_s", "");
        name.replace("_fraction", "").replace("_percent", "").replace('_', " ")
    }

    /// Returns the value with its unit.
    pub(crate) fn text(&self) -> String {
        match self.kind {
            FigureKind::Count => count(self.value),
            FigureKind::Time => Nanos::new(self.value as u64).to_string(),
            FigureKind::Bytes => Bytes::new(self.value as u64).to_string(),
            FigureKind::Fraction => percent(self.value),
            FigureKind::Percentage => format!("{}%", self.value),
            FigureKind::Rate => format!("{}/s", count(self.value)),
            FigureKind::Number => significant(self.value, 3),
        }
    }
}

pub(crate) fn figures(finding: &TraceFinding) -> Vec<TraceFigure> {
    use FigureKind::{Bytes, Count, Fraction, Number, Percentage, Rate, Time};
    let of = |name, value, kind| TraceFigure { name, value, kind };
    match *finding {
        TraceFinding::BurstyWrites { bursts, duration_ns_p50, interval_ns_p50, rate_to_mean, requests_fraction } => {
            vec![
                of("bursts", bursts as f64, Count),
                of("duration_ns_p50", duration_ns_p50 as f64, Time),
                of("interval_ns_p50", interval_ns_p50 as f64, Time),
                of("rate_to_mean", rate_to_mean, Number),
                of("requests_fraction", requests_fraction, Fraction),
            ]
        }
        TraceFinding::RatePeak { width_ns, peak_to_mean, rate_per_s_max } => vec![
            of("width_ns", width_ns as f64, Time),
            of("peak_to_mean", peak_to_mean, Number),
            of("rate_per_s_max", rate_per_s_max, Rate),
        ],
        TraceFinding::LongRangeDependence { hurst, standard_error } => {
            vec![of("hurst", hurst, Number), of("standard_error", standard_error, Number)]
        }
        TraceFinding::LogWrites { continuing_fraction, streams_p50, sync_fraction, flushes_per_write } => vec![
            of("continuing_fraction", continuing_fraction, Fraction),
            of("streams_p50", streams_p50 as f64, Count),
            of("sync_fraction", sync_fraction, Fraction),
            of("flushes_per_write", flushes_per_write, Number),
        ],
        TraceFinding::FrequentFlushes { flushes_per_s, flushes_per_write } => {
            vec![of("flushes_per_s", flushes_per_s, Rate), of("flushes_per_write", flushes_per_write, Number)]
        }
        TraceFinding::ReadsFitInMemory { cache_bytes, read_hit_ratio, read_footprint_bytes, continuing_fraction } => {
            vec![
                of("cache_bytes", cache_bytes as f64, Bytes),
                of("read_hit_ratio", read_hit_ratio, Fraction),
                of("read_footprint_bytes", read_footprint_bytes, Bytes),
                of("continuing_fraction", continuing_fraction, Fraction),
            ]
        }
        TraceFinding::ReadsDoNotRepeat { read_miss_ratio } => vec![of("read_miss_ratio", read_miss_ratio, Fraction)],
        TraceFinding::DepthOne { busy_time_fraction, service_ns_mean } => {
            vec![of("busy_time_fraction", busy_time_fraction, Fraction), of("service_ns_mean", service_ns_mean, Time)]
        }
        TraceFinding::ClosedLoop { score, think_ns_p50 } => {
            vec![of("score", score, Number), of("think_ns_p50", think_ns_p50 as f64, Time)]
        }
        TraceFinding::OpenLoop { score } => vec![of("score", score, Number)],
        TraceFinding::FewLargeRequests { bytes_min, requests_fraction, bytes_fraction } => vec![
            of("size_bytes_min", bytes_min as f64, Bytes),
            of("requests_fraction", requests_fraction, Fraction),
            of("bytes_fraction", bytes_fraction, Fraction),
        ],
        TraceFinding::HotSpot { blocks_percent, accesses_fraction, zipf_theta } => {
            let theta = zipf_theta.map(|theta| of("zipf_theta", theta, Number));
            let shares = [
                of("blocks_percent", blocks_percent, Percentage),
                of("accesses_fraction", accesses_fraction, Fraction),
            ];
            shares.into_iter().chain(theta).collect()
        }
        TraceFinding::QueuedLonger { queued_ns_mean, service_ns_mean } => {
            vec![of("queued_ns_mean", queued_ns_mean, Time), of("service_ns_mean", service_ns_mean, Time)]
        }
        TraceFinding::Failures { requests } => vec![of("requests", requests as f64, Count)],
        TraceFinding::LateRequests { requests, late_ns_max } => {
            vec![of("requests", requests as f64, Count), of("late_ns_max", late_ns_max as f64, Time)]
        }
    }
}

//! The sentences of findings about a trace.

use analyse::Severity;
use trace::TraceFinding;
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
                "The writes are those of a log: {} of them continue {streams}, a process waits for {}, and there are {} \
                 flushes for each.",
                percent(continuing_fraction),
                percent(sync_fraction),
                significant(flushes_per_write, 2)
            )
        }
        TraceFinding::FrequentFlushes { flushes_per_s, flushes_per_write } => format!(
            "There are {} flushes and forced writes per second, {} for each write.",
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
            "At most one request is in flight, for {} of the time, and takes {} on average.",
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
            format!("{blocks_percent}% of the blocks in use have {} of the accesses{fit}.", percent(accesses_fraction))
        }
        TraceFinding::QueuedLonger { queued_ns_mean, service_ns_mean } => format!(
            "Requests wait {} in the queue of the scheduler, and then take {} at the device (means).",
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
                "Bursts of {} every {} (medians of {}), most of them writes, need {} times the mean IOPS and have {} of \
                 all requests.",
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
            "The rate varies over long times: the Hurst exponent is {} +- {}, and 0.5 for independent arrivals.",
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
            "{} of the trace come after later ones, by up to {}: they count as issued with those.",
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
        TraceFinding::ReadsDoNotRepeat { .. } => "More memory does not save reads: the volume has to deliver them.",
        TraceFinding::DepthOne { .. } => {
            "Lower latency or more concurrency makes this load faster; more provisioned IOPS do not."
        }
        TraceFinding::ClosedLoop { .. } => {
            "A faster volume gets more requests than the trace has, and a slower one fewer."
        }
        TraceFinding::OpenLoop { .. } => "A slower volume gets the same requests and a longer queue.",
        TraceFinding::FewLargeRequests { .. } => {
            "Check the limit of throughput too: these requests reach it long before the limit of IOPS."
        }
        TraceFinding::HotSpot { .. } => "A small cache or a fast tier for these blocks has a large effect.",
        TraceFinding::QueuedLonger { .. } => {
            "The device takes fewer requests at a time than the load has: raise its queue depth, or its limits if it is \
             throttled."
        }
        TraceFinding::Failures { .. } => "Look for the cause in the log of the kernel: `dmesg`.",
        TraceFinding::LateRequests { .. } => "Figures of arrivals and of depth are approximate.",
    }
}

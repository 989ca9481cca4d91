//! Sentences of findings about figures, from claims or measurements.

use analyse::{Finding, Quantity};
use units::{count, grouped, significant};

use super::{SentenceFigures, whole_number};

pub(super) fn little_contradicted(figures: &SentenceFigures<'_>) -> String {
    let (implied, possible) = (figures.value(Quantity::InFlightImplied), figures.value(Quantity::InFlightPossible));
    let product = format!(
        "{} IOPS x {} = {} in flight",
        figures.count(Quantity::Iops),
        figures.time(Quantity::LatencyMean),
        range(figures)
    );
    if figures.has(Quantity::InFlightAchieved) {
        return format!(
            "The figures contradict each other: {product}, but the device counted {}. It may count requests without a \
             latency (flushes, discards) or requests issued before the report.",
            figures.in_flight(Quantity::InFlightAchieved)
        );
    }
    if figures.has(Quantity::SlowShare) {
        return format!(
            "The figures contradict each other: {} of operations take {} or more, so {} IOPS keep at least {} in \
             flight, but at most {} are possible. One figure belongs to another load.",
            figures.share(Quantity::SlowShare),
            figures.time(Quantity::SlowMode),
            figures.count(Quantity::Iops),
            exactly(implied),
            whole_number(possible)
        );
    }
    if implied > possible {
        return format!(
            "The figures contradict each other: {product}, but at most {} are possible{}. One figure belongs to \
             another load.",
            whole_number(possible),
            apart(figures).map_or_else(String::new, |apart| format!(": {apart} more than rounding explains"))
        );
    }
    format!(
        "The figures contradict each other: {product}, but {} are claimed to be in flight{}. The queue was not kept \
         full, or one figure belongs to another load.",
        whole_number(possible),
        apart(figures).map_or_else(String::new, |apart| format!(": {apart} less than rounding explains"))
    )
}

/// Returns the difference beyond rounding, as a percentage of the depth.
fn apart(figures: &SentenceFigures<'_>) -> Option<String> {
    figures.has(Quantity::Apart).then(|| units::percent(figures.value(Quantity::Apart).abs()))
}

/// Returns the requests in flight by Little's law, with rounding bounds of as many digits.
fn range(figures: &SentenceFigures<'_>) -> String {
    let implied = figures.value(Quantity::InFlightImplied);
    if !figures.has(Quantity::InFlightImpliedLow) {
        return exactly(implied);
    }
    let alike = |quantity| match implied {
        few if few < 0.95 => significant(figures.value(quantity), 3),
        many if many < 10_000.0 => format!("{:.1}", figures.value(quantity)),
        _ => grouped(figures.value(quantity).round() as u64),
    };
    let [implied, low, high] =
        [Quantity::InFlightImplied, Quantity::InFlightImpliedLow, Quantity::InFlightImpliedHigh].map(alike);
    format!("{implied} ({low} to {high}, within rounding)")
}

/// Formats a number in flight to a tenth if it is not less: three significant digits are too few to compare with a depth.
fn exactly(in_flight: f64) -> String {
    if in_flight >= 10_000.0 || in_flight.fract() == 0.0 {
        grouped(in_flight.round() as u64)
    } else if in_flight < 0.95 {
        significant(in_flight, 3)
    } else {
        format!("{in_flight:.1}")
    }
}

pub(super) fn little_holds(figures: &SentenceFigures<'_>) -> String {
    let product = format!(
        "{} IOPS x {} = {} in flight of {} possible",
        figures.count(Quantity::Iops),
        figures.time(Quantity::LatencyMean),
        range(figures),
        whole_number(figures.value(Quantity::InFlightPossible))
    );
    match apart(figures) {
        Some(apart) => format!("The figures agree to within {apart}: {product}."),
        None => format!("The figures agree: {product}."),
    }
}

pub(super) fn depth_needed(figures: &SentenceFigures<'_>) -> String {
    format!(
        "{} IOPS at {} take {} in flight.",
        figures.count(Quantity::Iops),
        figures.time(Quantity::LatencyMean),
        range(figures)
    )
}

pub(super) fn disagree(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    let place = finding.subject.as_ref().map_or_else(String::new, |line| format!(" on {line}"));
    if figures.has(Quantity::TimeTold) {
        return format!(
            "A printed sum does not add up{place}: lat is {} us, but slat + clat is {} us. Was the text edited?",
            microseconds(figures.value(Quantity::TimeTold)),
            microseconds(figures.value(Quantity::TimeMade))
        );
    }
    if figures.has(Quantity::SumTold) {
        return format!(
            "A printed sum does not add up{place}: {} were transferred, but operations x block size is {}. \
             Was the text edited?",
            mib(figures.value(Quantity::SumTold)),
            mib(figures.value(Quantity::SumMade))
        );
    }
    format!(
        "The figures contradict each other: IOPS x block size is {}/s, but {}/s is stated.",
        figures.bytes(Quantity::BytesPerSecondMade),
        figures.bytes(Quantity::BytesPerSecondTold)
    )
}

/// Formats bytes with two decimals, enough to check a sum.
fn mib(bytes: f64) -> String {
    format!("{:.2} MiB", bytes / 1_048_576.0)
}

fn microseconds(ns: f64) -> String {
    format!("{:.2}", ns / 1e3)
}

pub(super) fn units_mixed(figures: &SentenceFigures<'_>) -> String {
    format!(
        "Decimal and binary units are mixed: IOPS x block size is {}/s, but {}/s is stated. The factor of {} is the \
         difference between MB and MiB, or kB and KiB.",
        figures.bytes(Quantity::BytesPerSecondMade),
        figures.bytes(Quantity::BytesPerSecondTold),
        significant(figures.value(Quantity::UnitFactor), 4)
    )
}

pub(super) fn odd_block(figures: &SentenceFigures<'_>) -> String {
    let bytes = figures.value(Quantity::BlockBytes) as u64;
    if bytes.is_multiple_of(4096) && bytes > 0 {
        return format!(
            "{} blocks are not a power of two: compare throughput with other results, not IOPS.",
            figures.bytes(Quantity::BlockBytes)
        );
    }
    format!(
        "Blocks of {} bytes are not a multiple of 4 KiB: devices transfer whole pages, and published IOPS do not apply.",
        grouped(bytes)
    )
}

pub(super) fn split(figures: &SentenceFigures<'_>) -> String {
    format!(
        "Operations were split: the device received {} requests for {} operations, so it counts more IOPS than the \
         program.",
        figures.bytes(Quantity::RequestBytes),
        figures.bytes(Quantity::BlockBytes)
    )
}

pub(super) fn small_region(figures: &SentenceFigures<'_>) -> String {
    format!(
        "{} was read from only {}, each block many times: a cache may have served it. Use a region as large as the \
         working set.",
        figures.bytes(Quantity::JobBytes),
        figures.bytes(Quantity::FileBytes)
    )
}

pub(super) fn mechanical(figures: &SentenceFigures<'_>) -> String {
    format!(
        "The disk behaves like a hard disk: {} random IOPS at {}, about a seek and part of a rotation. More depth adds \
         few IOPS and much latency.",
        figures.count(Quantity::Iops),
        figures.time(Quantity::TimeOfOne)
    )
}

pub(super) fn util(figures: &SentenceFigures<'_>) -> String {
    format!(
        "%util of {} does not show saturation: it is the time with at least one request in flight, and the device had \
         {} in flight on average.",
        figures.share(Quantity::BusyShare),
        figures.in_flight(Quantity::InFlightAchieved)
    )
}

pub(super) fn util_contradicted(figures: &SentenceFigures<'_>) -> String {
    format!(
        "%util of {} is impossible: {} requests per second at {} keep a device busy at most {} of the time. Since Linux \
         5.0 the kernel counts a whole tick of 1 to 10 ms whenever a request starts or ends.",
        figures.share(Quantity::BusyShare),
        figures.count(Quantity::Iops),
        figures.time(Quantity::LatencyMean),
        figures.share(Quantity::InFlightImplied),
    )
}

pub(super) fn mean_alone(figures: &SentenceFigures<'_>) -> String {
    format!("Only the mean latency, {}, is known; it hides slow operations.", figures.time(Quantity::LatencyMean))
}

pub(super) fn throttled(figures: &SentenceFigures<'_>) -> String {
    format!(
        "Most operations took {}, {} took {}, and almost none were in between: a rate limiter delayed them to its next \
         time slice (a cgroup's io.max, a provider's limit).",
        figures.time(Quantity::FastMode),
        figures.share(Quantity::SlowShare),
        figures.time(Quantity::SlowMode)
    )
}

pub(super) fn not_steady(figures: &SentenceFigures<'_>) -> String {
    format!(
        "Throughput did not reach steady state: over the last rounds it ranged over {} of its mean and drifted {}.",
        figures.share(Quantity::IopsSpread),
        figures.share(Quantity::IopsSlope)
    )
}

pub(super) fn warmup(figures: &SentenceFigures<'_>) -> String {
    format!(
        "The first {} were warm-up and count in the result: {} IOPS without them.",
        figures.span(Quantity::WarmupTime),
        figures.count(Quantity::SteadyIops)
    )
}

pub(super) fn burst_used_up(figures: &SentenceFigures<'_>) -> String {
    let before = figures.value(Quantity::EarlyIops);
    format!(
        "After {} throughput fell to {}, from {} to {} IOPS, and stayed there: burst credits ran out or a cache \
         filled. Report the two phases separately.",
        figures.span(Quantity::ChangedAt),
        units::percent(figures.value(Quantity::ChangeFactor)),
        count(before),
        figures.count(Quantity::LateIops)
    )
}

pub(super) fn syncs(figures: &SentenceFigures<'_>) -> String {
    format!(
        "Syncs take {} at p99; etcd requires less than {}, because every write waits for one.",
        figures.time(Quantity::SyncP99),
        figures.time(Quantity::SyncP99Allowed)
    )
}

pub(super) fn since_boot(figures: &SentenceFigures<'_>) -> String {
    format!(
        "{} IOPS is the average since boot (iostat's first report), not the load. Run `iostat -xy 1 30` while the load \
         runs.",
        figures.count(Quantity::Iops)
    )
}

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
            "The figures contradict each other: {product}, but the device counted {}. It may count requests \
             without a latency (flushes, discards), or requests that began before the report.",
            figures.in_flight(Quantity::InFlightAchieved)
        );
    }
    if figures.has(Quantity::SlowShare) {
        return format!(
            "The figures contradict each other: {} of the operations take {} or more, so {} IOPS keep at least {} in \
             flight, but at most {} are possible. One of the figures belongs to another load.",
            figures.share(Quantity::SlowShare),
            figures.time(Quantity::SlowMode),
            figures.count(Quantity::Iops),
            exactly(implied),
            whole_number(possible)
        );
    }
    if implied > possible {
        return format!(
            "The figures contradict each other: {product}, but at most {} are possible{}. One of the figures belongs \
             to another load.",
            whole_number(possible),
            apart(figures).map_or_else(String::new, |apart| format!(": {apart} more than rounding explains"))
        );
    }
    format!(
        "The figures contradict each other: {product}, but {} is claimed to be in flight{}. Either the queue was not \
         kept full, or one of the figures belongs to another load.",
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
        "{} IOPS at {} each need {} in flight.",
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
            "Blocks of {} are not a power of two: compare throughput with other results, not IOPS.",
            figures.bytes(Quantity::BlockBytes)
        );
    }
    format!(
        "Blocks of {} bytes are not whole pages of 4 KiB: devices read and write whole pages, and no published IOPS \
         apply to this size.",
        grouped(bytes)
    )
}

pub(super) fn split(figures: &SentenceFigures<'_>) -> String {
    format!(
        "The device received requests of {} for operations of {}: each operation was split, so the IOPS of the \
         device are not those of the program.",
        figures.bytes(Quantity::RequestBytes),
        figures.bytes(Quantity::BlockBytes)
    )
}

pub(super) fn small_region(figures: &SentenceFigures<'_>) -> String {
    format!(
        "{} were read from a region of {}, each block many times: a cache in the host, the controller or the storage \
         system may have served them. Use a region as large as the working set.",
        figures.bytes(Quantity::JobBytes),
        figures.bytes(Quantity::FileBytes)
    )
}

pub(super) fn mechanical(figures: &SentenceFigures<'_>) -> String {
    format!(
        "These are the times of a disk drive: {} random operations per second at {} each, as long as a seek and part of a \
         rotation. On one, a deeper queue shortens the seeks slightly and makes each operation wait longer.",
        figures.count(Quantity::Iops),
        figures.time(Quantity::TimeOfOne)
    )
}

pub(super) fn util(figures: &SentenceFigures<'_>) -> String {
    format!(
        "%util of {} does not mean that the device was saturated: it is the fraction of time with at least one \
         request in flight, and this device had {} in flight on average.",
        figures.share(Quantity::BusyShare),
        figures.in_flight(Quantity::InFlightAchieved)
    )
}

pub(super) fn util_contradicted(figures: &SentenceFigures<'_>) -> String {
    format!(
        "%util of {} cannot be: {} requests per second of {} each keep a device busy for at most {} of the time. Since Linux 5.0 the kernel \
         counts a whole tick of 1 to 10 ms for each moment in which a request begins or ends.",
        figures.share(Quantity::BusyShare),
        figures.count(Quantity::Iops),
        figures.time(Quantity::LatencyMean),
        figures.share(Quantity::InFlightImplied),
    )
}

pub(super) fn mean_alone(figures: &SentenceFigures<'_>) -> String {
    format!(
        "Only the mean latency of {} is known: it hides the slow operations that users notice.",
        figures.time(Quantity::LatencyMean)
    )
}

pub(super) fn throttled(figures: &SentenceFigures<'_>) -> String {
    format!(
        "Most operations took {}, {} of them {}, and almost none anything in between: a throttle delayed them until \
         its next time slice, such as a cgroup's io.max or a provider's limiter.",
        figures.time(Quantity::FastMode),
        figures.share(Quantity::SlowShare),
        figures.time(Quantity::SlowMode)
    )
}

pub(super) fn not_steady(figures: &SentenceFigures<'_>) -> String {
    format!(
        "Throughput did not settle: over the last rounds it varied by {} of its mean, and its trend changed it by \
         {}. The mean is not repeatable.",
        figures.share(Quantity::IopsSpread),
        figures.share(Quantity::IopsSlope)
    )
}

pub(super) fn warmup(figures: &SentenceFigures<'_>) -> String {
    format!(
        "The first {} differ from the rest, and were counted: {} IOPS without them.",
        figures.span(Quantity::WarmupTime),
        figures.count(Quantity::SteadyIops)
    )
}

pub(super) fn burst_used_up(figures: &SentenceFigures<'_>) -> String {
    let before = figures.value(Quantity::EarlyIops);
    format!(
        "{} after the start, throughput fell to {}, from {} IOPS to {}, and stayed there: burst credits ran out, or \
         a cache was full. Report the two phases separately.",
        figures.span(Quantity::ChangedAt),
        units::percent(figures.value(Quantity::ChangeFactor)),
        count(before),
        figures.count(Quantity::LateIops)
    )
}

pub(super) fn syncs(figures: &SentenceFigures<'_>) -> String {
    format!(
        "The p99 of syncs is {}, and etcd asks for less than {}: each change of its data waits for a sync.",
        figures.time(Quantity::SyncP99),
        figures.time(Quantity::SyncP99Allowed)
    )
}

pub(super) fn since_boot(figures: &SentenceFigures<'_>) -> String {
    format!(
        "{} IOPS are the average since boot, which is what the first report of iostat shows, not the load. Run \
         `iostat -xy 1 30` while the load runs.",
        figures.count(Quantity::Iops)
    )
}

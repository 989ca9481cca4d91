//! Sentences of findings about a volume.

use analyse::{Code, Database, Finding, Quantity, Remedy};
use units::{Bytes, count, grouped, significant};

use super::{SentenceFigures, databases, subject, whole_number};

pub(super) fn cap(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    let what = match finding.code {
        Code::VolumeIopsCap => "the IOPS limit of the volume",
        Code::VolumeThroughputCap => "the throughput limit of the volume",
        Code::MachineCap => "the limit of the machine, below the volume's",
        Code::EgressCap => "the network limit of the machine",
        _ => "the limit of a queue before the volume",
    };
    let depth = if figures.has(Quantity::InFlightAchieved) && figures.has(Quantity::KneeInFlight) {
        format!(
            "; {} requests in flight, {} saturate it",
            whole_number(figures.value(Quantity::InFlightAchieved)),
            figures.needed(Quantity::KneeInFlight)
        )
    } else {
        String::new()
    };
    let next = figures
        .clause(Quantity::NextCapIops, || format!(" The next limit is {}.", figures.count(Quantity::NextCapIops)));
    let above = figures.clause(Quantity::AboveNominal, || {
        let measured = figures.clause(Quantity::Tolerance, || {
            format!("; up to {} was measured on such volumes", figures.share(Quantity::Tolerance))
        });
        format!(" That is {} above nominal{measured}.", figures.share(Quantity::AboveNominal))
    });
    let spent = figures.clause(Quantity::BurstIops, || {
        format!(" Its burst credits are spent; with credits it gives {}.", figures.count(Quantity::BurstIops))
    });
    let (rate, most) = rate_and_cap(figures);
    format!("{rate} is {what} ({}: {most}){depth}.{above}{spent}{next}", subject(finding))
}

/// Formats a rate and the cap on it: in bytes if that is how the cap is stated.
fn rate_and_cap(figures: &SentenceFigures<'_>) -> (String, String) {
    if figures.has(Quantity::CapBytesPerSecond) {
        let in_bytes = |quantity| format!("{}/s", figures.bytes(quantity));
        (in_bytes(Quantity::BytesPerSecondMade), in_bytes(Quantity::CapBytesPerSecond))
    } else {
        (format!("{} IOPS", figures.count(Quantity::Iops)), figures.count(Quantity::CapIops))
    }
}

/// Formats a size in the unit in which it is sold: a whole number of GB or GiB.
pub(super) fn size_words(bytes: f64) -> String {
    const GB: u64 = 1_000_000_000;
    const GIB: u64 = 1 << 30;
    let bytes = bytes as u64;
    match bytes {
        _ if bytes.is_multiple_of(GIB) => format!("{} GiB", grouped(bytes / GIB)),
        _ if bytes.is_multiple_of(GB) => format!("{} GB", grouped(bytes / GB)),
        _ => Bytes::new(bytes).to_string(),
    }
}

/// Formats a throughput in the unit in which it is provisioned.
pub(super) fn throughput_words(bytes_per_second: u64) -> String {
    const MIB: u64 = 1 << 20;
    match bytes_per_second {
        _ if bytes_per_second.is_multiple_of(MIB) => format!("{}MiB/s", bytes_per_second / MIB),
        _ => format!("{}MB/s", bytes_per_second / 1_000_000),
    }
}

pub(super) fn size(figures: &SentenceFigures<'_>) -> String {
    format!(
        "The limit grows with size: {} gives {} IOPS, {} up to {}.",
        size_words(figures.value(Quantity::VolumeBytes)),
        figures.count(Quantity::CapIops),
        size_words(figures.value(Quantity::LargerBytes)),
        figures.count(Quantity::LargerIops)
    )
}

pub(super) fn provisioned(figures: &SentenceFigures<'_>) -> String {
    format!(
        "The limit is the provisioned value: {} can provide up to {} IOPS for this load.",
        size_words(figures.value(Quantity::VolumeBytes)),
        figures.count(Quantity::LargerIops)
    )
}

pub(super) fn bytes_first(figures: &SentenceFigures<'_>) -> String {
    format!(
        "With {} blocks the throughput limit comes first; below {} the IOPS limit does.",
        figures.bytes(Quantity::BlockBytes),
        figures.bytes(Quantity::BreakEvenBytes)
    )
}

pub(super) fn shared(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    format!(
        "Reads and writes share {}: with {} reads it allows {} IOPS of both together.",
        subject(finding),
        figures.share(Quantity::ReadShare),
        figures.count(Quantity::CapIops)
    )
}

/// Returns the sentence for a depth too small for the volume's limit. [`super::run`] has the one for a requested rate.
pub(super) fn too_shallow(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    let possible = figures.clause(Quantity::InFlightPossible, || {
        format!(" of {}", whole_number(figures.value(Quantity::InFlightPossible)))
    });
    let cap = figures.count(Quantity::CapIops);
    let most = match finding.subject.as_deref() {
        Some(limit) if figures.has(Quantity::NextCapIops) => {
            let burst = figures.clause(Quantity::BurstLasts, || {
                let (burst, lasts) = (figures.count(Quantity::BurstIops), figures.span(Quantity::BurstLasts));
                format!("; with full credits {burst} for {lasts}")
            });
            let of_volume = figures.count(Quantity::NextCapIops);
            format!("the machine sustains {cap} of the {of_volume} of the volume ({limit}{burst}). {cap} take")
        }
        _ => format!("the volume can do {cap}. That takes"),
    };
    format!(
        "The queue is too short: {}{possible} in flight at {} make {} IOPS; {most} {} in flight.",
        significant(figures.value(Quantity::InFlightAchieved), 3),
        figures.time(Quantity::ServiceMean),
        figures.count(Quantity::Iops),
        figures.needed(Quantity::InFlightNeeded)
    )
}

/// Utilization from which a device or the host's CPUs count as always busy.
const BUSY: f64 = 0.9;

/// Explanation of latencies above that of a single request. Averages show no more.
const WAITED: &str = "they arrived in bursts and queued, or the volume is slower than expected";

/// Returns the sentences for a device whose application keeps too few requests in flight for the volume's limit.
pub(super) fn too_few_in_flight(figures: &SentenceFigures<'_>, database: Option<Database>) -> String {
    let mut text = format!(
        "{} requests in flight; {} would reach {} IOPS at {}. {} does not issue more.",
        significant(figures.value(Quantity::InFlightAchieved), 3),
        figures.needed(Quantity::InFlightNeeded),
        figures.count(Quantity::CapIops),
        figures.time(Quantity::ServiceMean),
        database.map_or("the application", databases::name)
    );
    if figures.has(Quantity::BusyShare) && figures.value(Quantity::BusyShare) < BUSY {
        text.push_str(&format!(" The device was idle {} of the time.", idle(figures)));
    }
    if figures.value(Quantity::LatencyMean) > 1.5 * figures.value(Quantity::ServiceMean) {
        let took = figures.time(Quantity::LatencyMean);
        text.push_str(&format!(" Requests took {took}: {WAITED}."));
    }
    text + &processors(figures)
}

/// Returns the sentences for a mean depth that is sufficient, on a device that was idle at times.
pub(super) fn uneven(figures: &SentenceFigures<'_>) -> String {
    format!(
        "{} requests in flight suffice for {} IOPS, yet the volume gave {}. Requests took {}: {WAITED}. The device was \
         idle {} of the time.{}",
        significant(figures.value(Quantity::InFlightAchieved), 3),
        figures.count(Quantity::CapIops),
        figures.count(Quantity::Iops),
        figures.time(Quantity::LatencyMean),
        idle(figures),
        processors(figures)
    )
}

fn idle(figures: &SentenceFigures<'_>) -> String {
    units::percent(1.0 - figures.value(Quantity::BusyShare))
}

fn processors(figures: &SentenceFigures<'_>) -> String {
    if figures.value(Quantity::HostCpuShare) < BUSY {
        return String::new();
    }
    let used = figures.share(Quantity::HostCpuShare);
    format!(" CPUs were {used} busy and may be the limit.")
}

pub(super) fn beyond_knee(figures: &SentenceFigures<'_>) -> String {
    format!(
        "Most of the {} is queueing: {} requests in flight, {} times the {} that saturate the volume.",
        figures.time(Quantity::LatencyMean),
        whole_number(figures.value(Quantity::InFlightAchieved)),
        significant(figures.value(Quantity::KneeFactor), 2),
        figures.needed(Quantity::KneeInFlight)
    )
}

pub(super) fn burst_running(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    let part = if matches!(finding.remedy, Some(Remedy::Ramp { .. })) { "in part " } else { "" };
    let ran = figures.clause(Quantity::Runtime, || format!(" The run took {}.", figures.span(Quantity::Runtime)));
    let pace = figures.count(if part.is_empty() { Quantity::Iops } else { Quantity::BurstIops });
    let lasts = match figures.has(Quantity::BurstLasts) {
        true => format!("Full credits last {} at {pace} IOPS.", figures.span(Quantity::BurstLasts)),
        false => {
            format!("Bursts to {} IOPS are published, but not their duration.", figures.count(Quantity::BurstIops))
        }
    };
    format!(
        "{} IOPS is {part}burst performance; {} sustains {}. {lasts}{ran}",
        figures.count(Quantity::Iops),
        subject(finding),
        figures.count(Quantity::CapIops)
    )
}

pub(super) fn above(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    let limit = subject(finding);
    let of_machine = volume::names_machine(limit);
    if figures.has(Quantity::Runtime) {
        let giver = if of_machine { "the machine" } else { "this volume" };
        return format!(
            "{} IOPS over {} exceeds what {giver} can give: with full credits {limit} allows at most {} on average.",
            figures.count(Quantity::Iops),
            figures.span(Quantity::Runtime),
            figures.count(Quantity::CapIops)
        );
    }
    let (rate, most) = rate_and_cap(figures);
    let (giver, other) = if of_machine { (" on this machine", " or machine") } else { ("", "") };
    format!(
        "{rate} exceeds what this volume can give{giver} ({limit}: {most}): a cache served part of it, or it is another \
         volume{other}.",
    )
}

pub(super) fn below(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    let (would, reason) = match finding.remedy {
        Some(_) => ("should give", "a host setting or another workload slows it down"),
        None => (
            "would give",
            "check for a machine limit that the catalogue does not have, a host setting or another workload",
        ),
    };
    format!(
        "{} {would} {} IOPS at {} with {} in flight, but gave {} at {}: {reason}.",
        subject(finding),
        figures.count(Quantity::ExpectedIops),
        figures.time(Quantity::ExpectedLatency),
        whole_number(figures.value(Quantity::InFlightAchieved)),
        figures.count(Quantity::Iops),
        figures.time(Quantity::LatencyMean)
    )
}

pub(super) fn unwritten(figures: &SentenceFigures<'_>) -> String {
    format!(
        "Reads took {}, faster than the volume ({}): a cache or unwritten blocks served them.",
        figures.time(Quantity::LatencyMean),
        figures.time(Quantity::ExpectedLatency)
    )
}

pub(super) fn cpus(figures: &SentenceFigures<'_>) -> String {
    format!(
        "The provider requires one free CPU per {} IOPS: {} for the volume's limit; the machine has {}.",
        grouped(figures.value(Quantity::IopsPerCpu) as u64),
        figures.whole(Quantity::CpusNeeded),
        count(figures.value(Quantity::Cpus))
    )
}

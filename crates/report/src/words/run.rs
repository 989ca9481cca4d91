//! Sentences of findings about runs.

use analyse::{Code, Finding, Quantity, Remedy};
use record::{ReplayRecord, Unchecked, Verified};
use units::{Nanos, counted, grouped, significant};

use super::{SentenceFigures, subject};
use crate::fio::error_text;
use crate::sheet::Tone;

/// Error number that fio reports for a block that differs from what was written: of Linux, and of Windows.
const EILSEQ: i32 = 84;
const WINDOWS_EILSEQ: i32 = 42;

pub(super) fn errors(figures: &SentenceFigures<'_>, engine: &str) -> String {
    let first = match figures.value(Quantity::FirstError) as i32 {
        WINDOWS_EILSEQ if engine == "windowsaio" => EILSEQ,
        first => first,
    };
    if !figures.has(Quantity::Errors) {
        return match first {
            EILSEQ => "Verification failed: a block differs from what was written.".to_owned(),
            _ => format!("The job ended with error {first} ({}).", error_text(first)),
        };
    }
    let errors = figures.value(Quantity::Errors) as u64;
    let failed = format!("{} failed", counted(errors, "operation"));
    if first == EILSEQ {
        let blocks =
            if errors == 1 { "1 block differs".to_owned() } else { format!("{} blocks differ", grouped(errors)) };
        return format!("Verification failed: {blocks} from what was written.");
    }
    let which = if errors == 1 { "with" } else { "the first with" };
    format!("{failed}, {which} error {first} ({}).", error_text(first))
}

pub(super) fn not_verified(figures: &SentenceFigures<'_>, unchecked: Option<Unchecked>) -> String {
    let reason = unchecked.map_or("the run was stopped", unchecked_because);
    if unchecked == Some(Unchecked::Payload) {
        return "The payload of some blocks was not compared: fio's header checksum does not cover it, and the seed in the \
                header does not reproduce it. Write and verify with crc32c."
            .to_owned();
    }
    if unchecked == Some(Unchecked::Cached) {
        return "Some blocks were read back from the page cache, which could not be dropped. Use direct=1, or end the \
                programs that have the file mapped or locked in memory."
            .to_owned();
    }
    let (written, checked) = (figures.value(Quantity::BlocksWritten), figures.value(Quantity::BlocksChecked));
    if unchecked == Some(Unchecked::Unwritten) {
        return format!(
            "Nothing was verified: {reason}. Let the job write, or verify the data of an earlier run with rw=read."
        );
    }
    if unchecked == Some(Unchecked::Overwritten) {
        let amount = if checked == 0.0 { "Nothing" } else { "Not everything" };
        return format!(
            "{amount} was verified: {reason}, and only {} of {} could be checked. Give each worker its own file or \
             region (offset_increment), or use numjobs=1.",
            grouped(checked as u64),
            blocks(written, "written")
        );
    }
    if checked == 0.0 {
        return format!("Nothing was verified: {reason}, and none of {} was read back.", blocks(written, "written"));
    }
    if written == 0.0 {
        return format!("Not everything was verified: {reason} after {}.", blocks(checked, "checked"));
    }
    format!(
        "Not everything was verified: {reason}, and only {} of {} were read back.",
        grouped(checked as u64),
        blocks(written, "written")
    )
}

pub(super) fn several_runs(figures: &SentenceFigures<'_>) -> String {
    format!(
        "The verified blocks were written by {} runs: some are stale, or were written with another verify_nonce.",
        figures.whole(Quantity::RunsFound)
    )
}

/// Returns the reason why blocks were not checked, as a clause.
pub(crate) const fn unchecked_because(unchecked: Unchecked) -> &'static str {
    match unchecked {
        Unchecked::DoVerify => "do_verify=0",
        Unchecked::NullMethod => "verify=null compares nothing",
        Unchecked::NullEngine => "ioengine=null keeps no data",
        Unchecked::Payload => "the checksum covers no payload",
        Unchecked::Cached => "the page cache could not be emptied",
        Unchecked::Model => "a modelled volume keeps no data",
        Unchecked::Unwritten => "the job wrote no block",
        Unchecked::Overwritten => "other workers write the same blocks",
        Unchecked::Nothing => "there was nothing to read",
        Unchecked::Failed => "operations failed",
        Unchecked::Runtime => "the runtime ended",
        Unchecked::Stopped => "the job was stopped",
    }
}

/// Formats a number of blocks: `1 written block`, `1,024 written blocks`.
fn blocks(count: f64, which: &str) -> String {
    counted(count as u64, &format!("{which} block"))
}

/// Formats the number of operations: `1 operation`, `50,701 operations`.
pub(super) fn operations(figures: &SentenceFigures<'_>) -> String {
    counted(figures.value(Quantity::Operations) as u64, "operation")
}

pub(super) fn not_asynchronous(figures: &SentenceFigures<'_>, engine: &str) -> String {
    let asked = figures.whole(Quantity::InFlightAsked);
    if figures.has(Quantity::SubmissionShare) {
        let cause = match figures.0.remedy {
            Some(Remedy::Direct | Remedy::DirectUnlessGiven) => "as it does through the page cache",
            _ => "as it does if the device queue (`nr_requests`) is shorter, or the filesystem waits",
        };
        let disks = figures.0.subject.as_ref().map_or_else(String::new, |disks| {
            format!(" {disks} had {} in flight by their counters.", figures.in_flight(Quantity::InFlightAchieved))
        });
        let lead = match figures.has(Quantity::InFlightAsked) {
            true => format!("Despite iodepth={asked}, the engine {engine} spent"),
            false => format!("The engine {engine} spent"),
        };
        let share = figures.share(Quantity::SubmissionShare);
        return format!("{lead} {share} of its time in submission, which waited for the device, {cause}.{disks}");
    }
    if figures.has(Quantity::InFlightPossible) {
        return format!(
            "The engine {engine} issues one operation at a time, so iodepth={asked} gave at most {} in flight.",
            figures.whole(Quantity::InFlightPossible)
        );
    }
    format!(
        "The engine waits for each operation before it starts the next: {} in flight, although iodepth={asked}.",
        figures.in_flight(Quantity::InFlightAchieved)
    )
}

pub(super) fn burst_or_drift(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    let (early, late) = (figures.count(Quantity::EarlyIops), figures.count(Quantity::LateIops));
    if !figures.has(Quantity::CreditsGone) {
        return format!("{early} IOPS in the first third of the run, {late} in the last.");
    }
    let span = figures.span(Quantity::CreditsGone);
    format!("{early} IOPS for {span}, then {late}: the burst credits of {} ran out.", subject(finding))
}

pub(super) fn cgroup_throttle(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    let cap = match figures.has(Quantity::CapIops) {
        true => format!("{} IOPS", figures.count(Quantity::CapIops)),
        false => format!("{}/s", figures.bytes(Quantity::CapBytesPerSecond)),
    };
    format!(
        "The limit is {} ({cap}), used to {}. More depth only adds latency.",
        subject(finding),
        figures.share(Quantity::Utilisation)
    )
}

pub(super) fn model_held_back(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    if figures.has(Quantity::CreditsGone) {
        return format!(
            "The limit is {}: its burst credits ran out after {}. It throttled {} of operations, {} on average.",
            subject(finding),
            figures.span(Quantity::CreditsGone),
            figures.share(Quantity::DecidedShare),
            figures.time(Quantity::HeldMean)
        );
    }
    let held = if figures.value(Quantity::DecidedShare) < 0.5 {
        used(figures)
    } else {
        format!(
            "it throttled {} of operations, {} on average",
            figures.share(Quantity::DecidedShare),
            figures.time(Quantity::HeldMean)
        )
    };
    // A trace varies: neither its mean rate nor its mean depth belongs to the limit.
    if !figures.has(Quantity::InFlightNeeded) {
        return format!("The limit is {}: {held}.{}", subject(finding), credits(figures));
    }
    format!(
        "The limit is {} ({} IOPS): {held}. Depth {} reaches it; more only adds latency.{}",
        subject(finding),
        figures.count(Quantity::Iops),
        figures.needed(Quantity::InFlightNeeded),
        credits(figures)
    )
}

/// Reports whether a limit gave clearly more than it sustains. The jitter allowance at the start adds only a little.
fn is_spending(used: f64) -> bool {
    used > 1.05
}

/// Returns the utilization of a limit; above 100 % the limit spends burst credits.
fn used(figures: &SentenceFigures<'_>) -> String {
    let used = figures.value(Quantity::Utilisation);
    if is_spending(used) {
        format!("burst credits raised it to {} times its sustained rate", significant(used, 3))
    } else {
        format!("used to {}", figures.share(Quantity::Utilisation))
    }
}

/// Returns how long credits last, as a sentence with a leading blank.
pub(super) fn credits(figures: &SentenceFigures<'_>) -> String {
    let (left, spent) = if figures.has(Quantity::ByteCreditsLeft) {
        (figures.bytes(Quantity::ByteCreditsLeft), figures.bytes(Quantity::ByteCreditsSpent))
    } else if figures.has(Quantity::CreditsLeft) {
        (figures.count(Quantity::CreditsLeft), figures.count(Quantity::CreditsSpent))
    } else {
        return String::new();
    };
    format!(" Burst credits: {left} left; at {spent}/s they last {}.", figures.span(Quantity::CreditsLast))
}

pub(super) fn model_not_reached(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    let product = format!(
        "{} in flight / {} = {} IOPS",
        figures.in_flight(Quantity::InFlightAchieved),
        figures.time(Quantity::ServiceMean),
        figures.count(Quantity::Iops)
    );
    let (pace, of_all) = match figures.has(Quantity::SyncsInFlight) {
        false => (format!("No limit is reached; depth and latency set the rate: {product}."), ""),
        true => {
            let syncs = figures.in_flight(Quantity::SyncsInFlight);
            let each = figures.time(Quantity::SyncMean);
            (
                format!(
                    "No limit is reached; depth, latency and syncs set the rate: {product}, plus {syncs} syncs in flight of {each} each."
                ),
                ", syncs included",
            )
        }
    };
    if finding.subject.is_none() {
        return pace;
    }
    if is_spending(figures.value(Quantity::Utilisation)) {
        return format!("{pace} The nearest limit is {}: {}.", subject(finding), used(figures));
    }
    format!(
        "{pace} The nearest limit, {}, is used to {}; reaching it takes {} in flight{of_all}.",
        subject(finding),
        figures.share(Quantity::Utilisation),
        figures.needed(Quantity::InFlightNeeded)
    )
}

pub(super) fn page_cache(figures: &SentenceFigures<'_>) -> String {
    let why = if figures.has(Quantity::DeviceBytes) {
        format!(
            "the job read {}, the devices only {}",
            figures.bytes(Quantity::JobBytes),
            figures.bytes(Quantity::DeviceBytes)
        )
    } else if figures.has(Quantity::CachedShare) {
        format!("{} of the files was cached at the start", figures.share(Quantity::CachedShare))
    } else {
        format!("half of the random reads took {} or less, faster than any device", figures.time(Quantity::ServiceP50))
    };
    format!("This measured the page cache, not the device: {why}.")
}

pub(super) fn buffered_writes(figures: &SentenceFigures<'_>) -> String {
    let where_to = figures.clause(Quantity::DeviceBytes, || {
        format!(
            ": {} written, {} reached the devices",
            figures.bytes(Quantity::JobBytes),
            figures.bytes(Quantity::DeviceBytes)
        )
    });
    format!("Writes stayed in the page cache, and the job did not wait for the device{where_to}.")
}

pub(super) fn rate_not_reached(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    let missed = rate_missed(figures);
    match &finding.subject {
        Some(limit) if figures.has(Quantity::CreditsGone) => {
            format!("{missed}: the credits of {limit} ran out after {}.", figures.span(Quantity::CreditsGone))
        }
        Some(limit) => format!("{missed}: {limit} is the limit."),
        None => format!("{missed}, although the queue was deep enough."),
    }
}

pub(super) fn rate_missed(figures: &SentenceFigures<'_>) -> String {
    if figures.has(Quantity::ByteRateAsked) {
        format!(
            "Missed the requested rate: {}/s of {}/s",
            figures.bytes(Quantity::ByteRateReached),
            figures.bytes(Quantity::ByteRateAsked)
        )
    } else {
        format!(
            "Missed the requested rate: {} of {} {}",
            figures.count(Quantity::RateReached),
            figures.count(Quantity::RateAsked),
            rate_unit(figures)
        )
    }
}

/// Returns what a rate counts: `operations per second (28.0k reads, 10.0k of 12.0k writes)`, or `reads per second` if only
/// reads have one. Discards have no figures of their own.
fn rate_unit(figures: &SentenceFigures<'_>) -> String {
    let part = |reached: Quantity, asked: Quantity, name: &'static str| {
        figures.has(reached).then(|| match figures.count(reached) == figures.count(asked) {
            true => (name, format!("{} {name}", figures.count(reached))),
            false => (name, format!("{} of {} {name}", figures.count(reached), figures.count(asked))),
        })
    };
    let parts = [
        part(Quantity::ReadRateReached, Quantity::ReadRateAsked, "reads"),
        part(Quantity::WriteRateReached, Quantity::WriteRateAsked, "writes"),
    ];
    let of_kinds = [Quantity::ReadRateReached, Quantity::WriteRateReached].into_iter().find(|kind| figures.has(*kind));
    let has_discards = of_kinds.is_some_and(|kind| {
        figures.has(Quantity::RateReached) && figures.count(kind) != figures.count(Quantity::RateReached)
    });
    match parts {
        [None, None] => "IOPS".to_owned(),
        [Some((_, part)), None] | [None, Some((_, part))] if has_discards => {
            format!("IOPS ({part}, the rest discards)")
        }
        [Some((kind, _)), None] | [None, Some((kind, _))] => format!("{kind} per second"),
        [Some((_, reads)), Some((_, writes))] => format!("IOPS ({reads}, {writes})"),
    }
}

pub(super) fn queue_too_shallow(figures: &SentenceFigures<'_>) -> String {
    format!(
        "{}. At {} per operation that takes {} in flight, and the job permits {}.",
        rate_missed(figures),
        figures.time(Quantity::ServiceMean),
        figures.needed(Quantity::InFlightNeeded),
        figures.whole(Quantity::InFlightPossible)
    )
}

pub(super) fn cpu_bound(figures: &SentenceFigures<'_>) -> String {
    let workers = figures.value(Quantity::Workers) as u64;
    let whose = if workers > 1 { format!("each of {workers} workers") } else { "the worker".to_owned() };
    format!("The generator is the limit, not the device: {whose} used {} of a CPU.", figures.share(Quantity::CpuShare))
}

/// Returns Little's law with the figures of the run.
pub(super) fn little(figures: &SentenceFigures<'_>) -> String {
    format!(
        "{} in flight = {} IOPS x {}",
        figures.in_flight(Quantity::InFlightAchieved),
        figures.count(Quantity::Iops),
        figures.time(Quantity::ServiceMean)
    )
}

pub(super) fn depth_unknown(figures: &SentenceFigures<'_>) -> String {
    format!("{}, but the depth is unknown, and so is the limit.", little(figures))
}

/// Names the only kind whose latencies are known.
pub(super) fn one_kind_timed(finding: &Finding, figures: &SentenceFigures<'_>) -> String {
    let in_flight = figures.clause(Quantity::InFlightAchieved, || {
        format!(", and {} of them in flight", figures.in_flight(Quantity::InFlightAchieved))
    });
    format!(
        "Only the latency of {}s is known: {} on average{in_flight}. Without the latency of the other operations, the \
         limit is unknown.",
        finding.subject.as_deref().unwrap_or_default(),
        figures.time(Quantity::ServiceMean),
    )
}

pub(super) fn queue_not_filled(figures: &SentenceFigures<'_>) -> String {
    if figures.has(Quantity::ActiveWorkers) {
        return format!(
            "Some workers ended early: {} of {} were active on average. {} over the whole time, of {} possible.",
            figures.in_flight(Quantity::ActiveWorkers),
            figures.whole(Quantity::Workers),
            little(figures),
            figures.whole(Quantity::InFlightPossible)
        );
    }
    let why = figures.clause(Quantity::Thinktime, || {
        let between = match figures.has(Quantity::ThinktimeBlocks) {
            true => format!("after every {} operations", figures.whole(Quantity::ThinktimeBlocks)),
            false => "between operations".to_owned(),
        };
        format!(", because the job idles for {} {between}", figures.time(Quantity::Thinktime))
    });
    let then = if figures.has(Quantity::SyncsInFlight) && !figures.has(Quantity::SyncMean) {
        "The job syncs its writes, and sync times are not printed: operations may have waited for them.".to_owned()
    } else if figures.has(Quantity::SyncsInFlight) {
        format!(
            "Operations waited for syncs: {} more in flight, {} each. Run without `fsync` to see what the device can do.",
            figures.in_flight(Quantity::SyncsInFlight),
            figures.time(Quantity::SyncMean)
        )
    } else if figures.has(Quantity::Operations) {
        format!("{} are too few to fill it for long.", operations(figures))
    } else if figures.has(Quantity::SubmissionShare) {
        "Operations waited in submission, so the device's limit is unknown.".to_owned()
    } else if figures.0.subject.is_some() {
        "Without `direct=1` these are times of the page cache, so the device's limit is unknown.".to_owned()
    } else if figures.has(Quantity::BusyShare) {
        format!("A device was busy {} of the time and may have been saturated.", figures.share(Quantity::BusyShare))
    } else {
        "The device was not saturated.".to_owned()
    };
    format!(
        "The queue was not kept full: {} of {} possible ({}){why}. {then}",
        figures.in_flight(Quantity::InFlightAchieved),
        figures.whole(Quantity::InFlightPossible),
        little(figures)
    )
}

pub(super) fn latency_target(figures: &SentenceFigures<'_>) -> String {
    format!(
        "`latency_target` set the depth: {} in flight keep {} of operations within {}, more do not ({}).",
        figures.whole(Quantity::DepthFound),
        figures.share(Quantity::TargetShare),
        figures.time(Quantity::LatencyTarget),
        little(figures)
    )
}

pub(super) fn latency_bound(figures: &SentenceFigures<'_>) -> String {
    if figures.has(Quantity::SyncMean) {
        return format!(
            "Latency is the limit: one operation at a time at {}, plus {} per sync, gives {} IOPS on any device.",
            figures.time(Quantity::ServiceMean),
            figures.time(Quantity::SyncMean),
            figures.count(Quantity::Iops)
        );
    }
    format!(
        "Latency is the limit: one operation at a time at {} gives {} IOPS, regardless of the device.",
        figures.time(Quantity::ServiceMean),
        figures.count(Quantity::Iops)
    )
}

pub(super) fn unlike_jobs(figures: &SentenceFigures<'_>) -> String {
    format!(
        "{} different jobs are merged here ({}); no single depth or block size describes them, so the limit is unknown.",
        figures.whole(Quantity::UnlikeJobs),
        little(figures)
    )
}

/// Describes the mean fill of the queue. The rest of the time lies between a completion and the next submission.
fn filled(figures: &SentenceFigures<'_>) -> String {
    /// Mean fill that counts as full.
    const ALL: f64 = 0.97;
    if figures.value(Quantity::InFlightAchieved) >= ALL * figures.value(Quantity::InFlightPossible) {
        "the queue full".to_owned()
    } else {
        let (achieved, possible) =
            (figures.in_flight(Quantity::InFlightAchieved), figures.whole(Quantity::InFlightPossible));
        format!("the queue kept at {achieved} of {possible}")
    }
}

pub(super) fn device_flat(figures: &SentenceFigures<'_>) -> String {
    format!(
        "{} IOPS with {} ({}), steady to {} in throughput and {} in latency: typical of a rate limiter, where more depth \
         only adds latency, unless the device is that even.",
        figures.count(Quantity::Iops),
        filled(figures),
        little(figures),
        figures.share(Quantity::IntervalVariation),
        figures.share(Quantity::ServiceVariation)
    )
}

pub(super) fn queue_full(figures: &SentenceFigures<'_>) -> String {
    if figures.has(Quantity::SyncsInFlight) {
        return format!(
            "{} IOPS with operations and syncs in turn: of {} possible, {} in flight were operations ({}) and {} syncs \
             of {} each. Run without `fsync` to see what the device can do.",
            figures.count(Quantity::Iops),
            figures.whole(Quantity::InFlightPossible),
            figures.in_flight(Quantity::InFlightAchieved),
            figures.time(Quantity::ServiceMean),
            figures.in_flight(Quantity::SyncsInFlight),
            figures.time(Quantity::SyncMean),
        );
    }
    format!(
        "{} IOPS with {} ({}): one run cannot tell whether the device or the depth is the limit.",
        figures.count(Quantity::Iops),
        filled(figures),
        little(figures)
    )
}

/// Returns the result of a probe at a greater depth, and the limit that it implies.
pub(super) fn probed(code: Code, figures: &SentenceFigures<'_>) -> String {
    if !figures.has(Quantity::ProbeDepth) {
        return format!(
            "The device is the limit: {} had {} operations in flight by its own counters, and submissions waited for a \
             free place in its queue. More depth or another engine gives nothing; a longer device queue (`nr_requests`) may.",
            figures.0.subject.as_deref().unwrap_or("it"),
            figures.in_flight(Quantity::InFlightAchieved)
        );
    }
    let outcome = format!(
        "iodepth={} gives {} IOPS at {}, this depth {} at {}",
        figures.whole(Quantity::ProbeDepth),
        figures.count(Quantity::ProbeIops),
        figures.time(Quantity::ProbeServiceMean),
        figures.count(Quantity::Iops),
        figures.time(Quantity::ServiceMean)
    );
    match code {
        Code::DepthBound => format!("The depth is the limit, not the device: {outcome}."),
        Code::DeviceBound => {
            format!("The device is the limit, not the depth: {outcome}. More depth only adds latency.")
        }
        _ => format!("The depth is near the knee: {outcome}. `fathom sweep` finds the knee."),
    }
}

/// Returns the sentence for a repetition at the same depth whose result differs.
pub(super) fn not_repeated(figures: &SentenceFigures<'_>) -> String {
    format!(
        "The result does not repeat: {} IOPS in the run, {} at the same depth right after it (iodepth={} in between: \
         {}). Another workload interfered, or burst credits or a cache ran out. Run longer on an idle host.",
        figures.count(Quantity::Iops),
        figures.count(Quantity::AgainIops),
        figures.whole(Quantity::ProbeDepth),
        figures.count(Quantity::ProbeIops)
    )
}

pub(super) fn rate_kept(figures: &SentenceFigures<'_>) -> String {
    let rate = if figures.has(Quantity::ByteRateAsked) {
        format!("{}/s", figures.bytes(Quantity::ByteRateReached))
    } else {
        format!("{} {}", figures.count(Quantity::RateReached), rate_unit(figures))
    };
    let response = figures
        .clause(Quantity::ResponseMean, || format!("; mean response time {}", figures.time(Quantity::ResponseMean)));
    let in_flight = figures.clause(Quantity::InFlightAchieved, || {
        format!("; {} in flight", figures.in_flight(Quantity::InFlightAchieved))
    });
    format!("The requested rate was sustained: {rate}{response}{in_flight}.")
}

/// Time behind the intended instants from which a replay is said to be late.
const LATE_NS: u64 = 1_000_000;

/// Returns `12,345 of 12,345 requests of db.trace, from 0 s to 600 s, at their instants`.
pub(crate) fn replay(replay: &ReplayRecord) -> String {
    let pace = match (replay.speed, replay.closed_loop) {
        (None, _) => "as fast as possible".to_owned(),
        (Some(speed), false) if is_original(speed) => "at their recorded times (open loop)".to_owned(),
        (Some(speed), false) => format!("at {speed}x the speed (open loop)"),
        (Some(speed), true) if is_original(speed) => "after their dependencies (closed loop)".to_owned(),
        (Some(speed), true) => format!("after their dependencies (closed loop), think times at {speed}x"),
    };
    format!(
        "{} of {} requests of {}, from {} to {}, {pace}",
        grouped(replay.issued),
        grouped(replay.requests),
        replay.trace,
        instant(replay.first_ns),
        instant(replay.last_ns)
    )
}

/// Returns an instant of the trace.
fn instant(ns: u64) -> String {
    if ns == 0 { "0 s".to_owned() } else { Nanos::new(ns).to_string() }
}

fn is_original(speed: f64) -> bool {
    (speed - 1.0).abs() < 1e-9
}

/// Returns how far the replay was behind the intended instants, and what was left out, one sentence each.
pub(crate) fn replay_notes(replay: &ReplayRecord) -> Vec<String> {
    let (most, last) = (Nanos::new(replay.behind_max_ns), Nanos::new(replay.behind_last_ns));
    let mut notes = Vec::new();
    if replay.speed.is_some() && replay.behind_max_ns >= LATE_NS {
        let cause = if replay.has_reached_depth() {
            format!(
                ": all {} operations of the queue were in flight; a larger iodepth keeps the schedule",
                replay.depth
            )
        } else {
            String::new()
        };
        notes.push(format!("up to {most} behind schedule, the last request {last}{cause}"));
    }
    notes.extend(replay.notes.iter().cloned());
    notes
}

/// Returns the tone of the line.
pub(crate) fn replay_tone(replay: &ReplayRecord) -> Option<Tone> {
    (replay.issued < replay.requests).then_some(Tone::Odd)
}

/// Returns `1,024 of 1,024 written blocks checked, 0 mismatches (verify_nonce=2893761)`.
pub(crate) fn verified(verified: &Verified) -> String {
    let (written, checked) = (grouped(verified.written), grouped(verified.checked));
    let mut text = match verified.written {
        0 => format!("{checked} blocks checked"),
        _ => format!("{checked} of {written} written blocks checked"),
    };
    text.push_str(&match verified.headers_only {
        0 => String::new(),
        all if all == verified.checked => " by their headers alone".to_owned(),
        some => format!(", {} of them by their headers alone", grouped(some)),
    });
    if verified.checked > 0 {
        let plural = if verified.mismatches == 1 { "" } else { "es" };
        text.push_str(&format!(", {} mismatch{plural}", grouped(verified.mismatches)));
    }
    if let Some(unchecked) = verified.unchecked {
        text = format!("not verified: {}; {text}", unchecked_because(unchecked));
    }
    let nonces: Vec<String> = verified.nonces.iter().map(u32::to_string).collect();
    if !nonces.is_empty() {
        text.push_str(&format!(" (verify_nonce={})", nonces.join(", ")));
    }
    text
}

/// Returns the tone of the verification line.
pub(crate) fn verified_tone(verified: &Verified) -> Option<Tone> {
    if verified.mismatches > 0 {
        return Some(Tone::Bad);
    }
    verified.unchecked.filter(|unchecked: &Unchecked| !unchecked.is_chosen()).map(|_| Tone::Odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> ReplayRecord {
        ReplayRecord {
            trace: "db.trace".into(),
            requests: 12_345,
            issued: 12_345,
            last_ns: 600_000_000_000,
            speed: Some(1.0),
            depth: 64,
            in_flight_max: 9,
            ..ReplayRecord::default()
        }
    }

    #[test]
    fn the_line_says_what_was_replayed_and_how() {
        let line = replay(&record());
        assert_eq!(
            line,
            "12,345 of 12,345 requests of db.trace, from 0 s to 600 s, at their recorded times (open loop)"
        );
        let pace = |speed, closed_loop| replay(&ReplayRecord { speed, closed_loop, ..record() });
        assert!(pace(Some(2.5), false).ends_with("at 2.5x the speed (open loop)"));
        assert!(pace(Some(1.0), true).ends_with("after their dependencies (closed loop)"));
        assert!(pace(None, false).ends_with("as fast as possible"));
        assert_eq!(replay_tone(&record()), None);
        assert_eq!(replay_tone(&ReplayRecord { issued: 5, ..record() }), Some(Tone::Odd));
    }

    #[test]
    fn lateness_has_its_cause() {
        assert!(replay_notes(&record()).is_empty());
        let late = ReplayRecord { behind_max_ns: 20_000_000, behind_last_ns: 1_500_000, ..record() };
        assert_eq!(replay_notes(&late), ["up to 20.0 ms behind schedule, the last request 1.50 ms"]);
        let full = ReplayRecord { in_flight_max: 64, notes: vec!["3 requests are missing".into()], ..late };
        let notes = replay_notes(&full);
        assert!(notes[0].contains("all 64 operations of the queue were in flight") && notes.len() == 2, "{notes:?}");
    }
}

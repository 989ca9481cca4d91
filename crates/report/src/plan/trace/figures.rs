//! Figures of plans for traces as phrases, shared by all formats.

use plan::replay::{ReplayCredits, ReplayLimit, ReplayResult, ReplayedCandidate, SpeedMargin};
use plan::{Candidate, Requirement, UnmetNeed};
use results::plan::TracePlanResult;
use units::{Bytes, count, grouped, percent, portion, significant};
use volume::Burst;
use volume::catalogue::LatencyBasis;

use crate::plan::figures::{failure, surroundings, time, whole};
use crate::volume_terms::amount;

/// Percentiles of the tables, as fractions, with their names.
pub(super) const SHOWN: [(f64, &str); 3] = [(0.5, "p50"), (0.99, "p99"), (0.999, "p99.9")];

/// Names a percentile: `p99`, `p99.9`.
pub(super) fn percentile_name(share: f64) -> String {
    format!("p{}", percentage(share))
}

/// Formats a fraction as a percentage without zeros at its end: `99`, `99.9`.
fn percentage(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

/// Formats a duration as a clock: `1:30`, `13:05:00`.
pub(super) fn clock(secs: f64) -> String {
    let secs = secs.max(0.0).round() as u64;
    match secs {
        0..3_600 => format!("{}:{:02}", secs / 60, secs % 60),
        _ => format!("{}:{:02}:{:02}", secs / 3_600, secs / 60 % 60, secs % 60),
    }
}

/// Formats a long duration with its unit: `24 h`, `90 min`, `45 s`.
fn span(secs: f64) -> String {
    // Without zeros at the end: `24 h`, `1.5 h`.
    let rounded = |value: f64| if value >= 10.0 { value.round() } else { (value * 10.0).round() / 10.0 };
    match secs {
        secs if secs >= 7_200.0 => format!("{} h", rounded(secs / 3_600.0)),
        secs if secs >= 120.0 => format!("{} min", rounded(secs / 60.0)),
        secs => format!("{} s", rounded(secs)),
    }
}

/// Describes the replayed load in one sentence.
pub(super) fn load(plan: &TracePlanResult) -> String {
    let (trace, part) = (&plan.trace, &plan.trace.replayed);
    let of = match part.secs {
        None => format!("{}, all {} of it", trace.name, span(trace.secs)),
        Some((from, to)) => format!(
            "{}, its busiest {} ({} to {} of {})",
            trace.name,
            span(to - from),
            clock(from),
            clock(to),
            span(trace.secs)
        ),
    };
    let reads = match part.read_share {
        1.0 => "all reads".to_owned(),
        0.0 => "all writes".to_owned(),
        share => format!("{} reads", percent(share)),
    };
    let requests = units::counted(part.requests, "request");
    if part.iops <= 0.0 {
        return format!("{of}: {requests} at one instant, {reads}");
    }
    let throughput = Bytes::new(part.bytes_per_sec as u64);
    format!("{of}: {requests}, {} IOPS and {throughput}/s on average, {reads}", count(part.iops))
}

/// Describes the requirements in one line.
pub(super) fn requirements(plan: &TracePlanResult) -> String {
    let (need, bounds) = (&plan.need, &plan.bounds);
    let mut phrases = Vec::new();
    for (share, bound) in &bounds.percentiles {
        phrases.push(format!("{}% within {bound}", percentage(*share)));
    }
    phrases.extend(bounds.mean.map(|mean| format!("{mean} on average at most")));
    if phrases.is_empty() {
        let part = &plan.trace.replayed;
        let secs = if part.iops > 0.0 { part.requests as f64 / part.iops } else { 0.0 };
        let slack = ReplayResult::slack_secs(secs);
        phrases.push(format!("no bound on latency: a volume keeps up if it ends at most {} late", time(slack)));
    }
    phrases.extend(need.capacity.map(|bytes| format!("{} of capacity", Bytes::new(bytes))));
    if need.machines > 1 {
        phrases.push(format!("{} machines with a volume each", grouped(u64::from(need.machines))));
    }
    phrases.extend(surroundings(need));
    phrases.join("; ")
}

/// Describes what the headroom demands; `None` if there is none.
pub(super) fn headroom(plan: &TracePlanResult) -> Option<String> {
    let headroom = plan.need.headroom;
    let factor = significant(1.0 + headroom, 3);
    (headroom > 0.0).then(|| {
        let percent = significant(100.0 * headroom, 2);
        format!("headroom {percent}%: the volume keeps this with the trace replayed {factor} times as fast")
    })
}

/// Returns what lowers the confidence in all figures.
pub(super) fn cautions(plan: &TracePlanResult) -> Vec<String> {
    let closed = "closed loop: each request waits for the completion that its process had waited for";
    let derived = "only means over intervals are known: random arrivals and offsets within them are assumed, so bursts are \
                   missing and percentiles are lower than an application would see";
    let cautions = [(plan.trace.is_closed, closed), (plan.trace.is_derived, derived)];
    cautions.into_iter().filter(|(holds, _)| *holds).map(|(_, caution)| caution.to_owned()).collect()
}

/// Remarks on the trace, with what lowers the confidence in all figures.
pub(super) fn remarks(plan: &TracePlanResult) -> Vec<String> {
    let mut lines: Vec<String> = headroom(plan).into_iter().chain(cautions(plan)).collect();
    if let Some([p50, p99, p999]) = plan.trace.service_secs {
        let (p50, p99, p999) = (time(p50), time(p99), time(p999));
        lines.push(format!("recorded latencies: p50 {p50}, p99 {p99}, p99.9 {p999}"));
    }
    lines.extend(plan.trace.notes.iter().cloned());
    lines
}

/// Formats the percentiles and the mean of a replay: `p50 610 us, p99 1.80 ms, p99.9 4.10 ms; 700 us on average`.
pub(super) fn latencies(outcome: &ReplayResult) -> String {
    let shown =
        SHOWN.iter().filter_map(|(share, name)| Some(format!("{name} {}", time(outcome.percentile_secs(*share)?))));
    format!("{}; {} on average", shown.collect::<Vec<_>>().join(", "), time(outcome.mean_secs))
}

/// Describes what a limit did: `volume IOPS delayed 3.1% of the requests and throttled for 1.2% of the time`.
pub(super) fn limit(limit: &ReplayLimit) -> String {
    let (delayed, throttled) = (portion(limit.delayed), portion(limit.throttled));
    match limit.throttled > 0.0 {
        true => format!("{} delayed {delayed} of the requests, for {throttled} of the time", limit.name),
        false => format!("{} delayed {delayed} of the requests", limit.name),
    }
}

/// Describes all limits that delayed requests, the worst first, or the most used one.
pub(super) fn limits(outcome: &ReplayResult) -> String {
    let mut delaying: Vec<&ReplayLimit> = outcome.limits.iter().filter(|limit| limit.delay_secs > 0.0).collect();
    delaying.sort_by(|a, b| b.delay_secs.total_cmp(&a.delay_secs));
    let most = outcome.limits.iter().max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    match (delaying.as_slice(), most) {
        ([], None) => "none".to_owned(),
        ([], Some(most)) => format!("none delayed a request; {} was used to {}", most.name, percent(most.utilisation)),
        (delaying, _) => delaying.iter().take(3).map(|one| limit(one)).collect::<Vec<_>>().join("; "),
    }
}

/// Describes the credits of a limit: `lowest at 34% after 13:05:00`, `ran out after 1:20:00`.
pub(super) fn credits(credits: &ReplayCredits) -> String {
    let fraction = |level: f64| percent((level / credits.capacity.max(1e-9)).clamp(0.0, 1.0));
    let end = format!("{} at the end", fraction(credits.left));
    match credits.empty_at_secs {
        Some(at) => format!("ran out after {}; {end}", clock(at)),
        None => format!("lowest at {} after {}; {end}", fraction(credits.low.0), clock(credits.low.1)),
    }
}

/// Describes the margin of a candidate: `1.34 times the load`.
pub(super) fn margin(margin: &SpeedMargin) -> String {
    let least = if margin.is_open { "at least " } else { "" };
    format!("{least}{} times the load", significant(margin.factor, 3))
}

/// Returns the confidence in the limits of a volume: `published`, `assumed` or `given`.
pub(super) fn limits_basis(candidate: &Candidate) -> &'static str {
    let spec = &candidate.spec;
    if candidate.listed.starts_with("custom") {
        "given"
    } else if !spec.unknown_limits.is_empty() {
        "assumed"
    } else {
        "published"
    }
}

/// Returns the confidence in a figure that rests on limits and latencies, which is that of the less certain.
pub(super) fn headroom_basis(candidate: &Candidate) -> &'static str {
    match (candidate.about.latency_basis, limits_basis(candidate)) {
        (LatencyBasis::Assumed, _) | (_, "assumed") => "assumed",
        (LatencyBasis::Published, _) | (_, "published") => "published",
        (basis, _) => basis.name(),
    }
}

/// Lists the assumptions on which the figures of a candidate rest.
pub(super) fn assumptions(candidate: &Candidate) -> Vec<String> {
    let latency = candidate.about.latency_assumed.iter().map(|why| format!("latency: {why}"));
    let jitter = candidate.spec.limits.iter().find_map(|limit| match &limit.burst {
        Burst::Jitter(jitter) if jitter.basis.name() == "assumed" => {
            Some(format!("burst tolerance of {}: {}", limit.name, jitter.time))
        }
        _ => None,
    });
    latency.chain(jitter).collect()
}

/// Returns why a candidate is not enough, and the value that it reaches, if its reason has one.
pub(super) fn refusal(plan: &TracePlanResult, one: &ReplayedCandidate, unmet: &UnmetNeed) -> (String, Option<String>) {
    let stopped = match &one.outcome {
        Some(outcome) if outcome.was_stopped && outcome.planned > 0 => {
            let share = percent(outcome.requests as f64 / outcome.planned as f64);
            format!(" after {share} of the requests")
        }
        _ => String::new(),
    };
    let (wanted, reached) = (unmet.wanted, unmet.reached);
    match unmet.requirement {
        Requirement::Percentile => {
            let of = |(share, bound): &&(f64, units::Nanos)| (bound.secs_f64() - wanted).abs() < 1e-12 && *share > 0.0;
            let name = plan.bounds.percentiles.iter().find(of).map_or(0.99, |(share, _)| *share);
            let reason = format!("{} above {}", percentile_name(name), time(wanted));
            (reason, Some(format!("{} ({}{stopped})", time(reached), unmet.limit)))
        }
        Requirement::Mean => {
            let reason = format!("mean latency above {}", time(wanted));
            (reason, Some(format!("{} ({}{stopped})", time(reached), unmet.limit)))
        }
        Requirement::Iops => {
            let value = format!("{} of {} IOPS ({})", whole(reached), whole(wanted), unmet.limit);
            ("does not keep up".to_owned(), Some(value))
        }
        Requirement::Capacity => {
            let reason = format!("holds less than {}", Bytes::new(wanted as u64));
            (reason, Some(Bytes::new(reached as u64).to_string()))
        }
        Requirement::Budget => {
            let reason = format!("costs more than {} USD a month", amount(wanted));
            (reason, Some(format!("{} USD", amount(reached))))
        }
        _ => (failure(unmet), None),
    }
}

/// Volumes that are not enough for the same reason: the reason, and each volume with its value.
pub(super) fn refused(plan: &TracePlanResult) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for one in plan.missing() {
        for unmet in &one.candidate.failures {
            let (reason, value) = refusal(plan, one, unmet);
            let listed = &one.candidate.listed;
            let volume = value.map_or_else(|| listed.clone(), |value| format!("{listed} {value}"));
            match groups.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, volumes)) => volumes.push(volume),
                None => groups.push((reason, vec![volume])),
            }
        }
    }
    groups
}

/// Describes the accuracy of the search, and how it was done.
pub(super) fn accuracy(plan: &TracePlanResult) -> String {
    let exact = match plan.resolution {
        0.0 => "provisioned values are the smallest that are enough".to_owned(),
        resolution => format!("provisioned values are within {} of the smallest that are enough", percent(resolution)),
    };
    format!(
        "{} replays, seed {}: {exact}. Latencies count from the time the application issued a request.",
        grouped(u64::from(plan.replays())),
        plan.seed
    )
}

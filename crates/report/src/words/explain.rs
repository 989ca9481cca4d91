//! The answer of an explanation: whether the storage is the limit, and what helps.

use analyse::{Code, Explanation, Finding, Limit, PriceDifference, Quantity, Remedy, VolumeChange, answer};
use units::{Nanos, count, grouped, percent, significant};

use super::{SentenceContext, SentenceFigures, capitalized, parts, uncapitalized, whole_number};
use crate::words::volume::{size_words, throughput_words};
use results::answer::{Action, Answer, Outcome};

/// Where an explanation comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// Kind of input: `run`, `iostat`, `claim`.
    pub(crate) kind: &'a str,
    /// Volume that the figures were compared with.
    pub(crate) volume: Option<&'a str>,
}

/// Returns the answer to "is the storage the limit?".
pub(crate) fn explain_answer(explanation: &Explanation, origin: Origin<'_>) -> Answer {
    let found = answer(&explanation.findings);
    let context = SentenceContext::from(explanation);
    let subject = match explanation.subject.as_str() {
        "" => "the volume",
        name => name,
    };
    let (outcome, verdict) = match found.deciding {
        Some(finding) => {
            let lead = match found.limit {
                Limit::Storage => "Yes",
                Limit::Other | Limit::Nothing => "No",
                Limit::Unknown => "Cannot tell",
            };
            let outcome = match found.limit {
                Limit::Storage | Limit::Other => Outcome::Neutral,
                Limit::Nothing => Outcome::Good,
                Limit::Unknown => Outcome::Unknown,
            };
            (outcome, format!("{lead}: {}", cause(finding, subject, origin, context)))
        }
        None => of_figures(explanation, subject, origin),
    };
    let waits = found
        .queueing_ns()
        .map_or_else(String::new, |(now, then)| format!(" Requests take {} instead of {}.", time(now), time(then)));
    let restrictions = found.restricting.iter().take(1);
    let restrictions: String = restrictions.map(|finding| format!(" {}", parts(finding, context).statement)).collect();
    let mut actions: Vec<Action> = Vec::new();
    if found.deciding.is_some_and(|finding| finding.code == Code::SinceBoot) {
        actions.push(Action {
            what: "Measure while the load runs:".to_owned(),
            command: Some("iostat -xy 1 30 | fathom explain -".to_owned()),
        });
    }
    let purchase = explanation.change.as_ref().filter(|_| found.limit == Limit::Storage);
    let is_purchase = |finding: &&&Finding| {
        !(purchase.is_some() && matches!(finding.code, Code::ProvisionedTooLow | Code::SizeTooSmall))
    };
    actions.extend(purchase.map(|change| change_action(change, explanation)));
    let is_open = found.deciding.is_none_or(|finding| finding.code == Code::LittleHolds);
    if is_open && origin.volume.is_none() && outcome == Outcome::Unknown {
        actions.push(Action {
            what: "Name the volume, whose limits decide it:".to_owned(),
            command: Some("--volume aws/gp3,size=500GiB (or another of `fathom catalog`)".to_owned()),
        });
    }
    let has_spare = found.deciding.is_some_and(asks_for_little);
    if has_spare {
        actions.push(Action::from("Nothing: the load issues less than one request at a time.".to_owned()));
    }
    let helping = found.helping.iter().filter(is_purchase).filter(|finding| !(has_spare && asks_for_little(finding)));
    actions.extend(helping.map(|finding| action(finding, context)));
    Answer { outcome, verdict: verdict + &waits + &restrictions, actions, basis: basis(explanation, origin) }
}

/// Reports whether the load rarely has a request in flight, and a single one suffices: no depth would change it.
fn asks_for_little(finding: &Finding) -> bool {
    let single = matches!(
        finding.remedy,
        Some(Remedy::RaiseDepth { iodepth: 1, .. } | Remedy::MoreInFlight { in_flight: 1, .. })
    );
    single && finding.value(Quantity::InFlightAchieved).is_some_and(|in_flight| in_flight < LITTLE_IN_FLIGHT)
}

/// Mean number of requests in flight below which a load leaves a device idle most of the time.
const LITTLE_IN_FLIGHT: f64 = 0.5;

/// Returns why a load is as it is, after `Yes: ` or `No: `.
pub(super) fn cause(finding: &Finding, subject: &str, origin: Origin<'_>, context: SentenceContext<'_>) -> String {
    let figures = &SentenceFigures(finding);
    let volume = origin.volume.map(|words| words.split(',').next().unwrap_or(words));
    let limit = finding.subject.as_deref();
    let of_volume = |name: &str| match volume {
        Some(volume) => format!("{name} of {volume}"),
        None => name.to_owned(),
    };
    match (finding.code, limit) {
        (Code::VolumeIopsCap | Code::VolumeThroughputCap, Some(limit)) => {
            format!("{subject} is at its limit, {} ({}).", used(figures), of_volume(limit))
        }
        (Code::StationCap, Some(limit)) => format!("{limit} is saturated, {}.", used(figures)),
        (Code::MachineCap | Code::EgressCap, Some(limit)) => {
            format!("the machine is the limit, not the volume: {} ({limit}).", used(figures))
        }
        (Code::QueueTooShallow, _) if figures.has(Quantity::CapIops) => {
            let cpus = figures.value(Quantity::HostCpuShare);
            let reason = match cpus {
                busy if busy >= 0.9 => format!("The CPUs limit this: {} busy.", percent(busy)),
                _ => format!(
                    "It has {} requests in flight at {}; reaching its limit takes {}.",
                    significant(figures.value(Quantity::InFlightAchieved), 3),
                    figures.time(Quantity::ServiceMean),
                    figures.needed(Quantity::InFlightNeeded)
                ),
            };
            format!(
                "{subject} is used to {}, {} of {} IOPS. {reason}",
                percent(figures.value(Quantity::Iops) / figures.value(Quantity::CapIops)),
                count(figures.value(Quantity::Iops)),
                limit_count(figures.value(Quantity::CapIops))
            )
        }
        (Code::QueueFull, _) if !figures.has(Quantity::SyncsInFlight) => format!(
            "the queue was full, {} of {} in flight; one run cannot tell whether the device or the depth is the limit.",
            figures.in_flight(Quantity::InFlightAchieved),
            figures.whole(Quantity::InFlightPossible)
        ),
        (Code::SinceBoot, _) => {
            format!("{} IOPS is the average since boot, not the load.", figures.count(Quantity::Iops))
        }
        _ => uncapitalized(&parts(finding, context).statement),
    }
}

/// Returns a rate and the limit on it: `3.00k of 3,000 IOPS`.
fn used(figures: &SentenceFigures<'_>) -> String {
    if figures.has(Quantity::CapBytesPerSecond) {
        let [made, cap] = [Quantity::BytesPerSecondMade, Quantity::CapBytesPerSecond].map(|of| figures.bytes(of));
        return format!("{made}/s of {cap}/s");
    }
    format!("{} of {} IOPS", figures.count(Quantity::Iops), limit_count(figures.value(Quantity::CapIops)))
}

/// Formats a limit in full, because people know it by its digits.
fn limit_count(value: f64) -> String {
    if value >= 1000.0 { grouped(value.round() as u64) } else { count(value) }
}

/// Answers by figures without a finding.
fn of_figures(explanation: &Explanation, subject: &str, origin: Origin<'_>) -> (Outcome, String) {
    let figure = |quantity| explanation.figures.iter().find(|one| one.quantity == quantity).map(|one| one.value);
    let (iops, busy) = (figure(Quantity::Iops), figure(Quantity::BusyShare));
    let rate = iops.map(|iops| format!("{} IOPS", count(iops)));
    let latency = figure(Quantity::LatencyMean).map(|ns| format!(" at {}", time(ns))).unwrap_or_default();
    let seen = rate.map(|rate| rate + &latency);
    match (busy, &seen) {
        (Some(busy), Some(seen)) if busy < IDLE_SHARE => (Outcome::Good, format!("No: {subject} is idle: {seen}.")),
        (Some(busy), Some(seen)) if busy < BUSY_SHARE => {
            (Outcome::Good, format!("No: {subject} is busy {} of the time, {seen}.", percent(busy)))
        }
        (_, Some(seen)) if origin.volume.is_some() && !explanation.is_sized => (
            Outcome::Unknown,
            format!("Cannot tell: {subject} gives {seen}, but without a block size its throughput is unknown."),
        ),
        (_, Some(seen)) if origin.volume.is_some() => {
            (Outcome::Good, format!("No: {subject} is not at a limit, {seen}."))
        }
        (Some(busy), Some(seen)) => (
            Outcome::Unknown,
            format!(
                "Cannot tell: {subject} is busy {} of the time, {seen}, but what it could do is unknown.",
                percent(busy)
            ),
        ),
        (None, Some(seen)) => {
            (Outcome::Unknown, format!("Cannot tell: {subject} gives {seen}, but what it could do is unknown."))
        }
        (_, None) => (Outcome::Unknown, "Cannot tell: neither rate nor latency is known.".to_owned()),
    }
}

/// Busy fraction below which a device counts as idle, and from which it may be saturated.
const IDLE_SHARE: f64 = 0.01;
const BUSY_SHARE: f64 = 0.5;

/// Returns a purchase with its price, its effect and its command.
fn change_action(change: &VolumeChange, explanation: &Explanation) -> Action {
    let latency = explanation.figures.iter().find(|figure| figure.quantity == Quantity::LatencyMean);
    let effect = match latency {
        Some(now) if now.value > 1.1 * change.then.latency_ns => {
            format!("{} becomes {}", time(now.value), time(change.then.latency_ns))
        }
        _ => format!("up to {} IOPS", count(change.then.iops)),
    };
    let what = [
        change.bytes.map(|bytes| format!("grow it to {}", size_words(bytes as f64))),
        change.iops.map(|iops| format!("provision {} IOPS", grouped(iops))),
        change.bytes_per_second.map(|rate| format!("provision {}", throughput_words(rate))),
    ];
    let what = super::joined(&what.into_iter().flatten().collect::<Vec<_>>(), "and");
    let price =
        change.price.as_ref().map_or_else(|| " (price unknown)".to_owned(), |price| format!(": {}", added(price)));
    Action {
        what: format!("{}{price} → {effect}.", capitalized(&what)),
        command: super::providers::modify(&change.volume, change.bytes, change.iops, change.bytes_per_second),
    }
}

/// Formats a price difference: `+15.00 USD a month (us-east-1)`.
pub(crate) fn added(price: &PriceDifference) -> String {
    let region = price.region.as_ref().map_or_else(String::new, |region| format!(" ({region})"));
    format!("{:+.2} {} a month{region}", price.per_month, price.currency)
}

/// Returns the remedy of a finding as an action.
pub(super) fn action(finding: &Finding, context: SentenceContext<'_>) -> Action {
    // A queue of random service times gives slightly less than the limit at the knee.
    let is_same = |iops: f64| finding.value(Quantity::Iops).is_some_and(|now| iops > 0.98 * now);
    let then = finding.counterfactual.map(|point| match is_same(point.iops) {
        true => format!("the same IOPS at {}", time(point.latency_ns)),
        false => format!("{} IOPS at {}", count(point.iops), time(point.latency_ns)),
    });
    match (&finding.remedy, then) {
        (Some(Remedy::FewerInFlight { in_flight }), Some(then)) => Action::from(format!(
            "Keep {} requests in flight: {then} (fewer connections or jobs at a time, smaller batches).",
            whole_number(*in_flight as f64)
        )),
        (Some(Remedy::LowerDepth { iodepth, .. }), Some(then)) => {
            Action::from(format!("Set iodepth={iodepth}: {then}."))
        }
        _ => {
            let words = parts(finding, context);
            Action::from(words.remedy.into_iter().chain(words.outlook).collect::<Vec<_>>().join(" "))
        }
    }
}

fn basis(explanation: &Explanation, origin: Origin<'_>) -> Vec<String> {
    let source = match origin.kind {
        "run" | "claim" | "trace" => None,
        kind => Some(match explanation.active {
            Some(active) => format!("{kind}: {} of {} intervals had requests", active.active, active.all),
            None => format!("averages of {kind}"),
        }),
    };
    let volume = origin.volume.map(|_| "the volume is as you named it".to_owned());
    source.into_iter().chain(volume).chain(explanation.notes.iter().cloned()).collect()
}

fn time(ns: f64) -> String {
    Nanos::new(ns.round() as u64).to_string()
}

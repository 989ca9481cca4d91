//! A plan for a trace as CSV and JSON.

use plan::UnmetNeed;
use plan::replay::{ReplayCredits, ReplayInterval, ReplayLimit, ReplayResult, ReplayedCandidate};
use results::plan::TracePlanResult;
use results::plan::document::{NOT_CONSIDERED, PlanConditions, PlanPercentile};
use results::plan::trace::{
    CourseInterval, ReplayedLatency, ReplayedPart, ReplayedPercentile, TracePlanCandidate, TracePlanCredits,
    TracePlanDocument, TracePlanFailure, TracePlanHeadroom, TracePlanLimit, TracePlanNeed, TracePlanPrice,
    TracePlanSource, TraceService,
};
use results::stored::sorted;
use units::Nanos;

use super::figures::{assumptions, headroom_basis, limits_basis, refusal};
use crate::escape;
use crate::plan::figures::name;
use crate::plan::tables::{finite, ns};

/// Returns CSV with one row per candidate. Column names contain the units; unknown values are empty.
pub(crate) fn csv(plan: &TracePlanResult) -> String {
    let mut out = String::from(
        "volume,meets,front,size_bytes,currency,price_per_month,usd_per_month,price_complete,region,price_date,\
         mean_ns,p50_ns,p99_ns,p99_9_ns,max_ns,latency_basis,limit,delayed_share,throttled_share,limits_basis,\
         credits_low_share,credits_empty_at_s,headroom_factor,headroom_is_open,replays,why_not\n",
    );
    for index in plan.ranking.meeting.iter().chain(&plan.ranking.may_meet).chain(&plan.ranking.missing) {
        let one = &plan.candidates[*index];
        let (candidate, outcome) = (&one.candidate, one.outcome.as_ref());
        let money = candidate.price.as_ref();
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
        let ns = |secs: Option<f64>| secs.map_or_else(String::new, |secs| format!("{:.0}", secs * 1e9));
        let text = |text: Option<&str>| escape::csv(text.unwrap_or_default());
        let at = |share: f64| ns(outcome.and_then(|outcome| outcome.percentile_secs(share)));
        let limit = outcome.and_then(ReplayResult::bottleneck);
        let credits = outcome.into_iter().flat_map(|of| &of.limits).find_map(|limit| limit.credits.as_ref());
        let why: Vec<String> = candidate.failures.iter().map(|unmet| refusal(plan, one, unmet).0).collect();
        let fields = [
            escape::csv(&candidate.spec.name),
            candidate.meets().to_string(),
            plan.ranking.front.contains(index).to_string(),
            candidate.spec.size.get().to_string(),
            text(money.map(|money| money.price.currency.as_str())),
            number(money.map(|money| money.price.per_month)),
            number(money.map(|money| money.usd_per_month)),
            money.map_or_else(String::new, |money| money.whole().to_string()),
            text(money.and_then(|money| money.price.region.as_deref())),
            text(money.map(|money| money.price.source.date.as_str())),
            ns(outcome.map(|outcome| outcome.mean_secs)),
            at(0.5),
            at(0.99),
            at(0.999),
            ns(outcome.map(|outcome| outcome.max_secs)),
            candidate.about.latency_basis.name().to_owned(),
            text(limit.map(|limit| limit.name.as_str())),
            number(limit.map(|limit| limit.delayed)),
            number(outcome.map(ReplayResult::throttled)),
            limits_basis(candidate).to_owned(),
            number(credits.map(|credits| credits.low.0 / credits.capacity.max(1e-9))),
            number(credits.and_then(|credits| credits.empty_at_secs)),
            number(one.margin.map(|margin| margin.factor)),
            one.margin.map_or_else(String::new, |margin| margin.is_open.to_string()),
            one.replays.to_string(),
            escape::csv(&why.join("; ")),
        ];
        out.push_str(&fields.join(","));
        out.push('\n');
    }
    out
}

pub(crate) fn json(plan: &TracePlanResult) -> String {
    sorted(&document(plan))
}

/// Returns the document for programs.
pub(crate) fn document(plan: &TracePlanResult) -> TracePlanDocument<'_> {
    let (trace, part, need, ranking) = (&plan.trace, &plan.trace.replayed, &plan.need, &plan.ranking);
    let named = |index: usize| plan.candidates[index].candidate.spec.name.as_str();
    let of = |indices: &[usize]| -> Vec<TracePlanCandidate<'_>> {
        indices.iter().map(|index| candidate(plan, &plan.candidates[*index])).collect()
    };
    let percentile = |(share, bound): &(f64, Nanos)| PlanPercentile { share: *share, ns: bound.get() };
    TracePlanDocument {
        fathom_trace_plan: TracePlanDocument::SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        seed: plan.seed,
        resolution: plan.resolution,
        trace: TracePlanSource {
            name: &trace.name,
            source: &trace.source,
            requests: trace.requests,
            secs: trace.secs,
            replay_loop: if trace.is_closed { "closed" } else { "open" },
            confidence: if trace.is_derived { "assumed" } else { "measured" },
            service: trace.service_secs.map(|secs| {
                let [p50_ns, p99_ns, p99_9_ns] = secs.map(ns);
                TraceService { p50_ns, p99_ns, p99_9_ns }
            }),
            notes: &trace.notes,
            replayed: ReplayedPart {
                from_s: part.secs.map(|(from, _)| from),
                to_s: part.secs.map(|(_, to)| to),
                requests: part.requests,
                iops: part.iops,
                bytes_per_sec: part.bytes_per_sec,
                read_share: part.read_share,
            },
        },
        need: TracePlanNeed {
            percentiles: plan.bounds.percentiles.iter().map(percentile).collect(),
            conditions: PlanConditions::new(need, plan.bounds.mean),
        },
        not_considered: NOT_CONSIDERED,
        best: ranking.best.map(named),
        fastest: ranking.fastest.map(named),
        best_of_known_latency: ranking.known_best.map(named),
        front: ranking.front.iter().map(|index| named(*index)).collect(),
        next_step: plan.next_step.as_ref().map(|next| candidate(plan, next)),
        meeting: of(&ranking.meeting),
        may_meet: of(&ranking.may_meet),
        missing: of(&ranking.missing),
    }
}

fn candidate<'a>(plan: &TracePlanResult, one: &'a ReplayedCandidate) -> TracePlanCandidate<'a> {
    let (candidate, outcome) = (&one.candidate, one.outcome.as_ref());
    let failure = |unmet: &'a UnmetNeed| {
        let (reason, value) = refusal(plan, one, unmet);
        TracePlanFailure {
            requirement: name(unmet.requirement),
            limit: &unmet.limit,
            wanted: finite(unmet.wanted),
            reached: finite(unmet.reached),
            reason,
            value,
        }
    };
    let basis = limits_basis(candidate);
    TracePlanCandidate {
        volume: &candidate.spec.name,
        listed: &candidate.listed,
        title: &candidate.spec.title,
        size_bytes: candidate.spec.size.get(),
        meets: candidate.meets(),
        failures: candidate.failures.iter().map(failure).collect(),
        price: candidate.price.as_ref().map(|money| TracePlanPrice { price: money.into(), confidence: "published" }),
        latency: outcome.map(|outcome| latency(outcome, candidate.about.latency_basis.name())),
        limits: outcome.map(|outcome| outcome.limits.iter().map(|of| limit(of, basis)).collect()),
        headroom: one.margin.map(|margin| TracePlanHeadroom {
            factor: margin.factor,
            is_open: margin.is_open,
            confidence: headroom_basis(candidate),
        }),
        course: outcome.map(|outcome| outcome.course.iter().map(interval).collect()),
        assumed: assumptions(candidate),
        replays: one.replays,
    }
}

fn latency(outcome: &ReplayResult, basis: &'static str) -> ReplayedLatency {
    let percentile = |(share, secs): &(f64, f64)| ReplayedPercentile { share: *share, ns: ns(*secs) };
    ReplayedLatency {
        mean_ns: ns(outcome.mean_secs),
        max_ns: ns(outcome.max_secs),
        percentiles: outcome.percentiles.iter().map(percentile).collect(),
        requests: outcome.requests,
        planned: outcome.planned,
        stopped: outcome.was_stopped,
        behind_ns: ns(outcome.behind_secs()),
        confidence: basis,
    }
}

fn limit<'a>(limit: &'a ReplayLimit, basis: &'static str) -> TracePlanLimit<'a> {
    let credits = |held: &'a ReplayCredits| TracePlanCredits {
        unit: if held.in_bytes { "bytes" } else { "operations" },
        capacity: held.capacity,
        low: held.low.0,
        low_at_s: held.low.1,
        left: held.left,
        empty_at_s: held.empty_at_secs,
        levels: &held.levels,
    };
    TracePlanLimit {
        name: &limit.name,
        delayed_share: limit.delayed,
        delay_ns: ns(limit.delay_secs),
        throttled_share: limit.throttled,
        utilisation: limit.utilisation,
        credits: limit.credits.as_ref().map(credits),
        confidence: basis,
    }
}

fn interval(interval: &ReplayInterval) -> CourseInterval {
    CourseInterval {
        from_s: interval.from_secs,
        to_s: interval.to_secs,
        iops: interval.iops,
        p50_ns: ns(interval.p50_secs),
        p99_ns: ns(interval.p99_secs),
    }
}

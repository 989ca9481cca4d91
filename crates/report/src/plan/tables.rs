//! A plan as CSV and JSON.

use plan::{Candidate, JitterComparison, JitterEffect, Nearest, UnmetNeed};
use results::plan::PlanResult;
use results::plan::document::{
    CandidatePrice, JitterLatency, NOT_CONSIDERED, PlanCandidate, PlanConditions, PlanDocument, PlanExchange,
    PlanFailure, PlanImpossible, PlanJitter, PlanJobs, PlanLimit, PlanMerging, PlanNeed, PlanNextStep, PlanPercentile,
    RateBurst,
};
use results::stored::sorted;

use super::answer;
use super::figures::{self, name};
use crate::escape;

/// Returns CSV with one row per candidate. Column names contain the units; unknown values are empty.
pub(crate) fn csv(plan: &PlanResult) -> String {
    let mut out = String::from(
        "volume,meets,front,size_bytes,currency,price_per_month,capacity_price,iops_price,throughput_price,\
         performance_price,price_complete,region,price_date,price_per_iops,price_per_mibps,limit,limit_iops,headroom,\
         wanted_iops,block_bytes,latency_ns,percentile_ns,in_flight,iops_per_gb,cpus,confirmed,why_not,\
         usd_per_month,latency_basis,percentile_without_jitter_ns,latency_without_jitter_ns,unknown_machine_limits,\
         machine,machines_usd_per_month,stripe\n",
    );
    for index in plan.ranking.meeting.iter().chain(&plan.ranking.may_meet).chain(&plan.ranking.missing) {
        let candidate = &plan.candidates[*index];
        let number = |value: Option<f64>| {
            value.filter(|value| value.is_finite()).map_or_else(String::new, |value| format!("{value:.6}"))
        };
        let money = candidate.price.as_ref();
        let part = |of: fn(&volume::spec::PriceParts) -> f64| number(money.map(|money| of(&money.price.parts)));
        let ns = |secs: Option<f64>| secs.map_or_else(String::new, |secs| format!("{:.0}", secs * 1e9));
        let text = |text: Option<&str>| escape::csv(text.unwrap_or_default());
        let why: Vec<String> = candidate.failures.iter().map(figures::failure).collect();
        let fields = [
            escape::csv(&candidate.spec.name),
            candidate.meets().to_string(),
            plan.ranking.front.contains(index).to_string(),
            candidate.spec.size.get().to_string(),
            text(money.map(|money| money.price.currency.as_str())),
            number(money.map(|money| money.price.per_month)),
            part(|parts| parts.capacity),
            part(|parts| parts.iops),
            part(|parts| parts.throughput),
            part(|parts| parts.performance),
            money.map_or_else(String::new, |money| money.whole().to_string()),
            text(money.and_then(|money| money.price.region.as_deref())),
            text(money.map(|money| money.price.source.date.as_str())),
            number(candidate.price_per_iops()),
            number(candidate.price_per_mibps()),
            text(candidate.limit.as_ref().map(|cap| cap.name.as_str())),
            number(candidate.limit.as_ref().map(|cap| cap.iops)),
            number(Some(candidate.headroom)),
            number(Some(candidate.rate)),
            format!("{:.0}", candidate.block),
            ns(candidate.mean_secs),
            ns(candidate.percentile_secs),
            number(candidate.in_flight),
            number(candidate.iops_per_gb()),
            number(candidate.cpus),
            candidate.survived.map_or_else(String::new, |survived| survived.to_string()),
            escape::csv(&why.join("; ")),
            number(money.map(|money| money.usd_per_month)),
            candidate.about.latency_basis.name().to_owned(),
            ns(candidate.jitter.as_ref().and_then(|effect| effect.percentile_secs).map(|secs| secs.without)),
            ns(candidate.jitter.as_ref().and_then(|effect| effect.mean_secs).map(|secs| secs.without)),
            escape::csv(&candidate.spec.unknown_limits.join("; ")),
            text(figures::machine(candidate)),
            number(money.and_then(|money| money.machines_usd)),
            candidate.members().to_string(),
        ];
        out.push_str(&fields.join(","));
        out.push('\n');
    }
    out
}

pub(crate) fn json(plan: &PlanResult) -> String {
    sorted(&document(plan))
}

/// Returns the document for programs.
pub(super) fn document<'a>(plan: &'a PlanResult) -> PlanDocument<'a> {
    let (need, ranking) = (&plan.need, &plan.ranking);
    let one = |index: usize| plan.candidates[index].spec.name.as_str();
    let of = |indices: &[usize]| -> Vec<PlanCandidate<'_>> {
        indices.iter().map(|index| candidate(plan, *index, &plan.candidates[*index])).collect()
    };
    let impossible =
        |nearest: &'a Nearest| PlanImpossible { failure: failure(&nearest.failure), nearest: &nearest.volume };
    PlanDocument {
        answer: answer::answer(plan),
        fathom_plan: PlanDocument::SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        seed: plan.seed,
        need: PlanNeed {
            iops: need.iops,
            bytes_per_sec: need.bytes_per_sec,
            block_bytes: need.block,
            read_share: need.read_share,
            sequential: need.sequential,
            percentile: need.percentile.map(|(share, bound)| PlanPercentile { share, ns: bound.get() }),
            shared: need.shared,
            conditions: PlanConditions::new(need, need.mean),
            arithmetic: &plan.derivation,
            unknown: plan.doubt.as_ref().map(figures::doubt),
        },
        exchange: exchange(&need.exchange),
        not_considered: NOT_CONSIDERED,
        best: ranking.best.map(one),
        fastest: ranking.fastest.map(one),
        best_of_known_latency: ranking.known_best.map(one),
        fastest_of_known_latency: ranking.known_fastest.map(one),
        without_headroom: plan.without_headroom.as_ref().map(|tight| tight.spec.name.as_str()),
        front: ranking.front.iter().map(|index| one(*index)).collect(),
        next_step: plan.next_step.as_ref().map(next_step),
        lift: plan.lift.as_ref().map(next_step),
        years: plan.years.iter().map(|year| year.as_ref().map(next_step)).collect(),
        meeting: of(&ranking.meeting),
        may_meet: of(&ranking.may_meet),
        missing: of(&ranking.missing),
        impossible: ranking.impossible.iter().map(impossible).collect(),
        nearest: ranking.nearest.map(one),
    }
}

pub(super) fn exchange(exchange: &plan::Exchange) -> PlanExchange<'_> {
    let plan::Exchange { usd_per_eur, usd_per_gbp, source } = exchange;
    PlanExchange {
        usd_per_eur: *usd_per_eur,
        usd_per_gbp: *usd_per_gbp,
        title: &source.title,
        address: &source.address,
        date: &source.date,
    }
}

fn next_step(next: &Candidate) -> PlanNextStep<'_> {
    let money = next.known_price();
    PlanNextStep {
        volume: &next.spec.name,
        price_per_month: money.map(|money| money.price.per_month),
        currency: money.map(|money| money.price.currency.as_str()),
        usd_per_month: money.map(|money| money.usd_per_month),
        confirmed: next.survived,
    }
}

pub(super) fn failure(failure: &UnmetNeed) -> PlanFailure<'_> {
    PlanFailure {
        requirement: name(failure.requirement),
        limit: &failure.limit,
        wanted: finite(failure.wanted),
        reached: finite(failure.reached),
        says: figures::failure(failure),
    }
}

fn candidate<'a>(plan: &'a PlanResult, index: usize, candidate: &'a Candidate) -> PlanCandidate<'a> {
    let (spec, about) = (&candidate.spec, &candidate.about);
    PlanCandidate {
        volume: &spec.name,
        listed: &candidate.listed,
        title: &spec.title,
        size_bytes: spec.size.get(),
        meets: candidate.meets(),
        failures: candidate.failures.iter().map(failure).collect(),
        limit: candidate.limit.as_ref().map(|cap| PlanLimit { name: &cap.name, iops: finite(cap.iops) }),
        headroom: finite(candidate.headroom),
        wanted_iops: candidate.rate,
        block_bytes: candidate.block,
        price: candidate.price.as_ref().map(|money| CandidatePrice {
            price: money.into(),
            per_iops: candidate.price_per_iops(),
            per_mibps: candidate.price_per_mibps(),
        }),
        latency_ns: candidate.mean_secs.map(ns),
        percentile_ns: candidate.percentile_secs.map(ns),
        in_flight: candidate.in_flight,
        jobs: candidate.jobs().map(|(numjobs, iodepth)| PlanJobs { numjobs, iodepth }),
        iops_per_gb: candidate.iops_per_gb(),
        burst: candidate.burst.map(|(iops, secs)| RateBurst { iops: finite(iops), secs: finite(secs) }),
        volumes: candidate.volumes * candidate.members(),
        stripe: candidate.members(),
        machine: candidate.machine.as_ref().map(Into::into),
        cpus: candidate.cpus,
        machines: plan.machines_of(index).iter().map(|machine| machine.kind.name.as_str()).collect(),
        confirmed: candidate.survived,
        margin: candidate.margin,
        as_of: &about.as_of,
        unknown: &about.unknown,
        latency_assumed: about.latency_assumed.as_deref(),
        latency_basis: about.latency_basis.name(),
        jitter: candidate.jitter.as_ref().map(jitter),
        merging: candidate.merging.as_ref().map(|effect| PlanMerging {
            limit: &effect.limit,
            iops_each: effect.iops,
            source: &effect.merging.source.title,
            date: &effect.merging.source.date,
            assumed: &effect.merging.assumed,
        }),
        unknown_machine_limits: &spec.unknown_limits,
    }
}

fn jitter(effect: &JitterEffect) -> PlanJitter<'_> {
    let both = |secs: JitterComparison| JitterLatency { with_ns: ns(secs.with), without_ns: ns(secs.without) };
    PlanJitter {
        limit: &effect.limit,
        ms: effect.jitter.time.get() as f64 / 1e6,
        basis: effect.jitter.basis.name(),
        simulated: effect.is_simulated,
        latency: effect.mean_secs.map(both),
        percentile: effect.percentile_secs.map(both),
    }
}

/// Returns seconds in whole nanoseconds.
pub(super) fn ns(secs: f64) -> f64 {
    (secs * 1e9).round()
}

pub(super) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

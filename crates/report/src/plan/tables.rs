//! A plan as CSV and JSON.

use plan::{Candidate, UnmetNeed};
use results::plan::PlanResult;
use serde_json::{Value, json};

use super::answer;
use super::figures::{self, name};
use crate::escape;
use crate::volume_terms::price_json;

/// Returns CSV with one row per candidate. Column names contain the units; unknown values are empty.
pub(crate) fn csv(plan: &PlanResult) -> String {
    let mut out = String::from(
        "volume,meets,front,size_bytes,currency,price_per_month,capacity_price,iops_price,throughput_price,\
         performance_price,price_complete,region,price_date,price_per_iops,price_per_mibps,limit,limit_iops,headroom,\
         wanted_iops,block_bytes,latency_ns,percentile_ns,in_flight,iops_per_gb,cpus,confirmed,why_not,\
         usd_per_month,latency_basis,percentile_without_jitter_ns,latency_without_jitter_ns,unknown_machine_limits\n",
    );
    for index in plan.ranking.meeting.iter().chain(&plan.ranking.missing) {
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
        ];
        out.push_str(&fields.join(","));
        out.push('\n');
    }
    out
}

/// Version of the JSON layout.
const SCHEMA: u32 = 1;

pub(crate) fn json(plan: &PlanResult) -> String {
    let ranking = &plan.ranking;
    let names = |indices: &[usize]| -> Vec<&str> {
        indices.iter().map(|index| plan.candidates[*index].spec.name.as_str()).collect()
    };
    let one = |index: Option<usize>| index.map(|index| plan.candidates[index].spec.name.as_str());
    let of = |indices: &[usize]| -> Vec<Value> {
        indices.iter().map(|index| candidate(plan, *index, &plan.candidates[*index])).collect()
    };
    let impossible: Vec<Value> = ranking
        .impossible
        .iter()
        .map(|nearest| json!({ "failure": failure(&nearest.failure), "nearest": nearest.volume }))
        .collect();
    let need = &plan.need;
    let document = json!({
        "answer": answer::answer(plan),
        "fathom_plan": SCHEMA,
        "version": env!("CARGO_PKG_VERSION"),
        "seed": plan.seed,
        "need": {
            "iops": need.iops, "bytes_per_sec": need.bytes_per_sec, "block_bytes": need.block,
            "read_share": need.read_share, "sequential": need.sequential, "capacity_bytes": need.capacity,
            "mean_ns": need.mean.map(units::Nanos::get),
            "percentile": need.percentile.map(|(share, bound)| json!({ "share": share, "ns": bound.get() })),
            "machines": need.machines, "shared": need.shared, "scratch": need.scratch, "vcpus": need.vcpus,
            "machine": need.machine, "volumes": need.volumes, "region": need.region, "budget_usd": need.budget,
            "growth_per_year": need.growth, "headroom": need.headroom, "arithmetic": plan.derivation,
        },
        "exchange": {
            "usd_per_eur": need.exchange.usd_per_eur, "title": need.exchange.source.title,
            "address": need.exchange.source.address, "date": need.exchange.source.date,
        },
        "not_considered": ["several volumes striped together (RAID 0)", "prices of machines"],
        "best": one(ranking.best),
        "fastest": one(ranking.fastest),
        "best_of_known_latency": one(ranking.known_best),
        "fastest_of_known_latency": one(ranking.known_fastest),
        "without_headroom": plan.without_headroom.as_ref().map(|tight| &tight.spec.name),
        "front": names(&ranking.front),
        "next_step": plan.next_step.as_ref().map(|next| json!({
            "volume": next.spec.name,
            "price_per_month": next.known_price().map(|money| money.price.per_month),
            "currency": next.known_price().map(|money| &money.price.currency),
            "confirmed": next.survived,
        })),
        "meeting": of(&ranking.meeting),
        "missing": of(&ranking.missing),
        "impossible": impossible,
        "nearest": one(ranking.nearest),
    });
    format!("{document:#}\n")
}

fn failure(failure: &UnmetNeed) -> Value {
    let finite = |value: f64| value.is_finite().then_some(value);
    json!({
        "requirement": name(failure.requirement), "limit": failure.limit,
        "wanted": finite(failure.wanted), "reached": finite(failure.reached),
        "says": figures::failure(failure),
    })
}

fn candidate(plan: &PlanResult, index: usize, candidate: &Candidate) -> Value {
    let finite = |value: f64| value.is_finite().then_some(value);
    let ns = |secs: Option<f64>| secs.map(|secs| (secs * 1e9).round());
    let more = || json!({ "per_iops": candidate.price_per_iops(), "per_mibps": candidate.price_per_mibps() });
    let price = candidate.price.as_ref().map(|money| price_json(money, more()));
    let both = |secs: Option<plan::JitterComparison>| {
        secs.map(|secs| json!({ "with_ns": ns(Some(secs.with)), "without_ns": ns(Some(secs.without)) }))
    };
    let jobs = candidate.jobs().map(|(jobs, iodepth)| json!({ "numjobs": jobs, "iodepth": iodepth }));
    json!({
        "volume": candidate.spec.name, "type": candidate.listed, "title": candidate.spec.title,
        "size_bytes": candidate.spec.size.get(), "meets": candidate.meets(),
        "failures": candidate.failures.iter().map(failure).collect::<Vec<_>>(),
        "limit": candidate.limit.as_ref().map(|cap| json!({ "name": cap.name, "iops": finite(cap.iops) })),
        "headroom": finite(candidate.headroom), "wanted_iops": candidate.rate, "block_bytes": candidate.block,
        "price": price, "latency_ns": ns(candidate.mean_secs), "percentile_ns": ns(candidate.percentile_secs),
        "in_flight": candidate.in_flight, "jobs": jobs, "iops_per_gb": candidate.iops_per_gb(),
        "burst": candidate.burst.map(|(iops, secs)| json!({ "iops": iops, "secs": finite(secs) })),
        "volumes": candidate.volumes, "cpus": candidate.cpus, "machines": plan.machines_of(index), "confirmed": candidate.survived,
        "margin": candidate.margin, "as_of": candidate.about.as_of, "unknown": candidate.about.unknown,
        "latency_assumed": candidate.about.latency_assumed, "latency_basis": candidate.about.latency_basis.name(),
        "jitter": candidate.jitter.as_ref().map(|effect| json!({
            "limit": effect.limit, "ms": effect.jitter.time.get() as f64 / 1e6, "basis": effect.jitter.basis.name(),
            "simulated": effect.is_simulated, "latency": both(effect.mean_secs), "percentile": both(effect.percentile_secs),
        })),
        "merging": candidate.merging.as_ref().map(|effect| json!({
            "limit": effect.limit, "iops_each": effect.iops, "source": effect.merging.source.title,
            "date": effect.merging.source.date, "assumed": effect.merging.assumed,
        })),
        "unknown_machine_limits": candidate.spec.unknown_limits,
    })
}

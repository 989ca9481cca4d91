//! Plans for several needs as CSV and JSON.

use results::plan::needs::{NeedDocument, NeedPlan, NeedsDocument, NeedsResult, PlannedNeed};
use results::stored::sorted;

use super::{answer, html};
use crate::escape;
use crate::plan::tables::{document, exchange, finite};
use crate::plan::{figures, trace};

/// Returns CSV with one row per need. Column names contain the units; unknown values are empty.
pub(crate) fn csv(result: &NeedsResult) -> String {
    let mut out = String::from(
        "need,status,usd_per_month,price_complete,volume,volumes,stripe,size_bytes,currency,price_per_month,region,\
         price_date,machine,machines,machines_usd_per_month,headroom,latency_ns,limit,confirmed,why_not\n",
    );
    for need in &result.needs {
        let chosen = need.chosen();
        let money = chosen.and_then(|one| one.price.as_ref());
        let number = |value: Option<f64>| {
            value.filter(|value| value.is_finite()).map_or_else(String::new, |value| format!("{value:.6}"))
        };
        let whole = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        let text = |text: Option<&str>| escape::csv(text.unwrap_or_default());
        let why = html::status(need);
        let fields = [
            escape::csv(&need.name),
            need.status().name().to_owned(),
            number(money.map(|money| money.usd_per_month)),
            money.map_or_else(String::new, |money| money.whole().to_string()),
            text(chosen.map(|one| one.spec.name.as_str())),
            whole(chosen.map(|one| u64::from(one.volumes * one.members()))),
            whole(chosen.map(|one| u64::from(one.members()))),
            whole(chosen.map(|one| one.spec.size.get())),
            text(money.map(|money| money.price.currency.as_str())),
            number(money.map(|money| money.price.per_month)),
            text(money.and_then(|money| money.price.region.as_deref())),
            text(money.map(|money| money.price.source.date.as_str())),
            text(chosen.and_then(figures::machine)),
            whole(Some(u64::from(need.need().machines))),
            number(money.and_then(|money| money.machines_usd)),
            number(chosen.map(|one| one.headroom)),
            chosen.and_then(|one| one.mean_secs).map_or_else(String::new, |secs| format!("{:.0}", secs * 1e9)),
            text(chosen.and_then(|one| Some(one.limit.as_ref()?.name.as_str()))),
            chosen.and_then(|one| one.survived).map_or_else(String::new, |survived| survived.to_string()),
            text(why.split_once(": ").map(|(_, why)| why)),
        ];
        out.push_str(&fields.join(","));
        out.push('\n');
    }
    out
}

/// Returns the document for programs.
pub(crate) fn json(result: &NeedsResult) -> String {
    let converted = |need: &&PlannedNeed| {
        let money = need.chosen().and_then(|one| one.price.as_ref());
        money.is_some_and(|money| money.price.currency != "USD")
    };
    sorted(&NeedsDocument {
        answer: answer::answer(result),
        fathom_needs_plan: NeedsDocument::SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        file: &result.file,
        total: result.total(),
        exchange: result.needs.iter().find(converted).map(|need| exchange(&need.need().exchange)),
        needs: result.needs.iter().map(of_need).collect(),
    })
}

fn of_need(need: &PlannedNeed) -> NeedDocument<'_> {
    let chosen = need.chosen();
    let money = chosen.and_then(|one| one.price.as_ref());
    let (plan, trace_plan) = match &need.plan {
        NeedPlan::Load(plan) => (Some(document(plan)), None),
        NeedPlan::Trace(plan) => (None, Some(trace::document(plan))),
    };
    NeedDocument {
        name: &need.name,
        status: need.status(),
        verdict: answer::of_need(need).verdict,
        volume: chosen.map(|one| one.spec.name.as_str()),
        volumes: chosen.map(|one| one.volumes * one.members()),
        machine: chosen.and_then(|one| one.machine.as_ref()).map(Into::into),
        machines: need.need().machines,
        region: money.and_then(|money| money.price.region.as_deref()),
        usd_per_month: money.map(|money| money.usd_per_month),
        price_complete: money.map(plan::MonthlyCost::whole),
        headroom: chosen.filter(|_| plan.is_some()).and_then(|one| finite(one.headroom)),
        plan,
        trace_plan,
    }
}

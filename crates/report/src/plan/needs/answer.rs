//! The answer of plans for several needs: what all cost, and which cannot be met.

use results::answer::{Action, Answer, Outcome};
use results::plan::needs::{NeedPlan, NeedStatus, NeedsResult, PlannedNeed};
use units::counted;

use crate::plan::emit::{Declarations, EmitLanguage};
use crate::plan::{figures, trace};
use crate::volume_terms::amount;

/// Maximum number of needs that are named.
const NAMED: usize = 8;
/// Maximum number of unmet and unknown needs that are explained.
const EXPLAINED: usize = 4;

/// Returns the total, after the needs that cannot be met or are unknown.
pub(crate) fn answer(result: &NeedsResult) -> Answer {
    let of = |status| result.of_status(status);
    let (all, unmet, unknown) = (result.needs.len(), of(NeedStatus::Unmet).count(), of(NeedStatus::Unknown).count());
    let mut sentences = Vec::new();
    if unmet > 0 {
        sentences.push(format!(
            "{unmet} of {} cannot be met: {}.",
            counted(all as u64, "need"),
            names(of(NeedStatus::Unmet))
        ));
    }
    if unknown > 0 {
        let is = if unknown == 1 { "is" } else { "are" };
        let of_all = if unmet > 0 { String::new() } else { format!(" of {}", counted(all as u64, "need")) };
        sentences.push(format!("{unknown}{of_all} {is} unknown: {}.", names(of(NeedStatus::Unknown))));
    }
    sentences.extend(cost(result, all - unmet));
    let outcome = match (unmet, unknown) {
        (0, 0) => Outcome::Good,
        (0, _) => Outcome::Unknown,
        _ => Outcome::Bad,
    };
    Answer { outcome, verdict: sentences.join(" "), actions: actions(result), basis: basis(result) }
}

/// Says what the needs cost that have a volume; `None` if none has.
fn cost(result: &NeedsResult, count: usize) -> Option<String> {
    let total = result.total();
    let all = result.needs.len();
    let subject = match all - count {
        _ if count == 0 => return None,
        0 => counted(all as u64, "need"),
        _ if count == 1 => "The other".to_owned(),
        _ => format!("The other {count}"),
    };
    let verb = if count == 1 { "costs" } else { "cost" };
    let priced = |need: &&PlannedNeed| need.chosen().is_some_and(|one| one.known_price().is_some());
    let least = is_lower_bound(result);
    let unpriced: Vec<&PlannedNeed> =
        result.needs.iter().filter(|need| need.chosen().is_some() && !priced(need)).collect();
    let why = match unpriced.len() {
        0 => String::new(),
        _ => format!("; price unknown or incomplete: {}", names(unpriced.into_iter())),
    };
    let need = result.in_one_currency();
    let (month, year) = (figures::sum(&need, total.usd_per_month), amount(need.in_currency(total.usd_per_year)));
    Some(format!("{subject} {verb} {}{month} a month ({year} a year){why}.", if least { "at least " } else { "" }))
}

/// Reports whether the total is less than what the needs with a volume cost.
pub(super) fn is_lower_bound(result: &NeedsResult) -> bool {
    let is_less = |need: &PlannedNeed| {
        let Some(chosen) = need.chosen() else { return false };
        need.status() == NeedStatus::Unknown || chosen.known_price().is_none()
    };
    result.needs.iter().any(is_less)
}

fn names<'a>(needs: impl Iterator<Item = &'a PlannedNeed>) -> String {
    let names: Vec<&str> = needs.map(|need| need.name.as_str()).collect();
    let more = names.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    names[..names.len() - more].join(", ") + &rest
}

/// Returns the answer of one need.
pub(super) fn of_need(need: &PlannedNeed) -> Answer {
    match &need.plan {
        NeedPlan::Load(plan) => crate::plan::answer::answer(plan),
        NeedPlan::Trace(plan) => trace::page(plan).answer,
    }
}

fn actions(result: &NeedsResult) -> Vec<Action> {
    let open = || result.of_status(NeedStatus::Unmet).chain(result.of_status(NeedStatus::Unknown));
    let mut actions = Vec::new();
    for need in open().take(EXPLAINED) {
        let Answer { verdict, actions: own, .. } = of_need(need);
        let mut own = own.into_iter();
        let first = own.next().unwrap_or_else(|| Action::from(String::new()));
        let what = [format!("{}: {verdict}", need.name), first.what].join(" ").trim_end().to_owned();
        actions.push(Action { what, command: first.command });
        actions.extend(own);
    }
    let more = open().count().saturating_sub(EXPLAINED);
    if more > 0 {
        actions.push(Action::from(format!(
            "{} more cannot be met or are unknown: --details explains each.",
            counted(more as u64, "need")
        )));
    }
    if actions.is_empty() {
        let what = match Declarations::of_needs(result).refusals(EmitLanguage::Terraform).is_empty() {
            true => "Print the volumes as Terraform with --emit terraform, or the command for each with --details.",
            false => "Print the command for each volume with --details.",
        };
        actions.push(Action::from(what.to_owned()));
    }
    actions
}

fn basis(result: &NeedsResult) -> Vec<String> {
    let chosen = || result.needs.iter().filter_map(PlannedNeed::chosen);
    let dates: Vec<&str> =
        chosen().filter_map(|one| one.price.as_ref()?.price.source.date.split_whitespace().next()).collect();
    let mut basis = Vec::new();
    if let (Some(first), Some(last)) = (dates.iter().min(), dates.iter().max()) {
        basis.push(if first == last { format!("prices of {first}") } else { format!("prices of {first} to {last}") });
    }
    basis.extend(exchange(result));
    let simulated = chosen().filter(|one| one.survived == Some(true)).count();
    let count = chosen().count();
    let has_traces = result.needs.iter().any(|need| matches!(need.plan, NeedPlan::Trace(_)));
    if count > 0 && !has_traces {
        basis.push(match simulated {
            0 => "calculated, not simulated".to_owned(),
            _ if simulated == count => "all simulated".to_owned(),
            _ => format!("{simulated} of {count} simulated, the others calculated"),
        });
    }
    if result.needs.len() > 1 {
        basis.push("each need has volumes and machines of its own".to_owned());
    }
    basis
}

/// Describes the exchange rate; `None` if all prices are in US dollars.
fn exchange(result: &NeedsResult) -> Option<String> {
    result.needs.iter().find_map(|need| figures::exchange(need.need(), std::slice::from_ref(need.chosen()?)))
}

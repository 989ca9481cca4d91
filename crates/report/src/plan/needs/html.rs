//! Plans for several needs as a page: a table with the total, then the plan of each need.

use plan::Need;
use results::answer::Action;
use results::plan::needs::{NeedPlan, NeedStatus, NeedsResult, PlannedNeed};
use units::{counted, significant};

use super::answer;
use crate::page::{Page, PageBlock, PagePart};
use crate::plan::{figures, html, trace};
use crate::volume_terms::amount;

/// Maximum number of needs whose plans are on the page; of more, each has its answer only.
const PLANS_MAX: usize = 20;

/// Returns the plans as a page.
pub(crate) fn page(result: &NeedsResult) -> Page {
    let mut parts = vec![PagePart::new("needs", "Needs", vec![table(result, usize::MAX)])];
    let has_plans = result.needs.len() <= PLANS_MAX;
    for (index, need) in result.needs.iter().enumerate() {
        parts.extend(of_need(need, &format!("need-{}", index + 1), has_plans));
    }
    let about = format!("{}: {}", result.file, counted(result.needs.len() as u64, "need"));
    Page { brand: "Fathom plan", answer: answer::answer(result), about, parts }
}

/// Returns the parts of one need: its answer, then its plan.
fn of_need(need: &PlannedNeed, id: &str, has_plan: bool) -> Vec<PagePart> {
    let Page { answer, about, parts, .. } = match &need.plan {
        NeedPlan::Load(plan) => html::page(plan),
        NeedPlan::Trace(plan) => trace::page(plan),
    };
    let mut blocks = vec![PageBlock::Text(about), PageBlock::Text(answer.verdict)];
    for Action { what, command } in answer.actions {
        blocks.extend((!what.is_empty()).then_some(PageBlock::Text(what)));
        blocks.extend(command.map(PageBlock::Code));
    }
    // The need is above.
    let basis: Vec<String> = answer.basis.into_iter().filter(|clause| !clause.starts_with("the need is ")).collect();
    if !basis.is_empty() {
        blocks.push(PageBlock::Text(format!("Basis: {}", crate::answer::sentence(&basis))));
    }
    let own = parts.into_iter().filter(|_| has_plan).map(|part| PagePart {
        id: format!("{id}-{}", part.id),
        name: format!("{}: {}", need.name, lowered(&part.name)),
        ..part
    });
    std::iter::once(PagePart::new(id, need.name.clone(), blocks)).chain(own).collect()
}

/// Returns a heading as it is written within a line.
fn lowered(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// Lists the first needs with what is chosen for each, those that are not met first, and the total.
pub(super) fn table(result: &NeedsResult, most: usize) -> PageBlock {
    let has_machines = result.needs.iter().any(|need| need.chosen().is_some_and(|one| figures::machine(one).is_some()));
    let need = result.in_one_currency();
    let month_head = html::month_head(&need);
    let mut head = vec!["need", &month_head, "volumes"];
    head.extend(has_machines.then_some("machine"));
    head.extend(["region", "headroom", "status"]);
    let mut ordered: Vec<&PlannedNeed> = result.needs.iter().collect();
    ordered.sort_by_key(|need| need.status());
    let mut rows: Vec<Vec<String>> = ordered.into_iter().take(most).map(|one| row(one, &need, has_machines)).collect();
    if result.needs.len() > 1 {
        let least = if answer::is_lower_bound(result) { "> " } else { "" };
        let mut total = vec![String::new(); head.len()];
        total[0] = "total".to_owned();
        total[1] = format!("{least}{}", amount(need.in_currency(result.total().usd_per_month)));
        rows.push(total);
    }
    let numbers: Vec<usize> =
        (0..head.len()).filter(|column| [month_head.as_str(), "headroom"].contains(&head[*column])).collect();
    PageBlock::table(&head, &numbers, rows)
}

fn row(need: &PlannedNeed, total: &Need, has_machines: bool) -> Vec<String> {
    let chosen = need.chosen();
    let mut row = vec![
        need.name.clone(),
        chosen.map_or_else(|| "-".to_owned(), |one| html::month(total, one)),
        chosen.map(figures::volumes).unwrap_or_default(),
    ];
    let machine = chosen.and_then(|one| {
        let name = figures::machine(one)?;
        Some(if one.machines > 1 { format!("{} x {name}", one.machines) } else { name.to_owned() })
    });
    row.extend(has_machines.then(|| machine.unwrap_or_default()));
    row.push(chosen.and_then(|one| one.price.as_ref()).map(figures::region).unwrap_or_default());
    row.push(headroom(need).unwrap_or_default());
    row.push(status(need));
    row
}

/// Returns the headroom of a need to the first limit.
fn headroom(need: &PlannedNeed) -> Option<String> {
    match &need.plan {
        NeedPlan::Load(_) => {
            let chosen = need.chosen()?;
            chosen.limit.as_ref().map(|_| figures::headroom_words(chosen.headroom).replace(" headroom", ""))
        }
        NeedPlan::Trace(plan) => {
            let index = plan.ranking.chosen()?;
            let margin = plan.candidates[index].margin.as_ref()?;
            Some(format!("{}{}x", if margin.is_open { ">" } else { "" }, significant(margin.factor, 3)))
        }
    }
}

/// Why a need is unknown whose load is known.
const ASSUMED: &str = "only an assumed latency keeps the bound";

/// Returns the status with its reason: `unmet: no volume sustains 48,000 IOPS`.
pub(super) fn status(need: &PlannedNeed) -> String {
    let status = need.status();
    let reason = match (status, &need.plan) {
        (NeedStatus::Met, _) => None,
        (NeedStatus::Unknown, NeedPlan::Trace(_)) => Some(ASSUMED.to_owned()),
        (_, NeedPlan::Load(plan)) => match (&plan.doubt, plan.ranking.impossible.first()) {
            (Some(doubt), _) if status == NeedStatus::Unknown => Some(figures::doubt(doubt)),
            _ if status == NeedStatus::Unknown => Some(ASSUMED.to_owned()),
            (_, Some(nearest)) => Some(format!("no volume {}", figures::lacked(&nearest.failure))),
            _ => figures::only_together(plan).map(str::to_owned),
        },
        (_, NeedPlan::Trace(_)) => Some("no volume meets it".to_owned()),
    };
    reason.map_or_else(|| status.name().to_owned(), |reason| format!("{}: {reason}", status.name()))
}

//! A plan for a trace as a page that compares the best volumes.

use plan::replay::ReplayedCandidate;
use results::plan::TracePlanResult;

use super::chart::Charted;
use super::figures::{
    SHOWN, accuracy, assumptions, credits, headroom_basis, limits, limits_basis, load, margin, percentile_name,
    refused, remarks, requirements,
};
use super::{answer, chart};
use crate::page::{Page, PageBlock, PagePart};
use crate::plan::figures::{self, holds, price, provisioned, size, time};
use crate::plan::html::month_head;

/// Number of volumes that the page compares.
const COMPARED: usize = 5;

/// Returns the plan as a page.
pub(crate) fn page(plan: &TracePlanResult) -> Page {
    let mut parts = Vec::new();
    let charted: Vec<Charted<'_>> = plan.foremost(COMPARED).collect();
    if charted.is_empty() {
        parts.push(PagePart::new("verdict", "Verdict", vec![PageBlock::List(verdict(plan))]));
    } else {
        let share = plan.bounds.percentiles.first().map_or(0.99, |(share, _)| *share);
        let note = format!("Volumes on the line are not beaten on both price and {}.", percentile_name(share));
        let blocks = vec![PageBlock::Picture(chart::prices(plan).embedded()), PageBlock::Text(note)];
        parts.push(PagePart::new("prices", "Price against latency", blocks));
        parts.push(PagePart::new("best", "The best volumes", vec![compared(&charted)]));
        parts.push(PagePart::new("latency", "Latency", latency(plan, &charted)));
        if let Some(picture) = chart::credits_over_time(&charted) {
            let note =
                "As a fraction of the bucket that comes closest to its end. A dot marks the instant at which credits \
                        first ran out."
                    .to_owned();
            let blocks = vec![PageBlock::Picture(picture), PageBlock::Text(note)];
            parts.push(PagePart::new("credits", "Burst credits", blocks));
        }
        parts.push(PagePart::new(
            "volumes",
            "All volumes that meet the need",
            vec![all(plan, &plan.ranking.meeting, usize::MAX)],
        ));
    }
    if !plan.ranking.may_meet.is_empty() {
        let note = "Only an assumed latency is within the bounds.".to_owned();
        let blocks = vec![PageBlock::Text(note), all(plan, &plan.ranking.may_meet, usize::MAX)];
        parts.push(PagePart::new("may-meet", "Volumes that may meet the need", blocks));
    }
    let groups = refused(plan);
    if !groups.is_empty() {
        let rows = groups.into_iter().map(|(reason, volumes)| vec![reason, volumes.join(", ")]).collect();
        let table =
            PageBlock::Table { head: ["reason", "volumes"].map(str::to_owned).to_vec(), numbers: Vec::new(), rows };
        parts.push(PagePart::new("refused", "Not enough", vec![table]));
    }
    parts.push(PagePart::new("assumptions", "Assumptions", vec![PageBlock::List(remarks_of(plan))]));
    Page {
        brand: "Fathom plan",
        answer: answer::answer(plan),
        about: format!("{}. Required: {}", load(plan), requirements(plan)),
        parts,
    }
}

/// Names the nearest volume if none meets the need.
fn verdict(plan: &TracePlanResult) -> Vec<String> {
    let Some(nearest) = plan.missing().next() else { return vec!["No volume was considered.".to_owned()] };
    let why = nearest.candidate.failures.iter().map(|unmet| {
        let (reason, value) = super::figures::refusal(plan, nearest, unmet);
        let value = value.map_or_else(String::new, |value| format!(": {value}"));
        format!("Nearest: {}: {reason}{value}", nearest.candidate.listed)
    });
    why.collect()
}

/// Compares the best volumes side by side: a row for each figure.
fn compared(charted: &[Charted<'_>]) -> PageBlock {
    let head = std::iter::once("figure".to_owned()).chain(charted.iter().map(|(one, _)| one.candidate.listed.clone()));
    let row = |name: &str, cell: &dyn Fn(&Charted<'_>) -> String| -> Vec<String> {
        std::iter::once(name.to_owned()).chain(charted.iter().map(cell)).collect()
    };
    let mut rows = vec![
        row("size", &|(one, _)| size(&one.candidate)),
        row("provisioned", &|(one, _)| provisioned(&one.candidate)),
        row("price", &|(one, _)| one.candidate.price.as_ref().map_or_else(|| "unknown".to_owned(), price)),
        row("region, date", &|(one, _)| one.candidate.price.as_ref().map_or_else(String::new, holds)),
    ];
    for (share, name) in SHOWN {
        rows.push(row(name, &|(one, outcome)| {
            let basis = one.candidate.about.latency_basis.name();
            outcome.percentile_secs(share).map_or_else(String::new, |secs| format!("{} ({basis})", time(secs)))
        }));
    }
    rows.push(row("mean", &|(_, outcome)| time(outcome.mean_secs)));
    rows.push(row("limits", &|(one, outcome)| format!("{} ({})", limits(outcome), limits_basis(&one.candidate))));
    let has_credits = charted.iter().any(|(_, outcome)| outcome.limits.iter().any(|limit| limit.credits.is_some()));
    if has_credits {
        rows.push(row("credits", &|(_, outcome)| {
            let all = outcome.limits.iter().filter_map(|limit| Some((limit, limit.credits.as_ref()?)));
            all.map(|(limit, held)| format!("{}: {}", limit.name, credits(held))).collect::<Vec<_>>().join("; ")
        }));
    }
    rows.push(row("headroom", &|(one, _)| {
        let basis = headroom_basis(&one.candidate);
        one.margin.as_ref().map_or_else(String::new, |of| format!("{} ({basis})", margin(of)))
    }));
    PageBlock::Table { head: head.collect(), numbers: Vec::new(), rows }
}

fn latency(plan: &TracePlanResult, charted: &[Charted<'_>]) -> Vec<PageBlock> {
    let bounds: Vec<(f64, f64)> =
        plan.bounds.percentiles.iter().map(|(share, bound)| (*share, bound.secs_f64())).collect();
    let mut blocks = vec![PageBlock::Picture(chart::percentiles(charted, &bounds))];
    if !bounds.is_empty() {
        blocks.push(PageBlock::Text(
            "A ring marks each bound: the lines of sufficient volumes pass below it.".to_owned(),
        ));
    }
    if let Some(picture) = chart::latency_over_time(charted) {
        let note = "99th percentile of the requests that completed in each interval of the replay.".to_owned();
        blocks.extend([PageBlock::Picture(picture), PageBlock::Text(note)]);
    }
    blocks
}

/// Lists the first of ranked volumes.
pub(super) fn all(plan: &TracePlanResult, ranked: &[usize], most: usize) -> PageBlock {
    let head = [
        "volume",
        "size",
        &month_head(&plan.need),
        "p50",
        "p99",
        "p99.9",
        "throttled",
        "headroom",
        "basis",
        "provisioned",
    ];
    let row = |(one, index): (&ReplayedCandidate, &usize)| {
        let candidate = &one.candidate;
        let front = if plan.ranking.front.contains(index) { " *" } else { "" };
        let month = candidate.known_price().map(|money| crate::volume_terms::amount(money.per_month));
        let at = |share: f64| one.outcome.as_ref().and_then(|outcome| outcome.percentile_secs(share)).map(time);
        let mut row = vec![
            format!("{}{front}", candidate.listed),
            size(candidate),
            month.unwrap_or_else(|| "unknown".to_owned()),
        ];
        row.extend(SHOWN.map(|(share, _)| at(share).unwrap_or_default()));
        row.push(one.outcome.as_ref().map(|outcome| units::percent(outcome.throttled())).unwrap_or_default());
        row.push(one.margin.as_ref().map_or_else(String::new, |of| {
            format!("{}{}x", if of.is_open { ">" } else { "" }, units::significant(of.factor, 3))
        }));
        row.extend([candidate.about.latency_basis.name().to_owned(), provisioned(candidate)]);
        row
    };
    let rows = ranked.iter().take(most).map(|index| row((&plan.candidates[*index], index))).collect();
    PageBlock::Table { head: head.map(str::to_owned).to_vec(), numbers: (1..8).collect(), rows }
}

fn remarks_of(plan: &TracePlanResult) -> Vec<String> {
    let mut lines = remarks(plan);
    let candidates: Vec<plan::Candidate> = plan.candidates.iter().map(|one| one.candidate.clone()).collect();
    lines.extend(figures::scope(&plan.need, &candidates));
    for one in plan.meeting() {
        let listed = &one.candidate.listed;
        lines.extend(assumptions(&one.candidate).into_iter().map(|assumed| format!("{listed}: {assumed}")));
    }
    lines.push(accuracy(plan));
    lines
}

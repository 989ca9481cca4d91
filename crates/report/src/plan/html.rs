//! A plan as one HTML page: chart, table, refused volumes and assumptions.

use plan::Candidate;

use super::figures::{self, holds, limit, provisioned, size, time, wanted};
use super::text::arithmetic;
use super::{PlanReport, chart};
use crate::html::{HtmlDocument, PageBlock, PagePart, document};
use crate::volume_terms::amount;

pub(crate) fn page(plan: &PlanReport) -> String {
    let ranking = &plan.ranking;
    let mut parts = Vec::new();
    if ranking.front.is_empty() {
        parts.push(PagePart { id: "verdict", name: "Verdict", blocks: verdict(plan) });
    } else {
        let note = "Volumes on the line are those that no other beats in both price and latency.".to_owned();
        let best = plan.ranking.best.map(|best| PageBlock::Code(plan.candidates[best].spec.name.clone()));
        let blocks = best.into_iter().chain([PageBlock::Picture(chart::within(plan)), PageBlock::Text(note)]).collect();
        parts.push(PagePart { id: "chart", name: "Price against latency", blocks });
    }
    if !ranking.meeting.is_empty() {
        parts.push(PagePart { id: "volumes", name: "Volumes that meet the need", blocks: vec![meeting(plan)] });
    }
    if !ranking.missing.is_empty() {
        let missing = figures::refused(plan.missing());
        let rows = missing.into_iter().map(|group| vec![group.reason, group.volumes.join(", ")]).collect();
        let table =
            PageBlock::Table { head: ["reason", "volumes"].map(str::to_owned).to_vec(), numbers: Vec::new(), rows };
        parts.push(PagePart { id: "refused", name: "Not enough", blocks: vec![table] });
    }
    parts.push(PagePart { id: "assumptions", name: "Assumptions", blocks: vec![PageBlock::List(assumptions(plan))] });
    let lines = arithmetic(plan);
    if !ranking.meeting.is_empty() {
        let lines = lines.into_iter().skip(2).collect::<Vec<_>>().join("\n");
        parts.push(PagePart { id: "arithmetic", name: "Arithmetic and sources", blocks: vec![PageBlock::Code(lines)] });
    }
    document(&HtmlDocument {
        brand: "Fathom plan",
        title: &chart::title(plan),
        about: &wanted(&plan.need),
        parts: &parts,
    })
}

/// Names the nearest volumes if none meets the need.
fn verdict(plan: &PlanReport) -> Vec<PageBlock> {
    let nearest = |nearest: &plan::Nearest| {
        let (name, failure) = (figures::name(nearest.failure.requirement), figures::failure(&nearest.failure));
        format!("{name}: no volume meets it; the nearest is {}: {failure}", nearest.volume)
    };
    let mut lines: Vec<String> = plan.ranking.impossible.iter().map(nearest).collect();
    lines.extend(figures::only_together(plan).map(str::to_owned));
    lines.extend(figures::nearest(plan).map(|nearest| format!("The nearest is {nearest}")));
    if let Some(tight) = &plan.without_headroom {
        lines.push(format!("With --headroom 0, {} meets it.", tight.spec.name));
    }
    vec![PageBlock::List(lines)]
}

fn meeting(plan: &PlanReport) -> PageBlock {
    let percentile = plan.need.percentile.map(|_| figures::percentile_name(&plan.need).to_owned());
    let mut head: Vec<String> =
        ["volume", "size", "USD a month", "region", "date", "latency"].map(str::to_owned).to_vec();
    head.extend(percentile.clone());
    head.extend(["basis", "in flight", "provisioned", "limit"].map(str::to_owned));
    let numbers = ["size", "USD a month", "latency", "p99", "p99.9", "in flight"];
    let numbers = (0..head.len()).filter(|column| numbers.contains(&head[*column].as_str())).collect();
    let row = |index: &usize| {
        let candidate = &plan.candidates[*index];
        let front = if plan.ranking.front.contains(index) { " *" } else { "" };
        let mut row = vec![format!("{}{front}", candidate.listed), size(candidate), month(candidate)];
        let [region, date] = match &candidate.price {
            Some(money) => [figures::region(money), money.price.source.date.clone()],
            None => [String::new(), String::new()],
        };
        let cell = |value: Option<String>| value.unwrap_or_default();
        row.extend([region, date, cell(candidate.mean_secs.map(time))]);
        row.extend(percentile.as_ref().map(|_| cell(candidate.percentile_secs.map(time))));
        row.push(candidate.about.latency_basis.name().to_owned());
        let limit = std::iter::once(limit(candidate)).chain(figures::in_short(candidate, &plan.need));
        let limit = limit.collect::<Vec<_>>().join("; ");
        row.extend([cell(candidate.in_flight.map(figures::depth)), provisioned(candidate), limit]);
        row
    };
    PageBlock::Table { head, numbers, rows: plan.ranking.meeting.iter().map(row).collect() }
}

fn month(candidate: &Candidate) -> String {
    let Some(money) = &candidate.price else { return "unknown".to_owned() };
    let own = figures::own_currency(money).map_or_else(String::new, |own| format!(" ({own})"));
    let least = if money.whole() { "" } else { "> " };
    format!("{least}{}{own}", amount(money.usd_per_month))
}

/// Lists the assumptions behind the figures.
fn assumptions(plan: &PlanReport) -> Vec<String> {
    let mut lines: Vec<String> = plan.remarks().collect();
    lines.extend(figures::scope(&plan.need, &plan.candidates));
    for candidate in plan.meeting() {
        if let Some(why) = &candidate.about.latency_assumed {
            lines.push(format!("{}: latency {}: {why}", candidate.listed, candidate.about.latency_basis.name()));
        }
    }
    for candidate in plan.meeting() {
        let remarks = [
            figures::jitter(candidate, &plan.need),
            figures::merging(candidate),
            figures::unknown_machine(candidate),
            candidate.spec.on_request().map(str::to_owned),
        ];
        lines.extend(remarks.into_iter().flatten().map(|remark| format!("{}: {remark}", candidate.listed)));
    }
    for candidate in plan.meeting() {
        let lacks = candidate.price.as_ref().and_then(|money| money.price.lacks.as_ref().map(|lacks| (money, lacks)));
        if let Some((money, lacks)) = lacks {
            lines.push(format!("{}: price of {lacks} not published ({})", candidate.listed, holds(money)));
        }
    }
    if plan.is_simulated {
        lines.push(format!("The volumes that meet the need were confirmed by simulation, seed {}.", plan.seed));
    }
    lines
}

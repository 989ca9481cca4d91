//! A plan as one HTML page: the chart, the table, the refusals and the assumptions.

use plan::Candidate;
use report::html::{Block, Document, Part};
use report::volume_terms::amount;

use super::Answer;
use super::figures::{self, holds, limit, provisioned, size, time, wanted};
use super::page::{arithmetic, foreign};
use super::picture;

/// The page.
pub(super) fn page(answer: &Answer) -> String {
    let ranking = &answer.ranking;
    let mut parts = Vec::new();
    if ranking.front.is_empty() {
        parts.push(Part { id: "verdict", name: "Verdict", blocks: verdict(answer) });
    } else {
        let note = "Volumes on the line are those that no other beats in both price and latency.".to_owned();
        let best = answer.ranking.best.map(|best| Block::Code(answer.candidates[best].spec.name.clone()));
        let blocks = best.into_iter().chain([Block::Picture(picture::within(answer)), Block::Text(note)]).collect();
        parts.push(Part { id: "chart", name: "Price against latency", blocks });
    }
    if !ranking.meeting.is_empty() {
        parts.push(Part { id: "volumes", name: "Volumes that meet the need", blocks: vec![meeting(answer)] });
    }
    if !ranking.missing.is_empty() {
        let missing = figures::refused(ranking.missing.iter().map(|index| &answer.candidates[*index]));
        let rows = missing.into_iter().map(|group| vec![group.reason, group.volumes.join(", ")]).collect();
        let table = Block::Table { head: ["reason", "volumes"].map(str::to_owned).to_vec(), numbers: Vec::new(), rows };
        parts.push(Part { id: "refused", name: "Not enough", blocks: vec![table] });
    }
    parts.push(Part { id: "assumptions", name: "Assumptions", blocks: vec![Block::List(assumptions(answer))] });
    let lines = arithmetic(answer);
    if !ranking.meeting.is_empty() {
        let lines = lines.into_iter().skip(2).collect::<Vec<_>>().join("\n");
        parts.push(Part { id: "arithmetic", name: "Arithmetic and sources", blocks: vec![Block::Code(lines)] });
    }
    report::html::document(&Document {
        brand: "Fathom plan",
        title: &picture::title(answer),
        about: &wanted(&answer.need),
        parts: &parts,
    })
}

/// Where nothing meets the need: what comes nearest.
fn verdict(answer: &Answer) -> Vec<Block> {
    let nearest = |nearest: &plan::Nearest| {
        let candidate = &answer.candidates[nearest.candidate];
        let (name, failure) = (figures::name(nearest.failure.requirement), figures::failure(&nearest.failure));
        format!("{name}: no volume meets it; the nearest is {}: {failure}", candidate.spec.name)
    };
    let mut lines: Vec<String> = answer.ranking.impossible.iter().map(nearest).collect();
    if let Some(tight) = &answer.without_headroom {
        lines.push(format!("With --headroom 0, {} meets it.", tight.spec.name));
    }
    vec![Block::List(lines)]
}

fn meeting(answer: &Answer) -> Block {
    let percentile = answer.need.percentile.map(|_| figures::percentile_name(&answer.need).to_owned());
    let mut head: Vec<String> =
        ["volume", "size", "USD a month", "region", "date", "latency"].map(str::to_owned).to_vec();
    head.extend(percentile.clone());
    head.extend(["basis", "in flight", "provisioned", "limit"].map(str::to_owned));
    let numbers = ["size", "USD a month", "latency", "p99", "p99.9", "in flight"];
    let numbers = (0..head.len()).filter(|column| numbers.contains(&head[*column].as_str())).collect();
    let row = |index: &usize| {
        let candidate = &answer.candidates[*index];
        let front = if answer.ranking.front.contains(index) { " *" } else { "" };
        let mut row = vec![format!("{}{front}", candidate.listed), size(candidate), month(candidate)];
        let [region, date] = match &candidate.price {
            Some(money) => [figures::region(money), money.source.date.clone()],
            None => [String::new(), String::new()],
        };
        let cell = |value: Option<String>| value.unwrap_or_default();
        row.extend([region, date, cell(candidate.mean_secs.map(time))]);
        row.extend(percentile.as_ref().map(|_| cell(candidate.percentile_secs.map(time))));
        row.push(candidate.about.latency_basis.name().to_owned());
        let limit = std::iter::once(limit(candidate)).chain(figures::in_short(candidate, &answer.need));
        let limit = limit.collect::<Vec<_>>().join("; ");
        row.extend([cell(candidate.in_flight.map(figures::depth)), provisioned(candidate), limit]);
        row
    };
    Block::Table { head, numbers, rows: answer.ranking.meeting.iter().map(row).collect() }
}

fn month(candidate: &Candidate) -> String {
    let Some(money) = &candidate.price else { return "unknown".to_owned() };
    let own = figures::own_currency(money).map_or_else(String::new, |own| format!(" ({own})"));
    let least = if money.whole() { "" } else { "> " };
    format!("{least}{}{own}", amount(money.usd_per_month))
}

/// All assumptions behind the figures, none of them measured here.
fn assumptions(answer: &Answer) -> Vec<String> {
    let mut lines = answer.lines.clone();
    lines.extend(figures::headroom(&answer.need));
    lines.extend(foreign(answer));
    lines.extend(figures::scope(&answer.need, &answer.candidates));
    let meeting = || answer.ranking.meeting.iter().map(|index| &answer.candidates[*index]);
    for candidate in meeting() {
        if let Some(why) = &candidate.about.latency_assumed {
            lines.push(format!("{}: latency {}: {why}", candidate.listed, candidate.about.latency_basis.name()));
        }
    }
    for candidate in meeting() {
        let said = [
            figures::jitter(candidate, &answer.need),
            figures::merging(candidate),
            figures::unknown_machine(candidate),
        ];
        lines.extend(said.into_iter().flatten().map(|said| format!("{}: {said}", candidate.listed)));
    }
    for candidate in meeting() {
        let lacks = candidate.price.as_ref().and_then(|money| money.lacks.as_ref().map(|lacks| (money, lacks)));
        if let Some((money, lacks)) = lacks {
            lines.push(format!("{}: price of {lacks} not published ({})", candidate.listed, holds(money)));
        }
    }
    if answer.simulated {
        lines.push(format!("The volumes that meet the need were confirmed by simulation, seed {}.", answer.seed));
    }
    lines
}

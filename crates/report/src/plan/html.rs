//! A plan as a page: chart, alternatives, table, refused volumes, assumptions and arithmetic.

use plan::Candidate;
use results::plan::PlanResult;
use units::{Bytes, significant};
use volume::cited;
use volume::closed::{Cap, CapPart};

use super::figures::{self, holds, limit, price, provisioned, region, size, split, time, wanted, whole};
use super::{answer, chart};
use crate::page::{Page, PageBlock, PagePart};
use crate::volume_terms::amount;

/// Returns the plan as a page.
pub(crate) fn page(plan: &PlanResult) -> Page {
    let ranking = &plan.ranking;
    let mut parts = Vec::new();
    if ranking.front.is_empty() && ranking.may_meet.is_empty() {
        parts.push(PagePart::new("verdict", "Why not", verdict(plan)));
    } else if !ranking.front.is_empty() {
        let note = "Volumes on the line are not beaten on both price and latency.".to_owned();
        let blocks = [PageBlock::Picture(chart::within(plan)), PageBlock::Text(note)];
        let blocks = blocks.into_iter().collect();
        parts.push(PagePart::new("chart", "Price against latency", blocks));
    }
    if !ranking.meeting.is_empty() {
        let all = compared(plan, &ranking.meeting, usize::MAX, true);
        let note = PageBlock::Text("* not beaten on both price and latency.".to_owned());
        parts.push(PagePart::new("volumes", "Volumes that meet the need", vec![all, note]));
        let alternatives = alternatives(plan);
        if !alternatives.is_empty() {
            parts.push(PagePart::new("alternatives", "Alternatives", vec![PageBlock::List(alternatives)]));
        }
        parts.push(PagePart::new("prices", "Prices", vec![prices(plan)]));
    }
    if !ranking.may_meet.is_empty() {
        let note = "Only an assumed latency is within the bound.".to_owned();
        let blocks = vec![PageBlock::Text(note), compared(plan, &ranking.may_meet, usize::MAX, true)];
        parts.push(PagePart::new("may-meet", "Volumes that may meet the need", blocks));
    }
    if !ranking.missing.is_empty() {
        let missing = figures::refused(plan.missing());
        let rows = missing.into_iter().map(|group| vec![group.reason, group.volumes.join(", ")]).collect();
        let table =
            PageBlock::Table { head: ["reason", "volumes"].map(str::to_owned).to_vec(), numbers: Vec::new(), rows };
        parts.push(PagePart::new("refused", "Not enough", vec![table]));
    }
    parts.push(PagePart::new("assumptions", "Assumptions", vec![PageBlock::List(assumptions(plan))]));
    let lines = arithmetic(plan);
    if !ranking.meeting.is_empty() {
        let lines = lines.into_iter().skip(2).collect::<Vec<_>>().join("\n");
        parts.push(PagePart::new("arithmetic", "Arithmetic and sources", vec![PageBlock::Code(lines)]));
    }
    Page { brand: "Fathom plan", answer: answer::answer(plan), about: wanted(&plan.need), parts }
}

/// Names the nearest volumes if none meets the need.
fn verdict(plan: &PlanResult) -> Vec<PageBlock> {
    let nearest = |nearest: &plan::Nearest| {
        let (name, failure) = (figures::name(nearest.failure.requirement), figures::failure(&nearest.failure));
        format!("{name}: nearest is {}, {failure}", nearest.volume)
    };
    let mut lines: Vec<String> = plan.ranking.impossible.iter().map(nearest).collect();
    lines.extend(figures::only_together(plan).map(str::to_owned));
    lines.extend(figures::nearest(plan).map(|nearest| format!("Nearest: {nearest}")));
    if let Some(tight) = &plan.without_headroom {
        lines.push(format!("Without headroom (--headroom 0): {}", tight.spec.name));
    }
    vec![PageBlock::List(lines)]
}

/// Compares the first of ranked volumes; `with_limits` adds the limit of each and what it rests on.
pub(super) fn compared(plan: &PlanResult, ranked: &[usize], most: usize, with_limits: bool) -> PageBlock {
    let percentile = plan.need.percentile.map(|_| figures::percentile_name(&plan.need));
    let with_machine = plan.need.machine.is_open();
    let month_head = month_head(&plan.need);
    let mut head = vec!["volume", "size", &month_head];
    head.extend(with_machine.then_some("machine"));
    head.push("latency");
    head.extend(percentile);
    let has_basis = with_limits || !with_machine;
    head.extend(has_basis.then_some(["basis", "depth"]).into_iter().flatten());
    head.push(if with_limits { "provisioned; limit" } else { "provisioned" });
    let numbers = ["size", &month_head, "latency", "p99", "p99.9", "depth"];
    let numbers: Vec<usize> = (0..head.len()).filter(|column| numbers.contains(&head[*column])).collect();
    let row = |index: &usize| {
        let candidate = &plan.candidates[*index];
        let front = if plan.ranking.front.contains(index) { " *" } else { "" };
        let dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let mut row =
            vec![format!("{}{front}", figures::kind(candidate)), size(candidate), month(&plan.need, candidate)];
        row.extend(with_machine.then(|| dash(figures::machine(candidate).map(str::to_owned))));
        row.push(dash(candidate.mean_secs.map(time)));
        row.extend(percentile.map(|_| dash(candidate.percentile_secs.map(time))));
        if has_basis {
            row.push(candidate.about.latency_basis.name().to_owned());
            row.push(dash(candidate.in_flight.map(figures::depth)));
        }
        let rest = [provisioned(candidate), limit(candidate)].into_iter().filter(|part| !part.is_empty());
        row.push(match with_limits {
            true => rest.chain(figures::in_short(candidate, &plan.need)).collect::<Vec<_>>().join("; "),
            false => provisioned(candidate),
        });
        row
    };
    PageBlock::table(&head, &numbers, ranked.iter().take(most).map(row).collect())
}

/// Lists the prices of the volumes that meet the need: region, date and what they are made of.
fn prices(plan: &PlanResult) -> PageBlock {
    let row = |candidate: &Candidate| {
        let Some(money) = &candidate.price else {
            return vec![figures::kind(candidate), "unknown".to_owned(), String::new(), String::new(), String::new()];
        };
        let per_unit =
            candidate.price_per_iops().zip(candidate.price_per_mibps()).map_or_else(String::new, |(iops, rate)| {
                format!("{} per IOPS, {} per MiB/s", significant(iops, 3), significant(rate, 3))
            });
        let lacks =
            money.lacks.as_ref().map_or_else(String::new, |lacks| format!("; excludes {lacks} (price unknown)"));
        vec![figures::kind(candidate), month(&plan.need, candidate), holds(money), per_unit, split(money) + &lacks]
    };
    let month_head = month_head(&plan.need);
    let head = ["volume", &month_head, "region, date", "USD", "parts"];
    PageBlock::table(&head, &[1], plan.meeting().map(row).collect())
}

/// Lists other volumes that a buyer may prefer.
fn alternatives(plan: &PlanResult) -> Vec<String> {
    let ranking = &plan.ranking;
    let Some(best) = ranking.chosen() else { return Vec::new() };
    let best_one = &plan.candidates[best];
    let named = |label: &str, index: usize| {
        let candidate = &plan.candidates[index];
        format!("{label}: {}, {}", candidate.spec.name, figures_of(candidate))
    };
    let mut lines: Vec<String> = answer::years(plan);
    lines.extend(answer::next_step(plan));
    let known = ranking.known_best.filter(|known| !best_one.has_known_latency() && *known != best);
    lines.extend(known.map(|known| named("Cheapest with a measured or published latency", known)));
    let fastest = ranking.fastest.filter(|fastest| *fastest != best && Some(*fastest) != known);
    lines.extend(fastest.map(|fastest| named("Fastest", fastest)));
    let known_fastest = ranking.known_fastest.filter(|known| {
        fastest.is_some_and(|fastest| !plan.candidates[fastest].has_known_latency())
            && Some(*known) != ranking.known_best
    });
    lines.extend(known_fastest.map(|known| named("Fastest with a measured or published latency", known)));
    if ranking.best.is_none() {
        lines.push("No price is published; ranked by latency.".to_owned());
    }
    lines.extend(figures::unpriced(plan, best_one));
    lines
}

/// Returns the head of the column of totals: `USD a month`.
pub(super) fn month_head(need: &plan::Need) -> String {
    format!("{} a month", need.currency.code())
}

/// Returns the price of a candidate as a cell, in the currency of a need: `> 67.20` if it is incomplete.
pub(super) fn month(need: &plan::Need, candidate: &Candidate) -> String {
    let Some(money) = &candidate.price else { return "unknown".to_owned() };
    let own = figures::own_currency(money).map_or_else(String::new, |own| format!(" ({own})"));
    let least = if money.whole() { "" } else { "> " };
    format!("{least}{}{own}", amount(need.in_currency(money.usd_per_month)))
}

/// Lists the assumptions behind the figures.
fn assumptions(plan: &PlanResult) -> Vec<String> {
    let mut lines: Vec<String> = figures::remarks(plan).collect();
    lines.extend(figures::scope(&plan.need, &plan.candidates));
    for candidate in plan.meeting().chain(plan.may_meet()) {
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
        let burst = candidate.burst.map(|(iops, secs)| {
            let lasting = if secs.is_finite() { format!(" for {}", time(secs)) } else { String::new() };
            format!("bursts to {} IOPS{lasting} while credits last; the plan does not rely on it", whole(iops))
        });
        let cpus = candidate.cpus.map(|cpus| format!("reserve {} vCPUs for I/O", significant(cpus.max(0.1), 2)));
        lines.extend(burst.into_iter().chain(cpus).map(|line| format!("{}: {line}", candidate.listed)));
    }
    if plan.is_simulated && !plan.ranking.meeting.is_empty() {
        lines.push(format!("Volumes that meet the need were confirmed by simulation, seed {}.", plan.seed));
    }
    lines
}

/// Formats the price and latency of a candidate.
fn figures_of(candidate: &Candidate) -> String {
    let month = candidate.price.as_ref().map_or_else(|| "price unknown".to_owned(), price);
    let latency = figures::latency(candidate).map_or_else(String::new, |latency| format!(", {latency}"));
    format!("{month}{latency}")
}

/// Returns the arithmetic of all volumes that meet the requirement, as lines below a heading.
pub(super) fn arithmetic(plan: &PlanResult) -> Vec<String> {
    let mut lines = vec![String::new(), "Arithmetic".to_owned()];
    for candidate in plan.meeting() {
        lines.push(String::new());
        lines.push(candidate.spec.name.clone());
        lines.extend(candidate.limit.iter().flat_map(|cap| limit_lines(candidate, cap)));
        if let (Some(mean), Some(flight)) = (candidate.mean_secs, candidate.in_flight) {
            let (rate, flight) = (whole(candidate.rate), significant(flight, 3));
            lines.push(format!("  in flight = {rate} IOPS × {} = {flight}", time(mean)));
        }
        lines.extend(price_lines(candidate));
        if candidate.margin > 1.0 {
            let percent = 100.0 * (candidate.margin - 1.0);
            lines.push(format!("  sized for {percent:.0}% more: simulations of smaller sizes fell short"));
        }
    }
    lines
}

/// Returns the limit that binds a candidate, with its rule.
fn limit_lines(candidate: &Candidate, cap: &Cap) -> [String; 3] {
    let spec = &candidate.spec;
    let rule = match cap.part {
        CapPart::Limit(limit) => spec.limits.get(limit).map(|limit| (limit.rule.clone(), limit.source.clone())),
        CapPart::Station(station) => {
            spec.stations.get(station).map(|station| (station.rule.clone(), station.source.clone()))
        }
    };
    let (rule, source) = rule.unwrap_or_default();
    [
        format!("  {} = {rule}", cap.name),
        format!("    {}", cited(&source)),
        format!(
            "  {} IOPS of {} through it, {} wanted: {}",
            whole(cap.iops),
            Bytes::new(candidate.block as u64),
            whole(candidate.rate),
            limit(candidate)
        ),
    ]
}

fn price_lines(candidate: &Candidate) -> Vec<String> {
    let Some(money) = &candidate.price else { return vec!["  price: unknown".to_owned()] };
    let mut lines = vec![format!("  price = {} = {}", money.price.rule, price(money))];
    let parts = split(money);
    if parts.contains(',') {
        lines.push(format!("    {parts}"));
    }
    lines.push(format!("    {}; {}", region(money), cited(&money.price.source)));
    lines
}

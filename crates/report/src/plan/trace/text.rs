//! A plan for a trace as text for a terminal.

use plan::replay::{ReplayResult, ReplayedCandidate};
use units::significant;

use super::TracePlanReport;
use super::figures::{
    SHOWN, accuracy, assumptions, credits, headroom_basis, latencies, limits, limits_basis, load, margin,
    percentile_name, portion, refused, remarks, requirements, spent,
};
use crate::plan::figures::{self, price, provisioned, size, time};
use crate::plan::text::{INDENT, PlanText};
use crate::sheet::{Sheet, SheetStyle};
use crate::volume_terms::amount;

/// Maximum number of volumes named per reason.
const NAMED: usize = 6;

pub(crate) fn text(plan: &TracePlanReport, style: SheetStyle) -> String {
    let mut page = TracePlanText(PlanText { sheet: Sheet::new(style, INDENT) });
    page.0.labelled("Load", &load(plan));
    page.0.labelled("Need", &requirements(plan));
    remarks(plan).iter().for_each(|line| page.0.labelled("", line));
    page.verdict(plan);
    page.meeting(plan);
    page.missing(plan);
    page.foot(plan);
    page.0.sheet.finish()
}

struct TracePlanText(PlanText);

impl TracePlanText {
    fn verdict(&mut self, plan: &TracePlanReport) {
        let ranking = &plan.ranking;
        self.0.sheet.gap();
        let Some(best) = ranking.best.or(ranking.meeting.first().copied()) else {
            self.impossible(plan);
            return;
        };
        let what = if ranking.best.is_some() { "Best" } else { "Meets" };
        self.described(what, plan, &plan.candidates[best]);
        let known = ranking.known_best.filter(|_| !plan.candidates[best].candidate.has_known_latency());
        if let Some(known) = known {
            let text = format!("the cheapest whose latency is not assumed is {}", in_short(&plan.candidates[known]));
            self.0.labelled("", &text);
        }
        if let Some(fastest) = ranking.fastest.filter(|fastest| Some(*fastest) != ranking.best) {
            self.0.labelled("Fastest", &in_short(&plan.candidates[fastest]));
        }
        let next = match &plan.next_step {
            Some(next) => {
                let prices = next.candidate.known_price().zip(plan.candidates[best].candidate.known_price());
                let more = prices.map_or_else(String::new, |(next, best)| {
                    let factor = next.usd_per_month / best.usd_per_month.max(0.01);
                    format!(", {} times the price", significant(factor, 2))
                });
                format!("for twice the load: {}{more}", in_short(next))
            }
            None => "no volume with a known price takes twice the load".to_owned(),
        };
        self.0.labelled("Next step", &next);
    }

    fn impossible(&mut self, plan: &TracePlanReport) {
        self.0.sheet.line(&self.0.sheet.strong("Nothing in the catalogue meets this need."));
        if let Some(nearest) = plan.ranking.missing.first().map(|index| &plan.candidates[*index]) {
            let why: Vec<String> = nearest
                .candidate
                .failures
                .iter()
                .map(|unmet| {
                    let (reason, value) = super::figures::refusal(plan, nearest, unmet);
                    value.map_or_else(|| reason.clone(), |value| format!("{reason}: {value}"))
                })
                .collect();
            self.0.labelled("Nearest", &format!("{}: {}", nearest.candidate.listed, why.join("; ")));
        }
    }

    /// Appends one candidate with the figures that a buyer needs, each with its confidence.
    fn described(&mut self, label: &str, plan: &TracePlanReport, one: &ReplayedCandidate) {
        let (page, candidate) = (&mut self.0, &one.candidate);
        let strong = page.sheet.strong(&candidate.spec.name);
        page.sheet.line(&format!("{}{strong}", page.sheet.strong(&format!("{label:<INDENT$}"))));
        page.labelled("", &candidate.spec.title);
        page.price(candidate);
        if let Some(outcome) = &one.outcome {
            let basis = candidate.about.latency_basis.name();
            page.labelled("  latency", &format!("{} ({basis})", latencies(outcome)));
            page.labelled("  limits", &format!("{} ({})", limits(outcome), limits_basis(candidate)));
            for limit in &outcome.limits {
                if let Some(held) = &limit.credits {
                    let text = format!("{}: {} ({})", limit.name, credits(held), limits_basis(candidate));
                    page.labelled("  credits", &text);
                }
            }
        }
        if let Some(of) = &one.margin {
            let until = match plan.bounds.percentiles.first() {
                _ if of.is_open => String::new(),
                Some((share, bound)) => format!(" before {} exceeds {bound}", percentile_name(*share)),
                None => " before it falls behind".to_owned(),
            };
            page.labelled("  margin", &format!("{}{until} ({})", margin(of), headroom_basis(candidate)));
        }
        for assumed in assumptions(candidate) {
            page.labelled("  assumed", &assumed);
        }
    }

    fn meeting(&mut self, plan: &TracePlanReport) {
        if plan.ranking.meeting.is_empty() {
            return;
        }
        self.0.sheet.gap();
        let head = ["meets the need", "a month", "p50", "p99", "p99.9", "throttled", "headroom"];
        let rows: Vec<[String; 7]> = plan.meeting().map(row).collect();
        let width = |column: usize| {
            rows.iter().map(|row| row[column].chars().count()).chain([head[column].len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        let line = |mark: &str, cells: &[&str]| {
            let mut line = format!("{mark} {:<w$}", cells[0], w = widths[0]);
            for (cell, width) in cells.iter().zip(&widths).skip(1) {
                line.push_str(&format!("  {cell:>width$}"));
            }
            line
        };
        let sheet = &mut self.0.sheet;
        sheet.line(&sheet.faint(&line(" ", &head)));
        for ((one, row), index) in plan.meeting().zip(&rows).zip(&plan.ranking.meeting) {
            let mark = if plan.ranking.front.contains(index) { "*" } else { " " };
            sheet.line(&line(mark, &row.iter().map(String::as_str).collect::<Vec<_>>()));
            sheet.aside(4, &details(one));
        }
        let share = plan.bounds.percentiles.first().map_or(0.99, |(share, _)| *share);
        let note = format!(
            "* no other is both cheaper and has a lower {} that is as well known. Prices in USD a month.",
            percentile_name(share)
        );
        sheet.aside(0, &note);
    }

    fn missing(&mut self, plan: &TracePlanReport) {
        let groups = refused(plan);
        if groups.is_empty() {
            return;
        }
        let sheet = &mut self.0.sheet;
        sheet.gap();
        sheet.line(&sheet.faint("not enough"));
        let room = sheet.width().saturating_sub(4).max(20);
        for (reason, volumes) in groups {
            let shown = NAMED.min(volumes.len());
            let more = match volumes.len() - shown {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            sheet.hung(["  ", "    "], room, &format!("{reason}: {}{more}", volumes[..shown].join(", ")), None);
        }
    }

    fn foot(&mut self, plan: &TracePlanReport) {
        let candidates: Vec<plan::Candidate> = plan.candidates.iter().map(|one| one.candidate.clone()).collect();
        let sheet = &mut self.0.sheet;
        sheet.gap();
        for text in figures::scope(&plan.need, &candidates) {
            sheet.aside(0, &text);
        }
        if let Some(region) = figures::unknown_region(&plan.need) {
            sheet.aside(0, &region);
        }
        sheet.aside(0, &accuracy(plan));
    }
}

/// Returns the cells of a volume.
fn row(one: &ReplayedCandidate) -> [String; 7] {
    let candidate = &one.candidate;
    let month = match &candidate.price {
        Some(money) if money.whole() => amount(money.usd_per_month),
        Some(money) => format!("> {}", amount(money.usd_per_month)),
        None => "unknown".to_owned(),
    };
    let dash = || "-".to_owned();
    let of = |text: &dyn Fn(&ReplayResult) -> Option<String>| one.outcome.as_ref().and_then(text).unwrap_or_else(dash);
    let at = |share: f64| of(&|outcome| outcome.percentile_secs(share).map(time));
    let [p50, p99, p999] = SHOWN.map(|(share, _)| at(share));
    let throttled = of(&|outcome| Some(portion(outcome.throttled())));
    let headroom = one
        .margin
        .map_or_else(dash, |of| format!("{}{}x", if of.is_open { ">" } else { "" }, significant(of.factor, 3)));
    [candidate.listed.clone(), month, p50, p99, p999, throttled, headroom]
}

/// Returns what has no column: provisioned values, limit, credits, and the basis of latencies.
fn details(one: &ReplayedCandidate) -> String {
    let candidate = &one.candidate;
    let held = one.outcome.as_ref().and_then(spent);
    let limit = one.outcome.as_ref().and_then(ReplayResult::bottleneck).map(|limit| limit.name.clone());
    let parts = [
        Some(size(candidate)),
        Some(provisioned(candidate)).filter(|more| !more.is_empty()),
        limit,
        held.map(|held| format!("credits {}", credits(held))),
        Some(format!("latency {}", candidate.about.latency_basis.name())),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Returns a volume with its price and percentiles.
fn in_short(one: &ReplayedCandidate) -> String {
    let month = one.candidate.price.as_ref().map_or_else(|| "price not known".to_owned(), price);
    let p99 = one.outcome.as_ref().and_then(|outcome| outcome.percentile_secs(0.99));
    let basis = one.candidate.about.latency_basis.name();
    let latency = p99.map_or_else(String::new, |p99| format!(", p99 {} ({basis})", time(p99)));
    format!("{}: {month}{latency}", one.candidate.spec.name)
}

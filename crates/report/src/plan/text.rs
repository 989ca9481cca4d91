//! A plan as text for a terminal.

use plan::{Candidate, Need};
use units::{Bytes, grouped, significant};
use volume::cited;
use volume::closed::{Cap, CapPart};

use super::figures::{self, holds, limit, name, price, provisioned, region, size, split, time, wanted, whole};
use super::{PlanReport, answer};
use crate::sheet::{Sheet, SheetStyle, Tone};
use crate::volume_terms::amount;

/// Maximum number of volumes that are compared without `--details`.
const COMPARED: usize = 8;
/// Maximum number of volumes named per reason without `--show-math`.
const NAMED: usize = 6;
/// Columns before the text of a labelled line.
pub(super) const INDENT: usize = 10;

/// Returns the plan as text; `shows_arithmetic` adds every rule and source.
pub(crate) fn text(plan: &PlanReport, style: SheetStyle, shows_arithmetic: bool) -> String {
    let mut page = PlanText { sheet: Sheet::new(style, INDENT) };
    answer::answer(plan).write(&mut page.sheet);
    page.sheet.gap();
    if !style.details && !shows_arithmetic {
        page.in_short(plan);
        return page.sheet.finish();
    }
    page.labelled("Need", &wanted(&plan.need));
    plan.remarks().for_each(|line| page.labelled("", &line));
    page.verdict(plan);
    page.meeting(plan);
    page.missing(plan, shows_arithmetic);
    if shows_arithmetic {
        arithmetic(plan).iter().for_each(|line| page.indented(line));
    }
    page.foot(plan, shows_arithmetic);
    page.sheet.finish()
}

pub(super) struct PlanText {
    pub(super) sheet: Sheet,
}

impl PlanText {
    /// Appends a line that keeps its indent where it is wrapped, two columns deeper.
    fn indented(&mut self, line: &str) {
        let indent = line.chars().take_while(|c| *c == ' ').count();
        let room = self.sheet.width().saturating_sub(indent + 2);
        self.sheet.hung([&" ".repeat(indent), &" ".repeat(indent + 2)], room, line, None);
    }

    /// Appends a label on the left and wrapped text behind it.
    pub(super) fn labelled(&mut self, label: &str, text: &str) {
        let lead = format!("{label:<INDENT$}");
        let lead = if lead.starts_with(' ') { lead } else { self.sheet.strong(&lead) };
        let room = self.sheet.width().saturating_sub(INDENT).max(20);
        self.sheet.hung([&lead, &" ".repeat(INDENT)], room, text, None);
    }

    /// Appends the first volumes that meet the need, the one for twice the load, and how many others there are.
    fn in_short(&mut self, plan: &PlanReport) {
        let rows: Vec<MeetingRow> =
            plan.ranking.meeting.iter().take(COMPARED).map(|index| MeetingRow::of(plan, *index)).collect();
        if !rows.is_empty() {
            self.table(&plan.need, &rows);
            self.sheet.gap();
        }
        if let Some(next) = answer::next_step(plan) {
            self.sheet.paragraph(&next, None);
        }
        let more = plan.ranking.meeting.len().saturating_sub(COMPARED);
        let also = if more > 0 { format!("{more} more that meet the need, ") } else { String::new() };
        let line =
            format!("{also}{} that do not: --details. Arithmetic and sources: --show-math", plan.ranking.missing.len());
        self.sheet.paragraph(&line, Some(Tone::Faint));
        self.sheet.aside(0, figures::NOT_CONSIDERED);
    }

    fn verdict(&mut self, plan: &PlanReport) {
        let ranking = &plan.ranking;
        self.sheet.gap();
        let Some(best) = ranking.best.or(ranking.meeting.first().copied()) else {
            self.impossible(plan);
            return;
        };
        let what = if ranking.best.is_some() { "Best" } else { "Meets" };
        self.described(what, &plan.candidates[best], &plan.need, plan.machines_of(best));
        if ranking.best.is_none() {
            self.labelled("", "no price is published; ranked by latency");
        } else if let Some(unpriced) = unpriced(plan, &plan.candidates[best]) {
            self.labelled("", &unpriced);
        }
        let better_known = ranking.known_best.filter(|_| !plan.candidates[best].has_known_latency());
        if let Some(known) = better_known {
            let candidate = &plan.candidates[known];
            let text = format!(
                "cheapest with a measured or published latency: {}, {}",
                candidate.spec.name,
                figures_of(candidate)
            );
            self.labelled("", &text);
        }
        if let Some(fastest) = ranking.fastest.filter(|fastest| Some(*fastest) != ranking.best) {
            let candidate = &plan.candidates[fastest];
            let text = format!("{}: {}", candidate.spec.name, figures_of(candidate));
            self.labelled("Fastest", &text);
            let known = ranking.known_fastest.filter(|_| !candidate.has_known_latency());
            if let Some(known) = known.filter(|known| better_known != Some(*known)) {
                let known = &plan.candidates[known];
                let text =
                    format!("fastest with a measured or published latency: {}, {}", known.spec.name, figures_of(known));
                self.labelled("", &text);
            }
        }
        if let Some(next) = answer::next_step(plan) {
            self.labelled("", &next);
        }
    }

    /// Appends one candidate with the figures that a buyer needs.
    fn described(&mut self, label: &str, candidate: &Candidate, need: &Need, machines: &[String]) {
        let strong = self.sheet.strong(&candidate.spec.name);
        self.sheet.line(&format!("{}{strong}", self.sheet.strong(&format!("{label:<INDENT$}"))));
        self.labelled("", &candidate.spec.title);
        self.price(candidate);
        self.load(candidate, need);
        if let Some(cpus) = candidate.cpus {
            self.labelled("  CPUs", &format!("reserve {} vCPUs for I/O", significant(cpus.max(0.1), 2)));
        }
        self.machine(candidate, need, machines);
        if let Some(effect) = figures::jitter(candidate, need) {
            self.labelled("  jitter", &effect);
        }
        if let Some(effect) = figures::merging(candidate) {
            self.labelled("  merging", &effect);
        }
        if let Some(why) = &candidate.about.latency_assumed {
            self.labelled("  assumed", &format!("latency: {why}"));
        }
    }

    pub(super) fn price(&mut self, candidate: &Candidate) {
        match &candidate.price {
            Some(money) => {
                let split = split(money);
                let split = if split.contains(',') { format!(": {split}") } else { String::new() };
                let bought = match candidate.volumes {
                    1 => String::new(),
                    volumes => format!(" for {} volumes", grouped(u64::from(volumes))),
                };
                self.labelled("  price", &format!("{}{bought} ({}){split}", price(money), holds(money)));
            }
            None => self.labelled("  price", "unknown"),
        }
        if let Some(lacks) = candidate.price.as_ref().and_then(|money| money.price.lacks.as_ref()) {
            self.labelled("", &format!("excludes {lacks} (price unknown)"));
        }
        if let (Some(iops), Some(mibps)) = (candidate.price_per_iops(), candidate.price_per_mibps()) {
            let density = candidate
                .iops_per_gb()
                .map_or_else(String::new, |per_gb| format!("; {} IOPS per GB", significant(per_gb, 3)));
            let text = format!("{} USD per IOPS, {} per MiB/s", significant(iops, 3), significant(mibps, 3));
            self.labelled("", &format!("{text}{density}"));
        }
    }

    /// Appends the limit of a candidate under the load, the depth it takes, and its latency.
    fn load(&mut self, candidate: &Candidate, need: &Need) {
        if candidate.limit.is_some() && candidate.rate > 0.0 {
            self.labelled("  limit", &limit(candidate));
        }
        if let Some((jobs, depth)) = candidate.jobs().filter(|_| candidate.rate > 0.0) {
            let latency = candidate.mean_secs.map_or_else(String::new, |secs| format!(" x {}", time(secs)));
            let flight = candidate.in_flight.unwrap_or(0.0);
            let plural = if jobs == 1 { "" } else { "s" };
            let text = format!(
                "{} in flight = {} IOPS{latency}: {jobs} job{plural} with iodepth={depth}",
                figures::depth(flight),
                whole(candidate.rate)
            );
            self.labelled("  depth", &text);
        }
        if let Some(mean) = figures::latency(candidate) {
            let share = need.percentile.map_or(0.99, |(share, _)| share);
            let within = |p: f64| format!(", {} % within {}", significant(100.0 * share, 3), time(p));
            let within = candidate.percentile_secs.map_or_else(String::new, within);
            self.labelled("  latency", &format!("{mean}{within}"));
        }
        if let Some((iops, secs)) = candidate.burst {
            let lasting = if secs.is_finite() { format!("for {}", time(secs)) } else { "for a while".to_owned() };
            self.labelled(
                "  burst",
                &format!("{} IOPS {lasting} while credits last; the plan does not rely on it", whole(iops)),
            );
        }
    }

    fn machine(&mut self, candidate: &Candidate, need: &Need, machines: &[String]) {
        match need.vcpus {
            _ if figures::machine(candidate).is_some() => {
                let on_request = candidate.spec.on_request().map(str::to_owned);
                for text in figures::unknown_machine(candidate).into_iter().chain(on_request) {
                    self.labelled("  machine", &text);
                }
            }
            _ if !machines.is_empty() => {
                self.labelled("  machine", &format!("{} or larger", machines.join(", ")));
            }
            Some(vcpus) if answer::depends_on_machine(candidate) => {
                self.labelled("  machine", &format!("no machine with {vcpus} vCPUs is known to sustain it"));
            }
            None if answer::depends_on_machine(candidate) && candidate.rate > 0.0 => {
                self.labelled("  machine", "no machine of the catalogue is known to sustain it");
            }
            _ => {}
        }
    }

    fn impossible(&mut self, plan: &PlanReport) {
        let ranking = &plan.ranking;
        self.sheet.line(&self.sheet.strong("No volume meets this need."));
        for nearest in &ranking.impossible {
            let text = format!(
                "{}: nearest is {}, {}",
                name(nearest.failure.requirement),
                nearest.volume,
                figures::failure(&nearest.failure)
            );
            self.labelled("", &text);
        }
        if let Some(tight) = &plan.without_headroom {
            let text = format!("without headroom (--headroom 0): {}, {}", tight.spec.name, figures_of(tight));
            self.labelled("", &text);
        }
        if let Some(together) = figures::only_together(plan) {
            self.labelled("", together);
        }
        if let Some(nearest) = figures::nearest(plan) {
            self.labelled("Nearest", &nearest);
        }
    }

    fn meeting(&mut self, plan: &PlanReport) {
        let ranking = &plan.ranking;
        if ranking.meeting.is_empty() {
            return;
        }
        self.sheet.gap();
        let rows: Vec<MeetingRow> = ranking.meeting.iter().map(|index| MeetingRow::of(plan, *index)).collect();
        self.table(&plan.need, &rows);
        let note = "* not beaten on both price and latency. Prices in USD a month.";
        self.sheet.aside(0, note);
    }

    /// Appends a table with names on the left and figures on the right. The last column takes the rest of the line, or
    /// a separate line if less than 24 columns remain; on a narrow terminal, regions and latency bases move there too.
    fn table(&mut self, need: &Need, rows: &[MeetingRow]) {
        let with_percentile = need.percentile.is_some();
        let columns = |region: bool, basis: bool| {
            let head = MeetingRow::head(figures::percentile_name(need)).cells(region, basis, with_percentile);
            let cells: Vec<Vec<(String, bool)>> =
                rows.iter().map(|row| row.cells(region, basis, with_percentile)).collect();
            let width_of = |column: usize| {
                std::iter::once(&head).chain(&cells).map(|cells| cells[column].0.chars().count()).max().unwrap_or(0)
            };
            let widths: Vec<usize> = (0..head.len()).map(width_of).collect();
            let used = widths.iter().sum::<usize>() + 2 * widths.len() - 1;
            (head, cells, widths, used)
        };
        let most = self.sheet.width();
        let shapes = [(true, true), (false, true), (false, false)];
        let (region, basis) =
            shapes.into_iter().find(|(region, basis)| columns(*region, *basis).3 <= most + 2).unwrap_or((false, false));
        let (head, cells, widths, used) = columns(region, basis);
        let room = most.saturating_sub(used);
        let line = |cells: &[(String, bool)]| {
            let mut line = format!("{:<w$} {:<v$}", cells[0].0, cells[1].0, w = widths[0].max(1), v = widths[1]);
            for ((cell, left), width) in cells.iter().zip(&widths).skip(2) {
                line.push_str(&if *left { format!("  {cell:<width$}") } else { format!("  {cell:>width$}") });
            }
            line
        };
        let is_beside = room >= 24 && self.sheet.shows_details();
        let last = if is_beside { "  limit" } else { "" };
        self.sheet.line(&self.sheet.faint(&format!("{}{last}", line(&head))));
        for (row, cells) in rows.iter().zip(&cells) {
            let line = line(cells);
            let last = row.rest(region, basis);
            if !self.sheet.shows_details() {
                self.sheet.line(&line);
            } else if is_beside {
                self.sheet.hung([&format!("{line}  "), &" ".repeat(used + 1)], room.saturating_sub(1), &last, None);
            } else {
                self.sheet.line(&line);
                self.sheet.aside(4, &last);
            }
        }
    }

    /// Appends a line for each reason with the volumes it excludes; `names_all` adds the limits of each volume.
    fn missing(&mut self, plan: &PlanReport, names_all: bool) {
        let missing = &plan.ranking.missing;
        if missing.is_empty() {
            return;
        }
        self.sheet.gap();
        self.sheet.line(&self.sheet.faint("not enough"));
        let candidates = || plan.missing();
        let room = self.sheet.width().saturating_sub(4).max(20);
        let mut is_cut = false;
        for group in figures::refused(candidates()) {
            let shown = if names_all { group.volumes.len() } else { NAMED.min(group.volumes.len()) };
            let more = group.volumes.len() - shown;
            is_cut |= more > 0;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let text = format!("{}: {}{more}", group.reason, group.volumes[..shown].join(", "));
            self.sheet.hung(["  ", "    "], room, &text, None);
        }
        if names_all {
            self.each_missing(candidates());
        } else if is_cut {
            self.sheet.line("  --show-math names all, with their limits");
        }
    }

    fn each_missing<'a>(&mut self, missing: impl Iterator<Item = &'a Candidate> + Clone) {
        self.sheet.gap();
        self.sheet.line(&self.sheet.faint("their limits"));
        let width = missing.clone().map(|candidate| candidate.listed.chars().count()).max().unwrap_or(0);
        for candidate in missing {
            let why: Vec<String> = candidate.failures.iter().map(figures::failure).collect();
            let room = self.sheet.width().saturating_sub(width + 4).max(20);
            let [lead, below] = [candidate.listed.as_str(), ""].map(|lead| format!("  {lead:<width$}  "));
            self.sheet.hung([&lead, &below], room, &why.join("; "), None);
        }
    }

    fn foot(&mut self, plan: &PlanReport, shows_arithmetic: bool) {
        let survived = plan.candidates.iter().filter(|candidate| candidate.survived == Some(true)).count();
        let mut note = match plan.is_simulated {
            true if survived > 0 => {
                format!("{survived} of {} confirmed by simulation, seed {}.", plan.ranking.meeting.len(), plan.seed)
            }
            _ => String::new(),
        };
        if !shows_arithmetic {
            note.push_str(" --show-math shows the arithmetic and its sources.");
        }
        self.sheet.gap();
        for line in figures::scope(&plan.need, &plan.candidates) {
            self.sheet.aside(0, &line);
        }
        if !note.is_empty() {
            self.sheet.aside(0, note.trim_start());
        }
    }
}

/// A row of the table of volumes that meet the need.
struct MeetingRow {
    mark: String,
    name: String,
    size: String,
    month: String,
    holds: String,
    latency: String,
    basis: String,
    percentile: String,
    depth: String,
    /// The price in its own currency, what to provision, and the limit.
    limit: Vec<String>,
}

impl MeetingRow {
    fn head(percentile: &str) -> Self {
        let [name, size, month, holds, latency, basis, depth] =
            ["meets the need", "size", "a month", "region, date", "latency", "basis", "depth"].map(str::to_owned);
        let percentile = percentile.to_owned();
        Self { mark: String::new(), name, size, month, holds, latency, basis, percentile, depth, limit: Vec::new() }
    }

    fn of(plan: &PlanReport, index: usize) -> Self {
        let candidate = &plan.candidates[index];
        let price = candidate.price.as_ref();
        let month = match price {
            Some(money) if money.whole() => amount(money.usd_per_month),
            Some(money) => format!("> {}", amount(money.usd_per_month)),
            None => "unknown".to_owned(),
        };
        let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let more = Some(provisioned(candidate)).filter(|more| !more.is_empty());
        let own = price.and_then(figures::own_currency);
        Self {
            mark: if plan.ranking.front.contains(&index) { "*" } else { " " }.to_owned(),
            name: candidate.listed.clone(),
            size: size(candidate),
            month,
            holds: or_dash(price.map(holds)),
            latency: or_dash(candidate.mean_secs.map(time)),
            basis: candidate.about.latency_basis.name().to_owned(),
            percentile: or_dash(candidate.percentile_secs.map(time)),
            depth: or_dash(candidate.in_flight.map(figures::depth)),
            limit: own
                .into_iter()
                .chain(more)
                .chain([limit(candidate)])
                .chain(figures::in_short(candidate, &plan.need))
                .filter(|part| !part.is_empty())
                .collect(),
        }
    }

    /// Returns the cells of the visible columns, and whether each is aligned left.
    fn cells(&self, region: bool, basis: bool, percentile: bool) -> Vec<(String, bool)> {
        let cells = [
            (true, &self.mark, true),
            (true, &self.name, true),
            (true, &self.size, false),
            (true, &self.month, false),
            (region, &self.holds, true),
            (true, &self.latency, false),
            (percentile, &self.percentile, false),
            (basis, &self.basis, true),
            (true, &self.depth, false),
        ];
        cells.into_iter().filter(|(is_shown, ..)| *is_shown).map(|(_, cell, left)| (cell.clone(), left)).collect()
    }

    /// Returns the values that have no column.
    fn rest(&self, region: bool, basis: bool) -> String {
        let holds = (!region && self.holds != "-").then(|| self.holds.clone());
        let basis = (!basis).then(|| format!("latency {}", self.basis));
        holds.into_iter().chain(basis).chain(self.limit.iter().cloned()).collect::<Vec<_>>().join("; ")
    }
}

/// Names the volumes that meet the need and may be cheaper than the best one: what is known of their prices is less.
fn unpriced(plan: &PlanReport, best: &Candidate) -> Option<String> {
    let most = best.known_price().map_or(f64::INFINITY, |price| price.usd_per_month);
    let may_cost_less = |candidate: &&Candidate| {
        candidate.price.as_ref().is_none_or(|price| !price.whole() && price.usd_per_month < most)
    };
    let mut names: Vec<&str> = plan
        .ranking
        .meeting
        .iter()
        .map(|&index| &plan.candidates[index])
        .filter(may_cost_less)
        .map(|candidate| candidate.spec.name.split(',').next().unwrap_or_default())
        .collect();
    names.dedup();
    (!names.is_empty()).then(|| format!("unpriced, may cost less: {}", names.join(", ")))
}

/// Formats the price and latency of a candidate.
fn figures_of(candidate: &Candidate) -> String {
    let month = candidate.price.as_ref().map_or_else(|| "price unknown".to_owned(), price);
    let latency = figures::latency(candidate).map_or_else(String::new, |latency| format!(", {latency}"));
    format!("{month}{latency}")
}

/// Returns the arithmetic of all volumes that meet the requirement, as lines below a heading.
pub(super) fn arithmetic(plan: &PlanReport) -> Vec<String> {
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
            lines.push(format!("  made for {percent:.0} % more: simulations of less fell short"));
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

//! A plan for people at a terminal.

use plan::{Candidate, Need};
use report::{Sheet, Style};
use units::{grouped, significant};

use super::Answer;
use super::figures::{self, holds, limit, name, price, provisioned, size, split, time, wanted, whole};
use crate::words::{amount, cited};

/// How many of those that are not enough are told without being asked.
const MISSING: usize = 6;
/// Columns before the text of a labelled line.
const INDENT: usize = 10;

/// The whole answer.
pub(super) fn text(answer: &Answer, style: Style, explain: bool) -> String {
    let mut page = Page { sheet: Sheet::new(style, INDENT) };
    page.labelled("Need", &wanted(&answer.need));
    for line in answer.lines.iter().cloned().chain(foreign(answer)) {
        page.labelled("", &line);
    }
    page.verdict(answer);
    page.meeting(answer);
    page.missing(answer, explain);
    if explain {
        for line in arithmetic(answer) {
            page.indented(&line);
        }
    }
    page.foot(answer, explain);
    page.sheet.finish()
}

struct Page {
    sheet: Sheet,
}

impl Page {
    /// A line that keeps its indent where it is wrapped, and a little more.
    fn indented(&mut self, line: &str) {
        let indent = line.chars().take_while(|c| *c == ' ').count();
        let room = self.sheet.width().saturating_sub(indent + 2);
        self.sheet.hung([&" ".repeat(indent), &" ".repeat(indent + 2)], room, line, None);
    }

    /// A label on the left, wrapped text behind it.
    fn labelled(&mut self, label: &str, text: &str) {
        let lead = format!("{label:<INDENT$}");
        let lead = if lead.starts_with(' ') { lead } else { self.sheet.strong(&lead) };
        let room = self.sheet.width().saturating_sub(INDENT).max(20);
        self.sheet.hung([&lead, &" ".repeat(INDENT)], room, text, None);
    }

    fn verdict(&mut self, answer: &Answer) {
        let ranking = &answer.ranking;
        self.sheet.gap();
        let Some(best) = ranking.best.or(ranking.meeting.first().copied()) else {
            self.impossible(answer);
            return;
        };
        let what = if ranking.best.is_some() { "Best" } else { "Meets" };
        self.described(what, &answer.candidates[best], &answer.need, answer.machines_of(best));
        if ranking.best.is_none() {
            self.labelled("", "no price is known of any that meets the need: they stand by their latency");
        }
        if let Some(fastest) = ranking.fastest.filter(|fastest| Some(*fastest) != ranking.best) {
            let candidate = &answer.candidates[fastest];
            let told = format!("{}: {}", candidate.spec.name, figures_of(candidate));
            self.labelled("Fastest", &told);
        }
        match &answer.next {
            Some(next) => {
                let more = next.known_price().zip(answer.candidates[best].known_price());
                let more = more.filter(|(next, best)| next.currency == best.currency);
                let more = more.map_or_else(String::new, |(next, best)| {
                    let factor = next.per_month / best.per_month.max(0.01);
                    format!(", {} times the price", significant(factor, 2))
                });
                self.labelled(
                    "Next step",
                    &format!("for twice as much: {}{more}: {}", next.spec.name, figures_of(next)),
                );
            }
            None if !answer.need.demands().is_empty() => {
                self.labelled("Next step", "no volume with a known price gives twice as much");
            }
            None => {}
        }
    }

    /// One candidate with all that is to be known when it is bought.
    fn described(&mut self, label: &str, candidate: &Candidate, need: &Need, machines: &[String]) {
        let strong = self.sheet.strong(&candidate.spec.name);
        self.sheet.line(&format!("{}{strong}", self.sheet.strong(&format!("{label:<INDENT$}"))));
        self.labelled("", &candidate.spec.title);
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
            None => self.labelled("  price", "not known"),
        }
        if let Some(lacks) = candidate.price.as_ref().and_then(|money| money.lacks.as_ref()) {
            self.labelled("", &format!("not in it: {lacks}, at a price that is not known"));
        }
        if let (Some(iops), Some(mibps)) = (candidate.price_per_iops(), candidate.price_per_mibps()) {
            let density = candidate
                .iops_per_gb()
                .map_or_else(String::new, |per_gb| format!("; {} IOPS for each GB", significant(per_gb, 3)));
            let told = format!("{} for each IOPS, {} for each MiB/s", significant(iops, 3), significant(mibps, 3));
            self.labelled("", &format!("{told}{density}"));
        }
        if candidate.limit.is_some() && candidate.rate > 0.0 {
            self.labelled("  limit", &limit(candidate));
        }
        if let Some((jobs, depth)) = candidate.jobs().filter(|_| candidate.rate > 0.0) {
            let latency = candidate.mean_secs.map_or_else(String::new, |secs| format!(" x {}", time(secs)));
            let flight = candidate.in_flight.unwrap_or(0.0);
            let plural = if jobs == 1 { "" } else { "s" };
            let told = format!(
                "{} in flight = {} IOPS{latency}: {jobs} job{plural} with iodepth={depth}",
                figures::depth(flight),
                whole(candidate.rate)
            );
            self.labelled("  depth", &told);
        }
        if let Some(p) = candidate.percentile_secs {
            let share = need.percentile.map_or(0.99, |(share, _)| share);
            self.labelled("  latency", &format!("{} % within {}", significant(100.0 * share, 3), time(p)));
        }
        if let Some((iops, secs)) = candidate.burst {
            let lasting = if secs.is_finite() { format!("for {}", time(secs)) } else { "for a while".to_owned() };
            self.labelled(
                "  burst",
                &format!("{} IOPS {lasting} while credits last; it is not counted on", whole(iops)),
            );
        }
        if let Some(cpus) = candidate.cpus {
            self.labelled("  CPUs", &format!("{} to leave free for I/O", significant(cpus.max(0.1), 2)));
        }
        match need.vcpus {
            _ if has_unknown_machine(candidate) => {
                let machine = candidate.machine.as_deref().unwrap_or_default();
                let told = format!("what {machine} lets through to it is not known, and not counted");
                self.labelled("  machine", &told);
            }
            _ if !machines.is_empty() => {
                self.labelled("  machine", &format!("{} or a larger one let it through", machines.join(", ")));
            }
            Some(vcpus) if goes_by_machine(candidate) && need.machine.is_none() => {
                self.labelled("  machine", &format!("none with {vcpus} vCPUs is known to let it through"));
            }
            _ => {}
        }
        if let Some(why) = &candidate.about.latency_assumed {
            self.labelled("  assumed", &format!("latency: {why}"));
        }
    }

    fn impossible(&mut self, answer: &Answer) {
        let ranking = &answer.ranking;
        self.sheet.line(&self.sheet.strong("Nothing in the catalogue meets this need."));
        for nearest in &ranking.impossible {
            let candidate = &answer.candidates[nearest.candidate];
            let told = format!(
                "{}: no volume has it. The nearest is {}, {}",
                name(nearest.failure.requirement),
                candidate.spec.name,
                figures::failure(&nearest.failure)
            );
            self.labelled("", &told);
        }
        self.closed_loop(answer);
        if ranking.impossible.is_empty() {
            self.labelled("", "Each wish can be fulfilled, but not all of them at once.");
        }
        if let Some(nearest) = ranking.nearest.map(|index| &answer.candidates[index]) {
            let failures: Vec<String> = nearest.failures.iter().map(figures::failure).collect();
            self.labelled("Nearest", &format!("{}: {}", nearest.spec.name, failures.join("; ")));
        }
    }

    /// Where nothing but the waiting of operations that come by chance is too long: how many in flight do it in a loop.
    fn closed_loop(&mut self, answer: &Answer) {
        let Some(mean) = answer.need.mean else { return };
        let waits_only = |candidate: &&Candidate| {
            let waits = |failure: &plan::Failure| failure.requirement == plan::Requirement::Mean;
            candidate.failures.iter().all(|failure| waits(failure) && failure.reached < failure.wanted)
        };
        let Some(candidate) = answer.ranking.missing.iter().map(|index| &answer.candidates[*index]).find(waits_only)
        else {
            return;
        };
        let told = format!(
            "Operations that come by chance wait at a limit. A loop with {} in flight has {} IOPS at {mean} from {}:              leave --latency out to plan for that",
            figures::depth(candidate.rate * mean.secs_f64()),
            whole(candidate.rate),
            candidate.listed
        );
        self.labelled("", &told);
    }

    fn meeting(&mut self, answer: &Answer) {
        let ranking = &answer.ranking;
        if ranking.meeting.is_empty() {
            return;
        }
        self.sheet.gap();
        let head: [String; 7] =
            ["", "meets the need", "size", "a month", "latency", "depth", "limit"].map(str::to_owned);
        let rows: Vec<[String; 7]> = ranking
            .meeting
            .iter()
            .map(|index| {
                let candidate = &answer.candidates[*index];
                let mark = if ranking.front.contains(index) { "*" } else { " " };
                let month = match &candidate.price {
                    Some(money) if money.whole() && money.currency == "USD" => amount(money.per_month),
                    Some(money) if money.whole() => format!("{} {}", amount(money.per_month), money.currency),
                    Some(money) => format!("> {}", amount(money.per_month)),
                    None => "unknown".to_owned(),
                };
                let depth = candidate.in_flight.map_or_else(|| "-".to_owned(), figures::depth);
                let latency = candidate.mean_secs.map_or_else(|| "-".to_owned(), time);
                let more = provisioned(candidate);
                let limit = if more.is_empty() { limit(candidate) } else { format!("{more}; {}", limit(candidate)) };
                [mark.to_owned(), candidate.listed.clone(), size(candidate), month, latency, depth, limit]
            })
            .collect();
        self.table(&head, &rows);
        let note =
            "* no other is both cheaper and faster. Prices in USD, of the regions and dates that --explain tells.";
        self.sheet.aside(0, note);
    }

    /// Names on the left, figures on the right, and what is left of the line for the last column: below its row where
    /// that is too little.
    fn table(&mut self, head: &[String; 7], rows: &[[String; 7]]) {
        let width_of =
            |column: usize| std::iter::once(head).chain(rows).map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..6).map(width_of).collect();
        let used: usize = widths.iter().sum::<usize>() + 2 * 5 + 1;
        let room = self.sheet.width().saturating_sub(used);
        for (index, row) in std::iter::once(head).chain(rows).enumerate() {
            let mut line = format!("{:<w$} {:<v$}", row[0], row[1], w = widths[0].max(1), v = widths[1]);
            for column in 2..6 {
                line.push_str(&format!("  {:>w$}", row[column], w = widths[column]));
            }
            let last = &row[6];
            match (index, room >= 24) {
                (0, true) => self.sheet.line(&self.sheet.faint(&format!("{line}  {last}"))),
                (0, false) => self.sheet.line(&self.sheet.faint(&line)),
                (_, true) => self.sheet.hung([&format!("{line}  "), &" ".repeat(used)], room, last, None),
                (_, false) => {
                    self.sheet.line(&line);
                    self.sheet.aside(4, last);
                }
            }
        }
    }

    fn missing(&mut self, answer: &Answer, explain: bool) {
        let missing = &answer.ranking.missing;
        if missing.is_empty() {
            return;
        }
        self.sheet.gap();
        self.sheet.line(&self.sheet.faint("not enough"));
        let shown = if explain { missing.len() } else { MISSING.min(missing.len()) };
        let names: Vec<&str> = missing[..shown].iter().map(|index| answer.candidates[*index].listed.as_str()).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for index in &missing[..shown] {
            let candidate = &answer.candidates[*index];
            let why: Vec<String> = candidate.failures.iter().map(figures::failure).collect();
            let room = self.sheet.width().saturating_sub(width + 4).max(20);
            let [lead, below] = [candidate.listed.as_str(), ""].map(|lead| format!("  {lead:<width$}  "));
            self.sheet.hung([&lead, &below], room, &why.join("; "), None);
        }
        if shown < missing.len() {
            self.sheet.line(&format!("  and {} more: --explain tells all", missing.len() - shown));
        }
    }

    fn foot(&mut self, answer: &Answer, explain: bool) {
        let survived = answer.candidates.iter().filter(|candidate| candidate.survived == Some(true)).count();
        let mut said = match answer.simulated {
            true if survived > 0 => {
                format!("{survived} of {} confirmed by simulation, seed {}.", answer.ranking.meeting.len(), answer.seed)
            }
            _ => String::new(),
        };
        if !explain {
            said.push_str(" --explain shows the arithmetic and its sources.");
        }
        if !said.is_empty() {
            self.sheet.gap();
            self.sheet.aside(0, &said);
        }
    }
}

/// Whether a machine was named whose limits for this volume nobody states.
fn has_unknown_machine(candidate: &Candidate) -> bool {
    let is_limited = candidate.spec.limits.iter().any(|limit| limit.scope == volume::Scope::Machine);
    candidate.machine.is_some() && !is_limited
}

/// A region of which no price is known: those of nowhere in particular are taken for it, and no others.
fn foreign(answer: &Answer) -> Option<String> {
    let region = answer.need.region.as_ref()?;
    let is_of = |candidate: &Candidate| {
        let known = candidate.price.as_ref().and_then(|price| price.region.as_ref());
        known.is_some_and(|known| known.eq_ignore_ascii_case(region))
    };
    let none = !answer.candidates.iter().any(is_of);
    none.then(|| format!("no price here is of {region}; those of volumes whose price names no region are taken for it"))
}

/// Whether it is the machine, and not a number of processors alone, that limits it.
fn goes_by_machine(candidate: &Candidate) -> bool {
    let has = |name: &str| candidate.about.keys.iter().any(|key| key.name == name);
    has("machine") && !has("vcpus")
}

/// Price and latency in a few words.
fn figures_of(candidate: &Candidate) -> String {
    let month = candidate.price.as_ref().map_or_else(|| "price not known".to_owned(), price);
    let latency = candidate.mean_secs.map_or_else(String::new, |secs| format!(", {}", time(secs)));
    format!("{month}{latency}")
}

/// Every number of every candidate that meets the need, with the rule it follows from and its source.
pub(super) fn arithmetic(answer: &Answer) -> Vec<String> {
    let mut lines = vec![String::new(), "Arithmetic".to_owned()];
    for index in &answer.ranking.meeting {
        let candidate = &answer.candidates[*index];
        lines.push(String::new());
        lines.push(candidate.spec.name.clone());
        if let Some(cap) = &candidate.limit {
            let spec = &candidate.spec;
            let (rule, source) = match cap.part {
                volume::closed::Part::Limit(limit) => {
                    spec.limits.get(limit).map(|limit| (limit.rule.clone(), limit.source.clone()))
                }
                volume::closed::Part::Station(station) => {
                    spec.stations.get(station).map(|station| (station.rule.clone(), station.source.clone()))
                }
            }
            .unwrap_or_default();
            lines.push(format!("  {} = {rule}", cap.name));
            lines.push(format!("    {}", cited(&source)));
            lines.push(format!(
                "  {} IOPS of {} through it, {} wanted: {}",
                whole(cap.iops),
                units::Bytes::new(candidate.block as u64),
                whole(candidate.rate),
                limit(candidate)
            ));
        }
        if let (Some(mean), Some(flight)) = (candidate.mean_secs, candidate.in_flight) {
            lines.push(format!(
                "  in flight = {} IOPS × {} = {}",
                whole(candidate.rate),
                time(mean),
                significant(flight, 3)
            ));
        }
        match &candidate.price {
            Some(money) => {
                lines.push(format!("  price = {} = {}", money.rule, price(money)));
                let parts = split(money);
                if parts.contains(',') {
                    lines.push(format!("    {parts}"));
                }
                let region = money.region.as_deref().unwrap_or("region not stated");
                lines.push(format!("    {region}; {}", cited(&money.source)));
            }
            None => lines.push("  price: not known".to_owned()),
        }
        if candidate.margin > 1.0 {
            lines.push(format!(
                "  made for {:.0} % more: simulations of less fell short",
                100.0 * (candidate.margin - 1.0)
            ));
        }
    }
    lines
}

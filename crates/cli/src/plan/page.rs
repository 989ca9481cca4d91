//! A plan for people at a terminal.

use plan::{Candidate, Need};
use units::significant;

use super::Answer;
use super::figures::{self, amount, holds, limit, name, price, provisioned, size, split, time, wanted, whole};

/// How many of those that are not enough are told without being asked.
const MISSING: usize = 6;
/// Columns before the text of a labelled line.
const INDENT: usize = 10;

/// The whole answer.
pub(super) fn text(answer: &Answer, width: usize, colour: bool, explain: bool) -> String {
    let mut page = Page { out: String::new(), width, colour };
    page.labelled("Need", &wanted(&answer.need));
    for line in &answer.lines {
        page.labelled("", line);
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
    page.out
}

struct Page {
    out: String,
    width: usize,
    colour: bool,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn strong(&self, text: &str) -> String {
        if self.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn faint(&self, text: &str) -> String {
        if self.colour { format!("\u{1b}[2m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// A line that keeps its indent where it is wrapped, and a little more.
    fn indented(&mut self, line: &str) {
        let indent = line.chars().take_while(|c| *c == ' ').count();
        for (part, text) in wrap(line, self.width.saturating_sub(indent + 2)).iter().enumerate() {
            let more = if part == 0 { 0 } else { 2 };
            self.line(&format!("{}{text}", " ".repeat(indent + more)));
        }
    }

    /// A label on the left, wrapped text behind it.
    fn labelled(&mut self, label: &str, text: &str) {
        let room = self.width.saturating_sub(INDENT).max(20);
        for (index, line) in wrap(text, room).iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let label = format!("{label:<INDENT$}");
            let label = if self.colour && !label.starts_with(' ') { self.strong(&label) } else { label };
            self.line(&format!("{label}{line}"));
        }
    }

    fn verdict(&mut self, answer: &Answer) {
        let ranking = &answer.ranking;
        self.line("");
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
        let strong = self.strong(&candidate.spec.name);
        self.line(&format!("{}{strong}", self.strong(&format!("{label:<INDENT$}"))));
        self.labelled("", &candidate.spec.title);
        match &candidate.price {
            Some(money) => {
                let split = split(money);
                let split = if split.contains(',') { format!(": {split}") } else { String::new() };
                self.labelled("  price", &format!("{} ({}){split}", price(money), holds(money)));
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
        if !machines.is_empty() {
            self.labelled("  machine", &format!("{} or a larger one let it through", machines.join(", ")));
        }
        if let Some(why) = &candidate.about.latency_assumed {
            self.labelled("  assumed", &format!("latency: {why}"));
        }
    }

    fn impossible(&mut self, answer: &Answer) {
        let ranking = &answer.ranking;
        let line = self.strong("Nothing in the catalogue meets this need.");
        self.line(&line);
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
        if ranking.impossible.is_empty() {
            self.labelled("", "Each wish can be fulfilled, but not all of them at once.");
        }
        if let Some(nearest) = ranking.nearest.map(|index| &answer.candidates[index]) {
            let failures: Vec<String> = nearest.failures.iter().map(figures::failure).collect();
            self.labelled("Nearest", &format!("{}: {}", nearest.spec.name, failures.join("; ")));
        }
    }

    fn meeting(&mut self, answer: &Answer) {
        let ranking = &answer.ranking;
        if ranking.meeting.is_empty() {
            return;
        }
        self.line("");
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
        for line in wrap(note, self.width) {
            let line = self.faint(&line);
            self.line(&line);
        }
    }

    /// Names on the left, figures on the right, and what is left of the line for the last column: below its row where
    /// that is too little.
    fn table(&mut self, head: &[String; 7], rows: &[[String; 7]]) {
        let width_of =
            |column: usize| std::iter::once(head).chain(rows).map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..6).map(width_of).collect();
        let used: usize = widths.iter().sum::<usize>() + 2 * 5 + 1;
        let room = self.width.saturating_sub(used);
        for (index, row) in std::iter::once(head).chain(rows).enumerate() {
            let mut line = format!("{:<w$} {:<v$}", row[0], row[1], w = widths[0].max(1), v = widths[1]);
            for column in 2..6 {
                line.push_str(&format!("  {:>w$}", row[column], w = widths[column]));
            }
            let last = &row[6];
            if room >= 24 {
                let parts = wrap(last, room);
                for (part, text) in parts.iter().enumerate() {
                    let lead = if part == 0 { line.clone() } else { " ".repeat(used - 2) };
                    let whole = format!("{lead}  {text}");
                    let whole = if index == 0 { self.faint(&whole) } else { whole };
                    self.line(&whole);
                }
            } else {
                let shown = if index == 0 { self.faint(&line) } else { line };
                self.line(&shown);
                if index > 0 {
                    for text in wrap(last, self.width.saturating_sub(4)) {
                        let text = self.faint(&format!("    {text}"));
                        self.line(&text);
                    }
                }
            }
        }
    }

    fn missing(&mut self, answer: &Answer, explain: bool) {
        let missing = &answer.ranking.missing;
        if missing.is_empty() {
            return;
        }
        self.line("");
        let title = self.faint("not enough");
        self.line(&title);
        let shown = if explain { missing.len() } else { MISSING.min(missing.len()) };
        let names: Vec<&str> = missing[..shown].iter().map(|index| answer.candidates[*index].listed.as_str()).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for index in &missing[..shown] {
            let candidate = &answer.candidates[*index];
            let why: Vec<String> = candidate.failures.iter().map(figures::failure).collect();
            let room = self.width.saturating_sub(width + 4).max(20);
            for (part, text) in wrap(&why.join("; "), room).iter().enumerate() {
                let lead = if part == 0 { candidate.listed.as_str() } else { "" };
                self.line(&format!("  {lead:<width$}  {text}"));
            }
        }
        if shown < missing.len() {
            self.line(&format!("  and {} more: --explain tells all", missing.len() - shown));
        }
    }

    fn foot(&mut self, answer: &Answer, explain: bool) {
        let survived = answer.candidates.iter().filter(|candidate| candidate.survived == Some(true)).count();
        let mut said = match answer.simulated {
            true if survived > 0 => format!(
                "{survived} of {} were confirmed by simulation, seed {}.",
                answer.ranking.meeting.len(),
                answer.seed
            ),
            _ => String::new(),
        };
        if !explain {
            said.push_str(" --explain shows the arithmetic and its sources.");
        }
        if !said.is_empty() {
            self.line("");
            for line in wrap(said.trim(), self.width) {
                let line = self.faint(&line);
                self.line(&line);
            }
        }
    }
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

fn cited(source: &volume::Source) -> String {
    match (source.title.is_empty(), source.date.is_empty()) {
        (true, _) => "no source".to_owned(),
        (false, true) => format!("\"{}\"", source.title),
        (false, false) => format!("\"{}\", {}", source.title, source.date),
    }
}

/// Lines of at most so many characters, broken between words.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().map_or(0, |line| line.chars().count());
        if last > 0 && last + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

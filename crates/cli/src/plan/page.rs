//! A plan for people at a terminal.

use plan::{Candidate, Need};
use report::volume_terms::amount;
use report::{Sheet, Style};
use units::{grouped, significant};
use volume::cited;

use super::Answer;
use super::figures::{self, holds, limit, name, price, provisioned, size, split, time, wanted, whole};

/// How many volumes a reason for refusal names without `--explain`.
const NAMED: usize = 6;
/// Columns before the text of a labelled line.
const INDENT: usize = 10;

/// The whole answer.
pub(super) fn text(answer: &Answer, style: Style, explain: bool) -> String {
    let mut page = Page { sheet: Sheet::new(style, INDENT) };
    page.labelled("Need", &wanted(&answer.need));
    for line in answer.lines.iter().cloned().chain(figures::headroom(&answer.need)).chain(foreign(answer)) {
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
            self.labelled("", "the price of none of them is known: they are ranked by latency");
        }
        let better_known = ranking.known_best.filter(|_| !answer.candidates[best].has_known_latency());
        if let Some(known) = better_known {
            let candidate = &answer.candidates[known];
            let told = format!(
                "the cheapest whose latency is not assumed is {}: {}",
                candidate.spec.name,
                figures_of(candidate)
            );
            self.labelled("", &told);
        }
        if let Some(fastest) = ranking.fastest.filter(|fastest| Some(*fastest) != ranking.best) {
            let candidate = &answer.candidates[fastest];
            let told = format!("{}: {}", candidate.spec.name, figures_of(candidate));
            self.labelled("Fastest", &told);
            let known = ranking.known_fastest.filter(|_| !candidate.has_known_latency());
            if let Some(known) = known.filter(|known| better_known != Some(*known)) {
                let known = &answer.candidates[known];
                let told =
                    format!("the fastest whose latency is not assumed is {}: {}", known.spec.name, figures_of(known));
                self.labelled("", &told);
            }
        }
        match &answer.next {
            Some(next) => {
                let more = next.known_price().zip(answer.candidates[best].known_price());
                let more = more.map_or_else(String::new, |(next, best)| {
                    let factor = next.usd_per_month / best.usd_per_month.max(0.01);
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
        if let Some(smaller) = &candidate.unpriced {
            self.labelled("", &format!("{smaller} are enough, at a price that is not published"));
        }
        if let (Some(iops), Some(mibps)) = (candidate.price_per_iops(), candidate.price_per_mibps()) {
            let density = candidate
                .iops_per_gb()
                .map_or_else(String::new, |per_gb| format!("; {} IOPS for each GB", significant(per_gb, 3)));
            let told = format!("{} USD for each IOPS, {} for each MiB/s", significant(iops, 3), significant(mibps, 3));
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
                &format!("{} IOPS {lasting} while credits last; it is not counted on", whole(iops)),
            );
        }
        if let Some(cpus) = candidate.cpus {
            self.labelled("  CPUs", &format!("{} to leave free for I/O", significant(cpus.max(0.1), 2)));
        }
        match need.vcpus {
            _ if figures::machine(candidate).is_some() => {
                if let Some(told) = figures::unknown_machine(candidate) {
                    self.labelled("  machine", &told);
                }
            }
            _ if !machines.is_empty() => {
                self.labelled("  machine", &format!("{} or a larger one let it through", machines.join(", ")));
            }
            Some(vcpus) if goes_by_machine(candidate) && need.machine.is_none() => {
                self.labelled("  machine", &format!("none with {vcpus} vCPUs is known to let it through"));
            }
            _ => {}
        }
        if let Some(told) = figures::jitter(candidate, need) {
            self.labelled("  jitter", &told);
        }
        if let Some(told) = figures::merging(candidate) {
            self.labelled("  merging", &told);
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
        if let Some(tight) = &answer.without_headroom {
            let told = format!("with --headroom 0, {} meets it: {}", tight.spec.name, figures_of(tight));
            self.labelled("", &told);
        }
        if ranking.impossible.is_empty() {
            self.labelled("", "each requirement can be met alone, but not all together");
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
            "Random arrivals queue at a limit. A loop with {} in flight has {} IOPS at {mean} from {}: leave --latency out to plan for that",
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
        let rows: Vec<Row> = ranking.meeting.iter().map(|index| Row::of(answer, *index)).collect();
        self.table(&answer.need, &rows);
        let note = "* no other is both cheaper and faster with a latency as well known. Prices in USD a month.";
        self.sheet.aside(0, note);
    }

    /// Names on the left, figures on the right, and what is left of the line for the last column: below its row where
    /// that is too little. Where and when a price holds and the basis of a latency go there too on a narrow terminal.
    fn table(&mut self, need: &Need, rows: &[Row]) {
        let with_percentile = need.percentile.is_some();
        let columns = |region: bool, basis: bool| {
            let head = Row::head(figures::percentile_name(need)).cells(region, basis, with_percentile);
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
        let is_beside = room >= 24;
        let last = if is_beside { "  limit" } else { "" };
        self.sheet.line(&self.sheet.faint(&format!("{}{last}", line(&head))));
        for (row, cells) in rows.iter().zip(&cells) {
            let line = line(cells);
            let last = row.rest(region, basis);
            if is_beside {
                self.sheet.hung([&format!("{line}  "), &" ".repeat(used + 1)], room.saturating_sub(1), &last, None);
            } else {
                self.sheet.line(&line);
                self.sheet.aside(4, &last);
            }
        }
    }

    /// One line for each reason, with the volumes that it refuses; with `explain` also each volume's own limits.
    fn missing(&mut self, answer: &Answer, explain: bool) {
        let missing = &answer.ranking.missing;
        if missing.is_empty() {
            return;
        }
        self.sheet.gap();
        self.sheet.line(&self.sheet.faint("not enough"));
        let candidates = || missing.iter().map(|index| &answer.candidates[*index]);
        let room = self.sheet.width().saturating_sub(4).max(20);
        let mut is_cut = false;
        for group in figures::refused(candidates()) {
            let shown = if explain { group.volumes.len() } else { NAMED.min(group.volumes.len()) };
            let more = group.volumes.len() - shown;
            is_cut |= more > 0;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let told = format!("{}: {}{more}", group.reason, group.volumes[..shown].join(", "));
            self.sheet.hung(["  ", "    "], room, &told, None);
        }
        if explain {
            self.each_missing(candidates());
        } else if is_cut {
            self.sheet.line("  --explain names all, with their limits");
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
        self.sheet.gap();
        for line in figures::scope(&answer.need, &answer.candidates) {
            self.sheet.aside(0, &line);
        }
        if !said.is_empty() {
            self.sheet.aside(0, said.trim_start());
        }
    }
}

/// A row of the table of volumes that meet the need.
struct Row {
    mark: String,
    name: String,
    size: String,
    month: String,
    holds: String,
    latency: String,
    basis: String,
    percentile: String,
    depth: String,
    /// What to provision, the price in its own currency, and the limit.
    limit: Vec<String>,
}

impl Row {
    fn head(percentile: &str) -> Self {
        let [name, size, month, holds, latency, basis, depth] =
            ["meets the need", "size", "a month", "region, date", "latency", "basis", "depth"].map(str::to_owned);
        let percentile = percentile.to_owned();
        Self { mark: String::new(), name, size, month, holds, latency, basis, percentile, depth, limit: Vec::new() }
    }

    fn of(answer: &Answer, index: usize) -> Self {
        let candidate = &answer.candidates[index];
        let price = candidate.price.as_ref();
        let month = match price {
            Some(money) if money.whole() => amount(money.usd_per_month),
            Some(money) => format!("> {}", amount(money.usd_per_month)),
            None => "unknown".to_owned(),
        };
        let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let smaller = candidate.unpriced.as_ref().map(|smaller| format!("{smaller} are enough, price not published"));
        let more = Some(provisioned(candidate)).filter(|more| !more.is_empty());
        let own = price.and_then(figures::own_currency);
        Self {
            mark: if answer.ranking.front.contains(&index) { "*" } else { " " }.to_owned(),
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
                .chain(smaller)
                .chain(more)
                .chain([limit(candidate)])
                .chain(figures::in_short(candidate, &answer.need))
                .filter(|part| !part.is_empty())
                .collect(),
        }
    }

    /// The cells of the columns that are shown, and whether they stand on the left.
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

    /// What has no column of its own.
    fn rest(&self, region: bool, basis: bool) -> String {
        let holds = (!region && self.holds != "-").then(|| self.holds.clone());
        let basis = (!basis).then(|| format!("latency {}", self.basis));
        holds.into_iter().chain(basis).chain(self.limit.iter().cloned()).collect::<Vec<_>>().join("; ")
    }
}

/// Volumes without a price in the region that was asked for, and the regions that have prices.
pub(super) fn foreign(answer: &Answer) -> Option<String> {
    let region = answer.need.region.as_ref()?;
    let regions = plan::regions(&answer.need);
    if regions.iter().any(|known| known.eq_ignore_ascii_case(region)) {
        return None;
    }
    let known = match regions.is_empty() {
        true => "no price here names a region".to_owned(),
        false => format!("prices are known of {}", regions.join("; ")),
    };
    Some(format!("no price here is of {region}: {known}. Prices that name no region are taken for {region}"))
}

/// Whether it is the machine, and not a number of processors alone, that limits it.
fn goes_by_machine(candidate: &Candidate) -> bool {
    let has = |name: &str| candidate.about.keys.iter().any(|key| key.name == name);
    has("machine") && !has("vcpus")
}

/// Price and latency in a few words.
fn figures_of(candidate: &Candidate) -> String {
    let month = candidate.price.as_ref().map_or_else(|| "price not known".to_owned(), price);
    let latency = figures::latency(candidate).map_or_else(String::new, |latency| format!(", {latency}"));
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
                lines.push(format!("    {}; {}", figures::region(money), cited(&money.source)));
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

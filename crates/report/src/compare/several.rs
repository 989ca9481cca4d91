//! Three or more runs, each compared with the first.

use analyse::compare::{Change, FigureComparison, Judgement};
use record::FigureQuantity;
use results::answer::{Answer, Outcome};
use results::compare::{ComparisonResult, ComparisonsResult, NamedRun};

use super::ComparedLoad;
use super::answer::{LoadAnswer, counts, loads, remedy};
use super::tables::{CSV_HEAD, csv_rows, markdown_cells};
use super::text::{INDENT, figures, names};
use super::words::{caution_notes, change_words, figure_words, is_in_label, tail_words, verdict_words, words_of_sides};
use crate::answer::AnswerText;
use crate::escape;
use crate::page::PageBlock;
use crate::sheet::{Sheet, SheetStyle};
use crate::suite::shown;
use crate::words::joined;

/// Number of runs that the text shows without details.
const LISTED: usize = 12;
/// Number of runs beside the best that the answer names; more are counted.
const NAMED: usize = 3;
/// Number of loads of which each has columns of its own.
const LOADS: usize = 2;

/// Returns the document of comparisons, which have one baseline.
#[must_use]
pub fn result(comparisons: Vec<ComparisonResult>) -> ComparisonsResult {
    let answer = answer(&comparisons);
    ComparisonsResult { schema: 1, comparisons, answer }
}

/// Returns the name of a side.
pub(crate) fn name(runs: &[NamedRun]) -> &str {
    runs.first().map_or("", |run| run.label.as_deref().unwrap_or(&run.name))
}

fn answer(all: &[ComparisonResult]) -> Answer {
    let judged = || all.iter().flat_map(|one| &one.comparison.jobs).flat_map(|job| &job.figures);
    let has = |wanted: Judgement| judged().any(|row| row.judgement == wanted);
    let outcome = match () {
        () if has(Judgement::Better) => Outcome::Good,
        () if has(Judgement::Worse) => Outcome::Bad,
        () if has(Judgement::Same) => Outcome::Good,
        () => Outcome::Unknown,
    };
    let compared: Vec<Vec<LoadAnswer<'_>>> = all.iter().map(|one| loads(&one.comparison)).collect();
    let verdict = if compared.iter().all(|loads| loads.len() == 1) {
        of_one_load(all, &compared.iter().map(|loads| &loads[0]).collect::<Vec<_>>())
    } else {
        of_loads(all, &compared)
    };
    Answer { basis: basis(all), ..Answer::new(outcome, format!("{verdict}.")) }
}

/// Returns what restricts the comparisons, beside the conditions that name the runs.
fn basis(all: &[ComparisonResult]) -> Vec<String> {
    let first = all.first().map_or("", |one| name(&one.baseline));
    let mut basis = vec![format!("each run compared with the first, {first}")];
    for one in all {
        let sides = [first, name(&one.candidate)];
        let others = one.comparison.mismatches.iter().filter(|mismatch| !is_in_label(mismatch, sides[1]));
        let clauses = others.map(|mismatch| words_of_sides(mismatch, sides));
        for clause in clauses.chain(caution_notes(&one.comparison, sides)) {
            if !basis.contains(&clause) {
                basis.push(clause);
            }
        }
    }
    let sides = all.iter().take(1).map(|one| &one.baseline).chain(all.iter().map(|one| &one.candidate));
    basis.extend(tail_words(sides.map(|runs| (runs.as_slice(), name(runs)))));
    basis
}

/// A run and its figure that decides.
struct Ranked<'a> {
    name: &'a str,
    load: &'a LoadAnswer<'a>,
    row: &'a FigureComparison,
    /// The change; positive if the run is better.
    gain: Option<[f64; 3]>,
}

impl<'a> Ranked<'a> {
    fn all(all: &'a [ComparisonResult], loads: &[&'a LoadAnswer<'a>]) -> Vec<Self> {
        // Runs are ranked by one figure: the response time only if every run sustained the requested rate.
        let quantity = loads[0].headline.figure.quantity;
        let is_common = loads.iter().all(|load| load.headline.figure.quantity == quantity);
        let row = |load: &&'a LoadAnswer<'a>| -> &'a FigureComparison {
            let throughput = load.load.rows.iter().find(|row| !row.figure.quantity.is_latency());
            throughput.filter(|_| !is_common).copied().unwrap_or(load.headline)
        };
        let ranked = all.iter().zip(loads).map(|(one, load)| {
            let row = row(load);
            let is_latency = row.figure.quantity.is_latency();
            let gain = |Change { percent, low_percent, high_percent, .. }: Change| match is_latency {
                true => [-percent, -high_percent, -low_percent],
                false => [percent, low_percent, high_percent],
            };
            Self { name: name(&one.candidate), load, row, gain: row.change.map(gain) }
        });
        let mut ranked: Vec<Self> = ranked.collect();
        let gain = |one: &Self| one.gain.map_or(f64::NEG_INFINITY, |gain| gain[0]);
        ranked.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
        // Of those that the measurement does not tell apart, the one with the lowest latency is best.
        let lowest = ranked.first().and_then(|best| best.gain).map_or(f64::NEG_INFINITY, |gain| gain[1]);
        let equals = ranked.iter().take_while(|one| one.gain.is_some_and(|gain| gain[2] >= lowest)).count();
        ranked[..equals].sort_by(|a, b| a.mean_latency().total_cmp(&b.mean_latency()));
        ranked
    }

    fn mean_latency(&self) -> f64 {
        let mut latencies = self.load.load.rows.iter().filter(|row| row.figure.quantity.is_latency());
        latencies.find(|row| row.figure.quantity.percent().is_none()).map_or(0.0, |row| row.candidate)
    }

    fn value(&self) -> String {
        shown(self.row.figure, self.row.candidate, None)
    }

    /// Returns `gcp/pd-ssd 3.00k (+50.0% ± 0.3%)`.
    fn words(&self) -> String {
        let change = self.row.change.as_ref().map_or_else(|| "undecided".to_owned(), change_words);
        let hint = if matches!(self.row.judgement, Judgement::Undecided { .. }) && self.row.change.is_some() {
            ", undecided"
        } else {
            ""
        };
        format!("{} {} ({change}{hint})", self.name, self.value())
    }
}

/// Names the best of the runs, without a full stop.
fn of_one_load(all: &[ComparisonResult], loads: &[&LoadAnswer<'_>]) -> String {
    let ranked = Ranked::all(all, loads);
    let (first, count) = (name(&all[0].baseline), all.len() + 1);
    let (best, rest) = ranked.split_first().expect("there is a candidate");
    let (of, quantity) = (best.load.load.name(), best.row.figure.quantity);
    let unit = if quantity == FigureQuantity::Iops { " IOPS" } else { "" };
    let figure = if quantity.is_latency() { format!("{} ", figure_words(quantity)) } else { String::new() };
    let of_first = shown(best.row.figure, best.row.baseline, None);
    let is = |one: &Ranked<'_>, wanted: Judgement| one.row.judgement == wanted;
    if is(best, Judgement::Better) {
        let lowest = best.gain.map_or(f64::NEG_INFINITY, |gain| gain[1]);
        let reaches = |one: &&Ranked<'_>| one.gain.is_some_and(|gain| gain[2] >= lowest);
        let (rivals, rest) = rest.split_at(rest.iter().take_while(reaches).count());
        let change = best.row.change.as_ref().map_or_else(String::new, change_words);
        let against = format!("against {of_first}{unit} of {first} ({change})");
        let unit = "";
        let leading = if rivals.is_empty() {
            format!("{} is the fastest of {count} on {of}: {figure}{}{unit} {against}", best.name, best.value())
        } else {
            let names: Vec<&str> = std::iter::once(best).chain(rivals).map(|one| one.name).collect();
            let mut values: Vec<String> = std::iter::once(best).chain(rivals).map(Ranked::value).collect();
            values.dedup();
            format!(
                "{} are the fastest of {count} on {of}, too close to call: {figure}{}{unit} {against}",
                joined(&names, "and"),
                joined(&values, "and")
            )
        };
        return format!("{leading}{}{}", latencies(best), following(rest));
    }
    if ranked.iter().all(|one| is(one, Judgement::Same)) {
        let percent = all[0].options.threshold_percent;
        let name = figure_words(quantity);
        return format!("No difference on {of}: {name} of all {count} within {percent}% of {first} ({of_first})");
    }
    if ranked.iter().all(|one| is(one, Judgement::Worse)) {
        return format!("{first} is the fastest of {count} on {of}: {figure}{of_first}{unit}{}", following(&ranked));
    }
    match ranked.iter().any(|one| is(one, Judgement::Worse)) {
        true => {
            format!("None of {count} is faster than {first} on {of}: {figure}{of_first}{unit}{}", following(&ranked))
        }
        false => {
            let more = ranked.iter().map(|one| remedy(one.row)).find(|words| !words.is_empty()).unwrap_or_default();
            format!("Cannot tell on {of}: {figure}{of_first}{unit} of {first}{}{more}", following(&ranked))
        }
    }
}

/// Returns the p99 of the best run beside that of the first or, if its latency is worse, its mean latency.
fn latencies(best: &Ranked<'_>) -> String {
    let rows =
        || best.load.load.rows.iter().filter(|row| row.figure != best.row.figure && row.figure.quantity.is_latency());
    let worse = rows().find(|row| row.judgement == Judgement::Worse);
    let p99 = || rows().find(|row| row.figure.quantity.percent() == Some(99.0) && row.judgement == Judgement::Better);
    worse.or_else(p99).map_or_else(String::new, |row| {
        let value = |value| shown(row.figure, value, None);
        let (name, link) = (figure_words(row.figure.quantity), if worse.is_some() { ", but" } else { "," });
        format!("{link} {name} {} against {}", value(row.candidate), value(row.baseline))
    })
}

/// Lists the runs after the best one, or counts them.
fn following(rest: &[Ranked<'_>]) -> String {
    if rest.is_empty() {
        return String::new();
    }
    let words: Vec<String> = rest.iter().take(NAMED).map(Ranked::words).collect();
    let more = rest.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("; {}{more}", words.join(", "))
}

/// Counts the loads of each run that are faster and slower, without a full stop.
fn of_loads(all: &[ComparisonResult], compared: &[Vec<LoadAnswer<'_>>]) -> String {
    let most = compared.iter().map(Vec::len).max().unwrap_or(0);
    let runs = all
        .iter()
        .zip(compared)
        .take(NAMED)
        .map(|(one, loads)| format!("{} has {}", name(&one.candidate), counts(loads)));
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let first = all.first().map_or("", |one| name(&one.baseline));
    format!("Of {most} loads against {first}, {}{more}", runs.collect::<Vec<_>>().join("; "))
}

/// A table with a row for each run: columns, those aligned to the right, and cells.
pub(crate) struct RunTable {
    pub(crate) head: Vec<String>,
    pub(crate) numbers: Vec<usize>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl RunTable {
    pub(crate) fn of(document: &ComparisonsResult) -> Self {
        let all = &document.comparisons;
        let compared: Vec<Vec<LoadAnswer<'_>>> = all.iter().map(|one| loads(&one.comparison)).collect();
        let shape = |loads: &[LoadAnswer<'_>]| -> Vec<(String, &'static str)> {
            loads.iter().map(|one| (one.job.to_owned(), one.load.name())).collect()
        };
        let is_alike = compared.iter().all(|loads| loads.len() <= LOADS && shape(loads) == shape(&compared[0]));
        let first = all.first().map_or("", |one| name(&one.baseline)).to_owned();
        if is_alike { Self::of_figures(all, &compared, first) } else { Self::of_counts(all, &compared, first) }
    }

    /// Returns columns for the figures of each load.
    fn of_figures(all: &[ComparisonResult], compared: &[Vec<LoadAnswer<'_>>], first: String) -> Self {
        let loads = &compared[0];
        let alone = loads.len() == 1;
        let quantities = |load: &ComparedLoad<'_>| -> Vec<FigureQuantity> {
            let throughput = load.rows.iter().map(|row| row.figure.quantity).find(|quantity| !quantity.is_latency());
            let is_shown = |quantity: &FigureQuantity| {
                quantity.is_latency() && (quantity.percent().is_none() || quantity.percent() == Some(99.0))
            };
            // Users wait from the due time on, where there is one.
            let latencies = || load.rows.iter().map(|row| row.figure.quantity).filter(is_shown);
            let responses: Vec<FigureQuantity> = latencies().filter(|quantity| quantity.is_response()).collect();
            let latencies = if responses.is_empty() { latencies().collect() } else { responses };
            throughput.into_iter().chain(latencies.into_iter().filter(|_| alone)).collect()
        };
        let columns: Vec<(usize, FigureQuantity)> = loads
            .iter()
            .enumerate()
            .flat_map(|(at, one)| quantities(&one.load).into_iter().map(move |quantity| (at, quantity)))
            .collect();
        let row_of = |run: usize, (at, quantity): (usize, FigureQuantity)| {
            compared[run][at].load.rows.iter().find(|row| row.figure.quantity == quantity).copied()
        };
        let (mut head, mut numbers) = (vec!["run".to_owned()], Vec::new());
        for (at, quantity) in &columns {
            let figure = figure_words(*quantity);
            head.push(if alone { figure } else { format!("{} {figure}", loads[*at].load.name()) });
            numbers.push(head.len() - 1);
            if !quantity.is_latency() {
                head.push("change".to_owned());
                numbers.push(head.len() - 1);
            }
        }
        head.push("verdict".to_owned());
        let cells = |run: usize, is_first: bool| -> Vec<String> {
            let figures = columns.iter().flat_map(|column| {
                let row = row_of(run, *column);
                let value = row.map_or_else(
                    || "-".to_owned(),
                    |row| shown(row.figure, if is_first { row.baseline } else { row.candidate }, None),
                );
                let change = row
                    .and_then(|row| row.change.as_ref())
                    .filter(|_| !is_first)
                    .map_or_else(String::new, change_words);
                std::iter::once(value).chain((!column.1.is_latency()).then_some(change))
            });
            figures.collect()
        };
        let verdict = |run: usize| {
            let words = compared[run].iter().map(|one| verdict_words(one.headline.judgement).0);
            let mut words: Vec<&str> = words.collect();
            words.dedup();
            words.join(" / ")
        };
        let mut rows = vec![[vec![first], cells(0, true), vec!["baseline".to_owned()]].concat()];
        rows.extend(
            all.iter().enumerate().map(|(run, one)| {
                [vec![name(&one.candidate).to_owned()], cells(run, false), vec![verdict(run)]].concat()
            }),
        );
        Self { head, numbers, rows }
    }

    /// Returns how many loads of each run are faster and slower.
    fn of_counts(all: &[ComparisonResult], compared: &[Vec<LoadAnswer<'_>>], first: String) -> Self {
        let row = |(one, loads): (&ComparisonResult, &Vec<LoadAnswer<'_>>)| {
            vec![name(&one.candidate).to_owned(), counts(loads)]
        };
        let baseline = vec![first, "baseline".to_owned()];
        let rows = std::iter::once(baseline).chain(all.iter().zip(compared).map(row)).collect();
        Self { head: ["run", "loads"].map(str::to_owned).to_vec(), numbers: Vec::new(), rows }
    }
}

pub(crate) fn text(document: &ComparisonsResult, style: SheetStyle) -> String {
    let mut sheet = Sheet::new(style.readable(), INDENT);
    document.answer.write(&mut sheet);
    sheet.gap();
    let RunTable { head, numbers, mut rows } = RunTable::of(document);
    let more = if style.details { 0 } else { rows.len().saturating_sub(LISTED) };
    rows.truncate(rows.len() - more);
    PageBlock::Table { head, numbers, rows }.write(&mut sheet);
    let more = if more > 0 {
        format!("and {more} more runs, and every figure: --details")
    } else {
        "Every figure: --details".to_owned()
    };
    if !style.details {
        sheet.line(&sheet.faint(&more));
        return sheet.finish();
    }
    sheet.gap();
    names(&mut sheet, "baseline", &document.comparisons[0].baseline);
    for one in &document.comparisons {
        sheet.gap();
        sheet = figures(sheet, one);
    }
    sheet.finish()
}

/// Returns CSV: the run, then the columns of [`super::csv`].
pub(crate) fn csv(document: &ComparisonsResult) -> String {
    let rows = document.comparisons.iter().flat_map(|one| {
        let run = escape::csv(name(&one.candidate));
        csv_rows(one).into_iter().map(move |row| format!("{run},{row}\n"))
    });
    format!("run,{CSV_HEAD}\n{}", rows.collect::<String>())
}

/// Returns Markdown: the answer, a row for each run, then a row for each figure.
pub(crate) fn markdown(document: &ComparisonsResult) -> String {
    let mut out = document.answer.markdown();
    let mut table = |head: &[String], numbers: &[usize], rows: &[Vec<String>]| {
        let rule: Vec<&str> = (0..head.len()).map(|at| if numbers.contains(&at) { "--:" } else { "---" }).collect();
        out.push_str(&format!("| {} |\n|{}|\n", head.join(" | "), rule.join("|")));
        rows.iter().for_each(|row| out.push_str(&format!("| {} |\n", row.join(" | "))));
        out.push('\n');
    };
    let RunTable { head, numbers, rows } = RunTable::of(document);
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| escape::markdown(cell)).collect()).collect();
    table(&head, &numbers, &rows);
    let all = document.comparisons.iter().flat_map(|one| {
        let run = escape::markdown(name(&one.candidate));
        let loads =
            one.comparison.jobs.iter().flat_map(|job| ComparedLoad::of(job).into_iter().map(move |load| (job, load)));
        loads.flat_map(move |(job, load)| {
            let run = run.clone();
            load.rows
                .iter()
                .map(|row| [std::slice::from_ref(&run), &markdown_cells(&job.job, load.name(), row)[..]].concat())
                .collect::<Vec<_>>()
        })
    });
    let head = ["run", "job", "kind", "figure", "baseline", "candidate", "change", "verdict"].map(str::to_owned);
    table(&head, &[4, 5, 6], &all.collect::<Vec<_>>());
    out
}

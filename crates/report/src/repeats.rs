//! Several runs of the same jobs: their medians and how much they differ.

use analyse::{JobSpread, Spread, Verdict};
use record::{FigureQuantity, Run};
use serde::Serialize;
use units::{Bytes, Nanos, count, percent};

use crate::escape;
use crate::own::OwnDocument;
use crate::sheet::{Sheet, SheetStyle};
use crate::suite::figure_name;
use crate::text::{asked, tone_of};
use crate::{tables, words};

/// The repeats of the same jobs.
#[derive(Clone, Debug, Default)]
pub struct RepeatsDocument {
    /// What the runs are called together.
    pub series: String,
    /// What they are about.
    pub name: String,
    /// How many were to be done.
    pub of: u32,
    /// Each with what was found in it, in the order in which they were done.
    pub runs: Vec<(Run, Vec<Verdict>)>,
    /// How their figures are spread.
    pub jobs: Vec<JobSpread>,
}

/// The version of the document's layout.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct RepeatsEnvelope<'a> {
    /// Tells readers what this is.
    fathom_repeats: u32,
    series: Vec<RepeatsSeries<'a>>,
}

#[derive(Serialize)]
struct RepeatsSeries<'a> {
    series: &'a str,
    name: &'a str,
    of: u32,
    jobs: &'a [JobSpread],
    runs: Vec<OwnDocument<'a>>,
}

/// One JSON document: for each series how its figures are spread, in units of one, bytes and nanoseconds, and its runs.
#[must_use]
pub fn repeats_json(all: &[RepeatsDocument]) -> String {
    let series = all.iter().map(|repeats| RepeatsSeries {
        series: &repeats.series,
        name: &repeats.name,
        of: repeats.of,
        jobs: &repeats.jobs,
        runs: repeats.runs.iter().map(|(run, verdicts)| OwnDocument { run, verdicts }).collect(),
    });
    let envelope = RepeatsEnvelope { fathom_repeats: SCHEMA, series: series.collect() };
    let mut text = serde_json::to_string_pretty(&envelope).unwrap_or_default();
    text.push('\n');
    text
}

/// Comma-separated values: the rows of all runs behind their series and their number.
#[must_use]
pub fn repeats_csv(all: &[RepeatsDocument]) -> String {
    let mut out = String::new();
    for repeats in all {
        for (number, (run, _)) in (1..).zip(&repeats.runs) {
            let table = tables::csv(run);
            let (head, rows) = table.split_once('\n').unwrap_or((&table, ""));
            if out.is_empty() {
                out.push_str(&format!("series,repeat,{head}\n"));
            }
            rows.lines().for_each(|row| out.push_str(&format!("{},{number},{row}\n", escape::csv(&repeats.series))));
        }
    }
    out
}

/// A table for each job.
#[must_use]
pub fn repeats_markdown(all: &[RepeatsDocument]) -> String {
    let mut out = String::new();
    for repeats in all {
        for job in &repeats.jobs {
            out.push_str(&format!(
                "**{}**, {} ({})\n\n",
                escape::markdown(&job.job),
                told(repeats),
                escape::markdown_code(&repeats.series)
            ));
            out.push_str("| figure | median | least | greatest | range |\n|---|--:|--:|--:|--:|\n");
            for spread in &job.figures {
                let [median, min, max] = [spread.median, spread.min, spread.max].map(|value| shown(spread, value));
                let range = percent(spread.range());
                out.push_str(&format!("| {} | {median} | {min} | {max} | {range} |\n", figure_name(spread.figure)));
            }
            out.push('\n');
        }
    }
    out
}

/// The medians, for people; the last paragraph of each job is the verdict on the run in the middle.
#[must_use]
pub fn repeats_text(all: &[RepeatsDocument], style: SheetStyle) -> String {
    let mut sheet = Sheet::new(style.readable(), 2);
    for (index, repeats) in all.iter().enumerate() {
        if index > 0 {
            sheet.gap();
        }
        head(&mut sheet, repeats);
        for (place, job) in repeats.jobs.iter().enumerate() {
            sheet.gap();
            table(&mut sheet, repeats, place, job);
            verdict(&mut sheet, repeats, place, job);
        }
    }
    sheet.finish()
}

fn head(sheet: &mut Sheet, repeats: &RepeatsDocument) {
    sheet.line(&format!("{}  {}", sheet.strong(&repeats.name), told(repeats)));
    sheet.line(&sheet.faint(&repeats.series));
}

/// `5 repeats`, `2 of 5 repeats`.
fn told(repeats: &RepeatsDocument) -> String {
    let (done, of) = (repeats.runs.len(), repeats.of as usize);
    let noun = if of == 1 { "repeat" } else { "repeats" };
    if done == of { format!("{of} {noun}") } else { format!("{done} of {of} {noun}") }
}

const COLUMNS: [usize; 4] = [14, 12, 26, 8];

fn table(sheet: &mut Sheet, repeats: &RepeatsDocument, place: usize, job: &JobSpread) {
    let asked = repeats.runs.first().and_then(|(run, _)| run.jobs.get(place)).map(asked).unwrap_or_default();
    sheet.line(&format!("{}  {asked}", sheet.strong(&job.job)));
    let room = sheet.width().saturating_sub(COLUMNS.iter().sum::<usize>() + 4);
    let heads = row(["", "median", "least to greatest", "range"].map(str::to_owned));
    sheet.line(&sheet.faint(&format!("{heads}  each")));
    for spread in &job.figures {
        let between = format!("{} to {}", shown(spread, spread.min), shown(spread, spread.max));
        let cells = [figure_name(spread.figure), shown(spread, spread.median), between, percent(spread.range())];
        let each = spread.values.iter().map(|value| value.map_or_else(|| "-".to_owned(), |value| shown(spread, value)));
        sheet.line(&format!("{}  {}", row(cells), fitting(&each.collect::<Vec<_>>(), room)));
    }
}

fn row(cells: [String; 4]) -> String {
    let [name, median, between, range] = cells;
    let [a, b, c, d] = COLUMNS;
    format!("  {name:<a$}{median:>b$}{between:>c$}{range:>d$}")
}

/// As many values as have room, and a sign where there are more.
fn fitting(values: &[String], room: usize) -> String {
    let mut line = String::new();
    for (index, value) in values.iter().enumerate() {
        let is_last = index + 1 == values.len();
        if line.chars().count() + value.chars().count() + if is_last { 0 } else { 4 } > room {
            line.push('…');
            break;
        }
        line.push_str(value);
        line.push_str("  ");
    }
    line
}

fn shown(spread: &Spread, value: f64) -> String {
    match spread.figure.quantity {
        FigureQuantity::Iops => count(value),
        FigureQuantity::BytesPerSecond => format!("{}/s", Bytes::new(value.round() as u64)),
        _ => Nanos::new(value.round() as u64).to_string(),
    }
}

/// The verdict on the run whose throughput is nearest to the median, and on how many runs it is another.
fn verdict(sheet: &mut Sheet, repeats: &RepeatsDocument, place: usize, job: &JobSpread) {
    let Some(first) = job.figures.first() else { return };
    let distance = |index: &usize| first.values[*index].map_or(f64::INFINITY, |value| (value - first.median).abs());
    let nearest = (0..first.values.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let of = |index: usize| {
        let (run, verdicts) = repeats.runs.get(index)?;
        Some((run.jobs.get(place)?, verdicts.iter().find(|verdict| verdict.job == place)?))
    };
    let Some((result, verdict)) = nearest.and_then(of) else { return };
    let others =
        (0..repeats.runs.len()).filter_map(of).filter(|(_, other)| other.headline.code != verdict.headline.code);
    let others = match others.count() {
        0 => String::new(),
        others => format!(" ({others} of {} say otherwise)", repeats.runs.len()),
    };
    let words = words::finding(&verdict.headline, result);
    sheet.gap();
    sheet.led(0, "Verdict:", tone_of(verdict.headline.severity), &format!(" {words}{others}"));
}

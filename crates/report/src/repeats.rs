//! Repeated runs of the same jobs: medians and variation, as text, Markdown and CSV.

use analyse::JobSpread;
use results::run::RepeatsResult;
use units::{counted, percent};

use crate::sheet::{Sheet, SheetStyle};
use crate::suite::{figure_name, shown};
use crate::text::{parameters, tone_of};
use crate::{escape, tables, words};

/// Returns CSV: the rows of all runs, preceded by series and number.
pub(crate) fn repeats_csv(all: &[RepeatsResult<'_>]) -> String {
    let mut out = String::new();
    for repeats in all {
        for (number, one) in (1..).zip(&repeats.runs) {
            let table = tables::csv(&one.run);
            let (head, rows) = table.split_once('\n').unwrap_or((&table, ""));
            if out.is_empty() {
                out.push_str(&format!("series,repeat,{head}\n"));
            }
            rows.lines().for_each(|row| out.push_str(&format!("{},{number},{row}\n", escape::csv(&repeats.series))));
        }
    }
    out
}

/// Returns Markdown with one table per job.
pub(crate) fn repeats_markdown(all: &[RepeatsResult<'_>]) -> String {
    let mut out = String::new();
    for repeats in all {
        for job in &repeats.jobs {
            out.push_str(&format!(
                "**{}**, {} ({})\n\n",
                escape::markdown(&job.job),
                count_words(repeats),
                escape::markdown_code(&repeats.series)
            ));
            out.push_str("| figure | median | least | greatest | range |\n|---|--:|--:|--:|--:|\n");
            for spread in &job.figures {
                let value = |value| shown(spread.figure, value, None);
                let [median, min, max] = [spread.median, spread.min, spread.max].map(value);
                let range = percent(spread.range());
                out.push_str(&format!("| {} | {median} | {min} | {max} | {range} |\n", figure_name(spread.figure)));
            }
            out.push('\n');
        }
    }
    out
}

/// Returns the repeats as text. Each job ends with the verdict on the run closest to the median.
pub(crate) fn repeats_text(all: &[RepeatsResult<'_>], style: SheetStyle) -> String {
    let mut sheet = Sheet::new(style.readable(), 2);
    for (index, repeats) in all.iter().enumerate() {
        if index > 0 {
            sheet.gap();
        }
        sheet.line(&format!("{}  {}", sheet.strong(&repeats.name), count_words(repeats)));
        sheet.line(&sheet.faint(&repeats.series));
        for (place, job) in repeats.jobs.iter().enumerate() {
            sheet.gap();
            table(&mut sheet, repeats, place, job);
            verdict(&mut sheet, repeats, place, job);
        }
    }
    sheet.finish()
}

/// Returns `5 repeats` or `2 of 5 repeats`.
fn count_words(repeats: &RepeatsResult<'_>) -> String {
    let (done, of) = (repeats.runs.len(), repeats.of as usize);
    let all = counted(of as u64, "repeat");
    if done == of { all } else { format!("{done} of {all}") }
}

const COLUMNS: [usize; 4] = [14, 12, 26, 8];

fn table(sheet: &mut Sheet, repeats: &RepeatsResult<'_>, place: usize, job: &JobSpread) {
    let load = repeats.runs.first().and_then(|one| one.run.jobs.get(place)).map(parameters).unwrap_or_default();
    sheet.line(&format!("{}  {load}", sheet.strong(&job.job)));
    let room = sheet.width().saturating_sub(COLUMNS.iter().sum::<usize>() + 4);
    let heads = row(["", "median", "least to greatest", "range"].map(str::to_owned));
    sheet.line(&sheet.faint(&format!("{heads}  each")));
    for spread in &job.figures {
        let value = |value| shown(spread.figure, value, None);
        let between = format!("{} to {}", value(spread.min), value(spread.max));
        let cells = [figure_name(spread.figure), value(spread.median), between, percent(spread.range())];
        let each = spread.values.iter().map(|one| one.map_or_else(|| "-".to_owned(), value));
        sheet.line(&format!("{}  {}", row(cells), fitting(&each.collect::<Vec<_>>(), room)));
    }
}

fn row(cells: [String; 4]) -> String {
    let [name, median, between, range] = cells;
    let [a, b, c, d] = COLUMNS;
    format!("  {name:<a$}{median:>b$}{between:>c$}{range:>d$}")
}

/// Joins as many values as fit, with an ellipsis if there are more.
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

/// Appends the verdict on the run whose throughput is closest to the median, and how many runs have another verdict.
fn verdict(sheet: &mut Sheet, repeats: &RepeatsResult<'_>, place: usize, job: &JobSpread) {
    let Some(first) = job.figures.first() else { return };
    let distance = |index: &usize| first.values[*index].map_or(f64::INFINITY, |value| (value - first.median).abs());
    let nearest = (0..first.values.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let of = |index: usize| {
        let one = repeats.runs.get(index)?;
        Some((one.run.jobs.get(place)?, one.verdicts.iter().find(|verdict| verdict.job == place)?))
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

//! Runs as a table, and as one document.

use std::path::Path;

use jiff::Zoned;
use record::Outcome;
use report::{Sheet, Style, Tone};
use serde::Serialize;
use store::{Entry, Listing};
use units::{Bytes, Nanos, count};

use super::when;

/// So many skipped folders are named.
const SKIPPED_MOST: usize = 8;
/// The columns whose texts may be cut: name, target and result, and how much is left of each.
const CUT: [(usize, usize); 3] = [(4, 9), (3, 8), (7, 9)];
/// Narrower terminals have less between columns, and dates without their year.
const ROOMY: usize = 100;

/// One row: digits, when, kind, name, target, IOPS, p99, result, size.
type Row = [String; 9];

/// A table, then where it is and what is skipped.
pub(super) fn text(place: &Path, listing: &Listing, now: &Zoned, style: Style) -> String {
    let mut sheet = Sheet::new(style, 2);
    let date = if sheet.width() < ROOMY { "%m-%d %H:%M" } else { "%Y-%m-%d %H:%M" };
    let rows: Vec<Row> = listing.entries.iter().map(|entry| row(entry, &when::told(entry, now, date))).collect();
    if !rows.is_empty() {
        table(&mut sheet, &listing.entries, rows);
    }
    let bytes = Bytes::new(listing.entries.iter().map(Entry::bytes).sum());
    let noun = if listing.entries.len() == 1 { "run" } else { "runs" };
    let whole = match listing.entries.len() {
        0 => format!("no runs in {}", place.display()),
        runs => format!("{runs} {noun}, {bytes} in {}", place.display()),
    };
    sheet.line(&sheet.faint(&whole));
    if listing.entries.iter().any(|entry| entry.kept) {
        sheet.line(&sheet.faint("* kept for good"));
    }
    skipped(&mut sheet, listing);
    sheet.finish()
}

fn row(entry: &Entry, begun: &str) -> Row {
    let digits = entry.id.rsplit('-').next().unwrap_or_default();
    let target = if entry.targets.is_empty() { "-".to_owned() } else { entry.targets.join(", ") };
    let name = match &entry.repeat {
        Some(repeat) => format!("{} {}/{}", entry.name, repeat.number, repeat.of),
        None => entry.name.clone(),
    };
    [
        format!("{digits}{}", if entry.kept { "*" } else { "" }),
        begun.to_owned(),
        entry.kind.to_string(),
        name,
        target,
        count(entry.iops as f64),
        entry.p99_ns.map_or_else(|| "-".to_owned(), |ns| Nanos::new(ns).to_string()),
        result(entry),
        Bytes::new(entry.bytes()).to_string(),
    ]
}

/// How it ended or, if well, what was found.
fn result(entry: &Entry) -> String {
    match entry.outcome {
        Outcome::Completed => entry.verdict.as_deref().unwrap_or("-").replace('_', " "),
        Outcome::Interrupted => "interrupted".to_owned(),
        Outcome::Failed => "failed".to_owned(),
        Outcome::Running => "running".to_owned(),
    }
}

fn table(sheet: &mut Sheet, entries: &[Entry], mut rows: Vec<Row>) {
    let heads = ["run", "begun", "kind", "name", "target", "IOPS", "p99", "result", "size"].map(str::to_owned);
    let mut widths: [usize; 9] = std::array::from_fn(|column| {
        rows.iter().chain([&heads]).map(|row| row[column].chars().count()).max().unwrap_or(0)
    });
    let (room, gap) = (sheet.width(), if sheet.width() < ROOMY { 1 } else { 2 });
    for (column, least) in CUT {
        let excess = (widths.iter().sum::<usize>() + gap * (widths.len() - 1)).saturating_sub(room);
        widths[column] -= excess.min(widths[column].saturating_sub(least));
    }
    let laid_out = |row: &Row| {
        let cell = |(column, text): (usize, &String)| {
            let (text, width) = (cut(text, widths[column], column == 4), widths[column]);
            if matches!(column, 5 | 6 | 8) { format!("{text:>width$}") } else { format!("{text:<width$}") }
        };
        row.iter().enumerate().map(cell).collect::<Vec<_>>().join(&" ".repeat(gap))
    };
    sheet.line(&sheet.faint(&laid_out(&heads)));
    for (row, entry) in rows.iter_mut().zip(entries) {
        let line = laid_out(row);
        let tone = if entry.outcome == Outcome::Completed { None } else { Some(Tone::Odd) };
        sheet.line(&tone.map_or_else(|| line.clone(), |tone| sheet.tone(tone, &line)));
    }
}

/// A text of at most `width` characters; of a path the end is kept.
fn cut(text: &str, width: usize, keep_end: bool) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    match keep_end {
        true => format!("…{}", text.chars().skip(length - kept).collect::<String>()),
        false => format!("{}…", text.chars().take(kept).collect::<String>()),
    }
}

fn skipped(sheet: &mut Sheet, listing: &Listing) {
    let skipped = &listing.skipped;
    if skipped.is_empty() {
        return;
    }
    let what =
        if skipped.len() == 1 { "1 entry is skipped:" } else { &format!("{} entries are skipped:", skipped.len()) };
    sheet.paragraph(what, Some(Tone::Odd));
    for (name, error) in skipped.iter().take(SKIPPED_MOST) {
        sheet.wrapped("  ", &format!("{name}: {}: {}", error.reason, error.remedy));
    }
    if skipped.len() > SKIPPED_MOST {
        sheet.line(&format!("  and {} more", skipped.len() - SKIPPED_MOST));
    }
}

#[derive(Serialize)]
struct Document<'a> {
    /// Tells readers what this is, and its layout.
    fathom_runs: u32,
    store: String,
    runs: Vec<Listed<'a>>,
    skipped: Vec<Skipped<'a>>,
}

/// A run as programs see it in a list.
#[derive(Serialize)]
pub(super) struct Listed<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    kept: bool,
    bytes: u64,
}

impl<'a> Listed<'a> {
    pub(super) fn of(entry: &'a Entry) -> Self {
        Self { entry, kept: entry.kept, bytes: entry.bytes() }
    }
}

#[derive(Serialize)]
struct Skipped<'a> {
    name: &'a str,
    problem: String,
}

/// One document with all that is known without a look at records.
pub(super) fn json(place: &Path, listing: &Listing) -> String {
    let skipped = |(name, error): &'_ (String, store::Error)| (name.clone(), error.to_string());
    let all: Vec<(String, String)> = listing.skipped.iter().map(skipped).collect();
    let document = Document {
        fathom_runs: 1,
        store: place.to_string_lossy().into_owned(),
        runs: listing.entries.iter().map(Listed::of).collect(),
        skipped: all.iter().map(|(name, problem)| Skipped { name, problem: problem.clone() }).collect(),
    };
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_cut_where_it_tells_least() {
        assert_eq!(cut("/dev/disk/by-id/abc", 8, true), "…-id/abc");
        assert_eq!(cut("größer als", 5, false), "größ…");
        assert_eq!(cut("same", 4, true), "same");
    }
}

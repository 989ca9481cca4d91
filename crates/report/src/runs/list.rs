//! Saved runs as a table.

use jiff::tz::TimeZone;
use record::{RunOutcome, SavedRun};
use results::runs::{RunEntry, RunsResult, SkippedRun};
use units::{Bytes, Nanos, count, counted};

use super::begun;
use crate::sheet::{Sheet, SheetStyle, Tone};

/// Maximum number of skipped entries to list.
const SKIPPED_MOST: usize = 8;
/// Columns that may be truncated (target, name, result), and the minimum width of each.
const CUT: [(usize, usize); 3] = [(4, 9), (3, 8), (7, 9)];
/// Terminal width below which gaps are narrower and dates have no year.
const ROOMY: usize = 100;

/// A row: digits of the identifier, beginning, kind, name, target, IOPS, p99, result, size.
type Row = [String; 9];

/// Returns a table of saved runs, then the path of the store and what it skipped.
#[must_use]
pub fn saved_runs_text(result: &RunsResult<'_>, zone: &TimeZone, style: SheetStyle) -> String {
    let (store, runs) = (&result.store, &result.runs);
    let mut sheet = Sheet::new(style, 2);
    if !runs.is_empty() {
        table(&mut sheet, runs, zone);
    }
    let bytes = Bytes::new(runs.iter().map(|run| run.bytes).sum());
    let total = match runs.len() {
        0 => format!("no runs in {store}"),
        count => format!("{}, {bytes} in {store}", counted(count as u64, "run")),
    };
    sheet.line(&sheet.faint(&total));
    if runs.iter().any(|run| run.kept) {
        sheet.line(&sheet.faint("* exempt from retention"));
    }
    skipped_entries(&mut sheet, &result.skipped);
    sheet.finish()
}

fn row(run: &SavedRun, zone: &TimeZone, with_year: bool) -> Row {
    let digits = run.id.rsplit('-').next().unwrap_or_default();
    let target = if run.targets.is_empty() { "-".to_owned() } else { run.targets.join(", ") };
    let name = match &run.repeat {
        Some(repeat) => format!("{} {}/{}", run.name, repeat.number, repeat.of),
        None => run.name.clone(),
    };
    [
        format!("{digits}{}", if run.kept { "*" } else { "" }),
        begun(run, zone, with_year),
        run.kind.to_string(),
        name,
        target,
        count(run.iops as f64),
        run.p99_ns.map_or_else(|| "-".to_owned(), |ns| Nanos::new(ns).to_string()),
        result(run),
        Bytes::new(run.bytes()).to_string(),
    ]
}

/// Returns the outcome or, for a completed run, the main finding.
fn result(run: &SavedRun) -> String {
    match run.outcome {
        RunOutcome::Completed => run.verdict.as_deref().unwrap_or("-").replace('_', " "),
        RunOutcome::Interrupted => "interrupted".to_owned(),
        RunOutcome::Failed => "failed".to_owned(),
        RunOutcome::Running => "running".to_owned(),
    }
}

fn table(sheet: &mut Sheet, runs: &[RunEntry<'_>], zone: &TimeZone) {
    let is_roomy = sheet.width() >= ROOMY;
    let rows: Vec<Row> = runs.iter().map(|run| row(run.manifest, zone, is_roomy)).collect();
    let heads = ["run", "started", "kind", "name", "target", "IOPS", "p99", "result", "size"].map(str::to_owned);
    let mut widths: [usize; 9] = std::array::from_fn(|column| {
        rows.iter().chain([&heads]).map(|row| row[column].chars().count()).max().unwrap_or(0)
    });
    let gap = if is_roomy { 2 } else { 1 };
    for (column, least) in CUT {
        let excess = (widths.iter().sum::<usize>() + gap * (widths.len() - 1)).saturating_sub(sheet.width());
        widths[column] -= excess.min(widths[column].saturating_sub(least));
    }
    let line = |row: &Row| {
        let cell = |(column, text): (usize, &String)| {
            let (text, width) = (cut(text, widths[column], column == 4), widths[column]);
            if matches!(column, 5 | 6 | 8) { format!("{text:>width$}") } else { format!("{text:<width$}") }
        };
        row.iter().enumerate().map(cell).collect::<Vec<_>>().join(&" ".repeat(gap))
    };
    sheet.line(&sheet.faint(&line(&heads)));
    for (row, run) in rows.iter().zip(runs) {
        let line = line(row);
        let is_complete = run.manifest.outcome == RunOutcome::Completed;
        sheet.line(&if is_complete { line } else { sheet.tone(Tone::Odd, &line) });
    }
}

/// Truncates a text to `width` characters, at its beginning if `keep_end`.
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

fn skipped_entries(sheet: &mut Sheet, skipped: &[SkippedRun]) {
    if skipped.is_empty() {
        return;
    }
    let what =
        if skipped.len() == 1 { "1 entry is skipped:" } else { &format!("{} entries are skipped:", skipped.len()) };
    sheet.paragraph(what, Some(Tone::Odd));
    for SkippedRun { name, problem, .. } in skipped.iter().take(SKIPPED_MOST) {
        sheet.wrapped("  ", &format!("{name}: {problem}"));
    }
    if skipped.len() > SKIPPED_MOST {
        sheet.line(&format!("  and {} more", skipped.len() - SKIPPED_MOST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cut_at_their_beginning_and_texts_at_their_end() {
        assert_eq!(cut("/dev/disk/by-id/abc", 8, true), "…-id/abc");
        assert_eq!(cut("größer als", 5, false), "größ…");
        assert_eq!(cut("same", 4, true), "same");
    }
}

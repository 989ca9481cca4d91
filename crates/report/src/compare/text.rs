//! A comparison as text: one table per kind of operation, caveats, and the answer.

use analyse::compare::{FigureComparison, JobComparison, Judgement};
use results::compare::{ComparisonResult, NamedRun};

use super::ComparedLoad;
use super::words::{change_words, figure_words, verdict_words};
use crate::answer::AnswerText;
use crate::sheet::{Sheet, SheetStyle, Tone};
use crate::suite::shown;

/// Column in which values of labelled lines begin.
pub(super) const INDENT: usize = 11;

#[must_use]
pub fn text(document: &ComparisonResult, style: SheetStyle) -> String {
    let mut sheet = Sheet::new(style.readable(), INDENT);
    document.answer.write(&mut sheet);
    sheet.gap();
    names(&mut sheet, "baseline", &document.baseline);
    figures(sheet, document).finish()
}

/// Appends the candidate and every figure.
pub(super) fn figures(mut sheet: Sheet, document: &ComparisonResult) -> Sheet {
    names(&mut sheet, "candidate", &document.candidate);
    let mut page = ComparisonPage { sheet, widths: column_widths(document) };
    let several = document.comparison.jobs.len() > 1;
    document.comparison.jobs.iter().for_each(|job| page.job(job, several));
    page.sheet
}

/// Returns the widths of the columns, the same for all tables.
fn column_widths(document: &ComparisonResult) -> [usize; 4] {
    let mut widths = ["", "baseline", "candidate", "change"].map(str::len);
    for row in document.comparison.jobs.iter().flat_map(|job| &job.figures) {
        for (width, cell) in widths.iter_mut().zip(cells(row)) {
            *width = cell.chars().count().max(*width);
        }
    }
    widths
}

/// Returns the name, the baseline, the candidate and the change of a figure.
fn cells(row: &FigureComparison) -> [String; 4] {
    let change = row.change.as_ref().map_or_else(|| "?".to_owned(), change_words);
    let value = |value| shown(row.figure, value, None);
    [figure_words(row.figure.quantity), value(row.baseline), value(row.candidate), change]
}

pub(super) fn tone(judgement: Judgement) -> Tone {
    match judgement {
        Judgement::Better => Tone::Good,
        Judgement::Worse => Tone::Bad,
        Judgement::Same => Tone::Faint,
        Judgement::Undecided { .. } => Tone::Odd,
    }
}

/// Appends the names and descriptions of runs.
pub(crate) fn names(page: &mut Sheet, label: &str, runs: &[NamedRun]) {
    for (index, NamedRun { name, load, began, .. }) in runs.iter().enumerate() {
        let when = began.as_ref().map_or_else(String::new, |began| format!(", {began}"));
        let (label, about) = (if index == 0 { label } else { "" }, format!("{load}{when}"));
        let lead = format!("{}{name}", page.faint(&format!("{label:<INDENT$}")));
        let used = INDENT + name.chars().count() + 2 + about.chars().count();
        if used <= page.width() {
            page.line(&format!("{lead}  {}", page.faint(&about)));
        } else {
            page.line(&lead);
            page.aside(INDENT, &about);
        }
    }
}

struct ComparisonPage {
    sheet: Sheet,
    widths: [usize; 4],
}

impl ComparisonPage {
    fn job(&mut self, job: &JobComparison, several: bool) {
        for load in ComparedLoad::of(job) {
            self.sheet.gap();
            let title = if several { format!("{}, {}", job.job, load.name()) } else { load.name().to_owned() };
            self.titles(&title);
            load.rows.iter().for_each(|row| self.row(row));
        }
    }

    fn titles(&mut self, title: &str) {
        let [name, baseline, candidate, change] = self.widths;
        // A long title has its own line.
        let fits = title.chars().count() <= name + 2;
        if !fits {
            self.sheet.line(&self.sheet.strong(title));
        }
        let head =
            if fits { self.sheet.strong(&format!("{title:<width$}", width = name + 2)) } else { " ".repeat(name + 2) };
        let columns = format!("  {:>baseline$}  {:>candidate$}  {:>change$}", "baseline", "candidate", "change");
        self.sheet.line(&format!("{head}{}", self.sheet.faint(&columns)));
    }

    fn row(&mut self, row: &FigureComparison) {
        let [name, baseline, candidate, change] = self.widths;
        let cells = cells(row);
        let line = format!(
            "  {:<name$}  {:>baseline$}  {:>candidate$}  {:>change$}  ",
            cells[0], cells[1], cells[2], cells[3]
        );
        let (word, hint) = verdict_words(row.judgement);
        let verdict = self.sheet.tone(tone(row.judgement), word);
        let hint = if hint.is_empty() { hint } else { self.sheet.faint(&format!(": {hint}")) };
        self.sheet.line(&format!("{line}{verdict}{hint}"));
    }
}

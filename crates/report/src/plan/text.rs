//! A plan as text for a terminal: the answer and a comparison; the whole page with details.

use plan::Ranking;
use results::plan::PlanResult;

use super::{answer, figures, page};
use crate::answer::AnswerText;
use crate::page::PageBlock;
use crate::sheet::{Sheet, SheetStyle, Tone, wrap};

/// Maximum number of volumes that are compared without `--details`.
const COMPARED: usize = 8;

/// Returns the plan as text; `shows_arithmetic` adds every rule and source.
pub(crate) fn text(plan: &PlanResult, style: SheetStyle, shows_arithmetic: bool) -> String {
    let mut whole = page(plan);
    if style.details || shows_arithmetic {
        whole.parts.retain(|part| shows_arithmetic || part.id != "arithmetic");
        let blocks = whole.parts.iter_mut().flat_map(|part| &mut part.blocks);
        for block in blocks {
            if let PageBlock::Code(lines) = block {
                *lines = wrapped(lines, style.readable().width.saturating_sub(4));
            }
        }
        return whole.text(style);
    }
    let mut sheet = Sheet::new(style.readable(), 0);
    whole.answer.write(&mut sheet);
    sheet.gap();
    write_ranked(&mut sheet, &plan.ranking, |ranked| super::html::compared(plan, ranked, COMPARED, false));
    for year in answer::years(plan) {
        sheet.paragraph(&year, None);
    }
    if let Some(next) = answer::next_step(plan) {
        sheet.paragraph(&next, None);
    }
    let more = plan.ranking.meeting.len().saturating_sub(COMPARED);
    let counts = match (more, plan.ranking.missing.len()) {
        (0, 0) => "More".to_owned(),
        (more, 0) => format!("{more} more meet the need"),
        (0, 1) => "1 volume does not meet the need".to_owned(),
        (0, missing) => format!("{missing} volumes do not meet the need"),
        (more, 1) => format!("{more} more meet the need, 1 does not"),
        (more, missing) => format!("{more} more meet the need, {missing} do not"),
    };
    let line = format!("{counts}: --details. Arithmetic and sources: --show-math");
    sheet.paragraph(&line, Some(Tone::Faint));
    sheet.aside(0, figures::NOT_CONSIDERED);
    sheet.finish()
}

/// Writes the tables of the volumes that meet a need, and of those that may.
pub(super) fn write_ranked(sheet: &mut Sheet, ranking: &Ranking, table: impl Fn(&[usize]) -> PageBlock) {
    if !ranking.meeting.is_empty() {
        table(&ranking.meeting).write(sheet);
        sheet.gap();
    }
    if !ranking.may_meet.is_empty() {
        sheet.paragraph("May meet it, latency assumed:", None);
        table(&ranking.may_meet).write(sheet);
        sheet.gap();
    }
}

/// Wraps lines that keep their indent, two columns deeper.
pub(super) fn wrapped(lines: &str, width: usize) -> String {
    let of_line = |line: &str| {
        let indent = line.chars().take_while(|letter| *letter == ' ').count();
        let parts = wrap(line, width.saturating_sub(indent + 2)).into_iter().enumerate();
        parts
            .map(|(index, part)| " ".repeat(indent + 2 * usize::from(index > 0)) + &part)
            .collect::<Vec<_>>()
            .join("\n")
    };
    lines.lines().map(of_line).collect::<Vec<_>>().join("\n")
}

//! A plan for a trace as text for a terminal: the answer and a comparison; the whole page with details.

use results::plan::TracePlanResult;

use super::{answer, html, page};
use crate::answer::AnswerText;
use crate::plan::figures;
use crate::plan::text::write_ranked;
use crate::sheet::{Sheet, SheetStyle, Tone};

/// Maximum number of volumes that are compared without `--details`.
const COMPARED: usize = 8;

pub(crate) fn text(plan: &TracePlanResult, style: SheetStyle) -> String {
    let whole = page(plan);
    if style.details {
        return whole.text(style);
    }
    let mut sheet = Sheet::new(style.readable(), 0);
    whole.answer.write(&mut sheet);
    sheet.gap();
    write_ranked(&mut sheet, &plan.ranking, |ranked| html::all(plan, ranked, COMPARED));
    if let Some(next) = answer::next_step(plan) {
        sheet.paragraph(&next, None);
    }
    let more = plan.ranking.meeting.len().saturating_sub(COMPARED);
    let also = if more > 0 { format!("{more} more meet the need, ") } else { String::new() };
    sheet.paragraph(&format!("{also}{} volumes do not: --details", plan.ranking.missing.len()), Some(Tone::Faint));
    sheet.aside(0, figures::NOT_CONSIDERED);
    sheet.finish()
}

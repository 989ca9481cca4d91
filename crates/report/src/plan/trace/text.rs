//! A plan for a trace as text for a terminal: the answer and a comparison; the whole page with details.

use results::plan::TracePlanResult;

use super::{answer, html, page};
use crate::answer::AnswerText;
use crate::plan::figures;
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
    for (ranked, head) in
        [(&plan.ranking.meeting, None), (&plan.ranking.may_meet, Some("May meet it, latency assumed:"))]
    {
        if ranked.is_empty() {
            continue;
        }
        if let Some(head) = head {
            sheet.paragraph(head, None);
        }
        html::all(plan, ranked, COMPARED).write(&mut sheet);
        sheet.gap();
    }
    if let Some(next) = answer::next_step(plan) {
        sheet.paragraph(&next, None);
    }
    let more = plan.ranking.meeting.len().saturating_sub(COMPARED);
    let also = if more > 0 { format!("{more} more meet the need, ") } else { String::new() };
    sheet.paragraph(&format!("{also}{} volumes do not: --details", plan.ranking.missing.len()), Some(Tone::Faint));
    sheet.aside(0, figures::NOT_CONSIDERED);
    sheet.finish()
}

//! Plans for several needs as text for a terminal: the answer and a line for each need; the whole page with details.

use results::plan::needs::NeedsResult;

use super::answer::answer;
use super::html::{page, table};
use crate::answer::AnswerText;
use crate::page::PageBlock;
use crate::plan::figures;
use crate::plan::text::wrapped;
use crate::sheet::{Sheet, SheetStyle, Tone};

/// Maximum number of needs without `--details`.
const SHOWN: usize = 12;

/// Returns the plans as text; `shows_arithmetic` adds every rule and source.
pub(crate) fn text(result: &NeedsResult, style: SheetStyle, shows_arithmetic: bool) -> String {
    if style.details || shows_arithmetic {
        let mut whole = page(result);
        whole.parts.retain(|part| shows_arithmetic || !part.id.ends_with("-arithmetic"));
        for block in whole.parts.iter_mut().flat_map(|part| &mut part.blocks) {
            if let PageBlock::Code(lines) = block {
                *lines = wrapped(lines, style.readable().width.saturating_sub(4));
            }
        }
        return whole.text(style);
    }
    let mut sheet = Sheet::new(style.readable(), 0);
    answer(result).write(&mut sheet);
    sheet.gap();
    table(result, SHOWN).write(&mut sheet);
    sheet.gap();
    let more = result.needs.len().saturating_sub(SHOWN);
    let counts = if more > 0 {
        format!("{} more", units::counted(more as u64, "need"))
    } else {
        "The plan of each need".to_owned()
    };
    sheet.paragraph(&format!("{counts}: --details. Arithmetic and sources: --show-math"), Some(Tone::Faint));
    sheet.aside(0, figures::NOT_CONSIDERED);
    sheet.finish()
}

//! Burst credits over time.

use record::ServiceStage;

use super::super::figure::{ChartFigure, SeriesStyle};
use super::super::part::{Member, SectionPart};
use super::timeline::{TimelineLabels, TimelineLine, TimelinePiece, TimelineQuantity, round_stretch, timeline};

/// Draws one line per bucket; `None` if no volume has a bucket.
pub(in super::super) fn balance(part: &SectionPart<'_>) -> Option<ChartFigure> {
    let lines: Vec<TimelineLine> = part.members.iter().flat_map(|member| lines(part, member)).collect();
    let note = "Remaining credits of each bucket, as a fraction of its capacity. At 0 the volume falls to its \
                sustained rate.";
    timeline(
        &part.called(),
        TimelineLabels { title: "Credit balance", note: note.to_owned(), quantity: TimelineQuantity::Share },
        &lines,
    )
}

fn lines(part: &SectionPart<'_>, member: &Member<'_>) -> Vec<TimelineLine> {
    let Some(model) = &member.run.model else { return Vec::new() };
    let stages = model.stages_of(member.job).filter(|stage| stage.levels.len() > 1);
    let line = |(number, stage): (usize, &ServiceStage)| {
        let (colour, dash) = if part.is_overlay() { (member.number, number) } else { (number, 0) };
        let style = SeriesStyle { colour, dash };
        let fine = pieces(stage, model.elapsed_ns);
        let stretch = round_stretch(model.elapsed_ns, part.budget.rows);
        let coarse =
            (0..model.elapsed_ns.div_ceil(stretch)).filter_map(|row| at(&fine, row * stretch, stretch)).collect();
        TimelineLine { name: part.whose(member, &stage.name), style, faint: false, fine, coarse }
    };
    stages.enumerate().map(line).collect()
}

/// Returns each level with the interval until the next one.
fn pieces(stage: &ServiceStage, end_ns: u64) -> Vec<TimelinePiece> {
    let most = stage.credits.map_or(1.0, |credits| credits.most).max(1e-9);
    let ends = stage.levels.iter().skip(1).map(|(at, _)| *at).chain([end_ns]);
    let piece = |(&(from_ns, left), to_ns): (&(u64, f64), u64)| TimelinePiece {
        from_ns,
        to_ns,
        value: (left / most).clamp(0.0, 1.0),
        ends: None,
    };
    stage.levels.iter().zip(ends).map(piece).filter(|piece| piece.to_ns > piece.from_ns).collect()
}

/// Returns the level at an instant.
fn at(pieces: &[TimelinePiece], from_ns: u64, stretch: u64) -> Option<TimelinePiece> {
    let piece = pieces.iter().find(|piece| piece.from_ns <= from_ns && from_ns < piece.to_ns)?;
    Some(TimelinePiece { from_ns, to_ns: from_ns + stretch, ..*piece })
}

//! IOPS and throughput over time.

use record::{Flow, Level, SeriesSegment};

use super::super::figure::ChartFigure;
use super::super::part::SectionPart;
use super::timeline::{TimelineLabels, TimelineLine, TimelineQuantity, timeline};

/// Draws operations per second over time.
pub(in super::super) fn iops(part: &SectionPart<'_>) -> Option<ChartFigure> {
    let note = note(part, "operations");
    let words = TimelineLabels { title: "IOPS", note, quantity: TimelineQuantity::Iops };
    timeline(&part.called(), words, &lines(part, |flow| flow.iops))
}

/// Draws bytes per second over time, if any are known.
pub(in super::super) fn bytes(part: &SectionPart<'_>) -> Option<ChartFigure> {
    part.flows().any(|(_, _, result)| result.bytes > 0).then_some(())?;
    let note = note(part, "bytes");
    let words = TimelineLabels { title: "Throughput", note, quantity: TimelineQuantity::BytesPerSecond };
    timeline(&part.called(), words, &lines(part, |flow| flow.bytes_per_second))
}

fn lines(part: &SectionPart<'_>, of: fn(&Flow) -> Level) -> Vec<TimelineLine> {
    let lines = part.flows().map(|(member, kind, _)| {
        let read = |stretch: &SeriesSegment| {
            let Level { mean, min, max } = of(stretch.flow(kind));
            Some((mean, (max > min).then_some([min, max])))
        };
        let course = |stretch_ns| member.job.result.course(stretch_ns);
        let line = TimelineLine::of(course, (part.lasted_ns(), part.budget), read);
        TimelineLine { name: part.label(member, kind), style: part.style(member, kind), ..line }
    });
    lines.collect()
}

fn note(part: &SectionPart<'_>, of: &str) -> String {
    let width = part.members.iter().map(|member| member.job.result.series.width_ns).max().unwrap_or(0);
    let each = crate::chart::elapsed(width as f64);
    let many = part.lasted_ns() > width.saturating_mul(part.budget.points);
    let band = if many { format!("; the pale band spans the minimum and maximum per {each}") } else { String::new() };
    format!("Mean {of} per interval{band}.")
}

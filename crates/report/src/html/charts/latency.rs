//! Latency over time.

use record::{DataKind, SeriesSegment};

use super::super::figure::{ChartFigure, SeriesStyle};
use super::super::part::{Member, SectionPart};
use super::heat::{HeatColumn, columns};
use super::timeline::{TimelineLabels, TimelineLine, TimelinePiece, TimelineQuantity, timeline};

/// Draws the median and p99 of each kind of operation if there are several; otherwise mean, p99 and the slowest
/// operation.
pub(in super::super) fn over_time(part: &SectionPart<'_>) -> Option<ChartFigure> {
    let due = part.flows().any(|(_, _, result)| result.response.count > 0);
    let (lines, note): (Vec<TimelineLine>, _) = if of_kinds(part) {
        let since = if due { "its due time" } else { "its submission" };
        let note = format!("The time of an operation from {since} to its completion: the median, and dashed p99.");
        (part.members.iter().flat_map(|member| kinds(part, member)).collect(), note)
    } else {
        let note = "From submission to completion: the mean, p99, and the slowest single operation.";
        let due = if due { " p99 counts from the due time of an operation." } else { "" };
        (part.members.iter().flat_map(|member| whole(part, member)).collect(), format!("{note}{due}"))
    };
    let note = format!("{note} The scale is logarithmic.");
    timeline(
        &part.called(),
        TimelineLabels { title: "Latency over time", note, quantity: TimelineQuantity::Latency },
        &lines,
    )
}

/// Reports whether kinds are drawn separately: in a single run with several kinds and latencies of each.
fn of_kinds(part: &SectionPart<'_>) -> bool {
    let has_kinds = |member: &Member<'_>| member.kinds().count() > 1 && !member.job.result.blocks.is_empty();
    !part.is_overlay() && part.members.iter().all(has_kinds)
}

fn kinds(part: &SectionPart<'_>, member: &Member<'_>) -> Vec<TimelineLine> {
    let of = |kind: DataKind, percent, name, dash| {
        let style = SeriesStyle { colour: kind as usize, dash };
        percentile(part, member, &[kind], percent, (format!("{} {name}", kind.name()), style))
    };
    let both = |(kind, _)| [of(kind, 50.0, "p50", 0), of(kind, 99.0, "p99", 1)];
    member.kinds().flat_map(both).collect()
}

fn whole(part: &SectionPart<'_>, member: &Member<'_>) -> Vec<TimelineLine> {
    let colour = if part.is_overlay() { member.number } else { 0 };
    let of = |name, dash, read: fn(&SeriesSegment) -> Option<f64>| {
        let course = |stretch_ns| member.job.result.course(stretch_ns);
        let line = TimelineLine::of(course, (part.lasted_ns(), part.budget), |stretch| Some((read(stretch)?, None)));
        TimelineLine { name: part.whose(member, name), style: SeriesStyle { colour, dash }, faint: dash > 0, ..line }
    };
    let longest = |stretch: &SeriesSegment| (stretch.service_max_ns > 0).then_some(stretch.service_max_ns as f64);
    let mean = of("mean", 0, |stretch| stretch.service_mean_ns);
    let p99 =
        percentile(part, member, &DataKind::ALL, 99.0, (part.whose(member, "p99"), SeriesStyle { colour, dash: 1 }));
    vec![mean, p99, of("slowest", 2, longest)]
}

/// Returns a percentile of the recorded blocks of latencies.
fn percentile(
    part: &SectionPart<'_>,
    member: &Member<'_>,
    kinds: &[DataKind],
    percent: f64,
    (name, style): (String, SeriesStyle),
) -> TimelineLine {
    let piece = |column: &HeatColumn| {
        let value = column.latency.percentile_ns(percent)? as f64;
        Some(TimelinePiece { from_ns: column.from_ns, to_ns: column.to_ns, value, ends: None })
    };
    let pieces = |most| columns(&member.job.result.blocks, kinds, most).iter().filter_map(piece).collect();
    let (fine, coarse) = (pieces(part.budget.columns), pieces(part.budget.rows));
    TimelineLine { name, style, faint: false, fine, coarse }
}

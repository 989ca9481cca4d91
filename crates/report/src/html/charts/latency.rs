//! Latency over time.

use record::Stretch;

use super::super::figure::{Figure, Look};
use super::super::part::{Member, Part};
use super::timeline::{Line, Quantity, Words, timeline};

/// Mean and greatest service time.
pub(in super::super) fn over_time(part: &Part<'_>) -> Option<Figure> {
    let lines: Vec<Line> = part.members.iter().flat_map(|member| lines(part, member)).collect();
    let note = "From submission to completion, on a logarithmic scale: the mean, and the slowest single operation.";
    let words = Words { title: "Latency over time", note: note.to_owned(), quantity: Quantity::Latency };
    timeline(part, words, &lines)
}

fn lines(part: &Part<'_>, member: &Member<'_>) -> [Line; 2] {
    let colour = if part.is_overlay() { member.number } else { 0 };
    let of = |name, dash, read: fn(&Stretch) -> Option<f64>| {
        let course = |stretch_ns| member.job.result.course(stretch_ns);
        let line = Line::of(course, (part.lasted_ns(), part.budget), |stretch| Some((read(stretch)?, None)));
        Line { name: part.whose(member, name), look: Look { colour, dash }, faint: dash > 0, ..line }
    };
    let longest = |stretch: &Stretch| (stretch.service_max_ns > 0).then_some(stretch.service_max_ns as f64);
    [of("mean", 0, |stretch| stretch.service_mean_ns), of("slowest", 2, longest)]
}

//! What went through over time: operations and bytes a second.

use record::{Flow, Level, Stretch};

use super::super::figure::Figure;
use super::super::part::Part;
use super::timeline::{Line, Quantity, Words, timeline};

/// Operations a second.
pub(in super::super) fn iops(part: &Part<'_>) -> Option<Figure> {
    let note = note(part, "operations");
    let words = Words { title: "Operations a second", note, quantity: Quantity::Iops };
    timeline(part, words, &lines(part, |flow| flow.iops))
}

/// Bytes a second.
pub(in super::super) fn bytes(part: &Part<'_>) -> Option<Figure> {
    let note = note(part, "bytes");
    let words = Words { title: "Throughput", note, quantity: Quantity::BytesPerSecond };
    timeline(part, words, &lines(part, |flow| flow.bytes_per_second))
}

fn lines(part: &Part<'_>, of: fn(&Flow) -> Level) -> Vec<Line> {
    let lines = part.flows().map(|(member, kind, _)| {
        let read = |stretch: &Stretch| {
            let Level { mean, min, max } = of(stretch.flow(kind));
            Some((mean, (max > min).then_some([min, max])))
        };
        let course = |stretch_ns| member.job.result.course(stretch_ns);
        let line = Line::of(course, (part.lasted_ns(), part.budget), read);
        Line { name: part.label(member, kind), look: part.look(member, kind), ..line }
    });
    lines.collect()
}

fn note(part: &Part<'_>, of: &str) -> String {
    let width = part.members.iter().map(|member| member.job.result.series.width_ns).max().unwrap_or(0);
    let each = crate::chart::elapsed(width as f64);
    let many = part.lasted_ns() > width.saturating_mul(part.budget.points);
    let band = if many { format!("; the pale band goes from the least to the greatest {each}") } else { String::new() };
    format!("Mean {of} of each stretch{band}. A level line is a steady device.")
}

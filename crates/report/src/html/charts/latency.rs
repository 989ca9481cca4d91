//! Latency over time.

use record::{Block, Stretch};

use super::super::figure::{Figure, Look};
use super::super::part::{Member, Part};
use super::heat::{Column, columns};
use super::timeline::{Line, Piece, Quantity, Words, timeline};

/// Mean, 99th percentile and greatest service time.
pub(in super::super) fn over_time(part: &Part<'_>) -> Option<Figure> {
    let lines: Vec<Line> = part.members.iter().flat_map(|member| lines(part, member)).collect();
    let note =
        "From submission to completion, on a logarithmic scale: the mean, p99, and the slowest single operation.";
    let words = Words { title: "Latency over time", note: note.to_owned(), quantity: Quantity::Latency };
    timeline(part, words, &lines)
}

fn lines(part: &Part<'_>, member: &Member<'_>) -> Vec<Line> {
    let colour = if part.is_overlay() { member.number } else { 0 };
    let of = |name, dash, read: fn(&Stretch) -> Option<f64>| {
        let course = |stretch_ns| member.job.result.course(stretch_ns);
        let line = Line::of(course, (part.lasted_ns(), part.budget), |stretch| Some((read(stretch)?, None)));
        Line { name: part.whose(member, name), look: Look { colour, dash }, faint: dash > 0, ..line }
    };
    let longest = |stretch: &Stretch| (stretch.service_max_ns > 0).then_some(stretch.service_max_ns as f64);
    let mean = of("mean", 0, |stretch| stretch.service_mean_ns);
    let p99 = Line {
        name: part.whose(member, "p99"),
        look: Look { colour, dash: 1 },
        faint: false,
        fine: p99(&member.job.result.blocks, part.budget.columns),
        coarse: p99(&member.job.result.blocks, part.budget.rows),
    };
    vec![mean, p99, of("slowest", 2, longest)]
}

/// The 99th percentile of the blocks of time that the record keeps, neighbours joined until there are no more than `most`.
fn p99(blocks: &[Block], most: u64) -> Vec<Piece> {
    let piece = |column: &Column| {
        let value = column.latency.percentile_ns(99.0)? as f64;
        Some(Piece { from_ns: column.from_ns, to_ns: column.to_ns, value, ends: None })
    };
    columns(blocks, most).iter().filter_map(piece).collect()
}

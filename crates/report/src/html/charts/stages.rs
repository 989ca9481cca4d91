//! Time that operations spend at each stage of a model.

use units::percent;

use super::super::figure::{ChartFigure, LegendKey, SeriesStyle};
use super::super::part::{Member, SectionPart};
use super::super::table::HtmlTable;
use super::rows::{ChartRow, MarkShape, RowMark, picture};
use crate::chart::{Axis, isolated, time};

/// Maximum number of stages; the others add next to nothing.
const MOST: usize = 10;
/// Name of the row for the service time without waits.
const ITSELF: &str = "the volume itself";

/// Time that operations spend at a stage.
struct StageTime {
    name: String,
    /// Mean over all operations in nanoseconds.
    mean_ns: f64,
    /// Fraction of the stage's requests that it delayed; `None` for the volume itself.
    held: Option<f64>,
    used: Option<f64>,
    rule: String,
}

/// Draws the mean wait of operations at each stage; `None` without a model.
pub(in super::super) fn bars(part: &SectionPart<'_>) -> Option<ChartFigure> {
    let spent: Vec<(&Member<'_>, Vec<StageTime>)> =
        part.members.iter().filter_map(|member| Some((member, spent(member)?))).collect();
    let mut names: Vec<&str> = Vec::new();
    for one in spent.iter().flat_map(|(_, spent)| spent) {
        if !names.contains(&one.name.as_str()) {
            names.push(&one.name);
        }
    }
    let longest = spent.iter().flat_map(|(_, spent)| spent).map(|one| one.mean_ns).reduce(f64::max)?;
    let style =
        |member: &Member<'_>| SeriesStyle { colour: if part.is_overlay() { member.number } else { 0 }, dash: 0 };
    let row = |name: &&str| {
        let marks = spent.iter().filter_map(|(member, spent)| {
            let one = spent.iter().find(|one| one.name == *name)?;
            let title = format!("{}: {} on average", part.whose(member, name), time(one.mean_ns));
            Some(RowMark { style: style(member), shape: MarkShape::Bar(one.mean_ns), title })
        });
        ChartRow { label: (*name).to_owned(), marks: marks.collect() }
    };
    let rows: Vec<ChartRow> = names.iter().map(row).collect();
    let x = Axis::from_zero(longest, round_unit(longest), time);
    let picture = picture(&format!("Where the time of {} went", part.called()), &x, &rows, |_, _| {});
    let keys = spent.iter().map(|(member, _)| LegendKey { class: style(member).dot(), name: isolated(member.name) });
    let note = "Mean time of an operation in the model: waiting at each limit and queue, then at the volume itself.";
    Some(ChartFigure {
        title: "Where the time went",
        note: note.to_owned(),
        legend: if part.is_overlay() { keys.collect() } else { Vec::new() },
        table: table(part, &spent),
        picture,
    })
}

fn spent(member: &Member<'_>) -> Option<Vec<StageTime>> {
    let model = member.run.model.as_ref()?;
    let (waits, rest) = model.waits_of(member.job);
    let several = |name: &str| waits.iter().filter(|wait| wait.stage.name == name).count() > 1;
    let mut spent: Vec<StageTime> = waits
        .iter()
        .take(MOST)
        .map(|wait| {
            let stage = wait.stage;
            let owner = if several(&stage.name) { format!(" ({})", stage.owner) } else { String::new() };
            StageTime {
                name: format!("{}{owner}", stage.label()),
                mean_ns: wait.mean_ns,
                held: Some(stage.delayed as f64 / stage.requests as f64),
                used: Some(stage.utilisation),
                rule: stage.rule.clone(),
            }
        })
        .collect();
    let itself = |mean_ns| StageTime { name: ITSELF.to_owned(), mean_ns, held: None, used: None, rule: String::new() };
    spent.extend(rest.map(itself));
    (!spent.is_empty()).then_some(spent)
}

/// Returns the unit in which a time is a round number.
fn round_unit(ns: f64) -> f64 {
    [1e9, 1e6, 1e3].into_iter().find(|unit| ns >= *unit).unwrap_or(1.0)
}

fn table(part: &SectionPart<'_>, spent: &[(&Member<'_>, Vec<StageTime>)]) -> HtmlTable {
    let mut table = HtmlTable::new("Where the time went", &["stage", "rule", "mean wait", "held", "used"], 2);
    for (member, spent) in spent {
        for one in spent {
            let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), percent);
            let name = part.whose(member, &one.name);
            table.rows.push(vec![name, one.rule.clone(), time(one.mean_ns), share(one.held), share(one.used)]);
        }
    }
    table
}

//! Charts of a plan for a trace: price against a percentile, latencies by percentile and over time, and burst credits.

use plan::Candidate;
use plan::replay::{ReplayResult, ReplayedCandidate};
use results::plan::TracePlanResult;

use super::figures::{clock, percentile_name, requirements};
use crate::chart::{Axis, Frame, Scale, Svg, nines, series, time};
use crate::plan::chart::PriceChart;

const WIDTH: f64 = 900.0;
/// Height without the legend.
const HEIGHT: f64 = 320.0;
/// Height of a line of the legend.
const ROW: f64 = 18.0;

pub(super) fn prices(plan: &TracePlanResult) -> PriceChart<'_> {
    let share = plan.bounds.percentiles.first().map_or(0.99, |(share, _)| *share);
    PriceChart {
        candidates: plan.candidates.iter().map(|one| &one.candidate).collect(),
        ranking: &plan.ranking,
        secs: |candidate: &Candidate| candidate.percentile_secs,
        latency: percentile_name(share),
        bound: plan.bounds.percentiles.first().map(|(_, bound)| bound.secs_f64()),
        wanted: requirements(plan),
        currency: plan.need.currency.code(),
    }
}

/// Draws the chart of prices as a standalone file.
pub(crate) fn svg(plan: &TracePlanResult) -> String {
    prices(plan).standalone()
}

/// A volume of a chart: its replay, and its name.
pub(super) type Charted<'a> = (&'a ReplayedCandidate, &'a ReplayResult);

/// Draws latency against percentile. `bounds` are the bounded percentiles in seconds.
pub(super) fn percentiles(charted: &[Charted<'_>], bounds: &[(f64, f64)]) -> String {
    let points = |outcome: &ReplayResult| -> Vec<(f64, f64)> {
        outcome.percentiles.iter().map(|(share, secs)| (nines(*share), secs * 1e9)).collect()
    };
    let all: Vec<f64> = charted.iter().flat_map(|(_, outcome)| points(outcome)).map(|(_, ns)| ns).collect();
    let limits = bounds.iter().map(|(_, secs)| secs * 1e9);
    let y = Axis::new(Scale::around(all.iter().copied().chain(limits)), 6, time);
    let x = Axis::nines_to(4.0);
    draw("Latency by percentile", &numbered(charted), (&x, &y), |frame, out| {
        for (share, secs) in bounds {
            let at = (nines(*share), secs * 1e9);
            frame.dot(out, "ring s1", at, 5.0, &format!("bound on {}: {}", percentile_name(*share), time(at.1)));
        }
        for (number, (_, outcome)) in charted.iter().enumerate() {
            frame.curve(out, &format!("l {}", series(number)), &points(outcome));
        }
    })
}

/// Draws the 99th percentile over time; `None` without a course.
pub(super) fn latency_over_time(charted: &[Charted<'_>]) -> Option<String> {
    let intervals = || charted.iter().flat_map(|(_, outcome)| &outcome.course).filter(|one| one.p99_secs > 0.0);
    let end = intervals().map(|one| one.to_secs).reduce(f64::max)?;
    let x = Axis::time_to(end * 1e9);
    let all: Vec<f64> = intervals().map(|one| one.p99_secs * 1e9).collect();
    let y = Axis::new(Scale::around(all.into_iter()), 6, time);
    Some(draw("99th percentile of latency over time", &numbered(charted), (&x, &y), |frame, out| {
        for (number, (_, outcome)) in charted.iter().enumerate() {
            let shown = outcome.course.iter().filter(|one| one.p99_secs > 0.0);
            let steps = shown.map(|one| (one.from_secs * 1e9, one.to_secs * 1e9, one.p99_secs * 1e9));
            frame.steps(out, &format!("l {}", series(number)), steps);
        }
    }))
}

/// Draws the credits of those volumes that have some, as a fraction of the bucket; `None` if none has.
pub(super) fn credits_over_time(charted: &[Charted<'_>]) -> Option<String> {
    let with: Vec<_> = numbered(charted).into_iter().filter(|(_, (_, outcome))| has_levels(outcome)).collect();
    let end = with.iter().map(|(_, (_, outcome))| outcome.elapsed_secs).reduce(f64::max)?;
    let (x, y) = (Axis::time_to(end * 1e9), Axis::from_zero(1.0, 1.0, crate::chart::share));
    Some(draw("Burst credits over time", &with, (&x, &y), |frame, out| {
        for (number, (_, outcome)) in &with {
            // The bucket that comes closest to its end represents a volume with several.
            let buckets = outcome.limits.iter().filter_map(|limit| limit.credits.as_ref());
            let lowest = buckets.min_by(|a, b| (a.low.0 / a.capacity).total_cmp(&(b.low.0 / b.capacity)));
            let Some(credits) = lowest else { continue };
            let level = |(secs, level): &(f64, f64)| (secs * 1e9, (level / credits.capacity).clamp(0.0, 1.0));
            frame.curve(out, &format!("l {}", series(*number)), &credits.levels.iter().map(level).collect::<Vec<_>>());
            if let Some(at) = credits.empty_at_secs {
                frame.dot(
                    out,
                    &format!("o {}", series(*number)),
                    (at * 1e9, 0.0),
                    4.5,
                    &format!("ran out after {}", clock(at)),
                );
            }
        }
    }))
}

fn has_levels(outcome: &ReplayResult) -> bool {
    outcome.limits.iter().any(|limit| limit.credits.as_ref().is_some_and(|credits| credits.levels.len() > 1))
}

/// Numbers volumes by their rank, which determines their colours in all charts.
fn numbered<'a>(charted: &[Charted<'a>]) -> Vec<(usize, Charted<'a>)> {
    charted.iter().copied().enumerate().collect()
}

/// Draws axes, a legend above them, and what `marks` draws.
fn draw(
    label: &str,
    charted: &[(usize, Charted<'_>)],
    (x, y): (&Axis, &Axis),
    marks: impl FnOnce(&Frame<'_>, &mut Svg),
) -> String {
    let head = ROW * charted.len() as f64 + 12.0;
    let mut out = Svg::within(WIDTH, HEIGHT + head, label);
    for (row, (number, (one, _))) in charted.iter().enumerate() {
        let y = ROW * row as f64 + 14.0;
        out.line(&format!("l {}", series(*number)), (80.0, y - 4.0), (104.0, y - 4.0));
        out.words((112.0, y), "note", &one.candidate.spec.name);
    }
    let frame = Frame { left: 80.0, top: head, width: WIDTH - 110.0, height: HEIGHT - 40.0, x, y };
    frame.axes(&mut out);
    marks(&frame, &mut out);
    out.finish()
}

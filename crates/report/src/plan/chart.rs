//! Chart of price against latency of the volumes that meet the need, with the Pareto front.

use plan::{Candidate, Ranking};
use results::plan::PlanResult;

use super::figures::{kind, percentile_name, wanted};
use crate::chart::{Axis, Frame, STYLE, Scale, Svg, time};
use crate::volume_terms::amount;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 520.0;
/// Position of the frame: left, top, right, bottom.
const FRAME: [f64; 4] = [80.0, 90.0, 860.0, 450.0];
/// Height of the title of a standalone chart.
const HEAD: f64 = 62.0;

/// Maximum number of labelled points; the others have a title only.
const LABELS_MAX: usize = 16;

/// Font of a standalone chart.
const FONT: &str = "svg{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}.way{fill:none;stroke:var(--line)}.bound{stroke:var(--c1);stroke-dasharray:5 4}";

/// Index of a candidate, its price in USD a month, and its latency in seconds.
type Point = (usize, f64, f64);

/// Prices and latencies of ranked candidates.
pub(super) struct PriceChart<'a> {
    pub(super) candidates: Vec<&'a Candidate>,
    pub(super) ranking: &'a Ranking,
    /// Latency in seconds by which they were ranked.
    pub(super) secs: fn(&Candidate) -> Option<f64>,
    pub(super) latency: String,
    /// Bound on that latency in seconds.
    pub(super) bound: Option<f64>,
    /// Line below the title of a standalone chart.
    pub(super) wanted: String,
}

/// Draws the chart as a standalone file.
pub(crate) fn svg(plan: &PlanResult) -> String {
    of_plan(plan).standalone()
}

/// Draws the chart for a page.
pub(super) fn within(plan: &PlanResult) -> String {
    of_plan(plan).embedded()
}

fn of_plan(plan: &PlanResult) -> PriceChart<'_> {
    let percentile = plan.need.percentile;
    PriceChart {
        candidates: plan.candidates.iter().collect(),
        ranking: &plan.ranking,
        secs: if percentile.is_some() {
            |candidate| candidate.percentile_secs
        } else {
            |candidate| candidate.mean_secs
        },
        latency: percentile.map_or("mean latency", |_| percentile_name(&plan.need)).to_owned(),
        bound: percentile.map(|(_, bound)| bound).or(plan.need.mean).map(units::Nanos::secs_f64),
        wanted: wanted(&plan.need),
    }
}

impl PriceChart<'_> {
    /// Draws a standalone file.
    pub(super) fn standalone(&self) -> String {
        let mut out = Svg::new(WIDTH, HEIGHT, &format!("{STYLE}{FONT}"));
        out.words((28.0, 34.0), "head", &self.best(|candidate| candidate.spec.name.clone()));
        out.words((28.0, 58.0), "soft", &self.wanted);
        self.draw(out, FRAME)
    }

    /// Draws an image for a page.
    pub(super) fn embedded(&self) -> String {
        let label = format!("Price against {} of the volumes that meet the need", self.latency);
        let mut out = Svg::within(WIDTH, HEIGHT - HEAD, &label);
        out.element("<style>.way{fill:none;stroke:var(--line)}.bound{stroke:var(--c1);stroke-dasharray:5 4}</style>");
        let [left, top, right, bottom] = FRAME;
        self.draw(out, [left, top - HEAD, right, bottom - HEAD])
    }

    fn best(&self, name: impl Fn(&Candidate) -> String) -> String {
        match self.ranking.best {
            Some(best) => format!("Best: {}", name(self.candidates[best])),
            None => "Nothing with a known price meets this need".to_owned(),
        }
    }

    fn point(&self, index: usize) -> Option<Point> {
        let candidate = self.candidates[index];
        let money = candidate.known_price().filter(|money| money.usd_per_month > 0.0)?;
        Some((index, money.usd_per_month, (self.secs)(candidate).filter(|secs| *secs > 0.0)?))
    }

    /// Draws the candidates that meet the need and have a price.
    fn draw(&self, mut out: Svg, [left, top, right, bottom]: Rectangle) -> String {
        let points: Vec<Point> = self.ranking.meeting.iter().filter_map(|index| self.point(*index)).collect();
        let over = |of: fn(&Point) -> f64, bound: Option<f64>| {
            Scale::around(points.iter().map(of).chain(bound).collect::<Vec<_>>().into_iter())
        };
        let time = |secs: f64| time(secs * 1e9);
        let across = Axis::new(over(|point| point.1, None), 6, amount).named("US dollars a month (logarithmic)");
        let up = Axis::new(over(|point| point.2, self.bound), 6, time);
        let frame = Frame { left, top, width: right - left, height: bottom - top, x: &across, y: &up };
        frame.axes(&mut out);
        out.words((left, top - 10.0), "soft", &format!("{} (logarithmic)", self.latency));
        if let Some(bound) = self.bound {
            let (_, y) = frame.at((points.first().map_or(1.0, |point| point.1), bound));
            out.line("bound", (left, y), (right, y));
            out.words((left + 6.0, y - 5.0), "note", &format!("required: {} at most {}", self.latency, time(bound)));
        }
        let is_on_front = |index: usize| self.ranking.front.contains(&index);
        let front: Vec<(f64, f64)> =
            points.iter().filter(|point| is_on_front(point.0)).map(|point| (point.1, point.2)).collect();
        frame.curve(&mut out, "l s0", &front);
        let at = |point: &Point| frame.at((point.1, point.2));
        let mut labels = Labels { within: [top, bottom], taken: points.iter().map(|point| dot(at(point))).collect() };
        // Labels of points on the front are placed first.
        let (front_points, other_points): (Vec<&Point>, Vec<&Point>) =
            points.iter().partition(|point| is_on_front(point.0));
        for (number, point) in front_points.into_iter().chain(other_points).enumerate() {
            let class = if is_on_front(point.0) { "o s0" } else { "o s5" };
            let (x, y) = at(point);
            let candidate = self.candidates[point.0];
            let title = format!("{}: {} USD a month, {}", candidate.spec.name, amount(point.1), time(point.2));
            if number >= LABELS_MAX {
                out.circle(class, (x, y), 4.5, &title);
                continue;
            }
            let name = kind(candidate);
            let place = labels.place((x, y), &name);
            if (place.1 - y).abs() > 2.0 * ROW {
                out.line("way", (x, y), (place.0, if place.1 < y { place.1 + 3.0 } else { place.1 - 9.0 }));
            }
            out.circle(class, (x, y), 4.5, &title);
            out.words(place, "note", &name);
        }
        out.finish()
    }
}

/// Edges of a rectangle: left, top, right, bottom.
type Rectangle = [f64; 4];

/// Height of a line of labels.
const ROW: f64 = 14.0;
/// Approximate width of a character.
const LETTER: f64 = 6.8;

fn dot((x, y): (f64, f64)) -> Rectangle {
    [x - 5.0, y - 5.0, x + 5.0, y + 5.0]
}

/// Labels of points, placed without overlap.
struct Labels {
    /// Upper and lower edge of the chart.
    within: [f64; 2],
    taken: Vec<Rectangle>,
}

impl Labels {
    /// Returns the nearest place beside a point where a label covers neither a point nor another label.
    fn place(&mut self, (x, y): (f64, f64), name: &str) -> (f64, f64) {
        let width = LETTER * name.chars().count() as f64;
        let beside = if x + 8.0 + width > WIDTH { x - 8.0 - width } else { x + 8.0 };
        let rows = (0..24_u8).map(|row| {
            let step = f64::from(row / 2 + 1) * ROW;
            if row % 2 == 0 { y + 8.0 - step } else { y + 2.0 + step }
        });
        let of = |y: f64| [beside, y - 10.0, beside + width, y + 3.0];
        let is_free = |y: &f64| {
            let [_, top, _, bottom] = of(*y);
            top > self.within[0] && bottom < self.within[1] && !self.taken.iter().any(|taken| overlap(taken, &of(*y)))
        };
        let row = rows.clone().find(is_free).unwrap_or(y - 6.0);
        self.taken.push(of(row));
        (beside, row)
    }
}

fn overlap(one: &Rectangle, other: &Rectangle) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_nearby_points_do_not_overlap() {
        let mut labels = Labels { within: [FRAME[1], FRAME[3]], taken: Vec::new() };
        for at in [(400.0, 200.0), (405.0, 201.0), (800.0, 200.0), (858.0, 440.0)] {
            for _ in 0..4 {
                let (x, _) = labels.place(at, "gcp/pd-balanced-regional");
                assert!(x + 24.0 * LETTER <= WIDTH, "{at:?}");
            }
        }
        for (number, one) in labels.taken.iter().enumerate() {
            assert!(labels.taken[..number].iter().all(|other| !overlap(one, other)), "{number}: {one:?}");
        }
    }
}

//! A plan as a picture: price against latency, with the front. Readable on light and on dark.

use plan::Candidate;
use report::Svg;

use super::Answer;
use super::figures::{time, wanted};
use crate::words::amount;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 520.0;
/// Frame: left, top, right, bottom.
const FRAME: [f64; 4] = [80.0, 90.0, 860.0, 450.0];

const STYLE: &str = "svg{--ink:#1b1f24;--soft:#5b6572;--line:#d5dae0;--paper:#ffffff;font-family:system-ui,-apple-system,\
'Segoe UI','DejaVu Sans',sans-serif;font-size:12px}@media (prefers-color-scheme:dark){svg{--ink:#e8ebef;\
--soft:#9aa4b1;--line:#343b45;--paper:#14171c}}.paper{fill:var(--paper)}.head{fill:var(--ink);font-size:17px;\
font-weight:600}.soft{fill:var(--soft)}.name{fill:var(--ink)}.frame{fill:none;stroke:var(--line)}\
.front{fill:none;stroke:#3b82f6;stroke-width:1.5}.on{fill:#3b82f6}.off{fill:var(--soft)}";

/// A candidate by its number, its price and its latency in seconds.
type Point = (usize, f64, f64);

/// The candidates that meet the need and have a price in US dollars.
pub(super) fn svg(answer: &Answer) -> String {
    let mut out = Svg::new(WIDTH, HEIGHT, STYLE);
    let head = match answer.ranking.best {
        Some(best) => format!("Best: {}", answer.candidates[best].spec.name),
        None => "Nothing with a known price meets this need".to_owned(),
    };
    out.words((28.0, 34.0), "head", &head);
    out.words((28.0, 58.0), "soft", &wanted(&answer.need));
    let points: Vec<Point> = answer
        .ranking
        .meeting
        .iter()
        .filter_map(|index| point(&answer.candidates[*index]).map(|(price, secs)| (*index, price, secs)))
        .collect();
    let across = Scale::over(points.iter().map(|point| point.1), FRAME[0], FRAME[2]);
    let up = Scale::over(points.iter().map(|point| point.2), FRAME[3], FRAME[1]);
    let [left, top, right, bottom] = FRAME;
    out.element(&format!(
        "<rect class=\"frame\" x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\"/>",
        right - left,
        bottom - top
    ));
    out.words((left, bottom + 44.0), "soft", "US dollars a month (logarithmic)");
    out.words((left, top - 10.0), "soft", "mean latency (logarithmic)");
    for value in [across.low, across.high] {
        out.words((across.at(value) - 14.0, bottom + 20.0), "soft", &amount(value));
    }
    for value in [up.low, up.high] {
        out.words((8.0, up.at(value) + 4.0), "soft", &time(value));
    }
    let front: Vec<String> = points
        .iter()
        .filter(|point| answer.ranking.front.contains(&point.0))
        .map(|point| format!("{:.1},{:.1}", across.at(point.1), up.at(point.2)))
        .collect();
    out.element(&format!("<polyline class=\"front\" points=\"{}\"/>", front.join(" ")));
    let is_on_front = |index: usize| answer.ranking.front.contains(&index);
    let at = |point: &Point| (across.at(point.1), up.at(point.2));
    let mut names = Names { taken: points.iter().map(|point| dot(at(point))).collect() };
    // What is on the front has the first choice of places.
    let (first, then): (Vec<&Point>, Vec<&Point>) = points.iter().partition(|point| is_on_front(point.0));
    for point in first.into_iter().chain(then) {
        let class = if is_on_front(point.0) { "on" } else { "off" };
        let (x, y) = at(point);
        let name = &answer.candidates[point.0].listed;
        let place = names.place((x, y), name);
        if (place.1 - y).abs() > 2.0 * ROW {
            let (end_x, end_y) = (place.0, if place.1 < y { place.1 + 3.0 } else { place.1 - 9.0 });
            out.element(&format!("<path class=\"frame\" d=\"M{x:.1} {y:.1}L{end_x:.1} {end_y:.1}\"/>"));
        }
        out.element(&format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>"));
        out.words(place, "name", name);
    }
    out.finish()
}

/// Left, top, right, bottom.
type Box = [f64; 4];

/// From one line of names to the next.
const ROW: f64 = 14.0;
/// About what a letter takes.
const LETTER: f64 = 6.8;

fn dot((x, y): (f64, f64)) -> Box {
    [x - 5.0, y - 5.0, x + 5.0, y + 5.0]
}

/// Places that are taken.
struct Names {
    taken: Vec<Box>,
}

impl Names {
    /// Where a name stands beside its point without covering another, as near as can be.
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
            top > FRAME[1] && bottom < FRAME[3] && !self.taken.iter().any(|taken| overlap(taken, &of(*y)))
        };
        let row = rows.clone().find(is_free).unwrap_or(y - 6.0);
        self.taken.push(of(row));
        (beside, row)
    }
}

fn overlap(one: &Box, other: &Box) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

fn point(candidate: &Candidate) -> Option<(f64, f64)> {
    let money = candidate.known_price().filter(|money| money.currency == "USD" && money.per_month > 0.0)?;
    Some((money.per_month, candidate.mean_secs.filter(|secs| *secs > 0.0)?))
}

/// A logarithmic axis.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) =
            values.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
        let (low, high) = if low.is_finite() { (low / 1.3, high * 1.3) } else { (1.0, 10.0) };
        Self { low, high, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        self.from + share * (self.to - self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_points_in_one_place_do_not_cover_each_other() {
        let mut names = Names { taken: Vec::new() };
        for at in [(400.0, 200.0), (405.0, 201.0), (800.0, 200.0), (858.0, 440.0)] {
            for _ in 0..4 {
                let (x, _) = names.place(at, "gcp/pd-balanced-regional");
                assert!(x + 24.0 * LETTER <= WIDTH, "{at:?}");
            }
        }
        for (number, one) in names.taken.iter().enumerate() {
            assert!(names.taken[..number].iter().all(|other| !overlap(one, other)), "{number}: {one:?}");
        }
    }
}

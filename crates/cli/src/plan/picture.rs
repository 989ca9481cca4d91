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

/// The candidates that meet the need and have a price in US dollars.
pub(super) fn svg(answer: &Answer) -> String {
    let mut out = Svg::new(WIDTH, HEIGHT, STYLE);
    let head = match answer.ranking.best {
        Some(best) => format!("Best: {}", answer.candidates[best].spec.name),
        None => "Nothing with a known price meets this need".to_owned(),
    };
    out.words((28.0, 34.0), "head", &head);
    out.words((28.0, 58.0), "soft", &wanted(&answer.need));
    let points: Vec<(usize, f64, f64)> = answer
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
    for (index, price, secs) in &points {
        let class = if answer.ranking.front.contains(index) { "on" } else { "off" };
        let (x, y) = (across.at(*price), up.at(*secs));
        let candidate = &answer.candidates[*index];
        out.element(&format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>"));
        out.words((x + 8.0, y - 6.0), "name", &candidate.listed);
    }
    out.finish()
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

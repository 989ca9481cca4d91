//! A grid of runs that differ in a few settings, as text, Markdown and CSV.

use analyse::Verdict;
use record::{JobResult, Run};
use results::grid::{GridPoint, GridResult, assignments};
use units::Bytes;

use crate::answer::AnswerText;
use crate::escape;
use crate::page::PageBlock;
use crate::sheet::{Sheet, SheetStyle};
use crate::words::{TotalFigures, limit};
use results::answer::{Answer, Outcome};

/// Rows that the text shows without details.
const LISTED: usize = 16;

const HEAD: [&str; 7] = ["IOPS", "bandwidth", "mean", "p50", "p99", "p99.9", "limit"];

/// Returns a table with a row for each point or, if points have several jobs, for each job of each.
pub(crate) fn table(points: &[GridPoint]) -> (Vec<String>, Vec<Vec<String>>) {
    let has_jobs = points.iter().any(|point| point.run.jobs.len() > 1);
    let settings = points.first().map_or(&[][..], |point| &point.settings);
    let mut head: Vec<String> = settings.iter().map(|(name, _)| name.clone()).collect();
    head.extend(has_jobs.then(|| "job".to_owned()));
    head.extend(HEAD.map(str::to_owned));
    let rows = points.iter().flat_map(|point| {
        job_rows(&point.run, &point.verdicts).into_iter().map(move |mut row| {
            let name = row.remove(0);
            let values = point.settings.iter().map(|(_, value)| value.clone());
            values.chain(has_jobs.then_some(name)).chain(row).collect()
        })
    });
    (head, rows.collect())
}

/// Returns the figures of each job: its name, then the cells of [`HEAD`].
fn job_rows(run: &Run, verdicts: &[Verdict]) -> Vec<Vec<String>> {
    let is_assumed = crate::words::tail_is_assumed(run);
    let row = |(index, job): (usize, &JobResult)| {
        let figures = TotalFigures::of_jobs(std::slice::from_ref(job)).cells(is_assumed);
        [vec![job.name.clone()], figures, vec![limit(verdicts, index)]].concat()
    };
    run.jobs.iter().enumerate().map(row).collect()
}

/// Returns a line for each job of a run, and how many are left out without details.
pub(crate) fn job_table(run: &Run, verdicts: &[Verdict], most: usize) -> (PageBlock, usize) {
    let mut rows = job_rows(run, verdicts);
    let more = rows.len().saturating_sub(most);
    rows.truncate(most);
    let head: Vec<&str> = std::iter::once("job").chain(HEAD).collect();
    (PageBlock::table(&head, &(1..head.len() - 1).collect::<Vec<_>>(), rows), more)
}

/// The settings of a grid: the number against which curves are drawn, and what tells the curves apart.
pub(crate) struct GridShape<'a> {
    /// Name of the setting of the horizontal axis.
    pub(crate) name: &'a str,
    /// For each curve its label, and its points with the value of that setting.
    pub(crate) curves: Vec<(String, Vec<(f64, &'a GridPoint)>)>,
    is_curve: bool,
}

/// Least number of values of a curve.
const CURVE: usize = 3;

impl<'a> GridShape<'a> {
    pub(crate) fn of(points: &'a [GridPoint]) -> Self {
        let settings = points.first().map_or(&[][..], |point| &point.settings);
        let values =
            |at: usize| -> Option<Vec<f64>> { points.iter().map(|point| number(&point.settings.get(at)?.1)).collect() };
        let distinct = |at: usize| {
            let mut values = values(at).unwrap_or_default();
            values.sort_by(f64::total_cmp);
            values.dedup();
            values.len()
        };
        // Of equally many values, those of the first setting.
        let axis = (0..settings.len()).rev().max_by_key(|at| distinct(*at)).filter(|at| distinct(*at) >= CURVE);
        let mut curves: Vec<(String, Vec<(f64, &GridPoint)>)> = Vec::new();
        for (index, point) in points.iter().enumerate() {
            let others = point.settings.iter().enumerate().filter(|(at, _)| Some(*at) != axis);
            let label = assignments(&others.map(|(_, setting)| setting.clone()).collect::<Vec<_>>());
            let value = axis.and_then(|at| number(&point.settings[at].1)).unwrap_or(index as f64);
            match curves.iter_mut().find(|(known, _)| *known == label && axis.is_some()) {
                Some((_, points)) => points.push((value, point)),
                None => curves.push((label, vec![(value, point)])),
            }
        }
        curves.iter_mut().for_each(|(_, points)| points.sort_by(|a, b| a.0.total_cmp(&b.0)));
        Self { name: axis.map_or("", |at| settings[at].0.as_str()), curves, is_curve: axis.is_some() }
    }

    /// Reports whether a setting has numbers to draw curves against.
    pub(crate) fn is_curve(&self) -> bool {
        self.is_curve
    }
}

/// Returns the number that a setting has: `32`, `64k`, `10%`.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim_end_matches('%');
    let (digits, suffix) = text.split_at(text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len()));
    let power = match suffix.to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    digits.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| value * 1024_f64.powi(power))
}

/// Returns the grid as text: the answer, a row for each point, then what is missing.
#[must_use]
pub fn text(document: &GridResult, style: SheetStyle) -> String {
    let mut sheet = Sheet::new(style.readable(), 0);
    if let Some(answer) = answer(document) {
        answer.write(&mut sheet);
        sheet.gap();
    }
    let (head, mut rows) = table(&document.points);
    let all = rows.len();
    if !style.details && all > LISTED && document.points.len() == all {
        let best = best(document).map(|best| best.0);
        let mut chosen: Vec<usize> = (0..LISTED - 1).map(|at| at * (all - 1) / (LISTED - 2)).chain(best).collect();
        chosen.sort_unstable();
        chosen.dedup();
        rows = chosen.into_iter().map(|at| rows[at].clone()).collect();
    } else if !style.details {
        rows.truncate(LISTED);
    }
    let more = all - rows.len();
    let is_word = |name: &String| {
        name == "job"
            || name == "limit"
            || document
                .points
                .iter()
                .any(|point| point.settings.iter().any(|(known, value)| known == name && number(value).is_none()))
    };
    let numbers = (0..head.len()).filter(|at| !is_word(&head[*at])).collect();
    PageBlock::Table { head, numbers, rows }.write(&mut sheet);
    if more > 0 {
        sheet.line(&sheet.faint(&format!("and {}: --details", units::counted(more as u64, "more line"))));
    }
    if let Some(missing) = &document.missing {
        sheet.gap();
        sheet.line(&missing.to_string());
    }
    sheet.finish()
}

/// Returns on which volume the points were simulated, and what is varied.
pub(crate) fn about(document: &GridResult) -> String {
    let Some(first) = document.points.first() else { return String::new() };
    let volumes = |point: &GridPoint| -> Vec<String> {
        point.run.model.iter().flat_map(|model| &model.volumes).map(|volume| volume.name.clone()).collect()
    };
    let on = match volumes(first).as_slice() {
        [one] if document.points.iter().all(|point| volumes(point) == [one.clone()]) => format!(" on {one}"),
        _ => String::new(),
    };
    let names: Vec<&str> = first.settings.iter().map(|(name, _)| name.as_str()).collect();
    let count = units::counted(document.points.len() as u64, "simulation");
    format!("{count}{on}, by {}", crate::words::joined(&names, "and"))
}

/// Fraction of the highest rate that counts as all of it.
const NEARLY: f64 = 0.98;

/// Returns the first point that gives nearly the highest rate, and what all give.
fn best(document: &GridResult) -> Option<(usize, Vec<TotalFigures>)> {
    let figures: Vec<TotalFigures> = document.points.iter().map(|point| TotalFigures::of(&point.run)).collect();
    let most = figures.iter().map(|figures| figures.iops).fold(0.0, f64::max);
    let at = figures.iter().position(|figures| figures.iops >= NEARLY * most && most > 0.0)?;
    Some((at, figures))
}

/// Answers which point matters: the first that gives nearly the highest rate, beside the last, or the fastest beside the
/// slowest.
pub(crate) fn answer(document: &GridResult) -> Option<Answer> {
    let points = &document.points;
    let (best, figures) = best(document)?;
    let shape = GridShape::of(points);
    let words = |at: usize| format!("{} gives {}{}", points[at].label(), figures[at].rate(), figures[at].at());
    let limit = |at: usize| {
        let limit = limit(&points[at].verdicts, 0);
        if limit.is_empty() { limit } else { format!(" (limit: {limit})") }
    };
    let end = points.len() - 1;
    let by_bytes = |a: &usize, b: &usize| figures[*a].bytes_per_second.total_cmp(&figures[*b].bytes_per_second);
    let widest = (0..points.len()).max_by(by_bytes)?;
    let slowest = (0..points.len()).min_by(|a, b| figures[*a].iops.total_cmp(&figures[*b].iops))?;
    let moves_more = figures[widest].bytes_per_second > figures[best].bytes_per_second / NEARLY;
    let is_one_curve = shape.is_curve() && shape.curves.len() == 1;
    let of_curves = of_curves(&shape);
    let verdict = match () {
        () if of_curves.is_some() => format!("{}.", of_curves.unwrap_or_default()),
        () if end == 0 => format!("{}{}.", words(0), limit(0)),
        // Larger blocks move more in fewer operations.
        () if moves_more => format!(
            "{}{}, the most IOPS; {} moves the most: {}/s{}{}.",
            words(best),
            limit(best),
            points[widest].label(),
            Bytes::new(figures[widest].bytes_per_second as u64),
            figures[widest].at(),
            limit(widest)
        ),
        () if is_one_curve && best == end => {
            format!("{}{}, the most of {}, and more than any lower value.", words(end), limit(end), points.len())
        }
        () if is_one_curve && figures[end].iops >= NEARLY * figures[best].iops => format!(
            "{} is enough: {}{}{}; {} gives no more: {}{}.",
            points[best].label(),
            figures[best].rate(),
            figures[best].at(),
            limit(best),
            points[end].label(),
            figures[end].rate(),
            figures[end].at()
        ),
        () if slowest == best || figures[slowest].iops >= NEARLY * figures[best].iops => {
            let all = if end == 1 { "Both".to_owned() } else { format!("All {}", points.len()) };
            format!("{all} give the same rate: {}{}{}.", figures[best].rate(), figures[best].at(), limit(best))
        }
        () => format!("{}{}, the most of {}; {}, the least.", words(best), limit(best), points.len(), words(slowest)),
    };
    // What happened to the operations of one point says nothing about the others.
    let is_of_model = |note: &String| !note.contains(" operations were ");
    let basis = crate::words::rests_on(&points[best].run).into_iter().filter(is_of_model).collect();
    Some(Answer { basis, ..Answer::new(Outcome::Neutral, verdict) })
}

/// Maximum number of curves of which each has its own answer.
const CURVES: usize = 3;

/// Returns from which value on each of a few curves rises no more, without a full stop.
fn of_curves(shape: &GridShape<'_>) -> Option<String> {
    let has_several = shape.is_curve() && (2..=CURVES).contains(&shape.curves.len());
    let each = shape.curves.iter().filter(|_| has_several).map(|(label, points)| {
        let figures: Vec<TotalFigures> = points.iter().map(|(_, point)| TotalFigures::of(&point.run)).collect();
        let most = figures.iter().map(|figures| figures.iops).fold(0.0, f64::max);
        let at = figures.iter().position(|figures| figures.iops >= NEARLY * most && most > 0.0)?;
        let size = |figures: &TotalFigures| figures.bytes_per_second / figures.iops.max(f64::MIN_POSITIVE);
        // Larger blocks are no more of the same.
        let is_of_one_size = figures.iter().all(|one| (size(one) / size(&figures[at]) - 1.0).abs() < 0.01);
        let (_, point) = points[at];
        let (name, value) = point.settings.iter().find(|(name, _)| name == shape.name)?;
        let limit = limit(&point.verdicts, 0);
        let limit = if limit.is_empty() { limit } else { format!(" (limit: {limit})") };
        let words = if at + 1 == points.len() { "gives the most" } else { "is enough" };
        is_of_one_size
            .then(|| format!("{label}: {name}={value} {words}: {}{}{limit}", figures[at].rate(), figures[at].at()))
    });
    let each: Vec<String> = each.collect::<Option<_>>()?;
    (!each.is_empty()).then(|| each.join("; "))
}

/// Returns CSV: the settings, then the columns of [`crate::csv`].
pub(crate) fn csv(document: &GridResult) -> String {
    let mut out = String::new();
    for (index, point) in document.points.iter().enumerate() {
        let names: Vec<String> = point.settings.iter().map(|(name, _)| escape::csv(name)).collect();
        let values: Vec<String> = point.settings.iter().map(|(_, value)| escape::csv(value)).collect();
        for (line, text) in crate::csv(&point.run).lines().enumerate() {
            let lead = if line == 0 { names.join(",") } else { values.join(",") };
            if line > 0 || index == 0 {
                out.push_str(&format!("{lead},{text}\n"));
            }
        }
    }
    out
}
/// Returns a Markdown table with the columns of [`text`].
pub(crate) fn markdown(document: &GridResult) -> String {
    let (head, body) = table(&document.points);
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let line = |cells: &[String]| row(&cells.iter().map(|cell| escape::markdown(cell)).collect::<Vec<_>>());
    let rule = vec!["--:".to_owned(); head.len()];
    let rows: String = body.iter().map(|row| line(row)).collect();
    let missing: String = document.missing.iter().map(|missing| format!("\n{missing}\n")).collect();
    format!("{}{}{rows}{missing}", line(&head), row(&rule))
}

#[cfg(test)]
mod tests {
    use record::{MissingItems, Run};
    use results::sweep::SweepResult;

    use super::*;

    #[test]
    fn what_is_missing_is_said_in_all_formats() {
        let missing = Some(MissingItems { shards: vec![1], count: 2, items: 2, of: 3, ..MissingItems::default() });
        let grid = GridResult { missing: missing.clone(), ..GridResult::default() };
        let said = "2 of 3 points are missing: shard 1 of 2 is missing";
        for text in [text(&grid, SheetStyle::default()), markdown(&grid), crate::html::grid_page(&grid)] {
            assert!(text.contains(said), "{text}");
        }
        let sweep = SweepResult { missing, ..SweepResult::default() };
        let style = SheetStyle { width: 100, ..SheetStyle::default() };
        assert!(crate::sweep::text(&sweep, style).contains(said));
        assert!(crate::html::page(&[crate::html::PageSubject::Sweep(&sweep)]).contains(said));
    }

    /// A width above 65,535 panicked.
    #[test]
    fn a_long_setting_does_not_widen_its_column_without_limit() {
        let point = GridPoint::new(vec![("x".repeat(100_000), String::new())], Run::default());
        let grid = GridResult { points: vec![point.clone(), point], ..GridResult::default() };
        assert!(!text(&grid, SheetStyle::default()).is_empty());
    }
}

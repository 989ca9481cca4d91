//! The result of a comparison in one sentence.

use analyse::compare::{Comparison, FigureComparison, Judgement};
use record::FigureOf;

use super::ComparedLoad;
use super::words::{change_words, digits, figure_words, more_words};
use crate::words::joined;

/// Number of loads above which the answer only counts faster and slower ones and names the slowest.
const LOADS_TOLD: usize = 3;

/// A load of one job.
struct LoadAnswer<'a> {
    job: &'a str,
    load: ComparedLoad<'a>,
    headline: &'a FigureComparison,
}

/// Returns the answer, without a full stop.
pub(super) fn answer(comparison: &Comparison, threshold_percent: f64) -> String {
    let of_job = comparison.jobs.iter().flat_map(|job| {
        let loads = ComparedLoad::of(job).into_iter().filter(|load| load.of != FigureOf::All);
        loads.filter_map(move |load| Some(LoadAnswer { job: &job.job, headline: load.headline()?, load }))
    });
    let mut loads: Vec<LoadAnswer<'_>> = of_job.collect();
    // What changed comes first, and what is not known last.
    loads.sort_by_key(|load| match load.headline.judgement {
        Judgement::Worse | Judgement::Better => 0,
        Judgement::Same => 1,
        Judgement::Undecided { .. } => 2,
    });
    let several = comparison.jobs.len() > 1;
    match loads.len() {
        0 => "nothing to compare: the runs have no operations of the same kind in the same job".to_owned(),
        count if count > LOADS_TOLD => tally(&loads),
        _ => {
            let each = loads.iter().map(|load| {
                let job = if several { format!("{}: ", load.job) } else { String::new() };
                format!("{job}{}", of_load(load, threshold_percent))
            });
            // The subject is named only once.
            each.collect::<Vec<_>>().join("; ").replace("; candidate is ", "; ")
        }
    }
}

fn of_load(load: &LoadAnswer<'_>, threshold_percent: f64) -> String {
    let (row, name) = (load.headline, load.load.name());
    let figure = figure_words(row.figure.quantity);
    let others = others(load);
    let first = match (row.judgement, &row.change) {
        (Judgement::Better | Judgement::Worse, Some(change)) => {
            let (half, faster) = ((change.high_percent - change.low_percent) / 2.0, row.judgement == Judgement::Better);
            let word = match (row.figure.quantity.is_latency(), faster) {
                (false, true) => "faster",
                (false, false) => "slower",
                (true, true) => "shorter",
                (true, false) => "longer",
            };
            let size = format!("{}% ± {}%", digits(change.percent.abs()), digits(half));
            format!("candidate is {size} {word} on {name} ({figure})")
        }
        (Judgement::Same, Some(change)) => {
            format!("no difference on {name}: {figure} the same within {threshold_percent}% ({})", change_words(change))
        }
        (_, Some(change)) => format!("undecided on {name}: {figure} {}{}", change_words(change), remedy(row)),
        _ => format!("undecided on {name}: {figure}{}", remedy(row)),
    };
    format!("{first}{others}")
}

/// Returns what would decide an undecided figure: `, 120 s more would decide it`.
fn remedy(row: &FigureComparison) -> String {
    match row.judgement {
        Judgement::Undecided { more: Some(more) } => format!(", {} would decide it", more_words(more)),
        Judgement::Undecided { more: None } => ", too noisy to call".to_owned(),
        _ => String::new(),
    }
}

/// Describes the latencies beside the headline: opposite changes, then undecided ones.
fn others(load: &LoadAnswer<'_>) -> String {
    let headline = load.headline;
    let rows = || load.load.rows.iter().filter(|row| row.figure != headline.figure && row.figure.quantity.is_latency());
    let apart = |row: &&&FigureComparison| {
        matches!(row.judgement, Judgement::Better | Judgement::Worse) && row.judgement != headline.judgement
    };
    let mut text = String::new();
    for row in rows().filter(apart) {
        let change = row.change.as_ref().map_or_else(String::new, |change| format!(" ({})", change_words(change)));
        let (word, _) = super::words::verdict_words(row.judgement);
        text.push_str(&format!("; {} {word}{change}", figure_words(row.figure.quantity)));
    }
    let is_open = |row: &FigureComparison| matches!(row.judgement, Judgement::Undecided { .. });
    // If the headline figure is undecided too, the others are not named.
    let open: Vec<&&FigureComparison> = rows().filter(|row| is_open(row) && !is_open(headline)).collect();
    for together in open.chunk_by(|a, b| remedy(a) == remedy(b)) {
        let names: Vec<String> = together.iter().map(|row| figure_words(row.figure.quantity)).collect();
        let names = joined(&names, "and");
        text.push_str(&format!("; {names} undecided{}", remedy(together[0]).replacen(',', ":", 1)));
    }
    text
}

fn tally(loads: &[LoadAnswer<'_>]) -> String {
    let count = |wanted: fn(&Judgement) -> bool| loads.iter().filter(|one| wanted(&one.headline.judgement)).count();
    let better = count(|judgement| *judgement == Judgement::Better);
    let worse = count(|judgement| *judgement == Judgement::Worse);
    let same = count(|judgement| *judgement == Judgement::Same);
    let parts =
        [(better, "faster"), (worse, "slower"), (same, "the same"), (loads.len() - better - worse - same, "undecided")];
    let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let counts = joined(&parts.collect::<Vec<_>>(), "and");
    let percent = |one: &&LoadAnswer<'_>| one.headline.change.map_or(0.0, |change| change.percent.abs());
    let slower = loads.iter().filter(|one| one.headline.judgement == Judgement::Worse);
    let most = slower.max_by(|a, b| percent(a).total_cmp(&percent(b)));
    let most = most.and_then(|one| Some((one, one.headline.change?))).map_or_else(String::new, |(one, change)| {
        format!("; the most {} of {} ({})", one.load.name(), one.job, change_words(&change))
    });
    format!("of {} loads the candidate has {counts}{most}", loads.len())
}

//! The result of a comparison in one sentence.

use analyse::compare::{Comparison, FigureComparison, Judgement};
use record::{FigureOf, FigureQuantity};
use results::answer::{Answer, Outcome};
use results::compare::NamedRun;

use super::ComparedLoad;
use super::words::{
    SIDES, capital, caution_notes, change_words, digits, figure_words, mismatch_words, more_words, tail_words,
};
use crate::suite::shown;
use crate::words::joined;

/// Number of loads above which the answer only counts faster and slower ones and names the slowest.
const LOADS_TOLD: usize = 3;

/// A load of one job.
pub(super) struct LoadAnswer<'a> {
    pub(super) job: &'a str,
    pub(super) load: ComparedLoad<'a>,
    pub(super) headline: &'a FigureComparison,
}

/// Longest name of a run and longest label that a sentence uses.
const NAME_MAX: usize = 28;
const LABEL_MAX: usize = 48;

/// Names of the sides in sentences.
pub(super) struct Sides {
    pub(super) baseline: String,
    pub(super) candidate: String,
}

impl Sides {
    pub(super) fn of(baseline: &[NamedRun], candidate: &[NamedRun]) -> Self {
        let [baseline, candidate] = [(baseline, SIDES[0]), (candidate, SIDES[1])].map(|(runs, side)| match runs {
            [NamedRun { label: Some(label), .. }, ..] if label.chars().count() <= LABEL_MAX => label.clone(),
            [one] if one.name.chars().count() <= NAME_MAX => one.name.clone(),
            _ => side.to_owned(),
        });
        if baseline == candidate { Self::of(&[], &[]) } else { Self { baseline, candidate } }
    }
}

/// Returns whether the candidate is different, what would decide it, and what restricts the comparison.
pub(super) fn answer(
    comparison: &Comparison,
    baseline: &[NamedRun],
    candidate: &[NamedRun],
    threshold_percent: f64,
) -> Answer {
    let sides = Sides::of(baseline, candidate);
    let judged = || comparison.jobs.iter().flat_map(|job| &job.figures).map(|figure| figure.judgement);
    let has = |wanted: fn(&Judgement) -> bool| judged().any(|judgement| wanted(&judgement));
    let outcome = match () {
        () if has(|judgement| *judgement == Judgement::Worse) => Outcome::Bad,
        () if has(|judgement| *judgement == Judgement::Better) => Outcome::Good,
        () if has(|judgement| *judgement == Judgement::Same) => Outcome::Good,
        () => Outcome::Unknown,
    };
    let verdict = verdict(comparison, &sides, threshold_percent);
    // The name of a run stays as it is.
    let is_name = sides.candidate != SIDES[1] && verdict.starts_with(&sides.candidate);
    let verdict = if is_name { verdict } else { capital(&verdict) } + ".";
    let mut basis: Vec<String> = Vec::new();
    let mismatches = comparison.mismatches.iter().map(mismatch_words);
    let tails = tail_words([(baseline, SIDES[0]), (candidate, SIDES[1])].into_iter());
    for clause in mismatches.chain(caution_notes(comparison, SIDES)).chain(tails) {
        if !basis.contains(&clause) {
            basis.push(clause);
        }
    }
    Answer { basis, ..Answer::new(outcome, verdict) }
}

/// Returns the loads of a comparison that have figures.
pub(super) fn loads(comparison: &Comparison) -> Vec<LoadAnswer<'_>> {
    let of_job = comparison.jobs.iter().flat_map(|job| {
        let loads = ComparedLoad::of(job).into_iter().filter(|load| load.of != FigureOf::All);
        loads.filter_map(move |load| Some(LoadAnswer { job: &job.job, headline: load.headline()?, load }))
    });
    of_job.collect()
}

/// Returns the answer in one sentence, without a full stop.
fn verdict(comparison: &Comparison, sides: &Sides, threshold_percent: f64) -> String {
    let mut loads = loads(comparison);
    // What changed comes first, and what is not known last.
    loads.sort_by_key(|load| match load.headline.judgement {
        Judgement::Worse | Judgement::Better => 0,
        Judgement::Same => 1,
        Judgement::Undecided { .. } => 2,
    });
    let several = comparison.jobs.len() > 1;
    match loads.len() {
        0 => "nothing to compare: the runs have no operations of the same kind in the same job".to_owned(),
        count if count > LOADS_TOLD => tally(&loads, sides),
        _ => {
            let each = loads.iter().map(|load| {
                let job = if several { format!("{}: ", load.job) } else { String::new() };
                format!("{job}{}", of_load(load, sides, threshold_percent))
            });
            // The subject is named only once.
            each.collect::<Vec<_>>().join("; ").replace(&format!("; {} is ", sides.candidate), "; ")
        }
    }
}

fn of_load(load: &LoadAnswer<'_>, sides: &Sides, threshold_percent: f64) -> String {
    let (row, name) = (load.headline, load.load.name());
    let figure = figure_words(row.figure.quantity);
    let others = others(load);
    let first = match (row.judgement, &row.change) {
        (Judgement::Better | Judgement::Worse, Some(change)) => {
            let (half, faster) = ((change.high_percent - change.low_percent) / 2.0, row.judgement == Judgement::Better);
            let word = match (row.figure.quantity.is_latency(), faster) {
                (false, true) => "faster",
                (false, false) => "slower",
                (true, true) => "faster",
                (true, false) => "slower",
            };
            let (size, half) = (digits(change.percent.abs()), digits(half));
            let value = |value: f64| shown(row.figure, value, None);
            let unit = if row.figure.quantity == FigureQuantity::Iops { " IOPS" } else { "" };
            let what = if row.figure.quantity.is_latency() { format!("{figure} ") } else { String::new() };
            format!(
                "{} is {size}% {word} than {} on {name}: {what}{} against {}{unit} (± {half}%)",
                sides.candidate,
                sides.baseline,
                value(row.candidate),
                value(row.baseline)
            )
        }
        (Judgement::Same, Some(change)) => {
            format!("no difference on {name}: {figure} the same within {threshold_percent}% ({})", change_words(change))
        }
        (_, Some(change)) => format!("cannot tell on {name}: {figure} {}{}", change_words(change), remedy(row)),
        _ => format!("cannot tell on {name}: {figure}{}", remedy(row)),
    };
    format!("{first}{others}")
}

/// Returns what would decide an undecided figure: `, 120 s more would decide it`.
pub(super) fn remedy(row: &FigureComparison) -> String {
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

fn tally(loads: &[LoadAnswer<'_>], sides: &Sides) -> String {
    let percent = |one: &&LoadAnswer<'_>| one.headline.change.map_or(0.0, |change| change.percent.abs());
    let slower = loads.iter().filter(|one| one.headline.judgement == Judgement::Worse);
    let most = slower.max_by(|a, b| percent(a).total_cmp(&percent(b)));
    let most = most.and_then(|one| Some((one, one.headline.change?))).map_or_else(String::new, |(one, change)| {
        format!("; the most {} of {} ({})", one.load.name(), one.job, change_words(&change))
    });
    format!("of {} loads {} has {}{most}", loads.len(), sides.candidate, counts(loads))
}

/// Returns `3 faster, 1 slower and 2 the same`.
pub(super) fn counts(loads: &[LoadAnswer<'_>]) -> String {
    let count = |wanted: fn(&Judgement) -> bool| loads.iter().filter(|one| wanted(&one.headline.judgement)).count();
    let better = count(|judgement| *judgement == Judgement::Better);
    let worse = count(|judgement| *judgement == Judgement::Worse);
    let same = count(|judgement| *judgement == Judgement::Same);
    let parts =
        [(better, "faster"), (worse, "slower"), (same, "the same"), (loads.len() - better - worse - same, "undecided")];
    let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    joined(&parts.collect::<Vec<_>>(), "and")
}

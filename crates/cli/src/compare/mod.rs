//! `fathom compare`: compares two runs or series, with confidence intervals.

pub(crate) mod args;
pub(crate) mod sides;

use analyse::compare::{Comparison, ComparisonSettings, Judgement, compare};
use args::{CompareOptions, FailOn};
use report::compare::{self as page, ComparisonDocument};
use report::html::PageSubject;
use report::{ResultDocument, ResultFormat};
use sides::{RunSet, RunSubject, overwritten};
use units::{Problem, ProblemCode};

use crate::exit::Exit;
use crate::outputs::{Output, deliver_as};

/// Compares baseline and candidate. Refuses runs that are not comparable.
pub(crate) fn command(options: &CompareOptions) -> Result<Exit, Exit> {
    let CompareRequest { baseline, candidate, settings } =
        CompareRequest::read(options).map_err(|problems| Exit::usage(problems.join("\n")))?;
    if !options.force {
        baseline.check_repeats()?;
        candidate.check_repeats()?;
    }
    let comparison = compare(&baseline.runs(), &candidate.runs(), &settings);
    if comparison.jobs.iter().all(|job| job.figures.is_empty()) {
        return Err(Exit::usage("nothing to compare: the runs have no operations of the same kind in the same job"));
    }
    if !options.force {
        check_comparable(&comparison)?;
    }
    let failed = options.fail_on.is_some_and(|fail_on| fails(&comparison, fail_on));
    let document = ComparisonDocument::new(baseline.named(), candidate.named(), settings, comparison);
    let subjects = [baseline.subjects("baseline"), candidate.subjects("candidate")].concat();
    let mut files = Output::open(&options.output, ResultFormat::OF_COMPARISON).map_err(Exit::usage)?;
    let runs: Vec<PageSubject<'_>> = subjects.iter().map(RunSubject::page).collect();
    let delivered = deliver_as(&mut files, ResultDocument::Comparison(&document, &runs), options.format);
    Ok(if delivered == Exit::Good && failed { Exit::Failed } else { delivered })
}

/// Refuses runs of different workloads or devices, and prints all differences.
pub(crate) fn check_comparable(comparison: &Comparison) -> Result<(), Exit> {
    if comparison.is_comparable() {
        return Ok(());
    }
    let error = Problem::error(ProblemCode::NotComparable, "the runs are not comparable");
    let error = page::refusal(comparison).into_iter().fold(error, Problem::note);
    Err(Exit::invalid([error.help("add --force to compare them anyway")]))
}

fn fails(comparison: &Comparison, fail_on: FailOn) -> bool {
    let figures = || comparison.jobs.iter().flat_map(|job| &job.figures);
    let undecided = |judgement| matches!(judgement, Judgement::Undecided { .. });
    comparison.is_worse() || fail_on == FailOn::Undecided && figures().any(|figure| undecided(figure.judgement))
}

/// The parsed request of a comparison.
struct CompareRequest {
    baseline: RunSet,
    candidate: RunSet,
    settings: ComparisonSettings,
}

impl CompareRequest {
    /// Parses the options and loads the runs. Returns all problems together.
    fn read(options: &CompareOptions) -> Result<Self, Vec<String>> {
        let mut problems = Vec::new();
        let (baseline, candidate) = sides(options).unwrap_or_else(|problem| {
            problems.push(problem);
            Default::default()
        });
        let settings = threshold_percent(&options.threshold)
            .map(|threshold_percent| ComparisonSettings { threshold_percent, ..ComparisonSettings::default() });
        if settings.is_none() {
            problems.push(format!(
                "--threshold {}: not a percentage from 0% to 100%\nhelp: write, for example, 2%",
                options.threshold
            ));
        }
        problems.extend(overwritten(&[baseline.clone(), candidate.clone()].concat(), &options.output));
        let mut resolved = [baseline, candidate].map(|words| RunSet::resolve(&words));
        for side in &mut resolved {
            problems.extend(side.as_mut().err().into_iter().flat_map(std::mem::take));
        }
        if let [Ok(baseline), Ok(candidate)] = &resolved {
            problems.extend(baseline.duplicates(candidate));
        }
        match (resolved, settings) {
            ([Ok(baseline), Ok(candidate)], Some(settings)) if problems.is_empty() => {
                Ok(Self { baseline, candidate, settings })
            }
            _ => Err(problems),
        }
    }
}

/// Returns the RUNs of both sides. Positional RUNs fill the sides that have no option.
fn sides(options: &CompareOptions) -> Result<(Vec<String>, Vec<String>), String> {
    let (mut baseline, mut candidate) = (options.baseline.clone(), options.candidate.clone());
    let mut positional = options.runs.iter();
    for side in [&mut baseline, &mut candidate] {
        if side.is_empty() {
            side.extend(positional.next().cloned());
        }
    }
    match positional.next() {
        Some(word) => Err(format!("{word}: unexpected third run\nhelp: leave it out")),
        None if baseline.is_empty() || candidate.is_empty() => {
            Err("two runs are needed\nhelp: write `fathom compare BASELINE CANDIDATE`, each an id, `last` or a file"
                .to_owned())
        }
        None => Ok((baseline, candidate)),
    }
}

/// Parses a percentage: `2%` or `0.02`.
fn threshold_percent(text: &str) -> Option<f64> {
    let (number, factor) = text.strip_suffix('%').map_or((text, 100.0), |number| (number, 1.0));
    let percent = number.trim().parse::<f64>().ok()? * factor;
    (0.0..=100.0).contains(&percent).then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_percentages_or_fractions() {
        assert_eq!(
            (threshold_percent("2%"), threshold_percent("0.5 %"), threshold_percent("0")),
            (Some(2.0), Some(0.5), Some(0.0))
        );
        assert_eq!(threshold_percent("0.05"), Some(5.0));
        for bad in ["", "%", "x", "-1%", "101%", "NaN", "inf%", "2"] {
            assert_eq!(threshold_percent(bad), None, "{bad}");
        }
    }
}

//! `fathom compare`: compares two runs or series, with confidence intervals.

pub(crate) mod sides;

use std::path::PathBuf;

use analyse::compare::{Aspect, Comparison, ComparisonSettings, ConditionMismatch, Judgement, compare};
use clap::{Args, ValueEnum};
use report::compare as page;
use report::html::PageSubject;
use report::{ResultDocument, ResultFormat};
use sides::{RunSet, RunSubject, overwritten};
use units::{Problem, ProblemCode};

use crate::args::{Details, PAGES, one_of};
use crate::exit::Exit;
use crate::outputs::{Output, deliver_as};

/// Compares baseline and candidate. Refuses runs that are not comparable.
pub(crate) fn command(options: &CompareOptions) -> Result<Exit, Exit> {
    let CompareRequest { baseline, candidate, settings } = CompareRequest::read(options).map_err(Exit::invalid)?;
    if !options.force {
        baseline.check_repeats()?;
        candidate.check_repeats()?;
    }
    let comparison = compare(&baseline.runs(), &candidate.runs(), &settings);
    if comparison.jobs.iter().all(|job| job.figures.is_empty()) {
        return Err(Exit::invalid(Problem::error(
            ProblemCode::NotComparable,
            "nothing to compare: the runs have no operations of the same kind in the same job",
        )));
    }
    // Two volumes under one load are what comparisons are for; other differences make them meaningless.
    let of_volume = |mismatch: &ConditionMismatch| mismatch.aspect == Aspect::Volume;
    let is_of_volumes = comparison.mismatches.iter().filter(|one| one.blocking).all(of_volume);
    if !options.force && !is_of_volumes {
        check_comparable(&comparison)?;
    }
    let failed = options.fail_on.is_some_and(|fail_on| fails(&comparison, fail_on));
    let document = page::result(baseline.named(), candidate.named(), settings, comparison);
    let subjects = [baseline.subjects("baseline"), candidate.subjects("candidate")].concat();
    let mut files = Output::open(&options.output, ResultFormat::OF_COMPARISON).map_err(Exit::invalid)?;
    let runs: Vec<PageSubject<'_>> = subjects.iter().map(RunSubject::page).collect();
    let delivered =
        deliver_as(&mut files, ResultDocument::Comparison(&document, &runs), options.format, options.details);
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
    fn read(options: &CompareOptions) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let (baseline, candidate) = sides(options).unwrap_or_else(|problem| {
            problems.push(problem);
            Default::default()
        });
        let settings = threshold_percent(&options.threshold)
            .map(|threshold_percent| ComparisonSettings { threshold_percent, ..ComparisonSettings::default() });
        if settings.is_none() {
            let what = format!("--threshold {}: not a percentage from 0% to 100%", options.threshold);
            problems.push(Problem::error(ProblemCode::Arguments, what).help("write, for example, 2%"));
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
fn sides(options: &CompareOptions) -> Result<(Vec<String>, Vec<String>), Problem> {
    let (mut baseline, mut candidate) = (options.baseline.clone(), options.candidate.clone());
    let mut positional = options.runs.iter();
    for side in [&mut baseline, &mut candidate] {
        if side.is_empty() {
            side.extend(positional.next().cloned());
        }
    }
    match positional.next() {
        Some(word) => {
            Err(Problem::error(ProblemCode::Arguments, format!("{word}: unexpected third run")).help("omit it"))
        }
        None if baseline.is_empty() || candidate.is_empty() => {
            Err(Problem::error(ProblemCode::Arguments, "two runs are needed")
                .help("write `fathom compare BASELINE CANDIDATE`, each an id, `last` or a file"))
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

pub(crate) const HELP: &str = "\
A RUN is the ID of a saved run or its prefix, `last`, a directory, a file (a Fathom record or fio's \
output), or - for standard input. The name of a series stands for all of its repeats. Separate several \
runs of one side with commas.

Each figure has a 95% confidence interval of its change: from the variation between seconds for single \
runs, from the variation between runs for repeats. A figure is better or worse where the change is \
statistically significant and at least --threshold; the same where the whole interval lies within the \
threshold; otherwise undecided, with the runs or time needed to decide. Runs of different workloads or \
devices are refused.

Examples:
  fathom compare last-week.json last
  fathom compare --baseline a1.json,a2.json --candidate b1.json,b2.json
  fathom compare main.json branch.json --fail-on worse -o change.md

Exit codes:
  0 compared, with any verdict
  1 the verdict of --fail-on, or a worse one
  2 usage, or runs that are not comparable
  3 I/O error";

/// Options of `fathom compare`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompareOptions {
    /// Baseline, then candidate
    #[arg(value_name = "RUN", num_args = 0..=2)]
    runs: Vec<String>,
    /// Baseline runs, separated by commas (repeatable)
    #[arg(long, value_name = "RUN", help_heading = "Runs")]
    baseline: Vec<String>,
    /// Candidate runs, separated by commas (repeatable)
    #[arg(long, value_name = "RUN", help_heading = "Runs")]
    candidate: Vec<String>,
    /// Ignore changes smaller than this
    #[arg(long, value_name = "SHARE", default_value = "2%", help_heading = "Verdict")]
    threshold: String,
    /// Compare runs of different workloads or devices too
    #[arg(long, help_heading = "Runs")]
    force: bool,
    /// Exit with 1 if the verdict of any figure is this or worse
    #[arg(long, value_enum, value_name = "VERDICT", help_heading = "Verdict")]
    fail_on: Option<FailOn>,
    /// Format of standard output
    #[arg(long, value_parser = one_of(PAGES), default_value = "text", help_heading = "Output")]
    format: ResultFormat,
    /// Write additional output to FILE: .json .md .csv .txt, .html with the charts of both (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    details: Details,
}

/// Verdicts that make a comparison fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// A figure became worse
    Worse,
    /// A figure became worse or is undecided
    Undecided,
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

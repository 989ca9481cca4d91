//! `fathom compare`: compares two runs or series, with confidence intervals.

pub(crate) mod sides;

use std::path::PathBuf;

use analyse::compare::{Comparison, ComparisonSettings, Judgement, compare};
use clap::{Args, ValueEnum};
use report::compare as page;
use report::html::PageSubject;
use report::{ResultDocument, ResultFormat};
use results::compare::{ComparisonResult, NamedRun};
use sides::{RunSet, RunSubject, overwritten};
use units::{Problem, ProblemCode};

use crate::args::{Details, PAGES, one_of};
use crate::exit::Exit;
use crate::outputs::{Output, deliver_as};
use crate::run_argument::ResolvedRun;

/// Compares each candidate with the baseline. Refuses runs that are not comparable.
pub(crate) fn command(options: &CompareOptions) -> Result<Exit, Exit> {
    let CompareRequest { baseline, candidates, settings } = CompareRequest::read(options).map_err(Exit::invalid)?;
    if !options.force {
        baseline.check_repeats()?;
        candidates.iter().try_for_each(RunSet::check_repeats)?;
    }
    let comparisons: Vec<Comparison> =
        candidates.iter().map(|candidate| compare(&baseline.runs(), &candidate.runs(), &settings)).collect();
    let sides: Vec<&RunSet> = std::iter::once(&baseline).chain(&candidates).collect();
    let names = side_names(&sides);
    for (comparison, name) in comparisons.iter().zip(&names[1..]) {
        let several = candidates.len() > 1;
        check_comparison(comparison, options.force, several.then_some(name.text.as_str()))?;
    }
    let failed = options.fail_on.is_some_and(|fail_on| comparisons.iter().any(|comparison| fails(comparison, fail_on)));
    let named = |side: &RunSet, name: &SideName| {
        let label = name.is_label.then(|| name.text.clone());
        side.named().into_iter().map(|run| NamedRun { label: label.clone(), ..run }).collect::<Vec<_>>()
    };
    let mut results: Vec<ComparisonResult> = comparisons
        .into_iter()
        .zip(candidates.iter().zip(&names[1..]))
        .map(|(comparison, (candidate, name))| {
            page::result(named(&baseline, &names[0]), named(candidate, name), settings, comparison)
        })
        .collect();
    let subjects: Vec<RunSubject<'_>> =
        sides.iter().zip(&names).flat_map(|(side, name)| side.subjects(&name.text)).collect();
    let runs: Vec<PageSubject<'_>> = subjects.iter().map(RunSubject::page).collect();
    let mut files = Output::open(&options.output, ResultFormat::OF_COMPARISON).map_err(Exit::invalid)?;
    let several;
    let document = match results.len() {
        1 => ResultDocument::Comparison(&results[0], &runs),
        _ => {
            several = page::several(std::mem::take(&mut results));
            ResultDocument::Comparisons(&several, &runs)
        }
    };
    let delivered = deliver_as(&mut files, document, options.format, options.details);
    Ok(if delivered == Exit::Good && failed { Exit::Failed } else { delivered })
}

/// The name of a side: what distinguishes it, or else its own.
struct SideName {
    text: String,
    is_label: bool,
}

fn side_names(sides: &[&RunSet]) -> Vec<SideName> {
    let firsts: Vec<&ResolvedRun> = sides.iter().filter_map(|side| side.first()).collect();
    if let Some(labels) = page::labels(&firsts.iter().map(|one| &one.run).collect::<Vec<_>>()) {
        return labels.into_iter().map(|text| SideName { text, is_label: true }).collect();
    }
    let own = |(number, first): (usize, &&ResolvedRun)| match (sides.len(), number) {
        (2, 0) => format!("baseline {}", first.name),
        (2, _) => format!("candidate {}", first.name),
        _ => first.name.clone(),
    };
    firsts.iter().enumerate().map(own).map(|text| SideName { text, is_label: false }).collect()
}

/// Refuses a comparison without figures, and one of different loads. Two volumes under one load are what comparisons are
/// for; other differences make them meaningless.
fn check_comparison(comparison: &Comparison, force: bool, name: Option<&str>) -> Result<(), Exit> {
    if comparison.jobs.iter().all(|job| job.figures.is_empty()) {
        let of = name.map_or_else(String::new, |name| format!("{name}: "));
        let what = format!("{of}nothing to compare: the runs have no operations of the same kind in the same job");
        return Err(Exit::invalid(Problem::error(ProblemCode::NotComparable, what)));
    }
    if force || comparison.is_of_one_load() { Ok(()) } else { check_comparable(comparison) }
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
    /// At least one side.
    candidates: Vec<RunSet>,
    settings: ComparisonSettings,
}

impl CompareRequest {
    /// Parses the options and loads the runs. Returns all problems together.
    fn read(options: &CompareOptions) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let sides = sides(options).unwrap_or_else(|problem| {
            problems.push(problem);
            Default::default()
        });
        let settings = threshold_percent(&options.threshold)
            .map(|threshold_percent| ComparisonSettings { threshold_percent, ..ComparisonSettings::default() });
        if settings.is_none() {
            let what = format!("--threshold {}: not a percentage from 0% to 100%", options.threshold);
            problems.push(Problem::error(ProblemCode::Arguments, what).help("write, for example, 2%"));
        }
        problems.extend(overwritten(&sides.concat(), &options.output));
        let mut resolved = Vec::new();
        for words in &sides {
            match RunSet::resolve(words) {
                Ok(side) => resolved.push(side),
                Err(found) => problems.extend(found),
            }
        }
        if resolved.len() == sides.len() {
            problems.extend(RunSet::duplicates(&resolved.iter().collect::<Vec<_>>()));
        }
        let mut resolved = resolved.into_iter();
        match (resolved.next(), settings) {
            (Some(baseline), Some(settings)) if problems.is_empty() => {
                Ok(Self { baseline, candidates: resolved.collect(), settings })
            }
            _ => Err(problems),
        }
    }
}

/// Returns the RUNs of each side, the baseline first. Positional RUNs fill the sides that have no option, and then add
/// candidates.
fn sides(options: &CompareOptions) -> Result<Vec<Vec<String>>, Problem> {
    let mut positional = options.runs.iter();
    let mut sides = Vec::new();
    for side in [&options.baseline, &options.candidate] {
        sides.push(if side.is_empty() { positional.next().cloned().into_iter().collect() } else { side.clone() });
    }
    sides.extend(positional.map(|run| vec![run.clone()]));
    match sides.iter().any(Vec::is_empty) {
        true => Err(Problem::error(ProblemCode::Arguments, "two runs are needed")
            .help("write `fathom compare BASELINE CANDIDATE`, each an id, `last` or a file")),
        false => Ok(sides),
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
threshold; otherwise undecided, with the runs or time needed to decide. Of three or more runs, each is compared \
with the first. Runs on different volumes or devices are compared; runs of different workloads are refused.

Examples:
  fathom compare last-week.json last
  fathom compare gp3.json io2.json pd-ssd.json -o volumes.html
  fathom compare main.json branch.json --fail-on worse -o change.md

Exit codes:
  0 compared, with any verdict
  1 the verdict of --fail-on, or a worse one
  2 usage, or runs that are not comparable
  3 I/O error";

/// Options of `fathom compare`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompareOptions {
    /// Baseline, then one or more candidates
    #[arg(value_name = "RUN", num_args = 0..)]
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
    /// Compare runs of different workloads too
    #[arg(long, help_heading = "Runs")]
    force: bool,
    /// Exit with 1 if the verdict of any figure is this or worse
    #[arg(long, value_enum, value_name = "VERDICT", help_heading = "Verdict")]
    fail_on: Option<FailOn>,
    /// Format of standard output
    #[arg(long, value_parser = one_of(PAGES), default_value = "text", help_heading = "Output")]
    format: ResultFormat,
    /// Write additional output to FILE: .json .md .csv .txt, .html with the charts of all (repeatable)
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

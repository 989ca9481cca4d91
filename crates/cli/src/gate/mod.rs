//! `fathom gate`: checks a run against assertions.

use std::path::PathBuf;

use analyse::compare::{Comparison, ComparisonSettings, compare};
use analyse::gate::{AssertionSubject, GateInputs};
use analyse::{Verdict, analyse};
use clap::Args;
use device::{AssertionText, parse_assertions};
use record::Run;
use report::gate as page;
use report::{ResultDocument, ResultFormat};
use results::gate::GateResult;

use crate::args::{Details, PAGES, one_of};
use crate::compare::check_comparable;
use crate::compare::sides::{RunSet, overwritten};
use crate::exit::Exit;
use crate::outputs::{Output, deliver_as};

/// Checks a run against assertions and reports each result.
pub(crate) fn command(options: &GateOptions) -> Result<Exit, Exit> {
    let GateRequest { expected, runs, baseline } = GateRequest::read(options)?;
    if !options.force {
        [Some(&runs), baseline.as_ref()].into_iter().flatten().try_for_each(RunSet::check_repeats)?;
    }
    let mut files = Output::open(&options.output, ResultFormat::OF_FINDINGS).map_err(Exit::invalid)?;
    files.extend(options.junit.as_deref().map(Output::junit).transpose().map_err(Exit::invalid)?);
    let comparison =
        baseline.as_ref().map(|baseline| compare(&baseline.runs(), &runs.runs(), &ComparisonSettings::default()));
    let needs_baseline = expected.iter().any(|one| one.assertion.needs_baseline());
    let comparison = comparison.filter(|_| needs_baseline);
    if let Some(comparison) = comparison.as_ref().filter(|_| !options.force) {
        check_comparable(comparison)?;
    }
    let document = judge(&expected, &runs, baseline.as_ref(), comparison.as_ref(), options.strict);
    let delivered = deliver_as(&mut files, ResultDocument::Gate(&document), options.format, options.details);
    Ok(if delivered == Exit::Good { exit(&document) } else { delivered })
}

fn exit(document: &GateResult) -> Exit {
    match (document.checks.iter().all(|check| check.passed), document.distrust.is_empty()) {
        (false, _) => Exit::Failed,
        (true, false) => Exit::Distrust,
        (true, true) => Exit::Good,
    }
}

fn judge(
    expected: &[AssertionText],
    runs: &RunSet,
    baseline: Option<&RunSet>,
    comparison: Option<&Comparison>,
    strict: bool,
) -> GateResult {
    let measured = runs.runs();
    let verdicts: Vec<Vec<Verdict>> = measured.iter().map(|run| analyse(run)).collect();
    let judged: Vec<(&Run, &[Verdict])> = measured.iter().copied().zip(verdicts.iter().map(Vec::as_slice)).collect();
    let of_baseline = baseline.map(RunSet::runs).unwrap_or_default();
    let inputs = GateInputs { runs: &judged, baseline: &of_baseline, comparison };
    let check =
        |one: &AssertionText| page::check(&one.text, one.assertion.clone(), one.assertion.judge(&inputs), strict);
    let checks = expected.iter().map(check).collect();
    // Assertions on findings state which findings matter, and replace the general check.
    let by_findings = expected.iter().any(|one| matches!(one.assertion.subject, AssertionSubject::Findings(_)));
    let distrust = if by_findings { Vec::new() } else { page::distrust(&judged) };
    let named = runs.named().into_iter().zip(measured).collect();
    let differences = comparison.map(report::compare::refusal).unwrap_or_default();
    let baseline = baseline.map(RunSet::named).unwrap_or_default();
    page::result(named, baseline, differences, checks, distrust)
}

/// The parsed request of a gate.
struct GateRequest {
    expected: Vec<AssertionText>,
    runs: RunSet,
    baseline: Option<RunSet>,
}

impl GateRequest {
    /// Parses the assertions and loads the runs. Prints all problems together.
    fn read(options: &GateOptions) -> Result<Self, Exit> {
        let expected = parse_assertions(&options.assert, &options.assert_file, !options.baseline.is_empty());
        let run = [options.run.clone()];
        let inputs = [&run[..], &options.baseline].concat();
        let outputs: Vec<_> = options.output.iter().chain(&options.junit).cloned().collect();
        let mut problems = overwritten(&inputs, &outputs);
        let mut resolved = |words: &[String]| RunSet::resolve(words).map_err(|found| problems.extend(found)).ok();
        let runs = resolved(&run);
        let baseline = (!options.baseline.is_empty()).then(|| resolved(&options.baseline));
        if let (Some(runs), Some(Some(baseline))) = (&runs, &baseline) {
            problems.extend(RunSet::duplicates(&[runs, baseline]));
        }
        match (expected, runs) {
            (Ok(expected), Some(runs)) if problems.is_empty() => {
                Ok(Self { expected, runs, baseline: baseline.flatten() })
            }
            (expected, _) => Err(Exit::invalid([expected.err().unwrap_or_default(), problems].concat())),
        }
    }
}

pub(crate) const HELP: &str = "\
An expectation is FIGURE RELATION BOUND.

FIGURE is read, write, trim or all, a point, and iops, bw, lat (the mean), lat.p50, lat.p90, lat.p99 or \
lat.p99.9. `response` instead of `lat` counts from the due time of an operation, and needs a rate.

findings.warnings, findings.distrusts and findings.NAME count findings (docs/findings.md).

`job(NAME).` before a figure selects one job, one probe of a sweep or one step of a suite.

RELATION is one of >= <= > < == !=. BOUND is a number with its unit, or a fraction of --baseline: `95%` or \
`0.95*baseline`. A fraction fails only where the difference is statistically significant.

RUN is what `fathom compare` accepts.

Examples:
  fathom gate last --assert 'read.iops>=150k' --assert 'read.lat.p99<=2ms'
  fathom gate run.json --assert 'read.iops>=95%' --baseline main.json
  fathom gate last --assert-file limits.txt -o gate.md

Exit codes:
  0 all expectations hold
  1 one does not hold, or cannot be decided
  2 usage: nothing was checked
  3 I/O error
  4 all hold, but the figures are unreliable";

/// Options of `fathom gate`.
#[derive(Clone, Debug, Args)]
pub(crate) struct GateOptions {
    /// Run: an ID, `last`, a directory, a file, - for standard input; repeats separated by commas
    #[arg(value_name = "RUN")]
    run: String,
    /// Expectation, such as read.iops>=150k (repeatable)
    #[arg(long, value_name = "EXPECTATION", help_heading = "Assertions")]
    assert: Vec<String>,
    /// Read expectations from FILE, one per line, with comments after # (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Assertions")]
    assert_file: Vec<PathBuf>,
    /// Baseline for percentage expectations: a run, or repeats separated by commas
    #[arg(long, value_name = "RUN", help_heading = "Assertions")]
    baseline: Vec<String>,
    /// Accept repeats and a baseline of different workloads or devices
    #[arg(long, help_heading = "Assertions")]
    force: bool,
    /// Fail if an expectation is undecided because of noise
    #[arg(long, help_heading = "Assertions")]
    strict: bool,
    /// Write JUnit XML to FILE
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    junit: Option<PathBuf>,
    /// Format of standard output
    #[arg(long, value_parser = one_of(PAGES), default_value = "text", help_heading = "Output")]
    format: ResultFormat,
    /// Write additional output to FILE: .json .md .txt (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    details: Details,
}

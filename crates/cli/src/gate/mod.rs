//! `fathom gate`: checks a run against assertions.

pub(crate) mod args;

use analyse::compare::{Comparison, ComparisonSettings, compare};
use analyse::gate::{AssertionSubject, GateInputs};
use analyse::{Verdict, analyse};
use args::GateOptions;
use device::{AssertionText, parse_assertions};
use record::Run;
use report::gate::{self as page, GateCheck, GateDocument};
use report::{ResultDocument, ResultFormat};

use crate::compare::check_comparable;
use crate::compare::sides::{RunSet, overwritten};
use crate::diagnostics;
use crate::exit::Exit;
use crate::outputs::{Output, deliver_as};

/// Checks a run against assertions and reports each result.
pub(crate) fn command(options: &GateOptions) -> Result<Exit, Exit> {
    let GateRequest { expected, runs, baseline } = GateRequest::read(options)?;
    if !options.force {
        [Some(&runs), baseline.as_ref()].into_iter().flatten().try_for_each(RunSet::check_repeats)?;
    }
    let mut files = Output::open(&options.output, ResultFormat::OF_FINDINGS).map_err(Exit::usage)?;
    files.extend(options.junit.as_deref().map(Output::junit).transpose().map_err(Exit::usage)?);
    let comparison =
        baseline.as_ref().map(|baseline| compare(&baseline.runs(), &runs.runs(), &ComparisonSettings::default()));
    let needs_baseline = expected.iter().any(|one| one.assertion.needs_baseline());
    let comparison = comparison.filter(|_| needs_baseline);
    if let Some(comparison) = comparison.as_ref().filter(|_| !options.force) {
        check_comparable(comparison)?;
    }
    let document = judge(&expected, &runs, baseline.as_ref(), comparison.as_ref(), options.strict);
    let delivered = deliver_as(&mut files, ResultDocument::Gate(&document), options.format);
    Ok(if delivered == Exit::Good { exit(&document) } else { delivered })
}

fn exit(document: &GateDocument) -> Exit {
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
) -> GateDocument {
    let measured = runs.runs();
    let verdicts: Vec<Vec<Verdict>> = measured.iter().map(|run| analyse(run)).collect();
    let judged: Vec<(&Run, &[Verdict])> = measured.iter().copied().zip(verdicts.iter().map(Vec::as_slice)).collect();
    let of_baseline = baseline.map(RunSet::runs).unwrap_or_default();
    let inputs = GateInputs { runs: &judged, baseline: &of_baseline, comparison };
    let check =
        |one: &AssertionText| GateCheck::new(&one.text, one.assertion.clone(), one.assertion.judge(&inputs), strict);
    let checks = expected.iter().map(check).collect();
    // Assertions on findings state which findings matter, and replace the general check.
    let by_findings = expected.iter().any(|one| matches!(one.assertion.subject, AssertionSubject::Findings(_)));
    let distrust = if by_findings { Vec::new() } else { page::distrust(&judged) };
    let named = runs.named().into_iter().zip(measured).collect();
    let differences = comparison.map(report::compare::refusal).unwrap_or_default();
    let baseline = baseline.map(RunSet::named).unwrap_or_default();
    GateDocument::new(named, baseline, checks, distrust).despite(differences)
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
            problems.extend(runs.duplicates(baseline));
        }
        let input_errors = diagnostics::errors(&problems.join("\n"));
        match (expected, runs) {
            (Ok(expected), Some(runs)) if input_errors.is_empty() => {
                Ok(Self { expected, runs, baseline: baseline.flatten() })
            }
            (expected, _) => Err(Exit::invalid([expected.err().unwrap_or_default(), input_errors].concat())),
        }
    }
}

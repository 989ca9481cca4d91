//! `fathom gate`: checks a run against assertions.

pub(crate) mod args;
mod ask;

use analyse::compare::{Comparison, ComparisonSettings, compare};
use analyse::gate::{AssertionSubject, GateInputs};
use analyse::{Verdict, analyse};
use args::GateOptions;
use ask::AssertionText;
use record::Run;
use report::gate::{self as page, GateCheck, GateDocument};
use report::{ResultDocument, ResultFormat};
use runner::Refusal;

use crate::compare::comparable;
use crate::compare::sides::{RunSet, overwritten};
use crate::diagnostics;
use crate::exit::Exit;
use crate::outputs::{Output, deliver_as};
use crate::refusal::Refused;

/// Reads what is expected and the runs, judges, tells.
pub(crate) fn command(options: &GateOptions) -> Result<Exit, Exit> {
    let GateQuestion { expected, runs, baseline } = GateQuestion::read(options)?;
    let comparison =
        baseline.as_ref().map(|baseline| compare(&baseline.runs(), &runs.runs(), &ComparisonSettings::default()));
    let of_baseline = expected.iter().any(|one| one.expectation.needs_baseline());
    let comparison = comparison.filter(|_| of_baseline);
    if let Some(comparison) = comparison.as_ref().filter(|_| !options.force) {
        comparable(comparison)?;
    }
    let document = judged(&expected, &runs, baseline.as_ref(), comparison.as_ref(), options.strict);
    let mut files =
        Output::open(&options.output, ResultFormat::OF_FINDINGS).map_err(|problem| Exit::usage(&problem))?;
    let junit = options.junit.as_deref().map(Output::junit).transpose().map_err(|problem| Exit::usage(&problem))?;
    files.extend(junit);
    let end = deliver_as(&mut files, ResultDocument::Gate(&document), options.format);
    Ok(if end == Exit::Good { exit(&document) } else { end })
}

fn exit(document: &GateDocument) -> Exit {
    match (document.checks.iter().all(|check| check.passed), document.distrust.is_empty()) {
        (false, _) => Exit::Failed,
        (true, false) => Exit::Distrust,
        (true, true) => Exit::Good,
    }
}

fn judged(
    expected: &[AssertionText],
    runs: &RunSet,
    baseline: Option<&RunSet>,
    comparison: Option<&Comparison>,
    strict: bool,
) -> GateDocument {
    let of_runs = runs.runs();
    let verdicts: Vec<Vec<Verdict>> = of_runs.iter().map(|run| analyse(run)).collect();
    let found: Vec<(&Run, &[Verdict])> = of_runs.iter().copied().zip(verdicts.iter().map(Vec::as_slice)).collect();
    let of_baseline = baseline.map(RunSet::runs).unwrap_or_default();
    let bench = GateInputs { runs: &found, baseline: &of_baseline, comparison };
    let check =
        |one: &AssertionText| GateCheck::new(&one.text, one.expectation.clone(), one.expectation.judge(&bench), strict);
    let checks = expected.iter().map(check).collect();
    // Who has expectations of findings has decided which of them matter.
    let by_findings = expected.iter().any(|one| matches!(one.expectation.subject, AssertionSubject::Findings(_)));
    let distrust = if by_findings { Vec::new() } else { page::distrust(&found) };
    let named = runs.named().into_iter().zip(of_runs).collect();
    let differences = comparison.map(report::compare::refusal).unwrap_or_default();
    let baseline = baseline.map(RunSet::named).unwrap_or_default();
    GateDocument::new(named, baseline, checks, distrust).despite(differences)
}

/// The parsed request of a gate.
struct GateQuestion {
    expected: Vec<AssertionText>,
    runs: RunSet,
    baseline: Option<RunSet>,
}

impl GateQuestion {
    /// All that is wrong is told at once, expectations with their places.
    fn read(options: &GateOptions) -> Result<Self, Exit> {
        let expected = ask::expectations(options);
        let run = [options.run.clone()];
        let inputs = [&run[..], &options.baseline].concat();
        let outputs: Vec<_> = options.output.iter().chain(&options.junit).cloned().collect();
        let mut problems = overwritten(&inputs, &outputs);
        let mut resolved = |words: &[String]| RunSet::resolve(words).map_err(|found| problems.extend(found)).ok();
        let runs = resolved(&run);
        let baseline = (!options.baseline.is_empty()).then(|| resolved(&options.baseline));
        if let (Some(runs), Some(Some(baseline))) = (&runs, &baseline) {
            problems.extend(runs.twice(baseline));
        }
        let of_inputs = diagnostics::errors(&problems.join("\n"));
        match (expected, runs) {
            (Ok(expected), Some(runs)) if of_inputs.is_empty() => {
                Ok(Self { expected, runs, baseline: baseline.flatten() })
            }
            (expected, _) => Err(Refusal::Jobs([expected.err().unwrap_or_default(), of_inputs].concat()).report()),
        }
    }
}

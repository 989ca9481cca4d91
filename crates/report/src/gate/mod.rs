//! Assertions checked against a run, as text, Markdown and JUnit XML.

mod junit;
mod text;

use analyse::gate::{Assertion, AssertionSubject, Bound, GateOutcome, JudgedAssertion, UnknownReason};
use analyse::{Severity, Verdict};
use record::Run;
use results::answer::{Answer, Outcome};
use results::compare::NamedRun;
use results::gate::{GateCheck, GateResult};
use units::significant;

pub use junit::junit;
pub(crate) use text::page;
pub use text::{markdown, text};

use crate::compare::{change_words, more_words};
use crate::suite::shown;
use crate::words;

/// Returns the outcome of the assertion `text`. A change within noise passes unless the gate is `strict`.
pub fn check(text: &str, expectation: Assertion, judged: JudgedAssertion, strict: bool) -> GateCheck {
    let passed = match judged.outcome {
        GateOutcome::Passed => true,
        GateOutcome::WithinNoise => !strict,
        GateOutcome::Failed | GateOutcome::Unknown(_) => false,
    };
    let words = outcome_words(&expectation, &judged);
    GateCheck { text: text.trim().to_owned(), expectation, judged, passed, words }
}

/// Formats the measured value.
fn measured(check: &GateCheck) -> String {
    check.judged.measured.map_or_else(|| "?".to_owned(), |value| value_words(&check.expectation, value))
}

/// Formats the bound.
fn bound(check: &GateCheck) -> String {
    check.judged.bound.map_or_else(|| "?".to_owned(), |value| value_words(&check.expectation, value))
}

/// Returns the result of all checks; `differences` between the conditions of the runs and the baseline are tolerated.
#[must_use]
pub fn result(
    runs: Vec<(NamedRun, &Run)>,
    baseline: Vec<NamedRun>,
    differences: Vec<String>,
    checks: Vec<GateCheck>,
    distrust: Vec<String>,
) -> GateResult {
    let answer = answer(&checks, &differences, &distrust);
    let passed = checks.iter().all(|check| check.passed) && distrust.is_empty();
    let hostname = runs.first().map_or_else(String::new, |(_, run)| run.host.hostname.clone());
    let longest = |run: &Run| run.jobs.iter().map(|job| job.result.elapsed_ns()).max().unwrap_or(0);
    let seconds = runs.iter().map(|(_, run)| longest(run)).sum::<u64>() as f64 / 1e9;
    let runs = runs.into_iter().map(|(named, _)| named).collect();
    GateResult {
        schema: GateResult::SCHEMA,
        runs,
        baseline,
        differences,
        hostname,
        seconds,
        checks,
        distrust,
        passed,
        answer,
    }
}

/// Returns the reasons not to trust the figures of runs.
#[must_use]
pub fn distrust(runs: &[(&Run, &[Verdict])]) -> Vec<String> {
    let mut reasons = Vec::new();
    for (run, verdicts) in runs {
        for verdict in *verdicts {
            let Some(job) = run.jobs.get(verdict.job) else { continue };
            let severe = verdict.findings().filter(|finding| finding.severity == Severity::Distrust);
            reasons.extend(severe.map(|finding| format!("{}: {}", job.name, words::finding(finding, job))));
        }
    }
    reasons.dedup();
    reasons
}

fn value_words(expectation: &Assertion, value: f64) -> String {
    match expectation.subject {
        AssertionSubject::Figure(figure) => shown(figure, value, None),
        AssertionSubject::Findings(_) => format!("{value}"),
    }
}

/// Returns `7.7% headroom`, `35.0% off`, or `within noise (change -7.0% ± 9.1%): 120 s more would decide it`.
fn outcome_words(expectation: &Assertion, judged: &JudgedAssertion) -> String {
    let change =
        judged.change.as_ref().map_or_else(String::new, |change| format!(" (change {})", change_words(change)));
    match judged.outcome {
        GateOutcome::Unknown(reason) => unknown_words(reason, expectation),
        GateOutcome::WithinNoise => {
            let more = judged.more.map_or_else(String::new, |more| format!(": {} would decide it", more_words(more)));
            format!("within noise{change}{more}")
        }
        GateOutcome::Passed | GateOutcome::Failed => {
            let failed = judged.outcome == GateOutcome::Failed;
            let margin = judged.margin_percent.map(|margin| {
                let side = if failed || margin < 0.0 { "off" } else { "headroom" };
                format!("{}% {side}", significant(margin.abs(), 3))
            });
            let of_share = matches!(expectation.bound, Bound::OfBaseline(_));
            margin.unwrap_or_default() + if of_share { &change } else { "" }
        }
    }
}

fn unknown_words(reason: UnknownReason, expectation: &Assertion) -> String {
    match (reason, &expectation.job) {
        (UnknownReason::NoSuchJob, Some(job)) => format!("the run has no job `{job}`"),
        (UnknownReason::NoSuchJob, None) => "the run has no results".to_owned(),
        (UnknownReason::NotMeasured, _) => "the run does not have this figure".to_owned(),
        (UnknownReason::NoBaseline, _) => "no baseline is set".to_owned(),
        (UnknownReason::NotInBaseline, _) => "the baseline does not have this figure".to_owned(),
        (UnknownReason::NotTogether, _) => {
            "the run's results may not have run at the same time, so they have no combined rate: select one, as in \
             job(NAME).read.iops"
                .to_owned()
        }
        (UnknownReason::Saturated, _) => {
            "the percentile is in the last bucket of the histogram, which has no upper bound".to_owned()
        }
    }
}

/// Returns how many assertions hold, and which does not.
fn answer(checks: &[GateCheck], differences: &[String], distrust: &[String]) -> Answer {
    let undecided = checks.iter().any(|check| matches!(check.judged.outcome, GateOutcome::Unknown(_)) && !check.passed);
    let outcome = match (checks.iter().all(|check| check.passed), distrust.is_empty()) {
        (true, true) => Outcome::Good,
        (true, false) => Outcome::Unknown,
        (false, _) if undecided => Outcome::Unknown,
        (false, _) => Outcome::Bad,
    };
    let basis = differences.iter().map(|difference| format!("not the same: {difference}")).collect();
    Answer { basis, ..Answer::new(outcome, verdict(checks, distrust)) }
}

/// Returns the result in one sentence.
fn verdict(checks: &[GateCheck], distrust: &[String]) -> String {
    let failed: Vec<&GateCheck> = checks.iter().filter(|check| !check.passed).collect();
    let noise = checks.iter().filter(|check| check.passed && check.judged.outcome == GateOutcome::WithinNoise).count();
    let noise = if noise == 0 { String::new() } else { format!(", {noise} of them within noise") };
    let first = match (checks.len(), &failed[..]) {
        (0, _) => "Cannot tell: nothing is asserted".to_owned(),
        (1, []) => format!("Pass: {} holds{noise}", checks[0].text),
        (all, []) => format!("Pass: all {all} assertions hold{noise}"),
        (1, [one]) => format!("{}: {}: {}", failure(one), one.text, why(one)),
        (all, [one]) => format!("{}: 1 of {all} assertions, {}: {}", failure(one), one.text, why(one)),
        (all, [first, ..]) => {
            let words = failure(failed.iter().find(|check| failure(check) == "Fail").unwrap_or(first));
            format!("{words}: {} of {all} assertions, the first {}: {}", failed.len(), first.text, why(first))
        }
    };
    match distrust {
        [] => first + ".",
        [reason, ..] => {
            let first = first.replacen("Pass: ", "Cannot tell: ", 1);
            format!("{first}, but the figures are unreliable: {reason}")
        }
    }
}

/// Returns whether an assertion failed or could not be decided.
fn failure(check: &GateCheck) -> &'static str {
    if matches!(check.judged.outcome, GateOutcome::Unknown(_)) { "Cannot tell" } else { "Fail" }
}

fn why(check: &GateCheck) -> String {
    match check.judged.outcome {
        GateOutcome::Unknown(_) => check.words.clone(),
        _ if check.words.is_empty() => format!("it is {}", measured(check)),
        _ => format!("it is {}, {}", measured(check), check.words),
    }
}

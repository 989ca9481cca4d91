//! Explains figures by themselves and against a modelled volume.

use record::Run;
use serde::Serialize;

use crate::facts::Facts;
use crate::{Code, Evidence, Expectation, Finding, KnownFigure, Observation, Quantity, rules, verdict};

/// Findings about one job, one device or one claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Which: the name of the job or of the device.
    pub subject: String,
    /// The engine of the job, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// What is known of it, as far as it is.
    pub figures: Vec<Evidence>,
    /// The findings, the more important ones first.
    pub findings: Vec<Finding>,
    /// What the expected volume's figures rest on, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Explains the `index`-th result of a run. `seen` is what is known of it as an observation, `expectation` what its volume
/// can do for its load, where that is known.
///
/// # Panics
///
/// If the run has no such result.
#[must_use]
pub fn explain_job(run: &Run, index: usize, seen: &Observation, expectation: Option<&Expectation<'_>>) -> Explanation {
    let job = &run.jobs[index];
    let mut findings = verdict::of_job(Facts { run, job });
    for finding in rules::observed(seen, expectation) {
        // What the run's own rules have found they have found with more to go by.
        if findings.iter().all(|known| known.code != finding.code || known.subject != finding.subject) {
            findings.push(finding);
        }
    }
    settle(&mut findings);
    let engine = Some(job.declared.engine.clone()).filter(|engine| !engine.is_empty());
    Explanation {
        subject: job.name.clone(),
        engine,
        figures: figures(seen),
        findings: verdict::in_order(findings),
        notes: notes(expectation),
    }
}

/// Explains figures that are not of a run: counters of a device, or a claim.
#[must_use]
pub fn explain_observation(subject: &str, seen: &Observation, expectation: Option<&Expectation<'_>>) -> Explanation {
    let mut findings = rules::observed(seen, expectation);
    findings.extend(rules::of_time(seen));
    // One depth is advised and no other: that for what the volume can do.
    if findings.iter().any(|finding| finding.code == Code::QueueTooShallow) {
        findings.retain(|finding| finding.code != Code::DepthNeeded);
    }
    let findings = verdict::in_order(findings);
    Explanation {
        subject: subject.to_owned(),
        engine: None,
        figures: figures(seen),
        findings,
        notes: notes(expectation),
    }
}

fn notes(expectation: Option<&Expectation<'_>>) -> Vec<String> {
    expectation.map_or_else(Vec::new, |expectation| expectation.notes.clone())
}

/// Explains jobs that ran at the same time on one volume: it carries all of them together, and none by itself. Their own
/// explanations are not asked again what this one answers.
#[must_use]
pub fn explain_together(
    subject: &str,
    seen: &Observation,
    expectation: &Expectation<'_>,
    jobs: &mut [Explanation],
) -> Explanation {
    let findings = verdict::in_order(rules::against(seen, expectation));
    if findings.iter().any(answers) {
        jobs.iter_mut().for_each(|job| job.findings.retain(|finding| !asks(finding)));
    }
    let notes = expectation.notes.clone();
    Explanation { subject: subject.to_owned(), engine: None, figures: figures(seen), findings, notes }
}

/// One run alone cannot tell the limit of the device from that of the depth. Where a volume is known it can, and the
/// question is not asked again.
fn settle(findings: &mut Vec<Finding>) {
    let has = |code: Code| findings.iter().any(|finding| finding.code == code);
    // The page cache is why reads were fast: blocks that were never written do not explain it.
    let cached = has(Code::PageCacheMeasured);
    if findings.iter().any(answers) {
        findings.retain(|finding| !asks(finding));
    }
    // A device that gives all it can has no time to spare, however the queue came to be.
    if findings.iter().any(is_cap) {
        findings.retain(|finding| finding.code != Code::QueueNotFilled);
    }
    // What waited at submission was in flight by the engine's account alone, with which the figures agree, and why it
    // gave less than the volume is known.
    let waited = findings.iter().any(|finding| finding.value(Quantity::SubmissionShare).is_some());
    findings.retain(|finding| {
        let explained = matches!(finding.code, Code::LittleHolds | Code::BelowExpectation);
        !(cached && finding.code == Code::UnwrittenBlocks || waited && explained)
    });
}

fn is_cap(finding: &Finding) -> bool {
    matches!(
        finding.code,
        Code::VolumeIopsCap | Code::VolumeThroughputCap | Code::MachineCap | Code::EgressCap | Code::StationCap
    )
}

/// Whether it says what the limit was, as only a known volume can.
fn answers(finding: &Finding) -> bool {
    let told = matches!(
        finding.code,
        Code::QueueTooShallow | Code::BurstRunning | Code::AboveExpectation | Code::BelowExpectation
    );
    told || is_cap(finding)
}

/// Whether it leaves open what the limit was.
fn asks(finding: &Finding) -> bool {
    matches!(finding.code, Code::QueueFull | Code::DeviceFlat | Code::LatencyBound | Code::ModelNotReached)
}

/// The figures that people compare.
fn figures(seen: &Observation) -> Vec<Evidence> {
    let known = [
        (Quantity::Iops, seen.iops),
        (Quantity::BytesPerSecondTold, seen.bytes_per_second),
        (Quantity::LatencyMean, seen.latency_ns),
        (Quantity::InFlightAchieved, seen.in_flight()),
        (Quantity::InFlightPossible, seen.depth),
        (Quantity::BusyShare, seen.busy),
    ];
    let evidence = |(quantity, known): (Quantity, Option<KnownFigure>)| {
        let known = known?;
        Some(Evidence { quantity, value: known.value(), unit: quantity.unit(), source: known.source })
    };
    known.into_iter().filter_map(evidence).collect()
}

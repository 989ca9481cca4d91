//! Everything that can be said of figures, by themselves and against the volume they are expected of.

use record::Run;
use serde::Serialize;

use crate::facts::Facts;
use crate::{Code, Evidence, Expectation, Finding, Known, Observation, Quantity, rules, verdict};

/// What was found about one job, one device or one claim.
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
    Explanation { subject: job.name.clone(), engine, figures: figures(seen), findings: verdict::in_order(findings) }
}

/// Explains figures that are not of a run: counters of a device, or a claim.
#[must_use]
pub fn explain_observation(subject: &str, seen: &Observation, expectation: Option<&Expectation<'_>>) -> Explanation {
    let findings = verdict::in_order(rules::observed(seen, expectation));
    Explanation { subject: subject.to_owned(), engine: None, figures: figures(seen), findings }
}

/// One run alone cannot tell the limit of the device from that of the depth. Where a volume is known it can, and the
/// question is not asked again.
fn settle(findings: &mut Vec<Finding>) {
    let answers = |finding: &Finding| {
        matches!(
            finding.code,
            Code::VolumeIopsCap
                | Code::VolumeThroughputCap
                | Code::MachineCap
                | Code::EgressCap
                | Code::StationCap
                | Code::QueueTooShallow
                | Code::BurstRunning
                | Code::AboveExpectation
                | Code::BelowExpectation
        )
    };
    if findings.iter().any(answers) {
        findings.retain(|finding| !matches!(finding.code, Code::QueueFull | Code::DeviceFlat | Code::LatencyBound));
    }
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
    let evidence = |(quantity, known): (Quantity, Option<Known>)| {
        let known = known?;
        Some(Evidence { quantity, value: known.value(), unit: quantity.unit(), source: known.source })
    };
    known.into_iter().filter_map(evidence).collect()
}

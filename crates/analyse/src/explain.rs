//! Explanations of figures, by themselves and relative to a modelled volume.

use record::Run;
use schemars::JsonSchema;
use serde::Serialize;

use crate::facts::Facts;
use crate::{
    ActiveIntervals, Code, Evidence, Expectation, ExpectedPoint, Finding, KnownFigure, Observation, Quantity, Remedy,
    Severity, rules, verdict,
};

/// Findings about one job, one device or one claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Name of the job or device.
    pub subject: String,
    /// Engine of the job, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Whether the job verifies.
    #[serde(skip)]
    pub verifies: bool,
    /// Whether a steady state ended the job.
    #[serde(skip)]
    pub ended_steady: bool,
    /// Whether the size of the requests is known.
    #[serde(skip)]
    pub is_sized: bool,
    /// Known figures.
    pub figures: Vec<Evidence>,
    /// Intervals with requests, of which the figures are, if there are others too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<ActiveIntervals>,
    /// Findings, most important first.
    pub findings: Vec<Finding>,
    /// Whether only figures are given, of a device beside the one that is explained.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_figures: bool,
    /// Assumptions behind the figures of the expected volume, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Change of the volume that lifts its limit, if one is sold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<VolumeChange>,
}

/// A change of a volume in place, for the requests that are in flight now.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VolumeChange {
    /// The changed volume, as a name of the catalogue.
    pub volume: String,
    /// New size in bytes, if it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// New number of provisioned IOPS, if it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<u64>,
    /// New provisioned throughput, if it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<u64>,
    /// Price of a month in addition to the present one, if both are published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceDifference>,
    /// Simulated performance with as many requests in flight as now.
    pub then: ExpectedPoint,
}

/// What a change adds to the price of a month.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PriceDifference {
    /// Currency code: `USD`.
    pub currency: String,
    pub per_month: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
}

/// Explains the `index`-th result of a run. `seen` is the result as an observation, `expectation` what a volume can
/// sustain for its load.
///
/// # Panics
///
/// If the run has no such result.
#[must_use]
pub fn explain_job(run: &Run, index: usize, seen: &Observation, expectation: Option<&Expectation<'_>>) -> Explanation {
    let writes = run.jobs[index].without_verification();
    let job = writes.as_ref().unwrap_or(&run.jobs[index]);
    let mut findings = verdict::of_job(Facts { run, job });
    for finding in rules::observed(seen, expectation) {
        // The run's own rules know more about it, and a run has had its depth.
        if finding.code != Code::DepthNeeded
            && findings.iter().all(|known| known.code != finding.code || known.subject != finding.subject)
        {
            findings.push(finding);
        }
    }
    remove_superseded(&mut findings);
    if run.is_of_other_program() {
        verdict::name_no_options(&mut findings);
    }
    let engine = Some(job.declared.engine.clone()).filter(|engine| !engine.is_empty());
    Explanation {
        engine,
        verifies: job.declared.verify,
        ended_steady: job.steady.as_ref().is_some_and(|steady| steady.is_attained),
        ..explanation(&job.name, seen, findings, expectation)
    }
}

fn explanation(
    subject: &str,
    seen: &Observation,
    findings: Vec<Finding>,
    expectation: Option<&Expectation<'_>>,
) -> Explanation {
    let notes = expectation.map_or_else(Vec::new, |expectation| expectation.notes.clone());
    let mut findings = verdict::in_order(findings);
    if seen.latency_ns.is_some_and(|latency| latency.value() >= STALLED_NS) {
        remove_depth_advice(&mut findings);
    }
    Explanation {
        subject: subject.to_owned(),
        engine: None,
        verifies: false,
        ended_steady: false,
        is_sized: seen.mean_bytes().is_some(),
        figures: figures(seen),
        active: seen.active,
        findings,
        only_figures: false,
        notes,
        change: None,
    }
}

/// Mean latency in nanoseconds from which operations stall: more of them in flight do not help.
const STALLED_NS: f64 = 1e9;

fn remove_depth_advice(findings: &mut Vec<Finding>) {
    findings.retain(|finding| !matches!(finding.code, Code::DepthNeeded | Code::QueueTooShallow));
    for finding in findings {
        let is_of_depth = matches!(
            finding.remedy,
            Some(
                Remedy::QueueingEngine { .. }
                    | Remedy::RaiseDepth { .. }
                    | Remedy::CompareDepth { .. }
                    | Remedy::CompareWorkers { .. }
                    | Remedy::MoreInFlight { .. }
                    | Remedy::AddWorkers { .. }
            )
        );
        if is_of_depth {
            (finding.remedy, finding.counterfactual) = (None, None);
        }
    }
}

/// Explains figures that do not belong to a run: device counters or a claim.
#[must_use]
pub fn explain_observation(subject: &str, seen: &Observation, expectation: Option<&Expectation<'_>>) -> Explanation {
    let mut findings = rules::observed(seen, expectation);
    findings.extend(rules::of_time(seen));
    /// Fraction of the depth from which a contradiction leaves nothing to compare with a volume.
    const FAR: f64 = 0.2;
    let is_contradiction = |finding: &Finding| {
        finding.code == Code::LittleContradicted
            && (finding.severity == Severity::Distrust
                || finding.value(Quantity::Apart).is_some_and(|apart| apart.abs() > FAR))
    };
    // A cap that explains the rate is no drive, and figures that contradict each other blame no host.
    let (is_explained, is_contradicted) = (findings.iter().any(is_cap), findings.iter().any(is_contradiction));
    findings.retain(|finding| {
        let of_both = matches!(finding.code, Code::BelowExpectation | Code::BeyondKnee);
        !(is_explained && finding.code == Code::MechanicalDisk || is_contradicted && of_both)
    });
    if is_contradicted {
        remove_depth_advice(&mut findings);
    }
    // Only one depth is advised: the one for what the volume can do.
    if findings.iter().any(names_limit) {
        findings.retain(|finding| finding.code != Code::DepthNeeded);
    }
    explanation(subject, seen, findings, expectation)
}

/// Returns figures without an explanation.
#[must_use]
pub fn explain_figures(subject: &str, seen: &Observation) -> Explanation {
    Explanation { only_figures: true, ..explanation(subject, seen, Vec::new(), None) }
}

/// Explains jobs that ran at the same time on one volume, whose limits apply to all of them together. Removes from
/// their own explanations the questions that this one answers.
#[must_use]
pub fn explain_together(
    subject: &str,
    seen: &Observation,
    expectation: &Expectation<'_>,
    jobs: &mut [Explanation],
) -> Explanation {
    let findings = rules::against(seen, expectation);
    if findings.iter().any(names_limit) {
        jobs.iter_mut().for_each(|job| job.findings.retain(|finding| !leaves_limit_open(finding)));
    }
    explanation(subject, seen, findings, Some(expectation))
}

/// Removes findings that others supersede. A run alone cannot distinguish the limit of the device from that of the
/// depth; with a known volume it can.
fn remove_superseded(findings: &mut Vec<Finding>) {
    let has = |code: Code| findings.iter().any(|finding| finding.code == code);
    // The page cache explains fast reads; unwritten blocks do not have to.
    let cached = has(Code::PageCacheMeasured);
    if findings.iter().any(names_limit) {
        findings.retain(|finding| !leaves_limit_open(finding));
    }
    // A device at its cap has no time to spare, whatever the queue.
    if findings.iter().any(is_cap) {
        findings.retain(|finding| finding.code != Code::QueueNotFilled);
    }
    // Operations that waited at submission were in flight by the engine's count only. The figures agree with that, and
    // it explains why the volume gave less.
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

/// Reports whether a finding names the limit, which takes a known volume.
fn names_limit(finding: &Finding) -> bool {
    is_cap(finding)
        || matches!(
            finding.code,
            Code::QueueTooShallow | Code::BurstRunning | Code::AboveExpectation | Code::BelowExpectation
        )
}

/// Reports whether a finding leaves the limit open.
fn leaves_limit_open(finding: &Finding) -> bool {
    matches!(finding.code, Code::QueueFull | Code::DeviceFlat | Code::LatencyBound | Code::ModelNotReached)
}

/// Returns the figures that users compare.
fn figures(seen: &Observation) -> Vec<Evidence> {
    let known = [
        (Quantity::Iops, seen.iops),
        (Quantity::BytesPerSecondTold, seen.bytes_per_second),
        (Quantity::LatencyMean, seen.latency_ns),
        (Quantity::InFlightAchieved, seen.in_flight.or_else(|| seen.implied_in_flight())),
        (Quantity::InFlightPossible, seen.depth),
        (Quantity::SyncsInFlight, seen.syncs_in_flight),
        (Quantity::BusyShare, seen.busy),
        (Quantity::SyncMean, seen.sync_mean_ns),
        (Quantity::SyncP99, seen.sync_p99_ns),
    ];
    let evidence = |(quantity, known): (Quantity, Option<KnownFigure>)| {
        known.map(|known| Evidence { quantity, value: known.value(), unit: quantity.unit(), source: known.source })
    };
    known.into_iter().filter_map(evidence).collect()
}

//! The findings about a run, in order of importance.

use record::{JobResult, Run};
use schemars::JsonSchema;
use serde::Serialize;

use crate::facts::Facts;
use crate::{Code, Finding, Quantity, Remedy, Severity, rules};

/// Findings about one result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    /// Index of the job in the run.
    pub job: usize,
    /// Most important finding.
    pub headline: Finding,
    /// Other findings, most important first.
    pub others: Vec<Finding>,
}

impl Verdict {
    /// Iterates over all findings, most important first.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(&self.headline).chain(&self.others)
    }

    /// Reports whether the numbers do not mean what they seem to.
    #[must_use]
    pub fn distrusted(&self) -> bool {
        self.headline.severity == Severity::Distrust
    }
}

/// Reports whether any result should not be trusted: exit code 4.
#[must_use]
pub fn distrusted(verdicts: &[Verdict]) -> bool {
    verdicts.iter().any(Verdict::distrusted)
}

/// Returns a verdict on each result of a run, in order.
#[must_use]
pub fn analyse(run: &Run) -> Vec<Verdict> {
    let of_job = |(index, job): (usize, &JobResult)| {
        let writes = job.without_verification();
        verdict(index, Facts { run, job: writes.as_ref().unwrap_or(job) })
    };
    run.jobs.iter().enumerate().map(of_job).collect()
}

fn verdict(job: usize, facts: Facts<'_>) -> Verdict {
    let mut findings = in_order(of_job(facts));
    if facts.run.is_of_other_program() {
        name_no_options(&mut findings);
    }
    let headline = findings.remove(0);
    Verdict { job, headline, others: findings }
}

/// Removes remedies that are options of jobs: other programs have options of their own.
pub(crate) fn name_no_options(findings: &mut [Finding]) {
    let is_option = |remedy: &Remedy| {
        matches!(
            remedy,
            Remedy::QueueingEngine { .. }
                | Remedy::RaiseDepth { .. }
                | Remedy::CompareDepth { .. }
                | Remedy::CompareWorkers { .. }
                | Remedy::AddWorkers { .. }
                | Remedy::LowerDepth { .. }
                | Remedy::FewerWorkers { .. }
        )
    };
    findings.iter_mut().filter(|one| one.remedy.as_ref().is_some_and(is_option)).for_each(|one| one.remedy = None);
}

/// Returns the findings about one result, at least one.
pub(crate) fn of_job(facts: Facts<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = rules::ALL.iter().filter_map(|rule| rule(facts)).collect();
    // A trace varies by itself.
    if facts.job.replay.is_none() {
        findings.extend(rules::of_time(&facts.seen()));
    }
    // A sudden change explains why the end differs from the beginning.
    if findings.iter().any(|finding| finding.code == Code::BurstUsedUp) {
        findings.retain(|finding| finding.code != Code::BurstOrDrift);
    }
    let limit = rules::limit(facts);
    // A queue that is full only by the engine's own count is not full.
    let waited = findings.iter().any(|finding| finding.value(Quantity::SubmissionShare).is_some());
    if !(waited && matches!(limit.code, Code::QueueFull | Code::DeviceFlat)) {
        findings.push(limit);
    }
    // Ranks are recorded over all jobs: the first one names what concerns them.
    if facts.is_first() {
        findings.extend(rules::fleet::findings(facts.run));
        rules::fleet::remove_explained(&mut findings);
    }
    findings
}

/// Sorts findings, most important first.
pub(crate) fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.code));
    findings
}

//! All findings of a run, in order.

use record::Run;
use serde::Serialize;

use crate::facts::Facts;
use crate::{Finding, Severity, rules};

/// What was found about one result of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Which one, as an index into [`Run::jobs`].
    pub job: usize,
    /// The finding that matters most.
    pub headline: Finding,
    /// The others, the more important ones first.
    pub others: Vec<Finding>,
}

impl Verdict {
    /// All findings, the more important ones first.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(&self.headline).chain(&self.others)
    }

    /// Whether the numbers do not mean what they seem to.
    #[must_use]
    pub fn distrusted(&self) -> bool {
        self.headline.severity == Severity::Distrust
    }
}

/// Whether any result should not be trusted: exit code 4.
#[must_use]
pub fn distrusted(verdicts: &[Verdict]) -> bool {
    verdicts.iter().any(Verdict::distrusted)
}

/// A verdict on each result of a run, in their order.
#[must_use]
pub fn analyse(run: &Run) -> Vec<Verdict> {
    run.jobs.iter().enumerate().map(|(index, job)| verdict(index, Facts { run, job })).collect()
}

fn verdict(job: usize, facts: Facts<'_>) -> Verdict {
    let mut findings = in_order(of_job(facts));
    let headline = findings.remove(0);
    Verdict { job, headline, others: findings }
}

/// All that is found about one result, at least what limited it.
pub(crate) fn of_job(facts: Facts<'_>) -> Vec<Finding> {
    rules::ALL.iter().filter_map(|rule| rule(facts)).chain([rules::limit(facts)]).collect()
}

/// The more important ones first.
pub(crate) fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.code));
    findings
}

//! Results of each rank as a run of its own, and the totals of reporting groups: what fio's client prints of its servers.

use std::collections::BTreeMap;

use meter::Summary;

use crate::fio::ALL_CLIENTS;
use crate::{JobResult, Measured, RankJob, RankRecord, Run};

impl Run {
    /// Returns the results of each rank as a run of its own, in ascending order; `None` if they are not known for all
    /// ranks, as in older records and with many jobs.
    #[must_use]
    pub fn by_rank(&self) -> Option<Vec<(&RankRecord, Self)>> {
        let members = &self.fleet.as_ref()?.members;
        let has_jobs = |member: &&RankRecord| !member.jobs.is_empty();
        let is_known = members.iter().all(|member| has_jobs(&member) || member.workers == 0);
        if !is_known || !members.iter().any(|member| has_jobs(&member)) {
            return None;
        }
        let of_rank = |member| (member, Self { jobs: self.jobs_of(member), ..Self::default() });
        Some(members.iter().map(of_rank).collect())
    }

    /// Returns the results of a rank, with the settings of the merged jobs.
    fn jobs_of(&self, member: &RankRecord) -> Vec<JobResult> {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let of_rank = |job: &RankJob, merged: &JobResult| JobResult {
            name: job.name.clone(),
            description: merged.description.clone(),
            group: merged.group,
            number: merged.number,
            error: job.error,
            elapsed_s: job.elapsed_s,
            started_unix_ms: job.started_unix_ms,
            workers: job.result.workers,
            echo: job.echo.clone(),
            declared: merged.declared.clone(),
            result: job.result.clone(),
            ..JobResult::default()
        };
        let jobs = member.jobs.iter().filter_map(|job| {
            let skipped = seen.entry(&job.name).or_default();
            let merged = self.jobs.iter().filter(|merged| merged.name == job.name).nth(*skipped);
            *skipped += 1;
            merged.map(|merged| of_rank(job, merged))
        });
        jobs.collect()
    }

    /// Returns the total of each reporting group as one result, by the name of fio's total of its clients.
    #[must_use]
    pub fn group_sums(&self) -> Vec<JobResult> {
        self.groups().into_iter().map(|group| self.group_sum(group)).collect()
    }

    fn group_sum(&self, group: u32) -> JobResult {
        let mut all = Summary::default();
        self.in_group(group).for_each(|job| all.merge(&Summary::from(&job.result)));
        let jobs = || self.in_group(group);
        JobResult {
            name: ALL_CLIENTS.to_owned(),
            group,
            error: jobs().map(|job| job.error).find(|error| *error != 0).unwrap_or(0),
            eta_s: jobs().map(|job| job.eta_s).max().unwrap_or(0),
            elapsed_s: jobs().map(|job| job.elapsed_s).max().unwrap_or(0),
            started_unix_ms: jobs().map(|job| job.started_unix_ms).min().unwrap_or(0),
            workers: jobs().map(|job| job.workers).sum(),
            declared: jobs().next().map(|job| job.declared.clone()).unwrap_or_default(),
            result: Measured::from(&all),
            ..JobResult::default()
        }
    }
}

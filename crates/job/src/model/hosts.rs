//! Simulated hosts of a plan.

use std::ops::Range;

use super::{Plan, RankTable, SplitKind};

/// Simulated hosts that run a plan together. Host number k stands for rank k of `fathom-fleet`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanHosts {
    /// Number of hosts, from 1 to [`PlanHosts::MAX`].
    pub count: u32,
    /// What is divided among the hosts that run a job, if anything is.
    pub split: Option<SplitKind>,
    /// Number of jobs of each host, if their jobs differ: those of each host follow those of the previous one in
    /// [`Plan::jobs`]. Empty if the hosts share all jobs, each of which may still be for
    /// some of them only ([`super::JobRanks`]).
    pub own_jobs: Vec<usize>,
}

impl PlanHosts {
    /// Maximum number of hosts.
    pub const MAX: u32 = 10_000;

    /// Returns the name of a host: `host0`, `host1` and so on.
    #[must_use]
    pub fn name(host: u32) -> String {
        format!("host{host}")
    }

    #[must_use]
    pub fn ranks(&self) -> RankTable {
        RankTable::simulated((0..self.count).map(Self::name).collect(), self.split)
    }
}

impl Plan {
    /// Returns the indices of the jobs of each host, from which its rank selects: all of them, unless hosts have jobs of
    /// their own. A plan without hosts has one.
    #[must_use]
    pub fn jobs_by_host(&self) -> Vec<Range<usize>> {
        match &self.hosts {
            None => std::iter::once(0..self.jobs.len()).collect(),
            Some(hosts) if hosts.own_jobs.is_empty() => vec![0..self.jobs.len(); hosts.count as usize],
            Some(hosts) => {
                let mut first = 0;
                let own = hosts.own_jobs.iter().map(|jobs| {
                    first += jobs;
                    first - jobs..first
                });
                own.collect()
            }
        }
    }

    /// Returns a plan of some of the jobs, for one host.
    #[must_use]
    pub fn part(&self, jobs: Range<usize>) -> Self {
        Self { jobs: self.jobs[jobs].to_vec(), globals: self.globals.clone(), ..Self::default() }
    }
}

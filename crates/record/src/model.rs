//! Results specific to modelled volumes.

use serde::{Deserialize, Serialize};

use crate::JobResult;

/// The modelled part of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// Whether time was virtual; otherwise the models ran in real time.
    pub virtual_time: bool,
    /// Elapsed time of the models in nanoseconds.
    pub elapsed_ns: u64,
    /// Volumes, each once.
    pub volumes: Vec<ModelledVolume>,
    /// Limits and queues in the order in which requests pass them.
    pub stages: Vec<ModelStage>,
    /// Page caches of machines with jobs that were not `direct=1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub page_caches: Vec<ModelPageCache>,
}

impl ModelRecord {
    /// Iterates over the stages before the volumes that a job used; over all stages in older records, which do not say.
    pub fn stages_of<'a>(&'a self, job: &JobResult) -> impl Iterator<Item = &'a ModelStage> + Clone + use<'a> {
        let workers = job.number..job.number + job.workers.max(1);
        let used: Vec<bool> = self
            .volumes
            .iter()
            .map(|volume| volume.workers.is_empty() || volume.workers.iter().any(|worker| workers.contains(worker)))
            .collect();
        let concerns = move |stage: &&ModelStage| {
            let mut volumes = stage.volumes.iter();
            let passes = stage.workers.is_empty() || stage.workers.iter().any(|worker| workers.contains(worker));
            passes && (stage.volumes.is_empty() || volumes.any(|&volume| used.get(volume).copied().unwrap_or(true)))
        };
        self.stages.iter().filter(concerns)
    }

    /// Returns the mean wait of a job's requests at each stage, longest first, and the rest of the service time, spent
    /// at the volume. The rest is `None` if a page cache answered requests, or without service times.
    #[must_use]
    pub fn waits_of<'a>(&'a self, job: &JobResult) -> (Vec<StageWait<'a>>, Option<f64>) {
        let passed = self.stages_of(job).filter(|stage| stage.requests > 0);
        let alternatives = passed.clone();
        let wait = |stage: &'a ModelStage| {
            // Each request passes the stage of its own host.
            let is_other = |other: &&ModelStage| {
                !std::ptr::eq(*other, stage)
                    && other.name == stage.name
                    && other.kind == stage.kind
                    && other.volumes == stage.volumes
                    && !other.workers.is_empty()
            };
            let others = alternatives.clone().filter(|_| !stage.workers.is_empty()).filter(is_other);
            let requests = others.fold(stage.requests, |sum, other| sum.saturating_add(other.requests));
            StageWait { stage, mean_ns: stage.delay_ns as f64 / requests as f64 }
        };
        let mut waits: Vec<StageWait<'a>> = passed.map(wait).collect();
        waits.sort_by(|a, b| b.mean_ns.total_cmp(&a.mean_ns));
        let waited: f64 = waits.iter().map(|wait| wait.mean_ns).sum();
        let service = job.result.service_mean_ns().filter(|_| self.page_caches.is_empty());
        (waits, service.map(|service| (service - waited).max(0.0)))
    }
}

/// Wait of requests at one stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageWait<'a> {
    pub stage: &'a ModelStage,
    /// Mean wait of all requests that passed the stage, in nanoseconds; of all requests of the job, if hosts that run
    /// different jobs each have such a stage.
    pub mean_ns: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelledVolume {
    /// Path that the jobs use; `None` for the volume that carries their files.
    pub path: Option<String>,
    /// Name by which it can be selected again.
    pub name: String,
    /// Name in the provider's terms.
    pub title: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Limitations of the model that users should know.
    pub notes: Vec<String>,
    /// Numbers of the workers that used it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<u32>,
}

/// Activity of a machine's page cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelPageCache {
    /// Name of the machine.
    pub host: String,
    /// Memory of the machine in bytes.
    pub memory_bytes: u64,
    /// Reads through the cache.
    pub reads: u64,
    /// Reads that did not wait for a volume.
    pub read_hits: u64,
    /// Bytes that jobs read from the cache.
    pub read_bytes: u64,
    /// Bytes that the cache read from volumes.
    pub fetched_bytes: u64,
    /// Writes through the cache.
    pub writes: u64,
    /// Writes that were throttled because too much was dirty.
    pub writes_held: u64,
    /// Total time of that throttling in nanoseconds.
    pub held_ns: u64,
    /// Bytes that jobs wrote to the cache.
    pub written_bytes: u64,
    /// Bytes that the cache wrote to volumes.
    pub written_back_bytes: u64,
    /// Bytes still dirty at the end.
    pub unwritten_bytes: u64,
}

/// A limit or queue that requests pass, and its effect on them while the jobs behind it were measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelStage {
    /// Name, such as `volume IOPS` or `vCPUs`.
    pub name: String,
    /// Name of the volume or machine that it belongs to.
    pub owner: String,
    /// Volumes behind the stage, as indices into [`ModelRecord::volumes`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<usize>,
    /// Hosts behind the stage in a simulation of many hosts; `None` in other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<StageHosts>,
    /// Numbers of the workers whose requests pass it; empty for those of its volumes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<u32>,
    pub kind: ModelStageKind,
    /// Rule that the stage follows.
    pub rule: String,
    /// Requests that passed the stage.
    pub requests: u64,
    /// Requests that the stage delayed.
    pub delayed: u64,
    /// Requests whose start the stage determined, because no other stage delayed them longer.
    pub decided: u64,
    /// Total delay beyond that of previous stages, in nanoseconds.
    pub delay_ns: u64,
    /// Time in which at least one request waited for admission by this limit, in nanoseconds; zero for stations and in
    /// older records.
    #[serde(default, skip_serializing_if = "is_zero_time")]
    pub throttled_ns: u64,
    /// Used fraction of its capacity, from 0 to 1; more than 1 while burst credits are spent.
    pub utilisation: f64,
    /// Burst credits, if any.
    pub credits: Option<ModelCredits>,
    /// Effect of its jitter on operations; `None` without jitter, and where operations waited for each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early: Option<ModelEarly>,
    /// Merging of sequential operations; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merging: Option<ModelMerging>,
    /// Remaining credits over time: nanoseconds from the start, and credits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<(u64, f64)>,
}

/// Hosts behind a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageHosts {
    /// Number of hosts whose requests pass it.
    pub hosts: u32,
    /// Number of equal stages in this record: more than one if each host, or each volume, has its own. Counts are then
    /// sums over all of them; utilisation, credits and levels are means, and waits and times those of the worst.
    pub stages: u32,
    /// Number of hosts of the run, if some of them have no part in the stage; zero otherwise.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hosts_of_run: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero_time(ns: &u64) -> bool {
    *ns == 0
}

impl ModelStage {
    /// Returns its name, with the hosts that share it or have one each.
    #[must_use]
    pub fn label(&self) -> String {
        match self.hosts {
            Some(StageHosts { hosts, stages: 1, .. }) if hosts > 1 => {
                format!("{} shared by {hosts} hosts", self.name)
            }
            Some(StageHosts { hosts, stages, hosts_of_run: 0 }) if hosts == stages && hosts > 1 => {
                format!("{} of each host", self.name)
            }
            Some(StageHosts { hosts, stages, .. }) if hosts == stages && hosts > 1 => {
                format!("{} of each of {hosts} hosts", self.name)
            }
            Some(StageHosts { stages: 1, hosts_of_run: 1.., .. }) => format!("{} of {}", self.name, self.owner),
            Some(StageHosts { stages, .. }) if stages > 1 => format!("{} ({stages} of them)", self.name),
            _ => self.name.clone(),
        }
    }
}

/// Sequential operations at a limit that merges them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelMerging {
    /// Operations that were merged with the previous ones.
    pub merged: u64,
    /// Operations that were counted separately because they were too small.
    pub unmerged: u64,
}

/// The effect of a limit's jitter on operations. Waits are at this limit alone; those without jitter are for the same
/// arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelEarly {
    /// Time by which the limit admits operations ahead of an even schedule, in nanoseconds.
    pub jitter_ns: u64,
    /// Basis of that figure: `assumed`, `given` or `stated`.
    pub basis: String,
    /// Operations admitted ahead of the schedule.
    pub requests: u64,
    /// 99th percentile of the wait over all operations, in nanoseconds.
    pub p99_wait_ns: u64,
    /// 99th percentile of the wait without jitter, in nanoseconds.
    pub p99_wait_without_ns: u64,
}

/// Burst credits of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelCredits {
    /// Whether credits count bytes instead of operations.
    pub bytes: bool,
    /// Capacity of the bucket.
    pub most: f64,
    /// Remaining credits at the end; negative after an operation larger than that.
    pub left: f64,
    /// Mean credits spent per second beyond those earned.
    pub spent_per_sec: f64,
    /// Time from the start when the bucket was first too empty for an operation, in nanoseconds; `None` if it never
    /// was.
    pub empty_at_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelStageKind {
    /// A rate limit.
    #[default]
    Limit,
    /// Servers with a queue.
    Station,
}

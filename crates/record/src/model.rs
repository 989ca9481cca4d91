//! Results that only modelled volumes have.

use serde::{Deserialize, Serialize};

use crate::JobResult;

/// The modelled side of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// Whether time was virtual; otherwise the models answered at their own pace.
    pub virtual_time: bool,
    /// How much of it passed, in nanoseconds.
    pub elapsed_ns: u64,
    /// The volumes, each once.
    pub volumes: Vec<ModelledVolume>,
    /// What held requests back, in the order in which they met it.
    pub stages: Vec<ModelStage>,
    /// The page caches of machines on which jobs were not `direct=1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub page_caches: Vec<ModelPageCache>,
}

impl ModelRecord {
    /// The stages before the volumes that a job used. Records of old do not say, and mean all of them.
    pub fn stages_of<'a>(&'a self, job: &JobResult) -> impl Iterator<Item = &'a ModelStage> + Clone + use<'a> {
        let workers = job.number..job.number + job.workers.max(1);
        let used: Vec<bool> = self
            .volumes
            .iter()
            .map(|volume| volume.workers.is_empty() || volume.workers.iter().any(|worker| workers.contains(worker)))
            .collect();
        let concerns = move |stage: &&ModelStage| {
            let mut volumes = stage.volumes.iter();
            stage.volumes.is_empty() || volumes.any(|&volume| used.get(volume).copied().unwrap_or(true))
        };
        self.stages.iter().filter(concerns)
    }

    /// How long a job's requests waited at each stage on average, the longest first, then what the volume itself took.
    /// That remainder of the service time is `None` where a page cache answered in the volume's place, or nothing was
    /// kept of the service time.
    #[must_use]
    pub fn waits_of<'a>(&'a self, job: &JobResult) -> (Vec<StageWait<'a>>, Option<f64>) {
        let passed = self.stages_of(job).filter(|stage| stage.requests > 0);
        let wait = |stage: &'a ModelStage| StageWait { stage, mean_ns: stage.delay_ns as f64 / stage.requests as f64 };
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
    /// Where.
    pub stage: &'a ModelStage,
    /// On average over all that passed it, in nanoseconds.
    pub mean_ns: f64,
}

/// One modelled volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelledVolume {
    /// The path by which the jobs know it; `None` for the volume that carries their files.
    pub path: Option<String>,
    /// As it can be asked for again.
    pub name: String,
    /// In the provider's words.
    pub title: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Limits of the model that users should know.
    pub notes: Vec<String>,
    /// The numbers of the workers that used it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<u32>,
}

/// Activity of a machine's page cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelPageCache {
    /// The machine's name.
    pub host: String,
    /// Its memory in bytes.
    pub memory_bytes: u64,
    /// Reads that went through it.
    pub reads: u64,
    /// Those that did not wait for a volume.
    pub read_hits: u64,
    /// Bytes that jobs read from it.
    pub read_bytes: u64,
    /// Bytes that it read from volumes.
    pub fetched_bytes: u64,
    /// Writes that went through it.
    pub writes: u64,
    /// Those that waited because too much was dirty.
    pub writes_held: u64,
    /// How long they waited for that, all together, in nanoseconds.
    pub held_ns: u64,
    /// Bytes that jobs wrote to it.
    pub written_bytes: u64,
    /// Bytes that it wrote to volumes.
    pub written_back_bytes: u64,
    /// Bytes that were still to be written at the end.
    pub unwritten_bytes: u64,
}

/// A limit or a queue on the way of requests, and what it did to them while jobs behind it were measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelStage {
    /// `volume IOPS`, `vCPUs`.
    pub name: String,
    /// Whose it is: a volume's or a machine's name.
    pub owner: String,
    /// The volumes before which it stands, by their places among [`ModelRecord::volumes`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<usize>,
    /// What it is.
    pub kind: ModelStageKind,
    /// The rule it follows.
    pub rule: String,
    /// Requests that passed it.
    pub requests: u64,
    /// Those it held back.
    pub delayed: u64,
    /// Those whose start it set: nothing held them longer.
    pub decided: u64,
    /// How long it held them back beyond what was before it, all together, in nanoseconds.
    pub delay_ns: u64,
    /// How much of its capacity was used in that time, from 0 to 1; more than 1 while a bucket of credits is spent.
    pub utilisation: f64,
    /// Its bucket of credits; `None` where it has none.
    pub credits: Option<ModelCredits>,
    /// What its jitter spared operations; `None` where it has none, and where operations waited for one another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early: Option<ModelEarly>,
    /// What it made of operations that continued others; `None` where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merging: Option<ModelMerging>,
    /// How full that was in the course of time: nanoseconds from the start, and what was left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<(u64, f64)>,
}

/// Sequential operations before a limit that merges them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelMerging {
    /// Those that continued others and were counted with them.
    pub merged: u64,
    /// Those that continued others and were counted each, because they were too small.
    pub unmerged: u64,
}

/// What the jitter of a limit spared operations. Waits are those at this limit alone, and without jitter those of the same
/// arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelEarly {
    /// How far ahead of an even schedule the limit admits operations, in nanoseconds.
    pub jitter_ns: u64,
    /// Where that is from: `assumed`, `given` or `stated`.
    pub basis: String,
    /// Operations that were admitted ahead of the schedule.
    pub requests: u64,
    /// The wait that 99 % of all operations did not exceed, in nanoseconds.
    pub p99_wait_ns: u64,
    /// The same without jitter.
    pub p99_wait_without_ns: u64,
}

/// Burst credits of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelCredits {
    /// Whether they are bytes; otherwise operations.
    pub bytes: bool,
    /// What the bucket holds at most.
    pub most: f64,
    /// What is left at the end; below zero after an operation that was larger than that.
    pub left: f64,
    /// How much more was spent than earned in a second, on average over the run.
    pub spent_per_sec: f64,
    /// When it was first too empty for an operation, in nanoseconds from the start; `None` where it never was.
    pub empty_at_ns: Option<u64>,
}

/// Kinds of stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelStageKind {
    /// A limit: so much a second.
    #[default]
    Limit,
    /// Servers with a queue.
    Station,
}

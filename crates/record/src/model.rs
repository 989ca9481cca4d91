//! Results specific to modelled volumes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{JobResult, PageCacheCounts, ServiceStage};

/// The modelled part of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRecord {
    /// Whether time was virtual; otherwise the models ran in real time.
    pub virtual_time: bool,
    /// Elapsed time of the models in nanoseconds.
    pub elapsed_ns: u64,
    /// Volumes, each once.
    pub volumes: Vec<ModelledVolume>,
    /// Limits and queues in the order in which requests pass them.
    pub stages: Vec<ServiceStage>,
    /// Page caches of machines with jobs that were not `direct=1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub page_caches: Vec<PageCacheCounts>,
}

impl ModelRecord {
    /// Iterates over the stages before the volumes that a job used; over all stages in older records, which do not say.
    pub fn stages_of<'a>(&'a self, job: &JobResult) -> impl Iterator<Item = &'a ServiceStage> + Clone + use<'a> {
        let workers = job.number..job.number + job.workers.max(1);
        let used: Vec<bool> = self
            .volumes
            .iter()
            .map(|volume| volume.workers.is_empty() || volume.workers.iter().any(|worker| workers.contains(worker)))
            .collect();
        let concerns = move |stage: &&ServiceStage| {
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
        let wait = |stage: &'a ServiceStage| {
            // Each request passes the stage of its own host.
            let is_other = |other: &&ServiceStage| {
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
    pub stage: &'a ServiceStage,
    /// Mean wait of all requests that passed the stage, in nanoseconds; of all requests of the job, if hosts that run
    /// different jobs each have such a stage.
    pub mean_ns: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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

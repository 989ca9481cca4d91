//! Results of the search for the knee, one or more curves.

use analyse::knee::search::{End, ProbeResult};
use analyse::knee::{Curve, Fit, Point};
use analyse::{Finding, Severity};
use record::{MissingItems, ShardRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::stored::StoredResult;

/// The result of a sweep.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SweepResult {
    /// Command line, one argument per element.
    pub command_line: Vec<String>,
    /// Seed of all random choices.
    pub seed: u64,
    /// The shard; `None` for all combinations of settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardRecord>,
    /// Curves that no shard has; `None` if there are all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingItems>,
    /// One curve per combination of settings.
    pub sweeps: Vec<Sweep>,
}

/// What a document has beside the curves.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SweepAnswers {
    /// One answer per curve.
    pub answers: Vec<Answer>,
}

/// One curve.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// Names and values of the settings that differ between curves.
    pub settings: Vec<(String, String)>,
    /// Volume, file or device.
    pub target: String,
    /// Workload: `randread 4 KiB`.
    pub load: String,
    /// I/O engine.
    pub engine: String,
    /// Whether the page cache was bypassed.
    pub direct: bool,
    pub virtual_time: bool,
    /// Total duration of all probes in seconds.
    pub spent_s: f64,
    /// Why the search ended; `None` if it was interrupted.
    pub end: Option<End>,
    /// Fitted curve.
    pub fit: Fit,
    /// Limit that throttles operations at the deepest point; `None` if unknown.
    pub limit: Option<String>,
    /// Rate while burst credits last.
    pub burst: Option<SweepBurst>,
    /// Recommended settings.
    pub advice: Option<SweepAdvice>,
    /// Measured points, one per depth.
    pub points: Vec<Point>,
    /// All measurements in chronological order.
    pub probes: Vec<ProbeResult>,
    /// Reasons to distrust the figures.
    pub findings: Vec<Finding>,
}

/// A rate above the sustained one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepBurst {
    /// Operations per second.
    pub iops: f64,
    /// Duration from the start in seconds; `None` if unknown.
    pub seconds: Option<f64>,
}

/// Recommended settings for the knee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepAdvice {
    /// Operations in flight over all jobs.
    pub depth: u32,
    /// Queue depth of each job.
    pub iodepth: u32,
    /// Number of jobs.
    pub numjobs: u32,
    /// fio command line; `None` if several curves need different ones.
    pub fio: Option<String>,
    /// CPU time per operation in nanoseconds, if it was measured.
    pub cpu_per_io_ns: Option<f64>,
    /// Whether the depth is the one that providers ask for, above what the model needs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_provider: bool,
}

impl SweepResult {
    /// Reports whether the figures of a curve cannot be trusted.
    #[must_use]
    pub fn is_distrusted(&self) -> bool {
        let mut findings = self.sweeps.iter().flat_map(|sweep| &sweep.findings);
        findings.any(|finding| finding.severity == Severity::Distrust)
    }
}

impl StoredResult for SweepResult {
    const KEY: &'static str = "fathom_sweep";
}

impl Sweep {
    /// Returns the settings as `name=value`, separated by blanks.
    #[must_use]
    pub fn label(&self) -> String {
        crate::grid::assignments(&self.settings)
    }

    /// Returns the depth of the knee, if there is one.
    #[must_use]
    pub fn knee(&self) -> Option<f64> {
        match &self.fit.curve {
            Curve::Knee(knee) => Some(knee.depth.value),
            _ => None,
        }
    }
}

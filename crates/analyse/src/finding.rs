//! Findings about jobs, and their remedies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Code, Database, Evidence, EvidenceSource, ExpectedPoint, KnownFigure, Quantity};

/// A conclusion about a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Kind of the finding.
    pub code: Code,
    pub severity: Severity,
    /// Part of a modelled volume that the finding concerns; `None` for the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Figures that support the finding.
    pub evidence: Vec<Evidence>,
    /// Change to make; `None` if nothing is wrong or nothing would help.
    pub remedy: Option<Remedy>,
    /// Predicted result of that change, if a model can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterfactual: Option<ExpectedPoint>,
}

impl Finding {
    pub(crate) fn new(code: Code, severity: Severity) -> Self {
        Self { code, severity, subject: None, evidence: Vec::new(), remedy: None, counterfactual: None }
    }

    /// Adds a figure, if it is known.
    pub(crate) fn with(mut self, quantity: Quantity, value: impl Into<Option<f64>>, source: EvidenceSource) -> Self {
        let evidence = |value| Evidence { quantity, value, unit: quantity.unit(), source };
        self.evidence.extend(value.into().map(evidence));
        self
    }

    pub(crate) fn about(mut self, subject: &str) -> Self {
        self.subject = Some(subject.to_owned());
        self
    }

    /// Adds a figure with its own source, if it is known.
    pub(crate) fn with_figure(self, quantity: Quantity, known: impl Into<Option<KnownFigure>>) -> Self {
        match known.into() {
            Some(known) => self.with(quantity, known.value(), known.source),
            None => self,
        }
    }

    pub(crate) fn counterfactual(mut self, point: Option<ExpectedPoint>) -> Self {
        self.counterfactual = point;
        self
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<Option<Remedy>>) -> Self {
        self.remedy = remedy.into();
        self
    }

    /// Returns the value of a figure that supports the finding.
    #[must_use]
    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        self.evidence.iter().find(|evidence| evidence.quantity == quantity).map(|evidence| evidence.value)
    }
}

/// Severity of a finding, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    /// Another setting would give more, or tell more.
    Advice,
    /// The run was not what the user asked for.
    Warning,
    /// The numbers do not mean what they seem to: exit code 4.
    Distrust,
}

/// A recommended change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "action")]
pub enum Remedy {
    /// Use an engine that queues, with this depth for each worker.
    QueueingEngine {
        /// `iodepth`.
        iodepth: u64,
    },
    /// Raise the depth of each worker.
    RaiseDepth {
        /// `iodepth`.
        iodepth: u64,
    },
    /// Run again at this depth for each worker: comparing the runs tells whether the device or the depth was the limit.
    CompareDepth {
        /// `iodepth`.
        iodepth: u64,
    },
    /// Run again with this many workers, whose engine queues nothing: comparing the runs tells whether the device or the
    /// depth was the limit.
    CompareWorkers {
        /// `numjobs`.
        numjobs: u64,
    },
    /// Distribute the load over this many workers.
    AddWorkers {
        /// `numjobs`.
        numjobs: u64,
    },
    /// Report each job separately.
    SeparateResults,
    /// Let all workers run equally long.
    EndTogether,
    /// Bypass the page cache.
    Direct,
    /// Bypass the page cache, unless the job already did.
    DirectUnlessGiven,
    /// Include an `fsync` at the end, or bypass the page cache.
    SyncAtEnd,
    /// Include an `fsync` at the end, unless the job bypassed the page cache.
    SyncAtEndUnlessDirect,
    /// Write the file first.
    WriteFirst,
    RunLonger {
        /// `runtime` in seconds.
        runtime_s: u64,
    },
    /// Exclude the first seconds.
    Ramp {
        /// `ramp_time` in seconds.
        ramp_s: u64,
    },
    /// Lower the depth of each worker.
    LowerDepth {
        /// `iodepth`.
        iodepth: u64,
        /// Operations in flight over all workers then.
        total: u64,
    },
    /// Use this many workers with one operation in flight each.
    FewerWorkers {
        /// `numjobs`.
        numjobs: u64,
    },
    /// Have the application keep fewer requests in flight.
    FewerInFlight {
        /// Number of requests in flight that suffices.
        in_flight: u64,
    },
    /// Use another block size.
    BlockSize {
        /// `bs` in bytes.
        bytes: u64,
    },
    /// Have the kernel send larger requests.
    LargerRequests {
        /// `max_sectors_kb`, in bytes.
        bytes: u64,
    },
    /// Use a larger volume.
    GrowVolume {
        /// Size in bytes.
        bytes: u64,
        /// IOPS to provision then, if the volume has less.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        iops: Option<u64>,
        /// Throughput to provision then, if the volume has less.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes_per_second: Option<u64>,
    },
    /// Provision more IOPS for the volume.
    ProvisionIops { iops: u64 },
    /// Provision more throughput for the volume.
    ProvisionThroughput {
        /// Bytes per second.
        bytes_per_second: u64,
    },
    /// Have the application keep more requests in flight.
    MoreInFlight {
        /// Mean number of requests in flight.
        in_flight: u64,
        /// Whether most of them are reads.
        reads: bool,
        /// Database whose settings determine it, if known.
        #[serde(skip_serializing_if = "Option::is_none")]
        database: Option<Database>,
    },
    /// Examine percentiles.
    Percentiles,
    /// Give the database a disk with faster syncs.
    FasterSyncs,
    /// Check the host's settings.
    Doctor,
    /// Compare the settings and the load of a slow host with those of another.
    CompareHosts,
    /// Distribute the ranks over more hosts.
    MoreHosts,
    /// Use fewer ranks: they reach the same limit.
    FewerRanks { ranks: u64 },
    /// Run again with this many ranks: what each then gets tells whether they share a limit.
    CompareRanks { ranks: u64 },
}

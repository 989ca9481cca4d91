//! The findings.

use serde::{Deserialize, Serialize};

use crate::{Code, Database, Evidence, EvidenceSource, ExpectedPoint, Quantity};

/// One thing that was found about a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What.
    pub code: Code,
    /// How much it matters.
    pub severity: Severity,
    /// The part of a modelled volume it is about; `None` where it is about the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The figures it rests on.
    pub evidence: Vec<Evidence>,
    /// What to change; `None` where nothing is wrong or nothing would help.
    pub remedy: Option<Remedy>,
    /// What would be measured then, where a model can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterfactual: Option<ExpectedPoint>,
}

impl Finding {
    pub(crate) fn new(code: Code, severity: Severity) -> Self {
        Self { code, severity, subject: None, evidence: Vec::new(), remedy: None, counterfactual: None }
    }

    pub(crate) fn with(mut self, quantity: Quantity, value: f64, source: EvidenceSource) -> Self {
        self.evidence.push(Evidence { quantity, value, unit: quantity.unit(), source });
        self
    }

    pub(crate) fn about(mut self, subject: &str) -> Self {
        self.subject = Some(subject.to_owned());
        self
    }

    pub(crate) fn with_known(self, quantity: Quantity, value: Option<f64>, source: EvidenceSource) -> Self {
        match value {
            Some(value) => self.with(quantity, value, source),
            None => self,
        }
    }

    /// A figure, if it is known, with who told it.
    pub(crate) fn with_told(self, quantity: Quantity, told: Option<(f64, EvidenceSource)>) -> Self {
        match told {
            Some((value, source)) => self.with(quantity, value, source),
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

    /// The value of one figure it rests on.
    #[must_use]
    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        self.evidence.iter().find(|evidence| evidence.quantity == quantity).map(|evidence| evidence.value)
    }
}

/// Severity of a finding, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Another setting would tell or give more.
    Advice,
    /// The run was not what was asked for.
    Warning,
    /// The numbers do not mean what they seem to: exit code 4.
    Distrust,
}

/// A recommended change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "action")]
pub enum Remedy {
    /// Use an engine that queues, with this depth for each worker.
    QueueingEngine {
        /// `iodepth`.
        iodepth: u64,
    },
    /// Raise the depth of each worker to this.
    RaiseDepth {
        /// `iodepth`.
        iodepth: u64,
    },
    /// Run again at this depth for each worker: the comparison tells whether the device or the depth was the limit.
    CompareDepth {
        /// `iodepth`.
        iodepth: u64,
    },
    /// Spread the load over this many workers.
    AddWorkers {
        /// `numjobs`.
        numjobs: u64,
    },
    /// Give each job a result of its own.
    SeparateResults,
    /// Bypass the page cache.
    Direct,
    /// The same, where it is unknown whether the job did.
    DirectUnlessGiven,
    /// Count an `fsync` at the end, or bypass the page cache.
    SyncAtEnd,
    /// The same, where it is unknown whether the job bypassed it.
    SyncAtEndUnlessDirect,
    /// Write the file first.
    WriteFirst,
    /// Run for this many seconds.
    RunLonger {
        /// `runtime`.
        runtime_s: u64,
    },
    /// Leave out the first seconds.
    Ramp {
        /// `ramp_time`.
        ramp_s: u64,
    },
    /// Lower the depth of each worker to this.
    LowerDepth {
        /// `iodepth`.
        iodepth: u64,
        /// In flight over all workers then.
        total: u64,
    },
    /// Have this many workers, each with one operation in flight.
    FewerWorkers {
        /// `numjobs`.
        numjobs: u64,
    },
    /// Use blocks of this many bytes.
    BlockSize {
        /// `bs`.
        bytes: u64,
    },
    /// Have the kernel send requests of this many bytes.
    LargerRequests {
        /// `max_sectors_kb`, in bytes.
        bytes: u64,
    },
    /// Take a volume of this many bytes.
    GrowVolume {
        /// Its size.
        bytes: u64,
    },
    /// Have the application keep more requests in flight.
    MoreInFlight {
        /// So many on average.
        in_flight: u64,
        /// Whether most of them are reads.
        reads: bool,
        /// The database whose settings decide it, where it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        database: Option<Database>,
    },
    /// Look at percentiles.
    Percentiles,
    /// Look at the settings of the host.
    Doctor,
}

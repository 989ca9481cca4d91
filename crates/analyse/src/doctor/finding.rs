//! Results of checks: what was found, what is wanted and what to change.

use record::host::{Number, UnreadFact};
use schemars::JsonSchema;
use serde::Serialize;

use super::check::Check;

/// The result of one check of one device, mount or host.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DoctorFinding {
    pub check: Check,
    /// Checked device or mount point; empty for the host.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Variant of the result, which selects its wording.
    pub case: DoctorCase,
    /// Figures found; empty if unknown.
    pub found: Vec<DoctorFigure>,
    /// Verdict for many small operations.
    pub iops: PurposeVerdict,
    /// Verdict for large or sequential operations.
    pub throughput: PurposeVerdict,
    /// Reason why the result is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnreadFact>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PurposeVerdict {
    /// State of the setting.
    pub state: CheckState,
    /// Recommended value.
    pub wanted: Want,
    /// Changes to make, in this order.
    pub changes: Vec<SettingChange>,
}

/// The state of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// As recommended.
    Good,
    /// The host does not expose the setting.
    Unknown,
    /// Another setting would perform better, or equally well at less cost.
    CouldBeBetter,
    /// The setting limits the device.
    Problem,
}

/// What a device is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Many small operations.
    Iops,
    /// Large or sequential operations.
    Throughput,
}

/// A figure with its name; the first figure of a finding is unnamed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DoctorFigure {
    /// Name of one or two words; may be empty.
    pub name: String,
    #[serde(flatten)]
    pub value: DoctorValue,
}

/// A value with its unit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "unit", content = "value")]
pub enum DoctorValue {
    /// A term of the kernel.
    Word(String),
    /// A dimensionless count.
    Count(u64),
    /// A dimensionless number.
    Number(f64),
    /// A size in bytes.
    Bytes(u64),
    Switch(bool),
    /// A fraction.
    Share(f64),
    /// Operations per second.
    PerSecond(u64),
    /// Bytes per second.
    BytesPerSecond(u64),
}

/// A recommended value.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "rule", content = "of")]
pub enum Want {
    Any,
    /// Exactly this value.
    Is(DoctorValue),
    /// One of these terms.
    OneOf(Vec<&'static str>),
    /// This value or more.
    AtLeast(DoctorValue),
    /// This value or less.
    AtMost(DoctorValue),
    MultipleOf(DoctorValue),
}

/// Variants of a check's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DoctorCase {
    /// The default variant.
    Usual,
    /// The device is virtual, so only the provider or hypervisor can change it.
    Virtual,
    /// The device has moving parts.
    Mechanical,
    /// The hardware is the limit.
    Hardware,
    /// The kernel predates multi-queue block devices.
    Legacy,
    /// The kernel manages the setting itself.
    Managed,
    /// The check's other direction, mostly too low instead of too high.
    Low,
    /// The provider's rule of thumb for CPUs applies.
    RuleOfThumb,
    /// The kernel has no such restriction.
    Unrestricted,
    /// A system call filter may still refuse it.
    Filtered,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "action")]
pub enum SettingChange {
    /// Set an attribute of a disk's queue.
    Queue {
        disk: String,
        /// File in `queue`.
        attribute: &'static str,
        value: String,
    },
    /// Set the queue depth of a SCSI device.
    DeviceDepth { disk: String, value: u64 },
    /// Set the readahead.
    ReadAhead {
        device: String,
        /// Readahead in sectors of 512 bytes.
        sectors: u64,
    },
    /// Enable a disk's write cache.
    WriteCache { disk: String },
    /// Assign interrupts to CPUs.
    Interrupts {
        /// Pairs of interrupt and CPU.
        pairs: Vec<(u32, u32)>,
    },
    /// Add a kernel command-line parameter.
    KernelParameter { parameter: String },
    /// Remount with other options.
    Remount {
        /// Mount point.
        at: String,
        /// Options to add.
        options: String,
    },
    /// Trim once, and then periodically.
    Trim {
        /// Mount point.
        at: String,
    },
    /// Set a sysctl.
    Sysctl { key: &'static str, value: u64 },
    /// Remove a limit of a cgroup.
    LiftLimit {
        /// File that sets the limit.
        file: String,
        device: Option<Number>,
        /// Keys in cgroup version 2; empty for a file of version 1.
        keys: Vec<String>,
    },
    /// Make a loop device bypass the page cache.
    LoopDirect { device: String },
    /// Move a partition together with its data.
    MovePartition {
        disk: String,
        partition: u64,
        /// New first sector.
        sector: u64,
    },
    /// Run on the device's NUMA node.
    BindToNode {
        /// NUMA node.
        node: u32,
    },
    /// Set the `performance` governor.
    Governor,
    /// Read swapped memory back.
    SwapOff {
        /// The device or file.
        path: String,
    },
}

impl PurposeVerdict {
    pub(super) fn good() -> Self {
        Self { state: CheckState::Good, wanted: Want::Any, changes: Vec::new() }
    }

    fn add(&mut self, change: SettingChange) {
        if self.state > CheckState::Unknown {
            self.changes.push(change);
        }
    }
}

impl DoctorFinding {
    pub(super) fn new(check: Check, about: &str) -> Self {
        Self {
            check,
            about: about.to_owned(),
            case: DoctorCase::Usual,
            found: Vec::new(),
            iops: PurposeVerdict::good(),
            throughput: PurposeVerdict::good(),
            unknown: None,
        }
    }

    pub(super) fn unknown(check: Check, about: &str, reason: &UnreadFact) -> Self {
        let mut finding = Self::new(check, about).both(CheckState::Unknown, Want::Any);
        finding.unknown = Some(reason.clone());
        finding
    }

    pub(super) fn found(self, value: DoctorValue) -> Self {
        self.and("", value)
    }

    pub(super) fn and(mut self, name: &str, value: DoctorValue) -> Self {
        self.found.push(DoctorFigure { name: name.to_owned(), value });
        self
    }

    pub(super) fn case(mut self, case: DoctorCase) -> Self {
        self.case = case;
        self
    }

    pub(super) fn iops(mut self, state: CheckState, wanted: Want) -> Self {
        (self.iops.state, self.iops.wanted) = (state, wanted);
        self
    }

    pub(super) fn throughput(mut self, state: CheckState, wanted: Want) -> Self {
        (self.throughput.state, self.throughput.wanted) = (state, wanted);
        self
    }

    pub(super) fn both(self, state: CheckState, wanted: Want) -> Self {
        self.iops(state, wanted.clone()).throughput(state, wanted)
    }

    /// Adds a change for those purposes that need one.
    pub(super) fn change(self, change: impl Into<Option<SettingChange>>) -> Self {
        let Some(change) = change.into() else { return self };
        self.change_for_iops(change.clone()).change_for_throughput(change)
    }

    /// Adds a change for small operations, if they need one.
    pub(super) fn change_for_iops(mut self, change: SettingChange) -> Self {
        self.iops.add(change);
        self
    }

    /// Adds a change for large operations, if they need one.
    pub(super) fn change_for_throughput(mut self, change: SettingChange) -> Self {
        self.throughput.add(change);
        self
    }

    #[must_use]
    pub fn side(&self, purpose: Purpose) -> &PurposeVerdict {
        match purpose {
            Purpose::Iops => &self.iops,
            Purpose::Throughput => &self.throughput,
        }
    }

    /// Returns the state for one purpose, or else the worse of both.
    #[must_use]
    pub fn state(&self, purpose: Option<Purpose>) -> CheckState {
        purpose.map_or_else(|| self.iops.state.max(self.throughput.state), |purpose| self.side(purpose).state)
    }
}

pub(super) fn word(text: &str) -> DoctorValue {
    DoctorValue::Word(text.to_owned())
}

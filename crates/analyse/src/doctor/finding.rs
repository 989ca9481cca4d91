//! The result of a check, the wanted setting and the change, as data.

use serde::Serialize;

use super::check::Check;
use super::facts::{Number, UnreadFact};

/// The outcome of one check of one thing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DoctorFinding {
    /// Which check.
    pub check: Check,
    /// The device or the mount that it is about; empty for the host.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// What of several things that the check can say.
    pub case: DoctorCase,
    /// What was found; empty where it is not known.
    pub found: Vec<DoctorFigure>,
    /// For many small operations.
    pub iops: PurposeVerdict,
    /// For large and sequential ones.
    pub throughput: PurposeVerdict,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnreadFact>,
}

/// The verdict for one purpose.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PurposeVerdict {
    /// How good it is.
    pub state: CheckState,
    /// What would be good.
    pub wanted: Want,
    /// What to change, in this order.
    pub changes: Vec<SettingChange>,
}

/// The state of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// As it should be.
    Good,
    /// The host does not tell.
    Unknown,
    /// Another setting would give more, or the same with less.
    CouldBeBetter,
    /// It holds the device back.
    Problem,
}

/// The purpose of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Many small operations.
    Iops,
    /// Large and sequential ones.
    Throughput,
}

/// A figure with its name; the first of a finding has none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DoctorFigure {
    /// What it is, in a word or two; may be empty.
    pub name: String,
    /// Its value.
    #[serde(flatten)]
    pub value: DoctorValue,
}

/// A value with its unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "unit", content = "value")]
pub enum DoctorValue {
    /// A word of the kernel.
    Word(String),
    /// A number of things.
    Count(u64),
    /// A number that need not be whole.
    Number(f64),
    /// A size.
    Bytes(u64),
    /// Yes or no.
    Switch(bool),
    /// A share of one.
    Share(f64),
    /// Operations per second.
    PerSecond(u64),
    /// Bytes per second.
    BytesPerSecond(u64),
}

/// A wanted value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "rule", content = "of")]
pub enum Want {
    /// Whatever it is.
    Any,
    /// This.
    Is(DoctorValue),
    /// One of these words.
    OneOf(Vec<&'static str>),
    /// This or more.
    AtLeast(DoctorValue),
    /// This or less.
    AtMost(DoctorValue),
    /// A multiple of this.
    MultipleOf(DoctorValue),
}

/// Which of several things a check has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DoctorCase {
    /// The usual one.
    Usual,
    /// A provider or hypervisor made the device, and has to change it.
    Virtual,
    /// It has moving parts.
    Mechanical,
    /// The device itself is the limit.
    Hardware,
    /// The kernel is of a time before queues were many.
    Legacy,
    /// The kernel decides by itself.
    Managed,
    /// Too little rather than too much, or the other way round.
    Low,
    /// The provider's rule of thumb for processors applies.
    RuleOfThumb,
    /// The kernel has no such restriction.
    Unrestricted,
    /// A filter of system calls may refuse it all the same.
    Filtered,
}

/// One thing to change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "action")]
pub enum SettingChange {
    /// A setting of a disk's queue.
    Queue {
        /// The disk.
        disk: String,
        /// The file in `queue`.
        attribute: &'static str,
        /// What to write to it.
        value: String,
    },
    /// The depth of a SCSI device.
    DeviceDepth {
        /// The disk.
        disk: String,
        /// What to write to it.
        value: u64,
    },
    /// How far the kernel reads ahead.
    ReadAhead {
        /// The device.
        device: String,
        /// In sectors of 512 bytes.
        sectors: u64,
    },
    /// A disk's own write cache.
    WriteCache {
        /// The disk.
        disk: String,
    },
    /// Interrupts and the processor that each should go to.
    Interrupts {
        /// Pairs of interrupt and processor.
        pairs: Vec<(u32, u32)>,
    },
    /// A parameter of the kernel's command line.
    KernelParameter {
        /// It, with its value.
        parameter: String,
    },
    /// Options of a mount.
    Remount {
        /// Where it is mounted.
        at: String,
        /// The options to add.
        options: String,
    },
    /// Trim once, and from time to time.
    Trim {
        /// Where it is mounted.
        at: String,
    },
    /// A setting of the kernel.
    Sysctl {
        /// Its key.
        key: &'static str,
        /// What to set it to.
        value: u64,
    },
    /// Lift a limit of a cgroup.
    LiftLimit {
        /// The file that sets it.
        file: String,
        /// The device.
        device: Option<Number>,
        /// The keys of version 2; none of a file of version 1.
        keys: Vec<String>,
    },
    /// Make a loop device bypass the page cache.
    LoopDirect {
        /// The device.
        device: String,
    },
    /// Move a partition, with its data.
    MovePartition {
        /// The disk.
        disk: String,
        /// The number of the partition.
        partition: u64,
        /// Its new first sector.
        sector: u64,
    },
    /// Run where the device is attached.
    BindToNode {
        /// The memory node.
        node: u32,
    },
    /// Let processors run at full speed.
    Governor,
    /// Take back into memory what was swapped out of it.
    SwapOff {
        /// The device or file.
        path: String,
    },
}

impl PurposeVerdict {
    pub(super) fn good() -> Self {
        Self { state: CheckState::Good, wanted: Want::Any, changes: Vec::new() }
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

    /// With what to change, for those purposes that it is not good for.
    pub(super) fn change(mut self, change: impl Into<Option<SettingChange>>) -> Self {
        if let Some(change) = change.into() {
            for side in [&mut self.iops, &mut self.throughput] {
                if side.state > CheckState::Unknown {
                    side.changes.push(change.clone());
                }
            }
        }
        self
    }

    /// With what to change for small operations alone.
    pub(super) fn change_for_iops(mut self, change: SettingChange) -> Self {
        if self.iops.state > CheckState::Unknown {
            self.iops.changes.push(change);
        }
        self
    }

    /// With what to change for large operations alone.
    pub(super) fn change_for_throughput(mut self, change: SettingChange) -> Self {
        if self.throughput.state > CheckState::Unknown {
            self.throughput.changes.push(change);
        }
        self
    }

    /// With one purpose in mind.
    #[must_use]
    pub fn side(&self, purpose: Purpose) -> &PurposeVerdict {
        match purpose {
            Purpose::Iops => &self.iops,
            Purpose::Throughput => &self.throughput,
        }
    }

    /// How good it is: for one purpose, or for the one that it is worse for.
    #[must_use]
    pub fn state(&self, purpose: Option<Purpose>) -> CheckState {
        purpose.map_or_else(|| self.iops.state.max(self.throughput.state), |purpose| self.side(purpose).state)
    }
}

pub(super) fn word(text: &str) -> DoctorValue {
    DoctorValue::Word(text.to_owned())
}

//! Findings about a host and its devices.

use analyse::doctor::{CheckState, DoctorFinding, DoctorSubject, Purpose};
use record::host::StackBottom;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;

/// All findings of the doctor.
#[derive(Clone, Debug)]
pub struct DoctorResult {
    /// Requested names, with the findings about each.
    pub subjects: Vec<(DoctorSubject, Vec<DoctorFinding>)>,
    /// Findings about the host.
    pub host: Vec<DoctorFinding>,
    /// Purpose of the devices; `None` for both.
    pub purpose: Option<Purpose>,
}

/// Number of findings in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DoctorTally {
    pub problem: usize,
    pub could_be_better: usize,
    pub good: usize,
    pub unknown: usize,
}

impl DoctorTally {
    #[must_use]
    pub fn new(findings: &[DoctorFinding], purpose: Option<Purpose>) -> Self {
        let count = |state| findings.iter().filter(|finding| finding.state(purpose) == state).count();
        Self {
            problem: count(CheckState::Problem),
            could_be_better: count(CheckState::CouldBeBetter),
            good: count(CheckState::Good),
            unknown: count(CheckState::Unknown),
        }
    }
}

/// All findings with their sentences.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorDocument<'a> {
    pub answer: Answer,
    /// Purpose of the devices; `null` for both.
    #[serde(rename = "for")]
    pub purpose: Option<Purpose>,
    /// Requested names, with the findings about each.
    pub subjects: Vec<DiagnosedSubject<'a>>,
    pub host: DiagnosedHost<'a>,
}

/// Findings about a path or device.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DiagnosedSubject<'a> {
    /// Path as given by the user.
    pub asked: &'a str,
    /// Devices, the top layer first.
    pub devices: Vec<&'a str>,
    /// Partitions of the disk, if the path names one.
    pub partitions: Vec<&'a str>,
    /// The filesystem that contains the path, or those mounted from the device.
    pub filesystems: Vec<DiagnosedFilesystem<'a>>,
    /// What the stack ends in if not in a block device.
    pub instead_of_a_device: Option<StackBottom>,
    /// The storage stack in words, the top layer first.
    pub stack: String,
    pub tally: DoctorTally,
    pub findings: Vec<DiagnosedFinding<'a>>,
}

/// A mounted filesystem.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DiagnosedFilesystem<'a> {
    /// Mount point.
    pub at: &'a str,
    /// Type, such as `ext4`.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// Options of the mount and of the filesystem.
    pub options: &'a [String],
}

/// Findings about the host.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DiagnosedHost<'a> {
    pub tally: DoctorTally,
    pub findings: Vec<DiagnosedFinding<'a>>,
}

/// A finding with its sentences.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DiagnosedFinding<'a> {
    #[serde(flatten)]
    pub finding: &'a DoctorFinding,
    pub title: &'static str,
    /// State for the purpose, or the worse of both.
    pub state: CheckState,
    /// Found values in words.
    pub found_text: String,
    /// Recommended value in words; `null` if there is none.
    pub wanted_text: Option<String>,
    pub why: String,
    /// Commands that change the setting.
    pub commands: Vec<DoctorRemedy>,
    /// Document behind the check.
    pub source: &'static str,
}

/// A setting change as commands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorRemedy {
    /// Command that holds until the next boot; `null` if only a reboot makes the change.
    pub now: Option<String>,
    /// Command that makes the change permanent; `null` if it already is, or no common command exists.
    pub always: Option<String>,
    /// `for IOPS` or `for throughput`, if purposes need different values.
    pub purpose: Option<&'static str>,
}

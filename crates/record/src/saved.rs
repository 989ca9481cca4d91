//! Summaries of saved runs.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Repeat, RunOutcome, Tool};

/// Summary of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SavedRun {
    /// Version of the folder's layout.
    pub format: u32,
    /// Version of the record's layout, [`crate::SCHEMA`].
    pub schema: u32,
    /// Name of the folder.
    pub id: String,
    pub kind: RunKind,
    /// Name given by its creator.
    pub name: String,
    /// Start, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Program that measured, with its version.
    pub tool: Tool,
    pub hostname: String,
    /// Distinct names of jobs.
    pub jobs: Vec<String>,
    /// Distinct files, devices and modelled volumes.
    pub targets: Vec<String>,
    /// Command line as separate words.
    pub command_line: Vec<String>,
    pub outcome: RunOutcome,
    /// Series and number of this repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Repeat>,
    /// Verdict in a word; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Operations per second of concurrent jobs; of several groups, the maximum.
    #[serde(default)]
    pub iops: u64,
    /// 99th percentile of the latency of those jobs, in nanoseconds; of several kinds of operations, the maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// When the run was added to the store, in milliseconds since 1970; zero if unknown.
    #[serde(default)]
    pub added_unix_ms: u64,
    /// Files in the folder.
    pub files: BTreeMap<String, FileSeal>,
    /// Whether the run is exempt from retention. A marker file records this, not the manifest.
    #[serde(skip)]
    pub kept: bool,
}

/// Checksum and size of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileSeal {
    /// Size in bytes.
    pub bytes: u64,
    /// CRC-32C.
    pub crc32c: u32,
}

impl SavedRun {
    /// Returns the later of start and addition to the store, in milliseconds since 1970.
    #[must_use]
    pub fn kept_since_unix_ms(&self) -> u64 {
        self.started_unix_ms.max(self.added_unix_ms)
    }

    /// Returns the total size of its files in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.bytes).sum()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// A measurement by this or another program.
    Run,
    /// A simulation.
    Sim,
    /// A series of loads in search of the knee.
    Sweep,
    /// A published benchmark.
    Suite,
}

impl fmt::Display for RunKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Run => "run",
            Self::Sim => "sim",
            Self::Sweep => "sweep",
            Self::Suite => "suite",
        })
    }
}

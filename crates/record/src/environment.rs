//! The environment of a run: the command line, the host and the storage under its files. It tells runs apart whose
//! results do not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{HostRecord, Run, SCHEMA, TargetFacts, Tool};

/// The environment of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentRecord {
    /// Version of this layout, [`crate::SCHEMA`].
    pub schema: u32,
    /// Program that carried out the run.
    pub tool: Tool,
    /// Command line, one word each.
    pub command_line: Vec<String>,
    /// Working directory; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub directory: String,
    /// Seed of all random choices.
    pub seed: Option<u64>,
    /// Host, also for runs in virtual time.
    pub host: HostRecord,
    /// Memory of the host in bytes; zero if unknown.
    #[serde(default)]
    pub memory_bytes: u64,
    /// Start of the run in milliseconds since 1970, also for runs in virtual time.
    pub started_unix_ms: u64,
    /// Offset of the host's clock from UTC in seconds, east positive.
    pub utc_offset_s: i32,
    /// Files and devices, each once.
    pub targets: Vec<TargetFacts>,
    /// Disks whose counters were read, as named in `/sys/block`.
    pub disks: Vec<String>,
    /// Storage under the files and devices, as far as the host exposes it. Of the files of a mount only the first is
    /// listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grounds: Vec<TargetEnvironment>,
}

impl EnvironmentRecord {
    /// Returns the part of the environment that a run itself contains.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        let mut targets: Vec<TargetFacts> = run.jobs.iter().flat_map(|job| &job.evidence.targets).cloned().collect();
        targets.sort_by(|a, b| a.path.cmp(&b.path));
        targets.dedup_by(|a, b| a.path == b.path);
        Self {
            schema: SCHEMA,
            tool: run.tool.clone(),
            command_line: run.command_line.clone(),
            directory: String::new(),
            seed: run.seed,
            host: run.host.clone(),
            memory_bytes: 0,
            started_unix_ms: run.started_unix_ms,
            utc_offset_s: run.utc_offset_s,
            targets,
            disks: run.disks.iter().map(|disk| disk.name.clone()).collect(),
            grounds: Vec::new(),
        }
    }
}

/// The storage under a file or device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetEnvironment {
    /// Path of the file or device.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<FilesystemRecord>,
    /// Block devices under it, top layer first.
    pub devices: Vec<DeviceRecord>,
}

/// A mounted filesystem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FilesystemRecord {
    /// Type, such as `ext4`.
    pub kind: String,
    /// Mount point.
    pub at: String,
    /// Mount source, usually the path of a device.
    pub source: String,
    /// Options of the mount and of the filesystem.
    pub options: Vec<String>,
}

/// A block device. Facts that the host does not expose are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DeviceRecord {
    /// Name in `/dev`.
    pub name: String,
    /// `disk`, `partition`, `mapping`, `raid` or `loop`.
    pub kind: String,
    /// Size in bytes.
    pub bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Serial number, or else the world-wide name or UUID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Firmware version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Backing file of a loop device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_file: Option<String>,
    /// Active I/O scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Requests that each hardware queue can hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nr_requests: Option<u64>,
    /// Queue depth of a SCSI device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_depth: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware_queues: Option<u32>,
    /// Whether the device reports moving parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// `write back` or `write through`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
    /// Logical block size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_block_bytes: Option<u64>,
    /// Physical block size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_block_bytes: Option<u64>,
}

//! Where a run took place, by which words, and what its files and devices are: what tells two runs apart that their
//! results do not.

use serde::{Deserialize, Serialize};

use crate::{HostRecord, Run, SCHEMA, TargetFacts, Tool};

/// The surroundings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnvironmentRecord {
    /// The version of this layout, [`crate::SCHEMA`].
    pub schema: u32,
    /// What carried it out.
    pub tool: Tool,
    /// The command line, a word each.
    pub command_line: Vec<String>,
    /// The directory in which it was given; empty where it is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub directory: String,
    /// What everything random was derived from.
    pub seed: Option<u64>,
    /// The host, also where time was virtual.
    pub host: HostRecord,
    /// Memory of the host in bytes; zero where it is unknown.
    #[serde(default)]
    pub memory_bytes: u64,
    /// When it began, in milliseconds since 1970, also where time was virtual.
    pub started_unix_ms: u64,
    /// The host's distance from UTC in seconds, east positive.
    pub utc_offset_s: i32,
    /// Files and devices, each once.
    pub targets: Vec<TargetFacts>,
    /// The disks whose counters were read, as in `/sys/block`.
    pub disks: Vec<String>,
    /// What files and devices stand on, as far as this host shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grounds: Vec<TargetEnvironment>,
}

impl EnvironmentRecord {
    /// As much as a run tells by itself.
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetEnvironment {
    /// The path of the file or device.
    pub path: String,
    /// The filesystem of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<FilesystemRecord>,
    /// The block devices under it, the highest first.
    pub devices: Vec<DeviceRecord>,
}

/// A filesystem that is mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesystemRecord {
    /// Its type, such as `ext4`.
    pub kind: String,
    /// Where it is mounted.
    pub at: String,
    /// What is mounted: a device's path for most.
    pub source: String,
    /// The options of the mount and of the filesystem.
    pub options: Vec<String>,
}

/// A block device. What the host does not tell is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceRecord {
    /// Its name in `/dev`.
    pub name: String,
    /// `disk`, `partition`, `mapping`, `raid` or `loop`.
    pub kind: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// What its maker calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What tells it from others of its model: its serial number, or else its world-wide name or UUID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// The version of its firmware.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// The file behind a loop device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_file: Option<String>,
    /// The scheduler that is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Requests that may wait in each hardware queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nr_requests: Option<u64>,
    /// Commands that it takes at a time, of SCSI devices only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_depth: Option<u64>,
    /// How many hardware queues it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware_queues: Option<u32>,
    /// Whether it has moving parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// `write back` or `write through`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
    /// The least size of an operation in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_block_bytes: Option<u64>,
    /// The size of the blocks of the medium in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_block_bytes: Option<u64>,
}

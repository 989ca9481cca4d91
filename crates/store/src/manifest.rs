//! The manifest of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use record::{DirectionResult, EnvironmentRecord, Figure, FigureOf, FigureQuantity, Run};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::RunKind;
use crate::error::{Error, Result};

/// Version of the layout of stores and run folders.
pub const FORMAT: u32 = 1;

/// Text before the eight digits of the checksum at the end of a sealed document.
const SEAL: &[u8] = b",\"crc32c\":\"";
const SEAL_LENGTH: usize = SEAL.len() + 8 + 3;

/// Summary of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Version of the folder's layout, [`FORMAT`].
    pub format: u32,
    /// Version of the record's layout, [`record::SCHEMA`].
    pub schema: u32,
    /// Name of the folder.
    pub id: String,
    pub kind: RunKind,
    /// Name given by its creator.
    pub name: String,
    /// Start, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Program that measured, with its version.
    pub tool: record::Tool,
    pub hostname: String,
    /// Distinct names of jobs.
    pub jobs: Vec<String>,
    /// Distinct files, devices and modelled volumes.
    pub targets: Vec<String>,
    /// Command line as separate words.
    pub command_line: Vec<String>,
    pub outcome: record::RunOutcome,
    /// Series and number of this repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<record::Repeat>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSeal {
    /// Size in bytes.
    pub bytes: u64,
    /// CRC-32C.
    pub crc32c: u32,
}

impl FileSeal {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, crc32c: crc32c::crc32c(bytes) }
    }
}

impl Entry {
    pub(crate) fn of(
        run: &Run,
        environment: &EnvironmentRecord,
        (kind, name): (RunKind, &str),
        files: BTreeMap<String, FileSeal>,
    ) -> Self {
        let (iops, p99_ns) = figures(run);
        let modelled = run.model.iter().flat_map(|model| model.volumes.iter().map(|volume| volume.name.clone()));
        let evidence = run.jobs.iter().flat_map(|job| &job.evidence.targets);
        let disks = run.disks.iter().map(|disk| disk.name.clone());
        let asked = run.asked.iter().map(|asked| asked.name.clone());
        Self {
            format: FORMAT,
            schema: run.schema,
            id: String::new(),
            kind,
            name: name.to_owned(),
            started_unix_ms: environment.started_unix_ms,
            tool: run.tool.clone(),
            hostname: environment.host.hostname.clone(),
            jobs: each_once(asked.chain(run.jobs.iter().map(|job| job.name.clone()))),
            targets: each_once(evidence.map(|target| target.path.clone()).chain(disks).chain(modelled)),
            command_line: run.command_line.clone(),
            outcome: run.outcome,
            repeat: run.repeat.clone(),
            verdict: None,
            iops,
            p99_ns,
            added_unix_ms: 0,
            files,
            kept: false,
        }
    }

    /// Returns the later of start and addition to the store, in milliseconds since 1970.
    pub(crate) fn kept_since_unix_ms(&self) -> u64 {
        self.started_unix_ms.max(self.added_unix_ms)
    }

    /// Returns the total size of its files in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.bytes).sum()
    }

    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let entry: Self = unseal(path, bytes)?;
        let clean = |name: &String| !name.is_empty() && !name.contains('/') && !name.starts_with('.');
        if !entry.files.keys().all(clean) {
            return Err(Error::damaged(path, "it names files outside of its folder"));
        }
        Ok(entry)
    }
}

/// Returns operations per second and 99th percentile of the results that ran together with the most operations per
/// second.
fn figures(run: &Run) -> (u64, Option<u64>) {
    let all = Figure { of: FigureOf::All, quantity: FigureQuantity::Iops };
    let iops = |phase: &Vec<usize>| all.of_jobs(run, phase).map_or(0.0, |iops| iops.value);
    let Some(most) = run.phases().into_iter().max_by(|a, b| iops(a).total_cmp(&iops(b))) else { return (0, None) };
    let response = |kind: &DirectionResult| {
        let latency = [&kind.response, &kind.service].into_iter().find(|kind| kind.count > 0)?;
        latency.percentile_ns(99.0)
    };
    let kinds = most.iter().flat_map(|&job| run.jobs[job].result.kinds());
    let p99_ns = kinds.filter_map(|(_, kind)| response(kind)).max();
    (iops(&most).round() as u64, p99_ns)
}

fn each_once(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(name.clone())).collect()
}

/// Serializes a document with its own checksum as the last member.
pub(crate) fn seal(document: &impl Serialize) -> Vec<u8> {
    // Cannot fail: keys are strings and numbers are integers.
    let mut bytes = serde_json::to_vec(document).unwrap_or_default();
    bytes.pop();
    let crc = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(SEAL);
    bytes.extend_from_slice(format!("{crc:08x}\"}}\n").as_bytes());
    bytes
}

/// The version that every sealed document begins with.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoreVersion {
    pub(crate) format: u32,
}

/// Parses a document of [`seal`] at `path`. Checks the version first, because later versions may be sealed differently.
pub(crate) fn unseal<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    if let Ok(StoreVersion { format }) = serde_json::from_slice(bytes)
        && format > FORMAT
    {
        return Err(Error::too_new(path, format, FORMAT));
    }
    let body = bytes.len().checked_sub(SEAL_LENGTH).map(|end| bytes.split_at(end));
    let (body, seal) = body.ok_or_else(|| Error::damaged(path, "it is cut off"))?;
    let expected = [SEAL, format!("{:08x}\"}}\n", crc32c::crc32c(body)).as_bytes()].concat();
    if seal != expected {
        return Err(Error::damaged(path, "its checksum does not fit"));
    }
    serde_json::from_slice(bytes).map_err(|error| Error::damaged(path, error.to_string()))
}

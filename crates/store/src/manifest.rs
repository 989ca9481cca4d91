//! The manifest of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use record::{DirectionResult, EnvironmentRecord, Figure, FigureOf, FigureQuantity, FileSeal, Run, RunKind, SavedRun};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::error::{Error, Result};

/// Version of the layout of stores and run folders.
pub const FORMAT: u32 = 1;

/// Text before the eight digits of the checksum at the end of a sealed document.
const SEAL: &[u8] = b",\"crc32c\":\"";
const SEAL_LENGTH: usize = SEAL.len() + 8 + 3;

pub(crate) fn seal_of(bytes: &[u8]) -> FileSeal {
    FileSeal { bytes: bytes.len() as u64, crc32c: crc32c::crc32c(bytes) }
}

/// Returns the manifest of a run without files.
pub(crate) fn manifest(run: &Run, environment: &EnvironmentRecord, kind: RunKind, name: &str) -> SavedRun {
    let (iops, p99_ns) = figures(run);
    let modelled = run.model.iter().flat_map(|model| model.volumes.iter().map(|volume| volume.name.clone()));
    let evidence = run.jobs.iter().flat_map(|job| &job.evidence.targets);
    let disks = run.disks.iter().map(|disk| disk.name.clone());
    let asked = run.asked.iter().map(|asked| asked.name.clone());
    SavedRun {
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
        files: BTreeMap::new(),
        kept: false,
    }
}

pub(crate) fn parse_manifest(path: &Path, bytes: &[u8]) -> Result<SavedRun> {
    let run: SavedRun = unseal(path, bytes)?;
    let clean = |name: &String| !name.is_empty() && !name.contains('/') && !name.starts_with('.');
    if !run.files.keys().all(clean) {
        return Err(Error::damaged(path, "it refers to files outside its directory"));
    }
    Ok(run)
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
    let (body, seal) = body.ok_or_else(|| Error::damaged(path, "truncated"))?;
    let expected = [SEAL, format!("{:08x}\"}}\n", crc32c::crc32c(body)).as_bytes()].concat();
    if seal != expected {
        return Err(Error::damaged(path, "checksum mismatch"));
    }
    serde_json::from_slice(bytes).map_err(|error| Error::damaged(path, error.to_string()))
}

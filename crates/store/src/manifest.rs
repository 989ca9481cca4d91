//! What a folder says of itself.

use std::collections::BTreeMap;
use std::path::Path;

use record::Run;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::Kind;
use crate::error::{Error, Result};

/// The version of the layout of a store and of the folders in it.
pub const FORMAT: u32 = 1;

/// The seal's text before its eight digits, at the end of a sealed document.
const SEAL: &[u8] = b",\"crc32c\":\"";
const SEAL_LENGTH: usize = SEAL.len() + 8 + 3;

/// A run as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The version of the folder's layout, [`FORMAT`].
    pub format: u32,
    /// The version of the record's layout, [`record::SCHEMA`].
    pub schema: u32,
    /// The folder's name.
    pub id: String,
    /// What was carried out.
    pub kind: Kind,
    /// What it was about, as its maker called it.
    pub name: String,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// The program that measured, and its version.
    pub tool: record::Tool,
    /// The host it ran on.
    pub hostname: String,
    /// The jobs, each name once.
    pub jobs: Vec<String>,
    /// The files, devices and modelled volumes, each once.
    pub targets: Vec<String>,
    /// The command line, a word each.
    pub command_line: Vec<String>,
    /// How it ended.
    pub outcome: record::Outcome,
    /// The files in the folder.
    pub files: BTreeMap<String, FileSeal>,
    /// Whether it is exempt from retention. The folder says so by a file of its own, not the manifest.
    #[serde(skip)]
    pub kept: bool,
}

/// How to know that a file is what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSeal {
    /// Its length.
    pub bytes: u64,
    /// Its CRC-32C.
    pub crc32c: u32,
}

impl FileSeal {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, crc32c: crc32c::crc32c(bytes) }
    }
}

impl Entry {
    pub(crate) fn of(run: &Run, kind: Kind, name: &str, files: BTreeMap<String, FileSeal>) -> Self {
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
            started_unix_ms: run.started_unix_ms,
            tool: run.tool.clone(),
            hostname: run.host.hostname.clone(),
            jobs: each_once(asked.chain(run.jobs.iter().map(|job| job.name.clone()))),
            targets: each_once(evidence.map(|target| target.path.clone()).chain(disks).chain(modelled)),
            command_line: run.command_line.clone(),
            outcome: run.outcome,
            files,
            kept: false,
        }
    }

    /// Bytes in its files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.bytes).sum()
    }

    /// Reads a manifest, which is at `path`.
    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let entry: Self = unseal(path, bytes)?;
        let clean = |name: &String| !name.is_empty() && !name.contains('/') && !name.starts_with('.');
        if !entry.files.keys().all(clean) {
            return Err(Error::damaged(path, "it names files outside of its folder"));
        }
        Ok(entry)
    }
}

fn each_once(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    names.for_each(|name| {
        if !seen.contains(&name) {
            seen.push(name);
        }
    });
    seen
}

/// A document that carries its own checksum, as its last member.
pub(crate) fn seal(document: &impl Serialize) -> Vec<u8> {
    // Strings for keys and no numbers but integers: nothing can fail.
    let mut bytes = serde_json::to_vec(document).unwrap_or_default();
    bytes.pop();
    let crc = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(SEAL);
    bytes.extend_from_slice(format!("{crc:08x}\"}}\n").as_bytes());
    bytes
}

#[derive(Deserialize)]
struct Versioned {
    format: u32,
}

/// Reads what [`seal`] wrote to `path`; the version comes first, for later ones may be sealed otherwise.
pub(crate) fn unseal<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    if let Ok(Versioned { format }) = serde_json::from_slice(bytes)
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

use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use record::{EnvironmentRecord, ReadError, Run, SavedRun, from_json};
use units::ProblemCode;

use crate::error::{Error, Result};
use crate::folder::{self, ENVIRONMENT, EVENTS, JOB, RUN};
use crate::id::SERIES;
use crate::{Filter, RunStore};

/// A run loaded from the store.
#[derive(Debug)]
pub struct StoredRun {
    /// Manifest.
    pub entry: SavedRun,
    /// Record.
    pub run: Run,
    folder: PathBuf,
}

impl RunStore {
    /// Loads a run by its ID, by a unique prefix of it, by the four digits at its end, or the most recent one as
    /// `last`.
    ///
    /// A run with another damaged file can be loaded by its complete ID.
    ///
    /// # Errors
    /// When the run does not exist, is ambiguous or cannot be read.
    pub fn load(&self, which: &str) -> Result<StoredRun> {
        let folder = self.root.join(self.resolve(which)?);
        StoredRun::read(folder::read_manifest(&folder)?, folder)
    }

    /// Returns the repeats of a series in order, by its name or a prefix that contains `-series-`; none if it does not
    /// exist.
    ///
    /// # Errors
    /// When the name is ambiguous or the store cannot be listed.
    pub fn series(&self, which: &str) -> Result<Vec<SavedRun>> {
        if !which.contains(SERIES) {
            return Ok(Vec::new());
        }
        let mut entries = self.list(&Filter::default())?.entries;
        entries.retain(|entry| series_of(entry).starts_with(which));
        let mut names: Vec<String> = entries.iter().map(|entry| series_of(entry).to_owned()).collect();
        names.sort_unstable();
        names.dedup();
        if names.len() > 1 && !names.iter().any(|name| name == which) {
            return Err(self.ambiguous(which, names.into_iter()));
        }
        entries.retain(|entry| names.len() == 1 || series_of(entry) == which);
        entries.sort_by_key(|entry| entry.repeat.as_ref().map(|repeat| repeat.number));
        Ok(entries)
    }

    /// Returns the ID for an ID, a prefix of one, the four digits at its end, or `last`.
    ///
    /// # Errors
    /// When there is no such run, or more than one.
    pub fn resolve(&self, which: &str) -> Result<String> {
        let is_plain = !which.is_empty() && !which.contains('/') && !crate::store::is_reserved(which);
        if is_plain && self.root.join(which).is_dir() {
            return Ok(which.to_owned());
        }
        let mut listing = self.list(&Filter::default())?;
        if which == "last" {
            let last = listing.entries.pop().map(|entry| entry.id);
            return last.ok_or_else(|| self.unknown(which));
        }
        let ends_so = |id: &str| is_plain && id.rsplit('-').next() == Some(which);
        let is_meant = |id: &str| is_plain && id.starts_with(which) || ends_so(id);
        let mut ids: Vec<String> = listing.entries.into_iter().map(|entry| entry.id).collect();
        ids.retain(|id| is_meant(id));
        // Digits may also be the year at the start of all IDs.
        if let [id] = ids.iter().filter(|id| ends_so(id)).collect::<Vec<_>>()[..] {
            return Ok(id.clone());
        }
        match (ids.len(), ids.pop()) {
            (1, Some(id)) => Ok(id),
            (0, _) => match listing.skipped.into_iter().find(|(name, _)| is_meant(name)) {
                Some((_, error)) => Err(error),
                None => Err(self.unknown(which)),
            },
            (_, last) => Err(self.ambiguous(which, ids.into_iter().chain(last))),
        }
    }

    fn unknown(&self, which: &str) -> Error {
        let remedy = "list saved runs, and use an id or \"last\"";
        let what = format!("no run \"{which}\"");
        Error { is_unknown: true, ..Error::new(&self.root, ProblemCode::SavedRun, what, remedy) }
    }

    fn ambiguous(&self, which: &str, candidates: impl Iterator<Item = String>) -> Error {
        let candidates: Vec<String> = candidates.collect();
        let what = format!("\"{which}\" is ambiguous: {}", candidates.join(", "));
        Error::new(&self.root, ProblemCode::SavedRun, what, "use a longer part of the id")
    }
}

fn series_of(entry: &SavedRun) -> &str {
    entry.repeat.as_ref().map_or("", |repeat| &repeat.series)
}

impl StoredRun {
    /// Loads a run from a folder at any path and with any name.
    ///
    /// # Errors
    /// When it is not a run or cannot be read.
    pub fn at(folder: &Path) -> Result<Self> {
        Self::read(folder::read_manifest_anywhere(folder)?, folder.to_owned())
    }

    fn read(entry: SavedRun, folder: PathBuf) -> Result<Self> {
        folder::check_version(&folder, &entry)?;
        let path = folder.join(RUN);
        let damaged = |error: String| Error::damaged(&path, error);
        let bytes = folder::read_file(&folder, &entry, RUN)?;
        let text = String::from_utf8(bytes).map_err(|error| damaged(error.to_string()))?;
        let run = from_json(&text).map_err(|error| match error {
            ReadError::TooNew { found } => Error::too_new(&path, found, record::SCHEMA),
            other => damaged(other.to_string()),
        })?;
        Ok(Self { entry, run, folder })
    }

    /// Returns the folder of the run.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a file of the run.
    ///
    /// # Errors
    /// When it does not exist or is damaged.
    pub fn file(&self, name: &str) -> Result<Vec<u8>> {
        folder::read_file(&self.folder, &self.entry, name)
    }

    /// Returns the original job file, if saved.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn job(&self) -> Result<Option<String>> {
        if !self.entry.files.contains_key(JOB) {
            return Ok(None);
        }
        let text = String::from_utf8(self.file(JOB)?);
        text.map(Some).map_err(|error| Error::damaged(&self.folder.join(JOB), error.to_string()))
    }

    /// Returns the environment of the run.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn environment(&self) -> Result<EnvironmentRecord> {
        let bytes = self.file(ENVIRONMENT)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| Error::damaged(&self.folder.join(ENVIRONMENT), error.to_string()))
    }

    /// Returns the events, a JSON document each; none if no events were recorded.
    ///
    /// # Errors
    /// When the file is damaged; errors of decompression come as the last item.
    pub fn events(&self) -> Result<impl Iterator<Item = Result<String>> + use<>> {
        let path = self.folder.join(EVENTS);
        let damaged = move |error: std::io::Error| Error::damaged(&path, error.to_string());
        let packed = self.entry.files.contains_key(EVENTS).then(|| self.file(EVENTS)).transpose()?;
        let unpacked = packed.map(|packed| zstd::Decoder::with_buffer(Cursor::new(packed))).transpose();
        let mut events = unpacked.map_err(&damaged)?.map(BufReader::new);
        Ok(std::iter::from_fn(move || {
            let line = next_line(events.as_mut()?).transpose()?;
            if line.is_err() {
                // A failed decompression would fail again and again.
                events = None;
            }
            Some(line.map_err(&damaged))
        }))
    }
}

/// More than any event. A few bytes of zstd can decompress to a line that exceeds the memory.
const EVENT_BYTES_MAX: u64 = 16 << 20;

/// Returns the next line without its terminator; `None` at the end.
fn next_line(from: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let mut line = String::new();
    let read = from.by_ref().take(EVENT_BYTES_MAX + 1).read_line(&mut line)?;
    if read as u64 > EVENT_BYTES_MAX {
        let text = format!("event larger than {EVENT_BYTES_MAX} bytes");
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, text));
    }
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Ok((read > 0).then_some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// f52613e decompressed lines of any length into memory.
    #[test]
    fn an_endless_event_is_refused() {
        let line = vec![b'x'; 4 * EVENT_BYTES_MAX as usize];
        let packed = zstd::encode_all(line.as_slice(), 3).unwrap();
        assert!(packed.len() < 1 << 16);
        let mut events = BufReader::new(zstd::Decoder::with_buffer(Cursor::new(packed)).unwrap());
        assert!(next_line(&mut events).unwrap_err().to_string().contains("event larger than"));
        let mut two = BufReader::new(b"one\r\n\ntwo".as_slice());
        let mut read = || next_line(&mut two).unwrap();
        assert_eq!(
            [read(), read(), read(), read()],
            [Some("one".into()), Some(String::new()), Some("two".into()), None]
        );
    }
}

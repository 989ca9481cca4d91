use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use record::{EnvironmentRecord, FileSeal, RequestedRun, Run, RunKind, SavedRun};
use serde::Serialize;
use units::ProblemCode;
use zstd::stream::write::Encoder;

use crate::error::{Error, Result};
use crate::folder::{ENVIRONMENT, EVENTS, JOB, KEPT, MANIFEST, RESOLVED, RUN, WRITER_LOCK, WRITING};
use crate::lock::{LOCK_TIMEOUT, StoreLock};
use crate::manifest::{manifest, seal, seal_of};
use crate::{RunStore, disk, id};

/// Distinguishes temporary folders of one process.
static COUNTER: AtomicU32 = AtomicU32::new(0);

/// Writes a run to a temporary folder. Dropping it before [`RunWriter::finish`] removes the folder; after a crash, the
/// next process that opens the store does.
pub struct RunWriter {
    store: RunStore,
    temporary: PathBuf,
    /// What is known of it before its end.
    saved: SavedRun,
    events: Option<Encoder<'static, ChecksumWriter>>,
    /// Shows other processes that the writer is alive.
    _alive: StoreLock,
}

impl RunWriter {
    /// Creates the temporary folder. Requires the store's lock.
    pub(crate) fn begin(store: &RunStore, kind: RunKind, name: &str) -> Result<Self> {
        let temporary = create_temporary(&store.root)?;
        let alive = StoreLock::wait(&temporary.join(WRITER_LOCK), LOCK_TIMEOUT).inspect_err(|_| {
            let _ = std::fs::remove_dir(&temporary);
        })?;
        let saved = manifest(&Run::default(), &EnvironmentRecord::default(), kind, name);
        Ok(Self { store: store.clone(), temporary, saved, events: None, _alive: alive })
    }

    /// Sets the verdict shown by lists, a single word.
    pub fn verdict(&mut self, verdict: &str) {
        self.saved.verdict = Some(verdict.to_owned());
    }

    /// Sets when the run is added, in milliseconds since 1970. Retention uses it, because imported runs may be old.
    pub fn added_at(&mut self, unix_ms: u64) {
        self.saved.added_unix_ms = unix_ms;
    }

    /// Adds an event: one JSON document without line breaks.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn event(&mut self, line: &str) -> Result<()> {
        let path = self.temporary.join(EVENTS);
        let failed = |error| Error::io(&path, "write", error);
        let mut events = match self.events.take() {
            Some(events) => events,
            None => crate::disk::create(&path).and_then(ChecksumWriter::encoder).map_err(failed)?,
        };
        let written = events.write_all(line.as_bytes()).and_then(|()| events.write_all(b"\n"));
        self.events = Some(events);
        written.map_err(failed)
    }

    /// Adds the original job file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn job(&mut self, text: &str) -> Result<()> {
        self.put(JOB, text.as_bytes())
    }

    /// Adds another file, such as the table of a sweep.
    ///
    /// # Errors
    /// When the name is used, empty, begins with a dot or contains a slash; when the file cannot be written.
    pub fn attach(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let ours = [RUN, EVENTS, JOB, RESOLVED, ENVIRONMENT, MANIFEST, KEPT];
        let is_taken = ours.contains(&name) || self.saved.files.contains_key(name);
        if is_taken || name.is_empty() || name.starts_with('.') || name.contains('/') {
            let what = format!("cannot add a file named \"{name}\" to a run");
            return Err(Error::new(
                &self.temporary,
                ProblemCode::SavedRun,
                what,
                "use another name, without slashes or a leading dot",
            ));
        }
        self.put(name, bytes)
    }

    /// Adds the run to the store and returns its ID.
    ///
    /// # Errors
    /// When it cannot be written; the store is unchanged then.
    pub fn finish(self, run: &Run) -> Result<String> {
        self.finish_in(run, &EnvironmentRecord::of(run))
    }

    /// Adds the run with a more detailed environment than it describes itself.
    ///
    /// # Errors
    /// The errors of [`RunWriter::finish`].
    pub fn finish_in(mut self, run: &Run, environment: &EnvironmentRecord) -> Result<String> {
        self.put(RUN, record::to_json(run).as_bytes())?;
        let resolved = ResolvedJob { schema: run.schema, globals: &run.globals, jobs: &run.asked };
        self.put(RESOLVED, &json(&resolved))?;
        self.put(ENVIRONMENT, &json(environment))?;
        self.finish_events()?;
        self.commit(run, environment)
    }

    fn put(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        disk::write_durably(&self.temporary.join(name), bytes)?;
        self.saved.files.insert(name.to_owned(), seal_of(bytes));
        Ok(())
    }

    fn finish_events(&mut self) -> Result<()> {
        let Some(events) = self.events.take() else { return Ok(()) };
        let finished = events.finish().and_then(ChecksumWriter::finish);
        let seal = finished.map_err(|error| Error::io(&self.temporary.join(EVENTS), "write", error))?;
        self.saved.files.insert(EVENTS.to_owned(), seal);
        Ok(())
    }

    fn commit(&mut self, run: &Run, environment: &EnvironmentRecord) -> Result<String> {
        let saved = &mut self.saved;
        let mut entry = SavedRun {
            files: std::mem::take(&mut saved.files),
            verdict: saved.verdict.take(),
            added_unix_ms: saved.added_unix_ms,
            ..manifest(run, environment, saved.kind, &saved.name)
        };
        let salt = entry.files.values().fold(std::process::id(), |salt, file| salt.rotate_left(5) ^ file.crc32c);
        let _lock = self.store.lock()?;
        entry.id = id::unused(&self.store.root, entry.kind, &entry.name, entry.started_unix_ms, salt);
        disk::write_durably(&self.temporary.join(MANIFEST), &seal(&entry))?;
        let alive = self.temporary.join(WRITER_LOCK);
        std::fs::remove_file(&alive).map_err(|error| Error::io(&alive, "remove", error))?;
        disk::sync_folder(&self.temporary)?;
        disk::rename(&self.temporary, &self.store.root.join(&entry.id))?;
        Ok(entry.id)
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        // The folder no longer exists after a commit.
        let _ = std::fs::remove_dir_all(&self.temporary);
    }
}

/// Creates a folder that no other process uses, not even on another host that shares the file system.
fn create_temporary(root: &Path) -> Result<PathBuf> {
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let temporary = root.join(format!("{WRITING}{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&temporary) {
            Ok(()) => return Ok(temporary),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io(&temporary, "create the directory", error)),
        }
    }
}

/// A file that tracks its size and checksum.
struct ChecksumWriter {
    file: File,
    seal: FileSeal,
}

impl ChecksumWriter {
    fn encoder(file: File) -> io::Result<Encoder<'static, Self>> {
        Encoder::new(Self { file, seal: seal_of(&[]) }, zstd::DEFAULT_COMPRESSION_LEVEL)
    }

    fn finish(self) -> io::Result<FileSeal> {
        self.file.sync_all()?;
        Ok(self.seal)
    }
}

impl Write for ChecksumWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.seal.bytes += written as u64;
        self.seal.crc32c = crc32c::crc32c_append(self.seal.crc32c, &bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[derive(Serialize)]
struct ResolvedJob<'a> {
    schema: u32,
    globals: &'a [(String, String)],
    jobs: &'a [RequestedRun],
}

fn json(document: &impl Serialize) -> Vec<u8> {
    // Cannot fail: keys are strings, and serde_json prints numbers that are not finite as null.
    serde_json::to_vec_pretty(document).unwrap_or_default()
}

impl RunStore {
    /// Starts to save a run, which is in the store once [`RunWriter::finish`] returns.
    ///
    /// # Errors
    /// When the store is of a later version or cannot be written.
    pub fn begin(&self, kind: RunKind, name: &str) -> Result<RunWriter> {
        let _lock = self.lock()?;
        self.claim_version()?;
        RunWriter::begin(self, kind, name)
    }
}

//! NBD exports of jobs: their properties, which servers are asked for before anything starts, and requirements that
//! they do not meet.

use std::cell::RefCell;
use std::collections::BTreeMap;

use engine::exports::{self, RemoteExport};
use job::{Dialect, EngineKind, Job, OpenSync, Size};
use runner::policy::block_unit;
use units::grouped;
use workload::{Operations, WorkloadError};

/// Properties of exports. Each server is queried once.
#[derive(Default)]
pub(crate) struct Exports {
    known: RefCell<BTreeMap<String, Result<RemoteExport, String>>>,
}

impl Exports {
    /// Returns the properties that a server reports for an export, or why the export is unavailable.
    pub(crate) fn of(&self, uri: &str) -> Result<RemoteExport, String> {
        let mut known = self.known.borrow_mut();
        let ask = || exports::look(uri).map_err(|error| error.to_string());
        known.entry(uri.to_owned()).or_insert_with(ask).clone()
    }

    /// Checks that a job can use its export. fio detects some of these problems only during the run, and uses as much
    /// of a size as the export has.
    pub(crate) fn check(&self, job: &Job, dialect: Dialect) -> Result<(), WorkloadError> {
        let uri = match &job.engine.uri {
            Some(uri) => uri,
            None if job.engine.kind != EngineKind::Nbd => return Ok(()),
            None => {
                let message = "the engine nbd needs the URI of an export, as in uri=nbd://localhost/".to_owned();
                return Err(WorkloadError { option: "uri", message });
            }
        };
        let export = self.of(uri).map_err(|message| WorkloadError { option: "uri", message })?;
        let always: &[Check] = &[read_only, too_long, durable];
        let strictly: &[Check] = &[too_large, unaligned, trims, flushes];
        let checks = always.iter().chain(strictly.iter().filter(|_| dialect == Dialect::Strict));
        let problem = checks.filter_map(|check| check(job, &export)).next();
        problem.map_or(Ok(()), |(option, what)| Err(WorkloadError { option, message: format!("{uri} {what}") }))
    }
}

/// Returns the wrong option, and what the export cannot do.
type Check = fn(&Job, &RemoteExport) -> Option<(&'static str, String)>;

fn read_only(job: &Job, export: &RemoteExport) -> Option<(&'static str, String)> {
    let changes = Operations::of(job).changes_data();
    let what = "is read-only, and the job writes\nhelp: use rw=read or rw=randread, or have the server permit writes";
    (changes && export.read_only).then(|| ("rw", what.to_owned()))
}

fn too_long(job: &Job, export: &RemoteExport) -> Option<(&'static str, String)> {
    let (direction, sizes) = (job.pattern.direction, &job.pattern.block_sizes);
    let read = if direction.reads() { sizes.read.max() } else { 0 };
    let longest = read.max(if direction.writes() { sizes.write.max() } else { 0 });
    let most = export.max_request_bytes;
    let what =
        || format!("takes requests of at most {most} bytes, and blocks have {longest}\nhelp: use bs={most} or less");
    (longest > most).then(|| ("bs", what()))
}

fn durable(job: &Job, export: &RemoteExport) -> Option<(&'static str, String)> {
    let asked = job.files.open_sync != OpenSync::None && job.pattern.direction.writes();
    let what = "cannot make single writes durable (NBD_CMD_FLAG_FUA)\nhelp: use fsync=1 instead of sync=";
    (asked && !export.durable_writes).then(|| ("sync", what.to_owned()))
}

fn too_large(job: &Job, export: &RemoteExport) -> Option<(&'static str, String)> {
    let Some(Size::Bytes(size)) = job.extent.size else { return None };
    let offset = if let Size::Bytes(offset) = job.extent.offset { offset.get() } else { 0 };
    let rest = export.bytes.saturating_sub(offset);
    let what = || {
        let (bytes, size) = (grouped(export.bytes), grouped(size.get()));
        format!(
            "has {bytes} bytes, and {size} are needed from offset {}\nhelp: use size={rest} or less",
            grouped(offset)
        )
    };
    (size.get() > rest).then(|| ("size", what()))
}

fn unaligned(job: &Job, export: &RemoteExport) -> Option<(&'static str, String)> {
    let (unit, least) = (block_unit(job), export.min_block_bytes);
    let option = if job.replay.is_some() { "replay_align" } else { "bs" };
    let what = || {
        format!("takes multiples of {least} bytes, and {unit} is none\nhelp: use {option}={least} or a multiple of it")
    };
    (!unit.is_multiple_of(least)).then(|| (option, what()))
}

fn trims(job: &Job, export: &RemoteExport) -> Option<(&'static str, String)> {
    let what = "cannot trim (NBD_CMD_TRIM)\nhelp: use another rw, or have the server permit it";
    if job.replay.is_some() {
        let what = "cannot trim (NBD_CMD_TRIM)\nhelp: use replay_skip=trim, or have the server permit it";
        return (Operations::of(job).trim && !export.trims).then(|| ("replay_skip", what.to_owned()));
    }
    let option = if job.pattern.direction.trims() { "rw" } else { "trim_percentage" };
    (Operations::of(job).trim && !export.trims).then(|| (option, what.to_owned()))
}

fn flushes(job: &Job, export: &RemoteExport) -> Option<(&'static str, String)> {
    let syncs = job.replay.as_ref().and_then(|replay| replay.facts.as_ref()).is_some_and(|facts| facts.syncs > 0);
    if syncs && !export.flushes {
        let what = "cannot be flushed (NBD_CMD_FLUSH)\nhelp: use replay_skip=sync";
        return Some(("replay_skip", what.to_owned()));
    }
    let sync = &job.sync;
    let asked = [
        ("fsync", sync.fsync > 0),
        ("fdatasync", sync.fdatasync > 0),
        ("end_fsync", sync.end_fsync),
        ("end_syncfs", sync.end_syncfs),
        ("sync_file_range", sync.range.writes > 0),
        ("fsync_on_close", sync.fsync_on_close),
    ];
    let (option, _) = asked.into_iter().find(|(_, asked)| *asked && !export.flushes)?;
    Some((option, format!("cannot be flushed (NBD_CMD_FLUSH)\nhelp: leave {option} out")))
}

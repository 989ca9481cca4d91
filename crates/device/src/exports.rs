//! NBD exports of jobs: their properties, which servers are asked for before anything starts, and requirements that
//! they do not meet.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use engine::exports::{self, RemoteExport};
use job::{Dialect, EngineKind, Job, OpenSync, Size};
use runner::policy::block_unit;
use units::{Problem, grouped};
use workload::Operations;

/// Properties of exports. Each server is queried once.
#[derive(Default)]
pub(crate) struct Exports {
    known: RefCell<BTreeMap<String, Result<RemoteExport, Problem>>>,
}

impl Exports {
    /// Returns the properties that a server reports for an export, or why the export is unavailable.
    pub(crate) fn of(&self, uri: &str) -> Result<RemoteExport, Problem> {
        let mut known = self.known.borrow_mut();
        let ask = || exports::look(uri).map_err(Problem::from);
        known.entry(uri.to_owned()).or_insert_with(ask).clone()
    }

    /// Checks that a job can use its export. fio detects some of these problems only during the run, and uses as much
    /// of a size as the export has.
    pub(crate) fn check(&self, job: &Job, dialect: Dialect) -> Result<(), Problem> {
        let uri = match &job.engine.uri {
            Some(uri) => uri,
            None if job.engine.kind != EngineKind::Nbd => return Ok(()),
            None => {
                return Err(job.unfit("uri", "engine nbd needs an export URI, such as uri=nbd://localhost/"));
            }
        };
        let export = self.of(uri).map_err(|problem| job.unfit_because("uri", problem))?;
        let always: &[Check] = &[read_only, too_long, durable];
        let strictly: &[Check] = &[too_large, unaligned, trims, flushes];
        let checks = always.iter().chain(strictly.iter().filter(|_| dialect == Dialect::Strict));
        checks.filter_map(|check| check(job, &export)).next().map_or(Ok(()), Err)
    }
}

/// Returns what the export of a job cannot do.
type Check = fn(&Job, &RemoteExport) -> Option<Problem>;

fn unmet(job: &Job, option: &str, what: impl fmt::Display) -> Problem {
    job.unfit(option, format_args!("{} {what}", job.engine.uri.as_deref().unwrap_or_default()))
}

fn read_only(job: &Job, export: &RemoteExport) -> Option<Problem> {
    let changes = Operations::of(job).changes_data();
    (changes && export.read_only).then(|| {
        unmet(job, "rw", "is read-only, but the job writes")
            .help("use rw=read or rw=randread, or make the export writable on the server")
    })
}

fn too_long(job: &Job, export: &RemoteExport) -> Option<Problem> {
    let (direction, sizes) = (job.pattern.direction, &job.pattern.block_sizes);
    let read = if direction.reads() { sizes.read.max() } else { 0 };
    let longest = read.max(if direction.writes() { sizes.write.max() } else { 0 });
    let most = export.max_request_bytes;
    (longest > most).then(|| {
        unmet(job, "bs", format_args!("accepts requests of at most {most} bytes, but the block size is {longest}"))
            .help(format!("use bs={most} or less"))
    })
}

fn durable(job: &Job, export: &RemoteExport) -> Option<Problem> {
    let asked = job.files.open_sync != OpenSync::None && job.pattern.direction.writes();
    (asked && !export.durable_writes).then(|| {
        unmet(job, "sync", "does not support FUA writes (NBD_CMD_FLAG_FUA)").help("use fsync=1 instead of sync=")
    })
}

fn too_large(job: &Job, export: &RemoteExport) -> Option<Problem> {
    let Some(Size::Bytes(size)) = job.extent.size else { return None };
    let offset = if let Size::Bytes(offset) = job.extent.offset { offset.get() } else { 0 };
    let rest = export.bytes.saturating_sub(offset);
    (size.get() > rest).then(|| {
        let (bytes, size, offset) = (grouped(export.bytes), grouped(size.get()), grouped(offset));
        unmet(job, "size", format_args!("has {bytes} bytes, but the job needs {size} at offset {offset}"))
            .help(format!("use size={rest} or less"))
    })
}

fn unaligned(job: &Job, export: &RemoteExport) -> Option<Problem> {
    let (unit, least) = (block_unit(job), export.min_block_bytes);
    let option = if job.replay.is_some() { "replay_align" } else { "bs" };
    (!unit.is_multiple_of(least)).then(|| {
        unmet(job, option, format_args!("accepts multiples of {least} bytes, and {unit} is not one"))
            .help(format!("use {option}={least} or a multiple of it"))
    })
}

fn trims(job: &Job, export: &RemoteExport) -> Option<Problem> {
    let (option, instead) = if job.replay.is_some() {
        ("replay_skip", "replay_skip=trim")
    } else {
        (if job.pattern.direction.trims() { "rw" } else { "trim_percentage" }, "a different rw")
    };
    (Operations::of(job).trim && !export.trims).then(|| {
        unmet(job, option, "does not support trim (NBD_CMD_TRIM)")
            .help(format!("use {instead}, or enable trim on the server"))
    })
}

fn flushes(job: &Job, export: &RemoteExport) -> Option<Problem> {
    if export.flushes {
        return None;
    }
    let unmet = |option| unmet(job, option, "does not support flush (NBD_CMD_FLUSH)");
    let syncs = job.replay.as_ref().and_then(|replay| replay.facts.as_ref()).is_some_and(|facts| facts.syncs > 0);
    if syncs {
        return Some(unmet("replay_skip").help("use replay_skip=sync"));
    }
    let option = job.sync.option()?;
    Some(unmet(option).help(format!("omit {option}")))
}

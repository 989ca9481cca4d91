//! What must not be written to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use engine::exports;
use engine::files::FileKind;
use engine::probe::{self, Occupant};
use job::{Engine, Plan};

use crate::members::Member;

/// Where `/sys` and `/proc` are.
const ROOT: &str = "/";

/// Why this run must not begin, a line for each device and filesystem; empty where it may.
///
/// A block device that carries a partition table, a filesystem or another signature, that is mounted or that
/// somebody holds, is written to only if it is named in `allowed`; so is a file that is swapped to or stands behind
/// a loop device.
pub(crate) fn check(plan: &Plan, members: &[Member], allowed: &[PathBuf]) -> Vec<String> {
    dangers(written(plan, members), allowed, occupants)
}

/// The same for files and devices by themselves.
pub(crate) fn check_paths<'a>(written: impl IntoIterator<Item = &'a str>, allowed: &[PathBuf]) -> Vec<String> {
    dangers(written.into_iter().map(|path| (path, ())), allowed, |path, ()| local_occupants(path))
}

fn dangers<'a, How>(
    written: impl IntoIterator<Item = (&'a str, How)>,
    allowed: &[PathBuf],
    occupants: impl Fn(&str, How) -> Result<Vec<Occupant>, engine::Error>,
) -> Vec<String> {
    let allowed: BTreeSet<PathBuf> = allowed.iter().map(|path| real(path)).collect();
    let mut dangers = Vec::new();
    for (path, how) in written {
        if allowed.contains(&real(Path::new(path))) {
            continue;
        }
        match occupants(path, how) {
            Ok(found) if found.is_empty() => {}
            Ok(found) => dangers.push(refusal(path, &found)),
            Err(error) => dangers.push(format!("{path} cannot be examined before it is written to: {error}")),
        }
    }
    dangers
}

fn occupants(path: &str, engine: Engine) -> Result<Vec<Occupant>, engine::Error> {
    match engine {
        // Who else uses it, its server alone knows.
        Engine::Nbd => exports::data(path).map(|found| found.into_iter().map(Occupant::Data).collect()),
        _ => local_occupants(path),
    }
}

fn local_occupants(path: &str) -> Result<Vec<Occupant>, engine::Error> {
    probe::occupants(Path::new(ROOT), Path::new(path))
}

fn refusal(path: &str, found: &[Occupant]) -> String {
    let found: Vec<String> = found.iter().map(describe).collect();
    let found = found.join(", ");
    format!(
        "{path} would be overwritten, but it holds data: {found}. If that may be destroyed, add \
         --allow-destroy={path}; else choose another device, or a file"
    )
}

fn describe(occupant: &Occupant) -> String {
    match occupant {
        Occupant::Data(signature) => signature.to_string(),
        Occupant::Partition(name) => format!("partition {name}"),
        Occupant::Holder { device, holder } => format!("{device} is in use by {holder}"),
        Occupant::Mount { device, at } => format!("{device} is mounted at {}", at.display()),
        Occupant::Swap { device } => format!("{device} is swapped to"),
        Occupant::LoopBacking { device } => format!("it is behind the loop device {device}"),
    }
}

/// The devices that are mounted, of those that a run would write to: what fio itself refuses.
pub(crate) fn mounted(plan: &Plan, members: &[Member]) -> Vec<String> {
    let permitted = |member: &Member| plan.jobs[member.job].files.allow_mounted_write;
    let members: Vec<Member> = members.iter().filter(|member| !permitted(member)).cloned().collect();
    let devices = written(plan, &members).into_keys().filter(|path| is_device(Path::new(path)));
    devices.filter(|path| is_mounted(Path::new(path))).map(str::to_owned).collect()
}

fn is_device(path: &Path) -> bool {
    engine::files::look(path).ok().flatten().is_some_and(|seen| seen.kind == FileKind::Block)
}

fn is_mounted(path: &Path) -> bool {
    let users = probe::number_of(Path::new(ROOT), path).map(|number| probe::users(Path::new(ROOT), number));
    users.unwrap_or_default().iter().any(|user| matches!(user, Occupant::Mount { .. }))
}

/// What exists and a run writes to or trims, each once, and by which engine.
fn written<'a>(plan: &Plan, members: &'a [Member]) -> BTreeMap<&'a str, Engine> {
    let engine = |member: &Member| plan.jobs[member.job].engine.engine;
    let writes = |member: &&Member| {
        let job = &plan.jobs[member.job];
        engine(member) != Engine::Null && job.pattern.direction.changes_data() && !job.verify.only
    };
    let files = members
        .iter()
        .filter(writes)
        .flat_map(|member| member.files.files.iter().map(move |file| (file, engine(member))));
    files.filter(|(file, _)| file.existing.is_some()).map(|(file, engine)| (file.path.as_str(), engine)).collect()
}

/// The path without links, so that `/dev/disk/by-id/…` and `/dev/sdb` are one.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

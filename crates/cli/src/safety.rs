//! What must not be written to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::probe;
use job::{Engine, Plan};

use crate::members::Member;

/// Why this run must not begin, a line for each device and filesystem; empty where it may.
///
/// A block device that carries a partition table, a filesystem or another signature, that is mounted or that
/// somebody holds, is written to only if it is named in `allowed`.
pub(crate) fn check(plan: &Plan, members: &[Member], allowed: &[PathBuf]) -> Vec<String> {
    let allowed: BTreeSet<PathBuf> = allowed.iter().map(|path| real(path)).collect();
    let mut dangers = Vec::new();
    for path in written_devices(plan, members) {
        let place = Path::new(path);
        if allowed.contains(&real(place)) {
            continue;
        }
        match probe::data_on(place) {
            Ok(found) if found.is_empty() => {}
            Ok(found) => dangers.push(refusal(path, &found.join(", "))),
            Err(error) => dangers.push(format!("{path} cannot be examined before it is written to: {error}")),
        }
    }
    dangers
}

fn refusal(path: &str, found: &str) -> String {
    format!(
        "{path} would be overwritten, but it holds data: {found}. If that may be destroyed, add \
         --allow-destroy={path}; else choose another device, or a file"
    )
}

/// The devices that are mounted, of those that a run would write to: what fio itself refuses.
pub(crate) fn mounted(plan: &Plan, members: &[Member]) -> Vec<String> {
    let permitted = |member: &Member| plan.jobs[member.job].files.allow_mounted_write;
    let members: Vec<Member> = members.iter().filter(|member| !permitted(member)).cloned().collect();
    let paths = written_devices(plan, &members);
    paths.into_iter().filter(|path| probe::is_mounted(Path::new(path))).map(str::to_owned).collect()
}

/// Block devices that a run writes to or trims, each once.
fn written_devices<'a>(plan: &Plan, members: &'a [Member]) -> BTreeSet<&'a str> {
    let writes = |member: &&Member| {
        let job = &plan.jobs[member.job];
        job.engine.engine != Engine::Null && job.pattern.direction.changes_data() && !job.verify.only
    };
    let files = members.iter().filter(writes).flat_map(|member| &member.files.files);
    files.filter(|file| file.existing.is_some_and(|fact| fact.block_device)).map(|file| file.path.as_str()).collect()
}

/// The path without links, so that `/dev/disk/by-id/…` and `/dev/sdb` are one.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

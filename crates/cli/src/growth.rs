//! Files that a run would make or extend, and what stands against that.

use std::path::{Path, PathBuf};

use engine::files::Layout;
use engine::gate::{Denied, Gate};
use job::{Engine, Plan};
use units::Bytes;

use crate::members::Member;
use crate::words::shell_word;

/// A file that a run needs larger than it is.
pub(crate) struct Growth {
    pub(crate) path: PathBuf,
    /// Its size now; `None` where it does not exist.
    pub(crate) from: Option<u64>,
    /// The size that the run needs.
    pub(crate) to: u64,
    /// Whether the run writes it, not only before it begins.
    written: bool,
}

/// What layouts would add to files.
pub(crate) fn of(layouts: &[Layout]) -> Vec<Growth> {
    let growth = |layout: &Layout| {
        let from = engine::files::look(&layout.path).ok().flatten().map(|seen| seen.bytes);
        let grows = from.is_none_or(|from| from < layout.bytes);
        grows.then(|| Growth { path: layout.path.clone(), from, to: layout.bytes, written: layout.writes > 0 })
    };
    layouts.iter().filter_map(growth).collect()
}

impl Growth {
    /// What would be done, for people.
    pub(crate) fn text(&self) -> String {
        let (path, to) = (self.path.display(), Bytes::new(self.to));
        match self.from {
            None => format!("{path} would be made, with {to}"),
            Some(from) => format!("{path} would grow from {} to {to}", Bytes::new(from)),
        }
    }
}

/// Files that a run made and that are still there, in a line, with the command that removes them.
pub(crate) fn left(growths: &[Growth]) -> Option<String> {
    /// So many are named.
    const NAMED: usize = 3;
    let made: Vec<&Growth> = growths.iter().filter(|growth| growth.from.is_none() && growth.path.is_file()).collect();
    let bytes = Bytes::new(made.iter().map(|growth| growth.to).sum());
    let names = |growths: &[&Growth]| growths.iter().map(|growth| word(&growth.path)).collect::<Vec<_>>().join(" ");
    match made.as_slice() {
        [] => None,
        few if few.len() <= NAMED => Some(format!("left behind: {bytes}; remove it with: rm {}", names(few))),
        many => {
            let (shown, more) = (names(&many[..NAMED]), many.len() - NAMED);
            Some(format!("left behind: {bytes} in {shown} and {more} more files; remove them with rm"))
        }
    }
}

/// A file as a word of a command: what begins with a dash is no option.
fn word(path: &Path) -> String {
    let path = path.to_string_lossy();
    shell_word(&if path.starts_with('-') { format!("./{path}") } else { path.into_owned() })
}

/// What `--readonly` forbids: every growth.
pub(crate) fn against_readonly(growths: &[Growth]) -> Vec<String> {
    growths.iter().map(|growth| format!("{}, and --readonly forbids it", growth.text())).collect()
}

/// What `allow_file_create=0` forbids.
pub(crate) fn against_no_creation(plan: &Plan, members: &[Member]) -> Vec<String> {
    let forbids = |member: &&Member| {
        let job = &plan.jobs[member.job];
        !job.files.allow_file_create && job.engine.engine != Engine::Null
    };
    let missing = |member: &Member| {
        let name = plan.jobs[member.job].name.clone();
        let files = member.files.files.iter().filter(|file| file.existing.is_none());
        let tell = |path: &str| format!("{name}: {path} does not exist, and allow_file_create=0 forbids to make it");
        files.map(|file| tell(&file.path)).collect::<Vec<_>>()
    };
    members.iter().filter(forbids).flat_map(missing).collect()
}

/// What `fathom run` does not do unasked: extend a file that holds data and is only read, and make a file where a
/// device was meant.
pub(crate) fn against_surprise(growths: &[Growth], gate: &Gate) -> Vec<String> {
    growths.iter().filter_map(|growth| surprise(growth, gate)).collect()
}

fn surprise(growth: &Growth, gate: &Gate) -> Option<String> {
    let path = growth.path.display();
    match growth.from {
        None => match gate.check(&growth.path) {
            Err(denied @ Denied::Refused(_)) => Some(denied.to_string()),
            // The job that names it says what the system has against it.
            _ => None,
        },
        Some(1..) if !growth.written && !gate.permits_overwrite(&growth.path) => Some(format!(
            "{}, although the job only reads it: give a size of at most what it has, name another file, or add \
             --allow-overwrite={path}",
            growth.text()
        )),
        // It is extended before the run, which is a write like any other.
        Some(_) if !growth.written => gate.admit(&growth.path).err().map(|denied| denied.to_string()),
        Some(_) => None,
    }
}

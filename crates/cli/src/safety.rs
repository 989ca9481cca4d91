//! What a run may write to: from the jobs of a plan to the write gate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::gate::{Denied, Gate, Identity, Permissions, Sharing, note_input};
use job::{Engine, Plan};
use workload::Operations;

use crate::home;
use crate::members::Member;

/// The write gate of `run`, `sweep` and `suite`, whose data are all Fathom's: what they leave is marked as its own.
pub(crate) fn gate(destroy: &[PathBuf], overwrite: &[PathBuf]) -> Arc<Gate> {
    let (destroy, overwrite) = (destroy.to_vec(), overwrite.to_vec());
    open(Permissions { destroy, overwrite, marks_own: true, ..Permissions::default() })
}

/// The write gate of a server, whose files are its clients'.
pub(crate) fn gate_of_server(destroy: &[PathBuf]) -> Arc<Gate> {
    open(Permissions { destroy: destroy.to_vec(), any_file: true, ..Permissions::default() })
}

/// The write gate of `fathom fio`: as with fio, what is not in use may be overwritten, and several processes may write
/// to one file. `allow_mounted_write` permits the rest.
pub(crate) fn gate_of_fio(plan: &Plan, members: &[Member]) -> Arc<Gate> {
    let permitted = members.iter().filter(|member| plan.jobs[member.job].files.allow_mounted_write);
    let destroy =
        permitted.flat_map(|member| member.files.files.iter().map(|file| PathBuf::from(&file.path))).collect();
    open(Permissions { destroy, any_content: true, sharing: Sharing::Writers, ..Permissions::default() })
}

fn open(permissions: Permissions) -> Arc<Gate> {
    Arc::new(Gate::new(permissions, home::ledger().as_deref()))
}

/// Why this run must not begin, a line each; empty where it may. What may be written to is held by the gate from now on.
pub(crate) fn check(plan: &Plan, members: &[Member], gate: &Gate) -> Vec<String> {
    note_targets(members);
    let mut dangers = Vec::new();
    for (path, engine) in written(plan, members) {
        let admitted = match engine {
            Engine::Nbd => gate.admit_export(path),
            _ => admit(gate, Path::new(path)),
        };
        dangers.extend(admitted.err().map(|denied| denied.to_string()));
    }
    dangers
}

/// Notes the files of all jobs, read or written, as ones that results must not go into.
fn note_targets(members: &[Member]) {
    let files = members.iter().flat_map(|member| &member.files.files).map(|file| file.path.as_str());
    note_inputs(files.collect::<BTreeSet<_>>());
}

/// Notes files as ones that results must not go into.
pub(crate) fn note_inputs(files: impl IntoIterator<Item = impl AsRef<Path>>) {
    let found = files.into_iter().filter_map(|file| std::fs::metadata(file).ok());
    found.for_each(|metadata| note_input(&metadata));
}

/// What the system refuses to open as a file concerns the job that names it alone: its worker asks the gate again, and
/// says why it could not begin.
fn admit(gate: &Gate, path: &Path) -> Result<(), Denied> {
    match gate.check(path) {
        Err(Denied::Failed(_)) if !matches!(Identity::at(path), Some(Identity::Block(_))) => Ok(()),
        checked => checked,
    }
}

/// What the jobs of a plan can write to or trim, each once, and by which engine.
fn written<'a>(plan: &Plan, members: &'a [Member]) -> BTreeMap<&'a str, Engine> {
    let engine = |member: &Member| plan.jobs[member.job].engine.engine;
    let writes = |member: &&Member| {
        let job = &plan.jobs[member.job];
        engine(member) != Engine::Null && Operations::of(job).changes_data()
    };
    let files = members
        .iter()
        .filter(writes)
        .flat_map(|member| member.files.files.iter().map(move |file| (file.path.as_str(), engine(member))));
    files.collect()
}

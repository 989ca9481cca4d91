//! Decides what a run may write to, by passing the jobs of a plan to the write gate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::Problem;

use engine::gate::{Denied, FileIdentity, Permissions, Sharing, WriteGate, note_input};
use engine::thread::on_all_processors;
use job::{EngineKind, Job, NameAction, NameCall, Plan};
use runner::WorkerPlan;
use workload::{Operations, PlannedFile};

/// Creates the write gate of `run`, `sweep` and `suite`, which write all the data themselves, so their files are marked
/// as Fathom's.
pub fn gate(permissions: Permissions, ledger: Option<&Path>) -> Arc<WriteGate> {
    open(Permissions { marks_own: true, ..permissions }, ledger)
}

/// Creates the write gate of a server, whose files belong to its clients.
pub fn gate_of_server(destroy: &[PathBuf], ledger: Option<&Path>) -> Arc<WriteGate> {
    open(Permissions { destroy: destroy.to_vec(), any_file: true, ..Permissions::default() }, ledger)
}

/// Creates the write gate of `fathom fio`. As in fio, anything that is not in use may be overwritten, and several
/// processes may write to one file. `allow_mounted_write` permits the rest.
pub fn gate_of_fio(plan: &Plan, workers: &[WorkerPlan], ledger: Option<&Path>) -> Arc<WriteGate> {
    let permitted = workers.iter().filter(|worker| plan.jobs[worker.job].files.allow_mounted_write);
    let destroy =
        permitted.flat_map(|worker| worker.files.files.iter().map(|file| PathBuf::from(&file.path))).collect();
    open(Permissions { destroy, any_content: true, sharing: Sharing::Writers, ..Permissions::default() }, ledger)
}

fn open(permissions: Permissions, ledger: Option<&Path>) -> Arc<WriteGate> {
    Arc::new(WriteGate::new(permissions, ledger))
}

/// Returns the reasons against a run; none if it may begin. The gate holds what it admits.
pub fn check(plan: &Plan, workers: &[WorkerPlan], gate: &WriteGate) -> Vec<Problem> {
    note_targets(plan, workers);
    let targets = written(plan, workers);
    let ask = |target: &WrittenTarget<'_>| {
        let path = Path::new(target.path);
        let admitted = admit_by_engine(gate, target.path, target.engine).unwrap_or_else(|| admit(gate, path));
        admitted.err().map(Problem::from)
    };
    // Admissions wait for each other, but files that do not exist yet need none.
    let (missing, existing): (Vec<_>, Vec<_>) = targets.into_iter().partition(|target| target.is_missing);
    let mut refusals: Vec<_> = on_all_processors(&missing, ask).into_iter().zip(&missing).collect();
    refusals.extend(existing.iter().map(ask).zip(&existing));
    refusals.sort_by_key(|(_, target)| target.path);
    let of_donors = donors(plan, workers).into_iter().map(|donor| admit(gate, Path::new(&donor)));
    let of_donors = of_donors.filter_map(|admitted| admitted.err().map(Problem::from));
    refusals.into_iter().filter_map(|(refusal, _)| refusal).chain(of_donors).collect()
}

/// Asks the gate for a target that the engine does not open as a file. Returns `None` if it does.
fn admit_by_engine(gate: &WriteGate, path: &str, engine: EngineKind) -> Option<Result<(), Denied>> {
    let place = Path::new(path);
    let admitted = match engine {
        EngineKind::Nbd => gate.admit_export(path),
        EngineKind::Http => gate.admit_objects(path).map(drop),
        EngineKind::IoUringCmd => gate.admit_namespace(place).map(drop),
        EngineKind::Sg => gate.admit_scsi(place).map(drop),
        _ => check_name(gate, place, engine.name_call()?),
    };
    note_inputs([path]);
    Some(admitted)
}

/// Returns the donor files of jobs that exchange extents: their data are lost.
fn donors(plan: &Plan, workers: &[WorkerPlan]) -> BTreeSet<String> {
    workers.iter().filter_map(|worker| plan.jobs[worker.job].donor_path(worker.clone)).collect()
}

/// Registers the files of jobs that only read as ones that results must not replace. Those of the others are registered
/// with their check.
fn note_targets(plan: &Plan, workers: &[WorkerPlan]) {
    let readers = workers.iter().filter(|worker| !changes_targets(&plan.jobs[worker.job]));
    let files = readers.flat_map(|worker| &worker.files.files).map(|file| file.path.as_str());
    note_inputs(files.collect::<BTreeSet<_>>());
}

/// Registers files that results must not replace.
pub fn note_inputs(files: impl IntoIterator<Item = impl AsRef<Path>>) {
    let found = files.into_iter().filter_map(|file| std::fs::metadata(file).ok());
    found.for_each(|metadata| note_input(&metadata));
}

/// Asks the gate for a call on a name. Workers ask again and report errors of the system.
fn check_name(gate: &WriteGate, path: &Path, call: NameCall) -> Result<(), Denied> {
    let checked = match (call.action, call.directory) {
        (NameAction::Create, directory) => gate.check_creation(path, directory),
        (NameAction::Delete, false) => gate.check_file_removal(path),
        (NameAction::Delete, true) => gate.check_directory_removal(path),
        (NameAction::Stat, _) => Ok(()),
    };
    if matches!(checked, Err(Denied::Failed(_))) { Ok(()) } else { checked }
}

/// Reports whether a job opens its files for writing.
pub(crate) fn opens_for_writing(job: &Job) -> bool {
    // The kernel allocates space and exchanges extents through descriptors for writing only, whatever the direction.
    let operations = Operations::of(job);
    matches!(job.engine.kind, EngineKind::Falloc | EngineKind::E4defrag)
        || operations.trim
        || operations.write && job.engine.writes_change()
}

/// Reports whether a job can change files or devices.
pub(crate) fn changes_targets(job: &Job) -> bool {
    match job.engine.kind.name_call() {
        Some(call) => call.action != NameAction::Stat,
        None if job.engine.kind == EngineKind::IoUringCmd => opens_for_writing(job),
        None => !job.engine.kind.has_no_storage() && (opens_for_writing(job) || Operations::of(job).remove),
    }
}

/// Ignores errors of the system for paths other than block devices: only the job with that file is affected, and its
/// worker asks the gate again and reports the error.
fn admit(gate: &WriteGate, path: &Path) -> Result<(), Denied> {
    match gate.check(path) {
        Err(Denied::Failed(_)) if !matches!(FileIdentity::at(path), Some(FileIdentity::Block(_))) => Ok(()),
        checked => checked,
    }
}

/// A target that jobs can write to or trim.
struct WrittenTarget<'a> {
    path: &'a str,
    engine: EngineKind,
    /// Whether it did not exist when the run was planned.
    is_missing: bool,
}

/// Returns the targets that the jobs of a plan can write to or trim, each once.
fn written<'a>(plan: &Plan, workers: &'a [WorkerPlan]) -> Vec<WrittenTarget<'a>> {
    let engine = |worker: &WorkerPlan| plan.jobs[worker.job].engine.kind;
    let writes = |worker: &&WorkerPlan| changes_targets(&plan.jobs[worker.job]);
    let files = workers.iter().filter(writes).flat_map(|worker| {
        let target = move |file: &'a PlannedFile| {
            let is_missing = file.existing.is_none();
            (file.path.as_str(), WrittenTarget { path: &file.path, engine: engine(worker), is_missing })
        };
        worker.files.files.iter().map(target)
    });
    files.collect::<BTreeMap<_, _>>().into_values().collect()
}

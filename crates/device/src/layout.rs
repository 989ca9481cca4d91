//! Lays out files before the first operation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use engine::files::{FileLayout, Laid, LayoutContent, LayoutProgress, lay_out};
use engine::gate::WriteGate;
use job::{EngineKind, Fallocate, Job, NameAction, NameCall, Plan};
use runner::{Seeds, WorkerPlan};
use units::{Problem, ProblemCode};
use workload::{FilePlan, Operations, PlannedFile};

use crate::safety;

/// Files that could not be created, with the errors.
pub type FailedFiles = BTreeMap<PathBuf, engine::Error>;

/// Returns the layouts of files to be created or extended, each file once, in the order of the workers' files.
pub fn planned(plan: &Plan, workers: &[WorkerPlan], seeds: Seeds) -> Vec<FileLayout> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut layouts: Vec<FileLayout> = Vec::new();
    for worker in workers {
        let job = &plan.jobs[worker.job];
        if has_no_files(job) || leaves_names_alone(job) {
            continue;
        }
        let directory = job.engine.kind.name_call().is_some_and(|call| call.directory);
        for file in &worker.files.files {
            if file.existing.is_some_and(|fact| fact.block_device) || directory && Path::new(&file.path).is_dir() {
                continue;
            }
            let place = *places.entry(&file.path).or_insert_with(|| {
                layouts.push(FileLayout {
                    path: PathBuf::from(&file.path),
                    bytes: 0,
                    content: LayoutContent::Reserved,
                    writes: 0,
                    fallocate: fallocate(job),
                    fsync: false,
                    seed: seeds.of(job),
                });
                layouts.len() - 1
            });
            let layout = &mut layouts[place];
            if directory {
                layout.content = LayoutContent::Directory;
                continue;
            }
            layout.bytes = layout.bytes.max(file.needed);
            layout.fsync |= job.files.create_fsync;
            layout.writes = layout.writes.saturating_add(max_written(job, &worker.files, file));
            if job.needs_data() || plan.needed_by_ranks.contains(&file.path) {
                layout.content = LayoutContent::Filled;
            }
        }
    }
    layouts
}

/// Reports whether a job has no files that could be laid out. An object is made by its first write.
fn has_no_files(job: &Job) -> bool {
    job.engine.kind.has_no_storage() || job.engine.kind.is_of_objects()
}

/// Reports whether a job works on names that need not exist: it creates them, or fails where they are missing.
fn leaves_names_alone(job: &Job) -> bool {
    let creates = |call: NameCall| call.action == NameAction::Create;
    job.engine.kind.name_call().is_some_and(|call| creates(call) || job.files.create_on_open)
}

/// Returns the maximum bytes that a worker can write to a file before the job ends, in whole pages, as filesystems
/// allocate them. A job that only trims counts as one byte, because it changes the file too.
fn max_written(job: &Job, plan: &FilePlan, file: &PlannedFile) -> u64 {
    const PAGE_BYTES: u64 = 4096;
    let is_written = safety::opens_for_writing(job);
    if !(is_written || Operations::of(job).remove) || job.engine.kind.name_call().is_some() {
        return 0;
    }
    // It uses all the space there is, or goes on without; and a job that only removes needs none.
    if job.fills_device() || job.ignores_full_disk() || !is_written {
        return 1;
    }
    let block = u64::from(job.pattern.block_sizes.write.max());
    let operations = |bytes: u64| bytes.div_ceil(u64::from(job.pattern.block_sizes.write.min()).max(1));
    let loops = if job.extent.time_based { u64::MAX } else { u64::from(job.extent.loops.max(1)) };
    let most = job.extent.number_ios.unwrap_or(u64::MAX).min(plan.io_size.map_or(u64::MAX, operations));
    // A block may start in one page and end in the next.
    let each = block.next_multiple_of(PAGE_BYTES) + PAGE_BYTES * u64::from(!block.is_multiple_of(PAGE_BYTES));
    most.saturating_mul(loops).saturating_mul(each).min(file.extent.length).max(1)
}

/// Outcome of a layout.
#[derive(Debug, Default)]
pub struct LaidFiles {
    /// Files that could not be created.
    pub failed: FailedFiles,
    /// Files that other ranks of the run were laying out.
    pub elsewhere: Vec<FileLayout>,
}

impl LaidFiles {
    /// Adds the outcome of another attempt.
    pub fn add(&mut self, other: Self) {
        self.failed.extend(other.failed);
        self.elsewhere.extend(other.elsewhere);
    }

    /// Returns the files that could not be created, including those that other ranks are still laying out when the run
    /// ends.
    pub fn into_failed(mut self) -> FailedFiles {
        for layout in self.elsewhere {
            let path = layout.path.display();
            let what = format!("cannot lay out {path}: the run ended while another rank was laying it out");
            let error = engine::Error {
                kind: engine::ErrorKind::File,
                problem: Box::new(
                    Problem::error(ProblemCode::Device, what).help("see the messages of the other ranks"),
                ),
                errno: None,
            };
            self.failed.insert(layout.path, error);
        }
        self.failed
    }
}

/// Creates the files.
///
/// # Errors
/// Fails if there is not enough space for all of them, or the user cancels it; an unfinished file is then restored.
pub fn create(
    layouts: &[FileLayout],
    gate: &WriteGate,
    cancel: &AtomicBool,
    report: &mut dyn FnMut(&Path, u64, u64),
) -> Result<LaidFiles, engine::Error> {
    let mut progress = |progress: LayoutProgress<'_>| report(progress.path, progress.written, progress.total);
    let mut outcome = LaidFiles::default();
    for (layout, laid) in layouts.iter().zip(lay_out(layouts, gate, cancel, &mut progress)?) {
        match laid {
            Ok(Laid::Elsewhere) => outcome.elsewhere.push(layout.clone()),
            Ok(Laid::Found | Laid::Extended(_) | Laid::Created) => {}
            Err(error) => drop(outcome.failed.insert(layout.path.clone(), error)),
        }
    }
    Ok(outcome)
}

/// Returns, for each worker with files to be created or extended, its job, their number and their total size in bytes.
pub fn of_each(plan: &Plan, workers: &[WorkerPlan]) -> Vec<(usize, usize, u64)> {
    let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut made = Vec::new();
    for worker in workers {
        let job = &plan.jobs[worker.job];
        if has_no_files(job) || job.files.create_on_open || leaves_names_alone(job) {
            continue;
        }
        let (mut files, mut bytes) = (0, 0);
        for file in &worker.files.files {
            let size = sizes.entry(&file.path).or_insert_with(|| file.existing.map_or(0, |fact| fact.size));
            if file.needed > *size {
                *size = file.needed;
                files += 1;
                bytes = u64::saturating_add(bytes, file.needed);
            }
        }
        if files > 0 {
            made.push((worker.job, files, bytes));
        }
    }
    made
}

fn fallocate(job: &Job) -> Fallocate {
    match job.files.fallocate {
        // Files are created empty, but only after checking that there is space for what the run will write.
        _ if job.files.create_on_open => Fallocate::None,
        // A mapping cannot extend its file.
        Fallocate::None | Fallocate::Keep if job.engine.kind == EngineKind::Mmap => Fallocate::Truncate,
        asked => asked,
    }
}

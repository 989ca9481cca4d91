//! The host as the environment of a plan.

use std::path::Path;

use engine::files::FileKind;
use engine::identify_namespace;
use job::limits::Capacity;
use job::{Dialect, EngineKind, Job, NameAction, Size};
use runner::Environment;
use units::{Problem, ZoneReport};
use workload::{FileFact, FilePlan};

use crate::attributes;
use crate::capacity;
use crate::exports::Exports;
use crate::zones;

/// The files and devices of this host, and the NBD exports that it can reach.
pub struct HostEnvironment {
    dialect: Dialect,
    exports: Exports,
}

impl HostEnvironment {
    /// Creates the environment of one plan.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, exports: Exports::default() }
    }
}

impl Environment for HostEnvironment {
    fn fact(&self, job: &Job, path: &str) -> Option<FileFact> {
        match job.engine.kind {
            engine if engine.has_no_storage() || engine.is_of_objects() => return None,
            // What exists under the name has no size that matters.
            engine if engine.name_call().is_some_and(|call| call.directory || call.action == NameAction::Create) => {
                return None;
            }
            // Like a block device, an export has a fixed size.
            EngineKind::Nbd => {
                return self.exports.of(path).ok().map(|export| FileFact {
                    size: export.bytes,
                    block_device: true,
                    ..FileFact::default()
                });
            }
            EngineKind::IoUringCmd => return namespace_fact(job, path, has_zones(job)),
            EngineKind::Sg => {
                let bytes = engine::scsi::disk_bytes(Path::new(path))?;
                return Some(FileFact { size: bytes, block_device: true, ..FileFact::default() });
            }
            _ => {}
        }
        let seen = engine::files::look(Path::new(path)).ok().flatten()?;
        let zone_bytes = if has_zones(job) { engine::zones::size(Path::new(path)) } else { None }.unwrap_or(0);
        let block_device = seen.kind == FileKind::Block;
        Some(FileFact { size: seen.bytes, block_device, zone_bytes, is_planned: false })
    }

    fn capacity(&self) -> Capacity {
        capacity::of_host()
    }

    /// A missing `directory` is not created: its name is probably misspelt, or its filesystem is not mounted.
    fn check(&self, job: &Job) -> Result<(), Problem> {
        let missing = job.files.directories.iter().find(|path| !path.is_empty() && !Path::new(path).is_dir());
        missing.map_or_else(
            || {
                attributes::check(job)
                    .and_then(|()| self.exports.check(job, self.dialect))
                    .and_then(|()| check_namespaces(job))
            },
            |path| {
                Err(job
                    .unfit("directory", format_args!("{path} is not a directory"))
                    .help("create or mount the directory first, or correct the path"))
            },
        )
    }

    /// Rejects paths that are neither files nor devices.
    fn check_files(&self, job: &Job, files: &FilePlan) -> Result<(), Problem> {
        let engine = job.engine.kind;
        if engine == EngineKind::Sg {
            let wrong = files.files.iter().find_map(|file| engine::scsi::check(Path::new(&file.path)).err());
            return wrong.map_or(Ok(()), |error| Err(job.unfit_because("filename", error.into())));
        }
        if engine.has_no_storage() || engine.is_remote() || engine.name_call().is_some_and(|call| call.directory) {
            return Ok(());
        }
        // What exists has been looked at, except which kind of character device it is.
        let of_no_size = files.files.iter().filter(|file| file.existing.is_none_or(|fact| fact.size == 0));
        let paths: Vec<&str> = of_no_size.map(|file| file.path.as_str()).collect();
        engine::thread::on_all_processors(&paths, |path| check_kind(job, path)).into_iter().collect()
    }

    fn zones(&self, job: &Job, path: &str) -> Result<Option<ZoneReport>, Problem> {
        zones::of_device(job, path)
    }

    fn resolve(&self, path: &str) -> String {
        let path = Path::new(path);
        let in_directory = || {
            let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
            Some(directory.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
        };
        let resolved = path.canonicalize().ok().or_else(in_directory);
        resolved.as_deref().unwrap_or(path).to_string_lossy().into_owned()
    }
}

/// Rejects what is neither a file nor a device, and the character device of a namespace if the engine sends no commands.
/// A name that cannot be looked at is left to the worker, which reports why.
fn check_kind(job: &Job, path: &str) -> Result<(), Problem> {
    match engine::files::look(Path::new(path)) {
        Ok(Some(seen)) if seen.kind == FileKind::Character && job.engine.kind != EngineKind::IoUringCmd => {
            refuse_namespace(job, path)
        }
        Err(error) if error.errno.is_none() => Err(job.unfit_because("filename", error.into())),
        _ => Ok(()),
    }
}

/// Reports whether sizes of a job are numbers of zones.
fn has_zones(job: &Job) -> bool {
    let extent = &job.extent;
    let sizes = [extent.size, extent.io_size, Some(extent.offset), Some(extent.offset_increment)];
    sizes.iter().any(|size| matches!(size, Some(Size::Zones(_))))
}

/// Returns the state of the namespace at a path, with the size of its zones if it is needed; `None` if there is none.
fn namespace_fact(job: &Job, path: &str, zones_are_needed: bool) -> Option<FileFact> {
    let namespace = identify_namespace(Path::new(path)).ok()?;
    // Like a block device, a namespace has a fixed size.
    let zone_bytes = zones_are_needed.then(|| zone_bytes_of(job, Path::new(path))).flatten().unwrap_or(0);
    Some(FileFact {
        size: namespace.capacity(job.engine.nvme.pi_act),
        block_device: true,
        zone_bytes,
        ..FileFact::default()
    })
}

/// Returns the size of the zones of a namespace; `None` without zones.
fn zone_bytes_of(job: &Job, path: &Path) -> Option<u64> {
    let report = engine::zones_of_namespace(path, job.engine.nvme.pi_act).ok()??;
    Some(report.zone_bytes)
}

/// Checks that a job names namespaces and nothing else.
fn check_namespaces(job: &Job) -> Result<(), Problem> {
    if job.engine.kind != EngineKind::IoUringCmd {
        return Ok(());
    }
    let mut paths = job.files.filenames.clone();
    if paths.is_empty() {
        paths.push(job.section_title().to_owned());
    }
    match paths.iter().find_map(|path| identify_namespace(Path::new(path)).err()) {
        Some(_) if job.files.filenames.is_empty() => {
            let what = "engine io_uring_cmd needs the character device of an NVMe namespace";
            Err(job.unfit("filename", what).help("set filename=/dev/ngXnY"))
        }
        Some(error) => Err(job.unfit_because("filename", error.into())),
        None => Ok(()),
    }
}

/// Returns the error if another engine would use the character device of a namespace.
fn refuse_namespace(job: &Job, path: &str) -> Result<(), Problem> {
    let Some(node) = probe::namespace_at(Path::new("/"), Path::new(path)) else { return Ok(()) };
    let what =
        format!("cannot use {path}: it is the character device of an NVMe namespace, which accepts only commands");
    let help = format!("use filename=/dev/{} for its block device, or ioengine=io_uring_cmd", node.block_name);
    Err(job.unfit("filename", what).help(help))
}

//! The host as the environment of a plan.

use std::path::Path;

use engine::files::FileKind;
use job::limits::Capacity;
use job::{Dialect, Engine, Job, NameAction, Size};
use runner::Environment;
use units::ZoneReport;
use workload::{FileFact, FilePlan, WorkloadError};

use crate::attributes;
use crate::capacity;
use crate::exports::Exports;
use crate::namespaces;
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
        match job.engine.engine {
            engine if engine.has_no_storage() || engine.is_of_objects() => return None,
            // What exists under the name has no size that matters.
            engine if engine.name_call().is_some_and(|call| call.directory || call.action == NameAction::Create) => {
                return None;
            }
            // Like a block device, an export has a fixed size.
            Engine::Nbd => {
                return self.exports.of(path).ok().map(|export| FileFact {
                    size: export.bytes,
                    block_device: true,
                    ..FileFact::default()
                });
            }
            Engine::IoUringCmd => return namespaces::fact(job, path, has_zones(job)),
            Engine::Sg => {
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
    fn check(&self, job: &Job) -> Result<(), WorkloadError> {
        let missing = job.files.directories.iter().find(|path| !path.is_empty() && !Path::new(path).is_dir());
        missing.map_or_else(
            || {
                attributes::check(job)
                    .and_then(|()| self.exports.check(job, self.dialect))
                    .and_then(|()| namespaces::check(job))
            },
            |path| {
                let message = format!("{path} is not a directory\nhelp: create or mount it first, or correct the path");
                Err(WorkloadError { option: "directory", message })
            },
        )
    }

    /// Rejects paths that are neither files nor devices.
    fn check_files(&self, job: &Job, files: &FilePlan) -> Result<(), WorkloadError> {
        let engine = job.engine.engine;
        if engine == Engine::Sg {
            let wrong = files.files.iter().find_map(|file| engine::scsi::check(Path::new(&file.path)).err());
            return wrong.map_or(Ok(()), |error| Err(WorkloadError { option: "filename", message: error.to_string() }));
        }
        if engine.has_no_storage() || engine.is_remote() || engine.name_call().is_some_and(|call| call.directory) {
            return Ok(());
        }
        // What exists has been looked at, except which kind of character device it is.
        let of_no_size = files.files.iter().filter(|file| file.existing.is_none_or(|fact| fact.size == 0));
        let paths: Vec<&str> = of_no_size.map(|file| file.path.as_str()).collect();
        engine::thread::on_all_processors(&paths, |path| check_kind(engine, path)).into_iter().collect()
    }

    fn zones(&self, job: &Job, path: &str) -> Result<Option<ZoneReport>, WorkloadError> {
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
fn check_kind(engine: Engine, path: &str) -> Result<(), WorkloadError> {
    match engine::files::look(Path::new(path)) {
        Ok(Some(seen)) if seen.kind == FileKind::Character && engine != Engine::IoUringCmd => {
            namespaces::check_other(path)
        }
        Err(error) if error.errno.is_none() => Err(WorkloadError { option: "filename", message: error.to_string() }),
        _ => Ok(()),
    }
}

/// Reports whether sizes of a job are numbers of zones.
fn has_zones(job: &Job) -> bool {
    let extent = &job.extent;
    let sizes = [extent.size, extent.io_size, Some(extent.offset), Some(extent.offset_increment)];
    sizes.iter().any(|size| matches!(size, Some(Size::Zones(_))))
}

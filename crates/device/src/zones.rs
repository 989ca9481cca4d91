//! Zones of devices, and those of files and devices without zones, which workers of a run share.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use engine::files::ZoneTrim;
use job::{EngineKind, Job, Plan};
use runner::{Environment, WorkerPlan};
use units::{Bytes, Problem, ProblemCode, ZoneReport};
use workload::{Operations, ZoneGeometry, ZoneTable};

/// The zones of the files of all jobs with `zonemode=zbd`, by path.
#[derive(Debug, Default)]
pub(crate) struct SharedZones {
    tables: BTreeMap<String, Arc<ZoneTable>>,
}

/// Returns the zones of a zoned device; `None` for other devices and for files.
///
/// # Errors
///
/// Fails if the device does not report its zones.
pub(crate) fn of_device(job: &Job, path: &str) -> Result<Option<ZoneReport>, Problem> {
    if job.engine.kind == EngineKind::Null {
        return Ok(None);
    }
    let report = if job.engine.kind == EngineKind::IoUringCmd {
        engine::zones_of_namespace(Path::new(path), job.engine.nvme.pi_act)
    } else {
        engine::zones::report(Path::new(path))
    };
    report.map_err(|error| job.unfit_because("filename", error.into()))
}

/// Returns one name for all paths of a file or device. An NVMe namespace has that of its block device.
fn device_of(path: &str, names: &dyn Environment) -> String {
    match probe::namespace_at(Path::new("/"), Path::new(path)) {
        Some(namespace) => names.resolve(&format!("/dev/{}", namespace.block_name)),
        None => names.resolve(path),
    }
}

impl SharedZones {
    /// Reads the zones of all devices of jobs with `zonemode=zbd`, as they are now. `names` resolves paths, because a
    /// device has one table under all its names.
    pub(crate) fn of(plan: &Plan, workers: &[WorkerPlan], names: &dyn Environment) -> Result<Self, Problem> {
        let mut tables = BTreeMap::new();
        let mut known: BTreeMap<String, Arc<ZoneTable>> = BTreeMap::new();
        for worker in workers {
            let job = &plan.jobs[worker.job];
            let Some(zoned) = &job.pattern.zoned else { continue };
            for file in &worker.files.files {
                let resolved = device_of(&file.path, names);
                let table = match (known.get(&resolved), of_device(job, &file.path)?) {
                    (Some(table), _) => Arc::clone(table),
                    (None, Some(report)) => Arc::new(ZoneTable::of_device(&report)),
                    (None, None) => {
                        let ZoneGeometry { zone_bytes, capacity } = ZoneGeometry::emulated(job, zoned, &file.path)?;
                        let end = |other: &WorkerPlan| {
                            let same = other.files.files.iter().filter(|other| other.path == file.path);
                            same.map(|file| file.needed.max(file.extent.start + file.extent.length)).max()
                        };
                        let bytes = workers.iter().filter_map(end).max().unwrap_or(0);
                        Arc::new(ZoneTable::emulated(bytes, zone_bytes, capacity))
                    }
                };
                if let Some(size) = zoned.zone_size.filter(|size| size.get() != table.zone_bytes()) {
                    let own = Bytes::new(table.zone_bytes());
                    let what = format!("another job uses zones of {own} on {}, not {size}", file.path);
                    return Err(job.unfit("zonesize", what).help(format!("set zonesize={own}")));
                }
                known.insert(resolved, Arc::clone(&table));
                tables.insert(file.path.clone(), table);
            }
        }
        Ok(Self { tables })
    }

    /// Returns the zones of a worker's files; none if its job does not work in zones.
    pub(crate) fn of_worker(&self, worker: &WorkerPlan, job: &Job) -> Result<Vec<Arc<ZoneTable>>, Problem> {
        if job.pattern.zoned.is_none() {
            return Ok(Vec::new());
        }
        let table = |path: &str| self.tables.get(path).cloned();
        let tables: Option<Vec<_>> = worker.files.files.iter().map(|file| table(&file.path)).collect();
        tables.ok_or_else(|| Problem::error(ProblemCode::Operation, format!("{}: {}", job.name, crate::BUG_REPORT)))
    }

    /// Returns the effect of trims on a file.
    pub(crate) fn trim_of(&self, job: &Job, path: &str) -> ZoneTrim {
        match self.tables.get(path).filter(|_| job.pattern.zoned.is_some()) {
            None => ZoneTrim::Discard,
            Some(table) if table.is_emulated() => ZoneTrim::Nothing,
            Some(_) => ZoneTrim::Reset,
        }
    }
}

/// Returns the reasons against jobs that verify zones which other workers write at the same time, and whose data these
/// would reset.
pub(crate) fn refusals(plan: &Plan, workers: &[WorkerPlan], names: &dyn Environment) -> Vec<Problem> {
    let writers: Vec<_> = workers
        .iter()
        .filter(|worker| {
            let job = &plan.jobs[worker.job];
            job.pattern.zoned.is_some() && Operations::of(job).writes()
        })
        .flat_map(|worker| {
            worker.files.files.iter().map(move |file| (worker, device_of(&file.path, names), file.extent))
        })
        .collect();
    let mut refusals = Vec::new();
    for (worker, path, extent) in &writers {
        let job = &plan.jobs[worker.job];
        if job.verify.method.is_none() {
            continue;
        }
        let overlaps = |(other, other_path, other_extent): &&(&WorkerPlan, String, workload::FileExtent)| {
            let is_apart = other_extent.start >= extent.start + extent.length
                || extent.start >= other_extent.start + other_extent.length;
            other.number != worker.number && other.stage == worker.stage && other_path == path && !is_apart
        };
        if let Some((other, ..)) = writers.iter().find(overlaps) {
            let (name, other) = (&job.name, &plan.jobs[other.job].name);
            let what = format!("job {name} verifies zones of {path} that job {other} resets concurrently");
            let help = "assign each worker its own zones (offset, offset_increment, size), or omit verify";
            refusals.push(Problem::error(ProblemCode::Zones, what).help(help));
        }
    }
    refusals
}

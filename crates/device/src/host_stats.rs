//! Statistics of the host during a run: device counters, file sizes and cached fractions of files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use engine::files::{self, FileKind, Seen};
use job::{EngineKind, NameAction, Plan};
use probe::{Number, ProbedDisk};
use record::{DiskCounters, DiskUse, HostRecord, TargetFacts, TargetKind, Throttle};
use runner::{RunFacts, WorkerPlan};
use workload::FilePlan;

use crate::doctor_facts::throttles;
use crate::root;
use crate::stall::Devices;

/// Host statistics, collected before, during and after a run.
#[derive(Clone)]
pub(crate) struct HostStats {
    /// Each once, by path.
    targets: Vec<WatchedTarget>,
    disks: Vec<WatchedDisk>,
    /// What is below the filesystems of regular files, by their numbers: jobs may have very many files.
    environments: BTreeMap<u64, FileEnvironment>,
}

#[derive(Clone)]
struct WatchedTarget {
    facts: TargetFacts,
    /// The device below.
    device: Option<Number>,
    /// Throttles of all devices below.
    throttles: Arc<[Throttle]>,
}

/// What an inspection has found of a target.
pub(crate) type Inspected = Option<(Seen, Option<f64>)>;

/// A target to be inspected.
struct Look<'a> {
    path: &'a str,
    invalidates: bool,
    disk_util: bool,
}

/// The targets to be inspected, each once.
#[derive(Default)]
struct Looks<'a> {
    in_order: Vec<Look<'a>>,
    places: BTreeMap<&'a str, usize>,
}

impl<'a> Looks<'a> {
    fn add(&mut self, path: &'a str, invalidates: bool, disk_util: bool) {
        let place = *self.places.entry(path).or_insert(self.in_order.len());
        match self.in_order.get_mut(place) {
            Some(known) => {
                known.invalidates |= invalidates;
                known.disk_util |= disk_util;
            }
            None => self.in_order.push(Look { path, invalidates, disk_util }),
        }
    }
}

/// What is below a filesystem.
#[derive(Clone)]
struct FileEnvironment {
    in_memory: bool,
    disk: Option<ProbedDisk>,
    throttles: Arc<[Throttle]>,
}

impl FileEnvironment {
    fn of(place: &Path) -> Self {
        let in_memory = probe::filesystem_of(root(), place).is_some_and(|mount| mount.is_in_memory());
        Self { in_memory, disk: probe::disk_under(root(), place), throttles: throttles(root(), place).into() }
    }
}

#[derive(Clone)]
struct WatchedDisk {
    name: String,
    number: Number,
    before: DiskCounters,
    since: Instant,
}

impl HostStats {
    /// Inspects all files and devices of a run before it begins.
    pub(crate) fn before(plan: &Plan, workers: &[WorkerPlan]) -> Self {
        let mut stats = Self { targets: Vec::new(), disks: Vec::new(), environments: BTreeMap::new() };
        let mut looks = Looks::default();
        for worker in workers {
            let job = &plan.jobs[worker.job];
            match job.engine.kind {
                engine if engine.has_no_storage() => continue,
                engine if engine.is_remote() => {
                    stats.add_export(&worker.files);
                    continue;
                }
                _ => {}
            }
            let call = job.engine.kind.name_call();
            if call.is_some_and(|call| call.action == NameAction::Create) {
                continue;
            }
            for file in &worker.files.files {
                // The cached fraction is then the one that the run starts with. Workers invalidate again when they start.
                looks.add(&file.path, job.files.invalidate && call.is_none(), job.stats.disk_util);
            }
        }
        let inspected = engine::thread::on_all_processors(&looks.in_order, |look| {
            files::inspect(Path::new(look.path), look.invalidates)
        });
        stats.targets.reserve_exact(looks.in_order.len());
        for (look, (seen, cached)) in
            looks.in_order.iter().zip(inspected).filter_map(|(look, found)| Some((look, found?)))
        {
            stats.add(look, &seen, cached);
        }
        // Exports may be those of several workers.
        stats.targets.sort_unstable_by(|a, b| a.facts.path.cmp(&b.facts.path));
        stats.targets.dedup_by(|a, b| a.facts.path == b.facts.path);
        let of_commands = workers.iter().filter(|worker| plan.jobs[worker.job].engine.kind == EngineKind::IoUringCmd);
        for file in of_commands.flat_map(|worker| &worker.files.files) {
            if let Some(place) = stats.place_of(&file.path) {
                stats.targets[place].facts.size = file.needed;
            }
        }
        stats
    }

    /// Adds an export or objects, which have neither a cache nor a device on this host.
    fn add_export(&mut self, plan: &FilePlan) {
        for file in &plan.files {
            let (path, size) = (file.path.clone(), file.needed);
            let kind = TargetKind::Other;
            let facts = TargetFacts { path, kind, size, allocated: None, cached_before: None, cached_after: None };
            self.targets.push(WatchedTarget { facts, device: None, throttles: Arc::default() });
        }
    }

    fn add(&mut self, look: &Look<'_>, seen: &Seen, cached_before: Option<f64>) {
        let place = Path::new(look.path);
        let environment = match seen.kind {
            FileKind::Regular => {
                self.environments.entry(seen.filesystem).or_insert_with(|| FileEnvironment::of(place)).clone()
            }
            FileKind::Block | FileKind::Character => FileEnvironment::of(place),
        };
        let facts = TargetFacts {
            path: look.path.to_owned(),
            kind: target_kind(seen.kind, environment.in_memory),
            size: seen.bytes,
            allocated: Some(seen.allocated),
            cached_before,
            cached_after: None,
        };
        let device = environment.disk.as_ref().map(|disk| disk.number);
        self.targets.push(WatchedTarget { facts, device, throttles: environment.throttles });
        let Some(disk) = environment.disk else { return };
        if look.disk_util
            && self.disks.iter().all(|known| known.number != disk.number)
            && let Some(before) = probe::counters(root(), disk.number)
        {
            self.disks.push(WatchedDisk { name: disk.name, number: disk.number, before, since: Instant::now() });
        }
    }

    fn place_of(&self, path: &str) -> Option<usize> {
        self.targets.binary_search_by(|target| target.facts.path.as_str().cmp(path)).ok()
    }

    /// Returns the devices below the files of each worker.
    pub(crate) fn devices(&self, workers: &[WorkerPlan]) -> Devices {
        let of = |worker: &WorkerPlan| {
            let files = worker.files.files.iter();
            files.filter_map(|file| self.targets[self.place_of(&file.path)?].device).collect()
        };
        Devices::new(workers.iter().map(of))
    }

    /// Inspects the targets at the end, for [`HostStats::finish`].
    pub(crate) fn inspect_again(&self) -> Vec<Inspected> {
        engine::thread::on_all_processors(&self.targets, |target| {
            let is_other = target.facts.kind == TargetKind::Other;
            if is_other { None } else { files::inspect(Path::new(&target.facts.path), false) }
        })
    }

    /// Takes what [`HostStats::inspect_again`] has found.
    pub(crate) fn finish(&mut self, inspected: Vec<Inspected>) {
        for (target, inspected) in self.targets.iter_mut().zip(inspected) {
            if let Some((seen, cached)) = inspected {
                let facts = &mut target.facts;
                (facts.allocated, facts.cached_after) = (Some(seen.allocated), cached);
                // Only commands tell the size of a namespace.
                facts.size = if seen.kind == FileKind::Character { facts.size } else { seen.bytes };
            }
        }
    }
}

impl RunFacts for HostStats {
    fn now(&self) -> (u64, i32) {
        let now_ms = unix_ms();
        (now_ms, local_time(now_ms).offset().seconds())
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn host(&self) -> HostRecord {
        host()
    }

    fn disk_use(&self) -> Vec<DiskUse> {
        self.disks.iter().filter_map(WatchedDisk::used).collect()
    }

    fn target(&self, path: &str) -> Option<TargetFacts> {
        self.place_of(path).map(|place| self.targets[place].facts.clone())
    }

    fn throttles(&self, path: &str) -> &[Throttle] {
        self.place_of(path).map_or(&[], |place| &self.targets[place].throttles)
    }
}

/// Returns this host as stored in records.
#[must_use]
pub fn host() -> HostRecord {
    let facts = probe::host(root());
    HostRecord { hostname: facts.name, kernel: facts.kernel, cpus: facts.cpus }
}

/// Returns the milliseconds since 1970.
#[must_use]
pub fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

/// Returns the local time at an instant. Instants after the year 9999, which no calendar of the program has, become its
/// end: a broken clock must not end a run.
#[must_use]
pub fn local_time(unix_ms: u64) -> jiff::Zoned {
    let instant = i64::try_from(unix_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    instant.unwrap_or(jiff::Timestamp::MAX).to_zoned(jiff::tz::TimeZone::system())
}

/// Returns the kind of a target as stored in records.
fn target_kind(kind: FileKind, in_memory: bool) -> TargetKind {
    match kind {
        FileKind::Regular if in_memory => TargetKind::Memory,
        FileKind::Regular => TargetKind::Regular,
        FileKind::Block => TargetKind::Block,
        FileKind::Character => TargetKind::Other,
    }
}

impl WatchedDisk {
    fn used(&self) -> Option<DiskUse> {
        let used = probe::counters(root(), self.number)?.since(&self.before)?;
        let elapsed_ms = self.since.elapsed().as_secs_f64().max(1e-3) * 1e3;
        Some(DiskUse {
            name: self.name.clone(),
            read_ios: used.read.requests,
            write_ios: used.write.requests,
            read_sectors: used.read.sectors,
            write_sectors: used.write.sectors,
            read_merges: used.read.merges,
            write_merges: used.write.merges,
            read_ticks_ms: used.read.wait_ms,
            write_ticks_ms: used.write.wait_ms,
            in_queue_ms: used.weighted_ms,
            util_percent: (used.busy_ms as f64 / elapsed_ms * 100.0).min(100.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `jiff::Zoned::now` panics.
    #[test]
    fn a_clock_beyond_the_year_9999_ended_the_run() {
        for unix_ms in [253_402_300_800_000, i64::MAX as u64, u64::MAX] {
            let at = local_time(unix_ms);
            assert!(at.timestamp() == jiff::Timestamp::MAX && at.offset().seconds().abs() < 86_400, "{at}");
        }
        assert_eq!(local_time(1_795_294_384_000).timestamp().as_second(), 1_795_294_384);
    }
}

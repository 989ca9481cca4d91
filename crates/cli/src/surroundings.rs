//! What the run stands on: devices and their counters, files and what the page cache holds of them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::probe::{self, DiskCounters};
use job::{Engine, Plan};
use record::{DiskUse, TargetFacts};

use crate::members::Member;
use crate::results::target_kind;

/// Observed before a run, and asked during it and after.
pub(crate) struct Surroundings {
    targets: BTreeMap<String, TargetFacts>,
    disks: Vec<Disk>,
}

struct Disk {
    name: String,
    before: DiskCounters,
    since: std::time::Instant,
}

impl Surroundings {
    /// Looks at all files and devices of a run before it begins.
    pub(crate) fn before(plan: &Plan, members: &[Member]) -> Self {
        let mut surroundings = Self { targets: BTreeMap::new(), disks: Vec::new() };
        for member in members {
            let job = &plan.jobs[member.job];
            if job.engine.engine == Engine::Null {
                continue;
            }
            for file in &member.files.files {
                surroundings.add(&file.path, job.stats.disk_util);
            }
        }
        surroundings
    }

    fn add(&mut self, path: &str, disk_util: bool) {
        if self.targets.contains_key(path) {
            return;
        }
        let place = Path::new(path);
        let Some(seen) = engine::files::look(place).ok().flatten() else { return };
        let facts = TargetFacts {
            path: path.to_owned(),
            kind: target_kind(seen.kind, probe::is_in_memory(place)),
            size: seen.bytes,
            allocated: Some(seen.allocated),
            cached_before: probe::cached_share(place),
            cached_after: None,
        };
        self.targets.insert(path.to_owned(), facts);
        if let Some(name) = probe::disk_of(place).filter(|_| disk_util)
            && self.disks.iter().all(|disk| disk.name != name)
            && let Some(before) = probe::disk_counters(&name)
        {
            self.disks.push(Disk { name, before, since: std::time::Instant::now() });
        }
    }

    /// Looks at the files once more, at the end.
    pub(crate) fn after(&mut self) {
        for (path, facts) in &mut self.targets {
            facts.cached_after = probe::cached_share(Path::new(path));
            if let Some(seen) = engine::files::look(Path::new(path)).ok().flatten() {
                facts.size = seen.bytes;
                facts.allocated = Some(seen.allocated);
            }
        }
    }

    /// What is known of a file or device.
    pub(crate) fn target(&self, path: &str) -> Option<TargetFacts> {
        self.targets.get(path).cloned()
    }

    /// What the devices have counted since the beginning.
    pub(crate) fn disk_use(&self) -> Vec<DiskUse> {
        self.disks.iter().filter_map(Disk::used).collect()
    }
}

impl Disk {
    fn used(&self) -> Option<DiskUse> {
        let now = probe::disk_counters(&self.name)?;
        let (before, elapsed_ms) = (&self.before, self.since.elapsed().as_secs_f64() * 1e3);
        Some(DiskUse {
            name: self.name.clone(),
            read_ios: now.read_ios.wrapping_sub(before.read_ios),
            write_ios: now.write_ios.wrapping_sub(before.write_ios),
            read_sectors: now.read_sectors.wrapping_sub(before.read_sectors),
            write_sectors: now.write_sectors.wrapping_sub(before.write_sectors),
            read_merges: now.read_merges.wrapping_sub(before.read_merges),
            write_merges: now.write_merges.wrapping_sub(before.write_merges),
            read_ticks_ms: now.read_ticks_ms.wrapping_sub(before.read_ticks_ms),
            write_ticks_ms: now.write_ticks_ms.wrapping_sub(before.write_ticks_ms),
            in_queue_ms: now.in_queue_ms.wrapping_sub(before.in_queue_ms),
            util_percent: (now.busy_ms.wrapping_sub(before.busy_ms) as f64 / elapsed_ms.max(1.0) * 100.0).min(100.0),
        })
    }
}

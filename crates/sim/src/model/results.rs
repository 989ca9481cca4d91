//! Results of modelled volumes, for the record.

use std::collections::BTreeMap;

use job::Plan;
use record::{ModelRecord, ModelledVolume, PageCacheCounts};
use runner::{WorkerPlan, WorkerResult};
use units::Nanos;
use volume::{Attachment, ServiceStage};

use super::assumptions;
use super::grouped::{StageGroup, grouped};
use super::placement::Placement;
use crate::{Clock, Ledger, World};

/// Returns the statistics of volumes, limits, stations and page caches over the first `elapsed` of the run.
pub(super) fn model<C: Clock>(
    world: &World<C>,
    plan: &Plan,
    workers: &[WorkerPlan],
    placement: &Placement,
    virtual_time: bool,
    elapsed: Nanos,
    finished: &[WorkerResult],
) -> ModelRecord {
    let (mut volumes, route_volumes) = modelled_volumes(placement);
    let hosts = plan.hosts.as_ref().map(|hosts| hosts.count);
    let mut groups = grouped(world.system().stages(elapsed), placement, hosts);
    for StageGroup { stage, .. } in &mut groups {
        let p99 = assumptions::open_p99(plan, workers, placement, finished, stage);
        // Closed loops have no valid estimate: their operations would arrive later without jitter.
        stage.early = stage.early.take().filter(|_| p99.is_some());
        let end = stage.routes.first().map(|&route| route_volumes[route]);
        end.into_iter()
            .for_each(|end| volumes[end].notes.extend(assumptions::jitter(&placement.attachments, stage, p99)));
    }
    for (index, volume) in volumes.iter_mut().enumerate() {
        let stages = groups.iter().map(|group| &group.stage);
        let own = stages.filter(|stage| stage.routes.first().is_some_and(|&route| route_volumes[route] == index));
        let limits = own.filter_map(|stage| Some((assumptions::limit(&placement.attachments, stage)?, stage)));
        volume.notes.extend(assumptions::merging_notes(limits));
    }
    let recorded = groups.into_iter().map(|StageGroup { mut stage, buckets, .. }| {
        stage.volumes = stage.routes.iter().map(|&route| route_volumes[route]).collect();
        stage.volumes.sort_unstable();
        stage.volumes.dedup();
        stage.levels = mean_levels(world.ledger(), &buckets);
        stage
    });
    let stages: Vec<ServiceStage> = recorded.collect();
    let page_caches = page_caches(world, &placement.attachments);
    let page_caches = if hosts.is_some() { together(page_caches) } else { page_caches };
    ModelRecord { virtual_time, elapsed_ns: elapsed.get(), volumes, stages, page_caches }
}

/// Returns the volumes with their workers, and the volume of each route.
fn modelled_volumes(placement: &Placement) -> (Vec<ModelledVolume>, Vec<usize>) {
    let mut volumes: Vec<ModelledVolume> = Vec::new();
    let mut known: BTreeMap<(Option<&str>, &str), usize> = BTreeMap::new();
    let mut route_volumes = Vec::with_capacity(placement.attachments.len());
    for Attachment { spec, volume } in &placement.attachments {
        let path = Some(volume.as_str()).filter(|volume| volume.starts_with('/'));
        let index = *known.entry((path, &spec.name)).or_insert(volumes.len());
        if index == volumes.len() {
            volumes.push(ModelledVolume {
                path: path.map(str::to_owned),
                name: spec.name.clone(),
                title: spec.title.clone(),
                bytes: spec.size.get(),
                notes: spec.notes.clone(),
                workers: Vec::new(),
            });
        }
        route_volumes.push(index);
    }
    for (number, files) in (0..).zip(&placement.places) {
        for file in files {
            let workers = &mut volumes[route_volumes[file.route]].workers;
            if workers.last() != Some(&number) {
                workers.push(number);
            }
        }
    }
    (volumes, route_volumes)
}

/// Returns the mean of the levels of some buckets, which were recorded at the same times.
fn mean_levels(ledger: &Ledger, buckets: &[usize]) -> Vec<(u64, f64)> {
    let mut levels: Vec<(u64, f64)> = Vec::new();
    for (index, &bucket) in buckets.iter().enumerate() {
        for (row, (at, left)) in ledger.levels(bucket).enumerate() {
            if index == 0 {
                levels.push((at.get(), left));
            } else if let Some(level) = levels.get_mut(row) {
                level.1 += left;
            }
        }
    }
    levels.iter_mut().for_each(|level| level.1 /= buckets.len() as f64);
    levels
}

/// Returns the page caches of all hosts as one.
fn together(caches: Vec<PageCacheCounts>) -> Vec<PageCacheCounts> {
    let count = caches.len();
    let whole = caches.into_iter().reduce(|mut all, one| {
        all.memory_bytes += one.memory_bytes;
        all.reads += one.reads;
        all.read_hits += one.read_hits;
        all.read_bytes += one.read_bytes;
        all.fetched_bytes += one.fetched_bytes;
        all.writes += one.writes;
        all.writes_held += one.writes_held;
        all.held_ns += one.held_ns;
        all.written_bytes += one.written_bytes;
        all.written_back_bytes += one.written_back_bytes;
        all.unwritten_bytes += one.unwritten_bytes;
        all.host = format!("total of {count} machines");
        all
    });
    whole.into_iter().collect()
}

/// Returns the statistics of the page caches that were used.
fn page_caches<C: Clock>(world: &World<C>, attachments: &[Attachment]) -> Vec<PageCacheCounts> {
    // Machines are numbered by their first appearance.
    let mut machines: Vec<(usize, &str)> = Vec::new();
    for (home, attachment) in world.system().homes().iter().zip(attachments) {
        if home.machine == machines.len() {
            machines.push((home.machine, &attachment.spec.host));
        }
    }
    let caches = machines.iter().filter_map(|&(machine, host)| Some((world.page_cache(machine)?, host)));
    let used = caches.map(|(cache, host)| PageCacheCounts { host: host.to_owned(), ..cache.counts() });
    used.filter(|cache| cache.reads + cache.writes > 0).collect()
}

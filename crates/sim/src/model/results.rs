//! Results of modelled volumes, for the record.

use job::Plan;
use record::{
    ModelCredits, ModelEarly, ModelMerging, ModelPageCache, ModelRecord, ModelStage, ModelStageKind, ModelledVolume,
};
use runner::{WorkerPlan, WorkerResult};
use units::Nanos;
use volume::{Attachment, StageKind};

use super::assumptions;
use super::placement::Placement;
use crate::{Clock, World};

/// Returns the statistics of volumes, limits, stations and page caches over the first `elapsed` of the run.
pub(super) fn model<C: Clock>(
    world: &World<C>,
    (plan, workers): (&Plan, &[WorkerPlan]),
    placement: &Placement,
    virtual_time: bool,
    elapsed: Nanos,
    finished: &[WorkerResult],
) -> ModelRecord {
    let mut volumes: Vec<ModelledVolume> = Vec::new();
    // Volume of each route.
    let mut route_volumes = Vec::with_capacity(placement.attachments.len());
    for (route, attachment) in placement.attachments.iter().enumerate() {
        let spec = &attachment.spec;
        let path = attachment.volume.starts_with('/').then(|| attachment.volume.clone());
        let known = volumes.iter().position(|known| known.path == path && known.name == spec.name);
        let end = known.unwrap_or_else(|| {
            let (name, title, notes) = (spec.name.clone(), spec.title.clone(), spec.notes.clone());
            volumes.push(ModelledVolume { path, name, title, bytes: spec.size.get(), notes, workers: Vec::new() });
            volumes.len() - 1
        });
        route_volumes.push(end);
        let users_of_volume = &mut volumes[end].workers;
        let users = (0..).zip(&placement.places).filter(|(_, files)| files.iter().any(|file| file.route == route));
        users_of_volume.extend(users.map(|(number, _): (u32, _)| number));
        users_of_volume.sort_unstable();
        users_of_volume.dedup();
    }
    let mut described = world.system().stages(elapsed);
    for stage in &mut described {
        let p99 = assumptions::open_p99((plan, workers), placement, finished, stage);
        // Closed loops have no valid estimate: their operations would arrive later without jitter.
        stage.early = stage.early.take().filter(|_| p99.is_some());
        let end = stage.routes.first().map(|&route| route_volumes[route]);
        end.into_iter().for_each(|end| volumes[end].notes.extend(assumptions::jitter(stage, p99)));
    }
    for (index, volume) in volumes.iter_mut().enumerate() {
        let own =
            described.iter().filter(|stage| stage.routes.first().is_some_and(|&route| route_volumes[route] == index));
        let limits = own.filter_map(|stage| Some((assumptions::limit(&placement.attachments, stage)?, stage)));
        volume.notes.extend(assumptions::merging_notes(limits));
    }
    let mut stages: Vec<ModelStage> = described.into_iter().map(|described| stage(described, &route_volumes)).collect();
    let buckets = stages.iter_mut().filter(|stage| stage.credits.is_some());
    for (bucket, stage) in buckets.enumerate() {
        stage.levels = world.ledger().levels(bucket).map(|(at, left)| (at.get(), left)).collect();
    }
    ModelRecord {
        virtual_time,
        elapsed_ns: elapsed.get(),
        volumes,
        stages,
        page_caches: page_caches(world, &placement.attachments),
    }
}

/// Returns the statistics of the page caches that were used.
fn page_caches<C: Clock>(world: &World<C>, attachments: &[Attachment]) -> Vec<ModelPageCache> {
    let mut machines: Vec<(usize, &str)> = Vec::new();
    for (home, attachment) in world.system().homes().iter().zip(attachments) {
        if machines.iter().all(|(machine, _)| *machine != home.machine) {
            machines.push((home.machine, &attachment.spec.host));
        }
    }
    let caches = machines.iter().filter_map(|&(machine, host)| Some((world.page_cache(machine)?, host)));
    let used = caches.map(|(cache, host)| {
        let counts = cache.counts();
        ModelPageCache {
            host: host.to_owned(),
            memory_bytes: cache.settings().memory.get(),
            reads: counts.reads,
            read_hits: counts.hits,
            read_bytes: counts.read_bytes,
            fetched_bytes: counts.fetched_bytes,
            writes: counts.writes,
            writes_held: counts.held,
            held_ns: counts.held_ns,
            written_bytes: counts.written_bytes,
            written_back_bytes: counts.written_back_bytes,
            unwritten_bytes: cache.unwritten().get(),
        }
    });
    used.filter(|cache| cache.reads + cache.writes > 0).collect()
}

/// Converts a stage; `route_volumes` has the volume of each route.
fn stage(stage: volume::ServiceStage, route_volumes: &[usize]) -> ModelStage {
    let mut volumes: Vec<usize> = stage.routes.iter().map(|&route| route_volumes[route]).collect();
    volumes.sort_unstable();
    volumes.dedup();
    ModelStage {
        volumes,
        name: stage.name,
        owner: stage.owner,
        kind: match stage.kind {
            StageKind::Limit => ModelStageKind::Limit,
            StageKind::Station => ModelStageKind::Station,
        },
        rule: stage.rule,
        requests: stage.requests,
        delayed: stage.delayed,
        decided: stage.decided,
        delay_ns: stage.delay_ns,
        utilisation: stage.utilisation,
        credits: stage.credits.map(|credits| ModelCredits {
            bytes: credits.bytes,
            most: credits.most,
            left: credits.left,
            spent_per_sec: credits.spent_per_sec,
            empty_at_ns: credits.empty_at.map(Nanos::get),
        }),
        early: stage.early.map(|early| ModelEarly {
            jitter_ns: early.jitter.time.get(),
            basis: early.jitter.basis.name().to_owned(),
            requests: early.requests,
            p99_wait_ns: early.p99.get(),
            p99_wait_without_ns: early.p99_without.get(),
        }),
        merging: (stage.merged + stage.unmerged > 0)
            .then_some(ModelMerging { merged: stage.merged, unmerged: stage.unmerged }),
        levels: Vec::new(),
    }
}

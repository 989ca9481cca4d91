//! Assumptions that affected the results of modelled volumes: the jitter of limits, the merging of sequential
//! operations.

use job::{Job, Plan};
use runner::{WorkerPlan, WorkerResult};
use units::{Nanos, grouped};
use volume::{Attachment, Burst, Limit, ServiceStage, cited_jitter, cited_merging, joined_by_text};

use super::placement::Placement;

/// Jitter matters if the 99th percentile would be longer by this fraction without it.
const MATTERS: f64 = 0.05;
/// Fraction of operations from which the way limits count sequential ones affects a result.
const MERGED_SHARE: f64 = 0.01;

/// Describes the effect of a stage's jitter, if it matters to its slowest job with the 99th percentile `p99`.
pub(super) fn jitter(attachments: &[Attachment], stage: &ServiceStage, p99: Option<Nanos>) -> Option<String> {
    let early = stage.early.as_ref()?;
    let [waited, without] = [early.p99_wait_ns, early.p99_wait_without_ns].map(Nanos::new);
    let longer = without.since(waited).secs_f64();
    let matters = p99.is_some_and(|p99| longer > MATTERS * p99.secs_f64());
    let waited = match waited {
        Nanos::ZERO => "p99 wait 0".to_owned(),
        p99 => format!("p99 wait {p99}"),
    };
    let Burst::Jitter(jitter) = &limit(attachments, stage)?.burst else { return None };
    let jitter = cited_jitter(jitter);
    matters.then(|| {
        format!(
            "{}: burst tolerance {jitter}: {waited}, {without} without it; set it with the volume's `jitter=TIME`",
            stage.name
        )
    })
}

/// Returns the limit of a stage; `None` for a station.
pub(super) fn limit<'a>(attachments: &'a [Attachment], stage: &ServiceStage) -> Option<&'a Limit> {
    let spec = &attachments.get(*stage.routes.first()?)?.spec;
    spec.limits.iter().find(|limit| limit.name == stage.name)
}

/// Returns the 99th percentile of the slowest job that passes a stage; `finished` is in the order of numbers. `None` if one of them is a closed loop, whose
/// operations would arrive later without jitter.
pub(super) fn open_p99(
    plan: &Plan,
    workers: &[WorkerPlan],
    placement: &Placement,
    finished: &[WorkerResult],
    stage: &ServiceStage,
) -> Option<Nanos> {
    let mut is_passed = vec![false; placement.attachments.len()];
    stage.routes.iter().for_each(|&route| is_passed[route] = true);
    let passes = |number: usize| {
        let mut places = placement.places.get(number).into_iter().flatten();
        places.any(|place| is_passed[place.route])
    };
    let mut slowest = None;
    for worker in workers.iter().filter(|worker| passes(worker.number)) {
        if !is_open(&plan.jobs[worker.job]) {
            return None;
        }
        let done = finished.binary_search_by_key(&worker.number, |finished| finished.number);
        let sides = done.into_iter().flat_map(|index| &finished[index].summary.directions);
        slowest = slowest.max(sides.filter_map(|side| side.response.histogram.percentile(99.0)).max());
    }
    slowest
}

/// Returns the routes of jobs with an offered load.
pub(super) fn open_routes(plan: &Plan, workers: &[WorkerPlan], placement: &Placement) -> impl Iterator<Item = usize> {
    let open = workers.iter().filter(|worker| is_open(&plan.jobs[worker.job]));
    open.flat_map(|worker| placement.places.get(worker.number).into_iter().flatten()).map(|place| place.route)
}

/// Reports whether operations arrive at a rate or as in a trace, independent of completions.
fn is_open(job: &Job) -> bool {
    let paced = job.paced();
    paced.read.is_some() || paced.write.is_some() || paced.trim.is_some()
}

/// Describes how limits counted sequential operations, for stages with their limits.
pub fn merging_notes<'a>(stages: impl Iterator<Item = (&'a Limit, &'a ServiceStage)>) -> Vec<String> {
    joined_by_text(stages.filter_map(|(limit, stage)| Some((limit.name.clone(), merged(limit, stage)?))))
}

fn merged(limit: &Limit, stage: &ServiceStage) -> Option<String> {
    let (unit, least) = limit.merges()?;
    let merging = limit.merging.as_ref()?;
    let counts = stage.merging.unwrap_or_default();
    let cases = [
        (counts.merged, "merged with a neighbour (up to", unit),
        (counts.unmerged, "sequential but not merged (below", least),
    ];
    let part = |(count, how, bytes): (u64, &str, u32)| {
        let (count, all, bytes) = (grouped(count), grouped(stage.requests), units::Bytes::new(u64::from(bytes)));
        format!("{count} of {all} operations were {how} {bytes})")
    };
    let matters = |count: u64| count as f64 >= MERGED_SHARE * stage.requests as f64 && count > 0;
    let parts: Vec<String> = cases.into_iter().filter(|(count, ..)| matters(*count)).map(part).collect();
    (!parts.is_empty()).then(|| format!("{} ({})", parts.join("; "), cited_merging(merging)))
}

//! Statistics of a server, from the counters of its snapshots.

use std::collections::BTreeMap;

use meter::Histogram;
use nbd::server::{Done, ExportCounters, Punctuality, Snapshot};
use nbd::store::{FaultKind, InjectedFaults};
use results::serve::{ExportStats, PunctualityStats, RequestLatency, RequestStats, ServerStats, StageStats};
use units::Nanos;
use volume::{Limit, RequestKind, ServiceStage, StageKind};

/// Static facts about an export.
#[derive(Clone, Debug)]
pub(crate) struct ExportFacts {
    /// Its statistics before the first request, with unknown properties of its machine as notes.
    pub(crate) stats: ExportStats,
    /// Index of its attachment to the model.
    pub(crate) route: Option<usize>,
    /// Limits that merge sequential requests.
    pub(crate) merging: Vec<Limit>,
    /// Whether faults may be injected.
    pub(crate) faulty: bool,
}

/// Returns the statistics of a snapshot. `recent` has the rates of the last second.
pub(crate) fn stats(facts: &[ExportFacts], seed: u64, snapshot: &Snapshot, recent: &RecentRates) -> ServerStats {
    let exports = facts.iter().zip(&snapshot.exports).enumerate();
    let exports =
        exports.map(|(index, (facts, (_, tally)))| export(facts, tally, recent, index, notes(facts, snapshot)));
    let stages = snapshot.stages.iter().map(|stage| self::stage(stage, facts, snapshot));
    let punctuality = punctuality(&snapshot.punctuality, facts, snapshot);
    ServerStats::new(seed, snapshot.age.secs_f64(), exports.collect(), stages.collect(), punctuality)
}

pub(crate) fn by_name(injected: &InjectedFaults) -> BTreeMap<String, u64> {
    FaultKind::ALL.into_iter().map(|kind| (kind.name().to_owned(), injected.of(kind))).collect()
}

fn export(
    facts: &ExportFacts,
    tally: &ExportCounters,
    recent: &RecentRates,
    index: usize,
    notes: Vec<String>,
) -> ExportStats {
    let injected = if facts.faulty { by_name(&tally.injected) } else { BTreeMap::new() };
    let kinds = tally.kinds.iter().enumerate().filter(|(_, done)| done.operations + done.errors > 0);
    ExportStats {
        connections: tally.connections,
        connected: tally.connected,
        in_flight: tally.in_flight,
        kinds: kinds.map(|(kind, done)| self::kind(KINDS[kind], done, recent.of(index, kind))).collect(),
        notes,
        injected,
        ..facts.stats.clone()
    }
}

/// Returns the model's assumptions that affected an export.
fn notes(facts: &ExportFacts, snapshot: &Snapshot) -> Vec<String> {
    let stages = snapshot.stages.iter().filter(|stage| facts.route.is_some_and(|route| stage.routes.contains(&route)));
    let merging = stages.filter_map(|stage| {
        let limit = facts.merging.iter().find(|limit| limit.name == stage.name)?;
        Some((limit, stage))
    });
    facts.stats.notes.iter().cloned().chain(sim::model::merging_notes(merging)).collect()
}

/// Names of the kinds in [`ExportCounters::kinds`].
const KINDS: [&str; 5] = ["read", "write", "trim", "flush", "other"];

fn kind(name: &str, done: &Done, (recent_iops, recent_bytes_per_sec): (f64, f64)) -> RequestStats {
    let secs = done.span.map_or(0.0, |(first, last)| last.since(first).secs_f64());
    let per_sec = |figure: u64| if secs > 0.0 { figure as f64 / secs } else { 0.0 };
    RequestStats {
        kind: name.to_owned(),
        operations: done.operations,
        errors: done.errors,
        bytes: done.bytes,
        secs,
        iops: per_sec(done.operations),
        bytes_per_sec: per_sec(done.bytes),
        recent_iops,
        recent_bytes_per_sec,
        latency: latency(&done.latency, done.latency_sum_ns as f64),
    }
}

fn latency(histogram: &Histogram, sum_ns: f64) -> Option<RequestLatency> {
    let percentile = |percent| histogram.percentile(percent).map(Nanos::get);
    Some(RequestLatency {
        mean_ns: sum_ns / histogram.total() as f64,
        p50_ns: percentile(50.0)?,
        p99_ns: percentile(99.0)?,
        p999_ns: percentile(99.9)?,
    })
}

/// Returns the time from the first request to the last reply of exports.
fn span<'a>(tallies: impl Iterator<Item = &'a ExportCounters>) -> Option<f64> {
    let spans = tallies.flat_map(|tally| &tally.kinds).filter_map(|done| done.span);
    let (first, last) = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
    Some(last.since(first).secs_f64()).filter(|secs| *secs > 0.0)
}

fn stage(stage: &ServiceStage, facts: &[ExportFacts], snapshot: &Snapshot) -> StageStats {
    // A limit removed by a command has no routes left.
    let through =
        |route: Option<usize>| route.is_some_and(|route| stage.routes.contains(&route) || stage.routes.is_empty());
    let tallies = facts.iter().zip(&snapshot.exports).filter(|(facts, _)| through(facts.route));
    let secs = span(tallies.map(|(_, (_, tally))| tally));
    // The model's utilization covers the whole uptime, most of which may have been idle.
    let stretch = secs.map_or(0.0, |secs| snapshot.age.secs_f64() / secs);
    StageStats {
        name: stage.name.clone(),
        owner: stage.owner.clone(),
        kind: if stage.kind == StageKind::Limit { "limit" } else { "station" }.to_owned(),
        rule: stage.rule.clone(),
        requests: stage.requests,
        delayed: stage.delayed,
        decided: stage.decided,
        delay_secs: stage.delay_ns as f64 / 1e9,
        used_share: stage.utilisation * stretch,
        credits_share: stage.credits.as_ref().map(|credits| credits.left / credits.most.max(1.0)),
    }
}

fn punctuality(seen: &Punctuality, facts: &[ExportFacts], snapshot: &Snapshot) -> Option<PunctualityStats> {
    let percentile = |percent| seen.late.percentile(percent).map(Nanos::get);
    let mean_ns = seen.sum_ns as f64 / seen.replies as f64;
    let modelled = facts.iter().zip(&snapshot.exports).filter(|(facts, _)| facts.route.is_some());
    // Requests other than reads, writes, trims and flushes take no modelled time.
    let done = || modelled.clone().flat_map(|(_, (_, tally))| &tally.kinds[..RequestKind::ALL.len()]);
    let operations: u64 = done().map(|done| done.operations).sum();
    let taken_ns: u64 = done().map(|done| done.latency_sum_ns).sum();
    Some(PunctualityStats {
        replies: seen.replies,
        mean_ns,
        p50_ns: percentile(50.0)?,
        p99_ns: percentile(99.0)?,
        model_mean_ns: taken_ns as f64 / operations.max(1) as f64 - mean_ns + snapshot.round_trip.get() as f64,
        round_trip_ns: snapshot.round_trip.get(),
    })
}

/// Operations and bytes per second in the last second, by export and kind.
#[derive(Clone, Debug, Default)]
pub struct RecentRates(Vec<[(f64, f64); 5]>);

impl RecentRates {
    /// Returns the rates of one kind of one export.
    pub(crate) fn of(&self, export: usize, kind: usize) -> (f64, f64) {
        self.0.get(export).map_or((0.0, 0.0), |kinds| kinds[kind])
    }

    /// Returns the total rates.
    #[must_use]
    pub fn total(&self) -> (f64, f64) {
        self.0.iter().flatten().fold((0.0, 0.0), |sum, rate| (sum.0 + rate.0, sum.1 + rate.1))
    }

    pub(crate) fn between(before: &Snapshot, after: &Snapshot) -> Self {
        let secs = after.age.since(before.age).secs_f64();
        if secs <= 0.0 {
            return Self::default();
        }
        let exports = before.exports.iter().zip(&after.exports);
        Self(
            exports
                .map(|((_, before), (_, after))| {
                    std::array::from_fn(|kind| {
                        let (before, after) = (&before.kinds[kind], &after.kinds[kind]);
                        let grown = |before: u64, after: u64| after.saturating_sub(before) as f64 / secs;
                        (grown(before.operations, after.operations), grown(before.bytes, after.bytes))
                    })
                })
                .collect(),
        )
    }
}

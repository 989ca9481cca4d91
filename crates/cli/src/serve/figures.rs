//! What a server has done, as it is told to people and programs.

use std::collections::BTreeMap;

use meter::Histogram;
use nbd::server::{Done, Kind, Punctuality, Snapshot, Tally};
use serde::{Deserialize, Serialize};
use units::Nanos;
use volume::{Limit, Stage, StageKind};

use super::control::by_name;
use super::recent::Rates;

/// The version of this layout.
pub(super) const SCHEMA: u32 = 1;

/// All that is told of a server.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Served {
    /// The version of this layout.
    pub(super) schema: u32,
    /// Fathom's own.
    pub(super) version: String,
    /// With which everything random repeats.
    pub(super) seed: u64,
    /// For how long it has served.
    pub(super) served_secs: f64,
    /// Where, and what it has done.
    pub(super) exports: Vec<ExportFigures>,
    /// What the limits and stations of the models did.
    pub(super) stages: Vec<StageFigures>,
    /// How well the model's times were kept; `None` where there was no reply that it had a say in.
    pub(super) punctuality: Option<PunctualityFigures>,
}

/// One export.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct ExportFigures {
    pub(super) name: String,
    pub(super) uris: Vec<String>,
    /// The volume as it can be asked for again; `None` without a model.
    pub(super) volume: Option<String>,
    pub(super) store: String,
    pub(super) size_bytes: u64,
    pub(super) read_only: bool,
    /// How many clients have been there, how many are, and what they wait for.
    pub(super) connections: u64,
    pub(super) connected: u64,
    pub(super) in_flight: u64,
    /// Those kinds that were asked for.
    pub(super) kinds: Vec<KindFigures>,
    /// What the model rests on: machine limits that are not known, merging that is assumed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    /// How many faults of each kind were injected; empty where none ever will be.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) injected: BTreeMap<String, u64>,
}

/// One kind of request.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct KindFigures {
    pub(super) kind: String,
    pub(super) operations: u64,
    pub(super) errors: u64,
    pub(super) bytes: u64,
    /// From the first request to the last reply.
    pub(super) secs: f64,
    /// Over that time.
    pub(super) iops: f64,
    pub(super) bytes_per_sec: f64,
    /// Over the last second.
    pub(super) recent_iops: f64,
    pub(super) recent_bytes_per_sec: f64,
    pub(super) latency: Option<LatencyFigures>,
}

/// From when a request was read to when its reply left.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct LatencyFigures {
    pub(super) mean_ns: f64,
    pub(super) p50_ns: u64,
    pub(super) p99_ns: u64,
    pub(super) p999_ns: u64,
}

/// A limit or a station of a model.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct StageFigures {
    pub(super) name: String,
    pub(super) owner: String,
    /// `limit` or `station`.
    pub(super) kind: String,
    pub(super) rule: String,
    pub(super) requests: u64,
    /// Those it held back, and those whose admission it set.
    pub(super) delayed: u64,
    pub(super) decided: u64,
    pub(super) delay_secs: f64,
    /// How much of it was used from the first request to the last reply, from 0 to 1.
    pub(super) used_share: f64,
    /// What is left of its credits, from 0 to 1.
    pub(super) credits_share: Option<f64>,
}

/// How far replies were from when the model wanted them.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct PunctualityFigures {
    pub(super) replies: u64,
    /// Below zero where they were early.
    pub(super) mean_ns: f64,
    pub(super) p50_ns: u64,
    pub(super) p99_ns: u64,
    /// What the model asked for on average.
    pub(super) model_mean_ns: f64,
    /// What is taken off for the way between client and server.
    pub(super) way_ns: u64,
}

/// What is known of an export before anybody uses it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) name: String,
    pub(super) uris: Vec<String>,
    pub(super) volume: Option<String>,
    pub(super) store: String,
    pub(super) size_bytes: u64,
    pub(super) read_only: bool,
    /// Its way into the model.
    pub(super) route: Option<usize>,
    /// What is not known of its machine.
    pub(super) unknown: Option<String>,
    /// Its limits that merge sequential requests.
    pub(super) merging: Vec<Limit>,
    /// Whether faults may be injected.
    pub(super) faulty: bool,
}

impl Served {
    /// The figures of a snapshot. `recent` has the rates of each export and kind in the last second.
    pub(super) fn new(known: &[Known], seed: u64, snapshot: &Snapshot, recent: &Rates) -> Self {
        let exports = known.iter().zip(&snapshot.exports).enumerate();
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed,
            served_secs: snapshot.age.secs_f64(),
            exports: exports
                .map(|(index, (known, (_, tally)))| ExportFigures {
                    notes: notes(known, snapshot),
                    ..export(known, tally, recent, index)
                })
                .collect(),
            stages: snapshot.stages.iter().map(|stage| self::stage(stage, known, snapshot)).collect(),
            punctuality: punctuality(&snapshot.punctuality, known, snapshot),
        }
    }

    /// One document.
    pub(crate) fn json(&self) -> String {
        format!("{:#}\n", serde_json::json!(self))
    }
}

fn export(known: &Known, tally: &Tally, recent: &Rates, index: usize) -> ExportFigures {
    let injected = if known.faulty { by_name(&tally.injected) } else { BTreeMap::new() };
    let kinds = Kind::ALL.into_iter().zip(&tally.kinds).filter(|(_, done)| done.operations + done.errors > 0);
    ExportFigures {
        name: known.name.clone(),
        uris: known.uris.clone(),
        volume: known.volume.clone(),
        store: known.store.clone(),
        size_bytes: known.size_bytes,
        read_only: known.read_only,
        connections: tally.connections,
        connected: tally.connected,
        in_flight: tally.in_flight,
        kinds: kinds.map(|(kind, done)| self::kind(kind, done, recent.of(index, kind))).collect(),
        notes: Vec::new(),
        injected,
    }
}

/// What the model of an export rests on, as far as it made a difference.
fn notes(known: &Known, snapshot: &Snapshot) -> Vec<String> {
    let stages = snapshot.stages.iter().filter(|stage| known.route.is_some_and(|route| stage.routes.contains(&route)));
    let merging = stages.filter_map(|stage| {
        let limit = known.merging.iter().find(|limit| limit.name == stage.name)?;
        Some((limit, stage))
    });
    known.unknown.iter().cloned().chain(sim::model::merging_notes(merging)).collect()
}

/// How a kind is called.
const fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Trim => "trim",
        Kind::Flush => "flush",
        Kind::Other => "other",
    }
}

fn kind(kind: Kind, done: &Done, (recent_iops, recent_bytes_per_sec): (f64, f64)) -> KindFigures {
    let secs = done.span.map_or(0.0, |(first, last)| last.since(first).secs_f64());
    let per_sec = |figure: u64| if secs > 0.0 { figure as f64 / secs } else { 0.0 };
    KindFigures {
        kind: name(kind).to_owned(),
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

fn latency(histogram: &Histogram, sum_ns: f64) -> Option<LatencyFigures> {
    let percentile = |percent| histogram.percentile(percent).map(Nanos::get);
    Some(LatencyFigures {
        mean_ns: sum_ns / histogram.total() as f64,
        p50_ns: percentile(50.0)?,
        p99_ns: percentile(99.0)?,
        p999_ns: percentile(99.9)?,
    })
}

/// From the first request to the last reply of exports.
fn span<'a>(tallies: impl Iterator<Item = &'a Tally>) -> Option<f64> {
    let spans = tallies.flat_map(|tally| &tally.kinds).filter_map(|done| done.span);
    let (first, last) = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
    Some(last.since(first).secs_f64()).filter(|secs| *secs > 0.0)
}

fn stage(stage: &Stage, known: &[Known], snapshot: &Snapshot) -> StageFigures {
    // A limit that a change has taken away is in no route any longer.
    let through =
        |route: Option<usize>| route.is_some_and(|route| stage.routes.contains(&route) || stage.routes.is_empty());
    let tallies = known.iter().zip(&snapshot.exports).filter(|(known, _)| through(known.route));
    let secs = span(tallies.map(|(_, (_, tally))| tally));
    // The model tells of all the time since the start: nobody asked for anything in most of it, perhaps.
    let stretch = secs.map_or(0.0, |secs| snapshot.age.secs_f64() / secs);
    StageFigures {
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

fn punctuality(seen: &Punctuality, known: &[Known], snapshot: &Snapshot) -> Option<PunctualityFigures> {
    let percentile = |percent| seen.late.percentile(percent).map(Nanos::get);
    let mean_ns = seen.sum_ns as f64 / seen.replies as f64;
    let modelled = known.iter().zip(&snapshot.exports).filter(|(known, _)| known.route.is_some());
    // What is no read, write, trim or flush costs the model nothing.
    let done = || modelled.clone().flat_map(|(_, (_, tally))| &tally.kinds[..Kind::Other as usize]);
    let operations: u64 = done().map(|done| done.operations).sum();
    let taken_ns: u64 = done().map(|done| done.latency_sum_ns).sum();
    Some(PunctualityFigures {
        replies: seen.replies,
        mean_ns,
        p50_ns: percentile(50.0)?,
        p99_ns: percentile(99.0)?,
        model_mean_ns: taken_ns as f64 / operations.max(1) as f64 - mean_ns + snapshot.way.get() as f64,
        way_ns: snapshot.way.get(),
    })
}

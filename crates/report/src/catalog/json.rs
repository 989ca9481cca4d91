//! The catalogue of volumes as JSON.

use serde_json::{Value, json};
use volume::catalogue::{BuiltinVolume, FigureOrigin, ResolvedVolume};
use volume::{Behaviour, Burst, JitterBasis, Law, Limit, RequestKind, Scope};

use super::{CatalogLoad, CatalogVolume, LimitRow};
use crate::volume_terms::{parts_json, source_json};

/// Returns all volumes as one JSON document.
#[must_use]
pub fn list_json(listed: &[BuiltinVolume]) -> String {
    let volumes: Vec<Value> = listed
        .iter()
        .map(|volume| {
            json!({
                "name": volume.name, "title": volume.title, "provider": volume.provider,
                "media": volume.media, "as_of": volume.as_of,
            })
        })
        .collect();
    document(&json!({ "volumes": volumes }))
}

pub(super) fn json(shown: &CatalogVolume<'_>) -> String {
    let (volume, load) = (shown.volume, shown.load);
    let (spec, about) = (&volume.spec, &volume.about);
    let keys: Vec<Value> = about
        .keys
        .iter()
        .map(|key| {
            json!({
                "name": key.name, "value": key.value, "given": key.origin == FigureOrigin::Asked, "range": key.range, "source": key.source,
            })
        })
        .collect();
    let limits: Vec<Value> = shown.rows.iter().map(|row| limit(row, load)).collect();
    let burst = shown.deep.as_ref().and_then(|deep| Some((deep.burst_iops, deep.burst_secs()?)));
    let priced: Vec<Value> =
        about.prices.iter().map(|of| json!({ "also": of.also, "price": self::price(&of.price) })).collect();
    document(&json!({
        "name": spec.name, "title": spec.title, "provider": about.provider, "media": about.media,
        "edition": about.edition, "as_of": about.as_of, "size_bytes": spec.size.get(), "keys": keys,
        "operations": {
            "bytes": load.bytes, "sequential": load.sequential,
            "read_share": load.share.read, "write_share": load.share.write, "trim_share": load.share.trim,
        },
        "limits": limits,
        "iops": shown.iops(),
        "bytes_per_sec": shown.iops().map(|iops| iops * f64::from(load.bytes)),
        "bound_by": shown.bound_by().map(|cap| &cap.name),
        "burst": burst.map(|(iops, secs)| json!({ "iops": finite(iops), "secs": finite(secs) })),
        "latency": latency(volume),
        "price": spec.price.as_ref().map(price), "prices": priced, "notes": spec.notes, "unknown_limits": spec.unknown_limits, "unknown": about.unknown,
    }))
}

fn price(price: &volume::spec::Price) -> Value {
    json!({
        "currency": price.currency, "per_month": price.per_month, "rule": price.rule,
        "parts": parts_json(&price.parts),
        "region": price.region, "lacks": price.lacks,
        "source": source_json(&price.source),
    })
}

fn document(value: &Value) -> String {
    format!("{value:#}\n")
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn limit(row: &LimitRow<'_>, load: &CatalogLoad) -> Value {
    let iops = row.cap.as_ref().map(|cap| cap.iops);
    let bucket = row.cap.as_ref().and_then(|cap| cap.bucket);
    json!({
        "name": row.name,
        "scope": if *row.scope == Scope::Machine { "machine" } else { "volume" },
        "iops": iops,
        "bytes_per_sec": iops.map(|iops| iops * f64::from(load.bytes)),
        "bucket": bucket.map(|bucket| json!({ "most": bucket.most, "at_start": bucket.at_start })),
        "rule": row.rule,
        "source": source_json(row.source),
        "tolerance": row.limit.and_then(|limit| limit.tolerance.as_ref()).map(|tolerance| json!({
            "fraction": tolerance.fraction(), "is_burst": tolerance.is_burst, "source": source_json(&tolerance.source),
        })),
        "jitter": row.limit.and_then(jitter),
        "merging": row.limit.and_then(merging),
    })
}

fn jitter(limit: &Limit) -> Option<Value> {
    let Burst::Jitter(jitter) = &limit.burst else { return None };
    let stated = match &jitter.basis {
        JitterBasis::Stated(stated) => Some(source_json(stated)),
        JitterBasis::Given | JitterBasis::Assumed => None,
    };
    let ms = jitter.time.get() as f64 / 1e6;
    Some(json!({ "ms": ms, "basis": jitter.basis.name(), "source": stated }))
}

fn merging(limit: &Limit) -> Option<Value> {
    let (unit, from) = limit.merges()?;
    let merging = limit.merging.as_ref()?;
    Some(json!({
        "from_bytes": from, "to_bytes": unit, "source": source_json(&merging.source), "assumed": merging.assumed,
    }))
}

fn latency(volume: &ResolvedVolume) -> Value {
    let Behaviour::Latency(latency) = &volume.spec.behaviour else { return Value::Null };
    let law = |law: &Law| {
        let us = |share: f64| law.quantile(share).get() as f64 / 1e3;
        json!({ "mean_us": law.mean().get() as f64 / 1e3, "p50_us": us(0.5), "p99_us": us(0.99), "p99.9_us": us(0.999) })
    };
    json!({
        "read": law(latency.law.get(RequestKind::Read)), "write": law(latency.law.get(RequestKind::Write)),
        "basis": volume.about.latency_basis.name(), "assumed": volume.about.latency_assumed, "source": source_json(&latency.source),
    })
}

//! The catalogue of modelled volumes: the list, and the details of one volume with the rates it sustains.

mod renewal;
mod text;

use std::fmt::Write;

use results::catalog::{
    CatalogBucket, CatalogDocument, CatalogJitter, CatalogKey, CatalogLatency, CatalogLaw, CatalogLimit, CatalogList,
    CatalogMerging, CatalogOperations, CatalogTolerance,
};
use results::plan::document::RateBurst;
use results::stored::sorted;
use volume::catalogue::{BuiltinVolume, FigureOrigin, KeyFacts, ResolvedVolume};
use volume::closed::{self, Cap, CapPart, Load, Prediction};
use volume::{Behaviour, Burst, JitterBasis, Law, Limit, LimitSource, PerRequestKind, RequestKind, Scope, Spec};

pub use renewal::{diff_text, update_text};

use crate::sheet::SheetStyle;

/// The load for which a volume is described: operations of one size and mix.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogLoad {
    /// Bytes per operation.
    pub bytes: u32,
    /// Fraction of each kind of request.
    pub share: PerRequestKind<f64>,
    /// Whether each operation begins at the end of the previous one.
    pub sequential: bool,
    /// Description: `random reads of 4 KiB`.
    pub description: String,
}

impl CatalogLoad {
    /// Returns the load in the terms of the closed form, with unlimited operations in flight.
    fn closed(&self) -> Load {
        let bytes = PerRequestKind { read: self.bytes, write: self.bytes, trim: self.bytes, flush: 0 };
        Load { in_flight: f64::INFINITY, bytes, share: self.share, sequential: self.sequential }
    }
}

/// A volume with the rates that it sustains for a load.
#[derive(Clone, Debug)]
pub struct CatalogVolume<'a> {
    volume: &'a ResolvedVolume,
    load: &'a CatalogLoad,
    /// Limits and stations in the volume's order.
    rows: Vec<LimitRow<'a>>,
    /// Prediction for unlimited operations in flight; `None` if the volume has no closed form.
    deep: Option<Prediction>,
    /// Prediction for one operation in flight.
    single: Option<Prediction>,
}

/// A limit or station.
#[derive(Clone, Debug)]
struct LimitRow<'a> {
    name: &'a str,
    scope: &'a Scope,
    rule: &'a str,
    source: &'a LimitSource,
    limit: Option<&'a Limit>,
    /// Rate that it admits; `None` if it counts none of the operations.
    cap: Option<Cap>,
}

impl<'a> CatalogVolume<'a> {
    /// Applies the closed form to a volume.
    #[must_use]
    pub fn new(volume: &'a ResolvedVolume, load: &'a CatalogLoad) -> Self {
        let (spec, closed_load) = (&volume.spec, load.closed());
        let deep = closed::predict(spec, &closed_load);
        let single = closed::predict(spec, &Load { in_flight: 1.0, ..closed_load.clone() });
        Self { volume, load, rows: rows(spec, &closed_load), deep, single }
    }

    /// Returns the details of the volume as text.
    #[must_use]
    pub fn text(&self, style: SheetStyle) -> String {
        text::text(self, style)
    }

    /// Returns the details of the volume as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        json(self)
    }

    /// Returns the limit that binds in the long run.
    fn bound_by(&self) -> Option<&Cap> {
        let deep = self.deep.as_ref()?;
        deep.limit.map(|index| &deep.caps[index])
    }

    /// Returns the sustained IOPS, if a limit bounds them.
    fn iops(&self) -> Option<f64> {
        self.deep.as_ref().map(|deep| deep.iops).filter(|iops| iops.is_finite())
    }
}

fn rows<'a>(spec: &'a Spec, load: &Load) -> Vec<LimitRow<'a>> {
    let caps = closed::caps(spec, load);
    let cap = |part: CapPart| caps.iter().find(|cap| cap.part == part).cloned();
    let limits = spec.limits.iter().enumerate().map(|(index, limit)| LimitRow {
        name: &limit.name,
        scope: &limit.scope,
        rule: &limit.rule,
        source: &limit.source,
        limit: Some(limit),
        cap: cap(CapPart::Limit(index)),
    });
    let stations = spec.stations.iter().enumerate().map(|(index, station)| LimitRow {
        name: &station.name,
        scope: &station.scope,
        rule: &station.rule,
        source: &station.source,
        limit: None,
        cap: cap(CapPart::Station(index)),
    });
    limits.chain(stations).collect()
}

/// Column in which titles begin. A longer name has its title on the next line.
const TITLES: usize = 36;

/// Returns all volumes in lines of at most 80 columns.
#[must_use]
pub fn list_text(listed: &[BuiltinVolume]) -> String {
    let mut text = String::new();
    let mut provider = "";
    for volume in listed {
        if volume.provider != provider {
            let gap = if provider.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{}", volume.provider);
            provider = &volume.provider;
        }
        let name = &volume.name;
        let indent = TITLES.min(80_usize.saturating_sub(volume.title.chars().count()));
        let _ = if name.len() + 2 < TITLES {
            writeln!(text, "  {name:width$}{}", volume.title, width = TITLES - 2)
        } else {
            writeln!(text, "  {name}\n{:indent$}{}", "", volume.title)
        };
    }
    text.push_str("\nWrite a volume with its keys: gcp/pd-ssd,size=1TiB,machine=n2-standard-8\n");
    text.push_str("`fathom catalog VOLUME` shows its keys, its limits and its price.\n");
    text
}

/// Returns all volumes as one JSON document.
#[must_use]
pub fn list_json(listed: &[BuiltinVolume]) -> String {
    sorted(&CatalogList { volumes: listed })
}

fn json<'a>(shown: &CatalogVolume<'a>) -> String {
    let (volume, load) = (shown.volume, shown.load);
    let (spec, about) = (&volume.spec, &volume.about);
    let key = |key: &'a KeyFacts| CatalogKey {
        name: &key.name,
        value: &key.value,
        given: key.origin == FigureOrigin::Asked,
        range: &key.range,
        source: &key.source,
    };
    let burst = shown.deep.as_ref().and_then(|deep| Some((deep.burst_iops, deep.burst_secs()?)));
    let notes = [spec.notes.as_slice(), &about.remarks].concat();
    sorted(&CatalogDocument {
        name: &spec.name,
        title: &spec.title,
        provider: &about.provider,
        media: &about.media,
        edition: about.edition.as_deref(),
        as_of: &about.as_of,
        size_bytes: spec.size.get(),
        keys: about.keys.iter().map(key).collect(),
        operations: CatalogOperations {
            bytes: load.bytes,
            sequential: load.sequential,
            read_share: load.share.read,
            write_share: load.share.write,
            trim_share: load.share.trim,
        },
        limits: shown.rows.iter().map(|row| limit(row, load)).collect(),
        iops: shown.iops(),
        bytes_per_sec: shown.iops().map(|iops| iops * f64::from(load.bytes)),
        bound_by: shown.bound_by().map(|cap| cap.name.as_str()),
        burst: burst.map(|(iops, secs)| RateBurst { iops: finite(iops), secs: finite(secs) }),
        latency: latency(volume),
        price: spec.price.as_ref(),
        prices: &about.prices,
        notes: &notes,
        unknown_limits: &spec.unknown_limits,
        unknown: &about.unknown,
    })
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn limit<'a>(row: &LimitRow<'a>, load: &CatalogLoad) -> CatalogLimit<'a> {
    let iops = row.cap.as_ref().map(|cap| cap.iops);
    let bucket = row.cap.as_ref().and_then(|cap| cap.bucket);
    let tolerance = row.limit.and_then(|limit| limit.tolerance.as_ref());
    CatalogLimit {
        name: row.name,
        scope: if *row.scope == Scope::Machine { "machine" } else { "volume" },
        iops,
        bytes_per_sec: iops.map(|iops| iops * f64::from(load.bytes)),
        bucket: bucket.map(|bucket| CatalogBucket { most: bucket.most, at_start: bucket.at_start }),
        rule: row.rule,
        source: row.source,
        tolerance: tolerance.map(|tolerance| CatalogTolerance {
            fraction: tolerance.fraction(),
            is_burst: tolerance.is_burst,
            source: &tolerance.source,
        }),
        jitter: row.limit.and_then(jitter),
        merging: row.limit.and_then(merging),
    }
}

fn jitter(limit: &Limit) -> Option<CatalogJitter<'_>> {
    let Burst::Jitter(jitter) = &limit.burst else { return None };
    let source = match &jitter.basis {
        JitterBasis::Stated(stated) => Some(stated),
        JitterBasis::Given | JitterBasis::Assumed => None,
    };
    Some(CatalogJitter { ms: jitter.time.get() as f64 / 1e6, basis: jitter.basis.name(), source })
}

fn merging(limit: &Limit) -> Option<CatalogMerging<'_>> {
    let (to_bytes, from_bytes) = limit.merges()?;
    let merging = limit.merging.as_ref()?;
    Some(CatalogMerging { from_bytes, to_bytes, source: &merging.source, assumed: &merging.assumed })
}

fn latency(volume: &ResolvedVolume) -> Option<CatalogLatency<'_>> {
    let Behaviour::Latency(latency) = &volume.spec.behaviour else { return None };
    let law = |law: &Law| {
        let us = |share: f64| law.quantile(share).get() as f64 / 1e3;
        CatalogLaw { mean_us: law.mean().get() as f64 / 1e3, p50_us: us(0.5), p99_us: us(0.99), p999_us: us(0.999) }
    };
    Some(CatalogLatency {
        read: law(latency.law.get(RequestKind::Read)),
        write: law(latency.law.get(RequestKind::Write)),
        basis: volume.about.latency_basis.name(),
        assumed: volume.about.latency_assumed.as_deref(),
        source: &latency.source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_every_volume_and_fits_80_columns() {
        let listed = volume::catalogue::list();
        let page = list_text(&listed);
        assert!(listed.iter().all(|volume| page.contains(&volume.name) && page.contains(&volume.title)));
        for line in page.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

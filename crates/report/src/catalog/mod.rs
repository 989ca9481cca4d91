//! The catalogue of modelled volumes: the list, and one volume with what it sustains for a load.

mod json;
mod list;
mod text;

pub use json::list_json;
pub use list::list_text;
use volume::catalogue::ResolvedVolume;
use volume::closed::{self, Cap, CapPart, Load, Prediction};
use volume::{Limit, LimitSource, PerRequestKind, Scope, Spec};

use crate::sheet::SheetStyle;

/// Operations of one size and mix, for which a volume is described.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogLoad {
    /// Bytes of each operation.
    pub bytes: u32,
    /// The fraction of each kind.
    pub share: PerRequestKind<f64>,
    /// Whether each operation begins where the last one ended.
    pub sequential: bool,
    /// A description: `random reads of 4 KiB`.
    pub description: String,
}

impl CatalogLoad {
    /// Returns the load in the terms of the closed form, with unlimited operations in flight.
    fn closed(&self) -> Load {
        let bytes = PerRequestKind { read: self.bytes, write: self.bytes, trim: self.bytes, flush: 0 };
        Load { in_flight: f64::INFINITY, bytes, share: self.share, sequential: self.sequential }
    }
}

/// A volume and what it sustains for a load.
#[derive(Clone, Debug)]
pub struct CatalogVolume<'a> {
    volume: &'a ResolvedVolume,
    load: &'a CatalogLoad,
    /// In the order in which the volume names them.
    rows: Vec<LimitRow<'a>>,
    /// The closed form with as many operations in flight as useful; `None` where only a simulation knows.
    deep: Option<Prediction>,
    /// The closed form with one operation in flight.
    single: Option<Prediction>,
}

/// One limit or station.
#[derive(Clone, Debug)]
struct LimitRow<'a> {
    name: &'a str,
    scope: &'a Scope,
    rule: &'a str,
    source: &'a LimitSource,
    limit: Option<&'a Limit>,
    /// What it admits; `None` where it counts none of the operations.
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

    /// Returns everything that is known, in lines that fit.
    #[must_use]
    pub fn text(&self, style: SheetStyle) -> String {
        text::text(self, style)
    }

    /// Returns one JSON document.
    #[must_use]
    pub fn json(&self) -> String {
        json::json(self)
    }

    /// The limit that binds in the long run.
    fn bound_by(&self) -> Option<&Cap> {
        let deep = self.deep.as_ref()?;
        deep.limit.map(|index| &deep.caps[index])
    }

    /// Sustained IOPS, where something bounds them.
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

//! The catalogue of modelled volumes: the list, and the details of one volume with the rates it sustains.

mod json;
mod list;
mod text;

pub use json::list_json;
pub use list::list_text;
use volume::catalogue::ResolvedVolume;
use volume::closed::{self, Cap, CapPart, Load, Prediction};
use volume::{Limit, LimitSource, PerRequestKind, Scope, Spec};

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
        json::json(self)
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

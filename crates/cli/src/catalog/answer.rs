//! What a volume lets through: the closed form, in the order in which the volume names its limits and stations.

use volume::closed::{self, Cap, Load, Part, Prediction};
use volume::{Limit, Scope, Source, Spec};

use super::question::Question;

/// One limit or station.
#[derive(Clone, Debug)]
pub(super) struct Row<'a> {
    pub name: &'a str,
    pub scope: &'a Scope,
    pub rule: &'a str,
    pub source: &'a Source,
    pub limit: Option<&'a Limit>,
    /// What it lets through; `None` where it counts none of the operations.
    pub cap: Option<Cap>,
}

/// What the closed form says.
#[derive(Clone, Debug)]
pub(super) struct Answer<'a> {
    pub rows: Vec<Row<'a>>,
    /// With as many operations in flight as it takes; `None` where only a simulation can tell.
    pub deep: Option<Prediction>,
    /// With one at a time.
    pub single: Option<Prediction>,
}

impl Answer<'_> {
    /// What lets the least through in the long run.
    pub(super) fn bound_by(&self) -> Option<&Cap> {
        let deep = self.deep.as_ref()?;
        deep.limit.map(|index| &deep.caps[index])
    }

    /// Operations a second in the long run, where something bounds them.
    pub(super) fn iops(&self) -> Option<f64> {
        self.deep.as_ref().map(|deep| deep.iops).filter(|iops| iops.is_finite())
    }
}

pub(super) fn answer<'a>(spec: &'a Spec, question: &Question) -> Answer<'a> {
    let load = question.load();
    let caps = closed::caps(spec, &load);
    let cap = |part: Part| caps.iter().find(|cap| cap.part == part).cloned();
    let limits = spec.limits.iter().enumerate().map(|(index, limit)| Row {
        name: &limit.name,
        scope: &limit.scope,
        rule: &limit.rule,
        source: &limit.source,
        limit: Some(limit),
        cap: cap(Part::Limit(index)),
    });
    let stations = spec.stations.iter().enumerate().map(|(index, station)| Row {
        name: &station.name,
        scope: &station.scope,
        rule: &station.rule,
        source: &station.source,
        limit: None,
        cap: cap(Part::Station(index)),
    });
    let rows = limits.chain(stations).collect();
    let deep = closed::predict(spec, &load);
    let single = closed::predict(spec, &Load { in_flight: 1.0, ..load });
    Answer { rows, deep, single }
}

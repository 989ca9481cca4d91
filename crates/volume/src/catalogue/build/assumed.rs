//! Substitutes for unpublished figures: assumed jitter and merging, unknown limits of machines.

use units::Nanos;

use super::super::bounds::FigureOrigin;
use super::super::quantity::whole;
use super::super::rule::{RuleValue, number};
use super::super::schema::{JitterRule, LimitRule, MergingRule};
use super::super::values::JITTER_MAX_NS;
use super::{VALUE_MAX, VolumeBuilder};
use crate::spec::{CountedUnit, Jitter, JitterBasis, Limit, MACHINE_UNKNOWN, Merging, Scope, names_machine};

/// A limit of the machine without a figure in the catalogue.
pub(super) struct UnknownLimit {
    name: String,
    is_of_bytes: bool,
    /// Whether it counts reads, and writes.
    kinds: [bool; 2],
}

impl UnknownLimit {
    /// Reports whether a known limit of the machine counts the same, and applies in its place.
    fn is_covered_by(&self, limit: &Limit) -> bool {
        let counts = [limit.rate.read.is_some(), limit.rate.write.is_some()];
        names_machine(&limit.name)
            && self.is_of_bytes == (limit.counted == CountedUnit::Bytes)
            && self.kinds.into_iter().zip(counts).all(|(wanted, counted)| counted || !wanted)
    }
}

impl VolumeBuilder<'_> {
    pub(super) fn merging(&self, rule: &MergingRule) -> Merging {
        let undocumented = || if rule.source.is_none() { "sequential operations are merged" } else { "" }.to_owned();
        Merging {
            source: self.source(rule.source.as_ref()),
            assumed: rule.assumed.clone().unwrap_or_else(undocumented),
        }
    }

    /// Notes why a limit is absent, if that matters.
    pub(super) fn note_absent(&mut self, limit: &LimitRule) {
        let machine = limit.variables().iter().any(|name| name.starts_with("machine_") || name == "vcpus");
        let note = match self.found.values.key("machine") {
            Some(RuleValue::Word(_)) if machine => {
                let rate = limit.rate();
                self.unknown.push(UnknownLimit {
                    name: limit.name.clone(),
                    is_of_bytes: rate.bytes.is_some(),
                    kinds: [rate.read.is_some(), rate.write.is_some()],
                });
                return;
            }
            _ if machine => "no `machine` specified: machine limits are not applied".to_owned(),
            _ => return,
        };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns the names of the machine's unknown limits without a published one in their place. The model has no such
    /// limits; a note says so.
    pub(super) fn unknown_limits(&mut self, limits: &[Limit]) -> Vec<String> {
        let Some(RuleValue::Word(machine)) = self.found.values.key("machine") else { return Vec::new() };
        let mut names = Vec::new();
        for unknown in std::mem::take(&mut self.unknown) {
            match limits.iter().find(|limit| unknown.is_covered_by(limit)) {
                Some(known) => {
                    let note =
                        format!("{} of {machine} is not published: {} applies instead", unknown.name, known.name);
                    self.notes.push(note);
                }
                None => names.push(unknown.name),
            }
        }
        if names.is_empty() && self.found.values.unknown_machine {
            names.push(format!("machine limits for {}", self.found.volume().id));
        }
        if !names.is_empty() {
            let what = format!("{MACHINE_UNKNOWN}: the catalogue has no {} of {machine}", names.join(", "));
            self.notes.push(format!("{what}, so the model does not apply it; the real machine may be slower"));
        }
        names
    }

    /// Returns the jitter of the request, of the file, or the default.
    pub(super) fn jitter(&mut self, rule: Option<&JitterRule>, scope: &Scope) -> Jitter {
        let stated = rule.and_then(|rule| self.stated_jitter(rule));
        let common = &self.found.values.common;
        let request = if *scope == Scope::Machine { common.machine_jitter_ns } else { common.jitter_ns };
        request.map(|ns| Jitter::given(Nanos::new(whole(ns)))).or(stated).unwrap_or_default()
    }

    fn stated_jitter(&mut self, rule: &JitterRule) -> Option<Jitter> {
        let ms = self.bounded(&rule.ms, "jitter", false)?;
        if ms * 1e6 > JITTER_MAX_NS && ms <= VALUE_MAX {
            let message = format!("`jitter` evaluates to {} ms, more than 60 s", number(ms));
            self.refuse(&rule.ms, message, "use a smaller value, or `credits` for larger bursts");
        }
        // A user who sets a key of this name has specified the jitter.
        let is_given =
            self.found.values.keys.iter().any(|key| key.name == "jitter" && key.origin == FigureOrigin::Asked);
        let basis = match &rule.source {
            _ if is_given => JitterBasis::Given,
            Some(id) => JitterBasis::Stated(self.source(Some(id))),
            None => JitterBasis::Assumed,
        };
        Some(Jitter { time: Nanos::new(whole(ms.clamp(0.0, 1e9) * 1e6)), basis })
    }
}

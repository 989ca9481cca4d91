//! The cheapest machine that sustains the load together with the volumes.

use std::collections::BTreeSet;

use volume::catalogue::{self, MachineType};

use super::{Pairs, PlanSearch, machine_cap, machine_rate_shortfall, pairs, with_pair};
use crate::candidate::{Candidate, Requirement, UnmetNeed};
use crate::machine::{PlannedMachine, provider};

/// A machine with its price for all machines of the need, in US dollars a month.
type Offer<'a> = (Option<f64>, &'a MachineType);

impl PlanSearch<'_> {
    /// Returns the machine of a volume with these keys: the one it names, with its price where the volume has one.
    pub(crate) fn planned_machine(&self, pairs: &Pairs, region: Option<&str>) -> Option<PlannedMachine> {
        let (_, name) = pairs.iter().find(|(key, _)| key == "machine")?;
        let types = catalogue::machine_types(provider(&self.listed.name));
        let known = types.iter().find(|machine| machine.name.eq_ignore_ascii_case(name)).cloned();
        let kind = known.unwrap_or_else(|| MachineType { name: name.clone(), ..MachineType::default() });
        let price = kind.price(self.need.machine.term, region).cloned();
        Some(PlannedMachine { kind, price, is_chosen: self.need.machine.is_open() })
    }

    /// Returns the cheapest machine and volumes together. `volumes` are the cheapest of each variant without a machine;
    /// the limits of a machine only make them dearer. So the cheapest machine that sustains the load with a variant as it
    /// is ends the search of that variant.
    pub(crate) fn on_cheapest_machine(&mut self, mut volumes: Vec<(Candidate, Pairs)>) -> Option<Candidate> {
        let price = |one: &Candidate| one.price.as_ref().map_or(f64::INFINITY, |price| price.usd_per_month);
        let order = |one: &Candidate| (!one.failures.is_empty(), one.known_price().is_none(), price(one));
        volumes.sort_by(|(a, _), (b, _)| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
        let types = catalogue::machine_types(provider(&self.listed.name));
        let with_limits = catalogue::machine_types_with_limits(&self.listed.name);
        let usable: Vec<&MachineType> = types.iter().filter(|machine| with_limits.contains(&machine.name)).collect();
        let mut best: Option<Candidate> = None;
        let mut nearest: Option<UnmetNeed> = None;
        // Machines that are too slow for a number of parts of each request, whatever the volume.
        let mut too_small: BTreeSet<(u32, &str)> = BTreeSet::new();
        let most_bytes = self.demands.iter().map(|demand| demand.load.bytes.read.max(demand.load.bytes.write)).max();
        for (alone, fixed) in &volumes {
            let region = alone.price.as_ref().and_then(|money| money.price.region.clone());
            let offers = self.offers(&usable, region.as_deref(), alone);
            let (keys, alone_price) = (pairs(&alone.spec.name), price(alone));
            let parts =
                alone.spec.striping.zip(most_bytes).map_or(1, |(striping, bytes)| striping.aligned_parts(bytes).0);
            // Lowest limits of machines on which waits were too long whatever the volume.
            let mut too_slow: f64 = 0.0;
            for (machine_price, machine) in offers {
                let least = alone_price + machine_price.unwrap_or(f64::INFINITY);
                if best.as_ref().is_some_and(|best| least >= price(best)) {
                    break;
                }
                if too_small.contains(&(parts, machine.name.as_str())) {
                    continue;
                }
                let on_machine = with_pair(&keys, "machine", &machine.name);
                // A machine whose limits are unknown guarantees nothing.
                let Some(spec) = self.resolve(&on_machine).map(|found| found.spec) else { continue };
                if !spec.unknown_limits.is_empty() {
                    continue;
                }
                let machine_caps = self.demands.iter().filter_map(|demand| machine_cap(&spec, &demand.load));
                let lowest = machine_caps.map(|cap| cap.iops).fold(f64::INFINITY, f64::min);
                if let Some(short) = machine_rate_shortfall(&spec, &self.demands) {
                    too_small.insert((parts, &machine.name));
                    let limit = format!("{} of {}", short.limit, machine.name);
                    if nearest.as_ref().is_none_or(|nearest| short.short_by() < nearest.short_by()) {
                        nearest = Some(UnmetNeed { limit, ..short });
                    }
                    continue;
                }
                let (found, is_final) = if self.is_as_near(&alone.failures, &spec) {
                    (self.finish(&on_machine), true)
                } else if lowest <= too_slow {
                    continue;
                } else {
                    // Only waits are too long: more performance of the volume may shorten them.
                    (self.smallest(&with_pair(fixed, "machine", &machine.name)), false)
                };
                let Some(found) = found.filter(|found| found.failures.len() <= alone.failures.len()) else {
                    too_slow = too_slow.max(lowest);
                    continue;
                };
                if best.as_ref().is_none_or(|best| order(&found) < order(best)) {
                    best = Some(found);
                }
                if is_final {
                    break;
                }
            }
        }
        if best.is_some() {
            return best;
        }
        // Without a machine that sustains it, the volumes alone say what comes nearest.
        let (mut alone, _) = volumes.into_iter().next()?;
        if alone.failures.is_empty() {
            alone.failures.push(nearest.unwrap_or_else(|| self.no_machine()));
        }
        Some(alone)
    }

    fn no_machine(&self) -> UnmetNeed {
        let limit = "no machine type with known limits meets the requirements on the machine".to_owned();
        UnmetNeed::absolute(Requirement::Machine, limit)
    }

    /// Returns the machines that meet the requirements and take as many volumes, the cheapest first; those without a
    /// price come last, the smallest first.
    fn offers<'a>(&self, types: &[&'a MachineType], region: Option<&str>, alone: &Candidate) -> Vec<Offer<'a>> {
        let need = &self.need.machine;
        let members = alone.spec.striping.map_or(1, |striping| striping.members);
        // On AWS, the boot volume takes one of the attachments.
        let boot = u32::from(provider(&self.listed.name) == "aws");
        let fits = |machine: &&'a MachineType| {
            need.is_met_by(machine) && machine.max_volumes.is_none_or(|most| members + boot <= most)
        };
        let machines = f64::from(self.need.machines.max(1));
        let offer = |machine: &'a MachineType| {
            (machine.price(need.term, region).map(|price| price.usd_per_month * machines), machine)
        };
        let mut offers: Vec<Offer<'a>> = types.iter().copied().filter(fits).map(offer).collect();
        let order = |(price, machine): &Offer<'a>| {
            (price.unwrap_or(f64::INFINITY), machine.vcpus, machine.memory_bytes.unwrap_or(u64::MAX))
        };
        offers.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
        offers
    }
}

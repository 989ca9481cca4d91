//! The machine of a plan: named by the need, or the cheapest that sustains the load together with the volumes.

use volume::catalogue::{self, BURSTABLE, MachinePrice, MachineType, PriceTerm};
use volume::closed::{Cap, caps};

use crate::candidate::{Candidate, UnmetNeed};
use crate::judge::rate_shortfall;
use crate::laws::LatencyCache;
use crate::need::Need;
use crate::search::{Pairs, PlanSearch, with_pair};
use crate::trial::Simulate;

/// Requirements on the machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineNeed {
    /// Machine type, by its provider's name.
    pub name: Option<String>,
    /// Least number of processors.
    pub vcpus: Option<u32>,
    /// Least memory.
    pub memory_bytes: Option<u64>,
    /// One of [`catalogue::MACHINE_ARCHS`].
    pub arch: Option<String>,
    /// One of [`catalogue::MACHINE_FAMILIES`].
    pub family: Option<String>,
    /// For how long it is rented.
    pub term: PriceTerm,
}

impl MachineNeed {
    /// Reports whether the plan chooses a machine: it has requirements, but no name.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        let has_requirements =
            self.vcpus.is_some() || self.memory_bytes.is_some() || self.arch.is_some() || self.family.is_some();
        self.name.is_none() && has_requirements
    }

    /// Reports whether a machine meets the requirements; what is not known of it does not.
    fn is_met_by(&self, machine: &MachineType) -> bool {
        let is_of = |wanted: &Option<String>, known: &Option<String>| wanted.is_none() || wanted == known;
        self.vcpus.is_none_or(|vcpus| machine.vcpus >= vcpus)
            && self.memory_bytes.is_none_or(|least| machine.memory_bytes.is_some_and(|bytes| bytes >= least))
            && is_of(&self.arch, &machine.arch)
            && is_of(&self.family, &machine.family)
            && (self.family.is_some() || machine.family.as_deref() != Some(BURSTABLE))
    }
}

/// Machine of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedMachine {
    /// Facts of its type; of one that the catalogue does not list, the name alone.
    pub kind: MachineType,
    /// Price of one machine; `None` if unknown.
    pub price: Option<MachinePrice>,
    /// Whether the plan chose it.
    pub is_chosen: bool,
}

/// Returns the provider of a volume: `aws` of `aws/gp3`.
pub(crate) fn provider(volume: &str) -> &str {
    volume.split(['/', '@', ',']).next().unwrap_or_default()
}

/// Returns the lowest cap of the machine on a load.
pub(crate) fn machine_caps<'a>(need: &'a Need, spec: &'a volume::Spec) -> impl Iterator<Item = Cap> + 'a {
    need.demands()
        .into_iter()
        .filter_map(|demand| caps(spec, &demand.load).into_iter().find(|cap| volume::names_machine(&cap.name)))
}

/// Returns a candidate of the same type, with a machine, that sustains a little more than the bottleneck of `best`: what it
/// costs to lift it. `None` without a machine or a limit.
pub fn lifted(
    need: &Need,
    best: &Candidate,
    laws: &mut LatencyCache,
    simulate: &mut Simulate<'_>,
) -> Option<Candidate> {
    /// Factor above the present limit.
    const MORE: f64 = 1.05;
    let machine = best.machine.as_ref().filter(|_| best.rate > 0.0 && best.headroom.is_finite())?;
    let kind = &machine.kind;
    let open = MachineNeed {
        name: None,
        vcpus: need.machine.vcpus.or(Some(kind.vcpus)),
        arch: need.machine.arch.clone().or_else(|| kind.arch.clone()),
        ..need.machine.clone()
    };
    // Keys that the need sets for this volume stay.
    let named = need.volumes.iter().find(|volume| volume.split(',').next() == Some(&best.listed));
    let keeps_machine = need.machine.name.is_some() && !best.is_limited_by_machine();
    let lifted = Need {
        machine: if keeps_machine { need.machine.clone() } else { open },
        volumes: vec![named.cloned().unwrap_or_else(|| best.listed.clone())],
        budget: None,
        headroom: 0.0,
        stripe_max: if best.members() > 1 { need.stripe_max } else { 1 },
        ..need.times((1.0 + best.headroom) * MORE)
    };
    crate::best(&lifted, laws, simulate).filter(Candidate::meets)
}

/// A machine with its price for all machines of the need, in US dollars a month.
type Offer<'a> = (Option<f64>, &'a MachineType);

impl PlanSearch<'_> {
    /// Returns the machine of a volume with these keys: the one it names.
    pub(crate) fn planned_machine(&self, pairs: &Pairs) -> Option<PlannedMachine> {
        let (_, name) = pairs.iter().find(|(key, _)| key == "machine")?;
        let types = catalogue::machine_types(provider(&self.listed.name));
        let known = types.iter().find(|machine| machine.name.eq_ignore_ascii_case(name)).cloned();
        let kind = known.unwrap_or_else(|| MachineType { name: name.clone(), ..MachineType::default() });
        let region = self.resolve(pairs).and_then(|found| found.spec.price).and_then(|price| price.region);
        let price = kind.price(self.need.machine.term, region.as_deref()).cloned();
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
        let mut best: Option<Candidate> = None;
        let mut nearest: Option<UnmetNeed> = None;
        for (alone, fixed) in &volumes {
            let region = alone.price.as_ref().and_then(|money| money.price.region.clone());
            let offers = self.offers(&types, region.as_deref(), alone);
            let (pairs, alone_price) = (crate::search::pairs(&alone.spec.name), price(alone));
            // Lowest limits of machines on which waits were too long whatever the volume.
            let mut too_slow: f64 = 0.0;
            for (machine_price, machine) in offers {
                let least = alone_price + machine_price.unwrap_or(f64::INFINITY);
                if best.as_ref().is_some_and(|best| least >= price(best)) {
                    break;
                }
                let on_machine = with_pair(&pairs, "machine", &machine.name);
                // A machine whose limits are unknown guarantees nothing.
                let Some(spec) = self.resolve(&on_machine).map(|found| found.spec) else { continue };
                if !spec.unknown_limits.is_empty() {
                    continue;
                }
                let lowest = machine_caps(self.need, &spec).map(|cap| cap.iops).fold(f64::INFINITY, f64::min);
                if let Some(short) = self.rate_shortfall(&spec) {
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
        if alone.failures.is_empty() && !types.is_empty() {
            alone.failures.push(nearest.unwrap_or_else(|| self.no_machine()));
        }
        Some(alone)
    }

    fn no_machine(&self) -> UnmetNeed {
        let limit = "no machine type with known limits meets the requirements on the machine".to_owned();
        UnmetNeed::absolute(crate::candidate::Requirement::Machine, limit)
    }

    fn rate_shortfall(&self, spec: &volume::Spec) -> Option<UnmetNeed> {
        let short = self.demands.iter().filter_map(|demand| {
            let lowest = caps(spec, &demand.load).into_iter().find(|cap| volume::names_machine(&cap.name))?;
            rate_shortfall(demand, &lowest)
        });
        short.max_by(|a, b| a.short_by().total_cmp(&b.short_by()))
    }

    /// Returns the machines that meet the requirements and take as many volumes, the cheapest first; those without a
    /// price come last, the smallest first.
    fn offers<'a>(&self, types: &'a [MachineType], region: Option<&str>, alone: &Candidate) -> Vec<Offer<'a>> {
        let need = &self.need.machine;
        let members = alone.spec.striping.map_or(1, |striping| striping.members);
        // On AWS, the boot volume takes one of the attachments.
        let boot = u32::from(provider(&self.listed.name) == "aws");
        let fits = |machine: &&MachineType| {
            need.is_met_by(machine) && machine.max_volumes.is_none_or(|most| members + boot <= most)
        };
        let machines = f64::from(self.need.machines.max(1));
        let offer = |machine: &'a MachineType| {
            (machine.price(need.term, region).map(|price| price.usd_per_month * machines), machine)
        };
        let mut offers: Vec<Offer<'a>> = types.iter().filter(fits).map(offer).collect();
        let order = |(price, machine): &Offer<'a>| {
            (price.unwrap_or(f64::INFINITY), machine.vcpus, machine.memory_bytes.unwrap_or(u64::MAX))
        };
        offers.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
        offers
    }
}

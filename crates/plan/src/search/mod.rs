//! Finds the smallest size of each volume that meets a need: bisection over the closed form.

mod machine;

use volume::CountedUnit;
use volume::catalogue::{self, About, Bounds, BuiltinVolume, MachineType, ResolvedVolume};
use volume::closed::{Cap, Load, caps};

use crate::bisection::{bisect, lowest};
use crate::candidate::{Candidate, MonthlyCost, Requirement, UnmetNeed, iops_per_cpu};
use crate::judge::{ClosedFormResult, burst, jitter_effect, judge, merging_effect, rate_shortfall};
use crate::laws::LatencyCache;
use crate::machine::{MachineNeed, PlannedMachine, provider};
use crate::need::{Demand, Need};

/// Providers that are not sold; considered only when named.
const NOT_SOLD: [&str; 1] = ["custom"];
/// Keys that are provisioned as low as the need allows, in this order, after the size.
const PROVISIONED: [&str; 5] = ["iops", "throughput", "network_gbps", "vcpus", "frodo_threads"];
/// Keys that select a plan of machines; each choice is tried.
const PLANS: [&str; 1] = ["droplet"];

/// Returns the volumes that a need considers, with their given keys. By default these are the newest editions of all
/// volumes on sale.
///
/// # Errors
///
/// Returns the unknown names, as indices into [`Need::volumes`].
pub fn named(need: &Need) -> Result<Vec<(BuiltinVolume, String)>, Vec<usize>> {
    let listed = catalogue::list();
    if need.volumes.is_empty() {
        let sold = |listed: &BuiltinVolume| !listed.name.contains('@') && !NOT_SOLD.contains(&provider(&listed.name));
        return Ok(listed.into_iter().filter(sold).map(|listed| (listed, String::new())).collect());
    }
    let mut found: Vec<(BuiltinVolume, String)> = Vec::new();
    let mut missing = Vec::new();
    for (index, words) in need.volumes.iter().enumerate() {
        let (name, keys) = words.split_once(',').unwrap_or((words, ""));
        let (whose, edition) = name.split_once('@').map_or((name, None), |(whose, edition)| (whose, Some(edition)));
        let of = |listed: &BuiltinVolume| {
            let newer = listed.name.split_once('@').map(|(_, edition)| edition) == edition;
            listed.name == name || newer && provider(&listed.name) == whose
        };
        let here: Vec<(BuiltinVolume, String)> =
            listed.iter().filter(|listed| of(listed)).map(|listed| (listed.clone(), keys.to_owned())).collect();
        if here.is_empty() {
            missing.push(index);
        }
        for volume in here {
            if !found.iter().any(|(known, known_keys)| known.name == volume.0.name && *known_keys == volume.1) {
                found.push(volume);
            }
        }
    }
    if missing.is_empty() { Ok(found) } else { Err(missing) }
}

/// Returns the regions for which prices of the need's volumes are known, by name.
#[must_use]
pub fn regions(need: &Need) -> Vec<String> {
    let volumes = named(need).unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    for (listed, _) in volumes {
        let Ok(resolved) = catalogue::resolve_all(&[&listed.name], &catalogue::no_files) else { continue };
        let prices = resolved.iter().flat_map(|resolved| &resolved.about.prices);
        found.extend(prices.flat_map(|of| of.price.region.iter().chain(&of.also).cloned()));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// How many volumes of one type a search buys for each machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Members {
    One,
    /// Several in RAID 0.
    Stripe,
}

/// More volumes are bought only for a price below this fraction of that of fewer: each adds work and a risk.
pub(crate) const WORTH_STRIPING: f64 = 0.99;
/// Numbers of volumes in RAID 0 that are considered, up to that of the need.
const STRIPES: [u32; 15] = [2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64];

/// Returns each volume at the smallest size that meets the need, or at its largest with its unmet requirements.
#[must_use]
pub fn candidates(need: &Need, laws: &mut LatencyCache) -> Vec<Candidate> {
    let volumes = named(need).unwrap_or_default();
    let one = |origin: &(BuiltinVolume, String)| candidate(need, origin, Members::One, 1.0, laws);
    volumes.iter().filter_map(one).collect()
}

/// Returns one volume, or several in RAID 0, dimensioned for `margin` times the rates of the need, in the cheapest of its
/// regions.
pub(crate) fn candidate(
    need: &Need,
    (listed, keys): &(BuiltinVolume, String),
    members: Members,
    margin: f64,
    laws: &mut LatencyCache,
) -> Option<Candidate> {
    let mut demands = need.demands();
    for demand in &mut demands {
        demand.rate *= margin;
        demand.sustained *= margin;
    }
    let mut best: Option<Candidate> = None;
    for region in regions_of(need, listed) {
        let (demands, region) = (demands.clone(), region.map(str::to_owned));
        let given = given(need, listed, keys, region.as_deref());
        let mut search = PlanSearch { need, listed, region, demands, given, laws: &mut *laws, trial: None };
        let Some(mut found) = search.found(members) else { continue };
        found.margin = margin;
        if found.failures.is_empty() {
            found.failures.extend(machine_shortfall(&found, need));
        }
        if best.as_ref().is_none_or(|best| is_better(&found, best)) {
            best = Some(found);
        }
    }
    best
}

/// Returns the regions of the need in which a volume has a price; one of them if it has none, and `None` for a need
/// without regions.
fn regions_of<'a>(need: &'a Need, listed: &BuiltinVolume) -> Vec<Option<&'a str>> {
    let regions = need.regions.iter().map(|region| Some(region.as_str()));
    if need.regions.len() < 2 {
        return if need.regions.is_empty() { vec![None] } else { regions.collect() };
    }
    let prices = |region: &Option<&str>| {
        let found = catalogue::resolve_in(&listed.name, *region);
        found.map_or_else(|_| Vec::new(), |found| found.about.prices)
    };
    // A price without a region applies in each alike.
    let is_own = |region: &Option<&str>| prices(region).iter().any(|of| of.price.region.is_some());
    let priced: Vec<Option<&str>> = regions.clone().filter(is_own).collect();
    if priced.is_empty() { regions.take(1).collect() } else { priced }
}

/// Reports that the largest machines of the catalogue sustain less than the need with a candidate, if none is named.
fn machine_shortfall(candidate: &Candidate, need: &Need) -> Option<UnmetNeed> {
    if !candidate.depends_on_unnamed_machine() || need.machine != MachineNeed::default() {
        return None;
    }
    let demands = need.demands();
    let mut machines = catalogue::machine_names(&candidate.listed).unwrap_or_default();
    // The largest sustain most needs, so that few are resolved.
    machines.sort_by_key(|machine| std::cmp::Reverse(largest_number(machine)));
    let mut nearest: Option<UnmetNeed> = None;
    for machine in machines {
        let Some(spec) = on_machine(candidate, &machine) else { continue };
        // Where no known limit is short, the machine sustains it, or may.
        let worst = machine_rate_shortfall(&spec, &demands)?;
        let limit = format!("{} of {machine}, the largest machine", worst.limit);
        let worst = UnmetNeed { limit, ..worst };
        if nearest.as_ref().is_none_or(|nearest| worst.short_by() < nearest.short_by()) {
            nearest = Some(worst);
        }
    }
    nearest
}

/// Returns the largest number in a name, by which machines of a series differ.
fn largest_number(name: &str) -> Option<u32> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).max()
}

/// Returns a candidate's volume on a machine.
fn on_machine(candidate: &Candidate, machine: &str) -> Option<volume::Spec> {
    let name = format!("{},machine={machine}", candidate.spec.name);
    Some(catalogue::resolve_in(&name, None).ok()?.spec)
}

/// Reports the demand for which the machine of a volume falls short most.
fn machine_rate_shortfall(spec: &volume::Spec, demands: &[Demand]) -> Option<UnmetNeed> {
    let short = demands.iter().filter_map(|demand| rate_shortfall(demand, &machine_cap(spec, &demand.load)?));
    short.max_by(|a, b| a.short_by().total_cmp(&b.short_by()))
}

/// Returns the lowest cap of the machine on a load.
fn machine_cap(spec: &volume::Spec, load: &Load) -> Option<Cap> {
    caps(spec, load).into_iter().find(|cap| volume::names_machine(&cap.name))
}

/// Pairs of a key and its value, as in a volume's name.
pub(crate) type Pairs = Vec<(String, String)>;

/// Returns the keys in a volume's name.
pub(crate) fn pairs(name: &str) -> Pairs {
    let pairs = name.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
}

/// Returns the name of a volume with keys.
pub(crate) fn named_with(name: &str, pairs: &Pairs) -> String {
    let words: String = pairs.iter().map(|(key, value)| format!(",{key}={value}")).collect();
    format!("{name}{words}")
}

/// Returns the keys of a volume that the need determines.
fn given(need: &Need, listed: &BuiltinVolume, keys: &str, region: Option<&str>) -> Pairs {
    let mut pairs: Pairs = Vec::new();
    let about = catalogue::resolve_in(&listed.name, None).map(|found| found.about);
    let has = |name: &str| about.as_ref().ok().and_then(|about| about.keys.iter().find(|key| key.name == name));
    if let (Some(machine), Some(_)) = (&need.machine.name, has("machine")) {
        pairs.push(("machine".to_owned(), machine.clone()));
    }
    if let (Some(vcpus), Some(_), None) = (need.machine.vcpus, has("vcpus"), &need.machine.name) {
        pairs.push(("vcpus".to_owned(), vcpus.to_string()));
    }
    if let (Some(region), Some(key)) = (region, has("region"))
        && key.bounds.choices.iter().any(|known| known == region)
    {
        pairs.push(("region".to_owned(), region.to_owned()));
    }
    self::pairs(keys).iter().fold(pairs, |pairs, (key, value)| with_pair(&pairs, key, value))
}

/// Returns machines that sustain the need with a candidate, at most one per series: the cheapest, or where no price is
/// known those with the least spare capacity. Returns none if the candidate has a machine or needs none.
#[must_use]
pub fn machines(candidate: &Candidate, need: &Need, laws: &mut LatencyCache) -> Vec<PlannedMachine> {
    if !candidate.depends_on_unnamed_machine() {
        return Vec::new();
    }
    let demands = need.demands();
    let is_bounded = need.bounds_latency();
    let region = candidate.price.as_ref().and_then(|money| money.price.region.as_deref());
    let region = region.or(need.regions.first().map(String::as_str));
    let mut enough: Vec<(f64, f64, PlannedMachine)> = Vec::new();
    for kind in machine_types(candidate) {
        // Unknown limits do not guarantee anything.
        let Some(spec) = on_machine(candidate, &kind.name).filter(|spec| spec.unknown_limits.is_empty()) else {
            continue;
        };
        let machine_caps: Vec<Option<Cap>> = demands.iter().map(|demand| machine_cap(&spec, &demand.load)).collect();
        let of_both = || machine_caps.iter().flatten().zip(&demands);
        let is_short = of_both().any(|(cap, demand)| rate_shortfall(demand, cap).is_some());
        let mut waits = |demand| !judge(&spec, need, demand, laws).failures.is_empty();
        if is_short || is_bounded && demands.iter().any(&mut waits) {
            continue;
        }
        let spare = of_both().map(|(cap, demand)| cap.iops / demand.rate.max(1e-12)).fold(f64::INFINITY, f64::min);
        if spare.is_finite() {
            let price = kind.price(need.machine.term, region).cloned();
            let usd = price.as_ref().map_or(f64::INFINITY, |price| price.usd_per_month);
            enough.push((usd, spare, PlannedMachine { kind, price, is_chosen: false }));
        }
    }
    enough.sort_by(|a, b| {
        a.0.total_cmp(&b.0).then_with(|| a.1.total_cmp(&b.1)).then_with(|| a.2.kind.name.cmp(&b.2.kind.name))
    });
    let series = |machine: &PlannedMachine| machine.kind.name.split(['-', '.', '_']).take(1).collect::<String>();
    let mut found: Vec<PlannedMachine> = Vec::new();
    for (_, _, machine) in enough {
        if !found.iter().any(|known| series(known) == series(&machine)) {
            found.push(machine);
        }
    }
    // Others that cost far more are no advice.
    let most = found.first().and_then(|first| first.price.as_ref()).map(|price| 3.0 * price.usd_per_month);
    found.retain(|machine| {
        let price = machine.price.as_ref().map(|price| price.usd_per_month);
        most.is_none_or(|most| price.is_some_and(|price| price <= most))
    });
    found.truncate(3);
    found
}

/// Returns the machine types to which a candidate may be attached: those on sale, or where the catalogue has none those
/// with known limits.
fn machine_types(candidate: &Candidate) -> Vec<MachineType> {
    let on_sale = catalogue::machine_types(provider(&candidate.listed));
    if !on_sale.is_empty() {
        let with_limits = catalogue::machine_types_with_limits(&candidate.listed);
        let is_usual = |machine: &&MachineType| {
            machine.family.as_deref() != Some(catalogue::BURSTABLE) && with_limits.contains(&machine.name)
        };
        return on_sale.iter().filter(is_usual).cloned().collect();
    }
    // A row for a whole series does not describe one machine.
    let known = catalogue::machine_names(&candidate.listed).unwrap_or_default().into_iter();
    let named = known.filter(|name| !name.ends_with('*'));
    named.map(|name| MachineType { name, ..MachineType::default() }).collect()
}

pub(crate) struct PlanSearch<'a> {
    pub(crate) need: &'a Need,
    pub(crate) listed: &'a BuiltinVolume,
    /// Region for prices.
    region: Option<String>,
    pub(crate) demands: Vec<Demand>,
    given: Pairs,
    laws: &'a mut LatencyCache,
    /// Tries volumes; without it the closed form decides.
    trial: Option<SearchTrial<'a>>,
}

impl PlanSearch<'_> {
    /// Returns the cheapest volume or stripe that meets the need, with a machine if the need asks for one; otherwise the
    /// nearest.
    fn found(&mut self, members: Members) -> Option<Candidate> {
        let mut volumes: Vec<(Candidate, Pairs)> = Vec::new();
        for fixed in self.variants() {
            match members {
                Members::One => volumes.extend(self.smallest(&fixed).map(|found| (found, fixed))),
                Members::Stripe => volumes.extend(self.stripes(&fixed)),
            }
        }
        // Old editions have limits by processors instead of machines.
        let may_choose = !self.is_given("vcpus") && volumes.iter().any(|(one, _)| one.depends_on_unnamed_machine());
        if self.need.machine.is_open() && may_choose {
            return self.on_cheapest_machine(volumes);
        }
        let better = |best: Candidate, new: Candidate| if is_better(&new, &best) { new } else { best };
        let mut found = volumes.into_iter().map(|(found, _)| found).reduce(better)?;
        let is_own = catalogue::file(&self.listed.name).is_some() || NOT_SOLD.contains(&provider(&self.listed.name));
        if self.need.machine.is_open() && !self.is_given("vcpus") && !is_own {
            let limit = "the catalogue has no machine types for it to choose from".to_owned();
            found.failures.push(UnmetNeed::absolute(Requirement::Machine, limit));
        }
        Some(found)
    }

    /// Returns the smallest sufficient volumes in RAID 0 for each number of them that may be the cheapest; if none
    /// suffices, the greatest number.
    fn stripes(&mut self, fixed: &Pairs) -> Vec<(Candidate, Pairs)> {
        let most = self.members_max();
        let of = |count: u32| with_pair(fixed, "stripe", &count.to_string());
        let (mut found, mut best): (Vec<(Candidate, Pairs)>, f64) = (Vec::new(), f64::INFINITY);
        for count in STRIPES.into_iter().filter(|count| *count <= most) {
            let fixed = of(count);
            // More volumes cost at least as much as their capacity.
            let least = self.least_price(&fixed);
            if least.is_some_and(|least| least >= WORTH_STRIPING * best) || least.is_none() && !found.is_empty() {
                continue;
            }
            if !self.suffices_at_most(&fixed) && count < most {
                continue;
            }
            let Some(stripe) = self.smallest(&fixed) else { continue };
            let price = stripe.price.as_ref().map_or(f64::INFINITY, |price| price.usd_per_month);
            if stripe.failures.is_empty() && best.is_finite() && price >= WORTH_STRIPING * best {
                continue;
            }
            if stripe.failures.is_empty() {
                best = price;
            }
            found.push((stripe, fixed));
        }
        found
    }

    /// Returns how many volumes a stripe may have; 1 if it makes no sense for this volume.
    fn members_max(&self) -> u32 {
        let is_striped = self.is_given("stripe");
        let Some(ResolvedVolume { spec, about }) = self.resolve(&self.given).filter(|_| !is_striped) else { return 1 };
        let is_drive = matches!(spec.behaviour, volume::Behaviour::Drive(_));
        let is_local = about.media.contains("not durable") || about.keys.iter().any(|key| key.name == "disks");
        if is_drive || is_local || NOT_SOLD.contains(&provider(&self.listed.name)) {
            return 1;
        }
        about.max_volumes.map_or(self.need.stripe_max, |most| self.need.stripe_max.min(most))
    }

    /// Returns the price of the smallest volumes with the capacity of the need, whatever they sustain.
    fn least_price(&self, fixed: &Pairs) -> Option<f64> {
        let resolved = self.resolve(fixed)?;
        let pairs = match self.size_range(&resolved) {
            Some(sizes) => with_pair(fixed, "size", &sizes.sold_from(sizes.least.max(self.wanted(&sizes)))),
            None => fixed.clone(),
        };
        // Without a value, some have the maximum for their size.
        let resolved = self.resolve(&pairs)?;
        let least = |name: &&'static str| Some((*name, self.bounds(&resolved, name)?.clone()));
        let pairs = PROVISIONED.iter().filter_map(least).fold(pairs.clone(), |pairs, (name, bounds)| {
            let value = bounds.least.map(|least| format!("{}{}", least.ceil(), bounds.unit));
            value.map_or(pairs.clone(), |value| with_pair(&pairs, name, &value))
        });
        let ResolvedVolume { spec, about } = self.resolve(&pairs)?;
        Some(self.price(&spec, &about, None)?.usd_per_month)
    }

    /// Reports whether the largest volumes suffice.
    fn suffices_at_most(&mut self, fixed: &Pairs) -> bool {
        let Some(resolved) = self.resolve(fixed) else { return false };
        let largest = match self.size_range(&resolved) {
            Some(sizes) => with_pair(fixed, "size", &sizes.sold_from(sizes.most)),
            None => fixed.clone(),
        };
        self.max_provisioned(&largest).is_some_and(|(_, found)| self.is_enough(&found.spec))
    }

    /// Returns the size that the capacity of the need takes, in the unit of the sizes.
    fn wanted(&self, sizes: &SizeRange) -> u64 {
        (self.need.bytes() as f64 / sizes.unit_bytes * (1.0 - 1e-9)).ceil().max(1.0) as u64
    }

    pub(crate) fn resolve(&self, pairs: &Pairs) -> Option<ResolvedVolume> {
        catalogue::resolve_in(&named_with(&self.listed.name, pairs), self.region.as_deref()).ok()
    }

    fn is_given(&self, key: &str) -> bool {
        self.given.iter().any(|(known, _)| known == key)
    }

    /// Returns the combinations of keys with few choices; each is searched separately.
    fn variants(&self) -> Vec<Pairs> {
        let Some(resolved) = self.resolve(&self.given) else { return vec![self.given.clone()] };
        let mut variants = vec![self.given.clone()];
        for key in resolved.about.keys.iter().filter(|key| !key.bounds.fixed && !self.is_given(&key.name)) {
            let choices: Vec<String> = match key.name.as_str() {
                "size" => Vec::new(),
                name if PLANS.contains(&name) => key.bounds.choices.clone(),
                _ => key.bounds.one_of.iter().map(|value| format!("{value}{}", key.bounds.unit)).collect(),
            };
            if choices.is_empty() {
                continue;
            }
            let with = |pairs: &Pairs| -> Vec<Pairs> {
                let choice = |value: &String| with_pair(pairs, &key.name, value);
                choices.iter().map(choice).collect()
            };
            variants = variants.iter().flat_map(with).collect();
        }
        variants
    }

    /// Returns the smallest sufficient volume with some keys fixed, or the largest.
    pub(crate) fn smallest(&mut self, fixed: &Pairs) -> Option<Candidate> {
        let Some(resolved) = self.resolve(fixed) else { return self.unresolvable() };
        let Some(sizes) = self.size_range(&resolved) else {
            let most = self.max_provisioned(fixed)?;
            let pairs = if self.is_enough(&most.1.spec) {
                self.provisioned(most.0, &Self::is_enough)
            } else if self.trial.is_some() {
                most.0
            } else {
                let reference = self.misses(&most.1.spec);
                self.provisioned(most.0, &|search, spec| search.is_as_near(&reference, spec))
            };
            return self.finish(&pairs);
        };
        let wanted = self.wanted(&sizes);
        let sized = |size: u64| with_pair(fixed, "size", &sizes.sold_from(size));
        let low = sizes.least.max(wanted).min(sizes.most);
        // The smallest of some types admits less than one operation per second and does not resolve.
        let smallest = self.max_provisioned(&sized(low));
        let mut enough = smallest.filter(|(_, found)| self.is_enough(&found.spec));
        if enough.is_none() {
            let largest = self.max_provisioned(&sized(sizes.most))?;
            if !self.is_enough(&largest.1.spec) {
                if self.trial.is_some() {
                    return self.finish(&largest.0);
                }
                return self.nearest_insufficient(low, sizes.most, largest, &sized);
            }
            let sufficient = |search: &mut Self, size| {
                search.max_provisioned(&sized(size)).filter(|(_, found)| search.is_enough(&found.spec))
            };
            let (near, resolution) = self.near("size");
            enough = lowest(low, sizes.most, near, resolution, |size| sufficient(self, size)).or(Some(largest));
        }
        let pairs = self.provisioned(enough?.0, &Self::is_enough);
        self.finish(&pairs)
    }

    /// Finds the smallest of the volumes that are insufficient even at their largest, but perform no worse than the
    /// largest.
    fn nearest_insufficient(
        &mut self,
        low: u64,
        high: u64,
        largest: (Pairs, ResolvedVolume),
        sized: &dyn Fn(u64) -> Pairs,
    ) -> Option<Candidate> {
        let reference = self.misses(&largest.1.spec);
        let as_near = |search: &mut Self, size: u64| {
            search.max_provisioned(&sized(size)).filter(|(_, found)| search.is_as_near(&reference, &found.spec))
        };
        let nearest = as_near(self, low).or_else(|| bisect(low, high, |size| as_near(self, size)));
        let pairs = nearest.map_or(largest.0, |(pairs, _)| pairs);
        let pairs = self.provisioned(pairs, &|search, spec| search.is_as_near(&reference, spec));
        let mut nearest = self.finish(&pairs)?;
        // Report what limits the largest one as well, rather than the size.
        for failure in &mut nearest.failures {
            let same = reference.iter().find(|other| other.requirement == failure.requirement);
            failure.limit = same.map_or(failure.limit.clone(), |same| same.limit.clone());
        }
        Some(nearest)
    }

    /// Returns the requirements that a volume misses whatever it costs.
    fn misses(&mut self, spec: &volume::Spec) -> Vec<UnmetNeed> {
        let mut misses: Vec<UnmetNeed> = Vec::new();
        let wanted = self.need.bytes();
        if spec.size.get() < wanted {
            let limit = "largest available size".to_owned();
            let (wanted, reached) = (wanted as f64, spec.size.get() as f64);
            misses.push(UnmetNeed { requirement: Requirement::Capacity, limit, wanted, reached });
        }
        for demand in &self.demands {
            misses.extend(judge(spec, self.need, demand, self.laws).failures);
        }
        misses.extend(self.unknown_rate(spec));
        misses
    }

    /// Reports whether a volume misses no requirement by more than others do.
    pub(crate) fn is_as_near(&mut self, others: &[UnmetNeed], spec: &volume::Spec) -> bool {
        let short = |requirement: Requirement| {
            let all = others.iter().filter(|other| other.requirement == requirement);
            all.map(UnmetNeed::short_by).fold(0.0, f64::max)
        };
        self.misses(spec).iter().all(|miss| miss.short_by() <= short(miss.requirement) * (1.0 + 1e-9))
    }

    /// Returns the sizes on sale, if the size is not given.
    fn size_range(&self, resolved: &ResolvedVolume) -> Option<SizeRange> {
        if self.is_given("size") {
            return None;
        }
        let key = resolved.about.keys.iter().find(|key| key.name == "size").filter(|key| !key.bounds.fixed)?;
        let unit_bytes = resolved.spec.size.get() as f64 / key.bounds.value?;
        let least = key.bounds.sold_from(0.0).unwrap_or(1.0) as u64;
        let most = key.bounds.largest_sold().unwrap_or(1e9) as u64;
        Some(SizeRange { least: least.min(most), most, unit_bytes, bounds: key.bounds.clone() })
    }

    /// Returns a volume with the maximum of all provisioned keys.
    fn max_provisioned(&self, pairs: &Pairs) -> Option<(Pairs, ResolvedVolume)> {
        self.max_provisioned_of(pairs, &PROVISIONED)
    }

    /// Returns the bounds of a provisioned key; `None` if it does not exist or was given.
    fn bounds<'r>(&self, resolved: &'r ResolvedVolume, name: &str) -> Option<&'r Bounds> {
        let key = resolved.about.keys.iter().find(|key| key.name == name)?;
        (!self.is_given(name) && !key.bounds.fixed && key.bounds.one_of.is_empty()).then_some(&key.bounds)
    }

    /// Reduces provisioned values as far as `is_enough` allows, one after another.
    fn provisioned(&mut self, mut pairs: Pairs, is_enough: &dyn Fn(&mut Self, &volume::Spec) -> bool) -> Pairs {
        for name in PROVISIONED {
            // Later keys depend on this one, so they are set to their maximum for each value.
            let later: Vec<&str> = PROVISIONED.into_iter().skip_while(|known| *known != name).skip(1).collect();
            let bare = |pairs: &Pairs| later.iter().fold(pairs.clone(), |pairs, name| without(&pairs, name));
            let without = without(&bare(&pairs), name);
            let Some(bounds) = self.resolve(&without).and_then(|found| self.bounds(&found, name).cloned()) else {
                continue;
            };
            let (Some(least), Some(most)) = (bounds.least, bounds.most) else { continue };
            let (low, high) = (least.ceil() as u64, (most * (1.0 + 1e-9)).floor() as u64);
            let with = |value: u64| with_pair(&pairs, name, &format!("{value}{}", bounds.unit));
            if low >= high {
                continue;
            }
            let enough = |search: &mut Self, value: u64| {
                let full = search.max_provisioned_of(&bare(&with(value)), &later)?;
                is_enough(search, &full.1.spec).then_some(full.0)
            };
            let (near, resolution) = self.near(name);
            let between =
                enough(self, low).or_else(|| lowest(low, high, near, resolution, |value| enough(self, value)));
            pairs = between.or_else(|| enough(self, high)).unwrap_or(pairs);
        }
        pairs
    }

    /// Returns a volume with the maximum of the named keys.
    fn max_provisioned_of(&self, pairs: &Pairs, names: &[&str]) -> Option<(Pairs, ResolvedVolume)> {
        let mut pairs = pairs.clone();
        let mut resolved = self.resolve(&pairs)?;
        for name in names {
            if let Some(bounds) = self.bounds(&resolved, name)
                && let Some(most) = bounds.most
            {
                let most = most * (1.0 + 1e-9);
                pairs = with_pair(&pairs, name, &format!("{}{}", most.floor(), bounds.unit));
                resolved = self.resolve(&pairs)?;
            }
        }
        Some((pairs, resolved))
    }

    /// Returns the value at which the search for a key begins, if it is known, and the resolution of the search.
    fn near(&self, name: &str) -> (Option<u64>, f64) {
        let Some(trial) = &self.trial else { return (None, 0.0) };
        let key = trial.near.keys.iter().find(|key| key.name == name);
        (key.and_then(|key| key.bounds.value).map(|value| value.ceil() as u64), trial.resolution)
    }

    fn is_enough(&mut self, spec: &volume::Spec) -> bool {
        if let Some(trial) = &mut self.trial {
            return (trial.is_enough)(spec);
        }
        self.unknown_rate(spec).is_none()
            && self.demands.iter().all(|demand| judge(spec, self.need, demand, self.laws).failures.is_empty())
    }

    /// Reports a demand for which no limit of the volume is known: nothing says that the volume meets it.
    fn unknown_rate(&self, spec: &volume::Spec) -> Option<UnmetNeed> {
        let is_own = NOT_SOLD.contains(&self.listed.name.as_str());
        let volume::Behaviour::Latency(latency) = &spec.behaviour else { return None };
        let counts = |unit| spec.limits.iter().any(|limit| limit.counted == unit);
        let is_known = [
            counts(CountedUnit::Operations) || !spec.stations.is_empty(),
            counts(CountedUnit::Bytes)
                || latency.bytes_per_sec.is_some()
                || spec.stations.iter().any(|station| station.bytes_per_sec.is_some()),
        ];
        let unknown = self.demands.iter().find(|demand| !is_known[usize::from(demand.is_of_bytes())])?;
        let what = if unknown.is_of_bytes() { "throughput" } else { "IOPS" };
        let failure = || UnmetNeed::absolute(Requirement::Unknown, format!("its {what} limits are unknown"));
        (!is_own).then(failure)
    }

    /// Returns a candidate for a volume that does not resolve with the given keys.
    fn unresolvable(&mut self) -> Option<Candidate> {
        let given = std::mem::take(&mut self.given);
        let machine = self.need.machine.name.clone().filter(|_| given.iter().any(|(key, _)| key == "machine"));
        let mut found = self.finish(&Vec::new())?;
        let refusal = machine.and_then(|machine| catalogue::machine_refusal(&self.listed.name, &machine));
        let limit = refusal.map_or_else(|| "it does not support these settings".to_owned(), |refusal| refusal.reason);
        found.failures = vec![UnmetNeed::absolute(Requirement::Machine, limit)];
        self.given = given;
        Some(found)
    }

    /// Builds the candidate for a volume with all keys settled.
    pub(crate) fn finish(&mut self, pairs: &Pairs) -> Option<Candidate> {
        let ResolvedVolume { spec, about } = self.resolve(pairs)?;
        let mut failures = self.misses(&spec);
        failures.extend(Self::unsold(&about));
        failures.extend(self.sharing(&about));
        failures.extend(self.durability(&about));
        failures.extend(self.machine());
        let machine = self.planned_machine(pairs, spec.price.as_ref().and_then(|price| price.region.as_deref()));
        let price = self.price(&spec, &about, machine.as_ref());
        failures.extend(self.budget(price.as_ref()));
        // Results refer to the requested rates, without the margin that simulations demanded.
        let demands = self.need.demands();
        let judged: Vec<ClosedFormResult> =
            demands.iter().map(|demand| judge(&spec, self.need, demand, self.laws)).collect();
        // The demand closest to its limit represents all.
        let tightness = |index: usize| {
            let cap = judged[index].caps.first().map_or(f64::INFINITY, |cap| cap.iops);
            cap / demands[index].rate.max(1e-12)
        };
        let tightest = (0..judged.len()).min_by(|a, b| tightness(*a).total_cmp(&tightness(*b)));
        let timed = (0..judged.len()).find(|index| demands[*index].timed).or(tightest);
        let (tight, time) = (tightest.map(|index| &judged[index]), timed.map(|index| &judged[index]));
        let demand = timed.map(|index| &demands[index]);
        let alone_secs = time.and_then(|judged| judged.alone_secs);
        let bounded = self.need.bounds_latency();
        let mean_secs = time.and_then(|judged| if bounded { judged.mean_secs } else { judged.loop_secs });
        let rate = demand.map_or(0.0, |demand| demand.rate);
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        Some(Candidate {
            listed: self.listed.name.clone(),
            machine,
            failures,
            price,
            headroom: tightest.map_or(f64::INFINITY, tightness) - 1.0,
            limit: tight.and_then(|judged| judged.caps.first().cloned()),
            machines: self.need.machines.max(1),
            volumes: self.need.copies() as u32,
            rate,
            block: demand.map_or(4096.0, |demand| demand.load.mean_bytes()),
            in_flight: finite(mean_secs).map(|secs| secs * rate),
            mean_secs: finite(mean_secs),
            alone_secs,
            percentile_secs: finite(
                time.and_then(|judged| if bounded { judged.percentile_secs } else { judged.percentile_alone_secs }),
            ),
            jitter: demand.zip(time).and_then(|(demand, judged)| jitter_effect(&spec, self.need, demand, judged)),
            merging: demands.iter().find_map(|demand| merging_effect(&spec, demand)),
            burst: tight.and_then(|judged| burst(&judged.caps)),
            cpus: demand.and_then(|demand| Some(rate / iops_per_cpu(&self.listed.name, &demand.load)?)),
            survived: None,
            margin: 1.0,
            spec,
            about,
        })
    }

    /// Reports a given size that is not on sale.
    fn unsold(about: &catalogue::About) -> Option<UnmetNeed> {
        let key = about.keys.iter().find(|key| key.name == "size" && key.origin == catalogue::FigureOrigin::Asked)?;
        let (bounds, value) = (&key.bounds, key.bounds.value?);
        if bounds.is_sold(value) {
            return None;
        }
        let next = bounds.sold_from(value).map(|next| format!("; the next available size is {next} {}", bounds.unit));
        let limit = format!("not available with {}{}", key.value, next.unwrap_or_default());
        Some(UnmetNeed::absolute(Requirement::Size, limit))
    }

    fn sharing(&self, about: &catalogue::About) -> Option<UnmetNeed> {
        let shared = self.need.shared && self.need.machines > 1;
        (shared && !about.many_readers).then(|| UnmetNeed {
            requirement: Requirement::Sharing,
            limit: "no documented multi-reader support".to_owned(),
            wanted: f64::from(self.need.machines),
            reached: 1.0,
        })
    }

    fn durability(&self, about: &catalogue::About) -> Option<UnmetNeed> {
        let lost = about.media.contains("not durable") && !self.need.scratch;
        let limit = "data is lost with the machine".to_owned();
        lost.then(|| UnmetNeed::absolute(Requirement::Durability, limit))
    }

    /// Reports a named machine that cannot take the volume.
    fn machine(&self) -> Option<UnmetNeed> {
        let refusal = catalogue::machine_refusal(&self.listed.name, self.need.machine.name.as_ref()?)?;
        Some(UnmetNeed::absolute(Requirement::Machine, refusal.reason))
    }

    /// Returns the price for all machines in the requested region; prices of other regions do not count.
    fn price(
        &self,
        spec: &volume::Spec,
        about: &catalogue::About,
        machine: Option<&PlannedMachine>,
    ) -> Option<MonthlyCost> {
        let price = match &self.region {
            Some(region) => {
                let is_own = |of: &&catalogue::RegionalPrice| {
                    of.price.region.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(region))
                };
                let holds = |of: &&catalogue::RegionalPrice| of.holds_in(region);
                &about.prices.iter().find(is_own).or_else(|| about.prices.iter().find(holds))?.price
            }
            None => spec.price.as_ref()?,
        };
        let asked = self.region.as_ref().zip(price.region.as_ref());
        let copies = self.need.copies();
        let usd = price.per_month * copies * self.need.exchange.usd_per(&price.currency)?;
        let machine_price = machine.and_then(|machine| machine.price.as_ref());
        let machines_usd = machine_price.map(|price| price.usd_per_month * f64::from(self.need.machines.max(1)));
        let lacks_machine = self.need.machine.is_open() && machines_usd.is_none();
        Some(MonthlyCost {
            price: price.times(copies),
            machines_usd,
            usd_per_month: usd + machines_usd.unwrap_or(0.0),
            per_month: self.need.in_currency(usd + machines_usd.unwrap_or(0.0)),
            currency: self.need.currency,
            lacks: price.lacks.clone().or_else(|| lacks_machine.then(|| "the machine".to_owned())),
            stands_for: asked.filter(|(asked, own)| !asked.eq_ignore_ascii_case(own)).map(|(asked, _)| asked.clone()),
        })
    }

    fn budget(&self, price: Option<&MonthlyCost>) -> Option<UnmetNeed> {
        let budget = self.need.budget?;
        let failure = |requirement, limit: &str, reached| {
            Some(UnmetNeed { requirement, limit: limit.to_owned(), wanted: budget, reached })
        };
        match price {
            Some(price) if price.usd_per_month > budget => failure(Requirement::Budget, "price", price.usd_per_month),
            Some(price) if price.whole() => None,
            _ => failure(Requirement::Price, "price unknown", 0.0),
        }
    }
}

/// Sizes of a volume on sale, in its unit.
struct SizeRange {
    least: u64,
    most: u64,
    unit_bytes: f64,
    bounds: Bounds,
}

impl SizeRange {
    /// Returns the smallest size on sale that is at least `size`, as a key's value.
    fn sold_from(&self, size: u64) -> String {
        let sold = self.bounds.sold_from(size as f64).map_or(self.most, |sold| sold as u64);
        format!("{sold}{}", self.bounds.unit)
    }
}

pub(crate) fn with_pair(pairs: &Pairs, key: &str, value: &str) -> Pairs {
    let mut pairs = without(pairs, key);
    pairs.push((key.to_owned(), value.to_owned()));
    pairs
}

fn without(pairs: &Pairs, key: &str) -> Pairs {
    pairs.iter().filter(|(known, _)| known != key).cloned().collect()
}

/// Compares two variants of one type: by whether they meet the need, then by price, then by shortfall.
fn is_better(new: &Candidate, old: &Candidate) -> bool {
    match (new.failures.is_empty(), old.failures.is_empty()) {
        (true, false) => return true,
        (false, true) => return false,
        (false, false) => {
            // Unmeetable requirements first, then the largest shortfall of the others, then all together, then the price:
            // what is too small at any price is no nearer for being cheaper.
            let short = |candidate: &Candidate| {
                let never = candidate.own_failures().filter(|failure| failure.short_by().is_infinite()).count();
                let of = |is_of_budget: bool| {
                    let all = candidate.own_failures().filter(move |failure| {
                        (failure.requirement == Requirement::Budget) == is_of_budget && failure.short_by().is_finite()
                    });
                    all.map(UnmetNeed::short_by)
                };
                (never, of(false).fold(1.0, f64::max), of(false).product::<f64>(), of(true).product::<f64>())
            };
            return short(new) < short(old);
        }
        (true, true) => {}
    }
    match (new.known_price(), old.known_price()) {
        (Some(new), Some(old)) => new.usd_per_month < old.usd_per_month,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => new.spec.size < old.spec.size,
    }
}

/// Decides by a trial instead of the closed form whether a volume is enough.
struct SearchTrial<'a> {
    /// Tries a volume.
    is_enough: &'a mut dyn FnMut(&volume::Spec) -> bool,
    /// Volume with values near those that are enough.
    near: &'a About,
    /// Fraction of a value up to which it is found; zero to find it exactly.
    resolution: f64,
}

/// Returns the smallest volume of a type that is enough by a trial. If none is, returns the largest that was tried.
/// Variants of the type are tried in the order of their estimated prices, as long as one may be cheaper than the best.
pub(crate) fn tried(
    need: &Need,
    (listed, keys): &(BuiltinVolume, String),
    start: &Need,
    laws: &mut LatencyCache,
    is_enough: &mut dyn FnMut(&volume::Spec) -> bool,
    resolution: f64,
) -> Option<Candidate> {
    let region = need.regions.first().cloned();
    let mut variants: Vec<(Candidate, Pairs)> = Vec::new();
    let mut search = PlanSearch {
        need: start,
        listed,
        region: region.clone(),
        demands: start.demands(),
        given: given(need, listed, keys, region.as_deref()),
        laws: &mut *laws,
        trial: None,
    };
    for fixed in search.variants() {
        variants.extend(search.smallest(&fixed).map(|found| (found, fixed)));
    }
    // The cheapest that may be enough comes first. The trial may need more of it than estimated, at a higher price than
    // that of another variant.
    let price = |one: &Candidate| one.known_price().map_or(f64::INFINITY, |price| price.usd_per_month);
    variants.sort_by(|(a, _), (b, _)| {
        let order = |one: &Candidate| (!one.failures.is_empty(), price(one));
        order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let (mut best, mut last): (Option<Candidate>, Option<Candidate>) = (None, None);
    for (near, fixed) in &variants {
        if best.as_ref().is_some_and(|best| price(near) >= price(best)) {
            continue;
        }
        let trial = SearchTrial { is_enough: &mut *is_enough, near: &near.about, resolution };
        let mut search = PlanSearch {
            need,
            listed,
            region: region.clone(),
            demands: Vec::new(),
            given: given(need, listed, keys, region.as_deref()),
            laws: &mut *laws,
            trial: Some(trial),
        };
        let Some(found) = search.smallest(fixed) else { continue };
        if !is_enough(&found.spec) {
            last = Some(found);
        } else if best.as_ref().is_none_or(|best| price(&found) < price(best)) {
            best = Some(found);
        }
    }
    best.or(last)
}

//! What to do with a volume that exists: keep it, change it in place, or replace it.
//!
//! A volume that sustains the need itself is kept, also with less than the planned headroom, unless a change saves
//! enough: [`WORTH_CHANGING`] in place, [`WORTH_REPLACING`] where data must be copied. Without a bound on latency, no
//! change makes the volume slower than it is.

use volume::catalogue::{self, BuiltinVolume};
use volume::closed::{Load, caps};

use crate::candidate::{Candidate, Requirement};
use crate::laws::LatencyCache;
use crate::machine::provider;
use crate::need::Need;
use crate::rank::rank;
use crate::search::{self, Members, Pairs, named_with, pairs, with_pair};
use crate::trial::{Simulate, confirmed, may_wait_less};

/// Least saving, as a fraction of the price, for which a volume is changed in place.
pub const WORTH_CHANGING: f64 = 0.05;
/// Least saving, as a fraction of the price, for which a volume is replaced, which takes a copy of its data.
pub const WORTH_REPLACING: f64 = 0.10;

/// Factor on the latency of the present volume up to which another one is not slower.
const NOT_SLOWER: f64 = 1.1;
/// Keys that providers change in place.
const CHANGEABLE: [&str; 4] = ["size", "iops", "throughput", "vpus"];
/// Keys of the present volume that have a value also where none is given.
const SETTLED: [&str; 9] =
    ["size", "iops", "throughput", "vpus", "disks", "vcpus", "network_gbps", "frodo_threads", "droplet"];
/// Types among which a provider changes a volume in place.
const FAMILIES: [&[&str]; 2] = [
    &["aws/gp3", "aws/gp2", "aws/io2", "aws/io1", "aws/st1", "aws/sc1"],
    &["azure/premium-ssd", "azure/standard-ssd", "azure/standard-hdd"],
];

/// What to do with a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CurrentStep {
    /// It meets the need, and no change saves enough.
    Keep,
    /// Change its size or performance in place.
    Resize,
    /// Change its type in place.
    Retype,
    /// Copy its data to another volume.
    Replace,
    /// Nothing that is considered meets the need.
    Unmet,
}

/// A volume that exists, and the need for which it is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct CurrentQuestion {
    /// Name in the catalogue with keys.
    pub volume: String,
    /// What it must sustain. Without a rate, what it sustains now is the need.
    pub need: Need,
    /// Whether the volume itself must have the headroom of the need, which otherwise applies to changes only.
    pub needs_headroom: bool,
    /// Whether several volumes in RAID 0 may replace it.
    pub may_stripe: bool,
}

/// A judged volume with what to do.
#[derive(Clone, Debug)]
pub struct CurrentDecision {
    /// What changes were planned for: the need with the size of the volume, if no capacity is required.
    pub need: Need,
    /// Whether the volume's own limits are the need, because no rate is known.
    pub is_implied: bool,
    /// The volume as it is.
    pub current: Candidate,
    pub step: CurrentStep,
    /// The volume after the step; `None` if it is kept or nothing meets the need.
    pub change: Option<Candidate>,
    /// The change in place that gives a kept volume the planned headroom.
    pub with_headroom: Option<Candidate>,
    /// The change in place of a volume that is replaced, if it meets the need too.
    pub in_place: Option<(CurrentStep, Candidate)>,
    /// Volume that comes nearest, if nothing meets the need.
    pub nearest: Option<Candidate>,
    /// A volume that saves enough, but is slower, of a need without a bound on latency. It is not simulated.
    pub slower: Option<Candidate>,
}

impl CurrentDecision {
    /// Returns the monthly price of the present volumes in US dollars, without their machines.
    #[must_use]
    pub fn usd_now(&self) -> Option<f64> {
        usd(&self.current)
    }

    /// Returns the monthly price after the step in US dollars, without machines.
    #[must_use]
    pub fn usd_then(&self) -> Option<f64> {
        self.change.as_ref().map_or_else(|| usd(&self.current), usd)
    }

    /// Returns by how much the step changes the monthly price in US dollars.
    #[must_use]
    pub fn usd_more(&self) -> Option<f64> {
        Some(self.usd_then()? - self.usd_now()?)
    }
}

/// Returns the complete monthly price of the volumes of a candidate in US dollars, without machines.
#[must_use]
pub fn usd(candidate: &Candidate) -> Option<f64> {
    let price = candidate.known_price()?;
    Some(price.usd_per_month - price.machines_usd.unwrap_or(0.0))
}

/// Decides what to do with a volume; `None` if the catalogue does not have it with these keys.
pub fn decide(
    question: &CurrentQuestion,
    laws: &mut LatencyCache,
    simulate: &mut Simulate<'_>,
) -> Option<CurrentDecision> {
    let present = PresentVolume::find(question)?;
    let need = &present.need;
    let current = present.judged(question, laws, simulate)?;
    let now = usd(&current).filter(|_| current.meets());
    // A dearer change is worth nothing to a volume that meets the need.
    let below = |saving: f64| now.map_or(f64::INFINITY, |now| now * (1.0 - saving));
    let is_kept_unpriced = current.meets() && now.is_none();
    let mut choices = Choices { need, current: &current, failing: Vec::new(), slower: None };
    let mut chosen: Option<(CurrentStep, Candidate)> = None;
    let (mut with_headroom, mut in_place) = (None, None);
    if !is_kept_unpriced {
        let resized = choices.cheapest(&[present.same_type()], below(WORTH_CHANGING), laws, simulate);
        chosen = resized.map(|found| (CurrentStep::Resize, found));
        let most = |chosen: &Option<(CurrentStep, Candidate)>, saving: f64| {
            let price = chosen.as_ref().and_then(|(_, found)| usd(found));
            price.map_or_else(|| below(saving), |price| price * (1.0 - saving))
        };
        let retyped = choices.cheapest(&present.other_types(), most(&chosen, WORTH_CHANGING), laws, simulate);
        chosen = retyped.map(|found| (CurrentStep::Retype, found)).or(chosen);
        let others = present.replacements(question);
        let replaced = choices.cheapest(&others, most(&chosen, WORTH_REPLACING), laws, simulate);
        if let Some(found) = replaced {
            in_place = chosen.replace((CurrentStep::Replace, found));
        }
    }
    if chosen.is_none() && current.meets() && current.headroom < need.headroom {
        with_headroom = choices.cheapest(&[present.same_type()], f64::INFINITY, laws, simulate);
    }
    let least = chosen.as_ref().map_or_else(|| usd(&current), |(_, found)| usd(found));
    let saves = |slower: &Candidate| least.is_some_and(|least| price(slower) <= least * (1.0 - WORTH_REPLACING));
    let slower = choices.slower.filter(saves);
    let failing = choices.failing;
    let (step, change) = match chosen {
        Some((step, found)) => (step, Some(found)),
        None if current.meets() => (CurrentStep::Keep, None),
        None => (CurrentStep::Unmet, None),
    };
    let nearest =
        (step == CurrentStep::Unmet).then(|| rank(&failing, need).nearest.map(|index| failing[index].clone()));
    let is_implied = present.is_implied;
    Some(CurrentDecision {
        need: present.need,
        is_implied,
        current,
        step,
        change,
        with_headroom,
        in_place,
        nearest: nearest.flatten(),
        slower,
    })
}

/// Volume type with keys.
type Origin = (BuiltinVolume, String);

/// A type among whose settings a change is chosen.
struct ChangeOrigin {
    origin: Origin,
    /// Size of the present volume, if it cannot shrink.
    least_bytes: Option<u64>,
    /// Most volumes in RAID 0; 1 for none.
    stripe_max: u32,
}

/// The volume of a question as the catalogue has it.
struct PresentVolume {
    listed: BuiltinVolume,
    /// All keys with their values.
    keys: Pairs,
    need: Need,
    is_implied: bool,
}

impl PresentVolume {
    fn find(question: &CurrentQuestion) -> Option<Self> {
        let name = question.volume.split(',').next()?.trim();
        let listed = catalogue::list().into_iter().find(|listed| listed.name == name)?;
        let mut need = question.need.clone();
        let mut given = pairs(&question.volume);
        if let Some((_, machine)) = given.iter().find(|(key, _)| key == "machine") {
            need.machine.name = Some(machine.clone());
        }
        let has_machine = |about: &catalogue::About| about.keys.iter().any(|key| key.name == "machine");
        let plain = catalogue::resolve_in(&question.volume, None).ok()?;
        if let Some(machine) = need.machine.name.as_ref().filter(|_| has_machine(&plain.about)) {
            given = with_pair(&given, "machine", machine);
        }
        // On a machine that does not take the volume, it is judged, and refused, with the keys of the volume alone.
        let resolved = catalogue::resolve_in(&named_with(&listed.name, &given), None).unwrap_or(plain);
        let mut keys = given.clone();
        for key in resolved.about.keys.iter().filter(|key| !key.bounds.fixed && SETTLED.contains(&&*key.name)) {
            match key.bounds.value {
                Some(value) => keys = with_pair(&keys, &key.name, &format!("{value}{}", key.bounds.unit)),
                None if !key.value.is_empty() => keys = with_pair(&keys, &key.name, &key.value),
                None => {}
            }
        }
        if need.capacity.is_none() {
            need.capacity = Some(without_growth(&need, resolved.spec.size.get()));
        }
        let is_implied = need.demands().is_empty();
        if is_implied {
            let lowest = |block: u32| {
                let load = Load::mixed(need.read_share, block, f64::INFINITY);
                caps(&resolved.spec, &load).first().map(|cap| cap.iops).filter(|iops| iops.is_finite())
            };
            let (small, large) = (lowest(4 << 10), lowest(1 << 20));
            need.iops = small;
            need.bytes_per_sec = large.map(|iops| iops * f64::from(1_u32 << 20));
            need.block = None;
            (need.headroom, need.growth) = (0.0, 0.0);
            if question.need.capacity.is_none() {
                need.capacity = Some(resolved.spec.size.get());
            }
        }
        Some(Self { listed, keys, need, is_implied })
    }

    /// Returns the volume as it is, judged for the need.
    fn judged(
        &self,
        question: &CurrentQuestion,
        laws: &mut LatencyCache,
        simulate: &mut Simulate<'_>,
    ) -> Option<Candidate> {
        let headroom = if question.needs_headroom { self.need.headroom } else { 0.0 };
        // Whether its data may be lost was decided when it was bought.
        let need = Need { headroom, scratch: true, stripe_max: 1, ..self.need.clone() };
        let origin = self.with_keys(&self.keys);
        let mut found = search::candidate(&need, &origin, Members::One, 1.0, laws)?;
        // It exists, whatever is sold now.
        found.failures.retain(|failure| failure.requirement != Requirement::Size);
        for failure in found.failures.iter_mut().filter(|failure| failure.requirement == Requirement::Capacity) {
            failure.limit = "size".to_owned();
        }
        if found.failures.is_empty() || may_wait_less(&need, &found) {
            found = confirmed(&need, &origin, found, laws, simulate);
        }
        Some(found)
    }

    fn with_keys(&self, keys: &Pairs) -> Origin {
        (self.listed.clone(), named_with("", keys).trim_start_matches(',').to_owned())
    }

    /// Returns the type of the volume, with the keys that do not change in place. Its size never shrinks.
    fn same_type(&self) -> ChangeOrigin {
        // The IOPS of this type are set when it is created.
        let is_set_once = |key: &str| key == "iops" && self.listed.name == "gcp/pd-extreme";
        let is_kept = |key: &str| !CHANGEABLE.contains(&key) || is_set_once(key);
        let kept = self.keys.iter().filter(|(key, _)| is_kept(key)).cloned().collect();
        ChangeOrigin { origin: self.with_keys(&kept), least_bytes: self.bytes(), stripe_max: 1 }
    }

    /// Returns the other types to which the provider changes the volume in place.
    fn other_types(&self) -> Vec<ChangeOrigin> {
        let family = FAMILIES.into_iter().find(|family| family.contains(&&*self.listed.name));
        let others = family.into_iter().flatten().filter(|name| **name != self.listed.name);
        let listed = catalogue::list();
        let kept = self.keys.iter().find(|(key, _)| key == "stripe");
        let keys = kept.map_or_else(String::new, |(key, value)| format!("{key}={value}"));
        let found = others.filter_map(|name| listed.iter().find(|listed| listed.name == *name));
        let change = |listed: &BuiltinVolume| (listed.clone(), keys.clone());
        let least_bytes = self.bytes();
        found.map(|listed| ChangeOrigin { origin: change(listed), least_bytes, stripe_max: 1 }).collect()
    }

    /// Returns the volumes that may replace it: by default those of its provider.
    fn replacements(&self, question: &CurrentQuestion) -> Vec<ChangeOrigin> {
        let volumes = match self.need.volumes.is_empty() {
            true => vec![provider(&self.listed.name).to_owned()],
            false => self.need.volumes.clone(),
        };
        let stripe_max = if question.may_stripe { self.need.stripe_max } else { 1 };
        let found = search::named(&Need { volumes, ..Need::default() }).unwrap_or_default();
        found.into_iter().map(|origin| ChangeOrigin { origin, least_bytes: None, stripe_max }).collect()
    }

    fn bytes(&self) -> Option<u64> {
        let name = named_with(&self.listed.name, &self.keys);
        Some(catalogue::resolve_in(&name, None).ok()?.spec.size.get())
    }
}

/// Returns the capacity whose size after a year's growth is `bytes`.
fn without_growth(need: &Need, bytes: u64) -> u64 {
    (bytes as f64 / (1.0 + need.growth)) as u64
}

/// The changes that are considered for a volume.
struct Choices<'a> {
    need: &'a Need,
    current: &'a Candidate,
    /// Volumes that do not meet the need.
    failing: Vec<Candidate>,
    /// The cheapest that meets it, but is slower.
    slower: Option<Candidate>,
}

impl Choices<'_> {
    /// Returns the cheapest that meets the need for at most a price; those of unknown price come last.
    fn cheapest(
        &mut self,
        origins: &[ChangeOrigin],
        most_usd: f64,
        laws: &mut LatencyCache,
        simulate: &mut Simulate<'_>,
    ) -> Option<Candidate> {
        let mut found: Vec<(Candidate, Need, &Origin)> = Vec::new();
        for ChangeOrigin { origin, least_bytes, stripe_max } in origins {
            let mut need = Need { stripe_max: *stripe_max, ..self.need.clone() };
            if let Some(least) = least_bytes.filter(|least| need.bytes() < *least) {
                need.capacity = Some(without_growth(&need, least));
            }
            let members = if *stripe_max > 1 { &[Members::One, Members::Stripe][..] } else { &[Members::One] };
            if least_usd(&need, origin).is_some_and(|least| least > most_usd) {
                continue;
            }
            for members in members {
                let Some(one) = search::candidate(&need, origin, *members, 1.0, laws) else { continue };
                if !one.failures.is_empty() && !may_wait_less(&need, &one) {
                    self.failing.push(one);
                } else if price(&one) > most_usd {
                    continue;
                } else if self.is_as_fast(&one) {
                    found.push((one, need.clone(), origin));
                } else if self.slower.as_ref().is_none_or(|slower| price(&one) < price(slower)) {
                    self.slower = Some(one);
                }
            }
        }
        found.sort_by(|(a, ..), (b, ..)| price(a).total_cmp(&price(b)));
        let mut best: Option<Candidate> = None;
        for (one, need, origin) in found {
            if best.as_ref().is_some_and(|best| price(best) <= price(&one)) {
                break;
            }
            // A candidate that falls short is enlarged, at a higher price.
            let one = confirmed(&need, origin, one, laws, simulate);
            if !one.meets() {
                self.failing.push(one);
            } else if price(&one) <= most_usd && best.as_ref().is_none_or(|best| price(&one) < price(best)) {
                best = Some(one);
            }
        }
        best
    }

    /// Reports whether a volume has the latency that the need bounds, or without a bound that of the present volume.
    fn is_as_fast(&self, one: &Candidate) -> bool {
        let is_bounded = self.need.mean.is_some() || self.need.percentile.is_some();
        let secs = one.alone_secs.zip(self.current.alone_secs);
        is_bounded || secs.is_none_or(|(one, current)| one <= NOT_SLOWER * current)
    }
}

/// Returns a price below which no volume of a type has the capacity of a need, whatever it sustains; `None` if unknown.
fn least_usd(need: &Need, (listed, keys): &Origin) -> Option<f64> {
    let region = match &need.regions[..] {
        [] => None,
        [region] => Some(region.as_str()),
        _ => return None,
    };
    let resolve = |pairs: &Pairs| catalogue::resolve_in(&named_with(&listed.name, pairs), region).ok();
    let mut pairs = pairs(keys);
    if pairs.iter().any(|(key, _)| key == "stripe") {
        return None;
    }
    let mut resolved = resolve(&pairs)?;
    for name in CHANGEABLE {
        let key = resolved.about.keys.iter().find(|key| key.name == name && !key.bounds.fixed);
        let Some(bounds) = key.map(|key| &key.bounds) else { continue };
        let least = if name == "size" {
            let unit_bytes = resolved.spec.size.get() as f64 / bounds.value?;
            bounds.sold_from((need.bytes() as f64 / unit_bytes).floor())?
        } else {
            bounds.one_of.first().copied().or(bounds.least)?.ceil()
        };
        pairs = with_pair(&pairs, name, &format!("{least}{}", bounds.unit));
        resolved = resolve(&pairs)?;
    }
    let prices = resolved.about.prices.iter().map(|of| &of.price);
    let price = |price: &volume::spec::Price| Some(price.per_month * need.exchange.usd_per(&price.currency)?);
    let known = match region {
        Some(_) => prices.filter_map(price).reduce(f64::min),
        None => resolved.spec.price.as_ref().and_then(price),
    };
    known.map(|usd| usd * need.copies())
}

/// Returns the price of a candidate for comparisons: infinite if unknown.
fn price(candidate: &Candidate) -> f64 {
    usd(candidate).unwrap_or(f64::INFINITY)
}

//! Builds a [`Spec`] from rules and values.

mod assumed;

use units::{Bytes, Nanos, Problem, counted};

use super::about::{About, RegionalPrice, about, max_volumes};
use super::document::At;
use super::placed_rule::SchemaRule;
use super::quantity::whole;
use super::reference::SourceId;
use super::rule::{Names, RuleValue, Variable, eval, number, show, split};
use super::schema::{DriveRule, LatencyRule, LawRule, LimitRule, PriceRule, StationRule, ToleranceRule, VolumeType};
use super::{FoundVolume, request};
use crate::hard_disk::HardDisk;
use crate::law::Law;
use crate::request::PerRequestKind;
use crate::spec::{
    Behaviour, Buffering, Burst, CountedUnit, IoUnit, LatencySpec, Limit, LimitSource, Price, PriceParts, Spec,
    Station, Striping, Tolerance,
};
use assumed::UnknownLimit;

/// A volume with the descriptive facts of its catalogue entry.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedVolume {
    /// Specification of the volume.
    pub spec: Spec,
    /// Descriptive facts.
    pub about: About,
}

/// Adds variables for the combined size of all volumes of the type on the machine.
pub(super) fn set_combined_size(names: &mut Names, bytes: f64, count: f64) {
    let gib = (1_u64 << 30) as f64;
    let sizes = [("gib", gib, "GiB"), ("tib", gib * 1024.0, "TiB"), ("gb", 1e9, "GB"), ("tb", 1e12, "TB")];
    for (name, factor, unit) in sizes {
        if names.contains_key(name) {
            let variable = Variable { value: Some(RuleValue::Number(bytes / factor)), unit: unit.to_owned() };
            names.insert(format!("all_{name}"), variable);
        }
    }
    names.insert("volumes".to_owned(), Variable { value: Some(RuleValue::Number(count)), unit: "volumes".to_owned() });
}

/// Largest valid value, in any unit.
const VALUE_MAX: f64 = 1e15;

const SERVERS_MAX: u32 = 1 << 16;

struct VolumeBuilder<'a> {
    found: &'a FoundVolume,
    problems: Vec<Problem>,
    notes: Vec<String>,
    unknown: Vec<UnknownLimit>,
}

/// Which prices of a volume are computed.
#[derive(Clone, Copy, Debug)]
pub(super) enum PriceScope<'a> {
    AllRegions,
    /// Those that hold in a region, or without one the price of the [`Spec`].
    One(Option<&'a str>),
}

pub(super) fn build(found: &FoundVolume, scope: PriceScope<'_>) -> Result<ResolvedVolume, Vec<Problem>> {
    let volume = found.volume();
    let (problems, notes) = (Vec::new(), found.values.notes.clone());
    let mut builder = VolumeBuilder { found, problems, notes, unknown: Vec::new() };
    for note in volume.notes.iter().rev() {
        if builder.holds(note.when.as_ref()) {
            builder.notes.insert(0, note.text.clone());
        }
    }
    let mut regional =
        |rule: &At<PriceRule>| Some(RegionalPrice { price: builder.price(rule)?, also: rule.also.clone() });
    // A key `region` selects among several prices; without one the first applies.
    let key = found.values.key("region").map(super::word);
    let first = volume.prices.iter().find(|rule| key.is_none() || rule.region == key).or(volume.prices.first());
    let is_in_scope = |rule: &&At<PriceRule>| match scope {
        PriceScope::AllRegions => true,
        PriceScope::One(Some(region)) => rule.holds_in(region),
        PriceScope::One(None) => first.is_some_and(|first| std::ptr::eq(first, *rule)),
    };
    let mut prices: Vec<RegionalPrice> = volume.prices.iter().filter(is_in_scope).filter_map(&mut regional).collect();
    if let Some(striping) = found.values.common.striping {
        for RegionalPrice { price, .. } in &mut prices {
            let rule = format!("{} × ({})", striping.members, price.rule);
            *price = Price { rule, ..price.times(f64::from(striping.members)) };
        }
    }
    let spec = builder.spec(volume, &prices, matches!(scope, PriceScope::One(_)));
    let about = About { prices, ..about(found, volume) };
    if builder.problems.is_empty() { Ok(ResolvedVolume { spec, about }) } else { Err(builder.problems) }
}

impl VolumeBuilder<'_> {
    /// Returns the specification. `is_one` if the prices are those of the requested region alone.
    fn spec(&mut self, volume: &VolumeType, prices: &[RegionalPrice], is_one: bool) -> Spec {
        let limits = self.limits(&volume.limits);
        self.check_unused_keys(&limits);
        let unknown_limits = self.unknown_limits(&limits);
        let stations = self.stations(&volume.stations);
        let behaviour = self.behaviour(volume);
        let region = self.found.values.key("region").map(super::word);
        let region = region.or_else(|| volume.prices.first().and_then(|first| first.region.clone()));
        let is_chosen = |of: &&RegionalPrice| is_one || region.as_deref().is_none_or(|region| of.holds_in(region));
        let price = prices.iter().find(is_chosen).map(|of| of.price.clone());
        let tier = self.found.values.tier.as_ref().map_or(String::new(), |tier| format!(", {tier}"));
        let mut title = format!("{}{tier}", volume.title);
        let mut size = self.found.values.base("size").unwrap_or(0.0) as u64;
        let striping = self.found.values.common.striping;
        if let Some(Striping { members, unit }) = striping {
            title = format!("{members} x {title} in RAID 0");
            // A unit is on one volume as a whole.
            size = size / u64::from(unit) * u64::from(unit) * u64::from(members);
            let lost = format!(
                "RAID 0 of {members} volumes in units of {}: the loss of one loses all data",
                Bytes::new(u64::from(unit))
            );
            self.notes.push(lost);
            let (most, source) = max_volumes(self.found);
            if let Some(most) = most.filter(|most| *most < members) {
                self.notes.push(format!("a machine takes at most {} ({source})", counted(u64::from(most), "volume")));
            }
        }
        Spec {
            striping,
            name: canonical(self.found),
            title,
            size: Bytes::new(size),
            host: self.found.host().to_owned(),
            limits,
            stations,
            behaviour,
            buffering: self.buffering(),
            price,
            unknown_limits,
            notes: std::mem::take(&mut self.notes),
        }
    }

    fn buffering(&self) -> Buffering {
        let common = &self.found.values.common;
        let bytes = |bytes: f64| Bytes::new(whole(bytes));
        Buffering { memory: common.memory.map(bytes), read_ahead: common.read_ahead.map(bytes) }
    }

    fn source(&self, id: Option<&SourceId>) -> LimitSource {
        id.and_then(|id| self.found.provider.sources.get(&**id)).cloned().unwrap_or_default()
    }

    /// Evaluates a rule; `None` if it is absent or has a problem, which is reported.
    fn evaluate(&mut self, rule: &SchemaRule) -> Option<RuleValue> {
        rule.evaluate(&self.found.values.names, &self.found.provider.text).unwrap_or_else(|problem| {
            self.report(problem);
            None
        })
    }

    fn value(&mut self, rule: &SchemaRule) -> Option<f64> {
        self.evaluate(rule)?.number()
    }

    /// Evaluates a rule that must be positive, or at least not negative.
    fn bounded(&mut self, rule: &SchemaRule, what: &str, positive: bool) -> Option<f64> {
        let value = self.value(rule)?;
        let bound = if positive { "greater than 0" } else { "at least 0" };
        if value > VALUE_MAX {
            let message = format!("`{what}` evaluates to {value:e}, above the maximum of 10^15");
            self.refuse(rule, message, "use a number or rule of at most 10^15");
        } else if value < 0.0 || positive && value == 0.0 {
            let message = format!("`{what}` evaluates to {}, but must be {bound}", number(value));
            self.refuse(rule, message, &format!("use a number or rule that is {bound}"));
        }
        Some(value)
    }

    /// Evaluates a rate in bytes or operations per second; at least 1.
    fn rate(&mut self, rule: &SchemaRule, what: &str, factor: f64) -> Option<u64> {
        let value = self.bounded(rule, what, true)?;
        if value > 0.0 && whole(value * factor) == 0 {
            let message = format!("`{what}` evaluates to less than 1 per second");
            self.refuse(rule, message, "use at least 1 operation or byte per second");
        }
        Some(whole(value * factor).max(1))
    }

    fn refuse(&mut self, rule: &SchemaRule, message: String, remedy: &str) {
        self.report(self.found.provider.text.problem(rule.at.clone(), message).help(remedy));
    }

    fn report(&mut self, problem: Problem) {
        // One rule may apply to both reads and writes.
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Builds the limits in force. Their names must differ, because reports identify limits by name.
    fn limits(&mut self, rules: &[At<LimitRule>]) -> Vec<Limit> {
        let mut limits: Vec<Limit> = Vec::new();
        for rule in rules {
            let Some(limit) = self.limit(rule) else { continue };
            let twice = limits.iter().any(|known| known.name == limit.name && known.scope == limit.scope);
            if let (true, Some(rate)) = (twice, rule.rate().read.or(rule.rate().write)) {
                let message = format!("two active limits are named `{}`", limit.name);
                self.refuse(rate, message, "use a unique `name` for each");
            }
            limits.push(limit);
        }
        limits
    }

    fn show(&self, rule: &SchemaRule) -> String {
        show(&rule.expr, &self.found.values.names)
    }

    /// Evaluates an optional condition; unknown counts as false.
    fn holds(&mut self, condition: Option<&SchemaRule>) -> bool {
        let Some(rule) = condition else { return true };
        match self.evaluate(rule) {
            Some(RuleValue::Number(number)) => number != 0.0,
            Some(RuleValue::Word(word)) => {
                let message = format!("`when` evaluates to the word `{word}`");
                self.refuse(rule, message, "use a condition such as `machine = 'large'`");
                false
            }
            None => false,
        }
    }

    fn limit(&mut self, limit: &LimitRule) -> Option<Limit> {
        if !self.holds(limit.when.as_ref()) {
            return None;
        }
        let stated = limit.rate();
        let factor = stated.bytes.map_or(1.0, |unit| unit.factor);
        let mut rate = |rule: Option<&SchemaRule>| rule.and_then(|rule| self.rate(rule, "rate", factor));
        let (read, write) = (rate(stated.read), rate(stated.write));
        if read.is_none() && write.is_none() {
            self.note_absent(limit);
            return None;
        }
        let (counted, trim) = match stated.bytes {
            // A trim is an operation like a write, but moves no bytes.
            None => (CountedUnit::Operations, write),
            Some(_) => (CountedUnit::Bytes, None),
        };
        let merged_from = limit.merging.as_ref().map(|rule| rule.from.map_or(0, |from| from.0));
        let tolerance = |rule: &ToleranceRule| Tolerance {
            per_mille: rule.per_mille,
            is_burst: rule.is_burst,
            source: self.source(Some(&rule.source)),
        };
        let tolerance = limit.tolerance.as_ref().map(tolerance);
        Some(Limit {
            name: limit.name.clone(),
            scope: limit.scope.clone(),
            counted,
            io_unit: limit.io_unit.map(|unit| IoUnit { bytes: unit.0, merged_from }),
            rate: PerRequestKind { read, write, trim, flush: None },
            larger_than: limit.larger_than.as_ref().map_or(0, |size| size.0),
            burst: self.burst(limit, factor),
            merging: limit.merging.as_ref().map(|rule| self.merging(rule)),
            tolerance,
            rule: self.show_rates(limit),
            source: self.source(self.rate_table_source(limit).or(limit.source.as_ref())),
        })
    }

    /// Returns the source of the table if the rates use figures of machines or tiers.
    fn rate_table_source(&self, limit: &LimitRule) -> Option<&SourceId> {
        let from_table = |name: &str| name.starts_with("machine_") || name.starts_with("tier_");
        let found = limit.variables().iter().any(|name| from_table(name));
        self.found.values.table_source.as_ref().filter(|_| found)
    }

    /// Returns the rates of a limit with their numbers: `min(30 × 2,048 GB, 60,000)`.
    fn show_rates(&self, limit: &LimitRule) -> String {
        let rate = limit.rate();
        let unit = rate.bytes.map_or("IOPS".to_owned(), |unit| format!("{}/s", unit.name));
        let shown = |rule: Option<&SchemaRule>| self.show_with_value(rule?, &unit);
        match (shown(rate.read), shown(rate.write)) {
            (Some(read), Some(write)) if read != write => format!("reads {read}, writes {write}, sharing one budget"),
            (read, write) => read.or(write).unwrap_or_default(),
        }
    }

    /// Returns a rule with its numbers and its value, the unit once: `min(30 × 500 GB, 60,000) = 15,000 IOPS`.
    fn show_with_value(&self, rule: &SchemaRule, unit: &str) -> Option<String> {
        let value = eval(&rule.expr, &self.found.values.names).ok()??.number()?;
        let (text, value) = (self.show(rule), number(value));
        let plain = text == value || text == format!("{value} {unit}");
        Some(if plain { format!("{value} {unit}") } else { format!("{text} = {value} {unit}") })
    }

    fn burst(&mut self, limit: &LimitRule, factor: f64) -> Burst {
        let Some(credits) = &limit.credits else {
            return Burst::Jitter(self.jitter(limit.jitter.as_deref(), &limit.scope));
        };
        let most = whole(self.bounded(credits, "credits", false).unwrap_or(0.0) * factor);
        let start = limit.credits_at_start.as_ref().and_then(|rule| {
            let start = whole(self.bounded(rule, "credits_at_start", false)? * factor);
            if start > most {
                let message = "more initial credits than the bucket holds".to_owned();
                self.refuse(rule, message, "use a smaller value, or omit it for a full bucket");
            }
            Some(start)
        });
        let request = self.found.values.common.credits.map(|share| whole(most as f64 * share));
        Burst::Credits { most, at_start: request.or(start).unwrap_or(most).min(most) }
    }

    /// Reports requested keys that have no effect on this volume.
    fn check_unused_keys(&mut self, limits: &[Limit]) {
        let common = &self.found.values.common;
        let is_bucket = |limit: &Limit| matches!(limit.burst, Burst::Credits { .. });
        let unused = [
            ("credits", common.credits.is_some(), limits.iter().any(is_bucket), "credit bucket"),
            ("jitter", common.jitter_ns.is_some(), !limits.iter().all(is_bucket), "limit without a credit bucket"),
        ];
        for (name, _, _, what) in unused.into_iter().filter(|(_, is_given, is_used, _)| *is_given && !is_used) {
            let request = &self.found.request;
            let at = request.pairs.iter().find(|(key, _)| key.text == name).map_or(0..0, |(key, _)| key.at.clone());
            let problem = request.text.problem(at, format!("this volume has no {what} at this size"));
            self.problems.push(problem.help(format!("omit `{name}`")));
        }
    }

    /// Builds the stations. Their names must differ as well.
    fn stations(&mut self, rules: &[StationRule]) -> Vec<Station> {
        let mut stations: Vec<Station> = Vec::new();
        for rule in rules {
            let Some(station) = self.station(rule) else { continue };
            if stations.iter().any(|known| known.name == station.name && known.scope == station.scope) {
                let message = format!("two stations are named `{}`", station.name);
                self.refuse(&rule.servers, message, "use a unique `name` for each");
            }
            stations.push(station);
        }
        stations
    }

    fn station(&mut self, station: &StationRule) -> Option<Station> {
        let servers = self.bounded(&station.servers, "servers", true)?;
        if servers > 0.0 && (servers.fract() != 0.0 || servers > f64::from(SERVERS_MAX)) {
            let message = format!("`servers` evaluates to {}", number(servers));
            self.refuse(&station.servers, message, "use a whole number from 1 to 65,536");
        }
        let servers = whole(servers);
        let service_us = self.bounded(&station.service_us, "service_us", false)?;
        let each = self.show_with_value(&station.service_us, "us").unwrap_or_default();
        let rule = format!("{}, {each} per operation", counted(servers, "server"));
        Some(Station {
            name: station.name.clone(),
            scope: station.scope.clone(),
            servers: u32::try_from(servers).unwrap_or(u32::MAX).clamp(1, SERVERS_MAX),
            service_fixed: Station::service_ns(service_us.clamp(0.0, 1e9) * 1e3),
            bytes_per_sec: station.mibps.as_ref().and_then(|rule| self.rate(rule, "mibps", 1_048_576.0)),
            rule,
            source: self.source(station.source.as_ref()),
        })
    }

    fn behaviour(&mut self, volume: &VolumeType) -> Behaviour {
        let Some(DriveRule(parameters)) = &volume.drive else {
            return Behaviour::Latency(self.latency(&volume.latency));
        };
        self.refuse_latency_keys();
        Behaviour::Drive(self.drive(parameters))
    }

    fn drive(&mut self, rules: &[(String, SchemaRule)]) -> HardDisk {
        let mut parameters: Vec<(String, f64)> = Vec::with_capacity(rules.len());
        for (name, rule) in rules {
            let Some(value) = self.value(rule) else { continue };
            match super::drive::check_parameter(name, value) {
                Some((message, remedy)) => self.refuse(rule, message, &remedy),
                None => parameters.push((name.clone(), value)),
            }
        }
        let drive = super::drive::drive(&parameters);
        for (less, more) in super::drive::ORDERED {
            let [low, high] = [less, more].map(|name| super::drive::value(&drive, name));
            let said =
                rules.iter().find(|(name, _)| name == less).or_else(|| rules.iter().find(|(name, _)| name == more));
            if let Some((_, rule)) = said.filter(|_| low > high) {
                let message = format!("`{less}` is {}, more than `{more}`, {}", number(low), number(high));
                self.refuse(rule, message, "swap them, or set both");
            }
        }
        drive
    }

    /// Refuses latency keys for a drive, whose mechanics determine its latency.
    fn refuse_latency_keys(&mut self) {
        let request = &self.found.request;
        for (key, _) in &request.pairs {
            if matches!(key.text.as_str(), "latency" | "written" | "unwritten" | "spells") {
                let message = format!("`{}` does not apply to a drive: its mechanics determine its latency", key.text);
                self.problems.push(request.text.problem(key.at.clone(), message).help("omit it"));
            }
        }
    }

    fn latency(&mut self, rule: &LatencyRule) -> LatencySpec {
        let common = &self.found.values.common;
        let request = common.latency_ns.map(|ns| Law::Constant(Nanos::new(whole(ns))));
        let read = request.clone().unwrap_or_else(|| self.law(&rule.read));
        let write =
            request.clone().unwrap_or_else(|| rule.write.as_ref().map_or_else(|| read.clone(), |law| self.law(law)));
        if let (Some(why), None) = (&rule.assumed, &request) {
            self.notes.push(format!("latency is assumed: {why}"));
        }
        LatencySpec {
            // Flushes and trims take as long as writes.
            law: PerRequestKind { read, write: write.clone(), trim: write.clone(), flush: write },
            unwritten: common.unwritten_ns.map(|ns| Law::Constant(Nanos::new(whole(ns)))),
            written_share: common.written.unwrap_or(1.0),
            bytes_per_sec: rule.mibps.as_ref().and_then(|rule| self.rate(rule, "mibps", 1_048_576.0)),
            spells: common.spells,
            source: self.source(rule.source.as_ref()),
        }
    }

    fn law(&mut self, law: &LawRule) -> Law {
        match law {
            LawRule::Constant { us } => Law::Constant(self.time(us, "us")),
            LawRule::Uniform { least_us, most_us } => {
                let least = self.time(least_us, "least_us");
                Law::Uniform { least, most: self.longest(most_us, least).max(least) }
            }
            LawRule::Exponential { mean_us } => Law::Exponential { mean: self.time(mean_us, "mean_us") },
            LawRule::LogLogistic { shift_us, scale_us, shape, most_us } => {
                let (shift, scale) = (self.time(shift_us, "shift_us"), self.time(scale_us, "scale_us"));
                Law::LogLogistic { shift, scale, shape: self.shape(shape, "shape"), most: self.longest(most_us, shift) }
            }
            LawRule::LogNormal { shift_us, median_us, sigma, most_us } => {
                let (shift, median) = (self.time(shift_us, "shift_us"), self.time(median_us, "median_us"));
                Law::LogNormal { shift, median, sigma: self.shape(sigma, "sigma"), most: self.longest(most_us, shift) }
            }
            LawRule::Networked { mean_us } => networked(self.time(mean_us, "mean_us")),
            LawRule::Quantiles { points } => {
                let point = |&(percent, us): &(f64, f64)| (percent / 100.0, Nanos::new(whole(us * 1e3)));
                Law::Quantiles(points.iter().map(point).collect())
            }
        }
    }

    /// Evaluates a time in microseconds.
    fn time(&mut self, rule: &SchemaRule, what: &str) -> Nanos {
        Nanos::new(whole(self.bounded(rule, what, false).unwrap_or(0.0).clamp(0.0, 1e12) * 1e3))
    }

    /// Evaluates the maximum of a law with this minimum.
    fn longest(&mut self, rule: &SchemaRule, least: Nanos) -> Nanos {
        let most = self.time(rule, "most_us");
        if most < least {
            let message = format!("`most_us` evaluates to {most}, below the law's minimum latency of {least}");
            self.refuse(rule, message, "swap them");
        }
        most
    }

    /// Evaluates a number without unit.
    fn shape(&mut self, rule: &SchemaRule, what: &str) -> f64 {
        self.bounded(rule, what, true).unwrap_or(0.0).clamp(1e-3, 1e12)
    }

    fn price(&mut self, price: &PriceRule) -> Option<Price> {
        let price = price.of_tier(self.found.values.tier.as_deref())?;
        let (currency, rule) = price.amount()?;
        let per_month = self.bounded(rule, "price", false)?;
        let remarks = price.region.iter().map(String::as_str).chain([price.note.as_str()]);
        let remarks: Vec<&str> = remarks.filter(|remark| !remark.is_empty()).collect();
        let note = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join(", ")) };
        let part = |name: &str| price_component(name, self.found.volume());
        let [capacity, iops, throughput, performance] = split(&rule.expr, &self.found.values.names, &part)?;
        Some(Price {
            currency: currency.to_owned(),
            per_month,
            parts: PriceParts { capacity, iops, throughput, performance },
            region: price.region.clone(),
            lacks: price.lacks.clone(),
            rule: format!("{}{note}", self.show(rule)),
            source: self.source(price.source.as_ref()),
        })
    }
}

/// Returns the component of a price that a variable pays for: capacity, IOPS, throughput, or performance units.
fn price_component(name: &str, volume: &VolumeType) -> Option<usize> {
    let of_key = |key: &&super::key::SchemaKey| super::schema::variables(key).iter().any(|(known, _, _)| known == name);
    match volume.keys.iter().find(of_key).map(|key| key.name.as_str()) {
        Some("size") => Some(0),
        Some("iops") => Some(1),
        Some("throughput") => Some(2),
        Some(_) => Some(3),
        None => name.starts_with("tier_").then_some(0),
    }
}

/// Returns the latency distribution measured on Hyperdisk Balanced, scaled to another mean.
fn networked(mean: Nanos) -> Law {
    let scaled = |factor: f64| Nanos::new(libm::round(mean.get() as f64 * factor) as u64);
    let [shift, scale, most] = NETWORKED.map(scaled);
    Law::LogLogistic { shift, scale, shape: NETWORKED_SHAPE, most }
}

/// Shift, scale and cut-off of the log-logistic distribution in `models/gcp.toml` as fractions of its mean; and its
/// shape.
const NETWORKED: [f64; 3] = [812.36 / 1321.0, 470.99 / 1321.0, 4200.0 / 1321.0];
const NETWORKED_SHAPE: f64 = 4.6553;

/// Returns the volume's name in the form that requests it again.
fn canonical(found: &FoundVolume) -> String {
    let text = &found.request.text.text;
    let head = match &found.request.head {
        request::VolumeName::File { path, kind } => {
            kind.as_ref().map_or_else(|| path.text.clone(), |kind| format!("{}#{}", path.text, kind.text))
        }
        request::VolumeName::Type { .. } => text.split(',').next().unwrap_or_default().trim().to_owned(),
    };
    let pairs = found.request.pairs.iter().map(|(key, value)| format!(",{}={}", key.text, value.text));
    head + &pairs.collect::<String>()
}

//! Resolves the values of a volume's keys: requested values, defaults, ranges.

use units::{Nanos, Problem, ProblemCode, suggestion};

use super::attachment;
use super::bounds::{Bounds, FigureOrigin};
use super::key::{KeyKind, SchemaKey};
use super::placed_rule::SchemaRule;
use super::quantity::{self, QuantityKind, QuantityUnit};
use super::reference::SourceId;
use super::request::{RequestPart, VolumeRequest};
use super::rule::{Names, RuleValue, Variable, number};
use super::schema::{Provider, VolumeType, names, variables};
use super::table;
use crate::spec::{SlowPeriods, Striping};

/// Keys that every volume has.
#[derive(Clone, Debug, Default)]
pub(super) struct Common {
    pub host: Option<String>,
    pub latency_ns: Option<f64>,
    pub written: Option<f64>,
    pub unwritten_ns: Option<f64>,
    pub credits: Option<f64>,
    pub jitter_ns: Option<f64>,
    /// Jitter of limits that the volume shares with others on its machine; any of them may specify it.
    pub machine_jitter_ns: Option<f64>,
    pub spells: Option<SlowPeriods>,
    pub striping: Option<Striping>,
    pub memory: Option<f64>,
    pub read_ahead: Option<f64>,
}

/// Names and descriptions of the common keys.
pub const COMMON_KEYS: [(&str, &str); 10] = [
    ("host", "machine name; volumes on one machine share its limits"),
    ("latency", "constant latency that replaces the latency law"),
    ("written", "percentage written at the start; unwritten blocks may have a different read latency"),
    ("unwritten", "read latency of unwritten blocks"),
    ("credits", "initial level of burst credits"),
    ("jitter", "burst tolerance: how far ahead of an even schedule limits admit operations"),
    ("spells", "slow periods, EVERY/LASTING/FACTOR: 1h/2min/10"),
    ("stripe", "equal volumes in RAID 0, each with this size and performance, VOLUMES[/UNIT]: 4/64KiB (unit 512KiB)"),
    ("memory", "machine memory for the page cache, used by jobs without direct=1"),
    ("read_ahead", "read-ahead of the page cache"),
];

/// Value of a key; numbers are in base units.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeyValue {
    pub name: String,
    pub value: RuleValue,
    pub origin: FigureOrigin,
}

/// Variables, keys and notes that the rules of one volume may use.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    pub names: Names,
    pub keys: Vec<KeyValue>,
    pub common: Common,
    /// Notes for the reader, such as an unknown machine.
    pub notes: Vec<String>,
    /// Whether the catalogue has the named machine, but no limits of it for this type.
    pub unknown_machine: bool,
    pub tier: Option<String>,
    /// ID of the source of the machine's and the tier's figures.
    pub table_source: Option<SourceId>,
}

impl Values {
    pub(super) fn key(&self, name: &str) -> Option<&RuleValue> {
        self.keys.iter().find(|key| key.name == name).map(|key| &key.value)
    }

    pub(super) fn base(&self, name: &str) -> Option<f64> {
        self.key(name)?.number()
    }
}

/// Maximum jitter. A limit that admits more than this at once is a bucket of credits.
pub(super) const JITTER_MAX_NS: f64 = 60e9;

const MEMORY_MIN: f64 = 1_048_576.0;

struct ValueFinder<'a> {
    request: &'a VolumeRequest,
    provider: &'a Provider,
    volume: &'a VolumeType,
    found: Values,
    problems: Vec<Problem>,
}

/// Resolves the values of all keys, and returns them with all problems. `tier` is the size of a tier requested by name.
pub(super) fn values(
    request: &VolumeRequest,
    provider: &Provider,
    volume: &VolumeType,
    tier: Option<f64>,
) -> (Values, Vec<Problem>) {
    let names = names(volume, &provider.tables);
    let found = Values { names, ..Values::default() };
    let mut finder = ValueFinder { request, provider, volume, found, problems: Vec::new() };
    for (key, value) in &request.pairs {
        if !volume.keys.iter().any(|known| known.name == key.text) {
            finder.common(key, value);
        }
    }
    for key in &volume.keys {
        finder.key(key, tier);
        if key.name == "size" {
            finder.tier(tier);
        }
    }
    for (name, rule) in &volume.lets {
        let value = finder.eval(rule);
        finder.set(name, value, String::new());
    }
    (finder.found, finder.problems)
}

impl ValueFinder<'_> {
    fn set(&mut self, name: &str, value: Option<RuleValue>, unit: String) {
        self.found.names.insert(name.to_owned(), Variable { value, unit });
    }

    fn refuse(&mut self, part: &RequestPart, message: impl Into<String>, remedy: Option<String>) {
        self.problems.push(self.request.text.problem(part.at.clone(), message).maybe_help(remedy));
    }

    /// Evaluates a rule; problems are reported at its place in the file.
    fn eval(&mut self, rule: &SchemaRule) -> Option<RuleValue> {
        rule.evaluate(&self.found.names, &self.provider.text).unwrap_or_else(|problem| {
            self.problems.push(problem);
            None
        })
    }

    fn given(&self, name: &str) -> Option<RequestPart> {
        self.request.pairs.iter().find(|(key, _)| key.text == name).map(|(_, value)| value.clone())
    }

    fn key(&mut self, key: &SchemaKey, tier: Option<f64>) {
        let given = self.given(&key.name);
        let taken = self.found.names.get(&key.name).and_then(|variable| variable.value.clone());
        if let (Some(part), true) = (&given, key.fixed) {
            self.refuse(part, format!("`{}` of {} is derived from other keys", key.name, self.volume.id), None);
            return;
        }
        if let (Some(part), Some(value)) = (&given, &taken) {
            let value = value.number().map_or(String::new(), number);
            let message = format!("`{}` contradicts `machine`, which has {value}", key.name);
            self.refuse(part, message, Some("specify only one of them".to_owned()));
            return;
        }
        let value = match (&given, &key.kind) {
            (Some(part), KeyKind::Quantity(unit, _)) => self.quantity(key, part, *unit),
            (Some(part), KeyKind::Choice(choices)) => self.choice(part, choices),
            (Some(part), KeyKind::Machine(_)) => Some(RuleValue::Word(part.text.clone())),
            (None, KeyKind::Quantity(unit, _)) => match tier.filter(|_| key.name == "size") {
                Some(gib) => Some(RuleValue::Number(gib * (1_u64 << 30) as f64)),
                None => taken.clone().or_else(|| self.default(key, unit.factor)),
            },
            (None, _) => self.default(key, 1.0),
        };
        let Some(value) = value else {
            if let (None, KeyKind::Quantity(unit, _)) = (&given, &key.kind) {
                self.check_declared_range(key, *unit, None);
            }
            return;
        };
        let implied = taken.is_some() || (tier.is_some() && key.name == "size");
        let origin = match given {
            Some(_) => FigureOrigin::Asked,
            None if implied => FigureOrigin::Implied,
            None => FigureOrigin::Default,
        };
        if let (None, KeyKind::Quantity(unit, _)) = (&given, &key.kind) {
            self.check_declared_range(key, *unit, value.number().filter(|_| origin == FigureOrigin::Default));
        }
        self.set_key(key, &value, origin);
        if let Some(part) = &given {
            self.check_requirement(key, part, &value);
        }
        if let (KeyKind::Machine(id), RuleValue::Word(machine)) = (&key.kind, &value) {
            if let (Some(part), Some((message, remedy))) =
                (&given, attachment::refusal(self.provider, self.volume, machine))
            {
                let message = format!("{} {message}", self.volume.id);
                self.refuse(part, message, Some(remedy));
                return;
            }
            self.found.notes.extend(attachment::on_request(self.provider, key, &self.volume.id, machine));
            self.machine(id, machine, given.as_ref());
        }
    }

    /// Refuses a value other than the default whose requirement is not met.
    fn check_requirement(&mut self, key: &SchemaKey, part: &RequestPart, value: &RuleValue) {
        let Some(requires) = &key.requires else { return };
        let factor = if let KeyKind::Quantity(unit, _) = &key.kind { unit.factor } else { 1.0 };
        let is_default = self.default(key, factor).is_some_and(|default| default == *value);
        let is_met = self.eval(&requires.rule).and_then(|value| value.number()).is_some_and(|number| number != 0.0);
        if !is_default && !is_met {
            let source = super::cited(self.provider, key.source.as_ref());
            let message = format!("`{}={}` requires {}", key.name, part.text, requires.what);
            let remedy =
                if source.is_empty() { requires.remedy.clone() } else { format!("{} ({source})", requires.remedy) };
            self.refuse(part, message, Some(remedy));
        }
    }

    fn default(&mut self, key: &SchemaKey, factor: f64) -> Option<RuleValue> {
        let value = self.eval(key.default.as_ref()?)?;
        Some(match value {
            RuleValue::Number(number) => RuleValue::Number(number * factor),
            word @ RuleValue::Word(_) => word,
        })
    }

    /// Adds the value of a key, in base units, to the variables of the rules.
    fn set_key(&mut self, key: &SchemaKey, value: &RuleValue, origin: FigureOrigin) {
        let base = value.number().unwrap_or(0.0);
        for (name, factor, unit) in variables(key) {
            self.set(&name, Some(RuleValue::Number(base / factor)), unit);
        }
        if !matches!(key.kind, KeyKind::Quantity(..)) {
            let boolean = match value {
                RuleValue::Word(word) if word == "on" => RuleValue::Number(1.0),
                RuleValue::Word(word) if word == "off" => RuleValue::Number(0.0),
                other => other.clone(),
            };
            self.set(&key.name, Some(boolean), String::new());
        }
        self.found.keys.push(KeyValue { name: key.name.clone(), value: value.clone(), origin });
    }

    fn quantity(&mut self, key: &SchemaKey, part: &RequestPart, unit: QuantityUnit) -> Option<RuleValue> {
        let base = match quantity::read(&part.text, unit.measure) {
            Ok(base) => base,
            Err(problem) => {
                self.problems.push(problem.of(&key.name).at(self.request.text.place(part.at.clone())));
                return None;
            }
        };
        if unit.measure == QuantityKind::Count && base.fract() != 0.0 {
            self.refuse(part, format!("`{}={}` is not a whole number", key.name, part.text), None);
        }
        self.check_range(key, part, unit, base);
        self.note_if_unsold(key, unit, base);
        Some(RuleValue::Number(base))
    }

    /// Notes that a value cannot be bought: it can still be modelled.
    fn note_if_unsold(&mut self, key: &SchemaKey, unit: QuantityUnit, base: f64) {
        let (least, most) = self.bounds(key, unit);
        let [least, most] = [least, most].map(|bound| bound.map(|bound| bound / unit.factor));
        let bounds = Bounds { least, most, sold: key.sold.clone(), step: key.step, ..Bounds::default() };
        let value = base / unit.factor;
        if bounds.is_sold(value) {
            return;
        }
        let next =
            bounds.sold_from(value).map(|next| format!(": the next {} is {}", key.name, unit.show(next * unit.factor)));
        let note = format!(
            "{} is not available with {}={}{}",
            self.volume.full_id(),
            key.name,
            unit.show(base),
            next.unwrap_or_default()
        );
        self.found.notes.push(note);
    }

    /// Returns the minimum and maximum of a key, in base units.
    fn bounds(&mut self, key: &SchemaKey, unit: QuantityUnit) -> (Option<f64>, Option<f64>) {
        let mut bound = |rule: &Option<SchemaRule>| {
            let value = rule.as_ref().and_then(|rule| self.eval(rule));
            value.and_then(|value| value.number()).map(|number| number * unit.factor)
        };
        (bound(&key.least), bound(&key.most))
    }

    /// Checks what the file declares about a key that was not given: its bounds, and its default within them.
    fn check_declared_range(&mut self, key: &SchemaKey, unit: QuantityUnit, default: Option<f64>) {
        // A range may depend on requested values, which may already be wrong.
        if self.problems.iter().any(|problem| self.request.text.has(problem)) {
            return;
        }
        let (least, most) = self.bounds(key, unit);
        let mut refuse = |rule: &Option<SchemaRule>, message: String, remedy: &str| {
            let at = rule.as_ref().map_or(0..0, |rule| rule.at.clone());
            self.problems.push(self.provider.text.problem(at, message).help(remedy));
        };
        for (name, rule, bound) in [("min", &key.least, least), ("max", &key.most, most)] {
            if let Some(bound) = bound.filter(|bound| !(0.0..=1e19).contains(bound)) {
                let message = format!("`{name}` of `{}` evaluates to {}", key.name, unit.show(bound));
                refuse(rule, message, "use a number from 0 to 10^19 bytes, nanoseconds or units");
            }
        }
        if let (Some(least), Some(most)) = (least, most)
            && least > most * (1.0 + 1e-9)
        {
            let (least, most) = (unit.show(least), unit.show(most));
            let message = format!("`min` of `{}` evaluates to {least}, above its `max` of {most}", key.name);
            refuse(&key.least, message, "use a non-empty range");
            return;
        }
        let Some(default) = default else { return };
        let shown = format!("the default of `{}`, {},", key.name, unit.show(default));
        let message = match (least, most) {
            _ if !(0.0..=1e19).contains(&default) => format!("{shown} is below 0 or too large"),
            _ if key.name == "size" && default < 1.0 => format!("{shown} is less than one byte"),
            (Some(least), _) if default < least * (1.0 - 1e-9) => {
                format!("{shown} is below its `min`, {}", unit.show(least))
            }
            (_, Some(most)) if default > most * (1.0 + 1e-9) => {
                format!("{shown} is above its `max`, {}", unit.show(most))
            }
            _ if !key.one_of.is_empty() && !key.one_of.contains(&(default / unit.factor)) => {
                format!("{shown} is not in its `one_of`")
            }
            _ => return,
        };
        refuse(&key.default, message, "use a default within the allowed range");
    }

    fn check_range(&mut self, key: &SchemaKey, part: &RequestPart, unit: QuantityUnit, base: f64) {
        let (least, most) = self.bounds(key, unit);
        let source = super::cited(self.provider, key.source.as_ref());
        let named = |word: &str, rule: &Option<SchemaRule>, value: f64, names: &Names| {
            let by = rule
                .as_ref()
                .map(|rule| super::rule::show(&rule.expr, names))
                .filter(|by| *by != number(value / unit.factor));
            format!("{word} {}{}", unit.show(value), by.map_or(String::new(), |by| format!(" = {by}")))
        };
        // The tolerance covers rounding: a third of a size is not a whole number of bytes.
        let message = match (least, most) {
            (Some(least), _) if base < least * (1.0 - 1e-9) => {
                format!("is below {}", named("the minimum,", &key.least, least, &self.found.names))
            }
            (_, Some(most)) if base > most * (1.0 + 1e-9) => {
                format!("is above {}", named("the maximum,", &key.most, most, &self.found.names))
            }
            _ if !key.one_of.is_empty() && !key.one_of.contains(&(base / unit.factor)) => {
                let known: Vec<String> = key.one_of.iter().map(|one| number(*one)).collect();
                format!("is not one of {}", known.join(", "))
            }
            _ => return,
        };
        let range = match (least, most) {
            (Some(least), Some(most)) => {
                Some(format!("{} allows {} to {}", self.volume.id, unit.show(least), unit.show(most)))
            }
            _ => None,
        };
        let remedy = range.map(|range| if source.is_empty() { range.clone() } else { format!("{range}: {source}") });
        self.refuse(part, format!("`{}={}` {message}", key.name, part.text), remedy);
    }

    fn choice(&mut self, part: &RequestPart, choices: &[String]) -> Option<RuleValue> {
        if choices.contains(&part.text) {
            return Some(RuleValue::Word(part.text.clone()));
        }
        self.refuse(part, format!("`{}` is not one of {}", part.text, choices.join(", ")), None);
        None
    }

    fn tier(&mut self, named: Option<f64>) {
        let Some(id) = &self.volume.tiers else { return };
        let Some(gib) = self.found.base("size").map(|bytes| bytes / (1_u64 << 30) as f64) else { return };
        let tier = |gib: f64| table::tier(&self.provider.tables, id, gib);
        let Some(found) = tier(gib) else { return };
        if let (Some(part), Some(named)) = (self.given("size"), named.and_then(tier))
            && named.row != found.row
        {
            let message = format!("`size={}` is a {}, not a {}", part.text, found.row, named.row);
            self.refuse(&part, message, Some("omit one of them".to_owned()));
        }
        self.set("tier", Some(RuleValue::Word(found.row.clone())), String::new());
        for (column, value) in found.cells {
            self.set(&format!("tier_{column}"), value, String::new());
        }
        self.found.table_source = found.source;
        self.found.tier = Some(found.row);
    }

    fn machine(&mut self, id: &str, machine: &str, given: Option<&RequestPart>) {
        let Some(found) = table::find(&self.provider.tables, id, machine) else {
            if table::known(self.provider.machine_tables(), machine) {
                self.found.unknown_machine = true;
            } else if let Some(part) = given {
                let near = table::nearest(self.provider.machine_tables(), machine);
                let near = near.map_or(String::new(), |near| format!("closest: {near}; "));
                // A flexible machine has numbers instead of a name.
                let keys = super::machine_keys(self.volume);
                let is_number = |key: &&SchemaKey| matches!(key.kind, KeyKind::Quantity(..));
                let numbers = self.volume.keys.iter().filter(is_number).filter(|key| keys.contains(&key.name.as_str()));
                let numbers: String = numbers.map(|key| format!("set {}= instead, or ", key.name)).collect();
                let remedy = format!("{near}{numbers}omit `machine` to apply no machine limits");
                self.refuse(part, format!("the catalogue has no machine `{machine}`"), Some(remedy));
            }
            return;
        };
        self.found.table_source = found.source;
        // `vcpus` of a machine is the key of this name; its `iops` are not those of the volume.
        let of_machine = super::machine_keys(self.volume);
        for (column, value) in found.cells {
            if of_machine.contains(&column.as_str()) {
                self.set(&column, value.clone(), String::new());
            }
            self.set(&format!("machine_{column}"), value, String::new());
        }
    }

    fn common(&mut self, key: &RequestPart, value: &RequestPart) {
        let read = |measure: QuantityKind| quantity::read(&value.text, measure).map(Some);
        let common = &mut self.found.common;
        let refused = match key.text.as_str() {
            "host" if value.text.is_empty() => {
                Err(Problem::error(ProblemCode::Volume, "the name is empty").help("use a name, for example host=a"))
            }
            "host" => {
                common.host = Some(value.text.clone());
                Ok(None)
            }
            "latency" => read(QuantityKind::Duration).inspect(|ns| common.latency_ns = *ns),
            "unwritten" => read(QuantityKind::Duration).inspect(|ns| common.unwritten_ns = *ns),
            "memory" => read(QuantityKind::Size).and_then(|bytes| {
                let enough = bytes.is_some_and(|bytes| bytes >= MEMORY_MIN);
                common.memory = bytes;
                if enough {
                    Ok(bytes)
                } else {
                    Err(Problem::error(ProblemCode::Volume, format!("`{}` is too small", value.text))
                        .help("use at least 1MiB"))
                }
            }),
            "read_ahead" => read(QuantityKind::Size).inspect(|bytes| common.read_ahead = *bytes),
            "written" => share(&value.text).inspect(|share| common.written = *share),
            "credits" => share(&value.text).inspect(|share| common.credits = *share),
            "jitter" => read(QuantityKind::Duration).and_then(|ns| {
                let is_fit = ns.is_some_and(|ns| ns <= JITTER_MAX_NS);
                (common.jitter_ns, common.machine_jitter_ns) = (ns, ns);
                if is_fit {
                    Ok(ns)
                } else {
                    Err(Problem::error(
                        ProblemCode::Volume,
                        format!("`{}` is more than 60 s: larger bursts need credits", value.text),
                    ))
                }
            }),
            "stripe" if self.volume.drive.is_some() => {
                let what = "the mechanics of drives are not modelled in a stripe";
                Err(Problem::error(ProblemCode::Volume, what).help("omit `stripe`"))
            }
            "stripe" => stripe(&value.text).map(|striping| {
                common.striping = Some(striping);
                None
            }),
            "spells" => spells(&value.text).map(|spells| {
                common.spells = Some(spells);
                None
            }),
            _ => {
                let own = self.volume.keys.iter().filter(|key| !key.fixed).map(|key| key.name.as_str());
                let mut known: Vec<&str> = own.collect();
                let common = COMMON_KEYS.iter().map(|(name, _)| *name).filter(|name| !known.contains(name));
                known.extend(common.collect::<Vec<_>>());
                let remedy =
                    suggestion(&key.text, known.iter().copied(), || format!("use one of {}", known.join(", ")));
                self.refuse(key, format!("{} has no key `{}`", self.volume.full_id(), key.text), Some(remedy));
                return;
            }
        };
        if let Err(problem) = refused {
            self.problems.push(problem.of(&key.text).at(self.request.text.place(value.at.clone())));
        }
    }
}

fn share(text: &str) -> Result<Option<f64>, Problem> {
    let share = quantity::read(text, QuantityKind::Share)?;
    if share <= 1.0 {
        Ok(Some(share))
    } else {
        Err(Problem::error(ProblemCode::Volume, format!("`{text}` is more than 100%")))
    }
}

/// Unit of `mdadm --create` without `--chunk`.
const STRIPE_UNIT: f64 = 524_288.0;

/// Most volumes that a machine of any provider takes.
const STRIPE_MAX: f64 = 128.0;

fn stripe(text: &str) -> Result<Striping, Problem> {
    let (members, unit) = text.split_once('/').map_or((text, None), |(members, unit)| (members, Some(unit)));
    let members = quantity::read(members, QuantityKind::Count)?;
    let unit = unit.map_or(Ok(STRIPE_UNIT), |unit| quantity::read(unit, QuantityKind::Size))?;
    let refused = |message: String, remedy: &str| Err(Problem::error(ProblemCode::Volume, message).help(remedy));
    if members.fract() != 0.0 || !(2.0..=STRIPE_MAX).contains(&members) {
        return refused(
            format!("a stripe has 2 to {STRIPE_MAX} volumes, not {members}"),
            "omit `stripe` for one volume",
        );
    }
    if unit % 4096.0 != 0.0 || !(4096.0..=f64::from(1 << 26)).contains(&unit) {
        let remedy = "use, for example, stripe=4/64KiB";
        return refused("the unit of a stripe is a multiple of 4 KiB up to 64 MiB".to_owned(), remedy);
    }
    Ok(Striping { members: members as u32, unit: unit as u32 })
}

/// Minimum length of slow periods: shorter ones belong in the latency distribution.
const SLOW_PERIOD_MIN_NS: f64 = 1e6;

fn spells(text: &str) -> Result<SlowPeriods, Problem> {
    let wanted = || {
        Problem::error(
            ProblemCode::Volume,
            format!("`{text}` is not EVERY/LASTING/FACTOR, such as 1h/2min/10, with a factor of 1 to 1,000,000"),
        )
    };
    let parts: Vec<&str> = text.split('/').collect();
    let [every, lasting, factor] = parts[..] else { return Err(wanted()) };
    let factor = factor.trim().trim_end_matches('x');
    let time = |part: &str| quantity::read(part, QuantityKind::Duration).map_err(|_| wanted());
    let factor = quantity::read(factor, QuantityKind::Count)
        .ok()
        .filter(|factor| (1.0..=1e6).contains(factor))
        .ok_or_else(wanted)?;
    let (every, lasting) = (time(every)?, time(lasting)?);
    if every.min(lasting) < SLOW_PERIOD_MIN_NS {
        return Err(Problem::error(
            ProblemCode::Volume,
            format!("`{text}` has slow periods or intervals shorter than 1 ms"),
        )
        .help("use longer ones, such as 1h/2min/10"));
    }
    let [every, lasting] = [every, lasting].map(|ns| Nanos::new(quantity::whole(ns)));
    Ok(SlowPeriods { every, lasting, factor })
}

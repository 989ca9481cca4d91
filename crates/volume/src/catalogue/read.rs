//! A file of volumes, from TOML. `docs/volumes.md` describes it for those who write one.

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::fields::{Faults, Fields, inside, kind, number, read_rule};
use super::problem::{Problem, Text};
use super::quantity::{self, Measure, Unit};
use super::schema::{
    BehaviourRule, BurstRule, Key, KeyKind, LatencyRule, LawRule, LimitRule, PriceRule, Provider, Rule, StationRule,
    VolumeType, What, names,
};
use super::table::Table;
use crate::spec::{Scope, Source};

/// Reads a file: the provider, or everything that is wrong with it.
pub(super) fn read(text: &Text) -> Result<Provider, Vec<Problem>> {
    let (root, errors) = DeTable::parse_recoverable(&text.text);
    if !errors.is_empty() {
        let end = text.text.len();
        let problem = |error: &toml::de::Error| text.problem(error.span().unwrap_or(end..end), error.message());
        return Err(errors.iter().map(problem).collect());
    }
    let mut faults = Faults { text: text.clone(), problems: Vec::new() };
    let provider = provider(Fields::new(root.get_ref(), 0..0, "the file"), &mut faults);
    check(&provider, &mut faults);
    // A rate for both directions is one rule, looked at twice.
    faults.problems.dedup();
    if faults.problems.is_empty() { Ok(provider) } else { Err(faults.problems) }
}

fn provider(mut root: Fields, faults: &mut Faults) -> Provider {
    let (mut id, mut title, mut as_of) = ("file".to_owned(), String::new(), String::new());
    if let Some(mut fields) = root.table("provider", faults) {
        id = fields.needed("id", faults);
        title = fields.needed("title", faults);
        as_of = fields.text("as_of", faults).unwrap_or_default();
        fields.finish(faults);
    }
    let sources = root.table("source", faults).map_or_else(BTreeMap::new, |fields| sources(&fields, faults));
    let tables = root.tables("table", faults).into_iter().map(|fields| table(fields, faults)).collect();
    let volumes = root.tables("volume", faults);
    if volumes.is_empty() {
        faults.add(0..0, "there is no `[[volume]]` in it");
    }
    let types = volumes.into_iter().map(|fields| volume(fields, faults)).collect();
    root.finish(faults);
    Provider { id, title, as_of, sources, tables, types, text: faults.text.clone() }
}

fn sources(fields: &Fields, faults: &mut Faults) -> BTreeMap<String, Source> {
    let mut sources = BTreeMap::new();
    for (key, value) in fields.entries() {
        let Some(table) = value.get_ref().as_table() else {
            faults.add(value.span(), format!("a source is a table, not {}", kind(value)));
            continue;
        };
        let mut fields = Fields::new(table, value.span(), "this source");
        let source = Source {
            title: fields.needed("title", faults),
            address: fields.text("address", faults).unwrap_or_default(),
            date: fields.text("date", faults).unwrap_or_default(),
        };
        fields.finish(faults);
        sources.insert(key.get_ref().to_string(), source);
    }
    sources
}

fn table(mut fields: Fields, faults: &mut Faults) -> Table {
    let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let ids = words(fields.needed("id", faults));
    let columns = words(fields.needed("columns", faults));
    let source = fields.text("source", faults);
    let at = fields.value("rows").map_or_else(|| fields.at.clone(), toml::Spanned::span);
    let rows = fields.needed("rows", faults);
    fields.finish(faults);
    let mut good = Vec::new();
    for line in rows.lines().filter(|line| !line.trim().is_empty()) {
        match Table::row(&columns, line) {
            Ok(row) => good.push(row),
            Err(message) => {
                let found = faults.text.text.get(at.clone()).and_then(|rows| rows.find(line)).unwrap_or(0);
                faults.add(at.start + found..at.start + found + line.len(), message);
            }
        }
    }
    Table { ids, columns, rows: good, source }
}

fn volume(mut fields: Fields, faults: &mut Faults) -> VolumeType {
    let id = fields.text("id", faults).unwrap_or_else(|| "volume".to_owned());
    fields.name = format!("`{id}`");
    let volume = VolumeType {
        edition: fields.text("edition", faults),
        title: fields.text("title", faults).unwrap_or_else(|| id.clone()),
        media: fields.text("media", faults).unwrap_or_default(),
        as_of: fields.text("as_of", faults),
        keys: fields.table("key", faults).map_or_else(Vec::new, |table| keys(&table, faults)),
        tiers: fields.text("tiers", faults),
        lets: fields.table("let", faults).map_or_else(Vec::new, |table| rules(&table, faults)),
        limits: fields.tables("limit", faults).into_iter().filter_map(|limit| self::limit(limit, faults)).collect(),
        stations: fields.tables("station", faults).into_iter().filter_map(|table| station(table, faults)).collect(),
        behaviour: behaviour(&mut fields, faults),
        price: fields.table("price", faults).and_then(|table| price(table, faults)),
        notes: fields.texts("notes", faults),
        unknown: fields.texts("unknown", faults),
        id,
    };
    fields.finish(faults);
    volume
}

fn keys(fields: &Fields, faults: &mut Faults) -> Vec<Key> {
    let mut keys = Vec::new();
    for (name, value) in fields.entries() {
        let Some(table) = value.get_ref().as_table() else {
            faults.add(value.span(), format!("a key is a table, not {}", kind(value)));
            continue;
        };
        let name = name.get_ref().to_string();
        keys.extend(key(name.clone(), Fields::new(table, value.span(), format!("the key `{name}`")), faults));
    }
    keys
}

fn key(name: String, mut fields: Fields, faults: &mut Faults) -> Option<Key> {
    let choices = fields.texts("choices", faults);
    let table = fields.text("table", faults);
    let unit = fields.text("unit", faults);
    let kind = match (choices.is_empty(), table, unit) {
        (false, None, None) => KeyKind::Choice(choices),
        (true, Some(table), None) => KeyKind::Machine(table),
        (true, None, Some(unit)) => match Unit::of(&unit) {
            Some(unit) => KeyKind::Quantity(unit, String::new()),
            None => KeyKind::Quantity(Unit { name: "", measure: Measure::Count, factor: 1.0 }, unit),
        },
        _ => {
            faults.add(fields.at, format!("{} needs one of `unit`, `choices` and `table`", fields.name));
            return None;
        }
    };
    let key = Key {
        default: default(&mut fields, &kind, faults),
        fixed: fields.switch("fixed", faults),
        least: fields.rule("min", faults),
        most: fields.rule("max", faults),
        one_of: one_of(&mut fields, faults),
        source: fields.text("source", faults),
        name,
        kind,
    };
    fields.finish(faults);
    Some(key)
}

/// Defaults of choices are words, not rules.
fn default(fields: &mut Fields, kind: &KeyKind, faults: &mut Faults) -> Option<Rule> {
    if matches!(kind, KeyKind::Quantity(..)) {
        return fields.rule("default", faults);
    }
    let at = fields.value("default")?.span();
    let word = fields.text("default", faults)?;
    Some(Rule { expr: super::rule::Expr::Word(word), at })
}

fn one_of(fields: &mut Fields, faults: &mut Faults) -> Vec<f64> {
    let Some(value) = fields.value("one_of") else { return Vec::new() };
    let numbers = value.get_ref().as_array().map(|array| array.iter().map(|item| number(item.get_ref())).collect());
    numbers.flatten().unwrap_or_else(|| {
        faults.add(value.span(), "`one_of` is a list of numbers");
        Vec::new()
    })
}

/// All entries of a table, as rules by name.
fn rules(fields: &Fields, faults: &mut Faults) -> Vec<(String, Rule)> {
    let mut rules = Vec::new();
    for (name, value) in fields.entries() {
        let name = name.get_ref().as_ref();
        rules.extend(read_rule(name, value, faults).map(|rule| (name.to_owned(), rule)));
    }
    rules
}

/// The ways to write a rate: for both directions, for reads, for writes.
const RATES: [([&str; 3], Option<&str>); 5] = [
    (["iops", "read_iops", "write_iops"], None),
    (["mibps", "read_mibps", "write_mibps"], Some("MiB")),
    (["mbps", "read_mbps", "write_mbps"], Some("MB")),
    (["gibps", "read_gibps", "write_gibps"], Some("GiB")),
    (["kbps", "read_kbps", "write_kbps"], Some("kB")),
];

fn limit(mut fields: Fields, faults: &mut Faults) -> Option<LimitRule> {
    let name = fields.needed("name", faults);
    let scope = scope(&mut fields, Scope::Volume, faults);
    let mut found = Vec::new();
    for (words, unit) in RATES {
        let [both, read, write] = words.map(|word| fields.rule(word, faults));
        if both.is_some() || read.is_some() || write.is_some() {
            found.push((unit, read.or_else(|| both.clone()), write.or(both)));
        }
    }
    let unit = size(&mut fields, "io_unit", faults);
    let above = size(&mut fields, "larger_than", faults);
    let merged = fields.switch("merged", faults);
    let jitter = BurstRule::Jitter(fields.rule("jitter_ms", faults));
    let at_start = fields.rule("credits_at_start", faults);
    let burst = fields.rule("credits", faults).map_or(jitter, |most| BurstRule::Credits { most, at_start });
    let when = fields.rule("when", faults);
    let source = fields.text("source", faults);
    let at = fields.at.clone();
    fields.finish(faults);
    let [(bytes, read, write)] = &found[..] else {
        faults.add(at, "a limit has one rate: `iops`, `mibps` or `mbps`, or these with `read_` or `write_` before");
        return None;
    };
    let what = match bytes.and_then(Unit::of) {
        None => What::Operations { unit, merged, above },
        Some(unit) => What::Bytes(unit),
    };
    Some(LimitRule { name, scope, what, read: read.clone(), write: write.clone(), when, burst, source })
}

fn scope(fields: &mut Fields, otherwise: Scope, faults: &mut Faults) -> Scope {
    let at = fields.value("scope").map_or(0..0, toml::Spanned::span);
    match fields.text("scope", faults).as_deref() {
        None => otherwise,
        Some("volume") => Scope::Volume,
        Some("machine") => Scope::Machine,
        Some(other) => {
            faults.add(at, format!("`scope` is `volume` or `machine`, not `{other}`"));
            otherwise
        }
    }
}

fn size(fields: &mut Fields, key: &'static str, faults: &mut Faults) -> Option<u32> {
    let at = fields.value(key)?.span();
    let text = fields.text(key, faults)?;
    match quantity::read(&text, Measure::Size) {
        Ok(bytes) if (1.0..=f64::from(1_u32 << 30)).contains(&bytes) => Some(bytes as u32),
        Ok(_) => {
            faults.add(at, format!("`{key}` is between 1 B and 1 GiB"));
            None
        }
        Err(message) => {
            faults.add(at, message);
            None
        }
    }
}

fn station(mut fields: Fields, faults: &mut Faults) -> Option<StationRule> {
    let name = fields.needed("name", faults);
    let scope = scope(&mut fields, Scope::Machine, faults);
    let servers = fields.rule("servers", faults);
    let service_us = fields.rule("service_us", faults);
    let mibps = fields.rule("mibps", faults);
    let source = fields.text("source", faults);
    let at = fields.at.clone();
    fields.finish(faults);
    let (Some(servers), Some(service_us)) = (servers, service_us) else {
        faults.add(at, "a station has `servers` and `service_us`");
        return None;
    };
    Some(StationRule { name, scope, servers, service_us, mibps, source })
}

fn behaviour(fields: &mut Fields, faults: &mut Faults) -> BehaviourRule {
    if let Some(mut drive) = fields.table("drive", faults) {
        drive.text("source", faults);
        let parameters = super::drive::PARAMETERS.into_iter();
        let read = parameters.filter_map(|name| Some((name.to_owned(), drive.rule(name, faults)?))).collect();
        drive.finish(faults);
        return BehaviourRule::Drive(read);
    }
    let mut rule = LatencyRule { read: constant(), write: None, mibps: None, source: None, assumed: None };
    let Some(mut latency) = fields.table("latency", faults) else {
        rule.assumed = Some("nothing is said about latency: none is modelled".to_owned());
        return BehaviourRule::Latency(Box::new(rule));
    };
    match latency.table("read", faults).and_then(|table| law(table, faults)) {
        Some(read) => rule.read = read,
        None => faults.add(latency.at.clone(), "`latency` has no law for `read`"),
    }
    rule.write = latency.table("write", faults).and_then(|table| law(table, faults));
    rule.mibps = latency.rule("mibps", faults);
    rule.source = latency.text("source", faults);
    rule.assumed = latency.text("assumed", faults);
    latency.finish(faults);
    BehaviourRule::Latency(Box::new(rule))
}

fn constant() -> LawRule {
    let none = Rule { expr: super::rule::Expr::Number(0.0), at: 0..0 };
    LawRule { law: "constant".to_owned(), parameters: vec![("us".to_owned(), none)], points: Vec::new() }
}

/// The laws and their parameters.
pub(super) const LAWS: [(&str, &[&str]); 7] = [
    ("constant", &["us"]),
    ("uniform", &["least_us", "most_us"]),
    ("exponential", &["mean_us"]),
    ("log-logistic", &["shift_us", "scale_us", "shape", "most_us"]),
    ("log-normal", &["shift_us", "median_us", "sigma", "most_us"]),
    ("networked", &["mean_us"]),
    ("quantiles", &[]),
];

fn law(mut fields: Fields, faults: &mut Faults) -> Option<LawRule> {
    let law = fields.needed("law", faults);
    let Some((_, wanted)) = LAWS.iter().find(|(name, _)| *name == law) else {
        let known: Vec<&str> = LAWS.iter().map(|(name, _)| *name).collect();
        faults.add(fields.at, format!("there is no law `{law}`: there are {}", known.join(", ")));
        return None;
    };
    let mut parameters = Vec::new();
    for name in *wanted {
        match fields.rule(name, faults) {
            Some(rule) => parameters.push(((*name).to_owned(), rule)),
            None => faults.add(fields.at.clone(), format!("the law `{law}` needs `{name}`")),
        }
    }
    let points = if law == "quantiles" { points(&mut fields, faults) } else { Vec::new() };
    fields.finish(faults);
    Some(LawRule { law, parameters, points })
}

/// Pairs of a percentage and the microseconds that so many do not exceed.
fn points(fields: &mut Fields, faults: &mut Faults) -> Vec<(f64, f64)> {
    let Some(value) = fields.value("points") else {
        faults.add(fields.at.clone(), "the law `quantiles` needs `points`, as in [[50, 900], [99, 2_000]]");
        return Vec::new();
    };
    let pair = |item: &toml::Spanned<toml::de::DeValue<'_>>| {
        let pair = item.get_ref().as_array()?;
        let mut numbers = pair.iter().map(|item| number(item.get_ref()));
        (pair.len() == 2).then_some((numbers.next()??, numbers.next()??))
    };
    let points: Option<Vec<_>> = value.get_ref().as_array().and_then(|items| items.iter().map(pair).collect());
    let Some(points) = points.filter(|points| !points.is_empty()) else {
        faults.add(value.span(), "`points` is a list of pairs [percent, us], as in [[50, 900], [99, 2_000]]");
        return Vec::new();
    };
    let inside = points.iter().all(|(percent, us)| (0.0..=100.0).contains(percent) && (0.0..=1e12).contains(us));
    let rising = points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
    if !inside || !rising {
        faults.add(value.span(), "`points` must rise, in percent from 0 to 100 and in us from 0 to 10^12");
    }
    points
}

fn price(mut fields: Fields, faults: &mut Faults) -> Option<PriceRule> {
    let (usd, eur) = (fields.rule("usd", faults), fields.rule("eur", faults));
    let note = fields.text("note", faults).unwrap_or_default();
    let source = fields.text("source", faults);
    let at = fields.at.clone();
    fields.finish(faults);
    let (currency, rule) = match (usd, eur) {
        (Some(rule), None) => ("USD", rule),
        (None, Some(rule)) => ("EUR", rule),
        _ => {
            faults.add(at, "a price is in `usd` or in `eur`");
            return None;
        }
    };
    Some(PriceRule { currency: currency.to_owned(), rule, note, source })
}

/// Names that nothing stands for: variables of rules, sources, tables.
fn check(provider: &Provider, faults: &mut Faults) {
    for volume in &provider.types {
        let known = names(volume, &provider.tables);
        for rule in volume.rules() {
            let mut used = Vec::new();
            rule.expr.names(&mut used);
            for (name, at) in used.into_iter().filter(|(name, _)| !known.contains_key(name)) {
                let near = units::closest(&name, known.keys().map(String::as_str));
                let problem = faults.text.problem(inside(&rule.at, &at), format!("there is no variable `{name}`"));
                let listed = known.keys().cloned().collect::<Vec<_>>().join(", ");
                faults.problems.push(problem.remedy(
                    near.map_or_else(|| format!("there are {listed}"), |near| format!("did you mean `{near}`?")),
                ));
            }
        }
        for (index, (name, rule)) in volume.lets.iter().enumerate() {
            let mut used = Vec::new();
            rule.expr.names(&mut used);
            let later = |used: &str| volume.lets[index..].iter().any(|(later, _)| later == used);
            for (used, at) in used.into_iter().filter(|(used, _)| later(used)) {
                let message = format!("`let.{name}` needs `let.{used}`, which has no value before it");
                let problem = faults.text.problem(inside(&rule.at, &at), message);
                faults.problems.push(problem.remedy("write what a rule needs above it, and nothing in a circle"));
            }
        }
        let same = |other: &&VolumeType| other.full_id() == volume.full_id();
        if provider.types.iter().filter(same).count() > 1 {
            faults.add(0..0, format!("two volumes are called `{}`: give each its own `id`", volume.full_id()));
        }
        let cited = volume.limits.iter().map(|limit| &limit.source).chain(volume.keys.iter().map(|key| &key.source));
        let cited = cited.chain(volume.price.iter().map(|price| &price.source));
        for source in cited.flatten().filter(|source| !provider.sources.contains_key(*source)) {
            faults.add(0..0, format!("`{}` cites `{source}`, but there is no `[source.{source}]`", volume.full_id()));
        }
        let tables = volume.keys.iter().filter_map(|key| match &key.kind {
            KeyKind::Machine(table) => Some(table),
            _ => None,
        });
        for table in tables.chain(&volume.tiers).filter(|id| !provider.tables.iter().any(|table| table.serves(id))) {
            faults.add(0..0, format!("`{}` uses the table `{table}`, which is not there", volume.full_id()));
        }
    }
}

//! Reads volumes from TOML (docs/volumes.md).

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::check;
use super::fields::{CatalogueErrors, CatalogueFields, kind, number, read_rule};
use super::latency_basis::LatencyBasis;
use super::problem::{CatalogueText, Problem};
use super::quantity::{self, QuantityKind, QuantityUnit};
use super::schema::{
    BehaviourRule, BurstRule, JitterRule, KeyKind, LatencyRule, LawRule, LimitRule, MergingRule, NoteRule, PriceRule,
    Provider, SchemaKey, SchemaRule, StationRule, ToleranceRule, VolumeType, What,
};
use super::table::{RateTable, TableRow};
use crate::spec::{LimitSource, Scope};

/// Reads a file: the provider as far as it can be understood, and everything that is wrong with its words.
pub(super) fn read(text: &CatalogueText) -> (Option<Provider>, Vec<Problem>) {
    let (root, errors) = DeTable::parse_recoverable(&text.text);
    if !errors.is_empty() {
        let end = text.text.len();
        let problem = |error: &toml::de::Error| {
            let problem = text.problem(error.span().unwrap_or(end..end), error.message());
            problem.remedy("write TOML, as in the example of docs/volumes.md")
        };
        return (None, errors.iter().map(problem).collect());
    }
    let mut faults = CatalogueErrors::new(text);
    let provider = provider(CatalogueFields::new(root.get_ref(), 0..0, "the file"), &mut faults);
    check::names(&provider, &mut faults);
    (Some(provider), faults.problems)
}

fn provider(mut root: CatalogueFields, faults: &mut CatalogueErrors) -> Provider {
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
    if volumes.is_empty() && !root.has("volume") {
        faults.add_with(0..0, "there is no volume in it", "write a `[[volume]]` with its `key.size` and its limits");
    }
    let mut types: Vec<VolumeType> = Vec::new();
    for fields in volumes {
        let at = fields.place("id");
        let volume = volume(fields, faults);
        let id = volume.full_id();
        if types.iter().any(|known| known.full_id() == id) {
            faults.add_with(at, format!("two volumes are called `{id}`"), "give each its own `id` or `edition`");
        }
        types.push(volume);
    }
    root.finish(faults);
    Provider { id, title, as_of, sources, tables, types, text: faults.text.clone() }
}

fn sources(fields: &CatalogueFields, faults: &mut CatalogueErrors) -> BTreeMap<String, LimitSource> {
    let mut sources = BTreeMap::new();
    for (key, value) in fields.entries() {
        let Some(table) = value.get_ref().as_table() else {
            faults.add(value.span(), format!("a source is a table, not {}", kind(value)));
            continue;
        };
        let mut fields = CatalogueFields::new(table, value.span(), "this source");
        let source = LimitSource {
            title: fields.needed("title", faults),
            address: fields.text("address", faults).unwrap_or_default(),
            date: fields.text("date", faults).unwrap_or_default(),
        };
        fields.finish(faults);
        sources.insert(key.get_ref().to_string(), source);
    }
    sources
}

fn table(mut fields: CatalogueFields, faults: &mut CatalogueErrors) -> RateTable {
    let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let ids = words(fields.needed("id", faults));
    let columns = words(fields.needed("columns", faults));
    if let Some(twice) = check::twice(&columns) {
        faults.add_with(fields.place("columns"), format!("two columns are called `{twice}`"), "give each its own name");
    }
    let source = fields.source(faults);
    let at = fields.value("rows").map_or_else(|| fields.at.clone(), toml::Spanned::span);
    let rows = fields.needed("rows", faults);
    fields.finish(faults);
    let mut good: Vec<TableRow> = Vec::new();
    for line in rows.lines().filter(|line| !line.trim().is_empty()) {
        match RateTable::row(&columns, line) {
            Ok(row) => good.push(row),
            Err(message) => {
                let written = faults.text.text.get(at.clone()).unwrap_or_default();
                let line = line.trim();
                let found = written.find(line).map_or(at.clone(), |found| {
                    let start = at.start + found;
                    start..start + line.len()
                });
                faults.add(found, message);
            }
        }
    }
    RateTable { ids, columns, rows: good, source }
}

fn volume(mut fields: CatalogueFields, faults: &mut CatalogueErrors) -> VolumeType {
    let id = fields.text("id", faults).unwrap_or_else(|| "volume".to_owned());
    fields.name = format!("`{id}`");
    check::id(&id, fields.place("id"), faults);
    let no_size = "no `key.size` says how large it is";
    let remedy = "write, for example, `key.size = { unit = \"GiB\", default = 100 }`";
    if !fields.has("key") {
        faults.add_with(fields.at.clone(), no_size, remedy);
    }
    let keys = fields.table("key", faults).map_or_else(Vec::new, |table| {
        if !table.has("size") {
            faults.add_with(table.at.clone(), no_size, remedy);
        }
        keys(&table, faults)
    });
    let volume = VolumeType {
        edition: fields.text("edition", faults),
        title: fields.text("title", faults).unwrap_or_else(|| id.clone()),
        media: fields.text("media", faults).unwrap_or_default(),
        as_of: fields.text("as_of", faults),
        keys,
        tiers: fields.table_id("tiers", faults),
        lets: fields.table("let", faults).map_or_else(Vec::new, |table| rules(&table, faults)),
        limits: fields.tables("limit", faults).into_iter().filter_map(|limit| self::limit(limit, faults)).collect(),
        stations: fields.tables("station", faults).into_iter().filter_map(|table| station(table, faults)).collect(),
        behaviour: behaviour(&mut fields, faults),
        prices: prices(&mut fields, faults),
        many_readers: fields.switch("many_readers", faults),
        notes: notes(&mut fields, faults),
        unknown: fields.texts("unknown", faults),
        id,
    };
    fields.finish(faults);
    volume
}

/// Texts, and tables of a text and the condition under which it holds: `{ when = "gib < 10", text = "it is small" }`.
fn notes(fields: &mut CatalogueFields, faults: &mut CatalogueErrors) -> Vec<NoteRule> {
    let Some(value) = fields.value("notes") else { return Vec::new() };
    let values: Vec<&toml::Spanned<toml::de::DeValue<'_>>> =
        value.get_ref().as_array().map_or_else(|| vec![value], |array| array.iter().collect());
    let note =
        |value: &toml::Spanned<toml::de::DeValue<'_>>| match (value.get_ref().as_str(), value.get_ref().as_table()) {
            (Some(text), _) => Some(NoteRule { when: None, text: text.to_owned() }),
            (_, Some(table)) => {
                let mut fields = CatalogueFields::new(table, value.span(), "this note");
                let note = NoteRule { when: fields.rule("when", faults), text: fields.needed("text", faults) };
                fields.finish(faults);
                Some(note)
            }
            _ => {
                let remedy = "write a text in quotes, or `{ when = \"RULE\", text = \"...\" }`";
                faults.add_with(value.span(), format!("`notes` holds texts in quotes, not {}", kind(value)), remedy);
                None
            }
        };
    values.into_iter().filter_map(note).collect()
}

fn keys(fields: &CatalogueFields, faults: &mut CatalogueErrors) -> Vec<SchemaKey> {
    let mut keys = Vec::new();
    for (name, value) in fields.entries() {
        let Some(table) = value.get_ref().as_table() else {
            faults.add(value.span(), format!("a key is a table, not {}", kind(value)));
            continue;
        };
        let name = name.get_ref().to_string();
        keys.extend(key(name.clone(), CatalogueFields::new(table, value.span(), format!("the key `{name}`")), faults));
    }
    keys
}

fn key(name: String, mut fields: CatalogueFields, faults: &mut CatalogueErrors) -> Option<SchemaKey> {
    let choices = fields.texts("choices", faults);
    let table = fields.table_id("table", faults);
    let unit = fields.text("unit", faults);
    let kind = match (choices.is_empty(), table, unit) {
        (false, None, None) => KeyKind::Choice(choices),
        (true, Some(table), None) => KeyKind::Machine(table),
        (true, None, Some(unit)) => {
            let read =
                QuantityUnit::of(&unit).unwrap_or(QuantityUnit { name: "", measure: QuantityKind::Count, factor: 1.0 });
            check::unit(&name, &unit, read, fields.place("unit"), faults);
            KeyKind::Quantity(read, if read.name.is_empty() { unit } else { String::new() })
        }
        _ => {
            let message = format!("{} needs one of `unit`, `choices` and `table`", fields.name);
            faults.add_with(fields.at, message, "write, for example, `unit = \"GiB\"`");
            return None;
        }
    };
    check::choices(&kind, &fields, faults);
    if name == "size" && !matches!(kind, KeyKind::Quantity(..)) {
        let at = fields.at.clone();
        faults.add_with(at, "a size has a unit", "write, for example, `key.size = { unit = \"GiB\", default = 100 }`");
    }
    let key = SchemaKey {
        default: default(&mut fields, &kind, faults),
        fixed: fields.switch("fixed", faults),
        least: fields.rule("min", faults),
        most: fields.rule("max", faults),
        one_of: numbers(&mut fields, "one_of", faults),
        sold: numbers(&mut fields, "sold", faults),
        step: step(&mut fields, faults),
        source: fields.source(faults),
        name,
        kind,
    };
    fields.finish(faults);
    Some(key)
}

/// Defaults of choices are words, not rules.
fn default(fields: &mut CatalogueFields, kind: &KeyKind, faults: &mut CatalogueErrors) -> Option<SchemaRule> {
    if matches!(kind, KeyKind::Quantity(..)) {
        return fields.rule("default", faults);
    }
    let at = fields.value("default")?.span();
    let word = fields.text("default", faults)?;
    if let KeyKind::Choice(choices) = kind
        && !choices.contains(&word)
    {
        let near = units::closest(&word, choices.iter().map(String::as_str));
        let remedy = near.map_or_else(|| "take one of them".to_owned(), |near| format!("did you mean `{near}`?"));
        let message = format!("the default `{word}` is not one of {}", choices.join(", "));
        faults.add_with(at.clone(), message, remedy);
    }
    Some(SchemaRule { expr: super::rule::Expr::Word(word), at })
}

fn numbers(fields: &mut CatalogueFields, key: &'static str, faults: &mut CatalogueErrors) -> Vec<f64> {
    let Some(value) = fields.value(key) else { return Vec::new() };
    let positive = |item: &toml::Spanned<toml::de::DeValue<'_>>| number(item.get_ref()).filter(|number| *number >= 0.0);
    let numbers = value.get_ref().as_array().map(|array| array.iter().map(positive).collect());
    numbers.flatten().filter(|numbers: &Vec<f64>| !numbers.is_empty()).unwrap_or_else(|| {
        let message = format!("`{key}` is a list of numbers, none below 0");
        faults.add_with(value.span(), message, "write, for example, [1, 2, 4]");
        Vec::new()
    })
}

fn step(fields: &mut CatalogueFields, faults: &mut CatalogueErrors) -> Option<f64> {
    let value = fields.value("step")?;
    let found = number(value.get_ref()).filter(|step| *step > 0.0);
    if found.is_none() {
        faults.add_with(value.span(), "`step` is a number above 0", "write, for example, `step = 1`");
    }
    found
}

/// All entries of a table, as rules by name.
fn rules(fields: &CatalogueFields, faults: &mut CatalogueErrors) -> Vec<(String, SchemaRule)> {
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

fn limit(mut fields: CatalogueFields, faults: &mut CatalogueErrors) -> Option<LimitRule> {
    let name = check::title(&mut fields, faults);
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
    let merging = merging(&mut fields, faults);
    check::counting(&fields, faults);
    let jitter = BurstRule::Jitter(jitter(&mut fields, faults));
    let at_start = fields.rule("credits_at_start", faults);
    let burst = fields.rule("credits", faults).map_or(jitter, |most| BurstRule::Credits { most, at_start });
    let when = fields.rule("when", faults);
    let tolerance = fields.table("tolerance", faults).and_then(|table| tolerance(table, faults));
    let source = fields.source(faults);
    let at = fields.at.clone();
    let given = RATES.iter().filter(|(words, _)| words.iter().any(|word| fields.has(word))).count();
    fields.finish(faults);
    let [(bytes, read, write)] = &found[..] else {
        // One that is there and wrong has been told of.
        if given != 1 {
            faults.add_with(
                at,
                "a limit has one rate",
                "give one of `iops`, `mibps` and `mbps`, or of these with `read_` or `write_` before, as in `iops = 3_000`",
            );
        }
        return None;
    };
    let what = match bytes.and_then(QuantityUnit::of) {
        None => What::Operations { unit, merging, above },
        Some(unit) => What::Bytes(unit),
    };
    Some(LimitRule { name, scope, what, read: read.clone(), write: write.clone(), when, burst, tolerance, source })
}

/// `{ ms = 5, source = "m1" }`: without a source it is assumed.
fn jitter(limit: &mut CatalogueFields, faults: &mut CatalogueErrors) -> Option<JitterRule> {
    const REMEDY: &str = "write, for example, `jitter = { ms = 5 }`, or leave `jitter` out";
    let value = limit.value("jitter")?;
    let Some(table) = value.get_ref().as_table() else {
        faults.add_with(value.span(), format!("`jitter` is a table, not {}", kind(value)), REMEDY);
        return None;
    };
    let mut fields = CatalogueFields::new(table, value.span(), "`jitter`");
    if !fields.has("ms") {
        faults.add_with(value.span(), "`jitter` has no `ms`", REMEDY);
    }
    let ms = fields.rule("ms", faults);
    let source = fields.source(faults);
    fields.finish(faults);
    Some(JitterRule { ms: ms?, source })
}

/// `true`, or `{ from = "32KiB", source = "m1", assumed = "for reads alone" }`.
fn merging(fields: &mut CatalogueFields, faults: &mut CatalogueErrors) -> Option<MergingRule> {
    let value = fields.value("merged")?;
    if value.get_ref().as_table().is_none() {
        let rule = MergingRule { from: 0, source: None, assumed: None };
        return fields.switch("merged", faults).then_some(rule);
    }
    let mut table = fields.table("merged", faults)?;
    let from = size(&mut table, "from", faults).unwrap_or(0);
    let source = table.source(faults);
    let assumed = table.text("assumed", faults);
    table.finish(faults);
    Some(MergingRule { from, source, assumed })
}

/// `{ percent = 5, source = "m1" }`: a measurement, so its source is not optional.
fn tolerance(mut fields: CatalogueFields, faults: &mut CatalogueErrors) -> Option<ToleranceRule> {
    /// What is further above its limit is not limited by it.
    const PERCENT_MAX: f64 = 50.0;
    let at = fields.place("percent");
    let percent = fields.value("percent").and_then(|value| number(value.get_ref()));
    let source = fields.source(faults);
    if source.is_none() {
        let remedy = "add `source = \"ID\"`, the id of a `[source.ID]` of this file";
        faults.add_with(fields.at.clone(), "`tolerance` has no `source`", remedy);
    }
    fields.finish(faults);
    let Some(percent) = percent.filter(|percent| (0.0..=PERCENT_MAX).contains(percent)) else {
        faults.add_with(at, "`percent` of a `tolerance` is a number from 0 to 50", "write, for example, `percent = 5`");
        return None;
    };
    Some(ToleranceRule { per_mille: libm::round(10.0 * percent) as u32, source: source? })
}

fn scope(fields: &mut CatalogueFields, otherwise: Scope, faults: &mut CatalogueErrors) -> Scope {
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

fn size(fields: &mut CatalogueFields, key: &'static str, faults: &mut CatalogueErrors) -> Option<u32> {
    let at = fields.value(key)?.span();
    let text = fields.text(key, faults)?;
    match quantity::read(&text, QuantityKind::Size) {
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

fn station(mut fields: CatalogueFields, faults: &mut CatalogueErrors) -> Option<StationRule> {
    let name = check::title(&mut fields, faults);
    let scope = scope(&mut fields, Scope::Machine, faults);
    let servers = fields.rule("servers", faults);
    let service_us = fields.rule("service_us", faults);
    let mibps = fields.rule("mibps", faults);
    let source = fields.source(faults);
    let at = fields.at.clone();
    let given = fields.has("servers") && fields.has("service_us");
    fields.finish(faults);
    let (Some(servers), Some(service_us)) = (servers, service_us) else {
        if !given {
            faults.add_with(
                at,
                "a station has `servers` and `service_us`",
                "give both, as in `servers = 4, service_us = 10`",
            );
        }
        return None;
    };
    Some(StationRule { name, scope, servers, service_us, mibps, source })
}

fn behaviour(fields: &mut CatalogueFields, faults: &mut CatalogueErrors) -> BehaviourRule {
    if fields.has("drive") && fields.has("latency") {
        let remedy = "leave out `latency`: the mechanics of a drive set it";
        faults.add_with(fields.place("latency"), "a volume has a `drive` or a `latency`, not both", remedy);
        fields.value("latency");
    }
    if let Some(mut drive) = fields.table("drive", faults) {
        drive.source(faults);
        let parameters = super::drive::PARAMETERS.into_iter();
        let read = parameters
            .map(|parameter| parameter.name)
            .filter_map(|name| Some((name.to_owned(), drive.rule(name, faults)?)))
            .collect();
        drive.finish(faults);
        return BehaviourRule::Drive(read);
    }
    let mut rule = LatencyRule { read: constant(), write: None, mibps: None, source: None, assumed: None, basis: None };
    let Some(mut latency) = fields.table("latency", faults) else {
        rule.assumed = Some("nothing is said about latency: none is modelled".to_owned());
        return BehaviourRule::Latency(Box::new(rule));
    };
    if !latency.has("read") {
        let remedy = "write, for example, `latency.read = { law = \"constant\", us = 500 }`";
        faults.add_with(latency.at.clone(), "`latency` has no law for `read`", remedy);
    }
    if let Some(read) = latency.table("read", faults).and_then(|table| law(table, faults)) {
        rule.read = read;
    }
    rule.write = latency.table("write", faults).and_then(|table| law(table, faults));
    rule.mibps = latency.rule("mibps", faults);
    rule.source = latency.source(faults);
    rule.assumed = latency.text("assumed", faults);
    rule.basis = basis(&mut latency, faults);
    latency.finish(faults);
    BehaviourRule::Latency(Box::new(rule))
}

fn basis(latency: &mut CatalogueFields, faults: &mut CatalogueErrors) -> Option<LatencyBasis> {
    let at = latency.place("basis");
    let word = latency.text("basis", faults)?;
    let known = [LatencyBasis::Measured, LatencyBasis::Published, LatencyBasis::Assumed];
    let found = known.into_iter().find(|basis| basis.name() == word);
    if found.is_none() {
        let remedy = "write `basis = \"measured\"`, `\"published\"` or `\"assumed\"`";
        faults.add_with(at, format!("`{word}` is not a basis of a latency"), remedy);
    }
    found
}

fn constant() -> LawRule {
    let none = SchemaRule { expr: super::rule::Expr::Number(0.0), at: 0..0 };
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

fn law(mut fields: CatalogueFields, faults: &mut CatalogueErrors) -> Option<LawRule> {
    let law = fields.needed("law", faults);
    let Some((_, wanted)) = LAWS.iter().find(|(name, _)| *name == law) else {
        let known: Vec<&str> = LAWS.iter().map(|(name, _)| *name).collect();
        let near = units::closest(&law, known.iter().copied());
        let listed = || format!("there are {}", known.join(", "));
        let remedy = near.map_or_else(listed, |near| format!("did you mean `{near}`?"));
        faults.add_with(fields.place("law"), format!("there is no law `{law}`"), remedy);
        return None;
    };
    let mut parameters = Vec::new();
    for name in *wanted {
        match fields.rule(name, faults) {
            Some(rule) => parameters.push(((*name).to_owned(), rule)),
            None if fields.has(name) => {}
            None => {
                let message = format!("the law `{law}` needs `{name}`");
                faults.add_with(fields.at.clone(), message, format!("write, for example, `{name} = 500`"));
            }
        }
    }
    let points = if law == "quantiles" { points(&mut fields, faults) } else { Vec::new() };
    fields.finish(faults);
    Some(LawRule { law, parameters, points })
}

/// Pairs of a percentage and the microseconds that so many do not exceed.
fn points(fields: &mut CatalogueFields, faults: &mut CatalogueErrors) -> Vec<(f64, f64)> {
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

/// The prices of a volume; of several each has a region of its own.
fn prices(fields: &mut CatalogueFields, faults: &mut CatalogueErrors) -> Vec<PriceRule> {
    let tables = fields.tables("price", faults);
    let many = tables.len() > 1;
    let mut prices: Vec<PriceRule> = Vec::new();
    for table in tables {
        let at = table.at.clone();
        let Some(price) = price(table, faults) else { continue };
        if many && (price.region.is_none() || prices.iter().any(|known| known.region == price.region)) {
            faults.add_with(at, "two prices hold in the same region", "give each price its own `region`");
        }
        prices.push(price);
    }
    prices
}

fn price(mut fields: CatalogueFields, faults: &mut CatalogueErrors) -> Option<PriceRule> {
    let (usd, eur) = (fields.rule("usd", faults), fields.rule("eur", faults));
    let region = fields.text("region", faults);
    let also = fields.texts("also", faults);
    let lacks = fields.text("lacks", faults);
    let note = fields.text("note", faults).unwrap_or_default();
    let source = fields.source(faults);
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
    Some(PriceRule { currency: currency.to_owned(), rule, region, also, lacks, note, source })
}

//! Reads volumes from TOML (docs/volumes.md).

use std::collections::BTreeMap;

use toml::de::DeTable;
use units::Problem;

use super::check;
use super::fields::{CatalogueErrors, read_rule};
use super::problem::CatalogueText;
use super::quantity::{self, QuantityKind, QuantityUnit};
use super::schema::LatencyBasis;
use super::schema::{
    BehaviourRule, BurstRule, CountedRule, JitterRule, KeyKind, LatencyRule, LawRule, LimitRule, MergingRule, NoteRule,
    PriceRule, Provider, SchemaKey, SchemaRule, StationRule, ToleranceRule, VolumeType,
};
use super::table::{self, RateTable, TableRow};
use crate::spec::{LimitSource, Scope};
use crate::toml_fields::{Fields, kind, number};

/// Parses a catalogue file. Returns the provider as far as it can be read, and all problems found.
pub(super) fn read(text: &CatalogueText) -> (Option<Provider>, Vec<Problem>) {
    let (root, errors) = DeTable::parse_recoverable(&text.text);
    if !errors.is_empty() {
        let end = text.text.len();
        let problem = |error: &toml::de::Error| {
            let problem = text.problem(error.span().unwrap_or(end..end), error.message());
            problem.help("use valid TOML, as in docs/volumes.md")
        };
        return (None, errors.iter().map(problem).collect());
    }
    let mut errors = CatalogueErrors::new(text);
    let provider = provider(Fields::new(root.get_ref(), 0..0, "the file"), &mut errors);
    check::names(&provider, &mut errors);
    (Some(provider), errors.problems)
}

fn provider(mut root: Fields, errors: &mut CatalogueErrors) -> Provider {
    let (mut id, mut title, mut as_of) = ("file".to_owned(), String::new(), String::new());
    if let Some(mut fields) = root.table("provider", errors) {
        id = fields.required("id", errors);
        title = fields.required("title", errors);
        as_of = fields.text("as_of", errors).unwrap_or_default();
        fields.finish(errors);
    }
    let sources = root.table("source", errors).map_or_else(BTreeMap::new, |fields| sources(&fields, errors));
    let tables: Vec<RateTable> = root.tables("table", errors).into_iter().map(|fields| table(fields, errors)).collect();
    let volumes = root.tables("volume", errors);
    if volumes.is_empty() && !root.has("volume") {
        errors.add_with(0..0, "the file defines no volume", "add a `[[volume]]` with `key.size` and limits");
    }
    let mut types: Vec<VolumeType> = Vec::new();
    for fields in volumes {
        let at = fields.place("id");
        let volume = volume(fields, &tables, errors);
        let id = volume.full_id();
        if types.iter().any(|known| known.full_id() == id) {
            errors.add_with(at, format!("two volumes are named `{id}`"), "use a unique `id` or `edition` for each");
        }
        types.push(volume);
    }
    root.finish(errors);
    Provider { id, title, as_of, sources, tables, types, text: errors.text.clone() }
}

/// Reads a text or a list of texts, whose places do not matter.
fn texts(fields: &mut Fields, key: &'static str, errors: &mut CatalogueErrors) -> Vec<String> {
    fields.texts(key, errors).into_iter().map(|(text, _)| text).collect()
}

fn sources(fields: &Fields, errors: &mut CatalogueErrors) -> BTreeMap<String, LimitSource> {
    let mut sources = BTreeMap::new();
    for (key, value) in fields.entries() {
        let Some(table) = value.get_ref().as_table() else {
            errors.add(value.span(), format!("a source must be a table, not {}", kind(value)));
            continue;
        };
        let mut fields = Fields::new(table, value.span(), "this source");
        let source = LimitSource {
            title: fields.required("title", errors),
            address: fields.text("address", errors).unwrap_or_default(),
            date: fields.text("date", errors).unwrap_or_default(),
        };
        fields.finish(errors);
        sources.insert(key.get_ref().to_string(), source);
    }
    sources
}

fn table(mut fields: Fields, errors: &mut CatalogueErrors) -> RateTable {
    let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let ids = words(fields.required("id", errors));
    let columns = words(fields.required("columns", errors));
    if let Some(twice) = check::twice(&columns) {
        errors.add_with(
            fields.place("columns"),
            format!("two columns are named `{twice}`"),
            "use a unique name for each",
        );
    }
    let source = fields.source(errors);
    let at = fields.value("rows").map_or_else(|| fields.at.clone(), toml::Spanned::span);
    let rows = fields.required("rows", errors);
    fields.finish(errors);
    let mut good: Vec<TableRow> = Vec::new();
    let is_of_attachments = ids.iter().any(|id| id == table::ATTACHMENTS);
    for line in rows.lines().filter(|line| !line.trim().is_empty()) {
        let row = RateTable::row(&columns, line);
        match row.and_then(|row| if is_of_attachments { row.of_attachments() } else { Ok(row) }) {
            Ok(row) => good.push(row),
            Err(problem) => {
                let written = errors.text.text.get(at.clone()).unwrap_or_default();
                let line = line.trim();
                let found = written.find(line).map_or(at.clone(), |found| {
                    let start = at.start + found;
                    start..start + line.len()
                });
                errors.problems.push(problem.at(errors.text.place(found)));
            }
        }
    }
    RateTable { ids, columns, rows: good, source }
}

fn volume(mut fields: Fields, tables: &[RateTable], errors: &mut CatalogueErrors) -> VolumeType {
    let id = fields.text("id", errors).unwrap_or_else(|| "volume".to_owned());
    fields.name = format!("`{id}`");
    check::id(&id, fields.place("id"), errors);
    let no_size = "`key.size` is missing";
    let remedy = "add, for example, `key.size = { unit = \"GiB\", default = 100 }`";
    if !fields.has("key") {
        errors.add_with(fields.at.clone(), no_size, remedy);
    }
    let keys = fields.table("key", errors).map_or_else(Vec::new, |table| {
        if !table.has("size") {
            errors.add_with(table.at.clone(), no_size, remedy);
        }
        keys(&table, errors)
    });
    let volume = VolumeType {
        edition: fields.text("edition", errors),
        title: fields.text("title", errors).unwrap_or_else(|| id.clone()),
        media: fields.text("media", errors).unwrap_or_default(),
        as_of: fields.text("as_of", errors),
        keys,
        tiers: fields.table_id("tiers", errors),
        lets: fields.table("let", errors).map_or_else(Vec::new, |table| rules(&table, errors)),
        limits: fields.tables("limit", errors).into_iter().filter_map(|limit| self::limit(limit, errors)).collect(),
        stations: fields.tables("station", errors).into_iter().filter_map(|table| station(table, errors)).collect(),
        behaviour: behaviour(&mut fields, errors),
        prices: prices(&mut fields, tables, errors),
        many_readers: fields.boolean("many_readers", errors),
        notes: notes(&mut fields, errors),
        unknown: texts(&mut fields, "unknown", errors),
        id,
    };
    fields.finish(errors);
    volume
}

/// Reads `notes`: texts, or tables of a text and its condition, as in `{ when = "gib < 10", text = "it is small" }`.
fn notes(fields: &mut Fields, errors: &mut CatalogueErrors) -> Vec<NoteRule> {
    let Some(value) = fields.value("notes") else { return Vec::new() };
    let values: Vec<&toml::Spanned<toml::de::DeValue<'_>>> =
        value.get_ref().as_array().map_or_else(|| vec![value], |array| array.iter().collect());
    let note =
        |value: &toml::Spanned<toml::de::DeValue<'_>>| match (value.get_ref().as_str(), value.get_ref().as_table()) {
            (Some(text), _) => Some(NoteRule { when: None, text: text.to_owned() }),
            (_, Some(table)) => {
                let mut fields = Fields::new(table, value.span(), "this note");
                let note = NoteRule { when: fields.rule("when", errors), text: fields.required("text", errors) };
                fields.finish(errors);
                Some(note)
            }
            _ => {
                let remedy = "use a quoted string, or `{ when = \"RULE\", text = \"...\" }`";
                errors.add_with(
                    value.span(),
                    format!("`notes` must contain quoted strings, not {}", kind(value)),
                    remedy,
                );
                None
            }
        };
    values.into_iter().filter_map(note).collect()
}

fn keys(fields: &Fields, errors: &mut CatalogueErrors) -> Vec<SchemaKey> {
    let mut keys = Vec::new();
    for (name, value) in fields.entries() {
        let Some(table) = value.get_ref().as_table() else {
            errors.add(value.span(), format!("a key must be a table, not {}", kind(value)));
            continue;
        };
        let name = name.get_ref().to_string();
        keys.extend(key(name.clone(), Fields::new(table, value.span(), format!("the key `{name}`")), errors));
    }
    keys
}

fn key(name: String, mut fields: Fields, errors: &mut CatalogueErrors) -> Option<SchemaKey> {
    let choices = texts(&mut fields, "choices", errors);
    let table = fields.table_id("table", errors);
    let unit = fields.text("unit", errors);
    let kind = match (choices.is_empty(), table, unit) {
        (false, None, None) => KeyKind::Choice(choices),
        (true, Some(table), None) => KeyKind::Machine(table),
        (true, None, Some(unit)) => {
            let read =
                QuantityUnit::of(&unit).unwrap_or(QuantityUnit { name: "", measure: QuantityKind::Count, factor: 1.0 });
            check::unit(&name, &unit, read, fields.place("unit"), errors);
            KeyKind::Quantity(read, if read.name.is_empty() { unit } else { String::new() })
        }
        _ => {
            let message = format!("{} needs one of `unit`, `choices` and `table`", fields.name);
            errors.add_with(fields.at, message, "add, for example, `unit = \"GiB\"`");
            return None;
        }
    };
    check::choices(&kind, &fields, errors);
    if name == "size" && !matches!(kind, KeyKind::Quantity(..)) {
        let at = fields.at.clone();
        errors.add_with(at, "a size needs a unit", "add, for example, `key.size = { unit = \"GiB\", default = 100 }`");
    }
    let key = SchemaKey {
        default: default(&mut fields, &kind, errors),
        fixed: fields.boolean("fixed", errors),
        least: fields.rule("min", errors),
        most: fields.rule("max", errors),
        one_of: numbers(&mut fields, "one_of", errors),
        sold: numbers(&mut fields, "sold", errors),
        step: step(&mut fields, errors),
        attach: fields.column("attach", errors),
        source: fields.source(errors),
        name,
        kind,
    };
    fields.finish(errors);
    Some(key)
}

/// Reads the default of a key. Defaults of choices and machines are words, not rules.
fn default(fields: &mut Fields, kind: &KeyKind, errors: &mut CatalogueErrors) -> Option<SchemaRule> {
    if matches!(kind, KeyKind::Quantity(..)) {
        return fields.rule("default", errors);
    }
    let at = fields.value("default")?.span();
    let word = fields.text("default", errors)?;
    if let KeyKind::Choice(choices) = kind
        && !choices.contains(&word)
    {
        let remedy = units::suggestion(&word, choices.iter().map(String::as_str), || "use one of them".to_owned());
        let message = format!("the default `{word}` is not one of {}", choices.join(", "));
        errors.add_with(at.clone(), message, remedy);
    }
    Some(SchemaRule { expr: super::rule::Expr::Word(word), at })
}

fn numbers(fields: &mut Fields, key: &'static str, errors: &mut CatalogueErrors) -> Vec<f64> {
    let Some(value) = fields.value(key) else { return Vec::new() };
    let positive = |item: &toml::Spanned<toml::de::DeValue<'_>>| number(item.get_ref()).filter(|number| *number >= 0.0);
    let numbers = value.get_ref().as_array().map(|array| array.iter().map(positive).collect());
    numbers.flatten().filter(|numbers: &Vec<f64>| !numbers.is_empty()).unwrap_or_else(|| {
        let message = format!("`{key}` must be a list of non-negative numbers");
        errors.add_with(value.span(), message, "use, for example, [1, 2, 4]");
        Vec::new()
    })
}

fn step(fields: &mut Fields, errors: &mut CatalogueErrors) -> Option<f64> {
    let value = fields.value("step")?;
    let found = number(value.get_ref()).filter(|step| *step > 0.0);
    if found.is_none() {
        errors.add_with(value.span(), "`step` must be a number greater than 0", "use, for example, `step = 1`");
    }
    found
}

/// Reads all entries of a table as rules, by name.
fn rules(fields: &Fields, errors: &mut CatalogueErrors) -> Vec<(String, SchemaRule)> {
    let mut rules = Vec::new();
    for (name, value) in fields.entries() {
        let name = name.get_ref().as_ref();
        rules.extend(read_rule(name, value, errors).map(|rule| (name.to_owned(), rule)));
    }
    rules
}

/// Keys of a rate (both directions, reads, writes), and the unit of their values.
const RATES: [([&str; 3], Option<&str>); 5] = [
    (["iops", "read_iops", "write_iops"], None),
    (["mibps", "read_mibps", "write_mibps"], Some("MiB")),
    (["mbps", "read_mbps", "write_mbps"], Some("MB")),
    (["gibps", "read_gibps", "write_gibps"], Some("GiB")),
    (["kbps", "read_kbps", "write_kbps"], Some("kB")),
];

fn limit(mut fields: Fields, errors: &mut CatalogueErrors) -> Option<LimitRule> {
    let name = check::title(&mut fields, errors);
    let scope = scope(&mut fields, Scope::Volume, errors);
    let mut found = Vec::new();
    for (words, unit) in RATES {
        let [both, read, write] = words.map(|word| fields.rule(word, errors));
        if both.is_some() || read.is_some() || write.is_some() {
            found.push((unit, read.or_else(|| both.clone()), write.or(both)));
        }
    }
    let unit = size(&mut fields, "io_unit", errors);
    let above = size(&mut fields, "larger_than", errors);
    let merging = merging(&mut fields, errors);
    check::counting(&fields, errors);
    let jitter = BurstRule::Jitter(jitter(&mut fields, errors));
    let at_start = fields.rule("credits_at_start", errors);
    let burst = fields.rule("credits", errors).map_or(jitter, |most| BurstRule::Credits { most, at_start });
    let when = fields.rule("when", errors);
    let tolerance = fields.table("tolerance", errors).and_then(|table| tolerance(table, errors));
    let source = fields.source(errors);
    let at = fields.at.clone();
    let given = RATES.iter().filter(|(words, _)| words.iter().any(|word| fields.has(word))).count();
    fields.finish(errors);
    let [(bytes, read, write)] = &found[..] else {
        // A rate that is present but invalid has already been reported.
        if given != 1 {
            let remedy = "set one of `iops`, `mibps` or `mbps`, with or without the prefix `read_` or `write_`, for \
                example `iops = 3_000`";
            errors.add_with(at, "a limit must have one rate", remedy);
        }
        return None;
    };
    let counted = match bytes.and_then(QuantityUnit::of) {
        None => CountedRule::Operations { above },
        Some(unit) => CountedRule::Bytes(unit),
    };
    let (read, write) = (read.clone(), write.clone());
    Some(LimitRule { name, scope, counted, io_unit: unit, merging, read, write, when, burst, tolerance, source })
}

/// Reads `{ ms = 5, source = "m1" }`. Without a source, the jitter counts as assumed.
fn jitter(limit: &mut Fields, errors: &mut CatalogueErrors) -> Option<JitterRule> {
    const REMEDY: &str = "use, for example, `jitter = { ms = 5 }`, or omit `jitter`";
    let value = limit.value("jitter")?;
    let Some(table) = value.get_ref().as_table() else {
        errors.add_with(value.span(), format!("`jitter` must be a table, not {}", kind(value)), REMEDY);
        return None;
    };
    let mut fields = Fields::new(table, value.span(), "`jitter`");
    if !fields.has("ms") {
        errors.add_with(value.span(), "`jitter` has no `ms`", REMEDY);
    }
    let ms = fields.rule("ms", errors);
    let source = fields.source(errors);
    fields.finish(errors);
    Some(JitterRule { ms: ms?, source })
}

/// Reads `true`, or `{ from = "32KiB", source = "m1", assumed = "for reads alone" }`.
fn merging(fields: &mut Fields, errors: &mut CatalogueErrors) -> Option<MergingRule> {
    let value = fields.value("merged")?;
    if value.get_ref().as_table().is_none() {
        let rule = MergingRule { from: 0, source: None, assumed: None };
        return fields.boolean("merged", errors).then_some(rule);
    }
    let mut table = fields.table("merged", errors)?;
    let from = size(&mut table, "from", errors).unwrap_or(0);
    let source = table.source(errors);
    let assumed = table.text("assumed", errors);
    table.finish(errors);
    Some(MergingRule { from, source, assumed })
}

/// Reads `{ percent = 5, source = "m1" }`. The source is required because a tolerance is a measurement or published.
fn tolerance(mut fields: Fields, errors: &mut CatalogueErrors) -> Option<ToleranceRule> {
    /// A volume measured further above its limit is not bound by it.
    const PERCENT_MAX: f64 = 100.0;
    let at = fields.place("percent");
    let percent = fields.value("percent").and_then(|value| number(value.get_ref()));
    let is_burst = fields.boolean("burst", errors);
    let source = fields.source(errors);
    if source.is_none() {
        let remedy = "add `source = \"ID\"`, the id of a `[source.ID]` in this file";
        errors.add_with(fields.at.clone(), "`tolerance` has no `source`", remedy);
    }
    fields.finish(errors);
    let Some(percent) = percent.filter(|percent| (0.0..=PERCENT_MAX).contains(percent)) else {
        errors.add_with(
            at,
            "`percent` of a `tolerance` must be a number from 0 to 100",
            "use, for example, `percent = 5`",
        );
        return None;
    };
    Some(ToleranceRule { per_mille: libm::round(10.0 * percent) as u32, is_burst, source: source? })
}

fn scope(fields: &mut Fields, otherwise: Scope, errors: &mut CatalogueErrors) -> Scope {
    let at = fields.value("scope").map_or(0..0, toml::Spanned::span);
    match fields.text("scope", errors).as_deref() {
        None => otherwise,
        Some("volume") => Scope::Volume,
        Some("machine") => Scope::Machine,
        Some(other) => {
            errors.add(at, format!("`scope` must be `volume` or `machine`, not `{other}`"));
            otherwise
        }
    }
}

fn size(fields: &mut Fields, key: &'static str, errors: &mut CatalogueErrors) -> Option<u32> {
    let at = fields.value(key)?.span();
    let text = fields.text(key, errors)?;
    match quantity::read(&text, QuantityKind::Size) {
        Ok(bytes) if (1.0..=f64::from(1_u32 << 30)).contains(&bytes) => Some(bytes as u32),
        Ok(_) => {
            errors.add(at, format!("`{key}` must be between 1 B and 1 GiB"));
            None
        }
        Err(problem) => {
            errors.problems.push(problem.at(errors.text.place(at)));
            None
        }
    }
}

fn station(mut fields: Fields, errors: &mut CatalogueErrors) -> Option<StationRule> {
    let name = check::title(&mut fields, errors);
    let scope = scope(&mut fields, Scope::Machine, errors);
    let servers = fields.rule("servers", errors);
    let service_us = fields.rule("service_us", errors);
    let mibps = fields.rule("mibps", errors);
    let source = fields.source(errors);
    let at = fields.at.clone();
    let given = fields.has("servers") && fields.has("service_us");
    fields.finish(errors);
    let (Some(servers), Some(service_us)) = (servers, service_us) else {
        if !given {
            let remedy = "set both, for example `servers = 4, service_us = 10`";
            errors.add_with(at, "a station needs `servers` and `service_us`", remedy);
        }
        return None;
    };
    Some(StationRule { name, scope, servers, service_us, mibps, source })
}

fn behaviour(fields: &mut Fields, errors: &mut CatalogueErrors) -> BehaviourRule {
    if fields.has("drive") && fields.has("latency") {
        let remedy = "omit `latency`: the mechanics of a drive determine it";
        errors.add_with(fields.place("latency"), "a volume has either a `drive` or a `latency`, not both", remedy);
        fields.value("latency");
    }
    if let Some(mut drive) = fields.table("drive", errors) {
        drive.source(errors);
        let parameters = super::drive::PARAMETERS.into_iter();
        let read = parameters
            .map(|parameter| parameter.name)
            .filter_map(|name| Some((name.to_owned(), drive.rule(name, errors)?)))
            .collect();
        drive.finish(errors);
        return BehaviourRule::Drive(read);
    }
    let mut rule = LatencyRule { read: constant(), write: None, mibps: None, source: None, assumed: None, basis: None };
    let Some(mut latency) = fields.table("latency", errors) else {
        rule.assumed = Some("no latency specified: none is modelled".to_owned());
        return BehaviourRule::Latency(Box::new(rule));
    };
    if !latency.has("read") {
        let remedy = "add, for example, `latency.read = { law = \"constant\", us = 500 }`";
        errors.add_with(latency.at.clone(), "`latency` has no law for `read`", remedy);
    }
    if let Some(read) = latency.table("read", errors).and_then(|table| law(table, errors)) {
        rule.read = read;
    }
    rule.write = latency.table("write", errors).and_then(|table| law(table, errors));
    rule.mibps = latency.rule("mibps", errors);
    rule.source = latency.source(errors);
    rule.assumed = latency.text("assumed", errors);
    rule.basis = basis(&mut latency, errors);
    latency.finish(errors);
    BehaviourRule::Latency(Box::new(rule))
}

fn basis(latency: &mut Fields, errors: &mut CatalogueErrors) -> Option<LatencyBasis> {
    let at = latency.place("basis");
    let word = latency.text("basis", errors)?;
    let known = [LatencyBasis::Measured, LatencyBasis::Published, LatencyBasis::Assumed];
    let found = known.into_iter().find(|basis| basis.name() == word);
    if found.is_none() {
        let remedy = "use `basis = \"measured\"`, `\"published\"` or `\"assumed\"`";
        errors.add_with(at, format!("`{word}` is not a latency basis"), remedy);
    }
    found
}

fn constant() -> LawRule {
    let none = SchemaRule { expr: super::rule::Expr::Number(0.0), at: 0..0 };
    LawRule { law: "constant".to_owned(), parameters: vec![("us".to_owned(), none)], points: Vec::new() }
}

/// Latency distributions and their parameters.
pub(super) const LAWS: [(&str, &[&str]); 7] = [
    ("constant", &["us"]),
    ("uniform", &["least_us", "most_us"]),
    ("exponential", &["mean_us"]),
    ("log-logistic", &["shift_us", "scale_us", "shape", "most_us"]),
    ("log-normal", &["shift_us", "median_us", "sigma", "most_us"]),
    ("networked", &["mean_us"]),
    ("quantiles", &[]),
];

fn law(mut fields: Fields, errors: &mut CatalogueErrors) -> Option<LawRule> {
    let law = fields.required("law", errors);
    let Some((_, wanted)) = LAWS.iter().find(|(name, _)| *name == law) else {
        let known: Vec<&str> = LAWS.iter().map(|(name, _)| *name).collect();
        let remedy = units::suggestion(&law, known.iter().copied(), || format!("use one of {}", known.join(", ")));
        errors.add_with(fields.place("law"), format!("unknown law `{law}`"), remedy);
        return None;
    };
    let mut parameters = Vec::new();
    for name in *wanted {
        match fields.rule(name, errors) {
            Some(rule) => parameters.push(((*name).to_owned(), rule)),
            None if fields.has(name) => {}
            None => {
                let message = format!("the law `{law}` needs `{name}`");
                errors.add_with(fields.at.clone(), message, format!("add, for example, `{name} = 500`"));
            }
        }
    }
    let points = if law == "quantiles" { points(&mut fields, errors) } else { Vec::new() };
    fields.finish(errors);
    Some(LawRule { law, parameters, points })
}

/// Reads measured quantiles: pairs of a percentile and its latency in microseconds.
fn points(fields: &mut Fields, errors: &mut CatalogueErrors) -> Vec<(f64, f64)> {
    let Some(value) = fields.value("points") else {
        errors.add(fields.at.clone(), "the law `quantiles` needs `points`, such as [[50, 900], [99, 2_000]]");
        return Vec::new();
    };
    let pair = |item: &toml::Spanned<toml::de::DeValue<'_>>| {
        let pair = item.get_ref().as_array()?;
        let mut numbers = pair.iter().map(|item| number(item.get_ref()));
        (pair.len() == 2).then_some((numbers.next()??, numbers.next()??))
    };
    let points: Option<Vec<_>> = value.get_ref().as_array().and_then(|items| items.iter().map(pair).collect());
    let Some(points) = points.filter(|points| !points.is_empty()) else {
        errors.add(value.span(), "`points` must be a list of pairs [percent, us], such as [[50, 900], [99, 2_000]]");
        return Vec::new();
    };
    let inside = points.iter().all(|(percent, us)| (0.0..=100.0).contains(percent) && (0.0..=1e12).contains(us));
    let rising = points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
    if !inside || !rising {
        errors.add(value.span(), "`points` must increase, with percent from 0 to 100 and us from 0 to 10^12");
    }
    points
}

/// Reads the prices of a volume. If there are several, each needs its own region.
fn prices(fields: &mut Fields, tables: &[RateTable], errors: &mut CatalogueErrors) -> Vec<PriceRule> {
    let mut found: Vec<(std::ops::Range<usize>, PriceRule)> = Vec::new();
    for mut fields in fields.tables("price", errors) {
        let at = fields.at.clone();
        let regions = fields.table_id("regions", errors);
        let Some(price) = price(fields, errors) else { continue };
        let prices = match regions {
            None => vec![price],
            Some(_) if price.region.is_some() => {
                errors.add_with(at.clone(), "a price has both `region` and `regions`", "omit one of them");
                Vec::new()
            }
            Some(id) => regional(&price, &id, tables),
        };
        found.extend(prices.into_iter().map(|price| (at.clone(), price)));
    }
    let regions = |price: &PriceRule| price.region.iter().chain(&price.also).cloned().collect::<Vec<_>>();
    for (index, (at, price)) in found.iter().enumerate().skip(1) {
        let others = || found[..index].iter().flat_map(|(_, other)| regions(other)).collect::<Vec<_>>();
        if price.region.is_none()
            || found[0].1.region.is_none()
            || regions(price).iter().any(|of| others().contains(of))
        {
            errors.add_with(at.clone(), "two prices apply to the same region", "use a unique `region` for each price");
        }
    }
    found.into_iter().map(|(_, price)| price).collect()
}

/// Returns a price for each row of a table of regions that has all figures of the price's rule, its variables
/// `region_COLUMN`.
fn regional(price: &PriceRule, id: &str, tables: &[RateTable]) -> Vec<PriceRule> {
    let mut used = Vec::new();
    price.rule.expr.names(&mut used);
    let mut prices: Vec<PriceRule> = Vec::new();
    for table in tables.iter().filter(|table| table.has_id(id)) {
        let index = |name: &str| table.columns.iter().position(|column| name.strip_prefix("region_") == Some(column));
        for row in &table.rows {
            let figure = |name: &str| row.number(index(name)?);
            if used.iter().all(|(name, _)| index(name).is_none() || figure(name).is_some()) {
                let rule = SchemaRule { expr: price.rule.expr.with(&figure), at: price.rule.at.clone() };
                prices.push(PriceRule { rule, region: Some(row.name.clone()), ..price.clone() });
            }
        }
    }
    prices
}

fn price(mut fields: Fields, errors: &mut CatalogueErrors) -> Option<PriceRule> {
    let (usd, eur) = (fields.rule("usd", errors), fields.rule("eur", errors));
    let region = fields.text("region", errors);
    let also = texts(&mut fields, "also", errors);
    let lacks = fields.text("lacks", errors);
    let note = fields.text("note", errors).unwrap_or_default();
    let source = fields.source(errors);
    let at = fields.at.clone();
    fields.finish(errors);
    let (currency, rule) = match (usd, eur) {
        (Some(rule), None) => ("USD", rule),
        (None, Some(rule)) => ("EUR", rule),
        _ => {
            errors.add(at, "a price must be in `usd` or in `eur`");
            return None;
        }
    };
    Some(PriceRule { currency: currency.to_owned(), rule, region, also, lacks, note, source })
}

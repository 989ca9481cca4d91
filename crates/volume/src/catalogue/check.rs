//! Checks of a file beyond syntax: undefined names, duplicate names, unknown units. Values of rules are checked when
//! they are evaluated.

use std::ops::Range;

use units::{Problem, closest, suggestion};

use super::fields::{CatalogueErrors, inside};
use super::problem::CatalogueText;
use super::quantity::{QuantityKind, QuantityUnit};
use super::schema::{KeyKind, Provider, VolumeType, names as known_names};
use super::table::ATTACHMENTS;
use crate::toml_fields::Fields;

/// Reports undefined variables, sources and tables.
pub(super) fn names(provider: &Provider, errors: &mut CatalogueErrors) {
    for volume in &provider.types {
        variables(provider, volume, errors);
        order_of_lets(volume, errors);
    }
    for (id, at) in std::mem::take(&mut errors.cited) {
        if !provider.sources.contains_key(&id) {
            let write = || format!("add `[source.{id}]` with a `title`");
            let remedy = suggestion(&id, provider.sources.keys().map(String::as_str), write);
            errors.add_with(at, format!("unknown source `{id}`"), remedy);
        }
    }
    for (id, at) in std::mem::take(&mut errors.tables) {
        if !provider.tables.iter().any(|table| table.has_id(&id)) {
            let known = provider.tables.iter().flat_map(|table| &table.ids);
            let write = || format!("add a `[[table]]` with `id = \"{id}\"`");
            let remedy = suggestion(&id, known.map(String::as_str), write);
            errors.add_with(at, format!("unknown table `{id}`"), remedy);
        }
    }
    for (column, at) in std::mem::take(&mut errors.attachments) {
        let tables = provider.tables.iter().filter(|table| table.has_id(ATTACHMENTS));
        let known: Vec<&str> = tables.flat_map(|table| &table.columns).map(String::as_str).collect();
        if !known.contains(&column.as_str()) {
            let write = || format!("add this column to a `[[table]]` with `id = \"{ATTACHMENTS}\"`");
            let remedy = suggestion(&column, known.iter().copied(), write);
            errors.add_with(at, format!("no attachment table has a column `{column}`"), remedy);
        }
    }
}

fn variables(provider: &Provider, volume: &VolumeType, errors: &mut CatalogueErrors) {
    let known = known_names(volume, &provider.tables);
    for rule in volume.rules() {
        let mut used = Vec::new();
        rule.expr.names(&mut used);
        for (name, at) in used.into_iter().filter(|(name, _)| !known.contains_key(name)) {
            let listed = || format!("use one of {}", known.keys().cloned().collect::<Vec<_>>().join(", "));
            let remedy = suggestion(&name, known.keys().map(String::as_str), listed);
            errors.add_with(inside(&rule.at, &at), format!("unknown variable `{name}`"), remedy);
        }
    }
}

fn order_of_lets(volume: &VolumeType, errors: &mut CatalogueErrors) {
    for (index, (name, rule)) in volume.lets.iter().enumerate() {
        let mut used = Vec::new();
        rule.expr.names(&mut used);
        let later = |used: &str| volume.lets[index..].iter().any(|(later, _)| later == used);
        for (used, at) in used.into_iter().filter(|(used, _)| later(used)) {
            let message = format!("`let.{name}` uses `let.{used}` before it is defined");
            let remedy = "define variables before the rules that use them, without cycles";
            errors.add_with(inside(&rule.at, &at), message, remedy);
        }
        let is_key = volume.keys.iter().any(|key| {
            key.name == *name || super::schema::variables(key).iter().any(|(variable, _, _)| variable == name)
        });
        if is_key {
            let message = format!("`let.{name}` shadows a key's variable");
            errors.add_with(rule.at.clone(), message, "rename it");
        }
    }
}

/// Checks the ID of a volume. Requests write it behind `#`, before the keys.
pub(super) fn id(id: &str, at: Range<usize>, errors: &mut CatalogueErrors) {
    if id.trim().is_empty() || id.contains([',', '#', '@', '=']) || id.trim() != id {
        let remedy = "use an id without `,`, `#`, `@`, `=` and surrounding blanks, such as `id = \"fast\"`";
        errors.add_with(at, format!("`{id}` is not a valid volume id"), remedy);
    }
}

pub(super) fn title(fields: &mut Fields, errors: &mut CatalogueErrors) -> String {
    let name = fields.required("name", errors);
    if fields.has("name") && name.trim().is_empty() {
        let at = fields.place("name");
        errors.add_with(at, "the name is empty", "add a descriptive name, such as `name = \"volume IOPS\"`");
    }
    name
}

/// Checks that a key's unit is known and fits the key's name.
pub(super) fn unit(key: &str, word: &str, unit: QuantityUnit, at: Range<usize>, errors: &mut CatalogueErrors) {
    let wanted = match key {
        "size" => Some((QuantityKind::Size, "a size")),
        "throughput" => Some((QuantityKind::Throughput, "a throughput")),
        "latency" | "jitter" => Some((QuantityKind::Duration, "a time")),
        _ => None,
    };
    let wrong = wanted.filter(|(measure, _)| *measure != unit.measure);
    // `gib` is a slip, `disks` names what is counted.
    let slip = QuantityUnit::names().find(|name| unit.name.is_empty() && name.eq_ignore_ascii_case(word));
    if wrong.is_none() && slip.is_none() && !word.trim().is_empty() {
        return;
    }
    let known = QuantityUnit::of_measure(wrong.map_or(unit.measure, |(measure, _)| measure));
    let near = slip.or_else(|| closest(word, known.iter().copied()));
    let listed = || match known.is_empty() {
        true => "name the counted things, such as `unit = \"disks\"`".to_owned(),
        false => format!("use one of {}", known.join(", ")),
    };
    let remedy = near.map_or_else(listed, |near| format!("did you mean `{near}`?"));
    let what = wrong.map_or("a quantity", |(_, what)| what);
    errors.add_with(at, format!("`{word}` is not a unit for {what}"), remedy);
}

/// Checks that choices differ and have no numeric bounds.
pub(super) fn choices(kind: &KeyKind, fields: &Fields, errors: &mut CatalogueErrors) {
    let KeyKind::Choice(choices) = kind else { return };
    if let Some(word) = twice(choices) {
        errors.add_with(fields.place("choices"), format!("duplicate choice `{word}`"), "list each choice once");
    }
    for key in ["min", "max", "one_of", "sold", "step"] {
        if fields.has(key) {
            let message = format!("`{key}` does not apply to `choices`");
            errors.add_with(fields.place(key), message, "omit it, or use a `unit` instead of `choices`");
        }
    }
}

/// Returns the first duplicate word.
pub(super) fn twice(words: &[String]) -> Option<&str> {
    let again = |(index, word): (usize, &String)| words[..index].contains(word);
    words.iter().enumerate().find(|entry| again(*entry)).map(|(_, word)| word.as_str())
}

/// Checks that a limit's way of counting fits its rate.
pub(super) fn counting(fields: &Fields, errors: &mut CatalogueErrors) {
    let counts_operations = ["iops", "read_iops", "write_iops"].iter().any(|word| fields.has(word));
    let mut refuse = |key: &str, message: &str, remedy: &str| {
        if fields.has(key) {
            errors.add_with(fields.place(key), format!("`{key}` {message}"), remedy);
        }
    };
    if !counts_operations {
        refuse("larger_than", "applies only to limits on operations", "omit it, or set the rate with `iops`");
    }
    if !fields.has("io_unit") {
        refuse("merged", "needs `io_unit`, the largest merged request", "add, for example, `io_unit = \"256KiB\"`");
    }
    if fields.has("credits") {
        let remedy = "omit it: a limit admits all available credits at once";
        refuse("jitter", "has no effect with `credits`", remedy);
    } else {
        refuse("credits_at_start", "needs `credits`", "set the bucket size with `credits`");
    }
}

/// Sorts problems in the order of the file, without duplicates, up to a maximum.
pub(super) fn sorted(text: &CatalogueText, mut problems: Vec<Problem>) -> Vec<Problem> {
    let position = |problem: &Problem| problem.place.as_ref().map(|place| (place.line, place.column));
    problems.sort_by_key(|problem| (!text.has(problem), position(problem)));
    let mut known: Vec<Problem> = Vec::new();
    for problem in problems {
        let same = |other: &Problem| other.place == problem.place && other.what == problem.what;
        if !known.iter().rev().any(same) {
            known.push(problem);
        }
        if known.len() == PROBLEMS_MAX {
            break;
        }
    }
    known
}

const PROBLEMS_MAX: usize = 100;

//! Checks of a file beyond syntax: undefined names, duplicate names, unknown units. Values of rules are checked when
//! they are evaluated.

use units::{Problem, suggestion};

use super::document::{At, CatalogueErrors, Reference};
use super::key::SIZE;
use super::placed_rule::inside;
use super::problem::CatalogueText;
use super::schema::{LimitRule, PriceRule, Provider, VolumeType};
use super::table::ATTACHMENTS;

/// Reports undefined variables, sources, tables, shared rules and limits of machines.
pub(super) fn names(provider: &Provider, machine_limits: &[&String], shared: &[&String], errors: &CatalogueErrors) {
    for volume in &provider.types {
        variables(provider, volume, errors);
        order_of_lets(volume, errors);
    }
    let attachments = provider.tables.iter().filter(|table| table.has_id(ATTACHMENTS));
    let sources: Vec<&String> = provider.sources.keys().collect();
    let tables: Vec<&String> = provider.tables.iter().flat_map(|table| &table.ids).collect();
    let columns: Vec<&String> = attachments.flat_map(|table| &table.columns).collect();
    for Reference { kind, id, at } in errors.references.take() {
        let (known, message, write): (&[&String], _, _) = match kind {
            "LimitsId" => {
                let write = format!("add `machine_limits.{id} = [...]`");
                (machine_limits, format!("unknown limits of machines `{id}`"), write)
            }
            "SharedId" => (shared, format!("unknown shared rules `{id}`"), format!("add `[shared.{id}]`")),
            "SourceId" => (&sources, format!("unknown source `{id}`"), format!("add `[source.{id}]` with a `title`")),
            "TableId" => (&tables, format!("unknown table `{id}`"), format!("add a `[[table]]` with `id = \"{id}\"`")),
            _ => {
                let write = format!("add this column to a `[[table]]` with `id = \"{ATTACHMENTS}\"`");
                (&columns, format!("no attachment table has a column `{id}`"), write)
            }
        };
        if !known.contains(&&id) {
            errors.add(at, message, suggestion(&id, known.iter().map(|known| known.as_str()), || write));
        }
    }
}

fn variables(provider: &Provider, volume: &VolumeType, errors: &CatalogueErrors) {
    let known = super::schema::names(volume, &provider.tables);
    for rule in volume.rules() {
        let mut used = Vec::new();
        rule.expr.names(&mut used);
        for (name, at) in used.into_iter().filter(|(name, _)| !known.contains_key(name)) {
            let listed = || format!("use one of {}", known.keys().cloned().collect::<Vec<_>>().join(", "));
            let remedy = suggestion(&name, known.keys().map(String::as_str), listed);
            errors.add(inside(&rule.at, &at), format!("unknown variable `{name}`"), remedy);
        }
    }
}

fn order_of_lets(volume: &VolumeType, errors: &CatalogueErrors) {
    for (index, (name, rule)) in volume.lets.iter().enumerate() {
        let mut used = Vec::new();
        rule.expr.names(&mut used);
        let later = |used: &str| volume.lets[index..].iter().any(|(later, _)| later == used);
        for (used, at) in used.into_iter().filter(|(used, _)| later(used)) {
            let message = format!("`let.{name}` uses `let.{used}` before it is defined");
            let remedy = "define variables before the rules that use them, without cycles";
            errors.add(inside(&rule.at, &at), message, remedy);
        }
        let is_key = volume.keys.iter().any(|key| {
            key.name == *name || super::schema::variables(key).iter().any(|(variable, _, _)| variable == name)
        });
        if is_key {
            let message = format!("`let.{name}` shadows a key's variable");
            errors.add(rule.at.clone(), message, "rename it");
        }
    }
}

/// Checks the ID of a volume. Requests write it behind `#`, before the keys.
fn id(id: &At<String>, errors: &CatalogueErrors) {
    if id.trim().is_empty() || id.contains([',', '#', '@', '=']) || id.trim() != **id {
        let remedy = "use an id without `,`, `#`, `@`, `=` and surrounding blanks, such as `id = \"fast\"`";
        errors.add(id.at.clone(), format!("`{}` is not a valid volume id", **id), remedy);
    }
}

/// Checks a volume as it is written.
pub(super) fn volume(volume: &At<VolumeType>, errors: &CatalogueErrors) {
    let is_sized = volume.keys.iter().any(|key| key.name == "size");
    // A size with a problem is left out.
    if !is_sized && errors.problems.borrow().is_empty() {
        errors.add(volume.at.clone(), "`key.size` is missing", format!("add, for example, {SIZE}"));
    }
    if volume.drive.is_some() && !volume.latency.at.is_empty() {
        let remedy = "omit `latency`: the mechanics of a drive determine it";
        errors.add(volume.latency.at.clone(), "a volume has either a `drive` or a `latency`, not both", remedy);
    }
    if !volume.id.at.is_empty() {
        id(&volume.id, errors);
    }
    volume.limits.iter().for_each(|limit| self::limit(limit, errors));
    for price in &volume.prices {
        if price.amount().is_none() {
            errors.add(price.at.clone(), "a price must be in `usd` or in `eur`", "set one of them");
        }
        if price.region.is_some() && price.regions.is_some() {
            errors.add(price.at.clone(), "a price has both `region` and `regions`", "omit one of them");
        }
    }
}

/// Checks that one price applies to a region.
pub(super) fn regions(prices: &[At<PriceRule>], errors: &CatalogueErrors) {
    let mut known: Vec<&String> = Vec::new();
    for (index, price) in prices.iter().enumerate() {
        let regions = || price.region.iter().chain(&price.also);
        let is_everywhere = price.region.is_none() || prices[0].region.is_none();
        if index > 0 && (is_everywhere || regions().any(|region| known.contains(&region))) {
            let remedy = "use a unique `region` for each price";
            errors.add(price.at.clone(), "two prices apply to the same region", remedy);
        }
        known.extend(regions());
    }
}

/// Checks that a limit has one rate, and that its way of counting fits it.
pub(super) fn limit(limit: &At<LimitRule>, errors: &CatalogueErrors) {
    if limit.rates().count() != 1 {
        let remedy = "set one of `iops`, `mibps` or `mbps`, with or without the prefix `read_` or `write_`, for \
            example `iops = 3_000`";
        errors.add(limit.at.clone(), "a limit must have one rate", remedy);
    }
    if let (Some(size), Some(_)) = (&limit.larger_than, limit.rate().bytes) {
        let remedy = "omit it, or set the rate with `iops`";
        errors.add(size.at.clone(), "`larger_than` applies only to limits on operations", remedy);
    }
    if limit.merging.is_some() && limit.io_unit.is_none() {
        let remedy = "add, for example, `io_unit = \"256KiB\"`";
        errors.add(limit.merging.at.clone(), "`merged` needs `io_unit`, the largest merged request", remedy);
    }
    match (&limit.credits, &limit.jitter, &limit.credits_at_start) {
        (Some(_), Some(jitter), _) => {
            let remedy = "omit it: a limit admits all available credits at once";
            errors.add(jitter.at.clone(), "`jitter` has no effect with `credits`", remedy);
        }
        (None, _, Some(start)) => {
            errors.add(start.at.clone(), "`credits_at_start` needs `credits`", "set the bucket size with `credits`");
        }
        _ => {}
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

//! Reads volumes from TOML (docs/volumes.md).

use std::collections::BTreeMap;

use units::Problem;

use super::check;
use super::document::{At, CatalogueErrors};
use super::key;
use super::problem::CatalogueText;
use super::reference::{LimitsId, SharedId};
use super::schema::{File, FileHead, FileTable, MachineLimits, PriceRule, Provider, SharedRules, VolumeType};
use super::table::{self, RateTable};
use crate::spec::Scope;

/// Parses a catalogue file. Returns the provider as far as it can be read, and all problems found.
pub(super) fn read(text: &CatalogueText) -> (Option<Provider>, Vec<Problem>) {
    let errors = CatalogueErrors::new(text);
    let provider = errors.read().map(|file| provider(file, &errors));
    (provider, errors.problems.into_inner())
}

fn provider(file: File, errors: &CatalogueErrors) -> Provider {
    let unnamed = || FileHead { id: "file".to_owned(), title: String::new(), as_of: String::new(), max_volumes: None };
    let FileHead { id, title, as_of, max_volumes } = file.provider.unwrap_or_else(unnamed);
    let tables: Vec<RateTable> = file.table.into_iter().map(|table| rate_table(&table, errors)).collect();
    let mut machine_limits: BTreeMap<String, MachineLimits> = file.machine_limits.into_iter().collect();
    for limit in machine_limits.values_mut().flat_map(|limits| &mut limits.0) {
        limit.scope = Scope::Machine;
        check::limit(limit, errors);
    }
    let shared: BTreeMap<String, SharedRules> = file.shared.into_iter().collect();
    shared.values().flat_map(|rules| &rules.limits).for_each(|limit| check::limit(limit, errors));
    let mut types: Vec<VolumeType> = Vec::new();
    for volume in file.volume {
        check::volume(&volume, errors);
        let volume = volume_type(volume, &tables, &shared, &machine_limits);
        check::regions(&volume.prices, errors);
        let id = volume.full_id();
        if types.iter().any(|known| known.full_id() == id) {
            let at = volume.id.at.clone();
            errors.add(at, format!("two volumes are named `{id}`"), "use a unique `id` or `edition` for each");
        }
        types.push(volume);
    }
    let sources = file.source.into_iter().collect();
    let provider = Provider { id, title, as_of, max_volumes, sources, tables, types, text: errors.text.clone() };
    check::names(&provider, &machine_limits.keys().collect::<Vec<_>>(), &shared.keys().collect::<Vec<_>>(), errors);
    provider
}

/// Completes a volume: its names, the rules that it shares and the limits of its machine behind its own, and its prices
/// of each region.
fn volume_type(
    volume: At<VolumeType>,
    tables: &[RateTable],
    shared: &BTreeMap<String, SharedRules>,
    machine_limits: &BTreeMap<String, MachineLimits>,
) -> VolumeType {
    let at = volume.at.clone();
    let mut volume = volume.into_inner();
    if volume.id.at.is_empty() {
        volume.id = At::new("volume".to_owned(), at);
    }
    if volume.title.is_empty() {
        volume.title.clone_from(&volume.id);
    }
    let named = |id: &SharedId| shared.get(&**id);
    for rules in volume.shared.iter().filter_map(named) {
        volume.keys.extend(rules.keys.iter().cloned());
        volume.limits.extend(rules.limits.iter().cloned());
        volume.notes.extend(rules.notes.iter().cloned());
        volume.remarks.extend(rules.remarks.iter().cloned());
    }
    let of_machine = |id: &LimitsId| machine_limits.get(&**id).map_or(Vec::new(), |limits| limits.0.clone());
    volume.limits.extend(volume.keys.iter().flat_map(|key| &key.limits).flat_map(of_machine));
    let prices = std::mem::take(&mut volume.prices);
    volume.prices = prices.into_iter().flat_map(|price| regional(price, tables)).collect();
    volume
}

/// Returns a price for each row of its table of regions that has all figures of the price's rule, its variables
/// `region_COLUMN`.
fn regional(price: At<PriceRule>, tables: &[RateTable]) -> Vec<At<PriceRule>> {
    let (Some(id), Some((_, rule))) = (&price.regions, price.amount()) else { return vec![price] };
    let mut used = Vec::new();
    rule.expr.names(&mut used);
    let mut prices = Vec::new();
    for table in tables.iter().filter(|table| table.has_id(id)) {
        let index = |name: &str| table.columns.iter().position(|column| name.strip_prefix("region_") == Some(column));
        for row in &table.rows {
            let figure = |name: &str| row.number(index(name)?);
            if used.iter().all(|(name, _)| index(name).is_none() || figure(name).is_some()) {
                prices.push(At::new(price.of_region(&row.name, &figure), price.at.clone()));
            }
        }
    }
    prices
}

fn rate_table(file: &FileTable, errors: &CatalogueErrors) -> RateTable {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (ids, columns) = (words(&file.id), words(&file.columns));
    if let Some(twice) = key::twice(&columns) {
        let message = format!("two columns are named `{twice}`");
        errors.add(file.columns.at.clone(), message, "use a unique name for each");
    }
    let mut rows = Vec::new();
    let is_of_attachments = ids.iter().any(|id| id == table::ATTACHMENTS);
    for line in file.rows.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let row = RateTable::row(&columns, line);
        match row.and_then(|row| if is_of_attachments { row.of_attachments() } else { Ok(row) }) {
            Ok(row) => rows.push(row),
            Err(problem) => {
                let written = errors.text.text.get(file.rows.at.clone()).unwrap_or_default();
                let at = written.find(line).map_or(file.rows.at.clone(), |found| {
                    let start = file.rows.at.start + found;
                    start..start + line.len()
                });
                errors.push(problem.at(errors.text.place(at)));
            }
        }
    }
    RateTable { ids, columns, rows, source: file.source.clone() }
}

//! Reads volumes from TOML (docs/volumes.md).

use std::collections::BTreeMap;

use units::Problem;

use super::check;
use super::document::{At, CatalogueErrors};
use super::key;
use super::problem::CatalogueText;
use super::reference::{LimitsId, SharedId};
use super::schema::{
    self, File, FileHead, FileTable, MachineLimits, PriceRule, Provider, SharedRules, TierFigure, VolumeType,
};
use super::table::{self, RateTable};
use crate::spec::{LimitSource, Scope};

/// Parses a catalogue file. Returns the provider as far as it can be read, and all problems found.
pub(super) fn read(text: &CatalogueText) -> (Option<Provider>, Vec<Problem>) {
    read_with(text, |_, _| {})
}

/// Sources by ID.
pub(super) type Sources = BTreeMap<String, LimitSource>;

/// Parses a catalogue file, whose tables and sources may be completed before its volumes use them.
pub(super) fn read_with(
    text: &CatalogueText,
    complete: impl FnOnce(&mut Vec<RateTable>, &mut Sources),
) -> (Option<Provider>, Vec<Problem>) {
    let errors = CatalogueErrors::new(text);
    let provider = errors.read().map(|file| provider(file, complete, &errors));
    (provider, errors.problems.into_inner())
}

fn provider(
    file: File,
    complete: impl FnOnce(&mut Vec<RateTable>, &mut Sources),
    errors: &CatalogueErrors,
) -> Provider {
    let unnamed = || FileHead { id: "file".to_owned(), title: String::new(), as_of: String::new(), max_volumes: None };
    let FileHead { id, title, as_of, max_volumes } = file.provider.unwrap_or_else(unnamed);
    let mut tables: Vec<RateTable> = file.table.iter().map(|table| rate_table(table, errors)).collect();
    let mut sources: Sources = file.source.into_iter().collect();
    complete(&mut tables, &mut sources);
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
    volume.prices = regional(&volume.prices, tables);
    volume
}

/// Replaces the prices of a table of regions by one price per region: by the first whose figures the region has.
fn regional(prices: &[At<PriceRule>], tables: &[RateTable]) -> Vec<At<PriceRule>> {
    let mut found = Vec::new();
    let mut known: Vec<&str> = Vec::new();
    for price in prices {
        let Some(id) = price.regions.as_ref().filter(|_| price.amount().is_some()) else {
            found.push(price.clone());
            continue;
        };
        if known.contains(&id.as_str()) {
            continue;
        }
        known.push(id);
        let rules: Vec<&At<PriceRule>> =
            prices.iter().filter(|other| other.regions.as_ref() == Some(id) && other.amount().is_some()).collect();
        let figures = RegionFigures::new(tables, id);
        for region in figures.regions() {
            found.extend(rules.iter().find_map(|rule| figures.price(rule, region)));
        }
    }
    found
}

/// The tables of prices by region with one ID.
struct RegionFigures<'a>(Vec<&'a RateTable>);

impl<'a> RegionFigures<'a> {
    fn new(tables: &'a [RateTable], id: &str) -> Self {
        Self(tables.iter().filter(|table| table.has_id(id)).collect())
    }

    /// Returns the regions: first those of built-in tables, so that the default region does not depend on renewed ones.
    fn regions(&self) -> Vec<&'a str> {
        let of = |renewed: bool| self.0.iter().filter(move |table| table.is_renewed == renewed);
        let mut regions: Vec<&str> = Vec::new();
        for row in of(false).chain(of(true)).flat_map(|table| &table.rows) {
            if !regions.contains(&row.name.as_str()) {
                regions.push(&row.name);
            }
        }
        regions
    }

    /// Returns a figure of a region, with the number of its table: the first that has one.
    fn figure(&self, region: &str, column: &str) -> Option<(f64, usize)> {
        self.0.iter().enumerate().find_map(|(index, table)| {
            let at = table.columns.iter().position(|known| known.eq_ignore_ascii_case(column))?;
            let row = table.rows.iter().filter(|row| row.name == region);
            Some((row.filter_map(|row| row.number(at)).next()?, index))
        })
    }

    /// Returns the price of a region with the figures of the region for the variables `region_COLUMN`; `None` if it
    /// lacks one of them.
    fn price(&self, price: &At<PriceRule>, region: &str) -> Option<At<PriceRule>> {
        let (_, rule) = price.amount()?;
        let mut used = Vec::new();
        rule.expr.names(&mut used);
        let mut last = None;
        let mut figures: Vec<(&str, f64)> = Vec::new();
        let mut tiers = Vec::new();
        for (name, _) in &used {
            let Some(column) = name.strip_prefix("region_") else { continue };
            if column == schema::TIER_FIGURE {
                let columns = self.0.iter().flat_map(|table| &table.columns);
                let of_tier = |tier: &String| {
                    let (usd, table) = self.figure(region, tier)?;
                    Some(TierFigure { tier: tier.clone(), usd, source: self.0[table].source.clone() })
                };
                tiers = columns.filter_map(of_tier).collect();
                if tiers.is_empty() {
                    return None;
                }
            } else if self.0.iter().any(|table| table.columns.iter().any(|known| known == column)) {
                let (figure, table) = self.figure(region, column)?;
                // Of figures from several tables, the oldest one dates the price.
                last = last.max(Some(table));
                figures.push((name, figure));
            }
        }
        let figure = |name: &str| figures.iter().find(|(known, _)| *known == name).map(|(_, figure)| *figure);
        let mut found = price.of_region(region, &figure);
        found.tiers = tiers;
        if let Some(source) = last.and_then(|table| self.0[table].source.clone()) {
            found.source = Some(source);
        }
        Some(At::new(found, price.at.clone()))
    }
}

pub(super) fn rate_table(file: &FileTable, errors: &CatalogueErrors) -> RateTable {
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
    RateTable::new(ids, columns, rows, file.source.clone())
}

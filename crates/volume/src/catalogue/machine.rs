//! Machine types that providers rent: processors, memory, prices.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::rule::RuleValue;
use super::schema::Provider;
use super::table::{Cell, MACHINES, RateTable, TableRow};
use crate::spec::LimitSource;

/// A machine type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineType {
    /// Provider's name: `m6i.large`.
    pub name: String,
    pub vcpus: u32,
    pub memory_bytes: Option<u64>,
    /// `x86_64` or `arm64`.
    pub arch: Option<String>,
    /// One of [`MACHINE_FAMILIES`].
    pub family: Option<String>,
    /// Maximum number of attached volumes.
    pub max_volumes: Option<u32>,
    /// Known prices by term and region.
    pub prices: Vec<MachinePrice>,
}

/// Processor architectures of machines.
pub const MACHINE_ARCHS: [&str; 2] = ["x86_64", "arm64"];
/// Families of machines. Processors of the last have credits or are shared.
pub const MACHINE_FAMILIES: [&str; 7] = ["general", "compute", "memory", "storage", "accelerated", "hpc", BURSTABLE];
/// Machines whose processors have credits or are shared.
pub const BURSTABLE: &str = "burstable";

/// For how long a machine is rented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriceTerm {
    #[default]
    OnDemand,
    OneYear,
    ThreeYears,
}

impl PriceTerm {
    /// All terms with the IDs of their tables, whose columns are regions and whose figures are US dollars an hour.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::OnDemand, "on-demand"), (Self::OneYear, "1-year"), (Self::ThreeYears, "3-years")];
}

/// Price of a machine in a region.
#[derive(Clone, Debug, PartialEq)]
pub struct MachinePrice {
    pub term: PriceTerm,
    pub region: Arc<str>,
    /// US dollars for a month of 730 hours.
    pub usd_per_month: f64,
    pub source: Arc<LimitSource>,
}

/// Hours of a month, as providers count them.
const MONTH_HOURS: f64 = 730.0;

impl MachineType {
    /// Returns the price for a term in a region, or without a region in the first of the list.
    #[must_use]
    pub fn price(&self, term: PriceTerm, region: Option<&str>) -> Option<&MachinePrice> {
        let is_in = |price: &&MachinePrice| region.is_none_or(|region| price.region.eq_ignore_ascii_case(region));
        self.prices.iter().filter(|price| price.term == term).find(is_in)
    }
}

/// Returns the machine types in the tables of a file.
pub(super) fn of_file(file: &Provider) -> Vec<MachineType> {
    let mut machines: BTreeMap<&str, MachineType> = BTreeMap::new();
    for (row, cells) in rows(&file.tables, MACHINES) {
        let machine = machines.entry(&row.name).or_default();
        for (column, cell) in cells {
            match (column, cell) {
                ("vcpus", Cell::Is(value)) if machine.vcpus == 0 => {
                    machine.vcpus = value.number().unwrap_or(0.0) as u32;
                }
                ("memory_gib", Cell::Is(value)) => {
                    let bytes = value.number().map(|gib| (gib * f64::from(1_u32 << 30)) as u64);
                    machine.memory_bytes = machine.memory_bytes.or(bytes);
                }
                ("volumes", Cell::Is(value)) => {
                    machine.max_volumes = machine.max_volumes.or(value.number().map(|count| count as u32));
                }
                ("arch", Cell::Is(RuleValue::Word(word))) => machine.arch = machine.arch.take().or(Some(word.clone())),
                ("family", Cell::Is(RuleValue::Word(word))) => {
                    machine.family = machine.family.take().or(Some(word.clone()));
                }
                _ => {}
            }
        }
    }
    for (term, id) in PriceTerm::ALL {
        for table in file.tables.iter().filter(|table| table.has_id(id)) {
            let source = table.source.as_ref().and_then(|id| file.sources.get(&**id)).cloned().unwrap_or_default();
            let (source, regions) = (Arc::new(source), table.columns.iter().map(|name| Arc::from(name.as_str())));
            let regions: Vec<Arc<str>> = regions.collect();
            for row in &table.rows {
                let Some(machine) = machines.get_mut(row.name.as_str()) else { continue };
                for (region, cell) in regions.iter().zip(&row.cells) {
                    let Cell::Is(value) = cell else { continue };
                    let Some(usd) = value.number().filter(|_| machine.price(term, Some(region)).is_none()) else {
                        continue;
                    };
                    let (region, source) = (Arc::clone(region), Arc::clone(&source));
                    machine.prices.push(MachinePrice { term, region, usd_per_month: usd * MONTH_HOURS, source });
                }
            }
        }
    }
    let named = machines.into_iter().map(|(name, machine)| MachineType { name: name.to_owned(), ..machine });
    named.filter(|machine| machine.vcpus > 0).collect()
}

/// Returns the rows of all tables with an ID, each cell with its column; those of the first table come first.
fn rows<'a>(
    tables: &'a [RateTable],
    id: &'a str,
) -> impl Iterator<Item = (&'a TableRow, impl Iterator<Item = (&'a str, &'a Cell)>)> {
    let of_table = |table: &'a RateTable| {
        table.rows.iter().map(|row| (row, table.columns.iter().map(String::as_str).zip(&row.cells)))
    };
    tables.iter().filter(move |table| table.has_id(id)).flat_map(of_table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::builtin::{self, machine_types};
    use crate::catalogue::problem::CatalogueText;
    use crate::catalogue::read::read;

    #[test]
    fn machines_have_prices_by_term_and_region() {
        let machines = machine_types("aws");
        let machine = machines.iter().find(|machine| machine.name == "m6i.large").expect("a machine");
        assert_eq!((machine.vcpus, machine.memory_bytes), (2, Some(8 << 30)));
        assert_eq!((machine.arch.as_deref(), machine.family.as_deref()), (Some("x86_64"), Some("general")));
        let price = |region| machine.price(PriceTerm::OnDemand, region).map(|price| price.usd_per_month);
        assert!((price(Some("us-east-1")).unwrap() - 0.096 * 730.0).abs() < 1e-9);
        assert_eq!(price(None), price(Some("us-east-1")));
        assert_eq!(price(Some("nowhere")), None);
        assert!(machine_types("hdd").is_empty());
    }

    #[test]
    fn the_first_table_of_an_id_wins() {
        let text = "[source.s]\ntitle = 't'\n[[table]]\nid = 'machines'\ncolumns = 'vcpus memory_gib'\nrows = 'm 2 -'\n\
                    [[table]]\nid = 'machines'\ncolumns = 'vcpus memory_gib arch'\nrows = 'm 4 8 arm64'\n\
                    [[table]]\nid = 'on-demand'\nsource = 's'\ncolumns = 'a b'\nrows = 'm 0.5 -'\n\
                    [[table]]\nid = 'on-demand'\ncolumns = 'a b'\nrows = 'm 1 2'\n";
        let (file, problems) = read(&CatalogueText::new("machines.toml", text));
        assert_eq!(problems, []);
        let machines = of_file(&file.expect("a file"));
        let machine = &machines[0];
        assert_eq!((machine.vcpus, machine.memory_bytes, machine.arch.as_deref()), (2, Some(8 << 30), Some("arm64")));
        let found = ["a", "b"].map(|region| machine.price(PriceTerm::OnDemand, Some(region)).unwrap());
        assert_eq!(found.map(|price| price.usd_per_month), [365.0, 1460.0]);
        assert_eq!(found.map(|price| price.source.title.as_str()), ["t", ""]);
    }

    #[test]
    fn words_of_machines_are_known() {
        for provider in builtin::IDS {
            for machine in machine_types(provider).iter() {
                let is_known = |word: &Option<String>, known: &[&str]| {
                    word.as_ref().is_none_or(|word| known.contains(&word.as_str()))
                };
                assert!(is_known(&machine.arch, &MACHINE_ARCHS), "{machine:?}");
                assert!(is_known(&machine.family, &MACHINE_FAMILIES), "{machine:?}");
            }
        }
    }
}

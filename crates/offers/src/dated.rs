//! Dated files: offers as tables in the format of the catalogue, each figure with the source that it has newest.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Deserialize;
use units::{Place, Problem, ProblemCode};

use crate::collect::unusable;
use crate::formats::{OfferFormat, Provider};
use crate::list::{MachineOffer, OfferList, PriceComponent, VolumePrice};

const GIB: f64 = 1_073_741_824.0;
/// A megabyte per second, the unit of machine limits.
const MEGABYTE: f64 = 1e6;

/// Tables of machines: facts, and prices of an hour by region.
const MACHINES: &str = "machines";
const ON_DEMAND: &str = "on-demand";
/// Table of prices by region.
const PRICES: &str = "prices";
/// Columns of `machines`, in the order in which people read them.
const FACTS: [&str; 4] = ["vcpus", "memory_gib", "arch", "volumes"];

/// A provider's dated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatedFile {
    provider: Provider,
    as_of: String,
    /// Sources by ID.
    sources: BTreeMap<String, Source>,
    cells: BTreeMap<CellKey, DatedCell>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CellKey {
    table: String,
    row: String,
    column: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct DatedCell {
    text: String,
    /// ID of its source.
    source: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    title: String,
    address: String,
    date: String,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    provider: Head,
    #[serde(default)]
    source: BTreeMap<String, Source>,
    #[serde(default)]
    table: Vec<WrittenTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    id: String,
    #[serde(rename = "title")]
    _title: String,
    as_of: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTable {
    id: String,
    source: String,
    columns: String,
    rows: String,
}

impl DatedFile {
    /// Returns a file without figures.
    #[must_use]
    pub fn new(provider: Provider) -> Self {
        Self { provider, as_of: String::new(), sources: BTreeMap::new(), cells: BTreeMap::new() }
    }

    /// Parses the text of a dated file.
    ///
    /// # Errors
    ///
    /// If it is not a dated file of this provider.
    pub fn parse(provider: Provider, name: &str, text: &str) -> Result<Self, Problem> {
        let damaged =
            |what: String| Problem::error(ProblemCode::Offers, what).help("delete the file, and import again");
        let written: Written = toml::from_str(text).map_err(|error| {
            let place = error.span().map(|at| Place::of_text(name, text, at));
            damaged(format!("the dated file is damaged: {}", error.message())).at(place)
        })?;
        if written.provider.id != provider.name() {
            return Err(damaged(format!("{name} is of {}, not of {provider}", written.provider.id)));
        }
        let mut file = Self { as_of: written.provider.as_of, sources: written.source, ..Self::new(provider) };
        for table in written.table {
            let columns: Vec<&str> = table.columns.split_whitespace().collect();
            for line in table.rows.lines() {
                let mut words = line.split_whitespace();
                let Some(row) = words.next() else { continue };
                for (column, text) in columns.iter().zip(words).filter(|(_, text)| *text != "-") {
                    let key = CellKey { table: table.id.clone(), row: row.to_owned(), column: (*column).to_owned() };
                    // The first of several tables with one ID has the newest figures.
                    let cell = DatedCell { text: text.to_owned(), source: table.source.clone() };
                    file.cells.entry(key).or_insert(cell);
                }
            }
        }
        Ok(file)
    }

    /// Lays offers over the figures of the file. `read_on` is the date of the files that have none of their own.
    ///
    /// # Errors
    ///
    /// If pages of the files are missing, or a price has a range that the catalogue does not know.
    pub fn renew(&mut self, offers: &OfferList, read_on: &str) -> Result<(), Problem> {
        if offers.incomplete {
            let what = "the files name a further page, which is not among them";
            return Err(Problem::error(ProblemCode::CutOff, what).help("give all pages together"));
        }
        let published = offers.source_date.as_deref().filter(|date| *date < read_on).unwrap_or(read_on);
        let (of_prices, of_machines): (Vec<OfferFormat>, Vec<OfferFormat>) =
            offers.formats.iter().partition(|format| format.has_prices());
        let is_dated = of_prices.iter().all(|format| format.is_dated());
        let prices_on = if is_dated { published } else { read_on };
        let prices = (!of_prices.is_empty()).then(|| self.source(&of_prices, prices_on));
        let machines = (!of_machines.is_empty()).then(|| self.source(&of_machines, read_on));
        if self.as_of.as_str() < read_on {
            read_on.clone_into(&mut self.as_of);
        }
        let facts = machines.as_ref().or(prices.as_ref());
        if let Some(source) = &prices {
            for price in of_catalogue(&offers.prices)? {
                self.set(price.0, price.1, price.2, figure(price.3), source);
            }
            for machine in &offers.machines {
                for (region, usd) in &machine.price_per_hour {
                    self.set(ON_DEMAND.to_owned(), &machine.name, region.clone(), figure(*usd), source);
                }
            }
        }
        if let Some(source) = facts {
            for machine in &offers.machines {
                for (column, text) in facts_of(machine) {
                    self.set(MACHINES.to_owned(), &machine.name, column.to_owned(), text, source);
                }
                let (table, limits) = self.limits_of(machine);
                for (column, text) in limits {
                    self.set(table.to_owned(), &machine.name, column.to_owned(), text, source);
                }
            }
        }
        let used: BTreeSet<&String> = self.cells.values().map(|cell| &cell.source).collect();
        self.sources.retain(|id, _| used.contains(id));
        Ok(())
    }

    /// Adds a source, and returns its ID.
    fn source(&mut self, formats: &[OfferFormat], date: &str) -> String {
        let joined =
            |words: fn(&OfferFormat) -> &'static str, by: &str| formats.iter().map(words).collect::<Vec<_>>().join(by);
        let id = format!("renewed-{}-{date}", joined(|format| format.name(), "-"));
        let source = Source {
            title: joined(|format| format.title(), "; "),
            address: formats.first().map_or("", |format| format.address()).to_owned(),
            date: date.to_owned(),
        };
        self.sources.insert(id.clone(), source);
        id
    }

    /// Sets a figure, unless it has one with a later date.
    fn set(&mut self, table: String, row: &str, column: String, text: String, source: &str) {
        let date = |id: &str| self.sources.get(id).map_or("", |source| source.date.as_str());
        let key = CellKey { table, row: row.to_owned(), column };
        if self.cells.get(&key).is_some_and(|known| date(&known.source) > date(source)) {
            return;
        }
        self.cells.insert(key, DatedCell { text, source: source.to_owned() });
    }

    /// Returns the table of machine limits, and a machine's figures in it.
    fn limits_of(&self, machine: &MachineOffer) -> (&'static str, Vec<(&'static str, String)>) {
        let megabytes = |bytes: Option<u64>| bytes.map(|bytes| figure(bytes as f64 / MEGABYTE));
        let count = |number: Option<u64>| number.map(|number| number.to_string());
        let limits = &machine.limits;
        let base_mbps = megabytes(limits.base_bytes_per_s);
        let (table, figures) = match self.provider {
            Provider::Aws => {
                let xen = machine.hypervisor.as_deref() == Some("xen");
                let figures = vec![
                    ("base_mbps", base_mbps),
                    ("max_mbps", megabytes(limits.max_bytes_per_s)),
                    ("base_iops", count(limits.base_iops)),
                    ("max_iops", count(limits.max_iops)),
                    ("xen", xen.then(|| "1".to_owned())),
                    ("vcpus", count(machine.vcpus)),
                ];
                ("ebs", figures)
            }
            Provider::Azure => {
                ("vm", vec![("iops", count(limits.base_iops)), ("mbps", base_mbps), ("vcpus", count(machine.vcpus))])
            }
            // Google's files have no limits of disks.
            Provider::Gcp => return ("", Vec::new()),
        };
        let has_limits = limits.base_iops.or(limits.base_bytes_per_s).is_some();
        let known = figures.into_iter().filter_map(|(column, text)| Some((column, text?)));
        (table, known.filter(|_| has_limits).collect())
    }

    /// Returns the text of the file.
    #[must_use]
    pub fn text(&self) -> String {
        let title = self.provider.title();
        let mut text = format!(
            "# Written by `fathom catalog update`: figures of {title} that are newer than the built-in ones. Delete\n\
             # the file to use the built-in figures again.\n\n\
             [provider]\nid = \"{}\"\ntitle = \"{title}\"\nas_of = \"{}\"\n",
            self.provider, self.as_of
        );
        for (id, source) in &self.sources {
            let _ = writeln!(text, "\n[source.{id}]");
            for (key, value) in [("title", &source.title), ("address", &source.address), ("date", &source.date)] {
                let _ = writeln!(text, "{key} = {}", toml::Value::String(value.clone()));
            }
        }
        let mut groups: BTreeMap<(&str, &str), Vec<(&CellKey, &DatedCell)>> = BTreeMap::new();
        for (key, cell) in &self.cells {
            groups.entry((&key.table, &cell.source)).or_default().push((key, cell));
        }
        for ((table, source), cells) in groups {
            table_text(&mut text, table, source, &cells);
        }
        text
    }

    /// Returns the regions with prices, and the number of prices, machines and limits.
    #[must_use]
    pub fn counts(&self) -> DatedCounts {
        let of = |wanted: fn(&str) -> bool| self.cells.keys().filter(move |key| wanted(&key.table));
        let is_volumes = |table: &str| table.ends_with(PRICES);
        let mut regions: BTreeSet<&String> = of(is_volumes).map(|key| &key.row).collect();
        regions.extend(of(|table| table == ON_DEMAND).map(|key| &key.column));
        let machines: BTreeSet<&String> = of(|table| table == MACHINES).map(|key| &key.row).collect();
        DatedCounts {
            date: self.sources.values().map(|source| source.date.clone()).max().unwrap_or_default(),
            regions: regions.into_iter().cloned().collect(),
            volume_prices: of(is_volumes).count(),
            machine_prices: of(|table| table == ON_DEMAND).count(),
            machines: machines.len(),
        }
    }
}

/// What a dated file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatedCounts {
    /// Date of the newest figures.
    pub date: String,
    /// Regions with prices.
    pub regions: Vec<String>,
    pub volume_prices: usize,
    pub machine_prices: usize,
    pub machines: usize,
}

/// Writes the figures that one table has of one source.
fn table_text(text: &mut String, table: &str, source: &str, cells: &[(&CellKey, &DatedCell)]) {
    let names: BTreeSet<&str> = cells.iter().map(|(key, _)| key.column.as_str()).collect();
    let mut columns: Vec<&str> = names.into_iter().collect();
    columns.sort_by_key(|column| FACTS.iter().position(|fact| table == MACHINES && fact == column));
    let at = |column: &str| columns.iter().position(|known| *known == column);
    let mut rows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (key, cell) in cells {
        let row = rows.entry(&key.row).or_insert_with(|| vec!["-"; columns.len()]);
        if let Some(place) = at(&key.column).and_then(|at| row.get_mut(at)) {
            *place = &cell.text;
        }
    }
    let columns = columns.join(" ");
    let _ =
        write!(text, "\n[[table]]\nid = \"{table}\"\nsource = \"{source}\"\ncolumns = \"{columns}\"\nrows = \"\"\"\n");
    for (row, cells) in rows {
        let _ = writeln!(text, "{row} {}", cells.join(" "));
    }
    text.push_str("\"\"\"\n");
}

/// Formats a figure in the shortest form that reads back as the same number.
fn figure(number: f64) -> String {
    number.to_string()
}

fn facts_of(machine: &MachineOffer) -> Vec<(&'static str, String)> {
    let facts = [
        ("vcpus", machine.vcpus.map(|number| number.to_string())),
        ("memory_gib", machine.memory_bytes.map(|bytes| figure(bytes as f64 / GIB))),
        ("arch", machine.arch.clone()),
        ("volumes", machine.max_volumes.map(|number| number.to_string())),
    ];
    facts.into_iter().filter_map(|(column, text)| Some((column, text?))).collect()
}

/// A price in the catalogue: table, row, column and figure.
type TablePrice<'a> = (String, &'a str, String, f64);

/// Returns the prices with their places in the catalogue.
fn of_catalogue(prices: &[VolumePrice]) -> Result<Vec<TablePrice<'_>>, Problem> {
    let mut found = Vec::new();
    for price in prices {
        let name = price.volume.split_once('/').map_or(price.volume.as_str(), |(_, name)| name);
        if let Some(tier) = &price.tier {
            in_range(price, &[0])?;
            found.push((format!("{name}-{PRICES}"), price.region.as_str(), tier.clone(), price.per_month));
        } else {
            let column = column(name, price)?;
            found.push((PRICES.to_owned(), price.region.as_str(), column, price.per_month));
        }
    }
    Ok(found)
}

/// Returns the column of a volume's price. A provider lists what is included without charge as a range from 0, or not at
/// all; the rules of the catalogue subtract it.
fn column(volume: &str, price: &VolumePrice) -> Result<String, Problem> {
    use PriceComponent::{Capacity, Disk, Iops, Throughput};
    let (prefix, is_google) = match price.volume.split_once('/') {
        Some(("gcp", "hyperdisk-balanced-high-availability")) => ("hyperdisk_balanced_ha".to_owned(), true),
        Some(("gcp", "local-ssd-nvme")) => ("local_ssd".to_owned(), true),
        Some(("gcp", name)) => (name.replace('-', "_"), true),
        Some(("azure", "premium-ssd-v2")) => ("premium_v2".to_owned(), false),
        _ => (volume.replace('-', "_"), false),
    };
    let included: &[u64] = match (volume, price.component) {
        ("io2", Iops) => &[0, 32_000, 64_000],
        ("premium-ssd-v2", Iops) => &[0, 3_000],
        ("premium-ssd-v2", Throughput) => &[0, 125],
        _ => &[0],
    };
    in_range(price, included)?;
    let component = match price.component {
        Disk | Capacity if is_google => "",
        Disk | Capacity => "_gb",
        Iops => "_iops",
        Throughput if price.volume.starts_with("azure/") => "_mbps",
        Throughput => "_mibps",
    };
    let tier = match (volume, price.from) {
        ("io2", 32_000) => "_2",
        ("io2", 64_000) => "_3",
        _ => "",
    };
    Ok(format!("{prefix}{component}{tier}"))
}

/// Checks that a price applies from an amount that the rules of the catalogue know.
fn in_range(price: &VolumePrice, known: &[u64]) -> Result<(), Problem> {
    if known.contains(&price.from) {
        return Ok(());
    }
    let what = format!(
        "{} in {} has a price from {} units on, which the catalogue does not know",
        price.volume, price.region, price.from
    );
    Err(unusable(what))
}

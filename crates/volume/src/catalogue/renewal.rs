//! Dated files: tables of newer prices and limits of a provider, laid over its built-in catalogue.

use std::collections::{BTreeMap, BTreeSet};

use units::Problem;

use super::document::CatalogueErrors;
use super::problem::CatalogueText;
use super::read::{Sources, rate_table, read_with};
use super::rule::RuleValue;
use super::schema::{File, Provider};
use super::table::{self, ATTACHMENTS, Cell, FoundRow, MACHINES, RateTable};
use crate::spec::LimitSource;

/// The tables of a dated file with their sources.
#[derive(Clone, Debug)]
pub(super) struct Renewal {
    pub tables: Vec<RateTable>,
    pub sources: Vec<(String, LimitSource)>,
}

impl Renewal {
    fn source(&self, id: &str) -> Option<&LimitSource> {
        self.sources.iter().find(|(known, _)| known == id).map(|(_, source)| source)
    }
}

/// Beginning of the IDs of sources in dated files, which no source of the built-in catalogue has.
const SOURCE_PREFIX: &str = "renewed-";

/// Parses a dated file of a provider.
pub(super) fn read(text: &CatalogueText, provider: &str) -> Result<Renewal, Vec<Problem>> {
    let errors = CatalogueErrors::new(text);
    let file: Option<File> = errors.read();
    let renewal = file.map(|file| renewal(file, provider, &errors));
    let problems = errors.problems.into_inner();
    match renewal {
        Some(renewal) if problems.is_empty() => Ok(renewal),
        _ => Err(super::check::sorted(text, problems)),
    }
}

fn renewal(file: File, provider: &str, errors: &CatalogueErrors) -> Renewal {
    let is_of_provider = file.provider.as_ref().is_some_and(|head| head.id == provider);
    if !is_of_provider {
        errors.add(
            0..0,
            format!("the file is not of {provider}"),
            format!("set `id = \"{provider}\"` in `[provider]`"),
        );
    }
    if let Some(volume) = file.volume.first() {
        errors.add(volume.at.clone(), "a dated file defines no volumes", "move the volume to a file of its own");
    }
    if !file.machine_limits.is_empty() {
        errors.add(0..0, "a dated file defines no limits", "keep only its tables");
    }
    for (id, _) in file.source.iter().filter(|(id, _)| !id.starts_with(SOURCE_PREFIX)) {
        errors.add(0..0, format!("the source `{id}` does not begin with `{SOURCE_PREFIX}`"), "rename it");
    }
    for reference in errors.references.take() {
        if !file.source.iter().any(|(id, _)| *id == reference.id) {
            let remedy = format!("add `[source.{}]` with a `title` and a `date`", reference.id);
            errors.add(reference.at, format!("unknown source `{}`", reference.id), remedy);
        }
    }
    let mut tables = Vec::new();
    for written in &file.table {
        let mut table = rate_table(written, errors);
        table.is_renewed = true;
        let has_words = table.has_id(MACHINES) || table.has_id(ATTACHMENTS);
        let is_word = |cell: &Cell| matches!(cell, Cell::Is(RuleValue::Word(_)));
        if let Some(row) = table.rows.iter().find(|row| !has_words && row.cells.iter().any(is_word)) {
            let message = format!("`{}` has a cell that is no number", row.name);
            errors.add(written.rows.at.clone(), message, "use a number, or `-` for unknown");
        }
        tables.push(table);
    }
    Renewal { tables, sources: file.source }
}

/// A figure of a dated file beside the one of the built-in catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct RenewedFigure {
    /// ID of the table: `prices`.
    pub table: String,
    /// Region or machine.
    pub row: String,
    pub column: String,
    /// Figure of the built-in catalogue, if it has one.
    pub old: Option<f64>,
    /// Figure of the dated file; `None` if it lacks it in a row that it has.
    pub new: Option<f64>,
    /// Whether the built-in figure has a later date, and is used.
    pub is_older: bool,
}

/// A figure with the date of its source.
#[derive(Clone, Copy)]
struct DatedFigure<'a> {
    figure: f64,
    date: &'a str,
}

impl DatedFigure<'_> {
    /// Reports whether another figure has a later date. Dates without a day are not compared.
    fn is_older_than(self, other: Self) -> bool {
        match (day(self.date), day(other.date)) {
            (Some(own), Some(other)) => own < other,
            _ => false,
        }
    }
}

/// Returns the date at the beginning of a text, if it has a day: `2026-11-30`.
fn day(text: &str) -> Option<&str> {
    let day = text.get(..10)?;
    let fits = |(index, byte): (usize, u8)| if matches!(index, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    day.bytes().enumerate().all(fits).then_some(day)
}

/// Tables of prices of machines, whose columns are regions.
const HOURS: [&str; 3] = ["on-demand", "1-year", "3-years"];

/// Table, row and column of a figure.
type CellKey<'a> = (&'a str, &'a str, &'a str);

/// Parses a built-in file, and searches the tables of a renewal before those of the file.
pub(super) fn over(text: &CatalogueText, renewal: &Renewal) -> (Option<Provider>, Vec<Problem>) {
    read_with(text, |tables, sources| {
        *tables = [without_older(renewal, tables, sources), std::mem::take(tables)].concat();
        sources.extend(renewal.sources.clone());
    })
}

/// Returns the tables of a renewal without the figures that are older than those of the built-in tables: a newer version
/// of the program may have newer ones.
fn without_older(renewal: &Renewal, built_in: &[RateTable], sources: &Sources) -> Vec<RateTable> {
    let old = cells(built_in, |id| sources.get(id));
    let mut tables = renewal.tables.clone();
    for table in &mut tables {
        let date = table.source.as_ref().and_then(|id| renewal.source(id)).map_or("", |source| source.date.as_str());
        for row in &mut table.rows {
            for (cell, column) in row.cells.iter_mut().zip(&table.columns) {
                let Cell::Is(RuleValue::Number(figure)) = cell else { continue };
                let new = DatedFigure { figure: *figure, date };
                let found = table.ids.iter().find_map(|id| old.get(&(id.as_str(), row.name.as_str(), column.as_str())));
                if found.is_some_and(|old| new.is_older_than(*old)) {
                    *cell = Cell::Unknown;
                }
            }
        }
    }
    tables
}

/// Returns the numbers of a dated file, and those that it lacks in its rows, by table, row and column.
pub(super) fn figures(renewal: &Renewal, built_in: &[Provider]) -> Vec<RenewedFigure> {
    let new_cells = cells(&renewal.tables, |id| renewal.source(id));
    let mut old_cells = BTreeMap::new();
    for file in built_in {
        old_cells.extend(cells(&file.tables, |id| file.sources.get(id)));
    }
    // Rows of the built-in catalogue may be patterns.
    let mut of_patterns: BTreeMap<(&str, &str), Option<FoundRow>> = BTreeMap::new();
    let mut figures = Vec::new();
    let figure = |(table, row, column): &CellKey<'_>, old, new, is_older| {
        let [table, row, column] = [table, row, column].map(|name| (*name).to_owned());
        RenewedFigure { table, row, column, old, new, is_older }
    };
    for (key @ (id, row, column), new) in &new_cells {
        let old = old_cells.get(key);
        let by_pattern = || {
            let find = || built_in.iter().find_map(|file| table::find(&file.tables, id, row));
            let found = of_patterns.entry((*id, *row)).or_insert_with(find);
            found.as_ref()?.cells.iter().find(|(known, _)| known == column)?.1.as_ref()?.number()
        };
        let is_older = old.is_some_and(|old| new.is_older_than(*old));
        figures.push(figure(key, old.map(|old| old.figure).or_else(by_pattern), Some(new.figure), is_older));
    }
    let rows: BTreeSet<(&str, &str)> = new_cells.keys().map(|(id, row, _)| (*id, *row)).collect();
    for (key @ (id, row, column), old) in &old_cells {
        // Prices of machines in other regions are not missing.
        let is_of_row = rows.contains(&(*id, *row)) && !HOURS.contains(id);
        if is_of_row && !new_cells.contains_key(key) {
            figures.push(figure(&(id, row, column), Some(old.figure), None, false));
        }
    }
    figures
}

/// Returns all numbers by table, row and column: of several tables with one ID, the first.
fn cells<'a>(
    tables: &'a [RateTable],
    source: impl Fn(&str) -> Option<&'a LimitSource>,
) -> BTreeMap<CellKey<'a>, DatedFigure<'a>> {
    let mut cells = BTreeMap::new();
    for table in tables {
        let date = table.source.as_ref().and_then(|id| source(id)).map_or("", |source| source.date.as_str());
        for (id, row) in table.ids.iter().flat_map(|id| table.rows.iter().map(move |row| (id, row))) {
            for (at, column) in table.columns.iter().enumerate() {
                if let Some(figure) = row.number(at) {
                    let key = (id.as_str(), row.name.as_str(), column.as_str());
                    cells.entry(key).or_insert(DatedFigure { figure, date });
                }
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::super::{FoundVolume, build, builtin, renewed_figures, request, values};
    use super::*;
    use std::sync::Arc;

    fn text(text: &str) -> CatalogueText {
        CatalogueText::new("aws.toml", text)
    }

    /// Lays a dated file over the built-in catalogue of a provider.
    fn over(id: &str, dated: &str) -> Arc<Provider> {
        let renewal = read(&text(dated), id).unwrap_or_else(|problems| panic!("{}", problems[0]));
        let (provider, problems) = super::over(&builtin::text(id).expect("a provider"), &renewal);
        assert_eq!(problems, []);
        Arc::new(provider.expect("a provider"))
    }

    fn resolve(provider: &Arc<Provider>, id: &str, keys: &str) -> super::super::ResolvedVolume {
        let request = request::parse(&format!("{}/{id}{keys}", provider.id)).expect("a request");
        let (index, tier) = match &request.head {
            request::VolumeName::Type { kind, edition, .. } => {
                super::super::find_type(&request, provider, kind, edition.as_ref()).expect("a volume")
            }
            request::VolumeName::File { .. } => panic!("a file"),
        };
        let (values, problems) = values::values(&request, provider, &provider.types[index], tier);
        assert_eq!(problems, []);
        let found = FoundVolume { request, provider: Arc::clone(provider), index, values };
        build::build(&found, build::PriceScope::AllRegions).expect("a volume")
    }

    fn month(provider: &Arc<Provider>, id: &str, keys: &str, region: &str) -> Option<(f64, bool, String)> {
        let prices = resolve(provider, id, keys).about.prices;
        let price = prices.into_iter().find(|of| of.holds_in(region))?.price;
        Some((libm::round(price.per_month * 1e4) / 1e4, price.lacks.is_some(), price.source.date))
    }

    const HEAD: &str = "[source.renewed-prices]\ntitle = 'list'\naddress = 'a'\ndate = '2027-01-02'\n";

    fn dated(provider: &str, tables: &str) -> String {
        format!("[provider]\nid = '{provider}'\ntitle = 't'\nas_of = '2027-01-02'\n{HEAD}{tables}")
    }

    #[test]
    fn renewed_figures_win_and_the_others_stay() {
        let tables = "[[table]]\nid = 'prices'\nsource = 'renewed-prices'\ncolumns = 'gp3_gb gp3_iops gp3_mibps gp2_gb'\n\
            rows = '''\nxx-new-1 0.1 0.01 0.1 0.2\nus-east-1 0.05 - - 0.3\n'''\n\
            [[table]]\nid = 'ebs'\nsource = 'renewed-prices'\ncolumns = 'base_iops max_iops'\nrows = 'm6i.large 5000 -'\n";
        let aws = over("aws", &dated("aws", tables));
        let of = |volume: &str, region: &str| month(&aws, volume, ",size=1000GiB", region);
        // The IOPS of gp3 cost what they did, so that its price is as old as they are.
        assert_eq!(of("gp3", "us-east-1"), Some((50.0, false, "2026-10-15".to_owned())));
        assert_eq!(of("gp2", "us-east-1"), Some((300.0, false, "2027-01-02".to_owned())));
        assert_eq!(of("gp2", "xx-new-1"), Some((200.0, false, "2027-01-02".to_owned())));
        assert_eq!(of("gp2", "eu-west-1"), Some((110.0, false, "2026-10-15".to_owned())));
        assert_eq!(of("io2", "xx-new-1"), None);
        // The default region is that of the built-in catalogue.
        let spec = resolve(&aws, "gp2", ",size=1000GiB").spec;
        assert_eq!(spec.price.and_then(|price| price.region).as_deref(), Some("us-east-1"));
        let spec = resolve(&aws, "gp3", ",machine=m6i.large").spec;
        let limit = |name: &str| spec.limits.iter().find(|limit| limit.name == name).and_then(|limit| limit.rate.read);
        assert_eq!(limit("machine IOPS"), Some(5_000));
        assert_eq!(limit("machine maximum IOPS"), Some(40_000));
        let found = renewed_figures("aws", "aws.toml", &dated("aws", tables)).expect("a dated file");
        let figure = |row: &str, column: &str| {
            let figure = found.iter().find(|figure| figure.row == row && figure.column == column);
            figure.map(|figure| (figure.old, figure.new))
        };
        assert_eq!(figure("us-east-1", "gp3_gb"), Some((Some(0.08), Some(0.05))));
        assert_eq!(figure("us-east-1", "gp3_iops"), Some((Some(0.005), None)));
        assert_eq!(figure("xx-new-1", "gp2_gb"), Some((None, Some(0.2))));
        assert_eq!(figure("m6i.large", "base_iops"), Some((Some(3_600.0), Some(5_000.0))));
        assert_eq!(figure("eu-west-1", "gp3_gb"), None);
    }

    #[test]
    fn figures_that_are_older_than_the_built_in_ones_are_not_used() {
        let tables = "[[table]]\nid = 'prices'\nsource = 'renewed-prices'\ncolumns = 'gp2_gb'\n\
            rows = '''\nus-east-1 0.3\nxx-new-1 0.4\n'''\n";
        let file = dated("aws", tables).replace("date = '2027-01-02'", "date = '2026-10-14'");
        let aws = over("aws", &file);
        let of = |region: &str| month(&aws, "gp2", ",size=1000GiB", region);
        assert_eq!(of("us-east-1"), Some((100.0, false, "2026-10-15".to_owned())));
        assert_eq!(of("xx-new-1"), Some((400.0, false, "2026-10-14".to_owned())));
        let found = renewed_figures("aws", "aws.toml", &file).expect("a dated file");
        let older: Vec<bool> = found.iter().filter(|figure| figure.new.is_some()).map(|one| one.is_older).collect();
        assert_eq!(older, [true, false]);
        // A date without a day is not compared.
        let tables = "[[table]]\nid = 'prices'\nsource = 'renewed-prices'\ncolumns = 'ultra_gb'\nrows = 'eastus 1'\n";
        let azure = over("azure", &dated("azure", tables).replace("date = '2027-01-02'", "date = '2020-01-01'"));
        let price = resolve(&azure, "ultra", ",size=100GiB,iops=100,throughput=1MB/s").spec.price.expect("a price");
        assert!((price.parts.capacity - 100.0).abs() < 1e-9, "{price:?}");
    }

    #[test]
    fn tiers_of_azure_have_prices_by_region() {
        let tables = "[[table]]\nid = 'premium-ssd-prices'\nsource = 'renewed-prices'\ncolumns = 'P70 P30'\n\
            rows = '''\nwesteurope 2000 150\neastus - 140\n'''\n";
        let azure = over("azure", &dated("azure", tables));
        let of = |tier: &str, region: &str| month(&azure, tier, "", region);
        assert_eq!(of("p30", "eastus"), Some((140.0, false, "2027-01-02".to_owned())));
        assert_eq!(of("p30", "westeurope"), Some((150.0, false, "2027-01-02".to_owned())));
        assert_eq!(of("p50", "eastus"), Some((495.5657, false, "2026-07-23".to_owned())));
        assert_eq!(of("p50", "westeurope"), Some((545.097, false, "2026-07-15".to_owned())));
        assert_eq!(of("p70", "westeurope"), Some((2000.0, false, "2027-01-02".to_owned())));
        // Without a region, the price of another one than the default does not count.
        assert_eq!(resolve(&azure, "p70", "").spec.price, None);
    }

    #[test]
    fn the_first_price_with_all_figures_of_a_region_counts() {
        let tables = "[[table]]\nid = 'prices'\nsource = 'renewed-prices'\n\
            columns = 'pd_extreme pd_extreme_iops pd_ssd_regional'\nrows = 'europe-west3 0.2 0.07 0.5'\n";
        let gcp = over("gcp", &dated("gcp", tables));
        let of = |volume: &str, keys: &str, region: &str| month(&gcp, volume, keys, region);
        let keys = ",size=1000GiB,iops=10000";
        assert_eq!(of("pd-extreme", keys, "europe-west3"), Some((900.0, false, "2027-01-02".to_owned())));
        assert_eq!(of("pd-extreme", keys, "europe-west2"), Some((150.0, true, "2026-07-30".to_owned())));
        assert_eq!(of("pd-extreme", keys, "us-central1"), Some((775.0, false, "2026-09-24".to_owned())));
        let keys = ",size=1000GiB";
        assert_eq!(of("pd-ssd-regional", keys, "europe-west3"), Some((500.0, false, "2027-01-02".to_owned())));
        assert_eq!(of("pd-ssd-regional", keys, "us-central1"), Some((340.0, false, "2026-07-30".to_owned())));
    }

    #[test]
    fn damaged_and_foreign_dated_files_are_refused_with_their_place() {
        let table = |rows: &str| format!("[[table]]\nid = 'prices'\ncolumns = 'gp3_gb'\nrows = '''\n{rows}\n'''\n");
        for (file, message, line) in [
            (dated("gcp", ""), "the file is not of aws", 1),
            (HEAD.to_owned(), "the file is not of aws", 1),
            (dated("aws", "[[volume]]\nid = 'v'\nkey.size = { unit = 'GiB' }\n"), "a dated file defines no volumes", 9),
            (dated("aws", "[machine_limits]\nm = []\n"), "a dated file defines no limits", 1),
            (dated("aws", "[source.a1]\ntitle = 't'\n"), "the source `a1` does not begin with `renewed-`", 1),
            (dated("aws", &table("us-east-1 0.1 0.2")), "`us-east-1` has 2 cells for 1 columns", 13),
            (dated("aws", &table("us-east-1 cheap")), "`us-east-1` has a cell that is no number", 12),
            (dated("aws", &table("us-east-1 -0.1")), "`-0.1` is not a number", 13),
            (dated("aws", &table("us-east-1 1e999")), "`1e999` is not a number", 13),
            (dated("aws", "[[table]]\nid = 'prices'\ncolumns"), "key with no value, expected `=`", 11),
            (
                dated("aws", "[[table]]\nid = 'prices'\nsource = 'renewed-x'\ncolumns = 'gp3_gb'\nrows = ''\n"),
                "unknown source `renewed-x`",
                11,
            ),
        ] {
            let problems = read(&text(&file), "aws").expect_err(message);
            let place = problems[0].place.as_ref().map(|place| place.line);
            assert_eq!((problems[0].what.as_str(), place), (message, Some(line)), "{file}");
        }
    }
}

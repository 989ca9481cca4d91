//! AWS: the price list as a CSV table. Each row is one price, with all attributes of its product.

use csv::{ByteRecord, ReaderBuilder};
use units::{Place, Problem, ProblemCode};

use crate::aws::{Attributes, Dimension, check_offer_code, priced};
use crate::collect::{Collector, shown};
use crate::input::OfferInput;
use crate::list::SkipReason;

/// Columns that are read. The first ones are needed.
const COLUMNS: [&str; 20] = [
    "SKU",
    "TermType",
    "Unit",
    "PricePerUnit",
    "Currency",
    "usageType",
    "Region Code",
    "Location Type",
    "EffectiveDate",
    "StartingRange",
    "EndingRange",
    "Instance Type",
    "Operating System",
    "Tenancy",
    "Pre Installed S/W",
    "CapacityStatus",
    "License Model",
    "MarketOption",
    "vCPU",
    "Memory",
];
/// Number of columns without which no price can be read.
const NEEDED: usize = 7;

/// The columns of a table by position.
struct Header {
    /// Positions of `COLUMNS`.
    at: [Option<usize>; COLUMNS.len()],
    columns: usize,
}

impl Header {
    fn read(record: &ByteRecord) -> Result<Self, Problem> {
        let position = |name: &str| record.iter().position(|field| field.eq_ignore_ascii_case(name.as_bytes()));
        let at = COLUMNS.map(position);
        match at.iter().take(NEEDED).position(Option::is_none) {
            Some(missing) => {
                Err(Problem::error(ProblemCode::Offers, format!("the table has no column `{}`", COLUMNS[missing]))
                    .help("download index.csv of AmazonEC2 again, or give index.json"))
            }
            None => Ok(Self { at, columns: record.len() }),
        }
    }
}

/// A row that has as many fields as the header.
struct Row<'a> {
    header: &'a Header,
    record: &'a ByteRecord,
}

impl Row<'_> {
    fn field(&self, column: &str) -> Result<String, Problem> {
        let at = COLUMNS.iter().position(|known| *known == column).and_then(|at| self.header.at[at]);
        let bytes = at.and_then(|at| self.record.get(at)).unwrap_or_default();
        String::from_utf8(bytes.to_vec())
            .map_err(|_| Problem::error(ProblemCode::Encoding, "the table is not UTF-8 text").help("download it again"))
    }

    fn add(&self, offers: &mut Collector) -> Result<(), Problem> {
        if self.field("TermType")? != "OnDemand" {
            offers.skip(SkipReason::NotOnDemand);
            return Ok(());
        }
        let sku = self.field("SKU")?;
        let optional = |column: &str| self.field(column).map(|text| Some(text).filter(|text| !text.is_empty()));
        let attributes = Attributes {
            usagetype: optional("usageType")?,
            location_type: optional("Location Type")?,
            region_code: optional("Region Code")?,
            instance_type: optional("Instance Type")?,
            operating_system: optional("Operating System")?,
            tenancy: optional("Tenancy")?,
            pre_installed_sw: optional("Pre Installed S/W")?,
            capacitystatus: optional("CapacityStatus")?,
            license_model: optional("License Model")?,
            marketoption: optional("MarketOption")?,
            vcpu: optional("vCPU")?,
            memory: optional("Memory")?,
        };
        let named = |problem: Problem| problem.of(format!("SKU {}", shown(&sku)));
        let Some(priced) = priced(&attributes, offers).map_err(named)? else { return Ok(()) };
        let dimension = Dimension {
            unit: self.field("Unit")?,
            begin_range: optional("StartingRange")?,
            end_range: optional("EndingRange")?,
            price_per_unit: [(self.field("Currency")?, self.field("PricePerUnit")?)].into(),
        };
        priced.add(&sku, Some(&self.field("EffectiveDate")?), &dimension, offers).map_err(named)
    }
}

pub(crate) fn read_price_list(input: &mut OfferInput<'_>, offers: &mut Collector) -> Result<(), Problem> {
    input.expect_table();
    let source = input.source();
    let mut header: Option<Header> = None;
    let mut record = ByteRecord::new();
    let mut rows = 0_u64;
    let read = {
        let mut table = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&mut *input);
        loop {
            match table.read_byte_record(&mut record) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(Failure::Read(error)),
            }
            let line = record.position().map_or(1, |position| usize::try_from(position.line()).unwrap_or(1));
            let read = match &header {
                None => metadata(&record, offers).and_then(|is_header| {
                    header = if is_header { Some(Header::read(&record)?) } else { None };
                    Ok(())
                }),
                Some(header) if header.columns == record.len() => {
                    rows += 1;
                    Row { header, record: &record }.add(offers)
                }
                Some(header) => Err(Problem::error(
                    ProblemCode::CutOff,
                    format!("a row has {} fields instead of {}", record.len(), header.columns),
                )
                .help("download the table again: it is incomplete or damaged")),
            };
            if let Err(problem) = read {
                let place = Place { source: source.into(), line, column: 1, length: 0, text: "".into() };
                break Err(Failure::Row(problem.at(place)));
            }
        }
    };
    match read {
        Err(Failure::Row(problem)) => return Err(problem),
        Err(Failure::Read(error)) => {
            let otherwise = || {
                Problem::error(ProblemCode::UnreadableInput, format!("the table is damaged: {error}"))
                    .help("download it again")
            };
            let problem = input.take_problem().unwrap_or_else(otherwise);
            return Err(input.locate(problem));
        }
        Ok(()) => {}
    }
    let cut_off = match (header, rows) {
        _ if input.ended_in_quotes() => "the table ends within quotes",
        (None, _) => "the table ends before the names of its columns",
        (Some(_), 0) => "the table ends after the names of its columns",
        _ => return Ok(()),
    };
    Err(input.locate(Problem::error(ProblemCode::CutOff, cut_off).help("download it again: it is incomplete")))
}

enum Failure {
    Read(csv::Error),
    Row(Problem),
}

/// Reads a row before the names of the columns; reports whether it has these names.
fn metadata(record: &ByteRecord, offers: &mut Collector) -> Result<bool, Problem> {
    let has = |name: &str| record.iter().any(|field| field == name.as_bytes());
    if has("SKU") || (has("TermType") && has("PricePerUnit")) {
        return Ok(true);
    }
    let field = |at: usize| String::from_utf8_lossy(record.get(at).unwrap_or_default()).into_owned();
    match field(0).as_str() {
        "OfferCode" => check_offer_code(&field(1))?,
        "Publication Date" => drop(offers.date(&field(1))?),
        _ if record.len() > 2 => {
            return Err(Problem::error(
                ProblemCode::UnreadableInput,
                "the table has no row with the names of its columns",
            )
            .help("download index.csv of AmazonEC2 again"));
        }
        _ => {}
    }
    Ok(false)
}

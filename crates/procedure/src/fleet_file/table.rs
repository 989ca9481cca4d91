//! Tables of volumes: a header, and a row for each volume.

use std::collections::BTreeMap;

use csv::{ReaderBuilder, StringRecord, Trim};
use results::plan::current::CurrentSource;
use units::{Place, Problem, ProblemCode, suggestion};

use super::{FleetFile, FleetVolume, VOLUMES_MAX, too_many};
use crate::plan_words::PlanWords;

/// Columns, in any order.
const COLUMNS: [&str; 13] = [
    "name",
    "volume",
    "machine",
    "iops",
    "throughput",
    "bs",
    "read",
    "capacity",
    "latency",
    "p99",
    "region",
    "count",
    "p999",
];
/// Most problems that are reported of one file.
const PROBLEMS_MAX: usize = 20;
/// Most volumes of one row.
const COUNT_MAX: u32 = 100_000;

/// A table with its columns.
struct Table<'a> {
    name: &'a str,
    text: &'a str,
    columns: Vec<usize>,
    problems: Vec<Problem>,
}

/// Reads a table. Values are separated by the character that separates the names of its header: a comma, a semicolon or
/// a tab.
pub(super) fn read(name: &str, text: &str) -> Result<FleetFile, Vec<Problem>> {
    let header = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let separator =
        *b",;\t".iter().max_by_key(|byte| header.bytes().filter(|one| one == *byte).count()).unwrap_or(&b',');
    // The last of equals is the maximum.
    let separator = if header.bytes().any(|byte| byte == separator) { separator } else { b',' };
    let mut reader = ReaderBuilder::new();
    reader.delimiter(separator).trim(Trim::All).flexible(true).has_headers(false);
    let mut table = Table { name, text, columns: Vec::new(), problems: Vec::new() };
    let mut volumes: Vec<FleetVolume> = Vec::new();
    for (index, record) in reader.from_reader(text.as_bytes()).records().enumerate() {
        let record = match record {
            Ok(record) => record,
            // The text is UTF-8 and rows may have any length.
            Err(_) => return Err(vec![Problem::error(ProblemCode::UnreadableInput, format!("{name} is no table"))]),
        };
        match index {
            0 => table.header(&record),
            _ => volumes.extend(table.row(&record)),
        }
        if volumes.len() > VOLUMES_MAX {
            return Err(vec![too_many(name)]);
        }
        if table.problems.len() >= PROBLEMS_MAX || index == 0 && !table.problems.is_empty() {
            break;
        }
    }
    if !table.problems.is_empty() {
        return Err(table.problems);
    }
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    for volume in &volumes {
        *names.entry(volume.name.clone()).or_default() += 1;
    }
    for volume in &mut volumes {
        let line = volume.place.as_ref().map_or(0, |place| place.line);
        if volume.name.is_empty() {
            volume.name = format!("line {line}");
        } else if names.get(&volume.name).is_some_and(|count| *count > 1) {
            volume.name = format!("{} (line {line})", volume.name);
        }
    }
    Ok(FleetFile { volumes, skipped: Vec::new() })
}

impl Table<'_> {
    /// Reads the names of the columns.
    fn header(&mut self, record: &StringRecord) {
        let is_known = |word: &str| COLUMNS.contains(&word.to_ascii_lowercase().as_str());
        let remedy =
            || format!("begin with a header, such as name,volume,machine,iops; columns: {}", COLUMNS.join(", "));
        if record.len() > 1 && !record.iter().any(is_known) {
            return self.refuse(record, record.len(), "no header: no column has a known name".to_owned(), remedy());
        }
        for (index, word) in record.iter().enumerate() {
            let lower = word.to_ascii_lowercase();
            let Some(column) = COLUMNS.iter().position(|known| *known == lower) else {
                let listed = || format!("use {}", COLUMNS.join(", "));
                let remedy = suggestion(&lower, COLUMNS.into_iter(), listed);
                self.refuse(record, index, format!("unknown column `{word}`"), remedy);
                continue;
            };
            if self.columns.contains(&column) {
                self.refuse(record, index, format!("duplicate column `{word}`"), "name each column once".to_owned());
            }
            self.columns.push(column);
        }
        if self.problems.is_empty() && !self.columns.contains(&1) {
            self.refuse(record, record.len(), "no column `volume`".to_owned(), remedy());
        }
    }

    fn row(&mut self, record: &StringRecord) -> Option<FleetVolume> {
        if record.iter().all(str::is_empty) {
            return None;
        }
        if record.len() != self.columns.len() {
            let what = format!("{} values for {} columns", record.len(), self.columns.len());
            let remedy = "quote values that contain the separator: \"aws/gp3,size=2TiB,iops=9000\"";
            self.refuse(record, record.len(), what, remedy.to_owned());
            return None;
        }
        let index = |name: &str| self.columns.iter().position(|column| COLUMNS[*column] == name);
        let value = |name: &str| {
            let text = record.get(index(name)?)?;
            (!text.is_empty()).then(|| text.to_owned())
        };
        let Some(volume) = value("volume") else {
            let at = index("volume").unwrap_or_default();
            self.refuse(
                record,
                at,
                "no volume".to_owned(),
                "name it as in the catalogue: aws/gp3,size=2TiB".to_owned(),
            );
            return None;
        };
        let count = value("count").map_or(Ok(1), |text| text.parse::<u32>());
        let Some(count) = count.ok().filter(|count| (1..=COUNT_MAX).contains(count)) else {
            let at = index("count").unwrap_or_default();
            let what = format!("`{}` is not a whole number from 1 to {COUNT_MAX}", record.get(at).unwrap_or_default());
            self.refuse(record, at, what, "leave it empty for one volume".to_owned());
            return None;
        };
        let words = PlanWords {
            iops: value("iops"),
            throughput: value("throughput"),
            bs: value("bs"),
            read: value("read"),
            capacity: value("capacity"),
            latency: value("latency"),
            p99: value("p99"),
            p999: value("p999"),
            ..PlanWords::default()
        };
        Some(FleetVolume {
            name: value("name").unwrap_or_default(),
            volume,
            words,
            machine: value("machine"),
            region: value("region"),
            count,
            source: CurrentSource::Table,
            place: Some(self.place(record, record.len())),
        })
    }

    fn refuse(&mut self, record: &StringRecord, field: usize, what: String, remedy: String) {
        let place = self.place(record, field);
        self.problems.push(Problem::error(ProblemCode::Plan, what).at(place).help(remedy));
    }

    /// Returns the place of a value, or of a row if it has no such value.
    fn place(&self, record: &StringRecord, field: usize) -> Place {
        let start = record.position().map_or(0, |position| position.byte() as usize).min(self.text.len());
        // Empty lines before a row belong to it.
        let start = start + self.text[start..].find(|c: char| !c.is_whitespace()).unwrap_or(0);
        let line = self.text[start..].lines().next().unwrap_or_default();
        let Some(value) = record.get(field).filter(|value| !value.is_empty()) else {
            return Place::of_text(self.name, self.text, start..start + line.len());
        };
        // The value after those before it.
        let mut at = start;
        for before in record.iter().take(field).filter(|before| !before.is_empty()) {
            at = self.text[at..].find(before).map_or(at, |found| at + found + before.len());
        }
        let at = self.text[at..].find(value).map_or(start, |found| at + found);
        Place::of_text(self.name, self.text, at..at + value.len())
    }
}

//! Tables of machines and tiers.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use units::{Problem, ProblemCode, closest};

use super::reference::SourceId;
use super::rule::RuleValue;

/// A table of machines or tiers. Several tables may have one ID and are searched together; one may have several IDs.
#[derive(Clone, Debug)]
pub(super) struct RateTable {
    /// IDs by which volumes use the table.
    pub ids: Vec<String>,
    pub columns: Vec<String>,
    pub rows: Vec<TableRow>,
    pub source: Option<SourceId>,
    /// Rows by name, made on first use.
    index: OnceLock<RowIndex>,
    /// Whether it is of a dated file that is laid over the catalogue.
    pub is_renewed: bool,
}

/// Rows of a table by name.
#[derive(Clone, Debug, Default)]
struct RowIndex {
    /// Rows whose names are no patterns, by name in lower case.
    exact: BTreeMap<String, Vec<usize>>,
    patterns: Vec<usize>,
}

/// A name or pattern, and a cell per column.
#[derive(Clone, Debug)]
pub(super) struct TableRow {
    pub name: String,
    pub cells: Vec<Cell>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Unknown,
    Is(RuleValue),
    /// The number matched by the pattern's range.
    Matched,
}

/// ID of the tables that say which machines take which volumes. Their rows are machines, or beginnings of their names
/// up to a `-`; their columns hold `yes`, `no`, `on-request` or `-` for unknown.
pub(super) const ATTACHMENTS: &str = "attachments";
/// ID of the tables with processors, memory and attachments of machines, which have words.
pub(super) const MACHINES: &str = "machines";
pub(super) const NO: &str = "no";
pub(super) const ON_REQUEST: &str = "on-request";
const WORDS: [&str; 3] = ["yes", NO, ON_REQUEST];

impl TableRow {
    /// Checks the cells of a row of attachments.
    pub(super) fn of_attachments(self) -> Result<Self, Problem> {
        let is_wrong = |cell: &&Cell| match cell {
            Cell::Is(RuleValue::Word(word)) => !WORDS.contains(&word.as_str()),
            other => **other != Cell::Unknown,
        };
        match self.cells.iter().find(is_wrong) {
            Some(_) => Err(Problem::error(
                ProblemCode::Volume,
                format!("`{}` has an invalid cell: use {} or -", self.name, WORDS.join(", ")),
            )),
            None => Ok(self),
        }
    }

    /// Returns the number in a cell.
    pub(super) fn number(&self, column: usize) -> Option<f64> {
        match self.cells.get(column)? {
            Cell::Is(value) => value.number(),
            _ => None,
        }
    }

    /// Returns the number of characters of the name that are no pattern.
    fn literals(&self) -> usize {
        self.name.chars().filter(|c| !matches!(c, '*' | '{' | '}')).count()
    }
}

/// The row that matches a machine's name, with its figures; `None` is unknown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoundRow {
    pub row: String,
    pub cells: Vec<(String, Option<RuleValue>)>,
    pub source: Option<SourceId>,
}

impl RateTable {
    pub(super) fn new(ids: Vec<String>, columns: Vec<String>, rows: Vec<TableRow>, source: Option<SourceId>) -> Self {
        Self { ids, columns, rows, source, index: OnceLock::new(), is_renewed: false }
    }

    /// Returns the rows that match a name, each with the number that its range matched.
    fn matches<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a TableRow, Option<f64>)> {
        let index = self.index.get_or_init(|| {
            let mut index = RowIndex::default();
            for (at, row) in self.rows.iter().enumerate() {
                match row.name.contains(['*', '{']) {
                    true => index.patterns.push(at),
                    false => index.exact.entry(row.name.to_ascii_lowercase()).or_default().push(at),
                }
            }
            index
        });
        let exact = index.exact.get(&name.to_ascii_lowercase()).into_iter().flatten();
        let exact = exact.map(|at| (&self.rows[*at], None));
        let patterns = index.patterns.iter().map(|at| &self.rows[*at]);
        exact.chain(patterns.filter_map(move |row| Some((row, matching(&row.name, name)?))))
    }

    pub(super) fn has_id(&self, id: &str) -> bool {
        self.ids.iter().any(|known| known == id)
    }

    /// Parses `name cell cell…`.
    pub(super) fn row(columns: &[String], line: &str) -> Result<TableRow, Problem> {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default().to_owned();
        let cells: Vec<Cell> = words.map(cell).collect::<Result<_, _>>()?;
        if cells.len() != columns.len() {
            return Err(Problem::error(
                ProblemCode::Volume,
                format!("`{name}` has {} cells for {} columns", cells.len(), columns.len()),
            ));
        }
        // Bounds the time of matching, which is exponential in stars.
        if name.matches('*').count() > 3 {
            return Err(Problem::error(ProblemCode::Volume, format!("`{name}` has more than three `*`")));
        }
        if !well_formed(&name) {
            return Err(Problem::error(
                ProblemCode::Volume,
                format!("`{name}` has an invalid range: use {{2..8}} or {{2..}}"),
            ));
        }
        if cells.contains(&Cell::Matched) && !name.contains('{') {
            return Err(Problem::error(ProblemCode::Volume, format!("`{name}` uses `#` without a range to match")));
        }
        Ok(TableRow { name, cells })
    }

    fn get(&self, row: &TableRow, matched: Option<f64>) -> FoundRow {
        let value = |cell: &Cell| match cell {
            Cell::Unknown => None,
            Cell::Is(value) => Some(value.clone()),
            Cell::Matched => matched.map(RuleValue::Number),
        };
        let cells = self.columns.iter().cloned().zip(row.cells.iter().map(value)).collect();
        FoundRow { row: row.name.clone(), cells, source: self.source.clone() }
    }
}

fn cell(word: &str) -> Result<Cell, Problem> {
    Ok(match word {
        "-" => Cell::Unknown,
        "#" => Cell::Matched,
        _ => Cell::Is(match word.replace('_', "").parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => RuleValue::Number(number),
            Ok(_) => {
                return Err(Problem::error(ProblemCode::Volume, format!("`{word}` is not a number"))
                    .help("use a number of at least 0, or `-` for unknown"));
            }
            Err(_) => RuleValue::Word(word.to_owned()),
        }),
    })
}

/// Returns a pattern with the first number of each range: `n2-*-8` for `n2-*-{8..15}`.
pub(super) fn first_name(pattern: &str) -> String {
    let mut parts = pattern.split('{');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (range, rest) = part.split_once('}').unwrap_or((part, ""));
        name.push_str(range.split("..").next().unwrap_or_default());
        name.push_str(rest);
    }
    name
}

/// Reports whether all braces of a pattern enclose a range of whole numbers.
fn well_formed(pattern: &str) -> bool {
    let mut parts = pattern.split('{');
    let before = parts.next().is_some_and(|literal| !literal.contains('}'));
    before
        && parts.all(|part| {
            let range = part.split_once('}').filter(|(_, rest)| !rest.contains('}'));
            let ends = range.and_then(|(range, _)| range.split_once(".."));
            let least = ends.and_then(|(least, _)| least.parse::<u64>().ok());
            let most = ends.and_then(|(_, most)| if most.is_empty() { Some(u64::MAX) } else { most.parse().ok() });
            least.zip(most).is_some_and(|(least, most)| least <= most)
        })
}

/// Finds the row of a machine: the match with the most literal characters, the first of equals. Its unknown cells are
/// taken from the next best.
pub(super) fn find(tables: &[RateTable], id: &str, machine: &str) -> Option<FoundRow> {
    spellings(machine).iter().find_map(|name| find_as(tables, id, name))
}

/// Returns the names under which a machine may stand in a table: the given one and, as Azure writes them, that without
/// `Standard_` and that without its number of usable processors: `E8-4ds_v5` has the limits of `E8ds_v5`.
fn spellings(machine: &str) -> Vec<String> {
    const TIER: &str = "standard_";
    let plain = machine.get(..TIER.len()).filter(|start| start.eq_ignore_ascii_case(TIER));
    let plain = plain.map_or(machine, |tier| &machine[tier.len()..]);
    let usable = plain.split_once('-').filter(|(size, _)| size.ends_with(|c: char| c.is_ascii_digit()));
    let whole = usable.map(|(size, rest)| format!("{size}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit())));
    let mut names = vec![machine.to_owned(), plain.to_owned()];
    names.extend(whole);
    names.dedup();
    names
}

fn find_as(tables: &[RateTable], id: &str, machine: &str) -> Option<FoundRow> {
    let mut matches = Vec::new();
    for table in tables.iter().filter(|table| table.has_id(id)) {
        for (row, matched) in table.matches(machine) {
            matches.push((usize::MAX - row.literals(), table.get(row, matched)));
        }
    }
    matches.sort_by_key(|(rank, _)| *rank);
    let mut found = matches.into_iter().map(|(_, found)| found);
    let mut best = found.next()?;
    for (column, value) in found.flat_map(|other| other.cells) {
        match best.cells.iter_mut().find(|(known, _)| *known == column) {
            Some((_, known)) => *known = known.take().or(value),
            None => best.cells.push((column, value)),
        }
    }
    Some(best)
}

/// Returns the processors of a machine, if a table has a column for them.
pub(super) fn vcpus(tables: &[RateTable], id: &str, machine: &str) -> Option<u32> {
    let found = find(tables, id, machine)?;
    let (_, value) = found.cells.into_iter().find(|(column, _)| column == "vcpus")?;
    value?.number().map(|vcpus| vcpus as u32)
}

/// Returns the tier for a size in GiB: the first whose `upto_gib` suffices.
pub(super) fn tier(tables: &[RateTable], id: &str, gib: f64) -> Option<FoundRow> {
    let table = tables.iter().find(|table| table.has_id(id))?;
    table.rows.iter().map(|row| table.get(row, None)).find(|found| upto_gib(found) >= gib)
}

/// Returns the maximum sizes of a table's tiers in GiB.
pub(super) fn tiers(tables: &[RateTable], id: &str) -> Vec<f64> {
    let table = tables.iter().find(|table| table.has_id(id));
    let rows = |table: &RateTable| table.rows.iter().map(|row| upto_gib(&table.get(row, None))).collect();
    table.map_or_else(Vec::new, rows)
}

/// Returns a tier by its name, in any case, with its maximum size in GiB.
pub(super) fn tier_named(tables: &[RateTable], id: &str, name: &str) -> Option<(String, f64)> {
    let table = tables.iter().find(|table| table.has_id(id))?;
    let row = table.rows.iter().find(|row| row.name.eq_ignore_ascii_case(name))?;
    Some((row.name.clone(), upto_gib(&table.get(row, None))))
}

fn upto_gib(found: &FoundRow) -> f64 {
    let cell = found.cells.iter().find(|(column, _)| column == "upto_gib");
    cell.and_then(|(_, value)| value.as_ref()?.number()).unwrap_or(f64::INFINITY)
}

/// Returns the rows of tables with their words in a column, where there are some.
pub(super) fn column<'a>(
    tables: &'a [RateTable],
    id: &'a str,
    column: &'a str,
) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
    let tables = tables.iter().filter(move |table| table.has_id(id));
    tables.flat_map(move |table| {
        let at = table.columns.iter().position(|known| known == column);
        table.rows.iter().filter_map(move |row| match row.cells.get(at?)? {
            Cell::Is(RuleValue::Word(word)) => Some((row.name.as_str(), word.as_str())),
            _ => None,
        })
    })
}

/// Returns what the tables of attachments say of a machine in a column, with the source. The row with the most literal
/// characters holds.
pub(super) fn attachment<'a>(
    tables: &'a [RateTable],
    column: &str,
    machine: &str,
) -> Option<(&'a str, Option<SourceId>)> {
    let names = spellings(machine);
    let is_named = |row: &&TableRow| names.iter().any(|name| begins(&row.name, name));
    let of_table = |table: &'a RateTable| {
        let at = table.columns.iter().position(|known| known == column);
        table.rows.iter().filter(is_named).filter_map(move |row| match row.cells.get(at?)? {
            Cell::Is(RuleValue::Word(word)) => Some((row.literals(), word.as_str(), table.source.clone())),
            _ => None,
        })
    };
    let found = tables.iter().filter(|table| table.has_id(ATTACHMENTS)).flat_map(of_table);
    found.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, word, source)| (word, source))
}

/// Reports whether a name begins with a pattern, and ends there or has a `-` behind it.
fn begins(pattern: &str, name: &str) -> bool {
    let ends = name.match_indices('-').map(|(at, _)| at).chain([name.len()]);
    ends.into_iter().any(|end| matching(pattern, &name[..end]).is_some())
}

/// Reports whether any table has the machine, or its series and the name a number behind it: `c4-standard-8`.
pub(super) fn known<'a>(mut tables: impl Iterator<Item = &'a RateTable>, machine: &str) -> bool {
    let names = spellings(machine);
    let is_number = |part: &str| part.trim_end_matches('g').parse::<u32>().is_ok();
    let has_number = machine.split('-').skip(1).any(is_number);
    tables.any(|table| {
        let is_of_series =
            |row: &TableRow| table.has_id(ATTACHMENTS) && row.literals() > 0 && begins(&row.name, machine);
        let is_any = names.iter().any(|name| table.matches(name).next().is_some());
        is_any || has_number && table.rows.iter().any(is_of_series)
    })
}

/// Returns the name in the tables that is nearest to an unknown one; patterns keep their stars.
pub(super) fn nearest<'a>(tables: impl Iterator<Item = &'a RateTable>, machine: &str) -> Option<&'a str> {
    let of_machines = tables.filter(|table| !table.has_id(ATTACHMENTS));
    closest(machine, of_machines.flat_map(|table| &table.rows).map(|row| row.name.as_str()))
}

/// Matches a name against a pattern, in which `*` is any text without `-` and `{2..7}` or `{64..}` a whole number in
/// this range. Returns that number.
fn matching(pattern: &str, name: &str) -> Option<Option<f64>> {
    let Some(special) = pattern.find(['*', '{']) else {
        return pattern.eq_ignore_ascii_case(name).then_some(None);
    };
    let (literal, rest) = (&pattern[..special], &pattern[special..]);
    let head = name.get(..literal.len()).filter(|head| head.eq_ignore_ascii_case(literal))?;
    let name = &name[head.len()..];
    if let Some(rest) = rest.strip_prefix('*') {
        let end = name.find('-').unwrap_or(name.len());
        return (0..=end).filter(|at| name.is_char_boundary(*at)).find_map(|at| matching(rest, &name[at..]));
    }
    let (range, rest) = rest[1..].split_once('}')?;
    let (least, most) = range.split_once("..")?;
    let end = name.find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len());
    let number: u64 = name[..end].parse().ok()?;
    let inside = number >= least.parse().ok()? && most.parse().map_or(most.is_empty(), |most: u64| number <= most);
    matching(rest, &name[end..]).filter(|_| inside).map(|_| Some(number as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&str]) -> Vec<RateTable> {
        let columns = vec!["vcpus".to_owned(), "iops".to_owned()];
        let rows = rows.iter().map(|row| RateTable::row(&columns, row).unwrap()).collect();
        vec![RateTable::new(vec!["t".to_owned()], columns, rows, None)]
    }

    fn iops(tables: &[RateTable], machine: &str) -> Option<f64> {
        find(tables, "t", machine)?.cells.pop()?.1?.number()
    }

    #[test]
    fn machine_patterns_match_names_stars_and_ranges() {
        let tables = table(&["c4d-*-8 8 50_000", "c4d-*-384 384 1", "n1-*-{2..7} # 2", "n1-*-{64..} # 3", "x4 - -"]);
        assert_eq!(iops(&tables, "c4d-standard-8"), Some(50_000.0));
        assert_eq!(iops(&tables, "C4D-highmem-384"), Some(1.0));
        assert_eq!(iops(&tables, "c4d-standard-384-metal"), None);
        assert_eq!(iops(&tables, "n1-standard-4"), Some(2.0));
        assert_eq!(iops(&tables, "n1-standard-8"), None);
        assert_eq!(iops(&tables, "n1-highmem-96"), Some(3.0));
        let found = find(&tables, "t", "n1-highmem-96").unwrap();
        assert_eq!(found.cells[0].1, Some(RuleValue::Number(96.0)));
        assert!(known(tables.iter(), "x4") && iops(&tables, "x4").is_none() && !known(tables.iter(), "n4-standard-2"));
        assert_eq!(nearest(tables.iter(), "c4d-std-8"), Some("c4d-*-8"));
    }

    #[test]
    fn azure_sizes_are_found_by_their_full_names() {
        let tables = table(&["D2s_v5 2 3_750", "E8ds_v5 8 12_800", "n1-*-{2..7} # 2"]);
        for (machine, expected) in
            [("Standard_D2s_v5", 3_750.0), ("standard_d2s_v5", 3_750.0), ("Standard_E8-4ds_v5", 12_800.0)]
        {
            assert_eq!(iops(&tables, machine), Some(expected), "{machine}");
            assert!(known(tables.iter(), machine));
        }
        assert_eq!(iops(&tables, "n1-4"), None);
    }

    #[test]
    fn the_most_specific_row_wins_and_others_fill_its_gaps() {
        let tables = table(&["m4-* 1 2", "m4-*-16 - 3", "m4-big-16 7 -"]);
        let found = find(&tables, "t", "m4-big-16").unwrap();
        assert_eq!(found.cells[0].1, Some(RuleValue::Number(7.0)));
        assert_eq!(found.cells[1].1, Some(RuleValue::Number(3.0)));
    }
}

//! Reads PostgreSQL's `pg_stat_io`, as `psql` prints it: aligned, expanded (`\x`), as CSV, or every few seconds
//! (`\watch`).

use super::iostat::{BlockTitles, series};
use super::stated::{StatedLoad, input, mean_of, result};
use super::text::InputText;
use super::{Input, InputResult};
use units::Problem;

use crate::{DataKind, JobResult};

const REMEDY: &str = "create it with `psql --csv -c 'SELECT * FROM pg_stat_io'`";

/// Reports whether a text contains the view.
pub(super) fn is_in(text: &InputText) -> bool {
    tables(text).iter().any(PostgresTable::is_of_io)
}

/// Names of columns, and the values of each row.
#[derive(Debug, Default)]
struct PostgresTable {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Seconds between tables, which `\watch` prints above each.
    every_s: Option<f64>,
    /// Line on which it begins.
    line: usize,
}

impl PostgresTable {
    fn is_of_io(&self) -> bool {
        let has = |name: &str| self.names.iter().any(|known| known == name);
        (has("backend_type") || has("object") || has("context"))
            && (has("reads") || has("writes"))
            && !self.rows.is_empty()
    }

    fn value<'a>(&self, row: &'a [String], name: &str) -> Option<&'a str> {
        let at = self.names.iter().position(|known| known == name)?;
        row.get(at).map(String::as_str)
    }

    fn number(&self, row: &[String], name: &str) -> f64 {
        self.value(row, name)
            .and_then(|text| text.replace(',', "").parse().ok())
            .filter(|n: &f64| (0.0..u64::MAX as f64).contains(n))
            .unwrap_or(0.0)
    }

    /// Reports whether a row has more operations than in a later table: that is of another server, or after a reset.
    fn exceeds(&self, later: &Self) -> bool {
        let counts = |table: &Self, row: &[String]| ["reads", "writes"].map(|name| table.number(row, name));
        self.rows.iter().any(|row| {
            let same = later.rows.iter().find(|known| later.name(known) == self.name(row));
            same.is_some_and(|same| {
                counts(self, row).iter().zip(counts(later, same)).any(|(count, later)| *count > later)
            })
        })
    }

    /// Returns the name of a row: who did what kind of operations.
    fn name(&self, row: &[String]) -> String {
        let parts = ["backend_type", "object", "context"].map(|name| self.value(row, name).unwrap_or_default());
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

fn tables(text: &InputText) -> Vec<PostgresTable> {
    let mut tables: Vec<PostgresTable> = Vec::new();
    let mut every_s = None;
    let mut open = false;
    for (index, line) in text.whole_lines() {
        let cells = |separator: char| line.split(separator).map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let every = line.split_once("(every ").and_then(|(_, rest)| rest.split_once('s')?.0.parse().ok());
        every_s = every.or(every_s);
        if line.trim_start().starts_with("-[ RECORD ") {
            if line.contains("RECORD 1 ") {
                tables.push(PostgresTable { every_s, line: index, ..PostgresTable::default() });
            }
            open = false;
            if let Some(table) = tables.last_mut() {
                table.rows.push(Vec::new());
            }
            continue;
        }
        let separator = if line.contains('|') { '|' } else { ',' };
        let mut cells = cells(separator);
        // Markdown has a separator at both ends.
        if cells.len() > 2 && cells[0].is_empty() && cells[cells.len() - 1].is_empty() {
            cells = cells[1..cells.len() - 1].to_vec();
        }
        if cells.iter().any(|cell| cell == "backend_type" || cell == "context" || cell == "reads") && cells.len() > 2 {
            tables.push(PostgresTable { names: cells, every_s, line: index, ..PostgresTable::default() });
            open = true;
        } else if cells.len() == 2 && !open && separator == '|' {
            if let Some(table) = tables.last_mut() {
                let first = table.rows.len() == 1;
                if first {
                    table.names.push(cells[0].clone());
                }
                if let Some(row) = table.rows.last_mut() {
                    row.push(cells[1].clone());
                }
            }
        } else if let Some(table) = tables.last_mut().filter(|table| open && table.names.len() == cells.len())
            && !cells.iter().all(|cell| cell.bytes().all(|byte| matches!(byte, b'-' | b':' | b'+')))
        {
            table.rows.push(cells);
        }
    }
    tables
}

/// Reads all tables, and leaves out idle servers. Several are of one server at different times, unless counts fall from one
/// to the next.
pub(super) fn read(text: &InputText) -> Result<Vec<InputResult>, Problem> {
    let tables: Vec<PostgresTable> = tables(text).into_iter().filter(PostgresTable::is_of_io).collect();
    if tables.is_empty() {
        return Err(text.cut_off(text.len(), "it contains no row of `pg_stat_io`", REMEDY));
    }
    let titles = BlockTitles::of(text);
    let is_title = |line: &str| !line.contains(['|', ',']) && !line.contains(" rows)") && titles.has(line);
    let title_lines: Vec<usize> =
        text.lines().enumerate().filter(|(_, line)| is_title(line)).map(|(index, _)| index).collect();
    let begins: Vec<usize> = tables.iter().map(|table| table.line).collect();
    let lines = series(&title_lines, &begins, text.len());
    let part_of = |table: &PostgresTable| lines.partition_point(|lines| lines.end <= table.line);
    let is_series = |a: &PostgresTable, b: &PostgresTable| part_of(a) == part_of(b) && !a.exceeds(b);
    let parts: Vec<&[PostgresTable]> = tables.chunk_by(is_series).collect();
    let count = parts.len();
    let part = |(number, tables): (usize, &[PostgresTable])| {
        let cut_note = text.cut_note().filter(|_| number + 1 == count);
        let line = tables.first().map_or(0, |table| table.line) + 1;
        Some(InputResult { line, input: of_tables(tables, cut_note)? })
    };
    let used: Vec<InputResult> = parts.into_iter().enumerate().filter_map(part).collect();
    if used.is_empty() {
        return Err(text.cut_off(text.len(), "no row of `pg_stat_io` contains a read, write or sync", REMEDY));
    }
    Ok(used)
}

/// Reads the tables of one server; `None` if it was idle.
fn of_tables(tables: &[PostgresTable], cut_note: Option<String>) -> Option<Input> {
    let (table, before) = tables.split_last()?;
    let first = before.first();
    // Of several tables, the increase from the first to the last counts.
    let seconds = first.and(table.every_s).map(|every| every * before.len() as f64);
    let before = |row: &[String], name: &str| {
        let first = first?;
        let same = first.rows.iter().find(|known| first.name(known) == table.name(row))?;
        Some(first.number(same, name))
    };
    let increase = |row: &[String], name: &str| (table.number(row, name) - before(row, name).unwrap_or(0.0)).max(0.0);
    let mut jobs: Vec<JobResult> = Vec::new();
    let (mut extends, mut extend_ms) = (0.0, 0.0);
    let (mut untracked, mut missing) = (false, Vec::new());
    for row in &table.rows {
        let figure = |name: &str| increase(row, name);
        let block = Some(table.number(row, "op_bytes")).filter(|bytes| *bytes > 0.0).unwrap_or(8192.0);
        let mut job = result(&table.name(row), 0, jobs.len(), &StatedLoad::default());
        job.declared.engine = "postgresql".to_owned();
        // Reads and writes of the database go through the page cache of the system.
        job.declared.queues = false;
        for (kind, count, time, bytes) in [
            (DataKind::Read, "reads", "read_time", "read_bytes"),
            (DataKind::Write, "writes", "write_time", "write_bytes"),
        ] {
            let count = figure(count);
            if count == 0.0 {
                continue;
            }
            let bytes = Some(figure(bytes)).filter(|bytes| *bytes > 0.0).unwrap_or(count * block);
            let latency = mean_of(count as u64, figure(time) * 1e6);
            match table.names.iter().any(|name| name == time) {
                true => untracked |= latency.count == 0,
                false if missing.contains(&time) => {}
                false => missing.push(time),
            }
            match seconds {
                Some(seconds) => job.set_rate(kind, count / seconds, bytes / seconds, Some(seconds), latency),
                None => job.set_count(kind, count as u64, bytes as u64, latency),
            }
        }
        job.result.sync = mean_of(figure("fsyncs") as u64, figure("fsync_time") * 1e6);
        (extends, extend_ms) = (extends + figure("extends"), extend_ms + figure("extend_time"));
        if job.result.ios() > 0 || job.result.sync.count > 0 {
            jobs.push(job);
        }
    }
    if jobs.is_empty() {
        return None;
    }
    let mut notes = Vec::new();
    if seconds.is_none() {
        let since =
            table.rows.first().and_then(|row| table.value(row, "stats_reset")).filter(|since| !since.is_empty());
        let since = since.map_or_else(|| "the last reset".to_owned(), |since| format!("the reset at {since}"));
        let what = if first.is_some() { "between two views" } else { "since" };
        let since = if first.is_some() { String::new() } else { format!(" {since}") };
        notes.push(format!("counted {what}{since}: rates are unknown. Use `\\watch 10`"));
    }
    if untracked {
        notes.push("times are missing: `track_io_timing` (and `track_wal_io_timing`) was off".to_owned());
    }
    if !missing.is_empty() {
        let (names, verb) = (missing.join("` and `"), if missing.len() == 1 { "is" } else { "are" });
        notes.push(format!("times are missing: `{names}` {verb} not among the columns"));
    }
    if extends > 0.0 {
        let mean = extend_ms / extends;
        let each = if mean > 0.0 { format!(", {mean:.3} ms each,") } else { String::new() };
        notes.push(format!("{extends:.0} file extensions{each} do not count as writes"));
    }
    notes.extend(cut_note);
    Some(input("postgresql", jobs, &notes))
}

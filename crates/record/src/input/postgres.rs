//! Reads PostgreSQL's `pg_stat_io`, as `psql` prints it: aligned, expanded (`\x`), as CSV, or every few seconds
//! (`\watch`).

use super::stated::{StatedLoad, input, mean_of, result};
use super::text::InputText;
use super::{Input, InputError};
use crate::{DataKind, JobResult};

const REMEDY: &str = "make it with `psql --csv -c 'SELECT * FROM pg_stat_io'`";

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
            .filter(|n: &f64| *n >= 0.0)
            .unwrap_or(0.0)
    }

    /// Returns the name of a row: who did what kind of operations.
    fn name(&self, row: &[String]) -> String {
        let parts = ["backend_type", "object", "context"].map(|name| self.value(row, name).unwrap_or_default());
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the tables of a text.
fn tables(text: &InputText) -> Vec<PostgresTable> {
    let mut tables: Vec<PostgresTable> = Vec::new();
    let mut every_s = None;
    let mut open = false;
    for (_, line) in text.whole_lines() {
        let cells = |separator: char| line.split(separator).map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let every = line.split_once("(every ").and_then(|(_, rest)| rest.split_once('s')?.0.parse().ok());
        every_s = every.or(every_s);
        if line.trim_start().starts_with("-[ RECORD ") {
            if line.contains("RECORD 1 ") {
                tables.push(PostgresTable { every_s, ..PostgresTable::default() });
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
            tables.push(PostgresTable { names: cells, every_s, ..PostgresTable::default() });
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

pub(super) fn read(text: &InputText) -> Result<Input, InputError> {
    let mut tables: Vec<PostgresTable> = tables(text).into_iter().filter(PostgresTable::is_of_io).collect();
    let first = if tables.len() > 1 { Some(tables.swap_remove(0)) } else { None };
    let Some(table) = tables.pop() else {
        return Err(text.cut_off(text.len(), "there is no row of `pg_stat_io` in it", REMEDY));
    };
    // Of several tables, the increase from the first to the last counts.
    let between = tables.len() as f64 + 1.0;
    let seconds = first.as_ref().and(table.every_s).map(|every| every * between);
    let before = |row: &[String], name: &str| {
        let first = first.as_ref()?;
        let same = first.rows.iter().find(|known| first.name(known) == table.name(row))?;
        Some(first.number(same, name))
    };
    let increase = |row: &[String], name: &str| (table.number(row, name) - before(row, name).unwrap_or(0.0)).max(0.0);
    let mut jobs: Vec<JobResult> = Vec::new();
    let (mut extends, mut extend_ms, mut untracked) = (0.0, 0.0, false);
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
            untracked |= latency.count == 0;
            match seconds {
                Some(seconds) => job.set_rate(kind, count / seconds, bytes / seconds, Some(seconds), latency),
                None => job.set_count(kind, count as u64, bytes as u64, latency),
            }
        }
        job.result.sync = mean_of(figure("fsyncs") as u64, figure("fsync_time") * 1e6);
        (extends, extend_ms) = (extends + figure("extends"), extend_ms + figure("extend_time"));
        if job.result.ios() + job.result.sync.count > 0 {
            jobs.push(job);
        }
    }
    if jobs.is_empty() {
        return Err(text.cut_off(text.len(), "no row of `pg_stat_io` has a read, write or sync", REMEDY));
    }
    let mut notes = Vec::new();
    if seconds.is_none() {
        let since =
            table.rows.first().and_then(|row| table.value(row, "stats_reset")).filter(|since| !since.is_empty());
        let since = since.map_or_else(|| "the last reset".to_owned(), |since| format!("the reset at {since}"));
        let what = if first.is_some() { "between two views" } else { "since" };
        let since = if first.is_some() { String::new() } else { format!(" {since}") };
        notes.push(format!("counted {what}{since}: rates are not known. `\\watch 10` has them"));
    }
    if untracked {
        notes.push("times are missing: `track_io_timing` (and `track_wal_io_timing`) was off".to_owned());
    }
    if extends > 0.0 {
        let mean = extend_ms / extends;
        let each = if mean > 0.0 { format!(", {mean:.3} ms each,") } else { String::new() };
        notes.push(format!("{extends:.0} extends of files{each} do not count as writes"));
    }
    notes.extend(text.cut_note());
    Ok(input("postgresql", jobs, &notes))
}

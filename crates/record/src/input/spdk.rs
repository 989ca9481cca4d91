//! Reads the tables of SPDK's `spdk_nvme_perf` and `bdevperf`.

use super::iostat::columns;
use super::stated::{StatedLoad, input, result};
use super::text::{CUT_LINE, InputText};
use super::{Input, InputResult};
use units::Problem;

use crate::{DataKind, LatencyStats};

const REMEDY: &str = "pass the whole table, from `Device Information` on";

/// Reports whether a text contains such a table.
pub(super) fn is_in(text: &InputText) -> bool {
    text.lines().any(|line| head(line).is_some() || old_row(line).is_some())
}

/// Returns the names of the columns of a table: `Device Information : IOPS MiB/s Average min max`.
fn head(line: &str) -> Option<Vec<String>> {
    let names = line.trim_start_matches(['#', ' ', '\t']).strip_prefix("Device Information")?.trim_start();
    let names = names.strip_prefix(':')?.split_whitespace();
    // The unit of latencies stands above the names, or between them.
    let names: Vec<String> = names.filter(|name| !name.starts_with("Latency")).map(str::to_owned).collect();
    names.iter().any(|name| name == "IOPS").then_some(names)
}

/// Returns name, IOPS and MiB/s of a row of `bdevperf` up to 2020: `NVMe0n1 : 103938.83 IO/s 406.01 MB/s`.
fn old_row(line: &str) -> Option<(&str, f64, f64)> {
    let (name, rest) = line.rsplit_once(" : ").or_else(|| line.rsplit_once(':'))?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words[..] {
        [iops, "IO/s", mib, "MB/s" | "MiB/s"] => Some((name.trim(), iops.parse().ok()?, mib.parse().ok()?)),
        _ => None,
    }
}

/// What a command line, or the line above a row of `bdevperf`, says about the load.
#[derive(Clone, Debug, Default)]
struct SpdkLoad {
    load: StatedLoad,
    seconds: Option<f64>,
    read_share: Option<f64>,
}

impl SpdkLoad {
    /// Reports whether a line says anything of the load.
    fn is_in(line: &str) -> bool {
        line.contains("perf ") || line.trim().starts_with("Job: ")
    }

    /// Takes what a line says: `perf -q 128 -o 4096 -w randread -t 60`, or `Job: Nvme0n1 (Core Mask 0x1, workload:
    /// randread, depth: 128, IO size: 4096)`.
    fn take(&mut self, line: &str) {
        if let Some((_, of)) = line.trim().strip_prefix("Job: ").and_then(|job| job.split_once('(')) {
            for pair in of.trim_end_matches(')').split(',') {
                match pair.split_once(':').map(|(key, value)| (key.trim(), value.trim())) {
                    Some(("workload", rw)) => self.load.rw = of_workload(rw),
                    Some(("percentage", percent)) => self.read_share = percent.parse().ok().map(|p: f64| p / 100.0),
                    Some(("depth", depth)) => self.load.depth = depth.parse().ok(),
                    Some(("IO size", bytes)) => self.load.block_bytes = bytes.parse().ok(),
                    _ => {}
                }
            }
        } else if line.contains("perf ") {
            let mut words = line.split_whitespace().skip_while(|word| !word.ends_with("perf")).skip(1);
            while let Some(word) = words.next() {
                let mut value = || words.next().unwrap_or_default();
                match word {
                    "-q" | "--io-depth" => self.load.depth = value().parse().ok(),
                    "-o" | "--io-size" => self.load.block_bytes = value().parse().ok(),
                    "-w" | "--io-pattern" => self.load.rw = of_workload(value()),
                    "-t" | "--time" => self.seconds = value().parse().ok(),
                    "-M" | "--rwmixread" => self.read_share = value().parse().ok().map(|p: f64| p / 100.0),
                    _ => {}
                }
            }
        }
    }

    /// Returns the fraction of reads; `None` if it is unknown.
    fn reads(&self) -> Option<f64> {
        match self.load.rw.as_str() {
            "read" | "randread" => Some(1.0),
            "write" | "randwrite" => Some(0.0),
            "rw" | "randrw" => self.read_share,
            _ => None,
        }
    }
}

/// Returns fio's name of a workload; none for those that fio does not have, as `flush` and `verify`.
fn of_workload(name: &str) -> String {
    let known = ["read", "write", "rw", "randread", "randwrite", "randrw"];
    if known.contains(&name) { name.to_owned() } else { String::new() }
}

struct SpdkRow {
    name: String,
    iops: f64,
    mib_per_second: f64,
    latency: LatencyStats,
    load: SpdkLoad,
}

/// Results of a call, below one table.
#[derive(Default)]
struct SpdkTable {
    line: usize,
    columns: Vec<String>,
    rows: Vec<SpdkRow>,
    /// Row that the percentiles below belong to.
    percentiles_of: Option<usize>,
    is_ended: bool,
}

/// Reads all tables, each of a call of its own.
pub(super) fn read(text: &InputText) -> Result<Vec<InputResult>, Problem> {
    let mut tables = vec![SpdkTable::default()];
    // What is said of the load since the last table, which the next one has.
    let (mut load, mut is_of_table) = (SpdkLoad::default(), false);
    let mut notes = Vec::new();
    let last = text.lines().rposition(|line| !line.trim().is_empty());
    for (index, line) in text.lines().enumerate() {
        if is_of_table && SpdkLoad::is_in(line) && tables.last().is_some_and(|table| table.is_ended) {
            (load, is_of_table) = (SpdkLoad::default(), false);
        }
        load.take(line);
        let columns = head(line);
        let is_next = |table: &SpdkTable| !table.rows.is_empty() && (columns.is_some() || table.is_ended);
        if (columns.is_some() || old_row(line).is_some()) && tables.last().is_some_and(is_next) {
            if is_of_table {
                load = SpdkLoad::default();
            }
            tables.push(SpdkTable::default());
        }
        let Some(table) = tables.last_mut() else { continue };
        if let Some(columns) = columns {
            (table.line, table.columns, is_of_table) = (index, columns, true);
        } else if let Some((name, iops, mib_per_second)) = old_row(line) {
            is_of_table = true;
            if name == "Total" {
                table.is_ended = true;
            } else {
                let latency = LatencyStats::default();
                table.rows.push(SpdkRow { name: name.to_owned(), iops, mib_per_second, latency, load: load.clone() });
            }
        } else if let Some(name) = line.trim().strip_prefix("Summary latency data for ") {
            let name = compact(name.trim_end_matches(':'));
            table.percentiles_of = table.rows.iter().rposition(|row| compact(&row.name) == name);
        } else if let Some((percent, ns)) = percentile(line) {
            if let Some(row) = table.percentiles_of.and_then(|row| table.rows.get_mut(row)) {
                row.latency.quoted.push((percent, ns));
            }
        } else if is_total(line) {
            table.is_ended = true;
        } else if !table.columns.is_empty() {
            match row(text, index, &table.columns, &load) {
                Ok(read) => table.rows.extend(read),
                Err(_) if Some(index) == last && !table.rows.is_empty() => {
                    notes.push(CUT_LINE.to_owned());
                }
                Err(error) => return Err(error),
            }
        }
    }
    tables.retain(|table| !table.rows.is_empty());
    if tables.is_empty() {
        return Err(text.cut_off(text.len(), "no device follows `Device Information`", REMEDY));
    }
    let count = tables.len();
    let part = |(number, table): (usize, SpdkTable)| {
        let notes = if number + 1 == count { std::mem::take(&mut notes) } else { Vec::new() };
        InputResult { line: table.line + 1, input: of_rows(table.rows, notes) }
    };
    Ok(tables.into_iter().enumerate().map(part).collect())
}

/// Reports whether a line is the sum of the rows above it.
fn is_total(line: &str) -> bool {
    line.trim_start_matches(['#', ' ', '\t']).split_once(':').is_some_and(|(name, _)| name.trim_end() == "Total")
}

/// Names differ in the number of blanks.
fn compact(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns percent and nanoseconds of a line `  99.00000% :    12.345us`.
fn percentile(line: &str) -> Option<(f64, u64)> {
    let (percent, value) = line.trim().split_once("% :")?;
    let us: f64 = value.trim().strip_suffix("us")?.parse().ok()?;
    Some((percent.trim().parse().ok()?, (us * 1e3).round() as u64))
}

fn row(text: &InputText, index: usize, names: &[String], load: &SpdkLoad) -> Result<Option<SpdkRow>, Problem> {
    let line = text.line(index).trim_start_matches('#');
    let Some((name, values)) = line.rsplit_once(": ").filter(|(name, _)| !name.trim().is_empty()) else {
        return Ok(None);
    };
    let values: Vec<(f64, u32)> = values.split_whitespace().map_while(columns::number).collect();
    if values.is_empty() || line.trim_start().starts_with("Job: ") {
        return Ok(None);
    }
    if values.len() < names.len() {
        let what = format!("{} values for {} columns: the row is truncated", values.len(), names.len());
        return Err(text.error(index, line.trim(), what, REMEDY));
    }
    if values[names.len() - 1].1 != values[0].1 {
        let what = "the last value has fewer decimals than the others: the row is truncated";
        return Err(text.error(index, line.trim(), what, REMEDY));
    }
    let value = |wanted: &[&str]| {
        names
            .iter()
            .position(|name| wanted.contains(&name.as_str()))
            .and_then(|at| values.get(at))
            .map(|(value, _)| *value)
    };
    let ns = |name: &str| value(&[name]).unwrap_or(0.0) * 1e3;
    let latency = LatencyStats {
        mean_ns: ns("Average"),
        min_ns: ns("min") as u64,
        max_ns: ns("max") as u64,
        ..LatencyStats::default()
    };
    Ok(Some(SpdkRow {
        name: compact(name),
        iops: value(&["IOPS"]).unwrap_or(0.0),
        mib_per_second: value(&["MiB/s", "MB/s"]).unwrap_or(0.0),
        latency,
        load: SpdkLoad { seconds: value(&["runtime(s)"]).or(load.seconds), ..load.clone() },
    }))
}

fn of_rows(rows: Vec<SpdkRow>, mut notes: Vec<String>) -> Input {
    const MIB: f64 = 1024.0 * 1024.0;
    let mut mixed = false;
    let mut jobs = Vec::new();
    for (number, row) in rows.into_iter().enumerate() {
        let mut job = result(&row.name, 0, number, &row.load.load);
        job.declared.engine = "spdk".to_owned();
        (job.declared.direct, job.declared.direct_told) = (true, true);
        mixed |= row.load.reads().is_none();
        let reads = row.load.reads().unwrap_or(1.0);
        for (kind, share) in [(DataKind::Read, reads), (DataKind::Write, 1.0 - reads)] {
            if share > 0.0 {
                let (iops, bytes) = (row.iops * share, row.mib_per_second * MIB * share);
                job.set_rate(kind, iops, bytes, row.load.seconds, row.latency.clone());
            }
        }
        jobs.push(job);
    }
    if mixed {
        notes.push("the table does not separate reads and writes, so all count as reads".to_owned());
    }
    if jobs.iter().any(|job| job.untimed) {
        notes.push("the duration is not printed".to_owned());
    }
    input("spdk", jobs, &notes)
}

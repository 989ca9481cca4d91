//! Reads `pgstat -s io`, which prints what was added to PostgreSQL's `pg_stat_io` in each interval. The first row is what
//! was counted before.

use super::Input;
use super::iostat::columns;
use super::stated::{StatedLoad, input, mean_of, result};
use super::text::InputText;
use units::Problem;

use crate::DataKind;

/// Returns the names of the columns; a time of day stands before them with `-t`.
fn head(line: &str) -> Option<Vec<&str>> {
    let names = line.rsplit_once("-----").map_or(line, |(_, names)| names);
    let names: Vec<&str> = names.split_whitespace().collect();
    let is_head = !line.contains(['|', ',']) && names.contains(&"reads") && names.contains(&"read_time");
    is_head.then_some(names)
}

/// Reports whether a text contains such a table.
pub(super) fn is_in(text: &InputText) -> bool {
    text.lines().any(|line| head(line).is_some())
}

/// A row: its second of the day, if printed, and its numbers.
type PgstatRow = (Option<f64>, Vec<f64>);

fn row(line: &str, columns_count: usize) -> Option<PgstatRow> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (time, values) = words.split_at_checked(words.len().checked_sub(columns_count)?)?;
    let values = values.iter().map(|word| columns::number(word).map(|(value, _)| value)).collect::<Option<Vec<_>>>()?;
    Some((columns::second_of_day(&time.join(" ")), values))
}

/// Reads the rows after the first one, or that alone.
pub(super) fn read(text: &InputText) -> Result<Input, Problem> {
    const DAY_S: f64 = 86_400.0;
    let mut names: Vec<&str> = Vec::new();
    let mut rows: Vec<PgstatRow> = Vec::new();
    for (_, line) in text.whole_lines() {
        match head(line) {
            Some(of_head) => names = of_head,
            None if !names.is_empty() => rows.extend(row(line, names.len())),
            None => {}
        }
    }
    let is_since_reset = rows.len() == 1;
    let counted = if is_since_reset { rows.as_slice() } else { rows.get(1..).unwrap_or_default() };
    let times = rows.first().and_then(|row| row.0).zip(rows.last().and_then(|row| row.0));
    let seconds = times.map(|(first, last)| (last - first).rem_euclid(DAY_S)).filter(|s| *s > 0.0 && !is_since_reset);
    let sum = |name: &str| -> f64 {
        let column = names.iter().position(|known| *known == name);
        column.map_or(0.0, |column| counted.iter().filter_map(|(_, values)| values.get(column)).sum())
    };
    let block = Some(sum("op_bytes") / counted.len().max(1) as f64).filter(|bytes| *bytes > 0.0).unwrap_or(8192.0);
    let mut job = result("all backends", 0, 0, &StatedLoad::default());
    job.declared.engine = "postgresql".to_owned();
    job.declared.queues = false;
    for (kind, count, time) in [(DataKind::Read, "reads", "read_time"), (DataKind::Write, "writes", "write_time")] {
        let (count, bytes, latency) = (sum(count), sum(count) * block, mean_of(sum(count) as u64, sum(time) * 1e6));
        match seconds {
            _ if count == 0.0 => {}
            Some(s) => job.set_rate(kind, count / s, bytes / s, Some(s), latency),
            None => job.set_count(kind, count as u64, bytes as u64, latency),
        }
    }
    job.result.sync = mean_of(sum("fsyncs") as u64, sum("fsync_time") * 1e6);
    if job.result.ios() == 0 && job.result.sync.count == 0 {
        let remedy = "run it while the load runs: `pgstat -t -s io 1 30`";
        let what = match rows.is_empty() {
            true => "no complete row follows the column header of `pgstat`",
            false => "no row of `pgstat` contains a read, write or sync",
        };
        return Err(text.cut_off(text.len(), what, remedy));
    }
    let mut notes = vec!["pgstat adds up all backends".to_owned()];
    if is_since_reset {
        notes.push("the only row was counted since the last reset: rates are unknown".to_owned());
    } else if seconds.is_none() {
        notes.push("the rows have no timestamps, so rates are unknown: use `-t`".to_owned());
    }
    notes.extend(text.cut_note());
    Ok(input("postgresql", vec![job], &notes))
}

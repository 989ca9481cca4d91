//! Parser of the lines after the results: reporting groups and devices.

use super::figures::{NormalLine, integer, percent, rate, runtime, size};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use units::Problem;

use crate::input::text::{Printed, line_number};
use crate::{DataKind, DiskUse, Quote, Quoted};

/// Reads `READ: bw=94.1MiB/s (98.7MB/s), 94.1MiB/s-94.1MiB/s (…), io=2823MiB (2960MB), run=30001-30001msec`, or of
/// version 2 `io=102400KB, aggrb=51200KB/s, minb=…, maxb=…, mint=2000msec, maxt=2000msec`. Mixed kinds count as reads.
pub(super) fn group(line: NormalLine<'_>) -> Result<Option<(DataKind, Vec<Quote>)>, Problem> {
    let kind = match line.text.split_once(": ").map(|(word, _)| word) {
        Some("READ" | "MIXED") => DataKind::Read,
        Some("WRITE") => DataKind::Write,
        Some("TRIM") => DataKind::Trim,
        _ => return Ok(None),
    };
    let version_2 = line.find("aggrb").is_some();
    let first = |text: &str| text.split(" (").next().unwrap_or_default().to_owned();
    // Authors shorten these lines.
    let figure = |name: &str| line.find(name).is_some();
    let mut quotes = Vec::new();
    let mut add = |what, number: Printed| quotes.push(quote(line, what, Some(kind), number.value, number.step));
    let name = if version_2 { "aggrb" } else { "bw" };
    if figure(name) {
        add(Quoted::GroupBytesPerSecond, line.figure(name, |text| rate(&first(text), version_2))?);
    }
    if figure("io") {
        add(Quoted::GroupBytes, line.figure("io", |text| size(&first(text), version_2))?);
    }
    if version_2 && figure("mint") && figure("maxt") {
        add(Quoted::GroupRuntimeNs, line.figure("mint", runtime)?);
        add(Quoted::GroupRuntimeNs, line.figure("maxt", runtime)?);
    } else if !version_2 && figure("run") {
        let (shortest, longest) = line.figure("run", |text| {
            let (shortest, longest) = text.split_once('-')?;
            Some((runtime(&format!("{shortest}msec"))?, runtime(longest)?))
        })?;
        add(Quoted::GroupRuntimeNs, shortest);
        add(Quoted::GroupRuntimeNs, longest);
    }
    if quotes.len() < FIGURES && line.may_be_cut() {
        return Err(line.error(line.text, "the line is truncated"));
    }
    Ok(Some((kind, quotes)))
}

/// Figures of the status of a kind.
const FIGURES: usize = 4;

/// Reports whether a line is a whole status of a kind.
pub(super) fn is_whole_group(line: NormalLine<'_>) -> bool {
    matches!(group(line), Ok(Some((_, quotes))) if quotes.len() == FIGURES)
}

/// Reports whether a line has the bandwidth of a kind, of a group whose results may be missing.
pub(super) fn is_rates_of_group(line: NormalLine<'_>) -> bool {
    matches!(group(line), Ok(Some((_, quotes))) if quotes.iter().any(|quote| quote.what == Quoted::GroupBytesPerSecond))
}

fn quote(line: NormalLine<'_>, what: Quoted, kind: Option<DataKind>, value: f64, step: f64) -> Quote {
    Quote { what, kind, value, step, line: line_number(line.index), of: None }
}

/// Reads `nvme0n1: ios=722944/0, merge=0/0, ticks=913000/0, in_queue=913000, util=99.20%`. Stacked devices continue
/// with means over the devices below them (`aggrios=…`), which follow on lines of their own.
pub(super) fn disk(line: NormalLine<'_>) -> Result<Option<(DiskUse, Vec<Quote>)>, Problem> {
    let Some((name, _)) = line.text.split_once(": ios=") else { return Ok(None) };
    // Web pages break long lines.
    if line.find("util").is_none() {
        return Ok(None);
    }
    let pair = |text: &str| {
        let (read, write) = text.split_once('/')?;
        Some((integer(read)?, integer(write)?))
    };
    let (read_ios, write_ios) = line.figure("ios", pair)?;
    let (read_sectors, write_sectors) = match line.find("sectors") {
        Some(_) => line.figure("sectors", pair)?,
        None => (0, 0),
    };
    let (read_merges, write_merges) = line.figure("merge", pair)?;
    let (read_ticks_ms, write_ticks_ms) = line.figure("ticks", pair)?;
    let in_queue_ms = line.figure("in_queue", integer)?;
    let util_percent = line.figure("util", percent)?;
    // Stacked devices continue with these figures, perhaps on another line.
    if line.find("aggrutil").is_some() {
        line.figure("aggrutil", percent)?;
    }
    let util_step = if line.find("util").is_some_and(|util| util.contains('.')) { 1e-4 } else { 1e-2 };
    let kinds = [(DataKind::Read, read_ios, read_ticks_ms), (DataKind::Write, write_ios, write_ticks_ms)];
    let mut quotes = Vec::new();
    for (kind, ios, ticks_ms) in kinds.into_iter().filter(|(_, ios, _)| *ios > 0) {
        quotes.push(quote(line, Quoted::DeviceOperations, Some(kind), ios as f64, 1.0));
        quotes.push(quote(line, Quoted::DeviceTicksNs, Some(kind), ticks_ms as f64 * 1e6, 1e6));
    }
    quotes.push(quote(line, Quoted::DeviceInQueueNs, None, in_queue_ms as f64 * 1e6, 1e6));
    quotes.push(quote(line, Quoted::DeviceUtilisation, None, util_percent / 100.0, util_step));
    quotes.iter_mut().for_each(|quote| quote.of = Some(name.to_owned()));
    let disk = DiskUse {
        name: name.to_owned(),
        read_ios,
        write_ios,
        read_sectors,
        write_sectors,
        read_merges,
        write_merges,
        read_ticks_ms,
        write_ticks_ms,
        in_queue_ms,
        util_percent,
    };
    Ok(Some((disk, quotes)))
}

/// Parses the date at the end of a result's first line, `Sun Mar 29 15:54:16 2026`, as UTC into milliseconds since
/// 1970.
pub(super) fn ctime_ms(line: &str) -> Option<u64> {
    let mut words: Vec<&str> = line.split_whitespace().rev().take(4).collect();
    words.reverse();
    let date = DateTime::strptime("%b %d %H:%M:%S %Y", words.join(" ")).ok()?;
    date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_parsed() {
        let date = |text: &str| ctime_ms(text).map(|ms| ms / 1000);
        assert_eq!(date("x: pid=1: Thu Jan  1 00:00:00 1970"), Some(0));
        assert_eq!(date("x: pid=1: Sun Mar 29 15:54:16 2026"), Some(1_774_799_656));
        assert_eq!(date("x: pid=1: Thu Feb 29 23:59:59 2024"), Some(1_709_251_199));
        assert_eq!((date("pid=1: Sun Mar"), date("Sun Mar 0 1:1:1 2026")), (None, None));
    }
}

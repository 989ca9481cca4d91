//! Reads `sar -d`: the columns of `iostat` for each device, below and beside the times of their intervals.

use std::collections::{BTreeMap, BTreeSet};

use units::{Problem, significant};

use super::iostat::{
    self, BlockTitles, CounterFormat, Iostat, IostatDevice, IostatReport, columns, pretty, take_banner,
};
use super::text::{CUT_LINE, InputText, is_elision, line_number};

const REMEDY: &str = "create it with `LC_ALL=C sar -d -p 1 30`, or `LC_ALL=C sar -d -p -f FILE`";

/// Reports whether a text contains a table of devices of `sar`.
pub(super) fn is_in(text: &InputText) -> bool {
    text.lines().any(|line| SarHead::parse(line).is_some())
}

/// The line above the rows of an interval: `12:00:01 AM DEV tps rkB/s …`, or `12:00:01 AM tps rkB/s … DEV` with `-p` of
/// version 12.
struct SarHead {
    /// Words before the columns.
    before: usize,
    /// Whether the names of devices stand behind their values.
    is_device_last: bool,
    /// Time at the start of the interval; `None` above averages.
    second: Option<f64>,
    names: Vec<String>,
    /// Number of values on the first line of a row, if rows were wrapped as the names are.
    wrapped: Option<usize>,
    has_rows: bool,
}

impl SarHead {
    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let device = words.iter().position(|word| *word == "DEV")?;
        let first = words.iter().position(|word| *word == "tps")?;
        let is_device_last = device + 1 == words.len();
        let (before, names) =
            if is_device_last { (first, &words[first..device]) } else { (device, &words[device + 1..]) };
        let second = columns::second_of_day(&words[..before].join(" "));
        (is_device_last || device < first).then(|| Self {
            before,
            is_device_last,
            second,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            wrapped: None,
            has_rows: false,
        })
    }

    /// Takes the names on the line below it, if they were wrapped.
    fn continued(mut self, below: &str) -> Self {
        let more: Vec<&str> = below.split_whitespace().collect();
        let are_names = !more.is_empty() && more.iter().all(|word| columns::is_column(word));
        self.wrapped = (are_names && !self.is_device_last).then_some(self.names.len());
        if self.wrapped.is_some() {
            self.names.extend(more.into_iter().map(str::to_owned));
        }
        self
    }

    /// Returns a row together with the line below it, if that has the rest of its values.
    fn joined(&self, line: &str, below: &str) -> Option<String> {
        let first = self.wrapped?;
        let is_rest = below.split_whitespace().all(|word| columns::number(word).is_some())
            && below.split_whitespace().count() + first == self.names.len();
        let is_row = self.row(line).is_some_and(|row| row.values.len() == first);
        (is_rest && is_row).then(|| format!("{line} {below}"))
    }

    /// Splits a row into its time, device and values; `None` for a line that is no row, complete or cut off.
    fn row<'a>(&self, line: &'a str) -> Option<SarRow<'a>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_average = is_average(words.first()?);
        // Averages have one word before their columns, where times may have two.
        let before = if is_average { 1 } else { self.before };
        let (when, cells) = words.split_at_checked(before)?;
        let is_row = is_average || before > 0 && columns::second_of_day(&when.join(" ")).is_some();
        if !is_row && (before > 0 || cells.len() != self.names.len() + 1) {
            return None;
        }
        let (device, values) = if self.is_device_last { cells.split_last()? } else { cells.split_first()? };
        Some(SarRow { when: when.join(" "), is_average, device, values: values.to_vec() })
    }
}

/// Reports whether a word introduces averages, in any language: `Average:`.
fn is_average(word: &str) -> bool {
    word.ends_with(':') && columns::second_of_day(word).is_none()
}

/// Reports whether a line is a comment in the records, as `sar -C` prints it: `10:00:15 AM  COM text`.
fn is_comment(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "COM").filter(|at| *at < 3);
    at.is_some_and(|at| columns::second_of_day(&words[..at].join(" ")).is_some())
}

struct SarRow<'a> {
    when: String,
    is_average: bool,
    device: &'a str,
    values: Vec<&'a str>,
}

#[derive(Default)]
struct SarReader {
    /// Separate outputs before the current one.
    blocks: Vec<Iostat>,
    iostat: Iostat,
    /// Averages over all intervals, which repeat them.
    averages: Vec<IostatDevice>,
    head: Option<SarHead>,
    /// Time of the report at the end of the series, while rows of it may follow.
    when: Option<String>,
    /// Whether a title stands below the last table.
    is_titled: bool,
}

pub(super) fn read(text: &InputText) -> Result<Vec<Iostat>, Problem> {
    let titles = BlockTitles::of(text);
    let mut reader = SarReader::default();
    reader.iostat.format = CounterFormat::Sar;
    let last = (0..text.len()).rfind(|&index| !text.line(index).trim().is_empty());
    // Wrapped rows have two lines.
    let is_end = |index: usize, reader: &SarReader| {
        let is_wrapped = reader.head.as_ref().is_some_and(|head| head.wrapped.is_some());
        Some(index) == last || is_wrapped && Some(index + 1) == last
    };
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let below = lines.peek().map_or("", |(_, below)| *below);
        let joined = reader.head.as_ref().and_then(|head| head.joined(line, below));
        let line = joined
            .as_deref()
            .inspect(|_| {
                let _ = lines.next();
            })
            .unwrap_or(line);
        let mut banner = Iostat::default();
        if take_banner(&mut banner, line) {
            if reader.is_titled || reader.iostat.host.as_ref().is_some_and(|host| Some(host) != banner.host.as_ref()) {
                reader.end_block();
            }
            (reader.iostat.host, reader.iostat.cpus, reader.head) = (banner.host, banner.cpus, None);
        } else if let Some(head) = SarHead::parse(line) {
            if reader.is_titled {
                reader.end_block();
            }
            let head = head.continued(below);
            if head.wrapped.is_some() {
                lines.next();
            }
            (reader.head, reader.when) = (Some(head), None);
        } else if line.trim().is_empty() {
            // A page may have empty lines between the names and the rows.
            reader.head.take_if(|head| head.has_rows);
        } else if !is_elision(line) && !is_comment(line) {
            match reader.row(text, index, line) {
                Ok(true) => {}
                Ok(false) => {
                    reader.head = None;
                    let first = line.split_whitespace().next().unwrap_or_default();
                    reader.is_titled |= titles.has(line) && !is_average(first);
                }
                Err(_) if is_end(index, &reader) && reader.has_rows() => reader.leave_out(line),
                Err(error) => return Err(error),
            }
        }
    }
    reader.end_block();
    if reader.blocks.is_empty() {
        return Err(text.cut_off(text.len(), "no device follows the column header", REMEDY));
    }
    Ok(reader.blocks)
}

impl SarReader {
    fn has_rows(&self) -> bool {
        !self.iostat.reports.is_empty() || !self.averages.is_empty()
    }

    /// Leaves out a row that is cut off. Its interval is left out too if there are others and no idle device has a row: as
    /// with `-z`, the device without one would seem idle.
    fn leave_out(&mut self, line: &str) {
        let when = self.head.as_ref().and_then(|head| head.row(line)).filter(|row| !row.is_average).map(|row| row.when);
        let is_of_last = when.is_some() && when == self.when;
        let has_idle = self.iostat.reports.iter().flat_map(|report| &report.devices).any(IostatDevice::is_idle);
        if is_of_last && !has_idle && self.iostat.reports.len() > 1 {
            self.iostat.reports.pop();
            self.iostat.notes.push("the last interval is truncated within a row and ignored".to_owned());
        } else {
            self.iostat.notes.push(CUT_LINE.to_owned());
        }
    }

    /// Ends an output, if it has rows. The next one may be of the same host.
    fn end_block(&mut self) {
        self.is_titled = false;
        if !self.has_rows() {
            return;
        }
        let next = Iostat {
            format: CounterFormat::Sar,
            host: self.iostat.host.clone(),
            cpus: self.iostat.cpus,
            ..Iostat::default()
        };
        let mut iostat = std::mem::replace(&mut self.iostat, next);
        let averages = std::mem::take(&mut self.averages);
        let gaps = missing_rows(&iostat.reports, &averages);
        iostat.notes.extend(gaps.as_ref().map(MissingRows::note));
        if iostat.reports.is_empty() || gaps.is_some_and(|gaps| gaps.is_within) {
            let seconds = iostat.reports.iter().map(|report| report.seconds).sum::<Option<f64>>();
            let (line, seconds) = (averages[0].line, seconds.filter(|seconds| *seconds > 0.0));
            iostat.reports = vec![IostatReport { line, seconds, devices: averages, ..IostatReport::default() }];
        }
        self.when = None;
        self.blocks.push(iostat);
    }

    /// Takes a row; `false` for a line that is none.
    fn row(&mut self, text: &InputText, index: usize, line: &str) -> Result<bool, Problem> {
        let Some(head) = &mut self.head else { return Ok(false) };
        let Some(row) = head.row(line) else { return Ok(false) };
        if row.values.len() != head.names.len() {
            let what = format!("{} values for {} columns", row.values.len(), head.names.len());
            return Err(text.error(index, line.trim(), what, REMEDY));
        }
        // With units, the decimals of a row differ.
        let has_units = row.values.iter().any(|word| word.ends_with(pretty::UNITS));
        let plain = |(name, word): (&String, &&str)| pretty::plain(word, name).filter(|_| has_units);
        let plain: Vec<Option<String>> = head.names.iter().zip(&row.values).map(plain).collect();
        let words = row.values.iter().zip(&plain).map(|(word, plain)| plain.as_deref().unwrap_or(word));
        let cells = head.names.iter().map(String::as_str).zip(words);
        let device = iostat::device(text, index, row.device, cells, ("sar", REMEDY))?;
        head.has_rows = true;
        if row.is_average {
            self.averages.push(device);
            return Ok(true);
        }
        let is_next = |report: &IostatReport| report.devices.iter().any(|known| known.name == device.name);
        if self.when.as_ref() != Some(&row.when) || self.iostat.reports.last().is_some_and(is_next) {
            let second = columns::second_of_day(&row.when);
            let passed = second.zip(head.second).map(|(end, begin)| (end - begin).rem_euclid(86_400.0));
            self.iostat.reports.push(IostatReport {
                when: Some(row.when.clone()).filter(|when| !when.is_empty()),
                seconds: passed.filter(|seconds| *seconds > 0.0),
                line: line_number(index),
                ..IostatReport::default()
            });
            head.second = second;
            self.when = Some(row.when);
        }
        if let Some(report) = self.iostat.reports.last_mut() {
            report.devices.push(device);
        }
        Ok(true)
    }
}

/// Rows that were left out of an output, as its averages show.
struct MissingRows {
    device: String,
    /// Operations per second of the rows, and of the averages.
    iops: [f64; 2],
    /// Whether they are missing between others, which makes one interval of several.
    is_within: bool,
}

impl MissingRows {
    fn note(&self) -> String {
        let [of_rows, average] = self.iops.map(|iops| significant(iops, 3));
        let used = if self.is_within { "the averages are used" } else { "the rows are used" };
        format!(
            "rows are missing: the rows of {} give {of_rows} operations per second, but sar's average is {average}; \
             {used}",
            self.device
        )
    }
}

/// Returns the first device whose average contradicts its rows.
fn missing_rows(reports: &[IostatReport], averages: &[IostatDevice]) -> Option<MissingRows> {
    /// Relative difference that times of whole seconds explain, and factor between intervals that are not of one length.
    const ROUNDED: f64 = 0.05;
    const LONGER: f64 = 1.5;
    let seconds: Vec<f64> = reports.iter().map(|report| report.seconds).collect::<Option<_>>()?;
    let total_s: f64 = seconds.iter().sum();
    let (shortest, longest) = seconds.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), s| (a.min(*s), b.max(*s)));
    let mut operations: BTreeMap<&str, f64> = BTreeMap::new();
    for (report, seconds) in reports.iter().zip(&seconds) {
        let devices = report.devices.iter();
        devices.for_each(|device| *operations.entry(&device.name).or_default() += device.iops() * seconds);
    }
    let mut known: BTreeSet<&str> = BTreeSet::new();
    // After a restart sar begins new averages.
    let are_of_all = averages.iter().all(|average| known.insert(&average.name));
    averages.iter().filter(|_| are_of_all).find_map(|average| {
        let iops = [operations.get(average.name.as_str())? / total_s, average.iops()];
        let differs = (iops[0] - iops[1]).abs() > ROUNDED * iops[1] + 0.1_f64.powi(average.decimals as i32);
        let is_within = longest > LONGER * shortest;
        differs.then(|| MissingRows { device: average.name.clone(), iops, is_within })
    })
}

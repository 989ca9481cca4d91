//! Reads `sar -d`: the columns of `iostat` for each device, below and beside the times of their intervals.

use super::InputError;
use super::iostat::{CounterFormat, Iostat, IostatDevice, IostatReport, columns, take_banner};
use super::text::{InputText, line_number};

const REMEDY: &str = "make it with `LC_ALL=C sar -d -p 1 30`, or `LC_ALL=C sar -d -p -f FILE`";

/// Reports whether a text contains a table of devices of `sar`.
pub(super) fn is_in(text: &InputText) -> bool {
    text.lines().any(|line| SarHead::parse(line).is_some())
}

/// The line above the rows of an interval: `12:00:01 AM DEV tps rkB/s …`.
struct SarHead {
    /// Words before the column of devices.
    before: usize,
    /// Time at the start of the interval; `None` above averages.
    second: Option<f64>,
    names: Vec<String>,
}

impl SarHead {
    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let before = words.iter().position(|word| *word == "DEV")?;
        let names: Vec<String> = words[before + 1..].iter().map(|word| (*word).to_owned()).collect();
        let second = columns::second_of_day(&words[..before].join(" "));
        names.iter().any(|name| name == "tps").then_some(Self { before, second, names })
    }
}

#[derive(Default)]
struct SarReader {
    iostat: Iostat,
    /// Averages over all intervals, which repeat them.
    averages: Vec<IostatDevice>,
    head: Option<SarHead>,
    /// Time of the report at the end of the series.
    when: String,
}

pub(super) fn read(text: &InputText) -> Result<Iostat, InputError> {
    let mut reader =
        SarReader { iostat: Iostat { format: CounterFormat::Sar, ..Iostat::default() }, ..SarReader::default() };
    for (index, line) in text.lines().enumerate() {
        if take_banner(&mut reader.iostat, line) {
            continue;
        }
        if let Some(head) = SarHead::parse(line) {
            (reader.head, reader.when) = (Some(head), String::new());
        } else if line.trim().is_empty() {
            reader.head = None;
        } else {
            reader.row(text, index)?;
        }
    }
    let SarReader { mut iostat, averages, .. } = reader;
    if iostat.reports.is_empty() && !averages.is_empty() {
        let line = averages[0].line;
        iostat.reports.push(IostatReport { line, devices: averages, ..IostatReport::default() });
    }
    if iostat.reports.is_empty() {
        return Err(text.cut_off(text.len(), "no device stands below the names of the columns", REMEDY));
    }
    Ok(iostat)
}

impl SarReader {
    fn row(&mut self, text: &InputText, index: usize) -> Result<(), InputError> {
        let line = text.line(index);
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(head) = self.head.as_ref().filter(|head| words.len() > head.before) else { return Ok(()) };
        let (when, values) = (words[..head.before].join(" "), &words[head.before + 1..]);
        let is_average = when.contains(':') && columns::second_of_day(&when).is_none();
        if values.len() != head.names.len() {
            let ends_here = index + 1 == text.len() && !text.ended;
            if ends_here && !self.iostat.reports.is_empty() {
                self.iostat.notes.push("the last line is cut off, and left out".to_owned());
                return Ok(());
            }
            let what = format!("{} values stand below {} columns", values.len(), head.names.len());
            return Err(text.error(index, line.trim(), what, REMEDY));
        }
        let mut device =
            IostatDevice { name: words[head.before].to_owned(), line: line_number(index), ..Default::default() };
        for (name, word) in head.names.iter().zip(values) {
            let Some((figure, decimals)) = columns::number(word) else {
                let what = format!("`{word}` is not a number that `sar` prints here");
                return Err(text.error(index, word, what, REMEDY));
            };
            device.decimals = decimals;
            columns::set(&mut device, name, figure);
        }
        if is_average {
            self.averages.push(device);
            return Ok(());
        }
        if self.when != when {
            let passed =
                columns::second_of_day(&when).zip(head.second).map(|(end, begin)| (end - begin).rem_euclid(86_400.0));
            self.iostat.reports.push(IostatReport {
                when: Some(when.clone()),
                seconds: passed.filter(|seconds| *seconds > 0.0),
                line: line_number(index),
                ..IostatReport::default()
            });
            if let Some(head) = &mut self.head {
                head.second = columns::second_of_day(&when);
            }
            self.when = when;
        }
        if let Some(report) = self.iostat.reports.last_mut() {
            report.devices.push(device);
        }
        Ok(())
    }
}

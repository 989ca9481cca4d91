//! Text output of `iostat -x`.
//!
//! A row has as many values as the header has names, all with the same number of decimals; otherwise it was truncated.
//! The last report must have devices, and as many as the previous one unless an empty line follows.

use super::BlockTitles;
use super::columns::{self, number};
use super::{Iostat, IostatCpu, IostatDevice, IostatReport, REMEDY, pretty, set_seconds};
use units::Problem;

use crate::input::text::{CUT_LINE, InputText, is_elision, line_number};

/// Reports whether a text contains a table of devices.
pub(in crate::input) fn is_in(text: &InputText) -> bool {
    text.lines().any(|line| {
        let words = words(line);
        let Some((first, others)) = words.split_first() else { return false };
        let names = |word: &&str| columns::is_rate(word) || matches!(*word, "areq-sz" | "aqu-sz" | "%util");
        (is_device(first) && others.iter().any(names)) || (names(first) && others.iter().any(|word| is_device(word)))
    })
}

/// Returns the words of a line. A column beside `Device:` may be so wide that no blank is between them.
fn words(line: &str) -> Vec<&str> {
    let line = line.trim_start();
    match line.strip_prefix("Device:").filter(|rest| !rest.starts_with(char::is_whitespace)) {
        Some(rest) => std::iter::once("Device:").chain(rest.split_whitespace()).collect(),
        None => line.split_whitespace().collect(),
    }
}

/// Reports whether a line may be a row of a table whose names of columns are missing.
fn is_row(words: &[&str]) -> bool {
    const COLUMNS_MIN: usize = 5;
    let is_number = |word: &&str| number(word).is_some();
    words.len() > COLUMNS_MIN && !is_number(&words[0]) && words[1..].iter().all(is_number)
}

fn is_device(word: &str) -> bool {
    matches!(word, "Device" | "Device:")
}

struct IostatTableReader<'a> {
    titles: BlockTitles<'a>,
    /// Separate outputs before the current one.
    blocks: Vec<Iostat>,
    iostat: Iostat,
    /// Current report.
    report: Option<IostatReport>,
    /// Column names, while rows of devices follow.
    head: Option<Vec<String>>,
    /// Line that continued the one before: mails wrap long lines.
    taken: Option<usize>,
    /// Names of CPU statistics, while their row follows.
    cpu_head: Option<Vec<String>>,
    /// Whether the report has a table of devices.
    has_table: bool,
    /// Line of the first report without a table.
    without_table: Option<usize>,
    /// Blank lines since the banner that begins an output; `None` after the first report.
    blanks_after_banner: Option<u32>,
    /// Whether a blank line or text ended the last table.
    after_table: bool,
    /// Whether a title stands below the last table.
    is_titled: bool,
    /// Whether the command above omits the report since boot.
    omits_first: bool,
    /// Whether the lines above the first report say whether it is since boot.
    is_first_known: bool,
    /// Relative error of the length of the current report, which follows from totals and rates.
    length_error: f64,
}

/// Reads the outputs of one or several calls.
pub(in crate::input) fn read(text: &InputText) -> Result<Vec<Iostat>, Problem> {
    let joined = pretty::joined(text);
    let text = joined.as_ref().unwrap_or(text);
    let mut reader = IostatTableReader {
        titles: BlockTitles::of(text),
        blocks: Vec::new(),
        iostat: Iostat::default(),
        report: None,
        head: None,
        taken: None,
        cpu_head: None,
        has_table: false,
        without_table: None,
        blanks_after_banner: None,
        after_table: false,
        is_titled: false,
        omits_first: false,
        is_first_known: false,
        length_error: f64::INFINITY,
    };
    let last = (0..text.len()).rfind(|&index| !text.line(index).trim().is_empty());
    for index in 0..text.len() {
        match reader.line(text, index) {
            Err(_)
                if Some(index) == last
                    && (reader.leave_out_last("the last report is truncated within a row")
                        || reader.leave_out_row()) =>
            {
                break;
            }
            read => read?,
        }
    }
    reader.finish(text)
}

impl IostatTableReader<'_> {
    fn line(&mut self, text: &InputText, index: usize) -> Result<(), Problem> {
        if self.taken == Some(index) {
            return Ok(());
        }
        let line = text.line(index);
        let words = words(line);
        let blank = words.is_empty();
        if blank {
            // A page may have empty lines between the names and the rows.
            self.head.take_if(|_| self.report.as_ref().is_none_or(|report| !report.devices.is_empty()));
            self.blanks_after_banner = self.blanks_after_banner.map(|blanks| blanks + 1);
        } else if is_elision(line) {
            self.after_table = true;
            return Ok(());
        } else if is_banner(line) {
            self.end_report();
            let mut banner = Iostat::default();
            take_banner(&mut banner, line);
            if self.is_titled || self.iostat.host.is_some() && self.iostat.host != banner.host {
                self.end_block();
            }
            (self.iostat.host, self.iostat.cpus) = (banner.host, banner.cpus);
            self.blanks_after_banner = Some(0);
        } else if let Some(omits_first) = command(line) {
            self.head = None;
            self.omits_first = omits_first;
            self.after_table = true;
        } else if words[0] == "avg-cpu:" {
            self.cpu_head = Some(words[1..].iter().map(|name| (*name).to_owned()).collect());
            if self.report.as_ref().is_some_and(|report| report.cpu.is_some() || self.has_table) {
                self.end_report();
            }
            self.open(index);
        } else if let Some(head) = self.cpu_head.take() {
            self.cpu(text, index, &head, &words)?;
        } else if is_device(words[0]) && words.iter().any(|word| columns::is_column(word) || columns::is_rate(word)) {
            self.begin_table(text, index, &words)?;
        } else if columns::second_of_day(line).is_some() && words.len() <= 4 {
            self.end_report();
            self.open(index).when = Some(line.trim().trim_start_matches("Time: ").to_owned());
        } else if self.head.is_none() || !self.row(text, index, &words)? {
            self.head = None;
            // A row above all names of columns is the end of a report before the first.
            let is_first = self.blocks.is_empty() && self.iostat.reports.is_empty() && self.report.is_none();
            if is_first && is_row(&words) && !self.is_first_known {
                self.is_first_known = true;
                self.iostat.notes.push("rows above the first column header are ignored".to_owned());
            }
            self.is_titled |= self.titles.has(line);
            self.after_table = true;
            return Ok(());
        }
        self.after_table = blank;
        Ok(())
    }

    /// Returns the current report or a new one. With `-y` an additional blank line precedes the first.
    fn open(&mut self, index: usize) -> &mut IostatReport {
        if self.report.is_none() && self.is_titled {
            self.end_block();
        }
        let blanks = &mut self.blanks_after_banner;
        let omits_first = self.omits_first;
        self.is_first_known |= blanks.is_some() || omits_first;
        self.report.get_or_insert_with(|| IostatReport {
            since_boot: blanks.take().is_some_and(|blanks| blanks < 2 && !omits_first),
            line: line_number(index),
            ..IostatReport::default()
        })
    }

    /// Ends the current report. One of CPUs only, as `-c` prints it, is left out.
    fn end_report(&mut self) {
        let (Some(report), has_table) = (self.report.take(), std::mem::take(&mut self.has_table)) else { return };
        self.head = None;
        if has_table {
            self.iostat.reports.push(report);
        } else {
            self.without_table.get_or_insert(report.line as usize - 1);
        }
    }

    /// Ends an output, if it has devices. The next one may be of the same host.
    fn end_block(&mut self) {
        self.is_titled = false;
        if self.iostat.reports.iter().any(|report| !report.devices.is_empty()) {
            let next = Iostat { host: self.iostat.host.clone(), cpus: self.iostat.cpus, ..Iostat::default() };
            let mut block = std::mem::replace(&mut self.iostat, next);
            if !std::mem::take(&mut self.is_first_known) {
                judge_first(&mut block);
            }
            set_seconds(&mut block.reports);
            self.blocks.push(block);
        }
    }

    fn cpu(&mut self, text: &InputText, index: usize, head: &[String], words: &[&str]) -> Result<(), Problem> {
        if words.len() != head.len() || words.len() < 4 {
            let what = format!("expected {} percentages of CPU time here", head.len());
            return Err(text.error(index, "", what, REMEDY));
        }
        let mut cpu = IostatCpu { line: line_number(index), ..IostatCpu::default() };
        for (name, word) in head.iter().zip(words) {
            let what = || format!("`{word}` is not a number as printed by `iostat`");
            let share = number(word).ok_or_else(|| text.error(index, word, what(), REMEDY))?.0 / 100.0;
            match name.trim_start_matches('%') {
                "user" => cpu.user = share,
                "nice" => cpu.nice = share,
                "system" | "sys" => cpu.system = share,
                "iowait" => cpu.iowait = share,
                "steal" => cpu.steal = share,
                "idle" => cpu.idle = share,
                _ => {}
            }
        }
        self.open(index).cpu = Some(cpu);
        Ok(())
    }

    fn begin_table(&mut self, text: &InputText, index: usize, words: &[&str]) -> Result<(), Problem> {
        if !words.iter().any(|word| columns::is_rate(word)) {
            return Err(text.error(index, text.line(index).trim(), "no column is named `r/s`, `w/s` or `tps`", REMEDY));
        }
        if self.has_table {
            self.end_report();
        }
        self.open(index);
        (self.has_table, self.is_titled) = (true, false);
        let more = continuation(text, index, columns::is_column);
        self.taken = (!more.is_empty()).then_some(index + 1);
        self.head = Some(words[1..].iter().chain(&more).map(|word| (*word).to_owned()).collect());
        Ok(())
    }

    /// Takes a row; `false` for a prompt or a message, which is none.
    fn row(&mut self, text: &InputText, index: usize, words: &[&str]) -> Result<bool, Problem> {
        let Some(wanted) = self.head.as_ref().map(|head| head.len() + 1) else { return Ok(false) };
        let mut more = continuation(text, index, |word| number(word).is_some());
        if words.len() + more.len() == wanted {
            self.taken = (!more.is_empty()).then_some(index + 1);
        } else {
            more.clear();
        }
        let words = [words, more.as_slice()].concat();
        let words = words.as_slice();
        let (Some(head), Some(report)) = (&self.head, &self.report) else { return Ok(false) };
        // A log may have times before rows, but not before their header.
        let timed = words.len() == head.len() + 2 && columns::second_of_day(words[0]).is_some();
        let (when, words) = if timed { (Some(words[0]), &words[1..]) } else { (None, words) };
        let values = &words[1..];
        if values.iter().all(|word| number(word).is_none()) {
            return Ok(false);
        }
        if values.len() != head.len() {
            // Only the last line may be cut off behind its name.
            let is_text = |word: &&str| !word.starts_with(|c: char| c.is_ascii_digit());
            if values.first().map_or(index + 1 < text.len(), is_text) {
                return Ok(false);
            }
            let what = format!("{} values for {} columns: the row is truncated or damaged", values.len(), head.len());
            return Err(text.error(index, text.line(index).trim(), what, REMEDY));
        }
        let length = length(head, values);
        let cells = head.iter().zip(values).filter(|(name, _)| !columns::is_total(name));
        let device =
            device(text, index, words[0], cells.map(|(name, word)| (name.as_str(), *word)), ("iostat", REMEDY))?;
        if index + 1 == text.len() && !text.ended && device.decimals == 0 {
            let what = "the last line has no newline, so its last value may be truncated";
            return Err(text.cut_off(text.len(), what, REMEDY));
        }
        // A device that stands there again begins the next report: a filter left out the lines between.
        if report.devices.iter().any(|known| known.name == device.name) {
            let head = self.head.take();
            self.end_report();
            (self.head, self.has_table) = (head, true);
        }
        let is_new = self.report.as_ref().is_none_or(|report| report.devices.is_empty());
        let known_error = if is_new { f64::INFINITY } else { self.length_error };
        let length = length.filter(|(_, error)| *error < known_error);
        self.length_error = length.map_or(known_error, |(_, error)| error);
        let report = self.open(index);
        if when.is_some() {
            report.when = when.map(str::to_owned);
        }
        report.seconds = length.filter(|_| !report.since_boot).map(|(seconds, _)| seconds).or(report.seconds);
        report.devices.push(device);
        Ok(true)
    }

    /// Leaves out the last report, which is cut off, if others precede it.
    fn leave_out_last(&mut self, what: &str) -> bool {
        let leaves = self.iostat.reports.iter().any(|report| !report.devices.is_empty());
        if leaves {
            (self.report, self.head, self.has_table, self.cpu_head) = (None, None, false, None);
            self.iostat.notes.push(format!("{what} and is ignored"));
        }
        leaves
    }

    /// Leaves out a row that is cut off in the only report, if others precede it.
    fn leave_out_row(&mut self) -> bool {
        let leaves = self.report.as_ref().is_some_and(|report| !report.devices.is_empty());
        if leaves {
            self.iostat.notes.push(CUT_LINE.to_owned());
        }
        leaves
    }

    fn finish(mut self, text: &InputText) -> Result<Vec<Iostat>, Problem> {
        const BEFORE_DEVICES: &str = "the last report is truncated before its devices";
        if (self.cpu_head.is_some() || self.report.is_some() && !self.has_table) && !self.leave_out_last(BEFORE_DEVICES)
        {
            return Err(text.cut_off(text.len(), BEFORE_DEVICES, REMEDY));
        }
        let shorter = match (&self.report, self.iostat.reports.last()) {
            (Some(last), Some(before)) => last.devices.len() < before.devices.len() && begins_like(last, before),
            (Some(last), None) => last.devices.is_empty(),
            _ => false,
        };
        const BEFORE_LAST: &str = "the last report is truncated before its last device";
        if shorter && !self.after_table && !self.leave_out_last(BEFORE_LAST) {
            return Err(text.cut_off(text.len(), BEFORE_LAST, REMEDY));
        }
        self.end_report();
        self.end_block();
        if let Some(line) = self.without_table.filter(|_| self.blocks.is_empty()) {
            let remedy = "omit `-c`, or pass the whole output";
            return Err(text.error(line, "", "the report has no device table", remedy));
        }
        if self.blocks.is_empty() {
            let remedy = "omit `-z`, or name the device in use";
            return Err(text.cut_off(text.len(), "no report contains a device", remedy));
        }
        Ok(self.blocks)
    }
}

/// Returns the length of a report in seconds, by a total and its rate (`kB_wrtn` and `kB_wrtn/s`), and its relative error;
/// `None` if they are too small for that.
fn length(head: &[String], values: &[&str]) -> Option<(f64, f64)> {
    /// Greatest error of a length that is used.
    const ROUGH: f64 = 0.1;
    let figure = |name: &str| {
        let at = head.iter().position(|known| known == name)?;
        number(values.get(at)?).filter(|(value, _)| *value > 0.0)
    };
    let totals = head.iter().filter(|name| columns::is_total(name));
    let of_total = |name: &String| {
        let ((total, _), (rate, decimals)) = (figure(name)?, figure(&format!("{name}/s"))?);
        let error = 0.5 / total + 0.5 * 0.1_f64.powi(decimals as i32) / rate;
        Some((total / rate, error))
    };
    let (seconds, error) = totals.filter_map(of_total).min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let whole = seconds.round();
    // Intervals are of whole seconds, and timers are late by a little.
    let is_whole = whole > 0.0 && (seconds - whole).abs() <= (error + 0.01) * whole;
    (error < ROUGH).then_some((if is_whole { whole } else { seconds }, error))
}

/// Returns the words of the next line, if all of them may continue a line.
fn continuation(text: &InputText, index: usize, continues: fn(&str) -> bool) -> Vec<&str> {
    let words: Vec<&str> = text.line(index + 1).split_whitespace().collect();
    if words.iter().all(|word| continues(word)) { words } else { Vec::new() }
}

fn begins_like(last: &IostatReport, before: &IostatReport) -> bool {
    last.devices.iter().zip(&before.devices).all(|(last, before)| last.name == before.name)
}

/// Returns whether a command line of `iostat` omits the report since boot; `None` if the line is none.
fn command(line: &str) -> Option<bool> {
    let mut words = line.split_whitespace().skip_while(|word| *word != "iostat" && !word.ends_with("/iostat")).skip(1);
    let first = words.clone().next()?;
    let is_command = first.starts_with('-') || first.bytes().all(|byte| byte.is_ascii_digit());
    let is_omitting = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains('y');
    is_command.then(|| words.any(is_omitting))
}

/// Judges a first report of which nothing above it says whether it is the average since boot: it is left out if it differs
/// from all others, unless its rates show an interval.
fn judge_first(iostat: &mut Iostat) {
    /// Factor by which it differs.
    const APART: f64 = 2.0;
    let Some((first, others)) = iostat.reports.split_first_mut() else { return };
    /// Factor between the lengths of a report since boot and of an interval.
    const LONGER: f64 = 10.0;
    let lengths = first.seconds.zip(others.first().and_then(|next| next.seconds));
    if lengths.is_some_and(|(first, next)| first > LONGER * next) {
        first.since_boot = true;
        first.seconds = None;
        return;
    }
    if first.has_rates_of_seconds() {
        return;
    }
    let Some(last) = others.last() else {
        let note = "a single report without the preceding lines: it may be the average since boot";
        return iostat.notes.push(note.to_owned());
    };
    let iops = |report: &IostatReport, name: &str| {
        report.devices.iter().find(|device| device.name == name).map_or(0.0, IostatDevice::iops)
    };
    let busiest = last.devices.iter().max_by(|a, b| a.iops().total_cmp(&b.iops())).map(|device| device.name.clone());
    let Some(name) = busiest else { return };
    let others = others.iter().map(|report| iops(report, &name));
    let (least, most) = others.fold((f64::INFINITY, 0.0_f64), |(least, most), iops| (least.min(iops), most.max(iops)));
    let of_first = iops(first, &name);
    if of_first * APART < least || of_first > most * APART {
        first.since_boot = true;
        let note = "the first report differs from all others and is ignored: without the preceding lines, it may be \
                    the average since boot";
        iostat.notes.push(note.to_owned());
    }
}

/// Reports whether a line is a banner, which may be indented and in old versions ends with the date.
fn is_banner(line: &str) -> bool {
    let is_date = |word: &str| word.chars().filter(char::is_ascii_digit).count() >= 4;
    let last = line.split_whitespace().last().unwrap_or_default();
    line.trim_start().starts_with("Linux ") && line.contains('(') && (last.ends_with(')') || is_date(last))
}

/// Takes the host from a banner of sysstat: `Linux 6.18.44 (vm) 11/21/26 _x86_64_ (2 CPU)`, with tabs in between.
/// Reports whether the line is one.
pub(in crate::input) fn take_banner(iostat: &mut Iostat, line: &str) -> bool {
    if !is_banner(line) {
        return false;
    }
    let inside = |part: Option<&str>| part.and_then(|rest| rest.split(')').next()).map(str::to_owned);
    iostat.host = inside(line.split_once('(').map(|(_, rest)| rest).filter(|rest| rest.contains('(')));
    let cpus = inside(line.rsplit_once('(').map(|(_, rest)| rest));
    iostat.cpus = cpus.and_then(|text| text.split_whitespace().next()?.parse().ok());
    true
}

/// Reads the values of a device, which a program prints with equally many decimals: columns, each with its word.
pub(in crate::input) fn device<'a>(
    text: &InputText,
    index: usize,
    name: &str,
    cells: impl Iterator<Item = (&'a str, &'a str)>,
    (program, remedy): (&str, &str),
) -> Result<IostatDevice, Problem> {
    let mut device = IostatDevice { name: name.to_owned(), line: line_number(index), ..IostatDevice::default() };
    let mut known_decimals = None;
    for (column, word) in cells {
        let Some((figure, decimals)) = number(word) else {
            return Err(text.error(index, word, format!("`{word}` is not a number as printed by `{program}`"), remedy));
        };
        if columns::is_total(column) {
            continue;
        }
        device.decimals = *known_decimals.get_or_insert(decimals);
        if decimals != device.decimals {
            let what = format!("`{word}` has {decimals} decimals, the other values of the row {}", device.decimals);
            return Err(text.error(index, word, format!("{what}: it is truncated"), remedy));
        }
        columns::set(&mut device, column, figure);
    }
    Ok(device)
}

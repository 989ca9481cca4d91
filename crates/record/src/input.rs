//! Reads any input, recognized by its content: a record of ours, fio's output, and what other programs print of devices
//! and their times.
//!
//! A truncated document is refused, even if some of its parts are complete. Of a truncated table the complete rows count,
//! with a note. Only a missing device at the very end cannot be detected.

mod bench;
mod by_host;
mod command;
mod counters;
mod dbench;
mod diskstats;
mod enclosed;
mod fio_log;
mod foreign;
mod iostat;
mod json;
mod kbench;
mod kubestr;
mod normal;
mod pgstat;
mod postgres;
mod prefix;
mod prometheus;
mod reports;
mod sar;
mod servers;
mod spdk;
mod spdk_counters;
mod stated;
mod terse;
mod text;
mod vmstat;

use crate::measurable::{
    BUSY_PERCENT_MAX, MOST, is_beyond_measure, with_possible_runtimes, without_contradicting_latencies,
    without_impossible_disks, without_impossible_latencies,
};
use crate::printable::{may_hide, printable};
use crate::{Note, Run};
pub use iostat::{CounterFormat, Iostat, IostatCpu, IostatDevice, IostatKind, IostatReport, StackedDisk};
use reports::InputFormat;
use text::InputText;
use units::{Place, Problem, ProblemCode};

/// A recognized input.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A run of Fathom or fio.
    Run(Box<Run>),
    /// Device counters recorded during a run.
    Iostat(Iostat),
}

/// One run or set of reports in an input.
#[derive(Clone, Debug, PartialEq)]
pub struct InputResult {
    /// Line on which it begins, from 1.
    pub line: usize,
    /// Content.
    pub input: Input,
}

/// The content of an input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputResults {
    /// Readable parts, in the order of the input.
    pub parts: Vec<InputResult>,
    /// Parts that cannot be read.
    pub unreadable: Vec<Problem>,
}

/// Reads all runs, or the reports of `iostat`, from any known format; `name` is used in errors only.
///
/// Known formats: Fathom's records, single runs or repeats of `--repeat`; fio's `json` and `json+`, with other text
/// around them; fio's normal output of versions 2 and 3; its terse output from version 3 of that format; `iostat -x` as
/// text, with most of its options and in any locale, and as JSON; copies of `/proc/diskstats` with their times; `sar -d`;
/// `vmstat -d`; metrics of Prometheus; PostgreSQL's `pg_stat_io`; the tables of SPDK and kbench. Of several reports on one
/// run (`--status-interval`), the last one counts and a note says so; of one report in several formats, the most detailed
/// one counts.
///
/// # Errors
///
/// Returns a [`Problem`] if nothing can be read, with place, reason and remedy.
pub fn read_inputs(name: &str, bytes: &[u8]) -> Result<InputResults, Problem> {
    by_host::read(name, bytes, read_one_host).unwrap_or_else(|| read_one_host(name, bytes))
}

fn read_one_host(name: &str, bytes: &[u8]) -> Result<InputResults, Problem> {
    let text = InputText::of(name, bytes)?;
    few_enough(&text, text.whole.matches("\"jobname\"").count() + normal::results(&text), RESULTS_MAX, "results")?;
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    let mut add = |format: InputFormat, line: usize, read: Result<Input, Problem>| match read {
        Ok(input) => found.push((format, InputResult { line: line + 1, input })),
        // Next to readable documents, a part in another format is an excerpt of them.
        Err(error) if found.iter().all(|(read, _)| *read == format) => unreadable.push(error),
        Err(_) => {}
    };
    for document in json::find(&text) {
        match json::read(&text, document) {
            Ok(inputs) => inputs.into_iter().for_each(|input| add(InputFormat::Json, document.line, Ok(input))),
            Err(error) => add(InputFormat::Json, document.line, Err(error)),
        }
    }
    let of_text = |line, run: Result<Run, Problem>| measurable(&text, line, of_run(run?), MAKE);
    let mut above = 0;
    let mut outside = normal::headless::outside(&text).map(Note::of_run);
    let is_total = |line: usize| normal::is_total(text.line(line));
    let runs = servers::read_joined(normal::runs(&text), is_total, |announced, lines| {
        let around = above..lines.end;
        above = normal::end_of_results(&text, lines.clone());
        let mut run = command::add_options(&text, around, normal::read(&text, announced, lines)?);
        run.notes.extend(outside.take());
        Ok(run)
    });
    runs.into_iter().for_each(|(line, run)| add(InputFormat::Normal, line, of_text(line, run)));
    let (runs, reports) = terse::runs(&text);
    let is_total = |line: usize| terse::is_total(text.line(line));
    let runs = servers::read_joined(runs, is_total, |_, lines| {
        let mut run = terse::read(&text, lines.clone())?;
        run.notes.extend(reports.get(&lines.start).map(|&count| json::last_of(count, lines.start)));
        Ok(run)
    });
    runs.into_iter().for_each(|(line, run)| add(InputFormat::Terse, line, of_text(line, run)));
    // Tables of other programs beside results of fio are of the same load, except those of a benchmark.
    let is_alone = found.is_empty() && unreadable.is_empty();
    // So are those of devices beside results without their first lines.
    let is_beside = |table: &TableFormat| table.is_of_devices() && normal::headless::is_in(&text);
    let is_searched = |table: &&TableFormat| is_alone || table.is_of_loads() || table.is_of_devices();
    let tables: Vec<&TableFormat> = TABLES.iter().filter(is_searched).filter(|table| (table.is_in)(&text)).collect();
    let mut usable = tables.iter().filter(|table| (is_alone || table.is_of_loads()) && !is_beside(table));
    let mut used = None;
    if let Some(first) = usable.next() {
        let (mut table, mut read) = (first, (first.read)(&text));
        // Averages since boot say less than the intervals of another program.
        let intervals = |read: &Result<Vec<InputResult>, Problem>| {
            read.as_ref().is_ok_and(|parts| parts.iter().any(|part| has_intervals(&part.input)))
        };
        if first.is_of_devices() && read.is_ok() && !intervals(&read) {
            let others = usable.filter(|other| other.is_of_devices()).map(|other| (other, (other.read)(&text)));
            if let Some(other) = others.into_iter().find(|(_, read)| intervals(read)) {
                (table, read) = other;
            }
        }
        used = Some(table.name);
        match read {
            Ok(parts) => {
                for InputResult { line, input } in parts {
                    match measurable(&text, line - 1, input, MAKE) {
                        Ok(input) => found.push((InputFormat::Table, InputResult { line, input })),
                        Err(error) => unreadable.push(error),
                    }
                }
            }
            Err(error) => unreadable.push(error),
        }
    }
    let is_named = |table: &TableFormat| matches!(table.content, TableContent::Devices | TableContent::Others);
    let unused = tables.iter().filter(|table| is_named(table) && Some(table.name) != used);
    let unused: Vec<&str> = unused.map(|table| table.name).collect();
    let mut parts = reports::of_distinct_runs(found);
    if parts.is_empty() {
        return Err(if unreadable.is_empty() { foreign::refuse(&text) } else { unreadable.swap_remove(0) });
    }
    parts.sort_by_key(|part| part.line);
    if let (Some(first), false) = (parts.first_mut(), unused.is_empty()) {
        let note = format!("ignored: figures of {} in the same text; pass them separately", unused.join(" and "));
        match &mut first.input {
            Input::Run(run) => run.notes.push(Note::of_run(note)),
            Input::Iostat(iostat) => iostat.notes.push(note),
        }
    }
    for part in &mut parts {
        if let Input::Run(run) = &mut part.input {
            run.forget_unique_results();
        }
    }
    if may_hide(&text.whole) {
        for part in &mut parts {
            if let Input::Run(run) = &mut part.input {
                **run = printable(std::mem::take(&mut **run));
            }
        }
    }
    Ok(InputResults { parts, unreadable })
}

/// Reports whether device counters have reports of intervals.
fn has_intervals(input: &Input) -> bool {
    matches!(input, Input::Iostat(iostat) if iostat.intervals().next().is_some())
}

/// A format of tables, of which a text has one.
struct TableFormat {
    name: &'static str,
    is_in: fn(&InputText) -> bool,
    read: fn(&InputText) -> Result<Vec<InputResult>, Problem>,
    content: TableContent,
}

/// What tables are of, beside those of other formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableContent {
    /// Counters of devices.
    Devices,
    /// Results of loads of their own, instead of what a device did.
    Loads,
    /// Other figures. If they are not read, because those of another format are, a note names them.
    Others,
    /// Other figures, which may be parts of another format.
    Parts,
}

impl TableFormat {
    const fn new(
        name: &'static str,
        content: TableContent,
        is_in: fn(&InputText) -> bool,
        read: fn(&InputText) -> Result<Vec<InputResult>, Problem>,
    ) -> Self {
        Self { name, is_in, read, content }
    }

    const fn is_of_devices(&self) -> bool {
        matches!(self.content, TableContent::Devices)
    }

    const fn is_of_loads(&self) -> bool {
        matches!(self.content, TableContent::Loads)
    }
}

/// The formats in the order in which they are tried.
const TABLES: [TableFormat; 15] = {
    use TableContent::{Devices, Loads, Others, Parts};
    [
        TableFormat::new("iostat", Devices, iostat::is_in, |text| blocks(text, iostat::read_text(text)?)),
        TableFormat::new("sar", Devices, sar::is_in, |text| blocks(text, sar::read(text)?)),
        TableFormat::new("vmstat", Devices, vmstat::is_in, vmstat::read),
        TableFormat::new("/proc/diskstats", Devices, diskstats::is_in, diskstats::read),
        TableFormat::new("SPDK", Loads, spdk::is_in, spdk::read),
        TableFormat::new("fio syncs", Parts, normal::syncs::is_in, |text| only(normal::syncs::read(text)?)),
        TableFormat::new("kbench", Loads, kbench::is_in, kbench::read),
        TableFormat::new("dbench", Parts, dbench::is_in, dbench::read),
        TableFormat::new("kubestr", Loads, kubestr::is_in, kubestr::read),
        TableFormat::new("fio results without their first lines", Parts, normal::headless::is_in, |text| {
            only(of_run(command::add_options(text, 0..text.len(), normal::headless::read(text)?)))
        }),
        TableFormat::new("Prometheus", Others, prometheus::is_in, |text| only(prometheus::read(text)?)),
        TableFormat::new("a fio log", Parts, fio_log::is_in, |text| only(fio_log::read(text)?)),
        TableFormat::new("pg_stat_io", Others, postgres::is_in, postgres::read),
        TableFormat::new("pgstat", Others, pgstat::is_in, |text| only(pgstat::read(text)?)),
        TableFormat::new("a benchmark", Others, bench::is_in, bench::read),
    ]
};

fn only(input: Input) -> Result<Vec<InputResult>, Problem> {
    Ok(vec![InputResult { line: 1, input }])
}

/// Returns the outputs of several calls as separate parts.
fn blocks(text: &InputText, blocks: Vec<Iostat>) -> Result<Vec<InputResult>, Problem> {
    few_enough(text, blocks.len(), RESULTS_MAX, "tables")?;
    let part = |iostat: Iostat| {
        let iostat = few_devices(text, iostat)?;
        let line = iostat.reports.first().map_or(1, |report| report.line as usize);
        Ok(InputResult { line, input: Input::Iostat(iostat) })
    };
    blocks.into_iter().map(part).collect()
}

/// Maximum numbers of job results in an input and of devices in a report: each takes kilobytes and is compared with the
/// others.
const RESULTS_MAX: usize = 10_000;
const DEVICES_MAX: usize = 4_096;

fn few_enough(text: &InputText, count: usize, most: usize, what: &str) -> Result<(), Problem> {
    if count <= most {
        return Ok(());
    }
    let remedy = format!("pass a part of it, with at most {most} of them");
    Err(text.error(0, "", format!("it contains {count} {what}, more than {most}"), remedy))
}

pub(in crate::input) fn few_devices(text: &InputText, mut iostat: Iostat) -> Result<Iostat, Problem> {
    let most = iostat.reports.iter().map(|report| report.devices.len()).max().unwrap_or(0);
    few_enough(text, most, DEVICES_MAX, "devices in a report")?;
    iostat.notes.extend(iostat.contradiction());
    Ok(iostat)
}

pub(in crate::input) fn of_run(run: Run) -> Input {
    Input::Run(Box::new(run))
}

/// Reads the only part of an input, or the one with a number, from 1. Beside the only one, runs that are cut off are left
/// out with a note.
///
/// # Errors
///
/// Fails as [`read_inputs`], and if there are several parts without a choice, or none with that number.
pub fn read_input(name: &str, bytes: &[u8], number: Option<usize>) -> Result<Input, Problem> {
    let InputResults { mut parts, mut unreadable } = read_inputs(name, bytes)?;
    let count = parts.len();
    let index = number.map_or(0, |number| number.wrapping_sub(1));
    if index < count && (number.is_some() || count == 1 && unreadable.is_empty()) {
        return Ok(parts.swap_remove(index).input);
    }
    if count == 1 && number.is_none() {
        let rest = unreadable.iter().position(|error| error.code != ProblemCode::CutOff);
        return match (rest, parts.swap_remove(0).input) {
            (None, Input::Run(mut run)) => {
                run.notes.extend(unreadable.iter().map(cut_note));
                Ok(Input::Run(run))
            }
            (rest, _) => Err(unreadable.swap_remove(rest.unwrap_or(0))),
        };
    }
    let mut lines: Vec<String> = parts.iter().map(|part| part.line.to_string()).collect();
    // Repeats share one document.
    lines.dedup();
    let lines = if lines.len() == 1 { format!("line {}", lines[0]) } else { format!("lines {}", lines.join(", ")) };
    let place = Place {
        source: name.into(),
        line: parts.last().map_or(1, |part| part.line),
        column: 1,
        length: 0,
        text: "".into(),
    };
    Err(Problem::error(ProblemCode::UnreadableInput, format!("it contains {count} runs, which start on {lines}"))
        .at(place)
        .help(format!("choose one: `{name}#1` to `{name}#{count}`")))
}

fn cut_note(error: &Problem) -> Note {
    let line = error.place.as_ref().map_or(1, |place| place.line);
    Note::of_run(format!("another run ends on line {line} without a complete result and is ignored"))
}

/// Remedy for unreadable input.
const MAKE: &str = "pass the output of `fio --output-format=json`, a record of `fathom run`, or the output of `iostat \
     -x -o JSON 1 30`";

/// Signatures of files that are not text.
const MAGIC: &[(&[u8], &str, &str)] = &[
    (b"\x1f\x8b", "compressed with gzip", "decompress it: `gunzip FILE`"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "decompress it: `unzstd FILE`"),
    (b"\xfd7zXZ", "compressed with xz", "decompress it: `unxz FILE`"),
    (b"PK\x03\x04", "a ZIP archive", "extract it: `unzip FILE`"),
    (b"%PDF", "a PDF document", MAKE),
    (b"\x7fELF", "a program", MAKE),
    (b"\x89PNG", "a picture", "pass the text itself, not an image of it"),
    (b"\xff\xd8\xff", "a picture", "pass the text itself, not an image of it"),
    (b"\xff\xfe", "UTF-16 text", "convert it to UTF-8: `iconv -f UTF-16 -t UTF-8 FILE`"),
    (b"\xfe\xff", "UTF-16 text", "convert it to UTF-8: `iconv -f UTF-16 -t UTF-8 FILE`"),
];

/// Refuses binary data. Single bytes of other encodings pass, because figures are ASCII.
fn refuse_binary(name: &str, bytes: &[u8]) -> Option<Problem> {
    let at = |offset: usize, what: &str, remedy: &str| {
        let before = &bytes[..offset];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let place = Place {
            source: name.into(),
            line: before.iter().filter(|&&b| b == b'\n').count() + 1,
            column: String::from_utf8_lossy(&before[line_start..]).chars().count() + 1,
            length: 0,
            text: "".into(),
        };
        Problem::error(ProblemCode::UnreadableInput, what).at(place).help(remedy)
    };
    if let Some((_, what, remedy)) = MAGIC.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        return Some(at(0, &format!("this is {what}"), remedy));
    }
    let nul = bytes.iter().position(|&b| b == 0);
    nul.map(|offset| at(offset, "not a text file: it contains a NUL byte", MAKE))
}

/// Reports whether a line announces a job: `name: (g=0): rw=randread, bs=(R) 4096B-4096B, …, ioengine=libaio,
/// iodepth=32`.
fn is_header(text: &str) -> bool {
    text.contains(": (g=") && text.contains("): rw=")
}

/// Reports whether a line begins a result: `name: (groupid=0, jobs=1): err= 0: pid=12345: Sun Mar 29 15:54:16 2026`.
fn is_result(text: &str) -> bool {
    text.contains(": (groupid=") && text.contains(", jobs=")
}

/// Reports whether a line may belong to a result.
fn is_of_result(text: &str) -> bool {
    const WORDS: &str = "read write trim mixed slat clat lat sync fsync/fdatasync/sync_file_range bw iops cpu IO submit \
                         complete issued latency errors steadystate Description";
    let word = text.split([' ', ':', '(']).next().unwrap_or_default();
    text.starts_with('|') || WORDS.split(' ').any(|known| known == word)
}

/// Returns an input whose counts and times, and their sums, are within measurement; otherwise an error at a line. Counters
/// of devices that are impossible are left out with a note.
fn measurable(text: &InputText, line: usize, mut input: Input, remedy: &str) -> Result<Input, Problem> {
    let is_beyond = match &mut input {
        Input::Run(run) => {
            without_impossible_disks(run);
            without_impossible_latencies(run);
            without_contradicting_latencies(run);
            with_possible_runtimes(run);
            is_beyond_measure(run)
        }
        Input::Iostat(iostat) => {
            without_impossible_figures(iostat);
            let is_within = |rate: f64| rate <= MOST as f64;
            let mut devices = iostat.reports.iter().flat_map(|report| &report.devices);
            !devices.all(|device| is_within(device.iops()) && is_within(device.bytes_per_second()))
        }
    };
    if !is_beyond {
        return Ok(input);
    }
    Err(text.error(line, "", "its counts or times are impossibly large: the text is damaged", remedy))
}

/// Leaves out impossible times of devices, with a note: counters of the kernel may wrap.
fn without_impossible_figures(iostat: &mut Iostat) {
    /// Ten days in nanoseconds, for which no request waits, and as many requests.
    const WAIT_NS_MAX: f64 = 864e12;
    const IN_FLIGHT_MAX: f64 = 1e7;
    let mut names: Vec<String> = Vec::new();
    for device in iostat.reports.iter_mut().flat_map(|report| &mut report.devices) {
        let mut is_complete = true;
        let mut limit = |figure: &mut Option<f64>, most: f64| {
            is_complete &= figure.is_none_or(|value| value <= most);
            *figure = figure.filter(|value| *value <= most);
        };
        limit(&mut device.util, BUSY_PERCENT_MAX / 100.0);
        limit(&mut device.in_flight, IN_FLIGHT_MAX);
        limit(&mut device.svctm_ns, WAIT_NS_MAX);
        for kind in [&mut device.read, &mut device.write, &mut device.discard, &mut device.flush, &mut device.all] {
            limit(&mut kind.await_ns, WAIT_NS_MAX);
        }
        if !is_complete && !names.contains(&device.name) {
            names.push(device.name.clone());
        }
    }
    if !names.is_empty() {
        iostat
            .notes
            .push(format!("ignored because they are impossible: some waits, queues or %util of {}", names.join(", ")));
    }
}

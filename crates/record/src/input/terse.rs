//! Reads fio's terse output of versions 2 to 5 of that format: one line of fields for each job, as printed with
//! `--minimal` and `--output-format=terse`.
//!
//! The format lacks counts of operations, depths and block sizes. Operations are computed from IOPS, which fio
//! truncates to integers, or from bytes where a single block size agrees with them; the depth from the distribution of
//! depths. Fields: fio's HOWTO, "Terse output".

use std::collections::BTreeMap;
use std::ops::Range;
use units::Problem;

use super::text::{CUT_LINE, InputText, Printed, line_number, printed};
use crate::{
    CpuUse, DataKind, Declared, DirectionResult, DiskUse, EstimatedLoad, JobResult, KeptLatencies, LatencyShares,
    LatencyStats, Measured, Note, Quote, Quoted, RequestedRun, Run, RunOutcome, SCHEMA, SampleRecord, Tool,
    UnifiedReport, fio,
};

/// Slots for percentiles, whether used or not.
const PERCENTILES: usize = 20;

/// Fields of a kind of operations before its percentiles.
const BEFORE_PERCENTILES: usize = 12;

/// Fields of the CPU, depths and latencies, behind the kinds of operations.
const BEHIND_KINDS: usize = 5 + 7 + 10 + 12;

/// Fields of the shortest lines, with one kind of operations.
const LEAST: usize = 4 + BEFORE_PERCENTILES + PERCENTILES + 4 + 5 + BEHIND_KINDS;

/// Layout of a line.
#[derive(Clone, Copy, Debug)]
struct TerseLayout {
    /// Fields before the first kind of operations.
    head: usize,
    /// Whether samples are counted, and IOPS samples printed.
    samples: bool,
    /// Kinds of operations that its version prints.
    kinds: usize,
    /// Kinds with percentiles on the line: one if they are unified (`unified_rw_reporting`), or one more if both are
    /// printed.
    printed: usize,
}

impl TerseLayout {
    /// Returns the layout of a line, even if it is truncated; `None` for lines in other formats.
    fn of(fields: &[&str]) -> Option<Self> {
        let is_of_fio = fields.get(1).is_some_and(|field| field.starts_with("fio-"));
        let (head, kinds, samples) = match *fields.first()? {
            "2" if !is_of_fio => (4, 3, false),
            "3" if is_of_fio => (5, 2, false),
            "4" if is_of_fio => (5, 3, false),
            "5" if is_of_fio => (5, 3, true),
            _ => return None,
        };
        let layout = Self { head, samples, kinds, printed: 0 };
        let has_percentiles =
            |at: &usize| fields.get(at + BEFORE_PERCENTILES).is_some_and(|field| field.contains("%="));
        let printed = (0..=kinds).map(|kind| layout.kind(kind)).take_while(has_percentiles).count();
        // Version 2 does not name the program.
        let is_known = is_of_fio || printed > 0 && fields[2..4].iter().all(|field| field.parse::<u32>().is_ok());
        is_known.then_some(Self { printed, ..layout })
    }

    /// Returns the index of the first field of a kind.
    const fn kind(self, number: usize) -> usize {
        let bandwidth = if self.samples { 11 } else { 5 };
        self.head + number * (BEFORE_PERCENTILES + PERCENTILES + 4 + bandwidth)
    }

    /// Returns the index of the first field of the CPU.
    const fn processor(self) -> usize {
        self.kind(self.printed)
    }

    /// Returns the number of fields before those of devices.
    const fn fields(self) -> usize {
        self.processor() + BEHIND_KINDS
    }

    const fn is_unified(self) -> bool {
        self.printed == 1
    }

    /// Reports whether a line has all fields of its layout.
    const fn is_whole(self, fields: usize) -> bool {
        (self.is_unified() || self.printed >= self.kinds) && fields >= self.fields()
    }
}

/// Returns the fields of a line, without a prefix of a log or web page.
fn fields(line: &str) -> Vec<&str> {
    let line = line.trim();
    let begins = |at: usize| {
        at.checked_sub(1).filter(|&at| line.is_char_boundary(at) && line[at..].starts_with(['3', '4', '5']))
    };
    let line = line.find(";fio-").and_then(begins).map_or(line, |at| &line[at..]);
    line.trim_end_matches('`').split(';').collect()
}

/// Reports whether a line is the total over all servers of fio's client.
pub(super) fn is_total(line: &str) -> bool {
    fields(line).get(2) == Some(&fio::ALL_CLIENTS)
}

/// Reads the run on some lines.
pub(super) fn read(text: &InputText, lines: Range<usize>) -> Result<Run, Problem> {
    let mut run = Run { schema: SCHEMA, outcome: RunOutcome::Completed, ..Run::default() };
    for index in lines {
        let job = match TerseFields::of(text, index).and_then(|mut fields| fields.job(&mut run)) {
            Err(_) if text.may_be_cut(index) && !run.jobs.is_empty() => {
                run.notes.push(Note::of_run(CUT_LINE));
                break;
            }
            job => job?,
        };
        run.asked.push(RequestedRun::of_result(&job));
        let is_idle = job.result.kinds().all(|(_, kind)| kind.ios == 0);
        let no_discards = (is_idle && fields(text.line(index))[0] == "3").then_some(NO_DISCARDS);
        for note in std::iter::once(NOTE).chain(no_discards) {
            let note = Note::of_result(&job.name, job.number, note);
            // Clones have one name.
            if !run.notes.contains(&note) {
                run.notes.push(note);
            }
        }
        if job.error != 0 {
            run.outcome = RunOutcome::Failed;
        }
        run.jobs.push(JobResult { number: run.jobs.len() as u32, ..job });
    }
    Ok(run)
}

const NOTE: &str =
    "terse output contains no depth, block size or number of jobs: they are estimated from other figures";

const READS_BACK: &str =
    "as many bytes were read as written, but in a different time: interpreted as verification after writing";

/// Note on a line of a version that prints reads and writes only, which has neither.
const NO_DISCARDS: &str = "terse version 3 omits discards (`--terse-version=4` prints them)";

const REMEDY: &str = "pass the whole line, or run fio again with `--output-format=json`";

/// The unread fields of one line.
struct TerseFields<'a> {
    text: &'a InputText,
    index: usize,
    layout: TerseLayout,
    fields: std::vec::IntoIter<&'a str>,
}

impl<'a> TerseFields<'a> {
    fn of(text: &'a InputText, index: usize) -> Result<Self, Problem> {
        let fields = fields(text.line(index));
        let count = fields.len();
        let layout = TerseLayout::of(&fields).filter(|layout| layout.is_whole(count));
        let Some(layout) = layout else {
            let what = match count >= LEAST {
                true => {
                    "the fields of this terse line are not where fio prints them: a name may contain `;`".to_owned()
                }
                false => format!("the terse line is truncated: it has {count} fields"),
            };
            return Err(text.error_at(index, text.line(index).chars().count() + 1, 0, what, REMEDY));
        };
        Ok(Self { text, index, layout, fields: fields.into_iter() })
    }

    fn next<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Result<T, Problem> {
        let field = self.fields.next().unwrap_or_default();
        read(field).ok_or_else(|| {
            let what = format!("`{field}` is not a figure as printed by fio");
            self.text.error(self.index, field, what, REMEDY)
        })
    }

    fn integer(&mut self) -> Result<u64, Problem> {
        self.next(|field| field.parse().ok())
    }

    fn number(&mut self) -> Result<f64, Problem> {
        self.next(number)
    }

    fn percent(&mut self) -> Result<f64, Problem> {
        self.next(|field| number(field.strip_suffix('%')?))
    }

    fn job(&mut self, run: &mut Run) -> Result<JobResult, Problem> {
        self.fields.next();
        let version = if self.layout.head > 4 { self.fields.next().unwrap_or_default() } else { "" };
        run.tool = Tool { name: "fio".to_owned(), version: version.trim_start_matches("fio-").to_owned() };
        let name = self.fields.next().unwrap_or_default().to_owned();
        let group = self.next(|field| field.parse().ok())?;
        let error = self.next(|field| field.parse().ok())?;
        let mut job = JobResult { name, group, error, workers: 1, ..JobResult::default() };
        for kind in DataKind::ALL.into_iter().take(self.layout.kinds.min(self.layout.printed)) {
            let (result, quotes) = self.direction(kind)?;
            *job.result.kind_mut(kind) = result;
            job.quotes.extend(quotes);
        }
        if self.layout.is_unified() {
            run.notes.push(Note::of_result(&job.name, job.number, fio::mixed_note(None)));
        } else if self.layout.printed > self.layout.kinds {
            // The kinds above, as one.
            self.direction(DataKind::Read)?;
        }
        let cpu = [self.percent()?, self.percent()?];
        let [context_switches, major_faults, minor_faults] = [self.integer()?, self.integer()?, self.integer()?];
        let depths = self.shares::<7>()?;
        let shares = LatencyShares { us: self.shares()?, ms: self.shares()?, ..LatencyShares::default() };
        self.rest(run, &mut job)?;

        let result = &mut job.result;
        result.quoted_shares = Some(shares);
        result.depth = fio::shares_of(depths.into_iter());
        let reads_back = !self.layout.is_unified() && reads_back(result);
        let runtimes_ns = result.kinds().map(|(_, kind)| kind.runtime_ns);
        let wall_ns = if reads_back { runtimes_ns.sum() } else { runtimes_ns.max().unwrap_or(0) };
        if reads_back {
            run.notes.push(Note::of_result(&job.name, job.number, READS_BACK));
        }
        (result.runtime_ns, result.workers) = (wall_ns, 1);
        let depth = fio::Depth::of(&depths, result, None);
        job.workers = depth.workers;
        result.workers = depth.workers;
        result.runtime_ns = wall_ns.saturating_mul(depth.workers.into());
        let ns = |percent: f64| (percent / 100.0 * result.runtime_ns as f64).round() as u64;
        result.cpu =
            CpuUse { user_ns: ns(cpu[0]), system_ns: ns(cpu[1]), context_switches, major_faults, minor_faults };
        job.declared = Declared { verify: reads_back, ..declared(&job.result, depth) };
        if self.layout.is_unified() {
            job.declared.unified = UnifiedReport::Mixed;
        }
        Ok(job)
    }

    fn direction(&mut self, kind: DataKind) -> Result<(DirectionResult, Vec<Quote>), Problem> {
        let (kib, kib_per_second, iops, runtime_ms) =
            (self.integer()?, self.integer()?, self.number()?, self.integer()?);
        let [submission, service] = [self.latency()?, self.latency()?];
        let mut quoted = Vec::new();
        for _ in 0..PERCENTILES {
            let (percent, us) = self.next(|field| {
                let (percent, us) = field.split_once("%=")?;
                Some((number(percent)?, us.parse::<u64>().ok()?))
            })?;
            if percent > 0.0 {
                quoted.push((percent, us.saturating_mul(1000)));
            }
        }
        let latency = self.latency()?;
        let (bandwidth_kib, iops_samples) = self.samples()?;
        let runtime_ns = runtime_ms.saturating_mul(1_000_000);
        // fio truncated the value, so it lies up to one above.
        let middle = if iops.fract() == 0.0 && kib > 0 { iops + 0.5 } else { iops };
        let bytes = kib.saturating_mul(1024);
        let ios = operations(bytes, (iops, middle), runtime_ms);
        let of = |stats: LatencyStats| LatencyStats { count: if stats.max_ns > 0 { ios } else { 0 }, ..stats };
        let quote = |what, value: f64, step: f64| Quote {
            what,
            kind: Some(kind),
            value,
            step,
            line: line_number(self.index),
            of: None,
        };
        let quotes = if runtime_ms == 0 {
            Vec::new()
        } else {
            vec![
                quote(Quoted::Iops, middle, 1.0),
                quote(Quoted::BytesPerSecond, (kib_per_second as f64 + 0.5) * 1024.0, 1024.0),
                quote(Quoted::RuntimeNs, runtime_ns as f64, 1e6),
            ]
        };
        let result = DirectionResult {
            ios,
            bytes,
            runtime_ns,
            submission: of(submission),
            service: LatencyStats { quoted, ..of(service) },
            latency: of(latency),
            bandwidth_kib,
            iops_samples,
            ..DirectionResult::default()
        };
        Ok((result, quotes))
    }

    /// Reads minimum, maximum, mean and deviation, in microseconds.
    fn latency(&mut self) -> Result<LatencyStats, Problem> {
        let [min, max, mean, stddev] = [self.number()?, self.number()?, self.number()?, self.number()?];
        let whole_ns = |us: f64| (us * 1e3).round() as u64;
        Ok(LatencyStats {
            min_ns: whole_ns(min),
            max_ns: whole_ns(max),
            mean_ns: mean * 1e3,
            stddev_ns: stddev * 1e3,
            ..LatencyStats::default()
        })
    }

    /// Reads sampled bandwidth in KiB/s and sampled IOPS. Without a number of samples, both are empty.
    fn samples(&mut self) -> Result<(SampleRecord, SampleRecord), Problem> {
        let [min, max] = [self.number()?, self.number()?];
        self.percent()?;
        let [mean, stddev] = [self.number()?, self.number()?];
        if !self.layout.samples {
            return Ok((SampleRecord::default(), SampleRecord::default()));
        }
        let bandwidth = SampleRecord { count: self.integer()?, min, max, mean, stddev };
        let [min, max, mean, stddev] = [self.number()?, self.number()?, self.number()?, self.number()?];
        Ok((bandwidth, SampleRecord { count: self.integer()?, min, max, mean, stddev }))
    }

    fn shares<const N: usize>(&mut self) -> Result<[f64; N], Problem> {
        let mut shares = [0.0; N];
        for share in &mut shares {
            *share = self.percent()?;
        }
        Ok(shares)
    }

    /// Reads devices, tolerated errors, and a description.
    fn rest(&mut self, run: &mut Run, job: &mut JobResult) -> Result<(), Problem> {
        let rest: Vec<&str> = self.fields.by_ref().collect();
        let mut rest = &rest[..];
        while rest.get(8).is_some_and(|util| util.ends_with('%')) {
            let (disk, behind) = rest.split_at(9);
            rest = behind;
            let integer = |at: usize| disk[at].parse().unwrap_or(0);
            let disk = DiskUse {
                name: disk[0].to_owned(),
                read_ios: integer(1),
                write_ios: integer(2),
                read_merges: integer(3),
                write_merges: integer(4),
                read_ticks_ms: integer(5),
                write_ticks_ms: integer(6),
                in_queue_ms: integer(7),
                util_percent: number(disk[8].trim_end_matches('%')).unwrap_or(0.0),
                ..DiskUse::default()
            };
            // Each line of a run lists all devices.
            if run.disks.iter().all(|known| known.name != disk.name) {
                run.disks.push(disk);
            }
        }
        if let [errors, first, ..] = rest
            && let (Ok(errors), Ok(first)) = (errors.parse(), first.parse())
        {
            (job.result.errors, job.result.first_error) = (errors, first);
            job.declared.continue_on_error = true;
            rest = &rest[2..];
        }
        job.description = rest.first().filter(|text| !text.is_empty()).map(|text| (*text).to_owned());
        Ok(())
    }
}

/// Returns the operations of a kind by its bytes if a single block size agrees with its truncated IOPS, which lie between
/// these and the next integer, and otherwise by the middle of them. fio computes IOPS from the runtime that it prints.
fn operations(bytes: u64, (iops, middle): (f64, f64), runtime_ms: u64) -> u64 {
    const SECTOR: u64 = 512;
    let seconds = runtime_ms as f64 / 1000.0;
    let (least, most) = (iops * seconds, (iops + 1.0) * seconds);
    let estimate = (middle * seconds).round() as u64;
    if least < 1.0 {
        return estimate;
    }
    // Bytes are truncated to KiB.
    let smallest = (bytes as f64 / most / SECTOR as f64).ceil() as u64;
    let largest = ((bytes + 1024) as f64 / least / SECTOR as f64).floor() as u64;
    if smallest == largest && smallest > 0 { (bytes + 1023) / (smallest * SECTOR) } else { estimate }
}

/// Reports whether reads followed writes to verify them: a job that does both at the same time reads for as long as it
/// writes, and not exactly as many bytes.
fn reads_back(result: &Measured) -> bool {
    /// Operations of which a mix hardly has as many of both kinds.
    const MANY: u64 = 100;
    let (read, write) = (&result.read, &result.write);
    read.bytes == write.bytes && read.runtime_ns != write.runtime_ns && read.ios.min(write.ios) >= MANY
}

/// Parses a number and nothing else; versions before 2.1 printed `-nan` for empty means.
fn number(field: &str) -> Option<f64> {
    if field.trim_start_matches('-') == "nan" {
        return Some(0.0);
    }
    let (Printed { value, .. }, rest) = printed(field)?;
    rest.is_empty().then_some(value)
}

fn declared(result: &Measured, depth: fio::Depth) -> Declared {
    let any = |of: fn(&DirectionResult) -> &LatencyStats| result.kinds().any(|(_, kind)| of(kind).count > 0);
    let first = result.kinds().find(|(_, kind)| !kind.service.quoted.is_empty());
    Declared {
        device: true,
        queues: depth.iodepth > 1,
        iodepth: depth.iodepth,
        iodepth_effective: depth.iodepth,
        in_flight_asked: depth.in_flight_possible,
        in_flight_possible: depth.in_flight_possible,
        numjobs: depth.workers,
        kept: KeptLatencies {
            slat: any(|kind| &kind.submission),
            clat: any(|kind| &kind.service),
            lat: any(|kind| &kind.latency),
            clat_percentiles: first.is_some(),
            ..KeptLatencies::default()
        },
        percentiles: first.map_or_else(Vec::new, |(_, kind)| kind.service.quoted_percents()),
        disk_util: true,
        kb_base: 1024,
        significant_figures: None,
        header_only: true,
        estimated: EstimatedLoad::DepthAndWorkers,
        ..Declared::default()
    }
}

/// What a line says about the run that it belongs to.
#[derive(Debug)]
struct TerseLine<'a> {
    version: &'a str,
    name: &'a str,
    group: u32,
    /// Fields of devices.
    devices: Vec<&'a str>,
    /// Time for which the job ran.
    runtime_ms: f64,
    /// Figures that never fall while a job runs, and then those that never rise.
    rising: Vec<f64>,
    falling: Vec<f64>,
    is_total: bool,
}

impl<'a> TerseLine<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let fields = fields(line);
        let layout = TerseLayout::of(&fields)?;
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
        let kinds = || (0..layout.printed).map(|kind| layout.kind(kind));
        // Bytes, runtime and the longest service time of each kind; context switches.
        let of_kinds = kinds().flat_map(|at| [at, at + 3, at + 9].map(number));
        let devices = fields.get(layout.fields()..).unwrap_or_default();
        let of_devices = devices.chunks_exact(9).take_while(|device| device[8].ends_with('%')).count() * 9;
        Some(Self {
            version: if layout.head > 4 { fields[1] } else { "" },
            name: fields.get(layout.head - 3).copied().unwrap_or_default(),
            group: fields.get(layout.head - 2).and_then(|group| group.parse().ok()).unwrap_or(0),
            devices: devices[..of_devices].to_vec(),
            runtime_ms: kinds().map(|at| number(at + 3)).fold(0.0, f64::max),
            rising: of_kinds.chain([number(layout.processor() + 2)]).collect(),
            falling: kinds().map(|at| if number(at) > 0.0 { number(at + 8) } else { f64::MAX }).collect(),
            is_total: is_total(line),
        })
    }

    fn is_of_job(&self, other: &Self) -> bool {
        (self.version, self.name, self.group) == (other.version, other.name, other.group)
    }

    /// Reports whether a line may be a later report on this job.
    fn may_become(&self, later: &Self) -> bool {
        self.is_of_job(later)
            && self.rising.iter().zip(&later.rising).all(|(before, after)| before <= after)
            && self.falling.iter().zip(&later.falling).all(|(before, after)| before >= after)
    }

    /// Reports whether devices were busy for so long that they hardly do the same in another run.
    fn has_busy_devices(&self) -> bool {
        const BUSY_MS: f64 = 100.0;
        let times = self.devices.chunks_exact(9).flat_map(|device| &device[5..7]);
        times.filter_map(|ms| ms.parse::<f64>().ok()).sum::<f64>() >= BUSY_MS
    }
}

/// Reports whether a line belongs to the run of the lines above it.
fn belongs(run: &[TerseLine<'_>], line: &TerseLine<'_>) -> bool {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return false };
    if first.is_total || line.is_total || line.version != last.version || line.group < last.group {
        return false;
    }
    // A truncated line may lack its devices.
    if !last.devices.is_empty() && !line.devices.is_empty() {
        if last.devices != line.devices {
            return false;
        }
        if line.has_busy_devices() {
            return true;
        }
    }
    let begins_no_run = line.group > 0 && first.group == 0;
    begins_no_run || !run.iter().any(|known| known.is_of_job(line))
}

/// Returns the number of lines of each report on one run: all of them, unless each line may be a later report on the job of
/// a line above it.
fn lines_of_report(run: &[TerseLine<'_>]) -> usize {
    let repeats = |lines: &usize| {
        run.len().is_multiple_of(*lines)
            && run.iter().zip(&run[*lines..]).all(|(before, later)| before.may_become(later))
    };
    (1..run.len()).find(repeats).unwrap_or(run.len())
}

/// Lines of one run's report.
type TerseReport<'a> = (usize, Vec<TerseLine<'a>>);

/// Reports whether a report may be a later one on the same run.
fn may_follow((begin, before): &TerseReport<'_>, (next, later): &TerseReport<'_>) -> bool {
    let did_more = |a: &TerseLine<'_>, b: &TerseLine<'_>| {
        let numbers =
            |line: &TerseLine<'_>| -> Vec<f64> { line.devices.iter().filter_map(|field| field.parse().ok()).collect() };
        let (devices, later) = (numbers(a), numbers(b));
        a.may_become(b) && devices.len() == later.len() && devices.iter().zip(&later).all(|(a, b)| a <= b)
    };
    let longest_ms = |run: &[TerseLine<'_>]| run.iter().map(|line| line.runtime_ms).fold(0.0, f64::max);
    *next == begin + before.len()
        && before.len() == later.len()
        && before.iter().zip(later).all(|(a, b)| did_more(a, b))
        && longest_ms(before) < longest_ms(later)
}

/// Reports whether reports that may follow each other are of one run: devices did as much until the last one as until the
/// one before, or the times between them are equal except for a shorter one at the end.
fn are_of_one_run(reports: &[TerseReport<'_>]) -> bool {
    const EQUAL: f64 = 0.02;
    const SHORTER: f64 = 0.9;
    let lines = || reports.iter().map(|(_, lines)| &lines[0]);
    let repeats_devices = |(a, b): (&TerseLine<'_>, &TerseLine<'_>)| a.has_busy_devices() && a.devices == b.devices;
    let gaps: Vec<f64> = lines().zip(lines().skip(1)).map(|(a, b)| b.runtime_ms - a.runtime_ms).collect();
    let is_regular = |(last, others): (&f64, &[f64])| {
        let first = others.first().copied().unwrap_or(0.0);
        others.len() > 1 && *last < SHORTER * first && others.iter().all(|gap| (gap / first - 1.0).abs() < EQUAL)
    };
    lines().zip(lines().skip(1)).any(repeats_devices) || gaps.split_last().is_some_and(is_regular)
}

/// Returns the lines of the last report on each run, and how many reports there are on those of several, by their first
/// lines. Lines of one run follow each other.
pub(super) fn runs(text: &InputText) -> (Vec<Range<usize>>, BTreeMap<usize, usize>) {
    let mut runs: Vec<TerseReport<'_>> = Vec::new();
    let lines = text.lines().enumerate().filter_map(|(index, line)| Some((index, TerseLine::of(line)?)));
    for (index, line) in lines {
        match runs.last_mut() {
            Some((begin, run)) if *begin + run.len() == index && belongs(run, &line) => run.push(line),
            _ => runs.push((index, vec![line])),
        }
    }
    let mut reports: Vec<TerseReport<'_>> = Vec::new();
    for (mut begin, mut run) in runs {
        let lines = lines_of_report(&run);
        while !run.is_empty() {
            let rest = run.split_off(lines.min(run.len()));
            reports.push((begin, std::mem::replace(&mut run, rest)));
            begin += lines;
        }
    }
    let (mut last, mut counts) = (Vec::new(), BTreeMap::new());
    for chain in reports.chunk_by(may_follow) {
        let read = if are_of_one_run(chain) { &chain[chain.len() - 1..] } else { chain };
        if read.len() < chain.len() {
            counts.insert(read[0].0, chain.len());
        }
        last.extend(read.iter().map(|(begin, run)| *begin..begin + run.len()));
    }
    (last, counts)
}

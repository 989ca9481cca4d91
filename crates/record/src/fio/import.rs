//! Conversion of fio's document into a run.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::document::{FioDocument, FioFigures, FioPairs, FioSteady, JobEntry, Transfers};
use super::servers::{self, FioServers};
use crate::{
    CpuUse, DataKind, Declared, DeclaredSizes, DepthSearchRecord, DirectionResult, EstimatedLoad, JobResult,
    KeptLatencies, LatencyShares, LatencyStats, Measured, Note, ReadError, RequestedRun, Run, SCHEMA, SampleRecord,
    Shares, SteadyRecord, Tool, UnifiedReport,
};
use units::PerKind;

/// fio's default percentiles.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// Reads the last JSON document of fio's output.
///
/// # Errors
///
/// [`ReadError::NoDocument`] if no line begins a document, [`ReadError::Malformed`] if it is not fio's.
pub fn from_fio(text: &str) -> Result<Run, ReadError> {
    let mut starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let start = starts.rfind(|&start| text[start..].lines().next() == Some("{")).ok_or(ReadError::NoDocument)?;
    Ok(from_document(&text[start..])?)
}

/// Reads the document at the start of a text.
pub(crate) fn from_document(text: &str) -> Result<Run, serde_json::Error> {
    let read = |text: &str| FioDocument::deserialize(&mut serde_json::Deserializer::from_str(text)).map(run);
    match read(text) {
        // Versions before 2.12 print a comma after the last percentile of some lists.
        Err(error) if error.to_string().starts_with("trailing comma") => read(&without_trailing_commas(text)),
        read => read,
    }
}

/// Replaces trailing commas of lists and objects by blanks.
fn without_trailing_commas(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let (mut comma, mut in_string, mut escaped) = (None, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => (in_string, comma) = (!in_string, None),
            _ if in_string => {}
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn run(document: FioDocument) -> Run {
    let taken_unix_ms =
        if document.timestamp_ms > 0 { document.timestamp_ms } else { document.timestamp.saturating_mul(1000) };
    let globals = document.globals.0;
    let mut entries = document.jobs;
    servers::remove_totals(&mut entries);
    let servers = FioServers::of(&entries);
    let alone = alone(&entries);
    let unknown = if servers.is_empty() { Vec::new() } else { servers::different_options(&globals) };
    let mut notes: Vec<Note> = servers::note_on_options(&unknown).into_iter().collect();
    let mut jobs = Vec::with_capacity(entries.len());
    for (number, (mut entry, alone)) in entries.into_iter().zip(alone).enumerate() {
        let globals = TypedGlobals { globals: &globals, unknown: &unknown };
        notes.extend(take_mixed(&mut entry, &globals));
        let (job, of_job) = result(number as u32, entry, alone, &globals, &servers);
        jobs.push(job);
        notes.extend(of_job);
    }
    Run {
        schema: SCHEMA,
        tool: Tool { name: "fio".to_owned(), version: document.version.trim_start_matches("fio-").to_owned() },
        started_unix_ms: jobs.iter().map(|job| job.started_unix_ms).min().unwrap_or(0),
        taken_unix_ms,
        utc_offset_s: utc_offset_s(&document.time, document.timestamp),
        asked: asked(&jobs),
        jobs,
        disks: document.disk_util.into_iter().map(|one| servers.disk(one)).collect(),
        notes,
        globals: redacted(globals),
        ..Run::default()
    }
}

/// Returns a note on a result with `unified_rw_reporting`, which counts for a kind.
pub(crate) fn mixed_note(only: Option<DataKind>) -> String {
    const ALIKE: &str = "reads and writes are reported together (`unified_rw_reporting`)";
    match only {
        Some(kind) => format!("{ALIKE}: the job issues {}s only", kind.name()),
        None => format!("{ALIKE} and count as reads"),
    }
}

/// Returns the only kind of operations that a value of `rw` issues.
pub(crate) fn only_kind(rw: &str) -> Option<DataKind> {
    let kind = rw.strip_prefix("rand").unwrap_or(rw);
    DataKind::ALL.into_iter().find(|known| known.name() == kind)
}

/// Counts a unified result as the only kind that the job issues, or as reads, unless separate results exist.
fn take_mixed(entry: &mut JobEntry, globals: &TypedGlobals<'_>) -> Option<Note> {
    let mixed = entry.mixed.take()?;
    if entry.read.ios() > 0 || entry.write.ios() > 0 {
        return None;
    }
    let options = globals.with(&entry.options.0);
    let is_known = !options.are_missing() && !globals.unknown.contains(&"rw");
    let kind = only_kind(&rw(&options)).filter(|_| is_known);
    entry.is_unified = kind.is_none();
    *match kind {
        Some(DataKind::Write) => &mut entry.write,
        Some(DataKind::Trim) => &mut entry.trim,
        Some(DataKind::Read) | None => &mut entry.read,
    } = mixed;
    Some(Note { job: Some(entry.jobname.clone()), text: mixed_note(kind), ..Note::default() })
}

/// Returns the requested jobs. Clones that were not merged are consecutive entries of one name.
fn asked(jobs: &[JobResult]) -> Vec<RequestedRun> {
    let clones = jobs.chunk_by(|a, b| a.name == b.name && a.group == b.group && b.declared.numjobs > 1);
    clones.map(|clones| RequestedRun::of_result(&clones[0])).collect()
}

/// Derives the offset from UTC from a local time such as `Sat Nov 21 10:44:13 2026`, which nothing else in the document
/// states.
fn utc_offset_s(time: &str, unix_s: u64) -> i32 {
    const DAY_S: i64 = 86_400;
    let clock = time.split_whitespace().nth(3).unwrap_or_default();
    let mut parts = clock.split(':').filter_map(|part| part.parse::<u16>().ok().map(i64::from));
    let (Some(h), Some(m), Some(s)) = (parts.next(), parts.next(), parts.next()) else { return 0 };
    let ahead = (h * 3600 + m * 60 + s - (unix_s % DAY_S as u64) as i64).rem_euclid(DAY_S);
    // Time zones range from 12 hours behind to 14 ahead.
    (if ahead > 14 * 3600 { ahead - DAY_S } else { ahead }) as i32
}

/// Options of all jobs as printed, and those of them whose values differ between servers.
struct TypedGlobals<'a> {
    globals: &'a [(String, String)],
    unknown: &'a [&'a str],
}

impl<'a> TypedGlobals<'a> {
    fn with(&self, own: &'a [(String, String)]) -> TypedOptions<'a> {
        TypedOptions { own, globals: self.globals }
    }
}

/// Note on results of several sections.
const MERGED: &str = "several sections are merged here (`group_reporting`), and fio prints only the options of the \
                      last one: depth and block size may differ in the others";

/// Reports of each entry whether it is the only one of its group on its server. Several of one job are its clones, or of
/// several clients.
fn alone(entries: &[JobEntry]) -> Vec<bool> {
    let of = |entry: &JobEntry| (entry.groupid, entry.hostname.clone(), entry.port, entry.rank);
    let mut counts: BTreeMap<_, u32> = BTreeMap::new();
    entries.iter().for_each(|entry| *counts.entry(of(entry)).or_insert(0) += 1);
    entries.iter().map(|entry| counts[&of(entry)] == 1).collect()
}

fn result(
    number: u32,
    entry: JobEntry,
    alone: bool,
    globals: &TypedGlobals<'_>,
    servers: &FioServers,
) -> (JobResult, Vec<Note>) {
    let options = globals.with(&entry.options.0);
    let merged = MergedWorkers::of(&entry, &options, alone);
    let mut workers = merged.workers;
    let mut declared = declared(&entry, &options, workers);
    let is_own = |name: &str| options.own.iter().any(|(own, _)| own == name);
    if options.are_missing() || globals.unknown.iter().any(|name| !is_own(name)) {
        workers = without_options(&entry, &mut declared);
    } else if merged.has_sections {
        declared = of_sections(declared);
    } else {
        let possible = declared.in_flight_possible.map_or(f64::MAX, |possible| possible as f64);
        let occupied = measured(&entry, workers).occupied();
        // What is merged without a word, as up to fio 3.1, shows only by more operations in flight than are possible.
        let may_be_more = alone && (entry.job_runtime.is_none() || workers > 1);
        let is_more = may_be_more && occupied.is_some_and(|places| places > 1.03 * possible);
        if is_more || !merged.are_clones {
            (declared.in_flight_asked, declared.in_flight_possible) = (None, None);
        }
    }
    let name = servers.job_name(&entry);
    let steady = entry.steadystate.as_ref().map(steady);
    let note_of = |text: String| Note { job: Some(name.clone()), text, ..Note::default() };
    let notes = [
        merged.has_sections.then(|| note_of(MERGED.to_owned())),
        steady.as_ref().map(|steady| note_of(steady.fio_note())),
    ];
    let notes = notes.into_iter().flatten().collect();
    let job = JobResult {
        name,
        description: entry.desc.clone(),
        group: entry.groupid,
        number,
        error: entry.error,
        eta_s: entry.eta,
        elapsed_s: entry.elapsed,
        started_unix_ms: entry.job_start,
        pid: 0,
        workers,
        declared,
        depth_search: (entry.latency_target > 0).then_some(DepthSearchRecord {
            target_ns: entry.latency_target,
            window_ns: entry.latency_window.saturating_mul(1000),
            percentile: entry.latency_percentile,
            depth: entry.latency_depth,
            is_met: true,
            ..DepthSearchRecord::default()
        }),
        result: measured(&entry, workers),
        steady,
        // Options of one of several sections would look like those of all.
        echo: if merged.has_sections { Vec::new() } else { redacted(entry.options.0) },
        ..JobResult::default()
    };
    (job, notes)
}

fn steady(search: &FioSteady) -> SteadyRecord {
    let (measure, limit) = search.ss.split_once(':').unwrap_or((&search.ss, ""));
    let number = |text: &str| text.trim_end_matches('%').parse().unwrap_or(0.0);
    SteadyRecord {
        measure: measure.trim_end_matches("_slope").to_owned(),
        is_slope: measure.ends_with("_slope"),
        is_percent: limit.ends_with('%'),
        limit: number(limit),
        duration_ns: (search.duration * 1e9) as u64,
        is_attained: search.attained != 0,
        criterion: number(&search.criterion),
        max_deviation: search.max_deviation,
        slope: search.slope,
        iops: search.data.iops.clone(),
        bytes_per_second: search.data.bw.clone(),
        latencies_ns: search.data.lat_ns.clone(),
    }
}

/// Returns options without credentials, which fio repeats.
fn redacted(options: Vec<(String, String)>) -> Vec<(String, String)> {
    let value = |(name, value): (String, String)| {
        let shown = job::redacted_value(&name, &value).into_owned();
        (name, shown)
    };
    options.into_iter().map(value).collect()
}

/// Options as printed; a job's own precede the global ones.
struct TypedOptions<'a> {
    own: &'a [(String, String)],
    globals: &'a [(String, String)],
}

impl TypedOptions<'_> {
    /// Reports whether no options of the job were printed, as before fio 2.7 and in a client's output.
    fn are_missing(&self) -> bool {
        self.own.is_empty()
    }

    fn get(&self, name: &str) -> Option<&str> {
        let last = |options: &'_ [(String, String)]| options.iter().rposition(|(key, _)| key == name);
        let own = last(self.own).map(|at| self.own[at].1.as_str());
        own.or_else(|| last(self.globals).map(|at| self.globals[at].1.as_str()))
    }

    /// Returns a flag, which is set if it has no value.
    fn flag(&self, name: &str, default: bool) -> bool {
        self.get(name).map_or(default, |text| text != "0")
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }
}

/// The workers of an entry, whose number fio does not state.
#[derive(Clone, Copy, Debug)]
struct MergedWorkers {
    /// At least this many.
    workers: u32,
    /// Whether they are of several sections, of which fio prints the options of the last one.
    has_sections: bool,
    /// Whether they are all clones of one section: their runtimes add up to that of as many clones as it has.
    are_clones: bool,
}

impl MergedWorkers {
    /// An entry has several workers if `group_reporting` is printed, which fio up to 3.1 does only if it has a value, if it
    /// is the only one of a job with clones, or if runtimes add up to more than the time of the entry. They are of several
    /// sections if they are more than the last section has clones, or if its name, its kinds of operations or its block size
    /// are not those of the result.
    fn of(entry: &JobEntry, options: &TypedOptions<'_>, alone: bool) -> Self {
        /// Excess over a whole number, as a fraction of it, that still counts as that number.
        const JUST_ABOVE: f64 = 0.005;
        const ROUNDING_MS: f64 = 2.0;
        /// Length to which fio truncates the name of an entry, but not the option.
        const NAME_BYTES: usize = 127;
        let clones = options.number("numjobs").unwrap_or(1).clamp(1, u64::from(u32::MAX)) as u32;
        let active_ms = entry.active_ms(options.get("verify").is_some());
        let by_time = entry.job_runtime.filter(|_| active_ms > 0).map_or(1, |sum_ms| {
            let sum_ms = sum_ms as f64;
            let least_ms = sum_ms - (sum_ms * JUST_ABOVE).max(ROUNDING_MS);
            (least_ms / active_ms as f64).ceil().max(1.0) as u32
        });
        let is_own_name = |name: &str| {
            *name == entry.jobname || entry.jobname.len() >= NAME_BYTES && name.starts_with(&entry.jobname)
        };
        let is_of_others =
            options.own.iter().any(|(key, name)| key == "name" && !is_own_name(name)) || entry.has_other_kinds(options);
        let is_one = alone && (options.flag("group_reporting", false) || clones > 1 || is_of_others);
        let merged = by_time > 1 || is_one;
        match merged {
            true => Self {
                workers: clones.max(by_time),
                has_sections: by_time > clones || is_of_others || entry.has_other_sizes(options),
                are_clones: entry.job_runtime.is_some_and(|sum_ms| {
                    // Clones do not start and end in the same millisecond.
                    let of_clones_ms = active_ms.saturating_mul(clones.into());
                    by_time == clones || sum_ms.abs_diff(of_clones_ms) <= 10 * u64::from(clones)
                }),
            },
            false => Self { workers: 1, has_sections: false, are_clones: true },
        }
    }
}

impl JobEntry {
    /// Returns the time in which operations were counted, in milliseconds: of the kind with the longest runtime, or of
    /// all kinds if a job that verifies reads back what it has written.
    fn active_ms(&self, verifies: bool) -> u64 {
        let runtimes = [&self.read, &self.write, &self.trim].map(|kind| kind.runtime);
        let longest = runtimes.into_iter().max().unwrap_or(0);
        let sum = runtimes.into_iter().fold(0, u64::saturating_add);
        match self.job_runtime {
            // Each of the times is rounded.
            Some(ms) if verifies && ms.abs_diff(sum) <= sum / 50 + 1 => sum,
            _ => longest,
        }
    }

    /// Reports whether a job with these options, which neither verifies nor replays, cannot have done some of the operations.
    fn has_other_kinds(&self, options: &TypedOptions<'_>) -> bool {
        let (reads, writes) = (self.read.ios() > 0, self.write.ios() > 0);
        let does_more = ["verify", "read_iolog"].iter().any(|name| options.get(name).is_some());
        match options.get("rw").or_else(|| options.get("readwrite")) {
            Some("read" | "randread") => writes && !does_more,
            Some("write" | "randwrite") => reads && !does_more,
            _ => false,
        }
    }

    /// Reports whether transferred bytes are not operations times block size, which all jobs with these options have.
    fn has_other_sizes(&self, options: &TypedOptions<'_>) -> bool {
        const ROUNDING: f64 = 0.01;
        let sizes = block_sizes(options);
        let kinds = [(&self.read, sizes.read), (&self.write, sizes.write), (&self.trim, sizes.trim)];
        kinds.iter().any(|(kind, DeclaredSizes { min, max })| {
            let made = kind.ios() as f64 * f64::from(*min);
            let is_whole = min == max && kind.ios() >= 100 && kind.short_ios == 0 && kind.drop_ios == 0;
            is_whole && made > 0.0 && (kind.bytes() as f64 / made - 1.0).abs() > ROUNDING
        })
    }

    /// Returns the active time summed over workers, in milliseconds. fio up to 3.6 does not print it.
    fn worked_ms(&self, workers: u32) -> u64 {
        self.job_runtime.unwrap_or_else(|| self.active_ms(false).saturating_mul(workers.into()))
    }
}

/// Removes the settings of one section from those of a result of several.
fn of_sections(declared: Declared) -> Declared {
    Declared {
        engine: String::new(),
        device: true,
        iodepth: 0,
        iodepth_effective: 0,
        in_flight_asked: None,
        in_flight_possible: None,
        rw: String::new(),
        block_sizes: PerKind::default(),
        size: None,
        thinktime_ns: 0,
        rate_iops: PerKind::default(),
        rate_bytes: PerKind::default(),
        header_only: true,
        ..declared
    }
}

/// Estimates the settings of a job without printed options, and returns its number of workers.
fn without_options(entry: &JobEntry, declared: &mut Declared) -> u32 {
    let mut shares = [0.0; 7];
    shares.iter_mut().zip(&entry.iodepth_level.0).for_each(|(share, (_, percent))| *share = *percent);
    let longest_ms = [&entry.read, &entry.write, &entry.trim].iter().map(|kind| kind.runtime).max().unwrap_or(0);
    let alone = Measured { runtime_ns: longest_ms.saturating_mul(1_000_000), ..measured(entry, 1) };
    let depth = Depth::of(&shares, &alone, None);
    *declared = Declared {
        engine: String::new(),
        device: true,
        queues: depth.iodepth > 1,
        iodepth: depth.iodepth,
        iodepth_effective: depth.iodepth,
        numjobs: depth.workers,
        in_flight_asked: depth.in_flight_possible,
        in_flight_possible: depth.in_flight_possible,
        rw: String::new(),
        block_sizes: PerKind::default(),
        header_only: true,
        estimated: EstimatedLoad::DepthAndWorkers,
        ..std::mem::take(declared)
    };
    depth.workers
}

fn declared(entry: &JobEntry, options: &TypedOptions<'_>, workers: u32) -> Declared {
    // The default depends on the system, which paths show.
    let is_windows = options.get("filename").is_some_and(|path| path.contains('\\') && !path.starts_with('/'));
    let default = if is_windows { "windowsaio" } else { "psync" };
    // A model, or a command line that the document does not repeat, may have chosen an engine that queues.
    let deeper: f64 = entry.iodepth_level.0.iter().skip(1).map(|(_, percent)| percent).sum();
    let engine = options.get("ioengine").unwrap_or(if deeper > 50.0 { "" } else { default });
    let has_queue = engine.is_empty() || is_async(engine) || options.get("io_submit_mode") == Some("offload");
    let typed = || options.number("iodepth").and_then(|depth| u32::try_from(depth).ok());
    let iodepth = Some(entry.latency_depth).filter(|depth| *depth > 0).or_else(typed).unwrap_or(1).max(1);
    let iodepth_effective = if has_queue { iodepth } else { 1 };
    let workers = u64::from(workers);
    let pattern = rw(options);
    let rate = |name| {
        let rates = per_kind(options.get(name), parse_size);
        // Each worker has this rate.
        let of_used = |transfers: &Transfers, rate: Option<u64>| {
            rate.filter(|_| transfers.ios() > 0).map(|rate| rate.saturating_mul(workers))
        };
        if entry.is_unified {
            let read = of_used(&entry.read, unified_rate(&pattern, rates));
            return PerKind { read, ..PerKind::default() };
        }
        PerKind {
            read: of_used(&entry.read, rates.read),
            write: of_used(&entry.write, rates.write),
            trim: of_used(&entry.trim, rates.trim),
        }
    };
    let (rate_iops, rate_bytes) = (rate("rate_iops"), rate("rate"));
    let durable = ["fsync", "fdatasync", "end_fsync", "end_syncfs", "fsync_on_close", "sync"];
    Declared {
        engine: engine.to_owned(),
        device: engine != "null",
        queues: has_queue,
        iodepth,
        iodepth_effective,
        in_flight_asked: Some(u64::from(iodepth) * workers),
        in_flight_possible: Some(u64::from(iodepth_effective) * workers),
        numjobs: options.number("numjobs").unwrap_or(1) as u32,
        rw: pattern,
        block_sizes: block_sizes(options),
        direct: options.flag("direct", false) || options.get("buffered") == Some("0"),
        polled: options.flag("hipri", false),
        thread: options.flag("thread", false),
        size: options.get("size").and_then(parse_size),
        thinktime_ns: options.get("thinktime").and_then(parse_microseconds).unwrap_or(0),
        thinktime_blocks: options.number("thinktime_blocks").filter(|blocks| *blocks > 1),
        rate_iops,
        rate_bytes,
        poisson: options.get("rate_process") == Some("poisson"),
        syncs: durable.iter().any(|name| options.flag(name, false)),
        only_data_syncs: entry.sync.total_ios == 0 && entry.sync.lat_ns.count(0) > 0,
        verify: options.get("verify").is_some(),
        percentiles: percentiles(options),
        kept: kept(entry, options),
        continue_on_error: entry.total_err.is_some(),
        disk_util: options.flag("disk_util", true),
        kb_base: options.number("kb_base").unwrap_or(1024) as u32,
        significant_figures: None,
        unified: if entry.is_unified { UnifiedReport::Mixed } else { UnifiedReport::None },
        unit_base: options.number("unit_base").unwrap_or(0) as u32,
        ..Declared::default()
    }
}

/// Returns the requested rate of all kinds that a pattern issues, for one worker.
fn unified_rate(rw: &str, rates: PerKind<Option<u64>>) -> Option<u64> {
    match rw.strip_prefix("rand").unwrap_or(rw) {
        "rw" => PerKind { trim: None, ..rates }.sum(),
        "trimwrite" => PerKind { read: None, ..rates }.sum(),
        _ => None,
    }
}

pub(crate) fn is_async(engine: &str) -> bool {
    const SYNCHRONOUS: &str = "psync sync vsync pvsync pvsync2 mmap splice net netsplice http cpuio exec filecreate \
                                filestat filedelete dircreate dirstat dirdelete ftruncate falloc e4defrag libpmem pmemblk \
                                dev-dax libhdfs gfapi mtd ime_psync ime_psyncv";
    SYNCHRONOUS.split(' ').all(|known| known != engine)
}

fn rw(options: &TypedOptions<'_>) -> String {
    let text = options.get("rw").unwrap_or("read");
    let name = text.split(':').next().unwrap_or(text);
    if name == "readwrite" { "rw" } else { name }.to_owned()
}

fn percentiles(options: &TypedOptions<'_>) -> Vec<f64> {
    let list =
        options.get("percentile_list").map(|list| list.split(':').filter_map(|text| text.parse().ok()).collect());
    list.unwrap_or_else(|| PERCENTILES.to_vec())
}

fn kept(entry: &JobEntry, options: &TypedOptions<'_>) -> KeptLatencies {
    let any = |pick: fn(&Transfers) -> (&FioFigures, u64)| {
        [&entry.read, &entry.write, &entry.trim].into_iter().any(|t| pick(t).0.count(t.ios()) > 0)
    };
    KeptLatencies {
        slat: any(Transfers::submission),
        clat: any(Transfers::service),
        lat: any(Transfers::latency),
        slat_percentiles: options.flag("slat_percentiles", false),
        clat_percentiles: options.flag("clat_percentiles", true),
        lat_percentiles: options.flag("lat_percentiles", false),
    }
}

/// Parses block sizes. `bssplit` gives sizes with percentages, `bsrange` ranges; in `bs`, a comma, colon or hyphen
/// separates kinds.
fn block_sizes(options: &TypedOptions<'_>) -> PerKind<DeclaredSizes> {
    let bytes = |text: &str| parse_size(text).and_then(|bytes| u32::try_from(bytes).ok());
    let range = |part: &str| {
        let (min, max) = part.split_once('-')?;
        Some(DeclaredSizes { min: bytes(min)?, max: bytes(max)? })
    };
    let fixed = |part: &str| bytes(part).map(|size| DeclaredSizes { min: size, max: size });
    let split = |part: &str| {
        let sizes = part.split(':').map(|size| bytes(size.split('/').next()?));
        let sizes: Vec<u32> = sizes.collect::<Option<_>>()?;
        Some(DeclaredSizes { min: *sizes.iter().min()?, max: *sizes.iter().max()? })
    };
    let sizes = match (options.get("bssplit"), options.get("bsrange")) {
        (Some(splits), _) => per_kind(Some(splits), split),
        (None, Some(ranges)) => per_kind(Some(ranges), range),
        (None, None) => per_kind(Some(&options.get("bs").unwrap_or("4096").replace([':', '-'], ",")), fixed),
    };
    PerKind {
        read: sizes.read.unwrap_or_default(),
        write: sizes.write.unwrap_or_default(),
        trim: sizes.trim.unwrap_or_default(),
    }
}

/// Parses a list for reads, writes and trims, whose last value applies to missing ones.
pub(crate) fn per_kind<T: Copy>(text: Option<&str>, parse: impl Fn(&str) -> Option<T>) -> PerKind<Option<T>> {
    let mut parts = text.into_iter().flat_map(|text| text.split(',')).map(parse);
    let read = parts.next().flatten();
    let write = parts.next().unwrap_or(read);
    PerKind { read, write, trim: parts.next().unwrap_or(write) }
}

/// Parses a number whose suffix maps to a factor.
fn with_suffix(text: &str, factor: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, suffix) = text.split_at(digits);
    number.parse::<u64>().ok()?.checked_mul(factor(&suffix.to_ascii_lowercase())?)
}

/// Parses a number with fio's binary suffix: `4k` is 4096.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    with_suffix(text, |suffix| {
        Some(match suffix {
            "" | "b" => 1,
            "k" | "kb" => 1 << 10,
            "m" | "mb" => 1 << 20,
            "g" | "gb" => 1 << 30,
            "t" | "tb" => 1 << 40,
            _ => return None,
        })
    })
}

/// Parses a time into nanoseconds; the default unit is microseconds.
pub(crate) fn parse_microseconds(text: &str) -> Option<u64> {
    with_suffix(text, |suffix| {
        Some(match suffix {
            "" | "us" | "usec" => 1_000,
            "ms" | "msec" => 1_000_000,
            "s" | "sec" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        })
    })
}

fn measured(entry: &JobEntry, workers: u32) -> Measured {
    Measured {
        read: direction(&entry.read),
        write: direction(&entry.write),
        trim: direction(&entry.trim),
        sync: latency((&entry.sync.lat_ns, 1), entry.sync.total_ios),
        depth: shares(&entry.iodepth_level),
        submit: shares(&entry.iodepth_submit),
        complete: shares(&entry.iodepth_complete),
        runtime_ns: entry.worked_ms(workers).saturating_mul(1_000_000),
        cpu: cpu(entry, workers),
        errors: entry.total_err.unwrap_or(0),
        first_error: entry.first_error,
        workers,
        quoted_shares: Some(quoted_shares(entry)),
        ..Measured::default()
    }
}

/// fio prints fractions truncated to 0.1 % instead of counts. This total preserves their six decimals.
const SHARES_TOTAL: u64 = 100_000_000;

fn shares(percents: &FioPairs<f64>) -> Shares {
    shares_of(percents.0.iter().map(|(_, percent)| *percent))
}

/// Converts seven fractions in percent.
pub(crate) fn shares_of(percents: impl Iterator<Item = f64>) -> Shares {
    let mut counts = [0; 7];
    for (count, percent) in counts.iter_mut().zip(percents) {
        *count = (percent / 100.0 * SHARES_TOTAL as f64).round() as u64;
    }
    Shares { counts, total: SHARES_TOTAL }
}

fn quoted_shares(entry: &JobEntry) -> LatencyShares {
    let mut shares = LatencyShares::default();
    let copy =
        |to: &mut [f64], from: &FioPairs<f64>| to.iter_mut().zip(&from.0).for_each(|(to, (_, share))| *to = *share);
    copy(&mut shares.ns, &entry.latency_ns);
    copy(&mut shares.us, &entry.latency_us);
    copy(&mut shares.ms, &entry.latency_ms);
    shares
}

fn cpu(entry: &JobEntry, workers: u32) -> CpuUse {
    let ns = |percent: f64| (percent / 100.0 * entry.worked_ms(workers) as f64 * 1e6).round() as u64;
    CpuUse {
        user_ns: ns(entry.usr_cpu),
        system_ns: ns(entry.sys_cpu),
        context_switches: entry.ctx,
        major_faults: entry.majf,
        minor_faults: entry.minf,
    }
}

fn direction(transfers: &Transfers) -> DirectionResult {
    DirectionResult {
        // Latencies by priority are not read.
        priorities: Vec::new(),
        ios: transfers.ios(),
        bytes: transfers.bytes(),
        short_ios: transfers.short_ios,
        drop_ios: transfers.drop_ios,
        runtime_ns: transfers.runtime.saturating_mul(1_000_000),
        submission: latency(transfers.submission(), transfers.ios()),
        service: latency(transfers.service(), transfers.ios()),
        latency: latency(transfers.latency(), transfers.ios()),
        response: LatencyStats::default(),
        bandwidth_kib: SampleRecord {
            count: transfers.bw_samples,
            min: transfers.bw_min,
            max: transfers.bw_max,
            mean: transfers.bw_mean,
            stddev: transfers.bw_dev,
        },
        iops_samples: SampleRecord {
            count: transfers.iops_samples,
            min: transfers.iops_min,
            max: transfers.iops_max,
            mean: transfers.iops_mean,
            stddev: transfers.iops_stddev,
        },
    }
}

/// Converts latencies of a number of operations, in units of `unit_ns` nanoseconds.
fn latency((figures, unit_ns): (&FioFigures, u64), operations: u64) -> LatencyStats {
    let ns = |figure: u64| figure.saturating_mul(unit_ns);
    let bucket = |(value, count): &(String, u64)| Some((meter::bucket_of(ns(value.parse().ok()?)), *count));
    // Before fio 2.3, unused places of the list were printed as `0.00`.
    let quoted = |(percent, figure): &(String, u64)| {
        percent.parse().ok().filter(|percent| *percent > 0.0).map(|percent: f64| (percent, ns(*figure)))
    };
    LatencyStats {
        count: figures.count(operations),
        min_ns: ns(figures.min),
        max_ns: ns(figures.max),
        mean_ns: figures.mean * unit_ns as f64,
        stddev_ns: figures.stddev * unit_ns as f64,
        buckets: figures.bins.0.iter().filter_map(bucket).collect(),
        quoted: figures.percentile.0.iter().filter_map(quoted).collect(),
    }
}

/// Relative difference from a whole number that still counts as that number.
const ABOUT: f64 = 0.03;

/// Depth and number of workers of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Depth {
    pub(crate) iodepth: u32,
    pub(crate) workers: u32,
    /// Operations that all workers may have in flight, known only if that many were: a job that waits for its rate or
    /// for syncs never shows its depth.
    pub(crate) in_flight_possible: Option<u64>,
}

impl Depth {
    /// Estimates the depth from its distribution in percent by powers of two, and from Little's law.
    ///
    /// The depth is the lower bound of the deepest significant class, because depths are mostly powers of two; the last
    /// class has no upper bound. The number of workers, if it is unknown, follows from the operations in flight.
    pub(crate) fn of(shares: &[f64; 7], result: &Measured, workers: Option<u32>) -> Self {
        /// Smaller classes come from the start and the end of a run.
        const COUNTS_PERCENT: f64 = 10.0;
        let deepest = shares.iter().rposition(|share| *share >= COUNTS_PERCENT).unwrap_or(0);
        let total_ns: f64 = result.kinds().map(|(_, kind)| kind.latency.sum_ns().max(kind.served().sum_ns())).sum();
        let in_flight = total_ns / result.elapsed_ns().max(1) as f64;
        let at_least = |number: f64| (number - number * ABOUT).ceil().max(1.0) as u32;
        let class = 1u32 << deepest;
        let (full, workers) = if deepest == shares.len() - 1 {
            let workers = workers.unwrap_or(1).max(1);
            let multiple = at_least(in_flight / f64::from(workers) / f64::from(class));
            (class.saturating_mul(multiple), workers)
        } else {
            (class, workers.unwrap_or_else(|| at_least(in_flight / f64::from(class))).max(1))
        };
        let possible = u64::from(full) * u64::from(workers);
        let is_full = shares.iter().any(|share| *share > 0.0) && in_flight >= possible as f64 * (1.0 - ABOUT);
        let reached = ((in_flight / f64::from(workers)).ceil() as u32).max(class);
        Self {
            iodepth: if is_full || class < 64 { full } else { reached },
            workers,
            in_flight_possible: is_full.then_some(possible),
        }
    }
}

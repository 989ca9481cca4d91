//! Conversion of fio's document into a run.

use serde::Deserialize;

use super::depth::Depth;
use super::document::{FioDiskUtil, FioDocument, FioFigures, FioPairs, JobEntry, Transfers};
use super::servers::{self, FioServers};
use crate::{
    CpuUseRecord, Declared, DeclaredPerKind, DeclaredSizes, DirectionResult, DiskUse, JobResult, KeptLatencies,
    LatencyShares, LatencyStats, Measured, Note, ReadError, RequestedRun, Run, SCHEMA, SampleRecord, Shares, Tool,
};

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
    let unknown = if servers.is_empty() { Vec::new() } else { servers::different_options(&globals) };
    let mut notes: Vec<Note> = entries.iter_mut().filter_map(take_mixed).collect();
    notes.extend(servers::note_on_options(&unknown));
    let number =
        |(number, job)| result(number as u32, job, &TypedGlobals { globals: &globals, unknown: &unknown }, &servers);
    let jobs: Vec<JobResult> = entries.into_iter().enumerate().map(number).collect();
    Run {
        schema: SCHEMA,
        tool: Tool { name: "fio".to_owned(), version: document.version.trim_start_matches("fio-").to_owned() },
        started_unix_ms: jobs.iter().map(|job| job.started_unix_ms).min().unwrap_or(0),
        taken_unix_ms,
        utc_offset_s: utc_offset_s(&document.time, document.timestamp),
        asked: asked(&jobs),
        jobs,
        disks: document.disk_util.iter().map(|one| disk(one, &servers)).collect(),
        notes,
        globals: redacted(globals),
        ..Run::default()
    }
}

/// Note on results with `unified_rw_reporting`.
pub(crate) const MIXED: &str = "reads and writes were reported as one (`unified_rw_reporting`) and count as reads";

/// Counts a unified result as reads, unless separate results exist.
fn take_mixed(entry: &mut JobEntry) -> Option<Note> {
    let mixed = entry.mixed.take()?;
    if entry.read.ios() > 0 || entry.write.ios() > 0 {
        return None;
    }
    entry.read = mixed;
    Some(Note { job: Some(entry.jobname.clone()), text: MIXED.to_owned() })
}

/// Returns the requested jobs. Clones that were not merged are consecutive entries of one name.
fn asked(jobs: &[JobResult]) -> Vec<RequestedRun> {
    let clones = jobs.chunk_by(|a, b| a.name == b.name && a.group == b.group && b.declared.numjobs > 1);
    let asked = |job: &JobResult| RequestedRun {
        name: job.name.clone(),
        group: job.group,
        declared: job.declared.clone(),
        processor: None,
        program: None,
    };
    clones.map(|clones| asked(&clones[0])).collect()
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

fn result(number: u32, entry: JobEntry, globals: &TypedGlobals<'_>, servers: &FioServers) -> JobResult {
    let options = TypedOptions { own: &entry.options.0, globals: globals.globals };
    let mut declared = declared(&entry, &options);
    let mut workers = workers(&entry, &options);
    let is_own = |name: &str| options.own.iter().any(|(own, _)| own == name);
    if options.are_missing() || globals.unknown.iter().any(|name| !is_own(name)) {
        workers = without_options(&entry, &mut declared);
    }
    JobResult {
        name: servers.job_name(&entry),
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
        result: measured(&entry, workers),
        echo: redacted(entry.options.0),
        ..JobResult::default()
    }
}

/// Returns options without credentials, which fio repeats.
fn redacted(options: Vec<(String, String)>) -> Vec<(String, String)> {
    let value = |(name, value): (String, String)| {
        let shown = job::redacted_value(&name, &value).to_owned();
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
    /// Reports whether no options were printed, as before fio 2.7 and in a client's output.
    fn are_missing(&self) -> bool {
        self.own.is_empty() && self.globals.is_empty()
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

/// Returns the number of workers of an entry, which fio does not state: all clones of the job if `group_reporting` is
/// printed. fio 3.33 prints it only if it has a value; without it, runtimes that add up to more than the longest show
/// it.
fn workers(entry: &JobEntry, options: &TypedOptions<'_>) -> u32 {
    let clones = options.number("numjobs").unwrap_or(1).max(1) as u32;
    let longest = [&entry.read, &entry.write, &entry.trim].iter().map(|kind| kind.runtime).max().unwrap_or(0);
    let added_up = longest > 0 && entry.job_runtime >= longest.saturating_add(longest / 2);
    if options.flag("group_reporting", added_up) { clones } else { 1 }
}

/// Estimates the settings of a job without printed options, and returns its number of workers.
fn without_options(entry: &JobEntry, declared: &mut Declared) -> u32 {
    let mut shares = [0.0; 7];
    shares.iter_mut().zip(&entry.iodepth_level.0).for_each(|(share, (_, percent))| *share = *percent);
    let longest_ms = [&entry.read, &entry.write, &entry.trim].iter().map(|kind| kind.runtime).max().unwrap_or(0);
    let alone = Measured { runtime_ns: longest_ms.saturating_mul(1_000_000), ..measured(entry, 1) };
    let depth = Depth::of(&shares, &alone);
    let workers = u64::from(depth.workers);
    *declared = Declared {
        engine: String::new(),
        device: true,
        queues: depth.iodepth > 1,
        iodepth: depth.iodepth,
        iodepth_effective: depth.iodepth,
        numjobs: depth.workers,
        in_flight_asked: u64::from(depth.iodepth) * workers,
        in_flight_possible: u64::from(depth.iodepth) * workers,
        rw: String::new(),
        block_sizes: DeclaredPerKind::default(),
        header_only: true,
        ..std::mem::take(declared)
    };
    depth.workers
}

fn declared(entry: &JobEntry, options: &TypedOptions<'_>) -> Declared {
    let engine = options.get("ioengine").unwrap_or("psync");
    let has_queue = is_async(engine) || options.get("io_submit_mode") == Some("offload");
    let iodepth = entry.latency_depth.max(1);
    let iodepth_effective = if has_queue { iodepth } else { 1 };
    let workers = u64::from(workers(entry, options));
    let rate = |name| {
        let rates = per_kind(options.get(name), parse_size);
        let of_used = |transfers: &Transfers, rate: Option<u64>| rate.filter(|_| transfers.ios() > 0);
        DeclaredPerKind {
            read: of_used(&entry.read, rates.read),
            write: of_used(&entry.write, rates.write),
            trim: of_used(&entry.trim, rates.trim),
        }
    };
    let durable = ["fsync", "fdatasync", "end_fsync", "end_syncfs", "fsync_on_close", "sync"];
    Declared {
        engine: engine.to_owned(),
        device: engine != "null",
        queues: has_queue,
        iodepth,
        iodepth_effective,
        in_flight_asked: u64::from(iodepth) * workers,
        in_flight_possible: u64::from(iodepth_effective) * workers,
        numjobs: options.number("numjobs").unwrap_or(1) as u32,
        rw: rw(options),
        block_sizes: block_sizes(options),
        direct: options.flag("direct", false) || options.get("buffered") == Some("0"),
        polled: options.flag("hipri", false),
        thread: options.flag("thread", false),
        size: options.get("size").and_then(parse_size),
        thinktime_ns: options.get("thinktime").and_then(parse_microseconds).unwrap_or(0),
        rate_iops: rate("rate_iops"),
        rate_bytes: rate("rate"),
        syncs: durable.iter().any(|name| options.flag(name, false)),
        only_data_syncs: entry.sync.total_ios == 0 && entry.sync.lat_ns.count(0) > 0,
        verify: options.get("verify").is_some(),
        percentiles: percentiles(options),
        kept: kept(entry, options),
        continue_on_error: entry.total_err.is_some(),
        disk_util: options.flag("disk_util", true),
        kb_base: options.number("kb_base").unwrap_or(1024) as u32,
        significant_figures: None,
        unified: crate::UnifiedKinds::None,
        unit_base: options.number("unit_base").unwrap_or(0) as u32,
        ..Declared::default()
    }
}

pub(crate) fn is_async(engine: &str) -> bool {
    !matches!(engine, "psync" | "sync" | "vsync" | "pvsync" | "pvsync2" | "mmap")
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
fn block_sizes(options: &TypedOptions<'_>) -> DeclaredPerKind<DeclaredSizes> {
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
    DeclaredPerKind {
        read: sizes.read.unwrap_or_default(),
        write: sizes.write.unwrap_or_default(),
        trim: sizes.trim.unwrap_or_default(),
    }
}

/// Parses a list for reads, writes and trims, whose last value applies to missing ones.
fn per_kind<T: Copy>(text: Option<&str>, parse: impl Fn(&str) -> Option<T>) -> DeclaredPerKind<Option<T>> {
    let mut parts = text.into_iter().flat_map(|text| text.split(',')).map(parse);
    let read = parts.next().flatten();
    let write = parts.next().unwrap_or(read);
    DeclaredPerKind { read, write, trim: parts.next().unwrap_or(write) }
}

/// Parses a number whose suffix maps to a factor.
fn with_suffix(text: &str, factor: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, suffix) = text.split_at(digits);
    number.parse::<u64>().ok()?.checked_mul(factor(&suffix.to_ascii_lowercase())?)
}

/// Parses a number with fio's binary suffix: `4k` is 4096.
fn parse_size(text: &str) -> Option<u64> {
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
fn parse_microseconds(text: &str) -> Option<u64> {
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
        runtime_ns: entry.job_runtime.saturating_mul(1_000_000),
        cpu: cpu(entry),
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

fn cpu(entry: &JobEntry) -> CpuUseRecord {
    let ns = |percent: f64| (percent / 100.0 * entry.job_runtime as f64 * 1e6).round() as u64;
    CpuUseRecord {
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

fn disk(disk: &FioDiskUtil, servers: &FioServers) -> DiskUse {
    DiskUse {
        name: servers.disk_name(disk),
        read_ios: disk.read_ios,
        write_ios: disk.write_ios,
        read_sectors: disk.read_sectors,
        write_sectors: disk.write_sectors,
        read_merges: disk.read_merges,
        write_merges: disk.write_merges,
        read_ticks_ms: disk.read_ticks,
        write_ticks_ms: disk.write_ticks,
        in_queue_ms: disk.in_queue,
        util_percent: disk.util,
    }
}

//! The job for a trace, and how far it is from the trace.

use serde::Serialize;
use trace::{
    BacklogLimit, JobComparison, JobLoop, JobOmission, LoadDifference, LoadDimension, LoadLatency, TraceStudy,
    VolumeComparison,
};
use units::{Bytes, Nanos, count, grouped, percent, significant};

use super::tables::TraceTable;
use crate::escape::terminal;

fn not_matched(job: &JobComparison) -> impl Iterator<Item = &LoadDifference> {
    job.differences.iter().filter(|difference| !difference.is_matched)
}

/// Returns statements on the job as labels and values.
pub(super) fn job_facts(report: &TraceStudy) -> Vec<(&'static str, String)> {
    let Some(job) = &report.job else { return Vec::new() };
    let (sections, plural) = (job.sections, if job.sections == 1 { "" } else { "s" });
    let kind = match job.job_loop {
        JobLoop::Open => "an open loop",
        JobLoop::Closed => "a closed loop",
    };
    let file = terminal(&job.file, false);
    let mut facts = vec![("job", format!("{file}: {sections} section{plural} in {kind}, {}", Bytes::new(job.bytes)))];
    let matched = job.differences.len() - not_matched(job).count();
    facts.push(("matched", format!("{matched} of {} dimensions", job.differences.len())));
    let names: Vec<String> = not_matched(job).map(|difference| dimension_name(difference.dimension)).collect();
    if !names.is_empty() {
        facts.push(("not matched", names.join(", ")));
    }
    let omissions: Vec<String> = job.omissions.iter().map(omission).collect();
    if !omissions.is_empty() {
        facts.push(("left out", omissions.join("; ")));
    }
    facts.extend(volume_fact(job));
    facts.extend(job.not_simulated.as_ref().map(|why| ("latency", format!("not compared: {}", plain_text(why)))));
    facts
}

fn plain_text(text: &str) -> String {
    units::printable(text).into_owned()
}

/// States on which volumes the job behaves as the trace, and what is missing for the others.
fn volume_fact(job: &JobComparison) -> Option<(&'static str, String)> {
    let missed: Vec<&VolumeComparison> = job.volumes.iter().filter(|volume| !volume.is_matched()).collect();
    let all = job.volumes.len();
    if all == 0 {
        return None;
    }
    if missed.is_empty() {
        return Some(("latency", format!("on all {all} volumes IOPS are within 3% and p99 within 15% of the trace")));
    }
    let difference = |volume: &&VolumeComparison| {
        let (iops, p99) = (volume.iops_difference(), volume.p99_difference());
        format!("{} (IOPS {}, p99 {})", plain_text(&volume.volume), signed_percent(iops), signed_percent(p99))
    };
    let volumes: Vec<String> = missed.iter().map(difference).collect();
    let named = |concerns: fn(LoadDimension) -> bool| -> Vec<String> {
        let missing = not_matched(job).filter(|difference| concerns(difference.dimension));
        missing.map(|difference| dimension_name(difference.dimension)).collect()
    };
    // Waits before limits contain rates, sizes and bursts. What remains is the speed of single requests and their order.
    let candidates = [named(is_load), named(concerns_latency)];
    let why = candidates.into_iter().find(|names| !names.is_empty());
    let why = why.map_or_else(|| "the order of requests of different sections".to_owned(), |names| names.join(", "));
    Some(("latency", format!("differs on {}; not matched: {why}", volumes.join(" and "))))
}

/// Reports whether a dimension is a rate or a wait before a limit.
const fn is_load(dimension: LoadDimension) -> bool {
    matches!(dimension, LoadDimension::Rate | LoadDimension::BytesRate | LoadDimension::Wait(_))
}

/// Reports whether a dimension can change latencies on a volume.
const fn concerns_latency(dimension: LoadDimension) -> bool {
    !matches!(dimension, LoadDimension::Footprint | LoadDimension::HotAccesses(_) | LoadDimension::MissRatio(_))
}

fn omission(omission: &JobOmission) -> String {
    match omission {
        JobOmission::UnknownOperations { requests } => format!("{} requests of unknown operations", grouped(*requests)),
        JobOmission::EmptyRequests { requests } => format!("{} requests of no bytes", grouped(*requests)),
        JobOmission::FlushesWithoutWrites { flushes } => {
            format!("{} flushes before any write: jobs flush after writes", grouped(*flushes))
        }
        JobOmission::FlushesAboveWrites { flushes } => {
            format!("{} flushes: jobs flush at most once for each write", grouped(*flushes))
        }
        JobOmission::DividedRequests { requests } => {
            format!("{} requests of over 16 MiB are divided", grouped(*requests))
        }
        JobOmission::AveragedPhases { phases } => {
            format!("{} phases are averaged: there would be too many sections", grouped(*phases))
        }
        JobOmission::RepeatedBursts { bursts } => {
            format!("the instants of {} bursts: they are repeated at equal intervals", grouped(*bursts))
        }
        JobOmission::JoinedDevices { devices } => format!("{devices} devices are laid next to each other on one"),
    }
}

/// Returns the tables of differences and of volumes.
pub(super) fn job_tables(report: &TraceStudy) -> [TraceTable; 2] {
    let job = report.job.as_deref();
    let difference_row = |difference: &LoadDifference| {
        let dimension = difference.dimension;
        let value = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| figure(dimension, value));
        let trace = difference.trace.filter(|_| dimension != LoadDimension::Sizes);
        let mark = if difference.is_matched { "" } else { "not matched" };
        vec![
            dimension_name(dimension),
            value(trace),
            value(difference.job),
            difference_text(difference),
            mark.to_owned(),
        ]
    };
    let volume_row = |volume: &VolumeComparison| {
        let iops = |load: &LoadLatency| count(load.iops);
        let time = |ns: u64| Nanos::new(ns).to_string();
        vec![
            plain_text(&volume.volume),
            iops(&volume.trace),
            iops(&volume.job),
            signed_percent(volume.iops_difference()),
            time(volume.trace.p99_ns),
            time(volume.job.p99_ns),
            signed_percent(volume.p99_difference()),
        ]
    };
    [
        TraceTable {
            name: "Distance of the job",
            note: "The job on a volume as fast as the device of the trace, characterized as the trace was.",
            head: vec!["dimension", "trace", "job", "difference", ""],
            rows: job.map(|job| job.differences.iter().map(difference_row).collect()).unwrap_or_default(),
        },
        TraceTable {
            name: "Trace and job on volumes",
            note: "The trace is replayed, the job is simulated. Latencies count from the intended instant.",
            head: vec!["volume", "IOPS", "of job", "", "p99", "of job", ""],
            rows: job.map(|job| job.volumes.iter().map(volume_row).collect()).unwrap_or_default(),
        },
    ]
}

fn dimension_name(dimension: LoadDimension) -> String {
    match dimension {
        LoadDimension::Rate => "requests per second".to_owned(),
        LoadDimension::BytesRate => "bytes per second".to_owned(),
        LoadDimension::ReadFraction => "reads".to_owned(),
        LoadDimension::Sizes => "sizes".to_owned(),
        LoadDimension::SequentialReads => "sequential reads".to_owned(),
        LoadDimension::SequentialWrites => "sequential writes".to_owned(),
        LoadDimension::FlushRate => "flushes per second".to_owned(),
        LoadDimension::DepthMean => "mean depth".to_owned(),
        LoadDimension::DepthP99 => "p99 of the depth".to_owned(),
        LoadDimension::Wait(BacklogLimit::Requests(per_s)) => format!("p99 wait at {} IOPS", count(per_s as f64)),
        LoadDimension::Wait(BacklogLimit::Bytes(per_s)) => format!("p99 wait at {}/s", Bytes::new(per_s)),
        LoadDimension::Dispersion(ms) => format!("dispersion at {}", Nanos::new(ms * 1_000_000)),
        LoadDimension::Footprint => "footprint".to_owned(),
        LoadDimension::HotAccesses(part) => format!("accesses to hottest {part}%"),
        LoadDimension::MissRatio(part) => format!("misses of {part}% cache"),
    }
}

fn figure(dimension: LoadDimension, value: f64) -> String {
    match dimension {
        LoadDimension::Rate | LoadDimension::FlushRate => count(value),
        LoadDimension::BytesRate => format!("{}/s", Bytes::new(value.max(0.0) as u64)),
        LoadDimension::Footprint => Bytes::new(value.max(0.0) as u64).to_string(),
        LoadDimension::Wait(_) => Nanos::new(value.max(0.0) as u64).to_string(),
        LoadDimension::DepthMean | LoadDimension::DepthP99 | LoadDimension::Dispersion(_) => significant(value, 3),
        _ => percent(value),
    }
}

/// Returns a difference: in percent of the trace's value, or in percentage points.
fn difference_text(difference: &LoadDifference) -> String {
    if difference.dimension.is_fraction() {
        return format!("{:+.1} points", 100.0 * difference.difference);
    }
    signed_percent(difference.difference)
}

fn signed_percent(fraction: f64) -> String {
    let percent = 100.0 * fraction;
    if percent.abs() < 10.0 { format!("{percent:+.1}%") } else { format!("{percent:+.0}%") }
}

/// A job and its differences as JSON.
#[derive(Serialize)]
pub(super) struct JobForm<'a> {
    file: &'a str,
    sections: usize,
    job_loop: &'static str,
    bytes: u64,
    left_out: Vec<String>,
    differences: &'a [LoadDifference],
    volumes: Vec<VolumeForm<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_simulated: Option<&'a str>,
}

#[derive(Serialize)]
struct VolumeForm<'a> {
    #[serde(flatten)]
    compared: &'a VolumeComparison,
    iops_difference: f64,
    p99_difference: f64,
    is_matched: bool,
}

impl<'a> JobForm<'a> {
    pub(super) fn new(job: &'a JobComparison) -> Self {
        let volume = |volume: &'a VolumeComparison| VolumeForm {
            compared: volume,
            iops_difference: volume.iops_difference(),
            p99_difference: volume.p99_difference(),
            is_matched: volume.is_matched(),
        };
        Self {
            file: &job.file,
            sections: job.sections,
            job_loop: match job.job_loop {
                JobLoop::Open => "open",
                JobLoop::Closed => "closed",
            },
            bytes: job.bytes,
            left_out: job.omissions.iter().map(omission).collect(),
            differences: &job.differences,
            volumes: job.volumes.iter().map(volume).collect(),
            not_simulated: job.not_simulated.as_deref(),
        }
    }
}

/// Returns the lines of comment at the head of a job file.
#[must_use]
pub fn job_comment(report: &TraceStudy) -> Vec<String> {
    let Some(job) = &report.job else { return Vec::new() };
    let (name, file) = (plain_text(&report.name), plain_text(&job.file));
    let mut lines = vec![
        format!("Load of the trace {name}: {}", super::summary(report)),
        super::rates(report),
        "Written by fathom trace --to-job, which prints how far the job is from the trace.".to_owned(),
    ];
    lines.extend(job.omissions.iter().map(|left_out| format!("Not as in the trace: {}.", omission(left_out))));
    lines.push("On a model:  fathom sim JOBFILE --on aws/gp3".replace("JOBFILE", &file));
    lines.push(format!("On a device: set filename to its path; it needs {}.", Bytes::new(job.bytes)));
    lines.push("             If the job writes, the data of the device are lost.".to_owned());
    lines
}

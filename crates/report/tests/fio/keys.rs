//! Programs that parse fio's JSON look up keys in any order, and expect integers where fio writes integers. So a job
//! measured by Fathom's meter must have the same keys, order and types as with the installed fio.

use crate::fio::installed::installed_fio;
use job::OutputFormat;
use job::{Dialect, EmptySource, Job, parse_command_line};
use meter::{Latency, Samples, Summary};
use record::{DiskUse, JobResult, Run, RunOutcome, SCHEMA, Tool, WorkerRecord, collect};
use report::fio::{FioOptions, document};
use units::{CpuUse, DataKind, Nanos};

const JOBS: &[(&str, &[&str])] = &[
    ("mix", &["--name=a", "--ioengine=null", "--size=1m", "--rw=randrw", "--iodepth=4", "--description=d"]),
    ("merged", &["--name=a", "--ioengine=null", "--size=1m", "--numjobs=2", "--group_reporting", "--rw=trim"]),
    ("synced", &["--name=a", "--filename=f", "--ioengine=psync", "--size=1m", "--rw=write", "--fsync=4"]),
    (
        "all percentiles",
        &[
            "--ioengine=null",
            "--size=1m",
            "--iodepth=2",
            "--slat_percentiles=1",
            "--lat_percentiles=1",
            "--name=a",
            "--name=b",
            "--stonewall",
            "--rw=write",
        ],
    ),
    (
        "no percentiles",
        &["--name=a", "--ioengine=null", "--size=1m", "--clat_percentiles=0", "--continue_on_error=all"],
    ),
    (
        "reduced",
        &["--name=a", "--ioengine=null", "--size=1m", "--gtod_reduce=1", "--percentile_list=50:99.9", "--bs=8k"],
    ),
];

#[test]
fn keys_order_and_types_equal_fios() {
    let Some(fio) = installed_fio() else { return };
    for (label, arguments) in JOBS {
        let printed = fio.output(&[&["--output-format=json+"], *arguments].concat());
        let run = run(arguments, printed.contains("\"disk_util\""));
        let options = FioOptions { version: fio.version, ..FioOptions::default() };
        let written = document(&run, &[OutputFormat::JsonPlus], options);
        let (theirs, ours) = (shape(&printed), shape(&written));
        for (theirs, ours) in theirs.iter().zip(&ours) {
            assert_eq!(ours, theirs, "{label}");
        }
        assert_eq!(ours.len(), theirs.len(), "{label}");
    }
}

#[test]
fn notes_are_inside_the_document_if_there_are_any() {
    let mut run = run(JOBS[0].1, false);
    let json = document(&run, &[OutputFormat::Json], FioOptions::default());
    assert!(!json.contains("fathom notes"));
    run.notes = vec![record::Note {
        job: Some("a".to_owned()),
        text: "a \"quoted\"\tword".to_owned(),
        ..record::Note::default()
    }];
    let json = document(&run, &[OutputFormat::Json], FioOptions::default());
    assert!(json.ends_with("  \"fathom notes\" : [\n    \"a: a \\\"quoted\\\"\\u0009word\"\n  ]\n}\n"), "{json}");
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(parsed["fathom notes"][0], "a: a \"quoted\"\tword");
    let normal = document(&run, &[OutputFormat::Normal], FioOptions::default());
    assert!(normal.ends_with("  note: a: a \"quoted\"\tword\n"), "{normal}");
}

/// Returns the shape of a document: depth, key and type of value of each line. Bins are left out, because their keys
/// are measured values.
fn shape(json: &str) -> Vec<(usize, String, &'static str)> {
    let mut inside_bins = false;
    let mut shape = Vec::new();
    for line in json.lines() {
        let text = line.trim_start();
        inside_bins = inside_bins && !text.starts_with('}');
        if !inside_bins {
            let (key, value) = text.split_once(" : ").unwrap_or((text, ""));
            shape.push((line.len() - text.len(), key.to_owned(), kind(value)));
        }
        inside_bins = inside_bins || text.starts_with("\"bins\"");
    }
    shape
}

fn kind(value: &str) -> &'static str {
    match value.chars().next() {
        None => "end",
        Some('{') => "object",
        Some('[') => "array",
        Some('"') => "text",
        Some(_) if value.contains('.') => "fraction",
        Some(_) => "whole",
    }
}

/// Returns a run of the jobs that fio's arguments describe, with invented figures.
pub(super) fn run(arguments: &[&str], with_disk: bool) -> Run {
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    let plan = parse_command_line(&arguments, Dialect::Fio, &EmptySource).value.plan;
    let workers: Vec<WorkerRecord<'_>> = plan.jobs.iter().enumerate().flat_map(workers).collect();
    let disk = || DiskUse { name: "vda".to_owned(), write_ios: 1, util_percent: 1.5, ..DiskUse::default() };
    Run {
        schema: SCHEMA,
        tool: Tool { name: "fathom".to_owned(), version: "0.1.0".to_owned() },
        taken_unix_ms: 1_795_257_536_410,
        jobs: collect(&workers),
        disks: with_disk.then(disk).into_iter().collect(),
        globals: plan.globals.clone(),
        outcome: RunOutcome::Completed,
        ..Run::default()
    }
}

fn workers((group, job): (usize, &Job)) -> impl Iterator<Item = WorkerRecord<'_>> {
    let result = move |number| JobResult {
        number,
        group: group as u32,
        pid: 1,
        started_unix_ms: 1,
        elapsed_s: 1,
        ..JobResult::default()
    };
    (0..job.grouping.numjobs).map(move |number| WorkerRecord { job, result: result(number), summary: summary(job) })
}

/// Returns the statistics of a meter for each kind that the job uses.
fn summary(job: &Job) -> Summary {
    let direction = job.pattern.direction;
    let used = [direction.reads(), direction.writes(), direction.trims()];
    let (stats, second) = (&job.stats, Nanos::from_secs(1));
    let mut summary = Summary { workers: 1, runtime: second, ..Summary::default() };
    for kind in DataKind::ALL.into_iter().filter(|&kind| used[kind as usize]) {
        let counted = &mut summary.directions[kind as usize];
        (counted.ios, counted.bytes, counted.runtime) = (3, 12_288, second);
        counted.service = latency(!stats.disable_clat && !stats.gtod_reduce);
        counted.latency = latency(!stats.disable_lat && !stats.gtod_reduce);
        counted.submission = latency(job.pace.iodepth > 1);
        counted.bandwidth = Samples { count: 2, min: 1.0, max: 3.0, mean: 2.0, spread: 2.0 };
    }
    if job.sync.fsync > 0 {
        summary.sync = latency(true);
    }
    summary.cpu = CpuUse { user_ns: 100_000_000, ..CpuUse::default() };
    summary
}

fn latency(kept: bool) -> Latency {
    let mut latency = Latency::default();
    let values: &[u64] = if kept { &[70, 400, 400_000] } else { &[] };
    values.iter().for_each(|&ns| latency.add(ns, 1));
    latency
}

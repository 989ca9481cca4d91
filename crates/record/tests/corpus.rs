//! Published outputs of many versions of fio in all formats. The reader must find the figures in `corpus/figures.json`,
//! which were determined independently, by the documentation of each version.
//!
//! That file names the repository and path of each output. In text outputs, `(other text)` replaces lines that fio did
//! not print.

#![expect(clippy::disallowed_methods, reason = "the outputs are files of the tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use record::{DataKind, Input, JobResult, Run, read_inputs};
use serde::Deserialize;

#[derive(Deserialize)]
struct Published {
    file: String,
    repository: String,
    path: serde_json::Value,
    version: Option<String>,
    form: String,
    runs: Vec<Vec<Job>>,
}

#[derive(Deserialize)]
struct Job {
    name: String,
    directions: BTreeMap<String, BTreeMap<String, Option<f64>>>,
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn published() -> Vec<Published> {
    let figures = std::fs::read(folder().join("figures.json")).expect("the list of figures");
    serde_json::from_slice(&figures).expect("a list of figures")
}

/// Returns the differences between the figures of one output and those of the reader.
fn differences(published: &Published) -> Vec<String> {
    let bytes = std::fs::read(folder().join(&published.file)).expect("a file of the corpus");
    let read = match read_inputs(&published.file, &bytes) {
        Ok(read) => read,
        Err(error) => return vec![error.to_string()],
    };
    let runs: Vec<&Run> = read
        .parts
        .iter()
        .filter_map(|part| if let Input::Run(run) = &part.input { Some(&**run) } else { None })
        .collect();
    if runs.len() != published.runs.len() {
        return vec![format!("{} runs of {}", runs.len(), published.runs.len())];
    }
    let mut differences = Vec::new();
    for (number, (run, jobs)) in runs.iter().zip(&published.runs).enumerate() {
        let of_run = |difference: String| format!("run {}: {difference}", number + 1);
        if run.jobs.len() != jobs.len() {
            differences.push(of_run(format!("{} jobs of {}", run.jobs.len(), jobs.len())));
            continue;
        }
        let of_jobs = run.jobs.iter().zip(jobs).flat_map(|(read, job)| job_differences(read, job, &published.form));
        differences.extend(of_jobs.map(of_run));
    }
    differences
}

fn job_differences(read: &JobResult, job: &Job, form: &str) -> Vec<String> {
    let mut differences = Vec::new();
    // A client prefixes the name with the server.
    if !read.name.ends_with(&job.name) {
        differences.push(format!("the job is called {}, not {}", read.name, job.name));
    }
    for kind in DataKind::ALL {
        let result = read.result.kind(kind);
        let Some(figures) = job.directions.get(kind.name()) else {
            if result.ios > 0 {
                differences.push(format!("{} did {} {}s, not none", job.name, result.ios, kind.name()));
            }
            continue;
        };
        let percentile = |percent| result.service.percentile_ns(percent).map(|ns| ns as f64);
        // Text prints three or four digits and truncates IOPS; percentiles were taken from the most exact format.
        let coarse = form == "terse";
        for (figure, value, share, least) in [
            ("iops", Some(result.iops()), 0.02, 1.5),
            ("bytes_per_second", Some(result.bytes_per_second()), 0.03, 2048.0),
            ("total_bytes", Some(result.bytes as f64), 0.01, 2048.0),
            ("runtime_ms", Some(result.runtime_ns as f64 / 1e6), 0.0, 0.0),
            ("latency_mean_ns", Some(result.latency.mean_ns), 0.002, 1e3),
            ("clat_mean_ns", Some(result.service.mean_ns), 0.002, 1e3),
            ("p50_ns", percentile(50.0), 0.01, if coarse { 1e6 } else { 1e3 }),
            ("p99_ns", percentile(99.0), 0.01, if coarse { 1e6 } else { 1e3 }),
        ] {
            let Some(Some(expected)) = figures.get(figure) else { continue };
            let near = value.is_some_and(|value| (value - expected).abs() <= share * expected.abs() + least);
            if !near {
                differences.push(format!("{} {} of {}: {value:?}, not {expected}", kind.name(), figure, job.name));
            }
        }
    }
    differences
}

#[test]
fn published_outputs_of_all_versions_are_read_correctly() {
    let published = published();
    let versions: BTreeSet<&str> = published.iter().filter_map(|one| one.version.as_deref()).collect();
    let forms: BTreeSet<&str> = published.iter().map(|one| one.form.as_str()).collect();
    assert!(published.len() >= 40 && versions.len() >= 10, "{} files of {} versions", published.len(), versions.len());
    assert_eq!(forms, BTreeSet::from(["json", "terse", "text"]));
    let wrong: Vec<String> = published
        .iter()
        .flat_map(|one| {
            let of_file = |difference| format!("{} ({} {}): {difference}", one.file, one.repository, one.path);
            differences(one).into_iter().map(of_file).collect::<Vec<_>>()
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

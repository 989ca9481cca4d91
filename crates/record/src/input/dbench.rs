//! Reads the summary of dbench, a benchmark of Kubernetes volumes by runs of fio, one after another.

use super::InputResult;
use super::normal::figures::{count, rate};
use super::stated::{StatedLoad, input, result};
use super::text::InputText;
use units::Problem;

use crate::{DataKind, JobResult, LatencyStats};

/// Reports whether a line is the title of a summary.
fn is_title(line: &str) -> bool {
    line.contains("Dbench Summary")
}

/// Reports whether a text contains a summary.
pub(super) fn is_in(text: &InputText) -> bool {
    text.lines().any(is_title)
}

/// Returns the figures of reads and writes of a test.
fn pair(values: &str, figure: impl Fn(&str) -> Option<f64>) -> [Option<f64>; 2] {
    // Rates have a slash of their own, and blanks around the one between them.
    let (reads, writes) = values.split_once(" / ").or_else(|| values.split_once('/')).unwrap_or((values, ""));
    [reads, writes].map(|value| figure(value.trim().trim_end_matches('.')))
}

/// Adds the results of a line.
fn take(jobs: &mut Vec<JobResult>, line: &str) {
    let iops = |value: &str| count(value).map(|number| number.value);
    let bytes = |value: &str| rate(value, false).map(|number| number.value);
    let us = |value: &str| value.parse().ok().filter(|us: &f64| (0.0..1e12).contains(us));
    let mut add =
        |name: &str, random: bool, [reads, writes]: [Option<f64>; 2], set: &dyn Fn(&mut JobResult, DataKind, f64)| {
            for (kind, value) in [(DataKind::Read, reads), (DataKind::Write, writes)] {
                let Some(value) = value.filter(|value| *value > 0.0) else { continue };
                let rw = if random { format!("rand{}", kind.name()) } else { kind.name().to_owned() };
                let (number, load) = (jobs.len(), StatedLoad { rw, ..StatedLoad::default() });
                let group = u32::try_from(number).unwrap_or(u32::MAX);
                let mut job = result(&name.replace("{}", kind.name()), group, number, &load);
                set(&mut job, kind, value);
                jobs.push(job);
            }
        };
    let none = LatencyStats::default;
    let as_iops = |job: &mut JobResult, kind, value| job.set_rate(kind, value, 0.0, None, none());
    let as_bytes = |job: &mut JobResult, kind, value| job.set_rate(kind, 0.0, value, None, none());
    let as_latency = |job: &mut JobResult, kind, us: f64| {
        job.set_count(kind, 1, 0, LatencyStats { count: 1, mean_ns: us * 1e3, ..none() });
    };
    if let Some(values) = line.strip_prefix("Random Read/Write IOPS:") {
        let (rates, throughput) = values.split_once("BW:").unwrap_or((values, ""));
        add("random {} iops", true, pair(rates, iops), &as_iops);
        add("random {} bandwidth", true, pair(throughput, bytes), &as_bytes);
    } else if let Some(values) = line.strip_prefix("Average Latency (usec) Read/Write:") {
        add("random {} latency", true, pair(values, us), &as_latency);
    } else if let Some(values) = line.strip_prefix("Sequential Read/Write:") {
        add("sequential {} bandwidth", false, pair(values, bytes), &as_bytes);
    } else if let Some(values) = line.strip_prefix("Mixed Random Read/Write IOPS:") {
        add("mixed random {} iops", true, pair(values, iops), &as_iops);
    }
}

/// Reads all summaries.
pub(super) fn read(text: &InputText) -> Result<Vec<InputResult>, Problem> {
    let mut summaries: Vec<(usize, Vec<JobResult>)> = Vec::new();
    for (index, line) in text.whole_lines() {
        if is_title(line) {
            summaries.push((index, Vec::new()));
        } else if let Some((_, jobs)) = summaries.last_mut() {
            take(jobs, line.trim());
        }
    }
    summaries.retain(|(_, jobs)| !jobs.is_empty());
    if summaries.is_empty() {
        let what = "the dbench summary contains no figure";
        return Err(text.cut_off(text.len(), what, "pass the whole dbench summary"));
    }
    let note = "dbench runs one test after another, and its summary has no block sizes, depths or times";
    let notes: Vec<String> = std::iter::once(note.to_owned()).chain(text.cut_note()).collect();
    let part =
        |(line, jobs): (usize, Vec<JobResult>)| InputResult { line: line + 1, input: input("dbench", jobs, &notes) };
    Ok(summaries.into_iter().map(part).collect())
}

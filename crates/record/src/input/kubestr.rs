//! Reads the results of kubestr, which runs fio on Kubernetes volumes and prints its own summary of each job.

use super::InputResult;
use super::stated::{StatedLoad, input, result};
use super::text::InputText;
use units::Problem;

use crate::{DataKind, JobResult, LatencyStats, fio};

const JOB: &str = "JobName:";
const REMEDY: &str = "pass the whole output of `kubestr fio`";

/// Reports whether a text contains results.
pub(super) fn is_in(text: &InputText) -> bool {
    text.lines().any(|line| line.trim().starts_with(JOB)) && text.lines().any(|line| rates(line).is_some())
}

/// Returns IOPS and bytes per second of a line `IOPS=146781.875000 BW(KiB/s)=587144`.
fn rates(line: &str) -> Option<(f64, f64)> {
    let (iops, kib) = line.trim().strip_prefix("IOPS=")?.split_once(" BW(KiB/s)=")?;
    let number = |text: &str| text.trim().parse().ok().filter(|value: &f64| (0.0..1e15).contains(value));
    Some((number(iops)?, number(kib)? * 1024.0))
}

/// Takes the load from a line `blocksize=4K filesize=2G iodepth=64 rw=randread`.
fn load(line: &str) -> Option<StatedLoad> {
    let pairs: Vec<(&str, &str)> = line.split_whitespace().filter_map(|word| word.split_once('=')).collect();
    let value = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    Some(StatedLoad {
        rw: value("rw")?.to_ascii_lowercase(),
        depth: value("iodepth").and_then(|depth| depth.parse().ok()),
        block_bytes: value("blocksize").and_then(fio::parse_size).and_then(|bytes| bytes.try_into().ok()),
    })
}

/// Reads all jobs, which ran one after another.
pub(super) fn read(text: &InputText) -> Result<Vec<InputResult>, Problem> {
    let mut jobs: Vec<JobResult> = Vec::new();
    let (mut name, mut of_job, mut kind, mut is_new) = ("", StatedLoad::default(), None, false);
    let mut first = None;
    for (index, line) in text.whole_lines() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix(JOB) {
            (name, of_job, kind, is_new) = (rest.trim(), StatedLoad::default(), None, true);
            first = first.or(Some(index));
        } else if let Some(load) = load(line) {
            of_job = load;
        } else if let Some(named) =
            line.strip_suffix(':').and_then(|word| DataKind::ALL.into_iter().find(|kind| kind.name() == word))
        {
            kind = Some(named);
        } else if let (Some((iops, bytes_per_second)), Some(kind)) = (rates(line), kind) {
            if is_new {
                let number = jobs.len();
                jobs.push(result(name, u32::try_from(number).unwrap_or(u32::MAX), number, &of_job));
                is_new = false;
            }
            if let Some(job) = jobs.last_mut() {
                job.set_rate(kind, iops, bytes_per_second, None, LatencyStats::default());
            }
        }
    }
    if jobs.is_empty() {
        return Err(text.cut_off(text.len(), "no rate follows the name of a job", REMEDY));
    }
    let note = "kubestr runs one job after another, and prints neither latencies nor times";
    let notes: Vec<String> = std::iter::once(note.to_owned()).chain(text.cut_note()).collect();
    Ok(vec![InputResult { line: first.unwrap_or(0) + 1, input: input("kubestr", jobs, &notes) }])
}

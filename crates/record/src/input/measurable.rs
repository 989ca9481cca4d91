//! Refuses results that no program can have measured, of damaged texts.

use super::text::InputText;
use super::{Input, InputError};
use crate::{DirectionResult, DiskUse, JobResult, LatencyStats, Run};

/// Returns an input whose counts and times, and their sums, are within measurement; otherwise an error at a line.
pub(super) fn measurable(text: &InputText, line: usize, input: Input, remedy: &str) -> Result<Input, InputError> {
    let is_beyond = match &input {
        Input::Run(run) => is_beyond_measure(run),
        Input::Iostat(iostat) => {
            let is_within = |rate: f64| rate <= MOST as f64;
            let mut devices = iostat.reports.iter().flat_map(|report| &report.devices);
            !devices.all(|device| is_within(device.iops()) && is_within(device.bytes_per_second()))
        }
    };
    if !is_beyond {
        return Ok(input);
    }
    Err(text.error(line, "", "its counts or times are beyond any measurement: the text is damaged", remedy))
}

/// 36 years in nanoseconds, and as many operations or bytes.
const MOST: u128 = 1 << 60;

fn is_beyond_measure(run: &Run) -> bool {
    let of_latency = |latency: &LatencyStats| -> u128 {
        let buckets: u128 = latency.buckets.iter().map(|(_, count)| u128::from(*count)).sum();
        buckets + u128::from(latency.count)
    };
    let of_kind = |kind: &DirectionResult| -> u128 {
        let counts = [kind.ios, kind.bytes, kind.short_ios, kind.drop_ios, kind.runtime_ns];
        let latencies = [&kind.submission, &kind.service, &kind.latency];
        counts.into_iter().map(u128::from).sum::<u128>() + latencies.into_iter().map(of_latency).sum::<u128>()
    };
    let of_job = |job: &JobResult| -> u128 {
        let result = &job.result;
        let counts = [result.runtime_ns, result.cpu.user_ns, result.cpu.system_ns, result.errors];
        let kinds: u128 = result.kinds().map(|(_, kind)| of_kind(kind)).sum();
        kinds + of_latency(&result.sync) + counts.into_iter().map(u128::from).sum::<u128>()
    };
    let of_disk = |disk: &DiskUse| -> u128 {
        [disk.read_ios, disk.write_ios, disk.read_sectors, disk.write_sectors].into_iter().map(u128::from).sum()
    };
    let of_disks: u128 = run.disks.iter().map(of_disk).sum();
    run.jobs.iter().map(of_job).sum::<u128>() + of_disks > MOST
}

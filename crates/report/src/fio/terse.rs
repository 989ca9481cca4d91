//! fio's terse format: fields separated by `;`, latencies in microseconds, rates in KiB/s.

use record::{DataKind, DirectionResult, DiskUse, FioRow, JobResult, LatencyStats, Run, SampleRecord};

use super::{FioOptions, Terse};

/// Number of percentile fields, used or not.
const PERCENTILE_FIELDS: usize = 20;

pub(super) fn lines(out: &mut String, run: &Run, options: FioOptions) {
    for job in &run.jobs {
        line(out, run, job, options);
    }
}

fn line(out: &mut String, run: &Run, job: &JobResult, options: FioOptions) {
    let mut fields = head(job, options);
    let without_trims = options.terse == Terse::V3;
    for &row in job.fio_rows().iter().filter(|row| !without_trims || **row != FioRow::Kind(DataKind::Trim)) {
        transfers(&mut fields, run, job, row, options.terse);
    }
    processor(&mut fields, job);
    shares(&mut fields, job);
    if options.terse != Terse::V2 {
        run.disks.iter().for_each(|disk| disk_util(&mut fields, disk));
    }
    if job.declared.continue_on_error {
        fields.extend([job.result.errors.to_string(), job.result.first_error.to_string()]);
    }
    // Version 2 has the description on a line of its own.
    let separator = if options.terse == Terse::V2 { "\n;" } else { ";" };
    let description = job.description.as_ref().map_or_else(String::new, |text| format!("{separator}{text}"));
    out.push_str(&format!("{}{description}\n", fields.join(";")));
}

fn head(job: &JobResult, options: FioOptions) -> Vec<String> {
    let (name, group, error) = (job.name.clone(), job.group.to_string(), job.error.to_string());
    let number = match options.terse {
        Terse::V2 => return vec!["2".to_owned(), name, group, error],
        Terse::V3 => "3",
        Terse::V4 => "4",
        Terse::V5 => "5",
    };
    vec![number.to_owned(), options.version.name().to_owned(), name, group, error]
}

fn transfers(fields: &mut Vec<String>, run: &Run, job: &JobResult, row: FioRow, terse: Terse) {
    let (result, kept) = (&*job.result.fio_row(row), &job.declared.kept);
    let bytes_per_second = result.fio_bytes_per_second();
    fields.extend([
        (result.bytes >> 10).to_string(),
        (bytes_per_second >> 10).to_string(),
        (result.fio_iops() as u64).to_string(),
        result.runtime_ms().to_string(),
    ]);
    latency(fields, &result.submission);
    latency(fields, &result.service);
    // fio names the fields after the service time, but fills in the total latency if its percentiles are recorded.
    let source = if kept.lat_percentiles { &result.latency } else { &result.service };
    let wanted = kept.lat_percentiles || kept.clat_percentiles;
    percentiles(fields, source, if wanted { &job.declared.percentiles } else { &[] });
    latency(fields, &result.latency);
    let group_kib = run.row_totals(job.group, row).map_or(0, |totals| totals.bytes_per_second >> 10);
    bandwidth(fields, result, group_kib, terse);
}

fn latency(fields: &mut Vec<String>, latency: &LatencyStats) {
    fields.extend([
        (latency.min_ns / 1000).to_string(),
        (latency.max_ns / 1000).to_string(),
        format!("{:.6}", latency.mean_ns / 1000.0),
        format!("{:.6}", latency.stddev_ns / 1000.0),
    ]);
}

fn percentiles(fields: &mut Vec<String>, latency: &LatencyStats, percents: &[f64]) {
    let values = latency.fio_percentiles_ns(percents);
    for slot in 0..PERCENTILE_FIELDS {
        let ns = values.get(slot).map_or(0, |(_, ns)| *ns);
        fields.push(match percents.get(slot) {
            Some(percent) => format!("{percent:.6}%={}", ns / 1000),
            None => "0%=0".to_owned(),
        });
    }
}

fn bandwidth(fields: &mut Vec<String>, result: &DirectionResult, group_kib: u64, terse: Terse) {
    let (bandwidth, iops) = (&result.bandwidth_kib, &result.iops_samples);
    let range = |samples: &SampleRecord| [(samples.min as u64).to_string(), (samples.max as u64).to_string()];
    let spread = |samples: &SampleRecord| [format!("{:.6}", samples.mean), format!("{:.6}", samples.stddev)];
    fields.extend(range(bandwidth));
    fields.push(format!("{:.6}%", bandwidth.percent_of(group_kib)));
    fields.extend(spread(bandwidth));
    if terse == Terse::V5 {
        fields.push(bandwidth.count.to_string());
        fields.extend(range(iops));
        fields.extend(spread(iops));
        fields.push(iops.count.to_string());
    }
}

fn processor(fields: &mut Vec<String>, job: &JobResult) {
    let cpu = &job.result.cpu;
    fields.extend([
        format!("{:.6}%", job.result.cpu_percent(cpu.user_ns)),
        format!("{:.6}%", job.result.cpu_percent(cpu.system_ns)),
        cpu.context_switches.to_string(),
        cpu.major_faults.to_string(),
        cpu.minor_faults.to_string(),
    ]);
}

/// Appends depths, then service times in microseconds and milliseconds; those below 1 us count in the first class.
fn shares(fields: &mut Vec<String>, job: &JobResult) {
    let latency = job.result.latency_shares();
    let mut us = latency.us;
    us[0] = job.result.percent_below_2us();
    fields.extend(job.result.depth.percent().map(|percent| format!("{percent:.1}%")));
    fields.extend(us.iter().chain(&latency.ms).map(|percent| format!("{percent:.2}%")));
}

fn disk_util(fields: &mut Vec<String>, disk: &DiskUse) {
    fields.extend([
        disk.name.clone(),
        disk.read_ios.to_string(),
        disk.write_ios.to_string(),
        disk.read_merges.to_string(),
        disk.write_merges.to_string(),
        disk.read_ticks_ms.to_string(),
        disk.write_ticks_ms.to_string(),
        disk.in_queue_ms.to_string(),
        format!("{:.2}%", disk.util_percent),
    ]);
}

//! Options of statistics and logs.

use units::Nanos;

use super::spec::OptionKind::{Floats, Int, Text};
use super::spec::{ANY, OptionSpec, Setter, accepted, int, special, switch, text, word};
use crate::model::{UnifiedReport, WindowValues};
use crate::read::lists;

pub(super) static OPTIONS: &[OptionSpec] = &[
    switch("gtod_reduce", "0", "Read the clock less often; latencies are not measured.", |d, on| {
        let stats = &mut d.job.stats;
        stats.gtod_reduce = on;
        (stats.disable_lat, stats.disable_clat, stats.disable_slat, stats.disable_bw) = (on, on, on, on);
    }),
    switch("disable_lat", "0", "Do not measure total latency.", |d, on| d.job.stats.disable_lat = on),
    switch("disable_clat", "0", "Do not measure completion latency.", |d, on| d.job.stats.disable_clat = on),
    switch("disable_slat", "0", "Do not measure submission latency.", |d, on| d.job.stats.disable_slat = on),
    switch("disable_bw_measurement", "0", "Do not sample bandwidth.", |d, on| d.job.stats.disable_bw = on)
        .alias(&["disable_bw"]),
    switch("clat_percentiles", "1", "Report percentiles of completion latency.", |d, on| {
        d.job.stats.clat_percentiles = on;
    }),
    switch("lat_percentiles", "0", "Report percentiles of total latency.", |d, on| d.job.stats.lat_percentiles = on),
    switch("slat_percentiles", "0", "Report percentiles of submission latency.", |d, on| {
        d.job.stats.slat_percentiles = on;
    }),
    OptionSpec::new(
        "percentile_list",
        Floats(0.0, 100.0),
        Setter::Floats(|d, list| d.job.stats.percentile_list = rising(list)),
        "Percentiles to report, at most 20.",
    )
    .default("1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99"),
    switch("stats", "1", "Collect statistics.", |d, on| d.job.stats.stats = on),
    switch("disk_util", "1", "Report the kernel's disk statistics.", |d, on| d.job.stats.disk_util = on),
    text("write_bw_log", "Write bandwidth logs with this prefix.", |d, prefix| {
        d.job.stats.write_bw_log = Some(prefix.to_owned());
    }),
    text("write_lat_log", "Write latency logs with this prefix.", |d, prefix| {
        d.job.stats.write_lat_log = Some(prefix.to_owned());
    }),
    text("write_iops_log", "Write IOPS logs with this prefix.", |d, prefix| {
        d.job.stats.write_iops_log = Some(prefix.to_owned());
    }),
    text(
        "write_hist_log",
        "Write logs of completion latency histograms with this prefix; `log_hist_msec` sets their interval.",
        |d, prefix| d.job.stats.write_hist_log = Some(prefix.to_owned()),
    ),
    int(
        "log_avg_msec",
        (0, ANY),
        "Interval over which log entries are averaged, in milliseconds; 0 logs each operation.",
        |d, ms| {
            d.job.stats.log_avg = Nanos::from_millis(ms);
        },
    )
    .default("0"),
    switch("log_offset", "0", "Add the offset to log entries.", |d, on| d.job.stats.log_offset = on),
    switch(
        "per_job_logs",
        "1",
        "Write a log file for each worker; otherwise workers append to a shared one.",
        |d, on| d.job.stats.per_job_logs = on,
    ),
    int("log_hist_msec", (0, ANY), "Interval between logged histograms, in milliseconds; 0 logs none.", |d, ms| {
        d.job.stats.log_hist = Nanos::from_millis(ms);
    })
    .default("0"),
    int(
        "log_hist_coarseness",
        (0, 6),
        "Resolution of logged histograms: each step merges pairs of buckets.",
        |d, steps| d.job.stats.log_hist_coarseness = steps as u32,
    )
    .default("0"),
    word(
        "log_window_value",
        &["avg", "max", "both", "0", "1"],
        "Latencies to log for each window of `log_avg_msec`: mean, maximum or both.",
        |d, w, _, _| {
            d.job.stats.log_values = match w {
                "max" | "1" => WindowValues::Max,
                "both" => WindowValues::Both,
                _ => WindowValues::Mean,
            };
        },
    )
    .alias(&["log_max_value"])
    .default("avg"),
    switch("log_prio", "0", "Write the I/O priority to log entries as class and level.", |d, on| {
        d.job.stats.log_prio = on;
    }),
    switch(
        "log_issue_time",
        "0",
        "Add the time of submission in nanoseconds to log entries; needs `write_lat_log` and `log_offset`.",
        |d, on| d.job.stats.log_issue_time = on,
    ),
    accepted(
        "log_compression",
        Int(1024, 536_870_912),
        "Compress logs in memory in chunks of this size.",
        "entries are written during the run, so logs need little memory",
    ),
    special(
        "log_compression_cpus",
        Text,
        |d, text, findings| {
            if let Some(cpus) = lists::processors(text, findings) {
                d.job.stats.log_cpus = cpus;
            }
        },
        "CPUs of the threads that write and compress logs, such as `0-3,5`.",
    ),
    switch("log_store_compressed", "0", "Write compressed logs (`.fz`); `--inflate-log=FILE` prints them.", |d, on| {
        d.job.stats.log_store_compressed = on;
    }),
    switch(
        "log_alternate_epoch",
        "0",
        "Use the time of a clock in log entries instead of the time since the start. In virtual time, both are equal.",
        |d, on| d.job.stats.log_alternate_epoch = on,
    )
    .alias(&["log_unix_epoch"]),
    int("log_alternate_epoch_clock_id", (0, ANY), "ID of that clock in `clock_gettime`; 0 for Unix time.", |d, id| {
        d.job.stats.log_clock = id as u32;
    })
    .default("0"),
    accepted(
        "log_entries",
        Int(1024, 1_048_576),
        "Initial number of log entries in memory.",
        "entries are written during the run",
    )
    .default("1024"),
    int(
        "bwavgtime",
        (0, ANY),
        "Window of bandwidth samples and log entries, in milliseconds; by default `log_avg_msec` if it is logged.",
        |d, ms| d.job.stats.bw_window = Some(Nanos::from_millis(ms)),
    )
    .default("500"),
    int(
        "iopsavgtime",
        (0, ANY),
        "Window of IOPS samples and log entries, in milliseconds; by default `log_avg_msec` if they are logged.",
        |d, ms| d.job.stats.iops_window = Some(Nanos::from_millis(ms)),
    )
    .default("500"),
    switch(
        "block_error_percentiles",
        "0",
        "Report how often each block was trimmed before trimming or writing it failed.",
        |d, on| d.job.stats.block_errors = on,
    ),
    word(
        "unified_rw_reporting",
        &["none", "mixed", "both", "0", "1", "2"],
        "Combine reads, writes and trims in fio's outputs.",
        |d, w, _, _| {
            d.job.stats.unified = match w {
                "mixed" | "1" => UnifiedReport::Mixed,
                "both" | "2" => UnifiedReport::Both,
                _ => UnifiedReport::None,
            };
        },
    )
    .default("none"),
    int("significant_figures", (1, 10), "Significant figures in fio's normal output.", |d, n| {
        d.job.stats.significant_figures = n as u32;
    })
    .default("4"),
    int("job_start_clock_id", (0, ANY), "ID of the clock of `job_start` in JSON; 0 for Unix time.", |d, id| {
        d.job.stats.start_clock = id as u32;
    }),
    word("kb_base", &["1024", "1000"], "Base of units in job files and in fio's normal output.", |d, w, _, _| {
        d.job.stats.kb_base = if w == "1000" { 1000 } else { 1024 };
    })
    .default("1024"),
    word("unit_base", &["0", "8", "1"], "Unit of rates: bytes (8), bits (1) or automatic (0).", |d, w, _, _| {
        d.job.stats.unit_base = w.parse().unwrap_or(0);
    }),
];

/// Cuts the list off at a zero and sorts it.
fn rising(mut list: Vec<f64>) -> Vec<f64> {
    let end = list.iter().position(|p| *p == 0.0).unwrap_or(list.len());
    list.truncate(end);
    list.sort_by(f64::total_cmp);
    list
}

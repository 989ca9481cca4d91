//! fio's formats `json` and `json+`.

use job::IoPriority;
use record::{
    DirectionResult, DiskUse, FioRow, GroupTotals, IdlenessRecord, JobResult, LatencyShares, LatencyStats, Measured,
    RankRecord, Run, SteadyRecord, TrimmedBlockCounts, UnifiedReport,
};

use super::writer::FioWriter;
use super::{FioOptions, FioVersion};
use crate::civil;

pub(super) const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
pub(super) const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// Settings that all parts of the document need.
#[derive(Clone, Copy)]
struct FioJsonContext<'a> {
    run: &'a Run,
    bins: bool,
    version: FioVersion,
}

pub(super) fn document(out: &mut String, run: &Run, bins: bool, options: FioOptions) {
    let context = FioJsonContext { run, bins, version: options.version };
    let taken = civil::ctime(civil::local(run.taken_unix_ms, run.utc_offset_s));
    FioWriter::new(out).root(|w| {
        w.text("fio version", options.version.name());
        w.int("timestamp", run.taken_unix_ms / 1000);
        w.int("timestamp_ms", run.taken_unix_ms);
        w.text("time", &taken);
        echo(w, "global options", &run.globals, context);
        match run.by_rank() {
            Some(ranks) => w.array("client_stats", |w| client_stats(w, &ranks, context)),
            None => w.array("jobs", |w| run.jobs.iter().for_each(|job| w.element(|w| entry(w, job, context)))),
        }
        if !run.disks.is_empty() {
            w.array("disk_util", |w| run.disks.iter().for_each(|disk| w.element(|w| disk_util(w, disk, context))));
        }
        if let Some(idleness) = &run.idleness {
            w.object("cpu_idleness", |w| idle_processors(w, idleness));
        }
        let notes: Vec<String> = run.notes.iter().map(note_text).chain(missing_ranks(run)).collect();
        if !notes.is_empty() {
            w.array("fathom notes", |w| notes.iter().for_each(|note| w.text_element(note)));
        }
    });
}

fn idle_processors(w: &mut FioWriter<'_>, idleness: &IdlenessRecord) {
    w.float("system", idleness.system_percent());
    if idleness.lists_processors {
        idleness.processors.iter().for_each(|(processor, percent)| w.float(&format!("cpu-{processor}"), *percent));
    }
    w.float("unit_mean", idleness.unit_mean_us);
    w.float("unit_stddev", idleness.unit_stddev_us);
}

/// Writes the results of all ranks as fio's client writes those of its servers, then the totals. fio's total counts all
/// jobs together; here each reporting group has one, because groups follow each other.
fn client_stats(w: &mut FioWriter<'_>, ranks: &[(&RankRecord, Run)], context: FioJsonContext<'_>) {
    for (rank, run) in ranks {
        for job in &run.jobs {
            w.element(|w| {
                entry(w, job, FioJsonContext { run, ..context });
                server(w, &rank.hostname);
                w.int("rank", rank.rank);
            });
        }
    }
    if ranks.iter().map(|(_, run)| run.jobs.len()).sum::<usize>() < 2 {
        return;
    }
    let totals = Run { jobs: context.run.group_sums(), ..Run::default() };
    for total in &totals.jobs {
        w.element(|w| {
            entry(w, total, FioJsonContext { run: &totals, ..context });
            // As fio does.
            ranks.last().into_iter().for_each(|(last, _)| server(w, &last.hostname));
        });
    }
}

/// Writes the keys by which fio's client distinguishes servers. Ranks have no port.
fn server(w: &mut FioWriter<'_>, hostname: &str) {
    w.text("hostname", hostname);
    w.int("port", 0);
}

/// Returns a note on each rank without results.
fn missing_ranks(run: &Run) -> impl Iterator<Item = String> {
    let missing = run.fleet.as_ref().map(record::FleetRecord::missing).unwrap_or_default();
    missing.into_iter().map(|one| match (one.ranks.start(), one.ranks.end()) {
        (rank, last) if rank == last => format!("rank {rank} is missing: {}", one.reason),
        (first, last) => format!("ranks {first} to {last} are missing: {}", one.reason),
    })
}

pub(crate) fn note_text(note: &record::Note) -> String {
    match &note.job {
        Some(job) => format!("{job}: {}", note.text),
        None => note.text.clone(),
    }
}

/// Writes the options as they were given; fio 3.33 omits those without a value.
fn echo(w: &mut FioWriter<'_>, key: &str, options: &[(String, String)], context: FioJsonContext<'_>) {
    let bare = context.version > FioVersion::V3_33;
    if options.is_empty() {
        return;
    }
    w.object(key, |w| {
        for (name, value) in options.iter().filter(|(_, value)| bare || !value.is_empty()) {
            w.text(name, value);
        }
    });
}

fn entry(w: &mut FioWriter<'_>, job: &JobResult, context: FioJsonContext<'_>) {
    let (result, later) = (&job.result, context.version > FioVersion::V3_33);
    w.text("jobname", &job.name);
    w.int("groupid", job.group);
    // fio 3.33 has neither the key nor the option.
    if later || job.started_clock_ms.is_some() {
        w.int("job_start", job.started_clock_ms.unwrap_or(job.started_unix_ms));
    }
    w.int("error", job.error);
    w.int("eta", job.eta_s);
    w.int("elapsed", job.elapsed_s);
    echo(w, "job options", &job.echo, context);
    let (mixed, kinds): (Vec<FioRow>, Vec<FioRow>) = job.fio_rows().iter().partition(|row| **row == FioRow::Mixed);
    kinds.iter().for_each(|row| w.object(row.name(), |w| transfers(w, job, *row, context)));
    if job.declared.unified != UnifiedReport::Mixed {
        sync(w, job, context);
    }
    mixed.iter().for_each(|row| w.object(row.name(), |w| transfers(w, job, *row, context)));
    processor(w, result);
    shares(w, result);
    if job.declared.continue_on_error {
        w.int("total_err", result.errors);
        w.int("first_error", result.first_error);
    }
    latency_target(w, job, later);
    if let Some(description) = &job.description {
        w.text("desc", description);
    }
    if let Some(trimmed) = &result.trimmed {
        w.object("block", |w| trimmed_blocks(w, trimmed, &job.declared.percentiles));
    }
    if let Some(steady) = &job.steady {
        w.object("steadystate", |w| steady_state(w, steady));
    }
}

fn sync(w: &mut FioWriter<'_>, job: &JobResult, context: FioJsonContext<'_>) {
    w.object("sync", |w| {
        let kept = &job.declared.kept;
        let wanted = kept.clat_percentiles || kept.lat_percentiles;
        w.int("total_ios", job.fio_syncs());
        latency(w, "lat_ns", &job.result.sync, if wanted { &job.declared.percentiles } else { &[] }, context);
    });
}

fn processor(w: &mut FioWriter<'_>, result: &Measured) {
    let cpu = &result.cpu;
    w.int("job_runtime", result.runtime_ms());
    w.float("usr_cpu", result.cpu_percent(cpu.user_ns));
    w.float("sys_cpu", result.cpu_percent(cpu.system_ns));
    w.int("ctx", cpu.context_switches);
    w.int("majf", cpu.major_faults);
    w.int("minf", cpu.minor_faults);
}

fn shares(w: &mut FioWriter<'_>, result: &Measured) {
    let mut percents = |key: &str, names: &[&str], percents: &[f64]| {
        w.object(key, |w| names.iter().zip(percents).for_each(|(name, percent)| w.float(name, *percent)));
    };
    percents("iodepth_level", &DEPTHS, &result.depth.percent());
    percents("iodepth_submit", &BATCHES, &result.submit.percent());
    percents("iodepth_complete", &BATCHES, &result.complete.percent());
    let latency = result.latency_shares();
    let bounds = LatencyShares::BOUNDS.map(|bound| bound.to_string());
    let mut names: Vec<&str> = bounds.iter().map(String::as_str).collect();
    percents("latency_ns", &names, &latency.ns);
    percents("latency_us", &names, &latency.us);
    names.extend(["2000", ">=2000"]);
    percents("latency_ms", &names, &latency.ms);
}

/// Writes the keys of the search for a depth by target latency, with fio's defaults where there is none.
fn latency_target(w: &mut FioWriter<'_>, job: &JobResult, later: bool) {
    let search = job.fio_depth_search();
    let window_us = search.window_ns / 1000;
    w.int("latency_depth", search.depth);
    w.int("latency_target", search.target_ns);
    if later {
        w.int("latency_target_ns", search.target_ns);
    }
    w.float("latency_percentile", search.percentile);
    w.int("latency_window", window_us);
    if later {
        w.int("latency_window_us", window_us);
    }
}

fn trimmed_blocks(w: &mut FioWriter<'_>, trimmed: &TrimmedBlockCounts, percentiles: &[f64]) {
    let percentiles = trimmed.percentiles(percentiles);
    if percentiles.len() > 0 {
        w.object("percentiles", |w| percentiles.for_each(|(percent, trims)| w.int(&format!("{percent:.6}"), trims)));
    }
    w.object("states", |w| trimmed.states().iter().for_each(|(name, blocks)| w.int(name, *blocks)));
}

fn steady_state(w: &mut FioWriter<'_>, steady: &SteadyRecord) {
    let percent = if steady.is_percent { "%" } else { "" };
    let slope = if steady.is_slope { "_slope" } else { "" };
    w.text("ss", &format!("{}{slope}:{:.6}{percent}", steady.measure, steady.limit));
    w.int("duration", steady.duration_ns / 1_000_000_000);
    w.int("attained", u8::from(steady.is_attained));
    w.text("criterion", &format!("{:.6}{percent}", steady.criterion));
    w.float("max_deviation", steady.max_deviation);
    w.float("slope", steady.slope);
    w.object("data", |w| {
        w.int("bw_mean", steady.bytes_per_second_mean());
        w.int("iops_mean", steady.iops_mean());
        if let Some(mean) = steady.latency_mean_ns() {
            w.int("lat_mean", mean);
            w.array("lat_ns", |w| steady.latencies_ns.iter().for_each(|value| w.int_element(*value as u64)));
        }
        w.array("iops", |w| steady.iops.iter().for_each(|value| w.int_element(*value as u64)));
        w.array("bw", |w| steady.bytes_per_second.iter().for_each(|value| w.int_element(*value as u64)));
    });
}

fn transfers(w: &mut FioWriter<'_>, job: &JobResult, row: FioRow, context: FioJsonContext<'_>) {
    let (result, kept) = (&*job.result.fio_row(row), &job.declared.kept);
    let totals = context.run.row_totals(job.group, row);
    let bytes_per_second = result.fio_bytes_per_second();
    w.int("io_bytes", result.bytes);
    w.int("io_kbytes", result.bytes >> 10);
    w.int("bw_bytes", bytes_per_second);
    w.int("bw", bytes_per_second >> 10);
    w.float("iops", result.fio_iops());
    w.int("runtime", result.runtime_ms());
    w.int("total_ios", result.ios);
    w.int("short_ios", result.short_ios);
    w.int("drop_ios", result.drop_ios);
    let wanted = |wanted: bool| if wanted { job.declared.percentiles.as_slice() } else { &[] };
    latency(w, "slat_ns", &result.submission, wanted(kept.slat_percentiles), context);
    latency(w, "clat_ns", &result.service, wanted(kept.clat_percentiles), context);
    latency(w, "lat_ns", &result.latency, wanted(kept.lat_percentiles), context);
    priorities(w, job, result, context);
    samples(w, result, totals);
}

/// Writes latencies by priority, if there are several.
fn priorities(w: &mut FioWriter<'_>, job: &JobResult, result: &DirectionResult, context: FioJsonContext<'_>) {
    if result.priorities.len() < 2 {
        return;
    }
    let kept = &job.declared.kept;
    let key = if kept.lat_percentiles { "lat_ns" } else { "clat_ns" };
    let wanted = kept.lat_percentiles || kept.clat_percentiles;
    let percentiles = if wanted { job.declared.percentiles.as_slice() } else { &[] };
    w.array("prios", |w| {
        for one in &result.priorities {
            let IoPriority { class, level, .. } = IoPriority::from_raw(one.priority);
            w.element(|w| {
                w.int("prioclass", u64::from(class));
                w.int("prio", u64::from(level));
                latency(w, key, &one.latency, percentiles, context);
            });
        }
    });
}

fn samples(w: &mut FioWriter<'_>, result: &DirectionResult, totals: Option<GroupTotals>) {
    let (bandwidth, iops) = (&result.bandwidth_kib, &result.iops_samples);
    w.int("bw_min", bandwidth.min as u64);
    w.int("bw_max", bandwidth.max as u64);
    w.float("bw_agg", totals.map_or(0.0, |totals| totals.share_percent(bandwidth)));
    w.float("bw_mean", bandwidth.mean);
    w.float("bw_dev", bandwidth.stddev);
    w.int("bw_samples", bandwidth.count);
    w.int("iops_min", iops.min as u64);
    w.int("iops_max", iops.max as u64);
    w.float("iops_mean", iops.mean);
    w.float("iops_stddev", iops.stddev);
    w.int("iops_samples", iops.count);
}

fn latency(w: &mut FioWriter<'_>, key: &str, latency: &LatencyStats, percentiles: &[f64], context: FioJsonContext<'_>) {
    w.object(key, |w| {
        w.int("min", latency.min_ns);
        w.int("max", latency.max_ns);
        w.float("mean", latency.mean_ns);
        w.float("stddev", latency.stddev_ns);
        w.int("N", latency.count);
        if latency.count == 0 || percentiles.is_empty() {
            return;
        }
        w.object("percentile", |w| {
            for (percent, ns) in latency.fio_percentiles_ns(percentiles) {
                w.int(&format!("{percent:.6}"), ns);
            }
        });
        if context.bins {
            w.object("bins", |w| latency.bins().for_each(|(ns, count)| w.int(&ns.to_string(), count)));
        }
    });
}

fn disk_util(w: &mut FioWriter<'_>, disk: &DiskUse, context: FioJsonContext<'_>) {
    let (host, name) = host_and_name(disk, context.run);
    w.text("name", name);
    w.int("read_ios", disk.read_ios);
    w.int("write_ios", disk.write_ios);
    if context.version > FioVersion::V3_33 {
        w.int("read_sectors", disk.read_sectors);
        w.int("write_sectors", disk.write_sectors);
    }
    w.int("read_merges", disk.read_merges);
    w.int("write_merges", disk.write_merges);
    w.int("read_ticks", disk.read_ticks_ms);
    w.int("write_ticks", disk.write_ticks_ms);
    w.int("in_queue", disk.in_queue_ms);
    w.float("util", disk.util_percent);
    host.into_iter().for_each(|host| server(w, host));
}

/// Separates the name of a device from that of its host, which precedes it in merged records.
fn host_and_name<'a>(disk: &'a DiskUse, run: &'a Run) -> (Option<&'a str>, &'a str) {
    let of_host = |member: &'a RankRecord| {
        let name = disk.name.strip_prefix(&member.hostname)?.strip_prefix(':')?;
        Some((Some(member.hostname.as_str()), name))
    };
    let members = run.fleet.iter().flat_map(|fleet| &fleet.members);
    members.filter_map(of_host).next().unwrap_or((None, &disk.name))
}

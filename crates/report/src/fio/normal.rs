//! fio's normal output.

use job::IoPriority;
use record::{
    DataKind, DirectionResult, DiskUse, FioRow, IdlenessRecord, JobResult, LatencyShares, LatencyStats,
    PriorityLatency, RequestedProgram, RequestedRun, Run, SampleRecord, SteadyRecord, TrimmedBlockCounts,
};

use super::json::{BATCHES, DEPTHS, note_text};
use super::number::{SizeStyle, error_text, long_count};
use super::{FioOptions, FioVersion};
use crate::civil;

/// Appends fio's output before a run: jobs, version, and number of workers.
pub(super) fn banner(out: &mut String, jobs: &[RequestedRun], options: FioOptions) {
    for asked in jobs {
        if asked.processor.is_none() && asked.program.is_none() {
            job_line(out, asked);
        }
        if asked.declared.numjobs > 1 {
            out.push_str("...\n");
        }
    }
    out.push_str(&format!("{}\n{}\n", options.version.name(), starting(jobs)));
    for asked in jobs {
        if let Some(program) = &asked.program {
            program_lines(out, asked, program);
        }
        let Some(load) = &asked.processor else { continue };
        for _ in 0..asked.declared.numjobs.max(1) {
            out.push_str(&format!(
                "{} ({}): ioengine=cpuio, cpuload={}, cpucycle={}\n",
                asked.name, load.work, load.percent, load.burst_us
            ));
        }
    }
}

/// Appends the lines that fio prints when it starts a program.
fn program_lines(out: &mut String, asked: &RequestedRun, program: &RequestedProgram) {
    let (name, path) = (&asked.name, &program.path);
    let or_null = |text: String| if text.is_empty() { "(null)".to_owned() } else { text };
    for _ in 0..asked.declared.numjobs.max(1) {
        out.push_str(&format!("{name} : program={path}, arguments={}\n", or_null(program.arguments.clone())));
        if program.redirects {
            let words = or_null(program.words.join(" "));
            out.push_str(&format!(
                "{name} : Saving output of {path} {words} : stdout={name}.stdout stderr={name}.stderr\n"
            ));
        }
    }
}

fn job_line(out: &mut String, asked: &RequestedRun) {
    let declared = &asked.declared;
    let style = SizeStyle { decimal: declared.kb_base == 1000, bits: false, figures: 4 };
    let sizes = DataKind::ALL.map(|kind| {
        let sizes = declared.sizes(kind);
        format!("{}-{}", style.size(sizes.min.into()), style.size(sizes.max.into()))
    });
    let [read, write, trim] = sizes;
    out.push_str(&format!(
        "{}: (g={}): rw={}, bs=(R) {read}, (W) {write}, (T) {trim}, ioengine={}, iodepth={}\n",
        asked.name, asked.group, declared.rw, declared.engine, declared.iodepth
    ));
}

fn starting(asked: &[RequestedRun]) -> String {
    let workers = |thread: bool| -> u32 {
        asked.iter().filter(|asked| asked.declared.thread == thread).map(|asked| asked.declared.numjobs.max(1)).sum()
    };
    let (threads, processes) = (workers(true), workers(false));
    let plural = |n: u32, suffix: &'static str| if n == 1 { "" } else { suffix };
    let threads_text = format!("{threads} thread{}", plural(threads, "s"));
    let processes_text = format!("{processes} process{}", plural(processes, "es"));
    match (threads, processes) {
        (0, _) => format!("Starting {processes_text}"),
        (_, 0) => format!("Starting {threads_text}"),
        _ => format!("Starting {threads_text} and {processes_text}"),
    }
}

/// Appends results, groups, disks and notes.
pub(super) fn results(out: &mut String, run: &Run, options: FioOptions) {
    for (index, job) in run.jobs.iter().enumerate() {
        if index == 0 {
            out.push('\n');
        }
        NormalJob { run, job, options, style: style_of(job) }.write(out);
    }
    for group in run.groups() {
        status_group(out, run, group);
    }
    if !run.disks.is_empty() {
        out.push_str("\nDisk stats (read/write):\n");
        run.disks.iter().for_each(|disk| disk_line(out, disk, options));
    }
    if let Some(idleness) = &run.idleness {
        out.push_str(&idle_processors(idleness));
    }
    for note in &run.notes {
        out.push_str(&format!("  note: {}\n", note_text(note)));
    }
}

/// Returns the lines of `--idle-prof`. Without CPUs there was no run, only a calibration.
pub(super) fn idle_processors(idleness: &IdlenessRecord) -> String {
    let mut out = String::from("CPU idleness:\n");
    if !idleness.processors.is_empty() {
        out.insert(0, '\n');
        out.push_str(&format!("  system: {:.2}%\n", idleness.system_percent()));
    }
    if idleness.lists_processors {
        let each: Vec<_> = idleness.processors.iter().map(|(_, percent)| format!("{percent:.2}%")).collect();
        out.push_str(&format!("  percpu: {}\n", each.join(", ")));
    }
    out.push_str(&format!("  unit work: mean={:.2}us, stddev={:.2}\n", idleness.unit_mean_us, idleness.unit_stddev_us));
    out
}

fn style_of(job: &JobResult) -> SizeStyle {
    SizeStyle {
        decimal: job.declared.kb_base == 1000,
        bits: job.declared.unit_base == 1,
        figures: job.declared.significant_figures.unwrap_or(4) as usize,
    }
}

fn status_group(out: &mut String, run: &Run, group: u32) {
    out.push_str(&format!("\nRun status group {group} (all jobs):\n"));
    let Some(style) = run.in_group(group).next().map(style_of) else { return };
    let first = run.in_group(group).next();
    for &row in first.map_or(&[][..], JobResult::fio_rows) {
        let Some(totals) = run.row_totals(group, row) else { continue };
        let (rate, other_rate) = style.rates(totals.bytes_per_second);
        let (slowest, other_slowest) = style.rates(totals.bytes_per_second_min);
        let (fastest, other_fastest) = style.rates(totals.bytes_per_second_max);
        out.push_str(&format!(
            "{:>7}: bw={rate} ({other_rate}), {slowest}-{fastest} ({other_slowest}-{other_fastest}), io={} ({}), \
             run={}-{}msec\n",
            row.name().to_uppercase(),
            style.size(totals.bytes),
            style.other_size(totals.bytes),
            totals.runtime_ms_min,
            totals.runtime_ms_max,
        ));
    }
}

fn disk_line(out: &mut String, disk: &DiskUse, options: FioOptions) {
    let sectors = if options.version > FioVersion::V3_33 {
        format!("sectors={}/{}, ", disk.read_sectors, disk.write_sectors)
    } else {
        String::new()
    };
    out.push_str(&format!(
        "  {}: ios={}/{}, {sectors}merge={}/{}, ticks={}/{}, in_queue={}, util={:.2}%\n",
        disk.name,
        disk.read_ios,
        disk.write_ios,
        disk.read_merges,
        disk.write_merges,
        disk.read_ticks_ms,
        disk.write_ticks_ms,
        disk.in_queue_ms,
        disk.util_percent,
    ));
}

/// A result and the settings of its output.
struct NormalJob<'a> {
    run: &'a Run,
    job: &'a JobResult,
    options: FioOptions,
    style: SizeStyle,
}

impl NormalJob<'_> {
    fn write(&self, out: &mut String) {
        self.head(out);
        if let Some(description) = &self.job.description {
            out.push_str(&format!("  Description  : [{description}]\n"));
        }
        for &row in self.job.fio_rows() {
            let result = self.job.result.fio_row(row);
            if result.ios > 0 && !result.is_without_data() {
                self.transfers(out, row, &result);
            }
        }
        self.latency_shares(out);
        self.syncs(out);
        self.processor(out);
        self.depths(out);
        self.tail(out);
    }

    fn head(&self, out: &mut String) {
        let job = self.job;
        let error = match job.error {
            0 => String::new(),
            error => format!(" (func=io_u error, error={})", error_text(error)),
        };
        let taken = civil::ctime(civil::local(self.run.taken_unix_ms, self.run.utc_offset_s));
        out.push_str(&format!(
            "{}: (groupid={}, jobs={}): err={:2}{error}: pid={}: {taken}\n",
            job.name, job.group, job.workers, job.error, job.pid
        ));
    }

    fn transfers(&self, out: &mut String, row: FioRow, result: &DirectionResult) {
        let (rate, other_rate) = self.style.rates(result.fio_bytes_per_second());
        let zones = if row == FioRow::Kind(DataKind::Write) && self.options.version == FioVersion::V3_33 {
            format!("; {} zone resets", self.job.zone_resets)
        } else {
            String::new()
        };
        out.push_str(&format!(
            "  {}: IOPS={}, BW={rate} ({other_rate})({}/{}msec){zones}\n",
            row.name(),
            self.style.count(result.fio_iops() as u64),
            self.style.size(result.bytes),
            result.runtime_ms(),
        ));
        let kept = &self.job.declared.kept;
        let latencies = [
            ("slat", &result.submission, kept.slat_percentiles),
            ("clat", &result.service, kept.clat_percentiles),
            ("lat", &result.latency, kept.lat_percentiles),
        ];
        for (name, latency, _) in latencies {
            latency_line(out, name, latency);
        }
        let priorities = priorities(result, kept.lat_percentiles);
        for (name, latency) in &priorities {
            latency_line(out, name, latency);
        }
        for (name, latency, _) in latencies.iter().filter(|(.., wanted)| *wanted) {
            percentiles(out, name, latency, &self.job.declared.percentiles);
        }
        let of_priorities = priorities.iter().filter(|_| kept.lat_percentiles || kept.clat_percentiles);
        for (name, latency) in of_priorities {
            let share = latency.count as f64 * 100.0 / result.ios.max(1) as f64;
            let name = format!("{name} ({share:.2}% of IOs)");
            percentiles(out, &name, latency, &self.job.declared.percentiles);
        }
        self.samples(out, row, result);
    }

    fn samples(&self, out: &mut String, row: FioRow, result: &DirectionResult) {
        let (bandwidth, iops) = (&result.bandwidth_kib, &result.iops_samples);
        if bandwidth.count > 0 {
            let totals = self.run.row_totals(self.job.group, row);
            let share = totals.map_or(0.0, |totals| totals.share_percent(bandwidth));
            let (unit, divisor) = self.bandwidth_unit(bandwidth.mean);
            out.push_str(&format!("   bw ({unit:>5}/s): {}\n", sample_text(bandwidth, divisor, Some(share))));
        }
        if iops.count > 0 {
            out.push_str(&format!("   iops        : {}\n", sample_text(iops, 1.0, None)));
        }
    }

    /// Returns the unit of bandwidth samples, and its size in KiB/s (or kB/s).
    fn bandwidth_unit(&self, mean_kib: f64) -> (&'static str, f64) {
        let base = if self.style.decimal { 1000.0 } else { 1024.0 };
        let large = mean_kib > base * base;
        match (self.style.decimal, large) {
            (false, false) => ("KiB", 1.0),
            (false, true) => ("MiB", base),
            (true, false) => ("kB", 1.0),
            (true, true) => ("MB", base),
        }
    }

    fn latency_shares(&self, out: &mut String) {
        let shares = self.job.result.latency_shares();
        let mut bounds: Vec<String> = LatencyShares::BOUNDS.iter().map(u64::to_string).collect();
        share_lines(out, "nsec", &bounds, &shares.ns);
        share_lines(out, "usec", &bounds, &shares.us);
        bounds.extend(["2000".to_owned(), ">=2000".to_owned()]);
        share_lines(out, "msec", &bounds, &shares.ms);
    }

    fn syncs(&self, out: &mut String) {
        let sync = &self.job.result.sync;
        if sync.count == 0 {
            return;
        }
        let more = if self.options.version > FioVersion::V3_33 { "/syncfs" } else { "" };
        out.push_str(&format!("  fsync/fdatasync/sync_file_range{more}:\n"));
        latency_line(out, "sync", sync);
        percentiles(out, "sync", sync, &self.job.declared.percentiles);
    }

    fn processor(&self, out: &mut String) {
        let (result, cpu) = (&self.job.result, &self.job.result.cpu);
        out.push_str(&format!(
            "  cpu          : usr={:.2}%, sys={:.2}%, ctx={}, majf={}, minf={}\n",
            result.cpu_percent(cpu.user_ns),
            result.cpu_percent(cpu.system_ns),
            cpu.context_switches,
            cpu.major_faults,
            cpu.minor_faults,
        ));
    }

    fn depths(&self, out: &mut String) {
        let result = &self.job.result;
        let line = |name: &str, classes: [&str; 7], percents: [f64; 7]| {
            let parts: Vec<String> =
                classes.iter().zip(percents).map(|(class, percent)| format!("{class}={percent:.1}%")).collect();
            format!("{name}: {}\n", parts.join(", "))
        };
        let (depth, submit, complete) = (result.depth.percent(), result.submit.percent(), result.complete.percent());
        out.push_str(&line("  IO depths    ", DEPTHS, depth));
        out.push_str(&line("     submit    ", BATCHES, submit));
        out.push_str(&line("     complete  ", BATCHES, complete));
    }

    fn tail(&self, out: &mut String) {
        let result = &self.job.result;
        let (read, write, trim) = (&result.read, &result.write, &result.trim);
        out.push_str(&format!(
            "     issued rwts: total={},{},{},{} short={},{},{},0 dropped={},{},{},0\n",
            read.ios,
            write.ios,
            trim.ios,
            self.job.fio_syncs(),
            read.short_ios,
            write.short_ios,
            trim.short_ios,
            read.drop_ios,
            write.drop_ios,
            trim.drop_ios,
        ));
        if self.job.declared.continue_on_error {
            let (errors, first) = (result.errors, result.first_error);
            out.push_str(&format!("     errors    : total={errors}, first_error={first}/<{}>\n", error_text(first)));
        }
        out.push_str(&self.latency_target());
        if let Some(trimmed) = &result.trimmed {
            trimmed_blocks(out, trimmed, &self.job.declared.percentiles);
        }
        if let Some(steady) = &self.job.steady {
            out.push_str(&self.steady_state(steady));
        }
    }

    fn steady_state(&self, steady: &SteadyRecord) -> String {
        let (rate, other_rate) = self.style.rates(steady.bytes_per_second_mean());
        let (attained, iops) = (if steady.is_attained { "yes" } else { "no" }, self.style.count(steady.iops_mean()));
        let measured = match (steady.is_slope, steady.is_percent) {
            (true, false) => format!("slope={:.3}", steady.slope),
            (true, true) => format!("slope={:.3}%", steady.criterion),
            (false, false) => format!("mean dev={:.3}", steady.criterion),
            (false, true) => format!("mean dev={:.3}%", steady.criterion),
        };
        let measure = &steady.measure;
        format!("  steadystate  : attained={attained}, bw={rate} ({other_rate}), iops={iops}, {measure} {measured}\n")
    }

    /// Returns the line of the search for a queue depth. fio 3.33 prints nanoseconds and microseconds without a unit.
    fn latency_target(&self) -> String {
        let search = self.job.fio_depth_search();
        let (percentile, depth) = (search.percentile, search.depth);
        let (target, window) = if self.options.version > FioVersion::V3_33 {
            (later_time(search.target_ns), later_time(search.window_ns))
        } else {
            (search.target_ns.to_string(), (search.window_ns / 1000).to_string())
        };
        format!("     latency   : target={target}, window={window}, percentile={percentile:.2}%, depth={depth}\n")
    }
}

/// Maximum length of a line of trims by percentile.
const TRIMS_COLUMNS: usize = 79;

/// Appends the trims of blocks, and the states of the blocks.
fn trimmed_blocks(out: &mut String, trimmed: &TrimmedBlockCounts, percents: &[f64]) {
    out.push_str("  block lifetime percentiles :\n");
    let mut line = String::from("   |");
    for (percent, trims) in trimmed.percentiles(percents) {
        let cell = format!(" {percent:.2}th={trims},");
        if line.len() + cell.len() > TRIMS_COLUMNS {
            out.push_str(&format!("{line}\n"));
            line.truncate(4);
        }
        line.push_str(&cell);
    }
    if let Some(last) = line.strip_suffix(',') {
        out.push_str(&format!("{last}\n"));
    }
    let states = trimmed.states().map(|(name, blocks)| format!("{name}={blocks}")).join(", ");
    out.push_str(&format!("        states               : {states}\n"));
}

/// Returns a time as later versions print it: with two decimals, in the largest unit below it.
fn later_time(nanos: u64) -> String {
    let (divisor, unit) = match nanos {
        0..1000 => (1.0, "ns"),
        1000..1_000_000 => (1e3, "us"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.2}{unit}", nanos as f64 / divisor)
}

fn sample_text(samples: &SampleRecord, divisor: f64, share: Option<f64>) -> String {
    let (min, max) = ((samples.min / divisor) as u64, (samples.max / divisor) as u64);
    let (mean, stddev) = (samples.mean / divisor, samples.stddev / divisor);
    let share = share.map_or_else(String::new, |share| format!("per={share:3.2}%, "));
    format!("min={min:5}, max={max:5}, {share}avg={mean:5.2}, stdev={stddev:5.2}, samples={}", samples.count)
}

/// Appends a latency in nanoseconds, or in microseconds or milliseconds if all of its values are large.
/// Returns the latencies of priorities with their names, if there are several.
fn priorities(result: &DirectionResult, in_total: bool) -> Vec<(String, &LatencyStats)> {
    let named = |one: &PriorityLatency| {
        let IoPriority { class, level, .. } = IoPriority::from_raw(one.priority);
        format!("{} prio {class}/{level}", if in_total { "lat" } else { "clat" })
    };
    let all = result.priorities.iter().filter(|_| result.priorities.len() > 1);
    all.map(|one| (named(one), &one.latency)).collect()
}

fn latency_line(out: &mut String, name: &str, latency: &LatencyStats) {
    if latency.count == 0 {
        return;
    }
    let (mut min, mut max) = (latency.min_ns, latency.max_ns);
    let (mut mean, mut stddev) = (latency.mean_ns, latency.stddev_ns);
    let mut units = ["nsec", "usec", "msec"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    while let (true, Some(next)) = (min > 2000 && max > 99_999 && stddev > 1000.0, units.next()) {
        (min, max, mean, stddev, unit) = (min / 1000, max / 1000, mean / 1000.0, stddev / 1000.0, next);
    }
    out.push_str(&format!(
        "    {name:>4} ({unit}): min={}, max={}, avg={mean:5.2}, stdev={stddev:5.2}\n",
        long_count(min),
        long_count(max)
    ));
}

/// Columns available for percentiles in a line.
const PERCENTILE_COLUMNS: usize = 73;

/// Appends percentiles, as many per line as fit. Scaled values are rounded up.
fn percentiles(out: &mut String, name: &str, latency: &LatencyStats, percents: &[f64]) {
    let values = latency.fio_percentiles_ns(percents);
    let (Some((_, least)), Some((_, greatest))) = (values.first(), values.last()) else { return };
    let (unit, divisor) = match (*least, *greatest) {
        (2_000_001.., 100_000_000..) => ("msec", 1_000_000),
        (2_001.., 100_000..) => ("usec", 1_000),
        _ => ("nsec", 1),
    };
    out.push_str(&format!("    {name} percentiles ({unit}):\n"));
    let decimals = decimals_of(percents);
    let digits = greatest.div_ceil(divisor).to_string().len().max(5);
    for line in values.chunks(PERCENTILE_COLUMNS / (digits + decimals + 10)) {
        let cell = |(percent, ns): &(f64, u64)| {
            format!("{percent:>width$.decimals$}th=[{:digits$}]", ns.div_ceil(divisor), width = decimals + 3)
        };
        let cells: Vec<String> = line.iter().map(cell).collect();
        let last = line.last() == values.last();
        out.push_str(&format!("     | {}{}\n", cells.join(", "), if last { "" } else { "," }));
    }
}

/// Returns the number of decimals of the percentile with the most decimals.
fn decimals_of(percents: &[f64]) -> usize {
    let decimals = |percent: &f64| percent.to_string().split_once('.').map_or(0, |(_, fraction)| fraction.len());
    percents.iter().map(decimals).max().unwrap_or(0)
}

/// Appends the classes that are not empty, five per line.
fn share_lines(out: &mut String, unit: &str, bounds: &[String], percents: &[f64]) {
    let classes = bounds.iter().zip(percents).filter(|(_, percent)| **percent > 0.0);
    let cells: Vec<String> = classes.map(|(bound, percent)| format!("{bound}={percent:.2}%")).collect();
    for line in cells.chunks(5) {
        out.push_str(&format!("  lat ({unit})   : {}\n", line.join(", ")));
    }
}

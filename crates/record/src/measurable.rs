//! Which results a program can have measured. Those of damaged texts may have any figure.

use crate::{
    DataKind, DirectionResult, DiskUse, IntervalRecord, JobResult, LatencyStats, Note, Quoted, Run, SeriesRecord,
};

/// 146 years in nanoseconds, and as many operations or bytes.
pub(crate) const MOST: u64 = 1 << 62;

/// Maximum percentage of time for which a device can be busy: intervals are rounded.
pub(crate) const BUSY_PERCENT_MAX: f64 = 110.0;

/// Reports whether the counts and times of a run, or their sums, are beyond measurement.
pub(crate) fn is_beyond_measure(run: &Run) -> bool {
    let of_jobs: u128 = run.jobs.iter().map(of_job).sum();
    let members = run.fleet.iter().flat_map(|fleet| &fleet.members);
    let of_members: u128 =
        members.clone().map(|rank| sum(&rank.ios) + sum(&rank.bytes) + of_series(&rank.series)).sum();
    let rates = members.flat_map(|rank| [rank.iops, rank.bytes_per_second, rank.cpu_share]);
    let mut values = run.jobs.iter().flat_map(values_of).chain(rates);
    of_jobs + of_members > u128::from(MOST) || !values.all(|value| (0.0..MOST as f64).contains(&value))
}

fn sum(counts: &[u64]) -> u128 {
    counts.iter().copied().map(u128::from).sum()
}

fn of_job(job: &JobResult) -> u128 {
    let result = &job.result;
    let counts = [result.runtime_ns, result.cpu.user_ns, result.cpu.system_ns, result.errors];
    let kinds: u128 = result.kinds().map(|(_, kind)| of_kind(kind)).sum();
    kinds + of_latency(&result.sync) + of_latency(&result.lateness) + of_series(&result.series) + sum(&counts)
}

fn of_kind(kind: &DirectionResult) -> u128 {
    let counts = [kind.ios, kind.bytes, kind.short_ios, kind.drop_ios, kind.runtime_ns];
    sum(&counts) + latencies(kind).into_iter().map(of_latency).sum::<u128>()
}

const fn latencies(kind: &DirectionResult) -> [&LatencyStats; 4] {
    [&kind.submission, &kind.service, &kind.latency, &kind.response]
}

fn of_latency(latency: &LatencyStats) -> u128 {
    let buckets: u128 = latency.buckets.iter().map(|(_, count)| u128::from(*count)).sum();
    buckets + u128::from(latency.count)
}

fn of_series(series: &SeriesRecord) -> u128 {
    let of_interval = |interval: &IntervalRecord| sum(&interval.ios) + sum(&interval.bytes);
    series.intervals.iter().map(of_interval).sum()
}

/// Returns the means and deviations of a job.
fn values_of(job: &JobResult) -> Vec<f64> {
    let result = &job.result;
    let all = result.kinds().flat_map(|(_, kind)| latencies(kind)).chain([&result.sync, &result.lateness]);
    all.flat_map(|latency| [latency.mean_ns, latency.stddev_ns]).collect()
}

/// Leaves out the devices of a run whose statistics are impossible, with a note.
pub(crate) fn without_impossible_disks(run: &mut Run) {
    let is_possible = |disk: &DiskUse| {
        let counts = [disk.read_ios, disk.write_ios, disk.read_sectors, disk.write_sectors];
        let others = [disk.read_merges, disk.write_merges, disk.read_ticks_ms, disk.write_ticks_ms, disk.in_queue_ms];
        // Times are milliseconds.
        counts.into_iter().chain(others).all(|count| count <= MOST / 1_000_000)
            && (0.0..=BUSY_PERCENT_MAX).contains(&disk.util_percent)
    };
    let (kept, impossible): (Vec<_>, Vec<_>) = std::mem::take(&mut run.disks).into_iter().partition(is_possible);
    run.disks = kept;
    let names: Vec<&str> = impossible.iter().map(|disk| disk.name.as_str()).collect();
    if !names.is_empty() {
        run.quotes.retain(|quote| quote.of.as_deref().is_none_or(|of| !names.contains(&of)));
        let text = format!("ignored because of impossible statistics: devices {}", names.join(", "));
        run.notes.push(Note::of_run(text));
    }
}

/// Leaves out submission and service times that the total latency cannot contain, and submission times that the queue
/// cannot, with a note: a program may take them from a wrong clock.
pub(crate) fn without_contradicting_latencies(run: &mut Run) {
    /// Factor over the possible operations in flight.
    const BEYOND: f64 = 2.0;
    for job in &mut run.jobs {
        let most_ns = BEYOND * possible_in_flight(job) * job.result.elapsed_ns() as f64;
        let mut left_out: Vec<&str> = Vec::new();
        for kind in DataKind::ALL {
            let result = job.result.kind_mut(kind);
            // A service time beyond the queue contradicts the depth as well, and says so.
            let is_beyond = most_ns > 0.0 && result.submission.sum_ns() > most_ns;
            if is_beyond || !result.fits_total(&result.submission) {
                result.submission = LatencyStats::default();
                left_out.push("slat");
            }
            if !result.fits_total(&result.service) {
                result.service = LatencyStats::default();
                left_out.push("clat");
            }
        }
        left_out.sort_unstable();
        left_out.dedup();
        for name in left_out {
            let text = format!("`{name}` exceeds the total time of its operations and is ignored");
            run.notes.push(Note::of_result(&job.name, job.number, text));
        }
    }
}

/// Returns the operations that a job may have in flight; zero if that is unknown.
fn possible_in_flight(job: &JobResult) -> f64 {
    let of_workers = u64::from(job.declared.iodepth_effective) * u64::from(job.workers);
    job.declared.in_flight_possible.unwrap_or(of_workers) as f64
}

/// Gives the reads of a verification that do not fit into their own time that of the whole job, with a note: of reads
/// between writes (`verify_backlog`), fio times only those behind the last write.
pub(crate) fn with_possible_runtimes(run: &mut Run) {
    /// Factor over the possible operations in flight.
    const BEYOND: f64 = 2.0;
    const ROUNDING_NS: u64 = 1_000_000;
    for job in run.jobs.iter_mut().filter(|job| job.declared.verify) {
        let possible = possible_in_flight(job);
        let all_fit = job.result.in_flight().is_some_and(|in_flight| in_flight <= BEYOND * possible);
        let (elapsed_ns, read) = (job.result.elapsed_ns(), &mut job.result.read);
        let longest_ns = BEYOND * possible * (read.runtime_ns + ROUNDING_NS) as f64;
        if !all_fit || read.runtime_ns == 0 || read.served().sum_ns() <= longest_ns {
            continue;
        }
        read.runtime_ns = elapsed_ns;
        let of_time = [Quoted::Iops, Quoted::BytesPerSecond, Quoted::RuntimeNs];
        job.quotes.retain(|quote| quote.kind != Some(DataKind::Read) || !of_time.contains(&quote.what));
        let text = "the reads do not fit into their reported time: they verified data between writes, so they count \
                    over the time of both";
        run.notes.push(Note::of_result(&job.name, job.number, text));
    }
}

/// Leaves out latencies of a run that are longer than it ran, with a note: the clock of the generator was wrong.
pub(crate) fn without_impossible_latencies(run: &mut Run) {
    /// Factor over the runtime: operations in flight at its end are waited for.
    const BEYOND: f64 = 2.0;
    const AT_LEAST_NS: f64 = 60e9;
    for job in &mut run.jobs {
        let longest_ns = (BEYOND * job.result.elapsed_ns() as f64).max(AT_LEAST_NS);
        let mut is_complete = true;
        for kind in DataKind::ALL {
            let result = job.result.kind_mut(kind);
            let is_timed = result.runtime_ns > 0;
            let latencies = [&mut result.submission, &mut result.service, &mut result.latency];
            for latency in latencies.into_iter().filter(|latency| is_timed && latency.mean_ns > longest_ns) {
                *latency = LatencyStats::default();
                is_complete = false;
            }
        }
        if !is_complete {
            let times = [Quoted::SubmissionMeanNs, Quoted::ServiceMeanNs, Quoted::LatencyMeanNs];
            job.quotes.retain(|quote| !times.contains(&quote.what) || quote.value <= longest_ns);
            let text = "latencies longer than the run are impossible and ignored";
            run.notes.push(Note::of_result(&job.name, job.number, text));
        }
    }
}

//! Observations: a load and its result, from a run, device counters or a claim.

use record::{
    Claim, Claimed, ClaimedKind, CounterFormat, DataKind, Declared, EtcdSyncs, Iostat, IostatCpu, IostatDevice,
    IostatKind, IostatReport, JobResult, LatencyStats, Measured, Mixed, Run, UnifiedReport,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::EvidenceSource;

/// A figure with its uncertainty: printed and quoted figures are rounded, and some are ranges. Figures contradict each
/// other only where no values within them agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownFigure {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Best estimate. For a product it is the product of the estimates, not the middle of the bounds.
    pub middle: f64,
    /// Source of the figure.
    pub source: EvidenceSource,
}

impl KnownFigure {
    /// Creates a figure that was counted.
    #[must_use]
    pub const fn exact(value: f64, source: EvidenceSource) -> Self {
        Self { low: value, high: value, middle: value, source }
    }

    /// Creates a figure that was printed, with `step` the unit of its last digit.
    #[must_use]
    pub fn printed(value: f64, step: f64, source: EvidenceSource) -> Self {
        Self { middle: value, ..Self::between((value - step / 2.0).max(0.0), value + step / 2.0, source) }
    }

    /// Creates a figure within a range.
    #[must_use]
    pub const fn between(low: f64, high: f64, source: EvidenceSource) -> Self {
        Self { low, high, middle: (low + high) / 2.0, source }
    }

    /// Returns the best estimate.
    #[must_use]
    pub const fn value(&self) -> f64 {
        self.middle
    }

    /// Returns the product of two figures, by Little's law.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let middle = self.middle * other.middle;
        Self { middle, ..Self::between(self.low * other.low, self.high * other.high, EvidenceSource::LittlesLaw) }
    }

    /// Returns the quotient of two figures, by Little's law.
    #[must_use]
    pub fn over(&self, other: &Self) -> Self {
        let (low, high) = (self.low / other.high.max(1e-12), self.high / other.low.max(1e-12));
        Self { middle: self.middle / other.middle.max(1e-12), ..Self::between(low, high, EvidenceSource::LittlesLaw) }
    }

    /// Returns the sum of two figures of one source.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let middle = self.middle + other.middle;
        Self { middle, ..Self::between(self.low + other.low, self.high + other.high, self.source) }
    }

    /// Converts the figure to another unit.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let middle = self.middle * factor;
        Self { middle, ..Self::between(self.low * factor, self.high * factor, self.source) }
    }

    fn claimed(claimed: &Claimed, source: EvidenceSource) -> Self {
        Self { middle: claimed.value(), ..Self::between(claimed.low(), claimed.high(), source) }
    }
}

/// Load of a device in an interval. A device that is the limit stays busy, with requests that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IntervalDemand {
    /// Mean number of requests in flight.
    pub in_flight: Option<f64>,
    /// Fraction of time with a request in flight, from 0 to 1.
    pub busy: Option<f64>,
}

/// Demand of an interval without requests.
const IDLE: IntervalDemand = IntervalDemand { in_flight: Some(0.0), busy: Some(0.0) };

impl IntervalDemand {
    fn of_device(device: &IostatDevice) -> Self {
        let implied = || Some(device.iops() * mean_await_ns(device)? / 1e9);
        Self { in_flight: device.in_flight.or_else(implied), busy: device.util }
    }
}

/// A load and its result. Any figure may be unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Completed operations per second, all kinds.
    pub iops: Option<KnownFigure>,
    /// Fraction of reads among them, from 0 to 1.
    pub read_share: Option<f64>,
    /// Bytes per second, all kinds.
    pub bytes_per_second: Option<KnownFigure>,
    /// Bytes of one operation, as requested.
    pub block_bytes: Option<KnownFigure>,
    /// Bytes of one request, as seen by the device.
    pub request_bytes: Option<KnownFigure>,
    /// Mean time of an operation from its start, in nanoseconds, as Little's law uses it.
    pub latency_ns: Option<KnownFigure>,
    /// Median time of an operation in nanoseconds.
    pub median_ns: Option<KnownFigure>,
    /// The 99th percentile of the times of operations in nanoseconds, if it is claimed.
    pub p99_ns: Option<KnownFigure>,
    /// The claimed percentile that bounds the mean from below best: a fraction of the operations, and the time that these
    /// take at least.
    pub slowest: Option<(f64, KnownFigure)>,
    /// Whether the distribution around that mean is known.
    pub spread: bool,
    /// Coefficient of variation of the times of operations.
    pub variation: Option<f64>,
    /// Difference of the 95th and the 5th percentile of these times over their median.
    pub middle_spread: Option<f64>,
    /// Whether device names indicate flash memory.
    pub flash: bool,
    /// Mean time of a sync in nanoseconds.
    pub sync_mean_ns: Option<KnownFigure>,
    /// Mean number of syncs between operations that took the place of one in the queue.
    pub syncs_in_flight: Option<KnownFigure>,
    /// The 99th percentile of the times of syncs in nanoseconds.
    pub sync_p99_ns: Option<KnownFigure>,
    /// What etcd does with these syncs, if it made them.
    pub etcd: Option<EtcdSyncs>,
    /// Operations that could be in flight: depth × workers.
    pub depth: Option<KnownFigure>,
    /// Whether the engine can keep more than one operation in flight for each worker.
    pub queues: Option<bool>,
    pub workers: Option<u64>,
    /// Whether operations waited only for a free slot in the queue, so that `depth` should be in flight.
    pub closed: bool,
    /// Mean number of operations in flight, as counted by a device (`aqu-sz`).
    pub in_flight: Option<KnownFigure>,
    /// Fraction of time in which the device had at least one request.
    pub busy: Option<KnownFigure>,
    /// Whether offsets are random.
    pub random: Option<bool>,
    /// CPUs of the machine.
    pub cpus: Option<KnownFigure>,
    /// Measured time in seconds.
    pub seconds: Option<f64>,
    /// Size of the accessed region in bytes.
    pub region_bytes: Option<u64>,
    /// Whether operations bypass the page cache.
    pub direct: Option<bool>,
    /// Whether the figures describe a real or modelled device, instead of the page cache or no device.
    pub device: bool,
    /// Intervals with requests, of which the figures are, if there are others too.
    pub active: Option<ActiveIntervals>,
    /// Operations per second of complete intervals, in order.
    pub paces: Vec<f64>,
    /// Load of the device in each of these intervals; `None` for jobs, which keep up their load.
    pub demands: Option<Vec<IntervalDemand>>,
    /// Length of each of these intervals in nanoseconds.
    pub interval_ns: f64,
    /// Whether the figures come from a model, which knows why its throughput changes.
    pub modelled: bool,
    /// Whether the figures are averages since boot, which describe no particular load.
    pub since_boot: bool,
    /// Fraction of the host's CPU time that was in use, from 0 to 1.
    pub host_cpu: Option<f64>,
    /// Database that generated the load.
    pub database: Option<Database>,
}

impl Observation {
    /// Creates the observation of a job of a run.
    #[must_use]
    pub fn of(run: &Run, job: &JobResult) -> Self {
        let writes = job.without_verification();
        let job = writes.as_ref().unwrap_or(job);
        let (declared, result) = (&job.declared, &job.result);
        // Text output is as exact as its digits, but these figures are computed from its counts.
        let is_printed = !job.quotes.is_empty() || job.untimed;
        let source = if is_printed { EvidenceSource::Printed } else { EvidenceSource::Counters };
        let counted = |value: f64| (value > 0.0).then(|| KnownFigure::exact(value, source));
        let (iops, reads) = (result.iops(), result.read.ios as f64);
        let series = run.common_series(job);
        let series = series.paced();
        // Several different jobs have only the settings that they share.
        let is_one = declared.mixed.len() <= 1;
        // fio's `unified_rw_reporting` counts all as one, which is read as reads.
        let is_unified = declared.unified == UnifiedReport::Mixed && result.write.ios == 0;
        let all = |is: fn(&Mixed) -> bool| {
            let first = declared.mixed.first().map(is);
            first.filter(|first| declared.mixed.iter().all(|one| is(one) == *first))
        };
        Self {
            iops: counted(iops),
            read_share: match (result.ios(), is_unified) {
                (_, true) => None,
                // Bytes of operations that are not counted.
                (0, _) if result.read.bytes + result.write.bytes == 0 => None,
                (0, _) => Some(result.read.bytes as f64 / (result.read.bytes + result.write.bytes) as f64),
                (ios, _) => Some(reads / ios as f64),
            },
            bytes_per_second: counted(result.bytes_per_second()),
            block_bytes: block_bytes(declared, result).filter(|_| is_one || has_one_size(declared)),
            latency_ns: latency_ns(result).and_then(counted).or_else(|| latency_of_full_queue(declared, result)),
            median_ns: main(result).with_percentiles().percentile_ns(50.0).and_then(|ns| counted(ns as f64)),
            spread: result.kinds().any(|(_, kind)| {
                let service = kind.with_percentiles();
                service.max_ns as f64 > service.mean_ns
                    || service.stddev_ns > 0.0
                    || !service.quoted.is_empty()
                    || !service.buckets.is_empty()
            }),
            variation: main(result).with_percentiles().variation(),
            middle_spread: middle_spread(main(result).with_percentiles()),
            flash: run.disks.iter().any(|disk| is_flash(&disk.name)),
            depth: declared
                .in_flight_possible
                .map(|depth| KnownFigure::exact(depth as f64, EvidenceSource::of_depth(declared))),
            queues: is_one.then_some(declared.queues),
            workers: Some(u64::from(job.workers.max(1))),
            closed: is_closed(declared, result),
            random: match is_one {
                true => (!declared.rw.is_empty()).then(|| declared.rw.starts_with("rand")),
                false => all(|one| one.rw.starts_with("rand")),
            },
            sync_mean_ns: counted(result.sync.mean_ns),
            syncs_in_flight: syncs_in_flight(declared, result),
            sync_p99_ns: result.sync.percentile_ns(99.0).and_then(|ns| counted(ns as f64)),
            etcd: EtcdSyncs::of_histogram(&job.name).filter(|_| run.is_of_other_program()),
            seconds: (!job.untimed).then(|| result.elapsed_ns() as f64 / 1e9),
            region_bytes: declared.size,
            direct: if is_one { declared.known_direct() } else { all(|one| one.direct) },
            device: declared.device,
            paces: series.iops(),
            interval_ns: series.width_ns as f64,
            modelled: run.model.is_some(),
            ..Self::default()
        }
    }

    /// Creates the observation of a device from `iostat`, averaged over the reports in which it had requests. The average
    /// since boot is used only without other reports.
    #[must_use]
    pub fn of_device(iostat: &Iostat, name: &str) -> Self {
        let since_boot = iostat.intervals().next().is_none();
        let course = course_of(iostat, name);
        let reports = in_use(&course);
        let device = mean_device(&reports);
        // Idle time before and after the load is none of it.
        let is_used = |report: &CourseReport<'_>| report.device.is_some();
        let ends = course.iter().position(is_used).zip(course.iter().rposition(is_used));
        let load = ends.map_or(&course[..0], |(first, last)| &course[first..=last]);
        let step = 0.1_f64.powi(device.decimals as i32);
        let source = match iostat.format {
            CounterFormat::Iostat => EvidenceSource::Iostat,
            CounterFormat::Sar => EvidenceSource::Sar,
            CounterFormat::Diskstats | CounterFormat::Vmstat | CounterFormat::NodeExporter => {
                EvidenceSource::DiskCounters
            }
        };
        let figure = |value: Option<f64>, step: f64| {
            value.filter(|value| *value > 0.0).map(|value| KnownFigure::printed(value, step, source))
        };
        let (iops, reads) = (device.iops(), device.read.per_second.unwrap_or(0.0));
        // The queue and the busy time count all kinds.
        let others = has_others(&device);
        let seconds = reports.iter().map(|(report, _)| report.seconds).sum::<Option<f64>>();
        Self {
            iops: figure(Some(iops), step),
            read_share: match device.tells_kinds_apart() {
                true => (iops > 0.0).then(|| reads / iops),
                // Requests of both kinds are taken as equally large.
                false => device.read.bytes_per_second.and_then(|bytes| {
                    let all = device.bytes_per_second();
                    (all > 0.0).then(|| bytes / all)
                }),
            },
            bytes_per_second: figure(Some(device.bytes_per_second()), 1024.0 * step),
            request_bytes: figure((iops > 0.0).then(|| device.bytes_per_second() / iops), 1024.0 * step),
            latency_ns: figure(mean_await_ns(&device), 1e6 * step),
            in_flight: figure(device.in_flight.filter(|_| !others), step),
            busy: figure(device.util.filter(|_| !others), step / 100.0),
            cpus: iostat.cpus.map(|cpus| KnownFigure::exact(f64::from(cpus), source)),
            seconds,
            device: true,
            flash: is_flash(name),
            active: active(&course),
            paces: match since_boot {
                true => Vec::new(),
                false => load.iter().map(|report| report.device.map_or(0.0, IostatDevice::iops)).collect(),
            },
            demands: Some(load.iter().map(|report| report.device.map_or(IDLE, IntervalDemand::of_device)).collect()),
            interval_ns: seconds.map_or(1e9, |seconds| seconds * 1e9 / reports.len().max(1) as f64),
            since_boot,
            host_cpu: host_cpu(&reports),
            ..Self::default()
        }
    }

    /// Creates the observation of a claim.
    #[must_use]
    pub fn of_claim(claim: &Claim) -> Self {
        let figure = |claimed: &Option<Claimed>| {
            claimed.as_ref().map(|claimed| KnownFigure::claimed(claimed, EvidenceSource::Claim))
        };
        let (block, bytes) = (figure(&claim.block_bytes), figure(&claim.bytes_per_second));
        let made =
            bytes.zip(block).map(|(bytes, block)| KnownFigure { source: EvidenceSource::Claim, ..bytes.over(&block) });
        let (depth, jobs) = (figure(&claim.depth), figure(&claim.jobs));
        let one = KnownFigure::exact(1.0, EvidenceSource::Claim);
        let in_all =
            depth.map(|depth| KnownFigure { source: EvidenceSource::Claim, ..depth.times(&jobs.unwrap_or(one)) });
        let columns = Columns::of(claim);
        let (iops, latency) = (
            // Bytes per second and block size also give operations per second.
            figure(&claim.iops).or(made).or(columns.iops),
            figure(&claim.latency_ns).or(columns.await_ns),
        );
        // Of depth, rate and latency, any two give the third.
        let in_flight = in_all.or(columns.in_flight);
        let latency_made = || Some(in_flight?.over(&iops?).scaled(1e9)).filter(|mean| may_be_mean(mean, claim));
        let iops_made = || Some(in_flight?.over(&latency?.scaled(1e-9)));
        let percentile = |wanted: f64| {
            let known = claim.percentiles_ns.iter().find(|(percent, _)| *percent == wanted);
            known.and_then(|(_, ns)| figure(&Some(*ns)))
        };
        Self {
            iops: iops.or_else(iops_made),
            read_share: claim
                .read_share
                .as_ref()
                .map(Claimed::value)
                .or_else(|| reads(claim.rw?))
                .or(columns.read_share),
            bytes_per_second: bytes.or(columns.bytes_per_second),
            block_bytes: block,
            request_bytes: columns.request_bytes,
            latency_ns: latency.or_else(latency_made),
            in_flight: columns.in_flight,
            // `svctm` is the busy time for each request.
            busy: columns.busy.or_else(|| {
                let busy = column(claim.service_ns)?.scaled(1e-9).times(&iops?);
                Some(KnownFigure { source: EvidenceSource::Iostat, ..busy }).filter(|busy| busy.low <= 1.0)
            }),
            median_ns: percentile(50.0),
            p99_ns: percentile(99.0),
            slowest: slowest(claim),
            spread: !claim.percentiles_ns.is_empty(),
            depth: in_all,
            workers: jobs.map(|jobs| jobs.value().round().max(1.0) as u64),
            // Device counters do not tell whether a queue was kept full.
            closed: depth.is_some() || !columns.any(),
            random: claim.rw.map(|rw| rw.starts_with("rand")),
            cpus: figure(&claim.vcpus).or_else(|| figure(&claim.cpus)),
            seconds: claim.time_ns.as_ref().map(|time| time.value() / 1e9),
            device: true,
            ..Self::default()
        }
    }

    /// Fills in unknown properties of the load from the user's claim.
    #[must_use]
    pub fn completed_by(self, said: &Self) -> Self {
        Self {
            read_share: self.read_share.or(said.read_share),
            block_bytes: self.block_bytes.or(said.block_bytes),
            depth: self.depth.or(said.depth),
            workers: if self.depth.is_some() { self.workers } else { self.workers.or(said.workers) },
            closed: self.closed || self.depth.is_none() && said.depth.is_some(),
            random: self.random.or(said.random),
            cpus: said.cpus.or(self.cpus),
            database: self.database.or(said.database),
            ..self
        }
    }

    /// Returns what the database asks of the 99th percentile of syncs, in nanoseconds.
    pub(crate) fn sync_p99_allowed_ns(&self) -> Option<f64> {
        let of_database = (self.database == Some(Database::Etcd)).then_some(EtcdSyncs::Log);
        self.etcd.or(of_database).map(|syncs| syncs.p99_allowed().get() as f64)
    }

    /// Returns the mean size of what `iops` counts, in bytes: device requests if a device counted them, else
    /// operations.
    #[must_use]
    pub fn mean_bytes(&self) -> Option<KnownFigure> {
        let moved = || Some(self.bytes_per_second?.over(&self.iops?));
        self.request_bytes.or(self.block_bytes).or_else(moved)
    }

    /// Returns the observation with the rate that its throughput makes in blocks of a size, if only the throughput is known.
    #[must_use]
    pub fn in_blocks_of(&self, bytes: f64) -> Option<Self> {
        let (None, None, Some(moved)) = (self.iops, self.mean_bytes(), self.bytes_per_second) else { return None };
        let block = KnownFigure::exact(bytes, moved.source);
        Some(Self { iops: Some(moved.over(&block)), block_bytes: Some(block), ..self.clone() })
    }

    /// Returns the operations in flight by Little's law: operations per second × time of an operation.
    #[must_use]
    pub fn implied_in_flight(&self) -> Option<KnownFigure> {
        Some(self.iops?.times(&self.latency_ns?.scaled(1e-9)))
    }

    /// Reports whether only device counters tell how many requests were in flight: no job and no claim names a depth.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        let counted = |known: Option<KnownFigure>| known.is_some_and(|known| known.source.is_device());
        self.depth.is_none() && (counted(self.in_flight) || counted(self.iops))
    }

    /// Returns a rate or a share over all intervals, from that over the intervals with requests.
    #[must_use]
    pub fn over_all(&self, known: KnownFigure) -> KnownFigure {
        known.scaled(self.active.map_or(1.0, |intervals| intervals.share))
    }

    /// Returns the operations in flight from the best source: the device, Little's law, the requested depth.
    #[must_use]
    pub fn in_flight(&self) -> Option<KnownFigure> {
        self.in_flight.or_else(|| self.implied_in_flight()).or(self.depth)
    }
}

/// Returns the fraction of operations above a claimed percentile and its time, whose product is the greatest: the mean is
/// at least that (Markov's inequality).
fn slowest(claim: &Claim) -> Option<(f64, KnownFigure)> {
    let above = claim
        .percentiles_ns
        .iter()
        .map(|(percent, ns)| (1.0 - percent / 100.0, KnownFigure::claimed(ns, EvidenceSource::Claim)));
    above.max_by(|(a, slow), (b, slower)| (a * slow.low).total_cmp(&(b * slower.low)))
}

/// Reports whether the claimed percentiles allow a mean: by Markov's inequality it is not too small for one, and what lies
/// above the last one does not make up most of it. Otherwise the claimed depth was not in flight.
fn may_be_mean(mean: &KnownFigure, claim: &Claim) -> bool {
    let percentiles = &claim.percentiles_ns;
    let is_large_enough = slowest(claim).is_none_or(|(share, slow)| mean.high >= share * slow.low);
    is_large_enough && (percentiles.is_empty() || percentiles.iter().any(|(_, ns)| mean.low <= ns.high()))
}

/// Reports whether the queue was meant to be kept full. Text output mentions neither rates nor pauses. There a full
/// queue shows it, or submissions that waited for the device, which a rate does not explain.
fn is_closed(declared: &Declared, result: &Measured) -> bool {
    // Syncs between operations take time, but they are not operations.
    if result.sync.sum_ns() > 0.1 * result.runtime_ns as f64 {
        return false;
    }
    if !declared.header_only || declared.thinktime_ns > 0 {
        return !declared.is_paced() && declared.thinktime_ns == 0;
    }
    let full = result
        .occupied()
        .zip(declared.in_flight_possible)
        .is_some_and(|(occupied, possible)| occupied >= 0.8 * possible as f64);
    let (submission, latency) = (&main(result).submission, &main(result).latency);
    full || submission.count > 0 && submission.mean_ns > 0.5 * latency.mean_ns
}

/// Returns the mean latency of a program that keeps its queue full, by Little's law.
fn latency_of_full_queue(declared: &Declared, result: &Measured) -> Option<KnownFigure> {
    let depth = declared.in_flight_possible.filter(|_| declared.keeps_queue_full)? as f64;
    let iops = Some(result.iops()).filter(|iops| *iops > 0.0)?;
    Some(KnownFigure::exact(depth / iops * 1e9, EvidenceSource::LittlesLaw))
}

/// Returns the fraction of reads of fio's `rw`, if its name determines it.
fn reads(rw: &str) -> Option<f64> {
    match rw.trim_start_matches("rand") {
        "read" => Some(1.0),
        "write" | "trim" => Some(0.0),
        _ => None,
    }
}

/// The `iostat` columns of a claim, combined over kinds.
struct Columns {
    iops: Option<KnownFigure>,
    read_share: Option<f64>,
    bytes_per_second: Option<KnownFigure>,
    request_bytes: Option<KnownFigure>,
    await_ns: Option<KnownFigure>,
    in_flight: Option<KnownFigure>,
    busy: Option<KnownFigure>,
}

impl Columns {
    fn of(claim: &Claim) -> Self {
        let (reads, writes) = (&claim.reads, &claim.writes);
        let sum = |of: fn(&ClaimedKind) -> Option<Claimed>| match (column(of(reads)), column(of(writes))) {
            (Some(a), Some(b)) => Some(a.plus(&b)),
            (a, b) => a.or(b),
        };
        let iops = above_zero(sum(|kind| kind.per_second));
        let rate = |kind: &ClaimedKind| kind.per_second.map_or(0.0, |rate| rate.value());
        let total = rate(reads) + rate(writes);
        let read_share = (total > 0.0).then(|| rate(reads) / total);
        let mean = |of: fn(&ClaimedKind) -> Option<Claimed>| {
            above_zero(mean_of_kinds(column(of(reads)), column(of(writes)), read_share))
        };
        let bytes_per_second = above_zero(sum(|kind| kind.bytes_per_second));
        let sizes = above_zero(column(claim.request_bytes)).or_else(|| mean(|kind| kind.request_bytes));
        let made = || Some(KnownFigure { source: EvidenceSource::Iostat, ..bytes_per_second?.over(&iops?) });
        Self {
            iops,
            read_share,
            bytes_per_second,
            request_bytes: sizes.or_else(made),
            await_ns: mean(|kind| kind.await_ns),
            in_flight: above_zero(column(claim.in_flight)),
            busy: column(claim.busy),
        }
    }

    /// Reports whether the claim has any of these columns.
    fn any(&self) -> bool {
        let known = [self.iops, self.bytes_per_second, self.request_bytes, self.await_ns, self.in_flight, self.busy];
        known.iter().any(Option::is_some)
    }
}

fn column(claimed: Option<Claimed>) -> Option<KnownFigure> {
    claimed.map(|claimed| KnownFigure::claimed(&claimed, EvidenceSource::Iostat))
}

fn above_zero(known: Option<KnownFigure>) -> Option<KnownFigure> {
    known.filter(|known| known.middle > 0.0)
}

/// Returns the mean over reads and writes; the range between them if the fraction of reads is unknown.
fn mean_of_kinds(
    reads: Option<KnownFigure>,
    writes: Option<KnownFigure>,
    read_share: Option<f64>,
) -> Option<KnownFigure> {
    match (reads, writes, read_share) {
        (Some(reads), Some(writes), Some(share)) => Some(reads.scaled(share).plus(&writes.scaled(1.0 - share))),
        (Some(reads), Some(writes), None) => {
            Some(KnownFigure::between(reads.low.min(writes.low), reads.high.max(writes.high), reads.source))
        }
        // One kind represents all only if the other had no requests.
        (reads, None, share) => reads.filter(|_| share.is_none_or(|share| share == 1.0)),
        (None, writes, share) => writes.filter(|_| share.is_none_or(|share| share == 0.0)),
    }
}

/// Returns the mean fraction of CPU time that was in use.
fn host_cpu(reports: &[(&IostatReport, &IostatDevice)]) -> Option<f64> {
    // Time spent waiting for a device counts as idle.
    let used = |cpu: IostatCpu| (cpu.user + cpu.nice + cpu.system + cpu.steal).clamp(0.0, 1.0);
    let lengths = lengths_s(reports.iter().map(|(report, _)| *report)).into_iter();
    weighted_mean(lengths.zip(reports).filter_map(|(seconds, (report, _))| Some((seconds, used(report.cpu?)))))
}

/// Returns the figures of a device, averaged over the reports in which it was in use.
#[must_use]
pub fn averaged(iostat: &Iostat, name: &str) -> IostatDevice {
    mean_device(&in_use(&course_of(iostat, name)))
}

/// Averages rates and times of one device over reports, by the lengths of their intervals.
fn mean_device(reports: &[(&IostatReport, &IostatDevice)]) -> IostatDevice {
    let devices: Vec<(f64, &IostatDevice)> = lengths_s(reports.iter().map(|(report, _)| *report))
        .into_iter()
        .zip(reports.iter().map(|(_, device)| *device))
        .collect();
    let mean = |of: &dyn Fn(&IostatDevice) -> Option<f64>| {
        weighted_mean(devices.iter().filter_map(|(seconds, device)| Some((*seconds, of(device)?))))
    };
    let kind = |of: &dyn Fn(&IostatDevice) -> IostatKind| IostatKind {
        per_second: mean(&|device| of(device).per_second),
        bytes_per_second: mean(&|device| of(device).bytes_per_second),
        // Times are means over requests.
        await_ns: weighted_mean(devices.iter().filter_map(|(seconds, device)| {
            let kind = of(device);
            Some((seconds * kind.per_second?, kind.await_ns?))
        })),
        ..IostatKind::default()
    };
    IostatDevice {
        decimals: devices.iter().map(|(_, device)| device.decimals).max().unwrap_or(2),
        read: kind(&|device| device.read),
        write: kind(&|device| device.write),
        discard: kind(&|device| device.discard),
        flush: kind(&|device| device.flush),
        all: match devices.iter().all(|(_, device)| device.tells_kinds_apart()) {
            // The wait of old versions, which print no rate of all kinds, weighs by reads and writes.
            true => kind(&|device| IostatKind { per_second: Some(device.iops()), ..device.all }),
            false => kind(&|device| device.all),
        },
        in_flight: mean(&|device| device.in_flight),
        // Times of intervals are rounded, so that more than 100 % may be printed.
        util: mean(&|device| device.util.map(|util| util.min(1.0))),
        ..IostatDevice::default()
    }
}

/// Reports whether discards and flushes are more than 1 % of the requests of a device or of the time that they waited.
#[must_use]
pub fn has_others(device: &IostatDevice) -> bool {
    const SOME: f64 = 0.01;
    let sum = |kinds: [IostatKind; 2], of: fn(&IostatKind) -> Option<f64>| -> f64 { kinds.iter().filter_map(of).sum() };
    let (data, others) = ([device.read, device.write], [device.discard, device.flush]);
    let waited = |kind: &IostatKind| Some(kind.per_second? * kind.await_ns?);
    let is_some = |of: fn(&IostatKind) -> Option<f64>| sum(others, of) > SOME * sum(data, of);
    device.tells_kinds_apart() && (is_some(|kind| kind.per_second) || is_some(waited))
}

/// Returns the mean time of a read or write; of all kinds if they are not separated.
fn mean_await_ns(device: &IostatDevice) -> Option<f64> {
    let kinds = [device.read, device.write];
    let known = || kinds.iter().filter_map(|kind| Some((kind.per_second?, kind.await_ns?)));
    let rate: f64 = known().map(|(rate, _)| rate).sum();
    let is_known = |kind: &IostatKind| kind.await_ns.is_some() || kind.per_second.is_none_or(|rate| rate == 0.0);
    let each = (rate > 0.0).then(|| known().map(|(rate, ns)| rate * ns).sum::<f64>() / rate);
    each.filter(|_| kinds.iter().all(is_known)).or(device.all.await_ns)
}

/// Returns the results of the kind with the most operations.
fn main(result: &Measured) -> &record::DirectionResult {
    DataKind::ALL.map(|kind| result.kind(kind)).into_iter().max_by_key(|kind| kind.ios).unwrap_or(&result.read)
}

/// Returns the mean number of syncs in the places of the queue, if they are worth a mention.
fn syncs_in_flight(declared: &Declared, result: &Measured) -> Option<KnownFigure> {
    /// Fraction of the places.
    const SOME: f64 = 0.01;
    let possible = declared.in_flight_possible.filter(|_| result.ios() > 0)? as f64;
    let syncs = result.sync.sum_ns() / result.elapsed_ns().max(1) as f64;
    (syncs > SOME * possible).then(|| KnownFigure::exact(syncs, EvidenceSource::LittlesLaw))
}

/// Returns the difference of the 95th and the 5th percentile over the median.
fn middle_spread(latency: &LatencyStats) -> Option<f64> {
    let at = |percent| latency.percentile_ns(percent).map(|ns| ns as f64);
    Some((at(95.0)? - at(5.0)?) / at(50.0)?.max(1.0))
}

/// Reports whether a device has no moving parts, by its name.
fn is_flash(name: &str) -> bool {
    const NAMES: [&str; 5] = ["nvme", "mmcblk", "pmem", "zram", "ram"];
    let name = name.rsplit(['/', ':']).next().unwrap_or(name);
    NAMES.iter().any(|flash| name.starts_with(flash))
}

/// Returns the block size, if all operations have the same.
fn block_bytes(declared: &Declared, result: &Measured) -> Option<KnownFigure> {
    let used: Vec<_> =
        DataKind::ALL.into_iter().filter(|&kind| result.kind(kind).ios > 0).map(|kind| declared.sizes(kind)).collect();
    let first = *used.first()?;
    let one = first.min > 0 && used.iter().all(|sizes| sizes.min == first.min && sizes.max == first.min);
    one.then(|| KnownFigure::exact(f64::from(first.min), EvidenceSource::Job))
}

/// Reports whether different jobs have one block size for all kinds.
fn has_one_size(declared: &Declared) -> bool {
    declared.mixed.windows(2).all(|pair| pair[0].block_sizes == pair[1].block_sizes)
}

/// Returns the mean total latency or, where not all kinds have one, the mean service time; `None` without that of all kinds.
fn latency_ns(result: &Measured) -> Option<f64> {
    if result.timed_alone().is_some() {
        return None;
    }
    let mean = |of: fn(&record::DirectionResult) -> &record::LatencyStats| {
        let count = result.kinds().map(|(_, kind)| of(kind).count).fold(0, u64::saturating_add);
        let sum: f64 = result.kinds().map(|(_, kind)| of(kind).sum_ns()).sum();
        (count > 0).then(|| sum / count as f64)
    };
    // The total latency of one kind may be missing in a text.
    let is_of_all = result.kinds().all(|(_, kind)| kind.latency.count > 0 || kind.service.count == 0);
    let latency = mean(|kind| &kind.latency).filter(|_| is_of_all);
    latency.or_else(|| mean(|kind| &kind.service))
}

/// A database, or the storage engine of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    PostgreSql,
    /// InnoDB in MySQL.
    MySql,
    /// RocksDB, standalone or embedded.
    RocksDb,
    Etcd,
}

impl Database {
    /// All databases.
    pub const ALL: [Self; 4] = [Self::PostgreSql, Self::MySql, Self::RocksDb, Self::Etcd];
}

/// The intervals of counters in which a device had requests, among all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ActiveIntervals {
    /// Number of intervals with requests.
    pub active: usize,
    /// Number of all intervals.
    pub all: usize,
    /// Fraction of the time that they take. Times it, a rate in them becomes that over all intervals.
    pub share: f64,
}

/// A report, and the device in it if it was in use.
pub(crate) struct CourseReport<'a> {
    pub(crate) report: &'a IostatReport,
    pub(crate) device: Option<&'a IostatDevice>,
}

/// Returns all reports on a device: those of intervals or, without any, the average since boot.
pub(crate) fn course_of<'a>(iostat: &'a Iostat, name: &str) -> Vec<CourseReport<'a>> {
    let since_boot = iostat.intervals().next().is_none();
    let all = || iostat.reports.iter().filter(|report| report.since_boot == since_boot);
    // `-z` leaves out idle devices. Without it, a device that is missing was not there.
    let leaves_out = matches!(iostat.format, CounterFormat::Iostat | CounterFormat::Sar)
        && !all().flat_map(|report| &report.devices).any(IostatDevice::is_idle);
    let of = |report: &'a IostatReport| match report.devices.iter().find(|device| device.name == name) {
        Some(device) => Some(CourseReport { report, device: Some(device).filter(|device| is_used(device)) }),
        None => leaves_out.then_some(CourseReport { report, device: None }),
    };
    all().filter_map(of).collect()
}

/// Reports whether a device had requests in an interval, also if none completed.
fn is_used(device: &IostatDevice) -> bool {
    let some = |value: Option<f64>| value.is_some_and(|value| value > 0.0);
    !device.is_idle() || some(device.in_flight) || some(device.util)
}

/// Returns the reports in which the device was in use.
pub(crate) fn in_use<'a>(course: &[CourseReport<'a>]) -> Vec<(&'a IostatReport, &'a IostatDevice)> {
    course.iter().filter_map(|report| Some((report.report, report.device?))).collect()
}

/// Counts the intervals with requests; `None` if all have some.
pub(crate) fn active(course: &[CourseReport<'_>]) -> Option<ActiveIntervals> {
    let lengths = lengths_s(course.iter().map(|report| report.report));
    let is_active =
        |(seconds, report): (f64, &CourseReport<'_>)| (seconds, f64::from(u8::from(report.device.is_some())));
    let share = weighted_mean(lengths.into_iter().zip(course).map(is_active))?;
    let active = course.iter().filter(|report| report.device.is_some()).count();
    (0 < active && active < course.len()).then_some(ActiveIntervals { active, all: course.len(), share })
}

/// Returns the mean of values with their weights.
pub(crate) fn weighted_mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (weights, sum) =
        values.fold((0.0, 0.0), |(weights, sum), (weight, value)| (weights + weight, sum + weight * value));
    (weights > 0.0).then(|| sum / weights)
}

/// Returns the lengths of intervals in seconds. One that is unknown is taken as the mean of the others.
pub(crate) fn lengths_s<'a>(reports: impl Iterator<Item = &'a IostatReport> + Clone) -> Vec<f64> {
    let usual_s = weighted_mean(reports.clone().filter_map(|report| Some((1.0, report.seconds?)))).unwrap_or(1.0);
    reports.map(|report| report.seconds.unwrap_or(usual_s)).collect()
}

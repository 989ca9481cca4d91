//! Settings that a job requests.

use std::borrow::Cow;

use job::{Direction, Job, OpenSync, Paced, Size, UnifiedReport};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use units::{Bytes, Nanos, PerKind, Rate};

use crate::DataKind;

/// Requested settings that the results of a job have to be read against.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Declared {
    /// Engine, by fio's name.
    pub engine: String,
    /// Whether the engine transfers data to or from a device at all.
    pub device: bool,
    /// Whether the engine measures calls on metadata, without data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub metadata: bool,
    /// Whether the engine can keep more than one operation in flight.
    pub queues: bool,
    /// Requested operations in flight for each worker.
    pub iodepth: u32,
    /// Operations that the engine can have in flight for each worker.
    pub iodepth_effective: u32,
    /// `iodepth` summed over the workers in this result; `None` if it is unknown.
    #[serde(default, deserialize_with = "known")]
    pub in_flight_asked: Option<u64>,
    /// `iodepth_effective` summed over the workers in this result; `None` if it is unknown.
    #[serde(default, deserialize_with = "known")]
    pub in_flight_possible: Option<u64>,
    /// Requested number of workers.
    pub numjobs: u32,
    /// `rw`, as fio prints it: `randread`, `rw`, …
    pub rw: String,
    pub block_sizes: PerKind<DeclaredSizes>,
    /// Whether operations bypass the page cache.
    pub direct: bool,
    /// Whether completions are polled for, which keeps a CPU busy.
    pub polled: bool,
    /// fio's choice between threads and processes.
    pub thread: bool,
    /// Size of the region in bytes, if given.
    pub size: Option<u64>,
    /// Time limit in nanoseconds; zero for none.
    pub runtime_ns: u64,
    /// Requested operations per second, summed over the workers in this result. With varying block sizes, `rate_iops`
    /// limits bytes, at that many times the smallest block.
    pub rate_iops: PerKind<Option<u64>>,
    /// Requested bytes per second, summed over the workers in this result.
    pub rate_bytes: PerKind<Option<u64>>,
    /// Whether arrivals follow a Poisson process.
    pub poisson: bool,
    /// Idle time after each block of operations, in nanoseconds.
    pub thinktime_ns: u64,
    /// Whether writes are made durable: by periodic or final `fsync` or `fdatasync`, or by open flags.
    pub syncs: bool,
    /// Operations between two idle times of `thinktime_ns`, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinktime_blocks: Option<u64>,
    /// Whether periodic syncs are all `fdatasync`, which fio does not count as syncs.
    pub only_data_syncs: bool,
    /// Whether writes are made durable only at the end or by open flags, so that no operation waits for a sync of its own.
    /// Known where the text of an output has the command line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_final_syncs: bool,
    /// Whether written blocks are read back and checked.
    pub verify: bool,
    /// Printed percentiles, in percent.
    pub percentiles: Vec<f64>,
    /// Recorded and printed latencies.
    pub kept: KeptLatencies,
    /// Whether the job continues after some kinds of errors.
    pub continue_on_error: bool,
    /// Whether device counters are reported.
    pub disk_util: bool,
    /// Base of sizes in fio's normal output: 1024 or 1000.
    pub kb_base: u32,
    /// Unit of rates in fio's normal output: 0 (automatic), 1 (bits) or 8 (bytes).
    pub unit_base: u32,
    /// Significant figures of rates and sizes in fio's normal output; `None` for fio's default, four.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub significant_figures: Option<u32>,
    /// Whether fio's outputs report reads, writes and trims together.
    #[serde(default, skip_serializing_if = "UnifiedReport::is_none")]
    pub unified: UnifiedReport,
    /// Whether only the options that fio's normal output prints are known: `rw`, block sizes, engine, depth and number
    /// of workers. The others are meaningless defaults.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub header_only: bool,
    /// With `header_only`, whether `direct` is known because the text also holds the command line or the job file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub direct_told: bool,
    /// Which of depth and number of workers are estimated from the results.
    #[serde(default, skip_serializing_if = "EstimatedLoad::is_none")]
    pub estimated: EstimatedLoad,
    /// Whether the program is known to refill its queue at once, so that the mean latency, where it prints none, follows
    /// from depth and rate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_queue_full: bool,
    /// Settings of each of several different jobs that `group_reporting` merged into this result. Of the other fields,
    /// only sums over workers describe such a result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mixed: Vec<Mixed>,
}

/// What of a load is estimated from its results, where the output of another program does not state it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EstimatedLoad {
    /// Nothing.
    #[default]
    None,
    Depth,
    DepthAndWorkers,
}

impl EstimatedLoad {
    /// Reports whether nothing is estimated.
    #[must_use]
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// Reads a depth, which is zero in older records if it is unknown.
fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::deserialize(deserializer)?.filter(|depth| *depth > 0))
}

/// Settings of one of several different jobs in one result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mixed {
    /// Name of the job.
    pub name: String,
    /// Number of its workers in the result.
    pub workers: u32,
    /// Engine, by fio's name.
    pub engine: String,
    /// `rw`, as fio prints it.
    pub rw: String,
    /// Requested operations in flight for each worker.
    pub iodepth: u32,
    pub block_sizes: PerKind<DeclaredSizes>,
    /// Whether operations bypass the page cache.
    pub direct: bool,
}

impl Mixed {
    fn of(name: &str, workers: u32, declared: &Declared) -> Self {
        Self {
            name: name.to_owned(),
            workers,
            engine: declared.engine.clone(),
            rw: declared.rw.clone(),
            iodepth: declared.iodepth,
            block_sizes: declared.block_sizes,
            direct: declared.direct,
        }
    }

    /// Reports whether two jobs have equal settings, apart from their names.
    fn has_same_settings(&self, other: &Self) -> bool {
        *self == Self { name: self.name.clone(), workers: self.workers, ..other.clone() }
    }

    /// Returns the different settings of jobs, given by name, workers and settings, each with the name of its first job;
    /// none if all are equal.
    pub(crate) fn all<'a>(jobs: impl Iterator<Item = (&'a str, u32, Cow<'a, Declared>)>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for (name, workers, declared) in jobs {
            let one = Self::of(name, workers, &declared);
            match all.iter_mut().find(|known| known.has_same_settings(&one)) {
                Some(known) => known.workers = known.workers.saturating_add(workers),
                None => all.push(one),
            }
        }
        if all.len() > 1 { all } else { Vec::new() }
    }
}

/// Adds other values kind by kind.
fn add(sums: &mut PerKind<Option<u64>>, others: PerKind<Option<u64>>) {
    let sum = |a: Option<u64>, b: Option<u64>| a.map_or(b, |a| Some(a.saturating_add(b.unwrap_or(0))));
    sums.read = sum(sums.read, others.read);
    sums.write = sum(sums.write, others.write);
    sums.trim = sum(sums.trim, others.trim);
}

/// A range of sizes in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeclaredSizes {
    /// Minimum.
    pub min: u32,
    /// Maximum.
    pub max: u32,
}

/// Recorded and printed latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptLatencies {
    /// Submission latency.
    pub slat: bool,
    /// Service time.
    pub clat: bool,
    /// Total latency.
    pub lat: bool,
    /// Percentiles of submission latency.
    pub slat_percentiles: bool,
    /// Percentiles of service time.
    pub clat_percentiles: bool,
    /// Percentiles of total latency.
    pub lat_percentiles: bool,
}

impl Default for KeptLatencies {
    fn default() -> Self {
        Self {
            slat: true,
            clat: true,
            lat: true,
            slat_percentiles: false,
            clat_percentiles: true,
            lat_percentiles: false,
        }
    }
}

impl Declared {
    /// Returns a summary of a job's load: `randread 4 KiB`.
    #[must_use]
    pub fn load_of(job: &Job) -> String {
        let declared = Self::of(job);
        let sizes = declared.block_sizes;
        let sizes = if job.pattern.direction.reads() { sizes.read } else { sizes.write };
        let size = |bytes: u32| Bytes::new(u64::from(bytes)).to_string();
        match sizes.min == sizes.max {
            true => format!("{} {}", declared.rw, size(sizes.min)),
            false => format!("{} {} to {}", declared.rw, size(sizes.min), size(sizes.max)),
        }
    }

    /// Returns the settings of one worker of a job.
    #[must_use]
    pub fn of(job: &Job) -> Self {
        let engine = job.engine.kind;
        let iodepth = job.pace.iodepth;
        let iodepth_effective = job.depth();
        Self {
            engine: engine.name().to_owned(),
            device: !engine.has_no_storage() && !engine.traits().metadata,
            metadata: engine.traits().metadata,
            queues: job.has_queue(),
            iodepth,
            iodepth_effective,
            in_flight_asked: Some(iodepth.into()),
            in_flight_possible: Some(iodepth_effective.into()),
            numjobs: job.grouping.numjobs,
            rw: rw_name(job.pattern.direction, job.pattern.random).to_owned(),
            block_sizes: block_sizes(job),
            direct: job.engine.direct,
            polled: job.engine.hipri,
            thread: job.grouping.thread,
            size: region_bytes(job),
            runtime_ns: job.extent.runtime.get(),
            rate_iops: rates(job, |paced| if let Paced::Operations(rate) = paced { Some(rate) } else { None }),
            rate_bytes: rates(job, |paced| if let Paced::Bytes(rate) = paced { Some(rate) } else { None }),
            poisson: job.pace.process == job::Arrivals::Poisson,
            thinktime_ns: idle(job).get(),
            thinktime_blocks: Some(job.pace.thinktime_blocks)
                .filter(|blocks| *blocks > 1 && job.pace.thinktime_iotime == Nanos::ZERO),
            syncs: syncs(job),
            only_data_syncs: job.sync.fsync == 0 && job.sync.is_periodic(),
            verify: job.verify.method.is_some(),
            percentiles: job.stats.percentile_list.clone(),
            kept: kept(job),
            continue_on_error: continues(job),
            disk_util: job.stats.disk_util,
            kb_base: job.stats.kb_base,
            unit_base: job.stats.unit_base,
            significant_figures: Some(job.stats.significant_figures).filter(|&figures| figures != 4),
            unified: job.stats.unified,
            ..Self::default()
        }
    }

    /// Returns the block sizes of one kind.
    #[must_use]
    pub const fn sizes(&self, kind: DataKind) -> DeclaredSizes {
        *self.block_sizes.get(kind)
    }

    /// Reports whether operations bypass the page cache, as those of engines without files do; `None` if the source does
    /// not say.
    #[must_use]
    pub fn known_direct(&self) -> Option<bool> {
        const WITHOUT_FILES: &str = "rbd rados http nbd libiscsi gfapi gfapi_async libhdfs nfs io_uring_cmd sg spdk xnvme \
                                     libblkio dev-dax libpmem mtd net netsplice rdma";
        if WITHOUT_FILES.split(' ').any(|engine| engine == self.engine) {
            return Some(true);
        }
        (!self.header_only || self.direct_told).then_some(self.direct)
    }

    /// Reports whether arrivals follow a schedule.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        self.rate_iops.sum().is_some() || self.rate_bytes.sum().is_some()
    }

    /// Adds the settings of another worker of the same result.
    pub(crate) fn add(&mut self, other: &Self) {
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        self.in_flight_asked = sum(self.in_flight_asked, other.in_flight_asked);
        self.in_flight_possible = sum(self.in_flight_possible, other.in_flight_possible);
        add(&mut self.rate_iops, other.rate_iops);
        add(&mut self.rate_bytes, other.rate_bytes);
        self.syncs &= other.syncs;
        self.direct &= other.direct;
        self.continue_on_error |= other.continue_on_error;
    }
}

fn rw_name(direction: Direction, random: bool) -> &'static str {
    match (direction, random) {
        (Direction::Read, false) => "read",
        (Direction::Read, true) => "randread",
        (Direction::Write, false) => "write",
        (Direction::Write, true) => "randwrite",
        (Direction::Trim, false) => "trim",
        (Direction::Trim, true) => "randtrim",
        (Direction::ReadWrite, false) => "rw",
        (Direction::ReadWrite, true) => "randrw",
        (Direction::TrimWrite, false) => "trimwrite",
        (Direction::TrimWrite, true) => "randtrimwrite",
    }
}

/// Returns the rates of the kinds that the job issues, because one value in a job file sets all kinds.
fn rates(job: &Job, pick: impl Fn(Paced) -> Option<Rate>) -> PerKind<Option<u64>> {
    let (direction, paced) = (job.pattern.direction, job.paced());
    let rate = |used: bool, paced: Option<Paced>| paced.filter(|_| used).and_then(&pick).map(Rate::get);
    PerKind {
        read: rate(direction.reads(), paced.read),
        write: rate(direction.writes(), paced.write),
        trim: rate(direction.trims(), paced.trim),
    }
}

fn block_sizes(job: &Job) -> PerKind<DeclaredSizes> {
    job.pattern.block_sizes.map(|sizes| DeclaredSizes { min: sizes.min(), max: sizes.max() })
}

fn region_bytes(job: &Job) -> Option<u64> {
    if let Some(Size::Bytes(bytes)) = job.extent.size { Some(bytes.get()) } else { None }
}

fn idle(job: &Job) -> Nanos {
    let idles = job.pace.thinktime_blocks > 0 || job.pace.thinktime_iotime > Nanos::ZERO;
    if idles { job.pace.thinktime } else { Nanos::ZERO }
}

fn syncs(job: &Job) -> bool {
    let sync = &job.sync;
    let along = sync.fsync > 0 || sync.fdatasync > 0;
    along || sync.end_fsync || sync.end_syncfs || sync.fsync_on_close || job.files.open_sync != OpenSync::None
}

fn continues(job: &Job) -> bool {
    let on_error = &job.on_error;
    let ignores = on_error.ignored.iter().any(|errors| !errors.is_empty());
    on_error.continue_on_read || on_error.continue_on_write || on_error.continue_on_verify || ignores
}

fn kept(job: &Job) -> KeptLatencies {
    let stats = &job.stats;
    let any = stats.stats && !stats.gtod_reduce;
    KeptLatencies {
        slat: any && !stats.disable_slat,
        clat: any && !stats.disable_clat,
        lat: any && !stats.disable_lat,
        slat_percentiles: any && stats.slat_percentiles,
        clat_percentiles: any && stats.clat_percentiles,
        lat_percentiles: any && stats.lat_percentiles,
    }
}

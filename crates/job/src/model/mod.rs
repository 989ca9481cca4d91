//! A resolved job, with every default filled in.
//!
//! Sizes are bytes, times are nanoseconds, shares are whole per cent. Names are fio's where fio has a name.

mod files;
mod pattern;
mod verify;

pub use files::{Fallocate, FileOptions, FileOrder, FileService, OpenSync};
pub use pattern::{BlockSizes, Direction, Distribution, Generator, Pattern};
pub use verify::{SmallBlock, VERIFY_HEADER_BYTES, VERIFY_PLAIN_HEADER_BYTES};

use units::PerKind;
use units::{Bytes, Nanos, Rate};

use crate::diagnostic::Place;

/// Everything one invocation asks for: the jobs in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The jobs, in the order in which they were written. `numjobs` is not expanded.
    pub jobs: Vec<Job>,
    /// Options that were set for all jobs, as typed: canonical name and text, for fio's `global options`.
    pub globals: Vec<(String, String)>,
}

/// One job: a section of a job file, or the options after one `--name`.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// `name`, or the section's title.
    pub name: String,
    /// `description`, if given.
    pub description: Option<String>,
    /// The options set for this job alone, as typed: canonical name and text, for fio's `job options`.
    pub echo: Vec<(String, String)>,
    /// Who runs when, and with whom results are merged.
    pub grouping: Grouping,
    /// How operations reach the device.
    pub engine: EngineOptions,
    /// Which files, and how they are made.
    pub files: FileOptions,
    /// Which part of the files, how much, and for how long.
    pub extent: JobExtent,
    /// Reads or writes, where, and in which sizes.
    pub pattern: Pattern,
    /// How many in flight, and at which pace.
    pub pace: JobPace,
    /// Syncing while it runs and at its end.
    pub sync: SyncOptions,
    /// What is written.
    pub payload: JobPayload,
    /// What is checked, and how.
    pub verify: VerifyOptions,
    /// What is measured, logged and printed.
    pub stats: StatOptions,
    /// What happens on an error.
    pub on_error: ErrorOptions,
    /// Where all this was written.
    pub origin: JobOrigin,
}

/// The place where a job was written, for later messages.
#[derive(Clone, Debug, Default)]
pub struct JobOrigin {
    /// Its title, or its `--name`.
    pub title: Option<Place>,
    /// Its options and those it has from global sections, latest last: canonical name, and the place of the value.
    pub options: Vec<(&'static str, Place)>,
}

impl JobOrigin {
    /// Where `option` was given last, or the title where it was not.
    #[must_use]
    pub fn of(&self, option: &str) -> Option<&Place> {
        let given = self.options.iter().rev().find(|(name, _)| *name == option).map(|(_, place)| place);
        given.or(self.title.as_ref())
    }
}

/// Always equal: two jobs that ask for the same are the same, wherever they were written.
impl PartialEq for JobOrigin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Order of execution, and grouping of results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// Wait until everything before this job has ended; implies a new reporting group.
    pub stonewall: bool,
    /// Begin a new reporting group without waiting.
    pub new_group: bool,
    /// Merge the results of adjacent jobs of one reporting group.
    pub group_reporting: bool,
    /// How many workers run this job, at least 1.
    pub numjobs: u32,
    /// `thread`: fio's choice between a thread and a process. Fathom always uses threads; kept for the echo.
    pub thread: bool,
    /// When this job ends, the others end.
    pub exitall: bool,
    /// Processors its workers may use; `None` for all.
    pub cpus_allowed: Option<Vec<u32>>,
    /// One processor for each worker instead of all for all.
    pub cpus_split: bool,
}

/// Which engine carries out operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Linux `io_uring`.
    IoUring,
    /// Linux native asynchronous I/O.
    Libaio,
    /// `pread` and `pwrite`.
    #[default]
    Psync,
    /// `lseek` and `read` or `write`.
    Sync,
    /// `readv` and `writev`.
    Vsync,
    /// `preadv` and `pwritev`.
    Pvsync,
    /// `preadv2` and `pwritev2`.
    Pvsync2,
    /// glibc's POSIX AIO, mapped to `io_uring` with a note.
    Posixaio,
    /// Memory mapping.
    Mmap,
    /// An export of an NBD server, over a socket.
    Nbd,
    /// No device at all: every operation is done at once.
    Null,
    /// A modelled volume instead of a device.
    Model,
}

impl Engine {
    /// The name that fio uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::Libaio => "libaio",
            Self::Psync => "psync",
            Self::Sync => "sync",
            Self::Vsync => "vsync",
            Self::Pvsync => "pvsync",
            Self::Pvsync2 => "pvsync2",
            Self::Posixaio => "posixaio",
            Self::Mmap => "mmap",
            Self::Nbd => "nbd",
            Self::Null => "null",
            Self::Model => "model",
        }
    }

    /// Whether more than one operation can be in flight. `null` counts: fio lets it queue.
    #[must_use]
    pub const fn is_async(self) -> bool {
        matches!(self, Self::IoUring | Self::Libaio | Self::Posixaio | Self::Nbd | Self::Null | Self::Model)
    }
}

/// Options of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// Which engine.
    pub engine: Engine,
    /// `O_DIRECT`: past the page cache.
    pub direct: bool,
    /// Polled completions (`hipri`).
    pub hipri: bool,
    /// Buffers registered with the kernel (`fixedbufs`).
    pub fixedbufs: bool,
    /// Files registered with the kernel (`registerfiles`).
    pub registerfiles: bool,
    /// A kernel thread submits (`sqthread_poll`).
    pub sqthread_poll: bool,
    /// The processor of that thread.
    pub sqthread_poll_cpu: Option<u32>,
    /// Where buffers come from.
    pub mem: BufferMemory,
    /// Alignment of buffers in bytes; Fathom never goes below 4096.
    pub iomem_align: u32,
    /// The modelled volume that takes the place of the files (`volume`), as the catalogue reads it.
    pub volume: Option<String>,
    /// The address of the export that takes the place of the files (`uri`).
    pub uri: Option<String>,
}

/// Memory types of buffers (`mem`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BufferMemory {
    /// The heap.
    #[default]
    Malloc,
    /// System V shared memory.
    Shm,
    /// System V shared memory on huge pages.
    ShmHuge,
    /// An anonymous mapping.
    Mmap,
    /// An anonymous mapping on huge pages.
    MmapHuge,
    /// A shared mapping.
    MmapShared,
}

/// A size that may be a share of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// So many bytes.
    Bytes(Bytes),
    /// So many per cent of the file or device.
    Percent(u32),
}

/// Which part of the files, how much, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobExtent {
    /// `size`: the region over all files of the job; `None` for the whole of existing files.
    pub size: Option<Size>,
    /// `io_size`: how much is transferred, when it differs from the region.
    pub io_size: Option<Size>,
    /// Where the region begins.
    pub offset: Size,
    /// How much further it begins for each clone.
    pub offset_increment: Size,
    /// At most this many operations.
    pub number_ios: Option<u64>,
    /// How often the whole is repeated.
    pub loops: u32,
    /// At most this long; zero for no limit.
    pub runtime: Nanos,
    /// Go on until `runtime` ends, over and over.
    pub time_based: bool,
    /// Time before results count.
    pub ramp_time: Nanos,
    /// Time before the job begins: least and most.
    pub startdelay: (Nanos, Nanos),
}

/// Queue depth and rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobPace {
    /// Operations in flight, as asked for; engines that are not asynchronous use 1.
    pub iodepth: u32,
    /// Submit in groups of this many, at most the depth; `None` where the job does not say.
    pub batch: Option<u32>,
    /// Collect at least this many completions at a time; 0 to poll.
    pub batch_complete_min: u32,
    /// Collect at most this many completions at a time, no fewer than the least; `None` for all there are.
    pub batch_complete_max: Option<u32>,
    /// Refill only when the depth has fallen to this.
    pub iodepth_low: Option<u32>,
    /// Bytes per second for each kind of operation.
    pub rate: PerKind<Option<Rate>>,
    /// Operations per second for each kind.
    pub rate_iops: PerKind<Option<Rate>>,
    /// How arrivals are spread.
    pub process: Arrivals,
    /// Idle time after each block of operations.
    pub thinktime: Nanos,
    /// How much of the idle time is spent spinning.
    pub thinktime_spin: Nanos,
    /// Operations between idle times.
    pub thinktime_blocks: u64,
    /// Whether those operations are counted at issue or at completion.
    pub thinktime_blocks_type: ThinktimeBlocks,
    /// Idle after each span of this much time instead of after a count; zero for off.
    pub thinktime_iotime: Nanos,
}

/// The unit of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paced {
    /// Operations, whatever their size.
    Operations(Rate),
    /// Bytes.
    Bytes(Rate),
}

impl Paced {
    /// What `rate` and `rate_iops` mean for blocks of these sizes; a rate of zero is none.
    ///
    /// Where sizes vary, fio's `rate_iops` is so many times the smallest block in bytes per second: its HOWTO calls that
    /// size the metric. Arrivals of a Poisson process come one by one, whatever their size.
    fn new(bytes: Option<Rate>, operations: Option<Rate>, sizes: &BlockSizes, process: Arrivals) -> Option<Self> {
        let positive = |rate: &Rate| rate.get() > 0;
        let Some(rate) = operations.filter(positive) else { return bytes.filter(positive).map(Self::Bytes) };
        let varies = sizes.min() < sizes.max() && process == Arrivals::Linear;
        let metric = u64::from(sizes.min().max(1));
        Some(if varies {
            Self::Bytes(Rate::per_sec(rate.get().saturating_mul(metric)))
        } else {
            Self::Operations(rate)
        })
    }
}

impl Job {
    /// Returns what it works on: a volume, an export, its files.
    #[must_use]
    pub fn target(&self) -> String {
        match (self.engine.volume.as_ref().or(self.engine.uri.as_ref()), self.files.filenames.as_slice()) {
            (Some(place), _) => place.clone(),
            (None, []) => "files of its own".to_owned(),
            (None, names) => names.join(":"),
        }
    }

    /// What each kind of operation is held to, whether or not the job issues it.
    #[must_use]
    pub fn paced(&self) -> PerKind<Option<Paced>> {
        let (JobPace { rate, rate_iops, process, .. }, sizes) = (&self.pace, &self.pattern.block_sizes);
        PerKind {
            read: Paced::new(rate.read, rate_iops.read, &sizes.read, *process),
            write: Paced::new(rate.write, rate_iops.write, &sizes.write, *process),
            trim: Paced::new(rate.trim, rate_iops.trim, &sizes.trim, *process),
        }
    }
}

/// Distribution of arrivals under a rate (`rate_process`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Linear,
    /// As a Poisson process.
    Poisson,
}

/// The unit of `thinktime_blocks`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThinktimeBlocks {
    /// Completed operations.
    #[default]
    Complete,
    /// Issued operations.
    Issue,
}

/// Syncing while a job runs and at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncOptions {
    /// `fsync` after every so many writes; 0 for never.
    pub fsync: u32,
    /// `fdatasync` after every so many writes; 0 for never.
    pub fdatasync: u32,
    /// `fsync` once when the job ends.
    pub end_fsync: bool,
    /// `fsync` when a file is closed.
    pub fsync_on_close: bool,
}

/// Content of writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobPayload {
    /// New random bytes for each write.
    pub refill_buffers: bool,
    /// Zeroes.
    pub zero_buffers: bool,
    /// A cheap change of each buffer before each write, against deduplication.
    pub scramble_buffers: bool,
    /// A repeated pattern instead of random bytes.
    pub pattern: Option<Vec<u8>>,
}

/// Options of verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// The method; `None` for no verification.
    pub method: Option<VerifyMethod>,
    /// Read back after writing.
    pub do_verify: bool,
    /// Stop at the first mismatch.
    pub fatal: bool,
    /// Write the good and the bad block to files.
    pub dump: bool,
    /// Check what an earlier run of the same job wrote, without writing.
    pub only: bool,
    /// `verify_pattern`, already decoded.
    pub pattern: VerifyPattern,
    /// Bytes between headers; `None` for the block size.
    pub interval: Option<u32>,
    /// The nonce in headers, which tells the blocks of identical runs apart. `None` where it is not given: a run that
    /// writes then draws one, and a run that only reads learns it from the blocks.
    pub nonce: Option<u32>,
}

/// The bytes that a pattern verification expects, repeated over each block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyPattern {
    /// The pattern's bytes; the places named by `offsets` hold zeroes here.
    pub bytes: Vec<u8>,
    /// Places in `bytes` at which the block's offset (`%o`) stands as 8 bytes, least first.
    pub offsets: Vec<usize>,
}

/// Verification methods (`verify`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyMethod {
    /// CRC-32C.
    Crc32c,
    /// CRC-32.
    Crc32,
    /// CRC-64.
    Crc64,
    /// CRC-16.
    Crc16,
    /// CRC-7.
    Crc7,
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
    /// xxHash, 32 bits.
    Xxhash,
    /// The pattern alone, without a header.
    Pattern,
    /// Generated for timing only: headers are written and not checked.
    Null,
}

/// Options of statistics and logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatOptions {
    /// Fewer clock readings: no latencies.
    pub gtod_reduce: bool,
    /// No total latency.
    pub disable_lat: bool,
    /// No completion latency.
    pub disable_clat: bool,
    /// No submission latency.
    pub disable_slat: bool,
    /// No bandwidth samples.
    pub disable_bw: bool,
    /// Percentiles of completion latency.
    pub clat_percentiles: bool,
    /// Percentiles of total latency.
    pub lat_percentiles: bool,
    /// Percentiles of submission latency.
    pub slat_percentiles: bool,
    /// Which percentiles, in rising order.
    pub percentile_list: Vec<f64>,
    /// Prefix of latency logs.
    pub write_lat_log: Option<String>,
    /// Prefix of IOPS logs.
    pub write_iops_log: Option<String>,
    /// Prefix of bandwidth logs.
    pub write_bw_log: Option<String>,
    /// Average log entries over this window; zero for an entry per operation.
    pub log_avg: Nanos,
    /// Add offsets to logs.
    pub log_offset: bool,
    /// One log per worker.
    pub per_job_logs: bool,
    /// Whether the devices' own counters are reported.
    pub disk_util: bool,
    /// 1024 or 1000: the base of printed sizes in fio's normal output.
    pub kb_base: u32,
    /// How many bytes (0 for both, 8 for bytes, 1 for bits) in fio's normal output.
    pub unit_base: u32,
    /// Whether any statistics are kept.
    pub stats: bool,
}

/// Options of error handling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorOptions {
    /// Go on after failed reads.
    pub continue_on_read: bool,
    /// Go on after failed writes.
    pub continue_on_write: bool,
    /// Go on after failed verifications.
    pub continue_on_verify: bool,
}

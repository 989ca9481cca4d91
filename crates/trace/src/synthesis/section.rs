//! Sections of a job.

/// A section of a job file.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSection {
    /// Name, unique in the job.
    pub name: String,
    /// Operations and their order.
    pub pattern: SectionPattern,
    /// Sizes of reads, writes and discards: bytes and percentage.
    pub sizes: [Vec<(u32, u32)>; 3],
    /// Percentage of random offsets of reads, writes and discards; the others follow the request before.
    pub random_percent: [u32; 3],
    /// Exponent of the zipf distribution of offsets; `None` for uniform ones.
    pub zipf_theta: Option<f64>,
    /// Whether each offset comes once before any comes again.
    pub is_permuted: bool,
    /// First byte that it uses.
    pub offset: u64,
    /// Number of bytes that it uses, by all workers.
    pub bytes: u64,
    /// When requests are issued.
    pub pace: SectionPace,
    pub workers: u32,
    /// Maximum number of requests in flight, of each worker.
    pub iodepth: u32,
    /// Writes from one `fsync` to the next; zero for none.
    pub fsync: u32,
    /// Writes from one `fdatasync` to the next; zero for none.
    pub fdatasync: u32,
    /// Start in nanoseconds.
    pub start_ns: u64,
    /// Time within which its workers start at random, in nanoseconds.
    pub start_spread_ns: u64,
    /// Duration in nanoseconds.
    pub runtime_ns: u64,
}

/// Operations of a section and their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionPattern {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    RandomRead,
    RandomWrite,
    /// Random reads and writes, with a percentage of reads.
    RandomReadWrite(u32),
    /// Sequential discards.
    Trim,
    /// Random discards.
    RandomTrim,
}

impl SectionPattern {
    /// Returns the word of the option `rw`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::RandomRead => "randread",
            Self::RandomWrite => "randwrite",
            Self::RandomReadWrite(_) => "randrw",
            Self::Trim => "trim",
            Self::RandomTrim => "randtrim",
        }
    }

    /// Reports whether offsets are random.
    #[must_use]
    pub const fn is_random(self) -> bool {
        !matches!(self, Self::Read | Self::Write | Self::Trim)
    }
}

/// When a section issues requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SectionPace {
    /// By a schedule.
    Rate {
        /// Reads, writes and discards per second, of all workers.
        per_s: [f64; 3],
        /// Whether gaps are exponential rather than equal.
        is_poisson: bool,
        /// Number of requests of all workers, after which it ends; `None` to end after its runtime.
        requests_max: Option<u64>,
    },
    Batches {
        /// Requests of a batch.
        requests: u32,
        /// Time from one batch to the next in nanoseconds.
        interval_ns: u64,
        /// Number of requests after which it ends; `None` to end after its runtime.
        requests_max: Option<u64>,
    },
    /// After the request before has completed.
    Think {
        /// Time after the completion in nanoseconds.
        think_ns: u64,
    },
    /// As soon as the device allows.
    Count { requests: u64 },
}

impl SectionPace {
    /// Reports whether the section ends after a number of requests.
    pub(super) const fn is_counted(self) -> bool {
        match self {
            Self::Rate { requests_max, .. } | Self::Batches { requests_max, .. } => requests_max.is_some(),
            Self::Think { .. } => false,
            Self::Count { .. } => true,
        }
    }
}

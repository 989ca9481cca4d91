//! Blocks in use, their reuse and hot spots.

/// Blocks in use and their reuse. Estimates from a sample of 16,384 blocks; exact if no more are used.
#[derive(Clone, Debug, PartialEq)]
pub struct ReuseProfile {
    /// Size of a block in bytes.
    pub block_bytes: u64,
    /// Accesses: a request of several blocks is one access of each.
    pub accesses: u64,
    /// Blocks that were not examined, in requests of more than 16 MiB.
    pub skipped_blocks: u64,
    /// Bytes that are read or written.
    pub footprint_bytes: f64,
    pub read_footprint_bytes: f64,
    pub written_footprint_bytes: f64,
    /// Relative standard error of the footprint; zero if it is exact.
    pub footprint_relative_error: f64,
    /// Working sets of windows of 1 s to 1 h that are at most as long as the trace.
    pub windows: Vec<WorkingSetWindow>,
    /// Miss ratio of an LRU cache that reads and writes fill, by its size.
    pub miss_ratios: Vec<MissRatioPoint>,
    /// Hot spots.
    pub hot: HotProfile,
}

/// Bytes that are used within adjacent windows of one width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkingSetWindow {
    /// Width in nanoseconds.
    pub width_ns: u64,
    /// Bytes that are read or written: mean over windows.
    pub bytes_mean: f64,
    /// The most in one window.
    pub bytes_max: f64,
    /// Bytes that are read: mean.
    pub read_bytes_mean: f64,
    /// The most that is read in one window.
    pub read_bytes_max: f64,
    /// Bytes that are written: mean.
    pub written_bytes_mean: f64,
    /// The most that is written in one window.
    pub written_bytes_max: f64,
}

/// Misses of a cache of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MissRatioPoint {
    /// Size in bytes.
    pub cache_bytes: u64,
    /// Fraction of the accesses that miss.
    pub miss_ratio: f64,
    /// Fraction of the accesses by reads that miss; zero without reads.
    pub read_miss_ratio: f64,
}

/// How unevenly accesses are spread.
#[derive(Clone, Debug, PartialEq)]
pub struct HotProfile {
    /// Accesses to the hottest 1 %, 5 %, 10 % and 20 % of the blocks in use.
    pub shares: Vec<HotShare>,
    /// Zipf distribution; `None` with too few accesses.
    pub zipf: Option<ZipfFit>,
}

/// Accesses to the hottest blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HotShare {
    /// Percentage of the blocks in use.
    pub blocks_percent: f64,
    pub accesses_fraction: f64,
}

/// A zipf distribution for fio's `random_distribution=zipf:THETA`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZipfFit {
    /// Exponent; zero is uniform.
    pub theta: f64,
    /// Number of units over which it is spread.
    pub units: f64,
    /// Size of a unit in bytes: the mean size of a request in whole blocks.
    pub unit_bytes: f64,
    /// Greatest difference between the fractions of accesses of [`HotProfile::shares`] and those of the fit: above 0.1
    /// the load is not zipf.
    pub difference_max: f64,
}

//! Statistics of completed operations.
//!
//! A [`Meter`] belongs to one worker, whose loop reports each completion: *response* (completed − intended), *latency*
//! (completed − started) and *service* (completed − submitted), the depth at submission and the sizes of batches. Its
//! result is a [`Summary`]; [`Summary::merge`] serves threads, hosts and files alike.
//!
//! Histograms have fio's buckets (64 per power of two, at most 0.8 % error), so that fio's `json+` can be read back
//! without loss; minimum, maximum, mean and deviation are exact and independent of buckets. [`Blocks`] hold histograms
//! of intervals, which are differences of the running histograms. Entries of log files leave in [`LogChunk`]s.
//!
//! What is *not* here: a clock, an engine, a model, a name, or any formatting.

mod blocks;
mod glance;
mod histogram;
mod log_entries;
mod log_windows;
mod logs;
mod meter;
mod moments;
mod sample;
mod sample_window;
mod series;
mod summary;
mod trimmed_blocks;

pub use blocks::{BLOCK_BYTES_MAX, Block, Blocks};
pub use glance::MeterSnapshot;
pub use histogram::{BUCKETS, Histogram, bucket_of, range_of, value_of};
pub use log_entries::{LogAverage, LogChunk, LogKind, LogOptions, LoggedHistogram, LoggedOperation, WorkerLog};
pub use meter::{Meter, MeterOptions};
pub use moments::{Latency, Moments, Samples};
pub use sample::Sample;
pub use series::{Interval, IntervalWidths, Series};
pub use summary::{DepthMap, DirectionSummary, Summary};
pub use trimmed_blocks::{TrimmedBlockCounts, TrimmedRange};

//! Statistics of completed operations.
//!
//! A [`Meter`] belongs to one worker and is fed by its loop: for each completion *response* (completed − intended),
//! *latency* (completed − started) and *service* (completed − submitted), the depth at submission and the sizes of
//! batches. What it has counted is a [`Summary`]; there is one [`Summary::merge`] for threads, hosts and files.
//!
//! Histograms have fio's buckets (64 to each power of two, at most 0.8 % wide), so that fio's `json+` reads back
//! bit for bit; minimum, maximum, mean and deviation are exact and do not pass through buckets. [`Blocks`] hold them for
//! each stretch of time: when one ends, the difference of the running histograms is taken.
//!
//! What is *not* here: a clock, an engine, a model, a name, or any formatting.

mod blocks;
mod glance;
mod histogram;
mod latency;
mod logs;
mod meter;
mod moments;
mod sample;
mod series;
mod summary;

pub use blocks::{BLOCK_BYTES_MAX, Block, Blocks};
pub use glance::Glance;
pub use histogram::{BUCKETS, Histogram, bucket_of, range_of, value_of};
pub use latency::Latency;
pub use logs::{LogEntry, LogKind, LogOptions, Logs};
pub use meter::{Meter, MeterOptions};
pub use moments::{Moments, Samples};
pub use sample::Sample;
pub use series::{Interval, IntervalWidths, Series};
pub use summary::{DepthMap, DirectionSummary, Summary, SummaryDirection};

//! Access pattern hints for the page cache.

/// Order in which a file will be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheAdvice {
    /// Sequential: the kernel reads far ahead.
    Sequential,
    /// Random: the kernel reads nothing ahead.
    Random,
}

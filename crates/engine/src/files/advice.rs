//! Access pattern hints for the page cache.

/// In which order a file will be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheAdvice {
    /// From front to back: the kernel reads far ahead.
    Sequential,
    /// Anywhere: the kernel reads what is asked for and nothing else.
    Random,
}

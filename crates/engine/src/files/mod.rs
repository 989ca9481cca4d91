//! Opens, creates and lays out files and devices, and drops their page cache.

mod cache;
mod hints;
mod layout;
mod open;
mod residency;

pub use crate::file_facts::{FileKind, Seen, look};
pub use cache::invalidate;
pub use hints::{read_into_cache, set_write_hint};
pub use layout::{
    FallocateMode, FileLayout, Growth, Laid, LayoutContent, LayoutProgress, check_room, growths, lay_out,
};
pub(crate) use open::share;
pub use open::{
    Access, CacheAdvice, File, SyncFlags, SyncRangeFlags, ZoneTrim, advise, open, open_later, open_permitted, remove,
};
pub(crate) use residency::cached_pages;
#[cfg(test)]
pub(crate) use residency::{cachestat_pages, mapped_pages};
pub use residency::{inspect, resident_bytes};

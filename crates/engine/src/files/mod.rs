//! Opens, creates and lays out files and devices, and drops their page cache.

mod cache;
mod hints;
mod layout;
mod open;
mod residency;

pub use crate::file_facts::{FileKind, Seen, look};
pub use crate::space::check_space;
pub use cache::invalidate;
pub use hints::{read_into_cache, set_write_hint};
pub use layout::{FallocateMode, FileLayout, Laid, LayoutContent, LayoutProgress, check_room, lay_out};
pub(crate) use open::share;
pub use open::{Access, CacheAdvice, File, SyncFlags, SyncRangeFlags, ZoneTrim, advise, open, open_permitted, remove};
pub(crate) use residency::cached_pages;
pub use residency::resident_bytes;
#[cfg(test)]
pub(crate) use residency::{cachestat_pages, mapped_pages};

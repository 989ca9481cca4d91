//! Opens, creates and lays out files and devices, and drops their page cache.

mod cache;
mod layout;
mod open;
mod residency;

pub use crate::file_facts::{FileKind, Seen, look};
pub use cache::{invalidate, read_into_cache, set_write_hint};
pub use layout::{FileLayout, Growth, Laid, LayoutContent, LayoutProgress, check_room, growths, lay_out};
pub use open::{Access, File, ZoneTrim, advise, open, open_later, open_permitted, remove};
pub(crate) use open::{share, sync_range_bits};
pub(crate) use residency::cached_pages;
#[cfg(test)]
pub(crate) use residency::{cachestat_pages, mapped_pages};
pub use residency::{inspect, resident_bytes};

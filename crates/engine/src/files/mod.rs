//! Opens, creates and lays out files and devices, and drops their page cache.

mod advice;
mod cache;
mod layout;
mod open;
mod residency;

pub use crate::look::{FileKind, Seen, look};
pub use crate::space::check_space;
pub use advice::CacheAdvice;
pub use cache::invalidate;
pub use layout::{FallocateMode, FileLayout, Laid, LayoutContent, LayoutProgress, check_room, lay_out};
pub(crate) use open::share;
pub use open::{Access, File, SyncFlags, advise, open, open_permitted, remove};
pub use residency::resident_bytes;

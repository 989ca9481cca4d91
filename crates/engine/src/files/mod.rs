//! Files and devices: opening them, making them, and taking them out of the page cache.

mod cache;
mod layout;
mod open;
pub(crate) mod space;

pub use cache::{CacheAdvice, advise, invalidate};
pub use layout::{FallocateMode, FileLayout, Laid, LayoutContent, LayoutProgress, check_room, lay_out};
pub use open::{Access, File, FileKind, Seen, SyncFlags, look, open, open_permitted, remove};
pub(crate) use open::{device_bytes, make_parents, unusable};
pub use space::check_space;
pub(crate) use space::{existing_ancestor, free_bytes};

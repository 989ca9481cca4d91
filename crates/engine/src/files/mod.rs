//! Files and devices: opening them, making them, and taking them out of the page cache.

mod cache;
mod layout;
mod open;
pub(crate) mod space;

pub use cache::{Advice, advise, invalidate};
pub use layout::{Content, Fallocate, Laid, Layout, Progress, check_room, lay_out};
pub use open::{Access, File, FileKind, OpenSync, Seen, look, open, open_permitted, remove};
pub(crate) use open::{device_bytes, make_parents, unusable};
pub use space::check_space;
pub(crate) use space::{existing_ancestor, free_bytes};

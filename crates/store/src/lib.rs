//! The runs that were kept, a folder each.
//!
//! A [`RunStore`] is a folder of folders. Each holds what one run left behind: `run.json`, the record itself;
//! `events.jsonl.zst`, what was told while it ran; `job.fio`, the job as written; `resolved.json`, what was made of it;
//! `environment.json`, where it ran; and `manifest.json`, which says what is in the folder, with a checksum of each file
//! and of itself. A run is added whole or not at all: [`RunWriter`] writes aside and renames.
//!
//! Every folder stands for itself. What is damaged, foreign or of a later version is named in [`Listing::skipped`] and
//! left alone: only [`RunStore::remove`] and [`RunStore::retain`] delete, and only what the program made.
//!
//! This room touches files and locks, which is why it is none of `record`. What is *not* here: the choice of the place
//! and the time of day (the caller knows both), printing, and judgement of what was recorded.

mod disk;
mod error;
mod filter;
mod folder;
mod id;
mod index;
mod limits;
mod listing;
mod loaded;
mod lock;
mod manifest;
mod removal;
mod store;
mod sweep;
mod writer;

pub use error::{Error, Reason};
pub use filter::Filter;
pub use id::{RunKind, series_name};
pub use limits::{age_ms, size_bytes};
pub use listing::Listing;
pub use loaded::Loaded;
pub use manifest::{Entry, FORMAT};
pub use removal::Retention;
pub use store::RunStore;
pub use writer::RunWriter;

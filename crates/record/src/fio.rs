//! Import of fio's JSON.
//!
//! Reads `json` and `json+` of fio 3.x as they are on disk: notes before the document, terse and normal output around
//! it, repeated documents of `--status-interval` (the last one counts). What fio does not print cannot be had:
//! imported runs have no intervals, no lateness and no response times, and without `bins` only fio's own percentiles.

mod depth;
mod document;
mod import;

pub(crate) use depth::Depth;
pub use import::from_fio;
pub(crate) use import::{ALL_CLIENTS, MIXED, from_document, is_async, shares_of};

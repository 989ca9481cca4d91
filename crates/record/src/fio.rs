//! Import of fio's JSON output.
//!
//! Reads `json` and `json+` output of fio 3.x as found on disk: with notes before the document, terse and normal output
//! around it, and repeated documents of `--status-interval`, of which the last one counts. Imported runs lack what fio
//! does not print: intervals, lateness and response times, and without `bins` all but fio's own percentiles.

mod document;
mod import;
mod servers;

pub(crate) use import::Depth;
pub use import::from_fio;
pub(crate) use import::{
    from_document, is_async, mixed_note, only_kind, parse_microseconds, parse_size, per_kind, shares_of,
};
pub use servers::ALL_CLIENTS;

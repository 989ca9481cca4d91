//! Capture of the requests of a live block device.
//!
//! The kernel's block tracepoints write events into the buffers of a private tracing instance, one per processor. A
//! reader decodes the pages of these buffers by the layouts that the kernel describes, merges the events by time, pairs
//! issues with completions, and hands requests to a `trace::TraceWriter` and a `trace::Characterizer`. Neither a
//! compiler nor BPF nor kernel headers are needed, and nothing of the device is touched.
//!
//! Events that the kernel could not write are counted, and the completed requests are compared with the counters that
//! the kernel keeps for the device.
//!
//! Out of scope: the format of traces and what kind of load they are (`trace`), and the wording of results
//! (`report::capture`).

mod anonymous;
mod counters;
mod error;
mod event;
mod hash;
mod layout;
mod merge;
mod names;
mod offline;
mod page;
mod pairing;
mod session;
mod sink;
mod target;
mod tracefs;

pub use error::CaptureError;
pub use offline::{DecodedPages, decode_pages};
pub use pairing::PairingCounts;
pub use session::{CaptureHost, CaptureOptions, capture};
pub use sink::KeptPart;
pub use target::CaptureTarget;

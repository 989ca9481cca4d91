//! Capture of the requests of a live block device.
//!
//! Requests come from one of two sources. Programs in the kernel write a record of each completed request into a ring
//! buffer (`bpf`, `bpf_record`, `order`). Where they cannot be loaded, or the device has no requests, the block tracepoints
//! write events into the buffers of a private tracing instance, one per CPU; a reader decodes the pages of these
//! buffers by the layouts that the kernel describes, merges the events by time, and pairs issues with completions (`events`
//! and what it uses). Both hand requests to a `trace::TraceWriter` and a `trace::Characterizer`. Neither a compiler nor
//! kernel headers are needed, and nothing of the device is touched.
//!
//! Without privileges, [`sample`] reads the counters of the device at exact instants instead.
//!
//! Events that the kernel could not write are counted, and the completed requests are compared with the counters that
//! the kernel keeps for the device.
//!
//! Out of scope: the format of traces and what kind of load they are (`trace`), and the wording of results
//! (`report`).

mod anonymous;
mod bpf;
mod bpf_record;
mod clock;
mod counters;
mod error;
mod event;
mod events;
mod layout;
mod merge;
mod names;
mod offline;
mod order;
mod output;
mod page;
mod pairing;
mod sample;
mod sample_file;
mod sample_source;
mod sample_summary;
mod session;
mod sink;
mod source;
mod target;
mod tracefs;

pub use offline::{DecodedPages, decode_pages};
pub use pairing::PairingCounts;
pub use sample::sample;
pub use session::{CaptureHost, CaptureOptions, capture};
pub use sink::KeptPart;
pub use target::CaptureTarget;

//! Decides the operations of a worker: a pure function of a resolved job and a seed.
//!
//! [`plan_files`] decides which files a worker uses and which region of each. [`Issuer`] decides the operations one at
//! a time: kind, file, offset, length and intended start, from the pattern of the job or from the trace that it replays. The same job and seed yield the same decisions on a device
//! and on a model, so they are independent of both. Payloads and their verification follow from the decisions and are
//! here too.
//!
//! Out of scope: clocks (the caller passes the time), targets, tags, buffers, statistics, job text, and the end of a
//! job at `runtime` (the drive loop calls [`Issuer::finish`]).

mod decision;
mod files;
mod filling;
mod issuer;
mod limits;
mod mix;
mod offsets;
mod operations;
mod pace;
mod payload;
mod picker;
mod priorities;
mod reducible;
mod replay;
mod sizes;
mod split;
mod syncs;
mod think;
mod verify;
mod writers;
mod zones;

pub use decision::{Decision, FileExtent, Next, WorkerIndex, ZoneTask};
pub use files::{FileFact, FilePlan, JobLayout, PlannedFile, plan_files};
pub use issuer::{Issuer, map_bytes};
pub use operations::Operations;
pub use replay::{MergedTrace, ReplayOutcome, StreamStep, TraceBytes, TraceStream, scan_trace};
pub use verify::{Checked, HEADER_BYTES, Mismatch, SyncedWrites, VerifyState, WriteOrigin, WrongData};
pub use writers::{Writers, file_identity};
pub use zones::{ZoneGeometry, ZoneTable};

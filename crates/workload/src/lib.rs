//! What to do next: a pure source of decisions made from a resolved job and a seed.
//!
//! [`plan_files`] says which files a worker uses and which part of each; [`Issuer`] then decides, one operation
//! at a time, what is done to them: kind, file, offset, length and the instant at which it is meant to begin.
//! The same job and seed give the same decisions on a real device and on a model, which is why they live apart
//! from both. Payloads and their verification are here too, since both follow from the decision alone.
//!
//! What is *not* here: a clock (the caller says what time it is), a target, tags or buffers, statistics, the end
//! of `runtime` (the loop stops asking), and any reading of job text.

mod decision;
mod error;
mod extent;
mod files;
mod issuer;
mod limits;
mod mix;
mod offsets;
mod operations;
mod pace;
mod payload;
mod picker;
mod sizes;
mod syncs;
mod think;
mod verify;
mod writers;

pub use decision::{Decision, Next, WorkerIndex};
pub use error::WorkloadError;
pub use extent::FileExtent;
pub use files::{FileFact, FilePlan, JobLayout, PlannedFile, plan_files};
pub use issuer::{Issuer, map_bytes};
pub use operations::Operations;
pub use verify::{Checked, HEADER_BYTES, Mismatch, WrongData};
pub use writers::{Writers, file_identity};

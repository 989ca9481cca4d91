//! What a run leaves behind.
//!
//! A [`Run`] says what was asked for, what was measured, on which host and with which outcome. It is all that
//! `analyse` and `report` ever see, and what is written to disk: its types are twins of those in `job` and `meter`,
//! versioned by [`SCHEMA`] and free to stay as they are while the others change. The types of `job` and `meter` are
//! never serialised.
//!
//! Results are merged in one place only, [`meter::Summary::merge`], before they become a record: sums of squares
//! merge exactly, printed deviations do not. [`collect()`] knows which workers belong together.
//!
//! Statistics derived from what was counted (a share, a percentile, operations in flight) are methods here, so that
//! every reader derives them alike.
//!
//! What others leave behind is read by [`read_input`], whichever program made it, and what a user claims by
//! [`Claim`]. Printed figures are rounded; each keeps its resolution, as a [`Quote`] or as a [`Claimed`].
//!
//! What is *not* here: files (the caller has the bytes), judgement (`analyse`), and words (`report`).

mod block;
mod claim;
mod collect;
mod course;
mod declared;
mod environment;
mod figure;
pub mod fio;
mod input;
mod job_result;
mod kind;
mod latency;
mod log;
mod measured;
mod model;
mod parts;
mod printable;
mod quote;
mod run;
mod shares;
mod store;
mod stuck;
mod verified;

pub use block::{Buckets, LatencyBlock, bucket_range_ns};
pub use claim::{Claim, Claimed, ClaimedKind};
pub use collect::{WorkerRecord, collect};
pub use course::{Flow, Level, Stretch};
pub use declared::{Declared, DeclaredPerKind, DeclaredSizes, KeptLatencies, Mixed};
pub use environment::{DeviceRecord, EnvironmentRecord, FilesystemRecord, TargetEnvironment};
pub use figure::{Figure, FigureQuantity};
pub use input::{
    Input, InputError, InputResult, InputResults, Iostat, IostatCpu, IostatDevice, IostatKind, IostatReport,
    read_input, read_inputs,
};
pub use job_result::{JobEvidence, JobResult, ProbeRecord, TargetFacts, TargetKind};
pub use kind::DataKind;
pub use latency::LatencyStats;
pub use log::LogLine;
pub use measured::{CpuUseRecord, DirectionResult, IntervalRecord, Measured, SampleRecord, SeriesRecord};
pub use model::{
    ModelCredits, ModelEarly, ModelMerging, ModelPageCache, ModelRecord, ModelStage, ModelStageKind, ModelledVolume,
    StageWait,
};
pub use printable::printable;
pub use quote::{Quote, Quoted};
pub use run::{DiskUse, GroupTotals, HostRecord, Note, Repeat, RequestedRun, Run, RunOutcome, Tool};
pub use shares::{LatencyShares, Shares};
pub use store::{ReadError, SCHEMA, from_json, to_json};
pub use stuck::{StuckKind, StuckOperation};
pub use verified::{Unchecked, Verified};

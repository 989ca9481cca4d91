//! Records of runs.
//!
//! A [`Run`] contains what was requested, what was measured, on which host, and the outcome. It is the only input of
//! `analyse` and `report`, and it is what is written to disk. Its types mirror those of `job` and `meter`, but are
//! versioned by [`SCHEMA`] and stay stable while the others change. Of those, only plain counts are part of documents as
//! they are: [`IntervalRecord`], [`CpuUse`] and [`TrimmedBlockCounts`].
//!
//! Results are merged only in [`meter::Summary::merge`]: those of workers before they become a record ([`collect()`]
//! decides which belong together), those of other hosts after their summaries were restored ([`Run::add_rank`]).
//!
//! Derived statistics (a fraction, a percentile, operations in flight) are methods here, so that all readers compute
//! them alike.
//!
//! [`read_input`] reads the output of other programs, and [`Claim`] the figures that a user claims. Printed figures are
//! rounded; each keeps its resolution, as a [`Quote`] or as a [`Claimed`].
//!
//! Out of scope: access to files (callers pass bytes), judgements (`analyse`) and their wording (`report`).

mod aligned;
mod block;
mod claim;
mod collect;
mod course;
mod declared;
mod disk_counters;
mod environment;
mod etcd;
mod figure;
pub mod fio;
mod fio_rows;
pub mod host;
mod input;
mod job_result;
mod latency;
mod measurable;
mod measured;
mod model;
mod parts;
mod printable;
mod quote;
mod ranks;
mod restore;
mod run;
mod saved;
mod shard;
mod store;
mod stuck;

pub use aligned::AlignedSeries;
pub use block::{Buckets, LatencyBlock, bucket_range_ns};
pub use claim::{Claim, Claimed, ClaimedKind};
pub use collect::{WorkerRecord, collect};
pub use course::{Flow, Level, SeriesSegment};
pub use declared::{Declared, DeclaredSizes, EstimatedLoad, KeptLatencies, Mixed};
pub use disk_counters::{DiskCounters, KindCounters};
pub use environment::{DeviceRecord, EnvironmentRecord, FilesystemRecord, TargetEnvironment};
pub use etcd::EtcdSyncs;
pub use figure::{Figure, FigureOf, FigureQuantity, FigureStatistic, FigureValue, NoFigure};
pub use fio_rows::FioRow;
pub use input::{
    CounterFormat, Input, InputResult, InputResults, Iostat, IostatCpu, IostatDevice, IostatKind, IostatReport,
    StackedDisk, read_input, read_inputs,
};
pub use job::UnifiedReport;
pub use job_result::ReplayRecord;
pub use job_result::SteadyRecord;
pub use job_result::{DepthSearchRecord, JobEvidence, JobResult, ProbeRecord, TargetFacts, TargetKind, Throttle};
pub use job_result::{KnownLatency, KnownTransfers};
pub use job_result::{Unchecked, Verified};
pub use latency::{LatencyShares, Shares};
pub use latency::{LatencyStats, Percentile};
pub use measured::{DirectionResult, Measured, PriorityLatency, SampleRecord, SeriesRecord};
pub use meter::{Interval as IntervalRecord, TrimmedBlockCounts};
pub use model::{ModelRecord, ModelledVolume, StageWait};
pub use printable::printable;
pub use quote::{Quote, Quoted};
pub use run::IdlenessRecord;
pub use run::RunOutcome;
pub use run::{
    ClockRecord, FleetRecord, LostRank, MergeRecord, MissingRanks, RANK_INTERVALS_MAX, RANK_JOBS_MAX, RankFailure,
    RankJob, RankRecord,
};
pub use run::{
    DiskUse, GroupTotals, HostRecord, Note, Repeat, RequestedLoad, RequestedProgram, RequestedRun, Run, Tool,
};
pub use saved::{FileSeal, RunKind, SavedRun};
pub use shard::{MissingItems, Shard, ShardRecord};
pub use store::{ReadError, SCHEMA, from_json, to_json};
pub use stuck::StuckOperation;
pub use units::{CpuUse, DataKind};
pub use volume::pagecache::PageCacheCounts;
pub use volume::{BurstCredits, ServiceStage, StageHosts};

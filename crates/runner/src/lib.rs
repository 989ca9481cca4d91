//! Runs of plans, on devices or on modelled volumes.
//!
//! A [`Runner`] checks and prepares a plan, a [`PreparedRun`] runs it, and an [`Observer`] receives all that is visible
//! meanwhile. Commands use these traits and nothing below them.
//!
//! Shared by all implementations are the expansion of jobs into workers ([`plan_workers`]), the policy and the meter
//! options of a worker ([`policy`]), the counters that observers read ([`RunCounters`]), progress ([`ProgressTracker`])
//! the plan of log files ([`LogPlan`]) and the assembly of the record ([`assemble`]).
//!
//! Out of scope: threads, clocks and files (`device`), virtual time (`sim`), text (`report`).

mod assemble;
mod counters;
mod logs;
pub mod policy;
mod progress;
mod ramps;
mod replays;
mod result;
mod seam;
mod seeds;
mod steady;
mod trimmed;
mod workers;

pub use assemble::{RunContext, RunFacts, RunState, assemble, pending_operations, requested};
pub use counters::{RunCounters, Totals, WorkerCounters};
pub use logs::{LogColumns, LogPlan, LogSink, PlannedLog};
pub use meter::WorkerLog;
pub use policy::EndedJobs;
pub use progress::{ProgressTracker, RunProgress};
pub use ramps::SizedRamps;
pub use replays::{NoTraces, TraceFiles, issuer, resolve_replays, write_merged_traces};
pub use result::{PendingOperation, WorkerError, WorkerFailure, WorkerResult};
pub use seam::{
    AttachedVolume, CompletedRun, CreditPolicy, FileGrowth, NullObserver, Observer, PageCacheUse, PreparedRun, Preview,
    RemoteFailure, RunControl, RunOptions, RunPlace, Runner, StageStart, Uninterrupted,
};
pub use seeds::Seeds;
pub use steady::SteadyStates;
pub use trimmed::trimmed_range;
pub use workers::{Environment, WorkerPlan, plan_workers};

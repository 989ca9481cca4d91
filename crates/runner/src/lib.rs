//! A whole run of a plan, wherever it happens.
//!
//! A [`Runner`] prepares a plan on devices or on modelled volumes; a [`PreparedRun`] is checked and can begin; an
//! [`Observer`] receives all that is visible while it runs. Commands know these traits and nothing below them.
//!
//! What every implementation shares is here and exists once: expanding jobs into workers ([`plan_workers`]), the policy and
//! the meter options of a worker ([`policy`]), the counters that observers read ([`RunCounters`]), progress
//! ([`ProgressTracker`]) and the assembly of the record ([`assemble`]).
//!
//! What is *not* here: threads, clocks and files (`device`), virtual time (`sim`), text (`report`).

mod assemble;
mod counters;
pub mod policy;
pub mod problems;
mod progress;
mod refusal;
mod result;
mod seam;
mod seeds;
mod workers;

pub use assemble::{RunContext, RunFacts, RunState, assemble, pending_operations, requested};
pub use counters::{RunCounters, Totals, WorkerCounters};
pub use progress::{ProgressTracker, RunProgress};
pub use refusal::Refusal;
pub use result::{PendingOperation, WorkerError, WorkerFailure, WorkerResult};
pub use seam::{
    AttachedVolume, CompletedRun, CreditPolicy, FileGrowth, LogSink, Observer, PreparedRun, Preview, RunControl,
    RunError, RunOptions, RunPlace, Runner, Silent, WorkerLog,
};
pub use seeds::Seeds;
pub use workers::{Environment, Unrunnable, WorkerPlan, plan_workers};

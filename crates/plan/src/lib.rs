//! Selects the volume for a load by price and latency.
//!
//! A [`Need`] states the requirements; [`workload`] derives one from a named application. [`candidates`] searches the
//! catalogue: for each type it finds the smallest size and the lowest provisioned values that meet the need in closed
//! form, by bisection, which takes a fifth of a second for the whole catalogue. [`plan`] confirms each by a
//! [`PlanTrial`], enlarges those that fall short, and ranks the results ([`Ranking`]): those that meet the need, those
//! that none dominates in price and latency, and the cheapest.
//!
//! Several equal volumes in RAID 0 are a candidate of their own where they cost less than one, or where one is not enough.
//! If the need has requirements on the machine, the cheapest machine and volumes together are searched: without a machine,
//! the volumes are the cheapest, so that the machines are tried from the cheapest on until one sustains the load.
//!
//! For a volume that exists, [`current`] decides whether to keep, change or replace it.
//!
//! For a load that is known as a trace, [`replay`] finds the smallest volumes by replays instead.
//!
//! Unpublished prices stay unknown, and prices of other regions do not count. Prices in euros are compared in US
//! dollars at a rate with a source and a date ([`Exchange`]). Each latency carries its basis: a bound is kept by what is
//! measured or published, and what keeps it by an assumption alone is listed apart.
//!
//! Out of scope: clocks, simulations and text. Volumes are known only by their catalogue entries.

mod bisection;
mod candidate;
pub mod choice;
pub mod current;
mod judge;
mod laws;
mod machine;
mod money;
mod need;
mod rank;
mod region;
pub mod replay;
mod search;
mod trial;
pub mod workload;

pub use candidate::{
    Candidate, JitterComparison, JitterEffect, MergingEffect, MonthlyCost, Requirement, UnmetNeed, iops_per_cpu,
};
pub use laws::LatencyCache;
pub use machine::{MachineNeed, PlannedMachine};
pub use money::{Currency, Exchange};
pub use need::{Demand, NearRegion, Need, STRIPE_MAX};
pub use rank::{Nearest, Ranking, rank, rank_by};
pub use region::{near, regions_without_prices};
pub use search::{candidates, machines, named, regions};
pub use trial::{PlanTrial, TrialOutcome, best, confirm, lifted, plan, simulate_jitter};

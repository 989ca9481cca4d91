//! Selects the volume for a load by price and latency.
//!
//! A [`Need`] states the requirements; [`workload`] derives one from a named application. [`candidates`] searches the
//! catalogue: for each type it finds the smallest size and the lowest provisioned values that meet the need in closed
//! form, by bisection, which takes a fifth of a second for the whole catalogue. [`plan`] confirms each by a
//! [`PlanTrial`], enlarges those that fall short, and ranks the results ([`Ranking`]): those that meet the need, those
//! that none dominates in price and latency, and the cheapest.
//!
//! For a volume that exists, [`current`] decides whether to keep, change or replace it.
//!
//! For a load that is known as a trace, [`replay`] finds the smallest volumes by replays instead.
//!
//! Unpublished prices stay unknown, and prices of other regions do not count. Prices in euros are compared in US
//! dollars at a rate with a source and a date ([`Exchange`]). Each latency carries its basis; an assumed one never
//! beats a measured one.
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

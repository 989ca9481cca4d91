//! Which volume for this load, at what price.
//!
//! A [`Need`] says what a load wants; [`workload`] makes one out of a few words about an application. [`candidates`] goes
//! through the catalogue: for each type the smallest size and the least provisioned values that the closed form lets
//! the need through at, found by bisection. [`plan`] has each checked by a [`PlanTrial`], which the caller simulates, gives
//! those that fall short more room, and ranks what is left ([`Ranking`]): what meets the need, what no other beats in
//! price and in latency, the cheapest of these, and what to buy for twice as much.
//!
//! Prices that are not published stay unknown, and prices of another region are not taken for those of the one asked for.
//! Prices in euros are compared in US dollars at a rate with a source and a date ([`Exchange`]). Each latency carries its
//! basis; an assumed one beats no measured one.
//!
//! What is *not* here: a clock, the simulation itself, words for people, and any knowledge of a volume that is not in its
//! catalogue entry.

mod candidate;
pub mod choice;
mod exchange;
mod judge;
mod laws;
mod need;
mod rank;
mod search;
mod size_range;
mod trial;
pub mod workload;

pub use candidate::{
    Candidate, JitterEffect, MergingEffect, Money, Requirement, UnmetNeed, WithAndWithout, iops_per_cpu,
};
pub use exchange::Exchange;
pub use laws::Laws;
pub use need::{Demand, Need};
pub use rank::{Nearest, Ranking, rank};
pub use search::{candidates, machines, named, regions};
pub use trial::{PlanTrial, TrialOutcome, best, confirm, plan, simulate_jitter};

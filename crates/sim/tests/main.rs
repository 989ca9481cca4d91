//! The integration tests of `sim`, in one program.

#[path = "../../cli/tests/common/cases.rs"]
mod cases;
mod common;
mod conformance;
mod hosts;
mod latency_target;
mod model;
mod open_loop;
mod pagecache;
mod replay;
mod swarm;
mod units;

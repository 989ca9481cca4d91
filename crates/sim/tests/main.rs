//! The integration tests of `sim`, in one program.

mod common;
mod conformance;
mod hosts;
mod open_loop;
mod pagecache;
mod replay;
mod swarm;

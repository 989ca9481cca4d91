//! The integration tests of `fleet-mpi`, in one program.

mod divided;
mod fleet;
#[path = "../../cli/tests/common/host.rs"]
#[allow(dead_code, reason = "the tests of the program use more of it")]
mod host;
mod hosts;
#[allow(dead_code, reason = "other tests use the rest")]
mod launcher;
mod prediction;
mod recipes;
mod work;

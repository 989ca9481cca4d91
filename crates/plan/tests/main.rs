//! The integration tests of `plan`, in one program.

mod brute_force;
#[path = "../../cli/tests/common/cases.rs"]
mod cases;
mod catalogue;
mod current;
#[path = "../../cli/tests/common/host.rs"]
#[allow(dead_code, reason = "the tests of the program use more of it")]
#[allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "it measures the host")]
mod host;
mod replay;
mod seeds;

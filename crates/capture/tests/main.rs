//! The integration tests of `capture`, in one program.

#[path = "../../cli/tests/common/cases.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod cases;
#[path = "../../cli/tests/common/host.rs"]
#[allow(dead_code, reason = "the tests of the program use more of it")]
mod host;
mod live;
mod pages;

//! The integration tests of `fleet`, in one program.

#[path = "../../cli/tests/common/cases.rs"]
mod cases;
mod endings;
mod gather;
#[allow(dead_code, reason = "other tests use the rest")]
mod memory;
mod ranks;

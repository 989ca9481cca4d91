//! The integration tests of `fleet`, in one program.

mod endings;
mod gather;
#[allow(dead_code, reason = "other tests use the rest")]
mod memory;
mod ranks;

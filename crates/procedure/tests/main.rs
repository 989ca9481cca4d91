//! The integration tests of `procedure`, in one program.

mod model;
mod purchase;
mod synthesis;
mod trace_purchase;

//! The integration tests of `procedure`, in one program.

mod purchase;
mod synthesis;
mod trace_purchase;

//! The integration tests of `procedure`, in one program.

#[path = "../../cli/tests/common/cases.rs"]
mod cases;
mod model;
mod purchase;
mod synthesis;
mod trace_purchase;

//! The integration tests of `procedure`, in one program.

#[path = "../../cli/tests/common/cases.rs"]
mod cases;
mod explanation;
#[path = "../../record/tests/fio_truths.rs"]
mod fio_truths;
#[path = "../../sim/tests/model.rs"]
mod model;
mod monotonic;
mod purchase;
mod suggestions;
mod synthesis;
mod trace_purchase;

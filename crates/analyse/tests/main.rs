//! The integration tests of `analyse`, in one program.

#[path = "../../cli/tests/common/cases.rs"]
mod cases;
mod compare;
mod corpus;
mod findings;
mod fio_outputs;
#[path = "../../record/tests/fio_truths.rs"]
mod fio_truths;
mod fleet;
mod gates;
mod loads;
mod pairs;
mod percentiles;

//! The integration tests of `analyse`, in one program.

#[path = "../../cli/tests/common/cases.rs"]
mod cases;
mod compare;
mod corpus;
mod findings;
mod fleet;
mod gates;
mod loads;
mod pairs;
mod percentiles;

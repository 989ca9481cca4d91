//! The integration tests of `analyse`, in one program.

mod compare;
mod corpus;
mod findings;
mod fleet;
mod gates;
mod loads;
mod pairs;
mod percentiles;

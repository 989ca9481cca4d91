//! The integration tests of `record`, in one program.

mod bench;
#[path = "../../cli/tests/common/cases.rs"]
mod cases;
mod claims;
mod collect;
mod corpus;
mod diskstats;
mod enclosed;
mod excerpts;
mod fio_truths;
mod inputs;
mod iostat;
mod merged;
mod servers;
mod store;
mod tables;
mod terse;
mod truths;

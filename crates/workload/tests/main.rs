//! The integration tests of `workload`, in one program.

mod any_job;
#[path = "../../cli/tests/common/cases.rs"]
mod cases;
mod common;
mod coverage;
mod files;
mod fio;
mod pace;
mod replay;
mod trims;
mod verify;
mod zones;

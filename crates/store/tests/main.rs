//! The integration tests of `store`, in one program.

#[path = "../../cli/tests/common/cases.rs"]
mod cases;
mod common;
mod crashes;
mod damage;
mod formats;
mod keeping;
mod media;
mod processes;

//! The integration tests of `drive`, in one program.

mod common;
mod drive;
mod rules;

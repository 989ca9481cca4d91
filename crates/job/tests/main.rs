//! The integration tests of `job`, in one program.

mod arbitrary;
mod examples;
mod fio;
mod grammar;
mod limits;
mod profile;
mod replay;
mod support;
mod table;

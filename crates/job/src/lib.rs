//! The job language: text in, jobs or diagnostics out.
//!
//! fio's job files and command lines are the language; this crate reads them in two [dialects](Dialect). One parser
//! serves both: it always reads as fio reads, and notes on the way where that cannot be what was meant. The fio dialect
//! passes over these notes, the strict dialect makes errors of them.
//!
//! There are two stages. [`RawFile`] holds keys, values and places and has no effects; [`Plan`] holds [`Job`]s with every
//! unit resolved and every default filled in. What options there are, and what each does, is said in one place,
//! [`table::OPTIONS`], from which the reference, the help and the suggestions for slips are made ([`docs`]).
//!
//! Problems come back as [`Diagnostic`]s, all of all files at once, each with its place, what fio does, and what to write
//! instead.
//!
//! What is *not* here: reading files and the environment (the caller gives a [`HostSource`]), printing diagnostics, opening
//! what a job names, and anything that depends on it, such as how large a device is.

mod apply;
mod arguments;
mod around;
mod diagnostic;
pub mod docs;
mod draft;
mod expand;
mod file;
mod host;
pub mod limits;
mod model;
mod names;
mod parse;
mod raw;
mod read;
mod resolve;
mod settle;
mod showcmd;
mod source;
mod strict;
pub mod table;
mod warn;
mod written;

pub use around::Around;
pub use diagnostic::{Diagnostic, DiagnosticLevel, Parsed, Place};
pub use host::{Eta, HostOptions, OutputFormat};
pub use model::*;
pub use parse::{
    Invocation, NO_JOBS, parse_command_line, parse_file_text, parse_files, parse_job_arguments, parse_raw,
};
pub use raw::{RawFile, RawJob, RawOption};
pub use showcmd::showcmd;
pub use source::{HostSource, Nowhere};
pub use written::JobWords;

/// How text is read where fio's reading cannot be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Exactly as fio reads it.
    Fio,
    /// As fio reads it, or not at all.
    Strict,
}

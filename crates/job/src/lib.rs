//! The job language: parses fio's job files and command lines into jobs or diagnostics.
//!
//! One parser serves both [dialects](Dialect). It reads every value as fio does and records where that reading cannot
//! be what the user meant. The fio dialect ignores these findings; the strict dialect reports them as errors.
//!
//! Parsing has two stages. [`RawFile`] holds keys, values and places; [`Plan`] holds [`Job`]s with all units resolved
//! and all defaults filled in. [`table::OPTIONS`] describes every option once: the parser, the reference, the help and
//! the suggestions for misspelled names ([`docs`]) are made from it.
//!
//! Problems are returned as [`Problem`]s, those of all files together, each with its place, fio's behaviour and the
//! help.
//!
//! Out of scope: reading files or the environment (the caller passes a [`HostSource`]), printing diagnostics, opening
//! what a job names, and everything that depends on the size or kind of a device.
mod apply;
mod arguments;
mod debug;
pub mod docs;
mod draft;
mod expand;
mod file;
mod goals;
mod host;
mod hosts;
pub mod limits;
mod model;
mod network;
mod nvme;
mod object_store;
mod parse;
mod parsed;
mod processor;
mod profile;
mod raw;
mod read;
mod reconcile;
mod redact;
mod replay;
mod resolve;
mod showcmd;
mod source;
mod strict;
pub mod table;
mod warn;
mod written;
mod zones;

pub use debug::{DebugOptions, DebugSubject, debug_subjects};
pub use host::{Eta, HostOptions, IdleProfile, OutputFormat};
pub use hosts::{JobArguments, expand_rank_variables, parse_on_hosts};
pub use model::*;
pub use parse::{Invocation, parse_command_line, parse_file_text, parse_files, parse_job_arguments, parse_raw};
pub use parsed::Parsed;
pub use raw::{InjectedOptions, RawFile, RawJob, RawOption};
pub use redact::{redacted_text, redacted_value, redacted_words};
pub use showcmd::showcmd;
pub use source::{EmptySource, HostSource};
pub use written::JobWords;

/// What the parser does where fio's reading of a text cannot be what the user meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Reads it as fio does.
    Fio,
    /// Refuses it.
    Strict,
}

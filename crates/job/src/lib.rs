//! The job language: text in, jobs or diagnostics out.

mod apply;
mod arguments;
mod diagnostic;
pub mod docs;
mod draft;
mod expand;
mod file;
mod host;
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
mod suggest;
pub mod table;

pub use diagnostic::{Diagnostic, Parsed, Place, Severity};
pub use host::{Eta, HostOptions, OutputFormat};
pub use model::*;
pub use parse::{Invocation, parse_command_line, parse_file_text, parse_files, parse_job_arguments, parse_raw};
pub use raw::{RawFile, RawJob, RawOption};
pub use showcmd::showcmd;
pub use source::{Nowhere, Source};

/// How text is read where fio's reading cannot be what was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Exactly as fio reads it.
    Fio,
    /// As fio reads it, or not at all.
    Strict,
}

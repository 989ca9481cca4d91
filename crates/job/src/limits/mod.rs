//! Limits on what job text and jobs may ask for, all in one place.
//!
//! Two kinds: constants, for what only a slip or an attack exceeds (the text of job files, how many sections and
//! options it has), and limits that follow from the host, which the caller passes in as a [`Capacity`]. [`check`] adds up
//! what all workers of a plan need and compares it with that capacity, before anything is opened or started.

mod needs;

pub use needs::{Capacity, Excess, HostLimit, check, exceeds_memory};

use crate::diagnostic::{Diagnostic, DiagnosticLevel};

/// Bytes of job text of one command. An included file counts each time it is included.
pub const TEXT_BYTES_MAX: usize = 4 << 20;

/// Bytes of one line of a job file, as in fio.
pub const LINE_BYTES_MAX: usize = 8192;

/// Bytes of one option once environment variables are replaced.
pub const EXPANDED_BYTES_MAX: usize = 128 << 10;

/// Files that all job files of one command include.
pub const INCLUDES_MAX: usize = 256;

/// Includes may be nested this deep, so that a file that includes itself ends.
pub const INCLUDE_DEPTH_MAX: usize = 16;

/// Sections of all job files of one command, or jobs of a command line.
pub const SECTIONS_MAX: usize = 10_000;

/// Options of all sections of one command, as written.
pub const OPTIONS_MAX: usize = 50_000;

/// Options and list elements of all jobs together, each counted for every job that inherits it.
pub const INHERITED_MAX: usize = 1_000_000;

/// Names in one `filename`.
pub const FILENAMES_MAX: usize = 65_536;

/// Errors after which no more are looked for, and warnings after which the others are left out.
pub const PROBLEMS_MAX: usize = 100;

/// Workers of all jobs together; a run on a host is limited further by its threads and memory.
pub const WORKERS_MAX: u64 = 1 << 20;

/// Files of all workers together.
pub const FILES_MAX: u64 = 1 << 20;

/// Operations in flight of all workers together.
pub const IN_FLIGHT_MAX: u64 = 1 << 24;

/// Days that `startdelay`, `ramp_time` and each `thinktime` may last.
pub const DELAY_DAYS_MAX: u64 = 366;

/// Leaves out what is more than [`PROBLEMS_MAX`] errors or warnings, and says how many.
pub(crate) fn shorten(diagnostics: &mut Vec<Diagnostic>) {
    for (severity, what) in [(DiagnosticLevel::Error, "errors"), (DiagnosticLevel::Warning, "warnings")] {
        let count = diagnostics.iter().filter(|problem| problem.severity == severity).count();
        let Some(more) = count.checked_sub(PROBLEMS_MAX).filter(|&more| more > 0) else { continue };
        let mut seen = 0;
        diagnostics.retain(|problem| {
            seen += usize::from(problem.severity == severity);
            problem.severity != severity || seen <= PROBLEMS_MAX
        });
        let message = format!("{more} more {what} are not shown");
        let last = Diagnostic::error("more-problems", message);
        diagnostics.push(Diagnostic { severity, ..last.remedy("correct those above first") });
    }
}

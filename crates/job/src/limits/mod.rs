//! All limits on job text and jobs.
//!
//! Constants bound what only a mistake or an attack exceeds, such as the size of job text. Other limits follow from the
//! host: [`check`] adds up what all workers of a plan need and compares the sums with a [`Capacity`], before anything
//! is opened or started.

use units::{Problem, ProblemCode, ProblemLevel};

mod needs;

pub use needs::{Capacity, HostLimit, check, exceeds_memory};

/// Maximum bytes of job text of one command. An included file counts each time it is included.
pub const TEXT_BYTES_MAX: usize = 4 << 20;

/// Maximum bytes of one line of a job file, as in fio.
pub const LINE_BYTES_MAX: usize = 8192;

/// Maximum bytes of one option after expansion of environment variables.
pub const EXPANDED_BYTES_MAX: usize = 128 << 10;

/// Maximum number of includes in all job files of one command.
pub const INCLUDES_MAX: usize = 256;

/// Maximum nesting of includes, which also ends a file that includes itself.
pub const INCLUDE_DEPTH_MAX: usize = 16;

/// Maximum number of sections in all job files of one command, and of jobs on a command line.
pub const SECTIONS_MAX: usize = 10_000;

/// Maximum number of options in all sections of one command, as written.
pub const OPTIONS_MAX: usize = 50_000;

/// Maximum number of options and list elements of all jobs, each counted for every job that inherits it.
pub const INHERITED_MAX: usize = 1_000_000;

/// Maximum number of file names of one job.
pub const FILENAMES_MAX: usize = 65_536;

/// Number of errors after which parsing stops, and of warnings after which the rest are omitted.
pub const PROBLEMS_MAX: usize = 100;

/// Maximum number of workers of all jobs. Threads and memory of the host limit a run further.
pub const WORKERS_MAX: u64 = 1 << 20;

/// Maximum number of files of all workers.
pub const FILES_MAX: u64 = 1 << 20;

/// Maximum number of operations in flight of all workers.
pub const IN_FLIGHT_MAX: u64 = 1 << 24;

/// Maximum of `startdelay`, `ramp_time` and each `thinktime`, in days.
pub const DELAY_DAYS_MAX: u64 = 366;

/// Drops errors and warnings beyond [`PROBLEMS_MAX`] of each and adds a count of those dropped.
pub(crate) fn shorten(diagnostics: &mut Vec<Problem>) {
    for (level, what) in [(ProblemLevel::Error, "errors"), (ProblemLevel::Warning, "warnings")] {
        let count = diagnostics.iter().filter(|problem| problem.level == level).count();
        let Some(more) = count.checked_sub(PROBLEMS_MAX).filter(|&more| more > 0) else { continue };
        let mut seen = 0;
        diagnostics.retain(|problem| {
            seen += usize::from(problem.level == level);
            problem.level != level || seen <= PROBLEMS_MAX
        });
        let message = format!("{more} more {what} not shown");
        let last = Problem::error(ProblemCode::MoreProblems, message);
        diagnostics.push(Problem { level, ..last.help("fix the ones above first") });
    }
}

//! Interface of procedures to the program.

use std::sync::{Mutex, PoisonError};

use analyse::Finding;
use job::HostSource;
use record::JobResult;
use results::events::Event;
use runner::{CompletedRun, Observer, PreparedRun, RunPlace, Runner};
use units::Problem;

/// Calls a function with each number below a count, on all CPUs.
pub type Parallel = fn(usize, &(dyn Fn(usize) + Sync));

/// Maps items in parallel. Results are in the order of the items.
pub(crate) fn map<T: Sync, R: Send>(parallel: Parallel, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let done: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::default()).collect();
    parallel(items.len(), &|number| {
        let result = work(&items[number]);
        *done[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    done.into_iter().filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// Functions and facts of the host that a procedure needs.
///
/// A structure of functions instead of direct calls, so that sweeps and suites are pure although their runs are not.
#[derive(Clone, Copy)]
pub struct ProcedureHost<'a> {
    /// Job files, variables and properties of the host.
    pub source: &'a (dyn HostSource + Sync),
    pub runner: &'a (dyn Fn(RunPlace) -> Box<dyn Runner> + Sync),
    /// Describes what went wrong in a run.
    pub failures: fn(&dyn PreparedRun, &CompletedRun) -> Vec<Problem>,
    /// Describes what a prepared run would use.
    pub preview: fn(&dyn PreparedRun) -> String,
    /// Returns the sentence of a finding about a job.
    pub finding: fn(&Finding, &JobResult) -> String,
    /// Runs simulations in parallel.
    pub parallel: Parallel,
    /// Reads a file of volumes.
    pub read_volume: fn(&str) -> Result<String, Problem>,
    /// Returns the size in bytes of a block device; `None` for everything else.
    pub device_bytes: fn(&str) -> Option<u64>,
    pub last_processor: u32,
    /// Engine for jobs that name none.
    pub default_engine: &'static str,
}

impl std::fmt::Debug for ProcedureHost<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProcedureHost").field("default_engine", &self.default_engine).finish_non_exhaustive()
    }
}

/// Observes a procedure and its runs.
pub trait ProcedureObserver: Observer {
    /// Sets the prefix of all following messages.
    fn set_prefix(&mut self, text: &str);

    /// Shows the progress of the procedure.
    fn show_status(&mut self, text: &str);

    /// Prints a warning that cannot wait for the results.
    fn warn(&mut self, warning: &Problem);

    /// Receives an event of the machine-readable stream.
    fn event(&mut self, event: &Event);

    /// Returns an observer of the next run that shows only the layout of its files.
    fn layout_only(&mut self) -> Box<dyn Observer + '_>;
}

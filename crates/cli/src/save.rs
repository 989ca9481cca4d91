//! Saves runs in the store of the user.
//!
//! A thread saves the run while the main thread prints results. A failed save causes a warning, never a failed command.

use analyse::Verdict;
use record::{EnvironmentRecord, Run};
use results::events::Event;
use store::{PendingSave, SavePolicy};

use crate::argv::command_line;
use crate::{diagnostics, home, terminal};

/// Attached file with the printed text of a sweep, a grid or a suite.
pub(crate) const TEXT: &str = "report.txt";
/// Attached documents of sweeps, grids and suites, beside the record of their parts.
pub(crate) const SWEEP: &str = "sweep.json";
pub(crate) const GRID: &str = "grid.json";
pub(crate) const SUITE: &str = "suite.json";

/// Saves in the directory that the environment names.
pub(crate) const POLICY: SavePolicy = SavePolicy {
    root: home::runs,
    retention: home::retention,
    environment,
    now_unix_ms: device::unix_ms,
    elsewhere: home::ELSEWHERE,
};

/// Returns the code of the most severe headline.
pub(crate) fn verdict(verdicts: &[Verdict]) -> Option<String> {
    let headlines = verdicts.iter().map(|verdict| &verdict.headline);
    headlines.max_by_key(|finding| finding.severity).map(|finding| finding.code.name().to_owned())
}

/// Returns one record of named parts.
pub(crate) fn of_parts(parts: Vec<(String, Run)>, words: &[String], seed: Option<u64>) -> Run {
    Run {
        schema: record::SCHEMA,
        tool: record::Tool::this(),
        command_line: command_line(words),
        seed,
        ..Run::of_parts(parts)
    }
}

/// Returns the events of a run whose parts ran in parallel: its start and its end.
pub(crate) fn events_of(run: &Run, started_unix_ms: u64) -> String {
    let start = Event::Start { unix_ms: started_unix_ms, command_line: run.command_line.clone() };
    start.line() + &Event::end(run).line()
}

/// Prints the ID of a saved run on standard error, or why the run is not saved. Returns the ID.
pub(crate) fn report_saved(pending_save: Option<PendingSave>) -> Option<String> {
    let id = report_problems(pending_save)?;
    terminal::write_stderr_dimmed(&format!("saved as {id}; see: fathom report last"));
    Some(id)
}

/// Prints the names of saved series on standard error, or why a run is not saved.
pub(crate) fn report_saved_series(saves: impl IntoIterator<Item = PendingSave>, names: &[String]) {
    if report_problems(saves).is_some() {
        let names = names.join(" ");
        let command = if names.contains(' ') { "compare" } else { "report" };
        terminal::write_stderr_dimmed(&format!("saved as {names}; see: fathom {command} {names}"));
    }
}

/// Prints the first problem as a warning. Returns the ID of the last saved run.
fn report_problems(saves: impl IntoIterator<Item = PendingSave>) -> Option<String> {
    let (mut last, mut problem) = (None, None);
    for pending_save in saves {
        let (id, error) = match pending_save.outcome() {
            Ok(stored) => (Some(stored.id), stored.retention_error),
            Err(problem) => (None, Some(problem.of("this run is not saved"))),
        };
        last = id.or(last);
        problem = problem.or(error);
    }
    if let Some(problem) = problem {
        diagnostics::warning(&problem);
    }
    last
}

/// Returns the environment of a run.
fn environment(run: &Run, started_unix_ms: u64) -> EnvironmentRecord {
    EnvironmentRecord {
        directory: std::env::current_dir().map_or_else(|_| String::new(), |path| path.to_string_lossy().into_owned()),
        started_unix_ms,
        utc_offset_s: device::local_time(device::unix_ms()).offset().seconds(),
        ..device::environment_record(run)
    }
}

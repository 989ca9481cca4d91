//! Creates the runners of commands: write gate, capacity, log files, clocks, volume files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use device::{DeviceRunner, capacity};
use engine::MonotonicClock;
use engine::gate::WriteGate;
use job::HostSource;
use live::LogFiles;
use procedure::ProcedureHost;
use record::HostRecord;
use runner::{CompletedRun, PreparedRun, RunFacts, RunPlace, Runner, Seeds, WorkerFailure, WorkerPlan};
use sim::model::ModelRunner;
use units::Nanos;
use units::random::mix;

use crate::exit::Exit;
use crate::{home, input, parallel, shutdown};

/// Creates the runner of a place. Only what `gate` admits is written to.
pub(crate) fn runner(place: RunPlace, gate: &Arc<WriteGate>) -> Box<dyn Runner> {
    match place {
        RunPlace::Device => Box::new(device(gate)),
        RunPlace::Virtual => Box::new(model()),
        RunPlace::Paced => {
            let clock = || PacedClock(MonotonicClock::start());
            let (host, logs) = (Arc::new(ThisHost), Arc::new(LogFiles));
            Box::new(ModelRunner::in_real_time(clock, host, capacity::of_models(), read_volumes, logs))
        }
    }
}

/// Creates a runner on the files and devices of this host.
pub(crate) fn device(gate: &Arc<WriteGate>) -> DeviceRunner {
    DeviceRunner::strict(Arc::clone(gate), Arc::new(LogFiles)).with_checkpoint(shutdown::panic_if_asked)
}

/// Creates a runner by fio's rules.
pub(crate) fn as_fio(readonly: bool) -> DeviceRunner {
    DeviceRunner::as_fio(home::ledger(), readonly, Arc::new(LogFiles)).with_checkpoint(shutdown::panic_if_asked)
}

/// Creates a runner on modelled volumes in virtual time.
pub(crate) fn model() -> ModelRunner<sim::Virtual> {
    ModelRunner::in_virtual_time(capacity::of_models(), read_volumes, Arc::new(LogFiles))
}

/// Returns the write gate of commands whose data are all Fathom's: what they leave is marked as its own.
pub(crate) fn gate(destroy: &[PathBuf], overwrite: &[PathBuf]) -> Arc<WriteGate> {
    device::safety::gate(destroy, overwrite, home::ledger().as_deref())
}

/// A clock that passes by itself.
struct PacedClock(MonotonicClock);

impl sim::Clock for PacedClock {
    fn now(&mut self) -> Nanos {
        self.0.now()
    }

    fn wait_until(&mut self, instant: Nanos) {
        self.0.sleep_until(instant);
    }
}

/// This host, as records of models in real time name it.
struct ThisHost;

impl RunFacts for ThisHost {
    fn now(&self) -> (u64, i32) {
        (device::unix_ms(), jiff::Zoned::now().offset().seconds())
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn host(&self) -> HostRecord {
        device::host()
    }
}

/// Returns what procedures need, with runs that write only what the caller's gate admits.
pub(crate) fn procedure_host<'a>(
    source: &'a (dyn HostSource + Sync),
    runner: &'a (dyn Fn(RunPlace) -> Box<dyn Runner> + Sync),
) -> ProcedureHost<'a> {
    ProcedureHost {
        source,
        runner,
        failures,
        parallel: parallel::for_each,
        read_volume: read_volumes,
        device_bytes,
        last_processor: engine::last_processor(),
        default_engine: default_engine(),
    }
}

/// The size of a block device in bytes.
fn device_bytes(path: &str) -> Option<u64> {
    let seen = engine::files::look(Path::new(path)).ok().flatten()?;
    (seen.kind == engine::files::FileKind::Block).then_some(seen.bytes)
}

/// `io_uring`, unless the kernel's administrator has switched it off.
fn default_engine() -> &'static str {
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    if disabled.is_ok_and(|text| text.trim() != "0") { "libaio" } else { "io_uring" }
}

/// Returns seeds derived from `given`, or from fio's default and the clock.
pub(crate) fn seeds(given: Option<u64>) -> Seeds {
    given.map_or_else(|| Seeds::with_fresh(fresh_seed()), Seeds::fixed)
}

/// Returns one seed for many runs that belong together: fio's default in virtual time, so that the same options give the
/// same figures, else one from the clock.
pub(crate) fn seed_for_many(virtual_time: bool) -> u64 {
    if virtual_time { Seeds::REPEATED } else { fresh_seed() }
}

/// Draws a seed from the clock and the process ID. Short, because users copy it from one screen to another.
fn fresh_seed() -> u64 {
    mix(device::unix_ms(), u64::from(std::process::id())) >> 32
}

/// Returns the text of a file of volumes.
pub(crate) fn read_volumes(path: &str) -> Result<String, String> {
    read_text(path, "file of volumes")
}

/// Returns the text of a small file; errors call it `what`.
pub(crate) fn read_text(path: &str, what: &str) -> Result<String, String> {
    let cannot = |why: &str| format!("the {what} {path} cannot be read: {why}");
    let bytes = input::read(Path::new(path), input::SMALL).map_err(|error| cannot(&engine::describe(&error)))?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..good].split(|byte| *byte == b'\n').count();
        cannot(&format!("its line {line} is not UTF-8"))
    })
}

/// Returns how the worst of the workers of a run ends the program, if any failed.
pub(crate) fn worst_exit(completed: &CompletedRun, plan: &job::Plan, workers: &[WorkerPlan]) -> Option<Exit> {
    let failure = |one: &runner::WorkerResult| one.failure(&plan.jobs[workers[one.number].job]);
    completed.workers.iter().filter_map(failure).max().map(|failure| match failure {
        WorkerFailure::Verification => Exit::Failed,
        WorkerFailure::Environment => Exit::Environment,
    })
}

/// Maximum number of pending operations listed per worker.
const PENDING_REPORTED: usize = 4;

/// Describes what went wrong in a run, one line each.
pub(crate) fn failures(prepared: &dyn PreparedRun, completed: &CompletedRun) -> Vec<String> {
    let (plan, workers) = (prepared.plan(), prepared.workers());
    let mut lines = Vec::new();
    for one in &completed.workers {
        let worker = &workers[one.number];
        let (name, engine) = (&plan.jobs[worker.job].name, plan.jobs[worker.job].engine.engine);
        lines.extend(one.error.as_ref().map(|error| format!("{name}: {}", error.text)));
        lines
            .extend(one.failures.iter().map(|failure| format!("{name}: {}", device::failure(failure, worker, engine))));
        let pending = runner::pending_operations(plan, workers, std::slice::from_ref(one));
        lines.extend(report::stuck_lines(&pending, PENDING_REPORTED));
        let unreported = one.summary.errors.saturating_sub(one.failures.len() as u64);
        if unreported > 0 && !one.failures.is_empty() {
            lines.push(format!("{name}: {unreported} more operations failed"));
        }
    }
    if completed.workers.iter().any(|one| !one.pending.is_empty()) {
        lines.push(
            "help: check the device or its server (see dmesg), or wait longer for it with --grace DURATION".to_owned(),
        );
    }
    lines
}

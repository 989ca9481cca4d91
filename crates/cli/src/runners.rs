//! Creates runners and what they need: clocks, seeds, volume files, host facts. Reports their failures.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use device::{DeviceRunner, HostTraces, capacity};
use drive::FailureCause;
use engine::MonotonicClock;
use engine::gate::WriteGate;
use fleet::{FleetRunner, RankHost};
use job::HostSource;
use live::LogFiles;
use procedure::ProcedureHost;
use record::{HostRecord, Run};
use runner::{CompletedRun, PreparedRun, RunFacts, RunPlace, Runner, Seeds, WorkerFailure};
use sim::model::ModelRunner;
use units::random::mix;
use units::{Nanos, Problem, ProblemCode, counted};

use crate::exit::Exit;
use crate::{home, rank, shutdown};

/// Creates the runner of a place. It writes only to targets that `gate` admits.
pub(crate) fn runner(place: RunPlace, gate: &Arc<WriteGate>) -> Box<dyn Runner> {
    match place {
        RunPlace::Device => {
            let runner = DeviceRunner::strict(Arc::clone(gate), Arc::new(LogFiles::default()));
            on_all_ranks(Box::new(runner.with_checkpoint(shutdown::panic_if_requested)))
        }
        RunPlace::Virtual => Box::new(model(1)),
        RunPlace::Paced => {
            let clock = || -> Box<dyn sim::Clock> { Box::new(PacedClock(MonotonicClock::start())) };
            let (host, logs) = (Arc::new(ThisHost), Arc::new(LogFiles::default()));
            let runner = ModelRunner::in_real_time(clock, host, capacity::of_models(1), read_volumes, logs);
            Box::new(runner.with_traces(Arc::new(HostTraces)))
        }
    }
}

/// Creates the runner of a place for a procedure that simulates its runs on all CPUs.
pub(crate) fn parallel_runner(place: RunPlace, gate: &Arc<WriteGate>) -> Box<dyn Runner> {
    if place == RunPlace::Virtual { Box::new(models()) } else { runner(place, gate) }
}

/// Returns a runner of all ranks instead of `inner`, in `fathom-fleet`.
fn on_all_ranks(inner: Box<dyn Runner>) -> Box<dyn Runner> {
    match rank::joined() {
        None => inner,
        Some(fleet) => {
            let (save, link) = (Arc::new(save_record), device::link_of_targets);
            let host = RankHost { save, failures, worst: worst_failure, link };
            Box::new(FleetRunner::new(inner, fleet, host).with_split(rank::split()))
        }
    }
}

/// Saves the record of this rank alone.
fn save_record(run: &Run) -> Result<(), Problem> {
    let (Some(fleet), Some(joined)) = (&run.fleet, rank::joined()) else { return Ok(()) };
    let folder = match rank::records() {
        Some(folder) => folder.join(&fleet.id),
        None => home::runs()?.with_file_name("ranks").join(&fleet.id),
    };
    let number = joined.rank();
    store::write_rank(&folder, number, run).map(drop).map_err(Problem::from)
}

/// Creates a runner that follows fio's rules.
pub(crate) fn as_fio(readonly: bool) -> DeviceRunner {
    DeviceRunner::as_fio(home::ledger(), readonly, Arc::new(LogFiles::default()))
        .with_checkpoint(shutdown::panic_if_requested)
}

/// Creates a runner on modelled volumes in virtual time, with which runs are simulated on all CPUs.
pub(crate) fn models() -> ModelRunner {
    model(processors())
}

/// Creates a runner on modelled volumes in virtual time, of whose runs so many are simulated `at_once`.
fn model(at_once: usize) -> ModelRunner {
    let capacity = capacity::of_models(at_once);
    let runner = ModelRunner::in_virtual_time(capacity, read_volumes, Arc::new(LogFiles::default()));
    runner.with_traces(Arc::new(HostTraces))
}

/// Real time, for models.
struct PacedClock(MonotonicClock);

impl sim::Clock for PacedClock {
    fn now(&mut self) -> Nanos {
        self.0.now()
    }

    fn wait_until(&mut self, instant: Nanos) {
        self.0.sleep_until(instant);
    }
}

/// Facts of this host for records of models in real time.
struct ThisHost;

impl RunFacts for ThisHost {
    fn now(&self) -> (u64, i32) {
        let now_ms = device::unix_ms();
        (now_ms, device::local_time(now_ms).offset().seconds())
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn host(&self) -> HostRecord {
        device::host()
    }
}

/// Returns the services that procedures need. `runner` decides which writes are admitted.
pub(crate) fn procedure_host<'a>(
    source: &'a (dyn HostSource + Sync),
    runner: &'a (dyn Fn(RunPlace) -> Box<dyn Runner> + Sync),
) -> ProcedureHost<'a> {
    ProcedureHost {
        source,
        runner,
        failures,
        preview: report::preview::prepared,
        finding: report::finding_text,
        parallel: for_each,
        read_volume: read_volumes,
        device_bytes,
        last_processor: engine::last_processor(),
        default_engine: default_engine(),
    }
}

/// Returns the size of a block device in bytes.
fn device_bytes(path: &str) -> Option<u64> {
    let facts = engine::files::look(Path::new(path)).ok().flatten()?;
    (facts.kind == engine::files::FileKind::Block).then_some(facts.bytes)
}

/// Returns `io_uring`, or `libaio` if a sysctl of the kernel disables io_uring.
fn default_engine() -> &'static str {
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    if disabled.is_ok_and(|text| text.trim() != "0") { "libaio" } else { "io_uring" }
}

/// Returns the seeds of `given`, or of fio's default and the clock.
pub(crate) fn seeds(given: Option<u64>) -> Seeds {
    given.map_or_else(|| Seeds::with_fresh(fresh_seed()), Seeds::fixed)
}

/// Returns one seed for related runs: fio's default in virtual time, so that equal options give equal figures,
/// otherwise one from the clock.
pub(crate) fn seed_for_many(virtual_time: bool) -> u64 {
    if virtual_time { Seeds::REPEATED } else { fresh_seed() }
}

/// Draws a seed from the clock and the process ID. Short, because users copy it by hand.
fn fresh_seed() -> u64 {
    mix(device::unix_ms(), u64::from(std::process::id())) >> 32
}

/// Reads a file of volumes.
pub(crate) fn read_volumes(path: &str) -> Result<String, Problem> {
    read_text(path, "volume file")
}

/// Reads a small text file, which errors call `what`.
pub(crate) fn read_text(path: &str, what: &str) -> Result<String, Problem> {
    let cannot =
        |why: &str| Problem::error(ProblemCode::UnreadableInput, format!("the {what} {path} cannot be read: {why}"));
    let bytes = device::input::read(Path::new(path), device::input::SMALL)
        .map_err(|error| cannot(&error.to_string()).maybe_help(engine::remedy(&error).map(str::to_owned)))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].split(|byte| *byte == b'\n').count();
        cannot(&format!("line {line} is not UTF-8"))
    })
}

/// Returns the exit status of the worst failure of any worker.
pub(crate) fn worst_exit(completed: &CompletedRun, prepared: &dyn PreparedRun) -> Option<Exit> {
    let elsewhere = completed.elsewhere.iter().filter_map(|remote| remote.failure).max();
    worst_failure(prepared, completed).max(elsewhere).map(|failure| match failure {
        WorkerFailure::Verification => Exit::Failed,
        WorkerFailure::Environment => Exit::Environment,
    })
}

/// Returns the worst failure of any worker of this process.
pub(crate) fn worst_failure(prepared: &dyn PreparedRun, completed: &CompletedRun) -> Option<WorkerFailure> {
    let job = |one: &runner::WorkerResult| &prepared.plan().jobs[prepared.workers()[one.number].job];
    completed.workers.iter().filter_map(|one| one.failure(job(one))).max()
}

/// Maximum number of pending operations listed for each worker.
const PENDING_REPORTED: usize = 4;

/// Describes the failures of a run.
pub(crate) fn failures(prepared: &dyn PreparedRun, completed: &CompletedRun) -> Vec<Problem> {
    let (plan, workers) = (prepared.plan(), prepared.workers());
    let mut problems: Vec<Problem> = completed.elsewhere.iter().flat_map(|remote| remote.problems.clone()).collect();
    let failed = |what: String| Problem::error(ProblemCode::Operation, what);
    for one in &completed.workers {
        let worker = &workers[one.number];
        let (name, engine) = (&plan.jobs[worker.job].name, plan.jobs[worker.job].engine.kind);
        problems.extend(one.error.as_ref().map(|error| error.problem.clone().of(name)));
        // All operations in flight fail alike when a device disappears: one of them is described.
        let mut described = Vec::new();
        let shown = one.failures.iter().filter(|failure| match failure.cause {
            FailureCause::Errno(errno) => {
                let is_new = !described.contains(&(errno, failure.decision.kind));
                described.push((errno, failure.decision.kind));
                is_new
            }
            _ => true,
        });
        let before = problems.len();
        problems.extend(shown.map(|failure| device::failure(failure, worker, engine).of(name)));
        let shown = problems.len() - before;
        let pending = runner::pending_operations(plan, workers, std::slice::from_ref(one));
        problems.extend(report::stuck_lines(&pending, PENDING_REPORTED).into_iter().map(failed));
        let unreported = one.summary.errors.saturating_sub(shown as u64);
        if unreported > 0 && shown > 0 {
            problems.push(failed(format!("{name}: {} failed too", counted(unreported, "more operation"))));
        }
    }
    let is_stuck = completed.workers.iter().any(|one| !one.pending.is_empty());
    if let Some(last) = problems.pop() {
        let help = "check the device or its server (see dmesg), or wait longer for it with --grace DURATION";
        problems.push(if is_stuck { last.also_help(help) } else { last });
    }
    problems
}

/// Returns how many calls run at a time, at most.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `work` with each number below `count`, on all CPUs.
pub(crate) fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let processors = processors().min(count);
    thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    work(index);
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_used_once() {
        let calls: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
        for_each(100, &|number| {
            calls[number].fetch_add(1, Ordering::Relaxed);
        });
        assert!(calls.iter().all(|calls| calls.load(Ordering::Relaxed) == 1));
        for_each(0, &|_| panic!("there are none"));
    }
}

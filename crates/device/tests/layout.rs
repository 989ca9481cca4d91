//! Layout of files that several ranks of a run share.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use units::{Problem, ProblemCode};

use device::DeviceRunner;
use engine::ErrorKind;
use engine::files::{FileLayout, LayoutContent};
use engine::gate::{Permissions, Sharing, WriteGate};
use job::{Dialect, EmptySource, Fallocate, InjectedOptions, Plan, RankTable};
use runner::{
    CompletedRun, LogPlan, LogSink, NullObserver, PreparedRun, RunControl, RunOptions, Runner, Seeds, StageStart,
    WorkerLog,
};

const MIB: u64 = 1 << 20;

pub(crate) struct NoLogs;

impl LogSink for NoLogs {
    fn create(&self, _: &LogPlan) -> Result<Box<dyn WorkerLog>, Problem> {
        Err(Problem::error(ProblemCode::File, "there are no logs"))
    }
}

/// A control whose answers the test decides.
struct TestControl<'a> {
    layout_end: &'a (dyn Fn() -> StageStart + Sync),
    /// Called for each question whether the run ends.
    questioned: &'a (dyn Fn() + Sync),
    gives_up: &'a AtomicBool,
}

impl RunControl for TestControl<'_> {
    fn end(&self) -> Option<i32> {
        (self.questioned)();
        None
    }

    fn gives_up(&self) -> bool {
        self.gives_up.load(Ordering::SeqCst)
    }

    fn grace(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn layout_end(&self) -> StageStart {
        (self.layout_end)()
    }
}

fn gate_of_rank() -> Arc<WriteGate> {
    device::safety::gate(Permissions { sharing: Sharing::Ranks(7), ..Permissions::default() }, None)
}

fn runner_of_rank() -> DeviceRunner {
    DeviceRunner::strict(gate_of_rank(), Arc::new(NoLogs))
}

/// Jobs on one file of a size.
fn plan(path: &Path, mib: u64, jobs: &[&str]) -> Plan {
    let global = ["--ioengine=psync".to_owned(), format!("--size={mib}m"), format!("--filename={}", path.display())];
    let words: Vec<String> = global.into_iter().chain(jobs.iter().map(|word| (*word).to_owned())).collect();
    let around = InjectedOptions::default();
    job::parse_job_arguments(&words, &[], &around, Dialect::Strict, &EmptySource).into_result().unwrap().0
}

/// A job that reads a file once.
fn read(path: &Path, mib: u64) -> Plan {
    plan(path, mib, &["--name=a", "--rw=read", "--bs=1m"])
}

fn run(prepared: &dyn PreparedRun, control: &TestControl<'_>) -> Result<CompletedRun, Problem> {
    prepared.run(&RunOptions::default(), control, &mut NullObserver)
}

/// Returns what went wrong in a run.
fn problems(result: Result<CompletedRun, Problem>) -> Vec<String> {
    match result {
        Err(error) => vec![error.to_string()],
        Ok(completed) => {
            completed.workers.iter().filter_map(|one| Some(one.error.as_ref()?.problem.to_string())).collect()
        }
    }
}

/// Waits until a condition holds, or fails after minutes.
fn wait_for(condition: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(300);
    while !condition() {
        assert!(Instant::now() < until, "waited for too long");
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// A point that all ranks reach before any continues. Unlike a barrier it fails if one of them does not come.
#[derive(Default)]
struct Meeting {
    arrived: AtomicUsize,
    is_over: AtomicBool,
}

impl Meeting {
    /// Waits for the others. The last of them calls `last` before all continue.
    fn wait(&self, ranks: usize, last: &dyn Fn()) {
        if self.arrived.fetch_add(1, Ordering::SeqCst) + 1 == ranks {
            last();
            self.is_over.store(true, Ordering::SeqCst);
        }
        wait_for(|| self.is_over.load(Ordering::SeqCst));
    }
}

/// Another rank that begins to lay a file of 2 MiB out, and continues when it is released.
#[derive(Default)]
struct OtherRank {
    has_begun: AtomicBool,
    is_released: AtomicBool,
    has_ended: AtomicBool,
}

impl OtherRank {
    fn lay_out(&self, path: &Path, fails: bool) {
        let layout = FileLayout {
            path: path.to_owned(),
            bytes: 2 * MIB,
            content: LayoutContent::Filled,
            writes: 0,
            fallocate: Fallocate::Native,
            fsync: true,
            seed: 1,
        };
        let cancel = AtomicBool::new(false);
        let laid = engine::files::lay_out(&[layout], &gate_of_rank(), &cancel, &mut |_| {
            self.has_begun.store(true, Ordering::SeqCst);
            wait_for(|| self.is_released.load(Ordering::SeqCst));
            cancel.store(fails, Ordering::SeqCst);
        });
        self.has_ended.store(true, Ordering::SeqCst);
        assert_eq!(laid.err().map(|error| error.kind), fails.then_some(ErrorKind::Cancelled));
    }

    fn begin_in<'s>(&'s self, scope: &'s std::thread::Scope<'s, '_>, path: &'s Path, fails: bool) {
        scope.spawn(move || self.lay_out(path, fails));
        wait_for(|| self.has_begun.load(Ordering::SeqCst));
    }

    fn release(&self) {
        self.is_released.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_file_is_tried_again_until_no_other_rank_lays_it_out() {
    for fails in [false, true] {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("shared");
        let (runner, other) = (runner_of_rank(), OtherRank::default());
        let prepared = runner.prepare(&read(&path, 4), Seeds::fixed(1)).unwrap();
        let questions_left = AtomicUsize::new(usize::MAX);
        let control = TestControl {
            layout_end: &|| {
                questions_left.store(10, Ordering::SeqCst);
                StageStart::Now
            },
            questioned: &|| {
                if questions_left.fetch_sub(1, Ordering::SeqCst) == 1 {
                    other.release();
                }
            },
            gives_up: &AtomicBool::new(false),
        };
        let result = std::thread::scope(|scope| {
            other.begin_in(scope, &path, fails);
            let result = run(&*prepared, &control);
            other.release();
            result
        });
        assert_eq!(problems(result), [] as [String; 0]);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 4 * MIB);
    }
}

/// Runs a job of each size as a rank, after a start of all by `begin`, and returns what went wrong. All ranks reach
/// the end of the layout before `ended` is called, once.
fn run_ranks(path: &Path, sizes_mib: &[u64], begin: &(dyn Fn() + Sync), ended: &(dyn Fn() + Sync)) -> Vec<String> {
    let ranks = sizes_mib.len();
    let [prepared, laid_out, over] = <[Meeting; 3]>::default();
    let rank = |mib: u64| {
        let runner = runner_of_rank();
        let plan = read(path, mib);
        let run_of_rank = runner.prepare(&plan, Seeds::fixed(1)).unwrap();
        prepared.wait(ranks, begin);
        let control = TestControl {
            layout_end: &|| {
                laid_out.wait(ranks, ended);
                StageStart::Now
            },
            questioned: &|| {},
            gives_up: &AtomicBool::new(false),
        };
        let result = run(&*run_of_rank, &control);
        // Gates live until all ranks have ended.
        over.wait(ranks, &|| {});
        problems(result)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = sizes_mib.iter().map(|mib| scope.spawn(|| rank(*mib))).collect();
        threads.into_iter().flat_map(|rank| rank.join().unwrap()).collect()
    })
}

#[test]
fn ranks_lay_a_file_out_with_different_sizes() {
    for round in 0..5 {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("shared");
        let problems = run_ranks(&path, &[4, 16, 8, 12], &|| {}, &|| {});
        assert_eq!(problems, [] as [String; 0], "round {round}");
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 16 * MIB);
        assert!(std::fs::read(&path).unwrap().chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)));
    }
}

#[test]
fn ranks_take_turns_after_one_that_failed() {
    for round in 0..5 {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("shared");
        let other = OtherRank::default();
        let problems = std::thread::scope(|scope| {
            let begin = || other.begin_in(scope, &path, true);
            let ended = || {
                other.release();
                wait_for(|| other.has_ended.load(Ordering::SeqCst));
            };
            run_ranks(&path, &[16, 16, 16], &begin, &ended)
        });
        assert_eq!(problems, [] as [String; 0], "round {round}");
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 16 * MIB);
    }
}

#[test]
fn a_run_that_is_given_up_while_ranks_are_awaited_lays_nothing_out() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("shared");
    let (runner, other, gives_up) = (runner_of_rank(), OtherRank::default(), AtomicBool::new(false));
    let prepared = runner.prepare(&read(&path, 4), Seeds::fixed(1)).unwrap();
    let control = TestControl {
        layout_end: &|| {
            other.release();
            wait_for(|| other.has_ended.load(Ordering::SeqCst));
            gives_up.store(true, Ordering::SeqCst);
            StageStart::Wait
        },
        questioned: &|| {},
        gives_up: &gives_up,
    };
    let result = std::thread::scope(|scope| {
        other.begin_in(scope, &path, true);
        run(&*prepared, &control)
    });
    assert!(!path.exists(), "{:?}", problems(result));
}

#[test]
fn a_file_that_another_rank_reads_is_filled_by_the_rank_that_writes_it() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("shared");
    let writer = ["--name=writer", "--ranks=0", "--rw=write", "--io_size=4k"];
    let jobs = plan(&path, 1, &[&writer[..], &["--name=reader", "--ranks=1", "--rw=read"]].concat());
    let mut ranks = RankTable::of_fleet(&["x".to_owned(), "y".to_owned()], None);
    let part = jobs.of_rank(0, &mut ranks).unwrap();
    let runner = runner_of_rank();
    let prepared = runner.prepare(&part.plan, Seeds::fixed(1)).unwrap();
    let control =
        TestControl { layout_end: &|| StageStart::Now, questioned: &|| {}, gives_up: &AtomicBool::new(false) };
    assert_eq!(problems(run(&*prepared, &control)), [] as [String; 0]);
    let data = std::fs::read(&path).unwrap();
    assert_eq!(data.len() as u64, MIB);
    assert!(data.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)), "a block without data");
}

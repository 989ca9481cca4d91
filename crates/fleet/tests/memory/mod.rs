//! Ranks as threads of one process, whose messages travel through memory.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use units::{Problem, ProblemCode};

use device::DeviceRunner;
use fleet::{ExchangeOptions, Fleet, FleetRunner, HostClock, RankHost, SystemClock, Transport};
use job::{Dialect, EmptySource, InjectedOptions, Plan};
use record::Run;
use runner::{
    CompletedRun, LogPlan, LogSink, NullObserver, Observer, RunControl, RunOptions, RunProgress, Runner, Seeds,
    WorkerLog,
};

/// Messages to one rank, with their senders.
type Inbox = Mutex<VecDeque<(u32, Vec<u8>)>>;

/// The network of a test.
pub(crate) struct Network {
    inboxes: Vec<Inbox>,
    /// Ranks that neither send nor receive: dead or stopped.
    pub(crate) dead: Vec<AtomicBool>,
}

impl Network {
    pub(crate) fn new(ranks: u32) -> Arc<Self> {
        let (inboxes, dead) = (0..ranks).map(|_| (Mutex::default(), AtomicBool::new(false))).unzip();
        Arc::new(Self { inboxes, dead })
    }

    pub(crate) fn kill(&self, rank: u32) {
        self.dead[rank as usize].store(true, Ordering::Relaxed);
    }

    pub(crate) fn revive(&self, rank: u32) {
        self.dead[rank as usize].store(false, Ordering::Relaxed);
    }
}

/// Calls a function once, when the operations of all ranks have begun.
pub(crate) struct WhenAllRun<'a, F> {
    running: &'a AtomicU32,
    ranks: u32,
    then: Option<F>,
    is_counted: bool,
}

impl<'a, F: Fn()> WhenAllRun<'a, F> {
    /// `running` counts the ranks whose operations have begun.
    pub(crate) fn new(running: &'a AtomicU32, ranks: u32, then: F) -> Self {
        Self { running, ranks, then: Some(then), is_counted: false }
    }
}

impl<F: Fn()> Observer for WhenAllRun<'_, F> {
    fn progress(&mut self, progress: &RunProgress) {
        if self.is_counted || progress.totals.ios.iter().sum::<u64>() == 0 {
            return;
        }
        self.is_counted = true;
        if self.running.fetch_add(1, Ordering::Relaxed) + 1 == self.ranks
            && let Some(then) = self.then.take()
        {
            then();
        }
    }
}

struct MemoryTransport {
    network: Arc<Network>,
    rank: u32,
}

impl MemoryTransport {
    fn is_dead(&self) -> bool {
        self.network.dead[self.rank as usize].load(Ordering::Relaxed)
    }
}

impl Transport for MemoryTransport {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.network.inboxes.len() as u32
    }

    fn send(&mut self, to: u32, message: Vec<u8>) {
        if !self.is_dead() {
            self.network.inboxes[to as usize].lock().unwrap().push_back((self.rank, message));
        }
    }

    fn receive(&mut self) -> Option<(u32, Vec<u8>)> {
        if self.is_dead() { None } else { self.network.inboxes[self.rank as usize].lock().unwrap().pop_front() }
    }

    fn finish(self: Box<Self>) {}
}

/// The clock of this host, set wrong.
#[derive(Clone, Copy)]
pub(crate) struct WrongClock {
    pub(crate) monotonic_ns: i64,
    pub(crate) wall_ns: i64,
}

impl HostClock for WrongClock {
    fn monotonic_ns(&self) -> i64 {
        SystemClock.monotonic_ns() + self.monotonic_ns
    }

    fn wall_ns(&self) -> i64 {
        SystemClock.wall_ns() + self.wall_ns
    }
}

pub(crate) fn no_signal() -> Option<i32> {
    None
}

pub(crate) fn ignored(_: i32) {}

/// Silence where no rank dies, so that one that is only slow does not count as lost.
pub(crate) const PATIENT_SILENCE: Duration = Duration::from_secs(300);

/// Silences where ranks die. A busy host may keep a living rank silent for the shorter ones.
pub(crate) const SILENCES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(4), Duration::from_secs(16)];

/// Calls a test in which ranks die with one silence after the other until it succeeds. It fails as it does with the last.
pub(crate) fn with_growing_silence(test: impl Fn(Duration)) {
    let (last, shorter) = SILENCES.split_last().unwrap();
    let succeeds = |silence: &Duration| {
        let outcome = catch_unwind(AssertUnwindSafe(|| test(*silence)));
        outcome.inspect_err(|_| eprintln!("repeated with more than {silence:?} of silence")).is_ok()
    };
    if !shorter.iter().any(succeeds) {
        test(*last);
    }
}

/// Joins as one rank.
pub(crate) fn joined(network: &Arc<Network>, rank: u32, silence: Duration) -> Fleet {
    let clock = Arc::new(SystemClock);
    joined_with(network, rank, ExchangeOptions { silence, clock, ended: no_signal, end: ignored })
}

/// Joins as one rank with a clock.
pub(crate) fn joined_with_clock(network: &Arc<Network>, rank: u32, silence: Duration, clock: WrongClock) -> Fleet {
    let options = ExchangeOptions { silence, clock: Arc::new(clock), ended: no_signal, end: ignored };
    joined_with(network, rank, options)
}

pub(crate) fn joined_with(network: &Arc<Network>, rank: u32, options: ExchangeOptions) -> Fleet {
    join_with(network, rank, options).unwrap()
}

/// Tries to join as one rank.
pub(crate) fn join_with(network: &Arc<Network>, rank: u32, options: ExchangeOptions) -> Result<Fleet, Problem> {
    let network = Arc::clone(network);
    let who = (format!("node{rank}"), "1".to_owned(), "test".to_owned());
    Fleet::join(options, who, move || Ok(Box::new(MemoryTransport { network, rank }) as Box<dyn Transport>))
}

/// Time in which a rank ends on any host, also if it misses others several times.
const ENDED_AFTER: Duration = Duration::from_secs(400);

/// Waits for a condition.
pub(crate) fn await_that(mut is_true: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_true() {
        assert!(began.elapsed() < ENDED_AFTER, "waited for too long");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs a function as every rank, on a thread each, and returns what they return. Fails if a rank waits for too long.
pub(crate) fn as_ranks<T: Send>(ranks: u32, work: impl Fn(u32) -> T + Sync) -> Vec<T> {
    let began = Instant::now();
    let results = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..ranks)
            .map(|rank| {
                scope.spawn({
                    let work = &work;
                    move || work(rank)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(began.elapsed() < ENDED_AFTER, "a rank waited for too long");
    results
}

struct NoLogs;

impl LogSink for NoLogs {
    fn create(&self, _: &LogPlan) -> Result<Box<dyn WorkerLog>, Problem> {
        Err(Problem::error(ProblemCode::File, "there are no logs"))
    }
}

/// A control without signals.
pub(crate) struct Uninterrupted(pub(crate) Instant);

impl RunControl for Uninterrupted {
    fn end(&self) -> Option<i32> {
        None
    }

    fn grace(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Parses jobs.
pub(crate) fn plan(words: &[&str]) -> Plan {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let around = InjectedOptions::default();
    let parsed = job::parse_job_arguments(&words, &[], &around, Dialect::Strict, &EmptySource);
    parsed.into_result().unwrap().0
}

/// Returns a runner of all ranks on the null engine, and the records that each rank saves by itself.
pub(crate) fn runner(fleet: &Fleet) -> (FleetRunner<'_>, Arc<Mutex<Vec<Run>>>) {
    let gate = device::safety::gate(Default::default(), None);
    let inner = DeviceRunner::strict(gate, Arc::new(NoLogs));
    let saved: Arc<Mutex<Vec<Run>>> = Arc::default();
    let save = {
        let saved = Arc::clone(&saved);
        move |run: &Run| {
            saved.lock().unwrap().push(run.clone());
            Ok(())
        }
    };
    let host = RankHost {
        save: Arc::new(save),
        failures: |_, _| Vec::new(),
        worst: |_, _| None,
        link: |_| Some(1_250_000_000),
    };
    (FleetRunner::new(Box::new(inner), fleet, host), saved)
}

/// Prepares and runs a plan.
pub(crate) fn run(runner: &FleetRunner<'_>, plan: &Plan) -> Result<CompletedRun, Problem> {
    run_observed(runner, plan, &mut NullObserver)
}

/// Prepares and runs a plan with an observer.
pub(crate) fn run_observed(
    runner: &FleetRunner<'_>,
    plan: &Plan,
    observer: &mut dyn Observer,
) -> Result<CompletedRun, Problem> {
    let prepared = runner.prepare(plan, Seeds::fixed(1)).map_err(|mut problems| problems.remove(0))?;
    assert_eq!(prepared.refusals(), &[]);
    prepared.run(&RunOptions::default(), &Uninterrupted(Instant::now()), observer)
}

//! Deadlines are met: never early, and as late as the kernel causes at most.

#[path = "../../cli/tests/common/host.rs"]
#[allow(dead_code, reason = "the tests of the program use more of it")]
mod host;
#[path = "../../probe/tests/host/loops.rs"]
mod loops;
#[path = "../../probe/tests/host/scratch.rs"]
mod scratch;

use std::path::Path;
use std::time::Duration;

use engine::files::{self, Access};
use engine::gate::{Permissions, WriteGate};
use engine::{EngineKind, MonotonicClock, Setup, Visitor, thread, with_target};
use host::{timed, within};
use loops::Loop;
use rustix::time::{ClockId, clock_gettime};
use scratch::Scratch;
use target::{Op, Tag, Target};
use units::{Nanos, OpKind};

/// Waits for a series of deadlines, `gap` apart, with at most one operation in flight, and returns the median lateness.
struct Deadlines {
    gap: Nanos,
}

const COUNT: usize = 201;

impl Visitor for Deadlines {
    type Output = Nanos;

    fn visit<T: Target>(self, mut target: T) -> Nanos {
        let mut done = Vec::new();
        let mut late = Vec::new();
        let mut due = target.now() + self.gap;
        for step in 0..COUNT {
            if step.is_multiple_of(2) {
                target.submit(Op { tag: Tag(0), kind: OpKind::Read, file: 0, offset: 0, length: 4096, skip: 0 });
            }
            // One more than is in flight, so that the deadline ends the wait.
            target.wait(2, due, &mut done);
            let now = target.now();
            assert!(now >= due, "returned {} early", due - now);
            late.push(now - due);
            while done.is_empty() && step.is_multiple_of(2) {
                target.wait(1, Nanos::MAX, &mut done);
            }
            done.clear();
            due = due.max(now) + self.gap;
        }
        late.sort();
        late[COUNT / 2]
    }
}

#[test]
fn every_engine_meets_near_and_far_deadlines() {
    let scratch = Scratch::new("timing");
    let path = scratch.file("data", 1 << 20);
    thread::exact_timers().unwrap();
    for engine in EngineKind::ON_FILES {
        for micros in [20, 200, 1_000] {
            let case = format!("{} every {micros} us", engine.name());
            // An idle machine is late by less than a microsecond; a busy one may delay the thread.
            timed(&format!("timing::every_engine_meets_near_and_far_deadlines, {case}"), || {
                let file = files::open(&path, Access { read: true, ..Access::default() }).unwrap();
                let setup = Setup::new(engine, 1, 4096, MonotonicClock::start());
                let gap = Nanos::from_micros(micros);
                let late = with_target(&setup, vec![file], Deadlines { gap }).unwrap();
                println!("{case}: {late} late");
                within(Duration::from_nanos(late.get()), Duration::from_micros(500))
            });
        }
    }
}

/// Returns the processor time that the gate takes, as the median of 21: on a busy host elapsed times are meaningless.
fn cpu_time_of_the_gate(path: &Path) -> Nanos {
    // `getrusage` would be too coarse: the kernel counts by ticks.
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Nanos::new(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    };
    let cost = |_| {
        let before = now();
        // A device is examined even if it may be destroyed.
        let permissions = Permissions { destroy: vec![path.to_owned()], ..Permissions::default() };
        drop(WriteGate::new(permissions, None).admit(path).unwrap());
        now() - before
    };
    let mut costs: Vec<Nanos> = (0..21).map(cost).collect();
    costs.sort();
    costs[costs.len() / 2]
}

#[test]
fn the_gate_takes_two_milliseconds_at_most() {
    let scratch = Scratch::new("gate");
    let file = scratch.file("data", 64 << 20);
    let device = Loop::over(&file);
    let own = scratch.path("own");
    let gate = WriteGate::new(Permissions::default(), None);
    gate.create(&own).unwrap();
    gate.begin();
    std::fs::write(&own, vec![1; 64 << 20]).unwrap();
    drop(gate);
    for path in [Some(own.as_path()), device.as_ref().map(Loop::path)].into_iter().flatten() {
        let cost = cpu_time_of_the_gate(path);
        println!("{}: {cost}", path.display());
        // Without optimization it takes twice as long.
        let most = Nanos::from_millis(if cfg!(debug_assertions) { 5 } else { 2 });
        assert!(cost <= most, "{}: {cost}", path.display());
    }
}

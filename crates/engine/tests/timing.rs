//! Deadlines are met: never early, and as late as the kernel causes at most. Clocks start without delay.

use std::time::{Duration, Instant};

use engine::files::{self, Access};
use engine::{MonotonicClock, Opening, Visitor, thread, with_target};
use nbd::wire::ReplyStyle;
use target::spec::EngineKind;
use target::{Op, Tag, Target};
use units::{Nanos, OpKind};

use crate::host::{Miss, timed, within};
use crate::scratch::Scratch;
use crate::served::{EXPORT_FLAGS, NbdTestServer};

/// Waits for a series of deadlines, `gap` apart, with at most one operation in flight, and returns the median lateness.
struct Deadlines {
    gap: Nanos,
}

const COUNT: usize = 201;
/// Limit of the median lateness, which is less than a microsecond on an idle machine. Where plain sleeps are late by half of
/// it, the host is the reason for more.
const LATE_MAX: Duration = Duration::from_micros(500);

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

/// Returns the median lateness of plain sleeps of this length: what the host makes of any deadline.
fn late_sleeps(length: Duration) -> Duration {
    let late = |_| {
        let asleep = Instant::now();
        std::thread::sleep(length);
        asleep.elapsed() - length
    };
    let mut late: Vec<Duration> = (0..COUNT).map(late).collect();
    late.sort();
    late[COUNT / 2]
}

/// Measures the host first, and then an engine with each gap between deadlines.
fn meets_deadlines(name: &str, late_after: impl Fn(Nanos) -> Nanos) {
    for micros in [20, 200, 1_000] {
        let case = format!("{name} every {micros} us");
        timed(&format!("timing::every_engine_meets_near_and_far_deadlines, {case}"), || {
            let of_host = late_sleeps(Duration::from_micros(micros));
            let late = Duration::from_nanos(late_after(Nanos::from_micros(micros)).get());
            println!("{case}: {late:?} late, plain sleeps {of_host:?}");
            within(late, LATE_MAX).map_err(|failure| match of_host > LATE_MAX / 2 {
                true => Miss::Host(format!("plain sleeps are {of_host:?} late")),
                false => Miss::Failed(failure),
            })
        });
    }
}

#[test]
fn every_engine_meets_near_and_far_deadlines() {
    let scratch = Scratch::new("timing");
    let path = scratch.file("data", 1 << 20);
    thread::exact_timers().unwrap();
    for engine in EngineKind::ON_FILES {
        meets_deadlines(engine.name(), |gap| {
            let file = files::open(&path, Access { read: true, ..Access::default() }).unwrap();
            let setup = Opening::new(engine, 1, 4096, MonotonicClock::start());
            with_target(&setup, vec![file], Deadlines { gap }).unwrap()
        });
    }
    let socket = scratch.path("s");
    let _served = NbdTestServer::start(&socket, ReplyStyle::Extended, &[""], 1 << 20, EXPORT_FLAGS);
    let uri = Some(format!("nbd+unix:///?socket={}", socket.display()));
    meets_deadlines(EngineKind::Nbd.name(), |gap| {
        let setup = Opening::new(EngineKind::Nbd, 1, 4096, MonotonicClock::start()).with(|spec| spec.uri = uri.clone());
        with_target(&setup, Vec::new(), Deadlines { gap }).unwrap()
    });
}

/// Returns the shortest time that starting a clock takes, and the least that one shows right after its start.
fn starts(count: usize) -> (Duration, Nanos) {
    let start = |_| {
        let (begun, clock) = (Instant::now(), MonotonicClock::start());
        (begun.elapsed(), clock.now())
    };
    let (took, shown): (Vec<Duration>, Vec<Nanos>) = (0..count).map(start).unzip();
    (took.into_iter().min().unwrap(), shown.into_iter().min().unwrap())
}

/// A clock that was not prepared compares itself with the system's for a whole millisecond.
#[test]
fn a_prepared_clock_starts_at_zero_without_waiting() {
    const COMPARED: Duration = Duration::from_millis(1);
    /// What was prepared is used for a second.
    const USED: Duration = Duration::from_millis(900);
    let prepared = Instant::now();
    MonotonicClock::prepare();
    std::thread::sleep(2 * COMPARED);
    timed("timing::a_prepared_clock_starts_at_zero_without_waiting", || {
        let (took, shown) = starts(100);
        let zero = within(Duration::from_nanos(shown.get()), COMPARED);
        within(took, COMPARED).and(zero).map_err(|failure| match prepared.elapsed() > USED {
            true => Miss::Host(format!("the first starts ended {:?} after the preparation", prepared.elapsed())),
            false => Miss::Failed(failure),
        })
    });
}

/// A start takes one millisecond, and plain sleeps tell what the host makes of one.
#[test]
fn a_clock_starts_within_milliseconds() {
    timed("timing::a_clock_starts_within_milliseconds", || {
        let of_host = late_sleeps(Duration::from_millis(1));
        let (took, _) = starts(20);
        within(took, 100 * (Duration::from_millis(1) + of_host))
    });
}

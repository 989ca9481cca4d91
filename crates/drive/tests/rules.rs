//! Rules of workers: which ends follow from others, floors of rates, limits of latency, flows.

use drive::{
    DriveWorker, EndOthers, EndScope, Ending, FailureCause, FileLock, FileLocks, Flow, FlowMember, NoObserver, Policy,
    RampBytes, RateFloor, Stop, drive,
};
use job::Job;
use std::sync::Arc;
use target::Target;
use units::{Nanos, PerKind, Rate};

use crate::common::{LATENCY, job, memory, worker_of};

/// Runs workers of four operations in flight and returns their operations that count and their runtimes.
fn ramped(jobs: &[Job], adjust: impl Fn(u32, &mut Policy)) -> Vec<(u64, Nanos)> {
    let worker = |(number, job): (u32, &Job)| worker_of(job, number, |policy| adjust(number, policy));
    let mut workers: Vec<_> = (0..).zip(jobs).map(worker).collect();
    drive(&mut workers, &mut memory(4 * jobs.len() as u32), &Stop::new(), &mut NoObserver);
    workers
        .iter_mut()
        .map(|worker| (worker.meter_mut().finished().ios(), worker.meter_mut().finished().runtime))
        .collect()
}

fn ramp_of(needed: u64) -> RampBytes {
    RampBytes { moved: Arc::default(), needed }
}

#[test]
fn operations_count_after_the_bytes_of_the_ramp() {
    // 256 blocks, four at a time.
    let reads = [job("rw=read iodepth=4")];
    for (needed, counted) in [(1, 252), (16 << 10, 252), (17 << 10, 248), (512 << 10, 128)] {
        let [(ios, runtime)] = ramped(&reads, |_, policy| policy.ramp_bytes = Some(ramp_of(needed)))[..] else {
            panic!("one worker")
        };
        assert!((counted..counted + 4).contains(&ios), "{needed} bytes: {ios} of {counted}");
        assert!(runtime <= Nanos::new(LATENCY.get() * 64), "{runtime}");
    }
    // All that is transferred belongs to the ramp.
    for needed in [1 << 20, u64::MAX] {
        let ran = ramped(&reads, |_, policy| policy.ramp_bytes = Some(ramp_of(needed)));
        let by_time = ramped(&reads, |_, policy| policy.ramp = Nanos::from_secs(9));
        assert_eq!(ran, by_time, "{needed}");
    }
}

#[test]
fn the_runtime_follows_the_ramp_and_groups_share_theirs() {
    let loops = [job("rw=randread time_based runtime=1 iodepth=4"), job("rw=randread time_based runtime=1 iodepth=1")];
    // 400 MB at 160 MB/s are 2.5 s.
    let ran = ramped(&loops[..1], |_, policy| policy.ramp_bytes = Some(ramp_of(409_600_000)));
    assert!((39_900..=40_100).contains(&ran[0].0) && ran[0].1.secs_f64().round() == 1.0, "{ran:?}");
    // A ramp by time that takes longer decides.
    let both = |_, policy: &mut Policy| (policy.ramp, policy.ramp_bytes) = (Nanos::from_secs(2), Some(ramp_of(4096)));
    assert!((39_900..=40_100).contains(&ramped(&loops[..1], both)[0].0));
    // Alone, the second worker would need four times as long.
    let shared = ramp_of(200 << 20);
    let ran = ramped(&loops, |_, policy| policy.ramp_bytes = Some(shared.clone()));
    assert!((39_900..=40_100).contains(&ran[0].0) && (9_900..=10_100).contains(&ran[1].0), "{ran:?}");
}

const AT_END: EndOthers = EndOthers { at_end: true, at_error: false, scope: EndScope::Group };

/// Regression: in one virtual loop the other workers ran to their own ends.
#[test]
fn the_end_of_a_worker_ends_the_others_if_its_policy_says_so() {
    let short = job("rw=randread time_based runtime=1 iodepth=2");
    let long = job("rw=randread time_based runtime=100 iodepth=2");
    let (done, late) = (job("rw=read size=64k"), job("rw=read size=64k"));
    let mut workers = [
        worker_of(&long, 0, |_| ()),
        worker_of(&done, 1, |_| ()),
        worker_of(&short, 2, |policy| policy.ends_others = AT_END),
        worker_of(&late, 3, |policy| policy.delay = Nanos::from_secs(50)),
    ];
    let mut target = memory(6);
    drive(&mut workers, &mut target, &Stop::new(), &mut NoObserver);
    let endings = workers.each_ref().map(DriveWorker::ending);
    let [long, short, late] = [Ending::Stopped, Ending::Runtime, Ending::Stopped].map(Some);
    assert_eq!(endings, [long, Some(Ending::Complete), short, late]);
    let second = Nanos::from_secs(1);
    assert!(target.now() >= second && target.now() <= second + LATENCY + LATENCY, "{:?}", target.now());
    assert_eq!(workers[3].meter_mut().finished().ios(), 0);
}

/// A job and a change of its policy.
type ChangedJob<'a> = (&'a Job, fn(&mut Policy));

/// Runs workers and returns how they ended and when, in seconds.
fn endings(jobs: &[ChangedJob<'_>]) -> Vec<(Option<Ending>, u64)> {
    let mut workers: Vec<_> = (0..).zip(jobs).map(|(number, (job, change))| worker_of(job, number, change)).collect();
    let depth = workers.iter().map(DriveWorker::depth).sum();
    drive(&mut workers, &mut memory(depth), &Stop::new(), &mut NoObserver);
    let end = |worker: &mut DriveWorker| (worker.ending(), worker.meter_mut().finished().runtime.get() / 1_000_000_000);
    workers.iter_mut().map(end).collect()
}

#[test]
fn a_worker_ends_those_of_its_group_or_all() {
    let (short, long) = (job("rw=randread time_based runtime=1"), job("rw=randread time_based runtime=5"));
    let second_group = |policy: &mut Policy| policy.group = 1;
    let ended = endings(&[(&short, |policy| policy.ends_others = AT_END), (&long, |_| ()), (&long, second_group)]);
    assert_eq!(ended.iter().map(|(_, seconds)| *seconds).collect::<Vec<_>>(), [1, 1, 5]);
    let all = |policy: &mut Policy| policy.ends_others = EndOthers { scope: EndScope::All, ..AT_END };
    let ended = endings(&[(&short, all), (&long, |_| ()), (&long, second_group)]);
    assert_eq!(ended.iter().map(|(_, seconds)| *seconds).collect::<Vec<_>>(), [1, 1, 1]);
    // Without an error, `exitall_on_error` ends nothing.
    let at_error = |policy: &mut Policy| policy.ends_others = EndOthers { at_end: false, at_error: true, ..AT_END };
    assert_eq!(endings(&[(&short, at_error), (&long, |_| ())])[1].1, 5);
}

#[test]
fn a_worker_waits_for_all_workers_of_another_job() {
    let lasting = |seconds: u32| job(&format!("rw=randread time_based runtime={seconds}"));
    let (one, two) = (lasting(1), lasting(2));
    let after_zero = |policy: &mut Policy| (policy.job, policy.after) = (1, Some(0));
    let mut workers =
        [worker_of(&one, 0, |_| ()), worker_of(&two, 1, |_| ()), worker_of(&one, 2, |policy| after_zero(policy))];
    let mut target = memory(3);
    drive(&mut workers, &mut target, &Stop::new(), &mut NoObserver);
    assert_eq!(target.now().get() / 100_000_000, 30, "it began when both had ended");
    assert!(workers.iter().all(|worker| worker.ending() == Some(Ending::Runtime)));
}

#[test]
fn a_rate_below_its_floor_fails_after_three_seconds() {
    let floor = |least: u64| RateFloor {
        operations: PerKind {
            read: Some(Rate::per_sec(least)),
            write: Some(Rate::per_sec(least)),
            ..PerKind::default()
        },
        cycle: Nanos::from_secs(1),
        ..RateFloor::default()
    };
    let run = |rate, least| {
        let load = job(&format!("rw=randread time_based runtime=100 rate_iops={rate}"));
        let mut worker = worker_of(&load, 0, |policy| policy.rules.floor = Some(floor(least)));
        drive(std::slice::from_mut(&mut worker), &mut memory(1), &Stop::new(), &mut NoObserver);
        (worker.ending(), worker.failures().first().map(|failure| failure.cause.clone()), worker.meter_mut().ios()[0])
    };
    let (ending, cause, ios) = run(100, 101);
    assert_eq!(ending, Some(Ending::Failed));
    assert!(
        matches!(cause, Some(FailureCause::BelowRate { floor: 101, measured: 99..=100, is_bytes: false })),
        "{cause:?}"
    );
    assert!((295..=305).contains(&ios), "{ios}: two seconds pass before the first cycle");
    assert_eq!(run(100, 99).0, Some(Ending::Runtime));
    // A rate holds itself, also below one operation per cycle.
    for rate in [1, 2, 3, 100] {
        assert_eq!(run(rate, rate).0, Some(Ending::Runtime), "{rate}");
    }
    assert_eq!(run(1, 2).0, Some(Ending::Failed));
}

#[test]
fn an_operation_that_takes_too_long_fails() {
    let load = job("rw=randread size=1m");
    let run = |most: Nanos| {
        let limit = PerKind { read: Some(most), ..PerKind::default() };
        let mut worker = worker_of(&load, 0, |policy| policy.rules.latency_max = limit);
        drive(std::slice::from_mut(&mut worker), &mut memory(1), &Stop::new(), &mut NoObserver);
        (worker.ending(), worker.failures().first().map(|failure| failure.cause.errno()))
    };
    assert_eq!(run(LATENCY), (Some(Ending::Complete), None));
    assert_eq!(run(LATENCY.since(Nanos::new(1))), (Some(Ending::Failed), Some(110)));
}

#[test]
fn overlapping_operations_wait_for_each_other_if_the_job_says_so() {
    // One of 16 blocks at a time: the second operation waits in one of 16 cases, the third in two of them, and so on.
    let load = job("rw=randwrite norandommap bs=64k iodepth=8 time_based runtime=1");
    let writes = |serializes: bool| {
        let mut worker = worker_of(&load, 0, |policy| policy.rules.serializes = serializes);
        drive(std::slice::from_mut(&mut worker), &mut memory(8), &Stop::new(), &mut NoObserver);
        worker.meter_mut().ios()[1]
    };
    let (free, serialized) = (writes(false), writes(true));
    assert!((79_000..=80_008).contains(&free), "{free}");
    assert!((35_000..60_000).contains(&serialized), "{serialized}");
}

#[test]
fn members_of_a_flow_issue_by_their_weights() {
    let load = job("rw=randread time_based runtime=2");
    let flow = Arc::new(Flow::default());
    let member = |weight| FlowMember { flow: Arc::clone(&flow), weight, pause: Nanos::from_micros(20) };
    let mut workers =
        [3, 2, 1].map(|weight| worker_of(&load, weight as u32, |policy| policy.rules.flow = Some(member(weight))));
    drive(&mut workers, &mut memory(3), &Stop::new(), &mut NoObserver);
    let ios = workers.each_mut().map(|worker| worker.meter_mut().ios()[0]);
    let is_near = |ios: u64, expected: u64| ios.abs_diff(expected) * 100 <= expected;
    assert!(ios[0] > 19_000 && is_near(ios[0], 3 * ios[2]) && is_near(ios[1], 2 * ios[2]), "{ios:?}");
}

#[test]
fn workers_with_a_lock_take_turns_unless_both_read() {
    let locks = |shares_reads| FileLocks { files: vec![Arc::<FileLock>::default()], shares_reads };
    // 256 blocks, four at a time, are 64 times the latency.
    for (direction, shares_reads, turns) in [("write", true, 2), ("read", false, 2), ("read", true, 1)] {
        let one = job(&format!("rw={direction} iodepth=4"));
        let locks = locks(shares_reads);
        let ran = ramped(&[one.clone(), one], |_, policy| policy.rules.locks = Some(locks.clone()));
        assert!(ran.iter().all(|(ios, _)| *ios == 256), "{ran:?}");
        let longest = ran.iter().map(|(_, runtime)| runtime.get()).max().expect("two workers");
        let alone = LATENCY.get() * 64 * turns;
        assert!((alone * 95 / 100..=alone * 125 / 100).contains(&longest), "{direction} {shares_reads}: {longest}");
    }
    // The end of the runtime finds one of them waiting.
    let endless = job("rw=randwrite time_based runtime=1 iodepth=4");
    let locks = locks(true);
    let ran = ramped(&[endless.clone(), endless], |_, policy| policy.rules.locks = Some(locks.clone()));
    let [(first, _), (second, _)] = ran[..] else { panic!("two workers") };
    assert!(first.min(second) * 2 > first.max(second) && first + second <= 40_000, "{ran:?}");
}

//! The loop over a target in memory, where time is exact, and over a target with injected faults.

use drive::{DriveObserver, DriveWorker, Ending, FailureCause, NoObserver, OnError, Stop, Verification, drive};
use job::Job;
use meter::{Meter, Summary};
use target::testing::{FaultPlan, FaultyTarget, Invalidated, MemoryModel, MemoryTarget};
use target::{Target, WriteBackSource};
use units::random::Random;
use units::{DataKind, Nanos, OpKind};

use crate::common::{FILE_BYTES, LATENCY, job, memory, worker_of};

fn run<T: Target>(worker: &mut DriveWorker, target: &mut T) -> Summary {
    drive(std::slice::from_mut(worker), target, &Stop::new(), &mut NoObserver);
    worker.meter_mut().finished()
}

fn run_job(options: &str) -> (Summary, DriveWorker) {
    let job = job(options);
    let mut worker = worker_of(&job, 0, |_| ());
    let summary = run(&mut worker, &mut memory(job.pace.iodepth));
    (summary, worker)
}

fn assert_close(value: f64, expected: f64, share: f64) {
    assert!((value - expected).abs() <= expected * share, "{value} instead of {expected} ± {}%", share * 100.0);
}

#[test]
fn a_closed_loop_keeps_its_depth_as_littles_law_requires() {
    for depth in [1, 2, 7, 32, 128] {
        let (summary, worker) = run_job(&format!("rw=randread time_based runtime=1 iodepth={depth}"));
        let read = summary.direction(DataKind::Read);
        // Each operation takes 100 µs, so `depth` of them complete every 100 µs.
        assert_close(read.iops_mean(), f64::from(depth) * 1e4, 0.001);
        assert_close(read.iops_mean() * read.latency.moments.mean_ns() / 1e9, f64::from(depth), 0.001);
        assert_eq!(worker.ending(), Some(Ending::Runtime));
        assert_eq!(summary.depth.total(), read.ios);
    }
}

#[test]
fn a_job_limited_by_size_accesses_each_block_once() {
    for rw in ["read", "randread", "write", "randwrite", "rw", "randrw"] {
        let (summary, worker) = run_job(&format!("rw={rw} iodepth=8"));
        assert_eq!((summary.ios(), summary.bytes()), (256, FILE_BYTES), "rw={rw}");
        assert_eq!(worker.ending(), Some(Ending::Complete));
    }
}

#[test]
fn the_requested_rate_is_achieved() {
    for process in ["linear", "poisson"] {
        for rate in [1_000u64, 10_000, 50_000, 150_000, 400_000, 600_000, 1_000_000] {
            // As many operations as 10 s allow, but at most 400,000 in a whole second.
            let seconds = (400_000 / rate).clamp(1, 10);
            let options = format!(
                "rw=randread time_based runtime={seconds} iodepth=1024 rate_iops={rate} rate_process={process}"
            );
            let (summary, _) = run_job(&options);
            let read = summary.direction(DataKind::Read);
            assert_close(read.ios as f64 / seconds as f64, rate as f64, 0.005);
            assert_eq!(summary.lateness.moments.max(), Nanos::ZERO, "no operation is late in virtual time");
        }
    }
}

/// A target that returns no completions for an interval.
struct Stalling {
    inner: MemoryTarget,
    from: Nanos,
    until: Nanos,
    held: Vec<target::Completion>,
}

impl Target for Stalling {
    fn now(&mut self) -> Nanos {
        self.inner.now()
    }
    fn submit(&mut self, op: target::Op) {
        self.inner.submit(op);
    }
    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<target::Completion>) {
        let already = done.len();
        let next = if self.held.is_empty() { until } else { until.min(self.until) };
        self.inner.wait(min, next, done);
        let now = self.inner.now();
        if (self.from..self.until).contains(&now) {
            self.held.extend(done.drain(already..));
        } else if now >= self.until {
            let released = self.held.drain(..).map(|held| target::Completion { completed: now, ..held });
            done.splice(already..already, released);
        }
    }
    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        self.inner.invalidate(file, offset, length);
    }
    fn buffer(&mut self, tag: target::Tag) -> Option<&mut [u8]> {
        self.inner.buffer(tag)
    }
}

#[test]
fn a_stall_is_visible_in_the_responses_of_all_delayed_operations() {
    let job = job("rw=randread time_based runtime=10 iodepth=4 rate_iops=1000");
    let mut worker = worker_of(&job, 0, |_| ());
    let (from, until) = (Nanos::from_secs(4), Nanos::from_secs(5));
    let mut target = Stalling { inner: memory(4), from, until, held: Vec::new() };
    let summary = run(&mut worker, &mut target);
    let read = summary.direction(DataKind::Read);
    // The stall takes one second in ten: a tenth of all operations were due in it, and waited up to a second.
    let response = read.response.histogram.percentile(95.0).expect("responses");
    assert!(response > Nanos::from_millis(400), "{response}");
    // By service time, only the few operations in flight were slow.
    let service = read.service.histogram.percentile(99.0).expect("services");
    assert!(service < Nanos::from_millis(1), "{service}");
    assert_close(read.ios as f64, 10_000.0, 0.005);
}

#[test]
fn operations_of_the_ramp_are_not_counted() {
    let (summary, _) = run_job("rw=randread time_based runtime=1 ramp_time=2 iodepth=4");
    let read = summary.direction(DataKind::Read);
    assert_close(read.ios as f64, 40_000.0, 0.001);
    assert_close(read.runtime.secs_f64(), 1.0, 0.001);
}

#[test]
fn a_failed_operation_ends_its_worker_unless_it_may_continue() {
    let job = job("rw=randread iodepth=4");
    let faults = FaultPlan { seed: 3, short: 0, eio: 50, eagain: 0, late: 0, ..FaultPlan::default() };
    let mut strict = worker_of(&job, 0, |_| ());
    let summary = run(&mut strict, &mut FaultyTarget::new(memory(4), faults));
    assert_eq!(strict.ending(), Some(Ending::Failed));
    assert_eq!(summary.first_error, 5);
    assert!(matches!(strict.failures()[0].cause, FailureCause::Errno(5)));
    assert!(summary.ios() < 256);

    let on_error = OnError { continue_on_read: true, ..OnError::default() };
    let mut tolerant = worker_of(&job, 0, |policy| policy.on_error = on_error);
    let mut target = FaultyTarget::new(memory(4), faults);
    let summary = run(&mut tolerant, &mut target);
    assert_eq!(tolerant.ending(), Some(Ending::Complete));
    assert_eq!(summary.errors, target.injected().eio);
    assert_eq!(summary.ios() + summary.errors, 256);
}

/// A target with a full file system.
struct Full(MemoryTarget);

impl Target for Full {
    fn now(&mut self) -> Nanos {
        self.0.now()
    }
    fn submit(&mut self, op: target::Op) {
        self.0.submit(op);
    }
    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<target::Completion>) {
        let already = done.len();
        self.0.wait(min, until, done);
        done[already..].iter_mut().for_each(|completion| completion.result = -28);
    }
    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        self.0.invalidate(file, offset, length);
    }
    fn buffer(&mut self, tag: target::Tag) -> Option<&mut [u8]> {
        self.0.buffer(tag)
    }
}

#[test]
fn a_full_filesystem_ends_a_worker_that_continues_after_errors() {
    let on_error =
        OnError { continue_on_read: true, continue_on_write: true, continue_on_verify: true, ..OnError::default() };
    let mut worker = worker_of(&job("rw=write"), 0, |policy| policy.on_error = on_error);
    let summary = run(&mut worker, &mut Full(memory(1)));
    assert_eq!(worker.ending(), Some(Ending::Failed));
    assert_eq!((summary.ios(), summary.errors, summary.first_error), (0, 1, 28));
}

#[test]
fn reading_past_the_end_of_a_file_is_reported_as_such() {
    let job = job("rw=read bs=4k");
    let mut worker = worker_of(&job, 0, |_| ());
    let model = MemoryModel { files: vec![FILE_BYTES / 2], depth: 1, buffer_bytes: 4096, ..MemoryModel::default() };
    run(&mut worker, &mut MemoryTarget::new(&model));
    assert_eq!(worker.ending(), Some(Ending::Failed));
    assert_eq!(worker.failures()[0].cause, FailureCause::EndOfFile);
    assert_eq!(worker.failures()[0].decision.offset, FILE_BYTES / 2);
}

#[test]
fn short_transfers_and_eagain_are_completed_and_counted_once() {
    let job = job("rw=randwrite iodepth=8 bs=16k");
    let faults = FaultPlan { seed: 9, short: 300, eio: 0, eagain: 300, late: 300, ..FaultPlan::default() };
    let mut worker = worker_of(&job, 0, |_| ());
    let mut target = FaultyTarget::new(memory(8), faults);
    let summary = run(&mut worker, &mut target);
    let write = summary.direction(DataKind::Write);
    assert_eq!((write.ios, write.bytes, summary.errors), (64, FILE_BYTES, 0));
    assert!(write.short_ios > 0 && target.injected().eagain > 0);
}

#[test]
fn written_data_are_read_back_and_a_flipped_bit_is_found() {
    let job = job("rw=randwrite verify=crc32c iodepth=4");
    let mut target = memory(4);
    let mut worker = worker_of(&job, 0, |_| ());
    let summary = run(&mut worker, &mut target);
    assert_eq!((summary.direction(DataKind::Write).ios, summary.direction(DataKind::Read).ios), (256, 256));
    assert_eq!(worker.ending(), Some(Ending::Complete));

    // The same job verifies what the first one wrote, after one bit was flipped.
    let job = Job { verify: job::VerifyOptions { only: true, ..job.verify.clone() }, ..job };
    target.file(0)[5 * 4096 + 777] ^= 0x40;
    let mut checker = worker_of(&job, 0, |_| ());
    let summary = run(&mut checker, &mut target);
    assert_eq!((summary.errors, summary.first_error), (1, 84));
    let FailureCause::Mismatch(mismatch) = &checker.failures()[0].cause else { panic!("a mismatch") };
    assert_eq!((mismatch.block, mismatch.offset), (5 * 4096, 5 * 4096 + 777));
    assert_eq!(summary.direction(DataKind::Read).ios, 256, "the other blocks are verified");
}

#[test]
fn verify_fatal_stops_at_the_first_mismatch() {
    let job = job("rw=write verify=crc32c verify_only=1 iodepth=1");
    let mut worker = worker_of(&job, 0, |policy| policy.verify_fatal = true);
    let summary = run(&mut worker, &mut memory(1));
    assert_eq!(worker.ending(), Some(Ending::Failed));
    assert_eq!((summary.errors, summary.ios()), (1, 1));
}

#[test]
fn end_fsync_follows_all_writes_even_at_the_end_of_the_runtime() {
    for limits in ["", " time_based runtime=1"] {
        let job = job(&format!("rw=write iodepth=8 end_fsync=1{limits}"));
        let mut target = Recording { inner: memory(8), kinds: Vec::new() };
        let mut worker = worker_of(&job, 0, |_| ());
        run(&mut worker, &mut target);
        let syncs = target.kinds.iter().filter(|kind| **kind == units::OpKind::Sync).count();
        assert_eq!((syncs, target.kinds.last()), (1, Some(&units::OpKind::Sync)), "{limits}");
    }
}

#[test]
fn end_syncfs_follows_all_writes() {
    let job = job("rw=write iodepth=8 end_syncfs=1");
    let mut target = Recording { inner: memory(8), kinds: Vec::new() };
    run(&mut worker_of(&job, 0, |_| ()), &mut target);
    let (last, before) = target.kinds.split_last().expect("it writes");
    assert_eq!(*last, units::OpKind::SyncFilesystem);
    assert!(before.iter().all(|kind| *kind == units::OpKind::Write));
}

struct Recording {
    inner: MemoryTarget,
    kinds: Vec<units::OpKind>,
}

impl Target for Recording {
    fn now(&mut self) -> Nanos {
        self.inner.now()
    }
    fn submit(&mut self, op: target::Op) {
        self.kinds.push(op.kind);
        self.inner.submit(op);
    }
    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<target::Completion>) {
        self.inner.wait(min, until, done);
    }
    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        self.inner.invalidate(file, offset, length);
    }
    fn buffer(&mut self, tag: target::Tag) -> Option<&mut [u8]> {
        self.inner.buffer(tag)
    }
}

/// Records the largest number of operations submitted before a wait.
struct SubmissionSizes {
    inner: MemoryTarget,
    held: u32,
    most: u32,
}

impl Target for SubmissionSizes {
    fn now(&mut self) -> Nanos {
        self.inner.now()
    }
    fn submit(&mut self, op: target::Op) {
        self.held += 1;
        self.inner.submit(op);
    }
    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<target::Completion>) {
        self.most = self.most.max(std::mem::take(&mut self.held));
        self.inner.wait(min, until, done);
    }
    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        self.inner.invalidate(file, offset, length);
    }
    fn buffer(&mut self, tag: target::Tag) -> Option<&mut [u8]> {
        self.inner.buffer(tag)
    }
}

/// Regression: a worker that was ready twice issued two groups as one.
#[test]
fn no_group_is_larger_than_requested_when_completions_come_in_groups() {
    for batch in [1, 3] {
        let job = job("rw=randread iodepth=16");
        let mut worker = worker_of(&job, 0, |policy| policy.batch = Some(batch));
        let mut target = SubmissionSizes { inner: memory(16), held: 0, most: 0 };
        assert_eq!(run(&mut worker, &mut target).ios(), 256);
        assert_eq!(target.most, batch);
    }
}

/// Stops the run at the first observation after an instant.
struct StopAt<'a>(Nanos, &'a Stop);

impl DriveObserver for StopAt<'_> {
    fn next_look(&mut self, now: Nanos) -> Nanos {
        now + Nanos::from_millis(100)
    }
    fn look(&mut self, _: usize, _: &mut Meter, now: Nanos) {
        if now >= self.0 {
            self.1.set();
        }
    }
}

#[test]
fn a_stopped_run_keeps_its_results() {
    let job = job("rw=randread time_based runtime=100 iodepth=2");
    let (stop, mut worker) = (Stop::new(), worker_of(&job, 0, |_| ()));
    let mut watch = StopAt(Nanos::from_secs(3), &stop);
    drive(std::slice::from_mut(&mut worker), &mut memory(2), &stop, &mut watch);
    assert_eq!(worker.ending(), Some(Ending::Stopped));
    let ios = worker.meter_mut().finished().ios() as f64;
    assert_close(ios, 60_000.0, 0.001);
}

#[test]
fn many_workers_share_one_virtual_clock() {
    let slow = job("rw=read iodepth=1 runtime=1 time_based");
    let deep = job("rw=randread iodepth=16 runtime=2 time_based");
    let paced = job("rw=randread iodepth=4 runtime=2 time_based rate_iops=500");
    let mut workers: Vec<DriveWorker> =
        [&slow, &deep, &paced, &deep].iter().zip(0..).map(|(job, index)| worker_of(job, index, |_| ())).collect();
    drive(&mut workers, &mut memory(1 + 16 + 4 + 16), &Stop::new(), &mut NoObserver);
    let ios: Vec<f64> = workers.iter_mut().map(|worker| worker.meter_mut().finished().ios() as f64).collect();
    for (ios, expected) in ios.into_iter().zip([10_000.0, 320_000.0, 1_000.0, 320_000.0]) {
        assert_close(ios, expected, 0.005);
    }
}

#[test]
fn groups_and_low_water_marks_are_respected() {
    let job = job("rw=randread iodepth=16");
    let mut worker = worker_of(&job, 0, |policy| {
        (policy.batch, policy.low, policy.complete_min) = (Some(4), Some(8), 8);
    });
    let summary = run(&mut worker, &mut memory(16));
    assert_eq!(summary.ios(), 256);
    // All groups have four operations: the class of 1 to 4.
    assert_eq!(summary.submit.0, [0, 64, 0, 0, 0, 0, 0]);
}

/// Draws a job, a policy and faults from a seed, and checks invariants of the result. The last printed seed is the one
/// that failed.
#[test]
#[allow(clippy::disallowed_macros, reason = "a failing seed must be printed")]
fn swarm() {
    for seed in 0..300 {
        let mut random = Random::new(seed, 77);
        let mut pick = |choices: &[&str]| choices[random.below(choices.len() as u64) as usize].to_owned();
        let options = [
            pick(&["rw=read", "rw=randread", "rw=write", "rw=randwrite", "rw=rw", "rw=randrw", "rw=randread:4"]),
            pick(&["iodepth=1", "iodepth=3", "iodepth=32"]),
            pick(&["bs=4k", "bs=512", "bsrange=4k-32k", "bssplit=4k/70:16k/30"]),
            pick(&["loops=1", "loops=3", "number_ios=100", "norandommap=1", "io_size=3m", "random_generator=lfsr"]),
            pick(&["fsync=0", "fsync=7", "fdatasync=5", "end_fsync=1", "end_syncfs=1", "sync_file_range=write:3"]),
            pick(&["rate_iops=0", "rate_iops=20k", "thinktime=50"]),
        ];
        let job = job(&options.join(" "));
        let faults = FaultPlan {
            seed,
            short: random.below(200) as u32,
            eio: random.below(2) as u32 * 20,
            eagain: random.below(200) as u32,
            late: random.below(200) as u32,
            ..FaultPlan::default()
        };
        println!("seed {seed}: {} {faults:?}", options.join(" "));
        let tolerant =
            OnError { continue_on_read: true, continue_on_write: true, continue_on_verify: true, ..OnError::default() };
        let mut worker = worker_of(&job, 0, |policy| {
            policy.on_error = tolerant;
            policy.batch = [None, Some(1), Some(5)][random.below(3) as usize];
            policy.complete_min = random.below(4) as u32;
        });
        let mut target = FaultyTarget::new(memory(job.pace.iodepth), faults);
        let summary = run(&mut worker, &mut target);
        assert_eq!(worker.ending(), Some(Ending::Complete));
        assert_eq!(summary.errors, target.injected().eio, "every failure is counted, and nothing else is");
        let counted: u64 = summary.directions.iter().map(|direction| direction.service.moments.count()).sum();
        assert_eq!(counted, summary.ios(), "every operation has one latency");
        assert!(summary.directions.iter().all(|d| d.service.moments.min() >= LATENCY || d.ios == 0));
        assert!(summary.ios() + summary.errors >= 1);
    }
}

/// Regression: in a loop over a file, all passes but the first were answered by the page cache.
#[test]
fn every_pass_over_a_file_begins_with_an_empty_cache() {
    let passes = |options: &str| {
        let mut target = memory(4);
        let summary = run(&mut worker_of(&job(options), 0, |_| ()), &mut target);
        assert_eq!(summary.ios(), 768, "{options}");
        target.invalidated().to_vec()
    };
    let call = |submissions| Invalidated { submissions, file: 0, offset: 0, length: FILE_BYTES };
    for options in ["rw=read loops=3", "rw=randread loops=3", "rw=randwrite loops=3", "rw=read iodepth=4 loops=3"] {
        assert_eq!(passes(options), [call(256), call(512)], "{options}");
    }
    let without_passes =
        ["rw=read loops=3 invalidate=0", "rw=read loops=3 direct=1", "rw=randread norandommap loops=3"];
    for options in without_passes {
        assert_eq!(passes(options), [], "{options}");
    }
}

/// Otherwise the first operation of each pass would be the slowest.
#[test]
fn invalidation_is_not_part_of_the_next_operations_latency() {
    struct Slow(MemoryTarget);
    impl Target for Slow {
        fn now(&mut self) -> Nanos {
            self.0.now()
        }
        fn submit(&mut self, op: target::Op) {
            self.0.submit(op);
        }
        fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<target::Completion>) {
            self.0.wait(min, until, done);
        }
        fn invalidate(&mut self, _: u32, _: u64, _: u64) {
            let until = self.0.now() + Nanos::from_millis(5);
            self.0.wait(u32::MAX, until, &mut Vec::new());
        }
        fn buffer(&mut self, tag: target::Tag) -> Option<&mut [u8]> {
            self.0.buffer(tag)
        }
    }
    let summary = run(&mut worker_of(&job("rw=read loops=3"), 0, |_| ()), &mut Slow(memory(1)));
    assert_eq!(summary.direction(DataKind::Read).latency.moments.max(), LATENCY);
    assert_eq!(summary.direction(DataKind::Read).runtime, Nanos::from_micros(768 * 100) + Nanos::from_millis(10));
}

/// Counts waits.
struct Waited {
    inner: MemoryTarget,
    waits: u64,
}

impl Target for Waited {
    fn now(&mut self) -> Nanos {
        self.inner.now()
    }
    fn submit(&mut self, op: target::Op) {
        self.inner.submit(op);
    }
    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<target::Completion>) {
        self.waits += 1;
        self.inner.wait(min, until, done);
    }
    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        self.inner.invalidate(file, offset, length);
    }
    fn buffer(&mut self, tag: target::Tag) -> Option<&mut [u8]> {
        self.inner.buffer(tag)
    }
}

/// A poll does not advance a virtual clock, so each one must follow a submission.
#[test]
fn the_loop_does_not_spin_if_time_passes_only_in_waits() {
    for (jitter_us, ios) in [(0, 320_000), (50, 256_000)] {
        for batch in [None, Some(1), Some(32)] {
            let job = job("rw=randread time_based runtime=1 iodepth=32");
            let mut worker = worker_of(&job, 0, |policy| policy.batch = batch);
            let jitter = Nanos::from_micros(jitter_us);
            let model = MemoryModel { latency: LATENCY, jitter, ..MemoryModel::default() };
            let mut target = Waited { inner: MemoryTarget::new(&model), waits: 0 };
            let done = run(&mut worker, &mut target).ios();
            if jitter_us == 0 {
                assert_eq!(done, ios, "batch={batch:?}");
            } else {
                assert_close(done as f64, ios as f64, 0.01);
            }
            assert!(target.waits < 2 * done, "{} waits for {done} operations, batch={batch:?}", target.waits);
        }
    }
}

/// Regression: data written until the end of the runtime were read back for as long again.
#[test]
fn each_loop_is_read_back_until_the_end_of_the_runtime() {
    let counts = |options: &str| {
        let (summary, worker) = run_job(&format!("rw=write verify=crc32c {options}"));
        let [reads, writes, _] = summary.directions.each_ref().map(|direction| direction.ios);
        (writes, reads, worker.ending())
    };
    // A pass of 256 operations of 100 µs takes 25.6 ms.
    assert_eq!(counts("loops=3"), (768, 768, Some(Ending::Complete)));
    assert_eq!(counts("runtime=60ms loops=9"), (344, 256, Some(Ending::Runtime)));
    assert_eq!(counts("runtime=40ms"), (256, 144, Some(Ending::Runtime)));
    assert_eq!(counts("runtime=20ms"), (200, 0, Some(Ending::Runtime)));
    assert_eq!(counts("runtime=60ms time_based"), (344, 256, Some(Ending::Runtime)));
    assert_eq!(counts("loops=3 do_verify=0"), (768, 0, Some(Ending::Complete)));
}

/// Regression: f52613e read nothing back after `runtime`, and nothing at all under `time_based`.
#[test]
fn verify_after_runtime_reads_back_everything_written() {
    let verified = |options: &str, most_lost: u32| {
        let job = job(&format!("verify=crc32c {options}"));
        let mut worker = worker_of(&job, 0, |policy| policy.verify_after_runtime = true);
        let faults = FaultPlan { short: 0, eio: 0, eagain: 0, late: 0, lost: most_lost, ..FaultPlan::default() };
        run(&mut worker, &mut FaultyTarget::new(memory(job.pace.iodepth), faults));
        let Verification { written, checked, mismatches, .. } = worker.verification();
        (written, checked, mismatches, worker.ending())
    };
    let runtime = Some(Ending::Runtime);
    // A pass of 256 operations of 100 µs takes 25.6 ms, and as long again to read back.
    for (options, written) in [
        ("rw=write runtime=20ms", 200),
        ("rw=write runtime=40ms", 256),
        ("rw=randwrite runtime=60ms loops=9", 344),
        ("rw=randwrite runtime=60ms time_based", 344),
        // 428 writes to 256 blocks, each read back once.
        ("rw=randwrite runtime=60ms time_based norandommap", 300),
        ("rw=write runtime=60ms time_based bs=4k", 344),
        ("rw=randtrimwrite runtime=10ms time_based", 50),
        ("rw=write runtime=20ms time_based ramp_time=10ms", 256),
        ("rw=write runtime=20ms time_based end_fsync=1", 200),
    ] {
        assert_eq!(verified(options, 0), (written, written, 0, runtime), "{options}");
        // Lost writes take no time, so more of them fit into the runtime.
        let (lost, checked, mismatches, _) = verified(options, 1000);
        assert!(lost >= written, "{options}: {lost} written");
        assert_eq!((checked, mismatches), (lost, lost), "{options}, all writes lost");
        let (.., mismatches, _) = verified(options, 100);
        assert!(mismatches > 0 && mismatches < written, "{options}: {mismatches} mismatches, one in ten lost");
    }
    assert_eq!(verified("rw=write do_verify=0 runtime=20ms", 0), (200, 0, 0, runtime));
    assert_eq!(verified("rw=write do_verify=0", 1000), (256, 0, 0, Some(Ending::Complete)));
}

/// A target whose caches cannot be emptied, or whose write-back fails.
struct Unsettled {
    inner: MemoryTarget,
    settled: Result<WriteBackSource, i32>,
}

impl Target for Unsettled {
    fn now(&mut self) -> Nanos {
        self.inner.now()
    }
    fn submit(&mut self, op: target::Op) {
        self.inner.submit(op);
    }
    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<target::Completion>) {
        self.inner.wait(min, until, done);
    }
    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        self.inner.invalidate(file, offset, length);
    }
    fn settle(&mut self, _: u32, _: u64, _: u64) -> Result<WriteBackSource, i32> {
        self.settled
    }
    fn buffer(&mut self, tag: target::Tag) -> Option<&mut [u8]> {
        self.inner.buffer(tag)
    }
}

/// Regression: both counted as verified.
#[test]
fn a_failed_write_back_and_a_remaining_cache_are_reported() {
    let verified = |settled, continues| {
        let mut worker = worker_of(&job("rw=write verify=crc32c"), 0, |policy| {
            policy.settle_before_verify = true;
            policy.on_error.continue_on_write = continues;
        });
        run(&mut worker, &mut Unsettled { inner: memory(1), settled });
        let Verification { written, checked, cached, .. } = worker.verification();
        let failures: Vec<_> = worker.failures().iter().map(|one| (one.decision.kind, one.cause.errno())).collect();
        assert_eq!(written, 256);
        (checked, cached, worker.ending(), failures)
    };
    assert_eq!(verified(Ok(WriteBackSource::Stored), false), (256, false, Some(Ending::Complete), vec![]));
    assert_eq!(verified(Ok(WriteBackSource::Cached), false), (256, true, Some(Ending::Complete), vec![]));
    let failed = vec![(OpKind::DataSync, 5)];
    assert_eq!(verified(Err(5), false), (0, false, Some(Ending::Failed), failed.clone()));
    assert_eq!(verified(Err(5), true), (256, false, Some(Ending::Complete), failed));
}

#[test]
fn failed_writes_do_not_count_as_written() {
    let job = job("rw=write verify=crc32c do_verify=0");
    let tolerant =
        OnError { continue_on_read: true, continue_on_write: true, continue_on_verify: true, ..OnError::default() };
    let mut worker = worker_of(&job, 0, |policy| policy.on_error = tolerant);
    let faults = FaultPlan { short: 0, eio: 500, eagain: 0, late: 0, ..FaultPlan::default() };
    let mut target = FaultyTarget::new(memory(1), faults);
    run(&mut worker, &mut target);
    assert_eq!(worker.verification().written, 256 - target.injected().eio);
    assert!(target.injected().eio > 50);
}

/// A target of one file in which one in ten writes fails, and leaves damaged blocks.
struct FailingWrites {
    inner: MemoryTarget,
    writes: u64,
    failing: Vec<target::Op>,
}

impl Target for FailingWrites {
    fn now(&mut self) -> Nanos {
        self.inner.now()
    }
    fn submit(&mut self, op: target::Op) {
        if op.kind == OpKind::Write {
            self.writes += 1;
            self.failing.extend(Some(op).filter(|_| self.writes.is_multiple_of(10)));
        }
        self.inner.submit(op);
    }
    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<target::Completion>) {
        self.inner.wait(min, until, done);
        for completion in done {
            if let Some(index) = self.failing.iter().position(|op| op.tag == completion.tag) {
                let op = self.failing.swap_remove(index);
                self.inner.file(0)[op.offset as usize..][..op.length as usize].fill(0xee);
                completion.result = -5;
            }
        }
    }
    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        self.inner.invalidate(file, offset, length);
    }
    fn buffer(&mut self, tag: target::Tag) -> Option<&mut [u8]> {
        self.inner.buffer(tag)
    }
}

/// 5aa1e091 read them back, so that "1,024 of 953 written blocks" were checked and the others called damaged.
#[test]
fn blocks_whose_writes_failed_were_checked() {
    for (options, blocks) in [
        ("rw=write", 256),
        ("rw=randwrite loops=3", 768),
        ("rw=randwrite verify_backlog=20", 256),
        ("rw=randwrite norandommap io_size=4m", 256),
        ("rw=randwrite norandommap io_size=4m bsrange=4k-16k", 256),
        ("rw=randtrimwrite", 256),
        ("rw=randwrite trim_percentage=50 trim_backlog=8", 256),
        ("rw=randwrite trim_percentage=50 trim_backlog=8 trim_verify_zero=0", 256),
    ] {
        for verify in ["crc32c", "pattern verify_pattern=0xab"] {
            let job = job(&format!("verify={verify} {options}"));
            let mut worker = worker_of(&job, 0, |policy| policy.on_error.continue_on_write = true);
            let mut target = FailingWrites { inner: memory(job.pace.iodepth), writes: 0, failing: Vec::new() };
            run(&mut worker, &mut target);
            let Verification { written, checked, mismatches, .. } = worker.verification();
            assert_eq!(mismatches, 0, "{options} {verify}: {:?}", worker.failures());
            assert!(checked == written && (1..blocks).contains(&written), "{options} {verify}: {checked} of {written}");
        }
    }
}

/// Regression: the whole transfer was kept, with the offset of the transfer.
#[test]
fn only_the_damaged_block_of_a_transfer_is_kept() {
    let job = job("rw=write bs=16k verify=crc32c verify_interval=4k");
    let mut target = memory(1);
    run(&mut worker_of(&job, 0, |_| ()), &mut target);
    target.file(0)[5 * 4096 + 777] ^= 0x40;
    let job = Job { verify: job::VerifyOptions { only: true, ..job.verify.clone() }, ..job };
    let mut checker = worker_of(&job, 0, |policy| policy.keep_damaged = true);
    run(&mut checker, &mut target);
    let damaged = checker.failures()[0].damaged.clone().expect("the policy keeps damaged blocks");
    assert!(damaged.found == target.file(0)[5 * 4096..6 * 4096]);
    assert_eq!(damaged.expected[777], damaged.found[777] ^ 0x40);
    assert_eq!(damaged.expected.len(), 4096);
}

/// Regression: the option was accepted without effect.
#[test]
fn at_most_the_requested_number_of_completions_is_taken_at_a_time() {
    for (least, most, class) in [(1, 4, 1), (2, 8, 2), (0, 1, 1)] {
        let job = job("rw=randread iodepth=16");
        let mut worker = worker_of(&job, 0, |policy| {
            (policy.complete_min, policy.complete_max) = (least, Some(most));
        });
        let mut target = Waited { inner: memory(16), waits: 0 };
        let summary = run(&mut worker, &mut target);
        assert_eq!(summary.ios(), 256);
        // All operations take equally long, so the maximum is always available.
        let mut expected = [0; 7];
        expected[class] = u64::from(256 / most);
        assert_eq!(summary.complete.0, expected, "{least} to {most}");
        assert!(target.waits < 2 * 256, "{} waits", target.waits);
    }
}

#[test]
fn workers_that_take_few_completions_at_a_time_share_a_clock_and_keep_their_timers() {
    let slow = job("rw=randread iodepth=16 runtime=1 time_based");
    let paced = job("rw=randread iodepth=16 runtime=1 time_based rate_iops=20000");
    let mut workers: Vec<DriveWorker> = [&slow, &paced]
        .into_iter()
        .zip(0..)
        .map(|(job, index)| worker_of(job, index, |policy| policy.complete_max = Some(1)))
        .collect();
    drive(&mut workers, &mut memory(32), &Stop::new(), &mut NoObserver);
    let ios: Vec<f64> = workers.iter_mut().map(|worker| worker.meter_mut().finished().ios() as f64).collect();
    assert_close(ios[0], 160_000.0, 0.005);
    assert_close(ios[1], 20_000.0, 0.005);
}

/// Stops the run after three overdue observations.
struct Impatient<'a> {
    asked: u32,
    stop: &'a Stop,
}

impl DriveObserver for Impatient<'_> {
    fn next_look(&mut self, _: Nanos) -> Nanos {
        Nanos::MAX
    }
    fn is_overdue(&mut self) -> bool {
        self.asked += 1;
        true
    }
    fn look(&mut self, _: usize, _: &mut Meter, _: Nanos) {
        if self.asked >= 3 {
            self.stop.set();
        }
    }
}

/// Regression: if operations took no time, the instant of the next observation was never reached.
#[test]
fn a_run_in_which_time_does_not_pass_can_be_stopped() {
    let job = job("rw=randread time_based runtime=100 iodepth=2");
    let (stop, mut worker) = (Stop::new(), worker_of(&job, 0, |_| ()));
    let instant = MemoryModel { files: vec![FILE_BYTES], depth: 2, buffer_bytes: 4096, ..MemoryModel::default() };
    let mut target = MemoryTarget::new(&MemoryModel { latency: Nanos::ZERO, ..instant });
    drive(std::slice::from_mut(&mut worker), &mut target, &stop, &mut Impatient { asked: 0, stop: &stop });
    assert_eq!((worker.ending(), target.now()), (Some(Ending::Stopped), Nanos::ZERO));
}

/// Abandons the run at an instant of the target's clock.
struct AbandonAt<'a>(Nanos, &'a Stop);

impl DriveObserver for AbandonAt<'_> {
    fn next_look(&mut self, now: Nanos) -> Nanos {
        now + Nanos::from_millis(100)
    }
    fn look(&mut self, _: usize, _: &mut Meter, now: Nanos) {
        if now >= self.0 {
            self.1.abandon();
        }
    }
}

/// A loop that waits for operations in flight never returns from a target that completes nothing.
#[test]
fn an_abandoned_run_lists_operations_in_flight_and_keeps_its_results() {
    let job = job("rw=randread time_based runtime=100 iodepth=4");
    let (stop, mut worker) = (Stop::new(), worker_of(&job, 0, |_| ()));
    let latency = Nanos::from_secs(30);
    let model =
        MemoryModel { files: vec![FILE_BYTES], depth: 4, buffer_bytes: 64 << 10, latency, ..MemoryModel::default() };
    let mut watch = AbandonAt(Nanos::from_secs(40), &stop);
    drive(std::slice::from_mut(&mut worker), &mut MemoryTarget::new(&model), &stop, &mut watch);
    assert_eq!((worker.ending(), worker.meter_mut().finished().ios()), (Some(Ending::Stopped), 4));
    let waited: Vec<Nanos> = worker.abandoned().iter().map(|abandoned| abandoned.waited).collect();
    assert_eq!(waited.len(), 4);
    assert!(waited.iter().all(|waited| (9..11).contains(&(waited.millis() / 1000))), "{waited:?}");
}

/// Regression: workers that waited for their start issued operations for 200 ms after the stop.
#[test]
fn a_run_stopped_before_it_began_issues_nothing() {
    let job = job("rw=randread time_based runtime=100 iodepth=4");
    let (stop, mut worker) = (Stop::new(), worker_of(&job, 0, |_| ()));
    stop.set();
    drive(std::slice::from_mut(&mut worker), &mut memory(4), &stop, &mut NoObserver);
    assert_eq!((worker.ending(), worker.meter_mut().finished().ios()), (Some(Ending::Stopped), 0));
}

//! Each finding, from a run that shows it and from one that does not.

mod loads;

use analyse::{Code, Finding, Observation, Quantity, Remedy, Severity, Verdict, analyse, distrusted, explain_job};
use loads::{SECOND_NS, file, latency, queue_full};
use record::{DeclaredPerKind, DirectionResult, DiskUse, LatencyStats, Run, RunOutcome, TargetKind};

fn verdict(run: &Run) -> Verdict {
    analyse(run).remove(0)
}

fn finding(run: &Run, code: Code) -> Option<Finding> {
    verdict(run).findings().find(|finding| finding.code == code).cloned()
}

#[test]
fn a_full_queue_leaves_the_question_open_and_says_how_to_settle_it() {
    let headline = verdict(&queue_full(32, 1_000_000)).headline;
    assert_eq!((headline.code, headline.severity), (Code::QueueFull, Severity::Info));
    assert_eq!(headline.remedy, Some(Remedy::CompareDepth { iodepth: 64 }));
    assert!((headline.value(Quantity::InFlightAchieved).unwrap() - 32.0).abs() < 0.01);
    assert!((headline.value(Quantity::Iops).unwrap() - 32_000.0).abs() < 1.0);
}

#[test]
fn equal_times_at_a_steady_pace_are_a_limiters_mark() {
    let mut run = queue_full(32, 1_000_000);
    run.jobs[0].result.read.service.stddev_ns = 60_000.0;
    assert_eq!(verdict(&run).headline.code, Code::DeviceFlat);
    run.jobs[0].result.series.intervals[7].ios[0] /= 2;
    assert_eq!(verdict(&run).headline.code, Code::QueueFull);
}

/// On 4 in flight of 1,527 operations a single pause of the host for 90 ms was reported as a limiter.
#[test]
fn a_single_pause_of_the_host_is_no_throttle() {
    let slow = |pauses: u64| {
        let mut run = queue_full(4, 25_000_000);
        let service = &mut run.jobs[0].result.read.service;
        service.buckets.push((loads::meter_bucket(250_000_000), 4 * pauses));
        service.count += 4 * pauses;
        finding(&run, Code::Throttled).is_some()
    };
    assert_eq!([1, 3, 4, 30].map(slow), [false, false, true, true]);
}

/// `group_reporting` described two unlike jobs by one of them, and advised a depth for it.
#[test]
fn unlike_jobs_in_one_result_get_no_advice_for_one_of_them() {
    let mut run = queue_full(32, 1_000_000);
    let declared = &mut run.jobs[0].declared;
    (declared.iodepth, declared.iodepth_effective) = (32, 1);
    declared.mixed = vec![record::Mixed::default(), record::Mixed { iodepth: 1, ..record::Mixed::default() }];
    let verdict = verdict(&run);
    assert_eq!(verdict.headline.code, Code::LimitUnknown);
    assert_eq!(verdict.headline.remedy, Some(Remedy::SeparateResults));
    assert_eq!(verdict.headline.value(Quantity::UnlikeJobs), Some(2.0));
    let remedies: Vec<_> = verdict.others.iter().filter_map(|finding| finding.remedy).collect();
    assert!(!remedies.iter().any(|remedy| matches!(remedy, Remedy::QueueingEngine { .. })), "{remedies:?}");
}

#[test]
fn one_at_a_time_is_bound_by_latency() {
    let headline = verdict(&queue_full(1, 100_000)).headline;
    assert_eq!(headline.code, Code::LatencyBound);
    assert_eq!(headline.remedy, Some(Remedy::RaiseDepth { iodepth: 32 }));
}

#[test]
fn a_depth_that_the_engine_cannot_keep_is_a_warning() {
    let mut run = queue_full(1, 100_000);
    let declared = &mut run.jobs[0].declared;
    (declared.iodepth, declared.in_flight_asked, declared.queues) = (32, 32, false);
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.severity), (Code::EngineNotAsynchronous, Severity::Warning));
    assert_eq!(headline.remedy, Some(Remedy::QueueingEngine { iodepth: 32 }));
    assert_eq!(finding(&run, Code::LatencyBound).unwrap().remedy, None);
}

/// 31 of 32 were in flight by fio's account, and one at the device.
#[test]
fn an_engine_that_waits_at_submission_is_told_by_its_time_there() {
    let mut run = queue_full(32, 1_900_000);
    let ios = run.jobs[0].result.read.ios;
    let submitting = |run: &mut Run, mean_ns: u64| {
        run.jobs[0].result.read.submission = latency(ios, mean_ns, 0);
        finding(run, Code::EngineNotAsynchronous)
    };
    assert_eq!(submitting(&mut run, 45_000), None);
    assert_eq!(submitting(&mut run, 58_000).unwrap().remedy, Some(Remedy::QueueingEngine { iodepth: 32 }));
    run.jobs[0].declared.direct = false;
    assert_eq!(submitting(&mut run, 58_000).unwrap().remedy, Some(Remedy::Direct));
    // Eight at a time wait for eight times as long, and for as much as before together.
    run.jobs[0].result.submit = record::Shares::of([0, 0, ios / 8, 0, 0, 0, 0]);
    assert_eq!(submitting(&mut run, 58_000), None);
    let share = submitting(&mut run, 8 * 58_000).unwrap().value(Quantity::SubmissionShare).unwrap();
    assert!((0.8..=1.0).contains(&share), "{share}");
    run.jobs[0].result.cpu.user_ns = 25 * SECOND_NS;
    assert_eq!(submitting(&mut run, 8 * 58_000), None, "copying from memory is work and no waiting");
}

#[test]
fn a_busy_processor_is_the_limit_unless_it_polls() {
    let mut run = queue_full(32, 1_000_000);
    run.jobs[0].result.cpu.user_ns = 28 * SECOND_NS;
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.remedy), (Code::GeneratorCpuBound, Some(Remedy::AddWorkers { numjobs: 2 })));
    run.jobs[0].declared.polled = true;
    assert_eq!(verdict(&run).headline.code, Code::QueueFull);
}

#[test]
fn all_processors_busy_together_are_the_limit_and_more_workers_no_help() {
    let mut run = queue_full(32, 1_000_000);
    run.host.cpus = 1;
    run.jobs[0].result.cpu.user_ns = 14 * SECOND_NS;
    let other = run.jobs[0].clone();
    run.jobs.push(other);
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.remedy), (Code::GeneratorCpuBound, None));
}

#[test]
fn a_queue_that_is_not_kept_full_is_told_apart() {
    let mut run = queue_full(16, 1_000_000);
    (run.jobs[0].declared.iodepth_effective, run.jobs[0].declared.in_flight_possible) = (32, 32);
    assert_eq!(verdict(&run).headline.code, Code::QueueNotFilled);
}

#[test]
fn little_needs_service_times() {
    let mut run = queue_full(16, 1_000_000);
    run.jobs[0].result.read.service = LatencyStats::default();
    assert_eq!(verdict(&run).headline.code, Code::LimitUnknown);
}

#[test]
fn a_device_that_is_not_there_answers_in_no_time() {
    let mut run = queue_full(16, 1_000_000);
    run.jobs[0].result.read.service = LatencyStats::default();
    run.jobs[0].declared.device = false;
    let headline = verdict(&run).headline;
    assert_eq!(headline.code, Code::NoDevice);
    assert!(headline.value(Quantity::Iops).is_some());
}

#[test]
fn nothing_at_all_is_distrusted() {
    let mut run = queue_full(16, 1_000_000);
    run.jobs[0].result.read = DirectionResult::default();
    assert_eq!(verdict(&run).headline.code, Code::NothingMeasured);
    assert!(distrusted(&analyse(&run)));
}

#[test]
fn without_a_device_the_generator_was_measured() {
    let mut run = queue_full(16, 1_000_000);
    run.jobs[0].declared.device = false;
    assert_eq!(verdict(&run).headline.code, Code::NoDevice);
    run.jobs[0].declared.device = true;
    file(&mut run).kind = TargetKind::Memory;
    assert_eq!(verdict(&run).headline.code, Code::NoDevice);
}

#[test]
fn a_rate_is_kept_or_needs_a_deeper_queue() {
    let mut run = queue_full(8, 1_000_000);
    run.jobs[0].declared.rate_iops = DeclaredPerKind { read: Some(8_000), ..DeclaredPerKind::default() };
    assert_eq!(verdict(&run).headline.code, Code::RateKept);
    run.jobs[0].declared.rate_iops.read = Some(20_000);
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.severity), (Code::QueueTooShallow, Severity::Warning));
    // 20,000 per second at 1 ms each are 20 in flight on average; twice that leaves room.
    assert!((headline.value(Quantity::InFlightNeeded).unwrap() - 20.0).abs() < 0.01);
    assert_eq!(headline.remedy, Some(Remedy::RaiseDepth { iodepth: 40 }));
}

#[test]
fn a_rate_in_bytes_counts_bytes() {
    let mut run = queue_full(8, 1_000_000);
    run.jobs[0].declared.rate_bytes = DeclaredPerKind { read: Some(8_000 * 4096), ..DeclaredPerKind::default() };
    assert_eq!(verdict(&run).headline.code, Code::RateKept);
    run.jobs[0].declared.in_flight_possible = 64;
    run.jobs[0].declared.rate_bytes.read = Some(9_000 * 4096);
    assert_eq!(verdict(&run).headline.code, Code::RateNotReached);
}

#[test]
fn a_late_generator_is_not_to_be_trusted() {
    let mut run = queue_full(8, 1_000_000);
    run.jobs[0].declared.rate_iops = DeclaredPerKind { read: Some(8_000), ..DeclaredPerKind::default() };
    run.jobs[0].result.read.response = latency(1000, 1_000_000, 0);
    for (late_ns, severity) in [(5_000, None), (200_000, Some(Severity::Warning)), (600_000, Some(Severity::Distrust))]
    {
        run.jobs[0].result.lateness = latency(1000, late_ns, 0);
        let found = finding(&run, Code::LatenessSignificant);
        assert_eq!(found.map(|finding| finding.severity), severity, "{late_ns} ns");
    }
}

#[test]
fn buffered_reads_that_the_device_never_saw_came_from_the_page_cache() {
    let mut run = queue_full(1, 2_000);
    run.jobs[0].declared.direct = false;
    run.disks = vec![DiskUse { name: "vda".to_owned(), read_ios: 3, read_sectors: 24, ..DiskUse::default() }];
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.severity), (Code::PageCacheMeasured, Severity::Distrust));
    assert_eq!(headline.value(Quantity::DeviceBytes), Some(24.0 * 512.0));
    // Who says direct=0 means it.
    run.jobs[0].echo = vec![("direct".to_owned(), "0".to_owned())];
    assert_eq!(finding(&run, Code::PageCacheMeasured).unwrap().severity, Severity::Warning);
    // The device's counters outweigh the speed.
    run.disks[0].read_sectors = run.jobs[0].result.read.bytes / 512;
    assert_eq!(finding(&run, Code::PageCacheMeasured), None);
}

#[test]
fn without_counters_the_cached_share_or_the_speed_tells() {
    let mut run = queue_full(1, 80_000);
    run.jobs[0].declared.direct = false;
    assert_eq!(finding(&run, Code::PageCacheMeasured), None);
    file(&mut run).cached_before = Some(0.9);
    assert_eq!(finding(&run, Code::PageCacheMeasured).unwrap().value(Quantity::CachedShare), Some(0.9));
    let mut run = queue_full(1, 2_000);
    run.jobs[0].declared.direct = false;
    assert!(finding(&run, Code::PageCacheMeasured).unwrap().value(Quantity::ServiceP50).unwrap() < 2_100.0);
    // Read-ahead makes reads in sequence as fast.
    run.jobs[0].declared.rw = "read".to_owned();
    assert_eq!(finding(&run, Code::PageCacheMeasured), None);
}

#[test]
fn buffered_writes_need_a_sync_or_a_device_that_saw_them() {
    let mut run = queue_full(1, 80_000);
    let job = &mut run.jobs[0];
    job.declared.direct = false;
    job.result.write = std::mem::take(&mut job.result.read);
    let bytes = job.result.write.bytes;
    assert_eq!(finding(&run, Code::BufferedWritesUnsynced).unwrap().severity, Severity::Distrust);
    run.disks = vec![DiskUse { write_ios: 9, write_sectors: bytes / 512, ..DiskUse::default() }];
    assert_eq!(finding(&run, Code::BufferedWritesUnsynced), None);
    run.disks.clear();
    run.jobs[0].declared.syncs = true;
    assert_eq!(finding(&run, Code::BufferedWritesUnsynced), None);
}

/// Text for people does not say `direct`; writes past the cache were called writes to memory.
#[test]
fn what_a_header_does_not_say_is_not_held_against_it() {
    let mut run = queue_full(1, 80_000);
    let job = &mut run.jobs[0];
    (job.declared.direct, job.declared.header_only) = (false, true);
    job.result.write = std::mem::take(&mut job.result.read);
    let bytes = job.result.write.bytes;
    assert_eq!(finding(&run, Code::BufferedWritesUnsynced), None);
    run.disks = vec![DiskUse { write_ios: 9, write_sectors: bytes / 2048, ..DiskUse::default() }];
    assert_eq!(finding(&run, Code::BufferedWritesUnsynced).unwrap().severity, Severity::Warning);
    assert_eq!(Observation::of(&run, &run.jobs[0]).direct, None);
}

/// Submissions that wait for the device are those of `libaio` through the page cache.
#[test]
fn text_tells_an_engine_that_waits_by_its_submissions() {
    let mut run = queue_full(1, 1_000_000);
    let job = &mut run.jobs[0];
    (job.declared.header_only, job.declared.iodepth) = (true, 32);
    (job.declared.iodepth_effective, job.declared.in_flight_possible) = (32, 32);
    job.result.read.latency = latency(30_000, 1_000_000, 0);
    let waits = |run: &Run| {
        let found = explain_job(run, 0, &Observation::of(run, &run.jobs[0]), None).findings;
        found.iter().any(|finding| finding.code == Code::EngineNotAsynchronous)
    };
    assert!(!waits(&run), "a pace may keep a queue empty");
    run.jobs[0].result.read.submission = latency(30_000, 990_000, 0);
    assert!(waits(&run));
}

#[test]
fn holes_are_not_the_device() {
    let mut run = queue_full(32, 1_000_000);
    file(&mut run).allocated = Some(0);
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.remedy), (Code::HolesRead, Some(Remedy::WriteFirst)));
    file(&mut run).allocated = Some(1 << 30);
    assert_eq!(finding(&run, Code::HolesRead), None);
}

#[test]
fn errors_are_distrusted_unless_they_were_expected() {
    let mut run = queue_full(32, 1_000_000);
    (run.jobs[0].result.errors, run.jobs[0].result.first_error) = (3, 5);
    assert_eq!(verdict(&run).headline.code, Code::ErrorsSeen);
    assert!(verdict(&run).distrusted());
    run.jobs[0].declared.continue_on_error = true;
    assert!(!verdict(&run).distrusted());
    assert_eq!(finding(&run, Code::ErrorsSeen).unwrap().value(Quantity::FirstError), Some(5.0));
}

#[test]
fn a_run_of_two_halves_is_told() {
    let mut run = queue_full(32, 1_000_000);
    run.jobs[0].result.series.intervals[15..].iter_mut().for_each(|interval| interval.ios[0] /= 3);
    let found = finding(&run, Code::BurstUsedUp).unwrap();
    let ratio = found.value(Quantity::EarlyIops).unwrap() / found.value(Quantity::LateIops).unwrap();
    assert!((ratio - 3.0).abs() < 0.01);
    assert_eq!(found.value(Quantity::ChangedAt), Some(15e9));
    assert_eq!(finding(&run, Code::BurstOrDrift), None, "one change is told once");
}

#[test]
fn a_slow_decline_is_told() {
    let mut run = queue_full(32, 1_000_000);
    let intervals = &mut run.jobs[0].result.series.intervals;
    (0..).zip(intervals.iter_mut()).for_each(|(at, interval)| interval.ios[0] -= at * interval.ios[0] / 60);
    assert!(finding(&run, Code::BurstOrDrift).is_some());
}

#[test]
fn short_and_interrupted_runs_are_told() {
    let mut run = queue_full(32, 1_000_000);
    assert_eq!((finding(&run, Code::ShortRun), finding(&run, Code::Interrupted)), (None, None));
    run.outcome = RunOutcome::Interrupted;
    run.jobs[0].result.runtime_ns = SECOND_NS;
    assert_eq!(finding(&run, Code::ShortRun).unwrap().remedy, Some(Remedy::RunLonger { runtime_s: 30 }));
    assert_eq!(finding(&run, Code::Interrupted).unwrap().severity, Severity::Info);
    assert_eq!(verdict(&run).headline.code, Code::QueueFull, "what limited a run matters more than how long it was");
}

#[test]
fn the_headline_is_what_matters_most() {
    let mut run = queue_full(1, 2_000);
    let job = &mut run.jobs[0];
    job.declared.direct = false;
    (job.declared.iodepth, job.declared.in_flight_asked) = (32, 32);
    let verdict = verdict(&run);
    assert_eq!(verdict.headline.code, Code::PageCacheMeasured);
    let severities: Vec<Severity> = verdict.findings().map(|finding| finding.severity).collect();
    assert!(severities.is_sorted_by(|a, b| a >= b), "{severities:?}");
}

/// A run on a volume whose bucket of credits pays for its burst.
fn bursting(empty_at_ns: Option<u64>) -> record::Run {
    let mut run = queue_full(32, 1_000_000);
    let held = |name: &str, delayed: u64| record::ModelStage {
        name: name.to_owned(),
        requests: 1_000_000,
        delayed,
        decided: delayed,
        delay_ns: delayed * delayed,
        utilisation: 1.0,
        ..record::ModelStage::default()
    };
    let credits = record::ModelCredits { bytes: false, most: 5.4e6, left: 5.39e6, spent_per_sec: 2_700.0, empty_at_ns };
    // Neither held more than half back, both together nearly all.
    let (bucket, burst) = if empty_at_ns.is_some() { (490_000, 480_000) } else { (0, 900_000) };
    let base = record::ModelStage { utilisation: 10.0, credits: Some(credits), ..held("volume IOPS", bucket) };
    run.model =
        Some(record::ModelRecord { stages: vec![base, held("burst IOPS", burst)], ..record::ModelRecord::default() });
    run
}

#[test]
fn a_burst_says_how_long_its_credits_last() {
    let found = finding(&bursting(None), Code::ModelHeldBack).unwrap();
    assert_eq!(found.subject.as_deref(), Some("burst IOPS"));
    assert_eq!(found.value(Quantity::CreditsLeft), Some(5.39e6));
    assert_eq!(found.value(Quantity::CreditsSpent), Some(2_700.0));
    assert!((found.value(Quantity::CreditsLast).unwrap() / 1e9 - 1996.3).abs() < 0.1);
}

/// It was told to go deeper for a limit that was used up.
#[test]
fn a_limit_that_is_used_up_at_the_knee_is_the_limit() {
    let of = |utilisation: f64| {
        let mut run = queue_full(2, 1_000_000);
        let stage = record::ModelStage { requests: 1000, utilisation, ..record::ModelStage::default() };
        run.model = Some(record::ModelRecord { stages: vec![stage], ..record::ModelRecord::default() });
        verdict(&run).headline.code
    };
    assert_eq!((of(0.99), of(0.9)), (Code::ModelHeldBack, Code::ModelNotReached));
}

#[test]
fn credits_that_ran_out_are_why_the_pace_changed() {
    let mut run = bursting(Some(15 * SECOND_NS));
    run.jobs[0].result.series.intervals[15..].iter_mut().for_each(|interval| interval.ios[0] /= 3);
    let found = finding(&run, Code::BurstOrDrift).unwrap();
    assert_eq!((found.subject.as_deref(), found.remedy), (Some("volume IOPS"), None));
    assert_eq!(found.value(Quantity::CreditsGone), Some(15e9));
    let held = finding(&run, Code::ModelHeldBack).unwrap();
    assert_eq!((held.value(Quantity::CreditsGone), held.value(Quantity::CreditsLast)), (Some(15e9), None));
}

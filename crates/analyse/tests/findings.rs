//! Findings about runs, each with a run that raises it and one that does not.

use analyse::{
    Code, EvidenceSource, Finding, Observation, Quantity, Remedy, Severity, Verdict, analyse, distrusted, explain_job,
};
use record::{
    DataKind, DepthSearchRecord, DirectionResult, DiskUse, EstimatedLoad, LatencyStats, Quote, Quoted, ReplayRecord,
    Run, RunOutcome, TargetKind,
};
use units::PerKind;

use crate::loads;
use crate::loads::{SECOND_NS, file, latency, queue_full};

fn verdict(run: &Run) -> Verdict {
    analyse(run).remove(0)
}

fn finding(run: &Run, code: Code) -> Option<Finding> {
    verdict(run).findings().find(|finding| finding.code == code).cloned()
}

#[test]
fn full_queue_recommends_the_deciding_experiment() {
    let headline = verdict(&queue_full(32, 1_000_000)).headline;
    assert_eq!((headline.code, headline.severity), (Code::QueueFull, Severity::Info));
    assert_eq!(headline.remedy, Some(Remedy::CompareDepth { iodepth: 64 }));
    assert!((headline.value(Quantity::InFlightAchieved).unwrap() - 32.0).abs() < 0.01);
    assert!((headline.value(Quantity::Iops).unwrap() - 32_000.0).abs() < 1.0);
}

/// Another `iodepth` was advised, and probed, for engines that ignore it.
#[test]
fn engines_without_a_queue_are_compared_by_workers() {
    let mut run = queue_full(32, 1_000_000);
    let job = &mut run.jobs[0];
    (job.workers, job.declared.queues) = (32, false);
    (job.declared.iodepth, job.declared.iodepth_effective) = (1, 1);
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.remedy), (Code::QueueFull, Some(Remedy::CompareWorkers { numjobs: 64 })));
}

/// The device was said not to be saturated, and more workers were advised.
#[test]
fn syncs_explain_a_queue_that_is_not_full() {
    let mut run = queue_full(16, 1_000_000);
    (run.jobs[0].declared.iodepth_effective, run.jobs[0].declared.in_flight_possible) = (32, Some(32));
    let seconds = run.jobs[0].result.elapsed_ns() as f64 / 1e9;
    run.jobs[0].result.sync = latency((100.0 * seconds) as u64, 40_000_000, 0);
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.remedy), (Code::QueueNotFilled, None));
    assert!((headline.value(Quantity::SyncsInFlight).unwrap() - 4.0).abs() < 0.01);
    assert_eq!(headline.value(Quantity::SyncMean), Some(40_000_000.0));
}

/// Revision 5aa1e091 asked for another run at twice the depth.
#[test]
fn a_run_under_a_throttle_was_advised_to_raise_its_depth() {
    let headline = |depth: u32, throttles: &[(&str, u64)]| {
        let mut run = queue_full(depth, 1_000_000 * u64::from(depth) / 32);
        run.jobs[0].evidence.throttles = throttles.iter().map(|(key, value)| loads::throttle(key, *value)).collect();
        verdict(&run).headline
    };
    for depth in [1, 32] {
        let limit = headline(depth, &[("rbps", 1 << 40), ("riops", 32_100), ("wiops", 32_000)]);
        assert_eq!((limit.code, limit.remedy), (Code::CgroupThrottle, None));
        assert_eq!(limit.subject.as_deref(), Some("riops of sda in /sys/fs/cgroup/db.slice/io.max"));
        assert_eq!(limit.value(Quantity::CapIops), Some(32_100.0));
    }
    let limit = headline(32, &[("rbps", 32_000 * 4096)]);
    assert_eq!((limit.code, limit.value(Quantity::CapBytesPerSecond)), (Code::CgroupThrottle, Some(131_072_000.0)));
    // Slices of a known throttle need no guess.
    let mut sliced = queue_full(32, 1_000_000);
    let service = &mut sliced.jobs[0].result.read.service;
    service.buckets.push((loads::meter_bucket(90_000_000), 4_000));
    service.count += 4_000;
    assert!(finding(&sliced, Code::Throttled).is_some());
    sliced.jobs[0].evidence.throttles = vec![loads::throttle("riops", 32_000)];
    assert!(finding(&sliced, Code::Throttled).is_none() && finding(&sliced, Code::CgroupThrottle).is_some());
    // Far below a throttle it is not the limit, nor if a cache served the reads, nor is one of writes.
    for other in [("riops", 64_000), ("riops", 16_000), ("wiops", 32_000)] {
        assert_eq!(headline(32, &[other]).code, Code::QueueFull, "{other:?}");
    }
}

#[test]
fn equal_latencies_at_a_steady_pace_indicate_a_limiter() {
    let mut run = queue_full(32, 1_000_000);
    run.jobs[0].result.read.service.stddev_ns = 60_000.0;
    assert_eq!(verdict(&run).headline.code, Code::DeviceFlat);
    run.jobs[0].result.series.intervals[7].ios[0] /= 2;
    assert_eq!(verdict(&run).headline.code, Code::QueueFull);
}

/// With 4 in flight and 1,527 operations, a single pause of the host for 90 ms was reported as a limiter.
#[test]
fn single_pause_of_the_host_is_not_throttling() {
    let slow = |pauses: u64| {
        let mut run = queue_full(4, 25_000_000);
        let service = &mut run.jobs[0].result.read.service;
        service.buckets.push((loads::meter_bucket(250_000_000), 4 * pauses));
        service.count += 4 * pauses;
        finding(&run, Code::Throttled).is_some()
    };
    assert_eq!([1, 3, 4, 30].map(slow), [false, false, true, true]);
}

/// `group_reporting` described two different jobs by one of them, and recommended a depth for it.
#[test]
fn different_jobs_in_one_result_get_no_common_advice() {
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
fn depth_one_is_latency_bound() {
    let headline = verdict(&queue_full(1, 100_000)).headline;
    assert_eq!(headline.code, Code::LatencyBound);
    assert_eq!(headline.remedy, Some(Remedy::RaiseDepth { iodepth: 32 }));
}

#[test]
fn unsupported_depth_is_a_warning() {
    let mut run = queue_full(1, 100_000);
    let declared = &mut run.jobs[0].declared;
    (declared.iodepth, declared.in_flight_asked, declared.queues) = (32, Some(32), false);
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.severity), (Code::EngineNotAsynchronous, Severity::Warning));
    assert_eq!(headline.remedy, Some(Remedy::QueueingEngine { iodepth: 32 }));
    assert_eq!(finding(&run, Code::LatencyBound).unwrap().remedy, None);
}

/// Another engine was advised although the queue of the device was full.
#[test]
fn waiting_for_a_device_with_a_full_queue_is_its_limit() {
    let mut run = queue_full(32, 1_900_000);
    let (ios, elapsed_ms) = (run.jobs[0].result.read.ios, run.jobs[0].result.elapsed_ns() / 1_000_000);
    run.jobs[0].result.read.submission = latency(ios, 58_000, 0);
    let busy =
        |of: u64| record::DiskUse { read_ios: ios, read_ticks_ms: of * elapsed_ms, ..record::DiskUse::default() };
    run.disks = vec![busy(1)];
    assert!(finding(&run, Code::EngineNotAsynchronous).is_some());
    run.disks = vec![busy(30)];
    assert_eq!(finding(&run, Code::EngineNotAsynchronous), None);
    let found = finding(&run, Code::DeviceBound).unwrap();
    assert_eq!((found.remedy, found.value(Quantity::InFlightAchieved)), (None, Some(30.0)));
}

/// fio counted 31 of 32 in flight, but the device had one.
#[test]
fn waiting_at_submission_is_detected_by_submission_time() {
    let mut run = queue_full(32, 1_900_000);
    run.jobs[0].declared.engine = "libaio".to_owned();
    let ios = run.jobs[0].result.read.ios;
    let submitting = |run: &mut Run, mean_ns: u64| {
        run.jobs[0].result.read.submission = latency(ios, mean_ns, 0);
        finding(run, Code::EngineNotAsynchronous)
    };
    assert_eq!(submitting(&mut run, 45_000), None);
    assert_eq!(submitting(&mut run, 58_000).unwrap().remedy, Some(Remedy::QueueingEngine { iodepth: 32 }));
    run.jobs[0].declared.engine = "io_uring".to_owned();
    assert_eq!(submitting(&mut run, 58_000).unwrap().remedy, None, "it was advised to use itself");
    run.jobs[0].declared.direct = false;
    assert_eq!(submitting(&mut run, 58_000).unwrap().remedy, Some(Remedy::Direct));
    // Batches of eight wait eight times as long, which is the same time in total.
    run.jobs[0].result.submit = record::Shares::of([0, 0, ios / 8, 0, 0, 0, 0]);
    assert_eq!(submitting(&mut run, 58_000), None);
    let share = submitting(&mut run, 8 * 58_000).unwrap().value(Quantity::SubmissionShare).unwrap();
    assert!((0.8..=1.0).contains(&share), "{share}");
    run.jobs[0].result.cpu.user_ns = 25 * SECOND_NS;
    assert_eq!(submitting(&mut run, 8 * 58_000), None, "copying from memory is work, not waiting");
}

#[test]
fn busy_cpu_is_the_limit_unless_it_polls() {
    let mut run = queue_full(32, 1_000_000);
    run.jobs[0].result.cpu.user_ns = 28 * SECOND_NS;
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.remedy), (Code::GeneratorCpuBound, Some(Remedy::AddWorkers { numjobs: 2 })));
    run.jobs[0].declared.polled = true;
    assert_eq!(verdict(&run).headline.code, Code::QueueFull);
}

#[test]
fn all_cpus_busy_get_no_advice_for_more_workers() {
    let mut run = queue_full(32, 1_000_000);
    run.host.cpus = 1;
    run.jobs[0].result.cpu.user_ns = 14 * SECOND_NS;
    let other = run.jobs[0].clone();
    run.jobs.push(other);
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.remedy), (Code::GeneratorCpuBound, None));
}

#[test]
fn partly_filled_queue_is_reported() {
    let mut run = queue_full(16, 1_000_000);
    (run.jobs[0].declared.iodepth_effective, run.jobs[0].declared.in_flight_possible) = (32, Some(32));
    assert_eq!(verdict(&run).headline.code, Code::QueueNotFilled);
}

#[test]
fn little_needs_service_times() {
    let mut run = queue_full(16, 1_000_000);
    run.jobs[0].result.read.service = LatencyStats::default();
    assert_eq!(verdict(&run).headline.code, Code::LimitUnknown);
}

#[test]
fn missing_device_is_reported_without_latencies() {
    let mut run = queue_full(16, 1_000_000);
    run.jobs[0].result.read.service = LatencyStats::default();
    run.jobs[0].declared.device = false;
    let headline = verdict(&run).headline;
    assert_eq!(headline.code, Code::NoDevice);
    assert!(headline.value(Quantity::Iops).is_some());
}

#[test]
fn run_without_operations_is_distrusted() {
    let mut run = queue_full(16, 1_000_000);
    run.jobs[0].result.read = DirectionResult::default();
    assert_eq!(verdict(&run).headline.code, Code::NothingMeasured);
    assert!(distrusted(&analyse(&run)));
    // Published without the writes between them, syncs are a result.
    run.jobs[0].untimed = true;
    run.jobs[0].result.sync = LatencyStats { count: 9, mean_ns: 1e6, ..LatencyStats::default() };
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.evidence[0].quantity), (Code::LimitUnknown, Quantity::SyncMean));
    assert!(!distrusted(&analyse(&run)));
}

/// The depth of the options was printed as the operations in flight of a run without latencies.
#[test]
fn no_operations_in_flight_are_stated_without_latencies() {
    let mut run = queue_full(16, 1_000_000);
    run.jobs[0].result.read.service = LatencyStats::default();
    let explained = explain_job(&run, 0, &Observation::of(&run, &run.jobs[0]), None);
    let figure = |quantity| explained.figures.iter().find(|one| one.quantity == quantity).map(|one| one.value);
    assert_eq!((figure(Quantity::InFlightAchieved), figure(Quantity::InFlightPossible)), (None, Some(16.0)));
    // A program that is known to keep its queue full has them.
    run.jobs[0].declared.keeps_queue_full = true;
    let seen = Observation::of(&run, &run.jobs[0]);
    let latency = seen.latency_ns.unwrap();
    assert!((latency.value() * seen.iops.unwrap().value() / 1e9 - 16.0).abs() < 1e-6);
    assert_eq!(latency.source, analyse::EvidenceSource::LittlesLaw);
}

#[test]
fn run_without_device_measures_the_generator() {
    let mut run = queue_full(16, 1_000_000);
    run.jobs[0].declared.device = false;
    assert_eq!(verdict(&run).headline.code, Code::NoDevice);
    run.jobs[0].declared.device = true;
    file(&mut run).kind = TargetKind::Memory;
    assert_eq!(verdict(&run).headline.code, Code::NoDevice);
}

#[test]
fn rate_is_reached_or_needs_a_deeper_queue() {
    let mut run = queue_full(8, 1_000_000);
    run.jobs[0].declared.rate_iops = PerKind { read: Some(8_000), ..PerKind::default() };
    assert_eq!(verdict(&run).headline.code, Code::RateKept);
    run.jobs[0].declared.rate_iops.read = Some(20_000);
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.severity), (Code::QueueTooShallow, Severity::Warning));
    // 20,000 per second at 1 ms each are 20 in flight on average; the remedy is twice that.
    assert!((headline.value(Quantity::InFlightNeeded).unwrap() - 20.0).abs() < 0.01);
    assert_eq!(headline.remedy, Some(Remedy::RaiseDepth { iodepth: 40 }));
}

#[test]
fn rate_in_bytes_is_checked_in_bytes() {
    let mut run = queue_full(8, 1_000_000);
    run.jobs[0].declared.rate_bytes = PerKind { read: Some(8_000 * 4096), ..PerKind::default() };
    assert_eq!(verdict(&run).headline.code, Code::RateKept);
    run.jobs[0].declared.in_flight_possible = Some(64);
    run.jobs[0].declared.rate_bytes.read = Some(9_000 * 4096);
    assert_eq!(verdict(&run).headline.code, Code::RateNotReached);
}

/// The verdict named the rate of one direction, and compared a replay that ended early with the mean of the whole trace.
#[test]
fn replay_is_compared_with_what_was_due() {
    let replayed = |due_last_ns| {
        let mut run = queue_full(8, 1_000_000);
        let job = &mut run.jobs[0];
        job.result.write = job.result.read.clone();
        let replay =
            ReplayRecord { requests: 1_000_000, issued: 9, last_ns: 1, due_last_ns, ..ReplayRecord::default() };
        job.replay = Some(replay);
        // The means of the whole trace.
        job.declared.rate_iops = PerKind { read: Some(90_000), write: Some(1), ..PerKind::default() };
        verdict(&run).headline
    };
    let wall_ns = queue_full(8, 1_000_000).jobs[0].result.elapsed_ns();
    let kept = replayed(Some(wall_ns - 1_000_000));
    assert_eq!(kept.code, Code::RateKept);
    assert!((kept.value(Quantity::RateReached).unwrap() - 16_000.0).abs() < 1.0);
    let missed = replayed(Some(wall_ns / 2));
    assert_eq!(missed.code, Code::RateNotReached);
    assert!((missed.value(Quantity::RateAsked).unwrap() - 32_000.0).abs() < 100.0);
    // Without instants, or all at one, there is no rate.
    for none in [replayed(None), replayed(Some(0))] {
        assert!(none.value(Quantity::RateAsked).is_none(), "{none:?}");
    }
}

#[test]
fn late_generator_is_distrusted() {
    let mut run = queue_full(8, 1_000_000);
    run.jobs[0].declared.rate_iops = PerKind { read: Some(8_000), ..PerKind::default() };
    run.jobs[0].result.read.response = latency(1000, 1_000_000, 0);
    for (late_ns, severity) in [(5_000, None), (200_000, Some(Severity::Warning)), (600_000, Some(Severity::Distrust))]
    {
        run.jobs[0].result.lateness = latency(1000, late_ns, 0);
        let found = finding(&run, Code::LatenessSignificant);
        assert_eq!(found.map(|finding| finding.severity), severity, "{late_ns} ns");
    }
}

#[test]
fn buffered_reads_missing_from_device_counters_came_from_the_page_cache() {
    let mut run = queue_full(1, 2_000);
    run.jobs[0].declared.direct = false;
    run.disks = vec![DiskUse { name: "vda".to_owned(), read_ios: 3, read_sectors: 24, ..DiskUse::default() }];
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.severity), (Code::PageCacheMeasured, Severity::Distrust));
    assert_eq!(headline.value(Quantity::DeviceBytes), Some(24.0 * 512.0));
    // An explicit direct=0 is intended.
    run.jobs[0].echo = vec![("direct".to_owned(), "0".to_owned())];
    assert_eq!(finding(&run, Code::PageCacheMeasured).unwrap().severity, Severity::Warning);
    run.disks = vec![DiskUse::default()];
    run.jobs[0].result.read.service = latency(run.jobs[0].result.read.ios, 80_000, 0);
    assert_eq!(finding(&run, Code::PageCacheMeasured), None, "zeros were taken for counters");
    // The device's counters outweigh the speed.
    run.disks[0].read_ios = 3;
    run.disks[0].read_sectors = run.jobs[0].result.read.bytes / 512;
    assert_eq!(finding(&run, Code::PageCacheMeasured), None);
}

#[test]
fn cached_fraction_or_speed_replaces_missing_counters() {
    let mut run = queue_full(1, 80_000);
    run.jobs[0].declared.direct = false;
    assert_eq!(finding(&run, Code::PageCacheMeasured), None);
    file(&mut run).cached_before = Some(0.9);
    assert_eq!(finding(&run, Code::PageCacheMeasured).unwrap().value(Quantity::CachedShare), Some(0.9));
    let mut run = queue_full(1, 2_000);
    run.jobs[0].declared.direct = false;
    assert!(finding(&run, Code::PageCacheMeasured).unwrap().value(Quantity::ServiceP50).unwrap() < 2_100.0);
    // Readahead makes sequential reads as fast.
    run.jobs[0].declared.rw = "read".to_owned();
    assert_eq!(finding(&run, Code::PageCacheMeasured), None);
}

#[test]
fn buffered_writes_need_a_sync_or_device_writes() {
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

/// Text output does not mention `direct`; writes that bypassed the cache were reported as writes to memory.
#[test]
fn options_missing_from_text_output_are_unknown() {
    let mut run = queue_full(1, 80_000);
    let job = &mut run.jobs[0];
    (job.declared.direct, job.declared.header_only) = (false, true);
    job.result.write = std::mem::take(&mut job.result.read);
    let bytes = job.result.write.bytes;
    assert_eq!(finding(&run, Code::BufferedWritesUnsynced), None);
    run.disks = vec![DiskUse { write_ios: 9, write_sectors: bytes / 2048, ..DiskUse::default() }];
    assert_eq!(finding(&run, Code::BufferedWritesUnsynced).unwrap().severity, Severity::Warning);
    // Linux counts no operations of RAM disks.
    run.disks = vec![DiskUse { name: "ram0".to_owned(), ..DiskUse::default() }];
    assert_eq!(finding(&run, Code::BufferedWritesUnsynced), None);
    (run.disks[0].name, run.disks[0].read_ios) = ("server 1:ram".to_owned(), 1);
    assert!(finding(&run, Code::BufferedWritesUnsynced).is_some());
    // Devices without sectors, as fio printed them before 3.36, and with `iostats` off.
    run.disks = vec![DiskUse { write_ios: 9, ..DiskUse::default() }];
    assert!(finding(&run, Code::BufferedWritesUnsynced).is_some(), "9 requests are not those of all writes");
    run.disks = vec![DiskUse::default()];
    assert_eq!(finding(&run, Code::BufferedWritesUnsynced), None, "zeros were taken for counters");
    (run.jobs[0].declared.queues, run.jobs[0].result.write.service.mean_ns) = (false, 1_600.0);
    assert!(finding(&run, Code::BufferedWritesUnsynced).is_some(), "no device is as fast");
    assert_eq!(Observation::of(&run, &run.jobs[0]).direct, None);
    run.jobs[0].declared.engine = "rbd".to_owned();
    assert_eq!(finding(&run, Code::BufferedWritesUnsynced), None, "there is no page cache");
}

/// A depth that was estimated by Little's law was called the job's option, and found to agree with that law.
#[test]
fn estimates_of_the_depth_confirm_nothing() {
    let mut run = queue_full(32, 1_000_000);
    run.jobs[0].quotes = vec![Quote { what: Quoted::Iops, kind: None, value: 32e3, step: 1.0, line: 1, of: None }];
    let codes = |run: &Run| {
        let found = explain_job(run, 0, &Observation::of(run, &run.jobs[0]), None).findings;
        found.iter().any(|finding| finding.code == Code::LittleHolds)
    };
    run.jobs[0].result.read.latency = run.jobs[0].result.read.service.clone();
    assert!(codes(&run));
    run.jobs[0].declared.estimated = EstimatedLoad::DepthAndWorkers;
    assert!(!codes(&run));
    let headline = verdict(&run).headline;
    let source = headline.evidence.iter().find(|one| one.quantity == Quantity::InFlightPossible).unwrap().source;
    assert_eq!(source, EvidenceSource::Estimate);
}

/// Submissions that wait for the device are those of `libaio` through the page cache.
#[test]
fn waiting_at_submission_is_detected_in_text_output() {
    let mut run = queue_full(1, 1_000_000);
    let job = &mut run.jobs[0];
    (job.declared.header_only, job.declared.iodepth) = (true, 32);
    (job.declared.iodepth_effective, job.declared.in_flight_possible) = (32, Some(32));
    job.result.read.latency = latency(30_000, 1_000_000, 0);
    let waits = |run: &Run| {
        let found = explain_job(run, 0, &Observation::of(run, &run.jobs[0]), None).findings;
        found.iter().any(|finding| finding.code == Code::EngineNotAsynchronous)
    };
    assert!(!waits(&run), "a rate may leave a queue empty");
    run.jobs[0].result.read.submission = latency(30_000, 990_000, 0);
    assert!(waits(&run));
    let read = &mut run.jobs[0].result.read;
    (read.ios, read.bytes) = (3_000, 3_000 * 4096);
    (read.latency, read.service, read.submission) =
        (latency(3_000, 1_000_000, 0), latency(3_000, 10_000, 0), latency(3_000, 990_000, 0));
    assert!(!waits(&run), "0.1 in flight: the rate was the limit, whatever the engine");
}

#[test]
fn reads_of_holes_do_not_measure_the_device() {
    let mut run = queue_full(32, 1_000_000);
    file(&mut run).allocated = Some(0);
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.remedy), (Code::HolesRead, Some(Remedy::WriteFirst)));
    file(&mut run).allocated = Some(1 << 30);
    assert_eq!(finding(&run, Code::HolesRead), None);
}

#[test]
fn errors_are_distrusted_unless_tolerated() {
    let mut run = queue_full(32, 1_000_000);
    (run.jobs[0].result.errors, run.jobs[0].result.first_error) = (3, 5);
    assert_eq!(verdict(&run).headline.code, Code::ErrorsSeen);
    assert!(verdict(&run).distrusted());
    run.jobs[0].declared.continue_on_error = true;
    assert!(!verdict(&run).distrusted());
    assert_eq!(finding(&run, Code::ErrorsSeen).unwrap().value(Quantity::FirstError), Some(5.0));
}

/// A job that ended with an error was said to have had one failed operation.
#[test]
fn errors_that_were_not_counted_have_no_number() {
    let mut run = queue_full(32, 1_000_000);
    run.jobs[0].error = 22;
    let found = finding(&run, Code::ErrorsSeen).unwrap();
    assert_eq!((found.value(Quantity::Errors), found.value(Quantity::FirstError)), (None, Some(22.0)));
}

#[test]
fn sudden_change_is_reported_once() {
    let mut run = queue_full(32, 1_000_000);
    run.jobs[0].result.series.intervals[15..].iter_mut().for_each(|interval| interval.ios[0] /= 3);
    let found = finding(&run, Code::BurstUsedUp).unwrap();
    let ratio = found.value(Quantity::EarlyIops).unwrap() / found.value(Quantity::LateIops).unwrap();
    assert!((ratio - 3.0).abs() < 0.01);
    assert_eq!(found.value(Quantity::ChangedAt), Some(15e9));
    assert_eq!(finding(&run, Code::BurstOrDrift), None, "one change is reported once");
}

#[test]
fn slow_decline_is_reported() {
    let mut run = queue_full(32, 1_000_000);
    let intervals = &mut run.jobs[0].result.series.intervals;
    (0..).zip(intervals.iter_mut()).for_each(|(at, interval)| interval.ios[0] -= at * interval.ios[0] / 60);
    assert!(finding(&run, Code::BurstOrDrift).is_some());
}

#[test]
fn short_and_interrupted_runs_are_reported() {
    let mut run = queue_full(32, 1_000_000);
    assert_eq!((finding(&run, Code::ShortRun), finding(&run, Code::Interrupted)), (None, None));
    run.outcome = RunOutcome::Interrupted;
    let result = &mut run.jobs[0].result;
    (result.runtime_ns, result.read.runtime_ns) = (SECOND_NS, SECOND_NS);
    result.read.ios /= 30;
    result.read.service.count /= 30;
    assert_eq!(finding(&run, Code::ShortRun).unwrap().remedy, Some(Remedy::RunLonger { runtime_s: 30 }));
    assert_eq!(finding(&run, Code::Interrupted).unwrap().severity, Severity::Info);
    assert_eq!(verdict(&run).headline.code, Code::QueueFull, "the limit matters more than the duration");
}

#[test]
fn headline_is_the_most_important_finding() {
    let mut run = queue_full(1, 2_000);
    let job = &mut run.jobs[0];
    job.declared.direct = false;
    (job.declared.iodepth, job.declared.in_flight_asked) = (32, Some(32));
    let verdict = verdict(&run);
    assert_eq!(verdict.headline.code, Code::PageCacheMeasured);
    let severities: Vec<Severity> = verdict.findings().map(|finding| finding.severity).collect();
    assert!(severities.is_sorted_by(|a, b| a >= b), "{severities:?}");
}

/// A run on a volume that bursts on credits.
fn bursting(empty_at_ns: Option<u64>) -> record::Run {
    let mut run = queue_full(32, 1_000_000);
    let held = |name: &str, delayed: u64| record::ServiceStage {
        name: name.to_owned(),
        requests: 1_000_000,
        delayed,
        decided: delayed,
        delay_ns: delayed * delayed,
        utilisation: 1.0,
        ..record::ServiceStage::default()
    };
    let credits = record::BurstCredits { bytes: false, most: 5.4e6, left: 5.39e6, spent_per_sec: 2_700.0, empty_at_ns };
    // Neither delayed more than half of the operations; together they delayed nearly all.
    let (bucket, burst) = if empty_at_ns.is_some() { (490_000, 480_000) } else { (0, 900_000) };
    let base = record::ServiceStage { utilisation: 10.0, credits: Some(credits), ..held("volume IOPS", bucket) };
    run.model =
        Some(record::ModelRecord { stages: vec![base, held("burst IOPS", burst)], ..record::ModelRecord::default() });
    run
}

#[test]
fn burst_reports_how_long_its_credits_last() {
    let found = finding(&bursting(None), Code::ModelHeldBack).unwrap();
    assert_eq!(found.subject.as_deref(), Some("burst IOPS"));
    assert_eq!(found.value(Quantity::CreditsLeft), Some(5.39e6));
    assert_eq!(found.value(Quantity::CreditsSpent), Some(2_700.0));
    assert!((found.value(Quantity::CreditsLast).unwrap() / 1e9 - 1996.3).abs() < 0.1);
}

/// More depth was recommended although the limit was reached.
#[test]
fn limit_reached_at_the_knee_is_reported() {
    let of = |utilisation: f64| {
        let mut run = queue_full(2, 1_000_000);
        let stage = record::ServiceStage { requests: 1000, utilisation, ..record::ServiceStage::default() };
        run.model = Some(record::ModelRecord { stages: vec![stage], ..record::ModelRecord::default() });
        verdict(&run).headline.code
    };
    assert_eq!((of(0.99), of(0.9)), (Code::ModelHeldBack, Code::ModelNotReached));
}

#[test]
fn exhausted_credits_explain_a_change_of_throughput() {
    let mut run = bursting(Some(15 * SECOND_NS));
    run.jobs[0].result.series.intervals[15..].iter_mut().for_each(|interval| interval.ios[0] /= 3);
    let found = finding(&run, Code::BurstOrDrift).unwrap();
    assert_eq!((found.subject.as_deref(), found.remedy), (Some("volume IOPS"), Some(Remedy::Ramp { ramp_s: 15 })));
    assert_eq!(found.value(Quantity::CreditsGone), Some(15e9));
    let held = finding(&run, Code::ModelHeldBack).unwrap();
    assert_eq!((held.value(Quantity::CreditsGone), held.value(Quantity::CreditsLast)), (Some(15e9), None));
}

/// A rate that a model's limit does not allow, or not without its credits, was said to be missed although the queue was deep
/// enough, or for want of depth, and delays by the model were put down to a throttle of the host.
#[test]
fn a_missed_rate_hid_the_limit_of_the_model() {
    for (possible, empty_at_ns) in [(64, Some(15 * SECOND_NS)), (32, Some(15 * SECOND_NS)), (32, None)] {
        let mut run = bursting(empty_at_ns);
        let job = &mut run.jobs[0];
        job.declared.rate_iops = PerKind { read: Some(36_000), ..PerKind::default() };
        job.declared.in_flight_possible = Some(possible);
        let service = &mut job.result.read.service;
        service.buckets.push((loads::meter_bucket(90_000_000), 4_000));
        service.count += 4_000;
        let headline = verdict(&run).headline;
        assert_eq!((headline.code, headline.remedy), (Code::RateNotReached, None));
        let limit = if empty_at_ns.is_some() { "volume IOPS" } else { "burst IOPS" };
        assert_eq!(headline.subject.as_deref(), Some(limit));
        assert_eq!(headline.value(Quantity::CreditsGone), empty_at_ns.map(|ns| ns as f64));
        assert!(finding(&run, Code::Throttled).is_none());
    }
}

/// A mix of 28,000 reads and 12,000 writes was judged as 12,000, and its operations in flight did not follow from that.
#[test]
fn rates_of_reads_and_writes_are_judged_together() {
    const SECONDS: u64 = 30;
    let mix = |asked: [u64; 2], done: [u64; 2], latency_ns: [u64; 2]| {
        let mut run = queue_full(512, 1_000_000);
        let job = &mut run.jobs[0];
        job.declared.rate_iops = PerKind { read: Some(asked[0]), write: Some(asked[1]), trim: None };
        let kind = |at: usize| DirectionResult {
            ios: done[at] * SECONDS,
            bytes: done[at] * SECONDS * 4096,
            runtime_ns: SECONDS * SECOND_NS,
            service: latency(done[at] * SECONDS, latency_ns[at], 0),
            latency: latency(done[at] * SECONDS, latency_ns[at], 0),
            ..DirectionResult::default()
        };
        (job.result.read, job.result.write) = (kind(0), kind(1));
        job.result.runtime_ns = SECONDS * SECOND_NS;
        verdict(&run).headline
    };
    let reads = [28_000, 700, 1, 5_000, 90_000];
    let writes = [12_000, 300, 9_000, 50];
    for read in reads {
        for write in writes {
            let of = format!("{read} + {write}");
            let latency_ns = [400_000, 900_000];
            let kept = mix([read, write], [read, write], latency_ns);
            let value = |quantity: Quantity| kept.value(quantity).unwrap_or_else(|| panic!("{of}: no {quantity:?}"));
            assert_eq!(kept.code, Code::RateKept, "{of}");
            let all = (read + write) as f64;
            assert_eq!([Quantity::RateAsked, Quantity::RateReached].map(value), [all, all], "{of}");
            assert_eq!([Quantity::ReadRateReached, Quantity::WriteRateReached].map(value), [read as f64, write as f64]);
            let little = value(Quantity::RateReached) * value(Quantity::ServiceMean) / 1e9;
            assert!((value(Quantity::InFlightAchieved) / little - 1.0).abs() < 0.005, "{of}");
            // One kind that is short makes the whole short.
            let missed = mix([read, write * 2], [read, write], latency_ns);
            assert!(matches!(missed.code, Code::RateNotReached | Code::QueueTooShallow), "{of}: {:?}", missed.code);
            assert_eq!(missed.value(Quantity::RateAsked), Some((read + 2 * write) as f64), "{of}");
        }
    }
}

/// A depth of one was said to be the limit, although two operations were in flight.
#[test]
fn more_in_flight_than_possible_leaves_the_limit_open() {
    let mut run = queue_full(2, 100_000);
    run.jobs[0].declared.in_flight_possible = Some(1);
    let limit = finding(&run, Code::LimitUnknown).expect("no limit was found");
    assert_eq!(limit.value(Quantity::InFlightPossible), Some(1.0));
    assert!(finding(&run, Code::LatencyBound).is_none());
}

/// A depth that fio lowered to meet a latency was said to be too low.
#[test]
fn a_latency_target_explains_the_depth() {
    let mut run = queue_full(64, 1_000_000);
    run.jobs[0].depth_search = Some(DepthSearchRecord {
        target_ns: 500_000,
        percentile: 95.0,
        depth: 46,
        is_met: true,
        ..DepthSearchRecord::default()
    });
    let finding = verdict(&run).headline;
    assert_eq!((finding.code, finding.remedy), (Code::LatencyTarget, None));
    assert_eq!(finding.value(Quantity::DepthFound), Some(46.0));
}

/// A rate of arrivals at random was said to be missed by what chance makes of it.
#[test]
fn arrivals_at_random_may_stay_below_their_rate() {
    let missed = |poisson: bool| {
        let mut run = queue_full(1, 100_000_000);
        let job = &mut run.jobs[0];
        job.declared.poisson = poisson;
        job.declared.rate_iops.read = Some((job.result.read.iops() * 1.07).round() as u64);
        verdict(&run).headline.code != Code::RateKept
    };
    assert!(missed(false) && !missed(true));
}

/// Sums with the wrong decimals of fio 2 were said to be edited, although rate and runtime agree with the operations.
#[test]
fn sums_that_the_rate_bears_out_were_not_edited() {
    let disagrees = |rate_step: f64, off: f64| {
        let mut run = queue_full(32, 1_000_000);
        let job = &mut run.jobs[0];
        let (ios, seconds) = (job.result.read.ios as f64, job.result.read.runtime_ns as f64 / 1e9);
        job.declared.block_sizes.read = record::DeclaredSizes { min: 4096, max: 4096 };
        let quote = |what, value, step| Quote { what, kind: Some(DataKind::Read), value, step, line: 1, of: None };
        job.quotes = vec![
            quote(Quoted::Operations, ios, 1.0),
            quote(Quoted::Bytes, ios * 4096.0 + off * 1048576.0, 104857.6),
            quote(Quoted::BytesPerSecond, ios * 4096.0 / seconds + 0.5 * rate_step, rate_step),
            quote(Quoted::RuntimeNs, seconds * 1e9, 1e6),
        ];
        if rate_step == 0.0 {
            job.quotes.truncate(2);
        }
        finding(&run, Code::FiguresDisagree).is_some()
    };
    assert!(disagrees(0.0, 0.8) && !disagrees(1024.0, 0.8) && disagrees(1024.0, 8.0));
}

/// The mean of the reads was multiplied by the rate of both kinds.
#[test]
fn latencies_of_one_kind_are_not_those_of_all() {
    let mut run = queue_full(16, 1_000_000);
    run.jobs[0].result.write =
        DirectionResult { ios: 10_000, bytes: 40_960_000, runtime_ns: 30 * SECOND_NS, ..Default::default() };
    let seen = Observation::of(&run, &run.jobs[0]);
    assert_eq!((seen.latency_ns, seen.implied_in_flight()), (None, None));
    let headline = verdict(&run).headline;
    assert_eq!((headline.code, headline.subject.as_deref()), (Code::LimitUnknown, Some("read")));
    assert!((headline.value(Quantity::InFlightAchieved).unwrap() - 16.0).abs() < 0.01);
    // A few operations without a time change nothing.
    run.jobs[0].result.write.ios = 100;
    assert_eq!(verdict(&run).headline.code, Code::QueueFull);
}

/// Operations seemed to keep hardly any of the queue, and the limit was said to be the device or the depth.
#[test]
fn syncs_that_fill_the_queue_are_part_of_it() {
    let mut run = queue_full(4, 1_000_000);
    let result = &mut run.jobs[0].result;
    result.sync = latency(result.read.ios, 9_000_000, 0);
    (result.read.ios, result.sync.count) = (result.read.ios / 10, result.sync.count / 10);
    result.read.service.count = result.read.ios;
    let headline = verdict(&run).headline;
    assert_eq!(headline.code, Code::QueueFull);
    assert!((headline.value(Quantity::SyncsInFlight).unwrap() - 3.6).abs() < 0.01, "{headline:?}");
    let seen = Observation::of(&run, &run.jobs[0]);
    assert!((seen.syncs_in_flight.unwrap().value() - 3.6).abs() < 0.01);
}

/// "The device was not saturated" stood where nothing showed it.
#[test]
fn a_queue_that_is_not_full_does_not_prove_an_idle_device() {
    let with = |change: &dyn Fn(&mut Run)| {
        let mut run = queue_full(16, 1_000_000);
        (run.jobs[0].declared.iodepth_effective, run.jobs[0].declared.in_flight_possible) = (32, Some(32));
        run.tool.name = "fio".to_owned();
        change(&mut run);
        finding(&run, Code::QueueNotFilled).expect("a queue that is not full")
    };
    let plain = with(&|_| {});
    let quantities = [Quantity::BusyShare, Quantity::Operations, Quantity::SubmissionShare];
    assert!(quantities.iter().all(|quantity| plain.value(*quantity).is_none()) && plain.subject.is_none());
    let busy =
        with(&|run| run.disks = vec![DiskUse { name: "sda".to_owned(), util_percent: 96.0, ..DiskUse::default() }]);
    assert_eq!(busy.value(Quantity::BusyShare), Some(0.96));
    let cached = with(&|run| run.jobs[0].declared.direct = false);
    assert_eq!((cached.subject.as_deref(), cached.remedy), (Some("page cache"), None));
    let waited = with(&|run| run.jobs[0].result.read.submission = latency(480_000, 60_000, 0));
    assert!(waited.value(Quantity::SubmissionShare).is_some() && waited.remedy.is_none());
    let few = with(&|run| {
        let read = &mut run.jobs[0].result.read;
        (read.ios, read.service) = (60, latency(60, 8 * SECOND_NS, 0));
    });
    assert_eq!(few.value(Quantity::Operations), Some(60.0));
}

/// Operations that waited for the others of their batch were said to wait for the device.
#[test]
fn waits_within_batches_are_no_waits_for_the_device() {
    let mut run = queue_full(16, 1_000_000);
    run.tool.name = "fio".to_owned();
    run.jobs[0].result.read.submission = latency(480_000, 984_000, 0);
    assert!(finding(&run, Code::EngineNotAsynchronous).is_none(), "15 seconds per second overlap");
    run.jobs[0].result.read.submission = latency(480_000, 60_000, 0);
    assert!(finding(&run, Code::EngineNotAsynchronous).is_some());
    run.jobs[0].result.submit.counts = [0, 0, 0, 0, 100, 0, 0];
    run.jobs[0].result.submit.total = 100;
    assert!(finding(&run, Code::EngineNotAsynchronous).is_none(), "of batches of 17 or more");
}

/// The times of a memory card, and times without a spread, were those of a drive that seeks.
#[test]
fn devices_without_moving_parts_are_no_drives() {
    let mut run = queue_full(1, 5_000_000);
    let is_drive = |run: &Run| {
        let found = explain_job(run, 0, &Observation::of(run, &run.jobs[0]), None).findings;
        found.iter().any(|finding| finding.code == Code::MechanicalDisk)
    };
    run.jobs[0].result.read.service.buckets = Vec::new();
    run.jobs[0].result.read.service.quoted = vec![(5.0, 2_000_000), (50.0, 5_000_000), (95.0, 9_000_000)];
    assert!(is_drive(&run));
    run.disks = vec![DiskUse { name: "mmcblk0".to_owned(), ..DiskUse::default() }];
    assert!(!is_drive(&run));
    run.disks.clear();
    run.jobs[0].result.read.service.quoted = vec![(5.0, 4_800_000), (50.0, 5_000_000), (95.0, 5_300_000)];
    assert!(!is_drive(&run), "a rotation alone varies more");
}

/// The counters of one of several disks, and those of all clones, stood beside the depth of one job.
#[test]
fn the_limit_of_a_device_is_of_all_its_load() {
    let mut run = queue_full(32, 1_000_000);
    run.tool.name = "fio".to_owned();
    let ios = run.jobs[0].result.read.ios;
    run.jobs[0].result.read.submission = latency(ios, 1_000_000 / 32, 0);
    let disk = |name: &str, in_flight: u64| DiskUse {
        name: name.to_owned(),
        read_ios: ios,
        read_ticks_ms: in_flight * 30_000,
        ..DiskUse::default()
    };
    run.disks = vec![disk("dm-0", 30), disk("nvme0n1", 30)];
    let one = finding(&run, Code::DeviceBound).unwrap();
    assert_eq!((one.subject.as_deref(), one.value(Quantity::InFlightAchieved)), (Some("nvme0n1"), Some(30.0)));
    run.disks = vec![disk("md0", 0), disk("sda", 15), disk("sdb", 15)];
    assert!(finding(&run, Code::DeviceBound).is_none(), "the queue of which disk was full is not known");
    let several = finding(&run, Code::EngineNotAsynchronous).unwrap();
    assert_eq!((several.subject.as_deref(), several.remedy), (Some("2 disks"), None));
    // Two clones.
    run.disks = vec![disk("sda", 60)];
    run.jobs.push(run.jobs[0].clone());
    let clones = finding(&run, Code::DeviceBound).unwrap();
    assert_eq!(clones.value(Quantity::InFlightAsked), Some(64.0));
}

/// "Latencies were not recorded" stood below a job whose first operations failed.
#[test]
fn a_job_without_a_completed_operation_has_no_result() {
    let mut run = queue_full(8, 1_000_000);
    run.jobs[0].error = 121;
    run.jobs[0].result.read = DirectionResult { ios: 8, ..DirectionResult::default() };
    assert_eq!(verdict(&run).headline.code, Code::NothingMeasured);
}

/// The total latency of the writes alone was shown as that of all, although the service times of all are known.
#[test]
fn service_times_count_where_a_kind_has_no_total_latency() {
    let mut run = queue_full(8, 1_000_000);
    let result = &mut run.jobs[0].result;
    result.write = result.read.clone();
    result.write.latency = latency(result.write.ios, 5_000_000, 0);
    assert_eq!(Observation::of(&run, &run.jobs[0]).latency_ns.unwrap().value(), 1_000_000.0);
}

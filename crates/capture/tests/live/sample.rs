//! Counters of live devices, sampled.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use capture::{CaptureOptions, sample};
use record::{Input, Iostat, IostatKind, read_input};
use units::ProblemCode;

use crate::host::{Miss, timed};
use crate::live::host::{LoopDisk, Recorder, await_that, fio};

const INTERVAL: Duration = Duration::from_millis(50);

fn options(device: &str, output: Option<&std::path::Path>) -> CaptureOptions {
    CaptureOptions {
        asked: device.to_owned(),
        output: output.map(std::path::Path::to_path_buf),
        duration: Some(Duration::from_secs(600)),
        ..CaptureOptions::default()
    }
}

fn series(path: &std::path::Path) -> Iostat {
    match read_input("series", &std::fs::read(path).unwrap(), None).unwrap() {
        Input::Iostat(iostat) => iostat,
        other => panic!("{other:?}"),
    }
}

#[test]
fn sums_of_samples_are_those_that_the_kernel_counts() {
    let Some(disk) = LoopDisk::new(64) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.counters");
    let before = disk.counters();
    let report = Recorder::sampled_during(&options(disk.name(), Some(&path)), INTERVAL, || {
        fio(&disk, "--rw=randrw --rwmixread=70 --bsrange=4k-64k --iodepth=16 --ioengine=libaio --number_ios=3000");
        fio(&disk, "--rw=write --bs=16k --size=8m --fsync=8 --ioengine=psync");
        fio(&disk, "--rw=trim --bs=64k --size=4m --ioengine=psync");
        // The last sample comes at least 10 ms after the one before, or not at all.
        std::thread::sleep(Duration::from_millis(100));
    });
    let after = disk.counters();
    let counted = |index: usize| after[index] - before[index];
    let names: Vec<_> = report.kinds.iter().map(|kind| kind.name).collect();
    assert_eq!(names, ["read", "write", "discard", "flush", "all"]);
    // Requests, merges, sectors and milliseconds of each kind, in the order of the kernel.
    for (kind, at) in report.kinds.iter().zip([0, 4, 11]) {
        let found = (kind.requests, kind.merges, kind.bytes, kind.latency_ns.unwrap());
        let latency_ns = counted(at + 3) as f64 * 1e6 / counted(at) as f64;
        assert_eq!(found, (counted(at), counted(at + 1), counted(at + 2) * 512, latency_ns), "{}", kind.name);
        // A busy host misses intervals, and with them a short burst.
        assert!(report.missed > 0 || kind.iops.mean < kind.iops.max, "{kind:?}");
        assert!(kind.iops.p50 <= kind.iops.p95 && kind.iops.p95 <= kind.iops.max, "{kind:?}");
    }
    assert_eq!(report.kinds[3].requests, counted(15));
    assert_eq!(report.requests, report.kinds[4].requests);
    let secs = report.duration_ns as f64 / 1e9;
    assert!((report.depth_mean - counted(10) as f64 / 1e3 / secs).abs() < 1e-9);
    // The file has the same sums.
    let iostat = series(&path);
    let sum = |of: fn(&IostatKind) -> Option<f64>| -> f64 {
        let reports = iostat.reports.iter();
        reports.map(|report| of(&report.devices[0].write).unwrap() * report.seconds.unwrap()).sum()
    };
    let close = |found: f64, expected: u64| (found - expected as f64).abs() < 1e-3 * (1.0 + expected as f64);
    assert!(close(sum(|kind| kind.per_second), counted(4)), "{}", counted(4));
    assert!(close(sum(|kind| kind.bytes_per_second), counted(6) * 512), "{}", counted(6));
    let seconds: f64 = iostat.reports.iter().filter_map(|report| report.seconds).sum();
    assert!((seconds - secs).abs() < 1e-6, "{seconds} {secs}");
    assert_eq!(report.file.unwrap().samples, iostat.reports.len() as u64 + 1);
}

#[test]
fn samples_are_taken_at_multiples_of_the_interval() {
    let Some(disk) = LoopDisk::new(8) else { return };
    timed("live::sample::samples_are_taken_at_multiples_of_the_interval", || are_taken_at_multiples(&disk));
}

/// Returns the median lateness of sleeps of this length.
fn late_sleeps(length: Duration) -> Duration {
    let late = |_| {
        let asleep = Instant::now();
        std::thread::sleep(length);
        asleep.elapsed() - length
    };
    let mut late: Vec<Duration> = (0..11).map(late).collect();
    late.sort();
    late[late.len() / 2]
}

fn are_taken_at_multiples(disk: &LoopDisk) -> Result<(), Miss> {
    let of_host = late_sleeps(INTERVAL);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.counters");
    let short = CaptureOptions { duration: Some(Duration::from_millis(1500)), ..options(disk.name(), Some(&path)) };
    let begun = Instant::now();
    let report = sample(&short, INTERVAL, &mut Recorder::default()).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(1500));
    assert_eq!((report.ended, report.requests), ("after the requested duration", 0));
    // Other work may delay the last but one sample so much that it is the last.
    assert_eq!(u128::from(report.intervals + report.missed), u128::from(report.duration_ns) / INTERVAL.as_nanos());
    let mut elapsed = 0.0;
    let late: Vec<f64> = series(&path)
        .reports
        .iter()
        .map(|report| {
            elapsed += report.seconds.unwrap();
            elapsed % INTERVAL.as_secs_f64()
        })
        .collect();
    // Other work on the host may delay some; none is early, and delays do not add up.
    let in_time = late.iter().filter(|late| **late < 0.01).count();
    if in_time * 2 > late.len() && (report.duration_ns as f64 / 1e9 - 1.5).abs() < 0.1 {
        return Ok(());
    }
    let failure = format!("{late:?} s late, and {} ns in all", report.duration_ns);
    Err(if of_host > Duration::from_millis(5) {
        Miss::Host(format!("plain sleeps are {of_host:?} late: {failure}"))
    } else {
        Miss::Failed(failure)
    })
}

#[test]
fn a_device_that_vanishes_ends_sampling_with_what_was_counted() {
    let Some(mut disk) = LoopDisk::new(64) else { return };
    let report = Recorder::sampled_to_its_end(&options(disk.name(), None), INTERVAL, |calls| {
        fio(&disk, "--ioengine=psync --rw=randread --bs=4k --number_ios=2000 --size=64m");
        // Before each sample it is asked once or twice whether to end.
        let before = calls.load(Ordering::Relaxed);
        await_that(|| calls.load(Ordering::Relaxed) > before + 6);
        disk.detach();
    });
    assert_eq!(report.ended, "because the device disappeared");
    let failure = report.failure.unwrap();
    assert!(failure.what.contains("/stat: the device was detached") && failure.help.is_some(), "{failure}");
    assert!(report.kinds[0].requests >= 2000, "{:?}", report.kinds);
}

#[test]
fn a_series_ends_at_its_size_and_replaces_only_another_one() {
    let Some(disk) = LoopDisk::new(8) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.counters");
    let small = CaptureOptions { bytes_max: Some(1000), ..options(disk.name(), Some(&path)) };
    for _ in 0..2 {
        let report = sample(&small, Duration::from_millis(10), &mut Recorder::default()).unwrap();
        assert_eq!(report.ended, "at the size limit (--max-size)");
        let bytes = std::fs::metadata(&path).unwrap().len();
        assert!((1000..1400).contains(&bytes), "{bytes}");
        assert_eq!(report.file.map(|file| file.bytes), Some(bytes));
    }
    std::fs::write(&path, "notes").unwrap();
    let error = sample(&small, INTERVAL, &mut Recorder::default()).unwrap_err();
    assert!(
        error.to_string().contains("exists and is not a counter series") && error.code == ProblemCode::CaptureRequest,
        "{error}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "notes");
}

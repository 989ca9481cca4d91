//! Captures of live devices: loop devices and zram, loaded by fio. Needs root.

mod host;
mod sample;

use std::time::Duration;

use capture::{CaptureOptions, capture};
use record::DataKind;
use results::capture::{CaptureResult, CaptureSource};
use trace::{TraceOperation, TraceRequest};

use crate::host::timed;
use host::{EndlessLoad, LoopDisk, Recorder, await_that, fio, lock, measured_by_fio, read_trace};
use units::ProblemCode;

fn options(device: &str, output: Option<&std::path::Path>) -> CaptureOptions {
    CaptureOptions {
        asked: device.to_owned(),
        output: output.map(std::path::Path::to_path_buf),
        duration: Some(Duration::from_secs(600)),
        ..CaptureOptions::default()
    }
}

const SOURCES: [CaptureSource; 2] = [CaptureSource::Bpf, CaptureSource::Tracefs];

/// Options for a source.
fn by(source: CaptureSource, options: CaptureOptions) -> CaptureOptions {
    CaptureOptions { source: Some(source), ..options }
}

#[test]
fn completed_requests_are_those_that_the_kernel_counts() {
    let Some((disk, _lock)) = LoopDisk::new(64).zip(lock()) else { return };
    SOURCES.into_iter().for_each(|source| completed_requests_are_counted(&disk, source));
}

fn completed_requests_are_counted(disk: &LoopDisk, source: CaptureSource) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trace");
    let before = disk.counters();
    let report = Recorder::during(&by(source, options(disk.name(), Some(&path))), || {
        fio(disk, "--rw=randrw --rwmixread=70 --bsrange=4k-64k --iodepth=16 --ioengine=libaio --number_ios=3000");
        fio(disk, "--rw=write --bs=16k --size=8m --fsync=8 --ioengine=psync");
        fio(disk, "--rw=randwrite --bs=4k --number_ios=100 --size=4m --sync=1 --ioengine=psync");
        // At sector 0 too, where data that the kernel flushes completes like a call that waits for a flush.
        fio(disk, "--rw=write --bs=4k --size=32k --sync=1 --ioengine=psync");
        fio(disk, "--rw=trim --bs=64k --size=4m --ioengine=psync");
    });
    let after = disk.counters();
    assert_eq!(report.source, source);
    if source == CaptureSource::Bpf && report.lost_events > 0 {
        return lost_calls_are_counted(&report, &before, &after);
    }
    assert_eq!(report.lost_events, 0);
    let (requests, info, is_complete) = read_trace(&path);
    assert!(is_complete && info.lost == Some(0), "{info:?}");
    assert_eq!(info.devices, [(disk.name().to_owned(), Some(64 << 20))]);
    // The load has ended, so all are completed, although a busy kernel leaves out calls of programs.
    let untimed = requests.iter().filter(|request| request.service_ns.is_none()).count();
    assert!(untimed == 0 || source == CaptureSource::Bpf && untimed < requests.len() / 2, "{untimed}");
    let count = |wanted: TraceOperation| {
        let of_kind = |request: &&TraceRequest| request.operation == wanted;
        let found: Vec<_> = requests.iter().filter(of_kind).collect();
        (found.len() as u64, found.iter().map(|request| u64::from(request.length) / 512).sum::<u64>())
    };
    // Reads, writes, discards and flushes, and their sectors. The kernel counts each call that waits for a flush as a write
    // of no sectors too.
    let difference = |index: usize| after[index] - before[index];
    let (reads, writes, discards) =
        (count(TraceOperation::Read), count(TraceOperation::Write), count(TraceOperation::Discard));
    assert_eq!(reads, (difference(0), difference(2)));
    assert_eq!(writes.1, difference(6));
    assert_eq!(discards, (difference(11), difference(13)));
    let flushes = count(TraceOperation::Flush).0;
    assert_eq!(flushes, difference(15));
    assert!(reads.0 > 1000 && writes.0 > 1000 && discards.0 >= 64 && flushes >= 100, "{reads:?} {writes:?} {flushes}");
    assert_eq!(report.counters.len(), 4);
    for comparison in &report.counters {
        assert!(comparison.agrees, "{source:?} {comparison:?}");
    }
    assert_eq!(report.counters[1].counted, difference(4));
    assert!(report.flush_waits >= 100 && writes.0 + report.flush_waits >= difference(4), "{}", report.flush_waits);
    assert!(report.is_trustworthy());
    assert!(requests.is_sorted_by_key(|request| request.issued_ns));
    assert!(info.processes.iter().any(|name| name.starts_with("fio/")), "{:?}", info.processes);
}

/// Some kernels leave out calls of programs, which are counted as lost.
fn lost_calls_are_counted(report: &CaptureResult, before: &[u64], after: &[u64]) {
    let counted: u64 = [0, 4, 11, 15].into_iter().map(|index| after[index] - before[index]).sum();
    let seen = report.profile.totals.requests.total() + report.flush_waits;
    assert!(seen + report.lost_events >= counted, "{seen} and {} of {counted}", report.lost_events);
    assert!(!report.is_trustworthy());
}

#[test]
fn a_known_load_comes_back() {
    let Some((disk, _lock)) = LoopDisk::new(64).zip(lock()) else { return };
    timed("live::a_known_load_comes_back", || known_load_comes_back(&disk));
}

fn known_load_comes_back(disk: &LoopDisk) -> Result<(), String> {
    let mut measured = None;
    let report = Recorder::during(&options(disk.name(), None), || {
        // Two processes at fixed rates: 400 reads of 8 KiB and 100 writes of 32 KiB per second, for 6 s.
        measured = Some(measured_by_fio(
            disk,
            "--ioengine=libaio --iodepth=4 --direct=1 --time_based --runtime=6 --rw=randread --bs=8k --rate_iops=400 --name=b --filename=/dev/LOOP --ioengine=libaio --direct=1 --time_based --runtime=6 --rw=randwrite --bs=32k --rate_iops=100",
        ));
    });
    let measured = measured.unwrap();
    let bytes = |kind| measured.jobs.iter().map(|job| job.result.kind(kind).bytes).sum::<u64>();
    let totals = &report.profile.totals;
    assert_eq!(report.profile.sizes.read.frequent[0].bytes, 8192);
    assert_eq!(report.profile.sizes.write.frequent[0].bytes, 32_768);
    if report.lost_events == 0 {
        assert_eq!(totals.bytes.read - totals.readahead_bytes, bytes(DataKind::Read));
        assert_eq!(totals.bytes.write, bytes(DataKind::Write));
        assert!(report.is_trustworthy(), "{:?}", report.counters);
    }
    // On a busy host fio is late.
    let secs = totals.issue_duration_ns as f64 / 1e9;
    for (sizes, rate) in [(&report.profile.sizes.read, 400.0), (&report.profile.sizes.write, 100.0)] {
        let requests = sizes.frequent[0].requests;
        if (requests as f64 / secs / rate - 1.0).abs() >= 0.01 || report.lost_events > 0 {
            return Err(format!("{requests} instead of {rate} per second in {secs} s, {} lost", report.lost_events));
        }
    }
    Ok(())
}

#[test]
fn the_queue_depth_is_that_of_the_load() {
    let Some((disk, _lock)) = LoopDisk::new(64).zip(lock()) else { return };
    for source in SOURCES {
        let report = Recorder::during(&by(source, options(disk.name(), None)), || {
            fio(
                &disk,
                "--ioengine=libaio --iodepth=8 --iodepth_batch_submit=8 --iodepth_batch_complete_min=8 --rw=randread --bs=4k --number_ios=16000 --io_size=64m",
            );
        });
        let depth = report.profile.depth.unwrap();
        assert_eq!(depth.depth_at_issue.max, 8, "{source:?}");
        // The kernel may join two of a batch.
        let totals = &report.profile.totals;
        let bytes = totals.bytes.read - totals.readahead_bytes;
        assert_eq!(bytes, 16_000 * 4096, "{source:?}");
    }
}

#[test]
fn devices_without_requests_are_captured_by_their_bios() {
    let Some((_lock, zram)) = lock().zip(host::Zram::new()) else { return };
    let before = zram.counters();
    let report = Recorder::during(&options("zram0", None), || {
        host::fio_on("/dev/zram0", "--rw=randrw --bs=4k --size=8m --ioengine=psync");
        host::fio_on("/dev/zram0", "--rw=read --bs=128k --size=8m --ioengine=psync");
    });
    let after = zram.counters();
    assert!(report.takes_bios);
    let totals = &report.profile.totals;
    assert_eq!((totals.bytes.read, totals.bytes.write), ((after[2] - before[2]) * 512, (after[6] - before[6]) * 512));
    assert_eq!((totals.requests.read, totals.requests.write), (after[0] - before[0], after[4] - before[4]));
    assert_eq!((totals.incomplete_requests, report.in_flight_at_start, report.lost_events), (0, 0, 0));
    assert!(report.profile.service_ns.read.is_some_and(|service| service.p50 > 0));
}

#[test]
fn only_the_requests_of_one_process_are_kept() {
    let Some((disk, _lock)) = LoopDisk::new(64).zip(lock()) else { return };
    let job = "--ioengine=psync --rw=randread --bs=4k";
    let chosen = EndlessLoad::on(&disk, &format!("{job} --numjobs=2"));
    let other = EndlessLoad::on(&disk, job);
    let only = CaptureOptions { process: Some(chosen.id()), ..options(disk.name(), None) };
    let mut requests = 0;
    let report = Recorder::during(&only, || {
        // Each load reads for so long that all its threads have done so.
        let (first, second) = (chosen.read_bytes(), other.read_bytes());
        await_that(|| chosen.read_bytes() > first + 4_000 * 4096 && other.read_bytes() > second + 1_000 * 4096);
        requests = (chosen.read_bytes() - first) / 4096;
    });
    let used: Vec<_> =
        report.profile.processes.iter().map(|process| &report.processes[usize::from(process.process)]).collect();
    assert_eq!(used.len(), 2, "{used:?}");
    assert!(report.processes.len() >= 3, "{:?}", report.processes);
    // Some kernels leave out calls of programs, which are counted as lost, and issue some requests in threads of their own.
    let seen = report.profile.totals.requests.read + report.lost_events;
    assert!(seen > requests / 2, "{seen} of {requests}");
}

#[test]
fn a_capture_of_a_process_ends_with_it() {
    let Some((disk, _lock)) = LoopDisk::new(64).zip(lock()) else { return };
    let mut load = host::spawn_fio(disk.path(), "--ioengine=psync --rw=randread --bs=4k --time_based --runtime=2");
    let only = CaptureOptions { process: Some(load.id()), ..options(disk.name(), None) };
    let report = Recorder::to_its_end(&only, || {
        load.wait().unwrap();
    });
    assert_eq!(report.ended, "because the process exited");
}

#[test]
fn an_anonymous_trace_has_no_names_and_other_positions() {
    let Some((disk, _lock)) = LoopDisk::new(64).zip(lock()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trace");
    let anonymous = CaptureOptions { anonymize: true, ..options(disk.name(), Some(&path)) };
    Recorder::during(&anonymous, || fio(&disk, "--rw=read --bs=64k --size=64m --ioengine=psync"));
    let (requests, info, _) = read_trace(&path);
    assert!(info.is_anonymous);
    let names = format!("{info:?}");
    assert!(!names.contains("fio/") && !names.contains(disk.name()), "{names}");
    let reads: Vec<_> = requests.iter().filter(|request| request.length == 65_536).collect();
    assert!(reads.len() >= 1024);
    let runs = reads.windows(2).filter(|pair| pair[1].offset == pair[0].offset + 65_536).count();
    assert!(runs * 100 >= reads.len() * 90, "runs inside of regions stay: {runs} of {}", reads.len());
    assert!(!reads.is_sorted_by_key(|request| request.offset));
    assert!(reads.iter().all(|request| request.offset + 65_536 <= 64 << 20));
}

#[test]
fn lost_events_are_counted() {
    let Some((disk, _lock)) = LoopDisk::new(64).zip(lock()) else { return };
    SOURCES.into_iter().for_each(|source| lost_events_are_counted_by(&disk, source));
}

fn lost_events_are_counted_by(disk: &LoopDisk, source: CaptureSource) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trace");
    let small = CaptureOptions { buffer_bytes: Some(8 << 10), ..by(source, options(disk.name(), Some(&path))) };
    let report = Recorder::stalled_during(&small, || {
        fio(disk, "--rw=randread --bs=4k --iodepth=16 --ioengine=libaio --number_ios=20000 --io_size=80m");
    });
    assert!(report.lost_events > 0);
    assert!(!report.is_trustworthy());
    let (requests, info, _) = read_trace(&path);
    assert_eq!(info.lost, Some(report.lost_events));
    // Each request has an issue and a completion, or one record, and each lost one is one of them.
    let whole = requests.iter().filter(|request| request.service_ns.is_some()).count() as u64;
    assert!(whole + report.lost_events >= 20_000, "{whole} and {}", report.lost_events);
}

#[test]
fn an_instance_of_a_killed_capture_is_removed() {
    let Some((disk, _lock)) = LoopDisk::new(8).zip(lock()) else { return };
    let Some(tracefs) = host::mounted_tracefs() else { return };
    let left = tracefs.path().join("instances/fathom-4194305");
    std::fs::create_dir(&left).unwrap();
    let short = CaptureOptions {
        duration: Some(Duration::from_millis(100)),
        ..by(CaptureSource::Tracefs, options(disk.name(), None))
    };
    let report = Recorder::to_its_end(&short, || {});
    assert_eq!(report.ended, "after the requested duration");
    assert!(!left.exists(), "an instance of a process that does not exist");
    let own = format!("fathom-{}", std::process::id());
    let names = std::fs::read_dir(tracefs.path().join("instances")).unwrap().flatten().map(|entry| entry.file_name());
    assert!(!names.filter_map(|name| name.into_string().ok()).any(|name| name.starts_with(&own)));
}

#[test]
fn what_cannot_be_captured_is_an_error_with_a_remedy() {
    let refused = |asked: &str| capture(&options(asked, None), &mut Recorder::default()).unwrap_err().to_string();
    assert!(refused("/proc/self").contains("not on a block device; "), "{}", refused("/proc/self"));
    assert!(refused("/no/such").contains("; "));
    let process = CaptureOptions { process: Some(u32::MAX), ..options("/", None) };
    let error = capture(&process, &mut Recorder::default()).unwrap_err();
    assert!(error.code == ProblemCode::CaptureRequest, "{error}");
}

#[test]
fn requests_in_flight_at_the_end_have_no_service_time() {
    let Some((disk, _lock)) = LoopDisk::new(64).zip(lock()) else { return };
    for source in SOURCES {
        let _load = EndlessLoad::on(&disk, "--ioengine=libaio --iodepth=32 --rw=randread --bs=4k");
        let short =
            CaptureOptions { duration: Some(Duration::from_millis(50)), ..by(source, options(disk.name(), None)) };
        let (mut in_flight, mut at_start, mut at_end) = (Vec::new(), false, false);
        // The load may have nothing in flight while it waits for a processor.
        while in_flight.len() < 5 || in_flight.len() < 500 && !(at_start && at_end) {
            let report = Recorder::to_its_end(&short, || {});
            let is_complete = report.is_trustworthy() || source == CaptureSource::Bpf && report.lost_events > 0;
            assert!(is_complete, "{source:?}: {:?}", report.counters);
            let (start, end) = (report.in_flight_at_start, report.profile.totals.incomplete_requests);
            in_flight.push((start, end));
            (at_start, at_end) = (at_start || start > 0, at_end || end > 0);
        }
        // A request whose issue alone was recorded would count too: the load has 32, which a block layer may split.
        assert!(in_flight.iter().all(|(start, end)| *start <= 64 && *end <= 64), "{source:?}: {in_flight:?}");
        assert!(at_start && at_end, "{source:?}: {in_flight:?}");
    }
}

#[test]
fn devices_without_requests_are_not_captured_by_programs() {
    let Some((_lock, _zram)) = lock().zip(host::Zram::new()) else { return };
    let refused = capture(&by(CaptureSource::Bpf, options("zram0", None)), &mut Recorder::default()).unwrap_err();
    assert!(refused.to_string().contains("zram0 does not queue requests itself; "), "{refused}");
}

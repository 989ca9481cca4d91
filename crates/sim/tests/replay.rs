//! Tests of traces that are replayed on modelled volumes, through the run seam.

use std::collections::BTreeMap;
use std::sync::Arc;

use job::{Dialect, InjectedOptions, Plan, parse_job_arguments};
use record::Run;
use runner::{CreditPolicy, NullObserver, RunOptions, Runner, Seeds, Uninterrupted, WorkerResult};
use trace::{TraceInfo, TraceOperation, TraceRequest, TraceWriter, TraceWriterOptions};
use units::Nanos;
use units::random::Random;

use crate::model::{MemoryTraces, model};

fn encoded(requests: &[TraceRequest]) -> Vec<u8> {
    let devices = vec![("sda".to_owned(), None)];
    let info = TraceInfo {
        source: "test".into(),
        devices,
        processes: vec!["db/7".into(), "kworker/0:1H/9".into()],
        ..TraceInfo::default()
    };
    let mut writer = TraceWriter::new(info, TraceWriterOptions { tick_ns: 1, ..TraceWriterOptions::default() });
    requests.iter().for_each(|request| writer.push(request));
    writer.finish()
}

pub(crate) fn plan(volume: &str, words: &[&str]) -> Plan {
    let words: Vec<String> = words.iter().map(|word| format!("--{word}")).collect();
    let before = [("ioengine", "model"), ("volume", volume)].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let around = InjectedOptions { before: before.into(), after: Vec::new() };
    parse_job_arguments(&words, &[], &around, Dialect::Strict, &job::EmptySource).into_result().expect("a job").0
}

/// Replays a trace on a volume.
fn replay(requests: &[TraceRequest], volume: &str, words: &[&str]) -> Result<(Run, Vec<WorkerResult>), String> {
    replay_with(requests, volume, words, &RunOptions::default())
}

fn replay_with(
    requests: &[TraceRequest],
    volume: &str,
    words: &[&str],
    options: &RunOptions,
) -> Result<(Run, Vec<WorkerResult>), String> {
    let traces = Arc::new(MemoryTraces(BTreeMap::from([("t".to_owned(), encoded(requests).into())])));
    let runner = model();
    let runner = runner.with_traces(traces);
    let plan = plan(volume, &[&["replay=t"], words].concat());
    let prepared = runner.prepare(&plan, Seeds::fixed(7)).map_err(|problems| format!("{problems:?}"))?;
    let completed = prepared.run(options, &Uninterrupted, &mut NullObserver).expect("a run");
    Ok((completed.run, completed.workers))
}

fn reads(count: u64, gap_ns: u64) -> Vec<TraceRequest> {
    let mut random = Random::new(5, 5);
    let read = |index| TraceRequest {
        issued_ns: index * gap_ns,
        service_ns: Some(100_000),
        offset: random.below(1 << 20) * 4096,
        length: 4096,
        ..TraceRequest::default()
    };
    (0..count).map(read).collect()
}

const PLAIN: &str = "custom,size=10GiB,latency=500us";

#[test]
fn every_request_is_replayed_at_its_instant() {
    let (run, workers) = replay(&reads(10_000, 50_000), PLAIN, &[]).unwrap();
    let job = &run.jobs[0];
    assert_eq!((job.name.as_str(), job.result.ios()), ("replay", 10_000));
    let outcome = workers[0].replay.as_ref().unwrap();
    assert_eq!((outcome.issued, outcome.behind_max, &outcome.error), (10_000, Nanos::ZERO, &None));
    // The last request begins at 499.95 ms and takes 0.5 ms.
    assert_eq!(run.model.as_ref().unwrap().elapsed_ns, 9_999 * 50_000 + 500_000);
    let response = &job.result.read.response;
    assert_eq!((response.min_ns, response.max_ns), (500_000, 500_000));
}

/// Latencies of an overloaded volume count from the intended instants, although the queue is full.
#[test]
fn a_slow_volume_has_the_whole_wait_in_its_latencies() {
    let volume = "custom,size=10GiB,iops=1000,latency=500us,jitter=0ms";
    for depth in [&[][..], &["iodepth=1"]] {
        let (run, workers) = replay(&reads(2_000, 500_000), volume, depth).unwrap();
        // 2,000 requests in a second take two: the last one waits for another second.
        let response = &run.jobs[0].result.read.response;
        assert!((990_000_000..=1_010_000_000).contains(&response.max_ns), "{depth:?}: {}", response.max_ns);
        let outcome = workers[0].replay.as_ref().unwrap();
        assert_eq!(outcome.behind_max > Nanos::from_millis(900), !depth.is_empty());
    }
}

#[test]
fn speed_loop_and_window_hold_on_a_model() {
    let requests = reads(1_000, 1_000_000);
    let elapsed = |words: &[&str]| replay(&requests, PLAIN, words).unwrap().0.model.unwrap().elapsed_ns;
    assert_eq!(elapsed(&[]), 999_500_000);
    assert_eq!(elapsed(&["speed=2x"]), 500_000_000);
    assert_eq!(elapsed(&["replay_start=500ms", "replay_for=100ms"]), 99_500_000);
    // Each request waits for the one before: 0.9 ms of think time and 0.5 ms of latency.
    assert_eq!(elapsed(&["replay_loop=closed"]), 999 * 1_400_000 + 500_000);
    assert_eq!(elapsed(&["speed=max"]), 500_000);
    assert_eq!(elapsed(&["speed=max", "iodepth=1"]), 500_000_000);
}

#[test]
fn a_trace_that_cannot_be_replayed_is_refused_before_the_run() {
    let requests = reads(10, 1_000);
    let refused = |words: &[&str]| replay(&requests, PLAIN, words).unwrap_err();
    assert!(refused(&["read_iolog=nowhere"]).contains("nowhere: there is no such file"));
    assert!(refused(&["replay_start=1h"]).contains("nothing to replay"));
    assert!(refused(&["replay_skip=read"]).contains("10 requests skipped by `replay_skip`"));
}

#[test]
fn a_smaller_volume_has_all_requests() {
    let mut requests = reads(5_000, 10_000);
    for (index, request) in (0..).zip(&mut requests) {
        request.offset *= 100;
        request.operation = [TraceOperation::Read, TraceOperation::Write][index % 2];
    }
    for fit in ["scale", "wrap", "fold"] {
        let (run, workers) = replay(&requests, PLAIN, &[&format!("replay_fit={fit}")]).unwrap();
        assert_eq!((run.jobs[0].result.ios(), run.jobs[0].error), (5_000, 0), "{fit}");
        assert_eq!(workers[0].summary.errors, 0);
    }
}

/// A volume with burst credits shows when a trace has used them up.
#[test]
fn credits_run_out_as_the_trace_spends_them() {
    // 2 % of 5.4 million credits, spent at 2,000 and earned at 100 per second, last 56.8 s.
    let left = BTreeMap::from([("volume IOPS".to_owned(), 20_000_000)]);
    let options = RunOptions { credits: CreditPolicy::Left(left), ..RunOptions::default() };
    let (run, _) = replay_with(&reads(200_000, 500_000), "aws/gp2,size=20GiB", &[], &options).unwrap();
    let credits = run.model.as_ref().unwrap().stages.iter().find_map(|stage| stage.credits.as_ref()).expect("credits");
    let empty_s = credits.empty_at_ns.map(|at| at / 1_000_000_000);
    assert_eq!(empty_s, Some(56), "{credits:?}");
}

/// Flushes are issued by kernel workers: 1,500 commits of a database took 18 s on a device on which they take 45 s.
#[test]
fn a_closed_loop_waits_for_the_flush_that_a_kernel_worker_issued() {
    const COMMITS: u64 = 300;
    let commit = |index: u64| {
        let at = |us: u64| (index * 200 + us) * 1_000;
        let write = TraceRequest {
            issued_ns: at(0),
            service_ns: Some(10_000),
            offset: index * 4096,
            length: 4096,
            operation: TraceOperation::Write,
            is_sync: true,
            ..TraceRequest::default()
        };
        let flush = TraceRequest {
            issued_ns: at(30),
            service_ns: Some(20_000),
            operation: TraceOperation::Flush,
            process: 1,
            ..TraceRequest::default()
        };
        [write, flush]
    };
    let requests: Vec<TraceRequest> = (0..COMMITS).flat_map(commit).collect();
    let (run, _) =
        replay(&requests, "custom,size=1GiB,latency=10ms", &["replay_loop=closed"]).expect("a trace with completions");
    let serial_s = COMMITS as f64 * (0.010 + 20e-6 + 0.010 + 150e-6);
    let elapsed_s = run.jobs[0].result.elapsed_ns() as f64 / 1e9;
    assert!((elapsed_s / serial_s - 1.0).abs() < 0.01, "{elapsed_s} s, {serial_s} s");
}

/// The time before the first request counted: a trace of 5.9 s that begins after 2.9 s had two thirds of its rate.
#[test]
fn the_time_before_the_first_request_counts_for_no_rate() {
    let late: Vec<TraceRequest> = reads(1_000, 1_000_000)
        .into_iter()
        .map(|read| TraceRequest { issued_ns: read.issued_ns + 3_000_000_000, ..read })
        .collect();
    for replay_loop in ["open", "closed"] {
        let (run, _) =
            replay(&late, "custom,size=1GiB,latency=100us", &[&format!("replay_loop={replay_loop}")]).unwrap();
        let read = &run.jobs[0].result.read;
        assert_eq!(read.ios, 1_000);
        assert!(read.runtime_ns.abs_diff(999_100_000) < 1_000_000, "{replay_loop}: {} ns", read.runtime_ns);
    }
}

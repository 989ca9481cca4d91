//! Purchase plans for traces: values that follow from the trace are found exactly, by replays in virtual time.

use std::collections::BTreeMap;
use std::sync::Arc;

use job::ReplayLoop;
use plan::replay::{ReplayBounds, ReplayTrial, ReplayedCandidate};
use plan::{Need, Requirement};
use procedure::trace_purchase::{PreparedTrace, TraceQuestion};
use results::plan::TracePlanResult;
use runner::Uninterrupted;
use sim::model::ModelRunner;
use trace::{TraceInfo, TraceOperation, TraceRequest, TraceWriter, TraceWriterOptions};
use units::{Nanos, Problem};

use crate::model::{MemoryTraces, model};

fn encoded(requests: &[TraceRequest]) -> Vec<u8> {
    let info = TraceInfo {
        source: "test".into(),
        devices: vec![("sda".to_owned(), Some(1 << 40))],
        processes: vec!["db".into()],
        ..TraceInfo::default()
    };
    let mut writer = TraceWriter::new(info, TraceWriterOptions { tick_ns: 1, ..TraceWriterOptions::default() });
    requests.iter().for_each(|request| writer.push(request));
    writer.finish()
}

fn prepared(bytes: &[u8], is_full: bool, dependence: ReplayLoop) -> Result<PreparedTrace, Problem> {
    let traces = Arc::new(MemoryTraces(BTreeMap::from([("t".to_owned(), bytes.into())])));
    Ok(PreparedTrace::read("t", (is_full, dependence), traces, |_| true)?.expect("it is not interrupted"))
}

fn runner(trace: &PreparedTrace) -> ModelRunner {
    model().with_traces(trace.traces())
}

fn question(volumes: &[&str], bounds: ReplayBounds) -> TraceQuestion {
    let volumes = volumes.iter().map(|volume| (*volume).to_owned()).collect();
    TraceQuestion { need: Need { volumes, ..Need::default() }, bounds, seed: 1, resolution: 0.0 }
}

fn plan(requests: &[TraceRequest], question: TraceQuestion) -> TracePlanResult {
    let trace = prepared(&encoded(requests), true, ReplayLoop::Open).unwrap();
    let one_by_one = |count: usize, work: &(dyn Fn(usize) + Sync)| (0..count).for_each(work);
    trace.plan(question, &runner(&trace), &Uninterrupted, (one_by_one, &|_, _| {}))
}

fn best(report: &TracePlanResult) -> &ReplayedCandidate {
    let found: Vec<_> = report.candidates.iter().map(|one| &one.candidate.spec.name).collect();
    &report.candidates[report.ranking.best.unwrap_or_else(|| panic!("none of {found:?}"))]
}

fn mean(us: u64) -> ReplayBounds {
    ReplayBounds { mean: Some(Nanos::from_micros(us)), percentiles: Vec::new() }
}

fn p99(ns: u64) -> ReplayBounds {
    ReplayBounds { mean: None, percentiles: vec![(0.99, Nanos::new(ns))] }
}

/// Returns `bursts` bursts of 100 requests at once, one each 10 ms.
fn bursts(bursts: u64, operation: TraceOperation) -> Vec<TraceRequest> {
    let at = |index: u64| TraceRequest {
        issued_ns: index / 100 * 10_000_000,
        service_ns: Some(200_000),
        offset: index % 4096 * 4096,
        length: 4096,
        operation,
        ..TraceRequest::default()
    };
    (0..100 * bursts).map(at).collect()
}

/// A volume that serves each request in 0.5 ms, as evenly as its provisioned rate demands.
const EXACT: &str = "aws/gp3,size=100GiB,latency=500us,jitter=0ms";

fn named(iops: u64) -> String {
    format!("{EXACT},iops={iops},throughput=125MiB/s")
}

#[test]
fn the_mean_latency_determines_the_least_iops() {
    // The requests of a burst wait for 0 to 99 times 1/iops: 49.5 / iops + 0.5 ms are 3 ms at 19,800.
    let report = plan(&bursts(200, TraceOperation::Read), question(&[EXACT], mean(3_000)));
    let found = best(&report);
    assert_eq!(found.candidate.spec.name, named(19_800));
    let outcome = found.outcome.as_ref().unwrap();
    assert!((outcome.mean_secs - 0.003).abs() < 1e-6 && outcome.requests == 20_000, "{}", outcome.mean_secs);
    assert_eq!(report.trace.replayed.requests, 20_000);
    // Twice as fast, bursts come each 5 ms, and burst `j` of 200 finds a backlog of `j` times (100 / iops - 5 ms):
    // 49.5 / iops + 99.5 (100 / iops - 5 ms) are 2.5 ms at 19,999.
    let faster = Need { headroom: 1.0, volumes: vec![EXACT.to_owned()], ..Need::default() };
    let faster = TraceQuestion { need: faster, ..question(&[], mean(3_000)) };
    assert_eq!(best(&plan(&bursts(200, TraceOperation::Read), faster)).candidate.spec.name, named(19_999));
}

#[test]
fn a_percentile_determines_the_least_iops() {
    let bound = 5_000_000;
    // 99 of 100 wait for 98 times 1/iops or less. Percentiles are those of the buckets of the histogram.
    let fits = |iops: &u64| meter::value_of(meter::bucket_of(98 * 1_000_000_000 / iops + 500_000)) <= bound;
    let least = (10_000..40_000).find(fits).unwrap();
    let report = plan(&bursts(200, TraceOperation::Read), question(&[EXACT], p99(bound)));
    assert_eq!(best(&report).candidate.spec.name, named(least));
}

#[test]
fn without_a_bound_the_volume_keeps_up() {
    // 20,000 requests, the last at 1.99 s: the volume may end 0.1 s later.
    let least = (19_999.0_f64 / (1.99 + 0.1 - 0.0005)).ceil() as u64;
    let report = plan(&bursts(200, TraceOperation::Write), question(&[EXACT], ReplayBounds::default()));
    assert_eq!(best(&report).candidate.spec.name, named(least));
    assert_eq!(report.trace.replayed.read_share, 0.0);
}

#[test]
fn throttled_time_is_that_in_which_requests_waited() {
    let trace = prepared(&encoded(&bursts(100, TraceOperation::Read)), true, ReplayLoop::Open).unwrap();
    let runner = runner(&trace);
    let replayer = trace.replayer(&runner, 1, &Uninterrupted);
    let trial = ReplayTrial { volume: named(20_000), speed: 1.0, until_missed: None };
    let outcome = replayer.replay(&trial).unwrap();
    // The last of 100 waits for 99 / 20,000 s of each 10 ms; the replay ends 5.45 ms after the last burst.
    let exact = 100.0 * 0.00495 / (0.99 + 0.00545);
    assert!((outcome.throttled() / exact - 1.0).abs() < 1e-3, "{} of {exact}", outcome.throttled());
    let limit = outcome.bottleneck().unwrap();
    assert!(limit.name == "volume IOPS" && (limit.delayed - 0.99).abs() < 1e-9, "{limit:?}");
}

/// Returns requests at a constant rate.
fn steady(iops: u64, secs: u64) -> Vec<TraceRequest> {
    let at = |index: u64| TraceRequest {
        issued_ns: index * 1_000_000_000 / iops,
        service_ns: Some(300_000),
        offset: index * 7 % 100_000 * 4096,
        length: 4096,
        ..TraceRequest::default()
    };
    (0..iops * secs).map(at).collect()
}

#[test]
fn credits_run_out_at_the_computed_time() {
    let trace = prepared(&encoded(&steady(1_300, 90)), true, ReplayLoop::Open).unwrap();
    let runner = runner(&trace);
    let replayer = trace.replayer(&runner, 1, &Uninterrupted);
    // 300 credits per second are earned and 1,300 spent: 54,000 of 5.4 million last for 54 s.
    let volume = "aws/gp2,size=100GiB,credits=1%".to_owned();
    let outcome = replayer.replay(&ReplayTrial { volume, speed: 1.0, until_missed: None }).unwrap();
    let credits = outcome.limits.iter().find_map(|limit| limit.credits.as_ref()).unwrap();
    let at = credits.empty_at_secs.unwrap();
    assert!((at - 54.0).abs() < 0.1, "{at}");
    assert_eq!(credits.low.0, 0.0);
    // Before that no request waited; afterwards 1,000 of 1,300 more arrive each second than are admitted.
    let before = outcome.course.iter().filter(|one| one.to_secs < 50.0);
    assert!(
        before.clone().count() > 10 && before.clone().all(|one| one.p99_secs < 0.02),
        "{:?}",
        outcome.course.first()
    );
    assert!(outcome.behind_secs() > 100.0, "{}", outcome.behind_secs());
}

#[test]
fn a_replay_ends_when_a_bound_is_surely_missed() {
    /// A control whose clock advances with each look, as real time does.
    struct Ticking(std::sync::atomic::AtomicU64);
    impl runner::RunControl for Ticking {
        fn end(&self) -> Option<i32> {
            None
        }
        fn gives_up(&self) -> bool {
            false
        }
        fn is_urgent(&self) -> bool {
            false
        }
        fn grace(&self) -> std::time::Duration {
            std::time::Duration::ZERO
        }
        fn take_status_request(&self) -> bool {
            false
        }
        fn elapsed(&self) -> std::time::Duration {
            std::time::Duration::from_millis(100 * self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        }
    }
    let trace = prepared(&encoded(&steady(5_000, 60)), true, ReplayLoop::Open).unwrap();
    let (runner, control) = (runner(&trace), Ticking(Default::default()));
    let replayer = trace.replayer(&runner, 1, &control);
    let trial =
        |until_missed| ReplayTrial { volume: "aws/gp3,size=10GiB,jitter=0ms".to_owned(), speed: 1.0, until_missed };
    let stopped = replayer.replay(&trial(Some(p99(5_000_000)))).unwrap();
    assert!(stopped.was_stopped && stopped.requests < 30_000, "{} of {}", stopped.requests, stopped.planned);
    assert_eq!(stopped.shortfalls(&p99(5_000_000))[0].requirement, Requirement::Percentile);
    let whole = replayer.replay(&trial(None)).unwrap();
    assert!(!whole.was_stopped && whole.requests == 300_000);
}

#[test]
fn a_closed_loop_slows_down_instead_of_falling_behind() {
    // One request after the other, 0.1 ms after each completion.
    let chain: Vec<TraceRequest> = (0..5_000_u64)
        .map(|index| TraceRequest {
            issued_ns: index * 300_000,
            service_ns: Some(200_000),
            offset: index % 1_000 * 4096,
            length: 4096,
            ..TraceRequest::default()
        })
        .collect();
    let volume = "custom,size=10GiB,iops=1000,latency=500us,jitter=0ms";
    let result = |dependence: ReplayLoop| {
        let trace = prepared(&encoded(&chain), true, dependence).unwrap();
        let runner = runner(&trace);
        let trial = ReplayTrial { volume: volume.to_owned(), speed: 1.0, until_missed: None };
        trace.replayer(&runner, 1, &Uninterrupted).replay(&trial).unwrap()
    };
    let (open, closed) = (result(ReplayLoop::Open), result(ReplayLoop::Closed));
    assert!(open.percentile_secs(0.99).unwrap() > 3.0 && open.behind_secs() > 3.0, "{open:?}");
    assert!(closed.percentile_secs(0.99).unwrap() < 0.001_1 && closed.behind_secs() == 0.0);
    assert!((closed.elapsed_secs / 5.0 - 1.0).abs() < 0.01, "{}", closed.elapsed_secs);
    // Its format must have completions.
    let iolog = b"fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n1000 /dev/sda read 0 4096\n";
    let refused = prepared(iolog, true, ReplayLoop::Closed).unwrap_err();
    assert!(refused.what.contains("requires completions") && refused.help.is_some(), "{refused}");
}

#[test]
fn a_long_trace_is_represented_by_its_busiest_hour() {
    // Six hours at 2 per second, of which the third has 20 per second.
    let mut requests: Vec<TraceRequest> = (0..6 * 3_600 * 2_u64)
        .flat_map(|half| {
            let busy = (2 * 3_600..3 * 3_600).contains(&(half / 2));
            let count = if busy { 10 } else { 1 };
            (0..count).map(move |index| TraceRequest {
                issued_ns: half * 500_000_000 + index * 1_000_000,
                service_ns: Some(400_000),
                offset: half % 1_000 * 4096,
                length: 4096,
                ..TraceRequest::default()
            })
        })
        .collect();
    requests.iter_mut().for_each(|request| request.issued_ns += 1_234_567);
    let bytes = encoded(&requests);
    let busiest = prepared(&bytes, false, ReplayLoop::Open).unwrap().described();
    let (from, to) = busiest.replayed.secs.unwrap();
    // Whole intervals of 16.4 s.
    assert!((from - 7_200.0).abs() < 16.4 && (to - 10_800.0).abs() < 16.4 && to - from >= 3_600.0, "{from} to {to}");
    assert!((71_600..72_100).contains(&busiest.replayed.requests), "{}", busiest.replayed.requests);
    let full = prepared(&bytes, true, ReplayLoop::Open).unwrap().described();
    assert_eq!((full.replayed.secs, full.replayed.requests), (None, requests.len() as u64));
    assert_eq!(full.requests, busiest.requests);
}

#[test]
fn traces_without_an_answer_are_refused_with_the_reason() {
    let refused = |bytes: &[u8]| prepared(bytes, true, ReplayLoop::Open).unwrap_err();
    assert!(refused(&encoded(&[])).what.contains("nothing to replay"));
    assert!(refused(b"").what.contains("empty file"));
    assert!(refused(b"\x1f\x8bzzzz").help.is_some_and(|help| help.contains("zcat")));
    for error in [refused(&encoded(&[])), refused(b""), refused(b"hello")] {
        assert!(error.help.is_some(), "{error}");
    }
    // Flushes alone have no latency that a volume could bound.
    let flush = TraceRequest { operation: TraceOperation::Flush, ..TraceRequest::default() };
    let trace = prepared(&encoded(&[flush]), true, ReplayLoop::Open);
    assert!(trace.is_ok_and(|trace| trace.described().replayed.requests == 0));
}

#[test]
fn a_truncated_trace_is_replayed_up_to_its_end_and_says_so() {
    let bytes = encoded(&bursts(400, TraceOperation::Read));
    let cut = &bytes[..bytes.len() * 2 / 3];
    let trace = prepared(cut, true, ReplayLoop::Open).unwrap();
    let described = trace.described();
    assert!(described.requests > 0 && described.requests < 40_000);
    assert!(described.notes.iter().any(|note| note.contains("truncated")), "{:?}", described.notes);
    let mut damaged = bytes;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    let described = prepared(&damaged, true, ReplayLoop::Open).unwrap().described();
    assert!(described.notes.iter().any(|note| note.contains("damaged")), "{:?}", described.notes);
}

#[test]
fn an_explanation_compares_the_volume_with_the_device_of_the_trace() {
    let trace = prepared(&encoded(&bursts(200, TraceOperation::Read)), true, ReplayLoop::Open).unwrap();
    let runner = runner(&trace);
    let notes = |volume: &str| {
        let explained = trace.explain(volume, &runner, 1, &Uninterrupted).unwrap();
        assert_eq!((explained.kind, explained.input.as_str()), ("trace", "t"));
        assert!(explained.explanations[0].findings.is_empty());
        explained.explanations[0].notes.join("\n")
    };
    let enough = notes(&named(20_000));
    // 98 of 100 wait for up to 4.9 ms, in buckets of 0.8 %.
    for part in [
        "the volume sustains the load; volume IOPS is the limit",
        "original device: p50 200 us, p99 200 us",
        "p99 5.4",
        "throttled 99.0%",
    ] {
        assert!(enough.contains(part), "{part}: {enough}");
    }
    let slow = notes(&named(5_000));
    assert!(slow.contains("does not sustain the load: the replay ends 2.0"), "{slow}");
    let burst = notes("aws/gp2,size=100GiB");
    assert!(burst.contains("the burst credits of volume IOPS were lowest at 99."), "{burst}");
    assert!(trace.explain("aws/gp3,size=1GiB,iops=9", &runner, 1, &Uninterrupted).is_none());
}

//! Tests of the replay of traces.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use job::{Dialect, Job, MergedInput, ReplayFacts, ReplayFit, ReplayLoop, ReplayOptions, TraceMerge};
use trace::{TraceInfo, TraceOperation, TraceRequest, TraceWriter, TraceWriterOptions};
use units::random::Random;
use units::{Nanos, OpKind, PerKind, Problem};
use workload::{
    Decision, FileExtent, FileFact, Issuer, JobLayout, MergedTrace, Next, Operations, ReplayOutcome, StreamStep,
    TraceBytes, TraceStream, WorkerIndex, scan_trace,
};

use crate::common::option_of;

/// Bytes in memory, given out in pieces.
#[derive(Clone, Debug)]
struct Memory {
    bytes: Vec<u8>,
    at: usize,
    piece: usize,
}

impl TraceBytes for Memory {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Problem> {
        let count = buffer.len().min(self.piece).min(self.bytes.len() - self.at);
        buffer[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }

    fn rewind(&mut self) -> Result<(), Problem> {
        self.at = 0;
        Ok(())
    }
}

fn memory(bytes: &[u8]) -> Box<dyn TraceBytes> {
    Box::new(Memory { bytes: bytes.to_vec(), at: 0, piece: 100_000 })
}

const GIB: u64 = 1 << 30;

fn info(devices: usize) -> TraceInfo {
    let devices = (0..devices).map(|device| (format!("disk{device}"), None)).collect();
    let processes = (0..8).map(|process| format!("p{process}")).collect();
    TraceInfo { source: "test".into(), devices, processes, lost: Some(0), ..TraceInfo::default() }
}

/// Writes a trace with a resolution of a nanosecond, so that instants are exact.
fn written(requests: &[TraceRequest], info: TraceInfo) -> Vec<u8> {
    let mut writer = TraceWriter::new(info, TraceWriterOptions { tick_ns: 1, block_requests: 500 });
    requests.iter().for_each(|request| writer.push(request));
    writer.finish()
}

fn trace(requests: &[TraceRequest]) -> Vec<u8> {
    written(requests, info(1))
}

fn read_at(issued_ns: u64, offset: u64) -> TraceRequest {
    TraceRequest { issued_ns, service_ns: Some(1_000), offset, length: 4096, ..TraceRequest::default() }
}

/// Returns the job of a replay, with the facts of its trace, as a runner resolves it.
fn job(options: ReplayOptions, bytes: &[u8]) -> Result<Job, Problem> {
    let facts = scan_trace(&options, memory(bytes))?;
    let mut job = Job { replay: Some(ReplayOptions { facts: Some(facts), ..options }), ..Job::default() };
    job.pattern.norandommap = true;
    Ok(job)
}

fn facts(job: &Job) -> &ReplayFacts {
    job.replay.as_ref().and_then(|replay| replay.facts.as_ref()).expect("facts")
}

fn issuer(job: &Job, bytes: &[u8], files: &[u64]) -> Result<Issuer, Problem> {
    let files = files.iter().map(|&length| FileExtent { start: 0, length }).collect();
    let layout = JobLayout { files, ..JobLayout::default() };
    Issuer::replaying(job, WorkerIndex::default(), &layout, 1, memory(bytes))
}

/// Drives an issuer with operations that take `latency`, in virtual time from `start`. Returns decisions with the
/// instants at which they were issued.
fn drive(issuer: &mut Issuer, start: u64, mut latency: impl FnMut(&Decision) -> u64) -> Vec<(u64, Decision)> {
    let (mut now, mut issued) = (start, Vec::new());
    let mut flights: BinaryHeap<Reverse<(u64, u64)>> = BinaryHeap::new();
    let mut decisions: Vec<Decision> = Vec::new();
    loop {
        let until = match issuer.next(Nanos::new(now)) {
            Next::Issue(decision) => {
                issued.push((now, decision));
                decisions.push(decision);
                flights.push(Reverse((now.saturating_add(latency(&decision)), decision.sequence)));
                continue;
            }
            Next::Until(instant) => instant.get(),
            Next::Blocked => {
                assert!(!flights.is_empty(), "blocked although nothing is in flight");
                u64::MAX
            }
            Next::Done if flights.is_empty() => return issued,
            Next::Done => u64::MAX,
            next => panic!("{next:?}"),
        };
        match flights.peek() {
            Some(&Reverse((at, sequence))) if at <= until => {
                flights.pop();
                now = now.max(at);
                issuer.complete(&decisions[sequence as usize], Nanos::new(now));
            }
            _ => now = now.max(until),
        }
    }
}

fn replay(requests: &[TraceRequest], options: ReplayOptions, latency: u64) -> Vec<(u64, Decision)> {
    let bytes = trace(requests);
    let job = job(options, &bytes).expect("a readable trace");
    drive(&mut issuer(&job, &bytes, &[GIB]).expect("it fits"), 0, |_| latency)
}

fn open() -> ReplayOptions {
    ReplayOptions { trace: "test".into(), ..ReplayOptions::default() }
}

fn closed() -> ReplayOptions {
    ReplayOptions { dependence: ReplayLoop::Closed, ..open() }
}

/// Returns requests of several processes, each with its own queue depth and think times, as a device with these
/// latencies would see them.
fn application(count: usize, seed: u64, latency: impl Fn(u64) -> u64) -> Vec<TraceRequest> {
    let mut random = Random::new(seed, 1);
    let mut slots: BinaryHeap<Reverse<(u64, u16)>> =
        (0..12).map(|slot| Reverse((random.below(1_000_000), slot % 4))).collect();
    let mut requests = Vec::new();
    while requests.len() < count {
        let Some(Reverse((at, process))) = slots.pop() else { break };
        let offset = random.below(GIB / 4096) * 4096;
        let service = latency(offset);
        requests.push(TraceRequest { process, service_ns: Some(service), ..read_at(at, offset) });
        let think = if random.below(4) == 0 { 0 } else { random.below(300_000) };
        slots.push(Reverse((at + service + think, process)));
    }
    requests
}

#[test]
fn an_open_loop_issues_at_the_instants_of_the_trace() {
    let mut random = Random::new(7, 7);
    let mut at = 5_000;
    let requests: Vec<_> = (0..5_000)
        .map(|_| {
            at += random.below(3) * random.below(100_000);
            read_at(at, random.below(1000) * 4096)
        })
        .collect();
    for (speed_ppm, scaled) in [(1_000_000, 1.0), (2_000_000, 0.5), (250_000, 4.0)] {
        // A device much slower than the arrivals changes nothing.
        for latency in [1, 50_000_000] {
            let issued = replay(&requests, ReplayOptions { speed_ppm: Some(speed_ppm), ..open() }, latency);
            assert_eq!(issued.len(), requests.len());
            for ((now, decision), request) in issued.iter().zip(&requests) {
                assert_eq!(
                    (*now, decision.intended.get(), decision.offset),
                    ((request.issued_ns as f64 * scaled) as u64, *now, request.offset)
                );
            }
        }
    }
}

#[test]
fn the_replay_begins_when_it_is_first_asked() {
    let bytes = trace(&[read_at(10, 0), read_at(500, 4096)]);
    let job = job(open(), &bytes).unwrap();
    let issued = drive(&mut issuer(&job, &bytes, &[GIB]).unwrap(), 1_000, |_| 1);
    assert_eq!(issued.iter().map(|(now, _)| *now).collect::<Vec<_>>(), [1_010, 1_500]);
}

#[test]
fn the_maximum_speed_waits_for_nothing() {
    let requests: Vec<_> = (0..100).map(|index| read_at(index * 1_000_000, 0)).collect();
    let issued = replay(&requests, ReplayOptions { speed_ppm: None, ..open() }, 10);
    assert!(issued.len() == 100 && issued.iter().all(|(now, _)| *now == 0));
    let issued = replay(&requests, ReplayOptions { speed_ppm: None, ..closed() }, 10);
    assert!(issued.len() == 100 && issued.iter().all(|(now, _)| *now == 0));
}

#[test]
fn a_closed_loop_on_equal_latencies_is_the_trace() {
    for seed in 0..5 {
        let latency = |offset: u64| 20_000 + units::random::mix(offset, 3) % 700_000;
        let requests = application(20_000, seed, latency);
        let bytes = trace(&requests);
        let job = job(closed(), &bytes).unwrap();
        let issued = drive(&mut issuer(&job, &bytes, &[GIB]).unwrap(), 0, |op| latency(op.offset));
        let instants: Vec<(u64, u64)> = issued.iter().map(|(now, op)| (*now, op.offset)).collect();
        let mut expected: Vec<_> = requests.iter().map(|request| (request.issued_ns, request.offset)).collect();
        expected.sort_unstable();
        let mut found = instants.clone();
        found.sort_unstable();
        assert_eq!(found, expected, "seed {seed}");
        assert!(issued.iter().all(|(now, op)| op.intended.get() == *now));
    }
}

#[test]
fn a_closed_loop_on_a_slower_device_keeps_think_times() {
    // One process with one request at a time: latency and think time alternate.
    let (mut at, mut requests, mut random) = (700, Vec::new(), Random::new(3, 3));
    let mut thinks = Vec::new();
    for index in 0..1_000 {
        requests.push(TraceRequest { service_ns: Some(100_000), ..read_at(at, index * 4096) });
        thinks.push(random.below(1_000_000));
        at += 100_000 + thinks[index as usize];
    }
    let issued = replay(&requests, closed(), 200_000);
    let mut expected = 700;
    for ((now, _), think) in issued.iter().zip(&thinks) {
        assert_eq!(*now, expected);
        expected += 200_000 + think;
    }
    // Twice the speed halves the think times, not the device's latency.
    let issued = replay(&requests, ReplayOptions { speed_ppm: Some(2_000_000), ..closed() }, 200_000);
    let gaps = issued.windows(2).map(|pair| pair[1].0 - pair[0].0 - 200_000);
    assert!(gaps.zip(&thinks).all(|(gap, think)| gap == think / 2));
}

#[test]
fn requests_of_a_burst_depend_on_nothing() {
    // Eight requests at once, then one after the third completion.
    let mut requests: Vec<_> = (0..8)
        .map(|index| TraceRequest { service_ns: Some(1_000 * (index + 1)), ..read_at(index, index * 4096) })
        .collect();
    requests.push(read_at(3_500, GIB / 2));
    let issued = replay(&requests, closed(), 10_000);
    assert_eq!(issued[..8].iter().map(|(now, _)| *now).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
    // The third began at 2 and completed at 3,002; it now completes at 10,002.
    assert_eq!(issued[8].0, 10_002 + 3_500 - 3_002);
}

#[test]
fn a_closed_loop_needs_completions() {
    let log = b"fio version 3 iolog\n1 f add\n1 f open\n5 f read 0 4096\n9 f write 8192 512\n".as_slice();
    let job = job(closed(), log).unwrap();
    let refused = issuer(&job, log, &[GIB]).unwrap_err();
    assert_eq!(option_of(&refused), "replay_loop");
    assert!(refused.what.contains("the trace has no completions"), "{refused}");
}

#[test]
fn a_window_is_a_part_of_the_trace() {
    let requests: Vec<_> = (0..3_000).map(|index| read_at(index * 1_000, index * 4096)).collect();
    let (start, length) = (Nanos::from_micros(1_000), Nanos::from_micros(500));
    let issued = replay(&requests, ReplayOptions { start, length, ..open() }, 5);
    let instants: Vec<u64> = issued.iter().map(|(now, _)| *now).collect();
    assert_eq!(instants, (0..500).map(|index| index * 1_000).collect::<Vec<_>>());
    assert_eq!(issued[0].1.offset, 1_000 * 4096);
    let bytes = trace(&requests);
    let job = job(ReplayOptions { start, length, ..open() }, &bytes).unwrap();
    let found = facts(&job);
    assert_eq!((found.first, found.last), (Nanos::from_micros(1_000), Nanos::from_micros(1_499)));
    assert_eq!(found.operations, PerKind { read: 500, write: 0, trim: 0 });
    let nothing = ReplayOptions { start: Nanos::from_secs(9), ..open() };
    assert!(scan_trace(&nothing, memory(&bytes)).unwrap_err().what.contains("nothing to replay"));
}

#[test]
fn each_operation_becomes_one_of_the_target() {
    use TraceOperation::{Discard, Flush, Other, Read, Write, WriteZeroes};
    let of = |issued_ns, operation| TraceRequest { operation, ..read_at(issued_ns, 8192) };
    let mut requests: Vec<_> = [Read, Write, Flush, Discard, WriteZeroes, Other]
        .into_iter()
        .zip(0..)
        .map(|(op, at)| of(at * 100, op))
        .collect();
    requests[2].length = 0;
    requests.push(TraceRequest { is_fua: true, is_preflush: true, ..of(1_000, Write) });
    let bytes = trace(&requests);
    let job = job(open(), &bytes).unwrap();
    assert_eq!(facts(&job).operations, PerKind { read: 1, write: 3, trim: 1 });
    assert_eq!(facts(&job).syncs, 3);
    assert_eq!(facts(&job).notes, ["1 request skipped: neither read, write, discard nor flush"]);
    let issued = drive(&mut issuer(&job, &bytes, &[GIB]).unwrap(), 0, |_| 50);
    let kinds: Vec<(u64, OpKind)> = issued.iter().map(|(now, op)| (*now, op.kind)).collect();
    assert_eq!(
        kinds,
        [
            (0, OpKind::Read),
            (100, OpKind::Write),
            (200, OpKind::Sync),
            (300, OpKind::Trim),
            (400, OpKind::Write),
            (1_000, OpKind::Sync),
            (1_050, OpKind::Write),
            (1_100, OpKind::Sync)
        ]
    );
}

#[test]
fn what_a_replay_can_do_follows_from_its_trace() {
    let bytes = trace(&[read_at(1, 0)]);
    let job = job(open(), &bytes).unwrap();
    assert_eq!(Operations::of(&job), Operations { read: true, write: false, trim: false, remove: false });
    let unread = Job { replay: Some(open()), ..Job::default() };
    assert_eq!(Operations::of(&unread), Operations { read: true, write: true, trim: true, remove: false });
}

/// A trace that has writes since it was checked must not write.
#[test]
fn a_changed_trace_ends_the_replay() {
    let checked = trace(&[read_at(1, 0), read_at(2, 4096)]);
    let job = job(open(), &checked).unwrap();
    let write = TraceRequest { operation: TraceOperation::Write, ..read_at(2, 4096) };
    let (beyond, longer) = (read_at(2, 8192), TraceRequest { length: 8192, ..read_at(2, 0) });
    let other_device = TraceRequest { device: 1, ..read_at(2, 0) };
    for changed in [write, beyond, longer, other_device] {
        let bytes = written(&[read_at(1, 0), changed], info(2));
        let mut issuer = issuer(&job, &bytes, &[8192]).unwrap();
        let issued = drive(&mut issuer, 0, |_| 1);
        assert_eq!(issued.len(), 1, "{changed:?}");
        let error = issuer.replay_outcome().and_then(|outcome| outcome.error).expect("an error");
        assert!(error.what.contains("the trace changed"), "{error}");
    }
}

#[test]
fn damage_is_left_out_and_noted() {
    let requests: Vec<_> = (0..3_000).map(|index| read_at(index * 1_000, index * 4096)).collect();
    let whole = trace(&requests);
    let all = job(open(), &whole).unwrap();
    assert_eq!((facts(&all).all(), facts(&all).notes.len()), (3_000, 0));
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    let found = job(open(), &damaged).unwrap();
    assert_eq!(facts(&found).all(), 2_500);
    assert!(facts(&found).notes[0].starts_with("500 requests missing: "), "{:?}", facts(&found).notes);
    assert!(facts(&found).notes[1].contains("damaged parts of the trace: "), "{:?}", facts(&found).notes);
    let cut = job(open(), &whole[..whole.len() - 100]).unwrap();
    assert!(facts(&cut).notes[0].contains("truncated"), "{:?}", facts(&cut).notes);
    // A bad line in a trace of another program was not left there by its writer.
    let log = b"fio version 2 iolog\nf add\nf read 0 4096\nf read zero 4096\n".as_slice();
    let error = job(open(), log).unwrap_err();
    assert!(error.to_string().starts_with("test:4:8: ") && error.help.is_some(), "{error}");
    assert!(job(open(), b"garbage").unwrap_err().what.contains("unknown format"));
    assert!(job(open(), b"").unwrap_err().what.contains("empty"));
}

#[test]
fn requests_out_of_order_are_sorted() {
    let mut log = b"fio version 3 iolog\n".to_vec();
    let mut random = Random::new(11, 1);
    for index in 0..20_000_u64 {
        let at = index * 10 + random.below(500);
        log.extend(format!("{at} f read {} 512\n", index * 512).bytes());
    }
    let job = job(open(), &log).unwrap();
    assert_eq!(facts(&job).notes, [""; 0]);
    let issued = drive(&mut issuer(&job, &log, &[GIB]).unwrap(), 0, |_| 1);
    assert_eq!(issued.len(), 20_000);
    assert!(issued.is_sorted_by_key(|(now, _)| *now) && issued.iter().all(|(now, op)| op.intended.get() == *now));
}

#[test]
fn the_outcome_says_how_late_it_was() {
    let requests: Vec<_> = (0..10).map(|index| read_at(index * 100, 0)).collect();
    let bytes = trace(&requests);
    let job = job(open(), &bytes).unwrap();
    let mut issuer = issuer(&job, &bytes, &[GIB]).unwrap();
    // The caller has a queue of one: it asks again only after each completion.
    let mut now = 0;
    loop {
        match issuer.next(Nanos::new(now)) {
            Next::Issue(op) => {
                now += 150;
                issuer.complete(&op, Nanos::new(now));
            }
            Next::Until(instant) => now = instant.get(),
            _ => break,
        }
    }
    let expected = ReplayOutcome {
        issued: 10,
        behind_max: Nanos::new(450),
        behind_last: Nanos::new(450),
        due_last: Nanos::new(900),
        in_flight_max: 1,
        error: None,
    };
    assert_eq!(issuer.replay_outcome(), Some(expected));
}

#[test]
fn a_limit_or_an_end_stops_the_replay() {
    let requests: Vec<_> = (0..100).map(|index| read_at(index * 1_000, 0)).collect();
    let bytes = trace(&requests);
    for options in [open(), closed()] {
        let mut job = job(options, &bytes).unwrap();
        job.extent.number_ios = Some(7);
        assert_eq!(drive(&mut issuer(&job, &bytes, &[GIB]).unwrap(), 0, |_| 5).len(), 7);
        let mut issuer = issuer(&job, &bytes, &[GIB]).unwrap();
        let Next::Issue(op) = issuer.next(Nanos::ZERO) else { panic!("the first is due") };
        issuer.finish();
        assert!(matches!(issuer.next(Nanos::from_secs(1)), Next::Done));
        issuer.complete(&op, Nanos::from_secs(2));
        assert!(matches!(issuer.next(Nanos::from_secs(3)), Next::Done));
    }
}

#[test]
fn devices_belong_to_files_in_turn() {
    let on = |at, device, offset| TraceRequest { device, ..read_at(at, offset) };
    let requests = [on(0, 0, 4096), on(1, 1, 0), on(2, 2, 12_288)];
    let bytes = written(&requests, info(3));
    let job = job(open(), &bytes).unwrap();
    let places = |files: &[u64]| {
        let issued = drive(&mut issuer(&job, &bytes, files).unwrap(), 0, |_| 1);
        issued.iter().map(|(_, op)| (op.file, op.offset)).collect::<Vec<_>>()
    };
    assert_eq!(places(&[GIB, GIB, GIB]), [(0, 4096), (1, 0), (2, 12_288)]);
    assert_eq!(places(&[GIB, GIB]), [(0, 4096), (1, 0), (0, (1 << 20) + 12_288)]);
    assert_eq!(places(&[GIB]), [(0, 4096), (0, 1 << 20), (0, (2 << 20) + 12_288)]);
}

#[test]
fn scaling_keeps_runs_within_a_mebibyte() {
    let requests: Vec<_> = (0..4096).map(|index| read_at(index, index * 65_536)).collect();
    let bytes = trace(&requests);
    let job = job(open(), &bytes).unwrap();
    // 256 MiB of the trace on 64 MiB: four regions in each place, in order.
    let issued = drive(&mut issuer(&job, &bytes, &[64 << 20]).unwrap(), 0, |_| 1);
    for (index, (_, op)) in (0..).zip(&issued) {
        let (region, within) = (index / 16, index % 16 * 65_536);
        assert_eq!(op.offset, ((region / 4) << 20) + within);
    }
}

/// Revision 5aa1e091 laid out 100 GiB for such a trace on a file of 1 GiB.
#[test]
fn a_redirected_replay_enlarged_its_target() {
    let (gib, end) = (1_u64 << 30, 100_u64 << 30);
    let bytes = trace(&[read_at(0, 0), read_at(1, gib), read_at(2, end - 4096), read_at(3, gib / 2)]);
    let plan = |options: ReplayOptions, target: Option<FileFact>| {
        let mut job = job(options, &bytes).expect("a sound trace");
        job.files.filenames = vec!["target".to_owned()];
        let existing = |_: &str| target;
        let plan = workload::plan_files(&job, Dialect::Strict, WorkerIndex::default(), 1, &existing).expect("sound");
        let mut issuer =
            Issuer::replaying(&job, WorkerIndex::default(), &plan.layout(), 1, memory(&bytes)).expect("it fits");
        let last = drive(&mut issuer, 0, |_| 1).into_iter().map(|(_, one)| one.offset + u64::from(one.length)).max();
        (plan.missing_bytes(), plan.files[0].needed, last.expect("there are requests"))
    };
    let redirected = || ReplayOptions { is_redirected: true, ..open() };
    let small = FileFact { size: gib, ..FileFact::default() };
    let (missing, needed, last) = plan(redirected(), Some(small));
    assert_eq!((missing, needed), (0, gib));
    assert!(last <= gib, "{last}");
    let scaled = plan(ReplayOptions { scale: 128, ..redirected() }, Some(small));
    assert_eq!(scaled, (0, gib, (end - 4096) / 128 + 4096));
    let (missing, _, last) = plan(ReplayOptions { align: 1 << 20, ..redirected() }, Some(small));
    assert!(missing == 0 && last <= gib, "{missing} {last}");
    let large = FileFact { size: 2 * end, ..FileFact::default() };
    assert_eq!(plan(redirected(), Some(large)), (0, 2 * end, end));
    // A target that the run creates is as large as the trace needs, also for a second job on it.
    assert_eq!(plan(redirected(), None), (end, end, end));
    assert_eq!(plan(redirected(), Some(FileFact { is_planned: true, ..small })), (end - gib, end, end));
    assert_eq!(plan(redirected(), Some(FileFact::default())), (end, end, end));
    assert_eq!(plan(open(), Some(small)), (end - gib, end, end));
}

/// Whatever a trace asks for, operations stay within the files, keep the alignment of the trace, and nothing panics.
#[test]
fn hostile_requests_stay_on_the_target() {
    let mut driven = 0;
    for seed in 0..200 {
        let mut random = Random::new(seed, 5);
        let requests = hostile(&mut random);
        let bytes = written(&requests, info(4));
        let fit = [ReplayFit::Scale, ReplayFit::Wrap, ReplayFit::Fold][random.below(3) as usize];
        let dependence = [ReplayLoop::Open, ReplayLoop::Closed][random.below(2) as usize];
        let align = [0, 4096, 1 << 20][random.below(3) as usize];
        let speed_ppm = [None, Some(1), Some(1_000_000), Some(u64::MAX)][random.below(4) as usize];
        let scale = [1, 3, u32::MAX][random.below(3) as usize];
        let options = ReplayOptions { fit, dependence, align, speed_ppm, scale, ..open() };
        let Ok(job) = job(options, &bytes) else { continue };
        let files: Vec<u64> = (0..=random.below(4)).map(|_| random.below(1 << 24) * 512).collect();
        let Ok(mut issuer) = issuer(&job, &bytes, &files) else { continue };
        let unit = u64::from(facts(&job).unit);
        let issued = drive(&mut issuer, 0, |op| op.offset % 1_000);
        for (_, op) in &issued {
            let end = op.offset + u64::from(op.length);
            assert!(end <= files[op.file as usize], "seed {seed}: {op:?} beyond {files:?}");
            assert!(op.offset % unit == 0 && u64::from(op.length) % unit == 0, "seed {seed}: {op:?} not on {unit}");
            let most = if op.kind == OpKind::Trim { 1 << 30 } else { 4 << 20 };
            assert!(op.length <= most && (op.length > 0) == op.kind.moves_data(), "seed {seed}: {op:?}");
        }
        assert_eq!(issued.len() as u64, facts(&job).all(), "seed {seed}");
        driven += 1;
    }
    assert!(driven > 60, "{driven}");
}

fn hostile(random: &mut Random) -> Vec<TraceRequest> {
    use TraceOperation::{Discard, Flush, Other, Read, Write, WriteZeroes};
    let shift = random.below(64) as u32;
    (0..random.below(200) + 1)
        .map(|_| {
            let draw = random.bits();
            let service = [None, Some(0), Some(draw >> 40), Some(u64::MAX), Some(u64::MAX - 1)];
            TraceRequest {
                issued_ns: random.bits() >> (random.below(2) * 40 + 2),
                queued_ns: None,
                service_ns: service[random.below(5) as usize],
                offset: [0, u64::MAX, (random.bits() >> shift) & !511, random.bits() >> 30 << 9]
                    [random.below(4) as usize],
                length: [0, 512, 4096, 1 << 20, u32::MAX, !511][random.below(6) as usize],
                operation: [Read, Write, Discard, Flush, WriteZeroes, Other][random.below(6) as usize],
                is_fua: draw & 1 > 0,
                is_preflush: draw & 2 > 0,
                process: [0, 1, 7, u16::MAX][random.below(4) as usize],
                device: random.below(4) as u16,
                ..TraceRequest::default()
            }
        })
        .collect()
}

/// Returns the requests of a merged trace: instant, service time, offset, device and process.
fn merged(inputs: &[(Vec<u8>, u64, u32)]) -> Vec<(u64, Option<u64>, u64, String, String)> {
    let inputs_of = inputs.iter().enumerate().map(|(index, (_, scale_ppm, iterations))| MergedInput {
        trace: index.to_string(),
        scale_ppm: *scale_ppm,
        iterations: *iterations,
    });
    let merge = TraceMerge { file: "m".to_owned(), inputs: inputs_of.collect() };
    let bytes = inputs.iter().map(|(bytes, ..)| memory(bytes)).collect();
    let merged = MergedTrace::new(&merge, bytes).expect("traces");
    let mut stream = TraceStream::open("m", Box::new(merged)).expect("a trace");
    let mut requests = Vec::new();
    while stream.next(&mut requests).expect("requests") == StreamStep::Requests {}
    let info = stream.input().expect("a format").info();
    let mut found: Vec<_> = requests
        .iter()
        .map(|one| {
            let (device, process) =
                (&info.devices[usize::from(one.device)].0, &info.processes[usize::from(one.process)]);
            (one.issued_ns, one.service_ns, one.offset, device.clone(), process.clone())
        })
        .collect();
    found.sort();
    found
}

#[test]
fn merged_traces_keep_every_request_at_its_scaled_instant() {
    let on =
        |device: &str| TraceInfo { devices: vec![(device.to_owned(), None)], processes: vec!["p/7".into()], ..info(1) };
    let a = written(&[read_at(0, 0), read_at(4_000_000, 4096)], on("8,0"));
    let b = written(&[read_at(0, 8192), read_at(1_000_000, 16384), read_at(9_000_000, 32768)], on("8,16"));
    let at = |ns: u64, service: u64, offset: u64, device: &str| {
        (ns, Some(service), offset, device.to_owned(), "p/7".to_owned())
    };
    let plain = merged(&[(a.clone(), 1_000_000, 1), (b.clone(), 1_000_000, 1)]);
    let expected = [
        at(0, 1_000, 0, "8,0"),
        at(0, 1_000, 8192, "8,16"),
        at(1_000_000, 1_000, 16384, "8,16"),
        at(4_000_000, 1_000, 4096, "8,0"),
        at(9_000_000, 1_000, 32768, "8,16"),
    ];
    assert_eq!(plain, expected);
    // The first twice in half its time. It is 4.001 ms long, because its last request takes 1 us.
    let scaled = merged(&[(a, 500_000, 2), (b, 1_000_000, 1)]);
    let expected = [
        at(0, 500, 0, "8,0"),
        at(0, 1_000, 8192, "8,16"),
        at(1_000_000, 1_000, 16384, "8,16"),
        at(2_000_000, 500, 4096, "8,0"),
        at(2_000_500, 500, 0, "8,0"),
        at(4_000_500, 500, 4096, "8,0"),
        at(9_000_000, 1_000, 32768, "8,16"),
    ];
    assert_eq!(scaled, expected);
}

/// More requests than fit into a piece, and times at the end of what a trace can hold.
#[test]
fn long_traces_are_merged_completely() {
    let one = |start: u64| trace(&(0..40_000).map(|n| read_at(start + n * 1_000, n * 4096)).collect::<Vec<_>>());
    let found = merged(&[(one(0), 1_000_000, 2), (one(7), 3_000_000, 1)]);
    assert_eq!(found.len(), 120_000);
    let far = merged(&[(trace(&[read_at(0, 0), read_at(1 << 62, 4096)]), u64::MAX / 2, 3)]);
    assert_eq!(far.len(), 6);
}

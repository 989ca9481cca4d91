//! Jobs in zones keep to the rules of zoned devices, whatever completes when, and whichever workers share them.

use job::{Dialect, EmptySource, Job, parse_file_text};
use std::sync::Arc;
use units::random::Random;
use units::{Nanos, OpKind, Zone, ZoneCommand, ZoneCondition, ZoneKind, ZoneReport};
use workload::{Decision, FileExtent, FileFact, FilePlan, Issuer, JobLayout, Next, WorkerIndex, ZoneTable, ZoneTask};

use crate::common;
use crate::common::MIB;

/// A job with options in the syntax of job files.
fn job(options: &str) -> Job {
    let text = format!("[job]\nfilename=/dev/zoned\ndirect=1\nzonemode=zbd\n{}\n", options.replace(' ', "\n"));
    let plan = parse_file_text("job.fio", text.as_bytes(), Dialect::Fio, &EmptySource);
    assert!(!plan.has_errors(), "{options}: {:?}", plan.diagnostics);
    plan.value.jobs.into_iter().next().expect("one job")
}

/// Zones of 1 MiB with 768 KiB, the first of which are conventional.
fn report(zones: u64, conventional: u64, max_open: u32) -> ZoneReport {
    let zone = |index| {
        let is_conventional = index < conventional;
        Zone {
            start: index * MIB,
            capacity: if is_conventional { MIB } else { 768 << 10 },
            write_pointer: index * MIB,
            kind: if is_conventional { ZoneKind::Conventional } else { ZoneKind::Sequential },
            condition: ZoneCondition::Empty,
        }
    };
    ZoneReport { zone_bytes: MIB, zones: (0..zones).map(zone).collect(), max_open, max_active: 0 }
}

/// A device that fails the test where an operation violates its rules.
struct ZonedDevice {
    report: ZoneReport,
    /// Writes in flight, each with its worker.
    in_flight: Vec<(usize, Decision)>,
    resets: u64,
    seed: u64,
}

impl ZonedDevice {
    fn zone(&mut self, offset: u64) -> &mut Zone {
        let index = (offset / self.report.zone_bytes) as usize;
        &mut self.report.zones[index]
    }

    fn writes_in(&self, start: u64) -> impl Iterator<Item = &(usize, Decision)> {
        self.in_flight.iter().filter(move |(_, op)| op.kind == OpKind::Write && op.offset / MIB == start / MIB)
    }

    fn open_zones(&self) -> usize {
        let is_partial = |zone: &&Zone| {
            zone.kind == ZoneKind::Sequential && zone.write_pointer > zone.start && zone.write_pointer < zone.end()
        };
        self.report.zones.iter().filter(is_partial).count()
    }

    fn submit(&mut self, worker: usize, op: Decision, is_ordered: bool, most: usize) {
        let (seed, zone) = (self.seed, *self.zone(op.offset));
        let end = op.offset + u64::from(op.length);
        match op.kind {
            OpKind::Write if zone.kind == ZoneKind::Sequential => {
                assert_eq!(op.offset, zone.write_pointer, "seed {seed}: a write is not at the write pointer: {op:?}");
                assert!(end <= zone.end(), "seed {seed}: a write exceeds the zone: {op:?}");
                let others = self.writes_in(zone.start).filter(|(other, _)| !is_ordered || *other != worker).count();
                assert_eq!(others, 0, "seed {seed}: writes may overtake each other: {op:?}");
                self.zone(op.offset).write_pointer = end;
                assert!(most == 0 || self.open_zones() <= most, "seed {seed}: more than {most} zones are open");
            }
            OpKind::Read if zone.kind == ZoneKind::Sequential => {
                let first_in_flight = self.writes_in(zone.start).map(|(_, op)| op.offset).min();
                let data_end = first_in_flight.unwrap_or(zone.write_pointer);
                assert!(end <= data_end, "seed {seed}: a read is behind {data_end}: {op:?}");
            }
            OpKind::Trim => {
                assert_eq!((op.offset, u64::from(op.length)), (zone.start, MIB), "seed {seed}");
                assert!(zone.write_pointer > zone.start, "seed {seed}: an empty zone is trimmed");
                assert_eq!(self.writes_in(zone.start).count(), 0, "seed {seed}: a zone in use is trimmed");
                self.zone(op.offset).write_pointer = zone.start;
            }
            _ => assert!(end <= zone.start + 2 * MIB, "seed {seed}: {op:?}"),
        }
        self.in_flight.push((worker, op));
    }

    fn command(&mut self, task: &ZoneTask) -> u64 {
        let seed = self.seed;
        assert_eq!(self.writes_in(task.start).count(), 0, "seed {seed}: a command to a zone in use: {task:?}");
        self.resets += u64::from(task.command == ZoneCommand::Reset);
        let zone = self.zone(task.start);
        assert_eq!((zone.start, zone.kind), (task.start, ZoneKind::Sequential), "seed {seed}");
        match task.command {
            ZoneCommand::Reset => zone.write_pointer = zone.start,
            ZoneCommand::Finish => zone.write_pointer = zone.end(),
            ZoneCommand::Report => {}
        }
        zone.write_pointer
    }
}

fn layout(start: u64, length: u64, io_size: u64) -> JobLayout {
    JobLayout { files: vec![FileExtent { start, length }], io_size: Some(io_size), ..JobLayout::default() }
}

/// What the workers of a run have done.
struct Outcome {
    device: ZonedDevice,
    /// Issued operations of each worker.
    issued: Vec<Vec<Decision>>,
    resets: u64,
}

/// Runs workers on one device until all have ended; operations complete in a random order.
fn run(seed: u64, report: &ZoneReport, workers: &[(Job, JobLayout, usize)]) -> Outcome {
    let mut random = Random::new(seed, 7);
    let table = Arc::new(ZoneTable::of_device(report));
    let mut device = ZonedDevice { report: report.clone(), in_flight: Vec::new(), resets: 0, seed };
    let mut issuers: Vec<Issuer> = Vec::new();
    for (index, (job, layout, _)) in (0..).zip(workers) {
        let issuer = Issuer::new(job, WorkerIndex { index, clone: 0 }, layout, seed)
            .expect("the job is sound")
            .in_zones(vec![Arc::clone(&table)]);
        issuers.push(issuer);
    }
    let (mut issued, mut done) = (vec![Vec::new(); workers.len()], vec![false; workers.len()]);
    let mut now = Nanos::ZERO;
    for _ in 0..400_000 {
        let own = |device: &ZonedDevice, worker| device.in_flight.iter().filter(|(other, _)| *other == worker).count();
        if done.iter().all(|done| *done) && device.in_flight.is_empty() {
            let resets = issuers.iter().map(Issuer::zone_resets).sum();
            return Outcome { device, issued, resets };
        }
        let worker = random.below(workers.len() as u64) as usize;
        let (job, _, depth) = &workers[worker];
        let is_ordered = job.engine.kind == job::EngineKind::Libaio;
        if done[worker] || own(&device, worker) >= *depth || random.below(3) == 0 {
            if !device.in_flight.is_empty() {
                // Without an order of the engine, any operation may complete first; writes in a zone never do.
                let at = random.below(device.in_flight.len() as u64) as usize;
                let (owner, op) = device.in_flight[at];
                let is_next = !device.in_flight[..at].iter().any(|(_, other)| other.offset / MIB == op.offset / MIB);
                if is_next {
                    device.in_flight.remove(at);
                    issuers[owner].complete(&op, now);
                }
            }
            now += Nanos::from_micros(1);
            continue;
        }
        let most = job.pattern.zoned.expect("it works in zones").max_open.max(report.max_open) as usize;
        match issuers[worker].next(now) {
            Next::Issue(op) | Next::IssueAnew(op) => {
                device.submit(worker, op, is_ordered, most);
                issued[worker].push(op);
            }
            Next::Command(task) => {
                let pointer = device.command(&task);
                issuers[worker].zone_commanded(&task, Some(pointer));
            }
            Next::Until(_) | Next::Blocked => now += Nanos::from_micros(20),
            Next::Close(_) | Next::Renew(_) | Next::Spin(_) => {}
            Next::Done => done[worker] = true,
        }
    }
    let jobs: Vec<_> =
        workers.iter().map(|(job, _, depth)| (job.pattern.direction, &job.pattern.zoned, depth)).collect();
    panic!("seed {seed}: the workers did not end: {done:?} {jobs:?} {:?} {table:?}", device.in_flight);
}

#[test]
fn any_jobs_keep_to_the_rules_of_zones() {
    let patterns = ["write", "randwrite", "randrw", "rw", "randread", "write", "randtrim"];
    for seed in 0..300 {
        let mut random = Random::new(seed, 1);
        let mut pick = |words: &[&str]| words[random.below(words.len() as u64) as usize].to_owned();
        let max_open = pick(&["0", "1", "2", "5"]);
        let conventional = if pick(&["0", "1"]) == "1" { 2 } else { 0 };
        let report = report(10, conventional, max_open.parse().unwrap());
        let count = pick(&["1", "2", "3"]).parse().unwrap();
        let workers: Vec<_> = (0..count)
            .map(|_| {
                let rw = pick(&patterns);
                let bs = if rw == "randtrim" { "1m".into() } else { pick(&["64k", "96k", "160k", "16k-128k"]) };
                let engine = pick(&["libaio", "io_uring"]);
                let extra = pick(&["", " job_max_open_zones=1", " zone_reset_threshold=0.3 zone_reset_frequency=0.1"]);
                let extra = if extra.contains("job_max") && count > 1 { String::new() } else { extra };
                let job = job(&format!("rw={rw} bs={bs} ioengine={engine} max_open_zones={max_open}{extra}"));
                let depth = pick(&["1", "4", "16"]).parse().unwrap();
                (job, layout(0, 10 * MIB, 20 * MIB), depth)
            })
            .collect();
        let outcome = run(seed, &report, &workers);
        assert_eq!(outcome.device.resets, outcome.resets, "seed {seed}: resets are counted");
        for ((job, ..), ops) in workers.iter().zip(&outcome.issued) {
            let bytes: u64 = ops.iter().map(|op| u64::from(op.length)).sum();
            let writes = workload::Operations::of(job).write;
            assert!(!writes || bytes + MIB > 20 * MIB, "seed {seed}: a job has transferred only {bytes} bytes");
        }
    }
}

#[test]
fn verified_writes_are_read_back_where_they_are() {
    for (seed, rw) in [(1, "write"), (2, "randwrite"), (3, "randwrite norandommap=1")] {
        let job = job(&format!("rw={rw} bs=64k ioengine=libaio verify=crc32c size=6m"));
        let table = Arc::new(ZoneTable::of_device(&report(6, 0, 3)));
        let layout = layout(0, 6 * MIB, 6 * MIB);
        let mut issuer = Issuer::new(&job, WorkerIndex::default(), &layout, seed).unwrap().in_zones(vec![table]);
        let written = common::drain(&mut issuer, usize::MAX);
        assert_eq!(written.len(), 6 * 12, "seed {seed}: each block of the capacity once");
        let mut reader = issuer.verify_pass().expect("there is something to check");
        let mut read = Vec::new();
        while let Next::Issue(op) = reader.next(Nanos::ZERO) {
            assert!(op.checked && op.kind == OpKind::Read);
            let block = written.iter().find(|write| write.offset == op.offset).expect("it was written");
            let mut data = vec![0; op.length as usize];
            issuer.fill(block, &mut data);
            assert!(reader.check(&op, &data).is_ok(), "seed {seed}: {op:?}");
            reader.complete(&op, Nanos::ZERO);
            read.push(op.offset);
        }
        assert_eq!(read, written.iter().map(|op| op.offset).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn remainders_of_zones_are_finished_or_written() {
    // A zone of 768 KiB has room for seven blocks of 96 KiB and 96 KiB more, or for four of 160 KiB and 128 KiB more.
    for (option, expected) in [("", 4 * 160), (" write_zone_remainder=1", 768)] {
        let job = job(&format!("rw=write bs=160k ioengine=psync{option}"));
        let outcome = run(1, &report(4, 0, 1), &[(job, layout(0, 4 * MIB, 3 * MIB), 1)]);
        let in_first = outcome.issued[0].iter().filter(|op| op.offset < MIB);
        let kib: u64 = in_first.take_while(|op| op.sequence < 6).map(|op| u64::from(op.length) >> 10).sum();
        assert_eq!(kib, expected, "{option}");
    }
}

#[test]
fn zones_are_reset_above_the_threshold() {
    let job = job("rw=write bs=64k ioengine=psync zone_reset_threshold=0.5 zone_reset_frequency=0.25");
    let outcome = run(1, &report(4, 0, 0), &[(job, layout(0, 4 * MIB, 12 * MIB), 1)]);
    // From 2 MiB on, each fourth write resets its zone.
    let offsets: Vec<u64> = outcome.issued[0].iter().map(|op| op.offset >> 10).collect();
    assert_eq!(offsets[32..38], [2560, 2624, 2688, 2048, 2112, 2176]);
    assert!(outcome.resets > 10);
}

#[test]
fn a_worker_without_a_zone_to_open_gives_up_and_says_so() {
    let mut zones = report(8, 0, 1);
    (zones.zones[7].write_pointer, zones.zones[7].condition) = (7 * MIB + 4096, ZoneCondition::Open);
    let job = job("rw=write bs=64k");
    let mut issuer = Issuer::new(&job, WorkerIndex { index: 0, clone: 0 }, &layout(0, 4 * MIB, MIB), 1)
        .unwrap()
        .in_zones(vec![Arc::new(ZoneTable::of_device(&zones))]);
    let mut now = Nanos::ZERO;
    while let Next::Until(until) = issuer.next(now) {
        assert!(until > now && now < Nanos::from_secs(6), "{now:?}");
        now = until;
    }
    assert!(now > Nanos::from_secs(5) && issuer.waited_in_vain(), "{now:?}");
    assert_eq!(issuer.next(now), Next::Done);
}

#[test]
fn conventional_zones_keep_no_write_waiting_for_full_ones() {
    let job = job("rw=randwrite bs=64k norandommap=1 verify=crc32c ioengine=libaio");
    let mut issuer = Issuer::new(&job, WorkerIndex { index: 0, clone: 0 }, &layout(0, 3 * MIB, 3 * MIB), 1)
        .unwrap()
        .in_zones(vec![Arc::new(ZoneTable::of_device(&report(3, 1, 0)))]);
    let mut writes = 0;
    loop {
        match issuer.next(Nanos::ZERO) {
            Next::Issue(op) => {
                writes += 1;
                issuer.complete(&op, Nanos::ZERO);
            }
            Next::Command(task) => issuer.zone_commanded(&task, Some(task.start)),
            Next::Done => break,
            next => panic!("{next:?} after {writes} writes"),
        }
    }
    assert!(writes >= 24 && !issuer.waited_in_vain(), "{writes} writes");
}

#[test]
fn a_failed_write_continues_at_the_write_pointer_of_the_device() {
    for (option, expected) in [("", 128), (" recover_zbd_write_error=1", 64)] {
        let job = job(&format!("rw=write bs=64k ioengine=psync continue_on_error=all{option}"));
        let layout = layout(0, 4 * MIB, 3 * MIB);
        let mut issuer = Issuer::new(&job, WorkerIndex::default(), &layout, 1)
            .unwrap()
            .in_zones(vec![Arc::new(ZoneTable::of_device(&report(4, 0, 0)))]);
        let mut offsets = Vec::new();
        while offsets.len() < 3 {
            match issuer.next(Nanos::ZERO) {
                Next::Issue(op) => {
                    if offsets.len() == 1 {
                        issuer.note_failure(&op);
                    }
                    issuer.complete(&op, Nanos::ZERO);
                    offsets.push(op.offset >> 10);
                }
                Next::Command(task) => {
                    assert_eq!(task.command, ZoneCommand::Report);
                    issuer.zone_commanded(&task, Some(64 << 10));
                }
                next => panic!("{next:?}"),
            }
        }
        assert_eq!(offsets, [0, 64, expected], "{option}");
    }
}

fn plan_in_zones(job: &Job, size: u64, report: Option<&ZoneReport>) -> Result<FilePlan, String> {
    let fact = |_: &str| Some(FileFact { size, block_device: true, ..FileFact::default() });
    let files = workload::plan_files(job, Dialect::Fio, WorkerIndex::default(), 1, &fact);
    files.and_then(|files| files.in_zones(job, &|_| Ok(report.cloned()))).map_err(|error| error.to_string())
}

#[test]
fn regions_consist_of_whole_zones() {
    let job = job("rw=write bs=4k ioengine=psync offset=100k size=5m zonesize=1m");
    let files = plan_in_zones(&job, 16 * MIB, Some(&report(16, 0, 0))).unwrap();
    assert_eq!(files.files[0].extent, FileExtent { start: MIB, length: 4 * MIB });
}

#[test]
fn errors_name_value_reason_and_remedy() {
    let cases = [
        ("rw=write bs=4k", None, "zonemode: /dev/zoned is not a zoned device, so its zones need a size"),
        ("rw=write bs=4k zonesize=2m", Some(report(16, 0, 0)), "zonesize: /dev/zoned has zones of 1 MiB, not of 2 MiB"),
        (
            "rw=write bs=4k direct=0",
            Some(report(16, 0, 0)),
            "direct: /dev/zoned accepts writes only at the write pointers",
        ),
        ("rw=write bs=800k", Some(report(16, 0, 0)), "bs: a block of 800 KiB exceeds the zone capacity of 768 KiB"),
        ("rw=randtrim bs=64k", Some(report(16, 0, 0)), "bs: trims reset whole zones of /dev/zoned, 1 MiB each"),
        ("rw=write bs=4k size=500k", Some(report(16, 0, 0)), "size: /dev/zoned has 512000 bytes from offset 0"),
        (
            "rw=write bs=4k max_open_zones=9",
            Some(report(16, 0, 8)),
            "max_open_zones: /dev/zoned accepts writes in at most 8 zones",
        ),
    ];
    for (options, zones, expected) in cases {
        let error = plan_in_zones(&job(&format!("ioengine=psync {options}")), 16 * MIB, zones.as_ref()).unwrap_err();
        assert!(error.contains(&format!("job `job`: {expected}")) && error.contains("; "), "{options}: {error}");
    }
    let ignoring = job("ioengine=psync rw=write bs=4k max_open_zones=9 ignore_zone_limits=1");
    assert!(plan_in_zones(&ignoring, 16 * MIB, Some(&report(16, 0, 8))).is_ok());
    let buffered = job("ioengine=psync rw=write bs=4k direct=0 size=2m");
    assert!(plan_in_zones(&buffered, 16 * MIB, Some(&report(16, 2, 8))).is_ok(), "conventional zones");
}

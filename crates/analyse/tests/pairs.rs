//! Findings, each with the smallest input that raises it and a near miss that does not.

use analyse::{
    CapKind, Code, EvidenceSource, Expectation, ExpectedCap, ExpectedPoint, Explanation, Finding, KnownFigure,
    LargerFigure, LargerVolume, Observation, Quantity, Remedy, explain_job, explain_observation, explain_together,
};
use record::{
    DataKind, DepthSearchRecord, DiskUse, LatencyStats, ModelRecord, Quote, Quoted, RankRecord, Run, RunOutcome,
    ServiceStage, Unchecked, Verified,
};
use units::PerKind;

use crate::loads;
use crate::loads::{SECOND_NS, file, latency, of_ranks, queue_full, rank};

/// Returns the findings about a run.
fn of(run: &Run) -> Vec<Code> {
    explain_job(run, 0, &Observation::of(run, &run.jobs[0]), None).findings.iter().map(|finding| finding.code).collect()
}

/// Returns the findings about a run after a change.
fn changed(change: impl FnOnce(&mut Run)) -> Vec<Code> {
    let mut run = queue_full(32, 1_000_000);
    change(&mut run);
    of(&run)
}

/// Returns the findings about an observation, compared with the volume below.
fn seen(change: impl FnOnce(&mut Observation)) -> Vec<Code> {
    against(change, |_| ())
}

/// 10,000 random reads of 4 KiB per second at 1.6 ms, 16 in flight of 16: at the knee of the volume.
fn against(change: impl FnOnce(&mut Observation), alter: impl FnOnce(&mut Expectation<'_>)) -> Vec<Code> {
    found(change, alter).iter().map(|finding| finding.code).collect()
}

/// Returns findings instead of codes.
fn found(change: impl FnOnce(&mut Observation), alter: impl FnOnce(&mut Expectation<'_>)) -> Vec<Finding> {
    let claimed = |value: f64| Some(KnownFigure::exact(value, EvidenceSource::Claim));
    let mut observation = Observation {
        iops: claimed(10_000.0),
        read_share: Some(1.0),
        bytes_per_second: claimed(40_960_000.0),
        block_bytes: claimed(4096.0),
        latency_ns: claimed(1_600_000.0),
        spread: true,
        depth: claimed(16.0),
        workers: Some(1),
        closed: true,
        random: Some(true),
        direct: Some(true),
        device: true,
        ..Observation::default()
    };
    change(&mut observation);
    let gives = |in_flight: f64| {
        let iops = (in_flight / 1.6e-3).min(10_000.0);
        Some(ExpectedPoint { in_flight, iops, latency_ns: in_flight / iops * 1e9 })
    };
    let cap = |name: &str, kind, iops| ExpectedCap {
        name: name.to_owned(),
        kind,
        iops,
        shared: false,
        credits: None,
        tolerance: 0.0,
    };
    let mut expectation = Expectation {
        volume: "some/volume".to_owned(),
        bytes: 1 << 40,
        caps: vec![cap("volume IOPS", CapKind::VolumeIops, 10_000.0), cap("machine IOPS", CapKind::Machine, 15_000.0)],
        burst_iops: 10_000.0,
        alone_ns: Some(1_600_000.0),
        break_even_bytes: Some(40_000.0),
        larger: None,
        latency_is_assumed: false,
        latency_is_measured: true,
        machine_is_unknown: false,
        notes: Vec::new(),
        iops_per_cpu: None,
        at: &gives,
    };
    alter(&mut expectation);
    explain_observation("claim", &observation, Some(&expectation)).findings
}

/// Lets the volume burst to `burst_iops` for a minute on full credits.
fn bursts(volume: &mut Expectation<'_>, burst_iops: f64) {
    volume.burst_iops = burst_iops;
    volume.caps[0].credits = Some(60.0 * (burst_iops - volume.caps[0].iops));
    volume.caps[1].iops = burst_iops;
}

fn exactly(value: f64) -> Option<KnownFigure> {
    Some(KnownFigure::exact(value, EvidenceSource::Claim))
}

/// Returns the findings about a run on a model with a stage that delayed this many of 1,000 operations.
fn modelled(delayed: u64) -> Vec<Code> {
    let stage = ServiceStage { requests: 1000, delayed, decided: delayed, utilisation: 0.5, ..ServiceStage::default() };
    changed(|run| run.model = Some(ModelRecord { stages: vec![stage], ..ModelRecord::default() }))
}

/// Returns the findings about a run with these operations in each second.
fn seconds(ios: impl Fn(u64) -> u64) -> Vec<Code> {
    changed(|run| {
        let intervals = &mut run.jobs[0].result.series.intervals;
        (0..).zip(intervals.iter_mut()).for_each(|(at, interval)| interval.ios[0] = ios(at));
    })
}

/// Returns the findings about a run at a rate.
fn paced(rate: u64, possible: u64) -> Vec<Code> {
    changed(|run| {
        run.jobs[0].declared.rate_iops = PerKind { read: Some(rate), ..PerKind::default() };
        run.jobs[0].declared.in_flight_possible = Some(possible);
    })
}

/// Returns the findings about a run with some operations that took much longer.
fn slow_ones(count: u64, slow_ns: u64) -> Vec<Code> {
    changed(|run| {
        let service = &mut run.jobs[0].result.read.service;
        service.buckets.push((loads::meter_bucket(slow_ns), count));
        service.count += count;
    })
}

fn buffered(write: bool, syncs: bool) -> Vec<Code> {
    changed(|run| {
        let job = &mut run.jobs[0];
        (job.declared.direct, job.declared.syncs) = (false, syncs);
        if write {
            job.result.write = std::mem::take(&mut job.result.read);
        }
    })
}

fn reads_reach_devices(share: f64) -> Vec<Code> {
    changed(|run| {
        run.jobs[0].declared.direct = false;
        let sectors = (run.jobs[0].result.read.bytes as f64 * share / 512.0) as u64;
        run.disks = vec![DiskUse { read_ios: 1, read_sectors: sectors, ..DiskUse::default() }];
    })
}

fn written(bytes: u64) -> Vec<Code> {
    changed(|run| file(run).allocated = Some(bytes))
}

fn late(late_ns: u64) -> Vec<Code> {
    changed(|run| {
        run.jobs[0].declared.rate_iops = PerKind { read: Some(32_000), ..PerKind::default() };
        run.jobs[0].result.read.response = latency(1000, 1_000_000, 0);
        run.jobs[0].result.lateness = latency(1000, late_ns, 0);
    })
}

fn even(service_deviation_ns: f64) -> Vec<Code> {
    changed(|run| run.jobs[0].result.read.service.stddev_ns = service_deviation_ns)
}

fn capped(kind: CapKind, iops: f64) -> Vec<Code> {
    against(|seen| seen.iops = exactly(iops), |volume| volume.caps[0].kind = kind)
}

type Pair = (Vec<Code>, Vec<Code>);

/// Returns the findings of an input that raises a code and of a near miss. The match covers every code.
fn pair(code: Code) -> Pair {
    match code {
        Code::NothingMeasured | Code::ErrorsSeen | Code::PageCacheMeasured | Code::BufferedWritesUnsynced => {
            trust(code)
        }
        Code::HolesRead
        | Code::LatenessSignificant
        | Code::ShortRun
        | Code::Interrupted
        | Code::NoDevice
        | Code::MetadataOnly => trust(code),
        Code::NotVerified | Code::SeveralRuns => verification(code),
        Code::LimitUnknown | Code::NotSteady | Code::WarmupCounted | Code::BurstUsedUp | Code::BurstOrDrift => {
            trust(code)
        }
        Code::VolumeIopsCap | Code::VolumeThroughputCap | Code::MachineCap | Code::EgressCap | Code::StationCap => {
            volume(code)
        }
        Code::SizeTooSmall
        | Code::ProvisionedTooLow
        | Code::BytesBeforeIops
        | Code::SharedBudget
        | Code::BurstRunning
        | Code::CpusShort => volume(code),
        Code::AboveExpectation | Code::BelowExpectation | Code::BeyondKnee | Code::UnwrittenBlocks => volume(code),
        Code::LittleContradicted | Code::LittleHolds | Code::FiguresDisagree | Code::UnitsMixed => figures(code),
        Code::OddBlockSize | Code::RequestsSplit | Code::SmallRegion | Code::MechanicalDisk => figures(code),
        Code::UtilMisread | Code::UtilContradicted | Code::MeanWithoutSpread | Code::DepthNeeded | Code::SinceBoot => {
            figures(code)
        }
        Code::SyncsTooSlow => figures(code),
        Code::EngineNotAsynchronous | Code::RateNotReached | Code::QueueTooShallow | Code::GeneratorCpuBound => {
            load(code)
        }
        Code::DepthBound | Code::DeviceBound | Code::NearKnee | Code::NotRepeated | Code::CgroupThrottle => load(code),
        Code::LatencyTarget
        | Code::QueueNotFilled
        | Code::LatencyBound
        | Code::DeviceFlat
        | Code::QueueFull
        | Code::Throttled => load(code),
        Code::ModelHeldBack | Code::ModelNotReached | Code::RateKept => load(code),
        Code::SharedLimit | Code::RanksMissedRate | Code::HostCpuBound | Code::HostLinkBound => ranks(code),
        Code::RankStraggler | Code::RankSharesUnequal => ranks(code),
    }
}

/// Returns the findings about four ranks on two hosts, after a change of each.
fn of_four(change: impl Fn(&mut RankRecord)) -> Vec<Code> {
    let mut members: Vec<RankRecord> = (0..4).map(|number| rank(number, &[1_000; 30])).collect();
    members.iter_mut().for_each(change);
    of(&of_ranks(members))
}

fn ranks(code: Code) -> Pair {
    let rates = |of: [u64; 4]| of_four(|member| member.iops = of[member.rank as usize] as f64);
    match code {
        Code::RankStraggler => (rates([1_000, 1_000, 790, 1_000]), rates([1_000, 1_000, 810, 1_000])),
        Code::RankSharesUnequal => (rates([1_000, 1_200, 1_400, 1_510]), rates([1_000, 1_200, 1_400, 1_490])),
        Code::HostCpuBound => (of_four(|one| one.cpu_share = 1.81), of_four(|one| one.cpu_share = 1.79)),
        Code::HostLinkBound => {
            let link = |bytes: u64| of_four(|one| one.link_bytes_per_second = Some(bytes));
            (link(9_630_000), link(9_650_000))
        }
        Code::RanksMissedRate => {
            let asked = |rate: u64| {
                let mut run = of_ranks((0..4).map(|number| rank(number, &[700; 30])).collect());
                run.jobs[0].declared.rate_iops = PerKind { read: Some(rate), ..PerKind::default() };
                of(&run)
            };
            (asked(4_000), asked(2_900))
        }
        _ => {
            let ended = |after: u64| {
                let long = [[500; 15], [after; 15]].concat();
                of(&of_ranks((0..4).map(|number| rank(number, if number < 2 { &long[..15] } else { &long })).collect()))
            };
            (ended(910), ended(890))
        }
    }
}

/// Returns the findings about a job that wrote and checked these blocks.
fn verified(written: u64, checked: u64, unchecked: Option<Unchecked>, nonces: &[u32]) -> Vec<Code> {
    let verified = Verified { written, checked, unchecked, nonces: nonces.to_vec(), ..Verified::default() };
    changed(|run| run.jobs[0].verified = Some(verified))
}

fn verification(code: Code) -> Pair {
    match code {
        Code::NotVerified => (verified(9, 8, Some(Unchecked::Stopped), &[7]), verified(9, 9, None, &[7])),
        _ => (verified(0, 9, None, &[7, 8]), verified(0, 9, None, &[7])),
    }
}

/// f52613e reported nothing about a job that had verified nothing.
#[test]
fn only_blocks_left_out_by_choice_may_stay_unverified() {
    let distrusted = |written, checked, unchecked| {
        let mut run = queue_full(32, 1_000_000);
        run.jobs[0].verified = Some(Verified { written, checked, unchecked, ..Verified::default() });
        analyse::distrusted(&analyse::analyse(&run))
    };
    for unchecked in [Unchecked::Stopped, Unchecked::Runtime, Unchecked::Failed, Unchecked::Cached] {
        assert!(distrusted(9, 0, Some(unchecked)) && distrusted(9, 8, Some(unchecked)), "{unchecked:?}");
        assert!(distrusted(0, 0, Some(unchecked)) && !distrusted(0, 8, Some(unchecked)), "{unchecked:?}");
    }
    for unchecked in [Unchecked::DoVerify, Unchecked::NullMethod, Unchecked::NullEngine] {
        assert!(!distrusted(9, 0, Some(unchecked)), "{unchecked:?}");
    }
    // Whether an earlier run wrote more is not the question: the payload of what was read is unknown.
    assert!(distrusted(0, 9, Some(Unchecked::Payload)) && distrusted(9, 9, Some(Unchecked::Payload)));
    assert!(!distrusted(9, 9, None));
}

fn trust(code: Code) -> Pair {
    match code {
        Code::NothingMeasured => (changed(|run| run.jobs[0].result.read.ios = 0), changed(|_| ())),
        Code::ErrorsSeen => (changed(|run| run.jobs[0].result.errors = 1), changed(|_| ())),
        Code::PageCacheMeasured => (reads_reach_devices(0.49), reads_reach_devices(0.51)),
        Code::BufferedWritesUnsynced => (buffered(true, false), buffered(true, true)),
        Code::HolesRead => (written(900 << 20), written(950 << 20)),
        Code::LatenessSignificant => (late(101_000), late(99_000)),
        Code::ShortRun => {
            let of_secs = |secs: u64| {
                changed(|run| {
                    let result = &mut run.jobs[0].result;
                    (result.runtime_ns, result.read.runtime_ns) = (secs * SECOND_NS, secs * SECOND_NS);
                })
            };
            (of_secs(4), of_secs(5))
        }
        Code::Interrupted => (changed(|run| run.outcome = RunOutcome::Interrupted), changed(|_| ())),
        Code::MetadataOnly => {
            let of_metadata = |run: &mut Run| {
                run.jobs[0].declared.device = false;
                run.jobs[0].declared.metadata = true;
            };
            (changed(of_metadata), changed(|_| ()))
        }
        Code::NoDevice => (changed(|run| run.jobs[0].declared.device = false), changed(|_| ())),
        Code::LimitUnknown => {
            (changed(|run| run.jobs[0].result.read.service = LatencyStats::default()), changed(|_| ()))
        }
        // Waves of 22 % and 18 % from minimum to maximum over five rounds.
        Code::NotSteady => {
            let wave = |high: u64| seconds(move |at| if (at / 3) % 2 == 0 { 1000 } else { high });
            (wave(1250), wave(1190))
        }
        Code::WarmupCounted => {
            let slow_start = |ios: u64| seconds(move |at| if at < 3 { ios } else { 1000 + at % 2 });
            (slow_start(500), slow_start(950))
        }
        Code::BurstUsedUp => {
            let fall = |to: u64| seconds(move |at| if at < 15 { 1000 + at % 2 } else { to + at % 2 });
            (fall(880), fall(920))
        }
        // Slow declines, to 75 % and to 85 %.
        _ => {
            let decline = |by: u64| seconds(move |at| 10_000 - at * by);
            (decline(120), decline(60))
        }
    }
}

fn volume(code: Code) -> Pair {
    match code {
        Code::VolumeIopsCap => (capped(CapKind::VolumeIops, 9_750.0), capped(CapKind::VolumeIops, 9_650.0)),
        Code::VolumeThroughputCap => (capped(CapKind::VolumeBytes, 9_750.0), capped(CapKind::VolumeBytes, 9_650.0)),
        Code::MachineCap => (capped(CapKind::Machine, 9_750.0), capped(CapKind::Machine, 9_650.0)),
        Code::EgressCap => (capped(CapKind::Egress, 9_750.0), capped(CapKind::Egress, 9_650.0)),
        Code::StationCap => (capped(CapKind::Station, 9_750.0), capped(CapKind::Station, 9_650.0)),
        Code::SizeTooSmall => {
            let larger = Some(LargerVolume {
                figure: LargerFigure::Size { bytes: 2 << 40, iops: None, bytes_per_second: None },
                iops: 15_000.0,
            });
            let at = |iops: f64| against(|seen| seen.iops = exactly(iops), |volume| volume.larger = larger);
            (at(9_750.0), at(9_650.0))
        }
        Code::ProvisionedTooLow => {
            let larger = Some(LargerVolume { figure: LargerFigure::ProvisionedIops(15_000), iops: 15_000.0 });
            let at = |iops: f64| against(|seen| seen.iops = exactly(iops), |volume| volume.larger = larger);
            (at(9_750.0), at(9_650.0))
        }
        Code::BytesBeforeIops => {
            let blocks = |bytes: f64| {
                against(|seen| seen.block_bytes = exactly(bytes), |volume| volume.caps[0].kind = CapKind::VolumeBytes)
            };
            (blocks(65_536.0), blocks(32_768.0))
        }
        Code::SharedBudget => {
            let reads =
                |share: f64| against(|seen| seen.read_share = Some(share), |volume| volume.caps[0].shared = true);
            (reads(0.7), reads(1.0))
        }
        Code::BurstRunning => {
            let burst = |burst_iops: f64| {
                against(|seen| (seen.iops, seen.depth) = (exactly(14_000.0), None), |volume| bursts(volume, burst_iops))
            };
            (burst(15_000.0), burst(13_000.0))
        }
        Code::AboveExpectation => {
            let at = |iops: f64| seen(|seen| (seen.iops, seen.depth) = (exactly(iops), None));
            (at(10_400.0), at(10_200.0))
        }
        Code::BelowExpectation => {
            let at = |iops: f64| seen(|seen| (seen.iops, seen.latency_ns) = (exactly(iops), exactly(16e9 / iops)));
            (at(8_800.0), at(9_200.0))
        }
        Code::BeyondKnee => {
            let deep = |depth: f64| seen(|seen| (seen.depth, seen.latency_ns) = (exactly(depth), exactly(depth * 1e5)));
            (deep(33.0), deep(31.0))
        }
        Code::UnwrittenBlocks => {
            let fast = |ns: f64| seen(|seen| seen.latency_ns = exactly(ns));
            (fast(390_000.0), fast(410_000.0))
        }
        _ => {
            let cpus =
                |cpus: f64| against(|seen| seen.cpus = exactly(cpus), |volume| volume.iops_per_cpu = Some(2_000.0));
            (cpus(4.0), cpus(5.0))
        }
    }
}

fn figures(code: Code) -> Pair {
    let blocks = |bytes: f64| {
        seen(|seen| (seen.block_bytes, seen.bytes_per_second) = (exactly(bytes), exactly(bytes * 10_000.0)))
    };
    let throughput = |factor: f64| seen(|seen| seen.bytes_per_second = exactly(factor * 40_960_000.0));
    match code {
        Code::LittleContradicted => {
            let depth = |depth: f64| seen(|seen| seen.depth = exactly(depth));
            (depth(15.5), depth(15.6))
        }
        Code::LittleHolds => {
            let depth = |depth: f64| seen(|seen| seen.depth = exactly(depth));
            (depth(16.4), depth(16.6))
        }
        Code::FiguresDisagree => (throughput(1.3), throughput(1.004)),
        Code::UnitsMixed => (throughput(1.0486), throughput(1.3)),
        Code::OddBlockSize => (blocks(5_000.0), blocks(8_192.0)),
        Code::RequestsSplit => {
            let request = |bytes: f64| seen(|seen| seen.request_bytes = exactly(bytes));
            (request(2_048.0), request(4_000.0))
        }
        Code::SmallRegion => {
            let region = |bytes: u64| seen(|seen| (seen.region_bytes, seen.seconds) = (Some(bytes), Some(300.0)));
            (region(1 << 30), region(2 << 30))
        }
        Code::MechanicalDisk => {
            let drive = |iops: f64| {
                let change = |seen: &mut Observation| {
                    (seen.iops, seen.depth, seen.latency_ns) = (exactly(iops), exactly(1.0), exactly(1e9 / iops));
                    seen.bytes_per_second = None;
                };
                against(change, |volume| volume.alone_ns = None)
            };
            (drive(80.0), drive(400.0))
        }
        Code::UtilMisread => {
            let busy = |share: f64| seen(|seen| (seen.busy, seen.in_flight) = (exactly(share), exactly(16.0)));
            (busy(0.99), busy(0.8))
        }
        Code::UtilContradicted => {
            let busy = |share: f64| {
                seen(|seen| {
                    (seen.busy, seen.iops, seen.latency_ns) = (exactly(share), exactly(100.0), exactly(1e6));
                    (seen.depth, seen.bytes_per_second) = (None, None);
                })
            };
            let stuck = seen(|seen| {
                (seen.busy, seen.iops, seen.latency_ns) = (exactly(0.21), exactly(100.0), exactly(1e6));
                (seen.depth, seen.bytes_per_second, seen.in_flight) = (None, None, exactly(37.0));
            });
            assert!(!stuck.contains(&code), "requests that had not ended were called impossible");
            (busy(0.21), busy(0.19))
        }
        Code::SyncsTooSlow => {
            let backend = |p99: f64| {
                seen(|seen| (seen.etcd, seen.sync_p99_ns) = (Some(record::EtcdSyncs::Backend), exactly(p99)))
            };
            (backend(25e6), backend(24e6))
        }
        Code::SinceBoot => (seen(|seen| seen.since_boot = true), seen(|_| ())),
        Code::MeanWithoutSpread => (seen(|seen| seen.spread = false), seen(|_| ())),
        // Neither at the cap nor far below it.
        _ => {
            let needed = |depth: Option<KnownFigure>| {
                seen(|seen| (seen.iops, seen.latency_ns, seen.depth) = (exactly(9_500.0), exactly(2.5e6), depth))
            };
            (needed(None), needed(exactly(24.0)))
        }
    }
}

fn load(code: Code) -> Pair {
    match code {
        Code::EngineNotAsynchronous => {
            let in_flight = |value: f64| seen(|seen| seen.in_flight = exactly(value));
            (in_flight(1.2), in_flight(1.5))
        }
        Code::RateNotReached => (paced(33_000, 64), paced(32_100, 64)),
        Code::QueueTooShallow => (paced(33_000, 32), paced(33_000, 34)),
        Code::GeneratorCpuBound => {
            let busy = |secs: u64| changed(|run| run.jobs[0].result.cpu.user_ns = secs * SECOND_NS);
            (busy(28), busy(26))
        }
        Code::QueueNotFilled => {
            let possible = |depth: u64| changed(|run| run.jobs[0].declared.in_flight_possible = Some(depth));
            (possible(41), possible(39))
        }
        Code::LatencyTarget => {
            let target = |target_ns: u64| {
                changed(|run| {
                    run.jobs[0].depth_search = Some(DepthSearchRecord { target_ns, ..DepthSearchRecord::default() });
                })
            };
            (target(500_000), target(0))
        }
        Code::LatencyBound => (of(&queue_full(1, 100_000)), of(&queue_full(2, 100_000))),
        Code::DeviceFlat => (even(90_000.0), even(110_000.0)),
        Code::QueueFull => (even(110_000.0), even(90_000.0)),
        // The load has 32,000 IOPS.
        Code::CgroupThrottle => (throttled("riops", 35_000), throttled("riops", 36_000)),
        // At twice the depth, 1.5 times the operations mean the depth was the limit, 1.1 times the device.
        Code::DepthBound => (probed(64, 1.51), probed(64, 1.49)),
        Code::NearKnee => (probed(64, 1.49), probed(64, 1.51)),
        Code::DeviceBound => (probed(64, 1.09), probed(64, 1.11)),
        // The second measurement at the same depth was a fifth lower.
        Code::NotRepeated => (probed_again(0.79), probed_again(0.81)),
        Code::Throttled => (slow_ones(2_000, 90_000_000), slow_ones(1_900, 90_000_000)),
        Code::ModelHeldBack => (modelled(500), modelled(499)),
        Code::ModelNotReached => (modelled(499), modelled(500)),
        _ => (paced(32_300, 64), paced(32_400, 64)),
    }
}

/// Returns the findings about a full queue of 32 on a device with a throttle.
fn throttled(key: &str, value: u64) -> Vec<Code> {
    changed(|run| run.jobs[0].evidence.throttles = vec![loads::throttle(key, value)])
}

/// Returns the findings about a full queue of 32 that gave this multiple of its IOPS at another depth.
fn probed(iodepth: u32, gain: f64) -> Vec<Code> {
    with_probe(iodepth, gain, None)
}

/// The same at twice the depth, where the run's own depth gave this multiple of its IOPS the second time.
fn probed_again(again: f64) -> Vec<Code> {
    with_probe(64, 1.0, Some(again))
}

fn with_probe(iodepth: u32, gain: f64, again: Option<f64>) -> Vec<Code> {
    let mut run = queue_full(32, 1_000_000);
    let (iops, service_mean_ns) = (run.jobs[0].result.iops(), 1_000_000.0);
    let again_iops = again.map(|again| iops * again);
    let probe = record::ProbeRecord { iodepth, runtime_ns: SECOND_NS, iops: iops * gain, service_mean_ns, again_iops };
    run.jobs[0].probe = Some(probe);
    of(&run)
}

#[test]
fn every_code_has_an_input_that_raises_it_and_a_near_miss() {
    for code in Code::ALL {
        let (raised, near) = pair(code);
        assert!(raised.contains(&code), "{code:?} is not raised; found: {raised:?}");
        assert!(!near.contains(&code), "{code:?} is raised by its near miss; found: {near:?}");
    }
}

#[test]
fn codes_are_listed_once_and_in_order() {
    assert!(Code::ALL.is_sorted_by(|a, b| a < b));
    assert_eq!(Code::BeyondKnee.name(), "beyond_knee");
    let json = serde_json::to_string(&Code::ALL[..]).unwrap();
    let names: Vec<String> = serde_json::from_str(&json).unwrap();
    assert_eq!(names, Code::ALL.map(Code::name).to_vec(), "names match the JSON");
}

/// A quote, which marks figures as those of text output.
fn quote() -> Quote {
    Quote { what: Quoted::Iops, kind: Some(DataKind::Read), value: 1.0, step: 1.0, line: 1, of: None }
}

#[test]
fn engine_that_cannot_queue_gets_another_engine_instead_of_depth() {
    let alone = |queues: bool| {
        let found = found(
            |seen| {
                (seen.iops, seen.depth, seen.queues) = (exactly(625.0), exactly(1.0), Some(queues));
                seen.bytes_per_second = exactly(625.0 * 4096.0);
            },
            |_| (),
        );
        found.into_iter().find(|finding| finding.code == Code::QueueTooShallow).and_then(|finding| finding.remedy)
    };
    assert_eq!(alone(true), Some(Remedy::RaiseDepth { iodepth: 16 }));
    assert_eq!(alone(false), Some(Remedy::QueueingEngine { iodepth: 16 }));
}

#[test]
fn fewer_workers_are_recommended_if_there_are_more_than_the_knee() {
    let remedy = |workers: u64| {
        let found = found(
            |seen| (seen.workers, seen.depth, seen.latency_ns) = (Some(workers), exactly(64.0), exactly(6_400_000.0)),
            |_| (),
        );
        found.into_iter().find(|finding| finding.code == Code::BeyondKnee).and_then(|finding| finding.remedy)
    };
    assert_eq!(remedy(64), Some(Remedy::FewerWorkers { numjobs: 16 }), "64 workers never have 16 in flight");
    assert_eq!(remedy(4), Some(Remedy::LowerDepth { iodepth: 4, total: 16 }));
}

#[test]
fn throughput_at_the_limit_is_not_below_expectation() {
    let found = against(
        |seen| (seen.iops, seen.latency_ns) = (exactly(9_990.0), exactly(6_400_000.0)),
        |volume| volume.at = &|in_flight| Some(ExpectedPoint { in_flight, iops: 12_000.0, latency_ns: 5_300_000.0 }),
    );
    assert!(found.contains(&Code::VolumeIopsCap) && !found.contains(&Code::BelowExpectation), "{found:?}");
}

#[test]
fn product_of_rounded_figures_is_the_product_of_their_estimates() {
    let rounded = |value: f64, step: f64| KnownFigure::printed(value, step, EvidenceSource::Claim);
    let in_flight = rounded(5_000.0, 1_000.0).times(&rounded(1e6, 1e6).scaled(1e-9));
    assert!((in_flight.value() - 5.0).abs() < 1e-9, "5k IOPS x 1 ms, and not 5.25: {in_flight:?}");
    assert!((in_flight.low - 2.25).abs() < 1e-9 && (in_flight.high - 8.25).abs() < 1e-9, "{in_flight:?}");
}

#[test]
fn syncs_are_part_of_the_cycle_of_an_operation() {
    let found = |sync_ns: f64| {
        let mut run = queue_full(1, 12_000);
        let count = run.jobs[0].result.read.ios;
        run.jobs[0].result.sync = LatencyStats { count, mean_ns: sync_ns, ..LatencyStats::default() };
        run.jobs[0].result.runtime_ns = (count as f64 * (12_000.0 + sync_ns)) as u64;
        run.jobs[0].declared.header_only = true;
        run.jobs[0].quotes = vec![quote()];
        let found = explain_job(&run, 0, &Observation::of(&run, &run.jobs[0]), None).findings;
        let bound = found.iter().find(|finding| finding.code == Code::LatencyBound).cloned();
        (bound.map(|bound| bound.remedy.is_some()), found.iter().any(|one| one.code == Code::LittleContradicted))
    };
    assert_eq!(found(3e6), (Some(false), false), "a deeper queue does not shorten syncs, and nothing is contradicted");
    assert_eq!(found(0.0), (Some(true), false));
}

/// Five microseconds in the kernel before each ten on the device: one was in flight all the time.
#[test]
fn submission_time_counts_at_depth_one() {
    let mut run = queue_full(1, 10_000);
    let read = &mut run.jobs[0].result.read;
    read.latency = LatencyStats { mean_ns: 15_000.0, ..read.service.clone() };
    run.jobs[0].result.runtime_ns = run.jobs[0].result.read.ios * 15_100;
    let codes = of(&run);
    assert!(codes.contains(&Code::LatencyBound) && !codes.contains(&Code::QueueNotFilled), "{codes:?}");
}

#[test]
fn device_counters_of_very_short_runs_are_ignored() {
    let codes = |elapsed_ns: u64| {
        let mut run = queue_full(32, 1_000_000);
        run.tool.name = "fio".to_owned();
        run.jobs[0].declared.direct = false;
        run.disks = vec![DiskUse { name: "vda".to_owned(), write_ios: 1, ..DiskUse::default() }];
        let result = &mut run.jobs[0].result;
        (result.runtime_ns, result.read.runtime_ns) = (elapsed_ns, elapsed_ns);
        of(&run)
    };
    assert!(codes(5 * SECOND_NS).contains(&Code::PageCacheMeasured));
    assert!(!codes(SECOND_NS / 20).contains(&Code::PageCacheMeasured), "fio had not sampled them yet");
}

#[test]
fn waiting_at_submission_does_not_confirm_the_depth() {
    let mut run = queue_full(32, 1_000_000);
    let job = &mut run.jobs[0];
    (job.declared.direct, job.declared.header_only) = (false, true);
    job.quotes = vec![quote()];
    job.result.read.submission = LatencyStats {
        count: job.result.read.ios,
        mean_ns: job.result.runtime_ns as f64 / job.result.read.ios as f64,
        ..LatencyStats::default()
    };
    let codes = of(&run);
    assert!(codes.contains(&Code::EngineNotAsynchronous) && !codes.contains(&Code::LittleHolds), "{codes:?}");
}

#[test]
fn only_one_depth_is_recommended() {
    let shallow = |seen: &mut Observation| {
        (seen.iops, seen.depth, seen.bytes_per_second) = (exactly(5_000.0), None, exactly(5_000.0 * 4096.0));
    };
    let found = against(shallow, |_| ());
    assert!(found.contains(&Code::QueueTooShallow) && !found.contains(&Code::DepthNeeded), "{found:?}");
    let found = against(shallow, |volume| volume.caps[0].iops = 5_000.0);
    assert!(found.contains(&Code::VolumeIopsCap) && !found.contains(&Code::DepthNeeded), "{found:?}");
}

/// The lowest sustained limit was reported although credits suspended it, and 10 % above nominal was reported as a
/// cache.
#[test]
fn most_utilized_limit_is_reported_within_its_tolerance() {
    let named = |iops: f64, change: &dyn Fn(&mut Expectation<'_>)| -> Vec<(Code, Option<String>)> {
        let found = found(|seen| (seen.iops, seen.depth, seen.bytes_per_second) = (exactly(iops), None, None), change);
        let of_volume = |finding: &Finding| {
            matches!(finding.code, Code::VolumeIopsCap | Code::MachineCap | Code::AboveExpectation | Code::BurstRunning)
        };
        found.into_iter().filter(of_volume).map(|finding| (finding.code, finding.subject)).collect()
    };
    let volume_cap = || vec![(Code::VolumeIopsCap, Some("volume IOPS".to_owned()))];
    let above = || vec![(Code::AboveExpectation, Some("volume IOPS".to_owned()))];
    assert_eq!(named(10_900.0, &|_| ()), above());
    assert_eq!(named(10_900.0, &|volume| volume.caps[0].tolerance = 0.1), volume_cap());
    assert_eq!(named(11_100.0, &|volume| volume.caps[0].tolerance = 0.1), above());
    // At equal utilization the volume comes before its machine, whatever their order.
    let machine = || vec![(Code::MachineCap, Some("machine IOPS".to_owned()))];
    let swapped = |machine_iops: f64| {
        move |volume: &mut Expectation<'_>| {
            volume.caps[1].iops = machine_iops;
            volume.caps.swap(0, 1);
        }
    };
    assert_eq!(named(10_000.0, &swapped(9_990.0)), volume_cap());
    assert_eq!(named(10_000.0, &swapped(9_900.0)), machine());
    // A machine's baseline is not a limit while its credits last.
    let baseline = |volume: &mut Expectation<'_>| {
        volume.burst_iops = 10_000.0;
        (volume.caps[1].iops, volume.caps[1].credits) = (5_000.0, Some(1_800.0 * 5_000.0));
        volume.caps.swap(0, 1);
    };
    let burst = (Code::BurstRunning, Some("machine IOPS".to_owned()));
    assert_eq!(named(10_000.0, &baseline), [vec![burst], volume_cap()].concat());
    assert_eq!(named(5_000.0, &baseline), machine());
}

#[test]
fn run_longer_than_the_burst_needs_no_longer_run() {
    let remedy = |iops: f64, seconds: f64| {
        let found = found(
            |seen| (seen.iops, seen.seconds, seen.bytes_per_second) = (exactly(iops), Some(seconds), None),
            |volume| bursts(volume, 15_000.0),
        );
        found.into_iter().find(|finding| finding.code == Code::BurstRunning).and_then(|finding| finding.remedy)
    };
    assert_eq!(remedy(15_000.0, 10.0), Some(Remedy::RunLonger { runtime_s: 120 }));
    assert_eq!(remedy(12_500.0, 120.0), Some(Remedy::Ramp { ramp_s: 60 }), "half of it was burst");
}

#[test]
fn idling_modelled_job_gets_no_depth_advice() {
    let codes = |thinktime_ns: u64| {
        let stage = ServiceStage { requests: 1000, utilisation: 0.02, ..ServiceStage::default() };
        changed(|run| {
            run.model = Some(ModelRecord { stages: vec![stage], ..ModelRecord::default() });
            run.jobs[0].declared.thinktime_ns = thinktime_ns;
            run.jobs[0].result.runtime_ns *= 6;
        })
    };
    assert!(codes(5_000_000).contains(&Code::QueueNotFilled) && codes(0).contains(&Code::ModelNotReached));
}

/// The advised depth left out the syncs that occupy half of the queue, and stayed the same when it was followed.
#[test]
fn depth_for_a_modelled_limit_counts_syncs() {
    let needed = |sync_ns: f64| {
        let mut run = queue_full(32, 1_000_000);
        let stage = ServiceStage { requests: 1000, utilisation: 0.25, ..ServiceStage::default() };
        run.model = Some(ModelRecord { stages: vec![stage], ..ModelRecord::default() });
        let result = &mut run.jobs[0].result;
        (result.sync.count, result.sync.mean_ns) = (1, sync_ns * result.elapsed_ns() as f64);
        let findings = explain_job(&run, 0, &Observation::of(&run, &run.jobs[0]), None).findings;
        let finding = findings.into_iter().find(|one| one.code == Code::ModelNotReached).unwrap();
        (finding.value(Quantity::InFlightNeeded).unwrap(), finding.value(Quantity::SyncsInFlight))
    };
    let (alone, none) = needed(0.0);
    let (with, syncs) = needed(16.0);
    assert_eq!((with - alone, none, syncs), (16.0 / 0.25, None, Some(16.0)), "{alone}");
}

#[test]
fn drive_without_caps_is_limited_by_its_full_queue() {
    let codes = |iops: f64| {
        against(
            |seen| (seen.iops, seen.bytes_per_second) = (exactly(iops), None),
            |volume| {
                (volume.caps, volume.alone_ns, volume.burst_iops) = (Vec::new(), None, 180.0);
            },
        )
    };
    assert!(codes(400.0).contains(&Code::AboveExpectation) && !codes(170.0).contains(&Code::AboveExpectation));
}

#[test]
fn jobs_on_one_volume_are_compared_with_it_together() {
    // Four jobs with four in flight each, which reach the limit only together.
    let mut run = queue_full(4, 1_600_000);
    run.jobs = vec![run.jobs[0].clone(); 4];
    let seen: Vec<Observation> = run.jobs.iter().map(|job| Observation::of(&run, job)).collect();
    let together = Observation::of(&run, &run.together(&[0, 1, 2, 3]));
    let iops = 4.0 * seen[0].iops.unwrap().value();
    assert!((together.iops.unwrap().value() - iops).abs() < 1e-6 && together.workers == Some(4));
    assert!((together.latency_ns.unwrap().value() / 1_600_000.0 - 1.0).abs() < 1e-6, "{together:?}");
    assert_eq!((together.depth.unwrap().value(), together.block_bytes), (16.0, seen[0].block_bytes));
    let gives = |in_flight: f64| Some(ExpectedPoint { in_flight, iops, latency_ns: in_flight / iops * 1e9 });
    let cap = ExpectedCap {
        name: "volume IOPS".to_owned(),
        kind: CapKind::VolumeIops,
        iops,
        shared: false,
        credits: None,
        tolerance: 0.0,
    };
    let volume = Expectation {
        volume: "some/volume".to_owned(),
        bytes: 1 << 40,
        caps: vec![cap],
        burst_iops: iops,
        alone_ns: Some(1_600_000.0),
        break_even_bytes: None,
        larger: None,
        latency_is_assumed: false,
        latency_is_measured: true,
        machine_is_unknown: false,
        notes: Vec::new(),
        iops_per_cpu: None,
        at: &gives,
    };
    let mut jobs: Vec<Explanation> = (0..4).map(|index| explain_job(&run, index, &seen[index], None)).collect();
    let whole = explain_together("4 jobs together", &together, &volume, &mut jobs);
    assert_eq!(whole.findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), [Code::VolumeIopsCap]);
    let open = jobs.iter().flat_map(|job| &job.findings).filter(|finding| finding.code == Code::QueueFull);
    assert_eq!(open.count(), 0, "the limit is known");
}

/// Discards of 5 MiB at 80 ms counted as operations of the device, at 62 ms each.
#[test]
fn discards_do_not_count_as_reads_and_writes() {
    let text = include_str!("../../record/tests/data/discards.txt");
    let Ok(record::Input::Iostat(iostat)) = record::read_input("input", text.as_bytes(), None) else { panic!() };
    let seen = Observation::of_device(&iostat, "nvme0n1");
    let value = |known: Option<KnownFigure>| known.unwrap().value();
    assert_eq!((value(seen.iops), seen.read_share), (30.0, Some(1.0 / 3.0)));
    assert!((value(seen.latency_ns) / 1e6 - 25.0 / 30.0).abs() < 1e-9);
    assert_eq!((value(seen.mean_bytes()), seen.in_flight, seen.busy), (4096.0, None, None));
}

/// Returns a sampled device: seconds of an interval, requests per second, requests in flight, and percent of the time busy.
fn sampled(intervals: &[(f64, f64, f64, f64)]) -> Observation {
    let device = |&(_, iops, in_flight, busy): &(f64, f64, f64, f64)| record::IostatDevice {
        name: "sda".to_owned(),
        all: record::IostatKind { per_second: Some(iops), ..record::IostatKind::default() },
        in_flight: Some(in_flight),
        util: Some(busy / 100.0),
        ..record::IostatDevice::default()
    };
    let report = |interval: &(f64, f64, f64, f64)| record::IostatReport {
        seconds: Some(interval.0),
        devices: vec![device(interval)],
        ..record::IostatReport::default()
    };
    let reports = intervals.iter().map(report).collect();
    Observation::of_device(&record::Iostat { reports, ..record::Iostat::default() }, "sda")
}

#[test]
fn a_load_that_ends_used_up_no_credits() {
    let falls = |in_flight: f64, busy: f64| {
        let early = (0..5).map(|at| (1.0, 3000.0 + f64::from(at % 2), 16.0, 99.0));
        let late = (0..15).map(|at| (1.0, 300.0 + f64::from(at % 2), in_flight, busy));
        let seen = sampled(&early.chain(late).collect::<Vec<_>>());
        explain_observation("sda", &seen, None).findings.iter().any(|finding| finding.code == Code::BurstUsedUp)
    };
    assert!(falls(16.0, 99.0), "the queue stayed full");
    assert!(!falls(0.1, 8.0) && !falls(1.0, 99.0) && !falls(16.0, 30.0), "the demand fell");
}

#[test]
fn means_of_unequal_intervals_weigh_by_their_lengths() {
    let seen = sampled(&[(136.0, 49.76, 0.5, 30.0), (601.0, 25.77, 0.25, 6.0)]);
    let near = |known: Option<KnownFigure>, wanted: f64| (known.unwrap().value() / wanted - 1.0).abs() < 1e-9;
    assert!(near(seen.iops, (136.0 * 49.76 + 601.0 * 25.77) / 737.0), "{seen:?}");
    assert!(near(seen.busy, (136.0 * 0.3 + 601.0 * 0.06) / 737.0) && seen.seconds == Some(737.0), "{seen:?}");
}

/// Intervals without requests were left out without a word: 1,000 operations per second in every other second were called
/// busy for 40 % of the time, and the beginning of a load that pauses was to be left out.
#[test]
fn intervals_without_requests_are_counted_and_told() {
    let pulse = |second: u32| if second.is_multiple_of(2) { (1.0, 1000.0, 0.5, 40.0) } else { (1.0, 0.0, 0.0, 0.0) };
    let idle = [(1.0, 0.0, 0.0, 0.0); 5];
    let intervals: Vec<_> = idle.into_iter().chain((0..41).map(pulse)).chain(idle).collect();
    let seen = sampled(&intervals);
    let active = seen.active.unwrap();
    assert_eq!((active.active, active.all), (21, 51));
    let near = |known: KnownFigure, wanted: f64| (known.value() / wanted - 1.0).abs() < 1e-9;
    assert!(near(seen.iops.unwrap(), 1000.0) && near(seen.over_all(seen.iops.unwrap()), 1000.0 * 21.0 / 51.0));
    assert!(near(seen.over_all(seen.busy.unwrap()), 0.4 * 21.0 / 51.0), "{seen:?}");
    assert_eq!((seen.paces.len(), seen.interval_ns), (41, 1e9), "idle ends are none of the load");
    let explained = explain_observation("sda", &seen, None);
    assert!(explained.active.is_some() && !explained.findings.iter().any(|one| one.code == Code::WarmupCounted));
    assert_eq!(sampled(&[(1.0, 10.0, 0.5, 40.0)]).active, None);
    let rounded = sampled(&[(1.0, 10.0, 16.0, 101.6)]);
    assert_eq!(rounded.busy.map(|busy| busy.value()), Some(1.0), "iostat may print more than 100 %");
    // Requests that do not complete keep the device busy.
    let stalled = sampled(&[(1.0, 10.0, 0.5, 40.0), (1.0, 0.0, 8.0, 100.0)]);
    assert!(near(stalled.iops.unwrap(), 5.0) && near(stalled.busy.unwrap(), 0.7) && stalled.active.is_none());
}

/// `-z` leaves out idle devices, whose intervals count too.
#[test]
fn intervals_that_leave_out_an_idle_device_count() {
    let device = |name: &str, iops: f64| record::IostatDevice {
        name: name.to_owned(),
        read: record::IostatKind { per_second: Some(iops), ..record::IostatKind::default() },
        ..record::IostatDevice::default()
    };
    let seen = |other: f64| {
        let reports = [vec![device("sda", 6.0), device("sdb", 1.0)], vec![device("sdb", other)], Vec::new()];
        let reports =
            reports.map(|devices| record::IostatReport { devices, ..record::IostatReport::default() }).to_vec();
        Observation::of_device(&record::Iostat { reports, ..record::Iostat::default() }, "sda").active
    };
    assert_eq!(seen(1.0).map(|intervals| (intervals.active, intervals.all)), Some((1, 3)));
    assert_eq!(seen(0.0), None, "idle devices are printed, so that this one was not there");
}

/// Reads of a device that was faster than the expected volume were said to be of unwritten blocks of a file.
#[test]
fn counters_of_a_fast_device_tell_nothing_of_unwritten_blocks() {
    let fast = |source: EvidenceSource, depth: Option<KnownFigure>| {
        let known = |value: f64| Some(KnownFigure::exact(value, source));
        against(
            |seen| {
                (seen.iops, seen.latency_ns, seen.in_flight, seen.depth) = (known(9e3), known(1e5), known(0.9), depth);
            },
            |_| {},
        )
    };
    assert!(!fast(EvidenceSource::Iostat, None).contains(&Code::UnwrittenBlocks));
    assert!(fast(EvidenceSource::Claim, exactly(16.0)).contains(&Code::UnwrittenBlocks));
}

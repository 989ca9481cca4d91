//! Findings about the ranks of a run on many hosts, each with runs that do not raise it.

use analyse::{Code, Finding, Quantity, Remedy, Severity, analyse, explain_job};
use record::{DiskUse, FleetRecord, IntervalRecord, LostRank, RankRecord, Run, SeriesRecord, Verified};
use units::PerKind;
use units::random::Random;

use crate::loads;
use crate::loads::{SECOND_NS, of_ranks as run, queue_full, rank};

/// The codes of findings about ranks.
const OF_RANKS: [Code; 6] = [
    Code::SharedLimit,
    Code::RanksMissedRate,
    Code::HostCpuBound,
    Code::HostLinkBound,
    Code::RankStraggler,
    Code::RankSharesUnequal,
];

fn paced(members: Vec<RankRecord>, rate_iops: u64) -> Run {
    let mut run = run(members);
    run.jobs[0].declared.rate_iops = PerKind { read: Some(rate_iops), ..PerKind::default() };
    run
}

fn members(run: &mut Run) -> &mut Vec<RankRecord> {
    &mut run.fleet.as_mut().unwrap().members
}

fn find(run: &Run, code: Code) -> Option<Finding> {
    analyse(run)[0].findings().find(|finding| finding.code == code).cloned()
}

fn codes(run: &Run) -> Vec<Code> {
    let verdict = analyse(run).remove(0);
    verdict.findings().map(|finding| finding.code).filter(|code| OF_RANKS.contains(code)).collect()
}

fn equal(ranks: u32, iops: u64) -> Vec<RankRecord> {
    (0..ranks).map(|number| rank(number, &[iops; 30])).collect()
}

/// Rates around a mean, by seed.
fn noisy(random: &mut Random, mean: f64, variation: f64, count: usize) -> Vec<u64> {
    let uniform = |random: &mut Random| (random.unit() - 0.5) * 12_f64.sqrt();
    (0..count).map(|_| (mean * (1.0 + variation * uniform(random))).max(0.0) as u64).collect()
}

#[test]
fn equal_ranks_have_no_findings() {
    for ranks in [1, 2, 3, 64] {
        assert_eq!(codes(&run(equal(ranks, 1_000))), [], "{ranks}");
    }
    let mut random = Random::new(7, 0);
    let varied = (0..1_000).map(|number| {
        let mean = noisy(&mut random, 1_000.0, 0.08, 1)[0] as f64;
        rank(number, &noisy(&mut random, mean, 0.1, 30))
    });
    assert_eq!(codes(&run(varied.collect())), []);
}

#[test]
fn a_slow_rank_is_compared_with_the_median_of_its_kind() {
    let mut run = self::run(equal(8, 1_000));
    members(&mut run)[5] = rank(5, &[600; 30]);
    let found = find(&run, Code::RankStraggler).unwrap();
    assert_eq!((found.severity, found.subject.as_deref()), (Severity::Warning, Some("rank 5 on node2")));
    let value = |quantity| found.value(quantity);
    assert_eq!((value(Quantity::RankIops), value(Quantity::MedianRankIops)), (Some(600.0), Some(1_000.0)));
    assert_eq!((value(Quantity::SlowRanks), value(Quantity::Ranks)), (Some(1.0), Some(8.0)));
    assert_eq!((found.remedy, value(Quantity::RankP99)), (Some(Remedy::CompareHosts), None));
    assert_eq!(codes(&run), [Code::RankStraggler], "and shares are not unequal too");
    // 81 % of the median is noise, whatever the deviation.
    members(&mut run)[5] = rank(5, &[810; 30]);
    assert_eq!(codes(&run), []);
    // A rank with fewer workers is not comparable.
    members(&mut run)[5] = RankRecord { workers: 1, ..rank(5, &[500; 30]) };
    assert_eq!(codes(&run), []);
    // Where all differ, none is an exception.
    let spread = [1_000, 900, 1_100, 800, 1_200, 1_050, 950, 550];
    let spread = spread.iter().zip(0..).map(|(iops, number)| rank(number, &[*iops; 30])).collect();
    assert_eq!(find(&self::run(spread), Code::RankStraggler), None);
    // Two ranks have no meaningful median.
    assert_eq!(find(&self::run(vec![rank(0, &[1_000; 30]), rank(1, &[100; 30])]), Code::RankStraggler), None);
}

#[test]
fn the_slow_rank_is_described_by_what_distinguishes_it() {
    let mut run = self::run(equal(8, 1_000));
    let mut slow = rank(5, &[600; 20]);
    slow.cpu_share = 0.95;
    slow.latency_ns = Some([500_000, 1_500_000, 2_000_000]);
    slow.start_delay_ns = Some(2 * SECOND_NS);
    slow.errors = 4;
    members(&mut run)[5] = slow;
    let found = find(&run, Code::RankStraggler).unwrap();
    let value = |quantity| found.value(quantity);
    assert_eq!((value(Quantity::RankCpuShare), value(Quantity::MedianRankCpuShare)), (Some(0.95), Some(0.2)));
    assert_eq!((value(Quantity::RankP99), value(Quantity::MedianRankP99)), (Some(1.5e6), Some(1e6)));
    assert_eq!((value(Quantity::RankLate), value(Quantity::RankErrors)), (Some(2e9), Some(4.0)));
    assert_eq!((value(Quantity::RankLasted), value(Quantity::MedianRankLasted)), (Some(20e9), Some(30e9)));
    // All ranks have errors, a long tail and a busy processor: that distinguishes none.
    for member in members(&mut run) {
        (member.errors, member.cpu_share, member.latency_ns) = (4, 0.85, Some([500_000, 1_500_000, 2_000_000]));
    }
    let found = find(&run, Code::RankStraggler).unwrap();
    for quantity in [Quantity::RankErrors, Quantity::RankCpuShare, Quantity::RankP99] {
        assert_eq!(found.value(quantity), None, "{quantity:?}");
    }
}

#[test]
fn lost_ranks_and_ranks_without_work_are_no_stragglers() {
    let mut run = self::run(equal(8, 1_000));
    let fleet = run.fleet.as_mut().unwrap();
    fleet.members.remove(3);
    fleet.lost = vec![LostRank { rank: 3, reason: "no heartbeat".to_owned() }];
    assert_eq!(codes(&run), []);
    members(&mut run).insert(3, RankRecord { rank: 3, ..RankRecord::default() });
    assert_eq!(codes(&run), []);
}

#[test]
fn unequal_shares_are_reported_by_host_if_its_ranks_are_alike() {
    let of_host = [1_000, 1_010, 1_400, 1_410, 2_000, 2_020, 1_700, 1_690];
    let ranks = |iops: &[u64]| iops.iter().zip(0..).map(|(iops, number)| rank(number, &[*iops; 30])).collect();
    let found = find(&run(ranks(&of_host)), Code::RankSharesUnequal).unwrap();
    assert_eq!((found.severity, found.subject.as_deref()), (Severity::Advice, Some("node0 against node2")));
    let value = |quantity| found.value(quantity);
    assert_eq!((value(Quantity::SlowestRankIops), value(Quantity::FastestRankIops)), (Some(1_005.0), Some(2_010.0)));
    assert!(value(Quantity::WithinHostVariation).is_some_and(|within| within < 0.01));
    let mixed = [1_000, 2_000, 1_400, 1_010, 2_020, 1_700, 1_690, 1_410];
    let found = find(&run(ranks(&mixed)), Code::RankSharesUnequal).unwrap();
    assert_eq!(found.subject.as_deref(), Some("rank 0 on node0 against rank 4 on node2"));
    assert_eq!(found.value(Quantity::WithinHostVariation), None);
    // Less than 1.5 times as much is not unequal.
    assert_eq!(codes(&run(ranks(&[1_000, 1_010, 1_450, 1_440, 1_490, 1_480]))), []);
}

#[test]
fn rates_that_were_reached_are_not_unequal_shares() {
    let ranks = || (0..4).map(|number| rank(number, &[1_000 * u64::from(number + 1); 30])).collect();
    assert_eq!(codes(&paced(ranks(), 10_000)), []);
    assert_eq!(codes(&run(ranks())), [Code::RankSharesUnequal]);
}

#[test]
fn a_host_whose_ranks_use_all_processors_is_the_limit() {
    let mut run = self::run(equal(8, 1_000));
    for member in &mut members(&mut run)[2..4] {
        member.cpu_share = 1.85;
    }
    let found = find(&run, Code::HostCpuBound).unwrap();
    assert_eq!((found.severity, found.subject.as_deref()), (Severity::Warning, Some("node1")));
    assert!((found.value(Quantity::HostCpuShare).unwrap() - 0.925).abs() < 1e-9);
    assert_eq!((found.value(Quantity::HostsAtLimit), found.value(Quantity::Hosts)), (Some(1.0), Some(4.0)));
    assert_eq!(found.remedy, Some(Remedy::MoreHosts));
    members(&mut run)[3].cpu_share = 1.7;
    assert_eq!(find(&run, Code::HostCpuBound), None, "0.9 of 8 processors is 7.2");
    // Jobs that follow each other do not add up.
    members(&mut run)[3].cpu_share = 1.85;
    let mut second = run.jobs[0].clone();
    second.group = 1;
    run.jobs.push(second);
    assert_eq!(find(&run, Code::HostCpuBound), None);
    run.jobs.pop();
    run.jobs[0].declared.polled = true;
    assert_eq!(find(&run, Code::HostCpuBound), None);
    run.jobs[0].declared.polled = false;
    members(&mut run).iter_mut().for_each(|member| member.cpus = 0);
    assert_eq!(find(&run, Code::HostCpuBound), None);
}

#[test]
fn a_host_at_its_link_is_the_limit_of_network_targets_only() {
    let link = |bytes: u64| {
        let mut run = self::run(equal(4, 1_000));
        members(&mut run).iter_mut().for_each(|member| member.link_bytes_per_second = Some(bytes));
        run
    };
    // Two ranks of a host transfer 8.192 MB/s.
    let found = find(&link(9_000_000), Code::HostLinkBound).unwrap();
    assert!((found.value(Quantity::LinkShare).unwrap() - 8.192 / 9.0).abs() < 1e-9);
    assert_eq!(found.value(Quantity::HostsAtLimit), Some(2.0));
    assert!((found.value(Quantity::LinkBytesPerSecond).unwrap() - 9e6).abs() < 1.0);
    // A tenth of the speed is left; or the host has more links than the fastest.
    for bytes in [10_000_000, 7_000_000, 1, 0, u64::MAX] {
        assert_eq!(codes(&link(bytes)), [], "{bytes}");
    }
    assert_eq!(codes(&run(equal(4, 1_000))), [], "targets that are not reached over the network");
    // Reads and writes pass at the same time, in opposite directions.
    let mut mixed = link(9_000_000);
    members(&mut mixed).iter_mut().for_each(|member| member.bytes[1] = member.bytes[0]);
    assert_eq!(codes(&mixed), []);
}

#[test]
fn a_sum_that_stays_when_ranks_end_proves_a_shared_limit() {
    let (short, long) = ([500; 15], [[500; 15], [1_000; 15]].concat());
    let members: Vec<RankRecord> =
        (0..16).map(|number| rank(number, if number % 2 == 0 { &short } else { &long })).collect();
    let found = find(&run(members.clone()), Code::SharedLimit).unwrap();
    assert_eq!((found.severity, found.remedy), (Severity::Info, Some(Remedy::FewerRanks { ranks: 8 })));
    let value = |quantity| found.value(quantity);
    assert_eq!((value(Quantity::Ranks), value(Quantity::RanksEnough)), (Some(16.0), Some(8.0)));
    assert_eq!((value(Quantity::AllIops), value(Quantity::RemainingIopsBefore)), (Some(8_000.0), Some(4_000.0)));
    assert_eq!(value(Quantity::RemainingIops), Some(8_000.0));
    // On each host one of two ranks ended, so each host may have a limit of its own.
    assert_eq!((value(Quantity::Hosts), value(Quantity::HostsSharing)), (Some(8.0), Some(1.0)));
    let whole_hosts = (0..16).map(|number| rank(number, if number < 8 { &short[..] } else { &long }));
    let found = find(&self::run(whole_hosts.collect()), Code::SharedLimit).unwrap();
    assert_eq!(found.value(Quantity::HostsSharing), Some(8.0));
    // The ranks on a host without ranks that ended got no more.
    let some = (0..18).map(|number| match number {
        16.. => rank(number, &[500; 30]),
        _ => rank(number, if number % 2 == 0 { &short[..] } else { &long }),
    });
    let found = find(&self::run(some.collect()), Code::SharedLimit).unwrap();
    assert_eq!((found.value(Quantity::Hosts), found.value(Quantity::HostsSharing)), (Some(9.0), Some(1.0)));
    // One run then shows what the limit was.
    let open = |run: &Run| analyse(run)[0].findings().any(|finding| finding.code == Code::QueueFull);
    assert!(!open(&self::run(members.clone())) && open(&self::run(equal(16, 500))));
    // The finding is also part of an explanation.
    let run = self::run(members);
    let explained = explain_job(&run, 0, &analyse::Observation::of(&run, &run.jobs[0]), None);
    assert!(explained.findings.iter().any(|finding| finding.code == Code::SharedLimit));
}

#[test]
fn storage_that_scales_shares_no_limit() {
    let ended = |after: u64| {
        let (short, long) = (vec![500; 15], [[500; 15], [after; 15]].concat());
        let members = (0..16).map(|number| rank(number, if number % 2 == 0 { &short } else { &long }));
        find(&run(members.collect()), Code::SharedLimit).is_some()
    };
    assert_eq!([500, 600, 750, 880, 920, 1_000].map(ended), [false, false, false, false, true, true]);
}

#[test]
fn noise_drift_and_small_changes_prove_no_shared_limit() {
    for seed in 0..50 {
        let mut random = Random::new(seed, 0);
        let members =
            (0..8).map(|number| rank(number, &noisy(&mut random, 500.0, 0.5, if number < 4 { 15 } else { 30 })));
        assert_eq!(find(&run(members.collect()), Code::SharedLimit), None, "seed {seed}");
    }
    // Each rank becomes faster all the time.
    let rising: Vec<u64> = (0..30).map(|second| 300 + 40 * second).collect();
    let members = (0..8).map(|number| rank(number, if number < 4 { &rising[..15] } else { &rising }));
    assert_eq!(find(&run(members.collect()), Code::SharedLimit), None);
    // Only one of eight ranks ends.
    let long = [[500; 15], [571; 15]].concat();
    let members = (0..8).map(|number| rank(number, if number < 1 { &long[..15] } else { &long }));
    assert_eq!(find(&run(members.collect()), Code::SharedLimit), None);
    // Ranks end too early, or all others too soon after them.
    for (first, then) in [(2, 28), (28, 2)] {
        let long: Vec<u64> = [vec![500; first], vec![1_000; then]].concat();
        let members = (0..4).map(|number| rank(number, if number < 2 { &long[..first] } else { &long }));
        assert_eq!(find(&run(members.collect()), Code::SharedLimit), None, "{first}, {then}");
    }
}

/// Two ranks that take turns at one limit of 1,000.
fn compensating(ranks: u32, random: &mut Random) -> Vec<RankRecord> {
    let mut rates = vec![Vec::new(); ranks as usize];
    for _ in 0..40 {
        let weights: Vec<f64> = rates.iter().map(|_| 0.2 + random.unit()).collect();
        let all: f64 = weights.iter().sum();
        rates.iter_mut().zip(&weights).for_each(|(rates, weight)| rates.push((1_000.0 * weight / all) as u64));
    }
    rates.iter().zip(0..).map(|(rates, number)| rank(number, rates)).collect()
}

#[test]
fn ranks_that_take_what_others_leave_share_the_limit_of_a_missed_rate() {
    let mut random = Random::new(3, 0);
    let run = paced(compensating(8, &mut random), 1_600);
    let found = find(&run, Code::SharedLimit).unwrap();
    assert_eq!((found.severity, found.value(Quantity::RanksEnough)), (Severity::Warning, Some(5.0)));
    assert_eq!(found.value(Quantity::RateAsked), Some(1_600.0));
    assert!(found.value(Quantity::VarianceRatio).is_some_and(|ratio| ratio < 0.05), "{found:?}");
    assert_eq!(found.value(Quantity::HostsSharing), Some(4.0));
    // On each host, two ranks share its own limit.
    let of_hosts = (0..4).flat_map(|_| compensating(2, &mut random)).zip(0..);
    let renamed =
        of_hosts.map(|(member, number)| RankRecord { rank: number, hostname: format!("node{}", number / 2), ..member });
    let found = find(&paced(renamed.collect(), 8_000), Code::SharedLimit).unwrap();
    assert_eq!((found.value(Quantity::Hosts), found.value(Quantity::HostsSharing)), (Some(4.0), Some(1.0)));
    let others: Vec<Code> = analyse(&run)[0].findings().map(|finding| finding.code).collect();
    assert!(!others.contains(&Code::QueueTooShallow) && !others.contains(&Code::RateNotReached), "{others:?}");
    assert!(!others.contains(&Code::RanksMissedRate), "{others:?}");
    assert_eq!(find(&paced(compensating(8, &mut random), 1_000), Code::SharedLimit), None, "the rate was reached");
}

#[test]
fn a_rate_that_all_ranks_miss_is_counted_in_ranks_and_proves_nothing() {
    let run = paced(equal(64, 640), 64_000);
    let found = find(&run, Code::RanksMissedRate).unwrap();
    assert_eq!((found.severity, found.remedy), (Severity::Advice, Some(Remedy::CompareRanks { ranks: 32 })));
    assert_eq!((found.value(Quantity::Ranks), found.value(Quantity::RanksEnough)), (Some(64.0), Some(41.0)));
    assert_eq!(
        (found.value(Quantity::RateAsked), found.value(Quantity::RateReached)),
        (Some(64_000.0), Some(40_960.0))
    );
    // Ranks vary independently of each other.
    for seed in 0..50 {
        let mut random = Random::new(seed, 1);
        let members = (0..8).map(|number| rank(number, &noisy(&mut random, 640.0, 0.2, 30))).collect();
        assert_eq!(codes(&paced(members, 8_000)), [Code::RanksMissedRate], "seed {seed}");
    }
    assert_eq!(codes(&paced(equal(64, 1_000), 64_000)), []);
    assert_eq!(codes(&paced(equal(64, 0), 64_000)), [], "nothing was measured");
    assert_eq!(codes(&paced(equal(64, 640), 0)), []);
    assert_eq!(codes(&paced(equal(1, 640), 1_000)), []);
    // Half of the ranks miss it: they have another limit than the others.
    let half = (0..8).map(|number| rank(number, &[if number < 4 { 1_000 } else { 800 }; 30])).collect();
    assert_eq!(codes(&paced(half, 8_000)), []);
    // A host at its processors explains it.
    let mut busy = paced(equal(4, 640), 4_000);
    members(&mut busy).iter_mut().for_each(|member| member.cpu_share = 1.9);
    assert_eq!(codes(&busy), [Code::HostCpuBound]);
}

#[test]
fn odd_numbers_neither_panic_nor_prove_anything() {
    let huge = |number: u32| RankRecord {
        ios: [u64::MAX; 3],
        bytes: [u64::MAX; 3],
        iops: f64::MAX,
        bytes_per_second: f64::MAX,
        cpu_share: f64::MAX,
        workers: u32::MAX / 8,
        errors: u64::MAX,
        memory_bytes: u64::MAX,
        start_delay_ns: Some(u64::MAX),
        link_bytes_per_second: Some(u64::MAX),
        series: SeriesRecord {
            width_ns: u64::MAX,
            pace_ns: u64::MAX,
            intervals: vec![IntervalRecord { ios: [u64::MAX; 3], ..IntervalRecord::default() }; 4],
        },
        ..rank(number, &[1])
    };
    let zero = |number| RankRecord { rank: number, ..RankRecord::default() };
    let odd: [Vec<RankRecord>; 5] = [
        (0..4).map(huge).collect(),
        (0..4).map(zero).collect(),
        vec![huge(0), zero(1), rank(2, &[5, 5]), rank(3, &[])],
        (0..4).map(|number| RankRecord { iops: f64::NAN, ..rank(number, &[1]) }).collect(),
        Vec::new(),
    ];
    for members in odd {
        let mut run = queue_full(32, 1_000_000);
        run.fleet = Some(FleetRecord { ranks: 4, members, ..FleetRecord::default() });
        run.jobs[0].declared.rate_iops.read = Some(u64::MAX / 2);
        assert!(!codes(&run).contains(&Code::SharedLimit));
        run.jobs.clear();
        assert_eq!(analyse(&run), []);
    }
}

#[test]
fn processors_of_one_host_are_not_compared_with_the_workers_of_all() {
    let mut run = self::run(equal(16, 1_000));
    // 32 workers at 0.3 of a processor on 8 hosts of 8 processors: rank 0's host alone would be used to 120 %.
    run.jobs[0].result.cpu.user_ns = (0.3 * run.jobs[0].result.runtime_ns as f64) as u64;
    assert_eq!(find(&run, Code::GeneratorCpuBound), None);
    members(&mut run).iter_mut().for_each(|member| member.cpu_share = 1.9);
    assert_eq!(find(&run, Code::HostCpuBound).unwrap().value(Quantity::HostsAtLimit), Some(8.0));
    assert_eq!(find(&run, Code::GeneratorCpuBound), None, "the hosts are the reason");
    // More workers are those of each rank, if all hosts have processors for them.
    members(&mut run).iter_mut().for_each(|member| member.cpu_share = 0.95);
    run.jobs[0].result.cpu.user_ns = (0.95 * run.jobs[0].result.runtime_ns as f64) as u64;
    assert_eq!(find(&run, Code::GeneratorCpuBound).unwrap().remedy, Some(Remedy::AddWorkers { numjobs: 4 }));
    assert_eq!(find(&run, Code::GeneratorCpuBound).unwrap().value(Quantity::Cpus), Some(64.0));
    members(&mut run).iter_mut().for_each(|member| member.cpus = 6);
    assert_eq!(find(&run, Code::GeneratorCpuBound).unwrap().remedy, None);
}

#[test]
fn ranks_that_end_are_no_change_of_the_storage() {
    let members = (0..8).map(|number| rank(number, &vec![1_000; if number < 4 { 20 } else { 60 }]));
    let run = self::run(members.collect());
    let codes: Vec<Code> = analyse(&run)[0].findings().map(|finding| finding.code).collect();
    for code in [Code::BurstOrDrift, Code::BurstUsedUp, Code::NotSteady, Code::WarmupCounted, Code::SharedLimit] {
        assert!(!codes.contains(&code), "{code:?} in {codes:?}");
    }
    let mut alone = run;
    alone.fleet = None;
    assert!(analyse(&alone)[0].findings().any(|finding| finding.code == Code::BurstUsedUp), "it is seen otherwise");
}

#[test]
fn a_slow_rank_is_no_throttling_and_ranks_have_nonces_of_their_own() {
    let mut run = self::run(equal(4, 1_000));
    let service = &mut run.jobs[0].result.read.service;
    service.buckets.push((loads::meter_bucket(50_000_000), 30_000));
    service.count += 30_000;
    assert!(find(&run, Code::Throttled).is_some());
    members(&mut run)[2].latency_ns = Some([50_000_000, 60_000_000, 70_000_000]);
    assert_eq!(find(&run, Code::Throttled), None);
    run.jobs[0].verified = Some(Verified { checked: 100, nonces: vec![1, 2, 3, 4], ..Verified::default() });
    assert_eq!(find(&run, Code::SeveralRuns), None);
    run.jobs[0].verified.as_mut().unwrap().nonces.push(5);
    assert_eq!(find(&run, Code::SeveralRuns).unwrap().value(Quantity::RunsFound), Some(5.0));
}

#[test]
fn counters_of_some_hosts_do_not_decide_about_the_bytes_of_all() {
    let mut run = self::run(equal(4, 1_000));
    run.jobs[0].declared.direct = false;
    let disk =
        |host: &str| DiskUse { name: format!("{host}:sda"), read_ios: 10, read_sectors: 80, ..DiskUse::default() };
    run.disks = vec![disk("node0"), disk("node1")];
    assert!(find(&run, Code::PageCacheMeasured).is_some());
    run.disks.pop();
    assert_eq!(find(&run, Code::PageCacheMeasured), None, "the latency is that of a device");
}

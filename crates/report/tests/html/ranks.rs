//! The section of the ranks of a run on many hosts.

use record::{
    ClockRecord, FleetRecord, IntervalRecord, LostRank, MergeRecord, RankFailure, RankRecord, Run, SeriesRecord,
};
use units::random::Random;

use crate::html::documents::{job, page_of, run};
use crate::html::wellformed;

/// A rank that reads for two minutes, with rates that vary by 15 %. All pause for three seconds; rank 5 is slow, rank 6
/// starts late, rank 7 ends early.
fn rank(number: u32, per_host: u32) -> RankRecord {
    let mut random = Random::new(11, u64::from(number));
    let seconds: u64 = if number == 7 { 70 } else { 120 };
    let ios = |second: u64, random: &mut Random| match (second, number) {
        (60..63, _) => 0,
        (_, 5) => 300 + random.below(100),
        _ => 850 + random.below(300),
    };
    let interval = |second| {
        let ios = ios(second, &mut random);
        IntervalRecord { ios: [ios, 0, 0], bytes: [ios * 4096, 0, 0], ..IntervalRecord::default() }
    };
    let intervals: Vec<IntervalRecord> = (0..seconds).map(interval).collect();
    let all: u64 = intervals.iter().map(|interval| interval.ios[0]).sum();
    let iops = all as f64 / seconds as f64;
    RankRecord {
        rank: number,
        hostname: format!("node-{:04}", number / per_host),
        cpus: 16,
        clock: Some(ClockRecord { offset_ns: -1_200_000, error_ns: 9_000, ..ClockRecord::default() }),
        start_delay_ns: Some(if number == 6 { 9_000_000_000 } else { 40_000 + u64::from(number) }),
        ios: [all, 0, 0],
        bytes: [all * 4096, 0, 0],
        iops,
        bytes_per_second: iops * 4096.0,
        latency_ns: Some([800_000, 3_400_000, 9_000_000]),
        workers: 1,
        cpu_share: 0.12,
        series: SeriesRecord { width_ns: 1_000_000_000, pace_ns: 0, intervals },
        ..RankRecord::default()
    }
}

pub(crate) fn fleet_run(ranks: u32, per_host: u32) -> Run {
    let members: Vec<RankRecord> = (0..ranks).map(|number| rank(number, per_host)).collect();
    let mut run = run(vec![job("reads", 120)]);
    run.fleet = Some(FleetRecord {
        id: "f".to_owned(),
        ranks: ranks + 1,
        members,
        lost: vec![LostRank { rank: ranks, reason: "no heartbeat for 10.2 s".to_owned() }],
        merge: Some(MergeRecord { wall_ns: 12_000_000, received_bytes: 50_000, ..MergeRecord::default() }),
    });
    run
}

#[test]
fn ranks_have_a_table_and_a_heat_map() {
    let mut run = fleet_run(8, 2);
    let failed = &mut run.fleet.as_mut().unwrap().members[5];
    (failed.errors, failed.failure) = (1_234, Some(RankFailure::Environment));
    failed.failures = vec!["read of /mnt/a failed: I/O error; look at the log".to_owned()];
    let page = page_of(&[("a", &run)]);
    wellformed::check(&page).unwrap_or_else(|error| panic!("{error}"));
    let at = page.find("id=\"ranks-0\"").expect("the page has a section of the ranks");
    let section = &page[at..];
    for text in [
        "8 of 9 ranks on 4 hosts, started within 9.00 s (clocks within 9.00 µs); merged in 12.0 ms",
        "rank 8: no heartbeat for 10.2 s",
        "rank 5 on node-0002: read of /mnt/a failed: I/O error; look at the log",
        "<td>environment, 1,234 errors</td>",
        "<td>-1.20 ms</td>",
        "no operation for 3 s",
        "class=\"l stop\" stroke-width=\"13.5\"",
        "<title>5 node-0002",
    ] {
        assert!(section.contains(text), "{text} is missing");
    }
    let order: Vec<usize> =
        (0..8).map(|number| section.find(&format!("<th scope=\"row\">{number}</th>")).unwrap()).collect();
    assert!(order.is_sorted(), "ranks are in order");
}

#[test]
fn pages_of_many_ranks_stay_small() {
    for (ranks, per_host, most) in [(8, 2, 130_000), (64, 4, 170_000), (1_000, 8, 450_000), (1_000, 1, 450_000)] {
        let page = page_of(&[("a", &fleet_run(ranks, per_host))]);
        wellformed::check(&page).unwrap_or_else(|error| panic!("{error}"));
        assert!(page.len() < most, "{ranks} ranks: {} bytes", page.len());
    }
}

#[test]
fn runs_of_one_process_have_no_section_of_ranks() {
    let mut alone = fleet_run(1, 1);
    alone.fleet.as_mut().unwrap().ranks = 1;
    for run in [run(vec![job("reads", 20)]), alone] {
        assert!(!page_of(&[("a", &run)]).contains("id=\"ranks-"));
    }
    let page = page_of(&[("first", &fleet_run(4, 1)), ("<b>", &fleet_run(4, 1))]);
    wellformed::check(&page).unwrap_or_else(|error| panic!("{error}"));
    assert!(page.contains("Ranks of first") && page.contains("Ranks of &lt;b&gt;"));
}

#[test]
fn names_of_hosts_and_failures_are_escaped() {
    let mut run = fleet_run(6, 1);
    let name = "</title><script>\u{202e}";
    for member in &mut run.fleet.as_mut().unwrap().members {
        member.hostname = name.to_owned();
        member.failures = vec![name.to_owned()];
    }
    run.fleet.as_mut().unwrap().lost[0].reason = name.to_owned();
    let seen = wellformed::check(&page_of(&[("a", &run)])).unwrap_or_else(|error| panic!("{error}"));
    assert!(!seen.iter().any(|element| element == "script"));
}

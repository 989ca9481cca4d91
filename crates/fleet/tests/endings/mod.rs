//! Early ends that reach all ranks: by signals and by `exitall`.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fleet::{ExchangeOptions, Fleet, SystemClock};
use job::Plan;
use record::Run;

use crate::SILENCE;
use crate::memory::{Network, WhenAllRun, as_ranks, ignored, joined_with, no_signal, plan, run, run_observed, runner};

/// Silence where no rank dies, so that one that is only slow does not count as lost.
const PATIENT_SILENCE: Duration = Duration::from_secs(3);

fn joined(network: &Arc<Network>, rank: u32, silence: Duration) -> Fleet {
    let clock = Arc::new(SystemClock);
    joined_with(network, rank, ExchangeOptions { silence, clock, ended: no_signal, end: ignored })
}

#[test]
fn a_signal_in_one_rank_ends_all() {
    static SENT: AtomicI32 = AtomicI32::new(0);
    static ENDED: AtomicUsize = AtomicUsize::new(0);
    fn sent() -> Option<i32> {
        Some(SENT.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
    }
    fn end(signal: i32) {
        assert_eq!(signal, 2);
        ENDED.fetch_add(1, Ordering::Relaxed);
    }
    let network = Network::new(9);
    as_ranks(9, |rank| {
        let ended = if rank == 6 { sent } else { no_signal };
        let options = ExchangeOptions { silence: PATIENT_SILENCE, clock: Arc::new(SystemClock), ended, end };
        let fleet = joined_with(&network, rank, options);
        if rank == 6 {
            SENT.store(2, Ordering::Relaxed);
        }
        let until = Instant::now() + Duration::from_secs(10);
        while ENDED.load(Ordering::Relaxed) < 8 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        fleet.leave(0, "");
    });
    assert_eq!(ENDED.load(Ordering::Relaxed), 8, "each of the others once");
}

/// Runs the job of each rank, and returns the merged record and the time that it took. Some ranks die once all have begun.
fn run_all(ranks: u32, dead: &[u32], jobs: impl Fn(u32) -> Plan + Sync) -> (Run, Duration) {
    let (network, running) = (Network::new(ranks), AtomicU32::new(0));
    let silence = if dead.is_empty() { PATIENT_SILENCE } else { SILENCE };
    let results = as_ranks(ranks, |rank| {
        let fleet = joined(&network, rank, silence);
        let (runner, _) = runner(&fleet);
        let mut observer = WhenAllRun::new(&running, ranks, || dead.iter().for_each(|rank| network.kill(*rank)));
        let started = Instant::now();
        let result = run_observed(&runner, &jobs(rank), &mut observer);
        let took = started.elapsed();
        fleet.leave(0, "");
        (rank, result, took)
    });
    let living = results.into_iter().filter(|(rank, ..)| !dead.contains(rank));
    let living: Vec<(Run, Duration)> = living.map(|(_, result, took)| (result.unwrap().run, took)).collect();
    let longest = living.iter().map(|(_, took)| *took).max().unwrap();
    (living.into_iter().next().unwrap().0, longest)
}

/// The seconds that each job of each rank ran.
fn seconds(run: &Run) -> Vec<(String, f64)> {
    let members = run.fleet.iter().flat_map(|fleet| &fleet.members);
    let jobs = members.flat_map(|member| &member.jobs);
    jobs.map(|job| (job.name.clone(), job.result.wall_ns() / 1e9)).collect()
}

const LOAD: [&str; 4] = ["--ioengine=null", "--size=1m", "--rate_iops=1000", "--time_based"];

#[test]
fn a_job_with_exitall_ends_all_jobs_of_its_stage_on_all_ranks() {
    // Rank 5 is a leaf, whose message passes rank 4 and rank 0. Only there the first job is short.
    let (run, took) = run_all(9, &[], |rank| {
        let short = if rank == 5 { "--runtime=300ms" } else { "--runtime=30s" };
        let exitall = if rank == 5 { "--exitall=1" } else { "--exitall=0" };
        let jobs = ["--name=a", short, exitall, "--name=b", "--runtime=30s"];
        plan(&[&LOAD[..], &jobs, &["--name=last", "--stonewall", "--runtime=200ms"]].concat())
    });
    assert!(took < Duration::from_secs(10), "{took:?}");
    let seconds = seconds(&run);
    assert_eq!(seconds.len(), 9 * 3);
    for (name, seconds) in seconds {
        // Without `exitall` it would be 30 s.
        assert!((0.1..10.0).contains(&seconds), "{name} ran for {seconds} s");
    }
}

#[test]
fn a_stage_ends_on_both_sides_of_a_lost_rank() {
    // Rank 4 lies between rank 0 and the ranks 5 to 7.
    for ending in [1, 5] {
        let (run, _) = run_all(8, &[4], |rank| {
            let runtime = match rank {
                4 => "--runtime=3s",
                rank if rank == ending => "--runtime=2s",
                _ => "--runtime=30s",
            };
            let exitall = if rank == ending { "--exitall=1" } else { "--exitall=0" };
            plan(&[&LOAD[..], &["--name=a", runtime, exitall]].concat())
        });
        let seconds = seconds(&run);
        assert_eq!(seconds.len(), 7);
        assert!(seconds.iter().all(|(_, seconds)| *seconds < 10.0), "rank {ending} ended it: {seconds:?}");
    }
}

#[test]
fn without_exitall_the_others_continue() {
    let (run, _) = run_all(3, &[], |rank| {
        let runtime = if rank == 1 { "--runtime=100ms" } else { "--runtime=1s" };
        plan(&[&LOAD[..], &["--name=a", runtime]].concat())
    });
    let longest = seconds(&run).into_iter().map(|(_, seconds)| seconds).fold(0.0, f64::max);
    assert!(longest > 0.9, "{longest}");
}

#[test]
fn a_stage_that_was_ended_does_not_end_the_same_one_of_the_next_run() {
    let network = Network::new(3);
    let jobs = |runtime: &str, exitall: &str| plan(&[&LOAD[..], &["--name=a", runtime, exitall]].concat());
    let seconds = as_ranks(3, |rank| {
        let fleet = joined(&network, rank, PATIENT_SILENCE);
        let (runner, _) = runner(&fleet);
        let first = if rank == 2 { "--runtime=100ms" } else { "--runtime=30s" };
        run(&runner, &jobs(first, "--exitall=1")).unwrap();
        let second = run(&runner, &jobs("--runtime=800ms", "--exitall=0")).unwrap().run;
        fleet.leave(0, "");
        seconds(&second)
    });
    assert!(seconds[0].iter().all(|(_, seconds)| *seconds > 0.7), "{seconds:?}");
}

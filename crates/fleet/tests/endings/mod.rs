//! Early ends that reach all ranks: by signals and by `exitall`.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use fleet::{ExchangeOptions, SystemClock};
use job::Plan;
use record::Run;

use crate::memory::{
    Network, PATIENT_SILENCE, WhenAllRun, as_ranks, await_that, joined, joined_with, no_signal, plan, run,
    run_observed, runner, with_growing_silence,
};

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
        await_that(|| ENDED.load(Ordering::Relaxed) >= 8);
        fleet.leave(0, "");
    });
    assert_eq!(ENDED.load(Ordering::Relaxed), 8, "each of the others once");
}

/// Runs the job of each rank, and returns the merged record. Some ranks die once all have begun.
fn run_all(ranks: u32, dead: &[u32], silence: Duration, jobs: impl Fn(u32) -> Plan + Sync) -> Run {
    let (network, running) = (Network::new(ranks), AtomicU32::new(0));
    let results = as_ranks(ranks, |rank| {
        let fleet = joined(&network, rank, silence);
        let (runner, _) = runner(&fleet);
        let mut observer = WhenAllRun::new(&running, ranks, || dead.iter().for_each(|rank| network.kill(*rank)));
        let result = run_observed(&runner, &jobs(rank), &mut observer);
        fleet.leave(0, "");
        (rank, result)
    });
    let living = results.into_iter().filter(|(rank, _)| !dead.contains(rank));
    let living: Vec<Run> = living.map(|(_, result)| result.unwrap().run).collect();
    living.into_iter().next().unwrap()
}

/// The seconds that each job of each rank ran.
fn seconds(run: &Run) -> Vec<(u32, String, f64)> {
    let members = run.fleet.iter().flat_map(|fleet| &fleet.members);
    let jobs = members.flat_map(|member| member.jobs.iter().map(|job| (member.rank, job)));
    jobs.map(|(rank, job)| (rank, job.name.clone(), job.result.elapsed_ns() as f64 / 1e9)).collect()
}

const LOAD: [&str; 4] = ["--ioengine=null", "--size=1m", "--rate_iops=1000", "--time_based"];

/// Runtime of jobs that another one ends.
const LONG: &str = "--runtime=180s";

/// Half of it, in seconds: a job that ran for less was ended.
const ENDED_S: f64 = 90.0;

#[test]
fn a_job_with_exitall_ends_all_jobs_of_its_stage_on_all_ranks() {
    // Rank 5 is a leaf, whose message passes rank 4 and rank 0. Only there the first job is short.
    let run = run_all(9, &[], PATIENT_SILENCE, |rank| {
        let short = if rank == 5 { "--runtime=300ms" } else { LONG };
        let exitall = if rank == 5 { "--exitall=1" } else { "--exitall=0" };
        let jobs = ["--name=a", short, exitall, "--name=b", LONG];
        plan(&[&LOAD[..], &jobs, &["--name=last", "--stonewall", "--runtime=200ms"]].concat())
    });
    let seconds = seconds(&run);
    assert_eq!(seconds.len(), 9 * 3);
    for (rank, name, seconds) in seconds {
        // Jobs with a runtime of their own have all of it. The others may begin late on a busy host.
        let least = if name == "last" || rank == 5 && name == "a" { 0.1 } else { 0.0 };
        assert!((least..ENDED_S).contains(&seconds), "{name} of rank {rank} ran for {seconds} s");
    }
}

#[test]
fn a_stage_ends_on_both_sides_of_a_lost_rank() {
    // Rank 4 lies between rank 0 and the ranks 5 to 7.
    for ending in [1, 5] {
        with_growing_silence(|silence| ends_on_both_sides(ending, silence));
    }
}

fn ends_on_both_sides(ending: u32, silence: Duration) {
    let of_silences = |count: u64| format!("--runtime={}s", count * silence.as_secs());
    let run = run_all(8, &[4], silence, |rank| {
        let runtime = match rank {
            4 => of_silences(3),
            rank if rank == ending => of_silences(2),
            _ => LONG.to_owned(),
        };
        let exitall = if rank == ending { "--exitall=1" } else { "--exitall=0" };
        plan(&[&LOAD[..], &["--name=a", &runtime, exitall]].concat())
    });
    let seconds = seconds(&run);
    assert_eq!(seconds.len(), 7);
    assert!(seconds.iter().all(|(_, _, seconds)| *seconds < ENDED_S), "rank {ending} ended it: {seconds:?}");
}

#[test]
fn without_exitall_the_others_continue() {
    let run = run_all(3, &[], PATIENT_SILENCE, |rank| {
        let runtime = if rank == 1 { "--runtime=100ms" } else { "--runtime=1s" };
        plan(&[&LOAD[..], &["--name=a", runtime]].concat())
    });
    let longest = seconds(&run).into_iter().map(|(_, _, seconds)| seconds).fold(0.0, f64::max);
    assert!(longest > 0.9, "{longest}");
}

#[test]
fn a_stage_that_was_ended_does_not_end_the_same_one_of_the_next_run() {
    let network = Network::new(3);
    let jobs = |runtime: &str, exitall: &str| plan(&[&LOAD[..], &["--name=a", runtime, exitall]].concat());
    let seconds = as_ranks(3, |rank| {
        let fleet = joined(&network, rank, PATIENT_SILENCE);
        let (runner, _) = runner(&fleet);
        let first = if rank == 2 { "--runtime=100ms" } else { LONG };
        run(&runner, &jobs(first, "--exitall=1")).unwrap();
        let second = run(&runner, &jobs("--runtime=800ms", "--exitall=0")).unwrap().run;
        fleet.leave(0, "");
        seconds(&second)
    });
    assert!(seconds[0].iter().all(|(_, _, seconds)| *seconds > 0.7), "{seconds:?}");
}

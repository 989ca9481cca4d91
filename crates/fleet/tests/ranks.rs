//! Ranks that run together, lose each other and leave.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use fleet::{ExchangeOptions, SystemClock};
use job::SplitKind;
use record::{DataKind, Run};
use runner::Runner;

use crate::cases::cases;
use crate::memory::{
    Network, PATIENT_SILENCE, SILENCES, WhenAllRun, WrongClock, as_ranks, await_that, ignored, join_with, joined,
    joined_with_clock, no_signal, plan, run, run_observed, runner, with_growing_silence,
};

/// A job with a random load that differs from rank to rank.
fn load(runtime: &str) -> job::Plan {
    load_at(3_000, runtime)
}

fn load_at(iops: u32, runtime: &str) -> job::Plan {
    let (rate, runtime) = (format!("--rate_iops={iops}"), format!("--runtime={runtime}"));
    plan(&["--name=a", "--ioengine=null", "--rw=randrw", "--size=64m", &rate, "--time_based", &runtime])
}

#[test]
fn the_merged_record_is_the_sum_of_the_ranks_own_records() {
    for ranks in [1, 2, 3, 8] {
        let network = Network::new(ranks);
        let results = as_ranks(ranks, |rank| {
            let fleet = joined(&network, rank, PATIENT_SILENCE);
            let (runner, saved) = runner(&fleet);
            let completed = run(&runner, &load("300ms")).unwrap();
            assert_eq!(completed.elsewhere, []);
            fleet.leave(0, "");
            let own = saved.lock().unwrap().remove(0);
            (completed.run, own)
        });
        let merged = &results[0].0;
        assert!(results.iter().all(|(run, _)| run == merged), "all ranks have the same record");
        let fleet = merged.fleet.as_ref().unwrap();
        assert_eq!((fleet.ranks, fleet.members.len() as u32, fleet.missing()), (ranks, ranks, vec![]));
        assert!(fleet.members.iter().all(|member| member.link_bytes_per_second == Some(1_250_000_000)));
        for kind in DataKind::ALL {
            let of = |run: &Run| run.jobs[0].result.kind(kind).clone();
            assert_eq!(of(merged).ios, results.iter().map(|(_, own)| of(own).ios).sum::<u64>());
            let mut concatenated = meter::Latency::default();
            results.iter().for_each(|(_, own)| concatenated.merge(&(&of(own).response).into()));
            let concatenated = record::LatencyStats::from(&concatenated);
            assert_eq!(of(merged).response.buckets, concatenated.buckets);
            for percent in [50.0, 99.0, 99.9] {
                assert_eq!(of(merged).response.percentile_ns(percent), concatenated.percentile_ns(percent));
            }
        }
        let seeds: std::collections::BTreeSet<_> = results.iter().map(|(_, own)| own.seed).collect();
        assert_eq!(seeds.len() as u32, ranks, "each rank has random numbers of its own");
    }
}

#[test]
fn clocks_are_estimated_within_their_stated_errors() {
    let wrong = |rank: u32| WrongClock {
        monotonic_ns: i64::from(rank) * 7_000_000_123 - 11_000_000_000,
        wall_ns: i64::from(rank) * -3_600_000_000_000,
    };
    // Ranks that a busy host keeps waiting for a second are not measured.
    let (fleet, took) = (0..5).find_map(|_| measured_clocks(8, wrong)).expect("the clocks of all ranks");
    for member in &fleet.members {
        let clock = member.clock.unwrap();
        let (monotonic_ns, wall_ns) = (wrong(member.rank), wrong(0));
        let offset_ns = monotonic_ns.monotonic_ns - wall_ns.monotonic_ns;
        assert!(clock.offset_ns.abs_diff(offset_ns) <= clock.error_ns, "rank {}: {clock:?}", member.rank);
        let wall_offset_ns = wrong(member.rank).wall_ns - wrong(0).wall_ns;
        // The two clocks are read one after the other, and a busy host may stop the rank in between.
        let read_apart_ns = took.as_nanos() as u64;
        assert!(clock.wall_offset_ns.abs_diff(wall_offset_ns) <= clock.error_ns + read_apart_ns, "{clock:?}");
        // With a wrong offset it would be the seconds by which the clocks differ.
        assert!(member.start_delay_ns.is_some_and(|delay| delay <= took.as_nanos() as u64), "{member:?} in {took:?}");
    }
}

/// Runs a load on ranks with wrong clocks. Returns the merged record's table and the time that all took; `None` if the
/// clock of a rank was not measured.
fn measured_clocks(ranks: u32, wrong: impl Fn(u32) -> WrongClock + Sync) -> Option<(record::FleetRecord, Duration)> {
    let (network, began) = (Network::new(ranks), Instant::now());
    let results = as_ranks(ranks, |rank| {
        let fleet = joined_with_clock(&network, rank, PATIENT_SILENCE, wrong(rank));
        let (runner, _) = runner(&fleet);
        let run = run(&runner, &load("50ms")).unwrap().run;
        fleet.leave(0, "");
        run
    });
    let fleet = results.into_iter().next()?.fleet?;
    fleet.members.iter().all(|member| member.clock.is_some()).then(|| (fleet, began.elapsed()))
}

/// Returns a load that runs for twice the silence, so that ranks die while it runs.
fn long_load(silence: Duration) -> job::Plan {
    load_at(300, &format!("{}s", 2 * silence.as_secs()))
}

/// Runs a load of which ranks die once all have begun, and returns the results of the others.
fn results_without(
    ranks: u32,
    dead: &[u32],
    silence: Duration,
) -> Vec<(u32, Result<runner::CompletedRun, units::Problem>)> {
    let (network, running) = (Network::new(ranks), AtomicU32::new(0));
    let results = as_ranks(ranks, |rank| {
        let fleet = joined(&network, rank, silence);
        let (runner, _) = runner(&fleet);
        let mut observer = WhenAllRun::new(&running, ranks, || dead.iter().for_each(|rank| network.kill(*rank)));
        let result = run_observed(&runner, &long_load(silence), &mut observer);
        fleet.leave(0, "");
        (rank, result)
    });
    results.into_iter().filter(|(rank, _)| !dead.contains(rank)).collect()
}

#[test]
fn the_results_of_all_others_survive_a_lost_rank() {
    // A leaf, an inner rank with three children below it, and both.
    for dead in [&[7][..], &[4], &[4, 6], &[1, 2, 3]] {
        with_growing_silence(|silence| results_survive_without(dead, silence));
    }
}

fn results_survive_without(dead: &[u32], silence: Duration) {
    for (rank, result) in results_without(8, dead, silence) {
        let completed = result.unwrap_or_else(|error| panic!("rank {rank} without {dead:?}: {error}"));
        let fleet = completed.run.fleet.unwrap();
        let members: Vec<u32> = fleet.members.iter().map(|member| member.rank).collect();
        assert_eq!(members, (0..8).filter(|rank| !dead.contains(rank)).collect::<Vec<_>>());
        assert_eq!(fleet.missing().iter().flat_map(|lost| lost.ranks.clone()).collect::<Vec<_>>(), dead);
        let lines: Vec<String> =
            completed.elsewhere.iter().flat_map(|one| one.problems.iter().map(ToString::to_string)).collect();
        for lost in dead {
            let named = format!("rank {lost} on node{lost} is lost: ");
            assert!(lines.iter().any(|line| line.starts_with(&named)), "{lines:?}");
        }
        let own: u64 = fleet.members.iter().map(record::RankRecord::ios).sum();
        assert_eq!(completed.run.jobs[0].result.ios(), own);
    }
}

#[test]
fn every_rank_gets_the_same_answer_or_an_error_whichever_ranks_die() {
    std::thread::scope(|scope| {
        for seed in 0..cases(5).min(24) {
            // A busy host may keep living ranks silent for the shorter times. The answers are consistent all the same.
            scope.spawn(move || {
                let is_complete = |silence| errors_after_deaths(seed, silence).is_empty();
                assert!(SILENCES.into_iter().any(is_complete), "seed {seed}: a rank that lives has no last answer");
            });
        }
    });
}

/// Runs after one another: ranks die during the first ones.
const ROUNDS: usize = 3;

/// Checks that ranks have the same answers or none. Returns why ranks that live have no last one, and nothing if rank 0
/// dies.
fn errors_after_deaths(seed: u64, silence: Duration) -> Vec<String> {
    let mut state = seed;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let ranks = 2 + random(10) as u32;
    let deaths: Vec<(u32, u64)> = (0..1 + random(3)).map(|_| (random(ranks.into()) as u32, random(150))).collect();
    let (network, all_died) = (Network::new(ranks), Arc::new(AtomicBool::new(false)));
    let all_joined = Barrier::new(ranks as usize);
    let answers: Vec<Result<Vec<Result<Run, String>>, String>> = as_ranks(ranks, |rank| {
        let clock = Arc::new(SystemClock);
        let fleet = join_with(&network, rank, ExchangeOptions { silence, clock, ended: no_signal, end: ignored });
        all_joined.wait();
        let fleet = fleet.map_err(|problem| problem.to_string())?;
        if rank == 0 {
            let (network, deaths, all_died) = (Arc::clone(&network), deaths.clone(), Arc::clone(&all_died));
            std::thread::spawn(move || {
                for (dead, after_ms) in deaths {
                    std::thread::sleep(Duration::from_millis(after_ms));
                    network.kill(dead);
                }
                all_died.store(true, Ordering::Relaxed);
            });
        }
        let (runner, _) = runner(&fleet);
        let answer = |round: usize| {
            // No rank dies during the last one, however slow or fast the others were.
            if round == ROUNDS - 1 {
                await_that(|| all_died.load(Ordering::Relaxed));
            }
            run(&runner, &load("30ms")).map(|one| one.run).map_err(|error| error.to_string())
        };
        let answers = (0..ROUNDS).map(answer).collect();
        fleet.leave(0, "");
        Ok(answers)
    });
    let answers = match answers.into_iter().collect::<Result<Vec<_>, String>>() {
        Ok(answers) => answers,
        Err(error) => return vec![error],
    };
    // A rank that died may have an answer of its own: it is alone, and cannot know whether it is the others that died.
    let is_living = |rank: &u32| deaths.iter().all(|(dead, _)| dead != rank);
    let living: Vec<&Vec<Result<Run, String>>> =
        (0..ranks).filter(is_living).map(|rank| &answers[rank as usize]).collect();
    for round in 0..ROUNDS {
        let given: Vec<&Run> = living.iter().filter_map(|answers| answers[round].as_ref().ok()).collect();
        assert!(given.windows(2).all(|pair| pair[0] == pair[1]), "seed {seed}: {ranks} ranks, deaths {deaths:?}");
    }
    let errors: Vec<String> = living.iter().filter_map(|answers| answers[ROUNDS - 1].clone().err()).collect();
    println!("seed {seed}: {ranks} ranks, deaths {deaths:?}, {errors:?}");
    // A rank that is lost before a start is an error of that run.
    if deaths.iter().all(|(dead, _)| *dead != 0) { errors } else { Vec::new() }
}

#[test]
fn without_rank_0_the_others_end_with_an_error() {
    with_growing_silence(|silence| {
        for (rank, result) in results_without(6, &[0], silence) {
            let error = result.map(|_| ()).unwrap_err().to_string();
            assert!(error.starts_with("rank 0 is lost"), "rank {rank}: {error}");
        }
    });
}

#[test]
fn a_rank_that_was_stopped_for_too_long_is_told_so() {
    with_growing_silence(a_stopped_rank_is_told);
}

fn a_stopped_rank_is_told(silence: Duration) {
    let (network, running, completed) = (Network::new(4), AtomicU32::new(0), AtomicU32::new(0));
    let results = as_ranks(4, |rank| {
        let fleet = joined(&network, rank, silence);
        let (runner, _) = runner(&fleet);
        let mut observer = WhenAllRun::new(&running, 4, || network.kill(3));
        let result = run_observed(&runner, &long_load(silence), &mut observer);
        // It goes on when the others have gone on without it.
        if rank != 3 && completed.fetch_add(1, Ordering::Relaxed) == 2 {
            network.revive(3);
        }
        // The next agreement of the others answers the late part.
        let _ = runner.prepare(&load("1ms"), runner::Seeds::fixed(1)).map(|_| ());
        fleet.leave(0, "");
        result.map(|completed| completed.run.fleet.unwrap().missing()).map_err(|error| error.to_string())
    });
    for result in &results[..3] {
        let missing = result.as_ref().unwrap();
        assert_eq!(missing.iter().flat_map(|lost| lost.ranks.clone()).collect::<Vec<_>>(), [3]);
    }
    let error = results[3].as_ref().unwrap_err();
    assert!(error.contains("went on without this one") || error.contains("rank 0 is lost"), "{error}");
}

#[test]
fn a_rank_that_cannot_begin_is_named_and_nothing_runs() {
    let network = Network::new(4);
    let runs = AtomicUsize::new(0);
    let results = as_ranks(4, |rank| {
        let fleet = joined(&network, rank, PATIENT_SILENCE);
        let (runner, saved) = runner(&fleet);
        // A path that cannot be created, on one host only.
        let jobs = match rank {
            2 => plan(&["--name=a", "--filename=/proc/none/x", "--rw=write", "--size=1m", "--ioengine=psync"]),
            _ => load("100ms"),
        };
        let prepared = runner.prepare(&jobs, runner::Seeds::fixed(1)).unwrap();
        let refusals = prepared.refusals().to_vec();
        drop(prepared);
        // The ranks are still in step.
        assert!(run(&runner, &load("50ms")).is_ok());
        runs.fetch_add(saved.lock().unwrap().len(), Ordering::Relaxed);
        fleet.leave(0, "");
        refusals
    });
    for refusals in &results {
        assert_eq!(refusals, &results[0]);
        assert!(refusals.iter().all(|line| line.what.starts_with("rank 2 on node2: ")) && !refusals.is_empty());
    }
    assert_eq!(runs.into_inner(), 4);
}

#[test]
fn a_rank_that_leaves_early_takes_the_others_with_it() {
    let network = Network::new(5);
    let results = as_ranks(5, |rank| {
        let fleet = joined(&network, rank, PATIENT_SILENCE);
        if rank == 3 {
            return (fleet.leave(2, "error: no such job file\n"), String::new());
        }
        let (runner, _) = runner(&fleet);
        let error = run(&runner, &load("100ms")).map(|_| ()).unwrap_err().to_string();
        (fleet.leave(3, &format!("error: {error}\n")), error)
    });
    for (rank, (leaving, error)) in results.iter().enumerate() {
        let codes: Vec<(u32, u8)> = leaving.iter().map(|leaving| (leaving.rank, leaving.code)).collect();
        assert_eq!(codes, [(0, 3), (1, 3), (2, 3), (3, 2), (4, 3)]);
        assert_eq!(leaving[3].text, "error: no such job file\n");
        if rank != 3 {
            assert_eq!(error, "rank 3 on node3 has exited: no such job file");
        }
    }
}

#[test]
fn stages_of_all_ranks_begin_together_even_if_some_have_fewer() {
    let network = Network::new(3);
    let results = as_ranks(3, |rank| {
        let fleet = joined(&network, rank, PATIENT_SILENCE);
        let (runner, saved) = runner(&fleet);
        let first = if rank == 2 { "--runtime=600ms" } else { "--runtime=100ms" };
        let jobs = match rank {
            1 => load("50ms"),
            _ => plan(&[
                "--name=a",
                "--ioengine=null",
                "--size=1m",
                "--rate_iops=1000",
                first,
                "--time_based",
                "--name=b",
                "--stonewall",
                "--ioengine=null",
                "--size=1m",
                "--rate_iops=1000",
                "--runtime=100ms",
                "--time_based",
            ]),
        };
        let completed = run(&runner, &jobs).unwrap();
        fleet.leave(0, "");
        let own = saved.lock().unwrap().remove(0);
        (completed.run, own.jobs.iter().map(|job| job.started_unix_ms).collect::<Vec<_>>())
    });
    let names: Vec<(&str, u32)> = results[0].0.jobs.iter().map(|job| (job.name.as_str(), job.workers)).collect();
    assert_eq!(names, [("a", 3), ("b", 2)]);
    // Rank 0 waits for the first stage of rank 2, which is longer than its own.
    let (first_ms, second_ms) = (results[2].1[0], results[0].1[1]);
    assert!(second_ms >= first_ms + 600, "the stages began at {first_ms} and {second_ms} ms");
}

#[test]
fn sections_run_on_their_ranks_and_stages_stay_in_step() {
    let jobs = plan(&[
        "--ioengine=null",
        "--size=1m",
        "--rate_iops=1000",
        "--runtime=100ms",
        "--time_based",
        "--name=first",
        "--ranks=0",
        "--name=second",
        "--stonewall",
        "--rank_hosts=node1,*2",
        "--name=third",
        "--stonewall",
    ]);
    let network = Network::new(4);
    let results = as_ranks(4, |rank| {
        let fleet = joined(&network, rank, PATIENT_SILENCE);
        let (runner, saved) = runner(&fleet);
        let completed = run(&runner, &jobs).unwrap();
        fleet.leave(0, "");
        let own = saved.lock().unwrap().remove(0);
        (completed.run, own.jobs.iter().map(|job| (job.name.clone(), job.started_unix_ms)).collect::<Vec<_>>())
    });
    let names = |rank: usize| results[rank].1.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    assert_eq!([names(0), names(1), names(3)], [vec!["first", "third"], vec!["second", "third"], vec!["third"]]);
    let mut merged: Vec<(&str, u32)> = results[0].0.jobs.iter().map(|job| (job.name.as_str(), job.workers)).collect();
    merged.sort_unstable();
    assert_eq!(merged, [("first", 1), ("second", 2), ("third", 4)]);
    // The third job begins after the second on every rank, also where there was no other before it.
    let second_ms = results[1].1[0].1;
    for (_, own) in &results {
        assert!(own.last().unwrap().1 >= second_ms + 100, "{results:?}");
    }
}

#[test]
fn regions_are_divided_among_ranks() {
    let jobs = plan(&["--name=a", "--ioengine=null", "--rw=write", "--bs=4k", "--size=100m", "--numjobs=2"]);
    let network = Network::new(3);
    let results = as_ranks(3, |rank| {
        let fleet = joined(&network, rank, PATIENT_SILENCE);
        let (runner, _) = runner(&fleet);
        let runner = runner.with_split(Some(SplitKind::Offsets));
        let completed = run(&runner, &jobs).unwrap();
        fleet.leave(0, "");
        completed.run
    });
    let written: u64 = results[0].jobs.iter().map(|job| job.result.kind(DataKind::Write).bytes).sum();
    assert_eq!(written, 2 * (100 << 20), "as much as without ranks");
    let bytes: Vec<u64> = results[0].fleet.as_ref().unwrap().members.iter().map(|member| member.bytes[1]).collect();
    assert!(bytes.iter().all(|bytes| bytes.abs_diff((2 * (100 << 20)) / 3) <= 2 * 4096), "{bytes:?}");
}

#[test]
fn a_job_for_ranks_that_do_not_exist_is_refused() {
    let jobs = plan(&["--name=a", "--ioengine=null", "--size=1m", "--ranks=5-7"]);
    let network = Network::new(2);
    let errors = as_ranks(2, |rank| {
        let fleet = joined(&network, rank, PATIENT_SILENCE);
        let (runner, _) = runner(&fleet);
        let error = run(&runner, &jobs).unwrap_err().to_string();
        fleet.leave(0, "");
        error
    });
    assert!(errors.iter().all(|error| error.contains("none of the 2 ranks is selected by `ranks`")), "{errors:?}");
}

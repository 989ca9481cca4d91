//! The search of the queue depth that keeps to a latency.

use record::{DepthSearchRecord, JobResult};
use runner::{NullObserver, RunOptions, Runner, Seeds, Uninterrupted};

use crate::model::model;
use crate::replay::plan;

fn searched(volume: &str, words: &str) -> JobResult {
    let always = ["rw=randread", "bs=4k", "latency_window=2s", "runtime=600s", "time_based"];
    let words: Vec<&str> = ["name=a"].into_iter().chain(words.split(' ')).chain(always).collect();
    let runner = model();
    let prepared = runner.prepare(&plan(volume, &words), Seeds::fixed(7)).expect("a job that can run");
    let run = prepared.run(&RunOptions::default(), &Uninterrupted, &mut NullObserver).expect("a run").run;
    run.jobs.into_iter().next().expect("one job")
}

fn found(volume: &str, words: &str) -> DepthSearchRecord {
    searched(volume, words).depth_search.expect("a search")
}

/// Operations that had waited behind those of a higher depth counted: from 128 the depth was 1 instead of 22.
#[test]
fn a_latency_target_finds_the_same_depth_from_any_start() {
    for (volume, target) in [
        ("aws/gp3", "8ms"),
        ("aws/io2,iops=20000", "1ms"),
        ("gcp/hyperdisk-balanced", "3ms"),
        ("gcp/pd-ssd", "4ms"),
        ("azure/premium-ssd-v2", "10ms"),
    ] {
        let from =
            |depth: u32| found(volume, &format!("iodepth={depth} latency_target={target} latency_percentile=99"));
        let highest = from(512);
        let (latency, above) = (highest.latency_ns.unwrap(), highest.above_ns.unwrap());
        assert!(latency <= highest.target_ns && highest.target_ns <= above, "{volume}: {highest:?}");
        for start in [1, 8, 32, 128] {
            let depth = from(start).depth;
            assert!(depth.abs_diff(highest.depth.min(start)) <= 1, "{volume} from {start}: {depth}, {highest:?}");
        }
    }
}

/// The results were those of the last window only, even if no other depth was tried after it.
#[test]
fn a_target_that_is_never_met_runs_to_the_end_at_depth_1() {
    let job = searched("aws/gp3", "iodepth=16 latency_target=10us latency_percentile=99");
    let search = job.depth_search.expect("a search");
    assert!(!search.is_met && search.depth == 1 && search.latency_ns > Some(10_000), "{search:?}");
    assert!(job.result.elapsed_ns() > 580_000_000_000, "{}", job.result.elapsed_ns());
    assert_eq!(job.error, 0);
}

/// fio ends such a job at its first late operation at depth 1.
#[test]
fn a_target_for_all_operations_that_depth_1_misses_is_an_error() {
    let job = searched("aws/gp3", "iodepth=16 latency_target=10us latency_percentile=100");
    assert_eq!((job.error, job.result.read.ios), (110, 1));
}

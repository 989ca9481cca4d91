//! Simulations that check what the closed form promises.

use plan::{Outcome, Trial};
use record::{LatencyStats, Run};

use crate::seeds::Seeds;
use crate::signals::Signals;
use crate::sim::{self, JobWords, Scene};

/// As many operations settle a mean to a hundredth.
const OPERATIONS: f64 = 12_000.0;
/// What limits forgive at the start must not count.
const LEAST_S: f64 = 0.1;
/// In flight of one job.
const DEPTH_MAX: f64 = 4096.0;

/// Simulates a trial; `None` where that is not possible.
pub(super) fn simulate(trial: &Trial, seed: u64, signals: &Signals) -> Option<Outcome> {
    let seconds = (OPERATIONS / trial.rate).max(LEAST_S);
    let depth = match trial.timed {
        // Enough that operations that come by chance are never kept out.
        Some(_) => (8.0 * trial.in_flight).max(256.0),
        None => trial.in_flight.ceil(),
    };
    let jobs = (depth / DEPTH_MAX).ceil().max(1.0);
    let order = if trial.sequential { "" } else { "rand" };
    let kind = match trial.read_share {
        1.0 => "read",
        0.0 => "write",
        _ => "rw",
    };
    let warm_up_s = (4.0 * trial.in_flight / trial.rate).max(0.02);
    let mut words = vec![
        "--name=plan".to_owned(),
        format!("--rw={order}{kind}"),
        format!("--bs={}", trial.block),
        format!("--iodepth={}", (depth / jobs).ceil()),
        format!("--numjobs={jobs}"),
        "--group_reporting".to_owned(),
        "--direct=1".to_owned(),
        "--time_based".to_owned(),
        format!("--ramp_time={}us", (warm_up_s * 1e6).ceil()),
        format!("--runtime={}us", (seconds * 1e6).ceil()),
    ];
    if kind == "rw" {
        words.push(format!("--rwmixread={:.0}", 100.0 * trial.read_share));
    }
    if trial.timed.is_some() {
        let each = |share: f64| format!("{}", (trial.rate * share / jobs).round().max(1.0));
        let (reads, writes) = (each(trial.read_share), each(1.0 - trial.read_share));
        words.push(match kind {
            "read" => format!("--rate_iops={reads}"),
            "write" => format!("--rate_iops={writes}"),
            _ => format!("--rate_iops={reads},{writes}"),
        });
        words.push("--rate_process=poisson".to_owned());
    }
    let seeds = Seeds::new(Some(seed));
    let plan = JobWords { jobs: &words, sections: &[], around: sim::around(Some(&trial.volume)) }.with(&[]).ok()?;
    let mut scene = Scene::set(plan, seeds).ok()?;
    scene.drain();
    let run = scene.simulate(&scene.request(seeds, &[]), signals);
    outcome(&run, trial.timed.unwrap_or(0.99))
}

fn outcome(run: &Run, share: f64) -> Option<Outcome> {
    let result = &run.jobs.first()?.result;
    let sides: Vec<&LatencyStats> = [&result.read, &result.write]
        .into_iter()
        .filter(|side| side.ios > 0)
        .map(|side| if side.response.count > 0 { &side.response } else { &side.service })
        .collect();
    let count: u64 = sides.iter().map(|stats| stats.count).sum();
    let sum: f64 = sides.iter().map(|stats| stats.sum_ns()).sum();
    // The percentile of both kinds together is at most the greater of the two.
    let percentile = sides.iter().filter_map(|stats| stats.percentile_ns(100.0 * share)).max()?;
    Some(Outcome {
        iops: result.iops(),
        mean_secs: sum / count.max(1) as f64 / 1e9,
        percentile_secs: percentile as f64 / 1e9,
    })
}

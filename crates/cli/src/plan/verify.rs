//! Simulates planned volumes.

use job::{Arrivals, BlockSizes, Direction, Engine, Job, PerKind, Plan};
use plan::{PlanTrial, TrialOutcome};
use record::{LatencyStats, Run};
use runner::{CreditPolicy, RunOptions, Runner, Seeds, Silent};
use sim::model::with_key;
use units::{Nanos, Rate};

use crate::signals::Signals;

/// As many operations settle a mean to a hundredth.
const OPERATIONS: f64 = 12_000.0;
/// Minimum duration, so that the jitter that limits forgive at the start does not count.
const LEAST_S: f64 = 0.1;
/// In flight of one job.
const DEPTH_MAX: f64 = 4096.0;

/// Machines of one simulation; where there are more, one stands for several.
const MACHINES_MAX: u32 = 256;

/// Simulates a trial without burst credits; `None` where that is not possible.
pub(super) fn simulate(runner: &dyn Runner, trial: &PlanTrial, seed: u64, signals: &Signals) -> Option<TrialOutcome> {
    let prepared = runner.prepare(&plan(trial), Seeds::fixed(seed)).ok()?;
    let options = RunOptions { credits: CreditPolicy::Spent, ..RunOptions::default() };
    let run = prepared.run(&options, signals, &mut Silent).ok()?.run;
    outcome(&run, trial)
}

/// Returns the jobs of a trial: one for each machine, on a volume that all of them are attached to.
fn plan(trial: &PlanTrial) -> Plan {
    let machines = trial.machines.clamp(1, MACHINES_MAX);
    let of_one = f64::from(trial.machines.max(1)) / f64::from(machines);
    let one = job(&PlanTrial { rate: trial.rate * of_one, in_flight: trial.in_flight * of_one, ..trial.clone() });
    // Several machines admit more than the one that stands for them; the closed form has judged it.
    let is_kept = |pair: &&str| of_one <= 1.0 || !pair.starts_with("machine=");
    let volume = trial.volume.split(',').filter(is_kept).collect::<Vec<_>>().join(",");
    let on = |machine: u32| {
        let volume = match machines {
            1 => volume.clone(),
            _ => with_key(&volume, "host", &format!("machine-{machine}")),
        };
        let mut job = one.clone();
        job.engine.volume = Some(volume);
        job
    };
    Plan { jobs: (1..=machines).map(on).collect(), ..Plan::default() }
}

/// Returns the load of one machine.
fn job(trial: &PlanTrial) -> Job {
    let seconds =
        (trial.longer * OPERATIONS / (trial.rate * f64::from(trial.machines.clamp(1, MACHINES_MAX)))).max(LEAST_S);
    let depth = match trial.timed {
        // Enough that random arrivals are never kept out.
        Some(_) => (8.0 * trial.in_flight).max(256.0),
        None => trial.in_flight.ceil(),
    };
    let workers = (depth / DEPTH_MAX).ceil().max(1.0);
    let warm_up_s = trial.longer * (4.0 * trial.in_flight / trial.rate).max(0.02);
    let mut job = Job { name: "plan".to_owned(), ..Job::default() };
    (job.engine.engine, job.engine.direct) = (Engine::Model, true);
    job.pattern.random = !trial.sequential;
    job.pattern.direction = match trial.read_share {
        1.0 => Direction::Read,
        0.0 => Direction::Write,
        _ => Direction::ReadWrite,
    };
    job.pattern.set_read_fraction(trial.read_share);
    job.pattern.block_sizes = PerKind::same(BlockSizes::Fixed(trial.block));
    job.pace.iodepth = (depth / workers).ceil() as u32;
    (job.grouping.numjobs, job.grouping.group_reporting) = (workers as u32, true);
    job.extent.time_based = true;
    (job.extent.ramp_time, job.extent.runtime) = (Nanos::from_secs_f64(warm_up_s), Nanos::from_secs_f64(seconds));
    if trial.timed.is_some() {
        let rate = |fraction: f64| {
            let rate = Rate::per_sec((trial.rate * fraction / workers).round().max(1.0) as u64);
            (fraction > 0.0).then_some(rate)
        };
        job.pace.rate_iops = PerKind { read: rate(trial.read_share), write: rate(1.0 - trial.read_share), trim: None };
        job.pace.process = Arrivals::Poisson;
    }
    job
}

fn outcome(run: &Run, trial: &PlanTrial) -> Option<TrialOutcome> {
    let result = &run.jobs.first()?.result;
    let sides: Vec<&LatencyStats> = [&result.read, &result.write]
        .into_iter()
        .filter(|side| side.ios > 0)
        .map(|side| if side.response.count > 0 { &side.response } else { &side.service })
        .collect();
    let count: u64 = sides.iter().map(|stats| stats.count).sum();
    let sum: f64 = sides.iter().map(|stats| stats.sum_ns()).sum();
    // The percentile of both kinds together is at most the greater of the two.
    let percentile = sides.iter().filter_map(|stats| stats.percentile_ns(100.0 * trial.timed.unwrap_or(0.99))).max()?;
    Some(TrialOutcome {
        iops: result.iops() / f64::from(trial.machines.max(1)),
        mean_secs: sum / count.max(1) as f64 / 1e9,
        percentile_secs: percentile as f64 / 1e9,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each of some machines gets of one volume, one after the other.
    fn each(volume: &str, machines: u32, rate: f64, block: u32) -> f64 {
        let volume = volume.to_owned();
        let trial = PlanTrial {
            volume,
            machines,
            rate,
            block,
            read_share: 1.0,
            sequential: false,
            in_flight: rate * 2e-3,
            timed: None,
            longer: 1.0,
        };
        simulate(&crate::runners::model(), &trial, 1, &Signals::install().unwrap()).unwrap().iops
    }

    #[test]
    fn machines_on_one_volume_share_it_and_each_has_limits_of_its_own() {
        // 6,400 IOPS of the volume: a quarter for each of four.
        let volume = "gcp/hyperdisk-ml,size=1TiB,throughput=400MiB/s";
        let shared = each(volume, 4, 3_000.0, 4096);
        assert!((shared / 1_600.0 - 1.0).abs() < 0.01, "{shared}");
        // Twelve times as many machines as are simulated, each standing for twelve.
        let many = each(volume, 12 * MACHINES_MAX, 6_400.0 / 3_072.0, 4096);
        assert!((many / (6_400.0 / 3_072.0) - 1.0).abs() < 0.02, "{many}");
        // A large volume leaves each machine to its own limit, however many there are.
        let volume = "gcp/hyperdisk-ml,size=1TiB,throughput=100000MiB/s,machine=a3-megagpu-8g";
        let (alone, beside) = (each(volume, 1, 10_000.0, 1 << 20), each(volume, 3, 10_000.0, 1 << 20));
        assert!((beside / alone - 1.0).abs() < 0.01 && alone < 5_000.0, "{alone} alone, {beside} beside others");
    }
}

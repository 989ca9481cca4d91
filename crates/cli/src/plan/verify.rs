//! Simulations that check what the closed form promises.

use plan::{Outcome, Trial};
use record::{LatencyStats, Run};

use crate::modelled::with_key;
use crate::seeds::Seeds;
use crate::signals::Signals;
use crate::sim::{self, JobWords, Scene};
use crate::source::Outside;

/// As many operations settle a mean to a hundredth.
const OPERATIONS: f64 = 12_000.0;
/// What limits forgive at the start must not count.
const LEAST_S: f64 = 0.1;
/// In flight of one job.
const DEPTH_MAX: f64 = 4096.0;

/// Machines of one simulation; where there are more, one stands for several.
const MACHINES_MAX: u32 = 256;

/// Simulates a trial; `None` where that is not possible.
pub(super) fn simulate(trial: &Trial, seed: u64, signals: &Signals) -> Option<Outcome> {
    let seeds = Seeds::new(Some(seed));
    let words = words(trial);
    let words = JobWords { jobs: &words, sections: &[], around: sim::around(None), outside: &Outside::default() };
    let plan = words.with(&[]).ok()?;
    let mut scene = Scene::set(plan, seeds).ok()?;
    scene.drain();
    let run = scene.simulate(&scene.request(seeds, &[]), signals);
    outcome(&run, trial)
}

/// The jobs of a trial: one for each machine, on a volume that all of them are attached to.
fn words(trial: &Trial) -> Vec<String> {
    let machines = trial.machines.clamp(1, MACHINES_MAX);
    let of_one = f64::from(trial.machines.max(1)) / f64::from(machines);
    let one = job(&Trial { rate: trial.rate * of_one, in_flight: trial.in_flight * of_one, ..trial.clone() });
    // What several machines let through is more than a stand-in of theirs does; the closed form has judged it.
    let is_kept = |pair: &&str| of_one <= 1.0 || !pair.starts_with("machine=");
    let volume = trial.volume.split(',').filter(is_kept).collect::<Vec<_>>().join(",");
    let on = |machine: u32| match machines {
        1 => volume.clone(),
        _ => with_key(&volume, "host", &format!("machine-{machine}")),
    };
    let on_machine = |machine| {
        let first = ["--name=plan".to_owned(), "--ioengine=model".to_owned(), format!("--volume={}", on(machine))];
        first.into_iter().chain(one.iter().cloned())
    };
    (1..=machines).flat_map(on_machine).collect()
}

/// The load of one machine.
fn job(trial: &Trial) -> Vec<String> {
    let seconds =
        (trial.longer * OPERATIONS / (trial.rate * f64::from(trial.machines.clamp(1, MACHINES_MAX)))).max(LEAST_S);
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
    let warm_up_s = trial.longer * (4.0 * trial.in_flight / trial.rate).max(0.02);
    let mut words = vec![
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
    words
}

fn outcome(run: &Run, trial: &Trial) -> Option<Outcome> {
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
    Some(Outcome {
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
        let trial = Trial {
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
        simulate(&trial, 1, &Signals::install().unwrap()).unwrap().iops
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

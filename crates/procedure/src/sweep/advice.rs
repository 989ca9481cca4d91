//! Splits a depth over workers.

use analyse::Observation;
use analyse::knee::{Curve, Fit};
use job::{EngineKind, Job, Plan};
use results::sweep::SweepAdvice;
use units::requests_in_flight;
use volume::catalogue;

use crate::expected::ExpectedVolume;

/// Returns the `iodepth` and `numjobs` with `depth` operations in flight.
pub(crate) fn split(job: &Job, depth: u32) -> (u32, u32) {
    if !job.has_queue() {
        return (1, depth);
    }
    let workers = job.grouping.numjobs.max(1);
    (depth.div_ceil(workers).max(1), workers)
}

/// Assumed operations per second of one worker without a measurement.
const ASSUMED_WORKER_IOPS: f64 = 200_000.0;
const UTILIZATION_MAX: f64 = 0.7;

/// Returns settings for the knee; `None` without a knee.
pub(crate) fn advice(plan: &Plan, fit: &Fit, cpu_per_io_ns: Option<f64>, sweeps: &usize) -> Option<SweepAdvice> {
    let (depth, iops) = match &fit.curve {
        Curve::Knee(knee) => (requests_in_flight(knee.depth.value), knee.xmax.value),
        Curve::Flat { depth, xmax, .. } => (u64::from(*depth), xmax.value),
        _ => return None,
    };
    let job = &plan.jobs[0];
    let found = u32::try_from(depth).unwrap_or(u32::MAX);
    let depth = found.max(least_depth(job).unwrap_or(0));
    let wanted = cpu_per_io_ns.map_or(iops / ASSUMED_WORKER_IOPS, |ns| iops * ns / 1e9 / UTILIZATION_MAX);
    // More workers than processors slow each other down.
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let most = if cpu_per_io_ns.is_some() { processors } else { 64 };
    let numjobs = match job.grouping.numjobs {
        _ if !job.has_queue() => depth,
        1 => (wanted.ceil() as u32).clamp(1, depth.min(most)),
        given => given,
    };
    let iodepth = if job.has_queue() { depth.div_ceil(numjobs) } else { 1 };
    let line = fio_line(plan, job, iodepth, numjobs);
    let fio = line.filter(|_| *sweeps == 1);
    Some(SweepAdvice { depth: iodepth * numjobs, iodepth, numjobs, fio, cpu_per_io_ns, is_of_provider: depth > found })
}

/// Returns the depth that providers ask for on such a volume of the catalogue.
fn least_depth(job: &Job) -> Option<u32> {
    let volume = ExpectedVolume::look_up(job.engine.volume.as_ref()?, catalogue::no_files).ok()?;
    Some(volume.of(&Observation::default(), &|_| None).least_depth() as u32)
}

/// Options that the command line sets itself.
const FIXED_OPTIONS: [&str; 15] = [
    "name",
    "iodepth",
    "numjobs",
    "runtime",
    "ramp_time",
    "ramp_size",
    "time_based",
    "ioengine",
    "volume",
    "rw",
    "bs",
    "direct",
    "filename",
    "group_reporting",
    "thread",
];

fn fio_line(plan: &Plan, job: &Job, iodepth: u32, numjobs: u32) -> Option<String> {
    let given = |name: &str| {
        let all = plan.globals.iter().chain(&job.echo);
        all.filter(|(known, _)| known == name).map(|(_, value)| value.clone()).next_back()
    };
    let modelled = job.engine.kind == EngineKind::Model;
    let engine = if modelled { "io_uring" } else { job.engine.kind.name() };
    let target = match given("filename") {
        Some(name) => Some(name),
        None if modelled => Some("/dev/DISK".to_owned()),
        None => None,
    };
    let direct = if modelled || job.engine.direct { "1" } else { "0" };
    let mut options = vec![("name", job.name.clone())];
    options.extend(target.map(|target| ("filename", target)));
    options.push(("rw", given("rw").unwrap_or_else(|| "randread".to_owned())));
    options.push(("bs", given("bs").unwrap_or_else(|| "4k".to_owned())));
    options.push(("direct", direct.to_owned()));
    options.push(("ioengine", engine.to_owned()));
    options.push(("iodepth", iodepth.to_string()));
    options.push(("numjobs", numjobs.to_string()));
    options.push(("time_based", "1".to_owned()));
    options.push(("runtime", "60".to_owned()));
    let rest = plan.globals.iter().chain(&job.echo).filter(|(name, _)| !FIXED_OPTIONS.contains(&name.as_str()));
    let mut words: Vec<String> = options.iter().map(|(name, value)| word(name, value)).collect();
    words.extend(rest.map(|(name, value)| word(name, value)));
    words.push("--group_reporting".to_owned());
    Some(format!("fio {}", words.join(" ")))
}

/// Formats an option, quoted for a shell if necessary.
fn word(name: &str, value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,%+=@".contains(c);
    let quoted =
        if value.chars().all(plain) { value.to_owned() } else { format!("'{}'", value.replace('\'', r"'\''")) };
    if value.is_empty() { format!("--{name}") } else { format!("--{name}={quoted}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One in flight was advised where `explain` and the provider ask for four.
    #[test]
    fn a_sweep_advised_less_than_providers_ask_for() {
        let least = |volume: &str| {
            let mut job = Job::default();
            job.engine.volume = Some(volume.to_owned());
            least_depth(&job)
        };
        assert_eq!(least("aws/st1,size=2TiB"), Some(4));
        assert_eq!(least("aws/gp3"), Some(0));
    }
}

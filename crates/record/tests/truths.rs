//! Documents of fio made from what each worker did, by the rules by which fio merges workers: what is read must be that, or
//! be said not to be known.

#![allow(clippy::disallowed_macros, reason = "a test prints how many results are undecided")]

use record::{DataKind, Figure, Input, Run, read_input};
use serde_json::{Map, Value, json};
use units::random::Random;

use crate::cases::cases;

/// A version of fio, by what it prints.
#[derive(Clone, Copy, Debug)]
struct Version {
    name: &'static str,
    /// Latencies in `clat_ns` with a count, not in `clat`.
    in_ns: bool,
    counts: bool,
    /// `job_runtime`.
    sums_runtimes: bool,
    /// `group_reporting` without a value.
    prints_flags: bool,
}

const VERSIONS: [Version; 5] = [
    Version { name: "fio-2.21", in_ns: false, counts: false, sums_runtimes: false, prints_flags: false },
    Version { name: "fio-3.1", in_ns: true, counts: false, sums_runtimes: false, prints_flags: false },
    Version { name: "fio-3.6", in_ns: true, counts: true, sums_runtimes: false, prints_flags: true },
    Version { name: "fio-3.33", in_ns: true, counts: true, sums_runtimes: true, prints_flags: true },
    Version { name: "fio-3.42", in_ns: true, counts: true, sums_runtimes: true, prints_flags: true },
];

/// A section of a job file, and what each of its clones did.
#[derive(Clone, Debug)]
struct Section {
    name: String,
    depth: u64,
    clones: u64,
    bytes: u64,
    /// Operations of a clone: reads and writes.
    ios: [u64; 2],
    runtime_ms: u64,
    latency_ns: u64,
}

impl Section {
    fn any(name: String, longest_ms: u64, random: &mut Random) -> Self {
        let runtime_ms = if random.below(2) == 0 { longest_ms } else { longest_ms / (1 + random.below(4)) };
        let depth = 1 << random.below(6);
        let iops = 100 + random.below(5_000);
        let all = iops * runtime_ms / 1000;
        let reads = [0, all / 3, all][random.below(3) as usize];
        // Up to its depth in flight.
        let latency_ns = (depth * 1_000_000_000 / iops) * (50 + random.below(50)) / 100;
        Self {
            name,
            depth,
            clones: 1 + random.below(4),
            bytes: 4096 << random.below(4),
            ios: [reads, all - reads],
            runtime_ms,
            latency_ns,
        }
    }

    fn options(&self) -> Map<String, Value> {
        let mut options = Map::new();
        options.insert("name".into(), self.name.clone().into());
        options.insert("iodepth".into(), self.depth.to_string().into());
        options.insert("bs".into(), self.bytes.to_string().into());
        if self.clones > 1 {
            options.insert("numjobs".into(), self.clones.to_string().into());
        }
        options
    }
}

/// What one entry of the document is of.
#[derive(Debug)]
struct Truth {
    group: usize,
    ios: [u64; 2],
    /// Longest runtime of a worker with operations of the kind.
    runtime_ms: [u64; 2],
    longest_ms: u64,
    /// Service times summed over all operations.
    busy_ns: f64,
    depth: u64,
    /// Whether the document says nothing of the merging.
    is_hidden: bool,
}

impl Truth {
    fn of(group: usize, workers: &[&Section]) -> Self {
        let sum = |kind: usize| workers.iter().map(|one| one.ios[kind]).sum();
        let longest =
            |kind: usize| workers.iter().filter(|one| one.ios[kind] > 0).map(|one| one.runtime_ms).max().unwrap_or(0);
        Self {
            group,
            ios: [sum(0), sum(1)],
            runtime_ms: [longest(0), longest(1)],
            longest_ms: workers.iter().map(|one| one.runtime_ms).max().unwrap_or(0),
            busy_ns: workers.iter().map(|one| (one.ios[0] + one.ios[1]) as f64 * one.latency_ns as f64).sum(),
            depth: workers.iter().map(|one| one.depth).sum(),
            is_hidden: false,
        }
    }
}

/// Returns the entry of these workers, of which fio prints the first name and the last options.
fn entry(version: Version, group: usize, workers: &[&Section], options: &Map<String, Value>) -> Value {
    let truth = Truth::of(group, workers);
    let kind = |kind: usize| {
        let ios = truth.ios[kind];
        let mean = |unit: f64| {
            let sum: f64 = workers.iter().map(|one| one.ios[kind] as f64 * one.latency_ns as f64).sum();
            if ios == 0 { 0.0 } else { sum / ios as f64 / unit }
        };
        let latency = |unit: f64| {
            let mut of =
                json!({ "min": 0, "max": (2.0 * mean(unit)) as u64, "mean": mean(unit), "stddev": mean(unit) / 3.0 });
            if version.counts {
                of["N"] = ios.into();
            }
            of
        };
        let bytes: u64 = workers.iter().map(|one| one.ios[kind] * one.bytes).sum();
        let ms = truth.runtime_ms[kind];
        let kib = (bytes * 1000).checked_div(ms * 1024).unwrap_or(0);
        let iops = if ms == 0 { 0.0 } else { ios as f64 * 1000.0 / ms as f64 };
        let mut of = json!({ "total_ios": ios, "runtime": ms, "iops": iops, "bw": kib });
        if version.in_ns {
            (of["io_bytes"], of["io_kbytes"]) = (bytes.into(), (bytes / 1024).into());
            (of["clat_ns"], of["lat_ns"]) = (latency(1.0), latency(1.0));
        } else {
            of["io_bytes"] = (bytes / 1024).into();
            (of["clat"], of["lat"]) = (latency(1000.0), latency(1000.0));
        }
        of
    };
    let mut entry = json!({
        "jobname": workers[0].name, "groupid": group, "error": 0, "job options": options,
        "read": kind(0), "write": kind(1), "usr_cpu": 1.0, "sys_cpu": 1.0,
        "iodepth_level": { "1": 100.0 }, "latency_depth": workers[workers.len() - 1].depth,
    });
    if version.sums_runtimes {
        entry["job_runtime"] = workers.iter().map(|one| one.runtime_ms).sum::<u64>().into();
    }
    entry
}

fn longest_of(workers: &[&Section]) -> u64 {
    workers.iter().map(|one| one.runtime_ms).max().unwrap_or(1)
}

/// Returns a document and what its entries are of.
fn document(random: &mut Random) -> (String, Vec<Truth>, Version) {
    let version = VERSIONS[random.below(VERSIONS.len() as u64) as usize];
    let (mut jobs, mut truths) = (Vec::new(), Vec::new());
    // The flag is printed without a value, or with one.
    let (reports_groups, has_value) = (random.below(2) == 0, random.below(2) == 0);
    for group in 0..1 + random.below(4) as usize {
        let longest_ms = 1000 * (2 + random.below(60));
        let sections: Vec<Section> = (0..1 + random.below(4))
            .map(|number| Section::any(format!("job{group}{number}"), longest_ms, random))
            .filter(|section| section.ios[0] + section.ios[1] > 0)
            .collect();
        let Some(last) = sections.last() else { continue };
        let flagged = |mut options: Map<String, Value>| {
            if reports_groups && (version.prints_flags || has_value) {
                options.insert("group_reporting".into(), if has_value { "1" } else { "" }.into());
            }
            options
        };
        if reports_groups {
            let workers: Vec<&Section> =
                sections.iter().flat_map(|section| std::iter::repeat_n(section, section.clones as usize)).collect();
            jobs.push(entry(version, group, &workers, &flagged(last.options())));
            // The same document is that of clones of the last section.
            let sum_ms: u64 = workers.iter().map(|one| one.runtime_ms).sum();
            let are_like_clones = version.sums_runtimes && sum_ms.div_ceil(longest_of(&workers)) == last.clones;
            let is_hidden = are_like_clones || !version.sums_runtimes && !version.prints_flags && !has_value;
            truths.push(Truth { is_hidden, ..Truth::of(group, &workers) });
        } else {
            for worker in sections.iter().flat_map(|section| std::iter::repeat_n(section, section.clones as usize)) {
                jobs.push(entry(version, group, &[worker], &flagged(worker.options())));
                truths.push(Truth::of(group, &[worker]));
            }
        }
    }
    let globals = json!({ "ioengine": "libaio", "direct": "1", "rw": "randrw" });
    let document = json!({ "fio version": version.name, "timestamp": 1, "global options": globals, "jobs": jobs });
    (serde_json::to_string_pretty(&document).unwrap(), truths, version)
}

fn is_near(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= 0.005 * expected.abs() + 1e-9
}

#[test]
fn what_workers_did_is_read_from_any_grouping() {
    const SEED: u64 = 37;
    let (mut entries, mut unknown) = (0, 0);
    for seed in SEED..SEED + cases(1_000) {
        let (text, truths, version) = document(&mut Random::new(seed, 0));
        if truths.is_empty() {
            continue;
        }
        let run: Run = match read_input("fio", text.as_bytes(), None) {
            Ok(Input::Run(run)) => *run,
            other => panic!("seed {seed}: {other:?}\n{text}"),
        };
        assert_eq!(run.jobs.len(), truths.len(), "seed {seed}");
        for (job, truth) in run.jobs.iter().zip(&truths) {
            let of = format!("seed {seed}, {version:?}, {}: {truth:?}", job.name);
            for (index, kind) in [DataKind::Read, DataKind::Write].into_iter().enumerate() {
                if truth.ios[index] > 0 {
                    let expected = truth.ios[index] as f64 * 1000.0 / truth.runtime_ms[index] as f64;
                    assert!(is_near(job.result.kind(kind).iops(), expected), "{of}");
                }
            }
            let iops = (truth.ios[0] + truth.ios[1]) as f64 * 1000.0 / truth.longest_ms as f64;
            assert!(is_near(job.result.iops(), iops), "{} for {iops}: {of}", job.result.iops());
            let in_flight = truth.busy_ns / (truth.longest_ms as f64 * 1e6);
            assert!(is_near(job.result.in_flight().unwrap(), in_flight), "{:?}: {of}", job.result.in_flight());
            let product = job.result.iops() * job.result.service_mean_ns().unwrap() / 1e9;
            assert!(is_near(product, in_flight), "{product}: {of}");
            entries += 1;
            match job.declared.in_flight_possible {
                // Nothing in such a document shows that an entry is of several workers.
                Some(possible) if truth.is_hidden => assert!(possible as f64 * 1.03 >= in_flight, "{of}\n{text}"),
                Some(possible) => assert_eq!(possible, truth.depth, "{of}\n{text}"),
                None => unknown += 1,
            }
        }
        let phases = run.phases();
        for phase in &phases {
            assert!(phase.iter().all(|job| truths[*job].group == truths[phase[0]].group), "seed {seed}: {phases:?}");
            let together = run.together(phase);
            let longest_ms = phase.iter().map(|job| truths[*job].longest_ms).max().unwrap();
            let ios: u64 = phase.iter().map(|job| truths[*job].ios[0] + truths[*job].ios[1]).sum();
            let iops = ios as f64 * 1000.0 / longest_ms as f64;
            assert!(is_near(together.result.iops(), iops), "seed {seed}: {} for {iops}", together.result.iops());
        }
        let all = Figure::named("all.iops").unwrap().of(&run);
        assert_eq!(all.is_ok(), phases.len() == 1, "seed {seed}");
    }
    println!("{entries} entries, of which {unknown} have no known depth");
    assert!(unknown < entries / 2, "{unknown} of {entries} have no known depth");
}

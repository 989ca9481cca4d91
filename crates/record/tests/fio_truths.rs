//! Outputs of fio, JSON and text, made from what each worker did, by the rules by which fio merges workers.

#![allow(dead_code, reason = "each crate that includes it uses a part")]

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use units::random::Random;

/// A version of fio, by what it prints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    name: &'static str,
    /// Latencies in `clat_ns` with a count, not in `clat`.
    in_ns: bool,
    counts: bool,
    /// `job_runtime`.
    sums_runtimes: bool,
    /// `group_reporting` without a value.
    prints_flags: bool,
    /// `job_start`.
    pub(crate) prints_starts: bool,
}

const VERSIONS: [Version; 5] = [
    Version {
        name: "fio-2.21",
        prints_starts: false,
        in_ns: false,
        counts: false,
        sums_runtimes: false,
        prints_flags: false,
    },
    Version {
        name: "fio-3.1",
        prints_starts: false,
        in_ns: true,
        counts: false,
        sums_runtimes: false,
        prints_flags: false,
    },
    Version {
        name: "fio-3.6",
        prints_starts: false,
        in_ns: true,
        counts: true,
        sums_runtimes: false,
        prints_flags: true,
    },
    Version {
        name: "fio-3.33",
        prints_starts: false,
        in_ns: true,
        counts: true,
        sums_runtimes: true,
        prints_flags: true,
    },
    Version {
        name: "fio-3.42",
        prints_starts: true,
        in_ns: true,
        counts: true,
        sums_runtimes: true,
        prints_flags: true,
    },
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
    /// Syncs of a clone, and the time of each.
    syncs: u64,
    sync_ns: u64,
}

impl Section {
    fn any(name: String, longest_ms: u64, random: &mut Random) -> Self {
        let runtime_ms = if random.below(2) == 0 { longest_ms } else { longest_ms / (1 + random.below(4)) };
        let depth = 1 << random.below(6);
        let iops = 100 + random.below(5_000);
        let all = iops * runtime_ms / 1000;
        let reads = [0, all / 3, all][random.below(3) as usize];
        // Up to nine tenths of its depth in flight, and syncs in the rest.
        let latency_ns = (depth * 1_000_000_000 / iops) * (50 + random.below(40)) / 100;
        let syncs = if random.below(3) == 0 { (all - reads) / 10 } else { 0 };
        let sync_ns = (runtime_ms * 1_000_000 / 20).checked_div(syncs).unwrap_or(0);
        Self {
            name,
            depth,
            clones: 1 + random.below(4),
            bytes: 4096 << random.below(4),
            ios: [reads, all - reads],
            runtime_ms,
            latency_ns,
            syncs,
            sync_ns,
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
pub(crate) struct Truth {
    pub(crate) group: usize,
    pub(crate) ios: [u64; 2],
    /// Start on the clock of the document.
    pub(crate) start_ms: u64,
    /// Longest runtime of a worker with operations of the kind.
    pub(crate) runtime_ms: [u64; 2],
    pub(crate) longest_ms: u64,
    /// Service times summed over all operations.
    pub(crate) busy_ns: f64,
    pub(crate) depth: u64,
    pub(crate) syncs: u64,
    /// Their times, summed.
    pub(crate) sync_ns: f64,
    /// Whether the document says nothing of the merging.
    pub(crate) is_hidden: bool,
}

impl Truth {
    fn of((group, start_ms): (usize, u64), workers: &[&Section]) -> Self {
        let sum = |kind: usize| workers.iter().map(|one| one.ios[kind]).sum();
        let longest =
            |kind: usize| workers.iter().filter(|one| one.ios[kind] > 0).map(|one| one.runtime_ms).max().unwrap_or(0);
        Self {
            group,
            start_ms,
            syncs: workers.iter().map(|one| one.syncs).sum(),
            sync_ns: workers.iter().map(|one| one.syncs as f64 * one.sync_ns as f64).sum(),
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
fn entry(version: Version, at: (usize, u64), workers: &[&Section], options: &Map<String, Value>) -> Value {
    let (group, truth) = (at.0, Truth::of(at, workers));
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
    if version.prints_starts {
        entry["job_start"] = (START_MS + truth.start_ms).into();
    }
    if truth.syncs > 0 && version.counts {
        let mean = truth.sync_ns / truth.syncs as f64;
        let times = json!({ "min": 1, "max": (2.0 * mean) as u64, "mean": mean, "stddev": 1.0, "N": truth.syncs });
        entry["sync"] = json!({ "total_ios": truth.syncs, "lat_ns": times });
    }
    if version.sums_runtimes {
        entry["job_runtime"] = workers.iter().map(|one| one.runtime_ms).sum::<u64>().into();
    }
    entry
}

fn longest_of(workers: &[&Section]) -> u64 {
    workers.iter().map(|one| one.runtime_ms).max().unwrap_or(1)
}

/// Clock of the document at its first start.
const START_MS: u64 = 1_760_000_000_000;

/// An output of fio, and what its results are of.
pub(crate) struct Output {
    pub(crate) text: String,
    pub(crate) truths: Vec<Truth>,
    pub(crate) version: Version,
    /// Whether it is JSON.
    pub(crate) is_json: bool,
}

/// The jobs of a run: the sections of each group with their start, and whether the workers of a group report together.
struct Jobs {
    version: Version,
    groups: Vec<(u64, Vec<Section>)>,
    reports_groups: bool,
}

impl Jobs {
    fn any(random: &mut Random) -> Self {
        let version = VERSIONS[random.below(VERSIONS.len() as u64) as usize];
        let mut groups: Vec<(u64, Vec<Section>)> = Vec::new();
        let mut end_ms = 0;
        for group in 0..1 + random.below(4) {
            let longest_ms = 1000 * (2 + random.below(60));
            let sections: Vec<Section> = (0..1 + random.below(4))
                .map(|number| Section::any(format!("job{group}{number}"), longest_ms, random))
                .filter(|section| section.ios[0] + section.ios[1] > 0)
                .collect();
            // At once, one after the other, or beginning before the end of the others.
            let start_ms = [0, end_ms, end_ms / 2][random.below(3) as usize];
            end_ms = end_ms.max(start_ms + sections.iter().map(|section| section.runtime_ms).max().unwrap_or(0));
            if !sections.is_empty() {
                groups.push((start_ms, sections));
            }
        }
        Self { version, groups, reports_groups: random.below(2) == 0 }
    }

    /// Returns the workers of each result with the last section, whose options are printed.
    fn results(&self) -> Vec<((usize, u64), Vec<&Section>)> {
        let mut results = Vec::new();
        for (group, (start_ms, sections)) in self.groups.iter().enumerate() {
            let workers = sections.iter().flat_map(|section| std::iter::repeat_n(section, section.clones as usize));
            let at = (group, *start_ms);
            match self.reports_groups {
                true => results.push((at, workers.collect())),
                false => results.extend(workers.map(|worker| (at, vec![worker]))),
            }
        }
        results
    }

    fn json(&self, has_value: bool) -> Output {
        let (version, mut jobs, mut truths) = (self.version, Vec::new(), Vec::new());
        for (at, workers) in self.results() {
            let last = workers[workers.len() - 1];
            let mut options = last.options();
            if self.reports_groups && (version.prints_flags || has_value) {
                options.insert("group_reporting".into(), if has_value { "1" } else { "" }.into());
            }
            jobs.push(entry(version, at, &workers, &options));
            // The same document is that of clones of the last section.
            let sum_ms: u64 = workers.iter().map(|one| one.runtime_ms).sum();
            // Clones do not start and end in the same millisecond.
            let times = (sum_ms as f64 * 0.995 / longest_of(&workers) as f64).ceil() as u64;
            let are_like_clones = version.sums_runtimes && times == last.clones;
            let says_nothing = are_like_clones || !version.sums_runtimes && !version.prints_flags && !has_value;
            truths.push(Truth { is_hidden: self.reports_groups && says_nothing, ..Truth::of(at, &workers) });
        }
        let globals = json!({ "ioengine": "libaio", "direct": "1", "rw": "randrw" });
        let document = json!({ "fio version": version.name, "timestamp": 1, "global options": globals, "jobs": jobs });
        Output { text: serde_json::to_string_pretty(&document).unwrap(), truths, version, is_json: true }
    }

    /// Returns fio's normal output of version 3.
    fn text(&self) -> Output {
        let (mut text, mut truths) = (String::new(), Vec::new());
        for (group, (_, sections)) in self.groups.iter().enumerate() {
            for Section { name, bytes, depth, clones, .. } in sections {
                let sizes = format!("bs=(R) {bytes}B-{bytes}B, (W) {bytes}B-{bytes}B, (T) {bytes}B-{bytes}B");
                let _ = writeln!(text, "{name}: (g={group}): rw=randrw, {sizes}, ioengine=libaio, iodepth={depth}");
                if *clones > 1 {
                    text.push_str("...\n");
                }
            }
        }
        text.push_str("fio-3.33\nStarting some processes\n\n");
        for (pid, (at, workers)) in self.results().into_iter().enumerate() {
            let truth = Truth::of(at, &workers);
            block(&mut text, pid, &truth, &workers);
            truths.push(truth);
        }
        for (group, (_, sections)) in self.groups.iter().enumerate() {
            let _ = writeln!(text, "\nRun status group {group} (all jobs):");
            for (kind, name) in ["   READ", "  WRITE"].into_iter().enumerate() {
                let used = || sections.iter().filter(move |section| section.ios[kind] > 0);
                let bytes: u64 = used().map(|one| one.clones * one.ios[kind] * one.bytes).sum();
                let Some(ms) = used().map(|one| one.runtime_ms).max() else { continue };
                let rate = amounts(bytes * 1000 / ms, "/s");
                let (io, least) = (amounts(bytes, ""), used().map(|one| one.runtime_ms).min().unwrap_or(ms));
                let _ = writeln!(text, "{name}: bw={rate}, {rate}-{rate} ({rate}), io={io}, run={least}-{ms}msec");
            }
        }
        Output { text, truths, version: VERSIONS[3], is_json: false }
    }
}

/// Returns an amount as fio prints it, binary and decimal: `4KiB (4096B)`.
fn amounts(bytes: u64, per: &str) -> String {
    format!("{:.1}KiB{per} ({:.1}kB{per})", bytes as f64 / 1024.0, bytes as f64 / 1000.0)
}

/// Writes the result of some workers.
fn block(text: &mut String, pid: usize, truth: &Truth, workers: &[&Section]) {
    let (name, jobs) = (&workers[0].name, workers.len());
    let group = truth.group;
    let _ = writeln!(text, "{name}: (groupid={group}, jobs={jobs}): err= 0: pid={}: Sun Nov 29 10:00:00 2026", pid + 1);
    for (kind, title) in ["  read", "  write"].into_iter().enumerate().filter(|(kind, _)| truth.ios[*kind] > 0) {
        let bytes: u64 = workers.iter().map(|one| one.ios[kind] * one.bytes).sum();
        let (ios, ms) = (truth.ios[kind], truth.runtime_ms[kind]);
        let (iops, rate) = (ios * 1000 / ms, amounts(bytes * 1000 / ms, "/s"));
        let _ = writeln!(text, "{title}: IOPS={iops}, BW={rate}({:.1}KiB/{ms}msec)", bytes as f64 / 1024.0);
        let sum: f64 = workers.iter().map(|one| one.ios[kind] as f64 * one.latency_ns as f64).sum();
        let mean = sum / ios as f64 / 1e3;
        for name in ["    clat", "     lat"] {
            let _ =
                writeln!(text, "{name} (usec): min=1, max={:.0}, avg={mean:.2}, stdev={:.2}", 2.0 * mean, mean / 3.0);
        }
    }
    if truth.syncs > 0 {
        let mean = truth.sync_ns / truth.syncs as f64 / 1e3;
        text.push_str("  fsync/fdatasync/sync_file_range:\n");
        let _ = writeln!(text, "    sync (usec): min=1, max={:.0}, avg={mean:.2}, stdev=1.00", 2.0 * mean);
    }
    let [reads, writes] = truth.ios;
    let depths = "1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%";
    let batches = "0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%";
    let _ = write!(
        text,
        "  cpu          : usr=1.00%, sys=1.00%, ctx=1, majf=0, minf=1\n  IO depths    : {depths}\n     submit    : \
         {batches}\n     complete  : {batches}\n     issued rwts: total={reads},{writes},0,{} short=0,0,0,0 \
         dropped=0,0,0,0\n     latency   : target=0, window=0, percentile=100.00%, depth={}\n",
        truth.syncs,
        workers[workers.len() - 1].depth
    );
}

/// Returns an output of one random run.
pub(crate) fn output(random: &mut Random) -> Output {
    loop {
        let jobs = Jobs::any(random);
        if !jobs.groups.is_empty() {
            return if random.below(3) == 0 { jobs.text() } else { jobs.json(random.below(2) == 0) };
        }
    }
}

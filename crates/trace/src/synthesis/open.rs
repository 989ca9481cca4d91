//! Sections of an open loop: rates, and their phases.

use super::class::LoadClass;
use super::layout::Region;
use super::phases::Phase;
use super::section::{JobSection, SectionPace, SectionPattern};

/// Maximum number of sections.
const SECTIONS_MAX: usize = 64;
/// Local variation of gaps above which arrivals are random rather than even.
const POISSON_MIN: f64 = 0.5;
/// Local variation above which arrivals come in batches, and the least mean number of requests in one.
const BATCHES_MIN: f64 = 1.4;
const BATCH_REQUESTS_MIN: f64 = 3.0;
/// Greatest rate at which batches can be told from a high rate, in requests per second.
const BATCHES_RATE_MAX: f64 = 3_000.0;
/// Range of the queue depth (Linux limits those of all sections together to 65,536), and the memory of all buffers of a section in bytes.
const DEPTH_MIN: u64 = 64;
const DEPTH_MAX: u64 = 512;
const BUFFER_BYTES: u64 = 256 << 20;
/// Greatest number of interleaved streams.
const STREAMS_MAX: u64 = 16;
/// Greatest ratio of the bytes to the footprint of a stream that does not begin again.
const ONE_PASS_MAX: f64 = 1.1;
/// Greatest rate of phases that are joined to a base, relative to the rate that a quarter of the time has at most.
const LOW_MAX: f64 = 1.5;
/// Greatest fraction of the time that may be far below the base.
const BELOW_MAX: f64 = 0.02;

/// Returns the sections, and the number of phases that are averaged.
pub(super) fn sections(classes: &[LoadClass], regions: &[Region], runtime_ns: u64) -> (Vec<JobSection>, u64) {
    if runtime_ns == 0 {
        return (classes.iter().zip(regions).map(|(class, region)| at_once(class, region)).collect(), 0);
    }
    let mut plans: Vec<(usize, Schedule)> =
        classes.iter().map(|class| Schedule::new(class, runtime_ns, SECTIONS_MAX)).enumerate().collect();
    // Classes that need few sections leave the rest to the others.
    plans.sort_by_key(|(at, schedule)| (schedule.parts.len(), *at));
    let (mut left, mut averaged) = (SECTIONS_MAX, 0);
    let classes_left = (1..=plans.len()).rev();
    for ((at, schedule), classes_left) in plans.iter_mut().zip(classes_left) {
        let most = (left / classes_left).max(1);
        if schedule.parts.len() > most {
            *schedule = Schedule::new(&classes[*at], runtime_ns, most);
        }
        left = left.saturating_sub(schedule.parts.len());
        averaged += schedule.averaged;
    }
    plans.sort_by_key(|(at, _)| *at);
    let of_class = |(at, schedule): &(usize, Schedule)| of_parts(&classes[*at], &regions[*at], &schedule.parts);
    let mut sections = plans.iter().flat_map(of_class).collect();
    join_mixed(&mut sections);
    (sections, averaged)
}

/// Returns the section of requests that are all issued at one instant.
fn at_once(class: &LoadClass, region: &Region) -> JobSection {
    let requests = class.job_requests().round().max(1.0) as u64;
    let base = base(class, region);
    let workers = u64::from(base.workers).min(requests) as u32;
    let pace = SectionPace::Count { requests: requests.div_ceil(u64::from(workers)) };
    JobSection { pace, workers, iodepth: depth(class, requests), ..base }
}

/// Returns a section with everything but the pace.
pub(super) fn base(class: &LoadClass, region: &Region) -> JobSection {
    let (key, kind) = (class.key, kind(class));
    let mut sizes: [Vec<(u32, u32)>; 3] = Default::default();
    sizes[kind] = class.sizes.0.clone();
    let runs = [&class.profile.sequential.reads, &class.profile.sequential.writes];
    let mut random_percent = [100; 3];
    random_percent[kind] = (100.0 * (1.0 - class.continuing_fraction)).round().clamp(1.0, 100.0) as u32;
    let pattern = match (kind, key.is_sequential) {
        (0, true) => SectionPattern::Read,
        (0, false) => SectionPattern::RandomRead,
        (1, true) => SectionPattern::Write,
        (1, false) => SectionPattern::RandomWrite,
        (_, true) => SectionPattern::Trim,
        (_, false) => SectionPattern::RandomTrim,
    };
    let streams = runs.get(kind).and_then(|runs| runs.interleaved_streams).map_or(1, |streams| streams.p50);
    let workers = if key.is_sequential { streams.clamp(1, STREAMS_MAX) as u32 } else { 1 };
    let (fsync, fdatasync) = if key.is_write() { flush_intervals(class.flushes, class.requests) } else { (0, 0) };
    JobSection {
        name: name(class),
        pattern,
        sizes,
        random_percent,
        zipf_theta: region.zipf_theta,
        is_permuted: region.is_permuted,
        offset: region.offset,
        bytes: region.bytes,
        pace: SectionPace::Count { requests: 1 },
        workers,
        iodepth: 1,
        fsync,
        fdatasync,
        start_ns: 0,
        start_spread_ns: 0,
        runtime_ns: 0,
    }
}

/// Returns the index of reads, writes or discards.
pub(super) fn kind(class: &LoadClass) -> usize {
    match class.key {
        key if key.is_read() => 0,
        key if key.is_write() => 1,
        _ => 2,
    }
}

fn name(class: &LoadClass) -> String {
    let key = class.key;
    let words = [
        (key.is_sync, "sync"),
        (key.is_large, "large"),
        (key.is_sequential, "sequential"),
        (!key.is_sequential && !key.is_trim(), "random"),
    ];
    let mut name: String = words.iter().filter(|(has, _)| *has).map(|(_, word)| format!("{word}-")).collect();
    name.push_str(["reads", "writes", "discards"][kind(class)]);
    name
}

/// Returns the writes between two `fsync` and between two `fdatasync` that together make the flushes. Where both are
/// due, one is made.
fn flush_intervals(flushes: u64, writes: u64) -> (u32, u32) {
    /// Greatest interval of two that are combined.
    const BOTH_MAX: u32 = 24;
    if flushes == 0 || writes == 0 {
        return (0, 0);
    }
    let wanted = (flushes as f64 / writes as f64).min(1.0);
    let single = (1.0 / wanted).round().clamp(1.0, 1e9) as u32;
    let error = |rate: f64| (rate / wanted - 1.0).abs();
    let mut best = ((0, single), error(1.0 / f64::from(single)));
    for a in 2..=BOTH_MAX {
        for b in a + 1..=BOTH_MAX {
            let both = f64::from(a / gcd(a, b) * b);
            let found = error(1.0 / f64::from(a) + 1.0 / f64::from(b) - 1.0 / both);
            // Two intervals have to be clearly better than one.
            if found + 0.01 < best.1 {
                best = ((a, b), found);
            }
        }
    }
    best.0
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns a depth that does not limit an open loop on a slower device, for requests that had a greatest depth.
fn depth(class: &LoadClass, requests: u64) -> u32 {
    let wanted = requests.clamp(1, DEPTH_MAX).next_power_of_two();
    let buffers = (BUFFER_BYTES / u64::from(class.sizes.max_bytes())).max(16);
    wanted.min(buffers).clamp(1, DEPTH_MAX) as u32
}

/// When a class issues requests.
struct Schedule {
    parts: Vec<SchedulePart>,
    /// Number of phases that are averaged with others.
    averaged: u64,
}

/// An interval with requests.
#[derive(Clone, Copy, Debug)]
struct SchedulePart {
    begin_ns: u64,
    end_ns: u64,
    /// Requests per second of the trace.
    rate: f64,
    /// Batches instead of a rate: requests, and the time from one to the next in nanoseconds.
    batches: Option<(u32, u64)>,
}

impl SchedulePart {
    fn new(begin_ns: u64, end_ns: u64, rate: f64) -> Self {
        Self { begin_ns, end_ns, rate, batches: None }
    }

    fn requests(&self) -> f64 {
        self.rate * (self.end_ns.saturating_sub(self.begin_ns) as f64 / 1e9)
    }
}

impl Schedule {
    /// Returns the schedule of a class in at most `parts_max` parts.
    fn new(class: &LoadClass, runtime_ns: u64, parts_max: usize) -> Self {
        let mut phases_max = 4 * parts_max + 1;
        let mut is_first = true;
        loop {
            let (phases, averaged) = class.series.phases(runtime_ns, phases_max);
            let mut parts = parts(&phases, runtime_ns);
            let has_base = parts.len() > 1 && parts[0].end_ns == runtime_ns && parts[1].begin_ns < runtime_ns;
            if parts.len() > parts_max && has_base {
                join_adjacent(&mut parts);
            }
            if parts.len() <= parts_max && averaged == 0 {
                return Self { parts, averaged };
            }
            // Bursts at equal intervals need no part each.
            if std::mem::take(&mut is_first)
                && let Some(parts) = periodic(&class.series.phases(runtime_ns, usize::MAX).0, runtime_ns)
                && parts.len() <= parts_max
            {
                return Self { parts, averaged: 0 };
            }
            if parts.len() <= parts_max || phases_max <= 1 {
                return Self { parts, averaged };
            }
            phases_max = phases_max.min(phases.len()) * 15 / 16;
        }
    }
}

/// Joins parts of which one begins where the other ends, except a base that spans them.
fn join_adjacent(parts: &mut Vec<SchedulePart>) {
    parts.dedup_by(|part, before| {
        let is_adjacent = part.begin_ns == before.end_ns;
        if is_adjacent {
            let requests = before.requests() + part.requests();
            before.end_ns = part.end_ns;
            before.rate = requests / (before.end_ns.saturating_sub(before.begin_ns).max(1) as f64 / 1e9);
        }
        is_adjacent
    });
}

/// Returns a part for each phase, or a base with parts for what is above it where these are fewer.
fn parts(phases: &[Phase], runtime_ns: u64) -> Vec<SchedulePart> {
    let each = |phases: &[&Phase], base: f64| -> Vec<SchedulePart> {
        let part = |phase: &&Phase| SchedulePart::new(phase.begin_ns, phase.end_ns, phase.rate_per_s() - base);
        phases.iter().map(part).collect()
    };
    let used: Vec<&Phase> = phases.iter().filter(|phase| phase.requests > 0).collect();
    if used.len() <= 3 {
        return each(&used, 0.0);
    }
    let quantile = low_rate(phases);
    let (low, high): (Vec<&Phase>, Vec<&Phase>) =
        phases.iter().partition(|phase| phase.rate_per_s() <= LOW_MAX * quantile);
    let time = |phases: &[&Phase]| phases.iter().map(|phase| phase.end_ns - phase.begin_ns).sum::<u64>() as f64;
    // Phases that are far below the base would get too many requests.
    let below: Vec<&Phase> = low.iter().copied().filter(|phase| phase.rate_per_s() < quantile / LOW_MAX).collect();
    let requests = low.iter().map(|phase| phase.requests).sum::<u64>() as f64;
    if requests == 0.0 || high.len() + 1 >= used.len() || time(&below) > BELOW_MAX * runtime_ns as f64 {
        return each(&used, 0.0);
    }
    let base = requests / (time(&low).max(1.0) / 1e9);
    std::iter::once(SchedulePart::new(0, runtime_ns, base)).chain(each(&high, base)).collect()
}

/// Returns the rate that a quarter of the time has at most.
fn low_rate(phases: &[Phase]) -> f64 {
    let mut rates: Vec<(f64, u64)> =
        phases.iter().map(|phase| (phase.rate_per_s(), phase.end_ns - phase.begin_ns)).collect();
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut left = rates.iter().map(|rate| rate.1).sum::<u64>() / 4;
    let at = rates.iter().find(|rate| {
        let is_there = rate.1 > left;
        left = left.saturating_sub(rate.1);
        is_there
    });
    at.map_or(0.0, |rate| rate.0)
}

/// Returns a base and batches if phases are bursts of one kind at equal intervals.
///
/// Each burst is made of several batches, each of which a section of its own repeats.
fn periodic(phases: &[Phase], runtime_ns: u64) -> Option<Vec<SchedulePart>> {
    /// Least number of bursts, and greatest coefficient of variation of their intervals.
    const BURSTS_MIN: usize = 8;
    const VARIATION_MAX: f64 = 0.1;
    /// Batches of a burst, and the time from one to the next in nanoseconds.
    const BATCHES_MAX: u64 = 8;
    const BATCH_NS: u64 = 5_000_000;
    let requests: u64 = phases.iter().map(|phase| phase.requests).sum();
    let mean = requests as f64 / (runtime_ns as f64 / 1e9);
    let (high, low): (Vec<&Phase>, Vec<&Phase>) = phases.iter().partition(|phase| phase.rate_per_s() > 1.5 * mean);
    if high.len() < BURSTS_MIN {
        return None;
    }
    let low_time: u64 = low.iter().map(|phase| phase.end_ns - phase.begin_ns).sum();
    let base = low.iter().map(|phase| phase.requests).sum::<u64>() as f64 / (low_time.max(1) as f64 / 1e9);
    let middle = |phase: &&Phase| u64::midpoint(phase.begin_ns, phase.end_ns) as f64;
    let intervals: Vec<f64> = high.windows(2).map(|pair| middle(&pair[1]) - middle(&pair[0])).collect();
    let interval = intervals.iter().sum::<f64>() / intervals.len() as f64;
    let variance = intervals.iter().map(|other| (other - interval).powi(2)).sum::<f64>() / intervals.len() as f64;
    if variance.sqrt() > VARIATION_MAX * interval {
        return None;
    }
    let time: u64 = high.iter().map(|phase| phase.end_ns - phase.begin_ns).sum();
    let duration = time as f64 / high.len() as f64;
    let in_bursts = high.iter().map(|phase| phase.requests).sum::<u64>() as f64 - base * time as f64 / 1e9;
    let of_burst = in_bursts / high.len() as f64;
    let batches = ((duration as u64).div_ceil(BATCH_NS)).clamp(1, BATCHES_MAX).min(of_burst as u64);
    let of_batch = (of_burst / batches.max(1) as f64).round() as u32;
    if batches == 0 || of_batch == 0 || f64::from(of_batch) > DEPTH_MAX as f64 / 2.0 {
        return None;
    }
    let first = high[0].begin_ns as f64;
    let batch = |number: u64| SchedulePart {
        begin_ns: (first + duration * (number as f64 + 0.5) / batches as f64) as u64,
        end_ns: runtime_ns,
        rate: f64::from(of_batch) * 1e9 / interval,
        batches: Some((of_batch, interval as u64)),
    };
    let base_part = (base > 0.0).then(|| SchedulePart::new(0, runtime_ns, base));
    Some(base_part.into_iter().chain((0..batches).map(batch)).collect())
}

/// Returns the sections of the parts of a class.
fn of_parts(class: &LoadClass, region: &Region, parts: &[SchedulePart]) -> Vec<JobSection> {
    let scale = class.job_requests() / class.profile.totals.requests.total().max(1) as f64;
    let requests: f64 = parts.iter().map(SchedulePart::requests).sum();
    let base = base(class, region);
    // Where a stream does not begin again, each part goes on where the one before ends.
    let goes_on =
        parts.len() > 1 && class.key.is_sequential && class.bytes as f64 <= ONE_PASS_MAX * region.bytes as f64;
    let mut before = 0.0;
    let part = |(number, part): (usize, &SchedulePart)| {
        let name = if parts.len() == 1 { base.name.clone() } else { format!("{}-{}", base.name, number + 1) };
        let all = (part.requests() * scale).round().max(1.0) as u64;
        let requests_max = (parts.len() > 1).then_some(all);
        let (pace, iodepth) = match part.batches {
            Some((requests, interval_ns)) => {
                (SectionPace::Batches { requests, interval_ns }, depth(class, u64::from(requests) * 2))
            }
            None => pace(class, part.rate * scale, requests_max),
        };
        let mut section = JobSection {
            name,
            pace,
            iodepth,
            start_ns: part.begin_ns,
            runtime_ns: part.end_ns.saturating_sub(part.begin_ns),
            ..base.clone()
        };
        if goes_on {
            let unit = u64::from(class.sizes.max_bytes()).next_multiple_of(4096);
            let place = |before: f64| (region.bytes as f64 * before / requests.max(1.0)) as u64 / unit * unit;
            let (begin, end) = (place(before), place(before + part.requests()));
            section.offset = region.offset + begin;
            section.bytes = (end - begin).max(unit * u64::from(base.workers));
        }
        before += part.requests();
        section
    };
    parts.iter().enumerate().map(part).collect()
}

/// Returns pace and depth at a rate per second, for a number of requests or as long as the job runs.
fn pace(class: &LoadClass, rate: f64, requests_max: Option<u64>) -> (SectionPace, u32) {
    let variation = class.gaps.local_variation().unwrap_or(0.0);
    let batch = class.gaps.batch_requests();
    let is_batched = variation > BATCHES_MIN && batch >= BATCH_REQUESTS_MIN && rate <= BATCHES_RATE_MAX;
    if is_batched && !class.key.is_sequential && requests_max.is_none() {
        let requests = batch.round().min(DEPTH_MAX as f64 / 2.0);
        let interval_ns = (1e9 * requests / rate) as u64;
        let depth = depth(class, (requests as u64 * 2).max(DEPTH_MIN));
        if u64::from(depth) >= requests as u64 {
            return (SectionPace::Batches { requests: requests as u32, interval_ns }, depth);
        }
    }
    let mut per_s = [0.0; 3];
    per_s[kind(class)] = rate;
    let deepest = class.profile.depth.as_ref().map_or(1, |depth| depth.depth_at_issue.max);
    let depth = depth(class, deepest.saturating_mul(4).clamp(DEPTH_MIN, DEPTH_MAX));
    (SectionPace::Rate { per_s, is_poisson: variation >= POISSON_MIN, requests_max }, depth)
}

/// Joins random reads and random writes of the same bytes: so both have the same hot blocks.
fn join_mixed(sections: &mut Vec<JobSection>) {
    let find = |sections: &[JobSection], pattern| sections.iter().position(|section| section.pattern == pattern);
    let Some(reads) = find(sections, SectionPattern::RandomRead) else { return };
    let Some(writes) = find(sections, SectionPattern::RandomWrite) else { return };
    let (read, write) = (&sections[reads], &sections[writes]);
    let (
        SectionPace::Rate { per_s: [reads_per_s, ..], is_poisson, requests_max: None },
        SectionPace::Rate { per_s: [_, writes_per_s, _], is_poisson: other, requests_max: None },
    ) = (read.pace, write.pace)
    else {
        return;
    };
    let same = |a: &JobSection, b: &JobSection| {
        (a.offset, a.bytes, a.start_ns, a.runtime_ns, a.is_permuted)
            == (b.offset, b.bytes, b.start_ns, b.runtime_ns, b.is_permuted)
    };
    // Reads that follow a write with a flush would be followed by a flush each.
    if !same(read, write) || is_poisson != other || write.fsync + write.fdatasync > 0 {
        return;
    }
    let [read_sizes, write_sizes] = [read.sizes[0].clone(), write.sizes[1].clone()];
    let percent = (100.0 * reads_per_s / (reads_per_s + writes_per_s)).round() as u32;
    let joined = JobSection {
        name: "random-reads-and-writes".to_owned(),
        pattern: SectionPattern::RandomReadWrite(percent),
        sizes: [read_sizes, write_sizes, Vec::new()],
        random_percent: [read.random_percent[0], write.random_percent[1], 100],
        zipf_theta: if reads_per_s >= writes_per_s { read.zipf_theta } else { write.zipf_theta },
        pace: SectionPace::Rate { per_s: [reads_per_s, writes_per_s, 0.0], is_poisson, requests_max: None },
        iodepth: read.iodepth.max(write.iodepth),
        ..read.clone()
    };
    sections[reads] = joined;
    sections.remove(writes);
}

//! Sections of an open loop: rates, and their phases.

use super::backlog::{Backlog, MeanRates};
use super::bursts::{BatchRule, Batches};
use super::class::LoadClass;
use super::episodes::{BurstPlan, burst_parts};
use super::layout::Region;
use super::phases::PhaseSeries;
use super::schedule::{BATCH_MAX, Schedule, SchedulePart};
use super::section::{JobSection, SectionPace, SectionPattern};

/// Maximum number of sections.
const SECTIONS_MAX: usize = 64;
/// Maximum number of sections without bursts, where bursts have sections of their own.
const LONE_SECTIONS_MAX: usize = 24;
/// Local variation of gaps above which arrivals are random rather than even.
const POISSON_MIN: f64 = 0.5;
/// Local variation above which arrivals come in batches, and the least mean number of requests in one.
const BATCHES_MIN: f64 = 1.4;
const BATCH_REQUESTS_MIN: f64 = 3.0;
/// Greatest rate at which batches can be told from a high rate, in requests per second.
const BATCHES_RATE_MAX: f64 = 3_000.0;
/// Range of the queue depth, and the memory of all buffers of a section in bytes.
const DEPTH_MIN: u64 = 64;
const DEPTH_MAX: u64 = 8192;
const BUFFER_BYTES: u64 = 256 << 20;
/// Greatest sum of all depths (Linux permits 65,536), and of all buffers in bytes.
const DEPTHS_MAX: u64 = 60_000;
const BUFFERS_BYTES: u64 = 4 << 30;
/// Greatest number of interleaved streams.
const STREAMS_MAX: u64 = 16;
/// Greatest ratio of the bytes to the footprint of a stream that does not begin again.
const ONE_PASS_MAX: f64 = 1.1;
/// Greatest deviation of the end of a part with a number of requests, as a fraction of the duration of the job: parts
/// that may deviate more have a duration instead.
const END_DEVIATION_MAX: f64 = 0.002;

/// The sections of a job, and what they leave out.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenSections {
    pub(super) sections: Vec<JobSection>,
    /// Number of phases that are averaged.
    pub(super) averaged: u64,
    /// Number of bursts that are repeated at equal intervals.
    pub(super) repeated: u64,
}

/// Returns the sections of classes of which all requests are issued at one instant.
pub(super) fn sections_at_once(classes: &[LoadClass], regions: &[Region]) -> Vec<JobSection> {
    classes.iter().zip(regions).map(|(class, region)| at_once(class, region)).collect()
}

/// Classes with their regions.
#[derive(Clone, Copy)]
pub(super) struct OpenLoad<'a> {
    pub(super) classes: &'a [LoadClass],
    pub(super) regions: &'a [Region],
    pub(super) runtime_ns: u64,
    /// Waits of the trace before limits.
    pub(super) waits: &'a [Backlog],
}

/// Parts of each class that are not in bursts, and the batches of each class that has bursts.
pub(super) struct BurstyLoad {
    parts: Vec<Vec<SchedulePart>>,
    averaged: u64,
    batches: Vec<Option<Batches>>,
}

impl OpenLoad<'_> {
    /// Returns sections with phases for all requests.
    pub(super) fn sections(&self) -> OpenSections {
        let series: Vec<&PhaseSeries> = self.classes.iter().map(|class| &class.series).collect();
        let (parts, averaged) = self.phases(&series, SECTIONS_MAX);
        OpenSections { sections: self.of_all_parts(parts), averaged, repeated: 0 }
    }

    /// Finds the bursts; `None` if there are none.
    pub(super) fn bursty(&self, rule: BatchRule) -> Option<BurstyLoad> {
        let batches: Vec<Option<Batches>> =
            self.classes.iter().map(|class| class.batches(rule, self.runtime_ns)).collect();
        batches.iter().any(Option::is_some).then(|| {
            let pairs = self.classes.iter().zip(&batches);
            let series: Vec<&PhaseSeries> =
                pairs.map(|(class, batches)| batches.as_ref().map_or(&class.series, |batches| &batches.lone)).collect();
            let (mut parts, averaged) = self.phases(&series, LONE_SECTIONS_MAX);
            for (parts, batches) in parts.iter_mut().zip(&batches) {
                let size = batches.as_ref().and_then(|batches| batches.lone_size);
                parts.iter_mut().for_each(|part| part.size = size);
            }
            BurstyLoad { parts, averaged, batches }
        })
    }

    pub(super) fn with_bursts(&self, load: &BurstyLoad, plan: &BurstPlan) -> OpenSections {
        let mut parts = load.parts.clone();
        let (mut repeated, all) = (0, load.batches.iter().flatten().map(Batches::requests).sum::<u64>());
        for (batches, parts) in load.batches.iter().zip(&mut parts) {
            let Some(batches) = batches else { continue };
            let fraction = batches.requests() as f64 / all.max(1) as f64;
            let placed_parts = (plan.placed_parts as f64 * fraction).round() as usize;
            let own = BurstPlan { placed_parts, ..*plan };
            let (found, of_class) = burst_parts(&batches.bursts(plan.multiple), &own, self.runtime_ns);
            parts.extend(found);
            repeated += of_class;
        }
        OpenSections { sections: self.of_all_parts(parts), averaged: load.averaged, repeated }
    }

    /// Returns the phases of each class in at most `parts_max` parts together, and how many are averaged.
    fn phases(&self, series: &[&PhaseSeries], parts_max: usize) -> (Vec<Vec<SchedulePart>>, u64) {
        let schedule = |at: usize, most| Schedule::new(series[at], self.runtime_ns, most);
        let mut plans: Vec<(usize, Schedule)> = (0..series.len()).map(|at| (at, schedule(at, parts_max))).collect();
        // Classes that need few sections leave the rest to the others.
        plans.sort_by_key(|(at, schedule)| (schedule.parts.len(), *at));
        let (mut left, mut averaged) = (parts_max, 0);
        let classes_left = (1..=plans.len()).rev();
        for ((at, found), classes_left) in plans.iter_mut().zip(classes_left) {
            let most = (left / classes_left).max(1);
            if found.parts.len() > most {
                *found = schedule(*at, most);
            }
            left = left.saturating_sub(found.parts.len());
            averaged += found.averaged;
        }
        plans.sort_by_key(|(at, _)| *at);
        (plans.into_iter().map(|(_, schedule)| schedule.parts).collect(), averaged)
    }

    fn of_all_parts(&self, parts: Vec<Vec<SchedulePart>>) -> Vec<JobSection> {
        let of_class = |(at, parts): (usize, Vec<SchedulePart>)| self.of_parts(at, parts);
        let mut sections = parts.into_iter().enumerate().flat_map(of_class).collect();
        join_mixed(&mut sections);
        limit_depths(&mut sections);
        sections
    }

    /// Returns how long requests wait at the lowest limit above the rate of the trace, in nanoseconds.
    fn longest_wait_ns(&self) -> u64 {
        let above = self.waits.iter().find(|wait| wait.is_above(self.mean_rates()));
        above.map_or(0, |wait| wait.p99_ns.saturating_mul(2))
    }

    pub(super) fn requests(&self) -> u64 {
        self.classes.iter().map(|class| class.profile.totals.requests.total()).sum()
    }

    pub(super) fn mean_rates(&self) -> MeanRates {
        let bytes: u64 = self.classes.iter().map(|class| class.profile.totals.bytes.total()).sum();
        let per_s = |count: u64| count as f64 / (self.runtime_ns.max(1) as f64 / 1e9);
        MeanRates { requests_per_s: per_s(self.requests()), bytes_per_s: per_s(bytes) }
    }
}

/// Halves the greatest depths until all sections together stay within the limit of Linux and a bound of memory.
fn limit_depths(sections: &mut [JobSection]) {
    let depth = |section: &JobSection| u64::from(section.iodepth) * u64::from(section.workers.max(1));
    let bytes = |section: &JobSection| {
        let largest = section.sizes.iter().flatten().map(|size| u64::from(size.0)).max().unwrap_or(0);
        depth(section) * largest
    };
    for (most, measure) in [(DEPTHS_MAX, &depth as &dyn Fn(&JobSection) -> u64), (BUFFERS_BYTES, &bytes)] {
        while sections.iter().map(measure).sum::<u64>() > most {
            let deepest =
                sections.iter_mut().filter(|section| section.iodepth > 16).max_by_key(|section| measure(section));
            let Some(deepest) = deepest else { break };
            deepest.iodepth /= 2;
        }
    }
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

impl OpenLoad<'_> {
    /// Returns the sections of the parts of a class.
    fn of_parts(&self, at: usize, mut parts: Vec<SchedulePart>) -> Vec<JobSection> {
        let (class, region) = (&self.classes[at], &self.regions[at]);
        parts.retain(|part| part.requests() > 0.0);
        parts.sort_by_key(|part| part.begin_ns);
        let scale = class.job_requests() / class.profile.totals.requests.total().max(1) as f64;
        let requests: f64 = parts.iter().map(SchedulePart::requests).sum();
        let base = base(class, region);
        // Where a stream does not begin again, each part goes on where the one before ends.
        let goes_on =
            parts.len() > 1 && class.key.is_sequential && class.bytes as f64 <= ONE_PASS_MAX * region.bytes as f64;
        let mut before = 0.0;
        let part = |(number, part): (usize, &SchedulePart)| {
            let mut section = self.of_part(class, part, scale, &base);
            if parts.len() > 1 {
                section.name = format!("{}-{}", base.name, number + 1);
            }
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

    fn of_part(&self, class: &LoadClass, part: &SchedulePart, scale: f64, base: &JobSection) -> JobSection {
        let all = part.requests() * scale;
        let deviation_ns = part.duration_ns() as f64 / all.max(1.0).sqrt();
        let ends = part.requests.is_some() || deviation_ns <= END_DEVIATION_MAX * self.runtime_ns as f64;
        let requests_max = (part.duration_ns() < self.runtime_ns && ends).then_some(all.round().max(1.0) as u64);
        let has_flushes = base.fsync + base.fdatasync > 0;
        let pace = pace(class, part, scale, requests_max, has_flushes);
        // Where all requests of a slow device wait, sections that may not have more in flight would be overtaken.
        let waiting = part.rate * scale * (self.longest_wait_ns() as f64 / 1e9);
        let deepest = class.profile.depth.as_ref().map_or(1, |depth| depth.depth_at_issue.max);
        let at_once = match pace {
            SectionPace::Batches { requests, .. } => u64::from(requests) * 2,
            _ => deepest.saturating_mul(4).clamp(DEPTH_MIN, DEPTH_MIN << 3),
        };
        let in_flight = at_once.max(waiting as u64).min(requests_max.unwrap_or(u64::MAX));
        let workers = if part.batches.is_some() { 1 } else { base.workers };
        let (start_ns, runtime_ns) = (part.begin_ns, part.duration_ns());
        let mut section =
            JobSection { pace, workers, iodepth: depth(class, in_flight), start_ns, runtime_ns, ..base.clone() };
        if let Some(size) = part.size.filter(|_| class.divided == 0) {
            section.sizes[kind(class)] = class.sizes.with_mean(size).0;
        }
        section
    }
}

/// Returns the pace at a rate per second, for a number of requests or as long as the job runs.
///
/// Gaps are even in sections with flushes: fio 3.33 divides by zero where it draws the gap after a flush.
fn pace(
    class: &LoadClass,
    part: &SchedulePart,
    scale: f64,
    requests_max: Option<u64>,
    has_flushes: bool,
) -> SectionPace {
    if let Some((requests, interval_ns)) = part.batches {
        // Larger batches instead of more, which would last beyond the end.
        let requests = (f64::from(requests) * scale - 1e-6).ceil().max(1.0) as u32;
        return SectionPace::Batches { requests, interval_ns, requests_max };
    }
    let rate = part.rate * scale;
    let variation = class.gaps.local_variation().unwrap_or(0.0);
    let batch = class.gaps.batch_requests();
    let is_batched =
        !part.is_even && variation > BATCHES_MIN && batch >= BATCH_REQUESTS_MIN && rate <= BATCHES_RATE_MAX;
    if is_batched && !class.key.is_sequential && requests_max.is_none() {
        let requests = batch.round().min(BATCH_MAX);
        let interval_ns = (1e9 * requests / rate) as u64;
        if u64::from(depth(class, requests as u64)) >= requests as u64 {
            return SectionPace::Batches { requests: requests as u32, interval_ns, requests_max };
        }
    }
    let mut per_s = [0.0; 3];
    per_s[kind(class)] = rate;
    let is_poisson = !part.is_even && !has_flushes && variation >= POISSON_MIN;
    SectionPace::Rate { per_s, is_poisson, requests_max }
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

impl From<Vec<JobSection>> for OpenSections {
    fn from(sections: Vec<JobSection>) -> Self {
        Self { sections, ..Self::default() }
    }
}

//! Reads metrics in the text format of Prometheus: the counters of disks of node_exporter, and histograms of times of
//! storage, such as those of etcd.

use std::collections::{BTreeMap, BTreeSet};

use units::{Nanos, Problem};

use super::counters::{CounterSeries, of_increase};
use super::iostat::{CounterFormat, Iostat, IostatDevice, IostatReport};
use super::stated::{StatedDisk, StatedLoad, input, of_disks, result};
use super::text::{InputText, line_number};
use super::{Input, of_run};
use crate::{DataKind, DiskCounters, EtcdSyncs, JobResult, LatencyStats};

/// Reports whether a text contains metrics of storage.
pub(super) fn is_in(text: &InputText) -> bool {
    text.lines().any(|line| Sample::parse(line).is_some_and(|sample| sample.is_of_disk() || sample.is_of_histogram()))
}

/// A line of the format: `name{label="value"} 12.5 1767225600000`.
struct Sample<'a> {
    name: &'a str,
    labels: &'a str,
    value: f64,
    /// Time in milliseconds since 1970, which scrapes do not print.
    unix_ms: Option<u64>,
}

impl<'a> Sample<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let line = line.trim();
        if line.starts_with('#') {
            return None;
        }
        let (key, rest) = match line.find('{') {
            Some(open) => {
                let close = open + line[open..].find('}')?;
                (&line[..close], &line[close + 1..])
            }
            None => line.split_once(char::is_whitespace)?,
        };
        let (name, labels) = key.split_once('{').unwrap_or((key, ""));
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':');
        let mut words = rest.split_whitespace();
        let value: f64 = words.next()?.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)?;
        is_name.then(|| Self { name, labels, value, unix_ms: words.next().and_then(|time| time.parse().ok()) })
    }

    fn label(&self, name: &str) -> Option<&'a str> {
        let pair =
            self.labels.split(',').find_map(|pair| pair.trim().split_once('=').filter(|(key, _)| *key == name))?;
        pair.1.trim().strip_prefix('"')?.strip_suffix('"')
    }

    fn is_of_disk(&self) -> bool {
        self.name.starts_with("node_disk_") && self.label("device").is_some()
    }

    /// Reports whether it belongs to a histogram of times that storage decides.
    fn is_of_histogram(&self) -> bool {
        let of = ["fsync", "commit", "write", "read", "disk", "flush", "io_latency", "sync"];
        self.name.strip_suffix("_seconds_bucket").is_some_and(|name| of.iter().any(|word| name.contains(word)))
            && self.label("le").is_some()
    }
}

pub(super) fn read(text: &InputText) -> Result<Input, Problem> {
    if text.lines().any(|line| Sample::parse(line).is_some_and(|sample| sample.is_of_disk())) {
        return disks(text);
    }
    histograms(text)
}

/// One scrape of node_exporter.
#[derive(Default)]
struct Scrape {
    line: usize,
    now_ns: Option<u64>,
    boot_s: Option<f64>,
    disks: BTreeMap<String, DiskCounters>,
    /// Names and labels of the metrics so far.
    seen: BTreeSet<(String, String)>,
}

impl Scrape {
    fn take(&mut self, sample: &Sample<'_>) {
        match sample.name {
            "node_time_seconds" => self.now_ns = Some((sample.value * 1e9) as u64),
            "node_boot_time_seconds" => self.boot_s = Some(sample.value),
            _ => {}
        }
        let Some(device) = sample.label("device").filter(|_| sample.is_of_disk()) else { return };
        self.now_ns = sample.unix_ms.map(|ms| ms.saturating_mul(1_000_000)).or(self.now_ns);
        let disk = self.disks.entry(device.to_owned()).or_default();
        let (count, ms, sectors) = (sample.value as u64, (sample.value * 1e3) as u64, (sample.value / 512.0) as u64);
        match sample.name.trim_start_matches("node_disk_") {
            "reads_completed_total" => disk.read.requests = count,
            "reads_merged_total" => disk.read.merges = count,
            "read_bytes_total" => disk.read.sectors = sectors,
            "read_time_seconds_total" => disk.read.wait_ms = ms,
            "writes_completed_total" => disk.write.requests = count,
            "writes_merged_total" => disk.write.merges = count,
            "written_bytes_total" => disk.write.sectors = sectors,
            "write_time_seconds_total" => disk.write.wait_ms = ms,
            "io_now" => disk.in_flight = count,
            "io_time_seconds_total" => disk.busy_ms = ms,
            "io_time_weighted_seconds_total" => disk.weighted_ms = ms,
            "discards_completed_total" => disk.discard.get_or_insert_default().requests = count,
            "discards_merged_total" => disk.discard.get_or_insert_default().merges = count,
            "discarded_sectors_total" => disk.discard.get_or_insert_default().sectors = count,
            "discard_time_seconds_total" => disk.discard.get_or_insert_default().wait_ms = ms,
            "flush_requests_total" => disk.flush.get_or_insert_default().requests = count,
            "flush_requests_time_seconds_total" => disk.flush.get_or_insert_default().wait_ms = ms,
            _ => {}
        }
    }
}

impl Scrape {
    /// Computes the times of a kind whose metric was left out, by the time of all kinds.
    fn complete_times(&mut self) {
        let has = |name: &str| self.seen.iter().any(|(metric, _)| metric.strip_prefix("node_disk_") == Some(name));
        let (reads, writes) = (has("read_time_seconds_total"), has("write_time_seconds_total"));
        if reads == writes || !has("io_time_weighted_seconds_total") {
            return;
        }
        for disk in self.disks.values_mut() {
            let (known, missing) = if reads { (&disk.read, &mut disk.write) } else { (&disk.write, &mut disk.read) };
            missing.wait_ms = disk.weighted_ms.saturating_sub(known.wait_ms);
        }
    }
}

fn disks(text: &InputText) -> Result<Input, Problem> {
    // A scrape begins where a metric of a device is repeated.
    let mut scrapes = vec![Scrape::default()];
    for (index, line) in text.whole_lines() {
        let Some(sample) = Sample::parse(line) else { continue };
        let key = (sample.name.to_owned(), sample.labels.to_owned());
        let is_known = sample.name.starts_with("node_disk_") || sample.name.starts_with("node_time");
        if is_known && scrapes.last().is_some_and(|scrape| scrape.seen.contains(&key)) {
            scrapes.push(Scrape { line: index, ..Scrape::default() });
        }
        if let Some(scrape) = scrapes.last_mut() {
            scrape.take(&sample);
            if is_known {
                scrape.seen.insert(key);
            }
        }
    }
    scrapes.retain(|scrape| !scrape.disks.is_empty());
    scrapes.iter_mut().for_each(Scrape::complete_times);
    if scrapes.len() > 1 && scrapes.windows(2).all(|pair| pair[0].now_ns < pair[1].now_ns && pair[0].now_ns.is_some()) {
        let mut series = CounterSeries::default();
        for scrape in &scrapes {
            series.begin(scrape.now_ns.unwrap_or(0), "", scrape.line);
            for (name, counters) in &scrape.disks {
                if !series.add(name, counters, scrape.line) {
                    return Err(text.error(scrape.line, "", "too many devices", "select fewer with grep"));
                }
            }
        }
        let iostat = series.finish(CounterFormat::NodeExporter);
        return Ok(Input::Iostat(Iostat { notes: text.cut_note().into_iter().collect(), ..iostat }));
    }
    let Some(last) = scrapes.pop() else {
        return Err(text.cut_off(text.len(), "it contains no disk counter", "pass all `node_disk_*` metrics"));
    };
    let since_boot_s = last.now_ns.zip(last.boot_s).map(|(now_ns, boot_s)| now_ns as f64 / 1e9 - boot_s);
    if let Some(seconds) = since_boot_s.filter(|seconds| *seconds > 0.0) {
        let device = |(name, counters): (&String, &DiskCounters)| IostatDevice {
            name: name.clone(),
            line: line_number(last.line),
            ..of_increase(counters, seconds)
        };
        let devices = last.disks.iter().map(device).collect();
        let report = IostatReport { since_boot: true, seconds: Some(seconds), devices, ..IostatReport::default() };
        let format = CounterFormat::NodeExporter;
        let notes = text.cut_note().into_iter().collect();
        return Ok(Input::Iostat(Iostat { format, reports: vec![report], notes, ..Iostat::default() }));
    }
    if last.disks.values().all(|counters| counters.requests() == 0) {
        let what = "no disk has a request count";
        let remedy = "pass all `node_disk_*` metrics, including `node_disk_reads_completed_total` and \
             `node_disk_writes_completed_total`";
        return Err(text.cut_off(text.len(), what, remedy));
    }
    let disk = |(name, counters)| StatedDisk { name, counters };
    let note = "counted since boot, without the uptime: rates are unknown. Use a scrape with `node_time_seconds` and \
                `node_boot_time_seconds`, or two scrapes with timestamps";
    let notes: Vec<String> = std::iter::once(note.to_owned()).chain(text.cut_note()).collect();
    Ok(of_run(of_disks("node_exporter", last.disks.into_iter().map(disk), &notes)))
}

/// The buckets of a histogram: upper bounds in seconds, and the counts up to them.
#[derive(Default)]
struct TimeHistogram {
    bounds: Vec<(f64, f64)>,
    sum_s: Option<f64>,
    count: Option<f64>,
}

impl TimeHistogram {
    /// Returns the percentile, interpolated within its class as Prometheus does; `None` beyond the last bound, and in the
    /// first class of an excerpt, whose lower bound is unknown.
    fn percentile_ns(&self, percent: f64) -> Option<u64> {
        let total = self.total()?;
        let rank = total * percent / 100.0;
        let at = self.bounds.iter().position(|(_, count)| *count >= rank)?;
        if at == 0 && self.is_excerpt() {
            return None;
        }
        let (bound, count) = self.bounds[at];
        let (lower, below) = if at == 0 { (0.0, 0.0) } else { self.bounds[at - 1] };
        let share = if count > below { (rank - below) / (count - below) } else { 1.0 };
        bound.is_finite().then(|| ((lower + (bound - lower) * share) * 1e9).round() as u64)
    }

    /// Returns the number of all values; `None` for an excerpt without its end. A count below that of a class is cut off.
    fn total(&self) -> Option<f64> {
        /// Fraction of the values in the last class of an excerpt below which hardly any lie beyond it.
        const RARE: f64 = 1e-4;
        let (_, last) = *self.bounds.last()?;
        if !self.is_excerpt() {
            return Some(self.whole_count().unwrap_or(last));
        }
        let (_, before) = *self.bounds.iter().nth_back(1)?;
        (last - before <= RARE * last).then_some(last)
    }

    fn whole_count(&self) -> Option<f64> {
        let (_, last) = *self.bounds.last()?;
        self.count.filter(|count| *count >= last)
    }

    /// Reports whether neither a count nor a bucket up to infinity counts all values.
    fn is_excerpt(&self) -> bool {
        self.whole_count().is_none() && self.bounds.last().is_none_or(|(bound, _)| bound.is_finite())
    }

    /// Returns the upper bound of the first class in nanoseconds, if a percentile lies in it.
    fn first_class_ns(&self, percent: f64) -> Option<u64> {
        let (bound, count) = *self.bounds.first()?;
        (count >= self.total()? * percent / 100.0).then_some((bound * 1e9) as u64)
    }

    fn latency(&self) -> LatencyStats {
        const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];
        let total = self.total().unwrap_or(0.0);
        // Rarer values than one of all do not show.
        let shown = PERCENTILES.into_iter().filter(|percent| total * (100.0 - percent) >= 100.0 || *percent <= 99.0);
        LatencyStats {
            count: total as u64,
            mean_ns: self.sum_s.map_or(0.0, |sum| sum * 1e9 / total.max(1.0)),
            quoted: shown.filter_map(|percent| Some((percent, self.percentile_ns(percent)?))).collect(),
            ..LatencyStats::default()
        }
    }
}

fn histograms(text: &InputText) -> Result<Input, Problem> {
    let mut all: BTreeMap<(String, String), TimeHistogram> = BTreeMap::new();
    for (_, line) in text.whole_lines() {
        let Some(sample) = Sample::parse(line) else { continue };
        let others = || {
            let others =
                sample.labels.split(',').map(str::trim).filter(|pair| !pair.is_empty() && !pair.starts_with("le="));
            others.collect::<Vec<_>>().join(",")
        };
        if sample.is_of_histogram() {
            let name = sample.name.trim_end_matches("_bucket").to_owned();
            let bound = sample.label("le").map_or(f64::INFINITY, |le| le.parse().unwrap_or(f64::INFINITY));
            all.entry((name, others())).or_default().bounds.push((bound, sample.value));
        } else if let Some(name) = sample.name.strip_suffix("_sum") {
            if let Some(histogram) = all.get_mut(&(name.to_owned(), others())) {
                histogram.sum_s = Some(sample.value);
            }
        } else if let Some(histogram) =
            sample.name.strip_suffix("_count").and_then(|name| all.get_mut(&(name.to_owned(), others())))
        {
            histogram.count = Some(sample.value);
        }
    }
    let excerpt = |name: &String| format!("the histogram {name} has neither `_count` nor a bucket up to `+Inf`");
    let mut jobs = Vec::new();
    let (mut beyond, mut excerpts, mut assumed) = (Vec::new(), Vec::new(), Vec::new());
    for ((name, labels), mut histogram) in all {
        histogram.bounds.sort_by(|a, b| a.0.total_cmp(&b.0));
        let name = if labels.is_empty() { name } else { format!("{name}{{{labels}}}") };
        match histogram.total() {
            None => {
                excerpts.push(name);
                continue;
            }
            Some(total) if total <= 0.0 => continue,
            Some(_) => {}
        }
        let first_ns = histogram.first_class_ns(99.0).filter(|_| histogram.is_excerpt());
        if histogram.is_excerpt() {
            let most = first_ns.map_or_else(String::new, |ns| format!("; its p99 is at most {}", Nanos::new(ns)));
            assumed.push(format!("{}: its last bucket counts as the total{most}", excerpt(&name)));
        }
        if histogram.percentile_ns(99.0).is_none() && first_ns.is_none() {
            beyond.push(name.clone());
        }
        let latency = histogram.latency();
        let mut job = result(&name, 0, jobs.len(), &StatedLoad::default());
        job.declared.percentiles = latency.quoted_percents();
        let kind =
            [("read", DataKind::Read), ("write", DataKind::Write)].into_iter().find(|(word, _)| name.contains(word));
        match kind.filter(|_| !name.contains("sync") && !name.contains("commit")) {
            Some((_, kind)) => job.set_count(kind, latency.count, 0, latency),
            None => job.result.sync = latency,
        }
        jobs.push(job);
    }
    if jobs.is_empty() {
        let remedy = "pass the `_bucket`, `_sum` and `_count` lines of a histogram";
        let what = excerpts.first().map_or_else(|| "its histograms are empty".to_owned(), excerpt);
        return Err(text.cut_off(text.len(), what, remedy));
    }
    let mut notes = vec![
        "counted since the program started: rates are unknown. Percentiles are interpolated within histogram buckets, \
         as by histogram_quantile"
            .to_owned(),
    ];
    notes.extend(jobs.iter().filter_map(etcd_note));
    notes.extend(beyond.iter().map(|name| format!("the p99 of {name} is beyond the last bucket of its histogram")));
    notes.extend(assumed);
    notes.extend(excerpts.iter().map(|name| format!("{} and is ignored", excerpt(name))));
    notes.extend(text.cut_note());
    Ok(input("prometheus", jobs, &notes))
}

/// Judges a latency by what etcd asks for.
fn etcd_note(job: &JobResult) -> Option<String> {
    let syncs = EtcdSyncs::of_histogram(&job.name)?;
    let what = match syncs {
        EtcdSyncs::Log => "log syncs",
        EtcdSyncs::Backend => "backend commits",
    };
    let p99 = job.result.sync.percentile_ns(99.0).map(Nanos::new);
    let judged = p99.filter(|p99| *p99 < syncs.p99_allowed());
    let judged = judged.map_or_else(String::new, |p99| format!(": it is {p99}"));
    let most_ms = syncs.p99_allowed().get() / 1_000_000;
    Some(format!("etcd requires a p99 below {most_ms} ms for {what}{judged}"))
}

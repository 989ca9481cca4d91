//! Job files of sections.

use std::fmt::Write;

use super::section::{JobSection, SectionPace, SectionPattern};
use super::{JobLoop, SynthesizedJob};

/// Largest relative error of a whole number of requests per second; beyond it, the rate is in bytes.
const RATE_ERROR_MAX: f64 = 0.001;
/// The same where sizes vary, so that a rate in bytes excludes Poisson arrivals.
const VARYING_RATE_ERROR_MAX: f64 = 0.01;
/// Width of comments in columns.
const COLUMNS: usize = 100;

impl SynthesizedJob {
    /// Returns the job file. It begins with lines of comment, and uses a file of this name.
    #[must_use]
    pub fn job_file(&self, comment: &[String], file_name: &str) -> String {
        let mut text = String::new();
        for line in comment {
            push_comment(&mut text, line);
        }
        let file_name = file_name.replace(':', "\\:");
        let _ = write!(text, "\n[global]\nfilename={file_name}\nioengine=libaio\ndirect=1\n");
        for section in &self.sections {
            text.push('\n');
            section.write(&mut text, self.job_loop);
        }
        text
    }
}

/// Writes a comment with lines of at most [`COLUMNS`], without letters that end lines.
fn push_comment(text: &mut String, line: &str) {
    let line: String = line.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect();
    if line.chars().count() + 2 <= COLUMNS || line.starts_with(' ') {
        let _ = writeln!(text, "# {line}");
        return;
    }
    let mut columns = 0;
    for word in line.split(' ') {
        let length = word.chars().count();
        if columns > 0 && columns + 1 + length > COLUMNS {
            text.push('\n');
            columns = 0;
        }
        let before = if columns == 0 { "# " } else { " " };
        columns += before.len() + length;
        let _ = write!(text, "{before}{word}");
    }
    text.push('\n');
}

impl JobSection {
    fn write(&self, text: &mut String, job_loop: JobLoop) {
        let _ = writeln!(text, "[{}]\nrw={}", self.name, self.pattern.word());
        if let SectionPattern::RandomReadWrite(percent) = self.pattern {
            let _ = writeln!(text, "rwmixread={percent}");
        }
        self.write_sizes(text);
        self.write_place(text);
        self.write_pace(text);
        if self.fsync > 0 {
            let _ = writeln!(text, "fsync={}", self.fsync);
        }
        if self.fdatasync > 0 {
            let _ = writeln!(text, "fdatasync={}", self.fdatasync);
        }
        if self.workers > 1 {
            let _ = writeln!(text, "numjobs={}", self.workers);
        }
        if job_loop == JobLoop::Open || self.iodepth > 1 {
            let _ = writeln!(text, "iodepth={}", self.iodepth);
        }
        if self.start_spread_ns > 0 {
            let end = self.start_ns.saturating_add(self.start_spread_ns);
            let _ = writeln!(text, "startdelay={}us-{}", self.start_ns / 1000, microseconds(end));
        } else if self.start_ns > 0 {
            let _ = writeln!(text, "startdelay={}", time(self.start_ns));
        }
        if !self.pace.is_counted() {
            let _ = writeln!(text, "time_based\nruntime={}", time(self.runtime_ns));
        }
    }

    /// Returns the indices of the directions in use.
    fn used(&self) -> impl Iterator<Item = usize> + '_ {
        (0..3).filter(|kind| !self.sizes[*kind].is_empty())
    }

    /// Returns the values of all directions in use, separated by commas, or one value if they are equal.
    fn by_direction<T: PartialEq>(&self, value: impl Fn(usize) -> T, word: impl Fn(&T) -> String) -> String {
        let used: Vec<usize> = self.used().collect();
        let first = value(used[0]);
        if used.iter().all(|kind| value(*kind) == first) {
            return word(&first);
        }
        let all = (0..=used[used.len() - 1])
            .map(|kind| if used.contains(&kind) { word(&value(kind)) } else { String::new() });
        all.collect::<Vec<_>>().join(",")
    }

    fn write_sizes(&self, text: &mut String) {
        let is_single = self.used().all(|kind| self.sizes[kind].len() == 1);
        let sizes = if is_single {
            self.by_direction(|kind| self.sizes[kind][0].0, |bytes| size(u64::from(*bytes)))
        } else {
            let split = |sizes: &&Vec<(u32, u32)>| {
                let parts = sizes.iter().map(|(bytes, percent)| format!("{}/{percent}", size(u64::from(*bytes))));
                parts.collect::<Vec<_>>().join(":")
            };
            self.by_direction(|kind| &self.sizes[kind], split)
        };
        let _ = writeln!(text, "{}={sizes}", if is_single { "bs" } else { "bssplit" });
    }

    fn write_place(&self, text: &mut String) {
        let workers = u64::from(self.workers.max(1));
        let each = if self.pattern.is_random() { self.bytes } else { self.part_bytes() };
        if self.offset > 0 {
            let _ = writeln!(text, "offset={}", size(self.offset));
        }
        let _ = writeln!(text, "size={}", size(each));
        if workers > 1 && !self.pattern.is_random() {
            let _ = writeln!(text, "offset_increment={}", size(each));
        }
        if !self.pattern.is_random() {
            return;
        }
        if let Some(theta) = self.zipf_theta {
            let _ = writeln!(text, "random_distribution=zipf:{theta:.3}");
        }
        if !self.is_permuted {
            let _ = writeln!(text, "norandommap");
        }
        if self.used().any(|kind| self.random_percent[kind] < 100) {
            let percent = self.by_direction(|kind| self.random_percent[kind], u32::to_string);
            let _ = writeln!(text, "percentage_random={percent}");
        }
    }

    /// Returns the bytes of one of several sequential workers: whole blocks.
    fn part_bytes(&self) -> u64 {
        let largest = self.sizes.iter().flatten().map(|size| u64::from(size.0)).max().unwrap_or(4096);
        let unit = largest.next_multiple_of(4096);
        (self.bytes / u64::from(self.workers.max(1)) / unit * unit).max(unit)
    }

    fn write_pace(&self, text: &mut String) {
        match self.pace {
            SectionPace::Rate { per_s, is_poisson, requests_max } => {
                self.write_rate(text, per_s.map(|rate| rate / f64::from(self.workers.max(1))), is_poisson);
                if let Some(requests) = requests_max {
                    self.write_count(text, requests.div_ceil(u64::from(self.workers.max(1))));
                }
            }
            SectionPace::Batches { requests, interval_ns, requests_max } => {
                let _ = writeln!(text, "thinktime={}", microseconds(interval_ns));
                let _ = writeln!(text, "thinktime_blocks={requests}\nthinktime_blocks_type=issue");
                if let Some(requests) = requests_max {
                    self.write_count(text, requests);
                }
            }
            SectionPace::Think { think_ns } if think_ns >= 500 => {
                let _ = writeln!(text, "thinktime={}", microseconds(think_ns));
            }
            SectionPace::Think { .. } => {}
            SectionPace::Count { requests } => self.write_count(text, requests),
        }
    }

    /// Writes the rate of a worker, in requests per second where that is a whole number.
    ///
    /// Where sizes vary, fio and this program agree on two of four forms only: `rate_iops` with Poisson arrivals counts
    /// requests and `rate` with even ones counts bytes, but `rate_iops` with even arrivals counts the smallest size and
    /// `rate` with Poisson arrivals is divided by the smallest size in fio.
    fn write_rate(&self, text: &mut String, per_s: [f64; 3], is_poisson: bool) {
        let varies = self.used().any(|kind| self.sizes[kind].len() > 1);
        let error_max = if varies { VARYING_RATE_ERROR_MAX } else { RATE_ERROR_MAX };
        let is_whole = |rate: f64| rate >= 1.0 && (rate.round() / rate - 1.0).abs() <= error_max;
        let counts_requests = (is_poisson || !varies) && self.used().all(|kind| is_whole(per_s[kind]));
        let rates = if counts_requests {
            format!("rate_iops={}", self.by_direction(|kind| per_s[kind].round() as u64, u64::to_string))
        } else {
            let bytes = |kind: usize| (per_s[kind] * self.mean_bytes(kind)).round().max(1.0) as u64;
            format!("rate={}", self.by_direction(bytes, u64::to_string))
        };
        let _ = writeln!(text, "{rates}");
        if is_poisson && (counts_requests || !varies) {
            let _ = writeln!(text, "rate_process=poisson");
        }
    }

    /// Writes the number of requests of a worker. Their bytes may be more than its region has.
    fn write_count(&self, text: &mut String, requests: u64) {
        let largest = self.sizes.iter().flatten().map(|size| u64::from(size.0)).max().unwrap_or(4096);
        let bytes = requests.saturating_mul(largest).min(1 << 60);
        let _ = writeln!(text, "number_ios={requests}\nio_size={}", size(bytes));
    }

    fn mean_bytes(&self, kind: usize) -> f64 {
        self.sizes[kind].iter().map(|(bytes, percent)| f64::from(*bytes) * f64::from(*percent)).sum::<f64>() / 100.0
    }
}

/// Returns a size in the largest unit of which it is a whole number.
fn size(bytes: u64) -> String {
    for (shift, unit) in [(30, "g"), (20, "m"), (10, "k")] {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// Returns a time in whole seconds, milliseconds or microseconds.
fn time(ns: u64) -> String {
    let us = (ns / 1000).max(1);
    match us {
        us if us.is_multiple_of(1_000_000) => format!("{}s", us / 1_000_000),
        us if us >= 100_000 || us.is_multiple_of(1000) => format!("{}ms", us.div_ceil(1000)),
        us => format!("{us}us"),
    }
}

fn microseconds(ns: u64) -> String {
    format!("{}us", ns.div_ceil(1000).max(1))
}

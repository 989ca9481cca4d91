//! Reads results of other benchmarks of storage, each described by the patterns of its lines.

mod dd;
mod formats;
mod pattern;

use super::stated::{self, StatedLoad, mean_of, result};
use super::text::InputText;
use super::{InputResult, of_run};
use crate::{DataKind, JobResult, LatencyStats, Note};
use formats::{BenchFormat, FORMATS, Role};
use pattern::Field;
use units::Problem;

/// Reports whether a text contains such results.
pub(super) fn is_in(text: &InputText) -> bool {
    !results(text).0.is_empty()
}

/// Reads all results as jobs that ran one after another.
pub(super) fn read(text: &InputText) -> Result<Vec<InputResult>, Problem> {
    let (mut results, mut notes) = results(text);
    results.sort_by_key(|result| result.line);
    let line = results.first().map_or(0, |result| result.line);
    let programs: Vec<&str> = results.iter().map(|result| result.program).collect();
    let is_one = programs.iter().all(|program| *program == programs[0]);
    let (mut jobs, mut of_jobs): (Vec<JobResult>, Vec<Note>) = (Vec::new(), Vec::new());
    for result in results {
        let number = jobs.len();
        let (job, of_job) = result.job(number, is_one);
        of_jobs.extend(of_job.into_iter().map(|text| Note::of_result(&job.name, job.number, text)));
        jobs.push(job);
    }
    // What holds for several results is said once.
    let texts: Vec<String> = of_jobs.iter().map(|note| note.text.clone()).collect();
    let is_common = |text: &str| jobs.len() == 1 || texts.iter().filter(|other| *other == text).count() > 1;
    let (common, of_jobs): (Vec<Note>, Vec<Note>) = of_jobs.into_iter().partition(|note| is_common(&note.text));
    notes.extend(common.into_iter().map(|note| note.text));
    if jobs.len() > 1 {
        notes.push("each result is explained separately; they are not added up".to_owned());
    }
    let mut known: Vec<String> = Vec::new();
    for note in notes.into_iter().chain(text.cut_note()) {
        if !known.contains(&note) {
            known.push(note);
        }
    }
    let tool = if is_one { programs.first().copied().unwrap_or_default() } else { "several programs" };
    let mut run = stated::run(tool, jobs, &known);
    run.notes.extend(of_jobs);
    Ok(vec![InputResult { line: line + 1, input: of_run(run) }])
}

fn results(text: &InputText) -> (Vec<BenchResult>, Vec<String>) {
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    for format in &FORMATS {
        let of_format = format.read(text);
        if !of_format.is_empty() {
            notes.extend(format.note.map(str::to_owned));
            found.extend(of_format);
        }
    }
    let (of_dd, of_these) = dd::read(text);
    found.extend(of_dd);
    if !found.is_empty() {
        notes.extend(of_these);
    }
    (found, notes)
}

const MIB: f64 = 1024.0 * 1024.0;

/// Figures of a kind of operations, or of all kinds together.
#[derive(Clone, Debug, Default)]
struct BenchFigures {
    count: f64,
    iops: f64,
    bytes_per_second: f64,
    mean_s: f64,
    min_s: f64,
    max_s: f64,
    deviation_s: f64,
    /// Unit of the last printed digit of the rates.
    iops_step: f64,
    bytes_step: f64,
    /// Percent and seconds.
    percentiles: Vec<(f64, f64)>,
}

/// What a figure belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BenchKind {
    /// Reads and writes together, and syncs with programs that count them as operations.
    #[default]
    All,
    Read,
    Write,
    Sync,
}

/// A result, as far as its lines were read.
#[derive(Clone, Debug, Default)]
struct BenchResult {
    program: &'static str,
    name: String,
    line: usize,
    /// Last line of which it has something.
    taken_from: Option<usize>,
    /// Kind of the figures that follow.
    kind: BenchKind,
    figures: [BenchFigures; 4],
    depth: Option<f64>,
    workers: Option<f64>,
    block_bytes: Option<f64>,
    is_random: Option<bool>,
    is_direct: Option<bool>,
    read_share: Option<f64>,
    /// Whether reads and writes are not separated.
    is_untold: bool,
    seconds: Option<f64>,
    /// Operations of all kinds, of which the mean latency is.
    events: f64,
    /// Sum of the latencies of all of them, which has more digits than their mean.
    sum_s: f64,
    /// Rate at which requests were issued, if they were not issued back to back.
    pace: Option<f64>,
    pace_bytes_per_second: f64,
    /// Whether it makes one operation after the other, so that rate and mean latency follow from each other.
    is_serial: bool,
    /// Whether the queue was kept full, so that the mean latency follows from depth and rate.
    keeps_full: bool,
}

impl BenchResult {
    fn of(&self, kind: BenchKind) -> &BenchFigures {
        &self.figures[kind as usize]
    }

    fn of_mut(&mut self, kind: BenchKind) -> &mut BenchFigures {
        &mut self.figures[kind as usize]
    }

    /// Reports whether there is a rate or latency.
    fn has_figures(&self) -> bool {
        let is_rate =
            |f: &BenchFigures| f.iops > 0.0 || f.bytes_per_second > 0.0 || f.count > 0.0 && self.seconds.is_some();
        let transfers = [BenchKind::All, BenchKind::Read, BenchKind::Write];
        transfers.into_iter().any(|kind| is_rate(self.of(kind)))
            // One operation after the other: rate and latency follow from each other.
            || self.is_serial && self.figures.iter().any(|f| f.mean_s > 0.0 || f.iops > 0.0)
            || self.pace.is_some()
    }

    fn job(mut self, number: usize, is_one: bool) -> (JobResult, Vec<String>) {
        let mut notes = Vec::new();
        self.complete_rates();
        let rate = self.figures.iter().map(|figures| figures.iops).fold(0.0, f64::max);
        if self.pace.is_some_and(|pace| rate > 2.0 * pace) {
            notes.push(format!(
                "{} paused between requests: the rate is that of one request at a time without pauses",
                self.program
            ));
        }
        let workers = self.workers.unwrap_or(1.0);
        // One operation for each of an unknown number of workers.
        if self.workers.is_none() && !self.is_serial && self.depth == Some(1.0) {
            self.depth = None;
        }
        let in_flight = self.depth.map(|depth| depth * workers);
        self.share_latency(&mut notes);
        let slowest_s = self.figures.iter().filter(|of| of.deviation_s > 0.0).map(|of| of.max_s).fold(0.0, f64::max);
        if slowest_s > 0.0 {
            notes.push(format!("the slowest took {}", units::Nanos::new((slowest_s * 1e9).round() as u64)));
        }
        let [read, write] = [BenchKind::Read, BenchKind::Write].map(|kind| self.of(kind).clone());
        let is_used = |f: &BenchFigures| f.iops > 0.0 || f.bytes_per_second > 0.0;
        let rw = match (self.is_random, is_used(&read), is_used(&write)) {
            (None, ..) | (_, false, false) => String::new(),
            _ if self.is_untold => String::new(),
            (Some(is_random), true, true) => if is_random { "randrw" } else { "rw" }.to_owned(),
            (Some(is_random), reads, _) => {
                format!("{}{}", if is_random { "rand" } else { "" }, if reads { "read" } else { "write" })
            }
        };
        let integer = |value: f64| (value >= 1.0 && value < f64::from(u32::MAX)).then_some(value as u32);
        let load =
            StatedLoad { rw, depth: self.depth.and_then(integer), block_bytes: self.block_bytes.and_then(integer) };
        let program = self.program;
        let name = match (self.name.trim(), is_one) {
            ("", true) => self.described(&load.rw),
            ("", false) => format!("{program}: {}", self.described(&load.rw)),
            (name, true) => name.to_owned(),
            (name, false) => format!("{program}: {name}"),
        };
        let mut job = result(&name, u32::try_from(number).unwrap_or(u32::MAX), number, &load);
        job.declared.engine = program.to_owned();
        job.declared.queues = self.depth.is_some_and(|depth| depth > 1.0);
        job.declared.numjobs = integer(workers).unwrap_or(1);
        job.declared.in_flight_possible = in_flight.and_then(integer).map(u64::from);
        job.declared.keeps_queue_full = self.keeps_full;
        job.declared.in_flight_asked = job.declared.in_flight_possible;
        if let Some(is_direct) = self.is_direct {
            (job.declared.direct, job.declared.direct_told) = (is_direct, true);
        }
        for (kind, figures) in [(DataKind::Read, &read), (DataKind::Write, &write)] {
            if is_used(figures) {
                job.set_rate(kind, figures.iops, figures.bytes_per_second, self.seconds, figures.latency());
                job.declared.percentiles = figures.percentiles.iter().map(|(percent, _)| *percent).collect();
            }
        }
        let sync = self.of(BenchKind::Sync);
        if sync.mean_s > 0.0 {
            let count = sync.iops * self.seconds.unwrap_or(1000.0);
            job.result.sync = LatencyStats { count: count as u64, ..sync.latency() };
            job.declared.syncs = true;
        }
        (job, notes)
    }

    /// Names a result by its load.
    fn described(&self, rw: &str) -> String {
        let block = self.block_bytes.map(|bytes| match bytes {
            mib if mib >= MIB && mib % MIB == 0.0 => format!("{} MiB", mib / MIB),
            kib if kib >= 1024.0 && kib % 1024.0 == 0.0 => format!("{} KiB", kib / 1024.0),
            bytes => format!("{bytes} B"),
        });
        let depth = self.depth.filter(|depth| *depth > 1.0).map(|depth| format!("depth {depth}"));
        let workers = self.workers.filter(|workers| *workers > 1.0).map(|workers| format!("{workers} workers"));
        let is_used = |kind: BenchKind| self.of(kind).iops > 0.0 || self.of(kind).bytes_per_second > 0.0;
        let kind = match (rw, is_used(BenchKind::Read), is_used(BenchKind::Write)) {
            ("", ..) if self.is_untold => None,
            ("", true, false) => Some("reads"),
            ("", false, true) => Some("writes"),
            ("", ..) => None,
            (rw, ..) => Some(rw),
        };
        let kind = kind.map(str::to_owned);
        let parts: Vec<String> = [kind, block, depth, workers].into_iter().flatten().collect();
        if parts.is_empty() { self.program.to_owned() } else { parts.join(", ") }
    }

    /// Computes rates from counts and times, and bytes from rates and sizes.
    fn complete_rates(&mut self) {
        if self.is_serial && self.block_bytes.is_none() {
            self.block_bytes = self.figures.iter().find_map(BenchFigures::block_bytes);
        }
        let (seconds, block) = (self.seconds.unwrap_or(0.0), self.block_bytes.unwrap_or(0.0));
        let pace = self.pace.unwrap_or(0.0);
        if !self.figures.iter().any(|f| f.iops > 0.0 || f.mean_s > 0.0) && pace > 0.0 {
            let bytes_per_second = self.pace_bytes_per_second;
            *self.of_mut(self.kind) = BenchFigures { iops: pace, bytes_per_second, ..BenchFigures::default() };
        }
        for figures in &mut self.figures {
            if figures.count > 0.0 && seconds > 0.0 {
                figures.iops = figures.count / seconds;
            }
            if self.is_serial && figures.iops == 0.0 && figures.mean_s > 0.0 {
                figures.iops = 1.0 / figures.mean_s;
            }
            // One operation after the other, so that a product above 1 was rounded up.
            let is_rounded = (1.0..1.1).contains(&(figures.iops * figures.mean_s));
            if self.is_serial && figures.iops > 0.0 && (figures.mean_s == 0.0 || is_rounded) {
                figures.mean_s = 1.0 / figures.iops;
            }
            if figures.iops == 0.0 && figures.mean_s > 0.0 && block > 0.0 {
                figures.iops = figures.bytes_per_second / block;
            }
            // Of thousands of requests per second fewer digits are printed than of their bytes.
            let made = if block > 0.0 { figures.bytes_per_second / block } else { 0.0 };
            let is_finer = figures.bytes_step * figures.iops < figures.iops_step * figures.bytes_per_second;
            if is_finer && figures.mean_s == 0.0 && (made - figures.iops).abs() <= figures.iops_step {
                figures.iops = made;
            }
            // Programs round their MB/s, and count in units of their own. Others than these differ by more.
            let made = figures.iops * block;
            let is_near = figures.bytes_per_second == 0.0 || (0.8..1.2).contains(&(figures.bytes_per_second / made));
            if made > 0.0 && is_near {
                figures.bytes_per_second = made;
            }
        }
    }

    /// Distributes what is known of all kinds together.
    fn share_latency(&mut self, notes: &mut Vec<String>) {
        if self.events > 0.0 && self.sum_s > 0.0 && self.of(BenchKind::All).mean_s > 0.0 {
            self.of_mut(BenchKind::All).mean_s = self.sum_s / self.events;
        }
        let all = self.of(BenchKind::All).clone();
        let rate = |result: &Self| result.of(BenchKind::Read).iops + result.of(BenchKind::Write).iops;
        if rate(self) == 0.0 && (all.iops > 0.0 || all.bytes_per_second > 0.0) {
            self.is_untold = self.read_share.is_none();
            if self.is_untold {
                notes.push("reads and writes are not separated, so all count as reads".to_owned());
            }
            let reads = self.read_share.unwrap_or(1.0);
            for (kind, share) in [(BenchKind::Read, reads), (BenchKind::Write, 1.0 - reads)] {
                let figures = self.of_mut(kind);
                (figures.iops, figures.bytes_per_second) = (all.iops * share, all.bytes_per_second * share);
            }
        }
        let kinds = [BenchKind::Read, BenchKind::Write];
        if rate(self) > 0.0 && kinds.into_iter().all(|kind| self.of(kind).bytes_per_second == 0.0) {
            let bytes_of_each = all.bytes_per_second / rate(self);
            for kind in kinds {
                let figures = self.of_mut(kind);
                figures.bytes_per_second = figures.iops * bytes_of_each;
            }
        }
        let used = kinds.into_iter().filter(|kind| self.of(*kind).iops > 0.0).count();
        if kinds.into_iter().any(|kind| self.of(kind).mean_s > 0.0) || used == 0 {
            return;
        }
        let syncs = self.of(BenchKind::Sync).iops;
        let counted = self.seconds.filter(|seconds| *seconds > 0.0 && self.events > 0.0);
        let counted = counted.map(|seconds| self.events / seconds);
        // Some versions count no syncs among the events.
        let has_syncs = counted.is_none_or(|events| events > 1.02 * rate(self));
        if all.mean_s > 0.0 && syncs > 0.0 && has_syncs {
            let events = counted.unwrap_or_else(|| rate(self) + syncs);
            let in_flight = events * all.mean_s;
            notes.push(format!(
                "the mean latency of {:.3} ms covers reads, writes and syncs, {events:.0} per second or {in_flight:.2} \
                 in flight; no mean of reads and writes alone is printed",
                all.mean_s * 1e3
            ));
            return;
        }
        let of_each = BenchFigures { iops: 0.0, bytes_per_second: 0.0, count: 0.0, ..all };
        if of_each.mean_s == 0.0 {
            if self.keeps_full && self.depth.is_some() {
                notes.push(format!(
                    "{} keeps its queue full and prints no latency: the mean is depth / rate, by Little's law",
                    self.program
                ));
            }
            return;
        }
        if used > 1 {
            notes.push("for mixed reads and writes, the printed latency covers both".to_owned());
        }
        for kind in kinds {
            let figures = self.of_mut(kind);
            if figures.iops > 0.0 {
                *figures = BenchFigures {
                    iops: figures.iops,
                    bytes_per_second: figures.bytes_per_second,
                    count: figures.count,
                    ..of_each.clone()
                };
            }
        }
    }
}

impl BenchFigures {
    /// Returns the only power of two that agrees with both rates as the size of a request.
    fn block_bytes(&self) -> Option<f64> {
        let half = |step: f64| step / 2.0;
        let least = (self.bytes_per_second - half(self.bytes_step)) / (self.iops + half(self.iops_step));
        let most = (self.bytes_per_second + half(self.bytes_step)) / (self.iops - half(self.iops_step));
        let mut sizes = (9..=24).map(|power| f64::from(1 << power)).filter(|size| (least..=most).contains(size));
        sizes.next().filter(|_| sizes.next().is_none())
    }

    fn latency(&self) -> LatencyStats {
        let ns = |seconds: f64| (seconds * 1e9).round();
        LatencyStats {
            min_ns: ns(self.min_s) as u64,
            max_ns: ns(self.max_s) as u64,
            stddev_ns: ns(self.deviation_s),
            quoted: self.percentiles.iter().map(|(percent, seconds)| (*percent, ns(*seconds) as u64)).collect(),
            ..mean_of(1, self.mean_s * 1e9)
        }
    }
}

impl BenchResult {
    /// Reports whether the result already has a figure of a line.
    fn has_any_of(&self, fields: &[Field<'_>]) -> bool {
        let kind = fields.iter().find(|field| field.0 == "kind").map_or(self.kind, |field| BenchKind::named(field.2));
        fields.iter().any(|(name, _, _)| {
            let (kind, figure) =
                name.split_once('.').map_or((kind, *name), |(kind, figure)| (BenchKind::named(kind), figure));
            let figures = self.of(kind);
            match figure {
                "iops" => figures.iops > 0.0,
                "count" => figures.count > 0.0,
                "bw" => figures.bytes_per_second > 0.0,
                "mean" => figures.mean_s > 0.0,
                // The title of a kind that the result has.
                "kind" => fields.len() == 1 && (figures.iops > 0.0 || figures.bytes_per_second > 0.0),
                _ => false,
            }
        })
    }

    /// Takes the fields of a line; `false`, and no change, if one cannot be read.
    fn take(&mut self, fields: &[Field<'_>]) -> bool {
        let mut taken = self.clone();
        let mut percent = None;
        // Figures belong to the kind on their line.
        let is_kind = |field: &&Field<'_>| field.0 == "kind";
        for (name, unit, text) in fields.iter().filter(is_kind).chain(fields.iter().filter(|field| !is_kind(field))) {
            // A figure that does not exist, as reads of a test of writes.
            if matches!(*text, "N/A" | "-") {
                continue;
            }
            if taken.set(name, unit, text, &mut percent).is_none() {
                return false;
            }
        }
        *self = taken;
        true
    }

    fn set(&mut self, name: &'static str, unit: &str, text: &str, percent: &mut Option<f64>) -> Option<()> {
        let number = || pattern::quantity(text, unit);
        match name {
            "name" => text.clone_into(&mut self.name),
            "kind" => self.kind = BenchKind::named(text),
            "depth" => self.depth = Some(number()?),
            "jobs" => self.workers = Some(number()?),
            "block" => self.block_bytes = Some(pattern::block(text)?),
            "order" => self.is_random = Some(is_random(text)?),
            "random" => self.is_random = Some(true),
            "share" => self.read_share = Some(number()?),
            "writes" => self.read_share = Some(1.0 - number()?.clamp(0.0, 1.0)),
            "sum" => self.sum_s = number()?,
            "seconds" => self.seconds = Some(number()?),
            "events" => self.events = number()?,
            "pace" => self.pace = Some(number()?),
            "pace_bw" => self.pace_bytes_per_second = number()?,
            "percent" => *percent = Some(pattern::percent(text)?),
            "queueing" => self.depth = (text == "synchronous").then_some(1.0),
            "flags" => self.is_direct = Some(is_direct(text)),
            _ => {
                let (kind, figure) = match name.split_once('.') {
                    Some((kind, figure)) => (BenchKind::named(kind), figure),
                    None => (self.kind, name),
                };
                let value = number()?;
                let figures = self.of_mut(kind);
                match figure {
                    "iops" => (figures.iops, figures.iops_step) = (value, pattern::step(text, value)),
                    "count" => figures.count = value,
                    "bw" => (figures.bytes_per_second, figures.bytes_step) = (value, pattern::step(text, value)),
                    // YABS counts 1,000 KiB as a megabyte.
                    "kib_rate" => {
                        (figures.bytes_per_second, figures.bytes_step) = (value * 1.024, pattern::step(text, value));
                    }
                    "deviation" => figures.deviation_s = value,
                    "mean" => figures.mean_s = value,
                    "min" => figures.min_s = value,
                    "max" => figures.max_s = value,
                    _ => {
                        let percent = (*percent)?;
                        figures.percentiles.retain(|(known, _)| *known != percent);
                        figures.percentiles.push((percent, value));
                    }
                }
            }
        }
        Some(())
    }
}

impl BenchKind {
    /// Returns the kind of a word such as `reads`, `WRITE` or `written`.
    fn named(word: &str) -> Self {
        let word = word.to_ascii_lowercase();
        match (word.contains("read"), word.contains("writ"), word == "sync") {
            (true, false, _) => Self::Read,
            (false, true, _) => Self::Write,
            (.., true) => Self::Sync,
            _ => Self::All,
        }
    }
}

fn is_random(order: &str) -> Option<bool> {
    let order = order.to_ascii_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| order.starts_with(word));
    match (is(&["rnd", "rand"]), is(&["seq", "full seq"])) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// Reports whether flags are those of operations that bypass the page cache; 16384 is `O_DIRECT`.
fn is_direct(flags: &str) -> bool {
    matches!(flags, "disabled" | "16384" | "h" | "u" | "uw" | "hw") || flags.contains("direct")
}

impl BenchFormat {
    fn new_result(&self) -> BenchResult {
        BenchResult {
            program: self.program,
            depth: self.depth,
            workers: self.workers,
            is_serial: self.is_serial,
            keeps_full: self.keeps_full,
            is_random: self.is_random,
            ..BenchResult::default()
        }
    }

    /// Returns what holds for the result after another one.
    fn after(&self, result: &BenchResult) -> BenchResult {
        if self.keeps_settings {
            BenchResult { figures: Default::default(), name: String::new(), ..result.clone() }
        } else {
            self.new_result()
        }
    }

    /// Reads the results of a program.
    fn read(&self, text: &InputText) -> Vec<BenchResult> {
        let mut results: Vec<BenchResult> = Vec::new();
        let (mut draft, mut head) = (self.new_result(), String::new());
        for (index, line) in text.whole_lines() {
            let line = line.trim_start_matches([' ', '\t', '>', '#']).trim_end();
            for pattern in self.lines.iter().filter(|_| !line.is_empty()) {
                let Some(fields) = pattern::scan(pattern.words, line) else { continue };
                if !head.contains(pattern.under) {
                    continue;
                }
                if pattern.role == Role::Head {
                    head = line.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
                }
                // What the result has already belongs to another one.
                let is_again = draft.taken_from != Some(index) && draft.has_any_of(&fields);
                if (pattern.role == Role::Begins || is_again) && draft.has_figures() {
                    let next = self.after(&draft);
                    results.push(std::mem::replace(&mut draft, next));
                }
                if !draft.has_figures() {
                    draft.line = index;
                    if pattern.role == Role::Begins {
                        // Times of a test of something else, such as the processor.
                        draft.figures = Default::default();
                    }
                }
                if pattern.role != Role::Ends {
                    draft.taken_from = if draft.take(&fields) { Some(index) } else { draft.taken_from };
                    continue;
                }
                // What the last line says of the load is of this result alone.
                let mut ended = draft.clone();
                if !ended.take(&fields) {
                    continue;
                }
                if ended.has_figures() {
                    draft = self.after(&draft);
                    results.push(ended);
                }
                break;
            }
        }
        results.extend(draft.has_figures().then_some(draft));
        results
    }
}

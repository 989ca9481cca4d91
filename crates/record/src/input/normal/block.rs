//! Parser of the lines of one result.

use super::figures::{
    NormalLine, count, integer, percent, plain, rate, rounded, runtime, size, unit_bytes, unit_ns, without_remark,
};
use crate::fio;
use crate::input::is_result;
use crate::input::text::{Printed, line_number, printed};
use crate::{
    CpuUse, DataKind, DepthSearchRecord, DirectionResult, JobResult, LatencyShares, LatencyStats, Measured, Quote,
    Quoted, SampleRecord, SteadyRecord,
};
use units::Problem;

/// A result while it is read.
#[derive(Debug, Default)]
pub(super) struct NormalBlock {
    pub(super) result: JobResult,
    /// First line of the result.
    pub(super) begins: usize,
    /// Kind that latency lines belong to.
    kind: Option<DataKind>,
    /// Latency that percentile lines belong to, and the nanoseconds of their unit.
    percentiles: Option<(NormalLatency, f64)>,
    /// Whether reads and writes were reported as one.
    pub(super) mixed: bool,
    /// CPU time in user mode and in the kernel, in percent.
    cpu_percent: [f64; 2],
    /// Sum of the depths in percent, which exceeds 100 with syncs.
    depth_percent: f64,
    /// Kinds whose bytes follow from their rates, which are more exact than the printed sizes.
    bytes_by_rate: Vec<DataKind>,
    /// Whether the depth was at the end of a truncated line.
    depth_may_be_cut: bool,
    /// Whether its counts were read.
    counted: bool,
    /// Whether the result ended before the current line.
    over: bool,
    /// Kinds that were counted, and have no lines of their own.
    pub(super) without_lines: Vec<(DataKind, u64)>,
    /// Fraction of the bandwidth of a group that one of its jobs has, in percent.
    per_percent: Option<f64>,
    pub(super) workers: ResultWorkers,
}

/// Whether the number of workers of a result is known, which stands in its first line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ResultWorkers {
    #[default]
    Printed,
    /// By the samples of bandwidth, or the share of each job.
    Estimated,
    /// One is assumed for sums of times.
    Unknown,
}

/// How long a kind ran whose own lines are missing, in nanoseconds.
pub(super) enum KindRan {
    /// As the status of its group says, with its bytes.
    For {
        runtime_ns: u64,
        bytes: u64,
    },
    /// As long as the others.
    WithOthers,
    Unknown,
}

/// Latencies with lines of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NormalLatency {
    Submission,
    Service,
    Total,
    Sync,
}

impl NormalLatency {
    fn named(word: &str) -> Option<Self> {
        Some(match word {
            "slat" => Self::Submission,
            "clat" => Self::Service,
            "lat" => Self::Total,
            "sync" => Self::Sync,
            _ => return None,
        })
    }

    const fn quoted(self) -> Quoted {
        match self {
            Self::Submission => Quoted::SubmissionMeanNs,
            Self::Service => Quoted::ServiceMeanNs,
            Self::Total => Quoted::LatencyMeanNs,
            Self::Sync => Quoted::SyncMeanNs,
        }
    }
}

/// Reports whether a truncated line that ends in a number says what it is read for.
pub(super) fn may_end_in_number(text: &str) -> bool {
    text.starts_with("issued") && text.contains(" drop") || text.starts_with("latency")
}

/// Returns the name and process ID of the result that begins on a line.
pub(super) fn process(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(": (groupid=").filter(|_| is_result(text))?;
    Some((name, rest.split_once("pid=").map_or("", |(_, pid)| pid.split(':').next().unwrap_or(pid))))
}

impl NormalBlock {
    pub(super) fn begin(line: NormalLine<'_>) -> Result<Self, Problem> {
        let (name, rest) = line.text.split_once(": (groupid=").unwrap_or((line.text, ""));
        let (group, rest) = rest.split_once(", jobs=").unwrap_or((rest, ""));
        let (jobs, rest) = rest.split_once("): err=").unwrap_or((rest, ""));
        let error_digits = rest.trim_start().split([' ', ':', '(']).next().unwrap_or_default();
        let pid = rest.rsplit_once(": pid=").map_or("", |(_, pid)| pid.split(':').next().unwrap_or(pid));
        let result = JobResult {
            name: name.to_owned(),
            group: line.read(group, |text| text.parse().ok())?,
            workers: line.read(jobs, |text| text.parse().ok().filter(|jobs| *jobs > 0))?,
            error: line.read(error_digits, |text| text.parse().ok())?,
            pid: line.read(pid, |text| text.parse().ok())?,
            ..JobResult::default()
        };
        Ok(Self { result, begins: line.index, ..Self::default() })
    }

    /// Reads one line; unknown ones are ignored.
    pub(super) fn line(&mut self, line: NormalLine<'_>) -> Result<(), Problem> {
        let text = line.text;
        let word = text.split([' ', ':', '(']).next().unwrap_or_default();
        self.over |= self.is_repeated(word, text);
        if self.over {
            return Ok(());
        }
        if text.starts_with('|') {
            return self.percentile_cells(line);
        }
        self.percentiles = None;
        match word {
            "read" | "write" | "trim" | "mixed" if text.contains("IOPS=") || text.contains("iops=") => {
                self.transfers(line, word)
            }
            "slat" | "clat" | "lat" | "sync" => self.latency(line, word),
            "bw" if text.contains("min=") => self.samples(line, true),
            "iops" if text.contains("min=") => self.samples(line, false),
            "cpu" if text.contains("usr=") => self.processor(line),
            "IO" if text.starts_with("IO depths") => {
                let shares = classes(line)?;
                self.depth_percent = shares.iter().sum();
                self.result.result.depth = fio::shares_of(shares.into_iter());
                Ok(())
            }
            "submit" => classes(line).map(|shares| self.result.result.submit = fio::shares_of(shares.into_iter())),
            "complete" => classes(line).map(|shares| self.result.result.complete = fio::shares_of(shares.into_iter())),
            "issued" => self.counts(line),
            "errors" if text.contains("first_error=") => self.errors(line),
            "latency" if text.contains("depth=") => {
                let depth: u32 = line.figure("depth", |text| text.parse().ok())?;
                self.result.declared.iodepth = depth;
                // Since version 3 in nanoseconds.
                let target_ns: u64 = line.figure("target", |text| text.parse().ok()).unwrap_or(0);
                let percentile =
                    line.figure("percentile", |text| text.strip_suffix('%')?.parse().ok()).unwrap_or(100.0);
                self.result.depth_search = (target_ns > 0).then_some(DepthSearchRecord {
                    target_ns,
                    percentile,
                    depth,
                    is_met: true,
                    ..DepthSearchRecord::default()
                });
                self.depth_may_be_cut = line.is_last();
                Ok(())
            }
            "steadystate" => {
                self.result.steady = steady(line);
                Ok(())
            }
            "Description" => {
                let inside = text.split_once('[').and_then(|(_, rest)| rest.rsplit_once(']'));
                self.result.description = inside.map(|(inside, _)| inside.to_owned());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Reports whether a line repeats a throughput, as in a quotation after the result.
    fn is_repeated(&self, word: &str, text: &str) -> bool {
        let kind = DataKind::ALL.into_iter().find(|kind| kind.name() == word);
        let transfers = text.contains("IOPS=") || text.contains("iops=");
        kind.is_some_and(|kind| transfers && !self.mixed && self.measured().kind(kind).runtime_ns > 0)
    }

    fn direction(&mut self, kind: DataKind) -> &mut DirectionResult {
        self.result.result.kind_mut(kind)
    }

    fn quote(&mut self, line: NormalLine<'_>, what: Quoted, kind: Option<DataKind>, value: f64, step: f64) {
        self.result.quotes.push(Quote { what, kind, value, step, line: line_number(line.index), of: None });
    }

    /// Reads `read: IOPS=24.1k, BW=94.1MiB/s (98.7MB/s)(2823MiB/30001msec)`.
    fn transfers(&mut self, line: NormalLine<'_>, word: &str) -> Result<(), Problem> {
        let kind = DataKind::ALL.into_iter().find(|kind| kind.name() == word);
        if kind.is_none() && self.result.result.kinds().any(|(_, result)| result.runtime_ns > 0) {
            // With `unified_rw_reporting=both`, the kinds were reported before the mixed result.
            self.kind = None;
            return Ok(());
        }
        self.mixed |= kind.is_none();
        let kind = kind.unwrap_or(DataKind::Read);
        self.kind = Some(kind);
        let (iops, rates, bytes, runtime_ns) = match line.find("IOPS") {
            Some(_) => version_3(line)?,
            None => version_2(line)?,
        };
        self.result.declared.unit_base = u32::from(line.text.contains("bit/s"));
        self.quote(line, Quoted::Iops, Some(kind), iops.value, iops.step);
        for rate in rates.into_iter().flatten() {
            self.quote(line, Quoted::BytesPerSecond, Some(kind), rate.value, rate.step);
        }
        self.quote(line, Quoted::Bytes, Some(kind), bytes.value, bytes.step);
        self.quote(line, Quoted::RuntimeNs, Some(kind), runtime_ns.value, runtime_ns.step);
        let by_rate = bytes_by_rate(rates, bytes, runtime_ns.value / 1e9);
        self.bytes_by_rate.extend(by_rate.map(|_| kind));
        let direction = self.direction(kind);
        direction.bytes = rounded(by_rate.unwrap_or(bytes.value));
        direction.runtime_ns = rounded(runtime_ns.value);
        Ok(())
    }

    /// Reads a latency, the heading of its percentiles, or fractions of latencies by class.
    fn latency(&mut self, line: NormalLine<'_>, word: &str) -> Result<(), Problem> {
        let Some(which) = NormalLatency::named(word) else { return Ok(()) };
        let rest = line.text[word.len()..].trim_start();
        let head = rest.strip_prefix("percentiles").map(str::trim_start);
        let Some(inside) = head.unwrap_or(rest).strip_prefix('(') else { return Ok(()) };
        let Some((unit, behind)) = inside.split_once(')') else {
            return Err(line.error(inside, "the line is truncated before its unit"));
        };
        let factor = line.read(unit, unit_ns)?;
        if head.is_some() {
            self.percentiles = Some((which, factor));
            let kept = &mut self.result.declared.kept;
            match which {
                NormalLatency::Submission => kept.slat_percentiles = true,
                NormalLatency::Service => kept.clat_percentiles = true,
                NormalLatency::Total => kept.lat_percentiles = true,
                NormalLatency::Sync => {}
            }
            return Ok(());
        }
        if behind.contains('%') {
            return self.shares(line, unit, behind);
        }
        let mean = line.figure("avg", plain)?.times(factor);
        let stats = LatencyStats {
            count: 1,
            min_ns: rounded(line.figure("min", count)?.value * factor),
            max_ns: rounded(line.figure("max", count)?.value * factor),
            mean_ns: mean.value,
            stddev_ns: line.figure("stdev", plain)?.value * factor,
            ..LatencyStats::default()
        };
        let kind = if which == NormalLatency::Sync { None } else { self.kind };
        if let Some(to) = self.latency_of(which) {
            *to = stats;
            self.quote(line, which.quoted(), kind, mean.value, mean.step);
        }
        let kept = &mut self.result.declared.kept;
        match which {
            NormalLatency::Submission => kept.slat = true,
            NormalLatency::Service => kept.clat = true,
            NormalLatency::Total => kept.lat = true,
            NormalLatency::Sync => {}
        }
        Ok(())
    }

    fn latency_of(&mut self, which: NormalLatency) -> Option<&mut LatencyStats> {
        if which == NormalLatency::Sync {
            return Some(&mut self.result.result.sync);
        }
        let direction = self.kind.map(|kind| self.direction(kind))?;
        Some(match which {
            NormalLatency::Submission => &mut direction.submission,
            NormalLatency::Service => &mut direction.service,
            _ => &mut direction.latency,
        })
    }

    /// Reads `|  1.00th=[   34],  5.00th=[   52]`.
    fn percentile_cells(&mut self, line: NormalLine<'_>) -> Result<(), Problem> {
        let Some((which, factor)) = self.percentiles else { return Ok(()) };
        let cells = line.text.trim_start_matches('|').split(',').map(str::trim);
        // Three dots stand for cells that an author left out.
        let cells = cells.filter(|cell| !matches!(*cell, "" | "..." | "…"));
        for cell in cells {
            let (percent, ns) = line.read(cell, |cell| {
                let (percent, value) = cell.split_once(']')?.0.split_once("th=[")?;
                Some((plain(percent)?.value, rounded(count(value)?.value * factor)))
            })?;
            if let Some(to) = self.latency_of(which) {
                to.quoted.push((percent, ns));
            }
        }
        Ok(())
    }

    /// Reads `lat (usec)   : 2=0.02%, 4=0.05%`.
    fn shares(&mut self, line: NormalLine<'_>, unit: &str, behind: &str) -> Result<(), Problem> {
        let shares = self.result.result.quoted_shares.get_or_insert_default();
        let classes: &mut [f64] = match unit {
            "nsec" => &mut shares.ns,
            "usec" => &mut shares.us,
            _ => &mut shares.ms,
        };
        let bound = |text: &str| match text {
            "2000" => Some(10),
            ">=2000" => Some(11),
            _ => LatencyShares::BOUNDS.iter().position(|bound| text == bound.to_string()),
        };
        for cell in behind.trim_start_matches([' ', ':']).split(',').map(str::trim).filter(|cell| !cell.is_empty()) {
            let (class, share) = line.read(cell, |cell| {
                let (class, share) = cell.rsplit_once('=')?;
                Some((bound(class)?, percent(without_remark(share))?))
            })?;
            if let Some(to) = classes.get_mut(class) {
                *to = share;
            }
        }
        Ok(())
    }

    /// Reads `bw (  KiB/s): min=24448, …, samples=3`. Without a number of samples, as in version 2, they are ignored.
    fn samples(&mut self, line: NormalLine<'_>, bandwidth: bool) -> Result<(), Problem> {
        let (Some(kind), Some(_)) = (self.kind, line.find("samples")) else { return Ok(()) };
        let mut bytes = 1.0;
        if bandwidth {
            let unit =
                line.text.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(unit, _)| unit);
            bytes = line.read(unit, |unit| unit_bytes(unit.trim().strip_suffix("/s")?.trim_end(), false))?;
        }
        let unit = if bandwidth { bytes / 1024.0 } else { 1.0 };
        if line.find("per").is_some() {
            self.per_percent = Some(line.figure("per", percent)?);
        }
        let mean = line.figure("avg", plain)?;
        let samples = SampleRecord {
            count: line.figure("samples", integer)?,
            min: line.figure("min", count)?.value * unit,
            max: line.figure("max", count)?.value * unit,
            mean: mean.value * unit,
            stddev: line.figure("stdev", plain)?.value * unit,
        };
        let what = if bandwidth { Quoted::SampledBytesPerSecond } else { Quoted::SampledIops };
        self.quote(line, what, Some(kind), mean.value * bytes, mean.step * bytes);
        let direction = self.direction(kind);
        *(if bandwidth { &mut direction.bandwidth_kib } else { &mut direction.iops_samples }) = samples;
        Ok(())
    }

    fn processor(&mut self, line: NormalLine<'_>) -> Result<(), Problem> {
        self.cpu_percent[0] = line.figure("usr", percent)?;
        self.cpu_percent[1] = line.figure("sys", percent)?;
        // Authors leave out the counts behind the percentages, and the first versions of fio printed some of them.
        let count = |name: &str| match line.find(name).is_some() || (line.may_be_cut() && !line.text.ends_with('%')) {
            true => line.figure(name, integer),
            false => Ok(0),
        };
        self.result.result.cpu = CpuUse {
            context_switches: count("ctx")?,
            major_faults: count("majf")?,
            minor_faults: count("minf")?,
            ..CpuUse::default()
        };
        Ok(())
    }

    /// Reads `issued rwts: total=6158,6670,0,389 short=0,0,0,0 dropped=0,0,0,0`; older versions print three figures,
    /// `total=r=25600/w=0/d=0`, or `total=25600/0, short=0/0`.
    fn counts(&mut self, line: NormalLine<'_>) -> Result<(), Problem> {
        let group = |names: &[&str]| {
            let behind = names.iter().find_map(|name| line.text.split_once(name).map(|(_, behind)| behind));
            let list = behind.and_then(|behind| behind.split_whitespace().next()).unwrap_or_default();
            let number = |part: &str| part.trim_start_matches(['r', 'w', 'd', '=']).parse::<u64>().ok();
            line.read(list, |list| {
                let parts = list.split([',', '/']).filter(|part| !part.is_empty()).map(number);
                let mut numbers = parts.collect::<Option<Vec<u64>>>().filter(|parts| (2..=4).contains(&parts.len()))?;
                numbers.resize(numbers.len().max(3), 0);
                Some(numbers)
            })
        };
        let (total, short) = (group(&["total="])?, group(&["short="])?);
        // Not printed before 2.1.5.
        let dropped = if line.text.contains("drop") { group(&["dropped=", "drop="])? } else { vec![0; 3] };
        for (index, kind) in DataKind::ALL.into_iter().enumerate() {
            let direction = self.direction(kind);
            (direction.ios, direction.short_ios, direction.drop_ios) = (total[index], short[index], dropped[index]);
            if total[index] > 0 {
                self.quote(line, Quoted::Operations, Some(kind), total[index] as f64, 1.0);
            }
        }
        if let Some(&syncs) = total.get(3).filter(|syncs| **syncs > 0) {
            self.quote(line, Quoted::Syncs, None, syncs as f64, 1.0);
        }
        if line.text.starts_with("issued rwt:") {
            self.widen();
        }
        let sync = &mut self.result.result.sync;
        let (seen, counted) = (sync.count > 0, total.get(3).copied().unwrap_or(0));
        sync.count = counted;
        self.result.declared.syncs |= seen || counted > 0;
        self.result.declared.only_data_syncs = seen && counted == 0;
        self.counted = true;
        Ok(())
    }

    /// Widens the steps of figures: versions from 2.17 that print `issued rwt` print wrong decimals, such as 17.1 for
    /// 17.9.
    fn widen(&mut self) {
        let with_digit = |quote: &&mut Quote| matches!(quote.what, Quoted::Bytes | Quoted::BytesPerSecond);
        self.result.quotes.iter_mut().filter(with_digit).for_each(|quote| quote.step *= 10.0);
    }

    fn errors(&mut self, line: NormalLine<'_>) -> Result<(), Problem> {
        let first = line.figure("first_error", |text| text.split('/').next()?.parse().ok())?;
        let result = &mut self.result;
        (result.result.errors, result.result.first_error) = (line.figure("total", integer)?, first);
        result.declared.continue_on_error = true;
        Ok(())
    }

    /// Completes the result. An excerpt may lack lines. `follows` tells whether a kind ran only after the others, to
    /// read back, and `ran` how long one ran and what it moved whose own lines are missing.
    pub(super) fn finish(
        &mut self,
        line: NormalLine<'_>,
        excerpt: bool,
        follows: impl Fn(DataKind) -> bool,
        ran: impl Fn(DataKind) -> KindRan,
    ) -> Result<(), Problem> {
        /// Depth that operations reach, relative to the printed one: latencies are rounded.
        const JUST_ABOVE: f64 = 1.03;
        const LOST: u64 = 1_000;
        if !self.counted && !excerpt && !self.has_transfers() {
            return Err(line.error(line.text, "the result that starts here has no `issued rwts` line: it is truncated"));
        }
        if !self.counted {
            self.count_by_rate();
        }
        if !self.mixed {
            // The lines of a kind that was counted may be left out: its operations have no time of their own. fio leaves
            // out a kind that ran for less than a millisecond, in which so many do not complete.
            let longest_ns = self.measured().kinds().map(|(_, result)| result.runtime_ns).max().unwrap_or(0);
            for kind in DataKind::ALL {
                let direction = self.result.result.kind_mut(kind);
                let ios = direction.ios;
                if direction.runtime_ns > 0 || ios <= LOST {
                    continue;
                }
                let (runtime_ns, bytes) = match ran(kind) {
                    KindRan::For { runtime_ns, bytes } => (runtime_ns, bytes),
                    KindRan::WithOthers => (longest_ns, 0),
                    KindRan::Unknown => (0, 0),
                };
                *direction = match runtime_ns {
                    0 => DirectionResult::default(),
                    _ => DirectionResult { ios, bytes, runtime_ns, ..DirectionResult::default() },
                };
                if runtime_ns > 0 && bytes == 0 {
                    self.bytes_by_rate.push(kind);
                }
                self.without_lines.push((kind, ios));
            }
        }
        let workers = self.result.workers;
        let measured = &mut self.result.result;
        // The total latency of a text that was cut off before it.
        for direction in [&mut measured.read, &mut measured.write, &mut measured.trim] {
            let (submission, service) = (&direction.submission, &direction.service);
            if direction.latency.mean_ns == 0.0 && submission.mean_ns > 0.0 && service.mean_ns > 0.0 {
                let mean_ns = submission.mean_ns + service.mean_ns;
                direction.latency = LatencyStats { count: service.count, mean_ns, ..LatencyStats::default() };
            }
        }
        for direction in [&mut measured.read, &mut measured.write, &mut measured.trim] {
            let ios = direction.ios;
            for latency in [&mut direction.submission, &mut direction.service, &mut direction.latency] {
                // fio prints no count of latencies, but each operation has one.
                latency.count = if latency.count > 0 { ios } else { 0 };
            }
        }
        if self.result.declared.only_data_syncs {
            // Depths are also counted at syncs but relative to transfers, so the excess over 100 % are syncs.
            let beyond = (self.depth_percent - 100.0).max(0.0) / 100.0;
            measured.sync.count = rounded(beyond * measured.ios() as f64).max(1);
        }
        let longest = |following: bool| {
            let kinds = measured.kinds().filter(|(kind, _)| follows(*kind) == following);
            kinds.map(|(_, result)| result.runtime_ns).max().unwrap_or(0)
        };
        let wall_ns = longest(false).saturating_add(longest(true));
        measured.runtime_ns = wall_ns.saturating_mul(workers.into());
        measured.workers = workers;
        let ns = |percent: f64| rounded(percent / 100.0 * measured.runtime_ns as f64);
        [measured.cpu.user_ns, measured.cpu.system_ns] = self.cpu_percent.map(ns);
        let reached = f64::from(fio::Depth::of(&measured.depth.percent(), measured, None).iodepth);
        let depth = &mut self.result.declared.iodepth;
        if self.depth_may_be_cut && reached > JUST_ABOVE * f64::from(*depth) * f64::from(workers) {
            *depth = 0;
        }
        Ok(())
    }

    /// Counts the bytes by operations of one size, where rates agree with that.
    pub(super) fn count_bytes(&mut self, size: impl Fn(DataKind) -> Option<u32>) {
        for kind in std::mem::take(&mut self.bytes_by_rate) {
            let result = self.measured().kind(kind);
            let is_whole = self.counted && result.short_ios == 0 && result.drop_ios == 0;
            let Some(size) = size(kind).filter(|_| is_whole) else { continue };
            let (bytes, seconds) = (result.ios.saturating_mul(size.into()), result.runtime_ns as f64 / 1e9);
            let is_rate = |quote: &&Quote| quote.what == Quoted::BytesPerSecond && quote.kind == Some(kind);
            if self.result.quotes.iter().filter(is_rate).all(|quote| quote.agrees_with(bytes as f64 / seconds)) {
                self.direction(kind).bytes = bytes;
            }
        }
    }

    /// Moves the results of a mixed report to the only kind that the job issues.
    pub(super) fn set_mixed_kind(&mut self, kind: DataKind) {
        let mixed = std::mem::take(self.direction(DataKind::Read));
        *self.direction(kind) = mixed;
        let is_mixed = |of: &&mut DataKind| **of == DataKind::Read;
        let quoted = self.result.quotes.iter_mut().filter_map(|quote| quote.kind.as_mut());
        quoted.chain(&mut self.bytes_by_rate).filter(is_mixed).for_each(|of| *of = kind);
    }

    /// Reports whether the result has counts, which end its figures of throughput and latency.
    pub(super) fn is_counted(&self) -> bool {
        self.counted
    }

    /// Reports whether the result includes throughput.
    pub(super) fn has_transfers(&self) -> bool {
        self.measured().kinds().any(|(_, result)| result.runtime_ns > 0)
    }

    /// Computes the number of operations from rates and runtimes.
    fn count_by_rate(&mut self) {
        for kind in DataKind::ALL {
            self.direction(kind).ios = rounded(self.ios_by_rate(kind));
        }
    }

    fn ios_by_rate(&self, kind: DataKind) -> f64 {
        let rate = |quote: &&Quote| quote.what == Quoted::Iops && quote.kind == Some(kind);
        let iops = self.result.quotes.iter().find(rate).map_or(0.0, |quote| quote.value);
        iops * self.measured().kind(kind).runtime_ns as f64 / 1e9
    }

    /// Estimates the workers of a result without its first line by the samples of its bandwidth, of which each takes two a
    /// second, and the share of each job, which newer versions print as 100 % for several too.
    pub(super) fn estimate_workers(&mut self) {
        const SAMPLES_PER_SECOND: f64 = 2.0;
        const LEAST_SECONDS: f64 = 5.0;
        const ALIKE: f64 = 0.1;
        const ALL_PERCENT: f64 = 90.0;
        let longest = self.measured().kinds().map(|(_, kind)| kind).max_by_key(|kind| kind.runtime_ns);
        let by_samples = longest.and_then(|kind| {
            let seconds = kind.runtime_ns as f64 / 1e9;
            let samples = kind.bandwidth_kib.count.max(kind.iops_samples.count) as f64;
            let number = samples / SAMPLES_PER_SECOND / seconds;
            (seconds >= LEAST_SECONDS && number > 1.0 - ALIKE).then(|| number.round())
        });
        let is_part = |percent: &f64| (0.01..ALL_PERCENT).contains(percent);
        let by_share = self.per_percent.filter(is_part).map(|percent| (100.0 / percent).round());
        let number = match (by_share, by_samples) {
            (Some(share), Some(samples)) => {
                Some(share).filter(|_| (share - samples).abs() <= ALIKE * share.max(samples))
            }
            (share, samples) => share.or(samples),
        };
        let in_flight = self.measured().kinds().map(|(kind, result)| {
            let ios = if result.ios > 0 { result.ios as f64 } else { self.ios_by_rate(kind) };
            ios * result.service.mean_ns.max(result.latency.mean_ns) / result.runtime_ns.max(1) as f64
        });
        // More than each can have in flight: the samples are of other intervals.
        let depth = f64::from(self.result.declared.iodepth);
        let fits = |number: &f64| depth == 0.0 || in_flight.sum::<f64>() <= 1.1 * depth * number;
        match number.filter(fits) {
            Some(number) => (self.result.workers, self.workers) = (number as u32, ResultWorkers::Estimated),
            None => self.workers = ResultWorkers::Unknown,
        }
    }

    pub(super) const fn measured(&self) -> &Measured {
        &self.result.result
    }
}

/// Reads `steadystate  : attained=yes, bw=257MiB/s (264MB/s), iops=65.9k, iops mean dev=3.931%`. The limit and the window
/// are not printed.
fn steady(line: NormalLine<'_>) -> Option<SteadyRecord> {
    let (what, value) = line.text.rsplit(',').next()?.trim().rsplit_once('=')?;
    let (measure, how) = what.split_once(' ')?;
    let criterion = value.trim_end_matches('%').parse().ok()?;
    let bytes_per_second = rate(line.find("bw")?.split(" (").next()?, false)?.value;
    Some(SteadyRecord {
        measure: measure.to_owned(),
        is_slope: how == "slope",
        is_percent: value.ends_with('%'),
        is_attained: line.find("attained")? == "yes",
        criterion,
        slope: if how == "slope" { criterion } else { 0.0 },
        iops: vec![count(line.find("iops")?)?.value],
        bytes_per_second: vec![bytes_per_second],
        ..SteadyRecord::default()
    })
}

/// Operations per second, bytes per second in up to two units, bytes, and nanoseconds.
type Transferred = (Printed, [Option<Printed>; 2], Printed, Printed);

fn version_3(line: NormalLine<'_>) -> Result<Transferred, Problem> {
    let iops = line.figure("IOPS", count)?;
    let shape = || line.error(line.text, "the line does not have the form `BW=… (…)(…/…msec)`, or is truncated");
    let (_, behind) = line.text.split_once("BW=").ok_or_else(shape)?;
    let (first, behind) = behind.split_once('(').ok_or_else(shape)?;
    let (second, behind) = behind.split_once(")(").ok_or_else(shape)?;
    let (done, _) = behind.split_once(')').ok_or_else(shape)?;
    let (bytes, time) = done.split_once('/').ok_or_else(shape)?;
    let rates = [line.read(first.trim(), |text| rate(text, false))?, line.read(second, |text| rate(text, false))?];
    let (bytes, runtime) = (line.read(bytes, |text| size(text, false))?, line.read(time, runtime)?);
    let (rates, bytes) = with_carry(rates, bytes, runtime.value / 1e9);
    Ok((iops, rates.map(Some), bytes, runtime))
}

/// Corrects lost carries. Versions before 3.29 lose the carry of a fraction that is rounded up to one and print 19.97
/// as `19.0`. Of two rates and bytes, a figure that ends in `.0` is corrected if only the corrected value agrees with
/// another one.
fn with_carry(rates: [Printed; 2], bytes: Printed, seconds: f64) -> ([Printed; 2], Printed) {
    /// Relative tolerance for the rounding of both.
    const ALIKE: f64 = 0.007;
    let lost = |figure: Printed| {
        let unit = figure.step * 10.0;
        let units = figure.value / unit;
        let ends_in_zero = figure.decimals == 1 && (units - units.round()).abs() < 1e-6;
        ends_in_zero.then_some(Printed { value: figure.value + unit * 0.975, step: unit * 0.05, ..figure })
    };
    if seconds <= 0.0 {
        return (rates, bytes);
    }
    let figures = [rates[0], rates[1], bytes.times(1.0 / seconds)];
    let fixed = figures.map(|figure| {
        let is_close = |a: f64, b: f64| (a / b - 1.0).abs() <= ALIKE;
        let others = || figures.iter().filter(|other| **other != figure);
        let agrees = |value: f64| {
            others().any(|other| {
                is_close(value, other.value) || lost(*other).is_some_and(|lost| is_close(value, lost.value))
            })
        };
        match lost(figure) {
            Some(more) if !others().any(|other| is_close(figure.value, other.value)) && agrees(more.value) => more,
            _ => figure,
        }
    });
    ([fixed[0], fixed[1]], fixed[2].times(seconds))
}

/// Returns the bytes by two rates that agree, if the size contradicts them or has far fewer digits. Versions from 2.17
/// that print `issued rwt` print wrong decimals of sizes, such as 17.1 for 17.9.
fn bytes_by_rate(rates: [Option<Printed>; 2], bytes: Printed, seconds: f64) -> Option<f64> {
    /// Factor between the rounding errors from which the rates count.
    const COARSER: f64 = 4.0;
    let error = |figure: Printed| figure.step / figure.value.max(f64::MIN_POSITIVE);
    let agree = |a: Printed, b: Printed| (a.value - b.value).abs() <= a.step + b.step;
    let [Some(first), Some(second)] = rates else { return None };
    let best = if error(first) <= error(second) { first } else { second };
    let made = best.times(seconds);
    let is_better = !agree(made, bytes) || COARSER * error(made) < error(bytes);
    (seconds > 0.0 && made.value > 0.0 && agree(first, second) && is_better).then_some(made.value)
}

/// Reads `read : io=102400KB, bw=51200KB/s, iops=12800, runt=  2000msec`.
fn version_2(line: NormalLine<'_>) -> Result<Transferred, Problem> {
    let rate = line.figure("bw", |text| rate(text, true))?;
    let bytes = line.figure("io", |text| size(text, true))?;
    Ok((line.figure("iops", count)?, [Some(rate), None], bytes, line.figure("runt", runtime)?))
}

/// Reads seven fractions in percent: `1=0.1%, 2=0.2%, …, >=64=0.0%`.
fn classes(line: NormalLine<'_>) -> Result<[f64; 7], Problem> {
    let (_, cells) = line.text.split_once(':').unwrap_or(("", ""));
    line.read(cells.trim(), |cells| {
        let share = |cell: &str| percent(printed_behind(without_remark(cell.trim()))?);
        let shares: Vec<f64> = cells.splitn(7, ',').map(share).collect::<Option<_>>()?;
        shares.try_into().ok()
    })
}

/// Returns the figure after the last `=`.
fn printed_behind(cell: &str) -> Option<&str> {
    let (_, value) = cell.rsplit_once('=')?;
    printed(value).map(|_| value)
}

//! The report of a run as text. The last paragraph is the verdict.

mod latency;
mod model;
mod ranks;

use analyse::{Severity, Verdict};
use record::{
    DataKind, Declared, DeclaredSizes, DiskUse, EstimatedLoad, HostRecord, JobResult, KnownTransfers, Mixed, Run,
    RunOutcome,
};
use units::{Bytes, Nanos, count, grouped, percent, significant};

use crate::answer::AnswerText;
use crate::fio::note_text;
use crate::sheet::{Sheet, SheetStyle, Tone, wrap};
use crate::stuck::{LISTED_MOST, stuck_lines};
use crate::{civil, words};

pub(crate) use latency::rows as latencies;

/// Column in which values begin.
const INDENT: usize = 16;

/// Returns the report of a run.
#[must_use]
pub fn text(run: &Run, verdicts: &[Verdict], style: SheetStyle) -> String {
    let mut page = RunPage { sheet: Sheet::new(style.readable(), INDENT) };
    words::run_answers(run, verdicts).iter().for_each(|answer| answer.write(&mut page.sheet));
    page.head(run);
    if run.jobs.len() > words::JOBS_ANSWERED && !style.details {
        page.jobs(run, verdicts);
    } else {
        run.jobs.iter().for_each(|job| page.job(job, run));
    }
    run.fleet.iter().for_each(|fleet| page.ranks(fleet));
    for note in &run.notes {
        page.sheet.gap();
        page.sheet.field("note", &note_text(note));
    }
    if style.details {
        run.model.iter().for_each(|model| page.model(model));
        page.disks(&run.disks);
        page.findings(run, verdicts);
    } else {
        page.more(run, verdicts);
    }
    page.sheet.finish()
}

/// Name of the engine that accesses a modelled volume directly.
const MODEL: &str = "model";

/// Number of lines for jobs without details.
const LISTED: usize = 14;

struct RunPage {
    sheet: Sheet,
}

impl RunPage {
    fn head(&mut self, run: &Run) {
        if !self.sheet.shows_details() {
            return self.outcome(run);
        }
        self.sheet.gap();
        let tool = format!("{} {}", run.tool.name, run.tool.version);
        let when = match &run.model {
            Some(model) if model.virtual_time => format!("{} simulated", Nanos::new(model.elapsed_ns)),
            // Other programs do not print it.
            _ if run.taken_unix_ms == 0 => String::new(),
            _ => civil::iso(civil::local(run.taken_unix_ms, run.utc_offset_s)),
        };
        let mut text = format!("{}  {when}", tool.trim_end()).trim_end().to_owned();
        let HostRecord { hostname, kernel, cpus } = &run.host;
        let host = (!hostname.is_empty()).then(|| format!("on {hostname} ({cpus} CPUs, {kernel})"));
        for part in host.into_iter().chain(run.seed.map(|seed| format!("seed {seed}"))) {
            let last_line = text.lines().last().map_or(0, |line| line.chars().count());
            let fits = last_line + 2 + part.chars().count() <= self.sheet.width();
            text.push_str(if fits { "  " } else { "\n" });
            text.push_str(&part);
        }
        self.sheet.line(&text.replacen(&tool, &self.sheet.strong(&tool), 1));
        self.outcome(run);
    }

    /// Says if the run is not complete.
    fn outcome(&mut self, run: &Run) {
        let outcome = match run.outcome {
            RunOutcome::Completed => None,
            RunOutcome::Interrupted => Some("Interrupted: results up to the signal."),
            RunOutcome::Failed => Some("A worker failed; results of the others are complete."),
            RunOutcome::Running => Some("Still running: results so far."),
        };
        if let Some(outcome) = outcome {
            self.sheet.gap();
            self.sheet.line(outcome);
        }
        for line in stuck_lines(&run.stuck, LISTED_MOST) {
            self.sheet.line(&format!("  {line}"));
        }
    }

    /// Appends the name of the job and its parameters.
    fn title(&mut self, job: &JobResult) {
        let room = self.sheet.width().saturating_sub(job.name.chars().count() + 2).max(20);
        let lines = wrap(&parameters(job), room);
        let name = self.sheet.strong(&job.name);
        self.sheet.line(&format!("{name}  {}", lines[0]));
        lines[1..].iter().for_each(|line| self.sheet.line(&format!("  {line}")));
    }

    /// Appends a line for each job.
    fn jobs(&mut self, run: &Run, verdicts: &[Verdict]) {
        self.sheet.gap();
        let (table, more) = crate::grid::job_table(run, verdicts, LISTED);
        table.write(&mut self.sheet);
        if more > 0 {
            self.sheet
                .line(&self.sheet.faint(&format!("  and {}: --details", units::counted(more as u64, "more job"))));
        }
    }

    fn job(&mut self, job: &JobResult, run: &Run) {
        let (declared, result, modelled) = (&job.declared, &job.result, run.model.is_some());
        self.sheet.gap();
        self.title(job);
        for (kind, _) in result.used_kinds() {
            let known = job.known_transfers(result.kind(kind));
            match known.ios.and(known.bytes).and(known.runtime_ns) {
                Some(_) => self.throughput(job, kind),
                None => self.stated(&known, kind),
            }
        }
        self.latencies(job, words::tail_is_assumed(run));
        if let Some(in_flight) = result.in_flight() {
            self.sheet.field("in flight", &in_flight_text(in_flight, declared));
        }
        if let Some(ns) = result.cpu_per_io_ns().filter(|_| !modelled && result.cpu.busy_ns() > 0) {
            let cpu = Nanos::new(ns.round() as u64);
            let each = if result.workers > 1 { " by each worker" } else { "" };
            self.sheet.field("CPU", &format!("{cpu} per operation, {} of a CPU{each}", percent(result.cpu_share())));
        }
        if let Some(replay) = &job.replay {
            self.sheet.toned_field("replayed", &words::replay(replay), words::replay_tone(replay));
            words::replay_notes(replay).iter().for_each(|note| self.sheet.field("", note));
        }
        if result.lateness.count > 0 {
            self.lateness(job);
        }
        if result.errors > 0 || job.error != 0 {
            self.errors(job);
        }
        if let Some(verified) = &job.verified {
            let tone = words::verified_tone(verified);
            self.sheet.toned_field("verified", &words::verified(verified), tone);
        }
    }

    fn throughput(&mut self, job: &JobResult, kind: DataKind) {
        let result = job.result.kind(kind);
        let bytes = Bytes::new(result.bytes_per_second() as u64);
        let (iops, rate) = (format!("{} IOPS", count(result.iops())), format!("{bytes}/s"));
        let done = format!(
            "{} operations, {} in {}",
            grouped(result.ios),
            Bytes::new(result.bytes),
            Nanos::new(result.runtime_ns)
        );
        let decimal = bytes.decimal();
        let fits = INDENT + iops.len() + rate.len() + decimal.len() + done.len() + 10 <= self.sheet.width();
        let label = self.sheet.label(kind.name());
        let (iops, rate) = (self.sheet.strong(&iops), self.sheet.strong(&rate));
        let last = if fits { format!("  {done}") } else { String::new() };
        self.sheet.line(&format!("{label}{iops}  {rate} ({decimal}/s){last}"));
        if !fits {
            self.sheet.field("", &done);
        }
    }

    /// Appends what another program states of a kind: rates, counts or bytes.
    fn stated(&mut self, known: &KnownTransfers, kind: DataKind) {
        let rate = |bytes_per_second: f64| {
            let rate = Bytes::new(bytes_per_second as u64);
            format!("{rate}/s ({}/s)", rate.decimal())
        };
        let figures = [
            known.iops.map(|iops| format!("{} IOPS", count(iops))),
            known.bytes_per_second.map(rate),
            known.ios.map(|ios| format!("{} operations", grouped(ios))),
            known.bytes.map(|bytes| Bytes::new(bytes).to_string()),
            known.runtime_ns.map(|ns| format!("in {}", Nanos::new(ns))),
        ];
        let figures: Vec<String> = figures.into_iter().flatten().collect();
        if !figures.is_empty() {
            self.sheet.field(kind.name(), &figures.join(", "));
        }
    }

    fn latencies(&mut self, job: &JobResult, is_assumed: bool) {
        let lines = latency::table(job, self.sheet.width(), INDENT, is_assumed);
        for (index, line) in lines.iter().enumerate() {
            let (label, values) = line.split_at(INDENT.min(line.len()));
            let faint = self.sheet.faint(label);
            let values = if index == 0 { self.sheet.faint(values) } else { values.to_owned() };
            self.sheet.line(&format!("{faint}{values}"));
        }
    }

    fn lateness(&mut self, job: &JobResult) {
        let late = &job.result.lateness;
        let time = |ns: u64| Nanos::new(ns).to_string();
        let p99 = late
            .percentile(99.0)
            .map_or_else(String::new, |p99| format!(", p99 {}", crate::words::percentile(Some(p99))));
        let mean = time(late.mean_ns.round() as u64);
        self.sheet.field("lateness", &format!("{mean} mean{p99}, {} max: of the generator itself", time(late.max_ns)));
    }

    fn errors(&mut self, job: &JobResult) {
        let (errors, first) = (job.result.errors.max(1), job.result.first_error);
        let first = if first == 0 { job.error } else { first };
        let text = format!("{}, the first: {} ({first})", grouped(errors), crate::fio::error_text(first));
        self.sheet.toned_field("errors", &text, Some(Tone::Bad));
    }

    fn disks(&mut self, disks: &[DiskUse]) {
        if !disks.is_empty() {
            self.sheet.gap();
        }
        for disk in disks {
            let reads = transfers("reads", disk.read_ios, disk.read_sectors);
            let writes = transfers("writes", disk.write_ios, disk.write_sectors);
            self.sheet.field(&disk.name, &format!("{reads}, {writes}, {:.1}% busy", disk.util_percent));
        }
    }

    /// Appends all findings of each job with their codes, most important first.
    fn findings(&mut self, run: &Run, verdicts: &[Verdict]) {
        for verdict in verdicts {
            let Some(job) = run.jobs.get(verdict.job) else { continue };
            self.sheet.gap();
            if verdicts.len() > 1 {
                self.sheet.line(&self.sheet.strong(&format!("Findings on {}", job.name)));
            }
            for finding in verdict.findings() {
                let (code, words) = (finding.code.name(), words::finding(finding, job));
                self.sheet.led(0, &code, tone_of(finding.severity), &format!(": {words}"));
            }
        }
    }

    /// Appends the limits of a model that delayed anything, and how to see the rest.
    fn more(&mut self, run: &Run, verdicts: &[Verdict]) {
        let findings: usize = verdicts.iter().map(|verdict| 1 + verdict.others.len()).sum();
        let parts = [
            (findings, "finding", "findings"),
            (run.model.as_ref().map_or(0, |model| model.stages.len()), "limit", "limits"),
            (run.disks.len(), "disk", "disks"),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, one, many)| format!("{} {}", grouped(count as u64), if count == 1 { one } else { many }))
            .collect();
        if !parts.is_empty() {
            self.sheet.gap();
            self.sheet.line(&self.sheet.faint(&format!("{}: --details", words::joined(&parts, "and"))));
        }
    }
}

pub(crate) fn tone_of(severity: Severity) -> Tone {
    match severity {
        Severity::Info => Tone::Good,
        Severity::Advice => Tone::Strong,
        Severity::Warning => Tone::Odd,
        Severity::Distrust => Tone::Bad,
    }
}

/// Returns the parameters of a job: `randread 4 KiB, io_uring, depth 32, direct`.
///
/// The result of several sections of fio states only what is known of all of them.
pub(crate) fn parameters(job: &JobResult) -> String {
    let declared = &job.declared;
    if declared.mixed.len() > 1 {
        let parts: Vec<String> = declared.mixed.iter().map(mixed_parameters).collect();
        return format!("{} different jobs added up: {}", parts.len(), parts.join("; "));
    }
    let load = if job.replay.is_some() { "replay" } else { declared.rw.as_str() };
    let mut parts = vec![format!("{load}{}", block_sizes(job)).trim_start().to_owned(), declared.engine.clone()];
    parts.retain(|part| !part.is_empty());
    // An estimate that Little's law does not confirm is no figure to print.
    let is_sure = declared.estimated.is_none() || declared.in_flight_possible.is_some();
    let mut load = Vec::new();
    if declared.iodepth > 0 && is_sure {
        load.push(format!("depth {}", declared.iodepth));
    }
    if job.workers > 1 && (is_sure || declared.estimated == EstimatedLoad::Depth) {
        load.push(format!("{} workers", job.workers));
    }
    let estimated = match declared.estimated {
        EstimatedLoad::None => None,
        EstimatedLoad::Depth => load.first_mut().filter(|_| is_sure),
        EstimatedLoad::DepthAndWorkers => load.last_mut(),
    };
    estimated.into_iter().for_each(|part| part.push_str(" (estimated)"));
    parts.extend(load);
    if let Some(direct) = declared.known_direct().filter(|_| declared.device && declared.engine != MODEL) {
        parts.push(if direct { "direct" } else { "buffered" }.to_owned());
    }
    parts.extend(rate(job));
    parts.join(", ")
}

/// Returns the parameters of one of several jobs: `writes: write 128 KiB, null, depth 1, 2 workers`.
fn mixed_parameters(job: &Mixed) -> String {
    let has = |kind: &str| job.rw.contains(kind) || (kind != "trim" && matches!(job.rw.as_str(), "rw" | "randrw"));
    let kinds = [("read", job.block_sizes.read), ("write", job.block_sizes.write), ("trim", job.block_sizes.trim)];
    let used = kinds.into_iter().filter(|(kind, _)| has(kind)).map(|(_, sizes)| sizes);
    let mut parts =
        vec![format!("{}{}", job.rw, sizes_text(used)), job.engine.clone(), format!("depth {}", job.iodepth)];
    if job.workers > 1 {
        parts.push(format!("{} workers", job.workers));
    }
    format!("{}: {}", job.name, parts.join(", "))
}

/// Returns the block sizes of the kinds that were used, without duplicates.
fn block_sizes(job: &JobResult) -> String {
    let used = job.result.kinds().filter(|(_, result)| result.ios > 0).map(|(kind, _)| job.declared.sizes(kind));
    sizes_text(used)
}

fn sizes_text(used: impl Iterator<Item = DeclaredSizes>) -> String {
    let mut sizes: Vec<String> = used
        .filter(|sizes| sizes.max > 0)
        .map(|sizes| match (sizes.min, sizes.max) {
            (min, max) if min == max => Bytes::new(min.into()).to_string(),
            (min, max) => format!("{}-{}", Bytes::new(min.into()), Bytes::new(max.into())),
        })
        .collect();
    sizes.dedup();
    if sizes.is_empty() { String::new() } else { format!(" {}", sizes.join("/")) }
}

fn rate(job: &JobResult) -> Option<String> {
    let declared = &job.declared;
    let process = if declared.poisson { ", Poisson" } else { "" };
    let ops = declared.rate_iops.sum().map(|rate| format!("{} IOPS requested{process}", count(rate as f64)));
    ops.or_else(|| declared.rate_bytes.sum().map(|rate| format!("{}/s asked{process}", Bytes::new(rate))))
}

/// Returns `152,527 reads (596 MiB)`, without the size if sectors were not imported.
fn transfers(what: &str, ios: u64, sectors: u64) -> String {
    const SECTOR_BYTES: u64 = 512;
    let size = if sectors > 0 { format!(" ({})", Bytes::new(sectors * SECTOR_BYTES)) } else { String::new() };
    format!("{} {what}{size}", grouped(ios))
}

fn in_flight_text(achieved: f64, declared: &Declared) -> String {
    let achieved = significant(achieved, 3);
    match (declared.in_flight_asked, declared.in_flight_possible) {
        (Some(asked), _) if !declared.estimated.is_none() => format!("{achieved} of {asked} (estimated)"),
        (Some(asked), Some(possible)) if asked != possible => {
            format!("{achieved} of {asked} requested ({possible} possible)")
        }
        (Some(asked), _) => format!("{achieved} of {asked} requested"),
        (None, _) => achieved,
    }
}

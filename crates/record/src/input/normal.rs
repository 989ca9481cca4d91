//! Reads fio's normal output.
//!
//! The most exact printed values are used: counts from `issued rwts`, runtimes in milliseconds, bytes as rounded in
//! `io=`. Sums are not checked here; quotes keep the printed figures for that. Of several reports on one run
//! (`--status-interval`), the last complete one counts. Of a report that is cut off, the complete results count, and notes
//! say what is missing.

mod block;
mod closing;
pub(super) mod figures;
mod header;
pub(super) mod headless;
pub(super) mod syncs;

use std::borrow::Cow;
use std::ops::Range;

use super::json;
use super::text::{CUT_LINE, InputText, line_number};
use super::{is_header, is_of_result, is_result};
use crate::{
    DataKind, Declared, DiskUse, EstimatedLoad, JobResult, LatencyShares, LatencyStats, Mixed, Note, Quote, Quoted,
    RequestedRun, Run, RunOutcome, SCHEMA, SteadyRecord, Tool, UnifiedReport, fio,
};
use block::{KindRan, NormalBlock, ResultWorkers};
use figures::{NormalLine, REMEDY, rounded};
use header::NormalHeader;
use units::{Problem, ProblemCode};

/// Counts the results in a text.
pub(super) fn results(text: &InputText) -> usize {
    text.lines().filter(|line| is_result(line)).count()
}

/// Returns the line of one run's range after which text about the next run may begin.
pub(super) fn end_of_results(text: &InputText, lines: Range<usize>) -> usize {
    lines.clone().rev().find(|&index| text.line(index).trim().starts_with(GROUP)).unwrap_or(lines.start)
}

/// Returns the lines of each run in a text, from its first header or, without headers, from its first result. A result
/// after the status of groups is another report on the same run if it names a known process.
pub(super) fn runs(text: &InputText) -> Vec<Range<usize>> {
    let (mut begins, mut section) = (Vec::new(), NormalSection::Head);
    let mut processes: Vec<(&str, &str)> = Vec::new();
    let mut started = false;
    // Processes of different servers may have the same number.
    let is_of_client = text.lines().any(|line| is_total(line.trim()));
    // A truncated line may name another process.
    let whole = text.lines().take(text.len() - usize::from(!text.ended));
    for (index, line) in whole.enumerate() {
        let line = line.trim();
        let begins_run = if is_header(line) {
            // All jobs are announced before the first one starts.
            let begins_run = begins.is_empty() || started || section != NormalSection::Head;
            (section, started) = (NormalSection::Head, false);
            begins_run
        } else if let Some(process) = block::process(line) {
            let known = processes.contains(&process);
            let is_next = section == NormalSection::Groups && (is_of_client || !known);
            let begins_run = begins.is_empty() || is_next || is_total(line);
            if begins_run {
                processes.clear();
            }
            processes.push(process);
            section = NormalSection::Result;
            begins_run
        } else if section == NormalSection::Head && !begins.is_empty() && headless::is_rates(line) {
            section = NormalSection::Result;
            false
        } else {
            started |= line.starts_with("Starting ") || line.starts_with("fio-");
            if line.starts_with(GROUP) && section == NormalSection::Result {
                section = NormalSection::Groups;
            }
            false
        };
        if begins_run {
            begins.push(index);
        }
    }
    let ends = begins.iter().skip(1).copied().chain([text.len()]);
    begins.iter().zip(ends).map(|(&begin, end)| begin..end).collect()
}

/// Reports whether a line begins the total over all servers of fio's client.
pub(super) fn is_total(line: &str) -> bool {
    let line = line.trim();
    is_result(line) && line.strip_prefix(fio::ALL_CLIENTS).is_some_and(|rest| rest.starts_with(':'))
}

/// Reports whether a result has as many lines as the one above it, which lacks counts: lines of both were selected.
fn is_as_long_as_the_one_above(text: &InputText, begins: usize) -> bool {
    let Some(above) = (0..begins).rev().find(|&index| is_result(text.line(index))) else { return false };
    let count = |lines: Range<usize>| lines.filter(|&index| is_of_result(text.line(index).trim())).count();
    let is_counted = (above..begins).any(|index| text.line(index).trim_start().starts_with("issued"));
    !is_counted && count(above + 1..begins) == count(begins + 1..text.len())
}

/// Prefix of a group's status line.
const GROUP: &str = "Run status group ";

/// State of the reader.
#[derive(Debug, Default)]
struct NormalReader {
    version: String,
    headers: Vec<NormalHeader>,
    blocks: Vec<NormalBlock>,
    groups: Vec<NormalGroup>,
    disks: Vec<DiskUse>,
    quotes: Vec<Quote>,
    notes: Vec<Note>,
    reports: usize,
    section: NormalSection,
    /// Whether the last line is truncated.
    is_cut: bool,
    /// The report before this one, on the same run.
    before: Option<Box<Self>>,
}

/// The status of a reporting group.
#[derive(Debug)]
struct NormalGroup {
    number: u32,
    /// Kinds with a status line; mixed ones count as reads.
    kinds: Vec<DataKind>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum NormalSection {
    #[default]
    Head,
    Result,
    Groups,
    Disks,
}

/// Reads the run on some lines of a text, or the part of one server whose jobs are announced on other lines.
pub(super) fn read(text: &InputText, announced: Range<usize>, lines: Range<usize>) -> Result<Run, Problem> {
    let mut reader = NormalReader::default();
    for index in announced.take_while(|&index| !is_result(text.line(index).trim())).chain(lines.clone()) {
        let line = NormalLine::of(text, index);
        // The last number of a truncated line is not whole.
        reader.is_cut =
            line.may_be_cut() && line.text.ends_with(char::is_numeric) && !block::may_end_in_number(line.text);
        if !reader.is_cut {
            match reader.line(line) {
                Err(_) if line.may_be_cut() => reader.is_cut = true,
                Err(_) if line.is_elided() => {}
                Err(error) if line.is_last() || !reader.needs(line) => reader.leave_out(line, &error),
                read => read?,
            }
        }
    }
    reader.check_end(text, lines.end)?;
    reader.run(text)
}

impl NormalReader {
    fn line(&mut self, line: NormalLine<'_>) -> Result<(), Problem> {
        let text = line.text;
        if is_header(text) {
            // The mark of clones, on its own line, may be joined to this one.
            let alone = text.strip_suffix("...").map(str::trim_end);
            let line = NormalLine { text: alone.unwrap_or(text), ..line };
            let header = NormalHeader { clones: true, ..header::read(line)? };
            // Old versions repeat the job behind `...`, as that of its last clone.
            if self.headers.last() != Some(&header) {
                self.headers.push(NormalHeader { clones: alone.is_some(), ..header });
            }
        } else if is_result(text) {
            self.begin_block(NormalBlock::begin(line)?);
        } else if let Some(rest) = text.strip_prefix(GROUP) {
            self.section = NormalSection::Groups;
            let number = rest.split_whitespace().next().unwrap_or_default();
            self.groups.push(NormalGroup { number: line.read(number, |text| text.parse().ok())?, kinds: Vec::new() });
        } else if text.starts_with("Disk stats (read/write)") {
            self.section = NormalSection::Disks;
        } else {
            self.section_line(line)?;
        }
        Ok(())
    }

    /// Reports whether a line says of which job a result is, or has its rates or a mean latency.
    fn needs(&self, line: NormalLine<'_>) -> bool {
        let is_latency = || ["slat", "clat", "lat"].iter().any(|word| line.text.starts_with(word));
        let has_mean = || is_latency() && line.text.contains("avg=");
        let in_result = self.section == NormalSection::Result;
        is_header(line.text) || is_result(line.text) || in_result && (headless::is_rates(line.text) || has_mean())
    }

    /// Notes a line whose figures are damaged.
    fn leave_out(&mut self, line: NormalLine<'_>, error: &Problem) {
        let job = self.blocks.last().filter(|_| self.section == NormalSection::Result);
        self.notes.push(Note {
            job: job.map(|block| block.result.name.clone()),
            text: format!("line {} is damaged and ignored: {}", line_number(line.index), error.what),
            result: job.map(|_| self.blocks.len() as u32 - 1),
        });
    }

    fn section_line(&mut self, line: NormalLine<'_>) -> Result<(), Problem> {
        let text = line.text;
        match self.section {
            NormalSection::Head if text == "..." => {
                if let Some(last) = self.headers.last_mut() {
                    last.clones = true;
                }
            }
            // The line that begins a result was left out.
            NormalSection::Head if headless::is_rates(text) && !self.headers.is_empty() => {
                let header = self.headers.last().map(|header| (header.name.clone(), header.group));
                let (name, group) = header.unwrap_or_default();
                let mut block = NormalBlock::default();
                block.begins = line.index;
                block.result = JobResult { name, group, workers: 1, ..JobResult::default() };
                let has_clones = self.headers.last().is_some_and(|header| header.clones);
                block.workers = if has_clones { ResultWorkers::Unknown } else { ResultWorkers::Printed };
                block.line(line)?;
                self.begin_block(block);
            }
            NormalSection::Head => {
                if let Some(version) = text.strip_prefix("fio-").filter(|rest| rest.starts_with(char::is_numeric)) {
                    self.version = version.to_owned();
                }
            }
            NormalSection::Result => {
                if let Some(block) = self.blocks.last_mut() {
                    block.line(line)?;
                }
            }
            NormalSection::Groups | NormalSection::Disks if text.starts_with("note: ") => {
                self.notes.push(Note::of_run(&text["note: ".len()..]));
            }
            NormalSection::Groups => {
                if let (Some((kind, quotes)), Some(group)) = (closing::group(line)?, self.groups.last_mut()) {
                    group.kinds.push(kind);
                    let of = Some(group.number.to_string());
                    self.quotes.extend(quotes.into_iter().map(|quote| Quote { of: of.clone(), ..quote }));
                }
            }
            NormalSection::Disks => {
                if let Some((disk, quotes)) = closing::disk(line)? {
                    self.disks.push(disk);
                    self.quotes.extend(quotes);
                }
            }
        }
        Ok(())
    }

    /// Adds a result; after the status of groups it begins another report.
    fn begin_block(&mut self, block: NormalBlock) {
        if self.section != NormalSection::Result {
            self.reports += 1;
            let mut before = std::mem::take(self);
            let (headers, version) = (before.headers.clone(), before.version.clone());
            *self = Self { reports: before.reports, headers, version, ..Self::default() };
            before.before = None;
            self.before = (!before.blocks.is_empty()).then(|| Box::new(before));
        }
        self.section = NormalSection::Result;
        self.blocks.push(block);
    }

    /// Reports whether the results are an excerpt: other text follows them instead of the status of their groups, or
    /// the last one is printed as far as the one above it.
    fn is_excerpt(&self, text: &InputText, end: usize) -> bool {
        let Some(last) = self.blocks.last().filter(|_| self.blocks.iter().all(NormalBlock::has_transfers)) else {
            return false;
        };
        // An unterminated last line may be a truncated line of any kind.
        let last_line = if text.ended || end < text.len() { end } else { end.saturating_sub(1) };
        let foreign = |line: &str| !line.is_empty() && !is_of_result(line) && !GROUP.starts_with(line);
        end < text.len()
            || (last.begins + 1..last_line).any(|index| foreign(text.line(index).trim()))
            || is_as_long_as_the_one_above(text, last.begins)
    }

    /// Returns the last result if the text ends within it.
    fn cut_block(&self, text: &InputText, end: usize) -> Option<&NormalBlock> {
        let ends_here = self.section == NormalSection::Result && end == text.len();
        self.blocks.last().filter(|last| ends_here && !last.is_counted())
    }

    /// Reports whether a result has the rates of all kinds of its job, although the text ends within it, or of any kind if
    /// no header says which kinds there are.
    fn has_all_kinds(&self, block: &NormalBlock) -> bool {
        if self.headers.is_empty() {
            return block.has_transfers();
        }
        let is_own = |header: &&NormalHeader| header.group == block.result.group;
        let issues = |kind| self.headers.iter().filter(is_own).any(|header| header.issues(kind));
        let mut kinds = DataKind::ALL.into_iter().filter(|&kind| issues(kind)).peekable();
        let has = |kind| block.mixed || block.measured().kind(kind).runtime_ns > 0;
        kinds.peek().is_some() && kinds.all(has)
    }

    /// Adds what is missing of a report that is cut off to its notes. Refuses one without a complete result.
    fn check_end(&mut self, text: &InputText, end: usize) -> Result<(), Problem> {
        /// Lines among which fio says why it failed.
        const LAST_LINES: usize = 20;
        let cut_off = |what: &str, remedy: &str| Err(text.cut_off(end, what, remedy));
        if self.blocks.is_empty() {
            let is_failure =
                |line: &str| line.starts_with("fio: ") && ["err=", "error"].iter().any(|word| line.contains(word));
            let failed = (0..end).rev().take(LAST_LINES).find(|&index| is_failure(text.line(index).trim()));
            if let Some(index) = failed {
                let what = "fio exited with this error and without a result";
                let error = text.error(index, text.line(index).trim(), what, "fix the error, and run fio again");
                return Err(Problem { code: ProblemCode::CutOff, ..error });
            }
            // fio prints no result of a job without operations.
            let mut own = (0..end).rev().take_while(|&index| !is_header(text.line(index).trim()));
            if let Some(index) = own.find(|&index| text.line(index).trim().starts_with(GROUP)) {
                let remedy = "see fio's messages above: empty zones and missing files yield no operations";
                let error =
                    text.error(index, text.line(index).trim(), "no job of this run completed an operation", remedy);
                return Err(Problem { code: ProblemCode::CutOff, ..error });
            }
            return cut_off("the output is truncated before the first result", REMEDY);
        }
        if self.groups.is_empty() && self.is_excerpt(text, end) {
            let cut_line = self.is_cut.then_some(CUT_LINE);
            let notes = std::iter::once(EXCERPT).chain(cut_line);
            self.notes.extend(notes.map(Note::of_run));
            return Ok(());
        }
        let is_timed = |block: &NormalBlock| {
            let mut used = block.measured().kinds().filter(|(_, result)| result.runtime_ns > 0);
            used.all(|(_, result)| result.service.mean_ns > 0.0 || result.latency.mean_ns > 0.0)
        };
        let cut = self.cut_block(text, end);
        if let Some((cut, is_whole, is_timed)) =
            cut.map(|block| (block.result.name.clone(), self.has_all_kinds(block), is_timed(block)))
        {
            if let Some(before) = self.before.take() {
                *self = *before;
                self.notes.push(Note::of_run("the last report is truncated: the previous one was read"));
            } else if is_whole {
                let text = match self.headers.is_empty() {
                    true => format!("the result of `{cut}` is truncated: other kinds of operations may be missing"),
                    false => {
                        let last = if is_timed { "latencies" } else { "rates" };
                        format!("the result of `{cut}` is truncated after its {last}")
                    }
                };
                self.notes.push(Note::of_run(text));
            } else if self.blocks.len() == 1 {
                return cut_off(&format!("the output is truncated within the result of `{cut}`"), REMEDY);
            } else {
                self.blocks.pop();
                let text = format!("the result of `{cut}` is truncated and ignored");
                self.notes.push(Note::of_run(text));
            }
        }
        // Groups have no status after the total of fio's client.
        let of_servers = |block: &&NormalBlock| block.result.name != fio::ALL_CLIENTS;
        let has_status = |block: &NormalBlock| {
            let group = self.groups.iter().find(|group| group.number == block.result.group);
            let mut used = block.measured().kinds().filter(|(_, result)| result.runtime_ns > 0);
            group.is_some_and(|group| used.all(|(kind, _)| group.kinds.contains(&kind)))
        };
        if !self.blocks.iter().filter(of_servers).all(has_status) {
            self.notes.push(Note::of_run(EXCERPT));
        }
        let last = NormalLine::of(text, end.saturating_sub(1));
        let recognised = |line: NormalLine<'_>| match self.section {
            NormalSection::Groups => closing::is_whole_group(line) || line.text.starts_with("Run status"),
            NormalSection::Disks => matches!(closing::disk(line), Ok(Some(_))),
            NormalSection::Head | NormalSection::Result => true,
        };
        let is_part = !last.text.is_empty() && last.source.line(last.index).starts_with("  ") && !recognised(last);
        if last.may_be_cut() && (self.is_cut || is_part) {
            self.notes.push(Note::of_run(CUT_LINE));
        }
        Ok(())
    }

    fn run(mut self, text: &InputText) -> Result<Run, Problem> {
        let mut blocks = std::mem::take(&mut self.blocks);
        // The total over all servers repeats their results.
        let several = blocks.len() > 1;
        blocks.retain(|block| !several || block.result.name != fio::ALL_CLIENTS);
        let taken = blocks.first().map_or("", |block| text.line(block.begins));
        let taken_unix_ms = closing::ctime_ms(taken).unwrap_or(0);
        let begins = blocks.first().map_or(0, |block| block.begins);
        let results: Vec<(u32, String, u32)> =
            blocks.iter().map(|b| (b.result.group, b.result.name.clone(), b.result.workers)).collect();
        self.count_clones(&results);
        let mut jobs = Vec::new();
        for block in blocks {
            jobs.push(self.job(text, block, jobs.len(), &results)?);
        }
        if self.reports > 1 {
            self.notes.push(json::last_of(self.reports, begins));
        }
        let asked = |header: &NormalHeader| RequestedRun {
            name: header.name.clone(),
            group: header.group,
            declared: header.declared.clone(),
            ..RequestedRun::default()
        };
        let failed = jobs.iter().any(|job| job.error != 0);
        Ok(Run {
            schema: SCHEMA,
            tool: Tool { name: "fio".to_owned(), version: self.version },
            taken_unix_ms,
            asked: self.headers.iter().map(asked).collect(),
            jobs,
            disks: self.disks,
            notes: self.notes,
            quotes: self.quotes,
            outcome: if failed { RunOutcome::Failed } else { RunOutcome::Completed },
            ..Run::default()
        })
    }

    /// Determines the number of clones of each job, which headers do not state.
    fn count_clones(&mut self, results: &[(u32, String, u32)]) {
        let mut groups: Vec<u32> = self.headers.iter().map(|header| header.group).collect();
        groups.dedup();
        for group in groups {
            let of_group = || results.iter().filter(|(of, ..)| *of == group);
            let workers: u32 = of_group().map(|(.., workers)| *workers).fold(0, u32::saturating_add);
            let mut headers: Vec<&mut NormalHeader> = self.headers.iter_mut().filter(|h| h.group == group).collect();
            let has_results = |header: &NormalHeader| of_group().any(|(_, name, _)| *name == header.name);
            // Results of fewer workers than jobs are not merged: others are missing.
            let apart = (workers as usize) < headers.len();
            if apart || headers.iter().all(|header| has_results(header)) {
                for header in headers.into_iter().filter(|header| has_results(header)) {
                    let own = of_group().filter(|(_, name, _)| *name == header.name);
                    header.declared.numjobs = own.map(|(.., workers)| *workers).fold(0, u32::saturating_add);
                }
                continue;
            }
            // The jobs share one result.
            let cloned = headers.iter().filter(|header| header.clones).count() as u32;
            let rest = workers.saturating_sub(headers.len() as u32 - cloned);
            if cloned > 1 {
                let text =
                    format!("fio does not print how the {workers} workers of group {group} divide among its jobs");
                self.notes.push(Note::of_run(text));
            }
            for header in headers.iter_mut().filter(|header| header.clones) {
                header.declared.numjobs = (rest / cloned).max(1);
            }
        }
    }

    fn job(
        &mut self,
        text: &InputText,
        mut block: NormalBlock,
        number: usize,
        results: &[(u32, String, u32)],
    ) -> Result<JobResult, Problem> {
        let line = NormalLine::of(text, block.begins);
        let group = block.result.group;
        let of_group = |header: &&NormalHeader| header.group == group;
        let header = self.headers.iter().find(|header| of_group(header) && header.name == block.result.name);
        // All jobs of a group may be merged in its only result. Of several with one name, others belong to other runs.
        let jobs_of_group = self.headers.iter().filter(of_group).count();
        let merges = jobs_of_group <= 1 || block.result.workers as usize >= jobs_of_group;
        let alone = merges && results.iter().filter(|(of, ..)| *of == group).count() == 1;
        let issues = |kind| match alone {
            true => self.headers.iter().filter(of_group).any(|header| header.issues(kind)),
            false => header.is_some_and(|header| header.issues(kind)),
        };
        let reads_back = |kind| header.is_some() && kind == DataKind::Read && !issues(kind);
        let of_kind = |what: Quoted, kind: DataKind| {
            let is_own = |quote: &&Quote| quote.what == what && quote.kind == Some(kind);
            let own = self.quotes.iter().filter(is_own).filter(|quote| quote.of == Some(group.to_string()));
            own.map(|quote| rounded(quote.value)).max()
        };
        let ran = |kind| match of_kind(Quoted::GroupRuntimeNs, kind).filter(|_| alone) {
            Some(runtime_ns) => KindRan::For { runtime_ns, bytes: of_kind(Quoted::GroupBytes, kind).unwrap_or(0) },
            None if issues(kind) => KindRan::WithOthers,
            None => KindRan::Unknown,
        };
        block.finish(line, self.groups.is_empty(), reads_back, ran)?;
        let is_namesake = |header: &NormalHeader| header.name == block.result.name;
        let namesakes = self.headers.iter().filter(|header| of_group(header) && is_namesake(header)).count();
        let is_of_run = |header: &&NormalHeader| {
            namesakes <= 1 || !is_namesake(header) || NormalHeader::all_fit(&[header], block.measured())
        };
        let announced: Vec<&NormalHeader> = match alone {
            true => self.headers.iter().filter(of_group).filter(is_of_run).collect(),
            false => header.into_iter().collect(),
        };
        let fits = NormalHeader::all_fit(&announced, block.measured());
        let header = header.filter(|header| fits && is_of_run(header));
        let name = block.result.name.clone();
        let mut notes = Vec::new();
        let mut unified = UnifiedReport::None;
        if block.mixed {
            let kind = header.and_then(|_| shared(&announced, |header| fio::only_kind(&header.declared.rw)));
            notes.push(fio::mixed_note(kind));
            unified = if kind.is_none() { UnifiedReport::Mixed } else { UnifiedReport::None };
            kind.into_iter().for_each(|kind| block.set_mixed_kind(kind));
        }
        block.count_bytes(|kind| {
            shared(&announced, |header| {
                let sizes = header.declared.sizes(kind);
                (sizes.min == sizes.max && sizes.min > 0).then_some(sizes.min)
            })
            .filter(|_| header.is_some())
        });
        notes.extend(block.result.steady.as_ref().map(SteadyRecord::fio_note));
        for &(kind, ios) in &block.without_lines {
            let kind_name = kind.name();
            notes.push(match block.measured().kind(kind).runtime_ns {
                0 => format!("ignored: {ios} {kind_name}s, which fio counts but does not report separately"),
                _ => format!("the {kind_name} lines are missing: only their rate is known, from their count"),
            });
        }
        let note_of = |text: String| Note::of_result(&name, number as u32, text);
        self.notes.extend(notes.into_iter().map(note_of));

        let (mut job, counted) = (block.result, block.workers);
        job.number = number as u32;
        let together = if alone && fits { announced } else { Vec::new() };
        job.declared = declared(&job, header.map(|header| &header.declared), &together);
        match counted {
            ResultWorkers::Printed => {}
            ResultWorkers::Estimated => job.declared.estimated = EstimatedLoad::DepthAndWorkers,
            ResultWorkers::Unknown => (job.declared.in_flight_asked, job.declared.in_flight_possible) = (None, None),
        }
        job.declared.unified = unified;
        job.result.quoted_shares.get_or_insert_with(LatencyShares::default);
        Ok(job)
    }
}

/// Returns what all jobs of a result have in common.
fn shared<T: PartialEq>(announced: &[&NormalHeader], pick: impl Fn(&NormalHeader) -> Option<T>) -> Option<T> {
    let (first, others) = announced.split_first()?;
    pick(first).filter(|value| others.iter().all(|header| pick(header).as_ref() == Some(value)))
}

const EXCERPT: &str =
    "the output ends before the group status (`Run status group`): other jobs of the run may be missing";

/// Returns the settings of a job from its header and its printed lines.
fn declared(job: &JobResult, header: Option<&Declared>, together: &[&NormalHeader]) -> Declared {
    let printed = &job.declared;
    let workers = u64::from(job.workers);
    let estimate = || fio::Depth::of(&job.result.depth.percent(), &job.result, Some(job.workers));
    // Without a header the depth is estimated from the result, if it has a distribution of depths.
    let (iodepth, estimated) = match printed.iodepth {
        // The total of fio's client counts the results of servers instead of their workers.
        _ if job.name == fio::ALL_CLIENTS => (0, None),
        0 if job.result.depth.total > 0 => (estimate().iodepth, Some(estimate().in_flight_possible)),
        iodepth => (iodepth, None),
    };
    let own = header.cloned().unwrap_or_else(|| Declared {
        iodepth,
        iodepth_effective: iodepth,
        numjobs: job.workers,
        device: true,
        queues: iodepth > 1,
        kb_base: 1024,
        significant_figures: None,
        header_only: true,
        estimated: if estimated.is_some() { EstimatedLoad::Depth } else { EstimatedLoad::None },
        ..Declared::default()
    });
    let sum = |pick: fn(&Declared) -> u32| match together.len() {
        0 | 1 if own.iodepth == 0 => None,
        0 | 1 if header.is_none() && estimated.is_some() => estimated.flatten(),
        0 | 1 => Some(u64::from(pick(&own)) * workers),
        // How the workers divide over several jobs with clones is not known, and does not matter if all have one depth.
        _ if together.iter().filter(|header| header.clones).count() > 1 => {
            shared(together, |header| Some(pick(&header.declared))).map(|each| u64::from(each) * workers)
        }
        _ => Some(
            together.iter().map(|header| u64::from(pick(&header.declared)) * u64::from(header.declared.numjobs)).sum(),
        ),
    };
    let first = [&job.result.read, &job.result.write, &job.result.trim]
        .into_iter()
        .flat_map(|result| [&result.service, &result.latency, &result.submission])
        .find(|latency| !latency.quoted.is_empty());
    let issued_reads = header.is_none_or(|header| !matches!(header.rw.as_str(), "write" | "randwrite"))
        || together.iter().any(|job| job.issues(DataKind::Read));
    Declared {
        in_flight_asked: sum(|declared| declared.iodepth),
        in_flight_possible: sum(|declared| declared.iodepth_effective),
        syncs: printed.syncs,
        only_data_syncs: printed.only_data_syncs,
        verify: !issued_reads && job.result.read.ios > 0,
        percentiles: first.map_or_else(Vec::new, LatencyStats::quoted_percents),
        kept: printed.kept,
        continue_on_error: printed.continue_on_error,
        disk_util: true,
        unit_base: printed.unit_base,
        mixed: Mixed::all(
            together
                .iter()
                .map(|header| (header.name.as_str(), header.declared.numjobs, Cow::Borrowed(&header.declared))),
        ),
        ..own
    }
}

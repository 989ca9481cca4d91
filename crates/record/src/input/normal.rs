//! fio's normal output.
//!
//! Values are the most exact that were printed: counts from `issued rwts`, runtimes in milliseconds, bytes as rounded
//! as `io=` has them; the sums that they should make are left to whoever reads the quotes. Of several accounts, as
//! `--status-interval` makes them, the last one counts. An account that does not go on to the status of its groups was
//! cut off and is refused.

mod block;
mod closing;
mod figures;
mod header;

use super::text::Text;
use super::{InputError, json};
use crate::{Asked, Declared, DiskUse, JobResult, Kind, LatencyShares, Note, Outcome, Quote, Run, SCHEMA, Tool, fio};
use block::Block;
use figures::{Line, REMEDY};
use header::Header;

/// Whether a line is that of a job before it runs.
pub(super) fn is_header(line: &str) -> bool {
    header::is_one(line)
}

/// Whether there is any of it in a text.
pub(super) fn is_in(text: &Text) -> bool {
    text.lines().any(|line| header::is_one(line) || block::begins(line))
}

/// What was read so far.
#[derive(Debug, Default)]
struct Reader {
    version: String,
    headers: Vec<Header>,
    blocks: Vec<Block>,
    groups: Vec<Group>,
    disks: Vec<DiskUse>,
    quotes: Vec<Quote>,
    notes: Vec<Note>,
    accounts: usize,
    section: Section,
}

/// The status of a reporting group.
#[derive(Debug)]
struct Group {
    number: u32,
    /// The kinds it has a line of; mixed ones count as reads.
    kinds: Vec<Kind>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Head,
    Result,
    Groups,
    Disks,
}

pub(super) fn read(text: &Text) -> Result<Run, InputError> {
    let mut reader = Reader::default();
    for index in 0..text.len() {
        reader.line(Line::of(text, index))?;
    }
    reader.check_end(text)?;
    reader.run(text)
}

impl Reader {
    fn line(&mut self, line: Line<'_>) -> Result<(), InputError> {
        let text = line.text;
        if header::is_one(text) {
            if self.section != Section::Head {
                *self = Self { accounts: self.accounts, ..Self::default() };
            }
            self.headers.push(header::read(line)?);
        } else if block::begins(text) {
            self.begin_block(Block::begin(line)?);
        } else if let Some(rest) = text.strip_prefix("Run status group ") {
            self.section = Section::Groups;
            let number = rest.split_whitespace().next().unwrap_or_default();
            self.groups.push(Group { number: line.read(number, |text| text.parse().ok())?, kinds: Vec::new() });
        } else if text.starts_with("Disk stats (read/write)") {
            self.section = Section::Disks;
        } else {
            self.within(line)?;
        }
        Ok(())
    }

    fn within(&mut self, line: Line<'_>) -> Result<(), InputError> {
        let text = line.text;
        match self.section {
            Section::Head if text == "..." => {
                if let Some(last) = self.headers.last_mut() {
                    last.clones = true;
                }
            }
            Section::Head => {
                if let Some(version) = text.strip_prefix("fio-").filter(|rest| rest.starts_with(char::is_numeric)) {
                    self.version = version.to_owned();
                }
            }
            Section::Result => {
                if let Some(block) = self.blocks.last_mut() {
                    block.line(line)?;
                }
            }
            Section::Groups | Section::Disks if text.starts_with("note: ") => {
                self.notes.push(Note { job: None, text: text["note: ".len()..].to_owned() });
            }
            Section::Groups => {
                if let (Some((kind, quotes)), Some(group)) = (closing::group(line)?, self.groups.last_mut()) {
                    group.kinds.push(kind);
                    let of = Some(group.number.to_string());
                    self.quotes.extend(quotes.into_iter().map(|quote| Quote { of: of.clone(), ..quote }));
                }
            }
            Section::Disks => {
                if let Some((disk, quotes)) = closing::disk(line)? {
                    self.disks.push(disk);
                    self.quotes.extend(quotes);
                }
            }
        }
        Ok(())
    }

    /// A result after the status of groups begins another account.
    fn begin_block(&mut self, block: Block) {
        if self.section != Section::Result {
            self.accounts += 1;
            let headers = std::mem::take(&mut self.headers);
            let version = std::mem::take(&mut self.version);
            *self = Self { accounts: self.accounts, headers, version, ..Self::default() };
        }
        self.section = Section::Result;
        self.blocks.push(block);
    }

    /// Refuses an account that is cut off.
    fn check_end(&self, text: &Text) -> Result<(), InputError> {
        if self.blocks.is_empty() {
            return Err(text.cut_off("the output is cut off before the first result", REMEDY));
        }
        for block in &self.blocks {
            let group = self.groups.iter().find(|group| group.number == block.result.group);
            let Some(group) = group else {
                let what = format!("the output is cut off before `Run status group {}`", block.result.group);
                return Err(text.cut_off(what, PART));
            };
            let used = block.measured().kinds().filter(|(_, result)| result.runtime_ns > 0);
            if let Some((kind, _)) = used.into_iter().find(|(kind, _)| !group.kinds.contains(kind)) {
                let what = format!("the status of group {} is cut off before `{}`", group.number, kind.name());
                return Err(text.cut_off(what, PART));
            }
        }
        let last = Line::of(text, text.len().saturating_sub(1));
        let recognised = |line: Line<'_>| match self.section {
            Section::Groups => matches!(closing::group(line), Ok(Some(_))) || line.text.starts_with("Run status"),
            _ => matches!(closing::disk(line), Ok(Some(_))),
        };
        if !text.ended && !last.text.is_empty() && last.source.line(last.index).starts_with("  ") && !recognised(last) {
            return Err(text.cut_off("the output is cut off in the middle of a line", PART));
        }
        Ok(())
    }

    fn run(mut self, text: &Text) -> Result<Run, InputError> {
        let blocks = std::mem::take(&mut self.blocks);
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
        if self.accounts > 1 {
            self.notes.push(json::last_of(self.accounts, begins));
        }
        let asked = |header: &Header| Asked {
            name: header.name.clone(),
            group: header.group,
            declared: header.declared.clone(),
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
            outcome: if failed { Outcome::Failed } else { Outcome::Completed },
            ..Run::default()
        })
    }

    /// Fills in how many clones there are of each job, which the headers do not say.
    fn count_clones(&mut self, results: &[(u32, String, u32)]) {
        let mut groups: Vec<u32> = self.headers.iter().map(|header| header.group).collect();
        groups.dedup();
        for group in groups {
            let of_group = || results.iter().filter(|(of, ..)| *of == group);
            let workers: u32 = of_group().map(|(.., workers)| *workers).fold(0, u32::saturating_add);
            let mut headers: Vec<&mut Header> = self.headers.iter_mut().filter(|h| h.group == group).collect();
            if headers.iter().all(|header| of_group().any(|(_, name, _)| *name == header.name)) {
                for header in headers {
                    let own = of_group().filter(|(_, name, _)| *name == header.name);
                    header.declared.numjobs = own.map(|(.., workers)| *workers).fold(0, u32::saturating_add);
                }
                continue;
            }
            // All of them report as one.
            let cloned = headers.iter().filter(|header| header.clones).count() as u32;
            let rest = workers.saturating_sub(headers.len() as u32 - cloned);
            if cloned > 1 {
                let text = format!("fio does not say how {workers} workers divide over the jobs of group {group}");
                self.notes.push(Note { job: None, text });
            }
            for header in headers.iter_mut().filter(|header| header.clones) {
                header.declared.numjobs = (rest / cloned).max(1);
            }
        }
    }

    fn job(
        &mut self,
        text: &Text,
        mut block: Block,
        number: usize,
        results: &[(u32, String, u32)],
    ) -> Result<JobResult, InputError> {
        let line = Line::of(text, block.begins);
        let of_group = |header: &&Header| header.group == block.result.group;
        let header = self.headers.iter().find(|header| of_group(header) && header.name == block.result.name);
        let reads_back = |kind| header.is_some_and(|header| kind == Kind::Read && !header.issues(kind));
        block.finish(line, reads_back)?;
        let name = block.result.name.clone();
        let mut notes = Vec::new();
        if block.mixed {
            notes.push(fio::MIXED.to_owned());
        }
        notes.extend(block.steady.take().map(|steady| format!("fio's search for a steady state says: {steady}")));
        self.notes.extend(notes.into_iter().map(|text| Note { job: Some(name.clone()), text }));

        let mut job = block.result;
        job.number = number as u32;
        let alone = results.iter().filter(|(group, ..)| *group == job.group).count() == 1;
        let together: Vec<&Header> = self.headers.iter().filter(|header| alone && header.group == job.group).collect();
        job.declared = declared(&job, header.map(|header| &header.declared), &together);
        job.result.quoted_shares.get_or_insert_with(LatencyShares::default);
        Ok(job)
    }
}

const PART: &str = "give the whole output, or its figures: `--claim 'iops=10k,lat=3ms,qd=32'`";

/// What is known of what a job asked for: its header, and which lines were printed.
fn declared(job: &JobResult, header: Option<&Declared>, together: &[&Header]) -> Declared {
    let printed = &job.declared;
    let workers = u64::from(job.workers);
    let own = header.cloned().unwrap_or_else(|| Declared {
        iodepth: printed.iodepth.max(1),
        iodepth_effective: printed.iodepth.max(1),
        numjobs: job.workers,
        device: true,
        queues: printed.iodepth > 1,
        kb_base: 1024,
        header_only: true,
        ..Declared::default()
    });
    let sum = |pick: fn(&Declared) -> u32| match together.len() {
        0 | 1 => u64::from(pick(&own)) * workers,
        _ => together.iter().map(|header| u64::from(pick(&header.declared)) * u64::from(header.declared.numjobs)).sum(),
    };
    let first = [&job.result.read, &job.result.write, &job.result.trim]
        .into_iter()
        .flat_map(|result| [&result.service, &result.latency, &result.submission])
        .find(|latency| !latency.quoted.is_empty());
    let issued_reads = header.is_none_or(|header| !matches!(header.rw.as_str(), "write" | "randwrite"));
    Declared {
        in_flight_asked: sum(|declared| declared.iodepth),
        in_flight_possible: sum(|declared| declared.iodepth_effective),
        syncs: printed.syncs,
        only_data_syncs: printed.only_data_syncs,
        verify: !issued_reads && job.result.read.ios > 0,
        percentiles: first
            .map_or_else(Vec::new, |latency| latency.quoted.iter().map(|(percent, _)| *percent).collect()),
        kept: printed.kept,
        continue_on_error: printed.continue_on_error,
        disk_util: true,
        unit_base: printed.unit_base,
        ..own
    }
}

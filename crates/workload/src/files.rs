//! Resolves sizes into the files and regions of a worker.

use std::sync::Arc;

use job::{BlockSizes, Dialect, FileOptions, Job, Size};
use units::random::Random;
use units::{Bytes, Problem};

use crate::decision::{FileExtent, WorkerIndex};
use crate::replay::{check_replay, needed_bytes};
use crate::writers::Writers;

/// Facts about a file before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileFact {
    /// Size in bytes, or capacity of a block device.
    pub size: u64,
    /// Whether it is a block device, which cannot grow.
    pub block_device: bool,
    /// Size of the zones of a zoned device in bytes; zero for other files and devices.
    pub zone_bytes: u64,
    /// Whether it is a file that an earlier worker of the run creates.
    pub is_planned: bool,
}

/// The files of an [`Issuer`](crate::Issuer).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobLayout {
    /// Regions of the files, as indexed by decisions.
    pub files: Vec<FileExtent>,
    /// `size` in bytes, if given: an upper bound for one pass over all files.
    pub size: Option<u64>,
    /// `io_size` in bytes, if given: the amount to transfer, in several passes if the regions are smaller.
    pub io_size: Option<u64>,
    /// Identities of the files in headers of verified blocks ([`file_identity`](crate::file_identity)); if empty, their
    /// indices.
    pub identities: Vec<u32>,
    /// Regions of all workers that write at the same time, including this one; `None` if it is the only one.
    pub writers: Option<Arc<Writers>>,
}

/// A file that a worker uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// Path, including `directory`.
    pub path: String,
    /// Region for operations.
    pub extent: FileExtent,
    /// Size in bytes required before the first operation; the capacity of a block device.
    pub needed: u64,
    /// State at the time of planning; `None` if it did not exist.
    pub existing: Option<FileFact>,
}

impl PlannedFile {
    /// Returns the number of bytes by which the file must grow before use.
    #[must_use]
    pub fn missing_bytes(&self) -> u64 {
        self.needed.saturating_sub(self.existing.map_or(0, |fact| fact.size))
    }
}

/// The files of one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePlan {
    /// Files, as indexed by decisions.
    pub files: Vec<PlannedFile>,
    /// `size` in bytes, if given.
    pub size: Option<u64>,
    /// `io_size` in bytes, if given.
    pub io_size: Option<u64>,
}

impl FilePlan {
    /// Returns the layout for the issuer.
    #[must_use]
    pub fn layout(&self) -> JobLayout {
        let files = self.files.iter().map(|file| file.extent).collect();
        JobLayout { files, size: self.size, io_size: self.io_size, ..JobLayout::default() }
    }

    /// Returns the number of bytes by which all files must grow before use.
    #[must_use]
    pub fn missing_bytes(&self) -> u64 {
        self.files.iter().map(PlannedFile::missing_bytes).fold(0, u64::saturating_add)
    }

    /// Returns the number of bytes that one loop of the job transfers.
    #[must_use]
    pub fn transfer_bytes(&self) -> u64 {
        let regions = self.files.iter().map(|file| file.extent.length).fold(0, u64::saturating_add);
        self.io_size.unwrap_or_else(|| self.size.map_or(regions, |size| size.min(regions)))
    }
}

/// Plans which files a worker uses, which region of each, and how large each must be.
///
/// `existing` returns the state of a path; this function touches nothing. Sizes drawn from a `filesize` range depend on
/// `seed` and the worker alone.
///
/// # Errors
///
/// Fails if a size is unknown, if a region would be smaller than a block, or if it would lie outside a block device. In
/// fio's dialect a file with too small a region is left alone; only a total smaller than a block is an error.
pub fn plan_files(
    job: &Job,
    dialect: Dialect,
    worker: WorkerIndex,
    seed: u64,
    existing: &dyn Fn(&str) -> Option<FileFact>,
) -> Result<FilePlan, Problem> {
    let mut paths = paths(job, worker.clone, existing);
    if job.engine.kind.is_of_objects() {
        paths.iter_mut().for_each(|path| *path = job.engine.objects.url(path));
    }
    let facts: Vec<_> = paths.iter().map(|path| existing(path)).collect();
    let in_bytes = zones_in_bytes(job, &paths, &facts)?;
    let job = in_bytes.as_ref().unwrap_or(job);
    let mut planner = Planner {
        job,
        may_idle: dialect == Dialect::Fio,
        clone: u64::from(worker.clone),
        count: paths.len() as u64,
        least_block: u64::from(least_block(job)),
        replayed: Vec::new().into_iter(),
        random: Random::new(seed, u64::from(worker.index) << 8 | 0xf1),
    };
    planner.replayed = replayed_bytes(job, paths.len());
    let mut files = Vec::with_capacity(paths.len());
    for (path, fact) in paths.into_iter().zip(facts) {
        let file = planner.plan(path, fact)?;
        if !planner.may_idle {
            planner.check_length(&file, file.extent.length)?;
        }
        files.push(file);
    }
    let size = match job.extent.size {
        Some(Size::Bytes(size)) => Some(size.get()),
        Some(Size::Percent(_) | Size::Zones(_)) | None => None,
    };
    if let Some(first) = files.first() {
        let size = size.filter(|&size| size > 0);
        planner.check_size(size)?;
        let regions = files.iter().map(|file| file.extent.length).fold(0, u64::saturating_add);
        // As in fio, a job with a size may begin at the end of its files, and do nothing.
        if regions > 0 || size.is_none() {
            planner.check_length(first, regions)?;
        }
    }
    let mut plan = FilePlan { files, size, io_size: None };
    check_replay(job, &plan.layout().files)?;
    plan.io_size = io_size(job, &plan)?;
    Ok(plan)
}

/// Returns the job with bytes in place of sizes in zones, if it has some.
fn zones_in_bytes(job: &Job, paths: &[String], facts: &[Option<FileFact>]) -> Result<Option<Job>, Problem> {
    let extent = &job.extent;
    let sizes = [
        ("size", extent.size),
        ("io_size", extent.io_size),
        ("offset", Some(extent.offset)),
        ("offset_increment", Some(extent.offset_increment)),
    ];
    let Some((option, _)) = sizes.into_iter().find(|(_, size)| matches!(size, Some(Size::Zones(_)))) else {
        return Ok(None);
    };
    let failed = |why: String| job.unfit(option, why).help(format!("write {option} in bytes"));
    let mut zone_bytes = None;
    for (path, fact) in paths.iter().zip(facts) {
        let own = fact.map_or(0, |fact| fact.zone_bytes);
        if own == 0 {
            return Err(failed(format!("{path} has no zones, so {option} cannot be given in zones")));
        }
        if *zone_bytes.get_or_insert(own) != own {
            return Err(failed(format!("{path} and {} have different zone sizes", paths[0])));
        }
    }
    let Some(zone_bytes) = zone_bytes else { return Ok(None) };
    let mut job = job.clone();
    let extent = &mut job.extent;
    extent.size = extent.size.map(|size| size.of_zones(zone_bytes));
    extent.io_size = extent.io_size.map(|size| size.of_zones(zone_bytes));
    extent.offset = extent.offset.of_zones(zone_bytes);
    extent.offset_increment = extent.offset_increment.of_zones(zone_bytes);
    Ok(Some(job))
}

/// Returns the bytes that the trace of a replay covers in each file, at least a block; nothing for other jobs.
fn replayed_bytes(job: &Job, files: usize) -> std::vec::IntoIter<u64> {
    let facts = job.replay.as_ref().and_then(|replay| replay.facts.as_ref());
    let least = u64::from(least_block(job));
    let needed = facts.map_or_else(Vec::new, |facts| needed_bytes(facts, files));
    needed.into_iter().map(|bytes| bytes.max(least)).collect::<Vec<_>>().into_iter()
}

fn io_size(job: &Job, plan: &FilePlan) -> Result<Option<u64>, Problem> {
    match job.extent.io_size {
        None | Some(Size::Zones(_)) => Ok(None),
        Some(Size::Bytes(size)) if size.get() == 0 => Ok(None),
        Some(Size::Bytes(size)) => Ok(Some(size.get())),
        Some(Size::Percent(share)) if share > 100 => {
            Err(job.unfit("io_size", format_args!("{share}% exceeds 100%")).help("write at most 100%"))
        }
        Some(Size::Percent(share)) => Ok(Some(percent_of(plan.transfer_bytes(), share))),
    }
}

/// Returns the minimum block size of the job's kinds of operation, at least 1.
fn least_block(job: &Job) -> u32 {
    job.pattern.used_sizes().map(BlockSizes::min).min().unwrap_or(1).max(1)
}

fn percent_of(whole: u64, share: u32) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(share) / 100).unwrap_or(u64::MAX)
}

/// Returns the paths of a worker: `filename` as given, shared by all clones, or generated names, a set for each clone.
///
/// An export replaces all files, and all clones share it. A device whose path is the job's name is used as in fio's
/// `[/dev/sdb]`.
fn paths(job: &Job, clone: u32, existing: &dyn Fn(&str) -> Option<FileFact>) -> Vec<String> {
    if let Some(uri) = &job.engine.uri {
        return vec![uri.clone()];
    }
    let files = &job.files;
    if !files.filenames.is_empty() {
        return files.filenames.clone();
    }
    let title = job.section_title();
    if files.nrfiles <= 1 && existing(title).is_some_and(|fact| fact.block_device) {
        return vec![title.to_owned()];
    }
    let directory = match files.directories.len() {
        0 => None,
        count => Some(files.directories[clone as usize % count].as_str()),
    };
    let name = |number| generated_name(files, title, clone, number);
    (0..files.nrfiles.max(1)).map(|number| FileOptions::path_under(directory, &name(number))).collect()
}

/// Replaces `$jobname`, `$jobnum`, `$filenum` and `$clientuid` in the template, in any case.
fn generated_name(files: &FileOptions, title: &str, clone: u32, number: u32) -> String {
    let words = [
        ("$jobname", title.to_owned()),
        ("$jobnum", clone.to_string()),
        ("$filenum", number.to_string()),
        ("$clientuid", "localhost".to_owned()),
    ];
    let mut name = String::new();
    let mut rest = files.filename_format.as_str();
    while let Some(first) = rest.chars().next() {
        let word =
            words.iter().find(|(word, _)| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)));
        let taken = match word {
            Some((word, value)) => {
                name.push_str(value);
                word.len()
            }
            None => {
                name.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    name
}

/// Returns the reason why the size of a path is unknown.
const fn sizeless(fact: Option<FileFact>) -> &'static str {
    match fact {
        None => "does not exist",
        Some(_) => "is empty, or a device of unknown size",
    }
}

/// Length of the region of a job that writes until there is no space: more than filesystems hold, in whole blocks of any
/// size.
const ENDLESS_BYTES: u64 = 1 << 62;

struct Planner<'a> {
    job: &'a Job,
    /// Whether a file may be too small for any operation.
    may_idle: bool,
    clone: u64,
    count: u64,
    least_block: u64,
    /// Bytes that the trace of a replay covers in each of the following files.
    replayed: std::vec::IntoIter<u64>,
    random: Random,
}

impl Planner<'_> {
    fn plan(&mut self, path: String, fact: Option<FileFact>) -> Result<PlannedFile, Problem> {
        let start = self.start(fact);
        let asked = self.asked_length(&path, start, fact)?;
        let length = self.fit(&path, start, asked, fact)?;
        let needed = match fact {
            Some(fact) if fact.block_device => fact.size,
            // Writes extend it until there is no space.
            fact if self.job.fills_device() => fact.map_or(0, |fact| fact.size),
            fact => start.saturating_add(length).max(fact.map_or(0, |fact| fact.size)),
        };
        Ok(PlannedFile { path, extent: FileExtent { start, length }, needed, existing: fact })
    }

    /// Fails if `size` is less than a block.
    fn check_size(&self, size: Option<u64>) -> Result<(), Problem> {
        match size.filter(|&size| size < self.least_block) {
            Some(size) => {
                let message = format!("{size} bytes is less than the smallest block, {}", self.least_block);
                Err(self.job.unfit("size", message))
            }
            None => Ok(()),
        }
    }

    /// Fails if `length` bytes, of the region or of all regions, are less than a block.
    fn check_length(&self, file: &PlannedFile, length: u64) -> Result<(), Problem> {
        let (least, start, path) = (self.least_block, file.extent.start, &file.path);
        if length >= least {
            return Ok(());
        }
        let has_size = self.job.extent.size.is_some_and(|size| size != Size::Bytes(Bytes::ZERO));
        let option = if has_size || self.job.files.filesize.is_some() { "size" } else { "offset" };
        let offers = file.extent.length;
        let message = format!("{path} has {offers} bytes from offset {start}, less than the smallest block of {least}");
        Err(self.job.unfit(option, message))
    }

    fn start(&self, fact: Option<FileFact>) -> u64 {
        if let Some(fact) = fact.filter(|fact| self.job.files.file_append && !fact.block_device) {
            return fact.size;
        }
        let extent = &self.job.extent;
        self.distance(extent.offset, 1, fact).saturating_add(self.distance(extent.offset_increment, self.clone, fact))
    }

    /// Returns a multiple of a distance in bytes; as in fio, percentages are rounded up to whole blocks.
    fn distance(&self, size: Size, times: u64, fact: Option<FileFact>) -> u64 {
        match size {
            Size::Bytes(bytes) => bytes.get().saturating_mul(times),
            // They have been replaced.
            Size::Zones(_) => 0,
            Size::Percent(share) => {
                let share = u32::try_from(u64::from(share).saturating_mul(times)).unwrap_or(u32::MAX);
                let bytes = percent_of(fact.map_or(0, |fact| fact.size), share);
                let align = match self.job.extent.offset_align.get() {
                    0 => self.least_block,
                    align => align,
                };
                bytes.checked_next_multiple_of(align).unwrap_or(u64::MAX)
            }
        }
    }

    /// Reports whether a replay takes the size of its target as it is.
    fn keeps_size(&self, fact: FileFact) -> bool {
        let is_redirected = self.job.replay.as_ref().is_some_and(|replay| replay.is_redirected);
        is_redirected && self.job.extent.size.is_none() && fact.size > 0 && !fact.is_planned
    }

    /// Returns the requested length of the region; `None` for all of the file after the offset.
    fn asked_length(&mut self, path: &str, start: u64, fact: Option<FileFact>) -> Result<Option<u64>, Problem> {
        if let (Some(bytes), None) = (self.replayed.next(), self.job.extent.size) {
            return Ok(Some(bytes));
        }
        if self.job.fills_device() {
            return Ok(Some(ENDLESS_BYTES));
        }
        if let Some((low, high)) = self.job.files.filesize {
            let file = self.draw_size(low.get(), high.get());
            let rest = self.rest(path, start, file)?;
            return Ok(Some(match self.job.extent.size {
                Some(Size::Percent(share)) => percent_of(file, share).min(rest),
                _ => rest,
            }));
        }
        match (self.job.extent.size, fact) {
            (Some(Size::Bytes(size)), _) if size.get() > 0 => Ok(Some(size.get() / self.count)),
            (Some(Size::Percent(share)), Some(fact)) if fact.size > 0 => Ok(Some(percent_of(fact.size, share))),
            (None, Some(fact)) if fact.size > 0 => Ok(None),
            (Some(Size::Percent(share)), _) => {
                let message = format!("{path} {}, so {share}% of it is 0 bytes", sizeless(fact));
                Err(self.job.unfit("size", message).help("write size= in bytes"))
            }
            _ => {
                let message = format!("you need to specify size=, as in size=1g: {path} {}", sizeless(fact));
                Err(self.job.unfit("size", message))
            }
        }
    }

    fn draw_size(&mut self, low: u64, high: u64) -> u64 {
        let spread = high.saturating_sub(low);
        if spread == 0 {
            return low;
        }
        let drawn = low + self.random.below(spread.saturating_add(1));
        (drawn / self.least_block * self.least_block).max(low)
    }

    /// Returns the length of a file of `bytes` bytes after `start`.
    fn rest(&self, path: &str, start: u64, bytes: u64) -> Result<u64, Problem> {
        if start > bytes || (start == bytes && !self.may_idle) {
            let message = format!("{start} is at or beyond the end of {path}, which has {bytes} bytes");
            return Err(self.job.unfit("offset", message));
        }
        Ok(bytes - start)
    }

    /// Cuts the region at the end of a device, or of a file whose size the job does not decide.
    fn fit(&self, path: &str, start: u64, asked: Option<u64>, fact: Option<FileFact>) -> Result<u64, Problem> {
        let Some(fact) = fact.filter(|&fact| fact.block_device || asked.is_none() || self.keeps_size(fact)) else {
            return Ok(asked.unwrap_or(0));
        };
        let rest = self.rest(path, start, fact.size)?;
        Ok(asked.map_or(rest, |length| length.min(rest)))
    }
}

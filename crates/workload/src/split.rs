//! Divides the work of a job among ranks.

use job::{BlockSizes, Job, RankShare, SplitKind};
use units::Problem;

use crate::decision::FileExtent;
use crate::files::{FilePlan, PlannedFile};

impl FilePlan {
    /// Returns the part of the files that a job's share leaves to this rank; all of them without a share.
    ///
    /// # Errors
    ///
    /// Fails if the files, or the blocks of one, cannot be divided among so many ranks, and if the job is for some ranks
    /// only although the run has no ranks.
    pub fn part_of_rank(self, job: &Job) -> Result<Self, Problem> {
        if job.ranks.selects() {
            let option = if job.ranks.hosts.is_empty() { "ranks" } else { "rank_hosts" };
            return Err(job.unfit(option, "only some ranks run the job, and this run has no ranks").help(
                "start it with `mpirun -n RANKS fathom-fleet run` or `fathom sim --hosts N`, or leave out `ranks` and \
                 `rank_hosts`",
            ));
        }
        let Some(share) = job.ranks.share.filter(|share| share.count > 1) else { return Ok(self) };
        let block = block(job);
        match share.kind {
            SplitKind::Size => self.part_of_size(job, share, block),
            SplitKind::Files => self.part_of_files(job, share),
            SplitKind::Offsets => self.part_of_regions(job, share, block),
        }
    }

    fn part_of_size(mut self, job: &Job, share: RankShare, block: u64) -> Result<Self, Problem> {
        for file in &mut self.files {
            let whole = file.extent;
            file.extent.length = part(whole.length, block, share).length;
            check(job, file, whole.length, block, share)?;
            if file.existing.is_none_or(|fact| !fact.block_device) {
                let end = file.extent.start.saturating_add(file.extent.length);
                file.needed = end.max(file.existing.map_or(0, |fact| fact.size));
            }
        }
        self.divide_amounts(block, share);
        Ok(self)
    }

    fn part_of_files(mut self, job: &Job, share: RankShare) -> Result<Self, Problem> {
        let (files, count) = (self.files.len(), share.count as usize);
        if files < count {
            return Err(job
                .unfit("nrfiles", format_args!("{files} files cannot be divided among {count} ranks"))
                .help("name at least as many files as ranks, or write `--split offsets`"));
        }
        let bytes = |files: &[PlannedFile]| files.iter().map(|file| u128::from(file.extent.length)).sum::<u128>();
        let all = bytes(&self.files);
        let mut number = 0;
        self.files.retain(|_| {
            number += 1;
            (number - 1) % count == share.index as usize
        });
        let own = bytes(&self.files);
        // Amounts are divided as the bytes of the files are.
        let divide = |amount: u64| (u128::from(amount) * own).checked_div(all).map_or(0, |part| part as u64);
        (self.size, self.io_size) = (self.size.map(divide), self.io_size.map(divide));
        Ok(self)
    }

    fn part_of_regions(mut self, job: &Job, share: RankShare, block: u64) -> Result<Self, Problem> {
        for file in &mut self.files {
            let whole = file.extent;
            let part = part(whole.length, block, share);
            file.extent = FileExtent { start: whole.start.saturating_add(part.start), length: part.length };
            check(job, file, whole.length, block, share)?;
        }
        self.divide_amounts(block, share);
        Ok(self)
    }

    fn divide_amounts(&mut self, block: u64, share: RankShare) {
        let divide = |amount: u64| part(amount, block, share).length;
        (self.size, self.io_size) = (self.size.map(divide), self.io_size.map(divide));
    }
}

/// Returns the largest block of the job, so that parts begin and end at blocks.
fn block(job: &Job) -> u64 {
    job.pattern.used_sizes().map(BlockSizes::max).max().map_or(1, |block| u64::from(block).max(1))
}

/// Returns a part of so many bytes in whole blocks. The last part has the rest.
fn part(bytes: u64, block: u64, share: RankShare) -> FileExtent {
    let blocks = u128::from(bytes / block);
    let (index, count) = (u128::from(share.index), u128::from(share.count));
    let at = |index: u128| (blocks * index / count) as u64 * block;
    let end = if index + 1 == count { bytes } else { at(index + 1) };
    FileExtent { start: at(index), length: end - at(index) }
}

/// Fails if some part has no block. All ranks decide alike.
fn check(job: &Job, file: &PlannedFile, bytes: u64, block: u64, share: RankShare) -> Result<(), Problem> {
    let (blocks, count) = (bytes / block, share.count);
    if blocks >= u64::from(count) {
        return Ok(());
    }
    let path = &file.path;
    let message = format!("{bytes} bytes of {path} are {blocks} blocks of {block} bytes, too few for {count} ranks");
    Err(job.unfit("size", message).help("use a larger size, smaller blocks or fewer ranks"))
}

#[cfg(test)]
mod tests {
    use job::{Dialect, EmptySource, parse_file_text};

    use super::*;
    use crate::decision::WorkerIndex;
    use crate::files::{FileFact, plan_files};

    const GIB: u64 = 1 << 30;

    fn parts(options: &str, kind: SplitKind, count: u32) -> Result<Vec<FilePlan>, Problem> {
        let text = format!("[a]\n{options}\n");
        let parsed = parse_file_text("a.fio", text.as_bytes(), Dialect::Strict, &EmptySource);
        let mut job = parsed.into_result().unwrap().0.jobs.remove(0);
        let existing = |path: &str| {
            path.starts_with("/dev/").then_some(FileFact { size: GIB, block_device: true, ..FileFact::default() })
        };
        let part = |index| {
            job.ranks.share = Some(RankShare { kind, index, count });
            let worker = WorkerIndex { index: 0, clone: 0 };
            plan_files(&job, Dialect::Strict, worker, 1, &existing)?.part_of_rank(&job)
        };
        (0..count).map(part).collect()
    }

    #[test]
    fn regions_are_adjacent_and_cover_the_whole() {
        for (options, whole, block) in [
            ("rw=randread\nbs=4k\nfilename=/dev/x", (0, GIB), 4096),
            ("rw=randrw\nbs=4k,1m\nfilename=/dev/x\noffset=1m", (1 << 20, GIB - (1 << 20)), 1 << 20),
            ("rw=write\nbs=3k\nsize=1000k\nfilename=y", (0, 1000 << 10), 3 << 10),
        ] {
            for count in [2, 3, 7, 8] {
                let parts = parts(options, SplitKind::Offsets, count).unwrap();
                let mut next = whole.0;
                for part in &parts {
                    let extent = part.files[0].extent;
                    assert_eq!((extent.start, (extent.start - whole.0) % block), (next, 0), "{options} {count}");
                    assert_eq!(part.files[0].needed, parts[0].files[0].needed, "the file is as large as before");
                    next += extent.length;
                }
                assert_eq!(next, whole.0 + whole.1, "{options} {count}");
                let lengths: Vec<u64> = parts.iter().map(|part| part.files[0].extent.length / block).collect();
                assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1, "{lengths:?}");
            }
        }
    }

    #[test]
    fn amounts_are_divided() {
        let parts = parts("rw=write\nbs=1m\nsize=10m\nio_size=20m\nfilename=y", SplitKind::Size, 4).unwrap();
        let extents: Vec<(u64, u64)> =
            parts.iter().map(|part| (part.files[0].extent.start, part.files[0].needed)).collect();
        let mib = |size: u64| size << 20;
        assert_eq!(extents, [(0, mib(2)), (0, mib(3)), (0, mib(2)), (0, mib(3))]);
        assert_eq!(parts.iter().map(|part| part.size.unwrap()).sum::<u64>(), mib(10));
        assert_eq!(parts.iter().map(|part| part.io_size.unwrap()).sum::<u64>(), mib(20));
    }

    #[test]
    fn files_are_divided() {
        let parts = parts("rw=read\nbs=1m\nsize=10m\nnrfiles=5", SplitKind::Files, 2).unwrap();
        let names: Vec<Vec<&str>> =
            parts.iter().map(|part| part.files.iter().map(|file| file.path.as_str()).collect()).collect();
        assert_eq!(names, [vec!["a.0.0", "a.0.2", "a.0.4"], vec!["a.0.1", "a.0.3"]]);
        assert_eq!(parts.iter().map(|part| part.size.unwrap()).collect::<Vec<_>>(), [6 << 20, 4 << 20]);
    }

    #[test]
    fn too_little_work_is_refused_by_every_rank() {
        let few = parts("rw=read\nbs=1m\nsize=3m\nfilename=y", SplitKind::Offsets, 4).unwrap_err().to_string();
        assert!(few.contains("3 blocks of 1048576 bytes, too few for 4 ranks"), "{few}");
        assert!(parts("rw=read\nbs=1m\nsize=3m\nfilename=y", SplitKind::Size, 4).is_err());
        assert!(parts("rw=read\nbs=1m\nsize=30m\nnrfiles=3", SplitKind::Files, 4).is_err());
    }
}

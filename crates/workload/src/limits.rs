//! Limits on the amount of work per loop of a job.

use job::{BlockSizes, Direction, Job};

use crate::files::JobLayout;

/// Bytes and operations left in the current loop, and loops left.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Negative if the last operation exceeded the limit, which shortens the next loop by as much.
    bytes: i64,
    operations: u64,
    bytes_each: i64,
    operations_each: u64,
    /// Loops left, including the current one; `None` for no end (`time_based`).
    loops: Option<u32>,
    /// Whether a loop has as many passes over the files as its bytes need.
    wraps: bool,
    /// Bytes to write, trim and read back in all loops, whatever their number.
    goal: u64,
    /// Whether each block is trimmed, then written: fio counts both for `goal`.
    has_pairs: bool,
    /// Bytes written, trimmed and read back in previous loops.
    moved: u64,
    /// Whether each loop begins with new files.
    renews_files: bool,
    /// Whether a loop that has used up its bytes is followed by one from the start of the region.
    restarts: bool,
    /// Smallest block if loops repeat up to the goal and not beyond it, whatever their number; 0 otherwise.
    cut_to: i64,
}

impl Limits {
    /// `usable` is the total of bytes in passes over all regions. If they have passes (`has_passes`), a loop is at most a
    /// pass in jobs that read back each pass (`reads_back`) and, as in fio, in jobs with several loops or with pairs of
    /// trims and writes. `io_size` is then the minimum of all loops together.
    ///
    /// If the regions are larger than `size`, fio's loops depend on the engine: with operations in a queue, each begins at
    /// the start; otherwise they go on through the regions, and so does more than `size` of `io_size`.
    pub(crate) fn new(job: &Job, layout: &JobLayout, usable: u64, has_passes: bool, reads_back: bool) -> Self {
        let extent = &job.extent;
        let counted = extent.number_ios.is_some_and(|count| count > 0);
        let has_pairs = job.pattern.direction == Direction::TrimWrite;
        let limited = !counted && !extent.time_based;
        let by_pass =
            has_passes && (reads_back || (limited && (extent.loops > 1 || has_pairs || job.files.unlink_each_loop)));
        let is_queued = job.is_queued();
        // With `io_size`, fio's pairs pass over the whole file too. A pass of `sprandom` is longer than the region.
        let goes_beyond =
            layout.io_size.is_some() && (has_pairs || !is_queued) || job.pattern.preconditioning.is_some();
        let pass = layout.size.filter(|_| !goes_beyond).map_or(usable, |size| size.min(usable));
        let restarts = is_queued
            && job.pattern.zoned.is_none()
            && !job.fills_device()
            && pass < usable
            && !extent.time_based
            && layout.io_size.is_none_or(|io_size| io_size >= pass);
        let repeats = layout.io_size.is_some_and(|io_size| io_size > pass) && extent.loops <= 1;
        let is_cut = restarts && has_passes && repeats && !by_pass;
        let by_pass = by_pass || is_cut;
        let bytes = layout.io_size.map_or(pass, |io_size| if by_pass { io_size.min(pass) } else { io_size });
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX).max(1);
        let operations = extent.number_ios.filter(|&count| count > 0).unwrap_or(u64::MAX);
        Self {
            bytes,
            operations,
            bytes_each: bytes,
            operations_each: operations,
            loops: (!extent.time_based).then_some(extent.loops.max(1)),
            wraps: (layout.io_size.is_some() || extent.time_based) && !by_pass,
            goal: layout.io_size.filter(|_| by_pass && (is_cut || !counted)).unwrap_or(0),
            moved: 0,
            restarts,
            cut_to: if is_cut {
                job.pattern.used_sizes().map(BlockSizes::min).min().unwrap_or(1).max(1).into()
            } else {
                0
            },
            // As in fio, endless jobs have one loop.
            renews_files: job.files.unlink_each_loop && !extent.time_based,
            has_pairs,
        }
    }

    /// Reports whether each loop begins with new files (`unlink_each_loop`).
    pub(crate) const fn renews_files(&self) -> bool {
        self.renews_files
    }

    /// Counts an operation. Returns true if it was the last of its loop.
    #[inline]
    pub(crate) fn spend(&mut self, bytes: u32) -> bool {
        self.bytes -= i64::from(bytes);
        self.operations -= 1;
        self.bytes <= 0 || self.operations == 0
    }

    /// Returns the number of operations of `length` bytes left in this loop, including the one that ends it.
    pub(crate) fn operations_of(&self, length: u32) -> u64 {
        let bytes = u64::try_from(self.bytes).unwrap_or(0);
        bytes.div_ceil(u64::from(length.max(1))).min(self.operations)
    }

    /// Counts `operations` of `length` bytes, none of which was the last of its loop.
    pub(crate) fn account(&mut self, operations: u64, length: u32) {
        self.bytes = self.bytes.saturating_sub_unsigned(operations * u64::from(length));
        self.operations -= operations;
    }

    /// Begins the next loop with work to do. Returns false if there is none.
    pub(crate) fn next_loop(&mut self) -> bool {
        if self.cut_to > 0 {
            return self.next_part();
        }
        let written = self.bytes_each - self.bytes;
        self.moved = self.moved.saturating_add_signed(if self.has_pairs { written.saturating_mul(2) } else { written });
        self.bytes = self.bytes.min(0);
        self.operations = self.operations_each;
        while self.bytes <= 0 {
            if let Some(loops) = &mut self.loops {
                *loops = loops.saturating_sub(1);
                if *loops == 0 && self.moved >= self.goal {
                    return false;
                }
            }
            self.bytes = self.bytes.saturating_add(self.bytes_each);
        }
        true
    }

    /// Begins another loop if there is a block left up to the goal. The number of operations is that of all loops.
    fn next_part(&mut self) -> bool {
        let moved = self.bytes_each - self.bytes;
        self.moved = self.moved.saturating_add_signed(moved);
        let left = i64::try_from(self.goal.saturating_sub(self.moved)).unwrap_or(i64::MAX);
        if left < self.cut_to || self.operations == 0 {
            return false;
        }
        self.bytes_each = self.bytes_each.min(left);
        self.bytes = self.bytes_each;
        true
    }

    /// Reports whether the next loop begins at the start of the region instead of going on through it.
    pub(crate) fn restarts(&self) -> bool {
        self.restarts && self.bytes <= 0
    }

    /// Counts bytes read back.
    pub(crate) fn read_back(&mut self, bytes: u64) {
        self.moved = self.moved.saturating_add(bytes);
    }

    /// Reports whether loops repeat until the caller stops.
    pub(crate) const fn is_endless(&self) -> bool {
        self.loops.is_none()
    }

    /// Reports whether the current loop is the last.
    pub(crate) fn is_last_loop(&self) -> bool {
        let moved = self.moved.saturating_add_signed(self.bytes_each - self.bytes);
        let has_part_left = self.cut_to > 0 && self.goal.saturating_sub(moved) >= self.cut_to.unsigned_abs();
        self.loops.is_some_and(|loops| loops <= 1) && !has_part_left
    }

    /// Reports whether another pass begins in this loop. As in fio, there must be `least` bytes left for it, a block.
    pub(crate) fn begins_pass(&self, least: u32) -> bool {
        self.wraps && (self.is_endless() || self.bytes >= i64::from(least))
    }

    /// Makes the current loop the last.
    pub(crate) fn stop(&mut self) {
        (self.loops, self.goal) = (Some(0), 0);
    }
}

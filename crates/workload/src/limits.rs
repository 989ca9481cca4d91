//! Amount of work per loop of a job.

use job::Job;

use crate::files::JobLayout;

/// Bytes and operations left in the current loop, and loops left.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Less than zero where the last operation went beyond the limit: the next loop is shorter by that much.
    bytes: i64,
    operations: u64,
    bytes_each: i64,
    operations_each: u64,
    /// Loops left, the current one included; `None` for no end (`time_based`).
    loops: Option<u32>,
    /// The files are gone through again and again until the bytes are reached.
    wraps: bool,
    /// Loops follow one another until so many bytes are written and read back together, whatever their number.
    goal: u64,
    /// Bytes written and read back in the loops that have ended.
    moved: u64,
}

impl Limits {
    /// `usable` is the sum of the usable bytes of all regions. Where one can be through with them (`has_passes`), a loop
    /// is no longer than a pass in jobs that rest after it to read it back (`rests`), and, as with fio, in jobs that are
    /// to loop: `io_size` then is what all loops together come to at least.
    pub(crate) fn new(job: &Job, layout: &JobLayout, usable: u64, has_passes: bool, rests: bool) -> Self {
        let extent = &job.extent;
        let counted = extent.number_ios.is_some_and(|count| count > 0);
        let by_pass = has_passes && (rests || (extent.loops > 1 && !counted && !extent.time_based));
        let pass = layout.size.map_or(usable, |size| size.min(usable));
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
            goal: layout.io_size.filter(|_| by_pass && !counted).unwrap_or(0),
            moved: 0,
        }
    }

    /// Whether files that have been gone through are begun again within the same loop.
    pub(crate) const fn wraps(&self) -> bool {
        self.wraps
    }

    /// Counts an operation; true when it was the last of its loop.
    #[inline]
    pub(crate) fn spend(&mut self, bytes: u32) -> bool {
        self.bytes -= i64::from(bytes);
        self.operations -= 1;
        self.bytes <= 0 || self.operations == 0
    }

    /// How many operations of `length` bytes this loop has left, the one that ends it included.
    pub(crate) fn operations_of(&self, length: u32) -> u64 {
        let bytes = u64::try_from(self.bytes).unwrap_or(0);
        bytes.div_ceil(u64::from(length.max(1))).min(self.operations)
    }

    /// Counts `operations` of `length` bytes, of which none was the last of its loop.
    pub(crate) fn account(&mut self, operations: u64, length: u32) {
        self.bytes = self.bytes.saturating_sub_unsigned(operations * u64::from(length));
        self.operations -= operations;
    }

    /// Begins the next loop in which there is something to do; false when there is none.
    pub(crate) fn next_loop(&mut self) -> bool {
        self.moved = self.moved.saturating_add_signed(self.bytes_each - self.bytes);
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

    /// Counts what was read back.
    pub(crate) fn read_back(&mut self, bytes: u64) {
        self.moved = self.moved.saturating_add(bytes);
    }

    /// Whether loops follow one another until the caller stops.
    pub(crate) const fn is_endless(&self) -> bool {
        self.loops.is_none()
    }

    /// Whether no loop follows the current one.
    pub(crate) fn is_last_loop(&self) -> bool {
        self.loops.is_some_and(|loops| loops <= 1)
    }

    /// No loop follows the current one.
    pub(crate) fn stop(&mut self) {
        (self.loops, self.goal) = (Some(0), 0);
    }
}

//! Tags in flight and their submission times.

use target::Tag;
use units::Nanos;

use crate::opening::Opening;

/// The state of all tags, one entry per tag.
pub(crate) struct EngineSlots {
    entries: Vec<EngineSlot>,
    in_flight: u32,
    /// See [`Opening::divides_calls`](crate::opening::Opening::divides_calls).
    divides_calls: bool,
    /// Last time that the worker was told, by the clock or with a completion: it counts from there what it then submits.
    latest: Nanos,
}

#[derive(Clone, Copy)]
struct EngineSlot {
    taken: bool,
    submitted: Nanos,
}

impl EngineSlots {
    pub(crate) fn new(setup: &Opening) -> Self {
        let free = EngineSlot { taken: false, submitted: Nanos::ZERO };
        let entries = vec![free; setup.depth as usize];
        Self { entries, in_flight: 0, divides_calls: setup.divides_calls, latest: Nanos::ZERO }
    }

    /// Records and returns a time that the worker is told.
    #[inline]
    pub(crate) fn tell(&mut self, now: Nanos) -> Nanos {
        self.latest = now;
        now
    }

    /// Returns the last time that the worker was told.
    pub(crate) fn latest(&self) -> Nanos {
        self.latest
    }

    /// Returns the number of tags.
    pub(crate) fn count(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Returns the number of tags in use.
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Marks a tag as in use. The caller ensures that the tag exists.
    #[inline]
    pub(crate) fn take(&mut self, tag: Tag) {
        self.entries[tag.index()].taken = true;
        self.in_flight += 1;
    }

    /// Records when a tag's operation was passed to the kernel.
    #[inline]
    pub(crate) fn stamp(&mut self, tag: Tag, now: Nanos) {
        self.entries[tag.index()].submitted = now;
    }

    /// Records that a call, which ended at `now`, passed the operations of `tags` to the kernel. If they divide it, each was
    /// submitted after its share of the call, as the first one was: what the others waited beyond that is not hidden, but part
    /// of their completion.
    #[inline]
    pub(crate) fn stamp_call(&mut self, tags: &[Tag], now: Nanos) {
        let mut submitted = now;
        if self.divides_calls && tags.len() > 1 {
            submitted = self.latest + Nanos::new(now.since(self.latest).get() / tags.len() as u64);
        }
        tags.iter().for_each(|tag| self.stamp(*tag, submitted));
    }

    /// Frees a tag and returns when its operation was passed to the kernel.
    #[inline]
    pub(crate) fn release(&mut self, tag: Tag) -> Nanos {
        let slot = &mut self.entries[tag.index()];
        slot.taken = false;
        self.in_flight -= 1;
        slot.submitted
    }

    /// Reports whether the kernel may be using the tag's buffer.
    pub(crate) fn is_taken(&self, tag: Tag) -> bool {
        self.entries.get(tag.index()).is_some_and(|slot| slot.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::MonotonicClock;
    use target::spec::EngineKind;

    /// Returns when operations count as submitted that a call from 100 to 140 ns passed to the kernel.
    fn submitted(divides_calls: bool, operations: u32) -> Vec<u64> {
        let setup = Opening { divides_calls, ..Opening::new(EngineKind::IoUring, 4, 4096, MonotonicClock::start()) };
        let mut slots = EngineSlots::new(&setup);
        let tags: Vec<Tag> = (0..operations).map(Tag).collect();
        slots.tell(Nanos::new(100));
        tags.iter().for_each(|tag| slots.take(*tag));
        slots.stamp_call(&tags, Nanos::new(140));
        tags.iter().map(|tag| slots.release(*tag).get()).collect()
    }

    /// Each of four operations had the whole call as `slat`, four times that of fio, which submits one by one.
    #[test]
    fn operations_divide_a_call_unless_the_job_forms_groups() {
        assert_eq!(submitted(true, 4), [110; 4]);
        assert_eq!(submitted(false, 4), [140; 4]);
        assert_eq!(submitted(true, 1), [140]);
    }
}

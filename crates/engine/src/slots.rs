//! Tags in flight and their submission times.

use target::Tag;
use units::Nanos;

/// The state of all tags, one entry per tag.
pub(crate) struct EngineSlots {
    entries: Vec<EngineSlot>,
    in_flight: u32,
}

#[derive(Clone, Copy)]
struct EngineSlot {
    taken: bool,
    submitted: Nanos,
}

impl EngineSlots {
    pub(crate) fn new(depth: u32) -> Self {
        let free = EngineSlot { taken: false, submitted: Nanos::ZERO };
        Self { entries: vec![free; depth as usize], in_flight: 0 }
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

//! The event queue of all volumes of a world: ordered by time, then by insertion.

use units::Nanos;

/// An event: time in the upper half, then a sequence number, then the payload.
type Entry = u128;

/// Bits of the payload.
const WHAT_BITS: u32 = 24;
/// Children of a heap node: four fit into one cache line.
const ARITY: usize = 4;

/// A four-way heap whose root may be empty: a pop is usually followed by a push, which then fills the root and sinks
/// once.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventHeap {
    entries: Vec<Entry>,
    is_root_empty: bool,
    sequence: u64,
}

impl EventHeap {
    /// Upper bound of payloads.
    pub(crate) const WHAT_MAX: u32 = 1 << WHAT_BITS;

    /// Schedules `what` at an instant.
    #[inline]
    pub(crate) fn push(&mut self, at: Nanos, what: u32) {
        debug_assert!(what < Self::WHAT_MAX, "event payload out of range");
        let entry = u128::from(at.get()) << 64 | u128::from(self.sequence << WHAT_BITS) | u128::from(what);
        self.sequence += 1;
        if self.is_root_empty {
            self.is_root_empty = false;
            self.sink(entry);
        } else {
            self.entries.push(entry);
            self.rise(entry);
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<Nanos> {
        self.fill_root();
        self.entries.first().map(|entry| Nanos::new((entry >> 64) as u64))
    }

    /// Removes the next event if it is no later than `until`.
    #[inline]
    pub(crate) fn pop(&mut self, until: Nanos) -> Option<(Nanos, u32)> {
        self.fill_root();
        let first = *self.entries.first()?;
        let at = Nanos::new((first >> 64) as u64);
        if at > until {
            return None;
        }
        self.is_root_empty = true;
        Some((at, (first as u32) & (Self::WHAT_MAX - 1)))
    }

    /// Fills an empty root with the last entry.
    #[inline]
    fn fill_root(&mut self) {
        if self.is_root_empty {
            self.is_root_empty = false;
            if let Some(last) = self.entries.pop()
                && !self.entries.is_empty()
            {
                self.sink(last);
            }
        }
    }

    /// Sinks an entry from the root.
    #[inline]
    fn sink(&mut self, entry: Entry) {
        let entries = &mut self.entries[..];
        let (mut place, mut first) = (0, 1);
        while let Some(children) = entries.get(first..).and_then(<[Entry]>::first_chunk::<ARITY>) {
            // Two rounds of comparisons find the least without branches.
            let (left, left_at) = lesser((children[0], 0), (children[1], 1));
            let (right, right_at) = lesser((children[2], 2), (children[3], 3));
            let (least, least_at) = lesser((left, left_at), (right, right_at));
            if entry <= least {
                entries[place] = entry;
                return;
            }
            entries[place] = least;
            place = first + least_at;
            first = place * ARITY + 1;
        }
        // The last node may have fewer children, which are leaves.
        let last = (first..entries.len()).min_by_key(|&child| entries[child]);
        if let Some(child) = last.filter(|&child| entries[child] < entry) {
            entries[place] = entries[child];
            place = child;
        }
        entries[place] = entry;
    }

    /// Raises the last entry to its place.
    #[inline]
    fn rise(&mut self, entry: Entry) {
        let mut place = self.entries.len() - 1;
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.entries[parent] <= entry {
                break;
            }
            self.entries[place] = self.entries[parent];
            place = parent;
        }
        self.entries[place] = entry;
    }
}

#[inline]
fn lesser(a: (Entry, usize), b: (Entry, usize)) -> (Entry, usize) {
    if b.0 < a.0 { b } else { a }
}

/// Event kinds: request completed, request admitted to its drive, drive moved.
pub(crate) const DONE: u32 = 0;
pub(crate) const ADMITTED: u32 = 1;
pub(crate) const MOVED: u32 = 2;

/// Bits of an event below its kind.
pub(crate) const ID_BITS: u32 = 22;

pub(crate) struct DriveEvents<'a> {
    pub(crate) events: &'a mut EventHeap,
    pub(crate) volume: u32,
}

impl DriveEvents<'_> {
    /// Schedules the completion of a request.
    #[inline]
    pub(crate) fn done(&mut self, at: Nanos, id: u32) {
        self.events.push(at, DONE << ID_BITS | id);
    }

    /// Schedules the next event of the drive.
    #[inline]
    pub(crate) fn wake(&mut self, at: Nanos) {
        self.events.push(at, MOVED << ID_BITS | self.volume);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use units::random::Random;

    #[test]
    fn equal_instants_pop_in_insertion_order() {
        let mut heap = EventHeap::default();
        for what in [5, 3, 9] {
            heap.push(Nanos::new(7), what);
        }
        let order: Vec<u32> = std::iter::from_fn(|| heap.pop(Nanos::MAX)).map(|(_, what)| what).collect();
        assert_eq!(order, [5, 3, 9]);
    }

    #[test]
    fn agrees_with_a_sorted_set_on_random_pushes_and_pops() {
        let seed = 20_261_121;
        let mut random = Random::new(seed, 0);
        let (mut heap, mut set) = (EventHeap::default(), BTreeSet::new());
        for step in 0..200_000_u64 {
            if random.below(100) < 52 {
                let at = Nanos::new(random.below(1_000));
                let what = random.below(1 << 20) as u32;
                heap.push(at, what);
                set.insert((at, step, what));
            } else {
                let until = Nanos::new(random.below(1_200));
                let expected = set.first().copied().filter(|(at, ..)| *at <= until);
                if let Some(first) = expected {
                    set.remove(&first);
                }
                assert_eq!(heap.pop(until), expected.map(|(at, _, what)| (at, what)), "seed {seed}, step {step}");
            }
            assert_eq!(heap.next(), set.first().map(|(at, ..)| *at), "seed {seed}, step {step}");
        }
    }
}

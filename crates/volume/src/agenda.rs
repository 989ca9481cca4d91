//! The event queue: ordered by time, then by insertion.

use units::Nanos;

/// An event: an instant in the upper half, then a sequence number, then what it is.
type Entry = u128;

/// Bits of an entry that say what it is.
const WHAT_BITS: u32 = 24;
/// Children of a heap node: four are compared while one cache line arrives.
const ARITY: usize = 4;

/// A four-way heap whose root may be a hole: an event that is taken out is most often followed by one that is
/// entered, which then takes the free place and moves down once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    heap: Vec<Entry>,
    hole: bool,
    sequence: u64,
}

impl Agenda {
    /// What can be told apart.
    pub(crate) const WHAT_MAX: u32 = 1 << WHAT_BITS;

    /// Enters `what` for an instant.
    #[inline]
    pub(crate) fn push(&mut self, at: Nanos, what: u32) {
        debug_assert!(what < Self::WHAT_MAX, "an event that has no number");
        let entry = u128::from(at.get()) << 64 | u128::from(self.sequence << WHAT_BITS) | u128::from(what);
        self.sequence += 1;
        if self.hole {
            self.hole = false;
            self.sink(entry);
        } else {
            self.heap.push(entry);
            self.rise(entry);
        }
    }

    /// When the next event is.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Nanos> {
        self.close();
        self.heap.first().map(|entry| Nanos::new((entry >> 64) as u64))
    }

    /// Takes the next event out, if it is no later than `until`.
    #[inline]
    pub(crate) fn pop(&mut self, until: Nanos) -> Option<(Nanos, u32)> {
        self.close();
        let first = *self.heap.first()?;
        let at = Nanos::new((first >> 64) as u64);
        if at > until {
            return None;
        }
        self.hole = true;
        Some((at, (first as u32) & (Self::WHAT_MAX - 1)))
    }

    /// Fills the hole, if there is one, from the end.
    #[inline]
    fn close(&mut self) {
        if self.hole {
            self.hole = false;
            if let Some(last) = self.heap.pop()
                && !self.heap.is_empty()
            {
                self.sink(last);
            }
        }
    }

    /// Puts an entry in the place of the root and moves it down.
    #[inline]
    fn sink(&mut self, entry: Entry) {
        let heap = &mut self.heap[..];
        let (mut place, mut first) = (0, 1);
        while let Some(children) = heap.get(first..).and_then(<[Entry]>::first_chunk::<ARITY>) {
            // Two rounds of a tournament: the winner is found without a jump.
            let (left, left_at) = lesser((children[0], 0), (children[1], 1));
            let (right, right_at) = lesser((children[2], 2), (children[3], 3));
            let (least, least_at) = lesser((left, left_at), (right, right_at));
            if entry <= least {
                heap[place] = entry;
                return;
            }
            heap[place] = least;
            place = first + least_at;
            first = place * ARITY + 1;
        }
        // The last node may have fewer children, which have none.
        let last = (first..heap.len()).min_by_key(|&child| heap[child]);
        if let Some(child) = last.filter(|&child| heap[child] < entry) {
            heap[place] = heap[child];
            place = child;
        }
        heap[place] = entry;
    }

    /// Moves the entry at the end up to its place.
    #[inline]
    fn rise(&mut self, entry: Entry) {
        let mut place = self.heap.len() - 1;
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.heap[place] = self.heap[parent];
            place = parent;
        }
        self.heap[place] = entry;
    }
}

#[inline]
fn lesser(a: (Entry, usize), b: (Entry, usize)) -> (Entry, usize) {
    if b.0 < a.0 { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use units::random::Random;

    #[test]
    fn equal_instants_come_in_the_order_in_which_they_were_entered() {
        let mut agenda = Agenda::default();
        for what in [5, 3, 9] {
            agenda.push(Nanos::new(7), what);
        }
        let order: Vec<u32> = std::iter::from_fn(|| agenda.pop(Nanos::MAX)).map(|(_, what)| what).collect();
        assert_eq!(order, [5, 3, 9]);
    }

    #[test]
    fn agrees_with_a_sorted_set_on_random_pushes_and_pops() {
        let seed = 20_261_121;
        let mut random = Random::new(seed, 0);
        let (mut agenda, mut set) = (Agenda::default(), BTreeSet::new());
        for step in 0..200_000_u64 {
            if random.below(100) < 52 {
                let at = Nanos::new(random.below(1_000));
                let what = random.below(1 << 20) as u32;
                agenda.push(at, what);
                set.insert((at, step, what));
            } else {
                let until = Nanos::new(random.below(1_200));
                let expected = set.first().copied().filter(|(at, ..)| *at <= until);
                if let Some(first) = expected {
                    set.remove(&first);
                }
                assert_eq!(agenda.pop(until), expected.map(|(at, _, what)| (at, what)), "seed {seed}, step {step}");
            }
            assert_eq!(agenda.next(), set.first().map(|(at, ..)| *at), "seed {seed}, step {step}");
        }
    }
}

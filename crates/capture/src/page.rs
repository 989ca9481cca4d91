//! Pages of the kernel's ring buffer, as `trace_pipe_raw` returns them.
//!
//! A page is the timestamp of its first event, the number of bytes of its events with two flags for missed events, and
//! the events: `kernel/trace/ring_buffer.c`, `include/linux/ring_buffer.h`.

use crate::layout::PageLayout;

/// Bits of the number of bytes; the flags are above.
const COMMIT_MASK: u64 = (1 << 20) - 1;
/// Flag: events before those of this page were overwritten.
const MISSED: u64 = 1 << 31;
/// Flag: their number follows the events.
const MISSED_STORED: u64 = 1 << 30;

const TYPE_PADDING: u32 = 29;
const TYPE_TIME_EXTEND: u32 = 30;
const TYPE_TIME_STAMP: u32 = 31;
/// Bits of the difference of times in the first word of an event.
const DELTA_BITS: u32 = 27;
/// Upper bits of a time, which absolute timestamps do not have.
const STAMP_UPPER: u64 = 0x1f << 59;

/// A page, from which events are taken.
#[derive(Clone, Debug)]
pub(crate) struct RingPage<'a> {
    events: &'a [u8],
    time_ns: u64,
    missed: Option<u64>,
    is_damaged: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RingEvent<'a> {
    /// Time on the clock of the buffer.
    pub(crate) time_ns: u64,
    pub(crate) bytes: &'a [u8],
}

impl<'a> RingPage<'a> {
    /// Begins to read a page. Bytes after its events are ignored.
    pub(crate) fn new(layout: &PageLayout, page: &'a [u8]) -> Self {
        let commit = layout.commit.value(page);
        let bytes = (commit & COMMIT_MASK) as usize;
        let all = page.get(layout.data..).unwrap_or_default();
        let events = all.get(..bytes);
        let stored = (commit & MISSED_STORED != 0).then(|| all.get(bytes..bytes + 8)).flatten();
        let count = stored.and_then(|stored| stored.try_into().ok()).map_or(0, u64::from_ne_bytes);
        Self {
            events: events.unwrap_or_default(),
            time_ns: layout.timestamp.value(page),
            // The number is unknown if it did not fit into the page.
            missed: (commit & MISSED != 0).then_some(count.max(1)),
            is_damaged: events.is_none(),
        }
    }

    /// Returns the number of events that were overwritten before those of this page, or 1 if it is unknown.
    pub(crate) fn missed(&self) -> Option<u64> {
        self.missed
    }

    /// Reports whether the page ended within an event, or has an event that is not understood.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Takes the first `count` bytes of what is left.
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.events.split_at_checked(count)?;
        self.events = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.take(4)?.try_into().ok()?))
    }

    /// Ends at bytes that are not understood.
    fn damage(&mut self) {
        self.events = &[];
        self.is_damaged = true;
    }
}

impl<'a> Iterator for RingPage<'a> {
    type Item = RingEvent<'a>;

    #[inline]
    fn next(&mut self) -> Option<RingEvent<'a>> {
        while !self.events.is_empty() {
            match next_event(self) {
                Some(Some(event)) => return Some(event),
                Some(None) => {}
                None => self.damage(),
            }
        }
        None
    }
}

/// Takes an event: `Some(None)` for one without data, `None` if its bytes are missing.
#[inline]
fn next_event<'a>(page: &mut RingPage<'a>) -> Option<Option<RingEvent<'a>>> {
    let head = page.word()?;
    let (kind, delta) = parts(head);
    let extended = |upper: u32| (u64::from(upper) << DELTA_BITS) + u64::from(delta);
    match kind {
        TYPE_PADDING if delta == 0 => page.events = &[],
        TYPE_PADDING => {
            // An event that the filter rejected after it had been written. The next one counts from its time.
            let bytes = page.word()? as usize;
            page.take(aligned(bytes.checked_sub(4)?))?;
            page.time_ns = page.time_ns.wrapping_add(delta.into());
        }
        TYPE_TIME_EXTEND => page.time_ns = page.time_ns.wrapping_add(extended(page.word()?)),
        TYPE_TIME_STAMP => {
            let time_ns = extended(page.word()?) & !STAMP_UPPER | page.time_ns & STAMP_UPPER;
            page.time_ns = if time_ns < page.time_ns { time_ns.wrapping_add(1 << 59) } else { time_ns };
        }
        _ => {
            page.time_ns = page.time_ns.wrapping_add(delta.into());
            let bytes = match kind {
                0 => aligned((page.word()? as usize).checked_sub(4)?),
                words => words as usize * 4,
            };
            return Some(Some(RingEvent { time_ns: page.time_ns, bytes: page.take(bytes)? }));
        }
    }
    Some(None)
}

/// Splits the first word of an event into its type or length and its time since the event before. The two are bit fields
/// of C, whose order depends on that of bytes.
#[inline]
fn parts(head: u32) -> (u32, u32) {
    if cfg!(target_endian = "little") {
        (head & 0x1f, head >> 5)
    } else {
        (head >> DELTA_BITS, head & ((1 << DELTA_BITS) - 1))
    }
}

fn aligned(bytes: usize) -> usize {
    bytes.saturating_add(3) & !3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> PageLayout {
        PageLayout::parse(include_str!("../tests/data/header_page")).unwrap()
    }

    /// Makes a page of events, each a first word and what follows it.
    fn page(time_ns: u64, flags: u64, events: &[u8]) -> Vec<u8> {
        let mut page = time_ns.to_ne_bytes().to_vec();
        page.extend((events.len() as u64 | flags).to_ne_bytes());
        page.extend(events);
        page
    }

    fn head(kind: u32, delta: u32) -> [u8; 4] {
        if cfg!(target_endian = "little") { kind | delta << 5 } else { kind << 27 | delta }.to_ne_bytes()
    }

    fn read(page: &[u8]) -> (Vec<(u64, Vec<u8>)>, bool) {
        let mut page = RingPage::new(&layout(), page);
        let events = page.by_ref().map(|event| (event.time_ns, event.bytes.to_vec())).collect();
        (events, page.is_damaged())
    }

    #[test]
    fn times_are_sums_of_differences() {
        let mut events = Vec::new();
        events.extend(head(1, 5));
        events.extend([1; 4]);
        // A rejected event of 8 bytes, 10 ns later.
        events.extend(head(TYPE_PADDING, 10));
        events.extend(8_u32.to_ne_bytes());
        events.extend([9; 4]);
        events.extend(head(0, 1));
        events.extend(10_u32.to_ne_bytes());
        events.extend([2; 8]);
        events.extend(head(TYPE_TIME_EXTEND, 3));
        events.extend(2_u32.to_ne_bytes());
        events.extend(head(1, 0));
        events.extend([3; 4]);
        events.extend(head(TYPE_TIME_STAMP, 7));
        events.extend(100_u32.to_ne_bytes());
        events.extend(head(1, 0));
        events.extend([4; 4]);
        events.extend(head(TYPE_PADDING, 0));
        events.extend([0xff; 40]);
        let start = 1 << 60;
        let (found, is_damaged) = read(&page(start, 0, &events));
        let times: Vec<u64> = found.iter().map(|(time, _)| *time - start).collect();
        assert_eq!(times, [5, 16, 19 + (2 << 27), 7 + (100 << 27)]);
        assert_eq!(found[1].1, [2; 8]);
        assert!(!is_damaged);
    }

    #[test]
    fn missed_events_are_reported() {
        let mut bytes = page(0, MISSED | MISSED_STORED, &[]);
        bytes.extend(17_u64.to_ne_bytes());
        assert_eq!(RingPage::new(&layout(), &bytes).missed(), Some(17));
        assert_eq!(RingPage::new(&layout(), &page(0, MISSED, &[])).missed(), Some(1));
        assert_eq!(RingPage::new(&layout(), &page(0, 0, &[])).missed(), None);
    }

    #[test]
    fn damaged_pages_end_at_the_damage() {
        let short = [head(4, 1).as_slice(), &[0; 8]].concat();
        let negative = [head(0, 1).as_slice(), &3_u32.to_ne_bytes(), &[0; 8]].concat();
        let padding = [head(TYPE_PADDING, 1).as_slice(), &u32::MAX.to_ne_bytes()].concat();
        for events in [&short, &negative, &padding, &vec![1, 2, 3]] {
            assert_eq!(read(&page(0, 0, events)), (Vec::new(), true), "{events:?}");
        }
        // More bytes than the page has.
        assert_eq!(read(&page(0, 64, &[])), (Vec::new(), true));
        assert_eq!(read(&[]), (Vec::new(), false));
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let mut random = units::random::Random::new(7, 0);
        for _ in 0..20_000 {
            let mut bytes = vec![0; random.below(300) as usize];
            random.fill(&mut bytes);
            if let Some(length) = bytes.get_mut(9..16) {
                length.fill(0);
            }
            let _ = read(&bytes);
        }
    }
}

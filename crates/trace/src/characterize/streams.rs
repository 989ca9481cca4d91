//! Sequential streams, of which several may be interleaved.

use super::histogram::WideHistogram;
use super::profile::{RunProfile, SequentialProfile};

/// Number of sets of the table; a power of two.
const SETS: usize = 512;
/// Entries per set.
const WAYS: usize = 8;
/// Distance of the place at which a request would continue a stream by chance only, in its length. It is farther than
/// requests of a stream that overtake each other.
const CHANCE_DISTANCE: u64 = 97;
/// Number of recent streams that are separated to find how many are interleaved.
const RECENT: usize = 16;

/// A run of requests of which each begins where the one before ends.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// Where the next request has to begin, in bytes.
    end: u64,
    /// Device and direction, plus one; zero in unused entries.
    tag: u32,
    /// Number of the stream.
    id: u32,
    requests: u64,
    bytes: u64,
    /// Number of the request that was its last.
    used: u64,
}

/// Runs of one direction.
#[derive(Clone, Debug, Default)]
struct RunCounts {
    requests: u64,
    bytes: u64,
    continued: u64,
    continued_bytes: u64,
    /// Requests that would continue a stream if they were elsewhere.
    by_chance: u64,
    run_requests: WideHistogram,
    run_bytes: WideHistogram,
    /// Streams that were continued, the last one first.
    recent: [u32; RECENT],
    /// For each continued request, the number of streams that were continued since this one, including it.
    interleaved: WideHistogram,
}

/// Recognizes streams with a table of `SETS * WAYS` ends of runs; the oldest of a set is forgotten. Memory: 250 KiB.
///
/// A stream is certain to be recognized while fewer than eight of the ends seen since its last request share its set,
/// which is nearly always so while there are fewer than 1,000.
#[derive(Clone, Debug)]
pub(super) struct StreamTable {
    table: Vec<[Stream; WAYS]>,
    directions: [RunCounts; 2],
    clock: u64,
    ids: u32,
}

impl StreamTable {
    pub(super) fn new() -> Self {
        Self {
            table: vec![[Stream::default(); WAYS]; SETS],
            directions: [RunCounts::default(), RunCounts::default()],
            clock: 0,
            ids: 0,
        }
    }

    /// Adds a read or write of `length` bytes, at least one. Returns the number of requests before it in its stream.
    #[inline]
    pub(super) fn add(&mut self, device: u16, is_write: bool, offset: u64, length: u32) -> u64 {
        self.clock += 1;
        let tag = (u32::from(device) << 1 | u32::from(is_write)) + 1;
        let bytes = u64::from(length);
        let direction = &mut self.directions[usize::from(is_write)];
        direction.requests += 1;
        direction.bytes += bytes;
        // A random request continues a stream as often here as elsewhere among the blocks in use. Behind it are ends of
        // requests of its own stream that overtook each other.
        let elsewhere = offset.checked_add(CHANCE_DISTANCE * bytes);
        let is_end =
            |end: u64| self.table[set_of(end, tag)].iter().any(|stream| stream.end == end && stream.tag == tag);
        direction.by_chance += u64::from(elsewhere.is_some_and(is_end));
        let set = &mut self.table[set_of(offset, tag)];
        let mut stream = match set.iter_mut().find(|stream| stream.end == offset && stream.tag == tag) {
            Some(found) => {
                direction.continued += 1;
                direction.continued_bytes += bytes;
                direction.follow(found.id);
                std::mem::take(found)
            }
            None => {
                self.ids = self.ids.wrapping_add(1).max(1);
                Stream { tag, id: self.ids, ..Stream::default() }
            }
        };
        stream.end = offset.saturating_add(bytes);
        let before = stream.requests;
        stream.requests += 1;
        stream.bytes = stream.bytes.saturating_add(bytes);
        stream.used = self.clock;
        self.keep(stream);
        before
    }

    #[inline]
    fn keep(&mut self, stream: Stream) {
        let set = &mut self.table[set_of(stream.end, stream.tag)];
        let mut oldest = 0;
        for way in 1..WAYS {
            if set[way].used < set[oldest].used {
                oldest = way;
            }
        }
        let forgotten = std::mem::replace(&mut set[oldest], stream);
        if forgotten.tag > 0 {
            self.directions[((forgotten.tag - 1) & 1) as usize].end_run(&forgotten);
        }
    }

    pub(super) fn finish(mut self) -> SequentialProfile {
        for stream in self.table.iter().flatten().filter(|stream| stream.tag > 0) {
            self.directions[((stream.tag - 1) & 1) as usize].end_run(stream);
        }
        let [reads, writes] = &self.directions;
        SequentialProfile { reads: reads.profile(), writes: writes.profile() }
    }
}

#[inline]
fn set_of(end: u64, tag: u32) -> usize {
    let hash = (end ^ u64::from(tag) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> 55) as usize & (SETS - 1)
}

impl RunCounts {
    /// Moves a stream to the front of the recent ones.
    #[inline]
    fn follow(&mut self, id: u32) {
        let at = self.recent.iter().position(|recent| *recent == id);
        self.recent[..=at.unwrap_or(RECENT - 1)].rotate_right(1);
        self.recent[0] = id;
        // The second request of a run makes it a stream, so it is not counted.
        if let Some(at) = at {
            self.interleaved.add(at as u64 + 1, 1);
        }
    }

    #[inline]
    fn end_run(&mut self, stream: &Stream) {
        self.run_requests.add(stream.requests, 1);
        self.run_bytes.add(stream.bytes, 1);
    }

    fn profile(&self) -> RunProfile {
        RunProfile {
            requests: self.requests,
            bytes: self.bytes,
            continuing_requests: self.continued,
            continuing_bytes: self.continued_bytes,
            chance_requests: self.by_chance.min(self.continued),
            run_requests: self.run_requests.distribution(),
            run_bytes: self.run_bytes.distribution(),
            interleaved_streams: self.interleaved.distribution(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaved_streams_are_told_apart() {
        let mut streams = StreamTable::new();
        for step in 0..1000u64 {
            for stream in 0..5u64 {
                streams.add(0, true, (stream << 40) + step * 8192, 8192);
            }
            streams.add(0, false, (step * 7919 % 1009) << 20, 4096);
        }
        let profile = streams.finish();
        let writes = profile.writes;
        assert_eq!((writes.requests, writes.continuing_requests), (5000, 4995));
        let runs = writes.run_requests.unwrap();
        assert_eq!((runs.weight, runs.min, runs.max), (5, 1000, 1000));
        assert_eq!(writes.interleaved_streams.map(|streams| (streams.p50, streams.p99)), Some((5, 5)));
        assert_eq!((profile.reads.requests, profile.reads.continuing_requests), (1000, 0));
    }

    /// Random reads of 1,000 blocks counted as sequential for 75 %: most blocks follow one that was read some time before.
    #[test]
    fn random_requests_to_few_blocks_are_not_sequential() {
        let mut random = units::random::Random::new(3, 3);
        for (blocks, most) in [(300, 0.35), (1_000, 0.1), (4_000, 0.03), (20_000, 0.01)] {
            let mut streams = StreamTable::new();
            (0..50_000).for_each(|_| _ = streams.add(0, false, random.below(blocks) * 4096, 4096));
            let reads = streams.finish().reads;
            assert!(reads.continuing_fraction() <= most, "{blocks} blocks: {}", reads.continuing_fraction());
        }
        // Streams remain, in any number and if requests overtake each other.
        for count in [1_u64, 7, 300] {
            let mut streams = StreamTable::new();
            for step in 0..40_000 / count {
                (0..count).for_each(|stream| _ = streams.add(0, false, (stream << 30) + (step ^ 1) * 4096, 4096));
            }
            let reads = streams.finish().reads;
            assert_eq!(reads.chance_requests, 0);
            assert!(reads.continuing_fraction() > 0.45, "{count}: {}", reads.continuing_fraction());
        }
    }

    #[test]
    fn devices_and_directions_do_not_continue_each_other() {
        let mut streams = StreamTable::new();
        streams.add(0, true, 0, 4096);
        streams.add(1, true, 4096, 4096);
        streams.add(0, false, 4096, 4096);
        streams.add(0, true, u64::MAX, u32::MAX);
        let profile = streams.finish();
        assert_eq!(profile.writes.continuing_requests + profile.reads.continuing_requests, 0);
        assert_eq!(profile.writes.run_requests.unwrap().weight, 3);
    }
}

//! Comparison of a capture with the counters that the kernel keeps for the device. Completions between two readings
//! must equal the difference, up to those that happen during a reading; where they do not, the exit code is 4.

use std::path::Path;

use probe::Number;
use results::capture::CounterComparison;
use trace::{PerOperation, TraceOperation, TraceRequest};

/// Completed requests since the host started. Flushes are zero on kernels that do not count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeviceCounters {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) discards: Option<u64>,
    pub(crate) flushes: Option<u64>,
}

impl DeviceCounters {
    /// Reads the counters of a device from `/sys` (`Documentation/block/stat.rst`).
    pub(crate) fn read(root: &Path, (major, minor): Number) -> Option<Self> {
        let path = format!("sys/dev/block/{major}:{minor}");
        // Without statistics, all counters stay as they are.
        if probe::reading::line(root, &format!("{path}/queue/iostats")).is_ok_and(|on| on == "0") {
            return None;
        }
        Self::parse(&probe::reading::line(root, &format!("{path}/stat")).ok()?)
    }

    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<u64> = line.split_whitespace().map_while(|field| field.parse().ok()).collect();
        let field = |index: usize| fields.get(index).copied();
        Some(Self { reads: field(0)?, writes: field(4)?, discards: field(11), flushes: field(15) })
    }
}

/// When counters were read: after the first and before the second instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CounterReading {
    pub(crate) counters: DeviceCounters,
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
}

/// Time from the event of a completion to its counting, at most: CPUs of a virtual machine may stop in between.
const SLACK_NS: u64 = 5_000_000;

/// Completed requests between two readings, as events show them.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompletionCounts {
    /// Start of the capture; completions from a while after it are certain.
    certain_from_ns: u64,
    possible_from_ns: u64,
    certain: PerOperation<u64>,
    possible: PerOperation<u64>,
    /// Completions near the present, which may be after the second reading.
    recent: Vec<(u64, TraceOperation)>,
    /// Writes to the start of the device that may have been flushed: each of these completes once more without data.
    synced_at_start: u64,
}

/// Number of recent completions from which on old ones are counted.
const RECENT: usize = 4096;

impl CompletionCounts {
    /// Begins at a reading.
    pub(crate) fn new(first: &CounterReading) -> Self {
        Self {
            certain_from_ns: first.to_ns.saturating_add(SLACK_NS),
            possible_from_ns: first.from_ns.saturating_sub(SLACK_NS),
            ..Self::default()
        }
    }

    /// Adds a completion. The kernel counts a call that waited for a flush as a write at sector 0, but not the second
    /// completion of data that it flushed itself, which looks the same if the data is at sector 0 (`block/blk-flush.c`).
    #[inline]
    pub(crate) fn add(&mut self, time_ns: u64, request: &TraceRequest) {
        let operation = request.operation;
        if request.offset == 0 && operation == TraceOperation::Write {
            if request.length > 0 {
                self.synced_at_start += u64::from(request.is_sync);
            } else if let Some(left) = self.synced_at_start.checked_sub(1) {
                self.synced_at_start = left;
                self.possible.write += 1;
                return;
            }
        }
        self.recent.push((time_ns, operation));
        if self.recent.len() >= RECENT && time_ns.saturating_sub(self.recent[0].0) > 2 * RECENT_NS {
            let before_ns = time_ns - RECENT_NS;
            let (old, recent) = std::mem::take(&mut self.recent).into_iter().partition(|(time, _)| *time < before_ns);
            self.recent = recent;
            self.count(&old, u64::MAX, u64::MAX);
        }
    }

    fn count(&mut self, completions: &[(u64, TraceOperation)], certain_to_ns: u64, possible_to_ns: u64) {
        for (time, operation) in completions {
            let is_certain = (self.certain_from_ns..certain_to_ns).contains(time);
            let is_possible = (self.possible_from_ns..possible_to_ns).contains(time);
            *self.certain.get_mut(*operation) += u64::from(is_certain);
            *self.possible.get_mut(*operation) += u64::from(is_possible);
        }
    }

    /// Compares with the increase of the counters. `is_whole` says whether flushes can be compared: they name no
    /// partition.
    pub(crate) fn compare(
        mut self,
        first: &CounterReading,
        second: &CounterReading,
        is_whole: bool,
    ) -> Vec<CounterComparison> {
        let recent = std::mem::take(&mut self.recent);
        self.count(&recent, second.from_ns.saturating_sub(SLACK_NS), second.to_ns.saturating_add(SLACK_NS));
        let increase =
            |of: fn(&DeviceCounters) -> Option<u64>| Some(of(&second.counters)?.wrapping_sub(of(&first.counters)?));
        let writes = |counts: &PerOperation<u64>| counts.write + counts.write_zeroes;
        let all = [
            ("reads", increase(|of| Some(of.reads)), self.certain.read, self.possible.read),
            (
                "writes",
                increase(|of| Some(of.writes)).filter(|_| is_whole),
                writes(&self.certain),
                writes(&self.possible),
            ),
            ("discards", increase(|of| of.discards), self.certain.discard, self.possible.discard),
            ("flushes", increase(|of| of.flushes).filter(|_| is_whole), self.certain.flush, self.possible.flush),
        ];
        let known = all.into_iter().filter_map(|(name, counted, certain, possible)| {
            Some(CounterComparison::new(name, counted?, [certain, possible]))
        });
        known.collect()
    }
}

/// Age at which a completion is certainly before the second reading.
const RECENT_NS: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_from_their_line() {
        let line = "  855823 987 48414040 329608 1399660 342507 21819818 346200 0 112028 689632 597 0 12504756 679 31868 13144";
        let counters = DeviceCounters::parse(line).unwrap();
        let expected = DeviceCounters { reads: 855_823, writes: 1_399_660, discards: Some(597), flushes: Some(31_868) };
        assert_eq!(counters, expected);
        assert_eq!(DeviceCounters::parse("1 2 3 4 5 6 7 8 9 10 11").unwrap().discards, None);
        assert_eq!(DeviceCounters::parse("1 2 3"), None);
    }

    #[test]
    fn completions_near_the_readings_are_uncertain() {
        const S: u64 = 1_000_000_000;
        let reading = |at_ns, reads| CounterReading {
            counters: DeviceCounters { reads, ..DeviceCounters::default() },
            from_ns: at_ns,
            to_ns: at_ns + 10,
        };
        let (first, second) = (reading(10 * S, 100), reading(20 * S, 6_000));
        let mut counts = CompletionCounts::new(&first);
        // Long before, just at the first reading, between, just at the second, long after.
        for (time, number) in [(9 * S, 7), (10 * S + 5, 2), (15 * S, 5_897), (20 * S - 5, 3), (21 * S, 9)] {
            (0..number).for_each(|_| counts.add(time, &TraceRequest { length: 512, ..TraceRequest::default() }));
        }
        let compared = counts.compare(&first, &second, true);
        let reads = compared.iter().find(|compared| compared.name == "reads").unwrap();
        assert_eq!((reads.counted, reads.captured_min, reads.captured_max), (5_900, 5_897, 5_902));
        assert!(reads.agrees && !CounterComparison::new(reads.name, 5_903, [5_897, 5_902]).agrees);
    }

    #[test]
    fn data_that_was_flushed_at_sector_zero_is_counted_once() {
        const S: u64 = 1_000_000_000;
        let write = |length, is_sync| TraceRequest {
            length,
            is_sync,
            operation: TraceOperation::Write,
            ..TraceRequest::default()
        };
        let (data, written_back, flushed) = (write(4096, true), write(4096, false), write(0, true));
        let captured = |requests: &[TraceRequest]| {
            let first = CounterReading::default();
            let second = CounterReading { from_ns: 20 * S, to_ns: 20 * S, ..first };
            let mut counts = CompletionCounts::new(&first);
            requests.iter().for_each(|request| counts.add(10 * S, request));
            let writes = counts.compare(&first, &second, true)[1];
            [writes.captured_min, writes.captured_max]
        };
        assert_eq!(captured(&[flushed, flushed]), [2, 2]);
        assert_eq!(captured(&[data, flushed, flushed]), [2, 3]);
        assert_eq!(captured(&[written_back, flushed]), [2, 2]);
        let elsewhere = TraceRequest { offset: 4096, ..data };
        assert_eq!(captured(&[elsewhere, flushed]), [2, 2]);
    }
}

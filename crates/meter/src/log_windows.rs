//! Windows of averaged logs.

use units::{DataKind, Nanos};

use crate::log_entries::{LogAverage, LogKind};
use crate::{DirectionSummary, Latency};

/// The counters from which windows are derived, of reads, writes and trims.
#[derive(Clone, Copy)]
pub(crate) struct LogCounters<'a> {
    pub(crate) directions: &'a [DirectionSummary; 3],
    /// Latencies of operations that were submitted when they were started.
    pub(crate) prompt: &'a [Latency; 3],
}

/// What a kind of operation has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    /// Sums of submission latencies, service times and total latencies.
    pub(crate) latency_ns: [u128; 3],
}

impl Counted {
    /// Returns the counts of reads, writes and trims.
    pub(crate) fn of(counters: LogCounters<'_>) -> [Self; 3] {
        std::array::from_fn(|kind| {
            let (direction, prompt) = (&counters.directions[kind], counters.prompt[kind].moments.sum_ns());
            let (submission, service) = (&direction.submission.moments, &direction.service.moments);
            let latency = direction.latency.moments.sum_ns() + prompt;
            let latency_ns = [submission.sum_ns(), service.sum_ns() + prompt, latency];
            Self { ios: direction.ios, bytes: direction.bytes, latency_ns }
        })
    }

    fn since(&self, before: &Self) -> Self {
        let latency_ns = std::array::from_fn(|kind| self.latency_ns[kind] - before.latency_ns[kind]);
        Self { ios: self.ios - before.ios, bytes: self.bytes - before.bytes, latency_ns }
    }
}

/// The current window of a log. Windows end at multiples of their length since the start of measurement.
#[derive(Debug)]
pub(crate) struct LogWindow {
    /// Length; zero if the log is disabled.
    length: Nanos,
    begin: Nanos,
    end: Nanos,
    /// Counts at the begin.
    before: [Counted; 3],
}

pub(crate) struct EndedWindow {
    pub(crate) end: Nanos,
    length: Nanos,
    /// Counts of the window, of reads, writes and trims.
    pub(crate) counted: [Counted; 3],
}

impl LogWindow {
    pub(crate) fn new(length: Nanos) -> Self {
        let end = if length == Nanos::ZERO { Nanos::MAX } else { length };
        Self { length, begin: Nanos::ZERO, end, before: Default::default() }
    }

    /// Returns the end of the current window; the maximum if the log is disabled.
    pub(crate) const fn end(&self) -> Nanos {
        self.end
    }

    /// Reports whether a window that ends at `at` is long enough for a rate. The operations in flight at the end of a
    /// run complete within microseconds, at a rate that would mean nothing.
    pub(crate) fn is_representative(&self, at: Nanos) -> bool {
        at.since(self.begin).get() >= self.length.get() / 10
    }

    /// Ends the current window, at `at` if that is earlier than its end. Returns `None` if the log is disabled.
    pub(crate) fn take(&mut self, at: Nanos, counted: [Counted; 3]) -> Option<EndedWindow> {
        if self.length == Nanos::ZERO {
            return None;
        }
        let (length, end) = (self.length.get(), self.end.min(at));
        let of_window = std::array::from_fn(|kind| counted[kind].since(&self.before[kind]));
        let ended = EndedWindow { end, length: end.since(self.begin), counted: of_window };
        // Windows without operations have no entries.
        let whole = Nanos::new(at.get() / length * length);
        self.begin = if at < self.end { at } else { whole };
        self.end = whole + self.length;
        self.before = counted;
        Some(ended)
    }
}

impl EndedWindow {
    /// Returns the average rates of all kinds of operations with any, in units of `unit` per second.
    pub(crate) fn rates(
        &self,
        kind: LogKind,
        count: impl Fn(&Counted) -> u64,
        unit: u64,
    ) -> impl Iterator<Item = LogAverage> {
        let per_second = u128::from(self.length.get().max(1)) * u128::from(unit);
        let at = self.end;
        let counted = DataKind::ALL.into_iter().zip(&self.counted).filter(|(_, counted)| counted.ios > 0);
        counted.map(move |(direction, counted)| {
            let mean = (u128::from(count(counted)) * 1_000_000_000 / per_second) as u64;
            LogAverage { kind, at, direction, mean, max: mean }
        })
    }
}

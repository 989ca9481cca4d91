//! Intended start times: immediate, or by an open-loop schedule.
//!
//! Under a rate each kind of operation has a schedule that is fixed before the first operation is issued. A late
//! operation keeps the instant at which it was due, and overdue operations are issued back to back: delays caused by a
//! slow device are part of the response time (no coordinated omission).

use job::{Arrivals, Job, Paced};
use units::random::{Random, mix};
use units::{Nanos, OpKind, Rate, Schedule};

use crate::mix::Mix;

/// Decides the kind of the next operation and its intended start.
#[derive(Clone, Debug)]
pub(crate) enum Pace {
    /// Whenever the caller asks.
    Closed,
    /// By schedule.
    Open(Box<OpenLoopPace>),
}

#[derive(Clone, Debug)]
pub(crate) struct OpenLoopPace {
    start: Option<Nanos>,
    streams: [Option<ArrivalStream>; 3],
    /// The kind without a rate, which is issued between scheduled operations.
    unrated: Option<OpKind>,
}

impl Pace {
    pub(crate) fn new(job: &Job, mix: Mix, key: u64) -> Self {
        let kinds = [OpKind::Read, OpKind::Write, OpKind::Trim];
        let mut streams = kinds.map(|kind| ArrivalStream::new(job, kind, key).filter(|_| mix.includes(kind)));
        // In pairs of a trim and a write the trim comes first, so a rate for writes alone applies to trims.
        if mix == Mix::Only(OpKind::Trim) && streams[2].is_none() && job.pattern.direction.writes() {
            streams[2] = ArrivalStream::new(job, OpKind::Write, key);
        }
        if streams.iter().all(Option::is_none) {
            return Self::Closed;
        }
        let unrated = kinds.into_iter().find(|kind| mix.includes(*kind) && streams[kind.index()].is_none());
        Self::Open(Box::new(OpenLoopPace { start: None, streams, unrated }))
    }

    /// Reports whether the order of kinds depends on the speed of the device.
    pub(crate) fn order_depends_on_time(&self) -> bool {
        matches!(self, Self::Open(open) if open.unrated.is_some())
    }

    /// Starts the schedules at zero, for repeating decisions regardless of time.
    pub(crate) fn start_at_zero(&mut self) {
        if let Self::Open(open) = self {
            open.start = Some(Nanos::ZERO);
        }
    }

    /// Delays the schedules from now on.
    pub(crate) fn delay(&mut self, time: Nanos) {
        if let Self::Open(open) = self {
            open.start = open.start.map(|start| start + time);
        }
    }

    /// Returns the kind and intended start of the next operation, or the instant before which there is none.
    #[inline(always)]
    pub(crate) fn turn(&mut self, mix: Mix, random: &mut Random, now: Nanos) -> Result<(OpKind, Nanos), Nanos> {
        match self {
            Self::Closed => Ok((mix.draw(random), now)),
            Self::Open(open) => open.turn(now),
        }
    }

    /// Advances the schedule of `kind` by an operation of this many bytes.
    #[inline]
    pub(crate) fn spend(&mut self, kind: OpKind, bytes: u32) {
        if let Self::Open(open) = self
            && let Some(stream) = &mut open.streams[kind.index()]
        {
            stream.take(bytes);
        }
    }
}

impl OpenLoopPace {
    // Inlined, it would save registers also where there is no schedule.
    #[inline(never)]
    fn turn(&mut self, now: Nanos) -> Result<(OpKind, Nanos), Nanos> {
        let start = *self.start.get_or_insert(now);
        let kinds = [OpKind::Read, OpKind::Write, OpKind::Trim].into_iter().zip(&self.streams);
        let dues = kinds.filter_map(|(kind, stream)| Some((kind, start + stream.as_ref()?.due)));
        let Some((kind, due)) = dues.min_by_key(|(_, due)| *due) else { return Err(Nanos::MAX) };
        match self.unrated {
            _ if due <= now => Ok((kind, due)),
            Some(kind) => Ok((kind, now)),
            None => Err(due),
        }
    }
}

/// The arrivals of one kind of operation.
#[derive(Clone, Debug)]
struct ArrivalStream {
    /// Due time of the next arrival, relative to the start.
    due: Nanos,
    /// Whether the rate counts bytes instead of operations.
    by_bytes: bool,
    process: Process,
}

#[derive(Clone, Debug)]
enum Process {
    Linear(Schedule),
    Poisson(Poisson),
}

impl ArrivalStream {
    fn new(job: &Job, kind: OpKind, key: u64) -> Option<Self> {
        let (rate, by_bytes) = match (*job.paced().slot(kind.index()))? {
            Paced::Operations(rate) => (rate, false),
            Paced::Bytes(rate) => (rate, true),
        };
        let process = match job.pace.process {
            Arrivals::Linear => Process::Linear(Schedule::new(rate)),
            Arrivals::Poisson => Process::Poisson(Poisson::new(rate, mix(key, kind.index() as u64))),
        };
        Some(Self { due: Nanos::ZERO, by_bytes, process })
    }

    fn take(&mut self, bytes: u32) {
        let units = if self.by_bytes { u64::from(bytes) } else { 1 };
        self.due = match &mut self.process {
            Process::Linear(schedule) => {
                schedule.take(units);
                schedule.due()
            }
            Process::Poisson(poisson) => poisson.after(units),
        };
    }
}

/// A Poisson process: arrivals with independent exponential gaps.
///
/// The rate of `n` arrivals deviates randomly, in two of three runs by up to `1/√n`. Gaps drawn so that they add up
/// exactly would not be independent, and queues near their limit would be shorter: by a fifth for 9,500 arrivals at 95
/// % of it.
#[derive(Clone, Debug)]
struct Poisson {
    unit_ns: f64,
    whole_ns: u64,
    fraction_ns: f64,
    random: Random,
}

impl Poisson {
    fn new(rate: Rate, key: u64) -> Self {
        Self { unit_ns: 1e9 / rate.get() as f64, whole_ns: 0, fraction_ns: 0.0, random: Random::new(key, 0x9a9) }
    }

    /// Returns the instant of the next arrival, on average `units` after the last one.
    fn after(&mut self, units: u64) -> Nanos {
        let exponential = -libm::log1p(-self.random.unit());
        let gap_ns = exponential * self.unit_ns * units as f64 + self.fraction_ns;
        self.whole_ns = self.whole_ns.saturating_add(gap_ns as u64);
        self.fraction_ns = gap_ns - libm::floor(gap_ns);
        Nanos::new(self.whole_ns)
    }
}

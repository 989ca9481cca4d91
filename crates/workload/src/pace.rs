//! Intended start times: at once, or by an open-loop schedule.
//!
//! Under a rate each kind of operation has a schedule of its own, fixed before the first operation is issued. An
//! operation that comes late keeps the instant at which it was due, and what is overdue is issued back to back:
//! the wait that a slow device causes is part of the response time (no coordinated omission).

use job::{Arrivals, Job, Paced};
use units::random::{Random, mix};
use units::{Nanos, Rate, Schedule};

use crate::mix::Mix;
use units::OpKind;

/// Says which kind comes next and when it is meant to begin.
#[derive(Clone, Debug)]
pub(crate) enum Pace {
    /// As soon as the caller has room.
    Closed,
    /// By schedules.
    Open(Box<OpenLoopPace>),
}

#[derive(Clone, Debug)]
pub(crate) struct OpenLoopPace {
    start: Option<Nanos>,
    streams: [Option<ArrivalStream>; 3],
    /// The kind without a rate, which fills the gaps.
    unrated: Option<OpKind>,
}

impl Pace {
    pub(crate) fn new(job: &Job, mix: Mix, key: u64) -> Self {
        let kinds = [OpKind::Read, OpKind::Write, OpKind::Trim];
        let mut streams = kinds.map(|kind| ArrivalStream::new(job, kind, key).filter(|_| mix.includes(kind)));
        // Pairs of a trim and a write are begun by trims: a rate for writes alone paces the pairs.
        if mix == Mix::Only(OpKind::Trim) && streams[2].is_none() && job.pattern.direction.writes() {
            streams[2] = ArrivalStream::new(job, OpKind::Write, key);
        }
        if streams.iter().all(Option::is_none) {
            return Self::Closed;
        }
        let unrated = kinds.into_iter().find(|kind| mix.includes(*kind) && streams[kind.index()].is_none());
        Self::Open(Box::new(OpenLoopPace { start: None, streams, unrated }))
    }

    /// Whether the order of kinds depends on how fast the device is.
    pub(crate) fn order_depends_on_time(&self) -> bool {
        matches!(self, Self::Open(open) if open.unrated.is_some())
    }

    /// Lets the schedules begin at zero, for going through decisions without regard to time.
    pub(crate) fn rehearse(&mut self) {
        if let Self::Open(open) = self {
            open.start = Some(Nanos::ZERO);
        }
    }

    /// The next operation's kind and instant, or how long there is nothing to do.
    #[inline]
    pub(crate) fn turn(&mut self, mix: Mix, random: &mut Random, now: Nanos) -> Result<(OpKind, Nanos), Nanos> {
        match self {
            Self::Closed => Ok((mix.draw(random), now)),
            Self::Open(open) => open.turn(now),
        }
    }

    /// An operation of `kind` with this many bytes was issued: its schedule moves on.
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
    /// When the next one is due, counted from the start.
    due: Nanos,
    /// Bytes are rated, not operations.
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
        let paced = job.paced();
        let paced = match kind {
            OpKind::Read => paced.read,
            OpKind::Trim => paced.trim,
            OpKind::Write | OpKind::Sync | OpKind::DataSync => paced.write,
        };
        let (rate, by_bytes) = match paced? {
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

/// Arrivals with independent exponential gaps: a Poisson process.
///
/// The rate achieved by `n` arrivals is off by chance, in two of three runs by up to `1/√n` of it. Gaps that are drawn so
/// that they add up exactly are not independent, and queues near their limit are shorter behind them: by a fifth
/// behind 9,500 arrivals at 95 % of it.
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

    /// The instant of the next arrival, `units` on average behind the last.
    fn after(&mut self, units: u64) -> Nanos {
        let exponential = -libm::log1p(-self.random.unit());
        let gap_ns = exponential * self.unit_ns * units as f64 + self.fraction_ns;
        self.whole_ns = self.whole_ns.saturating_add(gap_ns as u64);
        self.fraction_ns = gap_ns - libm::floor(gap_ns);
        Nanos::new(self.whole_ns)
    }
}

//! Replay of a trace.

use units::{Nanos, PerKind, Rate};

use super::{Direction, Paced};

/// Options of a job that replays a trace (`read_iolog`, `replay`).
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayOptions {
    /// Path of the trace.
    pub trace: String,
    /// The traces that are merged into this one, if it is a merged trace.
    pub merge: Option<TraceMerge>,
    /// Speed in millionths of the original; `None` to ignore the instants of the trace.
    pub speed_ppm: Option<u64>,
    /// What decides when a request is issued.
    pub dependence: ReplayLoop,
    /// Start of the replayed part, from the start of the trace.
    pub start: Nanos,
    /// Length of the replayed part; zero for all that follows.
    pub length: Nanos,
    /// Whether the target is named by `replay_redirect`: one that exists keeps its size.
    pub is_redirected: bool,
    /// Placement of offsets on a target that is smaller than what the trace covers.
    pub fit: ReplayFit,
    /// Divisor of offsets (`replay_scale`).
    pub scale: u32,
    /// Alignment of offsets and lengths in bytes, a power of two; 0 for the trace's.
    pub align: u32,
    /// Kinds that are left out (`replay_skip`).
    pub skip: ReplaySkip,
    /// Whether `iodepth` is chosen for the replay, because the job does not give it.
    pub chooses_depth: bool,
    /// What the trace contains; `None` before it has been read.
    pub facts: Option<ReplayFacts>,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self {
            trace: String::new(),
            merge: None,
            speed_ppm: Some(Self::ORIGINAL_SPEED),
            dependence: ReplayLoop::Open,
            start: Nanos::ZERO,
            length: Nanos::ZERO,
            is_redirected: false,
            fit: ReplayFit::Scale,
            scale: 1,
            align: 0,
            skip: ReplaySkip::default(),
            chooses_depth: false,
            facts: None,
        }
    }
}

impl ReplayOptions {
    /// The speed of the trace itself.
    pub const ORIGINAL_SPEED: u64 = 1_000_000;

    /// Reports whether requests have intended instants.
    #[must_use]
    pub const fn is_scheduled(&self) -> bool {
        self.speed_ppm.is_some()
    }

    /// Returns the time from the start to the last issue of a replay that keeps the instants of its trace; `None` if
    /// it does not, or if the trace has not been read.
    #[must_use]
    pub fn duration(&self) -> Option<Nanos> {
        let (speed, facts) = (self.speed_ppm?.max(1), self.facts.as_ref()?);
        if self.dependence == ReplayLoop::Closed {
            return None;
        }
        Some(at_speed(facts.last.since(self.start), speed))
    }

    /// Returns the time from the start to the first issue, which counts for no rate.
    #[must_use]
    pub fn lead(&self) -> Nanos {
        match (self.speed_ppm, &self.facts) {
            (Some(speed), Some(facts)) => at_speed(facts.first.since(self.start), speed.max(1)),
            _ => Nanos::ZERO,
        }
    }

    /// Returns the mean rate of each kind of operation, in whole operations per second, if there is a
    /// [`Self::duration`]. Requests at one instant have no rate.
    pub(super) fn mean_rates(&self) -> PerKind<Option<Paced>> {
        let Some((duration, facts)) = self.duration().zip(self.facts.as_ref()) else { return PerKind::default() };
        if facts.first == facts.last {
            return PerKind::default();
        }
        let rate = |operations: u64| {
            let rate = (operations as f64 / duration.since(self.lead()).secs_f64().max(1e-9)).round() as u64;
            (rate > 0).then_some(Paced::Operations(Rate::per_sec(rate)))
        };
        let PerKind { read, write, trim } = facts.operations;
        PerKind { read: rate(read), write: rate(write), trim: rate(trim) }
    }

    /// Returns the end of the replayed part, from the start of the trace.
    #[must_use]
    pub fn end(&self) -> Nanos {
        if self.length == Nanos::ZERO { Nanos::MAX } else { self.start + self.length }
    }
}

fn at_speed(time: Nanos, speed_ppm: u64) -> Nanos {
    let scaled = u128::from(time.get()) * u128::from(ReplayOptions::ORIGINAL_SPEED);
    Nanos::new(u64::try_from(scaled / u128::from(speed_ppm)).unwrap_or(u64::MAX))
}

/// Traces that are merged into one (`merge_blktrace_file`), which the job replays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceMerge {
    /// Path of the file for the merged trace.
    pub file: String,
    /// The traces.
    pub inputs: Vec<MergedInput>,
}

/// One of the traces that are merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedInput {
    /// Path of the trace.
    pub trace: String,
    /// Factor of all its times, in millionths.
    pub scale_ppm: u64,
    /// How often it is repeated, at least 1.
    pub iterations: u32,
}

/// What decides when a request of a trace is issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplayLoop {
    /// Its instant in the trace.
    #[default]
    Open,
    /// The completion that its process waited for in the trace, and the time from that to its issue.
    Closed,
}

/// Placement of offsets on a target that is smaller than what the trace covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplayFit {
    /// Regions of 1 MiB keep their order and content, and several share one place.
    #[default]
    Scale,
    /// Offsets continue at the start of the target.
    Wrap,
    /// Offsets turn back at the end of the target.
    Fold,
}

/// Kinds of request that a replay leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplaySkip {
    pub read: bool,
    pub write: bool,
    pub trim: bool,
    pub sync: bool,
}

/// What a trace contains of what a job replays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayFacts {
    /// Operations of each kind.
    pub operations: PerKind<u64>,
    /// Syncs, including those of writes that a flush precedes or follows.
    pub syncs: u64,
    /// Bytes of reads, writes and trims together.
    pub bytes: u64,
    /// Minimum and maximum length of each kind in bytes; zero without operations.
    pub lengths: PerKind<(u32, u32)>,
    /// Number of bytes of which all offsets and lengths are multiples, at most 1 MiB.
    pub unit: u32,
    /// Devices of the trace: name, and the bytes up to the last one that is used.
    pub devices: Vec<(String, u64)>,
    /// Instant of the first and of the last replayed request, from the start of the trace.
    pub first: Nanos,
    /// Instant of the last replayed request, from the start of the trace.
    pub last: Nanos,
    /// Whether completions are known, from which dependencies follow.
    pub has_completions: bool,
    /// What is left out or changed, one phrase each.
    pub notes: Vec<String>,
}

impl ReplayFacts {
    /// Returns the number of operations, with syncs.
    #[must_use]
    pub fn all(&self) -> u64 {
        let PerKind { read, write, trim } = self.operations;
        read.saturating_add(write).saturating_add(trim).saturating_add(self.syncs)
    }

    /// Returns the direction that comes closest. Trims beside reads have none of their own.
    #[must_use]
    pub fn direction(&self) -> Direction {
        let PerKind { read, write, trim } = self.operations;
        match (read > 0, write > 0, trim > 0) {
            (true, false, false) | (false, false, false) => Direction::Read,
            (false, true, _) => Direction::Write,
            (false, false, true) => Direction::Trim,
            (true, ..) => Direction::ReadWrite,
        }
    }
}

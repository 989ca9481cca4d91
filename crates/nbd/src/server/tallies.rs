//! Counters of a server.

use meter::Histogram;
use units::Nanos;
use volume::ServiceStage;

use super::timeline::Punctuality;
use crate::store::InjectedFaults;
use nbd_wire::NbdCommand;

/// Kinds of requests, as counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TallyKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims and zeroes.
    Trim,
    /// Flushes.
    Flush,
    /// Everything else.
    Other,
}

impl TallyKind {
    /// All of them, in the order of [`ExportTally::kinds`].
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Trim, Self::Flush, Self::Other];

    pub(super) const fn of(command: NbdCommand) -> Self {
        match command {
            NbdCommand::Read => Self::Read,
            NbdCommand::Write => Self::Write,
            NbdCommand::Trim | NbdCommand::WriteZeroes => Self::Trim,
            NbdCommand::Flush => Self::Flush,
            _ => Self::Other,
        }
    }
}

/// Counters of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// Requests answered well.
    pub operations: u64,
    /// Requests answered with an error.
    pub errors: u64,
    /// Bytes of the good ones.
    pub bytes: u64,
    /// From when a request was read to when its reply left.
    pub latency: Histogram,
    /// All of those times together.
    pub latency_sum_ns: u64,
    /// From when the first of the good ones was read to when the last one's reply left.
    pub span: Option<(Nanos, Nanos)>,
}

/// Counters of one export.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportTally {
    /// In the order of [`TallyKind::ALL`].
    pub kinds: [Done; 5],
    /// How many connections have been there.
    pub connections: u64,
    /// How many are.
    pub connected: u64,
    /// How many requests wait for their reply.
    pub in_flight: u64,
    /// What went wrong on purpose.
    pub injected: InjectedFaults,
}

impl ExportTally {
    pub(super) fn connect(&mut self) {
        self.connections += 1;
        self.connected += 1;
    }

    #[inline]
    pub(super) fn answered(&mut self, command: NbdCommand, bytes: u64, arrived: Nanos, now: Nanos, good: bool) {
        let done = &mut self.kinds[TallyKind::of(command) as usize];
        if !good {
            done.errors += 1;
            return;
        }
        done.operations += 1;
        let latency = now.since(arrived);
        // Ranges of an export may be far larger than what is ever transferred.
        done.bytes = done.bytes.saturating_add(bytes);
        done.span = Some((done.span.map_or(arrived, |(first, _)| first.min(arrived)), now));
        done.latency.add(latency.get(), 1);
        done.latency_sum_ns += latency.get();
    }
}

/// All there is to tell of a server at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Since when it runs.
    pub age: Nanos,
    /// Its exports: name and what it has done.
    pub exports: Vec<(String, ExportTally)>,
    /// What limits and stations of the model have done.
    pub stages: Vec<ServiceStage>,
    /// How far replies were from when the model wanted them.
    pub punctuality: Punctuality,
    /// What was taken off for the way between client and server, on average.
    pub round_trip: Nanos,
    /// Clients that were not let in, or not kept.
    pub turned_away: TurnedAway,
}

/// Counts of refused and disconnected clients, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnedAway {
    /// There were as many as there may be.
    pub no_place: u64,
    /// There was no memory for one more connection.
    pub no_memory: u64,
    /// They did not choose an export.
    pub hesitant: u64,
    /// They had memory that others waited for, and did not read their replies or send the rest of a request.
    pub stalled: u64,
}

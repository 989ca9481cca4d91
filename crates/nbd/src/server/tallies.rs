//! Counters of a server.

use meter::Histogram;
use units::Nanos;
use volume::{RequestKind, ServiceStage};

use super::timeline::Punctuality;
use crate::store::InjectedFaults;
use nbd_wire::NbdCommand;

/// Returns the index of a request in [`ExportCounters::kinds`].
const fn index(command: NbdCommand) -> usize {
    match command {
        NbdCommand::Read => RequestKind::Read.index(),
        NbdCommand::Write => RequestKind::Write.index(),
        NbdCommand::Trim | NbdCommand::WriteZeroes => RequestKind::Trim.index(),
        NbdCommand::Flush => RequestKind::Flush.index(),
        _ => RequestKind::ALL.len(),
    }
}

/// Counters of one kind of request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// Requests that succeeded.
    pub operations: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Bytes of successful requests.
    pub bytes: u64,
    /// Times from reading a request to sending its reply, of successful requests.
    pub latency: Histogram,
    /// Sum of these times.
    pub latency_sum_ns: u64,
    /// From reading the first successful request to sending the last reply.
    pub span: Option<(Nanos, Nanos)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportCounters {
    /// Counters in the order of [`RequestKind::ALL`], with zeroes as trims; then of all other requests.
    pub kinds: [Done; 5],
    /// Number of connections so far.
    pub connections: u64,
    /// Number of current connections.
    pub connected: u64,
    /// Requests waiting for their replies.
    pub in_flight: u64,
    pub injected: InjectedFaults,
}

impl ExportCounters {
    pub(super) fn connect(&mut self) {
        self.connections += 1;
        self.connected += 1;
    }

    #[inline]
    pub(super) fn answered(&mut self, command: NbdCommand, bytes: u64, arrived: Nanos, now: Nanos, good: bool) {
        let done = &mut self.kinds[index(command)];
        if !good {
            done.errors += 1;
            return;
        }
        done.operations += 1;
        let latency = now.since(arrived);
        // Trims may cover far more than is ever transferred.
        done.bytes = done.bytes.saturating_add(bytes);
        done.span = Some((done.span.map_or(arrived, |(first, _)| first.min(arrived)), now));
        done.latency.add(latency.get(), 1);
        done.latency_sum_ns += latency.get();
    }
}

/// Statistics of a server at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Time since the server started.
    pub age: Nanos,
    pub exports: Vec<(String, ExportCounters)>,
    /// Statistics of the model's limits and stations.
    pub stages: Vec<ServiceStage>,
    /// Deviation of replies from their due times.
    pub punctuality: Punctuality,
    /// Mean round trip subtracted from modelled latencies.
    pub round_trip: Nanos,
    /// Clients that were refused or disconnected.
    pub turned_away: RejectedClients,
}

/// Counts of refused and disconnected clients, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RejectedClients {
    /// The limit of clients was reached.
    pub no_place: u64,
    /// There was no memory for another connection.
    pub no_memory: u64,
    /// They selected no export in time.
    pub hesitant: u64,
    /// They held memory that others waited for without reading replies or sending the rest of a request.
    pub stalled: u64,
}

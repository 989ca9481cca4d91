//! A client: a connection on a socket, or the kernel through a mount.

use std::os::fd::BorrowedFd;

use units::Nanos;

use super::budget::MemoryBudget;
use super::connection::Connection;
use super::dispatcher::Dispatcher;
use super::mounted::Mounted;
use super::over::Over;
use super::poll::Interest;

/// One client.
pub(super) enum Client {
    /// Came through a listener.
    Connection(Box<Connection>),
    /// The kernel.
    Mounted(Box<Mounted>),
}

impl Client {
    /// What is watched for it.
    pub(super) fn file(&self) -> BorrowedFd<'_> {
        match self {
            Self::Connection(connection) => connection.file(),
            Self::Mounted(mounted) => mounted.file(),
        }
    }

    /// Which export it has chosen; `None` before it has.
    pub(super) fn export(&self) -> Option<u32> {
        match self {
            Self::Connection(connection) => connection.export(),
            Self::Mounted(mounted) => Some(mounted.export()),
        }
    }

    /// Takes what it has sent.
    pub(super) fn hear(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), Over> {
        match self {
            Self::Connection(connection) => connection.hear(now, dispatcher),
            Self::Mounted(mounted) => mounted.hear(now, dispatcher),
        }
    }

    /// Writes the reply to one of its requests, to be sent by [`Client::send`].
    #[inline]
    pub(super) fn answer(&mut self, now: Nanos, slot: u32, dispatcher: &mut Dispatcher) {
        let answer = dispatcher.take(now, slot);
        match self {
            Self::Connection(connection) => connection.answer(now, &answer, dispatcher),
            Self::Mounted(mounted) => mounted.answer(&answer, dispatcher),
        }
    }

    /// Sends what can be sent.
    pub(super) fn send(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), Over> {
        match self {
            Self::Connection(connection) => connection.send(now, dispatcher),
            Self::Mounted(mounted) => mounted.settle(dispatcher),
        }
    }

    /// Whether something is still to be sent to it.
    pub(super) fn is_owed(&self) -> bool {
        matches!(self, Self::Connection(connection) if connection.is_owed())
    }

    /// For what it has to be watched now.
    pub(super) fn wants(&self, budget: &MemoryBudget) -> Interest {
        match self {
            Self::Connection(connection) => connection.wants(budget),
            Self::Mounted(mounted) => mounted.wants(budget),
        }
    }

    /// Whether it has memory that others wait for, and does not move on.
    pub(super) fn is_overdue(&self, now: Nanos) -> bool {
        matches!(self, Self::Connection(connection) if connection.is_overdue(now))
    }

    /// Since when it has been there without choosing an export.
    pub(super) fn hesitates_since(&self) -> Option<Nanos> {
        match self {
            Self::Connection(connection) if connection.export().is_none() => Some(connection.since),
            _ => None,
        }
    }

    /// It goes; what it was lent goes back.
    pub(super) fn abandon(&mut self, dispatcher: &mut Dispatcher) {
        match self {
            Self::Connection(connection) => connection.abandon(dispatcher),
            Self::Mounted(mounted) => mounted.abandon(dispatcher),
        }
    }
}

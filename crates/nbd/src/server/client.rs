//! A client: a connection on a socket, or the kernel through a mount.

use std::os::fd::BorrowedFd;

use units::Nanos;

use super::budget::MemoryBudget;
use super::connection::Connection;
use super::dispatcher::Dispatcher;
use super::mounted::Mounted;
use super::poll::Interest;
use super::socket::ClientEnded;

pub(super) enum Client {
    /// A client connected through a listener.
    Connection(Box<Connection>),
    /// The kernel, through a mount.
    Mounted(Box<Mounted>),
}

impl Client {
    /// Returns the descriptor to watch.
    pub(super) fn file(&self) -> BorrowedFd<'_> {
        match self {
            Self::Connection(connection) => connection.file(),
            Self::Mounted(mounted) => mounted.file(),
        }
    }

    /// Returns the selected export; `None` before the client selects one.
    pub(super) fn export(&self) -> Option<u32> {
        match self {
            Self::Connection(connection) => connection.export(),
            Self::Mounted(mounted) => Some(mounted.export()),
        }
    }

    pub(super) fn handle_input(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), ClientEnded> {
        match self {
            Self::Connection(connection) => connection.handle_input(now, dispatcher),
            Self::Mounted(mounted) => mounted.handle_input(now, dispatcher),
        }
    }

    /// Queues the reply to a finished request, which [`Client::send`] sends.
    #[inline]
    pub(super) fn answer(&mut self, now: Nanos, slot: u32, dispatcher: &mut Dispatcher) {
        let answer = dispatcher.take(now, slot);
        match self {
            Self::Connection(connection) => connection.answer(now, &answer, dispatcher),
            Self::Mounted(mounted) => mounted.answer(&answer, dispatcher),
        }
    }

    /// Sends as much as the descriptor accepts.
    pub(super) fn send(&mut self, now: Nanos, dispatcher: &mut Dispatcher) -> Result<(), ClientEnded> {
        match self {
            Self::Connection(connection) => connection.send(now, dispatcher),
            Self::Mounted(mounted) => mounted.settle(dispatcher),
        }
    }

    pub(super) fn has_output(&self) -> bool {
        matches!(self, Self::Connection(connection) if connection.has_output())
    }

    /// Returns the events to watch for.
    pub(super) fn interest(&self, budget: &MemoryBudget) -> Interest {
        match self {
            Self::Connection(connection) => connection.interest(budget),
            Self::Mounted(mounted) => mounted.interest(budget),
        }
    }

    /// Reports whether it makes no progress while it holds memory that others wait for.
    pub(super) fn is_overdue(&self, now: Nanos) -> bool {
        matches!(self, Self::Connection(connection) if connection.is_overdue(now))
    }

    /// Returns when it connected, if it has not selected an export.
    pub(super) fn handshaking_since(&self) -> Option<Nanos> {
        match self {
            Self::Connection(connection) if connection.export().is_none() => Some(connection.since),
            _ => None,
        }
    }

    /// Closes it and returns its memory and loans.
    pub(super) fn close(&mut self, dispatcher: &mut Dispatcher) {
        match self {
            Self::Connection(connection) => connection.close(dispatcher),
            Self::Mounted(mounted) => mounted.close(dispatcher),
        }
    }
}

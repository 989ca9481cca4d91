//! The order in which connections are granted advances.
//!
//! Connections whose clients are known to read their replies come first: they return an advance soon, while a client
//! that reads nothing keeps its advance until it is disconnected. Within each group, arrival order is kept. After
//! [`MAX_OVERTAKEN`] grants to known readers, the first connection of the other group is served.

use std::collections::VecDeque;

use super::slots::ConnectionTicket;

/// Number of known readers that are granted an advance before a waiting connection not known to read.
pub(super) const MAX_OVERTAKEN: u32 = 8;

#[derive(Debug, Default)]
pub(super) struct AdvanceQueue {
    /// Connections of clients that are known to read.
    readers: VecDeque<ConnectionTicket>,
    /// Connections of clients that have read nothing yet.
    others: VecDeque<ConnectionTicket>,
    /// Grants to readers since the first of the others has been waiting, or since the last grant to one of them.
    overtaken: u32,
}

impl AdvanceQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.readers.is_empty() && self.others.is_empty()
    }

    /// Returns the connection to serve next.
    pub(super) fn first(&self) -> Option<ConnectionTicket> {
        let first = if self.is_turn_of_others() { self.others.front() } else { self.readers.front() };
        first.copied()
    }

    fn is_turn_of_others(&self) -> bool {
        !self.others.is_empty() && (self.readers.is_empty() || self.overtaken >= MAX_OVERTAKEN)
    }

    pub(super) fn push(&mut self, ticket: ConnectionTicket, is_reader: bool) {
        if is_reader { &mut self.readers } else { &mut self.others }.push_back(ticket);
    }

    /// Records a grant to a connection and removes it from the queue.
    pub(super) fn grant(&mut self, ticket: ConnectionTicket) {
        let was_other = self.others.contains(&ticket);
        self.remove(ticket.client);
        self.overtaken = if was_other || self.others.is_empty() { 0 } else { self.overtaken + 1 };
    }

    pub(super) fn remove(&mut self, client: u32) {
        self.readers.retain(|ticket| ticket.client != client);
        self.others.retain(|ticket| ticket.client != client);
    }
}

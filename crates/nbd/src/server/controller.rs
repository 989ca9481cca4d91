//! Changes a running server from other threads.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use volume::Attachment;

use super::tallies::Snapshot;
use crate::store::faults::FaultRates;

/// A change to a running server.
#[derive(Clone, Debug)]
pub enum ControlChange {
    /// Injected faults. Effective where [`ServerConfig::faults`](super::ServerConfig::faults) has a seed and in stores
    /// that have faults of their own.
    Faults(FaultRates),
    /// The model: new specs for the same attachments, as [`volume::System::change`] takes them.
    Model(Vec<Attachment>),
}

/// Changes a running server; clones control the same server.
#[derive(Clone, Debug)]
pub struct Controller {
    wake: Arc<OwnedFd>,
    control: Sender<ControlRequest>,
}

#[derive(Debug)]
pub(super) struct ControlRequest {
    pub change: Option<ControlChange>,
    pub done: SyncSender<Snapshot>,
}

/// Changes that the server has not made yet.
#[derive(Debug)]
pub(super) struct ControlQueue {
    wake: Arc<OwnedFd>,
    queue: Receiver<ControlRequest>,
}

impl Controller {
    pub(super) fn new() -> Result<(Self, ControlQueue), Errno> {
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (control, queue) = channel();
        Ok((Self { wake: Arc::clone(&wake), control }, ControlQueue { wake, queue }))
    }

    /// Makes a change, or none, between two requests and returns a snapshot of that instant; `None` if the server has
    /// ended.
    #[must_use]
    pub fn carry_out(&self, change: Option<ControlChange>) -> Option<Snapshot> {
        let (done, report) = sync_channel(1);
        self.control.send(ControlRequest { change, done }).ok()?;
        // The counter of an eventfd cannot overflow by adding one.
        let _ = rustix::io::write(&*self.wake, &1u64.to_ne_bytes());
        report.recv().ok()
    }
}

impl ControlQueue {
    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Returns pending changes in order of arrival.
    pub(super) fn take(&self) -> Vec<ControlRequest> {
        // Clears the eventfd before emptying the queue: a later change wakes the server again.
        let _ = rustix::io::read(&*self.wake, &mut [0u8; 8]);
        self.queue.try_iter().collect()
    }
}

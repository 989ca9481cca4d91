//! Changes a running server from other threads.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use volume::Attachment;

use super::tallies::Snapshot;
use crate::store::faults::FaultRates;

/// A change of a running server.
#[derive(Clone, Debug)]
pub enum ControlChange {
    /// What goes wrong on purpose. It has an effect where [`Config::faults`](super::ServerConfig::faults) has a seed and where
    /// stores have faults of their own.
    Faults(FaultRates),
    /// The model: other specs for the same attachments, as [`volume::System::change`] takes them.
    Model(Vec<Attachment>),
}

/// Changes a server; all its clones change the same one.
#[derive(Clone, Debug)]
pub struct Controller {
    wake: Arc<OwnedFd>,
    orders: Sender<ControlOrder>,
}

/// A change, and where it is reported.
#[derive(Debug)]
pub(super) struct ControlOrder {
    pub change: Option<ControlChange>,
    pub done: SyncSender<Snapshot>,
}

/// Changes that the server has not made.
#[derive(Debug)]
pub(super) struct Orders {
    wake: Arc<OwnedFd>,
    queue: Receiver<ControlOrder>,
}

impl Controller {
    pub(super) fn new() -> Result<(Self, Orders), Errno> {
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (orders, queue) = channel();
        Ok((Self { wake: Arc::clone(&wake), orders }, Orders { wake, queue }))
    }

    /// Has a change made between two requests, or none, and returns what the server had done at that instant; `None` when
    /// the server has ended.
    #[must_use]
    pub fn carry_out(&self, change: Option<ControlChange>) -> Option<Snapshot> {
        let (done, report) = sync_channel(1);
        self.orders.send(ControlOrder { change, done }).ok()?;
        // The counter of an eventfd that was never read cannot be full after one more.
        let _ = rustix::io::write(&*self.wake, &1u64.to_ne_bytes());
        report.recv().ok()
    }
}

impl Orders {
    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Those that have come, in their order.
    pub(super) fn take(&self) -> Vec<ControlOrder> {
        // Before the queue is emptied: what is ordered after that wakes the server again.
        let _ = rustix::io::read(&*self.wake, &mut [0u8; 8]);
        self.queue.try_iter().collect()
    }
}

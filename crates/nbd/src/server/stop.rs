use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{EventfdFlags, eventfd};

/// Stops a server from any thread; clones stop the same server.
#[derive(Clone, Debug)]
pub struct Stopper {
    wake: Arc<OwnedFd>,
    stopped: Arc<AtomicBool>,
}

impl Stopper {
    pub(super) fn new() -> io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { wake: Arc::new(wake), stopped: Arc::default() })
    }

    /// Has the server finish pending requests and return.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        // The counter of an eventfd cannot overflow by adding one.
        let _ = rustix::io::write(&*self.wake, &1u64.to_ne_bytes());
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

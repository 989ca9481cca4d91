//! Waits for files and for time.

use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{ClockId, Timespec};
use units::Nanos;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// The server is stopping.
    Stop,
    /// A client connects to a listener.
    Listener(u32),
    /// A store has finished operations.
    Store(u32),
    /// A client has sent data, or its socket accepts data again.
    Client(u32),
    /// A controller has requested a change.
    Control,
}

impl Token {
    fn number(self) -> u64 {
        let (kind, index) = match self {
            Self::Stop => (0, 0),
            Self::Listener(index) => (1, index),
            Self::Store(index) => (2, index),
            Self::Client(index) => (3, index),
            Self::Control => (4, 0),
        };
        kind << 32 | u64::from(index)
    }

    fn of(number: u64) -> Self {
        let index = number as u32;
        match number >> 32 {
            0 => Self::Stop,
            1 => Self::Listener(index),
            2 => Self::Store(index),
            3 => Self::Client(index),
            _ => Self::Control,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PollEvents {
    pub token: Token,
    /// Whether the other end is closed. The kernel always reports this event.
    pub hung_up: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Interest {
    /// Data to read.
    pub read: bool,
    /// Space to write.
    pub write: bool,
}

impl Interest {
    pub(super) const READ: Self = Self { read: true, write: false };
    pub(super) const NONE: Self = Self { read: false, write: false };

    fn flags(self) -> EventFlags {
        let read = if self.read { EventFlags::IN } else { EventFlags::empty() };
        let write = if self.write { EventFlags::OUT } else { EventFlags::empty() };
        read | write
    }
}

pub(super) struct Poll {
    epoll: OwnedFd,
    events: Vec<Event>,
}

impl Poll {
    /// Creates an empty set. Makes the timers of this thread exact: by default the kernel delays them by up to 50 µs.
    pub(super) fn new() -> Result<Self, Errno> {
        // If the kernel refuses, wake-ups are late, and the lateness is reported.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)?, events: Vec::with_capacity(64) })
    }

    pub(super) fn watch(&self, file: BorrowedFd<'_>, token: Token, interest: Interest) -> Result<(), Errno> {
        epoll::add(&self.epoll, file, EventData::new_u64(token.number()), interest.flags())
    }

    pub(super) fn change(&self, file: impl AsFd, token: Token, interest: Interest) -> Result<(), Errno> {
        epoll::modify(&self.epoll, file, EventData::new_u64(token.number()), interest.flags())
    }

    pub(super) fn forget(&self, file: impl AsFd) {
        // A file that is about to be closed needs no success here.
        let _ = epoll::delete(&self.epoll, file);
    }

    /// Waits until a file is ready, `timeout` has passed or a signal arrives.
    pub(super) fn wait(&mut self, timeout: Option<Nanos>, ready: &mut Vec<PollEvents>) -> Result<(), Errno> {
        let timeout = timeout.map(|time| Timespec {
            tv_sec: (time.get() / 1_000_000_000) as i64,
            tv_nsec: (time.get() % 1_000_000_000) as i64,
        });
        self.events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        ready.clear();
        ready.extend(self.events.iter().map(|event| PollEvents {
            token: Token::of(event.data.u64()),
            hung_up: { event.flags }.intersects(EventFlags::HUP | EventFlags::ERR),
        }));
        Ok(())
    }
}

/// Reads the server's clock: time since the machine started.
#[inline]
pub(super) fn now() -> Nanos {
    let time = rustix::time::clock_gettime(ClockId::Monotonic);
    Nanos::new(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

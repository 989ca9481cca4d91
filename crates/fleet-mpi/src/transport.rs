//! Messages by MPI.
//!
//! Only calls that return at once are used: a blocking call, collective operations included, waits forever for a rank
//! that has died. Measured with Open MPI 4.1.4 over TCP: `MPI_Bsend` to a dead rank never returns, `MPI_Isend` does.

use std::time::{Duration, Instant};

use fleet::Transport;
use mpi::collective::CommunicatorCollectives;
use mpi::environment::Universe;
use mpi::point_to_point::{Destination, Source};
use mpi::request::{Request, StaticScope};
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::traits::Equivalence;
use mpi::{Rank, Threading};
use units::{Problem, ProblemCode};

/// Connects with the other ranks. Called on the thread that will send and receive.
pub(crate) fn connect() -> Result<Box<dyn Transport>, Problem> {
    let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Funneled) else {
        return Err(Problem::error(ProblemCode::Connection, "MPI is initialized already"));
    };
    if threading < Threading::Funneled {
        let remedy = "use a library that was built with support for threads";
        return Err(Problem::error(ProblemCode::Connection, "the MPI library does not permit threads").help(remedy));
    }
    let world = universe.world();
    Ok(Box::new(MpiTransport { world, short: Vec::new(), sending: Vec::new(), universe }))
}

/// The connection. Fields are dropped in order: the universe ends MPI, so it is the last.
struct MpiTransport {
    world: SimpleCommunicator,
    /// Short messages, which ranks send again and again.
    short: Vec<&'static [u8]>,
    /// Messages that MPI still reads.
    sending: Vec<Request<'static, [u8]>>,
    universe: Universe,
}

impl MpiTransport {
    /// Keeps a message until the process ends, because MPI reads it until it has left, which may be never. Ranks send a dozen messages
    /// for each run, and otherwise the same short one.
    fn kept(&mut self, message: Vec<u8>) -> &'static [u8] {
        if message.len() > SHORT {
            return Box::leak(message.into_boxed_slice());
        }
        if let Some(known) = self.short.iter().find(|known| **known == message) {
            return known;
        }
        let kept: &'static [u8] = Box::leak(message.into_boxed_slice());
        self.short.push(kept);
        kept
    }

    /// Forgets the messages that have left.
    fn test(&mut self) {
        let sending = std::mem::take(&mut self.sending);
        self.sending = sending.into_iter().filter_map(|request| request.test().err()).collect();
    }

    /// Waits until all messages have left and all ranks have come this far. Reports whether that was within the limit.
    ///
    /// A rank inside `MPI_Finalize` may no longer move messages on which others depend. Measured with six ranks of MPICH
    /// 4.0.2 over UCX and TCP on a busy host: 3 of 3 runs hung there without this, 1 of 20 with it.
    fn settle(&mut self) -> bool {
        let until = Instant::now() + SETTLE_LIMIT;
        let mut barrier = None;
        let is_complete = loop {
            self.move_messages();
            let request = barrier.take().or_else(|| self.sending.is_empty().then(|| self.world.immediate_barrier()));
            match request.map(Request::test) {
                Some(Ok(_)) => break true,
                Some(Err(request)) => barrier = Some(request),
                None => {}
            }
            if Instant::now() >= until {
                break false;
            }
        };
        // A request must not be dropped before it is complete.
        std::mem::forget(barrier);
        let until = Instant::now() + SETTLE_AFTER;
        while is_complete && Instant::now() < until {
            self.move_messages();
        }
        is_complete
    }

    /// Sends what is due and discards what arrives: heartbeats.
    fn move_messages(&mut self) {
        while self.receive().is_some() {}
        self.test();
        std::thread::sleep(SETTLE_PAUSE);
    }
}

/// Maximum length of a message that is kept once.
const SHORT: usize = 16;

/// Time limit for the last messages of all ranks.
const SETTLE_LIMIT: Duration = Duration::from_secs(3);
/// Time for which a rank moves messages of others after that.
const SETTLE_AFTER: Duration = Duration::from_millis(100);
/// Pause between two looks at them.
const SETTLE_PAUSE: Duration = Duration::from_micros(200);

/// The only tag. Messages say themselves what they are.
const TAG: i32 = 1;

impl Transport for MpiTransport {
    fn rank(&self) -> u32 {
        self.world.rank().unsigned_abs()
    }

    fn ranks(&self) -> u32 {
        self.world.size().unsigned_abs()
    }

    fn send(&mut self, to: u32, message: Vec<u8>) {
        let message = self.kept(message);
        let to = self.world.process_at_rank(Rank::try_from(to).unwrap_or(Rank::MAX));
        self.sending.push(to.immediate_send_with_tag(StaticScope, message, TAG));
    }

    fn receive(&mut self) -> Option<(u32, Vec<u8>)> {
        if !self.sending.is_empty() {
            self.test();
        }
        let (message, status) = self.world.any_process().immediate_matched_probe_with_tag(TAG)?;
        let length = usize::try_from(status.count(u8::equivalent_datatype())).unwrap_or(0);
        let mut bytes = vec![0; length];
        message.matched_receive_into(&mut bytes[..]);
        Some((status.source_rank().unsigned_abs(), bytes))
    }

    fn finish(mut self: Box<Self>) {
        if self.settle() {
            let Self { world, universe, .. } = *self;
            drop(world);
            drop(universe);
        } else {
            // Dropping it would wait for ranks that no longer answer. The process ends soon.
            std::mem::forget(self);
        }
    }
}

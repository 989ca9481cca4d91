//! Messages by MPI.
//!
//! Only calls that return at once are used: a blocking call, collective operations included, waits forever for a rank
//! that has died. Measured with Open MPI 4.1.4 over TCP: `MPI_Bsend` to a dead rank never returns, `MPI_Isend` does.

use fleet::Transport;
use mpi::environment::Universe;
use mpi::point_to_point::{Destination, Source};
use mpi::request::{Request, StaticScope};
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::traits::Equivalence;
use mpi::{Rank, Threading};

/// Connects with the other ranks. Called on the thread that will send and receive.
pub(crate) fn connect() -> Result<Box<dyn Transport>, String> {
    let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Funneled) else {
        return Err("MPI is initialized already".to_owned());
    };
    if threading < Threading::Funneled {
        let remedy = "use a library that was built with support for threads";
        return Err(format!("the MPI library does not permit threads\nhelp: {remedy}"));
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
}

/// Maximum length of a message that is kept once.
const SHORT: usize = 16;

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
        self.test();
        // What has not left by now goes to ranks that no longer listen.
        std::mem::forget(std::mem::take(&mut self.sending));
        let Self { world, universe, .. } = *self;
        drop(world);
        drop(universe);
    }
}

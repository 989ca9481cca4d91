//! The thread that exchanges messages with other ranks, and what has arrived so far.
//!
//! It alone uses the transport, so that no other thread ever waits for another host: they read what has arrived and
//! judge by the time since a rank was last heard.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use units::{Problem, ProblemCode};

use crate::clock::{ClockOffset, HostClock, RoundTrip, estimate};
use crate::message::{self, EndedPart, Header, Presence};
use crate::transport::Transport;
use crate::tree;

/// Interval at which ranks show their neighbours that they live.
const BEAT: Duration = Duration::from_millis(200);
/// Shortest pause between two looks for messages.
const PAUSE_MIN: Duration = Duration::from_micros(200);
/// Longest pause while another thread waits for messages.
const PAUSE_WAITING: Duration = Duration::from_millis(5);
/// Longest pause otherwise.
const PAUSE_MAX: Duration = Duration::from_millis(20);
/// Pause of this thread after which it was suspended itself, so that the silence of others means nothing.
const SUSPENDED: Duration = Duration::from_secs(1);
/// Time for which a rank answers further round trips at once.
const ATTENTIVE: Duration = Duration::from_millis(2);
/// Maximum number of round trips to one rank.
const TRIPS_MAX: usize = 64;
/// Number of round trips after which a short one is good enough.
const TRIPS_MIN: usize = 16;
/// Duration of a short round trip in nanoseconds.
const SHORT_TRIP_NS: i64 = 10_000;
/// Time limit for the round trips to one rank.
const TRIPS_LIMIT: Duration = Duration::from_millis(500);
/// Silence after which a rank counts as lost once SIGTERM has arrived: launchers kill all ranks a second later.
const SILENCE_AFTER_SIGTERM: Duration = Duration::from_millis(400);
const SIGTERM: i32 = 15;

/// Commands of a rank's program.
pub struct ExchangeOptions {
    /// Silence after which a rank counts as lost.
    pub silence: Duration,
    pub clock: Arc<dyn HostClock + Sync>,
    /// Returns the signal that has ended this rank, if any.
    pub ended: fn() -> Option<i32>,
    /// Ends this rank as if the signal had arrived here.
    pub end: fn(i32),
}

impl std::fmt::Debug for ExchangeOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExchangeOptions").field("silence", &self.silence).finish_non_exhaustive()
    }
}

/// A part of an agreement that has arrived.
#[derive(Debug)]
pub(crate) struct ArrivedPart {
    pub(crate) from: u32,
    pub(crate) number: u64,
    pub(crate) presence: Presence,
    pub(crate) body: Vec<u8>,
}

/// The outcome of an agreement.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    pub(crate) presence: Presence,
    pub(crate) body: Vec<u8>,
}

/// What has arrived.
#[derive(Debug, Default)]
pub(crate) struct RankInbox {
    pub(crate) parts: Vec<ArrivedPart>,
    pub(crate) wholes: BTreeMap<u64, Whole>,
    /// Reasons why this rank has no part in an agreement.
    pub(crate) excluded: BTreeMap<u64, String>,
    pub(crate) clocks: BTreeMap<u32, ClockOffset>,
    pub(crate) sent_bytes: u64,
    /// Rank 0's latest conclusions, for ranks whose parent died before it passed one on.
    pub(crate) concluded: BTreeMap<u64, Whole>,
    /// Ranks that took no part in an agreement, with reasons. They take part in no later one either, because they are out
    /// of step.
    pub(crate) gone: BTreeMap<u32, String>,
    /// Jobs that have ended with another one, on this rank or another.
    pub(crate) ended_parts: BTreeSet<EndedPart>,
    heard: BTreeMap<u32, Instant>,
    signal: Option<i32>,
    is_over: bool,
}

/// Commands to the thread.
enum ExchangeCommand {
    Send(u32, Vec<u8>),
    MeasureClocks(u32),
    /// Ends jobs on all ranks.
    EndJobs(EndedPart),
    /// Ends the thread. Waits for all ranks to do the same if they all live.
    Finish {
        orderly: bool,
    },
}

#[derive(Default)]
struct Shared {
    arrivals: Mutex<RankInbox>,
    changed: Condvar,
    is_awaited: AtomicBool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, RankInbox> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection of this rank with the others.
pub(crate) struct RankExchange {
    shared: Arc<Shared>,
    commands: Sender<ExchangeCommand>,
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
    silence: Duration,
}

impl RankExchange {
    /// Starts the thread, which connects with the other ranks.
    pub(crate) fn start(
        options: ExchangeOptions,
        connect: impl FnOnce() -> Result<Box<dyn Transport>, Problem> + Send + 'static,
    ) -> Result<Self, Problem> {
        let (shared, silence) = (Arc::new(Shared::default()), options.silence);
        let (commands, received) = channel();
        let (sender, connected) = channel();
        let for_thread = Arc::clone(&shared);
        let work = move || match connect() {
            Err(problem) => drop(sender.send(Err(problem))),
            Ok(transport) => {
                let ends = (transport.rank(), transport.ranks());
                let thread = ExchangeThread::new(transport, options, for_thread, received);
                // The receiver waits for this.
                let _ = sender.send(Ok(ends));
                thread.run();
            }
        };
        let spawned = std::thread::Builder::new().name("exchange".to_owned()).spawn(work);
        spawned.map_err(|error| Problem::error(ProblemCode::Connection, format!("cannot start a thread: {error}")))?;
        let ended = "the connection thread exited";
        let connected = connected.recv().map_err(|_| Problem::error(ProblemCode::Connection, ended))?;
        let (rank, ranks) = connected?;
        Ok(Self { shared, commands, rank, ranks, silence })
    }

    pub(crate) fn send(&self, to: u32, header: &Header, body: &[u8]) {
        // The thread ends only when the program does.
        let _ = self.commands.send(ExchangeCommand::Send(to, message::written(header, body)));
    }

    /// Begins to measure the clocks of all ranks for the nth time. Only rank 0 does so.
    pub(crate) fn measure_clocks(&self, number: u32) {
        let _ = self.commands.send(ExchangeCommand::MeasureClocks(number));
    }

    /// Ends jobs on all ranks.
    pub(crate) fn end_jobs(&self, ended: EndedPart) {
        let _ = self.commands.send(ExchangeCommand::EndJobs(ended));
    }

    /// Ends the thread and waits for it, no longer than `limit`.
    pub(crate) fn finish(&self, orderly: bool, limit: Duration) {
        let _ = self.commands.send(ExchangeCommand::Finish { orderly });
        let until = Instant::now() + limit;
        self.wait(Some(until), |arrivals| arrivals.is_over.then_some(()));
    }

    /// Looks at what has arrived.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut RankInbox) -> T) -> T {
        look(&mut self.shared.lock())
    }

    /// Waits for `condition`, until an instant at most.
    pub(crate) fn wait<T>(
        &self,
        until: Option<Instant>,
        mut condition: impl FnMut(&mut RankInbox) -> Option<T>,
    ) -> Option<T> {
        let mut arrivals = self.shared.lock();
        loop {
            if let Some(value) = condition(&mut arrivals) {
                return Some(value);
            }
            let left = until.map_or(PAUSE_MAX, |until| until.saturating_duration_since(Instant::now()).min(PAUSE_MAX));
            if left.is_zero() {
                return None;
            }
            arrivals =
                self.shared.changed.wait_timeout(arrivals, left).map_or_else(|error| error.into_inner().0, |one| one.0);
        }
    }

    /// Says whether a thread waits for messages, so that they are looked for more often.
    pub(crate) fn set_awaited(&self, is_awaited: bool) {
        self.shared.is_awaited.store(is_awaited, Ordering::Relaxed);
    }

    /// Returns the silence after which a rank counts as lost.
    pub(crate) fn silence(&self) -> Duration {
        let is_terminated = self.look(|arrivals| arrivals.signal) == Some(SIGTERM);
        if is_terminated { self.silence.min(SILENCE_AFTER_SIGTERM) } else { self.silence }
    }

    /// Returns why a neighbour counts as lost; `None` if it lives.
    pub(crate) fn lost(&self, rank: u32) -> Option<String> {
        let silence = self.silence();
        self.look(|arrivals| {
            if let Some(reason) = arrivals.gone.get(&rank) {
                return Some(reason.clone());
            }
            let silent = arrivals.heard.get(&rank)?.elapsed();
            (silent > silence).then(|| format!("no heartbeat for {:.1} s", silent.as_secs_f64()))
        })
    }
}

/// The thread's own state.
struct ExchangeThread {
    transport: Box<dyn Transport>,
    options: ExchangeOptions,
    shared: Arc<Shared>,
    commands: Receiver<ExchangeCommand>,
    neighbours: Vec<u32>,
    beaten: Option<Instant>,
    looked: Instant,
    attentive_until: Instant,
    pings: u64,
    pongs: BTreeMap<u64, (i64, i64)>,
    /// Measurement that this rank owes its children, with its own offset.
    owed: Option<(u32, ClockOffset)>,
}

impl ExchangeThread {
    fn new(
        transport: Box<dyn Transport>,
        options: ExchangeOptions,
        shared: Arc<Shared>,
        commands: Receiver<ExchangeCommand>,
    ) -> Self {
        let (rank, now) = (transport.rank(), Instant::now());
        let neighbours: Vec<u32> =
            tree::parent(rank).into_iter().chain(tree::children(rank, transport.ranks())).collect();
        shared.lock().heard = neighbours.iter().map(|neighbour| (*neighbour, now)).collect();
        let (attentive_until, looked) = (now, now);
        let (beaten, pings, pongs, owed) = (None, 0, BTreeMap::new(), None);
        Self { transport, options, shared, commands, neighbours, beaten, looked, attentive_until, pings, pongs, owed }
    }

    fn run(mut self) {
        let mut pause = PAUSE_MIN;
        loop {
            let mut is_busy = self.receive();
            self.beat();
            self.spread_signal();
            if let Some((number, own)) = self.owed.take() {
                self.measure_children(number, own);
                self.looked = Instant::now();
                is_busy = true;
            }
            let longest = if self.shared.is_awaited.load(Ordering::Relaxed) { PAUSE_WAITING } else { PAUSE_MAX };
            pause = if is_busy { PAUSE_MIN } else { (pause * 2).min(longest) };
            let command = match self.pause(pause) {
                Ok(command) => command,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => ExchangeCommand::Finish { orderly: false },
            };
            pause = PAUSE_MIN;
            match command {
                ExchangeCommand::Send(to, message) => self.send(to, message),
                ExchangeCommand::MeasureClocks(number) => self.owed = Some((number, ClockOffset::default())),
                ExchangeCommand::EndJobs(ended) => self.spread_end(ended, None),
                ExchangeCommand::Finish { orderly } => return self.finish(orderly),
            }
        }
    }

    /// Waits for a command, or yields while round trips are measured.
    fn pause(&mut self, pause: Duration) -> Result<ExchangeCommand, RecvTimeoutError> {
        if Instant::now() < self.attentive_until {
            std::thread::yield_now();
            return self.commands.try_recv().map_err(|_| RecvTimeoutError::Timeout);
        }
        self.commands.recv_timeout(pause)
    }

    fn finish(self, orderly: bool) {
        if orderly {
            self.transport.finish();
        } else {
            // Dropping it would wait for ranks that no longer live. The process ends soon.
            std::mem::forget(self.transport);
        }
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
    }

    fn send(&mut self, to: u32, message: Vec<u8>) {
        self.shared.lock().sent_bytes += message.len() as u64;
        self.transport.send(to, message);
    }

    /// Sends a message to all neighbours but one.
    fn flood(&mut self, message: &[u8], except: Option<u32>) {
        for index in 0..self.neighbours.len() {
            let to = self.neighbours[index];
            if Some(to) != except {
                self.send(to, message.to_vec());
            }
        }
    }

    fn beat(&mut self) {
        if self.beaten.is_some_and(|beaten| beaten.elapsed() < BEAT) {
            return;
        }
        self.beaten = Some(Instant::now());
        let message = message::written(&Header::Alive, &[]);
        let silence = self.options.silence;
        // Messages to the dead would only pile up.
        let living =
            |arrivals: &RankInbox, rank| arrivals.heard.get(rank).is_none_or(|heard| heard.elapsed() < silence * 2);
        let living: Vec<u32> = {
            let arrivals = self.shared.lock();
            self.neighbours.iter().filter(|rank| living(&arrivals, rank)).copied().collect()
        };
        for to in living {
            self.transport.send(to, message.clone());
        }
    }

    /// Sends the signal that has ended this rank, if any, to the others.
    fn spread_signal(&mut self) {
        let Some(signal) = (self.options.ended)() else { return };
        if self.shared.lock().signal.replace(signal).is_none() {
            self.flood(&message::written(&Header::End { signal }, &[]), None);
        }
    }

    /// Sends the end of a stage to the others, except for the rank from which it came. Every rank may end it at the same
    /// time.
    fn spread_end(&mut self, ended: EndedPart, from: Option<u32>) {
        if !self.shared.lock().ended_parts.insert(ended.clone()) {
            return;
        }
        let message = message::written(&Header::EndJobs(ended), &[]);
        self.flood(&message, from);
        // Neighbours pass it on, but not across a lost rank. Rank 0 reaches all others directly.
        let is_far = |rank: &u32| !self.neighbours.contains(rank) && Some(*rank) != from;
        let far: Vec<u32> = match (self.transport.rank(), from) {
            (0, _) => (1..self.transport.ranks()).filter(is_far).collect(),
            (_, None) => std::iter::once(0).filter(is_far).collect(),
            (_, Some(_)) => Vec::new(),
        };
        for to in far {
            self.send(to, message.clone());
        }
    }

    /// Handles all messages that have arrived. Reports whether there were any.
    fn receive(&mut self) -> bool {
        let mut is_busy = false;
        let pause = std::mem::replace(&mut self.looked, Instant::now()).elapsed();
        while let Some((from, bytes)) = self.transport.receive() {
            is_busy |= self.handle(from, bytes);
        }
        if pause > SUSPENDED {
            let now = Instant::now();
            self.shared.lock().heard.values_mut().for_each(|heard| *heard = now);
        }
        is_busy
    }

    /// Handles a message. Reports whether it is more than a heartbeat.
    fn handle(&mut self, from: u32, bytes: Vec<u8>) -> bool {
        let shared = Arc::clone(&self.shared);
        let mut arrivals = shared.lock();
        if let Some(heard) = arrivals.heard.get_mut(&from) {
            *heard = Instant::now();
        }
        let Some((header, body)) = message::read(bytes) else { return false };
        match header {
            Header::Alive => return false,
            Header::Ping { number } => {
                drop(arrivals);
                let (at_ns, wall_ns) = (self.options.clock.monotonic_ns(), self.options.clock.wall_ns());
                self.send(from, message::written(&Header::Pong { number, at_ns, wall_ns }, &[]));
                self.attentive_until = Instant::now() + ATTENTIVE;
                return true;
            }
            Header::Pong { number, at_ns, wall_ns } => drop(self.pongs.insert(number, (at_ns, wall_ns))),
            Header::Clock { number, offset_ns, error_ns, wall_offset_ns } => {
                let own = ClockOffset { offset_ns, error_ns, wall_offset_ns };
                arrivals.clocks.insert(number, own);
                self.owed = Some((number, own));
            }
            Header::Part { number, presence } => arrivals.parts.push(ArrivedPart { from, number, presence, body }),
            Header::Whole { number, presence } => drop(arrivals.wholes.insert(number, Whole { presence, body })),
            Header::Excluded { number, reason } => drop(arrivals.excluded.insert(number, reason)),
            Header::EndJobs(ended) => {
                drop(arrivals);
                self.spread_end(ended, Some(from));
            }
            Header::End { signal } => {
                if arrivals.signal.replace(signal).is_none() {
                    drop(arrivals);
                    (self.options.end)(signal);
                    self.flood(&message::written(&Header::End { signal }, &[]), Some(from));
                }
            }
        }
        shared.changed.notify_all();
        true
    }

    /// Measures the clocks of the children, each of which then does the same.
    fn measure_children(&mut self, number: u32, own: ClockOffset) {
        if self.transport.rank() == 0 {
            self.shared.lock().clocks.insert(number, own);
        }
        for child in tree::children(self.transport.rank(), self.transport.ranks()) {
            let is_lost =
                self.shared.lock().heard.get(&child).is_some_and(|heard| heard.elapsed() > self.options.silence);
            if is_lost {
                continue;
            }
            if let Some(offset) = self.measure(child) {
                let ClockOffset { offset_ns, error_ns, wall_offset_ns } = own.then(offset);
                self.send(child, message::written(&Header::Clock { number, offset_ns, error_ns, wall_offset_ns }, &[]));
            }
        }
    }

    fn measure(&mut self, child: u32) -> Option<ClockOffset> {
        let until = Instant::now() + TRIPS_LIMIT;
        let mut trips: Vec<RoundTrip> = Vec::new();
        while trips.len() < TRIPS_MAX {
            self.pings += 1;
            let number = self.pings;
            let sent_ns = self.options.clock.monotonic_ns();
            self.send(child, message::written(&Header::Ping { number }, &[]));
            let (answered_ns, wall_ns) = loop {
                let received = self.transport.receive();
                let Some((from, bytes)) = received else {
                    if Instant::now() >= until {
                        return estimate(&trips);
                    }
                    self.beat();
                    std::thread::yield_now();
                    continue;
                };
                self.handle(from, bytes);
                if let Some(answer) = self.pongs.remove(&number) {
                    break answer;
                }
            };
            let received_ns = self.options.clock.monotonic_ns();
            let own_difference = self.options.clock.wall_ns().saturating_sub(received_ns);
            let wall_difference_ns = wall_ns.saturating_sub(answered_ns).saturating_sub(own_difference);
            trips.push(RoundTrip { sent_ns, answered_ns, received_ns, wall_difference_ns });
            let is_short = received_ns.saturating_sub(sent_ns) <= SHORT_TRIP_NS;
            if Instant::now() >= until || is_short && trips.len() >= TRIPS_MIN {
                break;
            }
        }
        estimate(&trips)
    }
}

//! Carries out commands of a drive, one after the other.

use units::{Bytes, Nanos, random::Random};

use super::cache::Cache;
use super::geometry::{Geometry, Spot};
use super::queue::{CommandQueue, DiskCommand, Pick};
use super::stream::DiskStream;
use crate::events::EventQueue;
use crate::hard_disk::HardDisk;
use crate::request::{Request, RequestKind};

/// A drive at work.
#[derive(Clone, Debug)]
pub(crate) struct Mechanics {
    drive: HardDisk,
    geometry: Geometry,
    commands: CommandQueue,
    cache: Cache,
    stream: DiskStream,
    head: Spot,
    state: HeadState,
    /// When the event comes for which it waits. Those of other instants were asked for before it changed its mind.
    due: Nanos,
}

/// State of the head. Except when idle, an event is scheduled.
#[derive(Clone, Copy, Debug)]
enum HeadState {
    /// Nothing waits for the platters.
    Idle,
    /// It will choose what is next.
    Choosing,
    /// A command ends under the head.
    Serving(Service),
}

/// A command under way.
#[derive(Clone, Copy, Debug)]
struct Service {
    command: DiskCommand,
    origin: CommandOrigin,
    /// Whether the head was there already.
    goes_on: bool,
}

/// Origin of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CommandOrigin {
    Commands,
    Cache,
}

impl Mechanics {
    pub(crate) fn new(drive: &HardDisk, size: Bytes, mut random: Random) -> Self {
        let geometry = Geometry::new(drive, size.get());
        let mut cache = Cache::new(drive);
        if drive.write_cache && drive.cache_full_at_start {
            cache.fill(&geometry, &mut random);
        }
        Self {
            commands: CommandQueue::new(drive),
            cache,
            stream: DiskStream::new(drive.readahead.get()),
            head: geometry.spot(random.below(geometry.size())),
            state: HeadState::Idle,
            due: Nanos::MAX,
            geometry,
            drive: drive.clone(),
        }
    }

    /// Takes a request.
    pub(crate) fn arrive(&mut self, now: Nanos, request: &Request, events: &mut EventQueue<'_>) {
        match request.kind {
            RequestKind::Trim => self.answer(now, request.id, 0, events),
            RequestKind::Flush if self.cache.is_clean() => self.answer(now, request.id, 0, events),
            RequestKind::Flush => self.cache.flush(request.id),
            RequestKind::Read => self.read(now, self.command(now, request), events),
            RequestKind::Write if self.drive.write_cache => {
                let command = self.command(now, request);
                if let Some(id) = self.cache.write(command, &self.geometry) {
                    self.answer(now, id, request.length, events);
                }
            }
            RequestKind::Write => self.commands.push(self.command(now, request), &self.geometry),
        }
        if matches!(self.state, HeadState::Idle) {
            self.choose_soon(now, events);
        }
    }

    /// An event it asked for has come.
    pub(crate) fn moved(&mut self, now: Nanos, events: &mut EventQueue<'_>) {
        if now != self.due {
            return;
        }
        match self.state {
            HeadState::Idle => {}
            HeadState::Choosing => self.choose(now, events),
            HeadState::Serving(service) => self.finish(now, service, events),
        }
    }

    fn command(&self, now: Nanos, request: &Request) -> DiskCommand {
        DiskCommand {
            answer: Some(request.id),
            write: request.kind == RequestKind::Write,
            offset: request.offset,
            length: request.length,
            since: now,
            spot: self.geometry.spot(request.offset),
        }
    }

    /// Reports that what needs no platters is done.
    fn answer(&self, now: Nanos, id: u32, length: u32, events: &mut EventQueue<'_>) {
        events.done(now + self.drive.interface(length), id);
    }

    /// Takes a read: it is there already, or on its way under the head, or waits.
    fn read(&mut self, now: Nanos, command: DiskCommand, events: &mut EventQueue<'_>) {
        if self.stream.holds(&command, now) {
            self.stream.used(&command, now, &self.geometry);
            self.answer_from_buffer(now, &command, events);
            return;
        }
        self.commands.push(command, &self.geometry);
        // As long as nothing else is chosen, the platters may turn on to it.
        if !matches!(self.state, HeadState::Serving(_)) && self.stream.leads_to(&command, now) {
            self.go_on(now, events);
        }
    }

    fn answer_from_buffer(&self, now: Nanos, command: &DiskCommand, events: &mut EventQueue<'_>) {
        if let Some(id) = command.answer {
            self.answer(now, id, command.length, events);
        }
    }

    /// Whether commands and whether the cache may be served now.
    ///
    /// A flush has the drive for itself, as it has in SATA. Otherwise the cache waits while there is something to read,
    /// until a write waits for room: then all compete.
    fn eligible(&self) -> [(CommandOrigin, bool); 2] {
        let flushing = self.cache.is_flushing();
        let cache = flushing || self.cache.is_short() || self.commands.is_empty();
        [(CommandOrigin::Commands, !flushing), (CommandOrigin::Cache, cache)]
    }

    /// Chooses after the overhead, if there is something to choose from.
    fn choose_soon(&mut self, now: Nanos, events: &mut EventQueue<'_>) {
        self.state = if self.commands.is_empty() && self.cache.dirty.is_empty() {
            HeadState::Idle
        } else {
            self.wake(now + self.drive.overhead, events);
            HeadState::Choosing
        };
    }

    fn wake(&mut self, at: Nanos, events: &mut EventQueue<'_>) {
        self.due = at;
        events.wake(at);
    }

    /// Starts the command that is nearest, or goes on where the head is.
    fn choose(&mut self, now: Nanos, events: &mut EventQueue<'_>) {
        if self.go_on(now, events) {
            return;
        }
        let mut best: Option<(CommandOrigin, Pick)> = None;
        for (origin, may) in self.eligible() {
            let queue = queue(origin, &mut self.commands, &mut self.cache);
            if may
                && let Some(pick) = queue.nearest(now, &self.head, &self.geometry)
                && best.is_none_or(|(_, known)| pick.cost < known.cost)
            {
                best = Some((origin, pick));
            }
        }
        let Some((origin, pick)) = best else {
            self.state = HeadState::Idle;
            return;
        };
        self.stream.freeze(now);
        let command = self.take(origin, pick.index);
        let transfer = Nanos::new((f64::from(command.length) * command.spot.ns_per_byte + 0.5) as u64);
        let end = now + self.geometry.time(pick.ticks) + transfer;
        self.serve(end, Service { command, origin, goes_on: false }, events);
    }

    fn take(&mut self, origin: CommandOrigin, index: usize) -> DiskCommand {
        queue(origin, &mut self.commands, &mut self.cache).take(index, &self.geometry)
    }

    fn serve(&mut self, end: Nanos, service: Service, events: &mut EventQueue<'_>) {
        self.state = HeadState::Serving(service);
        self.wake(end, events);
    }

    /// Serves what passes under the head if it just stays where it is, unless a request has waited too long. Says
    /// whether the head is busy with that.
    fn go_on(&mut self, now: Nanos, events: &mut EventQueue<'_>) -> bool {
        for (origin, may) in self.eligible() {
            if !may || queue(origin, &mut self.commands, &mut self.cache).overdue(now).is_some() {
                continue;
            }
            while let Some(command) = self.next_in_stream(origin, now) {
                let end = self.stream.passes(&command);
                // A write has to be destaged, even one of no bytes.
                if end > now || command.write {
                    self.serve(end, Service { command, origin, goes_on: true }, events);
                    return true;
                }
                self.stream.used(&command, now, &self.geometry);
                self.answer_from_buffer(now, &command, events);
            }
        }
        false
    }

    /// Takes the next command to which the stream leads.
    fn next_in_stream(&mut self, origin: CommandOrigin, now: Nanos) -> Option<DiskCommand> {
        let queue = queue(origin, &mut self.commands, &mut self.cache);
        let index = queue.first_within(self.stream.range(), |command| self.stream.leads_to(command, now))?;
        Some(self.take(origin, index))
    }

    /// A command has ended under the head.
    fn finish(&mut self, now: Nanos, service: Service, events: &mut EventQueue<'_>) {
        let Service { command, origin, goes_on } = service;
        self.stream.restart(&command, goes_on, now, &self.geometry);
        self.head = self.geometry.spot(command.end());
        if let Some(id) = command.answer {
            events.done(now, id);
        }
        if origin == CommandOrigin::Cache {
            self.cache.destaged(command.length);
            for id in self.cache.flushed() {
                events.done(now + self.drive.interface(0), id);
            }
            while let Some(admitted) = self.cache.admit(now, &self.geometry) {
                self.answer_from_buffer(now, &admitted, events);
            }
        }
        if !self.go_on(now, events) {
            self.choose_soon(now, events);
        }
    }
}

/// Queue of an origin.
fn queue<'a>(origin: CommandOrigin, commands: &'a mut CommandQueue, cache: &'a mut Cache) -> &'a mut CommandQueue {
    match origin {
        CommandOrigin::Commands => commands,
        CommandOrigin::Cache => &mut cache.dirty,
    }
}

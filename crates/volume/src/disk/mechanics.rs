//! Executes the commands of a drive, one after another.

use units::{Bytes, Nanos, random::Random};

use super::cache::Cache;
use super::geometry::{DiskPosition, Geometry};
use super::queue::{CommandQueue, DiskCommand, Pick};
use super::stream::DiskStream;
use crate::event_heap::DriveEvents;
use crate::hard_disk::HardDisk;
use crate::request::{Request, RequestKind};

#[derive(Clone, Debug)]
pub(crate) struct Mechanics {
    drive: HardDisk,
    geometry: Geometry,
    commands: CommandQueue,
    cache: Cache,
    stream: DiskStream,
    head: DiskPosition,
    state: HeadState,
    /// Time of the event it waits for. Events at other times are obsolete.
    due: Nanos,
}

/// State of the head. Except when idle, an event is scheduled.
#[derive(Clone, Copy, Debug)]
enum HeadState {
    /// No command needs the platters.
    Idle,
    /// Will choose the next command.
    Choosing,
    /// A command completes under the head.
    Serving(Service),
}

#[derive(Clone, Copy, Debug)]
struct Service {
    command: DiskCommand,
    origin: CommandOrigin,
    /// Whether the head was already in place.
    continues: bool,
}

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
            head: geometry.position(random.below(geometry.size())),
            state: HeadState::Idle,
            due: Nanos::MAX,
            geometry,
            drive: drive.clone(),
        }
    }

    pub(crate) fn arrive(&mut self, now: Nanos, request: &Request, events: &mut DriveEvents<'_>) {
        match request.kind {
            RequestKind::Trim => self.complete(now, request.id, 0, events),
            RequestKind::Flush if self.cache.is_clean() => self.complete(now, request.id, 0, events),
            RequestKind::Flush => self.cache.flush(request.id),
            RequestKind::Read => self.read(now, self.command(now, request), events),
            RequestKind::Write if self.drive.write_cache => {
                let command = self.command(now, request);
                if let Some(id) = self.cache.write(command, &self.geometry) {
                    self.complete(now, id, request.length, events);
                }
            }
            RequestKind::Write => self.commands.push(self.command(now, request), &self.geometry),
        }
        if matches!(self.state, HeadState::Idle) {
            self.schedule_choice(now, events);
        }
    }

    pub(crate) fn handle_event(&mut self, now: Nanos, events: &mut DriveEvents<'_>) {
        if now != self.due {
            return;
        }
        match self.state {
            HeadState::Idle => {}
            HeadState::Choosing => self.choose(now, events),
            HeadState::Serving(service) => self.finish(now, service, events),
        }
    }

    /// Reports whether it chooses the next command at an instant.
    pub(crate) fn chooses_at(&self, at: Nanos) -> bool {
        matches!(self.state, HeadState::Choosing) && at == self.due
    }

    fn command(&self, now: Nanos, request: &Request) -> DiskCommand {
        DiskCommand {
            request: Some(request.id),
            write: request.kind == RequestKind::Write,
            offset: request.offset,
            length: request.length,
            since: now,
            position: self.geometry.position(request.offset),
        }
    }

    /// Completes a request that does not need the platters.
    fn complete(&self, now: Nanos, id: u32, length: u32, events: &mut DriveEvents<'_>) {
        events.done(now + self.drive.interface(length), id);
    }

    /// Accepts a read: it is buffered, about to pass under the head, or must wait.
    fn read(&mut self, now: Nanos, command: DiskCommand, events: &mut DriveEvents<'_>) {
        if self.stream.holds(&command, now) {
            self.stream.used(&command, now, &self.geometry);
            self.complete_buffered(now, &command, events);
            return;
        }
        self.commands.push(command, &self.geometry);
        // While no other command is chosen, the platters may turn on to it.
        if !matches!(self.state, HeadState::Serving(_)) && self.stream.can_serve(&command, now) {
            self.continue_at_head(now, events);
        }
    }

    fn complete_buffered(&self, now: Nanos, command: &DiskCommand, events: &mut DriveEvents<'_>) {
        if let Some(id) = command.request {
            self.complete(now, id, command.length, events);
        }
    }

    /// Returns which of the two queues may be served now.
    ///
    /// A flush has the drive to itself, as in SATA. Otherwise the cache waits while there are reads, until a write
    /// waits for space: then all compete.
    fn eligible(&self) -> [(CommandOrigin, bool); 2] {
        let flushing = self.cache.is_flushing();
        let cache = flushing || self.cache.has_waiting_writes() || self.commands.is_empty();
        [(CommandOrigin::Commands, !flushing), (CommandOrigin::Cache, cache)]
    }

    /// Schedules the next choice after the overhead, if any command waits.
    fn schedule_choice(&mut self, now: Nanos, events: &mut DriveEvents<'_>) {
        self.state = if self.commands.is_empty() && self.cache.dirty.is_empty() {
            HeadState::Idle
        } else {
            self.wake(now + self.drive.overhead, events);
            HeadState::Choosing
        };
    }

    fn wake(&mut self, at: Nanos, events: &mut DriveEvents<'_>) {
        self.due = at;
        events.wake(at);
    }

    /// Starts the nearest command, or continues where the head is.
    fn choose(&mut self, now: Nanos, events: &mut DriveEvents<'_>) {
        if self.continue_at_head(now, events) {
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
        let transfer = Nanos::new((f64::from(command.length) * command.position.ns_per_byte + 0.5) as u64);
        let end = now + self.geometry.time(pick.ticks) + transfer;
        self.serve(end, Service { command, origin, continues: false }, events);
    }

    fn take(&mut self, origin: CommandOrigin, index: usize) -> DiskCommand {
        queue(origin, &mut self.commands, &mut self.cache).take(index, &self.geometry)
    }

    fn serve(&mut self, end: Nanos, service: Service, events: &mut DriveEvents<'_>) {
        self.state = HeadState::Serving(service);
        self.wake(end, events);
    }

    /// Serves commands that pass under the head where it is, unless a request is overdue. Returns whether the head is
    /// busy with one.
    fn continue_at_head(&mut self, now: Nanos, events: &mut DriveEvents<'_>) -> bool {
        for (origin, may) in self.eligible() {
            if !may || queue(origin, &mut self.commands, &mut self.cache).overdue(now).is_some() {
                continue;
            }
            while let Some(command) = self.next_in_stream(origin, now) {
                let end = self.stream.passes(&command);
                // A write must be destaged, even one of no bytes.
                if end > now || command.write {
                    self.serve(end, Service { command, origin, continues: true }, events);
                    return true;
                }
                self.stream.used(&command, now, &self.geometry);
                self.complete_buffered(now, &command, events);
            }
        }
        false
    }

    /// Takes the next command that the stream can serve.
    fn next_in_stream(&mut self, origin: CommandOrigin, now: Nanos) -> Option<DiskCommand> {
        let queue = queue(origin, &mut self.commands, &mut self.cache);
        let index = queue.first_within(self.stream.range(), |command| self.stream.can_serve(command, now))?;
        Some(self.take(origin, index))
    }

    /// Completes a command that has passed under the head.
    fn finish(&mut self, now: Nanos, service: Service, events: &mut DriveEvents<'_>) {
        let Service { command, origin, continues } = service;
        self.stream.restart(&command, continues, now, &self.geometry);
        self.head = self.geometry.position(command.end());
        if let Some(id) = command.request {
            events.done(now, id);
        }
        if origin == CommandOrigin::Cache {
            self.cache.destaged(command.length);
            for id in self.cache.flushed() {
                events.done(now + self.drive.interface(0), id);
            }
            while let Some(admitted) = self.cache.admit(now, &self.geometry) {
                self.complete_buffered(now, &admitted, events);
            }
        }
        if !self.continue_at_head(now, events) {
            self.schedule_choice(now, events);
        }
    }
}

fn queue<'a>(origin: CommandOrigin, commands: &'a mut CommandQueue, cache: &'a mut Cache) -> &'a mut CommandQueue {
    match origin {
        CommandOrigin::Commands => commands,
        CommandOrigin::Cache => &mut cache.dirty,
    }
}

//! The command queue, ordered by positioning time.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use units::Nanos;

use super::geometry::{DiskPosition, Geometry};
use crate::hard_disk::HardDisk;

/// A read or write that needs the platters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DiskCommand {
    /// Request to complete; `None` if that has already happened.
    pub(super) request: Option<u32>,
    pub(super) write: bool,
    /// First byte.
    pub(super) offset: u64,
    /// Length in bytes.
    pub(super) length: u32,
    /// Time of arrival.
    pub(super) since: Nanos,
    pub(super) position: DiskPosition,
}

impl DiskCommand {
    /// Returns the byte after its last.
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.length))
    }
}

/// A candidate for the next command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    pub(super) index: usize,
    /// Positioning time in ticks.
    pub(super) ticks: u32,
    /// Cost; the lowest is next.
    pub(super) cost: i64,
}

/// Base cost of overdue commands: below all others, the oldest lowest.
const OVERDUE: i64 = i64::MIN / 2;

/// Commands in order of arrival, the first of which are in a window.
///
/// The window is unordered; arrays per field keep what the search reads together.
#[derive(Clone, Debug)]
pub(super) struct CommandQueue {
    window: usize,
    age_weight: f64,
    max_age: Option<Nanos>,
    commands: Vec<DiskCommand>,
    offsets: Vec<u64>,
    places: Vec<f64>,
    tracks: Vec<u32>,
    angles: Vec<u32>,
    settles: Vec<u32>,
    ticks: Vec<u32>,
    backlog: VecDeque<DiskCommand>,
}

impl CommandQueue {
    pub(super) fn new(drive: &HardDisk) -> Self {
        let window = drive.sched_window.max(1) as usize;
        Self {
            window,
            age_weight: drive.age_weight,
            max_age: drive.max_age,
            commands: Vec::with_capacity(window),
            offsets: Vec::with_capacity(window),
            places: Vec::with_capacity(window),
            tracks: Vec::with_capacity(window),
            angles: Vec::with_capacity(window),
            settles: Vec::with_capacity(window),
            ticks: vec![0; window],
            backlog: VecDeque::new(),
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    #[inline]
    pub(super) fn push(&mut self, command: DiskCommand, geometry: &Geometry) {
        if self.commands.len() < self.window {
            self.open(command, geometry);
        } else {
            self.backlog.push_back(command);
        }
    }

    /// Adds a command to the window.
    #[inline]
    fn open(&mut self, command: DiskCommand, geometry: &Geometry) {
        self.offsets.push(command.offset);
        self.places.push(command.position.place);
        self.tracks.push(command.position.track);
        self.angles.push(command.position.angle);
        self.settles.push(if command.write { geometry.settle() } else { 0 });
        self.commands.push(command);
    }

    /// Removes a command from the window and refills it from the backlog.
    #[inline]
    pub(super) fn take(&mut self, index: usize, geometry: &Geometry) -> DiskCommand {
        self.offsets.swap_remove(index);
        self.places.swap_remove(index);
        self.tracks.swap_remove(index);
        self.angles.swap_remove(index);
        self.settles.swap_remove(index);
        let command = self.commands.swap_remove(index);
        if let Some(next) = self.backlog.pop_front() {
            self.open(next, geometry);
        }
        command
    }

    /// Returns the command that should be next, for a head over `head` at `now`.
    #[inline]
    pub(super) fn nearest(&mut self, now: Nanos, head: &DiskPosition, geometry: &Geometry) -> Option<Pick> {
        let phase = geometry.angle_at(now);
        let count = self.commands.len();
        let (places, tracks) = (&self.places[..count], &self.tracks[..count]);
        let (angles, settles) = (&self.angles[..count], &self.settles[..count]);
        let ticks = &mut self.ticks[..count];
        for index in 0..count {
            ticks[index] =
                geometry.positioning(head, phase, places[index], tracks[index], angles[index], settles[index]);
        }
        if let Some(overdue) = self.overdue(now) {
            return Some(overdue);
        }
        if self.age_weight > 0.0 {
            return self.nearest_aged(now, geometry);
        }
        let (mut least, mut at) = (u32::MAX, None);
        for (index, &ticks) in self.ticks[..count].iter().enumerate() {
            if ticks < least {
                (least, at) = (ticks, Some(index));
            }
        }
        at.map(|index| Pick { index, ticks: least, cost: i64::from(least) })
    }

    /// Returns the command that should be next if waiting lowers the cost.
    fn nearest_aged(&self, now: Nanos, geometry: &Geometry) -> Option<Pick> {
        let picks = self.commands.iter().zip(&self.ticks).enumerate().map(|(index, (command, &ticks))| {
            let age = geometry.ticks(now.since(command.since));
            Pick { index, ticks, cost: i64::from(ticks) - (self.age_weight * age) as i64 }
        });
        picks.min_by_key(|pick| pick.cost)
    }

    /// Returns the oldest command if it is overdue, with the ticks of the last search.
    pub(super) fn overdue(&self, now: Nanos) -> Option<Pick> {
        let max_age = self.max_age?;
        let (index, oldest) = self.commands.iter().enumerate().min_by_key(|(_, command)| command.since)?;
        let waited = now.since(oldest.since);
        let cost = OVERDUE + oldest.since.get() as i64;
        (waited >= max_age).then_some(Pick { index, ticks: self.ticks[index], cost })
    }

    /// Returns the command in the window with the lowest offset in `range` that `fits`.
    #[inline]
    pub(super) fn first_within(
        &self,
        range: RangeInclusive<u64>,
        fits: impl Fn(&DiskCommand) -> bool,
    ) -> Option<usize> {
        let (start, span) = (*range.start(), range.end().checked_sub(*range.start())?);
        // Matches are rare, so one pass without branches tests all offsets first.
        let any = self.offsets.iter().fold(false, |any, offset| any | (offset.wrapping_sub(start) <= span));
        if !any {
            return None;
        }
        let within = |offset: u64| offset.wrapping_sub(start) <= span;
        let some = self.commands.iter().enumerate().filter(|(_, command)| within(command.offset) && fits(command));
        some.min_by_key(|(_, command)| command.offset).map(|(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1_000_000_000_000;

    fn queue(drive: &HardDisk, offsets: &[u64]) -> (CommandQueue, Geometry) {
        let geometry = Geometry::new(drive, SIZE);
        let mut queue = CommandQueue::new(drive);
        for (at, &offset) in offsets.iter().enumerate() {
            let position = geometry.position(offset);
            let since = Nanos::from_millis(at as u64);
            queue.push(DiskCommand { offset, length: 4096, since, position, ..DiskCommand::default() }, &geometry);
        }
        (queue, geometry)
    }

    #[test]
    fn the_nearest_command_is_the_one_the_head_reaches_first() {
        let drive = HardDisk::sata_7200rpm();
        let geometry = Geometry::new(&drive, SIZE);
        let offsets: Vec<u64> = (0..32).map(|n: u64| n * n * 977_111_111 % SIZE / 4096 * 4096).collect();
        let (mut queue, _) = queue(&drive, &offsets);
        let head = geometry.position(SIZE / 3);
        for ms in 0..100 {
            let now = Nanos::from_millis(ms);
            let time = |offset: u64| {
                let position = geometry.position(offset);
                geometry.positioning(&head, geometry.angle_at(now), position.place, position.track, position.angle, 0)
            };
            let pick = queue.nearest(now, &head, &geometry).expect("there are commands");
            assert_eq!(pick.ticks, offsets.iter().map(|&offset| time(offset)).min().expect("there are offsets"));
            assert_eq!(pick.ticks, time(queue.commands[pick.index].offset));
        }
    }

    #[test]
    fn the_window_holds_the_oldest_commands_and_refills_in_order() {
        let drive = HardDisk { sched_window: 2, ..HardDisk::sata_7200rpm() };
        let (mut queue, geometry) = queue(&drive, &[0, 10, 20, 30, 40]);
        let mut taken = Vec::new();
        while let Some(index) = queue.first_within(0..=SIZE, |_| true) {
            taken.push(queue.take(index, &geometry).offset);
        }
        assert_eq!(taken, [0, 10, 20, 30, 40]);
        assert!(queue.is_empty());
    }

    #[test]
    fn overdue_commands_come_first_the_oldest_before_the_others() {
        let drive = HardDisk { max_age: Some(Nanos::from_millis(500)), ..HardDisk::sata_7200rpm() };
        let (mut queue, geometry) = queue(&drive, &[SIZE / 2, SIZE / 4, 0, 4096]);
        let head = geometry.position(0);
        assert!(queue.overdue(Nanos::from_millis(499)).is_none());
        let pick = queue.nearest(Nanos::from_millis(600), &head, &geometry).expect("there are commands");
        assert_eq!(queue.take(pick.index, &geometry).offset, SIZE / 2);
        let pick = queue.nearest(Nanos::from_millis(600), &head, &geometry).expect("there are commands");
        assert_eq!(queue.take(pick.index, &geometry).offset, SIZE / 4);
    }
}

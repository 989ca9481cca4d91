//! Decides where an operation falls, and what must precede it.

use units::{OpKind, ZoneCommand};

use super::state::{ZoneState, ZoneStates, ZoneTable, ZoneWriter};

/// What a worker may do in the zones of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ZoneRules {
    pub(crate) worker: u32,
    /// Index of the first zone of the region.
    pub(crate) first: usize,
    /// Index after the last zone of the region.
    pub(crate) end: usize,
    /// Maximum number of zones that all workers write; zero for no limit.
    pub(crate) max_written: u32,
    /// Maximum number of zones that this worker writes; zero for no limit.
    pub(crate) job_max_written: u32,
    /// Whether several writes of this worker can be in flight in a zone, because they reach the device in order.
    pub(crate) is_ordered: bool,
    /// Whether full zones are reset. Otherwise other ones are written.
    pub(crate) resets: bool,
    /// Whether rests that are smaller than a block are written.
    pub(crate) writes_remainder: bool,
    pub(crate) read_beyond_wp: bool,
    /// Watched region, written bytes and number of writes from which on zones are reset.
    pub(crate) threshold: Option<(usize, u64, u64)>,
}

/// An operation of the pattern.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ZoneRequest {
    pub(crate) kind: OpKind,
    pub(crate) offset: u64,
    pub(crate) length: u32,
    /// Smallest block.
    pub(crate) least: u32,
    pub(crate) is_random: bool,
}

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is issued there, with this length.
    Issue(u64, u32),
    /// First a command to the zone that starts there.
    Command(ZoneCommand, u64),
    /// It waits for operations in flight or for other workers.
    Wait,
    /// No zone of the region can take it.
    Nothing,
}

impl ZoneTable {
    /// Decides on an operation. What is issued must be reported to [`ZoneTable::completed`], unless it is a read.
    pub(crate) fn admit(&self, rules: &ZoneRules, writer: &mut ZoneWriter, request: &ZoneRequest) -> Admission {
        let mut state = self.lock();
        let wanted = self.index(request.offset);
        let Some(zone) = state.zones.get(wanted) else { return Admission::Nothing };
        if !zone.is_sequential && request.kind != OpKind::Trim {
            return within(zone, self.zone_bytes, request);
        }
        let admission = match request.kind {
            OpKind::Read if rules.read_beyond_wp => Admission::Issue(request.offset, request.length),
            OpKind::Read => state.read(rules, wanted, request),
            OpKind::Trim => state.trim(self, rules, wanted),
            _ => state.write(self, rules, writer, wanted, request),
        };
        state.progress += u64::from(matches!(admission, Admission::Issue(..) | Admission::Command(..)));
        admission
    }

    /// Resets the first zone of the region that is not empty, before a pass that is verified. Returns
    /// [`Admission::Nothing`] if all are empty.
    pub(crate) fn clear(&self, rules: &ZoneRules) -> Admission {
        let mut state = self.lock();
        for index in rules.first..rules.end.min(state.zones.len()) {
            let zone = &state.zones[index];
            if !zone.is_sequential || !zone.is_usable || (zone.is_empty() && !zone.is_unknown) {
                continue;
            }
            if zone.in_flight > 0 || zone.is_commanded {
                return Admission::Wait;
            }
            return state.command(self, index, ZoneCommand::Reset);
        }
        Admission::Nothing
    }
}

/// Shortens an operation in a conventional zone to what fits into the zone.
fn within(zone: &ZoneState, zone_bytes: u64, request: &ZoneRequest) -> Admission {
    let rest = zone.start + zone_bytes - request.offset;
    if u64::from(request.length) <= rest || request.kind == OpKind::Read {
        return Admission::Issue(request.offset, request.length);
    }
    let least = u64::from(request.least.max(1));
    Admission::Issue(request.offset, (rest / least * least).max(rest.min(least)) as u32)
}

impl ZoneStates {
    /// Begins a command. Zones that exist in the table alone need none on the device.
    fn command(&mut self, table: &ZoneTable, index: usize, command: ZoneCommand) -> Admission {
        match command {
            _ if !table.is_emulated => self.zones[index].is_commanded = true,
            ZoneCommand::Reset => self.reset(index),
            ZoneCommand::Finish => self.finish(index),
            ZoneCommand::Report => self.zones[index].is_unknown = false,
        }
        Admission::Command(command, self.zones[index].start)
    }

    fn read(&self, rules: &ZoneRules, wanted: usize, request: &ZoneRequest) -> Admission {
        let (least, length) = (u64::from(request.least.max(1)), u64::from(request.length));
        let data = |zone: &ZoneState| {
            let is_readable = zone.is_sequential && zone.is_usable && !zone.is_commanded;
            if is_readable { zone.readable - zone.start } else { 0 }
        };
        let zone = &self.zones[wanted];
        let (zone, inside) = if data(zone) >= least {
            (zone, request.offset - zone.start)
        } else {
            let later = (wanted + 1..rules.end).chain(if request.is_random { rules.first..wanted } else { 0..0 });
            let Some(other) = later.map(|index| &self.zones[index]).find(|zone| data(zone) >= least) else {
                return Admission::Nothing;
            };
            (other, if request.is_random { request.offset - zone.start } else { 0 })
        };
        let data = data(zone);
        let blocks = data / least;
        let at = if inside + least <= data { inside } else { inside / least % blocks * least };
        let whole = (data - at) / least * least;
        Admission::Issue(zone.start + at, length.min(whole) as u32)
    }

    fn trim(&mut self, table: &ZoneTable, rules: &ZoneRules, wanted: usize) -> Admission {
        let zones = &self.zones;
        let is_filled = |index: &usize| {
            let zone = &zones[*index];
            zone.is_sequential && zone.is_usable && !zone.is_empty() && !zone.is_commanded
        };
        let Some(index) = (wanted..rules.end).chain(rules.first..wanted).find(is_filled) else {
            return Admission::Nothing;
        };
        let zone = &mut self.zones[index];
        if zone.in_flight > 0 {
            return Admission::Wait;
        }
        zone.is_commanded = true;
        Admission::Issue(zone.start, u32::try_from(table.zone_bytes).unwrap_or(u32::MAX))
    }

    fn write(
        &mut self,
        table: &ZoneTable,
        rules: &ZoneRules,
        writer: &mut ZoneWriter,
        wanted: usize,
        request: &ZoneRequest,
    ) -> Admission {
        let idle = |zone: &usize| self.zones[*zone].in_flight == 0 && !self.zones[*zone].is_commanded;
        if let Some(index) = self.unfinished.iter().copied().find(idle) {
            return self.command(table, index, ZoneCommand::Finish);
        }
        let least = u64::from(request.least.max(1));
        let index = match self.choose(rules, writer, wanted, request) {
            Ok(index) => index,
            Err(admission) => return admission,
        };
        let zone = &self.zones[index];
        let is_idle = zone.in_flight == 0;
        if zone.is_unknown {
            return if is_idle { self.command(table, index, ZoneCommand::Report) } else { Admission::Wait };
        }
        let is_empty = zone.is_empty();
        writer.resets_next |= self.is_reset_due(rules, writer);
        if !self.takes(rules, index, least) || (writer.resets_next && !is_empty) {
            if !is_idle {
                return Admission::Wait;
            }
            writer.resets_next = false;
            return self.command(table, index, ZoneCommand::Reset);
        }
        if !self.is_turn(rules, index) {
            return Admission::Wait;
        }
        self.take(rules, writer, index, request)
    }

    /// Reports whether the zone has room for a block, or for a rest that is written.
    fn takes(&self, rules: &ZoneRules, index: usize, least: u64) -> bool {
        let room = self.zones[index].room();
        room >= least || (rules.writes_remainder && room > 0)
    }

    /// Chooses the zone of a write: the wanted one if it may be written, else one that is being written. Random writes
    /// also avoid zones that other writes occupy.
    fn choose(
        &self,
        rules: &ZoneRules,
        writer: &mut ZoneWriter,
        wanted: usize,
        request: &ZoneRequest,
    ) -> Result<usize, Admission> {
        let least = u64::from(request.least.max(1));
        if rules.job_max_written > 0 {
            writer.written.retain(|index| self.zones[*index].is_counted);
        }
        let may_begin = rules.job_max_written == 0 || writer.written.len() < rules.job_max_written as usize;
        let may_count = rules.max_written == 0 || self.written < rules.max_written;
        let may_write = |index: usize| {
            let zone = &self.zones[index];
            let is_possible = zone.is_sequential && zone.is_usable && (rules.resets || self.takes(rules, index, least));
            is_possible && (zone.is_counted || may_count) && (may_begin || writer.written.contains(&index))
        };
        let is_free = |index: usize| {
            let zone = &self.zones[index];
            let is_occupied = zone.in_flight > 0 && !(rules.is_ordered && zone.writer == rules.worker);
            !zone.is_commanded && !is_occupied
        };
        let is_wanted = may_write(wanted);
        if is_wanted && (is_free(wanted) || !request.is_random) {
            return if self.zones[wanted].is_commanded { Err(Admission::Wait) } else { Ok(wanted) };
        }
        let around = || (wanted..rules.end).chain(rules.first..wanted);
        let is_counted = |index: &usize| self.zones[*index].is_counted && may_write(*index);
        if let Some(index) = around().filter(is_counted).find(|index| is_free(*index)) {
            return Ok(index);
        }
        if is_wanted || around().any(|index| is_counted(&index)) {
            return Err(Admission::Wait);
        }
        if let Some(index) = around().find(|index| may_write(*index) && is_free(*index)) {
            return Ok(index);
        }
        let has_room = |index: usize| {
            let zone = &self.zones[index];
            zone.is_sequential && zone.is_usable && (rules.resets || self.takes(rules, index, least))
        };
        Err(if around().any(has_room) { Admission::Wait } else { Admission::Nothing })
    }

    /// Reports whether this worker may write now: not while writes of another one are in flight, nor, after its own
    /// writes, before a worker that waits.
    fn is_turn(&mut self, rules: &ZoneRules, index: usize) -> bool {
        let zone = &mut self.zones[index];
        let is_own = zone.writer == rules.worker;
        if zone.in_flight > 0 {
            if !is_own {
                zone.waits = Some(rules.worker);
            }
            return is_own && rules.is_ordered && zone.waits.is_none();
        }
        let waits = zone.waits.take();
        !is_own || waits.is_none_or(|worker| worker == rules.worker)
    }

    fn is_reset_due(&self, rules: &ZoneRules, writer: &mut ZoneWriter) -> bool {
        let Some((region, bytes, writes)) = rules.threshold else { return false };
        // A write that waits is counted once.
        if writer.has_counted || self.regions.get(region).is_none_or(|region| region.bytes < bytes) {
            return false;
        }
        writer.has_counted = true;
        writer.writes_above += 1;
        if writer.writes_above < writes {
            return false;
        }
        writer.writes_above = 0;
        true
    }

    /// Takes the next bytes of a zone.
    fn take(&mut self, rules: &ZoneRules, writer: &mut ZoneWriter, index: usize, request: &ZoneRequest) -> Admission {
        let least = u64::from(request.least.max(1));
        let zone = &mut self.zones[index];
        let (at, room) = (zone.write_pointer, zone.room());
        let whole = if room < least { room } else { room / least * least };
        let length = u64::from(request.length).min(whole);
        zone.write_pointer += length;
        zone.in_flight += 1;
        zone.writer = rules.worker;
        (writer.resets_next, writer.has_counted) = (false, false);
        let rest = zone.room();
        self.count(index);
        self.moved(index, at);
        if rules.job_max_written > 0 && !writer.written.contains(&index) {
            writer.written.push(index);
        }
        if rest > 0 && rest < least && !rules.writes_remainder && !self.unfinished.contains(&index) {
            self.unfinished.push(index);
        }
        Admission::Issue(at, length as u32)
    }
}

//! Operations in zones (`zonemode=zbd`): the pattern proposes, and the table of zones decides.

use std::sync::Arc;

use job::{EngineKind, ZonedOptions};
use units::{Nanos, OpKind, ZoneCommand};

use super::data::IssuerInputs;
use super::pattern::Pattern;
use crate::decision::{Decision, FileExtent, Next, ZoneTask};
use crate::offsets::{Cursor, OffsetRules};
use crate::operations::Operations;
use crate::zones::{Admission, ZoneRequest, ZoneRules, ZoneTable, ZoneWriter};

/// Interval at which a worker asks again for zones that others occupy.
const POLL: Nanos = Nanos::from_micros(20);
/// Time without any progress in the zones of a device after which a worker that waits for them ends.
const STALLED: Nanos = Nanos::from_secs(5);

/// A pattern in the zones of a worker's files.
#[derive(Debug)]
pub struct Zoned {
    pub(super) pattern: Pattern,
    files: Vec<ZonedFile>,
    /// The operation that waits for a zone.
    pending: Option<Decision>,
    /// Whether the job verifies what it writes.
    verifies: bool,
    /// Loop and pass for which the zones were reset, if the job verifies.
    cleared_for: Option<(u64, u32)>,
    /// Progress in the zones of the device and the instant since which there was no other.
    waits: Option<(u64, Nanos)>,
    /// Whether the worker ended because it waited too long.
    pub(super) gave_up: bool,
    pub(super) resets: u64,
    /// Whether writes continue at the device's write pointer after a failed one.
    recovers: bool,
}

#[derive(Debug)]
struct ZonedFile {
    table: Arc<ZoneTable>,
    rules: ZoneRules,
    writer: ZoneWriter,
    /// Pass and offset of the zone to which the sequence of writes has come.
    reached: Option<(u32, u64)>,
}

impl Zoned {
    /// Makes a pattern work in zones: in those of `tables`, one for each file, which all workers of a run share.
    pub(super) fn new(mut pattern: Pattern, zoned: &ZonedOptions, tables: Vec<Arc<ZoneTable>>) -> Self {
        pattern.leave_order_to_zones();
        if let Some(unverified) = &mut pattern.unverified {
            unverified.listed = Some(Vec::new());
        }
        let IssuerInputs { job, worker, layout, .. } = &*pattern.data.inputs;
        let verifies = job.verify.method.is_some() && Operations::of(job).write;
        let file = |(table, extent): (Arc<ZoneTable>, &FileExtent)| {
            let (first, end) = table.range(extent.start, extent.length);
            let ratio = zoned.reset_threshold.zip(zoned.reset_frequency).filter(|_| !verifies);
            let threshold = ratio.map(|(threshold, frequency)| {
                let bytes = threshold * extent.length as f64;
                (table.watch(first, end), bytes as u64, (1.0 / frequency).round() as u64)
            });
            let rules = ZoneRules {
                worker: worker.index,
                first,
                end,
                max_written: match zoned.max_open {
                    0 if zoned.ignore_limits => 0,
                    0 => table.max_written(),
                    most => most,
                },
                job_max_written: zoned.job_max_open,
                is_ordered: table.is_emulated() || job.engine.kind == EngineKind::Libaio,
                resets: !verifies,
                writes_remainder: zoned.writes_remainder,
                read_beyond_wp: zoned.read_beyond_wp,
                threshold,
            };
            ZonedFile { table, rules, writer: ZoneWriter::default(), reached: None }
        };
        Self {
            files: tables.into_iter().zip(&layout.files).map(file).collect(),
            pending: None,
            verifies,
            cleared_for: None,
            waits: None,
            gave_up: false,
            resets: 0,
            recovers: zoned.recovers,
            pattern,
        }
    }

    /// Records the result of a command: the write pointer, or `None` if it has failed.
    pub(super) fn commanded(&self, task: &ZoneTask, pointer: Option<u64>) {
        if let Some(file) = self.files.get(task.file as usize) {
            file.table.commanded(task, pointer);
        }
    }

    pub(super) fn note_failure(&mut self, op: &Decision) {
        if !matches!(op.kind, OpKind::Write | OpKind::Trim) {
            return;
        }
        // Without `recover_zbd_write_error`, further writes are as if it had succeeded, and fail.
        if let Some(file) = self.files.get(op.file as usize).filter(|_| self.recovers || op.kind == OpKind::Trim) {
            file.table.failed(op.offset);
        }
        if let Some(listed) = self.pattern.unverified.as_mut().and_then(|unverified| unverified.listed.as_mut()) {
            listed.retain(|write| write.sequence != op.sequence);
        }
    }

    pub(super) fn complete(&mut self, op: &Decision, at: Nanos) {
        if let Some(file) = self.files.get(op.file as usize).filter(|_| matches!(op.kind, OpKind::Write | OpKind::Trim))
        {
            file.table.completed(op.kind, op.offset, op.length);
        }
        self.pattern.complete(op, at);
    }

    pub(super) fn next(&mut self, now: Nanos) -> Next {
        loop {
            if let Some(next) = self.pattern.before_data(now) {
                return next;
            }
            if let Some(next) = self.next_data(now) {
                return self.pattern.hold(next);
            }
            self.pattern.end_loop();
        }
    }

    /// Returns the next data operation, or what must precede it; `None` at the end of a pass.
    fn next_data(&mut self, now: Nanos) -> Option<Next> {
        loop {
            let pattern = &mut self.pattern;
            let pending = match self.pending.take() {
                Some(pending) => pending,
                None => match pattern.pace.turn(pattern.mix, &mut pattern.streams.kinds, now) {
                    Ok((kind, intended)) => self.propose(kind, intended)?,
                    Err(until) => return Some(Next::Until(until)),
                },
            };
            let (file, admission) = match self.clear() {
                Some(clears) => clears,
                None => (pending.file, self.admit(&pending)),
            };
            self.pending = Some(pending);
            match admission {
                Admission::Issue(offset, length) => {
                    self.pending = None;
                    return Some(self.issue(&pending, offset, length));
                }
                Admission::Command(command, start) => {
                    self.resets += u64::from(command == ZoneCommand::Reset);
                    let table = &self.files[file as usize].table;
                    if !table.is_emulated() {
                        let length = table.zone_bytes();
                        return Some(Next::Command(ZoneTask { file, command, start, length }));
                    }
                }
                Admission::Wait if self.pattern.in_flight() > 0 => return Some(Next::Blocked),
                Admission::Wait if !self.is_stalled(file, now) => return Some(Next::Until(now + POLL)),
                Admission::Nothing if pending.kind == OpKind::Read && self.pattern.mix.includes(OpKind::Write) => {
                    // Something has to be written before it can be read.
                    self.pending = Some(self.propose(OpKind::Write, pending.intended)?);
                }
                Admission::Wait | Admission::Nothing => {
                    self.pending = None;
                    self.gave_up |= matches!(admission, Admission::Wait);
                    self.pattern.files.iter_mut().for_each(Cursor::end_pass);
                    if !self.verifies || pending.kind != OpKind::Write {
                        self.pattern.limits.stop();
                    }
                    return None;
                }
            }
        }
    }

    fn admit(&mut self, pending: &Decision) -> Admission {
        let &Decision { kind, offset, length, .. } = pending;
        let file = &mut self.files[pending.file as usize];
        let OffsetRules { sizes, .. } = &self.pattern.rules;
        let is_random = self.pattern.rules.is_random();
        let request = ZoneRequest { kind, offset, length, least: sizes[kind.index()].min(), is_random };
        file.table.admit(&file.rules, &mut file.writer, &request)
    }

    /// Resets zones before the first write of a pass that is verified, so that no reset destroys data of the pass.
    /// Returns the file and what is to be done; `None` if its zones are empty.
    fn clear(&mut self) -> Option<(u32, Admission)> {
        if !self.verifies {
            return None;
        }
        let key = (self.pattern.loop_start, self.pattern.files.first().map_or(0, |file| file.pass));
        if self.cleared_for == Some(key) {
            return None;
        }
        let of_file = |(number, file): (u32, &ZonedFile)| match file.table.clear(&file.rules) {
            Admission::Nothing => None,
            admission => Some((number, admission)),
        };
        let admission = (0..).zip(&self.files).find_map(of_file);
        if admission.is_none() {
            self.cleared_for = Some(key);
        }
        admission
    }

    /// Returns the next operation of the pattern; `None` at the end of the pass.
    fn propose(&mut self, mut kind: OpKind, intended: Nanos) -> Option<Decision> {
        let Self { pattern, files, .. } = self;
        let mut fresh = false;
        loop {
            let Some(file) = pattern.picker.next(&pattern.files, &mut pattern.streams.files) else {
                if !pattern.begin_pass(fresh) {
                    return None;
                }
                fresh = true;
                continue;
            };
            let (rules, cursor) = (&pattern.rules, &mut pattern.files[file]);
            if !rules.is_random() && !rules.has_skip() {
                let of_file = &files[file];
                let has_place = of_file.continue_sequence(kind, rules.sizes[kind.index()].min(), cursor);
                if !has_place && kind == OpKind::Read && pattern.mix.includes(OpKind::Write) {
                    // Something has to be written before it can be read.
                    kind = OpKind::Write;
                    of_file.continue_sequence(kind, rules.sizes[kind.index()].min(), cursor);
                } else if !has_place {
                    cursor.end_pass();
                }
            }
            if !cursor.is_done()
                && let Some((offset, length)) = cursor.next(rules, kind, &mut pattern.streams.places)
            {
                return Some(Decision { intended, file: file as u32, offset, ..Decision::of(kind, length) });
            }
            pattern.picker.retire(file as u32);
        }
    }

    fn issue(&mut self, pending: &Decision, offset: u64, length: u32) -> Next {
        let &Decision { kind, intended, file, .. } = pending;
        let cursor = &mut self.pattern.files[file as usize];
        if !self.pattern.rules.is_random() {
            cursor.continue_at(kind, offset + u64::from(length), 0);
            cursor.give_back(pending.length.saturating_sub(length));
        }
        let pass = cursor.pass;
        let next = self.pattern.issue(kind, intended, file, offset, length);
        self.waits = None;
        if kind == OpKind::Write {
            let of_file = &mut self.files[file as usize];
            of_file.reached = Some((pass, of_file.table.start_of(offset)));
            let listed = self.pattern.unverified.as_mut().and_then(|unverified| unverified.listed.as_mut());
            if let (Some(op), Some(listed)) = (next.operation(), listed) {
                listed.push(*op);
            }
        }
        next
    }

    /// Reports whether no worker has made progress for a long time, as where zones outside of all regions take all
    /// resources of the device.
    fn is_stalled(&mut self, file: u32, now: Nanos) -> bool {
        let progress = self.files[file as usize].table.progress();
        match self.waits {
            Some((known, since)) if known == progress => now.since(since) > STALLED,
            _ => {
                self.waits = Some((progress, now));
                false
            }
        }
    }
}

impl ZonedFile {
    /// Moves the position of a sequence over what cannot be read or written. Returns whether there is any.
    fn continue_sequence(&self, kind: OpKind, least: u32, cursor: &mut Cursor) -> bool {
        let (mut at, end, least) = (cursor.position(kind), cursor.end(), u64::from(least));
        match kind {
            OpKind::Read if self.rules.read_beyond_wp => {}
            OpKind::Read => {
                let Some(next) = self.table.next_read(at, end, least) else { return false };
                cursor.continue_at(kind, next, next - at);
            }
            OpKind::Write => {
                let least = if self.rules.writes_remainder { 1 } else { least };
                while at < end {
                    let zone = self.table.start_of(at);
                    let (next, lost) = self.table.next_write(at, self.reached == Some((cursor.pass, zone)), least);
                    cursor.continue_at(kind, next, lost);
                    if self.table.start_of(next) == zone {
                        break;
                    }
                    at = next;
                }
            }
            _ => {}
        }
        true
    }
}

impl Pattern {
    /// In zones, writes do not overlap within a pass.
    pub(super) fn leave_order_to_zones(&mut self) {
        self.parts.iter_mut().for_each(|parts| parts.order = None);
        self.data.verifier.iter_mut().for_each(|verifier| verifier.numbered = false);
    }
}

//! Operations in zones (`zonemode=zbd`): the pattern proposes, and the table of zones decides.

use std::sync::Arc;

use job::EngineKind;
use units::{Nanos, OpKind, ZoneCommand};

use super::replay::{Replay, caches};
use super::{Issuer, IssuerPhase};
use crate::decision::{Decision, Next, ZoneTask};
use crate::offsets::Cursor;
use crate::operations::Operations;
use crate::zones::{Admission, ZoneRequest, ZoneRules, ZoneTable, ZoneWriter};

/// Interval at which a worker asks again for zones that others occupy.
const POLL: Nanos = Nanos::from_micros(20);
/// Time without any progress in the zones of a device after which a worker that waits for them ends.
const STALLED: Nanos = Nanos::from_secs(5);

/// The zones of a worker's files.
#[derive(Clone, Debug)]
pub(super) struct ZonedFiles {
    files: Vec<ZonedFile>,
    /// The operation that waits for a zone.
    pending: Option<PendingOp>,
    /// Writes that have not been read back, if the job verifies.
    written: Option<Vec<Decision>>,
    /// Number of them that were read back.
    read_back: usize,
    /// Loop and pass for which the zones were reset, if the job verifies.
    cleared_for: Option<(u64, u32)>,
    /// Progress in the zones of the device and the instant since which there was no other.
    waits: Option<(u64, Nanos)>,
    /// Whether the worker ended because it waited too long.
    gave_up: bool,
    resets: u64,
    /// Whether writes continue at the device's write pointer after a failed one.
    recovers: bool,
}

#[derive(Clone, Debug)]
struct ZonedFile {
    table: Arc<ZoneTable>,
    rules: ZoneRules,
    writer: ZoneWriter,
    /// Pass and offset of the zone to which the sequence of writes has come.
    reached: Option<(u32, u64)>,
}

/// A proposal of the pattern.
#[derive(Clone, Copy, Debug)]
struct PendingOp {
    kind: OpKind,
    intended: Nanos,
    file: u32,
    offset: u64,
    length: u32,
}

impl Issuer {
    /// Makes the issuer work in zones: in those of `tables`, one for each file, which all workers of a run share. Must be
    /// called before the first decision of a job with `zonemode=zbd`.
    pub fn use_zones(&mut self, tables: Vec<Arc<ZoneTable>>) {
        let job = &self.origin.job;
        let Some(zoned) = job.pattern.zoned else { return };
        let verifies = job.verify.method.is_some() && Operations::of(job).write;
        let file = |(table, extent): (Arc<ZoneTable>, &crate::FileExtent)| {
            let (first, end) = table.range(extent.start, extent.length);
            let ratio = zoned.reset_threshold.zip(zoned.reset_frequency).filter(|_| !verifies);
            let threshold = ratio.map(|(threshold, frequency)| {
                let bytes = threshold * extent.length as f64;
                (table.watch(first, end), bytes as u64, (1.0 / frequency).round() as u64)
            });
            let rules = ZoneRules {
                worker: self.origin.worker.index,
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
        self.zoned = Some(Box::new(ZonedFiles {
            files: tables.into_iter().zip(&self.origin.layout.files).map(file).collect(),
            pending: None,
            written: verifies.then(Vec::new),
            read_back: 0,
            cleared_for: None,
            waits: None,
            gave_up: false,
            resets: 0,
            recovers: zoned.recovers,
        }));
        // Within a pass, writes do not overlap.
        self.order = None;
        self.verifier.iter_mut().for_each(|verifier| verifier.numbered = false);
        self.slow_path = true;
    }

    /// Reports whether the worker ended early, because no zone that it may write became free.
    #[must_use]
    pub fn waited_in_vain(&self) -> bool {
        self.zoned.as_ref().is_some_and(|zoned| zoned.gave_up)
    }

    #[must_use]
    pub fn zone_resets(&self) -> u64 {
        self.zoned.as_ref().map_or(0, |zoned| zoned.resets)
    }

    /// Records the result of a command: the write pointer, or `None` if it has failed.
    pub fn zone_commanded(&mut self, task: &ZoneTask, pointer: Option<u64>) {
        if let Some(file) = self.zoned.as_ref().and_then(|zoned| zoned.files.get(task.file as usize)) {
            file.table.commanded(task, pointer);
        }
    }

    pub(super) fn note_failure_in_zones(&mut self, op: &Decision) {
        let Some(zoned) = self.zoned.as_mut().filter(|_| matches!(op.kind, OpKind::Write | OpKind::Trim)) else {
            return;
        };
        // Without `recover_zbd_write_error`, further writes are as if it had succeeded, and fail.
        if let Some(file) = zoned.files.get(op.file as usize).filter(|_| zoned.recovers || op.kind == OpKind::Trim) {
            file.table.failed(op.offset);
        }
        if let Some(written) = &mut zoned.written {
            written.retain(|write| write.sequence != op.sequence);
        }
    }

    /// Returns the next step of a job in zones. At the end of a pass it ends the loop and returns what follows.
    pub(super) fn next_in_zones(&mut self, now: Nanos) -> Option<Next> {
        let mut zoned = self.zoned.take()?;
        let next = self.decide_in_zones(&mut zoned, now);
        self.zoned = Some(zoned);
        if let Some(next) = next {
            return Some(self.mark(next));
        }
        self.end_loop();
        self.before_data(now)
    }

    fn decide_in_zones(&mut self, zoned: &mut ZonedFiles, now: Nanos) -> Option<Next> {
        loop {
            let pending = match zoned.pending.take() {
                Some(pending) => pending,
                None => match self.pace.turn(self.mix, &mut self.streams.kinds, now) {
                    Ok((kind, intended)) => self.propose(zoned, kind, intended)?,
                    Err(until) => return Some(Next::Until(until)),
                },
            };
            let (file, admission) = match self.clear(zoned) {
                Some(clears) => clears,
                None => (pending.file, Self::admit(&self.rules.sizes, self.rules.is_random(), zoned, &pending)),
            };
            zoned.pending = Some(pending);
            match admission {
                Admission::Issue(offset, length) => {
                    zoned.pending = None;
                    return Some(Next::Issue(self.issue_in_zone(zoned, &pending, offset, length)));
                }
                Admission::Command(command, start) => {
                    zoned.resets += u64::from(command == ZoneCommand::Reset);
                    let table = &zoned.files[file as usize].table;
                    if !table.is_emulated() {
                        let length = table.zone_bytes();
                        return Some(Next::Command(ZoneTask { file, command, start, length }));
                    }
                }
                Admission::Wait if self.in_flight() > 0 => return Some(Next::Blocked),
                Admission::Wait if !zoned.is_stalled(file, now) => return Some(Next::Until(now + POLL)),
                Admission::Nothing if pending.kind == OpKind::Read && self.mix.includes(OpKind::Write) => {
                    // Something has to be written before it can be read.
                    zoned.pending = Some(self.propose(zoned, OpKind::Write, pending.intended)?);
                }
                Admission::Wait | Admission::Nothing => {
                    zoned.pending = None;
                    zoned.gave_up |= matches!(admission, Admission::Wait);
                    self.files.iter_mut().for_each(Cursor::end_pass);
                    if zoned.written.is_none() || pending.kind != OpKind::Write {
                        self.limits.stop();
                    }
                    return None;
                }
            }
        }
    }

    fn admit(
        sizes: &[crate::sizes::Sizer; 3],
        is_random: bool,
        zoned: &mut ZonedFiles,
        pending: &PendingOp,
    ) -> Admission {
        let &PendingOp { kind, offset, length, .. } = pending;
        let file = &mut zoned.files[pending.file as usize];
        let request = ZoneRequest { kind, offset, length, least: sizes[kind.index()].min(), is_random };
        file.table.admit(&file.rules, &mut file.writer, &request)
    }

    /// Resets zones before the first write of a pass that is verified, so that no reset destroys data of the pass.
    /// Returns the file and what is to be done; `None` if its zones are empty.
    fn clear(&self, zoned: &mut ZonedFiles) -> Option<(u32, Admission)> {
        zoned.written.as_ref()?;
        let key = (self.loop_start, self.files.first().map_or(0, |file| file.pass));
        if zoned.cleared_for == Some(key) {
            return None;
        }
        let of_file = |(number, file): (u32, &ZonedFile)| match file.table.clear(&file.rules) {
            Admission::Nothing => None,
            admission => Some((number, admission)),
        };
        let admission = (0..).zip(&zoned.files).find_map(of_file);
        if admission.is_none() {
            zoned.cleared_for = Some(key);
        }
        admission
    }

    /// Returns the next operation of the pattern; `None` at the end of the pass.
    fn propose(&mut self, zoned: &mut ZonedFiles, mut kind: OpKind, intended: Nanos) -> Option<PendingOp> {
        let mut fresh = false;
        loop {
            let Some(file) = self.picker.next(&self.files, &mut self.streams.files) else {
                if !self.begin_pass(fresh) {
                    return None;
                }
                fresh = true;
                continue;
            };
            if !self.rules.is_random() && !self.rules.has_skip() {
                let (of_file, cursor, sizes) = (&zoned.files[file], &mut self.files[file], &self.rules.sizes);
                let has_place = of_file.continue_sequence(kind, sizes[kind.index()].min(), cursor);
                if !has_place && kind == OpKind::Read && self.mix.includes(OpKind::Write) {
                    // Something has to be written before it can be read.
                    kind = OpKind::Write;
                    of_file.continue_sequence(kind, sizes[kind.index()].min(), cursor);
                } else if !has_place {
                    cursor.end_pass();
                }
            }
            let cursor = &mut self.files[file];
            if !cursor.is_done()
                && let Some((offset, length)) = cursor.next(&self.rules, kind, &mut self.streams.places)
            {
                return Some(PendingOp { kind, intended, file: file as u32, offset, length });
            }
            self.picker.retire(file as u32);
        }
    }

    fn issue_in_zone(&mut self, zoned: &mut ZonedFiles, pending: &PendingOp, offset: u64, length: u32) -> Decision {
        let &PendingOp { kind, intended, file, .. } = pending;
        let cursor = &mut self.files[file as usize];
        if !self.rules.is_random() {
            cursor.continue_at(kind, offset + u64::from(length), 0);
            cursor.give_back(pending.length.saturating_sub(length));
        }
        let pass = cursor.pass;
        let op = self.issue(kind, intended, file, offset, length);
        zoned.waits = None;
        if kind == OpKind::Write {
            let of_file = &mut zoned.files[file as usize];
            of_file.reached = Some((pass, of_file.table.start_of(offset)));
            if let Some(written) = &mut zoned.written {
                written.push(op);
            }
        }
        op
    }

    /// Returns an issuer that reads back and checks the listed writes.
    pub(super) fn verify_pass_in_zones(&self) -> Option<Self> {
        let writes = self.zoned.as_ref()?.written.as_ref()?.len() as u64;
        let mut issuer = self.clone();
        issuer.replay(writes);
        (issuer.phase, issuer.completed, issuer.due_sync) = (IssuerPhase::Load, issuer.sequence, None);
        issuer.invalidates = caches(&self.origin.job);
        issuer.mark_pass_start();
        issuer.picker.take_over(&self.picker);
        let passes = self.possible_passes(self);
        issuer.verifier.iter_mut().for_each(|verifier| verifier.expect(passes, None));
        (writes > 0).then_some(issuer)
    }

    /// Returns the next listed write as a read.
    pub(super) fn replayed_in_zones(&mut self, now: Nanos) -> Option<Next> {
        let zoned = self.zoned.as_mut()?;
        let written = zoned.written.as_ref()?;
        let left = self.replay.is_some_and(|replay| replay.left > 0);
        let Some(write) = written.get(zoned.read_back).filter(|_| left).copied() else { return Some(Next::Done) };
        zoned.read_back += 1;
        let length = u64::from(write.length);
        self.replay = self.replay.map(|Replay { left, reads, bytes }| Replay {
            left: left - 1,
            reads: reads.saturating_sub(1),
            bytes: bytes + length,
        });
        self.sequence += 1;
        let read = Decision { kind: OpKind::Read, intended: now, checked: true, ..write };
        Some(self.mark(Next::Issue(read)))
    }
}

impl ZonedFiles {
    /// Forgets the writes that were read back.
    pub(super) fn forget_written(&mut self) {
        self.written.iter_mut().for_each(Vec::clear);
        self.read_back = 0;
    }

    pub(super) fn completed(&self, op: &Decision) {
        if let Some(file) = self.files.get(op.file as usize).filter(|_| matches!(op.kind, OpKind::Write | OpKind::Trim))
        {
            file.table.completed(op.kind, op.offset, op.length);
        }
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

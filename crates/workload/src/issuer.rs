//! The source of decisions of one worker.

use std::collections::VecDeque;

use job::{Direction, Job, VerifyMethod};
use units::Nanos;
use units::random::{Random, mix};

use crate::decision::{Decision, Next, OpKind, Worker};
use crate::error::WorkloadError;
use crate::files::Layout;
use crate::limits::Limits;
use crate::mix::Mix;
use crate::offsets::{Cursor, Rules};
use crate::pace::Pace;
use crate::payload::Payload;
use crate::picker::Picker;
use crate::syncs::Syncs;
use crate::think::{Leave, Think};
use crate::verify::{HEADER_BYTES, Mismatch, PassRange, Verifier};

/// Decides, one after the other, the operations of one worker.
///
/// The same job, worker, layout and seed give the same decisions, whatever the target; under a rate the instants
/// too. Each decision that was issued has to be handed back to [`Issuer::complete`] once, whatever became of it.
#[derive(Clone, Debug)]
pub struct Issuer {
    // What every decision looks at comes first.
    attention: bool,
    mix: Mix,
    pace: Pace,
    limits: Limits,
    sequence: u64,
    /// Operations handed back; the difference to `sequence` is in flight.
    completed: u64,
    files: Vec<Cursor>,
    rules: Rules,
    picker: Picker,
    streams: Streams,
    checks_reads: bool,
    syncs: Option<Syncs>,
    writes: u64,
    // What only some decisions look at.
    phase: Phase,
    due_sync: Option<Decision>,
    think: Option<Think>,
    pairs: Option<Pairs>,
    replay: Option<Replay>,
    payload: Payload,
    verifier: Option<Verifier>,
    origin: Box<Origin>,
}

/// Independent random numbers for independent choices, so that one choice more or less leaves the others alone.
#[derive(Clone, Debug)]
struct Streams {
    kinds: Random,
    places: Random,
    files: Random,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Data operations are issued.
    Load,
    /// A loop has ended: when all has completed, the files from this one on are synced.
    Closing { next_file: u32 },
    /// Nothing comes any more.
    Done,
}

/// Trims whose writes have yet to be issued, in order.
#[derive(Clone, Debug, Default)]
struct Pairs {
    waiting: VecDeque<(Decision, bool)>,
}

/// Going through decided writes again, as reads.
#[derive(Clone, Copy, Debug)]
struct Replay {
    left: u64,
}

/// What the issuer was made of, for making it again.
#[derive(Clone, Debug)]
struct Origin {
    job: Job,
    worker: Worker,
    layout: Layout,
    seed: u64,
}

impl Issuer {
    /// The issuer of one worker. `seed` is the run's; a `randseed` of the job overrides it.
    ///
    /// Where the job only verifies (`verify_only`), the issuer reads what it would have written.
    ///
    /// # Errors
    ///
    /// Where a region is smaller than a block, and where what is written could not be verified.
    pub fn new(job: &Job, worker: Worker, layout: &Layout, seed: u64) -> Result<Self, WorkloadError> {
        let mut issuer = Self::loading(job, worker, layout, seed)?;
        if job.verify.method.is_some() && job.verify.only && job.pattern.direction.writes() {
            issuer.replay(u64::MAX);
        }
        Ok(issuer)
    }

    fn loading(job: &Job, worker: Worker, layout: &Layout, seed: u64) -> Result<Self, WorkloadError> {
        let seed = job.pattern.randseed.unwrap_or(seed);
        let own = mix(seed, u64::from(worker.index));
        let mix = Mix::new(job);
        let used = used_kinds(job, mix);
        let rules = Rules::new(job, used, own);
        let files = cursors(job, &rules, layout, used)?;
        let pace = Pace::new(job, mix, own);
        let verifier = verifier(job, &rules, &pace, used, seed)?;
        let usable = files.iter().map(Cursor::length).sum();
        let pairs = (job.pattern.direction == Direction::TrimWrite).then(Pairs::default);
        let think = Think::new(job);
        Ok(Self {
            attention: pairs.is_some() || think.is_some(),
            mix,
            pace,
            limits: Limits::new(job, layout, usable),
            sequence: 0,
            completed: 0,
            picker: Picker::new(job.files.service, files.len(), own),
            files,
            rules,
            streams: Streams { kinds: Random::new(own, 1), places: Random::new(own, 2), files: Random::new(own, 3) },
            checks_reads: verifier.is_some() && job.pattern.direction == Direction::Read,
            syncs: Syncs::new(job),
            writes: 0,
            phase: Phase::Load,
            due_sync: None,
            think,
            pairs,
            replay: None,
            payload: Payload::new(job, own),
            verifier,
            origin: Box::new(Origin { job: job.clone(), worker, layout: layout.clone(), seed }),
        })
    }

    /// What to do at `now`, which must not run backwards.
    #[inline(always)]
    pub fn next(&mut self, now: Nanos) -> Next {
        loop {
            if self.attention
                && let Some(next) = self.attend(now)
            {
                return next;
            }
            if let Some(next) = self.next_data(now) {
                return next;
            }
            self.end_loop();
        }
    }

    /// The next data operation; `None` when the files have been gone through.
    #[inline(always)]
    fn next_data(&mut self, now: Nanos) -> Option<Next> {
        let (kind, intended) = match self.pace.turn(self.mix, &mut self.streams.kinds, now) {
            Ok(turn) => turn,
            Err(until) => return Some(Next::Until(until)),
        };
        let (file, offset, length) = self.place(kind)?;
        Some(Next::Issue(self.issue(kind, intended, file, offset, length)))
    }

    /// File, offset and length of the next operation.
    #[inline(always)]
    fn place(&mut self, kind: OpKind) -> Option<(u32, u64, u32)> {
        loop {
            let Some(file) = self.picker.next(&self.files, &mut self.streams.files) else {
                if !self.begin_pass() {
                    return None;
                }
                continue;
            };
            let cursor = &mut self.files[file];
            if let Some((offset, length)) = cursor.next(&self.rules, kind, &mut self.streams.places) {
                return Some((file as u32, offset, length));
            }
        }
    }

    /// Goes through the files once more, where the job does that within a loop.
    #[cold]
    fn begin_pass(&mut self) -> bool {
        if !self.limits.wraps() {
            return false;
        }
        self.renew_files();
        true
    }

    fn renew_files(&mut self) {
        for file in &mut self.files {
            file.next_pass(&self.rules);
        }
        self.picker.restart();
    }

    #[inline(always)]
    fn issue(&mut self, kind: OpKind, intended: Nanos, file: u32, offset: u64, length: u32) -> Decision {
        let (pass, sequence) = (self.files[file as usize].pass, self.sequence);
        let checked = self.checks_reads;
        let op = Decision { intended, offset, sequence, length, file, pass, kind, checked, closing: false };
        self.sequence += 1;
        self.pace.spend(kind, length);
        if kind == OpKind::Write {
            self.writes += 1;
            self.schedule_sync(&op);
        }
        if self.attention {
            self.follow_up(&op);
        }
        if self.limits.spend(length) {
            self.end_loop();
        }
        op
    }

    #[inline(always)]
    fn schedule_sync(&mut self, write: &Decision) {
        if let Some(kind) = self.syncs.as_mut().and_then(Syncs::after_write) {
            self.due_sync = Some(Decision { kind, length: 0, ..*write });
            self.attention = true;
        }
    }

    /// What an operation entails in jobs that do more than issue data.
    fn follow_up(&mut self, op: &Decision) {
        if let Some(think) = &mut self.think {
            think.issued();
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.waiting.push_back((*op, false));
        }
    }

    #[cold]
    fn end_loop(&mut self) {
        self.phase = Phase::Closing { next_file: 0 };
        self.attention = true;
    }

    /// Everything that may come before the next data operation.
    #[cold]
    fn attend(&mut self, now: Nanos) -> Option<Next> {
        if self.replay.is_some() {
            return Some(self.replayed(now));
        }
        if let Some(write) = self.pairs.as_mut().and_then(Pairs::ready) {
            return Some(self.issue_paired(write, now));
        }
        if let Phase::Closing { next_file } = self.phase
            && let Some(next) = self.close(next_file, now)
        {
            return Some(next);
        }
        if self.phase == Phase::Done {
            return Some(Next::Done);
        }
        // A sync that was due when a loop ended is issued if there is another loop, and dropped otherwise.
        if let Some(sync) = self.due_sync.take() {
            return Some(self.issue_sync(Decision { intended: now, ..sync }));
        }
        let held = self.hold(now);
        if held.is_none() {
            self.attention = self.think.is_some() || self.pairs.is_some();
        }
        held
    }

    fn hold(&mut self, now: Nanos) -> Option<Next> {
        let in_flight = self.in_flight();
        match self.think.as_mut()?.leave(now, in_flight) {
            Leave::Granted => None,
            Leave::Until(until) => Some(Next::Until(until)),
            Leave::AfterAll => Some(Next::Blocked),
        }
    }

    /// Ends a loop, and begins the next one if there is one.
    fn close(&mut self, next_file: u32, now: Nanos) -> Option<Next> {
        if self.pairs.as_ref().is_some_and(|pairs| !pairs.waiting.is_empty()) {
            return Some(Next::Blocked);
        }
        if self.syncs_at_end() && (next_file as usize) < self.files.len() {
            if self.in_flight() > 0 {
                return Some(Next::Blocked);
            }
            self.phase = Phase::Closing { next_file: next_file + 1 };
            return Some(self.issue_closing_sync(next_file, now));
        }
        self.next_loop();
        None
    }

    /// Whether the loop that is ending ends with syncs.
    fn syncs_at_end(&self) -> bool {
        let (sync, job) = (&self.origin.job.sync, &self.origin.job);
        let last = self.limits.is_last_loop();
        let wanted = (sync.end_fsync && !self.limits.is_endless()) || (sync.fsync_on_close && last);
        wanted && job.pattern.direction.writes() && self.writes > 0
    }

    fn issue_sync(&mut self, sync: Decision) -> Next {
        let op = Decision { sequence: self.sequence, checked: false, ..sync };
        self.sequence += 1;
        Next::Issue(op)
    }

    fn issue_closing_sync(&mut self, file: u32, now: Nanos) -> Next {
        let pass = self.files[file as usize].pass;
        let (kind, closing, checked) = (OpKind::Sync, true, false);
        self.issue_sync(Decision {
            intended: now,
            offset: 0,
            sequence: 0,
            length: 0,
            file,
            pass,
            kind,
            checked,
            closing,
        })
    }

    fn issue_paired(&mut self, trim: Decision, now: Nanos) -> Next {
        let op = Decision { kind: OpKind::Write, sequence: self.sequence, intended: now, ..trim };
        self.sequence += 1;
        self.writes += 1;
        Next::Issue(op)
    }

    /// An operation has completed, well or not, at `at` on the caller's clock.
    #[inline]
    pub fn complete(&mut self, op: &Decision, at: Nanos) {
        self.completed += 1;
        if self.attention {
            self.after_completion(op, at);
        }
    }

    const fn in_flight(&self) -> u64 {
        self.sequence.saturating_sub(self.completed)
    }

    fn after_completion(&mut self, op: &Decision, at: Nanos) {
        if let Some(pairs) = &mut self.pairs {
            pairs.completed(op);
        }
        let last = self.in_flight() == 0;
        if let Some(think) = self.think.as_mut().filter(|_| last) {
            think.all_completed(at);
        }
    }

    /// Issues no more data: what follows is what ends the job (its last writes of pairs, `end_fsync`), then
    /// [`Next::Done`]. For a job whose `runtime` is over.
    pub fn finish(&mut self) {
        self.limits.stop();
        self.replay = self.replay.map(|_| Replay { left: 0 });
        if self.phase == Phase::Load {
            self.end_loop();
        }
    }

    /// Fills a new buffer once, before its first use; `number` tells the worker's buffers apart.
    pub fn prepare(&self, number: u32, buffer: &mut [u8]) {
        self.payload.prepare(u64::from(number), buffer);
    }

    /// Makes a buffer ready for the write `op`: `buffer` is exactly `op.length` bytes and was prepared before.
    #[inline]
    pub fn fill(&self, op: &Decision, buffer: &mut [u8]) {
        match &self.verifier {
            Some(verifier) => verifier.fill(op, buffer),
            None => self.payload.fill(op, buffer),
        }
    }

    /// Checks the data that `op`, a read with `checked` set, has brought.
    ///
    /// # Errors
    ///
    /// The first block that is not what was written.
    pub fn check(&self, op: &Decision, data: &[u8]) -> Result<(), Mismatch> {
        self.verifier.as_ref().map_or(Ok(()), |verifier| verifier.check(op, data))
    }

    /// The most bytes of an operation: how large buffers have to be.
    #[must_use]
    pub fn most_bytes(&self) -> u32 {
        let job = &self.origin.job;
        let sizes = &job.pattern.block_sizes;
        let kinds = [(OpKind::Read, &sizes.read), (OpKind::Write, &sizes.write), (OpKind::Trim, &sizes.trim)];
        let used = used_kinds(job, self.mix);
        kinds.into_iter().filter(|(kind, _)| used[kind.index()]).map(|(_, sizes)| sizes.max()).max().unwrap_or(0)
    }

    /// An issuer that reads back and checks what this one has written; `None` where there is nothing to check.
    ///
    /// No list of writes is kept: the decisions are made once more from the same seed, and its writes come as
    /// reads. Where every block is written once in each pass, the first pass is enough, since later ones touch
    /// the same blocks.
    #[must_use]
    pub fn verify_pass(&self) -> Option<Self> {
        let job = &self.origin.job;
        if job.verify.method.is_none() || !job.verify.do_verify || self.replay.is_some() || self.writes == 0 {
            return None;
        }
        let once = self.rules.covers() && matches!(self.mix, Mix::Only(_));
        let mut again = (*self.origin).clone();
        if once {
            again.layout.size = None;
            again.layout.io_size = None;
            let extent = &mut again.job.extent;
            (extent.number_ios, extent.loops, extent.time_based) = (None, 1, false);
        }
        let mut issuer = Self::loading(&again.job, again.worker, &again.layout, again.seed).ok()?;
        issuer.replay(self.writes);
        let passes = self.possible_passes(once);
        if let Some(verifier) = &mut issuer.verifier {
            verifier.demand(passes);
        }
        Some(issuer)
    }

    /// In which passes the blocks that were written may have been written last.
    fn possible_passes(&self, once: bool) -> PassRange {
        let last = self.files.iter().map(|file| file.pass).max().unwrap_or(0);
        let complete = |file: &Cursor| if file.is_done() { file.pass } else { file.pass.saturating_sub(1) };
        let first = if once { self.files.iter().map(complete).min().unwrap_or(0) } else { 0 };
        PassRange { first, last }
    }

    fn replay(&mut self, writes: u64) {
        self.replay = Some(Replay { left: writes });
        self.pace.rehearse();
        self.think = None;
        self.syncs = None;
        self.pairs = None;
        self.checks_reads = true;
        self.attention = true;
    }

    /// The next write, as a read.
    fn replayed(&mut self, now: Nanos) -> Next {
        let pairs = self.origin.job.pattern.direction == Direction::TrimWrite;
        let written = if pairs { OpKind::Trim } else { OpKind::Write };
        loop {
            let left = self.replay.is_some_and(|replay| replay.left > 0);
            if !left || (self.phase != Phase::Load && !self.next_loop()) {
                return Next::Done;
            }
            match self.next_data(Nanos::MAX) {
                Some(Next::Issue(op)) if op.kind == written => {
                    self.replay = self.replay.map(|replay| Replay { left: replay.left - 1 });
                    return Next::Issue(Decision { kind: OpKind::Read, intended: now, ..op });
                }
                Some(_) => self.completed += 1,
                None => self.end_loop(),
            }
        }
    }

    /// Begins the next loop; false, and nothing comes any more, when there is none.
    fn next_loop(&mut self) -> bool {
        if !self.limits.next_loop() {
            self.phase = Phase::Done;
            return false;
        }
        self.phase = Phase::Load;
        if self.files.iter().all(Cursor::is_done) {
            self.renew_files();
        }
        true
    }
}

impl Pairs {
    /// The oldest trim, if it has completed: its write can follow.
    fn ready(&mut self) -> Option<Decision> {
        if self.waiting.front().is_some_and(|(_, completed)| *completed) {
            return self.waiting.pop_front().map(|(trim, _)| trim);
        }
        None
    }

    fn completed(&mut self, op: &Decision) {
        if op.kind == OpKind::Trim
            && let Ok(place) = self.waiting.binary_search_by_key(&op.sequence, |(trim, _)| trim.sequence)
        {
            self.waiting[place].1 = true;
        }
    }
}

fn used_kinds(job: &Job, mix: Mix) -> [bool; 3] {
    let pairs = job.pattern.direction == Direction::TrimWrite;
    [mix.includes(OpKind::Read), mix.includes(OpKind::Write) && !pairs, mix.includes(OpKind::Trim)]
}

fn cursors(job: &Job, rules: &Rules, layout: &Layout, used: [bool; 3]) -> Result<Vec<Cursor>, WorkloadError> {
    if layout.files.is_empty() {
        return Err(WorkloadError::new("filename", "the job has no file"));
    }
    let greatest = (0..3).filter(|&kind| used[kind]).map(|kind| rules.sizes[kind].min()).max().unwrap_or(1);
    let cursor = |(index, extent): (usize, &_)| {
        let cursor = Cursor::new(rules, *extent, index, used);
        if cursor.length() < u64::from(greatest) {
            let message = format!(
                "file {} of job {} offers {} bytes, less than a block of {greatest}",
                index + 1,
                job.name,
                extent.length
            );
            return Err(WorkloadError::new("size", message));
        }
        Ok(cursor)
    };
    layout.files.iter().enumerate().map(cursor).collect()
}

/// The maker and checker of blocks, where the job verifies.
///
/// Blocks are as long as the least block size unless `verify_interval` says otherwise. So where writes of
/// different sizes overlap (`norandommap`, skewed distributions), each block is whole, whichever write came last.
fn verifier(
    job: &Job,
    rules: &Rules,
    pace: &Pace,
    used: [bool; 3],
    seed: u64,
) -> Result<Option<Verifier>, WorkloadError> {
    let Some(method) = job.verify.method else { return Ok(None) };
    let kinds = (0..3).filter(|&kind| used[kind]);
    let least = kinds.map(|kind| rules.sizes[kind].min()).min().unwrap_or(1);
    let interval = job.verify.interval.filter(|&interval| interval > 0).unwrap_or(least);
    if method != VerifyMethod::Pattern && (interval as usize) < HEADER_BYTES.max(1) {
        let option = if job.verify.interval.is_some() { "verify_interval" } else { "bs" };
        let message = format!("{interval} bytes have no room for a verification header of {HEADER_BYTES}");
        return Err(WorkloadError::new(option, message));
    }
    let writes = job.pattern.direction.writes();
    if writes && rules.may_overlap() && !rules.keeps_to(interval, used) {
        let message = format!(
            "writes may overlap and do not all begin and end on multiples of {interval} bytes, so blocks could \
             not be told from damaged ones: choose sizes that are multiples of it"
        );
        return Err(WorkloadError::new("verify", message));
    }
    if writes && pace.order_depends_on_time() {
        let message = "with a rate for only one of reads and writes, the order of operations depends on the device \
                       and cannot be repeated for verification: give both a rate, or neither";
        return Err(WorkloadError::new("verify", message));
    }
    Ok(Some(Verifier::new(method, &job.verify.pattern, interval, seed)))
}

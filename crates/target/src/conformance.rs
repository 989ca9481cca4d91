//! The conformance suite of targets.
//!
//! A failing case panics with what it observed, so that a test only needs to call [`check`].

use units::Nanos;
use units::random::Random;

use crate::{Completion, Op, OpKind, Tag, Target};

/// Properties of the target under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestedTarget {
    /// Number of tags, at least 1.
    pub depth: u32,
    /// Size of each buffer in bytes.
    pub buffer_bytes: u32,
    /// Size of file 0 in bytes, a multiple of `unit_bytes` and at least four buffers. The suite overwrites the file.
    pub file_bytes: u64,
    /// Alignment of offsets and lengths in bytes; a buffer holds at least two such units.
    pub unit_bytes: u32,
    /// Maximum delay with which a wait may return; zero for a virtual clock.
    pub lateness: Nanos,
    /// Whether reads return what was written.
    pub keeps_bytes: bool,
    /// Whether reads stop at the end of the file.
    pub has_end: bool,
    /// Whether the target supports trims.
    pub trims: bool,
    /// Whether operations may fail or be short at random.
    pub faulty: bool,
}

impl Default for TestedTarget {
    /// Returns the properties of a default [`crate::testing::MemoryTarget`].
    fn default() -> Self {
        Self {
            depth: 32,
            buffer_bytes: 4096,
            file_bytes: 1 << 20,
            unit_bytes: 512,
            lateness: Nanos::ZERO,
            keeps_bytes: true,
            has_end: true,
            trims: true,
            faulty: false,
        }
    }
}

/// Runs every applicable case on the same target, one after another.
///
/// # Panics
///
/// Panics if the target does not conform.
pub fn check<T: Target>(target: &mut T, subject: &TestedTarget) {
    let mut harness = Harness { target, subject, taken: vec![None; subject.depth as usize], done: vec![EARLIER] };
    clock_does_not_run_backwards(&mut harness);
    waiting_for_nothing_ends(&mut harness);
    collecting_does_not_block(&mut harness);
    a_full_queue_completes_once_each(&mut harness);
    completions_beyond_the_minimum_are_kept(&mut harness);
    waiting_ends_when_enough_is_done(&mut harness);
    waiting_ends_at_the_deadline(&mut harness);
    any_mixture_completes_once_each(&mut harness);
    syncs_and_trims_report(&mut harness);
    impossible_operations_complete(&mut harness);
    invalidating_loses_no_operation(&mut harness);
    if subject.keeps_bytes {
        reads_return_what_was_written(&mut harness);
        skipping_leaves_the_rest_of_the_buffer(&mut harness);
        invalidating_loses_no_byte(&mut harness);
    }
    if subject.has_end {
        reads_end_at_the_end(&mut harness);
    }
}

/// The target under test, with the operations in flight.
struct Harness<'a, T> {
    target: &'a mut T,
    subject: &'a TestedTarget,
    /// For each tag in flight, its operation and a time before its submission.
    taken: Vec<Option<(Op, Nanos)>>,
    /// List that waits append to; it always begins with [`EARLIER`].
    done: Vec<Completion>,
}

/// A completion that is in the list before every wait, and that a wait must keep.
const EARLIER: Completion =
    Completion { tag: Tag(u32::MAX), submitted: Nanos::ZERO, completed: Nanos::ZERO, result: 0 };

impl<T: Target> Harness<'_, T> {
    fn submit(&mut self, op: Op) {
        let slot = &mut self.taken[op.tag.index()];
        assert!(slot.is_none(), "the suite used {:?} twice", op.tag);
        *slot = Some((op, self.target.now()));
        self.target.submit(op);
    }

    fn in_flight(&self) -> usize {
        self.taken.iter().flatten().count()
    }

    fn free(&self) -> Vec<Tag> {
        (0..self.subject.depth).map(Tag).filter(|tag| self.taken[tag.index()].is_none()).collect()
    }

    /// Waits, checks each new completion, and returns the new completions.
    fn wait(&mut self, min: u32, until: Nanos) -> Vec<Completion> {
        self.target.wait(min, until, &mut self.done);
        let now = self.target.now();
        assert_eq!(self.done.first(), Some(&EARLIER), "earlier completions were changed");
        let fresh = self.done.split_off(1);
        for completion in &fresh {
            self.finish(completion, now);
        }
        fresh
    }

    fn finish(&mut self, completion: &Completion, now: Nanos) {
        let slot = self.taken.get_mut(completion.tag.index()).and_then(Option::take);
        let Some((op, earliest)) = slot else {
            panic!("completed without being in flight: {completion:?}");
        };
        let Completion { submitted, completed, result, .. } = *completion;
        assert!(earliest <= submitted, "{op:?} was submitted at {submitted:?}, before {earliest:?}");
        assert!(submitted <= completed, "{op:?} completed before it was submitted: {completion:?}");
        assert!(completed <= now, "{op:?} completes in the future of {now:?}: {completion:?}");
        let transferred = i64::from(result) <= i64::from(op.length);
        assert!(
            transferred && result > -4096,
            "{op:?} has a result that is neither a byte count nor an error: {result}"
        );
    }

    /// Waits until nothing is in flight, repeatedly because a signal may end a wait early.
    fn drain(&mut self) -> Vec<Completion> {
        let mut all = Vec::new();
        for _ in 0..1000 {
            if self.in_flight() == 0 {
                return all;
            }
            all.extend(self.wait(self.in_flight() as u32, Nanos::MAX));
        }
        panic!("never completed: {:?}", self.taken.iter().flatten().collect::<Vec<_>>());
    }

    /// Completes a read or write as a caller would, by submitting the rest of a short transfer again. Returns the bytes
    /// transferred, which are fewer than the operation's only at the end of the file.
    fn transfer(&mut self, whole: Op) -> u32 {
        let mut transferred = 0;
        for _ in 0..1000 {
            self.submit(Op {
                offset: whole.offset + u64::from(transferred),
                length: whole.length - transferred,
                skip: whole.skip + transferred,
                ..whole
            });
            match self.drain()[0].result {
                0 => return transferred,
                result if result > 0 => transferred += result as u32,
                errno => assert!(self.subject.faulty, "{whole:?} failed with {errno}"),
            }
            if transferred == whole.length {
                return transferred;
            }
        }
        panic!("made no progress: {whole:?}");
    }

    fn op(&self, tag: Tag, kind: OpKind, block: u64) -> Op {
        let blocks = self.subject.file_bytes / u64::from(self.subject.buffer_bytes);
        let length = if kind.moves_data() { self.subject.buffer_bytes } else { 0 };
        Op { tag, kind, file: 0, offset: block % blocks * u64::from(self.subject.buffer_bytes), length, skip: 0 }
    }

    fn fill(&mut self, tag: Tag, random: &mut Random) -> Option<Vec<u8>> {
        let buffer = self.target.buffer(tag)?;
        random.fill(buffer);
        Some(buffer.to_vec())
    }

    /// Returns a copy of a buffer, which a target that keeps bytes must have.
    fn contents(&mut self, tag: Tag) -> Vec<u8> {
        self.target.buffer(tag).map(|buffer| buffer.to_vec()).expect("a target that keeps bytes has buffers")
    }
}

fn clock_does_not_run_backwards<T: Target>(harness: &mut Harness<'_, T>) {
    let mut last = harness.target.now();
    for _ in 0..1000 {
        let now = harness.target.now();
        assert!(now >= last, "the clock ran back from {last:?} to {now:?}");
        last = now;
    }
}

fn waiting_for_nothing_ends<T: Target>(harness: &mut Harness<'_, T>) {
    let lateness = harness.subject.lateness;
    let start = harness.target.now();
    assert!(harness.wait(1, Nanos::MAX).is_empty(), "completions of nothing");
    assert!(harness.target.now() <= start + lateness, "waited for nothing");
    assert!(harness.wait(1, start).is_empty(), "completions of nothing");
    assert!(harness.target.now() <= start + lateness + lateness, "waited for the past");
    for micros in [1, 30, 500, 20_000] {
        let until = harness.target.now() + Nanos::from_micros(micros);
        assert!(harness.wait(1, until).is_empty(), "completions of nothing");
        let now = harness.target.now();
        assert!(now >= until, "returned {:?} before the deadline of {micros} us", until - now);
        assert!(now <= until + lateness, "returned {:?} after the deadline of {micros} us", now - until);
    }
}

fn collecting_does_not_block<T: Target>(harness: &mut Harness<'_, T>) {
    for in_flight in [false, true] {
        if in_flight {
            harness.submit(harness.op(Tag(0), OpKind::Read, 1));
        }
        let start = harness.target.now();
        harness.wait(0, start + Nanos::from_secs(100));
        harness.wait(0, Nanos::MAX);
        let took = harness.target.now() - start;
        assert!(took <= harness.subject.lateness, "collecting took {took:?}");
    }
    harness.drain();
}

fn a_full_queue_completes_once_each<T: Target>(harness: &mut Harness<'_, T>) {
    for kind in [OpKind::Write, OpKind::Read] {
        for tag in harness.free() {
            harness.submit(harness.op(tag, kind, u64::from(tag.0)));
        }
        let done = harness.drain();
        assert_eq!(done.len(), harness.subject.depth as usize);
        for completion in done {
            let whole = completion.result == harness.subject.buffer_bytes as i32;
            assert!(whole || harness.subject.faulty, "a {kind:?} inside the file: {completion:?}");
        }
    }
    let idle = harness.wait(0, Nanos::ZERO);
    assert!(idle.is_empty(), "completed twice: {idle:?}");
}

fn completions_beyond_the_minimum_are_kept<T: Target>(harness: &mut Harness<'_, T>) {
    for tag in harness.free() {
        harness.submit(harness.op(tag, OpKind::Read, u64::from(tag.0)));
    }
    let mut total = 0;
    for _ in 0..1000 {
        if harness.in_flight() == 0 {
            break;
        }
        total += harness.wait(1, Nanos::MAX).len();
    }
    assert_eq!(total, harness.subject.depth as usize);
}

fn waiting_ends_when_enough_is_done<T: Target>(harness: &mut Harness<'_, T>) {
    let depth = harness.subject.depth;
    for min in [1, depth.div_ceil(2), depth] {
        for tag in harness.free() {
            harness.submit(harness.op(tag, OpKind::Read, u64::from(tag.0)));
        }
        let until = harness.target.now() + Nanos::from_secs(60);
        let done = harness.wait(min, until);
        assert!(done.len() >= min as usize, "{} of {min} completions long before the deadline", done.len());
        assert!(harness.target.now() < until, "waited for the deadline although {min} were done");
        harness.drain();
    }
}

fn waiting_ends_at_the_deadline<T: Target>(harness: &mut Harness<'_, T>) {
    // The minimum exceeds the number in flight, so that only the deadline can end the wait.
    harness.submit(harness.op(Tag(0), OpKind::Read, 0));
    let until = harness.target.now() + Nanos::from_millis(10);
    let mut done = harness.wait(2, until).len();
    let now = harness.target.now();
    assert!(now >= until && now <= until + harness.subject.lateness, "{now:?} for a deadline of {until:?}");
    done += harness.drain().len();
    assert_eq!(done, 1);
}

fn any_mixture_completes_once_each<T: Target>(harness: &mut Harness<'_, T>) {
    let mut random = Random::new(1, 1);
    let (mut submitted, mut completed) = (0, 0);
    let rounds = 20 * u64::from(harness.subject.depth).max(10);
    while submitted < rounds {
        for tag in harness.free() {
            if random.below(3) > 0 {
                let kind = any_kind(&mut random, harness.subject.trims);
                harness.submit(harness.op(tag, kind, random.bits()));
                submitted += 1;
            }
        }
        let until = harness.target.now() + Nanos::from_micros(random.below(200));
        let min = random.below(harness.in_flight() as u64 + 1) as u32;
        completed += harness.wait(min, if random.below(2) == 0 { until } else { Nanos::MAX }).len() as u64;
    }
    completed += harness.drain().len() as u64;
    assert_eq!(submitted, completed);
}

fn any_kind(random: &mut Random, trims: bool) -> OpKind {
    match random.below(40) {
        0 => OpKind::Sync,
        1 => OpKind::DataSync,
        2 | 3 if trims => OpKind::Trim,
        draw if draw % 2 == 0 => OpKind::Read,
        _ => OpKind::Write,
    }
}

fn syncs_and_trims_report<T: Target>(harness: &mut Harness<'_, T>) {
    let kinds = [OpKind::Sync, OpKind::DataSync, OpKind::SyncRange, OpKind::SyncFilesystem, OpKind::Trim];
    for kind in kinds.into_iter().filter(|&kind| kind != OpKind::Trim || harness.subject.trims) {
        let op = harness.op(Tag(0), kind, 1);
        harness.submit(op);
        let result = harness.drain()[0].result;
        assert!(result == op.length as i32 || harness.subject.faulty, "{kind:?} reported {result}");
    }
}

fn impossible_operations_complete<T: Target>(harness: &mut Harness<'_, T>) {
    let op = harness.op(Tag(0), OpKind::Read, 0);
    let impossible = [Op { file: u32::MAX, ..op }, Op { skip: harness.subject.buffer_bytes, ..op }];
    for op in impossible {
        harness.submit(op);
        assert_eq!(harness.drain().len(), 1);
    }
}

fn reads_return_what_was_written<T: Target>(harness: &mut Harness<'_, T>) {
    let mut random = Random::new(2, 2);
    let (writer, reader) = (Tag(0), Tag(harness.subject.depth - 1));
    for block in [0, 1, 3] {
        let expected = harness.fill(writer, &mut random).expect("a target that keeps bytes has buffers");
        let whole = harness.subject.buffer_bytes;
        assert_eq!(harness.transfer(harness.op(writer, OpKind::Write, block)), whole);
        harness.fill(reader, &mut random);
        assert_eq!(harness.transfer(harness.op(reader, OpKind::Read, block)), whole);
        assert!(harness.contents(reader) == expected, "block {block} differs from what was written");
    }
}

fn invalidating_loses_no_operation<T: Target>(harness: &mut Harness<'_, T>) {
    for tag in harness.free() {
        harness.submit(harness.op(tag, OpKind::Read, u64::from(tag.0)));
    }
    let before = harness.target.now();
    for (file, offset, length) in [(0, 0, 0), (0, 1, harness.subject.file_bytes), (u32::MAX, 0, 0)] {
        harness.target.invalidate(file, offset, length);
    }
    assert!(harness.target.now() >= before, "the clock ran back");
    assert_eq!(harness.drain().len(), harness.subject.depth as usize);
}

fn invalidating_loses_no_byte<T: Target>(harness: &mut Harness<'_, T>) {
    let expected = harness.fill(Tag(0), &mut Random::new(4, 4)).expect("a target that keeps bytes has buffers");
    harness.transfer(harness.op(Tag(0), OpKind::Write, 1));
    harness.target.invalidate(0, 0, 0);
    harness.fill(Tag(0), &mut Random::new(5, 5));
    harness.transfer(harness.op(Tag(0), OpKind::Read, 1));
    assert!(harness.contents(Tag(0)) == expected, "invalidating lost written bytes");
}

fn skipping_leaves_the_rest_of_the_buffer<T: Target>(harness: &mut Harness<'_, T>) {
    let mut random = Random::new(3, 3);
    let unit = harness.subject.unit_bytes;
    let source = harness.fill(Tag(0), &mut random).expect("a target that keeps bytes has buffers");
    harness.transfer(harness.op(Tag(0), OpKind::Write, 2));
    let mut expected = harness.fill(Tag(0), &mut random).expect("a target that keeps bytes has buffers");
    // The read transfers the second unit of the block to the second unit of the buffer, and changes nothing else.
    let op = harness.op(Tag(0), OpKind::Read, 2);
    let part = Op { offset: op.offset + u64::from(unit), length: unit, skip: unit, ..op };
    assert_eq!(harness.transfer(part), unit);
    let span = unit as usize..2 * unit as usize;
    expected[span.clone()].copy_from_slice(&source[span]);
    assert!(harness.contents(Tag(0)) == expected, "a read with `skip` changed the rest of the buffer");
}

fn reads_end_at_the_end<T: Target>(harness: &mut Harness<'_, T>) {
    let TestedTarget { file_bytes, unit_bytes, .. } = *harness.subject;
    let op = harness.op(Tag(0), OpKind::Read, 0);
    let across = Op { offset: file_bytes - u64::from(unit_bytes), ..op };
    assert_eq!(harness.transfer(across), unit_bytes, "across the end");
    let behind = Op { offset: file_bytes, ..op };
    assert_eq!(harness.transfer(behind), 0, "behind the end");
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::testing::{MemoryModel, MemoryTarget};

    /// A violation of the contract.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Defect {
        CompletesTwice,
        LosesCompletions,
        CompletesInTheFuture,
        ReturnsEarly,
        Oversleeps,
        BlocksWhenCollecting,
        ClearsWhatIsDone,
        ForgetsWrites,
        IgnoresSkip,
        ReadsPastTheEnd,
        FailsWithoutReason,
        ReportsTrimsAsNothing,
        LosesWhatIsInvalidated,
        LosesOperationsWithTheCache,
    }

    struct Defective {
        memory: MemoryTarget,
        defect: Defect,
        count: u64,
    }

    impl Target for Defective {
        fn now(&mut self) -> Nanos {
            self.memory.now()
        }

        fn submit(&mut self, op: Op) {
            let op = match self.defect {
                Defect::ForgetsWrites if op.kind == OpKind::Write => Op { kind: OpKind::Read, ..op },
                Defect::IgnoresSkip => Op { skip: 0, ..op },
                Defect::ReadsPastTheEnd if op.kind == OpKind::Read => Op { offset: op.offset % (1 << 19), ..op },
                _ => op,
            };
            self.memory.submit(op);
        }

        fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<Completion>) {
            let before = done.len();
            let (min, until) = match self.defect {
                Defect::ReturnsEarly => (min.min(1), until - Nanos::new(1)),
                Defect::Oversleeps => (min, until + Nanos::new(1)),
                Defect::BlocksWhenCollecting if min == 0 => (1, until),
                _ => (min, until),
            };
            self.memory.wait(min, until, done);
            self.count += 1;
            let fresh = done.len() > before;
            match self.defect {
                Defect::CompletesTwice if fresh && self.count.is_multiple_of(7) => done.push(done[before]),
                Defect::LosesCompletions if fresh && self.count.is_multiple_of(7) => drop(done.pop()),
                Defect::ClearsWhatIsDone => drop(done.drain(..before)),
                Defect::CompletesInTheFuture => done[before..].iter_mut().for_each(|c| c.completed += Nanos::new(1)),
                Defect::FailsWithoutReason => done[before..].iter_mut().for_each(|c| c.result = -5),
                Defect::ReportsTrimsAsNothing => done[before..].iter_mut().for_each(|c| c.result &= !4096),
                _ => {}
            }
        }

        fn invalidate(&mut self, _: u32, _: u64, _: u64) {
            match self.defect {
                Defect::LosesWhatIsInvalidated => self.memory.file(0).fill(0),
                Defect::LosesOperationsWithTheCache => self.memory.wait(1, Nanos::MAX, &mut Vec::new()),
                _ => {}
            }
        }

        fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]> {
            self.memory.buffer(tag)
        }
    }

    #[test]
    fn every_defect_is_found() {
        use Defect::*;
        let defects = [
            CompletesTwice,
            LosesCompletions,
            CompletesInTheFuture,
            ReturnsEarly,
            Oversleeps,
            BlocksWhenCollecting,
            ClearsWhatIsDone,
            ForgetsWrites,
            IgnoresSkip,
            ReadsPastTheEnd,
            FailsWithoutReason,
            ReportsTrimsAsNothing,
            LosesWhatIsInvalidated,
            LosesOperationsWithTheCache,
        ];
        for defect in defects {
            let mut target = Defective { memory: MemoryTarget::new(&MemoryModel::default()), defect, count: 0 };
            let outcome = catch_unwind(AssertUnwindSafe(|| check(&mut target, &TestedTarget::default())));
            assert!(outcome.is_err(), "{defect:?} was not found");
        }
    }
}

//! A wrapper that injects faults into a target.

use units::Nanos;
use units::random::Random;

use crate::{Completion, Op, OpKind, Tag, Target, WriteBackSource};

/// Fault rates of a [`FaultyTarget`] target, per thousand operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultPlan {
    /// Seed of all random choices.
    pub seed: u64,
    /// Reads and writes that are cut short.
    pub short: u32,
    /// Operations that fail with `EIO`.
    pub eio: u32,
    /// Operations that fail with `EAGAIN`.
    pub eagain: u32,
    /// Writes that report success but are lost; none by default.
    pub lost: u32,
    /// Completions that are delayed, and may therefore be out of order.
    pub late: u32,
    /// Maximum delay of these completions.
    pub delay: Nanos,
    /// Size in bytes of which short transfers are multiples.
    pub unit_bytes: u32,
}

impl Default for FaultPlan {
    /// One operation in ten has each kind of fault, except lost writes; delays up to 1 ms; units of 512 bytes.
    fn default() -> Self {
        let delay = Nanos::from_millis(1);
        Self { seed: 0, short: 100, eio: 100, eagain: 100, lost: 0, late: 100, delay, unit_bytes: 512 }
    }
}

/// Numbers of injected faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Injected {
    /// Short transfers.
    pub short: u64,
    /// Operations failed with `EIO`.
    pub eio: u64,
    /// Operations failed with `EAGAIN`.
    pub eagain: u64,
    /// Lost writes.
    pub lost: u64,
    /// Delayed completions.
    pub late: u64,
}

/// A target with faults chosen by a seed. Operations that fail with `EIO` or `EAGAIN` do not reach the inner target.
#[derive(Clone, Debug)]
pub struct FaultyTarget<T> {
    inner: T,
    faults: FaultPlan,
    random: Random,
    injected: Injected,
    /// Delayed completions, each until its `completed`.
    held: Vec<Completion>,
    /// Completions of the inner target, kept to reuse the memory.
    fresh: Vec<Completion>,
}

const EIO: i32 = 5;
const EAGAIN: i32 = 11;

impl<T: Target> FaultyTarget<T> {
    /// Wraps `inner`.
    #[must_use]
    pub fn new(inner: T, faults: FaultPlan) -> Self {
        let random = Random::new(faults.seed, 0);
        Self { inner, faults, random, injected: Injected::default(), held: Vec::new(), fresh: Vec::new() }
    }

    /// Returns the numbers of injected faults.
    #[must_use]
    pub fn injected(&self) -> Injected {
        self.injected
    }

    pub fn inner(&mut self) -> &mut T {
        &mut self.inner
    }

    fn occurs(&mut self, share: u32) -> bool {
        self.random.below(1000) < u64::from(share)
    }

    /// Completes an operation without the inner target.
    fn answer(&mut self, tag: Tag, result: i32) {
        let now = self.inner.now();
        self.held.push(Completion { tag, submitted: now, completed: now, result });
    }

    /// Shortens a transfer to a random number of units, if it has at least two.
    fn shorten(&mut self, op: Op) -> Op {
        let unit = self.faults.unit_bytes.max(1);
        let parts = op.length / unit;
        if parts < 2 || !matches!(op.kind, OpKind::Read | OpKind::Write) {
            return op;
        }
        self.injected.short += 1;
        let length = unit * (1 + self.random.below(u64::from(parts) - 1) as u32);
        Op { length, ..op }
    }

    /// Waits for the inner target, and delays some of its completions.
    fn wait_inner(&mut self, min: u32, until: Nanos) {
        let mut fresh = std::mem::take(&mut self.fresh);
        self.inner.wait(min, until, &mut fresh);
        for mut completion in fresh.drain(..) {
            if self.occurs(self.faults.late) {
                self.injected.late += 1;
                completion.completed += Nanos::new(self.random.below(self.faults.delay.get().saturating_add(1)));
            }
            self.held.push(completion);
        }
        self.fresh = fresh;
    }

    /// Returns the completions whose delay is over.
    fn release(&mut self, done: &mut Vec<Completion>) {
        let now = self.inner.now();
        done.extend(self.held.extract_if(.., |completion| completion.completed <= now));
    }
}

impl<T: Target> Target for FaultyTarget<T> {
    fn now(&mut self) -> Nanos {
        self.inner.now()
    }

    fn prioritize(&mut self, priority: u16) {
        self.inner.prioritize(priority);
    }

    fn compare(&mut self) {
        self.inner.compare();
    }

    fn divide(&mut self, tag: Tag, ranges: &[(u64, u32)]) {
        self.inner.divide(tag, ranges);
    }

    fn submit(&mut self, op: Op) {
        if self.occurs(self.faults.eio) {
            self.injected.eio += 1;
            self.answer(op.tag, -EIO);
        } else if self.occurs(self.faults.eagain) {
            self.injected.eagain += 1;
            self.answer(op.tag, -EAGAIN);
        } else if op.kind == OpKind::Write && self.occurs(self.faults.lost) {
            self.injected.lost += 1;
            self.answer(op.tag, op.length as i32);
        } else {
            let op = if self.occurs(self.faults.short) { self.shorten(op) } else { op };
            self.inner.submit(op);
        }
    }

    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<Completion>) {
        let enough = done.len() + min as usize;
        self.wait_inner(0, Nanos::ZERO);
        self.release(done);
        while done.len() < enough {
            let due = self.held.iter().map(|completion| completion.completed).min().unwrap_or(Nanos::MAX);
            let before = self.held.len();
            self.wait_inner(1, until.min(due));
            let idle = due == Nanos::MAX && self.held.len() == before;
            self.release(done);
            if self.inner.now() >= until || (idle && until == Nanos::MAX) {
                return;
            }
        }
    }

    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        self.inner.invalidate(file, offset, length);
    }

    fn settle(&mut self, file: u32, offset: u64, length: u64) -> Result<WriteBackSource, i32> {
        self.inner.settle(file, offset, length)
    }

    fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]> {
        self.inner.buffer(tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{TestedTarget, check};
    use crate::testing::{MemoryModel, MemoryTarget};

    #[test]
    fn conforms_with_any_faults() {
        for seed in 0..20 {
            let model = MemoryModel { jitter: Nanos::from_micros(200), seed, ..MemoryModel::default() };
            let mut faulty = FaultyTarget::new(MemoryTarget::new(&model), FaultPlan { seed, ..FaultPlan::default() });
            check(&mut faulty, &TestedTarget { faulty: true, ..TestedTarget::default() });
            let Injected { short, eio, eagain, late, .. } = faulty.injected();
            assert!([short, eio, eagain, late].iter().all(|&count| count > 0), "{:?}", faulty.injected());
        }
    }

    #[test]
    fn without_faults_behaviour_is_unchanged() {
        let faults = FaultPlan { short: 0, eio: 0, eagain: 0, late: 0, ..FaultPlan::default() };
        let mut faulty = FaultyTarget::new(MemoryTarget::new(&MemoryModel::default()), faults);
        check(&mut faulty, &TestedTarget::default());
        assert_eq!(faulty.injected(), Injected::default());
    }
}

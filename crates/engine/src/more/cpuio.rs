//! The engine `cpuio`: bursts of work for the CPU instead of I/O.

use std::hint::black_box;
use std::sync::Arc;

use target::spec::{ProcessorLoad, ProcessorWork};
use target::{Completion, Op};

use crate::buffers::Buffers;
use crate::clock::MonotonicClock;
use crate::files::File;
use crate::in_call::InCall;
use crate::opening::Opening;
use crate::sync_target::Perform;

/// Steps between two readings of the clock: less than a microsecond.
const STEPS: u32 = 256;
/// Numbers that are sorted at a time, in some ten microseconds.
const SORTED: usize = 512;

/// Keeps the CPU busy for a burst in each operation, which moves no data.
pub(crate) struct Processor {
    load: ProcessorLoad,
    numbers: [u64; SORTED],
    state: u64,
    in_call: Arc<InCall>,
    clock: MonotonicClock,
}

impl Processor {
    pub(crate) fn new(setup: &Opening) -> Self {
        Self {
            load: setup.spec.processor.clone(),
            numbers: [0; SORTED],
            state: 1,
            in_call: setup.in_call.clone().unwrap_or_default(),
            clock: setup.clock,
        }
    }

    fn work(&mut self) {
        if self.load.work == ProcessorWork::Noop {
            for step in 0..STEPS {
                black_box(step);
            }
            return;
        }
        for number in &mut self.numbers {
            // The linear congruential generator of Knuth's MMIX.
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *number = self.state;
        }
        black_box(&mut self.numbers).sort_unstable();
    }
}

impl Perform for Processor {
    fn files(&self) -> &[File] {
        &[]
    }

    fn perform(&mut self, _: &Op, _: &Buffers) -> i32 {
        let end = self.clock.now() + self.load.burst;
        while self.clock.now() < end && !self.in_call.is_cancelled() {
            self.work();
        }
        Completion::WITHOUT_DATA
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;
    use target::spec::EngineKind;

    #[test]
    fn a_burst_has_its_length_and_moves_nothing() {
        let clock = MonotonicClock::start();
        for work in [ProcessorWork::Noop, ProcessorWork::Qsort] {
            let burst = Nanos::from_millis(3);
            let setup = Opening::new(EngineKind::Cpuio, 1, 4096, clock)
                .with(|spec| spec.processor = ProcessorLoad { burst, work, ..ProcessorLoad::default() });
            let (mut processor, buffers) = (Processor::new(&setup), Buffers::new(&setup).unwrap());
            let op = Op { tag: target::Tag(0), kind: units::OpKind::Read, file: 0, offset: 0, length: 4096, skip: 0 };
            let before = clock.now();
            assert_eq!(processor.perform(&op, &buffers), Completion::WITHOUT_DATA);
            assert!(clock.now().since(before) >= Nanos::from_millis(3));
            processor.in_call.cancel();
            let (before, long) = (clock.now(), Nanos::from_secs(60));
            processor.load.burst = long;
            processor.perform(&op, &buffers);
            assert!(clock.now().since(before) < long);
        }
    }
}

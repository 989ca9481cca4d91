//! Checks a worker's rates against their floors.

use units::{Nanos, OpKind};

use crate::outcome::FailureCause;
use crate::rules::RateFloor;

/// Time after the start in which rates do not count, as in fio.
const SETTLING: Nanos = Nanos::from_secs(2);

/// Rates of a worker since the last check.
#[derive(Debug)]
pub(super) struct FloorCheck {
    floor: RateFloor,
    /// Start of the current cycle, with the operations and bytes at that instant.
    cycle: Option<(Nanos, [u64; 3], [u64; 3])>,
    begins: Nanos,
    /// Operations at the last check.
    counted: [u64; 3],
}

/// What was not reached.
pub(super) struct BelowFloor {
    pub(super) kind: OpKind,
    pub(super) cause: FailureCause,
}

impl FloorCheck {
    pub(super) fn new(floor: RateFloor) -> Self {
        Self { floor, cycle: None, begins: Nanos::MAX, counted: [0; 3] }
    }

    /// Begins with the worker's measurement.
    pub(super) fn begin(&mut self, start: Nanos) {
        self.begins = start + SETTLING;
    }

    /// Checks the rates at the end of each cycle. As in fio, only a completion ends a cycle, because a low rate has cycles
    /// without operations, and cycles last whole milliseconds.
    pub(super) fn check(&mut self, now: Nanos, operations: [u64; 3], bytes: [u64; 3]) -> Option<BelowFloor> {
        let has_completed = operations != std::mem::replace(&mut self.counted, operations);
        if now < self.begins || !has_completed {
            return None;
        }
        let (since, operations_before, bytes_before) = *self.cycle.get_or_insert((now, operations, bytes));
        let passed_ms = now.since(since).millis();
        if passed_ms < self.floor.cycle.millis().max(1) {
            return None;
        }
        self.cycle = Some((now, operations, bytes));
        let per_second = |now: u64, before: u64| {
            let rate = u128::from(now.saturating_sub(before)) * 1_000 / u128::from(passed_ms);
            u64::try_from(rate).unwrap_or(u64::MAX)
        };
        // A floor for all kinds holds for those that the job issues.
        let mut issued =
            [OpKind::Read, OpKind::Write, OpKind::Trim].into_iter().filter(|kind| operations[kind.index()] > 0);
        issued.find_map(|kind| {
            let index = kind.index();
            let measured = [
                (self.floor.bytes.slot(index), per_second(bytes[index], bytes_before[index]), true),
                (self.floor.operations.slot(index), per_second(operations[index], operations_before[index]), false),
            ];
            measured.into_iter().find_map(|(floor, measured, is_bytes)| {
                let floor = (*floor)?.get();
                let cause = FailureCause::BelowRate { floor, measured, is_bytes };
                (measured < floor).then_some(BelowFloor { kind, cause })
            })
        })
    }
}

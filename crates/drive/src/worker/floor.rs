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
}

/// What was not reached.
pub(super) struct BelowFloor {
    pub(super) kind: OpKind,
    pub(super) cause: FailureCause,
}

impl FloorCheck {
    pub(super) fn new(floor: RateFloor) -> Self {
        Self { floor, cycle: None, begins: Nanos::MAX }
    }

    /// Begins with the worker's measurement.
    pub(super) fn begin(&mut self, start: Nanos) {
        self.begins = start + SETTLING;
    }

    /// Checks the rates at the end of each cycle.
    pub(super) fn check(&mut self, now: Nanos, operations: [u64; 3], bytes: [u64; 3]) -> Option<BelowFloor> {
        if now < self.begins {
            return None;
        }
        let (since, operations_before, bytes_before) = *self.cycle.get_or_insert((now, operations, bytes));
        let passed = now.since(since);
        if passed < self.floor.cycle || passed == Nanos::ZERO {
            return None;
        }
        self.cycle = Some((now, operations, bytes));
        let per_second = |now: u64, before: u64| {
            let rate = u128::from(now.saturating_sub(before)) * 1_000_000_000 / u128::from(passed.get());
            u64::try_from(rate).unwrap_or(u64::MAX)
        };
        [OpKind::Read, OpKind::Write, OpKind::Trim].into_iter().find_map(|kind| {
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

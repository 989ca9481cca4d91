//! The rules, each a function from facts to a finding.

mod limit;
mod model;
mod pace;
mod trust;

use crate::facts::Facts;
use crate::{Finding, Remedy};

pub(crate) use limit::limit;

/// The rules that may find nothing.
pub(crate) const ALL: [fn(Facts<'_>) -> Option<Finding>; 9] = [
    trust::errors,
    trust::page_cache,
    trust::buffered_writes,
    trust::holes,
    trust::drift,
    trust::short_run,
    trust::interrupted,
    pace::lateness,
    limit::engine_not_asynchronous,
];

/// How each worker comes to have `iodepth` operations in flight.
fn deeper(facts: Facts<'_>, iodepth: u64) -> Remedy {
    if facts.declared().queues { Remedy::RaiseDepth { iodepth } } else { Remedy::QueueingEngine { iodepth } }
}

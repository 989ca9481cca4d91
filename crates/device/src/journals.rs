//! What the requests of workers to object stores report.

use std::sync::Arc;

use drive::OperationFailure;
use engine::{FailedRequest, RequestJournal};
use runner::{Observer, WorkerPlan};

/// Failures and reports of the requests of each worker.
#[derive(Clone)]
pub(crate) struct RequestJournals(Vec<Arc<RequestJournal>>);

impl RequestJournals {
    pub(crate) fn of(workers: &[WorkerPlan]) -> Self {
        Self(workers.iter().map(|_| Arc::default()).collect())
    }

    pub(crate) fn of_worker(&self, worker: usize) -> Arc<RequestJournal> {
        Arc::clone(&self.0[worker])
    }

    /// Passes on what was reported since the last call (`http_verbose`).
    pub(crate) fn report(&self, observer: &mut dyn Observer) {
        self.0.iter().flat_map(|journal| journal.take_lines()).for_each(|line| observer.request(&line));
    }

    /// Adds to failed operations why their requests failed.
    pub(crate) fn explain(&self, worker: usize, failures: &mut [OperationFailure]) {
        let mut known = self.0[worker].take_failures().into_iter();
        for failure in failures {
            let decision = &failure.decision;
            let is_it = |one: &FailedRequest| {
                (one.kind, one.file, one.offset) == (decision.kind, decision.file, decision.offset)
            };
            if let Some(request) = known.find(is_it) {
                failure.detail = Some(request.problem);
            }
        }
    }
}

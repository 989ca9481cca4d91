//! Times since the start of a trace.

use crate::TraceRequest;

/// Number of requests whose earliest is the start: formats are not exactly in the order of time.
const HELD_MAX: usize = 4_096;

/// Subtracts the start from times.
#[derive(Debug, Default)]
pub(super) struct Rebase {
    /// The start, once it is known.
    pub(super) start_ns: Option<u64>,
    pub(super) held: Vec<TraceRequest>,
    /// Requests before the start, whose time becomes zero.
    pub(super) early: u64,
}

impl Rebase {
    pub(super) fn push(&mut self, mut request: TraceRequest, requests: &mut Vec<TraceRequest>) {
        let Some(start) = self.start_ns else {
            self.held.push(request);
            if self.held.len() >= HELD_MAX {
                self.release(requests);
            }
            return;
        };
        self.early += u64::from(request.issued_ns < start);
        request.issued_ns = request.issued_ns.saturating_sub(start);
        requests.push(request);
    }

    /// Sets the start and gives out the requests that were held for it.
    pub(super) fn release(&mut self, requests: &mut Vec<TraceRequest>) {
        let queued = |request: &TraceRequest| request.issued_ns.saturating_sub(request.queued_ns.unwrap_or(0));
        let Some(start) = self.held.iter().map(queued).min() else { return };
        self.start_ns = Some(start);
        for request in std::mem::take(&mut self.held) {
            self.push(request, requests);
        }
    }
}

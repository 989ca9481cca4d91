//! Characterizes the operations of a run.

use std::collections::VecDeque;

use target::{ExecutedOp, Op, OpRecorder};
use trace::{Backlog, BacklogCounts, Characterizer, TraceOperation, TraceProfile, TraceRequest};
use units::Nanos;

/// Characterizes operations in the order of their submission, although they complete in any order.
#[derive(Debug, Default)]
pub(super) struct ProfileRecorder {
    characterizer: Characterizer,
    backlog: BacklogCounts,
    /// Requests from the first that has not completed, and whether each has.
    pending: VecDeque<(TraceRequest, bool)>,
    /// Number of requests before these.
    passed: u64,
    /// Number of the request of each tag.
    numbers: Vec<u64>,
}

impl ProfileRecorder {
    /// Returns the characteristics of everything recorded, and its waits before limits.
    pub(super) fn finish(mut self) -> (TraceProfile, Vec<Backlog>) {
        self.pending.iter().for_each(|(request, _)| self.characterizer.add(request));
        (self.characterizer.finish(), self.backlog.finish())
    }
}

impl OpRecorder for ProfileRecorder {
    fn submit(&mut self, op: &Op, at: Nanos) {
        let index = op.tag.index();
        if index >= self.numbers.len() {
            self.numbers.resize(index + 1, 0);
        }
        self.numbers[index] = self.passed + self.pending.len() as u64;
        let request = TraceRequest {
            issued_ns: at.get(),
            offset: op.offset,
            length: op.length,
            operation: op.kind.into(),
            device: u16::try_from(op.file).unwrap_or(u16::MAX),
            ..TraceRequest::default()
        };
        if request.operation != TraceOperation::Flush {
            self.backlog.add(at.get(), op.length);
        }
        self.pending.push_back((request, false));
    }

    fn complete(&mut self, executed: &ExecutedOp) {
        let number = self.numbers.get(executed.op.tag.index()).copied().unwrap_or(0);
        let Some((request, is_complete)) =
            number.checked_sub(self.passed).and_then(|at| self.pending.get_mut(at as usize))
        else {
            return;
        };
        request.service_ns = Some(executed.completed.since(executed.submitted).get());
        request.process = u16::try_from(executed.worker).unwrap_or(u16::MAX);
        request.has_failed = executed.result < 0;
        *is_complete = true;
        while let Some((request, true)) = self.pending.front() {
            self.characterizer.add(request);
            self.pending.pop_front();
            self.passed += 1;
        }
    }
}

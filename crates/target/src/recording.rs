//! A target that reports what is done on another one.

use units::{Nanos, ZoneCommand};

use crate::{Completion, Op, Tag, Target, WriteBackSource};

/// An executed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutedOp {
    /// What was submitted.
    pub op: Op,
    pub worker: u32,
    /// When it was submitted.
    pub submitted: Nanos,
    /// When its completion was seen.
    pub completed: Nanos,
    /// Bytes transferred, or a negated error number.
    pub result: i32,
}

/// Receives the operations that a [`RecordingTarget`] executes.
pub trait OpRecorder {
    /// Receives an operation when it is submitted, before those that are submitted later.
    fn submit(&mut self, op: &Op, at: Nanos);

    /// Receives it when it has completed. Operations complete in any order.
    fn complete(&mut self, executed: &ExecutedOp);
}

/// Passes everything to another target and reports each operation to a recorder.
pub struct RecordingTarget<'a, T> {
    target: &'a mut T,
    recorder: &'a mut dyn OpRecorder,
    /// Number of the worker of each tag.
    workers: Vec<u32>,
    /// Operations in flight by tag, with their instants of submission.
    in_flight: Vec<Option<(Op, Nanos)>>,
}

impl<'a, T: Target> RecordingTarget<'a, T> {
    /// Creates a target that records the operations of another one from now on. `workers` has the number of the worker
    /// of each tag.
    pub fn new(target: &'a mut T, recorder: &'a mut dyn OpRecorder, workers: Vec<u32>) -> Self {
        Self { target, recorder, in_flight: vec![None; workers.len()], workers }
    }
}

impl<T: Target> Target for RecordingTarget<'_, T> {
    fn now(&mut self) -> Nanos {
        self.target.now()
    }

    fn prioritize(&mut self, priority: u16) {
        self.target.prioritize(priority);
    }

    fn compare(&mut self) {
        self.target.compare();
    }

    fn divide(&mut self, tag: Tag, ranges: &[(u64, u32)]) {
        self.target.divide(tag, ranges);
    }

    fn submit(&mut self, op: Op) {
        let at = self.target.now();
        if let Some(slot) = self.in_flight.get_mut(op.tag.index()) {
            *slot = Some((op, at));
        }
        self.recorder.submit(&op, at);
        self.target.submit(op);
    }

    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<Completion>) {
        let before = done.len();
        self.target.wait(min, until, done);
        for completion in &done[before..] {
            let index = completion.tag.index();
            if let Some((op, submitted)) = self.in_flight.get_mut(index).and_then(Option::take) {
                let (worker, completed, result) = (self.workers[index], completion.completed, completion.result);
                self.recorder.complete(&ExecutedOp { op, worker, submitted, completed, result });
            }
        }
    }

    fn turn_to(&mut self, tag: Tag) {
        self.target.turn_to(tag);
    }

    fn measure(&mut self, tag: Tag, begins: bool) {
        self.target.measure(tag, begins);
    }

    fn note(&mut self) {
        self.target.note();
    }

    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        self.target.invalidate(file, offset, length);
    }

    fn settle(&mut self, file: u32, offset: u64, length: u64) -> Result<WriteBackSource, i32> {
        self.target.settle(file, offset, length)
    }

    fn command_zone(&mut self, file: u32, command: ZoneCommand, offset: u64, length: u64) -> Result<u64, i32> {
        self.target.command_zone(file, command, offset, length)
    }

    fn close(&mut self, file: u32) {
        self.target.close(file);
    }

    fn spin(&mut self, cycles: u32) {
        self.target.spin(cycles);
    }

    fn renew(&mut self, file: u32) -> Result<(), i32> {
        self.target.renew(file)
    }

    fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]> {
        self.target.buffer(tag)
    }
}

//! Sends operations as SCSI commands.

use std::collections::VecDeque;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use target::spec::ScsiWriteCommand;
use target::{Completion, Op, WriteBackSource};
use units::{Nanos, OpKind};

use super::command::{Cdb, unmap_parameters};
use super::sg_io::{CommandOutcome, DataDirection, ScsiRequest, system_error, take_completion};
use crate::clock::timespec;
use crate::error::{Error, ErrorKind};
use crate::opening::{Opening, ScsiDisk, TargetFailure};
use crate::queue::{Backend, QueueState, QueueTarget, Submission};

/// Commands that the kernel takes of a generic device at a time (`SG_MAX_QUEUE`); others wait here.
const QUEUE: u32 = 16;

/// The queue of one disk.
struct DeviceQueue {
    disk: ScsiDisk,
    /// Operations that wait for a place in the kernel's queue.
    waiting: VecDeque<Op>,
    in_kernel: u32,
}

/// The backend of SCSI disks.
pub(crate) struct Scsi {
    write_command: ScsiWriteCommand,
    read_fua: bool,
    write_fua: bool,
    failure: Arc<TargetFailure>,
    polls: bool,
    queues: Vec<DeviceQueue>,
    /// One for each tag. They do not move while the kernel uses them.
    requests: Box<[ScsiRequest]>,
    operations: Vec<Option<Op>>,
    events: Vec<libc::pollfd>,
}

impl Scsi {
    /// # Errors
    /// Fails if memory for the buffers cannot be allocated.
    pub(crate) fn target(setup: &Opening) -> Result<QueueTarget<Self>, Error> {
        if setup.disks.is_empty() {
            return Err(Error::found(ErrorKind::Engine, "set up", "sg", "no disks are open"));
        }
        let depth = setup.depth as usize;
        let queue =
            |disk: &ScsiDisk| DeviceQueue { disk: disk.clone(), waiting: VecDeque::with_capacity(depth), in_kernel: 0 };
        let backend = Self {
            queues: setup.disks.iter().map(queue).collect(),
            events: Vec::with_capacity(setup.disks.len()),
            write_command: setup.spec.scsi.write_command,
            read_fua: setup.spec.read_fua,
            write_fua: setup.spec.write_fua,
            failure: Arc::clone(&setup.failure),
            polls: setup.spec.hipri,
            requests: (0..depth).map(|_| ScsiRequest::new()).collect(),
            operations: vec![None; depth],
        };
        Ok(QueueTarget::new(backend, QueueState::new(setup, Vec::new())?))
    }

    /// Prepares the command of an operation in the request of its tag. The error is a negated error number.
    fn prepare(&mut self, state: &QueueState, op: &Op) -> Result<(), i32> {
        let queue = self.queues.get(op.file as usize).ok_or(-libc::EBADF)?;
        let disk = &queue.disk;
        let request = self.requests.get_mut(op.tag.index()).ok_or(-libc::EBADF)?;
        if !op.kind.moves_data() {
            request.prepare(Cdb::synchronize());
            return Ok(());
        }
        let unit = disk.block_bytes;
        if !op.offset.is_multiple_of(unit.into()) || !op.length.is_multiple_of(unit) || op.length == 0 {
            return Err(-libc::EINVAL);
        }
        let (address, blocks) = (op.offset / u64::from(unit), op.length / unit);
        let start = state.buffers.span(op.tag, op.skip, op.length).ok_or(-libc::EINVAL);
        match op.kind {
            OpKind::Read => {
                request.prepare(Cdb::read(self.read_fua, address, blocks));
                // SAFETY: the buffer of the tag has these bytes, and is not used while the tag is in flight.
                unsafe { request.transfer(DataDirection::FromDevice, start?, op.length) };
            }
            // Without a permit nothing is sent that could change data.
            _ if !disk.writes => return Err(-libc::EBADF),
            OpKind::Trim => {
                request.prepare(Cdb::unmap());
                request.exchange(DataDirection::ToDevice, &unmap_parameters(address, blocks));
                return Ok(());
            }
            _ => {
                let mode = self.write_command;
                if blocks > mode.max_blocks() {
                    return Err(-libc::EINVAL);
                }
                request.prepare(Cdb::write(mode, self.write_fua, disk.stream, address, blocks));
                let bytes = mode.transferred(op.length, unit);
                // SAFETY: as above; no mode transfers more than the operation has.
                unsafe { request.transfer(DataDirection::ToDevice, start?, bytes) };
            }
        }
        if self.polls {
            request.poll_for();
        }
        Ok(())
    }

    /// Returns the result of an operation as in completions. Records the first failure.
    fn result(&self, op: &Op, outcome: Result<CommandOutcome, i32>) -> i32 {
        let whole = i32::try_from(op.length).unwrap_or(i32::MAX);
        match outcome {
            Ok(CommandOutcome::Done { rest_bytes }) if op.kind == OpKind::Read => {
                i32::try_from(op.length.saturating_sub(rest_bytes)).unwrap_or(whole)
            }
            Ok(CommandOutcome::Done { .. }) => {
                if op.kind.moves_data() {
                    whole
                } else {
                    0
                }
            }
            Ok(CommandOutcome::Busy) => -libc::EAGAIN,
            Ok(CommandOutcome::Failed { text }) => {
                self.record(text);
                -libc::EIO
            }
            Err(errno) => {
                self.record(system_error(errno).to_string());
                errno
            }
        }
    }

    #[cold]
    fn record(&self, reason: String) {
        let _ = self.failure.reason.set(reason);
    }

    /// Carries out an operation on a block device.
    fn execute(&mut self, state: &mut QueueState, op: &Op, fd: RawFd) {
        let now = state.clock.now();
        state.slots.stamp(op.tag, now);
        state.in_call.operate(op, now);
        let outcome = self.requests[op.tag.index()].execute(fd);
        state.in_call.leave();
        finish(state, op, self.result(op, outcome));
    }

    /// Hands waiting operations to the kernel, as many as it takes.
    fn fill(&mut self, state: &mut QueueState, index: usize) {
        while self.queues[index].in_kernel < QUEUE {
            let Some(op) = self.queues[index].waiting.pop_front() else { return };
            let now = state.clock.now();
            state.slots.stamp(op.tag, now);
            state.in_call.operate(&op, now);
            let fd = self.queues[index].disk.file.as_raw_fd();
            let submitted = self.requests[op.tag.index()].submit(fd, op.tag.0 as i32);
            state.in_call.leave();
            match submitted {
                Ok(()) => self.queues[index].in_kernel += 1,
                // The queue of the kernel is full, perhaps because of another limit.
                Err(errno) if matches!(-errno, libc::EDOM | libc::EAGAIN) && self.queues[index].in_kernel > 0 => {
                    self.queues[index].waiting.push_front(op);
                    return;
                }
                Err(errno) => finish(state, &op, self.result(&op, Err(errno))),
            }
        }
    }

    /// Takes all completions that have arrived.
    fn reap(&mut self, state: &mut QueueState) {
        for index in 0..self.queues.len() {
            while self.queues[index].in_kernel > 0 {
                match take_completion(self.queues[index].disk.file.as_raw_fd()) {
                    Ok(Some(header)) => {
                        self.queues[index].in_kernel -= 1;
                        let tag = header.number.cast_unsigned();
                        let place = tag as usize;
                        let Some(op) = self.operations.get_mut(place).and_then(Option::take) else { continue };
                        let outcome = header.outcome(&self.requests[place].sense);
                        finish(state, &op, self.result(&op, Ok(outcome)));
                    }
                    Ok(None) => break,
                    Err(errno) => self.lose(state, index, errno),
                }
            }
            self.fill(state, index);
        }
    }

    /// Ends all operations of a disk that does not tell their completions any more, as after its removal.
    #[cold]
    fn lose(&mut self, state: &mut QueueState, index: usize, errno: i32) {
        self.queues[index].in_kernel = 0;
        let mut lost: Vec<Op> = self.queues[index].waiting.drain(..).collect();
        let is_lost = |op: &Option<Op>| op.is_some_and(|op| op.file as usize == index);
        lost.extend(self.operations.iter_mut().filter(|op| is_lost(op)).filter_map(Option::take));
        for op in lost {
            finish(state, &op, self.result(&op, Err(errno)));
        }
    }
}

fn finish(state: &mut QueueState, op: &Op, result: i32) {
    if state.slots.is_taken(op.tag) {
        let submitted = state.slots.release(op.tag);
        state.ready.push(Completion { tag: op.tag, submitted, completed: state.clock.now(), result });
    }
}

impl Backend for Scsi {
    fn submit(&mut self, state: &mut QueueState, op: &Op) -> Submission {
        if let Err(errno) = self.prepare(state, op) {
            return Submission::Done(errno);
        }
        state.slots.take(op.tag);
        let index = op.file as usize;
        if self.queues[index].disk.is_generic {
            self.operations[op.tag.index()] = Some(*op);
            self.queues[index].waiting.push_back(*op);
            self.fill(state, index);
        } else {
            let fd = self.queues[index].disk.file.as_raw_fd();
            self.execute(state, op, fd);
        }
        Submission::Taken
    }

    fn collect(&mut self, state: &mut QueueState, done: &mut Vec<Completion>) {
        self.reap(state);
        done.append(&mut state.ready);
    }

    fn poll(&mut self, _: &mut QueueState) {}

    fn flush(&mut self, _: &mut QueueState) {}

    /// Waits for any completion, because the kernel cannot wait for several.
    fn block(&mut self, _: &mut QueueState, _: u32, limit: Option<Nanos>) -> bool {
        let used = self.queues.iter().filter(|queue| queue.in_kernel > 0);
        self.events.clear();
        self.events.extend(used.map(|queue| libc::pollfd {
            fd: queue.disk.file.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        }));
        let time = limit.map(timespec);
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let (start, count) = (self.events.as_mut_ptr(), self.events.len() as libc::nfds_t);
        // SAFETY: the array and the time outlive the call, and no signal mask is given.
        unsafe { libc::ppoll(start, count, time, std::ptr::null()) < 0 }
    }

    /// Writes the cache of the device back.
    fn settle(&mut self, state: &QueueState, file: u32, offset: u64, _: u64) -> Result<WriteBackSource, i32> {
        let fd = self.queues.get(file as usize).ok_or(libc::EBADF)?.disk.file.as_raw_fd();
        let mut request = Box::new(ScsiRequest::new());
        request.prepare(Cdb::synchronize());
        match state.in_call.settle(file, offset, state.clock.now(), || request.execute(fd)) {
            Ok(CommandOutcome::Failed { .. }) => Err(libc::EIO),
            Ok(_) => Ok(WriteBackSource::Stored),
            Err(errno) => Err(-errno),
        }
    }
}

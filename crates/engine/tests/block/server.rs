//! A disk in memory behind a FUSE mount, served by one thread.

use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;
use std::time::Duration;

use nbd::fuse::{Ask, BUFFER_BYTES, Channel, FuseReply, Node, Received, ReplyTicket};
use nbd::store::Operation;
use nbd::wire::{Errno, Extent};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

const BLOCK: usize = 4096;

/// An operation in flight: its ticket, and the offset of the bytes that it reads.
type Pending = (ReplyTicket, u64);

pub(crate) struct FuseServer {
    channel: Channel,
    node: Node,
    bytes: Vec<u8>,
    /// Replies are sent after this time without a new request.
    hold: Duration,
    pending: Vec<Pending>,
    most_pending: usize,
}

impl FuseServer {
    pub(crate) fn new(fuse: OwnedFd, size: usize, hold: Duration) -> Self {
        let node = Node { size: size as u64, block_bytes: BLOCK as u32, read_only: false, owner: (0, 0) };
        let channel = Channel::new(fuse).unwrap();
        Self { channel, node, bytes: vec![0; size], hold, pending: Vec::new(), most_pending: 0 }
    }

    pub(crate) fn start(self) -> JoinHandle<usize> {
        std::thread::spawn(|| self.serve())
    }

    /// Serves until the unmount. Returns the maximum number of operations in flight.
    pub(crate) fn serve(mut self) -> usize {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            match self.channel.receive(&mut buffer).unwrap() {
                Received::Request(length) => self.take(&buffer[..length]),
                Received::Nothing => self.wait(),
                Received::Unmounted => return self.most_pending,
            }
        }
    }

    fn take(&mut self, request: &[u8]) {
        let request = self.node.request(request).expect("the kernel sends valid requests");
        match request.ask {
            Ask::Do(ticket, operation) => {
                let from = self.execute(operation);
                self.pending.push((ticket, from));
                self.most_pending = self.most_pending.max(self.pending.len());
            }
            Ask::Seek(seek) => self.send(&seek.answer(|from, length| self.extents(from, length)), 0),
            Ask::Answer(reply) => self.send(&reply, 0),
            Ask::Nothing => {}
        }
    }

    fn wait(&mut self) {
        let hold = Timespec { tv_sec: self.hold.as_secs() as i64, tv_nsec: self.hold.subsec_nanos().into() };
        let timeout = if self.pending.is_empty() { None } else { Some(&hold) };
        let mut files = [PollFd::new(&self.channel, PollFlags::IN)];
        if poll(&mut files, timeout).unwrap() == 0 {
            for (ticket, from) in std::mem::take(&mut self.pending) {
                self.send(&ticket.reply(Ok(())), from);
            }
        }
    }

    fn execute(&mut self, operation: Operation<&[u8]>) -> u64 {
        match operation {
            Operation::Read { offset, .. } => return offset,
            Operation::Write { offset, data, .. } => self.bytes[offset as usize..][..data.len()].copy_from_slice(data),
            Operation::Zero { offset, length, .. } => self.bytes[offset as usize..][..length as usize].fill(0),
            Operation::Flush => {}
            other => panic!("{other:?}"),
        }
        0
    }

    fn send(&self, reply: &FuseReply, from: u64) {
        let payload = &self.bytes[from as usize..][..reply.payload_bytes() as usize];
        self.channel.send(&[IoSlice::new(reply.bytes()), IoSlice::new(payload)]).unwrap();
    }

    /// Returns one extent. Blocks of zeroes are holes.
    fn extents(&self, from: u64, length: u64) -> Result<Vec<Extent>, Errno> {
        let from = from as usize;
        let end = (from / BLOCK + 1) * BLOCK;
        let hole = self.bytes[from / BLOCK * BLOCK..end].iter().all(|&byte| byte == 0);
        Ok(vec![Extent { length: length.min((end - from) as u64), hole, zero: hole }])
    }
}

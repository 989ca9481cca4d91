//! Any bytes from `/dev/fuse` are a request or none: what the disk has to do lies within it, every reply has the length
//! that its header says, and there is never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbd::fuse::{Ask, FuseReply, Node};
use nbd::store::Operation;
use nbd::wire::Extent;

const SIZE: u64 = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    for read_only in [false, true] {
        let node = Node { size: SIZE, block_bytes: 4096, read_only, owner: (0, 0) };
        let _ = node.request(bytes);
        // Most bytes say a wrong length; said rightly, more of them are looked at.
        let mut sealed = bytes.to_vec();
        if let Some(length) = sealed.get_mut(..4) {
            length.copy_from_slice(&(bytes.len() as u32).to_ne_bytes());
        }
        match node.request(&sealed).map(|request| request.ask) {
            Some(Ask::Do(ticket, operation)) => {
                assert!(within(&operation) && !(read_only && writes(&operation)), "{operation:?}");
                whole(&ticket.reply(Ok(())));
                whole(&ticket.reply(Err(nbd::wire::Errno::Io)));
            }
            Some(Ask::Seek(seek)) => {
                let extent = |length: u64| Extent { length: length.div_ceil(2), hole: length % 2 == 0, zero: false };
                whole(&seek.answer(|_, length| Ok(vec![extent(length)])));
            }
            Some(Ask::Answer(reply)) => whole(&reply),
            Some(Ask::Nothing) | None => {}
        }
    }
});

fn whole(reply: &FuseReply) {
    let length = reply.bytes().len() as u32 + reply.payload_bytes();
    assert_eq!(reply.bytes()[..4], length.to_ne_bytes());
}

fn within(operation: &Operation<'_>) -> bool {
    let (offset, length) = match *operation {
        Operation::Read { offset, length } => (offset, u64::from(length)),
        Operation::Write { offset, data, .. } => (offset, data.len() as u64),
        Operation::Zero { offset, length, .. } => (offset, length),
        Operation::Flush => return true,
        Operation::Trim { .. } | Operation::Cache { .. } => return false,
    };
    length > 0 && offset.checked_add(length).is_some_and(|end| end <= SIZE)
}

fn writes(operation: &Operation<'_>) -> bool {
    !matches!(operation, Operation::Read { .. } | Operation::Flush)
}

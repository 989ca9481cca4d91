//! Parses any bytes as requests of `/dev/fuse`. Operations lie within the disk, replies have the length in their
//! header, and nothing panics.

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
        // Most inputs declare a wrong length; the right one reaches more code.
        let mut sized = bytes.to_vec();
        if let Some(length) = sized.get_mut(..4) {
            length.copy_from_slice(&(bytes.len() as u32).to_ne_bytes());
        }
        match node.request(&sized).map(|request| request.ask) {
            Some(Ask::Do(ticket, operation)) => {
                assert!(within(&operation) && !(read_only && operation.changes()), "{operation:?}");
                check_length(&ticket.reply(Ok(())));
                check_length(&ticket.reply(Err(nbd::wire::Errno::Io)));
            }
            Some(Ask::Seek(seek)) => {
                let extent = |length: u64| Extent { length: length.div_ceil(2), hole: length % 2 == 0, zero: false };
                check_length(&seek.answer(|_, length| Ok(vec![extent(length)])));
            }
            Some(Ask::Answer(reply)) => check_length(&reply),
            Some(Ask::Nothing) | None => {}
        }
    }
});

fn check_length(reply: &FuseReply) {
    let length = reply.bytes().len() as u32 + reply.payload_bytes();
    assert_eq!(reply.bytes()[..4], length.to_ne_bytes());
}

fn within(operation: &Operation<&[u8]>) -> bool {
    match operation {
        Operation::Flush => true,
        Operation::Trim { .. } | Operation::Cache { .. } => false,
        _ => {
            let range = operation.range();
            !range.is_empty() && range.end <= SIZE
        }
    }
}

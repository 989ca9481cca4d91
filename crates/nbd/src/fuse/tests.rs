//! Parses requests as the kernel writes them.

use super::*;
use nbd_wire as wire;

const NODE: Node = Node { size: 1 << 20, block_bytes: 4096, read_only: false, owner: (1, 2) };

/// Builds request 7 with `fields` as its body.
fn bytes(code: u32, fields: &[u64]) -> Vec<u8> {
    let body = fields.iter().flat_map(|field| field.to_ne_bytes());
    let mut whole: Vec<u8> = [0, code].iter().flat_map(|field| field.to_ne_bytes()).collect();
    whole.extend(7u64.to_ne_bytes());
    whole.extend([0; 24]);
    whole.extend(body);
    sealed(whole)
}

fn sealed(mut whole: Vec<u8>) -> Vec<u8> {
    let length = whole.len() as u32;
    whole[..4].copy_from_slice(&length.to_ne_bytes());
    whole
}

/// Packs two 32-bit fields into one of 64 bits.
fn pair(first: u32, second: u32) -> u64 {
    let mut both = [0; 8];
    both[..4].copy_from_slice(&first.to_ne_bytes());
    both[4..].copy_from_slice(&second.to_ne_bytes());
    u64::from_ne_bytes(both)
}

fn ask(node: Node, code: u32, fields: &[u64]) -> (Option<Operation<&'static [u8]>>, FuseReply) {
    let whole = bytes(code, fields).leak();
    let request = node.request(whole).unwrap();
    assert_eq!(request.unique, 7);
    match request.ask {
        Ask::Do(ticket, operation) => (Some(operation), ticket.reply(Ok(()))),
        Ask::Answer(reply) => (None, reply),
        other => panic!("{other:?}"),
    }
}

fn failure(errno: Errno) -> (Option<Operation<&'static [u8]>>, FuseReply) {
    (None, FuseReply::failed(7, errno))
}

#[test]
fn reads_end_at_the_end_of_the_file() {
    let read = |offset, length| ask(NODE, opcode::READ, &[0, offset, pair(length, 0), 0, 0]);
    assert_eq!(read(4096, 512), (Some(Operation::Read { offset: 4096, length: 512 }), FuseReply::read(7, 512)));
    let last = (1 << 20) - 512;
    assert_eq!(read(last, 4096).0, Some(Operation::Read { offset: last, length: 512 }));
    assert_eq!(read(u64::MAX, 4096), (None, FuseReply::read(7, 0)));
    assert_eq!(read(0, u32::MAX), failure(Errno::INVAL));
}

#[test]
fn a_reply_to_a_read_counts_the_data_that_follows() {
    let reply = ReplyTicket::read(9, 512).reply(Ok(()));
    assert_eq!(reply.bytes(), [pair(528, 0).to_ne_bytes(), 9u64.to_ne_bytes()].concat());
    assert_eq!(reply.payload_bytes(), 512);
    let failed = ReplyTicket::read(9, 512).reply(Err(wire::Errno::Io));
    assert_eq!(failed.bytes(), [pair(16, (-5i32) as u32).to_ne_bytes(), 9u64.to_ne_bytes()].concat());
    assert_eq!(failed.payload_bytes(), 0);
}

#[test]
fn writes_carry_their_data_and_durability() {
    let write = |offset, length, flags| {
        let (operation, reply) = ask(NODE, opcode::WRITE, &[0, offset, pair(length, 0), 0, pair(flags, 0), 1, 2]);
        (operation.map(|operation| format!("{operation:?}")), reply)
    };
    let data: Vec<u8> = [1u64.to_ne_bytes(), 2u64.to_ne_bytes()].concat();
    let expected = |offset, data: &[u8], durable| Some(format!("{:?}", Operation::Write { offset, data, durable }));
    assert_eq!(write(512, 16, 0), (expected(512, &data, false), FuseReply::written(7, 16)));
    assert_eq!(write(512, 16, DSYNC).0, expected(512, &data, true));
    let last = (1 << 20) - 8;
    assert_eq!(write(last, 16, 0), (expected(last, &data[..8], false), FuseReply::written(7, 8)));
    assert_eq!(write(1 << 20, 16, 0).1, FuseReply::failed(7, Errno::NOSPC));
    assert_eq!(write(0, 15, 0).1, FuseReply::failed(7, Errno::INVAL), "its length contradicts its header");
}

#[test]
fn a_read_only_file_refuses_writes() {
    let node = Node { read_only: true, ..NODE };
    assert_eq!(ask(node, opcode::WRITE, &[0, 0, pair(8, 0), 0, 0, 1]), failure(Errno::ROFS));
    assert_eq!(ask(node, opcode::FALLOCATE, &[0, 0, 8, pair(KEEP_SIZE | PUNCH_HOLE, 0)]), failure(Errno::ROFS));
    assert_eq!(ask(node, opcode::OPEN, &[2]), failure(Errno::ROFS));
    assert_eq!(ask(node, opcode::OPEN, &[0]).1, FuseReply::opened(7));
}

#[test]
fn holes_are_deallocated_and_zero_ranges_stay_allocated() {
    let allocate = |offset, length, mode| ask(NODE, opcode::FALLOCATE, &[0, offset, length, pair(mode, 0)]);
    let zero = |offset, length, allocated| Operation::Zero { offset, length, durable: false, allocated, fast: false };
    assert_eq!(allocate(0, 4096, KEEP_SIZE | PUNCH_HOLE), (Some(zero(0, 4096, false)), FuseReply::done(7)));
    assert_eq!(allocate(0, 4096, ZERO_RANGE).0, Some(zero(0, 4096, true)));
    assert_eq!(allocate(4096, u64::MAX, KEEP_SIZE | ZERO_RANGE).0, Some(zero(4096, (1 << 20) - 4096, true)));
    assert_eq!(allocate(4096, u64::MAX, ZERO_RANGE), failure(Errno::NOSPC));
    assert_eq!(allocate(u64::MAX, 1, KEEP_SIZE | PUNCH_HOLE), (None, FuseReply::done(7)));
    assert_eq!(allocate(0, 4096, 0), failure(Errno::OPNOTSUPP));
}

#[test]
fn size_owner_and_mode_cannot_change() {
    let set = |valid, size| ask(NODE, opcode::SETATTR, &[pair(valid, 0), 0, size]).1;
    assert_eq!(set(abi::attribute::SIZE, 0), FuseReply::failed(7, Errno::PERM));
    assert_eq!(set(abi::attribute::SIZE, 1 << 20), NODE.attributes(7));
    assert_eq!(set(abi::attribute::MODE, 0), FuseReply::failed(7, Errno::PERM));
    assert_eq!(set(1 << 5, 0), NODE.attributes(7));
}

#[test]
fn bodies_of_replies_have_the_kernels_sizes() {
    let sizes = [
        (NODE.attributes(7), 16 + 104),
        (FuseReply::opened(7), 16 + 16),
        (FuseReply::statistics(7, 1, 512), 16 + 80),
        (FuseReply::written(7, 1), 16 + 8),
        (FuseReply::position(7, 1), 16 + 8),
        (FuseReply::init(7, 38, 0, 0), 16 + 64),
        (FuseReply::older(7), 16 + 64),
    ];
    for (reply, size) in sizes {
        assert_eq!(reply.bytes().len(), size, "{reply:?}");
        assert_eq!(reply.bytes()[..4], (size as u32).to_ne_bytes());
    }
}

#[test]
fn versions_are_negotiated_or_refused() {
    let init = |major, minor, flags| ask(NODE, opcode::INIT, &[pair(major, minor), pair(131_072, flags), 0]).1;
    assert_eq!(init(7, 45, u32::MAX), FuseReply::init(7, 38, 131_072, abi::init::WANTED));
    assert_eq!(init(7, 31, abi::init::ASYNC_DIO), FuseReply::init(7, 31, 131_072, abi::init::ASYNC_DIO));
    assert_eq!(init(8, 0, 0), FuseReply::older(7));
    assert_eq!(init(7, 30, 0), FuseReply::failed(7, Errno::PROTO));
    assert_eq!(init(6, 99, 0), FuseReply::failed(7, Errno::PROTO));
}

#[test]
fn unknown_requests_are_not_implemented_and_truncated_ones_are_invalid() {
    assert_eq!(ask(NODE, 1, &[]), failure(Errno::NOSYS));
    assert_eq!(ask(NODE, 0xffff_ffff, &[]), failure(Errno::NOSYS));
    assert_eq!(ask(NODE, opcode::READ, &[0, 0]), failure(Errno::INVAL));
    assert_eq!(ask(NODE, opcode::LSEEK, &[0, 0, pair(0, 0)]), failure(Errno::INVAL));
}

#[test]
fn a_wrong_length_is_no_request() {
    let whole = bytes(opcode::FSYNC, &[0, 0]);
    assert!((0..whole.len()).all(|length| NODE.request(&whole[..length]).is_none()));
    assert!(NODE.request(&[whole, vec![0]].concat()).is_none());
}

#[test]
fn requests_without_a_reply_are_not_answered() {
    for code in [opcode::FORGET, opcode::BATCH_FORGET, opcode::INTERRUPT] {
        assert_eq!(NODE.request(&bytes(code, &[1])).unwrap().ask, Ask::Nothing);
    }
}

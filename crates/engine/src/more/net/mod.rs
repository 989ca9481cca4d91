//! The engines `net` and `netsplice`: blocks over a socket, in a form that fio understands.
//!
//! A stream (TCP, Unix) is the data alone, without headers. Each end announces its close by eight bytes. A datagram
//! carries one block, and a sender announces itself by eight bytes, so that a receiver knows when to begin. All of this
//! was learned by tracing fio's system calls.

mod address;
mod connect;
mod transfer;

pub(crate) use transfer::Network;

/// What a sender of datagrams sends first.
const OPEN_MARK: [u8; 8] = *b"link\0\0\0\x98";
/// What each end sends when it closes.
const CLOSE_MARK: [u8; 8] = *b"knil\x89\0\0\0";
/// The same from a host of the other byte order.
const CLOSE_MARK_SWAPPED: [u8; 8] = *b"link\0\0\0\x89";

/// Reports whether a peer sends this when it closes.
fn is_close_mark(bytes: &[u8]) -> bool {
    bytes == CLOSE_MARK || bytes == CLOSE_MARK_SWAPPED
}

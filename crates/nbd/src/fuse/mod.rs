//! A disk as the one file of a FUSE mount: the kernel's protocol without any mount, as in `linux/fuse.h`, 7.31 and later.
//!
//! The mount's root is a regular file; there are no names and no directories. [`Node::request`] reads what came from
//! `/dev/fuse` in one read: most of it is answered on the spot ([`Ask::Answer`]), the rest is an [`Operation`] as any other
//! client of a disk has it, with the [`ReplyTicket`] that makes its reply when it has ended. [`Channel`] reads and writes.
//!
//! Nothing of the file stays in the page cache (`FOPEN_DIRECT_IO`): every operation of a client is one of the disk. A loop
//! device over it with direct I/O has its operations under way at the same time, reads and writes.
//!
//! [`Operation`]: crate::store::Operation

mod abi;
mod channel;
mod reply;
mod request;
mod seek;

pub use abi::MOST_BYTES;
pub use channel::{BUFFER_BYTES, Channel, Received};
pub use reply::{FuseReply, ReplyTicket};
pub use request::{Ask, FuseRequest, Node};
pub use seek::SeekFilesystem;

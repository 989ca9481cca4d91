//! A disk as the single file of a FUSE mount: the kernel's protocol without any mount, as in `linux/fuse.h`, 7.31 and
//! later.
//!
//! The mount's root is a regular file; there are no names and no directories. [`Node::request`] parses what one read of
//! `/dev/fuse` returned. Most requests are answered immediately ([`Ask::Answer`]); the others become an [`Operation`]
//! and a [`ReplyTicket`] that builds the reply when the operation has ended. [`Channel`] reads requests and writes
//! replies.
//!
//! The protocol is implemented here instead of by a library, because a library owns the thread and the reply, and the
//! reply is what the model delays. So a mount is one more client of the server's loop.
//!
//! The file bypasses the page cache (`FOPEN_DIRECT_IO`): every operation of a client reaches the disk. A loop device on
//! it with direct I/O has several reads and writes in flight.
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

//! The NBD protocol without sockets: <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>.
//!
//! Everything here converts between bytes and decisions. The same types serve servers and clients.
//!
//! What this crate does *not* do: it opens nothing, keeps no data and has no model. The server and its stores are in
//! `nbd`, the client in `engine`.

pub mod bytes;
pub mod client;
mod command;
mod errno;
mod export;
mod flags;
pub mod handshake;
mod number;
mod reply;
pub mod uri;

pub use command::{CommandFlags, NbdCommand, NbdRequest, NotARequest};
pub use errno::Errno;
pub use export::{Export, ExportBlockSizes, Extent};
pub use flags::TransmissionFlags;
pub use reply::ReplyStyle;
pub use uri::Uri;

//! The protocol, without sockets: <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>.
//!
//! Everything here takes bytes and gives bytes or decisions. The same types serve the server and the client.

pub(crate) mod bytes;
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
pub use export::{Export, ExportBlockSizes};
pub use flags::TransmissionFlags;
pub use reply::ReplyStyle;
pub use uri::Uri;

//! The client's side of the protocol: the handshake, and parsing of replies. Requests are [`super::NbdRequest`].

mod handshake;
mod refusal;
mod replies;
mod terms;
#[cfg(test)]
mod tests;

pub use handshake::ClientHandshake;
pub use refusal::{ClientError, ServerRefusal};
pub use replies::{Malformed, REPLY_HEADER_MOST, ReplyPart, ServerReply, StatusExtent};
pub use terms::{ClientOptions, ClientStep, ListedExport, Served};

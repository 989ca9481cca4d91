//! The client's side of the protocol: the handshake, and parsing of replies. Requests are [`super::NbdRequest`].

mod handshake;
mod refusal;
mod replies;
#[cfg(test)]
mod tests;

pub use handshake::{ClientHandshake, ClientOptions, ClientStep, ListedExport, Served};
pub use refusal::{ClientError, ServerRefusal};
pub use replies::{Malformed, REPLY_HEADER_MOST, ReplyPart, ServerReply, StatusExtent};

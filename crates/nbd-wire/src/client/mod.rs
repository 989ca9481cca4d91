//! The protocol as a client speaks it: the handshake, and replies taken apart. Requests are [`super::NbdRequest`].

mod handshake;
mod refusal;
mod replies;
mod sending;
mod terms;
#[cfg(test)]
mod tests;

pub use handshake::ClientHandshake;
pub use refusal::{ClientError, ServerRefusal};
pub use replies::{Malformed, REPLY_HEADER_MOST, ReplyPart, ServerReply, StatusExtent};
pub use terms::{ClientStep, ListedExport, Served, Wishes};

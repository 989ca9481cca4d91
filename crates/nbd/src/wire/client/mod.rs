//! The protocol as a client speaks it: the handshake, and replies taken apart. Requests are [`super::Request`].

mod handshake;
mod refusal;
mod replies;
mod sending;
mod terms;
#[cfg(test)]
mod tests;

pub use handshake::ClientHandshake;
pub use refusal::{ClientError, Refused};
pub use replies::{Malformed, Part, REPLY_HEADER_MOST, Reply, StatusExtent};
pub use terms::{ClientStep, Listed, Served, Wishes};

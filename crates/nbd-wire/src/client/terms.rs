//! Requests of a client and the results of its handshake.

use crate::{ExportBlockSizes, TransmissionFlags};

/// Options that a client requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientOptions {
    /// Name of the export; empty for the server's default.
    pub export: String,
    /// Whether TLS is required.
    pub tls: bool,
    /// Whether to request structured replies.
    pub structured: bool,
    /// Whether to request `base:allocation`; requires structured replies.
    pub allocation: bool,
}

/// Negotiated properties of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Size in bytes.
    pub size: u64,
    /// Capabilities.
    pub flags: TransmissionFlags,
    /// Constraints on lengths and offsets; [`ExportBlockSizes::INTEROPERABLE`] if the server announces none.
    pub block: ExportBlockSizes,
    /// Whether replies are structured.
    pub structured: bool,
    /// ID of `base:allocation`, if negotiated.
    pub allocation: Option<u32>,
}

/// An entry of a list of exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedExport {
    pub name: String,
    /// Description, often empty.
    pub description: String,
}

/// The next action of the caller, after it has sent pending output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientStep {
    /// Read more input.
    More,
    /// The unconsumed bytes and all that follow are TLS. The handshake continues inside it with a call of
    /// [`advance`](super::ClientHandshake::advance) without input.
    StartTls,
    /// The transmission phase starts with the unconsumed bytes.
    Ready(Served),
    /// The exports; the pending output ends the session.
    Listed(Vec<ListedExport>),
}

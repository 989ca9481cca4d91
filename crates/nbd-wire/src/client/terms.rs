//! What a client asks of a server, and what it gets.

use crate::{ExportBlockSizes, TransmissionFlags};

/// Requests of a client to a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The export; empty for the server's default.
    pub export: String,
    /// Whether to go on only with TLS.
    pub tls: bool,
    /// Whether to ask for structured replies.
    pub structured: bool,
    /// Whether to ask for `base:allocation`; only with structured replies.
    pub allocation: bool,
}

/// Properties that a client got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// How many bytes the export has.
    pub size: u64,
    /// What it can do.
    pub flags: TransmissionFlags,
    /// What lengths and offsets it takes; [`ExportBlockSizes::INTEROPERABLE`] where the server does not say.
    pub block: ExportBlockSizes,
    /// Whether replies are structured.
    pub structured: bool,
    /// Under which number `base:allocation` can be asked for.
    pub allocation: Option<u32>,
}

/// One export of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedExport {
    /// Its name.
    pub name: String,
    /// What the server says about it; often empty.
    pub description: String,
}

/// The next action of the caller, after it has sent pending output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientStep {
    /// Read more.
    More,
    /// What has not been consumed, and all that follows, is TLS; the handshake goes on inside of it, beginning with a call
    /// of [`advance`](super::ClientHandshake::advance) without input.
    StartTls,
    /// The transmission phase begins with what has not been consumed.
    Ready(Served),
    /// The exports; what was written says good-bye.
    Listed(Vec<ListedExport>),
}

use crate::number::{err, opt};

/// Reasons for refusing an option: protocol document, "Option reply types".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerRefusal {
    /// `NBD_REP_ERR_UNSUP`.
    #[error("does not support it")]
    Unsupported,
    /// `NBD_REP_ERR_POLICY`.
    #[error("forbids it by policy")]
    Policy,
    /// `NBD_REP_ERR_INVALID`.
    #[error("rejects it as invalid")]
    Invalid,
    /// `NBD_REP_ERR_TLS_REQD`.
    #[error("requires TLS")]
    TlsRequired,
    /// `NBD_REP_ERR_UNKNOWN`.
    #[error("has no such export")]
    UnknownExport,
    /// `NBD_REP_ERR_SHUTDOWN`.
    #[error("is shutting down")]
    Shutdown,
    /// `NBD_REP_ERR_BLOCK_SIZE_REQD`.
    #[error("requires the client to request block sizes")]
    BlockSizesRequired,
    /// `NBD_REP_ERR_TOO_BIG`.
    #[error("rejects it as too large")]
    TooBig,
    /// `NBD_REP_ERR_EXT_HEADER_REQD`.
    #[error("requires extended headers, which Fathom does not support")]
    ExtendedHeadersRequired,
    /// Any other.
    #[error("refused with the unknown error {0:#010x}")]
    Other(u32),
}

impl ServerRefusal {
    pub(super) fn from_number(number: u32) -> Self {
        match number {
            err::UNSUP => Self::Unsupported,
            err::POLICY => Self::Policy,
            err::INVALID => Self::Invalid,
            err::TLS_REQD => Self::TlsRequired,
            err::UNKNOWN => Self::UnknownExport,
            err::SHUTDOWN => Self::Shutdown,
            err::BLOCK_SIZE_REQD => Self::BlockSizesRequired,
            err::TOO_BIG => Self::TooBig,
            err::EXT_HEADER_REQD => Self::ExtendedHeadersRequired,
            number => Self::Other(number),
        }
    }
}

/// Failure of a handshake. The caller sends pending output, then closes the connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The peer is not an NBD server.
    #[error("not an NBD server: it sent {0:#018x} instead of NBDMAGIC")]
    NotAServer(u64),
    /// The server is older than newstyle negotiation or configured so.
    #[error("the server uses oldstyle negotiation, obsolete since 2015: enable newstyle")]
    Oldstyle,
    /// The server supports only `NBD_OPT_EXPORT_NAME`, which is not enough.
    #[error("the server does not support fixed newstyle, which listing exports and TLS require")]
    NotFixed,
    /// The server has refused a required option.
    #[error("requested {}: the server {why}{}{words}", option_name(*option), if words.is_empty() { "" } else { ": " })]
    Refused {
        option: u32,
        /// Reason.
        why: ServerRefusal,
        /// Message of the server, without control characters.
        words: String,
    },
    /// The server has violated the protocol.
    #[error("the server violates the protocol: {0}")]
    Broken(&'static str),
}

fn option_name(option: u32) -> &'static str {
    match option {
        opt::LIST => "a list of exports (NBD_OPT_LIST)",
        opt::STARTTLS => "TLS (NBD_OPT_STARTTLS)",
        opt::GO => "the export (NBD_OPT_GO)",
        opt::STRUCTURED_REPLY => "structured replies (NBD_OPT_STRUCTURED_REPLY)",
        opt::SET_META_CONTEXT => "base:allocation (NBD_OPT_SET_META_CONTEXT)",
        _ => "an option",
    }
}

//! Describes why an export cannot be used.

use std::io;

use nbd::wire::Uri;
use nbd::wire::client::{ClientError, ListedExport, ServerRefusal};

use crate::error::{Error, ErrorKind};

/// Maximum number of exports listed if the requested one does not exist.
const MAX_LISTED: usize = 8;

/// Failure of a connection to an export.
pub(super) enum ExportFailure {
    /// The connection could not be established.
    Unreachable(io::Error),
    /// The connection was lost during the handshake, or the server sent nothing.
    Lost(io::Error),
    /// The client or the server ended the handshake.
    Protocol(ClientError),
}

impl ExportFailure {
    /// Reports whether a list of exports would help the user.
    pub(super) fn is_unknown_export(&self) -> bool {
        matches!(self, Self::Protocol(ClientError::Refused { why: ServerRefusal::UnknownExport, .. }))
    }

    /// Describes the failure. `exports` are those of the server, if known.
    pub(super) fn into_error(self, uri: &Uri, exports: &[ListedExport]) -> Error {
        let place = uri.to_string();
        match self {
            Self::Unreachable(error) => unreachable(place, &error),
            Self::Lost(error) => lost(place, &error),
            Self::Protocol(error) => {
                let failed = Error::found(ErrorKind::Export, "use", place, error.to_string());
                Error { errno: Some(libc::EPROTO), ..failed }.with_remedy(protocol_remedy(&error, exports))
            }
        }
    }
}

fn unreachable(place: String, error: &io::Error) -> Error {
    let remedy = match error.raw_os_error() {
        Some(libc::ENOENT | libc::ECONNREFUSED) => "start the server, or correct the address",
        Some(libc::EACCES | libc::EPERM) => "run as a user with access to the socket (see ls -l)",
        Some(libc::EAGAIN | libc::ETIMEDOUT | libc::EHOSTUNREACH | libc::ENETUNREACH) => {
            "check that the server is running and accepts more clients, and that no firewall blocks it"
        }
        _ => "correct the address, or check that the server is running",
    };
    Error::system(ErrorKind::Export, "connect to", place, error).with_remedy(remedy)
}

fn lost(place: String, error: &io::Error) -> Error {
    let (errno, reason, remedy) = match error.kind() {
        io::ErrorKind::TimedOut => (
            libc::ETIMEDOUT,
            "the server did not complete the handshake",
            "check that it is an NBD server and accepts more than one client",
        ),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => (
            libc::ECONNRESET,
            "the server closed the connection during the handshake",
            "see the server log: the export may not exist, or its client limit is reached",
        ),
        _ => return Error::system(ErrorKind::Export, "use", place, error).with_remedy("see the server log"),
    };
    let failed = Error::found(ErrorKind::Export, "use", place, reason).with_remedy(remedy);
    Error { errno: Some(errno), ..failed }
}

fn protocol_remedy(error: &ClientError, exports: &[ListedExport]) -> String {
    let remedy = match error {
        ClientError::NotAServer(_) => "correct the address",
        ClientError::Refused { why: ServerRefusal::UnknownExport, .. } => return export_names(exports),
        ClientError::Refused { why: ServerRefusal::TlsRequired, .. } => {
            "this engine does not support TLS: configure the server to listen without it"
        }
        ClientError::Refused { .. } => "see the server log",
        ClientError::Oldstyle => "start the server without its option for oldstyle negotiation",
        ClientError::NotFixed | ClientError::Broken(_) => "use a newer or different server",
    };
    remedy.to_owned()
}

fn export_names(exports: &[ListedExport]) -> String {
    let names: Vec<String> = exports.iter().take(MAX_LISTED).map(|export| format!("`{}`", export.name)).collect();
    let more = if exports.len() > MAX_LISTED { ", …" } else { "" };
    if names.is_empty() {
        return "specify another export".to_owned();
    }
    format!("specify one of its exports: {}{more}", names.join(", "))
}

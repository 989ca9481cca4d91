//! NBD exports: their properties, and connections to them.
//!
//! Each target has its own connection. `nbd::wire` has the protocol; this module has the sockets. For the rest of the
//! program an export is a device whose path is its address: it cannot grow, and the rules for devices apply to writes.

pub(crate) mod dial;
mod failure;
mod reading;
mod socket;

use std::os::fd::OwnedFd;
use std::time::Duration;
use units::Problem;

use nbd::wire::client::{ClientHandshake, ClientOptions, Served};
use nbd::wire::{ExportBlockSizes, TransmissionFlags, Uri};

use crate::error::{Error, ErrorKind};
use crate::opening::Opening;
pub use reading::examine;
pub(crate) use socket::{ExportSocket, SocketWait, lost};

/// Maximum duration of a handshake.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Properties of an export, as reported by its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteExport {
    /// Size in bytes.
    pub bytes: u64,
    /// Whether the export rejects writes.
    pub read_only: bool,
    /// Whether the server supports flushes (`NBD_CMD_FLUSH`).
    pub flushes: bool,
    /// Whether the server supports durable single writes (`NBD_CMD_FLAG_FUA`).
    pub durable_writes: bool,
    /// Whether the server supports trims.
    pub trims: bool,
    /// Whether a flush on one connection covers all connections (`NBD_FLAG_CAN_MULTI_CONN`).
    pub multi_conn: bool,
    /// Granularity of offsets and lengths, in bytes; 512 if the server does not report it.
    pub min_block_bytes: u32,
    /// Maximum length of a read or write, in bytes.
    pub max_request_bytes: u32,
}

/// Connects to a server, queries the properties of an export, and disconnects.
///
/// # Errors
/// Fails if the address is invalid, no server answers there, or the export is refused.
pub fn look(uri: &str) -> Result<RemoteExport, Error> {
    let connection = dial::open(&parse(uri)?, true, HANDSHAKE_TIMEOUT)?;
    connection.socket.disconnect();
    Ok(RemoteExport::of(&connection.served))
}

/// Connects for the kernel, which supports only simple replies and takes over the connection without time limits.
///
/// # Errors
/// As for [`look`].
pub(crate) fn connect(uri: &str) -> Result<(OwnedFd, Served), Error> {
    let uri = parse(uri)?;
    let connection = dial::open(&uri, false, HANDSHAKE_TIMEOUT)?;
    let unlimited = connection.socket.limit(Duration::ZERO);
    unlimited.map_err(|error| Error::found(ErrorKind::Export, "use", uri.to_string(), error.to_string()))?;
    Ok((connection.socket.0, connection.served))
}

impl RemoteExport {
    pub(crate) fn of(served: &Served) -> Self {
        let ExportBlockSizes { minimum, maximum, .. } = served.block;
        let can = |flag| served.flags.contains(flag);
        Self {
            bytes: served.size,
            read_only: can(TransmissionFlags::READ_ONLY),
            flushes: can(TransmissionFlags::SEND_FLUSH),
            durable_writes: can(TransmissionFlags::SEND_FUA),
            trims: can(TransmissionFlags::SEND_TRIM),
            multi_conn: can(TransmissionFlags::CAN_MULTI_CONN),
            min_block_bytes: minimum,
            max_request_bytes: maximum,
        }
    }

    /// Checks that the export supports what a setup requires.
    pub(crate) fn check(&self, setup: &Opening, uri: &str) -> Result<(), Error> {
        if setup.buffer_bytes > self.max_request_bytes {
            let reason = format!(
                "it accepts requests of at most {} bytes, but the block size is {}",
                self.max_request_bytes, setup.buffer_bytes
            );
            return Err(refused(uri, reason).with_remedy(format!("use bs={} or less", self.max_request_bytes)));
        }
        if setup.durable && !self.durable_writes && !self.read_only {
            let reason = "the server does not support FUA writes (NBD_CMD_FLAG_FUA)";
            return Err(refused(uri, reason).with_remedy("use fsync=1 instead of sync="));
        }
        Ok(())
    }
}

/// Parses an address and rejects encrypted ones.
pub(crate) fn parse(text: &str) -> Result<Uri, Error> {
    let uri = Uri::parse(text).map_err(|error| {
        let wrong = Problem::from(error).also_help("use nbd://HOST[:PORT]/EXPORT or nbd+unix:///EXPORT?socket=PATH");
        refused(text, wrong.what).with_remedy(wrong.help.unwrap_or_default())
    })?;
    if uri.tls {
        return Err(refused(text, "this engine does not support TLS")
            .with_remedy("configure the server to listen without TLS, and use nbd: or nbd+unix:"));
    }
    Ok(uri)
}

/// Returns the error for an export that Fathom cannot use.
pub(crate) fn refused(uri: &str, reason: impl Into<String>) -> Error {
    Error::found(ErrorKind::Export, "use", uri, reason)
}

/// Returns the handshake that requests an export.
fn handshake(uri: &Uri, structured: bool) -> ClientHandshake {
    ClientHandshake::new(ClientOptions { export: uri.export.clone(), structured, ..ClientOptions::default() })
}

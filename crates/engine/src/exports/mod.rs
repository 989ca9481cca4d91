//! NBD exports: their properties, and a target on one.
//!
//! Each target has a connection of its own. What the two sides say to each other is `nbd::wire`; here are the sockets.

mod dial;
mod failure;
mod inbox;
mod outbox;
mod pending;
mod reading;
mod socket;
mod target;

use std::os::fd::OwnedFd;
use std::time::Duration;

use nbd::wire::client::{ClientHandshake, Served, Wishes};
use nbd::wire::{ExportBlockSizes, TransmissionFlags, Uri};

use crate::error::{Error, ErrorKind};
use crate::setup::Setup;
pub use reading::examine;
pub(crate) use target::Nbd;

/// Maximum time of a handshake.
const PATIENCE: Duration = Duration::from_secs(10);

/// Properties of an export, as its server states them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteExport {
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether nothing may be written.
    pub read_only: bool,
    /// Whether it can be flushed (`NBD_CMD_FLUSH`).
    pub flushes: bool,
    /// Whether single writes can be made durable (`NBD_CMD_FLAG_FUA`).
    pub durable_writes: bool,
    /// Whether it can trim.
    pub trims: bool,
    /// Whether what one connection has flushed is flushed for all (`NBD_FLAG_CAN_MULTI_CONN`).
    pub multi_conn: bool,
    /// Offsets and lengths are multiples of this many bytes; 512 where the server does not say.
    pub block_least: u32,
    /// The longest read or write in bytes.
    pub block_most: u32,
}

/// Connects to a server, asks what an export is, and leaves.
///
/// # Errors
///
/// When the address is none, no server answers there, or the export is refused.
pub fn look(uri: &str) -> Result<RemoteExport, Error> {
    let connection = dial::open(&parse(uri)?, true, PATIENCE)?;
    connection.socket.leave();
    Ok(RemoteExport::of(&connection.served))
}

/// Connects for a caller that knows only simple replies and takes over the connection, without any limit of time:
/// the kernel.
///
/// # Errors
///
/// As for [`look`].
pub(crate) fn connect(uri: &str) -> Result<(OwnedFd, Served), Error> {
    let uri = parse(uri)?;
    let connection = dial::open(&uri, false, PATIENCE)?;
    let unlimited = connection.socket.limit(Duration::ZERO);
    unlimited.map_err(|error| Error::found(ErrorKind::Export, "use", uri.to_string(), error.to_string()))?;
    Ok((connection.socket.into_file(), connection.served))
}

impl RemoteExport {
    fn of(served: &Served) -> Self {
        let ExportBlockSizes { minimum, maximum, .. } = served.block;
        let can = |flag| served.flags.contains(flag);
        Self {
            bytes: served.size,
            read_only: can(TransmissionFlags::READ_ONLY),
            flushes: can(TransmissionFlags::SEND_FLUSH),
            durable_writes: can(TransmissionFlags::SEND_FUA),
            trims: can(TransmissionFlags::SEND_TRIM),
            multi_conn: can(TransmissionFlags::CAN_MULTI_CONN),
            block_least: minimum,
            block_most: maximum,
        }
    }

    /// Checks that the export has what a setup asks for.
    fn check(&self, setup: &Setup, uri: &str) -> Result<(), Error> {
        if setup.buffer_bytes > self.block_most {
            let reason =
                format!("its requests have at most {} bytes, and blocks have {}", self.block_most, setup.buffer_bytes);
            return Err(refused(uri, reason).with_remedy(format!("use bs={} or less", self.block_most)));
        }
        if setup.durable && !self.durable_writes && !self.read_only {
            let reason = "the server cannot make single writes durable (NBD_CMD_FLAG_FUA)";
            return Err(refused(uri, reason).with_remedy("use fsync=1 instead of sync="));
        }
        Ok(())
    }
}

/// Reads an address that can be connected to.
fn parse(text: &str) -> Result<Uri, Error> {
    let uri = Uri::parse(text).map_err(|error| {
        refused(text, error.to_string()).with_remedy("write nbd://HOST[:PORT]/EXPORT or nbd+unix:///EXPORT?socket=PATH")
    })?;
    if uri.tls {
        return Err(refused(text, "connections are not encrypted by this engine yet")
            .with_remedy("have the server listen without TLS, and use nbd: or nbd+unix:"));
    }
    Ok(uri)
}

/// An export that cannot be had, for a reason of ours.
fn refused(uri: &str, reason: impl Into<String>) -> Error {
    Error::found(ErrorKind::Export, "use", uri, reason)
}

/// The handshake with which an export is asked for.
fn handshake(uri: &Uri, structured: bool) -> ClientHandshake {
    ClientHandshake::new(Wishes { export: uri.export.clone(), structured, ..Wishes::default() })
}

//! Connections to a store, with and without TLS.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::failure::RequestFailure;

/// Time for which a connection is tried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which a blocked call returns, so that the end of a run is noticed.
const WAKE_EVERY: Duration = Duration::from_millis(200);

pub(super) enum StoreConnection {
    /// Without encryption.
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl StoreConnection {
    /// Connects to the first address of a host that answers. The handshake of TLS is part of the first transfer.
    pub(super) fn open(host: &str, port: u16, tls: Option<&Arc<ClientConfig>>) -> Result<Self, RequestFailure> {
        let stream = connect(host, port).map_err(RequestFailure::Unreachable)?;
        let Some(config) = tls else { return Ok(Self::Plain(stream)) };
        let name = ServerName::try_from(host.to_owned())
            .map_err(|error| RequestFailure::Unreachable(io::Error::new(ErrorKind::InvalidInput, error.to_string())))?;
        let session = ClientConnection::new(Arc::clone(config), name).map_err(RequestFailure::Tls)?;
        Ok(Self::Tls(Box::new(StreamOwned::new(session, stream))))
    }

    /// Sends bytes of `head`, then of `body`. Returns how many.
    pub(super) fn send(&mut self, head: &[u8], body: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write_vectored(&[IoSlice::new(head), IoSlice::new(body)]),
            Self::Tls(session) => session.write(if head.is_empty() { body } else { head }),
        }
    }

    /// Sends what TLS still holds. Reports whether that is all.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(session) => session.flush(),
        }
    }

    /// Receives bytes: zero at the end of the connection, also where TLS was not told so, because the answer says where
    /// it ends.
    pub(super) fn receive(&mut self, input: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(input),
            Self::Tls(session) => match session.read(input) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(0),
                received => received,
            },
        }
    }
}

fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let until = Instant::now() + CONNECT_TIMEOUT;
    let mut last = io::Error::new(ErrorKind::NotFound, "the host name does not resolve to an address");
    for address in (host, port).to_socket_addrs()? {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(WAKE_EVERY))?;
                stream.set_write_timeout(Some(WAKE_EVERY))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

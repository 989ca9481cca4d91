//! Settings of a network connection.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

/// Connection of the engines of networks.
#[derive(Clone, Debug)]
pub struct NetworkSetup {
    /// Transport.
    pub transport: Transport,
    /// Who begins.
    pub role: NetworkRole,
    /// Host to connect to, address to listen on, multicast group to receive from, path of the Unix socket, or context
    /// ID (CID); empty if any peer may connect.
    pub host: String,
    /// Port to connect to or to wait on; unused with Unix sockets.
    pub port: u16,
    /// Whether small packets are sent at once (`TCP_NODELAY`).
    pub nodelay: bool,
    /// Whether each block is sent back.
    pub answers: bool,
    /// Whether blocks pass through a pipe (`netsplice`).
    pub splices: bool,
    /// Address of the local interface of multicasts.
    pub interface: Option<String>,
    /// Time to live of multicasts.
    pub ttl: u32,
    /// Size of the send buffer of a connecting socket and the receive buffer of a waiting one, in bytes; 0 for the
    /// kernel's default.
    pub window_bytes: u32,
    /// Maximum segment size of TCP, in bytes; 0 for the kernel's default.
    pub segment_bytes: u32,
    /// Whether datagrams end with their number, as fio's do unless they are verified.
    pub numbers: bool,
}

impl NetworkSetup {
    /// Reports whether a worker listens on all addresses of the host. Resolves names.
    #[must_use]
    pub fn listens_on_all_addresses(&self) -> bool {
        let (Transport::Tcp { v6 } | Transport::Udp { v6 }) = self.transport else { return false };
        let is_unspecified = || {
            let resolved = resolve(&self.host, self.port, v6);
            resolved.is_ok_and(|address| address.ip().to_canonical().is_unspecified())
        };
        self.role == NetworkRole::Wait && (self.host.is_empty() || is_unspecified())
    }
}

/// Transports of the engines of networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// A TCP stream.
    Tcp {
        /// Whether addresses are those of IPv6.
        v6: bool,
    },
    /// UDP datagrams, one for each block.
    Udp {
        /// Whether addresses are those of IPv6.
        v6: bool,
    },
    /// A stream over a Unix socket.
    Unix,
    /// A stream between a virtual machine and its host.
    Vsock,
}

/// What a worker does to get its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NetworkRole {
    /// Waits for a peer: accepts a connection, or receives datagrams.
    Wait,
    /// Connects to a peer, or sends datagrams to it.
    Connect,
}

/// Returns an address of a host, of this family. Numbers need no look-up.
pub(crate) fn resolve(host: &str, port: u16, v6: bool) -> io::Result<SocketAddr> {
    let found = (host, port).to_socket_addrs()?.find(|address| address.is_ipv6() == v6);
    found.ok_or_else(|| io::Error::new(io::ErrorKind::AddrNotAvailable, "it has no address of this family"))
}

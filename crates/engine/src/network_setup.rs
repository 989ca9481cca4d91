//! Settings of a network connection.

/// Connection of the engines of networks.
#[derive(Clone, Debug)]
pub struct NetworkSetup {
    /// Transport.
    pub transport: Transport,
    /// Who begins.
    pub role: NetworkRole,
    /// Host to connect to, multicast group to receive from, path of the Unix socket, or context ID (CID); empty
    /// if any peer may connect.
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

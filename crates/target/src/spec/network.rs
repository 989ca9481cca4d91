//! Options of the engines `net` and `netsplice`.

/// Connection of a job that sends or receives blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkOptions {
    /// Host to connect to, address to listen on, or multicast group to receive from (`hostname`); a path with Unix
    /// sockets, a CID with vsock.
    pub hostname: Option<String>,
    /// Port to connect to or to listen on; each clone adds its number.
    pub port: Option<u16>,
    /// Protocol of the connection (`protocol`).
    pub protocol: NetworkProtocol,
    /// Small packets are sent at once (`nodelay`).
    pub nodelay: bool,
    /// The job accepts a connection instead of opening one (`listen`).
    pub listen: bool,
    /// Each block is sent back (`pingpong`).
    pub pingpong: bool,
    /// Address of the local interface of multicasts (`interface`).
    pub interface: Option<String>,
    /// Time to live of multicasts (`ttl`).
    pub ttl: u32,
    /// Size of the socket's buffer in bytes (`window_size`); 0 for the default of the kernel.
    pub window_bytes: u32,
    /// Maximum segment size of TCP in bytes (`mss`); 0 for the default of the kernel.
    pub segment_bytes: u32,
}

impl NetworkOptions {
    /// Reports whether a job waits for its peer instead of connecting to it, given whether it only reads.
    #[must_use]
    pub const fn waits(&self, only_reads: bool) -> bool {
        if self.protocol.is_of_connections() { self.listen } else { only_reads }
    }
}

impl Default for NetworkOptions {
    fn default() -> Self {
        Self {
            hostname: None,
            port: None,
            protocol: NetworkProtocol::default(),
            nodelay: false,
            listen: false,
            pingpong: false,
            interface: None,
            ttl: 1,
            window_bytes: 0,
            segment_bytes: 0,
        }
    }
}

/// Protocols of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetworkProtocol {
    /// TCP over IPv4.
    #[default]
    Tcp,
    /// TCP over IPv6.
    TcpV6,
    /// UDP over IPv4.
    Udp,
    /// UDP over IPv6.
    UdpV6,
    /// A Unix socket.
    Unix,
    /// A socket between a virtual machine and its host.
    Vsock,
}

impl NetworkProtocol {
    /// Returns whether addresses are those of IPv6; `None` for sockets without IP addresses.
    #[must_use]
    pub const fn v6(self) -> Option<bool> {
        match self {
            Self::Tcp | Self::Udp => Some(false),
            Self::TcpV6 | Self::UdpV6 => Some(true),
            Self::Unix | Self::Vsock => None,
        }
    }

    /// Reports whether each block is a datagram.
    #[must_use]
    pub const fn is_of_datagrams(self) -> bool {
        matches!(self, Self::Udp | Self::UdpV6)
    }

    /// Reports whether the job with `listen` waits for a connection of the other.
    #[must_use]
    pub const fn is_of_connections(self) -> bool {
        matches!(self, Self::Tcp | Self::TcpV6 | Self::Vsock)
    }
}

//! The connection of a worker.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use target::spec::{EngineKind, EngineSpec, NetworkOptions};

/// What a worker connects to or waits for.
#[derive(Clone, Debug)]
pub struct NetworkPeer {
    /// Settings of the engine.
    pub(crate) options: NetworkOptions,
    /// Whether blocks pass through a pipe (`netsplice`).
    pub(crate) splices: bool,
    /// Port to connect to or to wait on; unused with Unix sockets.
    pub port: u16,
    /// Whether the worker waits for its peer: it accepts a connection, or receives datagrams.
    pub(crate) waits: bool,
    /// Whether datagrams end with their number, as fio's do unless they are verified.
    pub(crate) numbers: bool,
}

impl NetworkPeer {
    /// Returns the peer of one of the clones of a job; `None` for engines that use no network.
    #[must_use]
    pub fn of(spec: &EngineSpec, clone: u32, only_reads: bool, verifies: bool) -> Option<Self> {
        let options = spec.network.clone();
        spec.kind.is_of_network().then(|| Self {
            splices: spec.kind == EngineKind::Netsplice,
            port: options.port.unwrap_or(0).wrapping_add(clone as u16),
            waits: options.waits(only_reads),
            numbers: !verifies,
            options,
        })
    }

    pub(crate) fn host(&self) -> &str {
        self.options.hostname.as_deref().unwrap_or_default()
    }

    /// Reports whether a worker listens on all addresses of the host. Resolves names.
    #[must_use]
    pub fn listens_on_all_addresses(&self) -> bool {
        let Some(v6) = self.options.protocol.v6() else { return false };
        let is_unspecified = || {
            let resolved = resolve(self.host(), self.port, v6);
            resolved.is_ok_and(|address| address.ip().to_canonical().is_unspecified())
        };
        self.waits && (self.host().is_empty() || is_unspecified())
    }
}

/// Returns an address of a host, of this family. Numbers need no look-up.
pub(crate) fn resolve(host: &str, port: u16, v6: bool) -> io::Result<SocketAddr> {
    let found = (host, port).to_socket_addrs()?.find(|address| address.is_ipv6() == v6);
    found.ok_or_else(|| io::Error::new(io::ErrorKind::AddrNotAvailable, "the name has no address of this family"))
}

//! Creates sockets and waits for peers.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use units::{CallKind, Nanos};

use super::OPEN_MARK;
use super::address::{RawAddress, checked};
use crate::clock::MonotonicClock;
use crate::error::{Error, ErrorKind};
use crate::in_call::{BlockedCall, InCall};
use crate::opening::Opening;
use crate::opening::{NetworkPeer, resolve};
use crate::thread;
use target::spec::NetworkProtocol;

/// A connected socket.
pub(super) struct Connection {
    pub(super) socket: OwnedFd,
    /// Where datagrams go; `None` for streams.
    pub(super) peer: Option<RawAddress>,
}

/// Time for which a connection is tried, because its peer may be about to begin.
const PATIENCE: Nanos = Nanos::from_secs(10);
/// Time between two attempts to connect, and for an announcement to be refused.
const RETRY_EVERY: Duration = Duration::from_millis(20);
/// Time that receivers have to join a multicast group before its sender announces itself, which it does once, as in fio.
const JOIN_TIME: Nanos = Nanos::from_secs(1);
/// Time after which a blocked call returns, so that a worker notices the end of its run.
const WAKE_EVERY: Duration = Duration::from_millis(200);

impl Connection {
    /// Waits for a peer or connects to one.
    ///
    /// # Errors
    /// Fails if the address is unknown or in use, no peer answers, or the run ends before one does.
    pub(super) fn open(network: &NetworkPeer, setup: &Opening) -> Result<Self, Error> {
        let in_call = setup.in_call.clone().unwrap_or_default();
        let since = setup.clock.now();
        let deadline = match network.waits {
            true => in_call.peer_deadline(),
            false => in_call.peer_deadline().min(since + PATIENCE),
        };
        let awaited = PeerWait { in_call: &in_call, clock: setup.clock, deadline };
        in_call.enter(BlockedCall { kind: CallKind::Await, file: 0, offset: 0, length: 0, since });
        let opened = if network.waits { wait(network, &awaited) } else { connect(network, &awaited) };
        in_call.leave();
        opened.map_err(|error| failed(network, &error, deadline.since(since)))
    }
}

/// A wait for a peer, which ends at its deadline or with the run.
struct PeerWait<'a> {
    in_call: &'a InCall,
    clock: MonotonicClock,
    deadline: Nanos,
}

impl PeerWait<'_> {
    fn is_cancelled(&self) -> bool {
        self.in_call.is_cancelled() || thread::is_abandoned()
    }

    /// Fails once the wait is over.
    fn check(&self) -> io::Result<()> {
        if self.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if self.clock.now() >= self.deadline {
            return Err(io::Error::from_raw_os_error(libc::ETIMEDOUT));
        }
        Ok(())
    }

    /// Waits until a socket has one of these events, or an error.
    fn poll(&self, fd: RawFd, events: i16) -> io::Result<()> {
        loop {
            let left = self.deadline.since(self.clock.now()).get().div_ceil(1_000_000);
            let timeout = Duration::from_millis(left).min(WAKE_EVERY);
            match poll(fd, events, timeout) {
                Ok(true) => return Ok(()),
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => self.check()?,
            }
        }
    }
}

/// Describes why there is no connection after a wait of at most `patience`.
fn failed(network: &NetworkPeer, error: &io::Error, patience: Nanos) -> Error {
    let place = place(network);
    if error.kind() == io::ErrorKind::Interrupted {
        return Error::found(ErrorKind::Cancelled, "wait for a peer at", place, "the run was stopped");
    }
    if network.waits && error.raw_os_error() == Some(libc::ETIMEDOUT) {
        let reason = format!("none connected within {patience}, the job's runtime");
        let failed = Error::found(ErrorKind::Engine, "wait for a peer at", place, reason);
        let failed =
            failed.with_remedy("start the sending or connecting job within this time, or set a longer `runtime`");
        return Error { errno: Some(libc::ETIMEDOUT), ..failed };
    }
    let operation = if network.waits { "listen at" } else { "connect to" };
    let failed = Error::system(ErrorKind::Engine, operation, place, error);
    match error.raw_os_error() {
        Some(libc::ECONNREFUSED | libc::ENOENT) => failed.with_remedy("start the listening job first"),
        Some(libc::EADDRINUSE | libc::EEXIST) => failed.with_remedy("use another `port` or path: this one is in use"),
        Some(libc::EACCES | libc::EPERM) => failed.with_remedy("use a port above 1023, or run as root"),
        Some(libc::EAFNOSUPPORT | libc::ENODEV | libc::ETIMEDOUT | libc::ECONNRESET | libc::EADDRNOTAVAIL)
            if network.options.protocol == NetworkProtocol::Vsock =>
        {
            failed.with_remedy("start the listening job first; CID 1 needs the module vsock_loopback (modprobe)")
        }
        Some(libc::ETIMEDOUT | libc::EAGAIN) => {
            failed.with_remedy("check that the listening job is running and that no firewall blocks it")
        }
        Some(libc::EINVAL) if network.options.segment_bytes > 0 => failed.with_remedy("set `mss` from 88 to 32767"),
        _ => failed.with_remedy("check `hostname`, `port` and `interface`"),
    }
}

fn place(network: &NetworkPeer) -> String {
    match (network.options.protocol, network.host()) {
        (NetworkProtocol::Unix, path) => path.to_owned(),
        (NetworkProtocol::Vsock, "") => format!("vsock port {}", network.port),
        (NetworkProtocol::Vsock, cid) => format!("CID {cid}, vsock port {}", network.port),
        (_, "") => format!("port {}", network.port),
        (_, host) => format!("{host}, port {}", network.port),
    }
}

fn new_socket(network: &NetworkPeer) -> io::Result<OwnedFd> {
    let (family, kind) = match network.options.protocol {
        NetworkProtocol::Tcp => (libc::AF_INET, libc::SOCK_STREAM),
        NetworkProtocol::TcpV6 => (libc::AF_INET6, libc::SOCK_STREAM),
        NetworkProtocol::Udp => (libc::AF_INET, libc::SOCK_DGRAM),
        NetworkProtocol::UdpV6 => (libc::AF_INET6, libc::SOCK_DGRAM),
        NetworkProtocol::Unix => (libc::AF_UNIX, libc::SOCK_STREAM),
        NetworkProtocol::Vsock => (libc::AF_VSOCK, libc::SOCK_STREAM),
    };
    // SAFETY: the call takes only numbers.
    let fd = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, 0) };
    checked(fd)?;
    // SAFETY: the descriptor is new and has no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    set_timeouts(fd)?;
    let is_tcp = matches!(network.options.protocol, NetworkProtocol::Tcp | NetworkProtocol::TcpV6);
    if is_tcp && network.options.nodelay {
        set(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, &1_i32)?;
    }
    if network.options.window_bytes > 0 {
        let buffer = if network.waits { libc::SO_RCVBUF } else { libc::SO_SNDBUF };
        set(fd, libc::SOL_SOCKET, buffer, &(network.options.window_bytes as i32))?;
    }
    if is_tcp && network.options.segment_bytes > 0 {
        set(fd, libc::IPPROTO_TCP, libc::TCP_MAXSEG, &(network.options.segment_bytes as i32))?;
    }
    Ok(socket)
}

/// Binds, then waits for a connection or an announcement.
fn wait(network: &NetworkPeer, awaited: &PeerWait<'_>) -> io::Result<Connection> {
    let socket = new_socket(network)?;
    let fd = socket.as_raw_fd();
    let bound = bind(network, fd)?;
    if network.options.protocol.is_of_datagrams() {
        let peer = await_announcement(fd, awaited)?;
        return Ok(Connection { socket, peer: Some(peer) });
    }
    // SAFETY: the call takes only numbers.
    checked(unsafe { libc::listen(fd, 10) })?;
    let socket = accept(fd, awaited)?;
    set_timeouts(socket.as_raw_fd())?;
    drop(bound);
    Ok(Connection { socket, peer: None })
}

fn accept(fd: RawFd, awaited: &PeerWait<'_>) -> io::Result<OwnedFd> {
    loop {
        awaited.poll(fd, libc::POLLIN)?;
        // SAFETY: the kernel writes no address.
        let accepted = unsafe { libc::accept4(fd, std::ptr::null_mut(), std::ptr::null_mut(), libc::SOCK_CLOEXEC) };
        match checked(accepted) {
            // SAFETY: the descriptor is new and has no other owner.
            Ok(()) => return Ok(unsafe { OwnedFd::from_raw_fd(accepted) }),
            // A peer may leave before it is accepted; the socket's timeout then ends the call.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR | libc::ECONNABORTED)) => {
                awaited.check()?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Removes the name of a Unix socket once its peer has connected.
struct BoundName(PathBuf);

impl Drop for BoundName {
    fn drop(&mut self) {
        // A name that is already gone is no problem.
        let _ = remove_socket(&self.0);
    }
}

fn bind(network: &NetworkPeer, fd: RawFd) -> io::Result<Option<BoundName>> {
    let v6 = match network.options.protocol {
        NetworkProtocol::Unix => {
            let path = Path::new(network.host());
            remove_socket(path)?;
            RawAddress::of_path(path)?.bind(fd)?;
            return Ok(Some(BoundName(path.to_owned())));
        }
        NetworkProtocol::Vsock => {
            RawAddress::of_context(libc::VMADDR_CID_ANY, network.port).bind(fd)?;
            return Ok(None);
        }
        NetworkProtocol::Tcp | NetworkProtocol::Udp => false,
        NetworkProtocol::TcpV6 | NetworkProtocol::UdpV6 => true,
    };
    set(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1_i32)?;
    set(fd, libc::SOL_SOCKET, libc::SO_REUSEPORT, &1_i32)?;
    let any = if v6 { IpAddr::V6(Ipv6Addr::UNSPECIFIED) } else { IpAddr::V4(Ipv4Addr::UNSPECIFIED) };
    let address = match network.host() {
        "" => SocketAddr::new(any, network.port),
        group => resolve(group, network.port, v6)?,
    };
    if address.ip().is_multicast() {
        join(fd, address.ip(), network.options.interface.as_deref())?;
    }
    RawAddress::of_ip(address).bind(fd)?;
    Ok(None)
}

/// Removes the socket that an earlier run has left, but nothing else.
fn remove_socket(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.file_type().is_socket() => std::fs::remove_file(path),
        Ok(_) => Err(io::Error::from_raw_os_error(libc::EEXIST)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn join(fd: RawFd, group: IpAddr, interface: Option<&str>) -> io::Result<()> {
    match group {
        IpAddr::V4(group) => {
            let member =
                libc::ip_mreq { imr_multiaddr: raw_v4(group), imr_interface: raw_v4(interface_v4(interface)?) };
            set(fd, libc::IPPROTO_IP, libc::IP_ADD_MEMBERSHIP, &member)
        }
        IpAddr::V6(group) => {
            let address = libc::in6_addr { s6_addr: group.octets() };
            let member = libc::ipv6_mreq { ipv6mr_multiaddr: address, ipv6mr_interface: 0 };
            set(fd, libc::IPPROTO_IPV6, libc::IPV6_ADD_MEMBERSHIP, &member)
        }
    }
}

/// Returns the context ID of a machine.
fn context_of(host: &str) -> io::Result<u32> {
    host.parse().map_err(|_| io::Error::other(format!("{host} is not a context ID (CID): a number is required")))
}

fn interface_v4(interface: Option<&str>) -> io::Result<Ipv4Addr> {
    interface.map_or(Ok(Ipv4Addr::UNSPECIFIED), |text| {
        text.parse().map_err(|_| io::Error::other(format!("the interface {text} is not an IPv4 address")))
    })
}

fn raw_v4(address: Ipv4Addr) -> libc::in_addr {
    libc::in_addr { s_addr: u32::from_ne_bytes(address.octets()) }
}

fn connect(network: &NetworkPeer, awaited: &PeerWait<'_>) -> io::Result<Connection> {
    loop {
        match attempt(network, awaited) {
            Err(error) if is_early(network, &error) => match awaited.check() {
                Ok(()) => std::thread::sleep(RETRY_EVERY),
                Err(over) if over.kind() == io::ErrorKind::Interrupted => return Err(over),
                Err(_) => return Err(error),
            },
            done => return done,
        }
    }
}

/// Reports whether a peer does not listen yet, or does not accept. With vsock the kernel reports that as a reset.
fn is_early(network: &NetworkPeer, error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ECONNREFUSED | libc::ENOENT | libc::EAGAIN))
        || network.options.protocol == NetworkProtocol::Vsock && error.raw_os_error() == Some(libc::ECONNRESET)
}

fn attempt(network: &NetworkPeer, awaited: &PeerWait<'_>) -> io::Result<Connection> {
    let socket = new_socket(network)?;
    let fd = socket.as_raw_fd();
    let protocol = network.options.protocol;
    let address = match protocol.v6() {
        Some(v6) => {
            let address = resolve(network.host(), network.port, v6)?;
            let peer = RawAddress::of_ip(address);
            if protocol.is_of_datagrams() {
                announce(network, fd, address.ip(), &peer, awaited)?;
                return Ok(Connection { socket, peer: Some(peer) });
            }
            peer
        }
        None if protocol == NetworkProtocol::Unix => RawAddress::of_path(Path::new(network.host()))?,
        None => RawAddress::of_context(context_of(network.host())?, network.port),
    };
    match address.connect(fd) {
        // The socket's timeout or a signal has ended the call, and the kernel goes on.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINPROGRESS | libc::EINTR)) => {
            awaited.poll(fd, libc::POLLOUT)?;
            socket_error(fd)?;
        }
        connected => connected?,
    }
    Ok(Connection { socket, peer: None })
}

/// Announces a sender of datagrams. A single receiver that is not there yet refuses it.
fn announce(
    network: &NetworkPeer,
    fd: RawFd,
    group: IpAddr,
    peer: &RawAddress,
    awaited: &PeerWait<'_>,
) -> io::Result<()> {
    if group.is_multicast() {
        if group.is_ipv4() {
            if let Some(text) = &network.options.interface {
                let local = raw_v4(interface_v4(Some(text))?);
                set(fd, libc::IPPROTO_IP, libc::IP_MULTICAST_IF, &local)?;
            }
            set(fd, libc::IPPROTO_IP, libc::IP_MULTICAST_TTL, &(network.options.ttl as i32))?;
        } else {
            set(fd, libc::IPPROTO_IPV6, libc::IPV6_MULTICAST_HOPS, &(network.options.ttl as i32))?;
        }
        let until = awaited.clock.now() + JOIN_TIME;
        while awaited.clock.now() < until {
            std::thread::sleep(RETRY_EVERY);
            awaited.check()?;
        }
    } else {
        peer.connect(fd)?;
    }
    // SAFETY: the mark is a constant.
    checked(unsafe { peer.send(fd, OPEN_MARK.as_ptr(), OPEN_MARK.len()) } as i32)?;
    // A refusal is an event on the socket.
    match poll(fd, libc::POLLIN, RETRY_EVERY) {
        Ok(true) => socket_error(fd),
        Ok(false) => Ok(()),
        Err(error) if awaited.is_cancelled() => Err(error),
        Err(_) => Ok(()),
    }
}

fn socket_error(fd: RawFd) -> io::Result<()> {
    let mut errno = 0_i32;
    let mut length = size_of::<i32>() as libc::socklen_t;
    let value = (&raw mut errno).cast();
    // SAFETY: the kernel writes a number into `errno`, which outlives the call.
    checked(unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ERROR, value, &raw mut length) })?;
    if errno == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(errno)) }
}

/// Waits for the announcement of a sender and returns its address.
fn await_announcement(fd: RawFd, awaited: &PeerWait<'_>) -> io::Result<RawAddress> {
    loop {
        awaited.poll(fd, libc::POLLIN)?;
        let (mut peer, mut bytes) = (RawAddress::empty(), [0_u8; 8]);
        // SAFETY: `bytes` outlives the call and is not used elsewhere.
        let received = unsafe { peer.receive(fd, bytes.as_mut_ptr(), bytes.len()) };
        // The end of an earlier run may arrive late.
        if received == 8 && bytes == OPEN_MARK {
            return Ok(peer);
        }
        awaited.check()?;
    }
}

/// Reports whether a socket has one of these events, or an error, within `timeout`.
fn poll(fd: RawFd, events: i16, timeout: Duration) -> io::Result<bool> {
    let mut polled = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: `polled` outlives the call.
    let ready = unsafe { libc::poll(&raw mut polled, 1, timeout.as_millis() as i32) };
    checked(ready)?;
    Ok(ready > 0)
}

fn set_timeouts(fd: RawFd) -> io::Result<()> {
    let timeout = libc::timeval { tv_sec: 0, tv_usec: WAKE_EVERY.as_micros() as libc::suseconds_t };
    set(fd, libc::SOL_SOCKET, libc::SO_RCVTIMEO, &timeout)?;
    set(fd, libc::SOL_SOCKET, libc::SO_SNDTIMEO, &timeout)
}

fn set<T>(fd: RawFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes from `value`, which outlives the call.
    checked(unsafe { libc::setsockopt(fd, level, name, std::ptr::from_ref(value).cast(), length) })
}

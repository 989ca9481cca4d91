//! Connects to an export: address, socket and handshake.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nbd::wire::Uri;
use nbd::wire::client::{ClientError, ClientHandshake, ClientStep, ListedExport, Served};
use nbd::wire::uri::UriServer;
use rustix::io::Errno;
use rustix::net::{self, SocketAddrUnix, sockopt};

use super::failure::ExportFailure;
use super::handshake;
use super::socket::{ExportSocket, SocketWait};
use crate::error::Error;

/// An export at the start of its transmission phase.
pub(crate) struct ExportConnection {
    pub(crate) socket: ExportSocket,
    pub(crate) served: Served,
}

/// Time without acknowledgement after which a TCP connection counts as lost.
const TCP_TIMEOUT: Duration = Duration::from_secs(30);
/// Size of the path in `sockaddr_un`, in bytes.
const MAX_UNIX_BYTES: usize = 108;

/// Connects and completes the handshake within `timeout`.
///
/// # Errors
/// Fails if no server listens, or the server refuses, breaks the protocol or takes too long.
pub(crate) fn open(uri: &Uri, structured: bool, timeout: Duration) -> Result<ExportConnection, Error> {
    let until = Instant::now() + timeout;
    match shake_hands(uri, handshake(uri, structured), until) {
        Ok((socket, ClientStep::Ready(served))) => Ok(ExportConnection { socket, served }),
        Ok(_) => {
            Err(ExportFailure::Protocol(ClientError::Broken("the handshake ended without an export"))
                .into_error(uri, &[]))
        }
        Err(failure) if failure.is_unknown_export() => Err(failure.into_error(uri, &list(uri, until))),
        Err(failure) => Err(failure.into_error(uri, &[])),
    }
}

/// Returns the exports of the server, or none if it does not list them.
fn list(uri: &Uri, until: Instant) -> Vec<ListedExport> {
    match shake_hands(uri, ClientHandshake::list(false), until) {
        Ok((_, ClientStep::Listed(exports))) => exports,
        _ => Vec::new(),
    }
}

fn shake_hands(
    uri: &Uri,
    mut handshake: ClientHandshake,
    until: Instant,
) -> Result<(ExportSocket, ClientStep), ExportFailure> {
    let socket = connect(uri, until).map_err(ExportFailure::Unreachable)?;
    let (mut input, mut output) = (Vec::new(), Vec::new());
    loop {
        let advanced = handshake.advance(&input, &mut output);
        // Bytes are sent even if the handshake has failed, but their result is then ignored.
        let sent = send(&socket, &mut output, until);
        let (consumed, step) = advanced.map_err(ExportFailure::Protocol)?;
        sent.map_err(ExportFailure::Lost)?;
        input.drain(..consumed);
        match step {
            ClientStep::More => receive(&socket, &mut input, until).map_err(ExportFailure::Lost)?,
            _ if input.is_empty() => return Ok((socket, step)),
            _ => return Err(ExportFailure::Protocol(ClientError::Broken("it sent a reply without a request"))),
        }
    }
}

pub(super) fn send(socket: &ExportSocket, bytes: &mut Vec<u8>, until: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        socket.limit(left(until)?)?;
        let part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        // SAFETY: the only part refers to `bytes`, which outlives the call.
        let sent = unsafe { socket.send(&[part], SocketWait::Yes) };
        bytes.drain(..uninterrupted(sent)?);
    }
    Ok(())
}

/// Appends the next received bytes, at least one unless a signal interrupts.
pub(super) fn receive(socket: &ExportSocket, input: &mut Vec<u8>, until: Instant) -> io::Result<()> {
    socket.limit(left(until)?)?;
    let mut room = [0u8; 4096];
    let part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    // SAFETY: the only part refers to `room`, which outlives the call and is not used elsewhere.
    let received = unsafe { socket.receive(&[part], SocketWait::Yes) };
    match received {
        Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
        received => input.extend_from_slice(&room[..uninterrupted(received)?]),
    }
    Ok(())
}

/// Treats an interrupted call as one that moved no bytes, since a signal ends no exchange, and names the end of its time.
fn uninterrupted(moved: io::Result<usize>) -> io::Result<usize> {
    match moved {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(io::ErrorKind::TimedOut.into()),
        moved => moved,
    }
}

/// Returns the remaining time, never zero, which would mean no limit.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left < Duration::from_millis(1) { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

fn connect(uri: &Uri, until: Instant) -> io::Result<ExportSocket> {
    match &uri.server {
        UriServer::Unix(name) => connect_unix(name, until),
        UriServer::Tcp { host, port } => connect_tcp(host, *port, until),
    }
}

/// Connects to the first address of the host that answers.
fn connect_tcp(host: &str, port: u16, until: Instant) -> io::Result<ExportSocket> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host name does not resolve to an address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, left(until)?) {
            Ok(stream) => return tune(stream).map(ExportSocket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Sends small requests immediately and detects a server whose host is gone.
fn tune(stream: TcpStream) -> io::Result<OwnedFd> {
    stream.set_nodelay(true)?;
    let file = OwnedFd::from(stream);
    sockopt::set_tcp_user_timeout(&file, TCP_TIMEOUT.as_millis() as u32)?;
    sockopt::set_tcp_keepidle(&file, TCP_TIMEOUT / 3)?;
    sockopt::set_tcp_keepintvl(&file, TCP_TIMEOUT / 6)?;
    sockopt::set_socket_keepalive(&file, true)?;
    Ok(file)
}

/// Connects to a path or, after a NUL, to a name in the abstract namespace. The standard library has no timeout for a
/// server that no longer accepts clients.
fn connect_unix(name: &[u8], until: Instant) -> io::Result<ExportSocket> {
    let file = net::socket_with(net::AddressFamily::UNIX, net::SocketType::STREAM, net::SocketFlags::CLOEXEC, None)?;
    let socket = ExportSocket(file);
    socket.limit(left(until)?)?;
    net::connect(&socket.0, &unix_address(name)?)?;
    Ok(socket)
}

fn unix_address(name: &[u8]) -> io::Result<SocketAddrUnix> {
    let (address, most) = match name.strip_prefix(b"\0") {
        Some(rest) => (SocketAddrUnix::new_abstract_name(rest), MAX_UNIX_BYTES),
        // A path is followed by a NUL.
        None => (SocketAddrUnix::new(name), MAX_UNIX_BYTES - 1),
    };
    address.map_err(|errno| match errno {
        Errno::NAMETOOLONG => {
            let text = format!("socket paths are limited to {most} bytes, this one has {}", name.len());
            io::Error::new(io::ErrorKind::InvalidInput, text)
        }
        errno => errno.into(),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::exports::HANDSHAKE_TIMEOUT;

    #[test]
    fn a_silent_server_times_out() {
        let path = std::env::temp_dir().join(format!("fathom-silent-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        let uri = Uri::parse(&format!("nbd+unix:///?socket={}", path.display())).unwrap();
        // A busy host may delay an attempt until it has no time left to connect, but not all of them.
        let times_out = |_| {
            let begun = Instant::now();
            let error = open(&uri, true, Duration::from_millis(100)).err().unwrap().to_string();
            println!("after {:?}: {error}", begun.elapsed());
            error.contains("did not complete the handshake") && begun.elapsed() < HANDSHAKE_TIMEOUT
        };
        let has_timed_out = (0..5).any(times_out);
        std::fs::remove_file(&path).unwrap();
        drop(listener);
        assert!(has_timed_out);
    }
}

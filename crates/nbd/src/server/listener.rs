//! Listening sockets.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, socket_with};

use nbd_wire::handshake::Tls;

/// Non-blocking, and not inherited by child processes.
const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);
const BACKLOG: i32 = 1024;

/// A listening socket. Dropping it removes a unix socket's file.
#[derive(Debug)]
pub struct Listener {
    file: OwnedFd,
    path: Option<PathBuf>,
    tls: Tls,
}

impl Listener {
    /// Listens at a path that only its owner can use. Replaces the socket file of a server that has ended.
    ///
    /// # Errors
    /// When the path cannot be created or another server listens there.
    pub fn unix(path: &Path) -> io::Result<Self> {
        let file = match bind_unix(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_left_over(path) => {
                std::fs::remove_file(path)?;
                bind_unix(path)
            }
            bound => bound,
        }?;
        Ok(Self { file, path: Some(path.to_owned()), tls: Tls::Off })
    }

    /// Listens at an address.
    ///
    /// # Errors
    /// When the address is unavailable.
    pub fn tcp(address: SocketAddr) -> io::Result<Self> {
        let bound = TcpListener::bind(address)?;
        bound.set_nonblocking(true)?;
        Ok(Self { file: bound.into(), path: None, tls: Tls::Off })
    }

    /// Returns the address of a TCP listener, with the port that the kernel has chosen for port 0.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        SocketAddr::try_from(rustix::net::getsockname(&self.file).ok()?).ok()
    }

    /// Duplicates the socket for a caller that accepts clients itself.
    ///
    /// # Errors
    /// When the kernel has no descriptor left.
    pub fn try_clone_file(&self) -> io::Result<OwnedFd> {
        self.file.try_clone()
    }

    /// Sets whether its connections are encrypted.
    #[must_use]
    pub fn with_tls(mut self, tls: Tls) -> Self {
        self.tls = tls;
        self
    }

    pub(super) fn tls(&self) -> Tls {
        self.tls
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Accepts a client; an error when none waits or none can be accepted.
    pub(super) fn accept(&self) -> Result<OwnedFd, Errno> {
        loop {
            match accept_with(&self.file, FLAGS) {
                // The client has disconnected already.
                Err(Errno::CONNABORTED | Errno::INTR) => {}
                accepted => return accepted,
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Binds a socket to a path. Sets its permissions before it has a name, so that it is never open to others.
fn bind_unix(path: &Path) -> io::Result<OwnedFd> {
    let file = socket_with(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None)?;
    rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&file, &SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&file, BACKLOG)?;
    Ok(file)
}

/// Reports whether a path is a socket without a listening server. Connecting to any other kind of file is refused too.
fn is_left_over(path: &Path) -> bool {
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|facts| facts.file_type().is_socket());
    is_socket && UnixStream::connect(path).err().is_some_and(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_stale_sockets_and_no_other_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        drop(std::os::unix::net::UnixListener::bind(path("left")).unwrap());
        let listener = Listener::unix(&path("left")).unwrap();
        std::os::unix::fs::symlink(path("left"), path("link")).unwrap();
        std::fs::write(path("file"), "precious").unwrap();
        for name in ["left", "link", "file"] {
            assert_eq!(Listener::unix(&path(name)).unwrap_err().kind(), io::ErrorKind::AddrInUse, "{name}");
        }
        assert_eq!(std::fs::read_to_string(path("file")).unwrap(), "precious");
        drop(listener);
        assert!(!path("left").exists(), "dropping the listener removes the socket");
    }
}

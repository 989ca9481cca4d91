//! Addresses as the kernel takes them.

use std::io;
use std::mem::{MaybeUninit, offset_of};
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// An address of a socket, of any family.
#[derive(Clone, Copy)]
pub(super) struct RawAddress {
    storage: libc::sockaddr_storage,
    length: libc::socklen_t,
}

impl RawAddress {
    /// Returns an address with room for any family.
    pub(super) const fn empty() -> Self {
        // SAFETY: all zeroes is an address without a family.
        let storage = unsafe { MaybeUninit::zeroed().assume_init() };
        Self { storage, length: size_of::<libc::sockaddr_storage>() as libc::socklen_t }
    }

    pub(super) fn of_ip(address: SocketAddr) -> Self {
        let mut raw = Self::empty();
        match address {
            SocketAddr::V4(v4) => {
                let inner = libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: v4.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                    sin_zero: [0; 8],
                };
                raw.set(inner);
            }
            SocketAddr::V6(v6) => {
                let inner = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: v6.port().to_be(),
                    sin6_flowinfo: v6.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                    sin6_scope_id: v6.scope_id(),
                };
                raw.set(inner);
            }
        }
        raw
    }

    /// Returns the address of a port of a machine, by its context ID.
    pub(super) fn of_context(cid: u32, port: u16) -> Self {
        // SAFETY: all zeroes is a valid `sockaddr_vm`.
        let mut inner: libc::sockaddr_vm = unsafe { MaybeUninit::zeroed().assume_init() };
        inner.svm_family = libc::AF_VSOCK as libc::sa_family_t;
        (inner.svm_cid, inner.svm_port) = (cid, port.into());
        let mut raw = Self::empty();
        raw.set(inner);
        raw
    }

    /// Returns the address of a Unix socket.
    ///
    /// # Errors
    /// Fails if the path is empty, too long, or contains a zero byte.
    pub(super) fn of_path(path: &Path) -> io::Result<Self> {
        let bytes = path.as_os_str().as_bytes();
        // SAFETY: all zeroes is a valid `sockaddr_un`.
        let mut inner: libc::sockaddr_un = unsafe { MaybeUninit::zeroed().assume_init() };
        if bytes.is_empty() || bytes.contains(&0) {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        if bytes.len() >= inner.sun_path.len() {
            return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
        }
        inner.sun_family = libc::AF_UNIX as libc::sa_family_t;
        inner.sun_path.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from as libc::c_char);
        let mut raw = Self::empty();
        raw.set(inner);
        raw.length = (offset_of!(libc::sockaddr_un, sun_path) + bytes.len() + 1) as libc::socklen_t;
        Ok(raw)
    }

    fn set<T: Copy>(&mut self, inner: T) {
        const { assert!(size_of::<T>() <= size_of::<libc::sockaddr_storage>()) };
        // SAFETY: the storage is at least as large as each family's address, and aligned for all of them.
        unsafe { (&raw mut self.storage).cast::<T>().write(inner) };
        self.length = size_of::<T>() as libc::socklen_t;
    }

    pub(super) fn bind(&self, fd: RawFd) -> io::Result<()> {
        // SAFETY: the address outlives the call, and its length is that of its family.
        checked(unsafe { libc::bind(fd, self.as_ptr(), self.length) })
    }

    pub(super) fn connect(&self, fd: RawFd) -> io::Result<()> {
        // SAFETY: the address outlives the call, and its length is that of its family.
        checked(unsafe { libc::connect(fd, self.as_ptr(), self.length) })
    }

    /// Sends to this address. Returns the result of the system call.
    ///
    /// # Safety
    /// `length` bytes from `start` on must be valid for reads.
    pub(super) unsafe fn send(&self, fd: RawFd, start: *const u8, length: usize) -> isize {
        // SAFETY: the caller guarantees the bytes, and the address outlives the call.
        unsafe { libc::sendto(fd, start.cast(), length, libc::MSG_NOSIGNAL, self.as_ptr(), self.length) }
    }

    /// Receives a datagram and its sender's address. Returns the result of the system call.
    ///
    /// # Safety
    /// `length` bytes from `start` on must be valid for writes and not used elsewhere.
    pub(super) unsafe fn receive(&mut self, fd: RawFd, start: *mut u8, length: usize) -> isize {
        self.length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        let address = (&raw mut self.storage).cast();
        // SAFETY: the caller guarantees the bytes; the kernel writes at most the length of the storage.
        unsafe { libc::recvfrom(fd, start.cast(), length, 0, address, &raw mut self.length) }
    }

    const fn as_ptr(&self) -> *const libc::sockaddr {
        (&raw const self.storage).cast()
    }
}

/// Converts the result of a system call.
pub(super) fn checked(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

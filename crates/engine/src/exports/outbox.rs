//! Bytes to send: request headers, and payloads of writes in their buffers.

use std::io;

use nbd::wire::NbdRequest;
use target::Tag;

use super::socket::{ExportSocket, SocketWait};

/// Length of a request header, in bytes.
const HEAD: usize = NbdRequest::header_bytes(false);
/// Maximum number of parts that the kernel takes in one call (`UIO_MAXIOV`).
const PARTS_MOST: usize = 1024;

/// Requests that are not sent completely.
pub(super) struct ExportOutbox {
    /// One header per tag, at a fixed address until it is sent.
    heads: Box<[[u8; HEAD]]>,
    /// Parts to be sent, in order.
    parts: Vec<libc::iovec>,
    /// Number of parts that are sent completely.
    gone: usize,
    scratch: Vec<u8>,
}

impl ExportOutbox {
    pub(super) fn new(depth: u32) -> Self {
        let depth = depth as usize;
        Self {
            heads: vec![[0; HEAD]; depth].into_boxed_slice(),
            parts: Vec::with_capacity(2 * depth),
            gone: 0,
            scratch: Vec::with_capacity(HEAD),
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Appends a request and its payload.
    ///
    /// # Safety
    /// The payload must stay in place, unchanged, until it is sent or the request is answered.
    #[inline]
    pub(super) unsafe fn push(&mut self, tag: Tag, request: &NbdRequest, payload: Option<(*mut u8, u32)>) {
        self.scratch.clear();
        request.encode(false, &mut self.scratch);
        let head = &mut self.heads[tag.index()];
        head.copy_from_slice(&self.scratch);
        if self.parts.len() + 2 > self.parts.capacity() {
            self.parts.drain(..self.gone);
            self.gone = 0;
        }
        self.parts.push(libc::iovec { iov_base: head.as_mut_ptr().cast(), iov_len: HEAD });
        if let Some((start, length)) = payload {
            self.parts.push(libc::iovec { iov_base: start.cast(), iov_len: length as usize });
        }
    }

    /// Sends as much as the kernel takes without waiting.
    #[inline]
    pub(super) fn send(&mut self, socket: &ExportSocket) -> io::Result<()> {
        while self.gone < self.parts.len() {
            let end = self.parts.len().min(self.gone + PARTS_MOST);
            // SAFETY: headers stay in place as long as `self`, and the caller that pushed a payload guaranteed it.
            match unsafe { socket.send(&self.parts[self.gone..end], SocketWait::No) } {
                Ok(sent) => self.advance(sent),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.clear();
        Ok(())
    }

    /// Discards everything after the connection is lost.
    pub(super) fn clear(&mut self) {
        self.parts.clear();
        self.gone = 0;
    }

    fn advance(&mut self, mut sent: usize) {
        while let Some(part) = self.parts.get_mut(self.gone).filter(|_| sent > 0) {
            let whole = part.iov_len.min(sent);
            part.iov_base = part.iov_base.cast::<u8>().wrapping_add(whole).cast();
            part.iov_len -= whole;
            sent -= whole;
            self.gone += usize::from(part.iov_len == 0);
        }
    }
}

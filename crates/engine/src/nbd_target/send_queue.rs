//! Bytes to send: request headers, and payloads of writes in their buffers.

use std::io;

use nbd::wire::NbdRequest;
use target::Tag;

use crate::exports::{ExportSocket, SocketWait};

/// Length of a request header, in bytes.
const HEADER_BYTES: usize = NbdRequest::header_bytes(false);
/// Maximum number of parts that the kernel takes in one call (`UIO_MAXIOV`).
const MAX_PARTS: usize = 1024;

/// Requests that are not sent completely.
pub(super) struct SendQueue {
    /// One header per tag, at a fixed address until it is sent.
    headers: Box<[[u8; HEADER_BYTES]]>,
    /// Parts to be sent, in order.
    parts: Vec<libc::iovec>,
    /// Number of parts that are sent completely.
    sent_parts: usize,
    scratch: Vec<u8>,
}

impl SendQueue {
    pub(super) fn new(depth: u32) -> Self {
        let depth = depth as usize;
        Self {
            headers: vec![[0; HEADER_BYTES]; depth].into_boxed_slice(),
            parts: Vec::with_capacity(2 * depth),
            sent_parts: 0,
            scratch: Vec::with_capacity(HEADER_BYTES),
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
        let header = &mut self.headers[tag.index()];
        header.copy_from_slice(&self.scratch);
        if self.parts.len() + 2 > self.parts.capacity() {
            self.parts.drain(..self.sent_parts);
            self.sent_parts = 0;
        }
        self.parts.push(libc::iovec { iov_base: header.as_mut_ptr().cast(), iov_len: HEADER_BYTES });
        if let Some((start, length)) = payload {
            self.parts.push(libc::iovec { iov_base: start.cast(), iov_len: length as usize });
        }
    }

    /// Sends as much as the kernel takes without waiting.
    #[inline]
    pub(super) fn send(&mut self, socket: &ExportSocket) -> io::Result<()> {
        while self.sent_parts < self.parts.len() {
            let end = self.parts.len().min(self.sent_parts + MAX_PARTS);
            // SAFETY: headers stay in place as long as `self`, and the caller that pushed a payload guaranteed it.
            match unsafe { socket.send(&self.parts[self.sent_parts..end], SocketWait::No) } {
                Ok(sent) => self.mark_sent(sent),
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
        self.sent_parts = 0;
    }

    fn mark_sent(&mut self, mut sent: usize) {
        while let Some(part) = self.parts.get_mut(self.sent_parts).filter(|_| sent > 0) {
            let whole = part.iov_len.min(sent);
            part.iov_base = part.iov_base.cast::<u8>().wrapping_add(whole).cast();
            part.iov_len -= whole;
            sent -= whole;
            self.sent_parts += usize::from(part.iov_len == 0);
        }
    }
}

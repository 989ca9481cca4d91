//! Received bytes that are not parsed yet.

/// Maximum bytes received at a time, apart from a payload that goes straight into its buffer: many replies to small
/// reads, yet few enough to stay in the CPU's cache.
const CAPACITY: usize = 128 << 10;

/// Bytes in the order in which they were received.
pub(super) struct ReceiveBuffer {
    bytes: Box<[u8]>,
    begin: usize,
    end: usize,
}

impl ReceiveBuffer {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; CAPACITY].into_boxed_slice(), begin: 0, end: 0 }
    }

    /// Returns the bytes that are not consumed yet.
    #[inline]
    pub(super) fn unread(&self) -> &[u8] {
        &self.bytes[self.begin..self.end]
    }

    /// Marks `bytes` bytes as consumed.
    #[inline]
    pub(super) fn consume(&mut self, bytes: usize) {
        self.begin += bytes;
    }

    /// Returns the free space, after moving the unread bytes, never more than the header of a reply, to the front.
    #[inline]
    pub(super) fn free_space(&mut self) -> &mut [u8] {
        if self.begin > 0 {
            self.bytes.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.begin = 0;
        }
        &mut self.bytes[self.end..]
    }

    /// Marks `bytes` bytes of the free space as received.
    #[inline]
    pub(super) fn add_received(&mut self, bytes: usize) {
        self.end += bytes;
    }
}

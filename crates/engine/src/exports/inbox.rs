//! Received bytes that are not parsed yet.

/// As many bytes as are received at a time beside a payload that goes straight to its place: many replies to small reads,
/// and few enough to stay in the processor's cache.
const ROOM: usize = 128 << 10;

/// Bytes in the order in which they came.
pub(super) struct Inbox {
    bytes: Box<[u8]>,
    begin: usize,
    end: usize,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; ROOM].into_boxed_slice(), begin: 0, end: 0 }
    }

    /// What has not been looked at.
    #[inline]
    pub(super) fn unread(&self) -> &[u8] {
        &self.bytes[self.begin..self.end]
    }

    /// So many bytes are done with.
    #[inline]
    pub(super) fn consume(&mut self, bytes: usize) {
        self.begin += bytes;
    }

    /// Where more can be put. What has not been looked at is moved out of the way, never more than the head of a reply.
    #[inline]
    pub(super) fn room(&mut self) -> &mut [u8] {
        if self.begin > 0 {
            self.bytes.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.begin = 0;
        }
        &mut self.bytes[self.end..]
    }

    /// So many bytes have been put there.
    #[inline]
    pub(super) fn filled(&mut self, bytes: usize) {
        self.end += bytes;
    }
}

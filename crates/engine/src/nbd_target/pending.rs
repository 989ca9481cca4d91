//! Requests in flight and the replies to them.

use nbd::wire::client::{Malformed, ReplyPart, ServerReply};
use nbd::wire::{NbdCommand, NbdRequest};
use target::Tag;

/// Requests in flight, at most one per tag.
pub(super) struct PendingRequests {
    requests: Box<[SentRequest]>,
    /// Counts requests, to tell a second answer to one request from the answer to the next request of its tag.
    sequence: u32,
    structured: bool,
}

#[derive(Clone, Copy)]
struct SentRequest {
    cookie: u64,
    is_open: bool,
    is_read: bool,
    offset: u64,
    length: u32,
    /// Start of the request's bytes in the tag's buffer.
    skip: u32,
    /// Received bytes of a read.
    received: u32,
    /// First error number reported, zero for none, and the number of errors.
    errno: u32,
    errors: u32,
}

/// Maximum number of errors in one answer: a server may report one for each sector of a read, and many report only one.
const MAX_ERRORS: u32 = 1024;

/// A parsed reply header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExportReply {
    pub(super) tag: Tag,
    pub(super) content: PendingContent,
    /// Whether the request is complete once the content is in its place.
    pub(super) last: bool,
}

/// Content for the tag's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PendingContent {
    /// No bytes.
    Nothing,
    /// `length` bytes follow, for offset `at` of the buffer.
    Bytes { at: u32, length: u32 },
    /// `length` zeroes, which do not follow, for offset `at` of the buffer.
    Zeroes { at: u32, length: u32 },
}

/// A violation of the protocol by the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyError {
    /// A malformed reply, or bytes outside the requested range.
    Malformed(Malformed),
    /// An answer that matches no request.
    Unexpected,
    /// An unending answer: more bytes than requested, or errors without a last one.
    Unending,
}

impl From<Malformed> for ReplyError {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl PendingRequests {
    pub(super) fn new(depth: u32, structured: bool) -> Self {
        let none = SentRequest {
            cookie: 0,
            is_open: false,
            is_read: false,
            offset: 0,
            length: 0,
            skip: 0,
            received: 0,
            errno: 0,
            errors: 0,
        };
        Self { requests: vec![none; depth as usize].into_boxed_slice(), sequence: 0, structured }
    }

    /// Records a request and assigns its cookie.
    #[inline]
    pub(super) fn add(&mut self, tag: Tag, request: &mut NbdRequest, skip: u32) {
        self.sequence = self.sequence.wrapping_add(1);
        request.cookie = u64::from(self.sequence) << 32 | u64::from(tag.0);
        let (is_read, length) = (request.command == NbdCommand::Read, request.length as u32);
        let (cookie, offset) = (request.cookie, request.offset);
        self.requests[tag.index()] =
            SentRequest { cookie, is_open: true, is_read, offset, length, skip, received: 0, errno: 0, errors: 0 };
    }

    /// Interprets the header of a reply.
    #[inline]
    pub(super) fn on_reply(&mut self, reply: &ServerReply<'_>) -> Result<ExportReply, ReplyError> {
        let tag = Tag(reply.cookie as u32);
        let requests =
            self.requests.get_mut(tag.index()).filter(|requests| requests.is_open && requests.cookie == reply.cookie);
        let requests = requests.ok_or(ReplyError::Unexpected)?;
        let content = match reply.part {
            ReplyPart::Done if requests.is_read && !self.structured => requests.whole_read(),
            ReplyPart::Done => PendingContent::Nothing,
            ReplyPart::Data { length, .. } => {
                PendingContent::Bytes { at: requests.buffer_offset(&reply.part)?, length }
            }
            ReplyPart::Hole { length, .. } => {
                PendingContent::Zeroes { at: requests.buffer_offset(&reply.part)?, length }
            }
            ReplyPart::Failed { errno, .. } => {
                requests.errno = if requests.errno == 0 { errno.number() } else { requests.errno };
                requests.errors += 1;
                if requests.errors > MAX_ERRORS {
                    return Err(ReplyError::Unending);
                }
                PendingContent::Nothing
            }
            ReplyPart::Status { .. } => return Err(ReplyError::Unexpected),
        };
        Ok(ExportReply { tag, content, last: reply.last })
    }

    /// Ends a request. Returns bytes or a negated error number, as in completions; a read with missing bytes has
    /// failed.
    #[inline]
    pub(super) fn finish(&mut self, tag: Tag) -> i32 {
        let requests = &mut self.requests[tag.index()];
        requests.is_open = false;
        match requests.errno {
            0 if requests.is_read && requests.received != requests.length => -libc::EPROTO,
            0 => requests.length as i32,
            errno => -(errno as i32),
        }
    }
}

impl SentRequest {
    /// Returns the place of all bytes of a read at once.
    #[inline]
    fn whole_read(&mut self) -> PendingContent {
        self.received = self.length;
        PendingContent::Bytes { at: self.skip, length: self.length }
    }

    /// Returns the buffer offset of a part of a read.
    #[inline]
    fn buffer_offset(&mut self, part: &ReplyPart<'_>) -> Result<u32, ReplyError> {
        if !self.is_read {
            return Err(ReplyError::Unexpected);
        }
        let range = part.place(self.offset, self.length)?;
        self.received = self.received.saturating_add(range.len() as u32);
        if self.received > self.length {
            return Err(ReplyError::Unending);
        }
        Ok(self.skip + range.start as u32)
    }
}

#[cfg(test)]
mod tests {
    use nbd::wire::{CommandFlags, Errno};

    use super::*;

    const TAG: Tag = Tag(1);

    /// Sends a read of 100 bytes at offset 1000 into a buffer at offset 8.
    fn requests(structured: bool) -> (PendingRequests, u64) {
        let mut pending = PendingRequests::new(2, structured);
        let flags = CommandFlags::default();
        let mut request = NbdRequest { cookie: 0, command: NbdCommand::Read, flags, offset: 1000, length: 100 };
        pending.add(TAG, &mut request, 8);
        (pending, request.cookie)
    }

    fn on_reply(
        pending: &mut PendingRequests,
        cookie: u64,
        last: bool,
        part: ReplyPart<'_>,
    ) -> Result<(PendingContent, bool), ReplyError> {
        pending.on_reply(&ServerReply { cookie, last, part }).map(|answer| (answer.content, answer.last))
    }

    #[test]
    fn parts_of_a_read_arrive_in_any_order_with_holes() {
        let (mut pending, cookie) = requests(true);
        let mut on_reply = |last, part| on_reply(&mut pending, cookie, last, part);
        let data = ReplyPart::Data { offset: 1060, length: 40 };
        assert_eq!(on_reply(false, data), Ok((PendingContent::Bytes { at: 68, length: 40 }, false)));
        let hole = ReplyPart::Hole { offset: 1000, length: 60 };
        assert_eq!(on_reply(false, hole), Ok((PendingContent::Zeroes { at: 8, length: 60 }, false)));
        assert_eq!(on_reply(true, ReplyPart::Done), Ok((PendingContent::Nothing, true)));
        assert_eq!(pending.finish(TAG), 100);
    }

    #[test]
    fn a_read_with_missing_bytes_fails() {
        for (lengths, result) in [(&[60, 39][..], -libc::EPROTO), (&[60, 40], 100)] {
            let (mut pending, cookie) = requests(true);
            for &length in lengths {
                let part = ReplyPart::Data { offset: 1000 + u64::from(100 - length), length };
                assert!(on_reply(&mut pending, cookie, false, part).is_ok());
            }
            assert!(on_reply(&mut pending, cookie, true, ReplyPart::Done).is_ok());
            assert_eq!(pending.finish(TAG), result, "{lengths:?}");
        }
    }

    /// Revision f52613e kept reading forever.
    #[test]
    fn an_unending_reply_violates_the_protocol() {
        let (mut pending, cookie) = requests(true);
        let byte = ReplyPart::Data { offset: 1000, length: 1 };
        (0..100).for_each(|_| assert!(on_reply(&mut pending, cookie, false, byte).is_ok()));
        assert_eq!(on_reply(&mut pending, cookie, false, byte), Err(ReplyError::Unending));
        let (mut pending, cookie) = requests(true);
        let error = ReplyPart::Failed { errno: Errno::Io, offset: None, words: &[] };
        (0..MAX_ERRORS).for_each(|_| assert!(on_reply(&mut pending, cookie, false, error).is_ok()));
        assert_eq!(on_reply(&mut pending, cookie, false, error), Err(ReplyError::Unending));
    }

    #[test]
    fn unrequested_bytes_are_rejected() {
        let (mut pending, cookie) = requests(true);
        for (offset, length) in [(999, 10), (1090, 11), (u64::MAX, 1)] {
            let reply = on_reply(&mut pending, cookie, false, ReplyPart::Data { offset, length });
            assert!(matches!(reply, Err(ReplyError::Malformed(_))), "{offset} {length}: {reply:?}");
        }
        assert_eq!(on_reply(&mut pending, cookie + 1, true, ReplyPart::Done), Err(ReplyError::Unexpected));
        pending.finish(TAG);
        assert_eq!(on_reply(&mut pending, cookie, true, ReplyPart::Done), Err(ReplyError::Unexpected));
    }
}

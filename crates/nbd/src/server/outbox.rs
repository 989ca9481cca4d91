//! What a client is to be sent: heads of replies and, between them, bytes that stay where they are until the kernel has
//! taken them.

use std::collections::VecDeque;
use std::io::IoSlice;

use crate::store::{Pieces, Store};

/// Maximum slices per call.
const ROOM: usize = 128;
/// Larger buffers are given back as soon as they are empty.
const HEADS_KEPT_BYTES: usize = 16 << 10;
const PARTS_KEPT: usize = 256;

/// Bytes in a row, some of which are still in a store.
#[derive(Debug, Default)]
pub(super) struct ReplyOutbox {
    heads: Vec<u8>,
    /// How many of the heads are sent.
    heads_sent: usize,
    parts: VecDeque<OutboxPart>,
    /// How many bytes of the first part are sent.
    sent: usize,
}

#[derive(Clone, Copy, Debug)]
enum OutboxPart {
    /// The next so many bytes of the heads.
    Head(usize),
    Data(Loan),
}

/// Bytes of a read, which a store lends until they are sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loan {
    /// Which store.
    pub store: u32,
    /// Under which number the read went; free when the bytes are sent.
    pub slot: u32,
    /// The first byte.
    pub offset: u64,
    /// How many.
    pub length: u32,
}

impl ReplyOutbox {
    /// Whether all is sent.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Appends bytes that `write` puts at the end of a row.
    #[inline]
    pub(super) fn head(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.heads.len();
        write(&mut self.heads);
        let written = self.heads.len() - before;
        match self.parts.back_mut() {
            Some(OutboxPart::Head(length)) => *length += written,
            _ if written > 0 => self.parts.push_back(OutboxPart::Head(written)),
            _ => {}
        }
    }

    /// How much memory it takes.
    #[inline]
    pub(super) fn held_bytes(&self) -> u64 {
        (self.heads.capacity() + self.parts.capacity() * size_of::<OutboxPart>()) as u64
    }

    /// How many bytes are in it that no store lends.
    #[inline]
    pub(super) fn heads_bytes(&self) -> usize {
        self.heads.len() - self.heads_sent
    }

    /// Appends bytes of a store.
    #[inline]
    pub(super) fn data(&mut self, loan: Loan) {
        self.parts.push_back(OutboxPart::Data(loan));
    }

    /// Hands the next bytes to `send`, and returns what it says.
    pub(super) fn send<T>(&self, stores: &[Box<dyn Store>], send: impl FnOnce(&[IoSlice<'_>]) -> T) -> T {
        let mut room = [IoSlice::new(&[]); ROOM];
        let mut pieces = Pieces::new(&mut room);
        let (mut head, mut sent) = (self.heads_sent, self.sent);
        for part in &self.parts {
            let whole = match *part {
                OutboxPart::Head(length) => {
                    let rest = &self.heads[head..head + length - sent];
                    head += rest.len();
                    pieces.push(rest)
                }
                OutboxPart::Data(loan) => {
                    let (before, rest) = (pieces.bytes(), loan.length as usize - sent);
                    stores[loan.store as usize].lend(loan.slot, loan.offset, loan.length, sent as u32, &mut pieces);
                    pieces.bytes() - before == rest
                }
            };
            if !whole || pieces.is_full() {
                break;
            }
            sent = 0;
        }
        send(pieces.slices())
    }

    /// So many bytes are sent; what was lent for them goes back through `give_back`.
    pub(super) fn advance(&mut self, mut bytes: usize, mut give_back: impl FnMut(Loan)) {
        while let Some(&part) = self.parts.front() {
            let rest = part.length() - self.sent;
            if let OutboxPart::Head(_) = part {
                self.heads_sent += rest.min(bytes);
            }
            if bytes < rest {
                self.sent += bytes;
                break;
            }
            bytes -= rest;
            self.sent = 0;
            self.parts.pop_front();
            if let OutboxPart::Data(loan) = part {
                give_back(loan);
            }
        }
        self.forget_sent_heads();
    }

    /// A client may never have taken everything. To move what is left costs no more than what was sent.
    #[inline]
    fn forget_sent_heads(&mut self) {
        if self.heads_sent >= self.heads_bytes() {
            self.heads.drain(..self.heads_sent);
            self.heads_sent = 0;
        }
        if self.heads.is_empty() {
            self.heads.shrink_to(HEADS_KEPT_BYTES);
        }
        if self.parts.is_empty() {
            self.parts.shrink_to(PARTS_KEPT);
        }
    }

    /// Forgets everything: the client is gone.
    pub(super) fn abandon(&mut self, mut give_back: impl FnMut(Loan)) {
        for part in self.parts.drain(..) {
            if let OutboxPart::Data(loan) = part {
                give_back(loan);
            }
        }
        *self = Self::default();
    }
}

impl OutboxPart {
    #[inline]
    fn length(self) -> usize {
        match self {
            Self::Head(length) => length,
            Self::Data(loan) => loan.length as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_takes_no_memory_though_something_is_always_left() {
        let mut outbox = ReplyOutbox::default();
        let mut sent = Vec::new();
        for byte in 0..100_000u32 {
            outbox.head(|out| out.extend_from_slice(&byte.to_be_bytes()));
            if byte > 10 {
                outbox.send(&[], |slices| sent.extend_from_slice(&slices[0][..4]));
                outbox.advance(4, |_| {});
            }
            assert!(outbox.heads.len() < 200, "{}", outbox.heads.len());
        }
        assert_eq!(outbox.heads_bytes(), 11 * 4);
        let whole: Vec<u8> = (0..100_000u32 - 11).flat_map(u32::to_be_bytes).collect();
        assert!(sent == whole, "other bytes");
    }
}

//! Outgoing data of a client: reply headers and, between them, data that stays in the store until the kernel has taken
//! it.

use std::collections::VecDeque;
use std::io::IoSlice;

use crate::store::{Pieces, Store};

const MAX_SLICES: usize = 128;
/// Buffer capacities kept while the outbox is empty.
const HEADS_KEPT_BYTES: usize = 16 << 10;
const PARTS_KEPT: usize = 256;

/// A sequence of header bytes and of data lent by stores.
#[derive(Debug, Default)]
pub(super) struct ReplyOutbox {
    heads: Vec<u8>,
    heads_sent: usize,
    parts: VecDeque<OutboxPart>,
    /// Sent bytes of the first part.
    sent: usize,
}

#[derive(Clone, Copy, Debug)]
enum OutboxPart {
    /// The next bytes of `heads`.
    Head(usize),
    Data(Loan),
}

/// Data of a read, lent by a store until it is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loan {
    /// Index of the store.
    pub store: u32,
    /// Slot of the read, in use until the data is sent.
    pub slot: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
}

impl ReplyOutbox {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Appends the bytes that `write` adds to a vector.
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

    /// Returns the memory in use, without lent data.
    #[inline]
    pub(super) fn held_bytes(&self) -> u64 {
        (self.heads.capacity() + self.parts.capacity() * size_of::<OutboxPart>()) as u64
    }

    /// Returns the number of unsent header bytes.
    #[inline]
    pub(super) fn heads_bytes(&self) -> usize {
        self.heads.len() - self.heads_sent
    }

    #[inline]
    pub(super) fn data(&mut self, loan: Loan) {
        self.parts.push_back(OutboxPart::Data(loan));
    }

    /// Passes the next bytes to `send` and returns its result.
    pub(super) fn send<T>(&self, stores: &[Box<dyn Store>], send: impl FnOnce(&[IoSlice<'_>]) -> T) -> T {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let mut pieces = Pieces::new(&mut slices);
        let (mut head, mut sent) = (self.heads_sent, self.sent);
        for part in &self.parts {
            let is_complete = match *part {
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
            if !is_complete || pieces.is_full() {
                break;
            }
            sent = 0;
        }
        send(pieces.slices())
    }

    /// Marks bytes as sent and returns completed loans through `release`.
    pub(super) fn advance(&mut self, mut bytes: usize, mut release: impl FnMut(Loan)) {
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
                release(loan);
            }
        }
        self.forget_sent_heads();
    }

    /// Removes sent headers even if the outbox is never empty. Moving the rest costs no more than was sent.
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

    pub(super) fn close(&mut self, mut release: impl FnMut(Loan)) {
        for part in self.parts.drain(..) {
            if let OutboxPart::Data(loan) = part {
                release(loan);
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
    fn sent_headers_take_no_memory_even_if_some_are_always_pending() {
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
        assert!(sent == whole, "the bytes differ");
    }
}

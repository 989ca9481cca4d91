//! The data of writes and reads.

use super::Issuer;
use crate::decision::Decision;
use crate::verify::{Checked, Mismatch};

impl Issuer {
    /// Fills a new buffer once, before its first use. `number` differs between the worker's buffers.
    pub fn prepare(&self, number: u32, buffer: &mut [u8]) {
        self.payload.prepare(u64::from(number), buffer);
    }

    /// Fills a prepared buffer of exactly `op.length` bytes for the write `op`.
    #[inline]
    pub fn fill(&self, op: &Decision, buffer: &mut [u8]) {
        match &self.verifier {
            Some(_) if self.is_read_of_trimmed(op) => buffer.fill(0),
            Some(verifier) => verifier.fill(op, buffer),
            None => self.payload.fill(op, buffer),
        }
    }

    /// Checks the data of `op`, a read with `checked` set.
    ///
    /// # Errors
    ///
    /// Returns the first block that is not what was written.
    pub fn check(&mut self, op: &Decision, data: &[u8]) -> Result<Checked, Mismatch> {
        let is_trimmed = self.is_read_of_trimmed(op);
        match &mut self.verifier {
            None => Ok(Checked::Good),
            Some(verifier) if is_trimmed => verifier.check_trimmed(op, data),
            Some(verifier) => verifier.check(op, data),
        }
    }
}

//! Buffers by slot.

use super::Pool;

/// Larger buffers are freed after use: a few large requests must not hold memory indefinitely.
const KEPT_BYTES: usize = 1 << 20;

/// Buffers by slot, each as large as its slot has needed.
#[derive(Debug, Default)]
pub(super) struct ScratchBuffer {
    buffers: Vec<Buffer>,
    /// Counts the unused bytes.
    pool: Pool,
}

#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    used: usize,
}

impl Buffer {
    fn unused(&self) -> u64 {
        (self.bytes.len() - self.used) as u64
    }
}

impl ScratchBuffer {
    /// Returns the first `length` bytes of a slot's buffer, with undefined content.
    pub(super) fn get_mut(&mut self, slot: u32, length: usize) -> &mut [u8] {
        let slot = slot as usize;
        if self.buffers.len() <= slot {
            self.buffers.resize_with(slot + 1, Buffer::default);
        }
        let buffer = &mut self.buffers[slot];
        let before = buffer.unused();
        if buffer.bytes.len() < length {
            // Frees the old buffer first, so that there are never two.
            buffer.bytes = Vec::new();
            buffer.bytes = vec![0; length];
        }
        buffer.used = length;
        self.pool.change(before, buffer.unused());
        &mut buffer.bytes[..length]
    }

    pub(super) fn get(&self, slot: u32) -> &[u8] {
        self.buffers.get(slot as usize).map_or(&[], |buffer| &buffer.bytes)
    }

    pub(super) fn release(&mut self, slot: u32) {
        let Some(buffer) = self.buffers.get_mut(slot as usize) else { return };
        let before = buffer.unused();
        buffer.used = 0;
        if buffer.bytes.len() > KEPT_BYTES || !self.pool.has_room(buffer.unused() - before) {
            buffer.bytes = Vec::new();
        }
        self.pool.change(before, buffer.unused());
    }

    /// Counts unused bytes in another pool.
    pub(super) fn keep_within(&mut self, pool: &Pool) {
        let bytes = self.buffers.iter().map(Buffer::unused).sum();
        self.pool.change(bytes, 0);
        pool.change(0, bytes);
        self.pool = pool.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// f52613e kept up to 1 MiB for every slot ever used.
    #[test]
    fn unused_buffers_fit_into_the_pool() {
        let (mut scratch, pool) = (ScratchBuffer::default(), Pool::new(10_000));
        scratch.keep_within(&pool);
        (0..100).for_each(|slot| scratch.get_mut(slot, 1000).fill(1));
        assert_eq!(pool.used(), 0, "buffers in use are counted with their requests");
        (0..100).for_each(|slot| scratch.release(slot));
        assert_eq!(pool.used(), 10_000);
        assert_eq!(scratch.buffers.iter().map(|buffer| buffer.bytes.len()).sum::<usize>(), 10_000);
        scratch.get_mut(0, 1);
        assert_eq!(pool.used(), 9_999, "only the pool counts the rest of a buffer");
    }
}

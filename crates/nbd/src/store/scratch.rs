//! A buffer for each slot.

/// A buffer that is larger is given back as soon as it is not used: a few large requests must not hold memory for ever.
const KEPT_BYTES: usize = 1 << 20;

/// Buffers by slots, each as large as its slot has needed.
#[derive(Debug, Default)]
pub(super) struct Scratch(Vec<Vec<u8>>);

impl Scratch {
    /// The first `length` bytes of a slot's buffer, holding anything.
    pub(super) fn get_mut(&mut self, slot: u32, length: usize) -> &mut [u8] {
        let slot = slot as usize;
        if self.0.len() <= slot {
            self.0.resize_with(slot + 1, Vec::new);
        }
        let buffer = &mut self.0[slot];
        if buffer.len() < length {
            buffer.resize(length, 0);
        }
        &mut buffer[..length]
    }

    /// What a slot's buffer holds.
    pub(super) fn get(&self, slot: u32) -> &[u8] {
        self.0.get(slot as usize).map_or(&[], Vec::as_slice)
    }

    /// A slot's buffer is not used any more.
    pub(super) fn release(&mut self, slot: u32) {
        if let Some(buffer) = self.0.get_mut(slot as usize).filter(|buffer| buffer.len() > KEPT_BYTES) {
            *buffer = Vec::new();
        }
    }
}

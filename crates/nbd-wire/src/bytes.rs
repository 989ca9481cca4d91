//! Parses and encodes fields. Numbers are in network byte order.

/// Takes fields from the front of a byte slice; `None` past the end.
#[derive(Clone, Copy, Debug)]
pub struct ByteReader<'a>(pub &'a [u8]);

impl<'a> ByteReader<'a> {
    /// Takes the next `length` bytes.
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes the next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    /// Takes a 16-bit number.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// Takes a 32-bit number.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// Takes a 64-bit number.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Takes a 32-bit length and that many bytes.
    pub fn counted(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.take(length as usize)
    }

    /// Reports whether no byte is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns bytes as a string of the protocol (document, "Conventions").
#[must_use]
pub fn string(bytes: &[u8]) -> Option<&str> {
    let is_valid = bytes.len() <= super::number::MAX_STRING && !bytes.contains(&0);
    std::str::from_utf8(bytes).ok().filter(|_| is_valid)
}

/// Appends a message of the handshake: magic number, fields, length of the data, and the data in parts.
pub(crate) fn append_message(out: &mut Vec<u8>, magic: u64, fields: &[u32], parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&magic.to_be_bytes());
    fields.iter().chain([&(length as u32)]).for_each(|field| out.extend_from_slice(&field.to_be_bytes()));
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

//! Sense data: why a SCSI device did not carry out a command.

use std::fmt;

/// Maximum length of sense data that Fathom takes.
pub(super) const SENSE_BYTES: usize = 64;

/// Decoded sense data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sense {
    pub(super) key: u8,
    /// Additional sense code and its qualifier.
    code: (u8, u8),
    /// First block concerned, if the device tells.
    block: Option<u64>,
}

impl Sense {
    /// Decodes sense data of fixed or descriptor format. Returns `None` for anything else.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let byte = |index: usize| bytes.get(index).copied().unwrap_or(0);
        match bytes.first()? & 0x7f {
            0x70 | 0x71 => {
                let is_valid = byte(0) & 0x80 != 0;
                let block = u32::from_be_bytes([byte(3), byte(4), byte(5), byte(6)]);
                Some(Self {
                    key: byte(2) & 0xf,
                    code: (byte(12), byte(13)),
                    block: (is_valid && bytes.len() > 6).then_some(u64::from(block)),
                })
            }
            0x72 | 0x73 => {
                Some(Self { key: byte(1) & 0xf, code: (byte(2), byte(3)), block: information(bytes.get(8..)?) })
            }
            _ => None,
        }
    }
}

/// Returns the block of the first information descriptor.
fn information(mut descriptors: &[u8]) -> Option<u64> {
    loop {
        let (kind, length) = (*descriptors.first()?, usize::from(*descriptors.get(1)?));
        let content = descriptors.get(2..2 + length)?;
        if kind == 0 {
            let is_valid = content.first()? & 0x80 != 0;
            let block: [u8; 8] = content.get(2..10)?.try_into().ok()?;
            return is_valid.then(|| u64::from_be_bytes(block));
        }
        descriptors = &descriptors[2 + length..];
    }
}

impl fmt::Display for Sense {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (code, qualifier) = self.code;
        f.write_str(KEYS.get(usize::from(self.key)).copied().unwrap_or("unknown sense key"))?;
        if let Some(meaning) = meaning(self.code) {
            write!(f, ", {meaning}")?;
        }
        write!(f, " (sense {:X}h, {code:02X}h/{qualifier:02X}h)", self.key)?;
        self.block.map_or(Ok(()), |block| write!(f, " at block {block}"))
    }
}

const KEYS: [&str; 16] = [
    "no sense",
    "recovered error",
    "not ready",
    "medium error",
    "hardware error",
    "illegal request",
    "unit attention",
    "data protect",
    "blank check",
    "vendor specific error",
    "copy aborted",
    "aborted command",
    "reserved sense key",
    "volume overflow",
    "miscompare",
    "completed",
];

/// Returns the meaning of frequent additional sense codes.
fn meaning(code: (u8, u8)) -> Option<&'static str> {
    Some(match code {
        (0x04, _) => "the unit is not ready",
        (0x0c, _) => "the device failed to write",
        (0x10, _) => "protection information mismatch",
        (0x11, _) => "unrecovered read error",
        (0x1d, 0x00) => "the data on the device does not match",
        (0x20, 0x00) => "the device does not support the command",
        (0x21, 0x00) => "the address is beyond the end of the device",
        (0x21, _) => "the write is not at the write pointer of its zone",
        (0x24, 0x00) => "the device does not support a field of the command",
        (0x25, 0x00) => "no such logical unit",
        (0x26, _) => "the device does not support a parameter of the command",
        (0x27, _) => "the device is write-protected",
        (0x29, _) => "the device was reset",
        (0x2a, _) => "the device's parameters have changed",
        (0x3a, _) => "no medium present",
        (0x3f, _) => "the device has changed",
        (0x44, _) => "the target has failed",
        (0x47, _) => "the transport has failed",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_are_decoded() {
        let mut fixed = [0; 18];
        (fixed[0], fixed[2], fixed[6], fixed[7], fixed[12]) = (0xf0, 3, 9, 10, 0x11);
        let text = Sense::decode(&fixed).unwrap().to_string();
        assert_eq!(text, "medium error, unrecovered read error (sense 3h, 11h/00h) at block 9");
        let mut with_descriptor = [0; 20];
        (with_descriptor[0], with_descriptor[1], with_descriptor[2], with_descriptor[7]) = (0x72, 0xe, 0x1d, 12);
        (with_descriptor[9], with_descriptor[10], with_descriptor[18]) = (10, 0x80, 1);
        let text = Sense::decode(&with_descriptor).unwrap().to_string();
        assert_eq!(text, "miscompare, the data on the device does not match (sense Eh, 1Dh/00h) at block 256");
        let not_valid = Sense::decode(&[0x70, 0, 5, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x20]).unwrap();
        assert_eq!(
            not_valid.to_string(),
            "illegal request, the device does not support the command (sense 5h, 20h/00h)"
        );
    }

    /// A device may send anything.
    #[test]
    fn no_bytes_are_too_few_or_too_strange() {
        let mut random = units::random::Random::new(1, 2);
        for _ in 0..20_000 {
            let length = random.below(40) as usize;
            let mut bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
            if let Some(first) = bytes.first_mut().filter(|_| !length.is_multiple_of(4)) {
                *first = 0x70 + *first % 4;
            }
            let text = Sense::decode(&bytes).map(|sense| sense.to_string());
            assert!(text.is_none_or(|text| text.contains("(sense ")));
        }
        assert_eq!(Sense::decode(&[]), None);
        assert_eq!(Sense::decode(&[0x7f, 1, 2]), None);
    }
}

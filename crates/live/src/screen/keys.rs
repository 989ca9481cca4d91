//! Parses key presses from the bytes of a terminal.

/// Commands bound to keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScreenKey {
    Quit,
    Pause,
    Longer,
    Shorter,
    Next,
    Previous,
    All,
    Help,
    /// Any other key.
    Other,
}

/// Parses the bytes of one read. An escape sequence that arrives in two reads is lost, which is rare.
pub(super) fn read(mut bytes: &[u8]) -> Vec<ScreenKey> {
    let mut keys = Vec::new();
    while let Some((key, length)) = first(bytes) {
        keys.push(key);
        bytes = &bytes[length..];
    }
    keys
}

fn first(bytes: &[u8]) -> Option<(ScreenKey, usize)> {
    if let [0x1b, b'[' | b'O', rest @ ..] = bytes {
        // Parameters, then the byte of the key.
        let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte)).unwrap_or(rest.len());
        let key = match rest.get(end) {
            Some(b'A' | b'D' | b'Z') => ScreenKey::Previous,
            Some(b'B' | b'C') => ScreenKey::Next,
            Some(b'H') => ScreenKey::All,
            _ => ScreenKey::Other,
        };
        return Some((key, (2 + end + 1).min(bytes.len())));
    }
    let key = match bytes.first()? {
        b'q' | b'Q' | 3 => ScreenKey::Quit,
        b' ' | b'p' | b'P' => ScreenKey::Pause,
        b'-' | b'_' => ScreenKey::Longer,
        b'+' | b'=' => ScreenKey::Shorter,
        b'\t' | b'j' | b'l' => ScreenKey::Next,
        b'k' | b'h' => ScreenKey::Previous,
        b'a' | b'0' | 0x1b => ScreenKey::All,
        b'?' => ScreenKey::Help,
        _ => ScreenKey::Other,
    };
    Some((key, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_arrow_sequences_are_distinguished() {
        use ScreenKey::{All, Help, Longer, Next, Other, Pause, Previous, Quit, Shorter};
        assert_eq!(read(b"q p+-?x"), [Quit, Pause, Pause, Shorter, Longer, Help, Other]);
        assert_eq!(read(b"\x1b[A\x1bOB\x1b[1;5Cq\x1b[Z\t"), [Previous, Next, Next, Quit, Previous, Next]);
        assert_eq!((read(b"\x1b"), read(b"\x1b["), read(b"")), (vec![All], vec![Other], vec![]));
        assert_eq!(read(b"\x1b[5~\xff"), [Other, Other]);
    }
}

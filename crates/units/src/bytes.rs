//! Sizes in bytes, printed in binary or in decimal units.

use std::fmt;

use crate::text::significant;

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    pub const ZERO: Self = Self(0);
    /// 1024 bytes.
    pub const KIB: u64 = 1 << 10;
    /// 1024 KiB.
    pub const MIB: u64 = 1 << 20;
    /// 1024 MiB.
    pub const GIB: u64 = 1 << 30;

    /// Creates `n` bytes.
    #[must_use]
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// Returns the number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Formats in decimal units (`98.7 MB`), for comparison with vendors' figures.
    #[must_use]
    pub fn decimal(self) -> String {
        scaled(self.0, 1000.0, ["B", "kB", "MB", "GB", "TB", "PB", "EB"])
    }
}

/// Binary units: `4 KiB`, `94.1 MiB`. Whole numbers have no decimals.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&scaled(self.0, 1024.0, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]))
    }
}

fn scaled(n: u64, step: f64, units: [&str; 7]) -> String {
    let (mut value, mut unit) = (n as f64, 0);
    while value >= step && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    if value.fract() == 0.0 {
        format!("{value} {}", units[unit])
    } else {
        format!("{} {}", significant(value, 3), units[unit])
    }
}

/// Parses a block size from 512 bytes to 1 GiB in the syntax of job options: `4k`, `128k`, `1m`, `4096`.
#[must_use]
pub fn block_bytes(text: &str) -> Option<u32> {
    let text = text.trim().to_ascii_lowercase();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let factor = match text[end..].trim_end_matches("ib").trim_end_matches('b') {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return None,
    };
    let bytes = text[..end].parse::<u32>().ok()?.checked_mul(factor)?;
    (512..=1 << 30).contains(&bytes).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_and_decimal_units_differ() {
        assert_eq!(Bytes::new(4096).to_string(), "4 KiB");
        assert_eq!(Bytes::new(98_700_000).to_string(), "94.1 MiB");
        assert_eq!(Bytes::new(98_700_000).decimal(), "98.7 MB");
        assert_eq!(Bytes::new(1023).to_string(), "1023 B");
        assert_eq!(Bytes::new(u64::MAX).to_string(), "16 EiB");
    }

    #[test]
    fn sizes_have_the_syntax_of_job_options() {
        let sizes = [("4k", Some(4096)), ("1M", Some(1 << 20)), ("128KiB", Some(131_072)), ("4q", None), ("1", None)];
        for (text, size) in sizes.into_iter().chain([("", None), ("4294967295g", None)]) {
            assert_eq!(block_bytes(text), size, "{text}");
        }
    }
}

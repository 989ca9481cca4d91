//! Sizes in bytes, printed in binary or in decimal units.

use std::fmt;

use crate::text::significant;

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Zero bytes.
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
}

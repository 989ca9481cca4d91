//! Number formats of fio's normal output.

/// Formats `value` with at most `figures` digits and a suffix: `1999`, `49.7k`, `12.2G`.
///
/// Integers that fit are unchanged. Others are divided by `base` until their integer part fits, with as many decimals
/// as there is space for before rounding: 9.996 becomes `10.00`. Only the last division's remainder counts. Without
/// decimals, halves are rounded up; with decimals, the binary fraction is rounded.
pub(super) fn short(value: u64, figures: usize, base: u64, suffixes: [&str; 7]) -> String {
    let (mut whole, mut remainder, mut suffix) = (value, 0, 0);
    while digits(whole) > figures && suffix + 1 < suffixes.len() {
        (whole, remainder) = (whole / base, whole % base);
        suffix += 1;
    }
    let decimals = if suffix == 0 { 0 } else { figures.saturating_sub(digits(whole) + 1) };
    let unit = suffixes[suffix];
    if decimals == 0 {
        return format!("{}{unit}", whole + u64::from(2 * remainder >= base));
    }
    format!("{:.decimals$}{unit}", whole as f64 + remainder as f64 / base as f64)
}

fn digits(n: u64) -> usize {
    n.checked_ilog10().map_or(1, |log| log as usize + 1)
}

const BINARY: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const DECIMAL: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
const COUNT: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// Formats a count: `2317k`.
pub(crate) fn count(value: u64) -> String {
    short(value, 4, 1000, COUNT)
}

/// Formats a count with up to six digits: `3597.3k`.
pub(super) fn long_count(value: u64) -> String {
    short(value, 6, 1000, COUNT)
}

/// Units of sizes and bandwidths in a job's output.
#[derive(Clone, Copy)]
pub(super) struct SizeStyle {
    /// Whether decimal units come first (`kb_base=1000`).
    pub(super) decimal: bool,
    /// Whether bandwidths are in bits (`unit_base=1`).
    pub(super) bits: bool,
    /// Significant figures (`significant_figures`).
    pub(super) figures: usize,
}

impl SizeStyle {
    /// Formats a count.
    pub(super) fn count(self, value: u64) -> String {
        short(value, self.figures, 1000, COUNT)
    }

    fn binary(self, bytes: u64) -> String {
        short(bytes, self.figures, 1024, BINARY)
    }

    fn decimal(self, bytes: u64) -> String {
        short(bytes, self.figures, 1000, DECIMAL)
    }

    /// Formats a size in the first kind of units.
    pub(super) fn size(self, bytes: u64) -> String {
        if self.decimal { self.decimal(bytes) } else { self.binary(bytes) }
    }

    /// Formats a size in the second kind of units.
    pub(super) fn other_size(self, bytes: u64) -> String {
        if self.decimal { self.binary(bytes) } else { self.decimal(bytes) }
    }

    /// Formats bytes per second in both kinds of units, in order.
    pub(super) fn rates(self, bytes_per_second: u64) -> (String, String) {
        let (binary, decimal) = if self.bits {
            let bits = bytes_per_second.saturating_mul(8);
            (
                short(bits, self.figures, 1024, ["bit", "Kibit", "Mibit", "Gibit", "Tibit", "Pibit", "Eibit"]),
                short(bits, self.figures, 1000, ["bit", "kbit", "Mbit", "Gbit", "Tbit", "Pbit", "Ebit"]),
            )
        } else {
            (self.binary(bytes_per_second), self.decimal(bytes_per_second))
        };
        let (first, second) = if self.decimal { (decimal, binary) } else { (binary, decimal) };
        (format!("{first}/s"), format!("{second}/s"))
    }
}

/// Formats a size in binary units: `99.6MiB`.
pub(crate) fn binary_size(bytes: u64) -> String {
    short(bytes, 4, 1024, BINARY)
}

/// Returns the text of an error number: `Input/output error`.
pub(crate) fn error_text(errno: i32) -> String {
    if errno == 0 {
        return "Success".to_owned();
    }
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values were printed by fio 3.33, in binary and decimal units.
    #[test]
    fn sizes_are_those_of_fio() {
        let printed = [
            (999, "999B", "999B"),
            (9_999, "9999B", "9999B"),
            (10_000, "9.77KiB", "10.0kB"),
            (10_235, "10.00KiB", "10.2kB"),
            (10_240, "10.0KiB", "10.2kB"),
            (10_250, "10.0KiB", "10.2kB"),
            (10_350, "10.1KiB", "10.3kB"),
            (102_912, "101KiB", "103kB"),
            (12_635_836, "12.0MiB", "12.6MB"),
            (12_636_200, "12.1MiB", "12.6MB"),
            (12_050_000, "11.5MiB", "12.1MB"),
            (99_999, "97.7KiB", "100.0kB"),
            (102_399, "100.0KiB", "102kB"),
            (1_023_487, "999KiB", "1023kB"),
            (1_048_575, "1024KiB", "1049kB"),
            (10_239_999, "10000KiB", "10.2MB"),
            (10_240_000, "9.77MiB", "10.2MB"),
            (104_857_599, "100.0MiB", "105MB"),
            (1_500_000_000, "1431MiB", "1500MB"),
        ];
        for (bytes, binary, decimal) in printed {
            assert_eq!(
                (binary_size(bytes).as_str(), short(bytes, 4, 1000, DECIMAL).as_str()),
                (binary, decimal),
                "{bytes}"
            );
        }
    }

    #[test]
    fn counts_are_those_of_fio() {
        let printed = [(1_999, "1999"), (49_735, "49.7k"), (2_317_090, "2317k"), (100_352, "100k")];
        for (n, text) in printed {
            assert_eq!(count(n), text);
        }
        assert_eq!(long_count(837_191), "837191");
        assert_eq!(long_count(3_597_255), "3597.3k");
    }

    #[test]
    fn error_numbers_have_texts() {
        assert_eq!(error_text(0), "Success");
        assert_eq!(error_text(28), "No space left on device");
    }
}

//! Log files in fio's format.

use record::{DataKind, LogLine};

/// Columns of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogRendering {
    /// Whether lines contain the offset of the operation (`log_offset`).
    pub offset: bool,
}

/// Returns the lines of a log file: time in milliseconds, value, kind (0 for a read, 1 for a write, 2 for a trim),
/// block size, the offset if selected, and a priority that is always 0.
#[must_use]
pub fn log(lines: &[LogLine], options: LogRendering) -> String {
    lines.iter().map(|line| text(line, options)).collect()
}

fn text(line: &LogLine, options: LogRendering) -> String {
    let kind = match line.kind {
        DataKind::Read => 0,
        DataKind::Write => 1,
        DataKind::Trim => 2,
    };
    let offset = if options.offset { format!("{}, ", line.offset) } else { String::new() };
    format!("{}, {}, {kind}, {}, {offset}0\n", line.at_ms, line.value, line.block_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_fio() {
        let line = LogLine { at_ms: 7, value: 1234, kind: DataKind::Write, block_size: 4096, offset: 8192 };
        assert_eq!(log(&[line], LogRendering::default()), "7, 1234, 1, 4096, 0\n");
        assert_eq!(log(&[line], LogRendering { offset: true }), "7, 1234, 1, 4096, 8192, 0\n");
    }
}

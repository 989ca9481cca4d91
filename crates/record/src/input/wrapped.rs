//! Lines that mail programs wrapped.

use super::fio_lines::{is_header, is_of_result, is_result};

/// Words before `=` that begin no line of fio's normal output.
const KEYS: &str = "min max avg stdev samples per usr sys ctx majf minf short dropped drop total target window percentile \
                    depth io bw iops runt jobs err pid ioengine iodepth aggrb minb maxb mint maxt run";

/// Reports whether a line continues the one before it, which is of fio's normal output.
pub(super) fn continues(before: &str, line: &str) -> bool {
    let (before, line) = (before.trim(), line.trim());
    let Some((key, _)) = line.split_once('=') else { return false };
    let is_of_group = ["READ: ", "WRITE: ", "TRIM: ", "MIXED: "].iter().any(|kind| before.starts_with(kind));
    let is_of_fio = before.starts_with('|')
        || before.contains(": (g")
        || before.contains('=') && (is_of_group || is_of_result(before));
    if !is_of_fio || is_header(line) || is_result(line) {
        return false;
    }
    // A fraction of a class, `>=64=0.0%`, or a percentile, `99.95th=[15680]`.
    let is_class = line.starts_with(">=") || key.parse::<u32>().is_ok();
    let is_percentile = key.strip_suffix("th").is_some_and(|percent| percent.parse::<f64>().is_ok());
    match before.starts_with('|') {
        true => is_percentile,
        false => is_class && line.contains('%') || KEYS.split(' ').any(|known| known == key),
    }
}

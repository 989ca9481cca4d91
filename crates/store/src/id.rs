//! IDs of runs, which sort by time and can be pronounced.

use std::path::Path;

use record::RunKind;

const LABEL_LENGTH: usize = 24;

/// Returns an ID without a folder in `root`: start in UTC, kind, name, and four digits from `salt`.
pub(crate) fn unused(root: &Path, kind: RunKind, name: &str, started_unix_ms: u64, salt: u32) -> String {
    let stem = format!("{}-{kind}-{}", utc(started_unix_ms), label(name));
    let numbers = (0..).map(|step| salt.wrapping_add(step));
    let low_digits = numbers.take(1 << 16).map(|number| format!("{stem}-{:04x}", number & 0xffff));
    // More than 65,536 runs of one name in one second are practically impossible; they get longer digits.
    let more_digits = (0..).map(|number: u64| format!("{stem}-1{number:04x}"));
    low_digits.chain(more_digits).find(|id| !root.join(id).exists()).unwrap_or(stem)
}

pub(crate) const SERIES: &str = "-series-";

/// Returns a name for repeats of the same jobs: start of the first in UTC, subject, and four digits from `salt`.
#[must_use]
pub fn series_name(name: &str, started_unix_ms: u64, salt: u32) -> String {
    format!("{}{SERIES}{}-{:04x}", utc(started_unix_ms), label(name), salt & 0xffff)
}

/// Returns a name for a run on many hosts: its start in UTC, and four digits from `salt`.
#[must_use]
pub fn fleet_name(started_unix_ms: u64, salt: u32) -> String {
    format!("{}-fleet-{:04x}", utc(started_unix_ms), salt & 0xffff)
}

/// Reports whether a name has the form of an ID, so that nothing else is taken for a run.
pub(crate) fn is_id(name: &str) -> bool {
    let shape = b"0000-00-00T00-00-00-";
    let like = |(shape, byte): (&u8, u8)| if *shape == b'0' { byte.is_ascii_digit() } else { *shape == byte };
    name.len() > shape.len() && shape.iter().zip(name.bytes()).all(like)
}

fn utc(unix_ms: u64) -> String {
    let instant = i64::try_from(unix_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    // Times after the year 9999 come from a broken clock.
    instant.unwrap_or(jiff::Timestamp::UNIX_EPOCH).strftime("%Y-%m-%dT%H-%M-%S").to_string()
}

/// Returns the letters and digits of a name, with a dash in place of anything else.
fn label(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let label: String = words.collect::<Vec<_>>().join("-").chars().take(LABEL_LENGTH).collect();
    let label = label.trim_end_matches('-');
    if label.is_empty() { "unnamed".to_owned() } else { label.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_contain_time_and_name() {
        let root = tempfile::tempdir().unwrap();
        let id = |name| unused(root.path(), RunKind::Run, name, 1_795_294_384_000, 0x3f2a);
        assert_eq!(id("HyperDisk"), "2026-11-21T20-53-04-run-hyperdisk-3f2a");
        assert_eq!(id("/tmp/a b/größe.fio"), "2026-11-21T20-53-04-run-tmp-a-b-gr-e-fio-3f2a");
        assert_eq!(id("日本"), "2026-11-21T20-53-04-run-unnamed-3f2a");
        std::fs::create_dir(root.path().join(id("x"))).unwrap();
        assert_eq!(id("x"), "2026-11-21T20-53-04-run-x-3f2b");
        assert!(is_id(&id("x")));
        assert!(!is_id("2026-11-21"));
        assert!(!is_id("2026-11-21T20-53-O4-run-x-3f2a"));
        assert_eq!(utc(u64::MAX), "1970-01-01T00-00-00");
    }
}

//! Reads small files of `/proc` and `/sys`, with a reason if that fails.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use record::host::{Reading, UnreadCause, UnreadFact};

/// Maximum bytes read. No such file is larger: `/proc/interrupts` of the largest hosts has a quarter of it.
const MAX_BYTES: u64 = 4 << 20;

/// Number of characters shown of unexpected content.
const SHOWN_CHARS: usize = 24;

/// Returns why a value could not be read; `path` is relative to the root of the host.
pub(super) fn unread(path: &str, why: UnreadCause) -> UnreadFact {
    UnreadFact { path: Path::new("/").join(path).to_string_lossy().into_owned(), why }
}

/// Returns the error for content that is not of the expected form.
pub(super) fn foreign(path: &str, text: &str) -> UnreadFact {
    let shown: String = text.trim().chars().filter(|c| !c.is_control()).take(SHOWN_CHARS).collect();
    unread(path, UnreadCause::Foreign(shown))
}

fn refused(path: &str, error: &std::io::Error) -> UnreadFact {
    let why = match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => UnreadCause::Missing,
        ErrorKind::PermissionDenied => UnreadCause::Denied,
        _ => UnreadCause::Failed(error.to_string().split(" (os error").next().unwrap_or_default().to_owned()),
    };
    unread(path, why)
}

/// Resolves a path of the host below `root`, following links that do not lead out of it.
pub(super) fn resolve(root: &Path, path: &str) -> Reading<PathBuf> {
    let refused = |error: std::io::Error| self::refused(path, &error);
    let home = root.canonicalize().map_err(refused)?;
    let place = home.join(path).canonicalize().map_err(refused)?;
    if place.starts_with(&home) { Ok(place) } else { Err(unread(path, UnreadCause::Outside)) }
}

/// Reads a file as text, trimmed. Bytes that are not UTF-8 are replaced.
pub(super) fn text(root: &Path, path: &str) -> Reading<String> {
    let text = String::from_utf8_lossy(&bytes(root, path)?).trim().to_owned();
    if text.is_empty() { Err(unread(path, UnreadCause::Empty)) } else { Ok(text) }
}

/// Reads the bytes of a file.
pub(super) fn bytes(root: &Path, path: &str) -> Reading<Vec<u8>> {
    let place = resolve(root, path)?;
    let refused = |error: std::io::Error| self::refused(path, &error);
    if !place.metadata().map_err(refused)?.is_file() {
        return Err(unread(path, UnreadCause::Foreign("not a file".to_owned())));
    }
    let mut bytes = Vec::new();
    File::open(place).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes)).map_err(refused)?;
    Ok(bytes)
}

/// Reads the first line of a file.
pub fn line(root: &Path, path: &str) -> Reading<String> {
    text(root, path).map(|text| text.lines().next().unwrap_or_default().trim().to_owned())
}

/// Reads a file with one number.
pub(super) fn number<T: std::str::FromStr>(root: &Path, path: &str) -> Reading<T> {
    let line = line(root, path)?;
    line.parse().map_err(|_| foreign(path, &line))
}

/// Reads a file with a list of CPUs or nodes, such as `0-3,8`.
pub(super) fn list(root: &Path, path: &str) -> Reading<Vec<u32>> {
    let line = line(root, path)?;
    parse_list(&line).ok_or_else(|| foreign(path, &line))
}

/// Reads the sorted names in a directory.
pub fn names(root: &Path, path: &str) -> Reading<Vec<String>> {
    let refused = |error: std::io::Error| self::refused(path, &error);
    let entries = std::fs::read_dir(resolve(root, path)?).map_err(refused)?;
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// Maximum number of CPUs; no kernel supports more.
const MAX_CPUS: u32 = 1 << 16;

/// Parses `0-3,8` or `0, 1, 2`. Returns `None` for other text and for absurdly large numbers.
pub(super) fn parse_list(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last >= MAX_CPUS {
            return None;
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors() {
        assert_eq!(parse_list("0-2,5, 7"), Some(vec![0, 1, 2, 5, 7]));
        assert_eq!(parse_list(""), Some(vec![]));
        for bad in ["x", "3-1", "0-4294967295", "-", "1-"] {
            assert_eq!(parse_list(bad), None, "{bad}");
        }
    }
}

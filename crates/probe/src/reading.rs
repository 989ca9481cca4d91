//! Small files of `/proc` and `/sys`, read with the reason where they cannot be.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// A value, or the reason why it could not be read.
pub type Reading<T> = Result<T, UnreadFile>;

/// A figure that the host does not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadFile {
    /// The file that would tell, as the host calls it.
    pub path: PathBuf,
    /// Why it does not.
    pub why: UnreadReason,
}

/// Reason why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnreadReason {
    /// There is none of that name.
    Missing,
    /// This user may not read it.
    Denied,
    /// There is nothing in it.
    Empty,
    /// It holds something else than it should; this is its beginning.
    Foreign(String),
    /// It leads out of the directory that stands for the host.
    Outside,
    /// The system's refusal.
    Failed(String),
}

/// No such file is larger than this: `/proc/interrupts` of the largest hosts is a quarter of it.
const MOST_BYTES: u64 = 4 << 20;

/// Characters of a foreign text that are worth showing.
const SHOWN: usize = 24;

impl UnreadFile {
    pub(super) fn new(path: &str, why: UnreadReason) -> Self {
        Self { path: Path::new("/").join(path), why }
    }

    pub(super) fn foreign(path: &str, text: &str) -> Self {
        let shown: String = text.trim().chars().filter(|c| !c.is_control()).take(SHOWN).collect();
        Self::new(path, UnreadReason::Foreign(shown))
    }

    fn refused(path: &str, error: &std::io::Error) -> Self {
        let why = match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => UnreadReason::Missing,
            ErrorKind::PermissionDenied => UnreadReason::Denied,
            _ => UnreadReason::Failed(error.to_string().split(" (os error").next().unwrap_or_default().to_owned()),
        };
        Self::new(path, why)
    }
}

/// The place of a file of the host below `root`, links followed; none of them leads out of it.
pub(super) fn place(root: &Path, path: &str) -> Reading<PathBuf> {
    let refused = |error: std::io::Error| UnreadFile::refused(path, &error);
    let home = root.canonicalize().map_err(refused)?;
    let place = home.join(path).canonicalize().map_err(refused)?;
    if place.starts_with(&home) { Ok(place) } else { Err(UnreadFile::new(path, UnreadReason::Outside)) }
}

/// All of a file, blanks around it removed. Bytes that are no text are shown as such.
pub(super) fn text(root: &Path, path: &str) -> Reading<String> {
    let text = String::from_utf8_lossy(&bytes(root, path)?).trim().to_owned();
    if text.is_empty() { Err(UnreadFile::new(path, UnreadReason::Empty)) } else { Ok(text) }
}

/// All of a file as it is.
pub(super) fn bytes(root: &Path, path: &str) -> Reading<Vec<u8>> {
    let place = place(root, path)?;
    let refused = |error: std::io::Error| UnreadFile::refused(path, &error);
    if !place.metadata().map_err(refused)?.is_file() {
        return Err(UnreadFile::new(path, UnreadReason::Foreign("not a file".to_owned())));
    }
    let mut bytes = Vec::new();
    File::open(place).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes)).map_err(refused)?;
    Ok(bytes)
}

/// The first line of a file.
pub fn line(root: &Path, path: &str) -> Reading<String> {
    text(root, path).map(|text| text.lines().next().unwrap_or_default().trim().to_owned())
}

/// A file that holds one number.
pub(super) fn number<T: std::str::FromStr>(root: &Path, path: &str) -> Reading<T> {
    let line = line(root, path)?;
    line.parse().map_err(|_| UnreadFile::foreign(path, &line))
}

/// A file that holds a list of processors or nodes: `0-3,8`.
pub(super) fn list(root: &Path, path: &str) -> Reading<Vec<u32>> {
    let line = line(root, path)?;
    parse_list(&line).ok_or_else(|| UnreadFile::foreign(path, &line))
}

/// The names in a directory, in order.
pub fn names(root: &Path, path: &str) -> Reading<Vec<String>> {
    let refused = |error: std::io::Error| UnreadFile::refused(path, &error);
    let entries = std::fs::read_dir(place(root, path)?).map_err(refused)?;
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// More than any kernel is built for.
const MOST_CPUS: u32 = 1 << 16;

/// `0-3,8` or `0, 1, 2`; `None` where it is neither, or of absurd size.
pub(super) fn parse_list(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last >= MOST_CPUS {
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

//! Builds an initramfs in memory: a cpio archive ("newc").

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

const DIRECTORY: u32 = 0o040_755;
const LINK: u32 = 0o120_777;
const FILE: u32 = 0o100_000;

/// An archive under construction. Parent directories are added automatically.
#[derive(Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    names: BTreeSet<String>,
}

impl Archive {
    pub(super) fn directory(&mut self, path: &str) {
        self.add(path, DIRECTORY, &[]);
    }

    pub(super) fn link(&mut self, path: &str, target: &str) {
        self.add(path, LINK, target.as_bytes());
    }

    pub(super) fn file(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.add(path, FILE | mode, content);
    }

    /// Adds a file of this host with its mode.
    pub(super) fn copy(&mut self, path: &str, from: &Path) -> Result<()> {
        let content = std::fs::read(from).with_context(|| format!("reading {}", from.display()))?;
        let mode = std::fs::metadata(from)?.permissions().mode() & 0o777;
        self.file(path, mode, &content);
        Ok(())
    }

    /// Adds a program of this host as `/bin/NAME` and the shared libraries it needs.
    pub(super) fn program(&mut self, name: &str, from: &Path) -> Result<()> {
        self.copy(&format!("bin/{name}"), from)?;
        for library in libraries(from)? {
            let path = library.to_string_lossy();
            self.copy(path.trim_start_matches('/'), &library)?;
        }
        Ok(())
    }

    /// Returns the archive with its trailer.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    /// Adds an entry, unless the name exists.
    fn add(&mut self, path: &str, mode: u32, content: &[u8]) {
        if let Some((parent, _)) = path.rsplit_once('/')
            && !self.names.contains(parent)
        {
            self.directory(parent);
        }
        if self.names.insert(path.to_owned()) {
            self.entry(path, mode, content);
        }
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        let links = 1;
        let fields = [self.names.len(), mode as usize, 0, 0, links, 0, content.len(), 0, 0, 0, 0, path.len() + 1, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

/// Returns the shared libraries of a program, as its loader finds them; none of a static program.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("ldd").arg(program).output().context("running ldd")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(!text.contains("not found"), "{} lacks a shared library:\n{text}", program.display());
    let paths = text.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(paths.map(|word| PathBuf::from(word.trim_end_matches(':'))).filter(|path| path != program).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_its_parents_its_mode_and_its_padding() {
        let mut archive = Archive::default();
        archive.file("a/b/name", 0o644, b"12345");
        archive.file("a/b/name", 0o600, b"a second time");
        archive.link("a/link", "b/name");
        let bytes = archive.finish();
        let text = String::from_utf8(bytes.clone()).expect("text only");
        let headers: Vec<&str> = text.match_indices("070701").map(|(at, _)| &text[at..at + 110]).collect();
        let modes: Vec<&str> = headers.iter().map(|header| &header[14..22]).collect();
        assert_eq!(modes, ["000041ED", "000041ED", "000081A4", "0000A1FF", "00000000"], "{text}");
        assert_eq!(&headers[2][54..62], "00000005");
        assert!(bytes.len().is_multiple_of(4) && text.contains("name\0\x0012345\0\0\0"), "{text:?}");
    }
}

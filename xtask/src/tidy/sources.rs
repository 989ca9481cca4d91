//! The source files of the project, parsed once for all rules.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// One source file.
pub(super) struct SourceFile {
    /// Path relative to the project's directory.
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) file: syn::File,
    /// Whether the file contains only tests.
    pub(super) is_test: bool,
}

impl SourceFile {
    /// Parses a file.
    pub(super) fn parse(path: PathBuf, text: &str) -> Result<Self> {
        let file = syn::parse_file(text).with_context(|| format!("parsing {}", path.display()))?;
        let is_test = path.components().any(|part| part.as_os_str() == "tests")
            || path.file_name().is_some_and(|name| name == "tests.rs");
        Ok(Self { path, text: text.to_owned(), file, is_test })
    }

    /// Returns the crate of a source file and its module path; `None` for files outside of `src`.
    pub(super) fn module(&self) -> Option<(&str, Vec<String>)> {
        let parts: Vec<&str> = self.path.components().filter_map(|part| part.as_os_str().to_str()).collect();
        let at = parts.iter().position(|part| *part == "src")?;
        let name = parts.get(at.checked_sub(1)?)?;
        let mut module: Vec<String> =
            parts[at + 1..].iter().map(|part| part.trim_end_matches(".rs").to_owned()).collect();
        if module.last().is_some_and(|last| last == "mod") || module == ["lib"] || module == ["main"] {
            module.pop();
        }
        Some((name, module))
    }
}

/// Reports whether attributes mark an item as a test.
pub(super) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string().contains("test"),
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::NameValue(_) => false,
    })
}

/// Reads every Rust source file of the crates and of xtask, in a fixed order.
pub(super) fn read(root: &Path) -> Result<Vec<SourceFile>> {
    let files = files(root, &["crates", "xtask"], &["rs"])?;
    files.into_iter().map(|path| SourceFile::parse(path.clone(), &std::fs::read_to_string(root.join(&path))?)).collect()
}

/// Returns the files below some directories that have one of some extensions, in a fixed order.
pub(super) fn files(root: &Path, directories: &[&str], extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut pending: Vec<PathBuf> = directories.iter().map(|directory| root.join(directory)).collect();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "target") {
                let entries = std::fs::read_dir(&path).with_context(|| format!("reading {}", path.display()))?;
                for entry in entries {
                    pending.push(entry?.path());
                }
            }
        } else if path.extension().is_some_and(|ending| extensions.iter().any(|known| ending == *known)) {
            found.push(path.strip_prefix(root).unwrap_or(&path).to_path_buf());
        }
    }
    found.sort();
    Ok(found)
}

//! The house rules, as checks that say what to do instead.

mod edges;
mod sizes;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Checks every rule and tells all that is broken.
pub(crate) fn run() -> Result<()> {
    let root = root()?;
    let sources = sources(&root)?;
    let mut complaints = edges::check(&root)?;
    complaints.extend(sizes::check(&root, &sources)?);
    complaints.extend(words(&root, &sources)?);
    for complaint in &complaints {
        eprintln!("tidy: {complaint}");
    }
    if complaints.is_empty() {
        println!("tidy: {} source files, nothing to complain about", sources.len());
        return Ok(());
    }
    bail!("{} complaints", complaints.len())
}

/// The top folder of the project.
pub(crate) fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(here.parent().context("xtask lies in the project's folder")?.to_path_buf())
}

/// Every Rust source file of the crates and of xtask, in a fixed order.
fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.join("crates"), root.join("xtask")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Words that must not stand in sources, and what to write instead. They are put together here so that this file
/// does not hold them itself.
fn words(root: &Path, sources: &[PathBuf]) -> Result<Vec<String>> {
    let banned = [
        (["to", "do!("].concat(), "finish it, or leave it out and say so in the change log"),
        (["unimpl", "emented!("].concat(), "finish it, or leave it out and say so in the change log"),
        (["FIX", "ME"].concat(), "mend it now, or open an issue"),
        (["db", "g!("].concat(), "remove it"),
    ];
    let mut complaints = Vec::new();
    for path in sources {
        let text = std::fs::read_to_string(path)?;
        for (number, line) in text.lines().enumerate() {
            for (word, instead) in &banned {
                if line.contains(word.as_str()) {
                    complaints.push(format!("{}:{}: `{word}`: {instead}", relative(root, path), number + 1));
                }
            }
        }
    }
    Ok(complaints)
}

/// `path` as seen from the project's folder.
pub(crate) fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

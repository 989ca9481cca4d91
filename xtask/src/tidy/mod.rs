//! Checks the rules of the project.

mod circles;
mod dead;
mod edges;
mod features;
mod licences;
mod names;
mod sizes;
mod sources;
mod twins;
mod words;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use sources::SourceFile;

/// Checks every rule, prints figures, and reports all violations. With `lists`, prints what a reader has to judge too.
pub(crate) fn run(lists: bool) -> Result<()> {
    let root = root()?;
    let sources = sources::read(&root)?;
    let sizes = sizes::check(&sources);
    let (crates, edges) = edges::count(&root)?;
    println!(
        "tidy: {} crates, {edges} edges; {} files, {} lines, {} lines of tests ({:.2} of them)",
        crates.len(),
        sources.len(),
        sizes.lines,
        sizes.test_lines,
        sizes.test_lines as f64 / sizes.lines as f64,
    );
    let to_judge = [
        ("types that share variants or fields", twins::find(&sources)),
        ("long functions", sizes.long_functions),
        ("long files", sizes.long_files),
        ("small files", sizes.small_files),
    ];
    for (what, found) in &to_judge {
        println!("tidy: {} {what}{}", found.len(), if lists { ":" } else { "" });
        found.iter().filter(|_| lists).for_each(|line| println!("    {line}"));
    }

    let mut complaints = edges::check(&root)?;
    complaints.extend(features::check(&root, &crates)?);
    complaints.extend(licences::check(&root)?);
    complaints.extend(sizes.complaints);
    complaints.extend(unfinished(&sources));
    complaints.extend(dead::functions(&sources));
    let circles = circles::find(&sources);
    complaints.extend(circles.iter().map(|(circle, ties)| format!("circle of modules: {circle}: {}", ties.join(", "))));
    complaints.extend(banned_words(&root, &sources)?);
    complaints.extend(names::banned(&sources));
    complaints.extend(words::habits(&sources));
    for complaint in &complaints {
        eprintln!("tidy: {complaint}");
    }
    if complaints.is_empty() { Ok(()) } else { bail!("{} complaints", complaints.len()) }
}

/// Prints every string that a user can read, with its place.
pub(crate) fn words() -> Result<()> {
    words::print(&root()?)
}

/// Returns the top directory of the project.
pub(crate) fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(here.parent().context("xtask is in the project's directory")?.to_path_buf())
}

/// Returns the places of markers of unfinished work. They are concatenated here, so that this file does not contain
/// them.
fn unfinished(sources: &[SourceFile]) -> Vec<String> {
    let banned = [
        (["to", "do!("].concat(), "finish it, or leave it out and say so in the change log"),
        (["unimpl", "emented!("].concat(), "finish it, or leave it out and say so in the change log"),
        (["FIX", "ME"].concat(), "mend it now, or open an issue"),
        (["db", "g!("].concat(), "remove it"),
    ];
    let mut found = Vec::new();
    for source in sources {
        for (number, line) in source.text.lines().enumerate() {
            let words = banned.iter().filter(|(word, _)| line.contains(word.as_str()));
            found.extend(
                words.map(|(word, instead)| format!("{}:{}: `{word}`: {instead}", source.path.display(), number + 1)),
            );
        }
    }
    found
}

/// Returns the uses of banned words and outdated phrases in sources, documents and generated pages.
fn banned_words(root: &Path, sources: &[SourceFile]) -> Result<Vec<String>> {
    let mut found: Vec<String> =
        sources.iter().flat_map(|source| names::banned_in(&source.path.display().to_string(), &source.text)).collect();
    let mut pages = Vec::new();
    let documents = ["docs", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    for path in sources::files(root, &documents, &["md", "html", "txt"])? {
        let text = std::fs::read_to_string(root.join(&path)).unwrap_or_default();
        found.extend(names::banned_in(&path.display().to_string(), &text));
        pages.push((path.display().to_string(), text));
    }
    found.extend(words::outdated(sources, &pages));
    Ok(found)
}

/// Returns `path` relative to the project's directory.
pub(crate) fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_work_is_reported() {
        let text = format!("fn f() {{ {}) }}", ["to", "do!("].concat());
        let source = SourceFile::parse("crates/a/src/b.rs".into(), &text).unwrap();
        assert!(unfinished(&[source])[0].starts_with("crates/a/src/b.rs:1: "));
    }
}

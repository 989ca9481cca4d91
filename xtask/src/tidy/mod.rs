//! Checks the rules of the project.

mod circles;
mod dead;
mod edges;
mod licences;
mod names;
mod sizes;
mod sources;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use sources::SourceFile;

/// Permitted cycles between sibling modules.
const CYCLES_MAX: usize = 0;
/// Permitted percentage of type definitions with a repeated name. The number only decreases.
const REPEATED_PERCENT_MAX: usize = 1;
/// Permitted lines of `cli` without tests: it only reads arguments, prints and composes.
const CLI_LINES_MAX: usize = 7_000;
/// Permitted uses of banned words and of banned type names.
const BANNED_WORDS_MAX: usize = 0;
const BANNED_NAMES_MAX: usize = 0;

/// Checks every rule, prints figures, and reports all violations.
pub(crate) fn run() -> Result<()> {
    let root = root()?;
    let sources = sources::read(&root)?;
    let mut complaints = edges::check(&root)?;
    complaints.extend(licences::check(&root)?);
    let sizes = sizes::check(&sources);
    let circles = circles::find(&sources);
    let (types, repeated) = names::repeated(&sources);
    let (crates, edges) = edges::count(&root)?;
    let repeats: usize = repeated.values().sum();
    let repeated_percent = repeats * 100 / types.max(1);
    let words = banned_words(&root, &sources)?;
    let banned = names::banned(&sources);
    println!(
        "tidy: {crates} crates, {edges} edges; {} files, {} lines ({} of cli), {} lines of tests ({:.2} of them)",
        sources.len(),
        sizes.lines,
        sizes.cli_lines,
        sizes.test_lines,
        sizes.test_lines as f64 / sizes.lines as f64,
    );
    println!(
        "tidy: {} circles, {repeated_percent} % repeated type names ({repeats} of {types}), {} of {} functions over {} \
         lines, {} banned words, {} banned names",
        circles.len(),
        sizes.long.len(),
        sizes.functions,
        sizes::FUNCTION_LINES,
        words.len(),
        banned.len(),
    );
    complaints.extend(sizes.complaints);
    if sizes.cli_lines > CLI_LINES_MAX {
        complaints.push(format!(
            "cli has {} lines without tests, {CLI_LINES_MAX} at most: move what is not about the command line",
            sizes.cli_lines
        ));
    }
    complaints.extend(unfinished(&sources));
    complaints.extend(dead::functions(&sources));
    let with_ties = |(circle, ties): &(String, Vec<String>)| format!("{circle}: {}", ties.join(", "));
    let circles: Vec<String> = circles.iter().map(with_ties).collect();
    complaints.extend(beyond(CYCLES_MAX, "circles of sibling modules", &circles));
    complaints.extend(beyond(BANNED_WORDS_MAX, "banned words", &words));
    complaints.extend(beyond(BANNED_NAMES_MAX, "banned type names", &banned));
    if repeated_percent > REPEATED_PERCENT_MAX {
        let names: Vec<String> = repeated.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        complaints.push(format!(
            "{repeated_percent} % of type names are repeated, {REPEATED_PERCENT_MAX} % at most: {}",
            names.join(", ")
        ));
    }
    for complaint in &complaints {
        eprintln!("tidy: {complaint}");
    }
    if complaints.is_empty() { Ok(()) } else { bail!("{} complaints", complaints.len()) }
}

/// Returns all findings if there are more than permitted.
fn beyond(max: usize, what: &str, found: &[String]) -> Vec<String> {
    if found.len() <= max {
        return Vec::new();
    }
    std::iter::once(format!("{} {what}, {max} at most:", found.len())).chain(found.iter().cloned()).collect()
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

/// Returns the uses of banned words in sources, documents and generated pages.
fn banned_words(root: &Path, sources: &[SourceFile]) -> Result<Vec<String>> {
    let mut found: Vec<String> =
        sources.iter().flat_map(|source| names::banned_in(&source.path.display().to_string(), &source.text)).collect();
    let documents = ["docs", "man", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    for path in sources::files(root, &documents, &["md", "1", "5", "7", "html", "txt"])? {
        let text = std::fs::read_to_string(root.join(&path)).unwrap_or_default();
        found.extend(names::banned_in(&path.display().to_string(), &text));
    }
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
    fn findings_beyond_the_limit_are_all_reported() {
        let found = ["a".to_owned(), "b".to_owned()];
        assert!(beyond(2, "things", &found).is_empty());
        assert_eq!(beyond(1, "things", &found), ["2 things, 1 at most:", "a", "b"]);
    }

    #[test]
    fn unfinished_work_is_reported() {
        let text = format!("fn f() {{ {}) }}", ["to", "do!("].concat());
        let source = SourceFile::parse("crates/a/src/b.rs".into(), &text).unwrap();
        assert!(unfinished(&[source])[0].starts_with("crates/a/src/b.rs:1: "));
    }
}

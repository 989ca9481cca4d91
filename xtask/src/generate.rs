//! Files that are made from the code: written, or checked to be up to date.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::tidy::{relative, root};

/// Writes the generated files; with `check`, only compares them.
pub(crate) fn run(check: bool) -> Result<()> {
    let root = root()?;
    let mut files = vec![("docs/options.md".to_owned(), job::docs::options_markdown())];
    for (shell, name) in [("bash", "fathom.bash"), ("zsh", "_fathom"), ("fish", "fathom.fish")] {
        files.push((format!("completions/{name}"), own_words(&root, &["completions", shell])?));
    }
    files.push(("docs/findings.md".to_owned(), own_words(&root, &["explain", "--findings"])?));
    files.push(("docs/doctor.md".to_owned(), own_words(&root, &["doctor", "--checks"])?));
    files.push(("docs/suites.md".to_owned(), own_words(&root, &["suite", "list", "--format", "md"])?));
    let mut stale = Vec::new();
    for (name, text) in files {
        let path = root.join(&name);
        if std::fs::read_to_string(&path).is_ok_and(|known| known == text) {
            continue;
        }
        stale.push(relative(&root, &path));
        if !check {
            std::fs::create_dir_all(path.parent().context("every generated file has a folder")?)?;
            std::fs::write(&path, text)?;
        }
    }
    match (check, stale.is_empty()) {
        (_, true) => println!("generate: everything is up to date"),
        (false, false) => println!("generate: wrote {}", stale.join(", ")),
        (true, false) => bail!("out of date: {}: run `cargo xtask generate` and commit", stale.join(", ")),
    }
    Ok(())
}

/// What the binary itself says, so that completions and arguments, or pages and checks, cannot differ.
fn own_words(root: &Path, words: &[&str]) -> Result<String> {
    let output = Command::new("cargo")
        .args(["run", "--quiet", "--bin", "fathom", "--"])
        .args(words)
        .current_dir(root)
        .output()?;
    ensure!(output.status.success(), "fathom {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

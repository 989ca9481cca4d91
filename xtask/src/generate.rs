//! Writes the files that are generated from the code, or checks that they are up to date.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use units::{ProblemClass, ProblemCode};

use crate::bpf;
use crate::compatibility;
use crate::pages;
use crate::tidy::{relative, root};

/// The directory in which every file is generated.
const PICTURES: &str = "docs/manual/pictures";

/// Writes the generated files; with `check`, only compares them.
pub(crate) fn run(check: bool) -> Result<()> {
    let root = root()?;
    let files = files(&root)?;
    let mut stale: Vec<String> = bpf::update(&root, check)?.into_iter().collect();
    for (name, text) in &files {
        let path = root.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|known| known == *text) {
            continue;
        }
        stale.push(name.clone());
        if !check {
            std::fs::create_dir_all(path.parent().context("every generated file has a folder")?)?;
            std::fs::write(&path, text)?;
        }
    }
    for path in leftovers(&root, &files)? {
        stale.push(relative(&root, &path));
        if !check {
            std::fs::remove_file(&path)?;
        }
    }
    match (check, stale.is_empty()) {
        (_, true) => println!("generate: everything is up to date"),
        (false, false) => println!("generate: wrote {}", stale.join(", ")),
        (true, false) => bail!("out of date: {}: run `cargo xtask generate` and commit", stale.join(", ")),
    }
    Ok(())
}

/// Returns all generated files and their texts.
fn files(root: &Path) -> Result<Vec<(String, String)>> {
    let fathom = &crate::scratch::debug_fathom(root)?;
    let mut files = vec![("docs/options.md".to_owned(), job::docs::options_markdown())];
    files.push(("docs/fio-compatibility.md".to_owned(), compatibility::page(root)?));
    files.push(("docs/findings.md".to_owned(), output_of(fathom, &["explain", "--findings"])?));
    files.push(("docs/doctor.md".to_owned(), output_of(fathom, &["doctor", "--checks"])?));
    files.push(("docs/suites.md".to_owned(), output_of(fathom, &["suite", "list", "--format", "md"])?));
    files.extend(pages::all(root, fathom)?);
    let errors = files.iter_mut().find(|(name, _)| name == "docs/errors.md").context("there is no docs/errors.md")?;
    errors.1 = with_codes(&errors.1)?;
    Ok(files)
}

/// Replaces the tables of all codes, which end the page of errors.
fn with_codes(page: &str) -> Result<String> {
    const HEADING: &str = "\n## Codes\n";
    let (before, _) = page.split_once(HEADING).context("docs/errors.md has no heading `Codes`")?;
    let mut page = format!(
        "{before}{HEADING}\nThe code in brackets identifies the kind of problem. Its class determines the exit code of \
         a command that has not started.\n"
    );
    for (class, title) in [
        (ProblemClass::Request, "The request is wrong: exit code 2"),
        (ProblemClass::Host, "The host or the device failed: exit code 3"),
    ] {
        page.push_str(&format!("\n### {title}\n\n| code | meaning |\n|---|---|\n"));
        let codes = ProblemCode::ALL.iter().filter(|code| code.class() == class);
        page.extend(codes.map(|code| format!("| `{code}` | {} |\n", code.meaning())));
    }
    Ok(page)
}

/// Finds files that are no longer generated.
fn leftovers(root: &Path, files: &[(String, String)]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join(PICTURES))? {
        let path = entry?.path();
        if files.iter().all(|(name, _)| *name != relative(root, &path)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the output of a Fathom command, so that pages cannot differ from the program.
fn output_of(fathom: &Path, words: &[&str]) -> Result<String> {
    let output = Command::new(fathom).args(words).output()?;
    ensure!(output.status.success(), "fathom {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

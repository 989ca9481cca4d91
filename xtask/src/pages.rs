//! Runs the commands in documentation pages, and inserts their output and pictures.
//!
//! A command follows `$ ` in a fenced block, and its output on a terminal of 100 columns follows the command. A line
//! `...` stands for any lines. All commands of a page run in order in one scratch directory with `examples/` and
//! `models/`. A command that is shown to fail has `exit code N` as its last line, and shows its errors too. A picture that
//! a page shows from `pictures/` is the file of that name that one of them writes.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::tidy::relative;

/// The line that stands for any lines.
const ELIDED: &str = "...";

/// Returns the pages that have commands, with current output, and their pictures.
pub(crate) fn all(root: &Path, fathom: &Path) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for path in candidates(root)? {
        let text = std::fs::read_to_string(&path)?;
        let pieces = pieces(&text);
        if pieces.iter().any(|piece| matches!(piece, PagePiece::Example { .. })) {
            let name = relative(root, &path);
            let scratch = PagesScratch::new(root, fathom, &name)?;
            files.push((name.clone(), with_output(&pieces, &scratch).context(name)?));
            files.extend(pictures(root, &path, &text, &scratch)?);
        }
    }
    Ok(files)
}

/// Returns all documentation pages, sorted.
fn candidates(root: &Path) -> Result<Vec<PathBuf>> {
    let mut pages = vec![root.join("README.md")];
    for folder in ["docs", "docs/manual"] {
        for entry in std::fs::read_dir(root.join(folder))? {
            pages.push(entry?.path());
        }
    }
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.sort();
    Ok(pages)
}

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
enum PagePiece<'a> {
    /// A line that is kept.
    Text(&'a str),
    /// A command as written, and the output below it.
    Example { command: Vec<&'a str>, shown: Vec<&'a str> },
}

fn pieces(page: &str) -> Vec<PagePiece<'_>> {
    let mut pieces = Vec::new();
    let mut lines = page.lines().peekable();
    let mut fenced = false;
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if !fenced || !line.starts_with("$ ") {
            pieces.push(PagePiece::Text(line));
            continue;
        }
        let mut command = vec![line];
        while command.last().is_some_and(|line| line.ends_with('\\')) {
            command.extend(lines.next());
        }
        let mut shown = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ") && !line.starts_with("```")) {
            shown.push(line);
        }
        pieces.push(PagePiece::Example { command, shown });
    }
    pieces
}

/// Returns a page with the current output of its commands.
fn with_output(pieces: &[PagePiece], scratch: &PagesScratch) -> Result<String> {
    let mut page = String::new();
    let mut add = |line: &str| {
        page.push_str(line);
        page.push('\n');
    };
    for piece in pieces {
        match piece {
            PagePiece::Text(line) => add(line),
            PagePiece::Example { command, shown } => {
                command.iter().for_each(|line| add(line));
                let printed = scratch.run(&command.join("\n")[2..], shown)?;
                let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
                let lines = if agrees(shown, &printed) { shown } else { &printed };
                lines.iter().for_each(|line| add(line));
            }
        }
    }
    Ok(page)
}

/// Reports whether shown output equals printed output, where `...` stands for any lines.
fn agrees(shown: &[&str], printed: &[&str]) -> bool {
    // An empty line may separate two commands of a block.
    let end = |lines: &[&str]| lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    let (shown, printed) = (&shown[..end(shown)], &printed[..end(printed)]);
    let mut chunks: Vec<&[&str]> = shown.split(|line| *line == ELIDED).collect();
    let last = chunks.pop().unwrap_or_default();
    let Some((first, middle)) = chunks.split_first() else { return last == printed };
    let Some(mut rest) = printed.strip_prefix(*first) else { return false };
    for chunk in middle {
        let Some(at) = (0..=rest.len().saturating_sub(chunk.len())).find(|at| rest[*at..].starts_with(chunk)) else {
            return false;
        };
        rest = &rest[at + chunk.len()..];
    }
    rest.ends_with(last)
}

/// Returns the pictures of a page, as written by its commands.
fn pictures(root: &Path, page: &Path, text: &str, scratch: &PagesScratch) -> Result<Vec<(String, String)>> {
    let folder = page.parent().context("a page lies in a folder")?.join("pictures");
    let mut found: Vec<(String, String)> = Vec::new();
    for part in text.split("](pictures/").skip(1) {
        let name = part.split(')').next().unwrap_or_default();
        let made = scratch.folder.join(name);
        let path = relative(root, &folder.join(name));
        if found.iter().all(|(known, _)| *known != path) {
            let content = std::fs::read_to_string(&made)
                .with_context(|| format!("{}: no command of it writes {name}", relative(root, page)))?;
            found.push((path, content));
        }
    }
    Ok(found)
}

/// Creates an empty directory next to the build.
pub(crate) fn scratch_folder(name: &str) -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let folder = program.parent().context("xtask lies in a folder")?.join("pages").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The scratch directory of a page.
struct PagesScratch {
    folder: PathBuf,
    /// Directory of the program.
    programs: PathBuf,
}

impl PagesScratch {
    fn new(root: &Path, fathom: &Path, page: &str) -> Result<Self> {
        let folder = scratch_folder(&page.replace('/', "-"))?;
        for name in ["examples", "models"] {
            std::os::unix::fs::symlink(root.join(name), folder.join(name))?;
        }
        let programs = fathom.parent().context("the program lies in a directory")?.to_path_buf();
        Ok(Self { folder, programs })
    }

    /// Runs a command and returns its standard output. A command that is shown to fail, with `exit code N` as its last
    /// line, has its errors shown too.
    fn run(&self, command: &str, shown: &[&str]) -> Result<String> {
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(&self.folder)
            .env("PATH", format!("{}:{path}", self.programs.display()))
            .env("HOME", &self.folder)
            .env("FATHOM_HOME", self.folder.join("runs"))
            // The ages of built-in prices.
            .env("FATHOM_TODAY", "2026-11-30")
            .envs([("COLUMNS", "100"), ("NO_COLOR", "1"), ("TERM", "dumb"), ("LC_ALL", "C.UTF-8")])
            .env_remove("XDG_STATE_HOME")
            .output()?;
        let last = shown.iter().rev().find(|line| !line.is_empty());
        let ending = output.status.code().map(|code| format!("exit code {code}"));
        if last.is_some_and(|last| Some(*last) == ending.as_deref()) {
            let printed = [output.stdout, output.stderr].concat();
            return Ok(format!("{}{}\n", String::from_utf8(printed)?, ending.unwrap_or_default()));
        }
        // Pages may show failed expectations and untrustworthy results.
        if !matches!(output.status.code(), Some(0 | 1 | 4)) {
            bail!("`{command}`: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_in_fenced_blocks_and_may_span_lines() {
        let page = "$ no\n```text\n$ a \\\n  b\none\n\n$ c\n```\ntail";
        let found = pieces(page);
        let expected = [
            PagePiece::Text("$ no"),
            PagePiece::Text("```text"),
            PagePiece::Example { command: vec!["$ a \\", "  b"], shown: vec!["one", ""] },
            PagePiece::Example { command: vec!["$ c"], shown: vec![] },
            PagePiece::Text("```"),
            PagePiece::Text("tail"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn dots_stand_for_any_lines_and_the_rest_must_match() {
        let printed = ["a", "b", "c", "d"];
        for shown in [
            &["a", "b", "c", "d"][..],
            &["a", "b", "c", "d", ""],
            &["...", "c", "d"],
            &["a", "..."],
            &["a", "...", "c", "..."],
            &["...", "b", "...", "d"],
            &["..."],
        ] {
            assert!(agrees(shown, &printed), "{shown:?}");
        }
        for shown in [
            &["a", "b", "c"][..],
            &["b", "..."],
            &["...", "c"],
            &["...", "c", "...", "b", "..."],
            &["a", "...", "x", "...", "d"],
            &[],
        ] {
            assert!(!agrees(shown, &printed), "{shown:?}");
        }
    }

    #[test]
    fn output_is_replaced_if_the_command_prints_something_else() {
        let root = crate::tidy::root().expect("the project exists");
        let scratch = PagesScratch::new(&root, &root.join("fathom"), "a-page-of-a-test")
            .expect("the build directory is writable");
        let page = "```text\n$ printf 'one\\ntwo\\n'\nold\n```\n";
        let made = with_output(&pieces(page), &scratch).expect("printf exists");
        assert_eq!(made, "```text\n$ printf 'one\\ntwo\\n'\none\ntwo\n```\n");
        assert!(scratch.run("exit 2", &[]).is_err());
        assert!(scratch.run("exit 2", &["exit code 3"]).is_err());
        assert_eq!(
            scratch.run("echo a; echo b >&2; exit 2", &["x", "exit code 2", ""]).unwrap(),
            "a\nb\nexit code 2\n"
        );
    }
}

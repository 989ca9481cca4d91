//! Pages of the manual whose commands are carried out: what a page shows is what its commands print, and its pictures are
//! those that its commands make.
//!
//! A command stands behind `$ ` in a fenced block, and under it what it prints on a terminal of 100 columns. A line `...`
//! stands for any lines. All commands of a page run one after the other in one scratch folder, which has `examples/` and
//! `models/` in it. A picture that a page shows from `pictures/` is the file of that name which one of them wrote.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::tidy::relative;

/// What a line that stands for any lines consists of.
const ELIDED: &str = "...";

/// The pages with commands, as they should be, and their pictures.
pub(crate) fn all(root: &Path) -> Result<Vec<(String, String)>> {
    let built = Command::new("cargo").args(["build", "--quiet", "--bin", "fathom"]).current_dir(root).status()?;
    ensure!(built.success(), "fathom cannot be built");
    let mut files = Vec::new();
    for path in candidates(root)? {
        let text = std::fs::read_to_string(&path)?;
        let pieces = pieces(&text);
        if pieces.iter().any(|piece| matches!(piece, PagePiece::Example { .. })) {
            let name = relative(root, &path);
            let scratch = PagesScratch::new(root, &name)?;
            files.push((name.clone(), carried_out(&pieces, &scratch).context(name)?));
            files.extend(pictures(root, &path, &text, &scratch)?);
        }
    }
    Ok(files)
}

/// Every page for readers, in a fixed order.
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
    /// What is kept as it is.
    Text(&'a str),
    /// A command as it is written, and what is shown under it.
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

/// The page with what its commands print.
fn carried_out(pieces: &[PagePiece], scratch: &PagesScratch) -> Result<String> {
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
                let printed = scratch.run(&command.join("\n")[2..])?;
                let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
                let lines = if agrees(shown, &printed) { shown } else { &printed };
                lines.iter().for_each(|line| add(line));
            }
        }
    }
    Ok(page)
}

/// Whether what is shown is what is printed, where `...` stands for any lines.
fn agrees(shown: &[&str], printed: &[&str]) -> bool {
    // Between two commands of a block there may be an empty line.
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

/// The pictures that a page shows, as its commands wrote them.
fn pictures(root: &Path, page: &Path, text: &str, scratch: &PagesScratch) -> Result<Vec<(String, String)>> {
    let folder = page.parent().context("a page lies in a folder")?.join("pictures");
    let mut found: Vec<(String, String)> = Vec::new();
    for part in text.split("](pictures/").skip(1) {
        let name = part.split(')').next().unwrap_or_default();
        let made = scratch.0.join(name);
        let path = relative(root, &folder.join(name));
        if found.iter().any(|(known, _)| *known == path) {
            continue;
        }
        let content = std::fs::read_to_string(&made)
            .with_context(|| format!("{}: no command of it writes {name}", relative(root, page)))?;
        found.push((path, content));
    }
    Ok(found)
}

/// An empty folder beside what is built.
pub(crate) fn scratch_folder(name: &str) -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let folder = program.parent().context("xtask lies in a folder")?.join("pages").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A folder of a page's own.
struct PagesScratch(PathBuf);

impl PagesScratch {
    fn new(root: &Path, page: &str) -> Result<Self> {
        let folder = scratch_folder(&page.replace('/', "-"))?;
        for name in ["examples", "models"] {
            std::os::unix::fs::symlink(root.join(name), folder.join(name))?;
        }
        Ok(Self(folder))
    }

    /// What a command prints on standard output; on both where it says so itself.
    fn run(&self, command: &str) -> Result<String> {
        let program = std::env::current_exe()?;
        let programs = program.parent().context("xtask lies in a folder")?;
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(&self.0)
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("HOME", &self.0)
            .env("FATHOM_HOME", self.0.join("runs"))
            .envs([("COLUMNS", "100"), ("NO_COLOR", "1"), ("TERM", "dumb"), ("LC_ALL", "C.UTF-8")])
            .env_remove("XDG_STATE_HOME")
            .output()?;
        // An expectation that fails and a result that is not to be trusted are worth a page too.
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
    fn commands_stand_in_fenced_blocks_and_may_go_on_in_the_next_line() {
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
    fn what_is_left_out_is_marked_and_the_rest_has_to_be_there() {
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
    fn a_page_is_made_anew_where_its_command_prints_something_else() {
        let root = crate::tidy::root().expect("the project is there");
        let scratch = PagesScratch::new(&root, "a-page-of-a-test").expect("the build can be written to");
        let page = "```text\n$ printf 'one\\ntwo\\n'\nold\n```\n";
        let made = carried_out(&pieces(page), &scratch).expect("printf is there");
        assert_eq!(made, "```text\n$ printf 'one\\ntwo\\n'\none\ntwo\n```\n");
        assert!(scratch.run("exit 2").is_err());
    }
}

//! Commands that texts suggest: help, errors, answers and pages of docs name commands and options that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::common::{fathom, run};

/// Returns the sources of all crates and the pages of docs.
fn texts() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    let mut folders = vec![root.join("crates"), root.join("docs"), root.join("suites"), root.join("README.md")];
    while let Some(path) = folders.pop() {
        if path.is_dir() {
            folders.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ending| ["rs", "md", "toml"].iter().any(|known| ending == *known)) {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

/// Returns the commands in backticks, and in docs the lines that begin with `fathom` or `$ fathom`.
fn commands(path: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    // A string may continue on the next line of the source.
    let joined = text.replace("\\\n", "");
    let quoted = joined.split('`').skip(1).step_by(2);
    let is_page = path.extension().is_some_and(|ending| ending == "md");
    let lines = joined.lines().map(|line| line.trim().trim_start_matches("$ ")).filter(|_| is_page);
    for words in quoted.chain(lines) {
        // A pipe, a comment, a quoted command or the next command ends it.
        let command = words.split(['|', '#', ';', '>', '&', '\n', '\'']).next().unwrap_or_default();
        if let Some(rest) = command.trim().strip_prefix("fathom ") {
            found.push(rest.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    found
}

/// Returns the help of a command; `None` if there is no such command.
fn help(words: &[&str]) -> Option<String> {
    let outcome = run(&mut fathom(words.iter().copied().chain(["--help"])));
    (outcome.code() == Some(0)).then_some(outcome.stdout)
}

/// Returns the long options in a help text, without values.
fn options(help: &str) -> BTreeSet<String> {
    let words =
        help.split(|c: char| c.is_whitespace() || matches!(c, '=' | ',' | '[' | ']' | '`' | '\'' | '.' | '(' | ')'));
    words.filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

#[test]
fn suggested_commands_and_options_exist() {
    let commands_help = help(&[]).unwrap();
    let is_of_jobs = |option: &str| run(&mut fathom(["options", option])).code() == Some(0);
    let mut known: BTreeMap<String, Option<BTreeSet<String>>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (path, text) in texts() {
        for command in commands(&path, &text) {
            let mut words = command.split(' ').map(|word| word.trim_matches(['\'', '"', ',', '.', ')', ':']));
            let Some(name) = words.next().filter(|name| name.chars().all(|c| c.is_ascii_lowercase())) else { continue };
            let own = known.entry(name.to_owned()).or_insert_with(|| {
                let line = format!("\n  {name} ");
                commands_help.contains(&line).then(|| options(&help(&[name]).unwrap_or_default()))
            });
            let Some(own) = own.as_mut() else {
                wrong.push(format!("{}: `fathom {command}`: no command `{name}`", path.display()));
                continue;
            };
            for word in words.filter(|word| word.starts_with("--")) {
                let option = word.split(['=', '[']).next().unwrap_or(word);
                if own.contains(option) || option == "--" || option == "--help" {
                    continue;
                }
                let takes_jobs = ["run", "sim", "sweep", "fio"].contains(&name);
                if takes_jobs && is_of_jobs(option.trim_start_matches("--")) {
                    own.insert(option.to_owned());
                    continue;
                }
                // Commands of a command have options of their own.
                let is_of_part = command.split(' ').nth(1).filter(|part| part.chars().all(|c| c.is_ascii_lowercase()));
                let is_of_part =
                    is_of_part.and_then(|part| help(&[name, part])).is_some_and(|help| options(&help).contains(option));
                if is_of_part {
                    own.insert(option.to_owned());
                } else {
                    wrong.push(format!("{}: `fathom {command}`: no option {option}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! Manual pages, completions, docs and packaging recipes, checked against the program.

mod debian;
mod links;
mod lint;
mod recipes;
mod shells;
mod spoken;
mod workflow;

use std::path::{Path, PathBuf};

/// Returns the top directory of the project.
fn top() -> PathBuf {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    top.canonicalize().expect("the project is there")
}

/// Reads a file of the project.
#[track_caller]
fn text_of(name: impl AsRef<Path>) -> String {
    let path = top().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the files below a directory of the project, by their paths from the top.
fn files_below(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![top().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(top()).expect("it is below").display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// Returns all Markdown pages.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> =
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(str::to_owned).into();
    let others = ["docs", "examples"].into_iter().flat_map(files_below);
    pages.extend(others.filter(|name| name.ends_with(".md")));
    pages
}

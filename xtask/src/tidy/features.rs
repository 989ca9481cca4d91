//! Checks that every crate selects the same features of libraries alone as it does together with all others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

/// Libraries by name and version, with the sets of features that are built of each.
type Selection = BTreeMap<String, BTreeSet<String>>;

/// Returns a complaint for each library that the tests of one of the crates would build a second time.
pub(super) fn check(root: &Path, crates: &[String]) -> Result<Vec<String>> {
    let whole = selection(root, &["--workspace"])?;
    let mut complaints = Vec::new();
    for name in crates {
        let alone = selection(root, &["--package", name])?;
        complaints.extend(second_builds(name, &alone, &whole));
    }
    Ok(complaints)
}

fn selection(root: &Path, packages: &[&str]) -> Result<Selection> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["tree", "--locked", "--prefix", "none", "--edges", "normal,build,dev", "--format", "{p}|{f}"]);
    let output = command.args(packages).current_dir(root).output()?;
    ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    Ok(read(&String::from_utf8_lossy(&output.stdout)))
}

fn read(tree: &str) -> Selection {
    let mut selection = Selection::new();
    for (package, features) in tree.lines().filter_map(|line| line.split_once('|')) {
        let package = package.trim_end_matches(" (proc-macro)").to_owned();
        selection.entry(package).or_default().insert(features.trim_end_matches(" (*)").to_owned());
    }
    selection
}

fn second_builds(name: &str, alone: &Selection, whole: &Selection) -> Vec<String> {
    let mut complaints = Vec::new();
    for (package, builds) in alone {
        let known = whole.get(package).cloned().unwrap_or_default();
        for build in builds.difference(&known) {
            complaints.push(format!(
                "the tests of `{name}` alone build {package} with [{build}], and those of the workspace with {known:?}: \
                 add it to xtask/features/Cargo.toml, and `features` to the dev-dependencies of `{name}`"
            ));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_would_be_built_twice_is_reported() {
        let whole =
            read("syn v3.0.9|derive,full\nserde_derive v1.0.229 (proc-macro)|default\nsyn v3.0.9|derive,full (*)\n");
        let alone = read("serde_derive v1.0.229 (proc-macro)|default (*)\nsyn v3.0.9|derive\n");
        let complaints = second_builds("record", &alone, &whole);
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].contains("`record` alone build syn v3.0.9 with [derive]"), "{complaints:?}");
        assert!(second_builds("record", &whole, &whole).is_empty());
    }
}

//! Checks dependencies between crates, and that pure crates have no access to the outside.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The crates and the permitted dependencies of each. Every other edge is refused. A new edge is rare: it starts here,
/// with its reason in the commit, and ARCHITECTURE.md shows the order of the crates.
const EDGES: &[(&str, &str)] = &[
    ("units", ""),
    ("job", "target units"),
    ("workload", "units job trace"),
    ("meter", "units"),
    ("target", "units"),
    ("trace", "units"),
    ("drive", "units workload meter target"),
    ("volume", "units"),
    ("nbd-wire", "units"),
    ("object-wire", "units"),
    ("nbd", "units meter volume nbd-wire"),
    ("probe", "units record"),
    ("engine", "units target nbd object-wire probe"),
    ("record", "units job meter volume"),
    ("runner", "units job workload meter target drive volume record"),
    ("sim", "units job workload meter target drive volume record runner"),
    ("device", "units job workload meter target trace drive probe object-wire engine record runner analyse"),
    ("store", "units record"),
    ("analyse", "units record"),
    ("plan", "units volume"),
    ("offers", "units"),
    ("results", "units record analyse plan trace volume"),
    ("report", "units job trace workload record runner analyse volume plan results"),
    ("capture", "units trace probe engine record results"),
    ("manual", "job"),
    ("procedure", "units job workload meter target trace volume record runner sim analyse plan results"),
    ("live", "units job meter volume engine record results runner"),
    ("serve", "units job meter volume runner sim nbd probe engine device live results"),
    ("fleet", "units job record runner"),
    (
        "cli",
        "units job workload meter target trace drive volume runner sim nbd probe engine capture device fleet live manual serve \
         procedure record store analyse plan offers results report",
    ),
    ("fleet-mpi", "units fleet cli"),
    ("xtask", "units job trace features"),
    ("features", ""),
];

/// Crates without clocks, threads, files, sockets, environment or output, as enforced by their `clippy.toml`.
const PURE: &str = "units job workload meter target trace drive volume runner sim record analyse plan offers results report nbd-wire object-wire procedure manual";

/// Dependencies that would give a pure crate access to the outside.
const IMPURE_CRATES: &[&str] = &["libc", "nix", "io-uring", "tokio", "rand", "getrandom", "signal-hook", "indicatif"];

/// Returns the names of the crates, and the number of edges between them.
pub(super) fn count(root: &Path) -> Result<(Vec<String>, usize)> {
    let packages = packages(root, &["--no-deps"])?;
    let is_edge = |dependency: &&Value| {
        let name = dependency["name"].as_str().unwrap_or_default();
        dependency["kind"].as_str() != Some("dev") && EDGES.iter().any(|(known, _)| *known == name)
    };
    let edges = packages.iter().flat_map(|package| package["dependencies"].as_array()).flatten().filter(is_edge);
    let edges = edges.count();
    Ok((packages.iter().filter_map(|package| package["name"].as_str()).map(str::to_owned).collect(), edges))
}

pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for package in &packages(root, &["--no-deps"])? {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = EDGES.iter().find(|(known, _)| *known == name) else {
            complaints.push(format!("crate `{name}` is not in the table of xtask/src/tidy/edges.rs: add it there"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            complaints.extend(complaint(name, allowed, dependency));
        }
        complaints.extend(clippy_file(root, name));
    }
    Ok(complaints)
}

/// Reports whether a list of words has a word.
fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

fn complaint(crate_name: &str, allowed: &str, dependency: &Value) -> Option<String> {
    let to = dependency["name"].as_str().unwrap_or_default();
    let for_tests = dependency["kind"].as_str() == Some("dev");
    if EDGES.iter().any(|(known, _)| *known == to) {
        return (!has(allowed, to) && !for_tests).then(|| {
            format!("`{crate_name}` may not depend on `{to}`: pass data in, or argue for the edge in the commit")
        });
    }
    (has(PURE, crate_name) && IMPURE_CRATES.contains(&to) && !for_tests)
        .then(|| format!("`{crate_name}` is pure and may not use `{to}`: let `cli` or `engine` do it"))
}

fn clippy_file(root: &Path, crate_name: &str) -> Option<String> {
    let path = root.join("crates").join(crate_name).join("clippy.toml");
    let same = || {
        let ours = std::fs::read_to_string(&path).ok()?;
        let model = std::fs::read_to_string(root.join("crates/units/clippy.toml")).ok()?;
        Some(ours == model)
    };
    (has(PURE, crate_name) && same() != Some(true))
        .then(|| format!("`{crate_name}` is pure: its clippy.toml must equal crates/units/clippy.toml"))
}

/// Returns the packages that `cargo metadata` lists.
pub(super) fn packages(root: &Path, options: &[&str]) -> Result<Vec<Value>> {
    let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(["metadata", "--format-version", "1"])
        .args(options)
        .current_dir(root)
        .output()
        .context("running cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    metadata["packages"].as_array().cloned().context("cargo metadata lists packages")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_edge_that_is_not_in_the_table_is_refused() {
        let refused = complaint("meter", "units", &json!({ "name": "engine", "kind": null }));
        assert!(refused.is_some_and(|text| text.contains("`meter` may not depend on `engine`")));
        assert!(complaint("meter", "units", &json!({ "name": "units", "kind": null })).is_none());
        assert!(complaint("meter", "units", &json!({ "name": "engine", "kind": "dev" })).is_none());
    }

    #[test]
    fn a_pure_crate_has_no_access_to_the_outside() {
        let refused = complaint("meter", "units", &json!({ "name": "libc", "kind": null }));
        assert!(refused.is_some_and(|text| text.contains("`meter` is pure and may not use `libc`")));
        assert!(complaint("engine", "units", &json!({ "name": "libc", "kind": null })).is_none());
    }
}

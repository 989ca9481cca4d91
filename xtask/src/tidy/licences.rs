//! Checks licences and sources of dependencies against `deny.toml`.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Returns the dependencies whose licence or source `deny.toml` does not permit.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let rules = std::fs::read_to_string(root.join("deny.toml")).context("reading deny.toml")?;
    let (licences, registries) = (strings(&rules, "allow"), strings(&rules, "allow-registry"));
    ensure!(!licences.is_empty() && !registries.is_empty(), "deny.toml has no `allow` or no `allow-registry`");
    let packages = super::edges::packages(root, &["--locked"])?;
    Ok(packages.iter().filter_map(|package| complaint(package, &licences, &registries)).collect())
}

fn complaint(package: &Value, licences: &[String], registries: &[String]) -> Option<String> {
    let name = package["name"].as_str().unwrap_or_default();
    // Workspace crates have no source.
    let source = package["source"].as_str()?;
    if !registries.iter().any(|registry| source == format!("registry+{registry}")) {
        return Some(format!("dependency `{name}` comes from {source}: use one from crates.io"));
    }
    let licence = package["license"].as_str().unwrap_or("unknown");
    (!permits(licence, licences))
        .then(|| format!("dependency `{name}` has the licence {licence}: allow it in deny.toml, or use another crate"))
}

/// Reports whether the permitted licences satisfy a licence expression (SPDX). An exception only adds rights.
fn permits(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace(['(', ')'], " ");
    spaced.split(" AND ").all(|all| {
        all.split(" OR ").any(|one| {
            let licence = one.split(" WITH ").next().unwrap_or(one).trim();
            allowed.iter().any(|known| known == licence)
        })
    })
}

/// Returns the strings of an array of `deny.toml`.
fn strings(text: &str, key: &str) -> Vec<String> {
    let after = text.split(&format!("\n{key} = [")).nth(1).and_then(|rest| rest.split(']').next()).unwrap_or_default();
    after.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn licences_and_sources_that_are_not_in_the_lists_are_refused() {
        let rules = "\nallow = [\n    \"MIT\",\n]\nallow-registry = [\"https://crates\"]\n";
        let (licences, registries) = (strings(rules, "allow"), strings(rules, "allow-registry"));
        assert_eq!((licences.len(), registries.len()), (1, 1));
        let package = |licence: &str, source: &str| json!({ "name": "a", "license": licence, "source": source });
        let good = package("(MIT OR Apache-2.0) AND MIT", "registry+https://crates");
        assert_eq!(complaint(&good, &licences, &registries), None);
        for bad in [
            package("GPL-2.0", "registry+https://crates"),
            package("MIT AND GPL-2.0", "registry+https://crates"),
            package("MIT", "git+https://elsewhere"),
        ] {
            assert!(complaint(&bad, &licences, &registries).is_some(), "{bad}");
        }
    }
}

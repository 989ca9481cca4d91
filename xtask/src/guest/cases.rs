//! Finds the guest tests: the functions `test_…` of the shell files in `xtask/guest/cases`, and the functions `long_test_…`,
//! which run only if they are named: `.ci/nightly` names all.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A guest test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GuestCase {
    /// File name without extension.
    file: String,
    /// Function name without `test_` and `long_test_`.
    function: String,
    is_long: bool,
}

impl GuestCase {
    /// Returns the name, such as `lvm::an_inactive_volume`.
    pub(super) fn name(&self) -> String {
        format!("{}::{}", self.file, self.function)
    }

    /// Returns the line of the guest's script that runs the test.
    pub(super) fn line(&self) -> String {
        let prefix = if self.is_long { "long_test_" } else { "test_" };
        format!("test {} {} {prefix}{}\n", self.name(), self.file, self.function)
    }

    /// Reports whether the name contains one of the words; without words, whether the test is short.
    pub(super) fn is_selected(&self, words: &[&str]) -> bool {
        (words.is_empty() && !self.is_long) || words.iter().any(|word| self.name().contains(word))
    }
}

/// Returns the shell files, sorted.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "sh"));
    files.sort();
    Ok(files)
}

/// Returns all tests, in the order of the files.
pub(super) fn read(folder: &Path) -> Result<Vec<GuestCase>> {
    let mut cases = Vec::new();
    for path in files(folder)? {
        let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        cases.extend(functions(&text).map(|(function, is_long)| GuestCase {
            file: file.clone(),
            function: function.to_owned(),
            is_long,
        }));
    }
    Ok(cases)
}

/// Returns the names of tests without prefix, and whether each is long.
fn functions(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.lines().filter_map(|line| {
        let (name, is_long) = line.strip_prefix("long_").map_or((line, false), |name| (name, true));
        Some((name.strip_prefix("test_")?.strip_suffix("() {")?, is_long))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_a_function_at_the_start_of_a_line() {
        let text = "helper() {\n}\ntest_one() {\n    test_not() {\n}\n# test_two() {\nlong_test_three() {\n}\n";
        assert_eq!(functions(text).collect::<Vec<_>>(), [("one", false), ("three", true)]);
    }

    #[test]
    fn a_word_selects_files_and_functions() {
        let case = GuestCase { file: "lvm".into(), function: "active".into(), is_long: false };
        assert!(case.is_selected(&[]) && case.is_selected(&["lvm"]) && case.is_selected(&["no", "lvm::act"]));
        assert!(!case.is_selected(&["md"]));
        assert_eq!(case.line(), "test lvm::active lvm test_active\n");
        let case = GuestCase { is_long: true, ..case };
        assert!(!case.is_selected(&[]) && case.is_selected(&["lvm"]) && case.is_selected(&["::"]));
        assert_eq!(case.line(), "test lvm::active lvm long_test_active\n");
    }
}

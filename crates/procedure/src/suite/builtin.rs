//! The built-in suites, and suite files.

use units::{Problem, ProblemCode, suggestion};

use super::read::read;
use super::schema::{Suite, SuiteText};

macro_rules! suites {
    ($($name:literal),* $(,)?) => {
        pub(crate) const TEXTS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../suites/", $name, ".toml")))),*];
    };
}

suites!["gcp-pd", "gcp-local-ssd", "hyperdisk", "vultr", "nutanix-2m", "snia-iops", "ai-training", "ai-inference",];

/// Returns all built-in suites. A test parses them: none has a problem.
#[must_use]
pub fn all() -> Vec<Suite> {
    TEXTS.iter().filter_map(|(name, text)| read(&SuiteText::new(&format!("suites/{name}.toml"), text)).ok()).collect()
}

/// Returns the names of the built-in suites.
#[must_use]
pub fn names() -> Vec<&'static str> {
    TEXTS.iter().map(|(name, _)| *name).collect()
}

/// Returns the built-in suite of this name, or parses the file.
pub fn find(name: &str, read_suite: fn(&str) -> Result<String, Problem>) -> Result<Suite, Vec<Problem>> {
    if name.contains('/') || name.ends_with(".toml") {
        let text = read_suite(name)?;
        return read(&SuiteText::new(name, &text));
    }
    match TEXTS.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => read(&SuiteText::new(&format!("suites/{name}.toml"), text)),
        None => {
            let listed = || format!("use one of {}, or a file (with a slash or .toml in its name)", names().join(", "));
            let remedy = suggestion(name, names().into_iter(), listed);
            Err(vec![Problem::error(ProblemCode::Suite, format!("unknown suite `{name}`")).help(remedy)])
        }
    }
}

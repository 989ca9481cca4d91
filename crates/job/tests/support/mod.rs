//! Support for tests: files and variables in memory.

#![allow(dead_code, unreachable_pub, reason = "each test program uses a part of it")]

use std::collections::BTreeMap;

use job::{Dialect, HostSource, Job, Parsed, Plan, parse_file_text};
use units::{Problem, ProblemCode};

/// Files and variables in memory, on a host with 4 KiB pages, 1000 MiB and 4 processors.
#[derive(Default)]
pub struct World {
    pub files: BTreeMap<String, String>,
    pub variables: BTreeMap<String, String>,
}

impl World {
    pub fn with_file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }
}

impl HostSource for World {
    fn read(&self, path: &str) -> Result<Vec<u8>, Problem> {
        self.files
            .get(path)
            .map(|text| text.clone().into_bytes())
            .ok_or_else(|| Problem::error(ProblemCode::UnreadableInput, "no such file"))
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn page_size_bytes(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        1000
    }

    fn cpus(&self) -> u64 {
        4
    }
}

/// Parses a job file on a host without files and variables.
pub fn parse(text: &str, dialect: Dialect) -> Parsed<Plan> {
    parse_file_text("test.fio", text.as_bytes(), dialect, &World::default())
}

/// Returns the only job of a text that fio accepts.
pub fn fio_job(text: &str) -> Job {
    let parsed = parse(text, Dialect::Fio);
    assert!(!parsed.has_errors(), "{text:?}: {:?}", lines(&parsed.diagnostics));
    assert_eq!(parsed.value.jobs.len(), 1, "{text:?}");
    parsed.value.jobs.into_iter().next().expect("one job")
}

/// Returns the codes of all diagnostics.
pub fn codes(text: &str, dialect: Dialect) -> Vec<&'static str> {
    parse(text, dialect).diagnostics.iter().map(|d| d.code.name()).collect()
}

/// Formats each diagnostic as a line.
pub fn lines(diagnostics: &[Problem]) -> Vec<String> {
    diagnostics.iter().map(ToString::to_string).collect()
}

/// Splits a command line into arguments.
pub fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

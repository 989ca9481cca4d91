//! Parses any bytes as a job file, in both dialects. The result is jobs or diagnostics, never a panic.

#![no_main]

use job::{Dialect, HostSource, EmptySource, parse_file_text};
use libfuzzer_sys::fuzz_target;
use units::{Problem, ProblemCode};

/// A host on which half of all include files exist and half of all variables are set.
struct FuzzHost;

impl HostSource for FuzzHost {
    fn read(&self, path: &str) -> Result<Vec<u8>, Problem> {
        if path.len() % 2 == 0 { Ok(b"bs=4k\ninclude more\n".to_vec()) } else { Err(Problem::error(ProblemCode::Include, "no such file")) }
    }

    fn variable(&self, name: &str) -> Option<String> {
        (name.len() % 2 == 0).then(|| name.to_owned())
    }

    fn page_size_bytes(&self) -> u64 {
        EmptySource.page_size_bytes()
    }

    fn memory_mib(&self) -> u64 {
        u64::MAX
    }

    fn cpus(&self) -> u64 {
        EmptySource.cpus()
    }
}

fuzz_target!(|bytes: &[u8]| {
    for dialect in [Dialect::Fio, Dialect::Strict] {
        let parsed = parse_file_text("fuzz.fio", bytes, dialect, &FuzzHost);
        assert!(!parsed.value.jobs.is_empty() || !parsed.diagnostics.is_empty());
    }
});

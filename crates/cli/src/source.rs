//! What the job language needs from the outside.

use std::io::Read;
use std::path::Path;

/// Job files from the disk, variables from the environment, figures from this host.
pub(crate) struct Outside;

impl job::Source for Outside {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let mut text = Vec::new();
        let outcome = if path == "-" {
            std::io::stdin().lock().read_to_end(&mut text).map(drop)
        } else {
            std::fs::read(path).map(|read| text = read)
        };
        outcome.map(|()| text).map_err(|error| reason(&error))
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    }

    fn page_size_bytes(&self) -> u64 {
        engine::probe::page_bytes()
    }

    fn memory_mib(&self) -> u64 {
        engine::probe::host(Path::new("/")).memory_bytes >> 20
    }

    fn cpus(&self) -> u64 {
        std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64)
    }
}

/// The system's words without its number, and what can be done: `Permission denied; run as …`.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or_default();
    engine::remedy(error).map_or_else(|| words.to_owned(), |remedy| format!("{words}; {remedy}"))
}

//! Job files, variables and host properties for the job language.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use job::{Dialect, JobWords};
use units::{Problem, ProblemCode};

use crate::rank;

/// Job files of the file system, variables of the environment, and properties of this host. Each file, and standard
/// input, is read once and cached.
#[derive(Debug, Default)]
pub(crate) struct LocalSource {
    texts: Mutex<Vec<(String, Vec<u8>)>>,
}

impl LocalSource {
    /// Returns the jobs as written: the text of all job files read, and the arguments in the syntax of a job file.
    pub(crate) fn written(&self, words: &[String]) -> String {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let words = JobWords::of(words, Dialect::Strict);
        let is_only = !words.has_jobs && texts.len() == 1;
        let mut written = if words.has_jobs || texts.is_empty() { words.text.clone() } else { String::new() };
        for (path, text) in texts.iter() {
            if !is_only {
                written.push_str(&format!("# {path}\n"));
            }
            written.push_str(&words.imposed_on(&String::from_utf8_lossy(text)));
        }
        job::redacted_text(&written)
    }
}

impl job::HostSource for LocalSource {
    fn read(&self, path: &str) -> Result<Vec<u8>, Problem> {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = texts.iter().find(|(known, _)| known == path) {
            return Ok(text.clone());
        }
        let text = device::input::read(Path::new(path), device::input::JOB_TEXT).map_err(|error| reason(&error))?;
        texts.push((path.to_owned(), text.clone()));
        Ok(text)
    }

    fn variable(&self, name: &str) -> Option<String> {
        rank::variable(name).or_else(|| std::env::var(name).ok())
    }

    fn is_not_text(&self, name: &str) -> bool {
        matches!(std::env::var(name), Err(std::env::VarError::NotUnicode(_)))
    }

    fn page_size_bytes(&self) -> u64 {
        probe::page_bytes()
    }

    fn memory_mib(&self) -> u64 {
        probe::host(Path::new("/")).memory_bytes >> 20
    }

    fn cpus(&self) -> u64 {
        let permitted = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        probe::online_cpus(Path::new("/")).map_or_else(|_| permitted(), |online| online.len()) as u64
    }
}

/// Returns a system error without its number.
fn reason(error: &std::io::Error) -> Problem {
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or_default();
    Problem::error(ProblemCode::Include, words).maybe_help(engine::remedy(error).map(str::to_owned))
}

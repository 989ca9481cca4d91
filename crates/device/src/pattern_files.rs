//! Files in patterns (`verify_pattern`, `buffer_pattern`).

use std::io::Read;
use std::path::Path;

use job::{Job, PATTERN_MAX_BYTES, Plan, VerifyPattern};
use units::{Problem, ProblemCode};

use crate::input;

/// Inserts the content of files into the patterns of a plan. Returns a diagnostic for each pattern with a file that
/// cannot be read.
pub(crate) fn resolve(plan: &mut Plan) -> Vec<Problem> {
    let mut problems = Vec::new();
    for job in &mut plan.jobs {
        let verified = insert(&mut job.verify.pattern);
        let written = job.payload.pattern.as_mut().map_or(Ok(()), insert);
        problems.extend(verified.err().map(|problem| at_option(job, "verify_pattern", problem)));
        problems.extend(written.err().map(|problem| at_option(job, "buffer_pattern", problem)));
    }
    problems
}

fn insert(pattern: &mut VerifyPattern) -> Result<(), Problem> {
    if pattern.files.is_empty() {
        return Ok(());
    }
    let contents: Result<Vec<_>, _> = pattern.files.iter().map(|(_, path)| content(path)).collect();
    pattern.insert_files(&contents?);
    if pattern.bytes.is_empty() { Err(Problem::error(ProblemCode::Pattern, "the files are empty")) } else { Ok(()) }
}

/// Reads as much of a file as fits into a pattern.
fn content(path: &str) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let file = input::open_file(Path::new(path));
    let read = file.and_then(|file| file.take(PATTERN_MAX_BYTES as u64).read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| Problem::error(ProblemCode::Pattern, format!("cannot read {path}: {error}")))
}

fn at_option(job: &Job, option: &str, problem: Problem) -> Problem {
    problem
        .of(option)
        .at(job.origin.of(option).cloned())
        .help("specify a non-empty file in single quotes, or the bytes as `0x…` or \"text\"")
}

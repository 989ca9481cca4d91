//! `verify_dump`: damaged blocks beside what they should have been.

use std::fs;
use std::path::Path;

use crate::members::Member;
use crate::worker::Finished;

/// Writes `FILE.OFFSET.received` and `FILE.OFFSET.expected` into `directory` for each damaged transfer that was kept.
/// Returns what could not be written.
pub(crate) fn write(directory: &Path, members: &[Member], finished: &[Finished]) -> Vec<String> {
    let mut problems = Vec::new();
    for one in finished {
        for failure in &one.failures {
            let Some(damaged) = &failure.damaged else { continue };
            let path = members[one.number].files.files.get(failure.decision.file as usize).map(|file| &file.path);
            let name = path.and_then(|path| Path::new(path).file_name()).unwrap_or_default().to_string_lossy();
            for (ending, bytes) in [("received", &damaged.found), ("expected", &damaged.expected)] {
                let path = directory.join(format!("{name}.{}.{ending}", failure.decision.offset));
                if let Err(error) = fs::write(&path, bytes) {
                    problems.push(format!("verify_dump: {}: {error}", path.display()));
                }
            }
        }
    }
    problems
}

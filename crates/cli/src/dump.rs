//! `verify_dump`: writes damaged blocks and their expected content to files.

use std::io::Write;
use std::path::Path;

use drive::FailureCause;
use engine::describe;
use engine::gate::{Existing, create_output};
use runner::{WorkerPlan, WorkerResult};

/// Writes `FILE.OFFSET.received` and `FILE.OFFSET.expected` to `directory` for each recorded damaged block, or only
/// `FILE.OFFSET.hdr_fail` if its header is invalid, as fio does. Returns errors.
pub(crate) fn write(directory: &Path, workers: &[WorkerPlan], finished: &[WorkerResult]) -> Vec<String> {
    let mut problems = Vec::new();
    for one in finished {
        for failure in &one.failures {
            let (Some(damaged), FailureCause::Mismatch(mismatch)) = (&failure.damaged, &failure.cause) else {
                continue;
            };
            let path = workers[one.number].files.files.get(failure.decision.file as usize).map(|file| &file.path);
            let name = path.and_then(|path| Path::new(path).file_name()).unwrap_or_default().to_string_lossy();
            let both = [("received", &damaged.found), ("expected", &damaged.expected)];
            let header = [("hdr_fail", &damaged.found)];
            for (extension, bytes) in if mismatch.wrong.is_in_header() { &header[..] } else { &both } {
                let path = directory.join(format!("{name}.{}.{extension}", mismatch.block));
                let file = create_output(&path, Existing::Replace).map_err(|denied| denied.to_string());
                let written = file.and_then(|mut file| file.write_all(bytes).map_err(|error| describe(&error)));
                if let Err(problem) = written {
                    problems.push(format!("verify_dump: {}: {problem}", path.display()));
                }
            }
        }
    }
    problems
}

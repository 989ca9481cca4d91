//! `verify_dump`: writes damaged blocks and their expected content.

use std::io::Write;
use std::path::Path;

use drive::FailureCause;
use engine::describe;
use engine::gate::{Existing, create_output};
use runner::{WorkerPlan, WorkerResult};

/// Writes `FILE.OFFSET.received` and `FILE.OFFSET.expected` into `directory` for each damaged block that was kept, and
/// `FILE.OFFSET.hdr_fail` alone for one without a good header, as fio does. Returns what could not be written.
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
            for (ending, bytes) in if mismatch.wrong.is_in_header() { &header[..] } else { &both } {
                let path = directory.join(format!("{name}.{}.{ending}", mismatch.block));
                let put = create_output(&path, Existing::Replace).map_err(|denied| denied.to_string());
                let put = put.and_then(|mut file| file.write_all(bytes).map_err(|error| describe(&error)));
                if let Err(problem) = put {
                    problems.push(format!("verify_dump: {}: {problem}", path.display()));
                }
            }
        }
    }
    problems
}

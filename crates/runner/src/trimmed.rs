//! The blocks whose trims are counted.

use job::Job;
use meter::TrimmedRange;
use workload::FileExtent;

use crate::WorkerError;

/// Maximum number of blocks, which take 128 MiB. fio counts the trims of 8192.
const BLOCKS_MAX: u64 = 1 << 24;

/// Returns the blocks whose trims are counted; `None` if the job does not trim, or they are not to be counted.
///
/// # Errors
///
/// Returns why they cannot be counted.
pub fn trimmed_range(job: &Job, files: &[FileExtent]) -> Result<Option<TrimmedRange>, WorkerError> {
    let trims = job.pattern.direction.trims() || job.trims_written();
    if !job.stats.block_errors || !trims {
        return Ok(None);
    }
    let [file] = files else {
        return Err(WorkerError::new(format!(
            "block_error_percentiles: the blocks of one file can be counted, and the job has {}\n\
             help: leave `block_error_percentiles` out",
            files.len()
        )));
    };
    let block_bytes = job.pattern.block_sizes.trim.min();
    let blocks = file.length / u64::from(block_bytes.max(1));
    match u32::try_from(blocks) {
        Ok(blocks) if u64::from(blocks) <= BLOCKS_MAX => {
            Ok(Some(TrimmedRange { start: file.start, block_bytes, blocks }))
        }
        _ => Err(WorkerError::new(format!(
            "block_error_percentiles: the job trims {blocks} blocks of {block_bytes} bytes, and {BLOCKS_MAX} can be \
             counted\nhelp: write a larger `bs` or a smaller `size`, or leave `block_error_percentiles` out"
        ))),
    }
}

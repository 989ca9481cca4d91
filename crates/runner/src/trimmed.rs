//! The blocks whose trims are counted.

use job::Job;
use meter::TrimmedRange;
use units::Problem;
use workload::FileExtent;

/// Maximum number of blocks. fio counts the trims of 8192.
const BLOCKS_MAX: u64 = 1 << 24;

/// Returns the blocks whose trims are counted; `None` if the job does not trim, or they are not to be counted.
///
/// # Errors
///
/// Returns why they cannot be counted.
pub fn trimmed_range(job: &Job, files: &[FileExtent]) -> Result<Option<TrimmedRange>, Problem> {
    if !job.counts_block_trims() {
        return Ok(None);
    }
    let refused = |what: String, help: &str| Err(job.unfit("block_error_percentiles", what).help(help));
    let [file] = files else {
        let what = format!("blocks can be counted in one file only, but the job has {}", files.len());
        return refused(what, "leave block_error_percentiles out");
    };
    let block_bytes = block_bytes(job);
    let blocks = file.length / u64::from(block_bytes.max(1));
    match u32::try_from(blocks) {
        Ok(blocks) if u64::from(blocks) <= BLOCKS_MAX => {
            Ok(Some(TrimmedRange { start: file.start, block_bytes, blocks }))
        }
        _ => refused(
            format!("the job trims {blocks} blocks of {block_bytes} bytes, but at most {BLOCKS_MAX} can be counted"),
            "use a larger bs or a smaller size, or leave block_error_percentiles out",
        ),
    }
}

/// Returns the smallest size of the job's trims.
fn block_bytes(job: &Job) -> u32 {
    let sizes = &job.pattern.block_sizes;
    if job.pattern.sizes_by_order {
        return sizes.read.min().min(sizes.write.min());
    }
    match (job.pattern.direction.trims(), job.trims_written()) {
        (true, true) => sizes.trim.min().min(sizes.write.min()),
        // Blocks that were written are trimmed as they were.
        (false, true) => sizes.write.min(),
        _ => sizes.trim.min(),
    }
}

/// Returns the memory in bytes that the counts of a worker take.
pub(crate) fn trimmed_bytes(job: &Job, files: &[FileExtent]) -> Result<u64, Problem> {
    Ok(trimmed_range(job, files)?.map_or(0, |range| range.memory_bytes()))
}

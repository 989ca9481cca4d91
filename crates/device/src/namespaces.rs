//! NVMe namespaces that jobs send commands to (`io_uring_cmd`).

use std::path::Path;

use engine::{NvmeSetup, ProtectionChecks, WriteCommand, identify_namespace};
use job::{Engine, Job, NvmeOptions, NvmeWrite};
use runner::policy;
use workload::{FileFact, WorkloadError};

/// Returns the state of the namespace at a path; `None` if there is none.
pub(crate) fn fact(job: &Job, path: &str) -> Option<FileFact> {
    let namespace = identify_namespace(Path::new(path)).ok()?;
    // Like a block device, a namespace has a fixed size.
    Some(FileFact { size: namespace.capacity(job.engine.nvme.pi_act), block_device: true })
}

/// Checks that a job names namespaces and nothing else.
pub(crate) fn check(job: &Job) -> Result<(), WorkloadError> {
    if job.engine.engine != Engine::IoUringCmd {
        return Ok(());
    }
    let mut paths = job.files.named_paths();
    if paths.is_empty() {
        paths.push(job.name.clone());
    }
    match paths.iter().find_map(|path| identify_namespace(Path::new(path)).err()) {
        Some(_) if job.files.filenames.is_empty() => {
            let message = "the engine io_uring_cmd needs the character device of an NVMe namespace\nhelp: write \
                           filename=/dev/ngXnY";
            Err(WorkloadError { option: "filename", message: message.to_owned() })
        }
        Some(error) => Err(WorkloadError { option: "filename", message: error.to_string() }),
        None => Ok(()),
    }
}

/// Returns the error if another engine would use the character device of a namespace.
pub(crate) fn check_other(path: &str) -> Result<(), WorkloadError> {
    let Some(node) = probe::namespace_at(Path::new("/"), Path::new(path)) else { return Ok(()) };
    let message = format!(
        "cannot use {path}: it is the character device of an NVMe namespace, which takes commands only\nhelp: write \
         filename=/dev/{} for its block device, or ioengine=io_uring_cmd",
        node.block_name
    );
    Err(WorkloadError { option: "filename", message })
}

/// Reports whether the operations of a job change namespaces, given that it writes.
pub(crate) fn changes(job: &Job) -> bool {
    job.engine.engine != Engine::IoUringCmd || job.engine.nvme.changes()
}

/// Returns the settings of the commands of a job; `None` for other engines.
pub(crate) fn setup(job: &Job, seed: u64) -> Option<NvmeSetup> {
    if job.engine.engine != Engine::IoUringCmd {
        return None;
    }
    let NvmeOptions { writes, deac, metadata_bytes, pi_act, pi_chk, apptag, apptag_mask } = &job.engine.nvme;
    Some(NvmeSetup {
        writes: writes.iter().map(|(write, percentage)| (command(*write), *percentage)).collect(),
        read_fua: job.engine.read_fua,
        write_fua: job.engine.write_fua,
        deallocates: *deac,
        device_protects: *pi_act,
        checks: ProtectionChecks { guard: pi_chk.guard, reference_tag: pi_chk.reftag, application_tag: pi_chk.apptag },
        application_tag: *apptag,
        application_tag_mask: *apptag_mask,
        metadata_bytes: *metadata_bytes,
        block_unit: policy::block_unit(job),
        seed,
    })
}

const fn command(write: NvmeWrite) -> WriteCommand {
    match write {
        NvmeWrite::Write => WriteCommand::Write,
        NvmeWrite::Uncorrectable => WriteCommand::Uncorrectable,
        NvmeWrite::Zeroes => WriteCommand::Zeroes,
        NvmeWrite::Verify => WriteCommand::Verify,
    }
}

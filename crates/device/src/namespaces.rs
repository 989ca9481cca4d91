//! NVMe namespaces that jobs send commands to (`io_uring_cmd`).

use std::path::Path;

use engine::{
    NvmeSetup, PlacementDirective, PlacementOrder, PlacementRange, PlacementSetup, ProtectionChecks, WriteCommand,
    identify_namespace, parse_placement_scheme,
};
use job::{Direction, Engine, Job, NvmeOptions, NvmeWrite, PlacementKind, PlacementOptions, PlacementSelect};
use runner::{WorkerError, policy};
use workload::{FileFact, WorkloadError};

/// Returns the state of the namespace at a path, with the size of its zones if it is needed; `None` if there is none.
pub(crate) fn fact(job: &Job, path: &str, zones_are_needed: bool) -> Option<FileFact> {
    let namespace = identify_namespace(Path::new(path)).ok()?;
    // Like a block device, a namespace has a fixed size.
    let zone_bytes = zones_are_needed.then(|| zone_bytes(job, Path::new(path))).flatten().unwrap_or(0);
    Some(FileFact {
        size: namespace.capacity(job.engine.nvme.pi_act),
        block_device: true,
        zone_bytes,
        ..FileFact::default()
    })
}

/// Returns the size of the zones of a namespace; `None` without zones.
fn zone_bytes(job: &Job, path: &Path) -> Option<u64> {
    let report = engine::zones_of_namespace(path, job.engine.nvme.pi_act).ok()??;
    Some(report.zone_bytes)
}

/// Checks that a job names namespaces and nothing else.
pub(crate) fn check(job: &Job) -> Result<(), WorkloadError> {
    if job.engine.engine != Engine::IoUringCmd {
        return Ok(());
    }
    let mut paths = job.files.filenames.clone();
    if paths.is_empty() {
        paths.push(job.section_title().to_owned());
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
pub(crate) fn setup(job: &Job, most_bytes: u32, seed: u64) -> Result<Option<NvmeSetup>, WorkerError> {
    if job.engine.engine != Engine::IoUringCmd {
        return Ok(None);
    }
    let NvmeOptions { writes, deac, metadata_bytes, pi_act, pi_chk, apptag, apptag_mask, placement, ranges, .. } =
        &job.engine.nvme;
    Ok(Some(NvmeSetup {
        writes: writes.iter().map(|(write, percentage)| (command(*write), *percentage)).collect(),
        read_fua: job.engine.read_fua,
        write_fua: job.engine.write_fua,
        ranges: *ranges,
        deallocates: *deac,
        device_protects: *pi_act,
        checks: ProtectionChecks { guard: pi_chk.guard, reference_tag: pi_chk.reftag, application_tag: pi_chk.apptag },
        application_tag: *apptag,
        application_tag_mask: *apptag_mask,
        metadata_bytes: *metadata_bytes,
        transfer_bytes: if job.pattern.direction == Direction::Trim { 0 } else { most_bytes },
        verifies: job.verify.method.is_some(),
        block_unit: policy::block_unit(job),
        placement: self::placement(placement)?,
        seed,
    }))
}

/// Returns where written data are placed, after reading the file of a scheme.
fn placement(options: &PlacementOptions) -> Result<Option<PlacementSetup>, WorkerError> {
    let directive = match options.effective() {
        PlacementKind::None => return Ok(None),
        PlacementKind::Fdp => PlacementDirective::Fdp,
        PlacementKind::Streams => PlacementDirective::Streams,
    };
    let order = match (options.select, &options.scheme) {
        (PlacementSelect::Random, _) => PlacementOrder::Random,
        (PlacementSelect::Scheme, Some(path)) => PlacementOrder::Scheme(scheme(path).map_err(WorkerError::new)?),
        _ => PlacementOrder::RoundRobin,
    };
    Ok(Some(PlacementSetup { directive, order, ids: options.ids.clone() }))
}

fn scheme(path: &str) -> Result<Vec<PlacementRange>, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("dp_scheme={path}: cannot read it: {}", engine::describe(&error)))?;
    parse_placement_scheme(&text).map_err(|line| {
        let shown = text.lines().nth(line - 1).unwrap_or_default();
        format!(
            "dp_scheme={path}: line {line} is no range of offsets: `{shown}`\nhelp: write start, end and index, as in \
             `0, 1048576, 2`"
        )
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

//! SCSI disks of jobs (`sg`).

use std::path::Path;
use std::sync::Arc;

use engine::scsi::{ScsiDevice, ScsiSetup, ScsiWriteMode};
use engine::{BlockedCall, CallKind};
use job::{Engine, Job, ScsiWriteCommand};
use runner::{WorkerError, WorkerPlan, policy};

use crate::safety;
use crate::shared_run::{SharedRun, worker_error};

/// Opens the disks of a worker and returns the settings of their target; none for any other engine. The disks stay open
/// until the worker has ended.
pub(crate) fn setup(
    worker_plan: &WorkerPlan,
    job: &Job,
    shared: &SharedRun,
) -> Result<(Vec<ScsiDevice>, Option<ScsiSetup>), WorkerError> {
    if job.engine.engine != Engine::Sg {
        return Ok((Vec::new(), None));
    }
    let options = &job.engine.scsi;
    let writes = safety::opens_for_writing(job);
    let write_mode = write_mode(options.write_command);
    let in_call = &shared.calls[worker_plan.number];
    let mut devices = Vec::with_capacity(worker_plan.files.files.len());
    for (file, planned) in (0..).zip(&worker_plan.files.files) {
        let since = shared.clock.now();
        in_call.enter(BlockedCall { kind: CallKind::Open, file, offset: 0, length: 0, since });
        let path = Path::new(&planned.path);
        let opened = if writes { ScsiDevice::open_admitted(path, &shared.gate) } else { ScsiDevice::open(path) };
        let opened = opened.and_then(|mut device| {
            device.check_block(policy::block_unit(job))?;
            if writes && write_mode == ScsiWriteMode::WriteStream {
                device.use_stream(options.stream)?;
            }
            Ok(device)
        });
        in_call.leave();
        let device = opened.map_err(|error| worker_error(&error))?;
        let end = planned.extent.start.saturating_add(planned.extent.length);
        if end > device.bytes() {
            let (path, bytes) = (planned.path.as_str(), device.bytes());
            return Err(WorkerError::new(format!(
                "{path} has {bytes} bytes by READ CAPACITY, and the job uses {end}\nhelp: use a smaller size or offset"
            )));
        }
        devices.push(device);
    }
    let (read_fua, write_fua) = (job.engine.read_fua, job.engine.write_fua);
    let disks = devices.iter().map(ScsiDevice::disk).collect();
    Ok((devices, Some(ScsiSetup { disks, write_mode, read_fua, write_fua, failure: Arc::default() })))
}

fn write_mode(command: ScsiWriteCommand) -> ScsiWriteMode {
    match command {
        ScsiWriteCommand::Write => ScsiWriteMode::Write,
        ScsiWriteCommand::WriteAndVerify => ScsiWriteMode::WriteAndVerify,
        ScsiWriteCommand::WriteSame => ScsiWriteMode::WriteSame,
        ScsiWriteCommand::WriteSameNdob => ScsiWriteMode::WriteSameWithoutData,
        ScsiWriteCommand::VerifyMedium => ScsiWriteMode::VerifyMedium,
        ScsiWriteCommand::VerifyData => ScsiWriteMode::VerifyData,
        ScsiWriteCommand::VerifySame => ScsiWriteMode::VerifySame,
        ScsiWriteCommand::WriteStream => ScsiWriteMode::WriteStream,
    }
}

//! Block devices of exports (`--device`), and removal of those left by crashed servers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use engine::Error;
use engine::block::{Device, DeviceDraft, DeviceSetup, clean_up};
use nbd::fuse::{Channel, MOST_BYTES, Node};
use nbd::server::ExportMount;
use rustix::process::{getegid, geteuid};

use crate::addresses::RuntimeDirectory;
use crate::stats::ExportFacts;
use engine::cleanup::{self, CleanUp};
use units::{Problem, ProblemCode};

/// Preferred I/O size, as reported to programs.
const BLOCK_BYTES: u32 = 4096;

/// Prepares a device for each export. The server must serve the mounts from its start.
///
/// # Errors
/// The system's refusal, with its remedy; prepared devices are removed.
pub(crate) fn prepare(
    facts: &[ExportFacts],
    directory: &RuntimeDirectory,
) -> Result<(Vec<DeviceDraft>, Vec<ExportMount>), Problem> {
    let directory = directory.make()?;
    let (mut drafts, mut mounts) = (Vec::new(), Vec::new());
    for (export, facts) in facts.iter().enumerate() {
        let setup = DeviceSetup {
            name: if facts.stats.name.is_empty() { "fathom".to_owned() } else { facts.stats.name.clone() },
            uri: facts.stats.uris.first().cloned().unwrap_or_default(),
            read_only: facts.stats.read_only,
            most_bytes: MOST_BYTES,
        };
        let prepared = DeviceDraft::new(setup, &directory).map_err(Problem::from);
        match prepared.and_then(|(draft, fuse)| Ok((draft, fuse.map(|fuse| mount(fuse, facts, export)).transpose()?))) {
            Ok((draft, mount)) => {
                drafts.push(draft);
                mounts.extend(mount);
            }
            Err(problem) => {
                drafts.into_iter().for_each(DeviceDraft::abandon);
                return Err(problem.of("--device"));
            }
        }
    }
    Ok((drafts, mounts))
}

fn mount(fuse: std::os::fd::OwnedFd, facts: &ExportFacts, export: usize) -> Result<ExportMount, Problem> {
    let owner = (geteuid().as_raw(), getegid().as_raw());
    let node = Node { size: facts.stats.size_bytes, block_bytes: BLOCK_BYTES, read_only: facts.stats.read_only, owner };
    let channel = Channel::new(fuse).map_err(|error| engine::io_problem(ProblemCode::Device, "FUSE", &error))?;
    Ok(ExportMount { channel, node, export })
}

/// Attaches the devices while the server runs.
///
/// # Errors
/// The system's refusal, with its remedy; all devices are removed.
pub(crate) fn attach(drafts: Vec<DeviceDraft>) -> Result<HeldDevices, Problem> {
    let mut devices = Vec::new();
    let mut drafts = drafts.into_iter();
    while let Some(draft) = drafts.next() {
        match draft.attach() {
            Ok(device) => devices.push(device),
            Err(error) => {
                drafts.for_each(DeviceDraft::abandon);
                let left = tear_down(devices);
                let mut problem = Problem::from(error).of("--device");
                problem.what.extend(left.iter().map(|left| format!("; {left}")));
                return Err(problem);
            }
        }
    }
    Ok(HeldDevices::new(devices))
}

/// Devices that are removed once, by the first thread that ends the process.
#[derive(Debug, Default)]
pub struct HeldDevices {
    devices: Arc<Mutex<Vec<Device>>>,
    clean_up: Option<CleanUp>,
}

impl HeldDevices {
    pub(crate) fn new(devices: Vec<Device>) -> Self {
        let devices = Arc::new(Mutex::new(devices));
        let ours = Arc::clone(&devices);
        let clean_up = Some(cleanup::on_exit(move || {
            let _ = remove_all(&ours);
        }));
        Self { devices, clean_up }
    }

    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        devices.iter().map(|device| device.path().to_owned()).collect()
    }

    /// Removes the devices, which requires a running server. Returns the failures.
    #[must_use]
    pub fn tear_down(mut self) -> Vec<Problem> {
        let left = remove_all(&self.devices);
        self.clean_up.take().into_iter().for_each(CleanUp::disarm);
        left
    }
}

/// Holds the lock during the removal, so that a second caller waits for it.
fn remove_all(devices: &Mutex<Vec<Device>>) -> Vec<Problem> {
    let mut devices = devices.lock().unwrap_or_else(PoisonError::into_inner);
    tear_down(std::mem::take(&mut *devices))
}

fn tear_down(devices: Vec<Device>) -> Vec<Problem> {
    let errors = devices.into_iter().filter_map(|device| device.tear_down().err()).flatten();
    errors.map(|error: Error| Problem::from(error).also_help("`fathom serve --cleanup` removes it later")).collect()
}

/// Result of removing devices of ended servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleanedDevices {
    /// Removed devices and mounts.
    pub removed: Vec<String>,
    /// Errors of those that remain.
    pub errors: Vec<Problem>,
}

/// Removes devices of servers that ended without doing so.
#[must_use]
pub fn clean(directory: &RuntimeDirectory) -> CleanedDevices {
    let mut all = CleanedDevices::default();
    for directory in directory.all() {
        let cleaned = clean_up(directory);
        all.removed.extend(cleaned.gone.iter().map(ToString::to_string));
        all.errors.extend(cleaned.errors.into_iter().map(Problem::from));
    }
    all
}

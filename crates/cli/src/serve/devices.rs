//! `--device`: exports as block devices of this host, and what is left of those whose server has ended badly.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use engine::Error;
use engine::block::{Device, DeviceDraft, DeviceSetup, clean_up};
use nbd::fuse::{Channel, MOST_BYTES, Node};
use nbd::server::ExportMount;
use rustix::process::{getegid, geteuid};

use super::figures::ExportFacts;
use super::places;
use crate::exit::Exit;
use crate::outputs;
use crate::shutdown::{self, CleanUp};
use crate::terminal::{tell, why};

/// What programs are told to be the best unit of I/O.
const BLOCK_BYTES: u32 = 4096;

/// Prepares a device for each export. The mounts are to be served from the beginning.
///
/// # Errors
/// The system's refusal, with its remedy; then nothing is left of those that were prepared.
pub(super) fn prepare(known: &[ExportFacts]) -> Result<(Vec<DeviceDraft>, Vec<ExportMount>), String> {
    let directory = places::private_directory()?;
    let (mut drafts, mut mounts) = (Vec::new(), Vec::new());
    for (export, known) in known.iter().enumerate() {
        let setup = DeviceSetup {
            name: if known.name.is_empty() { "fathom".to_owned() } else { known.name.clone() },
            uri: known.uris.first().cloned().unwrap_or_default(),
            read_only: known.read_only,
            most_bytes: MOST_BYTES,
        };
        let prepared = DeviceDraft::new(setup, &directory).map_err(|error| error.to_string());
        match prepared.and_then(|(draft, fuse)| Ok((draft, fuse.map(|fuse| mount(fuse, known, export)).transpose()?))) {
            Ok((draft, mount)) => {
                drafts.push(draft);
                mounts.extend(mount);
            }
            Err(problem) => {
                drafts.into_iter().for_each(DeviceDraft::abandon);
                return Err(format!("--device: {problem}"));
            }
        }
    }
    Ok((drafts, mounts))
}

fn mount(fuse: std::os::fd::OwnedFd, known: &ExportFacts, export: usize) -> Result<ExportMount, String> {
    let owner = (geteuid().as_raw(), getegid().as_raw());
    let node = Node { size: known.size_bytes, block_bytes: BLOCK_BYTES, read_only: known.read_only, owner };
    let channel = Channel::new(fuse).map_err(|error| why(&error))?;
    Ok(ExportMount { channel, node, export })
}

/// Makes the devices; the server is at work meanwhile.
///
/// # Errors
/// The system's refusal, with its remedy; then nothing is left of any.
pub(super) fn attach(drafts: Vec<DeviceDraft>) -> Result<HeldDevices, String> {
    let mut devices = Vec::new();
    let mut drafts = drafts.into_iter();
    while let Some(draft) = drafts.next() {
        match draft.attach() {
            Ok(device) => devices.push(device),
            Err(error) => {
                drafts.for_each(DeviceDraft::abandon);
                tear_down(devices);
                return Err(format!("--device: {error}"));
            }
        }
    }
    Ok(HeldDevices::new(devices))
}

/// Devices that are removed once, by the first thread that ends the process.
#[derive(Default)]
pub(super) struct HeldDevices {
    devices: Arc<Mutex<Vec<Device>>>,
    clean_up: Option<CleanUp>,
}

impl HeldDevices {
    pub(super) fn new(devices: Vec<Device>) -> Self {
        let devices = Arc::new(Mutex::new(devices));
        let ours = Arc::clone(&devices);
        let clean_up = Some(shutdown::on_exit(move || {
            let _ = take_away(&ours);
        }));
        Self { devices, clean_up }
    }

    /// The nodes of the devices.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        devices.iter().map(|device| device.path().to_owned()).collect()
    }

    /// Takes them away while the server is still at work; says what stays.
    pub(super) fn tear_down(mut self) -> Exit {
        let exit = take_away(&self.devices);
        self.clean_up.take().into_iter().for_each(CleanUp::disarm);
        exit
    }
}

/// Holds the lock meanwhile: a second caller waits until they are removed.
fn take_away(devices: &Mutex<Vec<Device>>) -> Exit {
    let mut devices = devices.lock().unwrap_or_else(PoisonError::into_inner);
    tear_down(std::mem::take(&mut *devices))
}

fn tear_down(devices: Vec<Device>) -> Exit {
    let errors: Vec<Error> = devices.into_iter().filter_map(|device| device.tear_down().err()).flatten().collect();
    errors.iter().for_each(|error| tell(&format!("fathom: {error}; `fathom serve --cleanup` takes it away later\n")));
    if errors.is_empty() { Exit::Good } else { Exit::Environment }
}

/// Takes away what servers have left that ended without doing so themselves.
pub(super) fn clean() -> Exit {
    let (mut gone, mut errors) = (Vec::new(), Vec::new());
    for directory in directories() {
        let cleaned = clean_up(&directory);
        gone.extend(cleaned.gone);
        errors.extend(cleaned.errors);
    }
    let mut text: String = gone.iter().map(|what| format!("took away {what}\n")).collect();
    if gone.is_empty() && errors.is_empty() {
        text = "nothing is left of servers that have ended\n".to_owned();
    }
    let said = outputs::say(&text);
    errors.iter().for_each(|error| tell(&format!("fathom: {error}\n")));
    if errors.is_empty() { said } else { Exit::Environment }
}

/// Where devices may have been prepared: they are not found again by a process that sets `XDG_RUNTIME_DIR` in between.
fn directories() -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = places::private_directories().into();
    directories.dedup();
    directories
}

//! What happens once the server is at work: its devices are made, then the command of `--run` is started or users are told
//! what they can do.

use std::ffi::OsString;

use engine::block::DeviceDraft;

use super::child::RunningChild;
use super::devices::{self, HeldDevices};
use crate::terminal::{tell, why};

/// All that is to be done then.
pub(super) struct Opening {
    pub(super) drafts: Vec<DeviceDraft>,
    /// The command of `--run`.
    pub(super) command: Option<String>,
    pub(super) hints: String,
    pub(super) variables: Vec<(&'static str, OsString)>,
}

/// An open server.
#[derive(Default)]
pub(super) struct OpenedServer {
    pub(super) devices: HeldDevices,
    pub(super) child: Option<RunningChild>,
}

impl Opening {
    /// Does it. Waits for the server, so another thread runs that.
    ///
    /// # Errors
    /// The system's refusal; then nothing is left of it.
    pub(super) fn open(self) -> Result<OpenedServer, String> {
        let devices = devices::attach(self.drafts)?;
        let Some(command) = self.command else {
            tell(&self.hints);
            let paths = devices.paths();
            paths.iter().for_each(|path| tell(&format!("  {:<11} {}\n", "device", path.display())));
            return Ok(OpenedServer { devices, child: None });
        };
        let mut variables = self.variables;
        let device = devices.paths().first().map(|path| path.as_os_str().to_owned()).unwrap_or_default();
        variables.push(("device", device));
        match RunningChild::start(&command, variables) {
            Ok(child) => Ok(OpenedServer { devices, child: Some(child) }),
            Err(error) => {
                devices.tear_down();
                Err(format!("--run: cannot start sh: {}", why(&error)))
            }
        }
    }
}

//! What happens once the server is at work: its devices are made, then the command of `--run` is started or users are told
//! what they can do.

use std::ffi::OsString;

use engine::block::DeviceDraft;

use crate::child::RunningChild;
use crate::devices::{self, HeldDevices};
use engine::describe;

/// All that is to be done then.
#[derive(Debug)]
pub struct Opening {
    pub(crate) drafts: Vec<DeviceDraft>,
    /// The command of `--run`.
    pub(crate) command: Option<String>,
    pub(crate) hints: String,
    pub(crate) variables: Vec<(&'static str, OsString)>,
}

/// An open server.
#[derive(Debug, Default)]
pub struct OpenedServer {
    /// Its block devices.
    pub devices: HeldDevices,
    /// The command that runs beside it.
    pub child: Option<RunningChild>,
}

impl Opening {
    /// Makes the devices and starts the command, or gives hints to `tell`. It waits for the server, which another thread runs.
    ///
    /// # Errors
    /// The system's refusal; then nothing is left of it.
    pub fn open(self, tell: &dyn Fn(&str)) -> Result<OpenedServer, String> {
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
                let left: String = devices.tear_down().iter().map(|left| format!("; {left}")).collect();
                Err(format!("--run: cannot start sh{left}: {}", describe(&error)))
            }
        }
    }
}

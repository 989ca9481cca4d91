//! Startup steps that need the running server: attach devices, then start the command of `--run` or print hints.

use std::ffi::OsString;
use std::path::PathBuf;

use engine::block::DeviceDraft;
use results::serve::ServerHints;

use crate::child::RunningChild;
use crate::devices::{self, HeldDevices};
use units::{Problem, ProblemCode};

/// Pending startup steps.
#[derive(Debug)]
pub struct Opening {
    pub(crate) drafts: Vec<DeviceDraft>,
    /// The command of `--run`.
    pub(crate) command: Option<String>,
    pub(crate) hints: ServerHints,
    pub(crate) variables: Vec<(&'static str, OsString)>,
}

/// Devices and command of a running server.
#[derive(Debug, Default)]
pub struct OpenedServer {
    /// Block devices.
    pub devices: HeldDevices,
    /// Command of `--run`.
    pub child: Option<RunningChild>,
}

impl Opening {
    /// Attaches the devices, then starts the command or passes hints and devices to `print`. Blocks until the
    /// server, on another thread, responds.
    ///
    /// # Errors
    /// The system's refusal; everything is undone.
    pub fn open(self, print: &dyn Fn(&ServerHints, &[PathBuf])) -> Result<OpenedServer, Problem> {
        let devices = devices::attach(self.drafts)?;
        let Some(command) = self.command else {
            print(&self.hints, &devices.paths());
            return Ok(OpenedServer { devices, child: None });
        };
        let mut variables = self.variables;
        let device = devices.paths().first().map(|path| path.as_os_str().to_owned()).unwrap_or_default();
        variables.push(("device", device));
        match RunningChild::start(&command, variables) {
            Ok(child) => Ok(OpenedServer { devices, child: Some(child) }),
            Err(error) => {
                let left: String = devices.tear_down().iter().map(|left| format!("; {left}")).collect();
                Err(engine::io_problem(ProblemCode::Host, format_args!("--run: cannot start sh{left}"), &error))
            }
        }
    }
}

//! The command of `--run`.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use runner::RunControl;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::addresses::BoundAddress;
use crate::stats::ExportFacts;
use engine::cleanup::{self, CleanUp};

/// A running command.
#[derive(Debug)]
pub struct RunningChild {
    child: Child,
    /// Whether it leads a process group with all processes that it starts.
    own_group: bool,
    /// Kills it if this process ends first.
    clean_up: Option<CleanUp>,
}

/// Time for the command to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(5);

impl RunningChild {
    /// Starts a shell command with `variables` in its environment.
    ///
    /// # Errors
    /// When there is no shell or no process can be created.
    pub(crate) fn start(command: &str, variables: Vec<(&'static str, OsString)>) -> std::io::Result<Self> {
        // On a terminal, only the foreground group can read input, and Ctrl-C reaches all of it.
        let own_group = !std::io::stdin().is_terminal();
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).envs(variables);
        if own_group {
            shell.process_group(0);
        }
        let child = shell.spawn()?;
        let pid = Pid::from_child(&child);
        let clean_up = Some(cleanup::on_exit(move || send(pid, own_group, Signal::KILL)));
        Ok(Self { child, own_group, clean_up })
    }

    /// Returns the exit status if the command has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().ok().flatten()?;
        // Its PID may be reused from now on.
        self.clean_up.take().into_iter().for_each(CleanUp::disarm);
        Some(status)
    }

    /// Sends SIGTERM, then SIGKILL after a grace period or as soon as `signals` is urgent.
    pub fn stop(&mut self, signals: &dyn RunControl) -> Option<ExitStatus> {
        self.signal(Signal::TERM);
        let signalled = Instant::now();
        while signalled.elapsed() < GRACE && !signals.is_urgent() {
            if let Some(status) = self.ended() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.signal(Signal::KILL);
        let status = self.child.wait().ok();
        self.clean_up.take().into_iter().for_each(CleanUp::disarm);
        status
    }

    fn signal(&self, signal: Signal) {
        send(Pid::from_child(&self.child), self.own_group, signal);
    }
}

fn send(pid: Pid, own_group: bool, signal: Signal) {
    // It may have ended already.
    let _ = if own_group { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
}

/// Returns the environment variables of the command, like those of `nbdkit --run`:
/// <https://libguestfs.org/nbdkit-captive.1.html>.
pub(crate) fn variables(
    facts: &[ExportFacts],
    addresses: &[BoundAddress],
    sockets: &ServerSockets<'_>,
) -> Vec<(&'static str, OsString)> {
    let first = facts.first();
    let uri = first.and_then(|facts| facts.stats.uris.first()).cloned().unwrap_or_default();
    let socket =
        addresses.iter().find_map(|bound| if let BoundAddress::Unix(path) = bound { Some(path) } else { None });
    let port = addresses
        .iter()
        .find_map(|bound| if let BoundAddress::Tcp { address, .. } = bound { Some(address.port()) } else { None });
    vec![
        ("uri", uri.into()),
        ("unixsocket", socket.cloned().unwrap_or_default().into()),
        ("exportname", first.map(|facts| facts.stats.name.clone()).unwrap_or_default().into()),
        ("port", port.map(|port| port.to_string()).unwrap_or_default().into()),
        ("statistics", sockets.statistics.into()),
        ("control", sockets.control.unwrap_or(Path::new("")).into()),
    ]
}

/// Sockets for statistics and commands.
#[derive(Clone, Copy)]
pub(crate) struct ServerSockets<'a> {
    pub(crate) statistics: &'a Path,
    pub(crate) control: Option<&'a Path>,
}

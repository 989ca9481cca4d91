//! Starts servers and queries them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::devices::tool;
use crate::common::json::Json;
use crate::common::{Outcome, Running, fathom, run, words};

/// A directory for sockets, whose paths must be short; removed on drop.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::Builder::new().prefix("fathom-").tempdir().expect("temporary files can be made"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Returns a command for `fathom serve` with its runtime directory in this one.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = fathom(words(&format!("serve {line}")));
        command.env("XDG_RUNTIME_DIR", self.0.path());
        command
    }

    /// Serves while a shell command runs.
    #[track_caller]
    pub(crate) fn serve_while(&self, line: &str, shell: &str) -> Outcome {
        run(self.command(line).arg("--run").arg(shell))
    }

    /// Starts a server at the socket `s`, and waits until it listens.
    #[track_caller]
    pub(crate) fn serve(&self, line: &str) -> Running {
        let socket = self.path("s");
        Running::serve(self.command(line).arg("--socket").arg(&socket), &socket)
    }

    /// Returns the address of an export of [`Place::serve`].
    pub(crate) fn uri(&self, export: &str) -> String {
        format!("nbd+unix:///{export}?socket={}", self.text("s"))
    }

    /// Returns the statistics of the server of [`Place::serve`].
    #[track_caller]
    pub(crate) fn stats(&self) -> Json {
        let words = ["serve", "--format", "json", "--stats", &self.text("s")];
        Json::read(&run(&mut fathom(words)).expect_clean().stdout)
    }
}

/// Stops a server and returns its output.
#[track_caller]
pub(crate) fn stopped(server: Running) -> Outcome {
    server.signal("TERM");
    server.end()
}

/// Runs a script of libnbd's Python, with `h` connected to an address.
#[track_caller]
pub(crate) fn python(uri: &str, script: &str) -> String {
    let script = format!(
        "import nbd, errno\nh = nbd.NBD()\nh.add_meta_context('base:allocation')\nh.connect_uri('{uri}')\n{script}"
    );
    tool("/usr/bin/python3", &["-c", &script])
}

/// Writes pseudo-random bytes to a file and returns them.
pub(crate) fn noise(path: &Path, bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let data: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    })
    .take(bytes)
    .collect();
    std::fs::write(path, &data).expect("the directory can be written to");
    data
}

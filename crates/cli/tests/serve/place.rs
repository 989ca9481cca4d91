//! A server at work, and what is asked of it.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::common::json::Json;
use super::common::{Outcome, Running, fathom, run, words};

/// A directory for sockets, whose paths must be short; it goes away with the test.
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

    /// `fathom serve` with a private directory of its own here.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = fathom(words(&format!("serve {line}")));
        command.env("XDG_RUNTIME_DIR", self.0.path());
        command
    }

    /// Serves while a command of the shell runs, and ends with it.
    #[track_caller]
    pub(crate) fn serve_while(&self, line: &str, shell: &str) -> Outcome {
        run(self.command(line).arg("--run").arg(shell))
    }

    /// Starts a server at the socket `s`, and waits until it listens.
    #[track_caller]
    pub(crate) fn serve(&self, line: &str) -> Running {
        let socket = self.path("s");
        let server = Running::start(self.command(line).arg("--socket").arg(&socket).stdin(Stdio::null()));
        wait_for("a server", || UnixStream::connect(&socket).is_ok());
        server
    }

    /// The address of an export of [`Place::serve`].
    pub(crate) fn uri(&self, export: &str) -> String {
        format!("nbd+unix:///{export}?socket={}", self.text("s"))
    }

    /// What the server of [`Place::serve`] tells of itself.
    #[track_caller]
    pub(crate) fn stats(&self) -> Json {
        let words = ["serve", "--format", "json", "--stats", &self.text("s")];
        Json::read(&run(&mut fathom(words)).expect_clean().stdout)
    }
}

/// Waits for something that comes soon.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let began = Instant::now();
    while !there() {
        assert!(began.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Stops a server and returns what it said at the end.
#[track_caller]
pub(crate) fn stopped(server: Running) -> Outcome {
    server.signal("TERM");
    server.end()
}

/// Runs a program that has to succeed; what it printed.
#[track_caller]
pub(crate) fn tool(program: &str, words: &[&str]) -> String {
    run(Command::new(program).args(words)).expect_code(0).stdout
}

/// Runs a script of libnbd's Python, with `h` connected to an address.
#[track_caller]
pub(crate) fn python(uri: &str, script: &str) -> String {
    let script = format!(
        "import nbd, errno\nh = nbd.NBD()\nh.add_meta_context('base:allocation')\nh.connect_uri('{uri}')\n{script}"
    );
    tool("/usr/bin/python3", &["-c", &script])
}

/// Bytes that no two blocks of share.
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

//! Helpers of the whole-program tests: scratch directories, programs with a time limit, requirements of the machine.
//!
//! Outputs are not compared as snapshots (insta, trycmd), because they depend on the host, on timing and on ports:
//! tests name what must be there. `cargo xtask generate --check` runs the pages of `docs/`. Only expected files of
//! reports and screens are compared byte for byte (`FATHOM_WRITE_EXPECTED=1` or `FATHOM_ACCEPT=1` writes them).

// Each test program uses some of them.
#![allow(dead_code, unused_imports, unused_macros)]

pub(crate) mod cases;
pub(crate) mod devices;
pub(crate) mod host;
pub(crate) mod json;
pub(crate) mod model;
pub(crate) mod object_store;
pub(crate) mod openmetrics;
pub(crate) mod pair;
pub(crate) mod schema;

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Ends programs that hang. Slow hosts need a tenth of it, and the runner of the tests ends a test after ten minutes.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(9 * 60);
/// Ends waits for what never happens.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(5 * 60);

/// Returns a command for Fathom that saves no runs and whose output does not depend on the environment.
pub(crate) fn fathom<S: AsRef<std::ffi::OsStr>>(words: impl IntoIterator<Item = S>) -> Command {
    let mut command = program(env!("CARGO_BIN_EXE_fathom"), words);
    command.env("FATHOM_NO_RECORD", "1").env("FATHOM_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/fathom-home"));
    // The ages of built-in prices.
    command.env("FATHOM_TODAY", "2026-11-30");
    command
}

/// With a clock given, fio calibrates that of the processor once instead of twice, which takes 64 ms of processor time.
pub(crate) const FIO_CLOCK: &str = "--clocksource=clock_gettime";

/// Returns a command for the installed fio, with a clock.
pub(crate) fn fio<S: AsRef<std::ffi::OsStr>>(words: impl IntoIterator<Item = S>) -> Command {
    let mut command = fio_with_exactly([FIO_CLOCK]);
    command.args(words);
    command
}

/// Returns a command for the installed fio, for results with the options of the job alone.
pub(crate) fn fio_with_exactly<S: AsRef<std::ffi::OsStr>>(words: impl IntoIterator<Item = S>) -> Command {
    program("fio", words)
}

fn program<S: AsRef<std::ffi::OsStr>>(name: &str, words: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(name);
    command.args(words).env("NO_COLOR", "1").env("COLUMNS", "100");
    command
}

/// Splits a command line at blanks.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Joins the words of a text with single blanks, so that line breaks do not matter.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Waits until a condition holds. Fails the test if it never does.
#[track_caller]
pub(crate) fn wait_for(what: &str, holds: impl FnMut() -> bool) {
    assert!(happens(holds), "timeout while waiting for {what}");
}

/// Waits until a condition holds. Reports whether it did: some tests have to clean up before they fail.
pub(crate) fn happens(mut holds: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while !holds() {
        if began.elapsed() > WAIT_MAX {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Repeats an attempt, each time with four times as much time, until the host was fast enough for it: an attempt whose
/// time was too short to decide says what did not happen in it.
#[track_caller]
pub(crate) fn with_more_time<T>(mut attempt: impl FnMut(u32) -> Result<T, String>) -> T {
    let mut missing = String::new();
    for factor in [1, 4, 16, 64] {
        match attempt(factor) {
            Ok(done) => return done,
            Err(why) => missing = why,
        }
    }
    panic!("with 64 times as much time, too: {missing}")
}

/// Returns the operations that a run has completed, by the last progress in the file of `--events`.
pub(crate) fn operations_in(events: &Path) -> u64 {
    let text = std::fs::read_to_string(events).unwrap_or_default();
    let last = text.rsplit("\"ios\":").next().filter(|rest| rest.len() < text.len());
    last.and_then(|rest| rest.split([',', '}']).next()?.parse().ok()).unwrap_or(0)
}

/// Returns a number in a file below `/proc` or `/sys`, by the word before it; zero if there is none.
pub(crate) fn counter(path: impl AsRef<Path>, name: &str) -> u64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let rest = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    rest.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Reports whether a process handles a signal, by `SigCgt` of its `status`, see `proc(5)`.
pub(crate) fn handles(pid: u32, signal: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

/// Returns the directories in `/proc` of the threads of a process that have a name: workers are named after their jobs.
pub(crate) fn workers(pid: u32, name: &str) -> Vec<PathBuf> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let is_named =
        |thread: &PathBuf| std::fs::read_to_string(thread.join("comm")).is_ok_and(|known| known.trim_end() == name);
    threads.map(|thread| thread.path()).filter(is_named).collect()
}

/// Reports whether a process has a worker of this name.
pub(crate) fn has_worker(pid: u32, name: &str) -> bool {
    !workers(pid, name).is_empty()
}

/// Returns the read calls of the workers of this name. Each operation of the simplest engines is one.
pub(crate) fn reads_of_worker(pid: u32, name: &str) -> u64 {
    workers(pid, name).iter().map(|thread| counter(thread.join("io"), "syscr")).sum()
}

/// Returns how often the first thread of a process has waited.
pub(crate) fn waits_of(pid: u32) -> u64 {
    counter(format!("/proc/{pid}/status"), "voluntary_ctxt_switches")
}

/// The exit status and the output of a program.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl Outcome {
    /// Returns the exit code; `None` after a signal.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Fails the test unless the program exited with this code.
    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code(), Some(code), "signal {:?}, {self:#?}", self.status.signal());
        self
    }

    /// Fails the test unless the program exited with one of these codes.
    #[track_caller]
    pub(crate) fn expect_one_of(self, codes: &[i32]) -> Self {
        assert!(self.code().is_some_and(|code| codes.contains(&code)), "signal {:?}, {self:#?}", self.status.signal());
        self
    }

    /// Fails the test unless the program succeeded without output on standard error.
    #[track_caller]
    pub(crate) fn expect_clean(self) -> Self {
        let clean = self.expect_code(0);
        assert_eq!(clean.stderr, "", "standard error is not empty");
        clean
    }
}

/// Runs a program to its end, with nothing on its standard input.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Outcome {
    Running::start(command).end()
}

/// What a warning says after the two seconds that saving a run may take.
pub(crate) const SAVED_TOO_LATE: &str = ": not finished after 2 s";

/// Runs a program to its end, again if the host was too busy to save the run in time.
#[track_caller]
pub(crate) fn run_saved(command: &mut Command) -> Outcome {
    let mut outcome = run(command);
    for _ in 0..4 {
        if !outcome.stderr.contains(SAVED_TOO_LATE) {
            break;
        }
        outcome = run(command);
    }
    outcome
}

/// Runs a program to its end, with `text` on its standard input.
#[track_caller]
pub(crate) fn run_with_input(command: &mut Command, text: &str) -> Outcome {
    use std::io::Write;
    let mut running = Running::spawn(command.stdin(Stdio::piped()));
    // A program that fails before it reads closes the pipe.
    let _ = running.child.stdin.take().expect("it is piped").write_all(text.as_bytes());
    running.end()
}

/// A running program, killed on drop.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    started: Instant,
    stdout: Option<Output>,
    stderr: Option<Output>,
}

/// What a program writes.
#[derive(Debug)]
struct Output {
    thread: JoinHandle<()>,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Output {
    fn of(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes: Arc<Mutex<Vec<u8>>> = Arc::default();
        let into = Arc::clone(&bytes);
        let thread = std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(read @ 1..) => {
                        into.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buffer[..read]);
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Ok(_) | Err(_) => return,
                }
            }
        });
        Self { thread, bytes }
    }

    /// Returns the text so far.
    fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        String::from_utf8(bytes).unwrap_or_else(|error| format!("not UTF-8: {error}"))
    }

    /// Returns the text once the program has closed the pipe.
    fn whole(self) -> String {
        let Self { thread, bytes } = self;
        let _ = thread.join();
        let bytes = std::mem::take(&mut *bytes.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8(bytes).unwrap_or_else(|error| format!("not UTF-8: {error}"))
    }
}

impl Running {
    /// Starts a program with nothing on its standard input.
    #[track_caller]
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::spawn(command.stdin(Stdio::null()))
    }

    /// Starts a server and waits until it accepts connections at a Unix socket.
    #[track_caller]
    pub(crate) fn serve(command: &mut Command, socket: impl AsRef<Path>) -> Self {
        let mut server = Self::start(command);
        wait_for("a server", || {
            assert!(!server.has_ended(), "{command:?} does not serve");
            UnixStream::connect(&socket).is_ok()
        });
        server
    }

    /// Starts a program with the standard input that its command has.
    #[track_caller]
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let started = Instant::now();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let stdout = child.stdout.take().map(Output::of);
        let stderr = child.stderr.take().map(Output::of);
        Self { child, started, stdout, stderr }
    }

    /// Returns the process ID.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name, such as `INT`.
    #[track_caller]
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "cannot send SIG{name}");
    }

    /// Reports whether the program has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it is a child of this process").is_some()
    }

    /// Reports whether the program handles SIGINT: it ends itself from then on.
    pub(crate) fn handles_signals(&self) -> bool {
        handles(self.pid(), 2)
    }

    /// Reports whether the program has a worker of this name.
    pub(crate) fn has_worker(&self, name: &str) -> bool {
        has_worker(self.pid(), name)
    }

    /// Waits until a run has completed operations, by the file of its `--events`, or has ended.
    #[track_caller]
    pub(crate) fn wait_for_operations(&mut self, events: impl AsRef<Path>) {
        wait_for("operations", || operations_in(events.as_ref()) > 0 || self.has_ended());
    }

    /// Returns what a program that has ended wrote to standard error.
    pub(crate) fn messages(&mut self) -> String {
        self.text().1
    }

    /// Returns what a running program has written to standard error.
    pub(crate) fn messages_so_far(&self) -> String {
        self.stderr.as_ref().map(Output::text).unwrap_or_default()
    }

    /// Waits for the end of the program.
    #[track_caller]
    pub(crate) fn end(mut self) -> Outcome {
        while !self.has_ended() {
            if self.started.elapsed() > TIME_LIMIT {
                let _ = self.child.kill();
                panic!("not finished after {TIME_LIMIT:?}: {}", self.text().1);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let took = self.started.elapsed();
        let status = self.child.wait().expect("it has ended");
        let (stdout, stderr) = self.text();
        Outcome { status, stdout, stderr, took }
    }

    fn text(&mut self) -> (String, String) {
        let text = |output: Option<Output>| output.map(Output::whole).unwrap_or_default();
        (text(self.stdout.take()), text(self.stderr.take()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.has_ended() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// A directory, removed on drop.
#[derive(Debug)]
pub(crate) struct Scratch(tempfile::TempDir);

impl Scratch {
    /// Creates a directory on the disk of the build, because memory filesystems have no direct I/O.
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("fathom-e2e-").tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        Self(directory.expect("the directory of the build can be written to"))
    }

    /// Returns a path in the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns a path in the directory, as text.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).into_os_string().into_string().expect("the path of the build is UTF-8")
    }

    /// Reads a text file.
    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Writes a file and returns its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).expect("the scratch directory can be written to");
        self.text(name)
    }

    /// Creates a sparse file and returns its path.
    pub(crate) fn sparse(&self, name: &str, bytes: u64) -> String {
        let file = std::fs::File::create(self.path(name)).expect("the scratch directory can be written to");
        file.set_len(bytes).expect("the file can be extended");
        self.text(name)
    }

    /// Returns the names in the directory, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("the scratch directory is there");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl AsRef<Path> for Scratch {
    fn as_ref(&self) -> &Path {
        self.0.path()
    }
}

/// Counts the 4 KiB blocks of a file that hold anything but zeros.
pub(crate) fn blocks_with_data(path: &Path) -> u64 {
    let content = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    content.chunks(4096).filter(|block| block.iter().any(|byte| *byte != 0)).count() as u64
}

/// A requirement of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// fio is installed.
    Fio,
    /// The example jobs of fio are installed.
    FioExamples,
    /// Loop devices can be created, formatted and mounted.
    Root,
    /// The kernel supports swap.
    Swap,
    /// FUSE filesystems can be mounted.
    Fuse,
    /// `serve --device` creates loop devices, because the kernel's NBD driver is not loaded.
    NoKernelNbd,
    /// PostgreSQL is installed.
    Postgres,
    /// The shell of SQLite is installed.
    Sqlite,
    Rocksdb,
    /// Certificates can be created.
    Openssl,
    /// NBD clients are installed: the tools of libnbd and QEMU.
    NbdTools,
    /// The system's Python is installed.
    Python,
    /// The system's Python has libnbd.
    NbdPython,
    /// The system's Python has servers of S3 (moto) and `WebDAV` (wsgidav).
    ObjectStores,
    /// The system's Python has the official Prometheus client.
    PrometheusClient,
    /// nbdkit is installed, with its filters.
    Nbdkit,
    /// Chromium is installed.
    Chromium,
    /// qemu-storage-daemon is installed.
    Qemu,
    /// man-db is installed, which formats pages with groff.
    Man,
    /// mandoc is installed.
    Mandoc,
    /// zsh is installed.
    Zsh,
    /// fish is installed.
    Fish,
    /// The system's Python can read YAML.
    PythonYaml,
    /// Debian packages can be built.
    Debhelper,
    /// git is installed.
    Git,
    /// shellcheck is installed.
    Shellcheck,
}

/// Reports whether a requirement is met, and prints that the test is skipped if it is not.
///
/// With `FATHOM_NO_SKIP=1`, as in CI, an unmet requirement is a failure.
#[track_caller]
pub(crate) fn met(need: Need) -> bool {
    let reason = match need {
        Need::Fio if !runs("fio", "--version") => "fio is not installed",
        Need::FioExamples if !Path::new("/usr/share/doc/fio/examples").exists() => "fio-examples is not installed",
        Need::Chromium if !runs("chromium", "--version") => "chromium is not installed",
        Need::Nbdkit if !runs("nbdkit", "--version") => "nbdkit is not installed",
        Need::Qemu if !runs("qemu-storage-daemon", "--version") => "qemu-storage-daemon is not installed",
        Need::Root if std::fs::metadata("/proc/self").map_or(u32::MAX, |of| of.uid()) != 0 => "not root",
        Need::Root if !runs("losetup", "--version") => "losetup is not installed",
        Need::Root if !Path::new("/dev/loop-control").exists() => "this kernel has no loop devices",
        Need::Swap if !Path::new("/proc/swaps").exists() => "this kernel does not swap",
        Need::Fuse if !Path::new("/dev/fuse").exists() => "this kernel has no FUSE",
        Need::NoKernelNbd if Path::new("/sys/block/nbd0").exists() => "the kernel's nbd driver is loaded (rmmod nbd)",
        Need::Postgres if !Path::new("/usr/lib/postgresql").exists() => "postgresql is not installed",
        Need::Sqlite if !runs("sqlite3", "--version") => "sqlite3 is not installed",
        Need::Rocksdb if !runs("db_bench", "--version") => "rocksdb-tools is not installed",
        Need::Openssl if !runs("openssl", "version") => "openssl is not installed",
        Need::NbdTools if !runs("nbdinfo", "--version") || !runs("nbdcopy", "--version") => {
            "libnbd-bin is not installed"
        }
        Need::NbdTools if !runs("qemu-img", "--version") || !runs("qemu-io", "--version") => {
            "qemu-utils is not installed"
        }
        Need::Python if !runs("/usr/bin/python3", "--version") => "python3 is not installed",
        Need::NbdPython if !runs("/usr/bin/python3", "-cimport nbd") => "python3-libnbd is not installed",
        Need::PrometheusClient if !runs("/usr/bin/python3", "-cimport prometheus_client") => {
            "python3-prometheus-client is not installed"
        }
        Need::ObjectStores if !runs("/usr/bin/python3", "-cimport moto.server, boto3, wsgidav, cheroot") => {
            "the Python packages moto[server] and wsgidav are not installed"
        }
        Need::Man if !runs("man", "--version") => "man-db is not installed",
        // mandoc has no --version.
        Need::Mandoc if Command::new("mandoc").arg("/dev/null").output().is_err() => "mandoc is not installed",
        Need::Zsh if !runs("zsh", "--version") => "zsh is not installed",
        Need::Fish if !runs("fish", "--version") => "fish is not installed",
        Need::PythonYaml if !runs("/usr/bin/python3", "-cimport yaml") => "python3-yaml is not installed",
        Need::Git if !runs("/usr/bin/git", "--version") => "git is not installed",
        Need::Shellcheck if !runs("/usr/bin/shellcheck", "--version") => "shellcheck is not installed",
        // `dh --version` fails outside a package.
        Need::Debhelper
            if !runs("dpkg-buildpackage", "--version") || Command::new("dh").arg("--version").output().is_err() =>
        {
            "debhelper is not installed"
        }
        _ => return true,
    };
    assert!(std::env::var_os("FATHOM_NO_SKIP").is_none_or(|value| value != "1"), "{reason}");
    println!("skipped: {reason}");
    false
}

fn runs(program: &str, argument: &str) -> bool {
    Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
}

/// Skips a test if the machine does not meet its requirements.
macro_rules! require {
    ($($need:ident),+) => {
        $(if !$crate::common::met($crate::common::Need::$need) {
            return;
        })+
    };
}
pub(crate) use require;

/// Applies a function to all items at the same time: for programs that mostly wait.
pub(crate) fn at_once<T: Sync, R: Send>(items: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let of = &of;
        let threads: Vec<_> = items.iter().map(|item| scope.spawn(move || of(item))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)))
            .collect()
    })
}

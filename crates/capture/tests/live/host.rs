//! Devices and loads of the tests.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use capture::{CaptureHost, CaptureOptions, capture, sample};
use record::{Input, Run, read_input};
use results::capture::{CaptureProgress, CaptureResult, SampleProgress, SampleResult};
use trace::{TraceEnd, TraceInfo, TraceReader, TraceRequest, TraceStep};

/// Prints that a test is skipped, which `FATHOM_NO_SKIP=1` forbids.
pub(crate) fn skip<T>(reason: &str) -> Option<T> {
    assert!(std::env::var_os("FATHOM_NO_SKIP").is_none_or(|value| value != "1"), "not skipped: {reason}");
    println!("skipped: {reason}");
    None
}

/// Lets one capture run at a time: an instance is named by its process.
pub(crate) fn lock() -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    Some(ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A loop device over a file in memory.
pub(crate) struct LoopDisk {
    path: PathBuf,
    file: PathBuf,
    is_attached: bool,
}

impl LoopDisk {
    pub(crate) fn new(mib: u64) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return skip("captures need root");
        }
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let file = PathBuf::from(format!("/dev/shm/fathom-capture-{}-{number}", std::process::id()));
        File::create(&file).and_then(|file| file.set_len(mib << 20)).unwrap();
        let output = Command::new("losetup").args(["--find", "--show"]).arg(&file).output().unwrap();
        if !output.status.success() {
            std::fs::remove_file(&file).unwrap();
            return skip(&format!("losetup: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        let disk = Self { path: String::from_utf8(output.stdout).unwrap().trim().into(), file, is_attached: true };
        // Programs that examine new devices read them for a moment.
        let mut before = disk.counters();
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(50));
            let now = disk.counters();
            if now == before {
                break;
            }
            before = now;
        }
        Some(disk)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Detaches the device, once: its number may be another test's afterwards.
    pub(crate) fn detach(&mut self) {
        if std::mem::take(&mut self.is_attached) {
            let status = Command::new("losetup").arg("--detach").arg(&self.path).status();
            assert!(std::thread::panicking() || status.unwrap().success());
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.path.file_name().unwrap().to_str().unwrap()
    }

    /// Returns the fields of the device's line in `/proc/diskstats`.
    pub(crate) fn counters(&self) -> Vec<u64> {
        counters(self.name())
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        self.detach();
        let _ = std::fs::remove_file(&self.file);
    }
}

fn counters(name: &str) -> Vec<u64> {
    let text = std::fs::read_to_string("/proc/diskstats").unwrap();
    let line = text.lines().find(|line| line.split_whitespace().nth(2) == Some(name)).unwrap();
    line.split_whitespace().skip(3).map(|field| field.parse().unwrap()).collect()
}

/// The device zram0, in use by no other program.
pub(crate) struct Zram;

impl Zram {
    pub(crate) fn new() -> Option<Self> {
        let size = std::fs::read_to_string("/sys/block/zram0/disksize").unwrap_or_default();
        if size.trim() != "0" || std::fs::write("/sys/block/zram0/disksize", "32M").is_err() {
            return skip("there is no unused zram0");
        }
        Some(Self)
    }

    pub(crate) fn counters(&self) -> Vec<u64> {
        counters("zram0")
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let _ = std::fs::write("/sys/block/zram0/reset", "1");
    }
}

/// Waits for a condition.
pub(crate) fn await_that(mut is_true: impl FnMut() -> bool) {
    assert!(happens(&mut is_true), "waited for too long");
}

/// Reports whether a condition becomes true before nothing more can be hoped for.
fn happens(is_true: &mut impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while !is_true() {
        if began.elapsed() > Duration::from_secs(300) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Runs fio on a device, with direct I/O. `LOOP` stands for its name.
pub(crate) fn fio(disk: &LoopDisk, words: &str) {
    fio_on(&disk.path.display().to_string(), &words.replace("LOOP", disk.name()));
}

/// Runs fio as [`fio`] does, and returns what it measured.
pub(crate) fn measured_by_fio(disk: &LoopDisk, words: &str) -> Run {
    let words = format!("{} --output-format=json", words.replace("LOOP", disk.name()));
    let document = fio_on(&disk.path.display().to_string(), &words);
    match read_input("fio", &document, None).unwrap() {
        Input::Run(run) => *run,
        other => panic!("{other:?}"),
    }
}

/// Runs fio, and returns what it printed.
pub(crate) fn fio_on(path: &str, words: &str) -> Vec<u8> {
    let output = fio_command(path, words).stdout(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    output.stdout
}

/// A load that is ended when it is dropped.
pub(crate) struct EndlessLoad(Child);

impl EndlessLoad {
    /// Starts a load in threads of one process, and waits until it has read from its device.
    pub(crate) fn on(disk: &LoopDisk, words: &str) -> Self {
        let load = Self(spawn_fio(disk.path(), &format!("{words} --thread --time_based --runtime=3600")));
        await_that(|| load.read_bytes() > 0);
        load
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Returns the bytes that it has read from devices so far, see `proc_pid_io(5)`.
    pub(crate) fn read_bytes(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/io", self.id())).unwrap_or_default();
        let bytes = text.lines().find_map(|line| line.strip_prefix("read_bytes:")?.trim().parse().ok());
        bytes.expect("the load runs, and the kernel counts its bytes")
    }
}

impl Drop for EndlessLoad {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn spawn_fio(path: &Path, words: &str) -> Child {
    fio_command(&path.display().to_string(), words).stdout(Stdio::null()).spawn().unwrap()
}

fn fio_command(path: &str, words: &str) -> Command {
    let mut command = Command::new("fio");
    command
        .args([
            "--clocksource=clock_gettime",
            "--name=a",
            "--direct=1",
            "--randrepeat=0",
            "--norandommap",
            "--filename",
        ])
        .arg(path);
    command.args(words.split(' '));
    command
}

/// Reads a trace. Returns whether it is complete.
pub(crate) fn read_trace(path: &Path) -> (Vec<TraceRequest>, TraceInfo, bool) {
    let mut reader = TraceReader::new();
    reader.feed(&std::fs::read(path).unwrap());
    reader.end_input();
    let mut requests = Vec::new();
    loop {
        match reader.next(&mut requests) {
            Ok(TraceStep::End(end)) => return (requests, reader.info().clone(), end == TraceEnd::Complete),
            Ok(TraceStep::Requests) => {}
            step => panic!("{step:?}"),
        }
    }
}

/// A tracefs mounted for a test.
pub(crate) struct MountedTracefs(tempfile::TempDir);

pub(crate) fn mounted_tracefs() -> Option<MountedTracefs> {
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new("mount").args(["-t", "tracefs", "tracefs"]).arg(folder.path()).status().unwrap();
    if status.success() { Some(MountedTracefs(folder)) } else { skip("tracefs cannot be mounted") }
}

impl MountedTracefs {
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for MountedTracefs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

/// A host that ends when its load has ended.
#[derive(Clone, Default)]
pub(crate) struct Recorder {
    ended: Arc<AtomicBool>,
    /// Whether the capture does not read until its load has ended.
    is_stalled: bool,
    /// Whether the capture ends by itself.
    ends_itself: bool,
    calls: Arc<AtomicU64>,
}

impl Recorder {
    /// Captures while a load runs.
    pub(crate) fn during(options: &CaptureOptions, load: impl FnOnce()) -> CaptureResult {
        Self::default().run(options, load)
    }

    /// Captures while a load runs, but does not read the buffers until it has ended.
    pub(crate) fn stalled_during(options: &CaptureOptions, load: impl FnOnce()) -> CaptureResult {
        Self { is_stalled: true, ..Self::default() }.run(options, load)
    }

    /// Captures while a load runs and until the capture ends by itself.
    pub(crate) fn to_its_end(options: &CaptureOptions, load: impl FnOnce()) -> CaptureResult {
        Self { ends_itself: true, ..Self::default() }.run(options, load)
    }

    /// Samples counters while a load runs.
    pub(crate) fn sampled_during(options: &CaptureOptions, interval: Duration, load: impl FnOnce()) -> SampleResult {
        Self::default().observe(load, |host| sample(options, interval, host).unwrap())
    }

    /// Samples counters while a load runs and until sampling ends by itself. The load can find out how often sampling has
    /// asked whether to end.
    pub(crate) fn sampled_to_its_end(
        options: &CaptureOptions,
        interval: Duration,
        load: impl FnOnce(&AtomicU64),
    ) -> SampleResult {
        let recorder = Self { ends_itself: true, ..Self::default() };
        let calls = Arc::clone(&recorder.calls);
        recorder.observe(|| load(&calls), |host| sample(options, interval, host).unwrap())
    }

    fn run(self, options: &CaptureOptions, load: impl FnOnce()) -> CaptureResult {
        self.observe(load, |host| capture(options, host).unwrap())
    }

    fn observe<T: Send>(self, load: impl FnOnce(), observer: impl FnOnce(&mut Self) -> T + Send) -> T {
        let mut host = self.clone();
        std::thread::scope(|scope| {
            let captured = scope.spawn(|| observer(&mut host));
            while self.calls.load(Ordering::Relaxed) == 0 && !captured.is_finished() {
                std::thread::sleep(Duration::from_millis(5));
            }
            load();
            if self.ends_itself {
                happens(&mut || captured.is_finished());
            }
            self.ended.store(true, Ordering::Relaxed);
            captured.join().unwrap()
        })
    }
}

impl CaptureHost for Recorder {
    fn is_ended(&self) -> bool {
        // The first call comes after events were enabled, or counters read.
        self.calls.fetch_add(1, Ordering::Relaxed);
        while self.is_stalled && !self.ended.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.ended.load(Ordering::Relaxed)
    }

    fn progress(&mut self, _: &CaptureProgress) {}

    fn sampled(&mut self, _: &SampleProgress) {}

    fn concluding(&mut self) {}

    fn warn(&mut self, warning: &units::Problem) {
        println!("{warning}");
    }
}

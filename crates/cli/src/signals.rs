//! Signal handling.
//!
//! The first SIGINT, SIGTERM or SIGHUP ends the command in good order: no new operations, up to the grace period for those
//! in flight, then results. The second one skips the grace period. The third one cleans up and exits.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use runner::RunControl;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::flag;

use crate::exit::Exit;
use crate::shutdown;
use crate::terminal::write_stderr;

/// Default wait for operations in flight.
pub(crate) const GRACE: Duration = Duration::from_secs(10);
/// Time beyond the grace period that the main thread may need to print results.
const SLACK: Duration = Duration::from_secs(3);

/// Requests from signals. All handles of a process share one state.
#[derive(Clone, Debug)]
pub(crate) struct Signals {
    state: &'static SignalState,
    status: Arc<AtomicBool>,
    installed: Instant,
}

#[derive(Debug)]
struct SignalState {
    /// The first signal that asked for an end; zero for none.
    signal: AtomicI32,
    asked: AtomicUsize,
    /// When the first and the second one came.
    first: OnceLock<Instant>,
    second: OnceLock<Instant>,
    grace_ms: AtomicU64,
    /// The command has ended, and prints.
    concluding: AtomicBool,
}

static STATE: SignalState = SignalState {
    signal: AtomicI32::new(0),
    asked: AtomicUsize::new(0),
    first: OnceLock::new(),
    second: OnceLock::new(),
    grace_ms: AtomicU64::new(GRACE.as_millis() as u64),
    concluding: AtomicBool::new(false),
};

impl Signals {
    /// Handles SIGINT, SIGTERM and SIGHUP from now on, and SIGUSR1 as a request for results so far.
    ///
    /// # Errors
    ///
    /// When the system refuses to install a handler or to start a thread.
    pub(crate) fn install() -> std::io::Result<Self> {
        let signals = Self { state: &STATE, status: Arc::default(), installed: Instant::now() };
        // A file that grows beyond `ulimit -f` is then an error with its place, not the end of the process.
        flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        flag::register(SIGUSR1, Arc::clone(&signals.status))?;
        let mut ends = vec![SIGINT, SIGTERM];
        // Under nohup a closed terminal is no reason to end.
        if !is_ignored(SIGHUP) {
            ends.push(SIGHUP);
        }
        let mut arrivals = signal_hook::iterator::Signals::new(ends)?;
        let listen = move || arrivals.forever().for_each(|signal| STATE.ask(signal));
        std::thread::Builder::new().name("signals".into()).spawn(listen)?;
        Ok(signals)
    }

    /// The same for a command that cannot do without: a refusal is told.
    pub(crate) fn listen() -> Result<Self, Exit> {
        Self::install().map_err(|error| Exit::environment(&format!("cannot listen to signals: {error}")))
    }

    /// The same with another grace period than [`GRACE`].
    pub(crate) fn with_grace(self, grace: Duration) -> Self {
        self.state.grace_ms.store(u64::try_from(grace.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self
    }

    /// The signal that asked for an end, if one has come.
    pub(crate) fn end(&self) -> Option<i32> {
        Some(self.state.signal.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
    }

    /// The command has ended, and its results are about to be written: this may take as long as their readers take.
    pub(crate) fn conclude(&self) {
        self.state.concluding.store(true, Ordering::Relaxed);
    }
}

impl RunControl for Signals {
    fn end(&self) -> Option<i32> {
        self.end()
    }

    fn gives_up(&self) -> bool {
        let is_over = |first: &Instant| first.elapsed() >= self.grace();
        self.is_urgent() || self.state.first.get().is_some_and(is_over)
    }

    fn is_urgent(&self) -> bool {
        self.state.second.get().is_some()
    }

    fn grace(&self) -> Duration {
        self.state.grace()
    }

    fn take_status_request(&self) -> bool {
        self.status.swap(false, Ordering::Relaxed)
    }

    fn is_stuck(&self) -> bool {
        device::stuck::is_stuck()
    }

    fn elapsed(&self) -> Duration {
        self.installed.elapsed()
    }
}

impl SignalState {
    fn grace(&self) -> Duration {
        Duration::from_millis(self.grace_ms.load(Ordering::Relaxed))
    }

    /// A signal has come; on the thread that waits for them.
    fn ask(&'static self, signal: i32) {
        match self.asked.fetch_add(1, Ordering::Relaxed) {
            0 => {
                self.first.get_or_init(Instant::now);
                self.signal.store(signal, Ordering::Relaxed);
                // Without a thread for it the third signal still ends everything.
                let _ = std::thread::Builder::new().name("watchdog".into()).spawn(move || self.watch(signal));
            }
            1 => drop(self.second.get_or_init(Instant::now)),
            _ => shutdown::end_now(Exit::Signal(signal)),
        }
    }

    /// Ends the process where the main thread hangs in a call to a target, from which no flag can bring it back.
    fn watch(&self, signal: i32) {
        while !self.concluding.load(Ordering::Relaxed) {
            let is_over = |since: Option<&Instant>, most| since.is_some_and(|since| since.elapsed() > most);
            if is_over(self.second.get(), SLACK) || is_over(self.first.get(), self.grace().saturating_add(SLACK)) {
                device::stuck::set_stuck();
                tell_in_time(WITHOUT_RESULTS);
                shutdown::end_now(Exit::Signal(signal));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Message of the watchdog.
const WITHOUT_RESULTS: &str = "fathom: ended by a signal without results: the command has not ended by itself in time; \
    where a file or device does not answer, check it or its server (see dmesg)\n";
/// Maximum time for writing it to standard error.
const TELL_MOST: Duration = Duration::from_millis(500);

/// Tells people something, unless the pipe to them is full.
fn tell_in_time(text: &'static str) {
    let (sender, told) = std::sync::mpsc::channel();
    let telling = std::thread::Builder::new().name("last words".into()).spawn(move || {
        write_stderr(text);
        let _ = sender.send(());
    });
    if telling.is_ok() {
        let _ = told.recv_timeout(TELL_MOST);
    }
}

/// A length of time with its unit: `500ms`, `10s`, `2m`, `1h`; seconds without one.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit_s = match &text[digits.len()..] {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        unit => return Err(format!("`{unit}` is not a unit of time; use ms, s, m or h, such as 500ms, 10s or 2m")),
    };
    let number = digits.parse::<f64>().ok().filter(|number| (0.0..=1e7).contains(number));
    let seconds = number.ok_or_else(|| "write a number and a unit, for example 500ms, 10s or 2m".to_owned())?;
    Ok(Duration::from_secs_f64(seconds * unit_s))
}

/// Whether this process was started with a signal ignored: `proc(5)`, `SigIgn` of `status`.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

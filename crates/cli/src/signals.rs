//! Signal handling.
//!
//! The first SIGINT, SIGTERM or SIGHUP ends the command: it issues no new operations, waits up to the grace period for
//! those in flight, and prints results. The second signal skips the grace period. The third cleans up and exits.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use runner::RunControl;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::flag;
use units::{Problem, ProblemCode};

use crate::exit::Exit;
use crate::shutdown;
use crate::terminal::write_stderr;

/// Default grace period.
pub(crate) const GRACE: Duration = Duration::from_secs(10);
/// Time within which a signal that has arrived in another rank may arrive here too.
const REMOTE: Duration = Duration::from_secs(2);
/// Time that the main thread has beyond the grace period to conclude the command.
const SLACK: Duration = Duration::from_secs(3);

/// A handle of the state that signals change. All handles of the process share one state.
#[derive(Clone, Debug)]
pub(crate) struct Signals {
    state: &'static SignalState,
    status: Arc<AtomicBool>,
    installed: Instant,
}

#[derive(Debug)]
struct SignalState {
    /// Number of the first termination signal; zero before it.
    signal: AtomicI32,
    /// Number of termination signals so far.
    signals: AtomicUsize,
    first: OnceLock<Instant>,
    second: OnceLock<Instant>,
    grace_ms: AtomicU64,
    /// Whether the first signal arrived in another rank. Launchers send it to all, so it may arrive here too.
    is_remote: AtomicBool,
    /// Whether the command has ended and writes its results.
    concluding: AtomicBool,
}

static STATE: SignalState = SignalState {
    signal: AtomicI32::new(0),
    signals: AtomicUsize::new(0),
    first: OnceLock::new(),
    second: OnceLock::new(),
    grace_ms: AtomicU64::new(GRACE.as_millis() as u64),
    is_remote: AtomicBool::new(false),
    concluding: AtomicBool::new(false),
};

impl Signals {
    /// Installs handlers of SIGINT, SIGTERM and SIGHUP, and of SIGUSR1, which requests the results so far.
    pub(crate) fn install() -> std::io::Result<Self> {
        let signals = Self { state: &STATE, status: Arc::default(), installed: Instant::now() };
        // With SIGXFSZ handled, a write beyond `ulimit -f` fails with an error instead of ending the process.
        flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        flag::register(SIGUSR1, Arc::clone(&signals.status))?;
        let mut handled = vec![SIGINT, SIGTERM];
        // nohup ignores SIGHUP, so that the command survives the terminal.
        if !is_ignored(SIGHUP) {
            handled.push(SIGHUP);
        }
        let mut arrivals = signal_hook::iterator::Signals::new(handled)?;
        let listen = move || arrivals.forever().for_each(|signal| STATE.receive(signal));
        std::thread::Builder::new().name("signals".into()).spawn(listen)?;
        Ok(signals)
    }

    /// Installs the handlers with a grace period. Prints an error if that fails.
    pub(crate) fn listen(grace: Duration) -> Result<Self, Exit> {
        STATE.grace_ms.store(u64::try_from(grace.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let what = |error: std::io::Error| format!("cannot install signal handlers: {error}");
        Self::install().map_err(|error| Exit::environment(Problem::error(ProblemCode::Host, what(error))))
    }

    /// Returns the first termination signal, if one has arrived.
    pub(crate) fn end(&self) -> Option<i32> {
        ended()
    }

    /// Ends the watchdog before results are written: this may take as long as their readers take.
    pub(crate) fn conclude(&self) {
        self.state.concluding.store(true, Ordering::Relaxed);
    }
}

/// Returns the first termination signal, if one has arrived.
pub(crate) fn ended() -> Option<i32> {
    Some(STATE.signal.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// Ends the command as if this signal had arrived, because it has arrived in another rank.
pub(crate) fn raise(signal: i32) {
    if ended().is_none() {
        STATE.is_remote.store(true, Ordering::Relaxed);
        STATE.count(signal);
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

    /// Handles a termination signal, on the signal thread.
    fn receive(&'static self, signal: i32) {
        let is_recent = self.first.get().is_some_and(|first| first.elapsed() < REMOTE);
        if !(self.is_remote.swap(false, Ordering::Relaxed) && is_recent) {
            self.count(signal);
        }
    }

    /// Counts a termination signal.
    fn count(&'static self, signal: i32) {
        match self.signals.fetch_add(1, Ordering::Relaxed) {
            0 => {
                self.first.get_or_init(Instant::now);
                self.signal.store(signal, Ordering::Relaxed);
                // If no thread can be started, the third signal still ends the process.
                let _ = std::thread::Builder::new().name("watchdog".into()).spawn(move || self.watch(signal));
            }
            1 => drop(self.second.get_or_init(Instant::now)),
            _ => shutdown::end_now(Exit::Signal(signal)),
        }
    }

    /// Ends the process if the main thread hangs in a system call on a target, which no flag interrupts.
    fn watch(&self, signal: i32) {
        while !self.concluding.load(Ordering::Relaxed) {
            let is_over = |since: Option<&Instant>, limit| since.is_some_and(|since| since.elapsed() > limit);
            if is_over(self.second.get(), SLACK) || is_over(self.first.get(), self.grace().saturating_add(SLACK)) {
                device::stuck::set_stuck();
                // The pipe of standard error may be full.
                shutdown::run_within(WRITE_TIMEOUT, "last message", || write_stderr(WITHOUT_RESULTS));
                shutdown::end_now(Exit::Signal(signal));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Message of the watchdog.
const WITHOUT_RESULTS: &str = "fathom: ended by a signal without results: the command did not end within its grace period; \
    if a file or device does not respond, check it or its server (see dmesg)\n";
/// Maximum time for writing it to standard error.
const WRITE_TIMEOUT: Duration = Duration::from_millis(500);

/// Parses a duration: `500ms`, `10s`, `2m`, `1h`, or seconds without a unit.
pub(crate) fn duration(text: &str) -> Result<Duration, Problem> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit_s = match &text[digits.len()..] {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        unit => {
            let what = format!("`{unit}` is not a unit of time; use ms, s, m or h, such as 500ms, 10s or 2m");
            return Err(Problem::error(ProblemCode::Arguments, what));
        }
    };
    let number = digits.parse::<f64>().ok().filter(|number| (0.0..=1e7).contains(number));
    let seconds = number.ok_or_else(|| {
        Problem::error(ProblemCode::Arguments, "write a number and a unit, for example 500ms, 10s or 2m")
    })?;
    Ok(Duration::from_secs_f64(seconds * unit_s))
}

/// Reports whether this process ignores a signal: `SigIgn` of `/proc/self/status`, `proc(5)`.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

//! `--live`: a full screen during a run.
//!
//! A separate thread reads the [`RunView`] twice per second, draws it, and reads keys. It never blocks workers: counters
//! that it cannot read in time are read the next time. `draw` is pure; only `tty` accesses the terminal.

mod draw;
mod history;
mod keys;
mod sampler;
mod tty;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ratatui_core::buffer::Buffer;
use runner::RunProgress;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::{flag, low_level};

use crate::view::{RunView, ViewState};
use draw::ScreenView;
use keys::ScreenKey;
use sampler::{ScreenSampler, TICK};
use tty::Tty;
pub use tty::{hold, restore_terminal};
use units::Problem;

/// An active full screen.
pub struct LiveScreen {
    thread: JoinHandle<()>,
    over: Arc<AtomicBool>,
}

/// A terminal that can show a full screen.
#[derive(Debug)]
pub struct ScreenTerminal {
    tty: Tty,
    title: String,
    features: TerminalFeatures,
}

/// Features of a terminal, taken from the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalFeatures {
    /// Whether the terminal can show a full screen.
    pub full_screen: bool,
    /// The colours to use.
    pub colours: Colours,
    /// Whether the terminal shows characters beyond ASCII.
    pub unicode: bool,
}

/// Number of colours of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// No colours, only bold and dim.
    None,
    /// The 16 colours of every terminal.
    Sixteen,
    /// 256 colours or more; those of medium brightness are used.
    Many,
}

/// Functions of the program that a screen calls.
#[derive(Clone, Copy, Debug)]
pub struct ScreenHooks {
    /// Prints a message for the user.
    pub print: fn(&str),
    /// Called at named places, for tests of panics.
    pub checkpoint: fn(&str),
}

impl ScreenTerminal {
    /// Opens the terminal without changing it.
    ///
    /// # Errors
    /// Why the terminal cannot be used, with the remedy.
    pub fn open(title: &str, features: TerminalFeatures) -> Result<Self, Problem> {
        Ok(Self { tty: Tty::open(features)?, title: title.to_owned(), features })
    }

    /// Turns the screen on.
    ///
    /// # Errors
    /// The system's error.
    pub fn begin(self, view: RunView, metrics: Option<String>, hooks: ScreenHooks) -> std::io::Result<LiveScreen> {
        let signals = SignalFlags::listen()?;
        restore_on_panic();
        let over = Arc::<AtomicBool>::default();
        let (run_over, Self { tty, title, features }) = (Arc::clone(&over), self);
        let (controls, sampler) = (Controls::default(), ScreenSampler::new());
        let screen = ScreenThread { tty, title, features, hooks, view, metrics, signals, controls, sampler };
        let thread = std::thread::Builder::new().name("live".into()).spawn(move || screen.run(&run_over))?;
        Ok(LiveScreen { thread, over })
    }
}

impl LiveScreen {
    /// Turns the screen off and restores the terminal.
    pub fn end(self) {
        self.over.store(true, Ordering::Release);
        // The thread restores the terminal even if it panics.
        let _ = self.thread.join();
        restore_terminal();
    }
}

/// Restores the terminal before the message of a panic is printed.
fn restore_on_panic() {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICKED.store(true, Ordering::Release);
        restore_terminal();
        previous(info);
    }));
}

/// Whether a thread panicked: the screen stays off, so that the message can be read.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// Requests by signals.
#[derive(Default)]
struct SignalFlags {
    /// End of the run.
    end: Arc<AtomicBool>,
    /// Suspension of the process, as on Ctrl-Z.
    stop: Arc<AtomicBool>,
    /// Resumption after that.
    resume: Arc<AtomicBool>,
}

impl SignalFlags {
    fn listen() -> std::io::Result<Self> {
        let flags = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register(signal, Arc::clone(&flags.end))?;
        }
        flag::register(SIGTSTP, Arc::clone(&flags.stop))?;
        flag::register(SIGCONT, Arc::clone(&flags.resume))?;
        Ok(flags)
    }
}

/// Settings changed by keys.
#[derive(Clone, Debug, Default)]
struct Controls {
    /// Index into [`WINDOWS`]; `None` for the one that fits the run.
    window: Option<usize>,
    /// Index of the chosen job; `None` for all jobs.
    chosen: Option<usize>,
    paused: bool,
    help: bool,
}

/// Time spans of graphs, in seconds.
const WINDOWS: [u64; 9] = [5, 15, 30, 60, 120, 300, 900, 3600, 14_400];
/// Index of the longest default span; longer ones show too little of the present.
const FITTED_MAX: usize = 6;
/// Minimum span of a run whose end is unknown.
const UNKNOWN_MIN: Duration = Duration::from_secs(15);

/// Returns the index of the shortest span that holds a run from start to end. A span may be 5 % shorter than the run,
/// for the time that starting takes.
fn fitted(elapsed: Duration, eta: Option<Duration>) -> usize {
    let total = eta.map_or(elapsed.max(UNKNOWN_MIN), |eta| elapsed + eta);
    let holds = |window: &u64| Duration::from_secs(*window).mul_f64(1.05) >= total;
    WINDOWS.iter().position(holds).unwrap_or(FITTED_MAX).min(FITTED_MAX)
}

impl Controls {
    /// Handles a key. There are `jobs` jobs, and `fitted` of [`WINDOWS`] fits the run.
    fn press(&mut self, key: ScreenKey, jobs: usize, fitted: usize) {
        let window = self.window.unwrap_or(fitted);
        if std::mem::take(&mut self.help) {
            return;
        }
        match key {
            ScreenKey::Pause => self.paused = !self.paused,
            ScreenKey::Longer => self.window = Some((window + 1).min(WINDOWS.len() - 1)),
            ScreenKey::Shorter => self.window = Some(window.saturating_sub(1)),
            ScreenKey::Next if jobs > 1 => {
                self.chosen = Some(self.chosen.map_or(0, |chosen| chosen + 1)).filter(|next| *next < jobs);
            }
            ScreenKey::Previous if jobs > 1 => {
                self.chosen = self.chosen.map_or(Some(jobs - 1), |chosen| chosen.checked_sub(1));
            }
            ScreenKey::All => self.chosen = None,
            ScreenKey::Help => self.help = true,
            ScreenKey::Quit | ScreenKey::Next | ScreenKey::Previous | ScreenKey::Other => {}
        }
    }
}

fn fitted_to(state: &ViewState) -> usize {
    let fit = |progress: &RunProgress| fitted(progress.elapsed.into(), progress.eta.map(Duration::from));
    state.progress.as_ref().map_or(0, fit)
}

/// Draws the view and handles keys, on a separate thread.
struct ScreenThread {
    tty: Tty,
    title: String,
    features: TerminalFeatures,
    hooks: ScreenHooks,
    view: RunView,
    metrics: Option<String>,
    signals: SignalFlags,
    controls: Controls,
    sampler: ScreenSampler,
}

/// Maximum delay until SIGCONT is noticed.
const RESUME_WAIT: Duration = Duration::from_millis(100);
/// Delay after which a message explains why the run has not ended.
const END_MESSAGE_AFTER: Duration = Duration::from_secs(1);

impl ScreenThread {
    fn run(mut self, over: &AtomicBool) {
        let (mut sampled, mut frozen) = (None::<Instant>, None::<(ScreenSampler, ViewState)>);
        let mut state = self.view.look();
        while !over.load(Ordering::Acquire) && !self.signals.end.load(Ordering::Relaxed) {
            self.handle_signals();
            let pressed = self.handle_keys(fitted_to(&state));
            let due = sampled.is_none_or(|sampled| sampled.elapsed() >= TICK);
            if due {
                sampled = Some(Instant::now());
                state = self.view.look();
                self.sampler.sample(state.subject.as_ref());
            }
            let copy = || (self.sampler.clone(), state.clone());
            frozen = self.controls.paused.then(|| frozen.take().unwrap_or_else(copy));
            let area = self.tty.area();
            if self.tty.is_taken() && (due || pressed || self.tty.is_new(area)) {
                let (sampler, state) =
                    frozen.as_ref().map_or((&self.sampler, &state), |(sampler, state)| (sampler, state));
                let mut screen = Buffer::empty(area);
                draw::draw(&self.screen_view(sampler, state), &mut screen, self.features.colours);
                // A lost terminal does not end the run.
                let _ = self.tty.show(screen);
                (self.hooks.checkpoint)("live");
            }
        }
        restore_terminal();
        self.wait_for_the_end(over);
    }

    /// Takes the terminal whenever the process is in the foreground, and restores it before the process is suspended.
    fn handle_signals(&mut self) {
        if self.signals.stop.swap(false, Ordering::Relaxed) {
            restore_terminal();
            let _ = low_level::emulate_default_handler(SIGTSTP);
            // This thread may resume before SIGCONT is handled; waiting for it here makes one resumption of the two.
            let stopped = Instant::now();
            while !self.signals.resume.swap(false, Ordering::Relaxed) && stopped.elapsed() < RESUME_WAIT {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let resumed = self.signals.resume.swap(false, Ordering::Relaxed);
        if (resumed || !self.tty.is_taken()) && !PANICKED.load(Ordering::Acquire) && self.tty.in_foreground() {
            let _ = self.tty.take();
        }
    }

    /// Handles the pressed keys. Returns whether there were any.
    fn handle_keys(&mut self, fitted: usize) -> bool {
        if !self.tty.is_taken() {
            std::thread::sleep(tty::KEY_WAIT);
            return false;
        }
        let jobs = self.sampler.jobs.len();
        let typed = keys::read(&self.tty.typed());
        for &key in &typed {
            if key == ScreenKey::Quit {
                // The same path as on Ctrl-C.
                let _ = low_level::raise(SIGINT);
                break;
            }
            self.controls.press(key, jobs, fitted);
        }
        !typed.is_empty()
    }

    fn screen_view<'a>(&'a self, sampler: &'a ScreenSampler, state: &'a ViewState) -> ScreenView<'a> {
        let jobs = sampler.subject.iter().flat_map(|subject| &subject.jobs).zip(&sampler.jobs).collect();
        let progress = state.progress.as_ref();
        ScreenView {
            title: &self.title,
            lead: &state.lead,
            making: state.making.as_ref(),
            elapsed: progress.map(|progress| progress.elapsed.into()).unwrap_or_default(),
            eta: progress.and_then(|progress| progress.eta.map(Duration::from)),
            fraction: progress.and_then(|progress| progress.fraction),
            jobs,
            all: &sampler.all,
            chosen: self.controls.chosen,
            window: Duration::from_secs(WINDOWS[self.controls.window.unwrap_or(fitted_to(state))]),
            limits: &sampler.limits,
            notes: &state.notes,
            metrics: self.metrics.as_deref(),
            paused: self.controls.paused,
            help: self.controls.help,
        }
    }

    /// Waits for the end of the run, and prints the reason if it takes long.
    fn wait_for_the_end(&self, over: &AtomicBool) {
        let began = Instant::now();
        while !over.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(20));
            if began.elapsed() > END_MESSAGE_AFTER {
                (self.hooks.print)(
                    "fathom: waiting for operations in flight; press Ctrl-C again to stop without them\n",
                );
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_step_through_jobs_and_spans_within_bounds() {
        let mut controls = Controls::default();
        let mut press = |keys: &[ScreenKey], jobs| {
            keys.iter().for_each(|key| controls.press(*key, jobs, 3));
            (controls.chosen, WINDOWS[controls.window.unwrap_or(3)])
        };
        assert_eq!(press(&[ScreenKey::Next, ScreenKey::Next], 3), (Some(1), 60));
        assert_eq!(press(&[ScreenKey::Next, ScreenKey::Next], 3), (None, 60));
        assert_eq!(press(&[ScreenKey::Previous, ScreenKey::Longer], 3), (Some(2), 120));
        assert_eq!(press(&[ScreenKey::All, ScreenKey::Next], 1), (None, 120));
        assert_eq!(press(&[ScreenKey::Shorter; 20], 1), (None, 5));
        assert_eq!(press(&[ScreenKey::Longer; 20], 1), (None, 14_400));
        assert_eq!(
            press(&[ScreenKey::Help, ScreenKey::Shorter, ScreenKey::Shorter], 1),
            (None, 3600),
            "any key closes the help"
        );
    }

    #[test]
    fn graphs_span_the_run_unless_it_is_long_or_endless() {
        let spanned = |elapsed_s, eta_s: Option<u64>| {
            WINDOWS[fitted(Duration::from_secs(elapsed_s), eta_s.map(Duration::from_secs))]
        };
        assert_eq!((spanned(0, Some(3)), spanned(9, Some(1)), spanned(9, Some(111))), (5, 15, 120));
        assert_eq!((spanned(0, Some(86_400)), spanned(86_400, Some(0))), (900, 900));
        assert_eq!((spanned(0, None), spanned(100, None), spanned(100_000, None)), (15, 120, 900));
        assert_eq!(spanned(1, Some(60)), 60, "a minute and the time to start");
    }
}

//! `--live`: a full screen while a run goes on.
//!
//! A thread of its own reads the [`RunView`] twice a second, draws, and reads keys. It never blocks workers: what
//! it cannot read in time it reads the next time. `draw` is pure; only `tty` knows that there is a terminal.

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
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::{flag, low_level};

use crate::view::{RunView, ViewState};
use draw::{Palette, ScreenView};
use keys::ScreenKey;
use sampler::{ScreenSampler, TICK};
use tty::Tty;

/// Holds back a message while the full screen is on; it is printed when the terminal is restored. Returns whether it did.
pub fn hold(text: &str) -> bool {
    tty::hold(text)
}

/// Restores the terminal, and prints the messages that were held back. Does nothing where no screen is on.
pub fn restore_terminal() {
    tty::give_back();
}

/// A full screen that is on.
pub struct LiveScreen {
    thread: JoinHandle<()>,
    over: Arc<AtomicBool>,
}

/// A terminal on which a full screen can be shown.
#[derive(Debug)]
pub struct ScreenTerminal {
    tty: Tty,
    title: String,
    features: TerminalFeatures,
}

/// Features of a terminal, by its environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalFeatures {
    /// Whether it can show a full screen at all.
    pub full_screen: bool,
    /// How many colours are wanted and possible.
    pub colours: Colours,
    /// Whether it shows characters beyond ASCII.
    pub unicode: bool,
}

/// Number of colours of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// None.
    None,
    /// The 16 of every terminal.
    Sixteen,
    /// 256 and more.
    Many,
}

/// Functions of the program that a screen calls.
#[derive(Clone, Copy, Debug)]
pub struct ScreenHooks {
    /// Prints a message for the user.
    pub print: fn(&str),
    /// Is called at named places, for tests of panics.
    pub checkpoint: fn(&str),
}

impl ScreenTerminal {
    /// Opens the terminal, before anything is touched.
    ///
    /// # Errors
    /// Why there is none, with the remedy.
    pub fn open(title: &str, features: TerminalFeatures) -> Result<Self, String> {
        Ok(Self { tty: Tty::open(features)?, title: title.to_owned(), features })
    }

    /// Turns the screen on.
    ///
    /// # Errors
    /// The system's refusal.
    pub fn begin(self, view: RunView, metrics: Option<String>, hooks: ScreenHooks) -> std::io::Result<LiveScreen> {
        let signals = SignalFlags::listen()?;
        restore_on_panic();
        let over = Arc::new(AtomicBool::new(false));
        let (seen_over, Self { tty, title, features }) = (Arc::clone(&over), self);
        let (controls, sampler) = (Controls::default(), ScreenSampler::new());
        let screen = ScreenThread { tty, title, features, hooks, view, metrics, signals, controls, sampler };
        let thread = std::thread::Builder::new().name("live".into()).spawn(move || screen.run(&seen_over))?;
        Ok(LiveScreen { thread, over })
    }
}

impl LiveScreen {
    /// Turns the screen off and restores the terminal.
    pub fn end(self) {
        self.over.store(true, Ordering::Release);
        // Its thread restores the terminal also where it panics.
        let _ = self.thread.join();
        tty::give_back();
    }
}

/// Restores the terminal before the message of a panic is printed.
fn restore_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        BROKEN.store(true, Ordering::Release);
        tty::give_back();
        before(info);
    }));
}

/// A thread panicked: the screen stays off, so that the message can be read.
static BROKEN: AtomicBool = AtomicBool::new(false);

/// Requests by signals.
struct SignalFlags {
    /// An end of the run.
    end: Arc<AtomicBool>,
    /// To stand still, as on Ctrl-Z.
    stop: Arc<AtomicBool>,
    /// To go on after that.
    resume: Arc<AtomicBool>,
}

impl SignalFlags {
    fn listen() -> std::io::Result<Self> {
        let flags = Self { end: Arc::default(), stop: Arc::default(), resume: Arc::default() };
        for (signal, requested) in [
            (SIGINT, &flags.end),
            (SIGTERM, &flags.end),
            (SIGHUP, &flags.end),
            (SIGTSTP, &flags.stop),
            (SIGCONT, &flags.resume),
        ] {
            flag::register(signal, Arc::clone(requested))?;
        }
        Ok(flags)
    }
}

/// Settings by keys.
#[derive(Clone, Debug, Default)]
struct Controls {
    /// Which of [`WINDOWS`]; what fits the run where it is none.
    window: Option<usize>,
    /// Which job; all where it is none.
    chosen: Option<usize>,
    paused: bool,
    help: bool,
}

/// Time spans of graphs, in seconds.
const WINDOWS: [u64; 9] = [5, 15, 30, 60, 120, 300, 900, 3600, 14_400];
/// The longest default span: longer ones show too little of what happens now.
const FITTED_MOST: usize = 6;
/// The least span of a run whose end is not known.
const UNKNOWN_LEAST: Duration = Duration::from_secs(15);

/// The shortest span that holds a run from start to end, but for the moment it takes to start.
fn fitted(elapsed: Duration, eta: Option<Duration>) -> usize {
    let whole = eta.map_or(elapsed.max(UNKNOWN_LEAST), |eta| elapsed + eta);
    let holds = |window: &u64| Duration::from_secs(*window).mul_f64(1.05) >= whole;
    WINDOWS.iter().position(holds).unwrap_or(FITTED_MOST).min(FITTED_MOST)
}

impl Controls {
    /// Does what a key asks for, where there are so many jobs and one of [`WINDOWS`] fits the run.
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

fn fitted_to(seen: &ViewState) -> usize {
    seen.progress.as_ref().map_or(0, |moment| fitted(moment.elapsed.into(), moment.eta.map(Duration::from)))
}

/// Reads keys and draws the view, on a thread of its own.
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
/// Delay after which the screen says why the run has not ended.
const END_SOON: Duration = Duration::from_secs(1);

impl ScreenThread {
    fn run(mut self, over: &AtomicBool) {
        let palette = palette(self.features.colours);
        let (mut looked, mut frozen) = (None::<Instant>, None::<(ScreenSampler, ViewState)>);
        let mut seen = self.view.look();
        while !over.load(Ordering::Acquire) && !self.signals.end.load(Ordering::Relaxed) {
            self.see_to_signals();
            let pressed = self.keys(fitted_to(&seen));
            let due = looked.is_none_or(|looked| looked.elapsed() >= TICK);
            if due {
                looked = Some(Instant::now());
                seen = self.view.look();
                self.sampler.look(seen.subject.as_ref());
            }
            match (self.controls.paused, &frozen) {
                (true, None) => frozen = Some((self.sampler.clone(), seen.clone())),
                (false, Some(_)) => frozen = None,
                _ => {}
            }
            let area = self.tty.area();
            if self.tty.is_taken() && (due || pressed || self.tty.is_new(area)) {
                let (sampler, seen) = frozen.as_ref().map_or((&self.sampler, &seen), |(sampler, seen)| (sampler, seen));
                let mut screen = Buffer::empty(area);
                draw::draw(&self.shown(sampler, seen), &mut screen, palette);
                // A terminal that has gone is no reason to end a run.
                let _ = self.tty.show(screen);
                (self.hooks.checkpoint)("live");
            }
        }
        tty::give_back();
        self.wait_for_the_end(over);
    }

    /// Takes the terminal whenever it is ours, and gives it back before the process stands still.
    fn see_to_signals(&mut self) {
        if self.signals.stop.swap(false, Ordering::Relaxed) {
            tty::give_back();
            let _ = low_level::emulate_default_handler(SIGTSTP);
            // This thread may go on before the signal that continues the process is handled: it is one wish, not two.
            let stopped = Instant::now();
            while !self.signals.resume.swap(false, Ordering::Relaxed) && stopped.elapsed() < RESUME_WAIT {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let resumed = self.signals.resume.swap(false, Ordering::Relaxed);
        if (resumed || !self.tty.is_taken()) && !BROKEN.load(Ordering::Acquire) && self.tty.in_foreground() {
            let _ = self.tty.take();
        }
    }

    /// Does what was typed. Returns whether anything was.
    fn keys(&mut self, fitted: usize) -> bool {
        if !self.tty.is_taken() {
            std::thread::sleep(tty::KEY_WAIT);
            return false;
        }
        let jobs = self.sampler.jobs.len();
        let typed = keys::read(&self.tty.typed());
        for &key in &typed {
            if key == ScreenKey::Quit {
                // As on Ctrl-C, so that there is one way to end.
                let _ = low_level::raise(SIGINT);
                break;
            }
            self.controls.press(key, jobs, fitted);
        }
        !typed.is_empty()
    }

    fn shown<'a>(&'a self, sampler: &'a ScreenSampler, seen: &'a ViewState) -> ScreenView<'a> {
        let jobs = sampler.subject.iter().flat_map(|subject| &subject.jobs).zip(&sampler.jobs).collect();
        let moment = seen.progress.as_ref();
        ScreenView {
            title: &self.title,
            lead: &seen.lead,
            making: seen.making.as_ref(),
            elapsed: moment.map(|moment| moment.elapsed.into()).unwrap_or_default(),
            eta: moment.and_then(|moment| moment.eta.map(Duration::from)),
            fraction: moment.and_then(|moment| moment.fraction),
            jobs,
            all: &sampler.all,
            chosen: self.controls.chosen,
            window: Duration::from_secs(WINDOWS[self.controls.window.unwrap_or(fitted_to(seen))]),
            limits: &sampler.limits,
            notes: &seen.notes,
            metrics: self.metrics.as_deref(),
            paused: self.controls.paused,
            help: self.controls.help,
        }
    }

    /// Says why it takes long, where it does.
    fn wait_for_the_end(&self, over: &AtomicBool) {
        let began = Instant::now();
        while !over.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(20));
            if began.elapsed() > END_SOON {
                (self.hooks.print)(
                    "fathom: waiting for operations in flight; press Ctrl-C again to end without them\n",
                );
                return;
            }
        }
    }
}

fn palette(colours: Colours) -> Palette {
    match colours {
        Colours::None => Palette::Plain,
        Colours::Sixteen => Palette::Sixteen,
        Colours::Many => Palette::Many,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_through_jobs_and_spans_and_stay_within() {
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
    fn graphs_span_the_whole_run_unless_it_is_long_or_endless() {
        let spanned = |elapsed_s, eta_s: Option<u64>| {
            WINDOWS[fitted(Duration::from_secs(elapsed_s), eta_s.map(Duration::from_secs))]
        };
        assert_eq!((spanned(0, Some(3)), spanned(9, Some(1)), spanned(9, Some(111))), (5, 15, 120));
        assert_eq!((spanned(0, Some(86_400)), spanned(86_400, Some(0))), (900, 900));
        assert_eq!((spanned(0, None), spanned(100, None), spanned(100_000, None)), (15, 120, 900));
        assert_eq!(spanned(1, Some(60)), 60, "a minute and the moment it took to start");
    }
}
